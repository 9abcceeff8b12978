import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import {
  Amount,
  assumeConstraints,
  assumed,
  CalendarDate,
  DebtorReference,
  documented,
  ListOf,
  Moment,
  named,
  OneOf,
  pageParameters,
  Reference,
  Text,
} from '../../schemas.js'
import { COLLECTION_STATUSES } from './lifecycle.js'

export const CollectionReference = Reference

/** Interface, Collection request summary: documented member by member. */
const summary = {
  collectionReference: documented(CollectionReference),
  scheme: documented(OneOf('SEPA')),
  mandateReference: documented(Reference),
  status: documented(OneOf(...COLLECTION_STATUSES)),
  amount: documented(Amount),
  currency: documented(OneOf('EUR')),
  debtorName: documented(Type.String()),
  debtorReference: Type.Optional(documented(DebtorReference)),
  collectionDate: documented(CalendarDate),
  initiatedAt: documented(Moment),
  updatedAt: documented(Moment),
}

const ReasonCode = Type.String({ pattern: '^[A-Z]{2}[A-Z0-9]{2}$', 'x-expected': 'an ISO 20022 reason code' })

export const CollectionSummary = Type.Object(summary)

/** The single record: the summary is documented, the reason code assumed (decisions §6). */
export const Collection = Type.Object({ ...summary, reasonCode: Type.Optional(assumed(ReasonCode)) })
export type Collection = Static<typeof Collection>

/**
 * POST /api/v1/direct-debit. The interface shows no fields beyond those of the summary, which are documented with their
 * constraints; which of them a request must have is decisions §6.
 */
export const NewCollection = assumeConstraints(
  Type.Object({
    collectionReference: summary.collectionReference,
    mandateReference: summary.mandateReference,
    amount: summary.amount,
    currency: summary.currency,
    collectionDate: summary.collectionDate,
    scheme: Type.Optional(summary.scheme),
    debtorName: Type.Optional(named(Text(1, 140))),
    debtorReference: summary.debtorReference,
  }),
)
export type NewCollection = Static<typeof NewCollection>

/** A collection as fixtures and seeding give it: a request, in any state. */
export const SeedCollection = Type.Object({
  ...NewCollection.properties,
  status: Type.Optional(assumed(OneOf(...COLLECTION_STATUSES))),
  reasonCode: Type.Optional(assumed(ReasonCode)),
  initiatedAt: Type.Optional(assumed(Moment)),
  updatedAt: Type.Optional(assumed(Moment)),
})
export type SeedCollection = Static<typeof SeedCollection>

export const CollectionParams = Type.Object({ collectionReference: documented(CollectionReference) })

const AmountBound = Type.Unsafe<string>({
  type: 'number',
  format: 'double',
  minimum: 0.01,
  'x-expected': 'a decimal number of at least 0.01',
})

/** Interface, GET /api/v1/direct-debit: documented parameter by parameter. */
export const CollectionQuery = Type.Object({
  ...pageParameters(documented),
  scheme: Type.Optional(documented(Type.Array(OneOf('SEPA')))),
  status: Type.Optional(documented(Type.Array(OneOf(...COLLECTION_STATUSES)))),
  mandateReference: Type.Optional(documented(Reference)),
  debtorReference: Type.Optional(documented(DebtorReference)),
  initiatedFrom: Type.Optional(documented(Moment)),
  initiatedTo: Type.Optional(documented(Moment)),
  amountMin: Type.Optional(documented(AmountBound)),
  amountMax: Type.Optional(documented(AmountBound)),
})
export type CollectionQuery = Static<typeof CollectionQuery>

export const CollectionList = ListOf(CollectionSummary, documented)

/** What the control plane's moves take. */
export const CollectionVerbBody = Type.Object({ reasonCode: Type.Optional(assumed(ReasonCode)) })
