import type { FastifyPluginCallback } from 'fastify'
import { listErrors, listReasonCodes } from './catalogues/routes.js'
import {
  createToken,
  expireTokens,
  forkClient,
  listClients,
  removeClient,
  resetClient,
  verifyCredentials,
} from './clients/routes.js'
import { advanceClock, getClock, listUpcoming, updateClock } from './clock/routes.js'
import { getCoverage } from './coverage/routes.js'
import { clearDeprecations, listDeprecations, replaceDeprecations } from './deprecations/routes.js'
import { listEvents } from './events/routes.js'
import { getEvidence } from './evidence/routes.js'
import { armFault, clearFaults, listFaults, removeFault } from './faults/routes.js'

import { listKinds, recordRoutes, searchRecords } from './kinds/routes.js'
import { armOutcome, clearOutcomes, listOutcomes, removeOutcome } from './outcomes/routes.js'
import { checkLiveness, checkReadiness, getOpenApiDocument, getOverview } from './overview/routes.js'
import { addRoutes } from './register.js'
import { clearRequests, getRequest, listRequests, verifyRequests } from './request-log/routes.js'
import type { About, ControlPlane, ControlRoute } from './route.js'
import { DELETE, GET, PATCH, POST, PUT } from './route.js'
import { describeScenario, listScenarios, runScenario } from './scenarios/routes.js'
import { getSettings, updateSettings } from './settings/routes.js'
import { getState, restoreState, seedRecords } from './state/routes.js'

/** The calls below /_sandbox, in the order of docs/control-plane-reference.md. `?client=` names the tenant of a call. */
const routes: readonly ControlRoute[] = [
  GET('', { getOverview }),
  GET('/health/live', { checkLiveness }),
  GET('/health/ready', { checkReadiness }),
  GET('/openapi.json', { getOpenApiDocument }),
  GET('/clients', { listClients }),
  POST('/credentials/verify', { verifyCredentials }),
  POST('/reset', { resetClient }),
  POST('/seed', { seedRecords }),
  GET('/state', { getState }),
  PUT('/state', { restoreState }),
  POST('/fork', { forkClient }),
  DELETE('/clients/:clientId', { removeClient }),
  GET('/clock', { getClock }),
  PATCH('/clock', { updateClock }),
  POST('/clock/advance', { advanceClock }),
  GET('/upcoming', { listUpcoming }),
  GET('/search', { searchRecords }),
  // The calls of each kind of records, such as GET /mandates and POST /mandates/:mandateReference/activate.
  recordRoutes,
  GET('/scenarios', { listScenarios }),
  GET('/scenarios/:name', { describeScenario }),
  POST('/scenarios/:name', { runScenario }),
  GET('/outcomes', { listOutcomes }),
  POST('/outcomes', { armOutcome }),
  DELETE('/outcomes', { clearOutcomes }),
  DELETE('/outcomes/:id', { removeOutcome }),
  GET('/reason-codes', { listReasonCodes }),
  GET('/errors', { listErrors }),
  GET('/kinds', { listKinds }),
  GET('/events', { listEvents }),
  GET('/requests/:seq', { getRequest }),
  GET('/requests', { listRequests }),
  DELETE('/requests', { clearRequests }),
  POST('/requests/verify', { verifyRequests }),
  GET('/coverage', { getCoverage }),
  GET('/evidence', { getEvidence }),
  GET('/faults', { listFaults }),
  POST('/faults', { armFault }),
  DELETE('/faults', { clearFaults }),
  DELETE('/faults/:id', { removeFault }),
  GET('/settings', { getSettings }),
  PUT('/settings', { updateSettings }),
  GET('/deprecations', { listDeprecations }),
  PUT('/deprecations', { replaceDeprecations }),
  DELETE('/deprecations', { clearDeprecations }),
  POST('/tokens', { createToken }),
  POST('/tokens/expire', { expireTokens }),
].flat()

/** The control plane, below /_sandbox. */
export const controlRoutes: FastifyPluginCallback<{ about: About; context: ControlPlane }> = (
  app,
  { about, context },
  done,
) => {
  addRoutes(app, { ...context, about, routes })
  done()
}
