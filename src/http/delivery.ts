import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Met } from '../core/faults.js'
import type { Timers } from './timers.js'

/** A dribbled body comes in so many pieces at most. */
const PIECES = 10

/** Delivers an answer otherwise than Fastify would. */
type Way = (reply: FastifyReply, socket: Socket, body: string) => void

/** Delivers an answer, and calls `done` where Fastify is to do that. */
export type Deliver = (request: FastifyRequest, reply: FastifyReply, payload: unknown, done: () => void) => void

/** Delivers answers as the faults want it that their requests have met: late, in part, or not at all. */
export function createDelivery(app: FastifyInstance, timers: Timers): Deliver {
  let isClosing = false

  app.addHook('preClose', done => {
    isClosing = true
    timers.flush()
    done()
  })

  return (request, reply, payload, done) => {
    if (request.met === null) {
      done()
      return
    }
    const { delay, effect } = request.met
    const way = wayOf(effect, timers, () => isClosing)
    const answer = () => {
      // What goes out because the server closes ends its connection, which would keep the server from closing.
      if (isClosing) reply.header('connection', 'close')
      // The client may have hung up while it waited.
      if (way === undefined || request.raw.socket.destroyed) done()
      else inTurn(reply, socket => way(reply, socket, payload as string))
    }
    if (delay === 0) answer()
    else timers.later(delay, answer)
  }
}

/** Does some work when all earlier answers on the connection have left: requests may have come in one go. */
function inTurn({ raw }: FastifyReply, work: (socket: Socket) => void) {
  // Node is not done with giving it the connection when it tells of that.
  if (raw.socket === null) raw.once('socket', socket => process.nextTick(work, socket))
  else work(raw.socket)
}

function wayOf(effect: Met['effect'], timers: Timers, isClosing: () => boolean): Way | undefined {
  switch (effect?.kind) {
    case 'drop':
      return drop
    case 'reset':
      return reset
    case 'garbage':
      return garbage
    case 'truncate':
      return truncate
    case 'dribble':
      return dribble(effect.ms, timers, isClosing)
    default:
      return undefined
  }
}

const drop: Way = (reply, socket) => {
  reply.hijack()
  socket.end(() => socket.destroy())
}

const reset: Way = (reply, socket) => {
  reply.hijack()
  // The connection of an injected request is none.
  if (socket.resetAndDestroy === undefined) socket.destroy()
  else socket.resetAndDestroy()
}

const garbage: Way = (reply, socket) => {
  reply.hijack()
  socket.end('\u0015\u0003\u0001 this is not HTTP\r\n\r\n', () => socket.destroy())
}

const truncate: Way = (reply, socket, body) => {
  const bytes = begin(reply, body)
  reply.raw.write(bytes.subarray(0, bytes.length >> 1), () => socket.end(() => socket.destroy()))
}

const dribble =
  (ms: number, timers: Timers, isClosing: () => boolean): Way =>
  (reply, socket, body) => {
    const { raw } = reply
    const bytes = begin(reply, body)
    const size = Math.max(1, Math.ceil(bytes.length / PIECES))
    const next = (start: number) => {
      if (raw.destroyed) return
      const end = start + size
      if (end < bytes.length) {
        raw.write(bytes.subarray(start, end))
        timers.later(ms, () => next(end))
      } else {
        // The head has promised to keep the connection, perhaps, before the server began to close.
        raw.end(bytes.subarray(start), () => isClosing() && socket.end())
      }
    }
    next(0)
  }

/** Sends the head of an answer as it would have been; answers the body that is to follow. */
function begin(reply: FastifyReply, body: string): Buffer {
  const bytes = Buffer.from(body)
  const isEmpty = reply.statusCode === 204
  // What Fastify does last of all.
  if (isEmpty) reply.removeHeader('content-type')
  else reply.header('content-length', bytes.length)
  reply.hijack()
  reply.raw.writeHead(reply.statusCode, reply.getHeaders() as Record<string, string>)
  reply.raw.flushHeaders()
  return isEmpty || reply.request.method === 'HEAD' ? Buffer.alloc(0) : bytes
}
