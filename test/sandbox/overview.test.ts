import t from 'tap'
import type { Area } from '../../src/areas/index.js'
import { areas } from '../../src/areas/index.js'
import type { Fixtures } from '../../src/tenants/fixtures.js'
import { invalidQuery, malformed, refused, table } from '../answers.js'
import { exampleRequest, operationsOf } from '../docs/contract.js'
import {
  bill,
  build,
  call,
  connect,
  MONDAY,
  mandate,
  NO_RECORDS,
  newClient,
  payoutLink,
  requestToken,
} from '../helper.js'

const fixtures: Fixtures = new Map([
  ['demo', { mandates: [mandate(), mandate({ mandateReference: 'MND-0002' })], bills: [bill()] }],
  ['empty', {}],
])

// The bill creates its counterparty: decisions §9.
const DEMO = { ...NO_RECORDS, mandates: 2, bills: 1, counterparties: 1 }

/** Control plane, the table of calls. */
const ROUTES = [
  'GET /_sandbox',
  'GET /_sandbox/health/live',
  'GET /_sandbox/health/ready',
  'GET /_sandbox/openapi.json',
  'GET /_sandbox/clients',
  'POST /_sandbox/credentials/verify',
  'DELETE /_sandbox/clients/:',
  'POST /_sandbox/reset',
  'POST /_sandbox/seed',
  'GET /_sandbox/clock',
  'PATCH /_sandbox/clock',
  'POST /_sandbox/clock/advance',
  // `test/docs/tables.test.ts` compares the verbs with the reference.
  ...Object.values<Area>(areas).flatMap(({ path, lifecycle, outcomes }) => [
    `GET /_sandbox/${path}`,
    ...(lifecycle ? [`GET /_sandbox/${path}/:`] : []),
    ...Object.entries(lifecycle?.transitions ?? {}).flatMap(([verb, move]) =>
      'update' in move ? [] : [`POST /_sandbox/${path}/:/${verb}`],
    ),
    ...(outcomes ? [`PUT /_sandbox/${path}/:/outcome`] : []),
  ]),
  'GET /_sandbox/upcoming',
  'GET /_sandbox/search',
  'GET /_sandbox/settings',
  'PUT /_sandbox/settings',
  'GET /_sandbox/scenarios',
  'GET /_sandbox/scenarios/:',
  'POST /_sandbox/scenarios/:',
  'GET /_sandbox/outcomes',
  'POST /_sandbox/outcomes',
  'DELETE /_sandbox/outcomes',
  'DELETE /_sandbox/outcomes/:',
  'GET /_sandbox/reason-codes',
  'GET /_sandbox/errors',
  'GET /_sandbox/kinds',
  'GET /_sandbox/state',
  'PUT /_sandbox/state',
  'POST /_sandbox/fork',
  'GET /_sandbox/events',
  'GET /_sandbox/requests',
  'GET /_sandbox/requests/:',
  'DELETE /_sandbox/requests',
  'POST /_sandbox/requests/verify',
  'GET /_sandbox/coverage',
  'GET /_sandbox/evidence',
  'GET /_sandbox/faults',
  'POST /_sandbox/faults',
  'DELETE /_sandbox/faults',
  'DELETE /_sandbox/faults/:',
  'GET /_sandbox/deprecations',
  'PUT /_sandbox/deprecations',
  'DELETE /_sandbox/deprecations',
  'POST /_sandbox/tokens',
  'POST /_sandbox/tokens/expire',
]

interface Listed {
  method: string
  path: string
  summary: string
}

t.test('control plane, GET /_sandbox: name, version, uptime, seed, tenants and record counts', async t => {
  let real = Date.parse(MONDAY)
  const app = build(t, { fixtures, seed: 'my seed', now: () => real })
  await app.ready()
  real += 65_900
  const answer = await call(app, 'GET', '/_sandbox')
  t.equal(answer.status, 200)
  const { routes, ...rest } = answer.body
  t.match(rest.version, /^\d+\.\d+\.\d+/)
  t.match(rest, { name: 'payments-sandbox', uptime: 65, seed: 'my seed', tenants: 1, records: DEMO })

  const client = await connect(app)
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/payout-links', payoutLink())
  t.match((await call(app, 'GET', '/_sandbox')).body, {
    tenants: 2,
    records: { ...DEMO, mandates: 3, payoutLinks: 1 },
  })
})

