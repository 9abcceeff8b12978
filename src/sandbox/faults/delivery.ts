import type { Socket } from 'node:net'
import type { FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import type { Timers } from '../../http/timers.js'
import type { EffectKind } from './effect.js'

/** Delivers answers as the faults of their requests demand: late, in part, or not at all. */
export const faultDelivery = fp<{ timers: Timers }>((app, { timers }, done) => {
  app.addHook('preClose', next => {
    timers.flush()
    next()
  })

  app.addHook('onSend', function deliver(request, reply, payload, next) {
    if (request.sandbox.faults === null) {
      next()
      return
    }
    const { delay, effect } = request.sandbox.faults
    const isClosing = () => app.shutdown.hasBegun
    const answer = () => {
      // The socket of the answer: an injected request has no real one.
      const socket = reply.raw.socket ?? request.raw.socket
      if (isClosing()) reply.header('connection', 'close')
      const deliver = effect === null ? undefined : DELIVERIES[effect.kind]
      // The client may have closed the connection meanwhile.
      if (deliver === undefined || socket.destroyed) next()
      else deliver({ reply, socket, body: (payload ?? '') as string, ...effect, timers, isClosing })
    }
    if (delay === 0) answer()
    else laterFor(reply, timers, delay, answer)
  })
  done()
})

/** Does some work after a time, or at once if the reader has closed its side: it may be gone, and a waiting answer needs memory. */
function laterFor({ request, raw }: FastifyReply, timers: Timers, milliseconds: number, work: () => void): void {
  const { socket } = request.raw
  if (raw.destroyed || socket.readableEnded) {
    work()
    return
  }
  let cancel = () => {}
  const goOn = () => {
    cancel()
    socket.off('end', goOn)
    raw.off('close', goOn)
    work()
  }
  socket.once('end', goOn)
  raw.once('close', goOn)
  cancel = timers.later(milliseconds, goOn)
}

/** An answer that is delivered in another way than by Fastify. */
interface Delivery {
  readonly reply: FastifyReply
  readonly socket: Socket
  readonly body: string
  /** The milliseconds between the pieces of a dribbled body. */
  readonly ms?: number
  readonly timers: Timers
  isClosing(): boolean
}

/** The most pieces of a dribbled body. */
const PIECES = 10

/** The ways of delivery. All other effects leave it to Fastify. */
const DELIVERIES: Readonly<Partial<Record<EffectKind, (answer: Delivery) => void>>> = {
  drop({ reply, socket }) {
    reply.hijack()
    socket.end(() => socket.destroy())
  },
  reset({ reply, socket }) {
    reply.hijack()
    // An injected request has no real connection.
    if (socket.resetAndDestroy === undefined) socket.destroy()
    else socket.resetAndDestroy()
  },
  garbage({ reply, socket }) {
    reply.hijack()
    socket.end('\u0015\u0003\u0001 this is not HTTP\r\n\r\n', () => socket.destroy())
  },
  truncate({ reply, socket, body }) {
    const bytes = begin(reply, body)
    reply.raw.write(bytes.subarray(0, bytes.length >> 1), () => socket.end(() => socket.destroy()))
  },
  dribble({ reply, socket, body, ms = 0, timers, isClosing }) {
    const bytes = begin(reply, body)
    const size = Math.max(1, Math.ceil(bytes.length / PIECES))
    const next = (start: number) => {
      const end = start + size
      if (end < bytes.length) {
        reply.raw.write(bytes.subarray(start, end))
        laterFor(reply, timers, ms, () => next(end))
      } else {
        // The head may have promised to keep the connection before the server began to close.
        reply.raw.end(bytes.subarray(start), () => isClosing() && socket.end())
      }
    }
    next(0)
  },
}

/** Sends the head of an answer as Fastify would. Returns the body that follows. */
function begin(reply: FastifyReply, body: string): Buffer {
  const bytes = Buffer.from(body)
  const isEmpty = reply.statusCode === 204
  if (isEmpty) reply.removeHeader('content-type')
  else reply.header('content-length', bytes.length)
  reply.hijack()
  reply.raw.writeHead(reply.statusCode, reply.getHeaders() as Record<string, string>)
  reply.raw.flushHeaders()
  return isEmpty || reply.request.method === 'HEAD' ? Buffer.alloc(0) : bytes
}
