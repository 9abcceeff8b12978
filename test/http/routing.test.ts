import { METHODS } from 'node:http'
import t from 'tap'
import { build, call, connect } from '../helper.js'
import { exchange, listen, open, refused, request, stateOf, stillServes, stock } from './raw.js'

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
  ['/_sandbox/health/ready', 'GET'],
  ['/_sandbox/clients', 'GET'],
  ['/_sandbox/reset', 'POST'],
  ['/_sandbox/seed', 'POST'],
  ['/_sandbox/clock', 'GET', 'PATCH'],
  ['/_sandbox/clock/advance', 'POST'],
  ['/_sandbox/direct-debit/COL-0001', 'GET'],
  ['/_sandbox/direct-debit/COL-0001/settle', 'POST'],
  ['/_sandbox/mandates/MND-0001', 'GET'],
  ['/_sandbox/mandates/MND-0001/cancel', 'POST'],
  ['/_sandbox/payout-links/pl_0000001', 'GET'],
  ['/_sandbox/payout-links/pl_0000001/claim', 'POST'],
  ['/_sandbox/bills/INV-2026-001', 'GET'],
]

/** HEAD works where GET does, OPTIONS everywhere (decisions §1). */
const allowed = (methods: string[]) => [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].sort()
const listed = (allow: unknown) => String(allow).split(/, */).sort()

t.test('decisions §1: a known path with another method is 405 with Allow, and needs no token', async t => {
  const app = build(t)
  for (const [path, ...methods] of paths) {
    const allow = allowed(methods)
    for (const method of METHODS.filter(method => method !== 'CONNECT' && !allow.includes(method))) {
      const answer = await call(app, method, path)
      // What answers HEAD has no content (RFC 9110 §9.3.2).
      if (method === 'HEAD') t.same([answer.status, answer.body], [405, null], `HEAD ${path}`)
      else refused(t, answer, 405, 'METHOD_NOT_ALLOWED', null, `${method} ${path}`)
      t.same(listed(answer.headers.allow), allow)
    }
  }
})

t.test('decisions §1: OPTIONS answers 204 with Allow, and needs no token', async t => {
  const app = build(t)
  for (const [path, ...methods] of paths) {
    const { status, body, headers } = await call(app, 'OPTIONS', `${path}?limit=`)
    t.same([status, body, listed(headers.allow)], [204, null, allowed(methods)], path)
    t.equal(headers['content-type'], undefined)
  }
})

t.test('decisions §1: OPTIONS of an unknown path is 404', async t => {
  const app = build(t)
  refused(t, await call(app, 'OPTIONS', '/api/v1/nowhere'), 404, 'ROUTE_NOT_FOUND', null)
  refused(t, await call(app, 'OPTIONS', '/api/v1/mandates/'), 404, 'ROUTE_NOT_FOUND', null)
  refused(t, await call(app, 'OPTIONS', '/api/v1/mandates/MND%2F0001'), 404, 'ROUTE_NOT_FOUND', null)
})

t.test('decisions §1: OPTIONS * answers 204 with Allow (RFC 9110 §9.3.7: of the server as a whole)', async t => {
  const port = await listen(build(t))
  const [answer] = await exchange(port, request('OPTIONS *', { connection: 'close' }))
  t.equal(answer?.status, 204)
  for (const method of ['GET', 'HEAD', 'POST', 'PATCH', 'DELETE', 'OPTIONS']) {
    t.ok(listed(answer?.headers.allow).includes(method), method)
  }
  const [other] = await exchange(port, request('GET *', { connection: 'close' }))
  t.match(other, { status: /^(400|404)$/, body: { field: null, message: String } })
  await stillServes(t, port)
})

t.test('decisions §1: HEAD works where GET does, with the headers of GET and no content', async t => {
  const client = await connect(build(t))
  await stock(client)
  for (const [path, ...methods] of paths.filter(([path]) => !path.includes('pl_'))) {
    if (!methods.includes('GET')) continue
    const options = { headers: { 'x-request-id': 'same' } }
    const url = path.startsWith('/_sandbox/') ? `${path}?client=acme` : path
    const get = await client.get(url, options)
    const head = await client.send('HEAD', url, options)
    const headersOf = ({ headers: { date, ...headers } }: typeof get) => headers
    t.same([get.status, head.status, head.body], [200, 200, null], path)
    t.same(headersOf(head), headersOf(get), `headers of HEAD ${path}`)
  }
})

