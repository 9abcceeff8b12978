import { setImmediate } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import t from 'tap'
import { gist } from '../answers.js'
import type { Client } from '../helper.js'
import { bill, build, connect, mandate } from '../helper.js'
import { manualTime, until } from '../manual-time.js'
import { MULTIPART, multipart } from '../multipart.js'
import type { Connection } from './raw.js'
import { headersOf, LIVE, listen, open, request } from './raw.js'

// control plane, Large bodies: At most 128 MiB of them are received at a time. The others wait, up to 30 s.

const MIB = 1024 * 1024
/** The size of a body that never waits. */
const LARGE = 64 * 1024
const TYPE = { 'content-type': 'application/json' }
const PUT = 'PUT /_sandbox/state?client=acme'

/** A server with a state document of the size that a body must have to be large, and a byte more. */
async function start(t: Test, prepare = (_app: FastifyInstance): unknown => undefined) {
  const time = manualTime()
  const app = build(t, { timers: time.timers })
  prepare(app)
  const client = await connect(app)
  await client.post('/api/v1/bills', bill())
  const { payload } = await client.app.inject('/_sandbox/state?client=acme')
  const port = await listen(client.app)
  const connections: Connection[] = []
  t.teardown(() => {
    for (const connection of connections) connection.destroy()
  })
  const send = async (bytes: string | Buffer) => {
    const connection = await open(port)
    connections.push(connection)
    connection.send(bytes)
    return connection
  }
  const put = (size = LARGE + 1) => send(request(PUT, TYPE, payload.padEnd(size)))
  const announce = (size: number) => send(request(PUT, { ...TYPE, 'content-length': String(size * MIB) }))
  /** Sends a part of a body that never ends, and waits until the server has seen it. */
  const stall = async (headers: Record<string, string> = { 'content-length': String(32 * MIB) }) => {
    const connection = await send(request(PUT, { ...TYPE, ...headers, expect: '100-continue' }))
    await connection.read()
    return connection
  }
  /** Takes all room with bodies of these MiB. */
  const fill = async (sizes = [32, 32, 32, 32]) => {
    const stalled: Connection[] = []
    for (const size of sizes) stalled.push(await stall({ 'content-length': String(size * MIB) }))
    return stalled
  }
  return { client, time, send, put, announce, stall, fill }
}

const answerOf = async (connection: Connection) => gist(await connection.read())

const small = async (client: Client) => gist(await client.control('PUT', '/settings', { mandateActivation: 'manual' }))

t.test('control plane, Large bodies: where there is no room for another, it waits, and others pass', async t => {
  const { client, time, put, announce, stall } = await start(t)
  const stalled = []
  for (let n = 0; n < 4; n++) stalled.push(await stall(n === 3 ? { 'transfer-encoding': 'chunked' } : undefined))
  t.equal(time.pending, 0)
  const first = await put()
  await until(() => time.pending === 1)
  const second = await put()
  await until(() => time.pending === 2)
  t.equal(await answerOf(await put(LARGE)), '200', 'a body of 64 KiB')
  t.equal(await small(client), '200')
  t.equal(await answerOf(await announce(33)), '413 PAYLOAD_TOO_LARGE null', 'one that no room would help')
  t.equal(time.pending, 2)
  stalled[0]?.destroy()
  t.equal(await answerOf(first), '200')
  t.equal(await answerOf(second), '200')
  t.equal(time.pending, 0)
})

t.test('control plane, Large bodies: one that has waited for 30 s is refused, and can be repeated', async t => {
  const { client, time, put, fill } = await start(t)
  const stalled = await fill()
  const late = await put()
  await until(() => time.pending === 1)
  time.pass(29_999)
  t.equal(time.pending, 1)
  time.pass(1)
  const refusal = await late.read()
  t.equal(gist(refusal), '503 SERVICE_UNAVAILABLE null')
  t.equal(refusal?.headers['retry-after'], '1')
  stalled[3]?.destroy()
  t.equal(await answerOf(await put()), '200')
  t.equal(await small(client), '200')
})

t.test(
  'control plane, Large bodies: they are let in in their order, and those of closed connections are left out',
  async t => {
    const { time, put, announce, fill } = await start(t)
    const stalled = await fill([32, 32, 32, 30])
    // Without a body: the end of a connection comes after all that was sent.
    const large = await announce(32)
    await until(() => time.pending === 1)
    const gone = await announce(2)
    await until(() => time.pending === 2)
    const last = await put()
    await until(() => time.pending === 3)
    gone.destroy()
    await until(() => time.pending === 2)
    stalled[3]?.destroy()
    await until(() => time.pending === 1)
    large.destroy()
    t.equal(await answerOf(last), '200')
    // There is room for the last one, but not before the one that is gone.
    await fill([30])
    const another = await announce(32)
    await until(() => time.pending === 1)
    const small = await put()
    await until(() => time.pending === 2)
    another.destroy()
    await until(() => time.pending < 2)
    t.equal(time.pending, 0)
    t.equal(await answerOf(small), '200')
  },
)

