import type { TSchema } from '@sinclair/typebox'
import { billLifecycle } from '../areas/bills/lifecycle.js'
import { NewBill } from '../areas/bills/schemas.js'
import { collectionLifecycle } from '../areas/direct-debit/lifecycle.js'
import { NewCollection } from '../areas/direct-debit/schemas.js'
import { collectionDateBounds } from '../areas/direct-debit/timing.js'
import type { Area, AreaName } from '../areas/index.js'
import { areas } from '../areas/index.js'
import { mandateLifecycle } from '../areas/mandates/lifecycle.js'
import { NewMandate } from '../areas/mandates/schemas.js'
import { payoutLinkLifecycle } from '../areas/payout-links/lifecycle.js'
import { NewPayoutLink } from '../areas/payout-links/schemas.js'
import type { Lifecycle } from '../core/records/state-machine.js'
import type { Explained } from '../core/records/stateful-repository.js'
import type { Region } from '../core/rules/regions.js'
import { REGIONS } from '../core/rules/regions.js'
import { addDays, localDate } from '../core/time/time.js'
import type { Tenant } from '../tenants/tenant.js'

/** A record of any kind, as its store has it. */
export type AnyRecord = Readonly<Record<string, unknown>>

/** A kind of records, as the console shows it. The views of its columns are in `views/records.tsx`. */
export interface Kind {
  readonly name: AreaName
  /** Below the console. */
  readonly path: string
  readonly title: string
  readonly noun: string
  /** The member that holds the reference. */
  readonly idField: string
  /** The sentence of an empty table: how records of this kind come there. */
  readonly empty: string
  readonly lifecycle?: Lifecycle
  /** Explains a record; a kind without it has no states. Throws the error of an unknown reference. */
  explain?(tenant: Tenant, reference: string, region: Region | undefined): Explained<AnyRecord>
  /** The body of the call of the API that creates a record, and an example that is accepted. */
  readonly create?: {
    readonly schema: TSchema
    /** The regions of the call, where there are several. */
    readonly regions?: readonly Region[]
    /** @param number makes the reference another one */
    example(tenant: Tenant, number: string): object
  }
}

const today = ({ clock }: Tenant) => localDate(clock.now(), 'Europe/Berlin')

/** The kinds in the order of the navigation. */
export const kinds: readonly Kind[] = [
  {
    name: 'collections',
    path: '/collections',
    title: 'Collections',
    noun: 'collection',
    idField: 'collectionReference',
    empty: 'A collection takes money from a debtor, under a mandate. Create one here, or by POST /api/v1/direct-debit.',
    lifecycle: collectionLifecycle,
    explain: ({ collections }, reference) => collections.explain(reference),
    create: {
      schema: NewCollection,
      example: (tenant, number) => ({
        collectionReference: `COL-${number}`,
        mandateReference: activeMandate(tenant) ?? 'MND-0001',
        amount: '49.90',
        currency: 'EUR',
        collectionDate: collectionDateBounds(tenant.clock.now()).earliest,
      }),
    },
  },
  {
    name: 'mandates',
    path: '/mandates',
    title: 'Mandates',
    noun: 'mandate',
    idField: 'mandateReference',
    empty: 'A mandate lets the client collect from a debtor. Create one here, or by POST /api/v1/mandates.',
    lifecycle: mandateLifecycle,
    explain: ({ mandates }, reference) => mandates.explain(reference),
    create: {
      schema: NewMandate,
      example: (_tenant, number) => ({
        mandateReference: `MND-${number}`,
        type: 'RECURRING',
        creditor: {
          name: 'Acme Office Coffee GmbH',
          bankIdentifier: { type: 'CREDITOR_IDENTIFIER', value: 'DE98ZZZ09999999999' },
        },
        debtor: { name: 'Jane Doe', iban: 'DE89370400440532013000' },
      }),
    },
  },
  {
    name: 'payoutLinks',
    path: '/payout-links',
    title: 'Payout links',
    noun: 'payout link',
    idField: 'payoutLinkId',
    empty: 'By a payout link, a recipient claims a payout. Create one here, or by POST /api/v1/payout-links.',
    lifecycle: payoutLinkLifecycle,
    explain: ({ payoutLinks }, reference) => payoutLinks.explain(reference),
    create: {
      schema: NewPayoutLink,
      regions: ['EU', 'US', 'UK'],
      example: () => ({
        amount: '64.00',
        currency: 'EUR',
        payoutMethod: 'SEPA-INSTANT',
        accountHolderName: 'Ida Lindholm',
        remarks: 'Refund of a lost parcel',
        uiMode: 'hosted',
      }),
    },
  },
  {
    name: 'bills',
    path: '/bills',
    title: 'Bills',
    noun: 'bill',
    idField: 'uniqueReferenceIdentifier',
    empty: 'A bill is an amount due to the client, or from it. Create one here, or by POST /api/v1/bills.',
    lifecycle: billLifecycle,
    explain: ({ bills }, reference, region) => bills.explain(reference, region),
    create: {
      schema: NewBill,
      regions: REGIONS,
      example: (tenant, number) => ({
        uniqueReferenceIdentifier: `INV-${number}`,
        type: 'INVOICE',
        cashflowType: 'INFLOW',
        counterpartyReference: 'CP-CONSOLE',
        currency: 'EUR',
        totalAmount: '1190.00',
        dueDate: addDays(today(tenant), 30),
      }),
    },
  },
  {
    name: 'counterparties',
    path: '/counterparties',
    title: 'Counterparties',
    noun: 'counterparty',
    idField: 'counterpartyReference',
    empty: 'A counterparty comes with its first bill, or with a fixture. The service documents no way to create one.',
  },
  {
    name: 'accounts',
    path: '/accounts',
    title: 'Accounts',
    noun: 'account',
    idField: 'accountReference',
    empty: 'The accounts of a client come with its fixture. The service documents no way to create one.',
  },
]

/** Finds a kind by the name that events have, such as `payoutLink`. */
export const kindOfEvent = (event: string): Kind =>
  kinds.find(({ name }) => (areas[name] as Area).lifecycle?.kind === event) as Kind

/** Returns the path of the calls of a kind, below `/api/v1` and `/_sandbox`. */
export const callPath = ({ name }: Kind): string => areas[name].path

/** Returns the newest ACTIVE mandate that takes a further collection. */
function activeMandate({ mandates }: Tenant): string | undefined {
  const { data } = mandates.list({ status: ['ACTIVE'], type: 'RECURRING', limit: 1 })
  return data[0]?.mandateReference
}
