import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Amount, Reference } from '../../../src/core/domain/schemas.js'
import { assumed, ListOf, Moment, OneOf, pageParameters, titled } from '../../../src/core/schemas.js'
import { ORDER_STATUSES } from './lifecycle.js'

const given = {
  orderReference: assumed(Reference, 'The reference of the order.'),
  amount: assumed(Amount, 'The amount of the order.'),
  collectionReference: Type.Optional(assumed(Reference, 'The collection that pays the order.')),
}
const example = { orderReference: 'ORD-0001', amount: '10.50' }

/** POST /api/v1/orders */
export const NewOrder = Type.Object(given, { title: 'OrderCreateRequest', examples: [example] })
export type NewOrder = Static<typeof NewOrder>

export const Order = Type.Object(
  {
    ...given,
    status: assumed(OneOf(...ORDER_STATUSES), 'PLACED on creation, SHIPPED a day later.'),
    createdAt: assumed(Moment, 'When the order was placed.'),
    updatedAt: assumed(Moment, 'When the order last changed its state.'),
  },
  {
    title: 'Order',
    description: 'An order.',
    examples: [{ ...example, status: 'PLACED', createdAt: '2026-11-02T09:00:00Z', updatedAt: '2026-11-02T09:00:00Z' }],
  },
)
export type Order = Static<typeof Order>

/** An order as fixtures and seeding give it: a request, in any state. */
export const SeedOrder = titled(
  'SeedOrder',
  Type.Object({ ...given, ...Type.Partial(Type.Pick(Order, ['status', 'createdAt', 'updatedAt'])).properties }),
)
export type SeedOrder = Static<typeof SeedOrder>

export const OrderQuery = Type.Object(pageParameters(assumed))
export type OrderQuery = Static<typeof OrderQuery>

export const OrderList = ListOf('OrderListEnvelope', Order, assumed)
