import { ownerOf } from '../areas/oauth/tokens.js'
import { DEFAULT_BOUNDS } from '../bounds.js'
import { digestOf, isSame } from '../core/digests.js'
import { errors } from '../core/errors.js'
import type { Instant } from '../core/time/time.js'
import { wholeSecond } from '../core/time/time.js'
import type { SeedRecords, StateDocument } from '../sandbox/state/schemas.js'
import type { Client, ClientEntry, Identity } from './clients.js'
import { createClients, DEFAULT_FIXTURE, DEMO_CLIENT } from './clients.js'
import type { TenantMeta } from './content.js'
import type { Fixtures } from './fixtures.js'
import { resolveFixture, withOriginsOf } from './fixtures.js'
import type { ClientFacts, Tenant } from './tenant.js'
import { createTenant, loadTenant, restoreTenant } from './tenant.js'

export interface TenantRegistryOptions {
  readonly seed: string
  /** The instant at which every tenant starts frozen. By default, tenants run with the real time. */
  readonly frozenAt?: Instant | undefined
  readonly fixtures: Fixtures
  readonly clients: readonly ClientEntry[]
  /** Whether the first token request of an unknown client registers it. */
  readonly openRegistration: boolean
  readonly maxTenants: number
  /** The most records of a tenant. Default: 50,000. */
  readonly maxRecords?: number | undefined
  /** Lifetime of a token in seconds. */
  readonly tokenLifetime: number
  /**
   * Returns the address of the server, without a trailing slash: SANDBOX_PUBLIC_URL, else the address by which a request
   * with a Host has come.
   * @param host an own name of the server, if a request has named one
   */
  publicUrl(host?: string): string
  /** Called with each tenant that made room for another. */
  dropped?(clientId: string): void
  /** Called with the error of due work of a tenant. */
  dueWorkFailed?(clientId: string, error: Error): void
  /** Called in this order. */
  readonly listeners?: readonly TenantListener[]
}

/** The creation of a tenant object. */
export interface Creation {
  readonly reason: 'fixture' | 'reset' | 'state' | 'fork' | 'restored'
  /** The client id of the tenant that a fork is a copy of. */
  readonly origin?: string | undefined
}

/** A tenant that is read from a database. */
export interface LoadingTenant {
  readonly tenant: Tenant
  /** Makes it the client's present tenant. */
  install(): void
}

type RemovalReason = 'removed' | 'retired' | 'released'

export interface TenantListener {
  /** A tenant is created; no request has seen it yet. */
  onCreated(tenant: Tenant, creation: Creation): void
  /**
   * The client leaves memory. `removed`: it is gone, and its next token request begins it again. `retired`: another server
   * has removed it. `released`: it is in a database, and comes back with its next request.
   */
  onRemoved(clientId: string, reason: RemovalReason): void
}

export type TenantRegistry = ReturnType<typeof createTenantRegistry>

/** The client ids that can be registered (decisions §3). In a path, clients of HTTP remove `.` and `..` before they send it. */
const REGISTRABLE = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/

/**
 * Creates all tenants of a process. Times are arguments: `realNow` is the real time in milliseconds. Only a
 * transaction moves the clock of a tenant (`storage/storage.ts`); a look-up does not.
 */
