import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Met } from '../core/faults.js'
import type { Timers } from './timers.js'

/** A dribbled body comes in so many pieces at most. */
const PIECES = 10

/**
 * Delivers answers as the faults want it that their requests have met: late, in part, or not at all. To be installed
 * after all that looks at answers.
 */
export function installDelivery(app: FastifyInstance, timers: Timers): void {
  app.addHook('preClose', done => {
    timers.flush()
    done()
  })

  app.addHook('onSend', (request: FastifyRequest, reply: FastifyReply, payload, done) => {
    if (request.met === null) {
      done()
      return
    }
    const { delay, effect } = request.met
    const answer = () => deliver(reply, effect, typeof payload === 'string' ? payload : '', timers, done)
    if (delay === 0) answer()
    else timers.later(delay, answer)
  })
}

function deliver(reply: FastifyReply, effect: Met['effect'], body: string, timers: Timers, asUsual: () => void) {
  const { raw } = reply
  const socket = raw.socket
  // The client may have hung up while it waited.
  if (socket === null) {
    asUsual()
    return
  }
  switch (effect?.kind) {
    case 'drop':
      reply.hijack()
      socket.end(() => socket.destroy())
      break
    case 'reset':
      reply.hijack()
      socket.resetAndDestroy()
      break
    case 'garbage':
      reply.hijack()
      socket.end('\u0015\u0003\u0001 this is not HTTP\r\n\r\n', () => socket.destroy())
      break
    case 'truncate': {
      const bytes = begin(reply, body)
      raw.write(bytes.subarray(0, bytes.length >> 1), () => socket.end(() => socket.destroy()))
      break
    }
    case 'dribble':
      dribble(reply, begin(reply, body), effect.ms, timers)
      break
    default:
      asUsual()
  }
}

/** Sends the head of an answer as it would have been; answers the body that is to follow. */
function begin(reply: FastifyReply, body: string): Buffer {
  const bytes = Buffer.from(reply.request.method === 'HEAD' ? '' : body)
  reply.hijack()
  const length = reply.statusCode === 204 ? {} : { 'content-length': Buffer.byteLength(body) }
  reply.raw.writeHead(reply.statusCode, { ...(reply.getHeaders() as Record<string, string>), ...length })
  reply.raw.flushHeaders()
  return bytes
}

function dribble({ raw }: FastifyReply, bytes: Buffer, ms: number, timers: Timers) {
  const size = Math.max(1, Math.ceil(bytes.length / PIECES))
  const next = (start: number) => {
    if (raw.destroyed) return
    if (start >= bytes.length) {
      raw.end()
      return
    }
    raw.write(bytes.subarray(start, start + size))
    timers.later(ms, () => next(start + size))
  }
  next(0)
}
