import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyInstance } from 'fastify'
import t from 'tap'
import { bill, build, call, collection, connect, MONDAY, mandate, payoutLink, requestToken } from '../helper.js'
import { createPlayer, injecting, randomRequests } from '../random-requests.js'
import type { Stored } from './helper.js'
import { createMemoryLog, operationsOf, restart, resume, serveLog, start, stateOf, timers } from './helper.js'

t.test('persistence: a server that restarts gives the same answers as one that does not', async t => {
  const total = process.env.TEST_LONG === '1' ? 900 : 240
  const memory = build(t, { timers })
  let stored = await start(t, t.testdir())
  const secrets = new Map([['sandbox-client', 'sandbox-secret']])
  const clientIds = ['acme', 'beta', 'sandbox-client']
  const playersOf = (on: FastifyInstance) =>
    clientIds.map(clientId => createPlayer(injecting(on), clientId, secrets.get(clientId)))
  let players = playersOf(stored.app)
  const twins = playersOf(memory)
  let restarts = 0
  let same = 0
  for (const [at, request] of randomRequests(77, total).entries()) {
    if (at % 80 === 50) {
      restarts++
      stored = await restart(t, stored)
      players = players.map(player => player.movedTo(injecting(stored.app)))
    }
    if (at === 100 || at === 200) {
      for (const on of [stored.app, memory]) await call(on, 'POST', '/_sandbox/reset?client=beta')
    }
    if (at === 150) {
      for (const on of [stored.app, memory]) {
        const body = JSON.parse(await stateOf(on, 'acme'))
        await call(on, 'PUT', '/_sandbox/state?client=beta', { body })
        await call(on, 'POST', '/_sandbox/fork?client=acme', { body: { clientId: 'copy', clientSecret: 'hush copy' } })
      }
      players.push(createPlayer(injecting(stored.app), 'copy'))
      twins.push(createPlayer(injecting(memory), 'copy'))
    }
    const turn = (at * 7 + (at >> 3)) % players.length
    const played = await players[turn]?.play(request)
    const expected = await twins[turn]?.play(request)
    // Tokens are numbered from 1 again after a restart.
    const isToken = request.path === '/api/v1/oauth/token'
    const isSame = JSON.stringify(played) === JSON.stringify(expected)
    if (isSame || (isToken && played?.status === expected?.status)) same++
    else t.same(played, expected, `${at}: ${JSON.stringify(request)}`)
  }
  t.equal(same, total)
  t.ok(restarts > 2, `${restarts} restarts`)
  for (const { clientId } of players) {
    t.ok((await stateOf(stored.app, clientId)) === (await stateOf(memory, clientId)), `${clientId} has the same state`)
  }
  const clients = async (on: FastifyInstance) => (await call(on, 'GET', '/_sandbox/clients')).body.data
  const byName = (a: { clientId: string }, b: { clientId: string }) => (a.clientId < b.clientId ? -1 : 1)
  t.same((await clients(stored.app)).sort(byName), (await clients(memory)).sort(byName))
})

t.test('persistence: records, clock, ids, tokens, faults, settings and deprecations outlast a crash', async t => {
  const first = await start(t, t.testdir())
  const client = await connect(first.app)
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/direct-debit', collection({ debtorName: 'token=abc, Basic YTpi' }))
  const { payoutLinkId } = (await client.post('/api/v1/payout-links', payoutLink())).body
  await client.control('PUT', '/settings', { mandateActivation: 'manual', deprecationStyle: 'rfc' })
  await client.control('PUT', '/deprecations', { data: [{ operation: 'GET /api/v1/bills' }] })
  await client.control('POST', '/faults', { times: 3, effect: { kind: 'error', status: 418 } })
  await client.get('/api/v1/accounts')
  await client.control('POST', '/clock/advance', { by: 'PT20M' })
  const state = await stateOf(first.app)

  const { app } = await restart(t, first)
  t.equal(await stateOf(app), state)
  const { send, control } = resume(app, client.token)
  t.match((await control('GET', '/faults')).body.data, [{ id: 'fault-1', seen: 1, fired: 1, state: 'armed' }])
  t.same([(await send('GET', '/api/v1/bills')).status, (await send('GET', '/api/v1/bills')).status], [418, 418])
  const bills = await send('GET', '/api/v1/bills')
  t.equal(bills.status, 200, 'a token from before, and the fault is spent')
  t.match(bills.headers, { deprecation: /^@\d+$/ })
  const second = await send('POST', '/api/v1/mandates', mandate({ mandateReference: 'MND-0002' }))
  t.match(second.body, { status: 'PENDING' })
  t.match(await send('POST', '/api/v1/mandates', mandate()), { status: 409 })
  const another = (await send('POST', '/api/v1/payout-links', payoutLink())).body.payoutLinkId
  t.not(another, payoutLinkId, 'ids go on')
  await control('POST', '/clock/advance', { by: 'P10D' })
  const explained = (await control('GET', '/direct-debit/COL-0001')).body
  t.match(explained, { record: { status: 'SETTLED' } }, 'and so does time')
})

