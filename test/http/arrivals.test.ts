import { createServer, IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import t from 'tap'
import { gatherArrivals } from '../../src/http/arrivals.js'
import { build, collection, connect, mandate } from '../helper.js'
import { exchange, LIVE, listen, open, type RawAnswer, refused, request } from './raw.js'

/** A server that tells which of the requests emitted on it have been handled. */
function gathering() {
  const handled: unknown[] = []
  const server = createServer(({ url }) => void handled.push(url))
  gatherArrivals(server)
  return {
    handled,
    server,
    arrive(url: string) {
      const request = Object.assign(new IncomingMessage(new Socket()), { url })
      server.emit('request', request, new ServerResponse(request))
      return request
    },
  }
}

const turnOfTheLoop = () => new Promise<void>(resolve => setImmediate(resolve))

t.test('requests that come together are all read before the first is handled, in order', async t => {
  const { arrive, handled } = gathering()
  for (const url of ['/1', '/2', '/3']) arrive(url)
  t.same(handled, [])
  await turnOfTheLoop()
  t.same(handled, ['/1', '/2', '/3'])

  arrive('/4')
  t.equal(handled.length, 3)
  await turnOfTheLoop()
  t.same(handled, ['/1', '/2', '/3', '/4'])
})

t.test('what came before something that is no HTTP is handled before that is refused, and once', async t => {
  const { arrive, handled, server } = gathering()
  server.on('clientError', () => handled.push('refused'))
  arrive('/1')
  server.emit('clientError', new Error('no HTTP'), new Socket())
  t.same(handled, ['/1', 'refused'])
  arrive('/2')
  await turnOfTheLoop()
  t.same(handled, ['/1', 'refused', '/2'])
})

t.test('a request whose connection has gone before it was handled is left alone', async t => {
  const { arrive, handled } = gathering()
  arrive('/1').destroy()
  arrive('/2')
  await turnOfTheLoop()
  t.same(handled, ['/2'])
})

/** What comes back to a client that sends all it has and ends its half with it. */
const exchangeAndEnd = (port: number, bytes: string) => exchange(port, bytes, true)

t.test('RFC 9112 §9.6: a client that ends its half right behind its requests gets all answers', async t => {
  const app = build(t)
  const { token } = await connect(app)
  const port = await listen(app)
  const headers = { authorization: `Bearer ${token}`, 'x-region': 'EU', 'content-type': 'application/json' }
  const create = (path: string, body: object) => request(`POST /api/v1${path}`, headers, JSON.stringify(body))

  const read = await exchangeAndEnd(port, request(`GET ${LIVE}`))
  t.same(
    read.map(({ status, body }) => ({ status, body })),
    [{ status: 200, body: { status: 'ok' } }],
  )
  t.same(
    (await exchangeAndEnd(port, create('/mandates', mandate()))).map(({ status }) => status),
    [201],
  )
  const all = await exchangeAndEnd(
    port,
    create('/direct-debit', collection()) + create('/direct-debit', collection()) + request(`GET ${LIVE}`),
  )
  t.same(
    all.map(({ status }) => status),
    [201, 409, 200],
  )

  const [answered, refusal, ...rest] = await exchangeAndEnd(port, `${request(`GET ${LIVE}`)}no HTTP\r\n\r\n`)
  t.equal(answered?.status, 200)
  refused(t, refusal as RawAnswer, 400, 'MALFORMED_REQUEST', null)
  t.same(rest, [])
})

t.test('also when Node reads the end in the same turn: behind bytes that fill what it reads at once', async t => {
  const app = build(t)
  const { token } = await connect(app)
  const port = await listen(app)
  const headers = { authorization: `Bearer ${token}`, 'x-region': 'EU', 'content-type': 'application/json' }
  const create = (body: string) => request('POST /api/v1/mandates', headers, body)
  const NODE_READS = 65_536
  const body = JSON.stringify(mandate())
  // The Content-Length has as many digits as that of the padded one.
  const overhead = create(body.padEnd(NODE_READS - 1000)).length - (NODE_READS - 1000)
  const bytes = create(body.padEnd(NODE_READS - overhead))
  t.equal(bytes.length, NODE_READS)
  t.same(
    (await exchangeAndEnd(port, bytes)).map(({ status }) => status),
    [201],
  )
})

t.test('a client that ends its half without a request is hung up on', async t => {
  const port = await listen(build(t))
  t.same(await exchangeAndEnd(port, ''), [])
  const connection = await open(port)
  connection.send(request(`GET ${LIVE}`))
  t.equal((await connection.read())?.status, 200)
  connection.end()
  t.equal(await connection.read(), undefined)
})
