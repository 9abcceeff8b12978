import { isSame } from '../../core/digests.js'
import type { Ids } from '../../core/ids.js'
import type { TenantContext } from '../../core/tenant-context.js'
import type { Instant } from '../../core/time/time.js'
import type { AccessToken } from './schemas.js'

export type Tokens = ReturnType<typeof createTokens>

export interface TokensOptions {
  readonly context: Pick<TenantContext, 'clock' | 'ids'>
  readonly clientId: string
  /** The keys of the client itself. In a fork, the keys of the context belong to the original. */
  readonly keys: Pick<Ids, 'sign'>
  /** The client as it is now. */
  readonly client: TokenClient
  /** The configured scope. If undefined, the scope of the request. */
  readonly scope: string | undefined
  /** Lifetime in seconds. */
  readonly lifetime: number
  /** The number of times that all tokens were expired. A restored state can have a smaller one. */
  readonly state: { generation: number }
}

/** What tokens depend on, beside the state of the tenant. */
export interface TokenClient {
  /** A token ends with the secret that it was issued for, with a reset, and with its client. */
  readonly secretDigest: string
  readonly resets: number
  /** Is added to the generation of the state, so that the generation of new tokens never goes back. */
  readonly tokenGenerationOffset: number
}

/** The claims of a token. */
export interface Claims {
  readonly generation: number
  readonly expiresAt: Instant
}

/** The scope of a token that no request and no entry of a client names. */
export const DEFAULT_SCOPE = 'payments'

const toBase36 = (value: number) => value.toString(36)

/**
 * Creates the access tokens of one tenant. A token holds its claims and a signature, so none is stored.
 * Its form is `<client id>.<number>.<generation>.<expiry>.<signature>`.
 */
export function createTokens(options: TokensOptions) {
  const { context, client, clientId, keys, scope, lifetime, state } = options
  const { clock, ids } = context
  const owner = Buffer.from(clientId).toString('base64url')
  // Makes tokens of the same second differ. It is not part of the tenant's state, so a restart may begin it again.
  let issued = 0
  const present = () => client.tokenGenerationOffset + state.generation
  const sign = (claims: string, by = keys) => by.sign('token', `${client.secretDigest}.${client.resets}.${claims}`)

  return {
    /**
     * Issues a token that expires on the tenant's clock (decisions §3).
     * @param asked the scope that the request asks for
     */
    issue(asked = DEFAULT_SCOPE): AccessToken {
      const numbers = [++issued, present(), clock.now() / 1000 + lifetime]
      const claims = [owner, ...numbers.map(toBase36)].join('.')
      return {
        access_token: `${claims}.${sign(claims)}`,
        expires_in: lifetime,
        scope: scope ?? asked,
        token_type: 'Bearer',
      }
    },
    /** Returns the claims of a token, expired or not, or undefined if it was not issued here. */
    read(token: string): Claims | undefined {
      const end = token.lastIndexOf('.')
      const claims = token.slice(0, end)
      const signature = token.slice(end + 1)
      // Release 1.0.0 signed with the keys of the state.
      if (end < 0 || !(isSame(signature, sign(claims)) || isSame(signature, sign(claims, ids)))) return undefined
      const [, , generation = '', expiry = ''] = claims.split('.')
      return { generation: Number.parseInt(generation, 36), expiresAt: Number.parseInt(expiry, 36) * 1000 }
    },
    isExpired: ({ generation, expiresAt }: Claims): boolean =>
      generation < client.tokenGenerationOffset + state.generation || clock.now() >= expiresAt,
    /** Expires all issued tokens (control plane, POST /tokens/expire). */
    expireAll(): void {
      state.generation++
    },
    /** Returns the generation of new tokens. Tokens of an earlier one are expired. */
    generation: present,
  }
}

/** Returns the client id in a token, unverified, or undefined if the token has no client id. */
export function ownerOf(token: string): string | undefined {
  const end = token.indexOf('.')
  return end < 1 ? undefined : Buffer.from(token.slice(0, end), 'base64url').toString()
}
