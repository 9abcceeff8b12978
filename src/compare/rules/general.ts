import { ownMember } from '../../core/own-member.js'
import type { Operation } from '../contract.js'
import { membersOfSchema } from '../members.js'
import type { Observation } from '../observations.js'
import { isJson, OTHER_PATHS, statusOfCode } from '../observations.js'
import type { Guard, Rule, Source } from '../rule.js'
import { assumed, documented, guard, hasFaults, isDisputed, rule, verdict } from '../rule.js'
import { membersOf, textAt } from '../values.js'

const hasHeaders = ({ answerHeaders }: Observation) => Object.keys(answerHeaders).length > 0

// ---------------------------------------------------------------------------------------------------------- success

/** The sentences of the statuses of success. */
const STATUSES: Readonly<Record<string, Source>> = {
  issueToken: assumed(3, 'Returns 200 with these members:'),
  createCollection: assumed(6, 'Returns 201 with the record: the documented summary plus `reasonCode`.'),
  createMandate: assumed(7, 'Returns 201 with the record: these members, `status`, `createdAt` and `updatedAt`.'),
  cancelMandate: assumed(7, 'Returns 200 with the record.'),
  createPayoutLink: assumed(
    8,
    'Returns 201 with these members, `payoutLinkId`, `status`, `url`, `expiresAt`, `createdAt` and `updatedAt`.',
  ),
  cancelPayoutLink: assumed(8, 'Returns the status 204.'),
  createBill: assumed(9, 'POST returns 201.'),
  updateBill: assumed(9, 'PATCH accepts `status`, `openAmount` and `dueDate`, at least one of them. Returns 200.'),
  uploadBillDocument: assumed(
    9,
    'Returns 201 with `documentId`, `fileName`, `contentType`, `size`, `sha256` and `uploadedAt`.',
  ),
  updateCounterparty: assumed(
    10,
    '**PATCH counterparty** requires at least one of these members. Returns 200 with the record.',
  ),
}
const READ = assumed(1, 'Returns 200 for a read and for a list.')

export const statusRule = (operation: Operation): Rule =>
  rule('status of success', STATUSES[operation.id] ?? READ, [operation.id], ({ isAccepted, status }) =>
    isAccepted ? verdict(status === operation.status, `another status than ${operation.status}`) : undefined,
  )

const JSON_BODIES = documented('Endpoints', 'All request and response bodies are JSON, with one exception.')

/** Whether a kind of body was kept, and is not JSON. */
const isOtherThanJson = ({ answer, answerHeaders }: Observation) =>
  answer.kind === 'none' ||
  answer.kind === 'text' ||
  (answer.kind === 'json' && membersOf(answer.value) !== answer.value) ||
  !/json/.test(answerHeaders['content-type'] ?? 'json')

const UNKNOWN_MEMBERS = assumed(1, 'Ignores members and parameters that the interface does not name.')
const NO_CONTENT = documented('PATCH /api/v1/payout-links/{payoutLinkId}/cancel', '| Success response | No content.')
const DEPRECATION = documented(
  'GET /api/v1/direct-debit',
  '| `Deprecation` | string | Boolean-like sign that the operation is deprecated |',
)
const SUNSET = documented('GET /api/v1/direct-debit', '| `Sunset` | string, date-time | Sunset date of the operation |')
const BOOLEAN_LIKE = /^(true|false|\?[01]|[01]|yes|no)$/i
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/

