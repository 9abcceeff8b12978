import { ownerOf } from '../areas/oauth/tokens.js'
import { digestOf, isSame } from '../core/digests.js'
import { errors } from '../core/errors.js'
import { DEFAULT_ALLOWED_ORIGINS } from '../core/rules/origins.js'
import type { Clock } from '../core/time/clock.js'
import type { Instant } from '../core/time/time.js'
import { wholeSecond } from '../core/time/time.js'
import type { Fixtures } from './fixtures.js'
import { resolveDates } from './fixtures.js'
import type { SeedRecords } from './seed.js'
import type { TenantSnapshot } from './snapshot.js'
import type { ClientFacts, Tenant } from './tenant.js'
import { createTenant, restoreTenant } from './tenant.js'

/** A client that exists from the start: an entry of the file SANDBOX_CLIENTS, or the demo client. */
export interface ClientEntry {
  readonly clientId: string
  readonly clientSecret: string
  readonly scope?: string
  readonly fixture?: string
  readonly allowedOrigins?: readonly string[]
}

export interface TenantRegistryOptions {
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
  /** Returns the address of payout links, without a trailing slash. */
  publicUrl(): string
  /** Called with each tenant that made room for another. */
  dropped?(clientId: string): void
  /** Called in this order. */
  readonly listeners?: readonly TenantListener[]
  /** Brings the clock of a tenant to the real time at each look-up; by default `clock.sync`. */
  syncClock?(clock: Clock, realNow: number): void
  /** Whether a database keeps all clients, so that a search for a record begins none. */
  readonly isKept?: boolean
  /** Whether secrets and tokens are not checked: a token is the client id. For a replay, which has no secrets. */
  readonly skipAuthentication?: boolean
}

/** The identity of a client, as the data folder and recordings keep it. It has no secret. */
export interface Identity {
  readonly clientId: string
  /** SHA-256 in base64url; null: the first token request sets the secret. */
  readonly secretDigest: string | null
  readonly resets: number
  readonly fixture: string
  readonly scope: string
  readonly allowedOrigins: readonly string[]
}

/** The creation of a tenant object. */
export interface Creation {
  readonly reason: 'fixture' | 'reset' | 'state' | 'fork' | 'restored'
  readonly identity: Identity
  /** Returns the state that the tenant starts with. Call it before a request changes the tenant. */
  snapshot(): TenantSnapshot
}

export interface TenantListener {
  /** A tenant is created; no request has seen it yet. Throws to refuse it: the former tenant stays. */
  onCreated(tenant: Tenant, creation: Creation): void
  /**
   * The client leaves memory. `removed`: it is gone, and its next token request begins it again. `released`: it is in
   * a database, and comes back with its next request. `deleted`: it is removed on request; an error refuses that.
   */
  onRemoved(clientId: string, reason: 'removed' | 'released' | 'deleted'): void
}

/**
 * All tenants of a process. Times are arguments: `realNow` is the real time in milliseconds, and each look-up of a
 * tenant brings its clock there first.
 */