t.test('decisions §1: HEAD of what GET refuses has the status of GET', async t => {
  const client = await connect(build(t))
  t.equal((await call(client.app, 'HEAD', '/api/v1/mandates')).status, 401)
  t.equal((await client.send('HEAD', '/api/v1/mandates', { region: 'XX' })).status, 400)
  t.equal((await client.send('HEAD', '/api/v1/mandates/!')).status, 400)
  t.equal((await client.send('HEAD', '/api/v1/mandates?limit=0')).status, 400)
  t.equal((await client.send('HEAD', '/api/v1/mandates/UNKNOWN')).status, 404)
  t.equal((await client.send('HEAD', '/api/v1/nowhere')).status, 404)
})

t.test('decisions §1: a trailing slash is another route, paths are case-sensitive: 404', async t => {
  const client = await connect(build(t))
  await stock(client)
  for (const [path, ...methods] of paths) {
    for (const url of [
      `${path}/`,
      path.replace(/[a-z]/, letter => letter.toUpperCase()),
      `${path}/more/still/more`,
      `/x${path}`,
    ]) {
      refused(t, await client.send(methods[0] as string, url), 404, 'ROUTE_NOT_FOUND', null, url)
    }
  }
  refused(t, await client.get('/api/v1/mandateS'), 404, 'ROUTE_NOT_FOUND', null)
  refused(t, await client.patch('/api/v1/payout-links/pl_0000001/Cancel'), 404, 'ROUTE_NOT_FOUND', null)
})

t.test('interface, Errors 1: what is near a path, but none, is 404', async t => {
  const client = await connect(build(t))
  for (const url of [
    '/',
    '/?client=acme',
    '/api',
    '/api/v1',
    '/api/v1/',
    '/api/v2/mandates',
    '/v1/mandates',
    '/api/v1/oauth',
    '/api/v1/payout-links/pl_0000001',
    '/api/v1/direct-debit/COL-0001/settle',
    '/api/v1/mandates;v=1',
    '/api/v1/mandates&limit=1',
    '/api/v1/mandates%3Flimit=1',
    '/api%2Fv1/mandates',
    '/_sandbox/',
    '/_sandbox/nowhere',
    '/favicon.ico',
    '/constructor',
    '/__proto__',
  ]) {
    refused(t, await client.get(url), 404, 'ROUTE_NOT_FOUND', null, url)
  }
})

t.test(
  'interface, payout-link cancel: an identifier with a slash is 404, encoded or not, and changes nothing',
  async t => {
    const client = await connect(build(t))
    const payoutLinkId = await stock(client)
    const before = await stateOf(client, payoutLinkId)
    const cancellation = { cancellationComment: 'no' }
    for (const slash of ['/', '%2F', '%2f']) {
      for (const [method, url, body] of [
        ['GET', `/api/v1/mandates/MND${slash}0001`],
        ['DELETE', `/api/v1/mandates/MND-0001${slash}`],
        ['DELETE', `/api/v1/mandates/${slash}MND-0001`],
        ['GET', `/api/v1/direct-debit/COL${slash}0001`],
        ['GET', `/api/v1/bills/INV${slash}2026-001`],
        ['PATCH', `/api/v1/bills/INV${slash}2026-001`, { status: 'PAID' }],
        ['PATCH', `/api/v1/payout-links/${payoutLinkId}${slash}/cancel`, cancellation],
        [
          'PATCH',
          `/api/v1/payout-links/${payoutLinkId.slice(0, 4)}${slash}${payoutLinkId.slice(4)}/cancel`,
          cancellation,
        ],
        ['PATCH', `/api/v1/payout-links/${payoutLinkId}${slash}cancel${slash}`, cancellation],
        ['PATCH', `/api/v1/counterparties/CPTY${slash}0001`, { remarks: 'no' }],
        ['POST', `/_sandbox/mandates/MND-0001${slash}${slash}cancel?client=acme`],
      ] as const) {
        refused(t, await client.send(method, url, { body }), 404, 'ROUTE_NOT_FOUND', null, `${method} ${url}`)
      }
    }
    t.same(await stateOf(client, payoutLinkId), before)
  },
)

t.test('decisions §1: an encoded slash is 404 also where another byte of the path is badly encoded', async t => {
  const client = await connect(build(t))
  refused(t, await client.get('/api/v1/mandates/MND%2F0001%zz'), 404, 'ROUTE_NOT_FOUND', null)
})

