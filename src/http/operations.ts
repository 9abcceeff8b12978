import type { FastifyInstance } from 'fastify'
import type { Region } from '../core/domain/regions.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The name of the operation, such as `GET /api/v1/mandates/{mandateReference}`. HEAD is part of GET. */
    operation?: string
    /** The regions that the route serves, or undefined if it takes no region. */
    regions?: readonly Region[] | undefined
  }
}

/** An operation of the API, for faults and deprecations. */
export interface Operation {
  /** Such as `GET /api/v1/direct-debit/{collectionReference}`. */
  readonly operation: string
  readonly method: string
  /** The path template, with parameters in braces. */
  readonly path: string
  /** The regions that it serves, or undefined if it has no region header. */
  readonly regions: readonly Region[] | undefined
}

const API = '/api/'

/** Returns the name of an operation, such as `GET /api/v1/mandates/{mandateReference}`. */
export const nameOf = (method: string, url: string) => `${method} ${url.replace(/:(\w+)/g, '{$1}')}`

interface RegionSchema {
  properties: { 'x-region': { enum: readonly Region[] } }
}

/** Returns the regions that a route serves: the enum of the header in its schema. Undefined if it takes no region. */
export const regionsOf = (schema: object | undefined): readonly Region[] | undefined =>
  (schema as { headers?: RegionSchema } | undefined)?.headers?.properties['x-region'].enum

/** Collects the operations of the API as their routes are added. */
export function collectOperations(app: FastifyInstance): readonly Operation[] {
  const operations: Operation[] = []
  app.addHook('onRoute', ({ url, method, schema }) => {
    if (!url.startsWith(API)) return
    const operation = nameOf(method as string, url)
    operations.push({
      operation,
      method: method as string,
      path: operation.slice(operation.indexOf(' ') + 1),
      regions: regionsOf(schema),
    })
  })
  return operations
}
