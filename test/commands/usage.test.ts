import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import t from 'tap'
import { commands, find } from '../../src/commands/catalogue.js'
import { format } from '../../src/commands/output.js'
import { command } from '../command.js'
import { freePort } from '../free-port.js'
import { build, call, pluck } from '../helper.js'
import { launch, PLAIN, uncheckedProgram } from '../program.js'
import { start } from './helper.js'

// Names, wrong usage, help, and the program in a process of its own.

t.test('commands, Output: a member that only some rows have is empty in the others, whatever its name', async t => {
  const rows = JSON.parse('[{ "id": "a", "constructor": "x", "__proto__": "y" }, { "id": "b" }]')
  t.equal(format({ data: rows }), 'id  constructor  __proto__\na   x            y\nb')
})

t.test('commands, Names: each route is one command, and no two have one name', async t => {
  const { routes } = (await call(build(t), 'GET', '/_sandbox')).body as { routes: { method: string; path: string }[] }
  const names = routes.map(({ method, path }) => {
    const template = path.replace(/:(\w+)/g, '{$1}')
    return commands.filter(one => one.method === method && one.path === template).map(({ name }) => name)
  })
  t.ok(names.length > 60, `${names.length} routes`)
  t.same(
    names.filter(({ length }) => length !== 1),
    [],
  )
  t.equal(new Set(commands.map(({ name }) => name)).size, commands.length)
  for (const { name, path } of commands) t.same(pluck(find(name.split(' ')), 'path'), [path], name)
  t.same(
    commands.filter(({ name }) => !/^[a-z-]+( [a-z-]+)?$/.test(name)),
    [],
  )
})

t.test('commands, Names: no option of a command has the name of a common one, and none is there twice', async t => {
  const common = ['url', 'client', 'admin-token', 'json', 'help']
  for (const { name, options } of commands) {
    const names = pluck(options, 'name')
    t.equal(new Set([...common, ...names]).size, common.length + names.length, name)
  }
})

t.test('commands, Exit codes: wrong usage is 2, in one line, and sends nothing', async t => {
  const { run } = await start(t)
  for (const [args, message] of [
    [['advnce', '--by', 'P1D'], /unknown command "advnce"\. Did you mean advance\? See payments-sandbox help\./],
    [['arm'], /arm is not one command: give outcomes arm or faults arm\./],
    [['state'], /state is not one command: give state save or state load\./],
    [['faults', 'amr'], /faults: unexpected "amr"/],
    [
      ['return'],
      /collections return: COLLECTION-REFERENCE is missing\. See payments-sandbox collections return --help/,
    ],
    [['explain'], /COLLECTION-REFERENCE is missing/],
    [['return', 'COL-0001', 'AM04', 'AC04'], /unexpected "AC04"/],
    [['state', 'load'], /FILE is missing/],
    [['fork'], /CLIENT-ID is missing/],
    [['requests', '--limit', 'ten'], /--limit is not allowed: give a value of the type integer\./],
    [['seed', '--records', '{'], /--records is not allowed: give a value of the type object\./],
    [['requests', '--metod', 'POST'], /unknown option --metod\. Did you mean --method\?/],
    [['requests', '--path'], /--path <value>.* missing/],
    [['requests', '--errors=yes'], /--errors.* does not take an argument/],
    [['clock', '--url', 'ftp://a'], /--url or SANDBOX_URL is not allowed/],
    [['clock', '--url', 'http://me:hush@127.0.0.1'], /^(?!.*hush).*--url or SANDBOX_URL is not allowed/],
    [['clock', '--admin-token', 'hush hush'], /^(?!.*hush).*SANDBOX_ADMIN_TOKEN is not allowed/],
    [['toString'], /unknown command "toString"/],
  ] as const) {
    const { code, stdout, stderr } = await run(...args)
    t.same([code, stdout], [2, ''], args.join(' '))
    t.match(stderr, message)
    t.match(stderr, /^payments-sandbox: [^\n]+\n$/)
  }
  t.match((await run('requests')).stdout, 'last     1', 'the log has only the token request')
})

t.test('commands, Exit codes: no server, another server, and one that fails are 3', async t => {
  const port = await freePort()
  const none = await command(['clock', '--url', `http://127.0.0.1:${port}`])
  t.match(none, { code: 3, stdout: '', stderr: /^UNREACHABLE - No complete response from http:\/\/127/ })
  for (const args of [['explain', 'COL-0001'], ['token'], ['events', '--follow']]) {
    t.match(await command([...args, '--url', `http://127.0.0.1:${port}`]), { code: 3 }, args.join(' '))
  }
  const { run } = await start(t)
  const other = createServer((_, response) => response.end('<h1>It works</h1>')).listen(0, '127.0.0.1')
  t.teardown(() => other.close())
  await once(other, 'listening')
  const otherUrl = `http://127.0.0.1:${(other.address() as AddressInfo).port}`
  t.match(await command(['clock', '--url', otherUrl]), { code: 3, stderr: /^UNEXPECTED_ANSWER - / })
  await run('faults', 'arm', '--effect.kind', 'error', '--effect.status', '503')
  t.match(await run('token'), { code: 3, stdout: '', stderr: /^SERVICE_UNAVAILABLE / })
})

