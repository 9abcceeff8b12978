import type { Socket } from 'node:net'
import { connect as dial } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import t from 'tap'
import type { Client } from '../helper.js'
import { build, connect, mandate } from '../helper.js'
import { manualTime, until } from '../manual-time.js'
import type { Connection } from './raw.js'
import { closed, exchange, headersOf, LIVE, listen, open, request, stillServes } from './raw.js'

// control plane, Long calls: requests of a connection are handled one at a time, each when the answer before is taken.

/** Counts the requests whose handlers began. */
function counted(app: FastifyInstance) {
  const begun: string[] = []
  app.addHook('preHandler', ({ id }, _reply, next) => {
    begun.push(id)
    next()
  })
  return begun
}

const ids = (count: number) => Array.from({ length: count }, (_, at) => `r-${at}`)
const lines = (line: string, count: number) =>
  ids(count)
    .map(id => request(line, { 'x-request-id': id }))
    .join('')

/** Connections that have sent 20 requests of answers of 0.4 MiB at once, and take nothing until no buffer has room. */
async function stalled(t: Test, count: number) {
  const app = build(t)
  const begun = counted(app)
  const sockets: Socket[] = []
  app.server.on('connection', socket => sockets.push(socket))
  const client = await connect(app)
  const body = JSON.stringify({ padding: 'x'.repeat(400_000) })
  await client.post('/api/v1/mandates', body)
  const port = await listen(app)
  begun.length = 0
  const readers = await Promise.all(Array.from({ length: count }, () => open(port)))
  for (const reader of readers) {
    reader.pause()
    reader.send(lines('GET /_sandbox/requests?client=acme&limit=1', 20))
  }
  const served = sockets.slice()
  await until(() => served.every(socket => socket.writableLength > 0))
  return { begun, port, readers, served }
}

t.test('control plane, Long calls: requests sent at once begin as the answers before are taken', async t => {
  const { begun, port, readers } = await stalled(t, 2)
  await stillServes(t, port)
  t.ok(begun.length < 40, `${begun.length} of 41 have begun`)
  for (const reader of readers) {
    reader.resume()
    const seen: unknown[] = []
    for (const _ of ids(20)) seen.push((await reader.read())?.headers['x-request-id'])
    t.same(seen, ids(20), 'all are answered in their order')
    reader.destroy()
  }
})

t.test('control plane, Long calls: what waits on a connection that is closed is dropped', async t => {
  const { begun, port, readers, served } = await stalled(t, 1)
  readers[0]?.reset()
  await Promise.all(served.map(closed))
  const taken = begun.length
  t.ok(taken < 20, `${taken} of 20 have begun`)
  await stillServes(t, port)
  t.equal(begun.length, taken + 1, 'only the request of this test')
})

t.test('control plane, Long calls: 100 requests of a connection can wait; more close it', async t => {
  const app = build(t)
  const begun = counted(app)
  const port = await listen(app)
  const allowed = await open(port)
  allowed.send(lines(`GET ${LIVE}`, 101))
  const seen: unknown[] = []
  for (const _ of ids(101)) seen.push((await allowed.read())?.headers['x-request-id'])
  t.same(seen, ids(101))
  // Those that have waited count no more.
  for (const _ of ids(101)) {
    allowed.send(lines(`GET ${LIVE}`, 2))
    t.same([(await allowed.read())?.status, (await allowed.read())?.status], [200, 200])
  }
  allowed.destroy()
  begun.length = 0
  const over = await open(port)
  over.send(lines(`GET ${LIVE}`, 102))
  while ((await over.read()) !== undefined);
  t.same(begun, ['r-0'])
  await stillServes(t, port)
})

