import { errors } from '../../core/errors.js'
import type { Eventually } from '../../http/request-context.js'
import type { TenantListener } from '../../tenants/registry.js'
import type { Counts } from '../../tenants/tenant.js'

/** The facts of a named snapshot. */
export interface SnapshotSummary {
  readonly name: string
  /** The time of the tenant when it was saved, YYYY-MM-DDThh:mm:ssZ. */
  readonly now: string
  readonly counts: Counts
  /** The size of the state document in bytes. */
  readonly bytes: number
}

/** A state of a client that is saved under a name. */
export interface NamedSnapshot {
  readonly summary: SnapshotSummary
  /** The state document, as JSON. */
  readonly content: string
}

/** The named snapshots of all clients. Each method rejects with SERVICE_UNAVAILABLE where a database is away. */
export interface NamedSnapshots {
  /** Lists the snapshots of a client by name. */
  list(clientId: string): Eventually<SnapshotSummary[]>
  /** Returns the state document of a snapshot, as JSON. Undefined: there is no such snapshot. */
  find(clientId: string, name: string): Eventually<string | undefined>
  /**
   * Saves a snapshot of the present life of a client, and replaces one of the same name.
   * @throws INVALID_FIELD (no room for another), SERVICE_UNAVAILABLE (its life has ended meanwhile)
   */
  save(clientId: string, snapshot: NamedSnapshot): Eventually<void>
  /** Returns whether there was such a snapshot. */
  remove(clientId: string, name: string): Eventually<boolean>
  /** Returns the bytes that are counted less those of all that is kept, for tests: 0. */
  miscount(): number
  /** Removes the snapshots of a client that is gone. */
  forget(clientId: string): void
}

/** The most snapshots of a client. */
export const MOST_SNAPSHOTS = 20

/** The most bytes of all snapshots in memory. A database has no such bound. */
const MOST_BYTES = 128 * 1024 * 1024

export const tooManySnapshots = () =>
  errors.invalid(
    'name',
    `The client has ${MOST_SNAPSHOTS} snapshots: remove one with DELETE /_sandbox/snapshots/{name}.`,
  )

export const compareNames = (a: Pick<SnapshotSummary, 'name'>, b: Pick<SnapshotSummary, 'name'>): number =>
  a.name < b.name ? -1 : 1

/** Creates snapshots that live in memory only. */
export function createNamedSnapshots(): NamedSnapshots {
  const clients = new Map<string, Map<string, NamedSnapshot>>()
  let bytes = 0

  const of = (clientId: string) => clients.get(clientId) ?? new Map<string, NamedSnapshot>()

  function remove(clientId: string, name: string): boolean {
    const snapshots = of(clientId)
    bytes -= snapshots.get(name)?.summary.bytes ?? 0
    const isRemoved = snapshots.delete(name)
    if (snapshots.size === 0) clients.delete(clientId)
    return isRemoved
  }

  return {
    list: clientId => [...of(clientId).values()].map(({ summary }) => summary).sort(compareNames),
    find: (clientId, name) => of(clientId).get(name)?.content,
    save(clientId, snapshot) {
      const { name } = snapshot.summary
      const snapshots = of(clientId)
      const former = snapshots.get(name)
      if (former === undefined && snapshots.size === MOST_SNAPSHOTS) throw tooManySnapshots()
      const next = bytes - (former?.summary.bytes ?? 0) + snapshot.summary.bytes
      if (next > MOST_BYTES) {
        throw errors.invalid('name', `All snapshots in memory are at most ${MOST_BYTES} bytes: remove some of them.`)
      }
      bytes = next
      clients.set(clientId, snapshots.set(name, snapshot))
    },
    remove,
    miscount: () =>
      [...clients.values()]
        .flatMap(snapshots => [...snapshots.values()])
        .reduce((rest, { content }) => rest - Buffer.byteLength(content), bytes),
    forget(clientId) {
      for (const name of [...of(clientId).keys()]) remove(clientId, name)
    },
  }
}

/** Forgets the snapshots of clients that are removed. A reset keeps them. */
export const forgetSnapshots = (snapshots: NamedSnapshots): TenantListener => ({
  onCreated() {},
  onRemoved(clientId, reason) {
    if (reason === 'removed') snapshots.forget(clientId)
  },
})
