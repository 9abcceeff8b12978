import type { TProperties, TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Bill, BillParams, BillRegionQuery } from '../areas/bills/schemas.js'
import {
  CollectionOutcomeBody,
  CollectionParams,
  CollectionVerbBody,
  StoredCollection,
} from '../areas/direct-debit/schemas.js'
import { MandateParams, StoredMandate } from '../areas/mandates/schemas.js'
import {
  Claim,
  Decline,
  PayoutLinkOutcomeBody,
  PayoutLinkParams,
  StoredPayoutLink,
} from '../areas/payout-links/schemas.js'
import { PAGES } from '../plugins/coverage.js'
import { assumed, component, Duration, labelled, Moment, OneOf, Text, titled } from '../schemas.js'
import { SeedRecords } from '../tenants/seed.js'
import {
  ArmedOutcome,
  ClockMode,
  ClockRate,
  ClockState,
  change,
  Deprecation,
  DeprecationRequest,
  Event,
  Fault,
  FaultRequest,
  OutcomeRequest,
  Settings,
  TenantSnapshot,
} from '../tenants/snapshot.js'

/** Which tenant a call acts on. */
const client = {
  client: Type.Optional(assumed(Type.String(), 'The tenant, by its client id; by default `sandbox-client`.')),
}
export const ClientQuery = Type.Object(client)

const Counts = component('RecordCounts', {
  mandates: Type.Integer(),
  collections: Type.Integer(),
  payoutLinks: Type.Integer(),
  bills: Type.Integer(),
  counterparties: Type.Integer(),
  accounts: Type.Integer(),
})

export const Health = component('Health', { status: OneOf('ok') })

export const Overview = component('Overview', {
  name: Type.String(),
  version: Type.String(),
  uptime: Type.Integer({ description: 'Whole seconds since the start.' }),
  seed: Type.String(),
  tenants: Type.Integer(),
  records: Counts,
  routes: Type.Array(labelled(assumed, { method: Type.String(), path: Type.String(), summary: Type.String() })),
})

export const ClientList = component('ClientList', {
  data: Type.Array(labelled(assumed, { clientId: Type.String(), fixture: Type.String(), counts: Counts, now: Moment })),
})

export const ClientParams = labelled(assumed, { clientId: Text(1, 1000) })
/** The credentials of a token request. They have no maximum: a message about it would quote the secret. */
const Credential = Type.String({ minLength: 1, 'x-expected': 'a string that is not empty' })
export const ClientCredentials = component(
  'ClientCredentials',
  { client_id: Credential, client_secret: Credential },
  { client_id: 'app', client_secret: 'secret' },
)

export const ResetResult = component('TenantSummary', {
  clientId: Type.String(),
  fixture: Type.String(),
  counts: Counts,
  now: Moment,
})

export const SeedRequest = Type.Unsafe<{ fixture?: string; records?: SeedRecords }>(
  Type.Object(
    { fixture: Type.Optional(assumed(Type.String())), records: Type.Optional(assumed(SeedRecords)) },
    {
      title: 'SeedRequest',
      anyOf: [{ required: ['fixture'] }, { required: ['records'] }],
      examples: [
        {
          records: {
            counterparties: [{ region: 'EU', counterpartyReference: 'CPTY-0001', accountHolderName: 'Jane Doe' }],
          },
        },
      ],
    },
  ),
)
export const SeedResult = component('SeedResult', { added: Counts, counts: Counts })

export const ClockUpdate = Type.Object(
  { mode: Type.Optional(assumed(ClockMode)), rate: Type.Optional(assumed(ClockRate)) },
  { title: 'ClockUpdate', anyOf: [{ required: ['mode'] }, { required: ['rate'] }], examples: [{ mode: 'frozen' }] },
)

export const ClockAdvance = Type.Object(
  {
    by: Type.Optional(assumed(Duration)),
    to: Type.Optional(assumed(Moment)),
    toNextEvent: Type.Optional(assumed(Type.Literal(true, { 'x-expected': 'true' }))),
  },
  {
    title: 'ClockAdvance',
    anyOf: [{ required: ['by'] }, { required: ['to'] }, { required: ['toNextEvent'] }],
    examples: [{ by: 'P3D' }],
  },
)

export const ClockAdvanced = component('ClockAdvanceResult', {
  now: Moment,
  transitions: Type.Array(labelled(assumed, change)),
  omitted: Type.Optional(Type.Integer({ description: 'The number of transitions after those listed.' })),
})

