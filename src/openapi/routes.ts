import type { FastifyContextConfig, FastifyInstance, FastifySchema } from 'fastify'

export type Json = Record<string, unknown>

/** A route with its part of the OpenAPI document. */
export interface DocumentedRoute {
  readonly method: string
  /** In Fastify's form, such as `/api/v1/mandates/:mandateReference`. */
  readonly url: string
  readonly schema: FastifySchema
  readonly config: FastifyContextConfig
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
    const tagged = { operationId, summary: summary as string, tags: [url.split('/')[3] as string], ...rest }
    const described = schema.tags === undefined ? tagged : schema
    routes.push({ method: method as string, url, schema: described, config: config as FastifyContextConfig })
  })
  return routes
}
