/** How a sandbox is got hold of, and let go. */
import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import t, { type Test } from 'tap'
import { connectSandbox, createSandbox, SandboxError } from '../../src/client/index.js'
import type { SandboxOptions } from '../../src/client/types.js'
import { freePort } from '../free-port.js'
import { MONDAY, mandate, pluck } from '../helper.js'
import { open, request } from '../http/raw.js'
import { ADMIN_TOKEN, api, create, RECORDS, refusal } from './helper.js'

// ------------------------------------------------------------------------------------------------------ createSandbox

t.test(`library, In your tests: createSandbox needs nothing`, async t => {
  const before = Date.now()
  const sandbox = await createSandbox()
  t.teardown(() => sandbox.close())
  t.match(sandbox, { clientId: 'app', clientSecret: 'secret' })
  const { now, mode, rate } = await sandbox.clock.get()
  t.same({ mode, rate }, { mode: 'running', rate: 1 })
  t.ok(Date.parse(now) >= before - 1000 && Date.parse(now) <= Date.now(), now)
  t.match(await sandbox.state(), { mandates: [], bills: [], settings: { mandateActivation: 'automatic' } })
})

t.test(`library, In your tests: createSandbox adds no listener for signals`, async t => {
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP', 'uncaughtException', 'unhandledRejection', 'beforeExit']
  const listeners = () => names.map(name => process.listenerCount(name))
  const before = listeners()
  const sandbox = await create(t)
  await sandbox.token()
  t.same(listeners(), before)
})

t.test(`library, In your tests: many at once in one process, each with a world of its own`, async t => {
  const sandboxes = await Promise.all(Array.from({ length: 5 }, () => create(t)))
  t.equal(new Set(pluck(sandboxes, 'url')).size, 5)
  const references = sandboxes.map((_, at) => `MND-${1000 + at}`)
  const bodies = references.map(mandateReference => mandate({ mandateReference }))
  await Promise.all(sandboxes.map((sandbox, at) => api(sandbox, 'POST', '/mandates', bodies[at])))
  for (const [at, sandbox] of sandboxes.entries()) {
    t.match((await sandbox.state()).mandates, [{ record: { mandateReference: references[at] } }])
    t.equal((await sandbox.requests.list()).length, 2)
  }
})

t.test(`library, In your tests: the same seed, which is the default, gives the same ids and tokens`, async t => {
  const outcome = async (options: SandboxOptions) => {
    const sandbox = await create(t, options)
    const token = await sandbox.token()
    const link = { amount: '25', currency: 'EUR', payoutMethod: 'SEPA-CT' }
    const { body } = await api(sandbox, 'POST', '/payout-links', link, { token })
    t.ok(body.url.startsWith(`${sandbox.url}/`), 'a payout link points here')
    return [token, body.payoutLinkId]
  }
  const usual = await outcome({})
  t.same(await outcome({}), usual)
  const other = await outcome({ seed: 'another' })
  t.same(await outcome({ seed: 'another' }), other)
  t.not(other[0], usual[0])
  t.not(other[1], usual[1])
})

t.test(`library, In your tests: clock: an instant at which the clock stands; real: it runs`, async t => {
  const frozen = await create(t, { clock: '2031-02-03T04:05:06Z' })
  t.same(await frozen.clock.get(), { now: '2031-02-03T04:05:06Z', mode: 'frozen', rate: 1 })
  t.match(await (await create(t, { clock: 'real' })).clock.get(), { mode: 'running' })
})

t.test(`library, In your tests: clientId, clientSecret and fixture are those of the sandbox's own client`, async t => {
  const sandbox = await create(t, { clientId: 'shop.test', clientSecret: 'shh', fixture: 'demo' })
  t.match(sandbox, { clientId: 'shop.test', clientSecret: 'shh' })
  t.ok((await api(sandbox, 'GET', '/mandates')).body.totalCount > 5)
  t.match(await sandbox.reset(), { clientId: 'shop.test', fixture: 'demo' })
  const wrong = connectSandbox({ url: sandbox.url, clientId: 'shop.test', clientSecret: 'hush' })
  t.match(await refusal(wrong), { code: 'INVALID_CLIENT', field: 'client_id', status: 401 })
})

