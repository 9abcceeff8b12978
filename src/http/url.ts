import type { IncomingMessage } from 'node:http'

/** Returns the path of a request target in origin form. */
export function pathOf(target: string): string {
  const end = target.indexOf('?')
  return end < 0 ? target : target.slice(0, end)
}

/** Returns the root of the server, relative to a request target: a proxy may serve it below a path prefix. */
export const rootOf = (target: string): string => '../'.repeat(pathOf(target).split('/').length - 2)

/** Returns the path and query of a request target, also of one in absolute form (RFC 9112 §3.2.2), without a fragment. */
export function originForm(given: string): string {
  const target = given.includes('#') ? given.slice(0, given.indexOf('#')) : given
  if (target.startsWith('/') || !/^https?:\/\//i.test(target)) return target
  const rest = target.replace(/^https?:\/\/[^/?]*/i, '')
  return rest.startsWith('/') ? rest : `/${rest}`
}

/** Returns the values of names in order, as text or, for a repeated name, as a list. */
export function valuesByName(pairs: Iterable<readonly [name: string, value: string]>): Map<string, string | string[]> {
  const values = new Map<string, string | string[]>()
  for (const [name, value] of pairs) {
    const earlier = values.get(name)
    if (earlier === undefined) values.set(name, value)
    else if (typeof earlier === 'string') values.set(name, [earlier, value])
    else earlier.push(value)
  }
  return values
}

/** Returns whether all percent-encoding of a text decodes to UTF-8. */
export function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

/**
 * Returns a target that the router accepts, for Fastify's `rewriteUrl`. A path that does not decode would be refused
 * before the token and the region are checked (decisions §1). Its percent signs are escaped; validation refuses it.
 */
export function toRoutable({ url }: Pick<IncomingMessage, 'url'>): string {
  const given = url as string
  if (given.startsWith('/') && !given.includes('%') && !given.includes('#')) return given
  const target = originForm(given)
  const path = pathOf(target)
  if (!path.includes('%') || isDecodable(path)) return target
  return path.replace(/%(?!2f)/gi, '%25')
}

/** Returns whether a method changes nothing. */
export const isRead = (method: string): boolean => method === 'GET' || method === 'HEAD'
