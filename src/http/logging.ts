import fp from 'fastify-plugin'
import { maskPath } from './masking.js'
import { originForm, pathOf } from './url.js'

/** Logs each request at level `debug` with Fastify's logger. Fastify's own lines would hold queries with secrets. */
export const logging = fp((app, _options, done) => {
  app.addHook('onResponse', (request, reply, next) => {
    const path = maskPath(pathOf(originForm(request.originalUrl)))
    request.log.debug(
      { method: request.method, path, status: reply.statusCode, ms: reply.elapsedTime },
      'request completed',
    )
    next()
  })
  done()
})
