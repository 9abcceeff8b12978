import { parseArgs } from 'node:util'
import type { Config } from './config.js'
import { ConfigError, readConfig } from './config.js'
import { NAME, VERSION } from './package.js'

const HELP = `${NAME} ${VERSION}: a sandbox server for a payments and cash-management interface

Usage: ${NAME} [start]     serve (default)
       ${NAME} replay FILE [--until N]
                               go through a recording once more: exit 1 at the first answer
                               that differs; with --until, stop before request N and serve
       ${NAME} health      probe readiness on HOST and PORT; exit 0 or 1
       ${NAME} --help | --version

Settings are environment variables, described in the README:
  HOST, PORT, LOG_LEVEL, SANDBOX_SEED, SANDBOX_CLOCK, SANDBOX_FIXTURES, SANDBOX_CLIENTS,
  SANDBOX_OPEN_REGISTRATION, SANDBOX_MAX_TENANTS, SANDBOX_TOKEN_TTL, SANDBOX_PUBLIC_URL,
  SANDBOX_ALLOWED_HOSTS, SANDBOX_CORS_ORIGINS, SANDBOX_ADMIN_TOKEN, SANDBOX_JOURNAL_ENTRIES,
  SANDBOX_JOURNAL_BYTES, SANDBOX_RECORDING_BYTES, SANDBOX_DATA
`

type Environment = Readonly<Record<string, string | undefined>>

/** The outputs of a command line. */
export interface Output {
  readonly stdout: { write(text: string): unknown }
  readonly stderr: { write(text: string): unknown }
}

/** A command with its positional arguments, the value of `--until` and its output. */
type Command = (config: Config, args: readonly string[], until: string | undefined, output: Output) => Promise<void>

const commands: Record<string, Command> = {
  async start(config, args, until) {
    assertArguments('start', args, until)
    const { serve } = await import('./start.js')
    await serve(config)
  },
  async replay(config, [file, ...rest], until, { stdout }) {
    if (file === undefined || rest.length > 0) throw new ConfigError(`replay takes one file. See ${NAME} --help.`)
    const { replay } = await import('./replay.js')
    await replay(config, file, until, line => stdout.write(`${line}\n`))
  },
  async health({ host, port }, args, until) {
    assertArguments('health', args, until)
    const { isReady } = await import('./health.js')
    process.exitCode = (await isReady(host, port)) ? 0 : 1
  },
}

function assertArguments(name: string, args: readonly string[], until: string | undefined) {
  const given = [name, ...args, ...(until === undefined ? [] : ['--until'])]
  if (given.length > 1)
    throw new ConfigError(`${JSON.stringify(given.join(' '))} is not a valid command. See ${NAME} --help.`)
}

/**
 * Runs a command line.
 *
 * Sets the exit code of the process: 0 success, 1 failure (not ready, port in use), 2 invalid usage or settings.
 */
export async function run(args: readonly string[], environment: Environment, output: Output = process): Promise<void> {
  try {
    await dispatch(args, environment, output)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const isUsage = error instanceof ConfigError || code?.startsWith('ERR_PARSE_ARGS') === true
    const advice = code === 'EADDRINUSE' ? '. The port is in use: set PORT to a free port, or to 0.' : ''
    output.stderr.write(`${NAME}: ${message}${advice}\n`)
    // Docker reserves exit code 2 of a health check.
    process.exitCode = isUsage && args[0] !== 'health' ? 2 : 1
  }
}

async function dispatch(args: readonly string[], environment: Environment, output: Output) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      help: { type: 'boolean', short: 'h' },
      version: { type: 'boolean', short: 'v' },
      until: { type: 'string' },
    },
  })
  if (values.help) {
    output.stdout.write(HELP)
    return
  }
  if (values.version) {
    output.stdout.write(`${VERSION}\n`)
    return
  }
  const [name = 'start', ...rest] = positionals
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined) {
    throw new ConfigError(`unknown command ${JSON.stringify(positionals.join(' '))}. See ${NAME} --help.`)
  }
  await command(readConfig(environment), rest, values.until, output)
}
