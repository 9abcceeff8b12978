import { Type } from '@sinclair/typebox'
import { REASONED, reasonCodes } from '../../areas/direct-debit/reason-codes.js'
import type { Area, EventKind } from '../../areas/index.js'
import { areas } from '../../areas/index.js'
import { CAUSES } from '../../core/records/events.js'
import { assumed, component, Moment, OneOf, Text } from '../../core/schemas.js'
import { After, client, integer, list, optional, Position, range, string } from '../schemas.js'

const EVENT_KINDS = Object.values<Area>(areas).flatMap(({ lifecycle }) => lifecycle?.kind ?? []) as EventKind[]
const STATES = [...new Set(Object.values<Area>(areas).flatMap(({ lifecycle }) => lifecycle?.states ?? []))]

/** A state of any kind of record. */
export const State = OneOf(...STATES)
/** A reason code that a collection of the sandbox can have. The service can have others. */
export const KnownReason = OneOf(...reasonCodes.map(({ code }) => code))

export const change = {
  at: assumed(Moment, 'The time of the tenant.'),
  kind: assumed(OneOf(...EVENT_KINDS), 'The kind of the record.'),
  reference: string('The reference or id of the record.'),
  from: assumed(
    Type.Unsafe<string | null>({ type: ['string', 'null'], enum: [...STATES, null], 'x-expected': 'a state, or null' }),
    'The state before the transition, or null if the record was created.',
  ),
  to: assumed(State, 'The state after the transition.'),
  reasonCode: optional(KnownReason, `The ISO 20022 reason code of a collection that became ${REASONED}.`),
}
export const Event = component('Event', {
  seq: assumed(Position, 'The number of the event, from 1.'),
  ...change,
  cause: assumed(
    OneOf(...CAUSES),
    'api: a request of the API, or of the page of a payout link. time: the passing of time. ' +
      'control: a call of the control plane. outcome: an outcome on demand. scenario: a step of a scenario. ' +
      'console: a page of the console, which sends the header `Sandbox-Sender: console`. seed: a seed or fixture.',
  ),
})

export const EventQuery = Type.Object({
  ...client,
  after: optional(After, 'Only events with a higher `seq`. Default: 0.'),
  kind: optional(change.kind, 'Only events of records of this kind.'),
  reference: optional(Text(1, 128), 'Only events of the record with this reference or id.'),
  to: optional(State, 'Only events with this state after the transition.'),
  limit: optional(range(1, 1000), 'The maximum number of events: the latest that match. Default: all.'),
  wait: optional(
    range(0, 60),
    'The maximum wait for the next event, in seconds of real time. Default: 0, the answer comes at once.',
  ),
})
export const EventList = component('EventList', {
  data: list('The first 1,000 events that match, in order.', Event),
  last: integer('The value of `after` that continues after this answer.'),
})
