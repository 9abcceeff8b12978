/**
 * The records of the library: the types and the methods of each kind. They have the types of the server's schemas.
 *
 * Formats: moments are `YYYY-MM-DDThh:mm:ssZ`, dates `YYYY-MM-DD`, amounts decimal strings.
 */
import type { Static, TObject } from '@sinclair/typebox'
import type { Account } from '../areas/accounts/schemas.js'
import { AccountQuery } from '../areas/accounts/schemas.js'
import * as bills from '../areas/bills/schemas.js'
import type { Counterparty } from '../areas/counterparties/schemas.js'
import { CounterpartyUpdate as CounterpartyChanges } from '../areas/counterparties/schemas.js'
import type { CollectionVerb } from '../areas/direct-debit/lifecycle.js'
import { COLLECTION_VERBS } from '../areas/direct-debit/lifecycle.js'
import * as collections from '../areas/direct-debit/schemas.js'
import type { AreaName } from '../areas/index.js'
import type { MandateVerb } from '../areas/mandates/lifecycle.js'
import { MANDATE_VERBS } from '../areas/mandates/lifecycle.js'
import * as mandates from '../areas/mandates/schemas.js'
import * as payoutLinks from '../areas/payout-links/schemas.js'
import type { ExplainedBill } from '../control/schemas.js'
import type { Currency, Region } from '../core/rules/regions.js'
import { CURRENCIES, regionOf } from '../core/rules/regions.js'
import type { Call } from './connection.js'
import type { Filter, Input } from './input.js'
import type { Names } from './options.js'
import { assertMembers, assertOptions } from './options.js'

export type { Account, Counterparty, Region }
export type Bill = bills.Bill
export type Claim = payoutLinks.Claim
export type Decline = payoutLinks.Decline
/** A collection. Only its explanation has the member `outcome`. */
export type Collection = collections.StoredCollection
/** A collection in a list: without its reason code. */
export type CollectionSummary = Static<typeof collections.CollectionSummary>
export type Mandate = mandates.StoredMandate
export type PayoutLink = payoutLinks.PayoutLinkRecord
export type CollectionStatus = Collection['status']
export type MandateStatus = Mandate['status']
export type PayoutLinkStatus = PayoutLink['status']
export type BillStatus = Bill['status']

/** The bodies of requests that create a record. */
export type NewCollection = Input<collections.NewCollection>
export type NewMandate = Input<mandates.NewMandate>
export type NewPayoutLink = Input<payoutLinks.NewPayoutLink>
export type NewBill = Input<bills.NewBill>
/** The changes of a counterparty: at least one member. */
export type CounterpartyUpdate = Input<CounterpartyChanges>

/** The filters of lists. */
export type CollectionFilter = ListFilter<collections.CollectionQuery>
export type MandateFilter = ListFilter<Static<typeof mandates.MandateQuery>>
export type BillFilter = ListFilter<bills.BillQuery>
export type AccountFilter = ListFilter<AccountQuery>
type ListFilter<T> = Input<Filter<Omit<T, 'cursor' | 'limit'>>>

/** A record with its history, the next automatic transition and the legal transitions. */
export type Explained<R> = Omit<Static<typeof ExplainedBill>, 'record'> & { record: R }
/** The reason code of a rejected, returned or failed collection. */
export type CollectionReason = Input<Static<typeof collections.CollectionVerbBody>>
/** The name of an outcome of collections, for example `RETURNED-AM04`. */
export type CollectionOutcome = NonNullable<Collection['outcome']>
/** The name of an outcome of payout links. */
export type PayoutLinkOutcome = NonNullable<PayoutLink['outcome']>

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

/** Moves a collection. The reason code of a rejected, returned or failed one is the first legal one by default. */
export type CollectionMove = (collectionReference: string, reason?: CollectionReason) => Promise<Explained<Collection>>
/** Moves a mandate. */
export type MandateMove = (mandateReference: string) => Promise<Explained<Mandate>>
/** Moves a payout link. */
export type PayoutLinkMove = (payoutLinkId: string) => Promise<Explained<PayoutLink>>

/** The methods of each kind. */
export type Records = ReturnType<typeof createRecords>
export type Collections = Records['collections']
export type Mandates = Records['mandates']
export type PayoutLinks = Records['payoutLinks']
export type Bills = Records['bills']
export type Counterparties = Records['counterparties']
export type Accounts = Records['accounts']

