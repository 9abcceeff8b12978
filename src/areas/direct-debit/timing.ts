import type { Step } from '../../core/records/stateful-repository.js'
import { addOpenDays, onOrAfter, T2 } from '../../core/time/business-days.js'
import type { CalendarDate, Instant } from '../../core/time/time.js'
import {
  addDays,
  formatInstant,
  instantOf,
  isCalendarDate,
  isMoment,
  localDate,
  localTime,
} from '../../core/time/time.js'
import type { CollectionStatus, CollectionVerb } from './lifecycle.js'
import { collectionLifecycle } from './lifecycle.js'
import type { Steered } from './outcomes.js'
import { outcomeOf } from './outcomes.js'

/** The fields that determine the timing of a collection. D is the collection date; D−n counts open T2 days. */
export interface Timed extends Steered {
  readonly status: CollectionStatus
  readonly collectionDate: CalendarDate
}

/** Returns the instant of a time of day on a date, in the time zone of T2. */
export const wallClock = (date: CalendarDate, time: string): Instant => instantOf(date, time, T2.zone)

/** Returns when a collection is submitted to the scheme. */
export const submissionOf = (date: CalendarDate): Instant => wallClock(addOpenDays(T2, date, -2), '16:00')
const processingOf = (date: CalendarDate): Instant => wallClock(addOpenDays(T2, date, -1), '09:00')
const settlementOf = (date: CalendarDate): Instant => wallClock(date, '14:00')

function returnOf(date: CalendarDate, reasonCode?: string): Instant {
  if (reasonCode === 'MD06') return wallClock(addDays(date, 30), '14:00')
  if (reasonCode === 'MD01') return wallClock(addDays(date, 60), '14:00')
  return wallClock(addOpenDays(T2, date, 2), '14:00')
}

/** When a collection leaves a state by an outcome on demand. */
const OUTCOME_AT = {
  PENDING: submissionOf,
  SUBMITTED: processingOf,
  PROCESSING: settlementOf,
  SETTLED: returnOf,
} as const

/**
 * Returns the next automatic transition, for a collection whose mandate is ACTIVE (decisions §6).
 * @throws ILLEGAL_TRANSITION (it has an outcome that this release lacks)
 */
export function nextStep(collection: Timed): Step<CollectionVerb> | null {
  const { status, collectionDate } = collection
  const outcome = outcomeOf(collection)
  if (outcome?.stuckIn === status) return null

  if (outcome !== undefined && outcome.from === status && outcome.verb !== undefined) {
    const { from, verb, reasonCode } = outcome
    const at = OUTCOME_AT[from](collectionDate, reasonCode)
    return { at, verb, cause: 'outcome', ...(reasonCode !== undefined && { reasonCode }) }
  }
  switch (status) {
    case 'PENDING':
      return { at: submissionOf(collectionDate), verb: 'submit', cause: 'time' }
    case 'SUBMITTED':
      return { at: processingOf(collectionDate), verb: 'process', cause: 'time' }
    case 'PROCESSING':
      return { at: settlementOf(collectionDate), verb: 'settle', cause: 'time' }
    default:
      return null
  }
}

/** A state, and the moment at which the record came into it. */
interface Reached {
  readonly status: CollectionStatus
  readonly updatedAt: string
  readonly reasonCode?: string
}

/**
 * Returns the state of a seeded collection at an instant, if only time has acted on it since its initiation (decisions §6).
 * Undefined: its dates are wrong.
 */
export function stateAt(seed: Readonly<Record<string, unknown>>, now: Instant): Reached | undefined {
  const { collectionDate, initiatedAt } = seed
  if (typeof collectionDate !== 'string' || !isCalendarDate(collectionDate) || !isMoment(initiatedAt)) return undefined
  const date = onOrAfter(T2, collectionDate)
  let reached: Reached = { status: 'PENDING', updatedAt: initiatedAt }
  for (;;) {
    const step = nextStep({ ...seed, ...reached, collectionDate: date })
    if (step === null || step.at > now) return reached
    const { at, verb, reasonCode } = step
    const status = (collectionLifecycle[reached.status] as Partial<Record<CollectionVerb, CollectionStatus>>)[verb]
    const reason = reasonCode === undefined ? {} : { reasonCode }
    reached = { status: status as CollectionStatus, updatedAt: formatInstant(at), ...reason }
  }
}

/** Requests after this time of day count as the next day's (decisions §6). */
const CUT_OFF = '16:00:00'

/** Returns the first and the last collection date that are accepted at an instant (decisions §6). */
export function collectionDateBounds(now: Instant): { earliest: CalendarDate; latest: CalendarDate } {
  const today = localDate(now, T2.zone)
  const isAfterCutOff = localTime(now, T2.zone) > CUT_OFF
  return { earliest: addOpenDays(T2, today, isAfterCutOff ? 3 : 2), latest: addDays(today, 365) }
}
