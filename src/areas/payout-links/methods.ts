import type { Region } from '../../core/domain/regions.js'
import type { BusinessCalendar } from '../../core/time/business-days.js'
import { addOpenDays, FED, T2, UK } from '../../core/time/business-days.js'
import type { Instant } from '../../core/time/time.js'
import { instantOf, localTime, timeOfDay } from '../../core/time/time.js'
import type { PayoutMethod } from './claim-rules.js'

/** The rules of a payout method (assumed, decisions §8, after the schemes' public rules). */
interface MethodRules {
  readonly region: Region
  /** The highest amount, in the currency of the region. */
  readonly limit: string
  /** Returns when a link claimed at an instant is paid. */
  paidAt(claimedAt: Instant): Instant
}

const afterSeconds = (seconds: number) => (claimedAt: Instant) => claimedAt + seconds * 1000
const onOpenDay = (calendar: BusinessCalendar, days: number, time: string) => (claimedAt: Instant) =>
  instantOf(addOpenDays(calendar, localTime(claimedAt, calendar.zone).day, days), timeOfDay(time), calendar.zone)

export const payoutMethods: Readonly<Record<PayoutMethod, MethodRules>> = {
  'SEPA-CT': { region: 'EU', limit: '999999999.99', paidAt: onOpenDay(T2, 1, '14:00') },
  'SEPA-INSTANT': { region: 'EU', limit: '999999999.99', paidAt: afterSeconds(10) },
  'US-ACH': { region: 'US', limit: '999999999.99', paidAt: onOpenDay(FED, 1, '06:00') },
  'UK-BACS': { region: 'UK', limit: '20000000.00', paidAt: onOpenDay(UK, 2, '07:00') },
  'UK-FAST': { region: 'UK', limit: '1000000.00', paidAt: afterSeconds(10) },
}

/** Returns when a claimed link is submitted to the payment scheme. */
export const processingAt = afterSeconds(5)
