import { isDeepStrictEqual } from 'node:util'
import type { Static } from '@sinclair/typebox'
import { errors, shorten } from '../../core/errors.js'
import { createGlob } from '../../core/glob.js'
import { ownMember } from '../../core/own-member.js'
import { isObject } from '../../http/json-body.js'
import { maskHeaders, maskJson, maskPath, maskText } from '../../http/masking.js'
import type { LoggedExchange } from './exchange.js'
import type { Verification, VerificationResult } from './schemas.js'
import type { RequestPage } from './state.js'

type Expected = Static<typeof Verification>
type Difference = NonNullable<Static<typeof VerificationResult>['nearestMisses']>[number]['differences'][number]

/** A part of an expectation that a request does not have. */
interface Pair {
  /** Its path, such as `body` and `amount`. */
  readonly at: readonly string[]
  /** Absent if the request has no such member. */
  readonly actual: unknown
}

/** A request that differs, and by how much. */
interface Miss {
  readonly request: LoggedExchange
  readonly differences: readonly Pair[]
  readonly distance: number
}

const NEAREST = 3
const MOST_DIFFERENCES = 50
/** The characters of JSON in a value of a difference. A longer one is cut. */
const MOST_OF_VALUE = 10_000

/**
 * Counts the logged requests that are as described. Of headers and JSON members, those count that are named; `*` in a
 * path stands for any run of characters.
 * @throws MALFORMED_REQUEST (more than one way to say how many), INVALID_FIELD (atLeast above atMost)
 */
export function verify({ data, dropped }: RequestPage, expected: Expected): Static<typeof VerificationResult> {
  const { times, atLeast, atMost } = boundsOf(expected)
  const differencesOf = createComparison(expected)
  let count = 0
  let nearest: readonly Miss[] = []
  for (const request of data) {
    const differences = differencesOf(request)
    const distance = differences.reduce((sum, difference) => sum + weight(difference), 0)
    if (distance === 0) count++
    else nearest = withMiss(nearest, { request, differences, distance })
  }
  const matched = times === undefined ? count >= atLeast && count <= atMost : count === times
  if (matched) return { matched, count, dropped }
  const masked = maskExpected(expected)
  const nearestMisses = nearest.map(({ request, differences: all }) => {
    const { seq, method, path, status } = request
    const differences = all.slice(0, MOST_DIFFERENCES).map(difference => describe(difference, masked))
    const omitted = all.length - differences.length
    return { seq, method, path, status, differences, ...(omitted > 0 && { omitted }) }
  })
  return { matched, count, dropped, nearestMisses }
}

function boundsOf({ times, atLeast, atMost }: Expected) {
  if (times !== undefined && (atLeast !== undefined || atMost !== undefined)) {
    throw errors.malformed('times', 'Give times, or atLeast and atMost.')
  }
  if (atLeast !== undefined && atMost !== undefined && atLeast > atMost) {
    throw errors.invalid('atLeast', 'atLeast must be at most atMost.')
  }
  return { times, atLeast: atLeast ?? (atMost === undefined ? 1 : 0), atMost: atMost ?? Infinity }
}

/** Returns a function that lists the differences of a request. */
function createComparison({ method, path, query, headers = {}, body, status }: Expected) {
  const isPath = path === undefined ? undefined : createGlob(path)
  const fields = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  if (Object.keys(fields).length < Object.keys(headers).length) {
    throw errors.invalid('headers', 'headers must have each name once, in any case.')
  }
  return (request: LoggedExchange): readonly Pair[] => [
    ...(method === undefined ? [] : compare(['method'], method, request.method)),
    ...(isPath?.(request.path) === false ? [{ at: ['path'], actual: request.path }] : []),
    ...(status === undefined ? [] : compare(['status'], status, request.status)),
    ...compare(['headers'], fields, request.headers),
    ...(query === undefined ? [] : compare(['query'], query, request.query)),
    ...(body === undefined ? [] : compare(['body'], body, request.body)),
  ]
}

/**
 * Compares the given members of objects, and all items of arrays. An expectation can be nested deeper than calls, but the log
 * shows no request so deeply.
 */
function compare(at: readonly string[], expected: unknown, actual: unknown): readonly Pair[] {
  if (isRecord(expected) && isRecord(actual)) {
    return Object.keys(expected).flatMap(name => compare([...at, name], expected[name], ownMember(actual, name)))
  }
  // Two zeros of JSON are one.
  return expected === actual || isDeepStrictEqual(expected, actual) ? [] : [{ at, actual }]
}

const isRecord = (value: unknown): value is Record<string, unknown> => isObject(value) && !Array.isArray(value)

/** Another operation is further away than another value. */
const weight = ({ at: [part] }: Pair) => (part === 'method' || part === 'path' ? 10 : 1)

/** Adds the latest miss. Keeps the misses with the fewest differences; of equal ones, the latest. */
function withMiss(misses: readonly Miss[], miss: Miss): readonly Miss[] {
  const nearer = misses.filter(({ distance }) => distance < miss.distance)
  return [...nearer, miss, ...misses.slice(nearer.length)].slice(0, NEAREST)
}

/** Masks an expectation like a logged request. Otherwise it could also be nested too deeply for an answer. */
function maskExpected(expected: Expected): unknown {
  const fields = Object.entries(expected.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value])
  const path = expected.path === undefined ? {} : { path: maskPath(expected.path) }
  return { ...(maskJson(expected) as Expected), ...path, headers: maskHeaders(Object.fromEntries(fields)) }
}

function describe({ at, actual }: Pair, masked: unknown): Difference {
  const names = at.map(maskText)
  // A secret is masked as a whole: its members are not there.
  const expected = names.reduce((value, name) => (isRecord(value) ? ownMember(value, name) : value), masked)
  // Each name first: one can be as long as a body, and stand before thousands of values.
  return {
    at: shorten(names.map(name => shorten(name)).join('.')),
    expected: clip(expected),
    ...(actual !== undefined && { actual: clip(actual) }),
  }
}

/** Returns a value, or the start of its text: a value can be as long as a body. */
function clip(value: unknown): unknown {
  const json = JSON.stringify(value) as string | undefined
  if (json === undefined || json.length <= MOST_OF_VALUE) return value
  return `${(typeof value === 'string' ? value : json).slice(0, MOST_OF_VALUE)}…`
}
