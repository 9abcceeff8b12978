import type { Static } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { errors } from '../core/errors.js'
import type { Event } from '../core/events.js'
import type { Waiting } from '../http/waiting.js'
import type { Sandbox } from '../sandbox.js'
import type { World } from '../world.js'
import type { EventQuery } from './schemas.js'

export interface EventsOptions {
  readonly sandbox: Sandbox
  readonly waiting: Waiting
  now(): number
  /** Whether the server is closing: nobody waits any more. */
  isClosing(): boolean
}

type Query = Static<typeof EventQuery>

/** The most events of one answer: whoever wants the rest asks again. */
const MOST = 1000
/** Silence on a stream is broken so often, for proxies and for whoever watches. */
const HEARTBEAT_MS = 15_000
/** A reader that takes nothing for so long is cut off; it can resume where it was. */
const PATIENCE_MS = 60_000

function pageOf({ events }: World, query: Query, after: number) {
  const { events: data, areAll } = events.select(after, query, MOST)
  return { data, last: areAll ? events.last() : (data.at(-1) as Event).seq, isWhole: areAll }
}

/** When the next event can come by itself, in milliseconds; Infinity: not at all. */
function untilNextDue({ clock }: World, realNow: number): number {
  const due = clock.nextDue()
  const real = due === null ? null : clock.realTimeOf(due)
  return real === null ? Infinity : Math.max(0, Math.ceil(real - realNow))
}

/**
 * The events after a number, at once; with `wait`, as soon as there is one, or when that many seconds are over. When
 * the tenant begins anew meanwhile, the answer comes, too: with what the new life has begun with.
 * @throws CLIENT_NOT_FOUND, also when the tenant goes meanwhile
 */
export function readEvents(
  client: string,
  query: Query,
  { raw: { socket } }: FastifyRequest,
  { sandbox, waiting, now, isClosing }: EventsOptions,
) {
  const { wait = 0 } = query
  let { after = 0 } = query
  const { world } = sandbox.tenant(client, now())
  const deadline = now() + wait * 1000
  sandbox.tell(waiting.wake)

  const settle = {} as { resolve(page: object): void; reject(error: Error): void }
  const answered = new Promise<object>((resolve, reject) => Object.assign(settle, { resolve, reject }))
  const { leave } = waiting.follow(client, {
    look() {
      if (!sandbox.has(client)) {
        settle.reject(errors.clientNotFound(client))
        return null
      }
      const realNow = now()
      const current = sandbox.tenant(client, realNow).world
      const { data, last } = pageOf(current, query, current === world ? after : 0)
      if (data.length > 0 || realNow >= deadline || isClosing() || current !== world) {
        settle.resolve({ data, last })
        return null
      }
      // What has been looked through once is not looked through again.
      after = Math.max(after, last)
      return Math.min(deadline - realNow, untilNextDue(current, realNow))
    },
  })
  socket.once('close', leave)
  // The connection may carry further calls.
  return answered.finally(() => socket.off('close', leave))
}

/**
 * The events after a number as a stream (WHATWG HTML §9.2): the `id` of each is its `seq`, `event` its kind, and `data`
 * the event. A `reset` event tells that the tenant has begun anew, and that numbers start over.
 */
export function streamEvents(
  client: string,
  query: Query,
  { request, reply }: { request: FastifyRequest; reply: FastifyReply },
  { sandbox, waiting, now, isClosing }: EventsOptions,
): void {
  let { world } = sandbox.tenant(client, now())
  let after = resumeAt(request, query, world)
  sandbox.tell(waiting.wake)
  const { raw } = reply
  const { socket } = request.raw
  reply.hijack()
  if (socket.destroyed) return
  // A reader that hangs up while something is on its way is no failure.
  raw.on('error', () => {})
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // Or a server that closes would wait for whoever has read the stream to its end.
    connection: 'close',
  })
  let lastSent = now()
  const send = (text: string) => {
    lastSent = now()
    raw.write(text)
  }
  send(': the events of this tenant\n\n')

  const following = waiting.follow(client, {
    look() {
      const realNow = now()
      const isOver = isClosing() || !sandbox.has(client)
      if (raw.writableNeedDrain) {
        const patience = lastSent + PATIENCE_MS - realNow
        if (!isOver && patience > 0) return patience
        raw.destroy()
        return null
      }
      if (isOver) {
        raw.end()
        return null
      }
      const current = sandbox.tenant(client, realNow).world
      if (current !== world) {
        world = current
        after = 0
        send('event: reset\nid: 0\ndata: {}\n\n')
      }
      // A page at a time: a slow reader gets the next one when it has taken this one.
      for (let isWhole = false; !isWhole && !raw.writableNeedDrain; ) {
        const page = pageOf(world, query, after)
        for (const event of page.data) {
          send(`id: ${event.seq}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`)
        }
        after = page.last
        isWhole = page.isWhole
      }
      if (realNow - lastSent >= HEARTBEAT_MS) send(': still here\n\n')
      return Math.min(lastSent + HEARTBEAT_MS - realNow, untilNextDue(world, realNow))
    },
  })
  raw.on('drain', following.look)
  socket.once('close', following.leave)
}

/** Where a client that was cut off goes on. What is no number of this life was one of an earlier life. */
function resumeAt({ headers }: FastifyRequest, { after = 0 }: Query, { events }: World): number {
  const seen = headers['last-event-id']
  if (seen === undefined || seen === '') return after
  return /^\d{1,15}$/.test(String(seen)) && Number(seen) <= events.last() ? Number(seen) : 0
}
