import { accounts } from './accounts/area.js'
import type { AreaRow, Store } from './area.js'
import { bills } from './bills/area.js'
import { counterparties } from './counterparties/area.js'
import { collections } from './direct-debit/area.js'
import { mandates } from './mandates/area.js'
import { oauth } from './oauth/area.js'
import { payoutLinks } from './payout-links/area.js'

export type * from './area.js'

/**
 * The kinds of records of the service. Everything that lists kinds of records reads this table.
 * Seeded and restored records can refer to records of earlier rows, and to records without states.
 */
export const areas = { mandates, collections, payoutLinks, bills, counterparties, accounts } as const

export type Areas = typeof areas
/** The name of a kind of records in seeds, state documents and counts, in the plural. */
export type AreaName = keyof Areas
/** The kind of a record with states, in the singular. */
export type EventKind = Extract<Areas[AreaName], { lifecycle: object }>['lifecycle']['kind']
/** The name of an outcome that can be armed. */
export type OutcomeName = Extract<Areas[AreaName], { outcomes: object }>['outcomes']['names'][number]

/** The row of any kind. */
export type Area = AreaRow<Store, AreaName>

/** The stores of a tenant, by the names of their rows. */
export type Stores = { readonly [Name in AreaName]: ReturnType<Areas[Name]['createStore']> }

/** Returns the names of the rows, in their order. */
export const areaNames = () => Object.keys(areas) as AreaName[]

/** The kinds by their use: collections, which are used most, then the others as in the table. */
export const byUse = (): readonly AreaName[] => [...new Set<AreaName>(['collections', ...areaNames()])]

/** Makes an object with one value for each area. */
export const byArea = <T>(make: (name: AreaName, area: Area) => T): Readonly<Record<AreaName, T>> =>
  Object.fromEntries(areaNames().map(name => [name, make(name, areas[name])])) as Record<AreaName, T>

/** Lists the tags of the service in its OpenAPI document. */
export const serviceTags = () =>
  Object.values<Pick<Area, 'path' | 'title' | 'description'>>({ oauth, ...areas }).map(
    ({ path, title, description }) => ({ name: path, 'x-displayName': title, description }),
  )
