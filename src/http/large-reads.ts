import type { ServerResponse } from 'node:http'
import { setImmediate } from 'node:timers'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Backlog } from './event-stream.js'
import { createPlaces, PATIENCE_MS, tooMany, watchOf } from './places.js'
import type { Timers } from './timers.js'

export interface LargeReadsOptions extends Pick<Timers, 'later'> {
  /** Has the answers that are made, and wait for their readers. */
  readonly backlog: Pick<Backlog, 'add' | 'remove'>
}

export type LargeReads = ReturnType<typeof createLargeReads>

/**
 * Creates the places where a server reads documents, logs or pages: each takes time, and many times its size until it is
 * answered.
 * @param most the number of places
 * @param what what too many requests do, for the refusal
 */
export function createLargeReads({ later, backlog }: LargeReadsOptions, most: number, what: string) {
  const places = createPlaces(most)
  const refusal = tooMany(what)

  async function enter(answer: ServerResponse): Promise<void> {
    const leave = await places.enter(watchOf(answer, work => later(PATIENCE_MS, work), refusal))
    if (answer.destroyed) {
      leave()
      throw refusal()
    }
    let isLeft = false
    const leaveSoon = () => {
      // Others come in between, although the next begins.
      if (!isLeft) setImmediate(leave)
      isLeft = true
    }
    // The answer is made. Its reader keeps no place.
    answer.once('prefinish', () => {
      backlog.add(answer, answer.writableLength > 0)
      leaveSoon()
    })
    answer.once('close', () => {
      backlog.remove(answer)
      leaveSoon()
    })
  }

  return {
    /** The number of reads in progress, and of those that wait, for tests. */
    inUse: places.inUse,
    /**
     * Waits for a place. It is left once the answer is made.
     * Rejects with SERVICE_UNAVAILABLE after 30 s, or when the connection is closed.
     */
    enter,
    /** The hook of a route that waits for a place. */
    preHandler: (_request: FastifyRequest, { raw }: FastifyReply) => enter(raw),
  }
}
