import { Socket } from 'node:net'
import { setTimeout as setTimer } from 'node:timers/promises'
import type { FastifyBaseLogger } from 'fastify'
import type { Client, Pool, PoolClient, PoolConfig, QueryConfig } from 'pg'
import { digestOf, sha256 } from '../core/digests.js'
import type { RequestLog } from '../features/request-log/request-log.js'
import { elapsed } from '../http/timers.js'
import type { Database, Reader, Row, Table, TenantRow, Transaction } from './database.js'
import { BATCH, BATCH_BYTES, DatabaseAwayError, DatabaseError, LockedError, oneLine } from './database.js'
import { carryOver, readMigrations } from './migrations.js'
import type { Query } from './postgres-request-log.js'
import { createPostgresRequestLog } from './postgres-request-log.js'
import { sharedRuns } from './shared-runs.js'

export interface PostgresOptions {
  /** The seed, which must be that of the other servers. */
  readonly seed: string
  readonly logger: Pick<FastifyBaseLogger, 'error' | 'info'>
}

/** A number of our own, for the lock of the migrations. */
const MIGRATION_LOCK = 7_206_115_983
const CHANNEL = 'sandbox_tenant'
/** The message of pg-pool if all connections are busy for too long: the database is slow, but not away. */
const NO_CONNECTION_FREE = 'timeout exceeded when trying to connect'
/** The message of pg if a statement gets no answer. */
const NO_ANSWER = 'Query read timeout'
/** The connections of transactions, beside one of the request log, and one that listens and reads versions. */
const CONNECTIONS = 3
/** The most further ones, for work that would wait for other work for longer than this time. */
const SPARE_CONNECTIONS = 13
const SPARE_MS = 50
/** The time after which a further one is tried again, if the database had no more. */
const CROWDED_MS = 1000
/** The longest wait for a connection. */
const CONNECT_MS = 3000
/** The longest time of a statement, and of its wait for a lock. They concern the tenant of the statement only. */
const STATEMENT_MS = 3000
const LOCK_MS = 1500
const LOCK_NOT_AVAILABLE = '55P03'
/** A server that answers nothing for this time is away. */
const SILENCE_MS = 4000
/** The time between two attempts to reach the database. */
const PROBE_MS = 250
/** The time between two attempts while all connections are taken. */
const BUSY_MS = 100
/** The longest wait for the end of all connections when the database closes. */
const CLOSE_MS = 1000
/** The longest text that NOTIFY carries, in bytes. */
const LONGEST_PAYLOAD = 7999

/**
 * Opens a Postgres database, which several servers share.
 * https://node-postgres.com
 * @throws DatabaseError
 */
