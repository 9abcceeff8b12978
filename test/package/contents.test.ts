import { readdirSync, readFileSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { join } from 'node:path'
import t from 'tap'
import { install } from './install.js'

/** Bundles: they hold texts that look like imports. */
const BUNDLES = /^(assets|bin)\//

const manifest = () => JSON.parse(readFileSync(join(install().home, 'package.json'), 'utf8'))

t.test('CONTRIBUTING, Dependencies: each import of the package is a dependency', async t => {
  const { home } = install()
  const files = readdirSync(join(home, 'dist'), { recursive: true, encoding: 'utf8' }).filter(
    file => /\.(js|d\.ts)$/.test(file) && !BUNDLES.test(file),
  )
  const imported = new Set<string>()
  for (const file of files) {
    const text = readFileSync(join(home, 'dist', file), 'utf8')
    for (const [, name = ''] of text.matchAll(/(?:from |import\(|import )['"]((?:@[\w-]+\/)?[a-z][\w-]*)/g)) {
      if (!isBuiltin(name) && !name.startsWith('node')) imported.add(name)
    }
  }
  t.ok(imported.has('fastify'))
  const { dependencies } = manifest()
  const wrong = [...imported].filter(name => !Object.hasOwn(dependencies, name))
  t.same(wrong, [])
})

t.test('start, Start it: the package has only files that it needs, and its installation runs no script', async t => {
  const { home } = install()
  const kinds = readdirSync(home, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(({ parentPath, name }) => {
      const path = join(parentPath, name).slice(home.length + 1)
      return path.replace(/[\w.-]+?((?:\.d)?\.[a-z]+)$/, '*$1').replace(/^dist\/.*\//, 'dist/')
    })
  t.same([...new Set(kinds)].sort(), [
    '*.json',
    '*.md',
    'LICENSE',
    'dist/*.css',
    'dist/*.d.ts',
    'dist/*.html',
    'dist/*.js',
    'dist/*.json',
    'dist/*.txt',
    'docs/*.md',
    'fixtures/*.json',
    'fixtures/scenarios/*.yaml',
    'migrations/*.sql',
    'openapi/*.json',
    'openapi/*.yaml',
    'skills/payments-sandbox/*.md',
  ])
  t.notOk(Object.keys(manifest().scripts).some(name => /^((pre|post)?install|prepare)$/.test(name)))
})

t.test('CONTRIBUTING, Dependencies: the package has the licence of each package that is in a bundle', async t => {
  const licenses = readFileSync(join(install().home, 'dist/licenses.txt'), 'utf8')
  const apart = ['libsql', 'pg', '@fastify/type-provider-typebox']
  const bundled = Object.keys(manifest().dependencies).filter(name => !apart.includes(name))
  const listed = [...licenses.matchAll(/^(\S+) \d+\.\d+\.\d+\nLicense: \S/gm)].map(([, name]) => name)
  t.same(
    bundled.filter(name => !listed.includes(name)),
    [],
  )
  t.match(licenses, /^fastify 5.*\nLicense: MIT\n\nMIT License\n/m)
})

t.test('start, Start it: the command and the manifest have one version', async t => {
  const { home, bin, run } = install()
  const { bin: commands, version } = manifest()
  t.match(readFileSync(join(home, commands['payments-sandbox']), 'utf8'), /^#!\/usr\/bin\/env node\n/)
  t.match(version, /^\d+\.\d+\.\d+$/)
  t.equal((await bin(['--version'])).stdout, `${version}\n`)
  const script = "console.log(require('payments-sandbox/package.json').version)"
  t.equal((await run('node', ['-e', script])).stdout, `${version}\n`, 'the manifest can be imported')
})

t.test('README, The guide: the server of the package has the guide and the skill', async t => {
  const { url } = await install().start(t)
  for (const path of ['/docs/guide', '/docs/guide/errors', '/docs/skill']) {
    t.equal((await fetch(url + path)).status, 200, path)
  }
})
