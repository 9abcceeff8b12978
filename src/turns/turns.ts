import { setImmediate } from 'node:timers/promises'
import type { Slices } from '../core/slices.js'
import { toSlices } from '../core/slices.js'
import type { Place } from '../http/places.js'
import type { Eventually } from '../http/request-context.js'
import { doSlice, inSlices, isSliceOver } from '../http/slices.js'
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
  /** The place of its request: others have it while the work waits for its turn. */
  readonly place?: Place | undefined
  /**
   * Does the work at once, or returns it in slices if it changes something. Its result is answered after a database has
   * all that it changed.
   */
  run(realNow: number): T | Slices<T>
}

/**
 * The one way in which anything reads or changes a tenant. In a turn, the tenant is up to date, the work that is due is
 * done first, and nothing else reads or changes it. Only turns move its clock.
 *
 * In memory, a turn is taken at once, unless it is long: then it is taken in slices, and the next turns of its tenant
 * wait. With a database, its changes are stored before it ends (`stored-turns.ts`).
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
   * Describes each tenant, whose due work stays undone: that of one client must not hold up the others. For the same reason, a
   * tenant in a turn is described as it is in its midst. Those that cannot be read, or are removed meanwhile, are left out.
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
  /** Returns real milliseconds since some moment, to measure a slice. */
  elapsed(): number
  /** A turn has changed a tenant, or could have: calls that wait for it look again. */
  changed(clientId: string): void
}

/** Creates the turns of tenants that live in memory only. */
export function createMemoryTurns({ registry, now, elapsed, changed }: MemoryTurnsOptions): Turns {
  /** The ends of the turns in slices, by client. */
  const ends = new Map<string, Promise<unknown>>()

  /** Does due work. Its changes are stored nowhere. Returns whether there are any. */
  function* sync(clientId: string, realNow: number): Slices<boolean> {
    const tenant = registry.peek(clientId)
    if (tenant === undefined) return false
    yield* tenant.clock.syncing(realNow)
    const hasChanged = tenant.changes.length() > 0
    tenant.changes.clear()
    return hasChanged
  }

  function* turnOf<T>(clientId: string, { isRead, run, skipsDueWork = false }: Work<T>): Slices<T> {
    const realNow = now()
    const hasChanged = !skipsDueWork && (yield* sync(clientId, realNow))
    // A read wakes nothing: a page that renews itself would never end.
    const wakes = hasChanged || !isRead(realNow)
    try {
      return yield* toSlices(run(realNow))
    } finally {
      registry.peek(clientId)?.changes.clear()
      if (wakes) changed(clientId)
    }
  }

  function* refreshOf(clientId: string): Slices {
    if (yield* sync(clientId, now())) changed(clientId)
  }

  /** Begins a turn. One that is not done within a slice holds up the next turns of its clients. */
  function begin<T>(clientIds: readonly string[], turn: Slices<T>): Eventually<T> {
    const first = doSlice(turn, elapsed)
    if (first.done) return first.value
    const result = inSlices(turn, elapsed).finally(() => {
      for (const clientId of clientIds) ends.delete(clientId)
    })
    const end = result.catch(() => {})
    for (const clientId of clientIds) ends.set(clientId, end)
    return result
  }

  function take<T>(clientId: string, work: Work<T>, other = clientId): Eventually<T> {
    const end = ends.get(clientId) ?? ends.get(other)
    if (end !== undefined) {
      work.place?.pause()
      // With room, it stays before the turns that came later.
      const goOn = () => take(clientId, work, other)
      return end.then(() => work.place?.goOn()?.then(goOn) ?? goOn())
    }
    return begin([clientId, other], turnOf(clientId, work))
  }

  function refresh(clientId: string | undefined, done: (error?: Error) => void): void {
    const end = clientId === undefined ? undefined : ends.get(clientId)
    if (end !== undefined) {
      void end.then(() => refresh(clientId, done))
      return
    }
    const result = clientId === undefined ? undefined : begin([clientId], refreshOf(clientId))
    if (result instanceof Promise) void result.then(() => done(), done)
    else done()
  }

  return {
    refresh,
    take,
    clients: () => registry.clients(),
    async all(describe, clientIds = registry.tenants(now()).map(({ clientId }) => clientId)) {
      const described: ReturnType<typeof describe>[] = []
      let began = elapsed()
      for (const clientId of clientIds) {
        if (isSliceOver(began, elapsed)) {
          await setImmediate()
          began = elapsed()
        }
        const run = (realNow: number) => {
          // Another request may have removed it meanwhile.
          if (registry.has(clientId)) described.push(describe(registry.tenant(clientId, realNow), realNow))
        }
        if (ends.has(clientId)) run(now())
        else await take(clientId, { isRead: () => true, skipsDueWork: true, run })
      }
      return described
    },
    afterwards: work => void work(),
    lifeOf: registry.peek,
    check() {},
    inUse: () => ends.size,
  }
}
