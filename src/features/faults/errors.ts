import type { ErrorCode } from '../../core/errors.js'
import { ApiError, catalogue, errors } from '../../core/errors.js'
import type { Effect } from './state.js'

/** The challenges that refusals of credentials carry (decisions §3). */
const CHALLENGES: ReadonlyMap<string, Readonly<Record<string, string | string[]>>> = new Map(
  [errors.missingToken(), errors.invalidToken(), errors.expiredToken(), errors.invalidClient()].map(
    ({ code, headers }) => [code, headers],
  ),
)

/** Makes the error of a fault: any status, and any code, also one that is in no catalogue. */
export function faultError(effect: Extract<Effect, { kind: 'error' }>, takesToken: boolean): ApiError {
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
