import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Account } from '../areas/accounts/schemas.js'
import { SeedBill } from '../areas/bills/schemas.js'
import { SeedCounterparty } from '../areas/counterparties/schemas.js'
import { SeedCollection } from '../areas/direct-debit/schemas.js'
import { SeedMandate } from '../areas/mandates/schemas.js'
import { SeedPayoutLink } from '../areas/payout-links/schemas.js'
import { component } from '../schemas.js'

/** Records of every kind, as fixtures hold them and `POST /_sandbox/seed` takes them. */
export const SeedRecords = component('SeedRecords', {
  mandates: Type.Optional(Type.Array(SeedMandate)),
  collections: Type.Optional(Type.Array(SeedCollection)),
  payoutLinks: Type.Optional(Type.Array(SeedPayoutLink)),
  bills: Type.Optional(Type.Array(SeedBill)),
  counterparties: Type.Optional(Type.Array(SeedCounterparty)),
  accounts: Type.Optional(Type.Array(Account)),
})
export type SeedRecords = Static<typeof SeedRecords>
