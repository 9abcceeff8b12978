// Adds the declarations of types to dist/, and the library as CommonJS, for runners and compilers that cannot load ES modules,
// such as Jest by default. Usage: npm run dist, after the build and the type check, which writes the declarations.
import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build } from 'esbuild'
import { options } from './esbuild.js'

const FOLDER = 'dist/commonjs'
/** The output of `npm run typecheck` (tsconfig.json). */
const TYPES = 'node_modules/.cache/types/src'
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

// The declarations of the entry points, and all that they import. TypeScript reads the same ones as CommonJS, by the type of
// their folder.
const declarations = new Set(['client/index.d.ts', 'areas/payout-links/pay/browser/sdk.d.ts'])
for (const file of declarations) {
  const text = readFileSync(join(TYPES, file), 'utf8')
  for (const [, path] of text.matchAll(/['"](\.[^'"]+)\.js['"]/g)) declarations.add(join(dirname(file), `${path}.d.ts`))
  for (const folder of ['dist', FOLDER]) cpSync(join(TYPES, file), join(folder, file))
}
writeFileSync(`${FOLDER}/package.json`, '{ "type": "commonjs" }\n')
