import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import type { Socket } from 'node:net'
import { connect as dial } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import t, { type Test } from 'tap'
import { readConfig } from '../../src/config.js'
import { createServer } from '../../src/start.js'
import { closed } from '../http/raw.js'
import type { Program, Running } from '../program.js'
import { coveredProgram, launch, PLAIN, uncheckedProgram } from '../program.js'
import { silentLogger } from './log.js'

// Tests of the program in a process of its own: exit codes, signals and output.
// commands.test.ts tests the commands and start.test.ts the settings, both in this process.

type Settings = Record<string, string>
type Exit = [code: number | null, signal: string | null]

/** Runs a command that ends by itself. */
async function run(args: readonly string[], settings: Settings = {}, started = uncheckedProgram) {
  const child = launch(started, args, settings)
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

/** A server in a process of its own. */
class Server {
  readonly lines: Line[] = []
  readonly exited: Promise<Exit>
  output = ''
  url = ''
  readonly #waiting = new Set<() => void>()

  constructor(readonly child: Running) {
    createInterface(child.stdout).on('line', text => {
      this.output += `${text}\n`
      if (text.startsWith('{')) this.lines.push(JSON.parse(text))
      for (const look of this.#waiting) look()
    })
    child.stderr.on('data', data => {
      this.output += data
    })
    this.exited = once(child, 'close') as Promise<Exit>
  }

  /** Resolves to the first log line with a message. */
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
      this.exited.then(() => reject(new Error(`no line "${msg}" before the exit: ${this.output}`)))
    })
  }

  get port() {
    return Number(new URL(this.url).port)
  }
}

const hasEnded = ({ exitCode, signalCode }: Running) => exitCode !== null || signalCode !== null

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

interface StartOptions {
  args?: readonly string[]
  /** A module that the process imports first. */
  module?: string
}

const nodeOptionsOf = (module: string) => [`--import=data:text/javascript,${encodeURIComponent(module)}`]

/** Starts a server on a free port and waits until it is ready. */
async function start(t: Test, settings: Settings = {}, { args = [], module = '' }: StartOptions = {}) {
  const nodeOptions = nodeOptionsOf(module)
  const server = new Server(launch(coveredProgram, args, { PORT: '0', ...settings }, { nodeOptions }))
  t.teardown(async () => {
    if (!hasEnded(server.child)) server.child.kill('SIGKILL')
    await server.exited
  })
  server.url = (await server.line('ready')).url as string
  return server
}

/** A module that writes the port of a server to standard error, for a test that does not read its standard output. */
const TELLS_PORT = `
  import { Server } from 'node:net'
  const { listen } = Server.prototype
  Server.prototype.listen = function (...values) {
    this.once('listening', () => console.error(this.address().port))
    return listen.apply(this, values)
  }`

/** Starts a server that cannot write its log, or whose log is not read. Returns its URL. */
async function startUnread(t: Test, output: 'pipe' | number) {
  const settings = { PORT: '0', LOG_LEVEL: 'debug' }
  const child = launch(coveredProgram, [], settings, { output, nodeOptions: nodeOptionsOf(TELLS_PORT) })
  const closed = once(child, 'close')
  const exited = (once(child, 'exit') as Promise<Exit>).then(async exit => {
    // An output that is not read stays open.
    child.stdout?.resume()
    await closed
    return exit
  })
  t.teardown(() => child.kill('SIGKILL'))
  const lines = createInterface(child.stderr)
  const [port] = await once(lines, 'line')
  return { child, url: `http://127.0.0.1:${port}`, exited }
}

const TOKEN_REQUEST = 'client_id=acme&client_secret=secret&grant_type=client_credentials'

/** Sends the header of a token request and waits until the server has received it. */
async function beginTokenRequest(port: number): Promise<Socket> {
  const socket = dial(port, '127.0.0.1')
  socket.write(
    [
      'POST /api/v1/oauth/token HTTP/1.1',
      'host: localhost',
      'content-type: application/x-www-form-urlencoded',
      `content-length: ${TOKEN_REQUEST.length}`,
      'expect: 100-continue',
      '',
      '',
    ].join('\r\n'),
  )
  const [data] = await once(socket, 'data')
  if (!String(data).startsWith('HTTP/1.1 100 ')) throw new Error(String(data))
  return socket
}

const oneLine = /^payments-sandbox: [^\n]+\n$/

t.jobs = 3

t.test('settings, Settings: --help exits with 0, an invalid value with 2', { buffered: true }, async t => {
  const [help, invalid] = await Promise.all([run(['--help']), run([], { PORT: '80x' })])
  t.match(help, { code: 0, stdout: /^payments-sandbox .*\nUsage: /s, stderr: '' })
  t.match(invalid, { code: 2, stdout: '', stderr: oneLine })
})

