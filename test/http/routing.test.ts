import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { get as httpGet, METHODS } from 'node:http'

import t from 'tap'
import { each, gist, holds, malformed, NO_ROUTE, table, WRONG_METHOD } from '../answers.js'
import { build, call, connect, mandate, newClient } from '../helper.js'
import { exchange, headersOf, LIVE, listen, open, request, sendLine, stateOf, stock } from './raw.js'

/** interface, Endpoints; decisions §8, §10; control plane: the paths with the methods that work there. */
const paths: [path: string, ...methods: string[]][] = [
  ['/api/v1/oauth/token', 'POST'],
  ['/api/v1/direct-debit', 'GET', 'POST'],
  ['/api/v1/direct-debit/COL-0001', 'GET'],
  ['/api/v1/payout-links', 'POST'],
  ['/api/v1/payout-links/pl_0000001/cancel', 'PATCH'],
  ['/api/v1/bills', 'GET', 'POST'],
  ['/api/v1/bills/INV-2026-001', 'GET', 'PATCH'],
  ['/api/v1/bills/INV-2026-001/document', 'POST'],
  ['/api/v1/mandates', 'GET', 'POST'],
  ['/api/v1/mandates/MND-0001', 'GET', 'DELETE'],
  ['/api/v1/counterparties/CPTY-0001', 'PATCH'],
  ['/api/v1/accounts', 'GET'],
  ['/_sandbox', 'GET'],
  ['/_sandbox/health/live', 'GET'],
  ['/_sandbox/clients', 'GET'],
  ['/_sandbox/clients/acme', 'DELETE'],
  ['/_sandbox/credentials/verify', 'POST'],
  ['/_sandbox/outcomes', 'GET', 'POST', 'DELETE'],
  ['/_sandbox/outcomes/outcome-1', 'DELETE'],
  ['/_sandbox/direct-debit/COL-0001/outcome', 'PUT'],
  ['/_sandbox/reset', 'POST'],
  ['/_sandbox/clock', 'GET', 'PATCH'],
  ['/_sandbox/state', 'GET', 'PUT'],
  ['/_sandbox/direct-debit/COL-0001', 'GET'],
  ['/_sandbox/direct-debit/COL-0001/settle', 'POST'],
  ['/_sandbox/payout-links/pl_0000001/claim', 'POST'],
]

/** A server that listens, and its routes of GET. */
const listening = build(t)
const routes: string[] = []
listening.addHook('onRoute', ({ method, url }) => void (method === 'GET' && routes.push(url)))
const port = await listen(listening)

/** HEAD works where GET does, OPTIONS everywhere (decisions §1). */
const allowed = (methods: string[]) => [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].sort()
const listed = (allow: unknown) => String(allow).split(/, */).sort()

t.test(
  'decisions §1: another method on a known path is 405 with Allow; OPTIONS is 204; no token is needed',
  async t => {
    const { app } = await newClient()
    const all = METHODS.filter(method => method !== 'CONNECT')
    for (const [at, [path, ...methods]] of paths.entries()) {
      // Every method on the first path, and some on the others.
      for (const method of at === 0 ? all : ['GET', 'PUT', 'POST', 'PATCH', 'DELETE', 'OPTIONS']) {
        if (methods.includes(method) || method === 'HEAD') continue
        const answer = await call(app, method, path)
        const found = [gist(answer), listed(answer.headers.allow)]
        t.same(found, [method === 'OPTIONS' ? '204' : WRONG_METHOD, allowed(methods)], `${method} ${path}`)
      }
    }
  },
)

t.test('decisions §1: HEAD has the status and the headers of GET, and no content', async t => {
  const client = await newClient()
  await stock(client)
  const options = { headers: { 'x-request-id': 'same' } }
  const others = ['/api/v1/mandates/!', '/api/v1/mandates/UNKNOWN', '/api/v1/mandates?limit=0', '/nowhere']
  const known = paths.filter(([path, ...methods]) => !path.startsWith('/_sandbox/') && methods.includes('GET'))
  for (const url of [...known.map(([path]) => path), ...others]) {
    const get = await client.get(url, options)
    const head = await client.send('HEAD', url, options)
    const { date: _, ...headers } = get.headers
    t.match(head, { status: get.status, body: null, headers }, url)
  }
})

