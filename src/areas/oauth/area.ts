/** The area of tokens. It has no records. */
export const oauth = {
  path: 'oauth',
  title: 'Tokens',
  description: 'Access tokens by OAuth 2.0 client credentials.',
} as const
