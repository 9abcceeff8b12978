import type { Engine } from '../../core/engine.js'
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
  /** Whether it is one of these, expired or not. */
  isAuthentic(token: string): boolean
  /** Whether an authentic token's time is over. */
  isExpired(token: string): boolean
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

/** A tag is made in 2 µs, a fifteenth of a whole request, so those of the tokens in use are kept, 100 bytes each. */
const MOST_KNOWN = 1000

const base36 = (value: number) => value.toString(36)

export function createTokens({ engine, clientId, binding, scope, lifetime, issued }: TokensOptions): Tokens {
  const { clock, ids } = engine
  const owner = Buffer.from(clientId).toString('base64url')
  const tag = (claims: string) => ids.sign('token', `${binding()}.${claims}`)

  /** Tags of tokens in use, by their claims. As long as there is a token, the binding stays as it is. */
  const known = new Map<string, string>()

  function remember(claims: string, right: string) {
    if (known.size === MOST_KNOWN) known.clear()
    known.set(claims, right)
  }

  return {
    issue() {
      const claims = `${owner}.${base36(ids.count('token'))}.${base36(clock.now() / 1000 + lifetime)}`
      return { access_token: `${claims}.${tag(claims)}`, expires_in: lifetime, scope, token_type: 'Bearer' }
    },
    isAuthentic(token) {
      const end = token.lastIndexOf('.')
      const claims = token.slice(0, end)
      const found = known.get(claims)
      const right = found ?? tag(claims)
      if (!isSame(token.slice(end + 1), right)) return false
      if (found === undefined) remember(claims, right)
      return true
    },
    isExpired(token) {
      const [, number = '', expiry = ''] = token.split('.')
      return Number.parseInt(number, 36) <= issued.expiredUpTo || clock.now() >= Number.parseInt(expiry, 36) * 1000
    },
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
