import fs from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import type Connection from 'libsql/promise'
import { sha256 } from '../core/digests.js'
import type { Eventually } from '../http/request-context.js'
import type { Database, Reader, Row, Table, TenantRow, Transaction } from './database.js'
import { BATCH, BATCH_BYTES, DatabaseError, oneLine } from './database.js'
import { carryOver, readMigrations } from './migrations.js'

export interface SqliteOptions {
  /** The seed of a database that is new. */
  readonly seed: string
  /** Whether the seed was configured, so that it must be that of the database. */
  readonly isSeedGiven: boolean
}

const FILE = 'sandbox.db'
/** Identifies the file. Its `user_version` is 100 and the number of the last migration. */
const APPLICATION_ID = 0x50617953
const FIRST_VERSION = 100
/** The `user_version` of the format that stored requests. */
const FORMER_VERSION = 2

/** A disk with less room than this is full, in bytes. A turn can need more than one page. */
const LEAST_ROOM = 1024 * 1024

/** A value of SQLite as bytes. The library ends the process for a text that is not UTF-8, so no text is read as such. */
type Bytes = ArrayBuffer | Uint8Array

/** Returns the text of bytes. Those that are not UTF-8 become U+FFFD, which the checksum of their row detects. */
const textOf = (bytes: Bytes) => Buffer.from(bytes as Uint8Array).toString()
const isBytes = (value: unknown): value is Bytes => value instanceof ArrayBuffer || value instanceof Uint8Array

/**
 * Opens the database of a folder for this process only, and makes both if they are not there.
 * A commit waits until it is on the disk (WAL, `synchronous=FULL`), in another thread.
 * https://github.com/tursodatabase/libsql-js
 * @throws DatabaseError
 */
export async function openSqlite(folder: string, options: SqliteOptions): Promise<Database> {
  const path = join(resolve(folder), FILE)
  try {
    fs.mkdirSync(resolve(folder), { recursive: true, mode: 0o700 })
    fs.accessSync(resolve(folder), fs.constants.R_OK | fs.constants.W_OK | fs.constants.X_OK)
    const { default: Libsql } = await import('libsql/promise')
    if (!fs.existsSync(path)) await create(Libsql, path, options.seed)
    if (versionIn(path) === FORMER_VERSION) throw new DatabaseError(carryOver(JSON.stringify(path)))
    const connection = new Libsql(path, {})
    try {
      return await createDatabase(connection, path, await prepare(connection, path, options))
    } catch (error) {
      connection.close()
      throw error
    }
  } catch (error) {
    throw error instanceof DatabaseError ? error : new DatabaseError(describe(path, error as Error), { cause: error })
  }
}

/**
 * Returns the `user_version` of a file of ours from its header; undefined: it is no such file. Unlike SQLite, it writes
 * nothing, not even to the log beside the file.
 * https://www.sqlite.org/fileformat2.html#the_database_header
 */
function versionIn(path: string): number | undefined {
  const header = Buffer.alloc(100)
  const file = fs.openSync(path, 'r')
  fs.readSync(file, header)
  fs.closeSync(file)
  return header.readInt32BE(68) === APPLICATION_ID ? header.readInt32BE(60) : undefined
}

function describe(path: string, { code, message }: Error & { code?: string }): string {
  if (code === 'SQLITE_BUSY') return `${JSON.stringify(path)} is in use by another server.`
  return `${JSON.stringify(path)} cannot be used: ${oneLine(message)}`
}

const numberOf = async (connection: Connection, pragma: string) =>
  Number(Object.values((await connection.prepare(`PRAGMA ${pragma}`)).get() as object)[0])

