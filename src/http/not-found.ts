import type { FastifyReply } from 'fastify'
import fp from 'fastify-plugin'
import leven from 'leven'
import { errors } from '../core/errors.js'
import { pathOf } from './url.js'

const ENCODED_SLASH = /%2f/gi

/** Answers unknown paths with 404, other methods with 405 and `Allow`, and OPTIONS with 204 (decisions §1). */
export const notFound = fp((app, _options, done) => {
  const methodsByPath = new Map<string, Set<string>>()
  let routes: readonly Route[] | undefined

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

  /** Makes ROUTE_NOT_FOUND. It names the path of a route that is near, with its parameters in braces. */
  function routeNotFound(path: string) {
    routes ??= [...methodsByPath.keys()].map(pattern => ({ pattern, ...split(pattern) }))
    return errors.routeNotFound(nearest(path, routes)?.replace(/:(\w+)/g, '{$1}'))
  }

  /** Answers OPTIONS of a known path. @throws ROUTE_NOT_FOUND, METHOD_NOT_ALLOWED */
  function answer(method: string, path: string, reply: FastifyReply) {
    const allow = path === '*' ? 'DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT' : allowedOn(path)
    if (method === 'OPTIONS' && allow !== undefined) {
      reply.code(204).header('allow', allow).send()
      return
    }
    if (allow === undefined || path === '*') throw routeNotFound(path)
    throw errors.methodNotAllowed(method, allow)
  }

  // In `onRequest`, and not in a 404 handler, so that 404 and 405 come before a refusal of the body.
  app.addHook('onRequest', (request, reply, next) => {
    const { method } = request
    const path = pathOf(request.raw.url as string)
    // An encoded slash is a path separator (interface, Errors 2), but routers decode it into the value. No route ends
    // with a slash, but routers match one to a parameter without a value.
    const isNone = (path.endsWith('/') && path !== '/') || path.search(ENCODED_SLASH) >= 0
    // @fastify/cors adds a route of OPTIONS for every path.
    if (!isNone && !request.is404 && method !== 'OPTIONS') {
      next()
      return
    }
    if (isNone) throw routeNotFound(path)
    answer(method, path, reply)
  })
  done()
})

/** Returns whether a segment fits: a parameter takes any value but an empty one, fixed text may be percent-encoded. */
function matches(part: string, segment: string): boolean {
  return part.startsWith(':') ? segment !== '' : part === segment || part === decodeURIComponent(segment)
}

/** The prefixes of our routes, and wrong spellings of them. */
const PREFIX = /^\/+((_sandbox|api(\/+v\d+)?|v\d+)(?=\/|$))?/i

interface SplitPath {
  readonly prefix: string
  /** The segments behind the prefix, empty ones left out. */
  readonly segments: readonly string[]
}

interface Route extends SplitPath {
  readonly pattern: string
}

function split(path: string): SplitPath {
  const [prefix = ''] = PREFIX.exec(path) ?? []
  return { prefix, segments: path.slice(prefix.length).split('/').filter(Boolean) }
}

/** Returns the pattern of the route that is nearest to an unknown path; undefined: none is near. */
function nearest(path: string, routes: readonly Route[]): string | undefined {
  const given = split(path.replace(ENCODED_SLASH, '/'))
  let best: { pattern?: string; distance: number } = { distance: Infinity }
  for (const { pattern, prefix, segments } of routes) {
    const isSamePrefix = prefix === given.prefix
    if (segments.length === 0 && !isSamePrefix) continue
    // Between two areas of the same name, the one under the given prefix is nearer.
    const distance = distanceOf(segments, given.segments) + (isSamePrefix ? 0 : 0.5)
    if (distance < best.distance) best = { pattern, distance }
  }
  return best.pattern
}

/** Returns the number of letters that differ in the fixed segments; infinite: the paths are not near. */
function distanceOf(parts: readonly string[], segments: readonly string[]): number {
  if (parts.length !== segments.length) return Infinity
  return parts.reduce((sum, part, at) => {
    const segment = segments[at] as string
    return part.startsWith(':') ? sum : sum + lettersBetween(part, segment.toLowerCase())
  }, 0)
}

/** A quarter of the letters may differ, and at least one. */
function lettersBetween(part: string, segment: string): number {
  const most = Math.max(1, Math.floor(part.length / 4))
  if (Math.abs(part.length - segment.length) > most) return Infinity
  const distance = leven(part, segment, { maxDistance: most + 1 })
  return distance > most ? Infinity : distance
}
