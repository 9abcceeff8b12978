import { setTimeout as setTimer } from 'node:timers/promises'
import { Type } from '@sinclair/typebox'
import type { QueryConfig } from 'pg'
import { errors } from '../core/errors.js'
import type { Exchange, LoggedExchange, RequestLog, RequestLogBounds } from '../features/request-log/request-log.js'
import { select, toLogged } from '../features/request-log/request-log.js'
import { LoggedRequest } from '../features/request-log/schemas.js'
import { isValid } from '../http/validation.js'
import { countOf, MOST_COUNTED } from './database.js'
import { sharedRuns } from './shared-runs.js'

/** Runs a statement. Rejects at once while the database is away. */
export type Query = (statement: QueryConfig) => Promise<{ rows: Record<string, unknown>[]; rowCount: number | null }>

/** A pending write for one client, in order: an exchange, or a new start of its log. */
type Change = { readonly clientId: string; readonly exchange: Exchange | null }

const bytesOf = ({ exchange }: Change) => exchange?.bytes ?? 0

/** The least number of requests that is read at once to find some. */
const LEAST_BATCH = 100

/** The wait for the write of one client, after which those of others begin beside it. */
const PATIENCE_MS = 50

/** The size of all logs is compared with its bound whenever this part of it was written. */
const PART_PER_CHECK = 16

/**
 * The request log of several servers. Exchanges are written after their answers, all of a client that came meanwhile in
 * one batch: a crash loses those of some milliseconds. A batch that fails waits for the next write of any client, or for a
 * read of its own.
 */