/** Locks and checks a database, and brings its tables up to date. Returns its seed. Throws DatabaseError, SqliteError. */
async function prepare(connection: Connection, path: string, { seed, isSeedGiven }: SqliteOptions): Promise<string> {
  const name = JSON.stringify(path)
  // Before WAL, so that the lock needs no shared memory, which other containers would not see.
  await connection.exec('PRAGMA locking_mode = EXCLUSIVE')
  const version = await numberOf(connection, 'user_version')
  if ((await numberOf(connection, 'application_id')) !== APPLICATION_ID) {
    throw new DatabaseError(`${name} is not a database of payments-sandbox.`)
  }
  const migrations = readMigrations('sqlite')
  const latest = FIRST_VERSION + (migrations.at(-1)?.version ?? 0)
  if (version < FIRST_VERSION || version > latest) {
    throw new DatabaseError(`${name} is of a later release: its version is ${version}, and this one reads ${latest}.`)
  }
  await connection.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL')
  // Unlike quick_check, it compares the index with the rows: a tenant could not be found by a damaged index.
  const check = 'SELECT CAST(integrity_check AS BLOB) AS result FROM pragma_integrity_check(1)'
  const result = textOf(((await connection.prepare(check)).get() as { result: Bytes }).result)
  if (result !== 'ok') throw new DatabaseError(`${name} is damaged: ${oneLine(result)}`)
  await migrate(connection, version - FIRST_VERSION)
  const settings = await connection.prepare(
    `SELECT CAST(value AS BLOB) AS value, CAST(checksum AS BLOB) AS checksum FROM sandbox_setting WHERE name = 'seed'`,
  )
  const setting = settings.get() as { value: Bytes; checksum: Bytes } | undefined
  const value = setting === undefined ? '' : textOf(setting.value)
  if (setting === undefined || shortDigest(value) !== textOf(setting.checksum)) {
    throw new DatabaseError(`${name} is damaged: its seed is not as it was written.`)
  }
  if (isSeedGiven && seed !== value) {
    await release(connection)
    throw new DatabaseError(`${name} was begun with another SANDBOX_SEED: leave the variable out, or give that one.`)
  }
  return value
}

/** Runs the migrations after a version, in one transaction. */
async function migrate(connection: Connection, version: number): Promise<void> {
  const pending = readMigrations('sqlite').filter(migration => migration.version > version)
  const last = pending.at(-1)
  if (last === undefined) return
  await connection.exec(
    `BEGIN; ${pending.map(({ sql }) => sql).join('\n')}; PRAGMA user_version = ${FIRST_VERSION + last.version}; COMMIT`,
  )
}

/** Creates the file with its tables in one step: an empty file is never taken for a new database. */
async function create(Libsql: typeof Connection, path: string, seed: string): Promise<void> {
  const temporary = `${path}.new`
  fs.rmSync(temporary, { force: true })
  const connection = new Libsql(temporary, {})
  await connection.exec(`PRAGMA application_id = ${APPLICATION_ID}`)
  await migrate(connection, 0)
  const put = await connection.prepare(`INSERT INTO sandbox_setting VALUES ('seed', ?, ?)`)
  put.run([seed, shortDigest(seed)])
  connection.close()
  fs.chmodSync(temporary, 0o600)
  // Unlike a new name, a link replaces no file that another server has created meanwhile.
  fs.linkSync(temporary, path)
  fs.rmSync(temporary)
}

/**
 * A prepared statement. The library has no type for it.
 *
 * Its `get` is not used: after `all`, it returns the row of the former values.
 */
interface Prepared {
  run(values: readonly unknown[]): { readonly changes: number }
  all(values: readonly unknown[]): Promise<unknown[]>
}

/** A row as SQLite returns it: texts as bytes. The library adds an object of its own. */
type Columns = Readonly<Record<string, number | Bytes | null | object>>

/** Returns a row with its texts. */
const toTexts = <R>(row: Columns): R =>
  Object.fromEntries(Object.entries(row).map(([name, value]) => [name, isBytes(value) ? textOf(value) : value])) as R

