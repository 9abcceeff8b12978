import type { ErrorCode } from './errors.js'
import type { Ids } from './ids.js'
import type { ChangeLog } from './records/changes.js'
import type { EventLog } from './records/events.js'
import type { Clock } from './time/clock.js'

/** The parts of a tenant that all of its stores share. */
export interface TenantContext {
  readonly clock: Clock
  readonly ids: Ids
  readonly events: EventLog
  /** The changes of records since the last transaction. */
  readonly changes: ChangeLog
  /** The number of records of the tenant, and the most that it can have. Only repositories change it. */
  readonly room: { used: number; readonly most: number }
  /** Returns the next position in the tenant's order of creation, from 1. */
  nextSequence(): number
}

/** The names of one kind of record, from its row in areas/index.ts. */
export interface RecordNames {
  /** The name in state documents and databases, in the plural: `payoutLinks`. */
  readonly name: string
  /** The path below `/api/v1`, which names its list in cursors: `payout-links`. */
  readonly path: string
  /** The kind in events, in the singular: `payoutLink`. Undefined if the records have no states. */
  readonly kind: string | undefined
  /** The member that holds the reference: `payoutLinkId`. */
  readonly reference: string
  /** The code of the error of an unknown reference. */
  readonly notFound: ErrorCode
  /** Whether all records are in region EU, or several regions share the references, or each has its own. */
  readonly regions: 'EU' | 'shared' | 'apart'
}

/** The parts of a tenant that a store gets when it is created. */
export interface StoreContext extends TenantContext {
  readonly names: RecordNames
}