t.test('persistence: a running clock goes on while the server is down, at its rate', async t => {
  const time = { now: Date.parse(MONDAY) + 250 }
  const options = { clock: 'real', now: () => time.now }
  let stored = await start(t, t.testdir(), options)
  const client = await connect(stored.app)
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/direct-debit', collection())
  await client.control('PATCH', '/clock', { rate: 3600 })
  time.now += 7250
  const clockOf = async () => (await call(stored.app, 'GET', '/_sandbox/clock?client=acme')).body
  t.match(await clockOf(), { now: '2026-11-02T16:15:00Z', mode: 'running', rate: 3600 })
  for (let count = 0; count < 2; count++) {
    stored = await restart(t, stored, options)
    t.match(await clockOf(), { now: '2026-11-02T16:15:00Z', mode: 'running', rate: 3600 }, 'no time is lost')
  }
  time.now += 7 * 24_000
  stored = await restart(t, stored, options)
  t.match(await clockOf(), { now: '2026-11-09T16:15:00Z' })
  const { timeline } = (await call(stored.app, 'GET', '/_sandbox/direct-debit/COL-0001?client=acme')).body
  t.same(
    timeline.map(({ to, at }: { to: string; at: string }) => [to, at]),
    [
      ['PENDING', '2026-11-02T09:00:00Z'],
      ['SUBMITTED', '2026-11-05T15:00:00Z'],
      ['PROCESSING', '2026-11-06T08:00:00Z'],
      ['SETTLED', '2026-11-09T13:00:00Z'],
    ],
    'each due transition happened at its own time',
  )
  const state = await stateOf(stored.app)
  stored = await restart(t, stored, options)
  t.equal(await stateOf(stored.app), state, 'and is in the database')
})

t.test('persistence: a frozen clock stands, whatever SANDBOX_CLOCK is now', async t => {
  const first = await start(t, t.testdir())
  const client = await connect(first.app)
  await client.control('POST', '/clock/advance', { by: 'P1D' })
  const { app } = await restart(t, first, { clock: 'real', now: () => 1_000_000_000_000 })
  t.match((await call(app, 'GET', '/_sandbox/clock?client=acme')).body, { now: '2026-11-03T09:00:00Z', mode: 'frozen' })
  await requestToken(app, { client_id: 'fresh' })
  const fresh = (await call(app, 'GET', '/_sandbox/clock?client=fresh')).body
  t.match(fresh, { now: '2001-09-09T01:46:40Z', mode: 'running' })
})

t.test('decisions §3: after a restart the right secret works, and a wrong one is INVALID_CLIENT', async t => {
  const first = await start(t, t.testdir())
  await requestToken(first.app, { client_secret: 'hush-own' })
  const fork = (body: object) => call(first.app, 'POST', '/_sandbox/fork?client=acme', { body })
  t.equal((await fork({ clientId: 'same' })).status, 201)
  t.equal((await fork({ clientId: 'other', clientSecret: 'hush-other' })).status, 201)

  // Registered clients need no open registration.
  const { app, folder } = await restart(t, first, { openRegistration: false })
  for (const [client_id, right, wrong] of [
    ['acme', 'hush-own', 'hush-other'],
    ['same', 'hush-own', 'hush-other'],
    ['other', 'hush-other', 'hush-own'],
    ['sandbox-client', 'sandbox-secret', 'hush-own'],
  ] as const) {
    const refusal = await requestToken(app, { client_id, client_secret: wrong })
    t.match([refusal.status, refusal.body.code], [401, 'INVALID_CLIENT'], client_id)
    t.equal((await requestToken(app, { client_id, client_secret: right })).status, 200, client_id)
  }
  t.match((await requestToken(app, { client_id: 'unknown' })).body, { code: 'INVALID_CLIENT' })
  const text = readdirSync(folder).map(name => readFileSync(join(folder, name), 'latin1'))
  t.match(text.join(), 'acme')
  t.notMatch(text.join(), 'hush', 'no secret is in the folder')
})

