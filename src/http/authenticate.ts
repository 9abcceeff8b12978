import type { FastifyRequest } from 'fastify'
import { errors } from '../core/errors.js'

/** The token of an `Authorization: Bearer …` header (RFC 6750 §2.1); the scheme's name is case-insensitive. */
const BEARER = /^bearer +\S/i

export const bearerOf = ({ headers: { authorization } }: FastifyRequest): string | undefined =>
  authorization !== undefined && BEARER.test(authorization)
    ? authorization.slice('Bearer'.length).trimStart()
    : undefined

/** The token that a request must have. @throws MISSING_TOKEN */
export function tokenOf(request: FastifyRequest): string {
  const token = bearerOf(request)
  if (token === undefined) throw errors.missingToken()
  return token
}