const success: readonly Rule[] = [
  rule('JSON', JSON_BODIES, undefined, observation => {
    const { isAccepted, operation, method, answer } = observation
    if (!isAccepted || operation === undefined || operation.status === 204 || method === 'HEAD') return undefined
    if (answer.kind === 'unknown') return undefined
    return verdict(!isOtherThanJson(observation), 'the answer is not a JSON object')
  }),
  rule('no content', NO_CONTENT, ['cancelPayoutLink'], ({ isAccepted, answer }) =>
    isAccepted && answer.kind !== 'unknown' ? verdict(answer.kind === 'none', 'the answer has content') : undefined,
  ),
  rule('unknown members', UNKNOWN_MEMBERS, undefined, (observation, context) => {
    const { operation, request, query, isAccepted, field } = observation
    const parameters = Object.keys(query).filter(
      name => !Object.hasOwn(operation?.query?.properties ?? {}, name.replace(/\[\d*\]$/, '')),
    )
    const others = [...request.others, ...(operation === undefined ? [] : parameters)]
    if (others.length === 0) return undefined
    if (isAccepted) return hasFaults(observation) ? undefined : 'holds'
    const isNamed = typeof field === 'string' && others.includes(field)
    return isNamed && isDisputed(observation, context)
      ? { why: 'refused for a member that is unknown', seen: field }
      : undefined
  }),
  rule(
    'Accept',
    assumed(1, 'Ignores an `Accept` header that excludes JSON: the answer is JSON.'),
    undefined,
    observation => {
      const { headers, isAccepted, status } = observation
      if (headers.accept === undefined || /json|\*\/\*/.test(headers.accept)) return undefined
      return isAccepted ? 'holds' : status === 406 ? { why: 'refused with 406' } : undefined
    },
  ),
  rule('HEAD', assumed(1, 'Supports HEAD on every path with GET.'), undefined, ({ method, status }) =>
    method !== 'HEAD' || status >= 500
      ? undefined
      : verdict(status !== 405 && status !== 501, `refused with ${status}`),
  ),
  rule('x-request-id', assumed(1, 'Sends `x-request-id` with every answer.'), undefined, observation =>
    hasHeaders(observation)
      ? verdict(observation.answerHeaders['x-request-id'] !== undefined, 'the header is absent')
      : undefined,
  ),
  rule(
    'x-request-id of the caller',
    assumed(1, "It repeats the caller's value if that has at most 128 printable ASCII characters."),
    undefined,
    ({ headers, answerHeaders }) => {
      const [given, answered] = [headers['x-request-id'], answerHeaders['x-request-id']]
      if (given === undefined || answered === undefined || !/^[\x20-\x7e]{1,128}$/.test(given)) return undefined
      return verdict(given === answered, 'another value than that of the caller', answered)
    },
  ),
  rule(
    'Location',
    assumed(1, 'Sends `Location` with the 201 of mandates, collections and bills: the path that reads the record'),
    ['createMandate', 'createCollection', 'createBill'],
    observation => {
      const { operation, isAccepted, answerHeaders, records } = observation
      const reference = textAt(records[0], operation?.kind?.reference ?? '')
      if (!isAccepted || reference === undefined || !hasHeaders(observation)) return undefined
      const { location } = answerHeaders
      return verdict(location?.endsWith(`/${reference}`) === true, 'another Location', location)
    },
  ),
  rule('Deprecation', DEPRECATION, ['listCollections', 'cancelPayoutLink'], ({ answerHeaders: { deprecation } }) =>
    deprecation === undefined
      ? undefined
      : verdict(BOOLEAN_LIKE.test(deprecation), 'the value is not boolean-like', deprecation),
  ),
  rule('Deprecation: true', assumed(11, 'Sends `true` as `Deprecation`.'), undefined, ({ answerHeaders }) => {
    const { deprecation } = answerHeaders
    return deprecation === undefined || !BOOLEAN_LIKE.test(deprecation)
      ? undefined
      : verdict(deprecation === 'true', 'another value', deprecation)
  }),
  rule('Sunset', SUNSET, ['listCollections', 'cancelPayoutLink'], ({ answerHeaders: { sunset } }) =>
    sunset === undefined ? undefined : verdict(DATE_TIME.test(sunset), 'the value is no date-time', sunset),
  ),
  rule(
    'Sunset in UTC',
    assumed(11, 'Sends `Sunset` in UTC in the form of RFC 3339.'),
    undefined,
    ({ answerHeaders: { sunset } }) =>
      sunset === undefined || !DATE_TIME.test(sunset)
        ? undefined
        : verdict(sunset.endsWith('Z'), 'the value is not in UTC', sunset),
  ),
]

// ----------------------------------------------------------------------------------------------------------- errors

