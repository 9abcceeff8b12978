import t, { type Test } from 'tap'
import { parseInstant } from '../../src/core/time/time.js'
import type { Answer, Client } from '../helper.js'
import { build, call, collection, connect, MONDAY, mandate, payoutLink, requestToken } from '../helper.js'
import { refused } from '../http/raw.js'

const TOKEN = '/api/v1/oauth/token'
const MANDATES = '/api/v1/mandates'

const arm = (client: Client, fault: unknown) => client.control('POST', '/faults', fault)

/** Arms a fault that must be accepted; answers it. */
async function armed(t: Test, client: Client, effect: object, more: object = {}) {
  const answer = await arm(client, { ...more, effect })
  if (answer.status !== 201) t.fail(`${answer.body.field}: ${answer.body.message}`)
  return answer.body
}

const listed = async (client: Client) => (await client.control('GET', '/faults')).body.data

/** Id, seen, fired and state of each. */
const standing = async (client: Client) =>
  (await listed(client)).map(({ id, seen, fired, state }: Record<string, unknown>) => [id, seen, fired, state])

/** The statuses of so many requests in a row. */
async function statuses(client: Client, requests: number, url = MANDATES) {
  const all: number[] = []
  for (let request = 0; request < requests; request++) all.push((await client.get(url)).status)
  return all
}

/** Status, code and field of each answer, to compare with a table at once. */
async function answersOf(client: Client, faults: readonly unknown[]) {
  const rows = []
  for (const fault of faults) {
    const { status, body } = await arm(client, fault)
    rows.push([fault, status, body.code, body.field])
  }
  return rows
}

const error = (status: number, more: object = {}) => ({ kind: 'error', status, ...more })

/** A refusal of the token endpoint: the envelope and two members more (decisions §3). */
function refusedToken(t: Test, answer: Answer, status: number, code: string, oauth: string, what = code) {
  const { body } = answer
  t.same(Object.keys(body).sort(), ['code', 'error', 'error_description', 'field', 'message'], what)
  t.same([answer.status, body.code, body.field, body.error], [status, code, null, oauth], what)
  t.match(body.error_description, /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/, what)
}

// -------------------------------------------------------------------------------------------------- arming, listing

t.test('control plane, POST /faults: tells what was given, as it was given', async t => {
  const client = await connect(build(t, { now: () => 5000 }))
  const given = {
    match: { method: 'POST', path: '/api/v1/*', region: 'EU' },
    times: null,
    skip: 3,
    probability: 0.25,
    ttl: 'pt90m',
    effect: { kind: 'delay', ms: { distribution: 'lognormal', median: 200, sigma: 0.5, max: 3000 } },
  }
  const expected = {
    id: 'fault-1',
    ...given,
    armedAt: MONDAY,
    expiresAt: 5000 + 90 * 60_000,
    seen: 0,
    fired: 0,
    state: 'armed',
  }
  t.same((await arm(client, given)).body, expected)
  t.same(await listed(client), [expected])
})

t.test('control plane, GET /faults: lists all in the order of arming, with how often each has fired', async t => {
  const client = await connect(build(t))
  t.same((await client.control('GET', '/faults')).body, { data: [] })
  await armed(t, client, error(503), { times: 2 })
  await armed(t, client, { kind: 'delay', ms: 0 }, { times: null })
  await armed(t, client, error(500), { skip: 5 })
  t.same(await statuses(client, 3), [503, 503, 200])
  t.same(await standing(client), [
    ['fault-1', 2, 2, 'spent'],
    ['fault-2', 3, 3, 'armed'],
    ['fault-3', 1, 0, 'armed'],
  ])
})

t.test('control plane, DELETE /faults/{id}: removes one, and it fires no more', async t => {
  const client = await connect(build(t))
  await armed(t, client, error(503), { times: null })
  await armed(t, client, error(500), { times: null })
  t.equal((await client.get(MANDATES)).status, 503)
  const answer = await client.control('DELETE', '/faults/fault-1')
  t.same([answer.status, answer.body], [200, { removed: 1 }])
  t.equal((await client.get(MANDATES)).status, 500)
  t.same(await standing(client), [['fault-2', 1, 1, 'armed']])
  refused(t, await client.control('DELETE', '/faults/fault-1'), 404, 'FAULT_NOT_FOUND', 'id')
  refused(t, await client.control('DELETE', '/faults/fault-99'), 404, 'FAULT_NOT_FOUND', 'id')
  refused(t, await client.control('DELETE', `/faults/${'x'.repeat(65)}`), 400, 'INVALID_FIELD', 'id')
  t.equal((await listed(client)).length, 1)
})

t.test('control plane, DELETE /faults: removes all, armed or not, and tells how many', async t => {
  const client = await connect(build(t))
  await armed(t, client, error(503))
  await armed(t, client, error(500), { times: null })
  t.same(await statuses(client, 2), [503, 500])
  t.same((await client.control('DELETE', '/faults')).body, { removed: 2 })
  t.same(await statuses(client, 1), [200])
  t.same(await listed(client), [])
  t.same((await client.control('DELETE', '/faults')).body, { removed: 0 })
})

t.test('control plane: spent and expired faults stay listed until they are removed', async t => {
  let now = 0
  const client = await connect(build(t, { now: () => now }))
  await armed(t, client, error(503))
  await armed(t, client, error(500), { ttl: 'PT10S', times: null })
  t.same(await statuses(client, 2), [503, 500])
  now = 9999
  t.same(await statuses(client, 1), [500])
  now = 10_000
  t.same(await statuses(client, 1), [200])
  t.same(await standing(client), [
    ['fault-1', 1, 1, 'spent'],
    ['fault-2', 2, 2, 'expired'],
  ])
})

