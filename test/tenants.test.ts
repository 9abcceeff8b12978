import t, { type Test } from 'tap'
import type { Answer } from './helper.js'
import { bill, build, call, connect, mandate, payoutLink, requestToken } from './helper.js'

type App = ReturnType<typeof build>

const withToken = (app: App, token: string) =>
  call(app, 'GET', '/api/v1/bills', { region: 'EU', headers: { authorization: `Bearer ${token}` } })

const tenants = async (app: App): Promise<{ clientId: string; fixture: string; now: string }[]> =>
  (await call(app, 'GET', '/_sandbox/clients')).body.data

const clientIds = async (app: App) => (await tenants(app)).map(({ clientId }) => clientId)

function refused(t: Test, { status, body }: Answer, expected: [number, string, string | null], what = expected[1]) {
  t.same([status, body?.code, body?.field], expected, what)
  t.same(Object.keys(body ?? {}).sort(), ['code', 'field', 'message'], `${what}: members`)
}

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

// ----------------------------------------------------------------------------------------------------- isolation

t.test('decisions §3: nothing crosses between tenants: records, whatever their area', async t => {
  const app = build(t)
  const acme = await connect(app, 'acme')
  const beta = await connect(app, 'beta')
  await acme.post('/api/v1/bills', bill())
  await acme.post('/api/v1/mandates', mandate())
  const { payoutLinkId } = (await acme.post('/api/v1/payout-links', payoutLink())).body

  refused(t, await beta.get('/api/v1/bills/INV-2026-001'), [404, 'BILL_NOT_FOUND', 'uniqueReferenceIdentifier'])
  refused(t, await beta.get('/api/v1/mandates/MND-0001'), [404, 'MANDATE_NOT_FOUND', 'mandateReference'])
  refused(t, await beta.patch(`/api/v1/payout-links/${payoutLinkId}/cancel`, { cancellationComment: 'not mine' }), [
    404,
    'PAYOUT_LINK_NOT_FOUND',
    'payoutLinkId',
  ])
  refused(t, await beta.patch('/api/v1/counterparties/CPTY-0001', { remarks: 'not mine' }), [
    404,
    'COUNTERPARTY_NOT_FOUND',
    'counterpartyReference',
  ])
  refused(t, await beta.control('GET', '/bills/INV-2026-001'), [404, 'BILL_NOT_FOUND', 'uniqueReferenceIdentifier'])
  t.equal((await beta.get('/api/v1/bills')).body.totalCount, 0)
  t.equal((await acme.get('/api/v1/bills')).body.totalCount, 1)

  t.equal((await beta.post('/api/v1/bills', bill({ totalAmount: '5' }))).status, 201, 'the same reference is free')
  t.equal((await acme.get('/api/v1/bills/INV-2026-001')).body.totalAmount, '1190.00', 'and the first is as it was')
})

t.test('decisions §3: a clock is its tenant’s own, and so is the expiry of tokens', async t => {
  const app = build(t)
  const acme = await connect(app, 'acme')
  const beta = await connect(app, 'beta')
  t.equal((await acme.control('POST', '/clock/advance', { by: 'PT2H' })).body.now, '2026-11-02T11:00:00Z')
  t.equal((await beta.control('GET', '/clock')).body.now, '2026-11-02T09:00:00Z')
  t.equal((await withToken(app, beta.token)).status, 200)
  refused(t, await withToken(app, acme.token), [401, 'EXPIRED_TOKEN', 'authorization'])
})

t.test('decisions §3: settings are a tenant’s own', async t => {
  const app = build(t)
  const acme = await connect(app, 'acme')
  const beta = await connect(app, 'beta')
  const embedded = payoutLink({ uiMode: 'embedded', origin: 'https://shop.example' })
  await acme.control('PUT', '/settings', { allowedOrigins: ['https://shop.example'], mandateActivation: 'manual' })
  t.equal((await acme.post('/api/v1/payout-links', embedded)).status, 201)
  refused(t, await beta.post('/api/v1/payout-links', embedded), [403, 'ORIGIN_NOT_ALLOWED', 'origin'])
  t.equal((await acme.post('/api/v1/mandates', mandate())).body.status, 'PENDING')
  t.equal((await beta.post('/api/v1/mandates', mandate())).body.status, 'ACTIVE')
})

