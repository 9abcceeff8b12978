import t from 'tap'
import type { Answer } from '../helper.js'
import { build, call, collection, connect, MONDAY, mandate } from '../helper.js'

const PATH = '/api/v1/direct-debit'

/** A client with the mandate MND-0001. */
async function open(t: Parameters<typeof build>[0], { clock = MONDAY, changes = {} } = {}) {
  const client = await connect(build(t, { clock }))
  await client.post('/api/v1/mandates', mandate(changes))
  return client
}

/** What an answer refuses: its status, code and field. */
const refusal = ({ status, body }: Answer) => ({ status, code: body.code, field: body.field })

const invalid = (field: string | null) => ({ status: 400, code: 'INVALID_FIELD', field })
const missing = (field: string) => ({ status: 400, code: 'MISSING_FIELD', field })

const short = (value: unknown) => String(JSON.stringify(value)).slice(0, 40)

// ------------------------------------------------------------------------------------------------------ the record

t.test('decisions §6: an accepted request is 201 with the PENDING record, defaults taken from the mandate', async t => {
  const client = await open(t, { changes: { debtor: { ...mandate().debtor, reference: 'customer 17' } } })
  const created = await client.post(PATH, collection())
  t.equal(created.status, 201)
  t.strictSame(created.body, {
    collectionReference: 'COL-0001',
    scheme: 'SEPA',
    mandateReference: 'MND-0001',
    status: 'PENDING',
    amount: '10.50',
    currency: 'EUR',
    debtorName: 'Jane Doe',
    debtorReference: 'customer 17',
    collectionDate: '2026-11-09',
    initiatedAt: MONDAY,
    updatedAt: MONDAY,
  })
  t.notOk(created.headers['sandbox-hint'], 'nothing to hint at')
})

t.test('decisions §6: given values win over those of the mandate', async t => {
  const client = await open(t, { changes: { debtor: { ...mandate().debtor, reference: 'customer 17' } } })
  const given = { scheme: 'SEPA', debtorName: 'Zoë Müller', debtorReference: 'order 4711' }
  const created = await client.post(PATH, collection(given))
  t.equal(created.status, 201)
  t.match(created.body, given)
})

t.test('interface, summary: debtorReference is not required, so it is absent where neither side names one', async t => {
  const client = await open(t)
  const created = await client.post(PATH, collection())
  t.equal(created.status, 201)
  t.notOk('debtorReference' in created.body)
})

t.test('interface, GET /{collectionReference}: the record can be read, on its own and in the list', async t => {
  const client = await open(t)
  const { body } = await client.post(PATH, collection())
  const read = await client.get(`${PATH}/COL-0001`)
  t.equal(read.status, 200)
  t.strictSame(read.body, body)
  const list = await client.get(PATH)
  t.equal(list.status, 200)
  t.strictSame(list.body, { totalCount: 1, hasMore: false, nextCursor: null, data: [body] })
})

t.test('decisions §6: no such collection is 404 COLLECTION_NOT_FOUND', async t => {
  const client = await open(t)
  t.strictSame(refusal(await client.get(`${PATH}/COL-0001`)), {
    status: 404,
    code: 'COLLECTION_NOT_FOUND',
    field: 'collectionReference',
  })
})

t.test('interface, Errors 2: a path value that breaks its pattern or length is 400, however long', async t => {
  const client = await open(t)
  for (const reference of [
    'COL1',
    'C'.repeat(51),
    'C'.repeat(5000),
    'COL_0001',
    'COL.0001',
    'COL%200001',
    'C%C3%96L-1',
  ]) {
    t.strictSame(
      refusal(await client.get(`${PATH}/${reference}`)),
      invalid('collectionReference'),
      reference.slice(0, 60),
    )
  }
  for (const reference of ['COL-1', 'C'.repeat(50)]) {
    t.equal((await client.get(`${PATH}/${reference}`)).status, 404, reference)
  }
})

t.test('interface, Errors 2: an identifier with a forward slash is 404, never 400, in either spelling', async t => {
  const client = await open(t)
  for (const reference of ['COL/0001', 'COL%2F0001', 'COL%2f0001']) {
    t.strictSame(
      refusal(await client.get(`${PATH}/${reference}`)),
      { status: 404, code: 'ROUTE_NOT_FOUND', field: null },
      reference,
    )
  }
})

