import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { operationOf } from '../../http/operations.js'
import type { Tenant } from '../../tenants/tenant.js'

export interface DeprecationOptions {
  /** Returns the tenant of a request; undefined: it has none. */
  tenantOf(request: FastifyRequest): Pick<Tenant, 'deprecations' | 'settings'> | undefined
}

/** Sends the headers `Deprecation` and `Sunset` of deprecated operations (interface, Versioning 5; decisions §11). */
export const deprecation = fp<DeprecationOptions>((app, { tenantOf }, done) => {
  app.addHook('onSend', (request, reply, _payload, next) => {
    const tenant = tenantOf(request)
    const headers = tenant?.deprecations.headersOf(operationOf(request), tenant.settings.deprecationStyle)
    if (headers) reply.headers(headers)
    next()
  })
  done()
})
