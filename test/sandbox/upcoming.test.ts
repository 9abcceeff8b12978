import t from 'tap'
import { invalidQuery, table } from '../answers.js'
import type { Client } from '../helper.js'
import { collection, mandate, newClient, payoutLink, pluck } from '../helper.js'

// control plane, GET /upcoming: the due work of a client, in order.

interface Upcoming {
  readonly at: string
  readonly kind: string
  readonly reference: string
  readonly to: string
  readonly cause: string
}

const upcoming = (client: Client, query = ''): Promise<{ data: Upcoming[]; nextCursor: string | null }> =>
  client.read(`/upcoming?${query}`)
const line = ({ at, kind, reference, to, cause }: Upcoming) => `${at} ${kind} ${reference} ${to} ${cause}`

async function stock(): Promise<Client> {
  const client = await newClient()
  await client.post('/api/v1/mandates', mandate())
  return client
}

const collect = (client: Client, collectionReference: string, debtorReference?: string) =>
  client.post('/api/v1/direct-debit', collection({ collectionReference, debtorReference }))

t.test('control plane, GET /upcoming: each scheduled transition with all its members, in order', async t => {
  const client = await stock()
  await collect(client, 'COL-0001')
  const link = await client.post('/api/v1/payout-links', payoutLink({ expiryPeriod: 'P1D' }))
  const same = { region: 'EU', cause: 'time' }
  const reference = link.body.payoutLinkId
  t.same(await upcoming(client), {
    data: [
      { ...same, at: '2026-11-03T09:00:00Z', kind: 'payoutLink', reference, from: 'ACTIVE', to: 'EXPIRED' },
      {
        ...same,
        at: '2026-11-05T15:00:00Z',
        kind: 'collection',
        reference: 'COL-0001',
        from: 'PENDING',
        to: 'SUBMITTED',
      },
      { ...same, at: '2029-11-02T09:00:00Z', kind: 'mandate', reference: 'MND-0001', from: 'ACTIVE', to: 'EXPIRED' },
    ],
    nextCursor: null,
  })
})

t.test('control plane, GET /upcoming: outcomes and mandates steer it as they steer the explanation', async t => {
  const client = await stock()
  await collect(client, 'COL-0001', 'SIM-CANCELLED')
  await collect(client, 'COL-0002', 'SIM-STUCK-PENDING')
  await client.control('POST', '/outcomes', { outcome: 'CANCELLED' })
  await collect(client, 'COL-0003')
  await collect(client, 'COL-0004')
  await client.control('PUT', '/direct-debit/COL-0004/outcome', { outcome: 'CANCELLED' })
  const { data } = await upcoming(client)
  t.same(data.map(line), [
    '2026-11-05T15:00:00Z collection COL-0001 CANCELLED outcome',
    '2026-11-05T15:00:00Z collection COL-0003 CANCELLED outcome',
    '2026-11-05T15:00:00Z collection COL-0004 CANCELLED outcome',
    '2029-11-02T09:00:00Z mandate MND-0001 EXPIRED time',
  ])
  for (const { reference, at, to } of data.slice(0, -1)) {
    t.match((await client.read(`/direct-debit/${reference}`)).next, { at, to })
  }
})

t.test('control plane, GET /upcoming: a collection of a mandate that has expired will fail', async t => {
  const client = await stock()
  await collect(client, 'COL-0001')
  await client.control('POST', '/mandates/MND-0001/expire')
  t.same((await upcoming(client)).data.map(line), ['2026-11-05T15:00:00Z collection COL-0001 FAILED time'])
})

t.test('control plane, GET /upcoming: it is what an advance then does, in the same order', async t => {
  const client = await stock()
  for (const reference of ['COL-0003', 'COL-0001', 'COL-0002']) await collect(client, reference)
  const { data } = await upcoming(client, 'limit=3')
  const { transitions } = (await client.advance({ to: '2026-11-05T15:00:00Z' })).body
  t.same(pluck(transitions, 'reference'), pluck(data, 'reference'))
  t.notOk(
    (await upcoming(client)).data.some(({ to }) => to === 'SUBMITTED'),
    'what has happened is not due',
  )
})

t.test('control plane, GET /upcoming: pages follow each other, also while time passes', async t => {
  const client = await stock()
  const references = Array.from({ length: 25 }, (_, at) => `COL-${1000 + at}`)
  for (const reference of references) await collect(client, reference)
  const first = await upcoming(client)
  t.equal(first.data.length, 20, 'the default')
  const second = await upcoming(client, `limit=3&cursor=${first.nextCursor}`)
  t.same(pluck([...first.data, ...second.data], 'reference'), references.slice(0, 23))
  t.equal((await upcoming(client, 'limit=26')).nextCursor, null, 'the last page is exactly full')
  t.not((await upcoming(client, 'limit=25')).nextCursor, null)
  await client.advance({ to: '2026-11-05T15:00:00Z' })
  const rest = await upcoming(client, `limit=100&cursor=${second.nextCursor}`)
  t.equal(rest.data.length, 26, 'the later transitions of all records')
  t.equal(rest.nextCursor, null)
})

t.test('control plane, GET /upcoming: nothing is due, and clients are separate', async t => {
  await stock()
  t.same(await upcoming(await newClient()), { data: [], nextCursor: null })
})

t.test('control plane, GET /upcoming: limit and cursor are checked', async t => {
  const client = await stock()
  await collect(client, 'COL-0001')
  const { nextCursor } = await upcoming(client, 'limit=1')
  await collect(client, 'COL-0002')
  const other = (await client.read('/direct-debit?limit=1')).nextCursor
  await table(t, query => client.control('GET', `/upcoming?${query}`), {
    200: ['limit=1', 'limit=100', `cursor=${nextCursor}`],
    [invalidQuery('limit')]: ['limit=0', 'limit=101', 'limit=-1', 'limit=1.5', 'limit=ten', 'limit='],
    [invalidQuery('cursor')]: ['cursor='],
    '400 INVALID_CURSOR cursor': ['x', `${nextCursor}x`, '0.0.', other].map(text => `cursor=${text}`),
    [invalidQuery('kind')]: ['kind=mandate'],
  })
})
