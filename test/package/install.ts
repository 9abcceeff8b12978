import { execFile, execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Test } from 'tap'
import t from 'tap'
import type { Result } from '../command.js'
import { PLAIN, environment as userEnvironment } from '../program.js'
import { Server } from '../server-process.js'

/** The package as a user has it: packed, and installed in an empty project. */
export interface Installed {
  /** The folder of the project. All commands run there. */
  readonly folder: string
  /** The folder of the package: `node_modules/payments-sandbox`. */
  readonly home: string
  /** Runs a command of the PATH, which has the commands of the project: `node`, `payments-sandbox`, `bash`. */
  run(command: string, args: readonly string[], options?: RunOptions): Promise<Result>
  /** Runs `payments-sandbox`. */
  bin(args: readonly string[], options?: RunOptions): Promise<Result>
  /** Runs lines in bash, as a user types them. The first command that fails ends them. */
  sh(script: string, options?: RunOptions): Promise<Result>
  /** Runs a module of a user, from its text. The arguments follow in `process.argv`. */
  node(module: string, args?: readonly string[], options?: RunOptions): Promise<Result>
  /** Starts the program on a free port, with a frozen clock. It ends with the test. */
  start(t: Pick<Test, 'teardown'>, settings?: Readonly<Record<string, string>>): Promise<Server>
}

export interface RunOptions {
  /** Variables beside PATH and HOME. */
  readonly env?: Readonly<Record<string, string>>
  /** The text of standard input; default: none. */
  readonly input?: string
}

const [plain, ...plainOptions] = PLAIN

/** Runs npm with the configuration of the user, such as the registry. */
const npm = (args: readonly string[], cwd: string): string =>
  execFileSync(plain, [...plainOptions, 'npm', ...args, '--silent', '--ignore-scripts'], {
    cwd,
    env: { ...process.env, npm_config_update_notifier: 'false' },
    encoding: 'utf8',
  }).trim()

/** Packs dist/ as `npm pack` does, and builds it first if a source is newer than its last file. Returns the path of the tarball. */
function pack(destination: string): string {
  const builtAt = statSync('dist/commonjs/package.json', { throwIfNoEntry: false })?.mtimeMs ?? 0
  const sources = ['src', 'scripts', 'docs', 'skills'].flatMap(folder =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map(path => join(folder, path)),
  )
  const isOld = [...sources, 'README.md', 'package.json'].some(path => statSync(path).mtimeMs > builtAt)
  if (isOld) npm(['run', 'dist'], '.')
  return join(destination, npm(['pack', '--pack-destination', destination], '.'))
}

/**
 * Installs a tarball in an empty project, with the versions of the lock file: a release of a dependency changes no test, and
 * the cache of `npm ci` has the packages.
 */
function installIn(folder: string, tarball: string): void {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
  const { '': own, ...others } = packages
  const project = { private: true, dependencies: { [own.name]: `file:${tarball}` } }
  const { devDependencies, ...installed } = own
  const lock = {
    '': project,
    ...Object.fromEntries(Object.entries<{ dev?: boolean }>(others).filter(([, { dev }]) => dev !== true)),
    [`node_modules/${own.name}`]: { ...installed, resolved: `file:${tarball}` },
  }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(project))
  writeFileSync(join(folder, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages: lock }))
  npm(['ci', '--prefer-offline', '--no-audit', '--no-fund'], folder)
}

let installed: Installed | undefined

/** Packs and installs the package, once for all tests of this process. */
export function install(): Installed {
  if (installed !== undefined) return installed
  // Not below this project, whose node_modules would replace a missing dependency.
  const folder = mkdtempSync(join(tmpdir(), 'sandbox-package-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  installIn(folder, pack(folder))
  const PATH = `${join(folder, 'node_modules/.bin')}:${userEnvironment.PATH}`
  const environment = { ...userEnvironment, PATH }

  const run: Installed['run'] = (command, args, { env, input = '' } = {}) =>
    new Promise((done, fail) => {
      const options = { cwd: folder, env: { ...environment, ...env }, encoding: 'utf8' } as const
      const child = execFile(plain, [...plainOptions, command, ...args], options, (error, stdout, stderr) => {
        const code = error?.code ?? 0
        if (typeof code === 'number') done({ code, stdout, stderr })
        else fail(error)
      })
      child.stdin?.end(input)
    })
  let modules = 0
  installed = {
    folder,
    home: join(folder, 'node_modules/payments-sandbox'),
    run,
    bin: (args, options) => run('payments-sandbox', args, options),
    sh: (script, options) => run('bash', ['--norc', '-euo', 'pipefail', '-c', script], options),
    node(module, args = [], options) {
      const file = `module-${++modules}.mjs`
      writeFileSync(join(folder, file), module)
      return run('node', [file, ...args], options)
    },
    async start(t, settings = {}) {
      const server = await Server.start(settings, { command: PLAIN, main: 'payments-sandbox', environment })
      t.teardown(() => server.kill())
      return server
    },
  }
  return installed
}

/** Type-checks files of the project with strict options. Returns the errors. */
export async function typeErrors({ folder, run }: Installed, files: readonly string[], options: object) {
  const strict = { noEmit: true, strict: true, exactOptionalPropertyTypes: true, skipLibCheck: true }
  const compilerOptions = { ...strict, target: 'es2022', lib: ['es2022'], types: [], ...options }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
  const { stdout } = await run('node', [resolve('node_modules/typescript/bin/tsc')])
  return stdout
}
