import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { sepaHint } from '../../core/domain/identifiers.js'
import { RegionHeader } from '../../core/domain/schemas.js'
import { documented, named } from '../../core/schemas.js'
import { hint } from '../../http/hints.js'
import { withClient } from '../../http/request-context.js'
import { failures } from '../../http/schemas.js'
import { Mandate, MandateList, MandateParams, MandateQuery, NewMandate } from './schemas.js'

/** The interface states the regions of these operations, and of no other of this area. */
const statedRegions = RegionHeader(documented, 'EU')
const headers = RegionHeader(named, 'EU')

/** /api/v1/mandates: paths documented (interface, Other endpoints), payloads assumed (decisions §7). */
export const mandateRoutes: FastifyPluginCallbackTypebox = (app, _options, done) => {
  app.post(
    '',
    {
      schema: {
        operationId: 'createMandate',
        summary: 'Create a SEPA mandate',
        'x-fidelity': 'documented',
        description: 'The mandate is ACTIVE at once, unless a setting of the control plane holds new mandates PENDING.',
        'x-error-codes': ['DUPLICATE_REFERENCE', 'RECORD_LIMIT_REACHED'],
        headers: statedRegions,
        body: NewMandate,
        response: { 201: Mandate, ...failures },
      },
    },
    (request, reply) => {
      const { mandateReference, creditor, debtor } = request.body
      hint(request, sepaHint('mandateReference', mandateReference, 'reference'))
      hint(request, sepaHint('creditor.name', creditor.name, 'name'))
      hint(request, sepaHint('debtor.name', debtor.name, 'name'))
      reply.code(201)
      return withClient(request, ({ mandates }) => mandates.create(request.body))
    },
  )

  app.get(
    '',
    {
      schema: {
        operationId: 'listMandates',
        summary: 'List mandates, newest first',
        'x-fidelity': 'documented',
        description: 'Filters combine with AND; the values of an array filter combine with OR.',
        headers,
        querystring: MandateQuery,
        response: { 200: MandateList, ...failures },
      },
    },
    request => withClient(request, ({ mandates }) => mandates.list(request.query)),
  )

  app.get(
    '/:mandateReference',
    {
      schema: {
        operationId: 'getMandate',
        summary: 'Read one mandate',
        'x-fidelity': 'documented',
        description: 'A mandate expires after 36 months without a presented collection.',
        'x-error-codes': ['MANDATE_NOT_FOUND'],
        headers,
        params: MandateParams,
        response: { 200: Mandate, ...failures },
      },
    },
    request => withClient(request, ({ mandates }) => mandates.get(request.params.mandateReference)),
  )

  app.delete(
    '/:mandateReference',
    {
      schema: {
        operationId: 'cancelMandate',
        summary: 'Cancel an active mandate',
        'x-fidelity': 'documented',
        description: 'The mandate becomes CANCELLED, and so do its PENDING collections. Later ones stay as they are.',
        'x-example': { mandateReference: 'MND-ACME-0014' },
        'x-error-codes': ['MANDATE_NOT_FOUND', 'MANDATE_NOT_ACTIVE'],
        headers,
        params: MandateParams,
        response: { 200: Mandate, ...failures },
      },
    },
    request => withClient(request, ({ mandates }) => mandates.cancel(request.params.mandateReference)),
  )

  done()
}
