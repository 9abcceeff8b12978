import { ApiError } from '../core/errors.js'
import type { Event } from '../core/records/events.js'
import { inOrder } from '../core/records/events.js'
import type { TenantMeta, TenantRecord } from '../tenants/content.js'
import type { Identity } from '../tenants/registry.js'
import type { Tenant } from '../tenants/tenant.js'
import type { StorageOptions } from './storage.js'
import { factsOf } from './storage.js'

/** The row of a tenant. */
export interface TenantRow {
  /** Counts the changes of the tenant. */
  readonly version: number
  /** The version that began its present life. A reset, a restored state and a removal each begin another. */
  readonly life: number
  /** The real time of its last change in milliseconds. */
  readonly instant: number
  readonly isRemoved: boolean
  /** JSON of a `Content`. */
  readonly content: string
}

/** The content of the row of a tenant. A removed client has only an identity. */
interface Content {
  readonly identity: Identity
  readonly meta: TenantMeta
}

/** The row of a record or of an event. */
export interface Row {
  /** The `sequence` of a record, or the `seq` of an event. */
  readonly number: number
  /** JSON of a `TenantRecord` or an `Event`. */
  readonly content: string
}

/** The rows that a transaction writes. */
export interface Write {
  readonly clientId: string
  readonly row: TenantRow
  /** Whether all earlier records and events of the client go. */
  readonly isNewLife: boolean
  readonly records: readonly Row[]
  readonly events: readonly Row[]
  /** The copy after the commit, unless the client is removed. */
  readonly copy: Copy | undefined
}

/** A tenant in memory that is a copy of its rows. */
interface Copy {
  readonly tenant: Tenant
  readonly version: number
  readonly life: number
  readonly events: number
  /** The content of its row without the time of a running clock, which is no change. */
  readonly key: string
}

/** The state of a client cannot be loaded, which concerns no other client. */
export class UnreadableError extends ApiError {
  constructor(reason: string) {
    super(
      'SERVICE_UNAVAILABLE',
      null,
      `The state of this client cannot be loaded: ${reason} Reset or remove the client.`,
    )
  }
}

const toRow = (number: number, value: object): Row => ({ number, content: JSON.stringify(value) })
const fromRow = <T>({ content }: Pick<Row, 'content'>): T => JSON.parse(content)

