import fc from 'fast-check'
import t from 'tap'
import { gist, invalidQuery, table } from '../answers.js'
import type { Answer, Client } from '../helper.js'
import { bill, collection, MONDAY, mandate, newClient, pluck } from '../helper.js'
import { account } from './records.js'

const COLLECTIONS = '/api/v1/direct-debit'

// biome-ignore lint/suspicious/noExplicitAny: the lists have rows of several shapes
type Row = any

/** The values of a filter, and the rows that it lets through, as simply as can be. */
type Filter = readonly [values: readonly string[], accepts: (row: Row, value: string) => boolean]

/** A list of the API, and records for it as a seed gives them. */
interface List {
  readonly url: string
  readonly reference: string
  readonly time: string
  readonly record: object
  /** The members that differ from record to record, with their values. */
  readonly members: Record<string, readonly unknown[]>
  /** `status` takes several values, with commas. */
  readonly filters: Record<string, Filter>
  /** Changes a record in a state of `changes`, by either plane. */
  readonly changes?: Record<string, (client: Client, reference: string) => Promise<Answer>>
}

const equal = (member: string, ...values: string[]): Filter => [values, (row, value) => row[member] === value]
const from = (member: string, values: readonly string[]): Filter => [values, (row, value) => row[member] >= value]
const to = (member: string, values: readonly string[]): Filter => [values, (row, value) => row[member] <= value]

/** A decimal of at most three decimals, in thousandths. */
const thousandths = (text: string) => {
  const [units = '', fraction = ''] = text.split('.')
  return Number(units) * 1000 + Number(fraction.padEnd(3, '0'))
}
const BOUNDS = ['0.01', '1', '1.005', '4.35', '4.354', '4.36', '10', '10.005', '10.01', '500']
const MOMENTS = ['2026-11-02T08:59:58Z', '2026-11-02T08:59:59Z', MONDAY]
const DAYS = ['2026-11-30', '2026-12-01', '2026-12-31']
const { debtor } = mandate()

const lists: Record<string, List> = {
  mandates: {
    ...{ url: '/api/v1/mandates', reference: 'mandateReference', time: 'createdAt', record: mandate() },
    members: {
      createdAt: MOMENTS,
      status: ['PENDING', 'ACTIVE', 'ACTIVE', 'FAILED', 'EXPIRED'],
      type: ['RECURRING', 'ONE_OFF'],
      debtor: [debtor, ...['x', 'x,y'].map(reference => ({ ...debtor, reference }))],
    },
    filters: {
      status: equal('status', 'PENDING', 'ACTIVE', 'FAILED', 'EXPIRED', 'CANCELLED'),
      type: equal('type', 'RECURRING', 'ONE_OFF'),
      debtorReference: [['x', 'x,y', 'z'], (row, value) => row.debtor.reference === value],
    },
    changes: { ACTIVE: (client, reference) => client.delete(`/api/v1/mandates/${reference}`) },
  },
  collections: {
    ...{ url: COLLECTIONS, reference: 'collectionReference', time: 'initiatedAt' },
    record: collection({ collectionDate: '2027-10-01' }),
    members: {
      initiatedAt: MOMENTS,
      status: ['PENDING', 'PENDING', 'PROCESSING', 'SETTLED', 'FAILED', 'CANCELLED', 'RETURNED', 'REJECTED'],
      mandateReference: ['MND-0001', 'MND-0002'],
      debtorReference: ['x', 'y', undefined],
      amount: ['1', '1.01', '4.35', '4.36', '10', '10.00', '10.01', '99.99', '999999999.99'],
    },
    filters: {
      status: equal('status', 'PENDING', 'SUBMITTED', 'PROCESSING', 'FAILED', 'CANCELLED', 'RETURNED', 'REJECTED'),
      scheme: equal('scheme', 'SEPA'),
      mandateReference: equal('mandateReference', 'MND-0001', 'MND-0002', 'mnd-0001'),
      debtorReference: equal('debtorReference', 'x', 'y', 'X'),
      initiatedFrom: from('initiatedAt', MOMENTS),
      initiatedTo: to('initiatedAt', MOMENTS),
      amountMin: [BOUNDS, (row, value) => thousandths(row.amount) >= thousandths(value)],
      amountMax: [BOUNDS, (row, value) => thousandths(row.amount) <= thousandths(value)],
    },
    changes: { PENDING: (client, reference) => client.control('POST', `/direct-debit/${reference}/submit`) },
  },
  bills: {
    ...{ url: '/api/v1/bills', reference: 'uniqueReferenceIdentifier', time: 'createdAt', record: bill() },
    members: {
      createdAt: MOMENTS,
      status: ['OPEN', 'OPEN', 'CANCELLED', 'PAID'],
      type: ['INVOICE', 'CREDIT_NOTE', 'DEBIT_NOTE'],
      cashflowType: ['INFLOW', 'OUTFLOW'],
      counterpartyReference: ['CPTY-0001', 'CPTY-0002'],
      dueDate: DAYS,
    },
    filters: {
      status: equal('status', 'OPEN', 'PARTIALLY_PAID', 'PAID', 'CANCELLED'),
      type: equal('type', 'INVOICE', 'CREDIT_NOTE', 'DEBIT_NOTE'),
      cashflowType: equal('cashflowType', 'INFLOW', 'OUTFLOW'),
      counterpartyReference: equal('counterpartyReference', 'CPTY-0001', 'CPTY-0002', 'CPTY-9999'),
      dueDateFrom: from('dueDate', [...DAYS, '2026-12-15']),
      dueDateTo: to('dueDate', [...DAYS, '2026-12-15']),
    },
    changes: { OPEN: (client, reference) => client.patch(`/api/v1/bills/${reference}`, { openAmount: '5' }) },
  },
  accounts: {
    ...{ url: '/api/v1/accounts', reference: 'accountReference', time: '', record: account() },
    members: {},
    filters: { currency: equal('currency', 'EUR', 'USD') },
  },
}

