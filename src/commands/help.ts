import { COMMON } from '../command-line.js'
import { optionOf, SETTINGS } from '../config.js'
import { NAME, VERSION } from '../package.js'
import { type Command, commands, type Field, find } from './catalogue.js'
import { toArgument } from './input.js'

const section = (title: string, rows: readonly (readonly string[])[]) =>
  rows.length === 0 ? [] : ['', `${title}:`, ...rows.map(([name = '', text]) => `  ${name.padEnd(28)} ${text}`)]

const describe = ({ schema: { description = '', enum: values = [] } }: Field) =>
  values.length > 0 ? `${description} One of ${values.join(', ')}.` : description
const toLabel = (name: string, type: unknown) => `--${name}${type === 'boolean' ? '' : ' VALUE'}`

/** Returns the help of a command, with the texts of the OpenAPI document. */
export function helpOf({ name, summary, description = '', positions, options, file = '' }: Command): string[] {
  const own = options.map(field => [toLabel(field.name, field.schema.type), describe(field)])
  const common = Object.entries(COMMON).map(([name, { type, help }]) => [toLabel(name, type), help])
  const listed = positions.map(field => [toArgument(field), describe(field)])
  return [
    `Usage: ${[NAME, name, ...positions.map(toArgument), file].join(' ').trim()} [options]`,
    ...['', `${summary}. ${description}`.trim()],
    ...[...section('Arguments', listed), ...section('Options', own), ...section('Common options', common)],
  ]
}

/** The groups of the help, with the first words of their commands. All other commands are of records. */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  Start: ['start', 'health', 'ready', 'live', 'overview', 'openapi', 'help'],
  Time: ['clock', 'upcoming'],
  Records: [],
  Failures: ['faults', 'outcomes', 'reason-codes', 'errors', 'deprecations', 'tokens'],
  Evidence: ['evidence', 'requests', 'verify', 'events', 'coverage', 'replay'],
  Clients: ['clients', 'credentials', 'token', 'reset', 'fork', 'state', 'settings'],
}

const nounOf = ({ name }: Command) => name.replace(/ .*/, '')

/** Returns the commands with a first word, each with its summary. Those of one record are a line together. */
function rowsOf(noun: string): string[][] {
  const all = commands.filter(command => nounOf(command) === noun)
  const single = all.some(({ name }) => name === `${noun} explain`) ? all.filter(({ name }) => name !== noun) : []
  const rows = all.filter(command => !single.includes(command)).map(({ name, summary }) => [name, summary])
  return single.length === 0
    ? rows
    : [...rows, [`${noun} VERB`, single.map(({ name }) => name.split(' ')[1]).join(', ')]]
}

/** Returns the help of the program: all commands by their groups, the exit codes, and the options of a server. */
export function helpText(): string {
  const grouped = new Set(Object.values(GROUPS).flat())
  const others = [...new Set(commands.map(nounOf))].filter(noun => !grouped.has(noun))
  const groups = Object.entries(GROUPS).flatMap(([title, nouns]) =>
    section(title, (title === 'Records' ? others : nouns).flatMap(rowsOf)),
  )
  const options = SETTINGS.map(({ variable, value, ...rest }) => [
    `--${optionOf(variable)} ${value}`,
    'help' in rest ? rest.help : '',
  ])
  return `${[
    `${NAME} ${VERSION}: a sandbox server for a payments interface`,
    '',
    `Usage: ${NAME} [COMMAND] [arguments] [options]; ${NAME} COMMAND --help describes a command.`,
    ...groups,
    '',
    'Exit codes: 0 done; 1 refused, not ready, or not as expected; 2 wrong usage; 3 no server has answered, or it failed.',
    ...section(
      'Options of start, or environment variables (SANDBOX_SEED is --seed, LOG_LEVEL is --log-level)',
      options,
    ),
    'docs/settings.md describes all settings.',
  ]
    .map(line => line.trimEnd())
    .join('\n')}\n`
}

/** Returns the names of all commands, and the verbs that are commands without their noun. */
export function names(): string[] {
  const all = commands.map(({ name }) => name)
  return [...all, ...new Set(all.flatMap(name => name.split(' ')[1] ?? []).filter(verb => find([verb]).length > 0))]
}