const ENVELOPE = documented(
  'Errors',
  'Every 4xx and 5xx response uses the envelope `{ code, field, message }`, with a documented code on each.',
)
const OAUTH_MEMBERS = ['error', 'error_description']

function isEnvelope({ answer, operation }: Observation): boolean {
  if (answer.kind !== 'json') return false
  const { code, field, message, ...others } = membersOf(answer.value)
  const isText = (value: unknown) => typeof value === 'string'
  const isExtra = (name: string) => !(operation?.id === 'issueToken' && OAUTH_MEMBERS.includes(name))
  return (
    isText(code) &&
    isText(message) &&
    (field === null || isText(field)) &&
    Object.keys(others).filter(isExtra).length === 0
  )
}

/** The names that the field of an error can have. */
function fieldsOf(operation: Operation | undefined): ReadonlySet<string> {
  const schemas = [operation?.params, operation?.query, operation?.body].filter(schema => schema !== undefined)
  const members = schemas.flatMap(schema => [...membersOfSchema(schema)].map(({ path }) => path))
  // The upload has the part `file`.
  return new Set([...members, 'x-region', 'authorization', 'content-type', 'host', 'origin', 'file'])
}

/** Operations whose path the service does not document. */
const ASSUMED_PATHS = ['createPayoutLink', 'listAccounts']

/** Whether the service has no operation of an assumed path. */
export const isAbsent = ({ operation, status, code }: Observation): boolean =>
  operation !== undefined &&
  ASSUMED_PATHS.includes(operation.id) &&
  (status === 405 || (status === 404 && code !== 'COUNTERPARTY_NOT_FOUND'))

const errors: readonly Rule[] = [
  rule('error envelope', ENVELOPE, undefined, observation => {
    const { isRefused, method, answer } = observation
    if (!isRefused || method === 'HEAD' || answer.kind === 'unknown') return undefined
    return verdict(isEnvelope(observation), 'another content than { code, field, message }')
  }),
  rule(
    'error code',
    assumed(2, '[errors.md](errors.md) lists all codes with their statuses and conditions.'),
    undefined,
    observation => {
      const { code, status, operation } = observation
      if (code === undefined || !isEnvelope(observation) || isAbsent(observation)) return undefined
      const expected = statusOfCode(code)
      if (expected === undefined)
        return { why: `status ${status} with a code that the sandbox does not have`, seen: code }
      if (expected !== status) return { why: `${code} with status ${status}, where ${expected} is expected` }
      return verdict(operation?.codes.has(code) ?? true, `${code} is no error of this operation`)
    },
  ),
  rule(
    'error field',
    assumed(
      1,
      'Sets `field` to the wire name of the faulty parameter: `x-region`, `limit`, `amount`, `address.country`.',
    ),
    undefined,
    observation => {
      const { field, operation, request, query } = observation
      if (operation === undefined || field === undefined || !isEnvelope(observation)) return undefined
      const isOther = field !== null && (request.others.has(field) || Object.hasOwn(query, field))
      return verdict(field === null || isOther || fieldsOf(operation).has(field), 'not the name of a parameter', field)
    },
  ),
  rule(
    'valid requests',
    assumed(2, '[errors.md](errors.md) lists all codes with their statuses and conditions.'),
    undefined,
    (observation, context) => {
      const { operation, field, isAccepted, request, query } = observation
      if (operation === undefined || hasFaults(observation) || context.expected.size > 0) return undefined
      if (isAccepted) return 'holds'
      // A refusal that names a parameter is that of a rule of the parameter.
      if (!isDisputed(observation, context) || observation.body.kind === 'unknown') return undefined
      const isNamed =
        typeof field === 'string' &&
        (fieldsOf(operation).has(field) || request.others.has(field) || Object.hasOwn(query, field))
      const isOpaque = operation.method !== 'GET' && operation.body === undefined
      return isNamed || isOpaque
        ? undefined
        : { why: `refused with ${observation.status}, where the sandbox accepts it` }
    },
  ),
  rule(
    'challenge without a token',
    assumed(3, 'Without credentials: 401 with `WWW-Authenticate: Bearer realm="payments-sandbox"`.'),
    undefined,
    observation => challengeOf(observation, false),
  ),
  rule(
    'challenge of a token',
    assumed(3, 'Otherwise the challenge adds `, error="invalid_token"`.'),
    undefined,
    observation => challengeOf(observation, true),
  ),
  rule('no challenge', assumed(3, 'A 400 never carries a challenge.'), undefined, observation =>
    observation.status === 400 && hasHeaders(observation)
      ? verdict(observation.answerHeaders['www-authenticate'] === undefined, 'a 400 has the header WWW-Authenticate')
      : undefined,
  ),
  rule(
    'Retry-After',
    assumed(2, '429, and 503 while the database is not available, carry `Retry-After`.'),
    undefined,
    observation =>
      observation.status === 429 && hasHeaders(observation)
        ? verdict(observation.answerHeaders['retry-after'] !== undefined, 'the header is absent')
        : undefined,
  ),
  rule('Accept-Patch', assumed(1, 'Adds `Accept-Patch` to a 415 for PATCH.'), undefined, observation =>
    observation.status === 415 && observation.method === 'PATCH' && hasHeaders(observation)
      ? verdict(observation.answerHeaders['accept-patch'] !== undefined, 'the header is absent')
      : undefined,
  ),
]

