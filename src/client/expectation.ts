import { ExpectationError } from './errors.js'
import type { Expectation, Verification } from './types.js'

/** Creates the error of an expectation that does not hold, with a readable message. */
export function toExpectationError(expectation: Expectation, verification: Verification): ExpectationError {
  const { times, atLeast, atMost, ...request } = expectation
  const { count, dropped, nearestMisses = [] } = verification
  const lines = [`Requests like ${JSON.stringify(request)}: expected ${formatCount(expectation)}, found ${count}.`]
  if (dropped > 0) lines.push(`The log has dropped ${dropped} older requests, which were not checked.`)
  if (count === 0 && nearestMisses.length === 0) lines.push('The log is empty.')
  for (const { seq, method, path, status, differences } of nearestMisses) {
    lines.push(`Nearest: #${seq} ${method} ${path} → ${status ?? 'no response'}`)
    for (const { at, expected, actual } of differences) {
      lines.push(`  ${at}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual) ?? 'nothing'}`)
    }
  }
  return new ExpectationError(lines.join('\n'), verification)
}

function formatCount({ times, atLeast, atMost }: Expectation): string {
  if (times !== undefined) return `exactly ${times}`
  const bounds = [atLeast !== undefined && `at least ${atLeast}`, atMost !== undefined && `at most ${atMost}`]
  return bounds.filter(bound => bound !== false).join(' and ') || 'at least 1'
}
