import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errors } from './core/errors.js'
import type { Met } from './core/faults.js'
import { isContent } from './http/answer-cache.js'
import { askedError } from './http/asked-errors.js'
import { refuseGone } from './http/deprecation.js'
import { FORM } from './http/forms.js'
import { isRead, pathOf } from './http/routing.js'
import { withoutParameters } from './http/validation.js'
import type { RecordedBody, RecordedRequest, Recordings } from './recording.js'
import type { Tenant } from './sandbox.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The faults that it has met; null: none. */
    met: Met | null
    /** The tenant that it was recorded for, and how; null: it changes nothing. */
    recorded: { readonly tenant: Tenant; readonly request: RecordedRequest } | null
  }
}

/** Where a request is written down before it is applied. @throws SERVICE_UNAVAILABLE: it must not be applied then */
export interface Ledger {
  append(tenant: Tenant, request: RecordedRequest): void
}

export interface GateOptions {
  readonly recordings: Recordings
  /** What must outlast the process; undefined: nothing. */
  readonly ledger: Ledger | undefined
  now(): number
}

/**
 * The one point at which a request meets the state of its tenant, after it has been found good. What happens here and in
 * the handler behind it happens in one go, so that the order of the recording is the order in which things came about:
 * it is written down, then the faults that are armed for it fire, then it is applied.
 */
export interface Gate {
  /**
   * Lets a request of the API pass.
   * @throws OPERATION_SUNSET, SERVICE_UNAVAILABLE (it cannot be written down), what a fault asks for
   */
  passApi(request: FastifyRequest, tenant: Tenant): void
  /** Lets a call of the control plane pass that changes the tenant. @throws SERVICE_UNAVAILABLE */
  passControl(request: FastifyRequest, tenant: Tenant, realNow: number): void
  /** Records what came of a request: delivered or not, it is what a replay must come to, too. */
  answered(request: FastifyRequest, reply: FastifyReply, payload: unknown): void
}

export function installGate(app: FastifyInstance, { recordings, ledger, now }: GateOptions): Gate {
  app.decorateRequest('met', null)
  app.decorateRequest('recorded', null)

  function record(request: FastifyRequest, tenant: Tenant, realNow: number) {
    const recorded = toRecorded(request, tenant, realNow)
    ledger?.append(tenant, recorded)
    recordings.add(tenant, recorded)
    request.recorded = { tenant, request: recorded }
  }

  return {
    passApi(request, tenant) {
      const { faults, deprecations } = tenant.world
      const { method } = request
      // While the body came in, the operation may have gone: a replay has it there at once.
      refuseGone(request, deprecations)
      if (!faults.areAny()) {
        if (!isRead(method)) record(request, tenant, now())
        return
      }
      const faulted = {
        method,
        path: pathOf(request.url),
        region: request.route.regions && request.region,
      }
      // One reading of the time for all that depends on it, or a replay could come to something else.
      const realNow = now()
      const isConcerned = faults.concern(faulted, realNow)
      if (isConcerned || !isRead(method)) record(request, tenant, realNow)
      if (!isConcerned) return
      request.met = faults.meet(faulted, realNow)
      refuse(request.met, faulted.region !== undefined)
    },
    passControl: record,
    answered(request, reply, payload) {
      if (request.recorded === null) return
      const { tenant, request: recorded } = request.recorded
      const hasContent = isContent(payload) && request.method !== 'HEAD' && reply.statusCode !== 204
      recordings.answered(tenant, recorded, reply.statusCode, hasContent ? payload : '')
    },
  }
}

/** Refuses what a fault keeps from being applied. */
function refuse({ effect }: Met, takesToken: boolean): void {
  if (effect === null) return
  if (effect.kind === 'error') throw askedError(effect, takesToken)
  if (effect.kind === 'stale-token') throw errors.expiredToken()
  if ('when' in effect && effect.when === 'before')
    throw errors.unavailable('Cut off by a fault before it was applied.')
}

function toRecorded(request: FastifyRequest, { world }: Tenant, realNow: number): RecordedRequest {
  const { method, url, headers } = request
  return {
    at: world.clock.now(),
    receivedAt: realNow,
    method,
    url,
    region: headers['x-region'] as string | undefined,
    contentType: mediaTypeOf(headers['content-type']),
    body: readBody(request),
    bodyBytes: request.bytes?.length ?? 0,
    answer: null,
  }
}

/** A Content-Type without the parameters that nobody reads. */
const mediaTypeOf = (contentType: string | undefined) =>
  contentType === undefined || /^multipart\//i.test(contentType) ? contentType : withoutParameters(contentType)

/** A longer body is written as text at once, of which no more is kept than that. */
const LONGEST_VALUE = 2048

/** What of the body the operation reads. */
function readBody({ bytes, body, route }: FastifyRequest): RecordedBody | null {
  const { config, schemas } = route
  if (bytes === null || bytes.length === 0) return null
  if (config.consumes === FORM) return { kind: 'form', value: body as Record<string, string> }
  if (config.consumes !== undefined) return { kind: 'multipart', value: bytes }
  if (schemas.body === undefined) return null
  return bytes.length > LONGEST_VALUE
    ? { kind: 'text', value: JSON.stringify(body) }
    : { kind: 'json', value: body as object }
}
