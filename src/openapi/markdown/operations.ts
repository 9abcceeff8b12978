import type { Json } from '../routes.js'

/** An operation of a document. */
export interface Operation extends Json {
  readonly method: string
  readonly path: string
  readonly operationId: string
  readonly summary: string
  readonly tags: readonly string[]
  readonly 'x-fidelity': string
}

/** Lists the operations of a document, in its order. */
export const operationsOf = ({ paths }: Json): Operation[] =>
  Object.entries(paths as Record<string, Record<string, Json>>).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, operation]) => ({ ...operation, method: method.toUpperCase(), path }) as Operation,
    ),
  )