t.test('decisions §3: nothing crosses between tenants', async t => {
  const app = build(t)
  const [acme, other] = [await connect(app, 'acme'), await connect(app, 'other')]
  await acme.post('/api/v1/mandates', mandate())
  await acme.post(PATH, collection())
  t.equal((await other.get(`${PATH}/COL-0001`)).body.code, 'COLLECTION_NOT_FOUND')
  t.equal((await other.post(PATH, collection())).body.code, 'MANDATE_NOT_FOUND')
  t.equal((await other.get(PATH)).body.totalCount, 0)

  await other.post('/api/v1/mandates', mandate())
  t.equal((await other.post(PATH, collection())).status, 201, 'the same reference is free for another tenant')
})

// ---------------------------------------------------------------------------------------------------------- region

t.test('interface, x-region: EU alone is served, on every operation', async t => {
  const client = await open(t)
  await client.post(PATH, collection())
  const operations = [
    ['POST', PATH],
    ['GET', PATH],
    ['GET', `${PATH}/COL-0001`],
  ] as const
  for (const [method, url] of operations) {
    const body = method === 'POST' ? collection({ collectionReference: 'COL-0002' }) : undefined
    for (const region of ['IN', 'US', 'UK', 'GB', 'eu', 'XX']) {
      t.strictSame(
        refusal(await client.send(method, url, { region, body })),
        { status: 400, code: 'INVALID_REGION', field: 'x-region' },
        `${method} ${url} ${region}`,
      )
    }
    t.strictSame(
      refusal(await client.send(method, url, { region: null, body })),
      missing('x-region'),
      `${method} ${url}`,
    )
  }
  t.match((await client.get(PATH, { region: 'GB' })).body.message, /\bUK\b/, 'says that UK replaced GB')
  t.equal((await client.get(PATH)).body.totalCount, 1, 'nothing was created')
})

t.test('decisions §1: the region is looked at before path, query and body', async t => {
  const client = await open(t)
  t.equal((await client.post(PATH, {}, { region: 'US' })).body.code, 'INVALID_REGION')
  t.equal((await client.get(`${PATH}?limit=0`, { region: 'US' })).body.code, 'INVALID_REGION')
  t.equal((await client.get(`${PATH}/x`, { region: 'US' })).body.code, 'INVALID_REGION')
})

t.test('interface, Authentication 3: every operation wants a bearer token', async t => {
  const app = build(t)
  for (const [method, url] of [
    ['POST', PATH],
    ['GET', PATH],
    ['GET', `${PATH}/COL-0001`],
  ] as const) {
    const answer = await call(app, method, url, { region: 'EU' })
    t.strictSame([answer.status, answer.body.code], [401, 'MISSING_TOKEN'], `${method} ${url}`)
  }
})

// ---------------------------------------------------------------------------------------------------------- fields

t.test('interface, summary: collectionReference is 5-50 letters, digits and hyphens', async t => {
  const client = await open(t)
  for (const collectionReference of ['COL-1', 'C'.repeat(50), 'abcXYZ', '12345', '-----', 'aZ-09']) {
    const { status, body } = await client.post(PATH, collection({ collectionReference }))
    t.strictSame([status, body.collectionReference], [201, collectionReference], collectionReference)
  }
  const wrong = [
    'COL1',
    'C'.repeat(51),
    'COL_0001',
    'COL 0001',
    'COL.0001',
    'COL/0001',
    'CÖL-0001',
    'COL-0001\n',
    '\nCOL-0001',
    '٠١٢٣٤٥',
    12345,
    true,
    null,
    ['COL-0001'],
    {},
  ]
  for (const collectionReference of wrong) {
    const answer = await client.post(PATH, collection({ collectionReference }))
    t.strictSame(refusal(answer), invalid('collectionReference'), short(collectionReference))
  }
})

