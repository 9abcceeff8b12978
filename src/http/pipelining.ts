import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import fp from 'fastify-plugin'
import { isSliceOver } from './slices.js'
import { elapsed } from './timers.js'

/** The maximum number of requests of a connection that wait. Each needs memory, and Node reads 64 KiB of them at once. */
export const MOST_WAITING = 100

/** The requests of a connection. Answers leave in their order. */
interface Line {
  /** The last answer, finished or not. */
  last: ServerResponse
  waiting: number
}

const lines = new WeakMap<Socket, Line>()

/** Returns the last answer of a connection, finished or not. */
export const lastAnswer = (socket: Socket): ServerResponse | undefined => lines.get(socket)?.last

/**
 * Handles the requests of a connection one at a time: the next begins when the reader has taken the answer of the former.
 * A client may send them without waiting (RFC 9112 §9.3.2). A connection on which too many wait is closed.
 */
export const pipelining = fp((app, _options, done) => {
  /** The requests whose turn has come. */
  const ready: (() => void)[] = []
  /** When they began to hold the event loop, in milliseconds; undefined: nothing is ready since its last turn. */
  let began: number | undefined

  /** Begins a request: at once, or in a later turn of the event loop. Others come in between. */
  function beginInSlice(begin: () => void) {
    if (began === undefined) {
      began = elapsed()
      setImmediate(() => {
        began = undefined
        // Most of the work of a request comes after its beginning, so only one begins here.
        const next = ready.shift()
        if (next !== undefined) beginInSlice(next)
      })
    }
    if (isSliceOver(began)) ready.push(begin)
    else begin()
  }

  // A client that has closed its side still reads (RFC 9112 §9.6). By default, Node would drop the answers that wait. It does
  // not document the property.
  Object.assign(app.server, { httpAllowHalfOpen: true })

  app.addHook('onRequest', ({ raw: { socket } }, { raw: answer }, next) => {
    const line = lines.get(socket)
    if (line === undefined) {
      lines.set(socket, { last: answer, waiting: 0 })
      next()
      return
    }
    const former = line.last
    line.last = answer
    if (former.destroyed) {
      next()
      return
    }
    if (line.waiting === MOST_WAITING) {
      socket.destroy()
      return
    }
    line.waiting++
    former.once('close', () => {
      line.waiting--
      // Requests of a closed connection are dropped.
      beginInSlice(() => socket.destroyed || next())
    })
  })
  done()
})
