export type Places = ReturnType<typeof createPlaces>

/** Creates a number of places for work that needs much memory. Work without a place waits, first come, first served. */
export function createPlaces(count: number) {
  let free = count
  const waiting: (() => void)[] = []
  return {
    /** Waits for a place. Returns a function that leaves it. */
    async enter(): Promise<() => void> {
      if (free > 0) free--
      else await new Promise<void>(resolve => waiting.push(resolve))
      return () => {
        const next = waiting.shift()
        if (next === undefined) free++
        else next()
      }
    },
    /** The works that have a place or wait for one, for tests. */
    inUse: (): number => count - free + waiting.length,
  }
}
