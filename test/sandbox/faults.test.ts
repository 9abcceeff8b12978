import t, { type Test } from 'tap'
import { parseInstant } from '../../src/core/time/time.js'
import { each, holds, invalid, malformed, missing, refused, refusesValues, table } from '../answers.js'
import type { CallOptions, Client } from '../helper.js'
import {
  bill,
  build,
  call,
  collection,
  connect,
  MONDAY,
  mandate,
  NO_WAIT,
  newClient,
  payoutLink,
  pluck,
  requestToken,
} from '../helper.js'
import { upload } from '../multipart.js'

const TOKEN = '/api/v1/oauth/token'
const MANDATES = '/api/v1/mandates'

const arm = (client: Client, fault: unknown) => client.control('POST', '/faults', fault)

/** Arms a fault that must be accepted; answers it. */
async function armed(t: Test, client: Client, effect: object, more: object = {}) {
  const answer = await arm(client, { ...more, effect })
  if (answer.status !== 201) t.fail(`${answer.body.field}: ${answer.body.message}`)
  return answer.body
}

const listed = async (client: Client) => (await client.read('/faults')).data

/** Id, seen, fired and state of each. */
const standing = async (client: Client) =>
  (await listed(client)).map(({ id, seen, fired, state }: Record<string, unknown>) => [id, seen, fired, state])

/** The statuses of so many requests in a row. */
async function statuses(client: Client, requests: number, url = MANDATES) {
  const all: number[] = []
  for (let request = 0; request < requests; request++) all.push((await client.get(url)).status)
  return all
}

const REMOVAL = { op: 'remove', path: '/status' }

const error = (status: number, more: object = {}) => ({ kind: 'error', status, ...more })

// -------------------------------------------------------------------------------------------------- arming, listing

