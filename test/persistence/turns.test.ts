import t from 'tap'
import type { TenantLog } from '../../src/turns/tenant-log.js'
import { refused } from '../answers.js'
import { bill, call, connect, MONDAY, mandate, payoutLink, requestToken } from '../helper.js'
import type { StoredOptions } from './helper.js'
import { createMemoryLog, operationsOf, restart, resume, serveLog, start, stateOf } from './helper.js'

/** A database that fails on demand. */
function faulty() {
  const database = {
    /** `after`: rows are written, but the database reports an error. */
    failing: null as 'before' | 'after' | null,
    failingSnapshots: false,
    calls: [] as string[],
    wrap: (log: TenantLog): TenantLog => {
      const failable =
        (name: 'append' | 'appendSnapshot'): TenantLog['append'] =>
        async (clientId, row) => {
          database.calls.push(`${name} ${row.operation}`)
          if (database.failing === 'before') throw new Error('the disk is full')
          if (database.failingSnapshots && row.operation === 'snapshot') throw new Error('the disk is full')
          const result = await log[name](clientId, row)
          if (database.failing === 'after') throw new Error('the connection is lost')
          return result
        }
      return { ...log, append: failable('append'), appendSnapshot: failable('appendSnapshot') }
    },
  }
  return database
}

t.test('persistence: a request that cannot be written is refused with 503, and nothing is applied', async t => {
  const database = faulty()
  const messages: string[] = []
  const stored = await start(t, t.testdir(), { wrap: database.wrap, messages })
  const { app } = stored
  const client = await connect(app)
  await client.post('/api/v1/mandates', mandate())
  const { payoutLinkId } = (await client.post('/api/v1/payout-links', payoutLink())).body
  const effect = { kind: 'error', status: 418 }
  await client.control('POST', '/faults', { times: 5, match: { path: '*/accounts' }, effect })
  const state = await stateOf(app)
  const document = JSON.parse(state)
  const recording = (await call(app, 'GET', '/_sandbox/recording?client=acme')).body
  const clients = (await call(app, 'GET', '/_sandbox/clients')).body
  const logged = (await call(app, 'GET', '/_sandbox/requests?client=acme')).body.data

  database.failing = 'before'
  const { send, control } = resume(app, client.token)
  const cancel = { cancellationComment: 'No.' }
  const attempts: [what: string, step: () => ReturnType<typeof send>][] = [
    ['a write', () => send('POST', '/api/v1/mandates', mandate({ mandateReference: 'MND-0002' }))],
    ['a deletion', () => send('DELETE', '/api/v1/mandates/MND-0001')],
    ['a change', () => send('PATCH', `/api/v1/payout-links/${payoutLinkId}/cancel`, cancel)],
    ['a read that meets a fault', () => send('GET', '/api/v1/accounts')],
    ['a transition', () => control('POST', '/mandates/MND-0001/cancel')],
    ['the clock', () => control('POST', '/clock/advance', { by: 'P40D' })],
    ['a fault', () => control('POST', '/faults', { effect: { kind: 'delay', ms: 0 } })],
    ['no faults', () => control('DELETE', '/faults')],
    ['settings', () => control('PUT', '/settings', { mandateActivation: 'manual' })],
    ['a seed', () => control('POST', '/seed', { fixture: 'demo' })],
    ['the end of tokens', () => control('POST', '/tokens/expire')],
    ['a reset', () => control('POST', '/reset')],
    ['another state', () => control('PUT', '/state', { ...document, faults: [] })],
    ['a fork', () => control('POST', '/fork', { clientId: 'copy' })],
    ['a removal', () => call(app, 'DELETE', '/_sandbox/clients/acme')],
  ]
  for (const [what, step] of attempts) {
    const answer = await step()
    refused(t, answer, 503, 'SERVICE_UNAVAILABLE', null, what)
    t.equal(answer.headers['retry-after'], '1')
    t.equal(await stateOf(app), state, `${what} changes nothing`)
  }
  t.equal((await requestToken(app)).status, 200, 'a token changes nothing in the database')
  const registration = await requestToken(app, { client_id: 'fresh' })
  t.match([registration.status, registration.body.error], [503, 'temporarily_unavailable'])
  t.equal((await send('GET', '/api/v1/mandates')).status, 200, 'reads go on')
  t.same((await call(app, 'GET', '/_sandbox/clients')).body, clients)
  t.match(messages, [/database/])
  t.notMatch(messages.join(), '\n')
  const recorded = (await call(app, 'GET', '/_sandbox/recording?client=acme')).body
  t.same(recorded, recording, 'what was refused is not recorded')
  const now = (await call(app, 'GET', '/_sandbox/requests?client=acme')).body.data
  t.same(now.slice(0, logged.length), logged, 'the failed reset did not empty the request log')

  database.failing = null
  t.match(await send('POST', '/api/v1/mandates', mandate({ mandateReference: 'MND-0002' })), { status: 201 })
  t.equal((await control('POST', '/fork', { clientId: 'copy' })).status, 201)
  const other = await requestToken(app, { client_id: 'fresh', client_secret: 'another' })
  t.equal(other.status, 200, 'no client was registered')
  t.equal((await control('POST', '/seed', { fixture: 'demo' })).status, 200)
  const after = await stateOf(app)
  const restarted = await restart(t, stored)
  t.equal(await stateOf(restarted.app), after)
  t.equal((await requestToken(restarted.app, { client_id: 'fresh', client_secret: 'another' })).status, 200)
})

