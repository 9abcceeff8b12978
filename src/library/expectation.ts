import { ExpectationError } from './errors.js'
import type { Expectation, Verification } from './types.js'

/** That an expectation does not hold, and why, for whoever reads the output of a test. */
export function unmet(expectation: Expectation, verification: Verification): ExpectationError {
  const { times, atLeast, atMost, ...request } = expectation
  const { count, dropped, nearestMisses = [] } = verification
  const lines = [`Requests like ${JSON.stringify(request)}: expected ${howMany(expectation)}, found ${count}.`]
  if (dropped > 0) lines.push(`${dropped} older requests have made room in the log and were not looked at.`)
  if (count === 0 && nearestMisses.length === 0) lines.push('There is no request in the log.')
  for (const { seq, method, path, status, differences } of nearestMisses) {
    lines.push(`Near: #${seq} ${method} ${path} → ${status ?? 'no answer'}`)
    for (const { at, expected, actual } of differences) {
      lines.push(`  ${at}: expected ${JSON.stringify(expected)}, got ${JSON.stringify(actual) ?? 'nothing'}`)
    }
  }
  return new ExpectationError(lines.join('\n'), verification)
}

function howMany({ times, atLeast, atMost }: Expectation): string {
  if (times !== undefined) return `exactly ${times}`
  const bounds = [atLeast !== undefined && `at least ${atLeast}`, atMost !== undefined && `at most ${atMost}`]
  return bounds.filter(bound => bound !== false).join(' and ') || 'at least 1'
}
