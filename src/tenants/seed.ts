import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Account } from '../areas/accounts/schemas.js'
import { SeedBill } from '../areas/bills/schemas.js'
import { SeedCounterparty } from '../areas/counterparties/schemas.js'
import { SeedCollection } from '../areas/direct-debit/schemas.js'
import { SeedMandate } from '../areas/mandates/schemas.js'
import { SeedPayoutLink } from '../areas/payout-links/schemas.js'
import { assumed, component } from '../http/schemas.js'

/** Records of every kind, as fixtures hold them and `POST /_sandbox/seed` takes them. */
export const SeedRecords = component('SeedRecords', {
  mandates: Type.Optional(assumed(Type.Array(SeedMandate), 'Mandates in any state.')),
  collections: Type.Optional(
    assumed(Type.Array(SeedCollection), 'Collections in any state. Their mandates exist, or are among these records.'),
  ),
  payoutLinks: Type.Optional(
    assumed(Type.Array(SeedPayoutLink), 'Payout links in any state. Their currency determines their region.'),
  ),
  bills: Type.Optional(assumed(Type.Array(SeedBill), 'Bills in any state. Their currency determines their region.')),
  counterparties: Type.Optional(assumed(Type.Array(SeedCounterparty), 'Counterparties.')),
  accounts: Type.Optional(assumed(Type.Array(Account), 'Accounts. Their currency determines their region.')),
})
export type SeedRecords = Static<typeof SeedRecords>
