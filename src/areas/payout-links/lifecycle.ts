import type { Lifecycle } from '../../core/records/state-machine.js'

/** The states are not documented (assumed, decisions §8). */
export const PAYOUT_LINK_STATUSES = [
  'ACTIVE',
  'CLAIMED',
  'PROCESSING',
  'PAID',
  'FAILED',
  'CANCELLED',
  'EXPIRED',
  'REJECTED',
] as const
export type PayoutLinkStatus = (typeof PAYOUT_LINK_STATUSES)[number]
export const PAYOUT_LINK_VERBS = ['claim', 'decline', 'process', 'pay', 'fail', 'expire', 'cancel'] as const
export type PayoutLinkVerb = (typeof PAYOUT_LINK_VERBS)[number]

export const payoutLinkLifecycle: Lifecycle<PayoutLinkStatus, PayoutLinkVerb> = {
  ACTIVE: { claim: 'CLAIMED', decline: 'REJECTED', expire: 'EXPIRED', cancel: 'CANCELLED' },
  CLAIMED: { process: 'PROCESSING' },
  PROCESSING: { pay: 'PAID', fail: 'FAILED' },
  PAID: {},
  FAILED: {},
  CANCELLED: {},
  EXPIRED: { cancel: 'CANCELLED' },
  REJECTED: { cancel: 'CANCELLED' },
}
