import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyBaseLogger } from 'fastify'
import fastify, { LogController } from 'fastify'
import { closing } from './closing.js'
import { serializerCompiler } from './compilers.js'
import { answerLast, handleErrors } from './error-handler.js'
import { logging, masks } from './logging.js'
import { clientErrorHandler, createHttpServer, createRequestIds, protocol } from './protocol.js'
import { MAX_HEADERS, requestContext } from './request-context.js'
import { routing } from './routing.js'
import { toRoutable } from './url.js'
import { validation, validatorCompiler } from './validation.js'
import { webAccess } from './web-access.js'

/** The size of a body (decisions §1) and of the request line with all headers, in bytes. */
const BODY_LIMIT = 1024 * 1024
export const HEADER_LIMIT = 16 * 1024

/** Longer than the minute for which a proxy keeps an idle connection. */
const KEEP_ALIVE_MS = 72_000

export interface AppOptions {
  readonly logger?: FastifyBaseLogger | undefined
  /** The milliseconds in which a request must arrive; by default a minute. */
  readonly requestTimeout?: number | undefined
  /** Host names of the server in addition to local names; by default none. */
  readonly allowedHosts?: readonly string[] | undefined
  /** The origins whose web pages may call `/api/v1`; by default none. */
  readonly corsOrigins?: readonly string[] | undefined
  /** Returns the URL of the server. */
  publicUrl(host?: string): string
}

/** Creates a Fastify server with all that the wire needs, and without routes. */
export function createApp(options: AppOptions) {
  const { logger, requestTimeout = 60_000, allowedHosts = [], corsOrigins = [], publicUrl } = options
  const requestIdOf = createRequestIds()
  const app = fastify({
    ...(logger !== undefined && { loggerInstance: logger.child({}, masks) }),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestIdOf,
    requestIdHeader: false,
    bodyLimit: BODY_LIMIT,
    return503OnClosing: false,
    exposeHeadRoutes: false,
    rewriteUrl: toRoutable,
    clientErrorHandler: clientErrorHandler(requestIdOf),
    // A value of any length reaches validation, which refuses its length (decisions §1).
    routerOptions: { maxParamLength: HEADER_LIMIT },
    frameworkErrors: answerLast,
    serverFactory: createHttpServer(requestIdOf, {
      // Node would answer requests without Host by itself, without the envelope.
      requireHostHeader: false,
      // Node refuses this size, too.
      maxHeaderSize: HEADER_LIMIT + 1,
      headersTimeout: requestTimeout,
      requestTimeout,
      keepAliveTimeout: KEEP_ALIVE_MS,
      connectionsCheckingInterval: Math.min(requestTimeout, 1000),
    }),
  }).withTypeProvider<TypeBoxTypeProvider>()
  // `requestContext` refuses a request with more: each takes a thousand times as long as its bytes.
  app.server.maxHeadersCount = MAX_HEADERS
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)

  handleErrors(app)
  app.register(closing)
  app.register(protocol, { requestIdOf })
  // Hooks run in this order.
  app.register(requestContext, { allowedHosts, publicUrl })
  app.register(webAccess, { corsOrigins, publicUrl })
  app.register(routing)
  app.register(logging)
  app.register(validation)
  return app
}
