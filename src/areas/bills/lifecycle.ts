import type { Lifecycle } from '../../core/records/lifecycle.js'

/** Not documented (assumed, decisions §9). All but CANCELLED follow the open amount. */
export const BILL_STATUSES = ['OPEN', 'PARTIALLY_PAID', 'PAID', 'CANCELLED'] as const
export type BillStatus = (typeof BILL_STATUSES)[number]
export type BillTransition = 'reopen' | 'payPartially' | 'pay' | 'cancel'

export const billLifecycle: Lifecycle<BillStatus, BillTransition> = {
  OPEN: { payPartially: 'PARTIALLY_PAID', pay: 'PAID', cancel: 'CANCELLED' },
  PARTIALLY_PAID: { reopen: 'OPEN', pay: 'PAID', cancel: 'CANCELLED' },
  PAID: { reopen: 'OPEN', payPartially: 'PARTIALLY_PAID', cancel: 'CANCELLED' },
  CANCELLED: {},
}

/** The transition that leads to a state. */
export const transitionTo: Readonly<Record<BillStatus, BillTransition>> = {
  OPEN: 'reopen',
  PARTIALLY_PAID: 'payPartially',
  PAID: 'pay',
  CANCELLED: 'cancel',
}