t.test('persistence: a request that was written in spite of an error is applied before the next', async t => {
  const database = faulty()
  const stored = await start(t, t.testdir(), { wrap: database.wrap })
  const client = await connect(stored.app)
  database.failing = 'after'
  refused(t, await client.post('/api/v1/bills', bill()), 503, 'SERVICE_UNAVAILABLE', null)
  const registration = await requestToken(stored.app, { client_id: 'beta', client_secret: 'first' })
  t.equal(registration.status, 503)
  database.failing = null
  t.match(await client.post('/api/v1/bills', bill()), { status: 409 }, 'the repeated request')
  t.equal((await client.get('/api/v1/bills')).body.totalCount, 1)
  const other = await requestToken(stored.app, { client_id: 'beta', client_secret: 'second' })
  t.equal(other.status, 401, 'the client was registered')
  const state = await stateOf(stored.app)
  t.equal(await stateOf((await restart(t, stored)).app), state)
})

t.test('persistence: a request is in the database before it is applied', async t => {
  const seen: unknown[] = []
  let count: () => unknown = () => 0
  const wrap = (log: TenantLog): TenantLog => ({
    ...log,
    async append(clientId, row) {
      seen.push(count())
      const result = await log.append(clientId, row)
      seen.push((await log.after(clientId, row.sequence - 1)).length)
      return result
    },
  })
  const { app, registry } = await start(t, t.testdir(), { wrap })
  const client = await connect(app)
  count = () => registry.peek('acme')?.bills.size()
  t.equal((await client.post('/api/v1/bills', bill())).status, 201)
  t.same(seen, [0, 1], 'no bill while the row is written, and then the row')
})

t.test('persistence: 20 simultaneous creations of one reference: one 201, nineteen 409', async t => {
  const { app } = await start(t, t.testdir())
  const client = await connect(app)
  const answers = await Promise.all(Array.from({ length: 20 }, () => client.post('/api/v1/bills', bill())))
  const statuses = answers.map(({ status }) => status).sort()
  t.same(statuses, [201, ...Array.from({ length: 19 }, () => 409)])
  const tokens = await Promise.all(
    Array.from({ length: 20 }, (_, at) => requestToken(app, { client_id: 'beta', client_secret: `secret ${at}` })),
  )
  t.equal(tokens.filter(({ status }) => status === 200).length, 1, 'one registration of a client')
})

