import type { Static, TObject } from '@sinclair/typebox'
import { Type } from '@sinclair/typebox'
import type { Area, AreaName, TransitionForm } from '../../areas/index.js'
import { areas, byUse } from '../../areas/index.js'
import { legalMoves } from '../../core/records/state-machine.js'
import { toNoun, toTitle, toWords } from '../../core/words.js'
import { assumed, component, OneOf } from '../../http/schemas.js'
import type { ControlRoute } from '../route.js'
import { route } from '../route.js'

const Name = Type.String()
const Names = Type.Array(Type.String())
const Values = Type.Record(Type.String(), Type.String())

const form = Type.Object({
  when: assumed(Values, 'The members that a record must have for this form. The first form that fits counts.'),
  body: assumed(Type.Object({}, { additionalProperties: true }), 'The body that the form begins with.'),
  from: assumed(Values, 'The members of the body that take the value of a member of the record, where it has that.'),
  fields: assumed(Names, 'The members of the body that have fields.'),
})

const edge = Type.Object({
  from: assumed(Name, 'The state before the transition.'),
  verb: assumed(Name, 'The name of the transition, such as `settle`.'),
  to: assumed(Name, 'The state after the transition.'),
})

const verb = Type.Object({
  verb: assumed(Name, 'The name of the transition.'),
  label: assumed(Name, 'The name as words, such as `Pay partially`.'),
  method: assumed(OneOf('POST', 'PATCH'), 'POST: a call of the control plane. PATCH: an update of the API.'),
  path: assumed(Name, 'The path of that operation in its OpenAPI document.'),
  forms: assumed(Type.Array(form), 'The forms of its body.'),
})

const lifecycle = Type.Object({
  kind: assumed(Name, 'The kind of the records in events, such as `payoutLink`.'),
  states: assumed(Names, 'The states.'),
  line: assumed(Names, 'The states of a record that nothing stops.'),
  transitions: assumed(Type.Array(edge), 'The legal transitions.'),
  verbs: assumed(Type.Array(verb), 'The operations that make them.'),
})

const naming = Type.Object({
  member: assumed(Name, 'The member that holds the reference.'),
  name: assumed(Name, 'The kind of that record.'),
  accepts: assumed(Values, 'The members of a record that a new one can name. Empty: any record.'),
})

const KindList = component('KindList', {
  data: assumed(
    Type.Array(
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
        isCreated: assumed(Type.Boolean(), 'Whether `POST` on the path creates a record.'),
        isListed: assumed(Type.Boolean(), 'Whether `GET` on the path lists the records.'),
        isUpdated: assumed(Type.Boolean(), 'Whether `PATCH` on a record without states changes it.'),
        names: assumed(Type.Array(naming), 'The records of other kinds that a record names.'),
        outcomes: assumed(Names, 'The outcomes that a record can be given. Empty: none.'),
        lifecycle: Type.Optional(assumed(lifecycle, 'The states and transitions. Absent: the records have none.')),
      }),
    ),
    'The kinds, those that are used most first.',
  ),
})

type Kind = Static<typeof KindList>['data'][number]
type Row = NonNullable<Area['lifecycle']>['transitions'][string]

/** The call of the kinds of records. */
export const kindRoutes: readonly ControlRoute[] = [
  route({
    method: 'GET',
    url: '/kinds',
    operationId: 'listKinds',
    isGlobal: true,
    summary: 'The kinds of records: words, columns, states, and the transitions with their calls and forms',
    response: KindList,
    handle: () => ({ data: byUse().map(describeKind) }),
  }),
]

function describeKind(name: AreaName): Kind {
  const area: Area = areas[name]
  const { path, reference, regions, columns, empty, create, list, update, outcomes, lifecycle } = area
  return {
    name,
    title: toTitle(toWords(name)),
    noun: toNoun(name),
    path,
    reference,
    regions,
    columns: [...columns],
    empty,
    isCreated: create !== undefined,
    isListed: list !== undefined,
    isUpdated: update !== undefined,
    names: namesOf(name, area),
    outcomes: [...(outcomes?.names ?? [])],
    ...(lifecycle && { lifecycle: describeLifecycle(area, lifecycle) }),
  }
}

function describeLifecycle(
  { path, reference }: Area,
  { kind, states, line, table, transitions }: NonNullable<Area['lifecycle']>,
): Kind['lifecycle'] {
  const ofRecord = `${path}/{${reference}}`
  return {
    kind,
    states: [...states],
    line: [...line],
    transitions: states.flatMap(from => legalMoves(table, from).map(({ verb, to }) => ({ from, verb, to }))),
    verbs: Object.entries(transitions).map(([verb, row]) => ({
      verb,
      label: toTitle(toWords(verb)),
      ...('update' in row
        ? { method: 'PATCH' as const, path: `/api/v1/${ofRecord}` }
        : { method: 'POST' as const, path: `/_sandbox/${ofRecord}/${verb}` }),
      forms: formsOf(row).map(({ when = {}, body, from = {}, fields }) => ({ when, body, from, fields: [...fields] })),
    })),
  }
}

/** Returns the forms of a transition. By default, it is one with the example of the body. */
function formsOf(row: Row): readonly TransitionForm[] {
  if ('update' in row) return [row.update]
  return row.forms ?? [exampleForm(row.body)]
}

function exampleForm(schema: TObject | undefined): TransitionForm {
  const [body = {}] = (schema?.examples ?? []) as readonly Readonly<Record<string, unknown>>[]
  return { body, fields: [...new Set([...(schema?.required ?? []), ...Object.keys(body)])] }
}

/** Lists the kinds of records that records of a kind name: they have a member for its reference. */
const namesOf = (name: AreaName, { record, refersTo = {} }: Area): Kind['names'] =>
  byUse().flatMap(other => {
    const { reference } = areas[other]
    if (other === name || !(reference in record.properties)) return []
    return [{ member: reference, name: other, accepts: { ...refersTo[reference]?.accepts } }]
  })
