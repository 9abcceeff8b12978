import formbody from '@fastify/formbody'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import type { FastifyRequest } from 'fastify'
import { errors } from '../../core/errors.js'
import { basicOf } from '../../http/authenticate.js'
import { sendError, toApiError } from '../../http/error-handler.js'
import { FORM, FORM_LIMIT, parseForm } from '../../http/form.js'
import { hint } from '../../http/hints.js'
import { isPublicHost, withClient } from '../../http/request-context.js'
import { failures } from '../../http/schemas.js'
import { isDecodable } from '../../http/url.js'
import { toOAuthError } from './errors.js'
import { AccessToken, MetadataQuery, ServerMetadata, TokenError, TokenRequest } from './schemas.js'

/** RFC 6749 §5.1; errors are not stored either (decisions §3). */
const UNCACHED = { 'cache-control': 'no-store', pragma: 'no-cache' }

/** POST /api/v1/oauth/token: documented in full, except statuses and errors (interface, Endpoints; decisions §3). */
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
  app.addHook('preValidation', function readCredentials(request, _reply, next) {
    const form = (request.body ?? undefined) as Record<string, string> | undefined
    const basic = basicOf(request)
    // RFC 6749 §3.2: a parameter without a value counts as left out.
    const given = Object.fromEntries(Object.entries(form ?? {}).filter(([, value]) => value !== ''))
    const body = basic === undefined ? given : withBasic(request, basic, given)
    // Such as the line end of a file with a secret.
    for (const name of CREDENTIALS) {
      if (body[name] !== body[name]?.trim()) hint(request, `${name} begins or ends with white space`)
    }
    request.body = body
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
    (request, reply) => {
      reply.headers(UNCACHED)
      return withClient(request, ({ settings, tokens }) => {
        if (usesBasic(request) && settings.tokenAuthentication === 'form') throw errors.basicRefused()
        return tokens.issue(request.body.scope)
      })
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
    request => withClient(request, ({ settings }) => metadataFor(request, settings.tokenAuthentication === 'form')),
  )
  done()
}

/** Returns the metadata for a client. `isStrict`: it may not use HTTP Basic. */
function metadataFor(request: FastifyRequest, isStrict: boolean): ServerMetadata {
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
}

const usesBasic = (request: FastifyRequest) => basicOf(request) !== undefined

/**
 * Adds the credentials of HTTP Basic to the form. RFC 6749 §2.3.1 encodes them, and many clients do not: both readings count.
 * The service documents form fields only, so a hint says that it may refuse them (assumed, decisions §3).
 * Throws INVALID_FIELD where both are given and differ.
 */
function withBasic(
  request: FastifyRequest,
  { user, password }: NonNullable<ReturnType<typeof basicOf>>,
  form: Readonly<Record<string, string>>,
): Record<string, string> {
  const plain = { client_id: user, client_secret: password, hint: 'HTTP Basic was read as it is, without decoding' }
  const decoded = {
    client_id: decode(user),
    client_secret: decode(password),
    hint: 'HTTP Basic was decoded as RFC 6749 section 2.3.1 encodes it',
  }
  const isSame = user === decoded.client_id && password === decoded.client_secret
  // A plus alone is hardly a space of a client that encodes. The first reading registers a client.
  const likely = /%/.test(user + password) ? [decoded, plain] : [plain, decoded]
  const readings = (isSame ? [{ ...plain, hint: undefined }] : likely).filter(reading =>
    CREDENTIALS.every(name => form[name] === undefined || form[name] === reading[name]),
  )
  const [first] = readings
  if (first === undefined) {
    const name = CREDENTIALS.find(name => form[name] !== undefined && form[name] !== likely[0]?.[name]) as string
    throw errors.invalid(name, `${name} differs between the form and HTTP Basic.`)
  }
  request.sandbox.credentials = readings
  hint(request, 'the service documents client credentials in the form only and may refuse HTTP Basic')
  return { ...form, client_id: first.client_id, client_secret: first.client_secret }
}

const CREDENTIALS = ['client_id', 'client_secret'] as const

/** Decodes one part of form-encoded credentials. A text that is not encoded so stays as it is. */
function decode(text: string): string {
  const decodable = text.replaceAll('+', ' ')
  return isDecodable(decodable) ? decodeURIComponent(decodable) : text
}
