import type { CollectionStatus, CollectionVerb } from './lifecycle.js'
import { codesOf } from './reason-codes.js'

/**
 * Outcomes on demand: a `debtorReference` of the form `SIM-<STATE>[-<CODE>]` steers one collection
 * (decisions §6; the service documents nothing of the kind).
 */
export interface Outcome {
  readonly debtorReference: string
  readonly description: string
  /** The state that the steered move leaves. */
  readonly from?: 'PENDING' | 'SUBMITTED' | 'PROCESSING' | 'SETTLED'
  readonly verb?: CollectionVerb
  readonly reasonCode?: string
  /** The state that the collection never leaves by itself. */
  readonly stuckIn?: CollectionStatus
}

type From = NonNullable<Outcome['from']>

const steer = (state: string, from: From, verb: CollectionVerb, when: string, codes: readonly string[]): Outcome[] =>
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

/** The table of all outcomes; where several rows share a reference, the first one counts. */
export const outcomes: readonly Outcome[] = [
  { debtorReference: 'SIM-SETTLED', description: 'Settles, as any collection does when nothing intervenes.' },
  ...steer('CANCELLED', 'PENDING', 'cancel', 'at D-2 16:00, in place of its submission', []),
  ...steer('REJECTED', 'SUBMITTED', 'reject', 'at D-1 09:00, in clearing', codesOf('clearing')),
  ...steer(
    'REJECTED',
    'PROCESSING',
    'reject',
    'at D 14:00, by the debtor bank before settlement',
    codesOf('bank'),
  ).slice(1),
  ...steer('FAILED', 'PROCESSING', 'fail', 'at D 14:00, in place of its settlement', codesOf('settlement')),
  ...steer('RETURNED', 'SETTLED', 'return', 'at D+2 14:00 (open days), by the debtor bank', codesOf('return')),
  ...steer('RETURNED', 'SETTLED', 'return', 'at D+30 days 14:00, as a refund', codesOf('refund')).slice(1),
  ...steer(
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

export const findOutcome = (debtorReference: string | undefined): Outcome | undefined =>
  debtorReference === undefined ? undefined : byReference.get(debtorReference)
