import { isDeepStrictEqual } from 'node:util'
import type { TSchema } from '@sinclair/typebox'
import { ownMember } from '../core/own-member.js'
import { parseInstant } from '../core/time/time.js'
import { MASK } from '../http/masking.js'
import { ErrorBody } from '../http/schemas.js'
import { isValid } from '../http/validation.js'
import type { Match, Operation, Path } from './contract.js'
import { faultsOf, isKnownError, memberAt, nameOfMember } from './contract.js'
import type { Entry } from './har.js'
import type { Place } from './places.js'
import {
  ENVELOPE,
  FIELD,
  HEADER_NAMES,
  isOfDeprecation,
  JSON_BODY,
  NO_CONTENT,
  placeOfCode,
  placeOfHeader,
  placeOfMember,
  placeOfRefusal,
  placeOfStatus,
} from './places.js'
import type { Answer, End, Json } from './sandbox.js'
import { TOLERANCE } from './sandbox.js'

/** What differs between a captured answer and those of the sandbox. */
export interface Difference {
  readonly place: Place
  /** One line without a value of the traffic. */
  readonly what: string
  /** The captured value, of which reports show the shape only. */
  readonly seen?: unknown
}

const difference = (place: Place, what: string, seen?: unknown): Difference => ({ place, what, seen })

/** The members of an object; none for any other value. */
export const membersOf = (value: unknown): Json =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Json) : {}

/** Returns the value at a path; undefined: there is none. */
export const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((part, name) => ownMember(Object(part), name), value)

export const isSuccess = (status: number): boolean => status >= 200 && status < 300

/** Returns the JSON of a captured answer; undefined: it has none. */
export const contentOf = ({ answer }: Entry): unknown => (answer.kind === 'json' ? answer.value : undefined)

/** Returns the code of a refusal; undefined: it is none, or has no code. */
export function codeOf(status: number, content: unknown): string | undefined {
  const { code } = membersOf(content)
  return status >= 400 && typeof code === 'string' ? code : undefined
}

/** Whether two answers accept, or refuse for the same reason. */
export function isSameOutcome(entry: Entry, answer: Answer): boolean {
  if (isSuccess(entry.status) || isSuccess(answer.status)) return isSuccess(entry.status) && isSuccess(answer.status)
  const code = codeOf(entry.status, contentOf(entry))
  return code === undefined ? entry.status === answer.status : code === codeOf(answer.status, answer.body)
}

// ---------------------------------------------------------------------------------------------------------- outcome

/** Describes another outcome than that of the sandbox. */
export function outcomeDifference(entry: Entry, { operation, path }: Match, own: Answer): Difference {
  const [code, ownCode] = [codeOf(entry.status, contentOf(entry)), codeOf(own.status, own.body)]
  const place = placeOfRefusal(operation, ownCode ?? '', membersOf(own.body).field, path)
  if (isSuccess(entry.status)) return difference(place, `accepted, where ${ownCode ?? own.status} is expected`)
  const envelope = isCut(entry) ? undefined : envelopeDifference(entry, operation)
  if (envelope !== undefined) return envelope
  if (code === undefined) return difference(place, `status ${entry.status}, where ${own.status} is expected`)
  if (!isKnownError(operation, code, entry.status)) return unknownCode(operation, code, entry.status)
  // The token is checked first.
  const isFirst = isSuccess(own.status) || entry.status === 401
  return difference(
    isFirst ? placeOfRefusal(operation, code, membersOf(contentOf(entry)).field, path) : place,
    `refused with ${code}, where ${ownCode ?? `status ${own.status}`} is expected`,
  )
}

/** Whether the content of an answer is not known. */
const isCut = ({ answer, method }: Entry): boolean => answer.kind === 'unknown' || method === 'HEAD'

const unknownCode = (operation: Operation | undefined, code: string, status: number) =>
  isKnownError(undefined, code, status)
    ? difference(placeOfCode(code), `${code} is no error of ${operation?.name ?? 'such a path'}`)
    : difference(placeOfCode(''), `status ${status} with a code that the sandbox does not have`, code)

/** The envelope of errors is documented. */
const envelopeDifference = (entry: Entry, operation: Operation | undefined): Difference | undefined =>
  faultsOf(operation?.refusal ?? ErrorBody, contentOf(entry) ?? null).length === 0
    ? undefined
    : difference(ENVELOPE, 'another content than { code, field, message }')

