import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import { failures, named, RegionHeader } from '../../schemas.js'
import { AccountList, AccountQuery } from './schemas.js'

/** /api/v1/accounts: the area is documented, its path is not (decisions §10). */
export const accountRoutes: FastifyPluginCallbackTypebox = (app, _options, done) => {
  app.get(
    '',
    {
      schema: {
        operationId: 'listAccounts',
        summary: "List the tenant's accounts",
        tags: ['accounts'],
        'x-fidelity': 'assumed',
        headers: RegionHeader(named, 'EU', 'IN', 'US', 'UK'),
        querystring: AccountQuery,
        response: { 200: AccountList, ...failures },
      },
    },
    request => request.sandbox.tenant.accounts.list(request.sandbox.region, request.query),
  )

  done()
}
