import type { Ids } from './ids.js'
import type { ChangeLog } from './records/changes.js'
import type { EventLog } from './records/events.js'
import type { Clock } from './time/clock.js'

/** The parts of a tenant that all of its stores share. */
export interface TenantContext {
  readonly clock: Clock
  readonly ids: Ids
  readonly events: EventLog
  /** The changes of records since the last turn. */
  readonly changes: ChangeLog
  /** Returns the next position in the tenant's order of creation, from 1. */
  nextSequence(): number
}
