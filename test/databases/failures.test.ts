import t from 'tap'
import { onPostgres, sharedPostgres, testRefusals } from '../persistence/helper.js'
import { postgresSkip } from '../postgres.js'

t.test(
  'persistence, The turn of a request: a statement or COMMIT that fails is undone, and its connection is used again',
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
