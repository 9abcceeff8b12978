import fc from 'fast-check'
import t from 'tap'
import { gist, invalidQuery, table } from '../answers.js'
import type { Answer, Client } from '../helper.js'
import { collection, MONDAY, mandate, newClient } from '../helper.js'

const PATH = '/api/v1/direct-debit'
const WRONG_CURSOR = '400 INVALID_CURSOR cursor'

/** A new tenant with the mandates MND-0001 and MND-0002. */
async function open(): Promise<Client> {
  const client = await newClient()
  for (const mandateReference of ['MND-0001', 'MND-0002']) {
    await client.post('/api/v1/mandates', mandate({ mandateReference }))
  }
  return client
}

/** Creates collections, named COL-<name>, oldest first. */
async function create(client: Client, names: readonly string[], changes: object = {}) {
  for (const name of names) {
    const created = await client.post(PATH, collection({ collectionReference: `COL-${name}`, ...changes }))
    if (created.status !== 201) throw new Error(gist(created))
  }
}

const move = (client: Client, name: string, verb: string) => client.control('POST', `/direct-debit/COL-${name}/${verb}`)

/** The names on a page, the count and what is left: `C B of 3, more`, with its hint, if there is one. */
function page(answer: Answer): string {
  if (answer.status !== 200) return gist(answer)
  const { data, totalCount, hasMore, nextCursor } = answer.body
  const names = data.map((row: { collectionReference: string }) => row.collectionReference.slice('COL-'.length))
  const more = typeof nextCursor === 'string' && nextCursor !== '' ? ', more' : ''
  const contradiction = hasMore === (nextCursor === null) ? ', hasMore contradicts nextCursor' : ''
  const hint = answer.headers['sandbox-hint'] === undefined ? '' : `, hint: ${answer.headers['sandbox-hint']}`
  return `${names.join(' ')} of ${totalCount}${more}${contradiction}${hint}`
}

const lister =
  (client: Client) =>
  async (parameters: Record<string, string> | string = {}): Promise<string> =>
    page(await client.get(`${PATH}?${typeof parameters === 'string' ? parameters : new URLSearchParams(parameters)}`))

const cursorAfter = async (client: Client, query: string): Promise<string> =>
  (await client.get(`${PATH}?${query}`)).body.nextCursor

// ----------------------------------------------------------------------------------------------- envelope and order

t.test('interface, Collection list envelope: an empty list', async t => {
  const { status, body } = await (await newClient()).get(PATH)
  t.same([status, body], [200, { totalCount: 0, hasMore: false, nextCursor: null, data: [] }])
})

t.test('interface, Collection request summary: an element has exactly the documented members', async t => {
  const client = await open()
  await create(client, ['0001'], { debtorReference: 'customer 17' })
  await create(client, ['0002'])
  const required = ['amount', 'collectionDate', 'collectionReference', 'currency', 'debtorName', 'initiatedAt']
  const documented = [...required, 'mandateReference', 'scheme', 'status', 'updatedAt']
  const { data } = (await client.get(PATH)).body
  const found = data.map((row: object) => Object.keys(row).sort())
  t.same(found, [documented, [...documented, 'debtorReference'].sort()], 'debtorReference is the one optional member')
})

t.test('interface, GET /api/v1/direct-debit; decisions §5: newest first, ties by later creation', async t => {
  const client = await open()
  await create(client, ['ZZZZ', 'AAAA', 'MMMM'])
  await client.advance({ by: 'PT1S' })
  await create(client, ['LATER'])
  await move(client, 'ZZZZ', 'submit')
  t.equal(await lister(client)(), 'LATER MMMM AAAA ZZZZ of 4')
})

// ------------------------------------------------------------------------------------------------- limit and cursor

t.test('interface, Limits: limit is 1 to 500, 100 by default, and as many are given', async t => {
  const client = await open()
  const collections = Array.from({ length: 501 }, (_, n) => collection({ collectionReference: `COL-${1000 + n}` }))
  t.equal((await client.control('POST', '/seed', { records: { collections } })).status, 200)
  const given = async (query: string) => {
    const answer = await client.get(`${PATH}?${query}`)
    if (answer.status !== 200) return answer
    const { data, totalCount, hasMore } = answer.body
    return `${data.length} of ${totalCount}, ${data[0].collectionReference}, more: ${hasMore}`
  }
  const last = await cursorAfter(client, 'limit=500')
  const wrong = ['0', '501', '-1', '1.5', '1.0', 'ten', '1,2', '%201', '1%20', '0x10', 'NaN', '9'.repeat(30), '']
  await table(t, given, {
    '100 of 501, COL-1500, more: true': ['', 'limit=100'],
    '1 of 501, COL-1500, more: true': ['limit=1'],
    '500 of 501, COL-1500, more: true': ['limit=500'],
    '1 of 501, COL-1000, more: false': [`limit=500&cursor=${last}`],
    [invalidQuery('limit')]: [...wrong, '1e1', '+5', '%2B5', '٥'].map(limit => `limit=${encodeURI(limit)}`),
  })
})

