import type { Entry } from '../core/records/repository.js'
import type { Tenant } from '../tenants/tenant.js'
import type { AnyRecord, Kind } from './kinds.js'

/** Returns the numbers of the records of a kind by status, in the order of its lifecycle. */
export function countByStatus(tenant: Tenant, { name, lifecycle = {} }: Kind): readonly (readonly [string, number])[] {
  const counts = tenant[name].counts()
  return Object.keys(lifecycle).flatMap(status => {
    const count = counts.get(status)
    return count === undefined ? [] : [[status, count] as const]
  })
}

/** Finds a record of any kind; undefined: there is none. */
export const findRecord = (tenant: Tenant, { name }: Kind, reference: string, region: string | undefined) =>
  (tenant[name].find(reference) as Entry<AnyRecord>[]).find(({ region: place }) => (region ?? place) === place)
