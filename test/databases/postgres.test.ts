import { setTimeout as pause } from 'node:timers/promises'
import type { Test } from 'tap'
import t from 'tap'
import { openPostgres } from '../../src/turns/postgres.js'
import { DatabaseError } from '../../src/turns/tenant-log.js'
import { refused } from '../answers.js'
import { claim } from '../areas/pages.js'
import { bill, call, connect, payoutLink, requestToken } from '../helper.js'
import type { Stored, StoredOptions } from '../persistence/helper.js'
import { operationsOf, resume, serveLog, stateOf } from '../persistence/helper.js'
import { testLog } from '../persistence/log-contract.js'
import type { Postgres } from '../postgres.js'
import { postgresSkip, startPostgres } from '../postgres.js'

const logger = { error() {}, info() {} }

/** Returns the name of a database. */
const nameOf = (url: string) => new URL(url).pathname.slice(1)

/** Builds servers that share a database. */
async function serve(t: Test, url: string, count: number, options: StoredOptions = {}) {
  const servers: Omit<Stored, 'folder'>[] = []
  for (let at = 0; at < count; at++) {
    servers.push(serveLog(t, await openPostgres(url, { seed: 'test', logger }), options))
  }
  return servers as [Omit<Stored, 'folder'>, ...Omit<Stored, 'folder'>[]]
}

