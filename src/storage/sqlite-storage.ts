import fs from 'node:fs'
import type Libsql from 'libsql'
import { errors } from '../core/errors.js'
import type { Row, TenantRow, Write } from './copies.js'
import { createCopies, UnreadableError } from './copies.js'
import type { Storage, StorageOptions } from './storage.js'
import { DUE_WORK, factsOf, perform, resultOf } from './storage.js'

type Connection = Libsql.Database

/** The bytes that a disk must have for the server to be ready. */
const LEAST_ROOM = 1024 * 1024

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
export function createSqliteStorage(connection: Connection, path: string, options: StorageOptions): Storage {
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
    logger.error({ clientId, ...factsOf(error) }, 'the database cannot be used')
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
          // A list starts no client: it shows the state in which the client would start.
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