t.test('interface, summary: mandateReference is 5-50 letters, digits and hyphens', async t => {
  const client = await open(t)
  for (const mandateReference of ['MND-1', 'M'.repeat(50), '12345', '-----']) {
    t.strictSame(
      refusal(await client.post(PATH, collection({ mandateReference }))),
      { status: 404, code: 'MANDATE_NOT_FOUND', field: 'mandateReference' },
      mandateReference,
    )
  }
  for (const mandateReference of [
    'MND1',
    'M'.repeat(51),
    'MND_0001',
    'MND 0001',
    'MND-0001\n',
    12345,
    null,
    ['MND-0001'],
  ]) {
    const answer = await client.post(PATH, collection({ mandateReference }))
    t.strictSame(refusal(answer), invalid('mandateReference'), short(mandateReference))
  }
})

t.test('interface, summary: amount is a decimal string from 1 to 999999999.99, stored as it was written', async t => {
  const client = await open(t)
  const right = [
    '1',
    '1.0',
    '1.00',
    '1.01',
    '9.9',
    '10',
    '4.35',
    '100000000',
    '999999999',
    '999999999.9',
    '999999999.99',
  ]
  for (const [index, amount] of right.entries()) {
    const { status, body } = await client.post(PATH, collection({ collectionReference: `COL-${index + 10}`, amount }))
    t.strictSame([status, body.amount], [201, amount], amount)
  }
  const wrong = [
    '0',
    '0.99',
    '0.01',
    '00',
    '01',
    '01.50',
    '1000000000',
    '1000000000.00',
    '1.',
    '.5',
    '1.001',
    '1.000',
    '1,00',
    '1e2',
    '+1',
    '-1',
    ' 1',
    '1 ',
    '1\n',
    '١',
    'NaN',
    '0x1',
    'ten',
  ]
  for (const amount of wrong) {
    t.strictSame(refusal(await client.post(PATH, collection({ amount }))), invalid('amount'), short(amount))
  }
  t.equal((await client.get(PATH)).body.totalCount, right.length)
})

t.test('decisions §1: an amount that is a JSON number is 400, because bodies are never coerced', async t => {
  const client = await open(t)
  for (const amount of [10.5, 1, 0, null, true, ['1'], { value: '1' }]) {
    t.strictSame(refusal(await client.post(PATH, collection({ amount }))), invalid('amount'), short(amount))
  }
})

t.test('interface, summary: currency is EUR and scheme is SEPA', async t => {
  const client = await open(t)
  for (const currency of ['USD', 'GBP', 'eur', 'EU', 'EURO', 978, null]) {
    t.strictSame(refusal(await client.post(PATH, collection({ currency }))), invalid('currency'), short(currency))
  }
  for (const scheme of ['BACS', 'sepa', 'SEPA ', 1, null, ['SEPA']]) {
    t.strictSame(refusal(await client.post(PATH, collection({ scheme }))), invalid('scheme'), short(scheme))
  }
})

t.test('interface, summary: debtorReference is 1-100 characters', async t => {
  const client = await open(t)
  for (const [index, debtorReference] of ['x', 'x'.repeat(100), 'ünï çødé/_.', '€'.repeat(100)].entries()) {
    const body = collection({ collectionReference: `COL-${index + 10}`, debtorReference })
    const created = await client.post(PATH, body)
    t.strictSame([created.status, created.body.debtorReference], [201, debtorReference], short(debtorReference))
  }
  for (const debtorReference of ['', 'x'.repeat(101), 1, null]) {
    const answer = await client.post(PATH, collection({ debtorReference }))
    t.strictSame(refusal(answer), invalid('debtorReference'), short(debtorReference))
  }
})

t.test('interface, summary: debtorName is a string', async t => {
  const client = await open(t)
  for (const debtorName of [1, null, ['Jane Doe'], { name: 'Jane Doe' }]) {
    t.strictSame(refusal(await client.post(PATH, collection({ debtorName }))), invalid('debtorName'), short(debtorName))
  }
})

