import fs from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import t from 'tap'
import { parseInstant } from '../../src/core/time.js'
import { OWN_FIXTURES } from '../../src/package.js'
import type { Files } from '../../src/persistence/data-folder.js'
import { openDataFolder } from '../../src/persistence/data-folder.js'
import { createStorage } from '../../src/persistence/storage.js'
import { folderNameOf } from '../../src/persistence/tenant-file.js'
import { buildServer } from '../../src/server.js'
import { loadFixtures } from '../../src/tenants/fixtures.js'
import { claim } from '../areas/pages.js'
import type { BuildOptions } from '../helper.js'
import { bill, call, collection, connect, MONDAY, mandate, payoutLink, requestToken } from '../helper.js'
import { refused } from '../http/raw.js'
import { createPlayer, injecting, randomRequests } from '../random-requests.js'

const fixtures = loadFixtures(OWN_FIXTURES)

interface Options extends BuildOptions {
  readonly files?: Files
  readonly isSeedGiven?: boolean
  /** Where the log goes. */
  readonly log?: string[]
  readonly url?: string
}

/** Waiting that a fault asks for is over at once. */
const timers = {
  elapsed: () => 0,
  later(_: number, work: () => void) {
    work()
    return () => {}
  },
  flush() {},
}

/** A server that keeps its tenants in a folder. One that is not closed leaves it as a crash would. */
async function start(t: Test, path: string, options: Options = {}) {
  const { clock = MONDAY, now = () => 0, files = fs, log = [], url = 'http://127.0.0.1:8080', ...others } = options
  const { isSeedGiven = false, seed = 'test', ...rest } = others
  const folder = openDataFolder(path, { seed, isSeedGiven, warn: message => log.push(message) }, files)
  const logger = {
    info: (_: object, message: string) => log.push(message),
    error: (_: object, message: string) => log.push(message),
  }
  const publicUrl = () => url
  const storage = createStorage({
    folder,
    logger: logger as never,
    fixtures: rest.fixtures ?? fixtures,
    buildServer,
    now,
    publicUrl,
  })
  const { app, registry } = buildServer({
    frozenAt: clock === 'real' ? undefined : parseInstant(clock),
    fixtures,
    clients: [],
    openRegistration: true,
    maxTenants: 2000,
    tokenLifetime: 3600,
    publicUrl,
    now,
    timers,
    ...rest,
    seed: folder.seed,
    storage,
  })
  t.teardown(() => app.close())
  await storage.restore(registry)
  return { app, storage, registry }
}

type App = Awaited<ReturnType<typeof start>>['app']

const stateOf = async (app: App, clientId = 'acme') => (await app.inject(`/_sandbox/state?client=${clientId}`)).payload

/** The requests that the folder keeps of a client since its snapshot, by their operations. */
function logOf(path: string, clientId = 'acme'): string[] {
  const tenants = openDataFolder(path, { seed: '', isSeedGiven: false, warn: () => {} }).load()
  const entries = tenants.find(tenant => tenant.clientId === clientId)?.entries as { operation: string }[]
  return entries.map(({ operation }) => operation)
}

const keptClients = (path: string) =>
  openDataFolder(path, { seed: '', isSeedGiven: false, warn: () => {} })
    .load()
    .map(({ clientId }) => clientId)
    .sort()

const filesOf = (path: string, clientId = 'acme') =>
  fs.readdirSync(join(path, 'tenants', folderNameOf(clientId))).sort()

/** Lets a client send with a token that it got in an earlier life of the server. */
function resume(app: App, token: string, clientId = 'acme') {
  const headers = { authorization: `Bearer ${token}` }
  return {
    send: (method: string, url: string, body?: object) => call(app, method, url, { region: 'EU', headers, body }),
    control: (method: string, url: string, body?: object) =>
      call(app, method, `/_sandbox${url}?client=${clientId}`, { body }),
  }
}

// ---------------------------------------------------------------------------------------------------------- restarts

