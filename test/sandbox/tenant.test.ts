import type { FastifyInstance } from 'fastify'
import t from 'tap'
import type { Fixtures } from '../../src/tenants/fixtures.js'
import type { ClientEntry } from '../../src/tenants/registry.js'
import { invalid, invalidQuery, malformed, missing, NO_ROUTE, refused, refusesValues, table } from '../answers.js'
import type { Client } from '../helper.js'
import {
  bill,
  build,
  call,
  collection,
  connect,
  MONDAY,
  mandate,
  newClient,
  payoutLink,
  pluck,
  requestToken,
} from '../helper.js'
import { createPlayer, injecting, randomRequests } from '../random-requests.js'

// control plane: DELETE /clients, POST /credentials/verify, POST /reset, POST /fork, PUT /settings, POST /tokens/expire.

const MANDATES = '/api/v1/mandates'

const read = async (app: FastifyInstance, client: string) =>
  (await app.inject({ method: 'GET', url: `/_sandbox/state?client=${client}` })).payload
const fork = (app: FastifyInstance, from: string, body: unknown) =>
  call(app, 'POST', `/_sandbox/fork?client=${from}`, { body })
const withToken = (app: FastifyInstance, token: string, url = MANDATES) =>
  call(app, 'GET', url, { region: 'EU', headers: { authorization: `Bearer ${token}` } })
const tokenOf = async (app: FastifyInstance, client_id: string): Promise<string> =>
  (await requestToken(app, { client_id })).body.access_token
const clientIds = async (app: FastifyInstance): Promise<string[]> =>
  pluck((await call(app, 'GET', '/_sandbox/clients')).body.data, 'clientId')
const set = (client: Client, settings: unknown) => client.control('PUT', '/settings', settings)
const expire = (client: Client) => client.control('POST', '/tokens/expire')

const START = {
  ...{ mandateActivation: 'automatic', deprecationStyle: 'seed', tokenAuthentication: 'form-or-basic' },
  senderName: null,
  allowedOrigins: ['http://localhost:*', 'http://127.0.0.1:*'],
}

/** A tenant with records, a future, faults, outcomes, settings and deprecations. */
async function stocked(app: FastifyInstance, clientId = 'acme'): Promise<Client> {
  const client = await connect(app, clientId)
  await client.post(MANDATES, mandate())
  await client.post('/api/v1/direct-debit', collection())
  await client.post('/api/v1/bills', bill())
  await client.post('/api/v1/payout-links', payoutLink())
  await set(client, { allowedOrigins: ['https://shop.example'], deprecationStyle: 'rfc' })
  await client.control('PUT', '/deprecations', { data: [{ operation: 'GET /api/v1/bills' }] })
  const effect = { kind: 'error', status: 503 }
  const match = { path: '/api/v1/accounts' }
  await client.control('POST', '/faults', { match, times: 30, probability: 0.5, effect })
  await client.control('POST', '/outcomes', { outcome: 'FAILED', times: null })
  await client.get('/api/v1/accounts')
  return client
}

// ------------------------------------------------------------------------------------------------------------ reset

t.test('control plane, POST /reset: records, events and transitions are those of the fixture again', async t => {
  const fixtures: Fixtures = new Map([
    ['demo', { mandates: [mandate({ mandateReference: 'MND-DEMO', createdAt: '{{now-P3D}}' })] }],
    ['empty', {}],
  ])
  const app = build(t, { fixtures })
  const client = await connect(app)
  await client.post(MANDATES, mandate())
  await client.post('/api/v1/direct-debit', collection())
  const answer = await client.control('POST', '/reset')
  t.same([answer.status, answer.body.clientId, answer.body.fixture], [200, 'acme', 'empty'])
  t.equal((await client.control('GET', '/mandates/MND-0001')).status, 404)
  t.same((await client.control('POST', '/clock/advance', { by: 'P2000D' })).body.transitions, [])
  await client.control('POST', '/seed', { records: { mandates: [mandate()] } })
  t.match((await client.read('/mandates/MND-0001')).timeline, [{ seq: 1 }], 'events begin with 1')

  await call(app, 'POST', '/_sandbox/mandates/MND-DEMO/cancel')
  await call(app, 'POST', '/_sandbox/reset')
  const { body } = await call(app, 'GET', '/_sandbox/mandates/MND-DEMO')
  t.match(body, { record: { status: 'ACTIVE', createdAt: '2026-10-30T09:00:00Z' }, timeline: [{ seq: 1 }] })
})

