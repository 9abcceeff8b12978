import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import Libsql from 'libsql'
import { pino } from 'pino'
import type { Test } from 'tap'
import t from 'tap'
import type { Area, AreaName, Store } from '../../src/areas/index.js'
import { areas } from '../../src/areas/index.js'
import { buildServer } from '../../src/server.js'
import { readMigrations } from '../../src/storage/migrations.js'
import { openPostgres } from '../../src/storage/postgres.js'
import { openSqlite } from '../../src/storage/sqlite.js'
import type { Database } from '../../src/storage/storage.js'
import type { TenantRegistry } from '../../src/tenants/registry.js'
import { gist } from '../answers.js'
import type { BuildOptions } from '../helper.js'
import { call, NO_WAIT, requestToken, serverOptions } from '../helper.js'
import type { Postgres } from '../postgres.js'
import { postgresSkip, startPostgres } from '../postgres.js'

/** Waiting ends at once. */
export const timers = NO_WAIT

export interface StoredOptions extends BuildOptions {
  /** Collects the messages of the log. */
  readonly messages?: string[]
  /** Collects the members of each line of the log, but those of every line. */
  readonly lines?: object[]
}

/** A server with a database. */
export interface Stored {
  readonly app: FastifyInstance
  readonly database: Database
  readonly registry: TenantRegistry
  /** Closes the server and the database. */
  close(): Promise<void>
}

const loggerOf = ({ messages = [], lines = [] }: StoredOptions) =>
  pino(
    { level: 'info' },
    {
      write(text) {
        const { level, time, pid, hostname, ...line } = JSON.parse(text)
        messages.push(line.msg)
        lines.push(line)
      },
    },
  )

/** Builds a server with a database. Both close with the test. */
function serve(t: Test, database: Database, { messages, lines, ...options }: StoredOptions): Stored {
  const { app, registry } = buildServer({
    ...serverOptions({ timers, seed: database.seed, ...options }),
    database,
    logger: loggerOf({ messages, lines }),
  })
  let closing: Promise<void> | undefined
  const close = () => {
    // The folder of a test may be removed already.
    closing ??= app.close().then(() => database.close().catch(() => {}))
    return closing
  }
  t.teardown(close)
  return { app, registry, database, close }
}

/** Builds a server on the SQLite database of a folder. */
export async function onSqlite(t: Test, folder: string, options: StoredOptions = {}): Promise<Stored> {
  return serve(t, await openSqlite(folder, { seed: options.seed ?? 'test', isSeedGiven: false }), options)
}

/** Builds a server on a Postgres database. */
export async function onPostgres(t: Test, url: string, options: StoredOptions = {}): Promise<Stored> {
  return serve(t, await openPostgres(url, { seed: options.seed ?? 'test' }), options)
}

let postgres: Promise<Postgres> | undefined

/** Returns the Postgres server of the tests of this process. It ends with them. */
export function sharedPostgres(): Promise<Postgres> {
  postgres ??= startPostgres().then(started => {
    t.teardown(() => started.remove())
    return started
  })
  return postgres
}

/** A database of a test. */
export interface Storage {
  readonly name: string
  /** Builds a server on it. */
  start(options?: StoredOptions): Promise<Stored>
  /** Builds a server on the data as a crash at this moment would leave them. The other server goes on. */
  crash(options?: StoredOptions): Promise<Stored>
  /** Makes the database, which is not there, by statements on the tables of an earlier release. @param version of its migrations */
  make(version: number, statements: string): Promise<void>
  /** Builds a server on the data of another one, as if that had crashed at this moment. The other closes. */
  restart(stored: Stored, options?: StoredOptions): Promise<Stored>
  /** Executes a statement on the data, and builds a server on it. The other one closes. */
  change(stored: Stored, statement: string, options?: StoredOptions): Promise<Stored>
  /** The statements that make the database refuse each record, event and client whose content has the text REFUSED. */
  readonly refusal: string
  /** The statements that end the refusal. */
  readonly acceptance: string
  /** Returns the rows of all clients, records and events, as text in a fixed order. */
  rows(): Promise<readonly string[]>
  /** Returns all that the database has, as text. */
  dump(): Promise<string>
  /** Copies the data, which no server uses now. Returns the settings of a server on the copy. */
  copy(): Promise<Readonly<Record<string, string>>>
}

