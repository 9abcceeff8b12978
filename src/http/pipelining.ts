import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import fp from 'fastify-plugin'
import { createQueue } from './slices.js'

/** The maximum number of requests of a connection that wait. Each needs memory, and Node reads 64 KiB of them at once. */
export const MOST_WAITING = 100
/** The maximum number of headers of a request. Node drops the others in silence, and can drop Transfer-Encoding. */
export const MOST_HEADERS = 200
/** The maximum number of headers of those that wait. Each needs some 120 bytes, and can have three on the wire. */
const MOST_WAITING_HEADERS = 5000

/** The requests of a connection. Answers leave in their order. */
interface Line {
  /** The last answer, finished or not. */
  last: ServerResponse
  waiting: number
  /** The number of headers of the requests that wait. */
  headers: number
}

const lines = new WeakMap<Socket, Line>()

/** Returns the last answer of a connection, finished or not. */
export const lastAnswer = (socket: Socket): ServerResponse | undefined => lines.get(socket)?.last

/**
 * Handles the requests of a connection one at a time: the next begins when the reader has taken the answer of the former.
 * A client may send them without waiting (RFC 9112 §9.3.2). A connection on which too many wait is closed.
 */
export const pipelining = fp((app, _options, done) => {
  // Others come in between.
  const beginSoon = createQueue()

  // A client that has closed its side still reads (RFC 9112 §9.6). By default, Node would drop the answers that wait. It does
  // not document the property.
  Object.assign(app.server, { httpAllowHalfOpen: true })

  app.addHook('onRequest', ({ raw: { socket, rawHeaders } }, { raw: answer }, next) => {
    const line = lines.get(socket)
    if (line === undefined) {
      lines.set(socket, { last: answer, waiting: 0, headers: 0 })
      next()
      return
    }
    // Requests of a connection that closes are dropped: Node answers none of them.
    const begin = () => {
      if (socket.writable) next()
    }
    const former = line.last
    line.last = answer
    if (former.destroyed) {
      begin()
      return
    }
    const headers = rawHeaders.length / 2
    if (line.waiting === MOST_WAITING || headers > MOST_HEADERS || line.headers + headers > MOST_WAITING_HEADERS) {
      socket.destroy()
      return
    }
    line.waiting++
    line.headers += headers
    former.once('close', () => {
      line.waiting--
      line.headers -= headers
      beginSoon(begin)
    })
  })
  done()
})
