import type { Test } from 'tap'
import { buildServer } from '../../src/server.js'
import type { TenantRegistry } from '../../src/tenants/registry.js'
import type { Database, Reader, Row } from '../../src/turns/database.js'
import { refused } from '../answers.js'
import { bill, call, connect, MONDAY, mandate, payoutLink, requestToken, serverOptions } from '../helper.js'
import { manualTime } from '../manual-time.js'
import type { Transport } from '../random-requests.js'
import { createPlayer, injecting, randomRequests } from '../random-requests.js'
import { isTimeless } from '../server-process.js'
import type { Stored } from './helper.js'
import { counting, faulty, onDatabase, onSqliteOnly, resume, stateOf, timers, wrongCounts } from './helper.js'

const IS_LONG = process.env.TEST_LONG === '1'

// ------------------------------------------------------------------------------------------- a step in the middle

/** Makes the nth event from now on fail. Returns a function that ends this, and returns whether one has failed. */
function failAt(registry: TenantRegistry, clientId: string, nth: number): () => boolean {
  const events = registry.peek(clientId)?.events
  if (events === undefined) return () => false
  const { append } = events
  let count = 0
  events.append = event => {
    if (++count === nth) throw new Error('injected')
    return append(event)
  }
  return () => {
    events.append = append
    return count >= nth
  }
}

/** Sends requests of which an event fails, and then whole. A twin gets them whole only: both must be the same. */
async function testSteps(t: Test, { app, registry }: Omit<Stored, 'database' | 'close'>) {
  const { app: twin } = buildServer(serverOptions({ timers }))
  t.teardown(() => twin.close())
  const wrong: unknown[] = []
  let [failures, sent] = [0, 0]
  const flaky: Transport = async request => {
    // Due work that fails is parked, and refuses no request.
    if (request.url.includes('/clock/advance')) return injecting(app)(request)
    const before = await stateOf(app)
    const end = failAt(registry, 'acme', [1, 1, 2, 1, 3][++sent % 5] as number)
    const first = await injecting(app)(request)
    if (!end()) return first
    failures++
    if (first.status !== 500 || (await stateOf(app)) !== before) wrong.push([request, first])
    return injecting(app)(request)
  }
  const [player, expected] = [createPlayer(flaky, 'acme'), createPlayer(injecting(twin), 'acme')]
  // A fault counts a request before the request begins.
  const isAtOnce = ({ path }: { path: string }) => !/faults|token/.test(path)
  const requests = randomRequests(5, IS_LONG ? 3000 : 200).filter(request => isTimeless(request) && isAtOnce(request))
  for (const request of requests) {
    const answers = [await player.play(request), await expected.play(request)]
    if (JSON.stringify(answers[0]) !== JSON.stringify(answers[1])) wrong.push([request, answers])
    if (wrong.length > 0) break
  }
  t.same(wrong, [])
  t.equal(await stateOf(app), await stateOf(twin))
  t.same(wrongCounts(registry, 'acme'), [])
  t.ok(failures > requests.length / 12, `${failures} of ${requests.length} failed`)
}

onSqliteOnly('persistence, The turn of a request: an operation that fails midway leaves no trace (memory)', t => {
  const server = buildServer(serverOptions({ timers }))
  t.teardown(() => server.app.close())
  return testSteps(t, server)
})

onDatabase('persistence, The turn of a request: one that fails midway leaves no trace', async (t, storage) =>
  testSteps(t, await storage.start()),
)

// ------------------------------------------------------------------------------------------------------ a commit

