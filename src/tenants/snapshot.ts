import type { Static, TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import type { Area, AreaName, Areas, EventKind, OutcomeName } from '../areas/index.js'
import { areas, byArea, toWords } from '../areas/index.js'
import { PAYOUT_METHODS } from '../areas/payout-links/methods.js'
import { REGIONS } from '../core/rules/regions.js'
import type { Delay } from '../features/faults/state.js'
import { EFFECT_KINDS } from '../features/faults/state.js'
import {
  Amount,
  assumed,
  component,
  DebtorReference,
  Duration,
  Moment,
  OneOf,
  Reference,
  Text,
} from '../http/schemas.js'

/**
 * The state document of a tenant (control plane, GET /state), and the schemas of its parts that other calls share.
 * The service documents none of it: all of it is assumed.
 */

/** Far above any count, and below the largest safe integer. */
const MOST = 2 ** 48
const Count = Type.Integer({ minimum: 0, maximum: MOST, 'x-expected': `an integer from 0 to ${MOST}` })
const Place = Type.Integer({ minimum: 1, maximum: MOST, 'x-expected': `an integer from 1 to ${MOST}` })

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
      'Initially `http://localhost:*` and `http://127.0.0.1:*`, and for `sandbox-client` one more. ' +
      '`SANDBOX_CLIENTS` can list others.',
  ),
})
export type Settings = Static<typeof Settings>

// --------------------------------------------------------------------------------------------------- deprecations

const DEPRECATED_SINCE = 'The start of the deprecation on the clock of the tenant.'
const GONE_AFTER_SUNSET = 'Whether the operation answers 410 OPERATION_SUNSET from `sunset` on.'

const deprecation = {
  operation: assumed(
    Text(1, 200),
    'The method and the path of the operation, such as `GET /api/v1/mandates/{mandateReference}`.',
  ),
  deprecatedSince: assumed(Moment, DEPRECATED_SINCE),
  sunset: Type.Optional(
    assumed(Moment, 'The end of the operation on the clock of the tenant, not before `deprecatedSince`.'),
  ),
  goneAfterSunset: assumed(Type.Boolean({ 'x-expected': 'true or false' }), GONE_AFTER_SUNSET),
}
export const Deprecation = component('Deprecation', deprecation)
export const DeprecationRequest = component('DeprecationRequest', {
  ...deprecation,
  deprecatedSince: Type.Optional(assumed(Moment, `${DEPRECATED_SINCE} Default: now.`)),
  goneAfterSunset: Type.Optional(
    assumed(deprecation.goneAfterSunset, `${GONE_AFTER_SUNSET} It requires \`sunset\`. Default: false.`),
  ),
})

// --------------------------------------------------------------------------------------------------------- faults

/** The longest delay of an answer. */
const Milliseconds = Type.Integer({ minimum: 0, maximum: 300_000, 'x-expected': 'milliseconds from 0 to 300000' })

const distribution = {
  distribution: Type.Optional(
    assumed(
      OneOf('uniform', 'lognormal'),
      'The distribution of a random delay. uniform requires `min` and `max`; lognormal requires `median`, `sigma` and `max`.',
    ),
  ),
  min: Type.Optional(assumed(Milliseconds, 'The minimum of a uniform delay, in milliseconds.')),
  max: Type.Optional(assumed(Milliseconds, 'The maximum of a random delay, in milliseconds.')),
  median: Type.Optional(assumed(Milliseconds, 'The median of a lognormal delay, in milliseconds.')),
  sigma: Type.Optional(
    assumed(
      Type.Number({ minimum: 0, maximum: 10, 'x-expected': 'a number from 0 to 10' }),
      'The standard deviation of the logarithm of a lognormal delay.',
    ),
  ),
}

const ExtraHeaders = Type.Unsafe<Record<string, string>>({
  type: 'object',
  maxProperties: 20,
  propertyNames: { pattern: "^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$" },
  additionalProperties: {
    type: 'string',
    pattern: '^[\\x20-\\x7e]{0,1024}$',
    'x-expected': 'at most 1024 printable ASCII characters',
  },
  'x-expected': 'at most 20 header fields of valid names',
})

