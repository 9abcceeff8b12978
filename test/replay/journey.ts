import type { FastifyInstance } from 'fastify'
import type { Client } from '../helper.js'
import { bill, call, collection, connect, MONDAY, mandate, payoutLink, requestToken } from '../helper.js'
import { MULTIPART, multipart } from '../multipart.js'
import type { Har } from './capture.js'
import { captured } from './capture.js'

/** The secret of the client of the journey. */
const SECRET = 'hush-hush-4711'

const MANDATES = '/api/v1/mandates'
const COLLECTIONS = '/api/v1/direct-debit'
const LINKS = '/api/v1/payout-links'
const BILLS = '/api/v1/bills'

/** Uses all operations of a sandbox, rightly and wrongly. Returns the capture of all requests. */
export async function journey(app: FastifyInstance): Promise<Har> {
  const clock = { now: Date.parse(MONDAY) }
  const capture = captured(app, clock)
  const client = await connect(capture.app, 'acme', 'EU', SECRET)
  const advance = async (by: string) => {
    await client.control('POST', '/clock/advance', { by })
    const { body } = await client.control('GET', '/clock')
    clock.now = Date.parse(body.now)
  }
  await client.control('POST', '/seed', { records: SEEDS })

  await tokens(client, capture.app)
  await mandates(client)
  await advance('PT1M')
  await client.post(MANDATES, mandate({ mandateReference: 'MND-LATER' }))
  await client.get(MANDATES)
  await collections(client, () => advance('PT1M'))
  await payoutLinks(client)
  await bills(client)
  await parties(client)
  await paths(client)
  await deprecated(client)
  await client.post(COLLECTIONS, collection({ collectionReference: 'COL-LAST' }))

  // The collections go their way.
  for (const by of ['P3DT8H', 'P1D', 'P3D', 'P10D']) {
    await advance(by)
    await client.get(MANDATES)
    await requestToken(capture.app, { client_secret: SECRET })
    await (await connect(capture.app, 'acme', 'EU', SECRET)).get(`${COLLECTIONS}?limit=500`)
  }
  const late = await connect(capture.app, 'acme', 'EU', SECRET)
  for (const reference of ['COL-0001', 'COL-RETURN', 'COL-REJECT', 'COL-FAIL'])
    await late.get(`${COLLECTIONS}/${reference}`)
  return capture.har()
}

const SEEDS = {
  accounts: [
    {
      accountReference: 'ACC-EUR-01',
      accountHolderName: 'Acme GmbH',
      currency: 'EUR',
      accountIdentifier: 'DE89370400440532013000',
      branchIdentifier: { type: 'BIC', value: 'BANKDEFFXXX' },
      balance: '100.00',
    },
    {
      accountReference: 'ACC-USD-01',
      accountHolderName: 'Acme Inc.',
      currency: 'USD',
      accountIdentifier: '123456789',
      branchIdentifier: { type: 'ROUTING', value: '021000021' },
      balance: '-1.5',
    },
  ],
  counterparties: [
    { region: 'UK', counterpartyReference: 'CP-UK-01', branchIdentifier: { type: 'SORT', value: '200000' } },
  ],
}

async function tokens(client: Client, app: FastifyInstance) {
  await requestToken(app, { client_secret: SECRET })
  await requestToken(app, { client_secret: 'wrong-secret-0815' })
  await requestToken(app, { client_secret: SECRET, grant_type: 'password' })
  await requestToken(app, { client_secret: SECRET, grant_type: undefined })
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const basic = `Basic ${Buffer.from(`acme:${SECRET}`).toString('base64')}`
  const url = '/api/v1/oauth/token'
  await call(app, 'POST', url, { body: 'grant_type=client_credentials', headers: { ...form, authorization: basic } })
  await call(app, 'POST', url, { body: { client_id: 'acme', client_secret: SECRET, grant_type: 'client_credentials' } })
  await call(app, 'POST', url, {
    body: `grant_type=client_credentials&client_id=acme&client_id=b&client_secret=${SECRET}`,
    headers: form,
  })
  await client.get(MANDATES, { headers: { authorization: `bearer ${client.token}` } })
  await client.get(MANDATES, { headers: { authorization: 'Bearer unknown' } })
  await call(app, 'GET', MANDATES, { region: 'EU' })
}

