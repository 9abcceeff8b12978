import type { FastifyContextConfig, FastifyInstance, FastifySchema } from 'fastify'
import type { Named, Schema } from './document.js'

/** The properties of a route that has a part of a document. All its schemas are objects. */
interface RouteSchema extends Omit<FastifySchema, 'body' | 'querystring' | 'params' | 'headers' | 'response'> {
  operationId: string
  summary: string
  tags: readonly string[]
  body?: Schema
  querystring?: Schema
  params?: Schema
  headers?: Schema
  response: Named<Schema & { content?: Named<{ schema: Schema }> }>
}

/** A route with its part of the OpenAPI document. */
export interface DocumentedRoute {
  readonly method: string
  /** In Fastify's form, such as `/api/v1/mandates/:mandateReference`. */
  readonly url: string
  readonly schema: RouteSchema
  readonly config: FastifyContextConfig & { readonly form?: Schema }
}

const CONTROL_PLANE = '/_sandbox'

/** Whether a route is of the control plane. */
export const isControl = ({ url }: DocumentedRoute): boolean => url.startsWith(CONTROL_PLANE)

/** Whether a route is of the emulated service. */
export const isApi = ({ url }: DocumentedRoute): boolean => url.startsWith('/api/')

/** Collects the routes that have an operation id, as they are added. */
export function collectRoutes(app: FastifyInstance): readonly DocumentedRoute[] {
  const routes: DocumentedRoute[] = []
  app.addHook('onRoute', ({ method, url, schema, config = {} }) => {
    if (schema?.operationId === undefined || schema.hide) return
    const { operationId, summary, ...rest } = schema
    // An operation of the service has the path of its area as its tag.
    const described = { operationId, summary, tags: [url.split('/')[3]], ...rest }
    for (const one of [method].flat()) routes.push({ method: one, url, schema: described, config } as DocumentedRoute)
  })
  return routes
}
