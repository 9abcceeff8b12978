import type { Static } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { REGIONS } from '../../core/domain/regions.js'
import { assumed, component, Duration, Moment, OneOf, Text } from '../../core/schemas.js'
import { Count, list, optional, range, Times, withDefault } from '../schemas.js'
import type { Effect, EffectKind } from './effect.js'

/** The longest delay of a fault, and of all faults of one request together, in milliseconds. */
export const LONGEST_DELAY_MS = 300_000

const Milliseconds = range(0, LONGEST_DELAY_MS)

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

const PatchOperation = Type.Object({
  op: assumed(OneOf('add', 'replace', 'remove'), 'The operation.'),
  path: assumed(
    Type.String({
      pattern: '^(/([^/~]|~[01])*)+$',
      maxLength: 500,
      'x-expected': 'a JSON Pointer, such as /data/0/status',
    }),
    'The place in the answer, as a JSON Pointer. `-` at its end is the end of a list.',
  ),
  value: optional(
    Type.Unsafe<unknown>({ 'x-expected': 'any JSON value' }),
    'The value, which can be null. Required with add and replace.',
  ),
})

/** The effects of faults, by their kinds. */
export const EFFECTS: Readonly<Record<EffectKind, string>> = {
  error: 'an error answer; the request is not applied',
  delay: 'the answer is late',
  drop: 'the connection closes without an answer',
  reset: 'the same by RST',
  truncate: 'half of the body, then the end',
  garbage: 'bytes that are not HTTP',
  dribble: 'the body in up to ten pieces',
  'stale-token': '401 EXPIRED_TOKEN for a valid token; the request is not applied',
  patch: 'a JSON Patch changes the answer, and not the record',
}

export const EFFECT_KINDS = Object.keys(EFFECTS) as EffectKind[]

const effect = Type.Unsafe<Effect>(
  component('FaultEffect', {
    kind: assumed(
      OneOf(...EFFECT_KINDS),
      `${EFFECT_KINDS.map(kind => `${kind}: ${EFFECTS[kind]}.`).join(' ')} ` +
        'With delay, truncate, garbage, dribble and patch, the request is applied.',
    ),
    status: optional(range(400, 599), 'The status of an error. Required with error.'),
    code: optional(
      Type.String({
        pattern: '^[A-Z][A-Z0-9_]{0,63}$',
        'x-expected': 'up to 64 of A-Z, 0-9 and _, the first a letter',
      }),
      'The code of an error. Default: a code of the catalogue that fits the status.',
    ),
    message: optional(Text(1, 500), 'The message of an error. Default: a text with the status.'),
    retryAfter: optional(
      range(0, 86_400),
      'The header `Retry-After` of an error, in seconds. Default: 1 with the status 429, otherwise none.',
    ),
    headers: optional(
      ExtraHeaders,
      'Additional headers of an error, by name. Those of the server itself are refused, such as `content-length`.',
    ),
    ms: optional(
      Milliseconds,
      'Milliseconds: the length of a delay, or the interval between the pieces of dribble. Required with dribble. ' +
        'A delay requires `ms` or `distribution`.',
    ),
    distribution: optional(
      OneOf('uniform', 'lognormal'),
      'The distribution of a random delay. uniform requires `min` and `max`; lognormal requires `median`, `sigma` and `max`.',
    ),
    min: optional(Milliseconds, 'The minimum of a uniform delay, in milliseconds.'),
    max: optional(Milliseconds, 'The maximum of a random delay, in milliseconds.'),
    median: optional(Milliseconds, 'The median of a lognormal delay, in milliseconds.'),
    sigma: optional(
      Type.Number({ minimum: 0, maximum: 10, 'x-expected': 'a number from 0 to 10' }),
      'The standard deviation of the logarithm of a lognormal delay.',
    ),
    when: optional(
      OneOf('before', 'after'),
      'Required with drop and reset. before: the request is not applied. after: the request is applied, and only the ' +
        'answer is lost.',
    ),
    patch: optional(
      Type.Array(PatchOperation, { minItems: 1, maxItems: 50, 'x-expected': 'a list of 1 to 50 operations' }),
      'Required with patch: a JSON Patch (RFC 6902) of the answer as it is sent. The answer may break its schema. An answer ' +
        'without one of the paths is sent as it is, and the request log has the path as `missing`.',
    ),
  }),
)

const match = component('FaultMatch', {
  method: optional(OneOf('GET', 'HEAD', 'POST', 'PATCH', 'DELETE'), 'Only requests of this method. Default: any.'),
  path: optional(
    Text(1, 500),
    'Only requests of this path, decoded and without query; `*` matches any text, with slashes. Default: any.',
  ),
  region: optional(OneOf(...REGIONS), 'Only requests of this region. A token request has none. Default: any.'),
})

/** The members of a fault that its request has, too. */
const given = {
  match: assumed(match, 'The requests that the fault applies to. An empty object matches all.'),
  times: assumed(Times, 'The number of requests on which the fault fires, or null for no limit.'),
  skip: assumed(range(0, 1_000_000), 'The number of matching requests that pass first.'),
  probability: assumed(
    Type.Number({ exclusiveMinimum: 0, maximum: 1, 'x-expected': 'a number above 0 and at most 1' }),
    'The probability that the fault fires on a matching request, above 0 and at most 1. The same seed and requests give ' +
      'the same result.',
  ),
  ttl: optional(Duration, 'The lifetime of the fault in real time, such as PT5M.'),
  effect: assumed(effect, 'The effect of the fault on a request.'),
}
export const FaultRequest = component(
  'FaultRequest',
  {
    match: withDefault(given.match, 'all requests, including token requests'),
    times: withDefault(given.times, '1'),
    skip: withDefault(given.skip, '0'),
    probability: withDefault(given.probability, '1'),
    ttl: withDefault(given.ttl, 'no end'),
    effect: given.effect,
  },
  {
    match: { path: '/api/v1/direct-debit*' },
    times: 2,
    effect: { kind: 'error', status: 503, retryAfter: 3 },
  },
)

/** A fault in the state document. */
const snapshot = {
  id: assumed(Text(1, 64), 'The id of the fault.'),
  ...given,
  armedAt: assumed(Moment, 'The time of the tenant at which the fault was armed.'),
  expiresAt: optional(Type.Integer(), 'The end of `ttl`: real time, in milliseconds since 1970-01-01T00:00:00Z.'),
  seen: assumed(Count, 'The number of matching requests, including those on which the fault did not fire.'),
  fired: assumed(Count, 'The number of requests on which the fault fired.'),
}
export const FaultSnapshot = component('FaultSnapshot', snapshot)

/** A fault as the control plane returns it. */
export const Fault = component('Fault', {
  ...snapshot,
  // Returned as given: serialising by schema would leave members out or add them.
  match: assumed(Type.Unsafe<Static<typeof match>>({}), given.match.description),
  effect: assumed(Type.Unsafe<Effect>({}), given.effect.description),
  state: assumed(
    OneOf('armed', 'spent', 'expired'),
    'armed: the fault can fire. spent: it has fired `times` times. expired: its `ttl` is over.',
  ),
})

export const FaultList = component('FaultList', {
  data: list('The faults in the order of arming, including spent and expired ones.', Fault),
})
