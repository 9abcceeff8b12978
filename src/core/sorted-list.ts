import type { Position } from './ordered-index.js'
import { isBefore } from './ordered-index.js'

/**
 * Entries in ascending order of their place, in blocks of bounded size: inserting, removing and finding touch one block
 * and the list of blocks, so that a list of a million entries is changed about as fast as one of a thousand.
 */
export interface SortedList<E extends Position> {
  readonly length: number
  insert(entry: E): void
  /** Removes an entry that is in the list. */
  remove(entry: E): void
  /** How many entries stand before a place. */
  countBefore(place: Position): number
  /** How many of the entries from rank `start` up to, not including, rank `end` match. */
  countMatches(start: number, end: number, isMatch: (entry: E) => boolean): number
  /** Walks back in order, beginning with the entry before rank `end`. */
  walkBack(end: number): Walk<E>
  [Symbol.iterator](): Iterator<E>
}

export interface Walk<E> {
  /** The entry that is next; undefined past the first one. */
  peek(): E | undefined
  step(): void
}

/** Few enough that shifting a block is cheap, enough that even large lists have few blocks. */
const BLOCK_SIZE = 512

export function createSortedList<E extends Position>(): SortedList<E> {
  const blocks: E[][] = []
  let length = 0

  /** The first index in a sorted array whose item is not before a place. */
  function search<T>(items: readonly T[], placeOf: (item: T) => Position, place: Position): number {
    let low = 0
    let high = items.length
    while (low < high) {
      const middle = (low + high) >> 1
      if (isBefore(placeOf(items[middle] as T), place)) low = middle + 1
      else high = middle
    }
    return low
  }

  const blockFor = (place: Position) => search(blocks, block => block.at(-1) as E, place)
  const offsetIn = (block: readonly E[], place: Position) => search(block, entry => entry, place)

  /** The block and offset of a rank. */
  function locate(rank: number): { at: number; offset: number } {
    let at = 0
    let offset = rank
    while (at < blocks.length && offset >= (blocks[at] as E[]).length) offset -= (blocks[at++] as E[]).length
    return { at, offset }
  }

  function split(at: number) {
    const block = blocks[at] as E[]
    blocks.splice(at + 1, 0, block.splice(block.length >> 1))
  }

  return {
    get length() {
      return length
    },
    insert(entry) {
      length++
      const at = blockFor(entry)
      if (at < blocks.length) {
        const block = blocks[at] as E[]
        block.splice(offsetIn(block, entry), 0, entry)
        if (block.length > BLOCK_SIZE) split(at)
        return
      }
      // The common case: what is created now comes last, and fills blocks to the brim.
      const last = blocks.at(-1)
      if (last !== undefined && last.length < BLOCK_SIZE) last.push(entry)
      else blocks.push([entry])
    },
    remove(entry) {
      length--
      const at = blockFor(entry)
      const block = blocks[at] as E[]
      if (block.length === 1) blocks.splice(at, 1)
      else block.splice(offsetIn(block, entry), 1)
    },
    countBefore(place) {
      const at = blockFor(place)
      let count = 0
      for (let index = 0; index < at; index++) count += (blocks[index] as E[]).length
      return at < blocks.length ? count + offsetIn(blocks[at] as E[], place) : count
    },
    countMatches(start, end, isMatch) {
      let count = 0
      let { at, offset } = locate(start)
      for (let left = end - start; left > 0; at++, offset = 0) {
        const block = blocks[at] as E[]
        const stop = Math.min(block.length, offset + left)
        left -= stop - offset
        for (; offset < stop; offset++) if (isMatch(block[offset] as E)) count++
      }
      return count
    },
    walkBack(end) {
      let { at, offset } = locate(end - 1)
      return {
        peek: () => blocks[at]?.[offset],
        step() {
          if (--offset >= 0) return
          at--
          offset = (blocks[at]?.length ?? 0) - 1
        },
      }
    },
    *[Symbol.iterator]() {
      for (const block of blocks) yield* block
    },
  }
}
