import { isDeepStrictEqual } from 'node:util'
import type { Static } from '@sinclair/typebox'
import { errors, shorten } from '../../core/errors.js'
import { createGlob } from '../../core/rules/glob.js'
import type { Slices } from '../../core/slices.js'
import { maskHeaders, maskJson } from '../../http/masking.js'
import type { LoggedExchange, RequestPage } from './request-log.js'
import type { Verification, VerificationResult } from './schemas.js'

type Expected = Static<typeof Verification>

/** A difference between a request and its expectation. */
interface Difference {
  /** Such as `['body', 'amount']`. */
  readonly at: readonly string[]
  readonly expected: unknown
  /** Undefined: the request has none. */
  readonly actual: unknown
}

/** A request that differs, and by how much. */
interface Miss {
  readonly request: LoggedExchange
  readonly distance: number
}

const NEAREST = 3

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
    for (const difference of differencesOf(request)) distance += weight(difference)
    if (distance === 0) count++
    else nearest = withMiss(nearest, { request, distance })
    yield
  }
  const matched = times === undefined ? count >= atLeast && count <= atMost : count === times
  if (matched) return { matched, count, dropped }
  const masked = maskExpected(expected)
  const nearestMisses = nearest.map(({ request }) => {
    const { seq, method, path, status } = request
    const differences = [...differencesOf(request)].map(difference => describe(difference, masked))
    return { seq, method, path, status, differences }
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

  return function* (request: LoggedExchange): Generator<Difference> {
    if (method !== undefined) yield* compare(['method'], method, request.method)
    if (isPath?.(request.path) === false) yield { at: ['path'], expected: path, actual: request.path }
    if (status !== undefined) yield* compare(['status'], status, request.status)
    yield* compare(['headers'], fields, request.headers)
    if (query !== undefined) yield* compare(['query'], query, request.query)
    if (body !== undefined) yield* compare(['body'], body, request.body)
  }
}

/** Compares the given members of objects, and all items of arrays. */
function* compare(at: readonly string[], expected: unknown, actual: unknown): Generator<Difference> {
  if (isRecord(expected) && isRecord(actual)) {
    for (const [name, value] of Object.entries(expected)) {
      yield* compare([...at, name], value, Object.hasOwn(actual, name) ? actual[name] : undefined)
    }
  } else if (!isDeepStrictEqual(expected, actual)) {
    yield { at, expected, actual }
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** Another operation is further away than another value. */
const weight = ({ at: [part] }: Difference) => (part === 'method' || part === 'path' ? 10 : 1)

/** Adds a miss that is later than the others. Keeps those that differ least; of equals, the latest. */
function withMiss(misses: readonly Miss[], miss: Miss): readonly Miss[] {
  const nearer = misses.filter(({ distance }) => distance < miss.distance)
  return [...nearer, miss, ...misses.slice(nearer.length)].slice(0, NEAREST)
}

/** Masks an expectation like a logged request. Otherwise it could also be nested too deeply for an answer. */
function maskExpected(expected: Expected): unknown {
  const fields = Object.entries(expected.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value])
  return { ...(maskJson(expected) as Expected), headers: maskHeaders(Object.fromEntries(fields)) }
}

function describe({ at, actual }: Difference, masked: unknown) {
  // A secret is masked as a whole: its members are not there.
  const expected = at.reduce((value, name) => (isRecord(value) ? value[name] : value), masked)
  // Each name first: one can be as long as a body, and stand before thousands of values.
  return { at: shorten(at.map(name => shorten(name)).join('.')), expected, ...(actual !== undefined && { actual }) }
}
