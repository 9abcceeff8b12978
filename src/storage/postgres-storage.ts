import type { PoolClient } from 'pg'
import { ApiError, errors } from '../core/errors.js'
import type { Row, TenantRow, Write } from './copies.js'
import { createCopies, UnreadableError } from './copies.js'
import type { Outcome, Storage, StorageOptions, Work } from './storage.js'
import { DUE_WORK, factsOf, perform, resultOf } from './storage.js'

/** The channel on which a server announces the tenants that it has changed. */
export const CHANNEL = 'sandbox_tenant'

type Pool = Pick<import('pg').Pool, 'connect' | 'query'>

/** Creates the storage of tenants on Postgres. */
export function createPostgresStorage(pool: Pool, options: StorageOptions): Storage {
  const { registry, logger, now, changed } = options
  const copies = createCopies(options)
  /** The last works that are queued, by client. */
  const tails = new Map<string, Promise<unknown>>()
  /** The errors of works that the database has failed. */
  const failures = new WeakSet<Error>()
  let isAway = false

  /**
   * Does some work of tenants after all that was queued for them. If the database fails that, it fails this work, too, which
   * would wait as long again.
   */
  function queued<T>(clientIds: readonly string[], work: () => Promise<T>): Promise<T> {
    const result = Promise.all(clientIds.map(clientId => tails.get(clientId))).then(work)
    const tail = result.then(
      () => {},
      error => {
        if (failures.has(error)) throw error
      },
    )
    for (const clientId of clientIds) tails.set(clientId, tail)
    const end = () => {
      for (const clientId of clientIds) if (tails.get(clientId) === tail) tails.delete(clientId)
      copies.makeRoom(clientId => tails.has(clientId))
    }
    tail.then(end, end)
    return result
  }

  /** Reports a failure of the database, once while it is away. Returns SERVICE_UNAVAILABLE. */
  function unavailable(error: unknown, clientId?: string): Error {
    if (error instanceof ApiError) return error
    const { code, reason } = factsOf(error)
    const isLoss = isLossOf(code)
    if (!isLoss) logger.error({ clientId, code, reason }, 'the database cannot be used')
    else if (!isAway) logger.error({ reason }, 'the database is away')
    isAway ||= isLoss
    const failure = errors.databaseUnavailable()
    failures.add(failure)
    return failure
  }

  /** Notes that the database has answered. */
  function isBack() {
    if (isAway) logger.info('the database is back')
    isAway = false
  }

  /** Does some work on a connection, in a transaction. It is rolled back if the work throws, or returns false. */
  async function transaction(begin: string, work: (client: PoolClient) => Promise<boolean>): Promise<void> {
    const client = await pool.connect()
    let hasFailed = false
    try {
      await client.query(begin)
      const isDone = await work(client)
      await client.query(isDone ? 'COMMIT' : 'ROLLBACK')
      isBack()
    } catch (error) {
      hasFailed = true
      throw error
    } finally {
      // A closed connection rolls its transaction back.
      client.release(hasFailed)
    }
  }

  /** Brings a tenant up to its row, which the transaction has read. */
  async function load(client: PoolClient, clientId: string, row: TenantRow | undefined, isReplacing = false) {
    const copy = copies.get(clientId)
    if (row === undefined) {
      // The rows of a tenant can be deleted from outside.
      if (copy !== undefined) copies.evict(clientId)
      return
    }
    if (row.version === copy?.version) return
    const { version, events } = copies.since(clientId, row)
    const found = row.isRemoved ? NO_ROWS : await client.query(named('records', RECORDS, [clientId, version]))
    const later = row.isRemoved ? NO_ROWS : await client.query(named('events', EVENTS, [clientId, events]))
    copies.load(clientId, row, found.rows.map(toRow), later.rows.map(toRow), isReplacing)
  }

  async function write(client: PoolClient, { clientId, row, isNewLife, records, events }: Write) {
    const { version, life, instant, isRemoved, content } = row
    if (isNewLife) {
      for (const table of ['record', 'event'])
        await client.query(`DELETE FROM sandbox_${table} WHERE client_id = $1`, [clientId])
    }
    const columns = (rows: readonly Row[]) => [rows.map(({ number }) => number), rows.map(row => row.content)]
    const tenant = [clientId, version, life, instant, isRemoved ? 1 : 0, content]
    await client.query(named('write', WRITE, [...tenant, ...columns(records), ...columns(events)]))
  }

  /** Does some work while the rows of its tenants are locked, and stores what it has changed. */
  async function change<T>(clientIds: readonly string[], work: Work<T>): Promise<Outcome<T>> {
    let outcome: Outcome<T> | undefined
    let writes: Write[] = []
    try {
      await transaction('BEGIN', async client => {
        const isReplacing = work.skipsDueWork === true && !work.isRead(now())
        const rows: (TenantRow | undefined)[] = []
        for (const clientId of clientIds) {
          const row = await lock(client, clientId)
          await load(client, clientId, row, isReplacing)
          rows.push(row)
        }
        const realNow = now()
        outcome = perform(registry, clientIds, work, realNow)
        // It may be refused before it is answered, which must not count as unhandled.
        if ('value' in outcome && outcome.value instanceof Promise) outcome.value.catch(() => {})
        writes = clientIds.flatMap((clientId, at) => copies.writeOf(clientId, rows[at], realNow) ?? [])
        for (const each of writes) await write(client, each)
        return writes.length > 0
      })
    } catch (error) {
      // The copies may have changes that are not stored.
      for (const clientId of clientIds) copies.evict(clientId)
      throw unavailable(error, clientIds[0])
    }
    for (const written of writes) copies.written(written)
    // A reset that was refused has left a client without its tenant.
    for (const clientId of clientIds) {
      if (copies.get(clientId) === undefined && registry.has(clientId)) copies.evict(clientId)
      changed(clientId)
    }
    return outcome as Outcome<T>
  }

  /** Loads what other servers have changed. */
  async function loadLater(clientId: string): Promise<void> {
    const before = copies.get(clientId)
    try {
      const { rows } = isStorable(clientId) ? await pool.query(named('version', VERSION, [clientId])) : NO_ROWS
      isBack()
      if (Number(rows[0]?.version ?? 0) !== (before?.version ?? 0)) {
        await transaction('BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY', async client => {
          const [row] = (await client.query(named('tenant', TENANT, [clientId]))).rows
          await load(client, clientId, row && toTenant(row))
          return false
        })
      }
    } catch (error) {
      throw unavailable(error, clientId)
    }
    if (copies.get(clientId) !== before) changed(clientId)
  }

  /** Loads what other servers have changed, and does due work. */
  async function catchUp(clientId: string): Promise<void> {
    await loadLater(clientId)
    const clock = copies.get(clientId)?.tenant.clock
    if (clock?.isDueAt(now())) await change([clientId], DUE_WORK)
    else clock?.sync(now())
  }

  /** Whether some work can be done on the copy in memory, which is up to date. */
  function isReadable(clientId: string, { isRead, skipsDueWork = false }: Work<unknown>): boolean {
    const realNow = now()
    const tenant = copies.get(clientId)?.tenant
    if (tenant === undefined || registry.peek(clientId) !== tenant) return false
    return (skipsDueWork || !tenant.clock.isDueAt(realNow)) && isRead(realNow)
  }

  const read = <T>(clientId: string, work: Work<T>) => perform(registry, [clientId], work, now())

  async function clients(): Promise<string[]> {
    try {
      const { rows } = await pool.query(CLIENTS)
      return [...new Set([...registry.configured(), ...rows.map(row => String(row.client_id))])]
    } catch (error) {
      throw unavailable(error)
    }
  }

  return {
    transact(clientId, work, other = clientId) {
      const clientIds = [...new Set([clientId, other])].sort()
      const isAlone = clientIds.length === 1
      if (isAlone && work.isFresh && !tails.has(clientId) && isReadable(clientId, work)) {
        return resultOf(read(clientId, work))
      }
      // The result may be a promise, such as the promise of a long poll, for which the queue must not wait.
      const outcome = queued(clientIds, async () => {
        if (isAlone && work.isRead(now())) {
          if (!work.isFresh) await catchUp(clientId)
          if (isReadable(clientId, work)) return read(clientId, work)
        }
        return change(clientIds, work)
      })
      return outcome.then(resultOf)
    },
    refresh(clientId, done) {
      if (clientId === undefined) done()
      else queued([clientId], () => catchUp(clientId)).then(() => done(), done)
    },
    clients,
    async all(describe, clientIds) {
      const described: ReturnType<typeof describe>[] = []
      for (const clientId of clientIds ?? (await clients())) {
        try {
          await queued([clientId], async () => {
            await loadLater(clientId)
            const realNow = now()
            // Another request may have removed it meanwhile.
            if (registry.has(clientId)) described.push(describe(registry.tenant(clientId, realNow), realNow))
            // A list starts no client: it shows the state in which the client would start.
            if (copies.get(clientId) === undefined) copies.evict(clientId)
          })
        } catch (error) {
          if (!(error instanceof UnreadableError)) throw error
        }
      }
      return described
    },
    lifeOf: clientId => copies.get(clientId)?.life,
    async check() {
      try {
        await pool.query(TOUCH)
        isBack()
      } catch (error) {
        throw unavailable(error)
      }
    },
  }
}

