import type { DueWork, Schedulable } from './agenda.js'
import { createAgenda } from './agenda.js'
import type { Instant } from './time.js'
import { LAST_INSTANT, wholeSecond } from './time.js'

/** A tenant's own time. Nothing here reads the real time: the edge hands it in. */
export interface Clock {
  /** The tenant's time, a whole second; constant while a request is handled. */
  now(): Instant
  mode(): 'running' | 'frozen'
  /** Tenant-seconds per real second while running, 1 to 86400. */
  rate(): number
  /**
   * Brings a running clock to the given real time; a frozen clock stays. Does what has become due.
   * @param realNow milliseconds since the epoch, as the edge reads them
   */
  sync(realNow: number): void
  /**
   * Stands at a moment that once was reached at a real time, for a replay: from there a running clock runs on. Does
   * what becomes due on the way.
   */
  standAt(at: Instant, realNow: number): void
  /** Freezes, resumes or changes the pace, from now on. */
  configure(change: { mode?: 'running' | 'frozen' | undefined; rate?: number | undefined }): void
  /** Moves forward, doing all that is due on the way, each at its own due time and in order. */
  advanceTo(to: Instant): void
  /** When the next work is due; null: never. */
  nextDue(): Instant | null
  /** What it shows at a real time, in milliseconds. Nothing is done that becomes due. */
  timeAt(realNow: number): Instant
  /** The real time, in milliseconds, at which the clock gets there by itself; null: it never does. */
  realTimeOf(at: Instant): number | null
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

export function createClock(start: ClockStart): Clock {
  let now = start.now
  let mode = start.mode
  let rate = start.rate
  // A running clock is a line through one point, so that rounding to whole seconds never accumulates.
  let anchor = { real: start.realNow, virtual: start.now }
  let lastReal = start.realNow

  const agenda = createAgenda()

  function advanceTo(to: Instant) {
    for (let at = agenda.nextAt(); at !== null && at <= to; at = agenda.nextAt()) {
      const { item, work } = agenda.take()
      if (at > now) now = at
      work(item)
    }
    if (to > now) now = to
  }

  const exactAt = (real: number) => (mode === 'frozen' ? now : anchor.virtual + (real - anchor.real) * rate)

  /** The running time to the millisecond; `now` is its whole seconds. */
  const exactNow = () => exactAt(lastReal)

  const timeAt = (realNow: number) => Math.min(wholeSecond(exactAt(Math.max(realNow, lastReal))), LAST_INSTANT)

  function reanchor(virtual: number) {
    anchor = { real: lastReal, virtual: Math.max(virtual, now) }
  }

  return {
    now: () => now,
    mode: () => mode,
    rate: () => rate,
    sync(realNow) {
      if (realNow > lastReal) lastReal = realNow
      advanceTo(timeAt(lastReal))
    },
    standAt(at, realNow) {
      if (realNow > lastReal) lastReal = realNow
      advanceTo(at)
      reanchor(now)
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
    nextDue: agenda.nextAt,
    timeAt,
    realTimeOf: at => (mode === 'frozen' ? null : anchor.real + (at - anchor.virtual) / rate),
    schedule(item, at, work) {
      agenda.plan(item, at === null || at > LAST_INSTANT ? null : Math.max(at, now), work as DueWork)
    },
  }
}
