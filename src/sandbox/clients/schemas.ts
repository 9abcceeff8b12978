import { Type } from '@sinclair/typebox'
import { assumed, component, like, OneOf, Text } from '../../core/schemas.js'
import { ClientId, Counts, flag, integer, Now, optional, rows, string } from '../schemas.js'

const tenantSummary = {
  clientId: ClientId,
  fixture: string('The fixture that a reset restores.'),
  counts: assumed(Counts, 'The numbers of records of the tenant.'),
  now: Now,
}
export const ClientList = component('ClientList', {
  data: rows('All tenants.', {
    ...tenantSummary,
    hasKnownSecret: flag('Whether the secret is the documented one of the demo client.'),
  }),
})

export const ClientParams = Type.Object({
  // The client that the example of POST /fork creates.
  clientId: assumed(like(Text(1, 1000), 'job-{{client}}'), 'The client id of the tenant.'),
})
/** The credentials of a token request. They have no maximum: a message about it would quote the secret. */
const Credential = Type.String({ minLength: 1, 'x-expected': 'a string that is not empty' })
export const ClientCredentials = component(
  'ClientCredentials',
  {
    client_id: assumed(Credential, 'The client id.'),
    client_secret: assumed(
      Credential,
      'The client secret. With open registration, it becomes the secret of an unknown client.',
    ),
  },
  { client_id: 'app-{{client}}', client_secret: 'secret' },
)

export const TenantSummary = component('TenantSummary', tenantSummary)

/** The client ids that open registration takes (decisions §3). */
const NewClientId = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: '^(?!\\.{1,2}$)[a-zA-Z0-9._-]+$',
  'x-expected': '1 to 64 letters, digits, dots, underscores or hyphens, but not . or ..',
})
export const ForkRequest = component(
  'ForkRequest',
  {
    clientId: assumed(NewClientId, 'The client id of the copy. It must be new.'),
    clientSecret: optional(Text(1, 1000), 'The client secret of the copy. Default: the secret of the original.'),
  },
  { clientId: 'job-{{client}}' },
)
export const ForkResult = component('ForkResult', { clientId: string('The client id of the copy.') })

export const CreatedToken = component('CreatedToken', {
  access_token: string('The token.'),
  expires_in: integer('The lifetime in seconds of the tenant.'),
  scope: string('The scope.'),
  token_type: assumed(OneOf('Bearer'), 'The type of the token.'),
})

export const TokensExpired = component('TokensExpired', { clientId: ClientId, now: Now })
