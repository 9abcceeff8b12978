import { errors } from '../core/errors.js'
import type { Exchange, LoggedExchange } from '../sandbox/request-log/exchange.js'
import { toLogged } from '../sandbox/request-log/exchange.js'
import type { RequestLog, RequestLogBounds } from '../sandbox/request-log/state.js'
import { select } from '../sandbox/request-log/state.js'

/** Runs a statement. */
export type Query = (text: string, values: readonly unknown[]) => Promise<{ rows: Record<string, unknown>[] }>

/** An exchange that is not written yet, with the number of resets of its client. */
interface Waiting {
  readonly clientId: string
  readonly resets: number
  readonly exchange: Exchange
}

/** The size of all logs is compared with its bound whenever this part of it was written. */
const PART_PER_CHECK = 16
/** The most batches that are written at a time, in addition to the queries of readers: requests use the same connections. */
const MOST_WRITES = 2

/**
 * Creates the request log of several servers. The exchanges of a client are written after their answers, those that come
 * meanwhile in one batch. A server writes its own before it reads. While they cannot be written, the oldest go first.
 */
export function createPostgresRequestLog(
  query: Query,
  bounds: RequestLogBounds,
  resetsOf: (clientId: string) => number,
): RequestLog & { flush(): Promise<unknown> } {
  let waiting: Waiting[] = []
  let waitingBytes = 0
  /** The batches that are being written, by client. */
  const writing = new Map<string, Promise<void>>()
  let unchecked = 0

  /** Writes a batch of a client, if none is being written. Rejects if it cannot be written: then it waits. */
  function write(clientId: string): Promise<void> {
    const written = writing.get(clientId) ?? writeBatch(clientId).finally(() => writing.delete(clientId))
    writing.set(clientId, written)
    return written
  }

  async function writeBatch(clientId: string) {
    const own = waiting.filter(one => one.clientId === clientId)
    const resets = own[0]?.resets
    const batch = new Set(own.filter(one => one.resets === resets))
    const exchanges = [...batch].map(({ exchange }) => exchange)
    // An entry that exceeds the bound must not push out all others.
    const contents = exchanges.map(exchange =>
      exchange.bytes <= bounds.bytes ? JSON.stringify({ ...toLogged({ seq: 0, exchange }), seq: undefined }) : null,
    )
    const sizes = exchanges.map(exchange => exchange.bytes)
    await query(ADD, [clientId, resets, contents, sizes, bounds.entries])
    waiting = waiting.filter(one => !batch.has(one))
    waitingBytes = sumOf(waiting)
    unchecked += sumOf([...batch])
    if (unchecked * PART_PER_CHECK > bounds.bytes) {
      unchecked = 0
      await query(TRIM, [bounds.bytes])
    }
  }

  /** Writes the waiting exchanges. After a failure, the next exchange or reader tries again. */
  function writeOn() {
    for (const { clientId } of waiting) {
      if (writing.size >= MOST_WRITES) return
      if (!writing.has(clientId)) write(clientId).then(writeOn, () => {})
    }
  }

  /** Writes all of a client that waits now. Rejects if it cannot be written. */
  async function writeWaiting(clientId: string) {
    const last = waiting.findLast(one => one.clientId === clientId)
    while (last !== undefined && waiting.includes(last)) await write(clientId)
  }

  /** Runs a statement after all of a client is written. @throws SERVICE_UNAVAILABLE */
  async function run(clientId: string, text: string, values: readonly unknown[]) {
    try {
      await writeWaiting(clientId)
      return (await query(text, [clientId, ...values])).rows
    } catch {
      throw errors.databaseUnavailable()
    }
  }

  return {
    isShared: true,
    add(clientId, exchange, resets) {
      waiting.push({ clientId, resets, exchange })
      waitingBytes += exchange.bytes
      while (waitingBytes > bounds.bytes) waitingBytes -= waiting.shift()?.exchange.bytes ?? 0
      writeOn()
    },
    async list(clientId, filter = {}) {
      const resets = resetsOf(clientId)
      const { after = 0, before = Number.MAX_SAFE_INTEGER } = filter
      const rows = await run(clientId, LIST, [resets, after, before])
      const [counts] = rows
      if (counts === undefined) return { life: resets, data: [], last: 0, dropped: 0 }
      const last = Number(counts.last)
      const entries = rows.flatMap(({ seq, content }): LoggedExchange[] =>
        seq === null ? [] : [{ seq: Number(seq), ...JSON.parse(String(content)) }],
      )
      return {
        life: resets,
        data: select(entries, entry => entry, filter),
        last,
        dropped: last - Number(counts.cleared) - Number(counts.kept),
      }
    },
    clear: async clientId => Number((await run(clientId, CLEAR, [resetsOf(clientId)]))[0]?.removed ?? 0),
    // The number of resets tells its entries from later ones.
    remove() {},
    flush: () => Promise.all([...new Set(waiting.map(one => one.clientId))].map(writeWaiting)),
  }
}

const sumOf = (entries: readonly Waiting[]): number => entries.reduce((sum, { exchange }) => sum + exchange.bytes, 0)

/** Adds the entries of a client, unless it was reset since. The first after a reset begin at 1, and drop the earlier ones. */
const ADD = `
  WITH counted AS (
    INSERT INTO sandbox_request_count AS counts (client_id, resets, last)
    VALUES ($1, $2::bigint, cardinality($3::text[]))
    ON CONFLICT (client_id) DO UPDATE SET
      resets = excluded.resets,
      last = excluded.last + CASE WHEN counts.resets = excluded.resets THEN counts.last ELSE 0 END,
      cleared = CASE WHEN counts.resets = excluded.resets THEN counts.cleared ELSE 0 END
    WHERE counts.resets <= excluded.resets
    RETURNING last
  ), removed AS (
    DELETE FROM sandbox_request USING counted
    WHERE sandbox_request.client_id = $1 AND (resets < $2::bigint OR seq <= counted.last - $5::bigint)
  )
  INSERT INTO sandbox_request (client_id, resets, seq, bytes, content)
  SELECT $1, $2::bigint, counted.last - cardinality($3::text[]) + added.number, added.bytes, added.content
  FROM counted, unnest($3::text[], $4::integer[]) WITH ORDINALITY AS added (content, bytes, number)
  WHERE added.content IS NOT NULL AND added.number > cardinality($3::text[]) - $5::bigint`

/** The requests between two numbers in order, with the counts of the whole log in each row. */
const LIST = `
  SELECT last, cleared,
    (SELECT count(*) FROM sandbox_request WHERE client_id = $1 AND resets = $2::bigint) AS kept, seq, content
  FROM sandbox_request_count AS counts
  LEFT JOIN sandbox_request AS request
    ON request.client_id = counts.client_id AND request.resets = counts.resets AND seq > $3::bigint AND seq < $4::bigint
  WHERE counts.client_id = $1 AND counts.resets = $2::bigint ORDER BY seq`

const CLEAR = `
  WITH removed AS (DELETE FROM sandbox_request WHERE client_id = $1 AND resets = $2::bigint RETURNING 1),
  counted AS (
    UPDATE sandbox_request_count SET cleared = cleared + (SELECT count(*) FROM removed)
    WHERE client_id = $1 AND resets = $2::bigint
  )
  SELECT count(*) AS removed FROM removed`

/** Deletes the oldest above a number of bytes. */
const TRIM = `
  DELETE FROM sandbox_request WHERE id IN (
    SELECT id FROM (SELECT id, sum(bytes) OVER (ORDER BY id DESC) AS total FROM sandbox_request) AS sized
    WHERE total > $1::bigint
  )`
