import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { documented, failures, RegionHeader } from '../../schemas.js'
import { CancelPayoutLink, NewPayoutLink, PayoutLink, PayoutLinkParams } from './schemas.js'

const tags = ['payout-links']
const headers = RegionHeader(documented, 'EU', 'US', 'UK')

/**
 * /api/v1/payout-links: cancelling is documented in full, creation without its path (interface, Other endpoints).
 * No way to read a link is documented, so there is none here: the control plane reads them.
 */
export const payoutLinkRoutes: FastifyPluginCallbackTypebox = (app, _options, done) => {
  app.post(
    '',
    {
      schema: {
        operationId: 'createPayoutLink',
        summary: 'Create a payout link',
        tags,
        'x-fidelity': 'assumed',
        headers,
        body: NewPayoutLink,
        response: { 201: PayoutLink, ...failures },
      },
    },
    (request, reply) => {
      reply.code(201)
      return request.sandbox.tenant.payoutLinks.create(request.sandbox.region, request.body)
    },
  )

  app.patch(
    '/:payoutLinkId/cancel',
    {
      schema: {
        operationId: 'cancelPayoutLink',
        summary: 'Cancel a payout link that has not been claimed',
        tags,
        'x-fidelity': 'documented',
        headers,
        params: PayoutLinkParams,
        body: CancelPayoutLink,
        response: { 204: Type.Null(), ...failures },
      },
    },
    (request, reply) => {
      request.sandbox.tenant.payoutLinks.cancel(request.sandbox.region, request.params.payoutLinkId, request.body)
      reply.code(204).send(null)
    },
  )

  done()
}
