import type { AreaName } from '../areas/index.js'
import { comparePositions, DEFAULT_LIMIT } from '../core/records/list.js'
import type { Entry as StoreEntry } from '../core/records/repository.js'
import type { Region } from '../core/rules/regions.js'
import type { Difference } from './answers.js'
import { contentOf, memberDifference, membersOf } from './answers.js'
import type { Operation } from './contract.js'
import { faultsOf } from './contract.js'
import type { Group } from './group.js'
import { keyOf } from './group.js'
import type { Entry } from './har.js'
import { isOverlapping } from './har.js'
import { placeOfList, placeOfMember } from './places.js'
import type { Answer, End, Json } from './sandbox.js'

export interface ListContext {
  readonly entry: Entry
  readonly operation: Operation
  readonly group: Group
  readonly region: Region
  /** The member that identifies a record. */
  readonly reference: string
  /** Sends the request again, with another query. */
  ask(end: 0 | 1, search: string): Promise<Answer>
  /** Whether nothing is noted of a record. */
  isDoubtful(reference: string): boolean
}

const MOST = 500

/**
 * Compares the page of a list with that of the sandbox, which has adopted all records of the page: which records it has,
 * their order, the total and the cursor. The first difference decides.
 */
export async function listDifferences(context: ListContext): Promise<Difference[]> {
  const { entry, operation, group } = context
  const page = membersOf(contentOf(entry))
  const envelope = envelopeDifferences(operation, page)
  if (envelope.length > 0) return envelope
  const parameters = new URLSearchParams(entry.search)
  const limit = Number(parameters.get('limit') ?? DEFAULT_LIMIT)
  const isForeign = isForeignCursor(entry, group.ends[0])
  const doubtful = [...group.known.values()].filter(
    one => one.area === operation.area && context.isDoubtful(one.reference),
  ).length
  // Records of which nothing is known take the place of others.
  if (doubtful > 0) parameters.set('limit', String(Math.min(MOST, limit + doubtful)))
  const search = isForeign ? withoutCursor(entry.search, MOST) : doubtful > 0 ? `?${parameters}` : entry.search
  const found: (Difference | undefined)[] = []
  for (const [at, end] of group.ends.entries()) {
    const own = membersOf((await context.ask(at as 0 | 1, search)).body)
    const difference = pageDifference(context, page, own, { isForeign, at, doubtful, limit })
    found.push(difference)
    if (difference !== undefined) continue
    if (!isForeign && doubtful === 0 && typeof page.nextCursor === 'string' && typeof own.nextCursor === 'string')
      end.pair(page.nextCursor, own.nextCursor)
  }
  const isSame = found.includes(undefined)
  return isSame || found[0] === undefined ? [] : [found[0]]
}

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