t.test('control plane, POST /reset: the clock is where it started, as it started', async t => {
  let real = Date.parse(MONDAY)
  for (const [clock, mode, now] of [
    [MONDAY, 'frozen', MONDAY],
    ['real', 'running', '2026-11-02T09:02:00Z'],
  ]) {
    const client = await connect(build(t, { clock, now: () => real }))
    await client.control('POST', '/clock/advance', { by: 'P40D' })
    await client.control('PATCH', '/clock', { mode: clock === 'real' ? 'frozen' : 'running', rate: 60 })
    real += 60_000
    await client.control('POST', '/reset')
    t.same(await client.read('/clock'), { now, mode, rate: 1 })
  }
})

t.test('control plane, POST /reset: ids begin again, so that the same calls get the same answers', async t => {
  const { app, clientId, control } = await newClient()
  const story = async () => {
    await control('POST', '/reset')
    const { post } = await connect(app, clientId)
    const answers = []
    for (const _ of [1, 2]) answers.push((await post('/api/v1/payout-links', payoutLink())).body)
    answers.push((await post(MANDATES, mandate())).body)
    return JSON.stringify(answers)
  }
  const before = await story()
  t.match(before, /"payoutLinkId"/)
  t.equal(await story(), before)
})

t.test('control plane, POST /reset: earlier tokens are unknown; the secret and other tenants stay', async t => {
  let real = Date.parse(MONDAY)
  const app = build(t, { clock: 'real', now: () => real })
  const [client, other] = [await connect(app), await connect(app, 'other')]
  await other.post(MANDATES, mandate())
  const before = await read(app, 'other')
  await client.control('POST', '/reset')
  refused(t, await withToken(app, client.token), 401, 'INVALID_TOKEN', 'authorization')
  real += 60_000
  const fresh = await tokenOf(app, 'acme')
  t.equal((await withToken(app, fresh)).status, 200)
  t.equal((await withToken(app, client.token)).body.code, 'INVALID_TOKEN')
  t.equal((await requestToken(app, { client_secret: 'x' })).body.code, 'INVALID_CLIENT')
  real -= 60_000
  t.equal(await read(app, 'other'), before)
})

t.test('control plane, POST /reset: settings, faults, outcomes and deprecations are those of the start', async t => {
  const allowedOrigins = ['https://own.example']
  const client = await stocked(build(t, { clients: [{ clientId: 'acme', clientSecret: 'secret', allowedOrigins }] }))
  await client.control('POST', '/reset')
  t.match(await client.read('/state'), {
    faults: [],
    outcomes: [],
    deprecations: [],
    settings: { ...START, allowedOrigins },
  })
})

t.test('decisions §8: a client starts with the sender name of its entry, else of its fixture', async t => {
  const fixtures = new Map([
    ['demo', {}],
    ['empty', {}],
    ['branded', { senderName: 'The fixture' }],
  ])
  const starts: [string, Partial<ClientEntry>, string | null][] = [
    ['none', {}, null],
    ['own', { senderName: 'The entry' }, 'The entry'],
    ['fixture', { fixture: 'branded' }, 'The fixture'],
    ['both', { fixture: 'branded', senderName: 'The entry' }, 'The entry'],
  ]
  const clients = starts.map(([clientId, entry]) => ({ clientId, clientSecret: 'secret', ...entry }))
  const app = build(t, { fixtures, clients })
  const senderOf = async (client: string) => JSON.parse(await read(app, client)).settings.senderName
  for (const [clientId, , sender] of starts) {
    const client = await connect(app, clientId)
    t.equal(await senderOf(clientId), sender, clientId)
    await set(client, { senderName: 'Another' })
    const copy = `${clientId}-copy`
    await fork(app, clientId, { clientId: copy })
    t.equal(await senderOf(copy), 'Another', 'a fork has the setting of its origin')
    for (const one of [clientId, copy]) {
      await call(app, 'POST', `/_sandbox/reset?client=${one}`)
      t.equal(await senderOf(one), sender, `${one} after a reset`)
    }
    await client.control('POST', '/seed', { fixture: 'branded' })
    t.equal(await senderOf(clientId), sender, 'a seed adds records only')
  }
})

