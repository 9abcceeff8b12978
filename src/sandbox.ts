import type { Tokens, TokensInUse } from './areas/oauth/tokens.js'
import { createTokens, ownerOf } from './areas/oauth/tokens.js'
import { digestOf, isSame } from './core/digests.js'
import { errors } from './core/errors.js'
import type { Instant } from './core/time.js'
import { wholeSecond } from './core/time.js'
import type { Fixture, Fixtures } from './fixtures.js'
import { resolveDates } from './fixtures.js'
import type { SeedRecords } from './seed.js'
import type { State } from './state.js'
import { copyOf } from './state.js'
import type { World } from './world.js'
import { createWorld, restoreWorld } from './world.js'

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
  /** Told of the lives of tenants, in this order. */
  readonly watchers?: readonly Watcher[]
  /** For a replay, which has no secrets: clients are taken at their word, and a token is the client's id. */
  readonly isTrusting?: boolean
}

/** A client and all that is its own (decisions §3), for one life: a reset or a state that is put back begins another. */
export interface Tenant {
  readonly clientId: string
  readonly fixture: string
  readonly world: World
  readonly tokens: Tokens
}

/** Who a tenant is, as its data folder keeps it. No secret: a digest of it, to which tokens are bound. */
export interface Identity {
  readonly clientId: string
  /** SHA-256 in base64url; null: the first token request sets the secret. */
  readonly secretDigest: string | null
  readonly resets: number
  readonly fixture: string
  readonly scope: string
  readonly allowedOrigins: readonly string[]
}

/** How a life of a tenant begins. */
export interface Beginning {
  readonly how: 'fixture' | 'reset' | 'state' | 'fork' | 'kept'
  readonly identity: Identity
  /** The state that it begins with, as long as nothing has changed it; for a fixture, also later. */
  state(): State
}

/** Whoever keeps something beside the tenants, such as their recordings. */
export interface Watcher {
  /** A life begins; nobody has seen it yet. @throws to have none of it: the tenant stays what it was */
  began(tenant: Tenant, beginning: Beginning): void
  /** The tenant is gone for good. */
  ended(clientId: string): void
}

/**
 * All tenants of one process. Times come in as arguments: `realNow` is the real time in milliseconds, and every
 * look-up of a tenant brings its clock there first.
 */
export interface Sandbox {
  readonly seed: string
  readonly fixtures: Fixtures
  readonly tokenLifetime: number
  publicUrl(): string
  /**
   * The tenant of the client credentials; registers an unknown client where registration is open.
   * @throws INVALID_CLIENT, SERVICE_UNAVAILABLE (no room for another tenant)
   */
  authenticate(clientId: string, clientSecret: string, realNow: number): Tenant
  /** The tenant that a token was issued to. @throws INVALID_TOKEN, EXPIRED_TOKEN */
  admit(token: string, realNow: number): Tenant
  /** The client id of a token that was issued here, expired or not. */
  ownerOf(token: string): string | undefined
  /** Whether this life of the tenant goes on, its clock brought to the real time. */
  goesOn(tenant: Tenant, realNow: number): boolean
  has(clientId: string): boolean
  /** The time of a tenant, or that at which it would start. To ask is no use of it, and nothing happens by it. */
  timeOf(clientId: string, realNow: number): Instant
  /** @throws CLIENT_NOT_FOUND */
  tenant(clientId: string, realNow: number): Tenant
  tenants(realNow: number): Tenant[]
  /** @throws CLIENT_NOT_FOUND */
  identityOf(clientId: string): Identity
  /** The records of a fixture with their dates made absolute. @throws INVALID_FIELD (there is no such fixture) */
  fixtureRecords(name: string, now: Instant): SeedRecords
  /** Puts a tenant back to its fixture: records, clock, ids, settings, faults, events, tokens. @throws CLIENT_NOT_FOUND */
  reset(clientId: string, realNow: number): Tenant
  /** Puts a state in place of a tenant's own. @throws CLIENT_NOT_FOUND, INVALID_FIELD and others of `restoreWorld` */
  replace(clientId: string, state: State, realNow: number): Tenant
  /**
   * Registers another tenant that begins as an exact copy of this one.
   * @param to its client id and secret; undefined: the same secret
   * @throws CLIENT_NOT_FOUND, INVALID_FIELD (clientId), DUPLICATE_REFERENCE, SERVICE_UNAVAILABLE
   */
  fork(clientId: string, to: { clientId: string; clientSecret?: string | undefined }, realNow: number): Tenant
  /** Takes in a tenant that was kept. A client that is listed keeps the secret of the list. */
  adopt(identity: Identity, state: State, realNow: number): Tenant
  /** Has somebody told, once, of each tenant that has begun another life or is gone. */
  tell(somebody: (clientId: string) => void): void
}

export const DEMO_CLIENT: ClientEntry = { clientId: 'sandbox-client', clientSecret: 'sandbox-secret', fixture: 'demo' }

