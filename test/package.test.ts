import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { PLAIN, requestTokenAt, environment as userEnvironment } from './program.js'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

const environment = { ...userEnvironment, npm_config_update_notifier: 'false' }
const [plain, ...plainOptions] = PLAIN
/** The words before a script's path. */
const node = [...plainOptions, process.execPath]

/** The first example of the README's part on tests that imports from a module. */
function example(module: string): string {
  const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
  const [, part = ''] = /^## In your tests$(.*?)^## /ms.exec(readme) ?? []
  const blocks = [...part.matchAll(/^```js\n(.*?)^```$/gms)].map(([, block]) => block as string)
  const found = blocks.find(block => block.includes(`from '${module}'`))
  if (found === undefined) throw new Error(`the README has no example with ${module} under "In your tests"`)
  return found
}

/** A file of a user who has nothing but the package and TypeScript: every line that is wrong is marked as such. */
const TYPED = `
import type { Event, FaultRequest, Recording, Sandbox, SeedRecords, State } from 'payments-sandbox'
import { connectSandbox, createSandbox, ExpectationError, SandboxError } from 'payments-sandbox'

const records: SeedRecords = {
  counterparties: [{ region: 'EU', counterpartyReference: 'CPTY-0001' }],
  bills: [
    {
      uniqueReferenceIdentifier: 'INV-0001',
      type: 'INVOICE',
      cashflowType: 'INFLOW',
      counterpartyReference: 'CPTY-0001',
      currency: 'EUR',
      totalAmount: '100',
      dueDate: '2030-02-01',
    },
  ],
}
const fault: FaultRequest = { match: { method: 'POST' }, times: null, effect: { kind: 'reset', when: 'before' } }

export async function run(token: string | undefined): Promise<readonly string[]> {
  await using sandbox: Sandbox = await createSandbox({ clock: '2030-01-07T09:00:00Z', adminToken: token })
  const other: Sandbox = await connectSandbox({ url: sandbox.url, adminToken: token, clientId: 'job-1' })
  await sandbox.seed(records)
  // @ts-expect-error: there is no such kind of record
  await sandbox.seed({ bils: [] })
  const { id, fired }: { id: string; fired: number } = await other.faults.arm(fault)
  // @ts-expect-error: when is missing
  await sandbox.faults.arm({ effect: { kind: 'drop' } })
  // @ts-expect-error: it is one way or the other
  await sandbox.clock.advance({ by: 'P1D', toNextEvent: true })
  const { transitions } = await sandbox.clock.advance({ by: 'P1D' })
  const state: State = await sandbox.state()
  await (await sandbox.fork()).restore(state)
  const recording: Recording = await sandbox.recording()
  const event: Event = await sandbox.events.next({ kind: 'bill' }, { timeoutSeconds: 1 })
  // @ts-expect-error: it is a text, or null
  const from: string = event.from
  for await (const { to } of sandbox.events.stream({ reference: 'INV-0001' })) if (to === 'PAID') break
  const { record } = await sandbox.bills.explain('INV-0001', { region: 'EU' })
  // @ts-expect-error: no bill has this status
  if (record.status === 'SETTLED') return [from]
  try {
    await sandbox.requests.expect({ method: 'POST', path: '/api/v1/bills', times: 1 })
  } catch (error) {
    if (error instanceof ExpectationError) return error.verification.nearestMisses?.map(miss => miss.path) ?? []
    if (error instanceof SandboxError) return [error.code, error.field ?? '', String(error.status)]
  }
  return [id, String(fired), recording.seed, ...transitions.map(({ reference }) => reference)]
}
`

/** A program of a user, which says what it has seen. */
const PROGRAM = `
const listeners = () => process.listenerCount('SIGTERM') + process.listenerCount('SIGINT')
const before = listeners()
const { connectSandbox, createSandbox, SandboxError } = await import('payments-sandbox')
const sandboxes = await Promise.all([createSandbox({ fixture: 'demo' }), createSandbox(), createSandbox()])
const { url } = sandboxes[0]
const other = await connectSandbox({ url, clientId: 'job-1' })
await other.seed('demo')
await other.fork('job-2')
const refusal = await other.mandates.explain('MND-9999').catch(error => error)
const clients = await (await fetch(\`\${url}/_sandbox/clients\`)).json()
const signals = listeners() - before
await Promise.all(sandboxes.map(sandbox => sandbox.close()))
console.log(
  JSON.stringify({
    urls: new Set(sandboxes.map(sandbox => sandbox.url)).size,
    clients: clients.data.map(({ clientId }) => clientId).sort(),
    refusal: refusal instanceof SandboxError && refusal.code,
    signals,
  }),
)
`

/** Type-checks files of a user, who has nothing else installed; tells what is wrong. */
function typeErrors(home: string, files: readonly string[], options: object): string {
  const strict = { noEmit: true, strict: true, exactOptionalPropertyTypes: true, target: 'es2022', types: [] }
  writeFileSync(join(home, 'tsconfig.json'), JSON.stringify({ compilerOptions: { ...strict, ...options }, files }))
  const tsc = join(ROOT, 'node_modules/typescript/bin/tsc')
  return spawnSync(plain, [...node, tsc], { cwd: home, env: environment, encoding: 'utf8' }).stdout
}

