import { once } from 'node:events'
import { get as httpGet } from 'node:http'
import { connect as dial } from 'node:net'
import { mock } from 'node:test'
import t, { type Test } from 'tap'
import type { Effect, FaultRequest } from '../../src/core/faults.js'
import { createTimers, type Timers } from '../../src/http/timers.js'
import type { BuildOptions, Client } from '../helper.js'
import { build, connect, mandate, payoutLink } from '../helper.js'
import { closed, listen, open, request, stillServes } from './raw.js'

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
  request(line, { authorization: `Bearer ${client.token}`, 'x-region': 'EU', ...headers })

function post(client: Client, path: string, body: object, method = 'POST') {
  const headers = {
    authorization: `Bearer ${client.token}`,
    'x-region': 'EU',
    'content-type': 'application/json',
  }
  return request(`${method} ${path}`, headers, JSON.stringify(body))
}

const create = (client: Client, reference = 'MND-0001') =>
  post(client, '/api/v1/mandates', mandate({ mandateReference: reference }))

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

const CUTS = ['drop', 'reset'] as const

// ------------------------------------------------------------------------------------------------------ drop and reset

for (const kind of CUTS) {
  const cut = kind === 'drop' ? FIN : RST

  t.test(`control plane, Faults: ${kind} before: no answer, and nothing was applied`, async t => {
    const { client, port } = await serve(t)
    await arm(client, { kind, when: 'before' })
    t.same(await attempt(port, create(client)), cut)
    t.same(await references(client), [])
    t.equal((await client.post('/api/v1/mandates', mandate())).status, 201, 'a retry is the first that works')
    t.same(await references(client), ['MND-0001'])
  })

  t.test(`control plane, Faults: ${kind} after: no answer, but it was applied`, async t => {
    const { client, port } = await serve(t)
    await arm(client, { kind, when: 'after' })
    t.same(await attempt(port, create(client)), cut)
    t.same(await references(client), ['MND-0001'])
    const retry = await client.post('/api/v1/mandates', mandate())
    t.same([retry.status, retry.body.code, retry.body.field], [409, 'DUPLICATE_REFERENCE', 'mandateReference'])
    t.same(await references(client), ['MND-0001'], 'there is exactly one record')
    const { body } = await client.control('GET', '/events?reference=MND-0001')
    t.equal(body.data.length, 1, 'which came into being once')
  })

  t.test(`control plane, Faults: ${kind} works on reads, on HEAD, on 204 and on refusals, too`, async t => {
    const { client, port } = await serve(t)
    const { payoutLinkId } = (await client.post('/api/v1/payout-links', payoutLink())).body
    const cancel = `/api/v1/payout-links/${payoutLinkId}/cancel`
    for (const when of ['before', 'after'] as const) {
      await arm(client, { kind, when }, { times: 4 })
      t.same(await attempt(port, read(client)), cut, `read ${when}`)
      t.same(await attempt(port, read(client, 'HEAD /api/v1/mandates/MND-KEPT')), cut, `HEAD ${when}`)
      t.same(await attempt(port, read(client, 'GET /api/v1/mandates/MND-NONE')), cut, `404 ${when}`)
      t.same(await attempt(port, post(client, cancel, { cancellationComment: 'no' }, 'PATCH')), cut, `204 ${when}`)
      const { record } = (await client.control('GET', `/payout-links/${payoutLinkId}`)).body
      t.equal(record.status, when === 'before' ? 'ACTIVE' : 'CANCELLED', when)
    }
  })

  t.test(`control plane, Faults: ${kind} works where tokens are issued`, async t => {
    const { client, port } = await serve(t)
    const form = 'client_id=acme&client_secret=secret&grant_type=client_credentials'
    const type = { 'content-type': 'application/x-www-form-urlencoded' }
    await arm(client, { kind, when: 'after' }, { match: { path: '/api/v1/oauth/token' } })
    t.same(await attempt(port, request('POST /api/v1/oauth/token', type, form)), cut)
    t.equal((await client.get('/api/v1/mandates')).status, 200, 'other operations have their answers')
  })

  t.test(`control plane, Faults: ${kind} cuts off a connection that has served before`, async t => {
    const { client, port } = await serve(t)
    const connection = await open(port)
    connection.send(read(client))
    t.equal((await connection.read())?.status, 200)
    await arm(client, { kind, when: 'before' })
    connection.send(read(client))
    t.equal(await connection.read(), undefined)
    await stillServes(t, port)
  })
}

