import type { Column } from './columns.js'

/** A stretch of a list, filled from the front. */
interface Block {
  rows: Uint32Array
  length: number
  /** The rank of its first row, where the list knows it. */
  start: number
}

/** A stretch of a block: the rows at `from` up to, not including, `to`. */
export interface Stretch {
  readonly rows: Uint32Array
  readonly from: number
  readonly to: number
}

/** Few enough that shifting a block is cheap, enough that even large lists have few blocks. */
export const BLOCK_SIZE = 512

/** Most values of a facet have few rows. */
const FIRST_CAPACITY = 4

/**
 * The numbers of rows in ascending order of a key, ties by row, in blocks of bounded size: inserting, removing and
 * finding touch one block and, by binary search, the list of blocks. So a list of a million rows is changed about as
 * fast as one of a thousand.
 *
 * The ranks of blocks are prefix sums. They are computed when somebody asks, and only from the first block on that has
 * changed since: what is added at the end changes none, and the worst case is one addition per block.
 *
 * A class, because an index may hold a million lists, and the methods of a class take no memory in each.
 */
export class SortedRows {
  readonly #key: Column
  #blocks: Block[] = []
  /**
   * The value of each block's last row. A search through them stays in one stretch of memory; to ask the blocks for their
   * last rows instead would be four cache misses at each step, and make an insert five times slower.
   */
  #lasts: number[] = []
  /** How many blocks, from the first on, have the right `start`. */
  #known = 0
  #length = 0

  /** @param key where a row's value must stay the same as long as the row is in the list */
  constructor(key: Column) {
    this.#key = key
  }

  get length(): number {
    return this.#length
  }

  insert(row: number): void {
    this.#length++
    const value = this.#key.values[row] as number
    const blocks = this.#blocks
    const lasts = this.#lasts
    const last = blocks.at(-1)
    // The common case: what is created now comes last, and fills blocks to the brim.
    if (last === undefined || this.#isLastBefore(blocks.length - 1, value, row)) {
      if (last !== undefined && last.length < BLOCK_SIZE) {
        put(last, last.length, row)
        lasts[blocks.length - 1] = value
      } else {
        const block = { rows: new Uint32Array(FIRST_CAPACITY).fill(row, 0, 1), length: 1, start: 0 }
        // A first push would make room for 17, which in a million lists of one row is 250 MB.
        if (last === undefined) [this.#blocks, this.#lasts] = [[block], [value]]
        else {
          blocks.push(block)
          lasts.push(value)
        }
      }
      return
    }
    const at = this.#blockOf(value, row)
    const block = blocks[at] as Block
    if (block.length < BLOCK_SIZE) put(block, this.#offsetIn(block, value, row), row)
    else {
      const half = BLOCK_SIZE >> 1
      const second = { rows: block.rows.slice(half), length: half, start: 0 }
      block.length = half
      blocks.splice(at + 1, 0, second)
      lasts.splice(at, 0, this.#valueAt(block, half - 1))
      const target = this.#isBefore(block, half - 1, value, row) ? second : block
      put(target, this.#offsetIn(target, value, row), row)
    }
    this.#known = Math.min(this.#known, at + 1)
  }

  /** Removes a row that is in the list. */
  remove(row: number): void {
    this.#length--
    const value = this.#key.values[row] as number
    const at = this.#blockOf(value, row)
    const block = this.#blocks[at] as Block
    const offset = this.#offsetIn(block, value, row)
    block.rows.copyWithin(offset, offset + 1, block.length--)
    if (block.length === 0) {
      this.#blocks.splice(at, 1)
      this.#lasts.splice(at, 1)
    } else this.#lasts[at] = this.#valueAt(block, block.length - 1)
    this.#known = Math.min(this.#known, at)
  }

  /** How many rows stand before a place: have a smaller value, or the same and a smaller number. */
  rank(value: number, row: number): number {
    const at = this.#blockOf(value, row)
    const block = this.#blocks[at]
    return block === undefined ? this.#length : this.#startOf(at) + this.#offsetIn(block, value, row)
  }

  /** The rows from rank `start` up to, not including, rank `end`, in stretches, the last one first. */
  *back(start: number, end: number): Generator<Stretch, undefined> {
    if (start >= end) return
    for (let at = this.#blockAt(end - 1), to = end; to > start; at--) {
      const { rows, start: first } = this.#blocks[at] as Block
      yield { rows, from: Math.max(start - first, 0), to: to - first }
      to = first
    }
  }

  *[Symbol.iterator](): Generator<number, undefined> {
    for (const { rows, length } of this.#blocks) yield* rows.subarray(0, length)
  }

  #valueAt({ rows }: Block, offset: number): number {
    return this.#key.values[rows[offset] as number] as number
  }

  /** Whether the last row of a block stands before a place. */
  #isLastBefore(at: number, value: number, row: number): boolean {
    const last = this.#lasts[at] as number
    if (last !== value) return last < value
    const { rows, length } = this.#blocks[at] as Block
    return (rows[length - 1] as number) < row
  }

  /** The first block that does not end before a place. */
  #blockOf(value: number, row: number): number {
    let low = 0
    let high = this.#blocks.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#isLastBefore(middle, value, row)) low = middle + 1
      else high = middle
    }
    return low
  }

  /** Whether the row at an offset of a block stands before a place. */
  #isBefore(block: Block, offset: number, value: number, row: number): boolean {
    const other = this.#valueAt(block, offset)
    return other < value || (other === value && (block.rows[offset] as number) < row)
  }

  /** The first offset in a block whose row is not before a place. */
  #offsetIn(block: Block, value: number, row: number): number {
    let low = 0
    let high = block.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#isBefore(block, middle, value, row)) low = middle + 1
      else high = middle
    }
    return low
  }

  #startOf(at: number): number {
    for (; this.#known <= at; this.#known++) {
      const before = this.#blocks[this.#known - 1]
      const block = this.#blocks[this.#known] as Block
      block.start = before === undefined ? 0 : before.start + before.length
    }
    return (this.#blocks[at] as Block).start
  }

  /** The block of a rank that the list has. */
  #blockAt(rank: number): number {
    let low = 0
    let high = this.#blocks.length - 1
    // Of all blocks: the search reads any of them.
    this.#startOf(high)
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.#blocks[middle] as Block).start <= rank) low = middle
      else high = middle - 1
    }
    return low
  }
}

/** Puts a row into a block that is not full. */
function put(block: Block, offset: number, row: number): void {
  if (block.length === block.rows.length) {
    const { rows } = block
    block.rows = new Uint32Array(Math.min(rows.length * 2, BLOCK_SIZE))
    block.rows.set(rows)
  }
  block.rows.copyWithin(offset + 1, offset, block.length++)
  block.rows[offset] = row
}