export async function openPostgres(url: string, { seed, logger }: PostgresOptions): Promise<Database> {
  const { default: pg } = await import('pg')
  const sockets = new Set<Socket>()
  const settings = {
    connectionString: url,
    application_name: 'payments-sandbox',
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: SILENCE_MS,
    statement_timeout: STATEMENT_MS,
    lock_timeout: LOCK_MS,
    idle_in_transaction_session_timeout: SILENCE_MS * 10,
    keepAlive: true,
    stream() {
      const socket = new Socket()
      sockets.add(socket)
      return socket.once('close', () => sockets.delete(socket))
    },
    // The statements count on it. A database can have another default.
    options: '-c default_transaction_isolation=read\\ committed',
  }
  const poolOf = (max: number, others: PoolConfig = {}) =>
    // A single connection is kept: while others take the rest of the database, it would not come back.
    new pg.Pool({ ...settings, ...others, max, min: max === 1 ? 1 : 0 })
  let pools: readonly [Pool, Pool, Pool, Pool]
  try {
    pools = [
      poolOf(CONNECTIONS),
      poolOf(SPARE_CONNECTIONS),
      // A read of a client in memory waits for no turn.
      poolOf(1, { onConnect: async client => void (await client.query(BEGIN_LISTENING)) }),
      // A locked request log holds up neither.
      poolOf(1),
    ]
  } catch (error) {
    throw new DatabaseError(describe(error))
  }
  const [usualPool, sparePool, listenPool, logPool] = pools
  const endPools = () => Promise.all(pools.map(pool => pool.end()))
  for (const each of pools) {
    each.on('error', () => verify())
    // A connection that is cut between two statements of a turn. Without a listener, it would end the process.
    each.on('connect', client => void client.on('error', () => {}))
  }
  /** Is called when another server may have changed a tenant. */
  let onChanged: Parameters<Database['listen']>[0] = () => {}
  let isAway = false
  let isClosed = false
  let probe: NodeJS.Timeout | undefined

  // ---------------------------------------------------------------------------------------------------- availability

  /** Makes a connection of its own. Rejects if the database accepts none. */
  async function reach() {
    const client = new pg.Client(settings)
    client.on('error', () => {})
    try {
      await client.connect()
    } catch (error) {
      if (!isFull(error as Error)) throw error
    } finally {
      void client.end().catch(() => {})
    }
  }

  /** Finds out whether the database is away, after a connection was cut. */
  function verify() {
    if (!isAway && !isClosed) reach().catch(lose)
  }

  function lose({ message, code }: Error & { readonly code?: string }) {
    if (isAway || isClosed) return
    isAway = true
    // An error of several addresses has no message.
    logger.error({ reason: oneLine(message || String(code)) }, 'the database is away')
    probe = setTimeout(find, PROBE_MS)
  }

  async function find() {
    try {
      await reach()
      isAway = false
      logger.info('the database is back')
      onChanged()
      void requestLog?.flush()
    } catch {
      if (!isClosed) probe = setTimeout(find, PROBE_MS)
    }
  }

  /** Whether an error means that a connection is lost, and not that a statement fails. */
  const isLoss = (error: Error) =>
    error.message !== NO_CONNECTION_FREE && (!(error instanceof pg.DatabaseError) || /^(08|57P)/.test(error.code ?? ''))

  /** Whether there are no connections left, for a moment. */
  const isFull = (error: Error) => error instanceof pg.DatabaseError && error.code === '53300'

  /** Returns the error of a statement or of a connection, and notices that the database is away. */
  function failure(error: Error): Error {
    if (error.message === NO_ANSWER) lose(error)
    else if (isLoss(error)) verify()
    else if (error.message !== NO_CONNECTION_FREE && !isFull(error)) return error
    return new DatabaseAwayError(error.message, { cause: error })
  }

  async function guarded<T>(work: () => Promise<T>): Promise<T> {
    if (isAway) throw new DatabaseAwayError('the database is away')
    try {
      return await work()
    } catch (error) {
      throw failure(error as Error)
    }
  }

  /** Returns a connection of a pool. Waits while other users of the database have taken all. */
  async function connect(of: Pool): Promise<PoolClient> {
    for (let waited = 0; ; waited += BUSY_MS) {
      try {
        return await of.connect()
      } catch (error) {
        if (isLoss(error as Error)) lose(error as Error)
        if (!isFull(error as Error) || waited >= CONNECT_MS) throw error
        await setTimer(BUSY_MS)
      }
    }
  }

  /** When the database may have further connections again. */
  let crowdedUntil = 0

  /** Rejects if there is none, or the database is crowded: it has not even all connections of the pool. */
  async function connectSpare(of: Pool): Promise<PoolClient> {
    const isCrowded = of.totalCount < of.options.max || elapsed() < crowdedUntil
    if (isCrowded && sparePool.idleCount === 0) throw new Error('the database has no more connections')
    try {
      const client = await sparePool.connect()
      // One that took the place of the log would keep it.
      if (logPool.totalCount > 0) return client
      client.release(true)
      throw new Error('the request log has no connection')
    } catch (error) {
      if (isFull(error as Error)) crowdedUntil = elapsed() + CROWDED_MS
      throw error
    }
  }

  /** Returns a connection of a pool: a spare one while long and blocked statements hold its own ones. */
  async function connectSoon(of: Pool): Promise<PoolClient> {
    const usual = connect(of)
    const patience = setTimer(sparePool.idleCount > 0 ? 0 : SPARE_MS, false, { ref: false })
    if (await Promise.race([usual.then(() => true), patience])) return usual
    const both = [usual, connectSpare(of)]
    const first = await Promise.any(both).catch(() => usual)
    for (const each of both) {
      each.then(
        client => client !== first && client.release(),
        () => {},
      )
    }
    return first
  }

  async function run(connecting: Promise<PoolClient>, statement: QueryConfig) {
    const client = await connecting
    try {
      const result = await client.query(statement)
      client.release()
      return result
    } catch (error) {
      client.release(isLoss(error as Error))
      throw error
    }
  }

  const query: Query = statement => guarded(() => run(connect(listenPool), statement))

  // ---------------------------------------------------------------------------------------------------- notifications

  const changed = new Set<string>()
  let requestLog: RequestLog | undefined

  /** Announces changes to the other servers, outside of their transactions: NOTIFY holds a lock until its commit. */
  function announce(clientId: string) {
    if (Buffer.byteLength(clientId) > LONGEST_PAYLOAD) return
    changed.add(clientId)
    void announceAll()
  }

  const announceAll = sharedRuns(async () => {
    const clientIds = [...changed]
    if (clientIds.length === 0) return
    changed.clear()
    // Calls that wait look again by themselves, too.
    const notification = { name: 'notify', text: NOTIFY, values: [CHANNEL, clientIds] }
    await query(notification).catch(() => {})
  })

  listenPool.on('connect', client => {
    client.on('notification', ({ payload }) => onChanged(payload))
    // Without a connection, it has heard nothing.
    onChanged()
  })
  listenPool.on('remove', () => setTimeout(() => void listen(), PROBE_MS).unref())

  /** Connects until there is a connection that listens. */
  async function listen(): Promise<void> {
    if (isClosed) return
    try {
      ;(await listenPool.connect()).release()
    } catch {
      setTimeout(() => void listen(), PROBE_MS).unref()
    }
  }

  /** Writes what waits, and ends all connections. */
  async function finish() {
    await requestLog?.flush()
    isClosed = true
    await announceAll()
    await endPools()
  }

  // --------------------------------------------------------------------------------------------------------- tenants

  /** The versions that the next statement reads. */
  let nextVersions: ReturnType<typeof readVersions> | undefined
  let lastVersions: Promise<unknown> = Promise.resolve()

  /** Reads the versions of some clients by one statement, after that of others: those that are asked for meanwhile, too. */
  function readVersions() {
    const clientIds: string[] = []
    const versions = lastVersions.then(async () => {
      nextVersions = undefined
      const { rows } = await query({ name: 'versions', text: VERSIONS, values: [clientIds] })
      return new Map(rows.map(({ client_id, version }) => [client_id as string, Number(version)]))
    })
    lastVersions = versions.catch(() => {})
    return { clientIds, versions }
  }

  type Run = (name: string, text: string, values: unknown[]) => Promise<Record<string, unknown>[]>

  const readerOf = (run: Run): Reader => ({
    async tenant(clientId) {
      const [row] = isStorable(clientId) ? await run('tenant', TENANT, [clientId]) : []
      return row && toTenant(row)
    },
    rows: async (table, clientId, { version, number }) =>
      (await run(`${table} rows`, ROWS[table], [clientId, version, number])).map(toRow),
  })

  /** Begins a transaction on a connection of its own. */
  async function transact(text: string): Promise<{ run: Run; end(text: string): Promise<void> }> {
    const client = await guarded(() => connectSoon(usualPool))
    let isOpen = true
    const release = (error?: Error) => {
      if (!isOpen) return
      isOpen = false
      client.release(error)
    }
    const run: Run = async (name, text, values) => {
      try {
        return (await client.query({ ...(name !== '' && { name }), text, values })).rows
      } catch (error) {
        if (isLoss(error as Error)) release(error as Error)
        throw failure(error as Error)
      }
    }
    /** Begins or ends the transaction. After a failure, it is unsure whether one is open: the connection is closed. */
    const bound = async (text: string) => {
      try {
        await run('', text, [])
      } catch (error) {
        release(error as Error)
        throw error
      }
    }
    await bound(text)
    return {
      run,
      async end(text) {
        if (!isOpen) return
        await bound(text)
        release()
      },
    }
  }

  /** Does some work in a transaction of its own, or nothing. */
  async function atomically<T>(work: (run: Run) => Promise<T>): Promise<T> {
    const { run, end } = await transact('BEGIN')
    try {
      const result = await work(run)
      await end('COMMIT')
      return result
    } catch (error) {
      await end('ROLLBACK').catch(() => {})
      throw error
    }
  }

  async function begin(clientIds: readonly string[]): Promise<Transaction> {
    const { run, end } = await transact(`BEGIN; ${IN_ORDER}`)
    const rollback = () => end('ROLLBACK').catch(() => {})
    const locked = new Map<string, TenantRow | undefined>()
    try {
      for (const clientId of clientIds.filter(isStorable)) {
        let [row] = await run('lock', LOCK, [clientId])
        // A row that another server begins at the same time makes this one wait.
        if (row === undefined) {
          await run('begin', BEGIN, [clientId])
          ;[row] = await run('lock', LOCK, [clientId])
        }
        locked.set(clientId, toTenant(row as Record<string, unknown>))
      }
    } catch (error) {
      await rollback()
      throw (error as { readonly code?: unknown }).code === LOCK_NOT_AVAILABLE
        ? new LockedError(describe(error))
        : error
    }
    return {
      ...readerOf(run),
      tenant: async clientId => locked.get(clientId),
      async clear(clientId) {
        for (const [name, { text, first }] of Object.entries(CLEAR)) {
          for (let after: unknown = first; after !== null; ) {
            const [row] = await run(name, text, [clientId, after])
            after = row?.last ?? null
          }
        }
      },
      async write(clientId, { version, life, instant, isRemoved, content, checksum }, { record, event }) {
        const columns = (rows: readonly Row[]) => COLUMNS.map(column => rows.map(row => row[column]))
        const tenant = [clientId, version, life, instant, isRemoved ? 1 : 0, content, checksum]
        await run('write', WRITE, [...tenant, ...columns(record), ...columns(event)])
      },
      commit: () => end('COMMIT'),
      rollback,
    }
  }

  try {
    // A migration takes as long as it takes, and other servers wait for it.
    await migrate(new pg.Client({ ...settings, query_timeout: 0, statement_timeout: 0, lock_timeout: 0 }), seed)
  } catch (error) {
    await endPools()
    throw error instanceof DatabaseError ? error : new DatabaseError(describe(error))
  }

  // Both are there before spare connections are.
  void listen()
  void connect(logPool).then(
    client => client.release(),
    () => {},
  )
  return {
    seed,
    isShared: true,
    async clients() {
      const rows = await atomically(run => run('clients', CLIENTS, []))
      return rows.map(row => row.client_id as string)
    },
    async version(clientId) {
      if (!isStorable(clientId)) return 0
      nextVersions ??= readVersions()
      nextVersions.clientIds.push(clientId)
      return (await nextVersions.versions).get(clientId) ?? 0
    },
    async read(work) {
      const { run, end } = await transact(`BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; ${IN_ORDER}`)
      try {
        return await work(readerOf(run))
      } finally {
        await end('ROLLBACK').catch(() => {})
      }
    },
    begin,
    announce(clientIds) {
      for (const clientId of clientIds) announce(clientId)
    },
    inUse: () => pools.reduce((sum, of) => sum + of.totalCount - of.idleCount + of.waitingCount, 0),
    check: () =>
      atomically(async run => {
        await run('', LITTLE_MEMORY, [])
        await run('check room', CHECK_ROOM, [])
        await run('check write', CHECK_WRITE, [])
      }),
    createRequestLog(bounds) {
      requestLog = createPostgresRequestLog(statement => guarded(() => run(connectSoon(logPool), statement)), bounds)
      return requestLog
    },
    listen(callback) {
      onChanged = callback
    },
    async close() {
      if (isClosed) return
      // A database that answers nothing would not end its connections either.
      await Promise.race([finish(), setTimer(CLOSE_MS, undefined, { ref: false })])
      isClosed = true
      clearTimeout(probe)
      for (const socket of sockets) socket.destroy()
    },
  }
}

