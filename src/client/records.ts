/**
 * The records of the library: the types and the methods of each kind. The types come from the OpenAPI documents. The
 * methods follow from the table of areas, with which a test compares their types.
 *
 * Formats: moments are `YYYY-MM-DDThh:mm:ssZ`, dates `YYYY-MM-DD`, amounts decimal strings.
 */
import type { TObject } from '@sinclair/typebox'
import type { Area, Transition } from '../areas/index.js'
import { areas } from '../areas/index.js'
import { CURRENCIES, regionOf } from '../core/domain/regions.js'
import type * as api from './api.js'
import type { Call } from './connection.js'
import type { Filter, Input } from './input.js'
import type { Names } from './options.js'
import { assertMembers, assertOptions } from './options.js'

/** The region of a record. */
export type Region = api.SeedCounterparty['region']

/** A collection. Only its explanation has the member `outcome`. */
export type Collection = api.CollectionRecord
/** A collection in a list: without its reason code. */
export type CollectionSummary = api.CollectionRequestSummary
export type Mandate = api.MandateRecord
export type PayoutLink = api.PayoutLinkRecord
export type Bill = api.Bill
export type Counterparty = api.Counterparty
export type Account = api.Account
export type CollectionStatus = Collection['status']
export type MandateStatus = Mandate['status']
export type PayoutLinkStatus = PayoutLink['status']
export type BillStatus = Bill['status']

/** The bodies of requests that create a record. */
export type NewCollection = Input<api.CollectionCreateRequest>
export type NewMandate = Input<api.MandateCreateRequest>
export type NewPayoutLink = Input<api.PayoutLinkCreateRequest>
export type NewBill = Input<api.BillCreateRequest>
/** The changes of a counterparty: at least one member. */
export type CounterpartyUpdate = Input<api.CounterpartyUpdateRequest>

/** The filter of a list, without its page. */
type ListFilter<Query> = Omit<Input<Filter<Query>>, 'cursor' | 'limit'>
/** The filters of lists. */
export type CollectionFilter = ListFilter<api.ListCollectionsQuery>
export type MandateFilter = ListFilter<api.ListMandatesQuery>
export type BillFilter = ListFilter<api.ListBillsQuery>
export type AccountFilter = ListFilter<api.ListAccountsQuery>

/** A record with its history, the next automatic transition and the legal transitions. */
export type Explained<R> = Omit<api.ExplainedBill, 'record'> & { record: R }
export type Claim = Input<api.PayoutLinkClaim>
export type Decline = Input<api.PayoutLinkDecline>
/** The reason code of a rejected, returned or failed collection. Default: the first legal one. */
export type CollectionReason = Input<api.ReturnCollectionBody>
/** The name of an outcome of collections, for example `RETURNED-AM04`. */
export type CollectionOutcome = api.CollectionOutcome['outcome']
/** The name of an outcome of payout links. */
export type PayoutLinkOutcome = api.PayoutLinkOutcome['outcome']
/** Moves a collection. The default reason code of `reject`, `return` and `fail` is the first legal one. */
export type CollectionMove = (reference: string, body?: CollectionReason) => Promise<Explained<Collection>>
/** Moves a mandate. */
export type MandateMove = (reference: string) => Promise<Explained<Mandate>>
/** Moves a payout link. */
export type PayoutLinkMove = (reference: string) => Promise<Explained<PayoutLink>>

/** A page of a list. `nextCursor` is null on the last page. */
export interface List<R> {
  readonly totalCount: number
  readonly hasMore: boolean
  readonly nextCursor: string | null
  readonly data: R[]
}

/** The conditions of a search, and the page. Default: the newest 50 records of all regions. */
export interface Search<S extends string = never> {
  /** A part of the reference or id, in upper or lower case. */
  readonly search?: string | undefined
  readonly region?: Region | undefined
  readonly status?: S | undefined
  /** 1 to 50. */
  readonly limit?: number | undefined
  /** The `nextCursor` of the page before. */
  readonly cursor?: string | undefined
}
/** A page of a search. `nextCursor` is null on the last page. */
export interface FoundPage<R> {
  readonly data: { region: Region; createdAt: string; record: R }[]
  readonly nextCursor: string | null
}