t.test('control plane, Long calls: 5,000 headers of requests can wait; more close the connection', async t => {
  const client = await connect(build(t))
  const port = await listen(client.app)
  // Host is one, too.
  const many = request(`GET ${LIVE}`, Object.fromEntries(ids(199).map(id => [id, '']))).repeat(25)
  const waiting = (after: number) => request(`GET /_sandbox/events?client=acme&wait=60&after=${after}`) + many
  const over = await open(port)
  over.send(waiting(0) + request(`GET ${LIVE}`))
  t.equal(await over.read(), undefined)
  const allowed = await open(port)
  // Those that have waited count no more.
  for (const seq of [0, 1]) {
    allowed.send(waiting(seq))
    await stillServes(t, port)
    await client.post('/api/v1/mandates', mandate({ mandateReference: `MND-000${seq}` }))
    for (const _ of ids(26)) t.equal((await allowed.read())?.status, 200)
  }
  allowed.destroy()
  // Later releases of Node refuse it in its turn.
  const short = Object.fromEntries(ids(200).map(id => [id, '']))
  const answered = exchange(port, waiting(2).slice(0, -many.length) + request(`GET ${LIVE}`, short))
  await stillServes(t, port)
  await client.post('/api/v1/mandates', mandate({ mandateReference: 'MND-0002' }))
  t.match((await answered).map(({ status }) => status).join(), /^(200,431)?$/)
})

t.test('control plane, GET /requests: requests sent at once, with bodies, are logged in their order', async t => {
  const app = build(t)
  const client = await connect(app)
  const connection = await open(await listen(app))
  const calls = ids(20).map((id, at) =>
    at % 2 === 0
      ? create(client, at)
      : request(`GET /api/v1/mandates/MND-${999 + at}`, { ...headersOf(client), 'x-request-id': id }),
  )
  connection.send(calls.join(''))
  const seen: unknown[] = []
  for (const _ of calls) seen.push((await connection.read())?.status)
  t.same(seen, Array(10).fill([201, 200]).flat())
  const { data } = (await client.control('GET', '/requests?limit=20')).body
  const logged = data.map((entry: { responseHeaders: Record<string, string> }) => entry.responseHeaders['x-request-id'])
  t.same(logged, ids(20))
  connection.destroy()
})

/** Returns the statuses and ids of all answers until the server closes the connection. */
async function statuses(connection: Connection): Promise<string[]> {
  const seen: string[] = []
  for (let next = await connection.read(); next !== undefined; next = await connection.read()) {
    seen.push(`${next.status} ${next.headers['x-request-id']}`)
  }
  return seen
}

/** Returns the text of a request that creates a mandate. Its id and reference are that of the number. */
function create(client: Client, at: number, headers: Record<string, string> = {}): string {
  const body = JSON.stringify(mandate({ mandateReference: `MND-${1000 + at}` }))
  return request('POST /api/v1/mandates', { ...headersOf(client), 'x-request-id': `r-${at}`, ...headers }, body)
}

const created = async (client: Client) => (await client.get('/api/v1/mandates')).body.totalCount

t.test('control plane, Long calls: 100 connections that send 10 requests at once get all answers in order', async t => {
  const app = build(t)
  const client = await connect(app)
  const port = await listen(app)
  const sent = await Promise.all(
    Array.from({ length: 100 }, async (_, at) => {
      const connection = await open(port)
      connection.send(lines(`GET ${LIVE}`, 9) + create(client, at, { connection: 'close' }))
      return statuses(connection)
    }),
  )
  const expected = ids(9).map(id => `200 ${id}`)
  for (const [at, seen] of sent.entries()) t.same(seen, [...expected, `201 r-${at}`])
})

t.test('control plane, POST /faults: a late answer holds up the later requests of its connection only', async t => {
  const time = manualTime()
  const app = build(t, { timers: time.timers })
  const client = await connect(app)
  const connection = await open(await listen(app))
  await client.control('POST', '/faults', { skip: 1, effect: { kind: 'delay', ms: 1000 } })
  connection.send([0, 1, 2].map(at => create(client, at)).join(''))
  t.equal((await connection.read())?.headers['x-request-id'], 'r-0')
  await until(() => time.pending === 1)
  t.equal(await created(client), 2, 'the third has not begun')
  time.pass(1000)
  for (const id of ['r-1', 'r-2']) {
    const answer = await connection.read()
    t.same([answer?.status, answer?.headers['x-request-id']], [201, id])
  }
  connection.destroy()
})