t.test(`library, In your tests: settings are those that a reset comes back to, in forks, too`, async t => {
  const settings = { mandateActivation: 'manual', allowedOrigins: ['https://shop.example'] } as const
  const sandbox = await create(t, { settings: { ...settings, allowedOrigins: [...settings.allowedOrigins] } })
  const fork = await sandbox.fork()
  for (const client of [sandbox, fork]) {
    t.match(await client.settings(), settings)
    await client.settings({ mandateActivation: 'automatic', allowedOrigins: [] })
    await client.reset()
    t.match(await client.settings(), settings)
  }
})

t.test(`library, In your tests: tokenLifetime, in seconds of the client's clock`, async t => {
  const sandbox = await create(t, { tokenLifetime: 60 })
  const token = await sandbox.token()
  await sandbox.clock.advance({ by: 'PT59S' })
  t.equal((await api(sandbox, 'GET', '/mandates', undefined, { token })).status, 200)
  await sandbox.clock.advance({ by: 'PT1S' })
  t.equal((await api(sandbox, 'GET', '/mandates', undefined, { token })).body.code, 'EXPIRED_TOKEN')
})

t.test(`library, In your tests: fixtures: a folder beside the package's own`, async t => {
  const folder = t.testdir({
    'story.json': JSON.stringify({ mandates: [mandate({ createdAt: '{{now-P3D}}' })] }),
    scenarios: { 'ended.yaml': 'summary: A mandate has ended.\nafter: mandate-expired\nsteps: []' },
  })
  const sandbox = await create(t, { fixtures: folder, fixture: 'story' })
  t.match(await sandbox.mandates.explain('MND-0001'), { record: { createdAt: '2026-10-30T09:00:00Z' } })
  t.match(await sandbox.seed('demo'), { added: { accounts: Number } })
  t.match((await sandbox.scenarios.run('ended')).steps.at(-1), { call: 'expireMandate' })
  t.match(await sandbox.fork(), { clientSecret: 'secret' })
  const running = await create(t, { fixtures: folder, clock: 'real' })
  t.match(await running.seed('story'), { added: { mandates: 1 } })
})

t.test(`library, In your tests: port; one that is taken is refused as such`, async t => {
  const port = await freePort()
  const first = await create(t, { port })
  t.equal(first.url, `http://127.0.0.1:${port}`)
  await t.rejects(createSandbox({ port }), { code: 'EADDRINUSE' })
  await first.close()
  t.equal((await create(t, { port })).url, first.url, 'and free again')
})

t.test(`library, In your tests: adminToken is for the control plane, not for the API`, async t => {
  const sandbox = await create(t, { adminToken: ADMIN_TOKEN })
  t.equal((await fetch(`${sandbox.url}/_sandbox/clock?client=app`)).status, 401)
  t.match(await sandbox.clock.get(), { now: MONDAY })
  t.equal((await api(sandbox, 'GET', '/mandates')).status, 200)
  const [tokenRequest] = await sandbox.requests.list()
  t.notOk(tokenRequest?.headers.authorization, 'only the control plane gets the token')
})

t.test(`library, In your tests: bounds of the request log and the number of clients`, async t => {
  const sandbox = await create(t, { bounds: { requestLogEntries: 2, maxTenants: 3 } })
  for (const _ of Array(3).keys()) await sandbox.token()
  t.same(pluck(await sandbox.requests.list(), 'seq'), [2, 3])
  const error = await sandbox.requests.expect({ times: 3 }).catch(({ message }) => message)
  t.match(error, 'found 2.\nThe log has dropped 1 older requests, which were not checked.')
  const fork = await sandbox.fork()
  await sandbox.fork()
  t.match(await refusal(fork.clock.get()), { code: 'CLIENT_NOT_FOUND' }, 'the one idle longest has made room')
  for (const bounds of [{ requestLogBytes: 0 }, { journalBytes: 0 }, { journalEntries: 0 }]) {
    t.same(await (await create(t, { bounds })).requests.list(), [], JSON.stringify(bounds))
  }
})