t.test('issue 3, SANDBOX_DATA: a server that restarts gives the same answers as one that does not', async t => {
  const total = process.env.TEST_LONG === '1' ? 900 : 240
  const durable = t.testdir()
  const memory = (await start(t, `${t.testdirName}/twin`)).app
  let { app, storage } = await start(t, durable)
  const secrets = new Map([['sandbox-client', 'sandbox-secret']])
  const clientIds = ['acme', 'beta', 'sandbox-client']
  const playersOf = (on: App) => clientIds.map(clientId => createPlayer(injecting(on), clientId, secrets.get(clientId)))
  let players = playersOf(app)
  const twins = playersOf(memory)
  let restarts = 0
  let same = 0
  for (const [at, request] of randomRequests(77, total).entries()) {
    if (at % 80 === 50) {
      // Half of the times as if it had crashed.
      if (restarts++ % 2 === 0) storage.close()
      const old = players
      ;({ app, storage } = await start(t, durable, { seed: 'of no account' }))
      players = old.map(player => player.movedTo(injecting(app)))
    }
    if (at === 100 || at === 200) {
      for (const on of [app, memory]) await call(on, 'POST', '/_sandbox/reset?client=beta')
    }
    if (at === 150) {
      for (const on of [app, memory]) {
        const body = JSON.parse(await stateOf(on, 'acme'))
        await call(on, 'PUT', '/_sandbox/state?client=beta', { body })
        await call(on, 'POST', '/_sandbox/fork?client=acme', { body: { clientId: 'copy', clientSecret: 'hush copy' } })
      }
      players.push(createPlayer(injecting(app), 'copy'))
      twins.push(createPlayer(injecting(memory), 'copy'))
    }
    const who = (at * 7 + (at >> 3)) % players.length
    const played = await players[who]?.play(request)
    const expected = await twins[who]?.play(request)
    // Tokens are numbered from 1 again after a restart.
    const isToken = request.path === '/api/v1/oauth/token'
    const isSame = JSON.stringify(played) === JSON.stringify(expected)
    if (isSame || (isToken && played?.status === expected?.status)) same++
    else t.same(played, expected, `${at}: ${JSON.stringify(request)}`)
  }
  t.equal(same, total)
  t.ok(restarts > 2, `${restarts} restarts`)
  for (const { clientId } of players) {
    t.ok((await stateOf(app, clientId)) === (await stateOf(memory, clientId)), `${clientId} is in the same state`)
  }
  const clients = async (on: App) => (await call(on, 'GET', '/_sandbox/clients')).body
  t.same(await clients(app), await clients(memory))
})

t.test(
  'issue 3, SANDBOX_DATA: records, clock, ids, tokens, faults, settings and deprecations outlast a crash',
  async t => {
    const path = t.testdir()
    const first = await start(t, path)
    const client = await connect(first.app)
    await client.post('/api/v1/mandates', mandate())
    await client.post('/api/v1/direct-debit', collection({ debtorName: 'token=abc, Basic YTpi' }))
    const { payoutLinkId } = (await client.post('/api/v1/payout-links', payoutLink())).body
    await claim(first.app, payoutLinkId, { accountHolderName: 'Jane Doe', accountIdentifier: 'DE89370400440532013000' })
    await client.control('PUT', '/settings', { mandateActivation: 'manual', deprecationStyle: 'rfc' })
    await client.control('PUT', '/deprecations', { data: [{ operation: 'GET /api/v1/bills' }] })
    await client.control('POST', '/faults', { times: 3, effect: { kind: 'error', status: 418 } })
    await client.get('/api/v1/accounts')
    await client.control('POST', '/clock/advance', { by: 'PT20M' })
    const state = await stateOf(first.app)

    const { app } = await start(t, path)
    t.equal(await stateOf(app), state)
    t.ok(state.includes('"claimedAt":'), 'the claim of a page')
    const { send, control } = resume(app, client.token)
    t.match((await control('GET', '/faults')).body.data, [{ id: 'fault-1', seen: 1, fired: 1, state: 'armed' }])
    t.same([(await send('GET', '/api/v1/bills')).status, (await send('GET', '/api/v1/bills')).status], [418, 418])
    const bills = await send('GET', '/api/v1/bills')
    t.equal(bills.status, 200, 'a token from before, and the fault is spent')
    t.match(bills.headers, { deprecation: /^@\d+$/ })
    t.match((await send('POST', '/api/v1/mandates', mandate({ mandateReference: 'MND-0002' }))).body, {
      status: 'PENDING',
    })
    t.match(await send('POST', '/api/v1/mandates', mandate()), { status: 409 })
    const another = (await send('POST', '/api/v1/payout-links', payoutLink())).body.payoutLinkId
    t.not(another, payoutLinkId, 'ids go on')
    await control('POST', '/clock/advance', { by: 'P10D' })
    t.match(
      (await control('GET', '/direct-debit/COL-0001')).body,
      { record: { status: 'SETTLED' } },
      'and so does time',
    )
  },
)