onDatabase('persistence, The turn of a request: what cannot be stored is 503, and not there', async (t, storage) => {
  const database = faulty()
  const messages: string[] = []
  const stored = await storage.start({ wrap: database.wrap, messages })
  const { app } = stored
  const client = await connect(app)
  await client.post('/api/v1/mandates', mandate())
  const { payoutLinkId } = (await client.post('/api/v1/payout-links', payoutLink())).body
  const effect = { kind: 'error', status: 418 }
  await client.control('POST', '/faults', { times: 5, match: { path: '*/accounts' }, effect })
  const state = await stateOf(app)
  const document = JSON.parse(state)
  const clients = (await call(app, 'GET', '/_sandbox/clients')).body
  const logged = (await call(app, 'GET', '/_sandbox/requests?client=acme')).body.data
  const { send, control } = resume(app, client.token)
  const attempts: [what: string, step: () => ReturnType<typeof send>][] = [
    ['a write', () => send('POST', '/api/v1/mandates', mandate({ mandateReference: 'MND-0002' }))],
    ['a deletion', () => send('DELETE', '/api/v1/mandates/MND-0001')],
    ['a change', () => send('PATCH', `/api/v1/payout-links/${payoutLinkId}/cancel`, { cancellationComment: 'No.' })],
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
  for (const [at, [what, step]] of attempts.entries()) {
    database.failing = (['before', 'write', 'tenant'] as const)[at % 3] ?? null
    const answer = await step()
    database.failing = null
    refused(t, answer, 503, 'SERVICE_UNAVAILABLE', null, what)
    t.equal(answer.headers['retry-after'], '1')
    t.equal(database.open, 0, 'its transaction has ended')
    t.equal(await stateOf(app), state, `${what} changes nothing`)
  }
  database.failing = 'before'
  t.equal((await requestToken(app)).status, 200, 'a token changes nothing in the database')
  const registration = await requestToken(app, { client_id: 'fresh' })
  t.match([registration.status, registration.body.error], [503, 'temporarily_unavailable'])
  t.equal((await send('GET', '/api/v1/mandates')).status, 200, 'reads go on')
  t.same((await call(app, 'GET', '/_sandbox/clients')).body, clients)
  t.match(messages, [/database/])
  const now = (await call(app, 'GET', '/_sandbox/requests?client=acme')).body.data
  t.same(now.slice(0, logged.length), logged, 'the failed reset did not empty the request log')
  const { operations } = (await call(app, 'GET', '/_sandbox/coverage?client=acme')).body
  const row = operations.find(({ operation }: { operation: string }) => operation === 'POST /api/v1/payout-links')
  t.equal(row.requests, 1, 'nor the coverage')

  database.failing = 'after'
  refused(t, await send('POST', '/api/v1/bills', bill()), 503, 'SERVICE_UNAVAILABLE', null)
  t.equal((await requestToken(app, { client_id: 'beta', client_secret: 'first' })).status, 503)
  database.failing = null
  t.equal((await send('POST', '/api/v1/bills', bill())).status, 409, 'the repeated request')
  t.equal((await send('GET', '/api/v1/bills')).body.totalCount, 1)
  t.equal((await requestToken(app, { client_id: 'beta', client_secret: 'second' })).status, 401, 'it was registered')
  t.equal((await requestToken(app, { client_id: 'fresh', client_secret: 'another' })).status, 200, 'it was not')
  t.equal((await control('POST', '/fork', { clientId: 'copy' })).status, 201)
  const after = await stateOf(app)
  t.equal(database.open, 0)
  t.equal(await stateOf((await storage.restart(stored)).app), after)
})

onDatabase('persistence, The turn of a request: what cannot be stored repeats no event', async (t, storage) => {
  const database = faulty()
  const time = manualTime()
  const { app } = await storage.start({ wrap: database.wrap, timers: time.timers })
  const client = await connect(app)
  const create = (n: number) => client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: `INV-000${n}` }))
  for (const n of [1, 2, 3]) await create(n)
  const waiting = client.control('GET', '/events?after=3&wait=60')
  // The call waits once a later one is answered.
  await client.control('GET', '/events')
  database.failing = 'before'
  t.equal((await create(4)).status, 503)
  database.failing = null
  // It is loaded again.
  t.equal((await client.get('/api/v1/bills')).body.totalCount, 3)
  t.equal((await create(4)).status, 201)
  t.match((await waiting).body, { data: [{ seq: 4, reference: 'INV-0004' }], last: 4 })
  const last = client.control('GET', '/events?after=4&wait=60')
  await client.control('GET', '/events')
  await client.control('POST', '/reset')
  t.same((await last).body, { data: [], last: 0 })
})

// ----------------------------------------------------------------------------------------------------- the amount

onDatabase('persistence, The turn of a request: a turn writes what it changed, a read nothing', async (t, storage) => {
  const counts = counting()
  const time = { now: Date.parse(MONDAY) }
  const stored = await storage.start({ wrap: counts.wrap, clock: 'real', now: () => time.now })
  const { app, database } = stored
  const client = await connect(app)
  const { send, control } = resume(app, client.token)
  const links = Array.from({ length: 9 }, () => payoutLink({ expiryPeriod: 'PT10M' }))
  for (const link of links) await send('POST', '/api/v1/payout-links', link)
  // The first request of a client begins its tenant.
  await call(app, 'GET', '/_sandbox')
  const version = await database.version('acme')
  counts.take()
  const reads = ['/api/v1/payout-links/x', '/api/v1/bills?limit=1', '/api/v1/mandates/x', '/api/v1/accounts']
  const controls = ['/state', '/events', '/clock', '/faults', '/outcomes', '/settings', '/requests']
  for (const url of reads) await send('GET', url)
  for (const url of controls) await control('GET', url)
  for (const url of ['', '/clients', '/health/ready']) await call(app, 'GET', `/_sandbox${url}`)
  await requestToken(app)
  for (const body of [{}, { mandateReference: 'x' }]) await send('POST', '/api/v1/mandates', body)
  await send('DELETE', '/api/v1/mandates/MND-NONE')
  await control('POST', '/requests/verify', {})
  await control('POST', '/clock/advance', { by: 'x' })
  t.equal(await database.version('acme'), version)
  t.match(counts.take(), { committed: 0, written: 0 })

  time.now += 11 * 60_000
  for (const url of reads) await send('GET', url)
  t.match(counts.take(), { committed: 1, written: 18 }, 'due work of nine records, in one transaction')
  await send('POST', '/api/v1/mandates', mandate())
  t.match(counts.take(), { committed: 1, written: 2, read: 0 })
  t.equal(await database.version('acme'), version + 2)
})

