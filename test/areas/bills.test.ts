import t from 'tap'
import { CURRENCY_OF, gist, holds, invalid, invalidQuery, missing, NO_TEXT, REGIONS, table } from '../answers.js'
import type { Client } from '../helper.js'
import { bill, changedOften, MONDAY, newClient } from '../helper.js'

const BILLS = '/api/v1/bills'
const REF = 'INV-2026-001'
const ONE = `${BILLS}/${REF}`
const WRONG_REFERENCE = '400 INVALID_BILL_REFERENCE uniqueReferenceIdentifier'
const UNKNOWN = '404 BILL_NOT_FOUND uniqueReferenceIdentifier'
const DUPLICATE = '409 DUPLICATE_REFERENCE uniqueReferenceIdentifier'
const CONTRADICTION = '400 INCONSISTENT_BILL_UPDATE status'
const CANCELLED = '409 BILL_CANCELLED uniqueReferenceIdentifier'
const WRONG_CURRENCY = '400 REGION_CURRENCY_MISMATCH currency'
const NO_COUNTERPARTY = '404 COUNTERPARTY_NOT_FOUND counterpartyReference'

let references = 1000
/** Posts a bill under a reference of its own. */
const post = (client: Client, changes: object = {}) =>
  client.post(BILLS, bill({ uniqueReferenceIdentifier: `ref-${++references}`, ...changes }))

const read = async (client: Client, reference = REF) => (await client.get(`${BILLS}/${reference}`)).body
const remark = (client: Client, reference = 'CPTY-0001', region = 'EU') =>
  client.patch(`/api/v1/counterparties/${reference}`, { remarks: 'hi' }, { region })
const seed = (client: Client, ...bills: object[]) => client.control('POST', '/seed', { records: { bills } })

// ------------------------------------------------------------------------------------------------------ creation

t.test('decisions §9: an ingested bill is answered with 201 and its record, and can be read', async t => {
  const client = await newClient()
  const request = bill({ openAmount: '190.5', issueDate: '2026-11-01', description: 'Käse' })
  const state = { documents: [], createdAt: MONDAY, updatedAt: MONDAY }
  const full = await client.post(BILLS, request)
  t.same([full.status, full.body], [201, { ...request, status: 'PARTIALLY_PAID', ...state }])
  t.same(await read(client), full.body)
  const least = (await post(client)).body
  const { uniqueReferenceIdentifier, ...rest } = bill()
  t.match(least, { ...rest, openAmount: '1190.00', status: 'OPEN', ...state }, 'openAmount is totalAmount by default')
  t.equal(Object.keys(least).length, Object.keys(full.body).length - 2, 'what else is optional is left out')
})

t.test('decisions §9: uniqueReferenceIdentifier has 3 to 64 letters, digits, hyphens, underscores', async t => {
  const client = await newClient()
  const right = ['abc', 'A-_', '000', '-_-', 'x'.repeat(64)]
  const wrong = ['ab', 'x'.repeat(65), 'a.b', 'a b', 'abc ', 'abc\n', 'äbc', 'a/b/c', '１２３']
  await table(t, reference => client.post(BILLS, bill({ uniqueReferenceIdentifier: reference })), {
    201: right,
    [WRONG_REFERENCE]: wrong,
  })
  await table(t, reference => client.get(`${BILLS}/${reference}`), { 200: right })
})

t.test('decisions §9: members of a bill take their own values, and no others', async t => {
  const client = await newClient()
  // The tests of core/time and core/money have all other forms.
  const dates = ['2026-02-28', '2028-02-29', '1999-12-31', '9999-12-31']
  const noDates = ['2026-02-29', '2026-1-1', '01.12.2026', '2026-12-01T00:00:00Z']
  const amounts = ['-1', '01', '1.234', '1,00', '1e3', '1\n', '1000000000', 1.5]
  const members: [field: string, right: string[], wrong: unknown[]][] = [
    ['type', ['INVOICE', 'CREDIT_NOTE', 'DEBIT_NOTE'], ['invoice', 'RECEIPT', 'INVOICE ']],
    ['cashflowType', ['INFLOW', 'OUTFLOW'], ['inflow', 'IN', 'BOTH']],
    ['currency', ['EUR'], ['eur', 'CHF', 'EURO']],
    ['counterpartyReference', ['abc-5', '-----', 'x'.repeat(50)], ['abcd', 'x'.repeat(51), 'abc_5', 'äbcde', 'abc/5']],
    ['totalAmount', ['1', '1.5', '1.05', '999999999.99'], amounts],
    ['openAmount', ['0', '1190'], [...amounts, '', ...NO_TEXT]],
    ['dueDate', dates, noDates],
    ['issueDate', dates, [...noDates, '', ...NO_TEXT]],
    ['description', ['x', '💶'.repeat(256)], ['', '💶'.repeat(257), ...NO_TEXT]],
  ]
  for (const [field, right, wrong] of members) {
    const send = async (value: unknown) => {
      const answer = await post(client, { [field]: value })
      return answer.status === 201 && answer.body[field] !== value ? `stored as ${answer.body[field]}` : answer
    }
    await table(t, send, { 201: right, [invalid(field)]: wrong })
  }
})

