import type { Static } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { errors } from '../../core/errors.js'
import type { Event } from '../../core/records/events.js'
import { PATIENCE_MS } from '../../http/large-answers.js'
import type { Tenant } from '../../tenants/tenant.js'
import type { ControlContext } from '../control-route.js'
import type { EventQuery } from './schemas.js'

type EventsContext = Pick<ControlContext, 'registry' | 'refresh' | 'waiters' | 'now' | 'elapsed' | 'isClosing'>
type Query = Static<typeof EventQuery>

/** The maximum number of events in one answer. A reader requests the others afterwards. */
const MOST = 1000
/** The longest silence of a stream: a comment keeps proxies and readers from giving up. */
const HEARTBEAT_MS = 15_000
function pageOf({ events }: Tenant, query: Query, after: number) {
  const { events: data, areAll } = events.select(after, query, MOST)
  return { data, last: areAll ? events.last() : (data.at(-1) as Event).seq, isWhole: areAll }
}

/** Returns the milliseconds until the next due transition; Infinity: the clock does not get there by itself. */
function untilNextDue({ clock }: Tenant, realNow: number): number {
  const due = clock.nextDue()
  const real = due === null ? null : clock.realTimeOf(due)
  return real === null ? Infinity : Math.max(0, Math.ceil(real - realNow))
}

/**
 * Returns the events after a number at once; with `wait`, at the next event or after that many seconds.
 * When the tenant is replaced meanwhile, it returns the events of the new one.
 * Throws CLIENT_NOT_FOUND, also when the client is removed meanwhile.
 */
export function readEvents(
  client: string,
  query: Query,
  { raw: { socket } }: FastifyRequest,
  { registry, refresh, waiters, now, elapsed, isClosing }: EventsContext,
) {
  const { wait = 0 } = query
  let { after = 0 } = query
  const tenant = registry.tenant(client, now())
  const deadline = elapsed() + wait * 1000

  const settle = {} as { resolve(page: object): void; reject(error: Error): void }
  const answered = new Promise<object>((resolve, reject) => Object.assign(settle, { resolve, reject }))
  const { cancel } = waiters.wait(
    client,
    () => {
      if (!registry.has(client)) {
        settle.reject(errors.clientNotFound(client))
        return null
      }
      const realNow = now()
      const current = registry.tenant(client, realNow)
      const { data, last } = pageOf(current, query, current === tenant ? after : 0)
      const left = deadline - elapsed()
      if (data.length > 0 || left <= 0 || isClosing() || current !== tenant) {
        settle.resolve({ data, last })
        return null
      }
      // Events that did not match are not compared again.
      after = Math.max(after, last)
      return Math.min(left, untilNextDue(current, realNow))
    },
    refresh,
  )
  socket.once('close', cancel)
  // The connection may carry further calls.
  return answered.finally(() => socket.off('close', cancel))
}

/**
 * Streams the events after a number (WHATWG HTML §9.2): `id` is the `seq`, `event` the kind, `data` the event.
 * An event `reset` means that the tenant was replaced, and that numbers start at 1 again.
 */
export function streamEvents(
  client: string,
  query: Query,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { registry, refresh, waiters, now, elapsed, isClosing }: EventsContext,
): void {
  let tenant = registry.tenant(client, now())
  let after = resumeAt(request, query, tenant)
  const { raw } = reply
  const { socket } = request.raw
  reply.hijack()
  if (socket.destroyed) return
  // A reader that closes the connection is no failure.
  raw.on('error', () => {})
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // A closing server would wait for a connection that is kept.
    connection: 'close',
  })
  let lastSent = elapsed()
  const send = (text: string) => {
    lastSent = elapsed()
    raw.write(text)
  }
  send(': the events of this tenant\n\n')

  const wait = waiters.wait(
    client,
    () => {
      const realNow = now()
      const isOver = isClosing() || !registry.has(client)
      if (raw.writableNeedDrain) {
        const patience = lastSent + PATIENCE_MS - elapsed()
        if (!isOver && patience > 0) return patience
        raw.destroy()
        return null
      }
      if (isOver) {
        raw.end()
        return null
      }
      const current = registry.tenant(client, realNow)
      if (current !== tenant) {
        tenant = current
        after = 0
        send('event: reset\nid: 0\ndata: {}\n\n')
      }
      // A slow reader gets the next page after it has taken this one.
      for (let isWhole = false; !isWhole && !raw.writableNeedDrain; ) {
        const page = pageOf(tenant, query, after)
        for (const event of page.data) {
          send(`id: ${event.seq}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`)
        }
        after = page.last
        isWhole = page.isWhole
      }
      if (elapsed() - lastSent >= HEARTBEAT_MS) send(': still here\n\n')
      return Math.min(Math.max(0, lastSent + HEARTBEAT_MS - elapsed()), untilNextDue(tenant, realNow))
    },
    refresh,
  )
  // Between the slices of a turn, there are events that it may undo.
  raw.on('drain', wait.lookAgain)
  socket.once('close', wait.cancel)
}

/** Returns the number after which a client resumes. A number that does not exist is of a replaced tenant. */
function resumeAt({ headers }: FastifyRequest, { after = 0 }: Query, { events }: Tenant): number {
  const seen = headers['last-event-id']
  if (seen === undefined || seen === '') return after
  return /^\d{1,15}$/.test(String(seen)) && Number(seen) <= events.last() ? Number(seen) : 0
}
