import { COLLECTION_STATUSES } from '../../areas/direct-debit/lifecycle.js'
import type { Phase } from '../../areas/direct-debit/reason-codes.js'
import { codesOf } from '../../areas/direct-debit/reason-codes.js'
import { collectionDateBounds, processingOf, settlementOf, submissionOf } from '../../areas/direct-debit/timing.js'
import { onOrAfter, T2 } from '../../core/time/business-days.js'
import { isCalendarDate, parseInstant } from '../../core/time/time.js'
import { isBefore } from '../har.js'
import type { Observation } from '../observations.js'
import { isSound } from '../observations.js'
import type { Guard, Rule, Source } from '../rule.js'
import { assumed, documented, guard, hasFaults, rule, verdict } from '../rule.js'
import { membersOf, textAt } from '../values.js'
import { ofRecords, READS } from './records.js'

const CREATE = ['createCollection']
const MINUTE = 60_000

/** The time of a request by the clock of the service, where its answer has it. */
const timeOf = ({ records: [record], at }: Observation): number | undefined =>
  parseInstant(textAt(record, 'initiatedAt') ?? '') ?? at

const dateOf = ({ input }: Observation): string | undefined => {
  const date = textAt(input, 'collectionDate')
  return date !== undefined && isCalendarDate(date) ? date : undefined
}

/** Whether a request gives a collection date on which T2 is closed. */
export function isClosedDay(observation: Observation): boolean {
  const date = dateOf(observation)
  return date !== undefined && onOrAfter(T2, date) !== date
}

/** Whether a collection date is out of bounds. Near the cut-off and midnight, clocks that differ would decide. */
const isOutside =
  (compare: (date: string, bounds: ReturnType<typeof collectionDateBounds>) => boolean): Guard['applies'] =>
  observation => {
    const [now, date] = [timeOf(observation), dateOf(observation)]
    if (now === undefined || date === undefined) return undefined
    const [before, after] = [-5, 5].map(minutes => compare(date, collectionDateBounds(now + minutes * MINUTE)))
    return before === after ? before : undefined
  }

/** Refusals of new collections (decisions §6). */
export const collectionGuards: readonly Guard[] = [
  guard(
    'earliest date',
    assumed(6, 'Earliest date: today + 2 open days, or + 3 open days after 16:00.'),
    CREATE,
    ['values', 'COLLECTION_DATE_TOO_EARLY'],
    isOutside((date, { earliest }) => onOrAfter(T2, date) < earliest),
  ),
  guard(
    'latest date',
    assumed(6, 'Latest date: 365 days ahead.'),
    CREATE,
    ['values', 'COLLECTION_DATE_TOO_LATE'],
    isOutside((date, { latest }) => date > latest),
  ),
  guard(
    'mandate that is not active',
    documented('Other endpoints (method and path only)', 'Initiates a collection request against an active mandate.'),
    CREATE,
    ['state', 'MANDATE_NOT_ACTIVE'],
    (observation, { history }) => {
      const mandate = history.find('mandates', observation.input.mandateReference, observation)
      return ['CANCELLED', 'EXPIRED', 'FAILED'].includes(mandate?.status ?? '')
    },
  ),
  guard(
    'used mandate',
    assumed(6, 'Returns 409 MANDATE_ALREADY_USED for a ONE_OFF mandate with a collection.'),
    CREATE,
    ['state', 'MANDATE_ALREADY_USED'],
    (observation, { history }) => {
      const { mandateReference } = observation.input
      const mandate = history.find('mandates', mandateReference, observation)
      if (mandate?.record.type !== 'ONE_OFF' || mandate.status !== 'ACTIVE') return false
      return history
        .all('direct-debit')
        .some(({ record, status }) => record.mandateReference === mandateReference && status !== 'CANCELLED')
    },
  ),
]

/** The reason codes of a state, by the phases in which it comes about. */
const REASONS: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  Object.entries({
    REJECTED: ['clearing', 'bank'],
    FAILED: ['submission', 'settlement'],
    RETURNED: ['return', 'refund', 'unauthorised-refund'],
  } satisfies Record<string, Phase[]>).map(([status, phases]) => [status, phases.flatMap(codesOf)]),
)

/** A collection gets into a state at a time that follows from its date, give or take an hour. */
const moment = (status: string, sentence: string, timeOf: (date: string) => number): Rule =>
  rule(`time of ${status}`, assumed(6, sentence), READS.collections, (observation, context) =>
    ofRecords(record => {
      const [date, updatedAt] = [
        textAt(record, 'collectionDate') ?? '',
        parseInstant(textAt(record, 'updatedAt') ?? ''),
      ]
      if (record.status !== status || !isCalendarDate(date) || updatedAt === undefined) return undefined
      if (!isSound(observation, 'collectionDate')) return undefined
      return verdict(Math.abs(updatedAt - timeOf(date)) <= 60 * MINUTE, 'at another time', record.updatedAt)
    })(observation, context),
  )

