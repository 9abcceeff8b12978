import type { FastifyBaseLogger } from 'fastify'
import type { Client, Pool, QueryConfig } from 'pg'
import { digestOf } from '../core/digests.js'
import type { RequestLog } from '../features/request-log/request-log.js'
import type { Query } from './postgres-request-log.js'
import { createPostgresRequestLog } from './postgres-request-log.js'
import type { LogRow, TenantLog } from './tenant-log.js'
import { DatabaseAwayError, DatabaseError, END } from './tenant-log.js'

export interface PostgresOptions {
  /** The seed, which must be that of the other servers. */
  readonly seed: string
  readonly logger: Pick<FastifyBaseLogger, 'error' | 'info'>
}

/** A released migration never changes: a change of the tables is another one. */
const MIGRATIONS = [
  `CREATE TABLE sandbox_setting (name text PRIMARY KEY, value text NOT NULL);
   CREATE TABLE sandbox_tenant (client_id text PRIMARY KEY, sequence bigint NOT NULL) WITH (fillfactor = 50);
   CREATE TABLE sandbox_tenant_log (
     client_id text NOT NULL,
     sequence bigint NOT NULL,
     instant bigint NOT NULL,
     operation text NOT NULL,
     content text NOT NULL,
     document bytea,
     PRIMARY KEY (client_id, sequence)
   );
   CREATE TABLE sandbox_link (
     payout_link_id text NOT NULL,
     client_id text NOT NULL,
     PRIMARY KEY (payout_link_id, client_id)
   );`,
  `CREATE TABLE sandbox_request_count (
     client_id text PRIMARY KEY,
     last bigint NOT NULL,
     cleared bigint NOT NULL DEFAULT 0
   ) WITH (fillfactor = 50);
   CREATE TABLE sandbox_request (
     id bigserial PRIMARY KEY,
     client_id text NOT NULL,
     seq bigint NOT NULL,
     bytes integer NOT NULL,
     content text NOT NULL,
     UNIQUE (client_id, seq)
   );`,
]

/** A number of our own, for the lock of the migrations. */
const MIGRATION_LOCK = 7_206_115_983
const CHANNEL = 'sandbox_tenant'
/** The message of pg-pool if all connections are busy for too long: the database is slow, but not away. */
const NO_CONNECTION_FREE = 'timeout exceeded when trying to connect'
const CONNECTIONS = 10
const CONNECT_MS = 5000
const STATEMENT_MS = 5000
/** The time between two attempts to reach the database. */
const PROBE_MS = 250
/** The longest text that NOTIFY carries, in bytes. */
const LONGEST_PAYLOAD = 7999

/**
 * Opens the logs in a Postgres database, which several servers share.
 * https://node-postgres.com
 * @throws DatabaseError
 */
