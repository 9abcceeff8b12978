import fp from 'fastify-plugin'
import { MASK, maskPath, maskText } from './masking.js'
import { originForm, pathOf } from './url.js'

/** The options of the logger that mask secrets: a caller can give a token as an id. */
export const masks = {
  serializers: { reqId: maskText, path: maskPath, clientId: maskText },
  // At level `trace`, the parser of uploads logs all headers.
  redact: { paths: ['busboyOptions.headers'], censor: MASK },
}

/** Logs each request at level `debug` with Fastify's logger. Fastify's own lines would hold queries with secrets. */
export const logging = fp((app, _options, done) => {
  if (!['debug', 'trace'].includes(app.log.level)) {
    done()
    return
  }
  app.addHook('onResponse', function logRequest(request, reply, next) {
    const { method, originalUrl, sandbox } = request
    const { statusCode: status, elapsedTime } = reply
    const ms = Math.round(elapsedTime * 10) / 10
    const path = pathOf(originForm(originalUrl))
    const clientId = sandbox.clientId ?? sandbox.tenant?.clientId
    const code = status < 400 ? undefined : (sandbox.content as { code?: string } | undefined)?.code
    request.log.debug({ method, path, status, code, clientId, ms }, 'request completed')
    next()
  })
  done()
})
