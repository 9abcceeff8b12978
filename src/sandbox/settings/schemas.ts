import type { Static, TString } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { AccountHolderName, Name } from '../../core/domain/schemas.js'
import { DEFAULT_ALLOWED_ORIGINS } from '../../core/origins.js'
import { assumed, component, OneOf, titled } from '../../core/schemas.js'

const Origins = Type.Array(
  Type.String({
    'x-format': 'origin-pattern',
    maxLength: 300,
    'x-expected': 'an origin: scheme, host and port, or * for any port',
  }),
  { maxItems: 100, 'x-expected': 'a list of at most 100 origins' },
)
const senderName = (name: TString) =>
  assumed(
    Type.Unsafe<string | null>({ ...name, type: ['string', 'null'] }),
    'The name of the sender on the pages of payout links. Initially the name in `SANDBOX_CLIENTS`, else in the fixture. ' +
      'null for the holder of the newest account.',
  )

export const Settings = component('Settings', {
  mandateActivation: assumed(
    OneOf('automatic', 'manual'),
    'automatic (initially): new mandates are ACTIVE at once. manual: they stay PENDING until ' +
      '`POST /_sandbox/mandates/{mandateReference}/activate`.',
  ),
  deprecationStyle: assumed(
    OneOf('seed', 'rfc'),
    'The form of the headers `Deprecation` and `Sunset`. seed (initially): as the service documents them. ' +
      'rfc: as RFC 9745 and RFC 8594 define them.',
  ),
  allowedOrigins: assumed(
    Origins,
    'The origins that may embed payout links. An empty list refuses every embedded link. ' +
      'Initially `http://localhost:*` and `http://127.0.0.1:*`, or the list of `SANDBOX_CLIENTS`, and the origins of ' +
      'the embedded links of the fixture.',
  ),
  // An earlier release may have stored one that is blank.
  senderName: senderName(AccountHolderName),
  tokenAuthentication: assumed(
    OneOf('form', 'form-or-basic'),
    'The client authentication of token requests. form: only the form, as the service documents it. ' +
      'form-or-basic (initially): HTTP Basic too, with a `Sandbox-Hint`.',
  ),
})
export type Settings = Static<typeof Settings>
/** The initial settings. A client has them also where another release has stored its settings. */
export const DEFAULT_SETTINGS = {
  allowedOrigins: [...DEFAULT_ALLOWED_ORIGINS],
  mandateActivation: 'automatic',
  deprecationStyle: 'seed',
  senderName: null,
  tokenAuthentication: 'form-or-basic',
} satisfies Settings

const Update = Type.Partial(Type.Object({ ...Settings.properties, senderName: senderName(Name) }))
export const SettingsUpdate = titled('SettingsUpdate', Update, { mandateActivation: 'automatic' })
