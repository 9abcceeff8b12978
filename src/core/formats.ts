import { bicFlaw, countryFlaw, creditorIdentifierFlaw, ibanFlaw, nameFlaw, sepaIbanFlaw } from './domain/identifiers.js'
import { isOrigin, isOriginPattern } from './origins.js'
import { parseDuration } from './time/duration.js'
import { isCalendarDate, isMoment } from './time/time.js'

/** The registered formats of the schemas, which check more than their text. Strict validators refuse others. */
export const FORMATS: Readonly<Record<string, true | ((text: string) => boolean)>> = {
  date: isCalendarDate,
  'date-time': isMoment,
  double: true,
}

/** Returns why a text is not of a format, to complete "it …", undefined if it is, or an empty text if there are no words for it. */
type Flaw = (text: string) => string | undefined

/** The formats that are not registered, as `x-format` of schemas names them. */
export const OWN_FORMATS: Readonly<Record<string, Flaw>> = {
  'iso-8601-duration': text => (parseDuration(text) === undefined ? '' : undefined),
  origin: text => (isOrigin(text) ? undefined : ''),
  'origin-pattern': text => (isOriginPattern(text) ? undefined : ''),
  iban: ibanFlaw,
  'sepa-iban': sepaIbanFlaw,
  'creditor-identifier': creditorIdentifierFlaw,
  bic: bicFlaw,
  country: countryFlaw,
  name: nameFlaw,
}