export function createTenantRegistry(options: TenantRegistryOptions) {
  const { seed, frozenAt, fixtures, openRegistration, maxTenants, tokenLifetime } = options
  const { dropped, dueWorkFailed, maxRecords = DEFAULT_BOUNDS.maxRecords } = options
  const listeners = [...(options.listeners ?? [])]
  const notifyRemoved = (clientId: string, reason: RemovalReason) => {
    for (const listener of listeners) listener.onRemoved(clientId, reason)
  }
  const clients = createClients({
    listed: options.clients,
    maxTenants,
    onRemoved: clientId => notifyRemoved(clientId, 'removed'),
    ...(dropped && { dropped }),
  })
  const { find, use } = clients

  const factsOf = (client: Client): ClientFacts => {
    const { clientId, resets, fixture, scope } = client
    return { clientId, resets, fixture, scope, tokenLifetime, tokenClient: client }
  }

  const tenantOptions = (client: Client) => ({
    ...{ seed, client: factsOf(client), maxRecords },
    dueWorkFailed: (error: Error) => dueWorkFailed?.(client.clientId, error),
  })

  /** Makes a tenant the client's present one, once all listeners have accepted it. */
  function install(client: Client, reason: Creation['reason'], tenant: Tenant, origin?: string): Tenant {
    for (const listener of listeners) listener.onCreated(tenant, { reason, origin })
    // The start of a tenant is no change of it.
    tenant.changes.clear()
    client.tenant = tenant
    // The client itself has its number now.
    clients.unretire(client.clientId)
    return tenant
  }

  /** Returns a new tenant, after the work that is due at once. */
  function begin(tenant: Tenant, realNow: number): Tenant {
    tenant.clock.sync(realNow)
    return tenant
  }

  function startFromFixture(client: Client, reason: 'fixture' | 'reset', realNow: number): Tenant {
    const now = frozenAt ?? wholeSecond(realNow)
    // The fixture of an earlier start can be gone. A reset repairs the client, so it begins with another one.
    if (!fixtures.has(client.fixture)) client.fixture = DEFAULT_FIXTURE
    const records = fixtureRecords(client.fixture, now)
    const { senderName = fixtures.get(client.fixture)?.senderName } = client
    const tenant = createTenant({
      ...tenantOptions(client),
      clock: { now, mode: frozenAt === undefined ? 'running' : 'frozen', rate: 1, realNow },
      settings: {
        allowedOrigins: withOriginsOf(records, client.allowedOrigins),
        ...(senderName !== undefined && { senderName }),
      },
    })
    tenant.seed(records)
    return install(client, reason, tenant)
  }

  const open = (client: Client, realNow: number): Tenant =>
    client.tenant ?? begin(startFromFixture(client, 'fixture', realNow), realNow)

  function fixtureRecords(name: string, now: Instant): SeedRecords {
    const fixture = fixtures.get(name)
    if (fixture === undefined) throw errors.unknownFixture(name, [...fixtures.keys()])
    return resolveFixture(fixture, now)
  }

  function reset(clientId: string, realNow: number): Tenant {
    const client = use(clientId)
    client.resets++
    try {
      return begin(startFromFixture(client, 'reset', realNow), realNow)
    } catch (error) {
      client.resets--
      throw error
    }
  }

  /** Returns whether a client has a secret. */
  const hasSecret = (clientId: string, secret: string): boolean =>
    isSame(digestOf(secret), find(clientId)?.secretDigest ?? '')

  return {
    seed,
    fixtures,
    maxRecords,
    /** Calls a listener after those that are there already. */
    listen: (listener: TenantListener): void => void listeners.push(listener),
    /** Returns the records of a fixture with absolute dates. Throws INVALID_FIELD for an unknown fixture. */
    fixtureRecords,
    hasSecret,
    /**
     * Returns the tenant of client credentials; registers an unknown client where registration is open.
     * Throws INVALID_CLIENT, SERVICE_UNAVAILABLE (no room for another tenant).
     */
    authenticate(clientId: string, clientSecret: string, realNow: number): Tenant {
      if (find(clientId) !== undefined) {
        const known = use(clientId)
        if (!hasSecret(clientId, clientSecret)) throw errors.invalidClient()
        return open(known, realNow)
      }
      if (!openRegistration) throw errors.invalidClient()
      if (!REGISTRABLE.test(clientId)) {
        throw errors.invalidClient(
          'Unknown client_id. To register one, use 1 to 64 letters, digits, dots, underscores or hyphens, but not . or ..',
        )
      }
      const client = clients.create({ clientId, secretDigest: digestOf(clientSecret) })
      clients.register(client, () => open(client, realNow))
      return open(client, realNow)
    },
    /**
     * Returns the tenant that a token was issued to. Throws INVALID_TOKEN, EXPIRED_TOKEN.
     * @param clientId the client id in the token, if it is decoded already
     */
    admit(token: string, realNow: number, clientId: string = ownerOf(token) ?? ''): Tenant {
      const tokens = find(clientId)?.tenant?.tokens
      // A forged token must not count as use of the tenant, nor move its clock.
      const claims = tokens?.read(token)
      if (tokens === undefined || claims === undefined) throw errors.invalidToken()
      const tenant = open(use(clientId), realNow)
      if (tokens.isExpired(claims)) throw errors.expiredToken()
      return tenant
    },
    /**
     * Returns the time of a tenant, or the time at which it would start. This does not count as use, and does no due work.
     * @param last the tenant as it was, in case it is out of memory
     */
    timeOf: (clientId: string, realNow: number, last?: Tenant): Instant =>
      (find(clientId)?.tenant ?? last)?.clock.timeAt(realNow) ?? frozenAt ?? wholeSecond(realNow),
    has: (clientId: string): boolean => find(clientId) !== undefined,
    /** Returns the secret of the demo client while everyone may know it. */
    knownSecretOf: (clientId: string): string | undefined =>
      find(clientId)?.secretDigest === digestOf(DEMO_CLIENT.clientSecret) && clientId === DEMO_CLIENT.clientId
        ? DEMO_CLIENT.clientSecret
        : undefined,
    lookalikeOf: clients.lookalikeOf,
    /** Returns the tenant of a client if it is in memory. It does not count as use, and nothing happens. */
    peek: (clientId: string): Tenant | undefined => find(clientId)?.tenant,
    configured: clients.configured,
    /** Lists the clients in memory, and those that exist from the start. */
    clients: clients.all,
    /** Removes a tenant from memory only: its database has it. */
    release(clientId: string): void {
      clients.release(clientId)
      notifyRemoved(clientId, 'released')
    },
    /** Removes a client that another server has removed. Its tokens stay invalid by the number of its resets. */
    retire(clientId: string, resets: number): void {
      if (clients.retire(clientId, resets)) notifyRemoved(clientId, 'retired')
    },
    /** Returns the resets of a client that was removed. */
    resetsOf: clients.retiredResets,
    /** Returns the number of resets of a client, present or not. */
    resetsSoFar: (clientId: string): number => find(clientId)?.resets ?? clients.retiredResets(clientId) ?? 0,
    /** Throws CLIENT_NOT_FOUND. */
    tenant: (clientId: string, realNow: number): Tenant => open(use(clientId), realNow),
    /** Throws CLIENT_NOT_FOUND. */
    identityOf(clientId: string): Identity {
      const { tenant, ...identity } = use(clientId)
      return identity
    },
    /** Puts a tenant back to its fixture. Throws CLIENT_NOT_FOUND. */
    reset,
    /**
     * Removes a client that has registered itself. One that always exists is reset. Returns whether it is removed.
     * Throws CLIENT_NOT_FOUND, SERVICE_UNAVAILABLE.
     */
    remove(clientId: string, realNow: number): boolean {
      const client = use(clientId)
      if (clients.isConfigured(clientId)) {
        reset(clientId, realNow)
        return false
      }
      clients.remove(client)
      return true
    },
    /** Puts a state back. Throws CLIENT_NOT_FOUND and the errors of `restoreTenant`. */
    replace(clientId: string, document: StateDocument, realNow: number): Tenant {
      const client = use(clientId)
      const replacement = restoreTenant({ ...tenantOptions(client), realNow }, document)
      const generation = client.tenant?.tokens.generation() ?? 0
      const tenant = install(client, 'state', replacement)
      client.tokenGenerationOffset = Math.max(client.tokenGenerationOffset, generation - document.tokens.generation)
      return begin(tenant, realNow)
    },
    /**
     * Registers another tenant that starts as an exact copy; without a secret it has the same.
     * Throws CLIENT_NOT_FOUND, INVALID_FIELD (clientId), DUPLICATE_REFERENCE, SERVICE_UNAVAILABLE.
     */
    fork(clientId: string, to: { clientId: string; clientSecret?: string | undefined }, realNow: number): Tenant {
      const origin = use(clientId)
      const tenant = open(origin, realNow)
      if (find(to.clientId) !== undefined) throw errors.duplicateReference('clientId', to.clientId)
      clients.idleFor(origin)
      const { fixture, scope, allowedOrigins, senderName } = origin
      const secretDigest = to.clientSecret === undefined ? origin.secretDigest : digestOf(to.clientSecret)
      const client = clients.create({ clientId: to.clientId, secretDigest, fixture, scope, allowedOrigins, senderName })
      const meta = tenant.meta()
      const fork = loadTenant(tenantOptions(client), meta, realNow)
      fork.load({ meta, records: tenant.records(), events: tenant.events.after(0) }, realNow)
      clients.register(client, () => install(client, 'fork', fork, clientId), origin)
      return begin(fork, realNow)
    },
    /** Creates the tenant of a client from a database, without its records. A listed client keeps its listed secret. */
    load(identity: Identity, meta: TenantMeta, realNow: number): LoadingTenant {
      const client = clients.known(identity)
      const tenant = loadTenant(tenantOptions(client), meta, realNow)
      return {
        tenant,
        install() {
          install(client, 'restored', tenant)
          clients.add(client)
        },
      }
    },
  }
}

export type { ClientEntry, Identity } from './clients.js'
export { DEMO_CLIENT } from './clients.js'
