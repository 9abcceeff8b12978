/** Provokes errors through Prism. It compares each answer with the document. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import { createSandbox } from '../../dist/client/index.js'
import { startPrism } from './prism.js'

const json = (method, body) => ({
  method,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
const mandate = {
  mandateReference: 'MND-0001',
  type: 'RECURRING',
  creditor: { name: 'Acme GmbH', bankIdentifier: { type: 'CREDITOR_IDENTIFIER', value: 'DE98ZZZ09999999999' } },
  debtor: { name: 'Jane Doe', iban: 'DE89370400440532013000' },
}
const collection = {
  collectionReference: 'COL-0001',
  mandateReference: 'MND-ACME-0001',
  amount: '49.90',
  currency: 'EUR',
  collectionDate: '2030-01-14',
}
const payoutLink = { amount: '75.00', currency: 'EUR', payoutMethod: 'SEPA-INSTANT' }
const bill = {
  uniqueReferenceIdentifier: 'INV-0001',
  type: 'INVOICE',
  cashflowType: 'INFLOW',
  counterpartyReference: 'CP-ACME-EU-01',
  currency: 'EUR',
  totalAmount: '1190.00',
  dueDate: '2030-02-07',
}
const form = fields => ({ method: 'POST', body: new URLSearchParams(fields) })
const upload = text => {
  const body = new FormData()
  body.set('file', new Blob([text]), 'invoice.pdf')
  return { method: 'POST', body }
}
const comment = { cancellationComment: 'Paid in cash instead' }
const credentials = { grant_type: 'client_credentials', client_id: 'app', client_secret: 'secret' }
/** A fault for the next request of accounts. */
const fault = effect => client => client.faults.arm({ match: { path: '/api/v1/accounts' }, effect })

/**
 * Requests, each with its answer. `before` prepares the client.
 *
 * `breaks` lists the parts of a request that break the document on purpose: '' is the whole request. Prism reports them
 * and forwards the request, because it runs without `--errors`. No answer may break the document.
 */
const refusals = [
  ['400 INVALID_REGION', '/accounts', { headers: { 'x-region': 'FR' }, breaks: ['header.x-region'] }],
  ['400 INVALID_QUERY_PARAMETER', '/direct-debit?limit=501', { breaks: ['query.limit'] }],
  ['400 INVALID_CURSOR', '/direct-debit?cursor=nowhere', {}],
  ['400 INVALID_BILL_REFERENCE', '/bills/INV.1', { breaks: ['path.uniquereferenceidentifier'] }],
  ['400 MISSING_FIELD', '/mandates', { ...json('POST', { ...mandate, debtor: undefined }), breaks: ['body'] }],
  ['400 MISSING_FIELD', '/counterparties/CP-ACME-EU-01', { ...json('PATCH', {}), breaks: ['body'] }],
  ['400 INVALID_FIELD', '/direct-debit', { ...json('POST', { ...collection, amount: 49.9 }), breaks: ['body.amount'] }],
  ['400 COLLECTION_DATE_TOO_EARLY', '/direct-debit', json('POST', { ...collection, collectionDate: '2030-01-07' })],
  ['400 COLLECTION_DATE_TOO_LATE', '/direct-debit', json('POST', { ...collection, collectionDate: '2031-02-07' })],
  ['400 REGION_CURRENCY_MISMATCH', '/bills', json('POST', { ...bill, currency: 'USD' })],
  ['400 PAYOUT_METHOD_MISMATCH', '/payout-links', json('POST', { ...payoutLink, payoutMethod: 'US-ACH' })],
  [
    '400 AMOUNT_LIMIT_EXCEEDED',
    '/payout-links',
    {
      ...json('POST', { amount: '1000000.01', currency: 'GBP', payoutMethod: 'UK-FAST' }),
      region: 'UK',
    },
  ],
  ['400 INCONSISTENT_BILL_UPDATE', '/bills/BILL-EU-2017', json('PATCH', { status: 'PAID', openAmount: '1.00' })],
  [
    '400 IMMUTABLE_FIELD',
    '/counterparties/CP-ACME-EU-01',
    json('PATCH', { counterpartyReference: 'CP-ACME-EU-02', remarks: 'x' }),
  ],
  [
    '400 UNSUPPORTED_GRANT_TYPE',
    '/oauth/token',
    { ...form({ ...credentials, grant_type: 'password' }), breaks: ['body.grant_type'] },
  ],
  ['401 INVALID_CLIENT', '/oauth/token', form({ ...credentials, client_secret: 'wrong' })],
  ['401 MISSING_TOKEN', '/accounts', { headers: { authorization: '' }, breaks: [''] }],
  ['401 INVALID_TOKEN', '/accounts', { headers: { authorization: 'Bearer wrong' } }],
  [
    '403 ORIGIN_NOT_ALLOWED',
    '/payout-links',
    json('POST', { ...payoutLink, uiMode: 'embedded', expiryPeriod: 'pt1h', origin: 'https://shop.example' }),
  ],
  ['404 MANDATE_NOT_FOUND', '/mandates/MND-0000', {}],
  ['404 COLLECTION_NOT_FOUND', '/direct-debit/COL-0000', {}],
  ['404 PAYOUT_LINK_NOT_FOUND', '/payout-links/pl_0000/cancel', json('PATCH', comment)],
  ['404 BILL_NOT_FOUND', '/bills/INV-0000/document', upload('%PDF-1.4\n%%EOF\n')],
  ['404 COUNTERPARTY_NOT_FOUND', '/counterparties/CP-NONE', json('PATCH', { remarks: 'x' })],
  ['409 DUPLICATE_REFERENCE', '/bills', json('POST', { ...bill, uniqueReferenceIdentifier: 'INV-ACME-2001' })],
  ['409 MANDATE_NOT_ACTIVE', '/mandates/MND-ACME-0008', { method: 'DELETE' }],
  ['409 PAYOUT_LINK_ALREADY_CLAIMED', '/payout-links/PL-ACME-EU-0011/cancel', json('PATCH', comment)],
  ['409 PAYOUT_LINK_NOT_CANCELLABLE', '/payout-links/PL-ACME-EU-0006/cancel', json('PATCH', comment)],
  ['409 BILL_CANCELLED', '/bills/INV-ACME-2009', json('PATCH', { openAmount: '1.00' })],
  [
    '410 OPERATION_SUNSET',
    '/accounts',
    {
      before: client =>
        client.deprecations.set([
          {
            operation: 'GET /api/v1/accounts',
            deprecatedSince: '2029-01-01T00:00:00Z',
            sunset: '2030-01-01T00:00:00Z',
            goneAfterSunset: true,
          },
        ]),
    },
  ],
  [
    '413 PAYLOAD_TOO_LARGE',
    '/bills',
    {
      ...json('POST', { ...bill, description: 'x'.repeat(2 ** 20) }),
      breaks: ['body.description'],
    },
  ],
  [
    '415 UNSUPPORTED_MEDIA_TYPE',
    '/bills',
    { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'bill', breaks: [''] },
  ],
  ['415 UNSUPPORTED_MEDIA_TYPE', '/bills/BILL-EU-2017/document', upload('text')],
  ['429 RATE_LIMITED', '/accounts', { before: fault({ kind: 'error', status: 429, retryAfter: 1 }) }],
  ['500 INTERNAL_ERROR', '/accounts', { before: fault({ kind: 'error', status: 500 }) }],
  ['503 SERVICE_UNAVAILABLE', '/accounts', { before: fault({ kind: 'error', status: 503 }) }],
  ['401 EXPIRED_TOKEN', '/accounts', { before: client => client.expireTokens() }],
]