t.test("control plane: a ttl is real time, whatever the tenant's clock says", async t => {
  let now = parseInstant(MONDAY) as number
  const client = await connect(build(t, { clock: 'real', now: () => now }))
  await armed(t, client, error(500), { ttl: 'PT1M', times: null, match: { path: MANDATES } })
  await client.advance({ by: 'P1D' })
  t.same(await statuses(client, 1), [500], 'a day of the tenant is no time at all')
  await client.control('PATCH', '/clock', { rate: 3600 })
  now += 59_999
  t.same((await listed(client))[0].state, 'armed')
  now += 1
  t.same((await listed(client))[0].state, 'expired')
})

// ------------------------------------------------------------------------------------------------------------ errors

t.test('control plane: an error has the code of its status, where none is given', async t => {
  const client = await connect(build(t))
  for (const [status, code] of [
    [400, 'MALFORMED_REQUEST'],
    [401, 'INVALID_TOKEN'],
    [402, 'MALFORMED_REQUEST'],
    [403, 'ORIGIN_NOT_ALLOWED'],
    [404, 'ROUTE_NOT_FOUND'],
    [405, 'METHOD_NOT_ALLOWED'],
    [408, 'REQUEST_TIMEOUT'],
    [409, 'DUPLICATE_REFERENCE'],
    [410, 'OPERATION_SUNSET'],
    [413, 'PAYLOAD_TOO_LARGE'],
    [415, 'UNSUPPORTED_MEDIA_TYPE'],
    [418, 'MALFORMED_REQUEST'],
    [429, 'RATE_LIMITED'],
    [431, 'HEADERS_TOO_LARGE'],
    [499, 'MALFORMED_REQUEST'],
    [500, 'INTERNAL_ERROR'],
    [501, 'INTERNAL_ERROR'],
    [502, 'INTERNAL_ERROR'],
    [503, 'SERVICE_UNAVAILABLE'],
    [504, 'INTERNAL_ERROR'],
    [599, 'INTERNAL_ERROR'],
  ] as const) {
    await armed(t, client, error(status))
    refused(t, await client.get(MANDATES), status, code, null)
  }
})

t.test('control plane: an error has the code, message and headers that are given', async t => {
  const client = await connect(build(t))
  const headers = { 'X-Limit': '10', 'x-empty': '', 'X-Text': 'a; b="c", d' }
  await armed(t, client, error(422, { code: 'NOT_TODAY', message: 'Bitte später: "jetzt" nicht.', headers }))
  const answer = await client.get(MANDATES)
  refused(t, answer, 422, 'NOT_TODAY', null)
  t.equal(answer.body.message, 'Bitte später: "jetzt" nicht.')
  t.match(answer.headers, { 'x-limit': '10', 'x-empty': '', 'x-text': 'a; b="c", d' })
})

t.test('control plane; decisions §2: Retry-After with RATE_LIMITED always, else where it is given', async t => {
  const client = await connect(build(t))
  for (const [effect, retryAfter] of [
    [error(429), '1'],
    [error(429, { retryAfter: 30 }), '30'],
    [error(429, { retryAfter: 0 }), '0'],
    [error(429, { code: 'SLOW_DOWN' }), '1'],
    [error(429, { headers: { 'Retry-After': 'Wed, 21 Oct 2026 07:28:00 GMT' } }), 'Wed, 21 Oct 2026 07:28:00 GMT'],
    [error(503), undefined],
    [error(503, { retryAfter: 86_400 }), '86400'],
    [error(500, { headers: { 'retry-after': '5' } }), '5'],
    [error(400), undefined],
  ] as const) {
    await armed(t, client, effect)
    t.equal((await client.get(MANDATES)).headers['retry-after'], retryAfter, JSON.stringify(effect))
  }
})

t.test('control plane; decisions §3: a 401 that is asked for has the challenge of its code', async t => {
  const client = await connect(build(t))
  const bearer = 'Bearer realm="payments-sandbox"'
  for (const [effect, challenge] of [
    [error(401), `${bearer}, error="invalid_token"`],
    [error(401, { code: 'INVALID_CLIENT' }), undefined],
    [error(401, { code: 'MISSING_TOKEN' }), bearer],
    [error(401, { code: 'INVALID_TOKEN' }), `${bearer}, error="invalid_token"`],
    [error(401, { code: 'EXPIRED_TOKEN' }), `${bearer}, error="invalid_token"`],
    [error(401, { code: 'LOCKED_OUT' }), undefined],
    [error(401, { code: 'INVALID_TOKEN', headers: { 'WWW-Authenticate': 'DPoP' } }), 'DPoP'],
    [error(403, { code: 'INVALID_TOKEN' }), undefined],
    [error(400, { code: 'INVALID_CLIENT' }), undefined],
  ] as const) {
    await armed(t, client, effect)
    t.equal((await client.get(MANDATES)).headers['www-authenticate'], challenge, JSON.stringify(effect))
  }
})

t.test('control plane; decisions §3: on the token endpoint, an error has the two members of OAuth', async t => {
  const app = build(t)
  const client = await connect(app)
  for (const [effect, status, code, oauth] of [
    [error(429), 429, 'RATE_LIMITED', 'invalid_request'],
    [error(500), 500, 'INTERNAL_ERROR', 'server_error'],
    [error(502, { code: 'BAD_GATEWAY' }), 502, 'BAD_GATEWAY', 'server_error'],
    [error(503, { retryAfter: 3 }), 503, 'SERVICE_UNAVAILABLE', 'temporarily_unavailable'],
    [error(401), 401, 'INVALID_CLIENT', 'invalid_client'],
    [error(400, { code: 'ODD', message: 'Sagt "später" \\ \u0007.' }), 400, 'ODD', 'invalid_request'],
  ] as const) {
    await armed(t, client, effect, { match: { path: TOKEN } })
    t.equal((await client.get(MANDATES)).status, 200, 'other operations do not meet it')
    const answer = await requestToken(app)
    refusedToken(t, answer, status, code, oauth)
    if (status === 503) t.equal(answer.headers['retry-after'], '3')
    if (status === 401) t.equal(answer.headers['www-authenticate'], undefined, 'Basic was not used')
    t.equal((await requestToken(app)).status, 200)
  }
})