const effect = component('FaultEffect', {
  kind: assumed(
    OneOf(...EFFECT_KINDS),
    'error: an error answer; the request is not applied. delay: the answer is late. drop: the connection closes without ' +
      'an answer. reset: the same by RST. truncate: half of the body, then the end. garbage: bytes that are not HTTP. ' +
      'dribble: the body in up to ten pieces. stale-token: 401 EXPIRED_TOKEN for a valid token; the request is not ' +
      'applied. With delay, truncate, garbage and dribble, the request is applied.',
  ),
  status: Type.Optional(
    assumed(
      Type.Integer({ minimum: 400, maximum: 599, 'x-expected': 'an integer from 400 to 599' }),
      'The status of an error. Required with error.',
    ),
  ),
  code: Type.Optional(
    assumed(
      Type.String({
        pattern: '^[A-Z][A-Z0-9_]{0,63}$',
        'x-expected': 'up to 64 of A-Z, 0-9 and _, the first a letter',
      }),
      'The code of an error. Default: a code of the catalogue that fits the status.',
    ),
  ),
  message: Type.Optional(assumed(Text(1, 500), 'The message of an error. Default: a text with the status.')),
  retryAfter: Type.Optional(
    assumed(
      Type.Integer({ minimum: 0, maximum: 86_400, 'x-expected': 'seconds, an integer from 0 to 86400' }),
      'The header `Retry-After` of an error, in seconds. Default: 1 with the status 429, otherwise none.',
    ),
  ),
  headers: Type.Optional(
    assumed(
      ExtraHeaders,
      'Additional headers of an error, by name. Those of the server itself are refused, such as `content-length`.',
    ),
  ),
  ms: Type.Optional(
    assumed(
      Type.Unsafe<Delay>({
        ...Type.Object(distribution),
        type: ['integer', 'object'],
        minimum: 0,
        maximum: 300_000,
        'x-expected': 'milliseconds from 0 to 300000, or for a delay a distribution of them',
      }),
      'Milliseconds: the length of a delay, or the interval between the pieces of dribble. Required with dribble. ' +
        'A delay requires `ms` or a distribution, which can stand here or beside `kind`.',
    ),
  ),
  ...distribution,
  when: Type.Optional(
    assumed(
      OneOf('before', 'after'),
      'Required with drop and reset. before: the request is not applied. after: the request is applied, and only the ' +
        'answer is lost.',
    ),
  ),
})

const match = component('FaultMatch', {
  method: Type.Optional(assumed(OneOf('GET', 'HEAD', 'POST', 'PATCH', 'DELETE'), 'The method. Default: any.')),
  path: Type.Optional(
    assumed(Text(1, 500), 'The path, decoded and without query. `*` matches any text, with slashes. Default: any.'),
  ),
  region: Type.Optional(
    assumed(OneOf(...REGIONS), 'The region of the request. A token request has none. Default: any.'),
  ),
})

const Times = Type.Unsafe<number | null>({
  type: ['integer', 'null'],
  minimum: 1,
  maximum: 1_000_000,
  'x-expected': 'an integer from 1 to 1000000, or null for no end',
})
const Probability = Type.Number({
  exclusiveMinimum: 0,
  maximum: 1,
  'x-expected': 'a number above 0 and at most 1',
})

const FAULT_TIMES = 'The number of requests on which the fault fires; null: no limit.'
const FAULT_SKIP = 'The number of matching requests that pass first.'
const FAULT_PROBABILITY = 'The probability that the fault fires on a matching request, above 0 and at most 1.'
const FAULT_TTL = 'The lifetime of the fault in real time.'
const FAULT_EFFECT = 'The effect of the fault on a request.'

const faultRequest = {
  match: Type.Optional(
    assumed(match, 'The requests that the fault applies to. Default: all requests, including token requests.'),
  ),
  times: Type.Optional(assumed(Times, `${FAULT_TIMES} Default: 1.`)),
  skip: Type.Optional(
    assumed(
      Type.Integer({ minimum: 0, maximum: 1_000_000, 'x-expected': 'an integer from 0 to 1000000' }),
      `${FAULT_SKIP} Default: 0.`,
    ),
  ),
  probability: Type.Optional(
    assumed(Probability, `${FAULT_PROBABILITY} The same seed and requests give the same result. Default: 1.`),
  ),
  ttl: Type.Optional(assumed(Duration, `${FAULT_TTL} Default: no end.`)),
  effect: assumed(effect, FAULT_EFFECT),
}
export const FaultRequest = component('FaultRequest', faultRequest, {
  match: { path: '/api/v1/direct-debit*' },
  times: 2,
  effect: { kind: 'error', status: 503, retryAfter: 3 },
})

