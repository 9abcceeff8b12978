import { errors } from '../../core/errors.js'
import { JSON_TYPE } from '../../http/error-handler.js'
import { call } from '../route.js'
import { Cleared } from '../schemas.js'
import { HAR_TYPE, toHar } from './har.js'
import { awaitRequest } from './read.js'
import * as schemas from './schemas.js'
import { verify } from './verify.js'

/** The maximum size of an expectation in bytes: each request is compared with it. */
const MOST_EXPECTED = 512 * 1024

export const getRequest = call({
  errors: ['REQUEST_NOT_FOUND'],
  summary: 'One request of the log with its answer, secrets masked',
  params: schemas.RequestParams,
  response: schemas.LoggedRequest,
  async handle(call) {
    const { requestLog, tenant, client } = call
    const { seq } = call.params
    tenant()
    const { data } = await requestLog.list(client, { after: Number(seq) - 1, before: Number(seq) + 1 })
    const [logged] = data
    if (logged === undefined) throw errors.requestNotFound(seq)
    return logged
  },
})

export const listRequests = call({
  summary: 'What the app under test sent and got, secrets masked; ?wait= waits for the next',
  description:
    'The log has requests of the API and the token endpoint, but no calls of the control plane. A request ' +
    'without a known client is in the log of `sandbox-client`. The oldest requests are dropped at the limits ' +
    '`SANDBOX_REQUEST_LOG_ENTRIES` and `SANDBOX_REQUEST_LOG_BYTES`. With `format=har`, the answer is a HAR 1.2 ' +
    'document, which `payments-sandbox replay` takes. With `wait`, an answer without requests waits for the next one that matches. With a reset, numbers ' +
    'start at 1 again, and a wait ends.',
  querystring: schemas.RequestQuery,
  response: schemas.RequestList,
  otherTypes: { [HAR_TYPE]: schemas.Har },
  async handle({ client, query, request, reply, ...context }) {
    const { requestLog, tenant, registry, steering } = context
    const { clientId } = tenant()
    const after = await awaitRequest(client, query, request, context)
    const { data, last, dropped } = await requestLog.list(client, { ...query, after })
    if (query.format !== 'har') {
      reply.type(JSON_TYPE)
      return JSON.stringify({ data, last, dropped })
    }
    reply.type(HAR_TYPE)
    reply.header('content-disposition', `attachment; filename="requests-${encodeURIComponent(clientId)}.har"`)
    // Other servers note what they have changed for themselves.
    const isComplete = data.length === last && !requestLog.isShared
    const steeredBy = [...(steering.get(clientId) ?? [])]
    return JSON.stringify(toHar(data, request.sandbox.publicUrl, { seed: registry.seed, isComplete, steeredBy }))
  },
})

export const clearRequests = call({
  summary: 'Empty the request log',
  description: 'The numbers of later requests continue.',
  isChange: false,
  response: Cleared,
  handle: ({ requestLog, tenant, client }) => {
    tenant()
    return Promise.resolve(requestLog.clear(client)).then(removed => ({ removed }))
  },
})

export const verifyRequests = call({
  command: 'verify [FILE]',
  summary: 'Whether the app sent such requests, and how often; if not, the nearest misses',
  description:
    'The answer is 200 even if `matched` is false. Only requests that are still in the log are compared. A ' +
    'request matches if it has all given values. The expected number is `times`, or `atLeast` and `atMost`; by ' +
    'default at least one. An expectation has at most 512 KiB.',
  isChange: false,
  bodyLimit: () => MOST_EXPECTED,
  body: schemas.Verification,
  response: schemas.VerificationResult,
  async handle(call) {
    const { requestLog, tenant, client, body } = call
    tenant()
    return verify(await requestLog.list(client), body)
  },
})
