import t, { type Test } from 'tap'
import type { Case } from '../answers.js'
import { holds, invalid, malformed, refused, refusesValues, table } from '../answers.js'

import type { CallOptions, Client } from '../helper.js'
import { bill, build, call, collection, connect, MONDAY, mandate, newClient, pluck, requestToken } from '../helper.js'
import { exchange, listen, request } from '../http/raw.js'
import { manualTime, until } from '../manual-time.js'
import { upload } from '../multipart.js'

// control plane: GET and DELETE /requests, POST /requests/verify.

// biome-ignore lint/suspicious/noExplicitAny: logged requests are of every shape
type Logged = any

const requestsOf = (client: Client, query = '') => client.read(`/requests?${query}`)
const log = async (client: Client, query = ''): Promise<Logged[]> => (await requestsOf(client, query)).data
const last = async (client: Client): Promise<Logged> => (await log(client)).at(-1)

t.test('control plane, GET /requests: a logged request has all its members, and its answer', async t => {
  const client = await newClient()
  const options = { headers: { 'x-request-id': 'mine', 'X-Custom': 'a b' } }
  const url = '/api/v1/mandates?x=&y=1&y=2&z=a%20b%2Bc'
  const answer = await client.post(url, { ...mandate(), colour: 'red' }, options)
  const { durationMs, headers, responseHeaders, hints, ...rest } = await last(client)
  t.same(rest, {
    seq: 2,
    at: MONDAY,
    receivedAt: '1970-01-01T00:00:00.000Z',
    records: [{ kind: 'mandate', reference: 'MND-0001' }],
    method: 'POST',
    path: '/api/v1/mandates',
    query: { x: '', y: ['1', '2'], z: 'a b+c' },
    body: { ...mandate(), colour: 'red' },
    status: 201,
    responseBody: answer.body,
    faults: [],
  })
  t.ok(hints.includes('unknown member colour ignored'), hints.join())
  t.match(headers, { 'x-region': 'EU', 'content-type': 'application/json', 'x-request-id': 'mine', 'x-custom': 'a b' })
  t.match(responseHeaders, { 'content-type': /^application\/json/, 'x-request-id': 'mine' })
  t.ok(durationMs >= 0)
  await client.advance({ by: 'P1D' })
  t.match(await last(client), { seq: 3, at: '2026-11-03T09:00:00Z' }, '`at` is the time of the tenant')
})

// ---------------------------------------------------------------------------------------------------------- secrets

t.test('control plane, GET /requests: a body that cannot be read is shown as a note', async t => {
  const client = await newClient()
  const bodies: [status: number, options: CallOptions][] = [
    [400, { body: Buffer.from('{"hush":"\xff"}', 'latin1') }],
    [415, { body: '<hush/>', headers: { 'content-type': 'text/xml; charset=utf-8' } }],
    [413, { body: `"${'hush'.repeat(300_000)}"` }],
    [415, upload({ fileName: 'hush' })],
  ]
  for (const [expected, options] of bodies) {
    await client.send('POST', '/api/v1/bills', options)
    const { body, status } = await last(client)
    t.same([typeof body, /hush|%PDF/.test(body), status], ['string', false, expected])
  }
  await client.send('POST', '/api/v1/bills', { body: '{"remarks":' })
  t.match(await last(client), { body: '(11 bytes, not JSON)', text: '{"remarks":' })
})

// --------------------------------------------------------------------------------------------------- which requests

