import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import {
  assumeConstraints,
  assumed,
  CalendarDate,
  DebtorReference,
  documented,
  EmailAddress,
  ListOf,
  Moment,
  named,
  OneOf,
  pageParameters,
  Reference,
  Text,
} from '../../schemas.js'
import { MANDATE_STATUSES } from './lifecycle.js'

export const MandateReference = Reference

/** Carries the SEPA Creditor Identifier (interface, Other named fields; check digits: EPC262-08). */
export const MandateCreditorBankIdentifier = Type.Object({
  type: assumed(OneOf('CREDITOR_IDENTIFIER')),
  value: assumed(
    Type.String({
      format: 'creditor-identifier',
      'x-expected': 'a SEPA Creditor Identifier with correct check digits',
    }),
  ),
})

const MANDATE_TYPES = ['RECURRING', 'ONE_OFF'] as const
const FREQUENCIES = ['WEEKLY', 'MONTHLY', 'QUARTERLY', 'SEMI_ANNUAL', 'ANNUAL'] as const

const Creditor = Type.Object({
  name: assumed(Text(1, 140)),
  bankIdentifier: named(MandateCreditorBankIdentifier),
})

const Debtor = Type.Object({
  name: assumed(Text(1, 140)),
  iban: assumed(Type.String({ format: 'sepa-iban', 'x-expected': 'a valid IBAN of a SEPA country' })),
  bic: Type.Optional(assumed(Type.String({ format: 'bic', 'x-expected': 'a valid BIC of 8 or 11 characters' }))),
  reference: Type.Optional(assumed(DebtorReference)),
  emailAddress: Type.Optional(assumed(EmailAddress)),
})

/** Which members a mandate has is documented in part (interface, Other named fields); the rest is decisions §7. */
const given = {
  mandateReference: documented(MandateReference),
  type: documented(OneOf(...MANDATE_TYPES)),
  frequency: Type.Optional(named(OneOf(...FREQUENCIES))),
  creditor: named(Creditor),
  debtor: assumed(Debtor),
}

/** What has a default: the only values that there are, or today. */
const defaulted = {
  mode: documented(OneOf('CORE')),
  scheme: assumed(OneOf('SEPA')),
  currency: documented(OneOf('EUR')),
  signatureDate: assumed(CalendarDate),
}

/** POST /api/v1/mandates */
export const NewMandate = assumeConstraints(
  Type.Object({
    ...given,
    mode: Type.Optional(defaulted.mode),
    scheme: Type.Optional(defaulted.scheme),
    currency: Type.Optional(defaulted.currency),
    signatureDate: Type.Optional(defaulted.signatureDate),
  }),
)
export type NewMandate = Static<typeof NewMandate>

export const Mandate = assumeConstraints(
  Type.Object({
    ...given,
    ...defaulted,
    status: named(OneOf(...MANDATE_STATUSES)),
    createdAt: assumed(Moment),
    updatedAt: assumed(Moment),
  }),
)

/** A mandate as it is stored: with what only the control plane shows. */
export const StoredMandate = Type.Object({
  ...Mandate.properties,
  lastPresentedAt: Type.Optional(assumed(Moment)),
})
export type StoredMandate = Static<typeof StoredMandate>

/** A mandate as fixtures and seeding give it: a request, in any state. */
export const SeedMandate = Type.Object({
  ...NewMandate.properties,
  status: Type.Optional(Mandate.properties.status),
  createdAt: Type.Optional(Mandate.properties.createdAt),
  updatedAt: Type.Optional(Mandate.properties.updatedAt),
  lastPresentedAt: StoredMandate.properties.lastPresentedAt,
})
export type SeedMandate = Static<typeof SeedMandate>

export const MandateParams = Type.Object({ mandateReference: documented(MandateReference) })

/** GET /api/v1/mandates: "optional filters" is documented, which ones is not. */
export const MandateQuery = Type.Object({
  ...pageParameters(assumed),
  status: Type.Optional(assumed(Type.Array(OneOf(...MANDATE_STATUSES)))),
  type: Type.Optional(assumed(OneOf(...MANDATE_TYPES))),
  debtorReference: Type.Optional(assumed(DebtorReference)),
})

export const MandateList = ListOf(Mandate, assumed)
