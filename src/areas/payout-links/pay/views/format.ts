import type { Region } from '../../../../core/domain/regions.js'
import type { Zone } from '../../../../core/time/time.js'
import { strings } from './strings.js'

/** Formats of a region. */
export interface Format {
  /** Formats an amount, such as `64.00` in `EUR`. */
  money(amount: string, currency: string): string
  /** Formats an instant with date, time and zone of the region. */
  instant(text: string): string
}

/** A page shows the time of the payment schemes of its region (decisions §8). */
const ZONES: Readonly<Partial<Record<Region, Zone>>> = { UK: 'Europe/London', US: 'America/New_York' }

/** Creating a formatter takes longer than rendering a page. */
const formats = new Map<Region, Format>()

export function formatOf(region: Region): Format {
  const format = formats.get(region) ?? createFormat(region)
  formats.set(region, format)
  return format
}

function createFormat(region: Region): Format {
  // The date has the order of the region.
  const locale = region === 'US' ? 'en-US' : 'en-GB'
  const timeZone = ZONES[region] ?? 'Europe/Berlin'
  // On one line.
  const zone = strings.zones[timeZone].replaceAll(' ', '\u00a0')
  const moneyFormats = new Map<string, Intl.NumberFormat>()
  const instants = new Intl.DateTimeFormat(locale, {
    timeZone,
    year: 'numeric',
    month: 'long',
    day: 'numeric',
    hour: locale === 'en-US' ? 'numeric' : '2-digit',
    minute: '2-digit',
  })
  return {
    money(amount, currency) {
      const format =
        moneyFormats.get(currency) ??
        new Intl.NumberFormat(locale, { style: 'currency', currency, currencyDisplay: 'narrowSymbol' })
      moneyFormats.set(currency, format)
      // A text is formatted exactly, and a schema has checked that it is a decimal.
      return format.format(amount as `${number}`)
    },
    instant: text => `${instants.format(Date.parse(text))} (${zone})`,
  }
}