/** A member that the mandate gives where the request does not. */
const byDefault = (member: string, source: Source, ofMandate: 'name' | 'reference'): Rule =>
  rule(`default of ${member}`, source, CREATE, (observation, { history }) => {
    const { isAccepted, input, records } = observation
    const mandate = history.find('mandates', input.mandateReference, observation)
    const debtor = mandate?.record.debtor
    if (!isAccepted || hasFaults(observation) || input[member] !== undefined || debtor === undefined) return undefined
    if (!isSound(observation, member)) return undefined
    return verdict(records[0]?.[member] === membersOf(debtor)[ofMandate], 'another value than that of the mandate')
  })

const KEPT = assumed(
  6,
  "Sets `updatedAt` to the moment of the transition on the tenant's clock. Never changes `initiatedAt`.",
)

/** Rules of collections (decisions §6). */
export const collectionRules: readonly Rule[] = [
  rule('new collection', assumed(6, '| → PENDING | The request is accepted |'), CREATE, observation => {
    const status = textAt(observation.records[0], 'status')
    if (status === undefined || !COLLECTION_STATUSES.includes(status as never)) return undefined
    return verdict(status === 'PENDING', `created as ${status}`)
  }),
  rule(
    'closed days',
    assumed(6, 'Moves a closed day to the next open day. Stores and returns the moved date, with a hint.'),
    READS.collections,
    (observation, context) => {
      const { isRefused, field, operation } = observation
      const sent = operation?.id === 'createCollection' ? dateOf(observation) : undefined
      if (isRefused) {
        const isReason =
          isClosedDay(observation) &&
          field === 'collectionDate' &&
          context.expected.size === 0 &&
          !hasFaults(observation)
        return isReason ? { why: 'a closed day is refused' } : undefined
      }
      return ofRecords(record => {
        const date = textAt(record, 'collectionDate')
        if (date === undefined || !isCalendarDate(date)) return undefined
        if (sent !== undefined)
          return verdict(date === onOrAfter(T2, sent), 'another date than the next open day', date)
        return verdict(T2.isOpen(date), 'a closed day', date)
      })(observation, context)
    },
  ),
  rule(
    'reason code',
    assumed(6, '`reasonCode` is absent unless the status is REJECTED, RETURNED or FAILED.'),
    READS.collections,
    ofRecords(({ reasonCode, status }) => {
      if (typeof status !== 'string' || !COLLECTION_STATUSES.includes(status as never)) return undefined
      return verdict(reasonCode === undefined || status in REASONS, `a reason code of a collection that is ${status}`)
    }),
  ),
  rule(
    'phase of a reason code',
    assumed(6, 'Reason codes are ISO 20022 external codes. Each code has its legal phase and window.'),
    READS.collections,
    ofRecords(({ reasonCode, status }) => {
      if (typeof reasonCode !== 'string' || !Object.hasOwn(REASONS, String(status))) return undefined
      const codes = REASONS[String(status)] as readonly string[]
      return verdict(codes.includes(reasonCode), `not a reason of ${status}`, reasonCode)
    }),
  ),
  moment('SUBMITTED', '| PENDING → SUBMITTED | D−2 16:00 |', submissionOf),
  moment('PROCESSING', '| SUBMITTED → PROCESSING | D−1 09:00 |', processingOf),
  moment('SETTLED', '| PROCESSING → SETTLED | D 14:00 |', settlementOf),
  byDefault('debtorName', assumed(6, "| `debtorName` | Default: the mandate's |"), 'name'),
  byDefault('debtorReference', assumed(6, "| `debtorReference` | Default: the mandate's |"), 'reference'),
  rule(
    'initiatedAt and updatedAt',
    KEPT,
    READS.collections,
    ofRecords((record, observation, { history }) => {
      const known = history.find('direct-debit', record.collectionReference, observation)
      if (known === undefined || !isSound(observation, 'initiatedAt') || !isSound(observation, 'updatedAt'))
        return undefined
      if (!isSound(observation, 'status')) return undefined
      if (record.initiatedAt !== known.record.initiatedAt) return { why: 'another initiatedAt than before' }
      const isMoved = record.status !== known.status
      return verdict(isMoved || record.updatedAt === known.record.updatedAt, 'another updatedAt in the same state')
    }),
  ),
  rule(
    'collections of a cancelled mandate',
    assumed(7, "The mandate's PENDING collections become CANCELLED."),
    READS.collections,
    ofRecords((record, observation, { history }) => {
      const known = history.find('direct-debit', record.collectionReference, observation)
      const mandate = history.find('mandates', record.mandateReference, observation)
      if (known?.status !== 'PENDING' || mandate?.status !== 'CANCELLED') return undefined
      if (!isBefore(known.last, mandate.last)) return undefined
      return verdict(record.status !== 'PENDING', 'still PENDING')
    }),
  ),
]
