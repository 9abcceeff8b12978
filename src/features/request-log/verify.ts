import type { Static } from '@sinclair/typebox'
import { errors, shorten } from '../../core/errors.js'
import { ownMember } from '../../core/own-member.js'
import { createGlob } from '../../core/rules/glob.js'
import type { Slices } from '../../core/slices.js'
import { isObject } from '../../http/json-body.js'
import { maskHeaders, maskJson, maskPath, maskText } from '../../http/masking.js'
import type { LoggedExchange, RequestPage } from './request-log.js'
import type { Verification, VerificationResult } from './schemas.js'

type Expected = Static<typeof Verification>
type Shown = NonNullable<Static<typeof VerificationResult>['nearestMisses']>[number]['differences'][number]

/** A place in a request, such as `body.amount`. */
interface Place {
  readonly name: string
  readonly owner: Place | undefined
}

/** A part of an expectation, and that of a request. */
interface Pair {
  readonly at: Place
  readonly expected: unknown
  /** Undefined: the request has none. */
  readonly actual: unknown
}

/** Differences, or only the number of members that a request lacks; undefined where other work may come in between. */
type Differences = Generator<Pair | number | undefined>

/** A request that differs, and by how much. */
interface Miss {
  readonly request: LoggedExchange
  readonly distance: number
}

const NEAREST = 3
const MOST_DIFFERENCES = 50
/** The characters of JSON in the differences of a miss, after which the others are omitted. */
const MOST_CHARACTERS = 100_000
/** The characters of JSON in a value of a difference. A longer one is shown as the beginning of its text. */
const MOST_OF_VALUE = 10_000

/**
 * Counts the logged requests that are as described. Of headers and JSON members, those count that are named; `*` in a
 * path stands for any run of characters.
 * @throws MALFORMED_REQUEST (more than one way to say how many), INVALID_FIELD (atLeast above atMost)
 */