t.test(`library, In your tests: an option that is not allowed is named, with what is`, async t => {
  const folder = t.testdir({
    broken: { 'story.json': '{' },
    bill: { 'story.json': JSON.stringify({ bills: [{}] }) },
    scenario: { scenarios: { 'wrong.yaml': 'steps: []' } },
    kind: { 'story.json': JSON.stringify({ bils: [] }) },
    inherited: { 'story.json': JSON.stringify({ constructor: [] }) },
  })
  const cases: readonly [SandboxOptions, RegExp][] = [
    [{ prot: 8505 } as object, /"prot"/],
    [{ bounds: { journalEntrys: 5 } } as object, /"journalEntrys"/],
    [{ seed: 'sëed' }, /^createSandbox: seed="sëed" is not allowed: give .*ASCII/],
    [{ clock: 'noon' }, /^createSandbox: clock="noon" is not allowed: give real, or an instant/],
    [{ fixture: 'saga' }, /^createSandbox: fixture="saga" is not allowed: give one of demo, empty\.$/],
    [{ clientId: 'not an id' }, /^createSandbox: clientId="not an id" is not allowed: give 1 to 64/],
    [{ clientId: '' }, /^createSandbox: clientId="" is/],
    [{ clientId: 'x'.repeat(65) }, /^createSandbox: clientId=/],
    [{ clientSecret: '' }, /^createSandbox: clientSecret="" is/],
    [{ tokenLifetime: 0 }, /^createSandbox: tokenLifetime="0" is not allowed: give an integer from 1 to/],
    [{ tokenLifetime: 1.5 }, /^createSandbox: tokenLifetime=/],
    [{ port: 65_536 }, /^createSandbox: port="65536" is not allowed: give an integer from 0 to 65535\.$/],
    [{ adminToken: 'a b' }, /^createSandbox: adminToken is not allowed: (?!.*a b)/],
    [{ bounds: { requestLogEntries: -1 } }, /^createSandbox: requestLogEntries="-1" is/],
    [{ bounds: { requestLogBytes: -1 } }, /^createSandbox: requestLogBytes=/],
    [{ bounds: { journalEntries: -1 } }, /^createSandbox: journalEntries="-1" is/],
    [{ bounds: { journalBytes: -1 } }, /^createSandbox: journalBytes=/],
    [{ bounds: { requestLogBytes: Number.NaN } }, /^createSandbox: requestLogBytes="NaN" is/],
    [{ bounds: { maxTenants: 0 } }, /^createSandbox: maxTenants=/],
    [{ fixtures: `${folder}/missing` }, /^createSandbox: fixtures=".*missing" is not allowed: .*ENOENT/],
    [{ fixtures: `${folder}/broken` }, /^createSandbox: fixtures=.*story\.json is not JSON/],
    [{ fixtures: `${folder}/bill` }, /^createSandbox: fixtures=.*story\.json: bills\.0\.\w+: /],
    [{ fixtures: `${folder}/scenario` }, /^createSandbox: fixtures=.*wrong\.yaml: summary is required/],
    [{ fixtures: `${folder}/kind` }, /^createSandbox: fixtures=.*story\.json: there is no kind of record "bils"/],
    [{ fixtures: `${folder}/inherited` }, /^createSandbox: fixtures=.*there is no kind of record "constructor"/],
  ]
  for (const [options, message] of cases) {
    await t.rejects(createSandbox(options), { name: 'TypeError', message }, JSON.stringify(options))
  }
})

t.test(`library, In your tests: settings that are not allowed are refused, and the server ends`, async t => {
  const port = await freePort()
  const settings = { mandateActivation: 'never' as 'manual' }
  t.match(await refusal(createSandbox({ port, settings })), { code: 'INVALID_FIELD', field: 'mandateActivation' })
  t.equal((await create(t, { port })).url, `http://127.0.0.1:${port}`, 'the port is free again')
})

// ----------------------------------------------------------------------------------------------------- connectSandbox

