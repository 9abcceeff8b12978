import t, { type Test } from 'tap'
import { gist, invalid, malformed, missing, refused, refusesValues, table } from '../answers.js'
import type { Answer, Client } from '../helper.js'
import { build, call, connect, MONDAY, mandate, newClient, payoutLink, pluck, requestToken } from '../helper.js'

const MANDATES = '/api/v1/mandates'
const LIST = `GET ${MANDATES}`
const ITEM = `GET ${MANDATES}/{mandateReference}`
const CREATE = `POST ${MANDATES}`
const CANCEL = 'PATCH /api/v1/payout-links/{payoutLinkId}/cancel'
const TOKEN = 'POST /api/v1/oauth/token'

const SINCE = '2026-07-01T00:00:00Z'
/** A month after MONDAY. */
const SUNSET = '2026-12-02T09:00:00Z'

const put = (client: Client, ...data: object[]) => client.control('PUT', '/deprecations', { data })

/** Deprecates operations that can be. */
async function deprecate(t: Test, client: Client, ...data: object[]) {
  const answer = await put(client, ...data)
  if (answer.status !== 200) t.fail(`${answer.body.field}: ${answer.body.message}`)
}

const told = ({ headers: { deprecation, sunset } }: Answer) => [deprecation, sunset]
const NOTHING = [undefined, undefined]

t.test('control plane, PUT /deprecations; decisions §11: absent by default, and told by each call', async t => {
  const client = await newClient()
  t.same(await client.read('/deprecations'), { data: [] })
  t.same(told(await client.get(MANDATES)), NOTHING)
  const all = [
    { operation: LIST, deprecatedSince: SINCE, sunset: SUNSET, goneAfterSunset: true },
    { operation: ITEM, deprecatedSince: MONDAY, goneAfterSunset: false },
  ]
  const answer = await put(client, all[0] as object, { operation: ITEM })
  t.same([answer.status, answer.body], [200, { data: all }])
  t.same(await client.read('/deprecations'), { data: all })

  t.same((await put(client, { operation: CREATE })).body.data.length, 1, 'these replace all')
  t.same(told(await client.get(MANDATES)), NOTHING)
  t.same((await client.control('DELETE', '/deprecations')).body, { removed: 1 })
  t.same((await client.control('DELETE', '/deprecations')).body, { removed: 0 })
  t.same(told(await client.post(MANDATES, mandate())), NOTHING)
  t.same((await put(client)).body, { data: [] })
})

t.test('interface, Versioning; decisions §11: Deprecation and Sunset on all answers of the operation', async t => {
  const client = await newClient()
  await client.post(MANDATES, mandate())
  await deprecate(
    t,
    client,
    { operation: LIST, deprecatedSince: SINCE, sunset: SUNSET },
    { operation: ITEM, deprecatedSince: SINCE },
    { operation: CREATE, deprecatedSince: SINCE, sunset: SUNSET },
    { operation: CANCEL, deprecatedSince: SINCE, sunset: SUNSET },
  )
  const { payoutLinkId } = (await client.post('/api/v1/payout-links', payoutLink())).body
  const cancel = `/api/v1/payout-links/${payoutLinkId}/cancel`
  await client.control('POST', '/faults', {
    match: { path: '/api/v1/mandates/MND-FAULT' },
    effect: { kind: 'error', status: 500 },
  })
  const both = ['true', SUNSET]
  const cases: [answer: Answer, status: number, headers: unknown[], what: string][] = [
    [await client.get(MANDATES), 200, both, 'a list'],
    [await client.send('HEAD', MANDATES), 200, both, 'HEAD'],
    [await client.get(`${MANDATES}?limit=0`), 400, both, 'a wrong query'],
    [await client.get(MANDATES, { region: null }), 400, both, 'no region'],
    [await client.get(MANDATES, { region: 'US' }), 400, both, 'a wrong region'],
    [await client.get(`${MANDATES}/MND-0001`), 200, ['true', undefined], 'without a sunset'],
    [await client.get(`${MANDATES}/MND-NONE`), 404, ['true', undefined], 'a missing record'],
    [await client.get(`${MANDATES}/x`), 400, ['true', undefined], 'a wrong path value'],
    [await client.get(`${MANDATES}/MND-FAULT`), 500, ['true', undefined], 'a fault'],
    [await client.post(MANDATES, mandate()), 409, both, 'a conflict'],
    [await client.post(MANDATES, '{'), 400, both, 'a malformed body'],
    [await client.post(MANDATES, 'x', { headers: { 'content-type': 'text/plain' } }), 415, both, 'a wrong media type'],
    [await client.post(MANDATES, mandate({ mandateReference: 'MND-0002' })), 201, both, 'a creation'],
    [await client.patch(cancel, { cancellationComment: 'no' }), 204, both, 'no content'],
  ]
  t.same(
    cases.map(([answer, , , what]) => [answer.status, told(answer), what]),
    cases.map(([, status, headers, what]) => [status, headers, what]),
  )
})

