import { formatInstant } from '../../core/time/time.js'
import type { Tenant } from '../../tenants/tenant.js'

/** Returns the summary of a tenant at a real time, which does no due work. */
export const summaryOf = ({ clientId, fixture, clock, counts }: Tenant, realNow: number) => ({
  clientId,
  fixture,
  counts: counts(),
  now: formatInstant(clock.timeAt(realNow)),
})