/**
 * Whether Postgres can index an id, in bytes. No client has one that it cannot (`config.ts`), but a request can name it.
 * https://www.postgresql.org/docs/current/btree.html
 */
const isStorable = (clientId: string) => Buffer.byteLength(clientId) <= 2000 && !clientId.includes('\0')

type Columns = Readonly<Record<string, unknown>>

/** Returns undefined for a tenant that has not begun. The row of a damaged one has a version or a content. */
function toTenant({ version, life, instant, removed, content, checksum }: Columns): TenantRow | undefined {
  if (Number(version) === 0 && content === '') return undefined
  return {
    version: Number(version),
    life: Number(life),
    instant: Number(instant),
    isRemoved: removed !== 0,
    content: content as string,
    checksum: checksum as string,
  }
}

const toRow = ({ number, version, ...texts }: Columns): Row => ({
  ...(texts as Omit<Row, 'number' | 'version'>),
  number: Number(number),
  version: Number(version),
})

const CLIENTS = `
  SELECT client_id FROM sandbox_tenant WHERE removed = 0 AND (version <> 0 OR content <> '') ORDER BY client_id`

const BEGIN_LISTENING = `LISTEN ${CHANNEL}`

const NOTIFY = 'SELECT pg_notify($1, payload) FROM unnest($2::text[]) AS payload'

