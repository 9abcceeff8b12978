import t, { type Test } from 'tap'
import type { Answer, Client } from '../helper.js'
import { bill, build, connect, MONDAY } from '../helper.js'

const BILLS = '/api/v1/bills'
const REF = 'INV-2026-001'
const CURRENCY_OF = { EU: 'EUR', IN: 'INR', US: 'USD', UK: 'GBP' } as const
const REGIONS = ['EU', 'IN', 'US', 'UK'] as const

type Refusal = [number, string, string | null]

function refused(t: Test, { status, body }: Answer, expected: Refusal, what = expected[1]) {
  t.same([status, body?.code, body?.field], expected, what)
  t.same(Object.keys(body ?? {}).sort(), ['code', 'field', 'message'], `${what}: members`)
}

const invalid = (field: string | null): Refusal => [400, 'INVALID_FIELD', field]
const missing = (field: string | null): Refusal => [400, 'MISSING_FIELD', field]
const invalidQuery = (field: string): Refusal => [400, 'INVALID_QUERY_PARAMETER', field]
const invalidReference: Refusal = [400, 'INVALID_BILL_REFERENCE', 'uniqueReferenceIdentifier']
const unknown: Refusal = [404, 'BILL_NOT_FOUND', 'uniqueReferenceIdentifier']
const contradiction: Refusal = [400, 'INCONSISTENT_BILL_UPDATE', 'status']
const cancelled: Refusal = [409, 'BILL_CANCELLED', 'uniqueReferenceIdentifier']

/** Ingests bills with the references given, each with the changes that stand beside it, in this order. */
async function ingest(client: Client, bills: Record<string, object>, region = 'EU') {
  for (const [uniqueReferenceIdentifier, changes] of Object.entries(bills)) {
    const answer = await client.post(BILLS, bill({ uniqueReferenceIdentifier, ...changes }), { region })
    if (answer.status !== 201) throw new Error(`not ingested: ${JSON.stringify(answer.body)}`)
  }
}

const references = ({ body }: Answer): string[] =>
  body.data.map((record: { uniqueReferenceIdentifier: string }) => record.uniqueReferenceIdentifier)

// ------------------------------------------------------------------------------------------------------ creation

t.test('decisions §9: an ingested bill is answered with 201, and read as it was answered', async t => {
  const client = await connect(build(t))
  const request = {
    uniqueReferenceIdentifier: REF,
    type: 'INVOICE',
    cashflowType: 'INFLOW',
    counterpartyReference: 'CPTY-0001',
    currency: 'EUR',
    totalAmount: '1190.00',
    openAmount: '190.5',
    issueDate: '2026-11-01',
    dueDate: '2026-12-01',
    description: 'Käse',
  }
  const { status, body } = await client.post(BILLS, request)
  t.equal(status, 201)
  t.same(body, { ...request, status: 'PARTIALLY_PAID', documents: [], createdAt: MONDAY, updatedAt: MONDAY })
  const read = await client.get(`${BILLS}/${REF}`)
  t.same([read.status, read.body], [200, body])
})

t.test('decisions §9: openAmount is totalAmount by default, what else is optional is left out', async t => {
  const { status, body } = await (await connect(build(t))).post(BILLS, bill())
  t.equal(status, 201)
  t.same(body, {
    ...bill(),
    openAmount: '1190.00',
    status: 'OPEN',
    documents: [],
    createdAt: MONDAY,
    updatedAt: MONDAY,
  })
})

t.test('decisions §9: required members are named when they are missing, empty, or there is no body', async t => {
  const client = await connect(build(t))
  for (const field of [
    'uniqueReferenceIdentifier',
    'type',
    'cashflowType',
    'counterpartyReference',
    'currency',
    'totalAmount',
    'dueDate',
  ]) {
    refused(t, await client.post(BILLS, bill({ [field]: undefined })), missing(field), `${field} missing`)
    refused(t, await client.post(BILLS, bill({ [field]: '' })), missing(field), `${field} empty`)
    for (const wrong of [null, 1190, true, ['EUR'], {}]) {
      const answer = await client.post(BILLS, bill({ [field]: wrong }))
      refused(t, answer, invalid(field), `${field} ${JSON.stringify(wrong)}`)
    }
  }
  refused(t, await client.post(BILLS), missing('uniqueReferenceIdentifier'), 'no body')
  refused(t, await client.post(BILLS, [bill()]), invalid(null), 'an array')
  t.equal((await client.get(BILLS)).body.totalCount, 0, 'none of these was stored')
})

t.test('decisions §9: uniqueReferenceIdentifier has 3 to 64 letters, digits, hyphens, underscores', async t => {
  const client = await connect(build(t))
  for (const reference of ['abc', 'A-_', '000', '-_-', 'x'.repeat(64)]) {
    const answer = await client.post(BILLS, bill({ uniqueReferenceIdentifier: reference }))
    t.same([answer.status, answer.body.uniqueReferenceIdentifier], [201, reference])
    t.equal((await client.get(`${BILLS}/${reference}`)).status, 200, reference)
  }
  for (const reference of ['ab', 'x'.repeat(65), 'a.b', 'a b', 'abc ', 'abc\n', 'äbc', 'a/b/c', '１２３']) {
    const answer = await client.post(BILLS, bill({ uniqueReferenceIdentifier: reference }))
    refused(t, answer, invalidReference, JSON.stringify(reference))
  }
})

