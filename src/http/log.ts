import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import { maskText } from './masking.js'
import { pathOf } from './routing.js'

/** Where lines of the log go: a pino logger, or what looks like one. */
export type Log = Pick<FastifyBaseLogger, 'level' | 'debug' | 'error'>

declare module 'fastify' {
  interface FastifyInstance {
    /** Logs what should not have happened while a request was handled. */
    reportFailure(request: FastifyRequest, error: unknown, message: string): void
  }
}

/**
 * Logs failures, and each request at level `debug`. Fastify is given no logger of its own: it would make a child of it,
 * and listen to the end of the answer, for every request, which together takes as long as the look-up of a record.
 */
export function installLog(app: FastifyInstance, log: Log | undefined): void {
  app.decorate('reportFailure', ({ id }, error, message) => log?.error({ reqId: id, err: error }, message))
  if (log?.level !== 'debug' && log?.level !== 'trace') return
  app.addHook('onResponse', (request, reply, done) => {
    const { method, url } = request.raw
    const path = maskText(pathOf(url as string))
    log.debug(
      { reqId: request.id, method, path, status: reply.statusCode, ms: performance.now() - request.startedAt },
      'answered',
    )
    done()
  })
}
