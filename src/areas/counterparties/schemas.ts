import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { REGIONS } from '../../core/regions.js'
import {
  AccountHolderName,
  assumeConstraints,
  assumed,
  branchIdentifier,
  documented,
  EmailAddress,
  named,
  OneOf,
  Reference,
  Remarks,
  Text,
} from '../../schemas.js'

/** The names of the fields are documented (interface, Other named fields), their limits assumed (decisions §10). */
const Address = Type.Object({
  line1: assumed(Text(1, 140)),
  line2: Type.Optional(assumed(Text(1, 140))),
  city: assumed(Text(1, 140)),
  postalCode: Type.Optional(assumed(Text(1, 16))),
  state: Type.Optional(assumed(Text(1, 140))),
  country: assumed(Type.String({ format: 'country', 'x-expected': 'an ISO 3166-1 alpha-2 country code' })),
})

const MobileNumber = Type.String({
  pattern: '^\\+[1-9]\\d{1,14}$',
  'x-expected': 'a number in E.164 form, such as +4915112345678',
})

/** What an update may change, one of which it must. */
export const updates = {
  accountHolderName: Type.Optional(named(AccountHolderName)),
  emailAddress: Type.Optional(named(EmailAddress)),
  mobileNumber: Type.Optional(named(MobileNumber)),
  remarks: Type.Optional(named(Remarks)),
  address: Type.Optional(named(Address)),
}

/** PATCH /api/v1/counterparties/{counterpartyReference}. The reference may be repeated, not changed (documented). */
export const CounterpartyUpdate = Type.Object({
  ...updates,
  counterpartyReference: Type.Optional(named(Reference)),
})
export type CounterpartyUpdate = Static<typeof CounterpartyUpdate>

export const Counterparty = assumeConstraints(
  Type.Object({
    counterpartyReference: named(Reference),
    ...updates,
    branchIdentifier: Type.Optional(documented(branchIdentifier(documented))),
  }),
)
export type Counterparty = Static<typeof Counterparty>

/** A counterparty as fixtures and seeding give it. */
export const SeedCounterparty = Type.Object({ region: assumed(OneOf(...REGIONS)), ...Counterparty.properties })
export type SeedCounterparty = Static<typeof SeedCounterparty>

export const CounterpartyParams = Type.Object({ counterpartyReference: named(Reference) })
