import { getCountrySpecifications, isValidIBAN, ValidationErrorsIBAN, validateIBAN } from 'ibantools'

const IBAN = /^[A-Z]{2}\d{2}[A-Z0-9]{11,30}$/

/** Whether a text is an IBAN in electronic format (ISO 13616; decisions §10), with correct check digits. */
export function isIban(text: string): boolean {
  return IBAN.test(text) && isValidIBAN(text)
}

/** Returns the flaw of a text that no identifier may have, to complete "it …"; undefined: there is none. */
function flawOfText(text: string): string | undefined {
  if (/\s/.test(text)) return 'has white space'
  if (/[a-z]/.test(text)) return 'has lower-case letters'
  return /^[A-Z0-9]*$/.test(text) ? undefined : 'has other characters than capital letters and digits'
}

/** Returns why a text is no IBAN, to complete "it …"; undefined: it is one. */
export function ibanFlaw(text: string): string | undefined {
  if (isIban(text)) return undefined
  const flaw = flawOfText(text)
  if (flaw !== undefined) return flaw
  const country = text.slice(0, 2)
  const length = getCountrySpecifications()[country]?.chars
  if (!length) return 'does not begin with the country code of an IBAN'
  if (text.length !== length) return `has ${text.length} characters, and an IBAN of ${country} has ${length}`
  const { errorCodes } = validateIBAN(text)
  if (errorCodes.includes(ValidationErrorsIBAN.WrongBBANFormat))
    return `has no account number of the form of ${country}`
  return errorCodes.includes(ValidationErrorsIBAN.WrongAccountBankBranchChecksum)
    ? 'has wrong check digits in its account number'
    : 'has wrong check digits'
}

/** Returns why a text is no IBAN of a SEPA country, to complete "it …"; undefined: it is one. */
export const sepaIbanFlaw = (text: string): string | undefined =>
  ibanFlaw(text) ?? (isSepaIban(text) ? undefined : `is of the country ${text.slice(0, 2)}, which is not in SEPA`)

// The IBAN country codes of the EPC's list of SEPA scheme countries (EPC409-09). isSEPACountry of ibantools 4.5 lacks
// AL, ME, MD, MK and RS. Territories such as GG and AX use the code of their state.
const sepa = new Set(
  (
    'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK ' +
    'IS LI NO CH GB GI AD MC SM VA AL ME MD MK RS'
  ).split(' '),
)

/** Whether a text is an IBAN of one of the 41 SEPA countries (EPC409-09). */
export function isSepaIban(text: string): boolean {
  return sepa.has(text.slice(0, 2)) && isIban(text)
}

const CREDITOR_IDENTIFIER = /^[A-Z]{2}\d{2}[A-Z0-9]{3}[A-Z0-9]{1,28}$/

/**
 * Whether a text is a SEPA Creditor Identifier (EPC262-08 §3; decisions §7): country code, check digits, business code
 * and national part. The check digits (ISO 7064 MOD 97-10) do not cover the business code.
 */
export function isCreditorIdentifier(text: string): boolean {
  if (!CREDITOR_IDENTIFIER.test(text)) return false
  // Check digits are 98 minus a remainder, so 00, 01 and 99 are never issued.
  const checkDigits = text.slice(2, 4)
  if (checkDigits < '02' || checkDigits > '98') return false
  return mod97(text.slice(7) + text.slice(0, 4)) === 1
}

/** Returns why a text is no SEPA Creditor Identifier, to complete "it …"; undefined: it is one. */
export function creditorIdentifierFlaw(text: string): string | undefined {
  if (isCreditorIdentifier(text)) return undefined
  const flaw = flawOfText(text)
  if (flaw !== undefined) return flaw
  if (!/^[A-Z]{2}/.test(text)) return 'does not begin with the code of a country'
  if (text.length < 8 || text.length > 35) return `has ${text.length} characters, and 8 to 35 are possible`
  return 'has wrong check digits'
}

/** Returns the remainder modulo 97 of an alphanumeric text. Letters have the values 10 (A) to 35 (Z). */
function mod97(text: string): number {
  let remainder = 0
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i)
    remainder = (code < 65 ? remainder * 10 + code - 48 : remainder * 100 + code - 55) % 97
  }
  return remainder
}

const NINE_DIGITS = /^\d{9}$/

