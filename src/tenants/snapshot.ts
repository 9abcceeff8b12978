import type { Static, TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { Account } from '../areas/accounts/schemas.js'
import { Bill } from '../areas/bills/schemas.js'
import { Counterparty } from '../areas/counterparties/schemas.js'
import type { CollectionOutcome } from '../areas/direct-debit/outcomes.js'
import { COLLECTION_OUTCOMES } from '../areas/direct-debit/outcomes.js'
import { StoredCollection } from '../areas/direct-debit/schemas.js'
import { StoredMandate } from '../areas/mandates/schemas.js'
import { PAYOUT_METHODS } from '../areas/payout-links/methods.js'
import type { PayoutLinkOutcome } from '../areas/payout-links/outcomes.js'
import { PAYOUT_LINK_OUTCOMES } from '../areas/payout-links/outcomes.js'
import { StoredPayoutLink } from '../areas/payout-links/schemas.js'
import type { Delay } from '../core/faults.js'
import { EFFECT_KINDS } from '../core/faults.js'
import { REGIONS } from '../core/regions.js'
import {
  Amount,
  assumed,
  component,
  DebtorReference,
  Duration,
  labelled,
  Moment,
  OneOf,
  Reference,
  Text,
} from '../schemas.js'

/**
 * The state document of a tenant (control plane, GET /state), and the schemas of its parts that other calls share.
 * The service documents none of it: all of it is assumed.
 */

/** Far above any count, and below the largest safe integer. */
const MOST = 2 ** 48
const Count = Type.Integer({ minimum: 0, maximum: MOST, 'x-expected': `an integer from 0 to ${MOST}` })
const Place = Type.Integer({ minimum: 1, maximum: MOST, 'x-expected': `an integer from 1 to ${MOST}` })

// ---------------------------------------------------------------------------------------------------------- clock

export const ClockMode = OneOf('running', 'frozen')
export const ClockRate = Type.Integer({ minimum: 1, maximum: 86_400, 'x-expected': 'an integer from 1 to 86400' })
export const ClockState = component('ClockState', { now: Moment, mode: ClockMode, rate: ClockRate })

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
  mandateActivation: OneOf('automatic', 'manual'),
  deprecationStyle: OneOf('seed', 'rfc'),
  allowedOrigins: Origins,
})
export type Settings = Static<typeof Settings>

// --------------------------------------------------------------------------------------------------- deprecations

const deprecation = {
  operation: Text(1, 200),
  deprecatedSince: Moment,
  sunset: Type.Optional(Moment),
  goneAfterSunset: Type.Boolean({ 'x-expected': 'true or false' }),
}
export const Deprecation = component('Deprecation', deprecation)
export const DeprecationRequest = component('DeprecationRequest', {
  ...deprecation,
  deprecatedSince: Type.Optional(Moment),
  goneAfterSunset: Type.Optional(deprecation.goneAfterSunset),
})

// --------------------------------------------------------------------------------------------------------- faults

/** The longest delay of an answer. */
const Milliseconds = Type.Integer({ minimum: 0, maximum: 300_000, 'x-expected': 'milliseconds from 0 to 300000' })

const distribution = {
  distribution: Type.Optional(OneOf('uniform', 'lognormal')),
  min: Type.Optional(Milliseconds),
  max: Type.Optional(Milliseconds),
  median: Type.Optional(Milliseconds),
  sigma: Type.Optional(Type.Number({ minimum: 0, maximum: 10, 'x-expected': 'a number from 0 to 10' })),
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
  kind: OneOf(...EFFECT_KINDS),
  status: Type.Optional(Type.Integer({ minimum: 400, maximum: 599, 'x-expected': 'an integer from 400 to 599' })),
  code: Type.Optional(
    Type.String({ pattern: '^[A-Z][A-Z0-9_]{0,63}$', 'x-expected': 'up to 64 of A-Z, 0-9 and _, the first a letter' }),
  ),
  message: Type.Optional(Text(1, 500)),
  retryAfter: Type.Optional(
    Type.Integer({ minimum: 0, maximum: 86_400, 'x-expected': 'seconds, an integer from 0 to 86400' }),
  ),
  headers: Type.Optional(ExtraHeaders),
  ms: Type.Optional(
    Type.Unsafe<Delay>({
      ...labelled(assumed, distribution),
      type: ['integer', 'object'],
      minimum: 0,
      maximum: 300_000,
      'x-expected': 'milliseconds from 0 to 300000, or for a delay a distribution of them',
    }),
  ),
  ...distribution,
  when: Type.Optional(OneOf('before', 'after')),
})

const match = component('FaultMatch', {
  method: Type.Optional(OneOf('GET', 'HEAD', 'POST', 'PATCH', 'DELETE')),
  path: Type.Optional(Text(1, 500)),
  region: Type.Optional(OneOf(...REGIONS)),
})

const Times = Type.Unsafe<number | null>({
  type: ['integer', 'null'],
  minimum: 1,
  maximum: 1_000_000,
  'x-expected': 'an integer from 1 to 1000000, or null for no end',
})

const faultRequest = {
  match: Type.Optional(match),
  times: Type.Optional(Times),
  skip: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000, 'x-expected': 'an integer from 0 to 1000000' })),
  probability: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, maximum: 1, 'x-expected': 'a number above 0 and at most 1' }),
  ),
  ttl: Type.Optional(Duration),
  effect,
}
export const FaultRequest = component('FaultRequest', faultRequest, {
  match: { path: '/api/v1/direct-debit*' },
  times: 2,
  effect: { kind: 'error', status: 503, retryAfter: 3 },
})

