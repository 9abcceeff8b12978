import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Coverage } from '../../src/client/index.js'
import { uncheckedProgram } from '../program.js'
import { api, create } from './helper.js'

const rowOf = ({ operations }: Coverage, operation: string) =>
  operations.find(row => row.operation === operation) as Coverage['operations'][number]

t.test('library, In your tests: coverage of the own client, of several, and of all', async t => {
  const sandbox = await create(t)
  const [one, two] = [await sandbox.fork('one'), await sandbox.fork('two')]
  for (const fork of [one, two]) await api(fork, 'GET', '/mandates')
  const requests = (coverage: Coverage) => [coverage.clients.join(), rowOf(coverage, 'GET /api/v1/mandates').requests]
  t.same(requests(await one.coverage()), ['one', 1])
  t.same(requests(await sandbox.coverage({ clients: ['one', 'two'] })), ['one,two', 2])
  t.same(requests(await sandbox.coverage({ clients: 'all' })), ['one,two', 2])
  await one.close()
  t.same(requests(await sandbox.coverage()), ['app', 2], 'forks count, also after they are closed')
})

/** Returns the module of docs/library.md that begins with a comment of its name. */
function moduleOf(name: string): string {
  const library = new URL('../../src/client/index.js', import.meta.url).href
  const blocks = [...readFileSync('docs/library.md', 'utf8').matchAll(/^```js\n(.*?)^```$/gms)].map(
    ([, block]) => block as string,
  )
  const module = blocks.find(block => block.startsWith(`// ${name}`))
  if (module === undefined) throw new Error(`docs/library.md has no ${name}`)
  return module.replace("'payments-sandbox'", JSON.stringify(library))
}

/** The calls of the test files of a suite. */
const SUITE = ["get('/mandates')", "get('/mandates/MND-9999')"]
const GET = `const get = async path => fetch(\`\${sandbox.url}/api/v1\${path}\`, {
  headers: { authorization: \`Bearer \${await sandbox.token()}\`, 'x-region': 'EU' },
})`

t.test('library, In your tests: a suite of two test files, each with a sandbox of its own', async t => {
  const folder = t.testdir()
  writeFileSync(join(folder, 'coverage.mjs'), moduleOf('coverage.mjs'))
  for (const [at, call] of SUITE.entries()) {
    const lines = ["import { test } from 'node:test'", "import { sandbox } from './coverage.mjs'", GET]
    writeFileSync(join(folder, `${at}.test.mjs`), [...lines, `test('calls', () => ${call})`].join('\n'))
  }
  const [command, ...options] = uncheckedProgram.command
  const args = [...options, '--test', ...SUITE.map((_, at) => `${at}.test.mjs`)]
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: folder,
    env: uncheckedProgram.environment,
    encoding: 'utf8',
    timeout: 60_000,
  })
  t.equal(status, 0, `${stdout}${stderr}`)
  const reports = readdirSync(folder).filter(name => name.endsWith('.json'))
  t.equal(reports.length, SUITE.length)
  for (const name of reports) {
    const { summary } = JSON.parse(readFileSync(join(folder, name), 'utf8')) as Coverage
    t.equal(summary.operations.met, 2)
  }
})
