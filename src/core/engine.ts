import type { Clock } from './clock.js'
import type { EventLog } from './events.js'
import type { Ids } from './ids.js'

/** What every store of one tenant shares: its time, its identifiers, its history, its order of creation. */
export interface Engine {
  readonly clock: Clock
  readonly ids: Ids
  readonly events: EventLog
  /** The next position in the tenant's order of creation, from 1. */
  nextSequence(): number
}
