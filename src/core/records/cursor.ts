import { errors } from '../errors.js'
import type { Ids } from '../ids.js'
import type { Instant } from '../time/time.js'

/** The position of a record in its list. Lists are sorted by creation time, then by sequence (decisions §5). */
export interface Position {
  readonly createdAt: Instant
  /** Position in the tenant's order of creation. */
  readonly sequence: number
}

export interface Cursors {
  encode(position: Position): string
  /** @throws INVALID_CURSOR */
  decode(cursor: string): Position
}

/**
 * Creates the opaque cursors of one list. A cursor is a position and a signature.
 * The signature proves that this server issued it for this list, also when the record is gone.
 */
export function createCursors(ids: Ids, list: string): Cursors {
  const sign = (position: string) => ids.sign(`cursor\0${list}`, position)
  return {
    encode({ createdAt, sequence }) {
      const position = `${(createdAt / 1000).toString(36)}.${sequence.toString(36)}`
      return `${position}.${sign(position)}`
    },
    decode(cursor) {
      const [seconds = '', sequence = ''] = cursor.split('.')
      const position = `${seconds}.${sequence}`
      if (cursor !== `${position}.${sign(position)}`) throw errors.invalidCursor()
      return { createdAt: Number.parseInt(seconds, 36) * 1000, sequence: Number.parseInt(sequence, 36) }
    },
  }
}