t.test('control plane, Large bodies: an uploaded document waits as well', async t => {
  const { client, time, send, fill } = await start(t)
  const stalled = await fill()
  const headers = { ...MULTIPART, authorization: `Bearer ${client.token}`, 'x-region': 'EU' }
  const body = multipart({ content: `%PDF-${'x'.repeat(MIB)}` }).toString('latin1')
  const upload = await send(Buffer.from(request('POST /api/v1/bills/INV-2026-001/document', headers, body), 'latin1'))
  await until(() => time.pending === 1)
  stalled[0]?.destroy()
  t.equal(await answerOf(upload), '201')
})

t.test('control plane, Large bodies: sixteen jobs that restore a state of 5 MiB at once do not wait', async t => {
  const { time, stall } = await start(t)
  // Each is let in before the others have ended.
  for (let n = 0; n < 16; n++) await stall({ 'content-length': String(5 * MIB) })
  t.equal(time.pending, 0)
})

/** A server that counts the pieces of the bodies that it reads. */
async function counting(t: Test) {
  const count = { pieces: 0 }
  const started = await start(t, app =>
    app.addHook('preParsing', (_request, _reply, body, next) => {
      body.on('data', () => count.pieces++)
      next()
    }),
  )
  return { ...started, count }
}

t.test('control plane, Large bodies: a body in chunks of a byte is kept in few pieces', async t => {
  const { client, send, count } = await counting(t)
  count.pieces = 0
  const chunked = (line: string, headers: Record<string, string>, body: string) => {
    const head = request(line, { ...headersOf(client), ...headers, 'transfer-encoding': 'chunked' })
    const chunks = Array.from(body, byte => `1\r\n${byte}\r\n`)
    return send(Buffer.from(`${head}${chunks.join('')}0\r\n\r\n`, 'latin1'))
  }
  const bytes = 15_000
  t.equal(
    await answerOf(await chunked('POST /api/v1/bills', TYPE, JSON.stringify(bill()).padEnd(bytes))),
    '409 DUPLICATE_REFERENCE uniqueReferenceIdentifier',
  )
  t.ok(count.pieces < 10, `${count.pieces} pieces`)
  const content = `%PDF-${'x'.repeat(bytes)}`
  const upload = await chunked(
    'POST /api/v1/bills/INV-2026-001/document',
    MULTIPART,
    multipart({ content }).toString('latin1'),
  )
  t.match(await upload.read(), { status: 201, body: { size: content.length } })
})

t.test('control plane, Large bodies: a body in segments of a byte is kept in few pieces', async t => {
  const { client, send, count } = await counting(t)
  const waits = request('GET /_sandbox/events?client=acme&wait=60&after=1')
  for (const [before, bytes] of [
    ['', 1025],
    [waits, 300],
  ] as const) {
    const body = JSON.stringify(bill()).padEnd(bytes)
    const head = request('POST /api/v1/bills', { ...headersOf(client), ...TYPE, 'content-length': String(bytes) })
    const connection = await send(before + head)
    count.pieces = 0
    for (const byte of body) {
      connection.send(byte)
      await setImmediate()
    }
    if (before !== '') {
      await client.post('/api/v1/mandates', mandate())
      await connection.read()
    }
    t.equal(await answerOf(connection), '409 DUPLICATE_REFERENCE uniqueReferenceIdentifier')
    t.ok(count.pieces < 4, `${count.pieces} pieces of ${bytes}`)
  }
})

t.test('control plane, Large bodies: a body of very many tiny chunks closes its connection', async t => {
  const { client, send, fill } = await start(t)
  const head = (headers = {}) => request('POST /api/v1/bills', { ...TYPE, ...headers, 'transfer-encoding': 'chunked' })
  const tiny = ['1\r\n \r\n', 20_001] as const
  const read = async (begin: string, [chunk, count]: readonly [string, number]) =>
    (await (await send(`${begin}${chunk.repeat(count)}0\r\n\r\n`)).read())?.status
  t.equal(await read(head(headersOf(client)), ['1\r\n \r\n', 20_000]), 400)
  t.equal(await read(head(headersOf(client)), ['5\r\n     \r\n', 20_001]), 400)
  t.equal(await read(head(headersOf(client)), tiny), undefined)
  const waits = request('GET /_sandbox/events?client=acme&wait=60&after=99')
  t.equal(await read(waits + head(headersOf(client)), tiny), undefined, 'while it waits for an answer')
  const stalled = await fill()
  t.equal(await read(head(headersOf(client)), tiny), undefined, 'while it waits for room')
  for (const connection of stalled) connection.destroy()
})

t.test('control plane, Large bodies: what is refused unread is read on, and the connection goes on', async t => {
  const { send } = await start(t)
  const head = request('POST /api/v1/bills', { ...TYPE, 'transfer-encoding': 'chunked' })
  const chunk = `10000\r\n${' '.repeat(0x10000)}\r\n`
  const connection = await send(`${head}${chunk.repeat(10)}0\r\n\r\n${request(`GET ${LIVE}`)}`)
  t.equal(await answerOf(connection), '401 MISSING_TOKEN authorization')
  t.equal(await answerOf(connection), '200')
})
