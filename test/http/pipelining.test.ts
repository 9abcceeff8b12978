import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import t from 'tap'
import { build, connect, mandate } from '../helper.js'
import { until } from '../manual-time.js'
import { closed, LIVE, listen, open, request, stillServes } from './raw.js'

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
  allowed.destroy()
  begun.length = 0
  const over = await open(port)
  over.send(lines(`GET ${LIVE}`, 102))
  while ((await over.read()) !== undefined);
  t.same(begun, ['r-0'])
  await stillServes(t, port)
})

t.test('control plane, GET /requests: requests sent at once, with bodies, are logged in their order', async t => {
  const app = build(t)
  const client = await connect(app)
  const connection = await open(await listen(app))
  const headers = { authorization: `Bearer ${client.token}`, 'x-region': 'EU', 'content-type': 'application/json' }
  const calls = ids(20).map((id, at) =>
    at % 2 === 0
      ? request(
          'POST /api/v1/mandates',
          { ...headers, 'x-request-id': id },
          JSON.stringify(mandate({ mandateReference: `MND-${1000 + at}` })),
        )
      : request(`GET /api/v1/mandates/MND-${999 + at}`, { ...headers, 'x-request-id': id }),
  )
  connection.send(calls.join(''))
  const seen: unknown[] = []
  for (const _ of calls) seen.push((await connection.read())?.status)
  t.same(
    seen,
    calls.map((_, at) => (at % 2 === 0 ? 201 : 200)),
  )
  const { data } = (await client.control('GET', '/requests?limit=20')).body
  t.same(
    data.map((entry: { responseHeaders: Record<string, string> }) => entry.responseHeaders['x-request-id']),
    ids(20),
  )
  connection.destroy()
})
