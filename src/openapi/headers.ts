import { readParameterOf } from '../http/location.js'
import type { Named, Reference, Schema } from './document.js'
import { OTHERS } from './errors.js'
import type { DocumentedRoute } from './routes.js'
import { isApi, isControl } from './routes.js'

const TEXT: Schema = { type: 'string' }

const header = (note: string, description: string, schema = TEXT) => ({
  description,
  schema,
  'x-fidelity': 'assumed',
  'x-fidelity-note': note,
})
const OURS = 'Exists only in the sandbox.'
const STANDARD = 'The service does not document the header; the HTTP and OAuth standards define it.'

const documentedHeader = (rfc: string, description: string, schema = TEXT) => ({
  ...header(`The style \`rfc\` of the settings sends the form of ${rfc} instead.`, description, schema),
  'x-fidelity': 'documented',
})

/** The response headers, by the name of their component. */
export const headers = {
  RequestId: header(
    OURS,
    "The id of the request: the caller's `x-request-id` if it is at most 128 printable ASCII characters, else a new one.",
  ),
  SandboxHint: header(
    OURS,
    'What is legal, but probably not meant, such as an ignored member. Sentences are separated by `; `.',
  ),
  SandboxClient: header(OURS, 'The client id of the tenant that the call acts on, percent-encoded.'),
  Help: header(OURS, 'The page of the guide about the code of the error.'),
  Deprecation: documentedHeader('RFC 9745', 'The operation is deprecated.'),
  Sunset: documentedHeader('RFC 8594', 'When the operation ends.', { type: 'string', format: 'date-time' }),
  WWWAuthenticate: header(STANDARD, 'The challenge of RFC 6750 §3.'),
  Allow: header(STANDARD, 'The methods of the path.'),
  RetryAfter: header(STANDARD, 'Seconds to wait before the next request.', { type: 'integer' }),
  AcceptPatch: header(STANDARD, 'The media type that PATCH takes.'),
  AcceptEncoding: header(STANDARD, 'The Content-Encoding to use, if another one is refused.'),
  Location: header(
    STANDARD,
    'The path of the operation that reads the record. It needs the `x-region` of the creation.',
  ),
  CacheControl: header(STANDARD, 'Tokens are not stored (RFC 6749 §5.1).'),
}

const ref = (name: keyof typeof headers) => ({ $ref: `#/components/headers/${name}` })

/**
 * The headers of a response. Only `x-request-id` is in each.
 * @param routes all routes of the document
 */
export function headersOf(
  route: DocumentedRoute,
  status: string,
  routes: readonly DocumentedRoute[],
): Named<Reference> {
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