t.test('decisions §2: a reference in the path that breaks its pattern is INVALID_BILL_REFERENCE', async t => {
  const client = await connect(build(t))
  for (const reference of ['ab', 'x', 'x'.repeat(65), 'x'.repeat(5000), 'a.b', 'a%20b', '%C3%A4bc', 'abc~']) {
    const what = reference.slice(0, 20)
    refused(t, await client.get(`${BILLS}/${reference}`), invalidReference, `GET ${what}`)
    refused(t, await client.patch(`${BILLS}/${reference}`, { status: 'PAID' }), invalidReference, `PATCH ${what}`)
    refused(t, await client.post(`${BILLS}/${reference}/document`), invalidReference, `document ${what}`)
  }
})

t.test('interface, Errors 2: a reference with a forward slash is a routing error', async t => {
  const client = await connect(build(t))
  for (const reference of ['INV/001', 'INV%2F001', 'INV%2f001']) {
    refused(t, await client.get(`${BILLS}/${reference}`), [404, 'ROUTE_NOT_FOUND', null], `GET ${reference}`)
    const answer = await client.patch(`${BILLS}/${reference}`, { status: 'PAID' })
    refused(t, answer, [404, 'ROUTE_NOT_FOUND', null], `PATCH ${reference}`)
  }
})

t.test('decisions §9: enumerations are closed, and in upper case', async t => {
  const client = await connect(build(t))
  for (const [field, right, wrong] of [
    ['type', ['INVOICE', 'CREDIT_NOTE', 'DEBIT_NOTE'], ['invoice', 'RECEIPT', 'INVOICE ']],
    ['cashflowType', ['INFLOW', 'OUTFLOW'], ['inflow', 'IN', 'BOTH']],
    ['currency', ['EUR'], ['eur', 'CHF', 'EURO']],
  ] as const) {
    for (const [index, value] of right.entries()) {
      const request = bill({ uniqueReferenceIdentifier: `${field}-${index}`, [field]: value })
      const answer = await client.post(BILLS, request)
      t.same([answer.status, answer.body[field]], [201, value], `${field} ${value}`)
    }
    for (const value of wrong) {
      refused(t, await client.post(BILLS, bill({ [field]: value })), invalid(field), `${field} ${value}`)
    }
  }
})

t.test('decisions §9: counterpartyReference has 5 to 50 letters, digits and hyphens', async t => {
  const client = await connect(build(t))
  for (const [index, counterpartyReference] of ['abc-5', '-----', 'x'.repeat(50)].entries()) {
    const request = bill({ uniqueReferenceIdentifier: `ref-${index}`, counterpartyReference })
    t.equal((await client.post(BILLS, request)).status, 201, counterpartyReference)
  }
  for (const counterpartyReference of ['abcd', 'x'.repeat(51), 'abc_5', 'abc 5', 'abc.5', 'äbcde', 'abc/5']) {
    const answer = await client.post(BILLS, bill({ counterpartyReference }))
    refused(t, answer, invalid('counterpartyReference'), counterpartyReference)
  }
})

t.test('interface, amount: amounts of a bill are decimal strings, never numbers', async t => {
  const client = await connect(build(t))
  for (const [index, totalAmount] of ['1', '1.5', '1.05', '999999999.99'].entries()) {
    const answer = await client.post(BILLS, bill({ uniqueReferenceIdentifier: `ref-${index}`, totalAmount }))
    t.same([answer.status, answer.body.totalAmount, answer.body.openAmount], [201, totalAmount, totalAmount])
  }
  for (const field of ['totalAmount', 'openAmount']) {
    const wrong = ['-1', '+1', '01', '1.', '.5', '1.234', '1,00', '1e3', ' 1', '1 ', '1\n', 'NaN', '١', '1000000000']
    for (const value of wrong) {
      const answer = await client.post(BILLS, bill({ [field]: value }))
      refused(t, answer, invalid(field), `${field} ${JSON.stringify(value)}`)
    }
    for (const value of [1, 1.5, null, {}]) {
      const answer = await client.post(BILLS, bill({ [field]: value }))
      refused(t, answer, invalid(field), `${field} ${JSON.stringify(value)}`)
    }
  }
  refused(t, await client.post(BILLS, bill({ openAmount: '' })), invalid('openAmount'), 'openAmount is optional: empty')
})

t.test('interface, collectionDate; decisions §6: dates are days of the calendar', async t => {
  const client = await connect(build(t))
  for (const field of ['dueDate', 'issueDate']) {
    for (const [index, value] of ['2026-02-28', '2028-02-29', '1999-12-31', '9999-12-31'].entries()) {
      const request = bill({ uniqueReferenceIdentifier: `${field}-${index}`, [field]: value })
      const answer = await client.post(BILLS, request)
      t.same([answer.status, answer.body[field]], [201, value], `${field} ${value}`)
    }
    for (const value of [
      '2026-02-29',
      '2026-02-30',
      '2026-04-31',
      '2026-13-01',
      '2026-00-10',
      '2026-01-00',
      '2026-1-1',
      '20260101',
      '01.12.2026',
      '2026-12-01T00:00:00Z',
      ' 2026-12-01',
    ]) {
      refused(t, await client.post(BILLS, bill({ [field]: value })), invalid(field), `${field} ${value}`)
    }
  }
})

t.test('decisions §9: a description has 1 to 256 characters', async t => {
  const client = await connect(build(t))
  for (const [index, description] of ['x', 'x'.repeat(256), '💶'.repeat(256)].entries()) {
    const answer = await client.post(BILLS, bill({ uniqueReferenceIdentifier: `ref-${index}`, description }))
    t.same([answer.status, answer.body.description], [201, description])
  }
  for (const description of ['', 'x'.repeat(257), '💶'.repeat(257), null, 7]) {
    const answer = await client.post(BILLS, bill({ description }))
    refused(t, answer, invalid('description'), JSON.stringify(description).slice(0, 10))
  }
})

