/**
 * Bundles the server and the library into dist/: a start that reads a dozen files is several times quicker than one that
 * reads the thousand small files of node_modules. What few requests need stays in chunks of its own, loaded when needed.
 * All of them lie side by side, since `package.ts` looks for the manifest and the fixtures one folder above.
 *
 * They are CommonJS: on Node 24, even a bare server is ready some 25 ms sooner than as an ES module.
 * Whoever imports the package finds the same names.
 *
 * --watch: rebuilds and restarts on every change.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { context, transform } from 'esbuild'

const OUT = 'dist'

/** Names are kept, and lines short, for whoever reads a stack trace. */
const COMMON = {
  platform: 'node',
  target: 'node20',
  minifySyntax: true,
  minifyWhitespace: true,
  lineLimit: 200,
  logLevel: 'warning',
}

/** @type {import('esbuild').BuildOptions} */
const options = {
  ...COMMON,
  entryPoints: { main: 'src/main.ts', library: 'src/library/index.ts', inject: 'light-my-request' },
  outdir: OUT,
  bundle: true,
  splitting: true,
  format: 'esm',
  sourcemap: false,
  metafile: true,
  legalComments: 'none',
  write: false,
}

/** A module that says what is wrong when something is taken from it after all. */
const leftOut = name => `
  const refuse = () => { throw new Error('${name} is left out of the bundle: see scripts/build.js') }
  module.exports = new Proxy(refuse, { get: refuse })`

/**
 * What packages load at the start and never use here, by who asks for it, and what stands in its place: a third of what
 * the start would run.
 */
const UNUSED = {
  fastify: {
    // `compilersFactory` in validation.ts takes their place: Ajv and fast-json-stringify are loaded late.
    '@fastify/ajv-compiler': leftOut,
    '@fastify/fast-json-stringify-compiler': leftOut,
    // The server speaks plain HTTP/1.1, and trusts no proxy.
    'node:https': leftOut,
    'node:http2': leftOut,
    '@fastify/proxy-addr': leftOut,
    // Plugins are asked which Fastify they are for; the lock file has answered that.
    semver: () => 'exports.satisfies = () => true',
  },
  // Logs are written by the thread that makes them.
  pino: { 'thread-stream': leftOut },
}

/** The chunk of light-my-request. */
const INJECT = './inject.js'

/** @type {import('esbuild').Plugin} */
const lean = {
  name: 'lean',
  setup({ onResolve, onLoad }) {
    for (const [user, modules] of Object.entries(UNUSED)) {
      const inUser = new RegExp(`[\\\\/]node_modules[\\\\/]${user}[\\\\/]`)
      for (const [name, contents] of Object.entries(modules)) {
        onResolve({ filter: new RegExp(`^${name}$`) }, ({ importer }) =>
          inUser.test(importer) ? { path: name, namespace: 'unused', pluginData: contents } : undefined,
        )
      }
    }
    onLoad({ filter: /^/, namespace: 'unused' }, ({ path, pluginData }) => ({ contents: pluginData(path) }))
    // Replays alone need it. Fastify asks for it late, but by `require`, at which esbuild does not split.
    onResolve({ filter: /^light-my-request$/ }, ({ path, kind }) =>
      kind === 'require-call' ? { path, namespace: 'late' } : undefined,
    )
    onLoad({ filter: /^/, namespace: 'late' }, () => ({ contents: `module.exports = require('${INJECT}').default` }))
    onResolve({ filter: /^/, namespace: 'late' }, () => ({ path: INJECT, external: true }))
  },
}

/** A chunk as CommonJS: esbuild splits ES modules alone. */
async function toCommonJs(text) {
  const { code } = await transform(text, {
    ...COMMON,
    format: 'cjs',
    // One `require` for all.
    supported: { 'dynamic-import': false },
    define: { 'import.meta.url': '__url' },
    banner: text.includes('import.meta.url') ? "const __url=require('node:url').pathToFileURL(__filename).href;" : '',
  })
  return code
}

async function write(outputFiles) {
  mkdirSync(OUT, { recursive: true })
  // The package as a whole is of ES modules.
  writeFileSync(`${OUT}/package.json`, '{"type":"commonjs"}\n')
  await Promise.all(outputFiles.map(async ({ path, text }) => writeFileSync(path, await toCommonJs(text))))
  chmodSync(`${OUT}/main.js`, 0o755)
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

/**
 * Starts the server once, so that Node leaves what it has compiled beside the bundle (src/compiled.ts). Where that does
 * not work, as in a sandbox without a network, later starts do it.
 */
async function warm() {
  mkdirSync(`${OUT}/compiled`)
  const env = { ...process.env, HOST: '127.0.0.1', PORT: '0', LOG_LEVEL: 'info', NODE_OPTIONS: '' }
  for (const name of Object.keys(env)) if (name.startsWith('SANDBOX_')) delete env[name]
  const started = spawn(process.execPath, [`${OUT}/main.js`], { env, stdio: ['ignore', 'pipe', 'ignore'] })
  const impatience = setTimeout(() => started.kill('SIGKILL'), 10_000)
  started.stdout.once('data', () => started.kill('SIGTERM'))
  await once(started, 'close')
  clearTimeout(impatience)
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
    lean,
    {
      name: 'package',
      setup({ onStart, onEnd }) {
        let declared
        onStart(() => {
          // While the bundler is at work, which is a process of its own.
          declared = declare()
        })
        onEnd(async ({ errors, metafile, outputFiles }) => {
          const wrong = await declared
          if (errors.length > 0) return undefined
          await write(outputFiles)
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
  await warm()
}
