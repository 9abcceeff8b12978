import { STATUS_CODES } from 'node:http'
import type { CatalogueEntry, ErrorCode } from '../core/errors.js'
import { catalogue } from '../core/errors.js'
import { ErrorBody } from '../http/schemas.js'
import type { DocumentedRoute, Json } from './routes.js'
import { isApi, isControl } from './routes.js'

const CODE_NOTE = 'The service documents that each error has a code, but no list of codes.'

const statusOf = (code: ErrorCode) => (catalogue[code] as CatalogueEntry).status

/** Lists the error codes that an operation can answer: those of its kind and schemas, and those that its route names. */
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
  if (isControl(route) || ['issueToken', 'getServerMetadata'].includes(schema.operationId as string)) {
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

/** Returns the page of a refusal as content, where a route answers pages. */
export const pageOf = ({ config }: DocumentedRoute): Json =>
  config.hasPage === true ? { 'text/html': { schema: { type: 'string' } } } : {}

/** Answered before a request has a route: never in an envelope of the route's own. */
const WITHOUT_ROUTE: readonly ErrorCode[] = ['METHOD_NOT_ALLOWED', 'REQUEST_TIMEOUT', 'HEADERS_TOO_LARGE']

/**
 * Makes the error responses of an operation, by status.
 * @param own the envelope of the route
 * @param common the envelope of the server
 */
export function errorResponses(route: DocumentedRoute, own: Json, common: Json): Record<string, Json> {
  const codes = codesOf(route)
  const statuses = [...new Set(codes.map(statusOf))].sort()
  const hasParameter = route.schema.params !== undefined
  return Object.fromEntries(
    statuses.map(status => {
      const ofStatus = codes.filter(code => statusOf(code) === status)
      const envelope = WITHOUT_ROUTE.includes(ofStatus[0] as ErrorCode) ? common : own
      return [
        String(status),
        {
          description: [
            `${STATUS_CODES[status]}.`,
            ...ofStatus.map(code => `- \`${code}\`: ${catalogue[code].when}`),
          ].join('\n'),
          content: {
            'application/json': {
              schema: withCodes(envelope, ofStatus),
              // Token errors have two members more, which only their area can fill in.
              ...(envelope.$ref === common.$ref && { examples: examplesOf(ofStatus) }),
            },
            ...pageOf(route),
          },
          ...labelOf(status, hasParameter && isApi(route)),
          'x-error-codes': ofStatus.map(code => ({
            code,
            'x-fidelity': catalogue[code]['x-fidelity'],
            'x-fidelity-note': CODE_NOTE,
          })),
        },
      ]
    }),
  )
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
  allOf: [
    envelope,
    {
      type: 'object',
      properties: {
        code: {
          type: 'string',
          enum: codes,
          description: ErrorBody.properties.code.description,
          'x-fidelity': 'assumed',
          'x-fidelity-note': CODE_NOTE,
        },
      },
    },
  ],
})

const examplesOf = (codes: readonly ErrorCode[]) =>
  Object.fromEntries(codes.map(code => [code, { value: { code, field: null, message: catalogue[code].when } }]))
