import type { Output } from './command-line.js'
import { COMMON, leadingWords, parseLine, withoutControls } from './command-line.js'
import type { Config, Environment } from './config.js'
import { ConfigError, optionOf, readConfig, SETTINGS } from './config.js'
import { NAME, VERSION } from './package.js'

/** The help fits on a screen of 24 lines. */
const HELP = `${NAME} ${VERSION}: a sandbox server for a payments interface

Usage: ${NAME} [start]      serve (default)
       ${NAME} COMMAND      call a server: see ${NAME} help
       ${NAME} replay FILE [--until N]
                             compare with a recording, or serve a state of it
       ${NAME} health       check readiness: exit code 0 or 1
       ${NAME} compare FILE.har | import FILE.har | --help | --version

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
 * Sets the exit code of the process: 0 success, 1 failure (not ready, port in use), 2 invalid usage or settings. Commands of a
 * running server have those of `runCommand`.
 */
export async function run(args: readonly string[], environment: Environment, output: Output = process): Promise<void> {
  try {
    await dispatch(args, environment, output)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const advice = code === 'EADDRINUSE' ? '. The port is in use: give a free port with --port or PORT, or 0.' : ''
    withoutControls(output).stderr.write(`${NAME}: ${message}${advice}\n`)
    // Docker reserves exit code 2 of a health check.
    process.exitCode = error instanceof ConfigError && args[0] !== 'health' ? 2 : 1
  }
}

/** The options of the commands that start or check a server: every setting is one. */
const OPTIONS = {
  ...Object.fromEntries(
    SETTINGS.flatMap(setting => [setting.variable, ...('formerly' in setting ? [setting.formerly] : [])]).map(
      variable => [optionOf(variable), { type: 'string' }] as const,
    ),
  ),
  until: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'v' },
} as const

/** Parses a command line. @throws ConfigError */
function parse(args: readonly string[]) {
  const { values, positionals } = parseLine(args, OPTIONS)
  const given = values as Record<string, string | undefined>
  const settings = SETTINGS.map(setting => {
    const former = 'formerly' in setting ? given[optionOf(setting.formerly)] : undefined
    return [setting.variable, given[optionOf(setting.variable)] ?? former]
  })
  return {
    help: values.help,
    version: values.version,
    until: given.until,
    positionals,
    settings: Object.fromEntries(settings.filter(([, value]) => value !== undefined)) as Environment,
  }
}

async function dispatch(args: readonly string[], environment: Environment, output: Output) {
  const [first = 'start'] = leadingWords(args, { ...OPTIONS, ...COMMON })
  if (!Object.hasOwn(commands, first)) {
    const { runCommand } = await import('./commands/run.js')
    // A reader such as `head` can end first.
    if (output === process) process.stdout.once('error', () => process.exit())
    process.exitCode = await runCommand(args, environment, withoutControls(output))
    return
  }
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
  await commands[name]?.(readConfig({ ...environment, ...settings }), rest, until, withoutControls(output))
}
