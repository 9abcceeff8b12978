import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Coverage } from '../../src/client/index.js'
import { writeCoverage } from '../../src/client/index.js'
import { program } from '../program.js'
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

t.test('library, In your tests: writeCoverage writes a page without links to a server, and JSON', async t => {
  const folder = join(t.testdir(), 'new', 'folder')
  const sandbox = await create(t)
  await api(sandbox, 'GET', '/mandates')
  const coverage = await sandbox.coverage()
  for (const _ of [1, 2]) await writeCoverage(coverage, folder)
  t.same(readdirSync(folder).sort(), ['coverage.html', 'coverage.json'])
  t.same(JSON.parse(readFileSync(join(folder, 'coverage.json'), 'utf8')), coverage)
  const page = readFileSync(join(folder, 'coverage.html'), 'utf8')
  t.match(page, /^<!doctype html>.*Coverage of app/s)
  t.same(
    [...page.matchAll(/ (?:href|src|action)="(data:|[^"]*)/g)].map(([, link]) => link),
    ['data:', '#help'],
  )
  await t.rejects(writeCoverage(JSON.stringify(coverage) as unknown as Coverage, folder), { name: 'TypeError' })
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
  const [command, ...options] = program.command
  const args = [...options, '--test', ...SUITE.map((_, at) => `${at}.test.mjs`)]
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: folder,
    env: program.environment,
    encoding: 'utf8',
    timeout: 60_000,
  })
  t.equal(status, 0, `${stdout}${stderr}`)
  const reports = readdirSync(join(folder, 'coverage')).map(name => join(folder, 'coverage', name))
  t.equal(reports.length, SUITE.length)
  for (const report of reports) {
    t.same(readdirSync(report).sort(), ['coverage.html', 'coverage.json'])
    const { summary } = JSON.parse(readFileSync(join(report, 'coverage.json'), 'utf8')) as Coverage
    t.equal(summary.operations.met, 2)
  }
})