t.test('interface, Errors: every other path is 404: trailing slash, case, encoded slash, normalised path', async t => {
  const client = await newClient()
  const payoutLinkId = await stock(client)
  const before = await stateOf(client)
  const urls = paths.flatMap(([path]) => [`${path}/`, `/x${path}`, `${path}/more/still/more`])
  urls.push('/', '/?client=acme', '/api', '/api/v1', '/api/v1/', '/api/v2/mandates', '/api/v1/mandateS')
  urls.push('/api/v1/mandates;v=1', '/api/v1/mandates%3Flimit=1', '/api%2Fv1/mandates', '/_sandbox/nowhere')
  urls.push('/constructor', '/__proto__', '/nowhere/%zz', '/api/v1/mandates/MND%2F0001%zz')
  const slashed = ['/', '%2F', '%2f'].flatMap(slash => [
    `GET /api/v1/mandates/MND${slash}0001`,
    `DELETE /api/v1/mandates/MND-0001${slash}`,
    `DELETE /api/v1/mandates/${slash}MND-0001`,
    `PATCH /api/v1/bills/INV${slash}2026-001`,
    `OPTIONS /api/v1/mandates/MND${slash}0001`,
    `PATCH /api/v1/payout-links/${payoutLinkId}${slash}/cancel`,
    `PATCH /api/v1/payout-links/${payoutLinkId.slice(0, 4)}${slash}${payoutLinkId.slice(4)}/cancel`,
    `POST /_sandbox/mandates/MND-0001${slash}${slash}cancel?client=acme`,
  ])
  const all = [...urls.map(url => `GET ${url}`), ...slashed]
  await holds(t, each(all, '404 ROUTE_NOT_FOUND null'), sendLine(client, { body: { cancellationComment: 'no' } }))
  t.same(await stateOf(client), before)
})

t.test('decisions §1: OPTIONS of the root is 204 with Allow', async t => {
  const { status, headers } = await call((await newClient()).app, 'OPTIONS', '/')
  t.match([status, headers.allow], [204, 'GET, HEAD, OPTIONS'])
})

t.test('settings, SANDBOX_ALLOWED_HOSTS: a probe may come by any name', async t => {
  const { app } = await newClient()
  const headers = { host: 'sandbox-7d9f.internal.example' }
  for (const probe of ['live', 'ready'])
    t.equal((await call(app, 'GET', `/_sandbox/health/${probe}`, { headers })).status, 200)
  t.equal((await call(app, 'GET', '/_sandbox/clients', { headers })).body.code, 'FORBIDDEN_HOST')
})

t.test('decisions §1: a 404 names the path that is near', async t => {
  const { app } = await newClient()
  const near: [path: string, named: string | undefined][] = [
    ['/api/v1/direct-debits', '/api/v1/direct-debit'],
    ['/api/v1/direct-debits/COL-0001', '/api/v1/direct-debit/{collectionReference}'],
    ['/api/v1/direct_debit', '/api/v1/direct-debit'],
    ['/api/v1/directDebit', '/api/v1/direct-debit'],
    ['/api/v1/mandates/', '/api/v1/mandates'],
    ['/api/v1/mandates/MND-0001/', '/api/v1/mandates/{mandateReference}'],
    ['/api/v1//mandates', '/api/v1/mandates'],
    ['//api/v1/mandates', '/api/v1/mandates'],
    ['/api/v1/Mandates', '/api/v1/mandates'],
    ['/API/V1/mandates', '/api/v1/mandates'],
    ['/api/mandates', '/api/v1/mandates'],
    ['/v1/mandates', '/api/v1/mandates'],
    ['/mandates', '/api/v1/mandates'],
    ['/api/v2/mandates', '/api/v1/mandates'],
    ['/api/v1/bill/INV-1/documents', '/api/v1/bills/{uniqueReferenceIdentifier}/document'],
    ['/api/v1/bills/document/', '/api/v1/bills/{uniqueReferenceIdentifier}'],
    ['/api/v1/counterparty/CPTY-1', '/api/v1/counterparties/{counterpartyReference}'],
    ['/api/v1/payoutlinks', '/api/v1/payout-links'],
    ['/oauth/token', '/api/v1/oauth/token'],
    ['/api/v1/oauth2/token', '/api/v1/oauth/token'],
    ['/_sandbox/', '/_sandbox'],
    ['/_sandbox/client', '/_sandbox/clients'],
    ['/_sandbox/clock/advanced', '/_sandbox/clock/advance'],
    ['/_sandbox/mandates/MND-0001/', '/_sandbox/mandates/{mandateReference}'],
    ['/reset', '/_sandbox/reset'],
    ['/', undefined],
    ['/api/v1', undefined],
    ['/api/v1/', undefined],
    ['/nowhere', undefined],
    ['/api/v1/payments', undefined],
    ['/api/v1/collections', '/api/v1/direct-debit'],
    ['/api/v1/collection', '/api/v1/direct-debit'],
    ['/api/v1/Collections/COL-0001', '/api/v1/direct-debit/{collectionReference}'],
    ['/_sandbox/collections', '/_sandbox/direct-debit'],
    ['/collections', '/api/v1/direct-debit'],
    ['/api/v1/collections/COL-0001/x', undefined],
    ['/api/v1/mandates/MND-0001/x', undefined],
    ['/api/v1/mandates/MND%2F0001', undefined],
    ['/api/v1/mandates/%zz/', '/api/v1/mandates/{mandateReference}'],
    [`/api/v1/${'mandates'.repeat(1000)}`, undefined],
    ['/api/v1/'.repeat(1000), undefined],
  ]
  for (const [path, named] of near) {
    const { status, body } = await call(app, 'GET', path)
    const found = [status, body.code, /Did you mean (\S+)\?/.exec(body.message)?.[1]]
    t.same(found, [404, 'ROUTE_NOT_FOUND', named], path.slice(0, 60))
    const list = path.startsWith('/_sandbox') ? /GET \/_sandbox lists/ : /\/docs/
    if (named === undefined || list.source.includes('docs')) t.match(body.message, list, path.slice(0, 60))
  }
})

