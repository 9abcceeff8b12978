import { isDeepStrictEqual } from 'node:util'
import { isSameOutcome } from './answers.js'
import type { Case } from './case.js'
import type { Credentials } from './requests.js'
import { isForeignCursor, toOutgoing, withoutCursor } from './requests.js'
import type { Answer } from './sandbox.js'

/** The answers of the sandbox at both ends of the time. */
export interface Own {
  readonly answers: readonly [Answer, Answer]
  /** Whether a read shows exactly what the sandbox has. */
  readonly isPlain: boolean
}

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

/** Sends a request to both ends. Returns undefined if it has a method or a target that cannot be sent. */
export async function askBoth({ entry, content, isAccepted }: Case, ask: Ask): Promise<Own | undefined> {
  try {
    const first = await ask(0)
    const isWrite = entry.method !== 'GET' && entry.method !== 'HEAD' && isAccepted
    const isSame = isSameOutcome(entry, first)
    // One answer is enough if it does not depend on the time.
    const isPlain = !isWrite && isSame && (!isAccepted || isDeepStrictEqual(first.body, content))
    const second = isPlain ? first : await ask(1)
    return { answers: !isSame && isSameOutcome(entry, second) ? [second, second] : [first, second], isPlain }
  } catch {
    return undefined
  }
}

/** Takes over the origins of embedded links, which the settings of the service have. */
export function prepare({ ends, sent: { origin }, isAccepted }: Case): void {
  for (const { tenant } of ends) {
    const { allowedOrigins } = tenant.settings
    if (isAccepted && typeof origin === 'string' && !allowedOrigins.includes(origin) && allowedOrigins.length < 100)
      tenant.settings.allowedOrigins = [...allowedOrigins, origin]
  }
}