t.test('control plane: an error fires before anything is applied', async t => {
  const client = await connect(build(t))
  await client.post(MANDATES, mandate())
  await client.post('/api/v1/direct-debit', collection())
  const { payoutLinkId } = (await client.post('/api/v1/payout-links', payoutLink())).body
  const before = (await client.control('GET', '/state')).body
  const requests: [string, string, object?][] = [
    ['POST', MANDATES, mandate({ mandateReference: 'MND-0002' })],
    ['DELETE', `${MANDATES}/MND-0001`],
    ['POST', '/api/v1/direct-debit', collection({ collectionReference: 'COL-0002' })],
    ['POST', '/api/v1/payout-links', payoutLink()],
    ['PATCH', `/api/v1/payout-links/${payoutLinkId}/cancel`, { cancellationComment: 'no' }],
  ]
  for (const [method, url, body] of requests) {
    await armed(t, client, error(500))
    refused(t, await client.send(method, url, { body }), 500, 'INTERNAL_ERROR', null, `${method} ${url}`)
    await client.control('DELETE', '/faults')
  }
  const { ids, ...after } = (await client.control('GET', '/state')).body
  const { ids: earlier, ...rest } = before
  t.same(after, rest)
  t.same(ids.counters, { ...earlier.counters, 'fault id': requests.length }, 'no number is used up, but of the faults')
})

t.test('control plane: an error fires on HEAD, and where a record is missing or its state forbids it', async t => {
  const client = await connect(build(t))
  await client.post(MANDATES, mandate())
  await armed(t, client, error(502), { times: 3 })
  const head = await client.send('HEAD', MANDATES)
  t.same([head.status, head.body], [502, null])
  t.equal((await client.get(`${MANDATES}/MND-NONE`)).status, 502)
  t.equal((await client.post(MANDATES, mandate())).status, 502)
  t.equal((await client.get(`${MANDATES}/MND-NONE`)).status, 404)
  t.equal((await client.post(MANDATES, mandate())).status, 409)
})

t.test('control plane: a document that is uploaded meets faults, too', async t => {
  const client = await connect(build(t))
  await client.post('/api/v1/bills', {
    uniqueReferenceIdentifier: 'INV-1',
    type: 'INVOICE',
    cashflowType: 'INFLOW',
    counterpartyReference: 'CPTY-0001',
    currency: 'EUR',
    totalAmount: '10',
    dueDate: '2026-12-01',
  })
  const url = '/api/v1/bills/INV-1/document'
  const body = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n%PDF-1.7\r\n--x--\r\n'
  const upload = () =>
    client.send('POST', url, { body, headers: { 'content-type': 'multipart/form-data; boundary=x' } })
  await armed(t, client, error(500), { match: { path: '/api/v1/bills/*/document' } })
  t.equal((await upload()).status, 500)
  t.same((await client.get('/api/v1/bills/INV-1')).body.documents, [])
  t.equal((await upload()).status, 201)
})

// ------------------------------------------------------------------------------------------------------- stale-token

t.test('control plane: stale-token: EXPIRED_TOKEN although the token is good, as it is again later', async t => {
  const client = await connect(build(t))
  await armed(t, client, { kind: 'stale-token' }, { times: 2 })
  const answer = await client.post(MANDATES, mandate())
  refused(t, answer, 401, 'EXPIRED_TOKEN', 'authorization')
  t.equal(answer.headers['www-authenticate'], 'Bearer realm="payments-sandbox", error="invalid_token"')
  refused(t, await client.get(MANDATES), 401, 'EXPIRED_TOKEN', 'authorization')
  t.equal((await client.get(MANDATES)).body.totalCount, 0, 'the same token, and nothing was applied')
})

t.test('control plane: stale-token lets tokens be issued, or no client could get over it', async t => {
  const app = build(t)
  const client = await connect(app)
  await armed(t, client, { kind: 'stale-token' })
  t.equal((await requestToken(app)).status, 200)
  const form = 'client_id=acme&client_secret=secret&grant_type=client_credentials'
  const type = { 'content-type': 'application/x-www-form-urlencoded' }
  const withRegion = await call(app, 'POST', TOKEN, { body: form, headers: type, region: 'EU' })
  t.equal(withRegion.status, 200, 'also for a client that sends its region everywhere')
  t.same(await standing(client), [['fault-1', 0, 0, 'armed']])
  refused(t, await client.get(MANDATES), 401, 'EXPIRED_TOKEN', 'authorization')
})

// ---------------------------------------------------------------------------------------------- matching

t.test('control plane: only a request that is good otherwise meets a fault, and counts for it', async t => {
  const client = await connect(build(t))
  await armed(t, client, error(500), { times: null })
  const bad: [Answer, number][] = [
    [await client.get('/api/v1/nowhere'), 404],
    [await client.send('PUT', MANDATES), 405],
    [await client.send('OPTIONS', MANDATES), 204],
    [await client.get(MANDATES, { headers: { authorization: '' } }), 401],
    [await client.get(MANDATES, { headers: { authorization: `Bearer ${client.token}x` } }), 401],
    [await client.get(MANDATES, { region: null }), 400],
    [await client.get(MANDATES, { region: 'US' }), 400],
    [await client.post(MANDATES, 'x', { headers: { 'content-type': 'text/plain' } }), 415],
    [await client.get(`${MANDATES}/x`), 400],
    [await client.get(`${MANDATES}/MND-%zz`), 400],
    [await client.get(`${MANDATES}?limit=0`), 400],
    [await client.post(MANDATES, {}), 400],
    [await client.post(MANDATES, '{'), 400],
    [await requestToken(client.app, { client_secret: 'wrong' }), 401],
    [await requestToken(client.app, { grant_type: 'password' }), 400],
    [await call(client.app, 'GET', '/_sandbox/clients'), 200],
    [await client.control('GET', '/clock'), 200],
  ]
  t.same(
    bad.map(([answer]) => answer.status),
    bad.map(([, status]) => status),
  )
  t.same(await standing(client), [['fault-1', 0, 0, 'armed']])
  t.equal((await client.get(MANDATES)).status, 500)
  t.equal((await requestToken(client.app)).status, 500)
  t.same(await standing(client), [['fault-1', 2, 2, 'armed']])
})

