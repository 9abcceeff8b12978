import { readdirSync, readFileSync } from 'node:fs'
import t from 'tap'
import { VERSION } from '../../src/package.js'

const read = (file: string) => readFileSync(file, 'utf8')
const lock = JSON.parse(read('package-lock.json'))

t.test('CONTRIBUTING, Releases: all have the version of package.json', async t => {
  const { version } = JSON.parse(read('package.json'))
  const [, released] = /^## \[(\d.*?)\]/m.exec(read('CHANGELOG.md')) ?? []
  const places = {
    'the lock file': lock.version,
    'the package in the lock file': lock.packages[''].version,
    'the program': VERSION,
    'openapi/control-plane.json': JSON.parse(read('openapi/control-plane.json')).info.version,
    // Before the first release, there is no such heading.
    'the last release in the changelog': released ?? version,
  }
  t.same(places, Object.fromEntries(Object.keys(places).map(place => [place, version])))
})

t.test('CONTRIBUTING, Releases: no document names the version, which would become stale', async t => {
  const pages = ['README.md', ...readdirSync('docs').map(file => `docs/${file}`)].filter(file => file.endsWith('.md'))
  const wrong = pages.filter(page => /payments-sandbox[-@:]\d/.test(read(page)))
  t.same(wrong, [])
})

/** The platforms of docs/start.md. A Linux has glibc or musl. */
const PLATFORMS = [
  ...['linux-x64-gnu', 'linux-x64-musl', 'linux-arm64-gnu', 'linux-arm64-musl'],
  ...['darwin-x64', 'darwin-arm64', 'win32-x64-msvc'],
]

t.test('start, Start it: the lock file has the native parts of each platform', async t => {
  const { version } = lock.packages['node_modules/libsql']
  for (const platform of PLATFORMS) {
    t.match(
      lock.packages[`node_modules/@libsql/${platform}`],
      { version, optional: true, integrity: /^sha512-/ },
      platform,
    )
  }
})

t.test('start, Start it: the lock file has all optional packages, so that it is for all platforms', async t => {
  const missing = Object.entries<{ optionalDependencies?: object }>(lock.packages).flatMap(([path, entry]) =>
    Object.keys(entry.optionalDependencies ?? {})
      .filter(name => ![`${path}/`, ''].some(at => Object.hasOwn(lock.packages, `${at}node_modules/${name}`)))
      .map(name => `${name} of ${path}`),
  )
  t.same(missing, [])
})
