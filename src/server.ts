import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import type { Area } from './areas/index.js'
import { areas, serviceTags } from './areas/index.js'
import { metadataRoutes, oauthRoutes } from './areas/oauth/routes.js'
import { payoutLinkPages } from './areas/payout-links/pay/routes.js'
import { DEFAULT_BOUNDS } from './bounds.js'
import { guideRoutes } from './console/guide.js'
import { consoleRoutes } from './console/routes.js'
import { wholeSecond } from './core/time/time.js'
import { createApp } from './http/app.js'
import { authentication } from './http/authenticate.js'
import { collectOperations } from './http/operations.js'
import type { Timers } from './http/timers.js'
import { createTimers } from './http/timers.js'
import { createDocuments } from './openapi/documents.js'
import { openapi } from './openapi/plugin.js'
import { collectRoutes } from './openapi/routes.js'
import { NAME, OWN_FIXTURES, VERSION } from './package.js'
import { admin } from './sandbox/admin.js'
import { createCoverage } from './sandbox/coverage/coverage.js'
import { createEventWaiters } from './sandbox/events/waiters.js'
import { faultDelivery } from './sandbox/faults/delivery.js'
import { controlRoutes } from './sandbox/index.js'
import { forgetExchanges, observer } from './sandbox/observer.js'
import type { RequestLogBounds } from './sandbox/request-log/state.js'
import { createRequestLog } from './sandbox/request-log/state.js'
import type { Scenarios } from './sandbox/scenarios/files.js'
import { createScenarios } from './sandbox/scenarios/files.js'
import {
  admission,
  apiRules,
  assertNotSunset,
  pageOptions,
  queryRules,
  tokenRules,
  useTransactions,
} from './storage/handlers.js'
import { createMemoryStorage } from './storage/memory.js'
import type { Database } from './storage/storage.js'
import type { ExampleFacts } from './tenants/examples.js'
import { exampleValues } from './tenants/examples.js'
import type { TenantRegistry, TenantRegistryOptions } from './tenants/registry.js'
import { createTenantRegistry, DEMO_CLIENT } from './tenants/registry.js'
import type { Tenant } from './tenants/tenant.js'

export interface ServerOptions extends TenantRegistryOptions {
  /** The bounds of the request log; by default those of the documentation. */
  readonly requestLog?: Partial<RequestLogBounds> | undefined
  /** The maximum size of a state document in bytes. */
  readonly stateBytes?: number | undefined
  /** Keeps tenants in a database; undefined: they live in memory. */
  readonly database?: Database | undefined
  /** The scenarios; by default those of the package. */
  readonly scenarios?: Scenarios | undefined
  readonly logger?: FastifyBaseLogger | undefined
  /** The token of the control plane; undefined: it needs none. */
  readonly adminToken?: string | undefined
  /** Host names of the server beside local ones; by default none. */
  readonly allowedHosts?: readonly string[] | undefined
  /** The origins whose web pages may call `/api/v1`; by default none. */
  readonly corsOrigins?: readonly string[] | undefined
  readonly timers?: Timers | undefined
  /** Returns the real time in milliseconds: the one place where it comes in. */
  now?(): number
  /** The milliseconds in which a request must arrive. */
  readonly requestTimeout?: number | undefined
}

