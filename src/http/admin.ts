import type { FastifyInstance } from 'fastify'
import { digestOf, isSame } from '../core/digests.js'
import { errors } from '../core/errors.js'
import { bearerOf } from './authenticate.js'

/** What probes ask, who have no token. */
const HEALTH = /\/health\/(live|ready)$/

/** Requires the admin token on every call of a plugin but the health checks. */
export function requireAdminToken(app: FastifyInstance, adminToken: string): void {
  // Digests are of one length, so that comparing them in constant time tells nothing of the token's.
  const right = digestOf(adminToken)
  app.addHook('onRequest', (request, _reply, done) => {
    if (!HEALTH.test(request.route.url as string) && !isSame(digestOf(bearerOf(request) ?? ''), right)) {
      throw errors.adminTokenRequired()
    }
    done()
  })
}