t.test('settings, Settings: `health`; SIGTERM finishes open requests, exit code 0', { buffered: true }, async t => {
  // A signal without listeners ends the process. This module reports the moment without listeners.
  const module = `process.on('removeListener', name => {
    if (/^SIG(TERM|INT)$/.test(name) && process.listenerCount(name) === 0) console.error(name, 'has no listener')
  })`
  const server = await start(t, { SANDBOX_SEED: 'my seed' }, { args: ['start'], module })
  t.match(await server.line('ready'), {
    url: /^http:\/\/127\.0\.0\.1:[1-9]\d*$/,
    clientId: 'sandbox-client',
    seed: 'my seed',
  })
  const settings = { PORT: String(server.port) }
  t.same(await run(['health'], settings), { code: 0, stdout: '', stderr: '' })

  const socket = await beginTokenRequest(server.port)
  server.child.kill('SIGTERM')
  await server.line('closing')
  server.child.kill('SIGINT')
  server.child.kill('SIGTERM')
  let answer = ''
  socket.on('data', data => {
    answer += data
  })
  socket.write(TOKEN_REQUEST)
  await closed(socket)
  t.match(answer, /^HTTP\/1\.1 200 [\s\S]*"access_token"/, 'also after a second signal')
  t.same(await server.exited, [0, null])
  t.notMatch(server.output, 'has no listener')
  t.equal(server.lines.filter(({ msg }) => msg === 'closing').length, 1, 'it closes once')
  t.same(await run(['health'], settings), { code: 1, stdout: '', stderr: '' })
})

/**
 * Ends the time for open requests at once, and leaves out the limit of the whole end (`start.ts`): on a busy machine, an
 * orderly end can take longer.
 */
const UNHURRIED = `
  import timers from 'node:timers'
  import { promisify } from 'node:util'
  const { setTimeout } = timers
  timers.setTimeout = (work, ms, ...values) => setTimeout(work, ms === 3000 ? 0 : ms, ...values)
  const never = { [promisify.custom]: () => new Promise(() => {}) }
  globalThis.setTimeout = Object.assign((...values) => setTimeout(...values), never)`