t.test('control plane: match: by method, by path with * in it, by region', async t => {
  const app = build(t)
  const client = await connect(app)
  const meets = async (match: object, method: string, url: string, region = 'EU') => {
    await armed(t, client, error(418), { match })
    const { status } = await client.send(method, url, { region, ...(method === 'POST' && { body: mandate() }) })
    await client.control('DELETE', '/faults')
    return status === 418
  }
  const cases: [match: object, method: string, url: string, region: string, meets: boolean][] = [
    [{ method: 'GET' }, 'GET', MANDATES, 'EU', true],
    [{ method: 'GET' }, 'POST', MANDATES, 'EU', false],
    [{ method: 'GET' }, 'HEAD', MANDATES, 'EU', false],
    [{ method: 'HEAD' }, 'HEAD', MANDATES, 'EU', true],
    [{ path: MANDATES }, 'GET', MANDATES, 'EU', true],
    [{ path: MANDATES }, 'GET', `${MANDATES}?limit=1`, 'EU', true],
    [{ path: MANDATES }, 'GET', `${MANDATES}/MND-0001`, 'EU', false],
    [{ path: `${MANDATES}/*` }, 'GET', `${MANDATES}/MND-0001`, 'EU', true],
    [{ path: `${MANDATES}/*` }, 'GET', MANDATES, 'EU', false],
    [{ path: `${MANDATES}/MND-0001` }, 'GET', `${MANDATES}/MND-0001`, 'EU', true],
    [{ path: `${MANDATES}/MND-0001` }, 'GET', `${MANDATES}/MND%2D0001`, 'EU', true],
    [{ path: `${MANDATES}/MND-0001` }, 'GET', `${MANDATES}/MND-0002`, 'EU', false],
    [{ path: '*' }, 'GET', '/api/v1/bills', 'IN', true],
    [{ path: '*s' }, 'GET', '/api/v1/bills', 'IN', true],
    [{ region: 'EU' }, 'GET', '/api/v1/bills', 'EU', true],
    [{ region: 'EU' }, 'GET', '/api/v1/bills', 'US', false],
    [{ method: 'GET', path: '/api/v1/b*', region: 'UK' }, 'GET', '/api/v1/bills', 'UK', true],
    [{ method: 'GET', path: '/api/v1/b*', region: 'UK' }, 'GET', '/api/v1/accounts', 'UK', false],
  ]
  const seen = []
  for (const [match, method, url, region] of cases)
    seen.push([match, method, url, region, await meets(match, method, url, region)])
  t.same(seen, cases)
})

t.test('decisions §3: faults are those of one tenant', async t => {
  const app = build(t)
  const [acme, other] = [await connect(app, 'acme'), await connect(app, 'other')]
  await armed(t, acme, error(500), { times: null })
  t.same(await statuses(other, 2), [200, 200])
  t.same(await listed(other), [])
  t.equal((await requestToken(app, { client_id: 'other' })).status, 200)
  refused(t, await other.control('DELETE', '/faults/fault-1'), 404, 'FAULT_NOT_FOUND', 'id')
  t.same(await statuses(acme, 1), [500])
  t.equal((await armed(t, other, error(503))).id, 'fault-1', 'each tenant numbers its own')
  await other.control('DELETE', '/faults')
  t.same(await statuses(acme, 1), [500])
})

// --------------------------------------------------------------------------------------------------- how they combine

t.test('control plane: they fire in the order in which they were armed', async t => {
  const client = await connect(build(t))
  for (const status of [503, 429, 500]) await armed(t, client, error(status))
  t.same(await statuses(client, 4), [503, 429, 500, 200])
})

t.test('control plane: times, skip, and times null', async t => {
  const client = await connect(build(t))
  await armed(t, client, error(503), { skip: 2, times: 2 })
  t.same(await statuses(client, 6), [200, 200, 503, 503, 200, 200])
  await armed(t, client, error(500), { times: null, skip: 1 })
  t.same(await statuses(client, 5), [200, 500, 500, 500, 500])
})

t.test('control plane: with a probability, a run repeats exactly with the same seed', async t => {
  const run = async (seed: string) => {
    const client = await connect(build(t, { seed }))
    await armed(t, client, error(500), { times: null, probability: 0.4 })
    return statuses(client, 60)
  }
  const once = await run('one')
  t.same(await run('one'), once)
  t.notSame(await run('two'), once)
  t.same([...new Set(once)].sort(), [200, 500])
})

t.test('control plane: a delay takes its time in three spellings', async t => {
  const waits: number[] = []
  const timers = {
    elapsed: () => 0,
    later(ms: number, work: () => void) {
      waits.push(ms)
      setImmediate(work)
      return () => {}
    },
    flush: () => {},
  }
  const client = await connect(build(t, { timers }))
  for (const effect of [
    { kind: 'delay', ms: 200 },
    { kind: 'delay', ms: { distribution: 'uniform', min: 300, max: 300 } },
    { kind: 'delay', distribution: 'uniform', min: 400, max: 400 },
    { kind: 'delay', ms: { distribution: 'lognormal', median: 500, sigma: 0, max: 1000 } },
    { kind: 'delay', distribution: 'lognormal', median: 600, sigma: 0, max: 1000 },
    { kind: 'delay', ms: 300_000 },
  ]) {
    t.same((await armed(t, client, effect)).effect, effect, 'told as it was given')
    t.equal((await client.get(MANDATES)).status, 200)
  }
  t.same(waits, [200, 300, 400, 500, 600, 300_000])
})

// --------------------------------------------------------------------------------------------- state, fork and reset

