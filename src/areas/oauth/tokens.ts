import { isSame } from '../../core/digests.js'
import type { Engine } from '../../core/engine.js'
import { latest } from '../../core/memo.js'
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
  readonly inUse: TokensInUse
}

/** What a token says. */
export interface Claims {
  readonly number: number
  readonly expiresAt: Instant
}

/** A token that was found right, without its tag. */
interface Known extends Claims {
  readonly tag: string
  /** The life of the tenant that it was issued in: of one that has ended, nothing else is held on to. */
  readonly life: object
}

/** Tokens in use, of all tenants of a process: to read one anew takes as long as to find and answer a record. */
export type TokensInUse = Map<string, Known>

/** So many at most, at 300 bytes each: the one that has been known longest goes first. */
const MOST_IN_USE = 10_000

/** Of what `Ids.sign` gives. */
const TAG_LENGTH = 16

const base36 = (value: number) => value.toString(36)

export function createTokens({ engine, clientId, binding, scope, lifetime, issued, inUse }: TokensOptions): Tokens {
  const { clock, ids } = engine
  const owner = Buffer.from(clientId).toString('base64url')
  const life = {}
  const tagOf = (claims: string) => ids.sign('token', `${binding()}.${claims}`)

  return {
    issue() {
      const number = ids.count('token')
      const text = `${owner}.${base36(number)}.${base36(clock.now() / 1000 + lifetime)}`
      return { access_token: `${text}.${tagOf(text)}`, expires_in: lifetime, scope, token_type: 'Bearer' }
    },
    read(token) {
      const text = token.slice(0, -TAG_LENGTH - 1)
      const known = inUse.get(text)
      const isKnown = known?.life === life
      const tag = isKnown ? known.tag : tagOf(text)
      if (token.charAt(text.length) !== '.' || !isSame(token.slice(-TAG_LENGTH), tag)) return undefined
      if (isKnown) return known

      const [, number = '', expiry = ''] = text.split('.')
      const claims = { number: Number.parseInt(number, 36), expiresAt: Number.parseInt(expiry, 36) * 1000 }
      if (inUse.size === MOST_IN_USE) inUse.delete(inUse.keys().next().value as string)
      inUse.set(text, { ...claims, tag, life })
      return claims
    },
    isExpired: ({ number, expiresAt }) => number <= issued.expiredUpTo || clock.now() >= expiresAt,
    expireAll() {
      issued.expiredUpTo = ids.counters().token ?? 0
    },
  }
}

/** Whose token it says it is; undefined where it is none of ours. */
export function ownerOf(token: string): string | undefined {
  const end = token.indexOf('.')
  return end < 1 ? undefined : decoded(token.slice(0, end))
}

const decoded = latest((owner: string) => Buffer.from(owner, 'base64url').toString())
