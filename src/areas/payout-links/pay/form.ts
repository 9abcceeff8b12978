import { parseForm } from '../../../http/form.js'
import type { ClaimField, Problem } from '../claim-rules.js'
import { claimFields, problemOf } from '../claim-rules.js'
import type { Claim, StoredPayoutLink } from '../schemas.js'
import type { PageAction } from './schemas.js'

/** The form of a page: its text becomes the body, and the body the claim. */

/** Parses a form to the JSON of the same request: `a.b` is the member `b` of `a`, and an empty field is left out. */
export function parsePageForm(form: string): Record<string, unknown> {
  const body: Record<string, unknown> = Object.create(null)
  const branchIdentifier: Record<string, string> = {}
  for (const [name, text] of Object.entries(parseForm(form))) {
    if (text === '') continue
    // A form doubles the characters of a line break (WHATWG HTML §4.10.22.4), which would count twice.
    const value = text.replaceAll('\r\n', '\n')
    const [, member] = /^branchIdentifier\.(type|value)$/.exec(name) ?? []
    if (member === undefined) body[name] = value
    else branchIdentifier[member] = value
  }
  return 'value' in branchIdentifier ? { ...body, branchIdentifier } : body
}

type Link = Pick<StoredPayoutLink, 'payoutMethod' | 'accountHolderName'>

/** Returns the fields that a recipient fills in. A name that the sender has set is shown only. */
const formFields = ({ payoutMethod, accountHolderName }: Link): ClaimField[] =>
  claimFields(payoutMethod).filter(({ kind }) => kind !== 'name' || accountHolderName === undefined)

/** Returns the text of each field of the form, as the recipient gave it. */
export function valuesOf(link: Link, body: PageAction): Record<string, string> {
  const { accountHolderName, accountIdentifier, branchIdentifier, accountType } = body
  const given: Readonly<Record<string, string | undefined>> = {
    accountHolderName,
    accountIdentifier,
    'branchIdentifier.value': branchIdentifier?.value,
    accountType,
  }
  return Object.fromEntries(formFields(link).map(({ name }) => [name, given[name] ?? '']))
}

/** Returns the problems of a form by field. */
export function problemsOf(link: Link, values: Readonly<Record<string, string>>): Record<string, Problem> {
  const problems: Record<string, Problem> = {}
  for (const field of formFields(link)) {
    const problem = problemOf(field, values[field.name] as string)
    if (problem !== undefined) problems[field.name] = problem
  }
  return problems
}

/** Returns the claim of a request, without the separators that people type. It is not checked yet. */
export function toClaim(link: Link, body: PageAction): unknown {
  const { accountHolderName, accountIdentifier, branchIdentifier, accountType } = body
  const normalized = (name: string, text: string | undefined) =>
    text === undefined
      ? undefined
      : (formFields(link)
          .find(field => field.name === name)
          ?.normalize(text) ?? text)
  const claim: { readonly [member in keyof Claim]?: unknown } = {
    accountHolderName: normalized('accountHolderName', accountHolderName) ?? link.accountHolderName,
    accountIdentifier: normalized('accountIdentifier', accountIdentifier),
    branchIdentifier: branchIdentifier && {
      ...branchIdentifier,
      value: normalized('branchIdentifier.value', branchIdentifier.value),
    },
    accountType,
  }
  return Object.fromEntries(Object.entries(claim).filter(([, value]) => value !== undefined))
}
