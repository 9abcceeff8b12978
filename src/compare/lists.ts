import type { AreaName } from '../areas/index.js'
import { comparePositions, DEFAULT_LIMIT } from '../core/records/list.js'
import type { Difference } from './answers.js'
import { memberDifference, membersOf } from './answers.js'
import type { Ask } from './asking.js'
import type { Case } from './case.js'
import { isDoubtful, regionIn } from './case.js'
import type { Operation } from './contract.js'
import { faultsOf } from './contract.js'
import type { Known } from './group.js'
import { keyOf } from './group.js'
import { isOverlapping } from './har.js'
import { placeOfList, placeOfMember } from './places.js'
import { comingByOthers } from './records.js'
import { withoutCursor } from './requests.js'
import type { Json } from './sandbox.js'

const MOST = 500

/**
 * Compares the page of a list with that of the sandbox, which has adopted all records of the page: which records it has,
 * their order, the total and the cursor. The first difference decides.
 */
export async function listDifferences(one: Case, ask: Ask): Promise<Difference[]> {
  const page = membersOf(one.content)
  const envelope = envelopeDifferences(one.operation as Operation, page)
  if (envelope.length > 0) return envelope
  let first: Difference | undefined
  for (const at of [0, 1] as const) {
    const own = membersOf((await ask(at, withoutCursor(one.entry.search, MOST))).body)
    const found = pageDifference(one, page, own, at)
    if (found === undefined) return totalDifferences(one, page, own)
    first ??= found
  }
  return first === undefined ? [] : [first]
}

/** Holds the total of an earlier page against a later one: the records that it has counted would have shown themselves by now. */
function totalDifferences(one: Case, page: Json, own: Json): Difference[] {
  const { entry, group, region } = one
  const operation = one.operation as Operation
  const parameters = new URLSearchParams(withoutCursor(entry.search))
  parameters.delete('limit')
  if (isChanging(one) || leaving(one, parameters) !== undefined) return []
  const list = `${operation.area} ${region} ${parameters}`
  const surplus = Number(page.totalCount) - Number(own.totalCount)
  const former = group.surplus.get(list)
  if (surplus > 0) group.surplus.set(list, former ?? { entry, lowest: group.lowest })
  else if (surplus === 0) group.surplus.delete(list)
  if (former === undefined || surplus !== 0 || former.lowest !== group.lowest) return []
  const what = 'another number than that of the records'
  return [{ place: placeOfList(operation, 'totalCount'), what, entry: former.entry }]
}

const isChanging = ({ group, entry }: Case) => group.writes.some(write => isOverlapping(write, entry))

/** Returns the names of the filters of a query. */
const filtersOf = ({ query }: Operation, parameters: URLSearchParams) =>
  Object.keys(query?.properties ?? {}).filter(
    name => !/^(limit|cursor)$/.test(name) && [...parameters.keys()].some(key => key.split('[')[0] === name),
  )

/** Compares the members beside the records with their schemas. The sandbox sends all of them. */
function envelopeDifferences(operation: Operation, page: Json): Difference[] {
  const schema = operation.answer
  const absent = Object.keys(schema.properties).find(name => !Object.hasOwn(page, name))
  if (absent !== undefined) {
    const isRequired = (schema.required as string[]).includes(absent)
    const place = isRequired ? placeOfMember(operation, schema, [absent], undefined) : placeOfList(operation, absent)
    return [{ place, what: `${absent} is absent` }]
  }
  const [path] = faultsOf(schema, Array.isArray(page.data) ? { ...page, data: [] } : page)
  if (path === undefined) return []
  const seen = page[path[0] as string]
  return [memberDifference(operation, schema, path, 'has another form', seen)]
}

