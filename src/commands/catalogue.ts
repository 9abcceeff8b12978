import { readFileSync } from 'node:fs'
import type { Request } from '../client/connection.js'
import { CONTROL_PLANE } from '../package.js'

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly string[]
  readonly description?: string
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly additionalProperties?: object
}

interface Parameter {
  readonly in: string
  readonly name: string
  readonly required?: boolean
  readonly description: string
  readonly schema: Schema
}

interface Operation {
  readonly 'x-command': string
  readonly summary: string
  readonly description?: string
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } }
}

/** An argument or option, such as `reason-code`, or `effect.retry-after` for a member of a member. */
export interface Field {
  readonly name: string
  /** Its place in the request: `path`, `query` or `body`; another option is in `none`. */
  readonly in: string
  readonly members: readonly string[]
  readonly isRequired?: boolean
  readonly schema: Schema
}

/** A command: a call of the control plane, unless its path is empty. */
export interface Command extends Operation {
  readonly name: string
  readonly method: Request['method']
  readonly path: string
  readonly takesClient: boolean
  readonly body: Schema
  readonly positions: readonly Field[]
  readonly options: readonly Field[]
  /** The last argument, if it is a file: `FILE`, or `[FILE]` if it can be omitted. */
  readonly file: string | undefined
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const { paths, components }: Document = JSON.parse(readFileSync(CONTROL_PLANE, 'utf8'))

const nameOf = ($ref = '') => $ref.split('/')[3] ?? ''
const resolve = ({ $ref, ...schema }: Schema): Schema => ({
  ...components.schemas[nameOf($ref)],
  ...schema,
})
const toOption = (name: string) => name.replace(/_?([A-Z])|_/g, (_, letter = '') => `-${letter.toLowerCase()}`)

/** Lists the members of a body, each object before its members. */
const fieldsOf = ({ properties = {}, required = [] }: Schema, outer: readonly string[] = []): Field[] =>
  Object.entries(properties).flatMap(([name, property]) => {
    const [schema, members] = [resolve(property), [...outer, name]]
    const isRequired = outer.length === 0 && required.includes(name)
    const field = { name: members.map(toOption).join('.'), in: 'body', members, isRequired, schema }
    return [field, ...(schema.type === 'object' ? fieldsOf(schema, members) : [])]
  })

const INPUT = { type: 'string', description: 'A file with the body as JSON or YAML; - is the standard input.' }
const OUT = { type: 'string', description: 'A folder for summary.txt and evidence.json, which is created.' }
const FOLLOW = { type: 'boolean', description: 'Also prints each new one, until it is interrupted.' }

function toCommand(path: string, method: string, operation: Operation): Command {
  const { 'x-command': command, parameters = [], requestBody } = operation
  const [name = '', file] = command.split(/ (?=\[?FILE)/)
  const given = parameters.map(({ in: place, name, required: isRequired = false, schema, description }) => {
    return { in: place, name: toOption(name), members: [name], isRequired, schema: { ...schema, description } }
  })
  const takesClient = given.some(({ name }) => name === 'client')
  const body = resolve(requestBody?.content['application/json'].schema ?? {})
  const fields = file === 'FILE' ? [] : fieldsOf(body)
  const options: Field[] = [...given.filter(field => field.in === 'query' && field.name !== 'client'), ...fields]
  if (fields.length > 0) options.push({ name: 'input', in: 'none', members: [], schema: INPUT })
  if (given.some(({ name }) => name === 'wait'))
    options.push({ name: 'follow', in: 'none', members: [], schema: FOLLOW })
  if (name === 'evidence') options.push({ name: 'out', in: 'none', members: [], schema: OUT })
  // Required texts of the body, or else its only member, are arguments.
  const required = fields.filter(({ isRequired, schema }) => isRequired && schema.type === 'string')
  const texts = required.length === 0 && fields.length === 1 ? fields : required
  const positions = [...given.filter(field => field.in === 'path'), ...texts]
  const called = { name, method: method.toUpperCase() as Request['method'], path, takesClient }
  return { ...operation, ...called, body, positions, options, file }
}

/** All commands, in the order of the control plane, and those that are no call of it. */
export const commands: readonly Command[] = [
  ...Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => toCommand(path, method, operation)),
  ),
  ...[
    { 'x-command': 'start', summary: 'Start a server, the default. Its options are below' },
    {
      'x-command': 'health',
      summary: 'Whether the server of --url, SANDBOX_URL, or HOST and PORT is ready: exit code 0 or 1',
    },
    {
      'x-command': 'replay FILE',
      summary: 'Hold a HAR file against a sandbox in memory, or send its requests to a server: see replay --help',
    },
    { 'x-command': 'token', summary: 'Print a new access token. SANDBOX_CLIENT_SECRET is the secret of the client' },
    { 'x-command': 'help', summary: 'Print this help' },
  ].map(operation => toCommand('', 'get', operation)),
]

const named = (name: string) => commands.find(command => command.name === name)

/**
 * Finds commands by the first words of a command line: by their name, or by a verb that only they have, such as `advance` for
 * `clock advance`. A verb of several kinds of records, such as `explain`, is a command of each.
 */
export function find([first = '', second = '']: readonly string[]): readonly Command[] {
  const exact = named(`${first} ${second}`) ?? named(first)
  if (exact !== undefined) return [exact]
  const verbs = commands.filter(({ name }) => name.endsWith(` ${first}`))
  const ofRecords = verbs.filter(({ name }) => named(name.replace(/\S+$/, 'explain')))
  return ofRecords.length > 0 || verbs.length > 1 ? ofRecords : verbs
}
