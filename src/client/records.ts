import type { Currency, Region } from '../core/rules/regions.js'
import { CURRENCIES, regionOf } from '../core/rules/regions.js'
import type { Call } from './connection.js'
import type {
  Account,
  AccountFilter,
  Bill,
  BillFilter,
  Claim,
  Collection,
  CollectionFilter,
  CollectionOutcome,
  CollectionReason,
  CollectionSummary,
  Counterparty,
  CounterpartyUpdate,
  Decline,
  Explained,
  Mandate,
  MandateFilter,
  NewBill,
  NewCollection,
  NewMandate,
  NewPayoutLink,
  PayoutLink,
  PayoutLinkOutcome,
} from './types.js'

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

/** The most records of a page of the API. */
const MAX_PAGE = 500

/**
 * Creates the methods that act on records. `list`, `create` and `update` are requests of the API with a new token, as the
 * application sends them: faults apply to them, and the request log has them. `seed()` adds records without both.
 * @param control calls a route of the control plane
 * @param apiIn returns a function that calls operations of the API in a region, all with one new token
 */
export function createRecords(control: Call, apiIn: (region: Region) => Promise<Call>) {
  const create = async <T>(path: string, body: object, region: Region = 'EU') =>
    (await apiIn(region))<T>('POST', path, { body })

  /** Returns the matching records of all pages. */
  async function list<T>(path: string, filter: object = {}, region: Region = 'EU'): Promise<T[]> {
    const send = await apiIn(region)
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
  const setOutcome = <R>(area: string, reference: string, outcome: string) =>
    control<Explained<R>>('PUT', `${pathOf(area, reference)}/outcome`, { body: { outcome } })
  const move = <Move>(area: string, verb: string) =>
    ((reference: string, body?: object) => control('POST', `${pathOf(area, reference)}/${verb}`, { body })) as Move

  return {
    /** Collections. */
    collections: {
      /** Lists all collections that match, newest first. */
      list: (filter?: CollectionFilter): Promise<CollectionSummary[]> => list('/direct-debit', filter),
      create: (collection: NewCollection): Promise<Collection> => create('/direct-debit', collection),
      /** Gives a collection an outcome. Rejects if its state no longer allows it. */
      setOutcome: (collectionReference: string, outcome: CollectionOutcome): Promise<Explained<Collection>> =>
        setOutcome('direct-debit', collectionReference, outcome),
      explain: (collectionReference: string): Promise<Explained<Collection>> =>
        explain('direct-debit', collectionReference),
      submit: move<CollectionMove>('direct-debit', 'submit'),
      process: move<CollectionMove>('direct-debit', 'process'),
      settle: move<CollectionMove>('direct-debit', 'settle'),
      fail: move<CollectionMove>('direct-debit', 'fail'),
      reject: move<CollectionMove>('direct-debit', 'reject'),
      return: move<CollectionMove>('direct-debit', 'return'),
      cancel: move<CollectionMove>('direct-debit', 'cancel'),
    },
    /** Mandates. */
    mandates: {
      /** Lists all mandates that match, newest first. */
      list: (filter?: MandateFilter): Promise<Mandate[]> => list('/mandates', filter),
      create: (mandate: NewMandate): Promise<Mandate> => create('/mandates', mandate),
      explain: (mandateReference: string): Promise<Explained<Mandate>> => explain('mandates', mandateReference),
      activate: move<MandateMove>('mandates', 'activate'),
      fail: move<MandateMove>('mandates', 'fail'),
      cancel: move<MandateMove>('mandates', 'cancel'),
      expire: move<MandateMove>('mandates', 'expire'),
    },
    /** Payout links. The API does not list them, and cancels them. */
    payoutLinks: {
      /** Creates a payout link in the region of its currency. */
      create: (payoutLink: NewPayoutLink): Promise<PayoutLink> =>
        create('/payout-links', payoutLink, regionFor(payoutLink)),
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
    },
    /** Bills. The API changes them. */
    bills: {
      /** Lists all bills of a region that match, newest first. */
      list: (filter?: BillFilter, { region }: Where = {}): Promise<Bill[]> => list('/bills', filter, region),
      /** Creates a bill in the region of its currency. */
      create: (bill: NewBill): Promise<Bill> => create('/bills', bill, regionFor(bill)),
      /** Explains a bill. The region is necessary if several regions have the same reference. */
      explain: (uniqueReferenceIdentifier: string, { region }: Where = {}): Promise<Explained<Bill>> =>
        explain('bills', uniqueReferenceIdentifier, { region }),
    },
    /** Counterparties. The API only changes them: bills and `seed()` create them. */
    counterparties: {
      async update(
        counterpartyReference: string,
        changes: CounterpartyUpdate,
        { region = 'EU' }: Where = {},
      ): Promise<Counterparty> {
        const send = await apiIn(region)
        return send('PATCH', `/counterparties/${encodeURIComponent(counterpartyReference)}`, { body: changes })
      },
    },
    /** Accounts. The API only lists them: `seed()` creates them. */
    accounts: {
      /** Lists all accounts of a region that match, newest first. */
      list: (filter?: AccountFilter, { region }: Where = {}): Promise<Account[]> => list('/accounts', filter, region),
    },
  }
}

/** Returns the region of a new record. The server refuses an unknown currency, whatever the region. */
const regionFor = ({ currency }: { readonly currency?: unknown }): Region =>
  CURRENCIES.includes(currency as Currency) ? regionOf(currency as Currency) : 'EU'
