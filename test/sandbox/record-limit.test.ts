import t from 'tap'
import { DEFAULT_BOUNDS } from '../../src/bounds.js'
import { gist, refused } from '../answers.js'
import { bill, build, call, collection, connect, mandate, payoutLink } from '../helper.js'

const full = [409, 'RECORD_LIMIT_REACHED', null] as const

t.test('settings, SANDBOX_MAX_RECORDS: records of every kind count, up to the limit', async t => {
  const app = build(t, { maxRecords: 5 })
  const client = await connect(app)
  const create = async (path: string, body: object, status = 201) =>
    t.equal((await client.post(`/api/v1/${path}`, body)).status, status, path)
  await create('mandates', mandate())
  await create('direct-debit', collection())
  await create('payout-links', payoutLink())
  // Its counterparty comes with it.
  await create('bills', bill())
  const requests = {
    mandates: mandate({ mandateReference: 'MND-0002' }),
    'direct-debit': collection({ collectionReference: 'COL-0002' }),
    'payout-links': payoutLink(),
    bills: bill({ uniqueReferenceIdentifier: 'INV-0002' }),
  }
  for (const [path, body] of Object.entries(requests)) {
    const answer = await client.post(`/api/v1/${path}`, body)
    refused(t, answer, ...full)
    t.match(answer.body.message, 'SANDBOX_MAX_RECORDS')
  }
  const other = await connect(app, 'other')
  t.equal((await other.post('/api/v1/mandates', mandate())).status, 201, 'each client has its own records')
  await client.control('POST', '/reset')
  t.equal((await client.control('POST', '/seed', { records: { mandates: [mandate()] } })).status, 200)
})

t.test('settings, SANDBOX_MAX_RECORDS: a bill without room for its counterparty leaves nothing', async t => {
  const client = await connect(build(t, { maxRecords: 1 }))
  refused(t, await client.post('/api/v1/bills', bill()), ...full)
  t.equal((await client.post('/api/v1/mandates', mandate())).status, 201)
})

t.test('settings, SANDBOX_MAX_RECORDS: a seed and a state above it are 413, and change nothing', async t => {
  const client = await connect(build(t, { maxRecords: 3 }))
  const mandates = ['A', 'B', 'C', 'D'].map(letter => mandate({ mandateReference: `MND-000${letter}` }))
  const seed = (records: object) => client.control('POST', '/seed', { records })
  t.match(gist(await seed({ mandates })), '413 PAYLOAD_TOO_LARGE null')
  t.match(gist(await seed({ mandates: mandates.slice(0, 2), bills: [bill()] })), '413 PAYLOAD_TOO_LARGE null')
  t.equal((await client.get('/api/v1/mandates')).body.totalCount, 0)
  t.equal((await seed({ mandates: mandates.slice(0, 3) })).status, 200)

  const large = await connect(build(t, { maxRecords: 4 }))
  await large.control('POST', '/seed', { records: { mandates } })
  const state = (await large.control('GET', '/state')).body
  const answer = await client.control('PUT', '/state', state)
  t.match(gist(answer), '413 PAYLOAD_TOO_LARGE null')
  t.match(answer.body.message, 'SANDBOX_MAX_RECORDS')
  t.equal((await client.get('/api/v1/mandates')).body.totalCount, 3)
  t.equal((await large.control('PUT', '/state', state)).status, 200)
})

t.test('settings, SANDBOX_STATE_BYTES: a state at the limit of records can be put back', async t => {
  // The size grows with the number of records. TEST_LONG=1 has as many as the limit allows.
  const parts = process.env.TEST_LONG === '1' ? 1 : 16
  const app = build(t, { maxRecords: DEFAULT_BOUNDS.maxRecords / parts, stateBytes: DEFAULT_BOUNDS.stateBytes / parts })
  const client = await connect(app)
  await client.control('POST', '/seed', { records: { mandates: [mandate()] } })
  const count = DEFAULT_BOUNDS.maxRecords / parts - 1
  const [debtorName, collectionDate] = ['N'.repeat(70), '2026-11-20']
  for (let at = 0; at < count; at += 1000) {
    const collections = Array.from({ length: Math.min(1000, count - at) }, (_, n) =>
      collection({ collectionReference: `COL-${at + n}`, debtorName, collectionDate }),
    )
    t.equal((await client.control('POST', '/seed', { records: { collections } })).status, 200)
  }
  // Each of them has four events then.
  await client.control('POST', '/clock/advance', { by: 'P30D' })
  const { payload } = await app.inject('/_sandbox/state?client=acme')
  const put = await client.control('PUT', '/state', payload)
  t.match(put, { status: 200, body: { counts: { mandates: 1, collections: count } } })
  refused(t, await client.control('POST', '/direct-debit/COL-1/submit'), 409, 'ILLEGAL_TRANSITION', null)
  t.equal((await call(app, 'GET', '/_sandbox/upcoming?client=acme')).status, 200)
})
