import type { FastifyInstance } from 'fastify'

/** A route in Fastify's form, such as GET `/api/v1/mandates/:mandateReference`. */
interface Route {
  readonly method: string
  readonly url: string
}

/**
 * Returns the name of the parameter by which an operation reads the records of a path, such as `mandateReference`.
 * Undefined if no operation reads them.
 * @param path in Fastify's form, such as `/api/v1/mandates`
 */
export const readParameterOf = (path: string, routes: readonly Route[]): string | undefined =>
  routes
    .filter(({ method, url }) => method === 'GET' && url.startsWith(`${path}/:`))
    .map(({ url }) => url.slice(path.length + 2))
    .find(rest => /^\w+$/.test(rest))

/**
 * Returns the paths of the API that create records which an operation reads, with its parameter. The answer 201 of such a path
 * has `Location` (decisions §1). The paths are known when the server is ready.
 */
export function locationsOf(app: FastifyInstance): ReadonlyMap<string, string> {
  const routes: Route[] = []
  const parameters = new Map<string, string>()
  app.addHook('onRoute', ({ method, url }) => {
    if (url.startsWith('/api/')) for (const one of [method].flat()) routes.push({ method: one, url })
  })
  app.addHook('onReady', ready => {
    for (const { method, url } of routes) {
      const parameter = method === 'POST' ? readParameterOf(url, routes) : undefined
      if (parameter !== undefined) parameters.set(url, parameter)
    }
    ready()
  })
  return parameters
}
