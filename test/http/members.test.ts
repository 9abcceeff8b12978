import t from 'tap'
import type { Client } from '../helper.js'
import { bill, build, collection, connect, mandate, payoutLink } from '../helper.js'
import { refused, stateOf, stock } from './raw.js'

/**
 * What a member may hold. The table states the members of the interface and of decisions §6 to §10; the tests put a
 * wrong value of each kind in the place of each, and leave each required one out.
 */
type Kind = 'text' | 'object' | 'rate' | 'true' | 'list'

interface Endpoint {
  readonly method: string
  readonly url: string
  /** Below /_sandbox. */
  readonly isControl?: true
  /** A body with every member of the endpoint. */
  readonly body: object
  readonly required: Record<string, Kind>
  readonly optional: Record<string, Kind>
}

const LINK = 'PAYOUT-LINK-ID'
const optionalReason: Pick<Endpoint, 'body' | 'required' | 'optional'> = {
  body: { reasonCode: 'AC01' },
  required: {},
  optional: { reasonCode: 'text' },
}

const endpoints: Endpoint[] = [
  {
    method: 'POST',
    url: '/api/v1/mandates',
    body: mandate({
      mandateReference: 'MND-0002',
      frequency: 'MONTHLY',
      mode: 'CORE',
      scheme: 'SEPA',
      currency: 'EUR',
      signatureDate: '2026-11-01',
      debtor: { ...mandate().debtor, bic: 'COBADEFFXXX', reference: 'D-1', emailAddress: 'jane@example.com' },
    }),
    required: {
      mandateReference: 'text',
      type: 'text',
      creditor: 'object',
      'creditor.name': 'text',
      'creditor.bankIdentifier': 'object',
      'creditor.bankIdentifier.type': 'text',
      'creditor.bankIdentifier.value': 'text',
      debtor: 'object',
      'debtor.name': 'text',
      'debtor.iban': 'text',
    },
    optional: {
      mode: 'text',
      scheme: 'text',
      currency: 'text',
      frequency: 'text',
      signatureDate: 'text',
      'debtor.bic': 'text',
      'debtor.reference': 'text',
      'debtor.emailAddress': 'text',
    },
  },
  {
    method: 'POST',
    url: '/api/v1/direct-debit',
    body: collection({
      collectionReference: 'COL-0002',
      scheme: 'SEPA',
      debtorName: 'Jane Doe',
      debtorReference: 'D-1',
    }),
    required: {
      collectionReference: 'text',
      mandateReference: 'text',
      amount: 'text',
      currency: 'text',
      collectionDate: 'text',
    },
    optional: { scheme: 'text', debtorName: 'text', debtorReference: 'text' },
  },
  {
    method: 'POST',
    url: '/api/v1/payout-links',
    body: payoutLink({
      counterpartyReference: 'CPTY-0001',
      accountHolderName: 'Jane Doe',
      uiMode: 'hosted',
      expiryPeriod: 'PT1H',
      origin: 'https://shop.example',
      remarks: 'Refund',
    }),
    required: { amount: 'text', currency: 'text', payoutMethod: 'text' },
    optional: {
      counterpartyReference: 'text',
      accountHolderName: 'text',
      uiMode: 'text',
      expiryPeriod: 'text',
      origin: 'text',
      remarks: 'text',
    },
  },
  {
    method: 'PATCH',
    url: `/api/v1/payout-links/${LINK}/cancel`,
    body: { cancellationComment: 'no' },
    required: { cancellationComment: 'text' },
    optional: {},
  },
  {
    method: 'POST',
    url: '/api/v1/bills',
    body: bill({
      uniqueReferenceIdentifier: 'INV-2026-002',
      openAmount: '1190.00',
      issueDate: '2026-11-01',
      description: 'Paper',
    }),
    required: {
      uniqueReferenceIdentifier: 'text',
      type: 'text',
      cashflowType: 'text',
      counterpartyReference: 'text',
      currency: 'text',
      totalAmount: 'text',
      dueDate: 'text',
    },
    optional: { openAmount: 'text', issueDate: 'text', description: 'text' },
  },
  {
    method: 'PATCH',
    url: '/api/v1/bills/INV-2026-001',
    body: { status: 'PARTIALLY_PAID', openAmount: '1.00', dueDate: '2026-12-02' },
    required: {},
    optional: { status: 'text', openAmount: 'text', dueDate: 'text' },
  },
  {
    method: 'PATCH',
    url: '/api/v1/counterparties/CPTY-0001',
    body: {
      accountHolderName: 'Jane Doe',
      emailAddress: 'jane@example.com',
      mobileNumber: '+4915112345678',
      remarks: 'none',
      address: { line1: 'a', line2: 'b', city: 'c', postalCode: 'd', state: 'e', country: 'DE' },
    },
    required: { 'address.line1': 'text', 'address.city': 'text', 'address.country': 'text' },
    optional: {
      accountHolderName: 'text',
      emailAddress: 'text',
      mobileNumber: 'text',
      remarks: 'text',
      address: 'object',
      'address.line2': 'text',
      'address.postalCode': 'text',
      'address.state': 'text',
    },
  },
  {
    method: 'PATCH',
    url: '/clock',
    isControl: true,
    body: { mode: 'frozen', rate: 1 },
    required: {},
    optional: { mode: 'text', rate: 'rate' },
  },
  {
    method: 'POST',
    url: '/clock/advance',
    isControl: true,
    body: { by: 'P1D' },
    required: {},
    optional: { by: 'text' },
  },
  {
    method: 'POST',
    url: '/clock/advance',
    isControl: true,
    body: { to: '2026-11-03T00:00:00Z' },
    required: {},
    optional: { to: 'text' },
  },
  {
    method: 'POST',
    url: '/clock/advance',
    isControl: true,
    body: { toNextEvent: true },
    required: {},
    optional: { toNextEvent: 'true' },
  },
  {
    method: 'POST',
    url: `/payout-links/${LINK}/claim`,
    isControl: true,
    body: {
      accountHolderName: 'Jane Doe',
      accountIdentifier: 'DE89370400440532013000',
      branchIdentifier: { type: 'BIC', value: 'COBADEFFXXX' },
      accountType: 'CHECKING',
    },
    required: {
      accountHolderName: 'text',
      accountIdentifier: 'text',
      'branchIdentifier.type': 'text',
      'branchIdentifier.value': 'text',
    },
    optional: { branchIdentifier: 'object', accountType: 'text' },
  },
  {
    method: 'POST',
    url: `/payout-links/${LINK}/decline`,
    isControl: true,
    body: { remarks: 'no' },
    required: {},
    optional: { remarks: 'text' },
  },
  ...['submit', 'process', 'settle', 'fail', 'reject', 'return', 'cancel'].map(
    (verb): Endpoint => ({
      method: 'POST',
      url: `/direct-debit/COL-0001/${verb}`,
      isControl: true,
      ...optionalReason,
    }),
  ),
  {
    method: 'POST',
    url: '/seed',
    isControl: true,
    body: { records: { mandates: [], collections: [], payoutLinks: [], bills: [], counterparties: [], accounts: [] } },
    required: {},
    optional: {
      records: 'object',
      'records.mandates': 'list',
      'records.collections': 'list',
      'records.payoutLinks': 'list',
      'records.bills': 'list',
      'records.counterparties': 'list',
      'records.accounts': 'list',
    },
  },
  {
    method: 'PUT',
    url: '/settings',
    isControl: true,
    body: { mandateActivation: 'manual', allowedOrigins: ['https://shop.example'] },
    required: {},
    optional: { mandateActivation: 'text', allowedOrigins: 'list' },
  },
]

