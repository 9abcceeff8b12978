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

/** A row: the name of the change, its entry (`find`), and the label of the statement that it breaks. */
export type Mutation = readonly [name: string, line: string, change: Change, label?: 'documented']

export const MUTATIONS: readonly Mutation[] = [
  ['200 for a creation', 'POST /mandates 201', status(200)],
  ['202 for a cancellation', 'DELETE /mandates/MND-GONE 200', status(202)],
  ['203 for a list', 'GET /accounts 200', status(203)],
  ['204 content', 'PATCH /payout-links/*/cancel 204', all(status(200), entry => setBody(entry, {})), 'documented'],
  ['another code', 'POST /mandates 409', set({ code: 'MANDATE_EXISTS' })],
  ['a code with 422', 'POST /mandates 400 WEEKLY', status(422)],
  ['a code of another refusal', 'POST /direct-debit 409 MND-GONE', set({ code: 'MANDATE_ALREADY_USED' })],
  ['an HTML page', 'GET /mandates/MND-NONE 404', entry => setBody(entry, '<html>Not found</html>')],
  ['401 without a challenge', 'GET /mandates 401', header('www-authenticate')],
  ['a challenge of 400', 'GET /mandates?limit=0 400', header('www-authenticate', 'Bearer')],
  ['another member in a list', 'GET /direct-debit 200', inList('COL-0001', { fees: '1' })],
  ['no nextCursor for the next page', 'GET /direct-debit?limit=2 200', set({ nextCursor: null }), 'documented'],
  ['the oldest mandate first', 'GET /mandates 200 last', reversed],
  ['a spelling', 'GET /mandates?status=ACTIVE,CANCELLED 200', refused(400, 'INVALID_QUERY_PARAMETER', 'status')],
  ['an empty parameter', 'GET /mandates?limit= 400', answer(200, EMPTY)],
  ['a repeated parameter', 'GET /mandates?limit=1&limit=2 400', answer(200, EMPTY)],
  ['a larger limit', 'GET /direct-debit?limit=501 400', answer(200, EMPTY)],
  ['a smaller limit', 'GET /direct-debit?limit=500 200', refused(400, 'INVALID_QUERY_PARAMETER', 'limit')],
  [
    'a returned collection that is settled',
    'GET /direct-debit/COL-RETURN 200 last',
    set({ status: 'SETTLED', reasonCode: undefined, updatedAt: '2026-11-09T13:00:00Z' }),
  ],
  ['a cancelled bill that is paid', 'GET /bills/INV-2026-001 200 last', set({ status: 'PAID' })],
  [
    'a collection that is submitted at once',
    'POST /direct-debit 201 COL-LAST',
    set({ status: 'SUBMITTED', updatedAt: '2026-11-05T15:00:00Z' }),
  ],
  [
    'a ONE_OFF mandate with a frequency',
    'POST /mandates 400 frequency goes only',
    created('mandate', { signatureDate: '2026-11-02' }),
  ],
  ['region GB', 'POST /payout-links 400 US-ACH', created('link')],
  ['two collections of a ONE_OFF mandate', 'POST /direct-debit 409 COL-TWICE', created('collection', UNNAMED)],
  ['a higher limit of UK-FAST', 'POST /payout-links 400 1000000.01', created('link')],
  ['a JSON token request', 'POST /oauth/token 415', answer(200, TOKEN)],
  ['a bill of another region', 'GET /bills/INV-UK 404', shown('bill', UK)],
  ['a refused bill', 'POST /bills 201 "INV-2"', refused(400, 'INVALID_FIELD')],
  ['a member that changes', 'GET /direct-debit/COL-FAIL 200', set({ debtorName: 'JANE DOE' })],
  ['a member in another form', 'PATCH /counterparties/CPTY-0001 200', set({ remarks: 'MONTHLY' })],
  ['a shorter life of tokens', 'POST /oauth/token 200 last', set({ expires_in: 300 })],
  ['another token type', 'POST /oauth/token 200', set({ token_type: 'bearer' })],
  ['an expired token', 'GET /mandates 401 last', answer(200, EMPTY)],
  ['another path of links', 'POST /payout-links 201', refused(404, 'ROUTE_NOT_FOUND')],
  ['a read of links', 'GET /payout-links/* 404', answer(200, {})],
  ['400 for a slash', 'GET /mandates/MND/0001 404', refused(400, 'INVALID_FIELD')],
  ['404 for a broken pattern', 'GET /mandates/MND_0001 400', refused(404, 'MANDATE_NOT_FOUND')],
  ['404 for another method', 'PUT /mandates 405', refused(404, 'ROUTE_NOT_FOUND')],
  ['Deprecation of RFC 9745', 'GET /direct-debit 200 deprecation: true', header('deprecation', '@1790000000')],
  ['no Location', 'POST /bills 201', header('location')],
  ['errors without field', 'POST /mandates 409', set({ field: undefined })],
  ['a pointer as field', 'POST /mandates 400 WEEKLY', set({ field: '/type' })],
  ['429 without Retry-After', 'GET /accounts 200', refused(429, 'RATE_LIMITED')],
  ['a missing member', 'GET /mandates/MND-0001 200', set({ debtor: undefined })],
  ['another state of a collection', 'GET /direct-debit/COL-0001 200', set({ status: 'ACCEPTED' })],
  ['a list without a count', 'GET /direct-debit 200', set({ totalCount: undefined })],
  ['a page above the limit', 'GET /direct-debit?limit=2 200', limitedTo(1)],
  ['a collection of a cancelled mandate', 'GET /direct-debit/COL-LATER 200 last', set({ status: 'PENDING' })],
  ['a reason of another phase', 'GET /direct-debit/COL-RETURN 200', set({ reasonCode: 'AC01' })],
  ['a mandate that stays active', 'DELETE /mandates/MND-GONE 200', set({ status: 'ACTIVE' }), 'documented'],
  [
    'a reference that changes',
    'PATCH /counterparties/CPTY-0001 200',
    set({ counterpartyReference: 'CPTY-0002' }),
    'documented',
  ],
  ['a bill that stays open', 'PATCH /bills/INV-2026-001 200', set({ status: 'OPEN' })],
  ['a mandate without a creditor', 'POST /mandates 400 creditor is required', created('mandate')],
  ['a short embedded link', 'POST /payout-links 400 PT5M', created('link', { expiresAt: '2026-11-02T09:07:00Z' })],
  ['a refused unknown member', 'POST /mandates 201 colour', refused(400, 'INVALID_FIELD', 'colour')],
  ['expires_in as text', 'POST /oauth/token 200 last', set({ expires_in: '3600' })],
  ['another scope', 'POST /oauth/token 200', set({ scope: 'payments:write' })],
  ['an accepted trailing slash', 'GET /mandates/ 404', answer(200, EMPTY)],
  ['RFC 8594 Sunset', 'GET /direct-debit 200 deprecation: true', header('sunset', 'Wed, 30 Jun 2027 00:00:00 GMT')],
  ['errors in an object', 'POST /mandates 409', entry => setBody(entry, { error: bodyOf(entry) })],
  ['another member', 'GET /mandates/MND-0001 200', set({ tenant: 'x' })],
  ['times with an offset', 'GET /direct-debit/COL-0001 200', set({ initiatedAt: '2026-11-02T10:00:00+01:00' })],
  ['no nextCursor at the end', 'GET /direct-debit 200', set({ nextCursor: undefined })],
  [
    'a paid bill with an amount',
    'PATCH /bills/INV-2026-001 200 {"status":"PAID"}',
    set({ status: 'PARTIALLY_PAID', openAmount: '190.00' }),
  ],
  ['another type of mandate', 'POST /mandates 400 WEEKLY', created('mandate', { type: 'RECURRING' })],
  ['an IBAN with wrong check digits', 'POST /mandates 400 DE00', created('mandate', DEBTOR)],
  ['a collection under a cancelled mandate', 'POST /direct-debit 409 COL-GONE', created('collection', UNNAMED)],
  ['two cancellations of a link', 'PATCH /payout-links/*/cancel 409', noContent],
  ['an account without an IBAN', 'GET /accounts 200', inList('ACC-EUR-01', { accountIdentifier: '532013000' })],
  ['a refresh token', 'POST /oauth/token 200', set({ refresh_token: 'r' })],
  ['another state of a mandate', 'GET /mandates/MND-0001 200', set({ status: 'SUSPENDED' })],
  ['dates of another form', 'GET /direct-debit/COL-0001 200', set({ collectionDate: '09/11/2026' })],
  ['the oldest first', 'GET /direct-debit 200', reversed],
  ['a request without x-region', 'POST /mandates 400 x-region is required', created('mandate')],
  ['two cancellations of a mandate', 'DELETE /mandates/MND-GONE 409', shown('cancelled')],
  [
    'an update of a cancelled bill',
    'PATCH /bills/INV-2026-001 409 2026-12-25',
    shown('bill', { status: 'CANCELLED', dueDate: '2026-12-25' }),
  ],
  ['a longer lifetime', 'POST /payout-links 201', set({ expiryPeriod: 'P30D', expiresAt: '2026-12-02T09:02:00Z' })],
  [
    'a sort code of a EUR account',
    'GET /accounts 200',
    inList('ACC-EUR-01', { branchIdentifier: { type: 'SORT', value: '200000' } }),
  ],
  ['a token that caches keep', 'POST /oauth/token 200', header('cache-control')],
  ['times with fractions', 'GET /mandates/MND-0001 200', set({ createdAt: '2026-11-02T09:00:00.000Z' })],
  ['amounts as numbers', 'GET /direct-debit/COL-0001 200', set({ amount: 10.5 })],
  ['a count of the page', 'GET /direct-debit 200', set({ totalCount: 3 }), 'documented'],
  ['a refusal as a page', 'POST /mandates 409', asPage, 'documented'],
  ['a link in another currency', 'POST /payout-links 201 UK-BACS', set({ currency: 'EUR' })],
  ['another end of a link', 'POST /payout-links 201', set({ expiresAt: '2026-11-10T00:00:00Z' })],
  ['a token that ends early', 'GET /accounts 200', expired],
  ['a mandate in the region US', 'POST /mandates 400 x-region: US', created('mandate'), 'documented'],
  ['amounts with three decimals', 'GET /direct-debit/COL-0001 200', set({ amount: '10.500' })],
  ['a pending mandate', 'POST /mandates 201', set({ status: 'PENDING' })],
  ['no x-request-id', 'GET /accounts 200', header('x-request-id')],
  ['a Location of a link', 'POST /payout-links 201', header('location', '/api/v1/payout-links/x')],
  [
    'an ignored filter',
    'GET /direct-debit?status=SETTLED 200',
    (entry, capture) => setBody(entry, { ...EMPTY, totalCount: 1, data: [recordOf('collection', capture)] }),
  ],
  [
    'a settled collection in process',
    'GET /direct-debit/COL-0001 200 last',
    set({ status: 'PROCESSING', updatedAt: '2026-11-06T08:00:00Z' }),
  ],
  ['an amount as a number', 'POST /direct-debit 400 "amount":10.5', created('collection', { amount: '10.50' })],
  ['an early date', 'POST /direct-debit 400 COL-X', created('collection')],
  ['a refused closed day', 'POST /direct-debit 201 COL-MOVED', refused(400, 'INVALID_FIELD', 'collectionDate')],
  ['a later date', 'POST /direct-debit 201 COL-NAMED', refused(400, 'COLLECTION_DATE_TOO_EARLY', 'collectionDate')],
  ['a required debtorName', 'POST /direct-debit 201 COL-RETURN', refused(400, 'MISSING_FIELD', 'debtorName')],
  ['early submission', 'GET /direct-debit?limit=500 200', inList('COL-0001', { updatedAt: '2026-11-05T10:00:00Z' })],
  ['a missing day', 'POST /direct-debit 400 2026-11-31', created('collection', { collectionDate: '2026-12-01' })],
  ['a reason of a pending collection', 'GET /direct-debit/COL-0001 200', set({ reasonCode: 'AM04' })],
  ['a record that comes late', 'GET /mandates/MND-0001 200', refused(404, 'MANDATE_NOT_FOUND', 'mandateReference')],
  ['another creation', 'GET /mandates/MND-GONE 200', set({ createdAt: '2026-11-02T09:00:30Z' })],
  ['a failed collection that is settled', 'GET /direct-debit/COL-FAIL 200 last', set({ status: 'SETTLED' })],
  ['an account of another region', 'GET /accounts?currency=USD 200', ofAllRegions],
  ['a link of another region', 'PATCH /payout-links/*/cancel 404', noContent],
  ['the debtor of a list', 'GET /mandates 200 last', inList('MND-0001', DEBTOR)],
  ['a second collection of a reference', 'POST /direct-debit 409 x-request-id: no-key', created('collection')],
  ['an idempotent request', 'POST /direct-debit 409 key-1', created('collection')],
]
