import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Remarks } from '../../../core/domain/schemas.js'
import { assumed, OneOf } from '../../../core/schemas.js'
import { Origin, PayoutLink, PayoutLinkId } from '../schemas.js'

export const PageParams = Type.Object({ payoutLinkId: assumed(PayoutLinkId) })

/** The parameters of the page of a link. */
export const PageQuery = Type.Object({
  /** The client that has the link; by default `sandbox-client`. */
  client: Type.Optional(assumed(Type.String({ minLength: 1, 'x-expected': 'a client id' }))),
  /** Shows a closed link to the recipient who has claimed or declined it. */
  receipt: Type.Optional(assumed(Type.String({ maxLength: 64, 'x-expected': 'the receipt of a claim or decline' }))),
  /** The origin of the page that embeds the link, as the SDK gives it. */
  embedder: Type.Optional(assumed(Origin)),
})
export type PageQuery = Static<typeof PageQuery>

/** A text as a person types it, with separators. The rules of the payout method are applied later. */
const Typed = Type.String({ maxLength: 1000, 'x-expected': 'a string of at most 1000 characters' })

/** A claim or decline on the page of a link, as JSON or as a form. */
export const PageAction = Type.Object({
  action: assumed(OneOf('claim', 'decline')),
  /** A missing token is refused as a wrong one is. */
  token: Type.Optional(assumed(Type.String({ maxLength: 64, 'x-expected': 'the token of the page' }))),
  accountHolderName: Type.Optional(assumed(Typed)),
  accountIdentifier: Type.Optional(assumed(Typed)),
  branchIdentifier: Type.Optional(
    assumed(Type.Object({ type: Type.Optional(assumed(Typed)), value: Type.Optional(assumed(Typed)) })),
  ),
  accountType: Type.Optional(assumed(Typed)),
  remarks: Type.Optional(assumed(Remarks)),
})
export type PageAction = Static<typeof PageAction>

/** The members of a link that its page shows to programs. */
export const PageState = Type.Object({
  payoutLinkId: assumed(PayoutLinkId),
  status: PayoutLink.properties.status,
  amount: PayoutLink.properties.amount,
  currency: assumed(PayoutLink.properties.currency),
  payoutMethod: assumed(PayoutLink.properties.payoutMethod),
  expiresAt: PayoutLink.properties.expiresAt,
  receipt: Type.Optional(assumed(Type.String())),
})
export type PageState = Static<typeof PageState>
