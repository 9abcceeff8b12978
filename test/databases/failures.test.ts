import { once } from 'node:events'
import type { FastifyInstance } from 'fastify'
import pg from 'pg'
import type { Test } from 'tap'
import t from 'tap'
import { createTimers } from '../../src/http/timers.js'
import { refused } from '../answers.js'
import { bill, call, connect, requestToken } from '../helper.js'
import { onPostgres, sharedPostgres, stateOf, testRefusals } from '../persistence/helper.js'
import type { Postgres } from '../postgres.js'
import { locked, nameOf, postgresSkip, waiting } from '../postgres.js'
import { Server } from '../server-process.js'

// Persistence: Postgres refuses statements, is locked, full or away, or answers nothing.

/** Defines a test with a Postgres server and a database of its own. */
function onOwn(title: string, test: (t: Test, url: string, postgres: Postgres) => Promise<void>) {
  t.test(`persistence, Several servers on Postgres: ${title}`, { skip: postgresSkip }, async t => {
    const postgres = await sharedPostgres()
    await test(t, await postgres.createDatabase(), postgres)
  })
}

const ready = async (app: FastifyInstance) => (await call(app, 'GET', '/_sandbox/health/ready')).status
const logOf = (app: FastifyInstance, clientId: string) => call(app, 'GET', `/_sandbox/requests?client=${clientId}`)
const numbered = (number: number | string) => bill({ uniqueReferenceIdentifier: `INV-${number}` })

/** Connects as some clients. */
const connectAll = (app: FastifyInstance, prefix: string, count: number) =>
  Promise.all(Array.from({ length: count }, (_, at) => connect(app, `${prefix}-${at}`)))

onOwn('a failed statement or COMMIT is undone', async (t, url, { query }) => {
  const stored = await onPostgres(t, url)
  const trigger = (name: string, kind: string) => `
    CREATE FUNCTION fail_${name}() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN IF NEW.client_id = '${name}' AND NEW.version > 0 THEN RAISE EXCEPTION 'injected'; END IF; RETURN NEW; END $$;
    CREATE ${kind} FOR EACH ROW EXECUTE FUNCTION fail_${name}();`
  await query(url, trigger('statement', 'TRIGGER fail_statement AFTER INSERT OR UPDATE ON sandbox_tenant'))
  const late = 'AFTER INSERT OR UPDATE ON sandbox_tenant DEFERRABLE INITIALLY DEFERRED'
  await query(url, trigger('commit', `CONSTRAINT TRIGGER fail_commit ${late}`))
  await testRefusals(t, stored)
})

onOwn('no failure takes a connection', async (t, url) => {
  const { app } = await onPostgres(t, url)
  const client = await connect(app)
  const { prototype } = pg.Client
  const { query } = prototype
  t.teardown(() => {
    prototype.query = query
  })
  for (const failing of ['BEGIN', 'COMMIT', 'ROLLBACK']) {
    prototype.query = function (this: pg.Client, statement: unknown, ...rest: unknown[]) {
      // As pg_cancel_backend does: what was begun stays open.
      return Reflect.apply(query, this, [statement === failing ? 'SELECT 1 / 0' : statement, ...rest])
    } as typeof query
    // More than there are connections. A ROLLBACK ends a transaction that changes nothing.
    for (let at = 0; at < 12; at++) {
      if (failing === 'ROLLBACK') await client.control('POST', '/clock/advance', { by: 'x' })
      else t.equal((await client.post('/api/v1/bills', bill())).status, 503, `${failing} ${at}`)
    }
    prototype.query = query
    t.equal((await client.post('/api/v1/bills', numbered(failing))).status, 201, failing)
    t.equal(await ready(app), 200)
  }
})