t.test('decisions §1: an encoded slash in the query is a value like another', async t => {
  const client = await connect(build(t))
  const answer = await client.get('/api/v1/direct-debit?debtorReference=a%2Fb')
  t.same([answer.status, answer.body.totalCount], [200, 0])
})

t.test('decisions §1: a path value of another pattern or length is 400, however long, and changes nothing', async t => {
  const client = await connect(build(t))
  const payoutLinkId = await stock(client)
  const before = await stateOf(client, payoutLinkId)
  const reference = (...others: string[]) => ['A', 'ABCD', 'x'.repeat(51), 'A_BCDE', ...others]
  for (const [method, url, field, code, values] of [
    ['GET', '/api/v1/mandates/*', 'mandateReference', 'INVALID_FIELD', reference()],
    ['DELETE', '/api/v1/mandates/*', 'mandateReference', 'INVALID_FIELD', reference()],
    ['GET', '/api/v1/direct-debit/*', 'collectionReference', 'INVALID_FIELD', reference()],
    ['PATCH', '/api/v1/counterparties/*', 'counterpartyReference', 'INVALID_FIELD', reference()],
    ['GET', '/api/v1/bills/*', 'uniqueReferenceIdentifier', 'INVALID_BILL_REFERENCE', ['AB', 'x'.repeat(65)]],
    ['PATCH', '/api/v1/bills/*', 'uniqueReferenceIdentifier', 'INVALID_BILL_REFERENCE', ['AB', 'x'.repeat(65)]],
    ['PATCH', '/api/v1/payout-links/*/cancel', 'payoutLinkId', 'INVALID_FIELD', ['abcdef', 'x'.repeat(91)]],
    ['GET', '/_sandbox/mandates/*', 'mandateReference', 'INVALID_FIELD', reference()],
    ['GET', '/_sandbox/payout-links/*', 'payoutLinkId', 'INVALID_FIELD', ['abcdef', 'x'.repeat(91)]],
  ] as const) {
    const everywhere = ['x'.repeat(101), 'x'.repeat(5000), 'MND.0001', 'MND%200001', 'MND%C3%A90001', 'MND-0001%0A']
    for (const value of [...values, ...everywhere, '%00%00%00%00%00%00%00', '__proto__.x', '%252F%252F%252F']) {
      const body = method === 'PATCH' ? { remarks: 'no', status: 'PAID', cancellationComment: 'no' } : undefined
      const answer = await client.send(method, url.replace('*', value), { body })
      refused(t, answer, 400, code, field, `${method} ${url} ${value.slice(0, 20)} of ${value.length}`)
      t.notMatch(answer.body.message, /x{81}/, 'decisions §2: quotes at most 80 characters')
    }
  }
  t.same(await stateOf(client, payoutLinkId), before)
})

t.test('decisions §1: a path value of 15,000 characters is 400, too', async t => {
  const client = await connect(build(t))
  const answer = await client.get(`/api/v1/mandates/${'x'.repeat(15_000)}`)
  refused(t, answer, 400, 'INVALID_FIELD', 'mandateReference')
})

t.test('interface, Errors 2: path values at the ends of their lengths are looked up', async t => {
  const client = await connect(build(t))
  for (const value of ['x'.repeat(5), 'x'.repeat(50), '-----', 'constructor', 'hasOwnProperty', 'toString']) {
    refused(t, await client.get(`/api/v1/mandates/${value}`), 404, 'MANDATE_NOT_FOUND', 'mandateReference', value)
    refused(t, await client.get(`/api/v1/direct-debit/${value}`), 404, 'COLLECTION_NOT_FOUND', 'collectionReference')
  }
  for (const value of ['x'.repeat(7), 'x'.repeat(90), '__proto__']) {
    const answer = await client.patch(`/api/v1/payout-links/${value}/cancel`, { cancellationComment: 'x' })
    refused(t, answer, 404, 'PAYOUT_LINK_NOT_FOUND', 'payoutLinkId', value)
  }
  for (const value of ['x'.repeat(3), 'x'.repeat(64), '__proto__', 'constructor']) {
    refused(t, await client.get(`/api/v1/bills/${value}`), 404, 'BILL_NOT_FOUND', 'uniqueReferenceIdentifier', value)
  }
})

