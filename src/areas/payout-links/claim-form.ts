import { ownMember } from '../../core/own-member.js'
import type { PayoutMethod } from './claim-rules.js'
import { accountRules, claimFields } from './claim-rules.js'

/** Returns the claim that the form of the console begins with, and its fields: those of the payout method. */
export function claimForm({ payoutMethod, accountHolderName = 'Jane Doe' }: Readonly<Record<string, unknown>>) {
  const method = payoutMethod as PayoutMethod
  const { example } = ownMember(accountRules, method) ?? {}
  const fields = example === undefined ? [] : claimFields(method).map(({ name }) => name)
  return { body: { accountHolderName, ...example }, fields }
}
