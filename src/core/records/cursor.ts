import type { Region } from '../domain/regions.js'
import { errors } from '../errors.js'
import type { Ids } from '../ids.js'
import type { Instant } from '../time/time.js'

/** The position of a record in its list. Lists are sorted by creation time, then by sequence (decisions §5). */
export interface Position {
  readonly createdAt: Instant
  /** Position in the tenant's order of creation. */
  readonly sequence: number
}

/** A list: the records of one kind in one region, or a list of the control plane. */
export interface ListName {
  /** The path of the list below `/api/v1`; of the control plane, the whole path. */
  readonly path: string
  /** Undefined: the list has the records of all regions. */
  readonly region?: Region
}

export type Cursors = ReturnType<typeof createCursors>

/**
 * Creates the opaque cursors of one list. A cursor is a position and a signature.
 * The signature proves that this server issued it for this list, also when the record is gone.
 */
export function createCursors(ids: Ids, { path, region }: ListName) {
  const sign = (position: string) => ids.sign(`cursor\0${path}.${region}`, position)
  return {
    encode({ createdAt, sequence }: Position): string {
      const position = `${(createdAt / 1000).toString(36)}.${sequence.toString(36)}`
      return `${position}.${sign(position)}`
    },
    /** @throws INVALID_CURSOR */
    decode(cursor: string): Position {
      const [seconds = '', sequence = ''] = cursor.split('.')
      const position = `${seconds}.${sequence}`
      if (cursor !== `${position}.${sign(position)}`) throw errors.invalidCursor(path, region)
      return { createdAt: Number.parseInt(seconds, 36) * 1000, sequence: Number.parseInt(sequence, 36) }
    },
  }
}
