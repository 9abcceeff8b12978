import t, { type Test } from 'tap'
import type { Answer, Client } from '../helper.js'
import { build, connect } from '../helper.js'

const ACCOUNTS = '/api/v1/accounts'
const REGIONS = ['EU', 'IN', 'US', 'UK'] as const
const CURRENCY_OF = { EU: 'EUR', IN: 'INR', US: 'USD', UK: 'GBP' } as const

type Refusal = [number, string, string | null]

function refused(t: Test, { status, body }: Answer, expected: Refusal, what = expected[1]) {
  t.same([status, body?.code, body?.field], expected, what)
  t.same(Object.keys(body ?? {}).sort(), ['code', 'field', 'message'], `${what}: members`)
}

const invalid = (field: string | null): Refusal => [400, 'INVALID_FIELD', field]
const missing = (field: string | null): Refusal => [400, 'MISSING_FIELD', field]
const invalidQuery = (field: string): Refusal => [400, 'INVALID_QUERY_PARAMETER', field]

const account = (changes: object = {}) => ({
  accountReference: 'ACC-0001',
  accountHolderName: 'Acme GmbH',
  currency: 'EUR',
  accountIdentifier: 'DE89370400440532013000',
  branchIdentifier: { type: 'BIC', value: 'COBADEFFXXX' },
  balance: '1234.56',
  ...changes,
})

/** One account of each region, with the branch identifier that belongs to it. */
const ACCOUNTS_BY_REGION = {
  EU: account(),
  UK: account({
    currency: 'GBP',
    accountIdentifier: '12345678',
    branchIdentifier: { type: 'SORT', value: '123456' },
    balance: '-5.00',
  }),
  US: account({
    currency: 'USD',
    accountIdentifier: '123456789',
    branchIdentifier: { type: 'ROUTING', value: '021000021' },
    balance: '0',
  }),
  IN: account({
    currency: 'INR',
    accountIdentifier: '50100012345678',
    branchIdentifier: { type: 'IFSC', value: 'HDFC0000123' },
  }),
} as const

const seed = (client: Client, ...accounts: object[]) => client.control('POST', '/seed', { records: { accounts } })
const references = ({ body }: Answer): string[] =>
  body.data.map((record: { accountReference: string }) => record.accountReference)

t.test('decisions §10: a tenant without accounts has an empty list', async t => {
  const { status, body } = await (await connect(build(t))).get(ACCOUNTS)
  t.same([status, body], [200, { totalCount: 0, hasMore: false, nextCursor: null, data: [] }])
})

t.test('decisions §4, §10: each region lists its own accounts, with all their fields', async t => {
  const client = await connect(build(t))
  const answer = await seed(client, ...Object.values(ACCOUNTS_BY_REGION))
  t.same([answer.status, answer.body.added?.accounts], [200, 4], 'the same reference may exist in several regions')
  for (const region of REGIONS) {
    const { status, body } = await client.get(ACCOUNTS, { region })
    t.same(
      [status, body],
      [200, { totalCount: 1, hasMore: false, nextCursor: null, data: [ACCOUNTS_BY_REGION[region]] }],
      region,
    )
  }
})

t.test('decisions §2, §4: accounts are served in EU, IN, US and UK; GB is told that UK replaced it', async t => {
  const client = await connect(build(t))
  for (const region of ['GB', 'eu', 'FR', 'EU,US']) {
    const answer = await client.get(ACCOUNTS, { region })
    refused(t, answer, [400, 'INVALID_REGION', 'x-region'], region)
    if (region === 'GB') t.match(answer.body.message, /UK/)
  }
  refused(t, await client.get(ACCOUNTS, { region: null }), missing('x-region'))
})

t.test('decisions §5: accounts are listed newest first, page by page', async t => {
  const client = await connect(build(t))
  await seed(client, account({ accountReference: 'ACC-0001' }), account({ accountReference: 'ACC-0002' }))
  await client.advance({ by: 'PT1S' })
  await seed(client, account({ accountReference: 'ACC-0003' }))
  t.same(references(await client.get(ACCOUNTS)), ['ACC-0003', 'ACC-0002', 'ACC-0001'])

  const first = await client.get(`${ACCOUNTS}?limit=2`)
  t.same(references(first), ['ACC-0003', 'ACC-0002'])
  t.same([first.body.totalCount, first.body.hasMore], [3, true])
  await seed(client, account({ accountReference: 'ACC-0004' }))
  const second = await client.get(`${ACCOUNTS}?limit=2&cursor=${encodeURIComponent(first.body.nextCursor)}`)
  t.same(references(second), ['ACC-0001'])
  t.same([second.body.totalCount, second.body.hasMore, second.body.nextCursor], [4, false, null])
})

