import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { errors } from '../core/errors.js'

/** The credentials of an `Authorization: Bearer …` header (RFC 6750 §2.1); the scheme is case-insensitive. */
const BEARER = /^bearer +(\S.*)$/i

/** Returns the bearer token of a request; undefined: it has none. */
export const bearerOf = ({ headers: { authorization = '' } }: FastifyRequest): string | undefined =>
  BEARER.exec(authorization)?.[1]

/** The credentials of an `Authorization: Basic …` header (RFC 7617 §2); the scheme is case-insensitive. */
const BASIC = /^basic +([\w+/-]+={0,2})$/i

/** Returns the credentials of HTTP Basic of a request; undefined: it has none. The user name ends at the first colon. */
export function basicOf({ headers: { authorization = '' } }: FastifyRequest) {
  const encoded = BASIC.exec(authorization)?.[1]
  if (encoded === undefined) return undefined
  const [user = '', ...password] = Buffer.from(encoded, 'base64').toString().split(':')
  return { user, password: password.join(':') }
}

export interface AuthenticateOptions {
  /** Admits the owner of a token, then calls back. The error is INVALID_TOKEN, EXPIRED_TOKEN or SERVICE_UNAVAILABLE. */
  admit(request: FastifyRequest, token: string, done: (error?: Error) => void): void
}

/** Requires a good access token on every route of its scope. Refuses MISSING_TOKEN, INVALID_TOKEN, EXPIRED_TOKEN. */
export const authenticate = fp<AuthenticateOptions>((app, { admit }, done) => {
  app.addHook('onRequest', (request, _reply, next) => {
    const token = bearerOf(request)
    if (token === undefined) throw errors.missingToken()
    admit(request, token, next)
  })
  done()
})
