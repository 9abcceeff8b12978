import type { TSchema } from '@sinclair/typebox'
import { catalogue } from '../core/errors.js'
import { ownMember } from '../core/own-member.js'
import type { Fidelity } from '../http/schemas.js'
import { isValid } from '../http/validation.js'
import type { Operation, Path } from './contract.js'
import { memberAt, nameOfMember } from './contract.js'

/** Where a document states what a finding is about: `decisions §6 reasonCode`, `interface, Errors: code`. */
export interface Place {
  readonly label: Fidelity
  readonly where: string
}

const inDecisions = (section: number, anchor: string): Place => ({
  label: 'assumed',
  where: `decisions §${section} ${anchor}`.trim(),
})
const inErrors = (code: string): Place => ({ label: 'assumed', where: `errors: ${code}` })
const inInterface = (heading: string, anchor: string): Place => ({
  label: 'documented',
  where: `interface, ${heading}: ${anchor}`,
})

/** The headings of docs/service-interface.md that describe operations and their records. */
const ENDPOINTS: Readonly<Record<string, string>> = {
  issueToken: 'POST /api/v1/oauth/token',
  listCollections: 'GET /api/v1/direct-debit',
  cancelPayoutLink: 'PATCH /api/v1/payout-links/{payoutLinkId}/cancel',
}
const OTHER_ENDPOINTS = 'Other endpoints (method and path only)'
const RECORDS: Readonly<Record<string, string>> = {
  issueToken: 'Access token response (object)',
  collections: 'Collection request summary (element of `data` in the list response)',
}
const OTHER_RECORDS = 'Other named fields (from release v1.1.0)'
const LIST = 'Collection list envelope'

const TOKEN = inInterface('Authentication', 'bearerAuth')
const TOKENS = { listCollections: TOKEN, cancelPayoutLink: TOKEN }

/** The refusals whose condition the interface states, by their code, or code and field, and their operations (decisions §2). */
const CONDITIONS: Readonly<Record<string, Readonly<Record<string, Place>>>> = {
  MISSING_TOKEN: TOKENS,
  INVALID_TOKEN: TOKENS,
  EXPIRED_TOKEN: TOKENS,
  MANDATE_NOT_ACTIVE: {
    createCollection: inInterface(OTHER_ENDPOINTS, 'active mandate'),
    cancelMandate: inInterface('Mandate', 'active'),
  },
  DUPLICATE_REFERENCE: {
    createCollection: inInterface(RECORDS.collections as string, 'collectionReference'),
    createMandate: inInterface(RECORDS.collections as string, 'mandateReference'),
  },
  REGION_CURRENCY_MISMATCH: { createBill: inInterface('Errors', 'region and currency') },
  PAYOUT_LINK_ALREADY_CLAIMED: { cancelPayoutLink: inInterface('Payout link', 'claimed') },
  IMMUTABLE_FIELD: { updateCounterparty: inInterface(OTHER_RECORDS, 'counterpartyReference') },
  'UNSUPPORTED_MEDIA_TYPE file': { uploadBillDocument: inInterface('Limits', 'Bill document types') },
  UNSUPPORTED_GRANT_TYPE: { issueToken: inInterface('Authentication', 'grant_type') },
}

/** The members of answers whose value the interface states. */
const VALUES: Readonly<Record<string, Place>> = {
  'cancelMandate status': inInterface('Mandate', 'CANCELLED'),
  'updateCounterparty counterpartyReference': inInterface(OTHER_RECORDS, 'counterpartyReference'),
}

/** Returns the place of the condition of a refusal: that of the code, else that of the field. */
export function placeOfRefusal(operation: Operation | undefined, code: string, field: unknown, path = ''): Place {
  const isSlash = /^\/api\/v1\/[^/]+\/[^/]+\/./.test(path) && !/%2f/i.test(path)
  if (operation === undefined)
    return code === 'ROUTE_NOT_FOUND' && isSlash ? inInterface('Errors', '404') : inDecisions(1, code || 'path')
  if (code === 'ROUTE_NOT_FOUND') return placeOfStatus(operation)
  const place = (CONDITIONS[`${code} ${field}`] ?? CONDITIONS[code])?.[operation.id]
  if (place !== undefined) return place
  if (code === 'INVALID_REGION' && isDocumented(operation.headers?.properties['x-region'])) {
    const heading = ENDPOINTS[operation.id]
    return heading === undefined ? inInterface(OTHER_ENDPOINTS, 'Region') : inInterface(heading, 'x-region')
  }
  if (typeof field === 'string' && /^(INVALID|MISSING)_(FIELD|QUERY_PARAMETER)$/.test(code)) {
    const { params, query, body } = operation
    const schema = [params, query, body]
      .map(part => part && memberAt(part, field.split('.')))
      .find(part => part !== undefined)
    // That a member is required is assumed.
    if (schema !== undefined)
      return code !== 'MISSING_FIELD' && isDocumented(schema)
        ? inInterface(headingOf(operation, field), field)
        : inDecisions(sectionOf(operation, field), field)
  }
  return placeOfCode(code)
}

