import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Amount, DebtorReference, Name, REFERENCE_NOTE, Reference } from '../../core/domain/schemas.js'
import {
  assumeConstraints,
  assumed,
  CalendarDate,
  documented,
  ListOf,
  like,
  Moment,
  named,
  OneOf,
  orNull,
  pageParameters,
  titled,
} from '../../core/schemas.js'
import { COLLECTION_STATUSES } from './lifecycle.js'
import type { CollectionOutcome } from './outcomes.js'
import { COLLECTION_OUTCOMES } from './outcomes.js'
import { REASONED } from './reason-codes.js'

/** Interface, Collection request summary: documented member by member. */
const summary = {
  collectionReference: documented(Reference, "The caller's unique reference of the collection request."),
  scheme: documented(OneOf('SEPA'), 'The payment scheme.'),
  mandateReference: documented(Reference, "The caller's unique reference of the mandate."),
  status: documented(
    OneOf(...COLLECTION_STATUSES),
    'PENDING: not yet submitted to the scheme. SUBMITTED: sent to the scheme. PROCESSING: accepted by the scheme. ' +
      'SETTLED: funds collected. FAILED: the attempt failed. CANCELLED: cancelled before submission. ' +
      'RETURNED: funds returned after settlement. REJECTED: rejected by the scheme or the debtor bank.',
  ),
  amount: documented(Amount, 'The amount: a string on purpose, not a number.'),
  currency: documented(OneOf('EUR'), 'ISO 4217 code; always EUR for SEPA.'),
  debtorName: documented(Type.String(), 'Full legal name of the debtor.'),
  debtorReference: Type.Optional(documented(DebtorReference, "The caller's internal reference for the debtor.")),
  collectionDate: documented(CalendarDate, 'The settlement date.'),
  initiatedAt: documented(Moment, 'When the request was initiated.'),
  updatedAt: documented(Moment, 'When the request was last updated.'),
}

const ReasonCode = Type.String({ pattern: '^[A-Z]{2}[A-Z0-9]{2}$', 'x-expected': 'an ISO 20022 reason code' })

const example = {
  collectionReference: 'COL-{{number}}',
  mandateReference: 'MND-ACME-0001',
  amount: '49.90',
  currency: 'EUR',
  collectionDate: '{{open-day+5}}',
}
const exampleRecord = {
  ...example,
  scheme: 'SEPA',
  status: 'PENDING',
  debtorName: 'Brunnwald Coworking GmbH',
  debtorReference: 'CUST-1001',
  initiatedAt: '{{now}}',
  updatedAt: '{{now}}',
}

export const CollectionSummary = Type.Object(summary, {
  title: 'CollectionRequestSummary',
  description: 'A collection request, as the list shows it.',
  examples: [exampleRecord],
})

/** The single record: the summary is documented, the reason code assumed (decisions §6). */
export const Collection = Type.Object(
  {
    ...summary,
    reasonCode: Type.Optional(
      assumed(
        ReasonCode,
        `Why the collection is ${REASONED}: an ISO 20022 external code. Absent in other states.`,
        'The service shows no fields of the single record beyond the summary.',
      ),
    ),
  },
  {
    title: 'CollectionRequest',
    description: 'A collection request: the documented summary, and `reasonCode`.',
    examples: [exampleRecord],
  },
)
export type Collection = Static<typeof Collection>

const Outcome = Type.Unsafe<CollectionOutcome>({
  type: 'string',
  enum: COLLECTION_OUTCOMES,
  'x-expected': 'an outcome of collections in GET /_sandbox/outcomes, such as RETURNED-AM04',
})

/** A collection as it is stored: with the outcome that the control plane has given to it. Only it shows the outcome. */
export const StoredCollection = titled(
  'CollectionRecord',
  Type.Object({
    ...Collection.properties,
    outcome: Type.Optional(assumed(Outcome, 'The outcome that the control plane has set.')),
  }),
)
export type StoredCollection = Static<typeof StoredCollection>

/**
 * POST /api/v1/direct-debit. The interface shows no fields beyond the summary, which are documented with their
 * constraints; which of them a request must have is decisions §6.
 */