t.test('decisions §4: the currency belongs to the region', async t => {
  const client = await newClient()
  const pairs = REGIONS.flatMap(region => Object.values(CURRENCY_OF).map(currency => [region, currency] as const))
  await table(t, ([region, currency]) => client.post(BILLS, bill({ currency }), { region }), {
    201: pairs.filter(([region, currency]) => CURRENCY_OF[region] === currency),
    [WRONG_CURRENCY]: pairs.filter(([region, currency]) => CURRENCY_OF[region] !== currency),
  })
})

// -------------------------------------------------------------------------------------------------------- status

t.test('decisions §9: the status of a new bill follows its open amount, which is at most the total', async t => {
  const client = await newClient()
  const create = async (amounts: string) => {
    const [totalAmount, openAmount] = amounts.split(' ')
    const answer = await post(client, { totalAmount, openAmount })
    return answer.status === 201 ? answer.body.status : answer
  }
  await table(t, create, {
    OPEN: ['100.00', '100.00 100.00', '100.00 100', '100 100.0'],
    PARTIALLY_PAID: ['100.00 99.99', '100.00 0.01', '999999999.99 999999999.98'],
    PAID: ['100.00 0', '100.00 0.0', '100.00 0.00'],
    [invalid('openAmount')]: ['100.00 100.01', '100.00 101', '1 999999999.99'],
  })
})

t.test('decisions §9: the status of an updated bill follows its open amount, in every direction', async t => {
  const client = await newClient()
  await client.post(BILLS, bill({ totalAmount: '100.00' }))
  const steps: [openAmount: string, status: string][] = [
    ['40', 'PARTIALLY_PAID'],
    ['100', 'OPEN'],
    ['0.00', 'PAID'],
    ['0.01', 'PARTIALLY_PAID'],
    ['0', 'PAID'],
    ['100.00', 'OPEN'],
    ['100.01', invalid('openAmount')],
  ]
  await holds(t, steps, async openAmount => {
    const answer = await client.patch(ONE, { openAmount })
    if (answer.status === 200) t.same(await read(client), answer.body)
    return answer.status === 200 && answer.body.openAmount === openAmount ? answer.body.status : answer
  })
})

t.test('decisions §9: status and open amount of an update agree, or it is INCONSISTENT_BILL_UPDATE', async t => {
  const client = await newClient()
  /** `100.00: PAID 0.00` updates a bill of 100.00 whose open amount is before the colon. */
  const update = async (line: string) => {
    const [before, status, openAmount] = line.split(/:? /)
    const { body } = await post(client, { totalAmount: '100.00', openAmount: before })
    const answer = await client.patch(`${BILLS}/${body.uniqueReferenceIdentifier}`, { status, openAmount })
    if (answer.status === 200) return `${answer.body.status} ${answer.body.openAmount}`
    t.same(await read(client, body.uniqueReferenceIdentifier), body, 'a refused update changes nothing')
    return answer
  }
  await table(t, update, {
    'OPEN 100.00': ['100.00: OPEN'],
    'OPEN 100': ['100.00: OPEN 100'],
    'PARTIALLY_PAID 40': ['100.00: PARTIALLY_PAID 40', '40: PARTIALLY_PAID'],
    'PAID 0': ['100.00: PAID', '40: PAID', '0.00: PAID'],
    'PAID 0.00': ['100.00: PAID 0.00'],
    'CANCELLED 100.00': ['100.00: CANCELLED'],
    [CONTRADICTION]: [
      ...['100.00: PARTIALLY_PAID', '100.00: OPEN 99.99', '100.00: OPEN 0', '100.00: PARTIALLY_PAID 100'],
      ...[
        '100.00: PARTIALLY_PAID 0.00',
        '100.00: PAID 0.01',
        '40: OPEN',
        '40: PAID 40',
        '0: OPEN',
        '0: PARTIALLY_PAID',
      ],
    ],
  })
})