for (const when of ['before', 'after'] as const) {
  t.test(`control plane, POST /faults: drop, ${when}: requests behind it are not applied`, async t => {
    const app = build(t)
    const client = await connect(app)
    const connection = await open(await listen(app))
    await client.control('POST', '/faults', { skip: 1, effect: { kind: 'drop', when } })
    connection.send([0, 1, 2].map(at => create(client, at)).join(''))
    t.same(await statuses(connection), ['201 r-0'])
    t.equal(await created(client), when === 'before' ? 1 : 2)
  })
}

t.test('control plane, Long calls: bodies that come later, and in pieces, keep the order', async t => {
  const app = build(t)
  const client = await connect(app)
  const connection = await open(await listen(app))
  const [head = '', body = ''] = create(client, 1, { expect: '100-continue' }).split(/(?<=\r\n\r\n)/)
  connection.send(create(client, 0) + head)
  t.match(await connection.read(), { status: 201, headers: { 'x-request-id': 'r-0' } })
  t.match(await connection.read(), { status: 100 })
  for (const piece of body.match(/.{1,50}/gs) ?? []) {
    connection.send(piece)
    await stillServes(t, (app.server.address() as { port: number }).port)
  }
  connection.send(create(client, 2, { connection: 'close' }))
  t.same(await statuses(connection), ['201 r-1', '201 r-2'])
})

t.test(
  'control plane, Long calls: a client that closes its side gets the answers to all complete requests',
  async t => {
    const time = manualTime()
    const app = build(t, { timers: time.timers })
    const client = await connect(app)
    const port = await listen(app)
    await client.control('POST', '/faults', { effect: { kind: 'delay', ms: 1000 } })
    const connection = await open(port)
    connection.send([0, 1, 2].map(at => create(client, at)).join(''))
    connection.end()
    // It may be gone, so no fault delays its answers.
    t.same(await statuses(connection), ['201 r-0', '201 r-1', '201 r-2'])
    for (const [what, end] of [
      ['half of the headers', 40],
      ['half of a body', -1],
    ] as const) {
      const again = await connect(app, what.replaceAll(' ', '-'))
      await again.control('POST', '/faults', { effect: { kind: 'delay', ms: 1000 } })
      const sent = create(again, 0) + create(again, 1) + create(again, 9).slice(0, end)
      const answers = exchange(port, sent, true)
      await stillServes(t, port)
      t.equal((await answers).map(({ status }) => status).join(), '201,201,400', what)
      t.equal(await created(again), 2)
    }
  },
)

t.test('control plane, Wait for an event: a call whose client closes its side is answered at once', async t => {
  const app = build(t, { timers: manualTime().timers })
  await connect(app)
  const port = await listen(app)
  const wait = request('GET /_sandbox/events?client=acme&wait=60')
  const answers = await exchange(port, wait + request(`GET ${LIVE}`), true)
  t.match(answers, [{ status: 200, body: { data: [], last: 0 } }, { status: 200 }])
})

t.test('control plane, Long calls: requests behind an answer that closes the connection are dropped', async t => {
  const app = build(t, { timers: manualTime().timers })
  const client = await connect(app)
  const port = await listen(app)
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const connection = dial(port, '127.0.0.1').resume()
  connection.end(request('POST /api/v1/oauth/token', form, '%') + request('GET /docs') + create(client, 1))
  await closed(connection)
  for (const last of [request(`GET ${LIVE}`, { connection: 'close' }), `GET ${LIVE} HTTP/1.0\r\n\r\n`]) {
    const answers = await exchange(port, last + request(`GET ${LIVE}`))
    t.same(
      answers.map(({ status }) => status),
      [200],
      'nothing more comes',
    )
  }
  // The places of `/docs` are free, and so is the connection.
  t.equal((await client.get('/api/v1/mandates')).body.totalCount, 0)
  await stillServes(t, port)
})