t.test('decisions §3: tenants that differ in the case of their id are two', async t => {
  const app = build(t)
  const lower = await connect(app, 'acme')
  const upper = await connect(app, 'ACME')
  await lower.post('/api/v1/bills', bill())
  t.equal((await upper.get('/api/v1/bills')).body.totalCount, 0)
})

t.test('control plane: an unknown client is CLIENT_NOT_FOUND, and is not registered by asking', async t => {
  const app = build(t)
  for (const [method, path] of [
    ['POST', '/reset'],
    ['GET', '/clock'],
  ] as const) {
    const answer = await call(app, method, `/_sandbox${path}?client=nobody`)
    refused(t, answer, [404, 'CLIENT_NOT_FOUND', 'client'], path)
  }
  t.same(await clientIds(app), ['sandbox-client'])
})

t.test('control plane: it acts on sandbox-client where no client is named', async t => {
  const app = build(t)
  await call(app, 'POST', '/_sandbox/clock/advance', { body: { by: 'P1D' } })
  const demo = await call(app, 'GET', '/_sandbox/clock?client=sandbox-client')
  t.equal(demo.body.now, '2026-11-03T09:00:00Z')
})

t.test('control plane, clients: tenants are listed without their secrets', async t => {
  const app = build(t, { clients: [{ clientId: 'beta', clientSecret: 'beta-secret' }] })
  await requestToken(app, { client_id: 'acme', client_secret: 'acme-secret' })
  const answer = await call(app, 'GET', '/_sandbox/clients')
  t.same(
    answer.body.data.map((client: object) => Object.keys(client).sort()),
    Array(3).fill(['clientId', 'counts', 'fixture', 'now']),
  )
  t.same((await clientIds(app)).sort(), ['acme', 'beta', 'sandbox-client'])
  t.notMatch(JSON.stringify(answer.body), /secret/)
})

// ------------------------------------------------------------------------------------------------------ fixtures

t.test('decisions §3: sandbox-client starts from demo, a registered client from empty', async t => {
  const app = build(t)
  await requestToken(app)
  const found = new Map((await tenants(app)).map(({ clientId, fixture }) => [clientId, fixture]))
  t.equal(found.get('sandbox-client'), 'demo')
  t.equal(found.get('acme'), 'empty')
})

t.test('decisions §3: a configured client starts from its fixture, with dates relative to its start', async t => {
  const app = build(t, {
    fixtures,
    openRegistration: false,
    clients: [
      { clientId: 'acme', clientSecret: 'secret', fixture: 'shop' },
      { clientId: 'beta', clientSecret: 'secret' },
    ],
  })
  const acme = await connect(app, 'acme')
  const beta = await connect(app, 'beta')
  t.equal((await acme.get('/api/v1/bills/SHOP-1')).body.dueDate, '2026-11-16')
  t.equal((await acme.patch('/api/v1/counterparties/SHOP-CPTY', { remarks: 'hi' }, { region: 'UK' })).status, 200)
  t.equal((await beta.get('/api/v1/bills')).body.totalCount, 0, 'and without one from empty')
  t.same(
    (await tenants(app)).map(({ fixture }) => fixture),
    ['demo', 'shop', 'empty'],
  )
})

