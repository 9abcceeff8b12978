import type { FastifyReply, FastifyRequest } from 'fastify'
import type { DeprecationStyle, Deprecations } from '../core/deprecations.js'
import { operationOf } from './operations.js'

/** What a tenant has to say of deprecations. */
interface Deprecating {
  readonly deprecations: Deprecations
  readonly settings: { readonly deprecationStyle: DeprecationStyle }
}

/**
 * Tells of deprecated operations by the headers `Deprecation` and `Sunset` (interface, Versioning 5; decisions §11).
 * @param world undefined: the request is nobody's
 */
export function addDeprecation(request: FastifyRequest, reply: FastifyReply, world: Deprecating | undefined): void {
  if (!world?.deprecations.areAny()) return
  const headers = world.deprecations.headersOf(operationOf(request), world.settings.deprecationStyle)
  if (headers !== null) reply.headers(headers)
}

/** @throws OPERATION_SUNSET */
export function refuseGone(request: FastifyRequest, deprecations: Deprecations): void {
  if (deprecations.areAny()) deprecations.refuseGone(operationOf(request))
}
