import { EventEmitter, once } from 'node:events'
import type { FastifyRequest } from 'fastify'
import t, { type Test } from 'tap'
import { createEventWaiters } from '../../src/sandbox/events/waiters.js'
import type { LoggedExchange } from '../../src/sandbox/request-log/exchange.js'
import { awaitRequest } from '../../src/sandbox/request-log/read.js'
import type { RequestFilter, RequestLog } from '../../src/sandbox/request-log/state.js'
import type { Storage } from '../../src/storage/storage.js'
import type { TenantRegistry } from '../../src/tenants/registry.js'
import { invalidQuery, malformed, refused, table } from '../answers.js'
import type { BuildOptions } from '../helper.js'
import { build, call, connect, mandate, newClient, pluck } from '../helper.js'
import { closed, listen, open, request } from '../http/raw.js'
import { endsAfter, manualTime, until } from '../manual-time.js'

// control plane, GET /requests: `wait` of GET /requests long-polls for the next request of the app that matches.

const MANDATES = '/api/v1/mandates'

/** A client whose log has its token request, and calls that wait for the next one. */
async function waiter(t: Test, options: BuildOptions = {}) {
  const time = manualTime()
  const app = build(t, { now: time.now, timers: time.timers, ...options })
  const client = await connect(app)
  const wait = async (query = 'after=1&wait=60') => {
    const { pending } = time
    const answer = call(app, 'GET', `/_sandbox/requests?client=acme&${query}`)
    await until(() => time.pending > pending)
    return { answer }
  }
  return { app, time, client, wait }
}

t.test('control plane, GET /requests: it answers with the next request, when that comes', async t => {
  const { time, client, wait } = await waiter(t)
  const [one, another] = [await wait(), await wait('after=1&wait=60&limit=1')]
  time.pass(20_000)
  await client.post(MANDATES, mandate())
  const { status, body } = await one.answer
  t.equal(status, 200)
  t.match(body, { data: [{ seq: 2, method: 'POST', path: MANDATES, status: 201 }], last: 2, dropped: 0 })
  t.same((await another.answer).body, body, 'each waiting call gets it')
  t.same(await client.read('/requests?after=1'), body, 'as the list has it')
  t.equal(time.pending, 0, 'no timer is left')
})

t.test('control plane, GET /requests: past requests are answered at once', async t => {
  const { client } = await waiter(t)
  await client.get(MANDATES)
  for (const [query, seqs] of Object.entries({
    'wait=60': [1, 2],
    'wait=60&after=1': [2],
    'wait=60&method=GET': [2],
    'wait=60&limit=1': [2],
    'wait=0&after=2': [],
    'after=2': [],
  })) {
    t.same(pluck((await client.read(`/requests?${query}`)).data, 'seq'), seqs, query)
  }
})

t.test('control plane, GET /requests: when its time is over, it answers with nothing', async t => {
  const { app, time, wait } = await waiter(t)
  for (const seconds of [1, 60]) {
    const { answer } = await wait(`after=1&wait=${seconds}`)
    await endsAfter(t, seconds, answer, { app, time })
    t.same((await answer).body, { data: [], last: 1, dropped: 0 })
  }
})

t.test('control plane, GET /requests: a request that its filters keep out does not answer it', async t => {
  const { time, client, wait } = await waiter(t)
  const filters = { 'errors=true': [4], 'method=GET': [5], 'path=*MND-9*': [6], 'status=201': [2], 'hints=true': [3] }
  const waits = new Map<string, Promise<{ body: { data: { seq: number }[] } }>>()
  for (const query of Object.keys(filters)) waits.set(query, (await wait(`after=1&wait=60&${query}`)).answer)
  await client.post(MANDATES, mandate())
  await waits.get('status=201')
  t.equal(time.pending, 4)
  await client.post(MANDATES, { ...mandate({ mandateReference: 'MND-0002' }), colour: 'red' })
  await client.post(MANDATES, mandate())
  await client.get(MANDATES)
  await client.delete(`${MANDATES}/MND-9999`)
  for (const [query, seqs] of Object.entries(filters)) {
    t.same(pluck((await waits.get(query))?.body.data ?? [], 'seq').slice(0, 1), seqs, query)
  }
  t.equal(time.pending, 0)
})

t.test('control plane, GET /requests: a HAR document waits, too', async t => {
  const { client, wait } = await waiter(t)
  const { answer } = await wait('after=1&wait=60&format=har')
  await client.get(MANDATES)
  t.match((await answer).body, { log: { entries: [{ _seq: 2 }] } })
})

t.test('control plane, GET /requests: another wait is refused, and an unknown client, at once', async t => {
  const { app } = await newClient()
  await table(t, query => call(app, 'GET', `/_sandbox/requests?client=acme${query}`), {
    [invalidQuery('wait')]: ['-1', '61', '0.5', 'long', ''].map(value => `&wait=${value}`),
    [malformed('wait')]: ['&wait=1&wait=2'],
    '404 CLIENT_NOT_FOUND client': ['-nobody&wait=60'],
  })
})

t.test('control plane, POST /reset: a call that waits for a request is answered', async t => {
  const { app, time, client, wait } = await waiter(t)
  await client.get(MANDATES)
  const { answer } = await wait('after=2&wait=60')
  await client.control('POST', '/reset')
  t.same((await answer).body, { data: [], last: 0, dropped: 0 })
  t.equal(time.pending, 0)
  const next = await wait('wait=60')
  await connect(app)
  t.match((await next.answer).body, { data: [{ seq: 1 }], last: 1 }, 'the new log begins with 1')
})

