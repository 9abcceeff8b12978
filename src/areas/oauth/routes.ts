import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import type { SandboxError } from '../../core/errors.js'
import { errors } from '../../core/errors.js'
import { errorOf, sendEnvelope } from '../../http/error-handler.js'
import { FORM } from '../../http/forms.js'
import { toOAuthError } from './errors.js'
import { AccessToken, TokenError, TokenRequest } from './schemas.js'

export interface OAuthOptions {
  /** @throws INVALID_CLIENT, SERVICE_UNAVAILABLE (no room for another tenant), and what the tenant was told to refuse */
  issueToken(request: FastifyRequest, clientId: string, clientSecret: string): AccessToken
}

/** POST /api/v1/oauth/token: documented in full but for statuses and errors (interface, Endpoints; decisions §3). */
export const oauthRoutes: FastifyPluginCallbackTypebox<OAuthOptions> = (app, { issueToken }, done) => {
  app.setErrorHandler((error, request, reply) => {
    const refusal = withoutBasic(errorOf(error, request), request)
    return sendEnvelope(reply, refusal, toOAuthError(refusal))
  })

  app.post(
    '/token',
    {
      config: { consumes: FORM },
      schema: {
        operationId: 'issueToken',
        summary: 'Issue an access token using client credentials',
        tags: ['oauth'],
        'x-fidelity': 'documented',
        body: TokenRequest,
        response: { 200: AccessToken, '4xx': TokenError, '5xx': TokenError },
      },
    },
    (request, reply) => {
      const { client_id, client_secret, grant_type } = request.body
      if (grant_type !== 'client_credentials') throw errors.unsupportedGrantType(grant_type)
      const token = issueToken(request, client_id, client_secret)
      reply.headers({ 'cache-control': 'no-store', pragma: 'no-cache' })
      return token
    },
  )

  done()
}

/** Tells a client that authenticates by HTTP Basic, as RFC 6749 would let it, why that is not seen here. */
function withoutBasic(error: SandboxError, request: FastifyRequest): SandboxError {
  if (error.code !== 'MISSING_FIELD' || !/^basic /i.test(request.headers.authorization ?? '')) return error
  return errors.missing(error.field, `${error.message} HTTP Basic credentials are not read: send them in the form.`)
}
