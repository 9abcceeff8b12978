import { createHmac, randomBytes, scryptSync } from 'node:crypto'
import { isSame } from '../../core/digests.js'

/** The name of the cookie of a session. */
export const COOKIE = 'sandbox_session'

/** The lifetime of a session in seconds. */
export const SESSION_SECONDS = 12 * 60 * 60

/** The most ended sessions that are remembered. */
const MOST_ENDED = 10_000

export type Sessions = ReturnType<typeof createSessions>

/**
 * Creates the sessions of browsers that have given the admin token. Times are real milliseconds. A session is its expiry,
 * signed with a key that follows from the token. All servers with the token therefore take it, and another token ends it.
 * The key is slow to derive, so a cookie does not help to guess the token.
 */
export function createSessions(adminToken: string) {
  let key: Buffer | undefined
  /** The values of ended sessions, the oldest first. */
  const ended = new Set<string>()

  function sign(text: string): string {
    key ??= scryptSync(adminToken, 'payments-sandbox session', 32)
    return createHmac('sha256', key).update(text).digest('base64url')
  }

  return {
    /** Returns the value of the cookie of a new session. */
    begin(now: number): string {
      const text = `${randomBytes(16).toString('base64url')}.${now + SESSION_SECONDS * 1000}`
      return `${text}.${sign(text)}`
    },
    isValid(value: string, now: number): boolean {
      const [id = '', expiry = '', signature = ''] = value.split('.')
      const text = `${id}.${expiry}`
      return (
        isSame(signature, sign(text)) && value === `${text}.${signature}` && Number(expiry) > now && !ended.has(value)
      )
    },
    /** Ends a session on this server. */
    end(value: string): void {
      ended.add(value)
      const [oldest] = ended
      if (ended.size > MOST_ENDED) ended.delete(oldest as string)
    },
  }
}
