import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import type { LoggedRequest } from '../../src/http/journal.js'
import type { Client } from '../helper.js'
import { bill, build, call, collection, connect, MONDAY, mandate, requestToken } from '../helper.js'
import { exchange, listen, refused, request } from '../http/raw.js'
import { manualTime, until } from '../manual-time.js'

// control plane, GET and DELETE /requests: what the app under test sent and got, secrets and tokens masked.

const requestsOf = async (app: FastifyInstance, client: string, query = '') =>
  (await call(app, 'GET', `/_sandbox/requests?client=${client}${query}`)).body
const log = async ({ app, clientId }: Client, query = ''): Promise<LoggedRequest[]> =>
  (await requestsOf(app, clientId, query)).data
const last = async (client: Client) => (await log(client)).at(-1) as LoggedRequest

const PDF = '%PDF-1.7'
const multipart = (parts: string) => ({
  headers: { 'content-type': 'multipart/form-data; boundary=b' },
  body: `${parts}--b--\r\n`,
})
const filePart = (content = PDF, name = 'file') =>
  `--b\r\ncontent-disposition: form-data; name="${name}"; filename="a.pdf"\r\n\r\n${content}\r\n`

t.test('control plane, Shapes: a request with all its members, and what it got', async t => {
  const client = await connect(build(t))
  const answer = await client.post(
    '/api/v1/mandates',
    { ...mandate(), colour: 'red' },
    {
      headers: { 'x-request-id': 'mine', 'X-Custom': 'a b' },
    },
  )
  const { durationMs, headers, responseHeaders, ...rest } = await last(client)
  t.same(Object.keys(await last(client)), [
    'seq',
    'at',
    'method',
    'path',
    'query',
    'headers',
    'body',
    'status',
    'responseHeaders',
    'responseBody',
    'durationMs',
    'faults',
    'hints',
  ])
  t.same(rest, {
    seq: 2,
    at: MONDAY,
    method: 'POST',
    path: '/api/v1/mandates',
    query: {},
    body: { ...mandate(), colour: 'red' },
    status: 201,
    responseBody: answer.body,
    faults: [],
    hints: ['unknown member colour ignored'],
  })
  t.match(headers, {
    authorization: 'Bearer ***',
    'x-region': 'EU',
    'content-type': 'application/json',
    'x-request-id': 'mine',
    'x-custom': 'a b',
  })
  t.match(responseHeaders, {
    'content-type': /^application\/json/,
    'x-request-id': 'mine',
    'sandbox-hint': 'unknown member colour ignored',
  })
  t.type(durationMs, 'number')
  t.ok(durationMs >= 0)
})

t.test('control plane, GET /requests: the request for the token is the first, without its secret', async t => {
  const client = await connect(build(t))
  const [first] = await log(client)
  t.match(first, {
    seq: 1,
    method: 'POST',
    path: '/api/v1/oauth/token',
    body: { client_id: 'acme', client_secret: '***', grant_type: 'client_credentials' },
    status: 200,
    responseBody: { access_token: '***', expires_in: 3600, scope: 'payments', token_type: 'Bearer' },
    responseHeaders: { 'cache-control': 'no-store' },
  })
})

t.test('control plane, Shapes: `at` is the time of the tenant, in order', async t => {
  const client = await connect(build(t))
  await client.advance({ by: 'P1D' })
  await client.get('/api/v1/mandates')
  t.same(
    (await log(client)).map(({ seq, at }) => [seq, at]),
    [
      [1, MONDAY],
      [2, '2026-11-03T09:00:00Z'],
      [3, '2026-11-03T09:00:00Z'],
    ],
  )
})

