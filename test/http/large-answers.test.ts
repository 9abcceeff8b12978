import { EventEmitter, once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { get } from 'node:http'
import type { Socket } from 'node:net'
import { connect as dial } from 'node:net'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setImmediate as nextRound } from 'node:timers/promises'
import type { FastifyReply } from 'fastify'
import fastify from 'fastify'
import type { Test } from 'tap'
import t from 'tap'
import { textPieces } from '../../src/http/json-pieces.js'
import { createLargeAnswers } from '../../src/http/large-answers.js'
import { createLargeReads } from '../../src/http/large-reads.js'
import { createTimers } from '../../src/http/timers.js'
import { clientOf } from '../../src/tenants/client-of.js'
import { withHeld } from '../held.js'
import type { Answer, Client } from '../helper.js'
import { bill, build, call, changedOften, collection, connect, mandate, NO_WAIT, newClient } from '../helper.js'
import { manualTime, until } from '../manual-time.js'
import { MULTIPART } from '../multipart.js'
import { closed, listen, open, request } from './raw.js'

// control plane, Large answers: They are sent in pieces, four at a time. A reader that takes nothing for 60 s is cut off.

const LOG = '/_sandbox/requests?client=acme'

/** A server with a log that no buffer of a connection takes as a whole. */
async function logged(t: Test) {
  const time = manualTime()
  const app = build(t, { timers: time.timers, requestLog: { bytes: 2 ** 26 } })
  const client = await connect(app)
  const body = JSON.stringify({ padding: 'x'.repeat(1_000_000) })
  for (let n = 0; n < 12; n++) await client.post('/api/v1/mandates', body)
  return { app, client, time, port: await listen(app) }
}

/** Sends a request of a large answer, and reads nothing. */
function ask(port: number, path = LOG): Socket {
  const socket = dial(port, '127.0.0.1').pause()
  socket.on('error', () => {})
  socket.write(`GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`)
  return socket
}

/** Reads a large answer. */
function read(port: number) {
  const seen = { begun: false, text: '' }
  const end = new Promise<typeof seen>((resolve, reject) => {
    const request = get({ port, path: LOG, agent: false }, (response: IncomingMessage) => {
      seen.begun = true
      response.setEncoding('utf8').on('data', text => {
        seen.text += text
      })
      response.on('end', () => resolve(seen)).on('error', reject)
    })
    request.on('error', reject)
  })
  return { seen, end }
}

const replyWith = (raw: EventEmitter, client?: string) =>
  ({ raw, request: { query: { client }, sandbox: {} } }) as unknown as FastifyReply

t.test('control plane, Large answers: a document that cannot be made leaves its place', async t => {
  const answers = createLargeAnswers(createTimers(), () => 'acme')
  const app = fastify()
  t.teardown(() => app.close())
  let isAway = true
  app.get('/', (_request, reply) =>
    answers.send(reply, async () => {
      if (isAway) throw new Error('The database is away.')
      return { data: [] }
    }),
  )
  for (let n = 1; n <= 5; n++) {
    t.equal((await app.inject('/')).statusCode, 500)
    t.equal(answers.inUse(), 0)
  }
  isAway = false
  t.same((await app.inject('/')).json(), { data: [] })
  await until(() => answers.inUse() === 0)
})

t.test('control plane, Large answers: the content of an answer to HEAD is not made', async t => {
  const answers = createLargeAnswers(createTimers(), () => 'acme')
  const app = fastify()
  t.teardown(() => app.close())
  let made = 0
  const document = {
    get data() {
      made++
      return []
    },
  }
  app.get('/', (_request, reply) => answers.send(reply, () => document))
  for (const [method, content, count] of [
    ['HEAD', '', 0],
    ['GET', '{"data":[]}', 1],
  ] as const) {
    const { statusCode, payload, headers } = await app.inject({ method, url: '/' })
    t.same([statusCode, payload, made], [200, content, count])
    t.match(headers['content-type'], 'application/json')
  }
  await until(() => answers.inUse() === 0)
})

t.test(
  'control plane, Large answers: four at a time, none for a reader that is gone, and all of it at the end',
  async t => {
    const timers = createTimers()
    const answers = createLargeAnswers(timers, () => 'acme')
    let [made, cutOff] = [0, 0]
    const replyOf = (destroyed = false) =>
      ({
        ...replyWith(Object.assign(new EventEmitter(), { destroyed, destroy: () => void cutOff++ })),
        type() {},
      }) as unknown as FastifyReply
    const make = () => ({ n: ++made })
    const sent = Array.from({ length: 9 }, () => answers.send(replyOf(), make))
    const gone = answers.send(replyOf(true), make)
    gone.catch(() => {})
    for (const [at, next] of sent.entries()) {
      const stream = await next
      t.ok(made <= at + 4, `${made} are made before the end of the one after ${at}`)
      stream.read()
      await new Promise(resolve => setImmediate(resolve))
      // A server that closes ends all waits early.
      if (at === 8) timers.flush()
      await text(stream)
    }
    await t.rejects(gone, { code: 'SERVICE_UNAVAILABLE' })
    t.same([made, cutOff], [9, 0])
    await until(() => answers.inUse() === 0)
  },
)

