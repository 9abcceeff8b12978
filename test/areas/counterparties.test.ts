import t, { type Test } from 'tap'
import type { Answer, Client } from '../helper.js'
import { build, connect } from '../helper.js'

const CPTY = '/api/v1/counterparties/CPTY-0001'
const REGIONS = ['EU', 'IN', 'US', 'UK'] as const

type Refusal = [number, string, string | null]

function refused(t: Test, { status, body }: Answer, expected: Refusal, what = expected[1]) {
  t.same([status, body?.code, body?.field], expected, what)
  t.same(Object.keys(body ?? {}).sort(), ['code', 'field', 'message'], `${what}: members`)
}

const invalid = (field: string | null): Refusal => [400, 'INVALID_FIELD', field]
const missing = (field: string | null): Refusal => [400, 'MISSING_FIELD', field]
const unknown: Refusal = [404, 'COUNTERPARTY_NOT_FOUND', 'counterpartyReference']
const immutable: Refusal = [400, 'IMMUTABLE_FIELD', 'counterpartyReference']

/** The branch identifier of each region: decisions §10. */
const BRANCHES = {
  EU: { type: 'BIC', value: 'DEUTDEFF' },
  UK: { type: 'SORT', value: '123456' },
  US: { type: 'ROUTING', value: '021000021' },
  IN: { type: 'IFSC', value: 'HDFC0000123' },
} as const

const address = (changes: object = {}) => ({ line1: 'Main Street 1', city: 'Berlin', country: 'DE', ...changes })

const seed = (client: Client, ...counterparties: object[]) =>
  client.control('POST', '/seed', { records: { counterparties } })

/** A client with the counterparty CPTY-0001 in region EU. */
async function connectWithCounterparty(t: Test, changes: object = {}): Promise<Client> {
  const client = await connect(build(t))
  await seed(client, { region: 'EU', counterpartyReference: 'CPTY-0001', ...changes })
  return client
}

// ------------------------------------------------------------------------------------------------------- updates

t.test('decisions §10: an update is answered with 200 and the whole record', async t => {
  const client = await connectWithCounterparty(t, { branchIdentifier: BRANCHES.EU })
  const update = {
    accountHolderName: 'Jane Doe',
    emailAddress: 'jane@example.com',
    mobileNumber: '+4915112345678',
    remarks: 'prefers e-mail',
    address: address({ line2: '2nd floor', postalCode: '10115', state: 'Berlin' }),
  }
  const { status, body } = await client.patch(CPTY, update)
  t.equal(status, 200)
  t.same(body, { counterpartyReference: 'CPTY-0001', ...update, branchIdentifier: BRANCHES.EU })
})

t.test('decisions §10: each member can be updated alone, and the others stay', async t => {
  const client = await connectWithCounterparty(t)
  const expected: Record<string, unknown> = { counterpartyReference: 'CPTY-0001' }
  for (const [field, value] of Object.entries({
    accountHolderName: 'Jane Doe',
    emailAddress: 'jane@example.com',
    mobileNumber: '+4915112345678',
    remarks: 'x',
    address: address(),
  })) {
    expected[field] = value
    const { status, body } = await client.patch(CPTY, { [field]: value })
    t.same([status, body], [200, expected], field)
  }
  const again = await client.patch(CPTY, { accountHolderName: 'Jane Roe' })
  t.same(again.body, { ...expected, accountHolderName: 'Jane Roe' }, 'and be changed again')
})

t.test('decisions §10: an update needs at least one member', async t => {
  const client = await connectWithCounterparty(t)
  for (const update of [undefined, {}, { colour: 'red' }, { counterpartyReference: 'CPTY-0001' }]) {
    refused(t, await client.patch(CPTY, update), missing(null), JSON.stringify(update))
  }
  refused(t, await client.patch(CPTY, [{ remarks: 'x' }]), invalid(null), 'an array')
})

t.test('interface, Other endpoints: counterpartyReference cannot change', async t => {
  const client = await connectWithCounterparty(t)
  for (const counterpartyReference of ['CPTY-0002', 'cpty-0001', 'CPTY-00011']) {
    const answer = await client.patch(CPTY, { counterpartyReference, remarks: 'x' })
    refused(t, answer, immutable, counterpartyReference)
  }
  const same = await client.patch(CPTY, { counterpartyReference: 'CPTY-0001', remarks: 'y' })
  t.same([same.status, same.body], [200, { counterpartyReference: 'CPTY-0001', remarks: 'y' }], 'the same may stand')
})

t.test('decisions §2: changing nothing but the reference is IMMUTABLE_FIELD, too', async t => {
  const client = await connectWithCounterparty(t)
  refused(t, await client.patch(CPTY, { counterpartyReference: 'CPTY-0002' }), immutable)
})

