import { once } from 'node:events'
import { get as httpGet } from 'node:http'
import { connect as dial } from 'node:net'
import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { createTimers, type Timers } from '../../src/http/timers.js'
import type { Effect, FaultRequest } from '../../src/sandbox/faults/state.js'
import type { BuildOptions, Client } from '../helper.js'
import { build, connect, mandate, payoutLink } from '../helper.js'
import { until } from '../manual-time.js'
import { closed, headersOf, listen, open, request, stillServes } from './raw.js'

// -------------------------------------------------------------------------------------------------------------- tools

interface Wait {
  readonly ms: number
  /** Lets the time pass. */
  end(): void
}

/** Waits that last until the test ends them. A server that closes ends them all, as the real ones do. */
function manualTimers() {
  const waiting = new Map<Wait, () => void>()
  const begun: Wait[] = []
  let isFlushed = false
  let wake = () => {}
  const timers: Timers = {
    elapsed: () => 0,
    later(ms, work) {
      const wait: Wait = {
        ms,
        end: () => waiting.delete(wait) && work(),
      }
      waiting.set(wait, work)
      begun.push(wait)
      wake()
      if (isFlushed) setImmediate(wait.end)
      return () => void waiting.delete(wait)
    },
    flush() {
      isFlushed = true
      for (const wait of [...waiting.keys()]) wait.end()
    },
  }
  let read = 0
  return {
    timers,
    /** The next wait that begins. */
    async next(): Promise<Wait> {
      while (begun.length === read) {
        await new Promise<void>(resolve => {
          wake = resolve
        })
      }
      return begun[read++] as Wait
    },
    /** How many have neither ended nor been cancelled. */
    pending: () => waiting.size,
    /** How many have begun so far. */
    count: () => begun.length,
  }
}

/** A server that listens, with a client of it that has a mandate. */
async function serve(t: Test, options: BuildOptions = {}) {
  const app = build(t, options)
  const client = await connect(app)
  await client.post('/api/v1/mandates', mandate({ mandateReference: 'MND-KEPT' }))
  const port = await listen(app)
  return { app, client, port }
}

/** Arms a fault for the client. */
async function arm(client: Client, effect: Effect, more: Omit<FaultRequest, 'effect'> = {}) {
  const answer = await client.control('POST', '/faults', { ...more, effect })
  if (answer.status !== 201) throw new Error(answer.body.message)
}

const read = (client: Client, line = 'GET /api/v1/mandates/MND-KEPT', headers: Record<string, string> = {}) =>
  request(line, { ...headersOf(client), ...headers })

const post = (client: Client, path: string, body: object, method = 'POST') =>
  request(`${method} ${path}`, headersOf(client), JSON.stringify(body))

const create = (client: Client, mandateReference = 'MND-0001', more: Record<string, string> = {}) =>
  request('POST /api/v1/mandates', { ...headersOf(client), ...more }, JSON.stringify(mandate({ mandateReference })))

/** What a client sees of a connection on which it sends, until that is over. */
interface Seen {
  readonly text: string
  /** FIN: an orderly end. */
  readonly isEnded: boolean
  /** Such as ECONNRESET, for RST. */
  readonly error: string | undefined
}

/** Sends bytes and takes in all that comes. */
async function attempt(port: number, bytes: string): Promise<Seen> {
  const socket = dial(port, '127.0.0.1')
  const pieces: Buffer[] = []
  let isEnded = false
  let error: string | undefined
  socket.on('data', piece => pieces.push(piece))
  socket.on('end', () => {
    isEnded = true
  })
  socket.on('error', (thrown: NodeJS.ErrnoException) => {
    error = thrown.code
  })
  socket.write(bytes)
  await closed(socket)
  return { text: Buffer.concat(pieces).toString(), isEnded, error }
}

const FIN: Seen = { text: '', isEnded: true, error: undefined }
const RST: Seen = { text: '', isEnded: false, error: 'ECONNRESET' }

/** Head and content of a single answer. */
function parse(text: string) {
  const end = text.indexOf('\r\n\r\n')
  const [line = '', ...fields] = text.slice(0, end).split('\r\n')
  const headers = Object.fromEntries(fields.map(field => field.toLowerCase().split(': ') as [string, string]))
  return { status: Number(line.split(' ')[1]), headers, content: text.slice(end + 4) }
}

/** What the service knows of mandates beside the one from the start. */
const references = async (client: Client) =>
  (await client.get('/api/v1/mandates')).body.data
    .map(({ mandateReference }: { mandateReference: string }) => mandateReference)
    .filter((reference: string) => reference !== 'MND-KEPT')

