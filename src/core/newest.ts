import type { Column } from './columns.js'

/** The newest of the rows that it was offered, up to a number of them. */
export interface Newest {
  /** The time of the oldest row that it keeps, once it is full: what is older need not be offered. */
  least(): number
  offer(row: number): void
  /** The newest first. Empties it. */
  take(): number[]
}

/**
 * A heap of bounded size, whose root is the oldest row that it keeps: of rows in no order most fall through after one
 * comparison. The times of the rows that are kept stand in the heap itself, where they stay in the processor's cache.
 *
 * @param createdAt by row; of the same time the row with the higher number is newer
 */
export function createNewest(capacity: number, { values }: Column<Float64Array>): Newest {
  const rows = new Uint32Array(capacity)
  const times = new Float64Array(capacity)
  let length = 0

  const set = (at: number, row: number, time: number) => {
    rows[at] = row
    times[at] = time
  }
  const isOlder = (at: number, row: number, time: number) => {
    const other = times[at] as number
    return other < time || (other === time && (rows[at] as number) < row)
  }

  /** Puts a row at the root, and lets it sink below those that are older. */
  function sink(row: number, time: number) {
    let at = 0
    for (let child = 1; child < length; child = 2 * at + 1) {
      if (child + 1 < length && isOlder(child + 1, rows[child] as number, times[child] as number)) child++
      if (!isOlder(child, row, time)) break
      set(at, rows[child] as number, times[child] as number)
      at = child
    }
    set(at, row, time)
  }

  /** Puts a row at the end, and lets it rise above those that are newer. */
  function rise(row: number, time: number) {
    let at = length++
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (isOlder(parent, row, time)) break
      set(at, rows[parent] as number, times[parent] as number)
      at = parent
    }
    set(at, row, time)
  }

  return {
    least: () => (length < capacity ? -Infinity : (times[0] as number)),
    offer(row) {
      const time = values[row] as number
      if (length < capacity) rise(row, time)
      else if (isOlder(0, row, time)) sink(row, time)
    },
    take() {
      const newest: number[] = []
      while (length > 0) {
        newest.push(rows[0] as number)
        length--
        sink(rows[length] as number, times[length] as number)
      }
      return newest.reverse()
    },
  }
}
