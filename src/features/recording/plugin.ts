import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { errors } from '../../core/errors.js'
import { formatInstant } from '../../core/time/time.js'
import { FORM } from '../../http/form.js'
import { operationOf } from '../../http/operations.js'
import { isRead, pathOf } from '../../http/url.js'
import type { Tenant } from '../../tenants/tenant.js'
import { faultError } from '../faults/errors.js'
import type { AppliedFaults } from '../faults/state.js'
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
 * Records a valid request, then applies its faults. Nothing may wait between `pass…` and the end of the handler, so
 * that the order of a recording is the order in which requests were applied.
 */
export interface RequestRecorder {
  /**
   * Returns the record of a request of the API; undefined: it changes nothing that a replay needs.
   * Reads and token requests have a record only where a fault matches.
   */
  recordApi(request: FastifyRequest, tenant: Tenant, realNow: number): RecordedRequest | undefined
  /**
   * Returns the record of a claim or decline on the page of a payout link, with a body that has no secrets. Its answer is
   * a page, which a replay does not compare.
   */
  recordPage(request: FastifyRequest, tenant: Tenant, realNow: number, body: object): RecordedRequest
  /** Returns the record of a call of the control plane that changes the tenant. */
  recordControl(request: FastifyRequest, tenant: Tenant, realNow: number): RecordedRequest
  /** Lets a request of the API pass. Throws OPERATION_SUNSET, and the error of a fault. */
  passApi(request: FastifyRequest, tenant: Tenant, recorded: RecordedRequest | undefined, realNow: number): void
  passControl(request: FastifyRequest, tenant: Tenant, recorded: RecordedRequest): void
}

export function createRequestRecorder(recorder: Recorder): RequestRecorder {
  const add = (request: FastifyRequest, tenant: Tenant, recorded: RecordedRequest) => {
    request.sandbox.recorded = recorder.add(tenant, recorded)
  }

  return {
    recordApi(request, tenant, realNow) {
      const isWrite = takesToken(request) && !isRead(request.method)
      return isWrite || isMatched(request, tenant, realNow) ? toRecorded(request, tenant, realNow) : undefined
    },
    recordPage: (request, tenant, realNow, body) => ({
      ...toRecorded(request, tenant, realNow),
      query: { client: tenant.clientId },
      body,
    }),
    recordControl: toRecorded,
    passApi(request, tenant, recorded, realNow) {
      tenant.deprecations.assertNotSunset(operationOf(request))
      if (recorded === undefined) return
      add(request, tenant, recorded)
      if (!isMatched(request, tenant, realNow)) return
      request.sandbox.faults = tenant.faults.apply(targetOf(request), realNow)
      throwFault(request.sandbox.faults, takesToken(request))
    },
    passControl: add,
  }
}

/** Whether an operation takes an access token: all but the token request do. */
export const takesToken = ({ routeOptions }: Pick<FastifyRequest, 'routeOptions'>) =>
  routeOptions.config.consumes !== FORM

const targetOf = (request: FastifyRequest) => ({
  method: request.method,
  path: pathOf(request.url),
  region: takesToken(request) ? request.sandbox.region : undefined,
})

const isMatched = (request: FastifyRequest, { faults }: Tenant, realNow: number) =>
  !faults.isEmpty() && faults.matches(targetOf(request), realNow)

/** Records the answers of recorded requests, delivered or not: a replay must give the same. */
export const recordAnswers = fp<{ recorder: Recorder }>((app, { recorder }, done) => {
  app.addHook('onSend', ({ method, routeOptions, sandbox: { recorded } }, reply, payload, next) => {
    // The answer to a token request holds a token.
    if (recorded && routeOptions.config.consumes !== FORM) {
      const hasContent = typeof payload === 'string' && method !== 'HEAD' && reply.statusCode !== 204
      recorder.answer(recorded, toAnswer(reply.statusCode, hasContent ? payload : ''))
    }
    next()
  })
  done()
})

/** Throws the error of an effect that keeps a request from being applied. */
function throwFault({ effect }: AppliedFaults, hasToken: boolean): void {
  if (effect === null) return
  if (effect.kind === 'error') throw faultError(effect, hasToken)
  if (effect.kind === 'stale-token') throw errors.expiredToken()
  if ('when' in effect && effect.when === 'before') {
    throw errors.unavailable('Cut off by a fault before it was applied.')
  }
}

function toRecorded(request: FastifyRequest, { clock }: Tenant, realNow: number): RecordedRequest {
  const { method, params, query, sandbox, headers, routeOptions } = request
  const { upload } = sandbox
  const body = routeOptions.config.consumes === FORM ? withoutSecret(request.body) : request.body
  return {
    at: formatInstant(clock.now()),
    receivedAt: new Date(realNow).toISOString(),
    operation: method === 'HEAD' ? operationOf(request).replace('GET', 'HEAD') : operationOf(request),
    ...(headers['x-region'] !== undefined && { region: sandbox.region }),
    params: params as Record<string, string>,
    query: routeOptions.schema?.querystring === undefined ? {} : (query as Record<string, unknown>),
    ...(body !== undefined && body !== null && { body }),
    ...(upload !== undefined && {
      file: { fileName: upload.fileName, contentBase64: upload.content.toString('base64') },
    }),
  }
}

/** A secret makes no difference to a replay. */
const withoutSecret = (body: unknown) => ({ ...(body as object), client_secret: '***' })
