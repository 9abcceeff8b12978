import type { Lifecycle } from '../../core/records/lifecycle.js'
import { legalTransitions } from '../../core/records/lifecycle.js'

/** The states of a mandate. ACTIVE and CANCELLED are documented (interface, Mandate), the others assumed (decisions §7). */
export const MANDATE_STATUSES = ['PENDING', 'ACTIVE', 'CANCELLED', 'EXPIRED', 'FAILED'] as const
export type MandateStatus = (typeof MANDATE_STATUSES)[number]
export type MandateTransition = 'activate' | 'fail' | 'cancel' | 'expire'

export const mandateLifecycle: Lifecycle<MandateStatus, MandateTransition> = {
  PENDING: { activate: 'ACTIVE', fail: 'FAILED', cancel: 'CANCELLED' },
  ACTIVE: { cancel: 'CANCELLED', expire: 'EXPIRED' },
  CANCELLED: {},
  EXPIRED: {},
  FAILED: {},
}

export const FINAL_STATUSES = MANDATE_STATUSES.filter(status => legalTransitions(mandateLifecycle, status).length === 0)

/** A mandate expires after this time without a presented collection (SEPA Core rulebook; decisions §7). */
export const MONTHS_UNTIL_EXPIRY = 36
