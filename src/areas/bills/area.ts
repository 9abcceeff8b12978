import { Type } from '@sinclair/typebox'
import { assumed } from '../../core/schemas.js'
import type { Row, StoreOptions } from '../area.js'
import { lifecycleOf } from '../area.js'
import { billLifecycle } from './lifecycle.js'
import { billRoutes } from './routes.js'
import { Bill, BillParams, BillQuery, NewBill, SeedBill } from './schemas.js'
import type { Counterparties } from './store.js'
import { BillStore } from './store.js'

export const bills = {
  path: 'bills',
  title: 'Bills',
  description: 'Bills and their documents.',
  routes: billRoutes,
  section: 9,
  lifecycle: lifecycleOf('bill', billLifecycle, {
    line: ['OPEN', 'PARTIALLY_PAID', 'PAID', 'CANCELLED'],
    params: BillParams,
    transitions: {
      reopen: { update: { body: {}, from: { openAmount: 'totalAmount' }, fields: [] } },
      payPartially: { update: { body: {}, half: { openAmount: 'totalAmount' }, fields: ['openAmount'] } },
      pay: { update: { body: { status: 'PAID' }, fields: [] } },
      cancel: { update: { body: { status: 'CANCELLED' }, fields: [] } },
    },
  }),
  reference: 'uniqueReferenceIdentifier',
  notFound: 'BILL_NOT_FOUND',
  regions: 'apart',
  create: NewBill,
  list: { query: BillQuery, item: Bill },
  columns: ['openAmount', 'dueDate', 'totalAmount', 'counterpartyReference'],
  empty: 'A bill is an amount due to the client, or from it. Create one here, or by POST /api/v1/bills.',
  seeds: assumed(Type.Array(SeedBill), 'Bills in any state. Their currency determines their region.'),
  record: Bill,
  errors: ['INCONSISTENT_BILL_UPDATE'],
  createStore: (options: StoreOptions<{ counterparties: Counterparties }>) => new BillStore(options),
} as const satisfies Row<BillStore>