t.test(`library, In your tests: connectSandbox takes hold of sandbox-client unless one says otherwise`, async t => {
  const { url } = await create(t)
  for (const given of [url, `${url}/`, new URL(url)]) {
    const sandbox = await connectSandbox({ url: given })
    t.match(sandbox, { url, clientId: 'sandbox-client', clientSecret: 'sandbox-secret' })
    t.equal((await api(sandbox, 'GET', '/mandates')).status, 200)
    t.ok((await sandbox.state()).mandates.length > 5, 'the world of demo')
  }
})

t.test(`library, In your tests: connectSandbox registers a client, and leaves no trace of it`, async t => {
  const { url } = await create(t)
  const first = await connectSandbox({ url, clientId: 'job-1', clientSecret: 'shh' })
  t.same(await first.requests.list(), [])
  await first.seed(RECORDS)
  const second = await connectSandbox({ url, clientId: 'job-2' })
  t.match(second, { clientId: 'job-2', clientSecret: 'secret' })
  t.same((await second.state()).mandates, [], 'each has its own world')

  const again = await connectSandbox({ url, clientId: 'job-1', clientSecret: 'shh' })
  t.match(await again.mandates.explain('MND-0001'), { record: { status: 'ACTIVE' } })
  await first.token()
  t.equal((await again.requests.list()).length, 1, 'the log of one that is there stays')
  t.ok(await again.token())
})

t.test('library, In your tests: connectSandbox with a wrong secret rejects at once, and leaves no trace', async t => {
  const sandbox = await create(t)
  await sandbox.faults.arm({ effect: { kind: 'garbage' } })
  const state = await sandbox.state()
  for (const [clientId, clientSecret] of [
    ['app', 'wrong'],
    ['app', 'Secret'],
    ['sandbox-client', 'wrong'],
  ] as const) {
    const error = await refusal(connectSandbox({ url: sandbox.url, clientId, clientSecret }))
    t.match(error, { code: 'INVALID_CLIENT', field: 'client_id', status: 401 })
  }
  t.ok(await connectSandbox({ url: sandbox.url, clientId: 'app' }), 'the right secret triggers no fault')
  t.same(await sandbox.requests.list(), [])
  t.same(await sandbox.state(), state)
})

t.test(`library, In your tests: connectSandbox is refused where it could not work`, async t => {
  const { url } = await create(t, { adminToken: ADMIN_TOKEN })
  const refused = { name: 'SandboxError', code: 'ADMIN_TOKEN_REQUIRED', field: 'authorization', status: 401 }
  t.match(await refusal(connectSandbox({ url })), refused)
  t.match(await refusal(connectSandbox({ url, adminToken: 'wrong' })), refused)
  const noId = await refusal(connectSandbox({ url, adminToken: ADMIN_TOKEN, clientId: 'not an id' }))
  t.match(noId, { code: 'INVALID_CLIENT', field: 'client_id', status: 401 })
  const unused = `http://127.0.0.1:${await freePort()}`
  const error = await refusal(connectSandbox({ url: unused }))
  t.match(error, { code: 'UNREACHABLE', field: null, status: null, cause: Error })
  t.match(error.message, new RegExp(`${unused}: .*ECONNREFUSED`))
  t.match(await refusal(connectSandbox({ url: 'nowhere' })), { code: 'UNREACHABLE', message: /nowhere/ })
})

/** A server of another kind. Returns its address. */
async function otherServer(t: Test, listener: RequestListener): Promise<string> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

t.test(`library, In your tests: what is no sandbox is told from one`, async t => {
  let answer = { status: 200, body: '<html>' }
  const url = await otherServer(t, (_request, response) => response.writeHead(answer.status).end(answer.body))
  for (const [status, body] of [
    [200, '<html>'],
    [200, ''],
    [404, '{"error":"not found"}'],
    [502, 'Bad Gateway'],
    [500, 'null'],
    [400, '{"code":7,"message":"no"}'],
  ] as const) {
    answer = { status, body }
    const error = await refusal(connectSandbox({ url }))
    t.match(error, { code: 'UNEXPECTED_ANSWER', field: null, status }, body)
  }
  answer = { status: 418, body: '{"code":"TEAPOT","message":"I am one"}' }
  t.match(await refusal(connectSandbox({ url })), { code: 'TEAPOT', field: null, status: 418, message: 'I am one' })
  const broken = await otherServer(t, (_request, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('{"now"')
    response.socket?.end()
  })
  t.match(await refusal(connectSandbox({ url: broken })), { code: 'UNREACHABLE', status: null }, 'it breaks off')
})

