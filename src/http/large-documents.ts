import type { ServerResponse } from 'node:http'
import { errors } from '../core/errors.js'
import { createPlaces, watchOf } from './places.js'
import type { Timers } from './timers.js'

/** A request that has waited for this time is refused. */
const PATIENCE_MS = 30_000

const tooMany = () =>
  errors.unavailable('Too many large documents are read at the moment. Repeat the request.', { 'retry-after': '1' })

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
      const leave = await places.enter(watchOf(answer, work => later(PATIENCE_MS, work), tooMany))
      if (answer.destroyed) {
        leave()
        throw tooMany()
      }
      answer.once('close', leave)
    },
  }
}
