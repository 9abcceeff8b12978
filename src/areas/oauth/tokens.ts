import type { Engine } from '../../core/engine.js'
import type { Instant } from '../../core/time.js'
import type { AccessToken } from './schemas.js'

/**
 * The access tokens of one tenant.
 *
 * A token says whose it is, its number and when it expires, and carries a tag that only this tenant of this seed can
 * make. So none is stored: however many are issued, memory stays flat, and a check costs the same.
 * The wire form `<client id>.<number>.<expiry>.<tag>` is nobody's business but this file's.
 */
export interface Tokens {
  /** Issues a token that lives on the tenant's clock (decisions §3). */
  issue(): AccessToken
  /** What a token says, expired or not; undefined: it is none of these. */
  read(token: string): Claims | undefined
  /** Whether the time of a token is over. */
  isExpired(claims: Claims): boolean
  /** Ends all that have been issued (control plane, POST /tokens/expire). */
  expireAll(): void
}

export interface TokensOptions {
  readonly engine: Engine
  readonly clientId: string
  /** Tokens of another binding are not known: what they were issued for is gone. */
  binding(): string
  readonly scope: string
  /** Lifetime in seconds. */
  readonly lifetime: number
  /** Which of them are expired whatever the clock says: those with a number up to this one. */
  readonly issued: { expiredUpTo: number }
}

/** What a token says. */
export interface Claims {
  readonly number: number
  readonly expiresAt: Instant
}

interface Known extends Claims {
  readonly tag: string
}

/** So many tokens in use are known to their tenant, at 200 bytes each: to read one takes a tenth of a whole request. */
const MOST_KNOWN = 1000

/** Of what `Ids.sign` gives. */
const TAG_LENGTH = 16

const base36 = (value: number) => value.toString(36)

export function createTokens({ engine, clientId, binding, scope, lifetime, issued }: TokensOptions): Tokens {
  const { clock, ids } = engine
  const owner = Buffer.from(clientId).toString('base64url')
  const tagOf = (claims: string) => ids.sign('token', `${binding()}.${claims}`)
  // As long as there is a token, the binding stays as it is.
  const known = new Map<string, Known>()

  function remember(text: string, claims: Known) {
    if (known.size === MOST_KNOWN) known.clear()
    known.set(text, claims)
  }

  return {
    issue() {
      const claims = { number: ids.count('token'), expiresAt: clock.now() + lifetime * 1000 }
      const text = `${owner}.${base36(claims.number)}.${base36(claims.expiresAt / 1000)}`
      const tag = tagOf(text)
      remember(text, { ...claims, tag })
      return { access_token: `${text}.${tag}`, expires_in: lifetime, scope, token_type: 'Bearer' }
    },
    read(token) {
      const text = token.slice(0, -TAG_LENGTH - 1)
      const found = known.get(text)
      const tag = found?.tag ?? tagOf(text)
      if (token.charAt(text.length) !== '.' || !isSame(token.slice(-TAG_LENGTH), tag)) return undefined
      if (found !== undefined) return found

      const [, number = '', expiry = ''] = text.split('.')
      const claims = { number: Number.parseInt(number, 36), expiresAt: Number.parseInt(expiry, 36) * 1000, tag }
      remember(text, claims)
      return claims
    },
    isExpired: ({ number, expiresAt }) => number <= issued.expiredUpTo || clock.now() >= expiresAt,
    expireAll() {
      issued.expiredUpTo = ids.counters.token ?? 0
    },
  }
}

/** Whose token it says it is; undefined where it is none of ours. */
export function ownerOf(token: string): string | undefined {
  const end = token.indexOf('.')
  return end < 1 ? undefined : Buffer.from(token.slice(0, end), 'base64url').toString()
}

/** Compares in constant time, for equal lengths: however much is right, every character is looked at. */
function isSame(given: string, right: string): boolean {
  let difference = given.length ^ right.length
  for (let at = 0; at < right.length; at++) difference |= given.charCodeAt(at) ^ right.charCodeAt(at)
  return difference === 0
}
