import type { Mutation } from './mutations.js'
import {
  answer,
  bodyOf,
  created,
  EMPTY,
  header,
  inList,
  noContent,
  refused,
  set,
  setBody,
  shown,
  status,
} from './mutations.js'

/** What a service might do otherwise, made along docs/decisions.md and docs/service-interface.md, statement by statement. */
export const DIFFERENCES: readonly Mutation[] = (
  [
    ['no scheme', 'POST /mandates 201', set({ scheme: undefined })],
    ['a date of creation without its time', 'POST /mandates 201', set({ createdAt: '2026-11-02' })],
    ['a reference in small letters', 'POST /mandates 201', set({ mandateReference: 'mnd-0001' })],
    ['the same mandate for the same request', 'POST /mandates 409', (e, c) => answer(200, shownOf(c))(e, c)],
    ['no field of a duplicate', 'POST /mandates 409', set({ field: null })],
    ['another field', 'POST /mandates 400 WEEKLY', set({ field: 'frequency' })],
    ['no message', 'POST /mandates 400 WEEKLY', set({ message: undefined })],
    ['410 for an unknown mandate', 'GET /mandates/MND-NONE 404', status(410)],
    ['null for an unknown mandate', 'GET /mandates/MND-NONE 404', answer(200, null)],
    ['a cancellation without content', 'DELETE /mandates/MND-GONE 200', noContent],
    [
      'a refused parameter',
      'GET /mandates?type=ONE_OFF&unknown=1 200',
      refused(400, 'INVALID_QUERY_PARAMETER', 'unknown'),
    ],
    ['403 for a wrong token', 'GET /mandates 401', status(403)],
    ['another code of an expired token', 'GET /mandates 401 last', set({ code: 'TOKEN_EXPIRED' })],
    ['another first state', 'POST /direct-debit 201', set({ status: 'ACCEPTED' })],
    ['a closed day that stays', 'POST /direct-debit 201 COL-MOVED', set({ collectionDate: '2026-11-08' })],
    ['the name of the mandate', 'POST /direct-debit 201 COL-NAMED', set({ debtorName: 'Jane Doe' })],
    ['an amount without its last zero', 'GET /direct-debit/COL-0001 200', set({ amount: '10.5' })],
    ['no currency', 'GET /direct-debit/COL-0001 200', set({ currency: undefined })],
    ['a time as a number', 'GET /direct-debit/COL-0001 200', set({ initiatedAt: 1793610000 })],
    ['a total as a text', 'GET /direct-debit 200', set({ totalCount: '7' })],
    [
      'another name of the records',
      'GET /direct-debit 200',
      e => setBody(e, { ...bodyOf(e), data: undefined, items: [] }),
    ],
    ['a further page that is none', 'GET /direct-debit 200', set({ hasMore: true })],
    ['an unknown state as a filter', 'GET /direct-debit?status=OTHER 400', answer(200, EMPTY)],
    ['no filter by state', 'GET /direct-debit?status=SETTLED 200', refused(400, 'INVALID_QUERY_PARAMETER', 'status')],
    ['no reason of a return', 'GET /direct-debit/COL-RETURN 200 last', set({ reasonCode: undefined })],
    ['a failure instead of a rejection', 'GET /direct-debit/COL-REJECT 200', set({ status: 'FAILED' })],
    ['422 for a mandate that is not active', 'POST /direct-debit 409 MND-GONE', status(422)],
    ['400 for an unknown mandate', 'POST /direct-debit 404', refused(400, 'INVALID_FIELD', 'mandateReference')],
    ['a date in two years', 'POST /direct-debit 400 2028-11-03', created('collection')],
    ['a leading zero', 'POST /direct-debit 400 010.50', created('collection', { amount: '10.50' })],
    ['US dollars', 'POST /direct-debit 400 "currency":"USD"', created('collection')],
    ['another state of a new link', 'POST /payout-links 201', set({ status: 'CREATED' })],
    ['no page of a link', 'POST /payout-links 201', set({ url: undefined })],
    ['no message for the recipient', 'POST /payout-links 201', set({ remarks: undefined })],
    [
      'a link of 31 days',
      'POST /payout-links 400 P31D',
      created('link', { expiryPeriod: 'P31D', expiresAt: '2026-12-03T09:02:01Z' }),
    ],
    ['a link for any origin', 'POST /payout-links 403', created('link', { uiMode: 'embedded' })],
    ['a cancellation of what is cancelled', 'PATCH /payout-links/*/cancel 409', noContent],
    ['a cancellation without a comment', 'PATCH /payout-links/*/cancel 400', noContent],
    ['nothing open', 'POST /bills 201', set({ openAmount: '0' })],
    ['the same bill twice', 'POST /bills 409', created('bill')],
    ['dollars in Europe', 'POST /bills 400 "currency":"USD"', created('bill')],
    ['no time of a change', 'PATCH /bills/INV-2026-001 200', set({ updatedAt: undefined })],
    ['an empty change', 'PATCH /bills/INV-2026-001 400', shown('bill')],
    ['a size as a text', 'POST /bills/INV-2026-001/document 201', set({ size: '9' })],
    ['200 for a document', 'POST /bills/INV-2026-001/document 201', status(200)],
    ['403 for an unknown counterparty', 'PATCH /counterparties/CPTY-NONE 404', status(403)],
    [
      'a local number',
      'PATCH /counterparties/CPTY-0001 400',
      answer(200, { counterpartyReference: 'CPTY-0001', mobileNumber: '0171' }),
    ],
    ['a balance as a number', 'GET /accounts 200', inList('ACC-EUR-01', { balance: 100 })],
    ['a currency in small letters', 'GET /accounts 200', inList('ACC-EUR-01', { currency: 'eur' })],
    ['another code of a grant', 'POST /oauth/token 400 password', set({ code: 'UNAUTHORIZED_CLIENT' })],
    ['400 for a wrong secret', 'POST /oauth/token 401', status(400)],
    ['405 without the methods', 'PUT /mandates 405', header('allow')],
  ] as const satisfies readonly (readonly [string, string, Mutation[3]])[]
).map(([name, line, change]) => [0, name, line, change] as const)

const shownOf = (capture: Parameters<Mutation[3]>[1]) => {
  const [entry] = capture.log.entries.filter(
    ({ request, response }) => /mandates$/.test(request.url) && response.status === 201,
  )
  return JSON.parse(entry?.response.content.text ?? '')
}
