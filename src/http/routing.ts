import type { FastifyReply, FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { errors } from '../core/errors.js'
import { hint } from './hints.js'
import { collectPaths } from './not-found.js'
import { nameOf, regionsOf } from './operations.js'
import { ICON } from './pages/icon.js'
import { prefersHtml } from './pages/prefers-html.js'
import { isRead, pathOf } from './url.js'

/** The path of the console. */
export const CONSOLE = '/_sandbox/console'

/**
 * A path that ends with a slash, or has an encoded one: that is a path separator (interface, Errors 2), but routers decode it
 * into the value. No route ends with a slash, but routers match one to a parameter without a value.
 */
const UNROUTABLE = /^[^?]*(?:%2f|\/(?=\?|$))/i

/**
 * Answers the requests that no route takes: unknown paths with 404, other methods with 405 and `Allow`, OPTIONS with 204
 * (decisions §1). A 404 handler of Fastify would come after a refusal of the body.
 */
export const routing = fp((app, _options, done) => {
  app.addHook('onRoute', route => {
    const { method, url, schema } = route
    // No request has to work these out.
    route.config = { ...route.config, operation: nameOf(String(method), url), regions: regionsOf(schema) }
    // Fastify would add a route for each, which makes building a server slower. Node sends no content
    // of an answer to HEAD.
    if (method === 'GET') route.method = ['GET', 'HEAD']
  })
  const { allowedOn, routeNotFound } = collectPaths(app)

  app.addHook('onRequest', function findRoute(request, reply, next) {
    const { is404, method, headers } = request
    const target = request.url
    const isUnroutable = UNROUTABLE.test(target)
    // @fastify/cors adds a route of OPTIONS for every path.
    if (is404 || isUnroutable || method === 'OPTIONS') {
      answer(request, reply, pathOf(target), isUnroutable)
      return
    }
    if (method === 'POST' && headers['idempotency-key'] !== undefined) {
      hint(request, 'Idempotency-Key is not documented and has no effect')
    }
    next()
  })
  done()

  /** Answers OPTIONS of a known path, and browsers. @throws ROUTE_NOT_FOUND, METHOD_NOT_ALLOWED */
  function answer(request: FastifyRequest, reply: FastifyReply, path: string, isUnroutable: boolean): unknown {
    const { method } = request
    if (path === '/') return answerRoot(request, reply)
    // A browser asks by itself for the icon of a page or of a JSON answer: it is no request of the app.
    if (path === '/favicon.ico' && isRead(method)) {
      request.sandbox.isForeign = true
      return reply.type('image/svg+xml').header('cache-control', 'max-age=86400').send(ICON)
    }
    if (isUnroutable) throw routeNotFound(path)
    const allow = path === '*' ? 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT' : allowedOn(path)
    if (method === 'OPTIONS' && allow !== undefined) return reply.code(204).header('allow', allow).send()
    if (allow === undefined || path === '*') throw routeNotFound(path)
    throw errors.methodNotAllowed(method, allow)
  }

  /** Redirects a browser from the root to the console, where there is one. @throws ROUTE_NOT_FOUND */
  function answerRoot(request: FastifyRequest, reply: FastifyReply) {
    if (request.method === 'OPTIONS') return reply.code(204).header('allow', 'GET, HEAD, OPTIONS').send()
    reply.header('vary', 'accept')
    const hasConsole = app.hasRoute({ method: 'GET', url: CONSOLE })
    if (!hasConsole || !isRead(request.method) || !prefersHtml(request)) throw errors.nothingAtRoot()
    request.sandbox.isForeign = true
    // Relative, since a proxy may add a path prefix.
    return reply.redirect(CONSOLE.slice(1))
  }
})
