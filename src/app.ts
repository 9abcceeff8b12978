import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import fastify from 'fastify'
import { accountRoutes } from './areas/accounts/routes.js'
import { billRoutes } from './areas/bills/routes.js'
import { counterpartyRoutes } from './areas/counterparties/routes.js'
import { collectionRoutes } from './areas/direct-debit/routes.js'
import { mandateRoutes } from './areas/mandates/routes.js'
import { oauthRoutes } from './areas/oauth/routes.js'
import { payoutLinkRoutes } from './areas/payout-links/routes.js'
import { serveRoutes } from './control/route.js'
import { controlRoutes } from './control/routes.js'
import type { Ledger } from './gate.js'
import { installGate } from './gate.js'
import { requireAdminToken } from './http/admin.js'
import { gatherArrivals } from './http/arrivals.js'
import { bearerOf, tokenOf } from './http/authenticate.js'
import type { Deliver } from './http/delivery.js'
import { createDelivery } from './http/delivery.js'
import { addDeprecation, refuseGone } from './http/deprecation.js'
import { installErrorHandler } from './http/error-handler.js'
import { FORM, parseForm } from './http/forms.js'
import { installFrontDoor } from './http/front-door.js'
import { addHints, installHints } from './http/hints.js'
import type { Journal } from './http/journal.js'
import { createRequestLog } from './http/journal.js'
import type { Log } from './http/log.js'
import { installLog } from './http/log.js'
import { collectOperations } from './http/operations.js'
import { installRegion, readRegion } from './http/region.js'
import { createRequestIds } from './http/request-id.js'
import { installRoutes } from './http/route.js'
import { installRouting, pathOf, toRoutable } from './http/routing.js'
import { clientErrorHandler } from './http/socket-errors.js'
import { keepTick } from './http/ticks.js'
import type { Timers } from './http/timers.js'
import { createTimers } from './http/timers.js'
import { compilersFactory, installValidation } from './http/validation.js'
import { createWaiting } from './http/waiting.js'
import { NAME, VERSION } from './package.js'
import type { Recordings } from './recording.js'
import type { Sandbox, Tenant } from './sandbox.js'
import { DEMO_CLIENT } from './sandbox.js'
import type { World } from './world.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The tenant that the request has proved to be of; null: none yet. */
    tenant: Tenant | null
    /** The world of that tenant. */
    world: World
  }
}

export interface AppOptions {
  readonly sandbox: Sandbox
  readonly journal: Journal
  readonly recordings: Recordings
  /** Where requests are written down that must outlast the process; undefined: nowhere. */
  readonly ledger?: Ledger | undefined
  readonly logger?: Log | undefined
  /** What the control plane asks for; undefined: nothing. */
  readonly adminToken?: string | undefined
  readonly timers?: Timers | undefined
  /** Whether answers go out whole and at once, whatever faults say: a replay looks at what they would have been. */
  readonly isReplay?: boolean | undefined
  /** The real time in milliseconds: the one place where it comes in. */
  now?(): number
  /** How long a request may take to arrive, in milliseconds. */
  readonly requestTimeout?: number | undefined
}

/** The size of a body (decisions §1) and of the request line with all headers, in bytes. */
const BODY_LIMIT = 1024 * 1024
const HEADER_LIMIT = 16 * 1024

const CONTROL_PLANE = '/_sandbox'