t.test('issue 3, SANDBOX_DATA: a running clock runs on while the server is down, at its pace', async t => {
  const path = t.testdir()
  const time = { now: Date.parse(MONDAY) }
  const options = { clock: 'real', now: () => time.now }
  const first = await start(t, path, options)
  const client = await connect(first.app)
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/direct-debit', collection())
  await client.control('PATCH', '/clock', { rate: 3600 })
  time.now += 7250
  t.match((await client.control('GET', '/clock')).body, { now: '2026-11-02T16:15:00Z', mode: 'running', rate: 3600 })

  for (const end of [() => {}, (storage: typeof first.storage) => storage.close()]) {
    const { app, storage } = await start(t, path, options)
    const { body } = await call(app, 'GET', '/_sandbox/clock?client=acme')
    t.match(body, { now: '2026-11-02T16:15:00Z', mode: 'running', rate: 3600 }, 'as if nothing had been')
    end(storage)
  }
  time.now += 7 * 24_000
  const { app } = await start(t, path, options)
  t.match((await call(app, 'GET', '/_sandbox/clock?client=acme')).body, { now: '2026-11-09T16:15:00Z' })
  const { timeline } = (await call(app, 'GET', '/_sandbox/direct-debit/COL-0001?client=acme')).body
  t.same(
    timeline.map(({ to, at }: { to: string; at: string }) => [to, at]),
    [
      ['PENDING', '2026-11-02T09:00:00Z'],
      ['SUBMITTED', '2026-11-05T15:00:00Z'],
      ['PROCESSING', '2026-11-06T08:00:00Z'],
      ['SETTLED', '2026-11-09T13:00:00Z'],
    ],
    'what became due has happened, at its own time',
  )
})

t.test('issue 3, SANDBOX_DATA: a frozen clock stands, whatever SANDBOX_CLOCK says now', async t => {
  const path = t.testdir()
  const first = await start(t, path)
  const client = await connect(first.app)
  await client.control('POST', '/clock/advance', { by: 'P1D' })
  const { app } = await start(t, path, { clock: 'real', now: () => 1_000_000_000_000 })
  t.match((await call(app, 'GET', '/_sandbox/clock?client=acme')).body, { now: '2026-11-03T09:00:00Z', mode: 'frozen' })
  await requestToken(app, { client_id: 'fresh' })
  t.match((await call(app, 'GET', '/_sandbox/clock?client=fresh')).body, {
    now: '2001-09-09T01:46:40Z',
    mode: 'running',
  })
})

t.test('decisions §3: after a restart the right secret works, and a wrong one is INVALID_CLIENT', async t => {
  const path = t.testdir()
  const first = await start(t, path)
  await requestToken(first.app, { client_secret: 'hush-own' })
  const fork = (body: object) => call(first.app, 'POST', '/_sandbox/fork?client=acme', { body })
  await fork({ clientId: 'same' })
  await fork({ clientId: 'other', clientSecret: 'hush-other' })

  // Whether or not registration is open: they are registered.
  const { app } = await start(t, path, { openRegistration: false })
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
  t.match((await requestToken(app, { client_id: 'nobody' })).body, { code: 'INVALID_CLIENT' })
  const kept = fs.readdirSync(path, { recursive: true, encoding: 'utf8' }).map(name => join(path, name))
  const text = kept.map(name => (fs.statSync(name).isFile() ? fs.readFileSync(name, 'utf8') : '')).join()
  t.match(text, 'acme')
  t.notMatch(text, 'hush', 'no secret is in the folder')
})

