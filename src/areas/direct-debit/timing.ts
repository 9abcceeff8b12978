import type { Step } from '../../core/records/lifecycle.js'
import { addOpenDays, onOrAfter, T2 } from '../../core/time/business-days.js'
import type { CalendarDate, Day, Instant } from '../../core/time/time.js'
import {
  addDays,
  formatDay,
  formatInstant,
  instantOf,
  isCalendarDate,
  isMoment,
  localTime,
  parseDay,
  timeOfDay,
} from '../../core/time/time.js'
import type { CollectionStatus, CollectionTransition } from './lifecycle.js'
import { collectionLifecycle } from './lifecycle.js'
import type { Steered } from './outcomes.js'
import { outcomeOf } from './outcomes.js'

/** The fields that determine the timing of a collection. D is the collection date; D−n counts open T2 days. */
export interface Timed extends Steered {
  readonly status: CollectionStatus
  readonly collectionDate: CalendarDate
}

const MORNING = timeOfDay('09:00')
const AFTERNOON = timeOfDay('14:00')
/** Collections are submitted at this time of day, and later requests count as the next day's (decisions §6). */
const CUT_OFF = timeOfDay('16:00')

/** Returns the instant of a time of day, in the time zone of T2. */
export const inZoneOfT2 = (day: Day, time: number): Instant => instantOf(day, time, T2.zone)

/** Returns when a collection is submitted to the scheme. */
export const submissionOf = (day: Day): Instant => inZoneOfT2(addOpenDays(T2, day, -2), CUT_OFF)

/** When a collection leaves a state, by time or by an outcome on demand. */
const LEAVES_AT: Readonly<Partial<Record<CollectionStatus, (day: Day, reasonCode?: string) => Instant>>> = {
  PENDING: submissionOf,
  SUBMITTED: day => inZoneOfT2(addOpenDays(T2, day, -1), MORNING),
  PROCESSING: day => inZoneOfT2(day, AFTERNOON),
  SETTLED(day, reasonCode) {
    if (reasonCode === 'MD06') return inZoneOfT2(addDays(day, 30), AFTERNOON)
    if (reasonCode === 'MD01') return inZoneOfT2(addDays(day, 60), AFTERNOON)
    return inZoneOfT2(addOpenDays(T2, day, 2), AFTERNOON)
  },
}

/** The transitions of a collection that nothing stops. */
const TRANSITIONS: Readonly<Partial<Record<CollectionStatus, CollectionTransition>>> = {
  PENDING: 'submit',
  SUBMITTED: 'process',
  PROCESSING: 'settle',
}

/** Returns the next automatic transition, for a collection whose mandate is ACTIVE (decisions §6). */
export function nextStep(collection: Timed): Step<CollectionTransition> | null {
  const { status, collectionDate } = collection
  const outcome = outcomeOf(collection)
  const isSteered = outcome?.from === status
  const transition = isSteered ? outcome.transition : TRANSITIONS[status]
  const leavesAt = LEAVES_AT[status]
  if (transition === undefined || leavesAt === undefined) return null
  if (!isSteered) return { at: leavesAt(parseDay(collectionDate)), transition, cause: 'time' }
  const { reasonCode } = outcome
  const at = leavesAt(parseDay(collectionDate), reasonCode)
  return { at, transition, cause: 'outcome', ...(reasonCode !== undefined && { reasonCode }) }
}

/** A state, and the moment at which the record came into it. */
interface Reached {
  readonly status: CollectionStatus
  readonly updatedAt: string
  readonly reasonCode?: string
}

/**
 * Returns the state of a seeded collection at an instant, if only time has acted on it since its initiation (decisions §6).
 * Undefined if its dates are wrong.
 */
export function stateAt(seed: Readonly<Record<string, unknown>>, now: Instant): Reached | undefined {
  const { collectionDate, initiatedAt } = seed
  if (typeof collectionDate !== 'string' || !isCalendarDate(collectionDate) || !isMoment(initiatedAt)) return undefined
  const settlesOn = formatDay(onOrAfter(T2, parseDay(collectionDate)))
  let reached: Reached = { status: 'PENDING', updatedAt: initiatedAt }
  for (;;) {
    const step = nextStep({ ...seed, ...reached, collectionDate: settlesOn })
    if (step === null || step.at > now) return reached
    const { at, transition, reasonCode } = step
    const targets: Partial<Record<CollectionTransition, CollectionStatus>> = collectionLifecycle[reached.status]
    const reason = reasonCode === undefined ? {} : { reasonCode }
    reached = { status: targets[transition] ?? reached.status, updatedAt: formatInstant(at), ...reason }
  }
}

/** Returns the first and the last collection date that are accepted at an instant (decisions §6). */
export function collectionDateBounds(now: Instant): { readonly earliest: Day; readonly latest: Day } {
  const { day: today, time } = localTime(now, T2.zone)
  return { earliest: addOpenDays(T2, today, time > CUT_OFF ? 3 : 2), latest: addDays(today, 365) }
}