t.test('control plane, GET /requests: refused requests are in it with their refusals', async t => {
  const client = await newClient()
  const sent: [method: string, url: string, options: CallOptions, expected: string, body: unknown][] = [
    ['GET', '/api/v1/bills/INV-NONE', {}, '404 BILL_NOT_FOUND', null],
    ['GET', '/api/v1/bills/!', {}, '400 INVALID_BILL_REFERENCE', null],
    ['GET', '/api/v1/bills/a%2Fb', {}, '404 ROUTE_NOT_FOUND', null],
    ['GET', '/api/v1/bills/%zz', {}, '400 MALFORMED_REQUEST', null],
    ['GET', '/nowhere', {}, '404 ROUTE_NOT_FOUND', null],
    ['GET', '/api/v1/bills', { region: 'GB' }, '400 INVALID_REGION', null],
    ['POST', '/api/v1/bills', { body: '[]' }, '400 INVALID_FIELD', []],
    ['POST', '/api/v1/bills', {}, '400 MISSING_FIELD', null],
  ]
  for (const [method, path, options, expected, body] of sent) {
    const answer = await client.send(method, path, options)
    const logged = await last(client)
    t.match(logged, { method, path, body })
    t.same(logged.responseBody, answer.body, path)
    t.equal(`${logged.status} ${logged.responseBody.code}`, expected)
  }
  await client.send('PUT', '/api/v1/bills', { body: bill() })
  t.match(await last(client), { method: 'PUT', status: 405 })
})

t.test('control plane, GET /requests: HEAD, OPTIONS, uploads, and a body of 1 MiB', async t => {
  const client = await newClient()
  await client.post('/api/v1/bills', bill())
  await client.send('POST', '/api/v1/bills/INV-2026-001/document', upload())
  t.match(await last(client), { status: 201, body: /\d/, responseBody: { fileName: 'bill.pdf' } })
  await client.send('HEAD', '/api/v1/mandates')
  t.match(await last(client), { method: 'HEAD', status: 200, responseBody: null, body: null })
  await client.send('OPTIONS', '/api/v1/mandates')
  t.match(await last(client), { method: 'OPTIONS', status: 204, responseBody: null })
  const padding = 'ü'.repeat(500_000)
  await client.post('/api/v1/mandates', { padding })
  t.equal((await last(client)).body.padding, padding)
})

t.test('control plane, GET /requests: the type of a missing body is logged, though it does not matter', async t => {
  const client = await newClient()
  const sent = { 'content-type': 'text/csv', 'content-encoding': 'br' }
  t.match(await client.get('/api/v1/mandates', { headers: sent }), { status: 200 })
  t.match(await client.post('/api/v1/mandates', undefined, { headers: sent }), {
    status: 400,
    body: { code: 'MISSING_FIELD' },
  })
  const { data } = await requestsOf(client, 'after=1')
  t.match(pluck(data, 'headers'), [sent, sent])
  t.match(pluck(data, 'body'), [null, null])
})

t.test('decisions §1: a deeply nested body is logged, and can be expected', async t => {
  const client = await newClient()
  const deep = `{"x":${'[{"a":'.repeat(1500)}1${'}]'.repeat(1500)}}`
  await client.post('/api/v1/mandates', deep)
  t.match(await client.control('GET', '/requests'), { status: 200, body: { last: 2 } })
  t.equal((await client.control('POST', '/requests/verify', `{"body":${deep}}`)).status, 200)
})

t.test('decisions §3: a request is in the log of the client that it names, else in that of sandbox-client', async t => {
  const app = build(t)
  const [client, other] = [await connect(app), await connect(app, 'other')]
  const ask = (url: string, authorization: string | undefined, region = 'EU') =>
    call(app, 'GET', url, { headers: authorization === undefined ? {} : { authorization }, region })
  const forged = `Bearer ${client.token.slice(0, -1)}${client.token.endsWith('a') ? 'b' : 'a'}`
  await ask('/api/v1/bills', `bEARER  ${client.token}`)
  await ask('/nowhere', `Bearer ${client.token}`)
  await requestToken(app, { client_secret: 'wrong' })
  await requestToken(app, { grant_type: undefined })
  await client.control('POST', '/tokens/expire')
  await ask('/api/v1/bills', `Bearer ${client.token}`)
  await ask('/api/v1/bills', undefined)
  await ask('/nowhere', undefined)
  await ask('/api/v1/accounts', forged)
  await requestToken(app, { client_id: undefined })
  await requestToken(app, { client_id: 'not a name' })
  const seen = async (clientId: string) => {
    const { body } = await call(app, 'GET', `/_sandbox/requests?client=${clientId}`)
    return body.data.map(({ path, status }: Logged) => `${path.split('/').at(-1)} ${status}`)
  }
  const ofAcme = ['token 200', 'bills 200', 'nowhere 404', 'token 401', 'token 400', 'bills 401', 'accounts 401']
  t.same(await seen('acme'), ofAcme)
  t.same(await seen('other'), ['token 200'])
  t.same(await seen('sandbox-client'), ['bills 401', 'nowhere 404', 'token 400', 'token 401'])
  t.match((await other.control('POST', '/requests/verify', { path: '*bills' })).body, { count: 0 })
})