t.test('decisions §5: accounts are filtered by currency', async t => {
  const client = await connect(build(t))
  await seed(client, ...Object.values(ACCOUNTS_BY_REGION))
  for (const region of REGIONS) {
    for (const currency of Object.values(CURRENCY_OF)) {
      const { status, body } = await client.get(`${ACCOUNTS}?currency=${currency}`, { region })
      const expected = CURRENCY_OF[region] === currency ? [ACCOUNTS_BY_REGION[region]] : []
      t.same([status, body.data, body.totalCount], [200, expected, expected.length], `${currency} in ${region}`)
    }
  }
})

t.test('interface, Errors 3: a wrong query parameter is INVALID_QUERY_PARAMETER', async t => {
  const client = await connect(build(t))
  for (const currency of ['', 'eur', 'CHF', 'EURO', 'EUR,USD']) {
    refused(t, await client.get(`${ACCOUNTS}?currency=${currency}`), invalidQuery('currency'), `currency ${currency}`)
  }
  for (const limit of ['0', '501', '-1', '1.5', 'x', '', '1e2', '99999999999999999999']) {
    refused(t, await client.get(`${ACCOUNTS}?limit=${limit}`), invalidQuery('limit'), `limit ${limit}`)
  }
  refused(t, await client.get(`${ACCOUNTS}?cursor=`), invalidQuery('cursor'), 'an empty cursor')
  for (const limit of ['1', '500', '100']) t.equal((await client.get(`${ACCOUNTS}?limit=${limit}`)).status, 200, limit)
})

t.test('decisions §1: a scalar query parameter given twice is MALFORMED_REQUEST', async t => {
  const client = await connect(build(t))
  for (const [field, value] of Object.entries({ currency: 'EUR', limit: '1', cursor: 'x' })) {
    const answer = await client.get(`${ACCOUNTS}?${field}=${value}&${field}=${value}`)
    refused(t, answer, [400, 'MALFORMED_REQUEST', field], field)
  }
})

t.test('decisions §1: the message of a wrong query parameter says what was wrong and what would be right', async t => {
  const { body } = await (await connect(build(t))).get(`${ACCOUNTS}?currency=CHF`)
  t.match(body.message, /CHF/)
  for (const currency of Object.values(CURRENCY_OF)) t.match(body.message, new RegExp(currency))
})

t.test('decisions §2: a cursor that this server did not issue is INVALID_CURSOR', async t => {
  const client = await connect(build(t))
  await seed(client, account(), account({ accountReference: 'ACC-0002' }))
  const { nextCursor } = (await client.get(`${ACCOUNTS}?limit=1`)).body
  t.type(nextCursor, 'string')
  for (const cursor of ['x', `${nextCursor}x`, nextCursor.slice(1), nextCursor.toUpperCase()]) {
    const answer = await client.get(`${ACCOUNTS}?cursor=${encodeURIComponent(cursor)}`)
    refused(t, answer, [400, 'INVALID_CURSOR', 'cursor'], cursor)
  }
})

t.test('decisions §1: unknown query parameters are ignored, with a hint', async t => {
  const client = await connect(build(t))
  await seed(client, account())
  const answer = await client.get(`${ACCOUNTS}?Currency=USD&status=OPEN`)
  t.same([answer.status, answer.body.totalCount], [200, 1])
  t.match(answer.headers['sandbox-hint'], /Currency.*status/)
})

t.test('decisions §1, §10: accounts are listed, nothing else', async t => {
  const client = await connect(build(t))
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
    const answer = await client.send(method, ACCOUNTS)
    refused(t, answer, [405, 'METHOD_NOT_ALLOWED', null], method)
    t.match(answer.headers.allow, /GET/)
  }
  refused(t, await client.get(`${ACCOUNTS}/ACC-0001`), [404, 'ROUTE_NOT_FOUND', null], 'one account')
})

