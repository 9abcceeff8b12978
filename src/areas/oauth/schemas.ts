import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { assumed, documented, named } from '../../core/schemas.js'
import { ErrorBody } from '../../http/schemas.js'

const Parameter = Type.String({ minLength: 1 })

const GrantType = Type.Unsafe<'client_credentials'>({
  type: 'string',
  enum: ['client_credentials'],
  'x-expected': 'client_credentials',
  'x-error-code': 'UNSUPPORTED_GRANT_TYPE',
})

/** Scopes in the form of RFC 6749 §3.3. */
const Scope = Type.String({
  pattern: '^[\\x21\\x23-\\x5b\\x5d-\\x7e]+( [\\x21\\x23-\\x5b\\x5d-\\x7e]+)*$',
  'x-expected': 'names of printable ASCII characters without quotes and backslashes, separated by single spaces',
})

/** Interface, POST /api/v1/oauth/token. No length is documented; a form is bounded by the size of a body. */
export const TokenRequest = Type.Object(
  {
    client_id: named(Parameter, 'Client ID. An unknown one registers itself, if open registration is on.'),
    client_secret: named(Parameter, 'Client secret.'),
    grant_type: documented(GrantType, 'The only grant type.'),
    scope: Type.Optional(
      assumed(
        Scope,
        'The scope of the token (RFC 6749 §3.3). The token gets this scope, unless the client has one of its own. Not enforced.',
      ),
    ),
  },
  {
    title: 'AccessTokenRequest',
    examples: [{ client_id: 'sandbox-client', client_secret: '{{secret}}', grant_type: 'client_credentials' }],
  },
)
export type TokenRequest = Static<typeof TokenRequest>

/** Interface, Access token response. */
export const AccessToken = documented(
  Type.Object(
    {
      access_token: documented(Type.String(), 'The token, which is opaque.'),
      expires_in: documented(Type.Integer(), "Lifetime of the token in seconds, on the tenant's clock."),
      scope: documented(Type.String(), 'Scope of the token. Which scopes an operation requires is not documented.'),
      token_type: documented(Type.String(), 'Type of the token.'),
    },
    {
      title: 'AccessTokenResponse',
      examples: [{ access_token: 'sbx_JpTqVd3nR8cW', expires_in: 3600, scope: 'payments', token_type: 'Bearer' }],
    },
  ),
  'An access token.',
)
export type AccessToken = Static<typeof AccessToken>

export const MetadataQuery = Type.Object({
  client: Type.Optional(
    assumed(
      Type.String(),
      'The client that asks, by its client id; by default `sandbox-client`, or the client of `createSandbox`.',
    ),
  ),
})

/** RFC 8414 §2. The interface does not document it. */
export const ServerMetadata = Type.Object(
  {
    issuer: assumed(Type.String(), 'The URL of the server.'),
    token_endpoint: assumed(Type.String(), 'The URL of the token endpoint.'),
    grant_types_supported: assumed(Type.Array(Type.String()), 'The grant types.'),
    token_endpoint_auth_methods_supported: assumed(Type.Array(Type.String()), 'How clients send their credentials.'),
    response_types_supported: assumed(Type.Array(Type.String()), 'None: there is no authorization endpoint.'),
  },
  {
    title: 'AuthorizationServerMetadata',
    description: 'The metadata of RFC 8414.',
    examples: [
      {
        issuer: 'http://127.0.0.1:8080',
        token_endpoint: 'http://127.0.0.1:8080/api/v1/oauth/token',
        grant_types_supported: ['client_credentials'],
        token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
        response_types_supported: [],
      },
    ],
  },
)
export type ServerMetadata = Static<typeof ServerMetadata>

/** The error envelope with the two members that stock OAuth clients read: RFC 6749 §5.2; decisions §3. */
export const TokenError = Type.Object(
  {
    ...ErrorBody.properties,
    error: Type.Optional(assumed(Type.String(), 'The error code of RFC 6749 §5.2, such as `invalid_client`.')),
    error_description: Type.Optional(assumed(Type.String(), 'The message again, as RFC 6749 §5.2 names it.')),
  },
  { title: 'TokenErrorEnvelope' },
)
