/** Waits of the edge: late answers, and calls that wait for an event. Nothing below `http/` waits. */
export interface Timers {
  /** Does some work later, in milliseconds; answers what calls it off. */
  later(milliseconds: number, work: () => void): () => void
  /** Does at once all that is waiting, and from now on whatever is asked for: the server closes. */
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
      // What is done may call off what would be next, or ask for more.
      for (const [timer, work] of [...waiting]) {
        if (!waiting.delete(timer)) continue
        clearTimeout(timer)
        work()
      }
    },
  }
}
