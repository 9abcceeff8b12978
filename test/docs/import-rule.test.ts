import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import t from 'tap'

// `npm run lint` applies the import rule to src. Each file here breaks one part of it, and one breaks none.
t.test('ARCHITECTURE, Layout: it refuses each wrong import, and no right one', async t => {
  const folder = t.testdir({
    'tsconfig.json': '{}',
    src: {
      core: {
        'right.ts': "import 'node:crypto'\nimport 'ibantools'",
        'type.ts': "import type { A } from '../areas/bills/store.js'",
        'dynamic.ts': "const a = () => import('../server.js')",
        'package.ts': "import 'fastify'",
        'circle.ts': "import './circle-2.js'",
        'circle-2.ts': "import type { A } from './circle.js'",
      },
      areas: {
        bills: { 'store.ts': "import '../../core/right.js'", 'other.ts': "import '../oauth/files.js'" },
        oauth: { 'files.ts': "import 'node:fs/promises'" },
      },
      sandbox: { faults: { 'state.ts': "import './errors.js'", 'errors.ts': '' } },
      console: { 'main.tsx': "import '../core/right.js'" },
      stray: { 'file.ts': "import '../core/right.js'" },
      'server.ts': "import './core/right.js'\nimport './console/main.js'",
    },
  })
  const program = resolve('node_modules/dependency-cruiser/bin/dependency-cruise.mjs')
  const args = [program, 'src', '--config', resolve('.dependency-cruiser.js'), '--no-progress']
  const { stdout } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  t.same([...stdout.matchAll(/error (\S+): src\/(\S+)/g)].map(([, rule, path]) => `${path} ${rule}`).sort(), [
    'areas/bills/other.ts no-other-area',
    'areas/oauth/files.ts deterministic-layers-read-no-files-or-timers',
    'console/main.tsx console-imports-types-only',
    'core/circle-2.ts no-circles',
    'core/dynamic.ts not-in-allowed',
    'core/package.ts core-imports-few-packages',
    'core/type.ts not-in-allowed',
    'sandbox/faults/state.ts not-in-allowed',
    'server.ts no-browser-modules-in-the-server',
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