t.test('interface, summary: collectionDate is YYYY-MM-DD', async t => {
  const client = await open(t)
  const wrong = [
    '2026-11-9',
    '2026-1-09',
    '26-11-09',
    '20261109',
    '2026/11/09',
    '09-11-2026',
    '2026-00-09',
    '2026-13-09',
    '2026-11-00',
    '2026-11-32',
    '2026-11-09T00:00:00Z',
    ' 2026-11-09',
    '2026-11-09\n',
    'tomorrow',
    20261109,
    null,
  ]
  for (const collectionDate of wrong) {
    const answer = await client.post(PATH, collection({ collectionDate }))
    t.strictSame(refusal(answer), invalid('collectionDate'), short(collectionDate))
  }
})

t.test('decisions §6: a date that does not exist is 400, before it is too early or too late', async t => {
  const client = await open(t)
  for (const collectionDate of ['2026-02-30', '2027-02-29', '2027-04-31', '2027-06-31', '2100-02-29', '2026-11-31']) {
    const answer = await client.post(PATH, collection({ collectionDate }))
    t.strictSame(refusal(answer), invalid('collectionDate'), collectionDate)
  }
  t.strictSame(
    refusal(await client.post(PATH, collection({ collectionDate: '2028-02-29' }))),
    { status: 400, code: 'COLLECTION_DATE_TOO_LATE', field: 'collectionDate' },
    'a leap day exists',
  )
})

t.test('decisions §2: a required member that is absent or empty is MISSING_FIELD', async t => {
  const client = await open(t)
  for (const field of ['collectionReference', 'mandateReference', 'amount', 'currency', 'collectionDate']) {
    t.strictSame(refusal(await client.post(PATH, collection({ [field]: undefined }))), missing(field), `no ${field}`)
    t.strictSame(refusal(await client.post(PATH, collection({ [field]: '' }))), missing(field), `empty ${field}`)
  }
})

t.test('decisions §1: no body is MISSING_FIELD on the first required member, not 415', async t => {
  const client = await open(t)
  t.strictSame(refusal(await client.post(PATH)), missing('collectionReference'))
  t.strictSame(refusal(await client.post(PATH, {})), missing('collectionReference'))
})

t.test('decisions §1: a body that is no object is INVALID_FIELD, one that is no JSON is MALFORMED_REQUEST', async t => {
  const client = await open(t)
  for (const body of ['[]', '"text"', '1', 'null', 'true']) {
    t.strictSame(refusal(await client.post(PATH, body)), invalid(null), body)
  }
  for (const body of ['{', '{"amount":}', 'amount=1']) {
    t.strictSame(refusal(await client.post(PATH, body)), { status: 400, code: 'MALFORMED_REQUEST', field: null }, body)
  }
})

t.test('decisions §1: members that the interface does not name are ignored, not stored, and hinted at', async t => {
  const client = await open(t)
  const created = await client.post(
    PATH,
    collection({ remark: 'hello', status: 'SETTLED', initiatedAt: '2020-01-01T00:00:00Z' }),
  )
  t.equal(created.status, 201)
  t.match(created.headers['sandbox-hint'], /remark.*; .*status.*; .*initiatedAt/)
  t.equal(created.body.status, 'PENDING')
  t.equal(created.body.initiatedAt, MONDAY)
  const { body } = await client.get(`${PATH}/COL-0001`)
  t.notOk('remark' in body)
})

t.test("decisions §1: a reference above SEPA's 35 characters is legal, with a hint", async t => {
  const client = await open(t)
  const long = await client.post(PATH, collection({ collectionReference: 'C'.repeat(36) }))
  t.equal(long.status, 201)
  t.match(long.headers['sandbox-hint'], /collectionReference.*35/)
  const fits = await client.post(PATH, collection({ collectionReference: 'C'.repeat(35) }))
  t.equal(fits.status, 201)
  t.notOk(fits.headers['sandbox-hint'])
})

t.test('decisions §2: a message quotes no more than 80 characters of the input', async t => {
  const client = await open(t)
  const long = 'Q'.repeat(300)
  for (const answer of [
    await client.post(PATH, collection({ collectionReference: long })),
    await client.post(PATH, collection({ amount: long })),
    await client.get(`${PATH}/${long}`),
    await client.get(`${PATH}?mandateReference=${long}`),
    await client.get(`${PATH}?amountMin=${long}`),
  ]) {
    t.equal(answer.status, 400)
    t.match(answer.body.message, /Q/, 'it does quote')
    t.notMatch(answer.body.message, /Q{81}/)
  }
})

