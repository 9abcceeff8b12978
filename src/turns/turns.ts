import type { Eventually } from '../http/request-context.js'
import type { TenantRegistry } from '../tenants/registry.js'
import type { Tenant } from '../tenants/tenant.js'

/** The work of a request on its tenant. */
export interface Work<T> {
  /** Whether it changes nothing. The tenant is up to date. */
  isRead(realNow: number): boolean
  /** Whether `refresh` has brought the tenant up to date for this request. */
  readonly isFresh?: boolean
  /** Whether the work that is due stays undone: the tenant is replaced, removed or only listed. */
  readonly skipsDueWork?: boolean
  /** Does the work. Its result is answered after a database has all that it changed. */
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
  /** Lists the ids of all clients. */
  clients(): Eventually<string[]>
  /**
   * Describes each tenant, whose due work stays undone: that of one client must not hold up the others. Those that cannot be read, or are removed meanwhile, are left out.
   * @param clientIds by default all clients
   */
  all<T>(describe: (tenant: Tenant, realNow: number) => T, clientIds?: readonly string[]): Promise<T[]>
  /**
   * Does some work once the changes of the turn in progress are stored, and before its answer. If they cannot be stored,
   * it is not done. Without a turn, it is done at once.
   */
  afterwards(work: () => Eventually<void>): void
  /**
   * Identifies the life of a tenant that is up to date: a reset, a restored state and a removal begin another. Undefined:
   * it begins with the turn in progress, or there is no such tenant.
   */
  lifeOf(clientId: string): unknown
  /** Throws, or rejects with, SERVICE_UNAVAILABLE where requests cannot be served. */
  check(): Eventually<void>
  /** The number of turns that run or wait, for tests. */
  inUse(): number
}

export interface MemoryTurnsOptions {
  readonly registry: TenantRegistry
  /** Returns the real time in milliseconds. */
  now(): number
  /** A turn has changed a tenant, or could have: calls that wait for it look again. */
  changed(clientId: string): void
}

/** Creates the turns of tenants that live in memory only. */
export function createMemoryTurns({ registry, now, changed }: MemoryTurnsOptions): Turns {
  /** Does due work. Its changes are stored nowhere. Returns whether there are any. */
  function sync(clientId: string, realNow: number): boolean {
    const tenant = registry.peek(clientId)
    if (tenant === undefined) return false
    tenant.clock.sync(realNow)
    const hasChanged = tenant.changes.length() > 0
    tenant.changes.clear()
    return hasChanged
  }

  return {
    refresh(clientId, done) {
      if (clientId !== undefined && sync(clientId, now())) changed(clientId)
      done()
    },
    take(clientId, { isRead, run, skipsDueWork = false }) {
      const realNow = now()
      const hasChanged = !skipsDueWork && sync(clientId, realNow)
      // A read wakes nothing: a page that renews itself would never end.
      const wakes = hasChanged || !isRead(realNow)
      try {
        return run(realNow)
      } finally {
        registry.peek(clientId)?.changes.clear()
        if (wakes) changed(clientId)
      }
    },
    clients: () => registry.clients(),
    async all(describe, clientIds = registry.clients()) {
      const realNow = now()
      const tenants = clientIds.filter(registry.has).map(clientId => registry.tenant(clientId, realNow))
      return tenants.map(tenant => describe(tenant, realNow))
    },
    afterwards: work => void work(),
    lifeOf: registry.peek,
    check() {},
    inUse: () => 0,
  }
}
