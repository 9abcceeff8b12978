import { EventEmitter, once } from 'node:events'
import type { FastifyRequest } from 'fastify'
import t, { type Test } from 'tap'
import { createEventWaiters } from '../../src/sandbox/events/waiters.js'
import { longPoll } from '../../src/sandbox/long-poll.js'
import type { LoggedExchange } from '../../src/sandbox/request-log/exchange.js'
import { awaitRequest } from '../../src/sandbox/request-log/read.js'
import type { RequestFilter, RequestLog } from '../../src/sandbox/request-log/state.js'
import type { Storage } from '../../src/storage/storage.js'
import type { TenantRegistry } from '../../src/tenants/registry.js'
import { invalidQuery, malformed, refused, table } from '../answers.js'
import type { BuildOptions, Client } from '../helper.js'
import { bill, build, call, collection, connect, mandate, payoutLink, pluck } from '../helper.js'
import { closed, listen, open, request } from '../http/raw.js'
import { endsAfter, manualTime, until } from '../manual-time.js'

// control plane, GET /events and GET /requests: `wait` long-polls for the next event or request that matches.

const MANDATES = '/api/v1/mandates'

/** The lists that a call can wait for: their last number after one mandate, and what an empty answer has beside it. */
const LISTS = { events: { last: 1, more: {} }, requests: { last: 2, more: { dropped: 0 } } }
type List = keyof typeof LISTS

/** Values that their parameters do not take. */
const WAITS = ['-1', '61', '0.5', 'long', '']
const WRONG: Record<List, Record<string, string[]>> = {
  events: {
    ...{ wait: WAITS, after: ['-1', '1.5', 'one', '', '9007199254740992'] },
    ...{ kind: ['account', 'MANDATE', ''], reference: ['', 'x'.repeat(129)] },
  },
  requests: {
    ...{ wait: WAITS, after: ['-1', 'x', ''], method: ['get', 'TRACE', ''] },
    ...{ path: ['', 'x'.repeat(501)], status: ['99', '600', '2x'] },
  },
}

/** A client with a mandate, and calls that wait for what comes next. The real time is moved by hand. */
async function waiter(t: Test, list: List, options: BuildOptions = {}) {
  const time = manualTime()
  const app = build(t, { now: time.now, timers: time.timers, ...options })
  const client = await connect(app)
  await client.post(MANDATES, mandate())
  const wait = async (query = `after=${LISTS[list].last}`, clientId = 'acme') => {
    const { pending } = time
    const most = query.includes('wait=') ? '' : '&wait=60'
    const answer = call(app, 'GET', `/_sandbox/${list}?client=${clientId}&${query}${most}`)
    await until(() => time.pending > pending)
    return { answer }
  }
  const read = (query: string) => client.read(`/${list}?${query}`)
  return { app, time, client, wait, read }
}

/** Gives a client another mandate: an event and a request. */
const happen = (client: Client, mandateReference = 'MND-NEXT') => client.post(MANDATES, mandate({ mandateReference }))