t.test('decisions §5: a walk by cursor visits every record once; nextCursor is null on the last page', async t => {
  const client = await open()
  await create(client, ['A', 'B', 'C', 'D', 'E'])
  const walk = async (limit: string) => {
    const pages: string[] = []
    let cursor: string | null = ''
    while (cursor !== null && pages.length < 9) {
      const answer: Answer = await client.get(`${PATH}?limit=${limit}${cursor && `&cursor=${cursor}`}`)
      pages.push(page(answer))
      cursor = answer.body.nextCursor
    }
    return pages.join('; ')
  }
  await table(t, walk, {
    'E of 5, more; D of 5, more; C of 5, more; B of 5, more; A of 5': ['1'],
    'E D C B of 5, more; A of 5': ['4'],
    'E D C B A of 5': ['5'],
  })
})

t.test('decisions §5: what is created, changed or asked again meanwhile shifts nothing behind a cursor', async t => {
  const client = await open()
  const list = lister(client)
  await create(client, ['A', 'B', 'C', 'D'])
  const cursor = await cursorAfter(client, 'limit=2')
  const pending = await cursorAfter(client, 'limit=2&status=PENDING')
  await create(client, ['E', 'F', 'G'])
  t.equal(await list({ limit: '2', cursor }), 'B A of 7', 'created in the same second')
  await client.advance({ by: 'P1D' })
  await create(client, ['H'])
  t.equal(await list({ limit: '2', cursor }), 'B A of 8', 'and later')
  await move(client, 'D', 'cancel')
  await move(client, 'C', 'submit')
  t.equal(await list({ limit: '2', status: 'PENDING', cursor: pending }), 'B A of 6', 'records that left the filter')
})

t.test('decisions §5: a cursor is a position, so it works with any filter and any limit', async t => {
  const client = await open()
  for (const [index, amount] of ['5', '6', '5', '6', '5', '6'].entries())
    await create(client, [`1${index}`], { amount })
  const cursor = await cursorAfter(client, 'limit=2')
  await table(t, query => lister(client)({ cursor, ...query }), {
    '13 12 11 10 of 6': [{}],
    '12 of 3, more': [{ amountMax: '5', limit: '1' }],
    '13 11 of 3': [{ amountMin: '6' }],
    ' of 0': [{ status: 'SETTLED' }],
  })
})

t.test('decisions §2: a cursor that this server did not issue for this list and tenant is INVALID_CURSOR', async t => {
  const [client, other] = [await open(), await open()]
  for (const one of [client, other]) await create(one, ['A', 'B'])
  const own = await cursorAfter(client, 'limit=1')
  const ofMandates = (await client.get('/api/v1/mandates?limit=1')).body.nextCursor
  const made = ['x', '0', 'null', 'undefined', 'COL-A', '=', '..', '%', 'x'.repeat(3000), own.toUpperCase()]
  const cut = [own.slice(0, -1), own.slice(1), `${own}A`, `A${own}`, `${own} `, own.repeat(2)]
  const changed = [...own].map((letter, at) => own.slice(0, at) + (letter === 'a' ? 'b' : 'a') + own.slice(at + 1))
  await table(t, cursor => lister(client)({ cursor }), {
    'A of 2': [own],
    [WRONG_CURSOR]: [...made, ...cut, ...changed, ofMandates, await cursorAfter(other, 'limit=1')],
  })
})

// ---------------------------------------------------------------------------------------------------------- filters

