import t from 'tap'
import type { Client } from '../helper.js'
import { build, connect, mandate } from '../helper.js'
import { manualTime } from '../manual-time.js'
import type { Connection } from './raw.js'
import { exchange, headersOf, LIVE, listen, open, request, stillServes } from './raw.js'

// RFC 9112 §9.3.2: the requests of a connection are answered in their order.

const ids = (count: number) => Array.from({ length: count }, (_, at) => `r-${at}`)
const lines = (line: string, count: number) =>
  ids(count)
    .map(id => request(line, { 'x-request-id': id }))
    .join('')

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

t.test('decisions §12: 100 connections that send 10 requests at once get all answers in order', async t => {
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

t.test('decisions §12: bodies that come later, and in pieces, keep the order', async t => {
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

t.test('decisions §12: a client that closes its side gets the answers to all complete requests', async t => {
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
})

t.test('control plane, Wait for an event: a call whose client closes its side is answered at once', async t => {
  const app = build(t, { timers: manualTime().timers })
  await connect(app)
  const port = await listen(app)
  const wait = request('GET /_sandbox/events?client=acme&wait=60')
  const answers = await exchange(port, wait + request(`GET ${LIVE}`), true)
  t.match(answers, [{ status: 200, body: { data: [], last: 0 } }, { status: 200 }])
})

t.test('decisions §12: requests behind an answer that closes the connection are dropped', async t => {
  const app = build(t, { timers: manualTime().timers })
  const client = await connect(app)
  const port = await listen(app)
  for (const last of [request(`GET ${LIVE}`, { connection: 'close' }), `GET ${LIVE} HTTP/1.0\r\n\r\n`]) {
    const answers = await exchange(port, last + request(`GET ${LIVE}`) + create(client, 1))
    t.same(
      answers.map(({ status }) => status),
      [200],
      'nothing more comes',
    )
  }
  t.equal((await client.get('/api/v1/mandates')).body.totalCount, 0)
  await stillServes(t, port)
})
