import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { digestOf, isSame } from '../core/digests.js'
import { errors } from '../core/errors.js'
import { basicOf, bearerOf } from '../http/authenticate.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route needs no admin token. */
    isOpen?: boolean
  }
}

export interface AdminOptions {
  readonly adminToken: string
}

/**
 * Requires the admin token on every route of its scope that is not open: as a bearer token, or as the password of HTTP
 * Basic, which browsers ask for. Refuses ADMIN_TOKEN_REQUIRED.
 */
export const admin = fp<AdminOptions>((app, { adminToken }, done) => {
  // Digests have one length, so the comparison reveals nothing of the token's length.
  const expected = digestOf(adminToken)
  const hasToken = (request: FastifyRequest) =>
    isSame(digestOf(bearerOf(request) ?? basicOf(request)?.password ?? ''), expected)

  app.addHook('onRequest', function requireAdminToken(request, _reply, next) {
    if (!request.sandbox.route.config.isOpen && !hasToken(request)) throw errors.adminTokenRequired()
    next()
  })
  done()
})
