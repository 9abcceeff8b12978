import type { ServerResponse } from 'node:http'
import { createPlaces, PATIENCE_MS, tooMany, watchOf } from './places.js'
import type { Timers } from './timers.js'

export type LargeReads = ReturnType<typeof createLargeReads>

/**
 * Creates the places where a server reads large documents, or large logs: each takes many times its size until it is answered.
 * @param most the number of places
 * @param what what too many requests do, for the refusal
 */
export function createLargeReads({ later }: Pick<Timers, 'later'>, most: number, what: string) {
  const places = createPlaces(most)
  const refusal = tooMany(what)
  return {
    /** The number of reads in progress, and of those that wait, for tests. */
    inUse: places.inUse,
    /**
     * Waits for a place. The end of the answer leaves it.
     * Rejects with SERVICE_UNAVAILABLE after 30 s, or when the connection is closed.
     */
    async enter(answer: ServerResponse): Promise<void> {
      const leave = await places.enter(watchOf(answer, work => later(PATIENCE_MS, work), refusal))
      if (answer.destroyed) {
        leave()
        throw refusal()
      }
      answer.once('close', leave)
    },
  }
}
