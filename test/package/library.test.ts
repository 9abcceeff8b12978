import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import t from 'tap'
import ts from 'typescript'
import { install, typeErrors } from './install.js'

/** Returns the first example with a module on a page. */
function example(module: string, page = 'docs/library.md'): string {
  const blocks = [...readFileSync(page, 'utf8').matchAll(/^```js\n(.*?)^```$/gms)].map(([, block]) => block as string)
  const found = blocks.find(block => block.includes(`from '${module}'`))
  if (found === undefined) throw new Error(`${page} has no example with ${module}`)
  return found
}

/** A TypeScript module of a user. Comments mark the expected errors. */
const TYPED = `
import type { Event, FaultRequest, Sandbox, SeedRecords, State } from 'payments-sandbox'
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
  const event: Event = await sandbox.events.next({ kind: 'bill' }, { timeoutSeconds: 1 })
  // @ts-expect-error: it is a text, or null
  const from: string = event.from
  const [{ seq }]: { seq: number }[] = await sandbox.requests.list({ after: 1, wait: 1 })
  const { record } = await sandbox.bills.explain('INV-0001', { region: 'EU' })
  const [collection] = await sandbox.collections.all({ status: ['SETTLED'], amountMin: '10' })
  const { totalCount }: { totalCount: number } = await sandbox.collections.list({ status: ['SETTLED'], limit: 1 })
  // @ts-expect-error: it has all pages
  await sandbox.collections.all({ limit: 1 })
  // @ts-expect-error: there is no such filter
  await sandbox.collections.list({ state: ['SETTLED'] })
  await other.outcomes.arm({ match: { debtorReference: collection?.debtorReference ?? 'customer 7' }, outcome: 'RETURNED-AM04' })
  // @ts-expect-error: there is no such outcome
  await other.outcomes.arm({ outcome: 'RETURNED-XX99' })
  // @ts-expect-error: no record has this state
  await other.events.next({ to: 'RETURNEDD' })
  // @ts-expect-error: there is no such reason code
  await other.collections.return('COL-0001', { reasonCode: 'XX99' })
  await other.payoutLinks.create({ amount: '10', currency: 'EUR', payoutMethod: 'SEPA-CT' })
  // @ts-expect-error: there are required members
  await other.bills.create({ currency: 'EUR' })
  // @ts-expect-error: no bill has this status
  if (record.status === 'SETTLED') return [from]
  try {
    await sandbox.requests.expect({ method: 'POST', path: '/api/v1/bills', times: 1 })
  } catch (error) {
    if (error instanceof ExpectationError) return error.verification.nearestMisses?.map(miss => miss.path) ?? []
    if (error instanceof SandboxError) return [error.code, error.field ?? '', String(error.status)]
  }
  return [id, String(fired), String(totalCount), ...transitions.map(({ reference }) => reference)]
}
`

/** A TypeScript module of a page that embeds a payout link. Comments mark the expected errors. */
const PAGE = `
import type { MountOptions } from 'payments-sandbox/sdk'
import { mountPayoutLink } from 'payments-sandbox/sdk'

const options: MountOptions = {
  url: 'https://pay.example/pay/pl_1',
  locale: 'de',
  colorScheme: 'auto',
  theme: { accent: '#635bff', radius: 4, font: 'serif' },
  onPaid: ({ payoutLinkId, status }) => console.log(payoutLinkId.length, status === 'PAID'),
  onError: ({ code, message }) => console.log(code.length, message.length),
}
const { unmount } = mountPayoutLink(document.body, options)
// @ts-expect-error: an unknown option
mountPayoutLink(document.body, { ...options, onClaim: unmount })
// @ts-expect-error: url is missing
mountPayoutLink(document.body, { onReady: unmount })
`