async function mandates(client: Client) {
  const full = {
    frequency: 'MONTHLY',
    mode: 'CORE',
    scheme: 'SEPA',
    currency: 'EUR',
    signatureDate: '2026-10-01',
    debtor: { name: 'Jane Doe', iban: 'DE89370400440532013000', bic: 'BANKDEFFXXX', reference: 'CUST-7' },
  }
  await client.post(MANDATES, { ...mandate(full), colour: 'red' }, { headers: { 'x-request-id': 'mine-1' } })
  await client.post(MANDATES, mandate({ mandateReference: 'MND-ONCE', type: 'ONE_OFF' }))
  await client.post(MANDATES, mandate({ mandateReference: 'MND-GONE' }))
  await client.post(MANDATES, mandate())
  await client.post(MANDATES, mandate({ mandateReference: 'MND-X', type: 'WEEKLY' }))
  await client.post(MANDATES, mandate({ mandateReference: 'MND-0009', type: 'WEEKLY' }))
  await client.post(MANDATES, mandate({ mandateReference: 'MND-0009', type: 'ONE_OFF', frequency: 'WEEKLY' }))
  await client.post(MANDATES, mandate({ mandateReference: 'MND-0009', debtor: { name: 'J', iban: 'DE00' } }))
  await client.post(MANDATES, { ...mandate({ mandateReference: 'MND-0009' }), creditor: undefined })
  await client.post(MANDATES)
  await client.post(MANDATES, [1])
  await client.post(MANDATES, mandate({ mandateReference: 'MND-0009' }), { region: 'US' })
  await client.post(MANDATES, mandate({ mandateReference: 'MND-0009' }), { region: null })
  await client.get(`${MANDATES}/MND-0001`)
  await client.get(`${MANDATES}/MND-0001`, { headers: { accept: 'text/html' } })
  await client.get(`${MANDATES}/MND-NONE`)
  await client.get(`${MANDATES}/MND_0001`)
  await client.get(`${MANDATES}/MND`)
  await client.send('HEAD', MANDATES)
  await pages(client, MANDATES)
  await client.get(`${MANDATES}?type=ONE_OFF&unknown=1`)
  await client.get(`${MANDATES}?status=ACTIVE,CANCELLED`)
  await client.get(`${MANDATES}?status[]=ACTIVE&status[]=CANCELLED`)
  await client.get(`${MANDATES}?limit=0`)
  await client.get(`${MANDATES}?limit=`)
  await client.get(`${MANDATES}?limit=1&limit=2`)
  await client.delete(`${MANDATES}/MND-GONE`)
  await client.delete(`${MANDATES}/MND-GONE`)
  await client.get(`${MANDATES}/MND-GONE`)
}

/** Reads a list page by page. */
async function pages(client: Client, path: string, region = 'EU') {
  let cursor = ''
  do {
    const { body } = await client.get(`${path}?limit=2${cursor}`, { region })
    cursor = body.nextCursor === null ? '' : `&cursor=${body.nextCursor}`
  } while (cursor !== '')
}

