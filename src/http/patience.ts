import { Socket } from 'node:net'
import fp from 'fastify-plugin'
import { PATIENCE_MS } from './large-answers.js'

/** The size above which a kernel may not take an answer at once, in characters. */
const SMALL = 16 * 1024

/** Cuts off a reader that takes nothing of an answer (control plane, Large answers). Streams have a patience of their own. */
export const patience = fp((app, _options, done) => {
  app.addHook('onSend', (_request, { raw }, payload, next) => {
    const { socket } = raw
    if (typeof payload === 'string' && payload.length > SMALL && socket instanceof Socket) {
      // Node closes the connection.
      socket.setTimeout(PATIENCE_MS)
      // Before Node sets the time for the next request.
      raw.prependOnceListener('finish', () => socket.setTimeout(0))
    }
    next()
  })
  done()
})
