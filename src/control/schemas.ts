import type { TProperties, TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Bill, BillParams, BillRegionQuery } from '../areas/bills/schemas.js'
import {
  CollectionOutcomeBody,
  CollectionParams,
  CollectionVerbBody,
  StoredCollection,
} from '../areas/direct-debit/schemas.js'
import { byArea, toWords } from '../areas/index.js'
import { MandateParams, StoredMandate } from '../areas/mandates/schemas.js'
import {
  Claim,
  Decline,
  PayoutLinkOutcomeBody,
  PayoutLinkParams,
  StoredPayoutLink,
} from '../areas/payout-links/schemas.js'
import { PAGES } from '../features/coverage/coverage.js'
import { assumed, component, Duration, Moment, OneOf, Text, titled } from '../http/schemas.js'
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

const ClientId = assumed(Type.String(), 'The client id of the tenant.')
const Now = assumed(Moment, 'The time of the tenant.')
const tenantSummary = {
  clientId: ClientId,
  fixture: assumed(Type.String(), 'The fixture that a reset restores.'),
  counts: assumed(Counts, 'The numbers of records of the tenant.'),
  now: Now,
}
export const ClientList = component('ClientList', {
  data: assumed(Type.Array(Type.Object(tenantSummary)), 'All tenants.'),
})

export const ClientParams = Type.Object({ clientId: assumed(Text(1, 1000), 'The client id of the tenant.') })
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
  { client_id: 'app', client_secret: 'secret' },
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
            counterparties: [{ region: 'EU', counterpartyReference: 'CPTY-0001', accountHolderName: 'Jane Doe' }],
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
    examples: [{ mode: 'frozen' }],
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
    examples: [{ by: 'P3D' }],
  },
)

export const ClockAdvanced = component('ClockAdvanceResult', {
  now: Now,
  transitions: assumed(Type.Array(Type.Object(change)), 'The first 10,000 transitions of the step, in order.'),
  omitted: Type.Optional(assumed(Type.Integer(), 'The number of transitions after those listed. Absent if it is 0.')),
})

const explained = <R extends TProperties[string]>(title: string, record: R) =>
  component(title, {
    record: assumed(record, 'The record, with members that only the control plane shows.'),
    timeline: assumed(Type.Array(Event), 'The events of the record, oldest first.'),
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
  })

export const ExplainedCollection = explained('ExplainedCollection', StoredCollection)
export const ExplainedMandate = explained('ExplainedMandate', StoredMandate)
export const ExplainedPayoutLink = explained('ExplainedPayoutLink', StoredPayoutLink)
export const ExplainedBill = explained('ExplainedBill', Bill)

const count = (least: number, most: number) =>
  Type.Integer({ minimum: least, maximum: most, 'x-expected': `an integer from ${least} to ${most}` })
const After = count(0, 999_999_999_999_999)
const Method = OneOf('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS')

export const EventQuery = Type.Object({
  ...client,
  after: Type.Optional(assumed(After, 'Only events with a higher `seq`. Default: 0.')),
  kind: Type.Optional(assumed(change.kind, 'Only events of records of this kind.')),
  reference: Type.Optional(assumed(Text(1, 128), 'Only events of the record with this reference or id.')),
  wait: Type.Optional(
    assumed(
      count(0, 60),
      'The maximum wait for the next event, in seconds of real time. Default: 0, the answer comes at once.',
    ),
  ),
})
export const EventList = component('EventList', {
  data: assumed(Type.Array(Event), 'The first 1,000 events that match, in order.'),
  last: assumed(Type.Integer(), 'The value of `after` that continues after this answer.'),
})

export const RequestQuery = Type.Object({
  ...client,
  after: Type.Optional(assumed(After, 'Only requests with a higher `seq`. Default: 0.')),
  method: Type.Optional(assumed(Method, 'Only requests with this method.')),
  path: Type.Optional(assumed(Text(1, 500), 'Only requests with this path. `*` matches any text, with slashes.')),
  status: Type.Optional(assumed(count(100, 599), 'Only requests with this status of the answer.')),
})

