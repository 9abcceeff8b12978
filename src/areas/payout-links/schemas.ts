import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { AccountHolderName, Amount, branchIdentifier, Name, Reference, Remarks } from '../../core/domain/schemas.js'
import {
  assumeConstraints,
  assumed,
  byDefault,
  Duration,
  documented,
  like,
  Moment,
  named,
  OneOf,
  orNull,
  Text,
  titled,
} from '../../core/schemas.js'
import { ACCOUNT_TYPES, PAYOUT_METHODS } from './claim-rules.js'
import { PAYOUT_LINK_STATUSES } from './lifecycle.js'
import { PAYOUT_LINK_OUTCOMES } from './outcomes.js'

/** Interface, PATCH /api/v1/payout-links/{payoutLinkId}/cancel. */
export const PayoutLinkId = Type.String({
  minLength: 7,
  maxLength: 90,
  pattern: '^[-_a-zA-Z0-9]+$',
  'x-expected': '7 to 90 letters, digits, hyphens or underscores',
})

/** Interface, Payout link cancel request body. */
const CancellationComment = Text(1, 256)

/** The range is documented for embedded links, pt10m to pt12h. Format and other ranges are assumed (decisions §8). */
const ExpiryPeriod = Type.String({
  ...Duration,
  'x-expected': 'an ISO 8601 duration without years and months, such as PT30M',
})

export const Origin = Type.String({
  'x-format': 'origin',
  maxLength: 300,
  'x-expected': 'an origin: scheme, host and port, such as https://shop.example:8443',
})

const given = {
  amount: assumed(Amount, 'The amount to pay out, below the limit of the payout method.'),
  currency: documented(
    OneOf('EUR', 'USD', 'GBP'),
    'The currency of the payout.',
    'The values are documented. Assumed: each belongs to a region. EU has EUR, US has USD, UK has GBP.',
  ),
  payoutMethod: documented(
    OneOf(...PAYOUT_METHODS),
    'The way in which the recipient is paid.',
    'The values are documented. Assumed: each belongs to a region. EU has SEPA-CT and SEPA-INSTANT, US has US-ACH, ' +
      'UK has UK-BACS and UK-FAST.',
  ),
  counterpartyReference: Type.Optional(assumed(Reference, 'The counterparty to pay.')),
  accountHolderName: Type.Optional(named(AccountHolderName, 'The holder of the account to pay to.')),
  origin: Type.Optional(
    assumed(
      Origin,
      "The partner's origin, for an embedded link: it must be on the tenant's list of allowed SDK origins.",
      'The service documents that the origin must be on the list, but no member for it.',
    ),
  ),
  remarks: Type.Optional(assumed(Remarks, 'A text for the recipient.')),
}
const UiMode = OneOf('hosted', 'embedded')
const UI_MODE = 'hosted: a full-page checkout of the service. embedded: inside an iframe of the partner, by the SDK.'
const EXPIRY_PERIOD =
  'How long the link can be claimed, in any case. Embedded: PT10M to PT12H, by default PT1H. ' +
  'Hosted: PT10M to P30D, by default P7D.'
const EXPIRY_PERIOD_NOTE =
  'The range of embedded links is documented. Its format, the range of hosted links and the defaults are not.'

const example = {
  amount: '250.00',
  currency: 'EUR',
  payoutMethod: 'SEPA-INSTANT',
  accountHolderName: 'Jane Doe',
  remarks: 'Refund for a broken grinder jar',
}

/** POST /api/v1/payout-links: interface, Other named fields; decisions §8. */
export const NewPayoutLink = assumeConstraints(
  Type.Object(
    {
      ...given,
      accountHolderName: Type.Optional(named(Name, 'The holder of the account to pay to.')),
      uiMode: Type.Optional(documented(byDefault(UiMode, 'hosted'), UI_MODE)),
      expiryPeriod: Type.Optional(named(like(ExpiryPeriod, 'P7D'), EXPIRY_PERIOD, EXPIRY_PERIOD_NOTE)),
    },
    { title: 'PayoutLinkCreateRequest', examples: [example] },
  ),
)
export type NewPayoutLink = Static<typeof NewPayoutLink>

export const PayoutLink = assumeConstraints(
  Type.Object(
    {
      payoutLinkId: assumed(PayoutLinkId, 'The id that the sandbox gave to the link.'),
      ...given,
      uiMode: documented(UiMode, UI_MODE),
      expiryPeriod: named(like(ExpiryPeriod, 'P7D'), EXPIRY_PERIOD, EXPIRY_PERIOD_NOTE),
      status: assumed(
        OneOf(...PAYOUT_LINK_STATUSES),
        'ACTIVE until it is claimed, cancelled, expired or rejected (the recipient declined). A claimed link is ' +
          'PROCESSING, then PAID or FAILED.',
      ),
      url: assumed(Type.String(), 'The page of the link, where the recipient claims it. It names the client.'),
      expiresAt: assumed(Moment, 'When the link expires.'),
      createdAt: assumed(Moment, 'When the link was created.'),
      updatedAt: assumed(Moment, 'When the link last changed its state.'),
    },
    {
      title: 'PayoutLink',
      description: 'A payout link.',
      examples: [
        {
          payoutLinkId: 'pl_2mT9xQk4Zr',
          ...example,
          uiMode: 'hosted',
          expiryPeriod: 'P7D',
          status: 'ACTIVE',
          url: 'http://127.0.0.1:8080/pay/pl_2mT9xQk4Zr?client=sandbox-client',
          expiresAt: '{{now+P7D}}',
          createdAt: '{{now}}',
          updatedAt: '{{now}}',
        },
      ],
    },
  ),
)

