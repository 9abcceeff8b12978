import t from 'tap'
import { build } from '../helper.js'
import type { Har, HarEntry } from './capture.js'
import { journey } from './journey.js'
import { compareHar, contradictionsIn } from './run.js'

// What the real service might do in another way, and the one rule that shows it.

type Json = Record<string, unknown>
type Change = (entry: HarEntry) => void

const bodyOf = ({ response }: HarEntry) => JSON.parse(response.content.text as string) as Json
function setBody({ response }: HarEntry, body: unknown) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  response.content = { size: Buffer.byteLength(text), mimeType: 'application/json', text }
}

/** Changes the members of an answer; undefined leaves one out. */
const set =
  (members: Json): Change =>
  entry =>
    setBody(entry, { ...bodyOf(entry), ...members })

/** Changes the members of a record in a list, by its reference. */
const inList =
  (reference: string, members: Json): Change =>
  entry => {
    const { data, ...page } = bodyOf(entry) as { data: Json[] }
    const changed = data.map(record => (Object.values(record).includes(reference) ? { ...record, ...members } : record))
    setBody(entry, { ...page, data: changed })
  }

const status =
  (code: number): Change =>
  ({ response }) => {
    response.status = code
  }

const header =
  (name: string, value?: string): Change =>
  ({ response }) => {
    response.headers = response.headers.filter(header => header.name !== name)
    if (value !== undefined) response.headers.push({ name, value })
  }

const all =
  (...changes: Change[]): Change =>
  entry => {
    for (const change of changes) change(entry)
  }

const answer = (code: number, body: unknown): Change => all(status(code), entry => setBody(entry, body))
const refused = (code: number, error: string, field: string | null = null): Change =>
  answer(code, { code: error, field, message: 'No.' })

/** Accepts a refused creation: answers the record of another one with the members that were sent. */
const created =
  (record: () => Json, changed: () => Json = () => ({})): Change =>
  entry => {
    const sent: Json = JSON.parse(entry.request.postData?.text ?? '{}')
    const echo = Object.fromEntries(Object.entries(sent).filter(([name]) => name in record()))
    const body: Json = { ...record(), ...echo, ...changed() }
    all(answer(201, body), header('location', `/api/v1/x/${body.collectionReference ?? body.mandateReference}`))(entry)
  }

/** Answers 200 with a record that the journey has shown. */
const shown =
  (record: () => Json): Change =>
  entry =>
    answer(200, record())(entry)

const reversed: Change = entry => set({ data: (bodyOf(entry).data as Json[]).toReversed() })(entry)
const noContent: Change = all(status(204), entry => setBody(entry, ''))
const limitedTo =
  (limit: number): Change =>
  ({ request }) => {
    request.url = request.url.replace(/limit=\d+/, `limit=${limit}`)
  }

const EMPTY = { totalCount: 0, hasMore: false, nextCursor: null, data: [] }
const TOKEN = 'POST /api/v1/oauth/token'
const MANDATES = 'POST /api/v1/mandates'
const MANDATE = 'GET /api/v1/mandates/{mandateReference}'
const CREATE = 'POST /api/v1/direct-debit'
const LIST = 'GET /api/v1/direct-debit'
const READ = 'GET /api/v1/direct-debit/{collectionReference}'
const LINKS = 'POST /api/v1/payout-links'
const CANCEL = 'PATCH /api/v1/payout-links/{payoutLinkId}/cancel'
const BILL = 'GET /api/v1/bills/{uniqueReferenceIdentifier}'
const UPDATE = 'PATCH /api/v1/bills/{uniqueReferenceIdentifier}'
const PARTY = 'PATCH /api/v1/counterparties/{counterpartyReference}'
const ACCOUNTS = 'GET /api/v1/accounts'
const OTHER = 'other paths'

