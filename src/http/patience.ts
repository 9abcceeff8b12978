import { Socket } from 'node:net'
import fp from 'fastify-plugin'
import { PATIENCE_MS } from './large-answers.js'

/** Cuts off a reader that takes nothing of an answer (control plane, Large answers). Streams have a patience of their own. */
export const patience = fp((app, _options, done) => {
  app.addHook('onSend', (_request, { raw }, payload, next) => {
    const { socket } = raw
    if ((typeof payload === 'string' || Buffer.isBuffer(payload)) && socket instanceof Socket) {
      // All of the answer is written, as far as the kernel has taken it.
      raw.once('prefinish', () => {
        if (socket.writableLength === 0) return
        // Node closes the connection.
        socket.setTimeout(PATIENCE_MS)
        // Before Node sets the time for the next request.
        raw.prependOnceListener('finish', () => socket.setTimeout(0))
      })
    }
    next()
  })
  done()
})
