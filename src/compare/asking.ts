import { isDeepStrictEqual } from 'node:util'
import { formatInstant, parseInstant } from '../core/time/time.js'
import { isSameOutcome, membersOf } from './answers.js'
import type { Case } from './case.js'
import type { Credentials } from './requests.js'
import { isForeignCursor, toOutgoing, withoutCursor } from './requests.js'
import type { Answer } from './sandbox.js'
import { TOLERANCE } from './sandbox.js'

/** The answers of the sandbox at the ends of the time. Undefined: that of the late end was not asked for yet. */
export type Own = readonly [Answer, Answer?]

/** Sends requests of a case with its credentials. `search` is another query. */
export type Ask = (at: 0 | 1, search?: string) => Promise<Answer>

/** Returns the function that sends the request of a case to the client at one end. A refused one changes nothing. */
export function createAsk(one: Case, credentials: readonly Credentials[]): Ask {
  const { entry, match, operation, ends, isAccepted, isToken } = one
  return (at, search) => {
    // No page before has such a cursor.
    const isForeign = isAccepted && operation?.isList === true && isForeignCursor(entry, ends[at])
    const request = { ...entry, search: search ?? (isForeign ? withoutCursor(entry.search) : entry.search) }
    const outgoing = toOutgoing(request, match.path, ends[at], credentials[at] as Credentials, isToken)
    return ends[at].ask(outgoing, search !== undefined || !isAccepted)
  }
}

/** Asks the late end if the early one has another outcome. Returns undefined if the request cannot be sent. */
export async function askFirst({ entry }: Case, ask: Ask): Promise<Own | undefined> {
  try {
    const first = await ask(0)
    if (isSameOutcome(entry, first)) return [first]
    const second = await ask(1)
    return isSameOutcome(entry, second) ? [second, second] : [first, second]
  } catch {
    // It has a method or a target that no client can send.
    return undefined
  }
}

/**
 * Whether the early end has created a record as the service has, but for the present time. Then the late end would, too,
 * and gets that record.
 */
export function isTimely({ ends: [{ tenant }], operation, content }: Case, { status, body }: Answer): boolean {
  const [own, given] = [membersOf(body), membersOf(content)]
  const now = tenant.clock.now()
  const names = Object.keys(own).filter(name => own[name] === formatInstant(now))
  const at = parseInstant(String(given[names[0] ?? '']))
  if (status !== 201 || operation?.record === undefined || at === undefined || at < now || at > now + 2 * TOLERANCE)
    return false
  return isDeepStrictEqual({ ...own, ...Object.fromEntries(names.map(name => [name, formatInstant(at)])) }, given)
}

/** Takes over the origins of embedded links, which the settings of the service have. */
export function prepare({ ends, sent: { origin }, isAccepted }: Case): void {
  for (const { tenant } of ends) {
    const { allowedOrigins } = tenant.settings
    if (isAccepted && typeof origin === 'string' && !allowedOrigins.includes(origin) && allowedOrigins.length < 100)
      tenant.settings.allowedOrigins = [...allowedOrigins, origin]
  }
}