t.test('decisions §1: IMMUTABLE_FIELD, being about the body, comes before the record is looked for', async t => {
  const client = await connect(build(t))
  refused(t, await client.patch(CPTY, { counterpartyReference: 'CPTY-0002', remarks: 'x' }), immutable)
})

t.test('decisions §10: branchIdentifier is read-only: ignored, with a hint', async t => {
  const client = await connectWithCounterparty(t, { branchIdentifier: BRANCHES.EU })
  const answer = await client.patch(CPTY, { remarks: 'x', branchIdentifier: { type: 'BIC', value: 'COBADEFF' } })
  t.equal(answer.status, 200)
  t.same(answer.body.branchIdentifier, BRANCHES.EU)
  t.match(answer.headers['sandbox-hint'], /branchIdentifier/)
  refused(t, await client.patch(CPTY, { branchIdentifier: BRANCHES.EU }), missing(null), 'alone it is no update')
})

t.test('decisions §1: members that the interface does not name are ignored with a hint, and not stored', async t => {
  const client = await connectWithCounterparty(t)
  const answer = await client.patch(CPTY, { remarks: 'x', colour: 'red', address: address({ planet: 'Earth' }) })
  t.equal(answer.status, 200)
  t.match(answer.headers['sandbox-hint'], /colour/)
  t.match(answer.headers['sandbox-hint'], /address\.planet/)
  t.same(answer.body, { counterpartyReference: 'CPTY-0001', remarks: 'x', address: address() })
})

// -------------------------------------------------------------------------------------------------------- fields

t.test('decisions §10: names have 1 to 140, remarks 1 to 256 characters', async t => {
  const client = await connectWithCounterparty(t)
  for (const [field, most] of [
    ['accountHolderName', 140],
    ['remarks', 256],
  ] as const) {
    for (const value of ['x', 'x'.repeat(most), '💶'.repeat(most), 'é', 'O’Neil & Söhne']) {
      const { status, body } = await client.patch(CPTY, { [field]: value })
      t.same([status, body[field]], [200, value], `${field} of ${[...value].length}`)
    }
    for (const value of ['', 'x'.repeat(most + 1), '💶'.repeat(most + 1), null, 7, ['x'], {}]) {
      const what = `${field} ${JSON.stringify(value).slice(0, 10)}`
      refused(t, await client.patch(CPTY, { [field]: value }), invalid(field), what)
    }
  }
})

t.test('decisions §10: a mobile number is in E.164 form', async t => {
  const client = await connectWithCounterparty(t)
  for (const mobileNumber of ['+4915112345678', '+12025550123', '+123456789012345']) {
    const { status, body } = await client.patch(CPTY, { mobileNumber })
    t.same([status, body.mobileNumber], [200, mobileNumber])
  }
  for (const mobileNumber of [
    '',
    '+',
    '4915112345678',
    '004915112345678',
    '+0915112345678',
    '+1234567890123456',
    '+49 151 12345678',
    '+49-151-12345678',
    '+49(151)12345678',
    '++4915112345678',
    '+4915112345678\n',
    '+４９15112345678',
    4915112345678,
    null,
  ]) {
    const answer = await client.patch(CPTY, { mobileNumber })
    refused(t, answer, invalid('mobileNumber'), JSON.stringify(mobileNumber))
  }
})

t.test('decisions §10: an e-mail address looks like one', async t => {
  const client = await connectWithCounterparty(t)
  for (const emailAddress of ['a@b.de', 'jane.doe+invoices@mail.example.co.uk', "o'neil@example.com"]) {
    const { status, body } = await client.patch(CPTY, { emailAddress })
    t.same([status, body.emailAddress], [200, emailAddress])
  }
  for (const emailAddress of ['', 'jane', 'jane@', '@example.com', 'jane doe@example.com', 'a@b@c.de', null, 7]) {
    const answer = await client.patch(CPTY, { emailAddress })
    refused(t, answer, invalid('emailAddress'), JSON.stringify(emailAddress))
  }
})

