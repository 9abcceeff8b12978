import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ControlContext } from '../features/control-route.js'
import { openStream } from '../features/stream.js'

/** The shortest time between two events: however much happens, a page renews itself at most twice a second. */
const PAUSE_MS = 500
/** The time after which a request log that other servers share may have news. */
const SHARED_MS = 1000

/**
 * Streams an event `change` when a client changes, and one for several changes together. It has no data: a page fetches
 * itself.
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
  // The page has just been loaded.
  let isPending = false

  openStream({ ...context, client, request, reply, waiters, greeting: 'the changes of this tenant' }, stream => {
    const pause = lastEvent + PAUSE_MS - elapsed()
    if (isPending && pause <= 0 && !stream.isFull()) {
      stream.send(0, 'change', {})
      lastEvent = elapsed()
    }
    // Whatever makes this function look again is a reason to send.
    const isWaiting = isPending && pause > 0
    isPending = true
    if (isWaiting) return pause
    if (ofRequests) return requestLog.isShared ? SHARED_MS : Infinity
    const { clock } = registry.tenant(client, now())
    const due = clock.nextDue()
    const real = due === null ? null : clock.realTimeOf(due)
    return real === null ? Infinity : Math.max(0, Math.ceil(real - now()))
  })
}
