import t from 'tap'
import { createTenantRegistry } from '../../src/tenants/registry.js'
import { gist, table } from '../answers.js'
import {
  bill,
  build,
  call,
  collection,
  connect,
  MONDAY,
  mandate,
  payoutLink,
  requestToken,
  serverOptions,
} from '../helper.js'

type App = ReturnType<typeof build>

const SHOP = 'https://shop.example'
const LINKS = '/api/v1/payout-links'
const NOT_ALLOWED = '403 ORIGIN_NOT_ALLOWED origin'
const INVALID_TOKEN = '401 INVALID_TOKEN authorization'
const embedded = (origin = SHOP) => payoutLink({ uiMode: 'embedded', origin })

const withToken = (app: App, token: string) =>
  call(app, 'GET', '/api/v1/bills', { region: 'EU', headers: { authorization: `Bearer ${token}` } })
const tokenOf = async (app: App, fields = {}): Promise<string> => (await requestToken(app, fields)).body.access_token
const tenants = async (app: App): Promise<{ clientId: string; fixture: string; now: string }[]> =>
  (await call(app, 'GET', '/_sandbox/clients')).body.data
const clientIds = async (app: App) => (await tenants(app)).map(({ clientId }) => clientId).sort()

const fixtures = new Map<string, Record<string, unknown>>([
  ['empty', {}],
  ['demo', {}],
  [
    'shop',
    {
      bills: [{ ...bill({ uniqueReferenceIdentifier: 'SHOP-1' }), dueDate: '{{today+P14D}}' }],
      counterparties: [{ region: 'UK', counterpartyReference: 'SHOP-CPTY' }],
    },
  ],
])

const shared = build(t)

// ----------------------------------------------------------------------------------------------------- isolation

t.test(
  'decisions §3: nothing crosses between tenants: records, clock, tokens, settings, faults and outcomes',
  async t => {
    const [acme, beta] = [await connect(shared, 'acme'), await connect(shared, 'beta')]
    await acme.post('/api/v1/bills', bill())
    await acme.post('/api/v1/mandates', mandate())
    const { payoutLinkId } = (await acme.post(LINKS, payoutLink())).body
    await table(t, ([method, url, body]) => beta.send(method, `/api/v1/${url}`, { body }), {
      '404 BILL_NOT_FOUND uniqueReferenceIdentifier': [['GET', 'bills/INV-2026-001']],
      '404 MANDATE_NOT_FOUND mandateReference': [['GET', 'mandates/MND-0001']],
      '404 PAYOUT_LINK_NOT_FOUND payoutLinkId': [
        ['PATCH', `payout-links/${payoutLinkId}/cancel`, { cancellationComment: 'not mine' }],
      ],
      '404 COUNTERPARTY_NOT_FOUND counterpartyReference': [
        ['PATCH', 'counterparties/CPTY-0001', { remarks: 'not mine' }],
      ],
    })
    t.equal((await beta.control('GET', '/bills/INV-2026-001')).status, 404)
    t.equal(gist(await beta.post('/api/v1/bills', bill({ totalAmount: '5' }))), '201', 'the same reference is free')
    t.equal((await acme.get('/api/v1/bills/INV-2026-001')).body.totalAmount, '1190.00')

    await acme.control('PUT', '/settings', { allowedOrigins: [SHOP], mandateActivation: 'manual' })
    t.equal(gist(await acme.post(LINKS, embedded())), '201')
    t.equal(gist(await beta.post(LINKS, embedded())), NOT_ALLOWED)
    t.equal((await beta.post('/api/v1/mandates', mandate())).body.status, 'ACTIVE')

    await acme.control('POST', '/faults', { times: null, effect: { kind: 'error', status: 500 } })
    await acme.control('POST', '/outcomes', { outcome: 'FAILED' })
    t.equal((await beta.control('DELETE', '/faults/fault-1')).status, 404)
    t.equal(gist(await beta.post('/api/v1/direct-debit', collection())), '201', 'no fault is met')
    t.equal((await beta.control('GET', '/direct-debit/COL-0001')).body.record.outcome, undefined)
    t.same((await beta.control('GET', '/outcomes')).body.armed, [])
    t.equal((await acme.get('/api/v1/mandates')).status, 500)
    await acme.control('DELETE', '/faults')

    await acme.control('POST', '/clock/advance', { by: 'PT2H' })
    t.equal((await beta.control('GET', '/clock')).body.now, MONDAY)
    t.equal(gist(await withToken(shared, beta.token)), '200')
    t.equal(gist(await withToken(shared, acme.token)), '401 EXPIRED_TOKEN authorization')
    t.equal((await (await connect(shared, 'ACME')).get('/api/v1/bills')).body.totalCount, 0, 'the case of an id counts')
  },
)

