import fs, { mkdirSync, readdirSync, readFileSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import Libsql from 'libsql'
import type { Test } from 'tap'
import t from 'tap'
import { openSqlite } from '../../src/storage/sqlite.js'
import { DatabaseError } from '../../src/storage/storage.js'
import { refused } from '../answers.js'
import { bill, call, connect, requestToken } from '../helper.js'
import { copyOf, onSqlite, sqlite, stateOf, testRefusals } from './helper.js'

const IS_LONG = process.env.TEST_LONG === '1'
const FILE = 'sandbox.db'

const open = (folder: string, seed?: string) =>
  openSqlite(folder, { seed: seed ?? 'random', isSeedGiven: seed !== undefined })

/** Makes a database file by SQL. Returns its folder. */
function make(t: Test, name: string, sql: string): string {
  const folder = join(t.testdirName, name)
  mkdirSync(folder, { recursive: true })
  const connection = new Libsql(join(folder, FILE))
  connection.exec(sql)
  connection.close()
  return folder
}

/** The database of release 0.1.0. */
const FORMER = `
  PRAGMA application_id = ${0x50617953};
  PRAGMA user_version = 2;
  CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum TEXT NOT NULL) WITHOUT ROWID, STRICT;
  CREATE TABLE tenant_log (
    client_id TEXT NOT NULL, sequence INTEGER NOT NULL, instant INTEGER NOT NULL, operation TEXT NOT NULL,
    content TEXT NOT NULL, document BLOB, checksum TEXT NOT NULL, PRIMARY KEY (client_id, sequence)
  ) STRICT;
  CREATE TABLE link (payout_link_id TEXT, client_id TEXT, PRIMARY KEY (payout_link_id, client_id)) WITHOUT ROWID, STRICT;
  INSERT INTO setting VALUES ('seed', 'test', 'x');
  INSERT INTO tenant_log VALUES ('acme', 1, 0, 'begin', '{}', NULL, 'x');`

t.test('persistence, SQLite: a file that is no database of this release is refused, and left', async t => {
  t.testdir({ text: { [FILE]: 'text '.repeat(1000) }, empty: { [FILE]: '' }, folder: { [FILE]: {} }, file: 'text' })
  const folders: Record<string, RegExp> = {
    text: /not a database/,
    empty: /not a database of payments-sandbox/,
    folder: /cannot be used/,
    file: /cannot be used/,
    [make(t, 'foreign', 'CREATE TABLE other (n)')]: /not a database of payments-sandbox/,
    [make(t, 'former', FORMER)]: /is of another release: its version is 2, and this one reads up to \d+\.$/,
  }
  const own = await onSqlite(t, join(t.testdirName, 'newer'))
  await connect(own.app)
  await own.close()
  const version = new Libsql(join(t.testdirName, 'newer', FILE))
  version.exec('PRAGMA user_version = 199')
  version.close()
  folders.newer = /is of another release: its version is 199, and this one reads up to \d+\.$/
  for (const [name, expected] of Object.entries(folders)) {
    const folder = name.startsWith('/') ? name : join(t.testdirName, name)
    const read = () => (['folder', 'file'].includes(name) ? null : readFileSync(join(folder, FILE)))
    const before = read()
    const error = await open(folder).catch((error: Error) => error)
    t.ok(error instanceof DatabaseError, `${name}: ${error}`)
    t.match((error as Error).message, expected, name)
    t.notMatch((error as Error).message, '\n')
    t.same(read(), before, `${name} is as it was`)
    if (before !== null) t.same(readdirSync(folder), [FILE], name)
  }
})

t.test('persistence, SQLite: the database keeps the seed of its first use, and refuses another', async t => {
  const folder = join(t.testdir(), 'a', 'b')
  await (await open(folder)).close()
  t.same(readdirSync(folder), [FILE], 'no log is left beside it')
  t.equal(statSync(join(folder, FILE)).mode & 0o777, 0o600)
  for (const seed of ['random', undefined]) {
    const next = await open(folder, seed)
    t.equal(next.seed, 'random')
    await next.close()
  }
  await t.rejects(open(folder, 'other'), { message: /^[^\n]*sandbox\.db[^\n]*SANDBOX_SEED[^\n]*$/ })
})

t.test('persistence, SQLite: a second server on the file is refused, and the first goes on', async t => {
  const folder = t.testdir()
  const first = await onSqlite(t, folder)
  const client = await connect(first.app)
  await t.rejects(open(folder), { message: /^"[^\n]*sandbox\.db" is in use by another server\.$/ })
  t.equal((await client.post('/api/v1/bills', bill())).status, 201)
  const state = await stateOf(first.app)
  await first.close()
  t.equal(await stateOf((await onSqlite(t, folder)).app), state)
})

t.test('persistence, SQLite: a file that is cut is refused in one line', async t => {
  const folder = join(t.testdir({}), 'data')
  const stored = await onSqlite(t, folder)
  const client = await connect(stored.app)
  for (let n = 0; n < 50; n++) await client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: `INV-${n}` }))
  await stored.close()
  const { size } = statSync(join(folder, FILE))
  t.ok(size > 40_000, `${size} bytes`)
  for (const length of [size / 2, size - 4096, 5000, 100, 1]) {
    const copy = copyOf(t, folder)
    truncateSync(join(copy, FILE), length)
    const error = await open(copy).catch((error: Error) => error)
    t.ok(error instanceof DatabaseError, `${length}: ${error}`)
    t.match((error as Error).message, /^"[^\n]*sandbox\.db" [^\n]+$/)
  }
})