// ------------------------------------------------------------------------------------------------------ drop and reset

for (const kind of ['drop', 'reset'] as const) {
  const cut = kind === 'drop' ? FIN : RST

  t.test(
    `control plane, POST /faults: ${kind}: no answer; only "after" means that the request was applied`,
    async t => {
      const { client, port } = await serve(t)
      await arm(client, { kind, when: 'before' })
      t.same(await attempt(port, create(client)), cut)
      t.same(await references(client), [])
      await arm(client, { kind, when: 'after' })
      t.same(await attempt(port, create(client)), cut)
      t.same(await references(client), ['MND-0001'])
      t.match((await client.control('GET', '/requests?path=/api/v1/mandates&method=POST&after=4')).body.data, [
        { status: null, responseHeaders: {}, responseBody: null, faults: [{ id: 'fault-2', kind, when: 'after' }] },
      ])
      t.equal((await client.post('/api/v1/mandates', mandate())).body.code, 'DUPLICATE_REFERENCE')
      await stillServes(t, port)
    },
  )

  t.test(`control plane, POST /faults: ${kind} works on reads, HEAD, 204, refusals and token requests`, async t => {
    const { client, port } = await serve(t)
    const [cancel] = await twoToCancel(client)
    const form = 'client_id=acme&client_secret=secret&grant_type=client_credentials'
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    await arm(client, { kind, when: 'after' }, { times: 5 })
    for (const bytes of [
      read(client),
      read(client, 'HEAD /api/v1/mandates/MND-KEPT'),
      read(client, 'GET /api/v1/mandates/MND-NONE'),
      post(client, cancel, { cancellationComment: 'no' }, 'PATCH'),
      request('POST /api/v1/oauth/token', type, form),
    ]) {
      t.same(await attempt(port, bytes), cut)
    }
  })
}

// ------------------------------------------------------------------------------------- truncate, garbage, an error

/** Returns the paths to cancel two payout links. */
async function twoToCancel(client: Client): Promise<[string, string]> {
  const link = async () => (await client.post('/api/v1/payout-links', payoutLink())).body.payoutLinkId
  return [`/api/v1/payout-links/${await link()}/cancel`, `/api/v1/payout-links/${await link()}/cancel`]
}

t.test('control plane, POST /faults: truncate: half of the bytes that the head announces, then the end', async t => {
  const { client, port } = await serve(t)
  await arm(client, { kind: 'truncate' })
  const name = 'Ünïcödé – 東京'
  const body = mandate({ debtor: { name, iban: 'DE89370400440532013000' } })
  const { text, isEnded } = await attempt(port, post(client, '/api/v1/mandates', body))
  const { status, headers, content } = parse(text)
  const stored = Buffer.from(JSON.stringify((await client.get('/api/v1/mandates/MND-0001')).body))
  t.same(
    [isEnded, status, headers['content-length'], content],
    [true, 201, String(stored.length), stored.subarray(0, stored.length >> 1).toString()],
  )
})

t.test('control plane, POST /faults: truncate of an answer without a body: the head, then the end', async t => {
  const { client, port } = await serve(t)
  const [cancel, another] = await twoToCancel(client)
  const head = read(client, 'HEAD /api/v1/mandates/MND-KEPT', { connection: 'close' })
  const empty = (path: string) => post(client, path, { cancellationComment: 'no' }, 'PATCH')
  const usual = parse((await attempt(port, head)).text)
  const connection = await open(port)
  connection.send(empty(another))
  const names = Object.keys((await connection.read())?.headers ?? {})
  connection.end()
  await arm(client, { kind: 'truncate' }, { times: 2 })
  const cut = parse((await attempt(port, head)).text)
  t.same([cut.status, cut.content, cut.headers['content-length']], [200, '', usual.headers['content-length']])
  const none = parse((await attempt(port, empty(cancel))).text)
  t.same([none.status, Object.keys(none.headers), none.content], [204, names, ''])
})

t.test('control plane, POST /faults: garbage is not HTTP, and the end; what was asked for is applied', async t => {
  const { client, port } = await serve(t)
  await arm(client, { kind: 'garbage' })
  const { text, isEnded, error } = await attempt(port, create(client))
  t.same([isEnded, error], [true, undefined])
  t.not(text, '')
  t.notMatch(text, /^HTTP/)
  t.same(await references(client), ['MND-0001'])
  await arm(client, { kind: 'garbage' })
  const [thrown] = await once(httpGet({ port, path: '/api/v1/mandates', headers: headersOf(client) }), 'error')
  t.match(thrown.code, /^HPE_/, "Node's parser refuses it")
})