// ------------------------------------------------------------------------------------------------------------- fork

t.test('control plane, POST /fork: 201 with the client id; the copy is exact, and its request log empty', async t => {
  const app = build(t)
  const client = await stocked(app)
  const [acme, demo] = [await read(app, 'acme'), await read(app, 'sandbox-client')]
  const log = await client.read('/requests')
  const answer = await fork(app, 'acme', { clientId: 'copy' })
  t.same([answer.status, answer.body], [201, { clientId: 'copy' }])
  await fork(app, 'sandbox-client', { clientId: 'demo-copy' })
  await fork(app, 'copy', { clientId: 'copy-of-copy' })
  for (const copy of ['acme', 'copy', 'copy-of-copy']) t.equal(await read(app, copy), acme, copy)
  t.equal(await read(app, 'demo-copy'), demo)
  t.same((await clientIds(app)).sort(), ['acme', 'copy', 'copy-of-copy', 'demo-copy', 'sandbox-client'])
  t.same((await call(app, 'GET', '/_sandbox/requests?client=copy')).body, { data: [], last: 0, dropped: 0 })
  t.same(await client.read('/requests'), log, 'that of the origin goes on')
})

t.test('control plane, POST /fork: a running clock runs on in step, and what is due has happened', async t => {
  let real = Date.parse(MONDAY) + 250
  const app = build(t, { clock: 'real', now: () => real })
  const client = await connect(app)
  await client.post('/api/v1/payout-links', payoutLink({ expiryPeriod: 'PT10M' }))
  real += 600_000
  await client.control('PATCH', '/clock', { rate: 7 })
  real += 700
  await fork(app, 'acme', { clientId: 'copy' })
  t.match((await call(app, 'GET', '/_sandbox/events?client=copy')).body.data, [{ to: 'ACTIVE' }, { to: 'EXPIRED' }])
  for (let count = 0; count < 10; count++) {
    real += 137
    t.equal(await read(app, 'copy'), await read(app, 'acme'))
  }
})

t.test('control plane, POST /fork: copy and origin are independent, with the same future', async t => {
  const app = build(t)
  const client = await stocked(app)
  await fork(app, 'acme', { clientId: 'copy' })
  await client.advance({ by: 'PT0S' })
  const live = async (clientId: string) => {
    const player = createPlayer(injecting(app), clientId, 'secret')
    await player.authenticate()
    for (const request of randomRequests(4, 100)) await player.play(request)
    return read(app, clientId)
  }
  const before = await read(app, 'acme')
  const after = await live('copy')
  t.not(after, before)
  t.equal(await read(app, 'acme'), before)
  t.equal(await live('acme'), after)
  await client.control('POST', '/reset')
  t.equal(await read(app, 'copy'), after)
})

t.test('decisions §3: a fork has fixture, scope and allowed origins of its origin, also after a reset', async t => {
  const entry = { clientSecret: 'secret', scope: 'shop:all', allowedOrigins: ['https://shop.example'] }
  const app = build(t, { clients: [{ clientId: 'shop', fixture: 'demo', ...entry }] })
  await fork(app, 'shop', { clientId: 'copy' })
  await call(app, 'POST', '/_sandbox/clock/advance?client=copy', { body: { by: 'P9D' } })
  const { body } = await call(app, 'POST', '/_sandbox/reset?client=copy')
  t.match(body, { clientId: 'copy', fixture: 'demo', now: MONDAY })
  const [copy, origin] = [JSON.parse(await read(app, 'copy')), JSON.parse(await read(app, 'shop'))]
  t.same([copy.mandates, copy.settings, copy.ids.scope], [origin.mandates, origin.settings, 'copy'])
  t.equal((await requestToken(app, { client_id: 'copy' })).body.scope, 'shop:all')
})

