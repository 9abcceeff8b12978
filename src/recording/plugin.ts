import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { errors } from '../core/errors.js'
import type { AppliedFaults } from '../core/faults.js'
import { formatInstant } from '../core/time.js'
import { faultError } from '../plugins/fault-errors.js'
import { FORM } from '../plugins/form.js'
import { operationOf } from '../plugins/operations.js'
import { isRead, pathOf } from '../plugins/url.js'
import type { Tenant } from '../tenants/tenant.js'
import type { RecordedRequest } from './file-format.js'
import { toAnswer } from './file-format.js'
import type { Recorded, Recorder } from './recorder.js'

declare module '../plugins/request-context.js' {
  interface RequestContext {
    /** The recorded request; undefined where it was not recorded. */
    recorded?: Recorded | null
  }
}

/** Keeps requests beyond the process, before they are applied. */
export interface WriteAheadLog {
  /** Throws SERVICE_UNAVAILABLE: the request must not be applied. */
  append(tenant: Tenant, request: RecordedRequest): void
}

export interface RecordingOptions {
  readonly recorder: Recorder
  /** Undefined: nothing outlives the process. */
  readonly log: WriteAheadLog | undefined
}

/**
 * Records a valid request, then applies its faults. Nothing may wait between here and the end of the handler, so that
 * the order of a recording is the order in which requests were applied.
 */
export interface RequestRecorder {
  /**
   * Lets a request of the API pass. Reads are recorded only where a fault matches.
   * Throws OPERATION_SUNSET, SERVICE_UNAVAILABLE, and the error that a fault asks for.
   */
  passApi(request: FastifyRequest, tenant: Tenant, realNow: number): void
  /**
   * Records a claim or decline on the page of a payout link, with a body that has no secrets. Its answer is a page, which
   * a replay does not compare. Throws SERVICE_UNAVAILABLE.
   */
  passPage(request: FastifyRequest, tenant: Tenant, realNow: number, body: object): void
  /** Records a call of the control plane that changes the tenant. Throws SERVICE_UNAVAILABLE. */
  passControl(request: FastifyRequest, tenant: Tenant, realNow: number): void
}

export function createRequestRecorder({ recorder, log }: RecordingOptions): RequestRecorder {
  function record(request: FastifyRequest, tenant: Tenant, realNow: number) {
    const recorded = toRecorded(request, tenant, realNow)
    log?.append(tenant, recorded)
    request.sandbox.recorded = recorder.add(tenant, recorded)
  }

  return {
    passApi(request, tenant, realNow) {
      const { method, routeOptions } = request
      const takesToken = routeOptions.config.consumes !== FORM
      tenant.deprecations.assertNotSunset(operationOf(request))
      const region = takesToken ? request.sandbox.region : undefined
      const target = { method, path: pathOf(request.url), region }
      const isMatched = !tenant.faults.isEmpty() && tenant.faults.matches(target, realNow)
      // A token request changes nothing that a replay needs, unless a fault matches it.
      if (isMatched || (takesToken && !isRead(method))) record(request, tenant, realNow)
      if (!isMatched) return
      request.sandbox.faults = tenant.faults.apply(target, realNow)
      throwFault(request.sandbox.faults, takesToken)
    },
    passPage(request, tenant, realNow, body) {
      const recorded = { ...toRecorded(request, tenant, realNow), query: { client: tenant.clientId }, body }
      log?.append(tenant, recorded)
      recorder.add(tenant, recorded)
    },
    passControl: record,
  }
}

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
function throwFault({ effect }: AppliedFaults, takesToken: boolean): void {
  if (effect === null) return
  if (effect.kind === 'error') throw faultError(effect, takesToken)
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
