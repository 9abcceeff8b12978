import type { Static } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ControlContext } from '../control-route.js'
import { openStream, resumeAt } from '../stream.js'
import type { LoggedExchange, RequestPage } from './request-log.js'
import type { RequestQuery } from './schemas.js'

type Context = Pick<
  ControlContext,
  'registry' | 'requestLog' | 'requestReads' | 'requestWaiters' | 'refresh' | 'backlog' | 'elapsed' | 'isClosing'
>

/** The time until a log that other servers share is read again. */
const POLL_MS = 500
/** The requests that a reader looks at together. It keeps those that it does not take at once. */
const AT_ONCE = 20

/**
 * Streams the requests after a number that match: `id` is the `seq`, `event` is `request`, `data` the logged request.
 * An event `reset` means that the tenant was reset, and that numbers start at 1 again.
 */
export async function streamRequests(
  client: string,
  query: Static<typeof RequestQuery>,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { requestLog, requestReads, requestWaiters: waiters, ...context }: Context,
): Promise<void> {
  let { life, first, last } = await requestLog.list(client, { limit: 1 })
  let after = resumeAt(request, query.after ?? 0, last)
  /** What was read, and waits for the reader. */
  let rest: readonly LoggedExchange[] = []
  let isReading = false
  let isStale = false
  const filter = { ...query, limit: undefined }

  openStream({ ...context, client, request, reply, waiters, greeting: 'the requests of this tenant' }, stream => {
    const take = (page: RequestPage, before: number) => {
      const isReset = life !== undefined && page.life !== life
      ;({ life, first, last } = page)
      if (isReset) stream.send(0, 'reset', {})
      else rest = page.data
      // Requests that do not match are not compared again.
      after = isReset ? 0 : Math.max(after, Math.min(before - 1, last))
    }
    /** Sends what was read, as far as the reader takes it. */
    const sendRest = async () => {
      while (rest[0] !== undefined && !stream.isFull()) {
        stream.sendMessage(await requestReads.messageOf(rest[0]))
        rest = rest.slice(1)
      }
    }
    /** Sends all that is in the log as the turn begins, in parts. */
    const goOn = async () => {
      await sendRest()
      // A slow reader gets the others after it has taken these. It may be gone.
      for (let end = Infinity; after < end && !stream.isFull(); end = Math.min(end, last)) {
        // Those before the first are dropped.
        after = Math.max(after, first - 1)
        const before = after + AT_ONCE + 1
        take(await requestReads.read(client, { ...filter, after, before }), before)
        await sendRest()
      }
    }
    const read = async () => {
      isReading = true
      do {
        isStale = false
        // A database that is away is asked again.
        await requestReads.inTurn(client, goOn).catch(() => {})
      } while (isStale)
      isReading = false
    }
    requestReads.expire()
    if (isReading) isStale = true
    else void read()
    return requestLog.isShared ? POLL_MS : Infinity
  })
}
