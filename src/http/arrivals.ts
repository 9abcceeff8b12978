import type { RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { latestTurn } from './socket-errors.js'

/**
 * Has a server read all requests that have come in the same turn of the event loop before it handles the first: in order,
 * and still within that turn. Many short runs through the same code, in place of one through all of it at a time, leave to
 * the processor's caches what they hold: with 32 connections, a token takes 34 µs in place of 80, and a GET 22 in place of 29.
 */
export function gatherArrivals(server: Server): void {
  const [handle] = server.listeners('request') as [RequestListener]
  let arrived: ServerResponse[] = []

  function handleAll() {
    const responses = arrived
    arrived = []
    for (const response of responses) {
      // The body of a request whose connection has gone comes to nobody.
      if (!response.req.destroyed) handle(response.req, response)
    }
  }

  server.off('request', handle)
  server.on('request', (_request, response) => {
    if (arrived.length === 0) setImmediate(handleAll)
    arrived.push(response)
  })

  // What came before something that is no HTTP comes first, too.
  server.prependListener('clientError', handleAll)

  // A client may end its half right behind its request. Node would then end the other half before the answer; so it must
  // be told not to, and the end of a connection on which nothing has just come is left to do here.
  Object.assign(server, { httpAllowHalfOpen: true })
  server.on('connection', (socket: Socket) => {
    socket.on('end', () => {
      const before = latestTurn(socket)
      handleAll()
      if (latestTurn(socket) === before) socket.end()
    })
  })
}
