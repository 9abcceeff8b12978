import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { Type } from '@sinclair/typebox'
import { sepaHint } from '../../core/domain/identifiers.js'
import { RegionHeader } from '../../core/domain/schemas.js'
import { documented } from '../../core/schemas.js'
import { hint } from '../../http/hints.js'
import { withClient } from '../../http/request-context.js'
import { failures } from '../../http/schemas.js'
import { CancelPayoutLink, NewPayoutLink, PayoutLink, PayoutLinkParams } from './schemas.js'

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
        'x-fidelity': 'assumed',
        'x-fidelity-note': 'The service documents the request and its regions, but not its method and path.',
        description: 'The service documents no way to read a link: `GET /_sandbox/payout-links/{payoutLinkId}` does.',
        'x-error-codes': [
          'RECORD_LIMIT_REACHED',
          'REGION_CURRENCY_MISMATCH',
          'PAYOUT_METHOD_MISMATCH',
          'AMOUNT_LIMIT_EXCEEDED',
          'ORIGIN_NOT_ALLOWED',
        ],
        headers,
        body: NewPayoutLink,
        response: { 201: PayoutLink, ...failures },
      },
    },
    (request, reply) => {
      const { region, publicUrl } = request.sandbox
      if (region === 'EU') hint(request, sepaHint('accountHolderName', request.body.accountHolderName, 'name'))
      reply.code(201)
      return withClient(request, ({ payoutLinks }) => payoutLinks.create(request.body, region, publicUrl))
    },
  )

  app.patch(
    '/:payoutLinkId/cancel',
    {
      schema: {
        operationId: 'cancelPayoutLink',
        summary: 'Cancel a payout link that has not been claimed',
        'x-fidelity': 'documented',
        description:
          'ACTIVE, REJECTED and EXPIRED links become CANCELLED. A link that was claimed is 409 PAYOUT_LINK_ALREADY_CLAIMED. ' +
          'One that is CANCELLED already is 409 PAYOUT_LINK_NOT_CANCELLABLE, and keeps its first comment.',
        'x-error-codes': ['PAYOUT_LINK_NOT_FOUND', 'PAYOUT_LINK_ALREADY_CLAIMED', 'PAYOUT_LINK_NOT_CANCELLABLE'],
        'x-example': { payoutLinkId: 'PL-ACME-EU-0013' },
        headers,
        params: PayoutLinkParams,
        body: CancelPayoutLink,
        response: { 204: documented(Type.Null(), 'The link is cancelled. No content.'), ...failures },
      },
    },
    (request, reply) => {
      reply.code(204)
      return withClient(request, ({ payoutLinks }) => {
        payoutLinks.cancel(request.sandbox.region, request.params.payoutLinkId, request.body)
        return null
      })
    },
  )

  done()
}
