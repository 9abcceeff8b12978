import type { Region } from '../../../../core/domain/regions.js'
import { CURRENCY_OF } from '../../../../core/domain/regions.js'

/** Formats of a region. */
export interface Format {
  /** Formats an amount in the currency of the region, such as `64.00`. */
  money(amount: string): string
  /** Formats an instant with date, time and zone of the region. */
  instant(text: string): string
}

/** A page shows the time of the payment schemes of its region (decisions §8). The date has the order of the region. */
const PLACES: Readonly<Partial<Record<Region, readonly [locale: string, timeZone: string, zone: string]>>> = {
  UK: ['en-GB', 'Europe/London', 'London'],
  US: ['en-US', 'America/New_York', 'New\u00a0York'],
}
const EU = ['en-GB', 'Europe/Berlin', 'Berlin'] as const

function createFormat(region: Region): Format {
  const [locale, timeZone, zone] = PLACES[region] ?? EU
  const currency = CURRENCY_OF[region]
  const amounts = new Intl.NumberFormat(locale, { style: 'currency', currency, currencyDisplay: 'narrowSymbol' })
  const hour = locale === 'en-US' ? 'numeric' : '2-digit'
  const times = { timeZone, year: 'numeric', month: 'long', day: 'numeric', hour, minute: '2-digit' } as const
  const instants = new Intl.DateTimeFormat(locale, times)
  return {
    // A text is formatted exactly, and a schema has checked that it is a decimal.
    money: amount => amounts.format(amount as `${number}`),
    // The zone stays on one line.
    instant: text => `${instants.format(Date.parse(text))} (${zone}\u00a0time)`,
  }
}

/** Creating a formatter takes longer than rendering a page. */
const formats = new Map<Region, Format>()

/** Returns the formats of a region that has payout links. */
export function formatOf(region: Region): Format {
  const format = formats.get(region) ?? createFormat(region)
  formats.set(region, format)
  return format
}