t.test('decisions §3: tokens that had ended before a restart have ended after it', async t => {
  const path = t.testdir()
  const first = await start(t, path)
  const client = await connect(first.app)
  const reset = await connect(first.app, 'reset')
  await client.control('POST', '/tokens/expire')
  const { access_token: later } = (await requestToken(first.app)).body
  await reset.control('POST', '/reset')
  const { access_token: fresh } = (await requestToken(first.app, { client_id: 'reset' })).body

  const { app } = await start(t, path)
  const statuses = async (...tokens: string[]) => {
    const answers = tokens.map(token => resume(app, token).send('GET', '/api/v1/bills'))
    return (await Promise.all(answers)).map(({ status, body }) => body.code ?? status)
  }
  t.same(await statuses(client.token, later, reset.token, fresh), ['EXPIRED_TOKEN', 200, 'INVALID_TOKEN', 200])
})

t.test('decisions §3: a client of the list keeps the secret of the list, and its tenant', async t => {
  const path = t.testdir()
  const listed = (clientSecret: string) => [{ clientId: 'Käse & Söhne', clientSecret, scope: 'read' }]
  const first = await start(t, path, { clients: listed('old') })
  const id = { client_id: 'Käse & Söhne' }
  const { access_token } = (await requestToken(first.app, { ...id, client_secret: 'old' })).body
  await resume(first.app, access_token).send('POST', '/api/v1/bills', bill())
  const { app } = await start(t, path, { clients: listed('new') })
  t.equal((await requestToken(app, { ...id, client_secret: 'old' })).status, 401)
  t.equal(
    (await resume(app, access_token).send('GET', '/api/v1/bills')).status,
    401,
    'its tokens are those of the list',
  )
  const renewed = (await requestToken(app, { ...id, client_secret: 'new' })).body
  t.equal(renewed.scope, 'read')
  t.equal((await resume(app, renewed.access_token).send('GET', '/api/v1/bills')).body.totalCount, 1)

  const unlisted = await start(t, path)
  t.equal((await resume(unlisted.app, renewed.access_token).send('GET', '/api/v1/bills')).status, 200, 'it stays')
})

t.test(
  'issue 3, SANDBOX_DATA: a server that moves gives links where it is, and tells of the old ones as they are',
  async t => {
    const path = t.testdir()
    const before = await start(t, path, { url: 'http://127.0.0.1:1' })
    const client = await connect(before.app)
    const create = async (app: App) =>
      (await resume(app, client.token).send('POST', '/api/v1/payout-links', payoutLink())).body
    const links = [await create(before.app)]
    for (const port of [2, 2, 3, 1]) {
      const { app } = await start(t, path, { url: `http://127.0.0.1:${port}` })
      links.push(await create(app), await create(app))
    }
    t.same(
      links.map(({ url }) => new URL(url).port),
      ['1', '2', '2', '2', '2', '3', '3', '1', '1'],
    )
    for (let count = 0; count < 2; count++) {
      const { app, storage } = await start(t, path, { url: 'http://127.0.0.1:4' })
      for (const { payoutLinkId, url } of links) {
        const { body } = await call(app, 'GET', `/_sandbox/payout-links/${payoutLinkId}?client=acme`)
        t.equal(body.record.url, url)
      }
      storage.close()
    }
  },
)

t.test('issue 3: a recording begins with the state that a restart has brought back', async t => {
  const path = t.testdir()
  const client = await connect((await start(t, path)).app)
  await client.post('/api/v1/mandates', mandate())
  const { app } = await start(t, path)
  const state = JSON.parse(await stateOf(app))
  await resume(app, client.token).send('DELETE', '/api/v1/mandates/MND-0001')
  const { complete, start: from, requests } = (await call(app, 'GET', '/_sandbox/recording?client=acme')).body
  t.same([complete, from], [true, state])
  t.match(requests, [{ n: 1, operation: 'DELETE /api/v1/mandates/{mandateReference}', answer: { status: 200 } }])
})

// ------------------------------------------------------------------------------------------------- entries

