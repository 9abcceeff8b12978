import type { ChildProcessByStdio } from 'node:child_process'
import { execFileSync, spawn } from 'node:child_process'
import { readdirSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Readable } from 'node:stream'

/** The program, for tests that need it as a process of its own. */
export interface Program {
  /** What runs it, without its own arguments; the first word is the command. */
  readonly command: readonly [string, ...string[]]
  readonly main: string
  /** What it sees beside its settings. */
  readonly environment: Environment
}

type Environment = Readonly<Record<string, string | undefined>>

/** Asks a server for a token. */
export const requestTokenAt = (url: string, clientId = 'sandbox-client', clientSecret = 'sandbox-secret') =>
  fetch(`${url}/api/v1/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: clientId, client_secret: clientSecret, grant_type: 'client_credentials' }),
  })

/** What a user has in the environment, without our settings. */
export const environment: Environment = { PATH: process.env.PATH, HOME: process.env.HOME }

/**
 * The first words of a command that is to run as a user's. The test runner hands every child of this process NODE_OPTIONS
 * that load its own hooks, even to one that is given an environment without them; `env` takes them away again.
 */
export const PLAIN = ['env', '-u', 'NODE_OPTIONS'] as const

/**
 * Builds the program as it ships, whatever steps that takes, and whether or not the dist/ of this package is up to date.
 * Tests run this one if they can: from the sources, every process transpiles all of them anew, and writes down what it has
 * covered, which takes many times as long.
 * @param folder an empty folder
 */
export function buildProgram(folder: string): Program {
  // The build works in the folder that it is run in: this one has everything of the package but its output.
  const outputs = ['dist', '.tap', '.git']
  for (const name of readdirSync('.')) if (!outputs.includes(name)) symlinkSync(resolve(name), join(folder, name))
  const command = [...PLAIN, process.execPath] as const
  const [first, ...rest] = command
  execFileSync(first, [...rest, 'scripts/build.js'], { cwd: folder, env: environment })
  return { command, main: join(folder, 'dist', 'main.js'), environment }
}

/**
 * The program from its sources, with what the test runner adds, so that it is covered. It is for the few cases that no test
 * in its own process can cover, since they write the log, listen to signals or end the process. Where nobody asks for
 * coverage, they run what is shipped like all the others.
 */
export function sourcesFor(shipped: Program): Program {
  if (process.env.TAP_DISABLE_COVERAGE === '1') return shipped
  const inherited = Object.entries(process.env).filter(([name]) => !/^(SANDBOX_.*|HOST|PORT|LOG_LEVEL)$/.test(name))
  return {
    command: [process.execPath, ...process.execArgv],
    main: 'src/main.ts',
    environment: Object.fromEntries(inherited),
  }
}

export type Running = ChildProcessByStdio<null, Readable, Readable>

/**
 * Starts the program.
 * @param output a file that its standard output goes to, instead of to us
 */
export function launch(
  { command: [command, ...options], main, environment }: Program,
  args: readonly string[],
  settings: Readonly<Record<string, string>>,
  { nodeOptions = [], output = 'pipe' }: { nodeOptions?: readonly string[]; output?: 'pipe' | number } = {},
): Running {
  const child = spawn(command, [...options, ...nodeOptions, main, ...args], {
    env: { ...environment, ...settings },
    stdio: ['ignore', output, 'pipe'],
  }) as Running
  child.stdout?.setEncoding('utf8')
  child.stderr.setEncoding('utf8')
  return child
}