t.test('control plane, POST /faults: stale-token is a whole answer, and the connection goes on', async t => {
  const { client, port } = await serve(t)
  await arm(client, { kind: 'stale-token' })
  const connection = await open(port)
  connection.send(create(client))
  const answer = await connection.read()
  t.same([answer?.status, answer?.body.code, answer?.body.field], [401, 'EXPIRED_TOKEN', 'authorization'])
  t.equal(answer?.headers['www-authenticate'], 'Bearer realm="payments-sandbox", error="invalid_token"')
  connection.send(create(client))
  t.equal((await connection.read())?.status, 201, 'nothing had been applied')
  connection.end()
})

// ------------------------------------------------------------------------------------------------------------ dribble

t.test('control plane, POST /faults: dribble: the body in pieces, so many milliseconds between them', async t => {
  const { timers, next, count } = manualTimers()
  const { client, port } = await serve(t, { timers })
  const whole = parse((await attempt(port, read(client, undefined, { connection: 'close' }))).text)
  await arm(client, { kind: 'dribble', ms: 250 })

  const socket = dial(port, '127.0.0.1')
  let received = ''
  socket.on('data', piece => {
    received += piece
  })
  /** Resolves when so much of the body is there; the test times out if it never is. */
  const arrived = async (length: number) => {
    while (received.indexOf('\r\n\r\n') < 0 || parse(received).content.length < length) await once(socket, 'data')
    return parse(received).content.length
  }
  socket.write(read(client))
  const size = Math.ceil(whole.content.length / 10)
  for (let piece = 1; piece < 10; piece++) {
    const wait = await next()
    t.equal(wait.ms, 250)
    t.equal(await arrived(piece * size), piece * size, `piece ${piece}, and no more`)
    wait.end()
  }
  await arrived(whole.content.length)
  t.equal(count(), 9, 'nothing is waited for behind the last piece')
  const { status, headers, content } = parse(received)
  t.same([status, content], [200, whole.content])
  t.equal(headers['content-length'], whole.headers['content-length'])

  received = ''
  socket.write(read(client))
  await arrived(whole.content.length)
  t.equal(parse(received).content, whole.content, 'and the connection goes on')
  socket.destroy()
})

t.test('control plane, POST /faults: dribble: nothing is waited for when the client has gone', async t => {
  const { timers, next, count } = manualTimers()
  const { client, port } = await serve(t, { timers })
  await arm(client, { kind: 'dribble', ms: 250 })
  const accepted = once(client.app.server, 'connection')
  const connection = await open(port)
  connection.send(read(client))
  const wait = await next()
  const [socket] = await accepted
  const gone = closed(socket)
  connection.destroy()
  await gone
  wait.end()
  t.equal(count(), 1)
})

// ------------------------------------------------------------------------------------------------------------- delays

t.test('control plane, POST /faults: delays are late, the effect is not, and last 300,000 ms at most', async t => {
  const { timers, next, count } = manualTimers()
  const { client, port } = await serve(t, { timers })
  const connection = await open(port)
  for (const [delays, ms] of [
    [[1500], 1500],
    [[299_999, 2], 300_000],
  ] as const) {
    for (const ms of delays) await arm(client, { kind: 'delay', ms })
    connection.send(create(client, `MND-${ms}`))
    const wait = await next()
    t.equal(wait.ms, ms)
    t.equal((await references(client))[0], `MND-${ms}`)
    wait.end()
    t.equal((await connection.read())?.status, 201)
  }
  t.equal(count(), 2)
  connection.end()
})

t.test('control plane, POST /faults: delays add up to one wait, and go with all that else happens', async t => {
  const cases: [effect: Effect, isApplied: boolean][] = [
    [{ kind: 'error', status: 500 }, false],
    [{ kind: 'drop', when: 'before' }, false],
    [{ kind: 'drop', when: 'after' }, true],
    [{ kind: 'reset', when: 'after' }, true],
    [{ kind: 'truncate' }, true],
    [{ kind: 'garbage' }, true],
    [{ kind: 'stale-token' }, false],
  ]
  const { timers, next, count } = manualTimers()
  const { client, port } = await serve(t, { timers })
  for (const [at, [effect, isApplied]] of cases.entries()) {
    const reference = `MND-000${at}`
    await arm(client, { kind: 'delay', ms: 100 })
    await arm(client, effect)
    await arm(client, { kind: 'delay', distribution: 'uniform', min: 30, max: 30 })
    const isWhole = ['error', 'stale-token'].includes(effect.kind)
    // A whole answer keeps the connection.
    const answer = attempt(port, create(client, reference, isWhole ? { connection: 'close' } : {}))
    const wait = await next()
    t.equal(wait.ms, 130, effect.kind)
    t.equal((await references(client)).includes(reference), isApplied, `${JSON.stringify(effect)} at once`)
    wait.end()
    const { text, isEnded, error } = await answer
    if (isWhole) t.equal(parse(text).status, effect.kind === 'error' ? 500 : 401)
    else t.same([isEnded, error], effect.kind === 'reset' ? [false, 'ECONNRESET'] : [true, undefined], effect.kind)
    if (effect.kind === 'drop') t.equal(text, '')
    t.equal(count(), at + 1)
  }
})

