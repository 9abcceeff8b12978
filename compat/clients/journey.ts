/** The journey with openapi-fetch and the types of openapi-typescript. */
import assert from 'node:assert/strict'
import createClient from 'openapi-fetch'
import type { components, paths } from './build/api.js'

type Schemas = components['schemas']

const {
  BASE_URL = 'http://127.0.0.1:8080',
  CLIENT_ID = 'sandbox-client',
  CLIENT_SECRET = 'sandbox-secret',
} = process.env
const PDF = '%PDF-1.4\n%%EOF\n'
const header = { 'x-region': 'EU' } as const

const client = createClient<paths>({ baseUrl: BASE_URL })

/** Returns the body of a success. Throws if the answer is an error. */
function unwrap<T>({ data, error, response }: { data?: T; error?: unknown; response: Response }): T {
  if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(error)}`)
  return data as T
}

/** The members of a list that paging needs. */
interface Page<T> {
  data: T[]
  nextCursor?: string | null
}

/** Yields the records of all pages of a list. */
async function* pages<T>(load: (cursor: { cursor?: string }) => Promise<Page<T>>) {
  let cursor: string | null | undefined
  do {
    const page = await load(cursor ? { cursor } : {})
    yield* page.data
    cursor = page.nextCursor
  } while (cursor)
}

async function count(records: AsyncIterable<unknown>) {
  let total = 0
  for await (const _ of records) total++
  return total
}

const token = unwrap(
  await client.POST('/api/v1/oauth/token', {
    body: { grant_type: 'client_credentials', client_id: CLIENT_ID, client_secret: CLIENT_SECRET },
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  }),
)
client.use({
  onRequest({ request }) {
    request.headers.set('authorization', `Bearer ${token.access_token}`)
  },
})

// The types refuse wrong input.
// @ts-expect-error An amount is a string.
49.9 satisfies Schemas['CollectionCreateRequest']['amount']

// A mandate. A second one of the same reference is refused.
const newMandate: Schemas['MandateCreateRequest'] = {
  mandateReference: 'MND-0001',
  type: 'RECURRING',
  creditor: { name: 'Acme GmbH', bankIdentifier: { type: 'CREDITOR_IDENTIFIER', value: 'DE98ZZZ09999999999' } },
  debtor: { name: 'Jane Doe', iban: 'DE89370400440532013000' },
}
unwrap(await client.POST('/api/v1/mandates', { params: { header }, body: newMandate }))
const duplicate = await client.POST('/api/v1/mandates', { params: { header }, body: newMandate })
assert.equal(duplicate.error?.code, 'DUPLICATE_REFERENCE')
const path = { mandateReference: newMandate.mandateReference }
const mandate = unwrap(await client.GET('/api/v1/mandates/{mandateReference}', { params: { header, path } }))
assert.equal(mandate.status, 'ACTIVE')

// A collection under the mandate, and all collections by pages.
unwrap(
  await client.POST('/api/v1/direct-debit', {
    params: { header },
    body: {
      collectionReference: 'COL-0001',
      mandateReference: mandate.mandateReference,
      amount: '49.90',
      currency: 'EUR',
      collectionDate: '2030-01-14',
    },
  }),
)
const collection = unwrap(
  await client.GET('/api/v1/direct-debit/{collectionReference}', {
    params: { header, path: { collectionReference: 'COL-0001' } },
  }),
)
assert.equal(collection.status, 'PENDING')
const collections = pages(async cursor =>
  unwrap(await client.GET('/api/v1/direct-debit', { params: { header, query: { limit: 30, ...cursor } } })),
)
assert.equal(await count(collections), 69)

// The end of the mandate, and all mandates by pages.
const cancelled = unwrap(await client.DELETE('/api/v1/mandates/{mandateReference}', { params: { header, path } }))
assert.equal(cancelled.status, 'CANCELLED')
const mandates = pages(async cursor =>
  unwrap(await client.GET('/api/v1/mandates', { params: { header, query: { limit: 10, ...cursor } } })),
)
assert.equal(await count(mandates), 18)

// A payout link, and its cancellation. `uiMode` has a default: the type does not require it.
const link: Schemas['PayoutLinkCreateRequest'] = { amount: '75.00', currency: 'EUR', payoutMethod: 'SEPA-INSTANT' }
const { payoutLinkId } = unwrap(
  await client.POST('/api/v1/payout-links', {
    params: { header },
    body: { ...link, uiMode: 'embedded', expiryPeriod: 'pt12h' },
  }),
)
unwrap(
  await client.PATCH('/api/v1/payout-links/{payoutLinkId}/cancel', {
    params: { header, path: { payoutLinkId } },
    body: { cancellationComment: 'Paid in cash instead' },
  }),
)

// A bill with a document and a payment, and the bills that are not paid.
const { uniqueReferenceIdentifier } = unwrap(
  await client.POST('/api/v1/bills', {
    params: { header },
    body: {
      uniqueReferenceIdentifier: 'INV-0001',
      type: 'INVOICE',
      cashflowType: 'INFLOW',
      counterpartyReference: 'CP-ACME-EU-01',
      currency: 'EUR',
      totalAmount: '1190.00',
      dueDate: '2030-02-07',
    },
  }),
)
const bill = { header, path: { uniqueReferenceIdentifier } }
const document = unwrap(
  await client.POST('/api/v1/bills/{uniqueReferenceIdentifier}/document', {
    params: bill,
    body: { file: PDF },
    bodySerializer({ file }) {
      const form = new FormData()
      form.set('file', new Blob([file], { type: 'application/pdf' }), 'invoice.pdf')
      return form
    },
  }),
)
assert.equal(document.size, PDF.length)
unwrap(
  await client.PATCH('/api/v1/bills/{uniqueReferenceIdentifier}', { params: bill, body: { openAmount: '190.00' } }),
)
const paid = unwrap(await client.GET('/api/v1/bills/{uniqueReferenceIdentifier}', { params: bill }))
assert.equal(paid.status, 'PARTIALLY_PAID')
const open = unwrap(
  await client.GET('/api/v1/bills', { params: { header, query: { status: ['OPEN', 'PARTIALLY_PAID'] } } }),
)
assert.equal(open.data[0]?.uniqueReferenceIdentifier, 'INV-0001')
const missing = await client.GET('/api/v1/bills/{uniqueReferenceIdentifier}', {
  params: { header, path: { uniqueReferenceIdentifier: 'INV-0000' } },
})
assert.equal(missing.error?.code, 'BILL_NOT_FOUND')

// The details of a counterparty, and the accounts.
const counterparty = unwrap(
  await client.PATCH('/api/v1/counterparties/{counterpartyReference}', {
    params: { header, path: { counterpartyReference: 'CP-ACME-EU-01' } },
    body: { emailAddress: 'billing@brunnwald.example' },
  }),
)
assert.equal(counterparty.emailAddress, 'billing@brunnwald.example')
const accounts = unwrap(await client.GET('/api/v1/accounts', { params: { header } }))
assert.equal(accounts.totalCount, 2)
