import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errors } from '../core/errors.js'
import { isRead, pathOf } from './routing.js'
import type { Turn } from './socket-errors.js'
import { answerOnSocket, latestTurn, rememberTurn } from './socket-errors.js'

declare module 'fastify' {
  interface FastifyRequest {
    turn: Turn
    /** When it came, in milliseconds of `performance.now()`. */
    startedAt: number
  }
}

/** The one path that answers while the server closes: the process is alive still. */
const LIVE = '/_sandbox/health/live'

export interface FrontDoor {
  /** Whether the server closes. */
  isClosing(): boolean
  /** It is decided what the answer is: what waits behind it on the connection may go on. */
  leave(request: FastifyRequest, reply: FastifyReply): void
}

/**
 * What every request passes first: it gets its `x-request-id`, must name a host, and is turned away while the server
 * closes. What Node would answer by itself, without the envelope, comes here, too.
 */
export function installFrontDoor(app: FastifyInstance, nextRequestId: () => string): FrontDoor {
  let isClosing = false
  const sockets = new Set<Socket>()
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })

  app.decorateRequest('turn')
  app.decorateRequest('startedAt', 0)

  app.addHook('preClose', done => {
    isClosing = true
    // Some clients connect ahead of their next request. Node counts no such connection as idle, and would wait for it.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
    done()
  })

  app.addHook('onRequest', (request: FastifyRequest, reply, done) => {
    const { raw } = request
    const { 'transfer-encoding': encoding, host } = raw.headers
    request.startedAt = performance.now()
    reply.header('x-request-id', request.id)
    const before = latestTurn(raw.socket)
    request.turn = rememberTurn(raw, reply.raw)
    if (isClosing && pathOf(request.url) !== LIVE) {
      throw errors.unavailable('The server is closing.')
    }
    if (raw.httpVersion !== '1.1' && raw.httpVersion !== '1.0') {
      throw errors.malformed(null, 'The request is not HTTP/1.1.')
    }
    if (encoding !== undefined && encoding.toLowerCase() !== 'chunked') {
      throw errors.malformed('transfer-encoding', 'Transfer-Encoding must be chunked, if anything.')
    }
    // RFC 9112 §3.2.
    if (raw.httpVersion === '1.1' && host === undefined) {
      throw errors.malformed('host', 'The header Host is required.')
    }
    // Requests may come in one go, and a body comes later than what stands behind it: none is overtaken but by reads, if
    // it is one itself (RFC 9112 §9.3.2).
    if (
      before === undefined ||
      before.isThrough ||
      (isRead(raw.method) && isRead(before.response.req.method) && !before.isLate)
    ) {
      done()
    } else {
      request.turn.isLate = true
      before.next = done
    }
  })

  // An expectation that is not 100-continue may be passed over (RFC 9110 §10.1.1).
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response))
  app.server.on('connect', (_request: IncomingMessage, socket: Socket) =>
    answerOnSocket(socket, errors.malformed(null, 'This is no proxy: CONNECT does not work here.'), nextRequestId()),
  )

  return {
    isClosing: () => isClosing,
    leave({ turn }, reply) {
      turn.isThrough = true
      // Once all else that belongs to this answer is done.
      if (turn.next !== undefined) queueMicrotask(turn.next)
      // What was in flight when closing began is answered, and its connection ends with it.
      if (isClosing) reply.header('connection', 'close')
    },
  }
}
