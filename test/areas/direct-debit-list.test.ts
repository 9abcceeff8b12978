import t from 'tap'
import type { Answer, Client } from '../helper.js'
import { build, collection, connect, MONDAY, mandate } from '../helper.js'

const PATH = '/api/v1/direct-debit'

/** A client with the mandate MND-0001. */
async function open(t: Parameters<typeof build>[0], clock = MONDAY) {
  const client = await connect(build(t, { clock }))
  await client.post('/api/v1/mandates', mandate())
  return client
}

/** Creates collections, named COL-<name>, oldest first. */
async function create(client: Client, names: readonly (string | number)[], changes: object = {}) {
  for (const name of names) {
    const created = await client.post(PATH, collection({ collectionReference: `COL-${name}`, ...changes }))
    if (created.status !== 201) throw new Error(`COL-${name}: ${created.body.message}`)
  }
}

/** Creates one collection for each value of a field, named COL-10, COL-11 and so on. */
async function createEach(client: Client, field: string, values: readonly string[]) {
  for (const [index, value] of values.entries()) await create(client, [10 + index], { [field]: value })
}

const list = (client: Client, parameters: Record<string, string> | string = {}) =>
  client.get(`${PATH}?${new URLSearchParams(parameters)}`)

const names = ({ body }: Answer): string[] =>
  body.data.map((row: { collectionReference: string }) => row.collectionReference.slice('COL-'.length))

const refusal = ({ status, body }: Answer) => ({ status, code: body.code, field: body.field })
const invalid = (field: string) => ({ status: 400, code: 'INVALID_QUERY_PARAMETER', field })
const invalidCursor = { status: 400, code: 'INVALID_CURSOR', field: 'cursor' }

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

// ----------------------------------------------------------------------------------------------- envelope and order

t.test('interface, list envelope: an empty list', async t => {
  const client = await connect(build(t))
  const answer = await client.get(PATH)
  t.equal(answer.status, 200)
  t.match(answer.headers['content-type'], /^application\/json/)
  t.strictSame(answer.body, { totalCount: 0, hasMore: false, nextCursor: null, data: [] })
})