t.test('decisions §12: an answer is late for no reader that is gone, or has closed its side', async t => {
  const { timers, next, pending } = manualTimers()
  const { client, port } = await serve(t, { timers })
  for (const leave of ['end', 'reset'] as const) {
    for (const kind of ['delay', 'dribble'] as const) {
      await arm(client, { kind, ms: 300_000 } as Effect)
      const connection = await open(port)
      connection.send(read(client))
      await next()
      connection[leave]()
      const answer = await connection.read()
      t.equal(answer?.status, leave === 'end' ? 200 : undefined, `${kind}, ${leave}`)
      await until(() => pending() === 0)
    }
  }
})

// ------------------------------------------------------------------------------------------------------------ closing

t.test('control plane, POST /faults: a server that closes gives late answers at once, and ends', async t => {
  const { client, port, app } = await serve(t, { timers: createTimers() })
  await arm(client, { kind: 'delay', ms: 300_000 }, { times: 2, match: { method: 'POST' } })
  const connections = [await open(port), await open(port)]
  for (const [at, connection] of connections.entries()) connection.send(create(client, `MND-000${at}`))
  while ((await references(client)).length < 2) await new Promise(setImmediate)
  const closing = app.close()
  for (const connection of connections) {
    const answer = await connection.read()
    t.same([answer?.status, answer?.headers.connection], [201, 'close'])
    t.equal(await connection.read(), undefined, 'the server ends the connection')
  }
  await closing
})

t.test('control plane, POST /faults: a server that closes sends what dribbles at once, and ends', async t => {
  const { timers, next } = manualTimers()
  const { client, port, app } = await serve(t, { timers })
  // Otherwise, Node would end the connection some day.
  app.server.keepAliveTimeout = 0
  await arm(client, { kind: 'dribble', ms: 300_000 })
  const connection = await open(port)
  connection.send(read(client))
  await next()
  const closing = app.close()
  const answer = await connection.read()
  t.same([answer?.status, answer?.body.mandateReference], [200, 'MND-KEPT'])
  t.equal(await connection.read(), undefined, 'the server ends the connection')
  await closing
})

// ------------------------------------------------------------------------------------------------------------- timers

/** Real timers on a clock that stands still until it is moved. */
function onMockedClock(t: Test) {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const done: string[] = []
  return {
    timers: createTimers({ setTimeout, clearTimeout }),
    done,
    note: (what: string) => () => void done.push(what),
    pass: mock.timers.tick.bind(mock.timers),
  }
}

t.test('control plane, POST /faults: a wait does its work when it is over, not before, and once', async t => {
  const { timers, done, note, pass } = onMockedClock(t)
  timers.later(200, note('second'))
  timers.later(100, note('first'))
  pass(99)
  t.same(done, [])
  pass(1)
  t.same(done, ['first'])
  pass(1000)
  timers.flush()
  t.same(done, ['first', 'second'])
})

t.test('control plane, POST /faults: when the server closes, all waits are over, in their order', async t => {
  const { timers, done, note, pass } = onMockedClock(t)
  timers.later(300_000, note('first'))
  timers.later(100, note('second'))
  timers.flush()
  t.same(done, ['first', 'second'])
  timers.later(300_000, note('third'))
  pass(1)
  t.same(done, ['first', 'second', 'third'], 'a later wait is over at once')
  pass(1_000_000)
  t.equal(done.length, 3)
})

t.test('control plane, POST /faults: a client that keeps its half of a cut connection open is cut off', async t => {
  const { client, port } = await serve(t)
  for (const effect of [{ kind: 'drop', when: 'after' }, { kind: 'garbage' }, { kind: 'truncate' }] as Effect[]) {
    await arm(client, effect)
    const accepted = once(client.app.server, 'connection')
    const socket = dial({ port, host: '127.0.0.1', allowHalfOpen: true })
    socket.resume()
    socket.write(read(client))
    const [served] = await accepted
    await closed(served)
    socket.destroy()
  }
})