/** Whether a connection is lost, and not a statement refused (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const isLossOf = (code = ''): boolean => !/^[0-9A-Z]{5}$/.test(code) || /^(08|533|57P)/.test(code)

/**
 * Whether Postgres can index an id, in bytes. No client has one that it cannot (`config.ts`), but a request can name it.
 * https://www.postgresql.org/docs/current/btree.html
 */
const isStorable = (clientId: string) =>
  Buffer.byteLength(clientId) <= 2000 && !clientId.includes('\0') && clientId.isWellFormed()

type Columns = Readonly<Record<string, unknown>>

const NO_ROWS: { readonly rows: readonly Columns[] } = { rows: [] }

/** A statement that Postgres prepares once for a connection. */
const named = (name: string, text: string, values: unknown[]) => ({ name, text, values })

const toTenant = ({ version, life, instant, removed, content }: Columns): TenantRow | undefined =>
  // Its transaction has locked a row that has no state yet.
  content === ''
    ? undefined
    : {
        ...{ version: Number(version), life: Number(life), instant: Number(instant) },
        ...{ isRemoved: removed !== 0, content: String(content) },
      }

const toRow = ({ number, content }: Columns): Row => ({ number: Number(number), content: String(content) })

/** Locks the row of a tenant, and returns it. A missing row cannot be locked, so an empty row is inserted first. */
async function lock(client: PoolClient, clientId: string): Promise<TenantRow | undefined> {
  if (!isStorable(clientId)) return undefined
  const select = () => client.query(named('lock', `${TENANT} FOR UPDATE`, [clientId]))
  let [row] = (await select()).rows
  if (row === undefined) {
    await client.query(named('begin', BEGIN, [clientId]))
    ;[row] = (await select()).rows
  }
  return row && toTenant(row)
}

