import fs from 'node:fs'
import { join, resolve } from 'node:path'
import type { Database } from 'libsql'
import { sha256 } from '../core/digests.js'
import { DatabaseError, END, type LogRow, type TenantLog } from './tenant-log.js'

export interface SqliteOptions {
  /** The seed of a database that is new. */
  readonly seed: string
  /** Whether the seed was configured, so that it must be that of the database. */
  readonly isSeedGiven: boolean
}

const FILE = 'sandbox.db'
/** Identifies the file, and the version of its tables. */
const APPLICATION_ID = 0x50617953
const VERSION = 2

const TABLES = `
  CREATE TABLE setting (name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum TEXT NOT NULL);
  CREATE TABLE tenant_log (
    client_id TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    instant INTEGER NOT NULL,
    operation TEXT NOT NULL,
    content TEXT NOT NULL,
    document BLOB,
    checksum TEXT NOT NULL,
    PRIMARY KEY (client_id, sequence)
  );
  CREATE TABLE link (
    payout_link_id TEXT NOT NULL,
    client_id TEXT NOT NULL,
    PRIMARY KEY (payout_link_id, client_id)
  ) WITHOUT ROWID;
  PRAGMA application_id = ${APPLICATION_ID};
  PRAGMA user_version = ${VERSION};
`

/** A value of SQLite as bytes. The library ends the process for a text that is not UTF-8, so no text is read as such. */
type Bytes = ArrayBuffer

interface StoredRow {
  readonly sequence: number
  readonly instant: number
  readonly operation: Bytes
  readonly content: Bytes
  readonly document: Bytes | null
  readonly checksum: Bytes
}

/** Returns the text of bytes. Those that are not UTF-8 become U+FFFD, which the checksum of their row detects. */
const textOf = (bytes: Bytes) => Buffer.from(bytes).toString()

/**
 * Opens the database of a folder for this process only, and makes both if they are not there.
 * A commit waits until it is on the disk (WAL, `synchronous=FULL`).
 * https://github.com/tursodatabase/libsql-js
 * @throws DatabaseError
 */
export async function openSqlite(folder: string, options: SqliteOptions): Promise<TenantLog> {
  const path = join(resolve(folder), FILE)
  try {
    fs.mkdirSync(resolve(folder), { recursive: true, mode: 0o700 })
    fs.accessSync(resolve(folder), fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK)
    const { default: Libsql } = await import('libsql')
    if (!fs.existsSync(path)) create(Libsql, path, options.seed)
    const database = new Libsql(path)
    try {
      return createLog(database, path, prepare(database, path, options))
    } catch (error) {
      database.close()
      throw error
    }
  } catch (error) {
    throw error instanceof DatabaseError ? error : new DatabaseError(describe(path, error as Error), { cause: error })
  }
}

const oneLine = (text: string) => text.replaceAll(/\s+/g, ' ')

function describe(path: string, { code, message }: Error & { code?: string }): string {
  if (code === 'SQLITE_BUSY') return `${JSON.stringify(path)} is in use by another server.`
  return `${JSON.stringify(path)} cannot be used: ${oneLine(message)}`
}

/** Locks and checks a database. Returns its seed. Throws DatabaseError, SqliteError. */
function prepare(database: Database, path: string, { seed, isSeedGiven }: SqliteOptions): string {
  const name = JSON.stringify(path)
  const numberOf = (pragma: string) => Number(Object.values(database.prepare(`PRAGMA ${pragma}`).get() as object)[0])
  // Before WAL, so that the lock needs no shared memory, which other containers would not see.
  database.pragma('locking_mode = EXCLUSIVE')
  if (numberOf('application_id') !== APPLICATION_ID || numberOf('user_version') !== VERSION) {
    throw new DatabaseError(`${name} is not a database of payments-sandbox in version ${VERSION}.`)
  }
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = FULL')
  // Unlike quick_check, it compares the index with the rows: a tenant could not be found by a damaged index.
  const check = 'SELECT CAST(integrity_check AS BLOB) AS result FROM pragma_integrity_check(1)'
  const result = textOf((database.prepare(check).get() as { result: Bytes }).result)
  if (result !== 'ok') throw new DatabaseError(`${name} is damaged: ${oneLine(result)}`)
  const setting = database
    .prepare(`SELECT CAST(value AS BLOB) AS value, CAST(checksum AS BLOB) AS checksum FROM setting WHERE name = 'seed'`)
    .get() as { value: Bytes; checksum: Bytes } | undefined
  const value = setting === undefined ? '' : textOf(setting.value)
  if (setting === undefined || shortDigest(value) !== textOf(setting.checksum)) {
    throw new DatabaseError(`${name} is damaged: its seed is not as it was written.`)
  }
  if (isSeedGiven && seed !== value) {
    release(database)
    throw new DatabaseError(`${name} was begun with another SANDBOX_SEED: leave the variable out, or give that one.`)
  }
  return value
}

