import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Operation } from '../core/operations.js'
import { regionsOf } from './region.js'

const API = '/api/'

/** Returns the name of an operation, such as `GET /api/v1/mandates/{mandateReference}`. */
export const nameOf = (method: string, url: string) => `${method} ${url.replace(/:(\w+)/g, '{$1}')}`

/** Collects the operations of the API as their routes are added. */
export function collectOperations(app: FastifyInstance): readonly Operation[] {
  const operations: Operation[] = []
  app.addHook('onRoute', ({ url, method, schema }) => {
    if (!url.startsWith(API) || method === 'HEAD') return
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

/** Returns the operation of a request, as deprecations name it. HEAD is part of GET. */
export const operationOf = ({ method, routeOptions: { url = '' } }: FastifyRequest): string =>
  nameOf(method === 'HEAD' ? 'GET' : method, url)
