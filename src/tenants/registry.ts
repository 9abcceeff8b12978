import { DEFAULT_SCOPE, ownerOf } from '../areas/oauth/tokens.js'
import { DEFAULT_BOUNDS } from '../bounds.js'
import { digestOf, isSame } from '../core/digests.js'
import { errors } from '../core/errors.js'
import { DEFAULT_ALLOWED_ORIGINS } from '../core/origins.js'
import type { Instant } from '../core/time/time.js'
import { wholeSecond } from '../core/time/time.js'
import type { SeedRecords, StateDocument } from '../sandbox/state/schemas.js'
import type { Fixtures } from './fixtures.js'
import { resolveFixture, withOriginsOf } from './fixtures.js'
import type { ClientFacts, Tenant, TenantMeta } from './tenant.js'
import { createTenant, loadTenant, restoreTenant } from './tenant.js'

/** A client that exists from the start: an entry of the file SANDBOX_CLIENTS, or the demo client. */
export interface ClientEntry {
  readonly clientId: string
  readonly clientSecret: string
  readonly scope?: string
  readonly fixture?: string
  readonly allowedOrigins?: readonly string[]
  readonly senderName?: string
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
  /** The most records of a tenant. Default: 50,000. */
  readonly maxRecords?: number | undefined
  /** Lifetime of a token in seconds. */
  readonly tokenLifetime: number
  /**
   * Returns the address of the server, without a trailing slash: that of SANDBOX_PUBLIC_URL, else that by which a request
   * with a Host has come.
   * @param host an own name of the server; undefined: there is no request, or none with such a name
   */
  publicUrl(host?: string): string
  /** Called with each tenant that made room for another. */
  dropped?(clientId: string): void
  /** Called with the error of due work of a tenant. */
  dueWorkFailed?(clientId: string, error: Error): void
  /** Called in this order. */
  readonly listeners?: readonly TenantListener[]
}

/** The identity of a client, as a database keeps it. It has no secret. */
export interface Identity {
  readonly clientId: string
  /** SHA-256 in base64url. */
  readonly secretDigest: string
  readonly resets: number
  /** Added to the generation of tokens in the state: a restored state makes no expired token valid. Absent: 0. */
  readonly tokenGenerationOffset?: number
  readonly fixture: string
  readonly scope?: string | undefined
  readonly allowedOrigins: readonly string[]
  /** The setting at the start of a tenant. Absent: that of the fixture. */
  readonly senderName?: string | undefined
}

