import { Type } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { messageOf } from '../http/event-stream.js'
import { PATIENCE_MS } from '../http/large-answers.js'
import type { ControlContext } from './control-route.js'
import type { EventWaiters, Look } from './events/waiters.js'

/** The longest silence of a stream: a comment keeps proxies and readers from giving up. */
const HEARTBEAT_MS = 15_000

/** A stream of server-sent events to one reader (WHATWG HTML §9.2). */
export interface Stream {
  send(id: number, event: string, data: object): void
  /** Sends an event of `messageOf`. Many streams can have the same: it is in memory once. */
  sendMessage(message: Buffer): void
  /** Whether the reader has not taken what was sent, or is gone. Then more must wait for the next look. */
  isFull(): boolean
}

export interface StreamOptions
  extends Pick<ControlContext, 'registry' | 'refresh' | 'backlog' | 'elapsed' | 'isClosing'> {
  readonly client: string
  readonly request: FastifyRequest
  readonly reply: FastifyReply
  /** The calls that wait for such news of a tenant. */
  readonly waiters: EventWaiters
  /** A comment that begins the stream. */
  readonly greeting: string
}

/** The answer of a call that also streams. */
export const STREAM_TYPE = {
  'text/event-stream': Type.String({ description: 'A stream of server-sent events, for a request that accepts it.' }),
}

/** Whether a request asks for a stream instead of a list. */
export const wantsStream = ({ headers }: FastifyRequest): boolean =>
  /\btext\/event-stream\b/i.test(headers.accept ?? '')

/**
 * Streams events until the reader, the client or the server goes away.
 * @param look sends all news that the stream takes. Returns the milliseconds until the next look at the latest. `isNews`:
 * the tenant has changed, or its log; otherwise, time has passed
 */
export function openStream(options: StreamOptions, look: (stream: Stream, isNews: boolean) => number): void {
  const { client, request, reply, waiters, greeting, registry, refresh, backlog, elapsed, isClosing } = options
  const { raw } = reply
  const { socket } = request.raw
  reply.hijack()
  if (socket.destroyed) return
  // A reader that closes the connection is no failure.
  raw.on('error', () => {})
  const isHead = request.method === 'HEAD'
  raw.writeHead(200, {
    ...(reply.getHeaders() as Record<string, string>),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    // A closing server would wait for a connection that is kept.
    ...(!isHead && { connection: 'close' }),
  })
  if (isHead) {
    raw.end()
    return
  }
  let lastSent = elapsed()
  const write = (text: string | Buffer) => {
    if (raw.writableEnded || raw.destroyed) return
    lastSent = elapsed()
    raw.write(text)
    backlog.add(raw)
  }
  const stream: Stream = {
    send: (id, event, data) => write(messageOf(id, event, JSON.stringify(data))),
    sendMessage: write,
    isFull: () => raw.writableNeedDrain || raw.destroyed || raw.writableEnded,
  }
  write(`: ${greeting}\n\n`)

  const lookOnce: Look = isNews => {
    // A client that is not in memory is brought up to date first. One that is removed is unknown after that.
    if (isNews && !registry.has(client)) return 0
    // A reader that has closed its side may be gone.
    const isOver = isClosing() || !registry.has(client) || socket.readableEnded
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
    const next = look(stream, isNews)
    if (elapsed() - lastSent >= HEARTBEAT_MS) write(': still here\n\n')
    return Math.min(Math.max(0, lastSent + HEARTBEAT_MS - elapsed()), next)
  }
  const wait = waiters.wait(client, lookOnce, refresh)
  raw.on('drain', () => {
    backlog.remove(raw)
    // Between the slices of a turn, there are events that it may undo.
    backlog.goOn(wait.lookAgain)
  })
  socket.once('end', wait.lookAgain).once('close', () => {
    backlog.remove(raw)
    wait.cancel()
  })
}

/**
 * Returns the number after which a reader resumes. A number that does not exist is of a replaced tenant.
 * @param last the latest number
 */
export function resumeAt({ headers }: FastifyRequest, after: number, last: number): number {
  const seen = headers['last-event-id']
  if (seen === undefined || seen === '') return after
  return /^\d{1,15}$/.test(String(seen)) && Number(seen) <= last ? Number(seen) : 0
}