t.test('commands, Before you begin: the admin token is an option or a variable, and never in the output', async t => {
  const { url } = await start(t, { adminToken: 'hush-hush' })
  const target = ['--url', url]
  for (const [args, settings, code] of [
    [[], {}, 1],
    [['--admin-token', 'hush'], {}, 1],
    [['--admin-token', 'hush-hush'], {}, 0],
    [[], { SANDBOX_ADMIN_TOKEN: 'hush-hush' }, 0],
    [['--admin-token', 'wrong'], { SANDBOX_ADMIN_TOKEN: 'hush-hush' }, 1],
  ] as const) {
    const result = await command(['clock', ...target, ...args], settings)
    t.equal(result.code, code, result.stderr)
    t.notMatch(JSON.stringify(result), 'hush')
  }
  t.match(await command(['token', ...target], { SANDBOX_ADMIN_TOKEN: 'hush-hush' }), { code: 0, stdout: /^\S+\n$/ })
})

t.test('commands, Before you begin: --help of each command describes all arguments and options', async t => {
  for (const { name, positions, options, summary } of commands) {
    const { code, stdout, stderr } = await command([...name.split(' '), '--help'])
    t.same([code, stderr], [0, ''], name)
    if (['help', 'start', 'health', 'replay'].includes(name)) continue
    t.match(stdout, `Usage: payments-sandbox ${name}`)
    t.ok(stdout.includes(summary), name)
    const undescribed = [...positions, ...options].filter(({ schema: { description = '' } }) => {
      return !description.endsWith('.') || !stdout.includes(description)
    })
    t.same(undescribed, [], name)
  }
  const { stdout } = await command(['help'])
  t.same(
    [...stdout.matchAll(/^(\w+):$/gm)].map(([, title]) => title),
    ['Start', 'Time', 'Records', 'Failures', 'Evidence', 'Clients'],
  )
  const unlisted = commands.filter(({ name }) => {
    const [noun, verb] = name.split(' ')
    return !new RegExp(`^ {2}${name} |^ {2}${noun} VERB .*\\b${verb}\\b`, 'm').test(stdout)
  })
  t.same(unlisted, [])
  t.match((await command(['cancel', '-h'])).stdout, /collections cancel.*mandates cancel.*payout-links cancel/s)
})

t.test('commands, Check the requests of your app: --follow prints requests until it is interrupted', async t => {
  const { url, run } = await start(t)
  const child = launch(uncheckedProgram, ['requests', '--follow', '--client', 'shop'], { SANDBOX_URL: url })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  t.match(
    (await lines.next()).value,
    /^1 +2026-11-02T09:00:00Z +1970-01-01T00:00:00.000Z +POST +\/api\/v1\/oauth\/token +200/,
  )
  await run('token')
  t.match((await lines.next()).value, /^2 +2026-11-02T09:00:00Z +1970-01-01T00:00:00.000Z +POST /)
  child.kill('SIGINT')
  t.same(await once(child, 'close'), [null, 'SIGINT'])
  const later = launch(uncheckedProgram, ['requests', '--follow', '--after', '1', '--client', 'shop'], {
    SANDBOX_URL: url,
  })
  t.match((await createInterface(later.stdout)[Symbol.asyncIterator]().next()).value, /^2 /)
  later.kill('SIGINT')
  await once(later, 'close')
})

t.test('commands, Before you begin: a command reaches a server without the proxy of its environment', async t => {
  const { url } = await start(t)
  const proxy = `http://127.0.0.1:${await freePort()}`
  const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy']
  const settings = { SANDBOX_URL: url, ...Object.fromEntries(names.map(name => [name, proxy])) }
  for (const name of ['token', 'health']) {
    const child = launch(uncheckedProgram, [name], settings)
    t.same(await once(child, 'close'), [0, null], name)
  }
})

t.test('commands, Output: a reader that ends first is no failure, and --json is one object a line', async t => {
  const { url, run } = await start(t)
  await run('submit', 'COL-0001')
  const main = `"${process.execPath}" "${uncheckedProgram.main}" events --follow --json --client shop --url ${url}`
  const [first, ...options] = PLAIN
  const shell = spawn(first, [...options, 'bash', '-c', `set -o pipefail; ${main} | head -1`], { stdio: 'pipe' })
  let [stdout, stderr] = ['', '']
  shell.stdout.on('data', data => {
    stdout += data
  })
  shell.stderr.on('data', data => {
    stderr += data
  })
  // The next events meet the closed pipe.
  shell.stdout.once('data', () => void run('process', 'COL-0001').then(() => run('settle', 'COL-0001')))
  t.same(await once(shell, 'close'), [0, null])
  t.equal(stderr, '')
  t.match(JSON.parse(stdout), { seq: 1 })
})

t.test('commands, Before you begin: a command does not load the server, nor the server the commands', async t => {
  const loaded = (main: string) => {
    const text = readFileSync(`build/src/${main}.js`, 'utf8')
    return [...text.matchAll(/^import .*? from "(\.[^"]+)"/gm)].map(([, path]) => path)
  }
  const seen = new Set<string>()
  const visit = (file: string) => {
    if (seen.has(file)) return
    seen.add(file)
    for (const path of loaded(file)) {
      visit(new URL(path as string, `file:///${file}`).pathname.slice(1).replace(/\.js$/, ''))
    }
  }
  visit('commands/run')
  t.ok(seen.has('client/connection'))
  t.same(
    [...seen].filter(file => /^(server|boot|start|http|turns|control|features|areas)/.test(file)),
    [],
  )
  seen.clear()
  visit('cli')
  t.same(
    [...seen].filter(file => file.startsWith('commands/')),
    [],
  )
})