t.test(
  'issue 3, SANDBOX_DATA: neither reads are written nor requests that were refused before they could change anything',
  async t => {
    const path = t.testdir()
    const { app } = await start(t, path)
    const client = await connect(app)
    const { send, control } = resume(app, client.token)
    // Whether token requests are written is not promised.
    const changes = () => logOf(path).filter(operation => !operation.includes('oauth'))
    await send('POST', '/api/v1/mandates', {})
    await send('POST', '/api/v1/nowhere', mandate())
    await resume(app, 'wrong').send('POST', '/api/v1/mandates', mandate())
    await call(app, 'POST', '/api/v1/mandates', {
      headers: { authorization: `Bearer ${client.token}` },
      body: mandate(),
    })
    await requestToken(app, { client_secret: 'wrong' })
    await control('POST', '/clock/advance', { by: 'x' })
    await send('GET', '/api/v1/mandates')
    await control('GET', '/state')
    await control('POST', '/requests/verify', {})
    t.same(changes(), [])

    await send('DELETE', '/api/v1/mandates/MND-NONE')
    await control('POST', '/faults', { match: { method: 'GET' }, skip: 1, effect: { kind: 'error', status: 500 } })
    for (const url of ['/api/v1/mandates', '/api/v1/bills', '/api/v1/accounts']) await send('GET', url)
    t.same(changes(), [
      'DELETE /api/v1/mandates/{mandateReference}',
      'POST /_sandbox/faults',
      'GET /api/v1/mandates',
      'GET /api/v1/bills',
    ])
  },
)

t.test('issue 3, SANDBOX_DATA: a request is on the disk before it is answered, and before it is applied', async t => {
  const path = t.testdir()
  const synced: string[] = []
  let mandates = () => 0
  const files = {
    ...fs,
    fdatasyncSync(descriptor: number) {
      fs.fdatasyncSync(descriptor)
      synced.push(`${mandates()}`)
    },
  } as Files
  const { app, registry } = await start(t, path, { files })
  const client = await connect(app)
  mandates = () => registry.tenant('acme', 0).mandates.size()
  synced.length = 0
  await client.post('/api/v1/mandates', mandate())
  t.same(synced, ['0'], 'while there is no mandate yet')
})

t.test(
  'decisions §3, SANDBOX_MAX_TENANTS: of a tenant that is dropped nothing is kept, and it begins again',
  async t => {
    const path = t.testdir()
    const log: string[] = []
    const first = await start(t, path, { maxTenants: 2, log })
    const client = await connect(first.app)
    await client.post('/api/v1/mandates', mandate())
    await requestToken(first.app, { client_id: 'beta' })
    t.same(keptClients(path), ['beta'])
    t.same(fs.readdirSync(join(path, 'tenants')), [folderNameOf('beta')])
    const again = await connect(first.app)
    await again.post('/api/v1/bills', bill())
    first.storage.close()
    t.same(log, [], 'and nothing goes wrong')
    const { app } = await start(t, path, { maxTenants: 2 })
    t.match(JSON.parse(await stateOf(app)), { mandates: [], bills: [{}] })
  },
)

t.test('issue 13, 6: a removed tenant stays removed after a restart', async t => {
  const path = t.testdir()
  const first = await start(t, path)
  await connect(first.app)
  await connect(first.app, 'beta')
  t.match(await call(first.app, 'DELETE', '/_sandbox/clients/acme'), { status: 200, body: { removed: 1 } })
  t.same(keptClients(path), ['beta'])
  const { app } = await start(t, path)
  t.equal((await call(app, 'GET', '/_sandbox/state?client=acme')).status, 404)
  t.equal((await call(app, 'GET', '/_sandbox/state?client=beta')).status, 200)
})

// --------------------------------------------------------------------------------------------------------- failures

const CALLS = [
  'mkdirSync',
  'openSync',
  'writeFileSync',
  'fsyncSync',
  'fdatasyncSync',
  'ftruncateSync',
  'renameSync',
  'rmSync',
] as const
type Call = (typeof CALLS)[number]

/** A disk that fails as long as it is told to. */
function faulty() {
  const disk = { failing: [] as readonly Call[], files: fs as Files }
  const wrap = (name: Call) => {
    const real = fs[name] as (...args: unknown[]) => unknown
    return (...args: unknown[]) => {
      if (!disk.failing.includes(name)) return real(...args)
      // A full disk takes some of it.
      if (name === 'writeFileSync' && typeof args[0] === 'number') real(args[0], (args[1] as Buffer).subarray(0, 7))
      throw Object.assign(new Error(`${name} fails`), { code: 'ENOSPC' })
    }
  }
  disk.files = { ...fs, ...Object.fromEntries(CALLS.map(name => [name, wrap(name)])) } as Files
  return disk
}

