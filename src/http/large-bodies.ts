import { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { createPlaces, PATIENCE_MS, tooMany, watchOf } from './places.js'
import type { Timers } from './timers.js'

/** A body above this size is large, in bytes. */
const LARGE = 64 * 1024

/** The maximum number of bytes of large bodies at a time. The others wait. One without others can be larger. */
const MOST = 128 * 1024 * 1024

const refusal = tooMany('Too many large bodies arrive')

/** Creates the large bodies of a server. Each needs memory until its request is answered. */
export function createLargeBodies({ later }: Pick<Timers, 'later'>) {
  const places = createPlaces(MOST)
  const patience = (work: () => void) => later(PATIENCE_MS, work)

  return {
    /** The number of bytes that have room, and of requests that wait for it, for tests. */
    inUse: places.inUse,
    /**
     * Waits until there is room for the body of a request. Before, nothing of it is read, or the begin of one in chunks.
     * @param next is called with SERVICE_UNAVAILABLE after 30 s, and not at all if the connection is closed
     */
    enter(request: FastifyRequest, { raw: answer }: FastifyReply, next: (error?: Error) => void): void {
      const bytes = sizeOf(request)
      // A form that the server sends to itself has its own room.
      if (bytes <= LARGE || !(request.raw.socket instanceof Socket)) {
        next()
        return
      }
      if (answer.destroyed) return
      places.enter('', watchOf(answer, patience, refusal), bytes).then(
        ({ leave }) => {
          if (answer.destroyed) return leave()
          answer.once('close', leave)
          next()
        },
        reason => {
          if (!answer.destroyed) next(reason)
        },
      )
    },
  }
}

/** Returns the size of a body in bytes: of one in chunks, the largest that its route takes; 0: it is refused unread. */
function sizeOf({ headers, sandbox: { route } }: FastifyRequest): number {
  const length = headers['content-length']
  if (/^multipart\//i.test(headers['content-type'] ?? '')) return Math.min(Number(length ?? MOST), MOST / 4)
  const bytes = headers['transfer-encoding'] === undefined ? Number(length ?? 0) : route.bodyLimit
  return bytes > route.bodyLimit ? 0 : bytes
}