/**
 * Whether a text is an ABA routing number: nine digits whose sum, weighted 3 7 1, is a multiple of 10 (decisions §10).
 * Nine zeros are refused.
 */
export function isRoutingNumber(text: string): boolean {
  if (!NINE_DIGITS.test(text) || text === '000000000') return false
  let sum = 0
  for (let i = 0; i < 9; i += 3) {
    sum += 3 * Number(text[i]) + 7 * Number(text[i + 1]) + Number(text[i + 2])
  }
  return sum % 10 === 0
}

const IFSC = /^[A-Z]{4}0[A-Z0-9]{6}$/

/** Whether a text is an Indian Financial System Code: four letters, a zero and six characters. */
export function isIfsc(text: string): boolean {
  return IFSC.test(text)
}

const BIC = /^[A-Z0-9]{4}[A-Z]{2}[A-Z0-9]{2}(?:[A-Z0-9]{3})?$/

/** Whether a text is a BIC (ISO 9362) of 8 or 11 characters, with a country of ISO 3166-1 or XK (Kosovo). */
export function isBic(text: string): boolean {
  if (!BIC.test(text)) return false
  const country = text.slice(4, 6)
  return country === 'XK' || countries.has(country)
}

/** Returns why a text is no BIC, to complete "it …"; undefined: it is one. */
export function bicFlaw(text: string): string | undefined {
  if (isBic(text)) return undefined
  const flaw = flawOfText(text)
  if (flaw !== undefined) return flaw
  if (text.length !== 8 && text.length !== 11) return `has ${text.length} characters, and a BIC has 8 or 11`
  return `has no code of a country at its 5th and 6th character: ${text.slice(4, 6)}`
}

const SIX_DIGITS = /^\d{6}$/

/** Whether a text is a UK sort code: six digits without separators. */
export function isSortCode(text: string): boolean {
  return SIX_DIGITS.test(text)
}

// The 249 officially assigned codes.
const countries = new Set(
  (
    'AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY ' +
    'BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK ' +
    'FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT HU ID IE IL IM IN IO IQ IR ' +
    'IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK ' +
    'ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM ' +
    'PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF ' +
    'TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW'
  ).split(' '),
)

/** Returns why a text is no code of a country, to complete "it …"; undefined: it is one. */
export const countryFlaw = (text: string): string | undefined =>
  isCountryCode(text) ? undefined : (flawOfText(text) ?? 'is not assigned')

/**
 * Whether a text is an officially assigned country code of ISO 3166-1 alpha-2, in upper case.
 */
export function isCountryCode(text: string): boolean {
  return countries.has(text)
}

/** The longest name of an account holder, in characters (assumed, decisions §8). */
export const MAX_ACCOUNT_HOLDER_NAME = 140

/** The longest remarks, in characters (assumed, decisions §8). */
export const MAX_REMARKS = 256

/** The characters of a reference that SEPA carries (EPC130-08, AT-10). */
const MAX_SEPA_REFERENCE = 35

/** Returns a hint at a reference that SEPA does not carry whole. It is legal here. */
export const sepaHint = (field: string, reference: string): string | undefined =>
  reference.length > MAX_SEPA_REFERENCE
    ? `${field} is longer than the ${MAX_SEPA_REFERENCE} characters that SEPA carries`
    : undefined
const CONTROL = /\p{Cc}/u

/** Returns why a text is no name of a party, to complete "it …"; undefined: it is one. */
export function nameFlaw(text: string): string | undefined {
  if (CONTROL.test(text)) return 'has a control character'
  return text.trim() === '' ? 'is blank' : undefined
}

const SEPA_LATIN = /^[a-zA-Z0-9/?:().,'+ -]*$/

/** The characters of a name that SEPA carries (EPC130-08, AT-14). */
const MAX_SEPA_NAME = 70

/** Returns a hint at a name that SEPA does not carry as it is, by its length or its characters (EPC217-08). It is legal here. */
export function sepaNameHint(field: string, name = ''): string | undefined {
  if ([...name].length > MAX_SEPA_NAME) {
    return `${field} is longer than the ${MAX_SEPA_NAME} characters that SEPA carries`
  }
  return SEPA_LATIN.test(name)
    ? undefined
    : `${field} has characters outside of the Latin set that all banks of SEPA take`
}
