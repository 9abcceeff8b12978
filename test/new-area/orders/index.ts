/** Adds a toy area to the table of this process. Import it before the server. */
import { Type } from '@sinclair/typebox'
import type { Area } from '../../../src/areas/index.js'
import { areas } from '../../../src/areas/index.js'
import { assumed } from '../../../src/http/schemas.js'
import { ORDER_STATUSES, orderLifecycle } from './lifecycle.js'
import { orderRoutes } from './routes.js'
import { Order, SeedOrder } from './schemas.js'
import { createOrderStore } from './store.js'

const orders: Area = {
  path: 'orders',
  title: 'Orders',
  description: 'Orders, a toy of the tests.',
  routes: orderRoutes,
  section: 6,
  lifecycle: { kind: 'order', states: ORDER_STATUSES, transitions: orderLifecycle },
  seeds: assumed(Type.Array(SeedOrder), 'Orders in any state.'),
  record: Order,
  createStore: ({ context }) => createOrderStore(context),
}
Object.assign(areas, { orders })
