import type { TObject } from '@sinclair/typebox'
import type { FastifyContextConfig, FastifyInstance } from 'fastify'
import type { Region } from '../core/regions.js'
import { regionsOf } from './region.js'

/** What is known of the route of a request. */
export interface Route {
  /** Its path with `:parameters`; undefined: there is no such route. */
  readonly url: string | undefined
  readonly config: FastifyContextConfig
  /** What requests are held against, in the order in which they are. */
  readonly schemas: { readonly params?: TObject; readonly querystring?: TObject; readonly body?: TObject }
  /** The regions that it serves; undefined: it takes none. */
  readonly regions: readonly Region[] | undefined
}

declare module 'fastify' {
  interface FastifyRequest {
    route: Route
  }
}

const NONE: Route = { url: undefined, config: {} as FastifyContextConfig, schemas: {}, regions: undefined }

/**
 * Lets each request know its route. Fastify tells it, too, but makes `routeOptions` anew each time that it is asked,
 * and a request is asked half a dozen times.
 */
export function installRoutes(app: FastifyInstance): void {
  const routes = new WeakMap<object, Route>()

  app.decorateRequest('route')
  app.addHook('onRequest', (request, _reply, done) => {
    const { url, config, schema } = request.routeOptions
    let route = routes.get(config)
    if (route === undefined) {
      route =
        url === undefined
          ? NONE
          : { url, config, schemas: (schema ?? {}) as Route['schemas'], regions: regionsOf(schema) }
      routes.set(config, route)
    }
    request.route = route
    done()
  })
}
