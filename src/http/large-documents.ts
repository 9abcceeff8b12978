import type { ServerResponse } from 'node:http'
import { createPlaces, PATIENCE_MS, tooMany, watchOf } from './places.js'
import type { Timers } from './timers.js'

const refusal = tooMany('Too many large documents are read')

export type LargeDocuments = ReturnType<typeof createLargeDocuments>

/** Creates the one place where a server reads large documents: each takes many times its size until it is answered. */
export function createLargeDocuments({ later }: Pick<Timers, 'later'>) {
  const places = createPlaces(1)
  return {
    /** The number of documents that are read, and of those that wait, for tests. */
    inUse: places.inUse,
    /**
     * Waits for the place. The end of the answer leaves it.
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
