import type { Entry } from '../core/records/repository.js'
import type { Tenant } from '../tenants/tenant.js'
import type { AnyRecord, Kind } from './kinds.js'

const entriesOf = (tenant: Tenant, { name }: Kind) => tenant[name].entries() as readonly Entry<AnyRecord>[]

/** Counts the records of a kind by their status. */
export function countByStatus(tenant: Tenant, kind: Kind): ReadonlyMap<string, number> {
  const counts = new Map<string, number>()
  for (const { record } of entriesOf(tenant, kind)) {
    const status = record.status as string
    counts.set(status, (counts.get(status) ?? 0) + 1)
  }
  return counts
}

/** Finds a record of any kind; undefined: there is none. */
export const findRecord = (tenant: Tenant, kind: Kind, reference: string, region: string | undefined) =>
  entriesOf(tenant, kind).find(
    ({ record, region: place }) => record[kind.idField] === reference && (region ?? place) === place,
  )