const explained = <R extends TProperties[string]>(title: string, record: R) =>
  component(title, {
    record,
    timeline: Type.Array(Event),
    next: Type.Unsafe<{ at: string; to: string } | null>({
      ...labelled(assumed, { at: Moment, to: Type.String() }),
      type: ['object', 'null'],
    }),
    legal: Type.Array(
      labelled(assumed, {
        verb: Type.String(),
        to: Type.String(),
        reasonCodes: Type.Optional(Type.Array(Type.String())),
        until: Type.Optional(Moment),
      }),
    ),
  })

export const ExplainedCollection = explained('ExplainedCollection', StoredCollection)
export const ExplainedMandate = explained('ExplainedMandate', StoredMandate)
export const ExplainedPayoutLink = explained('ExplainedPayoutLink', StoredPayoutLink)
export const ExplainedBill = explained('ExplainedBill', Bill)

const count = (least: number, most: number) =>
  Type.Integer({ minimum: least, maximum: most, 'x-expected': `an integer from ${least} to ${most}` })
const After = Type.Optional(assumed(count(0, 999_999_999_999_999)))
const Method = OneOf('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS')

export const EventQuery = Type.Object({
  ...client,
  after: After,
  kind: Type.Optional(assumed(change.kind)),
  reference: Type.Optional(assumed(Text(1, 128))),
  wait: Type.Optional(assumed(count(0, 60))),
})
export const EventList = component('EventList', { data: Type.Array(Event), last: Type.Integer() })

export const RequestQuery = Type.Object({
  ...client,
  after: After,
  method: Type.Optional(assumed(Method)),
  path: Type.Optional(assumed(Text(1, 500))),
  status: Type.Optional(assumed(count(100, 599))),
})
/** A logged request and its answer, of which the bodies can be any JSON value. */
const LoggedRequest = component('LoggedRequest', {
  seq: Type.Integer(),
  at: Moment,
  method: Type.String(),
  path: Type.String(),
  query: Type.Any(),
  headers: Type.Any(),
  body: Type.Any(),
  status: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
  responseHeaders: Type.Any(),
  responseBody: Type.Any(),
  durationMs: Type.Number(),
  faults: Type.Array(Type.Any()),
  hints: Type.Array(Type.String()),
})
export const RequestList = component('RequestList', {
  data: Type.Array(LoggedRequest),
  last: Type.Integer(),
  dropped: Type.Integer({ description: 'How many made room for later ones.' }),
})

const Anything = Type.Unsafe<unknown>({ 'x-expected': 'any JSON value' })
export const Verification = component(
  'VerificationRequest',
  {
    method: Type.Optional(Method),
    path: Type.Optional(Text(1, 500)),
    query: Type.Optional(
      Type.Unsafe<Record<string, string | string[]>>({
        type: 'object',
        maxProperties: 50,
        additionalProperties: {
          type: ['string', 'array'],
          items: { type: 'string', 'x-expected': 'a string' },
          'x-expected': 'a string, or a list of strings where it is repeated',
        },
        'x-expected': 'an object of query parameters and their values',
      }),
    ),
    headers: Type.Optional(
      Type.Unsafe<Record<string, string>>({
        type: 'object',
        maxProperties: 50,
        additionalProperties: { type: 'string', 'x-expected': 'a string' },
        'x-expected': 'an object of header fields and their values',
      }),
    ),
    body: Type.Optional(Anything),
    status: Type.Optional(count(100, 599)),
    times: Type.Optional(count(0, 1_000_000)),
    atLeast: Type.Optional(count(0, 1_000_000)),
    atMost: Type.Optional(count(0, 1_000_000)),
  },
  { method: 'POST', path: '/api/v1/direct-debit', body: { amount: '49.90' }, times: 1 },
)
export const VerificationResult = component('VerificationResult', {
  matched: Type.Boolean(),
  count: Type.Integer(),
  dropped: Type.Integer({ description: 'How many requests made room for later ones, and were not looked at.' }),
  nearestMisses: Type.Optional(
    Type.Array(
      labelled(assumed, {
        seq: Type.Integer(),
        method: Type.String(),
        path: Type.String(),
        status: Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
        differences: Type.Array(
          labelled(assumed, { at: Type.String(), expected: Type.Any(), actual: Type.Optional(Type.Any()) }),
        ),
      }),
    ),
  ),
})
export const Cleared = component('RemovedCount', { removed: Type.Integer() })

