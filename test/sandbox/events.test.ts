import { EventEmitter, once } from 'node:events'
import type { FastifyRequest } from 'fastify'
import t, { type Test } from 'tap'
import type { Event } from '../../src/core/records/events.js'
import { createEventWaiters } from '../../src/sandbox/events/waiters.js'
import { longPoll } from '../../src/sandbox/long-poll.js'
import type { Storage } from '../../src/storage/storage.js'
import type { TenantRegistry } from '../../src/tenants/registry.js'
import { holds, invalidQuery, malformed, refused, table } from '../answers.js'
import type { BuildOptions, Client } from '../helper.js'
import { bill, build, call, collection, connect, MONDAY, mandate, newClient, payoutLink, pluck } from '../helper.js'
import { closed, listen, open, request } from '../http/raw.js'
import { endsAfter, manualTime, until } from '../manual-time.js'

// control plane, GET /events: the tenant's state changes, in order, numbered; `wait` long-polls for the next.

/** A server whose real time is moved by hand. */
function timed(t: Test, options: BuildOptions = {}) {
  const time = manualTime()
  const app = build(t, { now: time.now, timers: time.timers, ...options })
  return { app, time }
}

const events = (client: Client, query = '') => client.read(`/events${query}`)
const seqs = ({ data }: { data: Event[] }): number[] => pluck(data, 'seq')
const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1)

/** Puts so many events into a tenant, by way of its state. */
async function fill(client: Client, count: number, change: (seq: number) => Partial<Event> = () => ({})) {
  const body = await client.read('/state')
  const event = { at: MONDAY, kind: 'mandate', from: null, to: 'ACTIVE', cause: 'api' }
  body.events = upTo(count).map(seq => ({ seq, ...event, reference: `MND-${seq}`, ...change(seq) }))
  const answer = await client.control('PUT', '/state', body)
  if (answer.status !== 200) throw new Error(answer.body.message)
}

// ------------------------------------------------------------------------------------------------------------ at once

t.test('control plane, GET /events: events in order, each with its cause', async t => {
  const client = await newClient()
  t.same(await events(client), { data: [], last: 0 })
  await client.post('/api/v1/mandates', mandate())
  const rejected = collection({ debtorReference: 'SIM-REJECTED-AC01' })
  await client.post('/api/v1/direct-debit', rejected)
  const { payoutLinkId } = (await client.post('/api/v1/payout-links', payoutLink({ expiryPeriod: 'PT10M' }))).body
  await client.post('/api/v1/bills', bill())
  await client.control('POST', '/mandates/MND-0001/cancel')
  await client.advance({ by: 'PT10M' })
  await client.control('POST', '/seed', {
    records: {
      mandates: [mandate({ mandateReference: 'MND-0002' })],
      collections: [{ ...rejected, collectionReference: 'COL-2', mandateReference: 'MND-0002' }],
    },
  })
  await client.advance({ by: 'P5D' })
  const lines: string[] = (await events(client)).data.map(({ seq, at, kind, reference, ...rest }: Event) => {
    const { from, to, cause, reasonCode } = rest
    return [seq, at, kind, reference, from ?? '-', to, cause, reasonCode ?? ''].join(' ').trim()
  })
  const later = '2026-11-02T09:10:00Z'
  t.same(lines, [
    `1 ${MONDAY} mandate MND-0001 - ACTIVE api`,
    `2 ${MONDAY} collection COL-0001 - PENDING api`,
    `3 ${MONDAY} payoutLink ${payoutLinkId} - ACTIVE api`,
    `4 ${MONDAY} bill INV-2026-001 - OPEN api`,
    `5 ${MONDAY} mandate MND-0001 ACTIVE CANCELLED control`,
    `6 ${MONDAY} collection COL-0001 PENDING CANCELLED control`,
    `7 ${later} payoutLink ${payoutLinkId} ACTIVE EXPIRED time`,
    `8 ${later} mandate MND-0002 - ACTIVE seed`,
    `9 ${later} collection COL-2 - PENDING seed`,
    '10 2026-11-05T15:00:00Z collection COL-2 PENDING SUBMITTED time',
    '11 2026-11-06T08:00:00Z collection COL-2 SUBMITTED REJECTED outcome AC01',
  ])
})