export const CancelPayoutLink = Type.Object(
  {
    cancellationComment: documented(
      CancellationComment,
      'Why the link is cancelled. It stores the value that the sender gives when the counterparty rejects the link for the ' +
        'payout.',
    ),
  },
  { title: 'PayoutLinkCancelRequest', examples: [{ cancellationComment: 'The recipient asked for a bank transfer.' }] },
)
export type CancelPayoutLink = Static<typeof CancelPayoutLink>

/** The form of a recipient who claims a link (decisions §8). */
export const Claim = Type.Object(
  {
    accountHolderName: assumed(Name, 'The holder of the account to pay to.'),
    accountIdentifier: assumed(Text(1, 34), 'The IBAN, or the account number.'),
    branchIdentifier: Type.Optional(
      assumed(branchIdentifier(assumed), 'ROUTING for US-ACH, SORT for UK-BACS and UK-FAST.'),
    ),
    accountType: Type.Optional(assumed(OneOf(...ACCOUNT_TYPES), 'For US-ACH.')),
  },
  {
    title: 'PayoutLinkClaim',
    examples: [{ accountHolderName: 'Ida Lindholm', accountIdentifier: 'DE89370400440532013000' }],
  },
)
export type Claim = Static<typeof Claim>

/** The form of a recipient who declines a link (decisions §8). */
export const Decline = Type.Object(
  { remarks: Type.Optional(assumed(Remarks, 'Why the recipient declined.')) },
  { title: 'PayoutLinkDecline', examples: [{ remarks: 'I prefer a bank transfer.' }] },
)
export type Decline = Static<typeof Decline>

/** A link with the members that only the control plane shows. */
export const PayoutLinkRecord = titled(
  'PayoutLinkRecord',
  Type.Object({
    ...PayoutLink.properties,
    cancellationComment: Type.Optional(
      documented(
        CancellationComment,
        'Why the link was cancelled: the value that the sender gave, for instance after the counterparty rejected the link.',
      ),
    ),
    claimedAt: Type.Optional(assumed(Moment, 'When the link was claimed.')),
    claim: Type.Optional(assumed(Claim, 'What the recipient filled in.')),
    decline: Type.Optional(assumed(Decline, 'What the recipient said.')),
    outcome: Type.Optional(assumed(OneOf(...PAYOUT_LINK_OUTCOMES), 'The outcome that the control plane has set.')),
  }),
)
export type PayoutLinkRecord = Static<typeof PayoutLinkRecord>

/** A link in a state document. Its `url` is made when the link is answered. */
export const StoredPayoutLink = titled(
  'StoredPayoutLink',
  Type.Object({
    ...PayoutLinkRecord.properties,
    // Documents of earlier releases have it.
    url: Type.Optional(
      assumed(PayoutLink.properties.url, 'Ignored. The `url` of a link is made when the link is answered.'),
    ),
  }),
)
export type StoredPayoutLink = Omit<PayoutLinkRecord, 'url'>

/** A link as fixtures and seeding give it: a request, in any state. */
export const SeedPayoutLink = titled(
  'SeedPayoutLink',
  Type.Object({
    ...NewPayoutLink.properties,
    payoutLinkId: Type.Optional(assumed(PayoutLinkId, 'The id of the link. Default: a generated id.')),
    ...Type.Partial(Type.Pick(PayoutLinkRecord, ['status', 'createdAt', 'updatedAt'])).properties,
    ...Type.Pick(PayoutLinkRecord, ['cancellationComment', 'claimedAt', 'claim', 'decline']).properties,
  }),
)
export type SeedPayoutLink = Static<typeof SeedPayoutLink>

export const PayoutLinkParams = Type.Object({
  payoutLinkId: documented(
    like(PayoutLinkId, 'PL-ACME-EU-0007'),
    'The id of the link. A slash is a path separator, also as `%2F`: 404.',
  ),
})
/** The outcome that the control plane gives to a link. */
export const PayoutLinkOutcomeBody = titled(
  'PayoutLinkOutcome',
  Type.Object({
    outcome: assumed(orNull(OneOf(...PAYOUT_LINK_OUTCOMES)), 'The outcome of the link, or null if there is none.'),
  }),
  { outcome: 'FAILED' },
)
