import type { Area, AreaName, StatefulStore } from '../areas/index.js'
import { areas, byUse } from '../areas/index.js'
import type { Region } from '../core/domain/regions.js'
import type { Explained } from '../core/records/stateful-repository.js'
import { toNoun, toTitle, toWords } from '../core/words.js'
import type { Tenant } from '../tenants/tenant.js'

/** A record of any kind, as its store has it. */
export type AnyRecord = Readonly<Record<string, unknown>>

/** A kind of records, as the console shows it. */
export interface Kind extends Omit<Area, 'path' | 'title'> {
  readonly name: AreaName
  readonly title: string
  readonly noun: string
  /** Its pages, below the console. */
  readonly path: string
  /** Its calls, below `/api/v1` and `/_sandbox`. */
  readonly calls: string
}

/** The kinds in the order of the navigation. */
export const kinds: readonly Kind[] = byUse().map(name => {
  const words = toWords(name)
  const row: Area = areas[name]
  return {
    ...row,
    name,
    noun: toNoun(name),
    title: toTitle(words),
    path: `/${words.replace(' ', '-')}`,
    calls: `/${row.path}`,
  }
})

export const kindOf = (name: AreaName): Kind => kinds.find(kind => kind.name === name) as Kind

/** Finds a kind by the name that events have, such as `payoutLink`; undefined: this release has none. */
export const kindOfEvent = (event: string): Kind | undefined => kinds.find(({ lifecycle }) => lifecycle?.kind === event)

/** Finds the kind of a record by its members; undefined: it has no reference. It can name records of other kinds, too. */
export function kindOfRecord(record: AnyRecord): Kind | undefined {
  const named = kinds.filter(({ reference }) => record[reference] !== undefined)
  return named.find(({ record: { properties } }) => named.every(({ reference }) => reference in properties))
}

/** Whether records of a kind name one of another kind: they have a member for its reference. */
export const isNaming = (kind: Kind, other: Kind): boolean =>
  kind !== other && other.reference in kind.record.properties

/** Lists the states of a kind: those of the lifecycle, and those of another release that records have. */
export const statesOf = (tenant: Tenant, { name, lifecycle }: Kind): readonly string[] => [
  ...new Set([...(lifecycle?.states ?? []), ...tenant[name].counts().keys()]),
]

/** Returns the reference of a record. */
export const referenceOf = ({ reference }: Kind, record: AnyRecord): string => String(record[reference])

/** Returns the page of a record, below the console; undefined: the reference is not valid Unicode, which no URL holds. */
export const pageOf = ({ path }: Kind, reference: string): string | undefined =>
  reference.isWellFormed() ? `${path}/${encodeURIComponent(reference)}` : undefined

/** A record with its region. */
export interface Row {
  readonly region: string
  readonly record: AnyRecord
}

/** A record with its region, and the `seq` of its events if it has states. */
export interface FoundRow extends Row {
  readonly timeline?: readonly number[]
}

/** Finds the records with a reference, of a region or of all. */
export const findRecords = (tenant: Tenant, { name }: Kind, reference: string, region?: string) =>
  (tenant[name].find(reference) as readonly FoundRow[]).filter(row => (region ?? row.region) === row.region)

/** Finds a record; undefined: there is none. */
export const findRecord = (tenant: Tenant, kind: Kind, reference: string, region?: string): FoundRow | undefined =>
  findRecords(tenant, kind, reference, region)[0]

/** Explains a record that has states, for the reader of a page. Throws the error of an unknown reference. */
export const explain = (
  { tenant, publicUrl }: { readonly tenant: Tenant; readonly publicUrl: string },
  { name }: Kind,
  reference: string,
  region?: Region,
): Explained<AnyRecord> =>
  (tenant[name] as unknown as StatefulStore).explain(reference, publicUrl, region) as Explained<AnyRecord>
