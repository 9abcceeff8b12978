import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import type { TArray, TObject, TSchema } from '@sinclair/typebox'
import type { Region } from '../core/domain/regions.js'
import type { ErrorCode } from '../core/errors.js'
import type { OutcomeMatch } from '../core/outcome-match.js'
import type { Lifecycle } from '../core/records/lifecycle.js'
import type { Entry, Found, Page, SearchQuery, StagedRecords, StoredRecord } from '../core/records/repository.js'
import type { DuePosition, DueTransition, Explained } from '../core/records/stateful-repository.js'
import type { StoreContext } from '../core/tenant-context.js'
import type { Instant } from '../core/time/time.js'

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
   * @param staged the results of the stores before this one, by the names of their rows
   */
  stage(seeds: readonly unknown[], path: string, staged: never): StagedRecords
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
   * @param region if undefined, the only region with the reference
   * @throws the code `notFound`
   */
  explain(reference: string, publicUrl: string, region?: Region): Explained<unknown>
  /** Makes a transition for the control plane. @throws as `explain`, ILLEGAL_TRANSITION, the errors of its body */
  forceTransition(reference: string, transition: string, body?: object, region?: Region): void
}

/** The operations that every store of records with outcomes has. */
export interface SteeredStore extends StatefulStore {
  /** Returns the outcomes that a record can still have. @throws the code `notFound` */
  possibleOutcomes(reference: string): readonly { readonly outcome: string; readonly description: string }[]
  /** Gives a record an outcome, or null for none. @throws the code `notFound`, ILLEGAL_TRANSITION */
  setOutcome(reference: string, outcome: string | null): void
  /** Refuses the match of an armed outcome that no new record can meet. @throws INVALID_FIELD */
  assertReachable(match: OutcomeMatch): void
}

/**
 * The parts of a tenant that a store is created with.
 * @typeParam Neighbours the operations of other stores that it calls, by the names of their rows
 */
export interface StoreOptions<Neighbours = unknown> {
  readonly context: StoreContext
  readonly clientId: string
  readonly settings: {
    readonly mandateActivation: 'automatic' | 'manual'
    readonly allowedOrigins: readonly string[]
    readonly senderName: string | null
  }
  /** The stores that are created before this one: the stores of records without states, then the stores of earlier rows. */
  readonly stores: Neighbours
  /** Returns the armed outcome of a new record of this area, and counts it. */
  takeOutcome(record: OutcomeMatch): string | undefined
}

/** A body that makes a transition, for the form of a console. */
export interface TransitionForm {
  /** The members that a record must have for this form. Absent for any record. */
  readonly when?: Readonly<Record<string, string>>
  readonly body: Readonly<Record<string, unknown>>
  /** The members of the body that a member of the record replaces, if it has it: `{ openAmount: 'totalAmount' }`. */
  readonly from?: Readonly<Record<string, string>>
  /** The members of the body that are half of an amount of the record, rounded up to a cent. */
  readonly half?: Readonly<Record<string, string>>
  /** The members of the body that have fields. */
  readonly fields: readonly string[]
}

/** A transition that a call of the control plane makes. */
export interface Transition {
  /** The record of the fixture `demo` in the example of the call. Each call has its own, since a call can end a record. */
  readonly example: string
  /** Where the service has an operation of the usual name, such as `cancelMandate`. */
  readonly operationId?: string
  readonly summary?: string
  /** The behaviour beyond the usual one of transitions. */
  readonly description?: string
  readonly body?: TObject
  /** The forms, of which the first that fits the record counts. By default, the fields of the body with its example. */
  readonly forms?: readonly TransitionForm[]
}

/** A transition that only an update of the API makes. The control plane has no call of it. */
export interface UpdateTransition {
  /** The form of the body of the update. */
  readonly update: TransitionForm
}

/** The lifecycle of a row. */
export interface LifecycleRow {
  /** The kind of the records in events, in the singular. */
  readonly kind: string
  readonly table: Lifecycle
  /** The states in the order of the table. */
  readonly states: readonly string[]
  /** The states of a record that nothing stops: the first row of its drawing. */
  readonly line: readonly string[]
  /** The parameter of paths: the reference. */
  readonly params: TObject
  /** The schema of a record as it is explained, where it has other members than a stored one. */
  readonly explained?: TSchema
  /** The transitions by their names, in the order of the documents. */
  readonly transitions: Readonly<Record<string, Transition | UpdateTransition>>
}