t.test('decisions §3: a configured client has its allowed origins', async t => {
  const app = build(t, {
    clients: [{ clientId: 'acme', clientSecret: 'secret', allowedOrigins: ['https://shop.example'] }],
  })
  const acme = await connect(app, 'acme')
  const embedded = (origin: string) => payoutLink({ uiMode: 'embedded', origin })
  t.equal((await acme.post('/api/v1/payout-links', embedded('https://shop.example'))).status, 201)
  const other = await acme.post('/api/v1/payout-links', embedded('https://other.example'))
  refused(t, other, [403, 'ORIGIN_NOT_ALLOWED', 'origin'])

  const registered = await connect(app, 'beta')
  const answer = await registered.post('/api/v1/payout-links', embedded('https://shop.example'))
  refused(t, answer, [403, 'ORIGIN_NOT_ALLOWED', 'origin'], 'a registered client has none')
})

t.test('decisions §3: a configured client id may be any text', async t => {
  const app = build(t, { clients: [{ clientId: 'Käse & Söhne: 1/2', clientSecret: 'secret' }] })
  const { access_token } = (await requestToken(app, { client_id: 'Käse & Söhne: 1/2' })).body
  t.equal((await withToken(app, access_token)).status, 200)
})

// --------------------------------------------------------------------------------------------------------- reset

t.test('control plane, reset: records, clock, ids and settings are back at the fixture', async t => {
  const app = build(t, {
    fixtures,
    clients: [{ clientId: 'acme', clientSecret: 'secret', fixture: 'shop', allowedOrigins: ['https://shop.example'] }],
  })
  const before = await connect(app, 'acme')
  const firstId = (await before.post('/api/v1/payout-links', payoutLink())).body.payoutLinkId
  await before.post('/api/v1/bills', bill())
  await before.patch('/api/v1/bills/SHOP-1', { status: 'PAID' })
  await before.control('PUT', '/settings', { allowedOrigins: [], mandateActivation: 'manual' })
  await before.advance({ by: 'P10D' })

  const answer = await before.control('POST', '/reset')
  t.equal(answer.status, 200)
  t.equal(answer.body.clientId, 'acme')
  t.equal(answer.body.fixture, 'shop')
  t.equal(answer.body.now, '2026-11-02T09:00:00Z')
  t.equal(answer.body.counts.bills, 1)
  t.equal(answer.body.counts.payoutLinks, 0)

  const after = await connect(app, 'acme')
  t.equal((await after.get('/api/v1/bills/SHOP-1')).body.status, 'OPEN')
  t.equal((await after.get('/api/v1/bills')).body.totalCount, 1)
  t.equal((await after.post('/api/v1/payout-links', payoutLink())).body.payoutLinkId, firstId, 'the same ids again')
  const embedded = payoutLink({ uiMode: 'embedded', origin: 'https://shop.example' })
  t.equal((await after.post('/api/v1/payout-links', embedded)).status, 201, 'its configured origins')
  t.equal((await after.post('/api/v1/mandates', mandate())).body.status, 'ACTIVE')
})

t.test('control plane, reset: the secret of a registered client stays, and other tenants are untouched', async t => {
  const app = build(t)
  const acme = await connect(app, 'acme')
  const beta = await connect(app, 'beta')
  await beta.post('/api/v1/bills', bill())
  await acme.control('POST', '/reset')
  t.equal((await requestToken(app, { client_secret: 'other' })).body.code, 'INVALID_CLIENT')
  t.equal((await requestToken(app)).status, 200)
  t.equal((await beta.get('/api/v1/bills')).body.totalCount, 1)
})

// --------------------------------------------------------------------------------------------------- max tenants

t.test('decisions §3: beyond the most tenants, the registered one that is idle longest is dropped', async t => {
  const dropped: string[] = []
  const app = build(t, { maxTenants: 3, dropped: clientId => void dropped.push(clientId) })
  const acme = await connect(app, 'acme')
  const beta = await connect(app, 'beta')
  t.same(dropped, [], 'with sandbox-client there is room for two')

  t.equal((await acme.get('/api/v1/bills')).status, 200, 'acme is used, so beta is idle longest')
  const gamma = await connect(app, 'gamma')
  t.same(dropped, ['beta'])
  refused(t, await withToken(app, beta.token), [401, 'INVALID_TOKEN', 'authorization'])
  t.equal((await withToken(app, acme.token)).status, 200)
  t.equal((await withToken(app, gamma.token)).status, 200)
  t.same((await clientIds(app)).sort(), ['acme', 'gamma', 'sandbox-client'])
})