t.test('control plane, GET /_sandbox: every route of the control plane, once, with one line each', async t => {
  const app = build(t, { fixtures })
  const { routes } = (await call(app, 'GET', '/_sandbox')).body as { routes: Listed[] }
  const listed = routes.map(({ method, path }) => `${method} ${path.replace(/:\w+|\{\w+\}/g, ':')}`)
  t.same(listed.sort(), [...ROUTES].sort(), 'ROUTES has every call')
  t.same(
    routes.filter(({ summary }) => !/^[^\n]{5,150}$/.test(summary)),
    [],
  )
  const missing = []
  for (const { method, path } of routes) {
    const { code } = (await call(app, method, path.replace(/:\w+|\{\w+\}/g, 'ref-00001'))).body
    if (['ROUTE_NOT_FOUND', 'METHOD_NOT_ALLOWED', 'INTERNAL_ERROR'].includes(code)) missing.push([method, path, code])
  }
  t.same(missing, [], 'each exists')
})

t.test('control plane, GET /clients: client id, fixture, counts and time of every tenant', async t => {
  const app = build(t, { fixtures, clients: [{ clientId: 'listed', clientSecret: 'top-secret', fixture: 'demo' }] })
  const client = await connect(app)
  await client.post('/api/v1/mandates', mandate())
  await client.advance({ by: 'P1D' })
  const answer = await call(app, 'GET', '/_sandbox/clients')
  t.equal(answer.status, 200)
  t.same(answer.body.data, [
    { clientId: 'sandbox-client', fixture: 'demo', counts: DEMO, now: MONDAY, hasKnownSecret: true },
    { clientId: 'listed', fixture: 'demo', counts: DEMO, now: MONDAY, hasKnownSecret: false },
    {
      clientId: 'acme',
      fixture: 'empty',
      counts: { ...NO_RECORDS, mandates: 1 },
      now: '2026-11-03T09:00:00Z',
      hasKnownSecret: false,
    },
  ])
})

t.test('control plane, GET /clients: never a secret; nor does any other call show one', async t => {
  const app = build(t, { fixtures, clients: [{ clientId: 'listed', clientSecret: 'listed-hush-1', fixture: 'demo' }] })
  const { access_token } = (await requestToken(app, { client_id: 'acme', client_secret: 'acme-hush-2' })).body
  const { routes } = (await call(app, 'GET', '/_sandbox')).body as { routes: Listed[] }
  const copy = await call(app, 'POST', '/_sandbox/fork?client=acme', {
    body: { clientId: 'copy', clientSecret: 'fork-hush-3' },
  })
  const texts = [JSON.stringify(copy.body)]
  for (const { method, path } of routes) {
    for (const client of ['acme', 'copy', 'listed', 'sandbox-client']) {
      const { body } = await call(app, method, `${path.replace(/:\w+/g, 'MND-0001')}?client=${client}`)
      texts.push(JSON.stringify(body))
    }
  }
  const all = texts.join('\n')
  t.match(all, 'MND-0001', 'there is something to see')
  for (const secret of ['listed-hush-1', 'acme-hush-2', 'fork-hush-3', 'sandbox-secret', access_token])
    t.notMatch(all, secret)
})

/** Those that are about the process, or are tables of the product. */
const NO_TENANT =
  /^(GET \/_sandbox(\/(health\/.*|openapi.json|scenarios|reason-codes|errors|kinds))?|\w+ \/_sandbox\/clients(\/:)?|.*\/credentials\/verify)$/
const tenantCalls = ROUTES.filter(route => !NO_TENANT.test(route))

/** A body that the call accepts, so that it gets as far as its tenant. */
const bodies: Record<string, object> = {
  'POST /_sandbox/seed': { fixture: 'empty' },
  'PATCH /_sandbox/clock': { rate: 1 },
  'POST /_sandbox/clock/advance': { by: 'P1D' },
  'POST /_sandbox/payout-links/:/claim': { accountHolderName: 'Jane Doe', accountIdentifier: 'DE89370400440532013000' },
  'PUT /_sandbox/settings': { mandateActivation: 'manual' },
  'POST /_sandbox/fork': { clientId: 'copy' },
  'POST /_sandbox/faults': { effect: { kind: 'garbage' } },
  'PUT /_sandbox/deprecations': { data: [] },
  'POST /_sandbox/outcomes': { outcome: 'FAILED' },
  'PUT /_sandbox/direct-debit/:/outcome': { outcome: 'FAILED' },
  'PUT /_sandbox/payout-links/:/outcome': { outcome: 'FAILED' },
}

