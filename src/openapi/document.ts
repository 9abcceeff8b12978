import type { ErrorCode } from '../core/errors.js'
import type { Constraint, Fidelity } from '../core/schemas.js'

/** The parts of an OpenAPI document, as far as this server reads them. */

export type Named<T> = Record<string, T>

export interface Labelled {
  description?: string
  'x-fidelity'?: Fidelity
  'x-fidelity-note'?: string
}

export interface Schema extends Labelled {
  $ref?: string
  title?: string
  type?: string | string[]
  format?: string
  pattern?: string
  examples?: unknown[]
  properties?: Named<Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: Schema | boolean
  anyOf?: unknown[]
  'x-fidelity-constraints'?: readonly Constraint[]
  'x-expected'?: string
  'x-error-code'?: ErrorCode
  [keyword: string]: unknown
}

export interface Parameter extends Labelled {
  in: string
  name: string
  required?: boolean
  schema: Schema
  example?: unknown
}

/** The content of a body by its media type. */
export type Content = Named<{ schema: Schema; example?: unknown; examples?: Named<object> }>

export interface Response extends Labelled {
  headers?: Named<object>
  content?: Content
  links?: Named<object>
}

export interface Operation extends Labelled {
  operationId: string
  summary: string
  tags: readonly string[]
  'x-error-codes': readonly ErrorCode[]
  parameters?: (Parameter | Reference)[]
  requestBody?: { description?: string; required: boolean; content: Content }
  responses: Named<Response | Reference>
}

export interface Reference {
  $ref: string
}

export interface Document {
  paths: Named<Named<Operation>>
  components: { schemas: Named<Schema>; responses: Named<Response>; parameters: Named<Parameter> }
}

export const mapValues = <V, W>(object: Named<V>, change: (value: V, name: string) => W): Named<W> =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value, name)]))

const isReference = (value: object): value is Reference => '$ref' in value

/** Returns the component that a reference names; another value as it is. */
export function resolve<T extends object>(components: Named<T>, value: T | Reference): T {
  const found = isReference(value) ? components[value.$ref.split('/').at(-1) ?? ''] : value
  if (found === undefined) throw new Error(`The document has no ${JSON.stringify(value)}.`)
  return found
}
