import { once } from 'node:events'
import fs, { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer as createProxy, connect as dial } from 'node:net'
import { pipeline } from 'node:stream'
import t, { type Test } from 'tap'
import { boot } from '../../src/boot.js'
import { ConfigError, readConfig } from '../../src/config.js'
import { isReady, localUrl } from '../../src/health.js'
import { realTimers } from '../../src/http/timers.js'
import { createServer } from '../../src/start.js'
import { openSqlite } from '../../src/storage/sqlite.js'
import type { Database } from '../../src/storage/storage.js'
import { DEMO_CLIENT } from '../../src/tenants/registry.js'
import { freePort } from '../free-port.js'
import { bill, collection, mandate, payoutLink } from '../helper.js'
import { closed } from '../http/raw.js'
import { requestTokenAt } from '../program.js'
import type { Line } from './log.js'
import { createTestLogger } from './log.js'

// Tests of the settings, with servers in this process. cli.test.ts tests signals and exit codes.

interface Running {
  url: string
  lines: Line[]
  close(): Promise<void>
}

/** Starts a server on a free port. It closes with the test. */
async function start(t: Test, settings: Record<string, string> = {}): Promise<Running> {
  const config = readConfig({ PORT: '0', ...settings })
  const { logger, lines } = createTestLogger(config.logLevel)
  const server = await createServer(config, logger)
  t.teardown(() => server.close())
  return { url: await server.listen(), lines, close: () => server.close() }
}

/** Rejects with the error of a start. */
async function startError(t: Test, settings: Record<string, string>): Promise<Error> {
  try {
    await start(t, settings)
  } catch (error) {
    return error as Error
  }
  throw new Error('the server has started')
}

async function issueToken({ url }: Running, clientId: string, clientSecret = 'secret') {
  const response = await requestTokenAt(url, clientId, clientSecret)
  // biome-ignore lint/suspicious/noExplicitAny: bodies of any shape
  return { status: response.status, body: (await response.json()) as any }
}

