/** Timers of late answers and of calls that wait for an event. Nothing below `plugins/` sets one. */
export interface Timers {
  /** Does some work after so many milliseconds. Returns a function that cancels it. */
  later(milliseconds: number, work: () => void): () => void
  /** Does all waiting work at once, and all later work without delay: the server closes. */
  flush(): void
}

export function createTimers(): Timers {
  const waiting = new Map<NodeJS.Timeout, () => void>()
  let isFlushed = false
  return {
    later(milliseconds, work) {
      const delay = isFlushed ? 0 : milliseconds
      const timer = setTimeout(() => {
        waiting.delete(timer)
        work()
      }, delay)
      waiting.set(timer, work)
      return () => {
        clearTimeout(timer)
        waiting.delete(timer)
      }
    },
    flush() {
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