const HALF_DEAD: readonly (readonly Call[])[] = [
  ['writeFileSync'],
  ['fdatasyncSync', 'fsyncSync'],
  ['writeFileSync', 'ftruncateSync'],
  ['writeFileSync', 'ftruncateSync', 'fsyncSync', 'renameSync', 'rmSync', 'mkdirSync'],
]

t.test(
  'issue 3, SANDBOX_DATA: a request that cannot be written is refused with 503, and nothing is half done',
  async t => {
    for (const failing of HALF_DEAD) {
      const path = t.testdir()
      const disk = faulty()
      const log: string[] = []
      const { app } = await start(t, path, { files: disk.files, log })
      const client = await connect(app)
      await client.post('/api/v1/mandates', mandate())
      const { payoutLinkId } = (await client.post('/api/v1/payout-links', payoutLink())).body
      await client.control('POST', '/faults', {
        times: 5,
        match: { path: '*/accounts' },
        effect: { kind: 'error', status: 418 },
      })
      const state = await stateOf(app)
      const document = JSON.parse(state)
      const recording = (await call(app, 'GET', '/_sandbox/recording?client=acme')).body
      const clients = (await call(app, 'GET', '/_sandbox/clients')).body

      disk.failing = failing
      const { send, control } = resume(app, client.token)
      const attempts: [what: string, step: () => ReturnType<typeof send>][] = [
        ['a write', () => send('POST', '/api/v1/mandates', mandate({ mandateReference: 'MND-0002' }))],
        ['a deletion', () => send('DELETE', '/api/v1/mandates/MND-0001')],
        [
          'a change',
          () => send('PATCH', `/api/v1/payout-links/${payoutLinkId}/cancel`, { cancellationComment: 'No.' }),
        ],
        ['a read that meets a fault', () => send('GET', '/api/v1/accounts')],
        ['a transition', () => control('POST', '/mandates/MND-0001/cancel')],
        ['the clock', () => control('POST', '/clock/advance', { by: 'P40D' })],
        ['a fault', () => control('POST', '/faults', { effect: { kind: 'delay', ms: 0 } })],
        ['no faults', () => control('DELETE', '/faults')],
        ['settings', () => control('PUT', '/settings', { mandateActivation: 'manual' })],
        ['a seed', () => control('POST', '/seed', { fixture: 'demo' })],
        ['the end of tokens', () => control('POST', '/tokens/expire')],
        ['a reset', () => control('POST', '/reset')],
        ['another state', () => control('PUT', '/state', { ...document, faults: [] })],
        ['a fork', () => control('POST', '/fork', { clientId: 'copy' })],
      ]
      for (const [what, step] of attempts) {
        refused(t, await step(), 503, 'SERVICE_UNAVAILABLE', null, `${what} while ${failing.join(', ')} fails`)
        t.equal(await stateOf(app), state, `${what} changes nothing`)
      }
      t.equal((await requestToken(app)).status, 200, 'a token changes nothing that is kept')
      const registration = await requestToken(app, { client_id: 'fresh' })
      t.match([registration.status, registration.body.error], [503, 'temporarily_unavailable'])
      t.equal((await send('GET', '/api/v1/mandates')).status, 200, 'reads go on')
      t.same((await call(app, 'GET', '/_sandbox/clients')).body, clients)
      t.match(log, [/the data folder cannot be written/])
      t.same(
        (await call(app, 'GET', '/_sandbox/recording?client=acme')).body,
        recording,
        'what was refused is not recorded',
      )

      disk.failing = []
      t.equal((await start(t, path)).app && (await stateOf((await start(t, path)).app)), state, 'nor does a crash then')
      t.match(await send('POST', '/api/v1/mandates', mandate({ mandateReference: 'MND-0002' })), { status: 201 })
      t.equal((await control('POST', '/fork', { clientId: 'copy' })).status, 201)
      t.equal(
        (await requestToken(app, { client_id: 'fresh', client_secret: 'another' })).status,
        200,
        'no client was registered',
      )
      t.equal((await control('POST', '/seed', { fixture: 'demo' })).status, 200)
      const after = await stateOf(app)
      const restarted = await start(t, path)
      t.equal(await stateOf(restarted.app), after, 'and later writes are kept')
      t.equal((await requestToken(restarted.app, { client_id: 'fresh', client_secret: 'another' })).status, 200)
    }
  },
)

