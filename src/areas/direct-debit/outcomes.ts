import type { CollectionStatus, CollectionVerb } from './lifecycle.js'
import { codesOf } from './reason-codes.js'

/**
 * An outcome on demand: a `debtorReference` of the form `SIM-<STATE>[-<CODE>]` determines the fate of one collection
 * (assumed, decisions §6).
 */
export interface Outcome {
  readonly debtorReference: string
  readonly description: string
  /** The state in which the outcome takes effect. */
  readonly from?: 'PENDING' | 'SUBMITTED' | 'PROCESSING' | 'SETTLED'
  readonly verb?: CollectionVerb
  readonly reasonCode?: string
  /** The state in which the collection stays. */
  readonly stuckIn?: CollectionStatus
}

type From = NonNullable<Outcome['from']>

const outcomesTo = (
  state: string,
  from: From,
  verb: CollectionVerb,
  when: string,
  codes: readonly string[],
): Outcome[] =>
  [undefined, ...codes].map(code => {
    const reasonCode = code ?? codes[0]
    return {
      debtorReference: code === undefined ? `SIM-${state}` : `SIM-${state}-${code}`,
      description: `${from} becomes ${state}${reasonCode === undefined ? '' : ` with ${reasonCode}`} ${when}.`,
      from,
      verb,
      ...(reasonCode !== undefined && { reasonCode }),
    }
  })

const stuck = (state: 'PENDING' | 'SUBMITTED' | 'PROCESSING'): Outcome => ({
  debtorReference: `SIM-STUCK-${state}`,
  description: `Stays ${state} until the control plane moves it.`,
  stuckIn: state,
})

/** All outcomes on demand. */
export const outcomes: readonly Outcome[] = [
  { debtorReference: 'SIM-SETTLED', description: 'Settles, as any collection does when nothing intervenes.' },
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

const byReference = new Map(outcomes.map(outcome => [outcome.debtorReference, outcome]))

/** Returns the outcome that a `debtorReference` names, if it names one. */
export const findOutcome = (debtorReference: string | undefined): Outcome | undefined =>
  debtorReference === undefined ? undefined : byReference.get(debtorReference)
