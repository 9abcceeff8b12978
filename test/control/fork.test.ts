import type { FastifyInstance } from 'fastify'
import t from 'tap'
import type { Client } from '../helper.js'
import { bill, build, call, collection, connect, MONDAY, mandate, payoutLink, requestToken } from '../helper.js'
import { refused } from '../http/raw.js'

// control plane, POST /fork: another tenant starts as an exact copy of this one.

const read = async (app: FastifyInstance, client: string) =>
  (await app.inject({ method: 'GET', url: `/_sandbox/state?client=${client}` })).payload
const fork = (app: FastifyInstance, from: string, body: unknown) =>
  call(app, 'POST', `/_sandbox/fork?client=${from}`, { body })
const withToken = (app: FastifyInstance, token: string, url = '/api/v1/bills') =>
  call(app, 'GET', url, { region: 'EU', headers: { authorization: `Bearer ${token}` } })
const clientIds = async (app: FastifyInstance): Promise<string[]> =>
  (await call(app, 'GET', '/_sandbox/clients')).body.data.map(({ clientId }: { clientId: string }) => clientId)

/** A tenant with records, a future, faults, settings and deprecations. */
async function stocked(app: FastifyInstance, clientId = 'acme'): Promise<Client> {
  const client = await connect(app, clientId)
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/direct-debit', collection())
  await client.post('/api/v1/bills', bill())
  await client.post('/api/v1/payout-links', payoutLink())
  await client.control('PUT', '/settings', { allowedOrigins: ['https://shop.example'], deprecationStyle: 'rfc' })
  await client.control('PUT', '/deprecations', { data: [{ operation: 'GET /api/v1/bills' }] })
  await client.control('POST', '/faults', {
    match: { path: '/api/v1/accounts' },
    times: 3,
    effect: { kind: 'error', status: 503 },
  })
  await client.get('/api/v1/accounts')
  return client
}

// ------------------------------------------------------------------------------------------------------- the copy

t.test('control plane, POST /fork: 201 with the client id; the copy is exact', async t => {
  const app = build(t)
  await stocked(app)
  for (const from of ['acme', 'sandbox-client']) {
    const before = await read(app, from)
    const answer = await fork(app, from, { clientId: `${from}.2` })
    t.equal(answer.status, 201)
    t.same(answer.body, { clientId: `${from}.2` })
    t.equal(await read(app, `${from}.2`), before, 'the copy')
    t.equal(await read(app, from), before, 'and the origin')
  }
  t.same((await clientIds(app)).sort(), ['acme', 'acme.2', 'sandbox-client', 'sandbox-client.2'])
})

t.test('control plane, POST /fork: it acts on sandbox-client where no client is named', async t => {
  const app = build(t)
  t.equal((await call(app, 'POST', '/_sandbox/fork', { body: { clientId: 'copy' } })).status, 201)
  t.equal(await read(app, 'copy'), await read(app, 'sandbox-client'))
})

t.test('control plane, POST /fork: a fork of a fork is a copy, too', async t => {
  const app = build(t)
  await stocked(app)
  await fork(app, 'acme', { clientId: 'two' })
  await call(app, 'POST', '/_sandbox/mandates/MND-0001/cancel?client=two')
  await fork(app, 'two', { clientId: 'three' })
  t.equal(await read(app, 'three'), await read(app, 'two'))
  t.not(await read(app, 'three'), await read(app, 'acme'))
})

t.test('control plane, POST /fork: the copy of a running clock runs on in step, to the part of a second', async t => {
  let real = Date.parse(MONDAY) + 250
  const app = build(t, { clock: 'real', now: () => real })
  const client = await connect(app)
  await client.control('PATCH', '/clock', { rate: 7 })
  real += 700
  await fork(app, 'acme', { clientId: 'copy' })
  for (let count = 0; count < 50; count++) {
    real += 37
    t.equal(await read(app, 'copy'), await read(app, 'acme'), `${real - Date.parse(MONDAY)} ms`)
  }
})

