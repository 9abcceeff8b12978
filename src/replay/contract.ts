import { readFileSync } from 'node:fs'
import type { Area, AreaName } from '../areas/index.js'
import { areas } from '../areas/index.js'
import { SERVICE } from '../package.js'

export type Label = 'documented' | 'assumed'
// biome-ignore lint/suspicious/noExplicitAny: parsed JSON has any shape
export type Json = any

/** An operation of the OpenAPI document. */
export interface Operation {
  /** Such as `GET /api/v1/mandates/{mandateReference}`. */
  readonly name: string
  /** The kind of its records, or undefined if it has none. */
  readonly kind: AreaName | undefined
  readonly isList: boolean
  readonly pattern: RegExp
  readonly node: Json
}

/** A record of a client. Its key also has its region where each region has references of its own. */
export interface Subject {
  readonly kind: AreaName
  readonly reference: string
  readonly key: string
}

const kinds = Object.keys(areas) as AreaName[]
export const rowOf = (kind: AreaName): Area => areas[kind]

export const keyOf = (kind: AreaName, reference: string, region: string) =>
  `${kind} ${reference}${rowOf(kind).regions === 'apart' ? ` ${region}` : ''}`

/** Returns the records of some kinds that the members of an object name. */
export const namedBy = (members: Json, region: string, of: readonly AreaName[] = kinds): Subject[] =>
  of.flatMap(kind => {
    const reference = members?.[rowOf(kind).reference]
    return typeof reference === 'string' ? [{ kind, reference, key: keyOf(kind, reference, region) }] : []
  })

const document: Json = JSON.parse(readFileSync(SERVICE, 'utf8'))

/** Returns the part of the document to which a reference leads. */
const follow = (node: Json): Json =>
  node?.$ref === undefined
    ? node
    : follow(
        node.$ref.split('/').reduce((part: Json, name: string) => (name === '#' ? document : part[name]), document),
      )

const operations = Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
  Object.entries<Json>(methods).map(
    ([method, node]): Operation => ({
      name: `${method.toUpperCase()} ${path}`,
      kind: kinds.find(kind => rowOf(kind).path === path.split('/')[3]),
      isList: method === 'get' && path.split('/').length === 4,
      pattern: new RegExp(`^${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
      node,
    }),
  ),
)

/** Returns the operation of a request, and the parameters in its path. */
export function match(method: string, path: string) {
  // HEAD is part of GET.
  const line = `${method === 'HEAD' ? 'GET' : method} ${path}`
  const operation = operations.find(({ pattern }) => pattern.test(line))
  return { operation, params: operation?.pattern.exec(line)?.groups }
}

const responseOf = (operation: Operation | undefined, status: number): Json =>
  follow(operation?.node.responses[status] ?? operation?.node.responses.default)

/** Returns the label of a part of the document. What it does not have is assumed. */
const labelOf = (node: Json): Label => (node?.['x-fidelity'] === 'documented' ? 'documented' : 'assumed')

export const statusLabel = (operation: Operation | undefined, status: number) => labelOf(responseOf(operation, status))

/** Returns the label of a member of an answer, or of a record in a list. */
export function memberLabel(operation: Operation | undefined, status: number, [name = '']: readonly string[]): Label {
  const { properties = {} } = follow(responseOf(operation, status)?.content?.['application/json']?.schema) ?? {}
  return labelOf(properties[name] ?? follow(properties.data?.items)?.properties[name])
}

/** Returns the label of a rule about a parameter or a member of a request. */
export function fieldLabel(operation: Operation | undefined, field: unknown): Label {
  const { parameters = [], requestBody } = operation?.node ?? {}
  const [content] = Object.values<Json>(requestBody?.content ?? {})
  const [member = ''] = String(field).split('.')
  const node = parameters.find(({ name }: Json) => name === field) ?? follow(content?.schema)?.properties?.[member]
  // The rule can be one of its assumed constraints.
  return node?.['x-fidelity-constraints'] === undefined ? labelOf(node) : 'assumed'
}

/** Returns the section of docs/decisions.md on an operation. Those on tokens and on all requests have no kind. */
export const sectionOf = (operation: Operation | undefined): number =>
  operation?.kind === undefined ? (operation === undefined ? 1 : 3) : rowOf(operation.kind).section
