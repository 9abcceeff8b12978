import type { Static, TString } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { DebtorReference, EmailAddress, Name, REFERENCE_NOTE, Reference } from '../../core/domain/schemas.js'
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
  pageParameters,
  Text,
  titled,
} from '../../core/schemas.js'
import { toList } from '../../core/words.js'
import { FINAL_STATUSES, MANDATE_STATUSES } from './lifecycle.js'

/** Carries the SEPA Creditor Identifier (interface, Other named fields; check digits: EPC262-08). */
const MandateCreditorBankIdentifier = Type.Object(
  {
    type: assumed(OneOf('CREDITOR_IDENTIFIER'), 'The only type.'),
    value: assumed(
      Type.String({
        'x-format': 'creditor-identifier',
        pattern: '^[A-Z]{2}\\d{2}[A-Z0-9]{3}[A-Z0-9]{1,28}$',
        'x-expected': 'a SEPA Creditor Identifier with correct check digits',
      }),
      'The identifier.',
      'The service documents that it is carried here, but not the name of the member.',
    ),
  },
  { title: 'MandateCreditorBankIdentifier', description: 'Carries the SEPA Creditor Identifier.' },
)

const MANDATE_TYPES = ['RECURRING', 'ONE_OFF'] as const
const FREQUENCIES = ['WEEKLY', 'MONTHLY', 'QUARTERLY', 'SEMI_ANNUAL', 'ANNUAL'] as const

const creditorWith = (name: TString) =>
  Type.Object({
    name: assumed(name, 'Full legal name of the creditor.'),
    bankIdentifier: named(MandateCreditorBankIdentifier, 'Carries the SEPA Creditor Identifier.'),
  })

const debtorWith = (name: TString) =>
  Type.Object({
    name: assumed(name, 'Full legal name of the debtor.'),
    iban: assumed(
      Type.String({ 'x-format': 'sepa-iban', 'x-expected': 'a valid IBAN of a SEPA country' }),
      'The account to collect from.',
    ),
    bic: Type.Optional(
      assumed(
        Type.String({ 'x-format': 'bic', 'x-expected': 'a valid BIC of 8 or 11 characters' }),
        "The debtor's bank.",
      ),
    ),
    reference: Type.Optional(assumed(DebtorReference, "The caller's internal reference for the debtor.")),
    emailAddress: Type.Optional(assumed(EmailAddress, 'The e-mail address of the debtor.')),
  })

/** Which members a mandate has is documented in part (interface, Other named fields); the rest is decisions §7. */
const givenWith = (name: TString) => ({
  mandateReference: named(Reference, "The caller's unique reference of the mandate.", REFERENCE_NOTE),
  type: documented(
    OneOf(...MANDATE_TYPES),
    'Whether collections repeat, or there is one.',
    'The values are documented. Assumed: a ONE_OFF mandate takes one collection. A CANCELLED collection does not count.',
  ),
  frequency: Type.Optional(
    named(
      OneOf(...FREQUENCIES),
      'How often collections are planned.',
      'The service documents an optional member, but not its values. Assumed: only with RECURRING.',
    ),
  ),
  creditor: named(creditorWith(name), 'The party that collects.'),
  debtor: assumed(debtorWith(name), 'The party that pays.'),
})

/** Members with a default: the only legal value, or today. */
const defaulted = {
  mode: documented(OneOf('CORE'), 'The variant of the scheme.'),
  scheme: assumed(OneOf('SEPA'), 'The payment scheme.'),
  currency: documented(OneOf('EUR'), 'EUR only.'),
  signatureDate: assumed(CalendarDate, 'When the debtor signed; by default today.'),
}

const example = {
  mandateReference: 'MND-{{number}}',
  type: 'RECURRING',
  frequency: 'MONTHLY',
  creditor: {
    name: 'Acme Office Coffee GmbH',
    bankIdentifier: { type: 'CREDITOR_IDENTIFIER', value: 'DE98ZZZ09999999999' },
  },
  debtor: { name: 'Jane Doe', iban: 'DE89370400440532013000', reference: 'CUST-1042' },
}

/** POST /api/v1/mandates */
export const NewMandate = assumeConstraints(
  Type.Object(
    {
      ...givenWith(Name),
      mode: Type.Optional(defaulted.mode),
      scheme: Type.Optional(defaulted.scheme),
      currency: Type.Optional(defaulted.currency),
      signatureDate: Type.Optional(defaulted.signatureDate),
    },
    { title: 'MandateCreateRequest', examples: [example] },
  ),
)
export type NewMandate = Static<typeof NewMandate>

export const Mandate = assumeConstraints(
  Type.Object(
    {
      ...givenWith(Text(1, 140)),
      ...defaulted,
      status: named(
        OneOf(...MANDATE_STATUSES),
        'The state of the mandate.',
        'The service documents active mandates and CANCELLED; the other values are assumed. Assumed, too: a new mandate is ' +
          `ACTIVE, or PENDING by a setting of the control plane. ${toList(FINAL_STATUSES, 'and')} are final.`,
      ),
      createdAt: assumed(Moment, 'When the mandate was created.'),
      updatedAt: assumed(Moment, 'When the mandate last changed its state.'),
    },
    {
      title: 'Mandate',
      description: 'A SEPA mandate.',
      examples: [
        {
          ...example,
          mode: 'CORE',
          scheme: 'SEPA',
          currency: 'EUR',
          signatureDate: '{{today}}',
          status: 'ACTIVE',
          createdAt: '{{now}}',
          updatedAt: '{{now}}',
        },
      ],
    },
  ),
)

/** A stored mandate, with the members that only the control plane shows. */
export const StoredMandate = titled(
  'MandateRecord',
  Type.Object({
    ...Mandate.properties,
    lastPresentedAt: Type.Optional(assumed(Moment, 'When a collection was last presented.')),
  }),
)
export type StoredMandate = Static<typeof StoredMandate>

/** A mandate as fixtures and seeding give it: a request, in any state. */
export const SeedMandate = titled(
  'SeedMandate',
  Type.Object({
    ...NewMandate.properties,
    ...Type.Partial(Type.Pick(Mandate, ['status', 'createdAt', 'updatedAt'])).properties,
    lastPresentedAt: StoredMandate.properties.lastPresentedAt,
  }),
)
export type SeedMandate = Static<typeof SeedMandate>

export const MandateParams = Type.Object({
  mandateReference: named(
    like(Reference, 'MND-ACME-0001'),
    'The reference of the mandate. A slash is a path separator, also as `%2F`: 404.',
    REFERENCE_NOTE,
  ),
})

const FILTERS = 'The service documents optional filters, but not which.'

/** GET /api/v1/mandates: the documentation says "optional filters", and names none. */
export const MandateQuery = Type.Object({
  ...pageParameters(assumed),
  status: Type.Optional(assumed(Type.Array(OneOf(...MANDATE_STATUSES)), 'Mandates in any of these states.', FILTERS)),
  type: Type.Optional(assumed(OneOf(...MANDATE_TYPES), 'Mandates of this type.', FILTERS)),
  debtorReference: Type.Optional(assumed(DebtorReference, 'Mandates of this debtor.', FILTERS)),
})

export const MandateList = ListOf('MandateListEnvelope', Mandate, assumed)
