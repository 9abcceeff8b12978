import { LARGE } from '../../http/large-answers.js'
import { inSlices } from '../../http/slices.js'
import type { ControlRoute } from '../control-route.js'
import { route } from '../control-route.js'
import { Cleared, ClientQuery } from '../schemas.js'
import * as schemas from './schemas.js'
import { verify } from './verify.js'

/** The maximum size of an expectation in bytes: each request is compared with it. */
const MOST_EXPECTED = 512 * 1024

/** The calls of the request log. */
export const requestRoutes: readonly ControlRoute[] = [
  route({
    method: 'GET',
    url: '/requests',
    operationId: 'listRequests',
    summary: 'What the app under test sent and got, secrets masked',
    description:
      'The log has requests of the API and the token endpoint, but no calls of the control plane. A request ' +
      'without a known client is in the log of `sandbox-client`. The oldest requests are dropped at the limits ' +
      '`SANDBOX_REQUEST_LOG_ENTRIES` and `SANDBOX_REQUEST_LOG_BYTES`.',
    querystring: schemas.RequestQuery,
    response: schemas.RequestList,
    async handle({ requestLog, tenant, client, query, reply, largeAnswers }) {
      tenant()
      const list = () => requestLog.list(client, query)
      return (await requestLog.bytes(client)) <= LARGE ? list() : largeAnswers.send(reply, list)
    },
  }),
  route({
    method: 'DELETE',
    url: '/requests',
    operationId: 'clearRequests',
    summary: 'Empty the request log',
    description: 'The numbers of later requests continue.',
    isRecorded: false,
    querystring: ClientQuery,
    response: Cleared,
    handle: ({ requestLog, tenant, client }) => {
      tenant()
      return Promise.resolve(requestLog.clear(client)).then(removed => ({ removed }))
    },
  }),
  route({
    method: 'POST',
    url: '/requests/verify',
    operationId: 'verifyRequests',
    summary: 'Whether the app sent such requests, and how often; if not, the nearest misses',
    description:
      'The answer is 200 even if `matched` is false. Only requests that are still in the log are compared. A ' +
      'request matches if it has all given values. The expected number is `times`, or `atLeast` and `atMost`; by ' +
      'default at least one. An expectation has at most 512 KiB.',
    isRecorded: false,
    bodyLimit: MOST_EXPECTED,
    querystring: ClientQuery,
    body: schemas.Verification,
    response: schemas.VerificationResult,
    async handle({ requestLog, tenant, client, body, elapsed }) {
      tenant()
      return inSlices(verify(await requestLog.list(client), body), elapsed)
    },
  }),
]
