import type { FastifyInstance } from 'fastify'
import { sha256 } from '../../src/core/digests.js'
import { claim, FORMS, open, stateOf as statusOf } from '../areas/pages.js'
import { bill, call, collection, connect, MONDAY, mandate, payoutLink, requestToken } from '../helper.js'
import { manualTime } from '../manual-time.js'
import { multipart } from '../multipart.js'
import { onDatabase, onSqliteOnly, resume, sqlite, stateOf } from './helper.js'

onDatabase('persistence, What is kept: all that a tenant has outlasts a crash, and goes on', async (t, storage) => {
  const first = await storage.start()
  const client = await connect(first.app)
  await client.post('/api/v1/mandates', mandate())
  for (const n of [1, 2, 3])
    await client.post('/api/v1/direct-debit', collection({ collectionReference: `COL-000${n}` }))
  // The record that was changed last is not the last in the order of creation.
  await client.control('PUT', '/direct-debit/COL-0001/outcome', { outcome: 'FAILED' })
  const { payoutLinkId } = (await client.post('/api/v1/payout-links', payoutLink())).body
  await client.control('PUT', '/settings', { mandateActivation: 'manual', deprecationStyle: 'rfc' })
  await client.control('PUT', '/deprecations', { data: [{ operation: 'GET /api/v1/bills' }] })
  await client.control('POST', '/faults', { times: 3, effect: { kind: 'error', status: 418 } })
  await client.get('/api/v1/accounts')
  await client.control('POST', '/clock/advance', { by: 'PT20M' })
  const state = await stateOf(first.app)

  const { app } = await storage.restart(first)
  t.equal(await stateOf(app), state)
  const { send, control } = resume(app, client.token)
  t.match((await control('GET', '/faults')).body.data, [{ id: 'fault-1', seen: 1, fired: 1, state: 'armed' }])
  t.same([(await send('GET', '/api/v1/bills')).status, (await send('GET', '/api/v1/bills')).status], [418, 418])
  const bills = await send('GET', '/api/v1/bills')
  t.equal(bills.status, 200, 'a token from before, and the fault is spent')
  t.match(bills.headers, { deprecation: /^@\d+$/ })
  const second = await send('POST', '/api/v1/mandates', mandate({ mandateReference: 'MND-0002' }))
  t.match(second.body, { status: 'PENDING' })
  t.equal((await send('POST', '/api/v1/mandates', mandate())).status, 409)
  t.not((await send('POST', '/api/v1/payout-links', payoutLink())).body.payoutLinkId, payoutLinkId, 'ids go on')
  const { last } = (await control('GET', '/events')).body
  await send('DELETE', '/api/v1/mandates/MND-0001')
  const { data } = (await call(app, 'GET', `/_sandbox/events?client=acme&after=${last}`)).body
  const found = data.map(({ reference }: { reference: string }) => reference)
  t.same(found, ['MND-0001', 'COL-0001', 'COL-0002', 'COL-0003'], 'collections are cancelled in the order of creation')
})

onDatabase(
  'control plane, GET /requests: a client that is not in memory has its refused requests',
  async (t, storage) => {
    let stored = await storage.start()
    const { token } = await connect(stored.app)
    const latest = async (clientId: string) =>
      (await call(stored.app, 'GET', `/_sandbox/requests?client=${clientId}&limit=1`)).body.data[0]?.status
    for (const [status, send] of [
      [404, () => call(stored.app, 'GET', '/api/v1/nowhere', { headers: { authorization: `Bearer ${token}` } })],
      [400, () => requestToken(stored.app, { grant_type: 'password' })],
    ] as const) {
      stored = await storage.restart(stored)
      t.equal((await send()).status, status)
      t.same([await latest('acme'), await latest('sandbox-client')], [status, undefined])
    }
  },
)

const reversed = <E extends object>(event: E) => Object.fromEntries(Object.entries(event).reverse()) as unknown as E

