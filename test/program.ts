import type { ChildProcessByStdio } from 'node:child_process'
import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import type { Readable } from 'node:stream'

/** A command that starts the program in a process of its own. */
export interface Program {
  /** The command and its arguments in front of the path of the program. */
  readonly command: readonly [string, ...string[]]
  /** The path of the program. */
  readonly main: string
  /** The environment of the process without settings of the program. */
  readonly environment: Environment
}

type Environment = Readonly<Record<string, string | undefined>>

/** Requests a token from a server. */
export const requestTokenAt = (url: string, clientId = 'sandbox-client', clientSecret = 'sandbox-secret') =>
  fetch(`${url}/api/v1/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({ client_id: clientId, client_secret: clientSecret, grant_type: 'client_credentials' }),
  })

/** The environment of a user without settings of the program. */
export const environment: Environment = { PATH: process.env.PATH, HOME: process.env.HOME }

/**
 * The first words of a command that runs without the measurement of coverage, which doubles its time.
 *
 * Node adds NODE_V8_COVERAGE to the environment of each child process. `env` removes it.
 */
export const PLAIN = ['env', '-u', 'NODE_V8_COVERAGE'] as const

/** The program as it ships. Its answers are not checked, since other servers of its test give the same ones. */
export const uncheckedProgram: Program = {
  command: [...PLAIN, process.execPath],
  main: resolve('build/bin/cli.js'),
  environment,
}

/** The program whose answers are checked, which starts slower. */
export const program: Program = {
  ...uncheckedProgram,
  command: [...uncheckedProgram.command, '--import', resolve('build/test/check-answers.js')],
}

/** The program for code that only runs in a process of its own: of its sources while coverage is measured. */
export const coveredProgram: Program =
  process.env.NODE_V8_COVERAGE === undefined
    ? uncheckedProgram
    : { ...uncheckedProgram, command: [process.execPath], main: resolve('build/src/cli.js') }

export type Running = ChildProcessByStdio<null, Readable, Readable>

/**
 * Starts a program.
 * @param output a file descriptor for standard output; default: a pipe
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
