import { isSame } from '../../core/digests.js'
import type { TenantContext } from '../../core/tenant-context.js'
import type { Instant } from '../../core/time/time.js'
import type { AccessToken } from './schemas.js'

/**
 * The access tokens of one tenant. A token holds its claims and a signature, so none is stored.
 * Its form is `<client id>.<number>.<generation>.<expiry>.<signature>`.
 */
export interface Tokens {
  /** Issues a token that expires on the tenant's clock (decisions §3). */
  issue(): AccessToken
  /** Returns the claims of a token, expired or not; undefined: it was not issued here. */
  read(token: string): Claims | undefined
  isExpired(claims: Claims): boolean
  /** Expires all issued tokens (control plane, POST /tokens/expire). */
  expireAll(): void
}

export interface TokensOptions {
  readonly context: Pick<TenantContext, 'clock' | 'ids'>
  readonly clientId: string
  /** A token of another binding is unknown, for example one from before a reset. */
  binding(): string
  readonly scope: string
  /** Lifetime in seconds. */
  readonly lifetime: number
  /** Tokens of an earlier generation are expired. */
  readonly state: { generation: number }
}

/** The claims of a token. */
export interface Claims {
  readonly generation: number
  readonly expiresAt: Instant
}

const toBase36 = (value: number) => value.toString(36)
const fromBase36 = (text: string) => Number.parseInt(text, 36)

export function createTokens({ context, clientId, binding, scope, lifetime, state }: TokensOptions): Tokens {
  const { clock, ids } = context
  const owner = Buffer.from(clientId).toString('base64url')
  // Makes tokens of the same second differ. It is not part of the tenant's state, so a restart may begin it again.
  let issued = 0
  const sign = (claims: string) => ids.sign('token', `${binding()}.${claims}`)

  return {
    issue() {
      const numbers = [++issued, state.generation, clock.now() / 1000 + lifetime]
      const claims = [owner, ...numbers.map(toBase36)].join('.')
      return { access_token: `${claims}.${sign(claims)}`, expires_in: lifetime, scope, token_type: 'Bearer' }
    },
    read(token) {
      const end = token.lastIndexOf('.')
      const claims = token.slice(0, end)
      if (end < 0 || !isSame(token.slice(end + 1), sign(claims))) return undefined
      const [, , generation = '', expiry = ''] = claims.split('.')
      return { generation: fromBase36(generation), expiresAt: fromBase36(expiry) * 1000 }
    },
    isExpired: ({ generation, expiresAt }) => generation < state.generation || clock.now() >= expiresAt,
    expireAll() {
      state.generation++
    },
  }
}

/** Returns the client id in a token, unverified; undefined: it has none. */
export function ownerOf(token: string): string | undefined {
  const end = token.indexOf('.')
  return end < 1 ? undefined : Buffer.from(token.slice(0, end), 'base64url').toString()
}