async function createDatabase(connection: Connection, path: string, seed: string): Promise<Database> {
  const folder = dirname(path)
  /** The files that were opened, as they were at the last look. */
  const files = [path, `${path}-wal`].map(name => ({ name, last: fs.statSync(name) }))
  const version = await numberOf(connection, 'user_version')
  const cast =
    (type: string) =>
    (...columns: string[]) =>
      columns.map(column => `CAST(${column} AS ${type}) AS ${column}`).join(', ')
  const blobs = cast('BLOB')
  // A damaged one can be a text of any bytes, which ends the process as it is read.
  const integers = cast('INTEGER')
  const clients = await connection.prepare(
    `SELECT ${blobs('client_id')} FROM sandbox_tenant WHERE removed = 0 ORDER BY sandbox_tenant.client_id`,
  )
  const tenant = await connection.prepare(
    `SELECT ${integers('version', 'life', 'instant', 'removed')}, ${blobs('content', 'checksum')} FROM sandbox_tenant WHERE client_id = ?`,
  )
  const putTenant = await connection.prepare('INSERT OR REPLACE INTO sandbox_tenant VALUES (?, ?, ?, ?, ?, ?, ?)')
  const statementsOf = async (table: Table) => ({
    select: await connection.prepare(
      `SELECT ${integers('number', 'version')}, ${blobs('kind', 'region', 'reference', 'content', 'checksum')}
       FROM sandbox_${table} AS row
       WHERE client_id = ?1 AND (row.version, row.number) > (?2, ?3) ORDER BY row.version, row.number
       LIMIT (SELECT count(*) FROM (
         SELECT sum(bytes) OVER (ORDER BY version, number) - bytes AS bytes_before FROM (
           SELECT version, number, octet_length(content) AS bytes FROM sandbox_${table}
           WHERE client_id = ?1 AND (version, number) > (?2, ?3) ORDER BY version, number LIMIT ${BATCH}
         )
       ) WHERE bytes_before < ${BATCH_BYTES})`,
    ),
    put: await connection.prepare(`INSERT OR REPLACE INTO sandbox_${table} VALUES (?, ?, ?, ?, ?, ?, ?, ?)`),
    clear: await connection.prepare(
      `DELETE FROM sandbox_${table} WHERE rowid IN
       (SELECT rowid FROM sandbox_${table} WHERE client_id = ? LIMIT ${BATCH})`,
    ),
  })
  const tables = { record: await statementsOf('record'), event: await statementsOf('event') }

  let queue: Promise<unknown> = Promise.resolve()
  let inUse = 0

  /**
   * Does some work with the connection after all that came before. A statement beside one that another thread executes
   * would wait for it, and hold up all requests.
   */
  function use<T>(work: () => Eventually<T>): Promise<T> {
    const result = queue.then(work)
    inUse++
    queue = result
      .catch(() => {})
      .then(() => {
        inUse--
      })
    return result
  }

  /** Returns the rows of a query, with their texts. */
  const select = <R>(statement: Prepared, values: readonly unknown[]) =>
    use(async () => ((await statement.all(values)) as Columns[]).map(toTexts<R>))
  const selectOne = async <R>(statement: Prepared, values: readonly unknown[]) =>
    (await select<R>(statement, values))[0]

  const reader: Reader = {
    async tenant(clientId) {
      const row = await selectOne<Omit<TenantRow, 'isRemoved'> & { removed: number }>(tenant, [clientId])
      if (row === undefined) return undefined
      const { removed, ...rest } = row
      return { ...rest, isRemoved: removed !== 0 }
    },
    rows: (table, clientId, { version, number }) => select<Row>(tables[table].select, [clientId, version, number]),
  }

  /**
   * A file that is deleted leaves the open one without a name: no later start would find what is written to it.
   * SQLite overwrites both files, and shortens neither while they are open.
   * https://www.sqlite.org/pragma.html#pragma_journal_size_limit
   * @throws DatabaseError (a path has no file, or another, or a shorter one)
   */
  function assertInPlace() {
    for (const file of files) {
      const { name, last } = file
      const found = fs.statSync(name, { throwIfNoEntry: false })
      if (found?.ino !== last.ino || found.dev !== last.dev || found.size < last.size) {
        throw new DatabaseError(`${JSON.stringify(name)} is no longer the file that was opened: start the server again`)
      }
      file.last = found
    }
  }

  /** A part of what a commit writes, which holds the process only briefly. Returns true if there is more of it. */
  type Slice = () => Eventually<unknown>

  /** A turn that commits. */
  interface Commit {
    readonly slices: readonly Slice[]
    done(): void
    fail(error: unknown): void
  }
  const begin = await connection.prepare('BEGIN')
  let waiting: Commit[] = []
  let committing: Promise<void> | undefined

  /**
   * Commits the turns that wait, which share one wait for the disk. The connection does nothing else meanwhile: a read
   * between two slices would see rows that are not committed. So no slice may call `use()`.
   */
  async function commitWaiting() {
    const batch = waiting
    waiting = []
    try {
      assertInPlace()
      begin.run([])
      for (const { slices } of batch) {
        for (const [at, slice] of slices.entries()) {
          if (at > 0) await setImmediate()
          while ((await slice()) === true) await setImmediate()
        }
      }
      await connection.exec('COMMIT')
      assertInPlace()
      for (const { done } of batch) done()
    } catch (error) {
      // SQLite may have ended the transaction itself, for example when the disk is full.
      await connection.exec('ROLLBACK').catch(() => {})
      for (const { fail } of batch) fail(error)
    }
  }

  async function commitAll() {
    await setImmediate()
    while (waiting.length > 0) await use(commitWaiting)
    committing = undefined
  }

  /** Commits some work with that of other turns. */
  const commit = (slices: Commit['slices']) =>
    new Promise<void>((done, fail) => {
      waiting.push({ slices, done, fail })
      committing ??= commitAll()
    })

  async function beginTurn(): Promise<Transaction> {
    const slices: Slice[] = []
    return {
      ...reader,
      async clear(clientId) {
        for (const { clear } of Object.values(tables)) slices.push(() => clear.run([clientId]).changes === BATCH)
      },
      async write(clientId, { version, life, instant, isRemoved, content, checksum }, rows) {
        slices.push(() => {
          putTenant.run([clientId, version, life, instant, isRemoved ? 1 : 0, content, checksum])
          for (const [table, { put }] of Object.entries(tables)) {
            for (const row of rows[table as Table]) {
              const { number, version, kind, region, reference, content, checksum } = row
              put.run([clientId, number, version, kind, region, reference, content, checksum])
            }
          }
        })
      },
      commit: () => commit(slices),
      async rollback() {},
    }
  }

  let closing: Promise<void> | undefined

  return {
    seed,
    isShared: false,
    clients: async () => (await select<{ client_id: string }>(clients, [])).map(row => row.client_id),
    version: async clientId => (await reader.tenant(clientId))?.version ?? 0,
    read: work => work(reader),
    begin: beginTurn,
    announce() {},
    listen() {},
    inUse: () => inUse,
    async check() {
      const { blocks, bavail, bsize } = await fs.promises.statfs(folder)
      if (blocks > 0 && bavail * bsize < LEAST_ROOM)
        throw new DatabaseError(`${JSON.stringify(folder)} is on a full disk`)
      // A quota may leave no room either. This commit changes nothing.
      await commit([() => connection.exec(`PRAGMA user_version = ${version}`)])
    },
    async close() {
      await committing
      closing ??= use(() => release(connection))
      await closing
    },
  }
}

/**
 * Closes a database, and leaves one file without a log beside it.
 * The library releases the lock only after all statements are collected, so it is released before.
 */
async function release(connection: Connection): Promise<void> {
  try {
    for (const pragma of ['journal_mode = DELETE', 'locking_mode = NORMAL', 'schema_version'])
      await connection.pragma(pragma, {})
  } catch {
    // All that was acknowledged is on the disk: the next start reads the log beside the file.
  }
  connection.close()
}

/** SQLite has no checksums of its own, and would not see a changed byte within a row. */
const shortDigest = (text: string) => sha256(text).slice(0, 32)