const LONG = 'x'.repeat(1_000_000)
const anything = [null, false, 0, 1, 1.5, -1, 1e300]

/** Values that no member of the kind takes. */
const wrong: Record<Kind, unknown[]> = {
  text: [...anything, true, [], ['x'], [[]], {}, { a: 1 }, { length: 5 }, LONG],
  object: [...anything, true, 'x', LONG, [], ['x'], [{}]],
  rate: [null, false, true, 0, -1, 1.5, 86_401, 1e300, '1', 'x', LONG, [], [1], {}],
  true: [...anything, 'true', LONG, [], [true], {}],
  list: [...anything, true, 'x', LONG, {}, { length: 0 }],
}

/** A copy of the body with another value at the path; undefined leaves the member out. */
function changed(body: object, path: string, value: unknown): object {
  const copy = structuredClone(body) as Record<string, unknown>
  const names = path.split('.')
  const last = names.pop() as string
  let parent = copy
  for (const name of names) parent = parent[name] as Record<string, unknown>
  if (value === undefined) delete parent[last]
  else parent[last] = value
  return copy
}

async function prepare(t: Parameters<typeof build>[0]) {
  const client = await connect(build(t))
  const payoutLinkId = await stock(client)
  const send = ({ method, url, isControl }: Endpoint, body: unknown) => {
    const path = url.replace(LINK, payoutLinkId)
    return isControl ? client.control(method, path, body) : client.send(method, path, { body })
  }
  return { client, payoutLinkId, send }
}