export interface TenantRegistry {
  readonly seed: string
  readonly fixtures: Fixtures
  readonly tokenLifetime: number
  publicUrl(): string
  /**
   * Returns the tenant of client credentials; registers an unknown client where registration is open.
   * Throws INVALID_CLIENT, SERVICE_UNAVAILABLE (no room for another tenant).
   */
  authenticate(clientId: string, clientSecret: string, realNow: number): Tenant
  /** Returns the tenant that a token was issued to. Throws INVALID_TOKEN, EXPIRED_TOKEN. */
  admit(token: string, realNow: number): Tenant
  /** Returns the client id of a token that was issued here, expired or not. */
  ownerOf(token: string): string | undefined
  /** Returns whether a tenant is the client's present one, its clock brought to the real time. */
  isCurrent(tenant: Tenant, realNow: number): boolean
  has(clientId: string): boolean
  /** Returns the tenant of a client if it is in memory. It does not count as use, and nothing happens. */
  peek(clientId: string): Tenant | undefined
  /** Returns the clients that exist from the start. */
  configured(): string[]
  /** Removes a tenant from memory only: its database has it. */
  letGo(clientId: string): void
  /** Removes a client that another server has removed. Its tokens stay invalid by the number of its resets. */
  retire(clientId: string, resets: number): void
  /** Returns a tenant's time, or that at which it would start. It does not count as use, and nothing happens. */
  timeOf(clientId: string, realNow: number): Instant
  /** Throws CLIENT_NOT_FOUND. */
  tenant(clientId: string, realNow: number): Tenant
  tenants(realNow: number): Tenant[]
  /**
   * Returns the client ids of the tenants that match. It does not count as use, and nothing happens. Clients without
   * a request so far have the records of their fixture: they are looked at if no other matches.
   */
  clientsWhere(matches: (tenant: Tenant) => boolean, realNow: number): string[]
  /** Throws CLIENT_NOT_FOUND. */
  identityOf(clientId: string): Identity
  /** Returns the records of a fixture with absolute dates. Throws INVALID_FIELD for an unknown fixture. */
  fixtureRecords(name: string, now: Instant): SeedRecords
  /** Puts a tenant back to its fixture. Throws CLIENT_NOT_FOUND. */
  reset(clientId: string, realNow: number): Tenant
  /**
   * Removes a client that has registered itself. One that always exists is reset. Returns whether it is removed.
   * Throws CLIENT_NOT_FOUND, SERVICE_UNAVAILABLE.
   */
  remove(clientId: string, realNow: number): boolean
  /** Puts a state back. Throws CLIENT_NOT_FOUND and the errors of `restoreTenant`. */
  replace(clientId: string, snapshot: TenantSnapshot, realNow: number): Tenant
  /**
   * Registers another tenant that starts as an exact copy; without a secret it has the same.
   * Throws CLIENT_NOT_FOUND, INVALID_FIELD (clientId), DUPLICATE_REFERENCE, SERVICE_UNAVAILABLE.
   */
  fork(clientId: string, to: { clientId: string; clientSecret?: string | undefined }, realNow: number): Tenant
  /** Adds a tenant from a database or a recording. A listed client keeps the secret of the list. */
  adopt(identity: Identity, snapshot: TenantSnapshot, realNow: number): Tenant
}

export const DEMO_CLIENT: ClientEntry = {
  clientId: 'sandbox-client',
  clientSecret: 'sandbox-secret',
  fixture: 'demo',
  allowedOrigins: [...DEFAULT_ALLOWED_ORIGINS, 'https://shop.acme.example'],
}

/** The client ids that can be registered (decisions §3). */
const REGISTRABLE = /^[A-Za-z0-9._-]{1,64}$/
const DEFAULT_SCOPE = 'payments'

/** Whether a tenant has no records. */
const isEmpty = (tenant: Tenant) => Object.values(tenant.counts()).every(count => count === 0)

interface Registration {
  readonly clientId: string
  readonly fixture: string
  readonly scope: string
  readonly allowedOrigins: readonly string[]
  /** A digest, so that comparisons have one length. Null: the first token request sets the secret. */
  secretDigest: string | null
  resets: number
  /** Created at first use: many clients may be listed that a run never uses. */
  tenant: Tenant | undefined
}