t.test('control plane, POST /fork: what is due in the origin has happened in the copy', async t => {
  let real = Date.parse(MONDAY)
  const app = build(t, { clock: 'real', now: () => real })
  const client = await connect(app)
  await client.post('/api/v1/payout-links', payoutLink({ expiryPeriod: 'PT10M' }))
  real += 600_000
  await fork(app, 'acme', { clientId: 'copy' })
  const { data } = (await call(app, 'GET', '/_sandbox/events?client=copy')).body
  t.match(data, [{ to: 'ACTIVE' }, { to: 'EXPIRED', at: '2026-11-02T09:10:00Z' }])
})

// ---------------------------------------------------------------------------------------------------- independence

/** All that one client can do to its tenant. */
async function live(client: Client) {
  const { control } = client
  await client.advance({ by: 'P1D' })
  await client.post('/api/v1/mandates', mandate({ mandateReference: 'MND-NEW' }))
  await client.patch('/api/v1/bills/INV-2026-001', { openAmount: '1' })
  await client.patch('/api/v1/counterparties/CPTY-0001', { remarks: 'changed' })
  await client.post('/api/v1/payout-links', payoutLink())
  await client.get('/api/v1/accounts')
  await control('POST', '/direct-debit/COL-0001/cancel')
  await control('POST', '/mandates/MND-0001/cancel')
  await control('PUT', '/settings', { allowedOrigins: ['https://other.example'], mandateActivation: 'manual' })
  await control('PUT', '/deprecations', { data: [] })
  await control('POST', '/faults', { effect: { kind: 'delay', ms: 0 } })
  await control('DELETE', '/faults/fault-1')
  await control('POST', '/tokens/expire')
  await control('PATCH', '/clock', { mode: 'running', rate: 60 })
  await control('POST', '/clock/advance', { by: 'P400D' })
}

t.test('control plane, POST /fork: whatever happens to the copy, the origin is as it was', async t => {
  const app = build(t)
  await stocked(app)
  await fork(app, 'acme', { clientId: 'copy' })
  const before = await read(app, 'acme')
  await live(await connect(app, 'copy'))
  t.not(await read(app, 'copy'), before)
  t.equal(await read(app, 'acme'), before)
})

t.test('control plane, POST /fork: whatever happens to the origin, the copy is as it was', async t => {
  const app = build(t)
  const client = await stocked(app)
  await fork(app, 'acme', { clientId: 'copy' })
  const before = await read(app, 'copy')
  await live(client)
  t.not(await read(app, 'acme'), before)
  t.equal(await read(app, 'copy'), before)
  await client.control('POST', '/reset')
  t.equal(await read(app, 'copy'), before)
})

t.test('control plane, POST /fork: both come to the same, if the same happens to both', async t => {
  const app = build(t)
  const client = await stocked(app)
  await fork(app, 'acme', { clientId: 'copy' })
  const copy = await connect(app, 'copy')
  await client.advance({ by: 'PT0S' })
  await live(client)
  await live(copy)
  // The number of tokens alone tells them apart: each has asked for its own.
  const withoutTokens = (text: string) => text.replace(/"token": \d+|"expiredUpTo": \d+/g, '')
  t.equal(withoutTokens(await read(app, 'copy')), withoutTokens(await read(app, 'acme')))
})

t.test('control plane, POST /fork: faults count for each tenant alone', async t => {
  const app = build(t)
  const client = await stocked(app)
  await fork(app, 'acme', { clientId: 'copy' })
  const copy = await connect(app, 'copy')
  const fired = async ({ control }: Client) => (await control('GET', '/faults')).body.data[0].fired
  t.same([await fired(client), await fired(copy)], [1, 1])
  t.equal((await copy.get('/api/v1/accounts')).status, 503)
  t.equal((await copy.get('/api/v1/accounts')).status, 503)
  t.equal((await copy.get('/api/v1/accounts')).status, 200)
  t.same([await fired(client), await fired(copy)], [1, 3])
  t.equal((await client.get('/api/v1/accounts')).status, 503)
})

t.test('control plane, POST /fork: the request log of a fork begins empty, that of the origin goes on', async t => {
  const app = build(t)
  const client = await stocked(app)
  const before = (await client.control('GET', '/requests')).body
  await fork(app, 'acme', { clientId: 'copy' })
  t.same((await call(app, 'GET', '/_sandbox/requests?client=copy')).body, { data: [], last: 0, dropped: 0 })
  t.same((await client.control('GET', '/requests')).body, before)
})