onDatabase('persistence, The turn of a request: lists of clients write nothing', async (t, storage) => {
  const wrap = (database: Database): Database => ({ ...database, begin: () => Promise.reject(new Error('read-only')) })
  const clients = [{ clientId: 'listed', clientSecret: 'secret', fixture: 'demo' }]
  const { app, database, registry } = await storage.start({ wrap, clients })
  const { app: twin } = buildServer(serverOptions({ clients }))
  t.teardown(() => twin.close())
  for (const _ of [1, 2]) {
    const answer = await call(app, 'GET', '/_sandbox/clients')
    t.match(answer, { status: 200, body: (await call(twin, 'GET', '/_sandbox/clients')).body })
    t.match(await call(app, 'GET', '/_sandbox'), { status: 200, body: { tenants: 2 } })
  }
  t.same([registry.peek('listed'), await database.version('listed')], [undefined, 0])
})

onDatabase('persistence, The turn of a request: a large state goes in batches, made in slices', async (t, storage) => {
  let [rounds, looks, isOver] = [0, 0, false]
  const countRounds = () => {
    rounds++
    if (!isOver) setImmediate(countRounds)
  }
  t.teardown(() => {
    isOver = true
  })
  /** The rows of each batch, the length of their content, and the rounds of the event loop since the batch before. */
  const batches: { rows: number; length: number; rounds: number }[] = []
  const add = (rows: readonly Row[]) => {
    batches.push({ rows: rows.length, length: rows.reduce((sum, { content }) => sum + content.length, 0), rounds })
    rounds = 0
  }
  const watched = <R extends Reader>(reader: R): R => ({
    ...reader,
    async rows(...range) {
      const rows = await reader.rows(...range)
      add(rows)
      return rows
    },
  })
  const wrap = (database: Database): Database => ({
    ...database,
    read: work => database.read(reader => work(watched(reader))),
    async begin(clientIds) {
      const transaction = watched(await database.begin(clientIds))
      return {
        ...transaction,
        write(clientId, tenant, rows) {
          add([...rows.record, ...rows.event])
          return transaction.write(clientId, tenant, rows)
        },
      }
    },
  })
  // Every slice is over at once.
  const options = { wrap, timers: { ...timers, elapsed: () => ++looks * 1000 } }
  const first = await storage.start(options)
  const client = await connect(first.app)
  await client.post('/api/v1/bills', bill())
  const document = JSON.parse(await stateOf(first.app))
  const [entry] = document.bills
  const documents = (at: number) =>
    Array.from({ length: 250 }, (_, n) => ({
      ...{ documentId: `doc_${at}_${n}`, fileName: 'f'.repeat(250), contentType: 'application/pdf', size: 10 },
      ...{ sha256: 'a'.repeat(64), uploadedAt: entry.record.createdAt },
    }))
  document.sequence = 1000
  for (let at = 0; at < 40; at++) {
    const record = { ...entry.record, uniqueReferenceIdentifier: `INV-${1000 + at}`, documents: documents(at) }
    document.bills.push({ ...entry, sequence: 100 + at, timeline: [], record })
  }
  batches.length = 0
  countRounds()
  const answer = await client.control('PUT', '/state', document)
  t.equal(answer.status, 200, JSON.stringify(answer.body))
  const check = (what: string) => {
    const large = batches.filter(({ length }) => length > 100_000)
    t.equal(large.reduce((sum, { rows }) => sum + rows, 0) >= 40, true, what)
    t.ok(large.length > 3, what)
    const wrong = large.filter(({ length }) => length > 1_200_000)
    t.same(wrong, [], `${what}: batches of about 1 MiB`)
    batches.length = 0
    return large
  }
  const written = check('written')
  const others = written.slice(1).filter(({ rows, rounds }) => rounds < rows)
  t.same(others, [], 'a slice for each row')
  const state = await stateOf(first.app)

  const { app } = await storage.restart(first, options)
  batches.length = 0
  t.equal(await stateOf(app), state)
  const read = check('read')
  const unexpected = read.slice(1).filter((_, at) => (read[at + 1]?.rounds ?? 0) < (read[at]?.rows ?? 0))
  t.same(unexpected, [], 'likewise')
})