async function send({ url }: Running, method: string, path: string, token = '', body?: object) {
  const response = await fetch(url + path, {
    method,
    headers: {
      ...(token !== '' && { authorization: `Bearer ${token}`, 'x-region': 'EU' }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: bodies of any shape
  return { status: response.status, body: (await response.json()) as any }
}

const LINK = { amount: '25', currency: 'EUR', payoutMethod: 'SEPA-CT' }

// --------------------------------------------------------------------------------------------------------------- log

t.test('settings, PORT: 0 listens on a free port and logs its URL', async t => {
  const server = await start(t, { SANDBOX_SEED: 'my seed' })
  t.match(server.url, /^http:\/\/127\.0\.0\.1:[1-9]\d*$/)
  t.match(server.lines.at(-1), {
    level: 30,
    msg: `payments-sandbox is ready: open ${server.url}/_sandbox/console`,
    url: server.url,
    clientId: 'sandbox-client',
    seed: 'my seed',
  })
  t.match(await send(server, 'GET', '/_sandbox'), { status: 200, body: { seed: 'my seed', tenants: 1 } })
})

t.test('settings, Settings: the first line names console, guide and storage, and warns if it is open', async t => {
  const data = t.testdir()
  for (const [settings, level, msg] of [
    [
      {},
      30,
      /^payments-sandbox \d+\.\d+\.\d+: console \/_sandbox\/console, guide \/docs\/guide\. It keeps its clients in memory$/,
    ],
    [{ SANDBOX_DATA: data }, 30, `keeps its clients in SQLite: ${data}`],
    [{ HOST: '127.0.0.2' }, 30, /memory$/],
    [{ HOST: 'localhost' }, 30, /memory$/],
    [{ HOST: '0.0.0.0' }, 40, /memory\. All that reach 0\.0\.0\.0 can control it: set SANDBOX_ADMIN_TOKEN$/],
    [{ HOST: '0.0.0.0', SANDBOX_ADMIN_TOKEN: 'hush' }, 30, /memory$/],
  ] as const) {
    const { lines, close } = await start(t, settings)
    t.match(lines[0], { level, msg }, JSON.stringify(settings))
    await close()
  }
  // An address of no machine, which begins as that of the loopback.
  const { logger, lines } = createTestLogger('info')
  const server = await createServer(readConfig({ PORT: '0', HOST: '::1234' }), logger)
  t.teardown(() => server.close())
  await t.rejects(server.listen())
  t.match(lines[0], { level: 40, msg: 'All that reach ::1234' })
})

t.test('settings, Settings: a server that has closed leaves no timer that holds up its process', async t => {
  const begun = t.capture(realTimers, 'setTimeout', realTimers.setTimeout)
  const ended = t.capture(realTimers, 'clearTimeout', realTimers.clearTimeout)
  await (await start(t)).close()
  const [grace, ...others] = begun().filter(({ args }) => args[1] === 3000)
  t.equal(others.length, 0)
  t.ok(ended().some(({ args }) => args[0] === (grace as { returned?: unknown }).returned))
})

t.test('settings, Settings: the address in the ready line is the page /docs', async t => {
  const server = await start(t)
  const [address = ''] = /http\S+/.exec(server.lines.at(-1)?.msg ?? '') ?? []
  const { status, headers } = await fetch(address)
  t.match([status, headers.get('content-type')], [200, 'text/html'])
})

t.test('settings, SANDBOX_FIXTURE: the first records of the demo client', async t => {
  const folder = t.testdir({ 'story.json': '\ufeff{"bills": []}' })
  for (const [settings, mandates] of [
    [{}, 17],
    [{ SANDBOX_FIXTURE: 'demo' }, 17],
    [{ SANDBOX_FIXTURE: 'empty' }, 0],
    [{ SANDBOX_FIXTURE: 'story', SANDBOX_FIXTURES: folder }, 0],
  ] as const) {
    const server = await start(t, settings)
    t.match((await send(server, 'GET', '/_sandbox')).body, { tenants: 1, records: { mandates } })
    t.match((await send(server, 'POST', '/_sandbox/reset')).body, { counts: { mandates } })
  }
  const error = await startError(t, { SANDBOX_FIXTURE: 'saga' })
  t.ok(error instanceof ConfigError)
  t.equal(error.message, 'SANDBOX_FIXTURE="saga" is not allowed: give one of demo, empty.')
})

t.test('settings, SANDBOX_CLIENTS: an empty list of origins excludes a fixture with an embedded link', async t => {
  const client = { clientId: 'shop', clientSecret: 'hush', allowedOrigins: [] as string[] }
  const link = { amount: '1', currency: 'EUR', payoutMethod: 'SEPA-CT', uiMode: 'embedded' }
  const withOrigin = { payoutLinks: [{ ...link, origin: 'https://shop.example' }] }
  const folder = t.testdir({
    ...Object.fromEntries(
      ['demo', 'empty', 'named'].map(fixture => [`clients-${fixture}`, JSON.stringify([{ ...client, fixture }])]),
    ),
    fixtures: { 'named.json': JSON.stringify(withOrigin) },
  })
  const settings = (fixture: string) => ({
    SANDBOX_CLIENTS: `${folder}/clients-${fixture}`,
    SANDBOX_FIXTURES: `${folder}/fixtures`,
  })
  const error = await startError(t, settings('demo'))
  t.ok(error instanceof ConfigError)
  t.equal(
    error.message,
    'SANDBOX_CLIENTS: client "shop" has an embedded payout link in its fixture "demo", but no allowedOrigins: ' +
      'give an origin, or leave the member out.',
  )
  for (const fixture of ['empty', 'named']) {
    const server = await start(t, settings(fixture))
    t.match(await issueToken(server, 'shop', 'hush'), { status: 200 }, fixture)
  }
})

t.test('persistence, SANDBOX_DATABASE_URL: a database that is away at the start ends it with one line', async t => {
  const url = `postgres://user:hush@127.0.0.1:${await freePort()}/sandbox`
  const error = await startError(t, { SANDBOX_DATABASE_URL: url, SANDBOX_SEED: 'x' })
  t.ok(error instanceof ConfigError)
  t.match(error.message, /^SANDBOX_DATABASE_URL: the database cannot be reached: connect ECONNREFUSED \S+$/)
})

t.test('settings, SANDBOX_STATE_BYTES: bounds a state document', async t => {
  const server = await start(t, { SANDBOX_STATE_BYTES: '10' })
  const { status, body } = await send(server, 'PUT', '/_sandbox/state', '', { format: 'payments-sandbox/state' })
  t.match({ status, body }, { status: 413, body: { code: 'PAYLOAD_TOO_LARGE', message: /10 bytes/ } })
})

t.test('settings, HOST: a wildcard address is logged as localhost', async t => {
  const { url } = await start(t, { HOST: '0.0.0.0' })
  t.match(url, /^http:\/\/localhost:\d+$/)
  t.ok(await isReady(localUrl('0.0.0.0', Number(new URL(url).port))))
})

t.test('settings, HOST: an IPv6 address is logged in brackets', async t => {
  try {
    t.match((await start(t, { HOST: '::1' })).url, /^http:\/\/\[::1\]:\d+$/)
  } catch (error) {
    t.match(error, { code: /^(EADDRNOTAVAIL|EAFNOSUPPORT)$/ }, 'no IPv6 on this machine')
  }
})

t.test('decisions §3: secrets and tokens are never logged, at any level', async t => {
  const folder = t.testdir({ 'clients.json': '[{"clientId": "listed", "clientSecret": "hush-listed"}]' })
  const server = await start(t, { LOG_LEVEL: 'trace', SANDBOX_CLIENTS: `${folder}/clients.json` })
  const tokens: string[] = []
  for (const [id, secret] of [
    ['listed', 'hush-listed'],
    ['acme', 'hush-acme'],
    ['sandbox-client', 'sandbox-secret'],
  ] as const) {
    const { access_token } = (await issueToken(server, id, secret)).body
    tokens.push(access_token)
    t.equal((await send(server, 'GET', '/api/v1/mandates?client_secret=hush-query', access_token)).status, 200)
  }
  await issueToken(server, 'acme', 'hush-wrong')
  await server.close()
  const output = JSON.stringify(server.lines)
  t.match(output, '/api/v1/oauth/token', 'requests are logged at this level')
  for (const secret of ['hush-listed', 'hush-acme', 'sandbox-secret', 'hush-wrong', 'hush-query', ...tokens])
    t.notMatch(output, secret)
})

t.test('settings, LOG_LEVEL: `info` logs no requests, `warn` does not log the start', async t => {
  for (const [LOG_LEVEL, count] of [
    ['', 3],
    ['warn', 0],
  ] as const) {
    const server = await start(t, { LOG_LEVEL })
    await send(server, 'GET', '/_sandbox/clock')
    await server.close()
    t.equal(server.lines.length, count)
  }
})

// ---------------------------------------------------------------------------------------------------------- settings

t.test('settings, SANDBOX_SEED: equal settings and requests give equal answers', async t => {
  const story = async () => {
    const server = await start(t, { SANDBOX_SEED: 'same', SANDBOX_CLOCK: '2026-11-02T09:00:00Z' })
    const token = (await issueToken(server, 'acme')).body
    const created = (await send(server, 'POST', '/api/v1/payout-links', token.access_token, LINK)).body
    const clock = (await send(server, 'GET', '/_sandbox/clock?client=acme')).body
    return { token, created: { ...created, url: created.url.replace(server.url, '') }, clock }
  }
  const first = await story()
  t.same(first.clock, { now: '2026-11-02T09:00:00Z', mode: 'frozen', rate: 1 })
  t.match(first.created, { createdAt: '2026-11-02T09:00:00Z', payoutLinkId: String })
  t.same(await story(), first)
})

t.test('control plane, SANDBOX_PUBLIC_URL: payout links point to the server by default', async t => {
  const urlWith = async (settings: Record<string, string>) => {
    const server = await start(t, settings)
    const { access_token } = (await issueToken(server, 'acme')).body
    const { url } = (await send(server, 'POST', '/api/v1/payout-links', access_token, LINK)).body
    return url.replace(server.url, 'SERVER')
  }
  t.match(await urlWith({}), /^SERVER\/[^/].*$/)
  t.match(
    await urlWith({ SANDBOX_PUBLIC_URL: 'https://pay.example/sandbox/' }),
    /^https:\/\/pay\.example\/sandbox\/[^/]/,
  )
})

/** Forwards the connections to another port of this machine, as a mapped port of a container does. Returns that URL. */
async function mapPort(t: Test, { url }: Running): Promise<string> {
  const proxy = createProxy(socket => {
    const inner = dial(Number(new URL(url).port), '127.0.0.1')
    pipeline(socket, inner, socket, () => {})
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.teardown(() => proxy.close())
  return `http://localhost:${(proxy.address() as AddressInfo).port}`
}

t.test('decisions §8: behind a mapped port, a link has the address of its request', async t => {
  const server = await start(t)
  const mapped = { ...server, url: await mapPort(t, server) }
  const { access_token: token } = (await issueToken(mapped, 'acme')).body
  const created = (await send(mapped, 'POST', '/api/v1/payout-links', token, LINK)).body
  t.equal(created.url, `${mapped.url}/pay/${created.payoutLinkId}?client=acme`)
  t.equal((await fetch(created.url)).status, 200, 'the page of the link is there')
  const direct = (await send(server, 'POST', '/api/v1/payout-links', token, LINK)).body
  t.ok(direct.url.startsWith(`${server.url}/pay/`), direct.url)
  const { body: metadata } = await send(mapped, 'GET', '/.well-known/oauth-authorization-server')
  t.equal(metadata.issuer, mapped.url)
})

t.test('decisions §3: SANDBOX_CLIENTS, registration, lifetime of tokens, and a folder of fixtures', async t => {
  const folder = t.testdir({
    'clients.json': JSON.stringify([
      {
        clientId: 'listed',
        clientSecret: 's1',
        scope: 'read',
        fixture: 'story',
        allowedOrigins: ['https://a.example'],
      },
    ]),
    fixtures: {
      'story.json': JSON.stringify({
        bills: [
          {
            uniqueReferenceIdentifier: 'STORY-1',
            type: 'INVOICE',
            cashflowType: 'INFLOW',
            counterpartyReference: 'CPTY-0001',
            currency: 'EUR',
            totalAmount: '1',
            dueDate: '{{today+P14D}}',
          },
        ],
      }),
    },
  })
  const server = await start(t, {
    SANDBOX_CLIENTS: `${folder}/clients.json`,
    SANDBOX_FIXTURES: `${folder}/fixtures`,
    SANDBOX_OPEN_REGISTRATION: 'false',
    SANDBOX_TOKEN_TTL: '60',
    SANDBOX_CLOCK: '2026-11-02T09:00:00Z',
  })
  const { status, body } = await issueToken(server, 'listed', 's1')
  t.equal(status, 200)
  t.match(body, { expires_in: 60, scope: 'read', token_type: 'Bearer' })
  t.match((await send(server, 'GET', '/api/v1/bills/STORY-1', body.access_token)).body, { dueDate: '2026-11-16' })
  const embedded = { ...LINK, uiMode: 'embedded', origin: 'https://a.example' }
  t.equal((await send(server, 'POST', '/api/v1/payout-links', body.access_token, embedded)).status, 201)
  t.match(await issueToken(server, 'listed', 'wrong'), { status: 401, body: { code: 'INVALID_CLIENT' } })
  t.match(await issueToken(server, 'unlisted'), { status: 401, body: { code: 'INVALID_CLIENT' } })
  t.equal((await issueToken(server, 'sandbox-client', 'sandbox-secret')).status, 200, 'it always exists')
})

t.test('settings, SANDBOX_MAX_TENANTS: a dropped tenant is logged', async t => {
  const server = await start(t, { SANDBOX_MAX_TENANTS: '2' })
  t.equal((await issueToken(server, 'first')).status, 200)
  t.equal((await issueToken(server, 'second')).status, 200)
  t.match(server.lines.at(-1), { level: 40, msg: /^dropped the tenant/, clientId: 'first' })
})

// ------------------------------------------------------------------------------------------------------ SANDBOX_DATA

const stateOf = async ({ url }: Running) => (await fetch(`${url}/_sandbox/state?client=acme`)).text()

t.test('persistence, SANDBOX_DATA: a restart keeps tenants; new payout links point to the new address', async t => {
  const data = `${t.testdir()}/data`
  const settings = { SANDBOX_DATA: data, SANDBOX_CLOCK: '2026-11-02T09:00:00Z' }
  const first = await start(t, { ...settings, SANDBOX_SEED: 'kept' })
  const { access_token: token } = (await issueToken(first, 'acme')).body
  const before = (await send(first, 'POST', '/api/v1/payout-links', token, LINK)).body
  const kept = await stateOf(first)
  await first.close()
  t.same(readdirSync(data), ['sandbox.db'], 'the database is closed')

  const second = await start(t, settings)
  t.match(second.lines, [{ msg: /SQLite/ }, { msg: /listening/ }, { msg: /ready/, seed: 'kept' }])
  t.equal(await stateOf(second), kept)
  const after = (await send(second, 'POST', '/api/v1/payout-links', token, LINK)).body
  t.ok(before.url.startsWith(`${first.url}/`) && after.url.startsWith(`${second.url}/`), `${before.url}, ${after.url}`)
  t.equal((await send(second, 'GET', '/api/v1/bills', token)).status, 200)

  await second.close()
  const otherSeed = await startError(t, { ...settings, SANDBOX_SEED: 'another' })
  t.ok(otherSeed instanceof ConfigError)
  t.match(otherSeed.message, /^SANDBOX_DATA=.*SANDBOX_SEED/)
})

t.test('settings, Settings: SIGTERM: an open request is finished and stored, with its address', async t => {
  const data = `${t.testdir()}/data`
  const server = await start(t, { SANDBOX_DATA: data })
  const { access_token: token } = (await issueToken(server, 'acme')).body
  const body = JSON.stringify(LINK)
  const socket = dial(Number(new URL(server.url).port), '127.0.0.1')
  socket.write(
    `POST /api/v1/payout-links HTTP/1.1\r\nhost:\r\nx-region: EU\r\nauthorization: Bearer ${token}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\nexpect: 100-continue\r\n\r\n`,
  )
  await new Promise(resolve => socket.once('data', resolve))
  let answer = ''
  socket.on('data', data => {
    answer += data
  })
  const closing = server.close()
  socket.write(body)
  await closed(socket)
  await closing
  t.match(answer, /^HTTP\/1\.1 201 /)
  t.ok(answer.includes(`"url":"${server.url}/`), answer)
  const next = await start(t, { SANDBOX_DATA: data })
  t.match(JSON.parse(await stateOf(next)), { payoutLinks: [{ record: { amount: '25' } }] })
})

t.test('persistence, SANDBOX_DATA: a database that cannot be used is a ConfigError in one line', async t => {
  const folder = t.testdir({ file: 'text', foreign: { 'sandbox.db': 'text '.repeat(1000) } })
  const server = await start(t, { SANDBOX_DATA: `${folder}/damaged` })
  await issueToken(server, 'acme')
  await server.close()
  const path = `${folder}/damaged/sandbox.db`
  writeFileSync(path, readFileSync(path).subarray(0, 5000))
  for (const name of ['file', 'foreign', 'damaged']) {
    const error = await startError(t, { SANDBOX_DATA: `${folder}/${name}` })
    t.ok(error instanceof ConfigError, name)
    t.match(error.message, new RegExp(`^SANDBOX_DATA=.*${name}.*sandbox\\.db`))
    t.notMatch(error.message, '\n')
  }
})

t.test('persistence, SANDBOX_DATA: a start that fails closes the database', async t => {
  const busy = new URL((await start(t)).url).port
  const folder = t.testdir({ 'wrong.json': '{"bills":[{}]}' })
  for (const settings of [{ PORT: busy }, { PORT: '0', SANDBOX_FIXTURES: folder }]) {
    let closings = 0
    const openDatabase = async () => {
      const database = (await openSqlite(`${folder}/data`, { seed: 'test', isSeedGiven: true })) as Database
      return Object.assign(Object.create(database), {
        close() {
          closings++
          return database.close()
        },
      })
    }
    const booting = async () => {
      const server = await boot(readConfig(settings), { client: DEMO_CLIENT, graceMs: 0, openDatabase })
      t.teardown(() => server.app.close())
      await server.listen()
    }
    await t.rejects(booting())
    t.equal(closings, 1, settings.PORT)
  }
})

t.test('decisions §3: the password of a database is not logged', async t => {
  const config = readConfig({
    PORT: '0',
    SANDBOX_SEED: 'test',
    SANDBOX_DATABASE_URL: 'postgres://user:hush@127.0.0.1:1/payments',
  })
  const { logger, lines } = createTestLogger('info')
  const server = await boot(config, { client: DEMO_CLIENT, graceMs: 0, logger })
  t.teardown(() => server.close())
  await server.listen()
  t.equal(lines[0]?.storage, 'Postgres: 127.0.0.1:1/payments')
  t.notMatch(JSON.stringify(lines), /hush/)
})

// ------------------------------------------------------------------------------------------------------------ refusals

const fixture = (records: object) => ({ 'story.json': JSON.stringify(records, null, 2) })

t.test('settings, SANDBOX_FIXTURES: a wrong folder: one line that names variable, value and what is wrong', async t => {
  const folder = t.testdir({
    broken: { 'story.json': '{\n  "bills": [\n    {]\n' },
    multiline: { 'story.json': '{\n"a"\n:\n?\n}' },
    list: { 'story.json': '[]' },
    schema: fixture({ bills: [bill(), bill({ uniqueReferenceIdentifier: 'INV-2', dueDate: '2026-02-30' })] }),
    template: fixture({ mandates: [mandate({ createdAt: '{{yesterday}}' })] }),
    amount: fixture({ bills: [bill(), bill({ uniqueReferenceIdentifier: 'INV-2', openAmount: '9999' })] }),
    mandate: fixture({ mandates: [mandate()], collections: [collection({ mandateReference: 'MND-0002' })] }),
    duplicate: fixture({ mandates: [mandate(), mandate()] }),
    kind: fixture({ bils: [bill()] }),
    sender: fixture({ senderName: 'x'.repeat(141) }),
  })
  for (const [name, reason] of [
    ['missing', /missing/],
    ['broken', /story\.json/],
    ['multiline', /story\.json/],
    ['list', /story\.json/],
    ['schema', /story\.json.*bills\.1\.dueDate.*2026-02-30/],
    ['template', /story\.json.*\{\{yesterday\}\}/],
    ['amount', /story\.json.*bills\.1\.openAmount/],
    ['mandate', /story\.json.*collections\.0\.mandateReference/],
    ['kind', /story\.json.*"bils".*Known: .*bills/],
    ['sender', /story\.json: senderName: .*140/],
    ['duplicate', /story\.json.*mandates\.1\.mandateReference/],
  ] as const) {
    const path = `${folder}/${name}`
    const error = await startError(t, { SANDBOX_FIXTURES: path })
    t.ok(error instanceof ConfigError, `${name}: exit code 2`)
    t.ok(error.message.startsWith(`SANDBOX_FIXTURES=${JSON.stringify(path)}`), error.message)
    t.notMatch(error.message, '\n', `${name}: one line`)
    t.match(error.message, reason, name)
  }
})

t.test('control plane, SANDBOX_CLIENTS: a client with a fixture that is not there', async t => {
  const folder = t.testdir({
    'clients.json': JSON.stringify([
      { clientId: 'fine', clientSecret: 'hush-hush' },
      { clientId: 'acme', clientSecret: 'hush-hush', fixture: 'saga' },
    ]),
  })
  const error = await startError(t, { SANDBOX_CLIENTS: `${folder}/clients.json` })
  t.ok(error instanceof ConfigError)
  t.match(error.message, /SANDBOX_CLIENTS.*"acme".*"saga".*demo.*empty/)
  t.notMatch(error.message, '\n')
  t.notMatch(error.message, 'hush-hush')
})

t.test('settings, SANDBOX_DATA: a folder of another owner: one line with the command that helps', async t => {
  // The user of the tests may be root, to whom no folder is closed.
  const { mkdirSync } = fs
  t.teardown(() => {
    fs.mkdirSync = mkdirSync
  })
  for (const [code, hasAdvice] of [
    ['EACCES', true],
    ['EPERM', true],
    ['ENOSPC', false],
  ] as const) {
    fs.mkdirSync = () => {
      throw Object.assign(new Error(`${code}: refused, mkdir '/data'`), { code })
    }
    const error = await startError(t, { SANDBOX_DATA: '/data' })
    fs.mkdirSync = mkdirSync
    t.ok(error instanceof ConfigError)
    t.match(error.message, new RegExp(`^SANDBOX_DATA="/data": .*${code}`))
    t.notMatch(error.message, '\n')
    const ids = `${process.getuid?.()}:${process.getgid?.()}`
    t.equal(error.message.endsWith(`as user ${ids}. Run as root: chown -R ${ids} /data`), hasAdvice, error.message)
  }
})

t.test('settings, PORT: a port that is taken is no wrong setting', async t => {
  const other = createProxy().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  const { port } = other.address() as AddressInfo
  // The origin of a link of a fixture is no wrong setting either: it is on the list of each client of the fixture.
  const payoutLinks = [payoutLink({ uiMode: 'embedded', origin: 'https://shop.example' })]
  const folder = t.testdir(fixture({ bills: [bill()], payoutLinks }))
  const error = await startError(t, { PORT: String(port), SANDBOX_FIXTURES: folder })
  t.notOk(error instanceof ConfigError)
  t.match(error, { code: 'EADDRINUSE', message: new RegExp(String(port)) })
})

t.test('settings, HOST: an address that this machine does not have', async t => {
  const error = (await startError(t, { PORT: '0', HOST: '203.0.113.1' })) as Error
  t.ok(error instanceof ConfigError)
  t.match(error.message, /^HOST="203\.0\.113\.1" is no address of this machine/)
})

t.test('persistence, SANDBOX_DATA: a folder that cannot be used; one that could be is free again', async t => {
  const folder = t.testdir({ file: 'text' })
  const error = await startError(t, { SANDBOX_DATA: `${folder}/file` })
  t.ok(error instanceof ConfigError)
  t.match(error.message, /^SANDBOX_DATA=.*file/)
  t.notMatch(error.message, '\n')

  const other = createProxy().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  const { port } = other.address() as AddressInfo
  for (let count = 0; count < 2; count++) {
    t.match(await startError(t, { PORT: String(port), SANDBOX_DATA: `${folder}/new` }), { code: 'EADDRINUSE' })
  }
  t.same(readdirSync(`${folder}/new`), ['sandbox.db'])
})
