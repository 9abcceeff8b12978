import t from 'tap'
import type { Answer, Client } from '../helper.js'
import { build, call, collection, connect, MONDAY, mandate } from '../helper.js'

const PATH = '/api/v1/mandates'

const refusal = ({ status, body }: Answer) => ({ status, code: body.code, field: body.field })
const invalid = (field: string | null) => ({ status: 400, code: 'INVALID_FIELD', field })
const missing = (field: string) => ({ status: 400, code: 'MISSING_FIELD', field })
const short = (value: unknown) => String(JSON.stringify(value)).slice(0, 40)

const read = async (client: Client, reference = 'MND-0001') => (await client.get(`${PATH}/${reference}`)).body
const explain = async (client: Client, reference = 'MND-0001') =>
  (await client.control('GET', `/mandates/${reference}`)).body
const move = (client: Client, verb: string, reference = 'MND-0001') =>
  client.control('POST', `/mandates/${reference}/${verb}`)

/** A mandate request with other values in its creditor's bank identifier, or in its debtor. */
const withIdentifier = (changes: object) => {
  const { name, bankIdentifier } = mandate().creditor
  return mandate({ creditor: { name, bankIdentifier: { ...bankIdentifier, ...changes } } })
}
const withDebtor = (changes: object) => mandate({ debtor: { ...mandate().debtor, ...changes } })

/** Posts requests that differ in their references alone from the given ones, each a mandate of its own. */
async function post(client: Client, requests: readonly object[]): Promise<Answer[]> {
  const answers: Answer[] = []
  for (const [index, request] of requests.entries()) {
    answers.push(await client.post(PATH, { ...request, mandateReference: `MND-${1000 + index}` }))
  }
  return answers
}

// ------------------------------------------------------------------------------------------------------ the record

t.test('decisions §7: a request is answered 201 with the ACTIVE record, and defaults', async t => {
  const client = await connect(build(t))
  const created = await client.post(PATH, mandate())
  t.equal(created.status, 201)
  t.strictSame(created.body, {
    mandateReference: 'MND-0001',
    type: 'RECURRING',
    mode: 'CORE',
    scheme: 'SEPA',
    currency: 'EUR',
    signatureDate: '2026-11-02',
    creditor: { name: 'Acme GmbH', bankIdentifier: { type: 'CREDITOR_IDENTIFIER', value: 'DE98ZZZ09999999999' } },
    debtor: { name: 'Jane Doe', iban: 'DE89370400440532013000' },
    status: 'ACTIVE',
    createdAt: MONDAY,
    updatedAt: MONDAY,
  })
  t.notOk(created.headers['sandbox-hint'])
})

t.test('decisions §7: every member that may be given is stored as given', async t => {
  const client = await connect(build(t))
  const request = {
    mandateReference: 'MND-0001',
    type: 'RECURRING',
    mode: 'CORE',
    scheme: 'SEPA',
    currency: 'EUR',
    frequency: 'MONTHLY',
    signatureDate: '2026-10-01',
    creditor: { name: 'Acme GmbH', bankIdentifier: { type: 'CREDITOR_IDENTIFIER', value: 'FR72ZZZ123456' } },
    debtor: {
      name: 'Zoë Müller',
      iban: 'FR1420041010050500013M02606',
      bic: 'PSSTFRPPPAR',
      reference: 'customer 17',
      emailAddress: 'zoe@example.com',
    },
  }
  const created = await client.post(PATH, request)
  t.equal(created.status, 201)
  t.strictSame(created.body, { ...request, status: 'ACTIVE', createdAt: MONDAY, updatedAt: MONDAY })
})

t.test('interface, GET /mandates/{mandateReference}: the record can be read, on its own and in the list', async t => {
  const client = await connect(build(t))
  const { body } = await client.post(PATH, mandate())
  const answer = await client.get(`${PATH}/MND-0001`)
  t.equal(answer.status, 200)
  t.strictSame(answer.body, body)
  t.strictSame((await client.get(PATH)).body, { totalCount: 1, hasMore: false, nextCursor: null, data: [body] })
})

t.test('decisions §7: what the sandbox notes for itself does not show', async t => {
  const client = await connect(build(t))
  const { body } = await client.post(PATH, mandate())
  await client.post('/api/v1/direct-debit', collection())
  await client.control('POST', '/direct-debit/COL-0001/submit')
  t.strictSame(Object.keys(await read(client)).sort(), Object.keys(body).sort(), 'the same members after a collection')
  const [row] = (await client.get(PATH)).body.data
  t.strictSame(Object.keys(row).sort(), Object.keys(body).sort())
})

t.test('decisions §2: no such mandate is 404 MANDATE_NOT_FOUND', async t => {
  const client = await connect(build(t))
  for (const method of ['GET', 'DELETE']) {
    t.strictSame(
      refusal(await client.send(method, `${PATH}/MND-0001`)),
      { status: 404, code: 'MANDATE_NOT_FOUND', field: 'mandateReference' },
      method,
    )
  }
})

t.test('interface, Errors 2: a path value that breaks its pattern is 400, one with a slash 404', async t => {
  const client = await connect(build(t))
  for (const method of ['GET', 'DELETE']) {
    for (const reference of ['MND1', 'M'.repeat(51), 'M'.repeat(5000), 'MND_0001', 'MND%200001', 'M%C3%9CD-1']) {
      t.strictSame(
        refusal(await client.send(method, `${PATH}/${reference}`)),
        invalid('mandateReference'),
        `${method} ${reference.slice(0, 60)}`,
      )
    }
    for (const reference of ['MND/0001', 'MND%2F0001', 'MND%2f0001']) {
      t.strictSame(
        refusal(await client.send(method, `${PATH}/${reference}`)),
        { status: 404, code: 'ROUTE_NOT_FOUND', field: null },
        `${method} ${reference}`,
      )
    }
  }
})

