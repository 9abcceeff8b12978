import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { REGIONS } from '../../core/domain/regions.js'
import {
  AccountHolderName,
  branchIdentifier,
  EmailAddress,
  Name,
  Reference,
  Remarks,
} from '../../core/domain/schemas.js'
import { assumeConstraints, assumed, documented, like, named, OneOf, Text, titled } from '../../core/schemas.js'

/** The names of the fields are documented (interface, Other named fields), their limits assumed (decisions §10). */
const Address = Type.Object({
  line1: assumed(Text(1, 140), 'Street and number.'),
  line2: Type.Optional(assumed(Text(1, 140), 'Further lines.')),
  city: assumed(Text(1, 140), 'City or town.'),
  postalCode: Type.Optional(assumed(Text(1, 16), 'Postal code.')),
  state: Type.Optional(assumed(Text(1, 140), 'State or province.')),
  country: assumed(
    Type.String({ 'x-format': 'country', 'x-expected': 'an ISO 3166-1 alpha-2 country code' }),
    'Country.',
  ),
})

const MobileNumber = Type.String({
  pattern: '^\\+[1-9]\\d{1,14}$',
  'x-expected': 'a number in E.164 form, such as +4915112345678',
})

/** The members of an update, which has at least one. */
export const updates = {
  accountHolderName: Type.Optional(named(AccountHolderName, 'The holder of the account.')),
  emailAddress: Type.Optional(named(EmailAddress, 'The e-mail address.')),
  mobileNumber: Type.Optional(named(MobileNumber, 'The mobile number.')),
  remarks: Type.Optional(named(Remarks, 'A text on the counterparty.')),
  address: Type.Optional(named(Address, 'The postal address.')),
}

const example = {
  emailAddress: 'billing@brunnwald.example',
  mobileNumber: '+491713920001',
  address: { line1: 'Lindenallee 14', city: 'Berlin', postalCode: '10115', country: 'DE' },
}

/** PATCH /api/v1/counterparties/{counterpartyReference}. The reference may be repeated, not changed (documented). */
export const CounterpartyUpdate = Type.Object(
  {
    ...updates,
    accountHolderName: Type.Optional(named(Name, 'The holder of the account.')),
    counterpartyReference: Type.Optional(named(Reference, 'Cannot change: omitted, or the one of the path.')),
  },
  {
    title: 'CounterpartyUpdateRequest',
    description: 'At least one member besides `counterpartyReference`.',
    'x-expected': `at least one of ${Object.keys(updates).join(', ')}`,
    // The store refuses a reference without another member, because one that differs is IMMUTABLE_FIELD.
    anyOf: [...Object.keys(updates), 'counterpartyReference'].map(name => ({ required: [name] })),
    examples: [example],
  },
)
export type CounterpartyUpdate = Static<typeof CounterpartyUpdate>

export const Counterparty = assumeConstraints(
  Type.Object(
    {
      counterpartyReference: named(Reference, 'The reference of the counterparty. It never changes.'),
      ...updates,
      branchIdentifier: Type.Optional(
        documented(
          branchIdentifier(documented),
          "The bank's branch.",
          'The service documents it. That it is read-only is assumed.',
        ),
      ),
    },
    {
      title: 'Counterparty',
      description: 'A counterparty of the tenant.',
      examples: [
        {
          counterpartyReference: 'CP-ACME-EU-01',
          accountHolderName: 'Brunnwald Coworking GmbH',
          ...example,
          branchIdentifier: { type: 'BIC', value: 'BANKDEFFXXX' },
        },
      ],
    },
  ),
)
export type Counterparty = Static<typeof Counterparty>

/** A counterparty as fixtures and seeding give it. */
export const SeedCounterparty = titled(
  'SeedCounterparty',
  Type.Object({ region: assumed(OneOf(...REGIONS), 'The region of the counterparty.'), ...Counterparty.properties }),
)
export type SeedCounterparty = Static<typeof SeedCounterparty>

export const CounterpartyParams = Type.Object({
  counterpartyReference: named(
    like(Reference, 'CP-ACME-EU-01'),
    'The reference of the counterparty. A slash is a path separator, also as `%2F`: 404.',
  ),
})
