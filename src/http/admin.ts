import { createHash, timingSafeEqual } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { errors } from '../core/errors.js'
import { bearerOf } from './authenticate.js'

/** What probes ask, who have no token. */
const HEALTH = /\/health\/(live|ready)$/

const digest = (text: string) => createHash('sha256').update(text).digest()

/** Requires the admin token on every call of a plugin but the health checks. */
export function requireAdminToken(app: FastifyInstance, adminToken: string): void {
  // Digests are of one length, so that comparing them in constant time tells nothing of the token's.
  const right = digest(adminToken)
  app.addHook('onRequest', (request, _reply, done) => {
    if (!HEALTH.test(request.route.url as string) && !timingSafeEqual(digest(bearerOf(request) ?? ''), right)) {
      throw errors.adminTokenRequired()
    }
    done()
  })
}