// -------------------------------------------------------------------------------------------------------------- close

/** Long enough for a slow machine, and short of whatever a test of closing waits for. */
const PROMPTLY = { timeout: 15_000 }

t.test(`library, In your tests: close ends the server, and may be called again`, async t => {
  const sandbox = await create(t)
  const fork = await sandbox.fork()
  const other = await connectSandbox({ url: sandbox.url })
  await Promise.all([sandbox.close(), sandbox.close()])
  for (const client of [sandbox, fork]) {
    const error = await refusal(client.clock.get())
    t.match(error, { name: 'SandboxError', code: 'CLOSED', field: null, status: null })
    t.match(await refusal(client.token()), { code: 'CLOSED' })
    t.match(await refusal(client.events.next()), { code: 'CLOSED' })
  }
  t.match(await refusal(other.clock.get()), { code: 'UNREACHABLE' })
  await sandbox.close()
  await fork.close()
})

t.test(`library, In your tests: to close a connection or a fork leaves the server as it is`, async t => {
  const sandbox = await create(t)
  const other = await connectSandbox({ url: sandbox.url, clientId: 'other' })
  const fork = await other.fork()
  const forkOfFork = await fork.fork()
  await fork.close()
  t.match(await refusal(forkOfFork.clock.get()), { code: 'CLOSED' }, 'its own forks go with it')
  t.match(await other.clock.get(), { now: MONDAY })
  await other.close()
  t.match(await refusal(other.clock.get()), { code: 'CLOSED' })
  t.match(await sandbox.clock.get(), { now: MONDAY })
  t.match(await (await connectSandbox({ url: sandbox.url, clientId: fork.clientId })).clock.get(), { now: MONDAY })
})

t.test('library, In your tests: close aborts no call that is over', async t => {
  const sandbox = await create(t)
  const other = await connectSandbox({ url: sandbox.url, clientId: 'other' })
  await other.clock.get()
  const aborts = t.capture(AbortController.prototype, 'abort', AbortController.prototype.abort)
  await other.close()
  t.equal(aborts().length, 0)
})

t.test(`library, In your tests: close does not wait for those who wait for events`, PROMPTLY, async t => {
  const sandbox = await create(t)
  const other = await connectSandbox({ url: sandbox.url, clientId: 'app' })
  const port = Number(new URL(sandbox.url).port)
  const raw = await open(port)
  raw.send(request('GET /_sandbox/events?client=app&wait=60'))
  const own = refusal(sandbox.events.next({}, { timeoutSeconds: 60 }))
  const others = refusal(other.events.next({}, { timeoutSeconds: 60 }))
  await sandbox.clock.get()
  await sandbox.close()
  t.match(await own, { code: 'CLOSED' })
  t.match((await others).code, /^(UNREACHABLE|SERVICE_UNAVAILABLE)$/)
  t.match(await raw.read(), { status: 200, body: { data: [], last: 0 } })
  t.equal(await raw.read(), undefined, 'and its connection ends')
})

t.test(`library, In your tests: close delivers at once what a fault delays`, PROMPTLY, async t => {
  const sandbox = await create(t)
  const token = await sandbox.token()
  await sandbox.faults.arm({ times: null, effect: { kind: 'delay', ms: 300_000 } })
  const late = api(sandbox, 'POST', '/mandates', mandate(), { token })
  // It is applied at once: by then it waits for its delivery.
  await sandbox.events.next({ kind: 'mandate' })
  await sandbox.close()
  t.match(await late, { status: 201, body: { mandateReference: 'MND-0001' } })
})

