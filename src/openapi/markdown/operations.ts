import type { Document, Operation } from '../document.js'

/** An operation of a document, with its place. */
export interface PlacedOperation extends Operation {
  readonly method: string
  readonly path: string
}

/** Lists the operations of a document, in its order. */
export const operationsOf = ({ paths }: Document): PlacedOperation[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, method: method.toUpperCase(), path })),
  )