/** Compares a refusal with one of the sandbox for the same reason; undefined: that of the sandbox cannot be known. */
export function refusalDifferences(
  entry: Entry,
  operation: Operation | undefined,
  own: Answer | undefined,
): Difference[] {
  if (isCut(entry)) return []
  const envelope = envelopeDifference(entry, operation)
  if (envelope !== undefined) return [envelope]
  const { code = '', field, error } = membersOf(contentOf(entry)) as { code?: string; field?: unknown; error?: unknown }
  if (own === undefined)
    return isKnownError(operation, code, entry.status) ? [] : [unknownCode(operation, code, entry.status)]
  const what = `status ${entry.status} with ${code}, where ${own.status} is expected`
  if (entry.status !== own.status) return [difference(placeOfCode(code), what)]
  const expected = membersOf(own.body)
  if (field !== expected.field) return [difference(FIELD, 'another field', field)]
  return operation?.id === 'issueToken' && error !== expected.error
    ? [difference(placeOfMember(operation, operation.answer, ['error'], error), 'another error', error)]
    : []
}

// ---------------------------------------------------------------------------------------------------------- headers

/** The part of a header that must be the same, by default all; undefined: only its presence counts. */
const PARTS: Readonly<Record<string, (value: string, entry: Entry) => string | undefined>> = {
  location: (value, { origin, path }) =>
    URL.canParse(value, origin) ? new URL(value, origin + path).pathname.replace(/^.*(?=\/api\/v1\/)/, '') : value,
  allow: value =>
    `${value
      .toUpperCase()
      .match(/[^\s,]+/g)
      ?.sort()}`,
  'www-authenticate': value => `${/^\S*/.exec(value)?.[0].toLowerCase()} ${/error="?([\w-]+)/.exec(value)?.[1]}`,
  'retry-after': value => (/^\d+$/.test(value) ? 'seconds' : 'a date'),
  'x-request-id': (value, { headers }) => headers['x-request-id'] && value,
}

/** Headers that a service may send everywhere. */
const MAY_BE_MORE = /^(allow|cache-control|pragma|accept-encoding|accept-patch|retry-after|x-request-id)$/

/** Describes how a header differs; undefined: it does not. */
function headerFault(name: string, given: string | undefined, expected: string | undefined, entry: Entry) {
  if (isOfDeprecation(name)) return placeOfHeader(name, given).label === 'documented' ? `another ${name}` : undefined
  if (given === undefined) return expected === undefined ? undefined : `the header ${name} is absent`
  if (expected === undefined)
    return MAY_BE_MORE.test(name) || (name === 'location' && entry.status !== 201)
      ? undefined
      : `the header ${name} is not expected`
  if (name === 'cache-control' || name === 'pragma')
    return given.toLowerCase().includes(expected) ? undefined : `${name} without ${expected}`
  const [part, own] = [given, expected].map(value => (PARTS[name] ?? String)(value, entry))
  return part === own ? undefined : `another ${name}`
}

/** Compares the headers that the interface and the decisions name. A capture without headers has left them out. */
export function headerDifferences(entry: Entry, own: Answer): Difference[] {
  const { answerHeaders } = entry
  if (Object.keys(answerHeaders).length === 0) return []
  const found = HEADER_NAMES.flatMap(name => {
    const given = answerHeaders[name]
    const what = headerFault(name, given, own.headers[name], entry)
    return what === undefined
      ? []
      : difference(placeOfHeader(name, given), what, what.startsWith('another') ? given : undefined)
  })
  const [type, ownType] = [answerHeaders, own.headers].map(headers =>
    headers['content-type']?.split(';')[0]?.trim().toLowerCase(),
  )
  // Of content that is no JSON, another difference is noted.
  const isOther = entry.answer.kind !== 'text' && type !== undefined && ownType !== undefined && type !== ownType
  return isOther ? [...found, difference(JSON_BODY, 'another Content-Type')] : found
}

// ---------------------------------------------------------------------------------------------------------- content

/** Compares the status of a success, and whether it has content. The first difference decides. */
export function successDifference(entry: Entry, operation: Operation | undefined, own: Answer): Difference | undefined {
  const isUnknown = isCut(entry)
  if (!isUnknown && own.body === undefined && entry.answer.kind !== 'none')
    return difference(NO_CONTENT, 'the answer has content')
  const place = operation === undefined ? FIELD : placeOfStatus(operation)
  if (entry.status !== own.status) return difference(place, `status ${entry.status}, where ${own.status} is expected`)
  return isUnknown || own.body === undefined || membersOf(contentOf(entry)) === contentOf(entry)
    ? undefined
    : difference(JSON_BODY, 'the answer is not a JSON object')
}

/** How the members of an answer are compared. */
export interface Comparing {
  readonly operation: Operation
  readonly schema: TSchema
  readonly ends: readonly [End, End]
  /** Whether a member can differ, since nothing is known of it. */
  isUnknown(path: Path): boolean
  /** The record as an earlier answer has shown it. A time that has not changed since is the same. */
  readonly shown: unknown
}

