import type { FastifyRequest } from 'fastify'
import { errors } from '../core/errors.js'
import type { EventWaiters } from './events/waiters.js'
import type { ControlContext } from './route.js'

export interface LongPoll extends Pick<ControlContext, 'registry' | 'storage' | 'timers' | 'isClosing'> {
  readonly client: string
  /** The maximum wait, in seconds of real time. */
  readonly seconds: number
  readonly request: FastifyRequest
  /** The calls that wait for such news of a tenant. */
  readonly waiters: EventWaiters
}

/** The time after which a wait tries again while the database cannot be used. */
const RETRY_MS = 1000

/**
 * Looks for an answer at once, at news of the tenant, and when the wait is over. A closing server and a connection whose
 * client has closed its side end the wait.
 * @param search gives the answer, now or later; with `isEnd`, it must. Returns the milliseconds until the next look at the latest
 * Rejects with CLIENT_NOT_FOUND, also when the client is removed meanwhile, and SERVICE_UNAVAILABLE if the database is away
 * at the end.
 */
export function longPoll<T>(
  { client, seconds, request, registry, waiters, storage, timers, isClosing }: LongPoll,
  search: (isEnd: boolean, answer: (value: T) => void) => number,
): Promise<T> {
  const { socket } = request.raw
  const deadline = timers.elapsed() + seconds * 1000

  return new Promise<T>((resolve, reject) => {
    let isOver = false
    let cancelTimer = () => {}
    const wait = { client, look, lookAgain }

    function end() {
      isOver = true
      cancelTimer()
      waiters.remove(wait)
      // The connection may carry further calls.
      socket.off('end', lookAgain).off('close', end)
    }

    function answer(value: T) {
      end()
      resolve(value)
    }

    function refuse(error: Error) {
      end()
      reject(error)
    }

    function lookIn(milliseconds: number) {
      cancelTimer()
      if (!isOver) cancelTimer = timers.later(milliseconds, lookAgain)
    }

    function look() {
      if (isOver) return
      // A client that is not there may only have left memory: it is brought up to date first.
      if (!registry.has(client)) return lookIn(0)
      const left = deadline - timers.elapsed()
      lookIn(Math.min(left, search(left <= 0 || isClosing() || socket.readableEnded, answer)))
    }

    function lookAgain() {
      storage.refresh(client, error => {
        if (isOver) return
        if (error === undefined) {
          if (registry.has(client)) look()
          else refuse(errors.clientNotFound(client))
        } else if (timers.elapsed() >= deadline || isClosing()) refuse(error)
        else lookIn(RETRY_MS)
      })
    }

    waiters.add(wait)
    // A client that has closed its side may be gone.
    socket.once('end', lookAgain).once('close', end)
    look()
  })
}