t.test('decisions §10: an address needs line1, city and country', async t => {
  const client = await connectWithCounterparty(t)
  for (const part of ['line1', 'city', 'country']) {
    const field = `address.${part}`
    refused(t, await client.patch(CPTY, { address: address({ [part]: undefined }) }), missing(field), `no ${part}`)
    refused(t, await client.patch(CPTY, { address: address({ [part]: '' }) }), missing(field), `empty ${part}`)
    for (const wrong of [null, 7, {}]) {
      const answer = await client.patch(CPTY, { address: address({ [part]: wrong }) })
      refused(t, answer, invalid(field), `${part} ${JSON.stringify(wrong)}`)
    }
  }
  for (const part of ['line2', 'postalCode', 'state']) {
    const right = await client.patch(CPTY, { address: address({ [part]: 'x' }) })
    t.same([right.status, right.body.address], [200, address({ [part]: 'x' })], part)
    for (const wrong of ['', null, 7, {}]) {
      const answer = await client.patch(CPTY, { address: address({ [part]: wrong }) })
      refused(t, answer, invalid(`address.${part}`), `${part} ${JSON.stringify(wrong)}`)
    }
  }
  refused(t, await client.patch(CPTY, { address: {} }), missing('address.line1'), 'nothing in it')
  for (const wrong of [null, 'Main Street 1', 7, []]) {
    refused(t, await client.patch(CPTY, { address: wrong }), invalid('address'), JSON.stringify(wrong))
  }
})

t.test('decisions §10: a country is a code of ISO 3166-1 alpha-2', async t => {
  const client = await connectWithCounterparty(t)
  for (const country of ['DE', 'GB', 'US', 'IN', 'AX', 'ZW']) {
    const { status, body } = await client.patch(CPTY, { address: address({ country }) })
    t.same([status, body.address.country], [200, country])
  }
  for (const country of ['UK', 'EU', 'XX', 'ZZ', 'de', 'De', 'DEU', 'D', '49', 'Germany', 'DE ']) {
    const answer = await client.patch(CPTY, { address: address({ country }) })
    refused(t, answer, invalid('address.country'), country)
  }
})

t.test('decisions §1: a refused update changes nothing', async t => {
  const client = await connectWithCounterparty(t)
  await client.patch(CPTY, { accountHolderName: 'Jane Doe', mobileNumber: 'x' })
  const { body } = await client.patch(CPTY, { remarks: 'x' })
  t.same(body, { counterpartyReference: 'CPTY-0001', remarks: 'x' })
})

// ---------------------------------------------------------------------------------------------------------- path

t.test('interface, counterpartyReference: the path takes 5 to 50 letters, digits and hyphens', async t => {
  const client = await connect(build(t))
  const right = ['abc-5', '-----', 'x'.repeat(50)]
  await seed(client, ...right.map(counterpartyReference => ({ region: 'EU', counterpartyReference })))
  const patch = (reference: string) => client.patch(`/api/v1/counterparties/${reference}`, { remarks: 'x' })
  for (const reference of right) t.equal((await patch(reference)).status, 200, reference)
  for (const reference of ['abcd', 'x'.repeat(51), 'x'.repeat(5000), 'abc_5', 'abc.5', 'abc%205', '%C3%A4bcde']) {
    refused(t, await patch(reference), invalid('counterpartyReference'), reference.slice(0, 20))
  }
  for (const reference of ['CPTY/0001', 'CPTY%2F0001', 'CPTY%2f0001']) {
    refused(t, await patch(reference), [404, 'ROUTE_NOT_FOUND', null], reference)
  }
})

t.test('decisions §1: an unknown counterparty is 404, after path and body have been looked at', async t => {
  const client = await connectWithCounterparty(t)
  const other = '/api/v1/counterparties/CPTY-0002'
  refused(t, await client.patch(other, { remarks: 'x' }), unknown)
  refused(t, await client.patch(CPTY.toLowerCase(), { remarks: 'x' }), unknown, 'case counts')
  refused(t, await client.patch(other, { remarks: '' }), invalid('remarks'), 'body before record')
  refused(
    t,
    await client.patch('/api/v1/counterparties/x', { remarks: '' }),
    invalid('counterpartyReference'),
    'path before body',
  )
})

t.test('interface, Other endpoints: counterparties are updated, nothing else', async t => {
  const client = await connectWithCounterparty(t)
  for (const method of ['GET', 'POST', 'PUT', 'DELETE']) {
    const answer = await client.send(method, CPTY)
    refused(t, answer, [405, 'METHOD_NOT_ALLOWED', null], method)
    t.match(answer.headers.allow, /PATCH/)
  }
  refused(t, await client.get('/api/v1/counterparties'), [404, 'ROUTE_NOT_FOUND', null], 'no list')
})

t.test('decisions §1: an update of another media type is 415 with Accept-Patch', async t => {
  const client = await connectWithCounterparty(t)
  const answer = await client.patch(CPTY, 'remarks=x', { headers: { 'content-type': 'text/plain' } })
  refused(t, answer, [415, 'UNSUPPORTED_MEDIA_TYPE', 'content-type'])
  t.match(answer.headers['accept-patch'], /application\/json/)
})

// ------------------------------------------------------------------------------------------------------- regions

