import type { ErrorCode } from '../core/errors.js'
import { CODES, catalogue } from '../core/errors.js'
import type { Labelled, Schema } from './document.js'
import type { DocumentedRoute } from './routes.js'
import { isApi, isControl } from './routes.js'

const statusOf = (code: ErrorCode) => String(catalogue[code].status)

/** Lists the error codes that an operation can answer: the codes of its kind and schemas, and the codes that its route names. */
export function codesOf(route: DocumentedRoute): readonly ErrorCode[] {
  const { method, url, schema } = route
  const { params, querystring, body } = schema
  const ofRequest: ErrorCode[] = ['MALFORMED_REQUEST']
  if (params !== undefined) ofRequest.push(...codesOfValues(params), 'ROUTE_NOT_FOUND')
  // `/mandates//cancel` lacks its parameter. `/mandates/` is no route.
  if (/:\w+\//.test(url)) ofRequest.push('MISSING_FIELD')
  if (Object.keys(querystring?.properties ?? {}).length > 0) ofRequest.push('INVALID_QUERY_PARAMETER')
  if (querystring?.properties?.cursor !== undefined) ofRequest.push('INVALID_CURSOR')
  if (body !== undefined) ofRequest.push('INVALID_FIELD', ...codesOfValues(body))
  if (body?.required !== undefined || body?.anyOf !== undefined) ofRequest.push('MISSING_FIELD')
  // Fastify parses the body of each method but these, whether the operation takes one or not.
  if (method !== 'GET') ofRequest.push('PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE')
  if (isApi(route)) ofRequest.push('RATE_LIMITED', 'OPERATION_SUNSET')
  if (schema.headers !== undefined) {
    ofRequest.push('MISSING_FIELD', 'INVALID_REGION', 'MISSING_TOKEN', 'INVALID_TOKEN', 'EXPIRED_TOKEN')
  }
  if (isControl(route)) ofRequest.push('INVALID_QUERY_PARAMETER')
  if (isControl(route) && schema.security === undefined) ofRequest.push('ADMIN_TOKEN_REQUIRED')
  const isProbe = url.startsWith('/_sandbox/health/')
  if ((isControl(route) && !isProbe) || ['issueToken', 'getServerMetadata'].includes(schema.operationId)) {
    ofRequest.push('FORBIDDEN_HOST')
  }
  const ofAll: ErrorCode[] = [
    'FORBIDDEN_ORIGIN',
    'METHOD_NOT_ALLOWED',
    'REQUEST_TIMEOUT',
    'HEADERS_TOO_LARGE',
    'INTERNAL_ERROR',
    'SERVICE_UNAVAILABLE',
  ]
  const codes = new Set<ErrorCode>([...ofRequest, ...(schema['x-error-codes'] ?? []), ...ofAll])
  return CODES.filter(code => codes.has(code))
}

/** The codes of broken constraints, at any depth: those that the properties name, else INVALID_FIELD. */
function codesOfValues({ properties = {}, items }: Schema): ErrorCode[] {
  const parts = [...Object.values(properties), ...(items === undefined ? [] : [items])]
  return parts.flatMap(part => [part['x-error-code'] ?? 'INVALID_FIELD', ...codesOfValues(part)])
}

/** The response of all statuses that an operation does not list. Several generators refuse ranges such as 4XX. */
export const OTHERS = 'default'

/** The statuses of errors that say something about an operation of its own, beside those of the codes that its route names. */
const OWN = ['400', '404', '409']

/** Lists the statuses of errors that an operation has a response for. The last one is for all others. */
export function errorStatusesOf(route: DocumentedRoute): readonly string[] {
  const named = (route.schema['x-error-codes'] ?? []).map(statusOf)
  const own = codesOf(route).map(statusOf)
  return [...new Set(own.filter(status => OWN.includes(status) || named.includes(status))), OTHERS]
}

/** Interface, Errors: the envelope is documented, and 400 and 404 for a path identifier. No other status is. */
export function labelOfError(route: DocumentedRoute, status: string, { properties = {} }: Schema): Labelled {
  if (isControl(route)) return { 'x-fidelity': 'assumed' }
  if (status === OTHERS) {
    const assumed = Object.keys(properties).filter(name => properties[name]?.['x-fidelity'] === 'assumed')
    const names = assumed.map(name => `\`${name}\``).join(' and ')
    const note = names === '' ? undefined : `The service documents the envelope. ${names} are assumed.`
    return { 'x-fidelity': 'documented', 'x-fidelity-note': note }
  }
  const note = NOTES[status]
  if (route.schema.params === undefined || note === undefined) return { 'x-fidelity': 'assumed' }
  return { 'x-fidelity': 'documented', 'x-fidelity-note': note }
}

const NOTES: Readonly<Record<string, string>> = {
  400: 'Documented for a path value that breaks its pattern; assumed for the other faults.',
  404: 'Documented for an identifier with a forward slash; assumed for a record that does not exist.',
}
