import { STATUS_CODES } from 'node:http'
import type { ErrorCode } from '../core/errors.js'
import { CODES, catalogue } from '../core/errors.js'
import type { Named, Response, Schema } from './document.js'
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

/** The codes that say nothing about an operation of its own. */
const GENERAL: ReadonlySet<ErrorCode> = new Set([
  'MISSING_TOKEN',
  'INVALID_TOKEN',
  'EXPIRED_TOKEN',
  'ADMIN_TOKEN_REQUIRED',
  'FORBIDDEN_ORIGIN',
  'FORBIDDEN_HOST',
  'METHOD_NOT_ALLOWED',
  'REQUEST_TIMEOUT',
  'OPERATION_SUNSET',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'RATE_LIMITED',
  'HEADERS_TOO_LARGE',
  'INTERNAL_ERROR',
  'SERVICE_UNAVAILABLE',
])

/** The response of all statuses that an operation does not list. Several generators refuse ranges such as 4XX. */
export const OTHERS = 'default'

const statusesOf = (codes: readonly ErrorCode[]) => new Set(codes.filter(code => !GENERAL.has(code)).map(statusOf))

/** Returns the codes that have a status of their own, or with OTHERS those that have none. */
export function codesAt(codes: readonly ErrorCode[], status: string): readonly ErrorCode[] {
  const listed = statusesOf(codes)
  return codes.filter(code => (listed.has(statusOf(code)) ? statusOf(code) : OTHERS) === status)
}

/**
 * Makes the error responses of an operation: one for each status with specific codes, and one for all others.
 * @param all the codes of all operations that share the responses
 * @param envelope the envelope of the route
 * @param ofOthers the label of the response for the others
 * @param share returns a reference to the example of a code; undefined: its envelope has other members
 */
export function errorResponses(
  route: DocumentedRoute,
  all: readonly ErrorCode[],
  envelope: Schema,
  ofOthers: Response,
  share: (code: ErrorCode) => object | undefined,
): Named<Response> {
  const hasParameter = route.schema.params !== undefined
  const responseOf = (title: string, codes: readonly ErrorCode[], schema: Schema, label: Response): Response => {
    const examples = codes.flatMap(code => {
      const example = share(code)
      return example === undefined ? [] : [[code, example]]
    })
    const shown = examples.length > 0 && { examples: Object.fromEntries(examples) }
    return { description: title, content: { 'application/json': { schema, ...shown } }, ...label }
  }
  const listed = [...statusesOf(codesOf(route))].map(status => {
    const codes = all.filter(code => statusOf(code) === status)
    const label = labelOf(status, hasParameter && isApi(route))
    return [status, responseOf(`${STATUS_CODES[status]}.`, codes, withCodes(envelope, codes), label)]
  })
  const others = all.filter(code => GENERAL.has(code))
  return Object.fromEntries([...listed, [OTHERS, responseOf('Any other error.', others, envelope, ofOthers)]])
}

/** Interface, Errors 2: these statuses are documented for a path identifier. No other is. */
function labelOf(status: string, hasParameter: boolean): Response {
  if (hasParameter && status === '400') {
    return {
      'x-fidelity': 'documented',
      'x-fidelity-note': 'Documented for a path value that breaks its pattern; assumed for the other faults.',
    }
  }
  if (hasParameter && status === '404') {
    return {
      'x-fidelity': 'documented',
      'x-fidelity-note': 'Documented for an identifier with a forward slash; assumed for a record that does not exist.',
    }
  }
  return { 'x-fidelity': 'assumed' }
}

const withCodes = (envelope: Schema, codes: readonly ErrorCode[]): Schema => ({
  allOf: [envelope, { type: 'object', properties: { code: { type: 'string', enum: codes } } }],
})

/** Returns the example of an error. */
export const exampleOf = (code: ErrorCode) => ({ value: { code, field: null, message: catalogue[code].when } })