// ------------------------------------------------------------------------------------------------------ fixtures

t.test('decisions §3: a configured client has its fixture and its origins, and its id may be any text', async t => {
  const any = 'Käse & Söhne: 1/2'
  const app = build(t, {
    fixtures,
    openRegistration: false,
    clients: [
      { clientId: 'acme', clientSecret: 'secret', fixture: 'shop', allowedOrigins: [SHOP] },
      { clientId: any, clientSecret: 'secret' },
    ],
  })
  const acme = await connect(app, 'acme')
  t.equal((await acme.get('/api/v1/bills/SHOP-1')).body.dueDate, '2026-11-16', 'dates are relative to its start')
  t.equal(gist(await acme.patch('/api/v1/counterparties/SHOP-CPTY', { remarks: 'hi' }, { region: 'UK' })), '200')
  t.equal(gist(await acme.post(LINKS, embedded())), '201')
  t.equal(gist(await acme.post(LINKS, embedded('http://localhost:3000'))), NOT_ALLOWED, 'they replace the default list')
  const other = await withToken(app, await tokenOf(app, { client_id: any }))
  t.same([other.status, other.body.totalCount], [200, 0], 'without a fixture it starts from empty')
})

t.test('decisions §8: the list of a tenant has the origins of the embedded links of its fixture, too', async t => {
  const links = [
    embedded(),
    embedded(),
    embedded('http://localhost:3000'),
    payoutLink({ origin: 'https://no.example' }),
  ]
  const app = build(t, {
    fixtures: new Map([...fixtures, ['links', { payoutLinks: links }]]),
    clients: [
      { clientId: 'acme', clientSecret: 'secret', fixture: 'links' },
      { clientId: 'listed', clientSecret: 'secret', fixture: 'links', allowedOrigins: ['https://own.example'] },
    ],
  })
  const listOf = async (clientId: string) =>
    (await call(app, 'GET', `/_sandbox/settings?client=${clientId}`)).body.allowedOrigins
  t.same(await listOf('acme'), ['http://localhost:*', 'http://127.0.0.1:*', SHOP], 'once, and none that matches')
  t.same(await listOf('listed'), ['https://own.example', SHOP, 'http://localhost:3000'])
  const acme = await connect(app, 'acme')
  await acme.control('PUT', '/settings', { allowedOrigins: [] })
  await acme.control('POST', '/reset')
  t.equal((await listOf('acme')).length, 3, 'also after a reset')
  const other = await connect(app, 'other')
  const refused = await other.control('POST', '/seed', { fixture: 'links' })
  t.equal(gist(refused), '403 ORIGIN_NOT_ALLOWED records.payoutLinks.0.origin', 'seeding checks the list')
})

// --------------------------------------------------------------------------------------------------- max tenants

t.test('decisions §3: beyond the most tenants, the registered one that is idle longest is dropped', async t => {
  const dropped: string[] = []
  const app = build(t, { maxTenants: 3, dropped: clientId => void dropped.push(clientId) })
  const [acme, beta] = [await connect(app, 'acme'), await connect(app, 'beta')]
  t.same(dropped, [], 'with sandbox-client there is room for two')
  await withToken(app, acme.token)
  const forged = beta.token.slice(0, -1)
  t.equal(gist(await withToken(app, forged)), INVALID_TOKEN)
  const gamma = await connect(app, 'gamma')
  t.same([dropped, await clientIds(app)], [['beta'], ['acme', 'gamma', 'sandbox-client']], 'a forged token is no use')
  await table(t, token => withToken(app, token), { [INVALID_TOKEN]: [beta.token], 200: [acme.token, gamma.token] })
  await tokenOf(app, { client_id: 'acme' })
  await tokenOf(app, { client_id: 'delta' })
  t.same(dropped, ['beta', 'gamma'], 'a token request is use')
  const refused = [{ client_id: 'not registrable' }, { client_id: 'new', grant_type: 'password' }]
  for (const fields of [...refused, { client_id: 'acme' }, { client_id: 'acme', client_secret: 'wrong' }]) {
    await requestToken(app, fields)
  }
  t.same(dropped, ['beta', 'gamma'], 'a refused client and a known one drop none')
  for (let number = 1; number <= 20; number++) await requestToken(app, { client_id: `client-${number}` })
  t.same(await clientIds(app), ['client-19', 'client-20', 'sandbox-client'])
})

