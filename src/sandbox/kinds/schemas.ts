import type { Static, TProperties, TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { byArea } from '../../areas/index.js'
import { MOST_FOUND } from '../../core/records/repository.js'
import { REGIONS } from '../../core/rules/regions.js'
import { toWords } from '../../core/words.js'
import { assumed, component, Duration, like, Moment, OneOf, pageParameters, Text, titled } from '../../http/schemas.js'
import { change, Event } from '../events/schemas.js'
import { Cleared, ClientId, ClientQuery, client, Fidelity, integer, Nothing, Now } from '../schemas.js'
import {
  ClockMode,
  ClockRate,
  ClockState,
  SeedRecords,
  Settings,
  StateDocument,
  TenantSnapshot,
} from '../state/schemas.js'

const Counts = component(
  'RecordCounts',
  byArea(name => assumed(Type.Integer(), `The number of ${toWords(name)}.`)),
)

export const Health = component('Health', {
  status: assumed(OneOf('ok'), 'Always `ok`. A failure is an error answer.'),
})

export const Overview = component('Overview', {
  name: assumed(Type.String(), 'The name of the program.'),
  version: assumed(Type.String(), 'The release of the program.'),
  uptime: assumed(Type.Integer(), 'Whole seconds since the start.'),
  seed: assumed(Type.String(), 'The seed of ids, tokens and random numbers.'),
  tenants: assumed(Type.Integer(), 'The number of tenants.'),
  records: assumed(Counts, 'The numbers of records of all tenants together.'),
  routes: assumed(
    Type.Array(
      Type.Object({
        method: assumed(Type.String(), 'The method of the call.'),
        path: assumed(Type.String(), 'The path of the call. A parameter begins with a colon.'),
        summary: assumed(Type.String(), 'The summary of the call.'),
      }),
    ),
    'The calls of the control plane.',
  ),
})

const tenantSummary = {
  clientId: ClientId,
  fixture: assumed(Type.String(), 'The fixture that a reset restores.'),
  counts: assumed(Counts, 'The numbers of records of the tenant.'),
  now: Now,
}
export const ClientList = component('ClientList', {
  data: assumed(Type.Array(Type.Object(tenantSummary)), 'All tenants.'),
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

export const ResetResult = component('TenantSummary', tenantSummary)

export const SeedRequest = Type.Unsafe<{ fixture?: string; records?: SeedRecords }>(
  Type.Object(
    {
      fixture: Type.Optional(
        assumed(Type.String(), 'The name of a fixture: `empty`, `demo`, or a file of the folder `SANDBOX_FIXTURES`.'),
      ),
      records: Type.Optional(assumed(SeedRecords, 'The records by kind.')),
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
  counts: tenantSummary.counts,
})

export const ClockUpdate = Type.Object(
  { mode: Type.Optional(ClockMode), rate: Type.Optional(ClockRate) },
  {
    title: 'ClockUpdate',
    description: 'At least one of the members. An omitted one stays as it is.',
    anyOf: [{ required: ['mode'] }, { required: ['rate'] }],
    examples: [{ mode: 'running' }],
  },
)

export const ClockAdvance = Type.Object(
  {
    by: Type.Optional(assumed(Duration, 'Moves the clock forward by this length of time.')),
    to: Type.Optional(
      assumed(Moment, 'Moves the clock to this moment, which must not be before the time of the tenant.'),
    ),
    toNextEvent: Type.Optional(
      assumed(
        Type.Literal(true, { 'x-expected': 'true' }),
        'Moves the clock to the next scheduled transition of any record. Without one, the clock stays as it is.',
      ),
    ),
  },
  {
    title: 'ClockAdvance',
    description: 'Exactly one of the members.',
    anyOf: [{ required: ['by'] }, { required: ['to'] }, { required: ['toNextEvent'] }],
    examples: [{ by: 'PT15M' }],
  },
)

export const ClockAdvanced = component('ClockAdvanceResult', {
  now: Now,
  transitions: assumed(Type.Array(Type.Object(change)), 'The first 10,000 transitions of the step, in order.'),
  omitted: Type.Optional(assumed(Type.Integer(), 'The number of transitions after those listed. Absent if it is 0.')),
})

/** A page of a list without its total. */
const pageOf = <T extends TSchema>(title: string, item: T, description: string) =>
  component(title, {
    data: assumed(Type.Array(item), description),
    nextCursor: assumed(
      Type.Unsafe<string | null>({ type: ['string', 'null'] }),
      'The opaque cursor of the next page; null: this is the last one.',
    ),
  })
const { cursor } = pageParameters(assumed)

export const UpcomingQuery = Type.Object({
  ...client,
  cursor,
  limit: Type.Optional(assumed(integer(1, 100), 'The maximum number of transitions. Default: 20.')),
})
const { at, kind, reference, to } = change
export const UpcomingList = pageOf(
  'UpcomingList',
  component('UpcomingTransition', {
    at,
    kind,
    reference,
    region: assumed(OneOf(...REGIONS), 'The region of the record.'),
    from: assumed(Type.String(), 'The state before the transition.'),
    to,
    cause: assumed(OneOf('time', 'outcome'), 'time: the passing of time. outcome: an outcome on demand.'),
    failed: Type.Optional(assumed(Type.String(), 'Why the transition was due and has failed. Absent: it will happen.')),
  }),
  'The transitions in the order in which they will happen.',
)

/** The parameter for states. Records without states have none. */
const stateQuery = (states: readonly string[] | undefined): TProperties =>
  states === undefined ? {} : { status: Type.Optional(assumed(OneOf(...states), 'Only records in this state.')) }

/** The parameters of a search. */
export const searchQuery = (states: readonly string[] | undefined) =>
  Type.Object({
    ...client,
    search: Type.Optional(
      assumed(Text(1, 128), 'Only records whose reference or id contains this text, in upper or lower case.'),
    ),
    region: Type.Optional(assumed(OneOf(...REGIONS), 'Only records of this region. Default: all regions.')),
    ...stateQuery(states),
    cursor,
    limit: Type.Optional(assumed(integer(1, MOST_FOUND), `The maximum number of records. Default: ${MOST_FOUND}.`)),
  })
export const searchResult = <R extends TSchema>(title: string, record: R) =>
  pageOf(
    title,
    Type.Object({
      region: assumed(OneOf(...REGIONS), 'The region of the record.'),
      createdAt: assumed(Moment, 'The time of the tenant at which the record was created.'),
      record: assumed(record, 'The record.'),
    }),
    'The records of the page, newest first.',
  )

/** The schema of the explanation of a record. */
export const explained = <R extends TSchema>(title: string, record: R) =>
  component(title, {
    record: assumed(record, 'The record, with members that only the control plane shows.'),
    timeline: assumed(
      Type.Array(Event),
      'The latest 100 events of the record, oldest first. `GET /_sandbox/events` lists all, with `kind` and `reference`.',
    ),
    omitted: Type.Optional(assumed(Type.Integer(), 'The number of earlier events. Absent: none.')),
    next: assumed(
      Type.Unsafe<{ at: string; to: string } | null>({
        ...Type.Object({
          at: assumed(Moment, 'The time of the transition on the clock of the tenant.'),
          to: assumed(Type.String(), 'The state after the transition.'),
        }),
        type: ['object', 'null'],
      }),
      'The next automatic transition; null: none.',
    ),
    legal: assumed(
      Type.Array(
        Type.Object({
          verb: assumed(Type.String(), 'The name of the transition, such as `settle`.'),
          to: assumed(Type.String(), 'The state after the transition.'),
          reasonCodes: Type.Optional(
            assumed(Type.Array(Type.String()), 'The legal reason codes. Absent: the transition has none.'),
          ),
          until: Type.Optional(assumed(Moment, 'The last moment of these reason codes. Absent: no limit.')),
        }),
      ),
      'The transitions that are legal now.',
    ),
    failed: Type.Optional(
      assumed(Type.String(), 'Why the last planned transition has failed. Absent: none has failed.'),
    ),
  })

/** The explanation of any record. */
export type ExplainedRecord = Static<ReturnType<typeof explained<TSchema>>>

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
    clientId: assumed(NewClientId, 'The client id of the copy. No tenant has it yet.'),
    clientSecret: Type.Optional(
      assumed(Text(1, 1000), 'The client secret of the copy. Default: that of the original.'),
    ),
  },
  { clientId: 'job-{{client}}' },
)
export const ForkResult = component('ForkResult', { clientId: assumed(Type.String(), 'The client id of the copy.') })

export const TokensExpired = component('TokensExpired', { clientId: ClientId, now: Now })

export const OpenApiDocument = Type.Unsafe<object>({ type: 'object', additionalProperties: true })

/** The parameters of the calls of one record where several regions can have its reference. */
export const RecordQuery = Type.Object({
  ...client,
  region: Type.Optional(
    assumed(OneOf(...REGIONS), 'The region of the record. Required if several regions have the reference.'),
  ),
})

export const ReasonCodeTable = component('ReasonCodeTable', {
  data: assumed(
    Type.Array(
      Type.Object({
        code: assumed(Type.String(), 'The ISO 20022 code.'),
        name: assumed(Type.String(), 'The name of the code in the ISO code set.'),
        phases: assumed(Type.Array(Type.String()), 'The phases of a collection in which the code is legal.'),
        windows: assumed(
          Type.Array(
            Type.Object({
              phase: assumed(Type.String(), 'The phase of the collection.'),
              from: assumed(Type.String(), 'The state of the collection in this phase.'),
              verb: assumed(Type.String(), 'The transition that has the code, such as `return`.'),
              raisedBy: assumed(Type.String(), 'The party that raises the code.'),
              until: assumed(
                Type.Unsafe<string | null>({ type: ['string', 'null'] }),
                'Counted from the collection date D; null: as long as the collection is in that state.',
              ),
            }),
          ),
          'The rules of each phase, in the order of `phases`.',
        ),
        fidelity: Fidelity,
      }),
    ),
    'All reason codes.',
  ),
})
export const ErrorTable = component('ErrorTable', {
  data: assumed(
    Type.Array(
      Type.Object({
        code: assumed(Type.String(), 'The member `code` of the error.'),
        status: assumed(Type.Integer(), 'The HTTP status of the error.'),
        when: assumed(Type.String(), 'The condition of the error.'),
        fidelity: Fidelity,
      }),
    ),
    'All errors.',
  ),
})

export const SettingsUpdate = titled('SettingsUpdate', Type.Partial(Settings), { mandateActivation: 'automatic' })

export { Cleared, ClientQuery, ClockState, Nothing, Settings, StateDocument, TenantSnapshot }