export function* verify({ data, dropped }: RequestPage, expected: Expected): Slices<Static<typeof VerificationResult>> {
  const { times, atLeast, atMost } = boundsOf(expected)
  const differencesOf = createComparison(expected)
  let count = 0
  let nearest: readonly Miss[] = []
  for (const request of data) {
    let distance = 0
    for (const difference of differencesOf(request, 'counted')) {
      if (difference === undefined) yield
      else distance += typeof difference === 'number' ? difference : weight(difference)
    }
    if (distance === 0) count++
    else nearest = withMiss(nearest, { request, distance })
    yield
  }
  const matched = times === undefined ? count >= atLeast && count <= atMost : count === times
  if (matched) return { matched, count, dropped }
  const masked = maskExpected(expected)
  const nearestMisses = []
  for (const { request } of nearest) {
    const { seq, method, path, status } = request
    const differences: Shown[] = []
    let [room, omitted] = [MOST_CHARACTERS, 0]
    for (const difference of differencesOf(request, 'listed')) {
      if (typeof difference !== 'object') yield
      else if (differences.length < MOST_DIFFERENCES && room > 0) {
        const shown = shownOf(difference, masked)
        room -= JSON.stringify(shown).length
        differences.push(shown)
      } else omitted++
    }
    nearestMisses.push({ seq, method, path, status, differences, ...(omitted > 0 && { omitted }) })
  }
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

/** Whether each difference is listed, or members that a request lacks are only counted. */
type Purpose = 'listed' | 'counted'

/** Returns a function that lists or counts the differences of a request. To count takes work in proportion to the request. */
function createComparison({ method, path, query, headers = {}, body, status }: Expected) {
  const isPath = path === undefined ? undefined : createGlob(path)
  const fields = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  if (Object.keys(fields).length < Object.keys(headers).length) {
    throw errors.invalid('headers', 'headers must have each name once, in any case.')
  }
  /** The numbers of members of the parts of the expectation. They are the same for each request. */
  const sizes = new WeakMap<object, number>()

  return function* (request: LoggedExchange, purpose: Purpose): Differences {
    if (method !== undefined) yield* compare('method', method, request.method)
    if (isPath?.(request.path) === false) yield { at: placeOf('path'), expected: path, actual: request.path }
    if (status !== undefined) yield* compare('status', status, request.status)
    yield* compare('headers', fields, request.headers, purpose)
    if (query !== undefined) yield* compare('query', query, request.query, purpose)
    if (body !== undefined) yield* compare('body', body, request.body, purpose)
  }

  /** Compares the given members of objects, and all items of arrays. */
  function* compare(name: string, expected: unknown, actual: unknown, purpose: Purpose = 'listed'): Differences {
    const pending: Pair[] = [{ at: placeOf(name), expected, actual }]
    for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
      const { at, expected, actual } = pair
      if (isRecord(expected) && isRecord(actual)) {
        const [names, lacking] = namesOf(expected, actual, purpose)
        if (lacking > 0) yield lacking
        // The last one is compared first.
        for (const name of names.reverse()) {
          const own = Object.hasOwn(actual, name) ? actual[name] : undefined
          pending.push({ at: placeOf(name, at), expected: expected[name], actual: own })
        }
      } else if (!(yield* isSame(expected, actual))) yield pair
      yield
    }
  }

  /** Returns the names of the members to compare, and the number of those that are lacking and only counted. */
  function namesOf(expected: object, actual: object, purpose: Purpose): [names: string[], lacking: number] {
    if (purpose === 'listed') return [Object.keys(expected), 0]
    const names = Object.keys(actual).filter(name => Object.hasOwn(expected, name))
    return [names, sizeOf(expected) - names.length]
  }

  function sizeOf(expected: object): number {
    const size = sizes.get(expected) ?? Object.keys(expected).length
    sizes.set(expected, size)
    return size
  }

  /** Whether two JSON values are the same. The order of members does not matter. */
  function* isSame(expected: unknown, actual: unknown): Generator<undefined, boolean> {
    const pending: [unknown, unknown][] = [[expected, actual]]
    for (let pair = pending.pop(); pair !== undefined; pair = pending.pop()) {
      const [expected, actual] = pair
      // JSON has no NaN, and -0 is 0.
      if (expected === actual) continue
      if (!isObject(expected) || !isObject(actual) || Array.isArray(expected) !== Array.isArray(actual)) return false
      const names = Object.keys(actual)
      if (names.length !== sizeOf(expected)) return false
      for (const name of names) {
        if (!Object.hasOwn(expected, name)) return false
        if (expected[name] !== actual[name]) pending.push([expected[name], actual[name]])
      }
      yield
    }
    return true
  }
}

const placeOf = (name: string, owner?: Place): Place => ({ name, owner })

const isRecord = (value: unknown): value is Record<string, unknown> => isObject(value) && !Array.isArray(value)

/** Another operation is further away than another value. */
const weight = ({ at: { name, owner } }: Pair) =>
  owner === undefined && (name === 'method' || name === 'path') ? 10 : 1

/** Adds a miss that is later than the others. Keeps those that differ least; of equals, the latest. */
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

function shownOf({ at, actual }: Pair, masked: unknown): Shown {
  const names: string[] = []
  for (let place: Place | undefined = at; place !== undefined; place = place.owner) names.unshift(maskText(place.name))
  // A secret is masked as a whole: its members are not there.
  const expected = names.reduce((value, name) => (isRecord(value) ? ownMember(value, name) : value), masked)
  // Each name first: one can be as long as a body, and stand before thousands of values.
  return {
    at: shorten(names.map(name => shorten(name)).join('.')),
    expected: clip(expected),
    ...(actual !== undefined && { actual: clip(actual) }),
  }
}

/** Returns a value, or the beginning of its text: a value can be as long as a body. */
function clip(value: unknown): unknown {
  const json = JSON.stringify(value) as string | undefined
  if (json === undefined || json.length <= MOST_OF_VALUE) return value
  return `${(typeof value === 'string' ? value : json).slice(0, MOST_OF_VALUE)}…`
}
