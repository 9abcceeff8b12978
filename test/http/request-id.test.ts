import t from 'tap'
import { build, call, connect, requestToken } from '../helper.js'
import { exchange, listen, open, request } from './raw.js'

// decisions §1: every answer carries `x-request-id`: the caller's if it sent one of at most 128 printable ASCII
// characters, else a new one.

t.test('decisions §1: an answer of any kind carries the x-request-id of the caller', async t => {
  const client = await connect(build(t))
  const headers = { 'x-request-id': 'order 66/ß'.replace('ß', '~') }
  for (const [method, url, body] of [
    ['GET', '/api/v1/mandates'],
    ['HEAD', '/api/v1/mandates'],
    ['OPTIONS', '/api/v1/mandates'],
    ['PUT', '/api/v1/mandates'],
    ['GET', '/nowhere'],
    ['GET', '/api/v1/mandates/%zz'],
    ['GET', '/api/v1/mandates/MND%2F0001'],
    ['GET', '/api/v1/mandates/UNKNOWN'],
    ['POST', '/api/v1/mandates', '{'],
    ['POST', '/api/v1/mandates', Buffer.alloc(1024 * 1024 + 1)],
    ['POST', '/api/v1/oauth/token', '{'],
    ['GET', '/_sandbox/health/live'],
  ] as const) {
    const answer = await client.send(method, url, { headers, body })
    t.equal(answer.headers['x-request-id'], headers['x-request-id'], `${method} ${url}: ${answer.status}`)
  }
  const unknown = await call(client.app, 'GET', '/api/v1/mandates', { headers })
  t.same([unknown.status, unknown.headers['x-request-id']], [401, headers['x-request-id']])
})

t.test('decisions §1: up to 128 printable ASCII characters are kept', async t => {
  const app = build(t)
  for (const id of ['a', '!', '~', ' x y '.trim(), '"\\;,', 'x'.repeat(127), 'x'.repeat(128)]) {
    const { headers } = await call(app, 'GET', '/_sandbox/clients', { headers: { 'x-request-id': id } })
    t.equal(headers['x-request-id'], id)
  }
})

t.test('decisions §1: an id that is empty, too long or not printable ASCII is replaced by a new one', async t => {
  const app = build(t)
  const ids = new Set<unknown>()
  for (const id of ['', 'x'.repeat(129), 'x'.repeat(4000), 'caf\u00e9', 'a\tb', '\u0080', '\u00ff']) {
    const { status, headers } = await call(app, 'GET', '/_sandbox/clients', { headers: { 'x-request-id': id } })
    t.equal(status, 200)
    t.not(headers['x-request-id'], id)
    t.match(headers['x-request-id'], /^[\x20-\x7e]{1,128}$/)
    ids.add(headers['x-request-id'])
  }
  t.equal(ids.size, 7, 'each is another')
})

t.test('decisions §1: answers to requests without an id have one each, all different', async t => {
  const client = await connect(build(t))
  const ids: unknown[] = []
  for (const url of [
    '/api/v1/mandates',
    '/nowhere',
    '/api/v1/mandates/%zz',
    '/api/v1/mandates/!',
    '/_sandbox/clients',
  ]) {
    ids.push((await client.get(url)).headers['x-request-id'])
  }
  ids.push((await requestToken(client.app)).headers['x-request-id'])
  for (const id of ids) t.match(id, /^[\x20-\x7e]{1,128}$/)
  t.equal(new Set(ids).size, 6)
})

t.test('decisions §1: over a socket, too: on answers to what is no HTTP, and with bytes outside of ASCII', async t => {
  const port = await listen(build(t))
  const connection = await open(port)
  connection.send(Buffer.from(request('GET /_sandbox/health/live', { 'x-request-id': 'caf\u00e9' }), 'latin1'))
  const answer = await connection.read()
  t.match(answer, { status: 200, headers: { 'x-request-id': /^[\x20-\x7e]{1,128}$/ } })
  connection.send('garbage\r\n\r\n')
  const refusal = await connection.read()
  t.match(refusal, { status: 400, headers: { 'x-request-id': /^[\x20-\x7e]{1,128}$/ } })
  t.not(refusal?.headers['x-request-id'], answer?.headers['x-request-id'])
  const [connect] = await exchange(port, 'CONNECT sandbox:80 HTTP/1.1\r\nhost: sandbox:80\r\n\r\n')
  t.match(connect?.headers['x-request-id'], /^[\x20-\x7e]{1,128}$/)
})

t.test('decisions §1: an unhelpful Accept is ignored: the answer is JSON', async t => {
  const client = await connect(build(t))
  for (const accept of [
    'text/html',
    'application/xml',
    '*/*;q=0',
    'image/png',
    'application/json;q=0',
    '',
    'nonsense',
  ]) {
    const headers = { accept, 'accept-charset': 'utf-16', 'accept-language': 'fr', 'accept-encoding': 'identity;q=0' }
    for (const [url, status] of [
      ['/api/v1/mandates', 200],
      ['/api/v1/mandates/UNKNOWN', 404],
      ['/nowhere', 404],
      ['/_sandbox/health/live', 200],
    ] as const) {
      const answer = await client.get(url, { headers })
      t.equal(answer.status, status, `${accept}: ${url}`)
      t.match(answer.headers['content-type'], /^application\/json(;|$)/)
    }
    const form = { 'content-type': 'application/x-www-form-urlencoded' }
    const body = 'client_id=acme&client_secret=secret&grant_type=client_credentials'
    const token = await call(client.app, 'POST', '/api/v1/oauth/token', { body, headers: { ...headers, ...form } })
    t.same([token.status, token.body.token_type], [200, 'Bearer'])
  }
})
