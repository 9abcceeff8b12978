/** Runs the same test of a user by each runner of tests, in a new project without settings. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fileURLToPath } from 'node:url'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const ROOT = join(HERE, '..')

/** The folder of all projects. It has the packed sandbox, whose dependencies and runners are in the folders above. */
let folder
before(() => {
  folder = mkdtempSync(join(HERE, 'runners-'))
  const home = join(folder, 'node_modules/payments-sandbox')
  mkdirSync(home, { recursive: true })
  const npm = ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder]
  const tarball = execFileSync('npm', npm, { cwd: ROOT, encoding: 'utf8' }).trim()
  execFileSync('tar', ['-xzf', join(folder, tarball), '-C', home, '--strip-components=1'])
})
after(() => rmSync(folder, { recursive: true }))

const STEPS = `
    const sandbox = await createSandbox({ fixture: 'demo' })
    const authorization = 'Bearer ' + (await sandbox.token())
    const answer = await fetch(sandbox.url + '/api/v1/mandates', { headers: { authorization, 'x-region': 'EU' } })
    const { totalCount } = await answer.json()
    await sandbox.close()
    console.log('There are ' + totalCount + ' mandates.')`
const REQUIRE = `const { createSandbox } = require('payments-sandbox')`
const IMPORT = `import { createSandbox } from 'payments-sandbox'`
const testOf = (...lines) => `${lines.join('\n')}\ntest('lists the mandates', async () => {${STEPS}\n})\n`
const typed = { compilerOptions: { module: 'node16', moduleResolution: 'node16', strict: true, skipLibCheck: true } }

/** A busy machine can take longer than the defaults of 2 and 5 seconds. */
const PATIENT = ['--testTimeout=20000']

/** The projects: the files of each, and its command. */
const projects = {
  'Jest, require': { 'a.test.js': testOf(REQUIRE), command: ['jest', ...PATIENT] },
  'Jest, ts-jest': {
    'a.test.ts': testOf(IMPORT),
    'tsconfig.json': JSON.stringify({ compilerOptions: { ...typed.compilerOptions, types: ['jest'] } }),
    'jest.config.js': `module.exports = { preset: 'ts-jest' }`,
    command: ['jest', ...PATIENT],
  },
  Vitest: {
    'a.test.js': testOf(`import { test } from 'vitest'`, IMPORT),
    // Without one, Vitest finds that of the folder above.
    'vitest.config.js': 'export default {}',
    command: ['vitest', 'run', ...PATIENT],
  },
  'node:test, require': { 'a.test.cjs': testOf(`const { test } = require('node:test')`, REQUIRE), command: ['--test'] },
  'node:test, import': { 'a.test.mjs': testOf(`import { test } from 'node:test'`, IMPORT), command: ['--test'] },
  'Mocha, require': {
    'test/a.cjs': testOf('const test = it', REQUIRE),
    command: ['mocha', '--timeout', '20000', 'test/a.cjs'],
  },
  'Mocha, import': {
    'test/a.mjs': testOf('const test = it', IMPORT),
    command: ['mocha', '--timeout', '20000', 'test/a.mjs'],
  },
  'tap, require': { 'a.test.cjs': testOf(`const { test } = require('tap')`, REQUIRE), command: ['a.test.cjs'] },
  'TypeScript, CommonJS': {
    'a.cts': `${IMPORT}\nexport const open = async (): Promise<string> => (await createSandbox()).url\n`,
    'tsconfig.json': JSON.stringify({ ...typed, files: ['a.cts'] }),
    command: ['tsc', '--noEmit'],
  },
}

/** Runs the command of a new project. */
function run(name, { command, ...files }, variables = {}) {
  const project = join(folder, name.replaceAll(/\W+/g, '-'))
  for (const [path, text] of Object.entries({ 'package.json': '{}', ...files })) {
    mkdirSync(join(project, path, '..'), { recursive: true })
    writeFileSync(join(project, path), text)
  }
  const [tool, ...rest] = command
  const found = [HERE, ROOT].map(at => join(at, 'node_modules/.bin', tool)).find(path => existsSync(path))
  const { NODE_TEST_CONTEXT, ...env } = process.env
  const options = { cwd: project, encoding: 'utf8', env: { ...env, ...variables } }
  const { status, stdout, stderr } = spawnSync(process.execPath, [found ?? tool, ...rest], options)
  return { status, output: stdout + stderr, project }
}

for (const [name, project] of Object.entries(projects)) {
  test(name, () => {
    const { status, output } = run(name, project)
    assert.equal(status, 0, output)
    if (project.command[0] !== 'tsc') assert.match(output, /There are 17 mandates\./)
  })
}

/** The lines of docs/library.md that leave evidence after a failed test. */
const hookOf = begin =>
  new RegExp(`^\`\`\`js\n(${begin}.*?)^\`\`\`$`, 'ms').exec(readFileSync(join(ROOT, 'docs/library.md'), 'utf8'))[1]
const SANDBOX = `let sandbox
  beforeAll(async () => { sandbox = await createSandbox() })
  afterAll(() => sandbox.close())`
const failing = {
  'Jest, evidence': {
    'a.test.js': [
      REQUIRE,
      SANDBOX,
      hookOf('const evident'),
      `test('fails', evident(async () => expect(1).toBe(2)))`,
    ].join('\n'),
    command: ['jest', ...PATIENT],
  },
  'Vitest, evidence': {
    'a.test.js': [
      `import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'`,
      ...[IMPORT, SANDBOX, hookOf('afterEach\\(async \\(\\{ task'), `test('fails', () => expect(1).toBe(2))`],
    ].join('\n'),
    'vitest.config.js': 'export default {}',
    command: ['vitest', 'run', ...PATIENT],
  },
}
for (const [name, project] of Object.entries(failing)) {
  test(name, () => {
    const { status, output, project: place } = run(name, project, { SANDBOX_EVIDENCE: 'evidence' })
    assert.equal(status, 1, output)
    assert.equal(readdirSync(join(place, 'evidence')).length, 1)
  })
}