const stateOfAll = async (client: Client, payoutLinkId: string) => [
  await stateOf(client, payoutLinkId),
  (await client.control('GET', '/direct-debit/COL-0001')).body,
]

/** decisions §2: the pattern of a bill's reference has a code of its own, its type has not. */
const codeOf = (path: string, value: unknown) =>
  path === 'uniqueReferenceIdentifier' && typeof value === 'string' ? 'INVALID_BILL_REFERENCE' : 'INVALID_FIELD'

const show = (value: unknown) => (value === LONG ? 'a million x' : JSON.stringify(value))

for (const endpoint of endpoints) {
  const { method, url, body, required, optional } = endpoint
  const operation = `${method} ${endpoint.isControl ? '/_sandbox' : ''}${url}`

  t.test(`decisions §2: ${operation} ${Object.keys(body)}: wrong values are INVALID_FIELD by name`, async t => {
    const { client, payoutLinkId, send } = await prepare(t)
    const before = await stateOfAll(client, payoutLinkId)
    for (const [path, kind] of Object.entries({ ...required, ...optional })) {
      for (const value of wrong[kind]) {
        const answer = await send(endpoint, changed(body, path, value))
        refused(t, answer, 400, codeOf(path, value), path, `${path}: ${show(value)}`)
        const { message } = answer.body
        t.notOk(message.length > 500 || /x{81}/.test(message), 'the message quotes at most 80 characters')
      }
      if (kind === 'text' && path in optional) {
        refused(t, await send(endpoint, changed(body, path, '')), 400, 'INVALID_FIELD', path, `${path}: empty`)
      }
    }
    t.same(await stateOfAll(client, payoutLinkId), before, 'the state is as before')
  })

  if (Object.keys(required).length > 0) {
    t.test(
      `decisions §2: ${operation}: a required member that is absent or empty is MISSING_FIELD by name`,
      async t => {
        const { client, payoutLinkId, send } = await prepare(t)
        const before = await stateOfAll(client, payoutLinkId)
        for (const [path, kind] of Object.entries(required)) {
          const absent = await send(endpoint, changed(body, path, undefined))
          refused(t, absent, 400, 'MISSING_FIELD', path, `${path}: absent`)
          if (kind !== 'text') continue
          refused(t, await send(endpoint, changed(body, path, '')), 400, 'MISSING_FIELD', path, `${path}: empty`)
        }
        t.same(await stateOfAll(client, payoutLinkId), before, 'the state is as before')
      },
    )
  }
}

t.test('the bodies of this table are right but for what the tests change', async t => {
  for (const endpoint of endpoints.filter(({ isControl }) => !isControl)) {
    const { send } = await prepare(t)
    const body = endpoint.url.includes('payout-links') ? changed(endpoint.body, 'origin', undefined) : endpoint.body
    const { status } = await send(endpoint, body)
    t.ok(status >= 200 && status < 300, `${endpoint.method} ${endpoint.url}: ${status}`)
  }
})

t.test(
  'decisions §1: an array for the whole of a nested object, and objects in a list, are told by their place',
  async t => {
    const client = await connect(build(t))
    const settings = await client.control('PUT', '/settings', { allowedOrigins: ['https://a.example', 1] })
    t.equal(settings.status, 400)
    t.match(settings.body.field, /^allowedOrigins\b/)
    const records = { mandates: [mandate(), mandate({ mandateReference: 'MND-0002', debtor: { name: 'x' } })] }
    const seeded = await client.control('POST', '/seed', { records })
    t.same([seeded.status, seeded.body.code], [400, 'MISSING_FIELD'])
    t.match(seeded.body.field, /mandates.*1.*debtor\.iban$/)
    const empty = { mandates: [mandate(), mandate({ mandateReference: '' })] }
    const unnamed = await client.control('POST', '/seed', { records: empty })
    t.same([unnamed.status, unnamed.body.code], [400, 'MISSING_FIELD'])
    t.match(unnamed.body.field, /mandates.*1.*mandateReference$/)
    t.equal((await client.get('/api/v1/mandates')).body.totalCount, 0, 'all or nothing')
  },
)