/** A program of a user. It prints its results as JSON. */
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
const script = await fetch(\`\${url}/pay/assets/page.js\`)
await Promise.all(sandboxes.map(sandbox => sandbox.close()))
console.log(
  JSON.stringify({
    urls: new Set(sandboxes.map(sandbox => sandbox.url)).size,
    clients: clients.data.map(({ clientId }) => clientId).sort(),
    refusal: refusal instanceof SandboxError && refusal.code,
    signals,
    script: script.status,
  }),
)
`

t.test('library, In your tests: a program that imports the library ends by itself', async t => {
  const { code, stdout, stderr } = await install().node(PROGRAM)
  t.same([code, stderr], [0, ''])
  t.same(JSON.parse(stdout), {
    urls: 3,
    clients: ['app', 'job-1', 'job-2', 'sandbox-client'],
    refusal: 'MANDATE_NOT_FOUND',
    signals: 0,
    script: 200,
  })
})

t.test('library, In your tests; README, One test; agents, For coding agents: the examples with node:test', async t => {
  const { folder, home, run } = install()
  writeFileSync(join(folder, 'library.test.mjs'), example('node:test'))
  writeFileSync(join(folder, 'readme.test.mjs'), example('node:test', 'README.md'))
  writeFileSync(join(folder, 'skill.test.mjs'), example('node:test', join(home, 'skills/payments-sandbox/SKILL.md')))
  const { code, stdout } = await run('node', ['--test', 'library.test.mjs', 'readme.test.mjs', 'skill.test.mjs'])
  t.equal(code, 0, stdout)
  t.match(stdout, /pass 4\n/)
})

const HOOK = /^```js\n(afterEach\(async t => .*?)^```$/ms.exec(readFileSync('docs/library.md', 'utf8'))?.[1]

/** The tests of a user. An expectation does not hold, and an assertion fails. */
const FAILING = `
import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import { createSandbox } from 'payments-sandbox'
const sandbox = await createSandbox()
after(() => sandbox.close())
${HOOK}
test('it lists', () => sandbox.mandates.list())
test('it pays', async () => {
  await sandbox.requests.expect({ method: 'POST', path: '/api/v1/direct-debit' }).catch(() => {})
})
test('it fails', () => assert.equal(1, 2))
`

t.test('library, After a failure: a failed expectation and a failed test leave a file each', async t => {
  const { folder, run } = install()
  writeFileSync(join(folder, 'failing.test.mjs'), FAILING)
  const { code } = await run('node', ['--test', 'failing.test.mjs'], { env: { SANDBOX_EVIDENCE: 'evidence' } })
  t.equal(code, 1)
  const files = readdirSync(join(folder, 'evidence')).sort()
  const found = files.map(file => file.split('-')[0])
  t.same(found, ['expect', 'failure'])
  for (const file of files) {
    const evidence = JSON.parse(readFileSync(join(folder, 'evidence', file), 'utf8'))
    t.match(evidence, { clientId: 'app', events: [], test: file.startsWith('failure') ? 'it fails' : undefined })
    t.ok(evidence.requests.some(({ path }: { path: string }) => path === '/api/v1/mandates'))
  }
})

/** Returns the JavaScript of a page, block by block. */
const blocksOf = (page: string) =>
  [...readFileSync(page, 'utf8').matchAll(/^```js\n(.*?)^```$/gms)].map(([, block]) => block as string)

/** The values of the fragments, and the packages that are not installed here. */
const STUBS = `
declare module 'vitest'
declare module 'testcontainers'
declare const sandbox: import('payments-sandbox').Sandbox
declare const afterEach: (hook: (context: any) => unknown) => void
`

/** The types of Node, which the project of a user has. */
const NODE_TYPES = { types: ['node'], typeRoots: [resolve('node_modules/@types')] }

t.test('library, In your tests: the types of the library and of the SDK', async t => {
  const installed = install()
  const write = (name: string, text: string) => writeFileSync(join(installed.folder, name), text)
  write('typed.mts', TYPED)
  write('page.mts', PAGE)
  write('stubs.d.ts', STUBS)
  const browser = { module: 'esnext', moduleResolution: 'bundler', lib: ['es2022', 'dom'], skipLibCheck: false }
  t.equal(await typeErrors(installed, ['page.mts'], browser), '', 'the SDK, with a bundler')
  // The README for TypeScript as well: it needs no more types than those of Node.
  const typed = [...blocksOf('README.md'), ...blocksOf('skills/payments-sandbox/SKILL.md')]
  const names = typed.map((block, at) => {
    write(`readme-${at}.mts`, block)
    return `readme-${at}.mts`
  })
  t.ok(names.length >= 2)
  const strict = { ...NODE_TYPES, module: 'nodenext' }
  t.equal(await typeErrors(installed, ['typed.mts', ...names], strict), '', 'nodenext, and the README as TypeScript')
  const scripts = blocksOf('docs/library.md').map((block, at) => {
    write(`library-${at}.mjs`, block)
    return `library-${at}.mjs`
  })
  t.ok(scripts.length >= 7)
  const javaScript = { ...strict, allowJs: true, checkJs: true, noImplicitAny: false }
  t.equal(await typeErrors(installed, [...scripts, 'stubs.d.ts'], javaScript), '', 'the examples in JavaScript')
})

/** A program of a user, with marks at the places where an editor helps. */
const EDITED = `
import { createSandbox } from 'payments-sandbox'
export async function run() {
  const sandbox = await createSandbox()
  const { record } = await sandbox.collections.explain('COL-0001')
  await sandbox.events.next({ to: /*to*/ 'RETURNED' })
  await sandbox.outcomes.arm({ outcome: /*outcome*/ 'RETURNED-AM04' })
  await sandbox.collections.return('COL-0001', { reasonCode: /*reason*/ 'AM04' })
  return record./*amount*/ amount
}
`

t.test('library, In your tests: an editor completes and describes, with no other package behind the types', async t => {
  const { folder, home } = install()
  const file = join(folder, 'edited.ts')
  const options: ts.CompilerOptions = {
    ...NODE_TYPES,
    strict: true,
    module: ts.ModuleKind.CommonJS,
    target: ts.ScriptTarget.ES2022,
    esModuleInterop: false,
    skipLibCheck: false,
    ignoreDeprecations: '6.0',
  }
  const read = (path: string) => (path === file ? EDITED : ts.sys.readFile(path))
  const editor = ts.createLanguageService({
    getCompilationSettings: () => options,
    getCurrentDirectory: () => folder,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    getScriptFileNames: () => [file],
    getScriptVersion: () => '1',
    getScriptSnapshot: path => {
      const text = read(path)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    fileExists: path => path === file || ts.sys.fileExists(path),
    readFile: read,
    directoryExists: ts.sys.directoryExists,
    getDirectories: ts.sys.getDirectories,
    realpath: ts.sys.realpath,
  })
  const program = editor.getProgram() as ts.Program
  const errors = ts.getPreEmitDiagnostics(program)
  t.equal(ts.formatDiagnostics(errors, { ...ts.sys, getCanonicalFileName: name => name, getNewLine: () => '\n' }), '')
  const others = program
    .getSourceFiles()
    .filter(({ fileName }) => !/\/(typescript\/lib|@types\/node|undici-types)\//.test(fileName))
  const places = new Set(others.map(({ fileName }) => relative(home, dirname(fileName))))
  t.same([...places].sort(), ['../..', 'dist/commonjs/client', 'dist/commonjs/sandbox/faults'])

  const placeOf = (mark: string) => EDITED.indexOf(`/*${mark}*/`) + `/*${mark}*/ '`.length
  const completions = (mark: string) =>
    editor.getCompletionsAtPosition(file, placeOf(mark), {})?.entries.map(({ name }) => name) ?? []
  t.ok(['RETURNED', 'CLAIMED', 'PARTIALLY_PAID'].every(state => completions('to').includes(state)))
  t.ok(['RETURNED-AM04', 'STUCK-PROCESSING'].every(outcome => completions('outcome').includes(outcome)))
  t.ok(['AM04', 'MD01'].every(code => completions('reason').includes(code)))
  const hover = editor.getQuickInfoAtPosition(file, placeOf('amount'))
  t.match(
    ts.displayPartsToString(hover?.documentation) + JSON.stringify(hover?.tags),
    /The amount: a string on purpose/,
  )
})