t.test('control plane, POST /reset: a fork goes back to the fixture of its origin, as its own', async t => {
  const app = build(t)
  await fork(app, 'sandbox-client', { clientId: 'copy' })
  await call(app, 'POST', '/_sandbox/clock/advance?client=copy', { body: { by: 'P9D' } })
  t.match((await call(app, 'POST', '/_sandbox/reset?client=copy')).body, {
    clientId: 'copy',
    fixture: 'demo',
    now: MONDAY,
  })
  const { ids, ...state } = JSON.parse(await read(app, 'copy'))
  const { ids: originals, ...origin } = JSON.parse(await read(app, 'sandbox-client'))
  t.same(state.mandates, origin.mandates)
  t.equal(ids.scope, 'copy')
  t.equal(originals.scope, 'sandbox-client')
})

t.test('decisions §3: a fork keeps scope and allowed origins of its origin, also after a reset', async t => {
  const app = build(t, {
    clients: [
      { clientId: 'shop', clientSecret: 'secret', scope: 'shop:all', allowedOrigins: ['https://shop.example'] },
    ],
  })
  await fork(app, 'shop', { clientId: 'copy' })
  t.equal((await requestToken(app, { client_id: 'copy' })).body.scope, 'shop:all')
  await call(app, 'POST', '/_sandbox/reset?client=copy')
  t.same(JSON.parse(await read(app, 'copy')).settings.allowedOrigins, ['https://shop.example'])
})

// ----------------------------------------------------------------------------------------------- secrets and tokens

t.test('control plane, POST /fork: without clientSecret, the fork has that of its origin', async t => {
  const app = build(t)
  await requestToken(app, { client_secret: 'hush' })
  await fork(app, 'acme', { clientId: 'copy' })
  t.equal((await requestToken(app, { client_id: 'copy', client_secret: 'hush' })).status, 200)
  t.equal((await requestToken(app, { client_id: 'copy', client_secret: 'other' })).body.code, 'INVALID_CLIENT')
  await fork(app, 'sandbox-client', { clientId: 'demo-2' })
  t.equal((await requestToken(app, { client_id: 'demo-2', client_secret: 'sandbox-secret' })).status, 200)
})

t.test('control plane, POST /fork: with clientSecret, the fork has that alone', async t => {
  const app = build(t)
  await requestToken(app, { client_secret: 'hush' })
  const longest = 'ü'.repeat(1000)
  await fork(app, 'acme', { clientId: 'copy', clientSecret: longest })
  t.equal((await requestToken(app, { client_id: 'copy', client_secret: longest })).status, 200)
  t.equal((await requestToken(app, { client_id: 'copy', client_secret: 'hush' })).body.code, 'INVALID_CLIENT')
  t.equal((await requestToken(app, { client_secret: 'hush' })).status, 200, 'the origin keeps its own')
  t.equal((await requestToken(app, { client_secret: longest })).body.code, 'INVALID_CLIENT')
})

t.test('control plane, POST /fork: tokens of one are no tokens of the other', async t => {
  const app = build(t)
  const client = await stocked(app)
  await fork(app, 'acme', { clientId: 'copy' })
  const copy = await connect(app, 'copy')
  t.equal((await withToken(app, client.token, '/api/v1/mandates/MND-0001')).status, 200)
  await copy.control('POST', '/mandates/MND-0001/cancel')
  t.equal((await withToken(app, client.token, '/api/v1/mandates/MND-0001')).body.status, 'ACTIVE')
  t.equal((await withToken(app, copy.token, '/api/v1/mandates/MND-0001')).body.status, 'CANCELLED')

  const [owner] = copy.token.split('.')
  const forged = [owner, ...client.token.split('.').slice(1)].join('.')
  refused(t, await withToken(app, forged), 401, 'INVALID_TOKEN', 'authorization')
  await client.control('POST', '/tokens/expire')
  t.equal((await withToken(app, client.token)).body.code, 'EXPIRED_TOKEN')
  t.equal((await withToken(app, copy.token)).status, 200)
  await client.control('POST', '/reset')
  t.equal((await withToken(app, copy.token)).status, 200)
})

