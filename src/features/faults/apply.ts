import type { FastifyRequest } from 'fastify'
import { errors } from '../../core/errors.js'
import { FORM } from '../../http/form.js'
import { pathOf } from '../../http/url.js'
import type { Tenant } from '../../tenants/tenant.js'
import { faultError } from './errors.js'

/** Whether an operation takes an access token: all but the token request do. */
const takesToken = ({ sandbox: { route } }: FastifyRequest) => route.config.consumes !== FORM

const targetOf = (request: FastifyRequest) => ({
  method: request.method,
  path: pathOf(request.url),
  region: takesToken(request) ? request.sandbox.region : undefined,
})

/** Whether an armed fault applies to a request. Counts nothing. */
export const hasFault = (request: FastifyRequest, { faults }: Tenant, realNow: number): boolean =>
  !faults.isEmpty() && faults.matches(targetOf(request), realNow)

/**
 * Applies the armed faults to a request, and counts it. `faultDelivery` does the rest.
 * @throws the error of a fault that keeps the request from being applied
 */
export function applyFaults(request: FastifyRequest, { faults }: Tenant, realNow: number): void {
  const applied = faults.apply(targetOf(request), realNow)
  request.sandbox.faults = applied
  const { effect } = applied
  if (effect === null) return
  if (effect.kind === 'error') throw faultError(effect, takesToken(request))
  if (effect.kind === 'stale-token') throw errors.expiredToken()
  if ('when' in effect && effect.when === 'before') {
    throw errors.unavailable('Cut off by a fault before it was applied.')
  }
}
