import fp from 'fastify-plugin'
import { maskText } from './masking.js'
import { pathOf } from './url.js'

/** Logs each request at level `debug` with Fastify's logger. Fastify's own lines would hold queries with secrets. */
export const logging = fp((app, _options, done) => {
  app.addHook('onResponse', (request, reply, next) => {
    const path = maskText(pathOf(request.raw.url as string))
    request.log.debug(
      { method: request.method, path, status: reply.statusCode, ms: reply.elapsedTime },
      'request completed',
    )
    next()
  })
  done()
})
