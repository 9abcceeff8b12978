import type { Static } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
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
/** A reader that lags so many bytes behind is cut off; it can resume where it was. */
const MOST_UNREAD = 1024 * 1024

const isFor = ({ kind, reference }: Query, event: Event) =>
  (kind ?? event.kind) === event.kind && (reference ?? event.reference) === event.reference

function pageOf(world: World, query: Query, after: number) {
  const wanted = world.events.after(after).filter(event => isFor(query, event))
  const data = wanted.slice(0, MOST)
  const isWhole = data.length === wanted.length
  return { data, last: isWhole ? world.events.last() : (data.at(-1) as Event).seq, isWhole }
}

/** When the next event can come by itself, in milliseconds; Infinity: not at all. */
function untilNextDue({ clock }: World, realNow: number): number {
  const due = clock.nextDue()
  const real = due === null ? null : clock.realTimeOf(due)
  return real === null ? Infinity : Math.max(0, Math.ceil(real - realNow))
}

/** The events after a number, at once; with `wait`, as soon as there is one, or when that many seconds are over. */
export function readEvents(client: string, query: Query, { sandbox, waiting, now, isClosing }: EventsOptions) {
  const { after = 0, wait = 0 } = query
  const { world } = sandbox.tenant(client, now())
  const deadline = now() + wait * 1000
  const answer = ({ data, last }: ReturnType<typeof pageOf>) => ({ data, last })

  return new Promise(resolve => {
    waiting.follow(client, {
      look() {
        const realNow = now()
        const current = sandbox.has(client) ? sandbox.tenant(client, realNow).world : world
        const page = pageOf(current, query, current === world ? after : 0)
        const isOver = realNow >= deadline || isClosing() || current !== world
        if (page.data.length > 0 || isOver) {
          resolve(answer(page))
          return null
        }
        return Math.min(deadline - realNow, untilNextDue(current, realNow))
      },
    })
  })
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
  const { raw } = reply
  reply.hijack()
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
  })
  raw.write(': the events of this tenant\n\n')
  let lastSent = now()

  function send(text: string) {
    lastSent = now()
    raw.write(text)
  }

  const leave = waiting.follow(client, {
    look() {
      const realNow = now()
      if (isClosing() || !sandbox.has(client) || raw.writableLength > MOST_UNREAD) {
        raw.end()
        return null
      }
      const current = sandbox.tenant(client, realNow).world
      if (current !== world) {
        world = current
        after = 0
        send('event: reset\nid: 0\ndata: {}\n\n')
      }
      for (let isWhole = false; !isWhole; ) {
        const page = pageOf(world, query, after)
        for (const event of page.data) {
          send(`id: ${event.seq}\nevent: ${event.kind}\ndata: ${JSON.stringify(event)}\n\n`)
        }
        after = page.last
        isWhole = page.isWhole
      }
      if (realNow - lastSent >= HEARTBEAT_MS) send(': still here\n\n')
      return Math.min(HEARTBEAT_MS, untilNextDue(world, realNow))
    },
  })
  raw.on('close', leave)
}

/** Where a client that was cut off goes on. A number from before a reset means nothing any more. */
function resumeAt({ headers }: FastifyRequest, { after = 0 }: Query, { events }: World): number {
  const seen = Number(headers['last-event-id'] ?? after)
  return Number.isInteger(seen) && seen >= 0 && seen <= events.last() ? seen : headers['last-event-id'] ? 0 : after
}
