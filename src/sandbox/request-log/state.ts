import type { Static } from '@sinclair/typebox'
import { createGlob } from '../../core/glob.js'
import { firstIndex } from '../../core/records/list.js'
import type { Eventually } from '../../http/request-context.js'
import type { Exchange, LoggedExchange } from './exchange.js'
import { toLogged } from './exchange.js'
import type { RequestQuery } from './schemas.js'

/** The conditions of a list. */
export type RequestFilter = Omit<Static<typeof RequestQuery>, 'client' | 'format' | 'wait'>

export interface RequestLogBounds {
  /** The most requests of one tenant. */
  readonly entries: number
  /** The most bytes of all tenants together. */
  readonly bytes: number
}

export interface RequestPage {
  /** Another value after each reset. Absent before the first request. */
  readonly life?: unknown
  readonly data: LoggedExchange[]
  readonly last: number
  readonly dropped: number
}

/** The request logs of all tenants, bounded by number for each and by bytes for all. The oldest go first. */
export interface RequestLog {
  /** Whether other servers add to it. */
  readonly isShared: boolean
  /** @param resets the number of resets of the client at the time of the request */
  add(clientId: string, exchange: Exchange, resets: number): void
  /** Lists a tenant's requests in order. `dropped` counts those that made room since its log began. */
  list(clientId: string, filter?: RequestFilter): Eventually<RequestPage>
  /** Empties a tenant's log; its numbers go on. Returns the number of requests removed. */
  clear(clientId: string): Eventually<number>
  /** Starts a tenant's log again from 1. */
  remove(clientId: string): void
}

interface Entry {
  readonly seq: number
  readonly exchange: Exchange
  /** The number of the entry among the entries of all tenants. */
  readonly order: number
}

interface TenantLog {
  /** In order. */
  entries: Entry[]
  last: number
  dropped: number
}

/** Creates the request logs of one server, in memory. */
export function createRequestLog(bounds: RequestLogBounds): RequestLog {
  const logs = new Map<string, TenantLog>()
  let bytes = 0
  let order = 0

  function logOf(clientId: string): TenantLog {
    const log = logs.get(clientId) ?? { entries: [], last: 0, dropped: 0 }
    logs.set(clientId, log)
    return log
  }

  function dropOldest(log: TenantLog | undefined) {
    const entry = log?.entries.shift()
    if (log === undefined || entry === undefined) return
    bytes -= entry.exchange.bytes
    log.dropped++
  }

  /** Returns the log with the oldest entry of all tenants. */
  function oldestLog(): TenantLog | undefined {
    let oldest: TenantLog | undefined
    const orderOf = ({ entries: [first] }: TenantLog) => first?.order ?? Infinity
    for (const log of logs.values()) if (oldest === undefined || orderOf(log) < orderOf(oldest)) oldest = log
    return oldest
  }

  function clear(clientId: string): number {
    const log = logOf(clientId)
    const { length } = log.entries
    for (const { exchange } of log.entries) bytes -= exchange.bytes
    log.entries = []
    return length
  }

  return {
    isShared: false,
    add(clientId, exchange) {
      const log = logOf(clientId)
      log.last++
      // An entry that exceeds the bound must not push out all others.
      if (exchange.bytes > bounds.bytes || bounds.entries === 0) {
        log.dropped++
        return
      }
      log.entries.push({ seq: log.last, exchange, order: order++ })
      bytes += exchange.bytes
      if (log.entries.length > bounds.entries) dropOldest(log)
      while (bytes > bounds.bytes) dropOldest(oldestLog())
    },
    list(clientId, filter) {
      const log = logs.get(clientId)
      if (log === undefined) return { data: [], last: 0, dropped: 0 }
      const { entries, last, dropped } = log
      const { after = 0, before = Infinity } = filter ?? {}
      const start = firstIndex(entries, ({ seq }) => seq > after)
      const end = firstIndex(entries, ({ seq }) => seq >= before)
      const data = select(entries.slice(start, end), toLogged, filter)
      return { life: log, data, last, dropped }
    },
    clear,
    remove(clientId) {
      clear(clientId)
      logs.delete(clientId)
    },
  }
}

/**
 * Returns the exchanges that match a filter, in the same order. With a limit, they are the latest.
 * @param show returns an entry as an exchange
 */
export function select<E>(
  entries: readonly E[],
  show: (entry: E) => LoggedExchange,
  filter: RequestFilter = {},
): LoggedExchange[] {
  const { after = 0, before = Infinity, method, path, status, errors = false, hints = false } = filter
  const { limit = Infinity, reference } = filter
  const isPath = path === undefined ? undefined : createGlob(path)
  const digits = String(status ?? '').replace(/xx/i, '')
  const found: LoggedExchange[] = []
  // The log can be long, and a reader wants few: the latest ones are shown first, and only as many as it takes.
  for (const entry of [...entries].reverse()) {
    if (found.length === limit) break
    const exchange = show(entry)
    if (exchange.seq <= after || exchange.seq >= before) continue
    if ((method ?? exchange.method) !== exchange.method || !String(exchange.status).startsWith(digits)) continue
    if ((errors && (exchange.status ?? 500) < 400) || (hints && exchange.hints.length === 0)) continue
    if (isPath && !isPath(exchange.path)) continue
    if (reference !== undefined && !exchange.records.some(record => record.reference === reference)) continue
    found.push(exchange)
  }
  return found.reverse()
}
