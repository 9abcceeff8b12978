import type { Instant } from './time.js'
import { LAST_INSTANT } from './time.js'

/** Something that has, or has not, work due at some instant. `sequence` orders what is due at the same instant. */
export interface Schedulable {
  /** When its work is due; null: never. Set by `Clock.schedule` alone. */
  dueAt: Instant | null
  /** Position in the tenant's order of creation. */
  readonly sequence: number
}

/** Does the work that is due for one item; called with the clock standing at the due time. */
export type DueWork<T extends Schedulable = Schedulable> = (item: T) => void

/** A tenant's own time. Nothing here reads the real time: the edge hands it in. */
export interface Clock {
  /** The tenant's time, a whole second; constant while a request is handled. */
  now(): Instant
  readonly mode: 'running' | 'frozen'
  /** Tenant-seconds per real second while running, 1 to 86400. */
  readonly rate: number
  /**
   * Brings a running clock to the given real time; a frozen clock stays. Does what has become due.
   * @param realNow milliseconds since the epoch, as the edge reads them
   */
  sync(realNow: number): void
  /** Freezes, resumes or changes the pace, from now on. */
  configure(change: { mode?: 'running' | 'frozen' | undefined; rate?: number | undefined }): void
  /** Moves forward, doing all that is due on the way, each at its own due time and in order. */
  advanceTo(to: Instant): void
  /** When the next work is due; null: never. */
  nextDue(): Instant | null
  /**
   * Plans the next work of an item, in place of what was planned. A time that has passed means at once, one past the
   * end of time never. The work of an item is the same function each time.
   */
  schedule<T extends Schedulable>(item: T, at: Instant | null, work: DueWork<T>): void
}

export interface ClockStart {
  readonly now: Instant
  readonly mode: 'running' | 'frozen'
  readonly rate: number
  /** The real time that `now` stands for, in milliseconds. */
  readonly realNow: number
}

interface Planned {
  readonly at: Instant
  readonly item: Schedulable
  readonly work: DueWork
}

const before = (a: Planned, b: Planned) => a.at < b.at || (a.at === b.at && a.item.sequence < b.item.sequence)

export function createClock(start: ClockStart): Clock {
  let now = start.now
  let mode = start.mode
  let rate = start.rate
  // A running clock is a line through one point, so that rounding to whole seconds never accumulates.
  let anchor = { real: start.realNow, virtual: start.now }
  let lastReal = start.realNow

  const agenda = createAgenda()

  function advanceTo(to: Instant) {
    for (let due = agenda.peek(); due !== undefined && due.at <= to; due = agenda.peek()) {
      agenda.pop()
      due.item.dueAt = null
      if (due.at > now) now = due.at
      due.work(due.item)
    }
    if (to > now) now = to
  }

  /** The running time to the millisecond; `now` is its whole seconds. */
  const exactNow = () => (mode === 'frozen' ? now : anchor.virtual + (lastReal - anchor.real) * rate)

  function reanchor(virtual: number) {
    anchor = { real: lastReal, virtual: Math.max(virtual, now) }
  }

  return {
    now: () => now,
    get mode() {
      return mode
    },
    get rate() {
      return rate
    },
    sync(realNow) {
      if (realNow > lastReal) lastReal = realNow
      advanceTo(Math.min(Math.floor(exactNow() / 1000) * 1000, LAST_INSTANT))
    },
    configure(change) {
      // What has run of the present second is kept, or a pace that is set often would hold the clock back.
      const exact = exactNow()
      mode = change.mode ?? mode
      rate = change.rate ?? rate
      reanchor(exact)
    },
    advanceTo(to) {
      const fraction = exactNow() - now
      advanceTo(to)
      reanchor(now + fraction)
    },
    nextDue: () => agenda.peek()?.at ?? null,
    schedule(item, at, work) {
      agenda.plan(item, at === null || at > LAST_INSTANT ? null : Math.max(at, now), work as DueWork)
    },
  }
}

/**
 * A binary heap ordered by due time, then by creation. Planning an item anew leaves its old entry behind, which is
 * passed over when it comes up; when more than half of the entries are such left-overs, they are swept out, so that
 * the heap stays proportional to what is really planned.
 */
function createAgenda() {
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
