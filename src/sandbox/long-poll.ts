import type { FastifyRequest } from 'fastify'
import { errors } from '../core/errors.js'
import type { EventWaiters } from './events/waiters.js'
import type { ControlContext } from './route.js'

export interface LongPoll extends Pick<ControlContext, 'registry' | 'storage' | 'elapsed' | 'isClosing'> {
  readonly client: string
  /** The maximum wait, in seconds of real time. */
  readonly seconds: number
  readonly request: FastifyRequest
  /** The calls that wait for such news of a tenant. */
  readonly waiters: EventWaiters
}

/**
 * Looks for an answer at once, at news of the tenant, and when the wait is over. A closing server and a connection whose
 * client has closed its side end the wait.
 * @param look gives the answer, now or later; with `isEnd`, it must. Returns the milliseconds until the next look at the latest
 * Rejects with CLIENT_NOT_FOUND, also when the client is removed meanwhile, and SERVICE_UNAVAILABLE if the database is away
 * at the end.
 */
export function longPoll<T>(
  { client, seconds, request, registry, waiters, storage, elapsed, isClosing }: LongPoll,
  look: (isEnd: boolean, answer: (value: T) => void) => number,
): Promise<T> {
  const { socket } = request.raw
  const deadline = elapsed() + seconds * 1000
  let resolve: (value: T) => void = () => {}
  let reject: (error: Error) => void = () => {}
  const answered = new Promise<T>((...settle) => {
    ;[resolve, reject] = settle
  })
  let isAnswered = false
  const answer = (value: T) => {
    isAnswered = true
    resolve(value)
  }
  const { cancel, lookAgain } = waiters.wait(
    client,
    isNews => {
      if (!registry.has(client)) {
        // It may only have left memory: it is brought up to date first.
        if (isNews) return 0
        reject(errors.clientNotFound(client))
        return null
      }
      const left = deadline - elapsed()
      const next = look(left <= 0 || isClosing() || socket.readableEnded, answer)
      return isAnswered ? null : Math.min(left, next)
    },
    storage.refresh,
    failure => {
      const isLast = elapsed() >= deadline || isClosing()
      if (isLast) reject(failure)
      return isLast
    },
  )
  // A client that has closed its side may be gone.
  socket.once('end', lookAgain).once('close', cancel)
  // The connection may carry further calls.
  return answered.finally(() => {
    cancel()
    socket.off('end', lookAgain).off('close', cancel)
  })
}