/** A new client with the mandates that collections need. */
async function open(list = 'collections'): Promise<Client> {
  const client = await newClient()
  if (list === 'mandates') return client
  const mandates = ['MND-0001', 'MND-0002'].map(mandateReference => mandate({ mandateReference }))
  for (const one of mandates) await client.control('POST', '/seed', { records: { mandates: [one] } })
  return client
}

/** Seeds records, the oldest first, each with changes of its own. */
async function add(client: Client, list: string, records: Record<string, object>) {
  const { record, reference } = lists[list] as List
  const all = Object.entries(records).map(([name, changes]) => ({ ...record, ...changes, [reference]: `REF-${name}` }))
  const { status, body } = await client.control('POST', '/seed', { records: { [list]: all } })
  if (status !== 200) throw new Error(body.message)
}

/** Sends a query. Returns the names on the page, the count and what is left, such as `C B of 3, more`, and a hint. */
const lister = (client: Client, list: string) => async (query: string | Record<string, string>) => {
  const { url, reference } = lists[list] as List
  const answer = await client.get(`${url}?${typeof query === 'string' ? query : new URLSearchParams(query)}`)
  if (answer.status !== 200) return gist(answer)
  const { data, totalCount, hasMore } = answer.body
  const hint = answer.headers['sandbox-hint']
  const names = data.map((row: Row) => row[reference].replace('REF-', '')).join(' ')
  return `${names} of ${totalCount}${hasMore ? ', more' : ''}${hint === undefined ? '' : `, hint: ${hint}`}`
}

const cursorAfter = async (client: Client, list: string, query = 'limit=2'): Promise<string> =>
  (await client.get(`${lists[list]?.url}?${query}`)).body.nextCursor

