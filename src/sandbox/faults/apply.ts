import type { FastifyRequest } from 'fastify'
import type { ErrorCode } from '../../core/errors.js'
import { ApiError, catalogue, errors } from '../../core/errors.js'
import { FORM } from '../../http/form.js'
import { pathOf } from '../../http/url.js'
import type { Effect, Faults } from './state.js'

interface Faulty {
  readonly faults: Faults
}

/** Whether an operation takes an access token. Only the token request does not. */
const takesToken = ({ sandbox: { route } }: FastifyRequest) => route.config.consumes !== FORM

const targetOf = (request: FastifyRequest) => ({
  method: request.method,
  path: pathOf(request.url),
  region: takesToken(request) ? request.sandbox.region : undefined,
})

/** Whether an armed fault applies to a request. Counts nothing. */
export const hasFault = (request: FastifyRequest, { faults }: Faulty, realNow: number): boolean =>
  faults.matches(targetOf(request), realNow)

/**
 * Applies the armed faults to a request that they match, and counts it. `faultDelivery` does the rest.
 * @throws the error of a fault that keeps the request from being applied
 */
export function applyFaults(request: FastifyRequest, { faults }: Faulty, realNow: number): void {
  if (!faults.matches(targetOf(request), realNow)) return
  const applied = faults.apply(targetOf(request), realNow)
  request.sandbox.faults = applied
  const { effect } = applied
  if (effect === null) return
  if (effect.kind === 'error') throw faultError(effect, takesToken(request))
  if (effect.kind === 'stale-token') throw errors.expiredToken()
  if ('when' in effect && effect.when === 'before') {
    throw errors.unavailable('Cut off by a fault before it was applied.')
  }
}

/** The challenges that refusals of credentials carry (decisions §3). */
const CHALLENGES: ReadonlyMap<string, Readonly<Record<string, string | string[]>>> = new Map(
  [errors.missingToken(), errors.invalidToken(), errors.expiredToken(), errors.invalidClient()].map(
    ({ code, headers }) => [code, headers],
  ),
)

/** Makes the error of a fault: any status, and any code, also one that is in no catalogue. */
function faultError(effect: Extract<Effect, { kind: 'error' }>, takesToken: boolean): ApiError {
  const {
    status,
    code = codeOf(status, takesToken),
    message = `Answered by a fault: ${status}.`,
    retryAfter,
    headers = {},
  } = effect
  const hasRetryAfter = retryAfter !== undefined || status === 429
  return new ApiError(
    code as ErrorCode,
    null,
    message,
    {
      ...(status === 401 && CHALLENGES.get(code)),
      ...(hasRetryAfter && { 'retry-after': String(retryAfter ?? 1) }),
      ...lowerCased(headers),
    },
    status,
  )
}

/** In lower case, a header of a fault replaces the server's own. */
const lowerCased = (headers: Readonly<Record<string, string>>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** The code of a status for which a fault names none. */
function codeOf(status: number, takesToken: boolean): string {
  if (status === 503) return 'SERVICE_UNAVAILABLE'
  if (status === 401) return takesToken ? 'INVALID_TOKEN' : 'INVALID_CLIENT'
  const known = Object.entries(catalogue).find(([, entry]) => entry.status === status)?.[0]
  return known ?? (status < 500 ? 'MALFORMED_REQUEST' : 'INTERNAL_ERROR')
}
