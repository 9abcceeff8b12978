import fs from 'node:fs'
import { join, resolve } from 'node:path'
import type Libsql from 'libsql'
import { readMigrations } from './migrations.js'
import { createSqliteStorage } from './sqlite-storage.js'
import type { Database } from './storage.js'
import { DatabaseError, factsOf, oneLine } from './storage.js'

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
    throw error instanceof DatabaseError ? error : new DatabaseError(describe(path, error), { cause: error })
  }
}

function describe(path: string, error: unknown): string {
  const { code, reason } = factsOf(error)
  if (code === 'SQLITE_BUSY') return `${JSON.stringify(path)} is in use by another server.`
  return `${JSON.stringify(path)} cannot be used: ${reason}`
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
