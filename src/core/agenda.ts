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

/**
 * A binary heap ordered by due time, then by creation. Planning an item anew leaves its old place behind, which is passed
 * over when it comes up; when more than half of the places are such left-overs, they are swept out, so that the heap
 * stays proportional to what is really planned. Its places are four columns: 32 bytes each, where objects take 80, and
 * what is compared stands together, while the items lie all over the memory.
 */
export function createAgenda() {
  const times: Instant[] = []
  const sequences: number[] = []
  const items: Schedulable[] = []
  const works: DueWork[] = []
  let live = 0

  const isLive = (place: number) => (items[place] as Schedulable).dueAt === times[place]

  /** Whether what is due at `at` comes before a place. */
  function isBefore(at: Instant, sequence: number, place: number): boolean {
    const other = times[place] as Instant
    return at < other || (at === other && sequence < (sequences[place] as number))
  }

  function put(place: number, at: Instant, sequence: number, item: Schedulable, work: DueWork) {
    times[place] = at
    sequences[place] = sequence
    items[place] = item
    works[place] = work
  }

  function move(from: number, to: number) {
    times[to] = times[from] as Instant
    sequences[to] = sequences[from] as number
    items[to] = items[from] as Schedulable
    works[to] = works[from] as DueWork
  }

  /** Puts work where it belongs, on the way up from a place that is free. */
  function up(free: number, at: Instant, item: Schedulable, work: DueWork) {
    const { sequence } = item
    let place = free
    while (place > 0) {
      const parent = (place - 1) >> 1
      if (!isBefore(at, sequence, parent)) break
      move(parent, place)
      place = parent
    }
    put(place, at, sequence, item, work)
  }

  /** Puts work where it belongs, on the way down from a place that is free. */
  function down(free: number, at: Instant, sequence: number, item: Schedulable, work: DueWork) {
    let place = free
    for (let child = 2 * place + 1; child < times.length; child = 2 * place + 1) {
      const other = child + 1
      if (other < times.length && isBefore(times[other] as Instant, sequences[other] as number, child)) child = other
      if (isBefore(at, sequence, child)) break
      move(child, place)
      place = child
    }
    put(place, at, sequence, item, work)
  }

  function removeTop() {
    const at = times.pop() as Instant
    const sequence = sequences.pop() as number
    const item = items.pop() as Schedulable
    const work = works.pop() as DueWork
    if (times.length > 0) down(0, at, sequence, item, work)
  }

  function sweep() {
    let kept = 0
    for (let place = 0; place < times.length; place++) if (isLive(place)) move(place, kept++)
    for (const column of [times, sequences, items, works]) column.length = kept
    for (let place = (kept >> 1) - 1; place >= 0; place--) {
      const item = items[place] as Schedulable
      down(place, times[place] as Instant, item.sequence, item, works[place] as DueWork)
    }
  }

  return {
    plan(item: Schedulable, at: Instant | null, work: DueWork) {
      if (item.dueAt === at) return
      if (item.dueAt !== null) live--
      item.dueAt = at
      if (at === null) return
      live++
      up(times.length, at, item, work)
      if (times.length > 64 && times.length > 2 * live) sweep()
    },
    /** When the next work is due; null: there is none. */
    nextAt(): Instant | null {
      while (times.length > 0 && !isLive(0)) removeTop()
      return times[0] ?? null
    },
    /** Takes out the work that `nextAt` has told of. */
    take(): { readonly item: Schedulable; readonly work: DueWork } {
      const due = { item: items[0] as Schedulable, work: works[0] as DueWork }
      removeTop()
      live--
      due.item.dueAt = null
      return due
    },
  }
}