t.test('decisions §1: array filters are taken in all their spellings, and duplicates count once', async t => {
  const client = await open()
  await create(client, ['A', 'B', 'C', 'D', 'E'])
  await move(client, 'B', 'cancel')
  for (const name of ['C', 'D', 'E']) await move(client, name, 'submit')
  await move(client, 'C', 'reject')
  await move(client, 'E', 'process')
  const all = 'PENDING,SUBMITTED,PROCESSING,SETTLED,FAILED,CANCELLED,RETURNED,REJECTED'
  await table(t, lister(client), {
    'A of 1': [
      ...['status=PENDING', 'status=PENDING,PENDING&status=PENDING', 'status[]=PENDING&status[]=PENDING'],
      ...[Array(100).fill('status=PENDING').join('&'), `status=${Array(500).fill('PENDING')}`],
    ],
    'B of 1': ['status=CANCELLED'],
    'C of 1': ['status=REJECTED'],
    'D of 1': ['status=SUBMITTED'],
    ' of 0': ['status=SETTLED', 'status[]=SETTLED'],
    'E A of 2': [
      ...['status=PENDING,PROCESSING', 'status=PROCESSING%2CPENDING', 'status=PENDING&status=PROCESSING'],
      ...['status[]=PENDING&status[]=PROCESSING', 'status%5B%5D=PENDING&status%5b%5d=PROCESSING'],
      ...['status[0]=PENDING&status[1]=PROCESSING', 'status%5B0%5D=PENDING&status=PROCESSING'],
      ...['status[]=PENDING,PROCESSING', 'status=PENDING&scheme[]=SEPA&status=PROCESSING&scheme=SEPA,SEPA'],
    ],
    'D C A of 3': ['status=PENDING,REJECTED&status=SUBMITTED,SETTLED'],
    'E D C B A of 5': [`status=${all}`, 'scheme=SEPA', 'scheme[]=SEPA&scheme[]=SEPA', 'scheme[0]=SEPA'],
    [invalidQuery('scheme')]: ['scheme=BACS', 'scheme=sepa', 'scheme=SEPA,BACS'],
  })
})

t.test('interface, GET /api/v1/direct-debit: mandateReference has 5-50 letters, digits and hyphens', async t => {
  const client = await open()
  await create(client, ['A', 'B'])
  await create(client, ['C'], { mandateReference: 'MND-0002' })
  await table(t, mandateReference => lister(client)({ mandateReference }), {
    'B A of 2': ['MND-0001'],
    'C of 1': ['MND-0002'],
    ' of 0': ['MND-1', 'M'.repeat(50), 'mnd-0001', 'MND-000', 'MND-00011'],
    [invalidQuery('mandateReference')]: ['MND1', 'M'.repeat(51), 'MND-0001,MND-0002', 'MND-0001\n', 'MÜD-0001'],
  })
})

t.test('interface, GET /api/v1/direct-debit: debtorReference has 1-100 characters, compared as they are', async t => {
  const client = await open()
  const references = ['x', 'a,b', 'a b&c=d/é?#+%', '€'.repeat(100)]
  for (const [index, debtorReference] of references.entries()) await create(client, [`1${index}`], { debtorReference })
  await create(client, ['none'])
  await table(t, debtorReference => lister(client)({ debtorReference }), {
    ...Object.fromEntries(references.map((reference, index) => [`1${index} of 1`, [reference]])),
    ' of 0': ['X', 'a', 'x ', 'undefined', '€'.repeat(99)],
    [invalidQuery('debtorReference')]: ['x'.repeat(101), '€'.repeat(101)],
  })
})

t.test('interface, GET /api/v1/direct-debit: initiatedFrom and initiatedTo are inclusive, to the second', async t => {
  const client = await open()
  for (const name of ['A', 'B', 'C']) {
    await create(client, [`${name}1`, `${name}2`])
    await client.advance({ by: 'PT1S' })
  }
  const at = (second: string) => `2026-11-02T09:00:0${second}Z`
  await table(t, lister(client), {
    'C2 C1 B2 B1 A2 A1 of 6': [
      { initiatedFrom: at('0') },
      { initiatedTo: at('3') },
      { initiatedFrom: '0001-01-01T00:00:00Z', initiatedTo: '9999-12-31T23:59:59Z' },
      { initiatedTo: '2028-02-29T23:59:59Z' },
      `initiatedFrom=${MONDAY}`,
    ],
    'C2 C1 B2 B1 of 4': [{ initiatedFrom: at('1') }],
    'C2 C1 of 2': [{ initiatedFrom: at('2') }],
    ' of 0': [{ initiatedFrom: at('3') }, { initiatedTo: '2026-11-02T08:59:59Z' }],
    'A2 A1 of 2': [{ initiatedTo: at('0') }],
    'B2 B1 A2 A1 of 4': [{ initiatedTo: at('1') }, { initiatedFrom: at('0'), initiatedTo: at('1') }],
    'B2 B1 of 2': [{ initiatedFrom: at('1'), initiatedTo: at('1') }],
  })
  const crossed = await lister(client)({ initiatedFrom: at('1'), initiatedTo: at('0') })
  t.match(crossed, /^ of 0, hint: .*initiatedFrom.*initiatedTo/, 'decisions §1: from after to is legal, with a hint')
})

