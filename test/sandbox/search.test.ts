import t from 'tap'
import { invalidQuery, table } from '../answers.js'
import type { Client } from '../helper.js'
import { bill, collection, MONDAY, mandate, newClient, payoutLink, pluck } from '../helper.js'

// control plane, GET /direct-debit and likewise the other kinds: records by a part of their reference, newest first.

const ACCOUNT = {
  ...{ accountReference: 'ACC-0001', accountHolderName: 'Acme GmbH', currency: 'EUR', balance: '100' },
  accountIdentifier: 'DE89370400440532013000',
}

interface Found {
  readonly region: string
  readonly createdAt: string
  readonly record: Record<string, unknown>
}

const search = async (client: Client, path: string, query = '') => {
  const body = await client.read(`/${path}?${query}`)
  return body as { data: Found[]; nextCursor: string | null }
}

const REFERENCE: Record<string, string> = {
  'direct-debit': 'collectionReference',
  mandates: 'mandateReference',
  'payout-links': 'payoutLinkId',
  bills: 'uniqueReferenceIdentifier',
  counterparties: 'counterpartyReference',
  accounts: 'accountReference',
}
const references = async (client: Client, path: string, query = '') =>
  (await search(client, path, query)).data.map(({ record }) => record[REFERENCE[path] as string])

/** One record of each kind, and of some kinds in two regions. */
async function stock(): Promise<Client> {
  const client = await newClient()
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/direct-debit', collection())
  await client.post('/api/v1/payout-links', payoutLink())
  await client.post('/api/v1/bills', bill())
  await client.post('/api/v1/bills', bill({ currency: 'GBP' }), { region: 'UK' })
  await client.control('POST', '/seed', { records: { accounts: [ACCOUNT] } })
  return client
}

t.test('control plane, GET /direct-debit: each kind has region, time of creation and the record', async t => {
  const client = await stock()
  for (const [path, reference] of Object.entries(REFERENCE)) {
    const { data, nextCursor } = await search(client, path)
    t.equal(nextCursor, null, path)
    for (const { region, createdAt, record } of data) {
      t.equal(createdAt, MONDAY, path)
      t.match(region, /^(EU|UK)$/, path)
      t.type(record[reference], 'string', path)
    }
  }
  const [found] = (await search(client, 'direct-debit')).data
  t.same(found?.record, (await client.read('/direct-debit/COL-0001')).record)
  const [link] = (await search(client, 'payout-links')).data
  t.notOk(link?.record.url, 'a payout link has no url')
})

t.test('control plane, GET /bills: all regions, newest first, or one region', async t => {
  const client = await stock()
  const regions = async (query = '') => pluck((await search(client, 'bills', query)).data, 'region')
  t.same(await regions(), ['UK', 'EU'])
  t.same(await regions('region=EU'), ['EU'])
  t.same(await regions('region=US'), [])
  const earlier = bill({ currency: 'USD', createdAt: '2020-01-01T00:00:00Z' })
  await client.control('POST', '/seed', { records: { bills: [earlier] } })
  t.same(await regions(), ['UK', 'EU', 'US'], 'by the time of creation')
})

t.test('control plane, GET /mandates: a part of the reference, in any case, and a state', async t => {
  const client = await newClient()
  for (const mandateReference of ['MND-Alpha', 'MND-BETA', 'MND-alphabet'])
    await client.post('/api/v1/mandates', mandate({ mandateReference }))
  await client.control('POST', '/mandates/MND-alphabet/cancel')
  const rows: [query: string, expected: string[]][] = [
    ['', ['MND-alphabet', 'MND-BETA', 'MND-Alpha']],
    ['search=ALPHA', ['MND-alphabet', 'MND-Alpha']],
    ['search=MND-BETA', ['MND-BETA']],
    ['search=bet', ['MND-alphabet', 'MND-BETA']],
    ['search=nothing', []],
    ['search=%25', []],
    ['search=.*', []],
    ['status=CANCELLED', ['MND-alphabet']],
    ['search=alpha&status=ACTIVE', ['MND-Alpha']],
    ['status=EXPIRED', []],
  ]
  for (const [query, expected] of rows) t.same(await references(client, 'mandates', query), expected, query)
})

t.test('control plane, GET /mandates: pages follow each other while records are added', async t => {
  const client = await newClient()
  const created = Array.from({ length: 120 }, (_, at) => `MND-${1000 + at}`)
  const mandates = created.map(mandateReference => mandate({ mandateReference }))
  await client.control('POST', '/seed', { records: { mandates } })
  const newest = [...created].reverse()
  const first = await search(client, 'mandates')
  t.equal(first.data.length, 50, 'a page has at most 50 records')
  await client.post('/api/v1/mandates', mandate({ mandateReference: 'MND-NEW' }))
  const second = await search(client, 'mandates', `cursor=${first.nextCursor}`)
  const third = await search(client, 'mandates', `cursor=${second.nextCursor}`)
  t.same(
    [first, second, third].flatMap(({ data }) => data.map(({ record }) => record.mandateReference)),
    newest,
  )
  t.equal(third.nextCursor, null)
  t.same(await references(client, 'mandates', 'limit=2&search=MND-10'), ['MND-1099', 'MND-1098'])
  t.equal((await search(client, 'mandates', 'limit=20&search=MND-111')).nextCursor, null)
  const exact = await search(client, 'mandates', 'limit=10&search=MND-111')
  t.same([exact.data.length, exact.nextCursor], [10, null], 'the last page is exactly full')
})

t.test('control plane, GET /payout-links: a search is no request of the app, and changes nothing', async t => {
  const client = await stock()
  const before = await client.read('/state')
  const log = await client.read('/requests')
  for (const path of Object.keys(REFERENCE)) await search(client, path, 'search=0001')
  t.same(await client.read('/state'), before)
  t.same(await client.read('/requests'), log)
})

t.test('control plane, GET /direct-debit: parameters are checked', async t => {
  const client = await stock()
  await client.post('/api/v1/direct-debit', collection({ collectionReference: 'COL-0002' }))
  const { nextCursor } = await search(client, 'direct-debit', 'limit=1')
  await table(t, query => client.control('GET', `/direct-debit?${query}`), {
    200: ['limit=1', 'limit=50', `cursor=${nextCursor}`, `search=${'x'.repeat(128)}`, 'search=%00'],
    [invalidQuery('limit')]: ['limit=0', 'limit=51', 'limit=1.5', 'limit='],
    [invalidQuery('search')]: ['search=', `search=${'x'.repeat(129)}`],
    [invalidQuery('status')]: ['status=ACTIVE', 'status=', 'status=pending'],
    [invalidQuery('region')]: ['region=GB', 'region='],
    [invalidQuery('cursor')]: ['cursor='],
    '400 INVALID_CURSOR cursor': [`cursor=${nextCursor}x`, 'cursor=a.b.c'],
    [invalidQuery('mandateReference')]: ['mandateReference=MND-0001'],
  })
  await table(t, path => client.control('GET', path), {
    '400 INVALID_CURSOR cursor': [`/mandates?cursor=${nextCursor}`],
    [invalidQuery('status')]: ['/accounts?status=ACTIVE', '/counterparties?status=ACTIVE'],
  })
})
