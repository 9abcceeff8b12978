import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { CURRENCIES } from '../../core/regions.js'
import {
  AccountHolderName,
  assumed,
  branchIdentifier,
  ListOf,
  OneOf,
  pageParameters,
  Reference,
  Text,
} from '../../schemas.js'

/** Nothing of an account is documented but that accounts exist; all of this is decisions §10. */
export const Account = Type.Object({
  accountReference: assumed(Reference),
  accountHolderName: assumed(AccountHolderName),
  currency: assumed(OneOf(...CURRENCIES)),
  accountIdentifier: assumed(Text(1, 34)),
  branchIdentifier: Type.Optional(assumed(branchIdentifier(assumed))),
  balance: assumed(
    Type.String({
      pattern: '^-?(0|[1-9]\\d{0,11})(\\.\\d{1,2})?$',
      'x-expected': 'a decimal string with at most 12 digits before and 2 after the point',
    }),
  ),
})
export type Account = Static<typeof Account>

export const AccountQuery = Type.Object({
  ...pageParameters(assumed),
  currency: Type.Optional(assumed(OneOf(...CURRENCIES))),
})
export type AccountQuery = Static<typeof AccountQuery>

export const AccountList = ListOf(Account, assumed)
