import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { CURRENCIES, CURRENCY_OF, REGIONS } from '../../core/domain/regions.js'
import { Reference } from '../../core/domain/schemas.js'
import {
  assumeConstraints,
  assumed,
  CalendarDate,
  ListOf,
  like,
  Moment,
  named,
  OneOf,
  pageParameters,
  Text,
  titled,
} from '../../core/schemas.js'
import { BILL_STATUSES } from './lifecycle.js'

/** The tenant's reference of a bill: the name is documented, the pattern assumed (decisions §9). */
const UniqueReferenceIdentifier = Type.String({
  pattern: '^[A-Za-z0-9_-]{3,64}$',
  'x-expected': '3 to 64 letters, digits, hyphens or underscores',
  'x-error-code': 'INVALID_BILL_REFERENCE',
})

const BILL_TYPES = ['INVOICE', 'CREDIT_NOTE', 'DEBIT_NOTE'] as const
const CASHFLOW_TYPES = ['INFLOW', 'OUTFLOW'] as const

const MONEY = '(0|[1-9]\\d{0,8})(\\.\\d{1,2})?$'
const TotalAmount = Type.String({
  pattern: `^(?!0(\\.0{1,2})?$)${MONEY}`,
  'x-expected': 'a decimal string from 0.01 to 999999999.99 with at most 2 decimals and no leading zeros',
})
const OpenAmount = Type.String({
  pattern: `^${MONEY}`,
  'x-expected': 'a decimal string from 0 to totalAmount with at most 2 decimals and no leading zeros',
})

/** The most documents that a bill takes: each answer with the bill lists them. */
export const MOST_DOCUMENTS = 50

/** The formats that a bill document may have: interface, Limits. */
export const DOCUMENT_TYPES = ['application/pdf', 'image/jpeg', 'image/png'] as const

export const BillDocument = Type.Object(
  {
    documentId: assumed(
      Type.String({ maxLength: 255, 'x-expected': 'a text of at most 255 characters' }),
      'The id that the sandbox gave to the document.',
    ),
    fileName: assumed(Text(1, 255), 'The file name of the upload.'),
    contentType: assumed(OneOf(...DOCUMENT_TYPES), 'The format, by the first bytes of the document.'),
    size: assumed(Type.Integer({ minimum: 1 }), 'The size in bytes.'),
    sha256: assumed(
      Type.String({ pattern: '^[0-9a-f]{64}$', 'x-expected': '64 hexadecimal digits in lower case' }),
      'The SHA-256 digest of the document.',
    ),
    uploadedAt: assumed(Moment, 'When the document was uploaded.'),
  },
  {
    title: 'BillDocument',
    description: 'A document of a bill. Its content is not kept.',
    examples: [
      {
        documentId: 'doc_7f3a9c21',
        fileName: 'invoice.pdf',
        contentType: 'application/pdf',
        size: 48_213,
        sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
        uploadedAt: '{{now}}',
      },
    ],
  },
)
export type BillDocument = Static<typeof BillDocument>

const OPEN_AMOUNT = 'The service documents an open amount; the name and form of the member are assumed.'
const DUE_DATE = 'The service documents a due date; the name and form of the member are assumed.'
const VALUES = 'The service documents the member, but not its values.'
const STATUS = `${VALUES} Assumed: it follows \`openAmount\`. The total is OPEN, less is PARTIALLY_PAID, 0 is PAID. CANCELLED is final.`

/** Which attributes a bill has is documented in part (interface, Other named fields); the rest is decisions §9. */
const given = {
  uniqueReferenceIdentifier: named(UniqueReferenceIdentifier, "The tenant's reference, which identifies the bill."),
  type: named(OneOf(...BILL_TYPES), 'The type of the bill.'),
  cashflowType: named(OneOf(...CASHFLOW_TYPES), 'Whether the tenant is paid (INFLOW) or pays (OUTFLOW).'),
  counterpartyReference: named(
    Reference,
    'The other party.',
    'The service documents the member, but not its length and form. Assumed: an unknown counterparty is created.',
  ),
  currency: assumed(
    OneOf(...CURRENCIES),
    `Must belong to the region: ${REGIONS.map(region => `${region} ${CURRENCY_OF[region]}`).join(', ')}.`,
    'The service mentions a mismatch of region and currency on bills, but no member.',
  ),
  totalAmount: assumed(TotalAmount, 'The total of the bill.'),
  issueDate: Type.Optional(assumed(CalendarDate, 'When the bill was issued.')),
  dueDate: assumed(CalendarDate, 'When the bill is due.', DUE_DATE),
  description: Type.Optional(assumed(Text(1, 256), 'A text on the bill.')),
}

