import type { Static, TProperties, TSchema } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import { REGIONS } from '../../core/domain/regions.js'
import { MAX_FOUND } from '../../core/records/repository.js'
import { assumed, component, like, Moment, OneOf, pageParameters, Text } from '../../core/schemas.js'
import { Event, KnownReason, State } from '../events/schemas.js'
import { any, client, flag, integer, list, optional, pageOf, range, rows, string } from '../schemas.js'

const { cursor } = pageParameters(assumed)

/** The parameter for states. Records without states have none. */
const stateQuery = (states: readonly string[] | undefined): TProperties =>
  states === undefined ? {} : { status: optional(OneOf(...states), 'Only records in this state.') }

/** The parameters of a search. */
export const searchQuery = (states: readonly string[] | undefined) =>
  Type.Object({
    ...client,
    search: optional(
      Text(1, 128),
      'Only records with this text in the reference, a name or another member, in any case.',
    ),
    region: optional(OneOf(...REGIONS), 'Only records of this region. Default: all regions.'),
    ...stateQuery(states),
    cursor,
    limit: optional(range(1, MAX_FOUND), `The maximum number of records. Default: ${MAX_FOUND}.`),
  })
const total = integer('The number of records that fit, on all pages.')
const found = {
  region: assumed(OneOf(...REGIONS), 'The region of the record.'),
  createdAt: assumed(Moment, 'The time of the tenant at which the record was created.'),
}
export const searchResult = <R extends TSchema>(title: string, record: R) =>
  pageOf(
    title,
    Type.Object({ ...found, record: assumed(record, 'The record.') }),
    'The records of the page, newest first.',
    { total },
  )

export const AnyQuery = Type.Object({
  ...client,
  q: assumed(like(Text(1, 128), 'acme'), 'A text of a record: its reference, a name or another member, in any case.'),
  limit: optional(range(1, MAX_FOUND), 'The maximum number of records. Default: 20.'),
})
export const AnyFound = component('RecordsFound', {
  data: rows('The records, newest first.', {
    kind: string('The kind of the record, as in events, such as `payoutLink`.'),
    ...found,
    record: any('The record.'),
  }),
  total,
})

const step = Type.Object({
  at: assumed(Moment, 'The time of the transition on the clock of the tenant.'),
  to: assumed(State, 'The state after the transition.'),
  cause: assumed(OneOf('time', 'outcome'), 'time: the passing of time. outcome: an outcome on demand.'),
  reasonCode: optional(KnownReason, 'The reason code of the transition. Absent if there is none.'),
})

/** The schema of the explanation of a record. */
export const explained = <R extends TSchema>(title: string, record: R) =>
  component(title, {
    record: assumed(record, 'The record, with members that only the control plane shows.'),
    timeline: list(
      'The latest 100 events of the record, oldest first. `GET /_sandbox/events` lists all, with `kind` and `reference`.',
      Event,
    ),
    omitted: optional(Type.Integer(), 'The number of earlier events. Absent if there is none.'),
    next: assumed(
      Type.Unsafe<{ at: string; to: string } | null>({
        ...Type.Pick(step, ['at', 'to']),
        type: ['object', 'null'],
      }),
      'The next automatic transition, or null if there is none.',
    ),
    forecast: list(
      'All automatic transitions to come, in order, as long as nothing else changes the record. The first one is `next`.',
      step,
    ),
    outcomes: optional(
      Type.Array(
        Type.Object({
          outcome: string('The name of the outcome.'),
          description: string('The effect on the record.'),
        }),
      ),
      'The outcomes that the record can still have. Absent if its kind has no outcomes.',
    ),
    legal: rows('The transitions that are legal now.', {
      transition: string('The name of the transition, such as `settle`.'),
      to: assumed(State, 'The state after the transition.'),
      reasonCodes: optional(
        Type.Array(KnownReason),
        'The legal reason codes. Absent if the transition takes no reason.',
      ),
      until: optional(Moment, 'The last moment of these reason codes. Absent if there is no limit.'),
    }),
    failed: optional(Type.String(), 'Why the last planned transition has failed. Absent if none has failed.'),
  })

/** The explanation of any record. */
export type ExplainedRecord = Static<ReturnType<typeof explained<TSchema>>>

/** The parameters of the calls of one record where several regions can have its reference. */
export const RecordQuery = Type.Object({
  ...client,
  region: optional(OneOf(...REGIONS), 'The region of the record. Required if several regions have the reference.'),
})

const Name = Type.String()
const Names = Type.Array(Type.String())
const Values = Type.Record(Type.String(), Type.String())

const form = Type.Object({
  when: assumed(Values, 'The members that a record must have for this form. The first form that fits counts.'),
  body: assumed(Type.Object({}, { additionalProperties: true }), 'The body that the form begins with.'),
  from: assumed(Values, 'The members of the body that take the value of a member of the record, where it has that.'),
  half: assumed(Values, 'The members of the body that are half of an amount of the record, rounded up to a cent.'),
  fields: assumed(Names, 'The members of the body that have fields.'),
})

const edge = Type.Object({
  from: assumed(Name, 'The state before the transition.'),
  transition: assumed(Name, 'The name of the transition, such as `settle`.'),
  to: assumed(Name, 'The state after the transition.'),
})

const transition = Type.Object({
  transition: assumed(Name, 'The name of the transition.'),
  label: assumed(Name, 'The name as words, such as `Pay partially`.'),
  method: assumed(OneOf('POST', 'PATCH'), 'POST: a call of the control plane. PATCH: an update of the API.'),
  path: assumed(Name, 'The path of that operation in its OpenAPI document.'),
  forms: list('The forms of its body.', form),
})

const lifecycle = Type.Object({
  kind: assumed(Name, 'The kind of the records in events, such as `payoutLink`.'),
  states: assumed(Names, 'The states.'),
  line: assumed(Names, 'The states of a record that nothing stops.'),
  transitions: list('The legal transitions.', edge),
  operations: list('The operations that make them.', transition),
})

const naming = Type.Object({
  member: assumed(Name, 'The member that holds the reference.'),
  name: assumed(Name, 'The kind of that record.'),
  accepts: assumed(Values, 'The members of a record that a new one can name. Empty: any record.'),
})

export const KindList = component('KindList', {
  data: list(
    'The kinds, the most used ones first.',
    component('Kind', {
      name: assumed(Name, 'The name of the kind in seeds, state documents and counts, such as `payoutLinks`.'),
      title: assumed(Name, 'The name as words, such as `Payout links`.'),
      noun: assumed(Name, 'The name of one record as words, such as `payout link`.'),
      path: assumed(Name, 'The path of its operations below `/api/v1` and `/_sandbox`.'),
      reference: assumed(Name, 'The member that holds the reference of a record.'),
      regions: assumed(
        OneOf('EU', 'shared', 'apart'),
        'EU: all records are in region EU. shared: the regions share the references. apart: each has its own.',
      ),
      columns: assumed(Names, 'The members of a table of records, by their paths. The first two matter most.'),
      empty: assumed(Name, 'The sentence of an empty table: how records of this kind come there.'),
      isCreated: flag('Whether `POST` on the path creates a record.'),
      isListed: flag('Whether `GET` on the path lists the records.'),
      isUpdated: flag('Whether `PATCH` on a record without states changes it.'),
      names: list('The records of other kinds that a record names.', naming),
      outcomes: assumed(Names, 'The outcomes that a record can be given. Empty: none.'),
      lifecycle: optional(lifecycle, 'The states and transitions. Absent if the records have none.'),
    }),
  ),
})
