import { once } from 'node:events'
import { closeSync, existsSync, openSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { AddressInfo, Socket } from 'node:net'
import { createServer, connect as dial } from 'node:net'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { isReady } from '../src/health.js'
import { command } from './command.js'
import { freePort } from './free-port.js'
import { closed } from './http/raw.js'
import type { Program, Running } from './program.js'
import { buildProgram, launch, requestTokenAt, sourcesFor } from './program.js'

// Every server here is a process of its own.
const shipped = buildProgram(t.testdir())
const sources = sourcesFor(shipped)

type Settings = Record<string, string>
type Exit = [code: number | null, signal: string | null]

/** Runs a command that ends by itself. */
async function run(args: readonly string[], settings: Settings = {}) {
  const child = launch(shipped, args, settings)
  let [stdout, stderr] = ['', '']
  child.stdout.on('data', data => {
    stdout += data
  })
  child.stderr.on('data', data => {
    stderr += data
  })
  const [code] = (await once(child, 'close')) as Exit
  return { code, stdout, stderr }
}

interface Line {
  msg: string
  level: number
  [member: string]: unknown
}

class Server {
  readonly lines: Line[] = []
  readonly exited: Promise<Exit>
  output = ''
  url = ''
  readonly #waiting = new Set<() => void>()

  constructor(readonly child: Running) {
    createInterface(child.stdout).on('line', text => {
      this.output += `${text}\n`
      // What a command says for itself is no line of the log.
      if (text.startsWith('{')) this.lines.push(JSON.parse(text))
      for (const look of this.#waiting) look()
    })
    child.stderr.on('data', data => {
      this.output += data
    })
    this.exited = once(child, 'close') as Promise<Exit>
  }

  /** The first line with a message, as soon as it is there. */
  line(msg: string): Promise<Line> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = this.lines.find(line => line.msg.includes(msg))
        if (found === undefined) return
        this.#waiting.delete(look)
        resolve(found)
      }
      this.#waiting.add(look)
      look()
      this.exited.then(() => reject(new Error(`ended without "${msg}": ${this.output}`)))
    })
  }

  get port() {
    return Number(new URL(this.url).port)
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Exit> {
    this.child.kill(signal)
    return this.exited
  }
}

interface StartOptions {
  args?: readonly string[]
  nodeOptions?: readonly string[]
  program?: Program
}

const hasEnded = ({ exitCode, signalCode }: Running) => exitCode !== null || signalCode !== null

/** Starts a server on a free port and waits until it says that it is ready. */
async function start(
  t: Test,
  settings: Settings = {},
  { args = [], nodeOptions = [], program = shipped }: StartOptions = {},
) {
  const server = new Server(launch(program, args, { PORT: '0', ...settings }, { nodeOptions }))
  t.teardown(async () => {
    if (!hasEnded(server.child)) await server.stop('SIGTERM')
  })
  server.url = (await server.line('ready')).url as string
  return server
}

async function issueToken(server: Server, clientId: string, clientSecret = 'secret') {
  const response = await requestTokenAt(server.url, clientId, clientSecret)
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  return { status: response.status, body: (await response.json()) as any }
}