t.test('decisions §3: accounts of one tenant are not those of another', async t => {
  const app = build(t)
  await seed(await connect(app, 'acme'), account())
  t.equal((await (await connect(app, 'beta')).get(ACCOUNTS)).body.totalCount, 0)
})

// ------------------------------------------------------------------------------------------------------- seeding

t.test('control plane, seed: an account needs all but its branchIdentifier', async t => {
  const client = await connect(build(t))
  for (const field of ['accountReference', 'accountHolderName', 'currency', 'accountIdentifier', 'balance']) {
    const path = `records.accounts.0.${field}`
    refused(t, await seed(client, account({ [field]: undefined })), missing(path), `${field} missing`)
    refused(t, await seed(client, account({ [field]: '' })), missing(path), `${field} empty`)
    refused(t, await seed(client, account({ [field]: 7 })), invalid(path), `${field} a number`)
  }
  t.equal((await seed(client, account({ branchIdentifier: undefined }))).status, 200)
  t.notOk('branchIdentifier' in (await client.get(ACCOUNTS)).body.data[0])
})

t.test('control plane, seed: the fields of an account have their limits', async t => {
  const client = await connect(build(t))
  let count = 0
  for (const [field, right, wrong] of [
    ['accountReference', ['abc-5', 'x'.repeat(50)], ['abcd', 'x'.repeat(51), 'abc_5']],
    ['accountHolderName', ['x', 'x'.repeat(140), '💶'.repeat(140)], ['x'.repeat(141), '💶'.repeat(141)]],
    ['currency', ['EUR'], ['eur', 'CHF']],
    ['accountIdentifier', ['FR1420041010050500013M02606'], ['DE89370400440532013001', 'de89370400440532013000', '12']],
    ['balance', ['0', '0.00', '-1.5', '999999999.99', '-999999999.99'], ['1.234', '01', '1,00', 'x', '+1', '1e3']],
  ] as const) {
    for (const value of right) {
      const accountReference = `ACC-${String(++count).padStart(4, '0')}`
      const answer = await seed(client, account({ accountReference, [field]: value }))
      t.equal(answer.status, 200, `${field} ${value.slice(0, 30)}`)
      t.equal((await client.get(`${ACCOUNTS}?limit=1`)).body.data[0][field], value)
    }
    for (const value of wrong) {
      const answer = await seed(client, account({ accountReference: 'ACC-WRONG', [field]: value }))
      refused(t, answer, invalid(`records.accounts.0.${field}`), `${field} ${value.slice(0, 30)}`)
    }
  }
})

t.test('decisions §10: each currency has its own type of branchIdentifier, valid by its rules', async t => {
  const client = await connect(build(t))
  const path = 'records.accounts.0.branchIdentifier'
  for (const region of REGIONS) {
    for (const other of REGIONS.filter(name => name !== region)) {
      const { branchIdentifier } = ACCOUNTS_BY_REGION[other]
      const answer = await seed(client, { ...ACCOUNTS_BY_REGION[region], branchIdentifier })
      refused(t, answer, invalid(`${path}.type`), `${branchIdentifier.type} in ${region}`)
    }
    const { type } = ACCOUNTS_BY_REGION[region].branchIdentifier
    const answer = await seed(client, { ...ACCOUNTS_BY_REGION[region], branchIdentifier: { type, value: '1' } })
    refused(t, answer, invalid(`${path}.value`), `a wrong ${type}`)
  }
})

t.test('control plane, seed: accounts are added all or not at all', async t => {
  const client = await connect(build(t))
  await seed(client, account())
  const good = account({ accountReference: 'ACC-GOOD' })
  for (const [wrong, expected] of [
    [account(), [409, 'DUPLICATE_REFERENCE', 'records.accounts.1.accountReference']],
    [good, [409, 'DUPLICATE_REFERENCE', 'records.accounts.1.accountReference']],
    [account({ accountIdentifier: 'x' }), invalid('records.accounts.1.accountIdentifier')],
  ] as [object, Refusal][]) {
    refused(t, await seed(client, good, wrong), expected, JSON.stringify(expected))
  }
  t.same(references(await client.get(ACCOUNTS)), ['ACC-0001'])
})