/** A member that differs. */
export interface Differing extends Difference {
  readonly path: Path
}

/** Describes the difference of a member. Names that no schema has are values of the traffic. */
export function memberDifference(
  operation: Operation,
  schema: TSchema,
  path: Path,
  what: string,
  seen: unknown,
): Difference {
  const place = placeOfMember(operation, schema, path, seen)
  if (memberAt(schema, path) === undefined)
    return { place, what: 'a member that the sandbox does not have', seen: path.at(-1) }
  const name = nameOfMember(path) || 'the content'
  return { place, what: `${name} ${what}`, seen }
}

const MOMENT = 'date-time'

/**
 * Lists the members of a captured value that differ from those at both ends of the time. A value that the ends have made
 * differently is one that the server makes: an id is paired, and a time lies between the ends.
 */
export function memberDifferences(value: unknown, early: unknown, late: unknown, comparing: Comparing): Differing[] {
  const found: Differing[] = []
  /** The time from that of the early end at which the service has done the request. */
  let since: number | undefined

  function differs(path: Path, what: string, seen: unknown) {
    found.push({ path, ...memberDifference(comparing.operation, comparing.schema, path, what, seen) })
  }

  function compare(given: unknown, first: unknown, second: unknown, path: Path): void {
    if (isDeepStrictEqual(given, first) || isDeepStrictEqual(given, second)) return
    const [mine, theirs] = [membersOf(first), membersOf(second)]
    if (comparing.isUnknown(path)) return
    if (first !== undefined && mine === first && membersOf(given) === given) {
      for (const name of new Set([...Object.keys(mine), ...Object.keys(given as Json)])) {
        compare(ownMember(given as Json, name), ownMember(mine, name), ownMember(theirs, name), [...path, name])
      }
    } else if (Array.isArray(first) && Array.isArray(given) && first.length === given.length) {
      for (const [at, item] of given.entries())
        compare(item, first[at], (second as unknown[] | undefined)?.[at], [...path, String(at)])
    } else compareLeaf(given, first, second, path)
  }

  function compareLeaf(given: unknown, first: unknown, second: unknown, path: Path) {
    const schema = memberAt(comparing.schema, path)
    if (given === undefined) {
      const isMade = !isDeepStrictEqual(first, second)
      const isRequired = memberAt(comparing.schema, path.slice(0, -1))?.required?.includes(path.at(-1)) === true
      if (!isMade || isRequired) differs(path, 'is absent', undefined)
      return
    }
    if (first === undefined) return differs(path, 'is not expected in this state', given)
    if (schema === undefined || !isValid(schema, given)) return differs(path, 'has another form', given)
    if (schema.format === MOMENT)
      return isTimely(given, first, second, path) ? undefined : differs(path, 'is another time', given)
    if (schema.format === 'date' || isDeepStrictEqual(first, second) || typeof given !== typeof first) {
      return isPaired(given, first) ? undefined : differs(path, 'has another value', given)
    }
    if (Array.isArray(given)) return differs(path, 'has another number of items', given)
    if (typeof given !== 'string' || given === MASK) return undefined
    const arePaired = [first, second].map((one, at) => (comparing.ends[at] as End).pair(given, String(one)))
    return arePaired.includes(false) ? differs(path, 'has another value than before', given) : undefined
  }

  const isPaired = (given: unknown, own: unknown) =>
    comparing.ends.some(({ captured }) => captured.get(String(own)) === given)

  function isTimely(given: unknown, first: unknown, second: unknown, path: Path): boolean {
    if (first === second && valueAt(comparing.shown, path) === first) return false
    const [at = Number.NaN, from = Number.NaN, to = Number.NaN] = [given, first, second].map(text =>
      parseInstant(String(text)),
    )
    if (from === to) return Math.abs(at - from) <= TOLERANCE
    if (at < from || at > to) return false
    // All times of one answer are those of one moment.
    const distance = at - from
    since ??= distance
    return Math.abs(distance - since) <= MOMENT_TOLERANCE
  }

  compare(value, early, late, [])
  // A valid time follows from the other members.
  const others = found.filter(({ path, seen }) => {
    const member = memberAt(comparing.schema, path)
    return member?.format !== MOMENT || (seen !== undefined && !isValid(member, seen))
  })
  // One member of a record is one difference.
  const names = new Set<unknown>()
  return (others.length > 0 ? others : found).filter(({ path: [name] }) => !names.has(name) && names.add(name))
}

/** Within one answer, times that the server sets are the same, give or take a few seconds. */
const MOMENT_TOLERANCE = 5_000
