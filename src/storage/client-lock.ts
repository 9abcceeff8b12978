import type { FastifyInstance, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ownerOf as ownerOfToken } from '../areas/oauth/tokens.js'
import { authentication, bearerOf } from '../http/authenticate.js'
import { hint, hintRegistration } from '../http/hints.js'
import type { Credentials, RequestContext } from '../http/request-context.js'
import { isRead } from '../http/url.js'
import { applyFaults, hasFault } from '../sandbox/faults/apply.js'
import type { TenantRegistry } from '../tenants/registry.js'
import { DEMO_CLIENT } from '../tenants/registry.js'
import type { Tenant } from '../tenants/tenant.js'
import type { Storage } from './storage.js'

/** The tenants of a server, and the only way to read or change them. */
export interface Tenants {
  readonly registry: TenantRegistry
  readonly storage: Storage
  /** Returns the real time in milliseconds. */
  now(): number
}

/** Returns the real time in milliseconds. Nothing else in the server reads it. */
export const realNow = (): number => Date.now()

/** Notes whether a page of the console has sent a request: it is then the cause of what the request does. */
export function noteSender({ headers }: FastifyRequest, { events }: Tenant): void {
  events.sender = headers['sandbox-sender'] === 'console' ? 'console' : undefined
}

/** How the requests of a scope find their client, and its tenant in the lock of the client. */
interface ClientAccess {
  /** Returns the client that a request is for. */
  clientOf(request: FastifyRequest): string
  /** Finds the tenant. Checks what may have changed since the request was admitted. */
  enter(request: FastifyRequest, realNow: number): Tenant
  /** Whether faults apply. */
  readonly hasFaults?: boolean
  /** Whether a request that meets no fault changes nothing, although its method is POST. */
  readonly changesNothing?: boolean
  /** Whether `refresh` has brought the tenant up to date for each request. */
  readonly isFresh?: boolean
}

/** Lets the routes of a scope call `withClient`. */
function useClientLock(scope: FastifyInstance, { registry, storage }: Tenants, access: ClientAccess): void {
  const { clientOf, enter, hasFaults = false, changesNothing = false, isFresh = false } = access

  scope.decorate('withClient', function withClient(request, work) {
    const clientId = clientOf(request)
    const isReading = isRead(request.method)
    request.sandbox.clientId = clientId
    return storage.transact(clientId, {
      isFresh,
      isRead(realNow) {
        if (!isReading && !changesNothing) return false
        const tenant = registry.peek(clientId)
        return !hasFaults || tenant === undefined || tenant.faults.isEmpty() || !hasFault(request, tenant, realNow)
      },
      run(realNow) {
        const tenant = enter(request, realNow)
        noteSender(request, tenant)
        if (hasFaults && !tenant.faults.isEmpty()) applyFaults(request, tenant, realNow)
        return isReading ? work(tenant) : tenant.attempt(() => work(tenant))
      },
    })
  })
}

/**
 * The scope of the API: a request is for the client of its token. Requires the token and the region, and refuses an operation
 * that is gone (decisions §11).
 */
export const clientOfToken = fp<Tenants>(async (scope, tenants) => {
  const { registry, storage, now } = tenants

  await scope.register(authentication, {
    admit(request, token, done) {
      const clientId = ownerOfToken(token)
      // The tenant is brought up to date before the expiry of the token is checked.
      storage.refresh(clientId, function admitClient(error) {
        if (error !== undefined) return done(error)
        try {
          const { sandbox } = request
          sandbox.tenant = registry.admit(token, now(), clientId)
          announceDeprecation(sandbox, sandbox.tenant)
        } catch (refusal) {
          return done(refusal as Error)
        }
        done()
      })
    },
  })

  scope.addHook('onRequest', function refuseSunset({ sandbox }, _reply, next) {
    sandbox.tenant?.deprecations.assertNotSunset(sandbox.route.config.operation)
    next()
  })

  useClientLock(scope, tenants, {
    hasFaults: true,
    isFresh: true,
    clientOf: ({ sandbox }) => (sandbox.tenant as Tenant).clientId,
    enter(request, realNow) {
      const admitted = request.sandbox.tenant as Tenant
      // While the body arrived, the tenant may have been replaced.
      if (registry.peek(admitted.clientId) === admitted) return admitted
      const tenant = registry.admit(bearerOf(request) as string, realNow)
      request.sandbox.tenant = tenant
      return tenant
    },
  })
})

/** Notes the headers `Deprecation` and `Sunset` of a deprecated operation (interface, Versioning 5). */
function announceDeprecation(sandbox: RequestContext, { deprecations, settings }: Tenant): void {
  sandbox.announced = deprecations.headersOf(sandbox.route.config.operation, settings.deprecationStyle)
}

/** The scope of the token request, which is for the client of its credentials. */
export const clientOfCredentials = fp<Tenants>(async (scope, tenants) => {
  const { registry } = tenants
  const readingsOf = ({ body, sandbox }: FastifyRequest): readonly Credentials[] =>
    sandbox.credentials.length > 0 ? sandbox.credentials : [body as Credentials]

  /** Returns the client of the first reading with a known client, else of the first reading. */
  function clientOf(request: FastifyRequest): string {
    const ids = readingsOf(request).map(({ client_id }) => client_id)
    return ids.find(registry.has) ?? (ids[0] as string)
  }

  function credentialsOf(request: FastifyRequest): Credentials {
    const clientId = clientOf(request)
    const readings = readingsOf(request).filter(({ client_id }) => client_id === clientId)
    return readings.find(reading => registry.hasSecret(clientId, reading.client_secret)) ?? (readings[0] as Credentials)
  }

  useClientLock(scope, tenants, {
    clientOf,
    hasFaults: true,
    changesNothing: true,
    enter(request, realNow) {
      const { client_id, client_secret, hint: reading } = credentialsOf(request)
      const isNew = !registry.has(client_id)
      const tenant = registry.authenticate(client_id, client_secret, realNow)
      const { sandbox } = request
      sandbox.tenant = tenant
      if (reading !== undefined) hint(request, reading)
      if (isNew) hintRegistration(request, registry.lookalikeOf(client_id))
      announceDeprecation(sandbox, tenant)
      tenant.deprecations.assertNotSunset(sandbox.route.config.operation)
      return tenant
    },
  })
})

/**
 * Returns the client of a page or of a call of the control plane: the client of its path, else of its query.
 * @param byDefault the client of a request that names none
 */
export function clientOf(
  { params, query }: Pick<FastifyRequest, 'params' | 'query'>,
  byDefault = DEMO_CLIENT.clientId,
): string {
  const { clientId } = (params ?? {}) as { clientId?: string }
  return clientId ?? (query as { client?: string }).client ?? byDefault
}

/** The scope of the metadata and of pages, which are for the client of `?client=`. `byDefault`: as in `clientOf`. */
export const clientOfQuery = fp<Tenants & { readonly byDefault?: string | undefined }>(async (scope, tenants) => {
  const { registry, byDefault } = tenants
  useClientLock(scope, tenants, {
    clientOf: request => clientOf(request, byDefault),
    enter(request, realNow) {
      const tenant = registry.tenant(clientOf(request, byDefault), realNow)
      request.sandbox.tenant = tenant
      return tenant
    },
  })
})