t.test('interface, GET /api/v1/direct-debit: a time is a real moment, as YYYY-MM-DDThh:mm:ssZ', async t => {
  const client = await open()
  // The tests of core/time have all other forms.
  const wrong = ['2026-11-02', '2026-11-02T09:00:00', '2026-11-02T09:00:00.000Z', '2026-02-30T09:00:00Z', 'yesterday']
  for (const field of ['initiatedFrom', 'initiatedTo']) {
    await table(t, value => lister(client)({ [field]: value }), { [invalidQuery(field)]: wrong })
  }
})

t.test('decisions §5: amountMin and amountMax compare exactly, both inclusive', async t => {
  const client = await open()
  const amounts = ['1', '4.34', '4.35', '4.36', '10', '10.00', '10.01', '100', '999999999.99']
  for (const [index, amount] of amounts.entries()) await create(client, [`1${index}`], { amount })
  const min = (...values: string[]) => values.map(amountMin => ({ amountMin }))
  const max = (...values: string[]) => values.map(amountMax => ({ amountMax }))
  const between = (amountMin: string, amountMax: string) => ({ amountMin, amountMax })
  const all = '18 17 16 15 14 13 12 11 10'
  await table(t, lister(client), {
    [`${all} of 9`]: [...min('0.01', '1', '1.00'), ...max('1e300')],
    '18 17 16 15 14 13 12 11 of 8': min('1.0000000000000000001'),
    '18 17 16 15 14 13 12 of 7': min('4.35'),
    '12 11 10 of 3': max('4.35'),
    '12 of 1': [between('4.35', '4.35'), between('4.345', '4.355'), between('435e-2', '0.0435e2')],
    '15 14 of 2': [between('10', '10')],
    '18 17 16 of 3': min('10.005'),
    '15 14 13 12 11 10 of 6': max('10.005', '10.0099999999999999999'),
    '16 of 1': [between('10.00499999999999999999', '10.01')],
    '18 17 of 2': min('1e2'),
    '17 16 15 14 13 12 11 10 of 8': max('1e2', '999999999.98'),
    '17 of 1': [between('1E+2', '1000e-1')],
    '18 of 1': min('999999999.99'),
    ' of 0': [...min('999999999.991', '1e300'), ...max('0.01', '0.99'), between('10.0100000000000000001', '99')],
  })
  const crossed = await lister(client)(between('10.51', '10.50'))
  t.match(crossed, /^ of 0, hint: .*amountMin.*amountMax/, 'decisions §1: min above max is legal, with a hint')
  t.match(await lister(client)(between('10.01', '10.005')), /^ of 0, hint: /, 'compared exactly')
  t.equal(await lister(client)(between('10.005', '10.009')), ' of 0', 'min below max has no hint')
})

t.test('interface, GET /api/v1/direct-debit: amountMin and amountMax are numbers of at least 0.01', async t => {
  const client = await open()
  const wrong = ['0', '0.00', '0.009', '0.00999999999999999999', '9e-3', '1e-9', '-1', '-0.01', '-1e2', 'abc', 'NaN']
  wrong.push('Infinity', '1,5', '1_000', '0x10', '1.5.5', '1e', 'e5', '--1', ' 5', '5 ', '€5')
  for (const field of ['amountMin', 'amountMax']) {
    const send = async (value: string) => {
      const answer = await client.get(`${PATH}?${new URLSearchParams({ [field]: value })}`)
      if (answer.status === 200) return answer
      const message = `${field} must be a decimal number of at least 0.01, not ${JSON.stringify(value)}.`
      return answer.body.message === message ? answer : answer.body.message
    }
    await table(t, send, { 200: ['0.01', '1e-2', '0.0100000000000000001'], [invalidQuery(field)]: wrong })
  }
})

// ----------------------------------------------------------------------------------------------- against a naive list

/** A decimal of at most three decimals, in thousandths. */
const thousandths = (text: string) => {
  const [units = '', fraction = ''] = text.split('.')
  return Number(units) * 1000 + Number(fraction.padEnd(3, '0'))
}

