import { parseArgs } from 'node:util'
import type { Config } from './config.js'
import { ConfigError, readConfig } from './config.js'
import { NAME, VERSION } from './package.js'

const HELP = `${NAME} ${VERSION}: a sandbox server for a payments and cash-management interface

Usage: ${NAME} [start]     serve (default)
       ${NAME} health      probe readiness on HOST and PORT; exit 0 or 1
       ${NAME} --help | --version

Settings are environment variables; the README lists them all:
  HOST, PORT, LOG_LEVEL, SANDBOX_SEED, SANDBOX_CLOCK, SANDBOX_FIXTURES, SANDBOX_CLIENTS,
  SANDBOX_OPEN_REGISTRATION, SANDBOX_MAX_TENANTS, SANDBOX_TOKEN_TTL, SANDBOX_PUBLIC_URL
`

const commands: Record<string, (config: Config) => Promise<void>> = {
  async start(config) {
    const { serve } = await import('./serve.js')
    await serve(config)
  },
  async health({ host, port }) {
    const { isReady } = await import('./health.js')
    process.exitCode = (await isReady(host, port)) ? 0 : 1
  },
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
    process.stderr.write(`${NAME}: ${message}\n`)
    // A health check knows healthy and unhealthy alone: Docker reserves 2.
    process.exitCode = isUsage && args[0] !== 'health' ? 2 : 1
  }
}

async function dispatch(args: readonly string[], environment: Readonly<Record<string, string | undefined>>) {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: { help: { type: 'boolean', short: 'h' }, version: { type: 'boolean', short: 'v' } },
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
  if (command === undefined || rest.length > 0) {
    throw new ConfigError(`there is no command ${JSON.stringify(positionals.join(' '))}: see ${NAME} --help.`)
  }
  await command(readConfig(environment))
}
