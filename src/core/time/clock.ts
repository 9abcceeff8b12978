import TinyQueue from 'tinyqueue'
import type { Instant } from './time.js'
import { LAST_INSTANT, wholeSecond } from './time.js'

export type Clock = ReturnType<typeof createClock>

/** The time and the pace of a clock. */
export interface ClockState {
  readonly now: Instant
  readonly mode: 'running' | 'frozen'
  readonly rate: number
  /** A pair of times from which a running clock counts: real and virtual milliseconds. */
  readonly anchor: { readonly real: number; readonly virtual: number }
}

export interface ClockStart {
  readonly now: Instant
  readonly mode: 'running' | 'frozen'
  readonly rate: number
  /** The real time that corresponds to `now`, in milliseconds. */
  readonly realNow: number
}

/**
 * Creates the clock of a tenant. It never reads the real time: callers pass it as an argument, in milliseconds.
 * @param failed called with the error of due work: one record does not stop the clock of its tenant
 */
export function createClock(start: ClockStart, failed: (error: Error) => void = () => {}) {
  let { now, mode, rate } = start
  // Time runs from this pair of times, so that rounding to whole seconds never accumulates.
  let anchor = { real: start.realNow, virtual: start.now }
  let lastReal = start.realNow

  const scheduler = createScheduler()

  function workUntil(to: Instant): void {
    for (let at = scheduler.nextAt(); at !== null && at <= to; at = scheduler.nextAt()) {
      const { item, work } = scheduler.take()
      if (at > now) now = at
      try {
        work(item)
      } catch (error) {
        failed(error as Error)
      }
    }
    if (to > now) now = to
  }

  /** Returns the time to the millisecond; `now` is rounded down to seconds. */
  const exactAt = (real: number) => (mode !== 'running' ? now : anchor.virtual + (real - anchor.real) * rate)

  const timeAt = (realNow: number) => Math.min(wholeSecond(exactAt(Math.max(realNow, lastReal))), LAST_INSTANT)

  function setAnchor(virtual: number) {
    anchor = { real: lastReal, virtual: Math.max(virtual, now) }
  }

  function sync(realNow: number): void {
    lastReal = Math.max(lastReal, realNow)
    workUntil(timeAt(lastReal))
  }

  function advance(to: Instant): void {
    const fraction = exactAt(lastReal) - now
    workUntil(to)
    setAnchor(now + fraction)
  }

  return {
    /** Returns the tenant's time, a whole second; constant while a request is handled. */
    now: (): Instant => now,
    mode: (): 'running' | 'frozen' => mode,
    /** Returns the tenant-seconds per real second while running, 1 to 86400. */
    rate: (): number => rate,
    /** Brings a running clock to a real time and does all due work. A frozen clock stays. */
    sync,
    /** Whether work is due at a real time. */
    isDueAt(realNow: number): boolean {
      const due = scheduler.nextAt()
      return due !== null && due <= timeAt(realNow)
    },
    /** Returns the pace of the clock, to undo a change or to store it. */
    state: (): ClockState => ({ now, mode, rate, anchor }),
    /** Sets the pace of the clock. It does no due work. */
    restore(state: ClockState, realNow: number = lastReal): void {
      ;({ now, mode, rate, anchor } = state)
      lastReal = Math.max(lastReal, realNow)
    },
    /** Freezes, resumes or changes the rate, from now on. */
    configure(change: { mode?: 'running' | 'frozen' | undefined; rate?: number | undefined }): void {
      // Keeps the fraction of a second, or frequent changes would slow the clock down.
      const exact = exactAt(lastReal)
      mode = change.mode ?? mode
      rate = change.rate ?? rate
      setAnchor(exact)
    },
    /** Moves forward and does all due work, in order and each at its own due time. */
    advance,
    /** When the next work is due, or null for never. */
    nextDue: scheduler.nextAt,
    /** Returns the tenant's time at a real time, without doing due work. */
    timeAt,
    /** Returns the real time at which a running clock reaches an instant, or null if the clock is frozen. */
    realTimeOf: (at: Instant): number | null =>
      mode !== 'running' ? null : anchor.real + (at - anchor.virtual) / rate,
    /**
     * Schedules the next work of an item, instead of its earlier work. A past time means now.
     * A time after the last instant means never.
     */
    schedule<T extends Schedulable>(item: T, at: Instant | null, work: DueWork<T>): void {
      scheduler.schedule(item, at === null || at > LAST_INSTANT ? null : Math.max(at, now), work as DueWork)
    },
  }
}

/** An item that can have work due at some instant. */
export interface Schedulable {
  /** When its work is due, or null for never. Only the scheduler sets it. */
  dueAt: Instant | null
  /** Position in the tenant's order of creation. Orders the work of one instant. */
  readonly sequence: number
}

/** Does the due work of one item. The clock then shows the due time. */
export type DueWork<T extends Schedulable = Schedulable> = (item: T) => void

interface ScheduledWork {
  readonly at: Instant
  readonly sequence: number
  readonly item: Schedulable
  readonly work: DueWork
}

/** Sorts by due time, then by sequence. */
const compareWork = (a: ScheduledWork, b: ScheduledWork) => a.at - b.at || a.sequence - b.sequence

/** The number of replaced entries that the heap keeps before they are removed together. */
const MAX_REPLACED = 1000

function createScheduler() {
  /** The next work of each item that has some. */
  const scheduled = new Map<Schedulable, ScheduledWork>()
  // The heap also holds replaced work, which is skipped when it comes first.
  let heap = new TinyQueue<ScheduledWork>([], compareWork)

  /** Returns the work that is due next, or undefined if there is none. */
  function first(): ScheduledWork | undefined {
    let next = heap.peek()
    while (next !== undefined && scheduled.get(next.item) !== next) {
      heap.pop()
      next = heap.peek()
    }
    return next
  }

  /** Schedules the work of an item, instead of its earlier work. If null, only removes that work. */
  function schedule(item: Schedulable, at: Instant | null, work: DueWork): void {
    if (item.dueAt === at) return
    item.dueAt = at
    if (at === null) {
      scheduled.delete(item)
      return
    }
    const next = { at, sequence: item.sequence, item, work }
    scheduled.set(item, next)
    heap.push(next)
    if (heap.length > 2 * scheduled.size + MAX_REPLACED) heap = new TinyQueue([...scheduled.values()], compareWork)
  }

  return {
    schedule,
    /** When the next work is due, or null for never. */
    nextAt: (): Instant | null => first()?.at ?? null,
    /** Removes and returns the work that is due next. There must be some. */
    take(): Pick<ScheduledWork, 'item' | 'work'> {
      const next = first() as ScheduledWork
      heap.pop()
      scheduled.delete(next.item)
      next.item.dueAt = null
      return next
    },
  }
}
