import type { Static, TOptional, TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import type { AreaName, Areas } from '../../areas/index.js'
import { byArea } from '../../areas/index.js'
import { DEFAULT_ALLOWED_ORIGINS } from '../../core/rules/origins.js'
import { REGIONS } from '../../core/rules/regions.js'
import { toTitle, toWords } from '../../core/words.js'
import { AccountHolderName, assumed, component, Moment, OneOf, Text } from '../../http/schemas.js'
import { VERSION } from '../../package.js'
import { Deprecation } from '../deprecations/schemas.js'
import { Event } from '../events/schemas.js'
import { FaultSnapshot } from '../faults/schemas.js'
import { OutcomeSnapshot } from '../outcomes/schemas.js'
import { Count, Place } from '../schemas.js'

/**
 * The state document of a tenant (control plane, GET /state), and the schemas of its parts that other calls share.
 * The service documents none of it: all of it is assumed.
 */

// ---------------------------------------------------------------------------------------------------------- clock

export const ClockMode = assumed(
  OneOf('running', 'frozen'),
  'running: the time of the tenant passes at `rate`. frozen: it stands still until `POST /_sandbox/clock/advance`.',
)
export const ClockRate = assumed(
  Type.Integer({ minimum: 1, maximum: 86_400, 'x-expected': 'an integer from 1 to 86400' }),
  'Seconds of the tenant per real second while the clock runs.',
)
export const ClockState = component('ClockState', {
  now: assumed(Moment, 'The time of the tenant.'),
  mode: ClockMode,
  rate: ClockRate,
})

// ------------------------------------------------------------------------------------------------------- settings

const Origins = Type.Array(
  Type.String({
    format: 'origin-pattern',
    maxLength: 300,
    'x-expected': 'an origin: scheme, host and port, or * for any port',
  }),
  { maxItems: 100, 'x-expected': 'a list of at most 100 origins' },
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
      'Initially `http://localhost:*` and `http://127.0.0.1:*`, or those of `SANDBOX_CLIENTS`, and the origins of ' +
      'the embedded links of the fixture.',
  ),
  senderName: assumed(
    Type.Unsafe<string | null>({ ...AccountHolderName, type: ['string', 'null'] }),
    'The name of the sender on the pages of payout links. Initially that of `SANDBOX_CLIENTS`, else of the fixture. ' +
      'null: the holder of the newest account.',
  ),
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
/** The settings in a state document of this or an earlier release. */
const StateSettings = component('StateSettings', {
  ...Settings.properties,
  senderName: Type.Optional(Settings.properties.senderName),
  tokenAuthentication: Type.Optional(Settings.properties.tokenAuthentication),
})

// ------------------------------------------------------------------------------------------------------- document

const place = {
  region: assumed(OneOf(...REGIONS), 'The region of the record.'),
  sequence: assumed(Place, 'The number of the record in the order of creation.'),
}
const plain = <R extends TSchema>(title: string, record: R) =>
  Type.Array(
    component(title, {
      ...place,
      createdAt: assumed(Moment, 'The time of the tenant at which the record was created.'),
      record: assumed(record, 'The record.'),
    }),
  )
const stateful = <R extends TSchema>(title: string, record: R) =>
  Type.Array(
    component(title, {
      ...place,
      timeline: assumed(Type.Array(Place), 'The `seq` of each event of the record, oldest first.'),
      record: assumed(record, 'The record.'),
    }),
  )

type SnapshotProperties = {
  readonly [Name in AreaName]: Areas[Name] extends { lifecycle: object }
    ? ReturnType<typeof stateful<Areas[Name]['record']>>
    : ReturnType<typeof plain<Areas[Name]['record']>>
}
const snapshots = byArea((name, { lifecycle, record }) => {
  const list = lifecycle === undefined ? plain : stateful
  return assumed(list(`${toTitle(name)}Snapshot`, record), `The ${toWords(name)}.`)
}) as SnapshotProperties

export const SNAPSHOT_FORMAT = 'payments-sandbox/state'
export const SNAPSHOT_VERSION = 1

const snapshot = {
  format: assumed(Type.Literal(SNAPSHOT_FORMAT, { 'x-expected': SNAPSHOT_FORMAT }), 'The format of the document.'),
  version: assumed(
    Type.Literal(SNAPSHOT_VERSION, { 'x-expected': String(SNAPSHOT_VERSION) }),
    'The version of the format.',
  ),
  release: assumed(Text(1, 64), 'The release that made the document.'),
  clock: assumed(ClockState, 'The clock of the tenant.'),
  settings: assumed(Settings, 'The settings of the tenant.'),
  deprecations: assumed(
    Type.Array(Deprecation, { maxItems: 100, 'x-expected': 'a list of at most 100 deprecations' }),
    'The deprecated operations.',
  ),
  faults: assumed(
    // No more than can be armed.
    Type.Array(FaultSnapshot, { maxItems: 1000, 'x-expected': 'a list of at most 1000 faults' }),
    'The faults in the order of arming.',
  ),
  outcomes: assumed(
    Type.Array(OutcomeSnapshot, { maxItems: 1000, 'x-expected': 'a list of at most 1000 armed outcomes' }),
    'The armed outcomes in the order of arming.',
  ),
  ids: assumed(
    Type.Object({
      scope: assumed(Text(1, 1000), 'Separates the ids of tenants: a client id. A fork has the scope of its original.'),
      counters: assumed(
        Type.Unsafe<Record<string, number>>({
          type: 'object',
          maxProperties: 1000,
          propertyNames: { maxLength: 64 },
          additionalProperties: Count,
          'x-expected': 'an object of at most 1000 counters',
        }),
        'The number of ids and random numbers so far, by purpose.',
      ),
    }),
    'The state of the generator of ids and random numbers.',
  ),
  tokens: assumed(
    Type.Object({
      generation: assumed(Count, 'The generation of valid tokens. Tokens of an earlier generation are expired.'),
    }),
    'The state of the access tokens.',
  ),
  sequence: assumed(Count, 'The number of the latest record in the order of creation.'),
  ...snapshots,
  events: assumed(Type.Array(Event), 'All events, oldest first.'),
}
const example = {
  format: SNAPSHOT_FORMAT,
  version: SNAPSHOT_VERSION,
  release: VERSION,
  clock: { now: '{{now}}', mode: 'running', rate: 1 },
  settings: { ...DEFAULT_SETTINGS, allowedOrigins: ['http://localhost:*'] },
  deprecations: [],
  faults: [],
  outcomes: [],
  ids: { scope: 'app', counters: {} },
  tokens: { generation: 0 },
  sequence: 0,
  ...byArea(() => []),
  events: [],
}
/** The state of a tenant as this release writes it. */
export const TenantSnapshot = component('TenantSnapshot', snapshot, example)
export type TenantSnapshot = Static<typeof TenantSnapshot>

/** A state document of this or an earlier release: members that later releases have added can be missing. */
export const StateDocument = component(
  'StateDocument',
  {
    ...snapshot,
    release: Type.Optional(snapshot.release),
    settings: assumed(StateSettings, 'The settings of the tenant.'),
    outcomes: Type.Optional(snapshot.outcomes),
    ...(byArea(name => Type.Optional(snapshots[name])) as {
      readonly [Name in AreaName]: TOptional<SnapshotProperties[Name]>
    }),
  },
  example,
)
export type StateDocument = Static<typeof StateDocument>

// ------------------------------------------------------------------------------------------------------ fixtures

type SeedProperties = { readonly [Name in AreaName]: TOptional<Areas[Name]['seeds']> }

/** Records of every kind, as fixtures hold them and `POST /_sandbox/seed` takes them. */
export const SeedRecords = component('SeedRecords', byArea((_, { seeds }) => Type.Optional(seeds)) as SeedProperties)
export type SeedRecords = Static<typeof SeedRecords>
