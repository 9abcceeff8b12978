import type { ErrorCode } from '../core/errors.js'
import type { Constraint, Fidelity } from '../core/schemas.js'

/** The parts of an OpenAPI document, as far as this server reads them. A member that is undefined is left out of the text. */

export type Named<T> = Record<string, T>

export interface Labelled {
  description?: string | undefined
  'x-fidelity'?: Fidelity | undefined
  'x-fidelity-note'?: string | undefined
}

export interface Schema extends Labelled {
  $ref?: string
  title?: string
  type?: string | string[]
  enum?: readonly unknown[]
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
  required?: true | undefined
  schema: Schema
  example?: unknown
}

export interface Response extends Labelled {
  $ref?: string
  headers?: Named<Reference>
  content?: Content | undefined
  links?: Named<object>
}

/** The content of a body by its media type. */
export type Content = Named<{ schema: Schema; example?: unknown }>

export interface Operation extends Labelled {
  operationId: string
  summary: string
  tags: readonly string[]
  'x-error-codes': readonly ErrorCode[]
  'x-command'?: string
  parameters: Parameter[]
  requestBody?: { description?: string | undefined; required: boolean; content: Content } | undefined
  responses: Named<Response>
}

export interface Reference {
  $ref: string
}

export interface Document {
  paths: Named<Named<Operation>>
  components: { schemas: Named<Schema>; responses: Named<Response>; headers: Named<object> }
}

/** An operation of a document, with its place. */
export interface PlacedOperation extends Operation {
  readonly method: string
  readonly path: string
}

/** Lists the operations of a document, in its order. */
export const operationsOf = ({ paths }: Pick<Document, 'paths'>): PlacedOperation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  )

export const mapValues = <V, W>(object: Named<V>, change: (value: V, name: string) => W): Named<W> =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value, name)]))
