import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import t from 'tap'
import { createTimers } from '../../src/http/timers.js'
import type { Database } from '../../src/turns/database.js'
import { DatabaseError, toTenantRow } from '../../src/turns/database.js'
import { openPostgres } from '../../src/turns/postgres.js'
import { refused } from '../answers.js'
import { claim, FORMS, open } from '../areas/pages.js'
import { bill, call, connect, mandate, payoutLink, requestToken } from '../helper.js'
import { manualTime } from '../manual-time.js'
import type { Stored, StoredOptions } from '../persistence/helper.js'
import { counting, onPostgres, resume, sharedPostgres, stateOf } from '../persistence/helper.js'
import { ended, locked, nameOf, postgresSkip, waiting } from '../postgres.js'
import { Server } from '../server-process.js'

const logger = { error() {}, info() {} }
const openOf = (url: string, seed = 'test') => openPostgres(url, { seed, logger })

/** Builds servers that share a database. */
const serve = (t: Test, url: string, count: number, options: StoredOptions = {}) =>
  Promise.all(Array.from({ length: count }, () => onPostgres(t, url, options))) as Promise<[Stored, Stored, Stored]>

/** Returns how many answers have each status. */
function tally(answers: readonly { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

const bills = (count: number, prefix = 'INV') =>
  Array.from({ length: count }, (_, n) => bill({ uniqueReferenceIdentifier: `${prefix}-${1000 + n}` }))

t.test(
  'persistence, Several servers on Postgres: what they share',
  { skip: postgresSkip, buffered: false },
  async t => {
    const postgres = await sharedPostgres()
    const { createDatabase, query } = postgres

    t.test('persistence: servers that start at the same time make the tables once; all need one seed', async t => {
      const url = await createDatabase()
      let opening: Promise<Database[]> = Promise.resolve([])
      // As a long migration of another server does.
      await locked(url, 'SELECT pg_advisory_xact_lock(7206115983)', async () => {
        opening = Promise.all([1, 2, 3].map(() => openOf(url)))
        await pause(4500)
      })
      const databases = await opening
      t.equal(databases.length, 3, 'they wait for each other')
      await t.rejects(openOf(url, 'other'), { constructor: DatabaseError, message: /^[^\n]*SANDBOX_SEED[^\n]*$/ })
      for (const database of databases) await database.close()
      await t.rejects(openOf(`${url}_missing`), { constructor: DatabaseError, message: /^[^\n]*$/ })
    })

    t.test('persistence: a database of another format is refused in one line, and left as it is', async t => {
      const newer = await createDatabase()
      await (await openOf(newer)).close()
      await query(newer, 'INSERT INTO sandbox_migration VALUES (99)')
      const former = await createDatabase()
      await query(former, 'CREATE TABLE sandbox_tenant_log (client_id text PRIMARY KEY)')
      await query(former, "INSERT INTO sandbox_tenant_log VALUES ('acme')")
      const all = async (url: string) =>
        (await query(url, "SELECT database_to_xml_and_xmlschema(true, false, '')::text AS text")).rows
      for (const [url, message] of [
        [newer, /^[^\n]*later release[^\n]*$/],
        [former, /^[^\n]*payments-sandbox 0\.1[^\n]*Nothing was changed[^\n]*0\.1\.0[^\n]*\/state[^\n]*PUT[^\n]*$/],
      ] as const) {
        const before = await all(url)
        await t.rejects(openOf(url), { constructor: DatabaseError, message })
        t.same(await all(url), before)
      }
    })

    t.test('persistence: a tenant on three servers: unique references, one of two cancels, no stale read', async t => {
      const url = await createDatabase()
      // It makes no difference.
      await query(url, `ALTER DATABASE ${nameOf(url)} SET default_transaction_isolation = 'serializable'`)
      const servers = await serve(t, url, 3)
      const { token } = await connect(servers[0].app)
      const on = (at: number) => resume((servers[at % 3] as Stored).app, token)
      for (const body of bills(3)) {
        const answers = Array.from({ length: 20 }, (_, at) => on(at).send('POST', '/api/v1/bills', body))
        t.same(tally(await Promise.all(answers)), { 201: 1, 409: 19 })
      }
      for (let round = 0; round < 4; round++) {
        const mandateReference = `MND-${round}`
        const url = `/api/v1/mandates/${mandateReference}`
        t.equal((await on(round).send('POST', '/api/v1/mandates', mandate({ mandateReference }))).status, 201)
        const answers = await Promise.all([1, 2, 3].map(at => on(round + at).send('DELETE', url)))
        t.same(tally(answers), { 200: 1, 409: 2 }, 'one cancels')
        t.match(await on(round + 1).send('GET', url), { body: { status: 'CANCELLED' } })
      }
      const wrong: unknown[] = []
      await Promise.all(
        servers.map(async (_, at) => {
          for (const body of bills(9, `S${at}`)) {
            const created = await on(at).send('POST', '/api/v1/bills', body)
            const read = await on(at + 1).send('GET', `/api/v1/bills/${body.uniqueReferenceIdentifier}`)
            if (created.status !== 201 || read.status !== 200) wrong.push([created, read])
          }
        }),
      )
      t.same(wrong, [], 'another server reads what one has acknowledged')
      const registrations = Array.from({ length: 12 }, (_, at) =>
        requestToken((servers[at % 3] as Stored).app, { client_id: 'beta', client_secret: `secret ${at}` }),
      )
      t.same(tally(await Promise.all(registrations)), { 200: 1, 401: 11 }, 'one registration')
      const states = await Promise.all(servers.map(({ app }) => stateOf(app)))
      t.equal(new Set(states).size, 1)
      t.equal(JSON.parse(states[0] as string).bills.length, 30)
    })

    t.test('control plane, GET /coverage: each server counts its own answers, also of clients of others', async t => {
      const [a, b] = await serve(t, await createDatabase(), 2)
      const requests = async ({ app }: Stored) => {
        const { operations } = (await call(app, 'GET', '/_sandbox/coverage?client=job')).body
        return operations.find(({ operation }: { operation: string }) => operation === 'GET /api/v1/bills').requests
      }
      const { token } = await connect(a.app, 'job')
      const on = ({ app }: Stored) => resume(app, token, 'job')
      for (const server of [a, b, b]) await on(server).send('GET', '/api/v1/bills')
      t.same([await requests(a), await requests(b)], [1, 2])
      await on(a).control('POST', '/reset')
      t.same([await requests(a), await requests(b)], [0, 2], 'a reset is of the server that does it')
      await call(a.app, 'DELETE', '/_sandbox/clients/job')
      t.equal((await call(b.app, 'GET', '/_sandbox/coverage?client=job')).status, 404)
      await connect(b.app, 'job')
      t.same([await requests(a), await requests(b)], [0, 0], 'a client that is gone leaves none')
    })

    t.test('persistence: a reset, a restored state, a fork, a claim and a removal are on all servers', async t => {
      const servers = await serve(t, await createDatabase(), 3)
      const [a, b, c] = servers
      const client = await connect(a.app)
      const { payoutLinkId } = (await client.post('/api/v1/payout-links', payoutLink())).body
      const same = async (what: string) =>
        t.equal(new Set(await Promise.all(servers.map(({ app }) => stateOf(app)))).size, 1, what)
      await same('a link')
      await claim({ app: b.app, clientId: 'acme' }, payoutLinkId, FORMS['SEPA-CT']?.form ?? {})
      t.match(JSON.parse(await stateOf(a.app)).payoutLinks, [{ record: { status: 'CLAIMED' } }])
      await same('a claim')
      t.equal((await open({ app: c.app, clientId: 'acme' }, 'pl_unknown')).statusCode, 404)
      const state = JSON.parse(await stateOf(c.app))
      t.equal((await call(c.app, 'POST', '/_sandbox/fork?client=acme', { body: { clientId: 'copy' } })).status, 201)
      t.equal((await call(a.app, 'POST', '/_sandbox/fork?client=acme', { body: { clientId: 'copy' } })).status, 409)
      t.equal((await call(b.app, 'POST', '/_sandbox/reset?client=acme')).status, 200)
      refused(t, await client.get('/api/v1/bills'), 401, 'INVALID_TOKEN', 'authorization')
      await same('a reset')
      t.equal((await call(a.app, 'PUT', '/_sandbox/state?client=acme', { body: state })).status, 200)
      t.same(JSON.parse(await stateOf(b.app)), state)
      await same('a restored state')
      t.equal((await requestToken(b.app, { client_id: 'copy', client_secret: 'wrong' })).status, 401)
      t.match(await call(b.app, 'DELETE', '/_sandbox/clients/acme'), { status: 200, body: { removed: 1 } })
      for (const { app } of servers) t.equal((await call(app, 'GET', '/_sandbox/state?client=acme')).status, 404)
      t.equal((await call(a.app, 'POST', '/_sandbox/fork?client=copy', { body: { clientId: 'acme' } })).status, 201)
      await same('a fork of a free id')
      const clients = (await call(b.app, 'GET', '/_sandbox/clients')).body.data
      t.same(clients.map(({ clientId }: { clientId: string }) => clientId).sort(), ['acme', 'copy', 'sandbox-client'])
    })

    t.test('persistence: a damaged client can be reset and removed, also where it is in memory', async t => {
      const url = await createDatabase()
      let realNow = Date.parse('2026-11-02T09:00:00Z')
      const [a, b] = await serve(t, url, 2, { now: () => ++realNow })
      for (const damage of [
        "record SET content = '{}'",
        "event SET content = '{}'",
        "tenant SET content = '{}'",
        "tenant SET content = ''",
        'tenant SET version = 0',
        'tenant SET version = version + 9007199254740992',
      ]) {
        for (const [method, path] of [
          ['POST', '/_sandbox/reset?client=acme'],
          ['DELETE', '/_sandbox/clients/acme'],
        ] as const) {
          const client = await connect(a.app)
          await client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: 'INV-0001' }))
          t.match(JSON.parse(await stateOf(b.app)).bills, { length: 1 })
          t.equal((await client.patch('/api/v1/bills/INV-0001', { status: 'PAID' })).status, 200)
          const rows = `sandbox_${damage} WHERE client_id = 'acme'`
          t.ok((await query(url, `UPDATE ${rows}`)).rowCount, rows)
          refused(t, await call(b.app, 'GET', '/_sandbox/state?client=acme'), 503, 'SERVICE_UNAVAILABLE', null)
          t.equal((await call(b.app, method, path)).status, 200, `${method} ${path} after ${damage}`)
          for (const { app } of [a, b]) {
            t.equal((await resume(app, client.token).send('GET', '/api/v1/bills')).status, 401)
            const { status, body } = await call(app, 'GET', '/_sandbox/state?client=acme')
            t.match([status, body.bills ?? []], [method === 'POST' ? 200 : 404, { length: 0 }])
          }
          await call(a.app, 'DELETE', '/_sandbox/clients/acme')
        }
      }
    })

    t.test('persistence: a turn of two clients that begins one of them leaves no trace of the other', async t => {
      const database = await openOf(await createDatabase())
      t.teardown(() => database.close())
      const turn = await database.begin(['one', 'two'])
      const row = toTenantRow('one', { version: 1, life: 1, instant: 0, isRemoved: false, content: '{}' })
      await turn.write('one', row, { record: [], event: [] })
      await turn.commit()
      t.same(await database.clients(), ['one'])
      t.equal(await database.read(reader => reader.tenant('two')), undefined)
      const next = await database.begin(['one', 'two'])
      t.match([await next.tenant('one'), await next.tenant('two')], [{ version: 1 }, undefined])
      await next.rollback()
    })

    t.test('persistence, State in tables: an id that no client has is 404 or 401, however long it is', async t => {
      const { app } = await onPostgres(t, await createDatabase())
      // Random characters of three bytes, which an index cannot compress.
      const long = Array.from({ length: 1000 }, (_, at) => String.fromCharCode(0x4e00 + ((at * 7919 * 13) % 20_000)))
      for (const clientId of [...[666, 667, 1000].map(length => long.slice(0, length).join('')), 'a\0b']) {
        t.equal((await requestToken(app, { client_id: clientId })).status, 401)
        const query = `client=${encodeURIComponent(clientId)}`
        for (const path of ['state', 'requests', 'coverage', 'events'])
          t.equal((await call(app, 'GET', `/_sandbox/${path}?${query}`)).status, 404, path)
        t.equal((await call(app, 'DELETE', `/_sandbox/clients/${encodeURIComponent(clientId)}`)).status, 404)
      }
    })

    t.test('persistence, State in tables: a client with more rows than a statement deletes can be reset', async t => {
      const url = await createDatabase()
      const { app } = await onPostgres(t, url)
      for (const path of ['/_sandbox/reset?client=acme', '/_sandbox/clients/acme']) {
        await connect(app)
        // The numbers of damaged rows.
        const lowest = 'SELECT -9223372036854775808'
        const many = `${lowest} UNION SELECT 9223372036854775807 UNION SELECT generate_series(-20000, 100000)`
        for (const [table, numbers] of [
          ['record', many],
          ['event', lowest],
        ]) {
          const row = `SELECT 'acme', number, 0, 'bill', NULL, '', '', '' FROM (${numbers}) AS numbers (number)`
          await query(url, `INSERT INTO sandbox_${table} ${row}`)
        }
        t.equal((await call(app, path.includes('reset') ? 'POST' : 'DELETE', path)).status, 200, path)
        const count = (table: string) =>
          query(url, `SELECT count(*) AS n FROM sandbox_${table} WHERE client_id = 'acme'`)
        const counts = await Promise.all(['record', 'event'].map(count))
        const shown = counts.map(({ rows }) => Number(rows[0].n))
        t.same(shown, [0, 0])
      }
    })

    t.test('persistence, State in tables: a damaged entry of the request log is left out', async t => {
      const url = await createDatabase()
      const { app } = await onPostgres(t, url)
      const client = await connect(app)
      for (let at = 0; at < 4; at++) await client.get('/api/v1/bills')
      const page = async (query: string) => await call(app, 'GET', `/_sandbox/requests?client=acme${query}`)
      t.equal((await page('')).body.last, 5)
      const damage = "UPDATE sandbox_request SET content = left(content, 20) WHERE client_id = 'acme' AND seq IN (3, 5)"
      t.equal((await query(url, damage)).rowCount, 2)
      const seqs = async (query: string) => (await page(query)).body.data.map(({ seq }: { seq: number }) => seq)
      t.same([await seqs(''), await seqs('&limit=2'), await seqs('&limit=1&before=4')], [[1, 2, 4], [2, 4], [2]])
      t.equal((await page('&format=har')).status, 200)
      t.equal((await call(app, 'GET', '/_sandbox/requests/3?client=acme')).status, 404)

      const entry = (await call(app, 'GET', '/_sandbox/requests/2?client=acme')).body
      const others = [
        '{}',
        '17',
        '[]',
        'null',
        '{"method":"GET"}',
        { ...entry, headers: null },
        { ...entry, faults: [0] },
      ]
      for (const other of others.map(other => (typeof other === 'string' ? other : JSON.stringify(other)))) {
        await query(url, `UPDATE sandbox_request SET content = '${other}' WHERE client_id = 'acme' AND seq IN (3, 5)`)
        for (const filter of ['', '&hints=false', '&path=/*', '&method=GET', '&status=200'])
          t.same((await seqs(filter)).slice(-2), [2, 4], `${other} ${filter}`)
        t.match((await page('&format=har')).body.log.entries, { length: 3 })
        t.equal((await call(app, 'GET', '/_sandbox/requests/3?client=acme')).status, 404)
        const body = { path: '/api/v1/bills', times: 2 }
        t.match((await call(app, 'POST', '/_sandbox/requests/verify?client=acme', { body })).body, { matched: true })
        t.equal((await call(app, 'GET', '/_sandbox/console/requests?client=acme')).status, 200)
      }
      await query(url, `UPDATE sandbox_request SET content = '${JSON.stringify(entry)}' WHERE client_id = 'acme'`)
      t.same(await seqs(''), [1, 2, 3, 4, 5], 'the number is that of the row')
    })

    t.test('persistence, State in tables: a client whose rows are deleted under the server begins again', async t => {
      const url = await createDatabase()
      const first = await onPostgres(t, url)
      const client = await connect(first.app)
      await client.post('/api/v1/bills', bill())
      await query(url, "DELETE FROM sandbox_tenant WHERE client_id = 'acme'")
      t.ok((await client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: 'INV-LATER' }))).status >= 400)
      const again = await connect(first.app)
      t.equal((await again.post('/api/v1/bills', bill())).status, 201)
      await first.close()
      const { app } = await onPostgres(t, url)
      t.match(JSON.parse(await stateOf(app)), { bills: { length: 1 } }, 'what was acknowledged is there')
    })

    t.test('persistence, State in tables: where it begins again on another server, all show its new life', async t => {
      const url = await createDatabase()
      // A row that is deleted leaves no version.
      let now = 0
      const servers = [await onPostgres(t, url, { now: () => ++now }), await onPostgres(t, url, { now: () => ++now })]
      const begin = async ({ app }: Stored, uniqueReferenceIdentifier: string) =>
        (await connect(app)).post('/api/v1/bills', bill({ uniqueReferenceIdentifier }))
      await begin(servers[1] as Stored, 'FORMER')
      for (const table of ['tenant', 'record', 'event'])
        await query(url, `DELETE FROM sandbox_${table} WHERE client_id = 'acme'`)
      await begin(servers[0] as Stored, 'LATER')
      for (const { app } of servers)
        t.match(JSON.parse(await stateOf(app)).bills, [{ record: { uniqueReferenceIdentifier: 'LATER' } }])
    })

    t.test('persistence, Several servers on Postgres: the bound of entries is that of each client', async t => {
      const { app } = await onPostgres(t, await createDatabase(), { requestLog: { entries: 2, bytes: 1_000_000 } })
      const ids = Array.from({ length: 12 }, (_, n) => `client-${n}`)
      const clients = await Promise.all(ids.map(id => connect(app, id)))
      await Promise.all(clients.map(client => client.get('/api/v1/bills')))
      for (const id of ids) {
        const { data } = (await call(app, 'GET', `/_sandbox/requests?client=${id}`)).body
        t.match(data, [{ path: '/api/v1/oauth/token' }, { path: '/api/v1/bills' }], id)
      }
    })

    t.test('persistence, State in tables: damaged or missing counts of a request log stop no log', async t => {
      const url = await createDatabase()
      const { app } = await onPostgres(t, url)
      const client = await connect(app)
      const log = async () => (await call(app, 'GET', '/_sandbox/requests?client=acme')).body
      await log()
      const most = '9223372036854775807'
      let last = 1
      for (const damage of [
        'UPDATE sandbox_request_count SET last = 0',
        'UPDATE sandbox_request_count SET last = -9',
        `UPDATE sandbox_request_count SET last = ${most}`,
        'DELETE FROM sandbox_request_count',
        `INSERT INTO sandbox_request VALUES (DEFAULT, 'acme', ${most}, 1, '')`,
      ]) {
        await query(url, damage)
        await client.get('/api/v1/bills')
        const { data } = await log()
        t.equal(data.at(-1).seq, ++last, damage)
        t.match(data, { length: last })
      }
      await query(url, `UPDATE sandbox_request_count SET cleared = ${most}`)
      t.match((await call(app, 'DELETE', '/_sandbox/requests?client=acme')).body, { removed: last + 1 })

      await query(url, 'ALTER TABLE sandbox_request ADD CONSTRAINT none CHECK (seq < 0)')
      await client.get('/api/v1/bills')
      refused(t, await call(app, 'GET', '/_sandbox/requests?client=acme'), 503, 'SERVICE_UNAVAILABLE', null)
      t.match((await call(app, 'DELETE', '/_sandbox/requests?client=acme')).body, { removed: 0 })
      await query(url, 'ALTER TABLE sandbox_request DROP CONSTRAINT none')
      t.match(await log(), { data: { length: 0 } }, 'what could not be written is gone')
      await client.get('/api/v1/bills')
      t.match(await log(), { data: [{ seq: last + 1 }] })
    })

    t.test('persistence: a server reads the changes of another, not the whole client', async t => {
      const counts = counting()
      const [a, b] = await serve(t, await createDatabase(), 2, { wrap: counts.wrap })
      const client = await connect(a.app)
      const other = resume(b.app, client.token)
      for (const size of [10, 1500]) {
        await client.control('POST', '/seed', { records: { bills: bills(size, `SIZE${size}`) } })
        await other.send('GET', '/api/v1/bills?limit=1')
        counts.take()
        await client.patch(`/api/v1/bills/SIZE${size}-1005`, { status: 'PAID' })
        t.match(counts.take(), { read: 0, written: 2 })
        t.match(await other.send('GET', `/api/v1/bills/SIZE${size}-1005`), { body: { status: 'PAID' } })
        t.match(counts.take(), { read: 2, begun: 0 }, 'a record and its event')
        await other.send('GET', `/api/v1/bills/SIZE${size}-1005`)
        t.match(counts.take(), { read: 0, begun: 0 })
      }
    })

    t.test('persistence, What it costs: a server reads each row of a client once, also without statistics', async t => {
      const url = await createDatabase()
      const [a, b] = await serve(t, url, 2)
      const client = await connect(a.app)
      await client.control('POST', '/seed', { records: { bills: bills(3500) } })
      t.equal((await resume(b.app, client.token).send('GET', '/api/v1/bills?limit=1')).status, 200)
      await Promise.all([a.close(), b.close()])
      // A connection counts what it has read at its end.
      await ended(url)
      const count = "SELECT idx_tup_read FROM pg_stat_user_indexes WHERE indexrelname = 'sandbox_record_version'"
      const read = Number((await query(url, count)).rows[0].idx_tup_read)
      t.ok(read >= 3500 && read < 3600, `${read} rows`)
    })

    t.test('persistence: waits see the events of other servers', async t => {
      const [a, b] = await serve(t, await createDatabase(), 2, { timers: undefined })
      const client = await connect(a.app)
      const waiting = call(b.app, 'GET', '/_sandbox/events?client=acme&wait=60')
      // The server has begun to wait when it answers a later request of the same tenant.
      await call(b.app, 'GET', '/_sandbox/events?client=acme')
      await client.post('/api/v1/bills', bill())
      t.match((await waiting).body, { data: [{ kind: 'bill', to: 'OPEN' }], last: 1 })
      const last = call(b.app, 'GET', '/_sandbox/events?client=acme&after=1&wait=60')
      await call(b.app, 'GET', '/_sandbox/events?client=acme')
      await client.control('POST', '/reset')
      t.same((await last).body, { data: [], last: 0 }, 'a wait ends with a reset')
      const gone = call(b.app, 'GET', '/_sandbox/events?client=acme&wait=60')
      await call(b.app, 'GET', '/_sandbox/events?client=acme')
      await call(a.app, 'DELETE', '/_sandbox/clients/acme')
      t.equal((await gone).status, 404)
    })

    t.test('persistence: an event while a server does not listen is there as soon as it listens again', async t => {
      const url = await createDatabase()
      await query(url, 'CREATE ROLE deaf LOGIN; GRANT ALL ON SCHEMA public TO deaf')
      const b = await onPostgres(t, url.replace('sandbox@', 'deaf@'), { timers: manualTime().timers })
      const a = await onPostgres(t, url)
      const client = await connect(a.app)
      const waiting = call(b.app, 'GET', '/_sandbox/events?client=acme&wait=60')
      // The call waits once a later one is answered.
      await call(b.app, 'GET', '/_sandbox/events?client=acme')
      await query(url, 'ALTER ROLE deaf NOLOGIN')
      await query(url, "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE usename = 'deaf'")
      await client.post('/api/v1/bills', bill())
      await query(url, 'ALTER ROLE deaf LOGIN')
      t.match((await waiting).body, { data: [{ kind: 'bill', to: 'OPEN' }], last: 1 })
    })

    t.test('persistence: the request log has the requests of all servers, in its bounds', async t => {
      const [a, b] = await serve(t, await createDatabase(), 2, { requestLog: { entries: 5, bytes: 1_000_000 } })
      const client = await connect(a.app)
      await client.get('/api/v1/bills')
      const logOf = async (app: FastifyInstance) => (await call(app, 'GET', '/_sandbox/requests?client=acme')).body
      t.match(await logOf(a.app), { last: 2, dropped: 0, data: [{ seq: 1, path: '/api/v1/oauth/token' }, { seq: 2 }] })
      const { send } = resume(b.app, client.token)
      await send('GET', '/api/v1/accounts')
      await logOf(b.app)
      t.match((await logOf(a.app)).data[2], { seq: 3, path: '/api/v1/accounts', status: 200 })
      for (let n = 0; n < 6; n++) await send('GET', '/api/v1/mandates')
      t.match(await logOf(b.app), { last: 9, dropped: 4, data: { length: 5 } })
      const body = { path: '/api/v1/mandates', times: 5 }
      t.match((await call(a.app, 'POST', '/_sandbox/requests/verify?client=acme', { body })).body, { matched: true })
      t.match((await call(a.app, 'DELETE', '/_sandbox/requests?client=acme')).body, { removed: 5 })
      t.match(await logOf(b.app), { last: 9, dropped: 4, data: [] })
      await call(a.app, 'POST', '/_sandbox/reset?client=acme')
      t.same(await logOf(b.app), { last: 0, dropped: 0, data: [] })
    })

    // ---------------------------------------------------------------------------------------------------- availability

    /**
     * Sends writes and reads of some clients while something is done. Returns their statuses, and the longest wait.
     * @param restMs how long each client rests between requests; default: not at all
     */
    async function load(
      apps: readonly FastifyInstance[],
      clientIds: readonly string[],
      work: () => Promise<void>,
      restMs = 0,
    ) {
      const clients = await Promise.all(
        clientIds.map((clientId, at) => connect(apps[at % apps.length] as FastifyInstance, clientId)),
      )
      const statuses = new Map(clientIds.map(clientId => [clientId, [] as { status: number }[]]))
      let isOver = false
      let longest = 0
      const running = clients.map(async ({ send, clientId }, at) => {
        for (let n = 0; !isOver; n++) {
          const begun = performance.now()
          const answer =
            n % 2 === 0
              ? await send('POST', '/api/v1/bills', {
                  body: bill({ uniqueReferenceIdentifier: `L${at}-${n}-${begun | 0}` }),
                })
              : await send('GET', '/api/v1/bills?limit=1')
          longest = Math.max(longest, performance.now() - begun)
          statuses.get(clientId)?.push(answer)
          if (restMs > 0) await pause(restMs)
        }
      })
      await work()
      isOver = true
      await Promise.all(running)
      return { of: (clientId: string) => tally(statuses.get(clientId) ?? []), longest }
    }

    const others = Array.from({ length: 8 }, (_, at) => `other-${at}`)

    t.test('persistence: a locked row concerns its client only, and its reads go on', async t => {
      const url = await createDatabase()
      const begun: string[] = []
      const wrap = (database: Database): Database => ({
        ...database,
        begin(clientIds) {
          begun.push(...clientIds)
          return database.begin(clientIds)
        },
      })
      const { app } = await onPostgres(t, url, { wrap })
      const client = await connect(app)
      begun.length = 0
      const lock = "SELECT * FROM sandbox_tenant WHERE client_id = 'acme' FOR UPDATE"
      const found = await load(
        [app],
        others,
        () =>
          locked(url, lock, async () => {
            const writes = bills(3).map(body => client.post('/api/v1/bills', body))
            t.equal((await call(app, 'GET', '/_sandbox/health/ready')).status, 200)
            t.same(tally(await Promise.all(writes)), { 503: 3 })
            t.equal(begun.filter(clientId => clientId === 'acme').length, 1, 'the others fail with the first one')
            t.equal((await client.get('/api/v1/bills')).status, 200)
          }),
        50,
      )
      for (const clientId of others) t.same(Object.keys(found.of(clientId)).sort(), ['200', '201'], clientId)
      t.equal((await client.post('/api/v1/bills', bill())).status, 201)
    })

    t.test('persistence: a locked request log concerns no request of the API', async t => {
      const url = await createDatabase()
      const { app } = await onPostgres(t, url)
      const found = await load(
        [app],
        others,
        () => locked(url, 'LOCK TABLE sandbox_request, sandbox_request_count', () => pause(2000)),
        20,
      )
      for (const clientId of others) t.same(Object.keys(found.of(clientId)).sort(), ['200', '201'], clientId)
      t.ok(found.longest < 1500, `${found.longest} ms`)
      t.match((await call(app, 'GET', '/_sandbox/requests?client=other-0')).status, 200)
    })

    t.test('persistence: a locked or damaged log of clients holds up no other client', async t => {
      const url = await createDatabase()
      const { app } = await onPostgres(t, url, { timers: createTimers() })
      const [other, ...held] = await Promise.all(['other', 'one', 'two', 'three'].map(id => connect(app, id)))
      const read = (clientId: string) => call(app, 'GET', `/_sandbox/requests?client=${clientId}`)
      for (const { clientId } of held) await read(clientId)
      const ofHeld = "WHERE client_id IN ('one', 'two', 'three')"
      const all = async () => {
        for (const { get } of held) t.equal((await get('/api/v1/bills')).status, 200)
        for (let at = 0; at < 3; at++) {
          t.equal((await other?.get('/api/v1/bills'))?.status, 200)
          const begun = performance.now()
          t.equal((await read('other')).status, 200)
          t.ok(performance.now() - begun < 1000, 'it waits for none of them')
        }
      }
      // A write of another user, and a VACUUM.
      const vacuum = 'LOCK TABLE sandbox_request_count IN SHARE UPDATE EXCLUSIVE MODE'
      await locked(url, `UPDATE sandbox_request_count SET client_id = client_id ${ofHeld}; ${vacuum}`, async () => {
        await all()
        t.equal((await read('one')).status, 503, 'the log of a locked client')
      })
      for (const { clientId } of held) while ((await read(clientId)).status !== 200) await pause(50)
      t.equal((await read('one')).body.last, 2, 'nothing is lost')

      await query(url, `UPDATE sandbox_request_count SET last = 9223372036854775807 ${ofHeld}`)
      await all()
      t.equal((await read('one')).status, 200)
    })

    t.test('persistence: ten clients with five connections: no 5xx', async t => {
      const url = await createDatabase()
      await query(url, `CREATE ROLE small LOGIN CONNECTION LIMIT 5; GRANT ALL ON SCHEMA public TO small`)
      const { app } = await onPostgres(t, url.replace('sandbox@', 'small@'))
      const clientIds = [...others, 'nine', 'ten']
      const found = await load([app], clientIds, async () => {
        for (let n = 0; n < 5; n++) {
          await pause(20)
          t.equal((await call(app, 'GET', '/_sandbox/requests?client=ten')).status, 200)
          t.equal((await call(app, 'GET', '/_sandbox/health/ready')).status, 200)
        }
      })
      for (const clientId of clientIds) t.same(Object.keys(found.of(clientId)).sort(), ['200', '201'], clientId)
    })

    t.test('persistence: further connections leave the request log its own', async t => {
      const url = await createDatabase()
      await query(url, `CREATE ROLE tight LOGIN CONNECTION LIMIT 5; GRANT ALL ON SCHEMA public TO tight`)
      const { app } = await onPostgres(t, url.replace('sandbox@', 'tight@'))
      const held = ['one', 'two', 'three']
      for (const clientId of held) await connect(app, clientId)
      await connect(app)
      const lock = "SELECT * FROM sandbox_tenant WHERE client_id IN ('one', 'two', 'three') FOR UPDATE"
      await locked(url, lock, async () => {
        const blocked = held.map(clientId => call(app, 'POST', `/_sandbox/reset?client=${clientId}`))
        await waiting(url, 3)
        const ofLog = "usename = 'tight' AND query LIKE '%sandbox_request%'"
        await query(url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${ofLog}`)
        // The turn of this client takes the connection that is free now.
        t.equal((await call(app, 'POST', '/_sandbox/reset?client=acme')).status, 200)
        await Promise.all(blocked)
      })
      await load([app], [...others, 'nine', 'ten'], async () => {
        await pause(20)
        t.equal((await call(app, 'GET', '/_sandbox/requests?client=ten')).status, 200)
      })
    })

    t.test('persistence: while the database is away or stopped, 503 within seconds; all goes on by itself', async t => {
      const url = await createDatabase()
      const lines: { reason?: string; msg?: string }[] = []
      const { app } = await onPostgres(t, url, { lines, timers: createTimers() })
      const other = await onPostgres(t, url)
      const client = await connect(app)
      await client.post('/api/v1/bills', bill())
      for (const [gone, back] of [
        [postgres.stop, postgres.start],
        [async () => postgres.signal('SIGSTOP'), async () => postgres.signal('SIGCONT')],
      ] as const) {
        const waiting = client.control('GET', '/events?after=1&wait=1')
        await client.control('GET', '/events')
        await gone()
        const begun = performance.now()
        // The first one notices it.
        refused(t, await client.get('/api/v1/bills'), 503, 'SERVICE_UNAVAILABLE', null)
        t.ok(performance.now() - begun < 8000, 'within seconds')
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
        const headers = { authorization: `Bearer ${client.token}` }
        t.equal((await call(other.app, 'GET', '/api/v1/bills', { region: 'EU', headers })).status, 503)
        refused(t, await waiting, 503, 'SERVICE_UNAVAILABLE', null)
        t.ok(performance.now() - begun < 9000, 'and at once from then on')
        for (const path of ['health/live', 'errors']) t.equal((await call(app, 'GET', `/_sandbox/${path}`)).status, 200)
        await back()
        while ((await call(app, 'GET', '/_sandbox/health/ready')).status === 503) await pause(20)
        t.match((await client.get('/api/v1/bills')).body, { totalCount: 1 })
        const ofDemo = () => call(other.app, 'GET', '/_sandbox/requests')
        while ((await ofDemo()).status === 503) await pause(20)
        t.equal((await ofDemo()).body.last, 0, 'a client that is not in memory is not taken for that of the demo')
        t.same(
          lines.map(({ reason, ...rest }) => rest),
          [{ msg: 'the database is away' }, { msg: 'the database is back' }],
          'nothing else is logged, such as a statement or the key of a connection',
        )
        t.match(lines[0]?.reason, /^[^\n]{10,100}$/)
        lines.length = 0
      }
      t.equal((await client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: 'INV-0002' }))).status, 201)
      await query(url, `ALTER DATABASE ${nameOf(url)} SET default_transaction_read_only = on`)
      await query(url, 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()')
      t.equal((await call(app, 'GET', '/_sandbox/health/ready')).status, 503, 'a read-only database is not ready')
    })

    t.test('persistence: a full disk is 503 for writes and readiness, reads go on, and the log says so', async t => {
      const url = await createDatabase()
      const lines: object[] = []
      const { app } = await onPostgres(t, url, { lines })
      const client = await connect(app)
      const full = "BEGIN RAISE EXCEPTION 'No space left on device' USING ERRCODE = 'disk_full'; END"
      await query(url, `CREATE FUNCTION fill() RETURNS trigger LANGUAGE plpgsql AS $$ ${full} $$`)
      await query(url, 'CREATE TRIGGER full_disk BEFORE INSERT ON sandbox_event EXECUTE FUNCTION fill()')
      const state = await stateOf(app)
      refused(t, await client.post('/api/v1/bills', bill()), 503, 'SERVICE_UNAVAILABLE', null)
      const reason = 'No space left on device'
      t.same(lines, [{ clientId: 'acme', code: '53100', reason, msg: 'the database cannot be used' }])
      t.equal(await stateOf(app), state)
      await query(url, 'DROP TRIGGER full_disk ON sandbox_event')
      t.equal((await client.post('/api/v1/bills', bill())).status, 201)

      const ready = async () => (await call(app, 'GET', '/_sandbox/health/ready')).status
      t.equal(await ready(), 200)
      await query(url, 'CREATE TRIGGER full_disk BEFORE UPDATE ON sandbox_setting EXECUTE FUNCTION fill()')
      t.equal(await ready(), 503, 'its check writes')
      await query(url, 'DROP TRIGGER full_disk ON sandbox_setting')
      t.equal(await ready(), 200)
      // Postgres has no bound of a disk, but one of the files that its check makes.
      await query(url, `ALTER DATABASE ${nameOf(url)} SET temp_file_limit = '1MB'`)
      const limited = await onPostgres(t, url)
      t.equal((await call(limited.app, 'GET', '/_sandbox/health/ready')).status, 503, 'its check takes 1 MiB')
      t.equal(await stateOf(limited.app), await stateOf(app))
    })

    t.test('persistence: a server whose database answers nothing ends on SIGTERM, with exit code 0', async t => {
      const server = await Server.start({ SANDBOX_DATABASE_URL: await createDatabase() })
      t.teardown(() => server.child.kill('SIGKILL'))
      const request = { method: 'GET', url: '/_sandbox/state', headers: {} }
      t.equal((await server.transport(request)).status, 200)
      postgres.signal('SIGSTOP')
      const exited = once(server.child, 'exit')
      const waiting = server.transport(request).catch(() => 'no answer')
      server.child.kill('SIGTERM')
      const exit = await exited
      postgres.signal('SIGCONT')
      t.same(exit, [0, null])
      await waiting
    })

    t.test('persistence: a connection that is cut concerns its own request only', async t => {
      const url = await createDatabase()
      const { app } = await onPostgres(t, url)
      let cut = 0
      const found = await load([app], others, async () => {
        for (; cut < 10; cut++) {
          await query(
            url,
            `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE application_name = 'payments-sandbox' AND datname = current_database() ORDER BY random() LIMIT 1`,
          )
          await pause(20)
        }
      })
      const failed = others.reduce((sum, clientId) => sum + (found.of(clientId)[503] ?? 0), 0)
      t.ok(failed <= cut, `${failed} requests of ${cut} cut connections`)
    })
  },
)

t.test('persistence, Several servers on Postgres: the request log of all of them', { skip: postgresSkip }, async t => {
  const { createDatabase } = await sharedPostgres()
  const url = await createDatabase()
  const options = () => ({ timers: createTimers() })
  const [one, other] = [await onPostgres(t, url, options()), await onPostgres(t, url, options())]
  const client = await connect(one.app)
  const page = async (query: string) =>
    (await call(other.app, 'GET', `/_sandbox/requests?client=acme${query}`)).body as {
      data: { seq: number; status: number }[]
      last: number
      dropped: number
    }

  await t.test('a wait of one server sees the requests of the other, and ends with its resets', async t => {
    const time = manualTime()
    const { app } = await onPostgres(t, url, { now: time.now, timers: time.timers })
    /** Waits for a request on this server while the other one acts. Returns the answer and how long it took. */
    async function waitFor(after: number, act: () => Promise<unknown>) {
      let isAnswered = false
      const path = `/_sandbox/requests?client=acme&after=${after}&wait=60`
      const answer = call(app, 'GET', path).finally(() => {
        isAnswered = true
      })
      // The call waits, and has read the log, once later ones are answered.
      for (let reads = 0; reads < 2; reads++) await call(app, 'GET', '/_sandbox/requests?client=acme&limit=1')
      await act()
      // The server that has the requests reads them after they are written.
      await call(one.app, 'GET', '/_sandbox/requests?client=acme&limit=1')
      let seconds = 0
      for (; !isAnswered; seconds += 0.5) {
        time.pass(500)
        await call(app, 'GET', '/_sandbox/requests?client=acme&limit=1')
      }
      t.ok(seconds < 30, `after ${seconds} s`)
      return (await answer).body
    }
    t.match(await waitFor(1, () => client.post('/api/v1/mandates', mandate())), { data: [{ seq: 2 }], last: 2 })
    const reset = async () => {
      await client.control('POST', '/reset')
      // The new log has as many requests when it is read.
      await (await connect(one.app)).get('/api/v1/mandates')
    }
    t.match(await waitFor(2, reset), { data: [{ seq: 1 }, { seq: 2 }], last: 2 })
  })

  await t.test('a list is read from the latest on, in batches', async t => {
    const again = await connect(one.app)
    for (let at = 0; at < 130; at++) await again.get(at === 3 ? '/api/v1/mandates?limit=0' : '/api/v1/mandates')
    // The server that has the requests reads them after they are written.
    const { last } = (await call(one.app, 'GET', '/_sandbox/requests?client=acme&limit=1')).body as { last: number }
    const seqs = async (query: string) => (await page(query)).data.map(({ seq }) => seq)
    t.equal((await page('')).data.length, last)
    t.same(await seqs('&limit=2'), [last - 1, last])
    t.same(await seqs(`&limit=2&before=${last}`), [last - 2, last - 1])
    t.same(await seqs('&after=2&before=5'), [3, 4])
    const [refused] = (await page('&errors=true&limit=1')).data
    t.match(refused, { status: 400 })
    t.ok((refused?.seq ?? last) < last - 100, 'it is older than one batch')
    t.same(await page('&path=/none&limit=5'), { data: [], last, dropped: 0 })
    t.match(await call(other.app, 'GET', `/_sandbox/requests/${last}?client=acme`), {
      status: 200,
      body: { seq: last },
    })
    t.equal((await call(other.app, 'GET', `/_sandbox/requests/${last + 1}?client=acme`)).status, 404)
  })
})
