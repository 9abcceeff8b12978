import { Type } from '@sinclair/typebox'
import { assumed } from '../../core/schemas.js'
import type { Row, StoreOptions } from '../area.js'
import { lifecycleOf } from '../area.js'
import { collectionLifecycle } from './lifecycle.js'
import { COLLECTION_OUTCOMES } from './outcomes.js'
import { collectionRoutes } from './routes.js'
import {
  CollectionOutcomeBody,
  CollectionParams,
  CollectionQuery,
  CollectionSummary,
  CollectionTransitionBody,
  NewCollection,
  SeedCollection,
  StoredCollection,
} from './schemas.js'
import type { Mandates } from './store.js'
import { CollectionStore } from './store.js'
import { stateAt } from './timing.js'

/** The transitions take a reason code. */
const reasoned = {
  body: CollectionTransitionBody,
  description:
    'Without `reasonCode`, a transition with reason codes gets the first legal one. The error of an illegal transition ' +
    'names the legal ones.',
}

export const collections = {
  path: 'direct-debit',
  title: 'Direct debit',
  description: 'Collection requests against mandates (SEPA).',
  routes: collectionRoutes,
  section: 6,
  lifecycle: lifecycleOf('collection', collectionLifecycle, {
    line: ['PENDING', 'SUBMITTED', 'PROCESSING', 'SETTLED', 'RETURNED'],
    params: CollectionParams,
    transitions: {
      submit: { ...reasoned, example: 'COL-ACME-0061' },
      process: { ...reasoned, example: 'COL-ACME-0062' },
      settle: { ...reasoned, example: 'COL-ACME-0063' },
      fail: { ...reasoned, example: 'COL-ACME-0064' },
      reject: { ...reasoned, example: 'COL-ACME-0065' },
      return: { ...reasoned, example: 'COL-ACME-0066' },
      cancel: { ...reasoned, example: 'COL-ACME-0067' },
    },
  }),
  reference: 'collectionReference',
  refersTo: { mandateReference: { kind: 'mandates', accepts: { status: 'ACTIVE', type: 'RECURRING' } } },
  notFound: 'COLLECTION_NOT_FOUND',
  regions: 'EU',
  create: NewCollection,
  list: { query: CollectionQuery, item: CollectionSummary },
  columns: ['amount', 'collectionDate', 'debtorName', 'mandateReference', 'reasonCode'],
  empty: 'A collection takes money from a debtor, under a mandate. Create one here, or by POST /api/v1/direct-debit.',
  outcomes: {
    names: COLLECTION_OUTCOMES,
    fields: ['mandateReference', 'debtorReference', 'collectionReference', 'amount'],
    call: {
      example: 'COL-ACME-0068',
      body: CollectionOutcomeBody,
      description:
        'The outcome wins over the `debtorReference`. It is 409 ILLEGAL_TRANSITION if the collection has left the ' +
        'state in which the outcome takes effect. An outcome whose time has passed happens at once. `SETTLED` ' +
        'restores the usual course.',
    },
  },
  seeds: assumed(
    Type.Array(SeedCollection),
    'Collections in any state. Their mandates exist, or are among these records.',
  ),
  stateAt,
  record: StoredCollection,
  errors: ['MANDATE_ALREADY_USED'],
  createStore: (options: StoreOptions<{ mandates: Mandates }>) => new CollectionStore(options),
} as const satisfies Row<CollectionStore>