t.test('decisions §3: a token request counts as use, too', async t => {
  const app = build(t, { maxTenants: 3 })
  await requestToken(app, { client_id: 'acme' })
  await requestToken(app, { client_id: 'beta' })
  await requestToken(app, { client_id: 'acme' })
  await requestToken(app, { client_id: 'gamma' })
  t.same((await clientIds(app)).sort(), ['acme', 'gamma', 'sandbox-client'])
})

t.test('decisions §3: a known client makes no room for itself', async t => {
  const app = build(t, { maxTenants: 2 })
  for (let time = 0; time < 3; time++) t.equal((await requestToken(app)).status, 200)
  t.same(await clientIds(app), ['sandbox-client', 'acme'])
})

t.test('decisions §3: a refused client drops nobody', async t => {
  const app = build(t, { maxTenants: 2 })
  const acme = await connect(app, 'acme')
  await requestToken(app, { client_id: 'not registrable' })
  await requestToken(app, { client_id: 'beta', grant_type: 'password' })
  await requestToken(app, { client_id: 'sandbox-client', client_secret: 'wrong' })
  t.equal((await withToken(app, acme.token)).status, 200)
})

t.test('decisions §3: a configured client is never dropped', async t => {
  const app = build(t, { maxTenants: 3, clients: [{ clientId: 'acme', clientSecret: 'secret' }] })
  const acme = await connect(app, 'acme')
  await acme.post('/api/v1/bills', bill())
  for (const clientId of ['one', 'two', 'three']) await requestToken(app, { client_id: clientId })
  t.equal((await acme.get('/api/v1/bills')).body.totalCount, 1)
  t.same((await clientIds(app)).sort(), ['acme', 'sandbox-client', 'three'])
})

t.test('decisions §3: where none can be dropped it is 503, and configured clients still work', async t => {
  const app = build(t, { maxTenants: 2, clients: [{ clientId: 'acme', clientSecret: 'secret' }] })
  const answer = await requestToken(app, { client_id: 'beta' })
  t.same([answer.status, answer.body.code, answer.body.field], [503, 'SERVICE_UNAVAILABLE', null])
  t.equal((await requestToken(app)).status, 200)
})

t.test('decisions §3: a dropped client can register again, with any secret, and starts anew', async t => {
  const app = build(t, { maxTenants: 2 })
  const acme = await connect(app, 'acme')
  await acme.post('/api/v1/bills', bill())
  await connect(app, 'beta')
  const again = (await requestToken(app, { client_id: 'acme', client_secret: 'another' })).body.access_token
  t.equal((await withToken(app, again)).body.totalCount, 0)
  t.equal((await requestToken(app, { client_id: 'acme', client_secret: 'secret' })).body.code, 'INVALID_CLIENT')
})

t.test('decisions §3: a token of a dropped tenant does not open the tenant that took its name', async t => {
  const app = build(t, { maxTenants: 2 })
  await requestToken(app, { client_secret: 'old owner' })
  await call(app, 'POST', '/_sandbox/clock/advance?client=acme', { body: { by: 'PT10M' } })
  const old = (await requestToken(app, { client_secret: 'old owner' })).body.access_token
  await requestToken(app, { client_id: 'beta' })
  const issued: string[] = []
  for (let time = 0; time < 2; time++) {
    issued.push((await requestToken(app, { client_secret: 'new owner' })).body.access_token)
  }
  t.notOk(issued.includes(old), 'it is none of the new ones')
  refused(t, await withToken(app, old), [401, 'INVALID_TOKEN', 'authorization'])
})

// --------------------------------------------------------------------------------------------------- determinism