t.test('decisions §12: an unknown client is 404 on every call that acts on one', async t => {
  const app = build(t, { fixtures })
  const state = (await call(app, 'GET', '/_sandbox/state')).body
  const seen = []
  for (const route of tenantCalls) {
    const [method = '', path = ''] = route.split(' ')
    const body = route === 'PUT /_sandbox/state' ? state : bodies[route]
    const url = `${path.replace(':', route.includes('requests/:') ? '1' : 'ref-00001')}?client=nobody${route.endsWith('/search') ? '&q=x' : ''}`
    const answer = await call(app, method, url, { body })
    seen.push([route, answer.status, answer.body.code, answer.body.field, answer.body.message.includes('"nobody"')])
  }
  t.same(
    seen,
    tenantCalls.map(route => [route, 404, 'CLIENT_NOT_FOUND', 'client', true]),
  )
  t.equal((await call(app, 'GET', '/_sandbox/clients')).body.data.length, 1, 'and none is made by that')
})

t.test('decisions §12: the client is given once and not empty; calls of no tenant take any name', async t => {
  const { app } = await newClient()
  await table(t, path => call(app, 'GET', `/_sandbox${path}`), {
    200: ['', '/clients', '/reason-codes', '/errors', '/kinds', '/health/live', '/health/ready'].map(
      path => `${path}?client=nobody`,
    ),
    [invalidQuery('client')]: ['/clock?client='],
    [malformed('client')]: ['/clock?client=a&client=b'],
    [malformed(null)]: ['/clock?client=%ff'],
  })
  t.same((await call(app, 'GET', '/_sandbox/health/live')).body, { status: 'ok' })
})

t.test('decisions §12: a call acts on sandbox-client unless it names another', async t => {
  const app = build(t, { fixtures })
  const [acme, other] = [await connect(app, 'acme'), await connect(app, 'other')]
  for (const client of [acme, other]) await client.post('/api/v1/mandates', mandate())
  await acme.control('POST', '/mandates/MND-0001/cancel')
  await call(app, 'POST', '/_sandbox/clock/advance', { body: { by: 'P1D' } })
  const clock = async (query: string) => (await call(app, 'GET', `/_sandbox/clock${query}`)).body.now
  const later = '2026-11-03T09:00:00Z'
  t.same([await clock(''), await clock('?client=sandbox-client'), await clock('?client=acme')], [later, later, MONDAY])
  t.equal((await other.get('/api/v1/mandates/MND-0001')).body.status, 'ACTIVE')
  refused(t, await acme.control('GET', '/bills/INV-2026-001'), 404, 'BILL_NOT_FOUND', 'uniqueReferenceIdentifier')
})

t.test('decisions §12: the answer of each call but GET names its client in Sandbox-Client', async t => {
  const clientId = 'Müller & Söhne'
  const app = build(t, { clients: [{ clientId, clientSecret: 'secret', fixture: 'demo' }] })
  let count = 0
  for (const operation of operationsOf((await call(app, 'GET', '/_sandbox/openapi.json')).body)) {
    const { url, body } = exampleRequest(operation)
    const { method, id } = operation
    if (id === 'verifyCredentials') continue
    const state = id === 'restoreState' ? (await call(app, 'GET', '/_sandbox/state')).body : body
    const place = id === 'removeClient' ? '/_sandbox/clients/gone' : url
    for (const query of ['', `?client=${encodeURIComponent(clientId)}`]) {
      if (id === 'removeClient' && query !== '') continue
      const { status, headers } = await call(app, method, `${place}${query}`, { body: state })
      const expected = id === 'removeClient' ? 'gone' : query === '' ? 'sandbox-client' : encodeURIComponent(clientId)
      if (method === 'GET') t.equal(headers['sandbox-client'], undefined, id)
      // A body that is refused before the call has a client.
      else if (status !== 400) t.equal(headers['sandbox-client'], expected, `${++count} ${id}`)
    }
  }
  t.ok(count > 40, `${count} answers`)
  const credentials = { client_id: 'new', client_secret: 'secret' }
  const verified = await call(app, 'POST', '/_sandbox/credentials/verify', { body: credentials })
  t.equal(verified.headers['sandbox-client'], 'new')
})
