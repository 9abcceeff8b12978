import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ControlContext } from '../features/control-route.js'
import { untilNextDue } from '../features/events/read.js'
import { openStream } from '../features/stream.js'

/** The shortest time between two events: however much happens, a page renews itself at most twice a second. */
const PAUSE_MS = 500
/** The time after which a request log that other servers share is looked at again. */
const SHARED_MS = 500

/**
 * Streams an event `change` at the beginning and when a client changes, and one for several changes together. It has no
 * data: a page fetches itself.
 * @param ofRequests whether the changes are those of the request log
 */
export function streamChanges(
  client: string,
  ofRequests: boolean,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  context: ControlContext,
): void {
  const { registry, requestLog, requestWaiters, now, elapsed } = context
  const waiters = ofRequests ? requestWaiters : context.waiters
  let lastEvent = elapsed() - PAUSE_MS
  // The page may have been loaded before a change.
  let isPending = true
  /** The real time at which a fault expires, which a page shows. */
  let expiry = Infinity
  /** The log at the last look. */
  let seen = ''

  /** Compares the log with that of the last look. */
  async function compare() {
    const { last, dropped, data } = await requestLog.list(client, { limit: 1 })
    const present = [last, dropped, data.length].join()
    isPending ||= present !== seen
    seen = present
  }

  openStream(
    { ...context, client, request, reply, waiters, greeting: 'the changes of this client' },
    (stream, isNews) => {
      isPending ||= isNews || now() >= expiry
      const pauseLeft = () => lastEvent + PAUSE_MS - elapsed()
      const send = () => {
        if (!isPending || pauseLeft() > 0 || stream.isFull()) return
        stream.send(0, 'change', {})
        lastEvent = elapsed()
        isPending = false
      }
      if (ofRequests && requestLog.isShared) {
        // A database that is away is asked again.
        void compare().then(send, () => {})
        return SHARED_MS
      }
      send()
      if (isPending && pauseLeft() > 0) return pauseLeft()
      if (ofRequests) return Infinity
      const realNow = now()
      const tenant = registry.tenant(client, realNow)
      expiry = tenant.faults.nextExpiry(realNow)
      return Math.min(untilNextDue(tenant, realNow), expiry - realNow)
    },
  )
}