t.test('Postgres', { skip: postgresSkip, buffered: false }, async t => {
  const postgres: Postgres = await startPostgres()
  t.teardown(() => postgres.remove())

  t.test('persistence: rows come back as they were appended, after the number that the caller has', async t => {
    const log = await openPostgres(await postgres.createDatabase(), { seed: 'test', logger })
    await testLog(t, log)
    await log.close()
  })

  t.test('persistence: servers that start at the same time make the tables once; all need one seed', async t => {
    const url = await postgres.createDatabase()
    const logs = await Promise.all([1, 2, 3].map(() => openPostgres(url, { seed: 'test', logger })))
    const error = await openPostgres(url, { seed: 'hush-seed', logger }).catch((error: Error) => error)
    t.ok(error instanceof DatabaseError)
    t.match((error as Error).message, /SANDBOX_SEED/)
    for (const log of logs) await log.close()
    const missing = await openPostgres(`${url}_missing`, { seed: 'test', logger }).catch((error: Error) => error)
    t.ok(missing instanceof DatabaseError, `${missing}`)
  })

  t.test('persistence: the isolation level of the database makes no difference', async t => {
    const url = await postgres.createDatabase()
    await postgres.query(url, `ALTER DATABASE ${nameOf(url)} SET default_transaction_isolation = 'repeatable read'`)
    const logs = await Promise.all([1, 2, 3].map(() => openPostgres(url, { seed: 'test', logger })))
    const [one, two] = logs.map(log => serveLog(t, log)) as [Stored, Stored, Stored]
    const client = await connect(one.app)
    const other = resume(two.app, client.token)
    const creations = Array.from({ length: 20 }, (_, n) => {
      const body = bill({ uniqueReferenceIdentifier: `INV-00${n}` })
      return n % 2 === 0 ? client.post('/api/v1/bills', body) : other.send('POST', '/api/v1/bills', body)
    })
    t.same(new Set((await Promise.all(creations)).map(({ status }) => status)), new Set([201]))
  })

  t.test('control plane, GET /health/ready: 503 while the database is read-only', async t => {
    const url = await postgres.createDatabase()
    const [{ app }] = await serve(t, url, 1)
    t.equal((await call(app, 'GET', '/_sandbox/health/ready')).status, 200)
    await postgres.query(url, `ALTER DATABASE ${nameOf(url)} SET default_transaction_read_only = on`)
    const others = 'pid <> pg_backend_pid() AND datname = current_database()'
    await postgres.query(url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${others}`)
    t.equal((await call(app, 'GET', '/_sandbox/health/ready')).status, 503)
  })

  t.test('persistence: what one server acknowledges, all others show', async t => {
    const [a, b, c] = (await serve(t, await postgres.createDatabase(), 3)) as [Stored, Stored, Stored]
    const client = await connect(a.app)
    await client.post('/api/v1/bills', bill())
    const { send } = resume(b.app, client.token)
    t.match((await send('GET', '/api/v1/bills')).body, { totalCount: 1 }, 'a token of another server')
    t.match(await send('POST', '/api/v1/bills', bill()), { status: 409 })
    const link = (await send('POST', '/api/v1/payout-links', payoutLink())).body
    const other = (await client.post('/api/v1/payout-links', payoutLink())).body
    t.not(link.payoutLinkId, other.payoutLinkId)
    t.equal(await stateOf(c.app), await stateOf(a.app))

    t.equal((await call(b.app, 'POST', '/_sandbox/reset?client=acme')).status, 200)
    refused(t, await client.get('/api/v1/bills'), 401, 'INVALID_TOKEN', 'authorization')
    t.match(JSON.parse(await stateOf(c.app)), { bills: [] })
    await call(c.app, 'POST', '/_sandbox/fork?client=acme', { body: { clientId: 'copy' } })
    const fork = await call(a.app, 'POST', '/_sandbox/fork?client=acme', { body: { clientId: 'copy' } })
    refused(t, fork, 409, 'DUPLICATE_REFERENCE', 'clientId')
    const wrong = await requestToken(b.app, { client_id: 'copy', client_secret: 'wrong' })
    t.equal(wrong.status, 401)
    const clients = (await call(b.app, 'GET', '/_sandbox/clients')).body.data
    t.same(clients.map(({ clientId }: { clientId: string }) => clientId).sort(), ['acme', 'copy', 'sandbox-client'])
  })

  t.test(
    'persistence: 20 simultaneous creations of one reference over three servers: one 201, nineteen 409',
    async t => {
      const servers = await serve(t, await postgres.createDatabase(), 3)
      const { token } = await connect(servers[0].app)
      for (let round = 0; round < 5; round++) {
        const body = bill({ uniqueReferenceIdentifier: `INV-000${round}` })
        const answers = await Promise.all(
          Array.from({ length: 20 }, (_, at) => {
            const { app } = servers[at % 3] as Stored
            return resume(app, token).send('POST', '/api/v1/bills', body)
          }),
        )
        const statuses = answers.map(({ status }) => status).sort()
        t.same(statuses, [201, ...Array.from({ length: 19 }, () => 409)])
      }
      const states = await Promise.all(servers.map(({ app }) => stateOf(app)))
      t.equal(new Set(states).size, 1)
      const rows = await servers[0].log.after('acme', 0)
      t.same(
        rows.map(({ sequence }) => sequence),
        rows.map((_, at) => at + 1),
      )
      t.equal(rows.length, 101)
      const registrations = await Promise.all(
        Array.from({ length: 12 }, (_, at) =>
          requestToken((servers[at % 3] as Stored).app, { client_id: 'beta', client_secret: `secret ${at}` }),
        ),
      )
      t.equal(registrations.filter(({ status }) => status === 200).length, 1, 'one registration of a client')
    },
  )

  t.test('persistence: writes, snapshots and reads of one tenant at the same time on three servers', async t => {
    const servers = await serve(t, await postgres.createDatabase(), 3)
    const { token } = await connect(servers[0].app)
    const count = 200
    const settings = { mandateActivation: 'manual' }
    await Promise.all(
      servers.map(async ({ app }, at) => {
        const { send, control } = resume(app, token)
        for (let n = 0; n < count; n++) {
          const uniqueReferenceIdentifier = `INV-${at}-${1000 + n}`
          if (n % 4 > 0) {
            const { status } = await control('PUT', '/settings', settings)
            if (status !== 200) t.fail(`a setting is answered ${status}`)
            continue
          }
          const created = await send('POST', '/api/v1/bills', bill({ uniqueReferenceIdentifier }))
          const next = servers[(at + 1) % 3] as Stored
          const read = await resume(next.app, token).send('GET', `/api/v1/bills/${uniqueReferenceIdentifier}`)
          if (created.status !== 201 || read.status !== 200) t.same([created, read], [], 'an acknowledged bill')
        }
      }),
    )
    const states = await Promise.all(servers.map(({ app }) => stateOf(app)))
    t.equal(new Set(states).size, 1)
    t.equal(JSON.parse(states[0] as string).bills.length, (3 * count) / 4)
    const operations = await operationsOf(servers[0])
    t.equal(operations[0], 'snapshot')
    t.ok(operations.length < 200)
  })

  t.test('persistence: the page of a payout link is on every server; a removed tenant is on none', async t => {
    const [a, b] = (await serve(t, await postgres.createDatabase(), 2)) as [Stored, Stored]
    const client = await connect(a.app)
    const { payoutLinkId } = (await client.post('/api/v1/payout-links', payoutLink())).body
    // The link is noted before the next turn of the tenant.
    await client.post('/api/v1/bills', bill())
    await claim(b.app, payoutLinkId, { accountHolderName: 'Jane Doe', accountIdentifier: 'DE89370400440532013000' })
    const link = (await call(a.app, 'GET', `/_sandbox/payout-links/${payoutLinkId}?client=acme`)).body
    t.match(link, { record: { status: 'CLAIMED' } })
    t.equal(await stateOf(a.app), await stateOf(b.app))
    t.equal((await call(b.app, 'GET', '/pay/pl_unknown')).status, 404)

    t.match(await call(b.app, 'DELETE', '/_sandbox/clients/acme'), { status: 200, body: { removed: 1 } })
    refused(t, await client.get('/api/v1/bills'), 401, 'INVALID_TOKEN', 'authorization')
    t.equal((await call(a.app, 'GET', '/_sandbox/state?client=acme')).status, 404)
    t.equal((await requestToken(a.app, { client_secret: 'new' })).status, 200)
    t.equal((await call(b.app, 'GET', '/_sandbox/state?client=acme')).status, 200)
  })

  t.test('persistence: a call that waits for an event on one server is woken by a request on another', async t => {
    const [a, b] = (await serve(t, await postgres.createDatabase(), 2, { timers: undefined })) as [Stored, Stored]
    const client = await connect(a.app)
    const waiting = call(b.app, 'GET', '/_sandbox/events?client=acme&wait=60')
    // The server has begun to wait when it answers a later request of the same tenant.
    await call(b.app, 'GET', '/_sandbox/events?client=acme')
    await client.post('/api/v1/bills', bill())
    t.match((await waiting).body, { data: [{ kind: 'bill', to: 'OPEN' }], last: 1 })
  })

  t.test('persistence: the request log has the requests of all servers, in its bounds', async t => {
    const [a, b] = (await serve(t, await postgres.createDatabase(), 2, {
      requestLog: { entries: 5, bytes: 1_000_000 },
    })) as [Stored, Stored]
    const client = await connect(a.app)
    await client.get('/api/v1/bills')
    const logOf = async (app: Stored['app']) => (await call(app, 'GET', '/_sandbox/requests?client=acme')).body
    t.match(await logOf(a.app), { last: 2, dropped: 0, data: [{ seq: 1, path: '/api/v1/oauth/token' }, { seq: 2 }] })
    const { send } = resume(b.app, client.token)
    await send('GET', '/api/v1/accounts')
    await logOf(b.app)
    t.match((await logOf(a.app)).data[2], { seq: 3, path: '/api/v1/accounts', status: 200 })
    for (let n = 0; n < 6; n++) await send('GET', '/api/v1/mandates')
    t.match(await logOf(b.app), { last: 9, dropped: 4, data: { length: 5 } })
    const verified = await call(a.app, 'POST', '/_sandbox/requests/verify?client=acme', {
      body: { path: '/api/v1/mandates', times: 5 },
    })
    t.match(verified.body, { matched: true })
    t.match((await call(a.app, 'DELETE', '/_sandbox/requests?client=acme')).body, { removed: 5 })
    t.match(await logOf(b.app), { last: 9, dropped: 4, data: [] })
    await call(a.app, 'POST', '/_sandbox/reset?client=acme')
    t.same(await logOf(b.app), { last: 0, dropped: 0, data: [] })
    const text = JSON.stringify((await b.log.after('acme', 0)).map(({ content }) => content))
    t.notMatch(text, 'secret-of')
  })

  t.test('persistence: while the database is away, 503 at once; all goes on by itself', async t => {
    const messages: string[] = []
    const log = await openPostgres(await postgres.createDatabase(), { seed: 'test', logger })
    const { app } = serveLog(t, log, { messages })
    const client = await connect(app)
    await client.post('/api/v1/bills', bill())
    await postgres.stop()
    for (const step of [
      () => client.get('/api/v1/bills'),
      () => client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: 'INV-0002' })),
      () => call(app, 'GET', '/_sandbox/health/ready'),
      () => call(app, 'GET', '/_sandbox/requests?client=acme'),
    ]) {
      const answer = await step()
      refused(t, answer, 503, 'SERVICE_UNAVAILABLE', null)
      t.equal(answer.headers['retry-after'], '1')
    }
    t.equal((await requestToken(app)).status, 503)
    t.equal((await call(app, 'GET', '/_sandbox/health/live')).status, 200)
    t.equal((await call(app, 'GET', '/_sandbox/errors')).status, 200, 'a call without tenant needs no database')
    await postgres.start()
    while ((await call(app, 'GET', '/_sandbox/health/ready')).status === 503) await pause(20)
    t.match((await client.get('/api/v1/bills')).body, { totalCount: 1 })
    t.equal((await client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: 'INV-0002' }))).status, 201)
  })
})
