import t from 'tap'
import { build, call, newClient } from '../helper.js'
import { exchange, LIVE, listen, request } from './raw.js'

// decisions §1: every answer carries `x-request-id`: the caller's if it sent one of at most 128 printable ASCII
// characters, else a new one.

const OURS = /^req-\d{8}$/

t.test('decisions §1: an answer of any kind carries the x-request-id of the caller, else a new one', async t => {
  const client = await newClient()
  const kept: unknown[] = []
  const created = new Set<unknown>()
  const requests = [
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
    ['GET', LIVE],
  ] as const
  for (const [method, url, body] of requests) {
    const answer = await client.send(method, url, { headers: { 'x-request-id': 'order 66/~' }, body })
    kept.push(answer.headers['x-request-id'])
    const { headers } = await client.send(method, url, { body })
    if (OURS.test(String(headers['x-request-id']))) created.add(headers['x-request-id'])
  }
  t.same([kept, created.size], [requests.map(() => 'order 66/~'), requests.length])
})

t.test('decisions §1: up to 128 printable ASCII characters are kept, other ids are replaced', async t => {
  const { app } = await newClient()
  const idOf = async (id: string) =>
    (await call(app, 'GET', LIVE, { headers: { 'x-request-id': id } })).headers['x-request-id']
  for (const id of ['a', '!', '~', 'x y', '"\\;,', 'x'.repeat(128)]) t.equal(await idOf(id), id)
  for (const id of ['', 'x'.repeat(129), 'caf\u00e9', 'a\tb', '\u0080'])
    t.match(await idOf(id), OURS, JSON.stringify(id))
})

t.test('decisions §1: so do answers to bytes that are not HTTP', async t => {
  const port = await listen(build(t))
  const ids: unknown[] = []
  for (const bytes of [
    Buffer.from(request(`GET ${LIVE}`, { 'x-request-id': 'caf\u00e9', connection: 'close' }), 'latin1'),
    'garbage\r\n\r\n',
    'CONNECT sandbox:80 HTTP/1.1\r\nhost: sandbox:80\r\n\r\n',
  ]) {
    ids.push((await exchange(port, bytes))[0]?.headers['x-request-id'])
  }
  t.match(ids, [OURS, OURS, OURS])
  t.equal(new Set(ids).size, 3)
})

t.test('decisions §1: an unhelpful Accept is ignored: the answer is JSON', async t => {
  const client = await newClient()
  const actual: unknown[] = []
  for (const accept of ['text/html', '*/*;q=0', 'application/json;q=0', '', 'nonsense']) {
    const headers = { accept, 'accept-charset': 'utf-16', 'accept-encoding': 'identity;q=0' }
    for (const url of ['/api/v1/mandates', '/api/v1/mandates/UNKNOWN', '/nowhere', LIVE]) {
      const answer = await client.get(url, { headers })
      actual.push([answer.status, /^application\/json(;|$)/.test(String(answer.headers['content-type']))])
    }
  }
  const wanted = [200, 404, 404, 200].map(status => [status, true])
  t.same(actual, Array(5).fill(wanted).flat())
})
