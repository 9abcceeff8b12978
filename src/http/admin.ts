import fp from 'fastify-plugin'
import { digestOf, isSame } from '../core/digests.js'
import { errors } from '../core/errors.js'
import { bearerOf } from './authenticate.js'

/** The health checks: probes have no token. */
const HEALTH = /\/health\/(live|ready)$/

/** Requires the admin token on every call of its scope but the health checks. Refuses ADMIN_TOKEN_REQUIRED. */
export const admin = fp<{ adminToken: string }>((app, { adminToken }, done) => {
  // Digests have one length, so the comparison reveals nothing of the token's length.
  const right = digestOf(adminToken)
  app.addHook('onRequest', (request, _reply, next) => {
    const isHealth = HEALTH.test(request.sandbox.route.url ?? '')
    if (!isHealth && !isSame(digestOf(bearerOf(request) ?? ''), right)) throw errors.adminTokenRequired()
    next()
  })
  done()
})
