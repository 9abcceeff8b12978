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

Settings are environment variables; the README lists them all:
  HOST, PORT, LOG_LEVEL, SANDBOX_SEED, SANDBOX_CLOCK, SANDBOX_FIXTURES, SANDBOX_CLIENTS,
  SANDBOX_OPEN_REGISTRATION, SANDBOX_MAX_TENANTS, SANDBOX_TOKEN_TTL, SANDBOX_PUBLIC_URL,
  SANDBOX_ADMIN_TOKEN, SANDBOX_JOURNAL_ENTRIES, SANDBOX_JOURNAL_BYTES, SANDBOX_RECORDING_BYTES, SANDBOX_DATA
`

/** A command, with its arguments and the one option that any of them has. */
type Command = (config: Config, args: readonly string[], until: string | undefined) => Promise<void>

const commands: Record<string, Command> = {
  async start(config, args, until) {
    refuseArguments('start', args, until)
    const { serve } = await import('./serve.js')
    await serve(config)
  },
  async replay(config, [file, ...rest], until) {
    if (file === undefined || rest.length > 0) throw new ConfigError(`replay takes one file: see ${NAME} --help.`)
    const { replayFile } = await import('./replay-file.js')
    await replayFile(config, file, until)
  },
  async health({ host, port }, args, until) {
    refuseArguments('health', args, until)
    const { isReady } = await import('./health.js')
    process.exitCode = (await isReady(host, port)) ? 0 : 1
  },
}

function refuseArguments(name: string, args: readonly string[], until: string | undefined) {
  const given = [name, ...args, ...(until === undefined ? [] : ['--until'])]
  if (given.length > 1) throw new ConfigError(`${JSON.stringify(given.join(' '))} has no meaning: see ${NAME} --help.`)
}

/**
 * The command line. Exit codes: 0 done, 1 failed (not ready, port taken), 2 wrong usage or settings.
 */
export async function run(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<void> {
  try {
    await dispatch(args, environment)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const isUsage = error instanceof ConfigError || code?.startsWith('ERR_PARSE_ARGS') === true
    const advice = code === 'EADDRINUSE' ? '. Something listens there already: set PORT to another, or to 0.' : ''
    process.stderr.write(`${NAME}: ${message}${advice}\n`)
    // A health check knows healthy and unhealthy alone: Docker reserves 2.
    process.exitCode = isUsage && args[0] !== 'health' ? 2 : 1
  }
}

async function dispatch(args: readonly string[], environment: Readonly<Record<string, string | undefined>>) {
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
    process.stdout.write(HELP)
    return
  }
  if (values.version) {
    process.stdout.write(`${VERSION}\n`)
    return
  }
  const [name = 'start', ...rest] = positionals
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined) {
    throw new ConfigError(`there is no command ${JSON.stringify(positionals.join(' '))}: see ${NAME} --help.`)
  }
  await command(readConfig(environment), rest, values.until)
}
