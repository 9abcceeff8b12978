import type { SortedList, Walk } from './sorted-list.js'
import { createSortedList } from './sorted-list.js'
import type { Instant } from './time.js'

/** A place in a list: newest first by creation time, ties by later creation first (decisions §5). */
export interface Position {
  readonly createdAt: Instant
  readonly sequence: number
}

/** What a list call asks for. All conditions hold together. */
export interface Query<E, Facet extends string> {
  /** Per facet the wanted value, or several, any of which will do. An empty list matches nothing. */
  readonly facets?: Partial<Record<Facet, string | readonly string[] | undefined>>
  readonly createdFrom?: Instant | undefined
  readonly createdTo?: Instant | undefined
  /** Whatever no facet covers. */
  readonly matches?: ((entry: E) => boolean) | undefined
  /** Only what comes after this place, going back in time. */
  readonly after?: Position | undefined
  readonly limit: number
}

export interface Page<E> {
  /** All matches, wherever the page starts. */
  readonly totalCount: number
  readonly hasMore: boolean
  readonly entries: E[]
}

export interface OrderedIndex<E extends Position, Facet extends string> {
  readonly size: number
  add(entry: E): void
  /** Tells that a facet of an entry has another value now. */
  moved(entry: E, facet: Facet, from: string | undefined, to: string | undefined): void
  page(query: Query<E, Facet>): Page<E>
  /** All entries with a value of a facet, oldest first. */
  withFacet(facet: Facet, value: string): readonly E[]
}

/** Whether one place comes before another in time: the order of lists, backwards. */
export const isBefore = (a: Position, b: Position): boolean =>
  a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.sequence < b.sequence)

/**
 * Entries in order of creation, and for each facet one such list per value, so that a list call walks the shortest
 * list that covers it: a page without filters touches its own records, one filter touches its own matches.
 *
 * @param facetsOf the value of each facet of an entry; undefined: the entry has none
 */
export function createOrderedIndex<E extends Position, Facet extends string>(
  facetsOf: Readonly<Record<Facet, (entry: E) => string | undefined>>,
): OrderedIndex<E, Facet> {
  const all = createSortedList<E>()
  const facets = Object.keys(facetsOf) as Facet[]
  const postings = new Map<Facet, Map<string, SortedList<E>>>(facets.map(facet => [facet, new Map()]))

  const listOf = (facet: Facet, value: string) => postings.get(facet)?.get(value)

  function post(entry: E, facet: Facet, value: string | undefined) {
    if (value === undefined) return
    let list = listOf(facet, value)
    if (list === undefined) {
      list = createSortedList<E>()
      postings.get(facet)?.set(value, list)
    }
    list.insert(entry)
  }

  /** The lists that together hold every match, and the conditions that remain to be checked on their entries. */
  function plan(query: Query<E, Facet>) {
    const wanted = facets.flatMap(facet => {
      const given = query.facets?.[facet]
      if (given === undefined) return []
      const values = new Set(typeof given === 'string' ? [given] : given)
      const lists = [...values].flatMap(value => listOf(facet, value) ?? [])
      return [{ facet, values, lists, size: lists.reduce((sum, list) => sum + list.length, 0) }]
    })
    const [best, ...rest] = wanted.sort((a, b) => a.size - b.size)
    const checks = rest
      // A facet whose values hold every entry excludes none.
      .filter(({ size }) => size < all.length)
      .map(
        ({ facet, values }) =>
          (entry: E) =>
            values.has(facetsOf[facet](entry) as string),
      )
    if (query.matches !== undefined) checks.push(query.matches)
    return { lists: best?.lists ?? [all], checks }
  }

  return {
    get size() {
      return all.length
    },
    add(entry) {
      all.insert(entry)
      for (const facet of facets) post(entry, facet, facetsOf[facet](entry))
    },
    moved(entry, facet, from, to) {
      if (from === to) return
      if (from !== undefined) listOf(facet, from)?.remove(entry)
      post(entry, facet, to)
    },
    withFacet: (facet, value) => [...(listOf(facet, value) ?? [])],
    page(query) {
      const { lists, checks } = plan(query)
      const isMatch = (entry: E) => checks.every(check => check(entry))

      let totalCount = 0
      const heads: Head<E>[] = []
      for (const list of lists) {
        const { start, end } = span(list, query)
        if (start >= end) continue
        totalCount += checks.length === 0 ? end - start : list.countMatches(start, end, isMatch)
        const from = query.after === undefined ? end : Math.min(end, list.countBefore(query.after))
        if (from > start) heads.push({ walk: list.walkBack(from), left: from - start })
      }

      const entries: E[] = []
      for (let entry = takeNewest(heads); entry !== undefined; entry = takeNewest(heads)) {
        if (!isMatch(entry)) continue
        if (entries.length === query.limit) return { totalCount, hasMore: true, entries }
        entries.push(entry)
      }
      return { totalCount, hasMore: false, entries }
    },
  }
}

/** The ranks of a list that lie within the bounds on creation time. */
function span<E extends Position>(list: SortedList<E>, { createdFrom, createdTo }: Query<E, string>) {
  return {
    start: createdFrom === undefined ? 0 : list.countBefore({ createdAt: createdFrom, sequence: -Infinity }),
    end: createdTo === undefined ? list.length : list.countBefore({ createdAt: createdTo, sequence: Infinity }),
  }
}

/** A walk back through one list, and how many entries of it are left. */
interface Head<E> {
  readonly walk: Walk<E>
  left: number
}

/** Takes the newest entry of several walks. */
function takeNewest<E extends Position>(heads: readonly Head<E>[]): E | undefined {
  let newest: Head<E> | undefined
  let entry: E | undefined
  for (const head of heads) {
    const candidate = head.left > 0 ? head.walk.peek() : undefined
    if (candidate === undefined || (entry !== undefined && isBefore(candidate, entry))) continue
    newest = head
    entry = candidate
  }
  if (newest === undefined) return undefined
  newest.walk.step()
  newest.left--
  return entry
}