for (const [name, { last, more }] of Object.entries(LISTS)) {
  const list = name as List
  const nothing = { data: [], last, ...more }

  t.test(
    `control plane, Wait for an event: ${list}: every call that waits is answered with the next, when that comes`,
    async t => {
      const { app, time, client, wait, read } = await waiter(t, list)
      const other = await connect(app, 'other')
      const all = [await wait(), await wait(), await wait(`after=${last}&limit=1`)]
      const stranger = await wait(`after=${last - 1}`, 'other')
      time.pass(20_000)
      await happen(client)
      const expected = { data: [{ seq: last + 1 }], last: last + 1, ...more }
      for (const { answer } of all) {
        t.match(await answer, { status: 200, body: expected })
        t.same((await answer).body, await read(`after=${last}`), 'as the list has it')
      }
      t.equal(time.pending, 1, 'no timer is left, but of another client')
      t.match(await read(`after=${last}&wait=60`), expected, 'the past is answered at once')
      t.same((await read('wait=0&after=9')).data, [])
      await happen(other)
      t.equal((await stranger.answer).body.data[0].seq, last)
    },
  )

  t.test(`control plane, Wait for an event: ${list}: when its time is over, it answers with nothing`, async t => {
    const { app, time, wait } = await waiter(t, list)
    for (const seconds of [1, 60]) {
      const { answer } = await wait(`after=${last}&wait=${seconds}`)
      await endsAfter(t, seconds, answer, { app, time })
      t.same((await answer).body, nothing)
    }
  })

  t.test(
    `control plane, Wait for an event: ${list}: a call ends with its connection, which can carry further calls`,
    async t => {
      const { app, time } = await waiter(t, list)
      const port = await listen(app)
      const waiting = request(`GET /_sandbox/${list}?client=acme&after=${last}&wait=60`)
      const kept = await open(port)
      for (let calls = 0; calls < 2; calls++) {
        kept.send(waiting)
        await until(() => time.pending === 1)
        time.pass(60_000)
        t.match(await kept.read(), { status: 200, body: { data: [] } })
      }
      const arrived = once(app.server, 'connection')
      const gone = await open(port)
      const [socket] = await arrived
      gone.send(waiting)
      await until(() => time.pending === 1)
      const isClosed = closed(socket)
      gone.reset()
      await isClosed
      t.equal(time.pending, 0)
    },
  )

  t.test(`control plane, Wait for an event: ${list}: what its filters keep out does not answer it`, async t => {
    const { time, client, wait } = await waiter(t, list)
    const filters: Record<string, number> =
      list === 'events'
        ? { 'reference=MND-0002': 2, 'kind=bill': 4 }
        : { 'status=201&reference=MND-0002': 3, 'hints=true': 4, 'errors=true': 5, 'method=GET': 6, 'path=*bills': 7 }
    const waits = new Map<string, Awaited<ReturnType<typeof wait>>>()
    for (const query of Object.keys(filters)) waits.set(query, await wait(`after=${last}&${query}`))
    const [first = ''] = Object.keys(filters)
    await happen(client, 'MND-0002')
    t.equal((await waits.get(first)?.answer)?.body.data[0].seq, filters[first])
    t.equal(time.pending, waits.size - 1)
    await client.post(MANDATES, { ...mandate({ mandateReference: 'MND-0003' }), colour: 'red' })
    await client.post(MANDATES, mandate())
    await client.get(MANDATES)
    await client.post('/api/v1/bills', bill())
    for (const [query, seq] of Object.entries(filters))
      t.equal((await waits.get(query)?.answer)?.body.data[0].seq, seq, query)
    t.equal(time.pending, 0)
  })

  t.test(
    `control plane, POST /reset; control plane, PUT /state: a call that waits for ${list} is answered`,
    async t => {
      const { app, time, client, wait } = await waiter(t, list)
      const state = await client.read('/state')
      const waiting = await wait()
      await client.control('POST', '/reset')
      t.same((await waiting.answer).body, { ...nothing, last: 0 })
      t.equal(time.pending, 0)
      const { answer } = await wait('after=0')
      if (list === 'events') await client.control('PUT', '/state', state)
      else await connect(app)
      t.match((await answer).body, { data: [{ seq: 1 }], last: 1 }, 'the new numbers begin with 1')
    },
  )

  t.test(`decisions §3: a call that waits for ${list} of a client that is removed or dropped is 404`, async t => {
    const { app, time, client, wait } = await waiter(t, list, { maxTenants: 2, clock: 'real' })
    const removed = await wait()
    await call(app, 'DELETE', '/_sandbox/clients/acme')
    time.pass(0)
    refused(t, await removed.answer, 404, 'CLIENT_NOT_FOUND', 'client')
    await connect(app)
    await client.post('/api/v1/payout-links', payoutLink({ expiryPeriod: 'PT10M' }))
    const dropped = await wait('after=9')
    await connect(app, 'other')
    time.pass(0)
    refused(t, await dropped.answer, 404, 'CLIENT_NOT_FOUND', 'client')
    t.equal(time.pending, 0)
  })

  t.test(`control plane, Wait for an event: ${list}: when the server closes, it is answered without any`, async t => {
    const { app, time, wait } = await waiter(t, list)
    const { answer } = await wait()
    await app.close()
    t.match(await answer, { status: 200, body: nothing })
    t.equal(time.pending, 0)
  })

  t.test(`control plane, Wait for an event: ${list}: a wrong parameter and an unknown client are refused`, async t => {
    const { app } = await waiter(t, list)
    const send = (query: string) => call(app, 'GET', `/_sandbox/${list}?client=acme${query}`)
    for (const [parameter, values] of Object.entries(WRONG[list])) {
      await table(t, send, {
        [invalidQuery(parameter)]: values.map(value => `&${parameter}=${value}`),
        [malformed(parameter)]: [`&${parameter}=1&${parameter}=1`],
      })
    }
    await table(t, send, {
      200: [list === 'events' ? `&reference=${'x'.repeat(128)}` : `&path=${'x'.repeat(500)}&status=100`],
      [malformed(null)]: ['&wait=%zz'],
      '404 CLIENT_NOT_FOUND client': ['-nobody&wait=60'],
    })
  })
}