for (const [name, list] of Object.entries(lists)) {
  const { url, reference, time, members, filters, changes = {} } = list
  const isArray = (filter: string) => ['status', 'scheme'].includes(filter)

  t.test(`decisions §5: filters, order and pages of ${name} agree with naive filtering and slicing`, async t => {
    const client = await open(name)
    const empty = { totalCount: 0, hasMore: false, nextCursor: null, data: [] }
    t.match(await client.get(url), { status: 200, body: empty })
    const choices = fc.record(
      Object.fromEntries(Object.entries(members).map(([k, all]) => [k, fc.constantFrom(...all)])),
    )
    const drawn: Row[] = fc.sample(choices, { seed: 1, numRuns: 60 })
    const names = drawn.map((_, at) => `${1000 + at}`)
    await add(client, name, Object.fromEntries(drawn.map((one, at) => [names[at], one])))
    for (const [at, { status }] of drawn.entries()) {
      const change = at % 2 === 0 ? changes[status] : undefined
      if (change) t.equal((await change(client, `REF-${names[at]}`)).status, 200)
    }
    const rows: Row[] = (await client.get(`${url}?limit=500`)).body.data
    const sorted = names.map((one, at) => `${drawn[at]?.[time] ?? MONDAY} ${one}`).sort()
    t.same(
      pluck(rows, reference),
      sorted.reverse().map(text => `REF-${text.split(' ')[1]}`),
      'newest first, ties by later creation',
    )
    for (const row of name === 'accounts' ? [] : rows) {
      const { reasonCode, ...summary } = (await client.get(`${url}/${row[reference]}`)).body
      t.same(row, summary, 'the record without its reason code')
    }

    const query = fc.record(
      {
        limit: fc.integer({ min: 1, max: 9 }).map(String),
        ...Object.fromEntries(
          Object.entries(filters).map(([filter, [all]]) => [
            filter,
            isArray(filter) ? fc.subarray([...all], { minLength: 1 }).map(String) : fc.constantFrom(...all),
          ]),
        ),
      },
      { requiredKeys: [] },
    )
    const walk = async (parameters: Record<string, string>) => {
      const isIn = (row: Row) =>
        Object.entries(parameters).every(([filter, value]) => {
          const [, accepts] = filters[filter] ?? [[], () => true]
          return (isArray(filter) ? value.split(',') : [value]).some(one => accepts(row, one))
        })
      const all = rows.filter(isIn)
      const size = Number(parameters.limit ?? 100)
      let nextCursor: string | null = ''
      for (let start = 0; start === 0 || start < all.length; start += size) {
        const search = new URLSearchParams({ ...parameters, ...(nextCursor && { cursor: nextCursor }) })
        const { body }: Answer = await client.get(`${url}?${search}`)
        nextCursor = body.nextCursor
        const hasMore = start + size < all.length
        const page = { totalCount: all.length, hasMore, data: all.slice(start, start + size), nextCursor }
        if (JSON.stringify(body) !== JSON.stringify(page) || hasMore !== (typeof nextCursor === 'string')) return false
      }
      return true
    }
    await t.resolves(fc.assert(fc.asyncProperty(query, walk), { seed: 1, numRuns: 40 }))
  })

  t.test(`decisions §2, §5: a cursor of ${name} is a position of this list, whatever happens meanwhile`, async t => {
    const [client, other] = [await open(name), await open(name)]
    const status = Object.keys(changes)[0]
    const four = { 'AAA-1': { status }, 'AAA-2': { status }, 'AAA-3': { status }, 'AAA-4': { status } }
    for (const one of [client, other]) await add(one, name, four)
    const [cursor, one] = [await cursorAfter(client, name), await cursorAfter(client, name, 'limit=1')]
    const filtered = status ? await cursorAfter(client, name, `limit=2&status=${status}`) : cursor
    await add(client, name, { 'BBB-1': { status } })
    await client.advance({ by: 'P1D' })
    await add(client, name, { 'CCC-1': { status } })
    const change = status && changes[status]
    const rest = change ? 4 : 6
    if (change) for (const changed of ['AAA-3', 'AAA-4']) await change(client, `REF-${changed}`)
    const cut = [cursor.slice(0, -1), cursor.slice(1), `${cursor}A`, `A${cursor}`, `${cursor} `, cursor.repeat(2)]
    const made = ['x', '0', 'null', '=', '..', '%', 'x'.repeat(3000), cursor.toUpperCase()]
    const spoilt = [...cursor].map(
      (letter, at) => cursor.slice(0, at) + (letter === 'a' ? 'b' : 'a') + cursor.slice(at + 1),
    )
    const another = name === 'bills' ? 'accounts' : 'bills'
    await add(client, another, { 'AAA-1': {}, 'AAA-2': {} })
    const foreign = [await cursorAfter(client, another, 'limit=1'), await cursorAfter(other, name, 'limit=1')]
    await table(t, lister(client, name), {
      'AAA-2 AAA-1 of 6': [{ limit: '2', cursor }],
      'AAA-3 of 6, more': [{ limit: '1', cursor: one }],
      [`AAA-2 AAA-1 of ${rest}`]: [{ limit: '2', cursor: filtered, ...(status && { status }) }],
      [invalidQuery('cursor')]: ['cursor='],
      '400 INVALID_CURSOR cursor': [...made, ...cut, ...spoilt, ...foreign].map(wrong => ({ cursor: wrong })),
    })
  })
}

// ------------------------------------------------------------------------------------------- values of parameters