/** The region of a record. Default: EU. */
export interface Where {
  readonly region?: Region | undefined
}
/** The last parameter of methods of kinds whose references can occur in several regions. */
type Apart = [where?: Where]

interface Searches<R, S extends string = never> {
  /** Returns a page of the records that contain a text, newest first. It is no request of the API. */
  search(query?: Search<S>): Promise<FoundPage<R>>
}
interface Lists<Query, Item, W extends Apart | [] = []> {
  /** Returns a page of the records that match, newest first, as the API returns it: one request. */
  list(query?: Input<Filter<Query>>, ...where: W): Promise<List<Item>>
  /** Returns all records that match, newest first: the records of all pages. */
  all(filter?: ListFilter<Query>, ...where: W): Promise<Item[]>
}
interface Creates<New, R> {
  /** Creates a record in the region of its currency. */
  create(record: New): Promise<R>
}
interface Explains<R, W extends Apart | [] = []> {
  /** Explains a record. The region is necessary if several regions have the same reference. */
  explain(reference: string, ...where: W): Promise<Explained<R>>
}
interface Steers<R, Outcome extends string | null> {
  /** Gives a record an outcome. Rejects if its state no longer allows it. */
  setOutcome(reference: string, outcome: Outcome): Promise<Explained<R>>
}

/** The methods that move a record, by the transitions of its kind. */
type Moves<Transitions, Move> = { readonly [Transition in keyof Transitions]: Move }

/** The methods of collections. */
export interface Collections
  extends Searches<Collection, CollectionStatus>,
    Lists<api.ListCollectionsQuery, CollectionSummary>,
    Creates<NewCollection, Collection>,
    Explains<Collection>,
    Steers<Collection, CollectionOutcome>,
    Moves<api.CollectionsTransitions, CollectionMove> {}

/** The methods of mandates. */
export interface Mandates
  extends Searches<Mandate, MandateStatus>,
    Lists<api.ListMandatesQuery, api.Mandate>,
    Creates<NewMandate, Mandate>,
    Explains<Mandate>,
    Moves<api.MandatesTransitions, MandateMove> {}

/** The methods of payout links. */
export interface PayoutLinks
  extends Searches<api.StoredPayoutLink, PayoutLinkStatus>,
    Creates<NewPayoutLink, PayoutLink>,
    Explains<PayoutLink>,
    Steers<PayoutLink, PayoutLinkOutcome>,
    Moves<Omit<api.PayoutLinksTransitions, 'claim' | 'decline'>, PayoutLinkMove> {
  /** ACTIVE becomes CLAIMED, with the fields of the recipient's form. */
  claim(reference: string, body: Claim): Promise<Explained<PayoutLink>>
  /** ACTIVE becomes REJECTED. */
  decline(reference: string, body?: Decline): Promise<Explained<PayoutLink>>
}

/** The methods of bills. */
export interface Bills
  extends Searches<Bill, BillStatus>,
    Lists<api.ListBillsQuery, Bill, Apart>,
    Creates<NewBill, Bill>,
    Explains<Bill, Apart> {}

/** The methods of counterparties. */
export interface Counterparties extends Searches<Counterparty> {
  /** Changes a record. */
  update(reference: string, changes: CounterpartyUpdate, where?: Where): Promise<Counterparty>
}

/** The methods of accounts. */
export interface Accounts extends Searches<Account>, Lists<api.ListAccountsQuery, Account, Apart> {}

/** The methods of each kind. */
export interface Records {
  readonly mandates: Mandates
  readonly collections: Collections
  readonly payoutLinks: PayoutLinks
  readonly bills: Bills
  readonly counterparties: Counterparties
  readonly accounts: Accounts
}

/** The most records of a page of the API. */
const MAX_PAGE = 500

