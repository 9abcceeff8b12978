import type { FastifyReply, FastifyRequest } from 'fastify'
import { formatInstant } from '../../core/time/time.js'
import { FORM } from '../../http/form.js'
import { operationOf } from '../../http/operations.js'
import type { Tenant } from '../../tenants/tenant.js'
import type { RecordedRequest } from './file-format.js'
import { toAnswer } from './file-format.js'
import type { Recorded, Recorder } from './recorder.js'

declare module '../../http/request-context.js' {
  interface RequestContext {
    /** The recorded request; undefined where it was not recorded. */
    recorded?: Recorded | null
  }
}

/**
 * Records a request in its turn, before its handler. The order of a recording is therefore the order of the changes.
 * @param body the body to record, where it is not that of the request
 * @param query likewise
 */
export function record(
  recorder: Recorder,
  request: FastifyRequest,
  tenant: Tenant,
  realNow: number,
  body: unknown = recordableBody(request),
  query: unknown = request.query,
): void {
  const { method, params, sandbox, headers } = request
  const { upload, route } = sandbox
  const recorded: RecordedRequest = {
    at: formatInstant(tenant.clock.now()),
    receivedAt: new Date(realNow).toISOString(),
    operation: method === 'HEAD' ? operationOf(request).replace('GET', 'HEAD') : operationOf(request),
    ...(headers['x-region'] !== undefined && { region: sandbox.region }),
    params: params as Record<string, string>,
    query: route.schema?.querystring === undefined ? {} : (query as Record<string, unknown>),
    ...(body !== undefined && body !== null && { body }),
    ...(upload !== undefined && {
      file: { fileName: upload.fileName, contentBase64: upload.content.toString('base64') },
    }),
    publicUrl: sandbox.publicUrl,
  }
  sandbox.recorded = recorder.add(tenant, recorded)
}

/** A secret makes no difference to a replay. */
const recordableBody = ({ body, sandbox: { route } }: FastifyRequest) =>
  route.config.consumes === FORM ? { ...(body as object), client_secret: '***' } : body

/** Records the answer of a recorded request, delivered or not: a replay must give the same. */
export function recordAnswer(recorder: Recorder, request: FastifyRequest, reply: FastifyReply, payload: unknown): void {
  const { method, sandbox } = request
  // The answer to a token request holds a token.
  if (!sandbox.recorded || sandbox.route.config.consumes === FORM) return
  const hasContent = typeof payload === 'string' && method !== 'HEAD' && reply.statusCode !== 204
  recorder.answer(sandbox.recorded, toAnswer(reply.statusCode, hasContent ? payload : ''))
}