t.test('control plane, GET /requests: a HAR document waits, too', async t => {
  const { client, wait } = await waiter(t, 'requests')
  const { answer } = await wait('after=2&format=har')
  await client.get(MANDATES)
  t.match((await answer).body, { log: { entries: [{ _seq: 3 }] } })
})

t.test('control plane, DELETE /requests: a call that waits goes on, and so do the numbers', async t => {
  const { time, client, wait } = await waiter(t, 'requests')
  const { answer } = await wait()
  await client.control('DELETE', '/requests')
  t.equal(time.pending, 1)
  await client.get(MANDATES)
  t.match((await answer).body, { data: [{ seq: 3 }], last: 3 })
})

// ---------------------------------------------------------------------------------------------- the time of a client

t.test('control plane, Wait for an event: several events of one call come together', async t => {
  const { client, wait } = await waiter(t, 'events')
  await client.post('/api/v1/direct-debit', collection())
  const { answer } = await wait('after=2')
  await client.control('POST', '/clock/advance', { by: 'P30D' })
  t.same(pluck((await answer).body.data, 'seq'), [3, 4, 5])
})

t.test('control plane, Wait for an event: a running clock wakes it at the next due time', async t => {
  const { time, client, wait } = await waiter(t, 'events', { clock: 'real' })
  await client.post('/api/v1/direct-debit', collection())
  await client.control('PATCH', '/clock', { rate: 86_400 })
  const { answer } = await wait('after=2')
  // Three days and six hours are three seconds and a quarter.
  time.pass(3249)
  t.equal(time.pending, 1, 'it is not due yet')
  time.pass(1)
  t.match((await answer).body, {
    data: [{ seq: 3, at: '2026-11-05T15:00:00Z', to: 'SUBMITTED', cause: 'time' }],
    last: 3,
  })
  t.equal(time.pending, 0)
})

t.test('control plane, PATCH /clock: a waiting call keeps up with each change of the clock', async t => {
  const { time, client, wait } = await waiter(t, 'events', { clock: 'real' })
  await client.post('/api/v1/payout-links', payoutLink({ expiryPeriod: 'PT10M' }))
  const { answer } = await wait('after=2')
  await client.control('PATCH', '/clock', { rate: 100 })
  time.pass(1000)
  await client.control('PATCH', '/clock', { mode: 'frozen' })
  time.pass(20_000)
  await client.control('PATCH', '/clock', { mode: 'running', rate: 50 })
  time.pass(9999)
  t.equal(time.pending, 1)
  time.pass(1)
  t.match((await answer).body, { data: [{ seq: 3, at: '2026-11-02T09:10:00Z' }] })
})

t.test('control plane, POST /clock/advance: a call that waits at a frozen clock is answered', async t => {
  const { time, client, wait } = await waiter(t, 'events')
  await client.post('/api/v1/payout-links', payoutLink({ expiryPeriod: 'PT10M' }))
  const { answer } = await wait('after=2')
  await client.control('POST', '/clock/advance', { by: 'PT5M' })
  t.equal(time.pending, 1)
  await client.control('POST', '/clock/advance', { toNextEvent: true })
  t.match((await answer).body, { data: [{ seq: 3, to: 'EXPIRED' }] })
})

/** A wait of a minute that looks again after half of it, with a database that a test lets answer. */
function timedWait(refresh: Storage['refresh']) {
  const time = manualTime()
  const waiters = createEventWaiters()
  const socket = new EventEmitter()
  const answer = longPoll(
    {
      ...{ client: 'acme', seconds: 60, waiters, timers: time.timers, isClosing: () => false },
      request: { raw: { socket } } as unknown as FastifyRequest,
      registry: { has: () => true } as unknown as TenantRegistry,
      storage: { refresh } as unknown as Storage,
    },
    () => 30_000,
  )
  return { time, waiters, socket, answer }
}

t.test('control plane, Wait for an event: a wait looks again after a failure, until it is over', async t => {
  const refreshed: ((error?: Error) => void)[] = []
  const { time, answer } = timedWait((_client, done) => void refreshed.push(done))
  const away = new Error('The database is away.')
  for (const [at, milliseconds] of [30_000, 1000, 29_000].entries()) {
    time.pass(milliseconds - 1)
    t.equal(refreshed.length, at)
    time.pass(1)
    t.equal(refreshed.length, at + 1)
    if (at !== 1) refreshed[at]?.(away)
    else refreshed[at]?.()
  }
  await t.rejects(answer, away)
  t.equal(time.pending, 0)
})

t.test('control plane, GET /events: a wait that looks again while the database is away has one timer', async t => {
  const { time, waiters, socket } = timedWait((_client, done) => done(new Error('injected')))
  for (let count = 0; count < 3; count++) waiters.lookAgain()
  t.equal(time.pending, 1)
  socket.emit('close')
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
