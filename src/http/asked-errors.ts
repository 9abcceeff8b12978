import type { ErrorCode } from '../core/errors.js'
import { catalogue, SandboxError } from '../core/errors.js'
import type { Effect } from '../core/faults.js'

/** The error that a fault asks for: any status, and any code, also one that is in no catalogue. */
export function askedError(effect: Extract<Effect, { kind: 'error' }>): SandboxError {
  const { status, code = codeOf(status), message = `Asked for by a fault: ${status}.`, retryAfter, headers } = effect
  const hasRetryAfter = retryAfter !== undefined || status === 429
  return new SandboxError(
    code as ErrorCode,
    null,
    message,
    { ...(hasRetryAfter && { 'retry-after': String(retryAfter ?? 1) }), ...headers },
    status,
  )
}

/** The code of a status for which a fault names none. */
function codeOf(status: number): string {
  if (status === 503) return 'SERVICE_UNAVAILABLE'
  const known = Object.entries(catalogue).find(([, entry]) => entry.status === status)?.[0]
  return known ?? (status < 500 ? 'MALFORMED_REQUEST' : 'INTERNAL_ERROR')
}
