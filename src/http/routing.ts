import type { IncomingMessage } from 'node:http'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { errors } from '../core/errors.js'

const ENCODED_SLASH = /%2f/i

/** Whether a method changes nothing. */
export const isRead = (method: string | undefined): boolean => method === 'GET' || method === 'HEAD'

/** The path of a request target in origin form. */
export function pathOf(target: string): string {
  const end = target.indexOf('?')
  return end < 0 ? target : target.slice(0, end)
}

const badPaths = new WeakSet<IncomingMessage>()

/** Whether the path of a request has percent-encoding that does not decode. It is refused when paths are (§1). */
export const hasBadPath = (request: IncomingMessage): boolean => badPaths.has(request)

/**
 * For Fastify's `rewriteUrl`: what the router can work with. A target in absolute form (RFC 9112 §3.2.2) is reduced to
 * its path and query. A path that does not decode stops the router before anybody could ask for the token and the
 * region; so its percent signs are escaped, and what it was is remembered.
 */
export function toRoutable(request: IncomingMessage): string {
  const target = originForm(request.url as string)
  const path = pathOf(target)
  if (!path.includes('%') || isDecodable(path)) return target
  badPaths.add(request)
  return path.replace(/%(?!2f)/gi, '%25')
}

function originForm(target: string): string {
  if (target.startsWith('/') || !/^https?:\/\//i.test(target)) return target
  const rest = target.replace(/^https?:\/\/[^/?]*/i, '')
  return rest.startsWith('/') ? rest : `/${rest}`
}

/** Whether all percent-encoding of a path decodes to UTF-8. */
export function isDecodable(path: string): boolean {
  try {
    decodeURIComponent(path)
    return true
  } catch {
    return false
  }
}

/**
 * Decides what path and method come to before anything else is looked at (decisions §1): 404, 405 with `Allow`, and
 * the answer to OPTIONS. To be installed before the routes, since it collects them.
 */
export function installRouting(app: FastifyInstance): void {
  const methodsByPath = new Map<string, Set<string>>()

  app.addHook('onRoute', ({ url, method }) => {
    const methods = methodsByPath.get(url) ?? new Set()
    for (const name of [method].flat()) methods.add(name)
    methodsByPath.set(url, methods)
  })

  /** The methods of the route that a path leads to; undefined: there is none. Only asked when no route was found. */
  function methodsOf(path: string): string | undefined {
    const segments = path.split('/')
    const matches = (pattern: string) => {
      const parts = pattern.split('/')
      return parts.length === segments.length && parts.every((part, at) => matchesSegment(part, segments[at] as string))
    }
    for (const [pattern, methods] of methodsByPath) {
      if (matches(pattern)) return [...methods, 'OPTIONS'].sort().join(', ')
    }
    return undefined
  }

  app.addHook('onRequest', (request: FastifyRequest, reply: FastifyReply, done) => {
    const path = pathOf(request.raw.url as string)
    // An encoded slash is a path separator (interface, Errors 2), but routers decode it into the value. And no route of
    // ours ends with a slash, which routers take for a parameter without a value.
    if (path.endsWith('/') || (path.includes('%') && ENCODED_SLASH.test(path))) throw errors.routeNotFound()
    if (!request.is404) {
      done()
      return
    }
    const allow = methodsOf(path)
    if (request.method === 'OPTIONS' && (allow !== undefined || path === '*')) {
      reply
        .code(204)
        .header('allow', allow ?? 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT')
        .send()
      return
    }
    if (allow === undefined) throw errors.routeNotFound()
    throw errors.methodNotAllowed(request.method, allow)
  })
}

/** A parameter takes any value but an empty one; fixed text may be percent-encoded. */
function matchesSegment(part: string, segment: string): boolean {
  return part.startsWith(':') ? segment !== '' : part === segment || part === decodeURIComponent(segment)
}
