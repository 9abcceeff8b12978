import { COMMON, leadingWords } from '../command-line.js'
import { NAME } from '../package.js'
import { type Command, commands, type Field, find } from './catalogue.js'
import { optionsOf, toArgument } from './input.js'

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

/** Returns the list of the commands. */
export function listOf(): string[] {
  const rows = commands.map(({ name, summary }) => [name, summary])
  return [`Usage: ${NAME} COMMAND [arguments] [options]; ${NAME} COMMAND --help`, ...section('Commands', rows)]
}

/** Returns the names of all commands, and the verbs that are commands without their noun. */
export function names(): string[] {
  const all = commands.map(({ name }) => name)
  return [...all, ...new Set(all.flatMap(name => name.split(' ')[1] ?? []).filter(verb => find([verb]).length > 0))]
}

/** Completes the last word: a command, an option, or a value of an option. */
export function complete(words: readonly string[]): string[] {
  const [before, last = ''] = [words.slice(0, -1), words.at(-1)]
  const given = leadingWords(before, COMMON)
  const found = find(given)
  const option = found.flatMap(({ options }) => options).find(({ name }) => `--${name}` === before.at(-1))
  const start = [...given, last].join(' ')
  const next = names().flatMap(name => (name.startsWith(start) ? (name.split(' ')[given.length] ?? []) : []))
  const options = found.flatMap(command => Object.keys(optionsOf(command))).map(name => `--${name}`)
  const candidates = option?.schema.enum ?? (last.startsWith('-') ? options : next)
  return [...new Set(candidates)].filter(candidate => candidate.startsWith(last))
}
