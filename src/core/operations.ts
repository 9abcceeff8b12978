import type { Region } from './regions.js'

/** An operation of the API, as faults and deprecations name it. */
export interface Operation {
  /** Such as `GET /api/v1/direct-debit/{collectionReference}`. */
  readonly operation: string
  readonly method: string
  /** The path with its parameters in braces. */
  readonly path: string
  /** The regions that it serves; undefined: it takes none. */
  readonly regions: readonly Region[] | undefined
}
