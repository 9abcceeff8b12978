import { errors } from './errors.js'
import type { Ids } from './ids.js'
import type { Position } from './ordered-index.js'

/**
 * Opaque cursors of one list. A cursor is a position and a tag over it, so that one which this server did not issue
 * for this list is told from one whose record is gone.
 */
export function createCursors(ids: Ids, list: string) {
  const tag = (position: string) => ids.sign(`cursor\0${list}`, position)
  return {
    encode({ createdAt, sequence }: Position): string {
      const position = `${(createdAt / 1000).toString(36)}.${sequence.toString(36)}`
      return `${position}.${tag(position)}`
    },
    /** @throws INVALID_CURSOR */
    decode(cursor: string): Position {
      const [seconds = '', sequence = ''] = cursor.split('.')
      const position = `${seconds}.${sequence}`
      if (cursor !== `${position}.${tag(position)}`) throw errors.invalidCursor()
      return { createdAt: Number.parseInt(seconds, 36) * 1000, sequence: Number.parseInt(sequence, 36) }
    },
  }
}
