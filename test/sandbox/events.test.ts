import t, { type Test } from 'tap'
import type { Event } from '../../src/core/records/events.js'
import { holds } from '../answers.js'
import type { BuildOptions, Client } from '../helper.js'
import { bill, build, collection, connect, MONDAY, mandate, newClient, payoutLink, pluck } from '../helper.js'
import { manualTime } from '../manual-time.js'

// control plane, GET /events: the tenant's state changes, in order, numbered; `wait` long-polls for the next.

/** A server whose real time is moved by hand. */
function timed(t: Test, options: BuildOptions = {}) {
  const time = manualTime()
  const app = build(t, { now: time.now, timers: time.timers, ...options })
  return { app, time }
}

const events = (client: Client, query = '') => client.read(`/events${query}`)
const seqs = ({ data }: { data: Event[] }): number[] => pluck(data, 'seq')
const upTo = (count: number) => Array.from({ length: count }, (_, at) => at + 1)

/** Puts so many events into a tenant, by way of its state. */
async function fill(client: Client, count: number, change: (seq: number) => Partial<Event> = () => ({})) {
  const body = await client.read('/state')
  const event = { at: MONDAY, kind: 'mandate', from: null, to: 'ACTIVE', cause: 'api' }
  body.events = upTo(count).map(seq => ({ seq, ...event, reference: `MND-${seq}`, ...change(seq) }))
  const answer = await client.control('PUT', '/state', body)
  if (answer.status !== 200) throw new Error(answer.body.message)
}

// ------------------------------------------------------------------------------------------------------------ at once

t.test('control plane, GET /events: events in order, each with its cause', async t => {
  const client = await newClient()
  t.same(await events(client), { data: [], last: 0 })
  await client.post('/api/v1/mandates', mandate())
  const rejected = collection({ debtorReference: 'SIM-REJECTED-AC01' })
  await client.post('/api/v1/direct-debit', rejected)
  const { payoutLinkId } = (await client.post('/api/v1/payout-links', payoutLink({ expiryPeriod: 'PT10M' }))).body
  await client.post('/api/v1/bills', bill())
  await client.control('POST', '/mandates/MND-0001/cancel')
  await client.advance({ by: 'PT10M' })
  await client.control('POST', '/seed', {
    records: {
      mandates: [mandate({ mandateReference: 'MND-0002' })],
      collections: [{ ...rejected, collectionReference: 'COL-2', mandateReference: 'MND-0002' }],
    },
  })
  await client.advance({ by: 'P5D' })
  const lines: string[] = (await events(client)).data.map(({ seq, at, kind, reference, ...rest }: Event) => {
    const { from, to, cause, reasonCode } = rest
    return [seq, at, kind, reference, from ?? '-', to, cause, reasonCode ?? ''].join(' ').trim()
  })
  const later = '2026-11-02T09:10:00Z'
  t.same(lines, [
    `1 ${MONDAY} mandate MND-0001 - ACTIVE api`,
    `2 ${MONDAY} collection COL-0001 - PENDING api`,
    `3 ${MONDAY} payoutLink ${payoutLinkId} - ACTIVE api`,
    `4 ${MONDAY} bill INV-2026-001 - OPEN api`,
    `5 ${MONDAY} mandate MND-0001 ACTIVE CANCELLED control`,
    `6 ${MONDAY} collection COL-0001 PENDING CANCELLED control`,
    `7 ${later} payoutLink ${payoutLinkId} ACTIVE EXPIRED time`,
    `8 ${later} mandate MND-0002 - ACTIVE seed`,
    `9 ${later} collection COL-2 - PENDING seed`,
    '10 2026-11-05T15:00:00Z collection COL-2 PENDING SUBMITTED time',
    '11 2026-11-06T08:00:00Z collection COL-2 SUBMITTED REJECTED outcome AC01',
  ])
})

t.test('control plane, GET /events: after, kind and reference', async t => {
  const client = await newClient()
  for (const mandateReference of ['MND-0001', 'MND-0002'])
    await client.post('/api/v1/mandates', mandate({ mandateReference }))
  await client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: 'MND-0001' }))
  await client.delete('/api/v1/mandates/MND-0001')
  const numbers: Record<string, number[]> = {
    '?after=0': [1, 2, 3, 4],
    '?after=2': [3, 4],
    '?after=4': [],
    '?after=999999999999999': [],
    '?kind=mandate': [1, 2, 4],
    '?kind=bill': [3],
    '?kind=payoutLink': [],
    '?reference=MND-0001': [1, 3, 4],
    '?reference=MND-000': [],
    '?reference=mnd-0001': [],
    '?kind=mandate&reference=MND-0001': [1, 4],
    '?kind=mandate&reference=MND-0001&after=1': [4],
    '?wait=0': [1, 2, 3, 4],
    '?wait=60': [1, 2, 3, 4],
    '?wait=60&after=3': [4],
  }
  const cases = Object.entries(numbers).map(([query, seqs]) => [query, `${seqs}, last 4`] as const)
  await holds(t, cases, async query => {
    const answer = await events(client, query)
    return `${seqs(answer)}, last ${answer.last}`
  })
})

t.test('control plane, GET /events: 1,000 at a time, of those that the filters let through', async t => {
  const client = await newClient()
  await fill(client, 1000)
  t.match(await events(client), { data: { length: 1000 }, last: 1000 })
  await fill(client, 2600, seq => ({ kind: seq % 2 === 0 ? 'bill' : 'mandate' }))
  const pages = [await events(client), await events(client, '?after=1000'), await events(client, '?after=2000')]
  t.same(pluck(pages, 'last'), [1000, 2000, 2600])
  t.same(pages.flatMap(seqs), upTo(2600), 'a client that goes on after `last` gets all, once')
  t.same(await events(client, '?after=2600'), { data: [], last: 2600 })
  const first = await events(client, '?kind=bill')
  t.same([first.data.length, first.last], [1000, 2000])
  const rest = await events(client, '?kind=bill&after=2000')
  t.same([rest.data.length, rest.data.at(-1).seq, rest.last], [300, 2600, 2600])
  t.equal((await events(client, '?kind=mandate&after=2000')).last, 2600, 'the last of all, not of these')
})

t.test('control plane, GET /events: events that have become due are in the answer', async t => {
  const { app, time } = timed(t, { clock: 'real' })
  const client = await connect(app)
  await client.post('/api/v1/payout-links', payoutLink({ expiryPeriod: 'PT10M' }))
  time.pass(599_999)
  t.equal((await events(client)).last, 1)
  time.pass(1)
  t.match((await events(client, '?after=1')).data, [{ to: 'EXPIRED', at: '2026-11-02T09:10:00Z' }])
})
