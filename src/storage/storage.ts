import type { Eventually } from '../http/request-context.js'
import type { RequestLog, RequestLogBounds } from '../sandbox/request-log/state.js'
import type { TenantRegistry } from '../tenants/registry.js'
import type { Tenant } from '../tenants/tenant.js'

/** The work of a request on its tenant. */
export interface Work<T> {
  /** Whether it changes nothing. The tenant is up to date. */
  isRead(realNow: number): boolean
  /** Whether `refresh` has brought the tenant up to date for this request. */
  readonly isFresh?: boolean
  /** Whether the work that is due stays undone: the tenant is replaced or removed. */
  readonly skipsDueWork?: boolean
  /** Does the work. Its result is answered after a database has all that it changed. */
  run(realNow: number): T
}

/**
 * The only way to read or change a tenant. In a transaction, the tenant is up to date, the work that is due
 * is done first, and nothing else reads or changes it. Only transactions move its clock.
 *
 * In memory and on SQLite, a transaction is synchronous. On Postgres, it locks the row of the tenant.
 */
export interface Storage {
  /**
   * Does some work on a tenant, and stores what it has changed, also if the work throws: due work stays.
   * Throws, or rejects with, the errors of the work and SERVICE_UNAVAILABLE.
   * @param other another client that the work may create
   */
  transact<T>(clientId: string, work: Work<T>, other?: string): Eventually<T>
  /** Brings a tenant up to date if there is one, then calls back. The callback must only read. */
  refresh(clientId: string | undefined, done: (error?: Error) => void): void
  /** Lists the ids of all clients. */
  clients(): Eventually<string[]>
  /**
   * Describes each tenant, whose due work stays undone. Those that cannot be loaded are left out.
   * @param clientIds by default all clients
   */
  all<T>(describe: (tenant: Tenant, realNow: number) => T, clientIds?: readonly string[]): Promise<T[]>
  /** Identifies the life of a tenant that is up to date: a reset, a restored state and a removal begin another. */
  lifeOf(clientId: string): unknown
  /** Throws, or rejects with, SERVICE_UNAVAILABLE where requests cannot be served. */
  check(): Eventually<void>
}

export interface StorageOptions {
  readonly registry: TenantRegistry
  /** The most tenants of a database in memory. More are only there while all of them are in use. */
  readonly maxTenants: number
  readonly logger: { error(facts: object, message: string): void; info(message: string): void }
  /** Returns the real time in milliseconds. */
  now(): number
  /** Whether a tenant must stay in memory. */
  isInUse(clientId: string): boolean
  /** A tenant may have changed: calls that wait for it look again. Without an id, any tenant may have. */
  changed(clientId?: string): void
}

/** A database that is open. */
export interface Database {
  /** The seed of all identifiers, from the first use of the database. */
  readonly seed: string
  /** Whether other servers may change tenants. */
  readonly isShared: boolean
  createStorage(options: StorageOptions): Storage
  /**
   * Creates a request log that all servers share. If absent, each server has its own.
   * @param resetsOf returns the number of resets of a client
   */
  createRequestLog?(bounds: RequestLogBounds, resetsOf: (clientId: string) => number): RequestLog
  close(): Promise<void>
}

/** The database cannot be used. The message is one line that names it and the reason. */
export class DatabaseError extends Error {}

/** The result of some work, or the refusal of its request. */
export type Outcome<T> = { readonly value: T } | { readonly error: unknown }

/** Does the due work of some tenants in memory, then the work of a request. */
export function perform<T>(
  registry: TenantRegistry,
  clientIds: readonly string[],
  { skipsDueWork = false, run }: Work<T>,
  realNow: number,
): Outcome<T> {
  if (!skipsDueWork) for (const clientId of clientIds) registry.peek(clientId)?.clock.sync(realNow)
  try {
    return { value: run(realNow) }
  } catch (error) {
    return { error }
  }
}

/** Returns the result of some work, or throws its error. */
export function resultOf<T>(outcome: Outcome<T>): T {
  if ('error' in outcome) throw outcome.error
  return outcome.value
}

/** A transaction for due work only. */
export const DUE_WORK: Work<void> = { isRead: () => true, run() {} }

/** Returns a text on one line. */
export const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ')

/** Returns the code and the reason of an error of a database. */
export function factsOf(error: unknown): { code?: string; severity?: string; reason: string } {
  const { code, message, severity } = error as Error & { code?: string; severity?: string }
  // An error of several addresses has no message.
  const reason = oneLine(message || String(code))
  return { reason, ...(code !== undefined && { code }), ...(severity !== undefined && { severity }) }
}
