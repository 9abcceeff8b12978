import type { Har, HarEntry } from './capture.js'

// What the real service might do in another way: changes of single answers in the capture of the journey.

type Json = Record<string, unknown>
/** Changes an entry. The capture is the unchanged one. */
type Change = (entry: HarEntry, capture: Har) => void

export const bodyOf = ({ response }: HarEntry) => JSON.parse(response.content.text as string) as Json
export function setBody({ response }: HarEntry, body: unknown) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  response.content = { size: Buffer.byteLength(text), mimeType: 'application/json', text }
}

/** Changes the members of an answer; undefined leaves one out. */
export const set =
  (members: Json): Change =>
  entry =>
    setBody(entry, { ...bodyOf(entry), ...members })

/** Changes the members of a record in a list, by its reference. */
export const inList =
  (reference: string, members: Json): Change =>
  entry => {
    const { data, ...page } = bodyOf(entry) as { data: Json[] }
    const changed = data.map(record => (Object.values(record).includes(reference) ? { ...record, ...members } : record))
    setBody(entry, { ...page, data: changed })
  }

export const status =
  (code: number): Change =>
  ({ response }) => {
    response.status = code
  }

export const header =
  (name: string, value?: string): Change =>
  ({ response }) => {
    response.headers = response.headers.filter(header => header.name !== name)
    if (value !== undefined) response.headers.push({ name, value })
  }

const all =
  (...changes: Change[]): Change =>
  (entry, capture) => {
    for (const change of changes) change(entry, capture)
  }

export const answer = (code: number, body: unknown): Change => all(status(code), entry => setBody(entry, body))
export const refused = (code: number, error: string, field: string | null = null): Change =>
  answer(code, { code: error, field, message: 'No.' })

/** The answers of the journey that others take over. */
const ANSWERS = {
  collection: 'POST /direct-debit 201',
  mandate: 'POST /mandates 201',
  cancelled: 'DELETE /mandates/MND-GONE 200',
  link: 'POST /payout-links 201',
  bill: 'POST /bills 201',
}
type Kind = keyof typeof ANSWERS
const recordOf = (kind: Kind, capture: Har) => bodyOf(find(capture, ANSWERS[kind]))

/** Accepts a refused creation: answers the record of another one with the members that were sent. */
export const created =
  (kind: Kind, changed: Json = {}): Change =>
  (entry, capture) => {
    const record = recordOf(kind, capture)
    const sent: Json = JSON.parse(entry.request.postData?.text ?? '{}')
    const echo = Object.fromEntries(Object.entries(sent).filter(([name]) => name in record))
    const body: Json = { ...record, ...echo, ...changed }
    all(answer(201, body), header('location', `/api/v1/x/${body.collectionReference ?? body.mandateReference}`))(
      entry,
      capture,
    )
  }

/** Answers 200 with a record that the journey has shown. */
export const shown =
  (kind: Kind, changed: Json = {}): Change =>
  (entry, capture) =>
    answer(200, { ...recordOf(kind, capture), ...changed })(entry, capture)

const reversed: Change = (entry, capture) => set({ data: (bodyOf(entry).data as Json[]).toReversed() })(entry, capture)
export const noContent: Change = all(status(204), entry => setBody(entry, ''))
const limitedTo =
  (limit: number): Change =>
  ({ request }) => {
    request.url = request.url.replace(/limit=\d+/, `limit=${limit}`)
  }

export const EMPTY = { totalCount: 0, hasMore: false, nextCursor: null, data: [] }
const TOKEN = { access_token: 'x', expires_in: 3600, scope: 'payments', token_type: 'Bearer' }
const DEBTOR = { debtor: { name: 'J', iban: 'DE89370400440532013000' } }
const UNNAMED = { debtorReference: undefined }
const UK = { uniqueReferenceIdentifier: 'INV-UK', currency: 'GBP' }
const asPage = all(entry => setBody(entry, '<html>'), header('content-type', 'text/html'))
const challenge = header('www-authenticate', 'Bearer error="invalid_token"')
const expired = all(refused(401, 'EXPIRED_TOKEN', 'authorization'), challenge)
const ofAllRegions: Change = (entry, capture) => {
  const data = ['GET /accounts?currency=USD 200', 'GET /accounts 200'].flatMap(line => bodyOf(find(capture, line)).data)
  setBody(entry, { ...EMPTY, totalCount: 2, data })
}

