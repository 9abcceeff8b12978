import type { Socket } from 'node:net'
import fp from 'fastify-plugin'

declare module 'fastify' {
  interface FastifyInstance {
    /** The end of the server. Requests that come after its begin are refused. */
    readonly shutdown: { readonly hasBegun: boolean }
  }
}

/** Notes when the server begins to close. */
export const closing = fp((app, _options, done) => {
  const shutdown = { hasBegun: false }
  const sockets = new Set<Socket>()
  app.decorate('shutdown', shutdown)
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
  })

  app.addHook('preClose', next => {
    shutdown.hasBegun = true
    // Node does not count a connection without a request as idle, and would wait for it.
    for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
    next()
  })
  done()
})
