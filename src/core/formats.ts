import { isBic, isCountryCode, isCreditorIdentifier, isIban, isSepaIban } from './domain/identifiers.js'
import { isOrigin, isOriginPattern } from './origins.js'
import { parseDuration } from './time/duration.js'
import { isCalendarDate, isMoment } from './time/time.js'

/** The formats of the schemas, which check more than their text. */
export const FORMATS: Readonly<Record<string, true | ((text: string) => boolean)>> = {
  date: isCalendarDate,
  'date-time': isMoment,
  'iso-8601-duration': text => parseDuration(text) !== undefined,
  origin: isOrigin,
  'origin-pattern': isOriginPattern,
  iban: isIban,
  'sepa-iban': isSepaIban,
  'creditor-identifier': isCreditorIdentifier,
  bic: isBic,
  country: isCountryCode,
  double: true,
}