/** All texts of an entry. */
const textOf = ({ request, response }: HarEntry) =>
  [
    ...[...request.headers, ...response.headers].map(({ name, value }) => `${name}: ${value}`),
    request.postData?.text,
    response.content.text,
  ].join('\n')

/**
 * Finds an entry by `METHOD /path STATUS`. The path is that below `/api/v1`, and `*` stands for any segment. A text of the
 * entry may follow, or `last`.
 */
export function find({ log }: Har, line: string): HarEntry {
  const [, method, path = '', code, text = ''] = /^(\S+) (\S+) (\d+) ?(.*)$/.exec(line) as string[]
  const escaped = path.replace(/[.?[\]]/g, '\\$&').replaceAll('*', '[^/]+')
  const pattern = new RegExp(`/api/v1${escaped}$`)
  const found = log.entries.filter(
    entry =>
      entry.request.method === method &&
      pattern.test(entry.request.url) &&
      entry.response.status === Number(code) &&
      (text === 'last' || textOf(entry).includes(text)),
  )
  const entry = text === 'last' ? found.at(-1) : found[0]
  if (entry === undefined) throw new Error(`no entry ${line}`)
  return entry
}

/** A row: the capture that has the change, its name, its entry (`find`), and the label of the statement that it breaks. */
export type Mutation = readonly [capture: number, name: string, line: string, change: Change, label?: 'documented']

