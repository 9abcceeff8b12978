import type { Static } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ControlContext } from '../control-route.js'
import { openStream, resumeAt } from '../stream.js'
import type { RequestPage } from './request-log.js'
import type { RequestQuery } from './schemas.js'

type Context = Pick<
  ControlContext,
  'registry' | 'requestLog' | 'requestReads' | 'requestWaiters' | 'refresh' | 'backlog' | 'elapsed' | 'isClosing'
>

/** The time until a log that other servers share is read again. */
const POLL_MS = 500

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
  const latest = await requestLog.list(client, { limit: 1 })
  let life = latest.life
  let after = resumeAt(request, query.after ?? 0, latest.last)
  let isReading = false
  let isStale = false
  const filter = { ...query, before: undefined, limit: undefined }

  openStream({ ...context, client, request, reply, waiters, greeting: 'the requests of this tenant' }, stream => {
    const take = async (page: RequestPage) => {
      const isReset = life !== undefined && page.life !== life
      life = page.life
      if (isReset) {
        after = 0
        isStale = true
        stream.send(0, 'reset', {})
        return
      }
      for (const logged of page.data) {
        // A slow reader gets the others after it has taken these.
        if (stream.isFull()) return
        stream.sendMessage(await requestReads.messageOf(logged))
        after = logged.seq
      }
      // Requests that do not match are not compared again.
      after = Math.max(after, page.last)
    }
    const read = async () => {
      isReading = true
      do {
        isStale = false
        // A database that is away is asked again.
        await requestReads.read(client, { ...filter, after }, take).catch(() => {})
      } while (isStale)
      isReading = false
    }
    requestReads.expire()
    if (isReading) isStale = true
    else void read()
    return requestLog.isShared ? POLL_MS : Infinity
  })
}