export function createTenantRegistry(options: TenantRegistryOptions): TenantRegistry {
  const { seed, frozenAt, fixtures, clients, openRegistration, maxTenants, tokenLifetime, publicUrl, dropped } = options
  const { listeners = [], skipAuthentication = false } = options
  const { syncClock = (clock: Clock, realNow: number) => clock.sync(realNow) } = options
  const configured = new Map<string, Registration>()
  // In order of use: the one idle longest comes first.
  const registered = new Map<string, Registration>()
  /** The number of resets of dropped clients, so that their old tokens stay invalid. */
  const retired = new Map<string, number>()

  for (const client of [DEMO_CLIENT, ...clients]) configured.set(client.clientId, registration(client))

  function registration(client: Omit<ClientEntry, 'clientSecret'> & { clientSecret?: string }): Registration {
    const { clientId, clientSecret, fixture = 'empty', scope = DEFAULT_SCOPE } = client
    const { allowedOrigins = DEFAULT_ALLOWED_ORIGINS } = client
    const resets = retired.get(clientId) ?? 0
    const secretDigest = clientSecret === undefined ? null : digestOf(clientSecret)
    return { clientId, fixture, scope, allowedOrigins, secretDigest, resets, tenant: undefined }
  }

  const find = (clientId: string) => configured.get(clientId) ?? registered.get(clientId)

  /** Finds a client, and counts that as its use. */
  function use(clientId: string): Registration | undefined {
    const found = registered.get(clientId)
    if (found !== undefined) {
      registered.delete(clientId)
      registered.set(clientId, found)
    }
    return found ?? configured.get(clientId)
  }

  /** Throws CLIENT_NOT_FOUND. */
  function mustUse(clientId: string): Registration {
    const client = use(clientId)
    if (client === undefined) throw errors.clientNotFound(clientId)
    return client
  }

  function drop(client: Registration) {
    registered.delete(client.clientId)
    retire(client)
    for (const listener of listeners) listener.onRemoved(client.clientId, 'removed')
  }

  /** Remembers the resets of a client that is gone, so that its tokens stay invalid. */
  function retire({ clientId, resets }: Registration) {
    retired.set(clientId, resets + 1)
    const [oldest] = retired.keys()
    if (retired.size > 5 * maxTenants) retired.delete(oldest as string)
  }

  /** Returns the client that makes room: one without records, else any, and of those the one idle longest. */
  function leastNeeded(except: Registration | undefined): Registration | undefined {
    const candidates = [...registered.values()].filter(client => client !== except)
    return candidates.find(({ tenant }) => tenant === undefined || isEmpty(tenant)) ?? candidates[0]
  }

  /**
   * Registers a client after its tenant is created: one that cannot be created takes no other's place.
   * @param origin the client that it is a fork of, which does not make room for it
   */
  function register(client: Registration, create: () => void, origin?: Registration) {
    const isFull = configured.size + registered.size >= maxTenants
    const idle = isFull ? leastNeeded(origin) : undefined
    if (isFull && idle === undefined) {
      throw errors.unavailable(`There is room for ${maxTenants} tenants, and none can be dropped.`)
    }
    create()
    if (idle !== undefined) {
      drop(idle)
      dropped?.(idle.clientId)
    }
    registered.set(client.clientId, client)
  }

  const factsOf = (client: Registration): ClientFacts => {
    const { clientId, fixture, scope } = client
    // A token ends with a reset, with its client, and with the secret that it was issued for.
    return { clientId, fixture, scope, tokenLifetime, tokenBinding: () => `${client.secretDigest}.${client.resets}` }
  }

  const identity = ({ tenant, ...identity }: Registration): Identity => identity

  /** Makes a tenant the client's present one, once all listeners have accepted it. */
  function install(
    client: Registration,
    reason: Creation['reason'],
    tenant: Tenant,
    snapshot = () => tenant.snapshot(),
  ): Tenant {
    for (const listener of listeners) listener.onCreated(tenant, { reason, identity: identity(client), snapshot })
    client.tenant = tenant
    return tenant
  }

  function startFromFixture(client: Registration, reason: 'fixture' | 'reset', realNow: number): Tenant {
    const now = frozenAt ?? wholeSecond(realNow)
    const build = () => {
      const tenant = createTenant({
        seed,
        client: factsOf(client),
        clock: { now, mode: frozenAt === undefined ? 'running' : 'frozen', rate: 1, realNow },
        settings: {
          mandateActivation: 'automatic',
          deprecationStyle: 'seed',
          allowedOrigins: [...client.allowedOrigins],
        },
        publicUrl,
      })
      tenant.seed(fixtureRecords(client.fixture, now))
      return tenant
    }
    return install(client, reason, build(), () => build().snapshot())
  }

  function open(client: Registration, realNow: number): Tenant {
    const tenant = client.tenant ?? startFromFixture(client, 'fixture', realNow)
    syncClock(tenant.clock, realNow)
    return tenant
  }

  function fixtureRecords(name: string, now: Instant): SeedRecords {
    const fixture = fixtures.get(name)
    if (fixture === undefined) throw errors.unknownFixture(name, [...fixtures.keys()])
    return resolveDates(fixture as SeedRecords, now)
  }

  const restored = (client: Registration, snapshot: TenantSnapshot, realNow: number) =>
    restoreTenant({ seed, client: factsOf(client), publicUrl, realNow }, snapshot)

  function reset(clientId: string, realNow: number): Tenant {
    const client = mustUse(clientId)
    client.resets++
    try {
      startFromFixture(client, 'reset', realNow)
    } catch (error) {
      client.resets--
      throw error
    }
    return open(client, realNow)
  }

  function hasSecret(client: Registration, clientSecret: string): boolean {
    const digest = digestOf(clientSecret)
    client.secretDigest ??= digest
    return isSame(digest, client.secretDigest)
  }

  return {
    seed,
    fixtures,
    tokenLifetime,
    publicUrl,
    fixtureRecords,
    authenticate(clientId, clientSecret, realNow) {
      const known = use(clientId)
      if (known !== undefined) {
        if (!skipAuthentication && !hasSecret(known, clientSecret)) throw errors.invalidClient()
        return open(known, realNow)
      }
      if (!openRegistration) throw errors.invalidClient()
      if (!REGISTRABLE.test(clientId)) {
        throw errors.invalidClient(
          'Unknown client_id. To register one, use 1 to 64 letters, digits, dots, underscores or hyphens.',
        )
      }
      const client = registration({ clientId, clientSecret })
      register(client, () => startFromFixture(client, 'fixture', realNow))
      return open(client, realNow)
    },
    admit(token, realNow) {
      if (skipAuthentication) return open(mustUse(token), realNow)
      const clientId = ownerOf(token) ?? ''
      const tokens = find(clientId)?.tenant?.tokens
      // A forged token must not count as use of the tenant, nor move its clock.
      const claims = tokens?.read(token)
      if (tokens === undefined || claims === undefined) throw errors.invalidToken()
      const tenant = open(use(clientId) as Registration, realNow)
      if (tokens.isExpired(claims)) throw errors.expiredToken()
      return tenant
    },
    ownerOf(token) {
      const tenant = find(ownerOf(token) ?? '')?.tenant
      return tenant?.tokens.read(token) === undefined ? undefined : tenant.clientId
    },
    isCurrent(tenant, realNow) {
      if (find(tenant.clientId)?.tenant !== tenant) return false
      syncClock(tenant.clock, realNow)
      return true
    },
    timeOf: (clientId, realNow) => find(clientId)?.tenant?.clock.timeAt(realNow) ?? frozenAt ?? wholeSecond(realNow),
    has: clientId => find(clientId) !== undefined,
    peek: clientId => find(clientId)?.tenant,
    configured: () => [...configured.keys()],
    letGo(clientId) {
      const listed = configured.get(clientId)
      if (listed === undefined) registered.delete(clientId)
      else listed.tenant = undefined
      for (const listener of listeners) listener.onRemoved(clientId, 'released')
    },
    retire(clientId, resets) {
      retired.set(clientId, resets)
      if (!registered.delete(clientId)) return
      for (const listener of listeners) listener.onRemoved(clientId, 'removed')
    },
    tenant: (clientId, realNow) => open(mustUse(clientId), realNow),
    tenants: realNow => [...configured.values(), ...registered.values()].map(client => open(client, realNow)),
    clientsWhere(matches, realNow) {
      const clients = [...configured.values(), ...registered.values()]
      const used = clients.filter(({ tenant }) => tenant !== undefined && matches(tenant))
      const found =
        used.length > 0 || options.isKept
          ? used
          : clients.filter(client => client.tenant === undefined && matches(open(client, realNow)))
      return found.map(({ clientId }) => clientId)
    },
    identityOf: clientId => identity(mustUse(clientId)),
    reset,
    remove(clientId, realNow) {
      const client = mustUse(clientId)
      if (configured.has(clientId)) {
        reset(clientId, realNow)
        return false
      }
      registered.delete(clientId)
      try {
        for (const listener of listeners) listener.onRemoved(clientId, 'deleted')
      } catch (error) {
        registered.set(clientId, client)
        throw error
      }
      retire(client)
      return true
    },
    replace(clientId, snapshot, realNow) {
      const client = mustUse(clientId)
      // Restoring takes the objects over, and a listener that refuses the tenant leads to a second attempt.
      install(client, 'state', restored(client, structuredClone(snapshot), realNow))
      return open(client, realNow)
    },
    fork(clientId, to, realNow) {
      const origin = mustUse(clientId)
      const { clock, ...tenant } = open(origin, realNow)
      if (find(to.clientId) !== undefined) throw errors.duplicateReference('clientId', to.clientId)
      const { fixture, scope, allowedOrigins, secretDigest } = origin
      const client = registration({ clientId: to.clientId, fixture, scope, allowedOrigins })
      client.secretDigest = to.clientSecret === undefined ? secretDigest : digestOf(to.clientSecret)
      // The part of the present second that has passed is copied, too.
      const since = clock.realTimeOf(clock.now()) ?? realNow
      const create = () => install(client, 'fork', restored(client, structuredClone(tenant.snapshot()), since))
      register(client, create, origin)
      return open(client, realNow)
    },
    adopt({ clientId, secretDigest, resets, ...rest }, snapshot, realNow) {
      const listed = configured.get(clientId)
      const client = listed ?? { ...registration({ clientId, ...rest }), secretDigest }
      client.resets = resets
      const create = () => install(client, 'restored', restored(client, snapshot, realNow))
      if (listed === undefined) register(client, create)
      else create()
      return client.tenant as Tenant
    },
  }
}
