import { setImmediate } from 'node:timers'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { createPlaces, PATIENCE_MS, tooMany, watchOf } from './places.js'
import type { Timers } from './timers.js'

export interface LargeReadsOptions extends Pick<Timers, 'later'> {
  /** Returns the client that a request is for. Clients take turns. */
  readonly ownerOf: (request: FastifyRequest) => string
}

export type LargeReads = ReturnType<typeof createLargeReads>

/**
 * Creates the places where a server reads documents, logs or pages: each takes time, and many times its size until it is
 * answered. The reads of one client leave a place to those of others.
 * @param most the number of places
 * @param what what too many requests do, for the refusal
 * @param mostPaused the most reads that keep their memory while they wait for their client
 */
export function createLargeReads(
  { later, ownerOf }: LargeReadsOptions,
  most: number,
  what: string,
  mostPaused = Infinity,
) {
  const places = createPlaces(most, { mostOfOwner: Math.max(1, most - 1), mostPaused })
  const refusal = tooMany(what)

  async function enter({ request, raw: answer }: Pick<FastifyReply, 'request' | 'raw'>): Promise<() => void> {
    const place = await places.enter(
      ownerOf(request),
      watchOf(answer, work => later(PATIENCE_MS, work), refusal),
    )
    if (answer.destroyed) {
      place.leave()
      throw refusal()
    }
    request.sandbox.place = place
    let isLeft = false
    const leaveSoon = () => {
      // Others come in between, although the next begins.
      if (!isLeft) setImmediate(place.leave)
      isLeft = true
    }
    // The answer is made. Its reader keeps no place.
    answer.once('prefinish', leaveSoon)
    answer.once('close', leaveSoon)
    return leaveSoon
  }

  return {
    /** The number of reads in progress, and of those that wait, for tests. */
    inUse: places.inUse,
    /**
     * Waits for a place. It is left once the answer is made. Returns a function that leaves it earlier.
     * Rejects with SERVICE_UNAVAILABLE after 30 s, or when the connection is closed.
     */
    enter,
    /** The hook of a route that waits for a place. */
    async preHandler(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
      await enter(reply)
    },
  }
}
