import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import type { TArray, TObject, TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import type { ErrorCode } from '../core/errors.js'
import type { OutcomeMatch } from '../core/outcome-match.js'
import type { Entry, Found, Page, SearchQuery, StagedRecords, StoredRecord } from '../core/records/repository.js'
import type { Lifecycle } from '../core/records/state-machine.js'
import type { DuePosition, DueTransition, Explained } from '../core/records/stateful-repository.js'
import { halfOf } from '../core/rules/money.js'
import type { Region } from '../core/rules/regions.js'
import type { StoreContext } from '../core/tenant-context.js'
import type { Instant } from '../core/time/time.js'
import { toList } from '../core/words.js'
import { assumed } from '../http/schemas.js'
import { accountRoutes } from './accounts/routes.js'
import { Account, AccountQuery } from './accounts/schemas.js'
import type { AccountStore } from './accounts/store.js'
import { createAccountStore } from './accounts/store.js'
import { billLifecycle } from './bills/lifecycle.js'
import { billRoutes } from './bills/routes.js'
import { Bill, BillParams, BillQuery, NewBill, SeedBill } from './bills/schemas.js'
import type { BillStore } from './bills/store.js'
import { createBillStore } from './bills/store.js'
import { counterpartyRoutes } from './counterparties/routes.js'
import { Counterparty, CounterpartyUpdate, SeedCounterparty } from './counterparties/schemas.js'
import type { CounterpartyStore } from './counterparties/store.js'
import { createCounterpartyStore } from './counterparties/store.js'
import { collectionLifecycle } from './direct-debit/lifecycle.js'
import { COLLECTION_OUTCOMES } from './direct-debit/outcomes.js'
import { collectionRoutes } from './direct-debit/routes.js'
import {
  CollectionOutcomeBody,
  CollectionParams,
  CollectionQuery,
  CollectionSummary,
  CollectionVerbBody,
  NewCollection,
  SeedCollection,
  StoredCollection,
} from './direct-debit/schemas.js'
import type { CollectionStore } from './direct-debit/store.js'
import { createCollectionStore } from './direct-debit/store.js'
import { stateAt as collectionStateAt } from './direct-debit/timing.js'
import { mandateLifecycle } from './mandates/lifecycle.js'
import { mandateRoutes } from './mandates/routes.js'
import { Mandate, MandateParams, MandateQuery, NewMandate, SeedMandate, StoredMandate } from './mandates/schemas.js'
import type { MandateStore } from './mandates/store.js'
import { createMandateStore, stateAt as mandateStateAt } from './mandates/store.js'
import { claimForm } from './payout-links/claim-form.js'
import { payoutLinkLifecycle } from './payout-links/lifecycle.js'
import { PAYOUT_LINK_OUTCOMES, STEERABLE_STATUSES } from './payout-links/outcomes.js'
import { payoutLinkRoutes } from './payout-links/routes.js'
import {
  Claim,
  Decline,
  NewPayoutLink,
  PayoutLinkOutcomeBody,
  PayoutLinkParams,
  PayoutLinkRecord,
  SeedPayoutLink,
  StoredPayoutLink,
} from './payout-links/schemas.js'
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
  readonly [Name in keyof Stores]: ReturnType<Stores[Name]['stage']>
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
  stage(seeds: readonly unknown[], path: string, staged: Staged): StagedRecords
  /** Captures all records for the state document, in the order of creation. */
  capture(): readonly unknown[]
  /**
   * Stores the records of a state document. The store is empty.
   * @param path path of the list in the state document, for errors
   */
  restore(snapshots: readonly unknown[], path: string): void
  /** Returns the entries of all records, in the order of creation. */
  entries(): readonly Entry<unknown>[]
  /** Returns an entry as a database keeps it. */
  toStored(entry: never): StoredRecord
  /** Adds or replaces a record of a database. It is not a change, and no rule is checked. */
  load(record: StoredRecord): unknown
  /** Returns a page of the records of all regions, newest first. @throws INVALID_CURSOR */
  search(query: SearchQuery): Page<Found<unknown>>
}

/** The operation that every store of records that a request creates has. */
export interface CreatingStore extends Store {
  /** Creates a record. @throws the codes of the operation of the API */
  create(input: never, region: Region, publicUrl: string): object
}

/** The operations that every store of records with a lifecycle has. */
export interface StatefulStore extends Store {
  /** Returns the first scheduled transitions after a position, in the order in which they are due. */
  upcoming(after: DuePosition | undefined, limit: number): DueTransition[]
  /**
   * Explains a record.
   * @param publicUrl the address of the server for the reader, without a trailing slash
   * @param region undefined: the only region with the reference
   * @throws the code `notFound`
   */
  explain(reference: string, publicUrl: string, region?: Region): Explained<unknown>
  /** Makes a transition for the control plane. @throws as `explain`, ILLEGAL_TRANSITION, the errors of its body */
  transition(reference: string, verb: string, body?: object, region?: Region): void
}