t.test('control plane, POST /fork: the fork has the secret that is given, else that of its origin', async t => {
  const app = build(t, { openRegistration: false, clients: [{ clientId: 'acme', clientSecret: 'hush' }] })
  const longest = 'ü'.repeat(1000)
  const longId = 'Az09._-'.padEnd(64, 'x')
  await fork(app, 'acme', { clientId: 'same' })
  await fork(app, 'acme', { clientId: longId, clientSecret: longest })
  const cases = [
    ['same', 'hush', 200],
    ['same', 'other', 401],
    [longId, longest, 200],
    [longId, 'hush', 401],
    ['acme', 'hush', 200],
    ['acme', longest, 401],
    ['not-forked', 'hush', 401],
  ] as const
  for (const [client_id, client_secret, status] of cases)
    t.equal((await requestToken(app, { client_id, client_secret })).status, status, client_id)
})

t.test('control plane, POST /fork: wrong requests are refused, and no tenant is made or changed', async t => {
  const app = build(t, { clients: [{ clientId: 'listed', clientSecret: 'secret' }] })
  await stocked(app)
  const before = await read(app, 'listed')
  const send = (body: unknown) => fork(app, 'acme', body)
  await table(t, send, {
    [missing('clientId')]: [undefined, { clientSecret: 'secret' }, { clientId: '' }],
    '409 DUPLICATE_REFERENCE clientId': ['acme', 'listed', 'sandbox-client'].map(clientId => ({ clientId })),
    [malformed(null)]: ['{"clientId": "copy"'],
    [invalid(null)]: ['[]'],
  })
  const wrong = {
    clientId: [null, 5, ['a'], 'x'.repeat(65), 'a b', 'a/b', 'ä', 'a\n', '.', '..'],
    clientSecret: ['', 'x'.repeat(1001), 5, null],
  }
  await refusesValues(t, send, { clientId: 'copy' }, wrong)
  t.same(await clientIds(app), ['sandbox-client', 'listed', 'acme'])
  t.equal(await read(app, 'listed'), before)
})

t.test('settings, SANDBOX_MAX_TENANTS: a fork for which there is no room is refused, and changes nothing', async t => {
  const app = build(t, { maxTenants: 2 })
  await connect(app)
  const before = await read(app, 'acme')
  refused(t, await fork(app, 'acme', { clientId: 'copy' }), 503, 'SERVICE_UNAVAILABLE', null)
  t.same([await read(app, 'acme'), await clientIds(app)], [before, ['sandbox-client', 'acme']])
})

t.test('control plane, POST /fork: forks of demo fit in 1 MiB each', async t => {
  const count = process.env.TEST_LONG === '1' ? 1000 : 100
  const app = build(t, { maxTenants: count + 1 })
  const demo = await read(app, 'sandbox-client')
  const before = process.memoryUsage().rss
  for (let at = 1; at <= count; at++) await fork(app, 'sandbox-client', { clientId: `job-${at}` })
  const grown = process.memoryUsage().rss - before
  t.ok(grown < count * 1024 ** 2, `grown by ${Math.round(grown / 1024 ** 2)} MiB`)
  t.equal(await read(app, `job-${count}`), demo)
  t.equal((await call(app, 'GET', '/_sandbox')).body.tenants, count + 1)
})

// --------------------------------------------------------------------------------------------------------- settings

t.test('control plane, PUT /settings: it answers all settings; members that are left out stay as they are', async t => {
  const [client, other] = [await newClient(), await newClient()]
  t.same([(await set(client, {})).body, (await set(client, undefined)).body], [START, START])
  const all = {
    ...{ mandateActivation: 'manual', deprecationStyle: 'rfc', senderName: 'Acme', tokenAuthentication: 'form' },
    allowedOrigins: ['https://shop.example'],
  }
  for (const [name, value] of Object.entries(all))
    t.match((await set(client, { [name]: value })).body, { [name]: value })
  t.same((await set(client, {})).body, all)
  t.same((await set(other, {})).body, START, 'of another tenant')
})