/** Creates the file with its tables in one step: an empty file is never taken for a new database. */
function create(Libsql: typeof import('libsql'), path: string, seed: string): void {
  const temporary = `${path}.new`
  fs.rmSync(temporary, { force: true })
  const database = new Libsql(temporary)
  database.exec(`BEGIN; ${TABLES}`)
  database.prepare(`INSERT INTO setting VALUES ('seed', ?, ?)`).run([seed, shortDigest(seed)])
  database.exec('COMMIT')
  database.close()
  fs.chmodSync(temporary, 0o600)
  // Unlike a new name, a link replaces no file that another server has created meanwhile.
  fs.linkSync(temporary, path)
  fs.rmSync(temporary)
}

function createLog(database: Database, path: string, seed: string): TenantLog {
  const insert = database.prepare('INSERT INTO tenant_log VALUES (?, ?, ?, ?, ?, ?, ?)')
  const last = database.prepare('SELECT max(sequence) AS sequence FROM tenant_log WHERE client_id = ?')
  const remove = database.prepare('DELETE FROM tenant_log WHERE client_id = ? AND sequence < ?')
  const select = database.prepare(
    `SELECT sequence, instant, CAST(operation AS BLOB) AS operation, CAST(content AS BLOB) AS content, document,
       CAST(checksum AS BLOB) AS checksum
     FROM tenant_log
     WHERE client_id = ? AND sequence > ? ORDER BY sequence`,
  )
  const clients = database.prepare(
    'SELECT DISTINCT CAST(client_id AS BLOB) AS clientId FROM tenant_log WHERE operation <> ? ORDER BY client_id',
  )
  const addLink = database.prepare('INSERT OR IGNORE INTO link VALUES (?, ?)')
  const owners = database.prepare('SELECT CAST(client_id AS BLOB) AS clientId FROM link WHERE payout_link_id = ?')

  function write(clientId: string, row: LogRow): boolean {
    const { sequence } = last.get([clientId]) as { sequence: number | null }
    if ((sequence ?? 0) !== row.sequence - 1) return false
    const { instant, operation, content, document } = row
    insert.run([clientId, row.sequence, instant, operation, content, document, checksumOf(clientId, row)])
    return true
  }

  /** The rows of one turn of the event loop share a transaction, and so one wait for the disk. */
  let waiting: { write(): boolean; done(isWritten: boolean): void; fail(error: unknown): void }[] = []

  function commit() {
    const batch = waiting
    waiting = []
    try {
      database.exec('BEGIN')
      const results = batch.map(({ write }) => write())
      database.exec('COMMIT')
      for (const [at, { done }] of batch.entries()) done(results[at] as boolean)
    } catch (error) {
      // SQLite may have ended the transaction itself, for example when the disk is full.
      if (database.open && database.inTransaction) database.exec('ROLLBACK')
      for (const { fail } of batch) fail(error)
    }
  }

  const commitSoon = (write: () => boolean) =>
    new Promise<boolean>((done, fail) => {
      if (waiting.push({ write, done, fail }) === 1) setImmediate(commit)
    })

  return {
    seed,
    tenants: async () => (clients.all([END]) as { clientId: Bytes }[]).map(({ clientId }) => textOf(clientId)),
    after: async (clientId, sequence) =>
      (select.all([clientId, sequence]) as StoredRow[]).map(({ checksum, operation, content, document, ...rest }) => {
        const row: LogRow = {
          ...rest,
          operation: textOf(operation),
          content: textOf(content),
          document: document === null ? null : new Uint8Array(document),
        }
        if (checksumOf(clientId, row) === textOf(checksum)) return row
        throw new DatabaseError(
          `${JSON.stringify(path)} is damaged: row ${row.sequence} of tenant ${JSON.stringify(clientId)} is not as it was written.`,
        )
      }),
    append: (clientId, row) => commitSoon(() => write(clientId, row)),
    appendSnapshot: (clientId, row) =>
      commitSoon(() => {
        const isWritten = write(clientId, row)
        if (isWritten) remove.run([clientId, row.sequence])
        return isWritten
      }),
    async addLinks(clientId, payoutLinkIds) {
      await commitSoon(() => {
        for (const id of payoutLinkIds) addLink.run([id, clientId])
        return true
      })
    },
    clientsOfLink: async id => (owners.all([id]) as { clientId: Bytes }[]).map(({ clientId }) => textOf(clientId)),
    check: async () => {},
    async close() {
      if (!database.open) return
      if (waiting.length > 0) commit()
      release(database)
    },
  }
}

/**
 * Closes a database, and leaves one file without a log beside it.
 * The library releases the lock only after all statements are collected, so it is released before.
 */
function release(database: Database): void {
  try {
    database.pragma('journal_mode = DELETE')
    database.pragma('locking_mode = NORMAL')
    database.pragma('schema_version')
  } catch {
    // All that was acknowledged is on the disk: the next start reads the log beside the file.
  }
  database.close()
}

/** SQLite has no checksums of its own, and would not see a changed byte within a row. */
function checksumOf(clientId: string, { sequence, instant, operation, content, document }: LogRow): string {
  const parts = [clientId, sequence, instant, operation, content, document === null ? null : sha256(document)]
  return shortDigest(JSON.stringify(parts))
}

const shortDigest = (text: string) => sha256(text).slice(0, 32)