/** The most records of a page of the API. */
const MAX_PAGE = 500

/**
 * Creates the methods that act on records. `list`, `create` and `update` are requests of the API with a new token, as the
 * application sends them: faults apply to them, and the request log has them. `seed()` adds records without both.
 * @param control calls a route of the control plane
 * @param apiIn returns a function that calls operations of the API in a region, all with one new token
 */
export function createRecords(control: Call, apiIn: (region: Region) => Promise<Call>) {
  /** @param schema the members of the record */
  async function create<T>(method: string, path: string, schema: TObject, body: object, region: Region = 'EU') {
    assertMembers(method, body, schema)
    return (await apiIn(region))<T>('POST', path, { body })
  }

  /**
   * Returns the matching records of all pages.
   * @param schema the parameters of the list
   */
  async function list<T>(method: string, path: string, schema: TObject, filter: object = {}, where: Where = {}) {
    const { cursor: _cursor, limit: _limit, ...filters } = schema.properties
    assertOptions(method, filter, filters)
    const send = await apiIn(regionIn(method, where))
    const records: T[] = []
    for (let cursor: string | undefined; ; ) {
      const query = { ...filter, limit: MAX_PAGE, cursor }
      const { data, nextCursor } = await send<{ data: T[]; nextCursor?: string | null }>('GET', path, { query })
      records.push(...data)
      if (typeof nextCursor !== 'string') return records
      cursor = nextCursor
    }
  }

  const pathOf = (area: string, reference: string) => `/${area}/${encodeURIComponent(reference)}`
  const explain = <R>(area: string, reference: string, query = {}) =>
    control<Explained<R>>('GET', pathOf(area, reference), { query })
  const search =
    <R, S extends string = never>(area: string) =>
    (query: Search<S> = {}): Promise<FoundPage<R>> =>
      control('GET', `/${area}`, { query: { ...query } })
  const setOutcome = <R>(area: string, reference: string, outcome: string) =>
    control<Explained<R>>('PUT', `${pathOf(area, reference)}/outcome`, { body: { outcome } })
  const move = <Move>(area: string, verb: string) =>
    ((reference: string, body?: object) => control('POST', `${pathOf(area, reference)}/${verb}`, { body })) as Move

  const moves = <Verb extends string, Move>(area: string, verbs: readonly Verb[]) =>
    Object.fromEntries(verbs.map(verb => [verb, move<Move>(area, verb)])) as Record<Verb, Move>

  return {
    /** Collections. */
    collections: {
      /** Lists all collections that match, newest first. */
      list: (filter?: CollectionFilter): Promise<CollectionSummary[]> =>
        list('collections.list', '/direct-debit', collections.CollectionQuery, filter),
      /** Returns a page of the collections whose reference contains a text, newest first. It is no request of the API. */
      search: search<Collection, CollectionStatus>('direct-debit'),
      create: (collection: NewCollection): Promise<Collection> =>
        create('collections.create', '/direct-debit', collections.NewCollection, collection),
      /** Gives a collection an outcome. Rejects if its state no longer allows it. */
      setOutcome: (collectionReference: string, outcome: CollectionOutcome): Promise<Explained<Collection>> =>
        setOutcome('direct-debit', collectionReference, outcome),
      explain: (collectionReference: string): Promise<Explained<Collection>> =>
        explain('direct-debit', collectionReference),
      ...moves<CollectionVerb, CollectionMove>('direct-debit', COLLECTION_VERBS),
    },
    /** Mandates. */
    mandates: {
      /** Lists all mandates that match, newest first. */
      list: (filter?: MandateFilter): Promise<Mandate[]> =>
        list('mandates.list', '/mandates', mandates.MandateQuery, filter),
      /** Returns a page of the mandates whose reference contains a text, newest first. It is no request of the API. */
      search: search<Mandate, MandateStatus>('mandates'),
      create: (mandate: NewMandate): Promise<Mandate> =>
        create('mandates.create', '/mandates', mandates.NewMandate, mandate),
      explain: (mandateReference: string): Promise<Explained<Mandate>> => explain('mandates', mandateReference),
      ...moves<MandateVerb, MandateMove>('mandates', MANDATE_VERBS),
    },
    /** Payout links. The API does not list them. */
    payoutLinks: {
      /** Returns a page of the payout links of all regions whose id contains a text, newest first, without `url`. */
      search: search<Omit<PayoutLink, 'url'>, PayoutLinkStatus>('payout-links'),
      /** Creates a payout link in the region of its currency. */
      create: (payoutLink: NewPayoutLink): Promise<PayoutLink> =>
        create('payoutLinks.create', '/payout-links', payoutLinks.NewPayoutLink, payoutLink, regionFor(payoutLink)),
      /** Gives a payout link an outcome. Rejects if its state no longer allows it. */
      setOutcome: (payoutLinkId: string, outcome: PayoutLinkOutcome): Promise<Explained<PayoutLink>> =>
        setOutcome('payout-links', payoutLinkId, outcome),
      explain: (payoutLinkId: string): Promise<Explained<PayoutLink>> => explain('payout-links', payoutLinkId),
      /** Claims a payout link as its recipient. */
      claim: move<(payoutLinkId: string, claim: Claim) => Promise<Explained<PayoutLink>>>('payout-links', 'claim'),
      /** Declines a payout link as its recipient. */
      decline: move<(payoutLinkId: string, decline?: Decline) => Promise<Explained<PayoutLink>>>(
        'payout-links',
        'decline',
      ),
      process: move<PayoutLinkMove>('payout-links', 'process'),
      pay: move<PayoutLinkMove>('payout-links', 'pay'),
      fail: move<PayoutLinkMove>('payout-links', 'fail'),
      expire: move<PayoutLinkMove>('payout-links', 'expire'),
      /** Cancels a payout link without a comment. The API cancels with one. */
      cancel: move<PayoutLinkMove>('payout-links', 'cancel'),
    },
    /** Bills. The API changes them. */
    bills: {
      /** Lists all bills of a region that match, newest first. */
      list: (filter?: BillFilter, where?: Where): Promise<Bill[]> =>
        list('bills.list', '/bills', bills.BillQuery, filter, where),
      /** Returns a page of the bills of all regions whose reference contains a text, newest first. */
      search: search<Bill, BillStatus>('bills'),
      /** Creates a bill in the region of its currency. */
      create: (bill: NewBill): Promise<Bill> => create('bills.create', '/bills', bills.NewBill, bill, regionFor(bill)),
      /** Explains a bill. The region is necessary if several regions have the same reference. */
      async explain(uniqueReferenceIdentifier: string, where: Where = {}): Promise<Explained<Bill>> {
        assertOptions('bills.explain', where, WHERE)
        return explain('bills', uniqueReferenceIdentifier, { region: where.region })
      },
    },
    /** Counterparties. The API only changes them: bills and `seed()` create them. */
    counterparties: {
      /** Returns a page of the counterparties of all regions whose reference contains a text, newest first. */
      search: search<Counterparty>('counterparties'),
      async update(
        counterpartyReference: string,
        changes: CounterpartyUpdate,
        where: Where = {},
      ): Promise<Counterparty> {
        assertMembers('counterparties.update', changes, CounterpartyChanges)
        const send = await apiIn(regionIn('counterparties.update', where))
        return send('PATCH', `/counterparties/${encodeURIComponent(counterpartyReference)}`, { body: changes })
      },
    },
    /** Accounts. The API only lists them: `seed()` creates them. */
    accounts: {
      /** Lists all accounts of a region that match, newest first. */
      list: (filter?: AccountFilter, where?: Where): Promise<Account[]> =>
        list('accounts.list', '/accounts', AccountQuery, filter, where),
      /** Returns a page of the accounts of all regions whose reference contains a text, newest first. */
      search: search<Account>('accounts'),
    },
  } satisfies Record<AreaName, object>
}

const WHERE: Names<Where> = { region: true }

/** Returns the region that a call names. @throws TypeError */
function regionIn(method: string, where: Where): Region {
  assertOptions(method, where, WHERE)
  return where.region ?? 'EU'
}

/** Returns the region of a new record. The server refuses an unknown currency, whatever the region. */
function regionFor(record: { readonly currency?: unknown }): Region {
  const { currency } = Object(record)
  return CURRENCIES.includes(currency as Currency) ? regionOf(currency as Currency) : 'EU'
}
