import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { RegionHeader } from '../../core/domain/schemas.js'
import { named } from '../../core/schemas.js'
import { withClient } from '../../http/request-context.js'
import { failures } from '../../http/schemas.js'
import { AccountList, AccountQuery } from './schemas.js'

/** /api/v1/accounts: the area is documented, its path is not (decisions §10). */
export const accountRoutes: FastifyPluginCallbackTypebox = (app, _options, done) => {
  app.get(
    '',
    {
      schema: {
        operationId: 'listAccounts',
        summary: "List the tenant's accounts",
        'x-fidelity': 'assumed',
        'x-fidelity-note':
          'The service mentions accounts and a validation of their query parameters, but no operation.',
        description: 'The accounts of the tenant in the region, newest first.',
        headers: RegionHeader(named, 'EU', 'IN', 'US', 'UK'),
        querystring: AccountQuery,
        response: { 200: AccountList, ...failures },
      },
    },
    request => withClient(request, ({ accounts }) => accounts.list(request.sandbox.region, request.query)),
  )

  done()
}