/** A fault in the state document. */
const faultSnapshot = {
  id: Text(1, 64),
  match,
  times: Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 1, 'x-expected': 'an integer, or null' }),
  skip: Count,
  probability: Type.Number({ exclusiveMinimum: 0, maximum: 1, 'x-expected': 'a number above 0 and at most 1' }),
  ttl: Type.Optional(Duration),
  effect,
  armedAt: Moment,
  expiresAt: Type.Optional(Type.Integer({ description: 'Real time, in milliseconds since 1970.' })),
  seen: Count,
  fired: Count,
}
export const FaultSnapshot = component('FaultSnapshot', faultSnapshot)

/** A fault as the control plane returns it. */
export const Fault = component('Fault', {
  ...faultSnapshot,
  // Returned as given: serialising by schema would leave members out or add them.
  match: Type.Any(),
  effect: Type.Any(),
  state: OneOf('armed', 'spent', 'expired'),
})

// ------------------------------------------------------------------------------------------------- armed outcomes

const outcomeMatch = labelled(assumed, {
  mandateReference: Type.Optional(Reference),
  debtorReference: Type.Optional(DebtorReference),
  collectionReference: Type.Optional(Reference),
  payoutMethod: Type.Optional(OneOf(...PAYOUT_METHODS)),
  counterpartyReference: Type.Optional(Reference),
  amount: Type.Optional(Amount),
})
const AnyOutcome = Type.Unsafe<CollectionOutcome | PayoutLinkOutcome>({
  type: 'string',
  enum: [...new Set([...COLLECTION_OUTCOMES, ...PAYOUT_LINK_OUTCOMES])],
  'x-expected': 'an outcome of GET /_sandbox/outcomes, such as RETURNED-AM04',
})

export const OutcomeRequest = component(
  'OutcomeRequest',
  {
    match: Type.Optional(outcomeMatch),
    outcome: AnyOutcome,
    times: Type.Optional(Times),
  },
  { match: { mandateReference: 'MND-ACME-0001' }, outcome: 'RETURNED-AM04' },
)

/** An armed outcome in the state document. */
const outcomeSnapshot = {
  id: Text(1, 64),
  match: outcomeMatch,
  outcome: AnyOutcome,
  times: Times,
  armedAt: Moment,
  fired: Count,
}
const OutcomeSnapshot = labelled(assumed, outcomeSnapshot)

/** An armed outcome as the control plane returns it. */
export const ArmedOutcome = component('ArmedOutcome', { ...outcomeSnapshot, state: OneOf('armed', 'spent') })

// --------------------------------------------------------------------------------------------------------- events

export const change = {
  at: Moment,
  kind: OneOf('mandate', 'collection', 'payoutLink', 'bill'),
  reference: Type.String(),
  from: Type.Unsafe<string | null>({ type: ['string', 'null'], 'x-expected': 'a state, or null' }),
  to: Type.String(),
  reasonCode: Type.Optional(Type.String()),
}
export const Event = component('Event', { seq: Place, ...change, cause: OneOf('api', 'time', 'control', 'outcome') })

// ------------------------------------------------------------------------------------------------------- document

const place = { region: OneOf(...REGIONS), sequence: Place }
const plain = <R extends TSchema>(record: R) => Type.Array(labelled(assumed, { ...place, createdAt: Moment, record }))
const stateful = <R extends TSchema>(record: R) =>
  Type.Array(labelled(assumed, { ...place, timeline: Type.Array(Place), record }))

export const SNAPSHOT_FORMAT = 'payments-sandbox/state'
export const SNAPSHOT_VERSION = 1

export const TenantSnapshot = component('TenantSnapshot', {
  format: Type.Literal(SNAPSHOT_FORMAT, { 'x-expected': SNAPSHOT_FORMAT }),
  version: Type.Literal(SNAPSHOT_VERSION, { 'x-expected': String(SNAPSHOT_VERSION) }),
  clock: ClockState,
  settings: Settings,
  deprecations: Type.Array(Deprecation, { maxItems: 100, 'x-expected': 'a list of at most 100 deprecations' }),
  // No more than can be armed.
  faults: Type.Array(FaultSnapshot, { maxItems: 1000, 'x-expected': 'a list of at most 1000 faults' }),
  // Left out by documents of earlier versions.
  outcomes: Type.Optional(
    Type.Array(OutcomeSnapshot, { maxItems: 1000, 'x-expected': 'a list of at most 1000 armed outcomes' }),
  ),
  ids: labelled(assumed, {
    scope: Text(1, 1_048_576),
    counters: Type.Unsafe<Record<string, number>>({
      type: 'object',
      maxProperties: 1000,
      additionalProperties: Count,
      'x-expected': 'an object of at most 1000 counters',
    }),
  }),
  tokens: labelled(assumed, { generation: Count }),
  sequence: Count,
  mandates: stateful(StoredMandate),
  collections: stateful(StoredCollection),
  payoutLinks: stateful(StoredPayoutLink),
  bills: stateful(Bill),
  counterparties: plain(Counterparty),
  accounts: plain(Account),
  events: Type.Array(Event),
})
export type TenantSnapshot = Static<typeof TenantSnapshot>
