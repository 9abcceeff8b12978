import { isDeepStrictEqual } from 'node:util'
import type { Static } from '@sinclair/typebox'
import { errors } from '../../core/errors.js'
import { createGlob } from '../../core/rules/glob.js'
import { maskJson } from '../../http/masking.js'
import type { LoggedExchange, RequestLog } from './request-log.js'
import type { Verification, VerificationResult } from './schemas.js'

type Expected = Static<typeof Verification>

/** A difference between a request and its expectation. */
export interface Difference {
  /** Such as `body.amount`. */
  readonly at: string
  readonly expected: unknown
  /** Left out where there is nothing. */
  readonly actual?: unknown
}

const NEAREST = 3

/**
 * Counts the logged requests that are as described. Of headers and JSON members, those count that are named; `*` in a
 * path stands for any run of characters.
 * @throws MALFORMED_REQUEST (more than one way to say how many), INVALID_FIELD (atLeast above atMost)
 */
export async function verify(
  requestLog: RequestLog,
  clientId: string,
  expected: Expected,
): Promise<Static<typeof VerificationResult>> {
  const { times, atLeast, atMost } = boundsOf(expected)
  const { data, dropped } = await requestLog.list(clientId)
  const compared = data.map(request => ({ request, differences: differencesOf(request, expected) }))
  const misses = compared.filter(({ differences }) => differences.length > 0)
  const count = compared.length - misses.length
  const matched = times === undefined ? count >= atLeast && count <= atMost : count === times
  if (matched) return { matched, count, dropped }
  return { matched, count, dropped, nearestMisses: nearest(misses) }
}

function boundsOf({ times, atLeast, atMost }: Expected) {
  if (times !== undefined && (atLeast !== undefined || atMost !== undefined)) {
    throw errors.malformed('times', 'Give times, or atLeast and atMost.')
  }
  if (atLeast !== undefined && atMost !== undefined && atLeast > atMost) {
    throw errors.invalid('atLeast', 'atLeast must not be above atMost.')
  }
  return { times, atLeast: atLeast ?? (atMost === undefined ? 1 : 0), atMost: atMost ?? Infinity }
}

function differencesOf(request: LoggedExchange, expected: Expected): Difference[] {
  const { method, path, query, headers = {}, body, status } = expected
  const differences: Difference[] = []
  if (method !== undefined && method !== request.method) {
    differences.push({ at: 'method', expected: method, actual: request.method })
  }
  if (path !== undefined && !createGlob(path)(request.path)) {
    differences.push({ at: 'path', expected: path, actual: request.path })
  }
  if (status !== undefined && status !== request.status) {
    differences.push({ at: 'status', expected: status, actual: request.status })
  }
  for (const [given, value] of Object.entries(headers)) {
    const name = given.toLowerCase()
    const actual = Object.hasOwn(request.headers, name) ? request.headers[name] : undefined
    if (actual !== value) differences.push(difference(`headers.${name}`, value, actual))
  }
  if (query !== undefined) compare('query', query, request.query, differences)
  if (body !== undefined) compare('body', body, request.body, differences)
  return differences
}

/** Compares the given members of objects, and all items of arrays. */
function compare(at: string, expected: unknown, actual: unknown, differences: Difference[]): void {
  if (isRecord(expected) && isRecord(actual)) {
    for (const [name, value] of Object.entries(expected)) {
      compare(`${at}.${name}`, value, Object.hasOwn(actual, name) ? actual[name] : undefined, differences)
    }
  } else if (!isDeepStrictEqual(expected, actual)) {
    differences.push(difference(at, expected, actual))
  }
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

const difference = (at: string, expected: unknown, actual: unknown): Difference => ({
  at,
  // Masked like a logged value. Otherwise it could be nested too deeply for an answer.
  expected: maskJson(expected),
  ...(actual !== undefined && { actual }),
})

/** Those with the fewest differences; of equals, the latest. */
function nearest(misses: readonly { request: LoggedExchange; differences: Difference[] }[]) {
  return [...misses]
    .sort((a, b) => weight(a.differences) - weight(b.differences) || b.request.seq - a.request.seq)
    .slice(0, NEAREST)
    .map(({ request: { seq, method, path, status }, differences }) => ({ seq, method, path, status, differences }))
}

/** Another operation is further away than another value. */
const weight = (differences: readonly Difference[]) =>
  differences.reduce((sum, { at }) => sum + (at === 'method' || at === 'path' ? 10 : 1), 0)
