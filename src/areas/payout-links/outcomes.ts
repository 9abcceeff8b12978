import type { PayoutLinkStatus } from './lifecycle.js'

/** The outcomes of payout links, which the control plane arms (assumed, decisions §8). */
export const PAYOUT_LINK_OUTCOMES = ['FAILED', 'STUCK-PROCESSING'] as const
export type PayoutLinkOutcome = (typeof PAYOUT_LINK_OUTCOMES)[number]

export const payoutLinkOutcomes: readonly { readonly outcome: PayoutLinkOutcome; readonly description: string }[] = [
  { outcome: 'FAILED', description: 'PROCESSING becomes FAILED at the time at which it would become PAID.' },
  { outcome: 'STUCK-PROCESSING', description: 'Stays PROCESSING until the control plane moves it.' },
]

/** The states in which a link can still have an outcome: all outcomes take effect in the last one. */
export const STEERABLE_STATUSES: readonly PayoutLinkStatus[] = ['ACTIVE', 'CLAIMED', 'PROCESSING']