t.test('control plane, GET and PUT /state: the document holds faults, and puts them back as they were', async t => {
  const client = await connect(build(t))
  await armed(t, client, error(503, { headers: { 'x-a': 'b' } }), { times: 3, skip: 1, match: { path: '/api/v1/*' } })
  await armed(t, client, { kind: 'delay', ms: { distribution: 'uniform', min: 0, max: 0 } }, { times: null })
  t.same(await statuses(client, 2), [200, 503])
  const { body: state } = await client.control('GET', '/state')
  const faults = await listed(client)
  t.same(
    state.faults,
    faults.map(({ state: _, ...fault }: Record<string, unknown>) => fault),
  )
  await client.control('DELETE', '/faults')
  await armed(t, client, error(418), { times: null })
  t.equal((await client.control('PUT', '/state', state)).status, 200)
  t.same(await listed(client), faults)
  t.same(await statuses(client, 3), [503, 503, 200])
  t.equal((await armed(t, client, error(500))).id, 'fault-3')
})

t.test('control plane, POST /reset: removes all faults', async t => {
  const app = build(t)
  const client = await connect(app)
  await armed(t, client, error(503), { times: null })
  await client.control('POST', '/reset')
  t.same(await listed(client), [])
  const { token } = await connect(app)
  t.equal((await client.get(MANDATES, { headers: { authorization: `Bearer ${token}` } })).status, 200)
  t.equal((await armed(t, client, error(500))).id, 'fault-1')
})

// --------------------------------------------------------------------------------------------------------- refusals

t.test('control plane, POST /faults: a fault that could never fire is refused, and the part is named', async t => {
  const client = await connect(build(t))
  const paths = [
    ...['/api/v1/nowhere', '/api/v1/mandates/', 'api/v1/mandates', 'mandates', '/API/V1/mandates', '/', ' '],
    ...['/api/v1/mandates?limit=1', '/api/v1/mandates/MND-0001?limit=1', '/api/v1/mandates/MND-0001/cancel'],
    ...['/api/v1/mandates/MND', '/api/v1/mandates/MND_0001', '/api/v1/mandates/MND%2D0001'],
    ...[`/api/v1/mandates/${'M'.repeat(51)}`, '/api/v1/mandates/{mandateReference}', '/api/v1/bills/IN'],
    ...[`/api/v1/bills/${'I'.repeat(65)}`, '/api/v1/bills/INV.1', '/api/v1/payout-links/pl-001/cancel'],
    ...[`/api/v1/payout-links/${'p'.repeat(91)}/cancel`, '/api/v2/*', '/api/v1/*/no/where', '*/mandates/*/*'],
    ...['*.json', '/_sandbox/*', '/_sandbox/clock'],
  ]
  const unreachable: [match: object, field: string][] = [
    ...paths.map((path): [object, string] => [{ path }, 'match.path']),
    [{ path: '/api/v1/mandates', method: 'PATCH' }, 'match.method'],
    [{ path: '/api/v1/mandates/MND-0001', method: 'POST' }, 'match.method'],
    [{ path: '/api/v1/payout-links/*/cancel', method: 'GET' }, 'match.method'],
    [{ path: TOKEN, method: 'HEAD' }, 'match.method'],
    [{ path: TOKEN, region: 'EU' }, 'match.region'],
    [{ path: '/api/v1/mandates', region: 'US' }, 'match.region'],
    [{ path: '/api/v1/direct-debit*', region: 'UK' }, 'match.region'],
    [{ path: '/api/v1/payout-links/*', region: 'IN' }, 'match.region'],
    [{ method: 'DELETE', region: 'IN' }, 'match.region'],
  ]
  const cases: [fault: object, field: string][] = [
    ...unreachable.map(([match, field]): [object, string] => [{ match, effect: error(500) }, field]),
    ...[{ path: TOKEN }, { path: '/api/v1/oauth/*' }].map((match): [object, string] => [
      { match, effect: { kind: 'stale-token' } },
      'effect.kind',
    ]),
    ...[{ times: 0 }, { probability: 0 }, { ttl: 'PT0S' }, { ttl: 'P0D' }, { ttl: 'P0W' }].map(
      (part): [object, string] => [{ ...part, effect: error(500) }, Object.keys(part)[0] as string],
    ),
  ]
  const faults = cases.map(([fault]) => fault)
  t.same(
    await answersOf(client, faults),
    cases.map(([fault, field]) => [fault, 400, 'INVALID_FIELD', field]),
  )
  t.same(await listed(client), [])
})

t.test('control plane, POST /faults: the refusal tells what there is', async t => {
  const client = await connect(build(t))
  const message = async (match: object) => (await arm(client, { match, effect: error(500) })).body.message
  t.match(await message({ path: '/nowhere' }), 'GET /api/v1/mandates/{mandateReference}')
  t.match(await message({ path: '/nowhere' }), 'POST /api/v1/oauth/token')
  t.match(await message({ path: `${MANDATES}/MND-0001`, method: 'POST' }), 'DELETE /api/v1/mandates/{mandateReference}')
  t.notMatch(await message({ path: `${MANDATES}/MND-0001`, method: 'POST' }), 'bills')
  t.match(await message({ path: '/api/v1/payout-links', region: 'IN' }), 'EU, US, UK')
  t.match(await message({ path: TOKEN, region: 'EU' }), 'none')
})

t.test('control plane, POST /faults: a fault that can fire, if rarely, is armed', async t => {
  const client = await connect(build(t))
  for (const match of [
    undefined,
    {},
    { path: '*' },
    { path: '**' },
    { path: '*a*p*i*' },
    { path: '/api/v1/mandates/MND-1' },
    { path: `/api/v1/mandates/${'M'.repeat(50)}` },
    { path: '/api/v1/bills/INV' },
    { path: `/api/v1/bills/${'I'.repeat(64)}` },
    { path: '/api/v1/payout-links/pl_0001/cancel' },
    { path: '/api/v1/payout-links/*' },
    { path: '/api/v1/*/MND-*' },
    { path: '/api/v1/bills/*/document', method: 'POST', region: 'IN' },
    { path: '*', method: 'POST' },
    { path: TOKEN },
    { path: MANDATES, method: 'HEAD' },
    { path: MANDATES, region: 'EU' },
    { region: 'IN' },
    { method: 'DELETE', region: 'EU' },
  ]) {
    const answer = await arm(client, { ...(match !== undefined && { match }), effect: error(500) })
    t.equal(answer.status, 201, `${JSON.stringify(match)} ${answer.body.message}`)
  }
  t.equal((await arm(client, { match: { method: 'POST' }, effect: { kind: 'stale-token' } })).status, 201)
  const rare = { probability: 0.000_001, skip: 1_000_000, times: 1_000_000, ttl: 'PT1S', effect: error(500) }
  t.equal((await arm(client, rare)).status, 201)
})