t.test('control plane, GET /state: a large document is the same in pieces, and can be put back', async t => {
  const [client, copy] = [await newClient(), await newClient()]
  const collections = Array.from({ length: 2500 }, (_, n) =>
    collection({ collectionReference: `COL-${1000 + n}`, debtorName: n % 2 === 0 ? 'Zoë "[Z],{]' : '\\u2028\u2028' }),
  )
  await client.control('POST', '/seed', { records: { mandates: [mandate()], collections } })
  const read = (clientId: string) => client.app.inject(`/_sandbox/state?client=${clientId}`)
  const { payload, headers } = await read(client.clientId)
  t.ok(payload.length > 2 ** 20)
  t.equal(headers['content-length'], undefined)
  t.equal(headers['content-type'], 'application/json; charset=utf-8')
  t.equal(payload, JSON.stringify(JSON.parse(payload)), 'without indentation')
  const answer = await copy.control('PUT', '/state', payload)
  t.match(answer, { status: 200, body: { counts: { collections: 2500 } } })
  t.equal((await read(copy.clientId)).payload, payload)
})

/** Makes a large state of a client, by its kind of records. */
const large: Record<string, (client: Client) => Promise<Answer>> = {
  mandates(client) {
    const mandates = Array.from({ length: 2000 }, (_, n) => mandate({ mandateReference: `MND-${n}` }))
    return client.control('POST', '/seed', { records: { mandates } })
  },
  // The document is large, and its values are small.
  bills: client => changedOften(client, 10_001),
}

for (const [kind, make] of Object.entries(large)) {
  t.test(`control plane, GET /state: ${kind}: what is saved can be loaded below its size as the limit`, async t => {
    const client = await connect(build(t))
    t.match(await make(client), { status: 200 })
    const { payload } = await client.app.inject('/_sandbox/state?client=acme')
    t.ok(payload.length > 2 ** 20)
    const page = await client.app.inject('/_sandbox/console/state.json?client=acme')
    t.equal(page.payload, payload, 'that of the console')

    const { app } = await connect(build(t, { stateBytes: Buffer.byteLength(payload) }), 'copy')
    t.match(await call(app, 'PUT', '/_sandbox/state?client=copy', { body: payload }), { status: 200 })
    t.equal((await app.inject('/_sandbox/state?client=copy')).payload, payload)
  })
}

t.test(
  'control plane, Large answers: three at a time for a client, and a reader that takes nothing for 60 s is cut off',
  async t => {
    const { client, time, port } = await logged(t)
    const idle = Array.from({ length: 3 }, () => ask(port))
    await until(() => time.pending === 3)
    time.pass(1)
    const next = read(port)
    await until(() => time.pending === 4)
    t.equal((await client.control('GET', '/clock')).status, 200, 'other calls go on')
    t.equal(next.seen.begun, false)
    time.pass(59_998)
    t.notOk(idle.some(({ destroyed }) => destroyed))
    time.pass(1)
    await Promise.all(idle.map(socket => closed(socket.resume())))
    const { text } = await next.end
    t.equal(JSON.parse(text).data.length, 13)
  },
)

for (const path of [LOG, '/_sandbox/console/requests.har?client=acme']) {
  t.test(`control plane, Large answers: a reader of ${path} that has hung up leaves its place`, async t => {
    const { time, port } = await logged(t)
    // A place that is not left would be missing in the second round.
    for (let round = 0; round < 2; round++) {
      const idle = Array.from({ length: 4 }, () => ask(port, path))
      await until(() => time.pending === 4)
      const waiting = Array.from({ length: 4 }, () => ask(port, path))
      await until(() => time.pending === 8)
      for (const socket of waiting) socket.resetAndDestroy()
      await until(() => time.pending === 4)
      const next = read(port)
      for (const socket of idle) socket.resetAndDestroy()
      t.equal(JSON.parse((await next.end).text).data.length, 13)
      await until(() => time.pending === 0)
    }
  })
}

t.test(
  'control plane, Large answers: 100 readers of a client wait, for at most 60 s, and leave a place to others',
  async t => {
    const time = manualTime()
    const answers = createLargeAnswers(time.timers, clientOf)
    const send = (client: string) => {
      const raw = Object.assign(new EventEmitter(), { destroyed: false, destroy() {} })
      return answers.send({ ...replyWith(raw, client), type() {} } as unknown as FastifyReply, () => ({}))
    }
    const busy = { code: 'SERVICE_UNAVAILABLE', headers: { 'retry-after': '1' } }
    const streams = await Promise.all(Array.from({ length: 3 }, () => send('acme')))
    const [first, ...others] = Array.from({ length: 100 }, () => send('acme'))
    await t.rejects(send('acme'), busy)
    streams.push(await send('globex'))
    time.pass(59_999)
    streams[0]?.destroy()
    const [begun] = await Promise.all([first, once(streams[0] as Readable, 'close')])
    const refused = Promise.all(others.map(other => t.rejects(other, busy)))
    time.pass(1)
    await refused
    for (const stream of [...streams, begun]) stream?.destroy()
    await until(() => answers.inUse() === 0)
    t.equal(time.pending, 0)
  },
)

