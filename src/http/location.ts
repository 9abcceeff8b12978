import fp from 'fastify-plugin'
import { prefixOf } from './public-host.js'

/** A route in Fastify's form, such as GET `/api/v1/mandates/:mandateReference`. */
interface Route {
  readonly method: string
  readonly url: string
}

/**
 * Returns the name of the parameter by which an operation reads the records of a path, such as `mandateReference`.
 * Undefined: no operation reads them.
 * @param path in Fastify's form, such as `/api/v1/mandates`
 */
export const readParameterOf = (path: string, routes: readonly Route[]): string | undefined =>
  routes
    .filter(({ method, url }) => method === 'GET' && url.startsWith(`${path}/:`))
    .map(({ url }) => url.slice(path.length + 2))
    .find(rest => /^\w+$/.test(rest))

/** Adds `Location` to a 201: the path of the operation that reads the created record, where there is one (decisions §1). */
export const location = fp((app, _options, done) => {
  const routes: Route[] = []
  /** The parameters of the paths that create records. */
  const parameters = new Map<string, string>()
  app.addHook('onRoute', ({ method, url }) => {
    for (const one of [method].flat()) routes.push({ method: one, url })
  })
  app.addHook('onReady', ready => {
    for (const { method, url } of routes) {
      const parameter = method === 'POST' ? readParameterOf(url, routes) : undefined
      if (parameter !== undefined) parameters.set(url, parameter)
    }
    ready()
  })
  app.addHook('preSerialization', (request, reply, content, next) => {
    const { url: path = '' } = request.sandbox.route
    const parameter = reply.statusCode === 201 ? parameters.get(path) : undefined
    if (parameter !== undefined) {
      const reference = (content as Readonly<Record<string, string>>)[parameter]
      reply.header('location', `${prefixOf(request)}${path}/${reference}`)
    }
    next(null, content)
  })
  done()
})
