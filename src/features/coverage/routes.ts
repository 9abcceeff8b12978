import type { ControlRoute } from '../control-route.js'
import { route } from '../control-route.js'
import { ClientQuery } from '../schemas.js'
import { answerCoverage } from './answer.js'
import { CoverageReport } from './schemas.js'

/** The call of the coverage. */
export const coverageRoutes: readonly ControlRoute[] = [
  route({
    method: 'GET',
    url: '/coverage',
    operationId: 'getCoverage',
    summary: 'The operations, statuses, error codes, states and pages that the app has met since its reset, or missed',
    description:
      'Only requests of the API count, and only those with an answer. Only errors that an app has to handle can ' +
      'be missed. A request that prefers HTML gets a page.',
    querystring: ClientQuery,
    response: CoverageReport,
    hasPage: true,
    handle: ({ tenant, request, reply, ...context }) => answerCoverage(tenant().clientId, request, reply, context),
  }),
]
