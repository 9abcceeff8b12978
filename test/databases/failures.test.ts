import { setTimeout as pause } from 'node:timers/promises'
import pg from 'pg'
import t from 'tap'
import { bill, call, connect } from '../helper.js'
import { onPostgres, sharedPostgres, testRefusals } from '../persistence/helper.js'
import { postgresSkip } from '../postgres.js'

t.test(
  'persistence, The turn of a request: a failed statement or COMMIT is undone',
  { skip: postgresSkip },
  async t => {
    const { createDatabase, query } = await sharedPostgres()
    const url = await createDatabase()
    const stored = await onPostgres(t, url)
    const trigger = (name: string, kind: string) => `
      CREATE FUNCTION fail_${name}() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN IF NEW.client_id = '${name}' AND NEW.version > 0 THEN RAISE EXCEPTION 'injected'; END IF; RETURN NEW; END $$;
      CREATE ${kind} FOR EACH ROW EXECUTE FUNCTION fail_${name}();`
    await query(url, trigger('statement', 'TRIGGER fail_statement AFTER INSERT OR UPDATE ON sandbox_tenant'))
    const late = 'AFTER INSERT OR UPDATE ON sandbox_tenant DEFERRABLE INITIALLY DEFERRED'
    await query(url, trigger('commit', `CONSTRAINT TRIGGER fail_commit ${late}`))
    await testRefusals(t, stored)
  },
)

t.test('persistence, Several servers on Postgres: no failure takes a connection', { skip: postgresSkip }, async t => {
  const { createDatabase } = await sharedPostgres()
  const { app, database } = await onPostgres(t, await createDatabase())
  const client = await connect(app)
  const { prototype } = pg.Client
  const { query } = prototype
  t.teardown(() => {
    prototype.query = query
  })
  for (const failing of ['BEGIN', 'COMMIT', 'ROLLBACK']) {
    prototype.query = function (this: pg.Client, statement: { text?: string }) {
      // As pg_cancel_backend does: what was begun stays open.
      return Reflect.apply(query, this, [
        statement.text?.split(';')[0] === failing ? { text: 'SELECT 1 / 0' } : statement,
      ])
    } as typeof query
    // More than there are connections. A ROLLBACK ends a turn that changes nothing.
    for (let at = 0; at < 20; at++) {
      if (failing === 'ROLLBACK') await client.control('POST', '/clock/advance', { by: 'x' })
      else t.equal((await client.post('/api/v1/bills', bill())).status, 503, `${failing} ${at}`)
    }
    prototype.query = query
    // The request log is written after the answers.
    for (let looks = 0; database.inUse() > 0 && looks < 200; looks++) await pause(5)
    t.equal(database.inUse(), 0, failing)
    const { status } = await client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: `INV-${failing}` }))
    t.equal(status, 201, failing)
    t.equal((await call(app, 'GET', '/_sandbox/health/ready')).status, 200)
  }
})