/** A fault in the state document. */
const faultSnapshot = {
  id: assumed(Text(1, 64), 'The id of the fault.'),
  match: assumed(match, 'The requests that the fault applies to. An empty object matches all.'),
  times: assumed(
    Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 1, 'x-expected': 'an integer, or null' }),
    FAULT_TIMES,
  ),
  skip: assumed(Count, FAULT_SKIP),
  probability: assumed(Probability, FAULT_PROBABILITY),
  ttl: Type.Optional(assumed(Duration, FAULT_TTL)),
  effect: assumed(effect, FAULT_EFFECT),
  armedAt: assumed(Moment, 'The time of the tenant at which the fault was armed.'),
  expiresAt: Type.Optional(
    assumed(Type.Integer(), 'The end of `ttl`: real time, in milliseconds since 1970-01-01T00:00:00Z.'),
  ),
  seen: assumed(Count, 'The number of matching requests, including those on which the fault did not fire.'),
  fired: assumed(Count, 'The number of requests on which the fault fired.'),
}
export const FaultSnapshot = component('FaultSnapshot', faultSnapshot)

/** A fault as the control plane returns it. */
export const Fault = component('Fault', {
  ...faultSnapshot,
  // Returned as given: serialising by schema would leave members out or add them.
  match: assumed(Type.Any(), faultSnapshot.match.description),
  effect: assumed(Type.Any(), FAULT_EFFECT),
  state: assumed(
    OneOf('armed', 'spent', 'expired'),
    'armed: the fault can fire. spent: it has fired `times` times. expired: its `ttl` is over.',
  ),
})

// ------------------------------------------------------------------------------------------------- armed outcomes

const outcomeMatch = Type.Object({
  mandateReference: Type.Optional(assumed(Reference, 'The mandate of a collection.')),
  debtorReference: Type.Optional(
    assumed(DebtorReference, 'The debtor of a collection, as in its request, or by default from its mandate.'),
  ),
  collectionReference: Type.Optional(assumed(Reference, 'The reference of a collection.')),
  payoutMethod: Type.Optional(assumed(OneOf(...PAYOUT_METHODS), 'The payout method of a payout link.')),
  counterpartyReference: Type.Optional(assumed(Reference, 'The counterparty of a payout link.')),
  amount: Type.Optional(
    assumed(Amount, 'The amount of a collection or payout link. Compared as a number: `10.5` is `10.50`.'),
  ),
})
const AnyOutcome = Type.Unsafe<OutcomeName>({
  type: 'string',
  enum: [...new Set(Object.values<Area>(areas).flatMap(({ outcomes }) => outcomes?.names ?? []))],
  'x-expected': 'an outcome of GET /_sandbox/outcomes, such as RETURNED-AM04',
})

const OUTCOME_MATCH = 'The fields that a new record must have. All of them must be equal.'
const OUTCOME_TIMES = 'The number of records to steer; null: no limit.'

export const OutcomeRequest = component(
  'OutcomeRequest',
  {
    match: Type.Optional(assumed(outcomeMatch, `${OUTCOME_MATCH} Default: any record.`)),
    outcome: assumed(AnyOutcome, 'An outcome of `GET /_sandbox/outcomes`, such as `RETURNED-AM04`.'),
    times: Type.Optional(assumed(Times, `${OUTCOME_TIMES} Default: 1.`)),
  },
  { match: { mandateReference: 'MND-ACME-0001' }, outcome: 'RETURNED-AM04' },
)

