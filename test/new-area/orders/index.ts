/** Adds a toy area to the table of this process. Import it before the server. */
import { Type } from '@sinclair/typebox'
import type { Area } from '../../../src/areas/index.js'
import { areas, lifecycleOf } from '../../../src/areas/index.js'
import { assumed } from '../../../src/http/schemas.js'
import { orderLifecycle } from './lifecycle.js'
import { orderRoutes } from './routes.js'
import { Order, SeedOrder } from './schemas.js'
import { createOrderStore } from './store.js'

const orders: Area = {
  path: 'orders',
  title: 'Orders',
  description: 'Orders, a toy of the tests.',
  routes: orderRoutes,
  section: 6,
  lifecycle: lifecycleOf('order', orderLifecycle),
  reference: 'orderReference',
  hasRegions: false,
  canCreate: true,
  columns: ['amount'],
  empty: 'Place an order by POST /api/v1/orders.',
  seeds: assumed(Type.Array(SeedOrder), 'Orders in any state.'),
  record: Order,
  createStore: ({ context }) => createOrderStore(context),
}
Object.assign(areas, { orders })