/** The record of another kind that a member names. */
interface RefersTo<Name> {
  /** The name of its row. */
  readonly kind: Name
  /** The members of a record that a new one can name, for the example of its form. */
  readonly accepts: Readonly<Record<string, string>>
}

/**
 * The row of an area: all that other rooms know about a kind of records.
 * @typeParam Name the names of all rows
 */
export interface AreaRow<S extends Store = Store, Name extends string = string> {
  /** The path of the operations below `/api/v1`. It is also their tag in the OpenAPI document. */
  readonly path: string
  /** The title of the tag. */
  readonly title: string
  /** The description of the tag. */
  readonly description: string
  readonly routes: FastifyPluginCallbackTypebox
  /** The section of docs/decisions.md with its rules. */
  readonly section: number
  /** The states and transitions of the records. Absent if they have none. */
  readonly lifecycle?: LifecycleRow
  /** The member that holds the reference of a record. */
  readonly reference: string
  /** The code of the error of an unknown reference. */
  readonly notFound: ErrorCode
  /** The members that name a record of another kind, which must exist in seeds and state documents. Absent if there is none. */
  readonly refersTo?: Readonly<Record<string, RefersTo<Name>>>
  /** Whether all records are in region EU, or several regions share the references, or each has its own. */
  readonly regions: 'EU' | 'shared' | 'apart'
  /** The body of the operation that creates a record. Absent if there is no such operation. */
  readonly create?: TObject
  /** The parameters of the operation that lists records, and the schema of a listed one. Absent if there is no such operation. */
  readonly list?: { readonly query: TObject; readonly item: TSchema }
  /** The body of the operation that changes a record without states. Absent if there is no such operation. */
  readonly update?: TObject
  /** The members in tables of the console, by their paths. Narrow screens leave out those after the second. */
  readonly columns: readonly string[]
  /** The sentence of an empty table of the console: how records of this kind come there. */
  readonly empty: string
  /** The outcomes that can be armed, and the fields of a record that they compare. Absent if there is none. */
  readonly outcomes?: {
    readonly names: readonly string[]
    readonly fields: readonly (keyof OutcomeMatch)[]
    /** The call that gives an outcome to a record. */
    readonly call: Pick<Transition, 'example' | 'description'> & { readonly body: TObject }
  }
  /** The schema of seeded records. */
  readonly seeds: TArray
  /**
   * Returns the state of a seeded record to which only time has led, for the status `{{schedule}}` of fixtures. Undefined if its
   * times are wrong. Absent if fixtures of the kind have no such status.
   */
  stateAt?(seed: Readonly<Record<string, unknown>>, now: Instant): object | undefined
  /** The schema of a stored record, for the state document. */
  readonly record: TSchema
  /** The codes with which `stage` refuses records, in addition to DUPLICATE_REFERENCE and the codes of `refersTo` and of the schema. */
  readonly errors?: readonly ErrorCode[]
  createStore(options: StoreOptions): S
}

/** The row of a store. The compiler checks that row and store agree on the body, the lifecycle and the outcomes. */
export type Row<S extends Store> = AreaRow<S> &
  (S extends CreatingStore ? { create: TObject } : { create?: never }) &
  (S extends StatefulStore ? { lifecycle: LifecycleRow } : { lifecycle?: never }) &
  (S extends SteeredStore ? { outcomes: object } : { outcomes?: never })

/** Makes the lifecycle of a row. The compiler refuses a transition without its row, and a line of unknown states. */
export const lifecycleOf = <
  const Kind extends string,
  State extends string,
  Name extends string,
  const More extends Pick<LifecycleRow, 'params' | 'explained'> & {
    readonly line: readonly State[]
    readonly transitions: { readonly [name in Name]: Transition | UpdateTransition }
  },
>(
  kind: Kind,
  table: Lifecycle<State, Name>,
  more: More,
) => ({ ...more, kind, table, states: Object.keys(table) })
