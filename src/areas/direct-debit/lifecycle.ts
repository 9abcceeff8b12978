import type { Lifecycle } from '../../core/records/lifecycle.js'

/** Documented: interface, Collection request status. */
export const COLLECTION_STATUSES = [
  'PENDING',
  'SUBMITTED',
  'PROCESSING',
  'SETTLED',
  'FAILED',
  'CANCELLED',
  'RETURNED',
  'REJECTED',
] as const
export type CollectionStatus = (typeof COLLECTION_STATUSES)[number]
export type CollectionTransition = 'submit' | 'process' | 'settle' | 'fail' | 'reject' | 'return' | 'cancel'

/** The transitions are not documented (assumed, decisions §6). */
export const collectionLifecycle: Lifecycle<CollectionStatus, CollectionTransition> = {
  PENDING: { submit: 'SUBMITTED', fail: 'FAILED', cancel: 'CANCELLED' },
  SUBMITTED: { process: 'PROCESSING', reject: 'REJECTED' },
  PROCESSING: { settle: 'SETTLED', fail: 'FAILED', reject: 'REJECTED' },
  SETTLED: { return: 'RETURNED' },
  FAILED: {},
  CANCELLED: {},
  RETURNED: {},
  REJECTED: {},
}
