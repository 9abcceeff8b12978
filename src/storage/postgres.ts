import { Socket } from 'node:net'
import { setTimeout as setTimer } from 'node:timers/promises'
import type { Client } from 'pg'
import { digestOf } from '../core/digests.js'
import { readMigrations } from './migrations.js'
import { createPostgresRequestLog } from './postgres-request-log.js'
import { CHANNEL, createPostgresStorage } from './postgres-storage.js'
import type { Database } from './storage.js'
import { DatabaseError, factsOf } from './storage.js'

export interface PostgresOptions {
  /** The seed, which all servers must share. */
  readonly seed: string
}

/** A number of our own, for the lock of the migrations. */
const MIGRATION_LOCK = 7_206_115_983
const CONNECTIONS = 10
/** Without these, `pg` would wait for ever. */
const CONNECT_MS = 2000
const STATEMENT_MS = 10_000
const LOCK_MS = 5000
/** The time between two attempts to listen. */
const RETRY_MS = 250
/** The longest wait for the end of all connections when the database closes. */
const CLOSE_MS = 1000

/**
 * Opens a Postgres database, which several servers share.
 * https://node-postgres.com
 * @throws DatabaseError
 */
export async function openPostgres(url: string, { seed }: PostgresOptions): Promise<Database> {
  const { default: pg } = await import('pg')
  const sockets = new Set<Socket>()
  const settings = {
    connectionString: url,
    application_name: 'payments-sandbox',
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: STATEMENT_MS,
    statement_timeout: STATEMENT_MS,
    lock_timeout: LOCK_MS,
    keepAlive: true,
    // The statements count on it. A database can have another default.
    options: '-c default_transaction_isolation=read\\ committed',
    // Those to a database that answers nothing end with the server.
    stream() {
      const socket = new Socket()
      sockets.add(socket)
      return socket.once('close', () => sockets.delete(socket))
    },
  }
  let pool: InstanceType<typeof pg.Pool>
  try {
    pool = new pg.Pool({ ...settings, max: CONNECTIONS })
    // A migration takes as long as it takes, and other servers wait for it.
    await migrate(new pg.Client({ ...settings, query_timeout: 0, statement_timeout: 0, lock_timeout: 0 }), seed)
  } catch (error) {
    throw error instanceof DatabaseError ? error : new DatabaseError(describe(error))
  }
  // The next use of a lost connection reports it. Without a listener, it would end the process.
  pool.on('error', () => {})
  pool.on('connect', client => void client.on('error', () => {}))

  let onChanged: (clientId?: string) => void = () => {}
  let requestLog: ReturnType<typeof createPostgresRequestLog> | undefined
  let listener: Client | undefined
  let isClosed = false

  /** Hears which tenants other servers have changed. Connects again until the database closes. */
  async function listen(): Promise<void> {
    if (isClosed) return
    const client = new pg.Client(settings)
    listener = client
    client.on('error', () => {})
    client.on('notification', ({ payload }) => onChanged(payload))
    client.once('end', () => setTimeout(() => void listen(), RETRY_MS).unref())
    try {
      await client.connect()
      await client.query(`LISTEN ${CHANNEL}`)
      // Without a connection, it has heard nothing.
      onChanged()
    } catch {
      void client.end().catch(() => {})
    }
  }

  return {
    seed,
    isShared: true,
    createStorage(options) {
      const storage = createPostgresStorage(pool, options)
      onChanged = clientId => {
        if (clientId === undefined) options.changed()
        else if (options.isInUse(clientId)) storage.refresh(clientId, () => {})
      }
      void listen()
      return storage
    },
    createRequestLog(bounds, resetsOf) {
      requestLog = createPostgresRequestLog((text, values) => pool.query(text, [...values]), bounds, resetsOf)
      return requestLog
    },
    async close() {
      if (isClosed) return
      isClosed = true
      const finish = async () => {
        await requestLog?.flush()
        await Promise.all([listener?.end(), pool.end()])
      }
      await Promise.race([finish().catch(() => {}), setTimer(CLOSE_MS, undefined, { ref: false })])
      for (const socket of sockets) socket.destroy()
    },
  }
}

function describe(error: unknown): string {
  const { reason, severity } = factsOf(error)
  // Errors of the database itself have a severity.
  return `the database cannot be ${severity === undefined ? 'reached' : 'used'}: ${reason}`
}

/** Brings the tables up to date, one server after the other, and compares the seed. @throws DatabaseError */
async function migrate(client: Client, seed: string): Promise<void> {
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('BEGIN')
    await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
    await client.query('CREATE TABLE IF NOT EXISTS sandbox_migration (version integer PRIMARY KEY)')
    const { rows } = await client.query('SELECT coalesce(max(version), 0) AS version FROM sandbox_migration')
    const version: number = rows[0].version
    const migrations = readMigrations('postgres')
    if (version > (migrations.at(-1)?.version ?? 0)) {
      throw new DatabaseError('the database was migrated by a later release.')
    }
    for (const migration of migrations) {
      if (migration.version <= version) continue
      await client.query(migration.sql)
      await client.query('INSERT INTO sandbox_migration VALUES ($1)', [migration.version])
    }
    // Stores the digest only, so that readers of the database cannot make tokens.
    const digest = digestOf(seed)
    await client.query("INSERT INTO sandbox_setting VALUES ('seed digest', $1) ON CONFLICT DO NOTHING", [digest])
    const settings = await client.query("SELECT value FROM sandbox_setting WHERE name = 'seed digest'")
    if (settings.rows[0].value !== digest) {
      throw new DatabaseError('the database was begun with another SANDBOX_SEED: give that one.')
    }
    await client.query('COMMIT')
  } finally {
    void client.end().catch(() => {})
  }
}
