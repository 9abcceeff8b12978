import { Type } from '@sinclair/typebox'
import type { Label } from '../schemas.js'
import { assumeConstraints, assumed, like, named, OneOf, Text } from '../schemas.js'
import { MAX_ACCOUNT_HOLDER_NAME, MAX_REMARKS } from './identifiers.js'
import type { Region } from './regions.js'

/** A caller's reference: interface, Collection request summary. Its length and pattern are documented for collections only. */
export const Reference = Type.String({
  minLength: 5,
  maxLength: 50,
  pattern: '^[a-zA-Z0-9\\-]+$',
  'x-expected': '5 to 50 letters, digits or hyphens',
})

export const REFERENCE_NOTE =
  'The service documents length and pattern for the records of collections and their filter only.'

/** The caller's reference for a debtor: interface, Collection request summary. */
export const DebtorReference = Text(1, 100)

/** An amount of money, a string on purpose: interface, Collection request summary. */
export const Amount = Type.String({
  pattern: '^[1-9]\\d{0,8}(\\.\\d{1,2})?$',
  'x-expected': 'a decimal string from 1 to 999999999.99 with at most 2 decimals and no leading zeros',
})

export const AccountHolderName = Text(1, MAX_ACCOUNT_HOLDER_NAME)
/** The name of a party, in a request. Records of an earlier release may have others. */
export const Name = Type.String({
  minLength: 1,
  maxLength: MAX_ACCOUNT_HOLDER_NAME,
  'x-format': 'name',
  'x-expected': `a name of 1 to ${MAX_ACCOUNT_HOLDER_NAME} characters`,
})
export const Remarks = Text(1, MAX_REMARKS)
export const EmailAddress = Type.String({
  maxLength: 254,
  pattern: '^[^\\s@]+@[^\\s@]+\\.[^\\s@]+$',
  'x-expected': 'an e-mail address of at most 254 characters',
})

/** How a bank's branch is identified: interface, Other named fields, for counterparties. Elsewhere it is assumed. */
export const branchIdentifier = (label: Label) =>
  assumeConstraints(
    Type.Object({
      type: label(
        OneOf('BIC', 'SORT', 'ROUTING', 'IFSC'),
        'BIC for EUR accounts, SORT for GBP (a sort code of 6 digits), ROUTING for USD, IFSC for INR.',
      ),
      value: assumed(Text(1, 11), 'The identifier itself.'),
    }),
    'required',
  )

/**
 * The mandatory routing header: interface, What the service does.
 * @param label `documented` where the interface states the regions of the operation, `named` elsewhere
 */
export const RegionHeader = <const R extends readonly Region[]>(label: Label, ...regions: R) =>
  Type.Object({
    'x-region': label(
      like(OneOf(...regions), regions[0]),
      'Selects the regional product.',
      label === named
        ? 'The service documents the header and its values EU, IN, US and UK. Which of them the operation takes is assumed.'
        : undefined,
    ),
  })
