import { Socket } from 'node:net'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { errors } from '../core/errors.js'
import { LARGE } from './large-answers.js'
import type { Timers } from './timers.js'

/** The maximum number of bytes of large bodies at a time. The others wait. One without others can be larger. */
const MOST = 128 * 1024 * 1024

/** A request that has waited for this time is refused. All of it must arrive within 60 s. */
const PATIENCE_MS = 30_000

/** A request that waits for room. */
interface Waiting {
  readonly bytes: number
  begin(): void
}

/** Creates the large bodies of a server. Each needs memory until its request is answered. */
export function createLargeBodies({ later }: Pick<Timers, 'later'>) {
  let used = 0
  const waiting = new Set<Waiting>()
  const hasRoom = (bytes: number) => used === 0 || used + bytes <= MOST

  /** Begins the requests for which there is room, in the order in which they came. */
  function admit(): void {
    for (const next of waiting) {
      if (!hasRoom(next.bytes)) return
      next.begin()
    }
  }

  return {
    /** The number of bytes that have room, and of requests that wait for it, for tests. */
    inUse: (): number => used + waiting.size,
    /**
     * Waits until there is room for the body of a request. Nothing of it is read before.
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
      const begin = () => {
        used += bytes
        answer.once('close', () => {
          used -= bytes
          admit()
        })
        next()
      }
      if (waiting.size === 0 && hasRoom(bytes)) {
        begin()
        return
      }
      const leave = () => {
        waiting.delete(entry)
        cancel()
        answer.off('close', giveUp)
      }
      const giveUp = () => {
        leave()
        admit()
      }
      const entry: Waiting = {
        bytes,
        begin() {
          leave()
          begin()
        },
      }
      waiting.add(entry)
      answer.once('close', giveUp)
      const cancel = later(PATIENCE_MS, () => {
        giveUp()
        next(
          errors.unavailable('Too many large bodies arrive at the moment. Repeat the request.', { 'retry-after': '1' }),
        )
      })
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
