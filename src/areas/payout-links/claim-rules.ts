/**
 * The rules of a claim by payout method (assumed, decisions §8). The API, the pages and the script in the browser share
 * them, so this file and its imports are pure and run in a browser.
 */
import { isRoutingNumber, isSortCode, MAX_ACCOUNT_HOLDER_NAME, sepaIbanFlaw } from '../../core/domain/identifiers.js'

/** Documented values: interface, Other named fields. */
export const PAYOUT_METHODS = ['SEPA-CT', 'SEPA-INSTANT', 'US-ACH', 'UK-BACS', 'UK-FAST'] as const
export type PayoutMethod = (typeof PAYOUT_METHODS)[number]

export const ACCOUNT_TYPES = ['CHECKING', 'SAVINGS'] as const

/** The kind of a field: pages have a label, a hint and messages for each. */
export type FieldKind = 'name' | 'iban' | 'usAccount' | 'ukAccount' | 'routing' | 'sort' | 'type'

/** A field of the claim form. */
export interface ClaimField {
  /** The member of the claim, such as `branchIdentifier.value`. */
  readonly name: string
  readonly kind: FieldKind
  /** A description of the value, for messages of the API. */
  readonly expected: string
  /** Removes the separators that people type, and returns the text that the API takes. */
  readonly normalize: (text: string) => string
  /** Whether the API takes a normalized text. */
  readonly isValid: (text: string) => boolean
  /** Returns why a text is not valid, to complete "it …". Absent if there are no words for it. */
  readonly flaw?: (text: string) => string | undefined
}

const withoutSeparators = (text: string) => text.replace(/[\s.-]/g, '')

const holder: ClaimField = {
  name: 'accountHolderName',
  kind: 'name',
  expected: `a name of 1 to ${MAX_ACCOUNT_HOLDER_NAME} characters`,
  normalize: text => text.trim(),
  // Characters and not UTF-16 units, as in the schema.
  isValid: text => text !== '' && [...text].length <= MAX_ACCOUNT_HOLDER_NAME,
}
const iban: ClaimField = {
  name: 'accountIdentifier',
  kind: 'iban',
  expected: 'a valid IBAN of a SEPA country',
  normalize: text => withoutSeparators(text).toUpperCase(),
  isValid: text => sepaIbanFlaw(text) === undefined,
  flaw: sepaIbanFlaw,
}
const usAccount: ClaimField = {
  name: 'accountIdentifier',
  kind: 'usAccount',
  expected: '4 to 17 digits',
  normalize: withoutSeparators,
  isValid: text => /^\d{4,17}$/.test(text),
}
const ukAccount: ClaimField = {
  name: 'accountIdentifier',
  kind: 'ukAccount',
  expected: '8 digits',
  normalize: withoutSeparators,
  isValid: text => /^\d{8}$/.test(text),
}
const routing: ClaimField = {
  name: 'branchIdentifier.value',
  kind: 'routing',
  expected: 'an ABA routing number with a correct check digit',
  normalize: withoutSeparators,
  isValid: isRoutingNumber,
}
const sort: ClaimField = {
  name: 'branchIdentifier.value',
  kind: 'sort',
  expected: 'a sort code of 6 digits',
  normalize: withoutSeparators,
  isValid: isSortCode,
}
const type: ClaimField = {
  name: 'accountType',
  kind: 'type',
  expected: ACCOUNT_TYPES.join(' or '),
  normalize: text => text,
  isValid: text => ACCOUNT_TYPES.some(one => one === text),
}

/** The rules of a claim. */
export interface ClaimRules {
  /** The fields that it requires, in the order of the form. */
  readonly fields: readonly ClaimField[]
  /** The type of its `branchIdentifier`. Absent if it takes none. */
  readonly branchType?: 'ROUTING' | 'SORT'
  /** A valid account in a claim, beside its holder. */
  readonly example: object
}

const sepa: ClaimRules = { fields: [holder, iban], example: { accountIdentifier: 'DE89370400440532013000' } }
const us: ClaimRules = {
  fields: [holder, routing, usAccount, type],
  branchType: 'ROUTING',
  example: {
    accountIdentifier: '000123456789',
    branchIdentifier: { type: 'ROUTING', value: '021000021' },
    accountType: 'CHECKING',
  },
}
const uk: ClaimRules = {
  fields: [holder, sort, ukAccount],
  branchType: 'SORT',
  example: { accountIdentifier: '55779911', branchIdentifier: { type: 'SORT', value: '200000' } },
}

export const claimRules: Readonly<Record<PayoutMethod, ClaimRules>> = {
  'SEPA-CT': sepa,
  'SEPA-INSTANT': sepa,
  'US-ACH': us,
  'UK-BACS': uk,
  'UK-FAST': uk,
}

/** The problem of a field: empty, or refused by its rule. */
export type Problem = 'missing' | 'invalid'

/** Returns the problem of a text that a person gave for a field, or undefined if there is none. */
export function problemOf({ normalize, isValid }: ClaimField, given: string): Problem | undefined {
  const text = normalize(given)
  if (text === '') return 'missing'
  return isValid(text) ? undefined : 'invalid'
}
