import { membersOf } from './answers.js'
import type { Case } from './case.js'
import type { Credentials } from './requests.js'
import type { Answer } from './sandbox.js'

/** Returns the credentials of a request at each end: its own token for a captured one, and whether its secret is right. */
export const credentialsOf = (one: Case): Credentials[] =>
  one.ends.map((_, at) => ({ token: tokenAt(one, at as 0 | 1), hasSecret: hasSecret(one) }))

function tokenAt({ run, entry, group, ends, isToken }: Case, at: 0 | 1): string | undefined {
  if (isToken) return undefined
  const isRefused = entry.status === 401
  const known = entry.bearer === undefined ? undefined : group.tokens.get(entry.bearer)
  if (known !== undefined) return known.own[at]
  // A capture that keeps no Authorization has left it out.
  if (entry.headers.authorization === undefined && (isRefused || run.hasAuthorization(entry.origin))) return undefined
  return isRefused ? 'unknown' : ends[at].tenant.tokens.issue().access_token
}

/** The first secret that is accepted is the right one. */
function hasSecret({ entry: { secret, status }, group, isAccepted }: Case): boolean {
  if (secret === undefined) return status !== 401
  if (isAccepted) group.secret ??= secret
  return group.secret === secret
}

/** Notes the tokens that both ends have issued for a captured one. */
export function noteToken({ entry, group, content }: Case, own: readonly Answer[]): void {
  if (entry.issued === undefined) return
  const lifetime = membersOf(content).expires_in
  const end = (entry.at ?? 0) + entry.milliseconds + (typeof lifetime === 'number' ? lifetime * 1000 : 0)
  group.tokens.set(entry.issued, { own: own.map(({ body }) => String(membersOf(body).access_token)), end })
}

/** Whether a token is refused, or accepted, for a reason that the capture does not show: it ends now, or is unknown. */
export function isTokenUncertain({ entry, group, isToken }: Case, code: string | undefined): boolean {
  const known = entry.bearer === undefined ? undefined : group.tokens.get(entry.bearer)
  if (known !== undefined) return entry.at !== undefined && Math.abs(known.end - entry.at) < 60_000
  return !isToken && (code === 'EXPIRED_TOKEN' || code === 'INVALID_TOKEN' || code === 'MISSING_TOKEN')
}