t.test('control plane, POST /faults: tells what was given, as it was given', async t => {
  const client = await connect(build(t, { now: () => 5000 }))
  const given = {
    match: { method: 'POST', path: '/api/v1/*', region: 'EU' },
    times: null,
    skip: 3,
    probability: 0.25,
    ttl: 'pt90m',
    effect: { kind: 'delay', distribution: 'lognormal', median: 200, sigma: 0.5, max: 3000 },
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
  const client = await newClient()
  t.same(await client.read('/faults'), { data: [] })
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

t.test('control plane, POST /faults: a ttl is real time; spent and expired faults stay listed', async t => {
  let now = parseInstant(MONDAY) as number
  const client = await connect(build(t, { clock: 'real', now: () => now }))
  await armed(t, client, error(503), { ttl: 'PT5S', match: { path: MANDATES } })
  await armed(t, client, error(500), { ttl: 'PT10S', times: null, match: { path: MANDATES } })
  await client.advance({ by: 'P1D' })
  t.same(await statuses(client, 2), [503, 500], 'a day of the tenant is no time at all')
  now += 9999
  t.same(await statuses(client, 1), [500])
  now += 1
  t.same(await statuses(client, 1), [200])
  t.same(await standing(client), [
    ['fault-1', 1, 1, 'spent'],
    ['fault-2', 2, 2, 'expired'],
  ])
})

// ------------------------------------------------------------------------------------------------------------ errors

t.test('decisions §12: an error has the code of its status by default', async t => {
  const client = await newClient()
  const codes: Record<string, number[]> = {
    MALFORMED_REQUEST: [400, 402, 418, 499],
    INVALID_TOKEN: [401],
    ORIGIN_NOT_ALLOWED: [403],
    ROUTE_NOT_FOUND: [404],
    METHOD_NOT_ALLOWED: [405],
    REQUEST_TIMEOUT: [408],
    DUPLICATE_REFERENCE: [409],
    OPERATION_SUNSET: [410],
    PAYLOAD_TOO_LARGE: [413],
    UNSUPPORTED_MEDIA_TYPE: [415],
    RATE_LIMITED: [429],
    HEADERS_TOO_LARGE: [431],
    INTERNAL_ERROR: [500, 501, 502, 504, 599],
    SERVICE_UNAVAILABLE: [503],
  }
  const cases = Object.entries(codes).flatMap(([code, statuses]) =>
    statuses.map(status => [status, `${status} ${code} null`] as const),
  )
  await holds(t, cases, async status => {
    await armed(t, client, error(status))
    return client.get(MANDATES)
  })
})

t.test('decisions §12: an error has the code, message and headers that are given', async t => {
  const client = await newClient()
  const headers = { 'X-Limit': '10', 'x-empty': '', 'X-Text': 'a; b="c", d' }
  await armed(t, client, error(422, { code: 'NOT_TODAY', message: 'Bitte später: "jetzt" nicht.', headers }))
  const answer = await client.get(MANDATES)
  refused(t, answer, 422, 'NOT_TODAY', null)
  t.equal(answer.body.message, 'Bitte später: "jetzt" nicht.')
  t.match(answer.headers, { 'x-limit': '10', 'x-empty': '', 'x-text': 'a; b="c", d' })
})

/** Arms each error in turn, and compares one header of the answers. */
const assertHeader = (t: Test, client: Client, name: string, rows: Record<string, object[]>) =>
  table(
    t,
    async effect => {
      await armed(t, client, effect)
      return String((await client.get(MANDATES)).headers[name])
    },
    rows,
  )

t.test('decisions §2: Retry-After comes with RATE_LIMITED, and where it is given', async t => {
  const date = 'Wed, 21 Oct 2026 07:28:00 GMT'
  await assertHeader(t, await newClient(), 'retry-after', {
    1: [error(429), error(429, { code: 'SLOW_DOWN' })],
    30: [error(429, { retryAfter: 30 })],
    0: [error(429, { retryAfter: 0 })],
    86400: [error(503, { retryAfter: 86_400 })],
    5: [error(500, { headers: { 'retry-after': '5' } })],
    [date]: [error(429, { headers: { 'Retry-After': date } })],
    undefined: [error(503), error(400)],
  })
})

t.test('decisions §3: a 401 that is asked for has the challenge of its code', async t => {
  const bearer = 'Bearer realm="payments-sandbox"'
  const code = (name: string, status = 401) => error(status, { code: name })
  await assertHeader(t, await newClient(), 'www-authenticate', {
    [`${bearer}, error="invalid_token"`]: [error(401), code('INVALID_TOKEN'), code('EXPIRED_TOKEN')],
    [bearer]: [code('MISSING_TOKEN')],
    DPoP: [error(401, { code: 'INVALID_TOKEN', headers: { 'WWW-Authenticate': 'DPoP' } })],
    undefined: [code('INVALID_CLIENT'), code('LOCKED_OUT'), code('INVALID_TOKEN', 403), code('INVALID_CLIENT', 400)],
  })
})

t.test('decisions §3: on the token endpoint, an error has the two members of OAuth', async t => {
  const app = build(t)
  const client = await connect(app)
  const effects: [effect: object, expected: string][] = [
    [error(429), '429 RATE_LIMITED null invalid_request'],
    [error(500), '500 INTERNAL_ERROR null server_error'],
    [error(502, { code: 'BAD_GATEWAY' }), '502 BAD_GATEWAY null server_error'],
    [error(503, { retryAfter: 3 }), '503 SERVICE_UNAVAILABLE null temporarily_unavailable, retry after 3'],
    [error(401), '401 INVALID_CLIENT null invalid_client'],
    [error(400, { code: 'ODD', message: 'Sagt "später" \\ \u0007.' }), '400 ODD null invalid_request'],
  ]
  await holds(t, effects, async effect => {
    await armed(t, client, effect, { match: { path: TOKEN } })
    t.equal((await client.get(MANDATES)).status, 200, 'other operations do not meet it')
    const { status, body, headers } = await requestToken(app)
    t.same(Object.keys(body).sort(), ['code', 'error', 'error_description', 'field', 'message'])
    t.match(body.error_description, /^[\x20\x21\x23-\x5b\x5d-\x7e]+$/)
    t.equal(headers['www-authenticate'], undefined, 'Basic was not used')
    t.equal((await requestToken(app)).status, 200)
    const retryAfter =
      headers['retry-after'] === undefined || status === 429 ? '' : `, retry after ${headers['retry-after']}`
    return `${status} ${body.code} ${body.field} ${body.error}${retryAfter}`
  })
})

t.test('control plane, POST /faults: an error fires before anything is applied', async t => {
  const client = await newClient()
  await client.post(MANDATES, mandate())
  await client.post('/api/v1/direct-debit', collection())
  await client.post('/api/v1/bills', bill())
  const { payoutLinkId } = (await client.post('/api/v1/payout-links', payoutLink())).body
  const before = await client.read('/state')
  const requests: [string, string, CallOptions?][] = [
    ['POST', MANDATES, { body: mandate({ mandateReference: 'MND-0002' }) }],
    ['DELETE', `${MANDATES}/MND-0001`],
    ['POST', '/api/v1/direct-debit', { body: collection({ collectionReference: 'COL-0002' }) }],
    ['POST', '/api/v1/payout-links', { body: payoutLink() }],
    ['PATCH', `/api/v1/payout-links/${payoutLinkId}/cancel`, { body: { cancellationComment: 'no' } }],
    ['POST', '/api/v1/bills/INV-2026-001/document', upload()],
    // Also before 404 and 409.
    ['GET', `${MANDATES}/MND-NONE`],
    ['POST', MANDATES, { body: mandate() }],
  ]
  await armed(t, client, error(500), { times: requests.length })
  await holds(t, each(requests, '500 INTERNAL_ERROR null'), request => client.send(...(request as [string, string])))
  await client.control('DELETE', '/faults')
  const { ids, ...after } = await client.read('/state')
  const { ids: earlier, ...rest } = before
  t.same(after, rest)
  t.same(ids.counters, { ...earlier.counters, 'fault id': 1 }, 'no number is used up, but of the fault')
  t.equal((await client.get(`${MANDATES}/MND-NONE`)).status, 404)
  await armed(t, client, error(502))
  const head = await client.send('HEAD', MANDATES)
  t.same([head.status, head.body], [502, null])
})

// ------------------------------------------------------------------------------------------------------- stale-token

t.test('control plane, POST /faults: patch: the answer is changed, the record is not', async t => {
  const client = await newClient()
  await client.post(MANDATES, mandate())
  await client.post('/api/v1/direct-debit', collection())
  const url = '/api/v1/direct-debit/COL-0001'
  const { body: record } = await client.get(url)
  const patch = [
    { op: 'replace', path: '/status', value: 'ON_HOLD' },
    { op: 'add', path: '/newMember', value: { 'a/b': [1] } },
    { op: 'add', path: '/newMember/a~1b/-', value: 2 },
    { op: 'replace', path: '/debtorName', value: null },
    { op: 'remove', path: '/amount' },
  ]
  await armed(t, client, { kind: 'patch', patch })
  const { status, body, headers } = await client.get(url)
  const { amount, ...others } = record
  t.equal(status, 200)
  t.same(body, { ...others, status: 'ON_HOLD', debtorName: null, newMember: { 'a/b': [1, 2] } })
  t.equal(headers['content-length'], String(Buffer.byteLength(JSON.stringify(body))))
  t.same((await client.get(url)).body, record, 'the next answer is the record')
  t.equal((await client.read('/direct-debit/COL-0001')).record.status, 'PENDING')
  const [patched] = (await client.read('/requests?path=/api/v1/direct-debit/*')).data.slice(-2)
  t.same(patched.responseBody, body, 'the log has the answer as it was sent')
  t.same(patched.faults, [{ id: 'fault-1', kind: 'patch' }])
})

t.test(
  'control plane, POST /faults: patch: an answer that lacks a path is sent as it is, and the log notes it',
  async t => {
    const client = await newClient()
    await client.post(MANDATES, mandate())
    const { body: list } = await client.get(MANDATES)
    const first = { op: 'replace', path: '/data/0/status', value: 'ON_HOLD' }
    const lacking: [path: string, op?: string][] = [
      ['/status'],
      ['/data/1/status'],
      ['/data/0/status/text'],
      ['/data/01/status', 'remove'],
      ['/data/0/reasonCode', 'remove'],
      ['/data/2', 'add'],
      ['/page/next', 'add'],
    ]
    for (const [path, op = 'replace'] of lacking) {
      const { id } = await armed(t, client, {
        kind: 'patch',
        patch: [first, op === 'remove' ? { op, path } : { op, path, value: 1 }],
      })
      t.same((await client.get(MANDATES)).body, list, `${op} ${path}`)
      const [{ faults }] = (await client.read('/requests?limit=1')).data
      t.same(faults, [{ id, kind: 'patch', missing: path }])
    }
    await armed(t, client, { kind: 'patch', patch: [first] })
    t.same(pluck((await client.get(MANDATES)).body.data, 'status'), ['ON_HOLD'], 'a list that has it')

    // Refusals are answers, too. An empty answer has no path.
    await armed(t, client, { kind: 'patch', patch: [{ op: 'replace', path: '/code', value: 'NEW_CODE' }] })
    const refusal = await client.get(`${MANDATES}/MND-9999`)
    t.same([refusal.status, refusal.body.code], [404, 'NEW_CODE'])
    await armed(t, client, { kind: 'patch', patch: [REMOVAL] })
    t.equal(
      (await call(client.app, 'HEAD', MANDATES, { region: 'EU', headers: { authorization: `Bearer ${client.token}` } }))
        .status,
      200,
    )
  },
)

t.test('control plane, POST /faults: stale-token: EXPIRED_TOKEN for a token that is good', async t => {
  const { app } = await newClient()
  const client = await connect(app, 'stale')
  await armed(t, client, { kind: 'stale-token' }, { times: 2 })
  t.equal((await requestToken(app, { client_id: 'stale' })).status, 200, 'or no client could get over it')
  const form = 'client_id=stale&client_secret=secret&grant_type=client_credentials'
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  t.equal((await client.post(TOKEN, form, { headers })).status, 200, 'also where a region is sent everywhere')
  t.same(await standing(client), [['fault-1', 0, 0, 'armed']])
  const answer = await client.post(MANDATES, mandate())
  refused(t, answer, 401, 'EXPIRED_TOKEN', 'authorization')
  t.equal(answer.headers['www-authenticate'], 'Bearer realm="payments-sandbox", error="invalid_token"')
  refused(t, await client.get(MANDATES), 401, 'EXPIRED_TOKEN', 'authorization')
  t.equal((await client.get(MANDATES)).body.totalCount, 0, 'the same token, and nothing was applied')
})

// ---------------------------------------------------------------------------------------------- matching

t.test('control plane, POST /faults: only a request that is good meets a fault, and counts for it', async t => {
  const client = await connect(build(t))
  await armed(t, client, error(500), { times: null })
  const bad: [status: number, method: string, url: string, options?: CallOptions][] = [
    [404, 'GET', '/api/v1/nowhere'],
    [405, 'PUT', MANDATES],
    [204, 'OPTIONS', MANDATES],
    [401, 'GET', MANDATES, { headers: { authorization: '' } }],
    [401, 'GET', MANDATES, { headers: { authorization: `Bearer ${client.token}x` } }],
    [400, 'GET', MANDATES, { region: null }],
    [400, 'GET', MANDATES, { region: 'US' }],
    [415, 'POST', MANDATES, { body: 'x', headers: { 'content-type': 'text/plain' } }],
    [400, 'GET', `${MANDATES}/x`],
    [400, 'GET', `${MANDATES}/MND-%zz`],
    [400, 'GET', `${MANDATES}?limit=0`],
    [400, 'POST', MANDATES, { body: {} }],
    [400, 'POST', MANDATES, { body: '{' }],
    [200, 'GET', '/_sandbox/clients'],
    [200, 'GET', '/_sandbox/clock?client=acme'],
  ]
  for (const [status, method, url, options] of bad)
    t.equal((await client.send(method, url, options)).status, status, `${method} ${url}`)
  t.equal((await requestToken(client.app, { client_secret: 'wrong' })).status, 401)
  t.equal((await requestToken(client.app, { grant_type: 'password' })).status, 400)
  t.same(await standing(client), [['fault-1', 0, 0, 'armed']])
  t.equal((await client.get(MANDATES)).status, 500)
  t.equal((await requestToken(client.app)).status, 500)
  t.same(await standing(client), [['fault-1', 2, 2, 'armed']])
})

t.test('control plane, POST /faults: match: by method, by path with * in it, by region', async t => {
  const client = await newClient()
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
  for (const [match, method, url, region, meets] of cases) {
    await armed(t, client, error(418), { match })
    const { status } = await client.send(method, url, { region, ...(method === 'POST' && { body: mandate() }) })
    t.equal(status === 418, meets, JSON.stringify([match, method, url, region]))
    await client.control('DELETE', '/faults')
  }
})

// --------------------------------------------------------------------------------------------------- how they combine

t.test('control plane, POST /faults: the order of arming, times and skip', async t => {
  const cases: [faults: [status: number, more?: object][], statuses: number[]][] = [
    [
      [[503], [429], [500]],
      [503, 429, 500, 200],
    ],
    [[[503, { skip: 2, times: 2 }]], [200, 200, 503, 503, 200, 200]],
    [[[500, { times: null, skip: 1 }]], [200, 500, 500, 500, 500]],
    [
      [
        [503, { skip: 1 }],
        [500, { times: null }],
      ],
      [500, 503, 500],
    ],
  ]
  for (const [faults, expected] of cases) {
    const client = await newClient()
    for (const [status, more] of faults) await armed(t, client, error(status), more)
    t.same(await statuses(client, expected.length), expected, JSON.stringify(faults))
    if (faults.length !== 2) continue
    t.same(await standing(client), [
      ['fault-1', 2, 1, 'spent'],
      ['fault-2', 2, 2, 'armed'],
    ])
  }
})

t.test('control plane, POST /faults: with a probability, a run repeats exactly with the same seed', async t => {
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

t.test('control plane, POST /faults: a delay takes its time, fixed or random', async t => {
  const waits: number[] = []
  const timers = {
    ...NO_WAIT,
    later(ms: number, work: () => void) {
      waits.push(ms)
      return NO_WAIT.later(ms, work)
    },
  }
  const client = await connect(build(t, { timers }))
  for (const effect of [
    { kind: 'delay', ms: 200 },
    { kind: 'delay', distribution: 'uniform', min: 400, max: 400 },
    { kind: 'delay', distribution: 'lognormal', median: 600, sigma: 0, max: 1000 },
    { kind: 'delay', ms: 300_000 },
  ]) {
    t.same((await armed(t, client, effect)).effect, effect, 'told as it was given')
    t.equal((await client.get(MANDATES)).status, 200)
  }
  t.same(waits, [200, 400, 600, 300_000])
})

// --------------------------------------------------------------------------------------------- state, fork and reset

// --------------------------------------------------------------------------------------------------------- refusals

t.test('control plane, POST /faults: a fault that could never fire is refused, and the part is named', async t => {
  const client = await newClient()
  const paths = [
    ...['/api/v1/nowhere', '/api/v1/mandates/', 'api/v1/mandates', 'mandates', '/API/V1/mandates', '/', ' '],
    ...['/api/v1/mandates?limit=1', '/api/v1/mandates/MND-0001?limit=1', '/api/v1/mandates/MND-0001/cancel'],
    ...['/api/v2/*', '/api/v1/*/no/where', '*/mandates/*/*', '*.json?', '/_sandbox/*', '/_sandbox/clock'],
  ]
  await table(t, match => arm(client, { match, effect: error(500) }), {
    [invalid('match.path')]: paths.map(path => ({ path })),
    [invalid('match.method')]: [
      { path: '/api/v1/mandates', method: 'PATCH' },
      { path: '/api/v1/mandates/MND-0001', method: 'POST' },
      { path: '/api/v1/payout-links/*/cancel', method: 'GET' },
      { path: TOKEN, method: 'HEAD' },
    ],
    [invalid('match.region')]: [
      { path: TOKEN, region: 'EU' },
      { path: '/api/v1/mandates', region: 'US' },
      { path: '/api/v1/direct-debit*', region: 'UK' },
      { path: '/api/v1/payout-links/*', region: 'IN' },
      { method: 'DELETE', region: 'IN' },
    ],
  })
  await table(t, path => arm(client, { match: { path }, effect: { kind: 'stale-token' } }), {
    [invalid('effect.kind')]: [TOKEN, '/api/v1/oauth/*'],
  })
  t.same(await listed(client), [])
})

t.test('control plane, POST /faults: the refusal tells what there is', async t => {
  const client = await newClient()
  const rows: [match: object, told: string][] = [
    [{ path: '/nowhere' }, 'GET /api/v1/mandates/{mandateReference}'],
    [{ path: '/nowhere' }, 'POST /api/v1/oauth/token'],
    [{ path: `${MANDATES}/MND-0001`, method: 'POST' }, 'DELETE /api/v1/mandates/{mandateReference}'],
    [{ path: '/api/v1/payout-links', region: 'IN' }, 'EU, US, UK'],
    [{ path: TOKEN, region: 'EU' }, 'none'],
  ]
  for (const [match, told] of rows) t.match((await arm(client, { match, effect: error(500) })).body.message, told)
})

t.test('control plane, POST /faults: a fault that can fire, if rarely, is armed', async t => {
  const client = await newClient()
  const paths = [
    ...['*', '**', '*a*p*i*', '/api/v1/mandates/MND-1', `/api/v1/mandates/${'M'.repeat(50)}`, '/api/v1/bills/INV'],
    ...[`/api/v1/bills/${'I'.repeat(64)}`, '/api/v1/payout-links/pl_0001/cancel', '/api/v1/payout-links/*'],
    ...['/api/v1/*/MND-*', TOKEN, '/api/v1/mandates/M', '*.json'],
  ]
  const matches: (object | undefined)[] = [
    undefined,
    {},
    { path: '/api/v1/bills/*/document', method: 'POST', region: 'IN' },
  ]
  matches.push({ path: '*', method: 'POST' }, { path: MANDATES, method: 'HEAD' }, { region: 'IN' })
  const rare = { probability: 0.000_001, skip: 1_000_000, times: 1_000_000, ttl: 'PT1S', effect: error(500) }
  const stale = { match: { method: 'POST' }, effect: { kind: 'stale-token' } }
  const faults = [...matches, ...paths.map(path => ({ path }))].map(match => ({ match, effect: error(500) }))
  await table(t, fault => arm(client, fault), { 201: [...faults, rare, stale] })
})

t.test('control plane, POST /faults: wrong types, and one past each limit', async t => {
  const client = await newClient()
  const effect = error(500)
  const send = (fault: unknown) => arm(client, fault)
  await table(t, send, {
    [missing('effect')]: [undefined, {}],
    [missing('effect.kind')]: [{ effect: {} }, { effect: { kind: '' } }],
    [invalid(null)]: ['[]', 'null'],
    [malformed(null)]: ['{'],
  })
  await refusesValues(
    t,
    send,
    { effect },
    {
      effect: [null, 'error', [effect]],
      'effect.kind': ['ERROR', 'explode', ['error']],
      match: [null, '/api/v1/*', []],
      'match.method': ['get', 'PUT', '', ['GET']],
      'match.path': ['', 1, `/${'x'.repeat(500)}`],
      'match.region': ['GB', 'eu', null],
      'match.pth': ['/api/v1/bills'],
      times: [0, -1, 1.5, '1', true, 1_000_001],
      tims: [3],
      skip: [-1, 0.5, null, 1_000_001],
      probability: [0, -0.1, 1.000_001, '0.5', null],
      ttl: [60, '', '60s', 'P1M', 'P1Y', '-PT1S', 'PT0.5S', 'PT0S', 'P0D', 'P0W'],
    },
  )
  t.same(await listed(client), [])
})

t.test('control plane, POST /faults: every member of an effect, wrong or missing', async t => {
  const client = await newClient()
  const send = (fault: object) => arm(client, fault)
  const uniform = { distribution: 'uniform', min: 1, max: 2 }
  const lognormal = { distribution: 'lognormal', median: 1, sigma: 1, max: 2 }
  const delay = (more: object) => ({ kind: 'delay', ...more })
  const wrong: [effect: object, wrong: Record<string, unknown[]>][] = [
    [error(500), { 'effect.status': [399, 600, 200, 500.5, '500', null], 'effect.message': ['', 'x'.repeat(501), {}] }],
    [error(500), { 'effect.code': ['', 'lower', 'A B', '1A', 'A'.repeat(65), 42] }],
    [error(500), { 'effect.retryAfter': [-1, 86_401, 1.5, '1'] }],
    [
      delay({}),
      { 'effect.ms': [-1, 300_001, 0.5, '200', null, [200], {}, uniform], 'effect.distribution': ['normal'] },
    ],
    [delay(uniform), { 'effect.ms': [200], 'effect.min': [-1], 'effect.max': [0, 300_001], 'effect.wen': [1] }],
    [delay(uniform), { 'effect.median': [1], 'effect.sigma': [1] }],
    [delay(lognormal), { 'effect.sigma': [-0.1, 10.1], 'effect.median': [1.5], 'effect.min': [1] }],
    [{ kind: 'drop' }, { 'effect.when': ['during', null] }],
    [{ kind: 'reset' }, { 'effect.when': [''] }],
    [{ kind: 'dribble' }, { 'effect.ms': [-1, 300_001, uniform, {}] }],
    [{ kind: 'patch' }, { 'effect.patch': [null, {}, [], Array(51).fill(REMOVAL)] }],
    [{ kind: 'patch', patch: [REMOVAL] }, { 'effect.patch.0.op': ['move', 'copy', 'test', null] }],
    [
      { kind: 'patch', patch: [REMOVAL] },
      { 'effect.patch.0.path': ['status', '#/status', '/a~2', `/${'a'.repeat(500)}`, null] },
    ],
    [
      { kind: 'patch', patch: [REMOVAL] },
      { 'effect.patch.0.value': [null, 1], 'effect.patch.0.from': ['/a'] },
    ],
  ]
  for (const [effect, values] of wrong) await refusesValues(t, send, { effect }, values)
  const { min, max, ...noBounds } = uniform
  await table(t, effect => send({ effect }), {
    [missing('effect.status')]: [{ kind: 'error' }],
    [missing('effect.ms')]: [delay({}), delay({ min, max }), { kind: 'dribble' }],
    [missing('effect.max')]: [delay({ ...noBounds, min }), delay({ ...lognormal, max: undefined })],
    [missing('effect.min')]: [delay({ ...noBounds, max })],
    [missing('effect.median')]: [delay({ ...lognormal, median: undefined })],
    [missing('effect.sigma')]: [delay({ ...lognormal, sigma: undefined })],
    [missing('effect.when')]: [{ kind: 'drop' }, { kind: 'reset' }],
    [missing('effect.patch')]: [{ kind: 'patch' }],
    [missing('effect.patch.0.path')]: [{ kind: 'patch', patch: [{ op: 'remove' }] }],
    [missing('effect.patch.1.value')]: ['add', 'replace'].map(op => ({
      kind: 'patch',
      patch: [REMOVAL, { op, path: '/status' }],
    })),
    [invalid('effect.ms')]: [delay({ ...uniform, ms: 1 })],
  })
  t.same(await listed(client), [])
})

t.test('control plane, POST /faults: a member of an effect that belongs to another is refused', async t => {
  const client = await newClient()
  const members = { status: 500, code: 'ANY', message: 'any', retryAfter: 1, headers: {}, ms: 1, when: 'before' }
  const all: Record<string, unknown> = {
    ...members,
    patch: [REMOVAL],
    distribution: 'uniform',
    min: 1,
    max: 1,
    median: 1,
    sigma: 1,
  }
  /** The required and the optional members of each kind. */
  const kinds: Record<string, [required: string[], optional?: string[]]> = {
    error: [['status'], ['code', 'message', 'retryAfter', 'headers']],
    ...{ delay: [['ms']], dribble: [['ms']], drop: [['when']], reset: [['when']] },
    ...{ truncate: [[]], garbage: [[]], 'stale-token': [[]], patch: [['patch']] },
  }
  for (const [kind, [required, optional = []]] of Object.entries(kinds)) {
    const effect = { kind, ...Object.fromEntries(required.map(name => [name, all[name]])) }
    t.equal((await arm(client, { effect })).status, 201, kind)
    const others = Object.keys(all).filter(name => ![...required, ...optional].includes(name))
    await holds(
      t,
      others.map(name => {
        // A distribution requires its own members.
        const isRandom = kind === 'delay' && name === 'distribution'
        return [{ ...effect, [name]: all[name] }, isRandom ? missing('effect.min') : invalid(`effect.${name}`)]
      }),
      wrong => arm(client, { effect: wrong }),
    )
  }
})

t.test("decisions §12: an error cannot set the headers that are the server's own", async t => {
  const client = await newClient()
  const framing = ['connection', 'content-length', 'content-type', 'keep-alive', 'proxy-connection', 'te', 'trailer']
  const own = [...framing, 'transfer-encoding', 'upgrade', 'date', 'sandbox-hint', 'x-request-id']
  const others = ['retry-after', 'www-authenticate', 'set-cookie', 'cache-control', 'location', 'x-ratelimit']
  const spelled = own.flatMap(name => [name, name.toUpperCase()])
  await holds(
    t,
    [...spelled.map(name => [name, invalid(`effect.headers.${name}`)] as const), ...each(others, '201')],
    name => arm(client, { effect: error(500, { headers: { 'x-fine': 'a', [name]: '1' } }) }),
  )
})

t.test('control plane, POST /faults: headers of an error: wrong names and values, too many, twice', async t => {
  const client = await newClient()
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`x-${at}`, 'a']))
  const values = [1, null, ['b'], 'a\r\nx-b: c', 'a\nb', '\u0000', 'ä', '\t', 'x'.repeat(1025)]
  const names = ['', 'x a', 'x:a', 'x-ä', 'x\r\n', 'x'.repeat(65)]
  await table(t, headers => arm(client, { effect: error(503, { retryAfter: 1, headers }) }), {
    [invalid('effect.headers')]: ['x-a: b', [], null, ...names.map(name => ({ [name]: 'b' })), many(21)],
    [invalid('effect.headers.x-a')]: values.map(value => ({ 'x-a': value })),
    [invalid('effect.headers.X-A')]: [{ 'x-a': '1', 'X-A': '2' }],
    [invalid('effect.headers.Retry-After')]: [{ 'Retry-After': '2' }],
    201: [{}, many(20), { 'x-a': 'x'.repeat(1024) }, { ['x'.repeat(64)]: '' }],
  })
})

t.test('control plane, POST /faults: all faults of a client are at most 1 MiB', async t => {
  const client = await newClient()
  /** Headers of a number of bytes, at most 20 of 1 KiB. */
  const headers = (bytes: number) =>
    Object.fromEntries(
      Array.from({ length: 20 }, (_, n) => [`x-${n}`, 'x'.repeat(Math.max(0, Math.min(1024, bytes - n * 1024)))]),
    )
  const stateOf = async () => await client.read('/state')
  const large = error(500, { headers: headers(20 * 1024) })
  for (let count = 1; count <= 50; count++) await armed(t, client, large)
  const before = await stateOf()
  refused(t, await arm(client, { effect: large }), 400, 'INVALID_FIELD', null)
  t.same(await stateOf(), before, 'nothing is half done')
  // A state document has the same bound.
  const [first] = before.faults
  const faultOf = (id: string, bytes: number) => ({ ...first, id, effect: error(500, { headers: headers(bytes) }) })
  const withLast = (bytes: number) => [...before.faults, faultOf('a', bytes / 2), faultOf('b', bytes / 2)]
  const rest = 2 ** 20 - JSON.stringify(withLast(0)).length
  await table(t, bytes => client.control('PUT', '/state', { ...before, faults: withLast(bytes) }), {
    200: [rest - (rest % 2)],
    '400 INVALID_FIELD faults': [rest - (rest % 2) + 2],
  })
})
