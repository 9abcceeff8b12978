/**
 * Bundles the server and the library into dist/: a start that reads a dozen files is several times quicker than one that
 * reads the thousand small files of node_modules. What few requests need stays in chunks of its own, loaded when needed.
 * All of them lie side by side, since `package.ts` looks for the manifest and the fixtures one folder above.
 *
 * --watch: rebuilds and restarts on every change.
 */
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { context } from 'esbuild'

const OUT = 'dist'

/** @type {import('esbuild').BuildOptions} */
const options = {
  entryPoints: { main: 'src/main.ts', library: 'src/library/index.ts' },
  outdir: OUT,
  bundle: true,
  splitting: true,
  platform: 'node',
  target: 'node20',
  format: 'esm',
  sourcemap: false,
  minifySyntax: true,
  minifyWhitespace: true,
  metafile: true,
  legalComments: 'none',
  // Bundled CommonJS packages call require for what Node brings along.
  banner: {
    js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
  },
  logLevel: 'warning',
}

/** Where a package offers a choice, it is used under MIT. One that ships no text names its licence in its manifest. */
function licenceText(folder) {
  const files = readdirSync(folder).filter(entry => /^licen[cs]e/i.test(entry))
  const file = files.find(entry => /mit/i.test(entry)) ?? files[0]
  if (file !== undefined) return readFileSync(`${folder}/${file}`, 'utf8').trim()
  const { author, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))
  return `Copyright ${author?.name ?? author}, licensed under ${license} as its manifest says.`
}

/** The packages whose code is in the bundle, with their licences, which must go along. */
function licences(metafile) {
  const packages = new Set()
  for (const input of Object.keys(metafile.inputs)) {
    const name = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[0]
    if (name) packages.add(name)
  }
  return [...packages]
    .sort()
    .map(folder => {
      const { name, version, license } = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'))
      return `${name} ${version} (${license})\n\n${licenceText(folder)}\n`
    })
    .join(`\n${'-'.repeat(80)}\n\n`)
}

/** The files of the library that its users see by type. */
const DECLARED = ['index', 'types', 'errors']

/**
 * Their declarations, file by file and without a type check, which would take longer than all else: they import nothing
 * from outside, and name their types themselves. Answers what is wrong with them.
 */
async function declare() {
  const { default: ts } = await import('typescript')
  const compilerOptions = {
    target: ts.ScriptTarget.ES2023,
    module: ts.ModuleKind.NodeNext,
    strict: true,
    declaration: true,
    isolatedDeclarations: true,
    verbatimModuleSyntax: true,
  }
  mkdirSync(`${OUT}/types`, { recursive: true })
  return DECLARED.flatMap(name => {
    const fileName = `src/library/${name}.ts`
    const { outputText, diagnostics } = ts.transpileDeclaration(readFileSync(fileName, 'utf8'), {
      fileName,
      reportDiagnostics: true,
      compilerOptions,
    })
    writeFileSync(`${OUT}/types/${name}.d.ts`, outputText)
    return diagnostics.map(({ messageText }) => ({
      text: `${fileName}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`,
    }))
  })
}

let server
function restart() {
  server?.kill()
  server = spawn(process.execPath, [`${OUT}/main.js`], { stdio: 'inherit' })
}

const watch = process.argv.includes('--watch')
if (existsSync(OUT)) rmSync(OUT, { recursive: true })

const build = await context({
  ...options,
  plugins: [
    {
      name: 'package',
      setup({ onStart, onEnd }) {
        let declared
        onStart(() => {
          // While the bundler is at work, which is a process of its own.
          declared = declare()
        })
        onEnd(async ({ errors, metafile }) => {
          const wrong = await declared
          if (errors.length > 0) return undefined
          writeFileSync(`${OUT}/THIRD-PARTY-LICENSES.txt`, licences(metafile))
          if (watch) restart()
          return { errors: wrong }
        })
      },
    },
  ],
})

if (watch) {
  await build.watch()
} else {
  await build.rebuild()
  await build.dispose()
}
