import type { Static, TObject } from '@sinclair/typebox'
import type { Area, AreaName, TransitionForm } from '../../areas/index.js'
import { areas, byUse } from '../../areas/index.js'
import { legalTransitions } from '../../core/records/lifecycle.js'
import { toNoun, toTitle, toWords } from '../../core/words.js'
import { call } from '../route.js'
import { KindList } from './schemas.js'

type Kind = Static<typeof KindList>['data'][number]
type Row = NonNullable<Area['lifecycle']>['transitions'][string]

export const listKinds = call({
  isGlobal: true,
  summary: 'The kinds of records: words, columns, states, and the transitions with their calls and forms',
  response: KindList,
  handle: () => ({ data: byUse().map(describeKind) }),
})

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
    transitions: states.flatMap(from =>
      legalTransitions(table, from).map(({ transition, to }) => ({ from, transition, to })),
    ),
    operations: Object.entries(transitions).map(([transition, row]) => ({
      transition,
      label: toTitle(toWords(transition)),
      ...('update' in row
        ? { method: 'PATCH' as const, path: `/api/v1/${ofRecord}` }
        : { method: 'POST' as const, path: `/_sandbox/${ofRecord}/${transition}` }),
      forms: formsOf(row).map(({ when = {}, body, from = {}, half = {}, fields }) => ({
        ...{ when, body, from, half },
        fields: [...fields],
      })),
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