t.test('control plane, SANDBOX_SEED: the same requests give the same answers, byte for byte', async t => {
  const story = async (seed: string) => {
    const client = await connect(build(t, { seed }))
    const link = (await client.post('/api/v1/payout-links', payoutLink())).body
    await client.post('/api/v1/bills', bill())
    await client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: 'INV-2' }))
    return JSON.stringify([link, (await client.get('/api/v1/bills?limit=1')).body])
  }
  t.equal(await story('one'), await story('one'))
  t.not(await story('one'), await story('two'))
})

t.test(
  'control plane, SANDBOX_CLOCK: with the real clock a tenant starts at the second it comes into being',
  async t => {
    let real = Date.parse('2026-11-02T09:00:00.999Z')
    const app = build(t, { clock: 'real', now: () => real })
    const acme = await connect(app, 'acme')
    t.equal((await acme.control('GET', '/clock')).body.now, '2026-11-02T09:00:00Z')
    real += 90_000
    t.equal((await acme.control('GET', '/clock')).body.now, '2026-11-02T09:01:30Z')
    t.equal((await acme.control('GET', '/clock')).body.mode, 'running')
    const { createdAt } = (await acme.post('/api/v1/bills', bill())).body
    t.equal(createdAt, '2026-11-02T09:01:30Z')
  },
)

t.test(
  'control plane, seed: a fixture is added to a tenant by its name, with dates relative to its present',
  async t => {
    const app = build(t, { fixtures })
    const acme = await connect(app, 'acme')
    await acme.advance({ by: 'P7D' })
    const answer = await acme.control('POST', '/seed', { fixture: 'shop' })
    t.same([answer.status, answer.body.added?.bills], [200, 1])
    t.equal((await acme.get('/api/v1/bills/SHOP-1')).body.dueDate, '2026-11-23')
    const again = await acme.control('POST', '/seed', { fixture: 'shop' })
    t.same([again.status, again.body.code], [409, 'DUPLICATE_REFERENCE'], 'all or nothing')
    t.equal((await acme.get('/api/v1/bills')).body.totalCount, 1)
  },
)

t.test('decisions §2: a fixture that does not exist is INVALID_FIELD', async t => {
  const acme = await connect(build(t, { fixtures }), 'acme')
  for (const fixture of ['nowhere', 'SHOP', '../demo', '__proto__']) {
    refused(t, await acme.control('POST', '/seed', { fixture }), [400, 'INVALID_FIELD', 'fixture'], fixture)
  }
})

t.test('decisions §3: tokens of a dropped client stay dead, though it comes back with the same secret', async t => {
  const app = build(t, { maxTenants: 2 })
  const { body } = await requestToken(app, { client_id: 'first' })
  const headers = { authorization: `Bearer ${body.access_token}` }
  const list = () => call(app, 'GET', '/api/v1/mandates', { region: 'EU', headers })
  t.equal((await list()).status, 200)
  for (const client_id of ['second', 'third', 'first']) await requestToken(app, { client_id })
  refused(t, await list(), [401, 'INVALID_TOKEN', 'authorization'])
})

t.test('decisions §3: a forged token does not count as use of a tenant', async t => {
  const app = build(t, { maxTenants: 3 })
  const { body } = await requestToken(app, { client_id: 'first' })
  await requestToken(app, { client_id: 'second' })
  const headers = { authorization: `Bearer ${body.access_token.slice(0, -1)}` }
  refused(t, await call(app, 'GET', '/api/v1/mandates', { region: 'EU', headers }), [
    401,
    'INVALID_TOKEN',
    'authorization',
  ])
  await requestToken(app, { client_id: 'third' })
  t.notOk((await clientIds(app)).includes('first'), 'the one idle longest')
})

t.test('decisions §3: dropped clients are remembered within bounds', async t => {
  const app = build(t, { maxTenants: 2 })
  for (let number = 1; number <= 20; number++) {
    t.equal((await requestToken(app, { client_id: `client-${number}` })).status, 200)
  }
  t.same((await clientIds(app)).sort(), ['client-20', 'sandbox-client'])
})