t.test('persistence, SQLite: a statement or COMMIT that fails is undone', async t => {
  const storage = sqlite(t)
  const stored = await storage.change(
    await storage.start(),
    `CREATE TABLE parent (id INTEGER PRIMARY KEY);
    CREATE TABLE child (id INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED);
    CREATE TRIGGER failing_statement AFTER INSERT ON sandbox_tenant WHEN NEW.client_id = 'statement'
    BEGIN SELECT RAISE(ABORT, 'injected'); END;
    CREATE TRIGGER failing_rollback AFTER INSERT ON sandbox_tenant WHEN NEW.client_id = 'rollback'
    BEGIN SELECT RAISE(ROLLBACK, 'injected'); END;
    CREATE TRIGGER failing_commit AFTER INSERT ON sandbox_tenant WHEN NEW.client_id = 'commit'
    BEGIN INSERT INTO child VALUES (1); END;`,
  )
  await testRefusals(t, stored)
  refused(t, await requestToken(stored.app, { client_id: 'rollback' }), 503, 'SERVICE_UNAVAILABLE', null)
  t.equal((await requestToken(stored.app, { client_id: 'after-rollback' })).status, 200)
  const { body } = await call((await storage.restart(stored)).app, 'GET', '/_sandbox/clients')
  const clientIds = body.data.map(({ clientId }: { clientId: string }) => clientId).sort()
  t.same(clientIds, ['after-commit', 'after-rollback', 'after-statement', 'sandbox-client'])
})

t.test('persistence, SQLite: a text that is not UTF-8 does not end the process', async t => {
  const storage = sqlite(t)
  const first = await storage.start()
  for (const clientId of ['acme', 'beta', 'other']) {
    await (await connect(first.app, clientId)).post('/api/v1/bills', bill({ description: 'Rent' }))
  }
  const damaged = (column: string) => `replace(${column}, 'Rent', CAST(X'ff' AS TEXT))`
  const stored = await storage.change(
    first,
    `UPDATE sandbox_record SET content = ${damaged('content')} WHERE client_id = 'acme';
    UPDATE sandbox_event SET content = ${damaged('content')} WHERE client_id = 'acme';
    UPDATE sandbox_tenant SET content = CAST(X'ff' AS TEXT) WHERE client_id = 'beta';
    INSERT INTO sandbox_tenant SELECT CAST(X'ff' AS TEXT), version, life, instant, removed, content
    FROM sandbox_tenant WHERE client_id = 'other';`,
  )
  t.equal((await call(stored.app, 'GET', '/_sandbox/clients')).status, 200)
  t.equal((await call(stored.app, 'GET', '/_sandbox')).status, 200)
  t.match(await stateOf(stored.app), /\ufffd/)
  refused(t, await requestToken(stored.app, { client_id: 'beta' }), 503, 'SERVICE_UNAVAILABLE', null)
  t.equal((await requestToken(stored.app, { client_id: 'other' })).status, 200)
})