t.test('control plane, POST /faults: wrong types, and one past each limit', async t => {
  const client = await connect(build(t))
  const effect = error(500)
  const long = 'x'.repeat(501)
  const wrong: [fault: unknown, code: string, field: string | null][] = [
    ['[]', 'INVALID_FIELD', null],
    ['null', 'INVALID_FIELD', null],
    ['{', 'MALFORMED_REQUEST', null],
    [{}, 'MISSING_FIELD', 'effect'],
    [{ effect: null }, 'INVALID_FIELD', 'effect'],
    [{ effect: 'error' }, 'INVALID_FIELD', 'effect'],
    [{ effect: [effect] }, 'INVALID_FIELD', 'effect'],
    [{ effect: {} }, 'MISSING_FIELD', 'effect.kind'],
    [{ effect: { kind: '' } }, 'MISSING_FIELD', 'effect.kind'],
    [{ effect: { kind: 'ERROR' } }, 'INVALID_FIELD', 'effect.kind'],
    [{ effect: { kind: 'explode' } }, 'INVALID_FIELD', 'effect.kind'],
    [{ effect: { kind: ['error'] } }, 'INVALID_FIELD', 'effect.kind'],
    [{ effect, match: null }, 'INVALID_FIELD', 'match'],
    [{ effect, match: '/api/v1/*' }, 'INVALID_FIELD', 'match'],
    [{ effect, match: [] }, 'INVALID_FIELD', 'match'],
    [{ effect, match: { method: 'get' } }, 'INVALID_FIELD', 'match.method'],
    [{ effect, match: { method: 'PUT' } }, 'INVALID_FIELD', 'match.method'],
    [{ effect, match: { method: '' } }, 'INVALID_FIELD', 'match.method'],
    [{ effect, match: { method: ['GET'] } }, 'INVALID_FIELD', 'match.method'],
    [{ effect, match: { path: '' } }, 'INVALID_FIELD', 'match.path'],
    [{ effect, match: { path: 1 } }, 'INVALID_FIELD', 'match.path'],
    [{ effect, match: { path: `/${long}` } }, 'INVALID_FIELD', 'match.path'],
    [{ effect, match: { region: 'GB' } }, 'INVALID_FIELD', 'match.region'],
    [{ effect, match: { region: 'eu' } }, 'INVALID_FIELD', 'match.region'],
    [{ effect, match: { region: null } }, 'INVALID_FIELD', 'match.region'],
    [{ effect, times: -1 }, 'INVALID_FIELD', 'times'],
    [{ effect, times: 1.5 }, 'INVALID_FIELD', 'times'],
    [{ effect, times: '1' }, 'INVALID_FIELD', 'times'],
    [{ effect, times: true }, 'INVALID_FIELD', 'times'],
    [{ effect, times: 1_000_001 }, 'INVALID_FIELD', 'times'],
    [{ effect, skip: -1 }, 'INVALID_FIELD', 'skip'],
    [{ effect, skip: 0.5 }, 'INVALID_FIELD', 'skip'],
    [{ effect, skip: null }, 'INVALID_FIELD', 'skip'],
    [{ effect, skip: 1_000_001 }, 'INVALID_FIELD', 'skip'],
    [{ effect, probability: -0.1 }, 'INVALID_FIELD', 'probability'],
    [{ effect, probability: 1.000_001 }, 'INVALID_FIELD', 'probability'],
    [{ effect, probability: '0.5' }, 'INVALID_FIELD', 'probability'],
    [{ effect, probability: null }, 'INVALID_FIELD', 'probability'],
    [{ effect, ttl: 60 }, 'INVALID_FIELD', 'ttl'],
    [{ effect, ttl: '' }, 'INVALID_FIELD', 'ttl'],
    [{ effect, ttl: '60s' }, 'INVALID_FIELD', 'ttl'],
    [{ effect, ttl: 'P1M' }, 'INVALID_FIELD', 'ttl'],
    [{ effect, ttl: 'P1Y' }, 'INVALID_FIELD', 'ttl'],
    [{ effect, ttl: '-PT1S' }, 'INVALID_FIELD', 'ttl'],
    [{ effect, ttl: 'PT0.5S' }, 'INVALID_FIELD', 'ttl'],
  ]
  wrong.push([undefined, 'MISSING_FIELD', 'effect'])
  const faults = wrong.map(([fault]) => fault)
  t.same(
    await answersOf(client, faults),
    wrong.map(([fault, code, field]) => [fault, 400, code, field]),
  )
  t.same(await listed(client), [])
})

