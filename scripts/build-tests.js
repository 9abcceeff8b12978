// Transpiles the sources and the tests to build/, one output per file.
// Unchanged outputs are not written again, so tests that run meanwhile are not disturbed.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import { build } from 'esbuild'
import { filesIn, options, sourcesIn } from './transpile.js'

const OUTPUT = 'build'

const { outputFiles } = await build({
  ...options,
  entryPoints: [...sourcesIn('src'), ...sourcesIn('test')],
  outdir: OUTPUT,
  outbase: '.',
  sourcemap: true,
  write: false,
})

/** The tests of a folder run in one process: loading the server takes most of the time of a small file. */
const indexes = readdirSync('test', { withFileTypes: true })
  // A server of a database is a process of its own, and so is each test of databases.
  .filter(entry => entry.isDirectory() && entry.name !== 'databases')
  .map(({ name: folder }) => ({
    path: resolve(OUTPUT, 'test', folder, 'index.test.js'),
    text: readdirSync(`test/${folder}`)
      .filter(file => file.endsWith('.test.ts'))
      .map(file => `import './${file.replace(/ts$/, 'js')}'\n`)
      .join(''),
  }))

const files = [...outputFiles, ...indexes]
for (const { path, text } of files) {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) continue
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

const written = new Set(files.map(({ path }) => path))
for (const path of filesIn(OUTPUT)) if (!written.has(path)) rmSync(path)

// The pages of the guide.
await import('./guide.js')
// The page /docs loads this file of the build.
if (!existsSync('dist/openapi/scalar.js')) await import('./api-reference.js')