t.test('decisions §11: not on answers of other operations, of no operation, or before the tenant is known', async t => {
  const app = build(t)
  const client = await connect(app)
  await client.post(MANDATES, mandate())
  await deprecate(t, client, { operation: LIST, deprecatedSince: SINCE, sunset: SUNSET })
  const other = await connect(app, 'other')
  const answers = [
    await client.post(MANDATES, {}),
    await client.get(`${MANDATES}/MND-0001`),
    await client.get('/api/v1/bills'),
    await client.send('OPTIONS', MANDATES),
    await client.send('PUT', MANDATES),
    await client.get(`${MANDATES}/`),
    await requestToken(app),
    await client.control('GET', '/deprecations'),
    await call(app, 'GET', MANDATES, { region: 'EU' }),
    await client.get(MANDATES, { headers: { authorization: 'Bearer x' } }),
    await other.get(MANDATES),
  ]
  t.same(answers.map(told), Array(11).fill(NOTHING))
  t.same(told(await client.get(MANDATES)), ['true', SUNSET])
})

t.test('decisions §11: style rfc sends a date and an IMF-fixdate, from the next answer on', async t => {
  const client = await newClient()
  await deprecate(t, client, { operation: LIST, deprecatedSince: SINCE, sunset: SUNSET }, { operation: ITEM })
  t.equal((await client.control('PUT', '/settings', { deprecationStyle: 'rfc' })).status, 200)
  for (const answer of [
    await client.get(MANDATES),
    await client.send('HEAD', MANDATES),
    await client.get(`${MANDATES}?limit=0`),
  ]) {
    t.same(told(answer), ['@1782864000', 'Wed, 02 Dec 2026 09:00:00 GMT'])
  }
  t.same(told(await client.get(`${MANDATES}/MND-NONE`)), ['@1793610000', undefined])
  await client.control('PUT', '/settings', { deprecationStyle: 'seed' })
  t.same(told(await client.get(MANDATES)), ['true', SUNSET])
})

t.test('decisions §11: of one that lies ahead, true comes with its day, and the date at once', async t => {
  const client = await newClient()
  await deprecate(t, client, { operation: LIST, deprecatedSince: '2026-11-03T00:00:00Z', sunset: SUNSET })
  t.same(told(await client.get(MANDATES)), [undefined, SUNSET])
  await client.advance({ to: '2026-11-02T23:59:59Z' })
  t.same(told(await client.get(MANDATES)), [undefined, SUNSET])
  await client.control('PUT', '/settings', { deprecationStyle: 'rfc' })
  t.equal((await client.get(MANDATES)).headers.deprecation, '@1793664000')
  await client.control('PUT', '/settings', { deprecationStyle: 'seed' })
  await client.advance({ by: 'PT1S' })
  t.same(told(await client.get(MANDATES)), ['true', SUNSET])
})

t.test("decisions §11: from its sunset on, on the tenant's clock, an operation is gone if it was told so", async t => {
  const client = await newClient()
  await client.post(MANDATES, mandate())
  await deprecate(
    t,
    client,
    { operation: LIST, sunset: SUNSET, goneAfterSunset: true },
    { operation: CREATE, sunset: SUNSET, goneAfterSunset: true },
    { operation: ITEM, sunset: SUNSET },
    { operation: CANCEL, sunset: SUNSET, goneAfterSunset: false },
  )
  await client.advance({ to: '2026-12-02T08:59:59Z' })
  t.equal((await client.get(MANDATES)).status, 200)
  await client.advance({ by: 'PT1S' })

  const gone = await client.get(MANDATES)
  refused(t, gone, 410, 'OPERATION_SUNSET', null)
  t.match(gone.body.message, LIST)
  t.same(told(gone), ['true', SUNSET], 'which the headers tell, too')
  const head = await client.send('HEAD', MANDATES)
  t.same([head.status, head.body], [410, null])
  refused(t, await client.post(MANDATES, mandate({ mandateReference: 'MND-0002' })), 410, 'OPERATION_SUNSET', null)
  t.equal((await client.get(`${MANDATES}/MND-0002`)).status, 404, 'nothing was applied')
  t.equal((await client.get(`${MANDATES}/MND-0001`)).status, 200, 'what was not told so goes on')
  t.equal((await client.delete(`${MANDATES}/MND-0001`)).status, 200, 'and so does what is not deprecated')

  await client.control('DELETE', '/deprecations')
  t.equal((await client.get(MANDATES)).status, 200)
})

t.test('decisions §1, §11: 410 comes after 401 and the region, and before all else', async t => {
  const client = await newClient()
  const past = { deprecatedSince: SINCE, sunset: SINCE, goneAfterSunset: true }
  await deprecate(t, client, { operation: LIST, ...past }, { operation: CREATE, ...past })
  await client.control('POST', '/faults', { effect: { kind: 'error', status: 500 } })
  const answers = [
    await client.get(MANDATES, { headers: { authorization: '' } }),
    await client.get(MANDATES, { region: 'XX' }),
    await client.get(`${MANDATES}?limit=0`),
    await client.post(MANDATES, mandate()),
  ]
  t.same(pluck(answers, 'status'), [401, 400, 410, 410])
  t.equal((await client.read('/faults')).data[0].seen, 0, 'no fault is met')
})

