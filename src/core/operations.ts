import type { Region } from './rules/regions.js'

/** An operation of the API, for faults and deprecations. */
export interface Operation {
  /** Such as `GET /api/v1/direct-debit/{collectionReference}`. */
  readonly operation: string
  readonly method: string
  /** The path template, with parameters in braces. */
  readonly path: string
  /** The regions that it serves; undefined: it has no region header. */
  readonly regions: readonly Region[] | undefined
}