t.test('decisions §9: CANCELLED is final', async t => {
  const client = await newClient()
  for (const openAmount of ['1190.00', '5', '0']) {
    const { uniqueReferenceIdentifier } = (await post(client, { openAmount })).body
    const url = `${BILLS}/${uniqueReferenceIdentifier}`
    const before = (await client.patch(url, { status: 'CANCELLED', dueDate: '2027-01-31' })).body
    t.match(before, { status: 'CANCELLED', dueDate: '2027-01-31' }, 'with another change at once')
    const updates = [{ status: 'CANCELLED' }, { status: 'PAID' }, { openAmount: '1' }, { dueDate: '2027-01-01' }]
    await table(t, update => client.patch(url, update), { [CANCELLED]: updates })
    t.same((await client.get(url)).body, before)
  }
})

// -------------------------------------------------------------------------------------------------------- update

t.test('decisions §9: an update has at least one of status, openAmount and dueDate, of their own types', async t => {
  const client = await newClient()
  await client.post(BILLS, bill())
  const wrong: Record<string, unknown[]> = {
    status: ['', 'paid', 'CLOSED', ...NO_TEXT],
    openAmount: ['', '-1', '01', '1.234', 'x', 0, ...NO_TEXT],
    dueDate: ['', '2026-02-30', '2026-1-1', 20260101, ...NO_TEXT],
  }
  for (const [field, values] of Object.entries(wrong)) {
    await table(t, value => client.patch(ONE, { [field]: value }), { [invalid(field)]: values })
  }
  await table(t, update => client.patch(ONE, update), {
    [missing(null)]: [undefined, {}, { colour: 'red' }, { totalAmount: '5' }],
    [invalid(null)]: [[{ status: 'PAID' }]],
  })
})

t.test('decisions §9: members are updated one by one or together, and updatedAt tells when', async t => {
  const client = await newClient()
  const { body } = await client.post(BILLS, bill())
  await client.advance({ by: 'PT1H' })
  const first = { ...body, dueDate: '2027-01-31', updatedAt: '2026-11-02T10:00:00Z' }
  t.same((await client.patch(ONE, { dueDate: '2027-01-31' })).body, first)
  await client.advance({ by: 'PT1H' })
  const update = { dueDate: '2027-02-28', openAmount: '0', status: 'PAID' }
  t.same((await client.patch(ONE, update)).body, { ...body, ...update, updatedAt: '2026-11-02T11:00:00Z' })
})

t.test(
  'decisions §9: a bill creates an unknown counterparty with only its reference, and changes no other',
  async t => {
    const client = await newClient()
    t.equal(gist(await remark(client)), NO_COUNTERPARTY)
    await client.post(BILLS, bill())
    t.equal(gist(await client.post(BILLS, bill({ counterpartyReference: 'OTHER-0001' }))), DUPLICATE)
    t.equal(gist(await remark(client, 'OTHER-0001')), NO_COUNTERPARTY, 'a refused bill creates none')
    t.same((await remark(client)).body, { counterpartyReference: 'CPTY-0001', remarks: 'hi' })
    t.equal(gist(await remark(client, 'CPTY-0001', 'US')), NO_COUNTERPARTY, 'only in the region of the bill')
    await client.patch('/api/v1/counterparties/CPTY-0001', { accountHolderName: 'Jane Doe' })
    await post(client)
    t.equal((await remark(client)).body.accountHolderName, 'Jane Doe')
  },
)

// ------------------------------------------------------------------------------------------------ regions, explain

t.test(
  'control plane, Explain the state of a record: the latest 100 events, oldest first, and a count of the others',
  async t => {
    for (const [count, omitted] of [
      [100, undefined],
      [101, 1],
    ] as const) {
      const client = await newClient()
      t.match(await changedOften(client, count), { status: 200 })
      const { timeline, ...explained } = (await client.control('GET', '/bills/B-1')).body
      t.same([explained.omitted, timeline.length], [omitted, 100], `${count} events`)
      const { data } = (await client.control('GET', '/events?kind=bill&reference=B-1')).body
      t.same(data.slice(-100), timeline, 'the log of events has all')
    }
  },
)