t.test('decisions §3: a request whose client was removed meanwhile is not in the log of its successor', async t => {
  const app = build(t)
  app.addHook('preParsing', async request => {
    if (request.url === '/api/v1/mandates') await call(app, 'DELETE', '/_sandbox/clients/acme')
  })
  const { post } = await connect(app)
  await post('/api/v1/mandates', mandate())
  t.match(await log(await connect(app)), [{ path: '/api/v1/oauth/token' }])
})

t.test('decisions §3: a client that is refused is not made by that', async t => {
  const client = await connect(build(t, { openRegistration: false }), 'sandbox-client', 'EU', 'sandbox-secret')
  await requestToken(client.app, { client_id: 'nobody' })
  t.same(pluck((await client.read('/clients')).data, 'clientId'), ['sandbox-client'])
  t.same(pluck(await log(client), 'status'), [200, 401])
})

t.test('control plane, GET /requests: calls of the control plane are not in it, also with encoded paths', async t => {
  const app = build(t)
  const client = await connect(app)
  for (const path of ['_sandbox/clock', '_sandbox/nothing', '%5Fsandbox/clock', '_sandbox/%63lock'])
    await call(app, 'GET', `/${path}?client=acme`)
  const port = await listen(app)
  await exchange(port, request('GET http://localhost/_sandbox/clock', { host: 'localhost', connection: 'close' }))
  t.equal((await log(client)).length, 1)
  t.same((await call(app, 'GET', '/_sandbox/requests')).body, { data: [], last: 0, dropped: 0 })
  // A target in absolute form is logged by its path.
  const headers = { authorization: `Bearer ${client.token}`, 'x-region': 'EU', connection: 'close' }
  await exchange(port, request('GET http://user:correct-horse@localhost/api/v1/mandates?limit=5', headers))
  t.match(await last(client), { path: '/api/v1/mandates', query: { limit: '5' }, status: 200 })
  t.notMatch(JSON.stringify(await log(client)), 'correct-horse')
})

// ------------------------------------------------------------------------------------------------------------ faults

t.test('control plane, GET /requests: the log tells which faults a request met, and what was answered', async t => {
  const app = build(t)
  const client = await connect(app)
  const port = await listen(app)
  const lost = [
    { kind: 'drop', when: 'before' },
    { kind: 'drop', when: 'after' },
    { kind: 'reset', when: 'before' },
    { kind: 'reset', when: 'after' },
    { kind: 'garbage' },
  ]
  const answered = [{ kind: 'error', status: 429, retryAfter: 7 }, { kind: 'stale-token' }]
  const headers = { authorization: `Bearer ${client.token}`, 'x-region': 'EU', connection: 'close' }
  const seen = []
  for (const effect of [...lost, ...answered]) {
    await client.control('POST', '/faults', { effect })
    await exchange(port, request('GET /api/v1/bills', headers)).catch(() => {})
    const { status, responseHeaders, responseBody, faults } = await last(client)
    const retryAfter = responseHeaders['retry-after']
    seen.push([status, responseBody?.code ?? null, retryAfter, faults])
  }
  t.same(seen, [
    ...lost.map((effect, at) => {
      const taken = effect.when === 'before' ? {} : { status: 200 }
      return [null, null, undefined, [{ id: `fault-${at + 1}`, ...effect, ...taken }]]
    }),
    [429, 'RATE_LIMITED', '7', [{ id: 'fault-6', ...answered[0] }]],
    [401, 'EXPIRED_TOKEN', undefined, [{ id: 'fault-7', ...answered[1] }]],
  ])
})

