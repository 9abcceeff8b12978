import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import type { TArray, TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import type { ErrorCode } from '../core/errors.js'
import type { OutcomeMatch } from '../core/outcome-match.js'
import type { Entry, Found, Page, SearchQuery, StagedRecords, StoredRecord } from '../core/records/repository.js'
import type { Lifecycle } from '../core/records/state-machine.js'
import type { DuePosition, DueTransition } from '../core/records/stateful-repository.js'
import type { Slices } from '../core/slices.js'
import type { StoreContext } from '../core/tenant-context.js'
import { assumed } from '../http/schemas.js'
import { accountRoutes } from './accounts/routes.js'
import { Account } from './accounts/schemas.js'
import type { AccountStore } from './accounts/store.js'
import { createAccountStore } from './accounts/store.js'
import { billLifecycle } from './bills/lifecycle.js'
import { billRoutes } from './bills/routes.js'
import { Bill, SeedBill } from './bills/schemas.js'
import type { BillStore } from './bills/store.js'
import { createBillStore } from './bills/store.js'
import { counterpartyRoutes } from './counterparties/routes.js'
import { Counterparty, SeedCounterparty } from './counterparties/schemas.js'
import type { CounterpartyStore } from './counterparties/store.js'
import { createCounterpartyStore } from './counterparties/store.js'
import { collectionLifecycle } from './direct-debit/lifecycle.js'
import { COLLECTION_OUTCOMES, formerOutcome } from './direct-debit/outcomes.js'
import { collectionRoutes } from './direct-debit/routes.js'
import { SeedCollection, StoredCollection } from './direct-debit/schemas.js'
import type { CollectionStore } from './direct-debit/store.js'
import { createCollectionStore } from './direct-debit/store.js'
import { mandateLifecycle } from './mandates/lifecycle.js'
import { mandateRoutes } from './mandates/routes.js'
import { SeedMandate, StoredMandate } from './mandates/schemas.js'
import type { MandateStore } from './mandates/store.js'
import { createMandateStore } from './mandates/store.js'
import { payoutLinkLifecycle } from './payout-links/lifecycle.js'
import { PAYOUT_LINK_OUTCOMES } from './payout-links/outcomes.js'
import { payoutLinkRoutes } from './payout-links/routes.js'
import { SeedPayoutLink, StoredPayoutLink } from './payout-links/schemas.js'
import type { PayoutLinkStore } from './payout-links/store.js'
import { createPayoutLinkStore } from './payout-links/store.js'

/** The stores of a tenant, by the names of their rows below. */
export interface Stores {
  readonly mandates: MandateStore
  readonly collections: CollectionStore
  readonly payoutLinks: PayoutLinkStore
  readonly bills: BillStore
  readonly counterparties: CounterpartyStore
  readonly accounts: AccountStore
}

/** The results of `stage` of the stores, by the names of their rows. */
export type Staged = {
  readonly [Name in keyof Stores]: ReturnType<Stores[Name]['stage']> extends Slices<infer Result> ? Result : never
}

/** The operations that every store has, whatever its records are. */
export interface Store {
  /** Returns the number of records. */
  size(): number
  /** Returns the numbers of records by their present status. Records without a status are in none. */
  counts(): ReadonlyMap<string, number>
  /** Returns the entries with a reference, of all regions. */
  find(reference: string): readonly Entry<unknown>[]
  /**
   * Checks new records, in any state. The result stores them, and cannot fail.
   * @param path path of the list in the request, for errors
   * @param staged the results of all stores. Those that come later do not exist yet
   */
  stage(seeds: readonly unknown[], path: string, staged: Staged): Slices<StagedRecords>
  /** Returns all records for the state document, in the order of creation. */
  snapshot(): readonly unknown[]
  /**
   * Stores the records of a state document. The store is empty.
   * @param path path of the list in the state document, for errors
   */
  restore(snapshots: readonly unknown[], path: string): Slices
  /** Returns the entries of all records, in the order of creation. */
  entries(): readonly Entry<unknown>[]
  /** Returns an entry as a database keeps it. */
  toStored(entry: never): StoredRecord
  /** Returns a record of a state document as a database keeps it, without checks. */
  fromSnapshot(snapshot: never): StoredRecord
  /** Adds or replaces a record of a database. It is not a change, and no rule is checked. */
  load(record: StoredRecord): unknown
  /** Returns a page of the records of all regions, newest first. @throws INVALID_CURSOR */
  search(query: SearchQuery): Page<Found<unknown>>
  /** Returns the first scheduled transitions after a position, in the order in which they are due. */
  upcoming?(after: DuePosition | undefined, limit: number): DueTransition[]
  /** Refuses the match of an armed outcome that no new record can meet. @throws INVALID_FIELD */
  assertReachable?(match: OutcomeMatch): void
}

/** The parts of a tenant that its stores are created with. */
export interface StoreOptions {
  readonly context: StoreContext
  readonly clientId: string
  readonly settings: {
    readonly mandateActivation: 'automatic' | 'manual'
    readonly allowedOrigins: readonly string[]
    readonly senderName: string | null
  }
  /** All stores of the tenant. Those of later rows do not exist yet: read them in operations. */
  readonly stores: Stores
  /** Returns the armed outcome of a new record of this area, and counts it. */
  takeOutcome(record: OutcomeMatch): string | undefined
}

/** One row of the table. */
export interface Area<S extends Store = Store> {
  /** The path of the operations below `/api/v1`. It is also their tag in the OpenAPI document. */
  readonly path: string
  /** The title of the tag. */
  readonly title: string
  /** The description of the tag. */
  readonly description: string
  readonly routes: FastifyPluginCallbackTypebox
  /** The section of docs/decisions.md with its rules. */
  readonly section: number
  /** The kind of the records in events, in the singular, their states and transitions. Absent: they have none. */
  readonly lifecycle?: { readonly kind: string; readonly states: readonly string[]; readonly transitions: Lifecycle }
  /** The member that holds the reference of a record. */
  readonly reference: string
  /** Whether two regions can have the same reference. */
  readonly hasRegions: boolean
  /** Whether an operation creates a record. */
  readonly canCreate: boolean
  /** The members in tables of the console, by their paths. Narrow screens leave out those after the second. */
  readonly columns: readonly string[]
  /** The sentence of an empty table of the console: how records of this kind come there. */
  readonly empty: string
  /** The outcomes that can be armed, and the fields of a record that they compare. Absent: none. */
  readonly outcomes?: {
    readonly names: readonly string[]
    readonly fields: readonly (keyof OutcomeMatch)[]
    /** Whether a name that this release lacks was an outcome of an earlier one. */
    isFormer?(name: string): boolean
  }
  /** The schema of seeded records. */
  readonly seeds: TArray
  /** The schema of a stored record, for the state document. */
  readonly record: TSchema
  /** The codes with which `stage` and `restore` refuse records, beside DUPLICATE_REFERENCE and those of each call. */
  readonly errors?: { readonly stage?: readonly ErrorCode[]; readonly restore?: readonly ErrorCode[] }
  createStore(options: StoreOptions): S
}

/** Makes the lifecycle of a row. Its states are in the order of the table of transitions. */
export const lifecycleOf = <const Kind extends string>(kind: Kind, transitions: Lifecycle) => ({
  kind,
  states: Object.keys(transitions),
  transitions,
})

/**
 * The kinds of records of the service, one row each. Everything that lists kinds of records reads this table.
 * Seeded and restored records can refer to records of earlier rows, and to records without states.
 */
export const areas = {
  mandates: {
    path: 'mandates',
    title: 'Mandates',
    description: 'Direct debit mandates (SEPA).',
    routes: mandateRoutes,
    section: 7,
    lifecycle: lifecycleOf('mandate', mandateLifecycle),
    reference: 'mandateReference',
    hasRegions: false,
    canCreate: true,
    columns: ['debtor.name', 'type', 'createdAt'],
    empty: 'A mandate lets the client collect from a debtor. Create one here, or by POST /api/v1/mandates.',
    seeds: assumed(Type.Array(SeedMandate), 'Mandates in any state.'),
    record: StoredMandate,
    createStore: ({ context, settings, stores }) =>
      createMandateStore({
        context,
        activation: () => settings.mandateActivation,
        cancelled: (mandateReference, cause) => stores.collections.cancelPendingOf(mandateReference, cause),
      }),
  },
  collections: {
    path: 'direct-debit',
    title: 'Direct debit',
    description: 'Collection requests against mandates (SEPA).',
    routes: collectionRoutes,
    section: 6,
    lifecycle: lifecycleOf('collection', collectionLifecycle),
    reference: 'collectionReference',
    hasRegions: false,
    canCreate: true,
    columns: ['amount', 'collectionDate', 'debtorName', 'mandateReference', 'reasonCode'],
    empty: 'A collection takes money from a debtor, under a mandate. Create one here, or by POST /api/v1/direct-debit.',
    outcomes: {
      names: COLLECTION_OUTCOMES,
      fields: ['mandateReference', 'debtorReference', 'collectionReference', 'amount'],
      isFormer: name => formerOutcome(name) !== undefined,
    },
    seeds: assumed(
      Type.Array(SeedCollection),
      'Collections in any state. Their mandates exist, or are among these records.',
    ),
    record: StoredCollection,
    errors: { stage: ['MANDATE_NOT_FOUND', 'MANDATE_ALREADY_USED'], restore: ['MANDATE_NOT_FOUND'] },
    createStore: ({ context, stores, takeOutcome }) =>
      createCollectionStore({ context, mandates: stores.mandates, takeOutcome }),
  },
  payoutLinks: {
    path: 'payout-links',
    title: 'Payout links',
    description: 'Links by which a recipient claims a payout.',
    routes: payoutLinkRoutes,
    section: 8,
    lifecycle: lifecycleOf('payoutLink', payoutLinkLifecycle),
    reference: 'payoutLinkId',
    hasRegions: true,
    canCreate: true,
    columns: ['amount', 'payoutMethod', 'accountHolderName', 'expiresAt'],
    empty: 'By a payout link, a recipient claims a payout. Create one here, or by POST /api/v1/payout-links.',
    outcomes: { names: PAYOUT_LINK_OUTCOMES, fields: ['payoutMethod', 'counterpartyReference', 'amount'] },
    seeds: assumed(Type.Array(SeedPayoutLink), 'Payout links in any state. Their currency determines their region.'),
    record: StoredPayoutLink,
    errors: { stage: ['REGION_CURRENCY_MISMATCH', 'AMOUNT_LIMIT_EXCEEDED', 'ORIGIN_NOT_ALLOWED'] },
    createStore: ({ context, clientId, settings, stores, takeOutcome }) =>
      createPayoutLinkStore({
        context,
        clientId,
        allowedOrigins: () => settings.allowedOrigins,
        takeOutcome,
        sender: region => settings.senderName ?? stores.accounts.holder(region),
      }),
  },
  bills: {
    path: 'bills',
    title: 'Bills',
    description: 'Bills and their documents.',
    routes: billRoutes,
    section: 9,
    lifecycle: lifecycleOf('bill', billLifecycle),
    reference: 'uniqueReferenceIdentifier',
    hasRegions: true,
    canCreate: true,
    columns: ['openAmount', 'dueDate', 'totalAmount', 'counterpartyReference'],
    empty: 'A bill is an amount due to the client, or from it. Create one here, or by POST /api/v1/bills.',
    seeds: assumed(Type.Array(SeedBill), 'Bills in any state. Their currency determines their region.'),
    record: Bill,
    errors: {
      stage: ['INVALID_BILL_REFERENCE', 'INCONSISTENT_BILL_UPDATE'],
      restore: ['INVALID_BILL_REFERENCE'],
    },
    createStore: ({ context, stores }) =>
      createBillStore({
        context,
        counterparties: { ensure: (region, reference) => stores.counterparties.ensure(region, reference) },
      }),
  },
  counterparties: {
    path: 'counterparties',
    title: 'Counterparties',
    description: 'The details of counterparties.',
    routes: counterpartyRoutes,
    section: 10,
    reference: 'counterpartyReference',
    hasRegions: true,
    canCreate: false,
    columns: ['accountHolderName', 'emailAddress', 'region'],
    empty: 'A counterparty comes with its first bill, or with a fixture. The service documents no way to create one.',
    seeds: assumed(Type.Array(SeedCounterparty), 'Counterparties.'),
    record: Counterparty,
    createStore: ({ context }) => createCounterpartyStore(context),
  },
  accounts: {
    path: 'accounts',
    title: 'Accounts',
    description: "The tenant's accounts.",
    routes: accountRoutes,
    section: 10,
    reference: 'accountReference',
    hasRegions: true,
    canCreate: false,
    columns: ['balance', 'accountHolderName', 'accountIdentifier'],
    empty: 'The accounts of a client come with its fixture. The service documents no way to create one.',
    seeds: assumed(Type.Array(Account), 'Accounts. Their currency determines their region.'),
    record: Account,
    createStore: ({ context }) => createAccountStore(context),
  },
} as const satisfies { readonly [Name in keyof Stores]: Area<Stores[Name]> }

export type Areas = typeof areas
/** The name of a kind of records in seeds, state documents and counts, in the plural. */
export type AreaName = keyof Areas
/** The kind of a record with states, in the singular. */
export type EventKind = Extract<Areas[AreaName], { lifecycle: object }>['lifecycle']['kind']
/** The name of an outcome that can be armed. */
export type OutcomeName = Extract<Areas[AreaName], { outcomes: object }>['outcomes']['names'][number]

/** Makes an object with one value for each area. */
export const byArea = <T>(make: (name: AreaName, area: Area) => T): Readonly<Record<AreaName, T>> =>
  Object.fromEntries(Object.entries<Area>(areas).map(([name, area]) => [name, make(name as AreaName, area)])) as Record<
    AreaName,
    T
  >

/** Lists the tags of the service in its OpenAPI document. */
export const serviceTags = () => [
  { name: 'oauth', 'x-displayName': 'Tokens', description: 'Access tokens by OAuth 2.0 client credentials.' },
  ...Object.values<Area>(areas).map(({ path, title, description }) => ({
    name: path,
    'x-displayName': title,
    description,
  })),
]
