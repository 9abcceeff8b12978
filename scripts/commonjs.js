// Adds the library as CommonJS to dist/, for runners and compilers that cannot load ES modules, such as Jest by default.
// Usage: npm run dist, after the build and the declarations.
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { build } from 'esbuild'
import { filesIn, options } from './esbuild.js'

const FOLDER = 'dist/commonjs'
/** Packages that Jest finds as ES modules only. The others are loaded from node_modules. */
const BUNDLED = ['leven', 'preact', 'preact-render-to-string', 'tinyqueue']
const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'))

await build({
  ...options,
  format: 'cjs',
  bundle: true,
  entryPoints: ['src/client/index.ts'],
  outfile: `${FOLDER}/client/index.js`,
  external: Object.keys(dependencies).filter(name => !BUNDLED.includes(name)),
  supported: { 'dynamic-import': false },
  define: { 'import.meta.resolve': 'resolveModule' },
  banner: {
    js: [
      `const { pathToFileURL } = require('node:url')`,
      `const resolveModule = name => pathToFileURL(require.resolve(name)).href`,
    ].join('\n'),
  },
})

// TypeScript reads the same declarations as CommonJS, by the type of their folder.
for (const path of filesIn('dist')) {
  const place = relative('dist', path)
  if (place.endsWith('.d.ts') && !place.startsWith('commonjs')) cpSync(path, join(FOLDER, place))
}
writeFileSync(`${FOLDER}/package.json`, '{ "type": "commonjs" }\n')