t.test('control plane, GET /events: after, kind and reference', async t => {
  const client = await newClient()
  for (const mandateReference of ['MND-0001', 'MND-0002'])
    await client.post('/api/v1/mandates', mandate({ mandateReference }))
  await client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: 'MND-0001' }))
  await client.delete('/api/v1/mandates/MND-0001')
  const numbers: Record<string, number[]> = {
    '?after=0': [1, 2, 3, 4],
    '?after=2': [3, 4],
    '?after=4': [],
    '?after=999999999999999': [],
    '?kind=mandate': [1, 2, 4],
    '?kind=bill': [3],
    '?kind=payoutLink': [],
    '?reference=MND-0001': [1, 3, 4],
    '?reference=MND-000': [],
    '?reference=mnd-0001': [],
    '?kind=mandate&reference=MND-0001': [1, 4],
    '?kind=mandate&reference=MND-0001&after=1': [4],
    '?wait=0': [1, 2, 3, 4],
    '?wait=60': [1, 2, 3, 4],
    '?wait=60&after=3': [4],
  }
  const cases = Object.entries(numbers).map(([query, seqs]) => [query, `${seqs}, last 4`] as const)
  await holds(t, cases, async query => {
    const answer = await events(client, query)
    return `${seqs(answer)}, last ${answer.last}`
  })
})

t.test('control plane, GET /events: a wrong parameter is refused, whatever the others', async t => {
  const client = await newClient()
  await table(t, query => call(client.app, 'GET', `/_sandbox/events?${query}&client=acme`), {
    [invalidQuery('after')]: ['-1', '1.5', 'one', '', '9007199254740992'].map(value => `after=${value}`),
    [malformed('after')]: ['after=1&after=2'],
    [invalidQuery('kind')]: ['kind=account', 'kind=MANDATE', 'kind='],
    [malformed('kind')]: ['kind=mandate&kind=bill'],
    [invalidQuery('reference')]: ['reference=', `reference=${'x'.repeat(129)}`],
    [malformed('reference')]: ['reference=a&reference=b'],
    [invalidQuery('wait')]: ['-1', '61', '0.5', 'long', ''].map(value => `wait=${value}`),
    [malformed(null)]: ['wait=%zz'],
  })
  t.equal((await client.control('GET', `/events?reference=${'x'.repeat(128)}`)).status, 200)
})

t.test('control plane, GET /events: an unknown client is 404, at once', async t => {
  const { app } = await newClient()
  const answer = await call(app, 'GET', '/_sandbox/events?client=nobody&wait=60')
  refused(t, answer, 404, 'CLIENT_NOT_FOUND', 'client')
})

t.test('control plane, GET /events: 1,000 at a time, of those that the filters let through', async t => {
  const client = await newClient()
  await fill(client, 1000)
  t.match(await events(client), { data: { length: 1000 }, last: 1000 })
  await fill(client, 2600, seq => ({ kind: seq % 2 === 0 ? 'bill' : 'mandate' }))
  const pages = [await events(client), await events(client, '?after=1000'), await events(client, '?after=2000')]
  t.same(pluck(pages, 'last'), [1000, 2000, 2600])
  t.same(pages.flatMap(seqs), upTo(2600), 'a client that goes on after `last` gets all, once')
  t.same(await events(client, '?after=2600'), { data: [], last: 2600 })
  const first = await events(client, '?kind=bill')
  t.same([first.data.length, first.last], [1000, 2000])
  const rest = await events(client, '?kind=bill&after=2000')
  t.same([rest.data.length, rest.data.at(-1).seq, rest.last], [300, 2600, 2600])
  t.equal((await events(client, '?kind=mandate&after=2000')).last, 2600, 'the last of all, not of these')
})

