// How esbuild makes JavaScript of TypeScript. It checks no types: `npm run typecheck` does.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** The options of all outputs. The settings of JSX are those of tsconfig.json. */
export const options = { format: 'esm', platform: 'node', target: 'node20' }

/** Returns the paths of all files in a folder and its subfolders. */
export const filesIn = folder =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile())
    .map(entry => resolve(entry.parentPath ?? entry.path, entry.name))

/** Returns the sources in a folder and its subfolders. */
export const sourcesIn = folder => filesIn(folder).filter(path => /\.tsx?$/.test(path))

/** Whether a source is one of the server and the library. Those of the console are only in its bundle. */
export const isOfServer = path => !path.startsWith(resolve('src/console'))

/** The scripts and style sheets that browsers load: one file each, with all that it imports. The server reads them by their name. */
export const scripts = {
  ...options,
  platform: 'browser',
  target: 'es2022',
  bundle: true,
  entryPoints: [
    { in: 'src/areas/payout-links/pay/browser/page.ts', out: 'page' },
    { in: 'src/areas/payout-links/pay/browser/sdk.ts', out: 'sdk' },
    { in: 'src/areas/payout-links/pay/views/page.css', out: 'page' },
    { in: 'src/http/pages/refusal.css', out: 'refusal' },
  ],
  outdir: 'dist/assets',
  sourcemap: true,
  metafile: true,
}

/**
 * The command line with the server and all packages but these two: the one has a native module, and the other loads its
 * parts by their name. Parts that only some commands need are files of their own.
 */
export const program = {
  ...options,
  bundle: true,
  splitting: true,
  entryPoints: ['src/cli.ts'],
  outdir: 'dist/bin',
  external: ['libsql', 'pg'],
  // The packages that are CommonJS load the modules of Node by `require`.
  banner: {
    js: `import { createRequire } from 'node:module'\nconst require = createRequire(import.meta.url)`,
  },
  // A smaller file is compiled faster. Names stay, so that the lines of an error can be read.
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: 'none',
  sourcemap: true,
  metafile: true,
}

/** Writes the licences of the packages that outputs contain. */
export function writeLicenses(path, metafiles) {
  const inputs = metafiles.flatMap(({ outputs }) => Object.values(outputs).flatMap(({ inputs }) => Object.keys(inputs)))
  const folders = inputs.flatMap(input => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input) ?? [])
  const texts = [...new Set(folders)].sort().map(folder => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const file = readdirSync(folder).find(entry => /^licen[cs]e/i.test(entry))
    const text = file === undefined ? '' : `\n${readFileSync(join(folder, file), 'utf8').trim()}\n`
    return `${name} ${version}\nLicense: ${license}\n${text}`
  })
  writeFileSync(path, `The packages that the files of this folder contain.\n\n${texts.join(`\n${'-'.repeat(80)}\n\n`)}`)
}
