import t from 'tap'
import { refused } from '../answers.js'
import { bill, build, call, collection, connect, mandate, newClient, payoutLink, pluck } from '../helper.js'

t.test('control plane, GET /search: all kinds by a reference, a name or another text, newest first', async t => {
  const { post, control } = await newClient()
  await post('/api/v1/mandates', mandate())
  const search = async (q: string, more = '') =>
    (await control('GET', `/search?q=${encodeURIComponent(q)}${more}`)).body
  t.match(await search('mnd-0001'), {
    total: 1,
    data: [{ kind: 'mandate', region: 'EU', record: { mandateReference: 'MND-0001' } }],
  })
  t.match(await search('JANE'), { total: 1 }, 'a name, in any case')
  t.same(await search('nobody at all'), { data: [], total: 0 })
  await post('/api/v1/bills', bill())
  await post('/api/v1/payout-links', payoutLink())
  const all = await search('eur', '&limit=2')
  t.ok(all.total >= 3 && all.data.length === 2, 'the total counts those beyond the limit')
  refused(t, await control('GET', '/search'), 400, 'MISSING_FIELD', 'q')
})

t.test('control plane, GET /mandates: a search finds names, and the total counts all pages', async t => {
  const { post, control } = await newClient()
  for (const number of [1, 2, 3]) await post('/api/v1/mandates', mandate({ mandateReference: `MND-000${number}` }))
  const { body } = await control('GET', '/mandates?search=doe&limit=2')
  t.same([body.data.length, body.total], [2, 3])
  const next = (await control('GET', `/mandates?search=doe&limit=2&cursor=${body.nextCursor}`)).body
  t.same([next.data.length, next.total, next.nextCursor], [1, 3, null])
  t.equal((await control('GET', '/mandates')).body.total, 3)
  t.equal((await control('GET', '/mandates?status=FAILED')).body.total, 0)
})

t.test('control plane, POST /clock/advance: a dry run answers the same, and nothing has happened', async t => {
  const { post, control } = await newClient()
  await post('/api/v1/mandates', mandate())
  await post('/api/v1/direct-debit', collection({ debtorReference: 'SIM-RETURNED-AM04' }))
  const before = (await control('GET', '/state')).body
  const dry = (await control('POST', '/clock/advance', { by: 'P30D', dryRun: true })).body
  t.same((await control('GET', '/state')).body, before)
  t.equal(dry.transitions.length, 4)
  t.same((await control('POST', '/clock/advance', { by: 'P30D' })).body, dry)
  refused(
    t,
    await control('POST', '/clock/advance', { to: '2020-01-01T00:00:00Z', dryRun: true }),
    400,
    'INVALID_FIELD',
    'to',
  )
})