/**
 * Creates the methods that act on records. `list`, `all`, `create` and `update` are requests of the API with a new token, as the
 * app sends them: faults apply to them, and the request log has them. `seed()` adds records without both.
 * @param control calls a route of the control plane
 * @param apiIn returns a function that calls operations of the API in a region, all with one new token
 */
export function createRecords(control: Call, apiIn: (region: Region) => Promise<Call>): Records {
  const methodsOf = (name: string, { path: area, regions, list, create, update, lifecycle, outcomes }: Area) => {
    const path = `/${area}`
    const pathOf = (reference: string) => `${path}/${encodeURIComponent(reference)}`

    const listing = ({ query: { properties } }: NonNullable<typeof list>) => ({
      async list(query: object = {}, where: Where = {}) {
        assertOptions(`${name}.list`, query, properties)
        return (await apiIn(regionIn(`${name}.list`, where)))('GET', path, { query: { ...query } })
      },
      async all(filter: object = {}, where: Where = {}) {
        const { cursor: _cursor, limit: _limit, ...filters } = properties
        assertOptions(`${name}.all`, filter, filters)
        const send = await apiIn(regionIn(`${name}.all`, where))
        const records: unknown[] = []
        for (let cursor: string | undefined; ; ) {
          const query = { ...filter, limit: MAX_PAGE, cursor }
          const { data, nextCursor } = await send<List<unknown>>('GET', path, { query })
          records.push(...data)
          if (typeof nextCursor !== 'string') return records
          cursor = nextCursor
        }
      },
    })
    const creating = (schema: TObject) => ({
      async create(record: object) {
        assertMembers(`${name}.create`, record, schema)
        return (await apiIn(regions === 'EU' ? 'EU' : regionFor(record)))('POST', path, { body: record })
      },
    })
    const updating = (schema: TObject) => ({
      async update(reference: string, changes: object, where: Where = {}) {
        assertMembers(`${name}.update`, changes, schema)
        const send = await apiIn(regionIn(`${name}.update`, where))
        return send('PATCH', pathOf(reference), { body: changes })
      },
    })
    const move =
      (transition: string, { body: schema }: Transition) =>
      async (reference: string, ...rest: object[]) => {
        // The server refuses the body of a move that takes none.
        const body = schema !== undefined || regions !== 'apart' ? rest.shift() : undefined
        return control('POST', `${pathOf(reference)}/${transition}`, {
          body,
          query: whereOf(`${name}.${transition}`, rest[0]),
        })
      }
    const moves = Object.entries(lifecycle?.transitions ?? {}).flatMap(([transition, row]) =>
      'update' in row ? [] : [[transition, move(transition, row)] as const],
    )
    return {
      search: (query: object = {}) => control('GET', path, { query: { ...query } }),
      ...(list && listing(list)),
      ...(create && creating(create)),
      ...(update && updating(update)),
      ...(lifecycle && {
        explain: async (reference: string, where?: Where) =>
          control('GET', pathOf(reference), { query: whereOf(`${name}.explain`, where) }),
      }),
      ...Object.fromEntries(moves),
      ...(outcomes && {
        setOutcome: (reference: string, outcome: string) =>
          control('PUT', `${pathOf(reference)}/outcome`, { body: { outcome } }),
      }),
    }
  }
  return Object.fromEntries(
    Object.entries<Area>(areas).map(([name, area]) => [name, methodsOf(name, area)]),
  ) as unknown as Records
}

const WHERE: Names<Where> = { region: true }

/** @throws TypeError */
function whereOf(method: string, where: Where = {}): { region?: Region | undefined } {
  assertOptions(method, where, WHERE)
  return { region: where.region }
}

/** Returns the region that a call names. @throws TypeError */
const regionIn = (method: string, where: Where): Region => whereOf(method, where).region ?? 'EU'

/** Returns the region of a new record. The server refuses an unknown currency, whatever the region. */
function regionFor(record: { readonly currency?: unknown }): Region {
  const { currency } = Object(record)
  return CURRENCIES.includes(currency) ? regionOf(currency) : 'EU'
}
