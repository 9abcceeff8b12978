import type { FastifyInstance } from 'fastify'
import type { Test } from 'tap'
import type { Timers } from '../src/http/timers.js'
import { call, MONDAY } from './helper.js'

/** The real time and its timers, moved by hand: for `now` and `timers` of a server. */
export interface ManualTime {
  now(): number
  readonly timers: Timers
  /** How many timers are set. */
  readonly pending: number
  /** Moves on; each timer that comes due on the way goes off at its own time. */
  pass(milliseconds: number): void
}

export function manualTime(start = Date.parse(MONDAY)): ManualTime {
  let now = start
  let isFlushed = false
  const waiting = new Map<object, { at: number; work: () => void }>()

  function goOff(timer: object) {
    const { at, work } = waiting.get(timer) as { at: number; work: () => void }
    waiting.delete(timer)
    now = Math.max(now, at)
    work()
  }

  return {
    now: () => now,
    timers: {
      elapsed: () => now,
      later(milliseconds, work) {
        const timer = {}
        waiting.set(timer, { at: now + (isFlushed ? 0 : milliseconds), work })
        return () => waiting.delete(timer)
      },
      flush() {
        isFlushed = true
        for (const timer of [...waiting.keys()]) {
          const { work } = waiting.get(timer) ?? { work() {} }
          waiting.delete(timer)
          work()
        }
      },
    },
    get pending() {
      return waiting.size
    },
    pass(milliseconds) {
      const end = now + milliseconds
      for (;;) {
        const [next] = [...waiting].filter(([, { at }]) => at <= end).sort(([, a], [, b]) => a.at - b.at)
        if (next === undefined) break
        goOff(next[0])
      }
      now = end
    },
  }
}

/** Lets the event loop turn until something holds. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise(resolve => setImmediate(resolve))
}

/** Lets a wait of some seconds end, and asserts that it is not answered a moment before. No timer is left. */
export async function endsAfter(
  t: Test,
  seconds: number,
  answer: Promise<unknown>,
  { app, time }: { app: FastifyInstance; time: ManualTime },
): Promise<void> {
  let isAnswered = false
  const noted = answer.finally(() => {
    isAnswered = true
  })
  time.pass(seconds * 1000 - 1)
  await call(app, 'GET', '/_sandbox/health/live')
  t.equal(isAnswered, false, 'a moment before, it waits')
  time.pass(1)
  await noted
  t.equal(time.pending, 0, 'no timer is left')
}
