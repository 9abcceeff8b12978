import { formatInstant } from '../core/time/time.js'
import type { Tenant } from '../tenants/tenant.js'

/** Returns the summary of a tenant. */
export const describe = ({ clientId, fixture, clock, counts }: Tenant) => ({
  clientId,
  fixture,
  counts: counts(),
  now: formatInstant(clock.now()),
})
