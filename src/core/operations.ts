import type { PathParameter } from './glob.js'
import type { Region } from './regions.js'

/** An operation of the API, as faults and deprecations name it. */
export interface Operation {
  /** Such as `GET /api/v1/direct-debit/{collectionReference}`. */
  readonly operation: string
  readonly method: string
  /** The path with its parameters in braces. */
  readonly path: string
  /** What its parameter can be; undefined: it has none. */
  readonly parameter?: PathParameter | undefined
  /** The regions that it serves; undefined: it takes none. */
  readonly regions: readonly Region[] | undefined
}