function challengeOf(observation: Observation, hasToken: boolean) {
  const { status, operation, headers, answerHeaders } = observation
  if (status !== 401 || operation === undefined || operation.id === 'issueToken') return undefined
  if ((headers.authorization !== undefined) !== hasToken || !hasHeaders(observation)) return undefined
  const challenge = answerHeaders['www-authenticate'] ?? ''
  return verdict(
    /^bearer\b/i.test(challenge) && (!hasToken || /error="?invalid_token"?/.test(challenge)),
    'another challenge',
    challenge,
  )
}

// ------------------------------------------------------------------------------------------------------ other paths

const SLASH = documented('Errors', 'A path identifier with a forward slash returns 404 Not Found.')

/** Rules of paths that are no operation. */
const paths: readonly Rule[] = [
  rule('slash in an identifier', SLASH, [OTHER_PATHS], ({ apiPath, methods, status }) => {
    const isSlash = methods.length === 0 && !apiPath.endsWith('/') && !/%2f/i.test(apiPath)
    return isSlash && (status === 400 || status === 404) ? verdict(status === 404, 'refused with 400') : undefined
  }),
  rule(
    'encoded slash in an identifier',
    assumed(1, 'Treats `%2F` and `%2f`, which routers decode, in the same way.'),
    [OTHER_PATHS],
    ({ apiPath, status }) =>
      /%2f/i.test(apiPath) && status !== 401 ? verdict(status === 404, 'another status than 404') : undefined,
  ),
  rule(
    'trailing slash',
    assumed(1, 'Treats a path with a trailing slash as another route: 404.'),
    [OTHER_PATHS],
    ({ apiPath, status }) =>
      apiPath.endsWith('/') && status !== 401 ? verdict(status === 404, 'another status than 404') : undefined,
  ),
  rule(
    'other method',
    assumed(1, 'Returns 405 with `Allow` for a known path with another method.'),
    [OTHER_PATHS],
    observation => {
      const { methods, method, status, answerHeaders } = observation
      if (methods.length === 0 || method === 'OPTIONS' || isReadOfLink(observation) || status === 401) return undefined
      const isRight = status === 405 && (!hasHeaders(observation) || answerHeaders.allow !== undefined)
      return verdict(isRight, `answered with ${status}${status === 405 ? ' without Allow' : ''}`)
    },
  ),
  rule('OPTIONS', assumed(1, 'Answers OPTIONS with 204 and `Allow`.'), [OTHER_PATHS], observation => {
    const { method, methods, headers, status, answerHeaders } = observation
    const isPreflight = headers['access-control-request-method'] !== undefined
    if (method !== 'OPTIONS' || methods.length === 0 || isPreflight || !hasHeaders(observation)) return undefined
    return verdict(status === 204 && answerHeaders.allow !== undefined, 'without 204 and Allow')
  }),
  rule(
    'no read of links',
    assumed(8, 'Offers no GET under `/api/v1`, because none is documented.'),
    [OTHER_PATHS],
    observation =>
      isReadOfLink(observation) && observation.status !== 401
        ? verdict(!observation.isAccepted, 'a GET is answered')
        : undefined,
  ),
]

