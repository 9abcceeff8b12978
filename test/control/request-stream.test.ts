import { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import t, { type Test } from 'tap'
import { createEventWaiters } from '../../src/features/events/waiters.js'
import { createRequestReads } from '../../src/features/request-log/reads.js'
import type { LoggedExchange, RequestFilter, RequestLog } from '../../src/features/request-log/request-log.js'
import { streamRequests } from '../../src/features/request-log/stream.js'
import { openStream } from '../../src/features/stream.js'
import { createBacklog } from '../../src/http/event-stream.js'
import type { TenantRegistry } from '../../src/tenants/registry.js'
import { invalidQuery, table } from '../answers.js'
import { follow as followStream, type Sent } from '../event-stream.js'
import type { BuildOptions } from '../helper.js'
import { build, call, connect, mandate, newClient, pluck } from '../helper.js'
import { listen } from '../http/raw.js'
import { manualTime, until } from '../manual-time.js'
import { closesEarly } from '../nothing-left.js'

// control plane, GET /requests: with `Accept: text/event-stream`, the requests of the app as they come.

const MANDATES = '/api/v1/mandates'
const follow = (port: number, query = '', headers: Record<string, string> = {}) =>
  followStream(port, `/_sandbox/requests?client=acme${query}`, headers)

async function streaming(t: Test, options: BuildOptions = {}) {
  const time = manualTime()
  const app = build(t, { now: time.now, timers: time.timers, ...options })
  const port = await listen(app)
  return { app, time, port, client: await connect(app) }
}

const line = ({ id, event, data = '{}' }: Sent) => {
  const { method, path, status } = JSON.parse(data)
  return event === 'request' ? `${id} ${method} ${path} ${status}` : `${id} ${event}`
}

t.test('control plane, GET /requests: a stream has each request as the list has it, past and future', async t => {
  const { app, client, port } = await streaming(t)
  await client.post(MANDATES, mandate())
  const reader = await follow(port)
  t.match(reader.response.headers, { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' })
  t.same((await reader.next(2)).map(line), ['1 POST /api/v1/oauth/token 200', '2 POST /api/v1/mandates 201'])
  await client.post(MANDATES, mandate())
  const [sent] = await reader.next()
  t.equal(line(sent as Sent), '3 POST /api/v1/mandates 409')
  const { data } = (await call(app, 'GET', '/_sandbox/requests?client=acme&after=2')).body
  t.same(JSON.parse(sent?.data as string), data[0])
  t.notMatch(reader.text(), client.token, 'secrets are masked')
  reader.hangUp()
})

t.test('control plane, GET /requests: a stream takes the filters of the list', async t => {
  const { client, port } = await streaming(t)
  const filters = {
    'method=GET': ['5 GET /api/v1/mandates 200'],
    'path=*MND-9*': ['6 DELETE /api/v1/mandates/MND-9999 404'],
    'status=409': ['4 POST /api/v1/mandates 409'],
    'errors=true': ['4 POST /api/v1/mandates 409', '6 DELETE /api/v1/mandates/MND-9999 404'],
    'hints=true': ['3 POST /api/v1/mandates 201'],
    'errors=true&method=POST': ['4 POST /api/v1/mandates 409'],
    'hints=false&errors=false&after=5': ['6 DELETE /api/v1/mandates/MND-9999 404'],
    'limit=1&before=2&after=5': ['6 DELETE /api/v1/mandates/MND-9999 404'],
  }
  await client.get('/api/v1/accounts')
  const readers = await Promise.all(
    Object.keys(filters).map(query => follow(port, `&after=2&${query}`.replace(/&after=2(?=.*after)/, ''))),
  )
  await client.post(MANDATES, { ...mandate(), colour: 'red' })
  await client.post(MANDATES, mandate())
  await client.get(MANDATES)
  await client.send('DELETE', `${MANDATES}/MND-9999`)
  const seen: Record<string, string[]> = {}
  for (const [at, [query, expected]] of Object.entries(filters).entries()) {
    seen[query] = (await readers[at]?.next(expected.length))?.map(line) ?? []
    t.equal(readers[at]?.text().match(/^id:/gm)?.length, expected.length, query)
    readers[at]?.hangUp()
  }
  t.same(seen, filters)
})

t.test('control plane, GET /requests: a stream resumes after the last id', async t => {
  const { client, port } = await streaming(t)
  for (let at = 0; at < 3; at++) await client.get(MANDATES)
  const rows: [headers: Record<string, string>, query: string, first: string][] = [
    [{}, '', '1'],
    [{}, '&after=2', '3'],
    [{ 'last-event-id': '3' }, '', '4'],
    [{ 'last-event-id': '3' }, '&after=1', '4'],
    [{ 'last-event-id': '99' }, '&after=1', '1'],
    [{ 'last-event-id': 'x' }, '', '1'],
    [{ 'last-event-id': '' }, '&after=3', '4'],
  ]
  for (const [headers, query, first] of rows) {
    const reader = await follow(port, query, headers)
    t.equal((await reader.next())[0]?.id, first, JSON.stringify([headers, query]))
    reader.hangUp()
  }
})

t.test('control plane, POST /reset: a stream of requests tells of it, and begins with the new log', async t => {
  const { app, client, port } = await streaming(t)
  await client.get(MANDATES)
  const reader = await follow(port)
  await reader.next(2)
  await client.control('POST', '/reset')
  t.same(await reader.next(), [{ event: 'reset', id: '0', data: '{}' }])
  await connect(app)
  t.same((await reader.next()).map(line), ['1 POST /api/v1/oauth/token 200'])
  await call(app, 'DELETE', '/_sandbox/requests?client=acme')
  await connect(app)
  t.same((await reader.next()).map(line), ['2 POST /api/v1/oauth/token 200'], 'an emptied log goes on')
  reader.hangUp()
})

t.test('control plane, GET /requests: a stream is kept open, and ends with its client or the server', async t => {
  const { app, time, client, port } = await streaming(t)
  const reader = await follow(port)
  const another = await follow(port)
  await until(() => time.pending === 2)
  time.pass(15_000)
  await reader.sees(': still here')
  another.hangUp()
  await until(() => time.pending === 1)
  await call(app, 'DELETE', `/_sandbox/clients/${client.clientId}`)
  time.pass(0)
  await reader.end
  t.equal(time.pending, 0)
  const last = await followStream(port, '/_sandbox/requests')
  await last.sees('\n\n')
  closesEarly(app)
  await app.close()
  await last.end
})

t.test('control plane, GET /requests: a stream of an unknown client, and with a wrong filter, is refused', async t => {
  const { app, clientId } = await newClient()
  const headers = { accept: 'text/event-stream' }
  await table(t, query => call(app, 'GET', `/_sandbox/requests?client=${clientId}${query}`, { headers }), {
    '404 CLIENT_NOT_FOUND client': ['-nobody'],
    [invalidQuery('errors')]: ['&errors=yes'],
    [invalidQuery('status')]: ['&status=99'],
    [invalidQuery('colour')]: ['&colour=red'],
  })
})

t.test('control plane, GET /requests: readers share what they read at a time, and it is made once', async t => {
  const made = { pages: 0, bodies: 0 }
  const logged = (seq: number) =>
    Object.defineProperty({ seq }, 'body', { enumerable: true, get: () => `body ${++made.bodies}` })
  const list = () => {
    made.pages++
    return { data: [logged(1), logged(2)] as unknown as LoggedExchange[], last: 2, dropped: 0 }
  }
  const reads = createRequestReads({ list } as unknown as RequestLog, () => 0)
  const order: string[] = []
  const reader = (name: string, filter: object) =>
    reads.inTurn('acme', async () => {
      const { data } = await reads.read('acme', filter)
      for (const entry of data) order.push(`${name}: ${(await reads.messageOf(entry)).toString().trim()}`)
    })
  const message = (seq: number, body: number) =>
    `id: ${seq}\nevent: request\ndata: {"seq":${seq},"body":"body ${body}"}`

  await Promise.all([reader('a', {}), reader('b', {}), reader('c', { after: 0 }), reader('d', {})])
  t.same(made, { pages: 2, bodies: 4 }, 'once for each filter')
  t.same(order, [
    ...['a', 'b'].flatMap(name => [`${name}: ${message(1, 1)}`, `${name}: ${message(2, 2)}`]),
    ...[`c: ${message(1, 3)}`, `c: ${message(2, 4)}`, `d: ${message(1, 1)}`, `d: ${message(2, 2)}`],
  ])
  await reader('a', {})
  t.equal(made.pages, 3, 'nothing is kept after the last reader')
  made.pages = 0
  const many = Array.from({ length: 30 }, (_, after) => reader('many', { after }))
  await Promise.all([...many, reader('first', { after: 0 })])
  t.equal(made.pages, 31, 'and only some pages are kept at a time')
})

t.test('control plane, GET /requests: of readers that take nothing, the longest waiting is closed', async t => {
  const backlog = createBacklog()
  const closed: string[] = []
  const stream = (name: string, mebibytes: number) => ({
    writableNeedDrain: mebibytes > 0,
    writableLength: mebibytes * 1024 * 1024,
    destroy: () => closed.push(name),
  })
  const add = (raw: object) => backlog.add(raw as ServerResponse)
  const [a, b] = [stream('a', 10), stream('b', 20)]
  for (const raw of [a, b, stream('reads all', 0), b]) add(raw)
  t.same(closed, [])
  backlog.remove(a as unknown as ServerResponse)
  for (const raw of [stream('c', 10), stream('d', 2)]) add(raw)
  t.same(closed, [], '32 MiB')
  add(stream('e', 1))
  t.same(closed, ['b'])
  add(stream('f', 33))
  t.same(closed, ['b', 'c', 'd', 'e', 'f'])
})

t.test('control plane, POST /reset: a stream tells of it, also if the new log is longer already', async t => {
  const { app, client, port } = await streaming(t)
  const reader = await follow(port)
  await reader.next()
  await Promise.all([
    client.control('POST', '/reset').then(() => Promise.all(Array.from({ length: 5 }, () => connect(app)))),
    ...Array.from({ length: 20 }, () => call(app, 'GET', '/_sandbox/health/live')),
  ])
  t.match(await reader.next(), [{ event: 'reset' }])
  t.same(pluck(await reader.next(5), 'id'), ['1', '2', '3', '4', '5'])
  reader.hangUp()
})

/** Streams of a log that a test changes, and holds up while it is read. */
function manualStreams() {
  const time = manualTime()
  const waiters = createEventWaiters(time.timers)
  const backlog = createBacklog()
  const log = { life: {}, first: 1, last: 0, held: Promise.resolve(), isInMemory: true }
  const looked: number[] = []
  const requestLog = {
    async list(_client: string, { after = 0, before = Infinity }: RequestFilter) {
      const { life, first, last } = log
      const kept = Array.from({ length: last - first + 1 }, (_, at) => ({ seq: first + at }))
      const data = kept.filter(({ seq }) => seq > after && seq < before)
      const page = { life, first, last, dropped: first - 1, data }
      if (last >= first && before < Infinity) looked.push(data.length)
      await log.held
      return page
    },
  } as unknown as RequestLog
  const context = {
    ...{ requestLog, requestReads: createRequestReads(requestLog, time.now), requestWaiters: waiters, backlog },
    registry: { has: () => log.isInMemory } as unknown as TenantRegistry,
    refresh(_client: string, done: () => void) {
      log.isInMemory = true
      done()
    },
    ...{ elapsed: time.now, isClosing: () => false },
  }
  return {
    log,
    /** The numbers of requests that were read at a time. */
    looked,
    backlog,
    /** Wakes the streams, and lets them read. */
    async news() {
      waiters.wake('acme')
      time.pass(0)
      for (let turn = 0; turn < 30; turn++) await new Promise(resolve => setImmediate(resolve))
    },
    /** Opens a stream whose reader takes so many events. */
    async open(takes = Infinity) {
      const seen: string[] = []
      const reader = { takes, seen, socket: new EventEmitter(), raw: new EventEmitter() }
      const write = (text: string | Buffer) => {
        const [, id] = /^id: (\d+)/.exec(text.toString()) ?? []
        if (id !== undefined) seen.push(id)
      }
      Object.defineProperty(reader.raw, 'writableNeedDrain', { get: () => seen.length >= reader.takes })
      Object.assign(reader.raw, { writableLength: 1, writeHead() {}, write })
      const request = { headers: {}, raw: { socket: reader.socket } } as unknown as FastifyRequest
      const reply = { raw: reader.raw, getHeaders: () => ({}), hijack() {} } as unknown as FastifyReply
      await streamRequests('acme', {}, { request, reply }, context)
      return reader
    },
  }
}

t.test('control plane, GET /requests: requests that come while the log is read are streamed, too', async t => {
  const { log, news, open } = manualStreams()
  const readers = [await open(), await open()]
  await news()
  let release = () => {}
  log.held = new Promise(resolve => {
    release = resolve
  })
  for (const last of [0, 1, 2]) {
    log.last = last
    await news()
  }
  release()
  await news()
  for (const { seen } of readers) t.same(seen, ['1', '2'])
})

t.test('persistence, Several servers on Postgres: a stream goes on when its client has left memory', async t => {
  const { log, news, open } = manualStreams()
  const { seen } = await open()
  Object.assign(log, { isInMemory: false, last: 1 })
  await news()
  t.same(seen, ['1'])
})

t.test('control plane, POST /reset: a stream begins with the new log without another request', async t => {
  const { log, news, open } = manualStreams()
  log.last = 2
  const { seen } = await open()
  await news()
  Object.assign(log, { life: {}, last: 3 })
  await news()
  t.same(seen, ['1', '2', '0', '1', '2', '3'])
})

t.test('control plane, GET /requests: a reader gets no more until it takes more, and counts until then', async t => {
  const { log, backlog, news, open } = manualStreams()
  log.last = 5
  const [slow, gone] = [await open(2), await open(0)]
  await news()
  t.same([slow.seen, gone.seen, backlog.size()], [['1', '2'], [], 2])
  slow.takes = Infinity
  slow.raw.emit('drain')
  gone.socket.emit('close')
  t.equal(backlog.size(), 0)
  await news()
  t.same(slow.seen, ['1', '2', '3', '4', '5'])
})

t.test('control plane, Long calls: a reader that is gone before its turn looks at nothing', async t => {
  const { log, looked, news, open } = manualStreams()
  let release = () => {}
  Object.assign(log, {
    last: 5,
    held: new Promise<void>(done => {
      release = done
    }),
  })
  const opened = [open(), open()]
  release()
  const [first, gone] = await Promise.all(opened)
  Object.assign(gone?.raw as object, { destroyed: true })
  await news()
  t.same([first?.seen.length, looked], [5, [5, 0]])
})

t.test('control plane, GET /requests: a reader gets what came while it took nothing, without further news', async t => {
  const { log, news, open } = manualStreams()
  log.last = 3
  const slow = await open(2)
  await news()
  log.last = 5
  await news()
  slow.takes = Infinity
  slow.raw.emit('drain')
  for (let turn = 0; turn < 30; turn++) await new Promise(resolve => setImmediate(resolve))
  t.same(slow.seen, ['1', '2', '3', '4', '5'])
})

t.test('control plane, GET /requests: a stream looks for no request that was dropped', async t => {
  const { log, looked, news, open } = manualStreams()
  Object.assign(log, { first: 99_991, last: 100_000 })
  const { seen } = await open()
  await news()
  Object.assign(log, { first: 199_991, last: 200_000 })
  await news()
  t.same([seen.length, seen.at(-1), looked], [20, '200000', [10, 0, 0, 10]])
})

t.test('control plane, Long calls: a slow reader looks at each request once', async t => {
  const { log, looked, news, open } = manualStreams()
  log.last = 50
  const slow = await open(1)
  await news()
  for (let takes = 2; takes <= 50; takes++) {
    slow.takes = takes
    slow.raw.emit('drain')
    await news()
  }
  t.equal(slow.seen.length, 50)
  t.same(looked, [20, 20, 10])
})

t.test('control plane, Long calls: a reader waits for no reader of another client', async t => {
  const reads = createRequestReads({} as RequestLog, () => 0)
  let goOn = () => {}
  const order: string[] = []
  const work = (name: string, wait = Promise.resolve()) =>
    reads.inTurn(name, () => wait.then(() => void order.push(name)))
  const held = work(
    'acme',
    new Promise<void>(done => {
      goOn = done
    }),
  )
  const later = work('acme')
  await work('globex')
  goOn()
  await Promise.all([held, later])
  t.same(order, ['globex', 'acme', 'acme'])
})

t.test('control plane, Long calls: other requests come in between the pages of a fast reader', async t => {
  let now = 0
  const elapsed = () => {
    now += 20
    return now
  }
  const raw = Object.assign(new EventEmitter(), { writeHead() {}, writableLength: 0, writableNeedDrain: false })
  const write = () => process.nextTick(() => raw.emit('drain'))
  const socket = new EventEmitter()
  const options = {
    ...{
      client: 'acme',
      waiters: createEventWaiters(manualTime().timers),
      backlog: createBacklog(elapsed),
      greeting: '',
    },
    request: { method: 'GET', headers: {}, raw: { socket } } as unknown as FastifyRequest,
    reply: { raw: Object.assign(raw, { write }), getHeaders: () => ({}), hijack() {} } as unknown as FastifyReply,
    registry: { has: () => true } as unknown as TenantRegistry,
    refresh: (_client: string, done: () => void) => done(),
    ...{ elapsed: () => 0, isClosing: () => false },
  }
  let pages = 0
  openStream(options, stream => {
    if (++pages < 100) stream.send(pages, 'page', {})
    return Infinity
  })
  let turns = 0
  for (; pages < 100; turns++) await new Promise(resolve => setImmediate(resolve))
  t.ok(turns > 40, `100 pages in ${turns} turns`)
  socket.emit('close')
})
