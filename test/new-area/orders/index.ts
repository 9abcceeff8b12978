/** Adds a toy area to the table of this process. Import it before the server. */
import { Type } from '@sinclair/typebox'
import { lifecycleOf } from '../../../src/areas/area.js'
import type { Area } from '../../../src/areas/index.js'
import { areas } from '../../../src/areas/index.js'
import { assumed } from '../../../src/core/schemas.js'
import { orderLifecycle } from './lifecycle.js'
import { orderRoutes } from './routes.js'
import { NewOrder, Order, OrderQuery, SeedOrder } from './schemas.js'
import { OrderStore } from './store.js'

const orders: Area = {
  path: 'orders',
  title: 'Orders',
  description: 'Orders, a toy of the tests.',
  routes: orderRoutes,
  section: 6,
  lifecycle: lifecycleOf('order', orderLifecycle, {
    line: ['PLACED', 'SHIPPED'],
    params: Type.Object({ orderReference: Order.properties.orderReference }),
    transitions: { ship: { example: 'ORD-0001' } },
  }),
  reference: 'orderReference',
  refersTo: { collectionReference: { kind: 'collections', accepts: { status: 'SETTLED' } } },
  notFound: 'ROUTE_NOT_FOUND',
  regions: 'EU',
  create: NewOrder,
  list: { query: OrderQuery, item: Order },
  columns: ['amount'],
  empty: 'Place an order by POST /api/v1/orders.',
  seeds: assumed(Type.Array(SeedOrder), 'Orders in any state.'),
  record: Order,
  createStore: ({ context }) => new OrderStore(context),
}
Object.assign(areas, { orders })