const CLIENTS = "SELECT client_id FROM sandbox_tenant WHERE removed = 0 AND content <> '' ORDER BY client_id"
const VERSION = 'SELECT version FROM sandbox_tenant WHERE client_id = $1'
const TENANT = 'SELECT version, life, instant, removed, content FROM sandbox_tenant WHERE client_id = $1'
const BEGIN = "INSERT INTO sandbox_tenant VALUES ($1, 0, 0, 0, 0, '') ON CONFLICT DO NOTHING"
const RECORDS = 'SELECT number, content FROM sandbox_record WHERE client_id = $1 AND version > $2 ORDER BY number'
const EVENTS = 'SELECT number, content FROM sandbox_event WHERE client_id = $1 AND number > $2 ORDER BY number'
/** Writes, and tells the other servers with the commit. */
const WRITE = `
  WITH records AS (
    INSERT INTO sandbox_record SELECT $1, number, $2::bigint, content
    FROM unnest($7::bigint[], $8::text[]) AS added (number, content)
    ON CONFLICT (client_id, number) DO UPDATE SET version = excluded.version, content = excluded.content
  ), events AS (
    INSERT INTO sandbox_event SELECT $1, number, content FROM unnest($9::bigint[], $10::text[]) AS added (number, content)
  )
  UPDATE sandbox_tenant SET version = $2::bigint, life = $3::bigint, instant = $4::bigint, removed = $5::integer, content = $6
  WHERE client_id = $1 RETURNING pg_notify('${CHANNEL}', $1)`
/** Changes nothing, but is written as all changes are. */
const TOUCH = "UPDATE sandbox_setting SET value = value WHERE name = 'seed digest'"
