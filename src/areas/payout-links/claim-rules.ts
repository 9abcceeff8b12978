/**
 * The rules of a claim by payout method (assumed, decisions §8). The API, the pages and the script in the browser share
 * them, so this file and its imports are pure and run in a browser.
 */
import {
  isRoutingNumber,
  isSepaIban,
  isSortCode,
  MAX_ACCOUNT_HOLDER_NAME,
  sepaIbanFlaw,
} from '../../core/domain/identifiers.js'

/** Documented values: interface, Other named fields. */
export const PAYOUT_METHODS = ['SEPA-CT', 'SEPA-INSTANT', 'US-ACH', 'UK-BACS', 'UK-FAST'] as const
export type PayoutMethod = (typeof PAYOUT_METHODS)[number]

export const ACCOUNT_TYPES = ['CHECKING', 'SAVINGS'] as const

/** The rules for the bank account in a claim. */
export interface AccountRules {
  readonly isIdentifier: (text: string) => boolean
  /** A description of the identifier, for messages. */
  readonly identifier: string
  /** Returns why a text is no identifier, to complete "it …". */
  readonly flaw?: (text: string) => string | undefined
  readonly branch?: {
    readonly type: 'ROUTING' | 'SORT'
    readonly isValue: (text: string) => boolean
    readonly value: string
  }
  readonly hasType: boolean
  /** A valid account in a claim, beside its holder. */
  readonly example: object
}

const iban: AccountRules = {
  isIdentifier: isSepaIban,
  identifier: 'a valid IBAN of a SEPA country',
  flaw: sepaIbanFlaw,
  hasType: false,
  example: { accountIdentifier: 'DE89370400440532013000' },
}
const usAccount: AccountRules = {
  isIdentifier: text => /^\d{4,17}$/.test(text),
  identifier: '4 to 17 digits',
  branch: {
    type: 'ROUTING',
    isValue: isRoutingNumber,
    value: 'an ABA routing number with a correct check digit',
  },
  hasType: true,
  example: {
    accountIdentifier: '000123456789',
    branchIdentifier: { type: 'ROUTING', value: '021000021' },
    accountType: 'CHECKING',
  },
}
const ukAccount: AccountRules = {
  isIdentifier: text => /^\d{8}$/.test(text),
  identifier: '8 digits',
  branch: { type: 'SORT', isValue: isSortCode, value: 'a sort code of 6 digits' },
  hasType: false,
  example: { accountIdentifier: '55779911', branchIdentifier: { type: 'SORT', value: '200000' } },
}

export const accountRules: Readonly<Record<PayoutMethod, AccountRules>> = {
  'SEPA-CT': iban,
  'SEPA-INSTANT': iban,
  'US-ACH': usAccount,
  'UK-BACS': ukAccount,
  'UK-FAST': ukAccount,
}

/** The kind of a field: pages have a label, a hint and messages for each. */
export type FieldKind = 'name' | 'iban' | 'usAccount' | 'ukAccount' | 'routing' | 'sort' | 'type'

/** A field of the claim form. */
export interface ClaimField {
  /** The member of the claim, such as `branchIdentifier.value`. */
  readonly name: string
  readonly kind: FieldKind
  /** Removes the separators that people type, and returns the text that the API takes. */
  readonly normalize: (text: string) => string
  /** Whether the API takes a normalized text. */
  readonly isValid: (text: string) => boolean
}

const same = (text: string) => text
const withoutSeparators = (text: string) => text.replace(/[\s.-]/g, '')

const nameField: ClaimField = {
  name: 'accountHolderName',
  kind: 'name',
  normalize: text => text.trim(),
  // Characters and not UTF-16 units, as in the schema.
  isValid: text => text !== '' && [...text].length <= MAX_ACCOUNT_HOLDER_NAME,
}
const typeField: ClaimField = {
  name: 'accountType',
  kind: 'type',
  normalize: same,
  isValid: text => ACCOUNT_TYPES.some(type => type === text),
}

/** Returns the fields that a claim of a method requires, in the order of the form. */
export function claimFields(method: PayoutMethod): ClaimField[] {
  const { isIdentifier, branch, hasType } = accountRules[method]
  const fields = [nameField]
  if (branch !== undefined) {
    fields.push({
      name: 'branchIdentifier.value',
      kind: branch.type === 'SORT' ? 'sort' : 'routing',
      normalize: withoutSeparators,
      isValid: branch.isValue,
    })
  }
  const isAnIban = isIdentifier === isSepaIban
  fields.push({
    name: 'accountIdentifier',
    kind: isAnIban ? 'iban' : hasType ? 'usAccount' : 'ukAccount',
    normalize: isAnIban ? text => withoutSeparators(text).toUpperCase() : withoutSeparators,
    isValid: isIdentifier,
  })
  if (hasType) fields.push(typeField)
  return fields
}

/** The problem of a field: empty, or refused by its rule. */
export type Problem = 'missing' | 'invalid'

/** Returns the problem of a text that a person gave for a field; undefined: none. */
export function problemOf({ normalize, isValid }: ClaimField, given: string): Problem | undefined {
  const text = normalize(given)
  if (text === '') return 'missing'
  return isValid(text) ? undefined : 'invalid'
}

/** Masks an account number for storage: the last four characters stay visible, of a short one fewer. */
export function maskAccount(accountIdentifier: string): string {
  const visible = Math.min(4, accountIdentifier.length >> 1)
  const hidden = accountIdentifier.length - visible
  return '*'.repeat(hidden) + accountIdentifier.slice(hidden)
}