/** Builds the server with every prefix and plugin; it does not listen. */
export function buildApp(options: AppOptions): FastifyInstance {
  const { sandbox, journal, recordings, ledger, logger, adminToken } = options
  const { timers = createTimers(), isReplay = false, now = Date.now, requestTimeout = 60_000 } = options
  const requestIds = createRequestIds()
  const app = fastify({
    bodyLimit: BODY_LIMIT,
    genReqId: requestIds.of,
    requestIdHeader: false,
    return503OnClosing: false,
    requestTimeout,
    clientErrorHandler: clientErrorHandler(requestIds.next),
    schemaController: { compilersFactory },
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
  gatherArrivals(app.server)
  keepTick()
  app.decorateRequest('tenant', null)
  app.decorateRequest('world')
  installRoutes(app)
  installLog(app, logger)
  const frontDoor = installFrontDoor(app, requestIds.next)
  installRouting(app)
  const operations = collectOperations(app)
  installErrorHandler(app)
  installHints(app)
  installValidation(app)
  const gate = installGate(app, { recordings, ledger, now })
  const waiting = createWaiting(timers)
  const log = createRequestLog(app, { journal, placeOf })
  const deliver: Deliver = isReplay ? (_request, _reply, _payload, done) => done() : createDelivery(app, timers)

  // The way of an answer, in this order. One hook: eight of them would take a twentieth of a GET.
  app.addHook('onSend', (request, reply, payload, done) => {
    const touched = request.tenant ?? request.recorded?.tenant
    frontDoor.leave(request, reply)
    addHints(request, reply)
    addDeprecation(request, reply, request.tenant?.world)
    gate.answered(request, reply, payload)
    log(request, reply, payload)
    if (touched !== undefined) waiting.wake(touched.clientId)
    deliver(request, reply, payload, done)
  })

  /** The request is this tenant's. */
  function enter(request: FastifyRequest, tenant: Tenant) {
    request.tenant = tenant
    request.world = tenant.world
  }

  /** Whose log a request belongs to: also one that was refused. What names no client is in the demo client's. */
  function placeOf(request: FastifyRequest) {
    // By the route, since a path may be encoded.
    const path = request.route.url ?? pathOf(request.url)
    if (path.startsWith(CONTROL_PLANE)) return undefined
    const clientId = request.tenant?.clientId ?? claimedClient(request) ?? DEMO_CLIENT.clientId
    return { clientId, at: sandbox.timeOf(clientId, now()) }
  }

  function claimedClient(request: FastifyRequest): string | undefined {
    const { client_id: clientId } = formOf(request)
    if (typeof clientId === 'string' && sandbox.has(clientId)) return clientId
    const token = bearerOf(request)
    return token === undefined ? undefined : sandbox.ownerOf(token)
  }

  /** The fields of a form, also of one that was refused. */
  function formOf({ bytes, route }: FastifyRequest) {
    return bytes !== null && route.config.consumes === FORM ? parseForm(bytes.toString()) : {}
  }

  app.register(oauthRoutes, {
    prefix: '/api/v1/oauth',
    issueToken(request, clientId, clientSecret) {
      const tenant = sandbox.authenticate(clientId, clientSecret, now())
      enter(request, tenant)
      gate.passApi(request, tenant)
      return tenant.tokens.issue()
    },
  })
  app.register(
    (api, _options, done) => {
      const admit = (request: FastifyRequest, token: string) => enter(request, sandbox.admit(token, now()))
      installRegion(api)
      api.addHook('onRequest', (request, _reply, next) => {
        admit(request, tokenOf(request))
        readRegion(request)
        refuseGone(request, request.world.deprecations)
        next()
      })
      api.addHook('preHandler', (request, _reply, next) => {
        // While the body came in, time has passed, and the tenant may have begun anew.
        if (!sandbox.goesOn(request.tenant as Tenant, now())) admit(request, tokenOf(request))
        gate.passApi(request, request.tenant as Tenant)
        next()
      })
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
      if (adminToken !== undefined) requireAdminToken(control, adminToken)
      serveRoutes(control, {
        plane: { sandbox, journal, recordings, waiting, operations, now, isClosing: frontDoor.isClosing },
        gate,
        routes: controlRoutes({ name: NAME, version: VERSION, startedAt: now() }),
        defaultClient: DEMO_CLIENT.clientId,
      })
      done()
    },
    { prefix: CONTROL_PLANE },
  )
  return app
}
