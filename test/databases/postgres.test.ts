import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import t from 'tap'
import { createTimers } from '../../src/http/timers.js'
import { openPostgres } from '../../src/storage/postgres.js'
import type { Database } from '../../src/storage/storage.js'
import { DatabaseError } from '../../src/storage/storage.js'
import { refused } from '../answers.js'
import { claim, FORMS, open } from '../areas/pages.js'
import { bill, call, connect, mandate, payoutLink, requestToken } from '../helper.js'
import { manualTime } from '../manual-time.js'
import type { Stored, StoredOptions } from '../persistence/helper.js'
import { onPostgres, resume, sharedPostgres, stateOf } from '../persistence/helper.js'
import { locked, nameOf, postgresSkip, waiting } from '../postgres.js'

// Persistence: what several servers on Postgres share.

const openOf = (url: string, seed = 'test') => openPostgres(url, { seed })

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
    const { createDatabase, query } = await sharedPostgres()

    t.test('persistence: servers that start at the same time make the tables once; all need one seed', async t => {
      const url = await createDatabase()
      let opening: Promise<Database[]> = Promise.resolve([])
      // As a long migration of another server does.
      await locked(url, 'SELECT pg_advisory_xact_lock(7206115983)', async () => {
        opening = Promise.all([1, 2, 3].map(() => openOf(url)))
        await waiting(url, 3)
      })
      const databases = await opening
      t.equal(databases.length, 3, 'they wait for each other')
      await t.rejects(openOf(url, 'other'), { constructor: DatabaseError, message: /^[^\n]*SANDBOX_SEED[^\n]*$/ })
      for (const database of databases) await database.close()
      await t.rejects(openOf(`${url}_missing`), { constructor: DatabaseError, message: /^[^\n]*$/ })
    })

    t.test(
      'persistence, Upgrades: the database of a later release is refused in one line, and left as it is',
      async t => {
        const url = await createDatabase()
        await (await openOf(url)).close()
        await query(url, 'INSERT INTO sandbox_migration VALUES (99)')
        const all = async () => (await query(url, "SELECT database_to_xml(true, false, '')::text AS text")).rows
        const before = await all()
        await t.rejects(openOf(url), { constructor: DatabaseError, message: /^[^\n]*later release[^\n]*$/ })
        t.same(await all(), before)
      },
    )

    t.test('persistence: a tenant on three servers: unique references, one of two cancels, no stale read', async t => {
      const url = await createDatabase()
      // It makes no difference.
      await query(url, `ALTER DATABASE ${nameOf(url)} SET default_transaction_isolation = 'serializable'`)
      const servers = await serve(t, url, 3)
      const { token } = await connect(servers[0].app)
      const on = (at: number) => resume((servers[at % 3] as Stored).app, token)
      for (const body of bills(7)) {
        const answers = Array.from({ length: 9 }, (_, at) => on(at).send('POST', '/api/v1/bills', body))
        t.same(tally(await Promise.all(answers)), { 201: 1, 409: 8 })
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
      t.equal(JSON.parse(states[0] as string).bills.length, 34)
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
      await claim({ app: b.app, clientId: 'acme' }, payoutLinkId, FORMS['SEPA-CT'] ?? {})
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

    t.test(
      'persistence: a client that cannot be loaded is repaired on all servers, also where it is in memory',
      async t => {
        const url = await createDatabase()
        const [a, b] = await serve(t, url, 2)
        for (const table of ['record', 'event', 'tenant']) {
          for (const [method, path] of [
            ['POST', '/_sandbox/reset?client=acme'],
            ['DELETE', '/_sandbox/clients/acme'],
          ] as const) {
            const client = await connect(a.app)
            await client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: 'INV-0001' }))
            t.match(JSON.parse(await stateOf(b.app)).bills, { length: 1 })
            t.equal((await client.patch('/api/v1/bills/INV-0001', { status: 'PAID' })).status, 200)
            await query(url, `UPDATE sandbox_${table} SET content = 'none' WHERE client_id = 'acme'`)
            refused(t, await call(b.app, 'GET', '/_sandbox/state?client=acme'), 503, 'SERVICE_UNAVAILABLE', null)
            t.equal((await call(b.app, 'GET', '/_sandbox/clients')).status, 200)
            // Without its own row, it is not known any more.
            const isKnown = table !== 'tenant'
            const { status } = await call(b.app, method, path)
            t.equal(status, isKnown ? 200 : 404, `${method} ${path} after a wrong ${table}`)
            const isThere = method === 'POST' && isKnown
            for (const { app } of [a, b]) {
              t.equal((await resume(app, client.token).send('GET', '/api/v1/bills')).status, 401)
              const { status, body } = await call(app, 'GET', '/_sandbox/state?client=acme')
              t.match([status, body.bills ?? []], [isThere ? 200 : 404, { length: 0 }])
            }
            await call(a.app, 'DELETE', '/_sandbox/clients/acme')
          }
        }
      },
    )

    t.test('persistence: a server reads the later changes of a client, not all of it', async t => {
      const url = await createDatabase()
      const [a, b] = await serve(t, url, 2)
      const client = await connect(a.app)
      for (const body of bills(2)) await client.post('/api/v1/bills', body)
      const other = resume(b.app, client.token)
      t.match((await other.send('GET', '/api/v1/bills')).body, { totalCount: 2 })
      await query(url, "UPDATE sandbox_record SET content = 'not read' WHERE content LIKE '%INV-1000%'")
      await query(url, "UPDATE sandbox_event SET content = 'not read'")
      await client.patch('/api/v1/bills/INV-1001', { status: 'PAID' })
      t.match((await other.send('GET', '/api/v1/bills/INV-1001')).body, { status: 'PAID' })
      t.match((await other.send('GET', '/api/v1/bills/INV-1000')).body, { status: 'OPEN' })
    })

    t.test('persistence: an id that no client has is 404 or 401, however long it is', async t => {
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

    t.test('persistence: a client whose rows are deleted under the server begins again', async t => {
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

    t.test('persistence: where it begins again on another server, all show its new life', async t => {
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
      await send('GET', '/api/v1/mandates')
      await call(a.app, 'POST', '/_sandbox/reset?client=acme')
      for (const { app } of [a, b])
        t.same(await logOf(app), { last: 0, dropped: 0, data: [] }, 'none from before a reset')
      await (await connect(b.app)).get('/api/v1/bills')
      await logOf(b.app)
      t.match(await logOf(a.app), { last: 2, data: [{ seq: 1, path: '/api/v1/oauth/token' }, { seq: 2 }] })
      t.equal((await call(b.app, 'DELETE', '/_sandbox/clients/acme')).status, 200)
      await connect(a.app)
      t.match(await logOf(a.app), { last: 1, data: { length: 1 } }, 'none from before a removal')
    })

    t.test('persistence: the bounds of the request log: the entries of each client, and the bytes of all', async t => {
      const { app } = await onPostgres(t, await createDatabase(), { requestLog: { entries: 2, bytes: 20_000 } })
      const ids = Array.from({ length: 12 }, (_, n) => `client-${n}`)
      const logOf = async (id: string) => (await call(app, 'GET', `/_sandbox/requests?client=${id}`)).body
      const clients = await Promise.all(ids.map(id => connect(app, id)))
      const [first] = clients
      for (let n = 0; n < 3; n++) await first?.get('/api/v1/bills')
      t.match(await logOf('client-0'), { data: [{ seq: 3 }, { seq: 4 }], last: 4, dropped: 2 })
      for (const client of clients) {
        await client.get('/api/v1/bills')
        t.match((await logOf(client.clientId)).data.at(-1), { path: '/api/v1/bills' }, client.clientId)
      }
      for (let n = 0; n < 20; n++) for (const client of clients.slice(1)) await client.get('/api/v1/bills')
      await Promise.all(ids.map(logOf))
      t.match(await logOf('client-0'), { data: { length: 0 }, last: 5, dropped: 5 }, 'the oldest go first')
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
      // The new log may have none, some or as many requests as the earlier one when it is read.
      await (await connect(one.app)).get('/api/v1/mandates')
    }
    const { data, last } = await waitFor(2, reset)
    t.same(
      data.map(({ seq }: { seq: number }) => seq),
      [1, 2].slice(0, last),
      'the requests of the new log, from its first',
    )
  })

  await t.test('a list of one server has the requests of the other', async t => {
    const again = await connect(one.app)
    for (let at = 0; at < 12; at++) await again.get(at === 3 ? '/api/v1/mandates?limit=0' : '/api/v1/mandates')
    // The server that has the requests reads them after they are written.
    const { last } = (await call(one.app, 'GET', '/_sandbox/requests?client=acme&limit=1')).body as { last: number }
    const seqs = async (query: string) => (await page(query)).data.map(({ seq }) => seq)
    t.equal((await page('')).data.length, last)
    t.same(await seqs('&limit=2'), [last - 1, last])
    t.same(await seqs(`&limit=2&before=${last}`), [last - 2, last - 1])
    t.same(await seqs('&after=2&before=5'), [3, 4])
    t.match((await page('&errors=true&limit=1')).data, [{ status: 400 }])
    t.same(await page('&path=/none&limit=5'), { data: [], last, dropped: 0 })
    t.match(await call(other.app, 'GET', `/_sandbox/requests/${last}?client=acme`), {
      status: 200,
      body: { seq: last },
    })
    t.equal((await call(other.app, 'GET', `/_sandbox/requests/${last + 1}?client=acme`)).status, 404)
  })
})