t.test('decisions §2: a taken reference is 409 DUPLICATE_REFERENCE, whatever the body and the state', async t => {
  const client = await connect(build(t))
  const duplicate = { status: 409, code: 'DUPLICATE_REFERENCE', field: 'mandateReference' }
  const { body } = await client.post(PATH, mandate())
  t.strictSame(refusal(await client.post(PATH, mandate())), duplicate)
  t.strictSame(refusal(await client.post(PATH, mandate({ type: 'ONE_OFF' }))), duplicate)
  t.strictSame(await read(client), body, 'the first one stays as it is')
  await client.delete(`${PATH}/MND-0001`)
  t.strictSame(refusal(await client.post(PATH, mandate())), duplicate, 'a cancelled one keeps its reference')
})

t.test('decisions §3: nothing crosses between tenants', async t => {
  const app = build(t)
  const [acme, other] = [await connect(app, 'acme'), await connect(app, 'other')]
  await acme.post(PATH, mandate())
  t.equal((await other.get(`${PATH}/MND-0001`)).body.code, 'MANDATE_NOT_FOUND')
  t.equal((await other.delete(`${PATH}/MND-0001`)).body.code, 'MANDATE_NOT_FOUND')
  t.equal((await other.get(PATH)).body.totalCount, 0)
  t.equal((await other.post(PATH, mandate())).status, 201)
  t.equal((await acme.get(PATH)).body.totalCount, 1)
})

