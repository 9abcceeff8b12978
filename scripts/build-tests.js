// Transpiles the sources and the tests to build/, one output per file, and bundles the program to build/bin/.
// Unchanged outputs are not written again, so tests that run meanwhile are not disturbed.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { build } from 'esbuild'
import { filesIn, options, program, scripts, sourcesIn } from './esbuild.js'

const OUTPUT = 'build'

const { outputFiles } = await build({
  ...options,
  entryPoints: [...sourcesIn('src'), ...sourcesIn('test')],
  outdir: OUTPUT,
  outbase: '.',
  sourcemap: true,
  write: false,
})
// Tests start the program as it ships: its bundle needs half the processor time.
const { outputFiles: bundle } = await build({ ...program, outdir: join(OUTPUT, 'bin'), write: false, metafile: false })

const importsOf = paths => paths.map(path => `import '${path}'\n`).join('')

const folders = readdirSync('test', { withFileTypes: true })
  // A server of a database is a process of its own, and so is each test of databases.
  .filter(entry => entry.isDirectory() && entry.name !== 'databases')
  .map(({ name }) => name)

/** The tests of a folder can run in one process: loading the server takes most of the time of a small file. */
const indexes = folders.map(folder => ({
  path: resolve(OUTPUT, 'test', folder, 'index.test.js'),
  text: importsOf(
    readdirSync(`test/${folder}`)
      .filter(file => file.endsWith('.test.ts'))
      .map(file => `./${file.replace(/ts$/, 'js')}`),
  ),
}))

/**
 * The folders of each process of `npm test`, in the order in which two run at a time and end at about the same time. Node
 * compiles and optimizes the server once for folders that share a process, which takes more than a quarter of their
 * processor time away. Tests of the others change their process, or mostly wait.
 */
const ordered = [
  ['sandbox', 'tenants', 'http', 'persistence'],
  ['console', 'docs', 'areas', 'core', 'commands'],
  ['library', 'replay'],
  ['program'],
]
/** These need more than Node, and have commands of their own. */
const special = ['browser', 'package']
const alone = folders.filter(folder => ![...ordered.flat(), ...special].includes(folder))

const groups = [...ordered, ...alone.map(folder => [folder])].map((group, at) => ({
  path: resolve(OUTPUT, 'test', 'groups', `${at}-${group.join('-')}.test.js`),
  text: importsOf(group.map(folder => `../${folder}/index.test.js`)),
}))

const files = [...outputFiles, ...bundle, ...indexes, ...groups]
for (const { path, text } of files) {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

const written = new Set(files.map(({ path }) => path))
for (const path of filesIn(OUTPUT)) if (!written.has(path)) rmSync(path)

// The files that the server reads.
await import('./guide.js')
await build(scripts)
if (!existsSync('dist/assets/scalar.js')) await import('./api-reference.js')
