import type { Static } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { errors } from '../../core/errors.js'
import type { Event } from '../../core/records/events.js'
import type { Tenant } from '../../tenants/tenant.js'
import type { ControlContext } from '../control-route.js'
import { openStream, resumeAt } from '../stream.js'
import type { EventQuery } from './schemas.js'

type EventsContext = Pick<
  ControlContext,
  'registry' | 'refresh' | 'lifeOf' | 'waiters' | 'backlog' | 'now' | 'elapsed' | 'isClosing'
>
type Query = Static<typeof EventQuery>

/** The maximum number of events in one answer. A reader requests the others afterwards. */
const MOST = 1000
/** The number of events that a stream sends before it looks whether its reader takes them. */
const MOST_STREAMED = 100

function pageOf({ events }: Tenant, query: Query, after: number, most = MOST) {
  const { events: data, areAll } = events.select(after, query, most)
  return { data, last: areAll ? events.last() : (data.at(-1) as Event).seq, isWhole: areAll }
}

/** Returns the milliseconds until the next due transition; Infinity: the clock does not get there by itself. */
export function untilNextDue({ clock }: Tenant, realNow: number): number {
  const due = clock.nextDue()
  const real = due === null ? null : clock.realTimeOf(due)
  return real === null ? Infinity : Math.max(0, Math.ceil(real - realNow))
}

/**
 * Returns the events after a number at once; with `wait`, at the next event or after that many seconds.
 * When the tenant is replaced meanwhile, it returns the events of the new one.
 * Throws CLIENT_NOT_FOUND, also when the client is removed meanwhile, and SERVICE_UNAVAILABLE if the database is away at its end.
 */
export function readEvents(
  client: string,
  query: Query,
  { raw: { socket } }: FastifyRequest,
  { registry, refresh, lifeOf, waiters, now, elapsed, isClosing }: EventsContext,
) {
  const { wait = 0 } = query
  let { after = 0 } = query
  registry.tenant(client, now())
  let life = lifeOf(client)
  const deadline = elapsed() + wait * 1000

  const settle = {} as { resolve(page: object): void; reject(error: Error): void }
  const answered = new Promise<object>((resolve, reject) => Object.assign(settle, { resolve, reject }))
  const { cancel, lookAgain } = waiters.wait(
    client,
    () => {
      if (!registry.has(client)) {
        settle.reject(errors.clientNotFound(client))
        return null
      }
      const realNow = now()
      const current = registry.tenant(client, realNow)
      life ??= lifeOf(client)
      const isReplaced = lifeOf(client) !== life
      const { data, last } = pageOf(current, query, isReplaced ? 0 : after)
      const left = deadline - elapsed()
      if (data.length > 0 || left <= 0 || isClosing() || isReplaced || socket.readableEnded) {
        settle.resolve({ data, last })
        return null
      }
      // Events that did not match are not compared again.
      after = Math.max(after, last)
      return Math.min(left, untilNextDue(current, realNow))
    },
    refresh,
    failure => {
      const isLast = elapsed() >= deadline || isClosing()
      if (isLast) settle.reject(failure)
      return isLast
    },
  )
  // A client that has closed its side may be gone.
  socket.once('end', lookAgain).once('close', cancel)
  // The connection may carry further calls.
  return answered.finally(() => socket.off('end', lookAgain).off('close', cancel))
}

/**
 * Streams the events after a number: `id` is the `seq`, `event` the kind, `data` the event.
 * An event `reset` means that the tenant was replaced, and that numbers start at 1 again.
 */
export function streamEvents(
  client: string,
  query: Query,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  context: EventsContext,
): void {
  const { registry, lifeOf, now } = context
  let after = resumeAt(request, query.after ?? 0, registry.tenant(client, now()).events.last())
  let life = lifeOf(client)

  openStream({ ...context, client, request, reply, greeting: 'the events of this tenant' }, stream => {
    const realNow = now()
    const tenant = registry.tenant(client, realNow)
    life ??= lifeOf(client)
    if (lifeOf(client) !== life) {
      life = lifeOf(client)
      after = 0
      stream.send(0, 'reset', {})
    }
    // A slow reader gets the next page after it has taken this one.
    for (let isWhole = false; !isWhole && !stream.isFull(); ) {
      const page = pageOf(tenant, query, after, MOST_STREAMED)
      for (const event of page.data) stream.send(event.seq, event.kind, event)
      after = page.last
      isWhole = page.isWhole
    }
    return untilNextDue(tenant, realNow)
  })
}
