import type { FastifyBaseLogger } from 'fastify'
import fp from 'fastify-plugin'
import { maskPath, maskText } from './masking.js'
import type { RequestContext } from './request-context.js'
import { originForm, pathOf } from './url.js'

type Level = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace' | 'silent'
type Line = [value: unknown, message?: string, ...values: unknown[]]
type ChildOptions = Parameters<FastifyBaseLogger['child']>

/**
 * The logger of one request. Its child logger names the request in each line, and takes a sixth of a short request to
 * create. Most requests log nothing, so the first line creates it.
 */
class RequestLogger {
  readonly #parent: FastifyBaseLogger
  readonly #options: ChildOptions
  #child: FastifyBaseLogger | undefined

  constructor(parent: FastifyBaseLogger, ...options: ChildOptions) {
    this.#parent = parent
    this.#options = options
  }

  get #own(): FastifyBaseLogger {
    this.#child ??= this.#parent.child(...this.#options)
    return this.#child
  }

  #log(level: Level, line: Line) {
    this.#own[level](...(line as [object]))
  }

  get level() {
    return (this.#child ?? this.#parent).level
  }
  set level(level) {
    this.#own.level = level
  }
  fatal(...line: Line) {
    this.#log('fatal', line)
  }
  error(...line: Line) {
    this.#log('error', line)
  }
  warn(...line: Line) {
    this.#log('warn', line)
  }
  info(...line: Line) {
    this.#log('info', line)
  }
  debug(...line: Line) {
    this.#log('debug', line)
  }
  trace(...line: Line) {
    this.#log('trace', line)
  }
  silent() {}
  child(...options: ChildOptions) {
    return this.#own.child(...options)
  }
}

/** Creates the logger of a request, for Fastify's `childLoggerFactory`. A caller can give a token as the id. */
export const createRequestLogger = (
  parent: FastifyBaseLogger,
  { reqId }: { reqId?: string },
  options: ChildOptions[1],
): FastifyBaseLogger => new RequestLogger(parent, { reqId: maskText(String(reqId)) }, options)

/** Returns the client that a request acted on, or whose token it has; undefined: none is known. */
function clientOf({ clientId, tenant }: Partial<RequestContext>): string | undefined {
  const name = clientId ?? tenant?.clientId
  return name === undefined ? undefined : maskText(name)
}

/** Logs each request at level `debug` with Fastify's logger. Fastify's own lines would hold queries with secrets. */
export const logging = fp((app, _options, done) => {
  if (!['debug', 'trace'].includes(app.log.level)) {
    done()
    return
  }
  app.addHook('onResponse', (request, reply, next) => {
    const { method, originalUrl, sandbox } = request
    const { statusCode: status, elapsedTime: ms } = reply
    const path = maskPath(pathOf(originForm(originalUrl)))
    const code = status < 400 ? undefined : (sandbox.content as { code?: string } | undefined)?.code
    request.log.debug({ method, path, status, code, clientId: clientOf(sandbox), ms }, 'request completed')
    next()
  })
  done()
})
