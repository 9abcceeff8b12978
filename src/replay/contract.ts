import type { Area, AreaName } from '../areas/index.js'
import { areas } from '../areas/index.js'

export type Label = 'documented' | 'assumed'
// biome-ignore lint/suspicious/noExplicitAny: parsed JSON has any shape
export type Json = any

/** An operation of the OpenAPI document. */
export interface Operation {
  /** Such as `GET /api/v1/mandates/{mandateReference}`. */
  readonly name: string
  /** The kind of its records; undefined: it has none. */
  readonly kind: AreaName | undefined
  readonly isList: boolean
  readonly pattern: RegExp
  readonly node: Json
}

/** A record by its kind and reference, and its region where each region has references of its own. */
export interface Subject {
  readonly kind: AreaName
  readonly reference: string
  readonly region: string | undefined
}

const kinds = Object.keys(areas) as AreaName[]
export const rowOf = (kind: AreaName): Area => areas[kind] as Area
export const keyOf = ({ kind, reference, region = '' }: Subject) => `${kind} ${reference} ${region}`

/** Returns the records that the members of an object name. */
export const namedBy = (members: unknown, region: string): Subject[] =>
  kinds.flatMap(kind => {
    const reference = Object(members)[rowOf(kind).reference]
    if (typeof reference !== 'string') return []
    return [{ kind, reference, region: rowOf(kind).regions === 'apart' ? region : undefined }]
  })

/** Returns the record of a kind that a value is; undefined: it is none. */
export const subjectOf = (kind: AreaName | undefined, region: string, value: unknown): Subject | undefined =>
  namedBy(value, region).find(subject => subject.kind === kind)

const labelOf = (node: Json): Label => (node?.['x-fidelity'] === 'documented' ? 'documented' : 'assumed')

export type Contract = ReturnType<typeof createContract>

/**
 * Reads the operations and their labels from the OpenAPI document of the service.
 * @param plane the document of the control plane, which has the schemas of seeds
 */
export function createContract(service: Json, plane: Json) {
  const { paths, components } = withoutReferences(service)
  const { schemas } = withoutReferences({ components: plane.components }).components
  const operations = Object.entries<Json>(paths).flatMap(([path, methods]): Operation[] =>
    Object.entries(methods).map(([method, node]) => ({
      name: `${method.toUpperCase()} ${path}`,
      kind: kinds.find(kind => rowOf(kind).path === path.split('/')[3]),
      isList: method === 'get' && path.split('/').length === 4,
      pattern: new RegExp(`^${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`),
      node,
    })),
  )
  const responseOf = (operation: Operation | undefined, status: number): Json =>
    operation?.node.responses[status] ?? operation?.node.responses.default
  return {
    /** Returns the operation of a request, and the parameters in its path. */
    match(method: string, path: string) {
      // HEAD is part of GET.
      const line = `${method === 'HEAD' ? 'GET' : method} ${path}`
      const operation = /%2f/i.test(path) ? undefined : operations.find(({ pattern }) => pattern.test(line))
      return { operation, params: operation?.pattern.exec(line)?.groups }
    },
    /** Returns the schema of seeded records. */
    seedsOf: (kind: AreaName): Json => schemas.SeedRecords.properties[kind].items.properties,
    /** Returns the schema of a record, or else of an answer. */
    recordOf(operation: Operation | undefined, status: number): Json {
      if (status >= 400) return components.schemas.ErrorEnvelope
      const { schema } = responseOf(operation, status)?.content?.['application/json'] ?? {}
      return operation?.isList ? schema?.properties.data.items : schema
    },
    headersOf: (operation: Operation | undefined, status: number): Map<string, Json> =>
      new Map(
        Object.entries(responseOf(operation, status)?.headers ?? {}).map(([name, node]) => [name.toLowerCase(), node]),
      ),
    labelOf,
    statusLabel: (operation: Operation | undefined, status: number) => labelOf(responseOf(operation, status)),
    /** Returns the label of a member by its path, of the last known part. */
    memberLabel(schema: Json, path: readonly string[]): Label {
      let [node, label] = [schema, undefined as Json]
      for (const name of path) {
        node = (node?.items ?? node)?.properties?.[name] ?? node?.items
        if (node?.['x-fidelity'] !== undefined) label = node
      }
      return labelOf(label)
    },
    /** Returns the label of a member of the envelope of a list. */
    envelopeLabel: (operation: Operation | undefined, name: string) =>
      labelOf(responseOf(operation, 200)?.content?.['application/json']?.schema?.properties[name]),
    /** Returns the label of a rule about a parameter or a member of a request. */
    fieldLabel(operation: Operation | undefined, field: unknown): Label {
      const { parameters = [], requestBody } = operation?.node ?? {}
      const [content] = Object.values<Json>(requestBody?.content ?? {})
      const member = content?.schema?.properties?.[String(field).split('.')[0] as string]
      const node = parameters.find(({ name }: Json) => name === field) ?? member
      // The rule can be one of its assumed constraints.
      return node?.['x-fidelity-constraints'] === undefined ? labelOf(node) : 'assumed'
    },
    /** Returns the section of docs/decisions.md on an operation. Those on tokens and on all requests have no kind. */
    sectionOf: (operation: Operation | undefined): number =>
      operation?.kind === undefined ? (operation === undefined ? 1 : 3) : rowOf(operation.kind).section,
  }
}

/** Replaces the references in an OpenAPI document. */
function withoutReferences(document: Json): Json {
  const found = new Map<string, Json>()
  function walk(node: Json): Json {
    if (node === null || typeof node !== 'object') return node
    if (Array.isArray(node)) return node.map(walk)
    if (typeof node.$ref !== 'string')
      return Object.fromEntries(Object.entries(node).map(([name, one]) => [name, walk(one)]))
    const known = found.get(node.$ref)
    if (known !== undefined) return known
    const target = {}
    found.set(node.$ref, target)
    const path = node.$ref.slice(2).split('/')
    return Object.assign(target, walk(path.reduce((one: Json, name: string) => one[name], document)))
  }
  return walk(document)
}