t.test('control plane, Faults: a request that is cut off is logged without an answer, its fault with it', async t => {
  const { client, port } = await serve(t)
  await arm(client, { kind: 'drop', when: 'after' })
  await attempt(port, create(client))
  const [logged] = (await client.control('GET', '/requests?method=POST&path=/api/v1/mandates&after=2')).body.data
  t.match(logged, {
    status: null,
    responseHeaders: {},
    responseBody: null,
    faults: [{ id: 'fault-1', kind: 'drop', when: 'after' }],
  })
})

t.test('control plane, Faults: a request that is injected, without a connection, fails as well', async t => {
  const client = await connect(build(t))
  const cuts: Effect[] = [
    { kind: 'drop', when: 'before' },
    { kind: 'reset', when: 'after' },
    { kind: 'garbage' },
    { kind: 'truncate' },
  ]
  for (const effect of cuts) {
    await arm(client, effect)
    await t.rejects(client.get('/api/v1/mandates'), { code: 'LIGHT_ECONNRESET' }, effect.kind)
  }
  await arm(client, { kind: 'dribble', ms: 0 })
  t.equal((await client.get('/api/v1/mandates')).status, 200)
})

// ------------------------------------------------------------------------------------- truncate, garbage, an error

t.test('control plane, Faults: truncate: half of the body that the head announces, then the end', async t => {
  const { client, port } = await serve(t)
  const whole = parse((await attempt(port, read(client, undefined, { connection: 'close' }))).text)
  await arm(client, { kind: 'truncate' })
  const seen = await attempt(port, read(client))
  t.same([seen.isEnded, seen.error], [true, undefined])
  const half = parse(seen.text)
  t.equal(half.status, 200)
  t.equal(half.headers['content-type'], whole.headers['content-type'])
  t.equal(half.headers['content-length'], whole.headers['content-length'])
  t.equal(half.content, whole.content.slice(0, whole.content.length / 2))
})

t.test('control plane, Faults: truncate counts bytes; what it cuts was applied', async t => {
  const { client, port } = await serve(t)
  await arm(client, { kind: 'truncate' })
  const name = 'Ünïcödé – 東京'
  const body = mandate({ debtor: { name, iban: 'DE89370400440532013000' } })
  const { text } = await attempt(port, post(client, '/api/v1/mandates', body))
  const { status, headers, content } = parse(text)
  const stored = Buffer.from(JSON.stringify((await client.get('/api/v1/mandates/MND-0001')).body))
  t.equal(status, 201)
  t.equal(headers['content-length'], String(stored.length))
  t.equal(content, stored.subarray(0, stored.length >> 1).toString())
})

/** The names of the header fields that an answer to HEAD, and one without content, have when no fault fires. */
async function usualHeaders(client: Client, port: number, cancel: string) {
  const connection = await open(port)
  connection.send(read(client, 'HEAD /api/v1/mandates/MND-KEPT'))
  const head = Object.keys((await connection.read('HEAD'))?.headers ?? {})
  connection.send(post(client, cancel, { cancellationComment: 'no' }, 'PATCH'))
  const empty = Object.keys((await connection.read())?.headers ?? {})
  connection.end()
  return { head, empty }
}

/** The paths to cancel two payout links. */
async function twoToCancel(client: Client): Promise<[string, string]> {
  const link = async () => (await client.post('/api/v1/payout-links', payoutLink())).body.payoutLinkId
  return [`/api/v1/payout-links/${await link()}/cancel`, `/api/v1/payout-links/${await link()}/cancel`]
}

t.test('control plane, Faults: truncate of what has no body: the head, then the end', async t => {
  const { client, port } = await serve(t)
  const [cancel, another] = await twoToCancel(client)
  const usual = await usualHeaders(client, port, another)
  await arm(client, { kind: 'truncate' }, { times: 2 })
  const head = await attempt(port, read(client, 'HEAD /api/v1/mandates/MND-KEPT'))
  const { status, headers, content } = parse(head.text)
  t.same([status, Object.keys(headers), content, head.isEnded], [200, usual.head, '', true])
  const empty = await attempt(port, post(client, cancel, { cancellationComment: 'no' }, 'PATCH'))
  const none = parse(empty.text)
  t.same([none.status, Object.keys(none.headers), none.content, empty.isEnded], [204, usual.empty, '', true])
})

