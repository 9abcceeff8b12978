import { readFileSync } from 'node:fs'
import type { Request } from '../client/connection.js'
import type { Document, Operation, Schema } from '../openapi/document.js'
import { CONTROL_PLANE } from '../package.js'

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
export interface Command {
  readonly name: string
  readonly summary: string
  readonly description?: string | undefined
  readonly takesBody: boolean
  readonly method: Request['method']
  readonly path: string
  readonly takesClient: boolean
  readonly body: Schema
  readonly positions: readonly Field[]
  readonly options: readonly Field[]
  /** The last argument, if it is a file: `FILE`, or `[FILE]` if it can be omitted. */
  readonly file: string | undefined
}

const { paths, components }: Document = JSON.parse(readFileSync(CONTROL_PLANE, 'utf8'))

const resolve = ({ $ref = '', ...schema }: Schema): Schema => ({
  ...components.schemas[$ref.split('/')[3] ?? ''],
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

type Described = Pick<Operation, 'x-command' | 'summary' | 'description' | 'requestBody'> & Partial<Operation>

function toCommand(path: string, method: string, operation: Described): Command {
  const { 'x-command': command = '', summary, description, parameters = [], requestBody } = operation
  const [name = '', file] = command.split(/ (?=\[?FILE)/)
  const given = parameters.map(({ in: place, name, required: isRequired = false, schema, description }) => {
    return { in: place, name: toOption(name), members: [name], isRequired, schema: { ...schema, description } }
  })
  const body = resolve(requestBody?.content['application/json']?.schema ?? {})
  const fields = file === 'FILE' ? [] : fieldsOf(body)
  const options: Field[] = [...given.filter(field => field.in === 'query' && field.name !== 'client'), ...fields]
  const add = (name: string, schema: Schema) => options.push({ name, in: 'none', members: [], schema })
  if (fields.length > 0) add('input', INPUT)
  if (given.some(({ name }) => name === 'wait')) add('follow', FOLLOW)
  if (name === 'evidence') add('out', OUT)
  // Required texts of the body, or else its only member, are arguments.
  const required = fields.filter(({ isRequired, schema }) => isRequired && schema.type === 'string')
  const texts = required.length === 0 && fields.length === 1 ? fields : required
  const positions = [...given.filter(field => field.in === 'path'), ...texts]
  const takesClient = given.some(({ name }) => name === 'client')
  const called = { name, summary, description, method: method.toUpperCase() as Request['method'], path, takesClient }
  return { ...called, takesBody: requestBody !== undefined, body, positions, options, file }
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
