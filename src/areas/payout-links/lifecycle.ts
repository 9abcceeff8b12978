import type { Lifecycle } from '../../core/records/lifecycle.js'

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
export type PayoutLinkTransition = 'claim' | 'decline' | 'process' | 'pay' | 'fail' | 'expire' | 'cancel'

export const payoutLinkLifecycle: Lifecycle<PayoutLinkStatus, PayoutLinkTransition> = {
  ACTIVE: { claim: 'CLAIMED', decline: 'REJECTED', expire: 'EXPIRED', cancel: 'CANCELLED' },
  CLAIMED: { process: 'PROCESSING' },
  PROCESSING: { pay: 'PAID', fail: 'FAILED' },
  PAID: {},
  FAILED: {},
  CANCELLED: {},
  EXPIRED: { cancel: 'CANCELLED' },
  REJECTED: { cancel: 'CANCELLED' },
}