async function collections(client: Client, wait: () => Promise<void>) {
  const create = (changes: object = {}, options = {}) => client.post(COLLECTIONS, collection(changes), options)
  await create({}, { headers: { 'idempotency-key': 'key-1' } })
  await create({}, { headers: { 'idempotency-key': 'key-1' } })
  await create({}, { headers: { 'x-request-id': 'no-key' } })
  await wait()
  await create({ collectionReference: 'COL-NAMED', debtorName: 'J. Doe', debtorReference: 'CUST-8', scheme: 'SEPA' })
  await create({ collectionReference: 'COL-MOVED', collectionDate: '2026-11-08' })
  await create({ collectionReference: 'COL-RETURN', debtorReference: 'SIM-RETURNED-AM04' })
  await create({ collectionReference: 'COL-REJECT', debtorReference: 'SIM-REJECTED-AC01' })
  await create({ collectionReference: 'COL-FAIL', debtorReference: 'SIM-FAILED' })
  await create({ collectionReference: 'COL-ONCE', mandateReference: 'MND-ONCE' })
  await create({ collectionReference: 'COL-TWICE', mandateReference: 'MND-ONCE' })
  await create({ collectionReference: 'COL-GONE', mandateReference: 'MND-GONE' })
  await create({ collectionReference: 'COL-NONE', mandateReference: 'MND-NONE' })
  await create({ collectionReference: 'COL-X', collectionDate: '2026-11-03' })
  await create({ collectionReference: 'COL-0009', collectionDate: '2026-11-03' })
  await create({ collectionReference: 'COL-0009', collectionDate: '2028-11-03' })
  await create({ collectionReference: 'COL-0009', collectionDate: '2026-11-31' })
  await create({ collectionReference: 'COL-0009', collectionDate: '09.11.2026' })
  await create({ collectionReference: 'COL-0009', amount: 10.5 })
  await create({ collectionReference: 'COL-0009', amount: '010.50' })
  await create({ collectionReference: 'COL-0009', currency: 'USD' })
  await client.get(`${COLLECTIONS}/COL-0001`)
  await client.get(`${COLLECTIONS}/COL-NONE`)
  await client.get(COLLECTIONS)
  await pages(client, COLLECTIONS)
  await client.get(`${COLLECTIONS}?status=PENDING&scheme=SEPA&mandateReference=MND-0001&debtorReference=CUST-7`)
  await client.get(
    `${COLLECTIONS}?amountMin=10.5&amountMax=10.509&initiatedFrom=${MONDAY}&initiatedTo=2026-11-02T09:01:00Z`,
  )
  await client.get(`${COLLECTIONS}?status=SETTLED`)
  await client.get(`${COLLECTIONS}?status=OTHER`)
  await client.get(`${COLLECTIONS}?limit=501`)
  // The mandate of a pending collection is cancelled.
  await create({ collectionReference: 'COL-LATER', mandateReference: 'MND-LATER' })
  await client.get(`${COLLECTIONS}/COL-LATER`)
  await client.delete(`${MANDATES}/MND-LATER`)
  await client.get(`${COLLECTIONS}/COL-LATER`)
}

async function payoutLinks(client: Client) {
  const create = (changes: object = {}, region = 'EU') => client.post(LINKS, payoutLink(changes), { region })
  const { body } = await create({
    accountHolderName: 'Jane Doe',
    remarks: 'Refund',
    counterpartyReference: 'CPTY-0001',
  })
  await create({ uiMode: 'embedded' })
  await create({ uiMode: 'embedded', origin: 'http://localhost:3000', expiryPeriod: 'pt30m' })
  await create({ uiMode: 'embedded', origin: 'https://shop.example' })
  await create({ uiMode: 'embedded', expiryPeriod: 'PT5M' })
  await create({ expiryPeriod: 'P31D' })
  await create({ expiryPeriod: 'P1D', payoutMethod: 'SEPA-INSTANT' })
  await create({ currency: 'USD' })
  await create({ payoutMethod: 'UK-FAST' })
  await create({ payoutMethod: 'UK-FAST', currency: 'GBP', amount: '1000000.01' }, 'UK')
  await create({ payoutMethod: 'UK-BACS', currency: 'GBP' }, 'UK')
  await create({ payoutMethod: 'US-ACH', currency: 'USD' }, 'GB')
  const cancel = (id: string, comment: unknown, region = 'EU') =>
    client.patch(`${LINKS}/${id}/cancel`, { cancellationComment: comment }, { region })
  await cancel(body.payoutLinkId, 'Wrong amount', 'US')
  await cancel(body.payoutLinkId, '')
  await cancel(body.payoutLinkId, 'Wrong amount')
  await cancel(body.payoutLinkId, 'Wrong amount')
  await cancel('pl_none', 'Wrong amount')
  await client.get(`${LINKS}/${body.payoutLinkId}`)
  const claimed = await create()
  await client.control('POST', `/payout-links/${claimed.body.payoutLinkId}/claim`, {
    accountHolderName: 'Jane Doe',
    accountIdentifier: 'DE89370400440532013000',
  })
  await cancel(claimed.body.payoutLinkId, 'Too late')
}

