import type { Output } from './command-line.js'
import { COMMON, leadingWords, parseLine, readServer, withoutControls } from './command-line.js'
import type { Config, Environment } from './config.js'
import { ConfigError, optionOf, readConfig, SETTINGS, unknownVariables } from './config.js'
import { shorten } from './core/errors.js'
import { NAME, VERSION } from './package.js'

/**
 * A command with its positional arguments. Returns its exit code.
 * @param url the server that `health` checks. If undefined, the one of the settings
 */
type Command = (config: Config, args: readonly string[], url: string | undefined) => Promise<number>

const commands: Record<string, Command> = {
  async start(config, args, url) {
    assertArguments(['start', ...args, ...(url === undefined ? [] : ['--url'])])
    const { serve } = await import('./start.js')
    await serve(config)
    return 0
  },
  async health({ host, port }, args, url) {
    assertArguments(['health', ...args])
    const { isReady, localUrl } = await import('./health.js')
    return (await isReady(url ?? localUrl(host, port))) ? 0 : 1
  },
}

function assertArguments(given: readonly string[]) {
  if (given.length > 1)
    throw new ConfigError(`${JSON.stringify(given.join(' '))} is not a valid command. See ${NAME} --help.`)
}

/**
 * Runs a command line, and returns its exit code: 0 success, 1 failure (not ready, port in use), 2 invalid usage or
 * settings. Commands of a running server have the exit codes of `runCommand`.
 */
export async function run(
  args: readonly string[],
  environment: Environment,
  output: Output = process,
): Promise<number> {
  try {
    return await dispatch(args, environment, output)
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const advice = code === 'EADDRINUSE' ? '. The port is in use: give a free port with --port or PORT, or 0.' : ''
    withoutControls(output).stderr.write(`${NAME}: ${message}${advice}\n`)
    // Docker reserves exit code 2 of a health check.
    return error instanceof ConfigError && args[0] !== 'health' ? 2 : 1
  }
}

/** The options of the commands that start or check a server. Each setting has an option. */
const OPTIONS = {
  ...Object.fromEntries(
    SETTINGS.flatMap(setting => [setting.variable, ...('formerly' in setting ? [setting.formerly] : [])]).map(
      variable => [optionOf(variable), { type: 'string' }] as const,
    ),
  ),
  url: { type: 'string' },
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
    url: given.url,
    positionals,
    settings: Object.fromEntries(settings.filter(([, value]) => value !== undefined)),
  }
}

async function dispatch(args: readonly string[], environment: Environment, output: Output): Promise<number> {
  const [first = 'start'] = leadingWords(args, { ...OPTIONS, ...COMMON })
  if (first === 'replay') {
    const { runReplay } = await import('./replay/command.js')
    return await runReplay(
      args.filter((_, at) => at !== args.indexOf(first)),
      environment,
      withoutControls(output),
    )
  }
  const command = Object.hasOwn(commands, first) ? commands[first] : undefined
  if (command === undefined) {
    const { runCommand } = await import('./commands/run.js')
    // A reader such as `head` can end first.
    if (output === process) process.stdout.once('error', () => process.exit())
    return await runCommand(args, environment, withoutControls(output))
  }
  const { help, version, url: given, settings, positionals } = parse(args)
  if (help) {
    const { helpText } = await import('./commands/help.js')
    output.stdout.write(helpText())
    return 0
  }
  if (version) {
    output.stdout.write(`${VERSION}\n`)
    return 0
  }
  // An address in options precedes the variable.
  const isLocal = first !== 'health' || settings.HOST !== undefined || settings.PORT !== undefined
  const url = given ?? (isLocal ? undefined : environment.SANDBOX_URL || undefined)
  const own = url === undefined ? undefined : readServer({ url }, {}).url
  // A check of a running server needs its address only.
  const { HOST, PORT } = environment
  if (first !== 'health') warnOfUnknown(environment, withoutControls(output))
  const read = first === 'health' ? { HOST, PORT } : environment
  return await command(readConfig({ ...read, ...settings }), positionals.slice(1), own)
}

/** Writes one line about the variables that look like settings and are none. @throws ConfigError for a mistyped setting */
function warnOfUnknown(environment: Environment, { stderr }: Output): void {
  const names = unknownVariables(environment)
  if (names.length > 0)
    stderr.write(`${NAME}: ignored variables, which are no settings: ${names.map(shorten).join(', ')}\n`)
}
