import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { REGIONS } from '../../core/regions.js'
import {
  AccountHolderName,
  assumed,
  branchIdentifier,
  documented,
  EmailAddress,
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
  accountHolderName: Type.Optional(documented(AccountHolderName)),
  emailAddress: Type.Optional(documented(EmailAddress)),
  mobileNumber: Type.Optional(documented(MobileNumber)),
  remarks: Type.Optional(documented(Remarks)),
  address: Type.Optional(documented(Address)),
}

/** PATCH /api/v1/counterparties/{counterpartyReference}. The reference may be repeated, not changed (documented). */
export const CounterpartyUpdate = Type.Object({
  ...updates,
  counterpartyReference: Type.Optional(documented(Reference)),
})
export type CounterpartyUpdate = Static<typeof CounterpartyUpdate>

export const Counterparty = Type.Object({
  counterpartyReference: documented(Reference),
  ...updates,
  branchIdentifier: Type.Optional(documented(branchIdentifier(documented))),
})
export type Counterparty = Static<typeof Counterparty>

/** A counterparty as fixtures and seeding give it. */
export const SeedCounterparty = Type.Object({ region: assumed(OneOf(...REGIONS)), ...Counterparty.properties })
export type SeedCounterparty = Static<typeof SeedCounterparty>

export const CounterpartyParams = Type.Object({ counterpartyReference: documented(Reference) })
