import fp from 'fastify-plugin'
import { errors } from '../core/errors.js'
import type { Region } from '../core/rules/regions.js'

interface RegionSchema {
  properties: { 'x-region': { enum: readonly Region[] } }
}

/** Returns the regions that a route serves: the enum of the header in its schema. Undefined: it takes no region. */
export const regionsOf = (schema: object | undefined): readonly Region[] | undefined =>
  (schema as { headers?: RegionSchema } | undefined)?.headers?.properties['x-region'].enum

/** Reads the routing header `x-region` (interface, What the service does). Refuses MISSING_FIELD, INVALID_REGION. */
export const region = fp((app, _options, done) => {
  app.addHook('onRequest', (request, _reply, next) => {
    const region = request.headers['x-region']
    if (typeof region !== 'string' || region === '')
      throw errors.missing('x-region', 'The header x-region is required.')
    const served = request.sandbox.route.config.regions as readonly Region[]
    if (!served.includes(region as Region)) throw errors.invalidRegion(region, served)
    request.sandbox.region = region as Region
    next()
  })
  done()
})
