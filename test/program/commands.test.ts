import t from 'tap'
import { optionOf, readConfig, SETTINGS } from '../../src/config.js'
import { createServer } from '../../src/start.js'
import { command } from '../command.js'
import { silentLogger } from './log.js'

const oneLine = /^payments-sandbox: [^\n]+\n$/

t.test('settings, Settings: --help, -h and help print one help, with each option; --version', async t => {
  const { stdout } = await command(['--help'])
  for (const args of [['--help'], ['-h'], ['help'], ['start', '--help'], ['health', '--help']]) {
    t.same(await command(args), { code: 0, stdout, stderr: '' }, args.join(' '))
  }
  for (const word of ['start', 'SANDBOX_SEED', /^ {2}health .*--url.*exit code 0 or 1$/m]) t.match(stdout, word)
  for (const { variable } of SETTINGS) t.match(stdout, new RegExp(`--${optionOf(variable)}\\b`))
  for (const option of ['--version', '-v']) {
    t.match(await command([option]), { code: 0, stdout: /^\d+\.\d+\.\d+\n$/, stderr: '' })
  }
})

t.test('settings, Settings: commands that run at once in one process have their own exit codes', async t => {
  const results = await Promise.all([['--help'], ['stop'], ['--version'], ['--prot=1']].map(args => command(args)))
  const found = results.map(({ code }) => code)
  t.same(found, [0, 2, 0, 2])
})

t.test('settings, Settings: --admin-token is not repeated in an error', async t => {
  const { code, stderr } = await command(['--admin-token', 'hush hush'])
  t.equal(code, 2)
  t.match(stderr, 'SANDBOX_ADMIN_TOKEN is not allowed')
  t.notMatch(stderr, 'hush')
})

t.test('settings, Settings: invalid usage and invalid values print one line, exit code 2', async t => {
  const cases: [args: string[], settings: Record<string, string>, message: RegExp][] = [
    [['stop'], {}, /"stop"/],
    [['toString'], {}, /"toString"/],
    [['start', 'now'], {}, /"start now"/],
    [
      ['--prot=1'],
      {},
      /unknown option --prot\. Did you mean --port\? Known: --host, --port, .*--state-bytes, --url, --help, --version\.\n$/,
    ],
    [['--journal-entries', 'x'], {}, /SANDBOX_REQUEST_LOG_ENTRIES="x" is not allowed/],
    [['-p', '1'], {}, /unknown option -p\. .* Known: --host, --port/],
    [['start', '--SEED', 'x'], {}, /unknown option --SEED\./],
    [[], { SANDBOX_SEDE: 'x' }, /SANDBOX_SEDE is no setting\. Did you mean SANDBOX_SEED\?/],
    [['--port'], {}, /--port <value>.* missing/],
    [['--port', '-1'], {}, /--port.*ambiguous/],
    [['--port', '80x'], { PORT: '81' }, /PORT="80x".*0 to 65535/],
    [['--open-registration', 'yes'], {}, /SANDBOX_OPEN_REGISTRATION="yes".*true or false/],
    [['--help=1'], {}, /--help/],
    [['--port', '0', '--fixture', 'saga'], {}, /SANDBOX_FIXTURE="saga".*demo, empty/],
    [['start', '--url', 'x'], {}, /--url/],
    [[], { PORT: '80x' }, /PORT=.*80x.*0 to 65535/],
    [
      [],
      { PORT: '0', SANDBOX_FIXTURES: t.testdir({ 'story.json': '{\n"bills": [\n?\n' }) },
      /SANDBOX_FIXTURES=.*story/,
    ],
  ]
  for (const [args, settings, message] of cases) {
    const { code, stdout, stderr } = await command(args, settings)
    t.same([code, stdout], [2, ''], String(message))
    t.match(stderr, oneLine)
    t.match(stderr, message)
  }
  t.match(await command(['health', '--port', '80x']), { code: 1 })
  t.match(await command(['health', '--prot', '80']), { code: 1 })
  t.match(await command(['health'], { PORT: '80x' }), { code: 1 }, 'the exit code of `health` is 0 or 1')
})

t.test('settings, Settings: variables of other programs are ignored with one line; `health` checks none', async t => {
  const server = await createServer(readConfig({ PORT: '0' }), silentLogger)
  t.teardown(() => server.close())
  const url = await server.listen()
  const { port: PORT } = new URL(url)
  const others = {
    SANDBOX_RUNTIME: '1',
    SANDBOX_ID: '1',
    SANDBOX_API_KEY: 'key',
    SANDBOX_MOUNTS: '/x',
  }
  // The start gets to the port, which is in use.
  const { code, stderr } = await command([], { ...others, PORT })
  t.match(
    [code, stderr.split('\n')],
    [1, [/ignored .*: SANDBOX_RUNTIME, SANDBOX_ID, SANDBOX_API_KEY, SANDBOX_MOUNTS$/, /in use/, /^$/]],
  )
  t.notMatch(stderr, 'key')
  const silent = { code: 0, stdout: '', stderr: '' }
  const wrong = { ...others, SANDBOX_SEEED: 'x', SANDBOX_TOKEN_TTL: 'x', LOG_LEVEL: 'x' }
  t.same(await command(['health'], { ...wrong, PORT }), silent)
  t.match(await command(['clients'], { ...wrong, SANDBOX_URL: url }), { code: 0, stdout: /sandbox-client/, stderr: '' })
})

t.test('settings, Settings: a port in use is a failure, exit code 1; `health` checks a server', async t => {
  const server = await createServer(readConfig({ PORT: '0' }), silentLogger)
  const { port: PORT } = new URL(await server.listen())
  t.same(await command(['health'], { PORT }), { code: 0, stdout: '', stderr: '' })
  t.same(await command(['health', '--host', '127.0.0.1', '--port', PORT], { PORT: '1' }), {
    code: 0,
    stdout: '',
    stderr: '',
  })
  const url = `http://127.0.0.1:${PORT}`
  t.match(await command(['health', '--url', `${url}/`], { PORT: '1' }), { code: 0 })
  t.match(await command(['health'], { PORT: '1', SANDBOX_URL: url }), { code: 0 })
  t.match(await command(['health', '--port', '1'], { SANDBOX_URL: url }), { code: 1 }, 'an option precedes')
  t.match(await command(['health', '--url', 'ftp://x']), { code: 1, stderr: /--url or SANDBOX_URL/ })
  t.match(await command(['start', '--url', url]), { code: 2, stderr: /start --url/ })
  const { code, stdout, stderr } = await command([], { PORT, LOG_LEVEL: 'silent' })
  t.same([code, stdout], [1, ''])
  t.match(stderr, oneLine)
  t.match(stderr, new RegExp(`${PORT}.*--port`))
  await server.close()
  t.same(await command(['health'], { PORT }), { code: 1, stdout: '', stderr: '' })
})