t.test('control plane, GET /requests: a delay is part of the duration', async t => {
  const time = manualTime()
  const client = await connect(build(t, { now: time.now, timers: time.timers }))
  for (const ms of [30_000, 12_000]) await client.control('POST', '/faults', { effect: { kind: 'delay', ms } })
  const answer = client.post('/api/v1/mandates', mandate())
  await until(() => time.pending === 1)
  time.pass(42_000)
  t.equal((await answer).status, 201)
  const logged = await last(client)
  t.match(logged, { status: 201, faults: [{ id: 'fault-1' }, { id: 'fault-2' }] })
  t.ok(logged.durationMs >= 42_000 && logged.durationMs < 52_000, `${logged.durationMs}`)
})

// -------------------------------------------------------------------------------------------------- filters, bounds

t.test('control plane, GET /requests: after, method, path and status', async t => {
  const client = await newClient()
  await client.post('/api/v1/mandates', mandate())
  await client.get('/api/v1/mandates/MND-0001')
  await client.get('/api/v1/mandates/MND-0002')
  await client.post('/api/v1/mandates', mandate())
  const cases: Case[] = [
    ['', '1,2,3,4,5'],
    ['after=3', '4,5'],
    ['after=5', ''],
    ['method=POST', '1,2,5'],
    ['method=DELETE', ''],
    ['path=/api/v1/mandates', '2,5'],
    ['path=/api/v1/mandates/*', '3,4'],
    ['path=*mandates*', '2,3,4,5'],
    ['path=%2Fapi%2Fv1%2Fmandates', '2,5'],
    ['path=mandates', ''],
    ['status=404', '4'],
    ['status=409&method=POST&after=2&path=*', '5'],
  ]
  await holds(t, cases, async query => {
    const { data, last, dropped } = await requestsOf(client, query)
    t.same([last, dropped], [5, 0])
    return pluck(data, 'seq').join()
  })
})

t.test('control plane, DELETE /requests: it tells how many it removed, and the numbers go on', async t => {
  const client = await newClient()
  await client.get('/api/v1/bills')
  t.same((await client.control('DELETE', '/requests')).body, { removed: 2 })
  t.same(await requestsOf(client), { data: [], last: 2, dropped: 0 })
  t.same((await client.control('DELETE', '/requests')).body, { removed: 0 })
  await client.get('/api/v1/bills')
  t.match(await requestsOf(client), { data: [{ seq: 3 }], last: 3 })
})

t.test('control plane, SANDBOX_REQUEST_LOG_ENTRIES: the bound of a tenant; a new life begins again', async t => {
  const app = build(t, { requestLog: { entries: 2 }, maxTenants: 2 })
  const client = await connect(app)
  for (let count = 0; count < 3; count++) await client.get('/api/v1/bills')
  t.match(await requestsOf(client), { data: [{ seq: 3 }, { seq: 4 }], last: 4, dropped: 2 })
  t.match(await verify(client, { times: 2 }), { matched: true, count: 2, dropped: 2 })
  await client.control('POST', '/reset')
  t.same(await requestsOf(client), { data: [], last: 0, dropped: 0 })
  for (const clientId of ['acme', 'other', 'acme']) await connect(app, clientId)
  t.match(await requestsOf(client), { data: [{ seq: 1 }], last: 1, dropped: 0 })
})

