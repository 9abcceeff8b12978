import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyBaseLogger, FastifyInstance, FastifyRequest } from 'fastify'
import fastify, { LogController } from 'fastify'
import type { Area } from './areas/index.js'
import { areas, serviceTags } from './areas/index.js'
import { metadataRoutes, oauthRoutes } from './areas/oauth/routes.js'
import { ownerOf as ownerOfToken } from './areas/oauth/tokens.js'
import { payoutLinkPages } from './areas/payout-links/pages.js'
import { DEFAULT_BOUNDS } from './bounds.js'
import { controlRoutes } from './control/routes.js'
import { formatInstant } from './core/time/time.js'
import { coverage as coveragePlugin, createCoverage } from './features/coverage/coverage.js'
import { deprecation } from './features/deprecations/headers.js'
import { createEventWaiters } from './features/events/waiters.js'
import { faultDelivery } from './features/faults/delivery.js'
import { recordAnswer } from './features/recording/record.js'
import { createRecorder } from './features/recording/recorder.js'
import type { RequestLogBounds } from './features/request-log/request-log.js'
import { createRequestLog, requestLog as requestLogPlugin } from './features/request-log/request-log.js'
import { admin } from './http/admin.js'
import { authenticate, bearerOf } from './http/authenticate.js'
import { closing } from './http/closing.js'
import { errorHandler } from './http/error-handler.js'
import { hints } from './http/hints.js'
import { logging } from './http/logging.js'
import { notFound } from './http/not-found.js'
import { collectOperations, operationOf, routeFacts } from './http/operations.js'
import { clientErrorHandler, protocol } from './http/protocol.js'
import { region } from './http/region.js'
import { requestContext } from './http/request-context.js'
import { createRequestIds } from './http/request-id.js'
import { serializerCompiler } from './http/serialization.js'
import type { Timers } from './http/timers.js'
import { createTimers } from './http/timers.js'
import { pathOf, toRoutable } from './http/url.js'
import { validation, validatorCompiler } from './http/validation.js'
import { webAccess } from './http/web-access.js'
import { docs } from './openapi/docs.js'
import { createDocuments } from './openapi/documents.js'
import { openapi } from './openapi/plugin.js'
import { collectRoutes } from './openapi/routes.js'
import { NAME, VERSION } from './package.js'
import type { TenantListener, TenantRegistry, TenantRegistryOptions } from './tenants/registry.js'
import { createTenantRegistry, DEMO_CLIENT } from './tenants/registry.js'
import type { Database } from './turns/database.js'
import { createStoredTurns } from './turns/stored-turns.js'
import { apiTurns, pageTurns, takeTurns, tokenTurns } from './turns/take-turns.js'
import { createMemoryTurns } from './turns/turns.js'

export interface ServerOptions extends TenantRegistryOptions {
  /** The bounds of the request log; by default those of the documentation. */
  readonly requestLog?: Partial<RequestLogBounds> | undefined
  /** The bound of all recordings together, in bytes; 0: nothing is recorded. */
  readonly recordingBytes?: number | undefined
  /** The maximum size of a state document in bytes. */
  readonly stateBytes?: number | undefined
  /** Keeps tenants in a database; undefined: they live in memory. */
  readonly database?: Database | undefined
  readonly logger?: FastifyBaseLogger | undefined
  /** The token of the control plane; undefined: it needs none. */
  readonly adminToken?: string | undefined
  /** Host names of the server beside local ones; by default none. */
  readonly allowedHosts?: readonly string[] | undefined
  /** The origins whose web pages may call `/api/v1`; by default none. */
  readonly corsOrigins?: readonly string[] | undefined
  readonly timers?: Timers | undefined
  /** Whether answers go out whole and at once, whatever the faults: a replay compares them. */
  readonly isReplay?: boolean | undefined
  /** Returns the real time in milliseconds: the one place where it comes in. */
  now?(): number
  /** The milliseconds in which a request must arrive. */
  readonly requestTimeout?: number | undefined
}

/** The size of a body (decisions §1) and of the request line with all headers, in bytes. */
const BODY_LIMIT = 1024 * 1024
const HEADER_LIMIT = 16 * 1024

const CONTROL_PLANE = '/_sandbox'