export async function openPostgres(url: string, { seed, logger }: PostgresOptions): Promise<TenantLog> {
  const { default: pg } = await import('pg')
  const settings = {
    connectionString: url,
    application_name: 'payments-sandbox',
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: STATEMENT_MS,
    statement_timeout: STATEMENT_MS,
    keepAlive: true,
    // The statements count on it. A database can have another default.
    options: '-c default_transaction_isolation=read\\ committed',
  }
  let pool: Pool
  try {
    pool = new pg.Pool({ ...settings, max: CONNECTIONS })
  } catch (error) {
    throw new DatabaseError(oneLine(error))
  }
  pool.on('error', error => lose(error))
  let isAway = false
  let isClosed = false
  let probe: NodeJS.Timeout | undefined

  // ---------------------------------------------------------------------------------------------------- availability

  function lose(error: Error) {
    if (isAway || isClosed) return
    isAway = true
    logger.error({ err: error }, 'the database is away')
    probe = setTimeout(find, PROBE_MS)
  }

  async function find() {
    try {
      await pool.query('SELECT 1')
      isAway = false
      logger.info('the database is back')
      void requestLog?.flush()
    } catch {
      if (!isClosed) probe = setTimeout(find, PROBE_MS)
    }
  }

  const query: Query = async statement => {
    if (isAway) throw new DatabaseAwayError('the database is away')
    try {
      return await pool.query(statement)
    } catch (error) {
      const { message } = error as Error
      if (message !== NO_CONNECTION_FREE && !isLoss(error as Error)) throw error
      if (message !== NO_CONNECTION_FREE) lose(error as Error)
      throw new DatabaseAwayError(message, { cause: error })
    }
  }

  /** Whether an error is about the connection, and not about the statement. */
  const isLoss = (error: Error) => !(error instanceof pg.DatabaseError) || /^(08|53|57)/.test(error.code ?? '')

  // ---------------------------------------------------------------------------------------------------- notifications

  const changed = new Set<string>()
  let announcing: Promise<void> | undefined
  let listener: Client | undefined
  let requestLog: RequestLog | undefined

  /** Announces changes to the other servers, outside of their transactions: NOTIFY holds a lock until its commit. */
  function announce(clientId: string) {
    if (Buffer.byteLength(clientId) > LONGEST_PAYLOAD) return
    changed.add(clientId)
    announcing ??= announceAll().finally(() => {
      announcing = undefined
    })
  }

  async function announceAll() {
    while (changed.size > 0) {
      const values = [CHANNEL, [...changed]]
      changed.clear()
      const text = 'SELECT pg_notify($1, client_id) FROM unnest($2::text[]) AS client_id'
      // Calls that wait look again by themselves, too.
      await query({ name: 'announce', text, values }).catch(() => {})
    }
  }

  async function listen(onChanged: (clientId: string) => void): Promise<void> {
    if (isClosed) return
    const client = new pg.Client(settings)
    listener = client
    client.on('notification', ({ payload }) => onChanged(payload as string))
    client.on('error', () => {})
    client.once('end', () => {
      if (!isClosed) setTimeout(() => void listen(onChanged), PROBE_MS).unref()
    })
    try {
      await client.connect()
      await client.query(`LISTEN ${CHANNEL}`)
    } catch {
      await client.end().catch(() => {})
    }
  }

  // --------------------------------------------------------------------------------------------------------- tenants

  async function write(statement: QueryConfig, clientId: string): Promise<boolean> {
    const { rowCount } = await query(statement)
    if (rowCount === 1) announce(clientId)
    return rowCount === 1
  }

  const valuesOf = (clientId: string, { sequence, instant, operation, content, document }: LogRow) =>
    [clientId, sequence, instant, operation, content, document] as unknown[]

  try {
    await migrate(pool, seed)
  } catch (error) {
    await pool.end()
    throw error instanceof DatabaseError ? error : new DatabaseError(oneLine(error))
  }

  return {
    seed,
    async tenants() {
      const { rows } = await query({ text: TENANTS, values: [END] })
      return rows.map(row => row.client_id as string)
    },
    async after(clientId, sequence) {
      // Postgres has no such text.
      if (clientId.includes('\0')) return []
      const { rows } = await query({ name: 'after', text: AFTER, values: [clientId, sequence] })
      return rows.map(row => ({
        sequence: Number(row.sequence),
        instant: Number(row.instant),
        operation: row.operation as string,
        content: row.content as string,
        document: row.document as Buffer | null,
      }))
    },
    append: (clientId, row) => write({ name: 'append', text: APPEND, values: valuesOf(clientId, row) }, clientId),
    appendSnapshot(clientId, row) {
      const values = valuesOf(clientId, row)
      return row.sequence === 1
        ? write({ name: 'begin', text: BEGIN, values }, clientId)
        : write({ name: 'snapshot', text: SNAPSHOT, values }, clientId)
    },
    async addLinks(clientId, payoutLinkIds) {
      const text = 'INSERT INTO sandbox_link SELECT unnest($2::text[]), $1 ON CONFLICT DO NOTHING'
      await query({ name: 'add links', text, values: [clientId, payoutLinkIds] })
    },
    async clientsOfLink(payoutLinkId) {
      if (payoutLinkId.includes('\0')) return []
      const text = 'SELECT client_id FROM sandbox_link WHERE payout_link_id = $1'
      const { rows } = await query({ name: 'find link', text, values: [payoutLinkId] })
      return rows.map(row => row.client_id as string)
    },
    async check() {
      const { rows } = await query({ name: 'check', text: 'SHOW transaction_read_only' })
      if (rows[0]?.transaction_read_only === 'on') throw new DatabaseAwayError('the database is read-only')
    },
    createRequestLog(bounds) {
      requestLog = createPostgresRequestLog(query, bounds)
      return requestLog
    },
    listen: onChanged => void listen(onChanged),
    async close() {
      if (isClosed) return
      await requestLog?.flush()
      isClosed = true
      clearTimeout(probe)
      await announcing
      await listener?.end().catch(() => {})
      await pool.end()
    },
  }
}

