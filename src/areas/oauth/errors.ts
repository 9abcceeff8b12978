import type { ApiError, ErrorCode, ErrorEnvelope } from '../../core/errors.js'

/** The error envelope with the two members that RFC 6749 §5.2 adds. */
export interface OAuthError extends ErrorEnvelope {
  readonly error: string
  readonly error_description: string
}

/** The error codes of RFC 6749 §5.2, and of §4.1.2.1 for cases that §5.2 does not list. */
const oauthErrors: Partial<Record<ErrorCode, string>> = {
  INVALID_CLIENT: 'invalid_client',
  UNSUPPORTED_GRANT_TYPE: 'unsupported_grant_type',
  INTERNAL_ERROR: 'server_error',
  SERVICE_UNAVAILABLE: 'temporarily_unavailable',
}

/** The envelope as stock OAuth clients understand it. The description has only the characters that RFC 6749 allows. */
export function toOAuthError({ code, status, envelope, message }: ApiError): OAuthError {
  return {
    ...envelope,
    error:
      (envelope.field === 'scope' ? 'invalid_scope' : oauthErrors[code]) ??
      (status < 500 ? 'invalid_request' : 'server_error'),
    error_description: message.replace(/["\\]/g, "'").replace(/[^\x20-\x7e]/g, '?'),
  }
}