t.test(`library, In your tests: close does not wait for idle connections or long for requests`, PROMPTLY, async t => {
  const sandbox = await create(t)
  const port = Number(new URL(sandbox.url).port)
  const [half, silent, idle] = [await open(port), await open(port), await open(port)]
  const form = 'content-type: application/x-www-form-urlencoded'
  half.send(`POST /api/v1/oauth/token HTTP/1.1\r\nhost: sandbox\r\n${form}\r\ncontent-length: 100\r\n\r\nclient`)
  idle.send(request('GET /_sandbox/health/live'))
  t.match(await idle.read(), { status: 200 })
  const order: string[] = []
  const ends = Object.entries({ half, silent, idle }).map(async ([name, connection]) => {
    t.equal(await connection.read(), undefined, `${name}: no answer`)
    order.push(name)
  })
  await sandbox.close()
  await Promise.all(ends)
  t.equal(order.at(-1), 'half', 'what is at rest ends at once')
})

t.test(`library, In your tests: closing a connection rejects only the calls that wait on it`, PROMPTLY, async t => {
  const sandbox = await create(t)
  const other = await connectSandbox({ url: sandbox.url, clientId: 'app' })
  await sandbox.seed(RECORDS)
  const waiting = refusal(other.events.next({ to: 'SETTLED' }, { timeoutSeconds: 60 }))
  const requests = refusal(other.requests.list({ after: 99, wait: 60 }))
  const stays = sandbox.events.next({ to: 'SETTLED' }, { timeoutSeconds: 60 })
  await sandbox.clock.get()
  await other.close()
  t.match(await waiting, { code: 'CLOSED', status: null })
  t.match(await requests, { code: 'CLOSED', status: null })
  await sandbox.clock.advance({ by: 'P10D' })
  t.match(await stays, { reference: 'COL-0001', to: 'SETTLED' })
})

t.test(`library, In your tests: a SandboxError is an Error that says where it is from`, async t => {
  const error = new SandboxError('No.', { code: 'NO' })
  t.ok(error instanceof Error)
  t.match(error, { name: 'SandboxError', message: 'No.', code: 'NO', field: null, status: null, cause: undefined })
})

// ------------------------------------------------------------------------------------------------------------- forks

/** Returns the client ids of a server. */
async function clientsOf(url: string): Promise<string[]> {
  const { data } = (await (await fetch(`${url}/_sandbox/clients`)).json()) as { data: { clientId: string }[] }
  return data.map(({ clientId }) => clientId).sort()
}

t.test('library, In your tests: close of a fork removes its client, unless the fork is kept', async t => {
  const { url } = await create(t)
  const sandbox = await connectSandbox({ url, clientId: 'job' })
  const fork = await sandbox.fork('fork')
  const kept = await sandbox.fork({ clientId: 'kept', keep: true })
  await fork.fork('grandchild')
  await kept.fork()
  await sandbox.fork()
  await fork.close()
  t.match(await clientsOf(url), ['app', 'job', /^job-/, 'kept', /^kept-/, 'sandbox-client'], 'with its own forks')
  t.match(await refusal(fork.clock.get()), { code: 'CLOSED' })
  await fork.close()
  await sandbox.close()
  t.same(await clientsOf(url), ['app', 'job', 'kept', 'sandbox-client'], 'a client that is no fork stays')
  await (await connectSandbox({ url, clientId: 'kept' })).close()
})

t.test('library, In your tests: a sandbox keeps no fork that is closed', async t => {
  const sandbox = await create(t)
  const closed = async () => {
    const fork = await sandbox.fork()
    await fork.close()
    return new WeakRef(fork)
  }
  const forks = [await closed(), await closed()]
  setFlagsFromString('--expose-gc')
  await setImmediate()
  runInNewContext('gc')()
  t.equal(forks[0]?.deref(), undefined)
})

t.test('library, In your tests: close of a fork that is gone, or whose server is gone, resolves', async t => {
  const sandbox = await create(t)
  const other = await connectSandbox({ url: sandbox.url, clientId: 'app' })
  const fork = await sandbox.fork('what-if')
  t.equal(await fork.delete(), true)
  const next = await sandbox.fork('what-if')
  await fork.close()
  t.match(await next.clock.get(), { now: MONDAY }, 'another client of the same id is not removed')
  await fetch(`${sandbox.url}/_sandbox/clients/what-if`, { method: 'DELETE' })
  await next.close()
  const orphan = await other.fork()
  await sandbox.close()
  await orphan.close()
  await other.close()
})

