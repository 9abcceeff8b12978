import { getCountrySpecifications, ValidationErrorsIBAN, validateIBAN } from 'ibantools'

// A function …Flaw returns why a text is no identifier, to complete "it …", or undefined if it is one.

/** The countries of ISO 3166-1, and XK (Kosovo). */
const countries = getCountrySpecifications()
const isCountry = (code: string) => Object.hasOwn(countries, code)

/** Returns the flaw of a text that no identifier may have. */
function flawOfText(text: string): string | undefined {
  if (/\s/.test(text)) return 'has white space'
  if (/[a-z]/.test(text)) return 'has lower-case letters'
  return /^[A-Z0-9]*$/.test(text) ? undefined : 'has other characters than capital letters and digits'
}

/** An IBAN in electronic format (ISO 13616; decisions §10), with correct check digits. */
export function ibanFlaw(text: string): string | undefined {
  const flaw = flawOfText(text)
  if (flaw !== undefined) return flaw
  const country = text.slice(0, 2)
  const length = isCountry(country) && countries[country]?.chars
  if (!length) return 'does not begin with the country code of an IBAN'
  if (text.length !== length) return `has ${text.length} characters, and an IBAN of ${country} has ${length}`
  const { valid, errorCodes } = validateIBAN(text)
  if (valid) return undefined
  if (errorCodes.includes(ValidationErrorsIBAN.WrongBBANFormat))
    return `has no account number of the form of ${country}`
  return errorCodes.includes(ValidationErrorsIBAN.WrongAccountBankBranchChecksum)
    ? 'has wrong check digits in its account number'
    : 'has wrong check digits'
}

// The IBAN country codes of the EPC's list of SEPA scheme countries (EPC409-09). isSEPACountry of ibantools 4.5 lacks
// AL, ME, MD, MK and RS. Territories such as GG and AX use the code of their state.
const sepa = new Set(
  (
    'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK ' +
    'IS LI NO CH GB GI AD MC SM VA AL ME MD MK RS'
  ).split(' '),
)

/** An IBAN of one of the 41 SEPA countries (EPC409-09). */
export function sepaIbanFlaw(text: string): string | undefined {
  const country = text.slice(0, 2)
  return ibanFlaw(text) ?? (sepa.has(country) ? undefined : `is of the country ${country}, which is not in SEPA`)
}

/** Check digits are 98 minus a remainder, so 00, 01 and 99 are never issued. */
const CHECK_DIGITS = /^(0[2-9]|[1-8]\d|9[0-8])$/

/**
 * A SEPA Creditor Identifier (EPC262-08 §3; decisions §7): country code, check digits, business code and national part.
 * The check digits (ISO 7064 MOD 97-10) do not cover the business code.
 */
export function creditorIdentifierFlaw(text: string): string | undefined {
  const flaw = flawOfText(text)
  if (flaw !== undefined) return flaw
  if (!/^[A-Z]{2}/.test(text)) return 'does not begin with the code of a country'
  if (text.length < 8 || text.length > 35) return `has ${text.length} characters, and 8 to 35 are possible`
  const isRight = CHECK_DIGITS.test(text.slice(2, 4)) && mod97(text.slice(7) + text.slice(0, 4)) === 1
  return isRight ? undefined : 'has wrong check digits'
}

/** Returns the remainder modulo 97 of an alphanumeric text. Letters have the values 10 (A) to 35 (Z). */
const mod97 = (text: string): number =>
  [...text].reduce((remainder, character) => {
    const value = Number.parseInt(character, 36)
    return (remainder * (value < 10 ? 10 : 100) + value) % 97
  }, 0)

/** A BIC (ISO 9362) of 8 or 11 characters, with a country. */
export function bicFlaw(text: string): string | undefined {
  const flaw = flawOfText(text)
  if (flaw !== undefined) return flaw
  if (text.length !== 8 && text.length !== 11) return `has ${text.length} characters, and a BIC has 8 or 11`
  const country = text.slice(4, 6)
  return isCountry(country) ? undefined : `has no code of a country at its 5th and 6th character: ${country}`
}

/** An officially assigned country code of ISO 3166-1 alpha-2. */
export const countryFlaw = (text: string): string | undefined =>
  isCountry(text) && text !== 'XK' ? undefined : (flawOfText(text) ?? 'is not assigned')

const CONTROL = /\p{Cc}/u

/** The name of a party. */
export function nameFlaw(text: string): string | undefined {
  if (CONTROL.test(text)) return 'has a control character'
  return text.trim() === '' ? 'is blank' : undefined
}

/**
 * Whether a text is an ABA routing number: nine digits whose sum, weighted 3 7 1, is a multiple of 10 (decisions §10).
 * Nine zeros are refused.
 */
export function isRoutingNumber(text: string): boolean {
  if (!/^\d{9}$/.test(text) || text === '000000000') return false
  return [...text].reduce((sum, digit, at) => sum + Number(digit) * ([3, 7, 1][at % 3] as number), 0) % 10 === 0
}

/** Whether a text is an Indian Financial System Code: four letters, a zero and six characters. */
export const isIfsc = (text: string): boolean => /^[A-Z]{4}0[A-Z0-9]{6}$/.test(text)

/** Whether a text is a UK sort code: six digits without separators. */
export const isSortCode = (text: string): boolean => /^\d{6}$/.test(text)

/** The longest name of an account holder, in characters (assumed, decisions §8). */
export const MAX_ACCOUNT_HOLDER_NAME = 140

/** The longest remarks, in characters (assumed, decisions §8). */
export const MAX_REMARKS = 256

const SEPA_LATIN = /^[a-zA-Z0-9/?:().,'+ -]*$/

/** The characters that SEPA carries of a reference and of a name (EPC130-08, AT-10 and AT-14). */
export const SEPA_LENGTH = { reference: 35, name: 70 } as const

/** Returns a hint at a text that SEPA does not carry as it is, by its length or its characters (EPC217-08). It is legal here. */
export function sepaHint(field: string, text: string | undefined, kind: keyof typeof SEPA_LENGTH): string | undefined {
  if (text === undefined) return undefined
  const most = SEPA_LENGTH[kind]
  if ([...text].length > most) return `${field} is longer than the ${most} characters that SEPA carries`
  return SEPA_LATIN.test(text)
    ? undefined
    : `${field} has characters outside of the Latin set that all banks of SEPA take`
}