t.test('settings, Settings: SIGINT closes a request that never ends, exit code 0', { buffered: true }, async t => {
  const settings = { SANDBOX_DATA: `${t.testdir()}/data` }
  const server = await start(t, settings, { module: UNHURRIED })
  const locked = createServer(readConfig({ PORT: '0', ...settings }), silentLogger)
  await t.rejects(locked, { message: /^SANDBOX_DATA=.*sandbox\.db" is in use by another server\.$/ })

  const socket = await beginTokenRequest(server.port)
  socket.on('error', () => {})
  server.child.kill('SIGINT')
  t.same(await server.exited, [0, null])
  socket.destroy()
})

/** The program in a PID namespace of its own, as in another container: its process id says nothing outside. */
const isolated: Program = {
  ...uncheckedProgram,
  command: ['unshare', '--pid', '--fork', '--kill-child=SIGKILL', ...uncheckedProgram.command],
}
const canIsolate = spawnSync('unshare', ['--pid', '--fork', 'true']).status === 0

t.test(
  'persistence, SANDBOX_DATA: a second server is refused, also from another PID namespace',
  { buffered: true, skip: !canIsolate && 'needs unshare, and the right to make namespaces' },
  async t => {
    const settings = { SANDBOX_DATA: `${t.testdir()}/data`, PORT: '0' }
    const server = new Server(launch(isolated, [], settings))
    t.teardown(() => server.child.kill('SIGKILL'))
    await server.line('ready')
    for (const second of [uncheckedProgram, isolated]) {
      const { code, stderr } = await run([], settings, second)
      t.equal(code, 2)
      t.match(stderr, /^[^\n]*SANDBOX_DATA=.*sandbox\.db" is in use by another server\.\n$/)
    }
  },
)

t.test('settings, Settings: an unexpected error is logged, exit code 1', { buffered: true }, async t => {
  const module = "process.on('SIGUSR2', () => { throw new Error('boom') })"
  const server = await start(t, {}, { module })
  server.child.kill('SIGUSR2')
  t.same(await server.exited, [1, null])
  const found = server.lines.find(({ level }) => level === 60)
  t.match(found, { err: { message: 'boom' } })
})

t.test('settings, LOG_LEVEL: formatted on a terminal', { buffered: true }, async t => {
  const nodeOptions = nodeOptionsOf('process.stdout.isTTY = true; process.stdout.columns = 80')
  const child = launch(coveredProgram, [], { PORT: '0', SANDBOX_SEED: 'my seed' }, { nodeOptions })
  let output = ''
  for await (const text of createInterface(child.stdout)) {
    output += `${text}\n`
    if (text.includes('seed')) child.kill('SIGTERM')
  }
  t.match(output, /\[\d\d:\d\d:\d\d\].*INFO.*payments-sandbox is ready/)
  t.match(output, /url.*http:\/\/127\.0\.0\.1:\d+/)
  t.match(output, /seed.*my seed/)
})

t.test(
  'settings, LOG_LEVEL: a log that cannot be written does not stop the server',
  { buffered: true, skip: !existsSync('/dev/full') && 'needs /dev/full' },
  async t => {
    const full = openSync('/dev/full', 'w')
    const { child, url, exited } = await startUnread(t, full)
    closeSync(full)
    t.equal((await fetch(`${url}/_sandbox/health/ready`)).status, 200)
    child.kill('SIGTERM')
    t.same(await exited, [0, null])
  },
)

t.test('settings, LOG_LEVEL: a reader that stops reading does not stop the server', { buffered: true }, async t => {
  // Without a listener for its data, the pipe of the child is not read.
  const { child, url, exited } = await startUnread(t, 'pipe')
  // The line of each has its path: together, more than the pipe takes.
  const answers = await Promise.all(Array.from({ length: 25 }, () => fetch(`${url}/${'x'.repeat(15_000)}`)))
  t.same(new Set(answers.map(({ status }) => status)), new Set([404]))
  child.kill('SIGTERM')
  t.same(await exited, [0, null])
})

t.test('settings, Settings: options set what variables set, and precede them', { buffered: true }, async t => {
  const data = `${t.testdir()}/data`
  const args = ['start', '--port=0', '--host', '127.0.0.1', '--seed', 'my seed', '--data', data, '--fixture', 'empty']
  const server = await start(t, { PORT: '1', SANDBOX_SEED: 'another' }, { args })
  t.match(await server.line('ready'), { url: /^http:\/\/127\.0\.0\.1:/, seed: 'my seed' })
  t.match(await (await fetch(`${server.url}/_sandbox`)).json(), { seed: 'my seed', records: { mandates: 0 } })
  t.ok(existsSync(`${data}/sandbox.db`))
})

/** A project whose build takes no time: the program is the one of these tests. */
function quickProject(t: Test): string {
  const folder = t.testdir({
    scripts: {
      'build.js': `import { writeFileSync } from 'node:fs'\nwriteFileSync('dist/bin/cli.js', 'import ${JSON.stringify(uncheckedProgram.main)}')`,
    },
    ...{ src: { 'a.ts': '' }, docs: {}, skills: {}, dist: { bin: {} } },
    ...{ 'README.md': '', 'package-lock.json': '{}', 'tsconfig.json': '{}' },
  })
  copyFileSync('package.json', `${folder}/package.json`)
  copyFileSync('scripts/start.js', `${folder}/scripts/start.js`)
  // The times of files, and so their order, are given.
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) utimesSync(join(folder, path), 1, 1)
  return folder
}

t.test(
  'settings, Settings: npm start builds what is old, and when killed, leaves no process behind',
  { buffered: true },
  async t => {
    const folder = quickProject(t)
    const npm = { ...uncheckedProgram, command: [...PLAIN, 'npm', '--prefix', folder] as const, main: 'start' }
    const future = Date.now() / 1000 + 3600
    for (const [signal, reason] of [
      ['SIGTERM', /^There is no dist\/ yet\. Building it.*$/],
      ['SIGINT', /^dist\/ is older than its sources\. Building it.*$/],
    ] as const) {
      if (signal === 'SIGINT') utimesSync(`${folder}/src/a.ts`, future, future)
      const server = new Server(launch(npm, [], { PORT: '0' }))
      const { pid } = await server.line('ready')
      const lines = server.output.match(/^.*dist\/.*$/gm) ?? []
      t.match(lines.join('\n'), reason)
      const exited = once(server.child, 'exit')
      server.child.kill(signal)
      await exited
      const isLeft = isRunning(pid as number)
      if (isLeft) process.kill(pid as number, 'SIGKILL')
      t.notOk(isLeft, signal)
      await server.exited
      t.match(server.lines.at(-1), { msg: 'closing' }, 'the log is complete')
    }
    utimesSync(`${folder}/src/a.ts`, 1, 1)
    const invalid = await run(['--', '--port', '80x'], {}, npm)
    t.match(invalid, { code: 2, stderr: /PORT="80x" is not allowed/ })
    t.notMatch(invalid.stderr, 'dist/', 'a new build is not built again')
    utimesSync(`${folder}/src/a.ts`, future, future)
    writeFileSync(`${folder}/scripts/build.js`, 'process.exit(3)')
    t.match(await run([], {}, npm), { code: 3, stderr: /older/ }, 'a build that fails')
  },
)

t.test('start, With Node: the scripts of package.json run in cmd.exe, too', async t => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8'))
  // cmd.exe knows `&&` and double quotes, and exec.cmd is `exec` there.
  t.ok(existsSync('exec.cmd'))
  const isPosix = /['$;|<>`{}]|[^&]&[^&]|(^|&& )(\w+=|(test|rm|cp|mv|mkdir|trap|export) )/
  const wrong = Object.entries<string>(scripts).filter(([, script]) => isPosix.test(script.replaceAll(/"[^"]*"/g, '')))
  t.same(wrong, [])
})