t.test('control plane, Large answers: no character is cut', async t => {
  t.same([...textPieces('ab😀😀c', 3)], ['ab', '😀', '😀c'])
})

t.test('control plane, Large answers: a short log whose answer is long is sent in pieces, too', async t => {
  const app = build(t)
  const client = await connect(app)
  const body = `{"numbers":[${Array(9000).fill('1e20')}]}`
  for (let n = 0; n < 6; n++) await client.post('/api/v1/mandates', body)
  t.ok(6 * body.length < 2 ** 20)
  for (const path of [LOG, `${LOG}&format=har`]) {
    const { payload, headers } = await app.inject(path)
    t.ok(payload.length > 2 ** 20, path)
    t.equal(headers['content-length'], undefined, path)
    t.not((await app.inject(`${path}&limit=2`)).headers['content-length'], undefined, 'a short answer is whole')
  }
})

t.test('control plane, Large answers: made ones keep no place', async t => {
  const { enter, inUse } = createLargeReads({ later: NO_WAIT.later, ownerOf: clientOf }, 2, 'Too many are read')
  const answer = Object.assign(new EventEmitter(), { destroyed: false })
  await enter(replyWith(answer))
  t.equal(inUse(), 1)
  answer.emit('prefinish')
  await nextRound()
  t.equal(inUse(), 0)

  const gone = new EventEmitter()
  await enter(replyWith(gone))
  gone.emit('close')
  await nextRound()
  t.equal(inUse(), 0)
})

t.test('control plane, Large answers: pages, short logs and OpenAPI documents are made four at a time', async t => {
  // Time stands still: all begin in one round.
  const { built: app, held } = withHeld(() => build(t, { timers: manualTime().timers }))
  const paths = [
    ...['/_sandbox/console', '/_sandbox/console/requests', '/_sandbox/requests', '/_sandbox/openapi.json'],
    ...['/docs/listBills', '/docs/payments-service.json', '/openapi.yaml', '/_sandbox/requests?limit=1'],
    ...['/docs/guide', '/docs/guide/errors', '/docs/scalar.js'],
  ]
  for (const path of paths) {
    const answers = Promise.all(Array.from({ length: 6 }, () => app.inject(path)))
    await until(() => held().largeReads === 6)
    for (const { statusCode } of await answers) t.ok(statusCode < 400, path)
    await until(() => held().largeReads === 0)
  }
})

t.test('control plane, Large answers: a form whose body does not end keeps no place', async t => {
  const { built: app, held } = withHeld(() => build(t, { timers: manualTime().timers }))
  const port = await listen(app)
  for (let count = 0; count < 6; count++) {
    const connection = await open(port)
    t.teardown(() => connection.destroy())
    const expected = { expect: '100-continue', 'content-length': '1000' }
    connection.send(request('POST /_sandbox/console/command', { ...MULTIPART, ...expected }))
    t.equal((await connection.read())?.status, 100)
  }
  for (let round = 0; round < 10; round++) await nextRound()
  t.equal(held().largeReads, 0)
})

t.test('control plane, Large answers: a few records above 1 MiB are large, too', async t => {
  const client = await connect(build(t))
  const document = (n: number) => ({
    ...{ documentId: `doc_${n}`, fileName: 'x'.repeat(255), contentType: 'application/pdf', size: 1 },
    ...{ sha256: '0'.repeat(64), uploadedAt: '2026-11-02T09:00:00Z' },
  })
  const bills = (count: number) =>
    Array.from({ length: count }, (_, n) =>
      bill({ uniqueReferenceIdentifier: `INV-${n}`, documents: Array.from({ length: 100 }, (_, n) => document(n)) }),
    )
  const read = (path: string) => client.app.inject(`/_sandbox/${path}?client=acme`)
  for (const [count, isLarge] of [
    [10, false],
    [40, true],
  ] as const) {
    await client.control('POST', '/reset')
    for (let at = 0; at < count; at += 10) {
      await client.control('POST', '/seed', { records: { bills: bills(count).slice(at, at + 10) } })
    }
    const state = await read('state')
    t.equal(state.headers['content-length'] === undefined, isLarge, `${count} bills`)
    t.equal(state.json().bills.length, count)
    t.equal((await client.control('PUT', '/state', state.json())).status, 200)
  }
})
