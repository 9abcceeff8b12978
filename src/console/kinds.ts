import { billLifecycle } from '../areas/bills/lifecycle.js'
import { collectionLifecycle } from '../areas/direct-debit/lifecycle.js'
import type { AreaName } from '../areas/index.js'
import { areas } from '../areas/index.js'
import { mandateLifecycle } from '../areas/mandates/lifecycle.js'
import { payoutLinkLifecycle } from '../areas/payout-links/lifecycle.js'
import type { Lifecycle } from '../core/records/state-machine.js'
import type { Explained } from '../core/records/stateful-repository.js'
import type { Region } from '../core/rules/regions.js'
import { toTitle, toWords } from '../core/words.js'
import type { Tenant } from '../tenants/tenant.js'

/** A record of any kind, as its store has it. */
export type AnyRecord = Readonly<Record<string, unknown>>

interface KindRow {
  /** The member that holds the reference. */
  readonly idField: string
  /** The members in tables, by their paths. Narrow screens leave out those after the second. */
  readonly columns: readonly string[]
  /** Whether two regions can have the same reference. */
  readonly hasRegions: boolean
  /** The states; undefined: it has none. */
  readonly lifecycle?: Lifecycle
  /** Whether a call of the API creates a record. */
  readonly canCreate: boolean
  /** The sentence of an empty table: how records of this kind come there. */
  readonly empty: string
}

/** The kinds in the order of the navigation. */
const rows: Readonly<Record<AreaName, KindRow>> = {
  collections: {
    idField: 'collectionReference',
    columns: ['amount', 'collectionDate', 'debtorName', 'mandateReference', 'reasonCode'],
    hasRegions: false,
    lifecycle: collectionLifecycle,
    canCreate: true,
    empty: 'A collection takes money from a debtor, under a mandate. Create one here, or by POST /api/v1/direct-debit.',
  },
  mandates: {
    idField: 'mandateReference',
    columns: ['debtor.name', 'type', 'createdAt'],
    hasRegions: false,
    lifecycle: mandateLifecycle,
    canCreate: true,
    empty: 'A mandate lets the client collect from a debtor. Create one here, or by POST /api/v1/mandates.',
  },
  payoutLinks: {
    idField: 'payoutLinkId',
    columns: ['amount', 'payoutMethod', 'accountHolderName', 'expiresAt'],
    hasRegions: true,
    lifecycle: payoutLinkLifecycle,
    canCreate: true,
    empty: 'By a payout link, a recipient claims a payout. Create one here, or by POST /api/v1/payout-links.',
  },
  bills: {
    idField: 'uniqueReferenceIdentifier',
    columns: ['openAmount', 'dueDate', 'totalAmount', 'counterpartyReference'],
    hasRegions: true,
    lifecycle: billLifecycle,
    canCreate: true,
    empty: 'A bill is an amount due to the client, or from it. Create one here, or by POST /api/v1/bills.',
  },
  counterparties: {
    idField: 'counterpartyReference',
    columns: ['accountHolderName', 'emailAddress', 'region'],
    hasRegions: true,
    canCreate: false,
    empty: 'A counterparty comes with its first bill, or with a fixture. The service documents no way to create one.',
  },
  accounts: {
    idField: 'accountReference',
    columns: ['balance', 'accountHolderName', 'accountIdentifier'],
    hasRegions: true,
    canCreate: false,
    empty: 'The accounts of a client come with its fixture. The service documents no way to create one.',
  },
}

/** A kind of records, as the console shows it. */
export interface Kind extends KindRow {
  readonly name: AreaName
  readonly title: string
  readonly noun: string
  /** Its pages, below the console. */
  readonly path: string
  /** Its calls, below `/api/v1` and `/_sandbox`. */
  readonly calls: string
}

export const kinds: readonly Kind[] = Object.entries(rows).map(([key, row]) => {
  const name = key as AreaName
  const words = toWords(name)
  const noun = words.replace(/ies$/, 'y').replace(/s$/, '')
  return {
    ...row,
    name,
    noun,
    title: toTitle(words),
    path: `/${words.replace(' ', '-')}`,
    calls: `/${areas[name].path}`,
  }
})

export const kindOf = (name: AreaName): Kind => kinds.find(kind => kind.name === name) as Kind

/** Finds a kind by the name that events have, such as `payoutLink`. */
export const kindOfEvent = (event: string): Kind => kinds.find(({ noun }) => noun === toWords(event)) as Kind

/** Lists the states of a kind: those of the lifecycle, and those of another release that records have. */
export const statesOf = (tenant: Tenant, { name, lifecycle = {} }: Kind): readonly string[] => [
  ...new Set([...Object.keys(lifecycle), ...tenant[name].counts().keys()]),
]

/** Returns the reference of a record. */
export const referenceOf = ({ idField }: Kind, record: AnyRecord): string => String(record[idField])

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

/** Finds a record; undefined: there is none. */
export function findRecord(tenant: Tenant, { name }: Kind, reference: string, region?: string): FoundRow | undefined {
  const found = tenant[name].find(reference) as readonly FoundRow[]
  return found.find(row => (region ?? row.region) === row.region)
}

/** Explains a record that has states. Throws the error of an unknown reference. */
export const explain = (tenant: Tenant, { name }: Kind, reference: string, region?: Region): Explained<AnyRecord> =>
  (tenant[name] as { explain(reference: string, region?: Region): Explained<AnyRecord> }).explain(reference, region)