let base: Har
let collection: () => Json
let mandate: () => Json
let link: () => Json
let bill: () => Json
t.before(async () => {
  base = (await journey(build(t))).har
  const bodyOfFirst = (line: string) => () => bodyOf(find(base, line))
  collection = bodyOfFirst('POST /direct-debit 201')
  mandate = bodyOfFirst('POST /mandates 201')
  link = bodyOfFirst('POST /payout-links 201')
  bill = bodyOfFirst('POST /bills 201')
})

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
function find({ log }: Har, line: string): HarEntry {
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

/** The areas whose records depend on each other. */
const GROUPS = [/\/(?:mandates|direct-debit)\b/, /\/payout-links\b/, /\/(?:bills|counterparties)\b/]

/** Returns the entries that rules can compare with an entry. */
function related({ log: { entries } }: Har, { request: { url } }: HarEntry): HarEntry[] {
  const group = GROUPS.find(group => group.test(url))
  return entries.filter(
    ({ request }) => request.url.includes('/oauth/') || request.url === url || group?.test(request.url),
  )
}

const MUTATIONS: [name: string, line: string, change: Change, operation: string, rule: string][] = [
  // Statuses.
  ['200 for a creation', 'POST /mandates 201', status(200), MANDATES, 'status of success'],
  [
    '202 for a cancellation',
    'DELETE /mandates/MND-GONE 200',
    status(202),
    'DELETE /api/v1/mandates/{mandateReference}',
    'status of success',
  ],
  ['203 for a list', 'GET /accounts 200', status(203), ACCOUNTS, 'status of success'],
  ['content of 204', 'PATCH /payout-links/*/cancel 204', entry => setBody(entry, {}), CANCEL, 'no content'],
  // Errors.
  ['another code', 'POST /mandates 409', set({ code: 'MANDATE_EXISTS' }), MANDATES, 'error code'],
  ['a code with 422', 'POST /mandates 400 WEEKLY', status(422), MANDATES, 'error code'],
  [
    'a code of another refusal',
    'POST /direct-debit 409 MND-GONE',
    set({ code: 'MANDATE_ALREADY_USED' }),
    CREATE,
    'code of: mandate that is not active',
  ],
  ['errors without field', 'POST /mandates 409', set({ field: undefined }), MANDATES, 'error envelope'],
  [
    'errors in an object',
    'POST /mandates 409',
    entry => setBody(entry, { error: bodyOf(entry) }),
    MANDATES,
    'error envelope',
  ],
  [
    'an HTML page',
    'GET /mandates/MND-NONE 404',
    entry => setBody(entry, '<html>Not found</html>'),
    MANDATE,
    'error envelope',
  ],
  ['a pointer as field', 'POST /mandates 400 WEEKLY', set({ field: '/type' }), MANDATES, 'error field'],
  [
    '401 without a challenge',
    'GET /mandates 401',
    header('www-authenticate'),
    'GET /api/v1/mandates',
    'challenge of a token',
  ],
  ['429 without Retry-After', 'GET /accounts 200', refused(429, 'RATE_LIMITED'), ACCOUNTS, 'Retry-After'],
  [
    'a challenge of 400',
    'GET /mandates?limit=0 400',
    header('www-authenticate', 'Bearer'),
    'GET /api/v1/mandates',
    'no challenge',
  ],
  // Members.
  ['a missing member', 'GET /mandates/MND-0001 200', set({ debtor: undefined }), MANDATE, 'answer debtor required'],
  ['another member', 'GET /mandates/MND-0001 200', set({ tenant: 'x' }), MANDATE, 'answer without other members'],
  [
    'another member in a list',
    'GET /direct-debit 200',
    inList('COL-0001', { fees: '1' }),
    LIST,
    'answer without other members, also of records',
  ],
  [
    'another state of a collection',
    'GET /direct-debit/COL-0001 200',
    set({ status: 'ACCEPTED' }),
    READ,
    'answer status',
  ],
  ['another state of a mandate', 'GET /mandates/MND-0001 200', set({ status: 'SUSPENDED' }), MANDATE, 'answer status'],
  [
    'times with an offset',
    'GET /direct-debit/COL-0001 200',
    set({ initiatedAt: '2026-11-02T10:00:00+01:00' }),
    READ,
    'answer initiatedAt',
  ],
  [
    'times with fractions',
    'GET /mandates/MND-0001 200',
    set({ createdAt: '2026-11-02T09:00:00.000Z' }),
    MANDATE,
    'answer createdAt',
  ],
  [
    'dates of another form',
    'GET /direct-debit/COL-0001 200',
    set({ collectionDate: '09/11/2026' }),
    READ,
    'answer collectionDate',
  ],
  ['amounts as numbers', 'GET /direct-debit/COL-0001 200', set({ amount: 10.5 }), READ, 'answer amount'],
  ['amounts with three decimals', 'GET /direct-debit/COL-0001 200', set({ amount: '10.500' }), READ, 'answer amount'],
  // Lists.
  [
    'a list without a count',
    'GET /direct-debit 200',
    set({ totalCount: undefined }),
    LIST,
    'answer totalCount required',
  ],
  ['no nextCursor at the end', 'GET /direct-debit 200', set({ nextCursor: undefined }), LIST, 'last page'],
  ['no nextCursor for the next page', 'GET /direct-debit?limit=2 200', set({ nextCursor: null }), LIST, 'next page'],
  ['the oldest first', 'GET /direct-debit 200', reversed, LIST, 'order'],
  ['the oldest mandate first', 'GET /mandates 200 last', reversed, 'GET /api/v1/mandates', 'order'],
  ['a page above the limit', 'GET /direct-debit?limit=2 200', limitedTo(1), LIST, 'size of a page'],
  ['a count of the page', 'GET /direct-debit 200', set({ totalCount: 3 }), LIST, 'total count'],
  [
    'an ignored filter',
    'GET /direct-debit?status=SETTLED 200',
    entry => setBody(entry, { ...EMPTY, totalCount: 1, data: [collection()] }),
    LIST,
    'filter status',
  ],
  [
    'a refused spelling',
    'GET /mandates?status=ACTIVE,CANCELLED 200',
    refused(400, 'INVALID_QUERY_PARAMETER', 'status'),
    'GET /api/v1/mandates',
    'spellings of array filters',
  ],
  ['an empty parameter', 'GET /mandates?limit= 400', answer(200, EMPTY), 'GET /api/v1/mandates', 'empty parameter'],
  [
    'a repeated parameter',
    'GET /mandates?limit=1&limit=2 400',
    answer(200, EMPTY),
    'GET /api/v1/mandates',
    'repeated parameter',
  ],
  ['a larger limit', 'GET /direct-debit?limit=501 400', answer(200, EMPTY), LIST, 'query limit'],
  [
    'a smaller limit',
    'GET /direct-debit?limit=500 200',
    refused(400, 'INVALID_QUERY_PARAMETER', 'limit'),
    LIST,
    'query limit',
  ],
  // Lifecycles.
  [
    'a returned collection that is settled',
    'GET /direct-debit/COL-RETURN 200 last',
    set({ status: 'SETTLED', reasonCode: undefined, updatedAt: '2026-11-09T13:00:00Z' }),
    READ,
    'final states',
  ],
  [
    'a settled collection in process',
    'GET /direct-debit/COL-0001 200 last',
    set({ status: 'PROCESSING', updatedAt: '2026-11-06T08:00:00Z' }),
    READ,
    'transitions',
  ],
  ['a cancelled bill that is paid', 'GET /bills/INV-2026-001 200 last', set({ status: 'PAID' }), BILL, 'final states'],
  [
    'an early submission',
    'GET /direct-debit?limit=500 200',
    inList('COL-0001', { updatedAt: '2026-11-05T10:00:00Z' }),
    LIST,
    'time of SUBMITTED',
  ],
  [
    'a collection of a cancelled mandate',
    'GET /direct-debit/COL-LATER 200 last',
    set({ status: 'PENDING' }),
    READ,
    'collections of a cancelled mandate',
  ],
  [
    'a reason of a pending collection',
    'GET /direct-debit/COL-0001 200',
    set({ reasonCode: 'AM04' }),
    READ,
    'reason code',
  ],
  [
    'a reason of another phase',
    'GET /direct-debit/COL-RETURN 200',
    set({ reasonCode: 'AC01' }),
    READ,
    'phase of a reason code',
  ],
  ['a pending mandate', 'POST /mandates 201', set({ status: 'PENDING' }), MANDATES, 'new mandate'],
  [
    'a collection that is submitted at once',
    'POST /direct-debit 201 COL-LAST',
    set({ status: 'SUBMITTED', updatedAt: '2026-11-05T15:00:00Z' }),
    CREATE,
    'new collection',
  ],
  [
    'a mandate that stays active',
    'DELETE /mandates/MND-GONE 200',
    set({ status: 'ACTIVE' }),
    'DELETE /api/v1/mandates/{mandateReference}',
    'cancelled mandate',
  ],
  [
    'a bill that stays open',
    'PATCH /bills/INV-2026-001 200',
    set({ status: 'OPEN' }),
    UPDATE,
    'status PARTIALLY_PAID of a bill',
  ],
  [
    'a paid bill with an amount',
    'PATCH /bills/INV-2026-001 200 {"status":"PAID"}',
    set({ status: 'PARTIALLY_PAID', openAmount: '190.00' }),
    UPDATE,
    'openAmount of a paid bill',
  ],
  // Requests that the sandbox refuses, and the reverse.
  [
    'an amount as a number',
    'POST /direct-debit 400 "amount":10.5',
    created(
      () => collection(),
      () => ({ amount: '10.50' }),
    ),
    CREATE,
    'body amount',
  ],
  ['an early date', 'POST /direct-debit 400 COL-X', created(() => collection()), CREATE, 'earliest date'],
  [
    'a day that does not exist',
    'POST /direct-debit 400 2026-11-31',
    created(
      () => collection(),
      () => ({ collectionDate: '2026-12-01' }),
    ),
    CREATE,
    'body collectionDate date',
  ],
  [
    'another type of mandate',
    'POST /mandates 400 WEEKLY',
    created(
      () => mandate(),
      () => ({ type: 'RECURRING' }),
    ),
    MANDATES,
    'body type',
  ],
  [
    'a ONE_OFF mandate with a frequency',
    'POST /mandates 400 frequency goes only',
    created(
      () => mandate(),
      () => ({ signatureDate: '2026-11-02' }),
    ),
    MANDATES,
    'frequency of a ONE_OFF mandate',
  ],
  [
    'a mandate without a creditor',
    'POST /mandates 400 creditor is required',
    created(() => mandate()),
    MANDATES,
    'body creditor required',
  ],
  [
    'an IBAN with wrong check digits',
    'POST /mandates 400 DE00',
    created(
      () => mandate(),
      () => ({ debtor: mandate().debtor }),
    ),
    MANDATES,
    'body debtor.iban',
  ],
  [
    'a request without x-region',
    'POST /mandates 400 x-region is required',
    created(() => mandate()),
    MANDATES,
    'header x-region required',
  ],
  ['region GB', 'POST /payout-links 400 US-ACH', created(() => link()), LINKS, 'header x-region'],
  [
    'a second collection of a reference',
    'POST /direct-debit 409 x-request-id: no-key',
    created(() => collection()),
    CREATE,
    'duplicate reference',
  ],
  ['an idempotent request', 'POST /direct-debit 409 key-1', created(() => collection()), CREATE, 'Idempotency-Key'],
  [
    'a collection of a cancelled mandate that is accepted',
    'POST /direct-debit 409 COL-GONE',
    created(
      () => collection(),
      () => ({ debtorReference: undefined }),
    ),
    CREATE,
    'mandate that is not active',
  ],
  [
    'two collections of a ONE_OFF mandate',
    'POST /direct-debit 409 COL-TWICE',
    created(
      () => collection(),
      () => ({ debtorReference: undefined }),
    ),
    CREATE,
    'used mandate',
  ],
  [
    'two cancellations of a mandate',
    'DELETE /mandates/MND-GONE 409',
    shown(() => bodyOf(find(base, 'DELETE /mandates/MND-GONE 200'))),
    'DELETE /api/v1/mandates/{mandateReference}',
    'cancellation of another mandate',
  ],
  [
    'an update of a cancelled bill',
    'PATCH /bills/INV-2026-001 409 2026-12-25',
    shown(() => ({ ...bill(), status: 'CANCELLED', dueDate: '2026-12-25' })),
    UPDATE,
    'cancelled bill',
  ],
  ['a higher limit of UK-FAST', 'POST /payout-links 400 1000000.01', created(() => link()), LINKS, 'limit of a method'],
  [
    'a short embedded link',
    'POST /payout-links 400 PT5M',
    created(
      () => link(),
      () => ({ expiresAt: '2026-11-02T09:07:00Z' }),
    ),
    LINKS,
    'expiryPeriod of an embedded link',
  ],
  ['two cancellations of a link', 'PATCH /payout-links/*/cancel 409', noContent, CANCEL, 'link that is cancelled'],
  [
    'a JSON token request',
    'POST /oauth/token 415',
    answer(200, { access_token: 'x', expires_in: 3600, scope: 'payments', token_type: 'Bearer' }),
    TOKEN,
    'JSON token request',
  ],
  [
    'a bill of another region',
    'GET /bills/INV-UK 404',
    shown(() => ({ ...bill(), uniqueReferenceIdentifier: 'INV-UK', currency: 'GBP' })),
    BILL,
    'record of another region',
  ],
  [
    'a refused closed day',
    'POST /direct-debit 201 COL-MOVED',
    refused(400, 'INVALID_FIELD', 'collectionDate'),
    CREATE,
    'closed days',
  ],
  [
    'a later first date',
    'POST /direct-debit 201 COL-NAMED',
    refused(400, 'COLLECTION_DATE_TOO_EARLY', 'collectionDate'),
    CREATE,
    'earliest date',
  ],
  [
    'a required debtorName',
    'POST /direct-debit 201 COL-RETURN',
    refused(400, 'MISSING_FIELD', 'debtorName'),
    CREATE,
    'body debtorName',
  ],
  [
    'a refused unknown member',
    'POST /mandates 201 colour',
    refused(400, 'INVALID_FIELD', 'colour'),
    MANDATES,
    'unknown members',
  ],
  ['a refused bill', 'POST /bills 201 "INV-2"', refused(400, 'INVALID_FIELD'), 'POST /api/v1/bills', 'valid requests'],
  // Records.
  [
    'a record that is not there at once',
    'GET /mandates/MND-0001 200',
    refused(404, 'MANDATE_NOT_FOUND', 'mandateReference'),
    MANDATE,
    'records as before',
  ],
  [
    'a member that changes',
    'GET /direct-debit/COL-FAIL 200',
    set({ debtorName: 'JANE DOE' }),
    READ,
    'records as before',
  ],
  [
    'a member in another form',
    'PATCH /counterparties/CPTY-0001 200',
    set({ remarks: 'MONTHLY' }),
    PARTY,
    'members as sent',
  ],
  [
    'another lifetime of links',
    'POST /payout-links 201',
    set({ expiryPeriod: 'P30D', expiresAt: '2026-12-02T09:02:00Z' }),
    LINKS,
    'default of expiryPeriod, hosted',
  ],
  ['another end of a link', 'POST /payout-links 201', set({ expiresAt: '2026-11-10T00:00:00Z' }), LINKS, 'expiresAt'],
  [
    'an account without an IBAN',
    'GET /accounts 200',
    inList('ACC-EUR-01', { accountIdentifier: '532013000' }),
    ACCOUNTS,
    'IBAN of an account',
  ],
  [
    'a sort code of a EUR account',
    'GET /accounts 200',
    inList('ACC-EUR-01', { branchIdentifier: { type: 'SORT', value: '200000' } }),
    ACCOUNTS,
    'type of a branch',
  ],
  // Tokens.
  ['a shorter life of tokens', 'POST /oauth/token 200 last', set({ expires_in: 300 }), TOKEN, 'value of expires_in'],
  ['expires_in as text', 'POST /oauth/token 200 last', set({ expires_in: '3600' }), TOKEN, 'answer expires_in'],
  ['another token type', 'POST /oauth/token 200', set({ token_type: 'bearer' }), TOKEN, 'value of token_type'],
  ['another scope', 'POST /oauth/token 200', set({ scope: 'payments:write' }), TOKEN, 'value of scope'],
  ['a refresh token', 'POST /oauth/token 200', set({ refresh_token: 'r' }), TOKEN, 'answer without other members'],
  ['a token that caches keep', 'POST /oauth/token 200', header('cache-control'), TOKEN, 'no-store'],
  ['an expired token', 'GET /mandates 401 last', answer(200, EMPTY), 'GET /api/v1/mandates', 'expired token'],
  [
    'a token that ends early',
    'GET /accounts 200',
    all(refused(401, 'EXPIRED_TOKEN', 'authorization'), header('www-authenticate', 'Bearer error="invalid_token"')),
    ACCOUNTS,
    'lifetime of a token',
  ],
  // Paths and headers.
  ['another path of links', 'POST /payout-links 201', refused(404, 'ROUTE_NOT_FOUND'), LINKS, 'path of payout links'],
  ['a read of links', 'GET /payout-links/* 404', answer(200, {}), OTHER, 'no read of links'],
  ['400 for a slash', 'GET /mandates/MND/0001 404', refused(400, 'INVALID_FIELD'), OTHER, 'slash in an identifier'],
  [
    '404 for a broken pattern',
    'GET /mandates/MND_0001 400',
    refused(404, 'MANDATE_NOT_FOUND'),
    MANDATE,
    'path mandateReference',
  ],
  ['404 for another method', 'PUT /mandates 405', refused(404, 'ROUTE_NOT_FOUND'), OTHER, 'other method'],
  ['an accepted trailing slash', 'GET /mandates/ 404', answer(200, EMPTY), OTHER, 'trailing slash'],
  [
    'Deprecation of RFC 9745',
    'GET /direct-debit 200 deprecation: true',
    header('deprecation', '@1790000000'),
    LIST,
    'Deprecation',
  ],
  [
    'Sunset of RFC 8594',
    'GET /direct-debit 200 deprecation: true',
    header('sunset', 'Wed, 30 Jun 2027 00:00:00 GMT'),
    LIST,
    'Sunset',
  ],
  ['no x-request-id', 'GET /accounts 200', header('x-request-id'), ACCOUNTS, 'x-request-id'],
  ['no Location', 'POST /bills 201', header('location'), 'POST /api/v1/bills', 'Location'],
]

t.test(
  'interface, Errors; decisions §1: each of these differences is reported by its rule, and by no other',
  async t => {
    t.ok(MUTATIONS.length >= 50, `${MUTATIONS.length} differences`)
    for (const [name, line, change, operation, rule] of MUTATIONS) {
      const har = structuredClone(base)
      const entry = find(har, line)
      change(entry)
      har.log.entries = related(har, entry)
      const { code, stdout, stderr } = await compareHar(t, har, ['--json'])
      const found = contradictionsIn(stdout)
      t.same(
        { code, stderr, found: found.map(({ operation, rule }) => `${operation}: ${rule}`) },
        { code: 1, stderr: '', found: [`${operation}: ${rule}`] },
        name,
      )
    }
  },
)