const example = {
  uniqueReferenceIdentifier: 'INV-{{number}}',
  type: 'INVOICE',
  cashflowType: 'INFLOW',
  counterpartyReference: 'CP-ACME-EU-01',
  currency: 'EUR',
  totalAmount: '1190.00',
  issueDate: '{{today}}',
  dueDate: '{{today+P30D}}',
  description: 'Machine rental',
}

/** POST /api/v1/bills */
export const NewBill = assumeConstraints(
  Type.Object(
    {
      ...given,
      openAmount: Type.Optional(assumed(OpenAmount, 'What is still to pay; by default `totalAmount`.', OPEN_AMOUNT)),
    },
    { title: 'BillCreateRequest', examples: [example] },
  ),
)
export type NewBill = Static<typeof NewBill>

export const Bill = assumeConstraints(
  Type.Object(
    {
      ...given,
      openAmount: assumed(OpenAmount, 'What is still to pay.', OPEN_AMOUNT),
      status: named(OneOf(...BILL_STATUSES), 'The state of the bill.', STATUS),
      documents: assumed(Type.Array(BillDocument), 'The documents, in the order of their upload.'),
      createdAt: assumed(Moment, 'When the bill was ingested.'),
      updatedAt: assumed(Moment, 'When the bill was last changed.'),
    },
    {
      title: 'Bill',
      description: 'A bill of the tenant.',
      examples: [
        {
          ...example,
          openAmount: '1190.00',
          status: 'OPEN',
          documents: [],
          createdAt: '{{now}}',
          updatedAt: '{{now}}',
        },
      ],
    },
  ),
)
export type Bill = Static<typeof Bill>

const updates = {
  status: Type.Optional(
    named(
      OneOf(...BILL_STATUSES),
      'The new state of the bill.',
      `${VALUES} Assumed: PAID without \`openAmount\` sets that to 0. It must not contradict \`openAmount\`.`,
    ),
  ),
  openAmount: Type.Optional(assumed(OpenAmount, 'What is still to pay. It sets the status.', OPEN_AMOUNT)),
  dueDate: Type.Optional(assumed(CalendarDate, 'When the bill is due.', DUE_DATE)),
}

/** PATCH /api/v1/bills/{uniqueReferenceIdentifier}: the interface documents its members (Other endpoints). */
export const BillUpdate = Type.Object(updates, {
  title: 'BillUpdateRequest',
  description: 'At least one of the members.',
  anyOf: Object.keys(updates).map(name => ({ required: [name] })),
  examples: [{ status: 'PARTIALLY_PAID', openAmount: '190.00' }],
})
export type BillUpdate = Static<typeof BillUpdate>

/** A bill as fixtures and seeding give it: a request, in any state. The region follows from the currency. */
export const SeedBill = titled(
  'SeedBill',
  Type.Object({
    ...NewBill.properties,
    ...Type.Partial(Type.Pick(Bill, ['status', 'documents', 'createdAt', 'updatedAt'])).properties,
  }),
)
export type SeedBill = Static<typeof SeedBill>

export const BillParams = Type.Object({
  uniqueReferenceIdentifier: named(
    like(UniqueReferenceIdentifier, 'INV-ACME-2001'),
    "The tenant's reference of the bill. A slash is a path separator, also as `%2F`: 404.",
  ),
})

const DUE_DATE_RANGE = 'The service documents a filter by due-date range, but not its parameters.'

const PAGES = 'The service documents that the list has pages, but not its parameters and members.'

/** GET /api/v1/bills: the filters are documented, the names of the two bounds of the due date are not. */
export const BillQuery = Type.Object({
  ...pageParameters(assumed, PAGES),
  status: Type.Optional(named(Type.Array(OneOf(...BILL_STATUSES)), 'Bills in any of these states.')),
  type: Type.Optional(named(OneOf(...BILL_TYPES), 'Bills of this type.')),
  cashflowType: Type.Optional(named(OneOf(...CASHFLOW_TYPES), 'Bills in this direction.')),
  counterpartyReference: Type.Optional(named(Reference, 'Bills of this counterparty.')),
  dueDateFrom: Type.Optional(assumed(CalendarDate, 'Bills due on this day or later.', DUE_DATE_RANGE)),
  dueDateTo: Type.Optional(assumed(CalendarDate, 'Bills due on this day or earlier.', DUE_DATE_RANGE)),
})
export type BillQuery = Static<typeof BillQuery>

export const BillList = ListOf('BillListEnvelope', Bill, assumed, PAGES)

/** The body of an upload, which the multipart parser takes apart; for the OpenAPI document. */
export const BillDocumentUpload = Type.Object(
  {
    file: assumed(
      Type.String({ format: 'binary' }),
      'A PDF, JPEG or PNG of at most 10 MiB.',
      'The service documents the formats. The name of the part and the size are assumed.',
    ),
  },
  { title: 'BillDocumentUpload' },
)