const headingOf = (operation: Operation, member: string) =>
  ENDPOINTS[operation.id] !== undefined &&
  [operation.query, operation.params, operation.body].some(part => part?.properties[member] !== undefined)
    ? (ENDPOINTS[operation.id] as string)
    : (RECORDS[operation.id] ?? RECORDS[operation.area ?? ''] ?? OTHER_RECORDS)

/** The parameters of all lists have a section of their own. */
const sectionOf = ({ query, section }: Operation, member: string) =>
  query?.properties[member] === undefined ? section : 5

const isDocumented = (schema: TSchema | undefined): boolean =>
  schema?.['x-fidelity'] === 'documented' && schema['x-fidelity-constraints'] === undefined

/**
 * Returns the place of a member of an answer. It is documented if its schema is, and the value breaks it.
 * @param value undefined: the member is absent
 */
export function placeOfMember(operation: Operation, schema: TSchema, path: Path, value: unknown): Place {
  const member = memberAt(schema, path)
  const name = member === undefined ? '' : nameOfMember(path)
  const isBroken = member !== undefined && (value === undefined || !isValid(member, value))
  const isEnvelope = operation.isList && schema === operation.answer
  if (isBroken && isDocumented(member)) {
    return inInterface(
      isEnvelope ? LIST : headingOf({ ...operation, query: undefined, params: undefined, body: undefined }, name),
      name,
    )
  }
  return VALUES[`${operation.id} ${name}`] ?? inDecisions(isEnvelope ? 5 : operation.section, name)
}

/** The places of headers. Other headers are not compared. */
const HEADERS = new Map(
  Object.entries({
    1: ['x-request-id', 'Location', 'Allow', 'Accept-Patch', 'Accept-Encoding'],
    2: ['Retry-After'],
    3: ['WWW-Authenticate', 'Cache-Control', 'Pragma'],
    11: ['Deprecation', 'Sunset'],
  }).flatMap(([section, names]) =>
    names.map(name => [name.toLowerCase(), inDecisions(Number(section), name)] as const),
  ),
)
export const HEADER_NAMES = [...HEADERS.keys()]
/** The headers that only the control plane of the sandbox sets. The interface shows them with such values. */
const DEPRECATED: Readonly<Record<string, readonly [title: string, form: RegExp]>> = {
  deprecation: ['Deprecation', /^(true|false|\?[01]|[01]|yes|no)$/i],
  sunset: ['Sunset', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/],
}
export const isOfDeprecation = (name: string): boolean => Object.hasOwn(DEPRECATED, name)

/** Returns the place of a header of `HEADER_NAMES`. It is documented if the interface shows its form, and it has another. */
export function placeOfHeader(name: string, value: string | undefined): Place {
  const [title, form] = ownMember(DEPRECATED, name) ?? []
  return value === undefined || form === undefined || form.test(value)
    ? (HEADERS.get(name) as Place)
    : inInterface(ENDPOINTS.listCollections as string, title as string)
}

export const placeOfStatus = ({ section, status }: Operation): Place => inDecisions(section, String(status))
export const ENVELOPE: Place = inInterface('Errors', 'code')
export const JSON_BODY: Place = inInterface('Endpoints', 'JSON')
export const NO_CONTENT: Place = inInterface(ENDPOINTS.cancelPayoutLink as string, 'No content')
export const FIELD: Place = inDecisions(1, 'field')
/** Returns the place of an error in docs/errors.md, or of a code that it does not have. */
export const placeOfCode = (code: string): Place => inErrors(Object.hasOwn(catalogue, code) ? code : 'code')

/** Returns the place of a difference in a list: of its order, a parameter, or a member beside the records. */
export function placeOfList({ area, query, answer }: Operation, anchor: string): Place {
  if (area === 'collections' && (anchor === 'initiatedAt' || isDocumented(query?.properties[anchor])))
    return inInterface(ENDPOINTS.listCollections as string, anchor)
  return isDocumented(memberAt(answer, [anchor])) ? inInterface(LIST, anchor) : inDecisions(5, anchor)
}

/** Returns the place of what an answer has shown: `status 201`, `state ACTIVE`, `page first`. */
export function placeOfFact(operation: Operation, fact: string): Place {
  const [kind, value = ''] = fact.split(' ')
  if (kind === 'page') return placeOfList(operation, 'cursor')
  if (kind !== 'state') return Number(value) < 400 ? placeOfStatus(operation) : inErrors(value)
  return isDocumented(operation.record && memberAt(operation.record, ['status']))
    ? inInterface('Collection request status', value)
    : inDecisions(operation.section, value)
}
