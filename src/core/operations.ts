import type { PathParameter } from './rules/glob.js'
import type { Region } from './rules/regions.js'

/** An operation of the API, for faults and deprecations. */
export interface Operation {
  /** Such as `GET /api/v1/direct-debit/{collectionReference}`. */
  readonly operation: string
  readonly method: string
  /** The path template, with parameters in braces. */
  readonly path: string
  /** The allowed values of its path parameter; undefined: it has none. */
  readonly parameter?: PathParameter | undefined
  /** The regions that it serves; undefined: it has no region header. */
  readonly regions: readonly Region[] | undefined
}