t.test('decisions §3: to make room, tenants without records go first', async t => {
  const dropped: string[] = []
  const app = build(t, { maxTenants: 5, dropped: clientId => void dropped.push(clientId) })
  const acme = await connect(app, 'acme')
  await acme.post('/api/v1/bills', bill())
  for (const client_id of ['one', 'two']) await requestToken(app, { client_id })
  const beta = await connect(app, 'beta')
  await beta.post('/api/v1/mandates', mandate())
  for (let number = 1; number <= 20; number++) await requestToken(app, { client_id: `client-${number}` })
  t.same(dropped.slice(0, 3), ['one', 'two', 'client-1'], 'of those, the one idle longest')
  t.same(await clientIds(app), ['acme', 'beta', 'client-19', 'client-20', 'sandbox-client'])
  for (const client of [acme, beta]) t.equal((await client.get('/api/v1/mandates')).status, 200)
  for (const client_id of ['client-19', 'client-20', 'client-21']) {
    await (await connect(app, client_id)).post('/api/v1/bills', bill())
  }
  t.same(dropped.slice(-1), ['acme'], 'where all have records, the one idle longest')
})

t.test('decisions §3: the origin of a fork makes no room for it', async t => {
  const dropped: string[] = []
  const app = build(t, { maxTenants: 3, dropped: clientId => void dropped.push(clientId) })
  const [acme, beta] = [await connect(app, 'acme'), await connect(app, 'beta')]
  await beta.post('/api/v1/bills', bill())
  t.equal((await acme.control('POST', '/fork', { clientId: 'copy' })).status, 201)
  t.same([dropped, await clientIds(app)], [['beta'], ['acme', 'copy', 'sandbox-client']], 'though it has no records')
  t.equal((await acme.get('/api/v1/bills')).status, 200)
})

t.test('decisions §3: a configured client is never dropped, and where none can be dropped it is 503', async t => {
  const clients = [{ clientId: 'acme', clientSecret: 'secret' }]
  const app = build(t, { maxTenants: 3, clients })
  const acme = await connect(app, 'acme')
  await acme.post('/api/v1/bills', bill())
  for (const client_id of ['one', 'two', 'three']) await requestToken(app, { client_id })
  t.equal((await acme.get('/api/v1/bills')).body.totalCount, 1)
  t.same(await clientIds(app), ['acme', 'sandbox-client', 'three'])

  const full = build(t, { maxTenants: 2, clients })
  const { status, body, headers } = await requestToken(full, { client_id: 'beta' })
  t.match([status, body], [503, { code: 'SERVICE_UNAVAILABLE', field: null, error: /^\w+$/, error_description: /./ }])
  t.equal(headers['www-authenticate'], undefined)
  t.equal((await requestToken(full)).status, 200, 'a configured client still works')
})

t.test(
  'decisions §3: a dropped client registers with any secret and an empty world, its old tokens stay dead',
  async t => {
    const app = build(t, { maxTenants: 2 })
    const acme = await connect(app, 'acme')
    await acme.post('/api/v1/bills', bill())
    await acme.advance({ by: 'PT10M' })
    const old = acme.token
    await connect(app, 'beta')
    const again = [await tokenOf(app, { client_secret: 'new' }), await tokenOf(app, { client_secret: 'new' })]
    t.notOk(again.includes(old))
    t.equal((await withToken(app, again[0] as string)).body.totalCount, 0)
    t.equal((await requestToken(app, { client_secret: 'secret' })).body.code, 'INVALID_CLIENT')
    t.equal(gist(await withToken(app, old)), INVALID_TOKEN)
    await connect(app, 'beta')
    await tokenOf(app)
    t.equal(gist(await withToken(app, old)), INVALID_TOKEN, 'though it comes back with the same secret')
  },
)

// --------------------------------------------------------------------------------------------------- determinism

t.test('decisions §3: a reset that fails leaves the tokens valid', async t => {
  const own = new Map(fixtures)
  const app = build(t, { fixtures: own })
  const token = await tokenOf(app)
  own.delete('empty')
  t.ok((await call(app, 'POST', '/_sandbox/reset?client=acme')).status >= 400)
  t.equal((await withToken(app, token)).status, 200)
})

t.test('decisions §3: the resets of removed clients are kept for five times the most tenants', async t => {
  const registry = createTenantRegistry(serverOptions({ maxTenants: 2, fixtures }))
  for (let at = 0; at < 11; at++) {
    registry.authenticate(`client-${at}`, 'secret', 0)
    registry.remove(`client-${at}`, 0)
  }
  t.same(
    [0, 1, 10].map(at => registry.resetsOf(`client-${at}`)),
    [undefined, 1, 1],
  )

  // With a database, the number of tenants has no bound.
  const unbounded = createTenantRegistry(serverOptions({ maxTenants: Number.POSITIVE_INFINITY, fixtures }))
  for (let at = 0; at <= 10_000; at++) unbounded.retire(`client-${at}`, 1)
  t.same([unbounded.resetsOf('client-0'), unbounded.resetsOf('client-1')], [undefined, 1])
})