t.test('RFC 3986 §6.2.2.2: an encoded letter is that letter, in fixed text and in values', async t => {
  const client = await connect(build(t))
  await stock(client)
  t.equal((await client.get('/api/v1/%6Dandates/MND%2D0001')).body.mandateReference, 'MND-0001')
  const answer = await client.send('PUT', '/api/v1/%6Dandates')
  refused(t, answer, 405, 'METHOD_NOT_ALLOWED', null)
  t.same(listed(answer.headers.allow), ['GET', 'HEAD', 'OPTIONS', 'POST'])
})

t.test('decisions §2: bad percent-encoding in the path is 400 with every method, never 500', async t => {
  const client = await connect(build(t))
  for (const method of ['GET', 'DELETE', 'POST', 'PATCH', 'PUT', 'HEAD', 'TRACE', 'PROPFIND', 'REPORT']) {
    for (const path of [
      '/api/v1/mandates/%zz',
      '/api/v1/mandates/%',
      '/api/v1/mandates/MND-0001%f',
      '/%zz',
      '/%/%/%/%',
    ]) {
      const answer = await client.send(method, path)
      t.ok([400, 404, 405].includes(answer.status), `${method} ${path}: ${answer.status}`)
      if (method !== 'HEAD') t.same(Object.keys(answer.body), ['code', 'field', 'message'])
    }
  }
})

t.test('decisions §2: bad percent-encoding of a value in the path is MALFORMED_REQUEST', async t => {
  const client = await connect(build(t))
  for (const value of [
    '%',
    '%z',
    '%zz',
    'MND-0001%',
    'MND-0001%4',
    '%c3%28',
    '%ff%ff%ff%ff%ff',
    '%ed%a0%80',
    '%u0041',
  ]) {
    refused(t, await client.get(`/api/v1/mandates/${value}`), 400, 'MALFORMED_REQUEST', null, value)
  }
})

t.test('RFC 9112 §3.2.2: a target in absolute form is its path', async t => {
  const app = build(t)
  const { token } = await connect(app)
  const port = await listen(app)
  const headers = { authorization: `Bearer ${token}`, 'x-region': 'EU', connection: 'close' }
  const [read] = await exchange(port, request('GET http://sandbox:80/api/v1/mandates?limit=1', headers))
  t.match(read, { status: 200, body: { totalCount: 0 } })
  const [put] = await exchange(port, request('PUT http://sandbox/api/v1/mandates', headers))
  refused(t, put as never, 405, 'METHOD_NOT_ALLOWED', null)
  const [options] = await exchange(port, request('OPTIONS http://sandbox/api/v1/mandates', headers))
  t.equal(options?.status, 204)
  const [none] = await exchange(port, request('GET http://sandbox/nowhere', headers))
  refused(t, none as never, 404, 'ROUTE_NOT_FOUND', null)
})

t.test('interface, Errors 1: targets that are no normal path are refused in the envelope', async t => {
  const app = build(t)
  const { token } = await connect(app)
  const port = await listen(app)
  const headers = { authorization: `Bearer ${token}`, 'x-region': 'EU', connection: 'close' }
  for (const target of [
    '//api/v1/mandates',
    '/api//v1/mandates',
    '/api/v1//mandates',
    '/api/v1/./mandates',
    '/api/v1/x/../mandates',
    '/api/v1/%2e%2e/v1/mandates',
    '/..',
    '/api\\v1\\mandates',
  ]) {
    const [answer] = await exchange(port, request(`GET ${target}`, headers))
    refused(t, answer as never, 404, 'ROUTE_NOT_FOUND', null, target)
  }
  await stillServes(t, port)
})

t.test('RFC 9110 §9.3.2: what answers HEAD has no content on the wire, be it a success or a refusal', async t => {
  const port = await listen(build(t))
  const connection = await open(port)
  for (const [path, status] of [
    ['/_sandbox/health/live', 200],
    ['/nowhere', 404],
    ['/api/v1/mandates', 401],
    ['/api/v1/oauth/token', 405],
  ] as const) {
    // Content would be taken for the answer to the request behind it.
    connection.send(request(`HEAD ${path}`) + request('GET /_sandbox/health/live'))
    t.equal((await connection.read('HEAD'))?.status, status, path)
    t.same((await connection.read())?.body, { status: 'ok' })
  }
  connection.destroy()
})
