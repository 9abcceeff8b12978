export type Places = ReturnType<typeof createPlaces>

/** Watches a wait, which can end early with an error. Returns a function that stops it. */
export type Watch = (giveUp: (reason: Error) => void) => () => void

/** Creates a number of places for work that needs much memory. Work without a place waits, first come, first served. */
export function createPlaces(count: number) {
  let free = count
  /** Each begins work that waits. */
  const waiting = new Set<() => void>()
  return {
    /** Waits for a place. Returns a function that leaves it. @param watch is called if the work has to wait */
    async enter(watch: Watch = () => () => {}): Promise<() => void> {
      if (free > 0) free--
      else {
        await new Promise<void>((resolve, reject) => {
          const end = (settle: () => void) => {
            waiting.delete(begin)
            stop()
            settle()
          }
          const begin = () => end(resolve)
          const stop = watch(reason => end(() => reject(reason)))
          waiting.add(begin)
        })
      }
      return () => {
        const [next] = waiting
        if (next === undefined) free++
        else next()
      }
    },
    /** The works that have a place or wait for one, for tests. */
    inUse: (): number => count - free + waiting.size,
  }
}
