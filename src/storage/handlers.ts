import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify'
import { ownerOf as ownerOfToken } from '../areas/oauth/tokens.js'
import type { PageOptions } from '../areas/payout-links/pay/routes.js'
import type { AuthenticationOptions } from '../http/authenticate.js'
import { bearerOf } from '../http/authenticate.js'
import { hint, hintRegistration } from '../http/hints.js'
import type { Credentials } from '../http/request-context.js'
import { isRead } from '../http/url.js'
import { applyFaults, hasFault } from '../sandbox/faults/apply.js'
import { clientOf } from '../tenants/client-of.js'
import type { TenantRegistry } from '../tenants/registry.js'
import type { Tenant } from '../tenants/tenant.js'
import type { Storage } from './storage.js'

/** How the requests of some routes use their tenant. */
export interface TransactionRules {
  /** Returns the client whose tenant the request reads or changes. */
  clientOf(request: FastifyRequest): string
  /** Returns another client that the request may create. */
  otherOf?(request: FastifyRequest): string | undefined
  /** Whether the request changes nothing. */
  isRead(request: FastifyRequest, realNow: number): boolean
  /** Whether the tenant was brought up to date when the request was authenticated. */
  readonly isFresh?: boolean
  /** Whether the work of the tenant that is due stays undone. */
  readonly skipsDueWork?: boolean
  /**
   * Finds the tenant in the transaction, and does all that precedes the handler, such as faults.
   * @returns undefined: the handler creates or finds it
   */
  enter(request: FastifyRequest, realNow: number, reply: FastifyReply): Tenant | undefined
}

/** Makes a handler that runs in a transaction, all or nothing. It returns its answer, since only a stored change is answered. */
export const inTransaction = (
  storage: Storage,
  rules: TransactionRules,
  handler: RouteHandlerMethod,
): RouteHandlerMethod =>
  function (request, reply) {
    const handle = () => handler.call(this, request, reply)
    const clientId = rules.clientOf(request)
    request.sandbox.clientId = clientId
    return storage.transact(
      clientId,
      {
        isRead: realNow => rules.isRead(request, realNow),
        isFresh: rules.isFresh === true,
        skipsDueWork: rules.skipsDueWork === true,
        run(realNow) {
          request.sandbox.realNow = realNow
          const tenant = rules.enter(request, realNow, reply)
          return tenant === undefined || isRead(request.method) ? handle() : tenant.attempt(handle)
        },
      },
      rules.otherOf?.(request),
    )
  }

/** Adds the headers `Deprecation` and `Sunset` of a deprecated operation (interface, Versioning 5; decisions §11). */
function announceDeprecation({ sandbox: { route, tenant } }: FastifyRequest, reply: FastifyReply): void {
  const headers = tenant.deprecations.headersOf(route.config.operation as string, tenant.settings.deprecationStyle)
  if (headers !== null) reply.headers(headers)
}

/** Refuses an operation that is gone. @throws OPERATION_SUNSET */
export const assertNotSunset = ({ sandbox: { route, tenant } }: FastifyRequest): void =>
  tenant.deprecations.assertNotSunset(route.config.operation as string)

/** Makes the handlers of all routes of a scope run in transactions. */
export function useTransactions(scope: FastifyInstance, storage: Storage, rules: TransactionRules): void {
  scope.addHook('onRoute', route => {
    route.handler = inTransaction(storage, rules, route.handler)
  })
}

/** Lets a request of the API pass to its handler: applies faults. @throws the error of a fault */
function pass(request: FastifyRequest, tenant: Tenant, realNow: number): Tenant {
  if (hasFault(request, tenant, realNow)) applyFaults(request, tenant, realNow)
  return tenant
}

