import fs from 'node:fs'
import { join, resolve } from 'node:path'
import type Libsql from 'libsql'
import { errors } from '../core/errors.js'
import type { Row, TenantRow, Write } from './copies.js'
import { createCopies, UnreadableError } from './copies.js'
import { readMigrations } from './migrations.js'
import type { Database, Storage, StorageOptions } from './storage.js'
import { DatabaseError, DUE_WORK, oneLine, perform, resultOf } from './storage.js'

export interface SqliteOptions {
  /** The seed of a new database. */
  readonly seed: string
  /** Whether an existing database must have that seed. */
  readonly isSeedGiven: boolean
  /**
   * `full`: a commit waits until it is on the disk. `normal`: a loss of power can take the last commits away, a crash of
   * the process none (https://www.sqlite.org/pragma.html#pragma_synchronous).
   */
  readonly synchronous?: 'full' | 'normal'
}

type Connection = Libsql.Database

const FILE = 'sandbox.db'
/** Identifies the file (https://www.sqlite.org/pragma.html). Its `user_version` is 100 and the number of the last migration. */
const APPLICATION_ID = 0x50617953
const FIRST_VERSION = 100
/** The bytes that a disk must have for the server to be ready. */
const LEAST_ROOM = 1024 * 1024

/**
 * Opens the database of a folder for this process only, and makes both if they are not there.
 * https://github.com/tursodatabase/libsql-js
 * @throws DatabaseError
 */
export async function openSqlite(folder: string, options: SqliteOptions): Promise<Database> {
  const path = join(resolve(folder), FILE)
  try {
    fs.mkdirSync(resolve(folder), { recursive: true, mode: 0o700 })
    fs.accessSync(resolve(folder), fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK)
    const { default: Database } = await import('libsql')
    if (!fs.existsSync(path)) create(Database, path, options.seed)
    const connection = new Database(path)
    try {
      const seed = prepare(connection, path, options)
      return {
        seed,
        isShared: false,
        createStorage: storageOptions => createSqliteStorage(connection, path, storageOptions),
        close: async () => release(connection),
      }
    } catch (error) {
      connection.close()
      throw error
    }
  } catch (error) {
    throw error instanceof DatabaseError ? error : new DatabaseError(describe(path, error as Error), { cause: error })
  }
}

function describe(path: string, { code, message }: Error & { code?: string }): string {
  if (code === 'SQLITE_BUSY') return `${JSON.stringify(path)} is in use by another server.`
  return `${JSON.stringify(path)} cannot be used: ${oneLine(message)}`
}

/** Returns the value of a pragma, as a text or number. */
const pragma = (connection: Connection, name: string) =>
  Object.values(connection.prepare(`PRAGMA ${name}`).all()[0] as object)[0]