t.test('decisions §4: a bill belongs to its region, and the same reference may exist in another', async t => {
  const client = await newClient()
  const explain = (query = '') => client.control('GET', `/bills/${REF}${query}`)
  for (const region of REGIONS) {
    const before = [await client.get(ONE, { region }), await client.patch(ONE, { status: 'PAID' }, { region })]
    t.same(before.map(gist), [UNKNOWN, UNKNOWN])
    await client.post(BILLS, bill({ currency: CURRENCY_OF[region] }), { region })
    if (region === 'EU') t.equal((await explain()).body.record.currency, 'EUR', 'the only one')
  }
  await client.patch(ONE, { status: 'PAID' }, { region: 'US' })
  for (const region of REGIONS) {
    const { currency, status } = (await client.get(ONE, { region })).body
    const paid = (await client.get(`${BILLS}?status=PAID`, { region })).body.totalCount
    const explained = (await explain(`?region=${region}`)).body.record.currency
    const isPaid = region === 'US'
    t.same([currency, explained], [CURRENCY_OF[region], CURRENCY_OF[region]])
    t.same([status, paid], [isPaid ? 'PAID' : 'OPEN', isPaid ? 1 : 0], region)
  }
  await table(t, path => client.control('GET', path), {
    [missing('region')]: [`/bills/${REF}`],
    [invalidQuery('region')]: ['GB', 'eu', ''].map(region => `/bills/${REF}?region=${region}`),
    [UNKNOWN]: ['/bills/unknown', '/bills/unknown?region=EU'],
    [WRONG_REFERENCE]: ['/bills/ab'],
  })
})

t.test('control plane, Explain the state of a record: a bill, its past and moves', async t => {
  const client = await newClient()
  await client.post(BILLS, bill())
  await client.advance({ by: 'PT1H' })
  for (const update of [{ openAmount: '5' }, { dueDate: '2027-01-31' }, { status: 'CANCELLED' }]) {
    await client.patch(ONE, update)
  }
  const { record, timeline, next, legal } = (await client.control('GET', `/bills/${REF}`)).body
  t.same([record, next, legal], [await read(client), null, []])
  const event = { kind: 'bill', reference: REF, cause: 'api' }
  const at = '2026-11-02T10:00:00Z'
  const [first, second, third] = timeline.map(({ seq, ...rest }: { seq: number }) => rest)
  t.same(first, { ...event, at: MONDAY, from: null, to: 'OPEN' })
  t.same(second, { ...event, at, from: 'OPEN', to: 'PARTIALLY_PAID' })
  t.same(third, { ...event, at, from: 'PARTIALLY_PAID', to: 'CANCELLED' })
  t.equal(timeline.length, 3)
})

// ------------------------------------------------------------------------------------------------------- seeding

t.test('control plane, POST /seed: bills of any state, whose region follows from the currency', async t => {
  const client = await newClient()
  const file = { documentId: 'doc_seeded', fileName: 'bill.pdf', contentType: 'application/pdf', size: 5 }
  const documents = [{ ...file, sha256: '0'.repeat(64), uploadedAt: '2026-10-02T00:00:00Z' }]
  const past = { createdAt: '2026-10-01T00:00:00Z', updatedAt: '2026-10-03T00:00:00Z' }
  const part = { openAmount: '5', status: 'PARTIALLY_PAID', currency: 'GBP' }
  const gone = { status: 'CANCELLED', currency: 'USD', documents, ...past }
  const { status } = await seed(client, bill(part), bill({ status: 'PAID', currency: 'INR' }), bill(gone))
  t.equal(status, 200)
  const readIn = async (region: string) => (await client.get(ONE, { region })).body
  t.match(await readIn('UK'), part)
  t.match(await readIn('IN'), { status: 'PAID', openAmount: '0' })
  t.match(await readIn('US'), gone)
})

t.test('decisions §9: a bill of one cent cannot be paid in part, so its explanation does not offer it', async t => {
  const client = await newClient()
  for (const [uniqueReferenceIdentifier, totalAmount, states] of [
    ['INV-CENT-1', '0.01', 'PAID CANCELLED'],
    ['INV-CENT-2', '0.02', 'PARTIALLY_PAID PAID CANCELLED'],
  ] as const) {
    await client.post(BILLS, bill({ uniqueReferenceIdentifier, totalAmount }))
    for (const query of ['', '?region=EU']) {
      const { legal } = (await client.control('GET', `/bills/${uniqueReferenceIdentifier}${query}`)).body
      t.equal(legal.map(({ to }: { to: string }) => to).join(' '), states)
    }
  }
})