t.test('control plane, SANDBOX_REQUEST_LOG_BYTES: a bound of the process; what is dropped is counted', async t => {
  const bound = 256 * 1024
  const app = build(t, { requestLog: { bytes: bound } })
  const clients = await Promise.all(Array.from({ length: 4 }, (_, at) => connect(app, `client-${at}`)))
  for (let count = 0; count < 200; count++)
    await clients[count % 4]?.post('/api/v1/mandates', { padding: 'x'.repeat((count * 7919) % 20_000) })
  const logs = await Promise.all(clients.map(client => requestsOf(client)))
  const bodies = logs.flatMap(({ data }) => data.map(({ body, responseBody }: Logged) => [body, responseBody]))
  const bytes = JSON.stringify(bodies).length
  t.ok(bytes <= bound && bytes > bound / 2, `${bytes} bytes`)
  t.same(
    logs.map(({ data, dropped, last }) => [data.length + dropped, last]),
    Array(4).fill([51, 51]),
  )
  for (const requestLog of [{ entries: 0 }, { bytes: 0 }]) {
    const none = await connect(build(t, { requestLog }))
    t.same(await requestsOf(none), { data: [], last: 1, dropped: 1 })
  }
})

t.test('control plane, SANDBOX_REQUEST_LOG_BYTES: a large request takes the place of several small ones', async t => {
  const client = await connect(build(t, { requestLog: { bytes: 20 * 1024 } }))
  for (let count = 0; count < 8; count++) await client.get('/api/v1/bills')
  t.match(await requestsOf(client), { data: { length: 9 }, dropped: 0 })
  await client.get(`/api/v1/bills?x=${'x'.repeat(15 * 1024)}`)
  const { data, dropped } = await requestsOf(client)
  t.ok(dropped > 1 && dropped < 9, `${dropped} dropped`)
  t.equal(data.at(-1).seq, 10)
  await client.post('/api/v1/mandates', { padding: 'x'.repeat(20 * 1024) })
  t.match(await requestsOf(client), { data, last: 11, dropped: dropped + 1 }, 'one above the bound pushes out none')
})

t.test('control plane, DELETE /requests: the bytes of removed requests are free', async t => {
  const app = build(t, { requestLog: { bytes: 24 * 1024 } })
  const fill = async (client: Client) => {
    for (let count = 0; count < 3; count++) await client.get(`/api/v1/bills?x=${'x'.repeat(5000)}`)
    t.match(await requestsOf(client), { data: { length: 4 }, dropped: 0 })
  }
  const other = await connect(app, 'other')
  await fill(other)
  t.same((await other.control('DELETE', '/requests')).body, { removed: 4 })
  const acme = await connect(app)
  await fill(acme)
  await acme.control('POST', '/reset')
  await fill(await connect(app, 'third'))
})

t.test('control plane, GET /requests: concurrent requests are all there, each with its answer', async t => {
  const client = await newClient()
  const references = Array.from({ length: 50 }, (_, at) => `MND-${1000 + at}`)
  await Promise.all(references.map(mandateReference => client.post('/api/v1/mandates', mandate({ mandateReference }))))
  const logged = await log(client, 'path=/api/v1/mandates')
  for (const { body, responseBody } of logged) t.equal(body.mandateReference, responseBody.mandateReference)
  t.same(logged.map(({ body }) => body.mandateReference).sort(), references)
})

// ----------------------------------------------------------------------------------------------------------- verify

const verify = async ({ control }: Client, expected: object) => {
  const { status, body } = await control('POST', '/requests/verify', expected)
  if (status !== 200) throw new Error(`${status} ${body.message}`)
  return body
}

/** Compares how many requests are like each expectation of a table. */
const counts = (t: Test, client: Client, cases: readonly (readonly [object, number])[]) =>
  holds(
    t,
    cases.map(([expected, count]) => [expected, `${count}`]),
    async expected => `${(await verify(client, { ...expected, atLeast: 0 })).count}`,
  )