// --------------------------------------------------------------------------------------------------- what refuses

t.test('decisions §6: an unknown mandate is 404 MANDATE_NOT_FOUND', async t => {
  const client = await connect(build(t))
  t.strictSame(refusal(await client.post(PATH, collection())), {
    status: 404,
    code: 'MANDATE_NOT_FOUND',
    field: 'mandateReference',
  })
})

t.test('decisions §6: a mandate that is not ACTIVE is 409 MANDATE_NOT_ACTIVE', async t => {
  const notActive = { status: 409, code: 'MANDATE_NOT_ACTIVE', field: 'mandateReference' }
  for (const [status, verb] of [
    ['PENDING', undefined],
    ['FAILED', 'fail'],
    ['CANCELLED', 'cancel'],
  ] as const) {
    const client = await connect(build(t))
    await client.control('PUT', '/settings', { mandateActivation: 'manual' })
    await client.post('/api/v1/mandates', mandate())
    if (verb !== undefined) await client.control('POST', `/mandates/MND-0001/${verb}`)
    const answer = await client.post(PATH, collection())
    t.strictSame(refusal(answer), notActive, status)
    t.match(answer.body.message, status)
  }
  const client = await open(t)
  await client.control('POST', '/mandates/MND-0001/expire')
  t.strictSame(refusal(await client.post(PATH, collection())), notActive, 'EXPIRED')
})

t.test('decisions §6: a taken reference is 409 DUPLICATE_REFERENCE, whatever the body', async t => {
  const client = await open(t)
  const duplicate = { status: 409, code: 'DUPLICATE_REFERENCE', field: 'collectionReference' }
  const first = await client.post(PATH, collection())
  t.strictSame(refusal(await client.post(PATH, collection())), duplicate, 'the same body')
  t.strictSame(refusal(await client.post(PATH, collection({ amount: '99' }))), duplicate, 'another body')
  await client.control('POST', '/direct-debit/COL-0001/cancel')
  t.strictSame(refusal(await client.post(PATH, collection())), duplicate, 'a cancelled one keeps its reference')
  t.equal((await client.get(`${PATH}/COL-0001`)).body.amount, first.body.amount)
  t.equal((await client.post(PATH, collection({ collectionReference: 'col-0001' }))).status, 201, 'case matters')
})

t.test('decisions §6: a ONE_OFF mandate serves once, and only a CANCELLED collection frees it', async t => {
  const moves: Record<string, string[]> = {
    PENDING: [],
    SUBMITTED: ['submit'],
    PROCESSING: ['submit', 'process'],
    SETTLED: ['submit', 'process', 'settle'],
    FAILED: ['submit', 'process', 'fail'],
    RETURNED: ['submit', 'process', 'settle', 'return'],
    REJECTED: ['submit', 'reject'],
  }
  const second = collection({ collectionReference: 'COL-0002' })
  for (const [status, verbs] of Object.entries(moves)) {
    const client = await open(t, { changes: { type: 'ONE_OFF' } })
    await client.post(PATH, collection())
    for (const verb of verbs) await client.control('POST', `/direct-debit/COL-0001/${verb}`)
    t.equal((await client.get(`${PATH}/COL-0001`)).body.status, status)
    t.strictSame(
      refusal(await client.post(PATH, second)),
      { status: 409, code: 'MANDATE_ALREADY_USED', field: 'mandateReference' },
      status,
    )
  }
  const client = await open(t, { changes: { type: 'ONE_OFF' } })
  await client.post(PATH, collection())
  await client.control('POST', '/direct-debit/COL-0001/cancel')
  t.equal((await client.post(PATH, second)).status, 201, 'CANCELLED frees it')
  t.equal((await client.post(PATH, collection({ collectionReference: 'COL-0003' }))).body.code, 'MANDATE_ALREADY_USED')
})

t.test('decisions §6: a RECURRING mandate serves any number of collections', async t => {
  const client = await open(t)
  for (const collectionReference of ['COL-0001', 'COL-0002', 'COL-0003']) {
    t.equal((await client.post(PATH, collection({ collectionReference }))).status, 201)
  }
})

