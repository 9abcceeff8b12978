import type { FastifyRequest, HookHandlerDoneFunction } from 'fastify'
import { errors } from '../core/errors.js'

/** The token of an `Authorization: Bearer …` header (RFC 6750 §2.1); the scheme's name is case-insensitive. */
const BEARER = /^bearer +(\S.*)$/i

export const bearerOf = ({ headers: { authorization } }: FastifyRequest): string | undefined =>
  authorization === undefined ? undefined : BEARER.exec(authorization)?.[1]

/**
 * Requires a bearer token.
 * @param admit looks the token up and remembers whose request this is; throws INVALID_TOKEN or EXPIRED_TOKEN
 */
export const authenticate =
  (admit: (request: FastifyRequest, token: string) => void) =>
  (request: FastifyRequest, _reply: unknown, done: HookHandlerDoneFunction): void => {
    const token = bearerOf(request)
    if (token === undefined) throw errors.missingToken()
    admit(request, token)
    done()
  }