t.test('decisions §3: tokens that had ended before a restart have ended after it', async t => {
  const first = await start(t, t.testdir())
  const client = await connect(first.app)
  const reset = await connect(first.app, 'reset')
  await client.control('POST', '/tokens/expire')
  const { access_token: later } = (await requestToken(first.app)).body
  await reset.control('POST', '/reset')
  const { access_token: fresh } = (await requestToken(first.app, { client_id: 'reset' })).body

  const { app } = await restart(t, first)
  const statuses = async (...tokens: string[]) => {
    const answers = tokens.map(token => resume(app, token).send('GET', '/api/v1/bills'))
    return (await Promise.all(answers)).map(({ status, body }) => body.code ?? status)
  }
  t.same(await statuses(client.token, later, reset.token, fresh), ['EXPIRED_TOKEN', 200, 'INVALID_TOKEN', 200])
})

t.test('decisions §3: a client of the list has the secret of the list, and its tenant', async t => {
  const listed = (clientSecret: string) => [{ clientId: 'Käse & Söhne', clientSecret, scope: 'read' }]
  const id = { client_id: 'Käse & Söhne' }
  const first = await start(t, t.testdir(), { clients: listed('old') })
  const { access_token } = (await requestToken(first.app, { ...id, client_secret: 'old' })).body
  await resume(first.app, access_token).send('POST', '/api/v1/bills', bill())
  const second = await restart(t, first, { clients: listed('new') })
  t.equal((await requestToken(second.app, { ...id, client_secret: 'old' })).status, 401)
  const old = await resume(second.app, access_token).send('GET', '/api/v1/bills')
  t.equal(old.status, 401, 'its tokens are those of the list')
  const renewed = (await requestToken(second.app, { ...id, client_secret: 'new' })).body
  t.equal(renewed.scope, 'read')
  t.equal((await resume(second.app, renewed.access_token).send('GET', '/api/v1/bills')).body.totalCount, 1)
})

t.test('persistence: payout links have the address of the server that created them', async t => {
  let stored = await start(t, t.testdir(), { url: 'http://127.0.0.1:1' })
  const client = await connect(stored.app)
  const create = async () =>
    (await resume(stored.app, client.token).send('POST', '/api/v1/payout-links', payoutLink())).body
  const links = [await create()]
  for (const port of [2, 2, 3, 1]) {
    stored = await restart(t, stored, { url: `http://127.0.0.1:${port}` })
    links.push(await create(), await create())
  }
  const ports = links.map(({ url }) => new URL(url).port)
  t.same(ports, ['1', '2', '2', '2', '2', '3', '3', '1', '1'])
  stored = await restart(t, stored, { url: 'http://127.0.0.1:4' })
  for (const { payoutLinkId, url } of links) {
    const { body } = await call(stored.app, 'GET', `/_sandbox/payout-links/${payoutLinkId}?client=acme`)
    t.equal(body.record.url, url)
  }
})

t.test('persistence: reads and refused requests are not in the log; requests that met a fault are', async t => {
  const stored = await start(t, t.testdir())
  const { app } = stored
  const client = await connect(app)
  const { send, control } = resume(app, client.token)
  await send('POST', '/api/v1/mandates', {})
  await send('POST', '/api/v1/nowhere', mandate())
  await resume(app, 'wrong').send('POST', '/api/v1/mandates', mandate())
  await requestToken(app, { client_secret: 'wrong' })
  await control('POST', '/clock/advance', { by: 'x' })
  await send('GET', '/api/v1/mandates')
  await control('GET', '/state')
  await control('POST', '/requests/verify', {})
  t.same(await operationsOf(stored), ['begin'])

  await send('DELETE', '/api/v1/mandates/MND-NONE')
  await control('POST', '/faults', { match: { method: 'GET' }, skip: 1, effect: { kind: 'error', status: 500 } })
  for (const url of ['/api/v1/mandates', '/api/v1/bills', '/api/v1/accounts']) await send('GET', url)
  t.same(await operationsOf(stored), [
    'begin',
    'DELETE /api/v1/mandates/{mandateReference}',
    'POST /_sandbox/faults',
    'GET /api/v1/mandates',
    'GET /api/v1/bills',
  ])
})