const VERSIONS = 'SELECT client_id, version FROM sandbox_tenant WHERE client_id = ANY($1::text[])'

const TENANT = 'SELECT version, life, instant, removed, content, checksum FROM sandbox_tenant WHERE client_id = $1'

const LOCK = `${TENANT} FOR UPDATE`

/** The row of a tenant that has not begun: its transaction locks it, and may leave it so. */
const BEGIN = "INSERT INTO sandbox_tenant VALUES ($1, 0, 0, 0, 0, '', '') ON CONFLICT DO NOTHING"

const selectFrom = (table: Table) => `
  SELECT number, version, kind, region, reference, content, checksum
  FROM (
    SELECT *, sum(octet_length(content)) OVER (ORDER BY version, number) - octet_length(content) AS bytes_before
    FROM sandbox_${table}
    WHERE client_id = $1 AND (version, number) > ($2::bigint, $3::bigint) ORDER BY version, number LIMIT ${BATCH}
  ) AS batch
  WHERE bytes_before < ${BATCH_BYTES} ORDER BY version, number`
const ROWS = { record: selectFrom('record'), event: selectFrom('event') }
/** Each batch is read by the index. Before it has statistics, Postgres would sort all rows that are left for each one. */
const IN_ORDER = 'SET LOCAL enable_sort = off'