const isReadOfLink = ({ method, apiPath }: Observation) =>
  method === 'GET' && /^\/api\/v1\/payout-links(\/[^/]+)?$/.test(apiPath)

// ----------------------------------------------------------------------------------------------------------- guards

const MIB = 1024 * 1024

const isWithoutToken: Guard['applies'] = ({ operation, headers }, { hasAuthorization }) =>
  operation !== undefined &&
  operation.id !== 'issueToken' &&
  hasAuthorization &&
  headers.authorization === undefined &&
  Object.keys(headers).length > 0

/** Refusals that any operation has. */
export const generalGuards: readonly Guard[] = [
  guard(
    'list or cancellation without a token',
    documented('Authentication', 'The list and cancel endpoints use the security scheme `bearerAuth` (HTTP bearer).'),
    ['listCollections', 'cancelPayoutLink'],
    ['token', 'MISSING_TOKEN'],
    isWithoutToken,
  ),
  guard(
    'request without a token',
    assumed(3, 'Without credentials: 401 with `WWW-Authenticate: Bearer realm="payments-sandbox"`.'),
    undefined,
    ['token', 'MISSING_TOKEN'],
    isWithoutToken,
  ),
  guard(
    'expired token',
    assumed(3, 'An advance past `expires_in` makes them EXPIRED_TOKEN.'),
    undefined,
    ['token', 'EXPIRED_TOKEN'],
    ({ at }, { tokenEnd }) => at !== undefined && tokenEnd !== undefined && at > tokenEnd + 60_000,
  ),
  guard(
    'absent body',
    assumed(1, 'Returns 400 MISSING_FIELD for an absent body where one is required, not 415.'),
    undefined,
    ['values', 'MISSING_FIELD'],
    ({ operation, body }) =>
      body.kind === 'none' && (operation?.body?.required !== undefined || operation?.body?.anyOf !== undefined),
  ),
  guard(
    'body that is no object',
    assumed(1, 'Returns 400 INVALID_FIELD with `field` null for a body that is not an object.'),
    undefined,
    ['values', 'INVALID_FIELD'],
    observation =>
      observation.operation?.body !== undefined &&
      isJson(observation) &&
      observation.body.kind === 'json' &&
      membersOf(observation.body.value) !== observation.body.value,
  ),
  guard(
    'large body',
    assumed(1, 'Returns 413 for a body above 1 MiB.'),
    undefined,
    ['values', 'PAYLOAD_TOO_LARGE'],
    ({ operation, headers }) => operation?.body !== undefined && Number(headers['content-length']) > MIB,
  ),
  guard(
    'repeated parameter',
    assumed(1, 'Returns 400 for a scalar query parameter that is given twice.'),
    undefined,
    ['values', 'MALFORMED_REQUEST'],
    ({ operation, query }) =>
      Object.entries(query).some(([name, value]) => Array.isArray(value) && isScalar(operation, name)),
  ),
  guard(
    'empty parameter',
    assumed(1, 'Returns 400 for an empty value (`limit=`).'),
    undefined,
    ['values', 'INVALID_QUERY_PARAMETER'],
    ({ operation, query }) => Object.entries(query).some(([name, value]) => value === '' && isScalar(operation, name)),
  ),
]

/** Whether an operation has a parameter that takes one value. */
function isScalar(operation: Operation | undefined, name: string): boolean {
  const parameter = ownMember(operation?.query?.properties ?? {}, name)
  return parameter !== undefined && parameter.type !== 'array'
}

/** Rules of all operations, and of paths that are none. */
export const generalRules: readonly Rule[] = [...success, ...errors, ...paths]