const requestLine = {
  seq: assumed(Type.Integer(), 'The number of the request in the log, from 1.'),
  method: assumed(Type.String(), 'The method of the request.'),
  path: assumed(Type.String(), 'The path of the request, as received and without query.'),
  status: assumed(
    Type.Unsafe<number | null>({ type: ['integer', 'null'] }),
    'The status of the answer; null: a fault suppressed the answer.',
  ),
}
/** A logged request and its answer, of which the bodies can be any JSON value. */
const LoggedRequest = component('LoggedRequest', {
  seq: requestLine.seq,
  at: Now,
  method: requestLine.method,
  path: requestLine.path,
  query: assumed(Type.Any(), 'The query parameters by name. A repeated one is a list.'),
  headers: assumed(Type.Any(), 'The headers of the request, by name in lower case.'),
  body: assumed(
    Type.Any(),
    'The body of the request: the value of JSON and of a form, a note on another body; null: none.',
  ),
  status: requestLine.status,
  responseHeaders: assumed(Type.Any(), 'The headers of the answer, by name in lower case.'),
  responseBody: assumed(Type.Any(), 'The body of the answer; null: none, or a fault suppressed the answer.'),
  durationMs: assumed(Type.Number(), 'Milliseconds of real time until the answer, including the delays of faults.'),
  faults: assumed(
    Type.Array(Type.Any()),
    'The faults that fired: `id` and the members of the effect without `message` and `headers`.',
  ),
  hints: assumed(Type.Array(Type.String()), 'The sentences of the header `Sandbox-Hint`.'),
})
export const RequestList = component('RequestList', {
  data: assumed(Type.Array(LoggedRequest), 'The requests that match, in order.'),
  last: assumed(Type.Integer(), 'The `seq` of the latest request, whether it matches or not.'),
  dropped: assumed(Type.Integer(), 'The number of requests that the log dropped to make room for later ones.'),
})

const Anything = Type.Unsafe<unknown>({ 'x-expected': 'any JSON value' })
export const Verification = component(
  'VerificationRequest',
  {
    method: Type.Optional(assumed(Method, 'The method. Default: any.')),
    path: Type.Optional(
      assumed(Text(1, 500), 'The path without query. `*` matches any text, with slashes. Default: any.'),
    ),
    query: Type.Optional(
      assumed(
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
        'Query parameters and their values, as text. A repeated one is a list. Others may be present.',
      ),
    ),
    headers: Type.Optional(
      assumed(
        Type.Unsafe<Record<string, string>>({
          type: 'object',
          maxProperties: 50,
          additionalProperties: { type: 'string', 'x-expected': 'a string' },
          'x-expected': 'an object of header fields and their values',
        }),
        'Headers and their values as the log shows them, such as `Bearer ***`. Names in any case. Others may be present.',
      ),
    ),
    body: Type.Optional(
      assumed(
        Anything,
        'The body as the log shows it. An object may have further members, at any depth. Lists must be equal.',
      ),
    ),
    status: Type.Optional(assumed(count(100, 599), 'The status of the answer. Default: any.')),
    times: Type.Optional(assumed(count(0, 1_000_000), 'The exact number of requests, without `atLeast` and `atMost`.')),
    atLeast: Type.Optional(
      assumed(count(0, 1_000_000), 'The minimum number of requests. Default: 1, or 0 with `atMost`.'),
    ),
    atMost: Type.Optional(assumed(count(0, 1_000_000), 'The maximum number of requests. Default: no limit.')),
  },
  { method: 'POST', path: '/api/v1/direct-debit', body: { amount: '49.90' }, times: 1 },
)
export const VerificationResult = component('VerificationResult', {
  matched: assumed(Type.Boolean(), 'Whether the number of matching requests is as expected.'),
  count: assumed(Type.Integer(), 'The number of matching requests.'),
  dropped: assumed(Type.Integer(), 'The number of requests that the log dropped earlier. They are not compared.'),
  nearestMisses: Type.Optional(
    assumed(
      Type.Array(
        Type.Object({
          ...requestLine,
          differences: assumed(
            Type.Array(
              Type.Object({
                at: assumed(Type.String(), 'The place of the difference, such as `body.amount`.'),
                expected: assumed(Type.Any(), 'The expected value. Secrets are masked.'),
                actual: Type.Optional(assumed(Type.Any(), 'The value of the request. Absent: it has none.')),
              }),
            ),
            'The differences from the expectation.',
          ),
        }),
      ),
      'Up to three other requests with the fewest differences. Absent if `matched` is true.',
    ),
  ),
})
export const Cleared = component('RemovedCount', { removed: assumed(Type.Integer(), 'The number of removed items.') })