t.test('the packed tarball installs and runs in an empty folder', async t => {
  // Packed from a copy, so that the dist/ of this folder stays as it is for whoever is using it.
  const source = join(t.testdir(), 'source')
  mkdirSync(source)
  for (const name of ['package.json', 'README.md', 'LICENSE', 'CHANGELOG.md', 'src', 'scripts', 'fixtures']) {
    cpSync(join(ROOT, name), join(source, name), { recursive: true })
  }
  symlinkSync(join(ROOT, 'node_modules'), join(source, 'node_modules'))
  execFileSync(plain, [...plainOptions, 'npm', 'pack', '--silent'], { cwd: source, env: environment })
  const tarball = readdirSync(source).find(name => name.endsWith('.tgz')) as string

  const home = join(t.testdirName, 'home')
  mkdirSync(home)
  writeFileSync(join(home, 'package.json'), '{"private":true}')
  execFileSync(plain, [...plainOptions, 'npm', 'install', '--silent', '--offline', join(source, tarball)], {
    cwd: home,
    env: environment,
  })
  t.same(
    readdirSync(join(home, 'node_modules')).filter(name => !name.startsWith('.')),
    ['payments-sandbox'],
    'it brings nothing else along',
  )

  const bin = join(home, 'node_modules/.bin/payments-sandbox')
  const version = spawnSync(plain, [...node, bin, '--version'], { env: environment, encoding: 'utf8' })
  t.match(version.stdout, /^\d+\.\d+\.\d+\n$/)

  const server = spawn(plain, [...node, bin], {
    env: { ...environment, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => server.kill('SIGKILL'))
  let url = ''
  for await (const line of createInterface({ input: server.stdout })) {
    url = JSON.parse(line).url ?? ''
    if (url !== '') break
  }
  const health = spawnSync(plain, [...node, bin, 'health'], { env: { ...environment, PORT: new URL(url).port } })
  t.equal(health.status, 0, 'health finds it ready')

  // Before any validator is loaded, an answer has no more than its schema names, like any later one.
  const outcomes = (await (await fetch(`${url}/_sandbox/outcomes`)).json()) as { data: object[] }
  t.same(Object.keys(outcomes.data[0] ?? {}).sort(), ['debtorReference', 'description', 'fidelity'])

  const token = await requestTokenAt(url)
  const { access_token } = (await token.json()) as { access_token: string }
  const list = await fetch(`${url}/api/v1/mandates?limit=1`, {
    headers: { authorization: `Bearer ${access_token}`, 'x-region': 'EU', connection: 'close' },
  })
  t.equal(list.status, 200, 'it serves from its own bundle and fixtures')

  const exited = new Promise(resolve => server.on('exit', resolve))
  server.kill('SIGTERM')
  t.equal(await exited, 0, 'SIGTERM ends it with exit code 0')

  const run = (...args: string[]) =>
    spawnSync(plain, [...node, ...args], { cwd: home, env: environment, encoding: 'utf8' })
  writeFileSync(join(home, 'program.mjs'), PROGRAM)
  const { status, stdout, stderr } = run('program.mjs')
  t.equal(status, 0, 'issue 3, item 5: a program that imports it ends by itself')
  t.equal(stderr, '')
  t.same(
    stdout
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line)),
    [{ urls: 3, clients: ['app', 'job-1', 'job-2', 'sandbox-client'], refusal: 'MANDATE_NOT_FOUND', signals: 0 }],
    'and nobody else writes anything',
  )
  const manifest = "console.log(require('payments-sandbox/package.json').version)"
  t.equal(run('-e', manifest).stdout, version.stdout, 'the manifest can be read')

  writeFileSync(join(home, 'typed.mts'), TYPED)
  for (const options of [
    { module: 'nodenext', moduleResolution: 'nodenext' },
    { module: 'esnext', moduleResolution: 'bundler' },
  ]) {
    t.equal(typeErrors(home, ['typed.mts'], { lib: ['es2022'], ...options }), '', `types, ${options.module}`)
  }

  writeFileSync(join(home, 'readme.test.mjs'), example('node:test'))
  const tested = run('--test', 'readme.test.mjs')
  t.equal(tested.status, 0, `the README's example with node:test\n${tested.stdout}`)
  t.match(tested.stdout, /pass 2\n/)

  // What is installed elsewhere is taken as it is; the part that is ours must be right.
  writeFileSync(join(home, 'stubs.d.ts'), "declare module 'vitest'\ndeclare module 'testcontainers'\n")
  for (const module of ['vitest', 'testcontainers']) {
    const file = `${module}.mjs`
    writeFileSync(join(home, file), example(module))
    const options = { allowJs: true, checkJs: true, noImplicitAny: false, module: 'nodenext' }
    t.equal(typeErrors(home, [file, 'stubs.d.ts'], options), '', `the README's example with ${module}`)
  }
})