async function send(server: Server, method: string, path: string, token = '', body?: object) {
  const response = await fetch(server.url + path, {
    method,
    headers: {
      ...(token !== '' && { authorization: `Bearer ${token}`, 'x-region': 'EU' }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  return { status: response.status, body: (await response.json()) as any }
}

const oneLine = /^payments-sandbox: [^\n]+\n$/

// --------------------------------------------------------------------------------------------------------- commands

t.test('control plane, Settings: --help and --version', async t => {
  const [help, h, version, v] = await Promise.all([['--help'], ['-h'], ['--version'], ['-v']].map(args => run(args)))
  for (const word of ['start', 'health', 'PORT', 'SANDBOX_SEED']) t.match(help?.stdout, word)
  t.match(version?.stdout, /^\d+\.\d+\.\d+\n$/)
  t.match(
    [help, version],
    [
      { code: 0, stderr: '' },
      { code: 0, stderr: '' },
    ],
  )
  t.same([h, v], [help, version])
  t.same([await command(['--help']), await command(['--version'])], [help, version], 'the same from its sources')
})

t.test('control plane, Settings: wrong usage ends with one line and exit code 2', async t => {
  const cases: [args: string[], named: string][] = [
    [['stop'], 'stop'],
    [['toString'], 'toString'],
    [['start', 'now'], 'start now'],
    [['--port=1'], '--port'],
    [['replay'], 'one file'],
    [['start', '--until', '2'], '--until'],
  ]
  const results = await Promise.all(cases.map(([args]) => run(args)))
  for (const [at, { code, stdout, stderr }] of results.entries()) {
    const named = cases[at]?.[1] as string
    t.same([code, stdout], [2, ''], named)
    t.match(stderr, oneLine)
    t.match(stderr, named)
    t.same(await command(cases[at]?.[0] ?? []), { code, stdout, stderr }, 'the same from its sources')
  }
})

t.test('control plane, Settings: a wrong value ends the start with one line and exit code 2', async t => {
  const { code, stdout, stderr } = await run([], { PORT: '80x' })
  t.same([code, stdout], [2, ''])
  t.match(stderr, oneLine)
  t.match(stderr, /PORT=.*80x.*0 to 65535/)
  t.equal((await run(['health'], { PORT: '80x' })).code, 1, '`health` knows 0 and 1 alone')
})

t.test('control plane, SANDBOX_FIXTURES: a wrong folder ends the start with one line and exit code 2', async t => {
  const folder = t.testdir({ 'story.json': '{\n"bills": [\n?\n' })
  const { code, stdout, stderr } = await run([], { PORT: '0', SANDBOX_FIXTURES: folder })
  t.same([code, stdout], [2, ''])
  t.match(stderr, oneLine)
  t.match(stderr, /SANDBOX_FIXTURES=.*story\.json/)
})

t.test('control plane, PORT: a port that is taken ends the start with one line and exit code 1', async t => {
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  const { port } = other.address() as AddressInfo
  const { code, stdout, stderr } = await run(['start'], { PORT: String(port) })
  t.same([code, stdout], [1, ''])
  t.match(stderr, oneLine)
  t.match(stderr, String(port))
  t.match(stderr, 'set PORT')
  t.same(await command([], { PORT: String(port) }), { code, stdout, stderr }, 'the same from its sources')
})

// ------------------------------------------------------------------------------------------------ start, health, stop

t.test('control plane, PORT 0: picks a free port and prints it; `health` probes it; SIGTERM ends it', async t => {
  const server = await start(t, { SANDBOX_SEED: 'my seed' })
  const ready = await server.line('ready')
  t.match(ready, { url: /^http:\/\/127\.0\.0\.1:[1-9]\d*$/, clientId: 'sandbox-client', seed: 'my seed', level: 30 })
  const { status, body } = await send(server, 'GET', '/_sandbox')
  t.equal(status, 200)
  t.match(body, { seed: 'my seed', tenants: 1 })

  const settings = { PORT: String(server.port) }
  for (const probe of [run, command]) t.same(await probe(['health'], settings), { code: 0, stdout: '', stderr: '' })
  t.same(await server.stop('SIGTERM'), [0, null])
  for (const probe of [run, command]) t.same(await probe(['health'], settings), { code: 1, stdout: '', stderr: '' })
})

/** Sends a token request but for its body; the server has taken it when it answers 100. */
async function beginRequest(server: Server, body: string): Promise<Socket> {
  const socket = dial(server.port, '127.0.0.1')
  socket.write(
    [
      'POST /api/v1/oauth/token HTTP/1.1',
      'host: localhost',
      'content-type: application/x-www-form-urlencoded',
      `content-length: ${body.length}`,
      'expect: 100-continue',
      '',
      '',
    ].join('\r\n'),
  )
  const [data] = await once(socket, 'data')
  if (!String(data).startsWith('HTTP/1.1 100 ')) throw new Error(String(data))
  return socket
}

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  t.test(`control plane, Settings: ${signal} finishes what is in flight and exits 0`, async t => {
    const server = await start(t, {}, { args: ['start'] })
    const body = 'client_id=acme&client_secret=secret&grant_type=client_credentials'
    const socket = await beginRequest(server, body)
    server.child.kill(signal)
    await server.line('closing')
    let answer = ''
    socket.on('data', data => {
      answer += data
    })
    socket.write(body)
    await closed(socket)
    t.match(answer, /^HTTP\/1\.1 200 [\s\S]*"access_token"/)
    t.same(await server.exited, [0, null])
  })
}

t.test('control plane, Settings: a request that never ends does not keep the process: exit 0 within 5 s', async t => {
  const server = await start(t, {}, { program: sources })
  const socket = dial(server.port, '127.0.0.1')
  socket.on('error', () => {})
  // One whole request and half of another, so that the answer tells that the half has arrived.
  socket.write('GET /_sandbox/health/live HTTP/1.1\r\nhost: x\r\n\r\nGET /_sandbox/clock HTTP/1.1\r\nhost: x\r\n')
  await once(socket, 'data')
  const begin = process.hrtime.bigint()
  const exit = await server.stop('SIGTERM')
  const seconds = Number(process.hrtime.bigint() - begin) / 1e9
  t.same(exit, [0, null])
  t.ok(seconds < 5, `${seconds} s`)
})

t.test('control plane, Settings: an unforeseen failure is logged, and ends the process with a failure', async t => {
  const crash = "process.on('SIGUSR2', () => { throw new Error('boom') })"
  const nodeOptions = [`--import=data:text/javascript,${encodeURIComponent(crash)}`]
  const server = await start(t, {}, { nodeOptions, program: sources })
  const [code] = await server.stop('SIGUSR2')
  t.not(code, 0)
  t.match(await server.lines.find(({ level }) => level === 60), { err: { message: 'boom' } })
})

// ------------------------------------------------------------------------------------------------------------- logs

t.test('decisions §3: secrets and tokens are never logged, at any level', async t => {
  const folder = t.testdir({ 'clients.json': '[{"clientId": "listed", "clientSecret": "hush-listed"}]' })
  const server = await start(t, { LOG_LEVEL: 'trace', SANDBOX_CLIENTS: `${folder}/clients.json` })
  const tokens: string[] = []
  for (const [id, secret] of [
    ['listed', 'hush-listed'],
    ['acme', 'hush-acme'],
    ['sandbox-client', 'sandbox-secret'],
  ]) {
    const { access_token } = (await issueToken(server, id as string, secret)).body
    tokens.push(access_token)
    t.equal((await send(server, 'GET', '/api/v1/mandates?client_secret=hush-query', access_token)).status, 200)
  }
  await issueToken(server, 'acme', 'hush-wrong')
  await server.stop()
  t.match(server.output, '/api/v1/oauth/token', 'requests are logged at this level')
  for (const secret of ['hush-listed', 'hush-acme', 'sandbox-secret', 'hush-wrong', 'hush-query', ...tokens])
    t.notMatch(server.output, secret)
})

t.test('control plane, LOG_LEVEL: info by default, without a line for each request', async t => {
  const server = await start(t)
  await send(server, 'GET', '/_sandbox/clock')
  await server.stop()
  t.same([...new Set(server.lines.map(({ level }) => level))], [30])
  t.notMatch(server.output, '/_sandbox/clock')
})

t.test('control plane, LOG_LEVEL: above info, a start says nothing', async t => {
  const port = await freePort()
  const server = new Server(launch(shipped, [], { PORT: String(port), LOG_LEVEL: 'warn' }))
  while (!(await isReady('127.0.0.1', port))) if (hasEnded(server.child)) throw new Error(server.output)
  t.same(await server.stop(), [0, null])
  t.equal(server.output, '')
})

t.test('control plane, LOG_LEVEL: pretty on a terminal', async t => {
  const terminal = 'process.stdout.isTTY = true; process.stdout.columns = 80'
  const nodeOptions = [`--import=data:text/javascript,${encodeURIComponent(terminal)}`]
  const child = launch(sources, [], { PORT: '0', SANDBOX_SEED: 'my seed' }, { nodeOptions })
  let output = ''
  for await (const text of createInterface(child.stdout)) {
    output += `${text}\n`
    if (text.includes('seed')) child.kill('SIGTERM')
  }
  t.match(output, /\[\d\d:\d\d:\d\d\].*INFO.*payments-sandbox is ready/)
  t.match(output, /url.*http:\/\/127\.0\.0\.1:\d+/)
  t.match(output, /seed.*my seed/)
})

// --------------------------------------------------------------------------------------------------------- settings

t.test('control plane, HOST: what listens everywhere is printed as an address that a browser takes', async t => {
  const server = await start(t, { HOST: '0.0.0.0' }, { program: sources })
  t.match(server.url, /^http:\/\/localhost:\d+$/)
  t.same(await run(['health'], { HOST: '0.0.0.0', PORT: String(server.port) }), { code: 0, stdout: '', stderr: '' })
})

t.test('control plane, HOST: an IPv6 address is printed in brackets', async t => {
  const server = new Server(launch(sources, [], { PORT: '0', HOST: '::1' }))
  const first = await Promise.race([server.line('ready').catch(() => undefined), server.exited.then(() => undefined)])
  if (first === undefined) {
    t.match(server.output, /EADDRNOTAVAIL|EAFNOSUPPORT/, 'no IPv6 here')
    return
  }
  t.match(first.url, /^http:\/\/\[::1\]:\d+$/)
  t.same(await server.stop(), [0, null])
})

t.test(
  'control plane, SANDBOX_SEED and SANDBOX_CLOCK: the same seed, clock and requests give the same answers',
  async t => {
    const story = async () => {
      const server = await start(t, { SANDBOX_SEED: 'same', SANDBOX_CLOCK: '2026-11-02T09:00:00Z' })
      const token = (await issueToken(server, 'acme')).body
      const link = { amount: '25', currency: 'EUR', payoutMethod: 'SEPA-CT' }
      const created = (await send(server, 'POST', '/api/v1/payout-links', token.access_token, link)).body
      const clock = (await send(server, 'GET', '/_sandbox/clock?client=acme')).body
      await server.stop()
      return { token, created: { ...created, url: created.url.replace(server.url, '') }, clock }
    }
    const first = await story()
    t.same(first.clock, { now: '2026-11-02T09:00:00Z', mode: 'frozen', rate: 1 })
    t.match(first.created, { createdAt: '2026-11-02T09:00:00Z', payoutLinkId: String })
    t.same(await story(), first)
  },
)

t.test(
  'control plane, SANDBOX_PUBLIC_URL: the address of payout links is where the server listens, or as set',
  async t => {
    const link = { amount: '25', currency: 'EUR', payoutMethod: 'SEPA-CT' }
    const urlOf = async (settings: Settings) => {
      const server = await start(t, settings)
      const { access_token } = (await issueToken(server, 'acme')).body
      const { url } = (await send(server, 'POST', '/api/v1/payout-links', access_token, link)).body
      await server.stop()
      return { url: url as string, server }
    }
    const byDefault = await urlOf({})
    t.ok(byDefault.url.startsWith(`${byDefault.server.url}/`), byDefault.url)
    const { url } = await urlOf({ SANDBOX_PUBLIC_URL: 'https://pay.example/sandbox/' })
    t.match(url, /^https:\/\/pay\.example\/sandbox\/[^/].*$/)
  },
)

t.test('decisions §3: SANDBOX_CLIENTS, registration, lifetime of tokens, and fixtures of my own', async t => {
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
  const embedded = {
    amount: '25',
    currency: 'EUR',
    payoutMethod: 'SEPA-CT',
    uiMode: 'embedded',
    origin: 'https://a.example',
  }
  t.equal((await send(server, 'POST', '/api/v1/payout-links', body.access_token, embedded)).status, 201)
  t.match(await issueToken(server, 'listed', 'wrong'), { status: 401, body: { code: 'INVALID_CLIENT' } })
  t.match(await issueToken(server, 'nobody'), { status: 401, body: { code: 'INVALID_CLIENT' } })
  t.equal((await issueToken(server, 'sandbox-client', 'sandbox-secret')).status, 200, 'which always exists')
})

t.test('decisions §3, SANDBOX_MAX_TENANTS: whoever is dropped to make room, the log says so', async t => {
  const server = await start(t, { SANDBOX_MAX_TENANTS: '2' }, { program: sources })
  t.equal((await issueToken(server, 'first')).status, 200)
  t.equal((await issueToken(server, 'second')).status, 200)
  t.match(await server.line('dropped'), { level: 40, clientId: 'first' })
})

t.test(
  'control plane, SIGTERM: a log that cannot be written, as on a full disk, holds nothing up',
  { skip: !existsSync('/dev/full') && 'needs /dev/full' },
  async t => {
    const port = await freePort()
    const full = openSync('/dev/full', 'w')
    const child = launch(sources, [], { PORT: String(port), LOG_LEVEL: 'debug' }, { output: full })
    closeSync(full)
    t.teardown(() => child.kill('SIGKILL'))
    const exited = once(child, 'close') as Promise<Exit>
    while (!hasEnded(child) && !(await isReady('127.0.0.1', port)));
    t.ok(await isReady('127.0.0.1', port), 'it answers, though each request is a line that fails')
    child.kill('SIGTERM')
    t.same(await exited, [0, null])
  },
)

t.test('control plane, SIGTERM: a second signal does not cut off what is in flight', async t => {
  // With no listener left a signal would kill, be it for microseconds only: that is told, and not left to chance.
  const watch = `process.on('removeListener', name => {
    if (/^SIG(TERM|INT)$/.test(name) && process.listenerCount(name) === 0) console.error(name, 'would kill')
  })`
  const nodeOptions = [`--import=data:text/javascript,${encodeURIComponent(watch)}`]
  const server = await start(t, {}, { nodeOptions, program: sources })
  const { port } = new URL(server.url)
  const body = 'grant_type=client_credentials&client_id=a&client_secret=b'
  const socket = dial(Number(port), '127.0.0.1')
  await once(socket, 'connect')
  socket.write(
    `POST /api/v1/oauth/token HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: ${body.length}\r\n` +
      `content-type: application/x-www-form-urlencoded\r\n\r\n${body.slice(0, 5)}`,
  )
  // Answered on another connection, the first half has been read.
  while (!(await isReady('127.0.0.1', Number(port))));
  server.child.kill('SIGTERM')
  await server.line('closing')
  server.child.kill('SIGINT')
  server.child.kill('SIGTERM')
  const answered = once(socket, 'data')
  socket.write(body.slice(5))
  t.match(String((await answered)[0]), /^HTTP\/1\.1 200 OK/)
  t.same(await server.exited, [0, null])
  t.notMatch(server.output, 'would kill')
})

// ------------------------------------------------------------------------------------------------------------ replay

t.test('issue 3, replay: a run is taken home, gone through, and stepped into', async t => {
  const server = await start(t, { SANDBOX_SEED: 'ci', SANDBOX_CLOCK: '2026-11-02T09:00:00Z' })
  const { access_token: token } = (await issueToken(server, 'acme')).body
  const post = (path: string, body: object) => send(server, 'POST', path, token, body)
  const mandate = {
    mandateReference: 'MND-0001',
    type: 'RECURRING',
    creditor: { name: 'Acme GmbH', bankIdentifier: { type: 'CREDITOR_IDENTIFIER', value: 'DE98ZZZ09999999999' } },
    debtor: { name: 'Jane Doe', iban: 'DE89370400440532013000' },
  }
  const link = { amount: '25', currency: 'EUR', payoutMethod: 'SEPA-CT' }
  const fault = { match: { method: 'DELETE' }, times: null, ttl: 'PT3S', effect: { kind: 'error', status: 418 } }
  await post('/api/v1/mandates', mandate)
  await post('/_sandbox/clock/advance?client=acme', { by: 'PT30M' })
  const created = await post('/api/v1/payout-links', link)
  await post('/_sandbox/faults?client=acme', fault)
  const refused = await send(server, 'DELETE', '/api/v1/mandates/MND-0001', token)
  t.equal(refused.status, 418)
  const recording = (await send(server, 'GET', '/_sandbox/recording?client=acme')).body
  // Until the fault's time is over.
  while ((await send(server, 'GET', '/_sandbox/faults?client=acme')).body.data[0].state !== 'expired');
  await server.stop()
  t.equal(recording.requests.length, 6)

  const tampered = structuredClone(recording)
  tampered.requests[1].answer.status = 200
  const folder = t.testdir({
    'run.json': JSON.stringify(recording),
    'tampered.json': JSON.stringify(tampered),
    'other.json': '{}',
    'rolled.json': JSON.stringify({ ...recording, dropped: 12 }),
  })
  const replay = (name: string, ...args: string[]) => run(['replay', `${folder}/${name}`, ...args])
  const [same, rolled, differs, wrong, outside] = await Promise.all([
    replay('run.json'),
    replay('rolled.json'),
    replay('tampered.json'),
    replay('other.json'),
    replay('run.json', '--until', '8'),
  ])
  t.same(same, { code: 0, stdout: 'acme: 6 requests, every answer is the same\n', stderr: '' })
  t.match(rolled, { code: 0, stdout: /same; 12 before them are not in the recording\n$/ })
  t.same(await command(['replay', `${folder}/rolled.json`]), rolled, 'the same from its sources')
  t.match(differs, {
    code: 1,
    stdout: /^request 2 of 6 .*POST \/api\/v1\/mandates.*\n {2}recorded 200 .*\n {2}replayed 201 .*\n$/,
  })
  for (const { code, stdout, stderr } of [wrong, outside]) {
    t.same([code, stdout], [2, ''])
    t.match(stderr, oneLine)
  }

  // The fault's time is over by now; where the recording stands it is not.
  const cases: [
    until: number,
    said: RegExp,
    now: string,
    next: (on: Server, token: string) => Promise<unknown>,
    expected: unknown,
  ][] = [
    [
      1,
      /request 1 of 6: POST \/api\/v1\/oauth\/token/,
      '2026-11-02T09:00:00Z',
      on => send(on, 'GET', '/_sandbox/mandates/MND-0001?client=acme'),
      { status: 404 },
    ],
    [
      4,
      /request 4 of 6: POST \/api\/v1\/payout-links/,
      '2026-11-02T09:30:00Z',
      (on, own) => send(on, 'POST', '/api/v1/payout-links', own, link),
      created,
    ],
    [
      6,
      /request 6 of 6: DELETE/,
      '2026-11-02T09:30:00Z',
      (on, own) => send(on, 'DELETE', '/api/v1/mandates/MND-0001', own),
      refused,
    ],
    [
      7,
      /request 7 of 6\n/,
      '2026-11-02T09:30:00Z',
      on => send(on, 'GET', '/_sandbox/faults?client=acme'),
      { body: { data: [{ fired: 1 }] } },
    ],
  ]
  await Promise.all(
    cases.map(async ([until, said, now, next, expected]) => {
      const stopped = await start(
        t,
        { SANDBOX_DATA: `${folder}/data`, SANDBOX_MAX_TENANTS: '1', SANDBOX_OPEN_REGISTRATION: 'false' },
        {
          args: ['replay', `${folder}/run.json`, '--until', `${until}`],
          program: until >= recording.requests.length ? sources : shipped,
        },
      )
      t.match(stopped.output, said)
      t.same((await send(stopped, 'GET', '/_sandbox/clock?client=acme')).body, { now, mode: 'frozen', rate: 1 })
      const own = (await issueToken(stopped, 'acme', 'my own')).body.access_token
      t.match(await issueToken(stopped, 'acme', 'another'), { status: 401, body: { code: 'INVALID_CLIENT' } })
      t.match(await next(stopped, own), expected as object)
      t.same(await stopped.stop('SIGTERM'), [0, null])
    }),
  )
  t.notOk(existsSync(`${folder}/data`))
})

// -------------------------------------------------------------------------------------------------------------- data

t.test('issue 3, SANDBOX_DATA: tenants outlast SIGTERM and SIGKILL, and links are where the server is', async t => {
  const data = `${t.testdir()}/data`
  const settings = { SANDBOX_DATA: data, SANDBOX_CLOCK: '2026-11-02T09:00:00Z' }
  const link = { amount: '25', currency: 'EUR', payoutMethod: 'SEPA-CT' }
  const first = await start(t, { ...settings, SANDBOX_SEED: 'kept' })
  const { access_token: token } = (await issueToken(first, 'acme')).body
  const before = (await send(first, 'POST', '/api/v1/payout-links', token, link)).body
  const state = async (server: Server) => (await fetch(`${server.url}/_sandbox/state?client=acme`)).text()
  const kept = await state(first)
  t.same(await first.stop('SIGTERM'), [0, null])
  t.same(readdirSync(data).sort(), ['sandbox.json', 'tenants'], 'and the folder is free')

  const second = await start(t, settings)
  t.match(await second.line('restored'), { tenants: 1 })
  t.match(await second.line('ready'), { seed: 'kept' })
  t.equal(await state(second), kept)
  const after = (await send(second, 'POST', '/api/v1/payout-links', token, link)).body
  t.ok(before.url.startsWith(`${first.url}/`) && after.url.startsWith(`${second.url}/`), `${before.url}, ${after.url}`)
  const grown = await state(second)

  const taken = await run([], { PORT: '0', ...settings })
  t.same([taken.code, taken.stdout], [2, ''], 'a folder that is in use')
  t.match(taken.stderr, new RegExp(`^payments-sandbox: SANDBOX_DATA=.*in use by process ${second.child.pid}`))
  t.match(taken.stderr, oneLine)
  t.same(await second.stop('SIGKILL'), [null, 'SIGKILL'])

  const otherSeed = await run([], { PORT: '0', ...settings, SANDBOX_SEED: 'another' })
  t.same([otherSeed.code, otherSeed.stdout], [2, ''])
  t.match(otherSeed.stderr, /SANDBOX_DATA=.*SANDBOX_SEED/)
  t.match(otherSeed.stderr, oneLine)

  const third = await start(t, settings)
  t.equal(await state(third), grown)
  t.equal((await send(third, 'GET', '/api/v1/bills', token)).status, 200)
})

t.test('control plane, SIGTERM: a payout link in flight is created and kept, with its address', async t => {
  const data = `${t.testdir()}/data`
  const server = await start(t, { SANDBOX_DATA: data })
  const { access_token: token } = (await issueToken(server, 'acme')).body
  const body = '{"amount":"25","currency":"EUR","payoutMethod":"SEPA-CT"}'
  const socket = dial(server.port, '127.0.0.1')
  socket.write(
    `POST /api/v1/payout-links HTTP/1.1\r\nhost: x\r\nx-region: EU\r\nauthorization: Bearer ${token}\r\n` +
      `content-type: application/json\r\ncontent-length: ${body.length}\r\nexpect: 100-continue\r\n\r\n`,
  )
  await once(socket, 'data')
  let answer = ''
  socket.on('data', data => {
    answer += data
  })
  server.child.kill('SIGTERM')
  await server.line('closing')
  socket.write(body)
  await closed(socket)
  t.match(answer, /^HTTP\/1\.1 201 /)
  t.ok(answer.includes(`"url":"${server.url}/`), answer)
  t.same(await server.exited, [0, null])
  const next = await start(t, { SANDBOX_DATA: data })
  t.match((await send(next, 'GET', '/_sandbox/state?client=acme')).body, {
    payoutLinks: [{ record: { amount: '25' } }],
  })
})

t.test('issue 3, SANDBOX_DATA: a folder that cannot be used ends the start with one line, exit code 2', async t => {
  const folder = t.testdir({ file: 'text', foreign: { 'sandbox.json': '{}' } })
  const corrupt = await start(t, { SANDBOX_DATA: `${folder}/corrupt` })
  await issueToken(corrupt, 'acme')
  await issueToken(corrupt, 'beta')
  await corrupt.stop('SIGKILL')
  const other = createServer().listen(0, '127.0.0.1')
  await once(other, 'listening')
  t.teardown(() => other.close())
  const { port } = other.address() as AddressInfo

  const results = await Promise.all([
    run([], { PORT: '0', SANDBOX_DATA: `${folder}/file` }),
    run([], { PORT: '0', SANDBOX_DATA: `${folder}/foreign` }),
    run([], { PORT: '0', SANDBOX_DATA: `${folder}/corrupt`, SANDBOX_MAX_TENANTS: '1' }),
    run([], { PORT: String(port), SANDBOX_DATA: `${folder}/new`, LOG_LEVEL: 'silent' }),
  ])
  for (const [at, code] of [2, 2, 2, 1].entries()) {
    const { code: actual, stderr } = results[at] as (typeof results)[number]
    t.equal(actual, code)
    t.match(stderr, oneLine)
  }
  t.match(results[0]?.stderr, /SANDBOX_DATA=.*file/)
  t.match(results[1]?.stderr, /SANDBOX_DATA=.*sandbox\.json/)
  t.match(results[2]?.stderr, /SANDBOX_DATA=.*tenant "(acme|beta)".*room for 1/)
  t.notOk(existsSync(`${folder}/new/lock`), 'and it is free again')
  t.notOk(existsSync(`${folder}/corrupt/lock`))

  // Of a corrupt tenant the log tells; the others are served.
  const tenants = `${folder}/corrupt/tenants`
  for (const name of readdirSync(tenants)) {
    const path = `${tenants}/${name}/1.snapshot`
    const text = readFileSync(path, 'utf8')
    if (text.includes('"acme"')) writeFileSync(path, text.replace('automatic', 'manual'))
  }
  const server = await start(t, { SANDBOX_DATA: `${folder}/corrupt` }, { program: sources })
  t.match(await server.line('set aside'), { level: 50, msg: /snapshot.*corrupt-1/ })
  const { data } = (await send(server, 'GET', '/_sandbox/clients')).body
  t.same(data.map(({ clientId }: { clientId: string }) => clientId).sort(), ['beta', 'sandbox-client'])
})