t.test('decisions §4: the currency belongs to the region', async t => {
  const client = await connect(build(t))
  for (const region of REGIONS) {
    for (const currency of Object.values(CURRENCY_OF)) {
      const answer = await client.post(BILLS, bill({ currency }), { region })
      if (CURRENCY_OF[region] === currency) t.same([answer.status, answer.body.currency], [201, currency], region)
      else refused(t, answer, [400, 'REGION_CURRENCY_MISMATCH', 'currency'], `${region} ${currency}`)
    }
  }
})

t.test('decisions §2, §4: bills are served in EU, IN, US and UK; GB is told that UK replaced it', async t => {
  const client = await connect(build(t))
  for (const region of ['GB', 'eu', 'FR']) {
    for (const answer of [
      await client.post(BILLS, bill(), { region }),
      await client.get(BILLS, { region }),
      await client.get(`${BILLS}/${REF}`, { region }),
      await client.patch(`${BILLS}/${REF}`, { status: 'PAID' }, { region }),
      await client.post(`${BILLS}/${REF}/document`, undefined, { region }),
    ]) {
      refused(t, answer, [400, 'INVALID_REGION', 'x-region'], region)
      if (region === 'GB') t.match(answer.body.message, /UK/)
    }
  }
  refused(t, await client.get(BILLS, { region: null }), missing('x-region'))
})

t.test('decisions §2: a reference that is taken is refused, whatever the body', async t => {
  const client = await connect(build(t))
  await client.post(BILLS, bill())
  for (const changes of [{}, { type: 'DEBIT_NOTE', totalAmount: '5', counterpartyReference: 'OTHER-0001' }]) {
    const answer = await client.post(BILLS, bill(changes))
    refused(t, answer, [409, 'DUPLICATE_REFERENCE', 'uniqueReferenceIdentifier'])
  }
  t.equal((await client.get(`${BILLS}/${REF}`)).body.totalAmount, '1190.00', 'the first stays')
  t.equal((await client.get(BILLS)).body.totalCount, 1)
  refused(
    t,
    await client.patch('/api/v1/counterparties/OTHER-0001', { remarks: 'x' }),
    [404, 'COUNTERPARTY_NOT_FOUND', 'counterpartyReference'],
    'and the refused bill brings no counterparty into being',
  )
  t.equal((await client.post(BILLS, bill({ uniqueReferenceIdentifier: REF.toLowerCase() }))).status, 201, 'case counts')
})

t.test('decisions §1: members that the interface does not name are ignored with a hint, and not stored', async t => {
  const client = await connect(build(t))
  const answer = await client.post(BILLS, bill({ status: 'PAID', colour: 'red', documents: [1] }))
  t.equal(answer.status, 201)
  t.match(answer.headers['sandbox-hint'], /status.*colour.*documents/)
  const { body } = await client.get(`${BILLS}/${REF}`)
  t.equal(body.status, 'OPEN')
  t.same(body.documents, [])
  t.notOk('colour' in body)
})

// -------------------------------------------------------------------------------------------------------- status

t.test('decisions §9: the status of a new bill follows its open amount', async t => {
  const client = await connect(build(t))
  const cases: [string, string | undefined, string][] = [
    ['100.00', undefined, 'OPEN'],
    ['100.00', '100.00', 'OPEN'],
    ['100.00', '100', 'OPEN'],
    ['100', '100.0', 'OPEN'],
    ['100.00', '99.99', 'PARTIALLY_PAID'],
    ['100.00', '0.01', 'PARTIALLY_PAID'],
    ['100.00', '0', 'PAID'],
    ['100.00', '0.0', 'PAID'],
    ['100.00', '0.00', 'PAID'],
    ['999999999.99', '999999999.98', 'PARTIALLY_PAID'],
  ]
  for (const [index, [totalAmount, openAmount, status]] of cases.entries()) {
    const request = bill({ uniqueReferenceIdentifier: `ref-${index}`, totalAmount, openAmount })
    t.equal((await client.post(BILLS, request)).body.status, status, `${openAmount} of ${totalAmount}`)
  }
})

t.test('decisions §2: an open amount above the total is out of range', async t => {
  const client = await connect(build(t))
  for (const openAmount of ['100.01', '101', '999999999.99']) {
    refused(t, await client.post(BILLS, bill({ totalAmount: '100.00', openAmount })), invalid('openAmount'), openAmount)
  }
  await client.post(BILLS, bill({ totalAmount: '100.00' }))
  for (const openAmount of ['100.01', '101']) {
    refused(t, await client.patch(`${BILLS}/${REF}`, { openAmount }), invalid('openAmount'), `update ${openAmount}`)
  }
  t.equal((await client.get(`${BILLS}/${REF}`)).body.openAmount, '100.00')
})

t.test('decisions §9: the status of an updated bill follows its open amount, in every direction', async t => {
  const client = await connect(build(t))
  await client.post(BILLS, bill({ totalAmount: '100.00' }))
  const steps: [string, string][] = [
    ['40', 'PARTIALLY_PAID'],
    ['39.99', 'PARTIALLY_PAID'],
    ['100', 'OPEN'],
    ['0.00', 'PAID'],
    ['0.01', 'PARTIALLY_PAID'],
    ['0', 'PAID'],
    ['100.00', 'OPEN'],
    ['100.0', 'OPEN'],
  ]
  for (const [openAmount, status] of steps) {
    const answer = await client.patch(`${BILLS}/${REF}`, { openAmount })
    t.same([answer.status, answer.body.openAmount, answer.body.status], [200, openAmount, status])
    t.same((await client.get(`${BILLS}/${REF}`)).body, answer.body)
  }
})