export const NewCollection = assumeConstraints(
  Type.Object(
    {
      collectionReference: summary.collectionReference,
      mandateReference: summary.mandateReference,
      amount: summary.amount,
      currency: summary.currency,
      collectionDate: documented(
        CalendarDate,
        'The settlement date.',
        'The form is documented. Assumed: a day on which T2 is closed moves to the next open day. The date is at least two ' +
          'open days ahead (three after 16:00 Berlin) and at most 365 days.',
      ),
      scheme: Type.Optional(
        documented(
          OneOf('SEPA'),
          'The payment scheme.',
          'The value is documented. That it may be left out is assumed.',
        ),
      ),
      debtorName: Type.Optional(
        named(
          Name,
          'Full legal name of the debtor.',
          'The service documents the member, but not its length. Assumed: by default the value of the mandate.',
        ),
      ),
      debtorReference: Type.Optional(
        documented(
          DebtorReference,
          "The caller's internal reference for the debtor.",
          'The form is documented. Assumed: by default the value of the mandate; one such as `SIM-RETURNED-AM04` steers the outcome.',
        ),
      ),
    },
    { title: 'CollectionCreateRequest', examples: [example] },
  ),
)
export type NewCollection = Static<typeof NewCollection>

/** A collection as fixtures and seeding give it: a request, in any state. */
export const SeedCollection = titled(
  'SeedCollection',
  Type.Object({
    ...NewCollection.properties,
    status: Type.Optional(assumed(OneOf(...COLLECTION_STATUSES), 'The state of the collection. Default: PENDING.')),
    reasonCode: Type.Optional(assumed(ReasonCode, `The reason of the state ${REASONED}. Refused with other states.`)),
    initiatedAt: Type.Optional(assumed(Moment, 'When the request was initiated. Default: now.')),
    updatedAt: Type.Optional(assumed(Moment, 'When the request was last updated. Default: `initiatedAt`.')),
  }),
)
export type SeedCollection = Static<typeof SeedCollection>

export const CollectionParams = Type.Object({
  collectionReference: named(
    like(Reference, 'COL-ACME-0001'),
    'The reference of the collection request. A slash is a path separator, also as `%2F`: 404.',
    REFERENCE_NOTE,
  ),
})

const AmountBound = Type.Number({
  format: 'double',
  minimum: 0.01,
  'x-expected': 'a decimal number of at least 0.01',
})

/** Interface, GET /api/v1/direct-debit: documented parameter by parameter. */
export const CollectionQuery = Type.Object({
  ...pageParameters(documented),
  scheme: Type.Optional(documented(Type.Array(OneOf('SEPA')), 'Collections of these schemes.')),
  status: Type.Optional(
    documented(
      Type.Array(OneOf(...COLLECTION_STATUSES)),
      'Collections in any of these states.',
      'The filter and its values are documented. Also `status=A,B` and `status[]=A&status[]=B` are assumed.',
    ),
  ),
  mandateReference: Type.Optional(documented(Reference, 'Collections under this mandate.')),
  debtorReference: Type.Optional(documented(DebtorReference, 'Collections of this debtor.')),
  initiatedFrom: Type.Optional(documented(Moment, 'Collections initiated at this moment or later.')),
  initiatedTo: Type.Optional(documented(Moment, 'Collections initiated at this moment or earlier.')),
  amountMin: Type.Optional(documented(AmountBound, 'Collections of this amount or more.')),
  amountMax: Type.Optional(documented(AmountBound, 'Collections of this amount or less.')),
})
export type CollectionQuery = Static<typeof CollectionQuery>

export const CollectionList = ListOf('CollectionListEnvelope', CollectionSummary, documented)

/** The body of a move of the control plane. */
export const CollectionTransitionBody = Type.Object(
  {
    reasonCode: Type.Optional(
      assumed(ReasonCode, 'The reason, where the move takes one: see `GET /_sandbox/reason-codes`.'),
    ),
  },
  // It is right for every move: some take no reason, and the others have a default.
  { examples: [{}] },
)
/** The outcome that the control plane gives to a collection. */
export const CollectionOutcomeBody = titled(
  'CollectionOutcome',
  Type.Object({ outcome: assumed(orNull(Outcome), 'The outcome of the collection, or null for none: it settles.') }),
  { outcome: 'RETURNED-AM04' },
)