const TABLES = ['sandbox_tenant', 'sandbox_record', 'sandbox_event']

/** Returns the statements of the migrations up to a version. */
const tablesOf = (kind: 'sqlite' | 'postgres', version: number) =>
  readMigrations(kind)
    .filter(migration => migration.version <= version)
    .map(({ sql }) => sql)
    .join('\n')

let copies = 0

/** Copies a database as it is on the disk at this moment, as a loss of power would leave it. Returns the new folder. */
export function copyOf(t: Test, folder: string): string {
  const copy = join(t.testdirName, `copy-${++copies}`)
  mkdirSync(copy, { recursive: true })
  for (const name of ['sandbox.db', 'sandbox.db-wal']) {
    if (existsSync(join(folder, name))) copyFileSync(join(folder, name), join(copy, name))
  }
  return copy
}

export function sqlite(t: Test): Storage {
  let folder = join(t.testdir({}), 'data')
  return {
    name: 'SQLite',
    start: options => onSqlite(t, folder, options),
    crash: options => onSqlite(t, copyOf(t, folder), options),
    async make(version, statements) {
      mkdirSync(folder)
      const connection = new Libsql(join(folder, 'sandbox.db'))
      const pragmas = `PRAGMA application_id = ${0x50617953}; PRAGMA user_version = ${100 + version};`
      connection.exec(`${pragmas} ${tablesOf('sqlite', version)} ${statements}`)
      connection.close()
    },
    async restart(stored, options) {
      folder = copyOf(t, folder)
      await stored.close()
      return onSqlite(t, folder, options)
    },
    async change(stored, statement, options) {
      await stored.close()
      const connection = new Libsql(join(folder, 'sandbox.db'))
      connection.exec(statement)
      connection.close()
      return onSqlite(t, folder, options)
    },
    refusal: TABLES.flatMap(table =>
      ['INSERT', 'UPDATE'].map(
        change => `CREATE TRIGGER refuse_${change}_${table} BEFORE ${change} ON ${table}
          WHEN NEW.content LIKE '%REFUSED%' BEGIN SELECT RAISE(ABORT, 'refused'); END;`,
      ),
    ).join('\n'),
    acceptance: TABLES.flatMap(table =>
      ['INSERT', 'UPDATE'].map(change => `DROP TRIGGER refuse_${change}_${table};`),
    ).join('\n'),
    async rows() {
      const connection = new Libsql(join(copyOf(t, folder), 'sandbox.db'))
      const rows = TABLES.flatMap(table => connection.prepare(`SELECT * FROM ${table} ORDER BY 1, 2`).all([]))
      connection.close()
      return rows.map(row => JSON.stringify(row))
    },
    dump: async () =>
      readdirSync(folder)
        .map(name => readFileSync(join(folder, name), 'latin1'))
        .join(),
    copy: async () => ({ SANDBOX_DATA: copyOf(t, folder) }),
  }
}