t.test('control plane, Faults: garbage is not HTTP, and the end; what was asked for is applied', async t => {
  const { client, port } = await serve(t)
  await arm(client, { kind: 'garbage' })
  const { text, isEnded, error } = await attempt(port, create(client))
  t.same([isEnded, error], [true, undefined])
  t.not(text, '')
  t.notMatch(text, /^HTTP/)
  t.same(await references(client), ['MND-0001'])

  await arm(client, { kind: 'garbage' })
  const answer = httpGet({
    port,
    path: '/api/v1/mandates',
    headers: { authorization: `Bearer ${client.token}`, 'x-region': 'EU' },
  })
  const [thrown] = await once(answer, 'error')
  t.match(thrown.code, /^HPE_/, "Node's parser refuses it")
})

t.test('control plane, Faults: an error is a whole answer, and the connection goes on', async t => {
  const { client, port } = await serve(t)
  await arm(client, { kind: 'error', status: 503, retryAfter: 7, headers: { 'X-Rate': 'none left' } }, { times: 2 })
  const connection = await open(port)
  connection.send(create(client))
  const answer = await connection.read()
  t.same([answer?.status, answer?.body.code, answer?.body.field], [503, 'SERVICE_UNAVAILABLE', null])
  t.match(answer?.headers, { 'retry-after': '7', 'x-rate': 'none left' })
  connection.send(read(client, 'HEAD /api/v1/mandates'))
  const head = await connection.read('HEAD')
  t.same([head?.status, head?.text], [503, ''])
  connection.send(create(client))
  t.equal((await connection.read())?.status, 201, 'nothing had been applied')
  connection.end()
})

t.test('control plane, Faults: stale-token is a whole answer, and the connection goes on', async t => {
  const { client, port } = await serve(t)
  await arm(client, { kind: 'stale-token' })
  const connection = await open(port)
  connection.send(create(client) + create(client))
  const answer = await connection.read()
  t.same([answer?.status, answer?.body.code, answer?.body.field], [401, 'EXPIRED_TOKEN', 'authorization'])
  t.equal(answer?.headers['www-authenticate'], 'Bearer realm="payments-sandbox", error="invalid_token"')
  t.equal((await connection.read())?.status, 201, 'nothing had been applied')
  connection.end()
})

// ------------------------------------------------------------------------------------------------------------ dribble

