import type { Observation } from '../observations.js'
import { usesBasic } from '../observations.js'
import type { Guard, Rule } from '../rule.js'
import { assumed, documented, guard, rule, verdict } from '../rule.js'
import { membersOf } from '../values.js'

const TOKEN = ['issueToken']
const answerOf = ({ answer }: Observation) => membersOf(answer.kind === 'json' && answer.value)
const hasHeaders = ({ answerHeaders }: Observation) => Object.keys(answerHeaders).length > 0

const isUncached = ({ answerHeaders }: Observation) =>
  /no-store/i.test(answerHeaders['cache-control'] ?? '') && /no-cache/i.test(answerHeaders.pragma ?? '')

/** A value of the token response that the sandbox assumes. */
const value = (member: string, expected: unknown, sentence: string): Rule =>
  rule(`value of ${member}`, assumed(3, sentence), TOKEN, observation => {
    const given = answerOf(observation)[member]
    if (!observation.isAccepted || typeof given !== typeof expected) return undefined
    return verdict(given === expected, `another value than ${expected}`, given)
  })

/** Rules of access tokens (decisions §3). */
export const tokenRules: readonly Rule[] = [
  value('expires_in', 3600, '| `expires_in` | 3600 (`SANDBOX_TOKEN_TTL`) |'),
  value(
    'scope',
    'payments',
    '| `scope` | `payments` by default. Not enforced, because the requirements are not documented |',
  ),
  value('token_type', 'Bearer', '| `token_type` | `Bearer` |'),
  rule('no-store', assumed(3, 'Sends `Cache-Control: no-store` and `Pragma: no-cache`.'), TOKEN, observation =>
    observation.isAccepted && hasHeaders(observation)
      ? verdict(isUncached(observation), 'without these headers')
      : undefined,
  ),
  rule('no-store of errors', assumed(3, 'Marks errors as `no-store` too.'), TOKEN, observation =>
    observation.isRefused && hasHeaders(observation)
      ? verdict(isUncached(observation), 'without these headers')
      : undefined,
  ),
  rule(
    'OAuth errors',
    assumed(
      3,
      'Adds `error` and `error_description` (RFC 6749 §5.2) to the error envelope, for standard OAuth clients:',
    ),
    TOKEN,
    observation => {
      const { error, error_description: description } = answerOf(observation)
      if (!observation.isRefused || observation.answer.kind !== 'json') return undefined
      return verdict(typeof error === 'string' && typeof description === 'string', 'without these members')
    },
  ),
  rule(
    'challenge of the token endpoint',
    assumed(
      3,
      'Returns 401 for INVALID_CLIENT (`invalid_client`), with `WWW-Authenticate: Basic realm="oauth"` only if Basic was used.',
    ),
    TOKEN,
    observation =>
      observation.status === 401 && hasHeaders(observation)
        ? verdict(
            /^basic/i.test(observation.answerHeaders['www-authenticate'] ?? '') === usesBasic(observation),
            'a challenge of another kind',
          )
        : undefined,
  ),
  rule('HTTP Basic', assumed(3, 'Accepts HTTP Basic (RFC 6749 §2.3.1) too'), TOKEN, observation => {
    if (!usesBasic(observation)) return undefined
    return observation.isAccepted ? 'holds' : observation.status === 400 ? { why: 'refused' } : undefined
  }),
  rule(
    'lifetime of a token',
    documented('Authentication', '`expires_in` returns the token lifetime in seconds.'),
    undefined,
    ({ status, at }, { tokenEnd }) => {
      if (tokenEnd === undefined || at === undefined || at > tokenEnd - 10_000) return undefined
      return verdict(status !== 401, 'refused before its end')
    },
  ),
  rule('Bearer', assumed(3, 'Compares the scheme name without regard to case.'), undefined, observation => {
    const { operation, headers, isAccepted, status } = observation
    const scheme = headers.authorization?.split(' ')[0] ?? ''
    if (operation === undefined || scheme === 'Bearer' || scheme.toLowerCase() !== 'bearer') return undefined
    return isAccepted ? 'holds' : status === 401 ? { why: 'refused' } : undefined
  }),
]

/** Refusals of token requests. */
export const tokenGuards: readonly Guard[] = [
  guard(
    'JSON token request',
    assumed(3, 'Returns 415 for JSON.'),
    TOKEN,
    ['values', 'UNSUPPORTED_MEDIA_TYPE'],
    ({ body }) => body.kind === 'json',
  ),
  guard(
    'repeated field',
    assumed(3, 'Returns 400 for a missing, empty or repeated parameter.'),
    TOKEN,
    ['values', 'MALFORMED_REQUEST'],
    ({ body }) => body.kind === 'form' && body.isRepeated,
  ),
]
