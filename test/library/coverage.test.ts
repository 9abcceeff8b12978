/** The coverage of several sandboxes, also of several processes. */
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Coverage } from '../../src/client/index.js'
import { mergeCoverage, writeCoverage } from '../../src/client/index.js'
import { program } from '../program.js'
import { api, create, RECORDS } from './helper.js'

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

t.test('library, In your tests: mergeCoverage adds up what several sandboxes have met', async t => {
  const sandboxes = [await create(t), await create(t, { clientId: 'shop' })] as const
  await api(sandboxes[0], 'GET', '/mandates')
  await sandboxes[1].seed(RECORDS)
  await api(sandboxes[1], 'GET', '/mandates')
  await api(sandboxes[1], 'GET', '/mandates/MND-9999')
  const parts = await Promise.all(sandboxes.map(sandbox => sandbox.coverage()))
  const merged = mergeCoverage(parts)
  t.same(merged.clients, ['app', 'shop'])
  t.match(rowOf(merged, 'GET /api/v1/mandates'), {
    requests: 2,
    area: 'Mandates',
    statuses: { met: [200] },
    pages: { met: ['empty', 'first'], missed: ['following'] },
  })
  t.match(rowOf(merged, 'GET /api/v1/mandates/{mandateReference}'), { errorCodes: { met: ['MANDATE_NOT_FOUND'] } })
  t.notOk(rowOf(merged, 'GET /api/v1/mandates/{mandateReference}').errorCodes.missed.includes('MANDATE_NOT_FOUND'))
  t.same(merged.states.find(({ kind }) => kind === 'mandate')?.met, ['ACTIVE'])
  const [first] = parts as [Coverage]
  t.same(merged.summary.operations, { met: 3, of: first.summary.operations.of })
  for (const [name, { of }] of Object.entries(first.summary)) {
    t.equal(merged.summary[name as 'states'].of, of, `${name}: no value counts twice`)
  }
  t.same(mergeCoverage([...parts].reverse()), merged, 'in any order')
  t.same(mergeCoverage([mergeCoverage([first]), parts[1] as Coverage]), merged, 'parts of parts')

  t.throws(() => mergeCoverage([]), { name: 'TypeError', message: /^mergeCoverage: / })
  t.throws(() => mergeCoverage([first, {} as Coverage]), { name: 'TypeError', message: /sandbox\.coverage\(\)/ })
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
  for (const name of ['coverage.mjs', 'merge-coverage.mjs']) writeFileSync(join(folder, name), moduleOf(name))
  for (const [at, call] of SUITE.entries()) {
    const lines = ["import { test } from 'node:test'", "import { sandbox } from './coverage.mjs'", GET]
    writeFileSync(join(folder, `${at}.test.mjs`), [...lines, `test('calls', () => ${call})`].join('\n'))
  }
  const [command, ...options] = program.command
  const run = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(command, [...options, ...args], {
      cwd: folder,
      env: program.environment,
      encoding: 'utf8',
      timeout: 60_000,
    })
    t.equal(status, 0, `${stdout}${stderr}`)
  }
  run('--test', ...SUITE.map((_, at) => `${at}.test.mjs`))
  t.equal(readdirSync(join(folder, 'coverage')).length, 2)
  run('merge-coverage.mjs')
  const merged = JSON.parse(readFileSync(join(folder, 'coverage', 'coverage.json'), 'utf8')) as Coverage
  t.match(rowOf(merged, 'POST /api/v1/oauth/token'), { requests: 2 })
  t.match(merged.summary, { operations: { met: 3 }, errorCodes: { met: 1 } })
  t.ok(existsSync(join(folder, 'coverage', 'coverage.html')))
})