t.test('control plane, PUT /settings: one wrong value is refused with all the others', async t => {
  const client = await newClient()
  const origins = (count: number) => Array.from({ length: count }, (_, at) => `https://shop-${at}.example`)
  const send = (body: unknown) => set(client, body)
  const shop = 'https://shop.example'
  await refusesValues(
    t,
    send,
    { mandateActivation: 'manual', allowedOrigins: [shop] },
    {
      mandateActivation: ['MANUAL', '', 'off', true, null],
      deprecationStyle: ['RFC', 'Seed', '', 'rfc9745', true, null, ['rfc']],
      tokenAuthentication: ['basic', 'Form', '', false, null],
      allowedOrigins: [shop, {}, null, origins(101)],
      senderName: ['', ' \t', 'Acme\n', 'x'.repeat(141), 1, ['Acme']],
      'allowedOrigins.0': [
        ...[`${shop}/path`, 'https://user@shop.example', 'ftp://shop.example', `${shop}?`, '*', 1, `${shop}:99999`],
        `https://${'a.'.repeat(150)}example`,
      ],
      'allowedOrigins.1': ['shop.example'],
    },
  )
  await table(t, send, { [malformed(null)]: ['{'], [invalid(null)]: ['[]', 'null'] })
  t.same((await set(client, {})).body, START)
  t.equal((await set(client, { allowedOrigins: origins(100) })).body.allowedOrigins.length, 100)
})

// ----------------------------------------------------------------------------------------------------------- tokens

t.test('control plane, POST /tokens/expire: every token of the tenant is expired; later ones work', async t => {
  const app = build(t)
  const [client, other] = [await connect(app), await connect(app, 'other')]
  const before = await client.read('/state')
  const old = [client.token, await tokenOf(app, 'acme'), await tokenOf(app, 'acme')]
  t.match(await expire(client), { status: 200, body: { clientId: 'acme', now: MONDAY } })
  for (const token of old) {
    const refusal = await withToken(app, token)
    refused(t, refusal, 401, 'EXPIRED_TOKEN', 'authorization')
    t.equal(refusal.headers['www-authenticate'], 'Bearer realm="payments-sandbox", error="invalid_token"')
  }
  // In the same second.
  const later = await tokenOf(app, 'acme')
  for (const token of [later, other.token]) t.equal((await withToken(app, token)).status, 200)
  await expire(client)
  t.equal((await withToken(app, later)).status, 401, 'until it is asked for again')

  const { tokens, ids, ...after } = await client.read('/state')
  t.same({ ...after, tokens: before.tokens, ids: before.ids }, before, 'records and clock do not change')
  t.notSame(tokens, before.tokens)
})

t.test('control plane, POST /tokens/expire: state and fork keep it, a reset begins again', async t => {
  const app = build(t)
  const client = await connect(app)
  await expire(client)
  const fresh = await tokenOf(app, 'acme')
  const after = await client.read('/state')
  await fork(app, 'acme', { clientId: 'copy' })
  const copy = await connect(app, 'copy')
  await expire(copy)
  t.equal((await copy.get(MANDATES)).body.code, 'EXPIRED_TOKEN')
  for (const _ of ['as it is', 'after PUT /state']) {
    t.equal((await client.get(MANDATES)).body.code, 'EXPIRED_TOKEN')
    t.equal((await withToken(app, fresh)).status, 200)
    await client.control('PUT', '/state', after)
  }
  await client.control('POST', '/reset')
  t.equal((await client.get(MANDATES)).body.code, 'INVALID_TOKEN')
})

// ---------------------------------------------------------------------------------------------------------- clients

const remove = (app: FastifyInstance, clientId: string) => call(app, 'DELETE', `/_sandbox/clients/${clientId}`)
const register = (app: FastifyInstance, body: object) => call(app, 'POST', '/_sandbox/credentials/verify', { body })

t.test('control plane, DELETE /clients/{clientId}: removes a tenant with all that it had', async t => {
  const app = build(t)
  const client = await stocked(app)
  await stocked(app, 'other')
  t.match(await remove(app, 'acme'), { status: 200, body: { removed: 1 } })
  t.same(await clientIds(app), ['sandbox-client', 'other'])
  refused(t, await client.control('GET', '/state'), 404, 'CLIENT_NOT_FOUND', 'client')
  refused(t, await client.get(MANDATES), 401, 'INVALID_TOKEN', 'authorization')
  refused(t, await remove(app, 'acme'), 404, 'CLIENT_NOT_FOUND', 'clientId')

  t.equal((await requestToken(app, { client_secret: 'another' })).status, 200, 'its id is free')
  const state = JSON.parse(await read(app, 'acme'))
  t.match(state, { mandates: [], faults: [], events: [], sequence: 0, settings: { deprecationStyle: 'seed' } })
  t.equal((await client.read('/requests')).data.length, 1, 'the request log is new')
  refused(t, await withToken(app, client.token), 401, 'INVALID_TOKEN', 'authorization')
})

