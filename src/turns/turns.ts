import type { Eventually } from '../http/request-context.js'
import type { TenantRegistry } from '../tenants/registry.js'
import type { Tenant } from '../tenants/tenant.js'

/** The work of a request on its tenant. */
export interface Work<T> {
  /** Whether it changes nothing. The tenant is up to date. */
  isRead(realNow: number): boolean
  /** Whether `refresh` has brought the tenant up to date for this request. */
  readonly isFresh?: boolean
  /** Does the work at once. What it returns is answered after a database has all that it changed. */
  run(realNow: number): T
}

/**
 * The one way in which anything reads or changes a tenant. In a turn, the tenant is up to date, the work that is due is
 * done first, and nothing else reads or changes it. Only turns move its clock.
 *
 * In memory, a turn is taken at once. With a database, its changes are stored before it ends (`stored-turns.ts`).
 */
export interface Turns {
  /**
   * Brings a tenant up to date if there is one, then calls back within the turn. The callback must only read.
   * The error is SERVICE_UNAVAILABLE.
   */
  refresh(clientId: string | undefined, done: (error?: Error) => void): void
  /**
   * Takes a turn of a tenant. Throws, or rejects with, the errors of the work and SERVICE_UNAVAILABLE.
   * @param other another client that the work may create
   */
  take<T>(clientId: string, work: Work<T>, other?: string): Eventually<T>
  /** Describes each tenant in a turn. */
  all<T>(describe: (tenant: Tenant) => T): Eventually<T[]>
  /**
   * Does some work once the changes of the turn in progress are stored, and before its answer. If they cannot be stored,
   * it is not done. Without a turn, it is done at once.
   */
  afterwards(work: () => Eventually<void>): void
  /** Throws, or rejects with, SERVICE_UNAVAILABLE where requests cannot be served. */
  check(): Eventually<void>
}

export interface MemoryTurnsOptions {
  readonly registry: TenantRegistry
  /** Returns the real time in milliseconds. */
  now(): number
  /** A turn of a tenant has ended: calls that wait for it look again. */
  changed(clientId: string): void
}

/** Creates the turns of tenants that live in memory only. */
export function createMemoryTurns({ registry, now, changed }: MemoryTurnsOptions): Turns {
  /** Does due work. Its changes are stored nowhere. */
  function sync(clientId: string, realNow: number) {
    const tenant = registry.peek(clientId)
    tenant?.clock.sync(realNow)
    tenant?.changes.take()
  }

  return {
    refresh(clientId, done) {
      if (clientId !== undefined) sync(clientId, now())
      done()
    },
    take(clientId, { run }) {
      const realNow = now()
      sync(clientId, realNow)
      try {
        return run(realNow)
      } finally {
        registry.peek(clientId)?.changes.take()
        changed(clientId)
      }
    },
    all(describe) {
      const realNow = now()
      return registry.tenants(realNow).map(tenant => {
        sync(tenant.clientId, realNow)
        return describe(tenant)
      })
    },
    afterwards: work => void work(),
    check() {},
  }
}