t.test('decisions §1: body 400, then record 404, then state 409', async t => {
  const client = await open(t, { changes: { type: 'ONE_OFF' } })
  await client.post(PATH, collection())
  const wrong = { collectionReference: 'COL-0001', mandateReference: 'MND-9999', collectionDate: '2020-01-01' }
  t.equal((await client.post(PATH, collection({ ...wrong, amount: 1 }))).body.code, 'INVALID_FIELD')
  t.equal((await client.post(PATH, collection(wrong))).body.code, 'COLLECTION_DATE_TOO_EARLY')
  t.equal((await client.post(PATH, collection({ mandateReference: 'MND-9999' }))).body.code, 'MANDATE_NOT_FOUND')
  t.equal((await client.post(PATH, collection())).body.code, 'DUPLICATE_REFERENCE')
})

// ---------------------------------------------------------------------------------------------------------- dates

const EARLY = 'COLLECTION_DATE_TOO_EARLY'
const LATE = 'COLLECTION_DATE_TOO_LATE'

type Assertions = Pick<typeof t, 'equal' | 'match' | 'notOk' | 'strictSame' | 'teardown'>

/** At each clock, what becomes of a collection date: the stored date, or the refusal. */
async function holdsDates(t: Assertions, cases: [clock: string, asked: string, becomes: string][]) {
  for (const [clock, asked, becomes] of cases) {
    const client = await open(t, { clock })
    const answer = await client.post(PATH, collection({ collectionDate: asked }))
    const title = `at ${clock}, ${asked} becomes ${becomes}`
    if (becomes === EARLY || becomes === LATE) {
      t.strictSame(refusal(answer), { status: 400, code: becomes, field: 'collectionDate' }, title)
    } else {
      t.strictSame([answer.status, answer.body.collectionDate], [201, becomes], title)
      const hint = answer.headers['sandbox-hint']
      if (asked === becomes) t.notOk(hint, 'an open day is not moved')
      else t.match(hint, becomes, 'a moved date is hinted at')
      t.equal((await client.get(`${PATH}/COL-0001`)).body.collectionDate, becomes, 'the moved date is stored')
    }
  }
}

t.test('decisions §6: the earliest date is today + 2 open days, + 3 after 16:00 Berlin, in winter', t =>
  holdsDates(t, [
    ['2026-11-02T09:00:00Z', '2020-01-06', EARLY],
    ['2026-11-02T09:00:00Z', '2026-11-02', EARLY],
    ['2026-11-02T14:59:59Z', '2026-11-03', EARLY],
    ['2026-11-02T14:59:59Z', '2026-11-04', '2026-11-04'],
    ['2026-11-02T15:00:00Z', '2026-11-04', '2026-11-04'],
    ['2026-11-02T15:00:01Z', '2026-11-04', EARLY],
    ['2026-11-02T15:00:01Z', '2026-11-05', '2026-11-05'],
    ['2026-11-02T22:59:59Z', '2026-11-05', '2026-11-05'],
    ['2026-11-02T23:00:00Z', '2026-11-04', EARLY],
    ['2026-11-02T23:00:00Z', '2026-11-05', '2026-11-05'],
  ]),
)

t.test('decisions §6: the earliest date is today + 2 open days, + 3 after 16:00 Berlin, in summer', t =>
  holdsDates(t, [
    ['2026-07-06T13:59:59Z', '2026-07-07', EARLY],
    ['2026-07-06T13:59:59Z', '2026-07-08', '2026-07-08'],
    ['2026-07-06T14:00:00Z', '2026-07-08', '2026-07-08'],
    ['2026-07-06T14:00:01Z', '2026-07-08', EARLY],
    ['2026-07-06T14:00:01Z', '2026-07-09', '2026-07-09'],
  ]),
)