t.test('interface, mandates: region EU only, on every operation', async t => {
  const client = await connect(build(t))
  await client.post(PATH, mandate())
  for (const [method, url, body] of [
    ['POST', PATH, mandate({ mandateReference: 'MND-0002' })],
    ['GET', PATH, undefined],
    ['GET', `${PATH}/MND-0001`, undefined],
    ['DELETE', `${PATH}/MND-0001`, undefined],
  ] as const) {
    for (const region of ['IN', 'US', 'UK', 'GB', 'eu']) {
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
  t.match(await read(client), { status: 'ACTIVE' }, 'nothing was changed')
  t.equal((await client.get(PATH)).body.totalCount, 1, 'nothing was created')
})

t.test('interface, Authentication: every operation wants a bearer token', async t => {
  const app = build(t)
  for (const [method, url] of [
    ['POST', PATH],
    ['GET', PATH],
    ['GET', `${PATH}/MND-0001`],
    ['DELETE', `${PATH}/MND-0001`],
  ] as const) {
    const answer = await call(app, method, url, { region: 'EU' })
    t.strictSame([answer.status, answer.body.code], [401, 'MISSING_TOKEN'], `${method} ${url}`)
  }
})

// ---------------------------------------------------------------------------------------------------------- fields

t.test('decisions §7: mandateReference is 5-50 letters, digits and hyphens', async t => {
  const client = await connect(build(t))
  for (const mandateReference of ['MND-1', 'M'.repeat(50), '12345', '-----', 'aZ-09']) {
    const { status, body } = await client.post(PATH, mandate({ mandateReference }))
    t.strictSame([status, body.mandateReference], [201, mandateReference])
  }
  for (const mandateReference of [
    'MND1',
    'M'.repeat(51),
    'MND_0001',
    'MND 0001',
    'MND/0001',
    'MND-0001\n',
    'MÜD-0001',
    12345,
    null,
  ]) {
    const answer = await client.post(PATH, mandate({ mandateReference }))
    t.strictSame(refusal(answer), invalid('mandateReference'), short(mandateReference))
  }
})

t.test("decisions §1: a reference above SEPA's 35 characters is legal, with a hint", async t => {
  const client = await connect(build(t))
  const long = await client.post(PATH, mandate({ mandateReference: 'M'.repeat(36) }))
  t.equal(long.status, 201)
  t.match(long.headers['sandbox-hint'], /mandateReference.*35/)
  t.notOk((await client.post(PATH, mandate({ mandateReference: 'M'.repeat(35) }))).headers['sandbox-hint'])
})

t.test('interface, Mandate: type is RECURRING or ONE_OFF, mode CORE, currency EUR, the scheme SEPA', async t => {
  const client = await connect(build(t))
  for (const { status, body } of await post(client, [mandate({ type: 'RECURRING' }), mandate({ type: 'ONE_OFF' })])) {
    t.equal(status, 201, body.type)
  }
  for (const [field, values] of Object.entries({
    type: ['recurring', 'ONCE', 1, null, ['ONE_OFF']],
    mode: ['B2B', 'COR1', 'core', '', 1, null],
    currency: ['USD', 'GBP', 'eur', 1, null],
    scheme: ['BACS', 'sepa', 1, null],
  })) {
    for (const value of values) {
      t.strictSame(
        refusal(await client.post(PATH, mandate({ [field]: value }))),
        invalid(field),
        `${field} ${short(value)}`,
      )
    }
  }
})

t.test('decisions §7: frequency goes only with RECURRING', async t => {
  const client = await connect(build(t))
  const all = ['WEEKLY', 'MONTHLY', 'QUARTERLY', 'SEMI_ANNUAL', 'ANNUAL']
  for (const { status, body } of await post(
    client,
    all.map(frequency => mandate({ frequency })),
  )) {
    t.equal(status, 201, body.frequency)
  }
  t.strictSame(
    (await client.get(PATH)).body.data.map((row: { frequency: string }) => row.frequency),
    [...all].reverse(),
  )
  for (const frequency of ['DAILY', 'monthly', '', 12, null]) {
    t.strictSame(refusal(await client.post(PATH, mandate({ frequency }))), invalid('frequency'), short(frequency))
  }
  for (const frequency of all) {
    const answer = await client.post(PATH, mandate({ type: 'ONE_OFF', frequency }))
    t.strictSame(refusal(answer), invalid('frequency'), `ONE_OFF ${frequency}`)
    t.match(answer.body.message, 'RECURRING', 'the message says what would be right')
  }
  t.equal((await client.get(PATH)).body.totalCount, all.length, 'nothing more was created')
})

t.test('decisions §1: a refused body (400) comes before the taken reference (409)', async t => {
  const client = await connect(build(t))
  await client.post(PATH, mandate())
  t.strictSame(refusal(await client.post(PATH, mandate({ mode: 'B2B' }))), invalid('mode'))
  const answer = await client.post(PATH, mandate({ type: 'ONE_OFF', frequency: 'MONTHLY' }))
  t.strictSame(refusal(answer), invalid('frequency'))
})

t.test('decisions §7: signatureDate is a real date', async t => {
  const client = await connect(build(t))
  for (const [index, signatureDate] of ['2026-11-02', '2020-01-31', '2024-02-29'].entries()) {
    const body = mandate({ mandateReference: `MND-${1000 + index}`, signatureDate })
    t.strictSame((await client.post(PATH, body)).body.signatureDate, signatureDate)
  }
  for (const signatureDate of [
    '2026-02-30',
    '2025-02-29',
    '2026-13-01',
    '2026-1-1',
    '20261102',
    `${MONDAY}`,
    '',
    20261102,
    null,
  ]) {
    t.strictSame(
      refusal(await client.post(PATH, mandate({ signatureDate }))),
      invalid('signatureDate'),
      short(signatureDate),
    )
  }
})

t.test('decisions §7: the creditor identifier has correct check digits', async t => {
  const client = await connect(build(t))

  /** Check digits as decisions §7 says: characters 8… then 1-4, letters as 10-35, mod 97 = 1. */
  const identifier = (country: string, business: string, national: string) => {
    const digits = [...`${national}${country}00`].map(letter => Number.parseInt(letter, 36)).join('')
    return `${country}${String(98n - (BigInt(digits) % 97n)).padStart(2, '0')}${business}${national}`
  }
  t.equal(identifier('DE', 'ZZZ', '09999999999'), 'DE98ZZZ09999999999', 'the given examples agree')
  t.equal(identifier('FR', 'ZZZ', '123456'), 'FR72ZZZ123456', 'the given examples agree')

  const right = [
    'DE98ZZZ09999999999',
    'FR72ZZZ123456',
    // Characters 5-7 are left out.
    'DE98ABC09999999999',
    'DE9800109999999999',
    identifier('AT', 'ZZZ', '1'),
    identifier('NL', 'ZZZ', '123456780000'),
    identifier('IT', 'A1B', 'ABCDEF80A01H501U'),
    identifier('DE', 'ZZZ', 'A'.repeat(28)),
  ]
  const answers = await post(
    client,
    right.map(value => withIdentifier({ value })),
  )
  for (const [index, { status, body }] of answers.entries()) {
    t.strictSame([status, body.creditor?.bankIdentifier.value], [201, right[index]], short(right[index]))
  }

  const wrong = [
    'DE74ZZZ09999999999',
    'DE97ZZZ09999999999',
    'DE98ZZZ09999999998',
    'DE98ZZZ90999999999',
    'FR98ZZZ09999999999',
    'FR72ZZZ123457',
    'de98zzz09999999999',
    'De98ZZZ09999999999',
    'DE98zzz09999999999',
    'DE98ZZZ',
    'DE98 ZZZ 0999 9999 999',
    'DE98ZZZ0999999999-9',
    '98DEZZZ09999999999',
    'DE98ZZZ09999999999\n',
    identifier('DE', 'ZZZ', 'A'.repeat(29)),
    98,
    null,
  ]
  for (const value of wrong) {
    t.strictSame(
      refusal(await client.post(PATH, withIdentifier({ value }))),
      invalid('creditor.bankIdentifier.value'),
      short(value),
    )
  }
})

t.test('decisions §7: the bank identifier of a creditor has type CREDITOR_IDENTIFIER', async t => {
  const client = await connect(build(t))
  for (const type of ['BIC', 'creditor_identifier', 1, null]) {
    t.strictSame(
      refusal(await client.post(PATH, withIdentifier({ type }))),
      invalid('creditor.bankIdentifier.type'),
      short(type),
    )
  }
})

t.test('decisions §7: the IBAN of the debtor is a valid one of a SEPA country', async t => {
  const client = await connect(build(t))
  const right = [
    'DE89370400440532013000',
    'FR1420041010050500013M02606',
    'NL91ABNA0417164300',
    'AT611904300234573201',
    'NO9386011117947',
    'CH9300762011623852957',
    'GB29NWBK60161331926819',
  ]
  const answers = await post(
    client,
    right.map(iban => withDebtor({ iban })),
  )
  for (const [index, { status, body }] of answers.entries()) {
    t.strictSame([status, body.debtor?.iban], [201, right[index]], short(right[index]))
  }
  const wrong = [
    'DE89370400440532013001',
    'DE88370400440532013000',
    'DE8937040044053201300',
    'DE893704004405320130000',
    'DE89 3704 0044 0532 0130 00',
    'de89370400440532013000',
    'FR89370400440532013000',
    'XX89370400440532013000',
    '370400440532013000',
    // Valid, but not SEPA: Turkey, Saudi Arabia, Brazil.
    'TR330006100519786457841326',
    'SA0380000000608010167519',
    'BR1800360305000010009795493C1',
    89,
    null,
  ]
  for (const iban of wrong) {
    t.strictSame(refusal(await client.post(PATH, withDebtor({ iban }))), invalid('debtor.iban'), short(iban))
  }
})

t.test('decisions §10: a BIC has 8 or 11 characters', async t => {
  const client = await connect(build(t))
  for (const { status, body } of await post(
    client,
    ['COBADEFF', 'COBADEFFXXX', 'PSSTFRPPPAR'].map(bic => withDebtor({ bic })),
  )) {
    t.equal(status, 201, body.debtor?.bic)
  }
  for (const bic of [
    'COBADEF',
    'COBADEFFX',
    'COBADEFFXX',
    'COBADEFFXXXX',
    'cobadeff',
    'COBA1EFF',
    'COBA-EFF',
    '',
    1,
    null,
  ]) {
    t.strictSame(refusal(await client.post(PATH, withDebtor({ bic }))), invalid('debtor.bic'), short(bic))
  }
})

t.test('decisions §7: the reference of the debtor is 1-100 characters', async t => {
  const client = await connect(build(t))
  for (const { status } of await post(
    client,
    ['x', 'x'.repeat(100), '€'.repeat(100)].map(reference => withDebtor({ reference })),
  )) {
    t.equal(status, 201)
  }
  for (const reference of ['', 'x'.repeat(101), 1, null]) {
    t.strictSame(
      refusal(await client.post(PATH, withDebtor({ reference }))),
      invalid('debtor.reference'),
      short(reference),
    )
  }
})

t.test('decisions §7: the e-mail address of the debtor looks like one', async t => {
  const client = await connect(build(t))
  t.equal((await client.post(PATH, withDebtor({ emailAddress: 'jane.doe+sepa@mail.example.com' }))).status, 201)
  for (const emailAddress of ['jane', 'jane@', '@example.com', 'jane doe@example.com', '', 1, null]) {
    t.strictSame(
      refusal(await client.post(PATH, withDebtor({ emailAddress }))),
      invalid('debtor.emailAddress'),
      short(emailAddress),
    )
  }
})

t.test('decisions §2: what is required and absent or empty is MISSING_FIELD', async t => {
  const client = await connect(build(t))
  const { creditor, debtor } = mandate()
  const { bankIdentifier } = creditor
  const cases: [object, string][] = [
    [mandate({ mandateReference: undefined }), 'mandateReference'],
    [mandate({ mandateReference: '' }), 'mandateReference'],
    [mandate({ type: undefined }), 'type'],
    [mandate({ type: '' }), 'type'],
    [mandate({ creditor: undefined }), 'creditor'],
    [mandate({ creditor: { bankIdentifier } }), 'creditor.name'],
    [mandate({ creditor: { name: '', bankIdentifier } }), 'creditor.name'],
    [mandate({ creditor: { name: 'Acme GmbH' } }), 'creditor.bankIdentifier'],
    [withIdentifier({ type: undefined }), 'creditor.bankIdentifier.type'],
    [withIdentifier({ type: '' }), 'creditor.bankIdentifier.type'],
    [withIdentifier({ value: undefined }), 'creditor.bankIdentifier.value'],
    [withIdentifier({ value: '' }), 'creditor.bankIdentifier.value'],
    [mandate({ debtor: undefined }), 'debtor'],
    [mandate({ debtor: { iban: debtor.iban } }), 'debtor.name'],
    [withDebtor({ name: '' }), 'debtor.name'],
    [mandate({ debtor: { name: debtor.name } }), 'debtor.iban'],
    [withDebtor({ iban: '' }), 'debtor.iban'],
  ]
  for (const [body, field] of cases) t.strictSame(refusal(await client.post(PATH, body)), missing(field), field)
  t.strictSame(refusal(await client.post(PATH)), missing('mandateReference'), 'no body')
  t.equal((await client.get(PATH)).body.totalCount, 0)
})

t.test('decisions §2: a member of the wrong type is INVALID_FIELD', async t => {
  const client = await connect(build(t))
  for (const [body, field] of [
    [mandate({ creditor: 'Acme GmbH' }), 'creditor'],
    [mandate({ creditor: null }), 'creditor'],
    [mandate({ creditor: [] }), 'creditor'],
    [mandate({ creditor: { ...mandate().creditor, name: 1 } }), 'creditor.name'],
    [mandate({ creditor: { name: 'Acme GmbH', bankIdentifier: 'DE98ZZZ09999999999' } }), 'creditor.bankIdentifier'],
    [mandate({ debtor: 'Jane Doe' }), 'debtor'],
    [withDebtor({ name: 1 }), 'debtor.name'],
  ] as const) {
    t.strictSame(refusal(await client.post(PATH, body)), invalid(field), short(body))
  }
  t.strictSame(refusal(await client.post(PATH, '[]')), invalid(null))
})

t.test('decisions §1: members that the interface does not name are ignored, not stored, and hinted at', async t => {
  const client = await connect(build(t))
  const created = await client.post(PATH, {
    ...withDebtor({ phone: '123' }),
    status: 'EXPIRED',
    createdAt: '2020-01-01T00:00:00Z',
    lastPresentedAt: '2020-01-01T00:00:00Z',
  })
  t.equal(created.status, 201)
  t.match(created.headers['sandbox-hint'], 'phone')
  t.match(created.headers['sandbox-hint'], 'status')
  t.strictSame(created.body.debtor, mandate().debtor)
  t.match(await read(client), { status: 'ACTIVE', createdAt: MONDAY })
  t.equal((await explain(client)).next.at, '2029-11-02T09:00:00Z', 'nor does it count')
})

// ---------------------------------------------------------------------------------------------------------- DELETE

t.test('interface, Mandate: DELETE of an active mandate answers 200 with the record, CANCELLED', async t => {
  const client = await connect(build(t))
  const { body } = await client.post(PATH, mandate())
  await client.advance({ by: 'PT1H' })
  const deleted = await client.delete(`${PATH}/MND-0001`)
  t.equal(deleted.status, 200)
  t.strictSame(deleted.body, { ...body, status: 'CANCELLED', updatedAt: '2026-11-02T10:00:00Z' })
  t.strictSame(await read(client), deleted.body)
  t.equal((await client.get(PATH)).body.totalCount, 1, 'it stays on the list')
})

t.test('decisions §7: DELETE of a mandate that is not active is 409 MANDATE_NOT_ACTIVE', async t => {
  const notActive = { status: 409, code: 'MANDATE_NOT_ACTIVE', field: 'mandateReference' }
  for (const [status, verbs] of [
    ['PENDING', []],
    ['FAILED', ['fail']],
    ['EXPIRED', ['activate', 'expire']],
    ['CANCELLED', ['activate', 'cancel']],
  ] as const) {
    const client = await connect(build(t))
    await client.control('PUT', '/settings', { mandateActivation: 'manual' })
    await client.post(PATH, mandate())
    for (const verb of verbs) await move(client, verb)
    const before = await read(client)
    t.equal(before.status, status)
    const answer = await client.delete(`${PATH}/MND-0001`)
    t.strictSame(refusal(answer), notActive, status)
    t.match(answer.body.message, status, 'the message says what it is')
    t.strictSame(await read(client), before, 'nothing changed')
  }
  const client = await connect(build(t))
  await client.post(PATH, mandate())
  t.equal((await client.delete(`${PATH}/MND-0001`)).status, 200)
  t.strictSame(refusal(await client.delete(`${PATH}/MND-0001`)), notActive, 'a second DELETE')
})

t.test('decisions §7: DELETE cancels the PENDING collections of this mandate', async t => {
  const client = await connect(build(t))
  for (const mandateReference of ['MND-0001', 'MND-0002']) {
    await client.post(PATH, mandate({ mandateReference }))
    for (const count of [1, 2]) {
      await client.post(
        '/api/v1/direct-debit',
        collection({ mandateReference, collectionReference: `${mandateReference}-COL-${count}` }),
      )
    }
  }
  await client.control('POST', '/direct-debit/MND-0001-COL-2/submit')
  await client.delete(`${PATH}/MND-0001`)
  const { data } = (await client.get('/api/v1/direct-debit')).body
  t.strictSame(
    data.map((row: Record<string, string>) => [row.collectionReference, row.status]),
    [
      ['MND-0002-COL-2', 'PENDING'],
      ['MND-0002-COL-1', 'PENDING'],
      ['MND-0001-COL-2', 'SUBMITTED'],
      ['MND-0001-COL-1', 'CANCELLED'],
    ],
  )
})

// ---------------------------------------------------------------------------------------------------------- expiry

t.test('decisions §7: 36 months without a presented collection make it EXPIRED, to the second', async t => {
  const client = await connect(build(t))
  await client.post(PATH, mandate())
  t.strictSame((await explain(client)).next, { at: '2029-11-02T09:00:00Z', to: 'EXPIRED' })
  t.strictSame((await client.advance({ to: '2029-11-02T08:59:59Z' })).body.transitions, [])
  t.match(await read(client), { status: 'ACTIVE', updatedAt: MONDAY })

  t.strictSame((await client.advance({ to: '2029-11-02T09:00:00Z' })).body.transitions, [
    { at: '2029-11-02T09:00:00Z', kind: 'mandate', reference: 'MND-0001', from: 'ACTIVE', to: 'EXPIRED' },
  ])
  t.match(await read(client), { status: 'EXPIRED', updatedAt: '2029-11-02T09:00:00Z', createdAt: MONDAY })

  const late = await client.post('/api/v1/direct-debit', collection({ collectionDate: '2029-11-12' }))
  t.strictSame(refusal(late), { status: 409, code: 'MANDATE_NOT_ACTIVE', field: 'mandateReference' })
  t.equal((await explain(client)).next, null)
})

t.test('decisions §7: a collection presented in between restarts the 36 months', async t => {
  const client = await connect(build(t))
  await client.post(PATH, mandate())
  await client.post('/api/v1/direct-debit', collection())
  t.equal((await explain(client)).next.at, '2029-11-02T09:00:00Z', 'not while it is PENDING')
  await client.advance({ to: '2026-11-05T15:00:00Z' })
  t.equal((await explain(client)).next.at, '2029-11-05T15:00:00Z', 'but when it is SUBMITTED')
  t.equal((await read(client)).updatedAt, MONDAY, 'which is no change of the mandate')

  await client.advance({ to: '2029-11-05T14:59:59Z' })
  t.equal((await read(client)).status, 'ACTIVE')
  await client.advance({ to: '2029-11-05T15:00:00Z' })
  t.match(await read(client), { status: 'EXPIRED', updatedAt: '2029-11-05T15:00:00Z' })
})

t.test('decisions §7: each presented collection restarts the 36 months, even one that comes to nothing', async t => {
  const client = await connect(build(t))
  await client.post(PATH, mandate())
  await client.post('/api/v1/direct-debit', collection({ debtorReference: 'SIM-REJECTED-AC01' }))
  await client.advance({ by: 'P730D' })
  const { now } = (await client.control('GET', '/clock')).body
  t.equal(now, '2028-11-01T09:00:00Z')
  await client.post(
    '/api/v1/direct-debit',
    collection({ collectionReference: 'COL-0002', collectionDate: '2028-11-10', debtorReference: 'SIM-REJECTED-AC01' }),
  )
  await client.advance({ by: 'P30D' })
  t.equal((await client.get('/api/v1/direct-debit/COL-0002')).body.status, 'REJECTED')
  t.strictSame((await explain(client)).next, { at: '2031-11-08T15:00:00Z', to: 'EXPIRED' })
})

t.test('decisions §7: a collection that was cancelled before submission is not presented', async t => {
  const client = await connect(build(t))
  await client.post(PATH, mandate())
  await client.post('/api/v1/direct-debit', collection())
  await client.control('POST', '/direct-debit/COL-0001/cancel')
  await client.advance({ by: 'P30D' })
  t.equal((await explain(client)).next.at, '2029-11-02T09:00:00Z')
})

t.test('decisions §7: a submission by the control plane counts as one', async t => {
  const client = await connect(build(t))
  await client.post(PATH, mandate())
  await client.post('/api/v1/direct-debit', collection())
  await client.advance({ by: 'PT2H' })
  await client.control('POST', '/direct-debit/COL-0001/submit')
  t.equal((await explain(client)).next.at, '2029-11-02T11:00:00Z')
})

t.test('decisions §7: a submitted collection goes on although its mandate is cancelled', async t => {
  const client = await connect(build(t))
  await client.post(PATH, mandate())
  await client.post('/api/v1/direct-debit', collection())
  await client.advance({ to: '2026-11-05T15:00:00Z' })
  await client.delete(`${PATH}/MND-0001`)
  t.equal((await explain(client)).next, null, 'a cancelled mandate does not expire')
  await client.advance({ by: 'P1500D' })
  t.equal((await read(client)).status, 'CANCELLED')
  t.equal((await client.get('/api/v1/direct-debit/COL-0001')).body.status, 'SETTLED')
})

// ------------------------------------------------------------------------------------------------ the control plane

/** How the control plane leads to each state, from PENDING. */
const WAY: Record<string, string[]> = {
  PENDING: [],
  ACTIVE: ['activate'],
  CANCELLED: ['activate', 'cancel'],
  EXPIRED: ['activate', 'expire'],
  FAILED: ['fail'],
}

/** What the verbs do (decisions §7 names the states; that a PENDING mandate may be cancelled is assumed). */
const LEGAL: Record<string, Record<string, string>> = {
  PENDING: { activate: 'ACTIVE', fail: 'FAILED', cancel: 'CANCELLED' },
  ACTIVE: { cancel: 'CANCELLED', expire: 'EXPIRED' },
  CANCELLED: {},
  EXPIRED: {},
  FAILED: {},
}

const VERBS = ['activate', 'fail', 'cancel', 'expire']

for (const [status, legal] of Object.entries(LEGAL)) {
  t.test(
    `control plane: from ${status}, legal are: ${Object.keys(legal).join(', ') || 'none, it is final'}`,
    async t => {
      const client = await connect(build(t))
      await client.control('PUT', '/settings', { mandateActivation: 'manual' })
      for (const verb of VERBS) {
        const mandateReference = `MND-${verb}`
        await client.post(PATH, mandate({ mandateReference }))
        for (const step of WAY[status] as string[]) await move(client, step, mandateReference)
        await client.advance({ by: 'PT1M' })
        const { now } = (await client.control('GET', '/clock')).body
        const before = await explain(client, mandateReference)
        t.equal(before.record.status, status)
        t.strictSame(
          before.legal,
          Object.entries(legal).map(([verb, to]) => ({ verb, to })),
        )

        const answer = await move(client, verb, mandateReference)
        const to = legal[verb]
        if (to === undefined) {
          t.strictSame(refusal(answer), { status: 409, code: 'ILLEGAL_TRANSITION', field: null }, `${verb} is illegal`)
          for (const name of Object.keys(legal))
            t.match(answer.body.message, new RegExp(`\\b${name}\\b`), `names ${name}`)
          for (const name of VERBS.filter(name => name !== verb && legal[name] === undefined)) {
            t.notMatch(answer.body.message, new RegExp(`\\b${name}\\b`), `does not name ${name}`)
          }
          t.strictSame(await explain(client, mandateReference), before, `${verb} changed nothing`)
        } else {
          t.equal(answer.status, 200, `${verb} is legal`)
          t.match(answer.body.record, { status: to, updatedAt: now, createdAt: before.record.createdAt })
          t.strictSame(answer.body, await explain(client, mandateReference), 'answers the explained record')
          t.match(answer.body.timeline.at(-1), { at: now, kind: 'mandate', from: status, to, cause: 'control' })
          t.equal((await read(client, mandateReference)).status, to)
        }
      }
    },
  )
}

t.test('control plane: a verb on no such mandate is 404', async t => {
  const client = await connect(build(t))
  const notFound = { status: 404, code: 'MANDATE_NOT_FOUND', field: 'mandateReference' }
  for (const verb of VERBS) t.strictSame(refusal(await move(client, verb)), notFound, verb)
  t.strictSame(refusal(await client.control('GET', '/mandates/MND-0001')), notFound, 'explain')
})

t.test('control plane, settings: mandateActivation manual holds new mandates PENDING until activated', async t => {
  const client = await connect(build(t))
  await client.post(PATH, mandate({ mandateReference: 'MND-BEFORE' }))
  t.equal((await client.control('PUT', '/settings', { mandateActivation: 'manual' })).status, 200)
  const created = await client.post(PATH, mandate())
  t.strictSame([created.status, created.body.status], [201, 'PENDING'])
  t.equal((await read(client, 'MND-BEFORE')).status, 'ACTIVE', 'older ones stay as they are')
  t.strictSame((await client.advance({ by: 'P30D' })).body.transitions, [], 'time does not activate it')

  const due = { collectionDate: '2026-12-14' }
  t.strictSame(refusal(await client.post('/api/v1/direct-debit', collection(due))), {
    status: 409,
    code: 'MANDATE_NOT_ACTIVE',
    field: 'mandateReference',
  })
  const activated = await move(client, 'activate')
  t.equal(activated.status, 200)
  t.match(await read(client), { status: 'ACTIVE', createdAt: MONDAY, updatedAt: '2026-12-02T09:00:00Z' })
  t.equal((await client.post('/api/v1/direct-debit', collection(due))).status, 201)

  await client.control('PUT', '/settings', { mandateActivation: 'automatic' })
  t.equal((await client.post(PATH, mandate({ mandateReference: 'MND-AFTER' }))).body.status, 'ACTIVE')
})

t.test('control plane, settings: they are the tenant’s own', async t => {
  const app = build(t)
  const [acme, other] = [await connect(app, 'acme'), await connect(app, 'other')]
  await acme.control('PUT', '/settings', { mandateActivation: 'manual' })
  t.equal((await acme.post(PATH, mandate())).body.status, 'PENDING')
  t.equal((await other.post(PATH, mandate())).body.status, 'ACTIVE')
})

t.test('control plane, Shapes: an explained mandate tells its past, its next step and the legal moves', async t => {
  const client = await connect(build(t))
  const { body } = await client.post(PATH, mandate())
  const same = { kind: 'mandate', reference: 'MND-0001' }
  t.strictSame(await explain(client), {
    record: body,
    timeline: [{ seq: 1, at: MONDAY, ...same, from: null, to: 'ACTIVE', cause: 'api' }],
    next: { at: '2029-11-02T09:00:00Z', to: 'EXPIRED' },
    legal: [
      { verb: 'cancel', to: 'CANCELLED' },
      { verb: 'expire', to: 'EXPIRED' },
    ],
  })
  await client.advance({ to: '2029-11-02T09:00:00Z' })
  t.strictSame((await explain(client)).timeline, [
    { seq: 1, at: MONDAY, ...same, from: null, to: 'ACTIVE', cause: 'api' },
    { seq: 2, at: '2029-11-02T09:00:00Z', ...same, from: 'ACTIVE', to: 'EXPIRED', cause: 'time' },
  ])
})

t.test('decisions §7: all five states are reached by the documented calls, time and the activation', async t => {
  const client = await connect(build(t))
  await client.post(PATH, mandate({ mandateReference: 'MND-EXPIRED' }))
  await client.advance({ to: '2029-11-02T09:00:00Z' })
  await client.post(PATH, mandate({ mandateReference: 'MND-ACTIVE' }))
  await client.post(PATH, mandate({ mandateReference: 'MND-CANCELLED' }))
  await client.delete(`${PATH}/MND-CANCELLED`)
  await client.control('PUT', '/settings', { mandateActivation: 'manual' })
  await client.post(PATH, mandate({ mandateReference: 'MND-PENDING' }))
  await client.post(PATH, mandate({ mandateReference: 'MND-FAILED' }))
  await move(client, 'fail', 'MND-FAILED')
  for (const status of Object.keys(WAY)) {
    t.equal((await read(client, `MND-${status}`)).status, status)
    const { totalCount, data } = (await client.get(`${PATH}?status=${status}`)).body
    t.strictSame([totalCount, data[0]?.mandateReference], [1, `MND-${status}`], 'the filter finds it')
  }
})

// ------------------------------------------------------------------------------------------------------------- list

const names = ({ body }: Answer): string[] =>
  body.data.map((row: { mandateReference: string }) => row.mandateReference.slice('MND-'.length))

/** Mandates A to F, oldest first, all created in the same second. */
async function openList(t: Parameters<typeof build>[0]) {
  const client = await connect(build(t))
  const debtor = (reference: string) => ({ ...mandate().debtor, reference })
  await client.post(PATH, mandate({ mandateReference: 'MND-A' }))
  await client.post(PATH, mandate({ mandateReference: 'MND-B', type: 'ONE_OFF' }))
  await client.post(PATH, mandate({ mandateReference: 'MND-C', debtor: debtor('x') }))
  await client.post(PATH, mandate({ mandateReference: 'MND-D', type: 'ONE_OFF', debtor: debtor('x') }))
  await client.post(PATH, mandate({ mandateReference: 'MND-E', debtor: debtor('x,y') }))
  await client.post(PATH, mandate({ mandateReference: 'MND-F' }))
  await client.delete(`${PATH}/MND-C`)
  await client.delete(`${PATH}/MND-F`)
  await move(client, 'expire', 'MND-B')
  return client
}

t.test('decisions §5: mandates are listed newest first, ties by later creation first', async t => {
  const client = await openList(t)
  t.strictSame(names(await client.get(PATH)), ['F', 'E', 'D', 'C', 'B', 'A'])
  await client.advance({ by: 'PT1S' })
  await client.post(PATH, mandate({ mandateReference: 'MND-0' }))
  t.strictSame(names(await client.get(PATH)), ['0', 'F', 'E', 'D', 'C', 'B', 'A'])
})

t.test('decisions §5: mandates are filtered by status, type and debtorReference, all with AND', async t => {
  const client = await openList(t)
  for (const [query, expected] of [
    ['status=ACTIVE', ['E', 'D', 'A']],
    ['status=CANCELLED', ['F', 'C']],
    ['status=EXPIRED', ['B']],
    ['status=PENDING', []],
    ['status=FAILED', []],
    ['status=ACTIVE,EXPIRED', ['E', 'D', 'B', 'A']],
    ['status=ACTIVE&status=EXPIRED', ['E', 'D', 'B', 'A']],
    ['status=ACTIVE,ACTIVE&status=ACTIVE', ['E', 'D', 'A']],
    ['type=RECURRING', ['F', 'E', 'C', 'A']],
    ['type=ONE_OFF', ['D', 'B']],
    ['debtorReference=x', ['D', 'C']],
    ['debtorReference=x,y', ['E']],
    ['debtorReference=z', []],
    ['type=ONE_OFF&status=ACTIVE', ['D']],
    ['type=RECURRING&status=ACTIVE,CANCELLED&debtorReference=x', ['C']],
    ['type=ONE_OFF&status=CANCELLED', []],
  ] as [string, string[]][]) {
    const answer = await client.get(`${PATH}?${query}`)
    t.equal(answer.status, 200, query)
    t.strictSame(names(answer), expected, query)
    t.match(answer.body, { totalCount: expected.length, hasMore: false, nextCursor: null }, query)
    t.notOk(answer.headers['sandbox-hint'])
  }
})

t.test('decisions §2: a query parameter that breaks its rule is INVALID_QUERY_PARAMETER', async t => {
  const client = await openList(t)
  for (const [query, field] of [
    ['limit=0', 'limit'],
    ['limit=501', 'limit'],
    ['limit=ten', 'limit'],
    ['limit=', 'limit'],
    ['status=active', 'status'],
    ['status=SETTLED', 'status'],
    ['status=ACTIVE,', 'status'],
    ['status=', 'status'],
    ['type=recurring', 'type'],
    ['type=RECURRING,ONE_OFF', 'type'],
    ['type=', 'type'],
    ['debtorReference=', 'debtorReference'],
    [`debtorReference=${'x'.repeat(101)}`, 'debtorReference'],
  ] as const) {
    t.strictSame(
      refusal(await client.get(`${PATH}?${query}`)),
      { status: 400, code: 'INVALID_QUERY_PARAMETER', field },
      query,
    )
  }
  t.strictSame(refusal(await client.get(`${PATH}?type=ONE_OFF&type=ONE_OFF`)), {
    status: 400,
    code: 'MALFORMED_REQUEST',
    field: 'type',
  })
})

t.test('decisions §5: mandates are walked by cursor, whatever is created meanwhile', async t => {
  const client = await openList(t)
  const first = await client.get(`${PATH}?limit=2`)
  t.strictSame(names(first), ['F', 'E'])
  t.match(first.body, { totalCount: 6, hasMore: true, nextCursor: String })
  await client.post(PATH, mandate({ mandateReference: 'MND-G' }))
  const second = await client.get(`${PATH}?limit=2&cursor=${first.body.nextCursor}`)
  t.strictSame(names(second), ['D', 'C'])
  t.match(second.body, { totalCount: 7, hasMore: true })
  const third = await client.get(`${PATH}?limit=2&cursor=${second.body.nextCursor}`)
  t.strictSame(names(third), ['B', 'A'])
  t.match(third.body, { totalCount: 7, hasMore: false, nextCursor: null })
  const filtered = await client.get(`${PATH}?type=ONE_OFF&cursor=${first.body.nextCursor}`)
  t.strictSame(names(filtered), ['D', 'B'], 'the cursor works with any filter')
})

t.test('decisions §2: a cursor that was not issued for this list is INVALID_CURSOR', async t => {
  const app = build(t)
  const [client, other] = [await connect(app, 'acme'), await connect(app, 'other')]
  for (const one of [client, other]) {
    for (const mandateReference of ['MND-0001', 'MND-0002']) await one.post(PATH, mandate({ mandateReference }))
    for (const collectionReference of ['COL-0001', 'COL-0002']) {
      await one.post('/api/v1/direct-debit', collection({ collectionReference }))
    }
  }
  const own = (await client.get(`${PATH}?limit=1`)).body.nextCursor
  t.equal((await client.get(`${PATH}?cursor=${own}`)).status, 200)
  for (const [cursor, title] of [
    ['x', 'made up'],
    [`${own}x`, 'extended'],
    [(await client.get('/api/v1/direct-debit?limit=1')).body.nextCursor, 'of another list'],
    [(await other.get(`${PATH}?limit=1`)).body.nextCursor, 'of another tenant'],
  ]) {
    t.strictSame(
      refusal(await client.get(`${PATH}?cursor=${cursor}`)),
      { status: 400, code: 'INVALID_CURSOR', field: 'cursor' },
      title,
    )
  }
})

// ---------------------------------------------------------------------------------------------------------- seeding

t.test('control plane, seed: mandates of any state are added', async t => {
  const client = await connect(build(t))
  const mandates = [
    mandate({ status: 'CANCELLED', createdAt: '2026-01-01T00:00:00Z', updatedAt: '2026-02-01T00:00:00Z' }),
    mandate({ mandateReference: 'MND-0002', createdAt: '2026-03-01T00:00:00Z' }),
    mandate({
      mandateReference: 'MND-0003',
      createdAt: '2026-01-01T00:00:00Z',
      lastPresentedAt: '2026-06-01T00:00:00Z',
    }),
  ]
  t.equal((await client.control('POST', '/seed', { records: { mandates } })).status, 200)
  t.match(await read(client), {
    status: 'CANCELLED',
    createdAt: '2026-01-01T00:00:00Z',
    updatedAt: '2026-02-01T00:00:00Z',
  })
  t.match(await read(client, 'MND-0002'), { status: 'ACTIVE', updatedAt: '2026-03-01T00:00:00Z' })
  t.equal((await explain(client, 'MND-0002')).next.at, '2029-03-01T00:00:00Z')
  t.equal((await explain(client, 'MND-0003')).next.at, '2029-06-01T00:00:00Z')
})

t.test('control plane, seed: what the API refuses is refused, and nothing at all is added', async t => {
  const client = await connect(build(t))
  const good = mandate({ mandateReference: 'MND-0009' })
  for (const [bad, status, code, member] of [
    [good, 409, 'DUPLICATE_REFERENCE', 'mandateReference'],
    [mandate({ type: 'ONE_OFF', frequency: 'WEEKLY' }), 400, 'INVALID_FIELD', 'frequency'],
    [withDebtor({ iban: 'TR330006100519786457841326' }), 400, 'INVALID_FIELD', 'debtor.iban'],
    [mandate({ status: 'LOST' }), 400, 'INVALID_FIELD', 'status'],
  ] as const) {
    const answer = await client.control('POST', '/seed', { records: { mandates: [good, bad] } })
    t.strictSame(refusal(answer), { status, code, field: `records.mandates.1.${member}` }, `${code} ${member}`)
    t.equal((await client.get(PATH)).body.totalCount, 0, 'nothing was added')
  }
})