t.test('control plane, GET /events: events that have become due are in the answer', async t => {
  const { app, time } = timed(t, { clock: 'real' })
  const client = await connect(app)
  await client.post('/api/v1/payout-links', payoutLink({ expiryPeriod: 'PT10M' }))
  time.pass(599_999)
  t.equal((await events(client)).last, 1)
  time.pass(1)
  t.match((await events(client, '?after=1')).data, [{ to: 'EXPIRED', at: '2026-11-02T09:10:00Z' }])
})

// ------------------------------------------------------------------------------------------------------- long polling

/** A client with a mandate, whose call waits for the next event. */
async function waiter(t: Test, options: BuildOptions = {}) {
  const { app, time } = timed(t, options)
  const client = await connect(app)
  await client.post('/api/v1/mandates', mandate())
  const wait = async (query = 'after=1&wait=60') => {
    const answer = events(client, `?${query}`)
    const { pending } = time
    await until(() => time.pending > pending)
    return { answer }
  }
  return { app, time, client, wait }
}

t.test('control plane, Wait for an event: it answers with the next event, when that comes', async t => {
  const { time, client, wait } = await waiter(t)
  const { answer } = await wait()
  time.pass(20_000)
  await client.delete('/api/v1/mandates/MND-0001')
  t.match(await answer, { data: [{ seq: 2, to: 'CANCELLED', cause: 'api' }], last: 2 })
  t.equal(time.pending, 0, 'no timer is left')
  await client.post('/api/v1/mandates', mandate({ mandateReference: 'MND-0002' }))
  await client.post('/api/v1/direct-debit', collection({ mandateReference: 'MND-0002' }))
  const several = await wait('after=4&wait=60')
  await client.control('POST', '/clock/advance', { by: 'P30D' })
  t.same(seqs(await several.answer), [5, 6, 7], 'several events of one call come together')
})

t.test('control plane, Wait for an event: when its time is over, it answers with nothing', async t => {
  const { app, time, wait } = await waiter(t)
  for (const seconds of [1, 60]) {
    const { answer } = await wait(`after=1&wait=${seconds}`)
    await endsAfter(t, seconds, answer, { app, time })
    t.same(await answer, { data: [], last: 1 })
  }
})

t.test('control plane, Wait for an event: a call ends with its connection, which can carry further calls', async t => {
  const { app, time } = timed(t)
  const port = await listen(app)
  const waiting = request('GET /_sandbox/events?after=100000&wait=60')
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
})

t.test('control plane, Wait for an event: an event that its filters keep out does not answer it', async t => {
  const { time, client, wait } = await waiter(t)
  const byKind = await wait('kind=bill&wait=60')
  const byReference = await wait('reference=MND-0003&wait=60')
  await client.post('/api/v1/mandates', mandate({ mandateReference: 'MND-0002' }))
  t.equal(time.pending, 2)
  await client.post('/api/v1/mandates', mandate({ mandateReference: 'MND-0003' }))
  t.same(seqs(await byReference.answer), [3])
  await client.post('/api/v1/bills', bill())
  t.same(seqs(await byKind.answer), [4])
})