const COLUMNS = '(client_id, sequence, instant, operation, content, document)'
const VALUES = '$2::bigint, $3::bigint, $4::text, $5::text, $6::bytea'

const TENANTS = `
  SELECT client_id FROM sandbox_tenant JOIN sandbox_tenant_log USING (client_id, sequence)
  WHERE operation <> $1 ORDER BY client_id`

const AFTER = `
  SELECT sequence, instant, operation, content, document FROM sandbox_tenant_log
  WHERE client_id = $1 AND sequence > $2 ORDER BY sequence`

/** The update locks the tenant, and finds no row if another server was first. */
const MOVED = `
  moved AS (
    UPDATE sandbox_tenant SET sequence = $2::bigint WHERE client_id = $1::text AND sequence = $2::bigint - 1
    RETURNING client_id
  )`

const APPEND = `WITH ${MOVED} INSERT INTO sandbox_tenant_log ${COLUMNS} SELECT client_id, ${VALUES} FROM moved`

const SNAPSHOT = `
  WITH ${MOVED}, removed AS (
    DELETE FROM sandbox_tenant_log USING moved
    WHERE sandbox_tenant_log.client_id = moved.client_id AND sandbox_tenant_log.sequence < $2::bigint
  )
  INSERT INTO sandbox_tenant_log ${COLUMNS} SELECT client_id, ${VALUES} FROM moved`

const BEGIN = `
  WITH moved AS (
    INSERT INTO sandbox_tenant (client_id, sequence) VALUES ($1::text, $2::bigint)
    ON CONFLICT DO NOTHING RETURNING client_id
  )
  INSERT INTO sandbox_tenant_log ${COLUMNS} SELECT client_id, ${VALUES} FROM moved`

const oneLine = (error: unknown) => `the database cannot be used: ${(error as Error).message.replaceAll(/\s+/g, ' ')}`

/** Brings the tables up to date, one server after the other, and compares the seed. Throws DatabaseError. */
async function migrate(pool: Pool, seed: string): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
    await client.query('CREATE TABLE IF NOT EXISTS sandbox_migration (version integer PRIMARY KEY)')
    const { rows } = await client.query('SELECT coalesce(max(version), 0) AS version FROM sandbox_migration')
    const { version } = rows[0] as { version: number }
    if (version > MIGRATIONS.length) throw new DatabaseError('the database was migrated by a later release.')
    for (const [at, migration] of MIGRATIONS.entries()) {
      if (at < version) continue
      await client.query(migration)
      await client.query('INSERT INTO sandbox_migration VALUES ($1)', [at + 1])
    }
    // Stores the digest only, so that readers of the database cannot make tokens.
    await client.query(`INSERT INTO sandbox_setting VALUES ('seed digest', $1) ON CONFLICT DO NOTHING`, [
      digestOf(seed),
    ])
    const settings = await client.query(`SELECT value FROM sandbox_setting WHERE name = 'seed digest'`)
    if (settings.rows[0].value !== digestOf(seed)) {
      throw new DatabaseError('the database was begun with another SANDBOX_SEED: give that one.')
    }
    await client.query('COMMIT')
    client.release()
  } catch (error) {
    client.release(true)
    throw error
  }
}