const met = <T extends TSchema>(values: T) => ({
  met: assumed(Type.Array(values), 'The values that the app has met.'),
  missed: assumed(Type.Array(values), 'The other values that the app has to expect.'),
})
const MetCount = Type.Object({
  met: assumed(Type.Integer(), 'The number of met ones.'),
  of: assumed(Type.Integer(), 'The number of all, met and missed.'),
})
export const CoverageReport = component('CoverageReport', {
  clientId: ClientId,
  summary: assumed(
    Type.Object({
      operations: assumed(MetCount, 'The operations, met by any request.'),
      statuses: assumed(MetCount, 'The statuses of answers, counted for each operation.'),
      errorCodes: assumed(MetCount, 'The error codes, counted for each operation.'),
      states: assumed(MetCount, 'The states of records, counted for each kind.'),
      pages: assumed(MetCount, 'The kinds of pages, counted for each list.'),
    }),
    'The numbers of met values.',
  ),
  operations: assumed(
    Type.Array(
      Type.Object({
        operation: assumed(Type.String(), 'The method and the path of the operation, such as `GET /api/v1/mandates`.'),
        requests: assumed(Type.Integer(), 'The number of its requests with an answer since the reset.'),
        statuses: assumed(Type.Object(met(Type.Integer())), 'The statuses of its answers.'),
        errorCodes: assumed(
          Type.Object(met(Type.String())),
          'The error codes of its answers. Only errors that an app has to handle can be missed.',
        ),
        pages: Type.Optional(
          assumed(
            Type.Object(met(OneOf(...PAGES))),
            'The pages of a list. first: without cursor. following: with a cursor. empty: without records.',
          ),
        ),
      }),
    ),
    'The operations of the API.',
  ),
  states: assumed(
    Type.Array(Type.Object({ kind: change.kind, ...met(Type.String()) })),
    'The states of records in answers, by kind.',
  ),
})

export const FaultList = component('FaultList', {
  data: assumed(Type.Array(Fault), 'The faults in the order of arming, including spent and expired ones.'),
})
export const FaultParams = Type.Object({ id: assumed(Text(1, 64), 'The id of the fault, such as `fault-1`.') })

export const DeprecationList = component('DeprecationList', {
  data: assumed(Type.Array(Deprecation), 'The deprecated operations.'),
})
export const DeprecationsUpdate = component(
  'DeprecationsUpdate',
  {
    data: assumed(
      Type.Array(DeprecationRequest, { maxItems: 100, 'x-expected': 'a list of at most 100 deprecations' }),
      'The deprecated operations. They replace all earlier ones.',
    ),
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
  {
    clientId: assumed(NewClientId, 'The client id of the copy. No tenant has it yet.'),
    clientSecret: Type.Optional(
      assumed(Text(1, 1000), 'The client secret of the copy. Default: that of the original.'),
    ),
  },
  { clientId: 'job-1' },
)
export const ForkResult = component('ForkResult', { clientId: assumed(Type.String(), 'The client id of the copy.') })

export const TokensExpired = component('TokensExpired', { clientId: ClientId, now: Now })

export const RecordingFile = Type.Unsafe<object>({
  type: 'object',
  description: 'A file for `payments-sandbox replay`.',
})

export const OpenApiDocument = Type.Unsafe<object>({ type: 'object', additionalProperties: true })

export const BillExplainQuery = Type.Object({ ...client, ...BillRegionQuery })

const Fidelity = assumed(
  OneOf('documented', 'assumed'),
  'documented: the service documents it. assumed: the sandbox assumes it.',
)

const outcome = {
  outcome: assumed(Type.String(), 'The name of the outcome, for `POST /_sandbox/outcomes` and `PUT …/outcome`.'),
  description: assumed(Type.String(), 'The effect on the record. D is the collection date.'),
  fidelity: Fidelity,
}
export const OutcomeTable = component('OutcomeTable', {
  data: assumed(
    Type.Array(
      Type.Object({
        debtorReference: assumed(
          Type.String(),
          'The `debtorReference` that selects the outcome in `POST /api/v1/direct-debit`.',
        ),
        ...outcome,
      }),
    ),
    'The outcomes of collections.',
  ),
  payoutLinks: assumed(Type.Array(Type.Object(outcome)), 'The outcomes of payout links.'),
  armed: assumed(Type.Array(ArmedOutcome), 'The armed outcomes in the order of arming, including spent ones.'),
})
export const OutcomeParams = Type.Object({
  id: assumed(Text(1, 64), 'The id of the armed outcome, such as `outcome-1`.'),
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