// ----------------------------------------------------------------------------------------------------------- options

t.test('library, In your tests: connectSandbox says what it takes', async t => {
  const { url } = await create(t)
  const cases: readonly [unknown, RegExp][] = [
    [url, /^connectSandbox: give \{ url: 'http:\/\/…' \}, not "http:/],
    [undefined, /^connectSandbox: give \{ url: .* not options without a url\.$/],
    [null, /not options without a url\.$/],
    [{ adminToken: 'hush-hush' }, /^connectSandbox: (?!.*hush)/],
    [{ url: 8080 }, /^connectSandbox: give \{ url: /],
    [{ url: null }, /^connectSandbox: give \{ url: /],
    [
      { url, client: 'job-1' },
      /^connectSandbox: unknown option "client"\. Known: url, adminToken, clientId, clientSecret\.$/,
    ],
  ]
  for (const [options, message] of cases) {
    await t.rejects(connectSandbox(options as { url: string }), { name: 'TypeError', message }, JSON.stringify(options))
  }
})

t.test('library, In your tests: every method refuses options that it does not have', async t => {
  // biome-ignore lint/suspicious/noExplicitAny: as in JavaScript
  const sandbox: any = await create(t)
  await sandbox.seed(RECORDS)
  const { events, collections, mandates, payoutLinks, bills, counterparties, accounts } = sandbox
  const calls: Record<string, () => Promise<unknown>> = {
    'events.list': () => events.list({ refrence: 'COL-0001' }),
    'events.next': () => events.next({ state: 'SETTLED' }),
    'events.next options': () => events.next({}, { timeout: 1 }),
    'events.next number': () => events.next({}, 5),
    'collections.list': () => collections.list({ state: ['PENDING'] }),
    'collections.all cursor': () => collections.all({ limit: 1 }),
    'collections.create': () => collections.create({ ...RECORDS.collections[0], date: '2026-11-09' }),
    'mandates.list': () => mandates.list('ACTIVE'),
    'mandates.create': () => mandates.create(mandate({ debtor: { name: 'Jane Doe', ibn: 'DE89370400440532013000' } })),
    'mandates.create nothing': () => mandates.create(),
    'payoutLinks.create': () => payoutLinks.create({ amount: '1', currency: 'EUR', method: 'SEPA-CT' }),
    'bills.list region': () => bills.list({}, { regoin: 'UK' }),
    'bills.create': () => bills.create({ reference: 'INV-0001' }),
    'bills.explain': () => bills.explain('INV-0001', { currency: 'EUR' }),
    'counterparties.update': () => counterparties.update('CPTY-0001', { remark: 'x' }),
    'counterparties.update region': () => counterparties.update('CPTY-0001', { remarks: 'x' }, 'EU'),
    'accounts.all region': () => accounts.all({}, { country: 'DE' }),
    fork: () => sandbox.fork({ client: 'fork' }),
    'fork number': () => sandbox.fork(7),
    coverage: () => sandbox.coverage({ client: 'app' }),
  }
  for (const [name, run] of Object.entries(calls)) {
    const method = name.split(' ')[0] as string
    await t.rejects(run(), { name: 'TypeError', message: new RegExp(`^${method.replace('.', '\\.')}: `) }, name)
  }
  const wrong = await mandates.create(mandate({ debtor: { ibn: 'x' } })).catch((error: Error) => error.message)
  t.match(wrong, '"debtor.ibn"')
  t.same(await sandbox.requests.list(), [], 'none of them has sent a request of the API')

  // What the server refuses.
  const server: Record<string, () => Promise<unknown>> = {
    'clock.advance': () => sandbox.clock.advance({ for: 'P1D' }),
    'requests.list': () => sandbox.requests.list({ state: 200 }),
    'collections.return': () => collections.return('COL-0001', { reason: 'AM04' }),
    seed: () => sandbox.seed({ bils: [] }),
  }
  for (const [name, run] of Object.entries(server)) {
    t.match((await refusal(run())).code, /^INVALID_(FIELD|QUERY_PARAMETER)$/, name)
  }
})
