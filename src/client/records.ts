/**
 * The records of the library: the types and the methods of each kind. They follow from the table of areas.
 *
 * Formats: moments are `YYYY-MM-DDThh:mm:ssZ`, dates `YYYY-MM-DD`, amounts decimal strings.
 */
import type { Static, TObject, TSchema } from '@sinclair/typebox'
import type { Area, AreaName, Areas, Transition } from '../areas/index.js'
import { areas } from '../areas/index.js'
import type { Currency, Region } from '../core/domain/regions.js'
import { CURRENCIES, regionOf } from '../core/domain/regions.js'
import type { List } from '../core/records/list.js'
import type { ExplainedRecord } from '../sandbox/kinds/schemas.js'
import type { Call } from './connection.js'
import type { Filter, Input } from './input.js'
import type { Names } from './options.js'
import { assertMembers, assertOptions } from './options.js'

export type { List, Region }

/** A record of a kind, with the members that only the control plane shows. */
export type RecordOf<Name extends AreaName> = Areas[Name] extends { lifecycle: { explained: infer S extends TSchema } }
  ? Static<S>
  : Static<Areas[Name]['record']>
/** The body of the request that creates a record. */
type New<Name extends AreaName> = Areas[Name] extends { create: infer S extends TSchema } ? Input<Static<S>> : never
/** The filter of a list, and its page. */
type ListQuery<Name extends AreaName> = Areas[Name] extends { list: { query: infer S extends TSchema } }
  ? Input<Filter<Static<S>>>
  : never
/** The filter of a list. */
type ListFilter<Name extends AreaName> = Omit<ListQuery<Name>, 'cursor' | 'limit'>
type StatusOf<Name extends AreaName> = RecordOf<Name> extends { status: infer S extends string } ? S : never
type MovesOf<Name extends AreaName> = Areas[Name] extends { lifecycle: { transitions: infer M } } ? M : never
type BodyOf<Name extends AreaName, Verb extends keyof MovesOf<Name>> = MovesOf<Name>[Verb] extends {
  body: infer S extends TSchema
}
  ? Input<Static<S>>
  : never

/** A collection. Only its explanation has the member `outcome`. */
export type Collection = RecordOf<'collections'>
/** A collection in a list: without its reason code. */
export type CollectionSummary = Static<Areas['collections']['list']['item']>
export type Mandate = RecordOf<'mandates'>
export type PayoutLink = RecordOf<'payoutLinks'>
export type Bill = RecordOf<'bills'>
export type Counterparty = RecordOf<'counterparties'>
export type Account = RecordOf<'accounts'>
export type CollectionStatus = StatusOf<'collections'>
export type MandateStatus = StatusOf<'mandates'>
export type PayoutLinkStatus = StatusOf<'payoutLinks'>
export type BillStatus = StatusOf<'bills'>

/** The bodies of requests that create a record. */
export type NewCollection = New<'collections'>
export type NewMandate = New<'mandates'>
export type NewPayoutLink = New<'payoutLinks'>
export type NewBill = New<'bills'>
/** The changes of a counterparty: at least one member. */
export type CounterpartyUpdate = Input<Static<Areas['counterparties']['update']>>

/** The filters of lists. */
export type CollectionFilter = ListFilter<'collections'>
export type MandateFilter = ListFilter<'mandates'>
export type BillFilter = ListFilter<'bills'>
export type AccountFilter = ListFilter<'accounts'>

/** A record with its history, the next automatic transition and the legal transitions. */
export type Explained<R> = Omit<ExplainedRecord, 'record'> & { record: R }
export type Claim = BodyOf<'payoutLinks', 'claim'>
export type Decline = BodyOf<'payoutLinks', 'decline'>
/** The reason code of a rejected, returned or failed collection. */
export type CollectionReason = BodyOf<'collections', 'return'>
/** The name of an outcome of collections, for example `RETURNED-AM04`. */
export type CollectionOutcome = NonNullable<Collection['outcome']>
/** The name of an outcome of payout links. */
export type PayoutLinkOutcome = NonNullable<PayoutLink['outcome']>
/** Moves a collection. The reason code of a rejected, returned or failed one is the first legal one by default. */
export type CollectionMove = Collections['return']
/** Moves a mandate. */
export type MandateMove = Mandates['cancel']
/** Moves a payout link. */
export type PayoutLinkMove = PayoutLinks['cancel']

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
/** The region of a record, for kinds whose references can be those of several regions. */
type WhereOf<Name extends AreaName> = Areas[Name]['regions'] extends 'apart' ? [where?: Where] : []

