import type { FastifyInstance } from 'fastify'
import { areas } from './areas/index.js'
import { metadataRoutes, oauthRoutes } from './areas/oauth/routes.js'
import { payoutLinkPages } from './areas/payout-links/pay/routes.js'
import { DEFAULT_BOUNDS } from './bounds.js'
import type { AppOptions } from './http/app.js'
import { createApp } from './http/app.js'
import { openapi } from './openapi/plugin.js'
import { NAME, VERSION } from './package.js'
import { admin } from './sandbox/admin.js'
import { consoleRoutes } from './sandbox/console/routes.js'
import { faultDelivery } from './sandbox/faults/delivery.js'
import { controlRoutes } from './sandbox/index.js'
import { observer } from './sandbox/observer.js'
import type { SandboxOptions } from './sandbox/sandbox.js'
import { createSandbox } from './sandbox/sandbox.js'
import { clientOfCredentials, clientOfQuery, clientOfToken } from './storage/client-lock.js'
import type { TenantRegistry } from './tenants/registry.js'

export interface ServerOptions extends AppOptions, SandboxOptions {
  /** The maximum size of a state document in bytes. */
  readonly stateBytes?: number | undefined
  /** The token of the control plane. If undefined, it needs none. */
  readonly adminToken?: string | undefined
  publicUrl(host?: string): string
}

/** Builds the server and its tenants. It does not listen. */
export function buildServer(options: ServerOptions): { app: FastifyInstance; registry: TenantRegistry } {
  const { adminToken, clients, stateBytes = DEFAULT_BOUNDS.stateBytes } = options
  const app = createApp(options)
  const sandbox = createSandbox(app, options)
  const { documents, now, registry } = sandbox

  // Their hooks on answers run in this order, after the hooks of `createApp`.
  app.register(observer, sandbox)
  app.register(faultDelivery, sandbox)

  // The service.
  app.register(async metadata => {
    metadata.register(clientOfQuery, { ...sandbox, byDefault: clients[0]?.clientId })
    metadata.register(metadataRoutes)
  })
  app.register(
    async oauth => {
      oauth.register(clientOfCredentials, sandbox)
      oauth.register(oauthRoutes)
    },
    { prefix: '/api/v1/oauth' },
  )
  app.register(
    async api => {
      api.register(clientOfToken, sandbox)
      for (const { path, routes } of Object.values(areas)) api.register(routes, { prefix: `/${path}` })
    },
    { prefix: '/api/v1' },
  )

  // The interface as a document, and the pages.
  app.register(openapi, { documents })
  app.register(async pages => {
    pages.register(clientOfQuery, sandbox)
    pages.register(payoutLinkPages)
  })

  // The control plane.
  app.register(
    async control => {
      if (adminToken !== undefined) control.register(admin, { adminToken })
      const about = { name: NAME, version: VERSION, startedAt: now(), stateBytes, isLocked: adminToken !== undefined }
      control.register(controlRoutes, { about, context: sandbox })
      control.register(consoleRoutes, { prefix: '/console' })
    },
    { prefix: '/_sandbox' },
  )
  return { app, registry }
}