/** A client whose log holds: 1 the token, 2 a mandate, 3-5 collections, 6 a list, 7 a miss, 8 a bill in the UK. */
async function story(): Promise<Client> {
  const client = await newClient()
  await client.post('/api/v1/mandates', mandate())
  for (const [collectionReference, amount] of [
    ['COL-0001', '10.50'],
    ['COL-0002', '20'],
  ])
    await client.post('/api/v1/direct-debit', collection({ collectionReference, amount }))
  await client.post('/api/v1/direct-debit', collection(), { headers: { 'Idempotency-Key': 'abc' } })
  await client.get('/api/v1/direct-debit?limit=5&status=PENDING&status=SETTLED')
  await client.get('/api/v1/direct-debit/COL-9999')
  await client.post('/api/v1/bills', bill({ currency: 'GBP' }), { region: 'UK' })
  return client
}

t.test('control plane, POST /requests/verify: method, path, query, status, headers and body', async t => {
  const client = await story()
  const list = { path: '/api/v1/direct-debit' }
  const cases: [object, number][] = [
    [{}, 8],
    [{ method: 'POST' }, 6],
    [{ method: 'DELETE' }, 0],
    [list, 4],
    [{ path: '/api/v1/direct-debit?limit=5' }, 0],
    [{ path: '/api/v1/direct-debit/*' }, 1],
    [{ path: '*debit*' }, 5],
    [{ path: '/api/v1/DIRECT-DEBIT' }, 0],
    [{ status: 201 }, 4],
    [{ status: 409 }, 1],
    [{ headers: { 'X-REGION': 'UK' } }, 1],
    [{ headers: { 'x-region': 'uk' } }, 0],
    [{ headers: { 'x-region': 'EU', 'idempotency-key': 'abc' } }, 1],
    [{ headers: { constructor: 'x' } }, 0],
    [{ headers: {} }, 8],
    [{ body: { amount: '10.50' } }, 2],
    [{ body: { amount: '10.5' } }, 0],
    [{ body: { amount: 10.5 } }, 0],
    [{ body: { debtor: { name: 'Jane Doe' } } }, 1],
    [{ body: { debtor: { name: 'Jane Doe', iban: 'DE00' } } }, 0],
    [{ body: { debtor: {} } }, 1],
    [{ body: { debtor: 'Jane Doe' } }, 0],
    [{ body: {} }, 6],
    [{ body: null }, 2],
    [{ body: { colour: null } }, 0],
    [{ body: { toString: 'x' } }, 0],
    [{ body: { client_secret: '***' } }, 1],
    [{ method: 'POST', ...list, status: 201, body: { amount: '10.50' } }, 1],
    [{ method: 'GET', body: { amount: '10.50' } }, 0],
    [{ ...list, query: {} }, 4],
    [{ ...list, query: { limit: '5', status: ['PENDING', 'SETTLED'] } }, 1],
    [{ ...list, query: { limit: '6' } }, 0],
    [{ ...list, query: { status: ['SETTLED', 'PENDING'] } }, 0],
    [{ ...list, query: { status: 'PENDING' } }, 0],
    [{ ...list, query: { cursor: 'x' } }, 0],
  ]
  const all = async () => JSON.stringify([await log(client), await client.read('/state')])
  const before = await all()
  await counts(t, client, cases)
  t.equal(await all(), before, 'it changes nothing')
})

t.test('control plane, POST /requests/verify: of objects, named members are compared; arrays as a whole', async t => {
  const client = await newClient()
  await client.post('/api/v1/mandates', { list: [1, { a: 1, b: 2 }], nested: { list: [], nothing: null, is: true } })
  await client.post('/api/v1/mandates', '[1,2]')
  const cases: [object, number][] = [
    [{ body: { list: [1, { b: 2, a: 1 }] } }, 1],
    [{ body: { list: [1, { a: 1 }] } }, 0],
    [{ body: { list: [1] } }, 0],
    [{ body: { list: [{ a: 1, b: 2 }, 1] } }, 0],
    [{ body: { list: {} } }, 0],
    [{ body: { nested: { list: [] } } }, 1],
    [{ body: { nested: { nothing: null } } }, 1],
    [{ body: { nested: { nothing: {} } } }, 0],
    [{ body: { nested: { is: 'true' } } }, 0],
    [{ body: { nested: { is: true, more: true } } }, 0],
    [{ body: 'text' }, 0],
    [{ body: [1, 2] }, 1],
    [{ body: [1] }, 0],
    [{ body: [1, 2, 3] }, 0],
    [{ body: { list: [1, { a: 1, b: 2, c: 3 }] } }, 0],
  ]
  await counts(t, client, cases)
})

