import { readParameterOf } from '../http/location.js'
import type { Named, Schema } from './document.js'
import { OTHERS } from './errors.js'
import type { DocumentedRoute } from './routes.js'
import { isApi, isControl } from './routes.js'

const header = (fidelity: string, note: string | undefined, description: string, schema: Schema, example: unknown) => ({
  description,
  schema,
  example,
  'x-fidelity': fidelity,
  ...(note !== undefined && { 'x-fidelity-note': note }),
})
const text = { type: 'string' }
const OURS = 'Exists only in the sandbox.'
const STANDARD = 'The service does not document the header; the HTTP and OAuth standards define it.'

/** The response headers, by the name of their component. */
export const headers = {
  RequestId: header(
    'assumed',
    OURS,
    "The id of the request: the caller's `x-request-id` if it is at most 128 printable ASCII characters, else a new one.",
    text,
    'req-00000001',
  ),
  SandboxHint: header(
    'assumed',
    OURS,
    'What is legal, but probably not meant, such as an ignored member. Sentences are separated by `; `.',
    text,
    'unknown member colour ignored',
  ),
  SandboxClient: header(
    'assumed',
    OURS,
    'The client id of the tenant that the call acts on, percent-encoded.',
    text,
    'sandbox-client',
  ),
  Deprecation: header(
    'documented',
    'The style `rfc` of the settings sends the form of RFC 9745 instead.',
    'The operation is deprecated.',
    text,
    'true',
  ),
  Sunset: header(
    'documented',
    'The style `rfc` of the settings sends the form of RFC 8594 instead.',
    'When the operation ends.',
    { type: 'string', format: 'date-time' },
    '2027-06-30T00:00:00Z',
  ),
  WWWAuthenticate: header(
    'assumed',
    STANDARD,
    'The challenge of RFC 6750 §3.',
    text,
    'Bearer realm="payments-sandbox", error="invalid_token"',
  ),
  Allow: header('assumed', STANDARD, 'The methods of the path.', text, 'GET, HEAD, OPTIONS, POST'),
  RetryAfter: header('assumed', STANDARD, 'Seconds to wait before the next request.', { type: 'integer' }, 1),
  AcceptPatch: header('assumed', STANDARD, 'The media type that PATCH takes.', text, 'application/json'),
  AcceptEncoding: header(
    'assumed',
    STANDARD,
    'The Content-Encoding to use, if another one is refused.',
    text,
    'identity',
  ),
  Help: header(
    'assumed',
    OURS,
    'The page of the guide about the code of the error.',
    text,
    '</docs/guide/errors#MANDATE_NOT_FOUND>; rel="help"',
  ),
  Location: header(
    'assumed',
    STANDARD,
    'The path of the operation that reads the record. It needs the `x-region` of the creation.',
    text,
    '/api/v1/mandates/MND-0001',
  ),
  CacheControl: header('assumed', STANDARD, 'Tokens are not stored (RFC 6749 §5.1).', text, 'no-store'),
}

const ref = (name: keyof typeof headers) => ({ $ref: `#/components/headers/${name}` })

/**
 * The headers of a response. Only `x-request-id` is in each.
 * @param routes all routes of the document
 */
export function headersOf(route: DocumentedRoute, status: string, routes: readonly DocumentedRoute[]): Named<object> {
  const isOther = status === OTHERS
  const isError = isOther || Number(status) >= 400
  return {
    'x-request-id': ref('RequestId'),
    ...(!isControl(route) && {
      'Sandbox-Hint': ref('SandboxHint'),
      Deprecation: ref('Deprecation'),
      Sunset: ref('Sunset'),
    }),
    // Refusals have it too. Leaving it out there lets all operations share them.
    ...(isControl(route) &&
      route.method !== 'GET' &&
      Number(status) < 400 && { 'Sandbox-Client': ref('SandboxClient') }),
    ...(status === '201' &&
      isApi(route) &&
      readParameterOf(route.url, routes) !== undefined && { Location: ref('Location') }),
    ...(isError && { Link: ref('Help') }),
    ...((status === '401' || isOther) && { 'WWW-Authenticate': ref('WWWAuthenticate') }),
    ...(isOther && {
      Allow: ref('Allow'),
      'Accept-Encoding': ref('AcceptEncoding'),
      'Accept-Patch': ref('AcceptPatch'),
    }),
    ...(isOther && !isControl(route) && { 'Retry-After': ref('RetryAfter') }),
    ...(route.schema.operationId === 'issueToken' && { 'Cache-Control': ref('CacheControl') }),
  }
}