t.test('control plane, POST /fork: secrets are told in no answer', async t => {
  const app = build(t)
  await requestToken(app, { client_secret: 'correct-horse' })
  const answers = [
    await fork(app, 'acme', { clientId: 'copy', clientSecret: 'battery-staple' }),
    await fork(app, 'acme', { clientId: 'copy', clientSecret: 'battery-staple' }),
    await fork(app, 'acme', { clientId: '!', clientSecret: 'battery-staple' }),
    await call(app, 'GET', '/_sandbox/clients'),
    await call(app, 'GET', '/_sandbox/state?client=copy'),
    await call(app, 'GET', '/_sandbox/recording?client=copy'),
    await call(app, 'GET', '/_sandbox/recording?client=acme'),
    await call(app, 'GET', '/_sandbox/requests?client=acme'),
    await call(app, 'GET', '/_sandbox/requests'),
  ]
  t.notMatch(JSON.stringify(answers), /correct-horse|battery-staple/)
})

// ------------------------------------------------------------------------------------------------------- refusals

t.test('control plane, POST /fork: what is wrong is refused, and no tenant comes into being', async t => {
  const app = build(t, { clients: [{ clientId: 'listed', clientSecret: 'secret' }] })
  await connect(app)
  const long = 'x'.repeat(65)
  for (const [body, status, code, field] of [
    [undefined, 400, 'MISSING_FIELD', 'clientId'],
    [{}, 400, 'MISSING_FIELD', 'clientId'],
    [{ clientSecret: 'secret' }, 400, 'MISSING_FIELD', 'clientId'],
    [{ clientId: '' }, 400, 'MISSING_FIELD', 'clientId'],
    [{ clientId: null }, 400, 'INVALID_FIELD', 'clientId'],
    [{ clientId: 5 }, 400, 'INVALID_FIELD', 'clientId'],
    [{ clientId: ['a'] }, 400, 'INVALID_FIELD', 'clientId'],
    [{ clientId: long }, 400, 'INVALID_FIELD', 'clientId'],
    [{ clientId: 'a b' }, 400, 'INVALID_FIELD', 'clientId'],
    [{ clientId: 'a/b' }, 400, 'INVALID_FIELD', 'clientId'],
    [{ clientId: 'ä' }, 400, 'INVALID_FIELD', 'clientId'],
    [{ clientId: 'a\n' }, 400, 'INVALID_FIELD', 'clientId'],
    [{ clientId: 'copy', clientSecret: '' }, 400, 'INVALID_FIELD', 'clientSecret'],
    [{ clientId: 'copy', clientSecret: 'x'.repeat(1001) }, 400, 'INVALID_FIELD', 'clientSecret'],
    [{ clientId: 'copy', clientSecret: 5 }, 400, 'INVALID_FIELD', 'clientSecret'],
    [{ clientId: 'copy', clientSecret: null }, 400, 'INVALID_FIELD', 'clientSecret'],
    [{ clientId: 'acme' }, 409, 'DUPLICATE_REFERENCE', 'clientId'],
    [{ clientId: 'listed' }, 409, 'DUPLICATE_REFERENCE', 'clientId'],
    [{ clientId: 'sandbox-client' }, 409, 'DUPLICATE_REFERENCE', 'clientId'],
    ['{"clientId": "copy"', 400, 'MALFORMED_REQUEST', null],
    ['[]', 400, 'INVALID_FIELD', null],
  ] as const)
    refused(t, await fork(app, 'acme', body), status, code, field, JSON.stringify(body)?.slice(0, 60))
  refused(t, await fork(app, 'nobody', { clientId: 'copy' }), 404, 'CLIENT_NOT_FOUND', 'client')
  // decisions §1: body 400, before record 404.
  refused(t, await fork(app, 'nobody', { clientId: '!' }), 400, 'INVALID_FIELD', 'clientId')
  const headers = { 'content-type': 'text/plain' }
  const wrongType = await call(app, 'POST', '/_sandbox/fork?client=acme', { body: { clientId: 'copy' }, headers })
  refused(t, wrongType, 415, 'UNSUPPORTED_MEDIA_TYPE', 'content-type')
  t.same(await clientIds(app), ['sandbox-client', 'listed', 'acme'])
})

