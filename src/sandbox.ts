import { createHash, timingSafeEqual } from 'node:crypto'
import type { Tokens } from './areas/oauth/tokens.js'
import { createTokens, ownerOf } from './areas/oauth/tokens.js'
import { errors } from './core/errors.js'
import type { Instant } from './core/time.js'
import { wholeSecond } from './core/time.js'
import type { Fixture, Fixtures } from './fixtures.js'
import { resolveDates } from './fixtures.js'
import type { SeedRecords } from './seed.js'
import type { World } from './world.js'
import { createWorld } from './world.js'

/** A client that exists from the start: an entry of the file SANDBOX_CLIENTS, or the demo client. */
export interface ClientEntry {
  readonly clientId: string
  readonly clientSecret: string
  readonly scope?: string
  readonly fixture?: string
  readonly allowedOrigins?: readonly string[]
}

export interface SandboxOptions {
  readonly seed: string
  /** An instant at which every tenant starts frozen; undefined: tenants run with the real time. */
  readonly frozenAt?: Instant | undefined
  readonly fixtures: Fixtures
  readonly clients: readonly ClientEntry[]
  /** Whether the first token request of an unknown client registers it. */
  readonly openRegistration: boolean
  readonly maxTenants: number
  /** Lifetime of a token in seconds. */
  readonly tokenLifetime: number
  /** The address that payout links are reached under, without a trailing slash. */
  publicUrl(): string
  /** Told of each tenant that made room for another. */
  dropped?(clientId: string): void
}

/** A client and all that is its own (decisions §3). */
export interface Tenant {
  readonly clientId: string
  readonly fixture: string
  readonly world: World
  readonly tokens: Tokens
}

/**
 * All tenants of one process. Times come in as arguments: `realNow` is the real time in milliseconds, and every
 * look-up of a tenant brings its clock there first.
 */
export interface Sandbox {
  readonly seed: string
  readonly fixtures: Fixtures
  /**
   * The tenant of the client credentials; registers an unknown client where registration is open.
   * @throws INVALID_CLIENT, SERVICE_UNAVAILABLE (no room for another tenant)
   */
  authenticate(clientId: string, clientSecret: string, realNow: number): Tenant
  /** The tenant that a token was issued to. @throws INVALID_TOKEN, EXPIRED_TOKEN */
  admit(token: string, realNow: number): Tenant
  /** @throws CLIENT_NOT_FOUND */
  tenant(clientId: string, realNow: number): Tenant
  tenants(realNow: number): Tenant[]
  /** The records of a fixture with their dates made absolute. @throws INVALID_FIELD (there is no such fixture) */
  fixtureRecords(name: string, now: Instant): SeedRecords
  /** Puts a tenant back to its fixture: records, clock, ids, settings, events, tokens. @throws CLIENT_NOT_FOUND */
  reset(clientId: string, realNow: number): Tenant
}

export const DEMO_CLIENT: ClientEntry = { clientId: 'sandbox-client', clientSecret: 'sandbox-secret', fixture: 'demo' }

/** What a client may call itself to be registered: decisions §3. */
const REGISTRABLE = /^[A-Za-z0-9._-]{1,64}$/
const DEFAULT_SCOPE = 'payments'

interface Registration {
  readonly client: ClientEntry
  readonly secretDigest: Buffer
  resets: number
  /** Made when it is first needed, since many clients may be listed that a run never uses. */
  live: Tenant | undefined
}