t.test('persistence: documents are in the log as bytes, whatever their names', async t => {
  let stored: Stored = await start(t, t.testdir())
  const client = await connect(stored.app)
  await client.post('/api/v1/bills', bill())
  const content = Buffer.from([...Buffer.from('%PDF-1.7\n'), 0, 13, 10, 255, 254])
  const names = [
    'filename="secret=hush; password=hush.pdf"',
    'filename="a\\"b\\\\c.pdf"',
    `filename="x.pdf"; filename*=UTF-8''%0D%0A%E2%82%AC%22.pdf`,
    'filename="é.pdf"',
  ]
  for (const name of names) {
    const head = `--cut\r\ncontent-disposition: form-data; name="file"; ${name}\r\n\r\n`
    const body = Buffer.concat([Buffer.from(head), content, Buffer.from('\r\n--cut--\r\n')])
    const headers = { 'content-type': 'multipart/form-data; boundary=cut' }
    const { status } = await client.post('/api/v1/bills/INV-2026-001/document', body, { headers })
    t.equal(status, 201, name)
  }
  const rows = await stored.log.after('acme', 0)
  t.ok(Buffer.from(rows.at(-1)?.document ?? []).equals(content))
  const state = await stateOf(stored.app)
  t.equal(JSON.parse(state).bills[0].record.documents.length, names.length)
  stored = await restart(t, stored)
  t.equal(await stateOf(stored.app), state)
})

t.test('persistence: a recording begins with the newest snapshot in the database', async t => {
  const first = await start(t, t.testdir())
  const client = await connect(first.app)
  const state = JSON.parse(await stateOf(first.app))
  await client.post('/api/v1/mandates', mandate())
  const { app } = await restart(t, first)
  await resume(app, client.token).send('DELETE', '/api/v1/mandates/MND-0001')
  const { complete, start: from, requests } = (await call(app, 'GET', '/_sandbox/recording?client=acme')).body
  t.same([complete, from], [true, state])
  t.match(requests, [
    { n: 1, operation: 'POST /api/v1/mandates', answer: null },
    { n: 2, operation: 'DELETE /api/v1/mandates/{mandateReference}', answer: { status: 200 } },
  ])
})

t.test('persistence: a seeded fixture has the same records after a restart with another one', async t => {
  const log = createMemoryLog()
  const serve = (story: Record<string, unknown> | undefined) => {
    const own: [string, Record<string, unknown>][] = story === undefined ? [] : [['story', story]]
    return serveLog(t, log, { fixtures: new Map([['empty', {}], ['demo', {}], ...own]) }).app
  }
  const before = serve({ bills: [bill({ dueDate: '{{today+P14D}}' })] })
  const client = await connect(before)
  t.equal((await client.control('POST', '/seed', { fixture: 'story' })).status, 200)
  const state = await stateOf(before)
  t.match(state, bill().uniqueReferenceIdentifier)
  t.equal(await stateOf(serve({ bills: [bill({ uniqueReferenceIdentifier: 'INV-OTHER' })] })), state)
  t.equal(await stateOf(serve(undefined)), state)
})

t.test('persistence: a snapshot follows 8 MiB of documents, so that a tenant is read in one step', async t => {
  const log = createMemoryLog()
  const { app } = serveLog(t, log)
  const client = await connect(app)
  await client.post('/api/v1/bills', bill())
  const head = '--x\r\ncontent-disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n%PDF-1.7\n'
  const body = Buffer.concat([Buffer.from(head), Buffer.alloc(3 * 1024 * 1024), Buffer.from('\r\n--x--\r\n')])
  const headers = { 'content-type': 'multipart/form-data; boundary=x' }
  for (let uploads = 0; uploads < 8; uploads++) {
    const { status } = await client.send('POST', `/api/v1/bills/${bill().uniqueReferenceIdentifier}/document`, {
      headers,
      body,
    })
    t.equal(status, 201)
    const rows = await log.after('acme', 0)
    const bytes = rows.reduce((sum, { document }) => sum + (document?.length ?? 0), 0)
    t.ok(bytes < 12 * 1024 * 1024, `${bytes} bytes of documents`)
  }
  t.equal(await stateOf(serveLog(t, log).app), await stateOf(app))
})
