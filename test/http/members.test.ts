import fc from 'fast-check'
import t from 'tap'
import { byArea } from '../../src/areas/index.js'
import { changed, gist, invalid, missing } from '../answers.js'
import type { Answer, Client } from '../helper.js'
import { bill, build, collection, mandate, newClient, payoutLink } from '../helper.js'
import { stateOf, stock } from './raw.js'

/** The type of a member. The tables state the members of the interface and of decisions §6 to §10. */
type Kind = 'text' | 'object' | 'rate' | 'true' | 'list'
type Members = Record<string, Kind>

interface Endpoint {
  readonly method: string
  readonly url: string
  /** A body with every member of the endpoint. */
  readonly body: object
  readonly required: Members
  readonly optional: Members
}

const texts = (...names: string[]): Members => Object.fromEntries(names.map(name => [name, 'text']))
const endpoint = (line: string, body: object, required: Members, optional: Members = {}): Endpoint => {
  const [method = '', url = ''] = line.split(' ')
  return { method, url, body, required, optional }
}

const records = byArea(() => [])

const endpoints: Endpoint[] = [
  endpoint(
    'POST /api/v1/mandates',
    mandate({
      ...{ mandateReference: 'MND-0002', frequency: 'MONTHLY', mode: 'CORE', scheme: 'SEPA', currency: 'EUR' },
      signatureDate: '2026-11-01',
      debtor: { ...mandate().debtor, bic: 'COBADEFFXXX', reference: 'D-1', emailAddress: 'jane@example.com' },
    }),
    {
      ...texts('mandateReference', 'type', 'creditor.name', 'debtor.name', 'debtor.iban'),
      ...texts('creditor.bankIdentifier.type', 'creditor.bankIdentifier.value'),
      creditor: 'object',
      'creditor.bankIdentifier': 'object',
      debtor: 'object',
    },
    {
      ...texts('mode', 'scheme', 'currency', 'frequency', 'signatureDate'),
      ...texts('debtor.bic', 'debtor.reference', 'debtor.emailAddress'),
    },
  ),
  endpoint(
    'POST /api/v1/direct-debit',
    collection({ collectionReference: 'COL-0002', scheme: 'SEPA', debtorName: 'Jane', debtorReference: 'D-1' }),
    texts('collectionReference', 'mandateReference', 'amount', 'currency', 'collectionDate'),
    texts('scheme', 'debtorName', 'debtorReference'),
  ),
  endpoint(
    'POST /api/v1/payout-links',
    payoutLink({
      ...{ counterpartyReference: 'CPTY-0001', accountHolderName: 'Jane Doe', uiMode: 'hosted' },
      ...{ expiryPeriod: 'PT1H', origin: 'http://localhost:3000', remarks: 'Refund' },
    }),
    texts('amount', 'currency', 'payoutMethod'),
    texts('counterpartyReference', 'accountHolderName', 'uiMode', 'expiryPeriod', 'origin', 'remarks'),
  ),
  endpoint('PATCH /api/v1/payout-links/LINK/cancel', { cancellationComment: 'no' }, texts('cancellationComment')),
  endpoint(
    'POST /api/v1/bills',
    bill({
      ...{ uniqueReferenceIdentifier: 'INV-2026-002', openAmount: '1190.00' },
      ...{ issueDate: '2026-11-01', description: 'Paper' },
    }),
    {
      ...texts('uniqueReferenceIdentifier', 'type', 'cashflowType', 'counterpartyReference'),
      ...texts('currency', 'totalAmount', 'dueDate'),
    },
    texts('openAmount', 'issueDate', 'description'),
  ),
  endpoint(
    'PATCH /api/v1/bills/INV-2026-001',
    { status: 'PARTIALLY_PAID', openAmount: '1.00', dueDate: '2026-12-02' },
    {},
    texts('status', 'openAmount', 'dueDate'),
  ),
  endpoint(
    'PATCH /api/v1/counterparties/CPTY-0001',
    {
      accountHolderName: 'Jane Doe',
      emailAddress: 'jane@example.com',
      mobileNumber: '+4915112345678',
      remarks: 'none',
      address: { line1: 'a', line2: 'b', city: 'c', postalCode: 'd', state: 'e', country: 'DE' },
    },
    texts('address.line1', 'address.city', 'address.country'),
    {
      ...texts('accountHolderName', 'emailAddress', 'mobileNumber', 'remarks'),
      ...texts('address.line2', 'address.postalCode', 'address.state'),
      address: 'object',
    },
  ),
  endpoint('PATCH /_sandbox/clock', { mode: 'frozen', rate: 1 }, {}, { mode: 'text', rate: 'rate' }),
  endpoint('POST /_sandbox/clock/advance', { by: 'P1D' }, {}, texts('by')),
  endpoint('POST /_sandbox/clock/advance', { to: '2026-11-03T00:00:00Z' }, {}, texts('to')),
  endpoint('POST /_sandbox/clock/advance', { toNextEvent: true }, {}, { toNextEvent: 'true' }),
  endpoint(
    'POST /_sandbox/payout-links/LINK/claim',
    {
      accountHolderName: 'Jane Doe',
      accountIdentifier: 'DE89370400440532013000',
      branchIdentifier: { type: 'BIC', value: 'COBADEFFXXX' },
      accountType: 'CHECKING',
    },
    texts('accountHolderName', 'accountIdentifier', 'branchIdentifier.type', 'branchIdentifier.value'),
    { branchIdentifier: 'object', accountType: 'text' },
  ),
  endpoint('POST /_sandbox/payout-links/LINK/decline', { remarks: 'no' }, {}, texts('remarks')),
  endpoint('POST /_sandbox/direct-debit/COL-0001/fail', { reasonCode: 'AC01' }, {}, texts('reasonCode')),
  endpoint(
    'POST /_sandbox/seed',
    { records },
    {},
    {
      records: 'object',
      ...Object.fromEntries(Object.keys(records).map(name => [`records.${name}`, 'list' as const])),
    },
  ),
  endpoint(
    'PUT /_sandbox/settings',
    { mandateActivation: 'manual', allowedOrigins: ['https://shop.example'] },
    {},
    { mandateActivation: 'text', allowedOrigins: 'list' },
  ),
]

