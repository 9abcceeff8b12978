/**
 * Checks of each server of this process that it holds nothing when it closes: no timer, no wait, no place for a large
 * answer, no turn, no listener of an answered request on a socket; and that it has counted the bytes it keeps.
 *
 * Import it before servers are made: `node --import ./build/test/nothing-left.js`. What is left is reported on standard
 * error, and the process ends with a failure.
 */
import { subscribe } from 'node:diagnostics_channel'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import timers from 'node:timers'
import type { Built } from '../src/server.js'

/** The milliseconds in which a connection may still be seen that its client has closed. */
const PATIENCE_MS = 1000
/** Tests may fake those of the process. */
const { setImmediate } = timers
const now = performance.now.bind(performance)

/** The listeners of a socket before its first request, and its answer that is on the way. */
interface Watched {
  readonly listeners: number
  response: ServerResponse
}
const sockets = new Map<Server, Map<Socket, Watched>>()

const listenersOf = (socket: Socket) => socket.eventNames().reduce((sum, name) => sum + socket.listenerCount(name), 0)

/** The servers whose tests let them close while something is on the way. */
const exempt = new WeakSet<object>()

let latest: object = {}

/** Lets a server, by default the latest one, close while something is on the way: its test is about that. */
export const closesEarly = (app = latest): void => void exempt.add(app)

subscribe('http.server.request.start', message => {
  const { server, socket, response } = message as {
    server: Server
    socket: Socket
    request: IncomingMessage
    response: ServerResponse
  }
  const all = sockets.get(server) ?? new Map<Socket, Watched>()
  sockets.set(server, all)
  const watched = all.get(socket)
  if (watched === undefined) all.set(socket, { listeners: listenersOf(socket), response })
  else watched.response = response
})

subscribe('payments-sandbox.built', message => {
  const { app, held } = message as Built
  latest = app
  const leftOf = () => {
    const left: Record<string, number> = Object.fromEntries(Object.entries(held()).filter(([, count]) => count !== 0))
    for (const [socket, { listeners, response }] of sockets.get(app.server) ?? []) {
      if (socket.destroyed || !response.writableFinished) continue
      if (listenersOf(socket) > listeners) left.listeners = (left.listeners ?? 0) + listenersOf(socket) - listeners
    }
    return left
  }
  app.addHook('preClose', async () => {
    if (exempt.has(app)) return
    const began = now()
    let left = leftOf()
    while (Object.keys(left).length > 0 && now() - began < PATIENCE_MS) {
      await new Promise(resolve => setImmediate(resolve))
      left = leftOf()
    }
    sockets.delete(app.server)
    if (Object.keys(left).length === 0) return
    process.stderr.write(`A server has something left as it closes: ${JSON.stringify(left)}\n${origin}\n`)
    process.exitCode = 1
  })
  const origin = new Error('The server was built here.').stack
})
