import fp from 'fastify-plugin'
import { errors } from '../core/errors.js'
import { ICON } from './pages/icon.js'
import { prefersHtml } from './pages/prefers-html.js'
import { isRead, pathOf } from './url.js'

/** The path of the console. */
export const CONSOLE = '/_sandbox/console'

/**
 * Redirects a browser from the root to the console, where there is one. Other clients get ROUTE_NOT_FOUND. Answers the request
 * that a browser makes by itself for the icon of a page or of a JSON answer: it is no request of the app.
 */
export const home = fp((app, _options, done) => {
  app.addHook('onRequest', (request, reply, next) => {
    const path = pathOf(request.raw.url as string)
    if (path === '/favicon.ico' && isRead(request.method)) {
      request.sandbox.isForeign = true
      reply.type('image/svg+xml').header('cache-control', 'max-age=86400').send(ICON)
      return
    }
    if (path !== '/') {
      next()
      return
    }
    reply.header('vary', 'accept')
    const hasConsole = app.hasRoute({ method: 'GET', url: CONSOLE })
    if (!hasConsole || !isRead(request.method) || !prefersHtml(request)) throw errors.nothingAtRoot()
    request.sandbox.isForeign = true
    // Relative, since a proxy may serve the sandbox under a path of its own.
    reply.redirect(CONSOLE.slice(1))
  })
  done()
})
