import type { Lifecycle } from '../../../src/core/records/lifecycle.js'

export const ORDER_STATUSES = ['PLACED', 'SHIPPED'] as const
export type OrderStatus = (typeof ORDER_STATUSES)[number]
export type OrderTransition = 'ship'

export const orderLifecycle: Lifecycle<OrderStatus, OrderTransition> = {
  PLACED: { ship: 'SHIPPED' },
  SHIPPED: {},
}
