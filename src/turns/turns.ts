import type { RecordedRequest } from '../features/recording/file-format.js'
import type { Eventually } from '../http/request-context.js'
import type { Tenant } from '../tenants/tenant.js'

/** The work of a request on its tenant. */
export interface Step<T> {
  /** Whether it changes nothing, unless it has a record. */
  readonly isRead: boolean
  /**
   * Returns the record of the request; undefined: it changes nothing that a replay needs. Changes nothing itself.
   * Throws the refusals that do not depend on the request being recorded.
   */
  record(realNow: number): RecordedRequest | undefined
  /** Does the work at once. The real time and the record are those of `record`. */
  run(realNow: number, recorded: RecordedRequest | undefined): T
}

/**
 * The order in which requests reach their tenants. In memory, each one is done as it comes. With a database, it is
 * done on the latest state, and after its record is in the database (`stored-turns.ts`).
 */
export interface Turns {
  /** Brings a tenant up to date if there is one, then calls back. The error is SERVICE_UNAVAILABLE. */
  refresh(clientId: string | undefined, done: (error?: Error) => void): void
  /**
   * Does a step of a tenant that is up to date. Throws, or rejects with, the errors of the step and SERVICE_UNAVAILABLE.
   * @param other another client that the step may create
   */
  take<T>(clientId: string, step: Step<T>, other?: string): Eventually<T>
  /** Brings a tenant up to date, and does a step. */
  refreshAndTake<T>(clientId: string, step: Step<T>, other?: string): Eventually<T>
  /** Brings the tenants that can have a payout link up to date, then calls back. The error is SERVICE_UNAVAILABLE. */
  refreshLink(payoutLinkId: string, clientId: string | undefined, done: (error?: Error) => void): void
  /** Describes each tenant in turn. */
  all<T>(describe: (tenant: Tenant) => T): Eventually<T[]>
  /** Throws, or rejects with, SERVICE_UNAVAILABLE where requests cannot be served. */
  check(): Eventually<void>
}

/** @param now the real time in milliseconds */
export function createTurns(now: () => number, tenants: (realNow: number) => Tenant[]): Turns {
  function take<T>(_: string, { record, run }: Step<T>): T {
    const realNow = now()
    return run(realNow, record(realNow))
  }
  return {
    refresh: (_, done) => done(),
    refreshLink: (_, __, done) => done(),
    take,
    refreshAndTake: take,
    all: describe => tenants(now()).map(describe),
    check() {},
  }
}
