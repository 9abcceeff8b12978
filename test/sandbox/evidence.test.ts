import t from 'tap'
import { build, call, collection, connect, MONDAY, mandate, newClient } from '../helper.js'

const TEXT = { headers: { accept: 'text/plain' } }

t.test(
  'control plane, GET /evidence: requests, events, and the explanations of the records that requests mention',
  async t => {
    const client = await newClient()
    await client.control('POST', '/seed', { records: { mandates: [mandate({ mandateReference: 'MND-UNSEEN' })] } })
    await client.post('/api/v1/mandates', mandate())
    await client.post('/api/v1/direct-debit', collection())
    const { summary, ...evidence } = await client.read('/evidence')
    t.match(evidence, { clientId: client.clientId, now: MONDAY })
    t.same(evidence.requests, (await client.read('/requests')).data)
    t.same(evidence.events, (await client.read('/events')).data)
    t.same(evidence.records, [
      { kind: 'collection', reference: 'COL-0001', ...(await client.read('/direct-debit/COL-0001')) },
      { kind: 'mandate', reference: 'MND-0001', ...(await client.read('/mandates/MND-0001')) },
    ])
    t.notMatch(JSON.stringify(evidence), /"secret"/, 'it has no secret')
    const unknown = await call(client.app, 'GET', '/_sandbox/evidence?client=nobody')
    t.match(unknown, { status: 404, body: { code: 'CLIENT_NOT_FOUND' } })
  },
)

t.test('control plane, GET /evidence: a request that prefers text/plain gets the summary alone', async t => {
  const app = build(t)
  const client = await connect(app)
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/direct-debit', collection())
  await client.post('/api/v1/direct-debit', collection())
  const url = `/_sandbox/evidence?client=${client.clientId}`
  const { payload, headers } = await app.inject({ url, ...TEXT })
  t.match(headers, { 'content-type': 'text/plain; charset=utf-8', vary: /accept/ })
  t.equal(payload, (await client.read('/evidence')).summary)
  t.equal(
    payload,
    `Client ${client.clientId}, ${MONDAY}, the clock is frozen

Last failure
  #4 POST /api/v1/direct-debit -> 409 DUPLICATE_REFERENCE
  collectionReference: "COL-0001" is taken already.

Requests
  #1 POST /api/v1/oauth/token -> 200
  #2 POST /api/v1/mandates -> 201
  #3 POST /api/v1/direct-debit -> 201
  #4 POST /api/v1/direct-debit -> 409 DUPLICATE_REFERENCE

Transitions
  ${MONDAY} mandate MND-0001: new -> ACTIVE, by api
  ${MONDAY} collection COL-0001: new -> PENDING, by api

Records
  collection COL-0001 is PENDING
  mandate MND-0001 is ACTIVE

Next
  2026-11-05T15:00:00Z collection COL-0001 becomes SUBMITTED
  2029-11-02T09:00:00Z mandate MND-0001 becomes EXPIRED
  The clock is frozen: advance it, so that they happen.
`,
  )
  for (const accept of ['*/*', 'application/json', 'image/png', 'application/json, text/plain;q=0.5']) {
    t.match((await app.inject({ url, headers: { accept } })).headers['content-type'], /^application\/json/, accept)
  }
})

t.test('control plane, GET /evidence: a lost answer, an empty client, and long lists', async t => {
  const app = build(t)
  const client = await connect(app)
  await client.control('DELETE', '/requests')
  const text = async () => (await app.inject({ url: `/_sandbox/evidence?client=${client.clientId}`, ...TEXT })).payload
  t.match(
    await text(),
    /Last failure\n {2}none\n\nRequests\n {2}none\n\nTransitions\n {2}none\n\nRecords\n {2}none\n\nNext\n {2}none\n$/,
  )
  await client.control('POST', '/faults', { effect: { kind: 'drop', when: 'after' } })
  await client.get('/api/v1/mandates').catch(() => {})
  t.match(await text(), /Last failure\n {2}#2 GET \/api\/v1\/mandates -> no answer\n {2}fault-1 fired: drop\n/)
  const references = Array.from({ length: 25 }, (_, at) => `MND-${100 + at}`)
  const mandates = references.map(mandateReference => mandate({ mandateReference }))
  await client.control('POST', '/seed', { records: { mandates } })
  await client.get('/api/v1/mandates')
  t.match(await text(), /Transitions: the latest 20 of 25\n/)
  const { records } = await client.read('/evidence')
  t.same(
    records.map(({ reference }: { reference: string }) => reference).sort(),
    references.slice(-20),
    'the records with the latest events',
  )
})
