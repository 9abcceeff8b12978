import type { FastifyRequest } from 'fastify'
import Negotiator from 'negotiator'

/** A longer header is read as if it were not there: `negotiator` takes time with the square of its length. */
const LONGEST = 1000

/** Returns the media type that a request prefers (RFC 9110 §12.5.1), by default the first, or undefined if it takes none. */
export function preferredType({ headers }: FastifyRequest, types: readonly string[]): string | undefined {
  const { accept } = headers
  if (!accept || accept.length > LONGEST) return types[0]
  return new Negotiator({ headers: { accept } }).mediaType([...types])
}
