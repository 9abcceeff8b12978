import { Type } from '@sinclair/typebox'
import { assumed } from '../../core/schemas.js'
import type { Row, StoreOptions } from '../area.js'
import { lifecycleOf } from '../area.js'
import { mandateLifecycle } from './lifecycle.js'
import { mandateRoutes } from './routes.js'
import { Mandate, MandateParams, MandateQuery, NewMandate, SeedMandate, StoredMandate } from './schemas.js'
import { MandateStore, stateAt } from './store.js'

export const mandates = {
  path: 'mandates',
  title: 'Mandates',
  description: 'Direct debit mandates (SEPA).',
  routes: mandateRoutes,
  section: 7,
  lifecycle: lifecycleOf('mandate', mandateLifecycle, {
    line: ['PENDING', 'ACTIVE', 'CANCELLED'],
    params: MandateParams,
    transitions: {
      activate: { example: 'MND-ACME-0011' },
      fail: { example: 'MND-ACME-0015' },
      cancel: {
        example: 'MND-ACME-0016',
        operationId: 'forceCancelMandate',
        description: 'A cancelled mandate cancels its PENDING collections.',
      },
      expire: { example: 'MND-ACME-0017' },
    },
  }),
  reference: 'mandateReference',
  notFound: 'MANDATE_NOT_FOUND',
  regions: 'EU',
  create: NewMandate,
  list: { query: MandateQuery, item: Mandate },
  columns: ['debtor.name', 'type', 'createdAt'],
  empty: 'A mandate lets the client collect from a debtor. Create one here, or by POST /api/v1/mandates.',
  seeds: assumed(Type.Array(SeedMandate), 'Mandates in any state.'),
  stateAt,
  record: StoredMandate,
  createStore: (options: StoreOptions) => new MandateStore(options),
} as const satisfies Row<MandateStore>
