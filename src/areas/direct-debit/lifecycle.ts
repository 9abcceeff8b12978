import { addOpenDays, T2 } from '../../core/business-days.js'
import { memoized } from '../../core/memo.js'
import type { Lifecycle } from '../../core/state-machine.js'
import type { Step } from '../../core/stateful-table.js'
import type { CalendarDate, Instant } from '../../core/time.js'
import { addDays, instantOf } from '../../core/time.js'
import { findOutcome } from './outcomes.js'

/** Documented: interface, Collection request status. */
export const COLLECTION_STATUSES = [
  'PENDING',
  'SUBMITTED',
  'PROCESSING',
  'SETTLED',
  'FAILED',
  'CANCELLED',
  'RETURNED',
  'REJECTED',
] as const
export type CollectionStatus = (typeof COLLECTION_STATUSES)[number]
export const COLLECTION_VERBS = ['submit', 'process', 'settle', 'fail', 'reject', 'return', 'cancel'] as const
export type CollectionVerb = (typeof COLLECTION_VERBS)[number]

/** The moves are not documented; these are decisions §6. */
export const collectionLifecycle: Lifecycle<CollectionStatus, CollectionVerb> = {
  PENDING: { submit: 'SUBMITTED', fail: 'FAILED', cancel: 'CANCELLED' },
  SUBMITTED: { process: 'PROCESSING', reject: 'REJECTED' },
  PROCESSING: { settle: 'SETTLED', fail: 'FAILED', reject: 'REJECTED' },
  SETTLED: { return: 'RETURNED' },
  FAILED: {},
  CANCELLED: {},
  RETURNED: {},
  REJECTED: {},
}

/** What the timing looks at. D is the collection date; D−n counts open T2 days (decisions §6). */
export interface Timed {
  readonly status: CollectionStatus
  readonly collectionDate: CalendarDate
  readonly debtorReference?: string
}

/** A time of day on a date, in the time of the scheme. */
export const wallClock = (date: CalendarDate, time: string): Instant => instantOf(date, time, T2.zone)
/** When a collection is handed to the scheme. */
export const submissionOf = memoized((date: CalendarDate) => wallClock(addOpenDays(T2, date, -2), '16:00'))
const processingOf = memoized((date: CalendarDate) => wallClock(addOpenDays(T2, date, -1), '09:00'))
const settlementOf = memoized((date: CalendarDate) => wallClock(date, '14:00'))

type CollectionStep = Step<CollectionVerb>

/** What time brings, by the collection date: one object serves all collections of a date. */
const stepOf = (instantAt: (date: CalendarDate) => Instant, verb: CollectionVerb, reasonCode?: string) =>
  memoized(
    (date: CalendarDate): CollectionStep => ({
      at: instantAt(date),
      verb,
      cause: 'time',
      ...(reasonCode !== undefined && { reasonCode }),
    }),
  )
const submission = stepOf(submissionOf, 'submit')
const processing = stepOf(processingOf, 'process')
const settlement = stepOf(settlementOf, 'settle')
/** In place of a submission that the mandate does not carry. */
export const failedSubmission = stepOf(submissionOf, 'fail', 'MD01')

/** What happens next by itself, if its mandate carries it. */
export function nextStep(collection: Timed): CollectionStep | null {
  const { status, collectionDate } = collection
  const outcome = findOutcome(collection.debtorReference)
  if (outcome?.stuckIn === status) return null

  if (outcome !== undefined && outcome.from === status && outcome.verb !== undefined) {
    return {
      at: outcomeAt[outcome.from](collectionDate, outcome.reasonCode),
      verb: outcome.verb,
      cause: 'outcome',
      ...(outcome.reasonCode !== undefined && { reasonCode: outcome.reasonCode }),
    }
  }
  switch (status) {
    case 'PENDING':
      return submission(collectionDate)
    case 'SUBMITTED':
      return processing(collectionDate)
    case 'PROCESSING':
      return settlement(collectionDate)
    default:
      return null
  }
}

/** When an outcome on demand comes about, by the state that it leaves. */
const outcomeAt: Record<
  'PENDING' | 'SUBMITTED' | 'PROCESSING' | 'SETTLED',
  (date: CalendarDate, code?: string) => Instant
> = {
  PENDING: submissionOf,
  SUBMITTED: processingOf,
  PROCESSING: settlementOf,
  SETTLED: (date, code) => {
    if (code === 'MD06') return wallClock(addDays(date, 30), '14:00')
    if (code === 'MD01') return wallClock(addDays(date, 60), '14:00')
    return wallClock(addOpenDays(T2, date, 2), '14:00')
  },
}

/** The first and last collection date that are accepted now (decisions §6). */
export function collectionDateBounds(today: CalendarDate, afterCutOff: boolean) {
  return { earliest: addOpenDays(T2, today, afterCutOff ? 3 : 2), latest: addDays(today, 365) }
}

/** Requests after this time of the day count as the next day's (decisions §6). */
export const CUT_OFF = '16:00:00'
