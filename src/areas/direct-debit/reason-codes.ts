/**
 * Why a collection did not come through, as ISO 20022 external status and return reason codes
 * (ISO 20022 External Code Sets; which code is legal when: decisions §6, after the SEPA Core rulebook).
 */

/** The moment at which a reason arises. Each phase belongs to one move of the lifecycle. */
export type Phase = 'submission' | 'clearing' | 'bank' | 'settlement' | 'return' | 'refund' | 'unauthorised-refund'

export interface ReasonCode {
  readonly code: string
  /** The name in the ISO code set. */
  readonly name: string
  readonly phases: readonly Phase[]
}

const reason = (code: string, name: string, ...phases: Phase[]): ReasonCode => ({ code, name, phases })

/** The first code of a phase is the one taken where none is given. */
export const reasonCodes: readonly ReasonCode[] = [
  reason('AC01', 'IncorrectAccountNumber', 'clearing'),
  reason('AG02', 'InvalidBankOperationCode', 'clearing'),
  reason('AM05', 'Duplication', 'clearing'),
  reason('BE05', 'UnrecognisedInitiatingParty', 'clearing'),
  reason('CNOR', 'CreditorBankIsNotRegistered', 'clearing'),
  reason('DNOR', 'DebtorBankIsNotRegistered', 'clearing'),
  reason('FF01', 'InvalidFileFormat', 'clearing'),
  reason('MD02', 'MissingMandatoryInformationInMandate', 'clearing'),
  reason('RC01', 'BankIdentifierIncorrect', 'clearing'),
  reason('AM04', 'InsufficientFunds', 'bank', 'return'),
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

export const codesOf = (phase: Phase): string[] =>
  reasonCodes.filter(({ phases }) => phases.includes(phase)).map(({ code }) => code)
