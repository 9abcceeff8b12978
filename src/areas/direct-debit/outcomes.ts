import type { LegalTransition } from '../../core/records/lifecycle.js'
import type { CollectionStatus, CollectionTransition } from './lifecycle.js'
import { codesOf } from './reason-codes.js'

/**
 * An outcome on demand determines the fate of one collection (assumed, decisions §6). A `debtorReference` of the form
 * `SIM-<STATE>[-<CODE>]` selects it, or the control plane arms it.
 */
export interface Outcome {
  /** Such as `RETURNED-AM04`. */
  readonly outcome: string
  readonly debtorReference: string
  readonly description: string
  /** The state in which the outcome takes effect. */
  readonly from?: 'PENDING' | 'SUBMITTED' | 'PROCESSING' | 'SETTLED'
  readonly transition?: CollectionTransition
  readonly reasonCode?: string
  /** The state in which the collection stays. */
  readonly stuckIn?: CollectionStatus
}

type From = NonNullable<Outcome['from']>

const named = (outcome: string) => ({ outcome, debtorReference: `SIM-${outcome}` })

const outcomesTo = (
  state: string,
  from: From,
  transition: CollectionTransition,
  when: string,
  codes: readonly string[],
): Outcome[] =>
  [undefined, ...codes].map(code => {
    const reasonCode = code ?? codes[0]
    return {
      ...named(code === undefined ? state : `${state}-${code}`),
      description: `${from} becomes ${state}${reasonCode === undefined ? '' : ` with ${reasonCode}`} ${when}.`,
      from,
      transition,
      ...(reasonCode !== undefined && { reasonCode }),
    }
  })

const stuck = (state: 'PENDING' | 'SUBMITTED' | 'PROCESSING'): Outcome => ({
  ...named(`STUCK-${state}`),
  description: `Stays ${state} until the control plane moves it.`,
  stuckIn: state,
})

/** All outcomes on demand. */
export const outcomes: readonly Outcome[] = [
  { ...named('SETTLED'), description: 'Settles, as any collection does when nothing intervenes.' },
  ...outcomesTo('CANCELLED', 'PENDING', 'cancel', 'at D-2 16:00, instead of its submission', []),
  ...outcomesTo('REJECTED', 'SUBMITTED', 'reject', 'at D-1 09:00, in clearing', codesOf('clearing')),
  ...outcomesTo(
    'REJECTED',
    'PROCESSING',
    'reject',
    'at D 14:00, by the debtor bank before settlement',
    codesOf('bank'),
  ).slice(1),
  ...outcomesTo('FAILED', 'PROCESSING', 'fail', 'at D 14:00, instead of its settlement', codesOf('settlement')),
  ...outcomesTo('RETURNED', 'SETTLED', 'return', 'at D+2 14:00 (open days), by the debtor bank', codesOf('return')),
  ...outcomesTo('RETURNED', 'SETTLED', 'return', 'at D+30 days 14:00, as a refund', codesOf('refund')).slice(1),
  ...outcomesTo(
    'RETURNED',
    'SETTLED',
    'return',
    'at D+60 days 14:00, as an unauthorised refund',
    codesOf('unauthorised-refund'),
  ).slice(1),
  stuck('PENDING'),
  stuck('SUBMITTED'),
  stuck('PROCESSING'),
]

/** The form of the names of outcomes, for types. */
export type CollectionOutcome =
  | 'SETTLED'
  | 'CANCELLED'
  | `${'REJECTED' | 'FAILED' | 'RETURNED'}${'' | `-${string}`}`
  | `STUCK-${'PENDING' | 'SUBMITTED' | 'PROCESSING'}`

export const COLLECTION_OUTCOMES = outcomes.map(({ outcome }) => outcome as CollectionOutcome)

const byReference = new Map(outcomes.map(outcome => [outcome.debtorReference, outcome]))

/** Returns the outcome that a `debtorReference` names, if any. */
export const findOutcome = (debtorReference: string | undefined): Outcome | undefined =>
  debtorReference === undefined ? undefined : byReference.get(debtorReference)

/** The fields that determine the outcome of a collection. */
export interface Steered {
  /** The outcome that is stored with it, by name. */
  readonly outcome?: string
  readonly debtorReference?: string
}

/** Returns the outcome of a collection, if any. The stored outcome wins over the outcome of its reference. */
export const outcomeOf = ({ outcome, debtorReference }: Steered): Outcome | undefined =>
  findOutcome(outcome === undefined ? debtorReference : `SIM-${outcome}`)

/** The states on the way of a collection that nothing stops, in order. */
const PATH: readonly CollectionStatus[] = ['PENDING', 'SUBMITTED', 'PROCESSING', 'SETTLED']

/**
 * Returns whether a collection can still have an outcome: the state in which it takes effect is not yet behind it, and
 * the transition is legal in time.
 * @param legal the transitions that are legal now
 */
export function isPossible(
  { from, transition, reasonCode, stuckIn }: Outcome,
  status: CollectionStatus,
  legal: readonly LegalTransition[],
): boolean {
  const at = PATH.indexOf(status)
  if (at < 0 || at > PATH.indexOf(from ?? stuckIn ?? 'SETTLED')) return false
  if (from !== status) return true
  return legal.some(
    move =>
      move.transition === transition && (reasonCode === undefined || move.reasonCodes?.includes(reasonCode) === true),
  )
}