t.test('decisions §1: Idempotency-Key gets a hint, and has no effect', async t => {
  const client = await newClient()
  const headers = { 'idempotency-key': 'once' }
  const created = await client.post('/api/v1/mandates', mandate(), { headers })
  t.match(created, { status: 201, headers: { 'sandbox-hint': 'Idempotency-Key is not documented and has no effect' } })
  const again = await client.post('/api/v1/mandates', mandate(), { headers })
  t.match(again, { status: 409, body: { code: 'DUPLICATE_REFERENCE' }, headers: { 'sandbox-hint': /Idempotency-Key/ } })
  t.equal((await client.get('/api/v1/mandates', { headers })).headers['sandbox-hint'], undefined, 'only of POST')
})

t.test('decisions §1: an answer has at most eight hints, and counts the others', async t => {
  const client = await newClient()
  const unknown = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`member${at}`, 1]))
  const created = await client.post('/api/v1/mandates', mandate({ mandateReference: 'M'.repeat(36), ...unknown }))
  const hints = String(created.headers['sandbox-hint']).split('; ')
  t.same([created.status, hints.length, hints.at(-1)], [201, 9, 'and 2 more'])
})

t.test('decisions §1: a path value of another pattern or length is 400, however long, and changes nothing', async t => {
  const client = await newClient()
  await stock(client)
  const before = await stateOf(client)
  const long = 'x'.repeat(15_000)
  const everywhere = ['MND.0001', 'MND%200001', 'MND%C3%A90001', 'MND-0001%0A', '%00'.repeat(7), '%252F%252F%252F']
  const body = { remarks: 'no', status: 'PAID', cancellationComment: 'no' }
  for (const [line, refusal, ...values] of [
    ['GET /api/v1/mandates/*', 'INVALID_FIELD mandateReference', 'A', 'ABCD', 'x'.repeat(51), 'A_BCDE', long],
    ['DELETE /api/v1/mandates/*', 'INVALID_FIELD mandateReference', 'ABCD'],
    ['GET /api/v1/direct-debit/*', 'INVALID_FIELD collectionReference', 'ABCD', 'x'.repeat(51)],
    ['PATCH /api/v1/counterparties/*', 'INVALID_FIELD counterpartyReference', 'ABCD', 'x'.repeat(51)],
    ['PATCH /api/v1/bills/*', 'INVALID_BILL_REFERENCE uniqueReferenceIdentifier', 'AB', 'x'.repeat(65), long],
    ['PATCH /api/v1/payout-links/*/cancel', 'INVALID_FIELD payoutLinkId', 'abcdef', 'x'.repeat(91), long],
    ['GET /_sandbox/mandates/*', 'INVALID_FIELD mandateReference', 'ABCD', 'x'.repeat(51)],
  ] as const) {
    const send = (value: string) => sendLine(client, line.startsWith('PATCH') ? { body } : {})(line.replace('*', value))
    await table(t, send, { [`400 ${refusal}`]: [...values, ...everywhere] })
  }
  t.same(await stateOf(client), before)
})