/** The most rows that a statement deletes: one that takes too long fails. The highest number that has so many after it. */
const CLEAR_BATCH = 50_000
const LAST_BATCH = String(2n ** 63n - BigInt(CLEAR_BATCH))

/** Deletes the next rows from a number on, and returns the number up to which they are gone; no row: there were none. */
const clearBatch = (table: Table) => ({
  text: `
    WITH batch AS (
      SELECT least(number, ${LAST_BATCH}) + ${CLEAR_BATCH - 1} AS last
      FROM sandbox_${table} WHERE client_id = $1 AND number >= $2::bigint ORDER BY number LIMIT 1
    ), gone AS (
      DELETE FROM sandbox_${table} USING batch WHERE client_id = $1 AND number >= $2::bigint AND number <= last
    )
    SELECT last FROM batch`,
  first: String(-(2n ** 63n)),
})
const CLEAR = { 'clear records': clearBatch('record'), 'clear events': clearBatch('event') }
/** The columns of a written row beside client and version. */
const COLUMNS = ['number', 'kind', 'region', 'reference', 'content', 'checksum'] as const

/** Inserts or replaces rows, whose columns are the parameters from a number on. */
const insertInto = (table: Table, first: number) => `
  INSERT INTO sandbox_${table}
  SELECT $1::text, number, $2::bigint, kind, region, reference, content, checksum
  FROM unnest(${COLUMNS.map((column, at) => `$${first + at}::${column === 'number' ? 'bigint' : 'text'}[]`).join(', ')})
    AS added (${COLUMNS.join(', ')})
  ON CONFLICT (client_id, number) DO UPDATE
  SET version = excluded.version, content = excluded.content, checksum = excluded.checksum`