t.test('decisions §6: only open days count towards the earliest date', t =>
  holdsDates(t, [
    ['2026-11-05T09:00:00Z', '2026-11-09', '2026-11-09'],
    ['2026-11-05T09:00:00Z', '2026-11-06', EARLY],
    ['2026-11-06T09:00:00Z', '2026-11-09', EARLY],
    ['2026-11-06T09:00:00Z', '2026-11-10', '2026-11-10'],
    ['2026-11-06T15:00:01Z', '2026-11-10', EARLY],
    ['2026-11-06T15:00:01Z', '2026-11-11', '2026-11-11'],
    // On a Saturday.
    ['2026-11-07T09:00:00Z', '2026-11-09', EARLY],
    ['2026-11-07T09:00:00Z', '2026-11-10', '2026-11-10'],
    ['2026-11-07T15:00:01Z', '2026-11-10', EARLY],
    ['2026-11-07T15:00:01Z', '2026-11-11', '2026-11-11'],
    // The Wednesday before Easter: Good Friday and Easter Monday do not count.
    ['2026-04-01T08:00:00Z', '2026-04-02', EARLY],
    ['2026-04-01T08:00:00Z', '2026-04-07', '2026-04-07'],
    // Christmas Eve on a Thursday.
    ['2026-12-24T09:00:00Z', '2026-12-28', EARLY],
    ['2026-12-24T09:00:00Z', '2026-12-29', '2026-12-29'],
  ]),
)

t.test('decisions §6: the latest date is 365 days ahead of today in Berlin', t =>
  holdsDates(t, [
    ['2026-11-02T09:00:00Z', '2027-11-02', '2027-11-02'],
    ['2026-11-02T09:00:00Z', '2027-11-03', LATE],
    ['2026-11-02T09:00:00Z', '9999-12-31', LATE],
    ['2026-11-02T22:59:59Z', '2027-11-03', LATE],
    ['2026-11-02T23:00:00Z', '2027-11-03', '2027-11-03'],
    ['2026-07-06T21:59:59Z', '2027-07-07', LATE],
    ['2026-07-06T22:00:00Z', '2027-07-07', '2027-07-07'],
    // With a leap day in between.
    ['2027-11-02T09:00:00Z', '2028-11-01', '2028-11-01'],
    ['2027-11-02T09:00:00Z', '2028-11-02', LATE],
  ]),
)

t.test('decisions §6: a closed day moves to the next open T2 day, with a hint', t =>
  holdsDates(t, [
    ['2026-11-02T09:00:00Z', '2026-11-07', '2026-11-09'],
    ['2026-11-02T09:00:00Z', '2026-11-08', '2026-11-09'],
    // Good Friday to Easter Monday, in two years.
    ['2026-03-23T09:00:00Z', '2026-04-03', '2026-04-07'],
    ['2026-03-23T09:00:00Z', '2026-04-04', '2026-04-07'],
    ['2026-03-23T09:00:00Z', '2026-04-05', '2026-04-07'],
    ['2026-03-23T09:00:00Z', '2026-04-06', '2026-04-07'],
    ['2027-03-01T09:00:00Z', '2027-03-26', '2027-03-30'],
    // 1 May on a Friday, Christmas on Friday and Saturday, New Year on a Friday.
    ['2026-04-20T08:00:00Z', '2026-05-01', '2026-05-04'],
    ['2026-12-07T09:00:00Z', '2026-12-25', '2026-12-28'],
    ['2026-12-07T09:00:00Z', '2026-12-26', '2026-12-28'],
    ['2026-12-07T09:00:00Z', '2027-01-01', '2027-01-04'],
    // 26 December alone, on a Tuesday.
    ['2028-12-04T09:00:00Z', '2028-12-26', '2028-12-27'],
    // Closed in Germany, open in T2: Ascension, Whit Monday, 3 October, and both Eves.
    ['2026-05-04T08:00:00Z', '2026-05-14', '2026-05-14'],
    ['2026-05-04T08:00:00Z', '2026-05-25', '2026-05-25'],
    ['2028-09-04T08:00:00Z', '2028-10-03', '2028-10-03'],
    ['2026-12-07T09:00:00Z', '2026-12-24', '2026-12-24'],
    ['2026-12-07T09:00:00Z', '2026-12-31', '2026-12-31'],
  ]),
)

