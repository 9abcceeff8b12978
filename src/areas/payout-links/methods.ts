import type { BusinessCalendar } from '../../core/business-days.js'
import { addOpenDays, FED, T2, UK } from '../../core/business-days.js'
import type { Region } from '../../core/regions.js'
import type { Instant } from '../../core/time.js'
import { instantOf, localDate } from '../../core/time.js'

/** Documented values: interface, Other named fields. */
export const PAYOUT_METHODS = ['SEPA-CT', 'SEPA-INSTANT', 'US-ACH', 'UK-BACS', 'UK-FAST'] as const
export type PayoutMethod = (typeof PAYOUT_METHODS)[number]

/** What a method is like: assumed, decisions §8, after the schemes' public rules. */
interface MethodRules {
  readonly region: Region
  /** The highest amount, in the currency of the region. */
  readonly limit: string
  /** What a claim names the bank account by. */
  readonly account: 'iban' | 'us' | 'uk'
  /** When a link claimed at an instant is paid. */
  paidAt(claimedAt: Instant): Instant
}

const afterSeconds = (seconds: number) => (claimedAt: Instant) => claimedAt + seconds * 1000
const onOpenDay = (calendar: BusinessCalendar, days: number, time: string) => (claimedAt: Instant) =>
  instantOf(addOpenDays(calendar, localDate(claimedAt, calendar.zone), days), time, calendar.zone)

export const payoutMethods: Readonly<Record<PayoutMethod, MethodRules>> = {
  'SEPA-CT': { region: 'EU', limit: '999999999.99', account: 'iban', paidAt: onOpenDay(T2, 1, '14:00') },
  'SEPA-INSTANT': { region: 'EU', limit: '999999999.99', account: 'iban', paidAt: afterSeconds(10) },
  'US-ACH': { region: 'US', limit: '999999999.99', account: 'us', paidAt: onOpenDay(FED, 1, '06:00') },
  'UK-BACS': { region: 'UK', limit: '20000000.00', account: 'uk', paidAt: onOpenDay(UK, 2, '07:00') },
  'UK-FAST': { region: 'UK', limit: '1000000.00', account: 'uk', paidAt: afterSeconds(10) },
}

/** A claimed link is handed to the payment scheme so long after its claim. */
export const processingAt = afterSeconds(5)