t.test('interface, Limits: limit is 1 to 500, 100 by default, and as many are given', async t => {
  const client = await open()
  await add(client, 'collections', Object.fromEntries(Array.from({ length: 501 }, (_, n) => [`${1000 + n}`, {}])))
  const given = async (query: string) => {
    const answer = await client.get(`${COLLECTIONS}?${query}`)
    if (answer.status !== 200) return answer
    const { data, totalCount, hasMore } = answer.body
    return `${data.length} of ${totalCount}, ${data[0].collectionReference}, more: ${hasMore}`
  }
  const last = await cursorAfter(client, 'collections', 'limit=500')
  const wrong = ['0', '501', '-1', '1.5', '1.0', 'ten', '1,2', ' 1', '1 ', '0x10', 'NaN', '9'.repeat(30), '', '1e1']
  await table(t, given, {
    '100 of 501, REF-1500, more: true': ['', 'limit=100'],
    '1 of 501, REF-1500, more: true': ['limit=1'],
    '500 of 501, REF-1500, more: true': ['limit=500'],
    '1 of 501, REF-1000, more: false': [`limit=500&cursor=${last}`],
    [invalidQuery('limit')]: [...wrong, '+5', '٥'].map(limit => `limit=${encodeURIComponent(limit)}`),
  })
})

t.test('decisions §1: array filters are taken in all their spellings, and duplicates count once', async t => {
  const client = await open()
  const states = ['PENDING', 'CANCELLED', 'REJECTED', 'SUBMITTED', 'PROCESSING']
  await add(client, 'collections', Object.fromEntries(states.map((status, at) => [`100${at}`, { status }])))
  await table(t, lister(client, 'collections'), {
    '1000 of 1': [
      ...['status=PENDING', 'status=PENDING,PENDING&status=PENDING', 'status[]=PENDING&status[]=PENDING'],
      ...[Array(100).fill('status=PENDING').join('&'), `status=${Array(500).fill('PENDING')}`],
    ],
    '1004 1000 of 2': [
      ...['status=PENDING,PROCESSING', 'status=PROCESSING%2CPENDING', 'status=PENDING&status=PROCESSING'],
      ...['status[]=PENDING&status[]=PROCESSING', 'status%5B%5D=PENDING&status%5b%5d=PROCESSING'],
      ...['status[0]=PENDING&status[1]=PROCESSING', 'status%5B0%5D=PENDING&status=PROCESSING'],
      ...['status[]=PENDING,PROCESSING', 'status=PENDING&scheme[]=SEPA&status=PROCESSING&scheme=SEPA,SEPA'],
    ],
    '1003 1002 1000 of 3': ['status=PENDING,REJECTED&status=SUBMITTED,SETTLED'],
    '1004 1003 1002 1001 1000 of 5': ['scheme=SEPA', 'scheme[]=SEPA&scheme[]=SEPA', 'scheme[0]=SEPA'],
    [invalidQuery('scheme')]: ['scheme=BACS', 'scheme=sepa', 'scheme=SEPA,BACS'],
  })
  await table(t, query => client.get(query), {
    [invalidQuery('type')]: ['mandates?type=RECURRING,ONE_OFF', 'bills?type=INVOICE,DEBIT_NOTE'].map(
      query => `/api/v1/${query}`,
    ),
  })
})