t.test('decisions §9: PAID alone sets the open amount to 0', async t => {
  const client = await connect(build(t))
  await client.post(BILLS, bill())
  for (const time of ['first', 'again']) {
    const answer = await client.patch(`${BILLS}/${REF}`, { status: 'PAID' })
    t.same([answer.status, answer.body.status, answer.body.openAmount], [200, 'PAID', '0'], time)
  }
})

t.test('decisions §9: a status that agrees with the open amount is taken', async t => {
  const client = await connect(build(t))
  for (const [index, [update, openAmount, status]] of (
    [
      [{ status: 'OPEN' }, '100.00', 'OPEN'],
      [{ status: 'OPEN', openAmount: '100' }, '100', 'OPEN'],
      [{ status: 'PARTIALLY_PAID', openAmount: '40' }, '40', 'PARTIALLY_PAID'],
      [{ status: 'PAID', openAmount: '0.00' }, '0.00', 'PAID'],
      [{ status: 'CANCELLED' }, '100.00', 'CANCELLED'],
    ] as const
  ).entries()) {
    const reference = `ref-${index}`
    await client.post(BILLS, bill({ uniqueReferenceIdentifier: reference, totalAmount: '100.00' }))
    const { status: code, body } = await client.patch(`${BILLS}/${reference}`, update)
    t.same([code, body.openAmount, body.status], [200, openAmount, status], JSON.stringify(update))
  }
})

t.test('decisions §9: a status that contradicts the open amount is INCONSISTENT_BILL_UPDATE', async t => {
  const client = await connect(build(t))
  const cases: [string, object[]][] = [
    [
      '100.00',
      [
        { status: 'PARTIALLY_PAID' },
        { status: 'OPEN', openAmount: '99.99' },
        { status: 'OPEN', openAmount: '0' },
        { status: 'PARTIALLY_PAID', openAmount: '100' },
        { status: 'PARTIALLY_PAID', openAmount: '0.00' },
        { status: 'PAID', openAmount: '0.01' },
        { status: 'PAID', openAmount: '100.00' },
      ],
    ],
    ['40', [{ status: 'OPEN' }, { status: 'PAID', openAmount: '40' }]],
    ['0', [{ status: 'OPEN' }, { status: 'PARTIALLY_PAID' }]],
  ]
  for (const [openAmount, updates] of cases) {
    const reference = `ref-${openAmount.replace('.', '_')}-x`
    await client.post(BILLS, bill({ uniqueReferenceIdentifier: reference, totalAmount: '100.00', openAmount }))
    const before = (await client.get(`${BILLS}/${reference}`)).body
    for (const update of updates) {
      const what = `${JSON.stringify(update)} of ${openAmount}`
      refused(t, await client.patch(`${BILLS}/${reference}`, { ...update, dueDate: '2027-01-01' }), contradiction, what)
    }
    t.same((await client.get(`${BILLS}/${reference}`)).body, before, 'none of these has changed anything')
  }
})

t.test('decisions §9: CANCELLED is final', async t => {
  const client = await connect(build(t))
  for (const [reference, changes] of Object.entries({
    'was-open': {},
    'was-partial': { openAmount: '5' },
    'was-paid': { openAmount: '0' },
  })) {
    await client.post(BILLS, bill({ uniqueReferenceIdentifier: reference, ...changes }))
    t.equal((await client.patch(`${BILLS}/${reference}`, { status: 'CANCELLED' })).body.status, 'CANCELLED', reference)
    const before = (await client.get(`${BILLS}/${reference}`)).body
    for (const update of [
      { status: 'CANCELLED' },
      { status: 'PAID' },
      { openAmount: '1' },
      { dueDate: '2027-01-01' },
    ]) {
      const answer = await client.patch(`${BILLS}/${reference}`, update)
      refused(t, answer, cancelled, `${reference}: ${JSON.stringify(update)}`)
    }
    t.same((await client.get(`${BILLS}/${reference}`)).body, before)
  }
})

// -------------------------------------------------------------------------------------------------------- update

t.test('decisions §9: an update needs at least one of status, openAmount and dueDate', async t => {
  const client = await connect(build(t))
  await client.post(BILLS, bill())
  for (const update of [undefined, {}, { colour: 'red' }, { totalAmount: '5' }]) {
    refused(t, await client.patch(`${BILLS}/${REF}`, update), missing(null), JSON.stringify(update))
  }
})

t.test('decisions §9: each member can be updated alone or with others, and updatedAt tells when', async t => {
  const client = await connect(build(t))
  await client.post(BILLS, bill())
  await client.advance({ by: 'PT1H' })
  const alone = await client.patch(`${BILLS}/${REF}`, { dueDate: '2027-01-31' })
  t.same(
    [alone.status, alone.body.dueDate, alone.body.status, alone.body.openAmount],
    [200, '2027-01-31', 'OPEN', '1190.00'],
  )
  t.same([alone.body.createdAt, alone.body.updatedAt], [MONDAY, '2026-11-02T10:00:00Z'])

  await client.advance({ by: 'PT1H' })
  const all = await client.patch(`${BILLS}/${REF}`, { dueDate: '2027-02-28', openAmount: '0', status: 'PAID' })
  t.same(all.body, {
    ...bill({ dueDate: '2027-02-28' }),
    openAmount: '0',
    status: 'PAID',
    documents: [],
    createdAt: MONDAY,
    updatedAt: '2026-11-02T11:00:00Z',
  })
  t.same((await client.get(`${BILLS}/${REF}`)).body, all.body)
})

