import type { Area, AreaName, SteeredStore } from '../../areas/index.js'
import { areas, byUse } from '../../areas/index.js'
import type { Region } from '../../core/domain/regions.js'
import type { ErrorCode } from '../../core/errors.js'
import { assumed, labelled } from '../../core/schemas.js'
import { toNoun, toTitle, toWords } from '../../core/words.js'
import type { CallContext, ControlRoute } from '../route.js'
import { call, GET, POST, PUT } from '../route.js'
import { ClientQuery } from '../schemas.js'
import { kinds as named } from './names.js'
import * as schemas from './schemas.js'

/** A kind of records, with the names of its calls. */
interface Kind extends Area {
  readonly name: AreaName
  /** Such as `payout link`. */
  readonly noun: string
  /** The end of the operationIds of a record, such as `PayoutLink`. */
  readonly title: string
  /** The first word of the commands, such as `payout-links`. */
  readonly command: string
}

const toCommand = (name: string) => toWords(name).replaceAll(' ', '-')

/** A call of one record. */
type RecordCall = CallContext<unknown, { readonly region?: Region }, unknown>

const kinds = byUse().map((name): Kind => {
  const area: Area = areas[name]
  const title = toTitle(area.lifecycle?.kind ?? name)
  return { ...area, name, noun: toNoun(name), title, command: toCommand(name) }
})

/** The search of a kind. */
const searchOf = ({ name, path, command, lifecycle, record }: Kind) =>
  GET(`/${path}`, {
    [`search${toTitle(name)}`]: call({
      command,
      summary: `Search the ${toWords(name)} of all regions, newest first`,
      description:
        'Without a condition, a page reads no more records than it needs. Records that are added later neither repeat nor ' +
        'shift the following pages.',
      querystring: schemas.searchQuery(lifecycle?.states),
      response: schemas.searchResult(`${toTitle(name)}Found`, record),
      handle: ({ tenant, query }) => tenant()[name].search(query),
    }),
  })

/** Searches all kinds. */
export const searchRecords = call({
  command: 'search',
  example: { q: 'acme' },
  errors: ['MISSING_FIELD'],
  summary: 'Search the records of all kinds and regions by a reference, a name or another text',
  querystring: schemas.AnyQuery,
  response: schemas.AnyFound,
  handle({ tenant, query: { q, limit = 20 } }) {
    const pages = named.map(({ name, kind }) => ({ kind, ...tenant()[name].search({ search: q, limit }) }))
    const data = pages.flatMap(({ kind, data }) => data.map(found => ({ kind, ...found })))
    data.sort((one, other) => (one.createdAt < other.createdAt ? 1 : one.createdAt > other.createdAt ? -1 : 0))
    return { data: data.slice(0, limit), total: pages.reduce((sum, { total }) => sum + total, 0) }
  },
})

/** The calls of one record of a kind: its transitions, its outcome, and its explanation. */
function callsOf({ name, path, noun, title, command, reference, notFound, regions, record, ...kind }: Kind) {
  const { lifecycle, outcomes } = kind
  if (lifecycle === undefined) return []
  const isApart = regions === 'apart'
  const errors: readonly ErrorCode[] = isApart ? ['MISSING_FIELD', notFound] : [notFound]
  const common = {
    params: labelled(assumed, lifecycle.params.properties),
    querystring: (isApart ? schemas.RecordQuery : ClientQuery) as typeof schemas.RecordQuery,
    response: schemas.explained(`Explained${title}`, lifecycle.explained ?? record),
  }
  const changing = { ...common, errors: [...errors, 'ILLEGAL_TRANSITION'] as const }
  const url = `/${path}/:${reference}`

  const recordOf = ({ request, tenant, params, query: { region } }: RecordCall) => {
    // Only kinds with a lifecycle come here, and the schemas have checked the parameters.
    const store = tenant()[name] as unknown as SteeredStore
    const given = (params as Readonly<Record<string, string>>)[reference] as string
    const explain = () => store.explain(given, request.sandbox.publicUrl, region)
    return { store, given, region, explain }
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
    const happens = 'The transition happens now, if it is legal in the present state.'
    return POST(`${url}/${transition}`, {
      [operationId]: call({
        ...changing,
        command: `${command} ${toCommand(transition)}`,
        summary,
        description: description === undefined ? happens : `${happens} ${description}`,
        example: { [reference]: example },
        ...(body && { body }),
        handle(call) {
          const { store, given, region, explain } = recordOf(call)
          store.forceTransition(given, transition, call.body, region)
          return explain()
        },
      }),
    })
  })

  const setOutcome = ({ call: { example, description, body } }: NonNullable<Area['outcomes']>) =>
    PUT(`${url}/outcome`, {
      [`set${title}Outcome`]: call({
        ...changing,
        command: `${command} outcome`,
        summary: `Give a ${noun} an outcome, if its state still allows it`,
        description: `The outcome replaces an earlier one; null: none, the record follows its usual course. ${description}`,
        example: { [reference]: example },
        body,
        handle(call) {
          const { store, given, explain } = recordOf(call)
          store.setOutcome(given, (call.body as { outcome: string | null }).outcome)
          return explain()
        },
      }),
    })

  const explain = GET(url, {
    [`explain${title}`]: call({
      ...common,
      command: `${command} explain`,
      errors,
      summary: `Explain a ${noun}: record, timeline, next transition, legal moves`,
      handle: call => recordOf(call).explain(),
    }),
  })
  return [...transitions, ...(outcomes ? setOutcome(outcomes) : []), ...explain]
}

/** The calls that act on records. They follow from the table of areas. */
export const recordRoutes: readonly ControlRoute[] = [...kinds.flatMap(searchOf), ...kinds.flatMap(callsOf)]