t.test('decisions §4: a counterparty belongs to its region, and the same reference may exist in another', async t => {
  const client = await connect(build(t))
  const patch = (region: string, remarks: string) => client.patch(CPTY, { remarks }, { region })
  for (const region of REGIONS) {
    refused(t, await patch(region, 'x'), unknown, `${region}: not yet`)
    await seed(client, { region, counterpartyReference: 'CPTY-0001', accountHolderName: region })
    const { status, body } = await patch(region, 'x')
    t.same([status, body.accountHolderName], [200, region], region)
  }
  for (const region of ['GB', 'eu', 'FR']) {
    refused(t, await patch(region, 'x'), [400, 'INVALID_REGION', 'x-region'], region)
  }
  t.match((await patch('GB', 'x')).body.message, /UK/, 'decisions §2: GB is told that UK replaced it')
  refused(t, await client.patch(CPTY, { remarks: 'x' }, { region: null }), missing('x-region'), 'no region')
})

// ------------------------------------------------------------------------------------------------------- seeding

t.test('interface, Counterparty: each region has its own type of branchIdentifier', async t => {
  const client = await connect(build(t))
  const field = 'records.counterparties.0.branchIdentifier'
  for (const region of REGIONS) {
    for (const branchIdentifier of Object.values(BRANCHES)) {
      const counterpartyReference = `CPTY-${region}-${branchIdentifier.type}`
      const answer = await seed(client, { region, counterpartyReference, branchIdentifier })
      const what = `${region} ${branchIdentifier.type}`
      if (BRANCHES[region].type !== branchIdentifier.type) refused(t, answer, invalid(`${field}.type`), what)
      else {
        t.equal(answer.status, 200, what)
        const url = `/api/v1/counterparties/${counterpartyReference}`
        const { body } = await client.patch(url, { remarks: 'x' }, { region })
        t.same(body.branchIdentifier, branchIdentifier)
      }
    }
  }
})

t.test('decisions §10: a branchIdentifier is valid by the rules of its type', async t => {
  const client = await connect(build(t))
  for (const [region, type, wrong] of [
    ['EU', 'BIC', ['DEUTDEF', 'DEUTDEFFX', 'deutdeff', 'DEUTXXFF', 'DEUT DEFF']],
    ['UK', 'SORT', ['12345', '1234567', '12-34-56', '12345x']],
    ['US', 'ROUTING', ['021000022', '000000000', '02100002', '02100002x']],
    ['IN', 'IFSC', ['HDFC1000123', 'HDFC000012', 'hdfc0000123', 'HDF00000123']],
  ] as const) {
    for (const value of wrong) {
      const branchIdentifier = { type, value }
      const answer = await seed(client, { region, counterpartyReference: 'CPTY-0001', branchIdentifier })
      refused(t, answer, invalid('records.counterparties.0.branchIdentifier.value'), `${type} ${value}`)
    }
  }
  const long = { type: 'BIC', value: 'DEUTDEFF500' }
  const answer = await seed(client, { region: 'EU', counterpartyReference: 'CPTY-0001', branchIdentifier: long })
  t.equal(answer.status, 200, 'a BIC of 11 characters')
})

t.test('control plane, seed: counterparties are validated as the API does, all or nothing', async t => {
  const client = await connectWithCounterparty(t)
  const good = { region: 'EU', counterpartyReference: 'CPTY-GOOD' }
  const at = 'records.counterparties.1'
  const cases: [object, Refusal][] = [
    [{ counterpartyReference: 'CPTY-0001' }, [409, 'DUPLICATE_REFERENCE', `${at}.counterpartyReference`]],
    [{ counterpartyReference: 'CPTY-GOOD' }, [409, 'DUPLICATE_REFERENCE', `${at}.counterpartyReference`]],
    [{ counterpartyReference: 'x' }, invalid(`${at}.counterpartyReference`)],
    [{ counterpartyReference: 'CPTY-0002', mobileNumber: '1' }, invalid(`${at}.mobileNumber`)],
    [{ counterpartyReference: 'CPTY-0002', address: address({ country: 'UK' }) }, invalid(`${at}.address.country`)],
    [{ counterpartyReference: 'CPTY-0002', address: { line1: 'x', country: 'DE' } }, missing(`${at}.address.city`)],
    [{}, missing(`${at}.counterpartyReference`)],
  ]
  for (const [wrong, expected] of cases) {
    refused(t, await seed(client, good, { region: 'EU', ...wrong }), expected, JSON.stringify(wrong))
    const answer = await client.patch('/api/v1/counterparties/CPTY-GOOD', { remarks: 'x' })
    refused(t, answer, unknown, 'and the good one is not stored')
  }
})