t.test('issue 3, SANDBOX_DATA: a tenant that cannot begin does not, and begins when it can', async t => {
  const path = t.testdir()
  const disk = faulty()
  const { app } = await start(t, path, { files: disk.files, maxTenants: 2 })
  await requestToken(app)
  disk.failing = ['mkdirSync']
  refused(t, await call(app, 'GET', '/_sandbox/clients'), 503, 'SERVICE_UNAVAILABLE', null)
  refused(t, await call(app, 'GET', '/nowhere'), 404, 'ROUTE_NOT_FOUND', null)
  refused(t, await call(app, 'GET', '/api/v1/mandates'), 401, 'MISSING_TOKEN', 'authorization')
  t.equal((await requestToken(app, { client_id: 'beta' })).status, 503)
  disk.failing = []
  t.match((await call(app, 'GET', '/_sandbox/clients')).body.data, [
    { clientId: 'sandbox-client' },
    { clientId: 'acme' },
  ])
  t.equal((await requestToken(app, { client_id: 'beta' })).status, 200)
  t.same(keptClients(path), ['beta', 'sandbox-client'])
})

t.test(
  'issue 3, SANDBOX_DATA: a corrupt tenant is named and set aside; the others are served, and it begins again',
  async t => {
    const path = t.testdir()
    const first = await start(t, path)
    for (const clientId of ['acme', 'beta']) {
      const client = await connect(first.app, clientId)
      await client.post('/api/v1/bills', bill())
      await client.post('/api/v1/mandates', mandate())
    }
    const folder = join(path, 'tenants', folderNameOf('acme'))
    const snapshot = join(folder, filesOf(path)[1] as string)
    fs.writeFileSync(snapshot, fs.readFileSync(snapshot, 'utf8').replace('automatic', 'manual'))

    const log: string[] = []
    const { app } = await start(t, path, { log })
    t.match(log, [/set aside/, 'restored the tenants of the data folder'])
    t.ok(log[0]?.includes(JSON.stringify(snapshot)))
    t.ok(log[0]?.includes(JSON.stringify(`${folder}.corrupt-1`)))
    t.ok(fs.existsSync(`${folder}.corrupt-1`))
    t.equal(JSON.parse(await stateOf(app, 'beta')).bills.length, 1)
    t.equal((await call(app, 'GET', '/_sandbox/state?client=acme')).status, 404)
    t.equal((await requestToken(app, { client_secret: 'another' })).status, 200)
    t.same(keptClients(path), ['acme', 'beta'])
  },
)

t.test('issue 3, SANDBOX_DATA: a tenant that is whole but not understood keeps the server from starting', async t => {
  const path = t.testdir()
  const first = await start(t, path)
  await requestToken(first.app)
  const folder = openDataFolder(path, { seed: '', isSeedGiven: false, warn: () => {} })
  const [kept] = folder.load()
  const snapshot = kept?.snapshot as { state: object }
  folder.begin('acme', { ...snapshot, state: { ...snapshot.state, events: [{ seq: 7 }] } })
  await t.rejects(start(t, path), { message: /^its tenant "acme" cannot be restored: .*seq/ })
  t.same(keptClients(path), ['acme'], 'and is left as it is')
})

// ------------------------------------------------------------------------------------------------------- snapshots

/** Gives the bill a document of so many bytes. */
async function attach(client: Awaited<ReturnType<typeof connect>>, size: number): Promise<number> {
  const headers = { 'content-type': 'multipart/form-data; boundary=cut' }
  const part = '--cut\r\ncontent-disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n'
  const body = `${part}%PDF-1.7\n${'x'.repeat(size)}\r\n--cut--\r\n`
  return (await client.post('/api/v1/bills/INV-2026-001/document', body, { headers })).status
}

