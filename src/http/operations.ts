import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Operation } from '../core/operations.js'
import { regionsOf } from './region.js'

const API = '/api/'

const nameOf = (method: string, url: string) =>
  `${method === 'HEAD' ? 'GET' : method} ${url.replace(/:(\w+)/g, '{$1}')}`

/** Collects the operations of the API. To be installed before the routes. */
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

const names = new Map<string, string>()

/** The operation of a request, as deprecations name it. */
export function operationOf({ method, routeOptions: { url = '' } }: FastifyRequest): string {
  const key = `${method} ${url}`
  let name = names.get(key)
  if (name === undefined) {
    name = nameOf(method, url)
    names.set(key, name)
  }
  return name
}