t.test('control plane, POST /faults: every member of an effect, wrong or missing', async t => {
  const client = await connect(build(t))
  const uniform = { distribution: 'uniform', min: 1, max: 2 }
  const lognormal = { distribution: 'lognormal', median: 1, sigma: 1, max: 2 }
  const wrong: [effect: object, code: string, field: string][] = [
    [{ kind: 'error' }, 'MISSING_FIELD', 'effect.status'],
    [error(399), 'INVALID_FIELD', 'effect.status'],
    [error(600), 'INVALID_FIELD', 'effect.status'],
    [error(200), 'INVALID_FIELD', 'effect.status'],
    [error(500.5), 'INVALID_FIELD', 'effect.status'],
    [{ kind: 'error', status: '500' }, 'INVALID_FIELD', 'effect.status'],
    [{ kind: 'error', status: null }, 'INVALID_FIELD', 'effect.status'],
    [error(500, { code: '' }), 'INVALID_FIELD', 'effect.code'],
    [error(500, { code: 'lower' }), 'INVALID_FIELD', 'effect.code'],
    [error(500, { code: 'A B' }), 'INVALID_FIELD', 'effect.code'],
    [error(500, { code: '1A' }), 'INVALID_FIELD', 'effect.code'],
    [error(500, { code: 'A'.repeat(65) }), 'INVALID_FIELD', 'effect.code'],
    [error(500, { code: 42 }), 'INVALID_FIELD', 'effect.code'],
    [error(500, { message: '' }), 'INVALID_FIELD', 'effect.message'],
    [error(500, { message: 'x'.repeat(501) }), 'INVALID_FIELD', 'effect.message'],
    [error(500, { message: {} }), 'INVALID_FIELD', 'effect.message'],
    [error(500, { retryAfter: -1 }), 'INVALID_FIELD', 'effect.retryAfter'],
    [error(500, { retryAfter: 86_401 }), 'INVALID_FIELD', 'effect.retryAfter'],
    [error(500, { retryAfter: 1.5 }), 'INVALID_FIELD', 'effect.retryAfter'],
    [error(500, { retryAfter: '1' }), 'INVALID_FIELD', 'effect.retryAfter'],
    [{ kind: 'delay' }, 'MISSING_FIELD', 'effect.ms'],
    [{ kind: 'delay', min: 1, max: 2 }, 'MISSING_FIELD', 'effect.ms'],
    [{ kind: 'delay', ms: -1 }, 'INVALID_FIELD', 'effect.ms'],
    [{ kind: 'delay', ms: 300_001 }, 'INVALID_FIELD', 'effect.ms'],
    [{ kind: 'delay', ms: 0.5 }, 'INVALID_FIELD', 'effect.ms'],
    [{ kind: 'delay', ms: '200' }, 'INVALID_FIELD', 'effect.ms'],
    [{ kind: 'delay', ms: null }, 'INVALID_FIELD', 'effect.ms'],
    [{ kind: 'delay', ms: [200] }, 'INVALID_FIELD', 'effect.ms'],
    [{ kind: 'delay', ms: {} }, 'MISSING_FIELD', 'effect.ms.distribution'],
    [{ kind: 'delay', ms: 200, ...uniform }, 'INVALID_FIELD', 'effect.ms'],
    [{ kind: 'delay', ms: uniform, max: 3 }, 'INVALID_FIELD', 'effect.ms'],
    [{ kind: 'delay', ms: { ...uniform, distribution: 'normal' } }, 'INVALID_FIELD', 'effect.ms.distribution'],
    [{ kind: 'delay', distribution: 'normal' }, 'INVALID_FIELD', 'effect.distribution'],
    [{ kind: 'delay', distribution: 'uniform', min: 1 }, 'MISSING_FIELD', 'effect.max'],
    [{ kind: 'delay', distribution: 'uniform', max: 1 }, 'MISSING_FIELD', 'effect.min'],
    [{ kind: 'delay', ms: { distribution: 'uniform', min: 1 } }, 'MISSING_FIELD', 'effect.ms.max'],
    [{ kind: 'delay', ...uniform, min: 3 }, 'INVALID_FIELD', 'effect.max'],
    [{ kind: 'delay', ms: { ...uniform, min: 3 } }, 'INVALID_FIELD', 'effect.ms.max'],
    [{ kind: 'delay', ...uniform, min: -1 }, 'INVALID_FIELD', 'effect.min'],
    [{ kind: 'delay', ...uniform, max: 300_001 }, 'INVALID_FIELD', 'effect.max'],
    [{ kind: 'delay', ms: { ...uniform, max: 300_001 } }, 'INVALID_FIELD', 'effect.ms.max'],
    [{ kind: 'delay', ...uniform, median: 1 }, 'INVALID_FIELD', 'effect.median'],
    [{ kind: 'delay', ms: { ...uniform, sigma: 1 } }, 'INVALID_FIELD', 'effect.ms.sigma'],
    [{ kind: 'delay', distribution: 'lognormal', sigma: 1, max: 2 }, 'MISSING_FIELD', 'effect.median'],
    [{ kind: 'delay', distribution: 'lognormal', median: 1, max: 2 }, 'MISSING_FIELD', 'effect.sigma'],
    [{ kind: 'delay', distribution: 'lognormal', median: 1, sigma: 2 }, 'MISSING_FIELD', 'effect.max'],
    [{ kind: 'delay', ms: { ...lognormal, min: 1 } }, 'INVALID_FIELD', 'effect.ms.min'],
    [{ kind: 'delay', ...lognormal, sigma: -0.1 }, 'INVALID_FIELD', 'effect.sigma'],
    [{ kind: 'delay', ...lognormal, sigma: 10.1 }, 'INVALID_FIELD', 'effect.sigma'],
    [{ kind: 'delay', ...lognormal, median: 1.5 }, 'INVALID_FIELD', 'effect.median'],
    [{ kind: 'drop' }, 'MISSING_FIELD', 'effect.when'],
    [{ kind: 'drop', when: 'during' }, 'INVALID_FIELD', 'effect.when'],
    [{ kind: 'drop', when: null }, 'INVALID_FIELD', 'effect.when'],
    [{ kind: 'reset' }, 'MISSING_FIELD', 'effect.when'],
    [{ kind: 'reset', when: '' }, 'INVALID_FIELD', 'effect.when'],
    [{ kind: 'dribble' }, 'MISSING_FIELD', 'effect.ms'],
    [{ kind: 'dribble', ms: -1 }, 'INVALID_FIELD', 'effect.ms'],
    [{ kind: 'dribble', ms: 300_001 }, 'INVALID_FIELD', 'effect.ms'],
    [{ kind: 'dribble', ms: uniform }, 'INVALID_FIELD', 'effect.ms'],
    [{ kind: 'dribble', ms: {} }, 'INVALID_FIELD', 'effect.ms'],
  ]
  const faults = wrong.map(([effect]) => ({ effect }))
  t.same(
    await answersOf(client, faults),
    wrong.map(([effect, code, field]) => [{ effect }, 400, code, field]),
  )
  t.same(await listed(client), [])
})

