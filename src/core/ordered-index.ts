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

const isBefore = (a: Position, b: Position) =>
  a.createdAt < b.createdAt || (a.createdAt === b.createdAt && a.sequence < b.sequence)

/** How many of the ascending entries stand before a place. */
function countBefore(entries: readonly Position[], place: Position): number {
  let low = 0
  let high = entries.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (isBefore(entries[middle] as Position, place)) low = middle + 1
    else high = middle
  }
  return low
}

function insert<E extends Position>(entries: E[], entry: E) {
  const last = entries.at(-1)
  if (last === undefined || isBefore(last, entry)) entries.push(entry)
  else entries.splice(countBefore(entries, entry), 0, entry)
}

const NOTHING: readonly never[] = []

/**
 * Entries in order of creation, and for each facet one such list per value, so that a list call walks the shortest
 * list that covers it: a page without filters touches its own records, one filter touches its own matches.
 *
 * @param facetsOf the value of each facet of an entry; undefined: the entry has none
 */
export function createOrderedIndex<E extends Position, Facet extends string>(
  facetsOf: Readonly<Record<Facet, (entry: E) => string | undefined>>,
): OrderedIndex<E, Facet> {
  const all: E[] = []
  const facets = Object.keys(facetsOf) as Facet[]
  const postings = new Map<Facet, Map<string, E[]>>(facets.map(facet => [facet, new Map()]))

  const postingsOf = (facet: Facet) => postings.get(facet) as Map<string, E[]>

  function post(entry: E, facet: Facet, value: string | undefined) {
    if (value === undefined) return
    const list = postingsOf(facet).get(value)
    if (list === undefined) postingsOf(facet).set(value, [entry])
    else insert(list, entry)
  }

  /** The lists that together hold every match, and the conditions that remain to be checked on their entries. */
  function plan(query: Query<E, Facet>) {
    const wanted = facets.flatMap(facet => {
      const given = query.facets?.[facet]
      if (given === undefined) return []
      const values: readonly string[] = typeof given === 'string' ? [given] : given
      const lists = values.map(value => postingsOf(facet).get(value) ?? NOTHING)
      return [{ facet, values, lists, size: lists.reduce((sum, list) => sum + list.length, 0) }]
    })
    const [best, ...rest] = wanted.sort((a, b) => a.size - b.size)
    const checks = rest.map(
      ({ facet, values }) =>
        (entry: E) =>
          values.includes(facetsOf[facet](entry) as string),
    )
    if (query.matches !== undefined) checks.push(query.matches)
    return { lists: best?.lists ?? [all], checks }
  }

  return {
    get size() {
      return all.length
    },
    add(entry) {
      insert(all, entry)
      for (const facet of facets) post(entry, facet, facetsOf[facet](entry))
    },
    moved(entry, facet, from, to) {
      if (from === to) return
      if (from !== undefined) {
        const list = postingsOf(facet).get(from) as E[]
        list.splice(countBefore(list, entry), 1)
      }
      post(entry, facet, to)
    },
    withFacet: (facet, value) => postingsOf(facet).get(value) ?? NOTHING,
    page(query) {
      const { lists, checks } = plan(query)
      const spans = lists.map(list => ({ list, ...span(list, query) })).filter(({ start, end }) => start < end)
      const isMatch = (entry: E) => checks.every(check => check(entry))

      let totalCount = 0
      for (const { list, start, end } of spans) {
        if (checks.length === 0) totalCount += end - start
        else for (let at = start; at < end; at++) if (isMatch(list[at] as E)) totalCount++
      }

      const heads = spans.map(({ list, start, end }) => ({
        list,
        start,
        end: query.after === undefined ? end : Math.min(end, Math.max(start, countBefore(list, query.after))),
      }))
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

/** The part of an ascending list that lies within the bounds on creation time. */
function span(list: readonly Position[], { createdFrom, createdTo }: { createdFrom?: Instant; createdTo?: Instant }) {
  return {
    start: createdFrom === undefined ? 0 : countBefore(list, { createdAt: createdFrom, sequence: -Infinity }),
    end: createdTo === undefined ? list.length : countBefore(list, { createdAt: createdTo, sequence: Infinity }),
  }
}

/** Takes the newest entry from the ends of several ascending lists. */
function takeNewest<E extends Position>(heads: { list: readonly E[]; start: number; end: number }[]): E | undefined {
  let newest: { list: readonly E[]; start: number; end: number } | undefined
  for (const head of heads) {
    if (head.start >= head.end) continue
    if (newest === undefined || isBefore(newest.list[newest.end - 1] as E, head.list[head.end - 1] as E)) newest = head
  }
  if (newest === undefined) return undefined
  newest.end--
  return newest.list[newest.end]
}
