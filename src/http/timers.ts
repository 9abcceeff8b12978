import { performance } from 'node:perf_hooks'
import nodeTimers from 'node:timers'

/**
 * The functions of Node at the time of loading. A test that fakes timers replaces the global ones, and in `node:timers`
 * too: a server in its process must go on.
 */
export const realTimers = { setTimeout: nodeTimers.setTimeout, clearTimeout: nodeTimers.clearTimeout }

/** Returns real milliseconds since some moment. Neither faked timers nor a change of the system time alter it. */
export const elapsed: () => number = performance.now.bind(performance)

export type Timers = ReturnType<typeof createTimers>

/**
 * Creates the timers of late answers and of calls that wait for an event. The core, areas and tenants set none.
 * They do not keep the process alive: a connection or a listening server does.
 */
export function createTimers({ setTimeout, clearTimeout } = realTimers) {
  const waiting = new Map<NodeJS.Timeout, () => void>()
  let isFlushed = false
  return {
    /** Returns milliseconds since some moment, to measure a wait. */
    elapsed,
    /** Does some work after so many milliseconds. Returns a function that cancels it. */
    later(milliseconds: number, work: () => void): () => void {
      const delay = isFlushed ? 0 : milliseconds
      const timer = setTimeout(() => {
        waiting.delete(timer)
        work()
      }, delay).unref()
      waiting.set(timer, work)
      return () => {
        clearTimeout(timer)
        waiting.delete(timer)
      }
    },
    /** Does all waiting work at once, and all later work without delay: the server closes. */
    flush(): void {
      isFlushed = true
      // Work may cancel other work, or add some.
      for (const [timer, work] of [...waiting]) {
        if (!waiting.delete(timer)) continue
        clearTimeout(timer)
        work()
      }
    },
  }
}
