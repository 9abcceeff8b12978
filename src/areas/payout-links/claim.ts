import { errors } from '../../core/errors.js'
import { accountRules, maskAccount } from './claim-rules.js'
import type { Claim, StoredPayoutLink } from './schemas.js'

/** Masks the account number of a claim. Only a transfer needs it, and no money moves here (decisions §8). */
export const masked = (claim: Claim): Claim => ({ ...claim, accountIdentifier: maskAccount(claim.accountIdentifier) })

/**
 * Refuses a claim that does not fit the link (decisions §8): another name than the link has, an account that its
 * method does not pay to, and members that its method does not take. `path` precedes the fields.
 */
export function assertPayable(
  claim: Claim,
  link: Pick<StoredPayoutLink, 'payoutMethod' | 'accountHolderName'>,
  path = '',
): void {
  const { accountHolderName, accountIdentifier, branchIdentifier, accountType } = claim
  const { payoutMethod } = link
  const { isIdentifier, identifier, flaw, branch, hasType } = accountRules[payoutMethod]
  if (accountHolderName !== (link.accountHolderName ?? accountHolderName)) {
    throw errors.invalid(`${path}accountHolderName`, 'accountHolderName must be the name of the payout link.')
  }
  if (!isIdentifier(accountIdentifier)) {
    const cause = flaw === undefined ? '' : `: it ${flaw(accountIdentifier)}`
    throw errors.invalid(
      `${path}accountIdentifier`,
      `accountIdentifier must be ${identifier} for ${payoutMethod}${cause}.`,
    )
  }
  if (branch === undefined) {
    if (branchIdentifier !== undefined) throw notTaken(`${path}branchIdentifier`, 'branchIdentifier', payoutMethod)
  } else {
    const { type, isValue, value } = branch
    if (branchIdentifier === undefined) {
      const message = `branchIdentifier of type ${type} is required for ${payoutMethod}.`
      throw errors.missing(`${path}branchIdentifier`, message)
    }
    if (branchIdentifier.type !== type) {
      throw errors.invalid(`${path}branchIdentifier.type`, `branchIdentifier.type must be ${type} for ${payoutMethod}.`)
    }
    if (!isValue(branchIdentifier.value)) {
      throw errors.invalid(`${path}branchIdentifier.value`, `branchIdentifier.value must be ${value}.`)
    }
  }
  if (!hasType && accountType !== undefined) throw notTaken(`${path}accountType`, 'accountType', payoutMethod)
  if (hasType && accountType === undefined) {
    throw errors.missing(`${path}accountType`, `accountType CHECKING or SAVINGS is required for ${payoutMethod}.`)
  }
}

const notTaken = (field: string, name: string, payoutMethod: string) =>
  errors.invalid(field, `${name} must be left out: ${payoutMethod} does not take it.`)
