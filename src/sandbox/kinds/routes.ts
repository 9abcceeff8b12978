import type { Static, TObject } from '@sinclair/typebox'
import type { Area, LifecycleRow, SteeredStore, TransitionForm } from '../../areas/index.js'
import type { Region } from '../../core/domain/regions.js'
import type { ErrorCode } from '../../core/errors.js'
import { legalTransitions, stateAfter } from '../../core/records/lifecycle.js'
import { assumed, labelled } from '../../core/schemas.js'
import { toTitle, toWords } from '../../core/words.js'
import type { CallContext, ControlRoute } from '../route.js'
import { call, GET, POST, PUT } from '../route.js'
import { ClientQuery } from '../schemas.js'
import type { Kind } from './names.js'
import { kinds } from './names.js'
import * as schemas from './schemas.js'

type DescribedKind = Static<typeof schemas.KindList>['data'][number]

export const listKinds = call({
  isGlobal: true,
  summary: 'The kinds of records: words, columns, states, and the transitions with their calls and forms',
  response: schemas.KindList,
  handle: () => ({ data: kinds.map(describe) }),
})

function describe(kind: Kind): DescribedKind {
  const { name, noun, path, reference, regions, columns, empty, create, list, update, outcomes, lifecycle } = kind
  return {
    ...{ name, title: toTitle(toWords(name)), noun, path, reference, regions, columns: [...columns], empty },
    isCreated: create !== undefined,
    isListed: list !== undefined,
    isUpdated: update !== undefined,
    names: namedBy(kind),
    outcomes: [...(outcomes?.names ?? [])],
    ...(lifecycle && { lifecycle: describeLifecycle(`${path}/{${reference}}`, lifecycle) }),
  }
}

const describeLifecycle = (
  path: string,
  { kind, states, line, table, transitions }: LifecycleRow,
): DescribedKind['lifecycle'] => ({
  kind,
  states: [...states],
  line: [...line],
  transitions: states.flatMap(from =>
    legalTransitions(table, from).map(({ transition, to }) => ({ from, transition, to })),
  ),
  operations: Object.entries(transitions).map(([transition, row]) => {
    const isUpdate = 'update' in row
    const forms = isUpdate ? [row.update] : (row.forms ?? [exampleForm(row.body)])
    return {
      transition,
      label: toTitle(toWords(transition)),
      method: isUpdate ? 'PATCH' : 'POST',
      path: isUpdate ? `/api/v1/${path}` : `/_sandbox/${path}/${transition}`,
      forms: forms.map(({ when = {}, body, from = {}, half = {}, fields }) => ({
        ...{ when, body, from, half },
        fields: [...fields],
      })),
    }
  }),
})

/** Returns the form of a transition that states none: the members of its body, with the example. */
function exampleForm(schema: TObject | undefined): TransitionForm {
  const [body = {}] = (schema?.examples ?? []) as readonly Readonly<Record<string, unknown>>[]
  return { body, fields: [...new Set([...(schema?.required ?? []), ...Object.keys(body)])] }
}

/** Lists the kinds of records that records of a kind name: they have a member for its reference. */
const namedBy = ({ name, record, refersTo = {} }: Kind): DescribedKind['names'] =>
  kinds
    .filter(({ name: other, reference }) => other !== name && reference in record.properties)
    .map(({ name, reference }) => ({ member: reference, name, accepts: { ...refersTo[reference]?.accepts } }))

/** Searches all kinds. */
export const searchRecords = call({
  command: 'search',
  example: { q: 'acme' },
  errors: ['MISSING_FIELD'],
  summary: 'Search the records of all kinds and regions by a reference, a name or another text',
  querystring: schemas.AnyQuery,
  response: schemas.AnyFound,
  handle({ tenant, query: { q, limit = 20 } }) {
    const pages = kinds.map(({ name, kind }) => ({ kind, ...tenant()[name].search({ search: q, limit }) }))
    const data = pages.flatMap(({ kind, data }) => data.map(found => ({ kind, ...found })))
    data.sort((one, other) => (one.createdAt < other.createdAt ? 1 : one.createdAt > other.createdAt ? -1 : 0))
    return { data: data.slice(0, limit), total: pages.reduce((sum, { total }) => sum + total, 0) }
  },
})