/** An armed outcome in the state document. */
const outcomeSnapshot = {
  id: assumed(Text(1, 64), 'The id of the armed outcome.'),
  match: assumed(outcomeMatch, OUTCOME_MATCH),
  outcome: assumed(AnyOutcome, 'The outcome of the steered records.'),
  times: assumed(Times, OUTCOME_TIMES),
  armedAt: assumed(Moment, 'The time of the tenant at which the outcome was armed.'),
  fired: assumed(Count, 'The number of steered records.'),
}
const OutcomeSnapshot = Type.Object(outcomeSnapshot)

/** An armed outcome as the control plane returns it. */
export const ArmedOutcome = component('ArmedOutcome', {
  ...outcomeSnapshot,
  state: assumed(
    OneOf('armed', 'spent'),
    'armed: the outcome can steer a record. spent: it has steered `times` records.',
  ),
})

// --------------------------------------------------------------------------------------------------------- events

const EVENT_KINDS = Object.values<Area>(areas).flatMap(({ kind }) => kind ?? []) as EventKind[]

export const change = {
  at: assumed(Moment, 'The time of the tenant.'),
  kind: assumed(OneOf(...EVENT_KINDS), 'The kind of the record.'),
  reference: assumed(Type.String(), 'The reference or id of the record.'),
  from: assumed(
    Type.Unsafe<string | null>({ type: ['string', 'null'], 'x-expected': 'a state, or null' }),
    'The state before the transition; null: the record was created.',
  ),
  to: assumed(Type.String(), 'The state after the transition.'),
  reasonCode: Type.Optional(
    assumed(Type.String(), 'The ISO 20022 reason code of a collection that became REJECTED, RETURNED or FAILED.'),
  ),
}
export const Event = component('Event', {
  seq: assumed(Place, 'The number of the event, from 1.'),
  ...change,
  cause: assumed(
    OneOf('api', 'time', 'control', 'outcome'),
    'api: a request of the API, or of the page of a payout link. time: the passing of time. ' +
      'control: a call of the control plane, or a fixture. outcome: an outcome on demand.',
  ),
})

// ------------------------------------------------------------------------------------------------------- document

const place = {
  region: assumed(OneOf(...REGIONS), 'The region of the record.'),
  sequence: assumed(Place, 'The number of the record in the order of creation.'),
}
const plain = <R extends TSchema>(record: R) =>
  Type.Array(
    Type.Object({
      ...place,
      createdAt: assumed(Moment, 'The time of the tenant at which the record was created.'),
      record: assumed(record, 'The record.'),
    }),
  )
const stateful = <R extends TSchema>(record: R) =>
  Type.Array(
    Type.Object({
      ...place,
      timeline: assumed(Type.Array(Place), 'The `seq` of each event of the record, oldest first.'),
      record: assumed(record, 'The record.'),
    }),
  )

type SnapshotProperties = {
  readonly [Name in AreaName]: Areas[Name] extends { kind: string }
    ? ReturnType<typeof stateful<Areas[Name]['record']>>
    : ReturnType<typeof plain<Areas[Name]['record']>>
}
const snapshots = byArea((name, { kind, record }) =>
  assumed(kind === undefined ? plain(record) : stateful(record), `The ${toWords(name)}.`),
) as SnapshotProperties

export const SNAPSHOT_FORMAT = 'payments-sandbox/state'
export const SNAPSHOT_VERSION = 1

export const TenantSnapshot = component('TenantSnapshot', {
  format: assumed(Type.Literal(SNAPSHOT_FORMAT, { 'x-expected': SNAPSHOT_FORMAT }), 'The format of the document.'),
  version: assumed(
    Type.Literal(SNAPSHOT_VERSION, { 'x-expected': String(SNAPSHOT_VERSION) }),
    'The version of the format.',
  ),
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
  // Left out by documents of earlier versions.
  outcomes: Type.Optional(
    assumed(
      Type.Array(OutcomeSnapshot, { maxItems: 1000, 'x-expected': 'a list of at most 1000 armed outcomes' }),
      'The armed outcomes in the order of arming.',
    ),
  ),
  ids: assumed(
    Type.Object({
      scope: assumed(Text(1, 1_048_576), 'Separates the ids of tenants. A fork has the scope of its original.'),
      counters: assumed(
        Type.Unsafe<Record<string, number>>({
          type: 'object',
          maxProperties: 1000,
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
})
export type TenantSnapshot = Static<typeof TenantSnapshot>
