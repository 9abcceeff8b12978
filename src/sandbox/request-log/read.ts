import type { Static } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { longPoll } from '../long-poll.js'
import type { ControlContext } from '../route.js'
import type { RequestQuery } from './schemas.js'

type RequestsContext = Pick<
  ControlContext,
  'registry' | 'storage' | 'requestLog' | 'requestWaiters' | 'elapsed' | 'isClosing'
>

/** The time until a log that other servers share is read again. */
const SHARED_MS = 500

/**
 * Waits with `wait` until the log has a request that matches. Returns the number after which the answer begins: 0 when the
 * log starts again meanwhile.
 * Rejects as `longPoll`.
 */
export async function awaitRequest(
  client: string,
  query: Static<typeof RequestQuery>,
  request: FastifyRequest,
  context: RequestsContext,
): Promise<number> {
  const { requestLog, requestWaiters: waiters } = context
  const { after: start = 0, wait = 0 } = query
  if (wait === 0) return start
  let after = start
  let life: unknown
  let isReading = false
  let isStale = false

  async function read(answer: (after: number) => void) {
    const page = await requestLog.list(client, { ...query, after, limit: 1 })
    life ??= page.life
    if (page.life !== life) answer(0)
    else if (page.data.length > 0) answer(start)
    // Requests that did not match are not compared again.
    after = Math.max(after, page.last)
  }

  async function readAll(answer: (after: number) => void) {
    isReading = true
    do {
      isStale = false
      // A database that is away is asked again, and refuses the answer at the end.
      await read(answer).catch(() => {})
    } while (isStale)
    isReading = false
  }

  return longPoll<number>({ ...context, client, seconds: wait, request, waiters }, (isEnd, answer) => {
    if (isEnd) answer(start)
    else if (isReading) isStale = true
    else void readAll(answer)
    return requestLog.isShared ? SHARED_MS : Infinity
  })
}