/** Builds the server and its tenants. It does not listen. */
export function buildServer(options: ServerOptions): {
  app: FastifyInstance
  registry: TenantRegistry
} {
  const { database, adminToken, timers = createTimers(), now = () => Date.now() } = options
  const { listeners = [], maxTenants, publicUrl, logger, requestTimeout = 60_000 } = options
  const { allowedHosts = [], corsOrigins = [], scenarios = createScenarios(OWN_FIXTURES) } = options
  const app = createApp({ logger, requestTimeout, allowedHosts, corsOrigins, publicUrl })

  // The state.
  const logBounds = {
    entries: options.requestLog?.entries ?? DEFAULT_BOUNDS.requestLogEntries,
    bytes: options.requestLog?.bytes ?? DEFAULT_BOUNDS.requestLogBytes,
  }
  const requestLog =
    database?.createRequestLog?.(logBounds, clientId => registry.resetsSoFar(clientId)) ?? createRequestLog(logBounds)
  const coverage = createCoverage()
  const waiters = createEventWaiters(timers)
  const requestWaiters = createEventWaiters(timers)
  const registry = createTenantRegistry({
    ...options,
    ...(database !== undefined && { seed: database.seed, maxTenants: Number.POSITIVE_INFINITY }),
    dueWorkFailed: (clientId, err) => app.log.error({ clientId, err }, 'due work of a client failed'),
    dropped(clientId) {
      changed(clientId)
      options.dropped?.(clientId)
    },
    listeners: [...listeners, forgetExchanges({ requestLog, coverage })],
  })
  const changed = (clientId?: string) => {
    for (const each of [waiters, requestWaiters]) clientId === undefined ? each.lookAgain() : each.wake(clientId)
  }
  const isInUse = (clientId: string) => waiters.has(clientId) || requestWaiters.has(clientId)
  const storage =
    database?.createStorage({ registry, maxTenants, logger: app.log, now, isInUse, changed }) ??
    createMemoryStorage({ registry, now, changed })
  const { refresh, lifeOf } = storage

  // The features. Their hooks on answers run in this order, after those of the wire.
  const isShared = database?.isShared === true
  app.register(observer, { registry, requestLog, requestWaiters, coverage, now, refresh, isShared })
  app.register(faultDelivery, { timers })
  const operations = collectOperations(app)
  const documented = collectRoutes(app)
  const documents = createDocuments(documented, serviceTags(), async () => {
    const factsOf = ({ clock, meta }: Tenant, realNow: number): ExampleFacts => ({
      now: clock.timeAt(realNow),
      sequence: meta().sequence,
      realNow,
    })
    const [facts] = await storage.all(factsOf, [DEMO_CLIENT.clientId])
    const secret = registry.knownSecretOf(DEMO_CLIENT.clientId)
    // Where its state is damaged, the documents stay.
    return exampleValues({ ...(facts ?? { now: wholeSecond(now()), sequence: 0, realNow: now() }), secret })
  })

  // The service.
  app.register((metadata, _options, done) => {
    useTransactions(metadata, storage, queryRules(registry, options.clients[0]?.clientId))
    metadata.register(metadataRoutes)
    done()
  })
  app.register(
    (oauth, _options, done) => {
      useTransactions(oauth, storage, tokenRules(registry))
      oauth.register(oauthRoutes)
      done()
    },
    { prefix: '/api/v1/oauth' },
  )
  app.register(
    (api, _options, done) => {
      api.register(authentication, { admit: admission(storage, registry, now) })
      api.addHook('onRequest', function refuseSunset(request, _reply, next) {
        assertNotSunset(request)
        next()
      })
      useTransactions(api, storage, apiRules(registry))
      for (const { path, routes } of Object.values<Area>(areas)) api.register(routes, { prefix: `/${path}` })
      done()
    },
    { prefix: '/api/v1' },
  )

  // The interface as a document.
  app.register(openapi, { documents })
  app.register(guideRoutes, { documents })
  app.register((pages, _options, done) => {
    pages.register(payoutLinkPages, pageOptions(storage, registry))
    done()
  })

  // The control plane.
  app.register(
    (control, _options, done) => {
      if (adminToken !== undefined) control.register(admin, { adminToken })
      const stateBytes = options.stateBytes ?? DEFAULT_BOUNDS.stateBytes
      const context = {
        registry,
        requestLog,
        coverage,
        storage,
        waiters,
        requestWaiters,
        scenarios,
        refresh,
        lifeOf,
        operations,
        documented,
        documents,
        now,
        elapsed: timers.elapsed,
        isClosing: () => app.shutdown.hasBegun,
      }
      control.register(controlRoutes, {
        about: { name: NAME, version: VERSION, startedAt: now(), stateBytes },
        context,
      })
      control.register(consoleRoutes, {
        prefix: '/console',
        context: { ...context, adminToken },
        stateBytes,
      })
      done()
    },
    { prefix: '/_sandbox' },
  )
  return { app, registry }
}
