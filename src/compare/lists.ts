import type { AreaName } from '../areas/index.js'
import { areas } from '../areas/index.js'
import { comparePositions, DEFAULT_LIMIT } from '../core/records/list.js'
import type { Difference } from './answers.js'
import { memberDifference, membersOf } from './answers.js'
import type { Ask } from './asking.js'
import { withoutCursor } from './asking.js'
import type { Case, Known } from './case.js'
import { isDoubtful, knownOf } from './case.js'
import type { Operation } from './contract.js'
import { isOverlapping } from './har.js'
import { placeOfList } from './places.js'
import { comingByOthers, faultDifferences } from './records.js'
import type { Json } from './sandbox.js'

/** The most records of a page of the sandbox. */
const MOST = 500
/** The records that are listed beyond a first page: of some, nothing is noted. */
const BEYOND = 50

/**
 * Compares the page of a list with that of the sandbox, which has adopted all records of the page: which records it has,
 * their order, the total and the cursor. The first difference decides.
 */
export async function listDifferences(one: Case, ask: Ask): Promise<Difference[]> {
  const page = membersOf(one.content)
  const envelope = envelopeDifferences(one, page)
  if (envelope.length > 0) return envelope
  const parameters = new URLSearchParams(one.entry.search)
  const most = parameters.has('cursor') ? MOST : Math.min(limitOf(parameters) + BEYOND, MOST)
  let first: Difference | undefined
  for (const at of [0, 1] as const) {
    const own = membersOf((await ask(at, withoutCursor(one.entry.search, most))).body)
    const found = pageDifference(one, page, own, at)
    if (found === undefined) return []
    first ??= found
  }
  return first === undefined ? [] : [first]
}

/** Compares the members beside the records with their schemas. The sandbox sends all of them. */
function envelopeDifferences(one: Case, page: Json): Difference[] {
  const { answer } = one.operation as Operation
  const absent = Object.keys(answer.properties).find(name => !Object.hasOwn(page, name))
  if (absent !== undefined)
    return [memberDifference(one.operation as Operation, answer, [absent], 'is absent', undefined)]
  return faultDifferences(one, answer, Array.isArray(page.data) ? { ...page, data: [] } : page).slice(0, 1)
}

/** Compares a page with the list of one end, without the records of which nothing is noted. */
function pageDifference(one: Case, page: Json, own: Json, at: 0 | 1): Difference | undefined {
  const { entry, group } = one
  const operation = one.operation as Operation
  const { reference } = areas[operation.area as AreaName]
  const end = group.ends[at]
  const parameters = new URLSearchParams(entry.search)
  const difference = (anchor: string, what: string): Difference => ({ place: placeOfList(operation, anchor), what })
  const isUncertain = (known: Known) => known.standing === 'made up' || isDoubtful(one, known)
  /** Finds the records of a list. Those of the sandbox can have ids of their own. */
  const refer = (records: unknown): Known[] =>
    (Array.isArray(records) ? records : []).flatMap(record => {
      const text = String(membersOf(record)[reference])
      return knownOf(one, { [reference]: end.captured.get(text) ?? text }) ?? []
    })
  const given = refer(page.data)
  const all = refer(own.data)
  const listed = all.filter(known => !isUncertain(known))
  const shown = new Set(given)
  const filters = filtersOf(operation, parameters)
  const mayLeave = leaving(one, parameters, filters)

  const limit = limitOf(parameters)
  if (given.length > limit) return difference('limit', 'more records than the limit')
  if (shown.size < given.length) return difference('data', 'a record is listed twice')

  const cursor = parameters.get('cursor')
  const isFirst = cursor === null
  const previous = isFirst ? undefined : group.cursors.get(cursor)
  const last = given.at(-1)
  const contained = new Set(listed)
  const isRepeated = (known: Known) => known === previous || isOlder(previous, known)
  const isReached = (known: Known) => own.hasMore === false || isOlder(all.at(-1), known)
  const isExtra = (known: Known) =>
    !isUncertain(known) && ((isReached(known) && !contained.has(known)) || isRepeated(known))
  if (given.some(isExtra)) return difference(filters[0] ?? 'data', 'a record that the sandbox does not list')
  const hasRoom = page.hasMore === false || ((isFirst || previous !== undefined) && given.length < limit)
  const isAbsent = (known: Known) =>
    !shown.has(known) &&
    (isFirst || isOlder(known, previous ?? given[0])) &&
    (hasRoom || isOlder(last, known)) &&
    !mayLeave?.(known)
  if (listed.some(isAbsent)) return difference('data', 'a record is absent')

  if (given.some((known, index) => isOlder(given[index - 1], known)))
    return difference(operation.area === 'collections' ? 'initiatedAt' : 'data', 'not the newest first')

  const total = page.totalCount as number
  const surplus = total - Number(own.totalCount)
  const isEnough = () => surplus >= -[...group.known.values()].filter(mayBeMissing).length
  const mayBeMissing = (known: Known) =>
    known.area === operation.area && (isUncertain(known) || mayLeave?.(known) === true)
  const isRight = !isFirst || (page.hasMore === true ? total > given.length : total === given.length)
  if (!isRight || total < given.length || (surplus < 0 && !isEnough()))
    return difference('totalCount', 'another number than that of the records')
  return (typeof page.nextCursor === 'string') === page.hasMore
    ? undefined
    : difference('nextCursor', page.hasMore ? 'hasMore without nextCursor' : 'nextCursor, although hasMore is false')

  /** Whether a record is surely older than another one: of one second, those of the capture have an order. */
  function isOlder(former: Known | undefined, later: Known | undefined): boolean {
    const [first, second] = [former && end.find(former), later && end.find(later)]
    if (!first || !second || comparePositions(first, second) >= 0) return false
    if (first.createdAt !== second.createdAt) return true
    const [mine, theirs] = [former?.creation, later?.creation]
    return mine !== undefined && theirs !== undefined && !isOverlapping(mine, theirs)
  }
}

const limitOf = (parameters: URLSearchParams): number => Number(parameters.get('limit') ?? DEFAULT_LIMIT)

/** Returns the names of the filters of a query. */
const filtersOf = ({ query }: Operation, parameters: URLSearchParams) =>
  Object.keys(query?.properties ?? {}).filter(
    name => !/^(limit|cursor)$/.test(name) && [...parameters.keys()].some(key => key.split('[')[0] === name),
  )

/** Returns whether others can have changed a record so that the filters leave it out; undefined: none of them can. */
function leaving(one: Case, parameters: URLSearchParams, filters: readonly string[]) {
  const { area } = one.operation as Operation
  const states = [...parameters].flatMap(([name, value]) => (/^status\b/.test(name) ? value.split(',') : []))
  const updated = one.contract.operations
    .filter(other => other.area === area && other.method === 'PATCH')
    .flatMap(({ body }) => Object.keys(body?.properties ?? {}))
  // The status follows the lifecycle.
  const isOfUpdate = filters.some(name => name !== 'status' && updated.some(member => name.startsWith(member)))
  if (states.length === 0 && !isOfUpdate) return undefined
  return (known: Known) => comingByOthers(one, known).some(state => isOfUpdate || !states.includes(state))
}