/** Returns the admission of tokens: their tenant is brought up to date before their expiry is checked. */
export const admission =
  (storage: Storage, registry: TenantRegistry, now: () => number): AuthenticationOptions['admit'] =>
  (request, reply, token, done) => {
    const clientId = ownerOfToken(token)
    storage.refresh(clientId, error => {
      if (error !== undefined) {
        done(error)
        return
      }
      try {
        request.sandbox.tenant = registry.admit(token, now(), clientId)
        announceDeprecation(request, reply)
      } catch (refusal) {
        done(refusal as Error)
        return
      }
      done()
    })
  }

/** The rules of authenticated requests. */
export const apiRules = (registry: TenantRegistry): TransactionRules => ({
  clientOf: ({ sandbox }) => sandbox.tenant.clientId,
  isFresh: true,
  isRead: (request, realNow) => isRead(request.method) && !hasFault(request, request.sandbox.tenant, realNow),
  enter(request, realNow) {
    // While the body arrived, the tenant may have been replaced.
    const { clientId } = request.sandbox.tenant
    if (registry.peek(clientId) !== request.sandbox.tenant) {
      request.sandbox.tenant = registry.admit(bearerOf(request) as string, realNow)
    }
    return pass(request, request.sandbox.tenant, realNow)
  },
})

/** The rules of token requests, whose tenant is that of the credentials. */
export const tokenRules = (registry: TenantRegistry): TransactionRules => {
  const readingsOf = ({ body, sandbox }: FastifyRequest): readonly Credentials[] =>
    sandbox.credentials.length > 0 ? sandbox.credentials : [body as Credentials]
  /** Returns the reading with a client that is known, else the first one. */
  const clientOf = (request: FastifyRequest) => {
    const ids = readingsOf(request).map(({ client_id }) => client_id)
    return ids.find(registry.has) ?? (ids[0] as string)
  }
  const credentialsOf = (request: FastifyRequest) => {
    const clientId = clientOf(request)
    const readings = readingsOf(request).filter(({ client_id }) => client_id === clientId)
    return readings.find(reading => registry.hasSecret(clientId, reading.client_secret)) ?? (readings[0] as Credentials)
  }
  return {
    clientOf,
    isRead(request, realNow) {
      const tenant = registry.peek(clientOf(request))
      return tenant === undefined || !hasFault(request, tenant, realNow)
    },
    enter(request, realNow, reply) {
      const { client_id, client_secret, hint: reading } = credentialsOf(request)
      const isNew = !registry.has(client_id)
      request.sandbox.tenant = registry.authenticate(client_id, client_secret, realNow)
      if (reading !== undefined) hint(request, reading)
      if (isNew) hintRegistration(request, registry.lookalikeOf(client_id))
      announceDeprecation(request, reply)
      assertNotSunset(request)
      return pass(request, request.sandbox.tenant, realNow)
    },
  }
}

/**
 * The rules of requests for metadata and pages, whose tenant is that of `?client=`.
 * @param byDefault the client of a request that names none
 */
export const queryRules = (registry: TenantRegistry, byDefault?: string): TransactionRules => {
  const clientOfQuery = (request: FastifyRequest) => clientOf(request, byDefault)
  return {
    clientOf: clientOfQuery,
    isRead: ({ method }) => isRead(method),
    enter(request, realNow) {
      request.sandbox.tenant = registry.tenant(clientOfQuery(request), realNow)
      return request.sandbox.tenant
    },
  }
}

/** Returns the options of the pages of payout links, whose tenant is that of `?client=`. */
export function pageOptions(storage: Storage, registry: TenantRegistry): PageOptions {
  const rules = queryRules(registry)
  return {
    inTransaction: handler => inTransaction(storage, rules, handler),
    look(request, read, done) {
      const work = {
        isRead: () => true,
        run(realNow: number) {
          request.sandbox.tenant = registry.tenant(clientOf(request), realNow)
          read()
        },
      }
      void (async () => storage.transact(clientOf(request), work))().then(() => done(), done)
    },
    tenantOf: ({ sandbox }) => sandbox.tenant,
  }
}