onDatabase('control plane, GET /events: the members of events have one order everywhere', async (t, storage) => {
  const { timers } = manualTime()
  const first = await storage.start({ timers })
  const demo = (app: FastifyInstance) => app.inject('/_sandbox/events?client=sandbox-client')
  const listed = (await demo(first.app)).payload
  const all: object[] = JSON.parse(listed).data
  t.ok(listed.includes('"cause":"seed","reasonCode"'))

  async function isSame(app: FastifyInstance, what: string) {
    t.equal((await demo(app)).payload, listed, what)
    t.same(JSON.stringify(JSON.parse(await stateOf(app, 'sandbox-client')).events), JSON.stringify(all), what)
  }
  await isSame(first.app, 'from a fixture')
  const state = JSON.parse(await stateOf(first.app, 'sandbox-client'))
  const body = { ...state, events: state.events.map(reversed) }
  t.equal((await call(first.app, 'PUT', '/_sandbox/state?client=sandbox-client', { body })).status, 200)
  await isSame(first.app, 'from a document')
  const rows = (await storage.rows()).map(row => JSON.parse(row)).filter(row => /^{"seq"/.test(row.content))
  const statements = rows.map(({ client_id, number, content }) => {
    const other = JSON.stringify(reversed(JSON.parse(content)))
    return `UPDATE sandbox_event SET content = '${other}' WHERE client_id = '${client_id}' AND number = ${number};`
  })
  t.equal(statements.length, all.length)
  const second = await storage.change(first, statements.join('\n'), { timers })
  await isSame(second.app, 'from rows')
})

onDatabase('persistence, What is kept: a running clock goes on while no server runs', async (t, storage) => {
  const time = { now: Date.parse(MONDAY) + 250 }
  const options = { clock: 'real', now: () => time.now }
  let stored = await storage.start(options)
  const client = await connect(stored.app)
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/direct-debit', collection())
  await client.control('PATCH', '/clock', { rate: 3600 })
  time.now += 7250
  const clockOf = async () => (await call(stored.app, 'GET', '/_sandbox/clock?client=acme')).body
  const expected = { now: '2026-11-02T16:15:00Z', mode: 'running', rate: 3600 }
  t.same(await clockOf(), expected)
  for (let count = 0; count < 2; count++) {
    stored = await storage.restart(stored, options)
    t.same(await clockOf(), expected, 'no time is lost')
  }
  time.now += 7 * 24_000
  stored = await storage.restart(stored, options)
  t.match(await clockOf(), { now: '2026-11-09T16:15:00Z' })
  const { timeline } = (await call(stored.app, 'GET', '/_sandbox/direct-debit/COL-0001?client=acme')).body
  t.same(
    timeline.map(({ to, at }: { to: string; at: string }) => `${at} ${to}`),
    [
      '2026-11-02T09:00:00Z PENDING',
      '2026-11-05T15:00:00Z SUBMITTED',
      '2026-11-06T08:00:00Z PROCESSING',
      '2026-11-09T13:00:00Z SETTLED',
    ],
    'each due transition happened at its own time',
  )
  const state = await stateOf(stored.app)
  stored = await storage.restart(stored, options)
  t.equal(await stateOf(stored.app), state, 'and is in the database')
})

onDatabase('persistence, What is kept: a frozen clock stands, whatever SANDBOX_CLOCK is now', async (t, storage) => {
  const first = await storage.start()
  const client = await connect(first.app)
  await client.control('POST', '/clock/advance', { by: 'P1D' })
  const { app } = await storage.restart(first, { clock: 'real', now: () => 1_000_000_000_000 })
  t.match((await call(app, 'GET', '/_sandbox/clock?client=acme')).body, { now: '2026-11-03T09:00:00Z', mode: 'frozen' })
  await requestToken(app, { client_id: 'fresh' })
  const fresh = (await call(app, 'GET', '/_sandbox/clock?client=fresh')).body
  t.match(fresh, { now: '2001-09-09T01:46:40Z', mode: 'running' })
})

onDatabase('decisions §3: secrets and ended tokens are the same after a restart', async (t, storage) => {
  const first = await storage.start()
  const client = await connect(first.app)
  const reset = await connect(first.app, 'reset')
  const fork = (body: object) => client.control('POST', '/fork', body)
  t.equal((await fork({ clientId: 'same' })).status, 201)
  t.equal((await fork({ clientId: 'other', clientSecret: 'another' })).status, 201)
  const state = await stateOf(first.app)
  await client.control('POST', '/tokens/expire')
  await client.control('PUT', '/state', JSON.parse(state))
  const { access_token: later } = (await requestToken(first.app)).body
  await reset.control('POST', '/reset')
  const { access_token: fresh } = (await requestToken(first.app, { client_id: 'reset' })).body

  // Registered clients need no open registration.
  const { app } = await storage.restart(first, { openRegistration: false })
  const codes = []
  for (const token of [client.token, later, reset.token, fresh]) {
    const { status, body } = await resume(app, token).send('GET', '/api/v1/bills')
    codes.push(body.code ?? status)
  }
  t.same(codes, ['EXPIRED_TOKEN', 200, 'INVALID_TOKEN', 200])
  for (const [client_id, right, wrong] of [
    ['acme', 'secret', 'another'],
    ['same', 'secret', 'another'],
    ['other', 'another', 'secret'],
    ['sandbox-client', 'sandbox-secret', 'secret'],
  ] as const) {
    const refusal = await requestToken(app, { client_id, client_secret: wrong })
    t.match([refusal.status, refusal.body.code], [401, 'INVALID_CLIENT'], client_id)
    t.equal((await requestToken(app, { client_id, client_secret: right })).status, 200, client_id)
  }
  t.match((await requestToken(app, { client_id: 'unknown' })).body, { code: 'INVALID_CLIENT' })
})

onDatabase('decisions §3: a client of the list has the secret of the list, and its tenant', async (t, storage) => {
  const listed = (clientSecret: string) => [{ clientId: 'Käse & Söhne', clientSecret, scope: 'read' }]
  const id = { client_id: 'Käse & Söhne' }
  const first = await storage.start({ clients: listed('old') })
  const { access_token } = (await requestToken(first.app, { ...id, client_secret: 'old' })).body
  await resume(first.app, access_token).send('POST', '/api/v1/bills', bill())
  const { app } = await storage.restart(first, { clients: listed('new') })
  t.equal((await requestToken(app, { ...id, client_secret: 'old' })).status, 401)
  t.equal(
    (await resume(app, access_token).send('GET', '/api/v1/bills')).status,
    401,
    'its tokens are those of the list',
  )
  const renewed = (await requestToken(app, { ...id, client_secret: 'new' })).body
  t.equal(renewed.scope, 'read')
  t.equal((await resume(app, renewed.access_token).send('GET', '/api/v1/bills')).body.totalCount, 1)
})

onDatabase('persistence, What is kept: no row has a secret, token or content of a document', async (t, storage) => {
  const stored = await storage.start()
  const { app } = stored
  const hush = { client_id: 'acme', client_secret: 'hush-secret' }
  const { access_token } = (await requestToken(app, hush)).body
  const { send, control } = resume(app, access_token)
  await send('POST', '/api/v1/bills', bill({ description: 'visible-text' }))
  const content = Buffer.concat([Buffer.from('%PDF-1.7\nhush-content'), Buffer.from([0, 13, 10, 255, 254])])
  const names = ['a.pdf', 'é; x.pdf', 'token=visible-name.pdf']
  for (const fileName of names) {
    const headers = {
      authorization: `Bearer ${access_token}`,
      'content-type': 'multipart/form-data; boundary=tap-boundary',
    }
    const body = multipart({ fileName, content })
    const url = `/api/v1/bills/${bill().uniqueReferenceIdentifier}/document`
    t.equal((await call(app, 'POST', url, { region: 'EU', headers, body })).status, 201)
  }
  await control('POST', '/fork', { clientId: 'copy', clientSecret: 'hush-copy' })
  await call(app, 'POST', '/_sandbox/credentials/verify', { body: { ...hush, client_secret: 'hush-wrong' } })
  const state = await stateOf(app)
  t.match(
    JSON.parse(state).bills[0].record.documents,
    names.map(fileName => ({ fileName, size: content.length })),
  )
  const rows = await storage.dump()
  t.match(rows, 'visible-text')
  t.match(rows, 'visible-name')
  t.notMatch(rows, 'hush')
  t.notOk(rows.includes(access_token) || rows.includes(content.toString('base64').slice(4, 24)))
  t.equal(await stateOf((await storage.restart(stored)).app), state)
})

onDatabase('decisions §8: a claim outlasts a crash, and the page finds its tenant again', async (t, storage) => {
  const first = await storage.start()
  const client = await connect(first.app)
  const create = async () => (await client.post('/api/v1/payout-links', payoutLink())).body.payoutLinkId
  const [claimed, still] = [await create(), await create()]
  await claim(client, claimed, FORMS['SEPA-CT'] ?? {})
  const state = await stateOf(first.app)
  const { app } = await storage.restart(first)
  t.equal(
    (await open({ app, clientId: 'acme' }, still)).statusCode,
    200,
    'no request has brought the tenant into memory',
  )
  t.equal(statusOf(await open({ app, clientId: 'acme' }, claimed)), 'PAYOUT_LINK_ALREADY_CLAIMED')
  t.equal(await stateOf(app), state)
})

/** A client id that exceeds what an index of Postgres takes. */
const LONG = Array.from({ length: 150 }, (_, n) => sha256(`${n}`)).join('')

onDatabase('control plane, DELETE /clients/{clientId}: a removed client is gone after restarts', async (t, storage) => {
  let stored = await storage.start()
  const client = await connect(stored.app)
  await client.post('/api/v1/payout-links', payoutLink())
  t.match(await call(stored.app, 'DELETE', '/_sandbox/clients/acme'), { status: 200, body: { removed: 1 } })
  for (const _ of ['here', 'after a restart']) {
    for (const url of ['acme', 'a%00b', LONG].map(id => `/_sandbox/state?client=${id}`)) {
      t.match(await call(stored.app, 'GET', url), { status: 404, body: { code: 'CLIENT_NOT_FOUND' } })
    }
    t.equal((await call(stored.app, 'DELETE', '/_sandbox/clients/acme')).status, 404)
    t.equal((await resume(stored.app, client.token).send('GET', '/api/v1/bills')).status, 401)
    stored = await storage.restart(stored)
  }
  t.equal((await requestToken(stored.app, { client_secret: 'another' })).status, 200)
  t.equal((await resume(stored.app, client.token).send('GET', '/api/v1/bills')).status, 401, 'its tokens stay invalid')
  t.match(JSON.parse(await stateOf(stored.app)), { payoutLinks: [], events: [] })
  const first = await requestToken(stored.app, { client_id: 'a\0b' })
  t.match([first.status, first.body.code], [401, 'INVALID_CLIENT'])
})

onDatabase(
  'control plane, DELETE /clients/{clientId}: its tokens are invalid where it is listed later',
  async (t, storage) => {
    const first = await storage.start()
    const before = await connect(first.app)
    await before.control('POST', '/reset')
    const after = await connect(first.app)
    await call(first.app, 'DELETE', '/_sandbox/clients/acme')
    const { app } = await storage.restart(first, { clients: [{ clientId: 'acme', clientSecret: 'secret' }] })
    for (const _ of ['first', 'after a reset']) {
      t.equal((await call(app, 'GET', '/_sandbox/state?client=acme')).status, 200)
      for (const { token } of [before, after]) {
        t.equal((await resume(app, token).send('GET', '/api/v1/bills')).status, 401)
      }
      await call(app, 'POST', '/_sandbox/reset?client=acme')
    }
  },
)

onDatabase('persistence, Upgrades: a client without its fixture is reset to empty', async (t, storage) => {
  const mine = new Map([['mine', { counterparties: [] }]]) as never
  const clients = [{ clientId: 'acme', clientSecret: 'secret', fixture: 'mine' }]
  const first = await storage.start({ fixtures: mine, clients })
  await connect(first.app)
  const { app } = await storage.restart(first)
  t.match(await call(app, 'POST', '/_sandbox/reset?client=acme'), { status: 200, body: { fixture: 'empty' } })
})

onDatabase('settings, SANDBOX_MAX_TENANTS: a tenant makes room for another, and comes back', async (t, storage) => {
  const messages: string[] = []
  const { app } = await storage.start({ maxTenants: 2, messages })
  const clientIds = ['a', 'b', 'c', 'd']
  const links = new Map<string, string>()
  for (const clientId of clientIds) {
    const client = await connect(app, clientId)
    links.set(clientId, (await client.post('/api/v1/payout-links', payoutLink())).body.payoutLinkId)
  }
  const rounds = [...links, ...links, ...links].flatMap(link => [link, link])
  const pages = await Promise.all(rounds.map(([clientId, id]) => open({ app, clientId }, id)))
  t.same(new Set(pages.map(({ statusCode }) => statusCode)), new Set([200]))
  const { data } = (await call(app, 'GET', '/_sandbox/clients')).body
  t.same(data.map(({ clientId }: { clientId: string }) => clientId).sort(), [...clientIds, 'sandbox-client'])
  t.match((await call(app, 'GET', '/_sandbox')).body, { tenants: 5 })
  t.same(messages, [], 'no tenant is dropped')
})

onSqliteOnly('persistence, What is kept: records of a fixture stay after a restart with another one', async t => {
  const storage = sqlite(t)
  const fixtures = (dueDate: string) =>
    new Map([
      ['empty', {}],
      ['demo', {}],
      ['story', { bills: [bill({ dueDate })] }],
    ])
  const first = await storage.start({ fixtures: fixtures('{{today+P14D}}') })
  const client = await connect(first.app)
  t.equal((await client.control('POST', '/seed', { fixture: 'story' })).status, 200)
  const state = await stateOf(first.app)
  t.match(JSON.parse(state).bills, [{ record: { dueDate: '2026-11-16' } }])
  t.equal(await stateOf((await storage.restart(first, { fixtures: fixtures('2030-01-01') })).app), state)
})

onDatabase('persistence, What is kept: a text of a state document can have U+0000', async (t, storage) => {
  const first = await storage.start()
  const client = await connect(first.app)
  await client.post('/api/v1/bills', bill())
  const document = JSON.parse(await stateOf(first.app))
  document.events.push({ ...document.events[0], seq: 2, reference: 'a\u0000b' })
  t.equal((await client.control('PUT', '/state', document)).status, 200)
  const { app } = await storage.restart(first)
  t.same(JSON.parse(await stateOf(app)), document)
})

onDatabase('persistence, What is kept: a client without a row leaves nothing to the next', async (t, storage) => {
  const first = await storage.start()
  const client = await connect(first.app)
  await client.post('/api/v1/bills', bill())
  const stored = await storage.change(first, "DELETE FROM sandbox_tenant WHERE client_id = 'acme'")
  await connect(stored.app)
  t.match(JSON.parse(await stateOf((await storage.restart(stored)).app)), {
    bills: { length: 0 },
    events: { length: 0 },
  })
})
