import { DEFAULT_SCOPE } from '../areas/oauth/tokens.js'
import { digestOf } from '../core/digests.js'
import { errors } from '../core/errors.js'
import { DEFAULT_ALLOWED_ORIGINS } from '../core/origins.js'
import type { Tenant } from './tenant.js'

/** A client that exists from the start: an entry of the file SANDBOX_CLIENTS, or the demo client. */
export interface ClientEntry {
  readonly clientId: string
  readonly clientSecret: string
  readonly scope?: string
  readonly fixture?: string
  readonly allowedOrigins?: readonly string[]
  readonly senderName?: string
}

export const DEMO_CLIENT: ClientEntry = {
  clientId: 'sandbox-client',
  clientSecret: 'sandbox-secret',
  fixture: 'demo',
}

export const DEFAULT_FIXTURE = 'empty'

/** The identity of a client, as a database keeps it. It has no secret. */
export interface Identity {
  readonly clientId: string
  /** SHA-256 in base64url. */
  readonly secretDigest: string
  readonly resets: number
  /** Added to the generation of tokens in the state: a restored state makes no expired token valid. Default: 0. */
  readonly tokenGenerationOffset?: number
  readonly fixture: string
  /** By default, each token request has its own scope. */
  readonly scope?: string | undefined
  readonly allowedOrigins: readonly string[]
  /** The setting at the start of a tenant. By default, it comes from the fixture. */
  readonly senderName?: string | undefined
}

/** A client with its present tenant, which is created at first use: a run may never use a listed client. */
export interface Client extends Identity {
  fixture: string
  resets: number
  tokenGenerationOffset: number
  tenant: Tenant | undefined
}

/** What a client starts with. */
type ClientStart = Pick<Identity, 'clientId' | 'secretDigest'> & Partial<Identity>

export interface ClientsOptions {
  /** The clients that exist from the start. */
  readonly listed: readonly ClientEntry[]
  readonly maxTenants: number
  /** Called when a client is removed, or makes room for another. */
  onRemoved(clientId: string): void
  /** Called with each client that made room for another. */
  dropped?(clientId: string): void
}

export type Clients = ReturnType<typeof createClients>

/** Creates the clients of a process: the initial ones, and the registered ones. */
export function createClients({ listed, maxTenants, onRemoved, dropped }: ClientsOptions) {
  const configured = new Map<string, Client>()
  /** In order of use: the client that was idle longest comes first. */
  const registered = new Map<string, Client>()
  /** The number of resets of clients that are gone, so that their old tokens stay invalid. */
  const retired = new Map<string, number>()
  /** With a database, which sets no bound here, the rows of clients have their resets. */
  const mostRetired = Number.isFinite(maxTenants) ? 5 * maxTenants : 10_000
  /** The tenants that have had records: they keep them. */
  const filled = new WeakSet<Tenant>()

  for (const { clientSecret, ...client } of [DEMO_CLIENT, ...listed]) {
    configured.set(client.clientId, create({ ...client, secretDigest: digestOf(clientSecret) }))
  }

  function create({
    fixture = DEFAULT_FIXTURE,
    allowedOrigins = DEFAULT_ALLOWED_ORIGINS,
    ...start
  }: ClientStart): Client {
    const resets = retired.get(start.clientId) ?? 0
    return { resets, tokenGenerationOffset: 0, ...start, fixture, allowedOrigins, tenant: undefined }
  }

  const find = (clientId: string): Client | undefined => configured.get(clientId) ?? registered.get(clientId)

  function retire(clientId: string, resets: number) {
    retired.delete(clientId)
    retired.set(clientId, resets)
    const [oldest = clientId] = retired.keys()
    if (retired.size > mostRetired) retired.delete(oldest)
  }

  function isEmpty(tenant: Tenant | undefined): boolean {
    if (tenant === undefined) return true
    if (filled.has(tenant)) return false
    if (Object.values(tenant.counts()).every(count => count === 0)) return true
    filled.add(tenant)
    return false
  }

  /** Returns the client to drop: the one idle longest among clients without records, else among all. */
  function leastNeeded(except: Client | undefined): Client | undefined {
    const candidates = [...registered.values()].filter(client => client !== except)
    return candidates.find(({ tenant }) => isEmpty(tenant)) ?? candidates[0]
  }

  function remove({ clientId, resets }: Client) {
    registered.delete(clientId)
    retire(clientId, resets + 1)
    onRemoved(clientId)
  }

  const clients = {
    create,
    /** Returns a client without counting that as its use. */
    find,
    /** Returns a client, and counts that as its use. @throws CLIENT_NOT_FOUND */
    use(clientId: string): Client {
      const client = find(clientId)
      if (client === undefined) throw errors.clientNotFound(clientId)
      if (registered.delete(clientId)) registered.set(clientId, client)
      return client
    },
    /**
     * Returns the client that makes room for another, if one must.
     * @param origin the client that was forked, which stays
     * @throws SERVICE_UNAVAILABLE
     */
    idleFor(origin?: Client): Client | undefined {
      if (configured.size + registered.size < maxTenants) return undefined
      const idle = leastNeeded(origin)
      if (idle !== undefined) return idle
      throw errors.unavailable(`There is room for ${maxTenants} tenants, and none can be dropped.`)
    },
    /** Registers a client once its tenant is created: a failure removes no other client. */
    register(client: Client, open: () => void, origin?: Client): void {
      const idle = clients.idleFor(origin)
      open()
      if (idle !== undefined) {
        remove(idle)
        dropped?.(idle.clientId)
      }
      clients.add(client)
    },
    /** Adds a client of a database. */
    add(client: Client): void {
      if (!configured.has(client.clientId)) registered.set(client.clientId, client)
    },
    /** Returns the client of an identity: a listed one keeps its listed secret. */
    known({ resets, tokenGenerationOffset = 0, ...identity }: Identity): Client {
      // Release 1.0.0 stored the default.
      const scope = identity.scope === DEFAULT_SCOPE ? undefined : identity.scope
      const client = configured.get(identity.clientId) ?? create({ ...identity, scope })
      return Object.assign(client, { resets, tokenGenerationOffset })
    },
    isConfigured: (clientId: string): boolean => configured.has(clientId),
    /** Returns the clients that exist from the start. */
    configured: (): string[] => [...configured.keys()],
    all: (): string[] => [...configured.keys(), ...registered.keys()],
    /** Returns a client whose id differs from another id in case only. */
    lookalikeOf(clientId: string): string | undefined {
      const letters = clientId.toLowerCase()
      const isAlike = (id: string) => id.length === letters.length && id !== clientId && id.toLowerCase() === letters
      for (const known of [configured, registered]) for (const id of known.keys()) if (isAlike(id)) return id
      return undefined
    },
    /** Removes a client that has registered itself. */
    remove,
    /** Removes a client from memory only: its database has it. */
    release(clientId: string): void {
      const listed = configured.get(clientId)
      if (listed === undefined) registered.delete(clientId)
      else listed.tenant = undefined
    },
    /** Removes a client that another server has removed. Returns whether it was registered here. */
    retire(clientId: string, resets: number): boolean {
      retire(clientId, resets)
      // It may be listed since.
      const listed = configured.get(clientId)
      if (listed !== undefined) listed.resets = Math.max(listed.resets, resets)
      return registered.delete(clientId)
    },
    /** Forgets that a client was removed: it is there again, with its number of resets. */
    unretire: (clientId: string): void => void retired.delete(clientId),
    /** Returns the resets of a client that was removed. */
    retiredResets: (clientId: string): number | undefined => retired.get(clientId),
  }
  return clients
}