t.test('control plane, GET /requests: a request has the records that it names, and its real time', async t => {
  const { post, get, control } = await newClient()
  await post('/api/v1/mandates', mandate())
  await post('/api/v1/direct-debit', collection())
  await get('/api/v1/direct-debit')
  await get('/api/v1/mandates/MND-0404')
  await post('/api/v1/direct-debit', collection({ amount: 'wrong' }))
  const { data } = (await control('GET', '/requests?path=/api/v1/*')).body
  const [, created, collected, list, missing, invalid] = data
  const both = [
    { kind: 'collection', reference: 'COL-0001' },
    { kind: 'mandate', reference: 'MND-0001' },
  ]
  const byKind = (records: { kind: string }[]) => [...records].sort((one, other) => (one.kind < other.kind ? -1 : 1))
  t.same(created.records, [{ kind: 'mandate', reference: 'MND-0001' }])
  t.same(byKind(collected.records), both)
  t.same(list.records, [], 'a list names none')
  t.same(missing.records, [{ kind: 'mandate', reference: 'MND-0404' }])
  t.same(byKind(invalid.records), both, 'a refused one has those that it named')
  t.match(created.receivedAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  const named = (await control('GET', '/requests?reference=COL-0001')).body.data
  t.same(pluck(named, 'seq'), [collected.seq, invalid.seq])
  const seqs = async (query: string) => pluck((await control('GET', `/requests?${query}`)).body.data, 'status')
  t.same([...new Set(await seqs('status=4xx'))].sort(), [400, 404])
  refused(t, await control('GET', '/requests?status=4x'), 400, 'INVALID_QUERY_PARAMETER', 'status')
})

t.test('decisions §12: events tell the API, a scenario and the console apart', async t => {
  const { app, clientId, post, control } = await newClient()
  await post('/api/v1/mandates', mandate())
  const headers = { 'sandbox-sender': 'console' }
  const asConsole = (path: string) => call(app, 'POST', `/_sandbox${path}?client=${clientId}`, { headers, body: {} })
  await post('/api/v1/direct-debit', collection(), { headers })
  await asConsole('/direct-debit/COL-0001/submit')
  await control('POST', '/direct-debit/COL-0001/process', {})
  await asConsole('/scenarios/mandate-active')
  const { data } = (await control('GET', '/events')).body
  t.same(
    data.map(({ to, cause }: { to: string; cause: string }) => `${to} ${cause}`),
    ['ACTIVE api', 'PENDING console', 'SUBMITTED console', 'PROCESSING control', 'ACTIVE scenario'],
  )
  const last = (await control('GET', '/requests?limit=1')).body.data
  t.match(last, [{ headers }], 'the log keeps the sender')
  const latest = (await control('GET', '/events?limit=2')).body
  t.same([pluck(latest.data, 'seq'), latest.last], [[4, 5], 5])
})

t.test('control plane, Explain the state of a record: the forecast goes to the end, with the outcome', async t => {
  const { post, control } = await newClient()
  await post('/api/v1/mandates', mandate())
  await post('/api/v1/direct-debit', collection({ debtorReference: 'SIM-RETURNED-AM04' }))
  const explain = async () => (await control('GET', '/direct-debit/COL-0001')).body
  const { forecast, next, outcomes } = await explain()
  t.same(pluck(forecast, 'to'), ['SUBMITTED', 'PROCESSING', 'SETTLED', 'RETURNED'])
  t.match(forecast.at(-1), { cause: 'outcome', reasonCode: 'AM04' })
  t.match(forecast[0], next)
  t.ok(pluck(outcomes, 'outcome').includes('STUCK-PROCESSING'))
  const { transitions } = (await control('POST', '/clock/advance', { by: 'P30D', dryRun: true })).body
  t.same(pluck(transitions, 'at'), pluck(forecast, 'at'), 'time does the same')
  t.equal((await control('PUT', '/direct-debit/COL-0001/outcome', { outcome: null })).status, 200)
  t.same(pluck((await explain()).forecast, 'to'), ['SUBMITTED', 'PROCESSING', 'SETTLED'], 'none is an outcome, too')
  const { payoutLinkId } = (await post('/api/v1/payout-links', payoutLink())).body
  for (const outcome of ['FAILED', null]) {
    const { body } = await control('PUT', `/payout-links/${payoutLinkId}/outcome`, { outcome })
    t.equal(body.record.outcome ?? null, outcome)
  }
  refused(
    t,
    await control('PUT', '/direct-debit/COL-0001/outcome', { outcome: 'NOTHING' }),
    400,
    'INVALID_FIELD',
    'outcome',
  )
})

t.test('control plane, POST /tokens: a token without the secret is valid, in no log, and meets no fault', async t => {
  const client = await newClient()
  await client.control('POST', '/faults', { effect: { kind: 'error', status: 503 } })
  const before = (await client.control('GET', '/requests')).body.last
  const { status, body } = await client.control('POST', '/tokens')
  t.match([status, body], [200, { token_type: 'Bearer', expires_in: 3600 }])
  t.equal((await client.control('GET', '/requests')).body.last, before)
  await client.control('DELETE', '/faults')
  const headers = { authorization: `Bearer ${body.access_token}` }
  t.equal((await client.get('/api/v1/mandates', { headers })).status, 200)
})

t.test('control plane, GET /scenarios: a scenario with its story, and the request of each step', async t => {
  const client = await newClient()
  const { story, title } = (await client.control('GET', '/scenarios/story')).body
  t.equal(title, undefined)
  t.match(story, [
    {
      button: 'Create a mandate',
      request: { method: 'POST', path: '/api/v1/mandates', body: { mandateReference: 'STORY-MANDATE' } },
    },
    { request: { path: '/api/v1/direct-debit', region: 'EU', body: { collectionDate: /^2026-11-\d\d$/ } } },
    { request: { path: '/_sandbox/clock/advance', body: { by: 'P14D' } } },
  ])
  const { data } = (await client.control('GET', '/scenarios')).body
  t.equal(data.find(({ name }: { name: string }) => name === 'lost-answer').title, 'The answer is lost')
  refused(t, await client.control('GET', '/scenarios/nothing'), 404, 'SCENARIO_NOT_FOUND', 'name')
})

t.test('control plane, GET /clients: the demo client has the known secret while it is in force', async t => {
  const secrets = async (options = {}) => {
    const client = await connect(build(t, options))
    const { data } = (await client.control('GET', '/clients')).body
    return data.map(({ clientId, hasKnownSecret }: Record<string, string>) => `${clientId} ${hasKnownSecret}`)
  }
  t.same(await secrets(), ['sandbox-client true', 'acme false'])
  const clients = [{ clientId: 'sandbox-client', clientSecret: 'another', fixture: 'demo' }]
  t.same(await secrets({ clients }), ['sandbox-client false', 'acme false'])
})