async function bills(client: Client) {
  const path = `${BILLS}/INV-2026-001`
  await client.post(BILLS, bill({ issueDate: '2026-11-01', description: 'Rental' }))
  await client.post(BILLS, bill())
  await client.post(BILLS, bill({ uniqueReferenceIdentifier: 'INV-2', openAmount: '100', dueDate: '2026-11-20' }))
  await client.post(BILLS, bill({ uniqueReferenceIdentifier: 'INV-3', openAmount: '9999' }))
  await client.post(BILLS, bill({ uniqueReferenceIdentifier: 'INV-3', currency: 'USD' }))
  await client.post(BILLS, bill({ uniqueReferenceIdentifier: 'I N V' }))
  await client.post(BILLS, bill({ uniqueReferenceIdentifier: 'INV-UK', currency: 'GBP' }), { region: 'UK' })
  await client.get(path)
  await client.get(`${BILLS}/INV-UK`)
  await client.get(`${BILLS}/I%20V`)
  await client.patch(path, { openAmount: '190.00' })
  await client.patch(path, { status: 'OPEN', openAmount: '1.00' })
  await client.patch(path, { dueDate: '2026-12-24' })
  await client.patch(path, { status: 'PAID' })
  await client.patch(path, {})
  await client.send('POST', `${path}/document`, { headers: MULTIPART, body: multipart({}).toString() })
  await client.get(path)
  await client.patch(path, { status: 'CANCELLED' })
  await client.patch(path, { dueDate: '2026-12-25' })
  await client.get(path)
  await pages(client, BILLS)
  await client.get(`${BILLS}?status=PARTIALLY_PAID&type=INVOICE&cashflowType=INFLOW&counterpartyReference=CPTY-0001`)
  await client.get(`${BILLS}?dueDateFrom=2026-11-20&dueDateTo=2026-11-30`)
}

async function parties(client: Client) {
  const path = '/api/v1/counterparties/CPTY-0001'
  await client.patch(path, {
    accountHolderName: 'Brunnwald GmbH',
    emailAddress: 'billing@brunnwald.example',
    mobileNumber: '+491713920001',
    remarks: 'Monthly',
    address: { line1: 'Lindenallee 14', city: 'Berlin', postalCode: '10115', country: 'DE' },
  })
  await client.patch(path, { counterpartyReference: 'CPTY-0002', remarks: 'x' })
  await client.patch(path, {})
  await client.patch(path, { mobileNumber: '0171' })
  await client.patch('/api/v1/counterparties/CPTY-NONE', { remarks: 'x' })
  await client.patch('/api/v1/counterparties/CP-UK-01', { remarks: 'x' }, { region: 'UK' })
  await client.get('/api/v1/accounts')
  await client.get('/api/v1/accounts?currency=USD', { region: 'US' })
}

async function paths(client: Client) {
  await client.get(`${MANDATES}/MND/0001`)
  await client.get(`${MANDATES}/MND%2F0001`)
  await client.get(`${MANDATES}/`)
  await client.send('PUT', MANDATES)
  await client.send('OPTIONS', MANDATES)
  await client.get('/api/v1/unknown')
  await client.get('/other')
}

async function deprecated(client: Client) {
  const operation = `GET ${COLLECTIONS}`
  await client.control('PUT', '/deprecations', { data: [{ operation, sunset: '2027-06-30T00:00:00Z' }] })
  await client.get(COLLECTIONS)
}