t.test('control plane, Faults: dribble: the body in pieces, so many milliseconds between them', async t => {
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

t.test('control plane, Faults: dribble of what has no body: its head, and no wait', async t => {
  const { timers, count } = manualTimers()
  const { client, port } = await serve(t, { timers })
  const [cancel, another] = await twoToCancel(client)
  const usual = await usualHeaders(client, port, another)
  await arm(client, { kind: 'dribble', ms: 250 }, { times: 2 })
  const connection = await open(port)
  connection.send(read(client, 'HEAD /api/v1/mandates/MND-KEPT'))
  const head = await connection.read('HEAD')
  t.same([head?.status, Object.keys(head?.headers ?? {}), head?.text], [200, usual.head, ''])
  connection.send(post(client, cancel, { cancellationComment: 'no' }, 'PATCH'))
  const empty = await connection.read()
  t.same([empty?.status, Object.keys(empty?.headers ?? {}), empty?.text], [204, usual.empty, ''])
  connection.send(read(client))
  t.equal((await connection.read())?.status, 200, 'the connection goes on')
  t.equal(count(), 0)
  connection.end()
})

t.test('control plane, Faults: a client that hangs up while its answer dribbles harms nobody', async t => {
  const { timers, next, count } = manualTimers()
  const { client, port } = await serve(t, { timers })
  await arm(client, { kind: 'dribble', ms: 250 })
  const connection = await open(port)
  const hungUp = hangUp(client)
  connection.send(read(client))
  const wait = await next()
  connection.reset()
  await hungUp
  wait.end()
  t.equal(count(), 1, 'no further piece is waited for')
  await stillServes(t, port)
})

/** Resolves when the server has noticed that the next connection with a request is gone. */
const hangUp = ({ app }: Client) =>
  new Promise<void>(resolve => {
    app.server.once('request', ({ socket }) => socket.once('close', () => resolve()))
  })

// ------------------------------------------------------------------------------------------------------------- delays

t.test(
  'control plane, Faults: delay: the answer is late by so much; what was asked for is applied at once',
  async t => {
    const { timers, next, count } = manualTimers()
    const { client, port } = await serve(t, { timers })
    await arm(client, { kind: 'delay', ms: 1500 })
    const connection = await open(port)
    connection.send(create(client))
    const wait = await next()
    t.equal(wait.ms, 1500)
    t.same(await references(client), ['MND-0001'])
    wait.end()
    t.equal((await connection.read())?.status, 201)
    t.equal(count(), 1)
    connection.end()
  },
)

t.test('control plane, Faults: delays add up to one wait, and go with all that else happens', async t => {
  const effects: Effect[] = [
    { kind: 'error', status: 500 },
    { kind: 'drop', when: 'before' },
    { kind: 'drop', when: 'after' },
    { kind: 'reset', when: 'after' },
    { kind: 'truncate' },
    { kind: 'garbage' },
    { kind: 'stale-token' },
  ]
  for (const effect of effects) {
    const { timers, next, count } = manualTimers()
    const { client, port } = await serve(t, { timers })
    await arm(client, { kind: 'delay', ms: 100 })
    await arm(client, effect)
    await arm(client, { kind: 'delay', ms: { distribution: 'uniform', min: 30, max: 30 } })
    const answer = attempt(port, create(client))
    const wait = await next()
    t.equal(wait.ms, 130, effect.kind)
    const isApplied = !['error', 'stale-token'].includes(effect.kind) && !('when' in effect && effect.when === 'before')
    t.equal((await references(client)).length, isApplied ? 1 : 0, `${JSON.stringify(effect)} at once`)
    wait.end()
    if (effect.kind === 'error' || effect.kind === 'stale-token') {
      // A whole answer keeps the connection: the server ends it when it closes.
      await client.app.close()
      t.equal(parse((await answer).text).status, effect.kind === 'error' ? 500 : 401)
    } else {
      const { text, isEnded, error } = await answer
      t.same([isEnded, error], effect.kind === 'reset' ? [false, 'ECONNRESET'] : [true, undefined], effect.kind)
      if (effect.kind === 'drop') t.equal(text, '')
    }
    t.equal(count(), 1)
  }
})

t.test('control plane, Faults: a delay of nothing waits for nothing', async t => {
  const { timers, count } = manualTimers()
  const { client } = await serve(t, { timers })
  await arm(client, { kind: 'delay', ms: 0 })
  t.equal((await client.get('/api/v1/mandates')).status, 200)
  t.equal(count(), 0)
  t.equal((await client.control('GET', '/faults')).body.data[0].fired, 1)
})

t.test('control plane, Faults: a late answer holds up nobody else', async t => {
  const { timers, next } = manualTimers()
  const { client, port } = await serve(t, { timers })
  await arm(client, { kind: 'delay', ms: 60_000 })
  const slow = await open(port)
  slow.send(read(client))
  const wait = await next()
  const quick = await open(port)
  quick.send(read(client))
  t.equal((await quick.read())?.status, 200)
  wait.end()
  t.equal((await slow.read())?.status, 200)
  slow.end()
  quick.end()
})

t.test('control plane, Faults: a client that hangs up while its answer is late harms nobody', async t => {
  const effects: (Effect | null)[] = [
    null,
    { kind: 'error', status: 500 },
    { kind: 'drop', when: 'after' },
    { kind: 'reset', when: 'after' },
    { kind: 'truncate' },
    { kind: 'garbage' },
    { kind: 'dribble', ms: 5 },
    { kind: 'stale-token' },
  ]
  const { timers, next, count } = manualTimers()
  const { client, port } = await serve(t, { timers })
  for (const leave of ['end', 'destroy', 'reset'] as const) {
    for (const [at, effect] of effects.entries()) {
      await arm(client, { kind: 'delay', ms: 100 })
      if (effect !== null) await arm(client, effect)
      const connection = await open(port)
      const hungUp = hangUp(client)
      connection.send(create(client, `MND-${leave}-${at}`))
      const wait = await next()
      connection[leave]()
      await hungUp
      wait.end()
      const before = count()
      await stillServes(t, port)
      t.equal(count(), before, `${effect?.kind} after ${leave}`)
      await client.control('DELETE', '/faults')
    }
  }
  const applied = effects.filter(effect => effect?.kind !== 'error' && effect?.kind !== 'stale-token').length
  t.equal((await references(client)).length, 3 * applied, 'what had come in whole was applied')
})

// -------------------------------------------------------------------------------------------- pipelines, keep-alive

t.test('control plane, Faults: a cut waits until what was asked for earlier on the connection is answered', async t => {
  for (const kind of [...CUTS, 'garbage', 'truncate'] as const) {
    const { timers, next } = manualTimers()
    const { client, port } = await serve(t, { timers })
    await arm(client, { kind: 'delay', ms: 100 }, { match: { method: 'GET' } })
    await arm(client, kind === 'drop' || kind === 'reset' ? { kind, when: 'after' } : { kind }, {
      match: { method: 'POST' },
    })
    const connection = await open(port)
    connection.send(read(client) + create(client))
    const wait = await next()
    await until(async () => (await references(client)).length === 1)
    wait.end()
    const first = await connection.read()
    t.same([first?.status, first?.body.mandateReference], [200, 'MND-KEPT'], kind)
    // Garbage has no status that could be read.
    t.notOk((await connection.read())?.status, `${kind}: no second answer`)
  }
})

t.test('control plane, Faults: a dribble waits until what was asked for earlier is answered', async t => {
  const { timers, next, count } = manualTimers()
  const { client, port } = await serve(t, { timers })
  await arm(client, { kind: 'delay', ms: 100 }, { match: { method: 'GET' } })
  await arm(client, { kind: 'dribble', ms: 5 }, { match: { method: 'POST' } })
  const connection = await open(port)
  connection.send(read(client) + create(client))
  const wait = await next()
  await until(async () => (await references(client)).length === 1)
  t.equal(count(), 1, 'the second has been applied, but does not dribble yet')
  wait.end()
  t.equal((await connection.read())?.body.mandateReference, 'MND-KEPT')
  for (let piece = 1; piece < 10; piece++) (await next()).end()
  const second = await connection.read()
  t.same([second?.status, second?.body.mandateReference], [201, 'MND-0001'])
  connection.end()
})

t.test('control plane, Faults: a late answer in a pipeline keeps its place', async t => {
  const { timers, next } = manualTimers()
  const { client, port } = await serve(t, { timers })
  await arm(client, { kind: 'delay', ms: 300 })
  const connection = await open(port)
  connection.send(create(client, 'MND-0001') + create(client, 'MND-0002') + create(client, 'MND-0003'))
  const first = await next()
  t.equal(first.ms, 300)
  await until(async () => (await references(client)).length === 3)
  first.end()
  for (const reference of ['MND-0001', 'MND-0002', 'MND-0003']) {
    t.equal((await connection.read())?.body.mandateReference, reference)
  }
  connection.end()
})

t.test('control plane, Faults: behind a cut, no more answers come on the connection', async t => {
  for (const kind of CUTS) {
    const { client, port } = await serve(t)
    await arm(client, { kind, when: 'before' })
    const seen = await attempt(port, create(client, 'MND-0001') + create(client, 'MND-0002'))
    t.equal(seen.text, '', kind)
    t.notOk((await references(client)).includes('MND-0001'))
    await stillServes(t, port)
  }
})

t.test('control plane, Faults: a client that hangs up before a cut has its turn harms nobody', async t => {
  const { timers, next } = manualTimers()
  const { client, port } = await serve(t, { timers })
  await arm(client, { kind: 'delay', ms: 100 }, { match: { method: 'GET' } })
  await arm(client, { kind: 'reset', when: 'after' }, { match: { method: 'POST' } })
  const connection = await open(port)
  const hungUp = hangUp(client)
  connection.send(read(client) + create(client))
  const wait = await next()
  await until(async () => (await references(client)).length === 1)
  connection.destroy()
  await hungUp
  wait.end()
  await stillServes(t, port)
})

// ------------------------------------------------------------------------------------------------------------ closing

t.test('control plane, Settings: a server that closes gives late answers at once, and ends', async t => {
  const { client, port, app } = await serve(t, { timers: createTimers() })
  await arm(client, { kind: 'delay', ms: 300_000 }, { times: 2, match: { method: 'POST' } })
  const connections = [await open(port), await open(port)]
  for (const [at, connection] of connections.entries()) connection.send(create(client, `MND-000${at}`))
  await until(async () => (await references(client)).length === 2)
  const closing = app.close()
  for (const connection of connections) {
    const answer = await connection.read()
    t.same([answer?.status, answer?.headers.connection], [201, 'close'])
    t.equal(await connection.read(), undefined, 'the server ends the connection')
  }
  await closing
})

t.test('control plane, Settings: that holds for every fault that goes with a delay', async t => {
  for (const kind of ['drop', 'reset', 'garbage', 'truncate', 'dribble', 'stale-token', 'error'] as const) {
    const { client, port, app } = await serve(t, { timers: createTimers() })
    await arm(client, { kind: 'delay', ms: 300_000 })
    if (kind === 'drop' || kind === 'reset') await arm(client, { kind, when: 'after' })
    else if (kind === 'dribble') await arm(client, { kind, ms: 300_000 })
    else if (kind === 'error') await arm(client, { kind, status: 500 })
    else await arm(client, { kind })
    const answer = attempt(port, create(client))
    await until(async () => (await client.control('GET', '/faults')).body.data[0].fired === 1)
    await app.close()
    const { text, isEnded, error } = await answer
    t.same([isEnded, error], kind === 'reset' ? [false, 'ECONNRESET'] : [true, undefined], kind)
    if (kind === 'dribble') {
      const { headers, content } = parse(text)
      t.equal(headers['content-length'], String(content.length), 'whole')
    }
  }
})

t.test('control plane, Settings: a server that closes sends the rest of what dribbles at once, and ends', async t => {
  const { timers, next } = manualTimers()
  const { client, port, app } = await serve(t, { timers })
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

/** Asks again, one turn of the event loop later, until it is so. */
async function until(isSo: () => Promise<boolean>) {
  while (!(await isSo())) await new Promise(setImmediate)
}

// ------------------------------------------------------------------------------------------------------------- timers

/** Real timers on a clock that stands still until it is moved. */
function onMockedClock(t: Test) {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const done: string[] = []
  return {
    timers: createTimers(),
    done,
    note: (what: string) => () => void done.push(what),
    pass: mock.timers.tick.bind(mock.timers),
  }
}

t.test('control plane, Time: a wait does its work when it is over, not before, and once', async t => {
  const { timers, done, note, pass } = onMockedClock(t)
  timers.later(200, note('second'))
  timers.later(100, note('first'))
  pass(99)
  t.same(done, [])
  pass(1)
  t.same(done, ['first'])
  pass(1000)
  t.same(done, ['first', 'second'])
  timers.flush()
  t.same(done, ['first', 'second'])
})

t.test('control plane, Time: a wait that is called off does nothing, whenever that is', async t => {
  const { timers, done, note, pass } = onMockedClock(t)
  const cancel = timers.later(100, note('first'))
  const late = timers.later(50, note('second'))
  pass(50)
  cancel()
  late()
  pass(1000)
  timers.flush()
  t.same(done, ['second'])
})

t.test('control plane, Settings: when the server closes, all waits are over, in their order', async t => {
  const { timers, done, note, pass } = onMockedClock(t)
  timers.later(300_000, note('first'))
  timers.later(100, note('second'))
  timers.flush()
  t.same(done, ['first', 'second'])
  pass(1_000_000)
  t.same(done, ['first', 'second'])
})

t.test('control plane, Settings: what is waited for after that lasts no time', async t => {
  const { timers, done, note, pass } = onMockedClock(t)
  timers.flush()
  timers.later(300_000, note('late'))
  t.same(done, [], 'but it is not done within the call')
  pass(1)
  t.same(done, ['late'])
})

t.test('control plane, Settings: the work of one wait may call off the next, or ask for more', async t => {
  const { timers, done, note, pass } = onMockedClock(t)
  let cancel = () => {}
  timers.later(100, () => {
    cancel()
    timers.later(300_000, note('more'))
  })
  cancel = timers.later(100, note('called off'))
  timers.flush()
  t.same(done, [])
  pass(1)
  t.same(done, ['more'])
})
