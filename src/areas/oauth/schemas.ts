import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { assumed, documented, ErrorBody } from '../../http/schemas.js'

/** Interface, POST /api/v1/oauth/token. `grant_type` has a code of its own, so its one value is checked in the store. */
export const TokenRequest = Type.Object({
  client_id: documented(Type.String({ maxLength: 256, 'x-expected': 'a string of at most 256 characters' })),
  client_secret: documented(Type.String({ maxLength: 256, 'x-expected': 'a string of at most 256 characters' })),
  grant_type: documented(Type.String({ 'x-expected': 'client_credentials' })),
})
export type TokenRequest = Static<typeof TokenRequest>

/** Interface, Access token response. */
export const AccessToken = Type.Object({
  access_token: documented(Type.String()),
  expires_in: documented(Type.Integer()),
  scope: documented(Type.String()),
  token_type: documented(Type.String()),
})
export type AccessToken = Static<typeof AccessToken>

/** The error envelope with the two members that stock OAuth clients read: RFC 6749 §5.2; decisions §3. */
export const TokenError = Type.Object({
  ...ErrorBody.properties,
  error: assumed(Type.String()),
  error_description: assumed(Type.String()),
})