/** The creation of a tenant object. */
export interface Creation {
  readonly reason: 'fixture' | 'reset' | 'state' | 'fork' | 'restored'
  /** The client id of the tenant that a fork is a copy of. Undefined: the tenant is no fork. */
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

export const DEMO_CLIENT: ClientEntry = {
  clientId: 'sandbox-client',
  clientSecret: 'sandbox-secret',
  fixture: 'demo',
}

/** The client ids that can be registered (decisions §3). In a path, clients of HTTP remove `.` and `..` before they send it. */
const REGISTRABLE = /^(?!\.{1,2}$)[A-Za-z0-9._-]{1,64}$/
const DEFAULT_FIXTURE = 'empty'

interface Registration {
  readonly clientId: string
  fixture: string
  /** Undefined: that of each token request. */
  readonly scope: string | undefined
  readonly allowedOrigins: readonly string[]
  readonly senderName: string | undefined
  /** A digest, so that comparisons have one length. */
  secretDigest: string
  resets: number
  tokenGenerationOffset: number
  /** Created at first use: many clients may be listed that a run never uses. */
  tenant: Tenant | undefined
}

/**
 * Creates all tenants of a process. Times are arguments: `realNow` is the real time in milliseconds. Only a
 * transaction moves the clock of a tenant (`storage/storage.ts`); a look-up does not.
 */
export function createTenantRegistry(options: TenantRegistryOptions) {
  const { seed, frozenAt, fixtures, clients, openRegistration, maxTenants, tokenLifetime } = options
  const { dropped, dueWorkFailed, maxRecords = DEFAULT_BOUNDS.maxRecords } = options
  const listeners = [...(options.listeners ?? [])]
  const configured = new Map<string, Registration>()
  /** The tenants that have had records: they keep them. */
  const filled = new WeakSet<Tenant>()
  // In order of use: the one idle longest comes first.
  const registered = new Map<string, Registration>()
  /** With a database, whose tenants have no bound here, the rows of clients have their resets. */
  const mostRetired = Number.isFinite(maxTenants) ? 5 * maxTenants : 10_000
  /** The number of resets of dropped clients, so that their old tokens stay invalid. */
  const retired = new Map<string, number>()

  for (const { clientSecret, ...client } of [DEMO_CLIENT, ...clients]) {
    configured.set(client.clientId, registration({ ...client, secretDigest: digestOf(clientSecret) }))
  }

  function registration(
    client: Pick<Identity, 'clientId' | 'secretDigest' | 'senderName'> &
      Omit<ClientEntry, 'clientSecret' | 'senderName'>,
  ): Registration {
    const { clientId, secretDigest, fixture = DEFAULT_FIXTURE, scope, senderName } = client
    const { allowedOrigins = DEFAULT_ALLOWED_ORIGINS } = client
    const resets = retired.get(clientId) ?? 0
    return {
      ...{ clientId, fixture, scope, allowedOrigins, senderName, secretDigest, resets },
      tokenGenerationOffset: 0,
      tenant: undefined,
    }
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
    retire(client.clientId, client.resets + 1)
    notifyRemoved(client.clientId, 'removed')
  }

  function notifyRemoved(clientId: string, reason: RemovalReason) {
    for (const listener of listeners) listener.onRemoved(clientId, reason)
  }

  /** Remembers the resets of a client that is gone, so that its tokens stay invalid. */
  function retire(clientId: string, resets: number) {
    retired.delete(clientId)
    retired.set(clientId, resets)
    const [oldest] = retired.keys()
    if (retired.size > mostRetired) retired.delete(oldest as string)
  }

  function isEmpty(tenant: Tenant | undefined): boolean {
    if (tenant === undefined) return true
    if (filled.has(tenant)) return false
    if (Object.values(tenant.counts()).every(count => count === 0)) return true
    filled.add(tenant)
    return false
  }

  /** Returns the client that makes room: one without records, else any, and of those the one idle longest. */
  function leastNeeded(except: Registration | undefined): Registration | undefined {
    let idle: Registration | undefined
    for (const client of registered.values()) {
      if (client === except) continue
      if (isEmpty(client.tenant)) return client
      idle ??= client
    }
    return idle
  }

  /** Returns the client that makes room for another; undefined: there is room. Throws SERVICE_UNAVAILABLE. */
  function idleFor(origin: Registration | undefined): Registration | undefined {
    if (configured.size + registered.size < maxTenants) return undefined
    const idle = leastNeeded(origin)
    if (idle !== undefined) return idle
    throw errors.unavailable(`There is room for ${maxTenants} tenants, and none can be dropped.`)
  }

  /**
   * Registers a client after its tenant is created: one that cannot be created takes no other's place.
   * @param origin the client that it is a fork of, which does not make room for it
   */
  function register(client: Registration, create: () => void, origin?: Registration) {
    const idle = idleFor(origin)
    create()
    if (idle !== undefined) {
      drop(idle)
      dropped?.(idle.clientId)
    }
    registered.set(client.clientId, client)
  }

  const factsOf = (client: Registration): ClientFacts => {
    const { clientId, resets, fixture, scope } = client
    return { clientId, resets, fixture, scope, tokenLifetime, tokenClient: client }
  }

  const tenantOptions = (client: Registration) => ({
    ...{ seed, client: factsOf(client), maxRecords },
    dueWorkFailed: (error: Error) => dueWorkFailed?.(client.clientId, error),
  })

  const identity = ({ tenant, ...identity }: Registration): Identity => identity

  /** Makes a tenant the client's present one, once all listeners have accepted it. */
  function install(client: Registration, reason: Creation['reason'], tenant: Tenant, origin?: string): Tenant {
    for (const listener of listeners) listener.onCreated(tenant, { reason, origin })
    // The start of a tenant is no change of it.
    tenant.changes.clear()
    client.tenant = tenant
    // The client itself has its number now.
    retired.delete(client.clientId)
    return tenant
  }

  /** Returns a new tenant, after the work that is due at once. */
  function begin(tenant: Tenant, realNow: number): Tenant {
    tenant.clock.sync(realNow)
    return tenant
  }

  function startFromFixture(client: Registration, reason: 'fixture' | 'reset', realNow: number): Tenant {
    const now = frozenAt ?? wholeSecond(realNow)
    // The fixture of an earlier start can be gone. A reset repairs the client, so it begins with another one.
    if (!fixtures.has(client.fixture)) client.fixture = DEFAULT_FIXTURE
    const records = fixtureRecords(client.fixture, now)
    const { senderName = fixtures.get(client.fixture)?.senderName as string | undefined } = client
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

  const open = (client: Registration, realNow: number): Tenant =>
    client.tenant ?? begin(startFromFixture(client, 'fixture', realNow), realNow)

  function fixtureRecords(name: string, now: Instant): SeedRecords {
    const fixture = fixtures.get(name)
    if (fixture === undefined) throw errors.unknownFixture(name, [...fixtures.keys()])
    return resolveFixture(fixture, now)
  }

  function reset(clientId: string, realNow: number): Tenant {
    const client = mustUse(clientId)
    client.resets++
    try {
      return begin(startFromFixture(client, 'reset', realNow), realNow)
    } catch (error) {
      client.resets--
      throw error
    }
  }

  /** Returns the client of an identity: a listed one, or one that is not registered yet. */
  function known({ resets, tokenGenerationOffset = 0, ...identity }: Identity): Registration {
    // Release 1.0.0 stored the default.
    const scope = identity.scope === DEFAULT_SCOPE ? undefined : identity.scope
    const client = configured.get(identity.clientId) ?? registration({ ...identity, scope })
    client.resets = resets
    client.tokenGenerationOffset = tokenGenerationOffset
    return client
  }

  return {
    seed,
    fixtures,
    maxRecords,
    /** Calls a listener after those that are there already. */
    listen: (listener: TenantListener): void => void listeners.push(listener),
    /** Returns the records of a fixture with absolute dates. Throws INVALID_FIELD for an unknown fixture. */
    fixtureRecords,
    /** Returns whether a client has a secret. */
    hasSecret: (clientId: string, secret: string): boolean =>
      isSame(digestOf(secret), find(clientId)?.secretDigest ?? ''),
    /**
     * Returns the tenant of client credentials; registers an unknown client where registration is open.
     * Throws INVALID_CLIENT, SERVICE_UNAVAILABLE (no room for another tenant).
     */
    authenticate(clientId: string, clientSecret: string, realNow: number): Tenant {
      const known = use(clientId)
      if (known !== undefined) {
        if (!isSame(digestOf(clientSecret), known.secretDigest)) throw errors.invalidClient()
        return open(known, realNow)
      }
      if (!openRegistration) throw errors.invalidClient()
      if (!REGISTRABLE.test(clientId)) {
        throw errors.invalidClient(
          'Unknown client_id. To register one, use 1 to 64 letters, digits, dots, underscores or hyphens, but not . or ..',
        )
      }
      const client = registration({ clientId, secretDigest: digestOf(clientSecret) })
      register(client, () => open(client, realNow))
      return client.tenant as Tenant
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
      const tenant = open(use(clientId) as Registration, realNow)
      if (tokens.isExpired(claims)) throw errors.expiredToken()
      return tenant
    },
    /** Returns the client id of a token that was issued here, expired or not. */
    ownerOf(token: string): string | undefined {
      const tenant = find(ownerOf(token) ?? '')?.tenant
      return tenant?.tokens.read(token) === undefined ? undefined : tenant.clientId
    },
    /**
     * Returns a tenant's time, or that at which it would start. It does not count as use, and nothing happens.
     * @param last the tenant as it was, in case it is out of memory
     */
    timeOf: (clientId: string, realNow: number, last?: Tenant): Instant =>
      (find(clientId)?.tenant ?? last)?.clock.timeAt(realNow) ?? frozenAt ?? wholeSecond(realNow),
    has: (clientId: string): boolean => find(clientId) !== undefined,
    /** Returns the secret of the demo client while everyone may know it; undefined: it has another, or is another client. */
    knownSecretOf: (clientId: string): string | undefined =>
      find(clientId)?.secretDigest === digestOf(DEMO_CLIENT.clientSecret) && clientId === DEMO_CLIENT.clientId
        ? DEMO_CLIENT.clientSecret
        : undefined,
    /** Returns a client whose id differs from that of a registered one in case only; undefined: there is none. */
    lookalikeOf(clientId: string): string | undefined {
      const letters = clientId.toLowerCase()
      const isAlike = (id: string) => id.length === letters.length && id !== clientId && id.toLowerCase() === letters
      for (const clients of [configured, registered]) for (const id of clients.keys()) if (isAlike(id)) return id
      return undefined
    },
    /** Returns the tenant of a client if it is in memory. It does not count as use, and nothing happens. */
    peek: (clientId: string): Tenant | undefined => find(clientId)?.tenant,
    /** Returns the clients that exist from the start. */
    configured: (): string[] => [...configured.keys()],
    /** Lists the clients in memory, and those that exist from the start. */
    clients: (): string[] => [...configured.keys(), ...registered.keys()],
    /** Removes a tenant from memory only: its database has it. */
    letGo(clientId: string): void {
      const listed = configured.get(clientId)
      if (listed === undefined) registered.delete(clientId)
      else listed.tenant = undefined
      notifyRemoved(clientId, 'released')
    },
    /** Removes a client that another server has removed. Its tokens stay invalid by the number of its resets. */
    retire(clientId: string, resets: number): void {
      retire(clientId, resets)
      // It may be listed since.
      const listed = configured.get(clientId)
      if (listed !== undefined) listed.resets = Math.max(listed.resets, resets)
      if (registered.delete(clientId)) notifyRemoved(clientId, 'retired')
    },
    /** Returns the resets of a client that was removed; undefined: it is present, or not known. */
    resetsOf: (clientId: string): number | undefined => retired.get(clientId),
    /** Returns the number of resets of a client, present or not. */
    resetsSoFar: (clientId: string): number => find(clientId)?.resets ?? retired.get(clientId) ?? 0,
    /** Throws CLIENT_NOT_FOUND. */
    tenant: (clientId: string, realNow: number): Tenant => open(mustUse(clientId), realNow),
    tenants: (realNow: number): Tenant[] =>
      [...configured.values(), ...registered.values()].map(client => open(client, realNow)),
    /** Throws CLIENT_NOT_FOUND. */
    identityOf: (clientId: string): Identity => identity(mustUse(clientId)),
    /** Puts a tenant back to its fixture. Throws CLIENT_NOT_FOUND. */
    reset,
    /**
     * Removes a client that has registered itself. One that always exists is reset. Returns whether it is removed.
     * Throws CLIENT_NOT_FOUND, SERVICE_UNAVAILABLE.
     */
    remove(clientId: string, realNow: number): boolean {
      const client = mustUse(clientId)
      if (configured.has(clientId)) {
        reset(clientId, realNow)
        return false
      }
      drop(client)
      return true
    },
    /** Puts a state back. Throws CLIENT_NOT_FOUND and the errors of `restoreTenant`. */
    replace(clientId: string, document: StateDocument, realNow: number): Tenant {
      const client = mustUse(clientId)
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
      const origin = mustUse(clientId)
      const tenant = open(origin, realNow)
      if (find(to.clientId) !== undefined) throw errors.duplicateReference('clientId', to.clientId)
      idleFor(origin)
      const { fixture, scope, allowedOrigins, senderName } = origin
      const secretDigest = to.clientSecret === undefined ? origin.secretDigest : digestOf(to.clientSecret)
      const client = registration({ clientId: to.clientId, secretDigest, fixture, scope, allowedOrigins, senderName })
      const meta = tenant.meta()
      const fork = loadTenant(tenantOptions(client), meta, realNow)
      fork.load({ meta, records: tenant.records(), events: tenant.events.after(0) }, realNow)
      register(client, () => install(client, 'fork', fork, clientId), origin)
      return begin(fork, realNow)
    },
    /** Creates the tenant of a client from a database, without its records. A listed client keeps its listed secret. */
    load(identity: Identity, meta: TenantMeta, realNow: number): LoadingTenant {
      const client = known(identity)
      const tenant = loadTenant(tenantOptions(client), meta, realNow)
      return {
        tenant,
        install() {
          install(client, 'restored', tenant)
          if (!configured.has(client.clientId)) registered.set(client.clientId, client)
        },
      }
    },
  }
}