t.test('control plane, DELETE /clients/{clientId}: resets the demo client and listed clients', async t => {
  const clients = [{ clientId: 'listed', clientSecret: 'secret' }]
  const app = build(t, { clients })
  for (const clientId of ['sandbox-client', 'listed']) {
    const before = await read(app, clientId)
    await call(app, 'POST', `/_sandbox/seed?client=${clientId}`, { body: { records: { mandates: [mandate()] } } })
    t.not(await read(app, clientId), before)
    t.match(await remove(app, clientId), { status: 200, body: { removed: 0 } })
    t.equal(await read(app, clientId), before)
  }
  t.same(await clientIds(app), ['sandbox-client', 'listed'])
})

t.test('control plane, DELETE /clients/{clientId}: takes no other parameter; a removed tenant makes room', async t => {
  const app = build(t, { maxTenants: 2 })
  await connect(app)
  await table(t, path => remove(app, path), {
    [invalidQuery('client')]: ['acme?client=acme'],
    [NO_ROUTE]: ['a%2Fb'],
    [invalid('clientId')]: ['x'.repeat(1001)],
    '404 CLIENT_NOT_FOUND clientId': ['nobody'],
  })
  t.same(await clientIds(app), ['sandbox-client', 'acme'])
  await remove(app, 'acme')
  await connect(app, 'other')
  t.same(await clientIds(app), ['sandbox-client', 'other'])
})

t.test('control plane, POST /credentials/verify: checks a secret, and registers an unknown client', async t => {
  const app = build(t)
  const client = await connect(app)
  await client.control('DELETE', '/requests')
  await client.control('POST', '/faults', { effect: { kind: 'error', status: 500 } })
  const before = await read(app, 'acme')
  const right = { client_id: 'acme', client_secret: 'secret' }
  const verified = await register(app, right)
  t.match(verified, {
    headers: { 'sandbox-client': 'acme' },
    body: { clientId: 'acme', fixture: 'empty', now: MONDAY },
  })
  t.equal((await register(app, { client_id: 'fresh', client_secret: 'its own' })).status, 200)
  t.equal((await requestToken(app, { client_id: 'fresh', client_secret: 'its own' })).status, 200)
  await table(t, changes => register(app, { ...right, ...changes }), {
    '401 INVALID_CLIENT client_id': [{ client_secret: 'wrong' }, { client_id: 'fresh' }, { client_id: 'not an id' }],
    [missing('client_id')]: [{ client_id: '' }],
    [missing('client_secret')]: [{ client_secret: undefined }, { client_secret: '' }],
    [invalid('client_secret')]: [{ client_secret: ['secret'] }],
    [invalid('fixture')]: [{ fixture: 'demo' }],
  })
  t.same(await clientIds(app), ['sandbox-client', 'acme', 'fresh'], 'a refused client is not registered')
  t.equal(await read(app, 'acme'), before, 'it triggers no fault')
  t.same((await client.read('/requests')).data, [], 'and the request log does not have it')
})

t.test('control plane, POST /credentials/verify: registers no client without open registration', async t => {
  const app = build(t, { openRegistration: false })
  refused(t, await register(app, { client_id: 'acme', client_secret: 'secret' }), 401, 'INVALID_CLIENT', 'client_id')
})

t.test('decisions §12: Sandbox-Client names a client of at most 1,000 characters', async t => {
  const { app } = await newClient()
  for (const [length, shown] of [
    [1000, 1000],
    [1001, 0],
  ] as const) {
    const { status, headers } = await call(app, 'POST', `/_sandbox/reset?client=${'x'.repeat(length)}`)
    t.same([status, String(headers['sandbox-client'] ?? '').length], [404, shown])
  }
})
