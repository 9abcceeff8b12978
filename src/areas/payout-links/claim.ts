import { errors } from '../../core/errors.js'
import { claimRules } from './claim-rules.js'
import type { Claim, StoredPayoutLink } from './schemas.js'

/**
 * Masks the account number of a claim: the last four characters stay visible, of a short one at most half. Only a transfer
 * needs it, and no money moves here (decisions §8).
 */
export function masked(claim: Claim): Claim {
  const { accountIdentifier: account } = claim
  const hidden = account.length - Math.min(4, account.length >> 1)
  return { ...claim, accountIdentifier: '*'.repeat(hidden) + account.slice(hidden) }
}

/**
 * Refuses a claim that does not fit the link (decisions §8): another name than the link has, members that its method does
 * not take or lacks, and an account that its method does not pay to. `path` precedes the fields.
 */
export function assertPayable(
  claim: Claim,
  link: Pick<StoredPayoutLink, 'payoutMethod' | 'accountHolderName'>,
  path = '',
): void {
  const { accountHolderName, accountIdentifier, branchIdentifier, accountType } = claim
  const { payoutMethod } = link
  const { fields, branchType } = claimRules[payoutMethod]
  if (accountHolderName !== (link.accountHolderName ?? accountHolderName)) {
    throw errors.invalid(`${path}accountHolderName`, 'accountHolderName must be the name of the payout link.')
  }
  const values = {
    accountHolderName,
    accountIdentifier,
    'branchIdentifier.value': branchIdentifier?.value,
    accountType,
  }
  for (const [name, value] of Object.entries(values)) {
    const [member] = name.split('.') as [string]
    const field = fields.find(one => one.name === name)
    if (field === undefined) {
      if (value === undefined) continue
      throw errors.invalid(`${path}${member}`, `${member} must be left out: ${payoutMethod} does not take it.`)
    }
    if (value === undefined) {
      throw errors.missing(`${path}${member}`, `${member} is required for ${payoutMethod}: ${field.expected}.`)
    }
    if (!field.isValid(value)) {
      const flaw = field.flaw?.(value)
      const cause = flaw === undefined ? '' : `: it ${flaw}`
      throw errors.invalid(`${path}${name}`, `${name} must be ${field.expected} for ${payoutMethod}${cause}.`)
    }
  }
  if (branchIdentifier?.type !== branchType) {
    const message = `branchIdentifier.type must be ${branchType} for ${payoutMethod}.`
    throw errors.invalid(`${path}branchIdentifier.type`, message)
  }
}