const json = fc.jsonValue({ maxDepth: 1 })
const isText = (value: unknown) => typeof value === 'string'
const isObject = (value: unknown) => value !== null && typeof value === 'object' && !Array.isArray(value)

/** Values that no member of the kind accepts. */
const wrong: Record<Kind, fc.Arbitrary<unknown>> = {
  text: json.filter(value => !isText(value)),
  object: json.filter(value => !isObject(value)),
  rate: fc
    .oneof(json, fc.constantFrom(0, 86_401, 1.5))
    .filter(rate => !(Number.isInteger(rate) && Number(rate) > 0 && Number(rate) < 86_401)),
  true: json.filter(value => value !== true),
  list: json.filter(value => !Array.isArray(value)),
}

/** A client with one record of each kind, and the means to send a body to an endpoint and to read the state. */
async function prepare() {
  const client: Client = await newClient()
  const link = await stock(client)
  return {
    send({ method, url }: Endpoint, body: unknown): Promise<Answer> {
      const path = url.replace('LINK', link)
      return path.startsWith('/_sandbox')
        ? client.control(method, path.slice('/_sandbox'.length), body)
        : client.send(method, path, { body })
    },
    state: () => stateOf(client),
    client,
  }
}

t.test('decisions §2: a member of a wrong type is INVALID_FIELD by its name, and changes nothing', async t => {
  const { send, state } = await prepare()
  const before = await state()
  for (const one of endpoints) {
    for (const [path, kind] of Object.entries({ ...one.required, ...one.optional })) {
      for (const value of [null, ...fc.sample(wrong[kind], { seed: 1, numRuns: 3 })]) {
        const answer = gist(await send(one, changed(one.body, path, value)))
        if (answer !== invalid(path)) t.fail(`${one.url} ${path}: ${answer}`, { value })
      }
    }
  }
  t.same(await state(), before, 'the state is as before')
})

t.test(
  'decisions §2: a required member that is absent or empty is MISSING_FIELD, an empty optional one is not',
  async t => {
    const { send, state } = await prepare()
    const before = await state()
    for (const one of endpoints) {
      const sendAt = async (path: string, value: unknown) => gist(await send(one, changed(one.body, path, value)))
      for (const [path, kind] of Object.entries(one.required)) {
        t.equal(await sendAt(path, undefined), missing(path), one.url)
        if (kind === 'text') t.equal(await sendAt(path, ''), missing(path), one.url)
      }
      for (const [path, kind] of Object.entries(one.optional)) {
        if (kind === 'text') t.equal(await sendAt(path, ''), invalid(path), one.url)
      }
    }
    t.same(await state(), before, 'the state is as before')
  },
)

t.test('interface, Resources and their fields: each member of a new record is answered', async t => {
  const { send } = await prepare()
  for (const one of endpoints.filter(({ url }) => url.startsWith('/api'))) {
    const { status, body } = await send(one, one.body)
    t.ok(status < 300, `${one.method} ${one.url}: ${status}`)
    if (one.method === 'POST') t.hasStrict(body, one.body, `${one.method} ${one.url}`)
  }
})

t.test('interface, Resources and their fields: the table has every member of the schemas', async t => {
  const app = build(t)
  const members: [method: string, url: string, names: string[]][] = []
  app.addHook('onRoute', ({ method, url, schema, config }) => {
    const { properties } = (schema as { body?: { properties?: object } } | undefined)?.body ?? {}
    const isJson = (config as { consumes?: string } | undefined)?.consumes === undefined
    if (properties && isJson && url.startsWith('/api')) members.push([String(method), url, Object.keys(properties)])
  })
  await app.ready()
  for (const [method, url, names] of members) {
    const pattern = new RegExp(`^${url.replace(/:\w+/g, '[^/]+')}$`)
    const row = endpoints.find(endpoint => endpoint.method === method && pattern.test(endpoint.url))
    t.ok(row, `${method} ${url} has a row`)
    if (method === 'POST') t.same(Object.keys(row?.body ?? {}).sort(), names.sort(), url)
  }
  t.ok(members.length > 6)
})

t.test('decisions §1: an error in a list names the place', async t => {
  const client = await newClient()
  const seed = (second: object) => client.control('POST', '/seed', { records: { mandates: [mandate(), second] } })
  const settings = await client.control('PUT', '/settings', { allowedOrigins: ['https://a.example', 1] })
  t.match(gist(settings), /^400 INVALID_FIELD allowedOrigins\W1/)
  const iban = await seed(mandate({ mandateReference: 'MND-0003', debtor: { name: 'x' } }))
  t.equal(gist(iban), missing('records.mandates.1.debtor.iban'))
  t.equal(gist(await seed(mandate({ mandateReference: '' }))), missing('records.mandates.1.mandateReference'))
})

t.test('decisions §1: the items of a list that is too long are not read', async t => {
  const client = await newClient()
  const set = (data: object[]) => client.control('PUT', '/deprecations', { data })
  t.equal(gist(await set([{ x: 1 }])), invalid('data.0.x'))
  t.equal(gist(await set(Array(101).fill({ x: 1 }))), invalid('data'))
})