t.test('control plane, POST /requests/verify: times, atLeast and atMost', async t => {
  const client = await story()
  const posts = { method: 'POST', path: '/api/v1/direct-debit' }
  const never = { method: 'DELETE' }
  const cases: [object, boolean][] = [
    [posts, true],
    [{ ...posts, times: 3 }, true],
    [{ ...posts, times: 2 }, false],
    [{ ...posts, times: 4 }, false],
    [{ ...posts, times: 0 }, false],
    [{ ...posts, atLeast: 3 }, true],
    [{ ...posts, atLeast: 4 }, false],
    [{ ...posts, atMost: 3 }, true],
    [{ ...posts, atMost: 2 }, false],
    [{ ...posts, atLeast: 3, atMost: 3 }, true],
    [{ ...posts, atLeast: 1, atMost: 2 }, false],
    [{ ...posts, atLeast: 4, atMost: 9 }, false],
    [never, false],
    [{ ...never, times: 0 }, true],
    [{ ...never, times: 1 }, false],
    [{ ...never, atLeast: 0 }, true],
    [{ ...never, atMost: 5 }, true],
    [{ ...never, atLeast: 1 }, false],
  ]
  for (const [expected, matched] of cases) {
    const answer = await verify(client, expected)
    const count = 'path' in expected ? 3 : 0
    t.same([answer.matched, answer.count, !answer.nearestMisses], [matched, count, matched], JSON.stringify(expected))
  }
  t.same((await client.control('POST', '/requests/verify')).body, { matched: true, count: 8, dropped: 0 }, 'no body')
})

t.test('control plane, POST /requests/verify: the three nearest misses, and what differs', async t => {
  const client = await story()
  const debtor = { at: 'body.debtor', expected: { name: 'Jane Doe' } }
  const key = { at: 'headers.idempotency-key', expected: 'abc' }
  const amount = { at: 'body.amount', expected: '20', actual: '10.50' }
  const miss = { method: 'POST', path: '/api/v1/direct-debit', status: 201 }
  const answer = await verify(client, {
    ...miss,
    headers: { 'Idempotency-Key': 'abc' },
    body: { amount: '20', currency: 'EUR', debtor: { name: 'Jane Doe' } },
  })
  t.same(answer, {
    matched: false,
    count: 0,
    dropped: 0,
    nearestMisses: [
      { ...miss, seq: 4, differences: [key, debtor] },
      { ...miss, seq: 5, status: 409, differences: [{ at: 'status', expected: 201, actual: 409 }, amount, debtor] },
      { ...miss, seq: 3, differences: [key, amount, debtor] },
    ],
  })

  const far = await verify(client, {
    method: 'GET',
    path: '/api/v1/direct-debit/COL-0001',
    status: 200,
    query: { limit: '6' },
    body: { x: 1, client_secret: 'x' },
  })
  const differences = far.nearestMisses.map(({ seq, differences }: Logged) => [seq, ...pluck(differences, 'at')])
  t.same(differences.slice(0, 1), [[6, 'path', 'query.limit', 'body']], 'another operation is further away')
  t.equal(far.nearestMisses.length, 3)
  t.notOk(JSON.stringify(far).includes(client.token))
})

t.test('control plane, POST /requests/verify: of equally near misses, the latest come first', async t => {
  const client = await newClient()
  for (let count = 0; count < 4; count++) await client.get('/api/v1/bills')
  const seqs = async (expected: object) => pluck((await verify(client, expected)).nearestMisses, 'seq')
  t.same(await seqs({ method: 'GET', path: '/api/v1/mandates' }), [5, 4, 3])
  t.same(await seqs({ method: 'GET', times: 1 }), [1], 'with too many, the others are the misses')
  await client.control('DELETE', '/requests')
  t.same(await seqs({ method: 'GET' }), [], 'without any request')
})