/** The changes, by the capture that has them: those of one record hide each other, and several of one kind are one difference. */
export const MUTATIONS: readonly Mutation[] = [
  [0, '200 for a creation', 'POST /mandates 201', status(200)],
  [0, '202 for a cancellation', 'DELETE /mandates/MND-GONE 200', status(202)],
  [0, '203 for a list', 'GET /accounts 200', status(203)],
  [0, '204 content', 'PATCH /payout-links/*/cancel 204', all(status(200), entry => setBody(entry, {})), 'documented'],
  [0, 'another code', 'POST /mandates 409', set({ code: 'MANDATE_EXISTS' })],
  [0, 'a code with 422', 'POST /mandates 400 WEEKLY', status(422)],
  [0, 'a code of another refusal', 'POST /direct-debit 409 MND-GONE', set({ code: 'MANDATE_ALREADY_USED' })],
  [0, 'an HTML page', 'GET /mandates/MND-NONE 404', entry => setBody(entry, '<html>Not found</html>')],
  [0, '401 without a challenge', 'GET /mandates 401', header('www-authenticate')],
  [0, 'a challenge of 400', 'GET /mandates?limit=0 400', header('www-authenticate', 'Bearer')],
  [0, 'another member in a list', 'GET /direct-debit 200', inList('COL-0001', { fees: '1' })],
  [0, 'no nextCursor for the next page', 'GET /direct-debit?limit=2 200', set({ nextCursor: null }), 'documented'],
  [0, 'the oldest mandate first', 'GET /mandates 200 last', reversed],
  [0, 'a spelling', 'GET /mandates?status=ACTIVE,CANCELLED 200', refused(400, 'INVALID_QUERY_PARAMETER', 'status')],
  [0, 'an empty parameter', 'GET /mandates?limit= 400', answer(200, EMPTY)],
  [0, 'a repeated parameter', 'GET /mandates?limit=1&limit=2 400', answer(200, EMPTY)],
  [0, 'a larger limit', 'GET /direct-debit?limit=501 400', answer(200, EMPTY)],
  [0, 'a smaller limit', 'GET /direct-debit?limit=500 200', refused(400, 'INVALID_QUERY_PARAMETER', 'limit')],
  [
    0,
    'a returned collection that is settled',
    'GET /direct-debit/COL-RETURN 200 last',
    set({ status: 'SETTLED', reasonCode: undefined, updatedAt: '2026-11-09T13:00:00Z' }),
  ],
  [0, 'a cancelled bill that is paid', 'GET /bills/INV-2026-001 200 last', set({ status: 'PAID' })],
  [
    0,
    'a collection that is submitted at once',
    'POST /direct-debit 201 COL-LAST',
    set({ status: 'SUBMITTED', updatedAt: '2026-11-05T15:00:00Z' }),
  ],
  [
    0,
    'a ONE_OFF mandate with a frequency',
    'POST /mandates 400 frequency goes only',
    created('mandate', { signatureDate: '2026-11-02' }),
  ],
  [0, 'region GB', 'POST /payout-links 400 US-ACH', created('link')],
  [0, 'two collections of a ONE_OFF mandate', 'POST /direct-debit 409 COL-TWICE', created('collection', UNNAMED)],
  [0, 'a higher limit of UK-FAST', 'POST /payout-links 400 1000000.01', created('link')],
  [0, 'a JSON token request', 'POST /oauth/token 415', answer(200, TOKEN)],
  [0, 'a bill of another region', 'GET /bills/INV-UK 404', shown('bill', UK)],
  [0, 'a refused bill', 'POST /bills 201 "INV-2"', refused(400, 'INVALID_FIELD')],
  [0, 'a member that changes', 'GET /direct-debit/COL-FAIL 200', set({ debtorName: 'JANE DOE' })],
  [0, 'a member in another form', 'PATCH /counterparties/CPTY-0001 200', set({ remarks: 'MONTHLY' })],
  [0, 'a shorter life of tokens', 'POST /oauth/token 200 last', set({ expires_in: 300 })],
  [0, 'another token type', 'POST /oauth/token 200', set({ token_type: 'bearer' })],
  [0, 'an expired token', 'GET /mandates 401 last', answer(200, EMPTY)],
  [0, 'another path of links', 'POST /payout-links 201', refused(404, 'ROUTE_NOT_FOUND')],
  [0, 'a read of links', 'GET /payout-links/* 404', answer(200, {})],
  [0, '400 for a slash', 'GET /mandates/MND/0001 404', refused(400, 'INVALID_FIELD')],
  [0, '404 for a broken pattern', 'GET /mandates/MND_0001 400', refused(404, 'MANDATE_NOT_FOUND')],
  [0, '404 for another method', 'PUT /mandates 405', refused(404, 'ROUTE_NOT_FOUND')],
  [0, 'Deprecation of RFC 9745', 'GET /direct-debit 200 deprecation: true', header('deprecation', '@1790000000')],
  [0, 'no Location', 'POST /bills 201', header('location')],
  [1, 'errors without field', 'POST /mandates 409', set({ field: undefined })],
  [1, 'a pointer as field', 'POST /mandates 400 WEEKLY', set({ field: '/type' })],
  [1, '429 without Retry-After', 'GET /accounts 200', refused(429, 'RATE_LIMITED')],
  [1, 'a missing member', 'GET /mandates/MND-0001 200', set({ debtor: undefined })],
  [1, 'another state of a collection', 'GET /direct-debit/COL-0001 200', set({ status: 'ACCEPTED' })],
  [1, 'a list without a count', 'GET /direct-debit 200', set({ totalCount: undefined })],
  [1, 'a page above the limit', 'GET /direct-debit?limit=2 200', limitedTo(1)],
  [1, 'a collection of a cancelled mandate', 'GET /direct-debit/COL-LATER 200 last', set({ status: 'PENDING' })],
  [1, 'a reason of another phase', 'GET /direct-debit/COL-RETURN 200', set({ reasonCode: 'AC01' })],
  [1, 'a mandate that stays active', 'DELETE /mandates/MND-GONE 200', set({ status: 'ACTIVE' }), 'documented'],
  [
    1,
    'a reference that changes',
    'PATCH /counterparties/CPTY-0001 200',
    set({ counterpartyReference: 'CPTY-0002' }),
    'documented',
  ],
  [1, 'a bill that stays open', 'PATCH /bills/INV-2026-001 200', set({ status: 'OPEN' })],
  [1, 'a mandate without a creditor', 'POST /mandates 400 creditor is required', created('mandate')],
  [1, 'a short embedded link', 'POST /payout-links 400 PT5M', created('link', { expiresAt: '2026-11-02T09:07:00Z' })],
  [1, 'a refused unknown member', 'POST /mandates 201 colour', refused(400, 'INVALID_FIELD', 'colour')],
  [1, 'expires_in as text', 'POST /oauth/token 200 last', set({ expires_in: '3600' })],
  [1, 'another scope', 'POST /oauth/token 200', set({ scope: 'payments:write' })],
  [1, 'an accepted trailing slash', 'GET /mandates/ 404', answer(200, EMPTY)],
  [1, 'RFC 8594 Sunset', 'GET /direct-debit 200 deprecation: true', header('sunset', 'Wed, 30 Jun 2027 00:00:00 GMT')],
  [2, 'errors in an object', 'POST /mandates 409', entry => setBody(entry, { error: bodyOf(entry) })],
  [2, 'another member', 'GET /mandates/MND-0001 200', set({ tenant: 'x' })],
  [2, 'times with an offset', 'GET /direct-debit/COL-0001 200', set({ initiatedAt: '2026-11-02T10:00:00+01:00' })],
  [2, 'no nextCursor at the end', 'GET /direct-debit 200', set({ nextCursor: undefined })],
  [
    2,
    'a paid bill with an amount',
    'PATCH /bills/INV-2026-001 200 {"status":"PAID"}',
    set({ status: 'PARTIALLY_PAID', openAmount: '190.00' }),
  ],
  [2, 'another type of mandate', 'POST /mandates 400 WEEKLY', created('mandate', { type: 'RECURRING' })],
  [2, 'an IBAN with wrong check digits', 'POST /mandates 400 DE00', created('mandate', DEBTOR)],
  [2, 'a collection under a cancelled mandate', 'POST /direct-debit 409 COL-GONE', created('collection', UNNAMED)],
  [2, 'two cancellations of a link', 'PATCH /payout-links/*/cancel 409', noContent],
  [2, 'an account without an IBAN', 'GET /accounts 200', inList('ACC-EUR-01', { accountIdentifier: '532013000' })],
  [2, 'a refresh token', 'POST /oauth/token 200', set({ refresh_token: 'r' })],
  [3, 'another state of a mandate', 'GET /mandates/MND-0001 200', set({ status: 'SUSPENDED' })],
  [3, 'dates of another form', 'GET /direct-debit/COL-0001 200', set({ collectionDate: '09/11/2026' })],
  [3, 'the oldest first', 'GET /direct-debit 200', reversed],
  [3, 'a request without x-region', 'POST /mandates 400 x-region is required', created('mandate')],
  [3, 'two cancellations of a mandate', 'DELETE /mandates/MND-GONE 409', shown('cancelled')],
  [
    3,
    'an update of a cancelled bill',
    'PATCH /bills/INV-2026-001 409 2026-12-25',
    shown('bill', { status: 'CANCELLED', dueDate: '2026-12-25' }),
  ],
  [3, 'a longer lifetime', 'POST /payout-links 201', set({ expiryPeriod: 'P30D', expiresAt: '2026-12-02T09:02:00Z' })],
  [
    3,
    'a sort code of a EUR account',
    'GET /accounts 200',
    inList('ACC-EUR-01', { branchIdentifier: { type: 'SORT', value: '200000' } }),
  ],
  [3, 'a token that caches keep', 'POST /oauth/token 200', header('cache-control')],
  [4, 'times with fractions', 'GET /mandates/MND-0001 200', set({ createdAt: '2026-11-02T09:00:00.000Z' })],
  [4, 'amounts as numbers', 'GET /direct-debit/COL-0001 200', set({ amount: 10.5 })],
  [4, 'a count of the page', 'GET /direct-debit 200', set({ totalCount: 3 }), 'documented'],
  [4, 'a refusal as a page', 'POST /mandates 409', asPage, 'documented'],
  [4, 'a link in another currency', 'POST /payout-links 201 UK-BACS', set({ currency: 'EUR' })],
  [4, 'another end of a link', 'POST /payout-links 201', set({ expiresAt: '2026-11-10T00:00:00Z' })],
  [4, 'a token that ends early', 'GET /accounts 200', expired],
  [5, 'a mandate in the region US', 'POST /mandates 400 x-region: US', created('mandate'), 'documented'],
  [5, 'amounts with three decimals', 'GET /direct-debit/COL-0001 200', set({ amount: '10.500' })],
  [5, 'a pending mandate', 'POST /mandates 201', set({ status: 'PENDING' })],
  [5, 'no x-request-id', 'GET /accounts 200', header('x-request-id')],
  [5, 'a Location of a link', 'POST /payout-links 201', header('location', '/api/v1/payout-links/x')],
  [
    6,
    'an ignored filter',
    'GET /direct-debit?status=SETTLED 200',
    (entry, capture) => setBody(entry, { ...EMPTY, totalCount: 1, data: [recordOf('collection', capture)] }),
  ],
  [
    6,
    'a settled collection in process',
    'GET /direct-debit/COL-0001 200 last',
    set({ status: 'PROCESSING', updatedAt: '2026-11-06T08:00:00Z' }),
  ],
  [6, 'an amount as a number', 'POST /direct-debit 400 "amount":10.5', created('collection', { amount: '10.50' })],
  [6, 'an early date', 'POST /direct-debit 400 COL-X', created('collection')],
  [6, 'a refused closed day', 'POST /direct-debit 201 COL-MOVED', refused(400, 'INVALID_FIELD', 'collectionDate')],
  [6, 'a later date', 'POST /direct-debit 201 COL-NAMED', refused(400, 'COLLECTION_DATE_TOO_EARLY', 'collectionDate')],
  [6, 'a required debtorName', 'POST /direct-debit 201 COL-RETURN', refused(400, 'MISSING_FIELD', 'debtorName')],
  [7, 'early submission', 'GET /direct-debit?limit=500 200', inList('COL-0001', { updatedAt: '2026-11-05T10:00:00Z' })],
  [7, 'a missing day', 'POST /direct-debit 400 2026-11-31', created('collection', { collectionDate: '2026-12-01' })],
  [8, 'a reason of a pending collection', 'GET /direct-debit/COL-0001 200', set({ reasonCode: 'AM04' })],
  [8, 'a record that comes late', 'GET /mandates/MND-0001 200', refused(404, 'MANDATE_NOT_FOUND', 'mandateReference')],
  [9, 'another creation', 'GET /mandates/MND-GONE 200', set({ createdAt: '2026-11-02T09:00:30Z' })],
  [9, 'a failed collection that is settled', 'GET /direct-debit/COL-FAIL 200 last', set({ status: 'SETTLED' })],
  [9, 'an account of another region', 'GET /accounts?currency=USD 200', ofAllRegions],
  [9, 'a link of another region', 'PATCH /payout-links/*/cancel 404', noContent],
  [10, 'the debtor of a list', 'GET /mandates 200 last', inList('MND-0001', DEBTOR)],
  [11, 'a second collection of a reference', 'POST /direct-debit 409 x-request-id: no-key', created('collection')],
  [12, 'an idempotent request', 'POST /direct-debit 409 key-1', created('collection')],
]