let sandbox
let prism
before(async () => {
  sandbox = await createSandbox({ clock: '2030-01-07T09:00:00Z', fixture: 'demo' })
  prism = await startPrism(sandbox.url)
})
after(async () => {
  await prism.close()
  await sandbox.close()
})

/** Returns the parts of an exchange that break the document. Prism names them in a header. */
const violationsOf = response =>
  new Set(JSON.parse(response.headers.get('sl-violations') ?? '[]').map(({ location }) => location.join('.')))

for (const [answer, path, { before: prepare, region = 'EU', breaks = [], ...request }] of refusals) {
  test(`Prism accepts the answer ${answer} of ${request.method ?? 'GET'} ${path}`, async () => {
    const client = await sandbox.fork()
    const authorization = `Bearer ${await client.token()}`
    await prepare?.(client)
    const headers = { authorization, 'x-region': region, ...request.headers }
    const response = await fetch(`${prism.url}/api/v1${path}`, { ...request, headers })
    const { code } = await response.json()
    assert.equal(`${response.status} ${code}`, answer)
    assert.deepEqual(violationsOf(response), new Set(breaks.map(part => ['request', part].filter(Boolean).join('.'))))
  })
}

test('Prism has checked all answers', async t => {
  const { checked } = await prism.close()
  assert.equal(checked, refusals.length)
  t.diagnostic(`exchanges checked: ${checked}`)
})

for (const status of [200, 404]) {
  test(`Prism reports an answer ${status} that breaks the document`, async t => {
    const server = createServer((_request, response) =>
      response.writeHead(status, { 'content-type': 'application/json' }).end('{}'),
    )
    await once(server.listen(0, '127.0.0.1'), 'listening')
    t.after(() => server.close())
    const strict = await startPrism(`http://127.0.0.1:${server.address().port}`, '--errors')
    t.after(() => strict.close())
    const headers = { authorization: 'Bearer token', 'x-region': 'EU' }
    const response = await fetch(`${strict.url}/api/v1/mandates/MND-0001`, { headers })
    assert.equal(response.status, 500)
    assert.deepEqual(violationsOf(response), new Set(['response.body']))
    const { checked, violations } = await strict.close()
    assert.deepEqual([checked, violations.length], [1, 1])
  })
}
