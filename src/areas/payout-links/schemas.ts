import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import {
  AccountHolderName,
  Amount,
  assumeConstraints,
  assumed,
  branchIdentifier,
  Duration,
  documented,
  Moment,
  named,
  OneOf,
  Reference,
  Remarks,
  Text,
} from '../../schemas.js'
import { PAYOUT_LINK_STATUSES } from './lifecycle.js'
import { PAYOUT_METHODS } from './methods.js'

/** Interface, PATCH /api/v1/payout-links/{payoutLinkId}/cancel. */
export const PayoutLinkId = Type.String({
  minLength: 7,
  maxLength: 90,
  pattern: '^[-_a-zA-Z0-9]+$',
  'x-expected': '7 to 90 letters, digits, hyphens or underscores',
})

/** Interface, Payout link cancel request body. */
export const CancellationComment = Text(1, 256)

/** Documented for embedded links, pt10m to pt12h; the range of hosted links is assumed (decisions §8). */
const ExpiryPeriod = assumeConstraints(
  Type.String({ ...Duration, 'x-expected': 'an ISO 8601 duration without years and months, such as PT30M' }),
  'maxLength',
)

const Origin = Type.String({
  format: 'origin',
  maxLength: 300,
  'x-expected': 'an origin: scheme, host and port, such as https://shop.example:8443',
})

const given = {
  amount: assumed(Amount),
  currency: documented(OneOf('EUR', 'USD', 'GBP')),
  payoutMethod: documented(OneOf(...PAYOUT_METHODS)),
  counterpartyReference: Type.Optional(assumed(Reference)),
  accountHolderName: Type.Optional(named(AccountHolderName)),
  origin: Type.Optional(assumed(Origin)),
  remarks: Type.Optional(assumed(Remarks)),
}
const UiMode = OneOf('hosted', 'embedded')

/** POST /api/v1/payout-links: interface, Other named fields; decisions §8. */
export const NewPayoutLink = assumeConstraints(
  Type.Object({
    ...given,
    uiMode: Type.Optional(documented(UiMode)),
    expiryPeriod: Type.Optional(documented(ExpiryPeriod)),
  }),
)
export type NewPayoutLink = Static<typeof NewPayoutLink>

export const PayoutLink = assumeConstraints(
  Type.Object({
    payoutLinkId: assumed(PayoutLinkId),
    ...given,
    uiMode: documented(UiMode),
    expiryPeriod: documented(ExpiryPeriod),
    status: assumed(OneOf(...PAYOUT_LINK_STATUSES)),
    url: assumed(Type.String()),
    expiresAt: assumed(Moment),
    createdAt: assumed(Moment),
    updatedAt: assumed(Moment),
  }),
)

export const CancelPayoutLink = Type.Object({ cancellationComment: documented(CancellationComment) })
export type CancelPayoutLink = Static<typeof CancelPayoutLink>

/** What a recipient fills in to claim a link (decisions §8). */
export const Claim = Type.Object({
  accountHolderName: assumed(AccountHolderName),
  accountIdentifier: assumed(Text(1, 34)),
  branchIdentifier: Type.Optional(assumed(branchIdentifier(assumed))),
  accountType: Type.Optional(assumed(OneOf('CHECKING', 'SAVINGS'))),
})
export type Claim = Static<typeof Claim>

/** What a recipient says who declines a link (decisions §8). */
export const Decline = Type.Object({ remarks: Type.Optional(assumed(Remarks)) })
export type Decline = Static<typeof Decline>

/** A link as it is stored: with what only the control plane shows. */
export const StoredPayoutLink = Type.Object({
  ...PayoutLink.properties,
  cancellationComment: Type.Optional(documented(CancellationComment)),
  claimedAt: Type.Optional(assumed(Moment)),
  claim: Type.Optional(assumed(Claim)),
  decline: Type.Optional(assumed(Decline)),
})
export type StoredPayoutLink = Static<typeof StoredPayoutLink>

/** A link as fixtures and seeding give it: a request, in any state. */
export const SeedPayoutLink = Type.Object({
  ...NewPayoutLink.properties,
  payoutLinkId: Type.Optional(assumed(PayoutLinkId)),
  status: Type.Optional(PayoutLink.properties.status),
  createdAt: Type.Optional(PayoutLink.properties.createdAt),
  updatedAt: Type.Optional(PayoutLink.properties.updatedAt),
  cancellationComment: StoredPayoutLink.properties.cancellationComment,
  claimedAt: StoredPayoutLink.properties.claimedAt,
  claim: StoredPayoutLink.properties.claim,
  decline: StoredPayoutLink.properties.decline,
})
export type SeedPayoutLink = Static<typeof SeedPayoutLink>

export const PayoutLinkParams = Type.Object({ payoutLinkId: documented(PayoutLinkId) })