/** Builds the server and its tenants. It does not listen. */
export function buildServer(options: ServerOptions): { app: FastifyInstance; registry: TenantRegistry } {
  const { database, logger, adminToken, timers = createTimers(), isReplay = false, requestTimeout = 60_000 } = options
  const { listeners = [], maxTenants, allowedHosts = [], corsOrigins = [], publicUrl } = options
  const now = options.now ?? (() => Date.now())
  const requestIds = createRequestIds()
  const app = fastify({
    ...(logger !== undefined && { loggerInstance: logger }),
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: requestIds.of,
    requestIdHeader: false,
    bodyLimit: BODY_LIMIT,
    requestTimeout,
    return503OnClosing: false,
    rewriteUrl: toRoutable,
    clientErrorHandler: clientErrorHandler(requestIds.next),
    // A value of any length reaches validation, which refuses its length (decisions §1).
    routerOptions: { maxParamLength: HEADER_LIMIT },
    // Node would answer these requests by itself, without the envelope.
    http: {
      requireHostHeader: false,
      maxHeaderSize: HEADER_LIMIT,
      headersTimeout: requestTimeout,
      connectionsCheckingInterval: Math.min(requestTimeout, 1000),
    },
  }).withTypeProvider<TypeBoxTypeProvider>()
  // Headers are bounded by their size. Node would drop some above a number in silence.
  app.server.maxHeadersCount = 0
  app.setValidatorCompiler(validatorCompiler)
  app.setSerializerCompiler(serializerCompiler)

  const logBounds = {
    entries: options.requestLog?.entries ?? DEFAULT_BOUNDS.journalEntries,
    bytes: options.requestLog?.bytes ?? DEFAULT_BOUNDS.journalBytes,
  }
  const requestLog = database?.createRequestLog?.(logBounds) ?? createRequestLog(logBounds)
  const recorder = createRecorder(options.recordingBytes ?? DEFAULT_BOUNDS.recordingBytes)
  const coverage = createCoverage()
  const waiters = createEventWaiters(timers)
  const beside: TenantListener = {
    onCreated({ clientId }, { reason }) {
      if (reason !== 'reset') return
      requestLog.remove(clientId)
      coverage.remove(clientId)
    },
    onRemoved(clientId, reason) {
      if (reason === 'released') return
      requestLog.remove(clientId)
      coverage.remove(clientId)
      waiters.wake(clientId)
    },
  }
  const registry = createTenantRegistry({
    ...options,
    ...(database !== undefined && { seed: database.seed, maxTenants: Number.POSITIVE_INFINITY }),
    listeners: [...listeners, recorder, beside],
  })
  const turns =
    database === undefined
      ? createMemoryTurns({ registry, now, changed: waiters.wake })
      : createStoredTurns({
          ...{ database, registry, logger: app.log, maxTenants, now },
          isInUse: waiters.has,
          changed: waiters.wake,
          changedElsewhere: recorder.onChangedElsewhere,
        })
  database?.listen(clientId => {
    if (waiters.has(clientId)) turns.refresh(clientId, () => {})
  })

  // Cross-cutting plugins. The hooks on answers run in this order.
  app.register(routeFacts)
  app.register(errorHandler)
  app.register(requestContext)
  app.register(closing)
  app.register(protocol, { nextRequestId: requestIds.next })
  app.register(webAccess, { allowedHosts, corsOrigins, publicUrl })
  app.register(notFound)
  app.register(logging)
  app.register(validation)
  app.register(hints)
  app.register(deprecation, { tenantOf: request => request.sandbox.tenant })
  app.addHook('onSend', (request, reply, payload, next) => {
    recordAnswer(recorder, request, reply, payload)
    request.sandbox.loggedClient = clientOf(request)
    next()
  })
  app.register(requestLogPlugin, {
    requestLog,
    timeOf: clientId => formatInstant(registry.timeOf(clientId, now())),
  })
  app.register(coveragePlugin, { coverage })
  if (!isReplay) app.register(faultDelivery, { timers })
  const operations = collectOperations(app)
  const documented = collectRoutes(app)
  const documents = createDocuments(documented, serviceTags(), publicUrl)

  // The service.
  app.register(metadataRoutes, { publicUrl })
  app.register(
    (oauth, _options, done) => {
      takeTurns(oauth, turns, tokenTurns(registry, recorder))
      oauth.register(oauthRoutes)
      done()
    },
    { prefix: '/api/v1/oauth' },
  )
  app.register(
    (api, _options, done) => {
      api.register(authenticate, { admit })
      api.register(region)
      api.addHook('onRequest', (request, _reply, next) => {
        request.sandbox.tenant.deprecations.assertNotSunset(operationOf(request))
        next()
      })
      takeTurns(api, turns, apiTurns(registry, recorder))
      for (const { path, routes } of Object.values<Area>(areas)) api.register(routes, { prefix: `/${path}` })
      done()
    },
    { prefix: '/api/v1' },
  )

  // The interface as a document.
  app.register(openapi, { documents })
  app.register(docs, { documents })
  app.register(payoutLinkPages, { ...pageTurns({ turns, registry, recorder, now }), isReplay })

  // The control plane.
  app.register(
    (control, _options, done) => {
      if (adminToken !== undefined) control.register(admin, { adminToken })
      control.register(controlRoutes, {
        about: {
          name: NAME,
          version: VERSION,
          startedAt: now(),
          stateBytes: options.stateBytes ?? DEFAULT_BOUNDS.stateBytes,
        },
        context: {
          registry,
          requestLog,
          coverage,
          recorder,
          turns,
          waiters,
          refresh: turns.refresh,
          operations,
          documented,
          documents,
          now,
          elapsed: timers.elapsed,
          isClosing: () => app.isClosing(),
        },
      })
      done()
    },
    { prefix: CONTROL_PLANE },
  )
  return { app, registry }

  function admit(request: FastifyRequest, token: string, done: (error?: Error) => void) {
    turns.refresh(ownerOfToken(token), error => {
      if (error !== undefined) {
        done(error)
        return
      }
      try {
        request.sandbox.tenant = registry.admit(token, now())
      } catch (refusal) {
        done(refusal as Error)
        return
      }
      done()
    })
  }

  /** Returns the client of a request of the API, also of a refused one. Without a client it is the demo client. */
  function clientOf(request: FastifyRequest): string | undefined {
    const { route } = request.sandbox
    const path = route.url ?? pathOf(request.url)
    // The browsers of recipients are not the app under test.
    const isPage = route.schema?.hide
    if (path.startsWith(CONTROL_PLANE) || isPage || request.sandbox.isForeign) return undefined
    return request.sandbox.tenant?.clientId ?? claimedClient(request) ?? DEMO_CLIENT.clientId
  }

  function claimedClient(request: FastifyRequest): string | undefined {
    const { client_id: clientId } = (request.body ?? {}) as { client_id?: unknown }
    if (typeof clientId === 'string' && registry.has(clientId)) return clientId
    const token = bearerOf(request)
    return token === undefined ? undefined : registry.ownerOf(token)
  }
}