/** A wait of a minute that looks again after half of it, with a database that a test lets answer. */
function manualWait(refresh: Storage['refresh']) {
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
  const { time, answer } = manualWait((_client, done) => void refreshed.push(done))
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

t.test('control plane, Wait for an event: every waiting client of the tenant gets it, no other tenant', async t => {
  const { app, time } = timed(t)
  const [client, other] = [await connect(app), await connect(app, 'other')]
  const all = upTo(50).map(() => events(client, '?wait=60'))
  const stranger = events(other, '?wait=60')
  await until(() => time.pending === 51)
  await client.post('/api/v1/mandates', mandate())
  for (const answer of await Promise.all(all)) t.same(seqs(answer), [1])
  t.equal(time.pending, 1)
  time.pass(60_000)
  t.same(await stranger, { data: [], last: 0 })
})

t.test('control plane, Wait for an event: a running clock wakes it at the next due time', async t => {
  const { time, client, wait } = await waiter(t, { clock: 'real' })
  await client.post('/api/v1/direct-debit', collection())
  await client.control('PATCH', '/clock', { rate: 86_400 })
  const { answer } = await wait('after=2&wait=60')
  // Three days and six hours are three seconds and a quarter.
  time.pass(3249)
  t.equal(time.pending, 1, 'it is not due yet')
  time.pass(1)
  t.match(await answer, { data: [{ seq: 3, at: '2026-11-05T15:00:00Z', to: 'SUBMITTED', cause: 'time' }], last: 3 })
  t.equal(time.pending, 0)
})

t.test('control plane, PATCH /clock: a waiting call keeps up with each change of the clock', async t => {
  const { time, client, wait } = await waiter(t, { clock: 'real' })
  await client.post('/api/v1/payout-links', payoutLink({ expiryPeriod: 'PT10M' }))
  const { answer } = await wait('after=2&wait=60')
  await client.control('PATCH', '/clock', { rate: 100 })
  time.pass(1000)
  await client.control('PATCH', '/clock', { mode: 'frozen' })
  time.pass(20_000)
  await client.control('PATCH', '/clock', { mode: 'running', rate: 50 })
  time.pass(9999)
  t.equal(time.pending, 1)
  time.pass(1)
  t.match(await answer, { data: [{ seq: 3, at: '2026-11-02T09:10:00Z' }] })
})

t.test('control plane, POST /clock/advance: a call that waits at a frozen clock is answered', async t => {
  const { time, client, wait } = await waiter(t)
  await client.post('/api/v1/payout-links', payoutLink({ expiryPeriod: 'PT10M' }))
  const { answer } = await wait('after=2&wait=60')
  await client.control('POST', '/clock/advance', { by: 'PT5M' })
  t.equal(time.pending, 1)
  await client.control('POST', '/clock/advance', { toNextEvent: true })
  t.match(await answer, { data: [{ seq: 3, to: 'EXPIRED' }] })
})

t.test('control plane, POST /reset; control plane, PUT /state: a waiting call is answered', async t => {
  const { app, time, client, wait } = await waiter(t)
  const state = await client.read('/state')
  const waiting = await wait()
  const demo = call(app, 'GET', '/_sandbox/events?wait=60&after=100000')
  await until(() => time.pending === 2)
  await client.control('POST', '/reset')
  t.same(await waiting.answer, { data: [], last: 0 })
  await call(app, 'POST', '/_sandbox/reset')
  t.match((await demo).body, { data: [{ seq: 1 }] })
  const { answer } = await wait('wait=60')
  await client.control('PUT', '/state', state)
  t.match(await answer, { data: [{ seq: 1, reference: 'MND-0001' }], last: 1 })
  t.equal(time.pending, 0)
})

t.test('decisions §3: a call that waits for a tenant that is dropped is 404 at once', async t => {
  const { app, time } = timed(t, { maxTenants: 2, clock: 'real' })
  const client = await connect(app)
  await client.post('/api/v1/payout-links', payoutLink({ expiryPeriod: 'PT10M' }))
  const waiting = client.control('GET', '/events?after=1&wait=60')
  await until(() => time.pending === 1)
  await connect(app, 'other')
  time.pass(0)
  refused(t, await waiting, 404, 'CLIENT_NOT_FOUND', 'client')
  t.equal(time.pending, 0)
})

t.test('control plane, GET /events: when the server closes, waiting calls are answered without events', async t => {
  const { app, time, wait } = await waiter(t)
  const { answer } = await wait()
  await app.close()
  t.same(await answer, { data: [], last: 1 })
  t.equal(time.pending, 0)
})

t.test('control plane, GET /events: a wait that looks again while the database is away has one timer', async t => {
  const { time, waiters, socket } = manualWait((_client, done) => done(new Error('injected')))
  for (let count = 0; count < 3; count++) waiters.lookAgain()
  t.equal(time.pending, 1)
  socket.emit('close')
  t.equal(time.pending, 0)
})
