import fp from 'fastify-plugin'
import { errors } from '../core/errors.js'
import { pathOf } from './url.js'

const ENCODED_SLASH = /%2f/i

/** Answers unknown paths with 404, other methods with 405 and `Allow`, and OPTIONS with 204 (decisions §1). */
export const notFound = fp((app, _options, done) => {
  const methodsByPath = new Map<string, Set<string>>()

  app.addHook('onRoute', ({ url, method }) => {
    const methods = methodsByPath.get(url) ?? new Set<string>()
    for (const one of [method].flat()) methods.add(one)
    methodsByPath.set(url, methods)
  })

  /** Returns the value of `Allow` for a path; undefined: no route has it. */
  function allowedOn(path: string): string | undefined {
    const segments = path.split('/')
    for (const [pattern, methods] of methodsByPath) {
      const parts = pattern.split('/')
      const isMatch =
        parts.length === segments.length && parts.every((part, at) => matches(part, segments[at] as string))
      if (isMatch) return [...methods, 'OPTIONS'].sort().join(', ')
    }
    return undefined
  }

  // In `onRequest`, and not in a 404 handler, so that 404 and 405 come before a refusal of the body.
  app.addHook('onRequest', (request, reply, next) => {
    const path = pathOf(request.raw.url as string)
    // An encoded slash is a path separator (interface, Errors 2), but routers decode it into the value. No route ends
    // with a slash, but routers match one to a parameter without a value.
    if (path.endsWith('/') || ENCODED_SLASH.test(path)) throw errors.routeNotFound()
    if (!request.is404) {
      next()
      return
    }
    const allow = path === '*' ? 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT' : allowedOn(path)
    if (request.method === 'OPTIONS' && allow !== undefined) {
      reply.code(204).header('allow', allow).send()
      return
    }
    if (allow === undefined || path === '*') throw errors.routeNotFound()
    throw errors.methodNotAllowed(request.method, allow)
  })
  done()
})

/** Returns whether a segment fits: a parameter takes any value but an empty one, fixed text may be percent-encoded. */
function matches(part: string, segment: string): boolean {
  return part.startsWith(':') ? segment !== '' : part === segment || part === decodeURIComponent(segment)
}
