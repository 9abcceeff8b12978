import type { FastifyRequest } from 'fastify'

/** A longer header is read as if it were not there: `accepts` takes time with the square of its length. */
const LONGEST = 1000

/** Returns the media type that a request prefers (RFC 9110 §12.5.1): without a preference the first; false: none of them. */
export const preferredType = (request: FastifyRequest, types: readonly string[]) =>
  (request.headers.accept ?? '').length <= LONGEST ? request.type([...types]) : types[0]