export async function postgresOf(t: Test): Promise<Storage> {
  const { createDatabase, query } = await sharedPostgres()
  const url = await createDatabase()
  return {
    name: 'Postgres',
    start: options => onPostgres(t, url, options),
    crash: options => onPostgres(t, url, options),
    async make(version, statements) {
      const done = `CREATE TABLE sandbox_migration (version integer PRIMARY KEY);
        INSERT INTO sandbox_migration SELECT generate_series(1, ${version});`
      await query(url, `${tablesOf('postgres', version)} ${done} ${statements}`)
    },
    async restart(stored, options) {
      // The former server is still there, as after a crash that the database has not noticed.
      const next = await onPostgres(t, url, options)
      await stored.close()
      return next
    },
    async change(stored, statement, options) {
      await stored.close()
      await query(url, statement)
      return onPostgres(t, url, options)
    },
    refusal: TABLES.map(
      table => `ALTER TABLE ${table} ADD CONSTRAINT refuse CHECK (content NOT LIKE '%REFUSED%') NOT VALID;`,
    ).join('\n'),
    acceptance: TABLES.map(table => `ALTER TABLE ${table} DROP CONSTRAINT refuse;`).join('\n'),
    async rows() {
      const found = []
      for (const table of TABLES) found.push(...(await query(url, `SELECT * FROM ${table} ORDER BY 1, 2`)).rows)
      return found.map(row => JSON.stringify(row))
    },
    async dump() {
      const { rows } = await query(url, "SELECT database_to_xml(true, false, '')::text AS text")
      return rows[0].text
    },
    copy: async () => ({ SANDBOX_DATABASE_URL: await createDatabase(url) }),
  }
}

let chosen: 'SQLite' | 'Postgres' = 'SQLite'

/** Chooses the database of the tests that concern both. By default it is SQLite. */
export function choose(name: typeof chosen): void {
  chosen = name
}

/** Defines a test that concerns both databases, on the chosen one. */
export function onDatabase(name: string, test: (t: Test, storage: Storage) => Promise<void>): void {
  const skip = chosen === 'Postgres' && postgresSkip
  t.test(`${name} (${chosen})`, { skip }, async t => test(t, chosen === 'SQLite' ? sqlite(t) : await postgresOf(t)))
}

/** Defines a test that concerns no database in particular: it does not run again on Postgres. */
export function onSqliteOnly(name: string, test: (t: Test) => Promise<void>): void {
  if (chosen === 'SQLite') t.test(name, test)
}

export const stateOf = async (app: FastifyInstance, clientId = 'acme') =>
  (await app.inject(`/_sandbox/state?client=${clientId}`)).payload

/** Sends requests with a token of an earlier process. */
export function resume(app: FastifyInstance, token: string, clientId = 'acme') {
  const headers = { authorization: `Bearer ${token}` }
  return {
    send: (method: string, url: string, body?: object) => call(app, method, url, { region: 'EU', headers, body }),
    control: (method: string, url: string, body?: object) =>
      call(app, method, `/_sandbox${url}?client=${clientId}`, { body }),
  }
}

/**
 * Registers clients of which the database refuses a statement or the COMMIT. Their answer is 503, nothing of them is there,
 * and other clients go on.
 */
export async function testRefusals(t: Test, { app }: Stored): Promise<void> {
  for (const client_id of ['statement', 'commit', 'statement', 'commit', 'commit']) {
    const answers = [
      await requestToken(app, { client_id }),
      await requestToken(app, { client_id: `after-${client_id}` }),
    ]
    t.same(answers.map(gist), ['503 SERVICE_UNAVAILABLE null', '200'], client_id)
  }
  const { data } = (await call(app, 'GET', '/_sandbox/clients')).body
  t.same(data.map(({ clientId }: { clientId: string }) => clientId).sort(), [
    ...['after-commit', 'after-statement', 'sandbox-client'],
  ])
}

/** Returns the statuses of a client's records whose kept number is not that of a fresh count. */
export function wrongCounts(registry: TenantRegistry, clientId: string): readonly string[] {
  const tenant = registry.peek(clientId)
  if (tenant === undefined) return [`${clientId} is not in memory`]
  return Object.entries<Area>(areas).flatMap(([name, { lifecycle }]) => {
    const store: Store = tenant[name as AreaName]
    return (lifecycle?.states ?? []).filter(status => {
      const records = store.entries().filter(({ record }) => (record as { status: string }).status === status)
      return (store.counts().get(status) ?? 0) !== records.length
    })
  })
}