export function createSandbox(options: SandboxOptions): Sandbox {
  const { seed, frozenAt, fixtures, clients, openRegistration, maxTenants, tokenLifetime, publicUrl, dropped } = options
  const configured = new Map<string, Registration>()
  // In order of use: the one idle longest comes first.
  const registered = new Map<string, Registration>()

  /** How often clients that were dropped had been reset or dropped. */
  const retired = new Map<string, number>()

  for (const client of [DEMO_CLIENT, ...clients]) configured.set(client.clientId, registration(client))

  function registration(client: ClientEntry): Registration {
    return { client, secretDigest: digest(client.clientSecret), resets: 0, live: undefined }
  }

  /** Looks a client up, and counts that as its use. */
  function touch(clientId: string): Registration | undefined {
    const known = configured.get(clientId)
    if (known !== undefined) return known
    const found = registered.get(clientId)
    if (found !== undefined) {
      registered.delete(clientId)
      registered.set(clientId, found)
    }
    return found
  }

  /** Drops a client, and remembers for a good while that its tokens are gone. */
  function retire(clientId: string) {
    retired.set(clientId, (registered.get(clientId) as Registration).resets + 1)
    registered.delete(clientId)
    const [oldest] = retired.keys()
    if (retired.size > 5 * maxTenants) retired.delete(oldest as string)
  }

  function register(client: ClientEntry): Registration {
    if (configured.size + registered.size >= maxTenants) {
      const [idle] = registered.keys()
      if (idle === undefined)
        throw errors.unavailable(`There is room for ${maxTenants} tenants, and none can be dropped.`)
      retire(idle)
      dropped?.(idle)
    }
    const fresh = { ...registration(client), resets: retired.get(client.clientId) ?? 0 }
    registered.set(client.clientId, fresh)
    return fresh
  }

  /** A token ends with a reset, with its client, and when another secret registers the name. */
  const bindingOf = ({ secretDigest, resets }: Registration) => `${secretDigest.toString('base64url')}.${resets}`

  function start(known: Registration, realNow: number): Tenant {
    const { clientId, fixture = 'empty', scope = DEFAULT_SCOPE, allowedOrigins = [] } = known.client
    const now = frozenAt ?? wholeSecond(realNow)
    const world = createWorld({
      seed,
      clientId,
      clock: { now, mode: frozenAt === undefined ? 'running' : 'frozen', rate: 1, realNow },
      settings: { mandateActivation: 'automatic', allowedOrigins },
      publicUrl,
    })
    world.seed(fixtureRecords(fixture, now))
    return {
      clientId,
      fixture,
      world,
      tokens: createTokens({ engine: world, clientId, binding: bindingOf(known), scope, lifetime: tokenLifetime }),
    }
  }

  function open(known: Registration, realNow: number): Tenant {
    known.live ??= start(known, realNow)
    known.live.world.clock.sync(realNow)
    return known.live
  }

  function fixtureRecords(name: string, now: Instant): SeedRecords {
    const fixture: Fixture | undefined = fixtures.get(name)
    if (fixture === undefined) throw errors.unknownFixture(name, [...fixtures.keys()])
    return resolveDates(fixture as SeedRecords, now)
  }

  function mustFind(clientId: string): Registration {
    const known = touch(clientId)
    if (known === undefined) throw errors.clientNotFound(clientId)
    return known
  }

  return {
    seed,
    fixtures,
    fixtureRecords,
    authenticate(clientId, clientSecret, realNow) {
      const known = touch(clientId)
      if (known !== undefined) {
        if (!timingSafeEqual(known.secretDigest, digest(clientSecret))) throw errors.invalidClient()
        return open(known, realNow)
      }
      if (!openRegistration) throw errors.invalidClient()
      if (!REGISTRABLE.test(clientId)) {
        throw errors.invalidClient(
          'Unknown client_id. To register one, use 1 to 64 letters, digits, dots, underscores or hyphens.',
        )
      }
      return open(register({ clientId, clientSecret }), realNow)
    },
    admit(token, realNow) {
      const clientId = ownerOf(token) ?? ''
      const tokens = (configured.get(clientId) ?? registered.get(clientId))?.live?.tokens
      // A forged token must not count as use of the tenant, nor move its clock.
      if (tokens === undefined || !tokens.isAuthentic(token)) throw errors.invalidToken()
      const tenant = open(touch(clientId) as Registration, realNow)
      if (tokens.isExpired(token)) throw errors.expiredToken()
      return tenant
    },
    tenant: (clientId, realNow) => open(mustFind(clientId), realNow),
    tenants: realNow => [...configured.values(), ...registered.values()].map(known => open(known, realNow)),
    reset(clientId, realNow) {
      const known = mustFind(clientId)
      known.resets++
      known.live = start(known, realNow)
      return open(known, realNow)
    },
  }
}

/** Digests are of one length, so that comparing them tells nothing of the secret's. */
const digest = (secret: string) => createHash('sha256').update(secret).digest()