t.test(
  'control plane, Shapes: parameters are shown as they were given, repeated ones with all their values',
  async t => {
    const client = await connect(build(t))
    await client.get('/api/v1/bills?status=OPEN&status=PAID&type=INVOICE&counterpartyReference=a%20b%2Bc&x=')
    t.match(await last(client), {
      path: '/api/v1/bills',
      query: { status: ['OPEN', 'PAID'], type: 'INVOICE', counterpartyReference: 'a b+c', x: '' },
      status: 400,
    })
    await client.get('/api/v1/bills?type=%ff')
    t.match(await last(client), { query: '(not readable as parameters)', responseBody: { code: 'MALFORMED_REQUEST' } })
  },
)

// ----------------------------------------------------------------------------------------------------- what is in it

t.test('control plane, GET /requests: what is refused is in it, too, with the refusal', async t => {
  const app = build(t)
  const client = await connect(app)
  const json = { 'content-type': 'application/json' }
  const sent: [string, string, Parameters<Client['send']>[2], number, string, unknown][] = [
    ['GET', '/api/v1/bills/INV-NONE', {}, 404, 'BILL_NOT_FOUND', null],
    ['GET', '/api/v1/bills/!', {}, 400, 'INVALID_BILL_REFERENCE', null],
    ['GET', '/api/v1/bills/a%2Fb', {}, 404, 'ROUTE_NOT_FOUND', null],
    ['GET', '/api/v1/bills/%zz', {}, 400, 'MALFORMED_REQUEST', null],
    ['GET', '/nowhere', {}, 404, 'ROUTE_NOT_FOUND', null],
    ['PUT', '/api/v1/bills', { body: bill() }, 405, 'METHOD_NOT_ALLOWED', '(not read)'],
    ['GET', '/api/v1/bills', { region: 'GB' }, 400, 'INVALID_REGION', null],
    ['POST', '/api/v1/bills', { body: '{"type":' }, 400, 'MALFORMED_REQUEST', '{"type":'],
    ['POST', '/api/v1/bills', { body: '[]' }, 400, 'INVALID_FIELD', []],
    ['POST', '/api/v1/bills', {}, 400, 'MISSING_FIELD', null],
    ['POST', '/api/v1/bills', { body: '' }, 400, 'MISSING_FIELD', null],
    [
      'POST',
      '/api/v1/bills',
      { body: Buffer.from('{"a":"\xff"}', 'latin1') },
      400,
      'MALFORMED_REQUEST',
      '(9 bytes of application/json, not UTF-8)',
    ],
    [
      'POST',
      '/api/v1/bills',
      { body: '<bill/>', headers: { 'content-type': 'text/xml; charset=utf-8' } },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      '(7 bytes of text/xml)',
    ],
    [
      'POST',
      '/api/v1/bills',
      { body: 'type=INVOICE', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      { type: 'INVOICE' },
    ],
    ['POST', '/api/v1/bills', { body: `"${'x'.repeat(1024 * 1024)}"` }, 413, 'PAYLOAD_TOO_LARGE', '(not read)'],
    [
      'POST',
      '/api/v1/bills/INV-NONE/document',
      multipart(filePart()),
      404,
      'BILL_NOT_FOUND',
      /^\(\d+ bytes of multipart\/form-data\)$/,
    ],
    [
      'POST',
      '/api/v1/bills/INV-NONE/document',
      multipart(filePart('text')),
      415,
      'UNSUPPORTED_MEDIA_TYPE',
      /multipart/,
    ],
    ['POST', '/api/v1/bills/INV-NONE/document', { body: '{}', headers: json }, 415, 'UNSUPPORTED_MEDIA_TYPE', {}],
  ]
  for (const [method, url, options, status, code, body] of sent) {
    const answer = await client.send(method, url, options)
    const what = `${method} ${url}: ${code}`
    t.same([answer.status, answer.body.code], [status, code], what)
    const logged = await last(client)
    t.match(logged, { method, path: url, status, responseBody: answer.body }, what)
    if (body instanceof RegExp) t.match(logged.body, body)
    else t.same(logged.body, body, `${what}: its body`)
  }
  t.equal((await log(client)).length, sent.length + 1)
})

t.test('control plane, GET /requests: HEAD, OPTIONS and answers without content', async t => {
  const client = await connect(build(t))
  await client.send('HEAD', '/api/v1/mandates')
  t.match(await last(client), { method: 'HEAD', status: 200, responseBody: null, body: null })
  await client.send('OPTIONS', '/api/v1/mandates')
  t.match(await last(client), { method: 'OPTIONS', status: 204, responseBody: null, responseHeaders: { allow: /GET/ } })
})

t.test('control plane, GET /requests: uploads, by their size', async t => {
  const client = await connect(build(t))
  await client.post('/api/v1/bills', bill())
  const upload = multipart(filePart())
  await client.send('POST', '/api/v1/bills/INV-2026-001/document', upload)
  t.match(await last(client), {
    status: 201,
    body: `(${upload.body.length} bytes of multipart/form-data)`,
    responseBody: { fileName: 'a.pdf' },
  })
})

t.test('control plane, GET /requests: a body as long as is legal is whole', async t => {
  const client = await connect(build(t))
  const padding = 'ü'.repeat(500_000)
  await client.post('/api/v1/mandates', { padding })
  const logged = await last(client)
  t.equal((logged.body as { padding: string }).padding, padding)
  t.equal(logged.status, 400)
})

t.test('decisions §1: a body of any depth is shown, as far as it can be', async t => {
  const client = await connect(build(t))
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ] as const) {
    await client.post('/api/v1/mandates', `{"x":${open.repeat(100_000)}1${close.repeat(100_000)}}`)
    const answer = await client.control('GET', '/requests')
    t.equal(answer.status, 200)
    t.match(JSON.stringify(answer.body.data.at(-1).body), 'nested too deeply')
  }
})

