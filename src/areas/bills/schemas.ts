import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { CURRENCIES, REGIONS } from '../../core/regions.js'
import {
  assumeConstraints,
  assumed,
  CalendarDate,
  ListOf,
  Moment,
  named,
  OneOf,
  pageParameters,
  Reference,
  Text,
} from '../../schemas.js'
import { BILL_STATUSES } from './lifecycle.js'

/** The tenant's reference of a bill: the name is documented, the pattern assumed (decisions §9). */
export const UniqueReferenceIdentifier = Type.String({
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

/** The formats that a bill document may have: interface, Limits. */
export const DOCUMENT_TYPES = ['application/pdf', 'image/jpeg', 'image/png'] as const

export const BillDocument = Type.Object({
  documentId: assumed(Type.String()),
  fileName: assumed(Text(1, 255)),
  contentType: assumed(OneOf(...DOCUMENT_TYPES)),
  size: assumed(Type.Integer({ minimum: 1 })),
  sha256: assumed(Type.String({ pattern: '^[0-9a-f]{64}$', 'x-expected': '64 hexadecimal digits in lower case' })),
  uploadedAt: assumed(Moment),
})
export type BillDocument = Static<typeof BillDocument>

/** Which attributes a bill has is documented in part (interface, Other named fields); the rest is decisions §9. */
const given = {
  uniqueReferenceIdentifier: named(UniqueReferenceIdentifier),
  type: named(OneOf(...BILL_TYPES)),
  cashflowType: named(OneOf(...CASHFLOW_TYPES)),
  counterpartyReference: named(Reference),
  currency: assumed(OneOf(...CURRENCIES)),
  totalAmount: assumed(TotalAmount),
  issueDate: Type.Optional(assumed(CalendarDate)),
  dueDate: assumed(CalendarDate),
  description: Type.Optional(assumed(Text(1, 256))),
}

/** POST /api/v1/bills */
export const NewBill = assumeConstraints(Type.Object({ ...given, openAmount: Type.Optional(assumed(OpenAmount)) }))
export type NewBill = Static<typeof NewBill>

export const Bill = assumeConstraints(
  Type.Object({
    ...given,
    openAmount: assumed(OpenAmount),
    status: named(OneOf(...BILL_STATUSES)),
    documents: assumed(Type.Array(BillDocument)),
    createdAt: assumed(Moment),
    updatedAt: assumed(Moment),
  }),
)
export type Bill = Static<typeof Bill>

const updates = {
  status: Type.Optional(named(OneOf(...BILL_STATUSES))),
  openAmount: Type.Optional(assumed(OpenAmount)),
  dueDate: Type.Optional(assumed(CalendarDate)),
}

/** PATCH /api/v1/bills/{uniqueReferenceIdentifier}: what can be updated is documented (interface, Other endpoints). */
export const BillUpdate = Type.Object(updates, { anyOf: Object.keys(updates).map(name => ({ required: [name] })) })
export type BillUpdate = Static<typeof BillUpdate>

/** A bill as fixtures and seeding give it: a request, in any state. The region follows from the currency. */
export const SeedBill = Type.Object({
  ...NewBill.properties,
  status: Type.Optional(Bill.properties.status),
  documents: Type.Optional(Bill.properties.documents),
  createdAt: Type.Optional(Bill.properties.createdAt),
  updatedAt: Type.Optional(Bill.properties.updatedAt),
})
export type SeedBill = Static<typeof SeedBill>

export const BillParams = Type.Object({ uniqueReferenceIdentifier: named(UniqueReferenceIdentifier) })

/** GET /api/v1/bills: the filters are documented, the names of the two bounds of the due date are not. */
export const BillQuery = Type.Object({
  ...pageParameters(assumed),
  status: Type.Optional(named(Type.Array(OneOf(...BILL_STATUSES)))),
  type: Type.Optional(named(OneOf(...BILL_TYPES))),
  cashflowType: Type.Optional(named(OneOf(...CASHFLOW_TYPES))),
  counterpartyReference: Type.Optional(named(Reference)),
  dueDateFrom: Type.Optional(assumed(CalendarDate)),
  dueDateTo: Type.Optional(assumed(CalendarDate)),
})
export type BillQuery = Static<typeof BillQuery>

export const BillList = ListOf(Bill, assumed)

/** The control plane names a region where the same reference exists in several. */
export const BillRegionQuery = { region: Type.Optional(assumed(OneOf(...REGIONS))) }
