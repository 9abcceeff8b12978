import type { Ids } from './ids.js'
import type { EventLog } from './records/events.js'
import type { Clock } from './time/clock.js'

/** The parts of a tenant that all of its stores share. */
export interface TenantContext {
  readonly clock: Clock
  readonly ids: Ids
  readonly events: EventLog
  /** Returns the next position in the tenant's order of creation, from 1. */
  nextSequence(): number
}