t.test('control plane, POST /faults: a member of an effect that belongs to another is refused', async t => {
  const client = await connect(build(t))
  const complete: Record<string, Record<string, unknown>> = {
    error: { status: 500 },
    delay: { ms: 1 },
    drop: { when: 'after' },
    reset: { when: 'after' },
    truncate: {},
    garbage: {},
    dribble: { ms: 1 },
    'stale-token': {},
  }
  const owners: [member: string, value: unknown, kinds: string[]][] = [
    ['status', 500, ['error']],
    ['code', 'ANY', ['error']],
    ['message', 'any', ['error']],
    ['retryAfter', 1, ['error']],
    ['headers', {}, ['error']],
    ['ms', 1, ['delay', 'dribble']],
    ['when', 'before', ['drop', 'reset']],
    ['distribution', 'uniform', []],
    ['min', 1, []],
    ['max', 1, []],
    ['median', 1, []],
    ['sigma', 1, []],
  ]
  const cases: unknown[][] = []
  for (const [kind, members] of Object.entries(complete)) {
    cases.push([{ effect: { kind, ...members } }, 201, undefined, undefined])
    for (const [member, value, kinds] of owners) {
      if (kinds.includes(kind)) continue
      // A delay has either ms or a distribution: there, ms is wrong.
      const isBoth = kind === 'delay' && ['distribution', 'min', 'max', 'median', 'sigma'].includes(member)
      const effect = { kind, ...members, [member]: value }
      cases.push([{ effect }, 400, 'INVALID_FIELD', isBoth ? 'effect.ms' : `effect.${member}`])
    }
  }
  const faults = cases.map(([fault]) => fault)
  t.same(await answersOf(client, faults), cases)
})

t.test("control plane, POST /faults: an error cannot set the headers that are the server's own", async t => {
  const client = await connect(build(t))
  const [seen, expected]: [unknown[], unknown[]] = [[], []]
  for (const name of [
    'connection',
    'content-length',
    'content-type',
    'date',
    'keep-alive',
    'proxy-connection',
    'sandbox-hint',
    'te',
    'trailer',
    'transfer-encoding',
    'upgrade',
    'x-request-id',
  ]) {
    for (const spelling of [name, name.toUpperCase()]) {
      const { body } = await arm(client, { effect: error(500, { headers: { 'x-fine': 'a', [spelling]: '1' } }) })
      seen.push([body.code, body.field])
      expected.push(['INVALID_FIELD', `effect.headers.${spelling}`])
    }
  }
  t.same(seen, expected)
  for (const name of ['retry-after', 'www-authenticate', 'set-cookie', 'cache-control', 'location', 'x-ratelimit']) {
    t.equal((await arm(client, { effect: error(500, { headers: { [name]: '1' } }) })).status, 201, name)
  }
})

t.test('control plane, POST /faults: headers of an error: wrong names and values, too many, twice', async t => {
  const client = await connect(build(t))
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${at}`, 'a']))
  const wrong: [headers: unknown, field: string][] = [
    ['x-a: b', 'effect.headers'],
    [[], 'effect.headers'],
    [null, 'effect.headers'],
    [{ 'x-a': 1 }, 'effect.headers.x-a'],
    [{ 'x-a': null }, 'effect.headers.x-a'],
    [{ 'x-a': ['b'] }, 'effect.headers.x-a'],
    [{ 'x-a': 'a\r\nx-b: c' }, 'effect.headers.x-a'],
    [{ 'x-a': 'a\nb' }, 'effect.headers.x-a'],
    [{ 'x-a': '\u0000' }, 'effect.headers.x-a'],
    [{ 'x-a': 'ä' }, 'effect.headers.x-a'],
    [{ 'x-a': '\t' }, 'effect.headers.x-a'],
    [{ 'x-a': 'x'.repeat(1025) }, 'effect.headers.x-a'],
    [{ '': 'b' }, 'effect.headers'],
    [{ 'x a': 'b' }, 'effect.headers'],
    [{ 'x:a': 'b' }, 'effect.headers'],
    [{ 'x-ä': 'b' }, 'effect.headers'],
    [{ 'x\r\n': 'b' }, 'effect.headers'],
    [{ ['x'.repeat(65)]: 'b' }, 'effect.headers'],
    [many(21), 'effect.headers'],
    [{ 'x-a': '1', 'X-A': '2' }, 'effect.headers.X-A'],
  ]
  const faults = wrong.map(([headers]) => ({ effect: error(500, { headers }) }))
  t.same(
    await answersOf(client, faults),
    wrong.map(([, field], at) => [faults[at], 400, 'INVALID_FIELD', field]),
  )
  const twice = await arm(client, { effect: error(503, { retryAfter: 1, headers: { 'Retry-After': '2' } }) })
  refused(t, twice, 400, 'INVALID_FIELD', 'effect.headers.Retry-After')
  for (const headers of [{}, many(20), { 'x-a': 'x'.repeat(1024) }, { ['x'.repeat(64)]: '' }]) {
    t.equal((await arm(client, { effect: error(500, { headers }) })).status, 201)
  }
})

t.test('control plane: a member that is not known is refused, or a typo would hit what it should not', async t => {
  const client = await connect(build(t))
  const effect = { kind: 'drop', when: 'after' }
  for (const [fault, field] of [
    [{ match: { pth: '/api/v1/bills' }, effect }, 'match.pth'],
    [{ tims: 3, effect }, 'tims'],
    [{ effect: { ...effect, wen: 'before' } }, 'effect.wen'],
  ] as const) {
    refused(t, await client.control('POST', '/faults', fault), 400, 'INVALID_FIELD', field)
  }
  t.same((await client.control('GET', '/faults')).body.data, [])
})