t.test('decisions §3, §11: the token endpoint can be deprecated, and gone, with the members of OAuth', async t => {
  const app = build(t)
  const client = await connect(app)
  const other = await connect(app, 'other')
  await deprecate(t, client, { operation: TOKEN, deprecatedSince: SINCE, sunset: SUNSET, goneAfterSunset: true })
  t.same(told(await requestToken(app)), ['true', SUNSET])
  t.same(told(await requestToken(app, { client_id: 'other' })), NOTHING)
  await client.control('POST', '/clock/advance', { to: SUNSET })
  const answer = await requestToken(app)
  t.equal(gist(answer), '410 OPERATION_SUNSET null')
  t.match(answer.body, { error: 'invalid_request', error_description: String })
  t.same(told(answer), ['true', SUNSET])
  const stranger = await requestToken(app, { client_secret: 'wrong' })
  t.same([stranger.status, ...told(stranger)], [401, ...NOTHING], 'whose tenant it is, has to be proved first')
  t.equal((await requestToken(app, { client_id: 'other' })).status, 200)
  t.equal((await other.get(MANDATES)).status, 200)
})

t.test('control plane, PUT /deprecations: every operation of the API can be deprecated', async t => {
  const client = await newClient()
  const operations = [
    ...[TOKEN, LIST, CREATE, ITEM, CANCEL, 'DELETE /api/v1/mandates/{mandateReference}', 'GET /api/v1/direct-debit'],
    ...['POST /api/v1/direct-debit', 'GET /api/v1/direct-debit/{collectionReference}', 'POST /api/v1/payout-links'],
    ...['GET /api/v1/bills', 'POST /api/v1/bills', 'GET /api/v1/bills/{uniqueReferenceIdentifier}'],
    'PATCH /api/v1/bills/{uniqueReferenceIdentifier}',
    'POST /api/v1/bills/{uniqueReferenceIdentifier}/document',
    'PATCH /api/v1/counterparties/{counterpartyReference}',
    'GET /api/v1/accounts',
  ]
  const answer = await put(client, ...operations.map(operation => ({ operation })))
  t.same([answer.status, answer.body.data?.length], [200, operations.length], answer.body.message)
  for (const operation of operations.slice(1)) {
    const [method = '', path = ''] = operation.split(' ')
    const sent = await client.send(method, path.replace(/\{\w+\}/, 'REF-0001'))
    t.same(told(sent), ['true', undefined], operation)
  }
})

t.test('control plane, PUT /deprecations: a wrong list is refused, and all stays as it was', async t => {
  const client = await newClient()
  await deprecate(t, client, { operation: LIST, deprecatedSince: SINCE, sunset: SUNSET, goneAfterSunset: true })
  const before = await client.read('/deprecations')
  const send = (body: object) => client.control('PUT', '/deprecations', body)
  await table(t, send, {
    [missing('data')]: [{}],
    [missing('data.0.operation')]: [{ data: [{}] }],
    [missing('data.1.sunset')]: [{ data: [{ operation: CREATE }, { operation: LIST, goneAfterSunset: true }] }],
    [malformed(null)]: ['{'],
    [invalid(null)]: [[]],
    [invalid('data')]: [null, {}, Array(101).fill({ operation: LIST })].map(data => ({ data })),
    [invalid('data.0')]: [{ data: [null] }, { data: [LIST] }],
    [missing('data.1.operation')]: [{ data: [{ operation: CREATE }, { operation: '' }] }],
    [invalid('data.1.sunset')]: [
      { data: [{ operation: CREATE }, { operation: LIST, deprecatedSince: SUNSET, sunset: SINCE }] },
    ],
  })
  await refusesValues(
    t,
    send,
    { data: [{ operation: CREATE }, { operation: LIST }] },
    {
      'data.1.operation': [
        ...[
          1,
          'x'.repeat(201),
          'getMandates',
          MANDATES,
          `get ${MANDATES}`,
          `HEAD ${MANDATES}`,
          `GET  ${MANDATES}`,
          CREATE,
        ],
        ...[`GET ${MANDATES}/:mandateReference`, `GET ${MANDATES}/MND-0001`, `GET ${MANDATES}*`, 'GET /_sandbox/clock'],
      ],
      'data.1.deprecatedSince': ['2026-11-02', true, null],
      'data.1.sunset': [
        ...['2026-12-02T09:00:00+01:00', 'Wed, 02 Dec 2026 09:00:00 GMT', '2026-02-30T00:00:00Z', ''],
        '2026-11-02T08:59:59Z',
      ],
      'data.1.goneAfterSunset': ['true', null],
    },
  )
  t.same(await client.read('/deprecations'), before)
  const { message } = (await put(client, { operation: 'GET /api/v1/nowhere' })).body
  for (const operation of [LIST, CANCEL, TOKEN]) t.match(message, operation)
})
