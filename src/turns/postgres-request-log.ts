import type { QueryConfig } from 'pg'
import { errors } from '../core/errors.js'
import type { Slices } from '../core/slices.js'
import type { Exchange, LoggedExchange, RequestLog, RequestLogBounds } from '../features/request-log/request-log.js'
import { select, toLogged, whole } from '../features/request-log/request-log.js'
import { inSlices } from '../http/slices.js'

/** Runs a statement. Rejects at once while the database is away. */
export type Query = (statement: QueryConfig) => Promise<{ rows: Record<string, unknown>[]; rowCount: number | null }>

/** A pending write for one client, in order: an exchange, or a new start of its log. */
type Change = { readonly clientId: string; readonly exchange: Exchange | null }

const bytesOf = ({ exchange }: Change) => exchange?.bytes ?? 0

/** The least number of requests that is read at once to find some. */
const LEAST_BATCH = 100

/** The size of all logs is compared with its bound whenever this part of it was written. */
const PART_PER_CHECK = 16

/**
 * The request log of several servers. Exchanges are written after their answers, all that came meanwhile in one
 * batch: a crash loses those of some milliseconds.
 */
export function createPostgresRequestLog(query: Query, bounds: RequestLogBounds): RequestLog {
  let waiting: Change[] = []
  let waitingBytes = 0
  let writing: Promise<void> | undefined
  let unchecked = 0

  function change(change: Change): void {
    waiting.push(change)
    waitingBytes += bytesOf(change)
    dropOldest()
    void flush().catch(() => {})
  }

  /** While the database is away, the oldest changes go first. */
  function dropOldest(): void {
    while (waiting.length > 1 && (waiting.length > bounds.entries + 1 || waitingBytes > bounds.bytes)) {
      waitingBytes -= bytesOf(waiting.shift() as Change)
    }
  }

  /** Throws SERVICE_UNAVAILABLE. */
  async function read(name: string, text: string, clientId: string, ...others: (number | null)[]) {
    try {
      await flush()
      return (await query({ name, text, values: [clientId, ...others] })).rows
    } catch {
      throw errors.databaseUnavailable()
    }
  }

  /** Waits until all is written that came before: the batch in progress, and the one that takes all that waits now. */
  async function flush(): Promise<void> {
    for (let batches = 0; batches < 2 && (waiting.length > 0 || writing !== undefined); batches++) {
      writing ??= writeBatch().finally(() => {
        writing = undefined
      })
      await writing
    }
  }

  async function writeBatch(): Promise<void> {
    let batch = waiting
    waiting = []
    waitingBytes = 0
    try {
      // In the order of clients, so that two servers never wait for each other.
      for (const clientId of [...new Set(batch.map(({ clientId }) => clientId))].sort()) {
        await writeClient(
          clientId,
          batch.filter(entry => entry.clientId === clientId),
        )
        batch = batch.filter(entry => entry.clientId !== clientId)
      }
      if (unchecked * PART_PER_CHECK > bounds.bytes) {
        unchecked = 0
        await query({ text: TRIM, values: [bounds.bytes] })
      }
    } catch (error) {
      waiting = [...batch, ...waiting]
      waitingBytes = waiting.reduce((sum, change) => sum + bytesOf(change), 0)
      dropOldest()
      throw error
    }
  }

  async function writeClient(clientId: string, changes: readonly Change[]): Promise<void> {
    const start = changes.findLastIndex(({ exchange }) => exchange === null)
    if (start >= 0) await query({ name: 'remove requests', text: REMOVE, values: [clientId] })
    const exchanges = changes.slice(start + 1).map(({ exchange }) => exchange as Exchange)
    if (exchanges.length === 0) return
    // An entry that exceeds the bound must not push out all others.
    const isKept = ({ bytes }: Exchange) => bytes <= bounds.bytes && bounds.entries > 0
    const contents = await inSlices(toContents(exchanges, isKept))
    const values = [clientId, contents, exchanges.map(({ bytes }) => bytes), bounds.entries]
    await query({ name: 'add requests', text: ADD, values })
    unchecked += exchanges.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  return {
    isShared: true,
    add: (clientId, exchange) => change({ clientId, exchange }),
    async list(clientId, filter = {}) {
      const { after = 0, before = Number.MAX_SAFE_INTEGER, limit = Infinity, ...conditions } = filter
      const isFiltered = Object.values(conditions).some(condition => condition !== undefined)
      // With a limit, only as many are read as it takes to find them.
      const most = limit === Infinity ? null : isFiltered ? Math.max(limit, LEAST_BATCH) : limit
      let data: LoggedExchange[] = []
      for (let end = before; ; ) {
        const rows = await read('list requests', LIST, clientId, after, end, most)
        const [first] = rows
        if (first === undefined) return { data, last: 0, dropped: 0 }
        const entries = (await inSlices(toEntries(rows))).reverse()
        data = [
          ...(await inSlices(select(entries, entry => entry, { ...filter, limit: limit - data.length }))),
          ...data,
        ]
        if (most === null || entries.length < most || data.length === limit) {
          const [last, cleared, kept] = [first.last, first.cleared, first.kept].map(Number) as [number, number, number]
          return { data, last, dropped: last - cleared - kept }
        }
        end = (entries[0] as LoggedExchange).seq
      }
    },
    async bytes(clientId) {
      const [row] = await read('size of requests', BYTES, clientId)
      return Number(row?.bytes)
    },
    async clear(clientId) {
      const [row] = await read('clear requests', CLEAR, clientId)
      return Number(row?.removed ?? 0)
    },
    remove: clientId => change({ clientId, exchange: null }),
    // A failed write stays in the queue.
    flush: () => flush().catch(() => {}),
    miscount: () => waitingBytes - waiting.reduce((sum, change) => sum + bytesOf(change), 0),
  }
}

/** Returns the exchanges of rows. A client without requests has a row without one. */
function* toEntries(rows: readonly Record<string, unknown>[]): Slices<LoggedExchange[]> {
  const entries: LoggedExchange[] = []
  for (const { seq, content } of rows) {
    if (seq !== null) entries.push({ seq: Number(seq), ...JSON.parse(content as string) })
    yield
  }
  return entries
}

/** Returns the JSON texts of exchanges, masked; null for others. The number of each is that of its row. */
function* toContents(
  exchanges: readonly Exchange[],
  isKept: (exchange: Exchange) => boolean,
): Slices<(string | null)[]> {
  const contents: (string | null)[] = []
  for (const exchange of exchanges) {
    const content = isKept(exchange) && { ...(yield* whole(toLogged({ seq: 0, exchange }))), seq: undefined }
    contents.push(content ? JSON.stringify(content) : null)
    yield
  }
  return contents
}

const ADD = `
  WITH counted AS (
    INSERT INTO sandbox_request_count (client_id, last) VALUES ($1::text, cardinality($2::text[]))
    ON CONFLICT (client_id) DO UPDATE SET last = sandbox_request_count.last + cardinality($2::text[])
    RETURNING last
  ), removed AS (
    DELETE FROM sandbox_request USING counted
    WHERE sandbox_request.client_id = $1::text AND sandbox_request.seq <= counted.last - $4::bigint
  )
  INSERT INTO sandbox_request (client_id, seq, bytes, content)
  SELECT $1::text, counted.last - cardinality($2::text[]) + added.number, added.bytes, added.content
  FROM counted, unnest($2::text[], $3::integer[]) WITH ORDINALITY AS added (content, bytes, number)
  WHERE added.content IS NOT NULL AND added.number > cardinality($2::text[]) - $4::bigint`

/** The requests between two numbers, the latest first, with the counts of the whole log in each row. */
const LIST = `
  SELECT last, cleared, (SELECT count(*) FROM sandbox_request WHERE client_id = $1) AS kept, seq, content
  FROM sandbox_request_count AS counts
  LEFT JOIN sandbox_request AS request ON request.client_id = counts.client_id AND seq > $2::bigint AND seq < $3::bigint
  WHERE counts.client_id = $1 ORDER BY seq DESC LIMIT $4::bigint`

const BYTES = 'SELECT coalesce(sum(bytes), 0) AS bytes FROM sandbox_request WHERE client_id = $1'

const CLEAR = `
  WITH removed AS (DELETE FROM sandbox_request WHERE client_id = $1 RETURNING 1),
  counted AS (
    UPDATE sandbox_request_count SET cleared = cleared + (SELECT count(*) FROM removed) WHERE client_id = $1
  )
  SELECT count(*) AS removed FROM removed`

const REMOVE = `
  WITH removed AS (DELETE FROM sandbox_request WHERE client_id = $1)
  DELETE FROM sandbox_request_count WHERE client_id = $1`

/** Deletes the oldest above a number of bytes. */
const TRIM = `
  DELETE FROM sandbox_request WHERE id IN (
    SELECT id FROM (SELECT id, sum(bytes) OVER (ORDER BY id DESC) AS total FROM sandbox_request) AS sized
    WHERE total > $1::bigint
  )`