t.test('decisions §3: a client id of 64 letters, digits, dots, underscores and hyphens is taken', async t => {
  const app = build(t)
  const clientId = 'Az09._-'.padEnd(64, 'x')
  t.equal((await fork(app, 'sandbox-client', { clientId })).status, 201)
  t.equal((await requestToken(app, { client_id: clientId, client_secret: 'sandbox-secret' })).status, 200)
})

t.test('control plane, POST /fork: an id that is taken leaves that tenant as it is', async t => {
  const app = build(t)
  await stocked(app, 'acme')
  const other = await connect(app, 'other')
  await other.post('/api/v1/mandates', mandate())
  const before = await read(app, 'other')
  await fork(app, 'acme', { clientId: 'other', clientSecret: 'another' })
  t.equal(await read(app, 'other'), before)
  t.equal((await requestToken(app, { client_id: 'other' })).status, 200)
})

// ----------------------------------------------------------------------------------------------------------- room

t.test('decisions §3: a fork can be made where registration is closed, and gets tokens', async t => {
  const app = build(t, { openRegistration: false })
  t.equal((await requestToken(app, { client_id: 'copy' })).body.code, 'INVALID_CLIENT')
  t.equal((await fork(app, 'sandbox-client', { clientId: 'copy', clientSecret: 'secret' })).status, 201)
  const copy = await connect(app, 'copy')
  t.equal((await copy.get('/api/v1/mandates')).status, 200)
})

t.test(
  'control plane, SANDBOX_MAX_TENANTS: where none can be dropped, a fork is 503, and nothing has changed',
  async t => {
    const app = build(t, { maxTenants: 2, clients: [{ clientId: 'listed', clientSecret: 'secret' }] })
    refused(t, await fork(app, 'listed', { clientId: 'copy' }), 503, 'SERVICE_UNAVAILABLE', null)
    t.same(await clientIds(app), ['sandbox-client', 'listed'])
  },
)

t.test(
  'control plane, SANDBOX_MAX_TENANTS: a fork takes the place of the client idle longest, never its origin’s',
  async t => {
    const dropped: string[] = []
    const app = build(t, { maxTenants: 3, dropped: clientId => dropped.push(clientId) })
    await stocked(app, 'acme')
    await connect(app, 'idle')
    await call(app, 'GET', '/_sandbox/clock?client=acme')
    await fork(app, 'acme', { clientId: 'copy' })
    t.same(dropped, ['idle'])
    t.same(await clientIds(app), ['sandbox-client', 'acme', 'copy'])

    const small = build(t, { maxTenants: 2 })
    const before = await stocked(small, 'acme').then(() => read(small, 'acme'))
    refused(t, await fork(small, 'acme', { clientId: 'copy' }), 503, 'SERVICE_UNAVAILABLE', null)
    t.equal(await read(small, 'acme'), before, 'the origin is not dropped to make room for its copy')
    t.same(await clientIds(small), ['sandbox-client', 'acme'])
  },
)

t.test('decisions §3: tokens of a client that was dropped are none of a fork of the same name', async t => {
  const app = build(t, { maxTenants: 2 })
  const { access_token } = (await requestToken(app, { client_id: 'copy', client_secret: 'sandbox-secret' })).body
  await requestToken(app, { client_id: 'other' })
  t.same(await clientIds(app), ['sandbox-client', 'other'])
  t.equal((await fork(app, 'sandbox-client', { clientId: 'copy' })).status, 201)
  refused(t, await withToken(app, access_token), 401, 'INVALID_TOKEN', 'authorization')
})

t.test('control plane: 1,000 forks of demo fit in 1 GiB', async t => {
  const app = build(t)
  await read(app, 'sandbox-client')
  const before = process.memoryUsage().rss
  for (let count = 0; count < 1000; count++) {
    const { status } = await fork(app, 'sandbox-client', { clientId: `job-${count}` })
    if (status !== 201) throw new Error(`fork ${count} is answered ${status}`)
  }
  const grown = process.memoryUsage().rss - before
  t.ok(grown < 1024 ** 3, `grown by ${Math.round(grown / 1024 ** 2)} MiB`)
  t.equal(await read(app, 'job-999'), await read(app, 'sandbox-client'))
  t.equal((await call(app, 'GET', '/_sandbox')).body.tenants, 1001)
  const last = await requestToken(app, { client_id: 'job-500', client_secret: 'sandbox-secret' })
  t.equal(last.status, 200)
})
