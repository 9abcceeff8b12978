import type { Expectation, Verification } from './types.js'

/** Returns the readable message of an expectation that does not hold. */
export function describeExpectation(expectation: Expectation, verification: Verification): string {
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
  return lines.join('\n')
}

function formatCount({ times, atLeast, atMost }: Expectation): string {
  if (times !== undefined) return `exactly ${times}`
  const bounds = [atLeast !== undefined && `at least ${atLeast}`, atMost !== undefined && `at most ${atMost}`]
  return bounds.filter(bound => bound !== false).join(' and ') || 'at least 1'
}