function pageDifference(
  context: ListContext,
  page: Json,
  own: Json,
  { isForeign, at, doubtful, limit }: { isForeign: boolean; at: number; doubtful: number; limit: number },
): Difference | undefined {
  const { entry, operation, group, region, reference } = context
  const area = operation.area as AreaName
  const end = group.ends[at] as Group['ends'][number]
  const parameters = new URLSearchParams(entry.search)
  const difference = (anchor: string, what: string): Difference => ({ place: placeOfList(operation, anchor), what })
  const refer = (records: unknown) =>
    (Array.isArray(records) ? records : []).flatMap(record => {
      const text = membersOf(record)[reference]
      return typeof text === 'string' ? [end.captured.get(text) ?? text] : []
    })
  const given = refer(page.data)
  const isDoubtful = (text: string) => context.isDoubtful(text)
  const all = refer(own.data).filter(text => doubtful === 0 || !isDoubtful(text))
  const expected = isForeign
    ? all
    : all.slice(0, doubtful === 0 ? limit : given.filter(text => !isDoubtful(text)).length)
  const [shown, wanted] = [new Set(given), new Set(expected)]
  const filter = Object.keys(operation.query?.properties ?? {}).find(
    name =>
      name !== 'limit' &&
      name !== 'cursor' &&
      [...parameters.keys()].some(key => key === name || key.startsWith(`${name}[`)),
  )

  // The size.
  if (given.length > limit) return difference('limit', 'more records than the limit')
  if (shown.size < given.length) return difference('data', 'a record is listed twice')

  // The records.
  const isChanging = group.writes.some(write => isOverlapping(write, entry))
  const isWhole = !isForeign || Number(own.totalCount) <= MOST
  const extra = given.filter(text => !wanted.has(text) && !isDoubtful(text))
  if (isWhole && extra.length > 0 && !isChanging) {
    const known = extra.map(text => end.find(area, region, text))
    if (known.every(one => one !== undefined))
      return difference(filter ?? 'data', 'a record that the sandbox does not list')
  }
  const missing = isForeign ? [] : expected.filter(text => !shown.has(text) && !isDoubtful(text) && !isUnplaced(text))
  if (missing.length > 0 && !isChanging && extra.length === 0)
    return difference(given.length < expected.length ? 'data' : 'limit', 'a record is absent')

  // The order.
  const entries = given.map(text => end.find(area, region, text))
  for (const [index, later] of entries.entries()) {
    const former = entries[index - 1]
    if (former !== undefined && later !== undefined && comparePositions(former, later) < 0 && !isTie(former, later)) {
      return difference(area === 'collections' ? 'initiatedAt' : 'data', 'not the newest first')
    }
  }

  // The total, and what follows.
  if (isChanging) return undefined
  const uncertain = doubtful + [...group.known.values()].filter(one => one.area === area && one.isMadeUp).length
  const total = page.totalCount as number
  const surplus = total - Number(own.totalCount)
  const isFirst = !parameters.has('cursor')
  const isAll = isFirst && page.hasMore === false
  if (isAll ? total !== given.length : surplus < -uncertain || total < given.length) {
    return difference('totalCount', 'another number than that of the records')
  }
  if (isFirst && page.hasMore === true && total <= given.length)
    return difference('totalCount', 'another number than that of the records')
  // The records that a total has counted would have shown themselves by now.
  const list = `${area} ${region} ${at} ${filter === undefined ? '' : parametersOf(entry.search)}`
  const former = group.surplus.get(list)
  if (surplus > 0) group.surplus.set(list, former ?? { entry, lowest: group.lowest })
  else if (surplus === 0) group.surplus.delete(list)
  if (former !== undefined && surplus === 0 && former.lowest === group.lowest) {
    return { ...difference('totalCount', 'another number than that of the records'), entry: former.entry }
  }
  if ((typeof page.nextCursor === 'string') !== page.hasMore)
    return difference(
      'nextCursor',
      page.hasMore ? 'hasMore without nextCursor' : 'nextCursor, although hasMore is false',
    )
  if (!isForeign && surplus === 0 && uncertain === 0 && page.hasMore !== own.hasMore)
    return difference('hasMore', `hasMore is ${page.hasMore}`)
  return undefined

  /** Whether the place of a record is not known: it was made up, or one of the same second was there before. */
  function isUnplaced(text: string): boolean {
    const createdAt = end.find(area, region, text)?.createdAt
    const isOlder = (other: string) =>
      end.find(area, region, other)?.createdAt === createdAt &&
      group.known.get(keyOf(area, region, other))?.creation === undefined
    return group.known.get(keyOf(area, region, text))?.isMadeUp === true || given.some(isOlder)
  }

  /** Whether nothing is known of the order of two records that were created in the same second. */
  function isTie(one: StoreEntry<Json>, other: StoreEntry<Json>): boolean {
    if (one.createdAt !== other.createdAt) return false
    const [first, second] = [one, other].map(({ record }) => {
      const text = String(record[reference])
      return group.known.get(keyOf(area, region, end.captured.get(text) ?? text))?.creation
    })
    return first === undefined || second === undefined || isOverlapping(first, second)
  }
}

/** Whether a request has a cursor that no earlier answer has. */
export function isForeignCursor({ search }: Entry, end: End): boolean {
  const cursor = new URLSearchParams(search).get('cursor')
  return cursor !== null && end.translate(cursor) === cursor
}

/** Returns a query without cursor, for the first records. */
export function withoutCursor(search: string, limit?: number): string {
  const parameters = new URLSearchParams(search)
  parameters.delete('cursor')
  if (limit !== undefined) parameters.set('limit', String(limit))
  return `?${parameters}`
}

/** Returns the filters of a query. */
const parametersOf = (search: string) => {
  const parameters = new URLSearchParams(withoutCursor(search))
  parameters.delete('limit')
  return parameters.toString()
}