t.test('decisions §6: a refusal names the date that would be right', async t => {
  const client = await open(t)
  const early = await client.post(PATH, collection({ collectionDate: '2026-11-03' }))
  t.match(early.body.message, '2026-11-04')
  const late = await client.post(PATH, collection({ collectionDate: '2027-11-03' }))
  t.match(late.body.message, '2027-11-02')
})

// ---------------------------------------------------------------------------------------------------------- seeding

t.test('control plane, seed: collections of any state and date are added', async t => {
  const client = await open(t)
  const seeded = await client.control('POST', '/seed', {
    records: {
      collections: [
        collection({
          status: 'RETURNED',
          reasonCode: 'AM04',
          collectionDate: '2026-10-05',
          initiatedAt: '2026-09-28T08:00:00Z',
          updatedAt: '2026-10-07T12:00:00Z',
        }),
        collection({ collectionReference: 'COL-0002', initiatedAt: '2026-10-30T08:00:00Z' }),
        collection({ collectionReference: 'COL-0003' }),
      ],
    },
  })
  t.equal(seeded.status, 200)
  t.match((await client.get(`${PATH}/COL-0001`)).body, {
    status: 'RETURNED',
    reasonCode: 'AM04',
    collectionDate: '2026-10-05',
    initiatedAt: '2026-09-28T08:00:00Z',
    updatedAt: '2026-10-07T12:00:00Z',
    debtorName: 'Jane Doe',
  })
  const { data } = (await client.get(PATH)).body
  t.strictSame(
    data.map((row: Record<string, string>) => [row.collectionReference, row.status, row.initiatedAt, row.updatedAt]),
    [
      ['COL-0003', 'PENDING', MONDAY, MONDAY],
      ['COL-0002', 'PENDING', '2026-10-30T08:00:00Z', '2026-10-30T08:00:00Z'],
      ['COL-0001', 'RETURNED', '2026-09-28T08:00:00Z', '2026-10-07T12:00:00Z'],
    ],
  )
})

t.test('control plane, seed: collections may come with their mandate, and are moved off closed days', async t => {
  const client = await connect(build(t))
  const records = { mandates: [mandate()], collections: [collection({ collectionDate: '2026-11-07' })] }
  t.equal((await client.control('POST', '/seed', { records })).status, 200)
  t.equal((await client.get(`${PATH}/COL-0001`)).body.collectionDate, '2026-11-09')
})

t.test('control plane, seed: what the API refuses is refused, and nothing at all is added', async t => {
  const client = await open(t)
  const good = collection({ collectionReference: 'COL-0009' })
  const cases: [bad: object, status: number, code: string, member: string][] = [
    [collection({ mandateReference: 'MND-9999' }), 404, 'MANDATE_NOT_FOUND', 'mandateReference'],
    [good, 409, 'DUPLICATE_REFERENCE', 'collectionReference'],
    [collection({ amount: 10.5 }), 400, 'INVALID_FIELD', 'amount'],
    [collection({ status: 'LOST' }), 400, 'INVALID_FIELD', 'status'],
    [collection({ status: 'REJECTED', reasonCode: 'AC13' }), 400, 'INVALID_FIELD', 'reasonCode'],
    [collection({ status: 'REJECTED', reasonCode: 'ZZ99' }), 400, 'INVALID_FIELD', 'reasonCode'],
  ]
  for (const [bad, status, code, member] of cases) {
    const answer = await client.control('POST', '/seed', { records: { collections: [good, bad] } })
    t.strictSame(refusal(answer), { status, code, field: `records.collections.1.${member}` }, `${code} ${member}`)
    t.equal((await client.get(PATH)).body.totalCount, 0, 'nothing was added')
  }
})

t.test('decisions §6: a seeded collection that did not fail shows no reasonCode either', async t => {
  for (const status of ['PENDING', 'SUBMITTED', 'PROCESSING', 'SETTLED', 'CANCELLED']) {
    const client = await open(t)
    await client.control('POST', '/seed', { records: { collections: [collection({ status, reasonCode: 'AM04' })] } })
    t.notOk('reasonCode' in (await client.get(`${PATH}/COL-0001`)).body, status)
  }
})