/** The operations that every store of records with outcomes has. */
export interface SteeredStore extends StatefulStore {
  /** Returns the outcomes that a record can still have. @throws the code `notFound` */
  possibleOutcomes(reference: string): readonly { readonly outcome: string; readonly description: string }[]
  /** Gives a record an outcome. @throws the code `notFound`, ILLEGAL_TRANSITION */
  setOutcome(reference: string, outcome: string): void
  /** Refuses the match of an armed outcome that no new record can meet. @throws INVALID_FIELD */
  assertReachable(match: OutcomeMatch): void
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

/** A form of the console: the body of its call, and the members that have fields. Absent: none. */
export interface MoveForm {
  readonly body: object
  readonly fields?: readonly string[]
}

/** A transition that a call of the control plane makes. */
export interface Move {
  /** The record of the fixture `demo` in the example of the call, which can end something: one for each call. */
  readonly example: string
  /** Where the service has an operation of the usual name, such as `cancelMandate`. */
  readonly operationId?: string
  readonly summary?: string
  /** The behaviour beside that of all moves. */
  readonly description?: string
  readonly body?: TObject
  /** Returns the form of a record. Default: the fields of the body with their example. */
  form?(record: Readonly<Record<string, unknown>>): MoveForm
}

/** A transition that only an update of the API makes. The control plane has no call of it. */
export interface UpdateMove {
  /** Returns the form that updates a record. */
  update(record: Readonly<Record<string, unknown>>): MoveForm
}

/** The lifecycle of a row. */
export interface LifecycleRow {
  /** The kind of the records in events, in the singular. */
  readonly kind: string
  readonly transitions: Lifecycle
  /** The states in the order of the table of transitions. */
  readonly states: readonly string[]
  /** The states of a record that nothing stops: the first row of its drawing. */
  readonly line: readonly string[]
  /** The parameter of paths: the reference. */
  readonly params: TObject
  /** The schema of a record as it is explained, where it has other members than a stored one. */
  readonly explained?: TSchema
  /** The transitions by their verbs, in the order of the documents. */
  readonly moves: Readonly<Record<string, Move | UpdateMove>>
}

/** The record of another kind that a member names. */
interface RefersTo {
  readonly kind: keyof Stores
  /** The members of a record that a new one can name, for the example of its form. */
  readonly accepts: Readonly<Record<string, string>>
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
  /** The states and transitions of the records. Absent: they have none. */
  readonly lifecycle?: LifecycleRow
  /** The member that holds the reference of a record. */
  readonly reference: string
  /** The code of the error of an unknown reference. */
  readonly notFound: ErrorCode
  /** The members that name a record of another kind, which must exist in seeds and state documents. Absent: none. */
  readonly refersTo?: Readonly<Record<string, RefersTo>>
  /** Whether all records are in region EU, or several regions share the references, or each has its own. */
  readonly regions: 'EU' | 'shared' | 'apart'
  /** The body of the operation that creates a record. Absent: none does. */
  readonly create?: TObject
  /** The parameters of the operation that lists records, and the schema of a listed one. Absent: none does. */
  readonly list?: { readonly query: TObject; readonly item: TSchema }
  /** The body of the operation that changes a record without states. Absent: none does. */
  readonly update?: TObject
  /** The members in tables of the console, by their paths. Narrow screens leave out those after the second. */
  readonly columns: readonly string[]
  /** The sentence of an empty table of the console: how records of this kind come there. */
  readonly empty: string
  /** The outcomes that can be armed, and the fields of a record that they compare. Absent: none. */
  readonly outcomes?: {
    readonly names: readonly string[]
    readonly fields: readonly (keyof OutcomeMatch)[]
    /** The call that gives an outcome to a record. */
    readonly call: Pick<Move, 'example' | 'description'> & { readonly body: TObject }
  }
  /** The schema of seeded records. */
  readonly seeds: TArray
  /**
   * Returns the state of a seeded record to which only time has led, for the status `{{schedule}}` of fixtures. Undefined: its
   * times are wrong. Absent: fixtures of the kind have no such status.
   */
  stateAt?(seed: Readonly<Record<string, unknown>>, now: Instant): object | undefined
  /** The schema of a stored record, for the state document. */
  readonly record: TSchema
  /** The codes with which `stage` refuses records, beside DUPLICATE_REFERENCE and those of `refersTo` and of the schema. */
  readonly errors?: readonly ErrorCode[]
  createStore(options: StoreOptions): S
}

/** Makes the lifecycle of a row. The compiler refuses a verb without its move, and a line of unknown states. */
export const lifecycleOf = <
  const Kind extends string,
  State extends string,
  Verb extends string,
  Row extends Pick<LifecycleRow, 'params' | 'explained'> & {
    readonly line: readonly State[]
    readonly moves: { readonly [verb in Verb]: Move | UpdateMove }
  },
>(
  kind: Kind,
  transitions: Lifecycle<State, Verb>,
  row: Row,
) => ({ ...row, kind, transitions: transitions as Lifecycle, states: Object.keys(transitions) })

/** The moves of collections. */
const reasoned = {
  body: CollectionVerbBody,
  description:
    'Without `reasonCode`, a transition with reason codes gets the first legal one. The error of an illegal transition ' +
    'names the legal ones.',
}

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
    lifecycle: lifecycleOf('mandate', mandateLifecycle, {
      line: ['PENDING', 'ACTIVE', 'CANCELLED'],
      params: MandateParams,
      moves: {
        activate: { example: 'MND-ACME-0011' },
        fail: { example: 'MND-ACME-0015' },
        cancel: {
          example: 'MND-ACME-0016',
          operationId: 'forceCancelMandate',
          description: 'A cancelled mandate cancels its PENDING collections.',
        },
        expire: { example: 'MND-ACME-0017' },
      },
    }),
    reference: 'mandateReference',
    notFound: 'MANDATE_NOT_FOUND',
    regions: 'EU',
    create: NewMandate,
    list: { query: MandateQuery, item: Mandate },
    columns: ['debtor.name', 'type', 'createdAt'],
    empty: 'A mandate lets the client collect from a debtor. Create one here, or by POST /api/v1/mandates.',
    seeds: assumed(Type.Array(SeedMandate), 'Mandates in any state.'),
    stateAt: mandateStateAt,
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
    lifecycle: lifecycleOf('collection', collectionLifecycle, {
      line: ['PENDING', 'SUBMITTED', 'PROCESSING', 'SETTLED', 'RETURNED'],
      params: CollectionParams,
      moves: {
        submit: { ...reasoned, example: 'COL-ACME-0061' },
        process: { ...reasoned, example: 'COL-ACME-0062' },
        settle: { ...reasoned, example: 'COL-ACME-0063' },
        fail: { ...reasoned, example: 'COL-ACME-0064' },
        reject: { ...reasoned, example: 'COL-ACME-0065' },
        return: { ...reasoned, example: 'COL-ACME-0066' },
        cancel: { ...reasoned, example: 'COL-ACME-0067' },
      },
    }),
    reference: 'collectionReference',
    refersTo: { mandateReference: { kind: 'mandates', accepts: { status: 'ACTIVE', type: 'RECURRING' } } },
    notFound: 'COLLECTION_NOT_FOUND',
    regions: 'EU',
    create: NewCollection,
    list: { query: CollectionQuery, item: CollectionSummary },
    columns: ['amount', 'collectionDate', 'debtorName', 'mandateReference', 'reasonCode'],
    empty: 'A collection takes money from a debtor, under a mandate. Create one here, or by POST /api/v1/direct-debit.',
    outcomes: {
      names: COLLECTION_OUTCOMES,
      fields: ['mandateReference', 'debtorReference', 'collectionReference', 'amount'],
      call: {
        example: 'COL-ACME-0068',
        body: CollectionOutcomeBody,
        description:
          'The outcome wins over the `debtorReference`. It is 409 ILLEGAL_TRANSITION if the collection has left the ' +
          'state in which the outcome takes effect. An outcome whose time has passed happens at once. `SETTLED` ' +
          'restores the usual course.',
      },
    },
    seeds: assumed(
      Type.Array(SeedCollection),
      'Collections in any state. Their mandates exist, or are among these records.',
    ),
    stateAt: collectionStateAt,
    record: StoredCollection,
    errors: ['MANDATE_ALREADY_USED'],
    createStore: ({ context, stores, takeOutcome }) =>
      createCollectionStore({ context, mandates: stores.mandates, takeOutcome }),
  },
  payoutLinks: {
    path: 'payout-links',
    title: 'Payout links',
    description: 'Links by which a recipient claims a payout.',
    routes: payoutLinkRoutes,
    section: 8,
    lifecycle: lifecycleOf('payoutLink', payoutLinkLifecycle, {
      line: ['ACTIVE', 'CLAIMED', 'PROCESSING', 'PAID'],
      params: PayoutLinkParams,
      explained: PayoutLinkRecord,
      moves: {
        // The link that is claimed is the one that is processed: a claimed link is PROCESSING after seconds.
        claim: {
          example: 'PL-ACME-EU-0014',
          summary: "Claim a payout link, with the fields of the recipient's form",
          description: 'The payout method determines the required members. The account number is stored masked.',
          body: Claim,
          form: claimForm,
        },
        decline: {
          example: 'PL-ACME-EU-0015',
          summary: 'Decline a payout link, as its recipient',
          body: Decline,
        },
        process: { example: 'PL-ACME-EU-0014' },
        pay: { example: 'PL-ACME-UK-0016' },
        fail: { example: 'PL-ACME-UK-0017' },
        expire: { example: 'PL-ACME-EU-0018' },
        cancel: { example: 'PL-ACME-EU-0020', operationId: 'forceCancelPayoutLink' },
      },
    }),
    reference: 'payoutLinkId',
    notFound: 'PAYOUT_LINK_NOT_FOUND',
    regions: 'shared',
    create: NewPayoutLink,
    columns: ['amount', 'payoutMethod', 'accountHolderName', 'expiresAt'],
    empty: 'By a payout link, a recipient claims a payout. Create one here, or by POST /api/v1/payout-links.',
    outcomes: {
      names: PAYOUT_LINK_OUTCOMES,
      fields: ['payoutMethod', 'counterpartyReference', 'amount'],
      call: {
        example: 'PL-ACME-EU-0019',
        body: PayoutLinkOutcomeBody,
        description: `It is 409 ILLEGAL_TRANSITION unless the link is ${toList(STEERABLE_STATUSES, 'or')}.`,
      },
    },
    seeds: assumed(Type.Array(SeedPayoutLink), 'Payout links in any state. Their currency determines their region.'),
    record: StoredPayoutLink,
    errors: ['REGION_CURRENCY_MISMATCH', 'AMOUNT_LIMIT_EXCEEDED', 'ORIGIN_NOT_ALLOWED'],
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
    lifecycle: lifecycleOf('bill', billLifecycle, {
      line: ['OPEN', 'PARTIALLY_PAID', 'PAID', 'CANCELLED'],
      params: BillParams,
      moves: {
        reopen: { update: ({ totalAmount }) => ({ body: { openAmount: totalAmount } }) },
        payPartially: {
          update: ({ totalAmount }) => ({ body: { openAmount: halfOf(String(totalAmount)) }, fields: ['openAmount'] }),
        },
        pay: { update: () => ({ body: { status: 'PAID' } }) },
        cancel: { update: () => ({ body: { status: 'CANCELLED' } }) },
      },
    }),
    reference: 'uniqueReferenceIdentifier',
    notFound: 'BILL_NOT_FOUND',
    regions: 'apart',
    create: NewBill,
    list: { query: BillQuery, item: Bill },
    columns: ['openAmount', 'dueDate', 'totalAmount', 'counterpartyReference'],
    empty: 'A bill is an amount due to the client, or from it. Create one here, or by POST /api/v1/bills.',
    seeds: assumed(Type.Array(SeedBill), 'Bills in any state. Their currency determines their region.'),
    record: Bill,
    errors: ['INCONSISTENT_BILL_UPDATE'],
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
    notFound: 'COUNTERPARTY_NOT_FOUND',
    regions: 'apart',
    update: CounterpartyUpdate,
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
    notFound: 'ROUTE_NOT_FOUND',
    regions: 'apart',
    list: { query: AccountQuery, item: Account },
    columns: ['balance', 'accountHolderName', 'accountIdentifier'],
    empty: 'The accounts of a client come with its fixture. The service documents no way to create one.',
    seeds: assumed(Type.Array(Account), 'Accounts. Their currency determines their region.'),
    record: Account,
    createStore: ({ context }) => createAccountStore(context),
  },
} as const satisfies { readonly [Name in keyof Stores]: Row<Stores[Name]> }

/** The row of a store. The compiler refuses a body, a lifecycle or outcomes that the store lacks, and those that the row lacks. */
type Row<S extends Store> = Area<S> &
  (S extends CreatingStore ? { create: TObject } : { create?: never }) &
  (S extends StatefulStore ? { lifecycle: LifecycleRow } : { lifecycle?: never }) &
  (S extends SteeredStore ? { outcomes: object } : { outcomes?: never })

export type Areas = typeof areas
/** The name of a kind of records in seeds, state documents and counts, in the plural. */
export type AreaName = keyof Areas
/** The kind of a record with states, in the singular. */
export type EventKind = Extract<Areas[AreaName], { lifecycle: object }>['lifecycle']['kind']
/** The name of an outcome that can be armed. */
export type OutcomeName = Extract<Areas[AreaName], { outcomes: object }>['outcomes']['names'][number]

/** The kinds by their use: collections, which are used most, then the others as in the table. */
export const byUse = (): readonly AreaName[] => [
  ...new Set<AreaName>(['collections', ...(Object.keys(areas) as AreaName[])]),
]

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
