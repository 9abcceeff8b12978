import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { Region } from '../core/domain/regions.js'
import { errors } from '../core/errors.js'

/** The credentials of an `Authorization: Bearer …` header (RFC 6750 §2.1); the scheme is case-insensitive. */
const BEARER = /^bearer +(\S.*)$/i

/** Returns the bearer token of a request, if any. */
export const bearerOf = ({ headers: { authorization = '' } }: FastifyRequest): string | undefined =>
  BEARER.exec(authorization)?.[1]

/** The credentials of an `Authorization: Basic …` header (RFC 7617 §2); the scheme is case-insensitive. */
const BASIC = /^basic +([\w+/-]+={0,2})$/i

/** Returns the credentials of HTTP Basic of a request, if any. The user name ends at the first colon. */
export function basicOf({ headers: { authorization = '' } }: FastifyRequest) {
  const encoded = BASIC.exec(authorization)?.[1]
  if (encoded === undefined) return undefined
  const [user = '', ...password] = Buffer.from(encoded, 'base64').toString().split(':')
  return { user, password: password.join(':') }
}

export interface AuthenticationOptions {
  /** Admits the owner of a token, then calls back. The error is INVALID_TOKEN, EXPIRED_TOKEN or SERVICE_UNAVAILABLE. */
  admit(request: FastifyRequest, token: string, done: (error?: Error) => void): void
}

/**
 * Requires a good access token and the routing header `x-region` on every route of its scope (interface, What the service does).
 * Refuses MISSING_TOKEN, INVALID_TOKEN, EXPIRED_TOKEN, MISSING_FIELD, INVALID_REGION.
 */
export const authentication = fp<AuthenticationOptions>((app, { admit }, done) => {
  app.addHook('onRequest', function authenticate(request, _reply, next) {
    const token = bearerOf(request)
    if (token === undefined) throw errors.missingToken()
    admit(request, token, next)
  })

  app.addHook('onRequest', function readRegion({ headers, sandbox }, _reply, next) {
    const region = headers['x-region'] as Region | '' | undefined
    if (!region) throw errors.missing('x-region', 'The header x-region is required.')
    const served = sandbox.route.config.regions as readonly Region[]
    if (!served.includes(region)) throw errors.invalidRegion(region, served)
    sandbox.region = region
    next()
  })
  done()
})