interface Searches<Name extends AreaName> {
  /** Returns a page of the records whose reference contains a text, newest first. It is no request of the API. */
  search(query?: Search<StatusOf<Name>>): Promise<FoundPage<Static<Areas[Name]['record']>>>
}
interface Lists<Name extends AreaName, Item> {
  /** Returns a page of the records that match, newest first, as the API returns it: one request. */
  list(query?: ListQuery<Name>, ...where: WhereOf<Name>): Promise<List<Item>>
  /** Returns all records that match, newest first: the records of all pages. */
  all(filter?: ListFilter<Name>, ...where: WhereOf<Name>): Promise<Item[]>
}
interface Creates<Name extends AreaName> {
  /** Creates a record in the region of its currency. */
  create(record: New<Name>): Promise<RecordOf<Name>>
}
interface Updates<Name extends AreaName, Changes> {
  /** Changes a record. */
  update(reference: string, changes: Input<Changes>, ...where: WhereOf<Name>): Promise<RecordOf<Name>>
}
interface Explains<Name extends AreaName> {
  /** Explains a record. The region is necessary if several regions have the same reference. */
  explain(reference: string, ...where: WhereOf<Name>): Promise<Explained<RecordOf<Name>>>
}
interface Steers<Name extends AreaName> {
  /** Gives a record an outcome. Rejects if its state no longer allows it. */
  setOutcome(
    reference: string,
    outcome: NonNullable<(RecordOf<Name> & { outcome?: string })['outcome']>,
  ): Promise<Explained<RecordOf<Name>>>
}
/** The transitions that the control plane makes. Those of bills are updates of the API. */
type Moves<Name extends AreaName> = {
  [Verb in keyof MovesOf<Name> as MovesOf<Name>[Verb] extends Transition ? Verb : never]: (
    reference: string,
    ...rest: [
      ...(MovesOf<Name>[Verb] extends { body: infer S extends TSchema }
        ? object extends Static<S>
          ? [body?: Input<Static<S>>]
          : [body: Input<Static<S>>]
        : []),
      ...WhereOf<Name>,
    ]
  ) => Promise<Explained<RecordOf<Name>>>
}

/** The methods of a kind. */
export type RecordMethods<Name extends AreaName> = Searches<Name> &
  (Areas[Name] extends { list: { item: infer S extends TSchema } } ? Lists<Name, Static<S>> : unknown) &
  (Areas[Name] extends { create: TSchema } ? Creates<Name> : unknown) &
  (Areas[Name] extends { update: infer S extends TSchema } ? Updates<Name, Static<S>> : unknown) &
  (Areas[Name] extends { lifecycle: object } ? Explains<Name> & Moves<Name> : unknown) &
  (Areas[Name] extends { outcomes: object } ? Steers<Name> : unknown)

/** The methods of each kind. */
export type Records = { readonly [Name in AreaName]: RecordMethods<Name> }
export type Collections = Records['collections']
export type Mandates = Records['mandates']
export type PayoutLinks = Records['payoutLinks']
export type Bills = Records['bills']
export type Counterparties = Records['counterparties']
export type Accounts = Records['accounts']

/** The most records of a page of the API. */
const MAX_PAGE = 500

/**
 * Creates the methods that act on records. `list`, `all`, `create` and `update` are requests of the API with a new token, as the
 * application sends them: faults apply to them, and the request log has them. `seed()` adds records without both.
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
      (verb: string, { body: schema }: Transition) =>
      async (reference: string, ...rest: object[]) => {
        // The server refuses the body of a move that takes none.
        const body = schema !== undefined || regions !== 'apart' ? rest.shift() : undefined
        return control('POST', `${pathOf(reference)}/${verb}`, { body, query: whereOf(`${name}.${verb}`, rest[0]) })
      }
    const moves = Object.entries(lifecycle?.transitions ?? {}).flatMap(([verb, row]) =>
      'update' in row ? [] : [[verb, move(verb, row)] as const],
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
  return CURRENCIES.includes(currency as Currency) ? regionOf(currency as Currency) : 'EU'
}
