import type { LegalTransition } from '../../core/records/lifecycle.js'
import type { CollectionStatus, CollectionTransition } from './lifecycle.js'
import { collectionLifecycle } from './lifecycle.js'
import type { Phase } from './reason-codes.js'
import { codesOf, phases } from './reason-codes.js'

/** The form of the names of outcomes, for types. */
export type CollectionOutcome =
  | 'SETTLED'
  | 'CANCELLED'
  | `${'REJECTED' | 'FAILED' | 'RETURNED'}${'' | `-${string}`}`
  | `STUCK-${'PENDING' | 'SUBMITTED' | 'PROCESSING'}`

/**
 * An outcome on demand determines the fate of one collection (assumed, decisions §6). A `debtorReference` of the form
 * `SIM-<STATE>[-<CODE>]` selects it, or the control plane arms it.
 */
export interface Outcome {
  /** Such as `RETURNED-AM04`. */
  readonly outcome: CollectionOutcome
  readonly debtorReference: string
  readonly description: string
  /** The state in which the outcome takes effect. */
  readonly from?: CollectionStatus
  /** The transition that it makes. Absent if the collection stays in the state. */
  readonly transition?: CollectionTransition
  readonly reasonCode?: string
}

const named = (outcome: string) => ({
  outcome: outcome as CollectionOutcome,
  debtorReference: `SIM-${outcome}`,
})

/** Makes the outcomes of a phase, one for each reason code. With `isFirst`, the state alone means the first code. */
function outcomesOf(phase: Phase, when: string, isFirst = false): Outcome[] {
  const { from, transition } = phases[phase]
  const state = collectionLifecycle[from][transition]
  const codes = codesOf(phase).map(code => ({ name: `${state}-${code}`, code }))
  if (isFirst) codes.unshift({ ...codes[0], name: `${state}` } as (typeof codes)[number])
  return codes.map(({ name, code }) => ({
    ...named(name),
    description: `${from} becomes ${state} with ${code} ${when}.`,
    from,
    transition,
    reasonCode: code,
  }))
}

const stuck = (state: CollectionStatus): Outcome => ({
  ...named(`STUCK-${state}`),
  description: `Stays ${state} until the control plane moves it.`,
  from: state,
})

/** All outcomes on demand. */
export const outcomes: readonly Outcome[] = [
  { ...named('SETTLED'), description: 'Settles, as any collection does when nothing intervenes.' },
  {
    ...named('CANCELLED'),
    description: 'PENDING becomes CANCELLED at D-2 16:00, instead of its submission.',
    from: 'PENDING',
    transition: 'cancel',
  },
  ...outcomesOf('clearing', 'at D-1 09:00, in clearing', true),
  ...outcomesOf('bank', 'at D 14:00, by the debtor bank before settlement'),
  ...outcomesOf('settlement', 'at D 14:00, instead of its settlement', true),
  ...outcomesOf('return', 'at D+2 14:00 (open days), by the debtor bank', true),
  ...outcomesOf('refund', 'at D+30 days 14:00, as a refund'),
  ...outcomesOf('unauthorised-refund', 'at D+60 days 14:00, as an unauthorised refund'),
  stuck('PENDING'),
  stuck('SUBMITTED'),
  stuck('PROCESSING'),
]

export const COLLECTION_OUTCOMES = outcomes.map(({ outcome }) => outcome)

const byReference = new Map(outcomes.map(outcome => [outcome.debtorReference, outcome]))

/** The fields that determine the outcome of a collection. */
export interface Steered {
  /** The outcome that is stored with it, by name. */
  readonly outcome?: string
  readonly debtorReference?: string
}

/** Returns the outcome of a collection, if any. The stored outcome wins over the outcome that its reference names. */
export const outcomeOf = ({ outcome, debtorReference = '' }: Steered): Outcome | undefined =>
  byReference.get(outcome === undefined ? debtorReference : `SIM-${outcome}`)

/** The states on the way of a collection that nothing stops, in order. */
const PATH: readonly CollectionStatus[] = ['PENDING', 'SUBMITTED', 'PROCESSING', 'SETTLED']

/**
 * Returns whether a collection can still have an outcome: the state in which it takes effect is not yet behind it, and
 * the transition is legal in time.
 * @param legal the transitions that are legal now
 */
export function isPossible(
  { from = 'SETTLED', transition, reasonCode }: Outcome,
  status: CollectionStatus,
  legal: readonly LegalTransition[],
): boolean {
  const at = PATH.indexOf(status)
  if (at < 0 || at > PATH.indexOf(from)) return false
  if (from !== status || transition === undefined) return true
  return legal.some(
    move =>
      move.transition === transition && (reasonCode === undefined || move.reasonCodes?.includes(reasonCode) === true),
  )
}