t.test('settings, SANDBOX_SQLITE_SYNCHRONOUS: sets how a commit waits, `full` by default', async t => {
  const executed = t.capture(Libsql.prototype, 'exec', Libsql.prototype.exec)
  for (const [options, mode] of [
    [{}, 'full'],
    [{ synchronous: 'full' }, 'full'],
    [{ synchronous: 'normal' }, 'normal'],
  ] as const) {
    await (await openSqlite(t.testdir(), { seed: 'test', isSeedGiven: false, ...options })).close()
    const modes = executed().flatMap(({ args }) => /PRAGMA synchronous = (\w+)/.exec(String(args[0]))?.[1] ?? [])
    t.same(modes, [mode])
  }
})

t.test('persistence, SQLite: the log beside the file stays short', async t => {
  const folder = t.testdir()
  const { app } = await onSqlite(t, folder)
  const client = await connect(app)
  const sizes: number[] = []
  for (let at = 0; at < 4; at++) {
    const bills = Array.from({ length: 3000 }, (_, n) => bill({ uniqueReferenceIdentifier: `INV-${at}-${n}` }))
    t.equal((await client.control('POST', '/seed', { records: { bills } })).status, 200)
    sizes.push(statSync(join(folder, `${FILE}-wal`)).size)
  }
  t.ok((sizes[3] as number) < (sizes[0] as number) + (sizes[1] as number), `it began again: ${sizes}`)
  t.equal((await client.post('/api/v1/bills', bill())).status, 201)
})

t.test('persistence, SQLite: health/ready is 503 if the disk has less than 1 MiB left', async t => {
  const { statfsSync } = fs
  t.teardown(() => {
    fs.statfsSync = statfsSync
  })
  const folder = t.testdir()
  const messages: string[] = []
  const { app } = await onSqlite(t, folder, { messages })
  for (const [room, status] of [
    [{ blocks: 1000, bavail: 256, bsize: 4096 }, 200],
    [{ blocks: 1000, bavail: 255, bsize: 4096 }, 503],
    [{ blocks: 1000, bavail: 0, bsize: 4096 }, 503],
    // A file system that tells nothing.
    [{ blocks: 0, bavail: 0, bsize: 4096 }, 200],
  ] as const) {
    fs.statfsSync = ((path: string) => {
      t.equal(path, join(folder, FILE))
      return room
    }) as unknown as typeof statfsSync
    t.equal((await call(app, 'GET', '/_sandbox/health/ready')).status, status)
  }
  t.same(messages, Array(2).fill('the database cannot be used'))
})

t.test('persistence, SQLite: a copy of the files at any moment opens, with all that was acknowledged', async t => {
  const folder = t.testdir()
  const { app } = await onSqlite(t, folder)
  const client = await connect(app)
  const rounds = IS_LONG ? 200 : 8
  let created = 0
  const acknowledged = new Set<string>()
  for (let round = 0; round < rounds; round++) {
    const burst = Array.from({ length: 8 }, async () => {
      const uniqueReferenceIdentifier = `INV-${++created + 10_000}`
      const { status } = await client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier }))
      if (status === 201) acknowledged.add(uniqueReferenceIdentifier)
    })
    for (let sent = 0; sent < round % 8; sent++) await burst[sent]
    const expected = [...acknowledged]
    const copy = copyOf(t, folder)
    await Promise.all(burst)
    const restarted = await onSqlite(t, copy)
    const text = await stateOf(restarted.app)
    await restarted.close()
    const wrong = expected.filter(reference => !text.includes(`"${reference}"`))
    t.same(wrong, [], `${expected.length} acknowledged before copy ${round}`)
  }
  t.equal(acknowledged.size, rounds * 8)
  t.ok(statSync(join(folder, `${FILE}-wal`)).size < 8_000_000, 'the log beside the file stays short')
})