/** What a client may call itself to be registered: decisions §3. */
const REGISTRABLE = /^[A-Za-z0-9._-]{1,64}$/
const DEFAULT_SCOPE = 'payments'

interface Registration {
  readonly clientId: string
  readonly fixture: string
  readonly scope: string
  readonly allowedOrigins: readonly string[]
  /** Of one length, so that comparing them tells nothing of the secret's. Null: the first token request sets it. */
  secretDigest: string | null
  resets: number
  /** Made when it is first needed, since many clients may be listed that a run never uses. */
  live: Tenant | undefined
}

export function createSandbox(options: SandboxOptions): Sandbox {
  const { seed, frozenAt, fixtures, clients, openRegistration, maxTenants, tokenLifetime, publicUrl, dropped } = options
  const { watchers = [], isTrusting = false } = options
  const configured = new Map<string, Registration>()
  // In order of use: the one idle longest comes first.
  const registered = new Map<string, Registration>()
  /** The one that stands last: it need not be moved there. */
  let latest: Registration | undefined

  const tokensInUse: TokensInUse = new Map()
  const told = new Set<(clientId: string) => void>()
  /** How often clients that were dropped had been reset or dropped. */
  const retired = new Map<string, number>()

  for (const client of [DEMO_CLIENT, ...clients]) configured.set(client.clientId, registration(client))

  function registration(client: Omit<ClientEntry, 'clientSecret'> & { clientSecret?: string }): Registration {
    const { clientId, clientSecret, fixture = 'empty', scope = DEFAULT_SCOPE, allowedOrigins = [] } = client
    const resets = retired.get(clientId) ?? 0
    const secretDigest = clientSecret === undefined ? null : digestOf(clientSecret)
    return { clientId, fixture, scope, allowedOrigins, secretDigest, resets, live: undefined }
  }

  /** Looks a client up, and counts that as its use. */
  function touch(clientId: string): Registration | undefined {
    const known = configured.get(clientId)
    if (known !== undefined) return known
    const found = registered.get(clientId)
    if (found !== undefined && found !== latest) {
      registered.delete(clientId)
      registered.set(clientId, found)
      latest = found
    }
    return found
  }

  const peek = (clientId: string) => configured.get(clientId) ?? registered.get(clientId)

  /** Drops a client, and remembers for a good while that its tokens are gone. */
  function retire(clientId: string) {
    retired.set(clientId, (registered.get(clientId) as Registration).resets + 1)
    registered.delete(clientId)
    const [oldest] = retired.keys()
    if (retired.size > 5 * maxTenants) retired.delete(oldest as string)
    for (const watcher of watchers) watcher.ended(clientId)
    for (const somebody of told) somebody(clientId)
  }

  /** The client idle longest among those that can be dropped. */
  function idlest(except: string | undefined): string | undefined {
    for (const clientId of registered.keys()) if (clientId !== except) return clientId
    return undefined
  }

  /**
   * Registers a client once its first life has begun: one that cannot begin takes nobody's place.
   * @param origin what it is a fork of, which is not the one to make room for it
   */
  function register(fresh: Registration, begin: () => void, origin?: Registration) {
    const idle = idlest(origin?.clientId)
    const isFull = configured.size + registered.size >= maxTenants
    if (isFull && idle === undefined)
      throw errors.unavailable(`There is room for ${maxTenants} tenants, and none can be dropped.`)
    begin()
    if (isFull) {
      retire(idle as string)
      dropped?.(idle as string)
    }
    registered.set(fresh.clientId, fresh)
    latest = fresh
  }

  /** A token ends with a reset, with its client, and when another secret registers the name. */
  const bindingOf = ({ secretDigest, resets }: Registration) => `${secretDigest}.${resets}`

  const identity = (known: Registration): Identity => {
    const { clientId, fixture, scope, allowedOrigins, secretDigest, resets } = known
    return {
      clientId,
      secretDigest,
      resets,
      fixture,
      scope,
      allowedOrigins,
    }
  }

  /** Begins a life with a world, once all watchers are content. */
  function begin(known: Registration, how: Beginning['how'], world: World, state = () => world.keep()): Tenant {
    const { clientId, fixture, scope } = known
    const tokens = createTokens({
      engine: world,
      clientId,
      binding: () => bindingOf(known),
      scope,
      lifetime: tokenLifetime,
      issued: world.tokens,
      inUse: tokensInUse,
    })
    const tenant = { clientId, fixture, world, tokens }
    for (const watcher of watchers) watcher.began(tenant, { how, identity: identity(known), state })
    const isAnother = known.live !== undefined
    known.live = tenant
    if (isAnother) for (const somebody of told) somebody(clientId)
    return tenant
  }

  function startFromFixture(known: Registration, how: 'fixture' | 'reset', realNow: number): Tenant {
    const { clientId, fixture, allowedOrigins } = known
    const now = frozenAt ?? wholeSecond(realNow)
    const build = () => {
      const world = createWorld({
        seed,
        clientId,
        clock: { now, mode: frozenAt === undefined ? 'running' : 'frozen', rate: 1, realNow },
        settings: { mandateActivation: 'automatic', deprecationStyle: 'seed', allowedOrigins: [...allowedOrigins] },
        publicUrl,
      })
      world.seed(fixtureRecords(fixture, now))
      return world
    }
    return begin(known, how, build(), () => build().keep())
  }

  function open(known: Registration, realNow: number): Tenant {
    const tenant = known.live ?? startFromFixture(known, 'fixture', realNow)
    tenant.world.clock.sync(realNow)
    return tenant
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

  const restored = (state: State, realNow: number) => restoreWorld({ seed, publicUrl, realNow }, state)

  function hasSecret(known: Registration, clientSecret: string): boolean {
    const digest = digestOf(clientSecret)
    known.secretDigest ??= digest
    return isSame(digest, known.secretDigest)
  }

  return {
    seed,
    fixtures,
    tokenLifetime,
    publicUrl,
    fixtureRecords,
    authenticate(clientId, clientSecret, realNow) {
      const known = touch(clientId)
      if (known !== undefined) {
        if (!isTrusting && !hasSecret(known, clientSecret)) throw errors.invalidClient()
        return open(known, realNow)
      }
      if (!openRegistration) throw errors.invalidClient()
      if (!REGISTRABLE.test(clientId)) {
        throw errors.invalidClient(
          'Unknown client_id. To register one, use 1 to 64 letters, digits, dots, underscores or hyphens.',
        )
      }
      const fresh = registration({ clientId, clientSecret })
      register(fresh, () => startFromFixture(fresh, 'fixture', realNow))
      return open(fresh, realNow)
    },
    admit(token, realNow) {
      if (isTrusting) return open(mustFind(token), realNow)
      const clientId = ownerOf(token) ?? ''
      const tokens = peek(clientId)?.live?.tokens
      // A forged token must not count as use of the tenant, nor move its clock.
      const claims = tokens?.read(token)
      if (tokens === undefined || claims === undefined) throw errors.invalidToken()
      const tenant = open(touch(clientId) as Registration, realNow)
      if (tokens.isExpired(claims)) throw errors.expiredToken()
      return tenant
    },
    ownerOf(token) {
      const live = peek(ownerOf(token) ?? '')?.live
      return live?.tokens.read(token) === undefined ? undefined : live.clientId
    },
    goesOn(tenant, realNow) {
      if (peek(tenant.clientId)?.live !== tenant) return false
      tenant.world.clock.sync(realNow)
      return true
    },
    timeOf: (clientId, realNow) =>
      peek(clientId)?.live?.world.clock.timeAt(realNow) ?? frozenAt ?? wholeSecond(realNow),
    has: clientId => peek(clientId) !== undefined,
    tenant: (clientId, realNow) => open(mustFind(clientId), realNow),
    tenants: realNow => [...configured.values(), ...registered.values()].map(known => open(known, realNow)),
    identityOf: clientId => identity(mustFind(clientId)),
    reset(clientId, realNow) {
      const known = mustFind(clientId)
      known.resets++
      try {
        startFromFixture(known, 'reset', realNow)
      } catch (error) {
        known.resets--
        throw error
      }
      return open(known, realNow)
    },
    replace(clientId, state, realNow) {
      const known = mustFind(clientId)
      begin(known, 'state', restored(state, realNow))
      return open(known, realNow)
    },
    fork(clientId, to, realNow) {
      if (!REGISTRABLE.test(to.clientId)) {
        throw errors.invalid('clientId', 'clientId must be 1 to 64 letters, digits, dots, underscores or hyphens.')
      }
      const origin = mustFind(clientId)
      const { world } = open(origin, realNow)
      if (peek(to.clientId) !== undefined) throw errors.duplicateReference('clientId', to.clientId)
      const { fixture, scope, allowedOrigins, secretDigest } = origin
      const fresh = registration({ clientId: to.clientId, fixture, scope, allowedOrigins })
      fresh.secretDigest = to.clientSecret === undefined ? secretDigest : digestOf(to.clientSecret)
      const { events, ...rest } = world.keep()
      // What has run of the present second is copied, too.
      const since = world.clock.realTimeOf(world.clock.now()) ?? realNow
      // Events never change, so both may have the same.
      const start = () => begin(fresh, 'fork', restored({ ...copyOf(rest), events }, since))
      register(fresh, start, origin)
      return open(fresh, realNow)
    },
    adopt({ clientId, secretDigest, resets, ...rest }, state, realNow) {
      const listed = configured.get(clientId)
      const known = listed ?? {
        ...registration({ clientId, ...rest }),
        secretDigest,
      }
      known.resets = resets
      const start = () => begin(known, 'kept', restored(state, realNow))
      if (listed === undefined) register(known, start)
      else start()
      return known.live as Tenant
    },
    tell: somebody => void told.add(somebody),
  }
}