/** Compares a page with the list of one end, without the records of which nothing is noted. */
function pageDifference(one: Case, page: Json, own: Json, at: 0 | 1): Difference | undefined {
  const { contract, entry, group, region } = one
  const operation = one.operation as Operation
  const area = operation.area as AreaName
  const reference = contract.references.get(area) as string
  const end = group.ends[at]
  const parameters = new URLSearchParams(entry.search)
  const difference = (anchor: string, what: string): Difference => ({ place: placeOfList(operation, anchor), what })
  const knownOf = (text: string) => group.known.get(keyOf(area, regionIn(area, region), text))
  const isUnsure = (known: Known | undefined) => known?.isMadeUp === true || isDoubtful(one, known)
  const isUncertain = (text: string) => isUnsure(knownOf(text))
  const refer = (records: unknown) =>
    (Array.isArray(records) ? records : []).flatMap(record => {
      const text = membersOf(record)[reference]
      return typeof text === 'string' ? [end.captured.get(text) ?? text] : []
    })
  const given = refer(page.data)
  const listed = refer(own.data).filter(text => !isUncertain(text))
  const shown = new Set(given)
  const [filter] = filtersOf(operation, parameters)
  const mayLeave = leaving(one, parameters)
  /** The positions of the records, which are compared again and again. */
  const positions = new Map([...new Set([...given, ...listed])].map(text => [text, end.find(area, region, text)]))

  // The size.
  const limit = Number(parameters.get('limit') ?? DEFAULT_LIMIT)
  if (given.length > limit) return difference('limit', 'more records than the limit')
  if (shown.size < given.length) return difference('data', 'a record is listed twice')

  // The records.
  const cursor = parameters.get('cursor')
  const isFirst = cursor === null
  const previous = isFirst ? undefined : group.cursors.get(cursor)
  const last = given.at(-1)
  const isWhole = own.hasMore === false
  const isUnstable = isChanging(one)
  const contained = new Set(listed)
  const isRepeated = (text: string) => text === previous || isOlder(previous, text)
  const isExtra = (text: string) => !isUncertain(text) && ((isWhole && !contained.has(text)) || isRepeated(text))
  if (!isUnstable && given.some(isExtra)) return difference(filter ?? 'data', 'a record that the sandbox does not list')
  const hasRoom = page.hasMore === false || ((isFirst || previous !== undefined) && given.length < limit)
  const isAbsent = (text: string) =>
    !shown.has(text) &&
    (isFirst || isOlder(text, previous ?? given[0])) &&
    (hasRoom || isOlder(last, text)) &&
    !mayLeave?.(knownOf(text))
  if (!isUnstable && listed.some(isAbsent)) return difference('data', 'a record is absent')

  // The order.
  if (given.some((text, index) => isOlder(given[index - 1], text)))
    return difference(area === 'collections' ? 'initiatedAt' : 'data', 'not the newest first')

  // The total, and what follows.
  if (isUnstable) return undefined
  const uncertain = () =>
    [...group.known.values()].filter(known => known.area === area && (isUnsure(known) || mayLeave?.(known))).length
  const total = page.totalCount as number
  const surplus = total - Number(own.totalCount)
  const isAll = isFirst && page.hasMore === false
  if (isAll ? total !== given.length : (surplus < 0 && surplus < -uncertain()) || total < given.length) {
    return difference('totalCount', 'another number than that of the records')
  }
  if (isFirst && page.hasMore === true && total <= given.length)
    return difference('totalCount', 'another number than that of the records')
  if ((typeof page.nextCursor === 'string') !== page.hasMore)
    return difference(
      'nextCursor',
      page.hasMore ? 'hasMore without nextCursor' : 'nextCursor, although hasMore is false',
    )
  const isLast = () =>
    isWhole && surplus === 0 && !listed.some(text => !shown.has(text) && !isOlder(last, text)) && uncertain() === 0
  return page.hasMore === true && isLast() ? difference('hasMore', 'hasMore is true') : undefined

  /** Whether a record is surely older than another one: of one second, those of the capture have an order. */
  function isOlder(former: string | undefined, later: string | undefined): boolean {
    const [first, second] = [former, later].map(text => text && (positions.get(text) ?? end.find(area, region, text)))
    if (!first || !second || comparePositions(first, second) >= 0) return false
    if (first.createdAt !== second.createdAt) return true
    const [mine, theirs] = [former, later].map(text => knownOf(text as string)?.creation)
    return mine !== undefined && theirs !== undefined && !isOverlapping(mine, theirs)
  }
}

/** Returns whether others can have changed a record so that the filters leave it out; undefined: none of them can. */
function leaving(one: Case, parameters: URLSearchParams) {
  const { contract } = one
  const operation = one.operation as Operation
  const filters = filtersOf(operation, parameters)
  const states = [...parameters].flatMap(([name, value]) => (/^status\b/.test(name) ? value.split(',') : []))
  const updated = contract.operations
    .filter(({ area, method }) => area === operation.area && method === 'PATCH')
    .flatMap(({ body }) => Object.keys(body?.properties ?? {}))
  // The status follows the lifecycle.
  const isOfUpdate = filters.some(name => name !== 'status' && updated.some(member => name.startsWith(member)))
  if (states.length === 0 && !isOfUpdate) return undefined
  return (known: Known | undefined) =>
    known !== undefined && comingByOthers(one, known).some(state => isOfUpdate || !states.includes(state))
}
