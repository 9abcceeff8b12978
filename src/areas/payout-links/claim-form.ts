import { accountRules, claimFields, PAYOUT_METHODS } from './claim-rules.js'

/** The form of the console for a claim by each method. The claim gets the name that the sender has set. */
export const claimForms = PAYOUT_METHODS.map(payoutMethod => ({
  when: { payoutMethod },
  body: { accountHolderName: 'Jane Doe', ...accountRules[payoutMethod].example },
  from: { accountHolderName: 'accountHolderName' },
  fields: claimFields(payoutMethod).map(({ name }) => name),
}))
