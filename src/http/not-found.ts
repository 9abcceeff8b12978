import type { FastifyInstance } from 'fastify'
import leven from 'leven'
import { errors } from '../core/errors.js'

const ENCODED_SLASH = /%2f/gi

/** Collects the routes of a server, for the answers to requests that none of them takes. */
export function collectPaths(app: FastifyInstance) {
  const methodsByPath = new Map<string, Set<string>>()
  const nouns = new Map<string, string>()
  let routes: readonly Route[] | undefined

  app.addHook('onRoute', ({ url, method, schema }) => {
    // `listCollections` is a call on collections, whatever its path.
    const noun = schema?.operationId?.replace(/^[a-z]+/, '')
    if (noun !== undefined) nouns.set(url, singularOf(noun))
    const methods = methodsByPath.get(url) ?? new Set<string>()
    for (const one of [method].flat()) methods.add(one)
    methodsByPath.set(url, methods)
  })

  return {
    /** Returns the value of `Allow` for a path, or undefined if no route has it. */
    allowedOn(path: string): string | undefined {
      const segments = path.split('/')
      for (const [pattern, methods] of methodsByPath) {
        const parts = pattern.split('/')
        const isMatch =
          parts.length === segments.length && parts.every((part, at) => matches(part, segments[at] as string))
        if (isMatch) return [...methods, 'OPTIONS'].sort().join(', ')
      }
      return undefined
    },
    /** Makes ROUTE_NOT_FOUND. It names the path of a route that is near, with its parameters in braces. */
    routeNotFound(path: string) {
      routes ??= [...methodsByPath.keys()].map(pattern => ({ pattern, noun: nouns.get(pattern), ...split(pattern) }))
      const near = nearest(path, routes) ?? namedBy(path, routes)
      return errors.routeNotFound(near?.replace(/:(\w+)/g, '{$1}'), !/^\/+_sandbox(\/|$)/i.test(path))
    },
  }
}

/** Returns whether a segment fits: a parameter takes any value except an empty one, fixed text may be percent-encoded. */
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
  /** The subject of its operation, in the singular, or undefined if it has no name. */
  readonly noun: string | undefined
}

function split(path: string): SplitPath {
  const [prefix = ''] = PREFIX.exec(path) ?? []
  return { prefix, segments: path.slice(prefix.length).split('/').filter(Boolean) }
}

/** Returns the pattern of the route that is nearest to an unknown path, or undefined if none is near. */
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

/** Returns a noun in lower case, without separators, in the singular. */
const singularOf = (noun: string) =>
  noun
    .toLowerCase()
    .replace(/[^a-z]/g, '')
    .replace(/ies$/, 'y')
    .replace(/s$/, '')

/** Returns the pattern of the route whose operations have the name of the first segment, or undefined if there is none. */
function namedBy(path: string, routes: readonly Route[]): string | undefined {
  const given = split(path.replace(ENCODED_SLASH, '/'))
  const noun = singularOf(given.segments[0] ?? '')
  const { length } = given.segments
  if (length > 2) return undefined
  const fitting = routes.filter(route => route.noun === noun && route.segments.length === length)
  return (fitting.find(({ prefix }) => prefix === given.prefix) ?? fitting[0])?.pattern
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