t.test('decisions §9: a bill can be cancelled and its due date changed at once', async t => {
  const client = await connect(build(t))
  await client.post(BILLS, bill())
  const { body } = await client.patch(`${BILLS}/${REF}`, { status: 'CANCELLED', dueDate: '2027-01-31' })
  t.same([body.status, body.dueDate], ['CANCELLED', '2027-01-31'])
})

t.test('decisions §2: wrong values in an update are INVALID_FIELD', async t => {
  const client = await connect(build(t))
  await client.post(BILLS, bill())
  for (const [field, values] of [
    ['status', ['', 'paid', 'CLOSED', null, 1]],
    ['openAmount', ['', '-1', '01', '1.234', 'x', null, 0]],
    ['dueDate', ['', '2026-02-30', '2026-1-1', null, 20260101]],
  ] as const) {
    for (const value of values) {
      const answer = await client.patch(`${BILLS}/${REF}`, { [field]: value })
      refused(t, answer, invalid(field), `${field} ${JSON.stringify(value)}`)
    }
  }
  refused(t, await client.patch(`${BILLS}/${REF}`, [{ status: 'PAID' }]), invalid(null), 'an array')
})

t.test('decisions §1: what cannot be updated is ignored, with a hint', async t => {
  const client = await connect(build(t))
  await client.post(BILLS, bill())
  const update = { dueDate: '2027-01-31', totalAmount: '5', uniqueReferenceIdentifier: 'OTHER' }
  const answer = await client.patch(`${BILLS}/${REF}`, update)
  t.same([answer.status, answer.body.totalAmount, answer.body.uniqueReferenceIdentifier], [200, '1190.00', REF])
  t.match(answer.headers['sandbox-hint'], /totalAmount.*uniqueReferenceIdentifier/)
})

t.test('decisions §1: an unknown bill is 404, after the body has been looked at', async t => {
  const client = await connect(build(t))
  refused(t, await client.get(`${BILLS}/unknown`), unknown)
  refused(t, await client.patch(`${BILLS}/unknown`, { status: 'PAID' }), unknown)
  refused(t, await client.patch(`${BILLS}/unknown`, { status: 'x' }), invalid('status'), 'body before record')
  refused(t, await client.patch(`${BILLS}/ab`, { status: 'x' }), invalidReference, 'path before body')
})