const toCommand = (name: string) => toWords(name).replaceAll(' ', '-')

/** The search of a kind. */
const searchOf = ({ name, path, lifecycle, record }: Kind) =>
  GET(`/${path}`, {
    [`search${toTitle(name)}`]: call({
      command: toCommand(name),
      summary: `Search the ${toWords(name)} of all regions, newest first`,
      description: 'Records that are added later neither repeat nor shift the following pages.',
      querystring: schemas.searchQuery(lifecycle?.states),
      response: schemas.searchResult(`${toTitle(name)}Found`, record),
      handle: ({ tenant, query }) => tenant()[name].search(query),
    }),
  })

/** A call of one record. */
type RecordCall = CallContext<unknown, { readonly region?: Region }, unknown>

/** The calls of one record of a kind: its transitions, its outcome, and its explanation. */
function callsOf({ name, kind, path, noun, reference, notFound, regions, record, lifecycle, outcomes }: Kind) {
  if (lifecycle === undefined) return []
  const title = toTitle(kind)
  const command = toCommand(name)
  const isApart = regions === 'apart'
  const errors: readonly ErrorCode[] = isApart ? ['MISSING_FIELD', notFound] : [notFound]
  const common = {
    params: labelled(assumed, lifecycle.params.properties),
    querystring: (isApart ? schemas.RecordQuery : ClientQuery) as typeof schemas.RecordQuery,
    response: schemas.explained(`Explained${title}`, lifecycle.explained ?? record),
  }
  const changing = { ...common, errors: [...errors, 'ILLEGAL_TRANSITION'] as const }
  const url = `/${path}/:${reference}`

  /** Does some work with the store and the reference of a call, and explains the record. */
  const explaining =
    (work?: (store: SteeredStore, given: string, call: RecordCall) => void) =>
    (call: RecordCall): object => {
      // Only kinds with a lifecycle come here, and the schemas have checked the parameters.
      const store = call.tenant()[name] as unknown as SteeredStore
      const given = (call.params as Readonly<Record<string, string>>)[reference] as string
      work?.(store, given, call)
      return store.explain(given, call.request.sandbox.publicUrl, call.query.region)
    }

  const transitions = Object.entries(lifecycle.transitions).flatMap(([transition, row]) => {
    if ('update' in row) return []
    const {
      example,
      operationId = `${transition}${title}`,
      summary = `Move a ${noun}: ${transition}`,
      description,
      body,
    } = row
    const from = lifecycle.states.filter(state => stateAfter(lifecycle.table, state, transition))
    const to = stateAfter(lifecycle.table, from[0] ?? '', transition)
    const happens = `${from.join(' or ')} becomes ${to}, now.`
    return POST(`${url}/${transition}`, {
      [operationId]: call({
        ...changing,
        command: `${command} ${toCommand(transition)}`,
        summary,
        description: description === undefined ? happens : `${happens} ${description}`,
        example: { [reference]: example },
        ...(body && { body }),
        handle: explaining((store, given, { body, query }) =>
          store.forceTransition(given, transition, body as object | undefined, query.region),
        ),
      }),
    })
  })

  const setOutcome = ({ call: { example, description, body } }: NonNullable<Area['outcomes']>) =>
    PUT(`${url}/outcome`, {
      [`set${title}Outcome`]: call({
        ...changing,
        command: `${command} outcome`,
        summary: `Give a ${noun} an outcome, if its state still allows it`,
        description: `The outcome replaces an earlier one. With null, the record follows its usual course. ${description}`,
        example: { [reference]: example },
        body,
        handle: explaining((store, given, { body }) =>
          store.setOutcome(given, (body as { outcome: string | null }).outcome),
        ),
      }),
    })

  const explain = GET(url, {
    [`explain${title}`]: call({
      ...common,
      command: `${command} explain`,
      errors,
      summary: `Explain a ${noun}: record, timeline, next transition, legal moves`,
      handle: explaining(),
    }),
  })
  return [...transitions, ...(outcomes ? setOutcome(outcomes) : []), ...explain]
}

/** The calls that act on records. They follow from the table of areas. */
export const recordRoutes: readonly ControlRoute[] = [...kinds.flatMap(searchOf), ...kinds.flatMap(callsOf)]