/** Creates the copies of stored tenants in memory, which are loaded from rows and written to them. */
export function createCopies({
  registry,
  maxTenants,
  logger,
  isInUse,
}: Pick<StorageOptions, 'registry' | 'maxTenants' | 'logger' | 'isInUse'>) {
  /** The copy used longest ago comes first. */
  const copies = new Map<string, Copy>()

  function keyOf(tenant: Tenant): string {
    const { clock, ...meta } = tenant.meta()
    const { now, ...pace } = clock
    return JSON.stringify([registry.identityOf(tenant.clientId), meta, clock.mode === 'running' ? pace : clock])
  }

  function keep(clientId: string, copy: Copy) {
    copies.delete(clientId)
    copies.set(clientId, copy)
  }

  /** Drops a tenant from memory: the database has it. */
  function evict(clientId: string) {
    copies.delete(clientId)
    registry.release(clientId)
  }

  /** Returns the copy that the rows of a tenant continue, unless they begin another life. */
  function continued(clientId: string, row: TenantRow): Copy | undefined {
    const copy = copies.get(clientId)
    return copy !== undefined && copy.version >= row.life ? copy : undefined
  }

  /** Loads a row without the records and events of its tenant, which is about to be replaced or removed. */
  function loadToReplace(clientId: string, row: TenantRow) {
    try {
      const { identity, meta } = fromRow<Content>(row)
      registry.load(identity, meta, row.instant).install()
    } catch {
      // A row that cannot be parsed is as good as removed.
      registry.retire(clientId, row.version)
    }
  }

  return {
    /** Returns the copy of a tenant if it is in memory, and counts that as its use. */
    get(clientId: string): Pick<Copy, 'tenant' | 'version' | 'life'> | undefined {
      const copy = copies.get(clientId)
      if (copy !== undefined) keep(clientId, copy)
      return copy
    },
    /** Returns the version and the number of events up to which the copy of a tenant has the rows of its life. */
    since(clientId: string, row: TenantRow): { readonly version: number; readonly events: number } {
      return continued(clientId, row) ?? { version: 0, events: 0 }
    },
    /**
     * Brings the copy of a tenant up to its rows.
     * @param records those that are later than `since`, as are the events
     * @param isReplacing whether the tenant is about to be replaced or removed, so that it need not be loaded
     * @throws UnreadableError, which is in the log of the server
     */
    load(clientId: string, row: TenantRow, records: readonly Row[], events: readonly Row[], isReplacing = false): void {
      try {
        const { identity, meta } = fromRow<Content>(row)
        if (row.isRemoved) {
          copies.delete(clientId)
          registry.retire(clientId, identity.resets)
          return
        }
        const loading = continued(clientId, row) ?? registry.load(identity, meta, row.instant)
        const { tenant } = loading
        const content = {
          meta,
          records: records.map(fromRow<TenantRecord>),
          events: events.map(event => inOrder(fromRow<Event>(event))),
        }
        tenant.load(content, row.instant)
        if ('install' in loading) loading.install()
        const { version, life } = row
        keep(clientId, { tenant, version, life, events: tenant.events.last(), key: keyOf(tenant) })
      } catch (error) {
        evict(clientId)
        if (!isReplacing) {
          const failure = new UnreadableError(factsOf(error).reason)
          logger.error({ clientId, reason: failure.message }, 'the state of a client cannot be loaded')
          throw failure
        }
        loadToReplace(clientId, row)
      }
    },
    /**
     * Returns the rows for the changes of a tenant, if there are changes.
     * @param row the row of the tenant before, if it had one
     */
    writeOf(clientId: string, row: TenantRow | undefined, realNow: number): Write | undefined {
      const tenant = registry.peek(clientId)
      // A client without a row can have had a row before. No other server mistakes this client for it.
      const version = (row?.version ?? realNow) + 1
      const instant = Math.max(realNow, row?.instant ?? 0)
      if (tenant === undefined) {
        if (row === undefined || row.isRemoved || registry.has(clientId)) return undefined
        const content = JSON.stringify({ identity: { clientId, resets: registry.resetsOf(clientId) } })
        const removed = { version, life: version, instant, isRemoved: true, content }
        return { clientId, row: removed, isNewLife: true, records: [], events: [], copy: undefined }
      }
      const copy = copies.get(clientId)
      const known = copy?.tenant === tenant ? copy : undefined
      const key = keyOf(tenant)
      const last = tenant.events.last()
      const changes = tenant.takeChanges()
      if (known !== undefined && changes.length === 0 && last === known.events && key === known.key) return undefined
      const life = known?.life ?? version
      const content = JSON.stringify({ identity: registry.identityOf(clientId), meta: tenant.meta() } satisfies Content)
      return {
        clientId,
        row: { version, life, instant, isRemoved: false, content },
        isNewLife: known === undefined,
        records: (known === undefined ? tenant.records() : changes).map(record => toRow(record.sequence, record)),
        events: tenant.events.after(known?.events ?? 0).map(event => toRow(event.seq, event)),
        copy: { tenant, version, life, events: last, key },
      }
    },
    /** The rows are committed. */
    written({ clientId, copy }: Write): void {
      if (copy === undefined) copies.delete(clientId)
      else keep(clientId, copy)
    },
    evict,
    /** Drops the least recently used tenants above the limit. @param isBusy whether a tenant is in use */
    makeRoom(isBusy: (clientId: string) => boolean = () => false): void {
      for (const clientId of copies.keys()) {
        if (copies.size <= maxTenants) return
        if (!isInUse(clientId) && !isBusy(clientId)) evict(clientId)
      }
    },
  }
}
