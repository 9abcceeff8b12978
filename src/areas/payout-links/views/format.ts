import type { Region } from '../../../core/rules/regions.js'
import type { Zone } from '../../../core/time/time.js'
import type { Language } from './strings.js'
import { strings } from './strings.js'

/** Formats of a language in a region. */
export interface Format {
  /** Formats an amount, such as `64.00` in `EUR`. */
  money(amount: string, currency: string): string
  /** Formats an instant with date, time and zone of the region. */
  instant(text: string): string
}

/** The times of a page are those of the payment schemes of its region (decisions §8). */
const ZONES: Readonly<Partial<Record<Region, Zone>>> = { UK: 'Europe/London', US: 'America/New_York' }

/** English has the date order of the region. */
const localeOf = (language: Language, region: Region) =>
  language === 'en' ? (region === 'US' ? 'en-US' : 'en-GB') : language

/** Creating a formatter takes longer than rendering a page. */
const formats = new Map<string, Format>()

export function formatOf(language: Language, region: Region): Format {
  const key = `${language} ${region}`
  const format = formats.get(key) ?? createFormat(language, region)
  formats.set(key, format)
  return format
}

function createFormat(language: Language, region: Region): Format {
  const locale = localeOf(language, region)
  const timeZone = ZONES[region] ?? 'Europe/Berlin'
  // On one line.
  const zone = strings[language].zones[timeZone].replaceAll(' ', '\u00a0')
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
    // Intl names zones differently in each language.
    instant: text => `${instants.format(Date.parse(text))} (${zone})`,
  }
}