export function createPostgresRequestLog(query: Query, bounds: RequestLogBounds): RequestLog {
  let waiting: Change[] = []
  let waitingBytes = 0
  /** The writes in progress, by client. */
  const writing = new Map<string, Promise<void>>()
  let unchecked = 0

  function change(change: Change): void {
    waiting.push(change)
    waitingBytes += bytesOf(change)
    dropOldest()
    void flush()
  }

  const isWaiting = (clientId: string) => waiting.some(change => change.clientId === clientId)

  /** While the database is away, the oldest changes go first. */
  function dropOldest(): void {
    while (waiting.length > 1 && waitingBytes > bounds.bytes) {
      waitingBytes -= bytesOf(waiting.shift() as Change)
    }
  }

  /** Throws SERVICE_UNAVAILABLE. */
  async function read(name: string, text: string, clientId: string, ...others: (number | null)[]) {
    try {
      await settle(clientId)
      return (await query({ name, text, values: [clientId, ...others] })).rows
    } catch {
      throw errors.databaseUnavailable()
    }
  }

  /** Waits until all is written that came before: the write in progress, and the one that takes all that waits now. */
  async function settle(clientId: string): Promise<void> {
    for (let writes = 0; writes < 2 && (writing.has(clientId) || isWaiting(clientId)); writes++) await write(clientId)
  }

  /** Writes the changes of each client, one after the other. One that takes long or fails holds up no other. */
  async function writeAll(): Promise<void> {
    const soon = (work: Promise<unknown>) =>
      Promise.race([work.catch(() => {}), setTimer(PATIENCE_MS, undefined, { ref: false })])
    for (const clientId of new Set(waiting.map(({ clientId }) => clientId))) {
      if (!writing.has(clientId)) await soon(write(clientId))
    }
    if (unchecked * PART_PER_CHECK > bounds.bytes) {
      unchecked = 0
      await soon(query({ text: TRIM, values: [bounds.bytes] }))
    }
  }

  /** Waits until all is written that came before, as far as it can be. */
  const flush = sharedRuns(writeAll)

  /** Writes the changes of a client, one batch at a time. */
  function write(clientId: string): Promise<void> {
    const known = writing.get(clientId)
    if (known !== undefined) return known
    const batch = waiting.filter(change => change.clientId === clientId)
    setWaiting(waiting.filter(change => change.clientId !== clientId))
    const written = writeClient(clientId, batch)
      .catch(error => {
        setWaiting([...batch, ...waiting])
        dropOldest()
        throw error
      })
      .finally(() => writing.delete(clientId))
    writing.set(clientId, written)
    // The round that came to it may be over.
    const goOn = () => (isWaiting(clientId) ? flush() : undefined)
    void written.then(goOn, () => {})
    return written
  }

  function setWaiting(changes: Change[]) {
    waiting = changes
    waitingBytes = waiting.reduce((sum, change) => sum + bytesOf(change), 0)
  }

  async function writeClient(clientId: string, changes: readonly Change[]): Promise<void> {
    const start = changes.findLastIndex(({ exchange }) => exchange === null)
    if (start >= 0) await query({ name: 'remove requests', text: REMOVE, values: [clientId] })
    const exchanges = changes.slice(start + 1).map(({ exchange }) => exchange as Exchange)
    if (exchanges.length === 0) return
    // An entry that exceeds the bound must not push out all others.
    const isKept = ({ bytes }: Exchange) => bytes <= bounds.bytes && bounds.entries > 0
    const contents = toContents(exchanges, isKept)
    const values = [clientId, contents, exchanges.map(({ bytes }) => bytes), bounds.entries]
    await query({ name: 'add requests', text: ADD, values })
    unchecked += exchanges.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  return {
    isShared: true,
    add: (clientId, exchange) => change({ clientId, exchange }),
    async list(clientId, filter = {}) {
      const { after = 0, before = Number.MAX_SAFE_INTEGER, limit = Infinity } = filter
      const { method, path, status, errors: isFailed, hints } = filter
      const isFiltered = [method, path, status, isFailed, hints].some(condition => condition !== undefined)
      // With a limit, only as many are read as it takes to find them.
      const most = limit === Infinity ? null : isFiltered ? Math.max(limit, LEAST_BATCH) : limit
      let data: LoggedExchange[] = []
      for (let end = before; ; ) {
        const rows = await read('list requests', LIST, clientId, after, end, most)
        const [first] = rows
        if (first === undefined) return { data, last: 0, dropped: 0 }
        const seqs = rows.flatMap(({ seq }) => (seq === null ? [] : Number(seq)))
        const entries = toEntries(rows).reverse()
        data = [...select(entries, entry => entry, { ...filter, limit: limit - data.length }), ...data]
        if (most === null || seqs.length < most || data.length === limit) {
          const [last, cleared, kept] = [first.last, first.cleared, first.kept].map(Number) as [number, number, number]
          return { life: first.life, data, last, dropped: last - cleared - kept }
        }
        end = seqs.at(-1) as number
      }
    },
    async clear(clientId) {
      try {
        await settle(clientId).catch(() => {})
        // What could not be written goes, too: it may never be.
        const unwritten = waiting.filter(change => change.clientId === clientId && change.exchange !== null)
        const { rows } = await query({ name: 'clear requests', text: CLEAR, values: [clientId] })
        setWaiting(waiting.filter(change => !unwritten.includes(change)))
        return Number(rows[0]?.removed)
      } catch {
        throw errors.databaseUnavailable()
      }
    },
    remove: clientId => change({ clientId, exchange: null }),
    flush,
    miscount: () => waitingBytes - waiting.reduce((sum, change) => sum + bytesOf(change), 0),
  }
}

const Texts = Type.Record(Type.String(), Type.String())

/** What readers of the log take for granted. Its rows have no checksum. */
const Entry = Type.Object({
  ...LoggedRequest.properties,
  query: Type.Record(Type.String(), Type.Unsafe({ type: ['string', 'array'], items: Type.String() })),
  headers: Texts,
  responseHeaders: Texts,
  faults: Type.Array(Type.Object({ id: Type.String(), kind: Type.String() })),
})

/** Returns the exchanges of rows. A client without requests has a row without one. A damaged one is left out. */
function toEntries(rows: readonly Record<string, unknown>[]): LoggedExchange[] {
  const entries: LoggedExchange[] = []
  for (const row of rows) {
    const seq = Number(row.seq)
    try {
      const entry = Object.assign({ seq }, JSON.parse(row.content as string), { seq })
      if (isValid(Entry, entry)) entries.push(entry)
    } catch {
      // It is no JSON.
    }
  }
  return entries
}

/** Returns the JSON texts of exchanges, masked; null for others. The number of each is that of its row. */
function toContents(exchanges: readonly Exchange[], isKept: (exchange: Exchange) => boolean): (string | null)[] {
  return exchanges.map(exchange =>
    isKept(exchange) ? JSON.stringify({ ...toLogged({ seq: 0, exchange }), seq: undefined }) : null,
  )
}

/** The numbers go on after those of the rows, also if the count is damaged or missing. */
const ADD = `
  WITH counted AS (
    INSERT INTO sandbox_request_count (client_id, last)
    SELECT $1::text, greatest(max(seq), 0) + cardinality($2::text[])
    FROM sandbox_request WHERE client_id = $1::text AND seq <= ${MOST_COUNTED}
    ON CONFLICT (client_id) DO UPDATE
    SET last = greatest(${countOf('sandbox_request_count.last')} + cardinality($2::text[]), excluded.last)
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
  SELECT last, cleared, life, (SELECT count(*) FROM sandbox_request WHERE client_id = $1) AS kept, seq, content
  FROM sandbox_request_count AS counts
  LEFT JOIN sandbox_request AS request ON request.client_id = counts.client_id AND seq > $2::bigint AND seq < $3::bigint
  WHERE counts.client_id = $1 ORDER BY seq DESC LIMIT $4::bigint`

const CLEAR = `
  WITH removed AS (DELETE FROM sandbox_request WHERE client_id = $1 RETURNING 1),
  counted AS (
    UPDATE sandbox_request_count SET cleared = ${countOf('cleared')} + (SELECT count(*) FROM removed) WHERE client_id = $1
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