t.test('interface, GET /api/v1/direct-debit: references, times and amounts are compared as they are', async t => {
  const client = await open()
  const amounts = ['1', '4.34', '4.35', '4.36', '10', '10.00', '10.01', '100', '999999999.99']
  const references = ['x', 'a,b', 'a b&c=d/é?#+%', '€'.repeat(100)]
  const rows = amounts.map((amount, at) => [`200${at}`, { amount, debtorReference: references[at] }])
  await add(client, 'collections', Object.fromEntries(rows))
  const list = lister(client, 'collections')
  const last = (count: number) =>
    `${rows
      .slice(-count)
      .map(([name]) => name)
      .reverse()
      .join(' ')} of ${count}`
  const min = (...values: string[]) => values.map(amountMin => ({ amountMin }))
  const max = (...values: string[]) => values.map(amountMax => ({ amountMax }))
  const between = (amountMin: string, amountMax: string) => ({ amountMin, amountMax })
  await table(t, list, {
    ...Object.fromEntries(references.map((debtorReference, at) => [`200${at} of 1`, [{ debtorReference }]])),
    [last(9)]: [
      ...[...min('0.01', '1.00'), ...max('1e300'), { mandateReference: 'MND-0001' }],
      { initiatedFrom: '0001-01-01T00:00:00Z', initiatedTo: '9999-12-31T23:59:59Z' },
      ...[{ initiatedTo: '2028-02-29T23:59:59Z' }, `initiatedFrom=${MONDAY}`],
    ],
    [last(8)]: min('1.00000000000001'),
    [last(3)]: min('10.005'),
    [last(2)]: min('1e2'),
    [last(1)]: min('999999999.99'),
    '2002 of 1': [between('4.345', '4.355'), between('435e-2', '0.0435e2')],
    '2006 of 1': [between('10.0049999999999', '10.01')],
    '2007 of 1': [between('1E+2', '1000e-1')],
    '2005 2004 2003 2002 2001 2000 of 6': max('10.0099999999999'),
    '2007 2006 2005 2004 2003 2002 2001 2000 of 8': max('1e2', '999999999.98'),
    ' of 0': [
      ...[...min('999999999.991', '1e300'), ...max('0.01', '0.99'), between('10.0100000000001', '99')],
      // The minimum is below the maximum: it has no hint.
      ...[between('10.005', '10.009'), { initiatedTo: '2026-11-02T08:59:59Z' }],
      ...['X', 'a', 'x ', 'undefined', '€'.repeat(99)].map(debtorReference => ({ debtorReference })),
      ...['MND-1', 'M'.repeat(50), 'mnd-0001', 'MND-00011'].map(mandateReference => ({ mandateReference })),
    ],
  })
  const crossed = { initiatedFrom: '2026-11-02T09:00:01Z', initiatedTo: MONDAY }
  const bills = lister(client, 'bills')({ dueDateFrom: '2026-12-31', dueDateTo: '2026-12-30' })
  t.match(await bills, /^ of 0, hint: .*dueDateFrom.*dueDateTo/)
  t.match(await list(crossed), /^ of 0, hint: .*initiatedFrom.*initiatedTo/, 'decisions §1: legal, with a hint')
  for (const [from, to] of [['10.51', '10.50'] as const, ['10.01', '10.005'] as const])
    t.match(await list(between(from, to)), /^ of 0, hint: .*amountMin.*amountMax/)
})

t.test('interface, GET /api/v1/direct-debit: wrong values of parameters are refused by their names', async t => {
  const client = await newClient()
  // The tests of core/time have all other forms of times, and those of http/query the values of any parameter.
  const times = ['2026-11-02', '2026-11-02T09:00:00', '2026-11-02T09:00:00.000Z', '2026-02-30T09:00:00Z', 'yesterday']
  const amounts = ['0', '0.00', '0.009', '0.00999999999999', '9e-3', '1e-9', '-1', '-0.01', '-1e2', 'abc', 'NaN']
  amounts.push(
    'Infinity',
    '1e1000',
    '.5',
    '5.',
    '+5',
    '1,5',
    '1_000',
    '0x10',
    '1.5.5',
    '1e',
    'e5',
    '--1',
    ' 5',
    '5 ',
    '€5',
  )
  const wrong: Record<string, string[]> = {
    'direct-debit?mandateReference': ['MND1', 'M'.repeat(51), 'MND-0001,MND-0002', 'MND-0001\n', 'MÜD-0001'],
    'direct-debit?debtorReference': ['x'.repeat(101), '€'.repeat(101)],
    'direct-debit?initiatedFrom': times,
    'direct-debit?initiatedTo': times,
    'direct-debit?amountMin': amounts,
    'direct-debit?amountMax': amounts,
    'bills?counterpartyReference': ['abcd', 'x'.repeat(51)],
    'bills?dueDateFrom': ['2026-02-30'],
    'bills?dueDateTo': ['2026-12-01T00:00:00Z'],
    'accounts?currency': ['eur', 'CHF', 'EURO', 'EUR,USD'],
  }
  for (const [parameter, values] of Object.entries(wrong)) {
    const name = parameter.replace(/.*\?/, '')
    const right = { amountMin: 'a decimal number of at least 0.01', amountMax: 'a decimal number of at least 0.01' }[
      name
    ]
    const send = async (value: string) => {
      const answer = await client.get(`/api/v1/${parameter}=${encodeURIComponent(value)}`)
      const message = `${name} must be ${right}, not ${JSON.stringify(value)}.`
      return right === undefined || answer.body.message === message ? answer : answer.body.message
    }
    await table(t, send, { [invalidQuery(name)]: values })
  }
  await table(t, amountMin => client.get(`${COLLECTIONS}?amountMin=${amountMin}`), {
    200: ['0.01', '1e-2', '0.0100000000000001', '00.50', '1e300'],
  })
  const { message } = (await client.get('/api/v1/accounts?currency=CHF')).body
  t.match(message, /EUR.*CHF/, 'decisions §2: what would be right, and what was wrong')
})