t.test('control plane, GET /requests: calls of the control plane are not in it', async t => {
  const app = build(t)
  const client = await connect(app)
  await client.control('POST', '/clock/advance', { by: 'PT1M' })
  await client.control('GET', '/nowhere')
  await client.control('GET', '/requests')
  t.equal((await log(client)).length, 1)
  t.same(await requestsOf(app, 'sandbox-client'), { data: [], last: 0, dropped: 0 })
  const port = await listen(app)
  await exchange(port, request('GET http://sandbox/_sandbox/clock', { connection: 'close' }))
  t.same(await requestsOf(app, 'sandbox-client'), { data: [], last: 0, dropped: 0 }, 'nor in absolute form')
})

t.test('RFC 9112 §3.2.2: a target in absolute form is logged by its path', async t => {
  const app = build(t)
  const client = await connect(app)
  const port = await listen(app)
  const headers = { authorization: `Bearer ${client.token}`, 'x-region': 'EU', connection: 'close' }
  await exchange(port, request('GET http://user:correct-horse@sandbox/api/v1/mandates?limit=5', headers))
  t.match(await last(client), { path: '/api/v1/mandates', query: { limit: '5' }, status: 200 })
  await exchange(port, request('GET http://sandbox?limit=5', headers))
  t.match(await last(client), { path: '', query: { limit: '5' }, status: 404 })
  t.notMatch(JSON.stringify(await log(client)), 'correct-horse')
})

t.test('RFC 9112 §7.1: a body of no chunks is none', async t => {
  const app = build(t)
  const client = await connect(app)
  const port = await listen(app)
  const headers = {
    authorization: `Bearer ${client.token}`,
    'x-region': 'EU',
    'content-type': 'application/json',
    'transfer-encoding': 'chunked',
    connection: 'close',
  }
  await exchange(port, `${request('POST /api/v1/mandates', headers)}0\r\n\r\n`)
  t.match(await last(client), { body: null, status: 400, responseBody: { code: 'MISSING_FIELD' } })
})

// ------------------------------------------------------------------------------------------------------- whose log