t.test('decisions §1: an update of another media type is 415 with Accept-Patch', async t => {
  const client = await connect(build(t))
  await client.post(BILLS, bill())
  const answer = await client.patch(`${BILLS}/${REF}`, 'status=PAID', {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
  refused(t, answer, [415, 'UNSUPPORTED_MEDIA_TYPE', 'content-type'])
  t.match(answer.headers['accept-patch'], /application\/json/)
})

// -------------------------------------------------------------------------------------------------- counterparties

t.test('decisions §9: an unknown counterparty is brought into being, with nothing but its reference', async t => {
  const client = await connect(build(t))
  const patch = (region: string) => client.patch('/api/v1/counterparties/CPTY-0001', { remarks: 'hi' }, { region })
  refused(t, await patch('EU'), [404, 'COUNTERPARTY_NOT_FOUND', 'counterpartyReference'], 'before')
  await client.post(BILLS, bill())
  const { status, body } = await patch('EU')
  t.same([status, body], [200, { counterpartyReference: 'CPTY-0001', remarks: 'hi' }])
  refused(t, await patch('US'), [404, 'COUNTERPARTY_NOT_FOUND', 'counterpartyReference'], 'in its region alone')
})

t.test('decisions §9: a known counterparty stays as it is', async t => {
  const client = await connect(build(t))
  await client.post(BILLS, bill())
  await client.patch('/api/v1/counterparties/CPTY-0001', { accountHolderName: 'Jane Doe' })
  await client.post(BILLS, bill({ uniqueReferenceIdentifier: 'another' }))
  const { body } = await client.patch('/api/v1/counterparties/CPTY-0001', { remarks: 'hi' })
  t.same(body, { counterpartyReference: 'CPTY-0001', accountHolderName: 'Jane Doe', remarks: 'hi' })
})

// ---------------------------------------------------------------------------------------------------------- list

t.test('decisions §5: bills are listed newest first, ties by later creation first', async t => {
  const client = await connect(build(t))
  await ingest(client, { 'first-1': {}, 'first-2': {} })
  await client.advance({ by: 'PT1S' })
  await ingest(client, { second: {} })
  const seeded = bill({ uniqueReferenceIdentifier: 'oldest', createdAt: '2026-11-01T00:00:00Z' })
  await client.control('POST', '/seed', { records: { bills: [seeded] } })
  const answer = await client.get(BILLS)
  t.equal(answer.status, 200)
  t.same(references(answer), ['second', 'first-2', 'first-1', 'oldest'])
  t.same([answer.body.totalCount, answer.body.hasMore, answer.body.nextCursor], [4, false, null])
  t.same(Object.keys(answer.body).sort(), ['data', 'hasMore', 'nextCursor', 'totalCount'])
  t.same(answer.body.data[2], (await client.get(`${BILLS}/first-1`)).body, 'with the whole records')
})

t.test('decisions §5: an empty list is an envelope, too', async t => {
  const { status, body } = await (await connect(build(t))).get(BILLS)
  t.same([status, body], [200, { totalCount: 0, hasMore: false, nextCursor: null, data: [] }])
})

t.test('decisions §5: pages follow each other without gap or repetition, whatever is created meanwhile', async t => {
  const client = await connect(build(t))
  await ingest(client, { 'ref-1': {}, 'ref-2': {}, 'ref-3': {}, 'ref-4': {}, 'ref-5': {} })
  const first = await client.get(`${BILLS}?limit=2`)
  t.same(references(first), ['ref-5', 'ref-4'])
  t.same([first.body.totalCount, first.body.hasMore], [5, true])
  await ingest(client, { 'ref-6': {} })

  const second = await client.get(`${BILLS}?limit=2&cursor=${encodeURIComponent(first.body.nextCursor)}`)
  t.same(references(second), ['ref-3', 'ref-2'])
  t.same([second.body.totalCount, second.body.hasMore], [6, true], 'totalCount counts all, whatever the cursor')
  const third = await client.get(`${BILLS}?limit=2&cursor=${encodeURIComponent(second.body.nextCursor)}`)
  t.same(references(third), ['ref-1'])
  t.same([third.body.hasMore, third.body.nextCursor], [false, null])
})

t.test('decisions §5: a page that ends exactly with the list is the last one', async t => {
  const client = await connect(build(t))
  await ingest(client, { 'ref-1': {}, 'ref-2': {} })
  const { body } = await client.get(`${BILLS}?limit=2`)
  t.same([body.data.length, body.hasMore, body.nextCursor], [2, false, null])
})

t.test('decisions §5: a cursor works with any filter', async t => {
  const client = await connect(build(t))
  await ingest(client, { 'ref-1': {}, 'ref-2': { type: 'DEBIT_NOTE' }, 'ref-3': {}, 'ref-4': { type: 'DEBIT_NOTE' } })
  const { nextCursor } = (await client.get(`${BILLS}?limit=1`)).body
  const rest = await client.get(`${BILLS}?type=DEBIT_NOTE&cursor=${encodeURIComponent(nextCursor)}`)
  t.same(references(rest), ['ref-2'])
  t.equal(rest.body.totalCount, 2)
})

t.test('interface, Limits: a page has 1 to 500 records, 100 by default', async t => {
  const client = await connect(build(t))
  const bills = Array.from({ length: 501 }, (_, index) => bill({ uniqueReferenceIdentifier: `ref-${index}` }))
  await client.control('POST', '/seed', { records: { bills } })
  for (const [query, count] of [
    ['', 100],
    ['?limit=1', 1],
    ['?limit=500', 500],
  ] as const) {
    const { body } = await client.get(`${BILLS}${query}`)
    t.same([body.data.length, body.totalCount, body.hasMore], [count, 501, true], query)
  }
  for (const limit of ['0', '501', '-1', '1.5', 'x', '', '1e2', '%201']) {
    refused(t, await client.get(`${BILLS}?limit=${limit}`), invalidQuery('limit'), `limit ${limit}`)
  }
})

t.test('decisions §2: a cursor that this server did not issue is INVALID_CURSOR', async t => {
  const client = await connect(build(t))
  await ingest(client, { 'ref-1': {}, 'ref-2': {} })
  const { nextCursor } = (await client.get(`${BILLS}?limit=1`)).body
  for (const cursor of ['x', 'null', `${nextCursor}x`, nextCursor.slice(0, -1), '..', `x${nextCursor}`]) {
    const answer = await client.get(`${BILLS}?cursor=${encodeURIComponent(cursor)}`)
    refused(t, answer, [400, 'INVALID_CURSOR', 'cursor'], cursor)
  }
  refused(t, await client.get(`${BILLS}?cursor=`), invalidQuery('cursor'), 'empty')
})

t.test('interface, Other endpoints; decisions §5: bills are filtered, by AND of the filters', async t => {
  const client = await connect(build(t))
  await ingest(client, {
    'open-in': {},
    'open-out': { cashflowType: 'OUTFLOW', counterpartyReference: 'CPTY-0002' },
    'part-credit': { type: 'CREDIT_NOTE', openAmount: '5', dueDate: '2026-12-15' },
    'paid-debit': { type: 'DEBIT_NOTE', openAmount: '0', dueDate: '2026-12-31' },
    gone: { dueDate: '2027-01-01' },
  })
  await client.patch(`${BILLS}/gone`, { status: 'CANCELLED' })
  const cases: [string, string[]][] = [
    ['status=OPEN', ['open-out', 'open-in']],
    ['status=PARTIALLY_PAID', ['part-credit']],
    ['status=PAID', ['paid-debit']],
    ['status=CANCELLED', ['gone']],
    ['status=PAID&status=OPEN', ['paid-debit', 'open-out', 'open-in']],
    ['status=PAID,OPEN', ['paid-debit', 'open-out', 'open-in']],
    ['status=PAID%2COPEN', ['paid-debit', 'open-out', 'open-in']],
    ['status=PAID,OPEN&status=OPEN&status=CANCELLED', ['gone', 'paid-debit', 'open-out', 'open-in']],
    ['status=OPEN,OPEN,OPEN', ['open-out', 'open-in']],
    ['type=INVOICE', ['gone', 'open-out', 'open-in']],
    ['type=CREDIT_NOTE', ['part-credit']],
    ['type=DEBIT_NOTE', ['paid-debit']],
    ['cashflowType=OUTFLOW', ['open-out']],
    ['cashflowType=INFLOW', ['gone', 'paid-debit', 'part-credit', 'open-in']],
    ['counterpartyReference=CPTY-0002', ['open-out']],
    ['counterpartyReference=CPTY-9999', []],
    ['type=INVOICE&cashflowType=INFLOW&status=OPEN', ['open-in']],
    ['status=PAID&type=INVOICE', []],
    ['dueDateFrom=2026-12-15', ['gone', 'paid-debit', 'part-credit']],
    ['dueDateFrom=2026-12-16', ['gone', 'paid-debit']],
    ['dueDateTo=2026-12-15', ['part-credit', 'open-out', 'open-in']],
    ['dueDateTo=2026-12-14', ['open-out', 'open-in']],
    ['dueDateFrom=2026-12-15&dueDateTo=2026-12-31', ['paid-debit', 'part-credit']],
    ['dueDateFrom=2026-12-31&dueDateTo=2026-12-31', ['paid-debit']],
    ['dueDateFrom=2026-12-16&dueDateTo=2026-12-30', []],
    ['dueDateFrom=2027-01-01&dueDateTo=2026-01-01', []],
    ['dueDateTo=2026-12-31&status=PAID', ['paid-debit']],
  ]
  for (const [query, expected] of cases) {
    const answer = await client.get(`${BILLS}?${query}`)
    t.same([answer.status, references(answer)], [200, expected], query)
    t.equal(answer.body.totalCount, expected.length, `${query}: totalCount`)
    const paged = await client.get(`${BILLS}?${query}&limit=1`)
    t.same([paged.body.totalCount, paged.body.hasMore], [expected.length, expected.length > 1], `${query}: paged`)
  }
})

t.test('decisions §9: a filter sees what an update has changed', async t => {
  const client = await connect(build(t))
  await ingest(client, { 'ref-1': {}, 'ref-2': {} })
  await client.patch(`${BILLS}/ref-1`, { status: 'PAID', dueDate: '2027-06-01' })
  t.same(references(await client.get(`${BILLS}?status=OPEN`)), ['ref-2'])
  t.same(references(await client.get(`${BILLS}?status=PAID`)), ['ref-1'])
  t.same(references(await client.get(`${BILLS}?dueDateFrom=2027-01-01`)), ['ref-1'])
})

t.test('decisions §2: a wrong filter is INVALID_QUERY_PARAMETER, a repeated scalar MALFORMED_REQUEST', async t => {
  const client = await connect(build(t))
  for (const [field, values] of [
    ['status', ['open', 'X', 'OPEN,X', 'OPEN,', '']],
    ['type', ['invoice', 'INVOICE,DEBIT_NOTE', '']],
    ['cashflowType', ['inflow', '']],
    ['counterpartyReference', ['abcd', 'x'.repeat(51), 'abc_5', '']],
    ['dueDateFrom', ['2026-02-30', '2026-1-1', 'today', '']],
    ['dueDateTo', ['2026-02-30', '2026-12-01T00:00:00Z', '']],
  ] as const) {
    for (const value of values) {
      const answer = await client.get(`${BILLS}?${field}=${encodeURIComponent(value)}`)
      refused(t, answer, invalidQuery(field), `${field}=${value}`)
    }
  }
  for (const [field, value] of Object.entries({
    limit: '5',
    cursor: 'x',
    type: 'INVOICE',
    cashflowType: 'INFLOW',
    counterpartyReference: 'CPTY-0001',
    dueDateFrom: '2026-12-01',
    dueDateTo: '2026-12-01',
  })) {
    const answer = await client.get(`${BILLS}?${field}=${value}&${field}=${value}`)
    refused(t, answer, [400, 'MALFORMED_REQUEST', field], `${field} twice`)
  }
})

t.test('decisions §1: unknown query parameters are ignored, with a hint', async t => {
  const client = await connect(build(t))
  await ingest(client, { 'ref-1': {} })
  const answer = await client.get(`${BILLS}?dueDate=2020-01-01`)
  t.same([answer.status, answer.body.totalCount], [200, 1])
  t.match(answer.headers['sandbox-hint'], /dueDate/)
})

// ------------------------------------------------------------------------------------------------------- regions

t.test('decisions §4: a bill belongs to its region, and the same reference may exist in another', async t => {
  const client = await connect(build(t))
  for (const region of REGIONS) {
    refused(t, await client.get(`${BILLS}/${REF}`, { region }), unknown, `${region}: not yet`)
    const patched = await client.patch(`${BILLS}/${REF}`, { status: 'PAID' }, { region })
    refused(t, patched, unknown, `${region}: nothing to update yet`)
    const answer = await client.post(BILLS, bill({ currency: CURRENCY_OF[region] }), { region })
    t.equal(answer.status, 201, region)
  }
  await client.patch(`${BILLS}/${REF}`, { status: 'PAID' }, { region: 'US' })
  for (const region of REGIONS) {
    const { body } = await client.get(`${BILLS}/${REF}`, { region })
    t.same([body.currency, body.status], [CURRENCY_OF[region], region === 'US' ? 'PAID' : 'OPEN'], region)
    t.equal((await client.get(BILLS, { region })).body.totalCount, 1, region)
    t.equal((await client.get(`${BILLS}?status=PAID`, { region })).body.totalCount, region === 'US' ? 1 : 0, region)
  }
})

// ------------------------------------------------------------------------------------------------------- explain

t.test('control plane, Shapes: an explained bill tells its record, its past and its legal moves', async t => {
  const client = await connect(build(t))
  await client.post(BILLS, bill())
  await client.advance({ by: 'PT1H' })
  await client.patch(`${BILLS}/${REF}`, { openAmount: '5' })
  await client.patch(`${BILLS}/${REF}`, { dueDate: '2027-01-31' })
  await client.advance({ by: 'PT1H' })
  await client.patch(`${BILLS}/${REF}`, { status: 'CANCELLED' })

  const { status, body } = await client.control('GET', `/bills/${REF}`)
  t.equal(status, 200)
  t.same(body.record, (await client.get(`${BILLS}/${REF}`)).body)
  const event = { kind: 'bill', reference: REF, cause: 'api' }
  t.same(
    body.timeline.map(({ seq, ...rest }: { seq: number }) => rest),
    [
      { ...event, at: MONDAY, from: null, to: 'OPEN' },
      { ...event, at: '2026-11-02T10:00:00Z', from: 'OPEN', to: 'PARTIALLY_PAID' },
      { ...event, at: '2026-11-02T11:00:00Z', from: 'PARTIALLY_PAID', to: 'CANCELLED' },
    ],
  )
  t.equal(body.next, null)
  t.same(body.legal, [], 'CANCELLED is final')
})

t.test('control plane: ?region= tells which bill, where several have the reference', async t => {
  const client = await connect(build(t))
  const explain = (query = '') => client.control('GET', `/bills/${REF}${query}`)
  refused(t, await explain(), unknown, 'none has it')
  refused(t, await explain('?region=EU'), unknown, 'none in EU has it')
  await client.post(BILLS, bill())
  t.equal((await explain()).body.record.currency, 'EUR', 'the only one')
  t.equal((await explain('?region=EU')).body.record.currency, 'EUR')
  refused(t, await explain('?region=US'), unknown, 'none in US has it')

  await client.post(BILLS, bill({ currency: 'USD' }), { region: 'US' })
  refused(t, await explain(), missing('region'), 'two have it')
  t.equal((await explain('?region=EU')).body.record.currency, 'EUR')
  t.equal((await explain('?region=US')).body.record.currency, 'USD')
  for (const region of ['GB', 'eu', '']) refused(t, await explain(`?region=${region}`), invalidQuery('region'), region)
  refused(t, await client.control('GET', '/bills/ab'), invalidReference)
})

// ------------------------------------------------------------------------------------------------------- seeding

t.test('control plane, seed: bills of any state can be given, their region follows from the currency', async t => {
  const client = await connect(build(t))
  const document = {
    documentId: 'doc_seeded',
    fileName: 'bill.pdf',
    contentType: 'application/pdf',
    size: 5,
    sha256: '0'.repeat(64),
    uploadedAt: '2026-10-02T00:00:00Z',
  }
  const bills = [
    bill({ uniqueReferenceIdentifier: 'seed-open' }),
    bill({ uniqueReferenceIdentifier: 'seed-part', openAmount: '5', status: 'PARTIALLY_PAID', currency: 'GBP' }),
    bill({ uniqueReferenceIdentifier: 'seed-paid', openAmount: '0', status: 'PAID', currency: 'INR' }),
    bill({
      uniqueReferenceIdentifier: 'seed-gone',
      status: 'CANCELLED',
      currency: 'USD',
      documents: [document],
      createdAt: '2026-10-01T00:00:00Z',
      updatedAt: '2026-10-03T00:00:00Z',
    }),
  ]
  const answer = await client.control('POST', '/seed', { records: { bills } })
  t.same([answer.status, answer.body.added?.bills, answer.body.added?.counterparties], [200, 4, 4])
  const read = async (reference: string, region: string) => (await client.get(`${BILLS}/${reference}`, { region })).body
  t.equal((await read('seed-open', 'EU')).status, 'OPEN')
  t.equal((await read('seed-part', 'UK')).status, 'PARTIALLY_PAID')
  t.equal((await read('seed-paid', 'IN')).status, 'PAID')
  const gone = await read('seed-gone', 'US')
  t.same([gone.status, gone.documents], ['CANCELLED', [document]])
  t.same([gone.createdAt, gone.updatedAt], ['2026-10-01T00:00:00Z', '2026-10-03T00:00:00Z'])
  refused(t, await client.patch(`${BILLS}/seed-gone`, { openAmount: '1' }, { region: 'US' }), cancelled)
})

t.test('control plane, seed: bills are validated as the API does, all or nothing', async t => {
  const client = await connect(build(t))
  await client.post(BILLS, bill({ uniqueReferenceIdentifier: 'taken' }))
  const good = bill({ uniqueReferenceIdentifier: 'seed-good', counterpartyReference: 'SEED-CPTY' })
  const at = 'records.bills.1'
  const cases: [object, Refusal][] = [
    [bill({ uniqueReferenceIdentifier: 'taken' }), [409, 'DUPLICATE_REFERENCE', `${at}.uniqueReferenceIdentifier`]],
    [bill({ uniqueReferenceIdentifier: 'seed-good' }), [409, 'DUPLICATE_REFERENCE', `${at}.uniqueReferenceIdentifier`]],
    [bill({ uniqueReferenceIdentifier: 'a' }), [400, 'INVALID_BILL_REFERENCE', `${at}.uniqueReferenceIdentifier`]],
    [bill({ dueDate: undefined }), missing(`${at}.dueDate`)],
    [bill({ status: 'CLOSED' }), invalid(`${at}.status`)],
    [bill({ openAmount: '2000' }), invalid(`${at}.openAmount`)],
    [bill({ openAmount: '5', status: 'PAID' }), [400, 'INCONSISTENT_BILL_UPDATE', `${at}.status`]],
  ]
  for (const [wrong, expected] of cases) {
    const answer = await client.control('POST', '/seed', { records: { bills: [good, wrong] } })
    refused(t, answer, expected, JSON.stringify(expected))
  }
  t.same(references(await client.get(BILLS)), ['taken'], 'and the good one is not stored')
  refused(
    t,
    await client.patch('/api/v1/counterparties/SEED-CPTY', { remarks: 'x' }),
    [404, 'COUNTERPARTY_NOT_FOUND', 'counterpartyReference'],
    'nor its counterparty',
  )
})

t.test('decisions §9: a seeded bill that is PAID has nothing open', async t => {
  const client = await connect(build(t))
  const records = { bills: [bill({ status: 'PAID' })] }
  t.equal((await client.control('POST', '/seed', { records })).status, 200)
  const { body } = await client.get(`${BILLS}/${REF}`)
  t.same([body.status, body.openAmount], ['PAID', '0'])
})
