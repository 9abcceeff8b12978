import { parseArgs } from 'node:util'
import type { Config, Environment } from './config.js'
import { ConfigError, nearestName, optionOf, readConfig, SETTINGS } from './config.js'
import { NAME, VERSION } from './package.js'

/** The help fits on a screen of 24 lines. */
const HELP = `${NAME} ${VERSION}: a sandbox server for a payments interface

Usage: ${NAME} [start]      serve (default)
       ${NAME} replay FILE [--until N]
                             compare with a recording: exit code 1 if an answer
                             differs; with --until, serve the state before N
       ${NAME} health       check readiness: exit code 0 or 1
       ${NAME} --help | --version

Options, or environment variables: SANDBOX_SEED is --seed, LOG_LEVEL --log-level
${describeOptions().join('\n')}
The README describes all settings.
`

/** Lists the options with a description, and then the names of the others. */
function describeOptions(): string[] {
  const lines: string[] = []
  const others: string[] = []
  for (const setting of SETTINGS) {
    const option = `--${optionOf(setting.variable)}`
    if ('help' in setting) lines.push(`  ${`${option} ${setting.value}`.padEnd(22)} ${setting.help}`)
    else others.push(option)
  }
  let line = '  Also:'
  for (const option of others) {
    if (line.length + option.length > 78) {
      lines.push(line)
      line = '       '
    }
    line += ` ${option}`
  }
  return [...lines, line]
}

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
    const advice = code === 'EADDRINUSE' ? '. The port is in use: give a free port with --port or PORT, or 0.' : ''
    output.stderr.write(`${NAME}: ${message}${advice}\n`)
    // Docker reserves exit code 2 of a health check.
    process.exitCode = error instanceof ConfigError && args[0] !== 'health' ? 2 : 1
  }
}

/** Parses a command line. Every setting is an option. @throws ConfigError */
function parse(args: readonly string[]) {
  const names = SETTINGS.map(({ variable }) => variable)
  const formerNames = SETTINGS.flatMap(setting => ('formerly' in setting ? setting.formerly : []))
  const options = Object.fromEntries(
    [...names, ...formerNames].map(variable => [optionOf(variable), { type: 'string' }] as const),
  )
  try {
    const { values, positionals } = parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        ...options,
        help: { type: 'boolean', short: 'h' },
        version: { type: 'boolean', short: 'v' },
        until: { type: 'string' },
      },
    })
    const given = values as Record<string, string | boolean | undefined>
    const settings = SETTINGS.map(setting => {
      const former = 'formerly' in setting ? given[optionOf(setting.formerly)] : undefined
      return [setting.variable, given[optionOf(setting.variable)] ?? former]
    })
    return {
      ...values,
      positionals,
      settings: Object.fromEntries(settings.filter(([, value]) => value !== undefined)) as Environment,
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION') throw new ConfigError(message.replaceAll(/\s+/g, ' '))
    const [option] = /(?<=')-[^']*/.exec(message) ?? ['']
    const known = [...names.map(optionOf), 'until', 'help', 'version'].map(name => `--${name}`)
    const nearest = nearestName(option, known)
    throw new ConfigError(`unknown option ${option}. Did you mean ${nearest}? Known: ${known.join(', ')}.`)
  }
}

async function dispatch(args: readonly string[], environment: Environment, output: Output) {
  const { help, version, until, settings, positionals } = parse(args)
  if (help) {
    output.stdout.write(HELP)
    return
  }
  if (version) {
    output.stdout.write(`${VERSION}\n`)
    return
  }
  const [name = 'start', ...rest] = positionals
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (command === undefined) {
    throw new ConfigError(`unknown command ${JSON.stringify(positionals.join(' '))}. See ${NAME} --help.`)
  }
  await command(readConfig({ ...environment, ...settings }), rest, until, output)
}