const met = <T extends TSchema>(values: T) => labelled(assumed, { met: Type.Array(values), missed: Type.Array(values) })
const MetCount = labelled(assumed, { met: Type.Integer(), of: Type.Integer() })
export const CoverageReport = component('CoverageReport', {
  clientId: Type.String(),
  summary: labelled(assumed, {
    operations: MetCount,
    statuses: MetCount,
    errorCodes: MetCount,
    states: MetCount,
    pages: MetCount,
  }),
  operations: Type.Array(
    labelled(assumed, {
      operation: Type.String(),
      requests: Type.Integer(),
      statuses: met(Type.Integer()),
      errorCodes: met(Type.String()),
      pages: Type.Optional(met(OneOf(...PAGES))),
    }),
  ),
  states: Type.Array(
    labelled(assumed, { kind: change.kind, met: Type.Array(Type.String()), missed: Type.Array(Type.String()) }),
  ),
})

export const FaultList = component('FaultList', { data: Type.Array(Fault) })
export const FaultParams = labelled(assumed, { id: Text(1, 64) })

export const DeprecationList = component('DeprecationList', { data: Type.Array(Deprecation) })
export const DeprecationsUpdate = component(
  'DeprecationsUpdate',
  {
    data: Type.Array(DeprecationRequest, { maxItems: 100, 'x-expected': 'a list of at most 100 deprecations' }),
  },
  {
    data: [{ operation: 'GET /api/v1/mandates', sunset: '2030-06-30T00:00:00Z', goneAfterSunset: true }],
  },
)

/** The client ids that open registration takes (decisions §3). */
const NewClientId = Type.String({
  minLength: 1,
  maxLength: 64,
  pattern: '^[a-zA-Z0-9._-]+$',
  'x-expected': '1 to 64 letters, digits, dots, underscores or hyphens',
})
export const ForkRequest = component(
  'ForkRequest',
  { clientId: NewClientId, clientSecret: Type.Optional(Text(1, 1000)) },
  { clientId: 'job-1' },
)
export const ForkResult = component('ForkResult', { clientId: Type.String() })

export const TokensExpired = component('TokensExpired', { clientId: Type.String(), now: Moment })

export const RecordingFile = Type.Unsafe<object>({
  type: 'object',
  description: 'A file for `payments-sandbox replay`.',
})

export const OpenApiDocument = Type.Unsafe<object>({ type: 'object', additionalProperties: true })

export const BillExplainQuery = Type.Object({ ...client, ...BillRegionQuery })

const Fidelity = OneOf('documented', 'assumed')

const outcome = { outcome: Type.String(), description: Type.String(), fidelity: Fidelity }
export const OutcomeTable = component('OutcomeTable', {
  data: Type.Array(labelled(assumed, { debtorReference: Type.String(), ...outcome })),
  payoutLinks: Type.Array(labelled(assumed, outcome)),
  armed: Type.Array(ArmedOutcome),
})
export const OutcomeParams = labelled(assumed, { id: Text(1, 64) })
export const ReasonCodeTable = component('ReasonCodeTable', {
  data: Type.Array(
    labelled(assumed, {
      code: Type.String(),
      name: Type.String(),
      phases: Type.Array(Type.String()),
      windows: Type.Array(
        labelled(assumed, {
          phase: Type.String(),
          from: Type.String(),
          verb: Type.String(),
          raisedBy: Type.String(),
          until: Type.Unsafe<string | null>({
            type: ['string', 'null'],
            description: 'Counted from the collection date D; null: as long as the collection is in that state.',
          }),
        }),
      ),
      fidelity: Fidelity,
    }),
  ),
})
export const ErrorTable = component('ErrorTable', {
  data: Type.Array(
    labelled(assumed, { code: Type.String(), status: Type.Integer(), when: Type.String(), fidelity: Fidelity }),
  ),
})

export const SettingsUpdate = titled('SettingsUpdate', Type.Partial(Settings), { mandateActivation: 'manual' })

export {
  ArmedOutcome,
  BillParams,
  Claim,
  ClockState,
  CollectionOutcomeBody,
  CollectionParams,
  CollectionVerbBody,
  Decline,
  Fault,
  FaultRequest,
  MandateParams,
  OutcomeRequest,
  PayoutLinkOutcomeBody,
  PayoutLinkParams,
  Settings,
  TenantSnapshot,
}

/** A page. */
export const Html = Type.String()
