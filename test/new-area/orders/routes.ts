import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { RegionHeader } from '../../../src/core/domain/schemas.js'
import { assumed } from '../../../src/core/schemas.js'
import { withClient } from '../../../src/http/request-context.js'
import { failures } from '../../../src/http/schemas.js'
import { NewOrder, Order, OrderList, OrderQuery } from './schemas.js'
import type { OrderStore } from './store.js'

const common = {
  'x-fidelity': 'assumed',
  'x-fidelity-note': 'Exists only in a test.',
  headers: RegionHeader(assumed, 'EU'),
} as const

// The types of the server have no orders.
const ordersOf = (tenant: unknown) => (tenant as { orders: OrderStore }).orders

/** /api/v1/orders */
export const orderRoutes: FastifyPluginCallbackTypebox = (app, _options, done) => {
  app.post(
    '',
    {
      schema: {
        operationId: 'createOrder',
        summary: 'Place an order',
        description: 'The order is SHIPPED a day later.',
        'x-error-codes': ['DUPLICATE_REFERENCE'],
        ...common,
        body: NewOrder,
        response: { 201: Order, ...failures },
      },
    },
    (request, reply) => {
      reply.code(201)
      return withClient(request, tenant => ordersOf(tenant).create(request.body, request.sandbox.region))
    },
  )

  app.get(
    '',
    {
      schema: {
        operationId: 'listOrders',
        summary: 'List orders, newest first',
        description: 'All orders of the tenant.',
        ...common,
        querystring: OrderQuery,
        response: { 200: OrderList, ...failures },
      },
    },
    request => withClient(request, tenant => ordersOf(tenant).list(request.sandbox.region, request.query)),
  )

  done()
}
