import { parseForm } from '../../../http/form.js'
import type { ClaimField, Problem } from '../claim-rules.js'
import { claimRules, problemOf } from '../claim-rules.js'
import type { StoredPayoutLink } from '../schemas.js'
import type { PageAction } from './schemas.js'
import type { Refused } from './views/page-of-link.js'

/** The form of a page: its text becomes the body, and the body the claim. */

/** Parses a form to the JSON of the same request. An empty field is left out. */
export function parsePageForm(form: string): Record<string, unknown> {
  const body: Record<string, unknown> = Object.create(null)
  for (const [name, text] of Object.entries(parseForm(form))) {
    if (text === '') continue
    // A form doubles the characters of a line break (WHATWG HTML §4.10.22.4), which would count twice.
    const value = text.replaceAll('\r\n', '\n')
    if (name === 'branchIdentifier.value') body.branchIdentifier = { value }
    else body[name] = value
  }
  return body
}

type Link = Pick<StoredPayoutLink, 'payoutMethod' | 'accountHolderName'>

/** Returns the fields that a recipient fills in. A name that the sender has set is shown only. */
const formFields = ({ payoutMethod, accountHolderName }: Link): ClaimField[] =>
  claimRules[payoutMethod].fields.filter(({ kind }) => kind !== 'name' || accountHolderName === undefined)

/** Returns the texts of a request by the names of their fields. */
const textsOf = ({ accountHolderName, accountIdentifier, branchIdentifier, accountType }: PageAction) => {
  const texts: Record<string, string | undefined> = {
    accountHolderName,
    accountIdentifier,
    'branchIdentifier.value': branchIdentifier?.value,
    accountType,
  }
  return texts
}

/** Returns the values and problems of a form, or undefined if it has no problem. */
export function refusedForm(link: Link, body: PageAction): Refused | undefined {
  const texts = textsOf(body)
  const fields = formFields(link).map(field => [field, texts[field.name] ?? ''] as const)
  const problems: Record<string, Problem> = {}
  for (const [field, text] of fields) {
    const problem = problemOf(field, text)
    if (problem !== undefined) problems[field.name] = problem
  }
  if (Object.keys(problems).length === 0) return undefined
  return { values: Object.fromEntries(fields.map(([{ name }, text]) => [name, text])), problems }
}

/** Returns the claim of a request, without the separators that people type. It is not checked yet. */
export function toClaim(link: Link, body: PageAction): object {
  const texts = textsOf(body)
  for (const { name, normalize } of formFields(link)) {
    const text = texts[name]
    if (text !== undefined) texts[name] = normalize(text)
  }
  const { accountHolderName = link.accountHolderName, 'branchIdentifier.value': value, ...others } = texts
  const type = claimRules[link.payoutMethod].branchType
  const branchIdentifier = body.branchIdentifier && { type, ...body.branchIdentifier, value }
  const claim = { accountHolderName, ...others, branchIdentifier }
  return Object.fromEntries(Object.entries(claim).filter(([, given]) => given !== undefined))
}