t.test('decisions §3: a request is in the log of the client that it names', async t => {
  const app = build(t)
  const client = await connect(app)
  await connect(app, 'other')
  const before = (await log(client)).length
  const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` }, region: 'EU' })
  await call(app, 'GET', '/api/v1/bills', bearer(client.token))
  await call(app, 'GET', '/api/v1/bills', { headers: { authorization: `bEARER  ${client.token}` } })
  await call(app, 'GET', '/nowhere', bearer(client.token))
  await call(app, 'PUT', '/api/v1/bills', bearer(client.token))
  await requestToken(app, { client_secret: 'wrong' })
  await requestToken(app, { grant_type: 'password' })
  await requestToken(app, { grant_type: undefined })
  await client.control('POST', '/tokens/expire')
  await call(app, 'GET', '/api/v1/bills', bearer(client.token))
  t.same(
    (await log(client)).slice(before).map(({ path, status }) => [path, status]),
    [
      ['/api/v1/bills', 200],
      ['/api/v1/bills', 400],
      ['/nowhere', 404],
      ['/api/v1/bills', 405],
      ['/api/v1/oauth/token', 401],
      ['/api/v1/oauth/token', 400],
      ['/api/v1/oauth/token', 400],
      ['/api/v1/bills', 401],
    ],
  )
  t.equal((await requestsOf(app, 'other')).last, 1)
  t.equal((await requestsOf(app, 'sandbox-client')).last, 0)
})

t.test('control plane, GET /requests: what names no client is in the log of sandbox-client', async t => {
  const app = build(t)
  const client = await connect(app)
  const forged = `${client.token.slice(0, -1)}${client.token.endsWith('a') ? 'b' : 'a'}`
  await call(app, 'GET', '/api/v1/bills', { region: 'EU' })
  await call(app, 'GET', '/nowhere')
  await call(app, 'GET', '/api/v1/bills', { headers: { authorization: 'Bearer nonsense' } })
  await call(app, 'GET', '/api/v1/bills', { headers: { authorization: `Bearer ${forged}` } })
  await requestToken(app, { client_id: undefined })
  await requestToken(app, { client_id: 'not a name' })
  t.same(
    (await requestsOf(app, 'sandbox-client')).data.map(({ path, status }: LoggedRequest) => [path, status]),
    [
      ['/api/v1/bills', 401],
      ['/nowhere', 404],
      ['/api/v1/bills', 401],
      ['/api/v1/bills', 401],
      ['/api/v1/oauth/token', 400],
      ['/api/v1/oauth/token', 401],
    ],
  )
  t.equal((await log(client)).length, 1)
})

t.test('decisions §3: a client that is refused does not come into being by that', async t => {
  const app = build(t, { openRegistration: false })
  await requestToken(app, { client_id: 'nobody' })
  refused(t, await call(app, 'GET', '/_sandbox/requests?client=nobody'), 404, 'CLIENT_NOT_FOUND', 'client')
  t.equal((await requestsOf(app, 'sandbox-client')).last, 1)
})

// ------------------------------------------------------------------------------------------------------------ faults

t.test('control plane, Faults: the log tells which faults a request met, and what it got', async t => {
  const client = await connect(build(t))
  const arm = (effect: object) => client.control('POST', '/faults', { effect })
  await arm({ kind: 'error', status: 429, retryAfter: 7 })
  await client.get('/api/v1/bills')
  t.match(await last(client), {
    status: 429,
    faults: [{ id: 'fault-1', kind: 'error', status: 429, retryAfter: 7 }],
    responseHeaders: { 'retry-after': '7' },
    responseBody: { code: 'RATE_LIMITED' },
  })
  await arm({ kind: 'stale-token' })
  await client.get('/api/v1/bills')
  t.match(await last(client), { status: 401, faults: [{ id: 'fault-2', kind: 'stale-token' }] })
  await client.get('/api/v1/bills')
  t.match(await last(client), { status: 200, faults: [] })
})

t.test('control plane, Faults: an answer that was lost has no status and no body', async t => {
  const app = build(t)
  const client = await connect(app)
  const port = await listen(app)
  const effects = [
    { kind: 'drop', when: 'before' },
    { kind: 'drop', when: 'after' },
    { kind: 'reset', when: 'before' },
    { kind: 'reset', when: 'after' },
    { kind: 'garbage' },
  ]
  for (const [at, effect] of effects.entries()) {
    await client.control('POST', '/faults', { effect })
    const body = JSON.stringify(mandate({ mandateReference: `MND-${at}000` }))
    const headers = {
      authorization: `Bearer ${client.token}`,
      'x-region': 'EU',
      'content-type': 'application/json',
    }
    await exchange(port, request('POST /api/v1/mandates', headers, body)).catch(() => {})
    t.match(
      await last(client),
      {
        seq: at + 2,
        method: 'POST',
        body: { mandateReference: `MND-${at}000` },
        status: null,
        responseBody: null,
        faults: [{ id: `fault-${at + 1}`, ...effect }],
      },
      JSON.stringify(effect),
    )
    t.same((await last(client)).responseHeaders, {})
  }
})

t.test(
  'control plane, Faults: a delay counts as part of the duration; the request is logged when it is applied',
  async t => {
    const time = manualTime()
    const client = await connect(build(t, { now: time.now, timers: time.timers }))
    await client.control('POST', '/faults', { effect: { kind: 'delay', ms: 30_000 } })
    await client.control('POST', '/faults', { effect: { kind: 'delay', ms: 12_000 } })
    const answer = client.post('/api/v1/mandates', mandate())
    await until(() => time.pending === 1)
    const logged = await last(client)
    t.match(logged, { status: 201, faults: [{ id: 'fault-1' }, { id: 'fault-2' }] })
    t.ok(logged.durationMs >= 42_000 && logged.durationMs < 52_000, `${logged.durationMs}`)
    time.pass(42_000)
    t.equal((await answer).status, 201)
  },
)

// ---------------------------------------------------------------------------------------------- filters and the list

t.test('control plane, GET /requests: after, method, path and status', async t => {
  const client = await connect(build(t))
  await client.post('/api/v1/mandates', mandate())
  await client.get('/api/v1/mandates/MND-0001')
  await client.get('/api/v1/mandates/MND-0002')
  await client.post('/api/v1/mandates', mandate())
  for (const [query, expected] of [
    ['', [1, 2, 3, 4, 5]],
    ['&after=3', [4, 5]],
    ['&after=5', []],
    ['&method=POST', [1, 2, 5]],
    ['&method=DELETE', []],
    ['&path=/api/v1/mandates', [2, 5]],
    ['&path=/api/v1/mandates/*', [3, 4]],
    ['&path=*mandates*', [2, 3, 4, 5]],
    ['&path=%2Fapi%2Fv1%2Fmandates', [2, 5]],
    ['&path=mandates', []],
    ['&status=404', [4]],
    ['&status=409&method=POST&after=2&path=*', [5]],
    ['&status=599', []],
  ] as const) {
    const answer = await requestsOf(client.app, 'acme', query)
    t.same([answer.data.map(({ seq }: LoggedRequest) => seq), answer.last, answer.dropped], [expected, 5, 0], query)
  }
})

t.test('control plane, GET /requests: a wrong parameter is refused', async t => {
  const client = await connect(build(t))
  for (const [query, code, field] of [
    ['after=-1', 'INVALID_QUERY_PARAMETER', 'after'],
    ['after=x', 'INVALID_QUERY_PARAMETER', 'after'],
    ['after=', 'INVALID_QUERY_PARAMETER', 'after'],
    ['after=1&after=1', 'MALFORMED_REQUEST', 'after'],
    ['method=get', 'INVALID_QUERY_PARAMETER', 'method'],
    ['method=TRACE', 'INVALID_QUERY_PARAMETER', 'method'],
    ['method=', 'INVALID_QUERY_PARAMETER', 'method'],
    ['path=', 'INVALID_QUERY_PARAMETER', 'path'],
    [`path=${'x'.repeat(501)}`, 'INVALID_QUERY_PARAMETER', 'path'],
    ['status=99', 'INVALID_QUERY_PARAMETER', 'status'],
    ['status=600', 'INVALID_QUERY_PARAMETER', 'status'],
    ['status=2xx', 'INVALID_QUERY_PARAMETER', 'status'],
    ['status=200&status=201', 'MALFORMED_REQUEST', 'status'],
  ] as const)
    refused(t, await client.control('GET', `/requests?${query}`), 400, code, field, query)
  t.equal((await client.control('GET', `/requests?path=${'x'.repeat(500)}&status=100`)).status, 200)
  t.equal((await client.control('GET', '/requests?since=1')).headers['sandbox-hint'], 'unknown parameter since ignored')
})

t.test('control plane: requests of an unknown client are 404', async t => {
  const app = build(t)
  for (const method of ['GET', 'DELETE'])
    refused(t, await call(app, method, '/_sandbox/requests?client=nobody'), 404, 'CLIENT_NOT_FOUND', 'client')
})

t.test('control plane, DELETE /requests: it tells how many it removed, and the numbers go on', async t => {
  const client = await connect(build(t))
  await client.get('/api/v1/bills')
  const answer = await client.control('DELETE', '/requests')
  t.equal(answer.status, 200)
  t.same(answer.body, { removed: 2 })
  t.same(await requestsOf(client.app, 'acme'), { data: [], last: 2, dropped: 0 })
  t.same((await client.control('DELETE', '/requests')).body, { removed: 0 })
  await client.get('/api/v1/bills')
  t.match(await requestsOf(client.app, 'acme'), { data: [{ seq: 3 }], last: 3 })
})

t.test('control plane, POST /reset: the log begins anew', async t => {
  const app = build(t, { journal: { entries: 2 } })
  const client = await connect(app)
  for (let count = 0; count < 3; count++) await client.get('/api/v1/bills')
  t.match(await requestsOf(app, 'acme'), { last: 4, dropped: 2 })
  await client.control('POST', '/reset')
  t.same(await requestsOf(app, 'acme'), { data: [], last: 0, dropped: 0 })
  await requestToken(app)
  t.match(await requestsOf(app, 'acme'), { data: [{ seq: 1 }], last: 1, dropped: 0 })
})

t.test('decisions §3: the log of a client that was dropped is gone', async t => {
  const app = build(t, { maxTenants: 2 })
  await connect(app, 'acme')
  await connect(app, 'other')
  await connect(app, 'acme')
  t.match(await requestsOf(app, 'acme'), { data: [{ seq: 1 }], last: 1 })
})

// ------------------------------------------------------------------------------------------------------------ bounds

/** What the bodies and answers in the logs of some clients come to. */
async function sizes(t: Test, app: FastifyInstance, clients: string[]) {
  let bytes = 0
  let kept = 0
  let dropped = 0
  for (const client of clients) {
    const answer = await requestsOf(app, client)
    t.equal(answer.data.length + answer.dropped, answer.last, `${client}: every request is there, or is counted`)
    kept += answer.data.length
    dropped += answer.dropped
    for (const { body, responseBody } of answer.data)
      bytes += Buffer.byteLength(JSON.stringify(body) + JSON.stringify(responseBody))
  }
  return { bytes, kept, dropped }
}

t.test('control plane, SANDBOX_JOURNAL_BYTES and _ENTRIES: a flood stays inside the bounds', async t => {
  const bound = 512 * 1024
  const app = build(t, { journal: { bytes: bound, entries: 60 } })
  const clients = await Promise.all(Array.from({ length: 8 }, (_, at) => connect(app, `client-${at}`)))
  for (let count = 0; count < 1200; count++) {
    const client = clients[count % clients.length] as Client
    await client.post('/api/v1/mandates', { padding: 'x'.repeat((count * 7919) % 20_000) })
  }
  const { bytes, kept, dropped } = await sizes(
    t,
    app,
    clients.map(({ clientId }) => clientId),
  )
  t.ok(bytes <= bound, `${bytes} bytes`)
  t.ok(bytes > bound / 2, `${bytes} bytes`)
  t.equal(kept + dropped, 1208)
  t.ok(kept <= 8 * 60)
  t.ok(dropped > 0)
})

t.test('control plane, SANDBOX_JOURNAL_ENTRIES: 1000 of a tenant, unless told otherwise', async t => {
  const client = await connect(build(t))
  for (let count = 0; count < 1004; count++) await call(client.app, 'GET', '/nowhere')
  t.match(await requestsOf(client.app, 'sandbox-client'), { data: { length: 1000 }, last: 1004, dropped: 4 })
})

t.test('control plane, SANDBOX_JOURNAL_ENTRIES and _BYTES: 0 keeps nothing', async t => {
  for (const journal of [{ entries: 0 }, { bytes: 0 }]) {
    const client = await connect(build(t, { journal }))
    await client.post('/api/v1/mandates', mandate())
    t.same(await requestsOf(client.app, 'acme'), { data: [], last: 2, dropped: 2 })
  }
})

t.test('decisions §3: in the log of a client is nothing of another', async t => {
  const app = build(t)
  const [acme, other] = [await connect(app, 'acme'), await connect(app, 'other')]
  await acme.post('/api/v1/mandates', mandate())
  await other.post('/api/v1/direct-debit', collection())
  t.same(
    (await log(acme)).map(({ path }) => path),
    ['/api/v1/oauth/token', '/api/v1/mandates'],
  )
  t.same(
    (await log(other)).map(({ path }) => path),
    ['/api/v1/oauth/token', '/api/v1/direct-debit'],
  )
})

t.test(
  'control plane, GET /requests: requests that run at the same time are all there, each with its answer',
  async t => {
    const client = await connect(build(t))
    const references = Array.from({ length: 100 }, (_, at) => `MND-${1000 + at}`)
    await Promise.all(
      references.map(mandateReference => client.post('/api/v1/mandates', mandate({ mandateReference }))),
    )
    const logged = await log(client, '&method=POST&path=/api/v1/mandates')
    t.equal(logged.length, 100)
    for (const { body, responseBody } of logged)
      t.equal(
        (body as { mandateReference: string }).mandateReference,
        (responseBody as { mandateReference: string }).mandateReference,
      )
  },
)

t.test('control plane, GET /requests: a token is masked in a path, too, however it is encoded', async t => {
  const client = await connect(build(t))
  const encoded = [...client.token].map(letter => (letter === '.' ? '%2E' : letter)).join('')
  await client.get(`/api/v1/bills/${encoded}`)
  await client.get('/api/v1/bills/%49NV-1')
  await client.get('/api/v1/bills/%zz')
  const data = await log(client)
  t.same(
    data.slice(-2).map(({ path }: { path: string }) => path),
    ['/api/v1/bills/%49NV-1', '/api/v1/bills/%zz'],
    'what holds none is shown as it came',
  )
  const text = decodeURIComponent(JSON.stringify(data).replace('%zz', ''))
  t.notOk(text.includes(client.token))
})

t.test('control plane: its own calls are not logged, however their paths are encoded', async t => {
  const client = await connect(build(t))
  const before = (await log(client)).length
  for (const path of ['/%5Fsandbox/clock', '/_sandbox/%63lock', '/%5Fsandbox/health/live', '/_sandbox/nothing']) {
    await call(client.app, 'GET', `${path}?client=acme`)
  }
  t.equal((await log(client)).length, before)
  const { body } = await call(client.app, 'GET', '/_sandbox/requests')
  t.same(body.data, [], 'nor with those of nobody')
})
