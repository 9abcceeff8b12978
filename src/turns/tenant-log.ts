import type { RequestLog, RequestLogBounds } from '../features/request-log/request-log.js'

/** The operation of the last row of a tenant that was removed. */
export const END = 'end'

/** One row of a tenant's log: a request, a snapshot, or the passing of time. */
export interface LogRow {
  /** From 1, without gaps. */
  readonly sequence: number
  /** The real time in milliseconds, never before that of the row before it. */
  readonly instant: number
  /** `POST /api/v1/direct-debit`, `snapshot`, … */
  readonly operation: string
  /** JSON. */
  readonly content: string
  /** The content of an uploaded document. */
  readonly document: Uint8Array | null
}

/**
 * The logs of all tenants in a database. A tenant is the fold of its log: the newest snapshot, and the rows after it.
 * Every method rejects with an Error of the database, after which a row may be there or not.
 */
export interface TenantLog {
  /** The seed of all identifiers: that of the first use of the database. */
  readonly seed: string
  /** Lists the client ids of all tenants but those whose last row is `end`. */
  tenants(): Promise<string[]>
  /**
   * Returns the rows after a number, in order. If a later snapshot has replaced some, it is the first of them.
   * No rows: the caller has them all, or there is no such tenant.
   */
  after(clientId: string, sequence: number): Promise<LogRow[]>
  /** Appends the next row of a tenant. Returns false if the log has another row of this number or a later one. */
  append(clientId: string, row: LogRow): Promise<boolean>
  /** Appends a snapshot, and deletes all rows before it in the same transaction. Number 1 begins a tenant. */
  appendSnapshot(clientId: string, row: LogRow): Promise<boolean>
  /** Notes that payout links are those of a tenant. They may be noted already. */
  addLinks(clientId: string, payoutLinkIds: readonly string[]): Promise<void>
  /** Returns the client ids of the tenants that have or had a payout link. */
  clientsOfLink(payoutLinkId: string): Promise<string[]>
  /** Rejects if the database cannot be reached. */
  check(): Promise<void>
  /** Creates a request log that all servers share; undefined: each server has its own. */
  createRequestLog?(bounds: RequestLogBounds): RequestLog
  /** Calls back when a server may have changed a tenant. */
  listen?(onChanged: (clientId: string) => void): void
  close(): Promise<void>
}

/** The database cannot be used. The message is one line that names it and the reason. */
export class DatabaseError extends Error {}

/** The database is away. It was logged when it went, and will be when it is back. */
export class DatabaseAwayError extends Error {}