t.test('persistence: a tenant is let go to make room, and comes back from the database', async t => {
  const messages: string[] = []
  const stored = await start(t, t.testdir(), { maxTenants: 2, messages })
  const tokens: string[] = []
  for (const clientId of ['a', 'b', 'c', 'd']) {
    const client = await connect(stored.app, clientId)
    tokens.push(client.token)
    await client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: `INV-${clientId}-0001` }))
  }
  for (const [at, clientId] of ['a', 'b', 'c', 'd', 'a'].entries()) {
    const { send } = resume(stored.app, tokens[at % 4] as string, clientId)
    const { data } = (await send('GET', '/api/v1/bills')).body
    t.match(data, [{ uniqueReferenceIdentifier: `INV-${clientId}-0001` }], clientId)
  }
  const { data } = (await call(stored.app, 'GET', '/_sandbox/clients')).body
  t.same(
    data.map(({ clientId }: { clientId: string }) => clientId),
    ['sandbox-client', 'a', 'b', 'c', 'd'],
  )
  t.match((await call(stored.app, 'GET', '/_sandbox')).body, { tenants: 5 })
  t.same(messages, [], 'no tenant is dropped')
})

t.test('persistence: a snapshot replaces 500 rows; after a failure the log goes on', async t => {
  const database = faulty()
  const log = createMemoryLog()
  const stored = serveLog(t, log, { wrap: database.wrap })
  const client = await connect(stored.app)
  const write = async (count: number) => {
    for (let at = 0; at < count; at++) await client.control('PUT', '/settings', { mandateActivation: 'manual' })
  }
  await client.post('/api/v1/bills', bill())
  await write(498)
  t.equal((await operationsOf(stored)).length, 500)
  await write(1)
  t.same(await operationsOf(stored), ['snapshot'])
  await client.post('/api/v1/mandates', mandate())
  t.same(await operationsOf(stored), ['snapshot', 'POST /api/v1/mandates'])

  database.failingSnapshots = true
  await write(502)
  t.equal(database.calls.filter(name => name === 'appendSnapshot snapshot').length, 2, 'tried once in 500 rows')
  t.equal((await operationsOf(stored)).length, 504)
  database.failingSnapshots = false
  const state = await stateOf(stored.app)
  await write(500)
  t.ok((await operationsOf(stored)).length < 500)
  t.equal(await stateOf(serveLog(t, log).app), state)
})

t.test('persistence: a read that finds due work writes it to the log', async t => {
  const time = { now: Date.parse(MONDAY) }
  const options: StoredOptions = { clock: 'real', now: () => time.now }
  const stored = await start(t, t.testdir(), options)
  const client = await connect(stored.app)
  await client.post('/api/v1/payout-links', payoutLink({ expiryPeriod: 'PT10M' }))
  await client.get('/api/v1/bills')
  t.same((await operationsOf(stored)).slice(1), ['POST /api/v1/payout-links'])
  time.now += 11 * 60_000
  await client.get('/api/v1/bills')
  await client.get('/api/v1/bills')
  t.same((await operationsOf(stored)).slice(2), ['time'])
  const events = (await client.control('GET', '/events')).body.data
  t.match(events, [{}, { to: 'EXPIRED', at: '2026-11-02T09:10:00Z' }])
})

t.test('persistence: a log with a missing row is refused at the read, and the others are served', async t => {
  const messages: string[] = []
  let isCut = false
  const wrap = (log: TenantLog): TenantLog => ({
    ...log,
    after: async (clientId, sequence) =>
      (await log.after(clientId, sequence)).filter(row => !(isCut && clientId === 'acme' && row.sequence === 2)),
  })
  const first = await start(t, t.testdir(), { wrap, messages })
  for (const clientId of ['acme', 'beta']) {
    const client = await connect(first.app, clientId)
    await client.post('/api/v1/bills', bill())
    await client.post('/api/v1/mandates', mandate())
  }
  isCut = true
  const { app } = await restart(t, first, { wrap, messages })
  refused(t, await call(app, 'GET', '/_sandbox/state?client=acme'), 503, 'SERVICE_UNAVAILABLE', null)
  t.equal(JSON.parse(await stateOf(app, 'beta')).bills.length, 1)
  t.match(messages, ['the database cannot be used'])
})
