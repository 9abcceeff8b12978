import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import fastify, { LogController } from 'fastify'
import { accountRoutes } from './areas/accounts/routes.js'
import { billRoutes } from './areas/bills/routes.js'
import { counterpartyRoutes } from './areas/counterparties/routes.js'
import { collectionRoutes } from './areas/direct-debit/routes.js'
import { mandateRoutes } from './areas/mandates/routes.js'
import { oauthRoutes } from './areas/oauth/routes.js'
import { payoutLinkRoutes } from './areas/payout-links/routes.js'
import { serveRoutes } from './control/route.js'
import { controlRoutes } from './control/routes.js'
import { authenticate } from './http/authenticate.js'
import { installErrorHandler } from './http/error-handler.js'
import { parseForm } from './http/forms.js'
import { installFrontDoor } from './http/front-door.js'
import { installHints } from './http/hints.js'
import { installRegion } from './http/region.js'
import { createRequestIds } from './http/request-id.js'
import { installRouting, toRoutable } from './http/routing.js'
import { clientErrorHandler } from './http/socket-errors.js'
import { acceptUploads } from './http/upload.js'
import { installValidation } from './http/validation.js'
import { NAME, VERSION } from './package.js'
import { DEMO_CLIENT, type Sandbox } from './sandbox.js'
import type { World } from './world.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The world of the tenant whose token the request carries. */
    world: World
  }
}

export interface AppOptions {
  readonly sandbox: Sandbox
  readonly logger?: FastifyBaseLogger
  /** The real time in milliseconds: the one place where it comes in. */
  now?(): number
  /** How long a request may take to arrive, in milliseconds. */
  requestTimeout?: number
}

/** The size of a body (decisions §1) and of the request line with all headers, in bytes. */
const BODY_LIMIT = 1024 * 1024
const HEADER_LIMIT = 16 * 1024

/** Builds the server with every prefix and plugin; it does not listen. */
export function buildApp({ sandbox, logger, now = Date.now, requestTimeout = 60_000 }: AppOptions): FastifyInstance {
  const requestIds = createRequestIds()
  const app = fastify({
    ...(logger !== undefined && { loggerInstance: logger }),
    // One line for each request, by our own hook.
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: BODY_LIMIT,
    genReqId: requestIds.of,
    requestIdHeader: false,
    return503OnClosing: false,
    requestTimeout,
    clientErrorHandler: clientErrorHandler(requestIds.next),
    rewriteUrl: toRoutable,
    // Node answers these by itself otherwise, and not in the envelope.
    http: {
      requireHostHeader: false,
      maxHeaderSize: HEADER_LIMIT,
      headersTimeout: requestTimeout,
      connectionsCheckingInterval: Math.min(requestTimeout, 1000),
    },
    routerOptions: {
      // A value of any length reaches validation, where its length is refused (decisions §1).
      maxParamLength: HEADER_LIMIT,
      querystringParser: parseForm,
    },
  }).withTypeProvider<TypeBoxTypeProvider>()

  // Headers are bounded by their size; by number, Node would drop some and tell nobody.
  app.server.maxHeadersCount = 0
  app.decorateRequest('world')
  installFrontDoor(app, requestIds.next)
  installRouting(app)
  installErrorHandler(app)
  installHints(app)
  installValidation(app)

  app.register(oauthRoutes, {
    prefix: '/api/v1/oauth',
    issueToken: (clientId, clientSecret) => sandbox.authenticate(clientId, clientSecret, now()).tokens.issue(),
  })
  app.register(
    (api, _options, done) => {
      api.addHook(
        'onRequest',
        authenticate((request, token) => {
          request.world = sandbox.admit(token, now()).world
        }),
      )
      installRegion(api)
      acceptUploads(api)
      api.register(collectionRoutes, { prefix: '/direct-debit' })
      api.register(mandateRoutes, { prefix: '/mandates' })
      api.register(payoutLinkRoutes, { prefix: '/payout-links' })
      api.register(billRoutes, { prefix: '/bills' })
      api.register(counterpartyRoutes, { prefix: '/counterparties' })
      api.register(accountRoutes, { prefix: '/accounts' })
      done()
    },
    { prefix: '/api/v1' },
  )
  app.register(
    (control, _options, done) => {
      const routes = controlRoutes({ name: NAME, version: VERSION, startedAt: now() })
      serveRoutes(control, { sandbox, routes, defaultClient: DEMO_CLIENT.clientId, now })
      done()
    },
    { prefix: '/_sandbox' },
  )
  return app
}
