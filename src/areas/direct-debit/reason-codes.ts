import { addOpenDays, T2 } from '../../core/time/business-days.js'
import type { Day } from '../../core/time/time.js'
import { addDays, addMonths, DAY, instantOf, localTime } from '../../core/time/time.js'
import { toList } from '../../core/words.js'
import type { CollectionStatus, CollectionTransition } from './lifecycle.js'
import { COLLECTION_STATUSES, collectionLifecycle } from './lifecycle.js'

/**
 * The reason codes of rejected, returned and failed collections, from the ISO 20022 External Code Sets.
 * Their phases and limits follow the SEPA Core rulebook (decisions §6).
 */

/** The phase of a collection in which a reason arises. */
export type Phase = 'submission' | 'clearing' | 'bank' | 'settlement' | 'return' | 'refund' | 'unauthorised-refund'

/** How long after the collection date D a reason can arise. */
export interface Limit {
  /** For the table of reason codes. */
  readonly text: string
  /** Returns the last day. */
  readonly lastDay: (day: Day) => Day
}

const openDays = (count: number): Limit => ({
  text: `D+${count} open days`,
  lastDay: day => addOpenDays(T2, day, count),
})
const days = (count: number): Limit => ({ text: `D+${count} days`, lastDay: day => addDays(day, count) })
const months = (count: number): Limit => ({
  text: `D+${count} months`,
  // From noon, so that daylight saving time cannot change the date.
  lastDay: day => localTime(addMonths(instantOf(day, DAY / 2, T2.zone), count), T2.zone).day,
})

/** The rules of a phase. Each phase belongs to one transition of the lifecycle. */
export interface PhaseRules {
  readonly from: CollectionStatus
  readonly transition: CollectionTransition
  readonly raisedBy: string
  /** Left out: no limit while the collection is in that state. */
  readonly limit?: Limit
}

/** All phases in chronological order (decisions §6). */
export const phases: Readonly<Record<Phase, PhaseRules>> = {
  submission: { from: 'PENDING', transition: 'fail', raisedBy: 'creditor bank' },
  clearing: { from: 'SUBMITTED', transition: 'reject', raisedBy: 'clearing' },
  bank: { from: 'PROCESSING', transition: 'reject', raisedBy: 'debtor bank' },
  settlement: { from: 'PROCESSING', transition: 'fail', raisedBy: 'interbank settlement' },
  return: { from: 'SETTLED', transition: 'return', raisedBy: 'debtor bank', limit: openDays(5) },
  refund: { from: 'SETTLED', transition: 'return', raisedBy: 'debtor', limit: days(56) },
  'unauthorised-refund': { from: 'SETTLED', transition: 'return', raisedBy: 'debtor', limit: months(13) },
}

/** The states that have a reason. */
export const REASONED_STATUSES: readonly CollectionStatus[] = COLLECTION_STATUSES.filter(status =>
  Object.values(phases).some(({ from, transition }) => collectionLifecycle[from][transition] === status),
)
/** The same for descriptions. */
export const REASONED = toList(REASONED_STATUSES, 'or')

export interface ReasonCode {
  readonly code: string
  /** The name in the ISO code set. */
  readonly name: string
  readonly phases: readonly Phase[]
}

const reason = (code: string, name: string, ...phases: Phase[]): ReasonCode => ({ code, name, phases })

/** All reason codes. The first one of a phase is its default. */
export const reasonCodes: readonly ReasonCode[] = [
  reason('AM04', 'InsufficientFunds', 'bank', 'return'),
  reason('AC01', 'IncorrectAccountNumber', 'clearing', 'return'),
  reason('AG02', 'InvalidBankOperationCode', 'clearing', 'return'),
  reason('AM05', 'Duplication', 'clearing', 'return'),
  reason('BE05', 'UnrecognisedInitiatingParty', 'clearing', 'return'),
  reason('CNOR', 'CreditorBankIsNotRegistered', 'clearing'),
  reason('DNOR', 'DebtorBankIsNotRegistered', 'clearing'),
  reason('FF01', 'InvalidFileFormat', 'clearing'),
  reason('MD02', 'MissingMandatoryInformationInMandate', 'clearing'),
  reason('RC01', 'BankIdentifierIncorrect', 'clearing', 'return'),
  reason('AC04', 'ClosedAccountNumber', 'bank', 'return'),
  reason('AC06', 'BlockedAccount', 'bank', 'return'),
  reason('AG01', 'TransactionForbidden', 'bank', 'return'),
  reason('MD01', 'NoMandate', 'submission', 'bank', 'unauthorised-refund'),
  reason('MD07', 'EndCustomerDeceased', 'bank', 'return'),
  reason('MS02', 'NotSpecifiedReasonCustomerGenerated', 'bank', 'return'),
  reason('MS03', 'NotSpecifiedReasonAgentGenerated', 'bank', 'return'),
  reason('RR01', 'MissingDebtorAccountOrIdentification', 'bank', 'return'),
  reason('RR02', 'MissingDebtorNameOrAddress', 'bank', 'return'),
  reason('RR03', 'MissingCreditorNameOrAddress', 'bank', 'return'),
  reason('RR04', 'RegulatoryReason', 'bank', 'return'),
  reason('SL01', 'SpecificServiceOfferedByDebtorAgent', 'bank', 'return'),
  reason('ED05', 'SettlementFailed', 'settlement'),
  reason('MD06', 'RefundRequestByEndCustomer', 'refund'),
]

const byCode = new Map(reasonCodes.map(reasonCode => [reasonCode.code, reasonCode]))

export const findReasonCode = (code: string): ReasonCode | undefined => byCode.get(code)

/** Returns the reason codes of a phase. */
export const codesOf = (phase: Phase): string[] =>
  reasonCodes.filter(({ phases }) => phases.includes(phase)).map(({ code }) => code)
