import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** The environment without what the test runner adds for its own child processes. */
const environment = { PATH: process.env.PATH, HOME: process.env.HOME, npm_config_update_notifier: 'false' }

t.test('the packed tarball installs and runs in an empty folder', { timeout: 120_000 }, async t => {
  // Packed from a copy, so that the dist/ of this folder stays as it is for whoever is using it.
  const source = join(t.testdir(), 'source')
  mkdirSync(source)
  for (const name of ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'src', 'scripts', 'fixtures']) {
    cpSync(join(ROOT, name), join(source, name), { recursive: true })
  }
  symlinkSync(join(ROOT, 'node_modules'), join(source, 'node_modules'))
  execFileSync('npm', ['pack', '--silent'], { cwd: source, env: environment })
  const tarball = readdirSync(source).find(name => name.endsWith('.tgz')) as string

  const home = join(t.testdirName, 'home')
  mkdirSync(home)
  writeFileSync(join(home, 'package.json'), '{"private":true}')
  execFileSync('npm', ['install', '--silent', '--offline', join(source, tarball)], { cwd: home, env: environment })
  t.same(
    readdirSync(join(home, 'node_modules')).filter(name => !name.startsWith('.')),
    ['payments-sandbox'],
    'it brings nothing else along',
  )

  const bin = join(home, 'node_modules/.bin/payments-sandbox')
  const version = spawnSync(process.execPath, [bin, '--version'], { env: environment, encoding: 'utf8' })
  t.match(version.stdout, /^\d+\.\d+\.\d+\n$/)

  const server = spawn(process.execPath, [bin], {
    env: { ...environment, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => server.kill('SIGKILL'))
  let url = ''
  for await (const line of createInterface({ input: server.stdout })) {
    url = JSON.parse(line).url ?? ''
    if (url !== '') break
  }
  const health = spawnSync(process.execPath, [bin, 'health'], { env: { ...environment, PORT: new URL(url).port } })
  t.equal(health.status, 0, 'health finds it ready')

  // Before any validator is loaded, an answer has no more than its schema names, like any later one.
  const outcomes = (await (await fetch(`${url}/_sandbox/outcomes`)).json()) as { data: object[] }
  t.same(Object.keys(outcomes.data[0] ?? {}).sort(), ['debtorReference', 'description', 'fidelity'])

  const token = await fetch(`${url}/api/v1/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      client_id: 'sandbox-client',
      client_secret: 'sandbox-secret',
      grant_type: 'client_credentials',
    }),
  })
  const { access_token } = (await token.json()) as { access_token: string }
  const list = await fetch(`${url}/api/v1/mandates?limit=1`, {
    headers: { authorization: `Bearer ${access_token}`, 'x-region': 'EU', connection: 'close' },
  })
  t.equal(list.status, 200, 'it serves from its own bundle and fixtures')

  const exited = new Promise(resolve => server.on('exit', resolve))
  server.kill('SIGTERM')
  t.equal(await exited, 0, 'SIGTERM ends it with exit code 0')
})