t.test('control plane, DELETE /requests: a call that waits goes on, and so do the numbers', async t => {
  const { time, client, wait } = await waiter(t)
  const { answer } = await wait()
  await client.control('DELETE', '/requests')
  t.equal(time.pending, 1)
  await client.get(MANDATES)
  t.match((await answer).body, { data: [{ seq: 2 }], last: 2 })
})

t.test('control plane, GET /requests: with the removal of its client, it is 404', async t => {
  const { app, time, wait } = await waiter(t)
  const { answer } = await wait()
  await call(app, 'DELETE', '/_sandbox/clients/acme')
  time.pass(0)
  refused(t, await answer, 404, 'CLIENT_NOT_FOUND', 'client')
  t.equal(time.pending, 0)
})

t.test('control plane, GET /requests: when the server closes, it is answered without requests', async t => {
  const { app, time, wait } = await waiter(t)
  const { answer } = await wait()
  await app.close()
  t.match(await answer, { status: 200, body: { data: [], last: 1 } })
  t.equal(time.pending, 0)
})

t.test('control plane, GET /requests: a call ends with its connection', async t => {
  const { app, time } = await waiter(t)
  const port = await listen(app)
  const arrived = once(app.server, 'connection')
  const gone = await open(port)
  const [socket] = await arrived
  gone.send(request('GET /_sandbox/requests?client=acme&after=1&wait=60'))
  await until(() => time.pending === 1)
  const isClosed = closed(socket)
  gone.reset()
  await isClosed
  t.equal(time.pending, 0)
})

// ------------------------------------------------------------------------------------------- a log that others share

/** A wait for a log that a test changes, and holds up or makes fail while it is read. */
function manualWait(query: { after?: number; wait: number }) {
  const time = manualTime()
  const waiters = createEventWaiters()
  const log = { life: 1, last: 0, reads: 0, isInMemory: true, held: Promise.resolve() }
  const requestLog = {
    isShared: true,
    async list(_client: string, { after = 0 }: RequestFilter) {
      log.reads++
      const data = Array.from({ length: Math.max(0, log.last - after) }, (_, at) => ({ seq: after + at + 1 }))
      const page = { life: log.life, last: log.last, dropped: 0, data: data as LoggedExchange[] }
      await log.held
      return page
    },
  } as unknown as RequestLog
  const found: number[] = []
  const answer = awaitRequest('acme', query, { raw: { socket: new EventEmitter() } } as unknown as FastifyRequest, {
    ...{ requestLog, requestWaiters: waiters, timers: time.timers, isClosing: () => false },
    registry: { has: () => log.isInMemory } as unknown as TenantRegistry,
    storage: {
      refresh(_client: string, done: () => void) {
        log.isInMemory = true
        done()
      },
    } as unknown as Storage,
  }).then(after => void found.push(after))
  /** Lets what was begun come to its end. */
  const settle = async () => {
    for (let turn = 0; turn < 5; turn++) await new Promise(resolve => setImmediate(resolve))
    return found
  }
  return { time, log, answer, settle, wake: () => waiters.wake('acme') }
}

t.test('persistence, Several servers on Postgres: a wait looks at the requests of others each half second', async t => {
  const { time, log, settle } = manualWait({ after: 3, wait: 60 })
  await settle()
  log.last = 4
  time.pass(499)
  t.same(await settle(), [])
  time.pass(1)
  t.same(await settle(), [3])
  t.equal(time.pending, 0)
})

t.test('persistence, Several servers on Postgres: a wait ends with a reset, however long the new log is', async t => {
  const { time, log, settle } = manualWait({ after: 3, wait: 60 })
  await settle()
  Object.assign(log, { life: 2, last: 7 })
  time.pass(500)
  t.same(await settle(), [0], 'the answer begins with the first request of the new log')
})

t.test('persistence, Several servers on Postgres: a wait goes on when its client has left memory', async t => {
  const { time, log, wake, settle } = manualWait({ wait: 60 })
  await settle()
  Object.assign(log, { isInMemory: false, last: 1 })
  wake()
  time.pass(0)
  t.same(await settle(), [0])
})

t.test('control plane, GET /requests: one that comes while the log is read is found', async t => {
  const { log, wake, settle } = manualWait({ after: 5, wait: 60 })
  await settle()
  let release = () => {}
  log.held = new Promise(resolve => {
    release = resolve
  })
  log.last = 5
  wake()
  await settle()
  for (const last of [6, 7]) {
    log.last = last
    wake()
  }
  t.equal(log.reads, 2, 'the first look, and one that is held up')
  release()
  t.same(await settle(), [5])
  t.equal(log.reads, 3, 'and one for all that came meanwhile')
})

t.test('persistence, Several servers on Postgres: a wait outlasts a database that is away', async t => {
  const { time, log, settle } = manualWait({ after: 3, wait: 2 })
  await settle()
  log.held = Promise.reject(new Error('The database is away.'))
  time.pass(1500)
  t.same(await settle(), [])
  log.held = Promise.resolve()
  log.last = 4
  time.pass(499)
  t.same(await settle(), [])
  time.pass(1)
  t.same(await settle(), [3], 'the list at its end answers or refuses')
})
