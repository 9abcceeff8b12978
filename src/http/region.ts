import type { FastifyInstance, FastifyRequest } from 'fastify'
import { errors } from '../core/errors.js'
import type { Region } from '../core/regions.js'

declare module 'fastify' {
  interface FastifyRequest {
    region: Region
  }
}

interface RegionSchema {
  properties: { 'x-region': { enum: readonly Region[] } }
}

/** The regions that a route serves: the enum of the header in its schema. Undefined: it takes no region. */
export const regionsOf = (schema: object | undefined): readonly Region[] | undefined =>
  (schema as { headers?: RegionSchema } | undefined)?.headers?.properties['x-region'].enum

export function installRegion(app: FastifyInstance): void {
  app.decorateRequest('region', 'EU')
}

/** Reads the routing header (interface, What the service does). @throws MISSING_FIELD, INVALID_REGION */
export function readRegion(request: FastifyRequest): void {
  const region = request.headers['x-region']
  if (typeof region !== 'string' || region === '') throw errors.missing('x-region', 'The header x-region is required.')
  const served = request.route.regions as readonly Region[]
  if (!served.includes(region as Region)) throw errors.invalidRegion(region, served)
  request.region = region as Region
}