t.test('control plane, POST /requests/verify: an answer that was lost has no status', async t => {
  const client = await newClient()
  await client.control('POST', '/faults', { effect: { kind: 'drop', when: 'after' } })
  await client.post('/api/v1/mandates', mandate()).catch(() => {})
  const { nearestMisses } = await verify(client, { path: '*mandates', status: 201 })
  t.match(nearestMisses[0], { seq: 2, status: null, differences: [{ at: 'status', expected: 201, actual: null }] })
})

t.test('control plane, POST /requests/verify: at most 512 KiB are taken, and names are shortened', async t => {
  const client = await newClient()
  await client.post('/api/v1/mandates', { x: {} })
  const most = 512 * 1024
  const withSize = (bytes: number) => JSON.stringify({ body: { x: { y: 'z'.repeat(bytes - 100) } } }).padEnd(bytes)
  const send = (body: string) => client.control('POST', '/requests/verify', body)
  t.match(await send(withSize(most)), { status: 200, body: { nearestMisses: { length: 2 } } })
  refused(t, await send(withSize(most + 1)), 413, 'PAYLOAD_TOO_LARGE', null)
  const long = { x: { ['n'.repeat(400_000)]: Object.fromEntries(Array.from({ length: 9000 }, (_, at) => [at, 0])) } }
  await client.post('/api/v1/mandates', { x: { ['n'.repeat(400_000)]: {} } })
  const { body } = await send(JSON.stringify({ body: long }))
  t.equal(body.nearestMisses[0].differences[0].at, `body.x.${'n'.repeat(72)}…`)
})

t.test('control plane, POST /requests/verify: a full log and a large expectation hold nothing up', async t => {
  const client = await newClient()
  for (let count = 0; count < 1003; count++) await client.get('/nowhere')
  t.match(await requestsOf(client), { data: { length: 1000 }, last: 1004, dropped: 4 }, 'SANDBOX_REQUEST_LOG_ENTRIES')
  const { count, nearestMisses } = await verify(client, { body: Array(50_000).fill(0), headers: { 'x-many': 'none' } })
  t.same([count, ...pluck(nearestMisses, 'seq')], [0, 1004, 1003, 1002])
  const refusal = await client.control('POST', '/requests/verify', { body: Array(300_000).fill({}) })
  refused(t, refusal, 413, 'PAYLOAD_TOO_LARGE', null)
})

t.test('control plane, POST /requests/verify: wrong expectations are refused, also unknown members', async t => {
  const client = await newClient()
  const many = Object.fromEntries(Array.from({ length: 51 }, (_, at) => [`x-${at}`, 'a']))
  const send = (expected: object) => client.control('POST', '/requests/verify', expected)
  const wrong = {
    ...{ method: ['get', 'TRACE', ['GET']], path: ['', 'x'.repeat(501), 5], paths: ['*'], bdy: ['*'] },
    ...{ headers: [[], 'x-region: EU', many], 'headers.x-region': [5, null], status: ['200', 99, 600, null] },
    ...{ times: [-1, 1.5, '1', null, 1_000_001], atLeast: [-1], atMost: [1_000_001] },
    ...{ query: ['limit=5', [], null], 'query.limit': [5] },
  }
  await refusesValues(t, send, {}, wrong)
  await table(t, send, {
    [invalid('atLeast')]: [{ atLeast: 2, atMost: 1 }],
    [invalid('headers')]: [{ headers: { 'X-Region': 'EU', 'x-region': 'EU' } }],
    [invalid('query.limit.0')]: [{ query: { limit: [5] } }],
    [malformed('times')]: ['atLeast', 'atMost'].map(name => ({ times: 1, [name]: 1 })),
    [malformed(null)]: ['{"method":'],
    [invalid(null)]: ['[]', 'null'],
  })
})
