import type { Instant } from './time.js'

/** Something that has, or has not, work due at some instant. `sequence` orders what is due at the same instant. */
export interface Schedulable {
  /** When its work is due; null: never. Set by `Clock.schedule` alone. */
  dueAt: Instant | null
  /** Position in the tenant's order of creation. */
  readonly sequence: number
}

/** Does the work that is due for one item; called with the clock standing at the due time. */
export type DueWork<T extends Schedulable = Schedulable> = (item: T) => void

interface Planned {
  readonly at: Instant
  readonly item: Schedulable
  readonly work: DueWork
}

const before = (a: Planned, b: Planned) => a.at < b.at || (a.at === b.at && a.item.sequence < b.item.sequence)

/**
 * A binary heap ordered by due time, then by creation. Planning an item anew leaves its old entry behind, which is
 * passed over when it comes up; when more than half of the entries are such left-overs, they are swept out, so that
 * the heap stays proportional to what is really planned.
 */
export function createAgenda() {
  let heap: Planned[] = []
  let live = 0

  const isLive = (entry: Planned) => entry.item.dueAt === entry.at

  function up(index: number) {
    const entry = heap[index] as Planned
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (!before(entry, heap[parent] as Planned)) break
      heap[index] = heap[parent] as Planned
      index = parent
    }
    heap[index] = entry
  }

  function down(index: number) {
    const entry = heap[index] as Planned
    for (let child = 2 * index + 1; child < heap.length; child = 2 * index + 1) {
      if (child + 1 < heap.length && before(heap[child + 1] as Planned, heap[child] as Planned)) child++
      if (!before(heap[child] as Planned, entry)) break
      heap[index] = heap[child] as Planned
      index = child
    }
    heap[index] = entry
  }

  function removeTop() {
    const last = heap.pop() as Planned
    if (heap.length > 0) {
      heap[0] = last
      down(0)
    }
  }

  function sweep() {
    heap = heap.filter(isLive)
    for (let index = (heap.length >> 1) - 1; index >= 0; index--) down(index)
  }

  return {
    plan(item: Schedulable, at: Instant | null, work: DueWork) {
      if (item.dueAt === at) return
      if (item.dueAt !== null) live--
      item.dueAt = at
      if (at === null) return
      live++
      heap.push({ at, item, work })
      up(heap.length - 1)
      if (heap.length > 64 && heap.length > 2 * live) sweep()
    },
    peek(): Planned | undefined {
      while (heap[0] !== undefined && !isLive(heap[0])) removeTop()
      return heap[0]
    },
    pop() {
      removeTop()
      live--
    },
  }
}