onOwn('a connection that is cut concerns its own request only', async (t, url, { query }) => {
  const { app } = await onPostgres(t, url)
  const clients = await connectAll(app, 'client', 8)
  const cuts = 10
  let isOver = false
  const statuses = clients.map(async client => {
    const found = []
    for (let at = 0; !isOver; at++) found.push((await client.post('/api/v1/bills', numbered(at))).status)
    return found
  })
  for (let cut = 0; cut < cuts; cut++) {
    const connections = `application_name = 'payments-sandbox' AND datname = current_database()`
    await query(
      url,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${connections} ORDER BY random() LIMIT 1`,
    )
  }
  isOver = true
  const all = (await Promise.all(statuses)).flat()
  const failed = all.filter(status => status !== 201)
  t.ok(failed.length <= cuts && failed.every(status => status === 503), `${failed}`)
  t.ok(all.length > failed.length)
})

onOwn('a locked row concerns its client only: 503 after 5 s', async (t, url) => {
  const { app } = await onPostgres(t, url)
  const client = await connect(app)
  const others = await connectAll(app, 'other', 8)
  await locked(url, "SELECT * FROM sandbox_tenant WHERE client_id = 'acme' FOR UPDATE", async () => {
    const begun = performance.now()
    const writes = [1, 2, 3].map(number => client.post('/api/v1/bills', numbered(number)))
    await waiting(url, 1)
    for (const other of others) {
      t.equal((await other.post('/api/v1/bills', bill())).status, 201)
      t.equal((await other.get('/api/v1/bills')).status, 200)
    }
    t.equal(await ready(app), 200)
    for (const answer of await Promise.all(writes)) {
      refused(t, answer, 503, 'SERVICE_UNAVAILABLE', null)
      t.equal(answer.headers['retry-after'], '1')
    }
    const seconds = (performance.now() - begun) / 1000
    t.ok(seconds > 4 && seconds < 9, `all fail with the first one, after ${seconds} s`)
    t.match((await client.get('/api/v1/bills')).body, { totalCount: 0 }, 'its reads go on')
  })
  t.equal((await client.post('/api/v1/bills', bill())).status, 201)
})

onOwn(
  'nine locked rows hold up no other client, on ten connections and one that listens',
  async (t, url, { query }) => {
    const { app } = await onPostgres(t, url)
    const free = await connectAll(app, 'free', 12)
    const held = await connectAll(app, 'held', 9)
    let posts: Promise<{ status: number }>[] = []
    await locked(url, "SELECT * FROM sandbox_tenant WHERE client_id LIKE 'held-%' FOR UPDATE", async () => {
      posts = held.map(client => client.post('/api/v1/bills', bill()))
      await waiting(url, 9)
      for (const { status } of await Promise.all(free.map(client => client.post('/api/v1/bills', bill()))))
        t.equal(status, 201)
      t.equal(await ready(app), 200)
      const own = `datname = '${nameOf(url)}' AND application_name = 'payments-sandbox'`
      t.equal((await query(url, `SELECT 1 FROM pg_stat_activity WHERE ${own}`)).rowCount, 11)
    })
    for (const post of posts) t.equal((await post).status, 201)
  },
)

onOwn('a locked request log concerns no request of the API, and no log of another client', async (t, url) => {
  const { app } = await onPostgres(t, url)
  const [other, ...held] = await Promise.all(['other', 'one', 'two', 'three'].map(id => connect(app, id)))
  for (const { clientId } of held) await logOf(app, clientId)
  const all = async () => {
    for (const { get } of held) t.equal((await get('/api/v1/bills')).status, 200)
    t.equal((await other?.get('/api/v1/bills'))?.status, 200)
  }
  const lock = "UPDATE sandbox_request_count SET last = last WHERE client_id IN ('one', 'two', 'three')"
  await locked(url, lock, async () => {
    await all()
    t.equal((await logOf(app, 'other')).body.last, 2)
    refused(t, await logOf(app, 'one'), 503, 'SERVICE_UNAVAILABLE', null)
  })
  for (const { clientId } of held) t.equal((await logOf(app, clientId)).body.last, 2, 'nothing is lost')

  await locked(url, 'LOCK TABLE sandbox_request, sandbox_request_count', async () => {
    for (let round = 0; round < 5; round++) await all()
  })
  for (const { clientId } of held) t.equal((await logOf(app, clientId)).body.last, 7)
})

onOwn('a full disk is 503 for writes and readiness, reads go on, and the log says so', async (t, url, { query }) => {
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

  t.equal(await ready(app), 200)
  await query(url, 'CREATE TRIGGER full_disk BEFORE UPDATE ON sandbox_setting EXECUTE FUNCTION fill()')
  t.equal(await ready(app), 503, 'its check writes')
  await query(url, 'DROP TRIGGER full_disk ON sandbox_setting')
  t.equal(await ready(app), 200)
})

onOwn('while the database is away or answers nothing, 503; all goes on by itself', async (t, url, postgres) => {
  const lines: { reason?: string; msg?: string }[] = []
  const { app } = await onPostgres(t, url, { lines, timers: createTimers() })
  const other = await onPostgres(t, url)
  // Timers alone do not keep the process.
  await other.app.listen({ host: '127.0.0.1', port: 0 })
  const client = await connect(app)
  await client.post('/api/v1/bills', bill())
  for (const [gone, back, mostSeconds] of [
    [postgres.stop, postgres.start, 3],
    // As with a network that swallows packets.
    [async () => postgres.signal('SIGSTOP'), async () => postgres.signal('SIGCONT'), 13],
  ] as const) {
    const waiting = client.control('GET', '/events?after=1&wait=1')
    await client.control('GET', '/events')
    await gone()
    const begun = performance.now()
    const headers = { authorization: `Bearer ${client.token}` }
    const answers = [
      client.get('/api/v1/bills'),
      client.post('/api/v1/bills', numbered(2)),
      call(app, 'GET', '/_sandbox/health/ready'),
      logOf(app, 'acme'),
      requestToken(app, { client_id: 'new' }),
      call(other.app, 'GET', '/api/v1/bills', { region: 'EU', headers }),
    ]
    for (const answer of await Promise.all(answers)) {
      refused(t, answer, 503, 'SERVICE_UNAVAILABLE', null)
      t.equal(answer.headers['retry-after'], '1')
    }
    refused(t, await waiting, 503, 'SERVICE_UNAVAILABLE', null)
    const seconds = (performance.now() - begun) / 1000
    t.ok(seconds < mostSeconds, `after ${seconds} s`)
    for (const path of ['health/live', 'errors']) t.equal((await call(app, 'GET', `/_sandbox/${path}`)).status, 200)
    await back()
    while ((await ready(app)) === 503);
    t.match((await client.get('/api/v1/bills')).body, { totalCount: 1 })
    t.equal((await call(other.app, 'GET', '/_sandbox/requests')).body.last, 0, 'no request counts for the demo')
    const messages = lines.map(({ reason, ...rest }) => rest)
    // Nothing else, such as a statement or the key of a connection.
    t.same(messages, [{ msg: 'the database is away' }, { msg: 'the database is back' }])
    t.match(lines[0]?.reason, /^[^\n]{10,100}$/)
    lines.length = 0
  }
  t.equal((await client.post('/api/v1/bills', numbered(2))).status, 201)
  await postgres.query(url, `ALTER DATABASE ${nameOf(url)} SET default_transaction_read_only = on`)
  await postgres.query(url, 'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()')
  t.equal(await ready(app), 503, 'a read-only database is not ready')
})

onOwn('a server whose database answers nothing ends on SIGTERM, with exit code 0', async (t, url, postgres) => {
  const server = await Server.start({ SANDBOX_DATABASE_URL: url })
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
