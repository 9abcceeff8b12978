import type { Static, TArray, TObject, TOptional } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import type { AreaName, Areas } from '../../areas/index.js'
import { byArea } from '../../areas/index.js'
import { REGIONS } from '../../core/domain/regions.js'
import { assumed, component, Moment, OneOf, Text } from '../../core/schemas.js'
import { toTitle, toWords } from '../../core/words.js'
import { VERSION } from '../../package.js'
import { ClockState } from '../clock/schemas.js'
import { Deprecation } from '../deprecations/schemas.js'
import { Event } from '../events/schemas.js'
import { FaultSnapshot } from '../faults/schemas.js'
import { OutcomeSnapshot } from '../outcomes/schemas.js'
import { Count, Counts, list, members, optional, Position, upTo } from '../schemas.js'
import { DEFAULT_SETTINGS, Settings } from '../settings/schemas.js'

/** The service documents no state document: all of it is assumed. */

/** The settings in a state document of this or an earlier release. */
const StateSettings = component('StateSettings', {
  ...Settings.properties,
  senderName: Type.Optional(Settings.properties.senderName),
  tokenAuthentication: Type.Optional(Settings.properties.tokenAuthentication),
})

const position = {
  region: assumed(OneOf(...REGIONS), 'The region of the record.'),
  sequence: assumed(Position, 'The number of the record in the order of creation.'),
}
const created = { createdAt: assumed(Moment, 'The time of the tenant at which the record was created.') }
const timed = { timeline: list('The `seq` of each event of the record, oldest first.', Position) }

type SnapshotProperties = {
  readonly [Name in AreaName]: TArray<
    TObject<
      typeof position &
        (Areas[Name] extends { lifecycle: object } ? typeof timed : typeof created) & { record: Areas[Name]['record'] }
    >
  >
}
const snapshots = byArea((name, { lifecycle, record }) =>
  list(
    `The ${toWords(name)}.`,
    component(`${toTitle(name)}Snapshot`, {
      ...position,
      ...(lifecycle === undefined ? created : timed),
      record: assumed(record, 'The record.'),
    }),
  ),
) as unknown as SnapshotProperties

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
  deprecations: assumed(upTo(100, 'deprecations', Deprecation), 'The deprecated operations.'),
  faults: assumed(
    // No more than can be armed.
    upTo(1000, 'faults', FaultSnapshot),
    'The faults in the order of arming.',
  ),
  outcomes: assumed(upTo(1000, 'armed outcomes', OutcomeSnapshot), 'The armed outcomes in the order of arming.'),
  ids: members('The state of the generator of ids and random numbers.', {
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
  tokens: members('The state of the access tokens.', {
    generation: assumed(Count, 'The generation of valid tokens. Tokens of an earlier generation are expired.'),
  }),
  sequence: assumed(Count, 'The number of the latest record in the order of creation.'),
  ...snapshots,
  events: list('All events, oldest first.', Event),
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

export const SeedRequest = Type.Unsafe<{ fixture?: string; records?: SeedRecords }>(
  Type.Object(
    {
      fixture: optional(
        Type.String(),
        'The name of a fixture: `empty`, `demo`, or a file of the folder `SANDBOX_FIXTURES`.',
      ),
      records: optional(SeedRecords, 'The records by kind.'),
    },
    {
      title: 'SeedRequest',
      description: 'Exactly one of the members.',
      anyOf: [{ required: ['fixture'] }, { required: ['records'] }],
      examples: [
        {
          records: {
            counterparties: [{ region: 'EU', counterpartyReference: 'CPTY-{{number}}', accountHolderName: 'Jane Doe' }],
          },
        },
      ],
    },
  ),
)
export const SeedResult = component('SeedResult', {
  added: assumed(Counts, 'The numbers of added records.'),
  counts: assumed(Counts, 'The numbers of records of the tenant.'),
})
