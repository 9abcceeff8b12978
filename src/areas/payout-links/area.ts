import { Type } from '@sinclair/typebox'
import { assumed } from '../../core/schemas.js'
import { toList } from '../../core/words.js'
import type { Row, StoreOptions } from '../area.js'
import { lifecycleOf } from '../area.js'
import { claimRules, PAYOUT_METHODS } from './claim-rules.js'
import { payoutLinkLifecycle } from './lifecycle.js'
import { PAYOUT_LINK_OUTCOMES, STEERABLE_STATUSES } from './outcomes.js'
import { payoutLinkRoutes } from './routes.js'
import {
  Claim,
  Decline,
  NewPayoutLink,
  PayoutLinkOutcomeBody,
  PayoutLinkParams,
  PayoutLinkRecord,
  SeedPayoutLink,
  StoredPayoutLink,
} from './schemas.js'
import type { Accounts } from './store.js'
import { PayoutLinkStore } from './store.js'

/** The form of the console for a claim by each method. The claim gets the name that the sender has set. */
const claimForms = PAYOUT_METHODS.map(payoutMethod => ({
  when: { payoutMethod },
  body: { accountHolderName: 'Jane Doe', ...claimRules[payoutMethod].example },
  from: { accountHolderName: 'accountHolderName' },
  fields: claimRules[payoutMethod].fields.map(({ name }) => name),
}))

export const payoutLinks = {
  path: 'payout-links',
  title: 'Payout links',
  description: 'Links by which a recipient claims a payout.',
  routes: payoutLinkRoutes,
  section: 8,
  lifecycle: lifecycleOf('payoutLink', payoutLinkLifecycle, {
    line: ['ACTIVE', 'CLAIMED', 'PROCESSING', 'PAID'],
    params: PayoutLinkParams,
    explained: PayoutLinkRecord,
    transitions: {
      // A claimed link is PROCESSING within seconds, so both states mean the same link.
      claim: {
        example: 'PL-ACME-EU-0014',
        summary: "Claim a payout link, with the fields of the recipient's form",
        description: 'The payout method determines the required members. The account number is stored masked.',
        body: Claim,
        forms: claimForms,
      },
      decline: {
        example: 'PL-ACME-EU-0015',
        summary: 'Decline a payout link, as its recipient',
        body: Decline,
      },
      process: { example: 'PL-ACME-EU-0014' },
      pay: { example: 'PL-ACME-UK-0016' },
      fail: { example: 'PL-ACME-UK-0017' },
      expire: { example: 'PL-ACME-EU-0018' },
      cancel: { example: 'PL-ACME-EU-0020', operationId: 'forceCancelPayoutLink' },
    },
  }),
  reference: 'payoutLinkId',
  notFound: 'PAYOUT_LINK_NOT_FOUND',
  regions: 'shared',
  create: NewPayoutLink,
  columns: ['amount', 'payoutMethod', 'accountHolderName', 'expiresAt'],
  empty: 'By a payout link, a recipient claims a payout. Create one here, or by POST /api/v1/payout-links.',
  outcomes: {
    names: PAYOUT_LINK_OUTCOMES,
    fields: ['payoutMethod', 'counterpartyReference', 'amount'],
    call: {
      example: 'PL-ACME-EU-0019',
      body: PayoutLinkOutcomeBody,
      description: `It is 409 ILLEGAL_TRANSITION unless the link is ${toList(STEERABLE_STATUSES, 'or')}.`,
    },
  },
  seeds: assumed(Type.Array(SeedPayoutLink), 'Payout links in any state. Their currency determines their region.'),
  record: StoredPayoutLink,
  errors: ['REGION_CURRENCY_MISMATCH', 'AMOUNT_LIMIT_EXCEEDED', 'ORIGIN_NOT_ALLOWED'],
  createStore: (options: StoreOptions<{ accounts: Accounts }>) => new PayoutLinkStore(options),
} as const satisfies Row<PayoutLinkStore>