t.test('interface, summary: an element has exactly the documented members', async t => {
  const client = await open(t)
  await create(client, ['0001'], { debtorReference: 'customer 17' })
  await create(client, ['0002'])
  const documented = [
    'amount',
    'collectionDate',
    'collectionReference',
    'currency',
    'debtorName',
    'initiatedAt',
    'mandateReference',
    'scheme',
    'status',
    'updatedAt',
  ]
  const [second, first] = (await client.get(PATH)).body.data
  t.strictSame(Object.keys(first).sort(), [...documented, 'debtorReference'].sort())
  t.strictSame(Object.keys(second).sort(), documented, 'debtorReference alone is optional')
  t.match(first.initiatedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  t.match(first.updatedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
})

t.test('interface, GET /direct-debit: newest first by initiatedAt, whatever has been updated since', async t => {
  const client = await open(t)
  for (const name of ['A', 'B', 'C']) {
    await create(client, [`000${name}`])
    await client.advance({ by: 'PT1S' })
  }
  t.strictSame(names(await client.get(PATH)), ['000C', '000B', '000A'])
  await client.control('POST', '/direct-debit/COL-000A/submit')
  t.strictSame(names(await client.get(PATH)), ['000C', '000B', '000A'])
})

t.test('decisions §5: ties go by later creation first', async t => {
  const client = await open(t)
  await create(client, ['ZZZZ', 'AAAA', 'MMMM'])
  t.strictSame(names(await client.get(PATH)), ['MMMM', 'AAAA', 'ZZZZ'])
})

// ------------------------------------------------------------------------------------------------- limit and cursor

t.test('interface, limit: 1 to 500', async t => {
  const client = await open(t)
  await create(client, ['A', 'B', 'C'])
  t.strictSame(names(await list(client, { limit: '1' })), ['C'])
  t.strictSame(names(await list(client, { limit: '2' })), ['C', 'B'])
  t.strictSame(names(await list(client, { limit: '500' })), ['C', 'B', 'A'])
  for (const limit of ['0', '501', '-1', '1.5', '1.0', 'ten', '1,2', ' 1', '1 ', '0x10', 'NaN', '9'.repeat(30)]) {
    t.strictSame(refusal(await list(client, { limit })), invalid('limit'), limit)
  }
})

t.test('interface, limit: 100 by default, and 500 are really given', async t => {
  const client = await open(t)
  const collections = range(1000, 1500).map(name => collection({ collectionReference: `COL-${name}` }))
  t.equal((await client.control('POST', '/seed', { records: { collections } })).status, 200)
  const newest = range(1001, 1500).reverse().map(String)

  const byDefault = await client.get(PATH)
  t.strictSame(names(byDefault), newest.slice(0, 100))
  t.match(byDefault.body, { totalCount: 501, hasMore: true, nextCursor: String })

  const most = await list(client, { limit: '500' })
  t.strictSame(names(most), newest)
  t.match(most.body, { totalCount: 501, hasMore: true })
  const rest = await list(client, { limit: '500', cursor: most.body.nextCursor })
  t.strictSame(names(rest), ['1000'])
  t.match(rest.body, { totalCount: 501, hasMore: false, nextCursor: null })
})

t.test('decisions §5: a walk by cursor visits every record once; nextCursor is null on the last page', async t => {
  const client = await open(t)
  await create(client, ['A', 'B', 'C', 'D', 'E'])
  for (const [limit, pages] of [
    ['1', [['E'], ['D'], ['C'], ['B'], ['A']]],
    ['2', [['E', 'D'], ['C', 'B'], ['A']]],
    [
      '3',
      [
        ['E', 'D', 'C'],
        ['B', 'A'],
      ],
    ],
    ['4', [['E', 'D', 'C', 'B'], ['A']]],
    ['5', [['E', 'D', 'C', 'B', 'A']]],
  ] as [string, string[][]][]) {
    let parameters: Record<string, string> = { limit }
    for (const [index, page] of pages.entries()) {
      const answer = await list(client, parameters)
      const isLast = index === pages.length - 1
      t.strictSame(names(answer), page, `limit ${limit}, page ${index + 1}`)
      t.equal(answer.body.totalCount, 5, 'totalCount counts all matches, whatever the cursor')
      t.equal(answer.body.hasMore, !isLast)
      t.ok('nextCursor' in answer.body)
      if (isLast) t.equal(answer.body.nextCursor, null)
      else t.type(answer.body.nextCursor, 'string')
      parameters = { limit, cursor: answer.body.nextCursor }
    }
  }
})

t.test('decisions §5: records created meanwhile neither repeat nor shift what follows', async t => {
  const client = await open(t)
  await create(client, ['A', 'B', 'C', 'D'])
  const first = await list(client, { limit: '2' })
  t.strictSame(names(first), ['D', 'C'])
  await create(client, ['E', 'F', 'G'])
  const second = await list(client, { limit: '2', cursor: first.body.nextCursor })
  t.strictSame(names(second), ['B', 'A'], 'created in the same second')
  t.match(second.body, { totalCount: 7, hasMore: false, nextCursor: null })
  await client.advance({ by: 'P1D' })
  await create(client, ['H'])
  t.strictSame(names(await list(client, { limit: '2', cursor: first.body.nextCursor })), ['B', 'A'], 'and later')
})

t.test('decisions §5: a record that leaves the filter shifts nothing either', async t => {
  const client = await open(t)
  await create(client, ['A', 'B', 'C', 'D'])
  const first = await list(client, { limit: '2', status: 'PENDING' })
  await client.control('POST', '/direct-debit/COL-D/cancel')
  await client.control('POST', '/direct-debit/COL-C/submit')
  const second = await list(client, { limit: '2', status: 'PENDING', cursor: first.body.nextCursor })
  t.strictSame(names(second), ['B', 'A'])
})

t.test('decisions §5: a cursor is a position, so it works with any filter and any limit', async t => {
  const client = await open(t)
  await createEach(client, 'amount', ['5', '6', '5', '6', '5', '6'])
  const { nextCursor } = (await list(client, { limit: '2' })).body
  t.strictSame(names(await list(client, { cursor: nextCursor })), ['13', '12', '11', '10'])
  const fives = await list(client, { cursor: nextCursor, amountMax: '5', limit: '1' })
  t.strictSame(names(fives), ['12'])
  t.match(fives.body, { totalCount: 3, hasMore: true })
  t.strictSame(names(await list(client, { cursor: nextCursor, amountMin: '6' })), ['13', '11'])
  t.strictSame((await list(client, { cursor: nextCursor, status: 'SETTLED' })).body, {
    totalCount: 0,
    hasMore: false,
    nextCursor: null,
    data: [],
  })
})

t.test('decisions §5: a cursor may be used again', async t => {
  const client = await open(t)
  await create(client, ['A', 'B', 'C'])
  const { nextCursor } = (await list(client, { limit: '1' })).body
  const once = await list(client, { limit: '1', cursor: nextCursor })
  t.strictSame((await list(client, { limit: '1', cursor: nextCursor })).body, once.body)
})

t.test('decisions §2: a cursor that this server did not issue is INVALID_CURSOR', async t => {
  const client = await open(t)
  await create(client, ['A', 'B'])
  const { nextCursor } = (await list(client, { limit: '1' })).body
  const made = [
    'x',
    '0',
    'null',
    'undefined',
    'COL-A',
    '=',
    '..',
    '%',
    nextCursor.toUpperCase(),
    nextCursor.toLowerCase(),
  ]
  const cut = [
    nextCursor.slice(0, -1),
    nextCursor.slice(1),
    `${nextCursor}A`,
    `A${nextCursor}`,
    `${nextCursor} `,
    nextCursor.repeat(2),
  ]
  for (const cursor of [...made, ...cut, 'x'.repeat(3000)]) {
    t.strictSame(refusal(await list(client, { cursor })), invalidCursor, cursor.slice(0, 60))
  }
})

t.test('decisions §2: a cursor in which any one character was changed is INVALID_CURSOR', async t => {
  const client = await open(t)
  await create(client, ['A', 'B'])
  const { nextCursor } = (await list(client, { limit: '1' })).body as { nextCursor: string }
  for (const index of range(0, nextCursor.length - 1)) {
    const other = nextCursor[index] === 'a' ? 'b' : 'a'
    const cursor = nextCursor.slice(0, index) + other + nextCursor.slice(index + 1)
    t.strictSame(refusal(await list(client, { cursor })), invalidCursor, cursor)
  }
})

t.test('decisions §2: a cursor of another list is INVALID_CURSOR', async t => {
  const client = await open(t)
  await client.post('/api/v1/mandates', mandate({ mandateReference: 'MND-0002' }))
  await create(client, ['A', 'B'])
  const ofMandates = (await client.get('/api/v1/mandates?limit=1')).body.nextCursor
  t.type(ofMandates, 'string')
  t.strictSame(refusal(await list(client, { cursor: ofMandates })), invalidCursor)
})

t.test('decisions §3: a cursor of another tenant is INVALID_CURSOR', async t => {
  const app = build(t)
  const [acme, other] = [await connect(app, 'acme'), await connect(app, 'other')]
  for (const client of [acme, other]) {
    await client.post('/api/v1/mandates', mandate())
    await create(client, ['A', 'B'])
  }
  const { nextCursor } = (await list(acme, { limit: '1' })).body
  t.equal((await list(acme, { cursor: nextCursor })).status, 200)
  t.strictSame(refusal(await list(other, { cursor: nextCursor })), invalidCursor)
})

t.test('decisions §1: an empty value is 400, a scalar given twice is MALFORMED_REQUEST', async t => {
  const client = await open(t)
  const scalars = {
    limit: '1',
    mandateReference: 'MND-0001',
    debtorReference: 'x',
    initiatedFrom: MONDAY,
    initiatedTo: MONDAY,
    amountMin: '1',
    amountMax: '1',
  }
  for (const [name, value] of Object.entries(scalars)) {
    t.strictSame(refusal(await client.get(`${PATH}?${name}=`)), invalid(name), `${name} empty`)
    t.strictSame(
      refusal(await client.get(`${PATH}?${name}=${value}&${name}=${value}`)),
      { status: 400, code: 'MALFORMED_REQUEST', field: name },
      `${name} twice`,
    )
  }
  for (const name of ['status', 'scheme'])
    t.strictSame(refusal(await client.get(`${PATH}?${name}=`)), invalid(name), name)
  const empty = refusal(await client.get(`${PATH}?cursor=`))
  t.match(empty, { status: 400, field: 'cursor', code: /^INVALID_(CURSOR|QUERY_PARAMETER)$/ })
  t.strictSame(refusal(await client.get(`${PATH}?cursor=a&cursor=a`)), {
    status: 400,
    code: 'MALFORMED_REQUEST',
    field: 'cursor',
  })
})

t.test('decisions §1: parameters that the interface does not name are ignored and hinted at', async t => {
  const client = await open(t)
  await create(client, ['A'])
  const answer = await list(client, { page: '2', Status: 'SETTLED' })
  t.equal(answer.status, 200)
  t.strictSame(names(answer), ['A'])
  t.match(answer.headers['sandbox-hint'], /page.*; .*Status/)
  t.notOk((await client.get(PATH)).headers['sandbox-hint'])
})

// ---------------------------------------------------------------------------------------------------------- filters

t.test('interface, scheme: SEPA is the only scheme', async t => {
  const client = await open(t)
  await create(client, ['A', 'B'])
  for (const query of ['scheme=SEPA', 'scheme=SEPA&scheme=SEPA', 'scheme=SEPA,SEPA']) {
    t.strictSame(names(await list(client, query)), ['B', 'A'], query)
  }
  for (const query of ['scheme=BACS', 'scheme=sepa', 'scheme=SEPA,BACS', 'scheme=SEPA&scheme=BACS', 'scheme=SEPA,']) {
    t.strictSame(refusal(await list(client, query)), invalid('scheme'), query)
  }
})

t.test('interface, status: one or several, in both spellings, duplicates once', async t => {
  const client = await open(t)
  await create(client, ['A', 'B', 'C', 'D', 'E'])
  await client.control('POST', '/direct-debit/COL-B/cancel')
  for (const name of ['B', 'C', 'D', 'E']) await client.control('POST', `/direct-debit/COL-${name}/submit`)
  await client.control('POST', '/direct-debit/COL-C/reject')
  await client.control('POST', '/direct-debit/COL-E/process')

  for (const [query, expected] of [
    ['status=PENDING', ['A']],
    ['status=CANCELLED', ['B']],
    ['status=REJECTED', ['C']],
    ['status=SUBMITTED', ['D']],
    ['status=PROCESSING', ['E']],
    ['status=SETTLED', []],
    ['status=PENDING,PROCESSING', ['E', 'A']],
    ['status=PENDING&status=PROCESSING', ['E', 'A']],
    ['status=PROCESSING,PENDING', ['E', 'A']],
    ['status=PENDING,PENDING&status=PENDING', ['A']],
    ['status=PENDING,REJECTED&status=SUBMITTED,SETTLED', ['D', 'C', 'A']],
    ['status=PENDING,SUBMITTED,PROCESSING,SETTLED,FAILED,CANCELLED,RETURNED,REJECTED', ['E', 'D', 'C', 'B', 'A']],
  ] as [string, string[]][]) {
    const answer = await client.get(`${PATH}?${query}`)
    t.equal(answer.status, 200, query)
    t.strictSame(names(answer), expected, query)
    t.equal(answer.body.totalCount, expected.length, query)
  }
  for (const query of [
    'status=pending',
    'status=OPEN',
    'status=PENDING,OPEN',
    'status=PENDING&status=x',
    'status=PENDING,',
    'status=,',
  ]) {
    t.strictSame(refusal(await client.get(`${PATH}?${query}`)), invalid('status'), query)
  }
})

t.test('interface, mandateReference: 5-50 letters, digits and hyphens', async t => {
  const client = await open(t)
  await client.post('/api/v1/mandates', mandate({ mandateReference: 'MND-0002' }))
  await create(client, ['A', 'B'])
  await create(client, ['C'], { mandateReference: 'MND-0002' })
  t.strictSame(names(await list(client, { mandateReference: 'MND-0001' })), ['B', 'A'])
  t.strictSame(names(await list(client, { mandateReference: 'MND-0002' })), ['C'])
  for (const mandateReference of ['MND-1', 'M'.repeat(50), 'mnd-0001', 'MND-000', 'MND-00011']) {
    const answer = await list(client, { mandateReference })
    t.strictSame(
      [answer.status, answer.body.totalCount],
      [200, 0],
      `${mandateReference}: an unknown one matches nothing`,
    )
  }
  for (const mandateReference of [
    'MND1',
    'M'.repeat(51),
    'MND_0001',
    'MND 0001',
    'MND-0001,MND-0002',
    'MND-0001\n',
    'MÜD-0001',
  ]) {
    t.strictSame(refusal(await list(client, { mandateReference })), invalid('mandateReference'), mandateReference)
  }
})

t.test('interface, debtorReference: 1-100 characters, compared as they are', async t => {
  const client = await open(t)
  const references = ['x', 'x'.repeat(100), 'a,b', 'a b&c=d/é?#+%', '€'.repeat(100)]
  await createEach(client, 'debtorReference', references)
  await create(client, ['none'])
  for (const [index, debtorReference] of references.entries()) {
    t.strictSame(names(await list(client, { debtorReference })), [`${10 + index}`], debtorReference.slice(0, 20))
  }
  for (const debtorReference of ['X', 'a', 'x ', 'undefined', 'x'.repeat(99)]) {
    t.equal((await list(client, { debtorReference })).body.totalCount, 0, debtorReference.slice(0, 20))
  }
  for (const debtorReference of ['x'.repeat(101), '€'.repeat(101)]) {
    t.strictSame(refusal(await list(client, { debtorReference })), invalid('debtorReference'))
  }
})

t.test('interface, initiatedFrom and initiatedTo: both bounds are inclusive, to the second', async t => {
  const client = await open(t)
  for (const name of ['A', 'B', 'C']) {
    await create(client, [`${name}1`, `${name}2`])
    await client.advance({ by: 'PT1S' })
  }
  const [a, b, c, d] = ['2026-11-02T09:00:00Z', '2026-11-02T09:00:01Z', '2026-11-02T09:00:02Z', '2026-11-02T09:00:03Z']
  const all = ['C2', 'C1', 'B2', 'B1', 'A2', 'A1']
  for (const [parameters, expected] of [
    [{ initiatedFrom: a }, all],
    [{ initiatedFrom: b }, ['C2', 'C1', 'B2', 'B1']],
    [{ initiatedFrom: c }, ['C2', 'C1']],
    [{ initiatedFrom: d }, []],
    [{ initiatedTo: '2026-11-02T08:59:59Z' }, []],
    [{ initiatedTo: a }, ['A2', 'A1']],
    [{ initiatedTo: b }, ['B2', 'B1', 'A2', 'A1']],
    [{ initiatedTo: d }, all],
    [{ initiatedFrom: b, initiatedTo: b }, ['B2', 'B1']],
    [{ initiatedFrom: a, initiatedTo: b }, ['B2', 'B1', 'A2', 'A1']],
    [{ initiatedFrom: '0001-01-01T00:00:00Z', initiatedTo: '9999-12-31T23:59:59Z' }, all],
  ] as [Record<string, string>, string[]][]) {
    const answer = await list(client, parameters)
    t.strictSame(names(answer), expected, JSON.stringify(parameters))
    t.equal(answer.body.totalCount, expected.length)
    t.notOk(answer.headers['sandbox-hint'])
  }
})

t.test('interface, initiatedFrom and initiatedTo: a real moment of the form YYYY-MM-DDThh:mm:ssZ', async t => {
  const client = await open(t)
  const wrong = [
    '2026-11-02',
    '2026-11-02T09:00Z',
    '2026-11-02T09:00:00',
    '2026-11-02T09:00:00z',
    '2026-11-02t09:00:00Z',
    '2026-11-02 09:00:00Z',
    '2026-11-02T09:00:00.000Z',
    '2026-11-02T09:00:00+00:00',
    '2026-11-02T10:00:00+01:00',
    '2026-02-30T09:00:00Z',
    '2026-13-02T09:00:00Z',
    '2026-11-02T25:00:00Z',
    '2026-11-02T09:60:00Z',
    '1793610000',
    'yesterday',
  ]
  for (const name of ['initiatedFrom', 'initiatedTo']) {
    for (const value of wrong)
      t.strictSame(refusal(await list(client, { [name]: value })), invalid(name), `${name} ${value}`)
    t.equal((await client.get(`${PATH}?${name}=2026-11-02T09:00:00Z`)).status, 200, 'colons need no encoding')
    t.equal((await list(client, { [name]: '2028-02-29T23:59:59Z' })).status, 200, 'a leap day')
  }
})

t.test('decisions §1: initiatedFrom after initiatedTo answers 200 with no records, and a hint', async t => {
  const client = await open(t)
  await create(client, ['A'])
  const answer = await list(client, { initiatedFrom: '2026-11-02T09:00:01Z', initiatedTo: '2026-11-02T09:00:00Z' })
  t.equal(answer.status, 200)
  t.strictSame(answer.body, { totalCount: 0, hasMore: false, nextCursor: null, data: [] })
  t.match(answer.headers['sandbox-hint'], /initiatedFrom.*initiatedTo/)
})

t.test('decisions §5: amountMin and amountMax compare exactly, both inclusive', async t => {
  const client = await open(t)
  // The names are 10, 11, 12, …
  await createEach(client, 'amount', ['1', '4.34', '4.35', '4.36', '10', '10.00', '10.01', '100', '999999999.99'])
  const all = ['18', '17', '16', '15', '14', '13', '12', '11', '10']
  for (const [parameters, expected] of [
    [{ amountMin: '0.01' }, all],
    [{ amountMin: '1' }, all],
    [{ amountMin: '1.00' }, all],
    [{ amountMin: '1.0000000000000000001' }, all.slice(0, -1)],
    [{ amountMin: '4.35' }, ['18', '17', '16', '15', '14', '13', '12']],
    [{ amountMax: '4.35' }, ['12', '11', '10']],
    [{ amountMin: '4.35', amountMax: '4.35' }, ['12']],
    [{ amountMin: '4.345', amountMax: '4.355' }, ['12']],
    [{ amountMin: '10', amountMax: '10' }, ['15', '14']],
    [{ amountMin: '10.005' }, ['18', '17', '16']],
    [{ amountMax: '10.005' }, ['15', '14', '13', '12', '11', '10']],
    [{ amountMin: '10.00499999999999999999', amountMax: '10.01' }, ['16']],
    [{ amountMin: '10.0100000000000000001', amountMax: '99' }, []],
    [{ amountMax: '10.0099999999999999999' }, ['15', '14', '13', '12', '11', '10']],
    [{ amountMin: '1e2' }, ['18', '17']],
    [{ amountMax: '1e2' }, ['17', '16', '15', '14', '13', '12', '11', '10']],
    [{ amountMin: '1E+2', amountMax: '1000e-1' }, ['17']],
    [{ amountMin: '435e-2', amountMax: '0.0435e2' }, ['12']],
    [{ amountMin: '999999999.99' }, ['18']],
    [{ amountMin: '999999999.991' }, []],
    [{ amountMax: '999999999.98' }, all.slice(1)],
    [{ amountMin: '1e300' }, []],
    [{ amountMax: '1e300' }, all],
    [{ amountMax: '0.01' }, []],
    [{ amountMax: '0.99' }, []],
  ] as [Record<string, string>, string[]][]) {
    const answer = await list(client, parameters)
    t.equal(answer.status, 200, JSON.stringify(parameters))
    t.strictSame(answer.status === 200 && names(answer), expected, JSON.stringify(parameters))
  }
})

t.test('interface, amountMin and amountMax: a number of at least 0.01', async t => {
  const client = await open(t)
  const low = ['0', '0.00', '0.009', '0.0099999', '0.00999999999999999999', '9e-3', '1e-9', '-1', '-0.01', '-1e2']
  const noNumbers = [
    'abc',
    'NaN',
    'Infinity',
    '-Infinity',
    '1,5',
    '1_000',
    '0x10',
    '1.5.5',
    '1e',
    'e5',
    '--1',
    ' 5',
    '5 ',
    'null',
    'true',
    '€5',
  ]
  for (const name of ['amountMin', 'amountMax']) {
    for (const value of [...low, ...noNumbers]) {
      t.strictSame(refusal(await list(client, { [name]: value })), invalid(name), `${name} ${value}`)
    }
    for (const value of ['0.01', '1e-2', '0.010', '0.0100000000000000001']) {
      t.equal((await list(client, { [name]: value })).status, 200, `${name} ${value}`)
    }
  }
})

t.test('decisions §1: amountMin above amountMax answers 200 with no records, and a hint', async t => {
  const client = await open(t)
  await create(client, ['A'])
  const answer = await list(client, { amountMin: '10.51', amountMax: '10.50' })
  t.equal(answer.status, 200)
  t.strictSame(answer.body, { totalCount: 0, hasMore: false, nextCursor: null, data: [] })
  t.match(answer.headers['sandbox-hint'], /amountMin.*amountMax/)
  const same = await list(client, { amountMin: '10.50', amountMax: '10.5' })
  t.strictSame(names(same), ['A'])
  t.notOk(same.headers['sandbox-hint'])
})

t.test('decisions §5: filters are combined with AND', async t => {
  const client = await open(t)
  await client.post('/api/v1/mandates', mandate({ mandateReference: 'MND-0002' }))
  await create(client, ['A'], { amount: '5', debtorReference: 'x' })
  await create(client, ['B'], { amount: '5', debtorReference: 'y' })
  await create(client, ['C'], { amount: '7', debtorReference: 'x' })
  await create(client, ['D'], { amount: '5', debtorReference: 'x', mandateReference: 'MND-0002' })
  await client.control('POST', '/direct-debit/COL-A/cancel')
  for (const [query, expected] of [
    ['debtorReference=x', ['D', 'C', 'A']],
    ['debtorReference=x&amountMax=5', ['D', 'A']],
    ['debtorReference=x&amountMax=5&mandateReference=MND-0001', ['A']],
    ['debtorReference=x&amountMax=5&status=PENDING', ['D']],
    ['debtorReference=x&status=PENDING,CANCELLED&mandateReference=MND-0001', ['C', 'A']],
    ['debtorReference=x&status=CANCELLED&mandateReference=MND-0002', []],
    [`debtorReference=x&initiatedFrom=${MONDAY}&initiatedTo=${MONDAY}&scheme=SEPA&amountMin=5&amountMax=6`, ['D', 'A']],
    ['debtorReference=x&initiatedFrom=2026-11-02T09:00:01Z', []],
  ] as [string, string[]][]) {
    const answer = await client.get(`${PATH}?${query}`)
    t.strictSame(names(answer), expected, query)
    t.equal(answer.body.totalCount, expected.length, query)
  }
})

// ----------------------------------------------------------------------------------------------- against a naive list

/** A repeatable sequence of numbers below n (Numerical Recipes' LCG). */
function createRandom(seed: number) {
  let state = seed
  const below = (n: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * n)
  }
  const pick = <T>(values: readonly T[]) => values[below(values.length)] as T
  return { below, pick, chance: (percent: number) => below(100) < percent }
}

/** A decimal of at most six decimals as a whole number of millionths. */
function millionths(text: string): bigint {
  const [units = '', fraction = ''] = text.split('.')
  return BigInt(units) * 1_000_000n + BigInt(fraction.padEnd(6, '0'))
}

interface Row {
  collectionReference: string
  mandateReference: string
  debtorReference?: string
  amount: string
  status: string
  initiatedAt: string
  updatedAt: string
}

const MOVES: Record<string, string[]> = {
  PENDING: ['submit', 'fail', 'cancel'],
  SUBMITTED: ['process', 'reject'],
  PROCESSING: ['settle', 'fail', 'reject'],
  SETTLED: ['return'],
}

/** What the interface says of the list, as simply as can be. */
function naiveList(rows: readonly Row[], query: Record<string, string>): Row[] {
  const { status, mandateReference, debtorReference, initiatedFrom, initiatedTo, amountMin, amountMax } = query
  return rows
    .filter(row => status === undefined || status.split(',').includes(row.status))
    .filter(row => mandateReference === undefined || row.mandateReference === mandateReference)
    .filter(row => debtorReference === undefined || row.debtorReference === debtorReference)
    .filter(row => initiatedFrom === undefined || row.initiatedAt >= initiatedFrom)
    .filter(row => initiatedTo === undefined || row.initiatedAt <= initiatedTo)
    .filter(row => amountMin === undefined || millionths(row.amount) >= millionths(amountMin))
    .filter(row => amountMax === undefined || millionths(row.amount) <= millionths(amountMax))
    .map((row, index) => ({ row, index }))
    .sort((a, b) => b.row.initiatedAt.localeCompare(a.row.initiatedAt) || b.index - a.index)
    .map(({ row }) => row)
}

for (const seed of [1, 2, 3]) {
  t.test(`decisions §5: the list agrees with naive filtering, sorting and slicing (seed ${seed})`, async t => {
    const { below, pick, chance } = createRandom(seed)
    const client = await connect(build(t))
    const mandates = ['MND-0001', 'MND-0002', 'MND-0003']
    for (const mandateReference of mandates) await client.post('/api/v1/mandates', mandate({ mandateReference }))
    const amounts = ['1', '1.01', '4.35', '4.36', '10', '10.00', '10.01', '99.99', '100', '999999999.99']
    const bounds = [
      '0.01',
      '1',
      '1.005',
      '4.35',
      '4.354',
      '4.36',
      '10',
      '10.005',
      '10.01',
      '99.99',
      '500',
      '999999999.99',
    ]
    const debtors = ['x', 'y', undefined]
    const statuses = ['PENDING', 'SUBMITTED', 'PROCESSING', 'SETTLED', 'FAILED', 'CANCELLED', 'RETURNED', 'REJECTED']
    const rows: Row[] = []

    const createOne = async () => {
      const changes = {
        collectionReference: `COL-${1000 + rows.length}`,
        mandateReference: pick(mandates),
        debtorReference: pick(debtors),
        amount: pick(amounts),
        collectionDate: '2027-10-01',
      }
      const { status, body } = await client.post(PATH, collection(changes))
      t.equal(status, 201)
      rows.push(body)
    }
    const moveOne = async () => {
      const row = pick(rows)
      const verb = pick(MOVES[row.status] ?? [])
      if (verb === undefined) return
      const { status, body } = await client.control('POST', `/direct-debit/${row.collectionReference}/${verb}`)
      t.equal(status, 200)
      row.status = body.record.status
      row.updatedAt = body.record.updatedAt
    }

    for (let count = 0; count < 60; count++) {
      await createOne()
      if (chance(70)) await moveOne()
      if (chance(50)) await moveOne()
      if (chance(40)) await client.advance({ by: `PT${1 + below(2)}S` })
    }

    for (let round = 0; round < 40; round++) {
      const query: Record<string, string> = {}
      if (chance(40)) query.status = [pick(statuses), pick(statuses), pick(statuses)].slice(below(3)).join(',')
      if (chance(40)) query.mandateReference = pick(mandates)
      if (chance(30)) query.debtorReference = pick(['x', 'y'])
      if (chance(30)) query.initiatedFrom = pick(rows).initiatedAt
      if (chance(30)) query.initiatedTo = pick(rows).initiatedAt
      if (chance(30)) query.amountMin = pick(bounds)
      if (chance(30)) query.amountMax = pick(bounds)
      const limit = chance(20) ? undefined : 1 + below(9)
      const size = limit ?? 100

      const expected = naiveList(rows, query)
      const base = limit === undefined ? query : { ...query, limit: `${limit}` }
      const title = JSON.stringify(base)
      let cursor: string | null = null
      for (let start = 0; start === 0 || start < expected.length; start += size) {
        const { status, body } = await list(client, cursor === null ? base : { ...base, cursor })
        const hasMore = start + size < expected.length
        t.strictSame(
          { status, ...body, nextCursor: typeof body.nextCursor },
          {
            status: 200,
            totalCount: expected.length,
            hasMore,
            nextCursor: hasMore ? 'string' : 'object',
            data: expected.slice(start, start + size),
          },
          `${title} from ${start}`,
        )
        cursor = body.nextCursor
      }
      t.equal(cursor, null, `${title} ends`)
      if (chance(50)) await createOne()
      if (chance(50)) await moveOne()
    }
  })
}
