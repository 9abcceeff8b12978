import { errors } from '../errors.js'
import { bicFlaw, isIfsc, isRoutingNumber, isSortCode } from './identifiers.js'
import type { Region } from './regions.js'

/** The identifier of a bank branch: BIC (EUR), SORT (GBP), ROUTING (USD), IFSC (INR); interface, Other named fields. */
export interface Branch {
  readonly type: 'BIC' | 'SORT' | 'ROUTING' | 'IFSC'
  readonly value: string
}

export const branches = {
  EU: { type: 'BIC', isValid: text => bicFlaw(text) === undefined },
  UK: { type: 'SORT', isValid: isSortCode },
  US: { type: 'ROUTING', isValid: isRoutingNumber },
  IN: { type: 'IFSC', isValid: isIfsc },
} as const satisfies Record<Region, { type: Branch['type']; isValid(value: string): boolean }>

/**
 * Refuses a branch identifier of a type that the region does not use, or with an invalid value.
 * @throws INVALID_FIELD
 */
export function assertBranch(region: Region, branch: Branch | undefined): void {
  if (branch === undefined) return
  const { type, isValid } = branches[region]
  if (branch.type !== type) {
    throw errors.invalid('branchIdentifier.type', `branchIdentifier.type must be ${type} in region ${region}.`)
  }
  if (!isValid(branch.value))
    throw errors.invalid('branchIdentifier.value', `branchIdentifier.value must be a valid ${type}.`)
}
