import type { Static } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import { longPoll } from '../long-poll.js'
import type { ControlContext } from '../route.js'
import type { RequestQuery } from './schemas.js'

type RequestsContext = Pick<
  ControlContext,
  'registry' | 'storage' | 'requestLog' | 'requestWaiters' | 'timers' | 'isClosing'
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
  let isFound = false
  let reading = Promise.resolve()

  async function read(answer: (after: number) => void) {
    if (isFound) return
    const page = await requestLog.list(client, { ...query, after, limit: 1 })
    life ??= page.life
    isFound = page.life !== life || page.data.length > 0
    if (isFound) answer(page.life === life ? start : 0)
    // Requests that did not match are not compared again.
    after = Math.max(after, page.last)
  }

  return longPoll<number>({ ...context, client, seconds: wait, request, waiters }, (isEnd, answer) => {
    if (isEnd) answer(start)
    // One read after another. A database that is away is asked again, and refuses the answer at the end.
    else reading = reading.then(() => read(answer)).catch(() => {})
    return requestLog.isShared ? SHARED_MS : Infinity
  })
}
