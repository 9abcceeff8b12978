import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { CURRENCIES } from '../../core/domain/regions.js'
import { AccountHolderName, branchIdentifier, Reference } from '../../core/domain/schemas.js'
import { assumed, ListOf, OneOf, pageParameters, Text } from '../../core/schemas.js'

/** Only the existence of accounts is documented; the rest follows decisions §10. */
export const Account = Type.Object(
  {
    accountReference: assumed(Reference, 'The reference of the account.'),
    accountHolderName: assumed(AccountHolderName, 'The holder of the account.'),
    currency: assumed(OneOf(...CURRENCIES), 'The currency of the account, which belongs to its region.'),
    accountIdentifier: assumed(Text(1, 34), 'The IBAN of an EUR account, else the account number.'),
    branchIdentifier: Type.Optional(assumed(branchIdentifier(assumed), "The bank's branch.")),
    balance: assumed(
      Type.String({
        pattern: '^-?(0|[1-9]\\d{0,11})(\\.\\d{1,2})?$',
        'x-expected': 'a decimal string with at most 12 digits before and 2 after the point',
      }),
      'The balance in the currency of the account; negative: overdrawn.',
    ),
  },
  {
    title: 'Account',
    description: "One of the tenant's accounts.",
    examples: [
      {
        accountReference: 'ACC-ACME-EUR-01',
        accountHolderName: 'Acme Office Coffee GmbH',
        currency: 'EUR',
        accountIdentifier: 'DE89370400440532013000',
        branchIdentifier: { type: 'BIC', value: 'BANKDEFFXXX' },
        balance: '48210.37',
      },
    ],
  },
)
export type Account = Static<typeof Account>

export const AccountQuery = Type.Object({
  ...pageParameters(assumed),
  currency: Type.Optional(assumed(OneOf(...CURRENCIES), 'Accounts in this currency.')),
})
export type AccountQuery = Static<typeof AccountQuery>

export const AccountList = ListOf('AccountListEnvelope', Account, assumed)
