import formbody from '@fastify/formbody'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { errors } from '../../core/errors.js'
import { basicOf } from '../../http/authenticate.js'
import { sendError, toApiError } from '../../http/error-handler.js'
import { FORM, FORM_LIMIT, parseForm } from '../../http/form.js'
import { hint } from '../../http/hints.js'
import { isPublicHost } from '../../http/public-host.js'
import { failures } from '../../http/schemas.js'
import { isDecodable } from '../../http/url.js'
import { toOAuthError } from './errors.js'
import { AccessToken, MetadataQuery, ServerMetadata, TokenError, TokenRequest } from './schemas.js'

/** RFC 6749 §5.1; errors are not stored either (decisions §3). */
const UNCACHED = { 'cache-control': 'no-store', pragma: 'no-cache' }

/** POST /api/v1/oauth/token: documented in full but for statuses and errors (interface, Endpoints; decisions §3). */
export const oauthRoutes: FastifyPluginCallbackTypebox = (app, _options, done) => {
  app.removeAllContentTypeParsers()
  app.register(formbody, { parser: parseForm })
  app.setErrorHandler((error, request, reply) => {
    const refusal = toApiError(error, request)
    reply.headers(UNCACHED)
    // Some OAuth libraries hide `invalid_client` behind a challenge that they did not provoke (decisions §3).
    if (refusal.code === 'INVALID_CLIENT' && usesBasic(request)) reply.header('www-authenticate', 'Basic realm="oauth"')
    return sendError(reply, refusal, toOAuthError(refusal))
  })
  app.addHook('preValidation', (request, _reply, next) => {
    const form = (request.body ?? undefined) as Record<string, string> | undefined
    const basic = basicOf(request)
    if (basic !== undefined) request.body = withBasic(request, basic, form)
    next()
  })

  app.post(
    '/token',
    {
      bodyLimit: FORM_LIMIT,
      config: { consumes: FORM },
      schema: {
        operationId: 'issueToken',
        summary: 'Issue an access token using client credentials',
        security: [],
        'x-fidelity': 'documented',
        description:
          'HTTP Basic is accepted too, with a `Sandbox-Hint`: the service documents form fields only and may refuse it. ' +
          'The setting `tokenAuthentication: form` refuses it. ' +
          'The secret of the first request of an unknown client registers it, if open registration is on.',
        'x-error-codes': ['INVALID_CLIENT'],
        body: TokenRequest,
        response: { 200: AccessToken, '4xx': TokenError, '5xx': TokenError },
      },
    },
    // The tenant is that of the credentials.
    (request, reply) => {
      const { settings, tokens } = request.sandbox.tenant
      reply.headers(UNCACHED)
      if (usesBasic(request) && settings.tokenAuthentication === 'form') throw errors.basicRefused()
      return tokens.issue()
    },
  )
  done()
}

/** GET /.well-known/oauth-authorization-server: RFC 8414, for the discovery of OAuth libraries (decisions §3). */
export const metadataRoutes: FastifyPluginCallbackTypebox = (app, _options, done) => {
  app.get(
    '/.well-known/oauth-authorization-server',
    {
      schema: {
        operationId: 'getServerMetadata',
        summary: 'Discover the token endpoint',
        description:
          'The metadata of RFC 8414, for OAuth libraries that discover the token endpoint. The authentication methods ' +
          'are those that the client may use, by its setting `tokenAuthentication`.',
        tags: ['oauth'],
        security: [],
        'x-fidelity': 'assumed',
        'x-fidelity-note': 'The service documents no metadata.',
        'x-error-codes': ['CLIENT_NOT_FOUND'],
        querystring: MetadataQuery,
        response: { 200: ServerMetadata, ...failures },
      },
    },
    (request): ServerMetadata => {
      const isStrict = request.sandbox.tenant.settings.tokenAuthentication === 'form'
      // Clients compare the issuer with the URL that they used, which may be another name of the server (RFC 8414 §3.3).
      const issuer = isPublicHost(request) ? request.sandbox.publicUrl : `http://${request.sandbox.host}`
      return {
        issuer,
        token_endpoint: `${issuer}/api/v1/oauth/token`,
        grant_types_supported: ['client_credentials'],
        token_endpoint_auth_methods_supported: ['client_secret_post', ...(isStrict ? [] : ['client_secret_basic'])],
        // There is no authorization endpoint.
        response_types_supported: [],
      }
    },
  )
  done()
}

const usesBasic = (request: FastifyRequest) => basicOf(request) !== undefined

/**
 * Adds the credentials of HTTP Basic (RFC 6749 §2.3.1) to the form. The service documents form fields only, so a hint
 * says that it may refuse them (assumed, decisions §3). Throws INVALID_FIELD where both are given and differ.
 */
function withBasic(
  request: FastifyRequest,
  { user, password }: NonNullable<ReturnType<typeof basicOf>>,
  form: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const credentials = { client_id: decoded(user), client_secret: decoded(password) }
  for (const [name, value] of Object.entries(credentials)) {
    if (form[name] !== undefined && form[name] !== value) {
      throw errors.invalid(name, `${name} of the form differs from that of HTTP Basic.`)
    }
  }
  hint(request, 'the service documents client credentials in the form only and may refuse HTTP Basic')
  return { ...form, ...credentials }
}

/** Decodes one part of the credentials, which are form-encoded (RFC 6749 §2.3.1). */
function decoded(text: string): string {
  const decodable = text.replaceAll('+', ' ')
  return isDecodable(decodable) ? decodeURIComponent(decodable) : text
}