interface Row {
  collectionReference: string
  mandateReference: string
  debtorReference?: string
  amount: string
  status: string
  initiatedAt: string
}

/** What the interface says of the list, as simply as can be. */
function naiveList(rows: readonly Row[], query: Record<string, string | undefined>): Row[] {
  const { status, mandateReference, debtorReference, initiatedFrom, initiatedTo, amountMin, amountMax } = query
  return rows
    .filter(row => status === undefined || status.split(',').includes(row.status))
    .filter(row => mandateReference === undefined || row.mandateReference === mandateReference)
    .filter(row => debtorReference === undefined || row.debtorReference === debtorReference)
    .filter(row => initiatedFrom === undefined || row.initiatedAt >= initiatedFrom)
    .filter(row => initiatedTo === undefined || row.initiatedAt <= initiatedTo)
    .filter(row => amountMin === undefined || thousandths(row.amount) >= thousandths(amountMin))
    .filter(row => amountMax === undefined || thousandths(row.amount) <= thousandths(amountMax))
    .reverse()
}

t.test('decisions §5: filters, order and pages agree with naive filtering, sorting and slicing', async t => {
  const client = await open()
  const MOVES: Record<string, string[]> = {
    PENDING: ['submit', 'fail', 'cancel'],
    SUBMITTED: ['process', 'reject'],
    PROCESSING: ['settle', 'fail', 'reject'],
    SETTLED: ['return'],
  }
  const rows: Row[] = []
  const story = fc.record({
    mandateReference: fc.constantFrom('MND-0001', 'MND-0002'),
    debtorReference: fc.constantFrom('x', 'y', undefined),
    amount: fc.constantFrom('1', '1.01', '4.35', '4.36', '10', '10.00', '10.01', '99.99', '999999999.99'),
    moves: fc.array(fc.nat({ max: 5 }), { maxLength: 4 }),
    seconds: fc.constantFrom(0, 0, 1, 2),
  })
  for (const { moves, seconds, ...changes } of fc.sample(story, { seed: 1, numRuns: 60 })) {
    const reference = { collectionReference: `COL-${1000 + rows.length}`, collectionDate: '2027-10-01' }
    let row = (await client.post(PATH, collection({ ...reference, ...changes }))).body
    for (const choice of moves) {
      const verbs = MOVES[row.status] ?? []
      if (verbs.length === 0) break
      const verb = verbs[choice % verbs.length] as string
      row = (await client.control('POST', `/direct-debit/${row.collectionReference}/${verb}`)).body.record
    }
    const { reasonCode, ...summary } = row
    rows.push(summary)
    if (seconds > 0) await client.advance({ by: `PT${seconds}S` })
  }

  const states = ['PENDING', 'SUBMITTED', 'PROCESSING', 'SETTLED', 'FAILED', 'CANCELLED', 'RETURNED', 'REJECTED']
  const bound = fc.constantFrom('0.01', '1', '1.005', '4.35', '4.354', '4.36', '10', '10.005', '10.01', '500')
  const moment = fc.constantFrom(...rows.map(row => row.initiatedAt))
  const query = fc.record(
    {
      status: fc.subarray(states, { minLength: 1 }).map(some => some.join(',')),
      mandateReference: fc.constantFrom('MND-0001', 'MND-0002'),
      debtorReference: fc.constantFrom('x', 'y'),
      initiatedFrom: moment,
      initiatedTo: moment,
      amountMin: bound,
      amountMax: bound,
      limit: fc.integer({ min: 1, max: 9 }).map(String),
    },
    { requiredKeys: [] },
  )
  const walk = async (parameters: Record<string, string>) => {
    const expected = naiveList(rows, parameters)
    const size = Number(parameters.limit ?? 100)
    let cursor: string | undefined
    for (let start = 0; start === 0 || start < expected.length; start += size) {
      const search = new URLSearchParams({ ...parameters, ...(cursor !== undefined && { cursor }) })
      const { body } = await client.get(`${PATH}?${search}`)
      const data = expected.slice(start, start + size)
      const hasMore = start + size < expected.length
      const wanted = JSON.stringify({ totalCount: expected.length, hasMore, data, nextCursor: body.nextCursor })
      if (JSON.stringify(body) !== wanted || hasMore !== (typeof body.nextCursor === 'string')) return false
      cursor = body.nextCursor
    }
    return true
  }
  await t.resolves(fc.assert(fc.asyncProperty(query, walk), { seed: 1, numRuns: 50 }))
})
