import { STATUS_CODES } from 'node:http'
import type { CatalogueEntry, ErrorCode } from '../core/errors.js'
import { catalogue } from '../core/errors.js'
import type { DocumentedRoute, Json } from './routes.js'
import { isApi, isControl } from './routes.js'

const statusOf = (code: ErrorCode) => (catalogue[code] as CatalogueEntry).status

/** Lists the error codes that an operation can answer: the codes of its kind and schemas, and the codes that its route names. */
export function codesOf(route: DocumentedRoute): readonly ErrorCode[] {
  const { method, url, schema } = route
  const { params, querystring, body } = schema as Record<string, Json | undefined>
  const ofRequest: ErrorCode[] = ['MALFORMED_REQUEST']
  if (params !== undefined) ofRequest.push(...codesOfValues(params), 'ROUTE_NOT_FOUND')
  // `/mandates//cancel` lacks its parameter. `/mandates/` is no route.
  if (/:\w+\//.test(url)) ofRequest.push('MISSING_FIELD')
  if (Object.keys((querystring?.properties as object | undefined) ?? {}).length > 0) {
    ofRequest.push('INVALID_QUERY_PARAMETER')
  }
  if ((querystring?.properties as Json | undefined)?.cursor !== undefined) ofRequest.push('INVALID_CURSOR')
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
  if ((isControl(route) && !isProbe) || ['issueToken', 'getServerMetadata'].includes(schema.operationId as string)) {
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
  return (Object.keys(catalogue) as ErrorCode[]).filter(code => codes.has(code))
}

/** The codes of broken constraints, at any depth: those that the properties name, else INVALID_FIELD. */
function codesOfValues({ properties = {}, items }: Json): ErrorCode[] {
  const parts = Object.values({
    ...(properties as Record<string, Json>),
    ...(items !== undefined && { items }),
  }) as Json[]
  return parts.flatMap(part => [
    (part['x-error-code'] as ErrorCode | undefined) ?? 'INVALID_FIELD',
    ...codesOfValues(part),
  ])
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

/**
 * Makes the error responses of an operation: by each status that has a code of its own, and one for all others.
 * @param envelope the envelope of the route
 * @param ofOthers the label of the response for the others
 * @param share returns a reference to the example of a code; undefined: its envelope has other members
 */
export function errorResponses(
  route: DocumentedRoute,
  envelope: Json,
  ofOthers: Json,
  share: (code: ErrorCode) => Json | undefined,
): Record<string, Json> {
  const codes = codesOf(route)
  const statuses = [...new Set(codes.filter(code => !GENERAL.has(code)).map(statusOf))].sort()
  const hasParameter = route.schema.params !== undefined
  const responseOf = (title: string, codes: readonly ErrorCode[], schema: Json, label: Json): Json => {
    const examples = codes.map(code => [code, share(code)] as const).filter(([, example]) => example !== undefined)
    return {
      description: [title, ...codes.map(code => `- \`${code}\`: ${catalogue[code].when}`)].join('\n'),
      content: {
        'application/json': { schema, ...(examples.length > 0 && { examples: Object.fromEntries(examples) }) },
      },
      ...label,
      'x-error-codes': codes.map(code => ({ code, 'x-fidelity': catalogue[code]['x-fidelity'] })),
    }
  }
  const listed = statuses.map(status => {
    const ofStatus = codes.filter(code => statusOf(code) === status)
    const label = labelOf(status, hasParameter && isApi(route))
    return [String(status), responseOf(`${STATUS_CODES[status]}.`, ofStatus, withCodes(envelope, ofStatus), label)]
  })
  const others = codes.filter(code => !statuses.includes(statusOf(code)))
  return Object.fromEntries([...listed, [OTHERS, responseOf('Any other error.', others, envelope, ofOthers)]])
}

/** Interface, Errors 2: these statuses are documented for a path identifier. No other is. */
function labelOf(status: number, hasParameter: boolean): Json {
  if (hasParameter && status === 400) {
    return {
      'x-fidelity': 'documented',
      'x-fidelity-note': 'Documented for a path value that breaks its pattern; assumed for the other faults.',
    }
  }
  if (hasParameter && status === 404) {
    return {
      'x-fidelity': 'documented',
      'x-fidelity-note': 'Documented for an identifier with a forward slash; assumed for a record that does not exist.',
    }
  }
  return { 'x-fidelity': 'assumed', 'x-fidelity-note': 'The service documents the envelope, but not this status.' }
}

const withCodes = (envelope: Json, codes: readonly ErrorCode[]): Json => ({
  allOf: [envelope, { type: 'object', properties: { code: { type: 'string', enum: codes } } }],
})

/** Returns the example of an error. */
export const exampleOf = (code: ErrorCode): Json => ({ value: { code, field: null, message: catalogue[code].when } })
