import { readFileSync } from 'node:fs'
import type { Request } from '../client/connection.js'
import { COMMON, type Options, type Values } from '../command-line.js'
import { ConfigError } from '../config.js'
import { textOf } from '../core/text.js'
import type { Command, Field } from './catalogue.js'

/** Returns the options of a command. Those of a body with members of any name are the given ones. */
export function optionsOf({ options, body }: Command, args: readonly string[] = []): Options {
  const open = args.flatMap(arg => (body.additionalProperties && /^--([a-zA-Z-]+)/.exec(arg)?.[1]) ?? [])
  const own = options.map(({ name, schema }) => [name, schema.type === 'boolean' ? COMMON.json : COMMON.url] as const)
  return { ...Object.fromEntries([...open.map(name => [name, COMMON.url] as const), ...own]), ...COMMON }
}

/** Returns the name of an argument in the help. */
export const toArgument = ({ name, isRequired }: Field): string => (isRequired ? name : `[${name}]`).toUpperCase()

/** Reads the arguments and options of a command: its request, and the file that the answer goes to. @throws ConfigError */
export async function readInput(command: Command, given: readonly string[], values: Values) {
  const { name, method, positions, options, takesBody } = command
  const refuse = (reason: string): never => {
    throw new ConfigError(`${name}: ${reason}. See payments-sandbox ${name} --help.`)
  }
  const files = given.slice(positions.length)
  if (files.length > (command.file === undefined ? 0 : 1)) refuse(`unexpected ${JSON.stringify(files.at(-1))}`)
  if (command.file === 'FILE' && files.length === 0) refuse('FILE is missing')
  const source = takesBody ? (files[0] ?? values.input) : undefined

  let { path } = command
  let body = source === undefined ? undefined : await readDocument(String(source))
  const query: NonNullable<Request['query']> = {}
  for (const field of new Set([...positions, ...options])) {
    const text = given[positions.indexOf(field)] ?? values[field.name]
    const [member = ''] = field.members
    if (text === undefined) {
      const isElsewhere = !positions.includes(field) || (field.in === 'body' && source !== undefined)
      if (field.isRequired && !isElsewhere) refuse(`${toArgument(field)} is missing`)
    } else if (field.in === 'query') Object.assign(query, { [member]: toValue(field, text) })
    else if (field.in === 'body') body = assign(body, field.members, toValue(field, text))
    // A URL cannot have such a segment.
    else if (/^\.{0,2}$/.test(String(text))) refuse(`${toArgument(field)} cannot be ${JSON.stringify(text)}`)
    else path = path.replace(`{${member}}`, () => encodeURIComponent(String(text)))
  }
  const open = Object.entries(values).filter(([option]) => !Object.hasOwn(optionsOf(command), option))
  for (const [option, value] of open) body = assign(body, [toMember(option)], value)
  return { request: { method, path, query, body }, file: takesBody ? undefined : files[0] }
}

const toMember = (option: string) => option.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** Returns a copy of an object with a member, which can be a member of a member. */
function assign(target: unknown, [name = '', ...inner]: readonly string[], value: unknown): object {
  const object = { ...Object(target) }
  return { ...object, [name]: inner.length === 0 ? value : assign(object[name], inner, value) }
}

/** Converts the text of an option to the type of its schema, if that is no text. @throws ConfigError */
function toValue({ name, schema: { type = [] } }: Field, text: string | boolean): unknown {
  const types = [type].flat()
  const value = types.includes('string') && text !== 'null' ? text : parseJson(String(text))
  if (value !== undefined) return value === null && !types.includes('null') ? text : value
  if (types.includes('array')) return String(text).split(',')
  if (types.length === 0) return text
  throw new ConfigError(`--${name} is not allowed: give a value of the type ${types.join(' or ')}.`)
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Reads a file of JSON, or of YAML, which takes longer; `-` is the standard input. @throws ConfigError */
async function readDocument(path: string): Promise<unknown> {
  try {
    const text = textOf(readFileSync(path === '-' ? 0 : path))
    return parseJson(text) ?? (await import('yaml')).default.parse(text)
  } catch (error) {
    throw new ConfigError(`${path}: ${(error as Error).message.split('\n')[0]}`)
  }
}
