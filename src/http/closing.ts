import type { Socket } from 'node:net'
import fp from 'fastify-plugin'
import { errors } from '../core/errors.js'
import { pathOf } from './url.js'

declare module 'fastify' {
  interface FastifyInstance {
    /** Returns whether the server is closing. */
    isClosing(): boolean
  }
}

/** The path that answers 200 while the server closes: the process is alive. */
const LIVE = '/_sandbox/health/live'

/** Refuses requests with 503 while the server closes. Fastify's own answer is not in the error envelope. */
export const closing = fp((app, _options, done) => {
  let isClosing = false
  const sockets = new Set<Socket>()
  app.decorate('isClosing', () => isClosing)
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })

  app.addHook('preClose', next => {
    isClosing = true
    // Node does not count a connection without a request as idle, and would wait for it.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
    next()
  })
  app.addHook('onRequest', (request, _reply, next) => {
    if (isClosing && pathOf(request.url) !== LIVE) throw errors.unavailable('The server is closing.')
    next()
  })
  app.addHook('onSend', (_request, reply, _payload, next) => {
    if (isClosing) reply.header('connection', 'close')
    next()
  })
  done()
})
