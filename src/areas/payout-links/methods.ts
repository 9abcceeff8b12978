import type { BusinessCalendar } from '../../core/business-days.js'
import { addOpenDays, FED, T2, UK } from '../../core/business-days.js'
import { isIban, isRoutingNumber, isSortCode } from '../../core/identifiers.js'
import type { Region } from '../../core/regions.js'
import type { Instant } from '../../core/time.js'
import { instantOf, localDate } from '../../core/time.js'

/** Documented values: interface, Other named fields. */
export const PAYOUT_METHODS = ['SEPA-CT', 'SEPA-INSTANT', 'US-ACH', 'UK-BACS', 'UK-FAST'] as const
export type PayoutMethod = (typeof PAYOUT_METHODS)[number]

/** The rules of a payout method (assumed, decisions §8, after the schemes' public rules). */
interface MethodRules {
  readonly region: Region
  /** The highest amount, in the currency of the region. */
  readonly limit: string
  readonly account: AccountRules
  /** Returns when a link claimed at an instant is paid. */
  paidAt(claimedAt: Instant): Instant
}

/** The rules for the bank account in a claim. */
interface AccountRules {
  readonly isIdentifier: (text: string) => boolean
  /** A description of the identifier, for messages. */
  readonly identifier: string
  readonly branch?: {
    readonly type: 'ROUTING' | 'SORT'
    readonly isValue: (text: string) => boolean
    readonly value: string
  }
  readonly hasType: boolean
}

const iban: AccountRules = { isIdentifier: isIban, identifier: 'a valid IBAN', hasType: false }
const usAccount: AccountRules = {
  isIdentifier: text => /^\d{4,17}$/.test(text),
  identifier: '4 to 17 digits',
  branch: {
    type: 'ROUTING',
    isValue: isRoutingNumber,
    value: 'an ABA routing number with a correct check digit',
  },
  hasType: true,
}
const ukAccount: AccountRules = {
  isIdentifier: text => /^\d{8}$/.test(text),
  identifier: '8 digits',
  branch: { type: 'SORT', isValue: isSortCode, value: 'a sort code of 6 digits' },
  hasType: false,
}

const afterSeconds = (seconds: number) => (claimedAt: Instant) => claimedAt + seconds * 1000
const onOpenDay = (calendar: BusinessCalendar, days: number, time: string) => (claimedAt: Instant) =>
  instantOf(addOpenDays(calendar, localDate(claimedAt, calendar.zone), days), time, calendar.zone)

export const payoutMethods: Readonly<Record<PayoutMethod, MethodRules>> = {
  'SEPA-CT': { region: 'EU', limit: '999999999.99', account: iban, paidAt: onOpenDay(T2, 1, '14:00') },
  'SEPA-INSTANT': { region: 'EU', limit: '999999999.99', account: iban, paidAt: afterSeconds(10) },
  'US-ACH': { region: 'US', limit: '999999999.99', account: usAccount, paidAt: onOpenDay(FED, 1, '06:00') },
  'UK-BACS': { region: 'UK', limit: '20000000.00', account: ukAccount, paidAt: onOpenDay(UK, 2, '07:00') },
  'UK-FAST': { region: 'UK', limit: '1000000.00', account: ukAccount, paidAt: afterSeconds(10) },
}

/** Returns when a claimed link is submitted to the payment scheme. */
export const processingAt = afterSeconds(5)