t.test('issue 3, SANDBOX_DATA: a long log becomes a snapshot, and nothing is lost by it', async t => {
  const path = t.testdir()
  const { app } = await start(t, path)
  const client = await connect(app)
  await client.post('/api/v1/bills', bill())
  const before = filesOf(path)
  for (let at = 0; at < 24; at++) t.equal(await attach(client, 100_000), 201)
  t.same(before, ['1.log', '1.snapshot'])
  t.same(filesOf(path), ['3.log', '3.snapshot'], 'twice more than 1 MiB')
  t.ok(logOf(path).length < 12)
  t.equal(await stateOf((await start(t, path)).app), await stateOf(app))
})

t.test('issue 3, SANDBOX_DATA: while no snapshot can be written, the log goes on', async t => {
  const path = t.testdir()
  const disk = faulty()
  const log: string[] = []
  const { app } = await start(t, path, { files: disk.files, log })
  const client = await connect(app)
  await client.post('/api/v1/bills', bill())
  disk.failing = ['renameSync']
  for (let at = 0; at < 8; at++) t.equal(await attach(client, 200_000), 201)
  t.match(log, [/a new snapshot cannot be written/])
  t.same(filesOf(path), ['1.log', '1.snapshot'])
  disk.failing = []
  t.equal(await stateOf((await start(t, path)).app), await stateOf(app))
  await client.post('/api/v1/mandates', mandate())
  t.same(filesOf(path), ['2.log', '2.snapshot'])
  t.equal(await stateOf((await start(t, path)).app), await stateOf(app))
})

t.test('issue 3, SANDBOX_DATA: closing writes snapshots, so that the next start has nothing to go through', async t => {
  const path = t.testdir()
  const time = { now: Date.parse(MONDAY) }
  const options = { clock: 'real', now: () => time.now }
  const { app, storage } = await start(t, path, options)
  for (const clientId of ['acme', 'beta']) await requestToken(app, { client_id: clientId })
  const state = JSON.parse(await stateOf(app))
  time.now += 90_000
  storage.close()
  t.same([logOf(path, 'acme'), logOf(path, 'beta')], [[], []])
  const next = await start(t, path, options)
  t.same(JSON.parse(await stateOf(next.app)), { ...state, clock: { ...state.clock, now: '2026-11-02T09:01:30Z' } })
  const files = filesOf(path)
  next.storage.close()
  t.same(filesOf(path), files, 'and none where there is nothing new')
})

t.test('control plane, SIGTERM: closing a slow disk takes no longer than it may, and loses nothing', async t => {
  const path = t.testdir()
  let now = 0
  let isSlow = false
  const files = {
    ...fs,
    fsyncSync(descriptor: number) {
      if (isSlow) now += 100
      fs.fsyncSync(descriptor)
    },
  } as Files
  const { app, storage } = await start(t, path, { files, now: () => now })
  const clientIds = ['a', 'b', 'c', 'd']
  for (const client_id of clientIds) {
    await requestToken(app, { client_id })
    await call(app, 'POST', `/_sandbox/tokens/expire?client=${client_id}`)
  }
  const states = await Promise.all(clientIds.map(clientId => stateOf(app, clientId)))
  isSlow = true
  storage.close()
  t.ok(now < 1000, `${now} ms`)
  t.same(
    clientIds.map(clientId => logOf(path, clientId).length),
    [0, 1, 1, 1],
  )
  const next = await start(t, path)
  t.same(await Promise.all(clientIds.map(clientId => stateOf(next.app, clientId))), states)
})

t.test('issue 13, 6: a tenant whose files cannot be removed is not removed, with 503', async t => {
  const path = t.testdir()
  const disk = faulty()
  const log: string[] = []
  const { app } = await start(t, path, { files: disk.files, log })
  const client = await connect(app)
  await client.post('/api/v1/mandates', mandate())
  const before = await stateOf(app)
  disk.failing = ['renameSync', 'rmSync']
  refused(t, await call(app, 'DELETE', '/_sandbox/clients/acme'), 503, 'SERVICE_UNAVAILABLE', null)
  t.ok(log.length > 0, 'the log has the cause')
  t.equal(await stateOf(app), before)
  t.same(keptClients(path), ['acme'])
  t.equal((await client.delete('/api/v1/mandates/MND-0001')).status, 200, 'its files go on')
  disk.failing = []
  t.match(await call(app, 'DELETE', '/_sandbox/clients/acme'), { status: 200, body: { removed: 1 } })
  t.same(keptClients(path), [])
})
