import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { RegionHeader } from '../../core/domain/schemas.js'
import { named } from '../../core/schemas.js'
import { withClient } from '../../http/request-context.js'
import { failures } from '../../http/schemas.js'
import { Counterparty, CounterpartyParams, CounterpartyUpdate } from './schemas.js'

/** /api/v1/counterparties: interface, Other endpoints; decisions §10. */
export const counterpartyRoutes: FastifyPluginCallbackTypebox = (app, _options, done) => {
  app.patch(
    '/:counterpartyReference',
    {
      schema: {
        operationId: 'updateCounterparty',
        summary: 'Update the details of a counterparty',
        'x-fidelity': 'documented',
        description: 'Members that are left out stay as they are. `counterpartyReference` cannot change.',
        'x-error-codes': ['COUNTERPARTY_NOT_FOUND', 'IMMUTABLE_FIELD'],
        headers: RegionHeader(named, 'EU', 'IN', 'US', 'UK'),
        params: CounterpartyParams,
        body: CounterpartyUpdate,
        response: { 200: Counterparty, ...failures },
      },
    },
    request =>
      withClient(request, ({ counterparties }) =>
        counterparties.update(request.sandbox.region, request.params.counterpartyReference, request.body),
      ),
  )

  done()
}
