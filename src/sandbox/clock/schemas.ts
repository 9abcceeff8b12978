import { Type } from '@sinclair/typebox'
import { REGIONS } from '../../core/domain/regions.js'
import { assumed, component, Duration, Moment, OneOf, pageParameters } from '../../core/schemas.js'
import { change, State } from '../events/schemas.js'
import { client, Now, optional, pageOf, range, rows } from '../schemas.js'

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
    by: optional(Duration, 'Moves the clock forward by this length of time.'),
    to: optional(Moment, 'Moves the clock to this moment, which must not be before the time of the tenant.'),
    toNextEvent: optional(
      Type.Literal(true, { 'x-expected': 'true' }),
      'Moves the clock to the next scheduled transition of any record. Without one, the clock stays as it is.',
    ),
    dryRun: optional(
      Type.Boolean({ 'x-expected': 'true or false' }),
      'true: the answer is the same, and nothing has happened. Default: false.',
    ),
  },
  {
    title: 'ClockAdvance',
    description: 'Exactly one of `by`, `to` and `toNextEvent`.',
    anyOf: [{ required: ['by'] }, { required: ['to'] }, { required: ['toNextEvent'] }],
    examples: [{ by: 'PT15M' }],
  },
)

export const ClockAdvanced = component('ClockAdvanceResult', {
  now: Now,
  transitions: rows('The first 10,000 transitions of the step, in order.', change),
  omitted: optional(Type.Integer(), 'The number of transitions after those listed. Absent if it is 0.'),
})

const { cursor } = pageParameters(assumed)

export const UpcomingQuery = Type.Object({
  ...client,
  cursor,
  limit: optional(range(1, 100), 'The maximum number of transitions. Default: 20.'),
})
const { at, kind, reference, to } = change
export const UpcomingList = pageOf(
  'UpcomingList',
  component('UpcomingTransition', {
    at,
    kind,
    reference,
    region: assumed(OneOf(...REGIONS), 'The region of the record.'),
    from: assumed(State, 'The state before the transition.'),
    to,
    cause: assumed(OneOf('time', 'outcome'), 'time: the passing of time. outcome: an outcome on demand.'),
    failed: optional(Type.String(), 'Why the transition was due and has failed. Absent if it will happen.'),
  }),
  'The transitions in the order in which they will happen.',
)