t.test('interface, Errors: path values at the ends of their lengths are looked up', async t => {
  const client = await newClient()
  const body = { cancellationComment: 'x', status: 'PAID' }
  for (const [line, refusal, ...values] of [
    ['GET /api/v1/mandates/*', 'MANDATE_NOT_FOUND mandateReference', 'x'.repeat(5), 'x'.repeat(50), 'constructor'],
    ['GET /api/v1/direct-debit/*', 'COLLECTION_NOT_FOUND collectionReference', 'x'.repeat(5), 'x'.repeat(50), '-----'],
    ['PATCH /api/v1/payout-links/*/cancel', 'PAYOUT_LINK_NOT_FOUND payoutLinkId', 'x'.repeat(7), '__proto__'],
    ['PATCH /api/v1/bills/*', 'BILL_NOT_FOUND uniqueReferenceIdentifier', 'xxx', 'x'.repeat(64), '__proto__'],
  ] as const) {
    const send = (value: string) => sendLine(client, line.startsWith('PATCH') ? { body } : {})(line.replace('*', value))
    await table(t, send, { [`404 ${refusal}`]: values })
  }
})

t.test('decisions §2: bad percent-encoding of a path value is MALFORMED_REQUEST', async t => {
  const client = await newClient()
  const values = ['%', '%z', '%zz', 'MND-0001%', 'MND-0001%4', '%c3%28', '%ff%ff%ff%ff%ff', '%ed%a0%80', '%u0041']
  await holds(t, each(values, '400 MALFORMED_REQUEST null'), value => client.get(`/api/v1/mandates/${value}`))
})

t.test('decisions §1: an encoded letter is that letter, in fixed text and in values', async t => {
  const client = await newClient()
  await stock(client)
  t.equal((await client.get('/api/v1/%6Dandates/MND%2D0001')).body.mandateReference, 'MND-0001')
  t.same(listed((await client.send('PUT', '/api/v1/%6Dandates')).headers.allow), ['GET', 'HEAD', 'OPTIONS', 'POST'])
})

t.test('decisions §1: request targets on the wire', async t => {
  const client = await connect(listening, 'targets')
  const headers = { ...headersOf(client), connection: 'close' }
  const odd = ['//api/v1/mandates', '/api//v1/mandates', '/api/v1/./mandates', '/api/v1/x/../mandates', '/..', '*']
  odd.push('/api/v1/%2e%2e/v1/mandates', '/api\\v1\\mandates', 'http://sandbox/nowhere', 'http://', 'https://?x')
  await table(t, async line => (await exchange(port, request(line, headers)))[0], {
    204: ['OPTIONS *'],
    200: [
      'GET http://sandbox:80/api/v1/mandates?limit=1',
      `GET http://:99999${LIVE}`,
      `GET HTTPS://%/${LIVE.slice(1)}`,
    ],
    [WRONG_METHOD]: ['PUT http://sandbox/api/v1/mandates'],
    [malformed(null)]: ['GET /api/v1/mandates#x', 'GET /api/v1/mandates?limit=1#x'],
    [NO_ROUTE]: odd.map(target => `GET ${target}`),
  })
  t.notMatch(JSON.stringify((await client.control('GET', '/requests')).body), '#x')
})

t.test('decisions §1: each route of GET answers HEAD with the same status', async t => {
  const client = await connect(listening, 'heads')
  const known: Record<string, string> = { seq: '1', code: 'INVALID_FIELD', reference: 'MND-0001' }
  await client.post('/api/v1/mandates', mandate())
  const connection = await open(port)
  for (const route of routes) {
    const path = route.replace(/:(\w+)/g, (_, name) => known[name] ?? 'MND-0001')
    const isOfClient = !route.startsWith('/api/') && !route.includes('/assets/')
    const target = isOfClient ? `${path}?client=heads` : path
    const headers = { ...headersOf(client), accept: 'text/html, application/json;q=0.5' }
    const get = httpGet({ port, path: target, headers, agent: false })
    const [{ statusCode, headers: expected }] = (await once(get, 'response')) as [IncomingMessage]
    get.destroy()
    connection.send(request(`HEAD ${target}`, headers) + request(`GET ${LIVE}`))
    const head = await connection.read('HEAD')
    const found = [head?.status, head?.headers['content-type'], (await connection.read())?.status]
    t.same(found, [statusCode, expected['content-type'], 200], target)
  }
  connection.destroy()
})

t.test('decisions §1: an answer to HEAD has no content on the wire', async t => {
  const connection = await open(port)
  for (const [path, status] of [
    [LIVE, 200],
    ['/nowhere', 404],
    ['/api/v1/mandates', 401],
    ['/api/v1/oauth/token', 405],
  ] as const) {
    // The next answer follows only if the first has no content.
    connection.send(request(`HEAD ${path}`) + request(`GET ${LIVE}`))
    t.equal((await connection.read('HEAD'))?.status, status, path)
    t.equal((await connection.read())?.status, 200)
  }
  connection.destroy()
})
