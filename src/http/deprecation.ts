import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { DeprecationStyle, Deprecations } from '../core/deprecations.js'
import { operationOf } from './operations.js'

/** What a tenant has to say of deprecations; undefined: the request is nobody's. */
export type DeprecationsOf = (
  request: FastifyRequest,
) =>
  | { readonly deprecations: Deprecations; readonly settings: { readonly deprecationStyle: DeprecationStyle } }
  | undefined

/** Tells of deprecated operations by the headers `Deprecation` and `Sunset` (interface, Versioning 5; decisions §11). */
export function installDeprecationHeaders(app: FastifyInstance, deprecationsOf: DeprecationsOf): void {
  app.addHook('onSend', (request, reply, _payload, done) => {
    const world = deprecationsOf(request)
    if (world?.deprecations.areAny) {
      const headers = world.deprecations.headersOf(operationOf(request), world.settings.deprecationStyle)
      if (headers !== null) reply.headers(headers)
    }
    done()
  })
}

/** @throws OPERATION_SUNSET */
export function refuseGone(request: FastifyRequest, deprecations: Deprecations): void {
  if (deprecations.areAny) deprecations.refuseGone(operationOf(request))
}