/** Locks and checks a database, and brings its tables up to date. Returns its seed. @throws DatabaseError, SqliteError */
function prepare(
  connection: Connection,
  path: string,
  { seed, isSeedGiven, synchronous = 'full' }: SqliteOptions,
): string {
  const name = JSON.stringify(path)
  // Before WAL, so that the lock needs no shared memory, which other containers would not see.
  connection.exec('PRAGMA locking_mode = EXCLUSIVE')
  const version = Number(pragma(connection, 'user_version'))
  if (Number(pragma(connection, 'application_id')) !== APPLICATION_ID) {
    throw new DatabaseError(`${name} is not a database of payments-sandbox.`)
  }
  const latest = FIRST_VERSION + (readMigrations('sqlite').at(-1)?.version ?? 0)
  if (version < FIRST_VERSION || version > latest) {
    throw new DatabaseError(
      `${name} is of another release: its version is ${version}, and this one reads up to ${latest}.`,
    )
  }
  connection.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = ${synchronous}`)
  const result = String(pragma(connection, 'quick_check(1)'))
  if (result !== 'ok') throw new DatabaseError(`${name} is damaged: ${oneLine(result)}`)
  migrate(connection, version - FIRST_VERSION)
  const [setting] = connection.prepare("SELECT value FROM sandbox_setting WHERE name = 'seed'").all() as {
    value: string
  }[]
  if (setting === undefined) throw new DatabaseError(`${name} is damaged: it has no seed.`)
  if (isSeedGiven && seed !== setting.value) {
    throw new DatabaseError(`${name} was begun with another SANDBOX_SEED: leave the variable out, or give that one.`)
  }
  return setting.value
}

/** Runs the migrations after a version, in one transaction. */
function migrate(connection: Connection, version: number): void {
  const pending = readMigrations('sqlite').filter(migration => migration.version > version)
  const last = pending.at(-1)
  if (last === undefined) return
  const sql = pending.map(migration => migration.sql).join('\n')
  connection.exec(`BEGIN; ${sql}; PRAGMA user_version = ${FIRST_VERSION + last.version}; COMMIT`)
}

/** Creates the file with its tables in one step: an empty file is never taken for a new database. */
function create(Database: typeof Libsql, path: string, seed: string): void {
  const temporary = `${path}.new`
  fs.rmSync(temporary, { force: true })
  const connection = new Database(temporary)
  connection.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
  migrate(connection, 0)
  connection.prepare("INSERT INTO sandbox_setting VALUES ('seed', ?)").run([seed])
  connection.close()
  fs.chmodSync(temporary, 0o600)
  // Unlike a new name, a link replaces no file that another server has created meanwhile.
  fs.linkSync(temporary, path)
  fs.rmSync(temporary)
}

/** Closes a database, and leaves one file without a log beside it. The library releases the lock only later. */
function release(connection: Connection): void {
  if (!connection.open) return
  try {
    for (const pragma of ['journal_mode = DELETE', 'locking_mode = NORMAL']) connection.exec(`PRAGMA ${pragma}`)
    connection.prepare('PRAGMA schema_version').all()
  } catch {
    // All that was acknowledged is on the disk: the next start reads the log beside the file.
  }
  connection.close()
}

/**
 * Whether the library can bind an id. It cuts a text at a NUL, and ends the process for one that is not Unicode. No client has
 * such an id, but a request can name it.
 */
const isStorable = (clientId: string) => !clientId.includes('\0') && clientId.isWellFormed()

/** Returns statements on the tables. The library ends the process for a text that is not UTF-8, so texts are read as bytes. */
function statementsOf(connection: Connection) {
  const all = <R>(sql: string) => {
    const statement = connection.prepare(sql)
    return (...values: readonly (string | number)[]) => (statement.all([...values]) as object[]).map(toTexts<R>)
  }
  const run = (sql: string) => {
    const statement = connection.prepare(sql)
    return (...values: readonly (string | number)[]) => void statement.run([...values])
  }
  return {
    clients: all<{ client_id: string }>(
      'SELECT CAST(client_id AS BLOB) AS client_id FROM sandbox_tenant WHERE removed = 0 ORDER BY sandbox_tenant.client_id',
    ),
    tenant: all<Omit<TenantRow, 'isRemoved'> & { readonly removed: number }>(
      'SELECT version, life, instant, removed, CAST(content AS BLOB) AS content FROM sandbox_tenant WHERE client_id = ?',
    ),
    records: all<Row>(
      'SELECT number, CAST(content AS BLOB) AS content FROM sandbox_record WHERE client_id = ? ORDER BY number',
    ),
    events: all<Row>(
      'SELECT number, CAST(content AS BLOB) AS content FROM sandbox_event WHERE client_id = ? ORDER BY number',
    ),
    clearRecords: run('DELETE FROM sandbox_record WHERE client_id = ?'),
    clearEvents: run('DELETE FROM sandbox_event WHERE client_id = ?'),
    putTenant: run('INSERT OR REPLACE INTO sandbox_tenant VALUES (?, ?, ?, ?, ?, ?)'),
    putRecord: run('INSERT OR REPLACE INTO sandbox_record VALUES (?, ?, ?, ?)'),
    putEvent: run('INSERT INTO sandbox_event VALUES (?, ?, ?)'),
    // An UPDATE to the same value would write nothing.
    touch: run("INSERT OR REPLACE INTO sandbox_setting SELECT * FROM sandbox_setting WHERE name = 'seed'"),
  }
}

const toTexts = <R>(row: object): R =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [
      name,
      value instanceof ArrayBuffer ? Buffer.from(value).toString() : value,
    ]),
  ) as R

/** Creates the storage of tenants on SQLite: those in memory, with a file behind them. */
function createSqliteStorage(connection: Connection, path: string, options: StorageOptions): Storage {
  const { registry, logger, now, changed } = options
  const copies = createCopies(options)
  const statements = statementsOf(connection)

  /** Does some work in a transaction of the database, which is on the disk when this returns. */
  function commit(work: () => void): void {
    // `transaction()` of the library would hide an error after which SQLite has ended the transaction itself.
    connection.exec('BEGIN')
    try {
      work()
      connection.exec('COMMIT')
    } catch (error) {
      if (connection.inTransaction) connection.exec('ROLLBACK')
      throw error
    }
  }

  function write({ clientId, row, isNewLife, records, events }: Write) {
    const { version, life, instant, isRemoved, content } = row
    if (isNewLife) {
      statements.clearRecords(clientId)
      statements.clearEvents(clientId)
    }
    statements.putTenant(clientId, version, life, instant, isRemoved ? 1 : 0, content)
    for (const record of records) statements.putRecord(clientId, record.number, version, record.content)
    for (const event of events) statements.putEvent(clientId, event.number, event.content)
  }

  /** Reports a failure of the database. Returns SERVICE_UNAVAILABLE. */
  function unavailable(error: unknown, clientId?: string): Error {
    if (error instanceof UnreadableError) return error
    const { code, message } = error as Error & { code?: string }
    logger.error({ clientId, code, reason: oneLine(message) }, 'the database cannot be used')
    return errors.databaseUnavailable()
  }

  /** Loads a tenant if it is not in memory. Returns its row. @throws SERVICE_UNAVAILABLE */
  function load(clientId: string, isReplacing = false): TenantRow | undefined {
    const copy = copies.get(clientId)
    if (copy !== undefined) return { ...copy, instant: 0, isRemoved: false, content: '' }
    if (!isStorable(clientId)) return undefined
    try {
      const [found] = statements.tenant(clientId)
      if (found === undefined) return undefined
      const row = { ...found, isRemoved: found.removed !== 0 }
      copies.load(clientId, row, statements.records(clientId), statements.events(clientId), isReplacing)
      return row
    } catch (error) {
      throw unavailable(error, clientId)
    }
  }

  const storage: Storage = {
    transact(clientId, work, other = clientId) {
      const clientIds = [...new Set([clientId, other])]
      const realNow = now()
      const isReplacing = work.skipsDueWork === true && !work.isRead(realNow)
      const rows = clientIds.map(id => load(id, isReplacing))
      const isRead = work.isRead(realNow)
      const outcome = perform(registry, clientIds, work, realNow)
      const writes = clientIds.flatMap((id, at) => copies.writeOf(id, rows[at], realNow) ?? [])
      if (writes.length > 0) {
        try {
          commit(() => writes.forEach(write))
        } catch (error) {
          // The copies have changes that are not stored.
          for (const id of clientIds) copies.evict(id)
          throw unavailable(error, clientId)
        }
        for (const written of writes) copies.written(written)
      }
      if (writes.length > 0 || !isRead) for (const id of clientIds) changed(id)
      copies.makeRoom()
      return resultOf(outcome)
    },
    refresh(clientId, done) {
      try {
        if (clientId !== undefined) {
          load(clientId)
          const clock = registry.peek(clientId)?.clock
          if (clock?.isDueAt(now())) storage.transact(clientId, DUE_WORK)
          else clock?.sync(now())
        }
      } catch (error) {
        done(error as Error)
        return
      }
      done()
    },
    clients() {
      try {
        return [...new Set([...registry.configured(), ...statements.clients().map(row => row.client_id)])]
      } catch (error) {
        throw unavailable(error)
      }
    },
    async all(describe, clientIds) {
      const realNow = now()
      return [...(clientIds ?? (await storage.clients()))].flatMap(clientId => {
        try {
          const row = load(clientId)
          const described = registry.has(clientId) ? [describe(registry.tenant(clientId, realNow), realNow)] : []
          // A list begins the life of no client: it shows the state in which one would begin.
          if (row === undefined) copies.evict(clientId)
          copies.makeRoom()
          return described
        } catch (error) {
          if (error instanceof UnreadableError) return []
          throw error
        }
      })
    },
    lifeOf: clientId => copies.get(clientId)?.life,
    check() {
      try {
        const { blocks, bavail, bsize } = fs.statfsSync(path)
        if (blocks > 0 && bavail * bsize < LEAST_ROOM) throw new Error(`the disk of ${JSON.stringify(path)} is full`)
        // A quota may leave no room either.
        commit(() => statements.touch())
      } catch (error) {
        throw unavailable(error)
      }
    },
  }
  return storage
}