const WRITE = `
  WITH records AS (${insertInto('record', 8)}), events AS (${insertInto('event', 14)})
  UPDATE sandbox_tenant
  SET version = $2::bigint, life = $3::bigint, instant = $4::bigint, removed = $5::integer, content = $6::text,
    checksum = $7::text
  WHERE client_id = $1::text`

/** With this memory, `CHECK_ROOM` needs 1 MiB on the disk, which it gives back: a turn can need more than one page. */
const LITTLE_MEMORY = "SET LOCAL work_mem = '64kB'"
const CHECK_ROOM = "SELECT count(*) FROM unnest(array_fill(repeat('.', 8000), ARRAY[132]))"
/** Changes nothing, but is written as all changes are. */
const CHECK_WRITE = "UPDATE sandbox_setting SET value = value WHERE name = 'seed digest'"

function describe(error: unknown): string {
  const { message, code, severity } = error as Error & { readonly code?: string; readonly severity?: string }
  // Errors of the database itself have a severity.
  const what = severity === undefined ? 'reached' : 'used'
  // An error of several addresses has no message.
  return `the database cannot be ${what}: ${oneLine(message || String(code))}`
}

/** Brings the tables up to date, one server after the other, and compares the seed. Throws DatabaseError. */
async function migrate(client: Client, seed: string): Promise<void> {
  client.on('error', () => {})
  try {
    await client.connect()
    await client.query('BEGIN')
    await client.query('SELECT pg_advisory_xact_lock($1)', [MIGRATION_LOCK])
    const former = await client.query(`SELECT to_regclass('sandbox_tenant_log') AS name`)
    if (former.rows[0].name !== null) throw new DatabaseError(carryOver('the database'))
    await client.query('CREATE TABLE IF NOT EXISTS sandbox_migration (version integer PRIMARY KEY)')
    const { rows } = await client.query('SELECT coalesce(max(version), 0) AS version FROM sandbox_migration')
    const { version } = rows[0] as { version: number }
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
    await client.query(`INSERT INTO sandbox_setting VALUES ('seed digest', $1, $2) ON CONFLICT DO NOTHING`, [
      digest,
      sha256(digest),
    ])
    const settings = await client.query(`SELECT value FROM sandbox_setting WHERE name = 'seed digest'`)
    if (settings.rows[0].value !== digest) {
      throw new DatabaseError('the database was begun with another SANDBOX_SEED: give that one.')
    }
    await client.query('COMMIT')
  } finally {
    void client.end().catch(() => {})
  }
}
