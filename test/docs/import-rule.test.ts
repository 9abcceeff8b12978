import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'

// `npm run lint` applies the import rule to src.
t.test('ARCHITECTURE, Layout: it refuses each wrong import, and no right one', async t => {
  const folder = t.testdir({
    'tsconfig.json': '{}',
    src: {
      core: {
        'up.ts': "import '../http/context.js'",
        'type.ts': "import type { A } from '../areas/bills/store.js'",
        'dynamic.ts': "const a = () => import('../server.js')",
        'type-of.ts': "type A = typeof import('../server.js')",
        'export.ts': "export * from '../server.js'",
        'package.ts': "import 'fastify'",
        'packages.ts': "import 'node:crypto'\nimport 'ibantools'",
        'circle.ts': "import './circle-2.js'",
        'circle-2.ts': "import type { A } from './circle.js'",
      },
      http: { 'context.ts': "import 'fastify'\nimport '../core/packages.js'\nimport '../bounds.js'" },
      areas: {
        bills: { 'store.ts': "import '../../core/packages.js'", 'other.ts': "import '../oauth/tokens.js'" },
        'index.ts': "import './bills/store.js'",
        accounts: { 'store.ts': "import '../index.js'" },
        oauth: { 'tokens.ts': "import 'node:crypto'", 'files.ts': "import 'node:fs/promises'" },
        'payout-links': { pay: { browser: { 'page.ts': '' }, views: { 'page.tsx': "import '../browser/page.js'" } } },
      },
      sandbox: {
        faults: {
          'state.ts': "import '../../areas/index.js'\nimport '../../areas/bills/store.js'\nimport './errors.js'",
          'errors.ts': '',
          'schemas.ts': "import '../../tenants/tenant.js'",
          'routes.ts': "import '../../storage/storage.js'\nimport '../events/read.js'",
        },
        events: { 'read.ts': '', 'routes.ts': "import '../../console/page.js'" },
        'index.ts': "import './events/read.js'",
      },
      tenants: { 'tenant.ts': "import '../sandbox/faults/state.js'", 'fixtures.ts': "import 'node:fs'" },
      storage: { 'storage.ts': "import '../tenants/tenant.js'", 'memory.ts': "import '../sandbox/index.js'" },
      console: {
        'page.ts': "import '../sandbox/index.js'",
        'view.tsx': "import './browser/console.js'",
        browser: { 'console.ts': "import '../page.js'" },
      },
      stray: { 'file.ts': "import '../core/packages.js'" },
      'bounds.ts': '',
      'server.ts': "import './sandbox/index.js'\nimport './areas/payout-links/pay/browser/page.js'",
    },
  })
  const program = resolve('node_modules/dependency-cruiser/bin/dependency-cruise.mjs')
  const args = [program, 'src', '--config', resolve('.dependency-cruiser.js'), '--no-progress']
  const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  t.same([...stdout.matchAll(/error (\S+): src\/(\S+)/g)].map(([, rule, path]) => `${path} ${rule}`).sort(), [
    'areas/accounts/store.ts not-in-allowed',
    'areas/bills/other.ts no-other-area',
    'areas/oauth/files.ts deterministic-layers-read-no-files-or-timers',
    'areas/payout-links/pay/views/page.tsx no-browser-modules-in-the-server',
    'console/view.tsx no-browser-modules-in-the-server',
    'core/circle-2.ts no-circles',
    'core/dynamic.ts not-in-allowed',
    'core/export.ts not-in-allowed',
    'core/package.ts core-imports-few-packages',
    'core/type-of.ts not-in-allowed',
    'core/type.ts not-in-allowed',
    'core/up.ts not-in-allowed',
    'sandbox/events/routes.ts not-in-allowed',
    'sandbox/faults/schemas.ts not-in-allowed',
    'sandbox/faults/state.ts not-in-allowed',
    'server.ts no-browser-modules-in-the-server',
    'storage/memory.ts not-in-allowed',
    'stray/file.ts not-in-allowed',
  ])
})

const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(file => /\.tsx?$/.test(file))

/** Lists the places of files below src that match a pattern outside of comments, such as `core/ids.ts: await`. */
const found = (pattern: RegExp, among: readonly string[]) =>
  among.flatMap(file => matchesOf(pattern, readFileSync(join('src', file), 'utf8')).map(text => `${file}: ${text}`))

const matchesOf = (pattern: RegExp, source: string) =>
  source.replace(/\/\*.*?\*\/|(?<=^|\s)\/\/.*?$/gms, '').match(pattern) ?? []

const IMPURE =
  /\bDate\.now\b|\bMath\.random\b|\bnew Date\b(?!\([^)])|(?<!new )\bDate\(|\basync\b|\bawait\b|\b(?:getRandomValues|random(?:Bytes|Int|UUID|Fill\w*)|webcrypto)\b/g

// Biome refuses the global names: biome.json, noRestrictedGlobals.
t.test('ARCHITECTURE, Layout: core, areas and tenants read no real time or chance, and do not wait', async t => {
  const isDeterministic = (file: string) =>
    /^(?:core|areas|tenants)\//.test(file) && !/\/browser\/|^tenants\/(?:check-)?fixtures?\.ts$/.test(file)
  const deterministic = files.filter(isDeterministic)
  t.ok(deterministic.length > 60, `${deterministic.length} files`)
  t.same(found(IMPURE, deterministic), [])
})

t.test('ARCHITECTURE, Layout: the check for time and waiting reads code, and no comments', async t => {
  for (const [source, matches] of [
    ['const now = Date.now', ['Date.now']],
    ['new Date()', ['new Date']],
    ['new Date', ['new Date']],
    ['Date()', ['Date(']],
    ['Math.random()', ['Math.random']],
    ['const f = async () => await g()', ['async', 'await']],
    ['for await (const a of b) {}', ['await']],
    ["import { randomUUID } from 'node:crypto'", ['randomUUID']],
    ['new Date(0); Date.parse(a)', []],
    ['// await\n/* Date.now() */', []],
  ] as const) {
    t.same(matchesOf(IMPURE, source), matches, source)
  }
})

t.test('ARCHITECTURE, Layout: Biome refuses timers, promises and the process in core, areas and tenants', async t => {
  const wrong = 'setTimeout(f, 1)\nfetch(process.title)\nexport const a: Promise<1> = b.then\n'
  const folder = t.testdir({
    'biome.json': readFileSync('biome.json', 'utf8'),
    src: { core: { 'a.ts': wrong }, areas: { bills: { 'a.ts': wrong } }, http: { 'a.ts': wrong } },
  })
  const { stdout } = spawnSync(resolve('node_modules/.bin/biome'), ['lint', '--reporter=github'], {
    cwd: folder,
    encoding: 'utf8',
  })
  const refused = stdout.matchAll(/file=\S*?(src\/\S+?),\S*Do not use the global variable (\w+)/g)
  t.same(
    [...refused].map(([, path, name]) => `${path} ${name}`),
    ['src/areas/bills/a.ts', 'src/core/a.ts'].flatMap(path =>
      ['setTimeout', 'fetch', 'process', 'Promise'].map(name => `${path} ${name}`),
    ),
  )
})

t.test('ARCHITECTURE, Layout: config.ts alone reads the environment of the server; cli.ts passes it on', async t => {
  t.same(
    found(/\benv\b/g, files),
    ['cli.ts: env', 'cli.ts: env', 'client/evidence.ts: env'],
    'and the library a folder',
  )
})
