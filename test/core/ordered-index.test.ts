import t from 'tap'
import type { Position, Query } from '../../src/core/ordered-index.js'
import { createOrderedIndex } from '../../src/core/ordered-index.js'

interface Entry extends Position {
  readonly name: string
  status: string
  readonly debtor?: string | undefined
  readonly amount: number
}

type Facet = 'status' | 'debtor'

const facets = { status: ({ status }: Entry) => status, debtor: ({ debtor }: Entry) => debtor }
const create = () => createOrderedIndex<Entry, Facet>(facets)

const entry = (createdAt: number, sequence: number, more: Partial<Entry> = {}): Entry => ({
  name: `${createdAt}.${sequence}`,
  createdAt,
  sequence,
  status: 'PENDING',
  amount: 1,
  ...more,
})

const names = (entries: readonly Entry[]) => entries.map(({ name }) => name)

/** Mulberry32: the same numbers from 0 up to 1 for the same seed. */
function random(seed: number) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let z = Math.imul(state ^ (state >>> 15), 1 | state)
    z = (z + Math.imul(z ^ (z >>> 7), 61 | z)) ^ z
    return ((z ^ (z >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Newest first by creation time, ties by later creation first. */
const newestFirst = (a: Position, b: Position) => b.createdAt - a.createdAt || b.sequence - a.sequence

/** Sort, filter, slice. */
function naivePage(entries: readonly Entry[], query: Query<Entry, Facet>) {
  const matches = [...entries].sort(newestFirst).filter(candidate => {
    const { createdFrom = -Infinity, createdTo = Infinity } = query
    if (candidate.createdAt < createdFrom || candidate.createdAt > createdTo) return false
    for (const facet of ['status', 'debtor'] as const) {
      const wanted = query.facets?.[facet]
      const value = facets[facet](candidate)
      if (wanted !== undefined && (value === undefined || !wanted.includes(value))) return false
    }
    return query.matches === undefined || query.matches(candidate)
  })
  const { after } = query
  const rest = after === undefined ? matches : matches.filter(candidate => newestFirst(after, candidate) < 0)
  return {
    totalCount: matches.length,
    hasMore: rest.length > query.limit,
    entries: names(rest.slice(0, query.limit)),
  }
}

t.test('decisions §5: newest first by creation time, ties by later creation first', async t => {
  const index = create()
  for (const [createdAt, sequence] of [
    [2000, 2],
    [1000, 1],
    [2000, 4],
    [3000, 3],
    [2000, 5],
  ] as const) {
    index.add(entry(createdAt, sequence))
  }
  t.equal(index.size, 5)
  const page = index.page({ limit: 10 })
  t.same(names(page.entries), ['3000.3', '2000.5', '2000.4', '2000.2', '1000.1'])
  t.equal(page.totalCount, 5)
  t.equal(page.hasMore, false)
})

t.test('interface, Collection list envelope: hasMore is true if and only if more follow', async t => {
  const index = create()
  for (const sequence of [1, 2, 3, 4]) index.add(entry(1000, sequence))
  const first = index.page({ limit: 2 })
  t.match(first, { totalCount: 4, hasMore: true })
  t.same(names(first.entries), ['1000.4', '1000.3'])
  const second = index.page({ limit: 2, after: first.entries[1] })
  t.match(second, { totalCount: 4, hasMore: false }, 'a full page may be the last')
  t.same(names(second.entries), ['1000.2', '1000.1'])
})

t.test('decisions §5: bounds on creation are inclusive', async t => {
  const index = create()
  for (const at of [1000, 2000, 3000, 4000]) index.add(entry(at, at / 1000))
  const list = (query: Partial<Query<Entry, Facet>>) => names(index.page({ limit: 10, ...query }).entries)
  t.same(list({ createdFrom: 2000 }), ['4000.4', '3000.3', '2000.2'])
  t.same(list({ createdTo: 2000 }), ['2000.2', '1000.1'])
  t.same(list({ createdFrom: 2000, createdTo: 3000 }), ['3000.3', '2000.2'])
  t.same(list({ createdFrom: 3000, createdTo: 2000 }), [])
  t.equal(index.page({ limit: 10, createdFrom: 3000, createdTo: 2000 }).totalCount, 0)
})

t.test('decisions §5: filters hold together, values of one filter are alternatives', async t => {
  const index = create()
  index.add(entry(1000, 1, { status: 'PENDING', debtor: 'a' }))
  index.add(entry(1000, 2, { status: 'SETTLED', debtor: 'a' }))
  index.add(entry(1000, 3, { status: 'SETTLED', debtor: 'b' }))
  index.add(entry(1000, 4, { status: 'FAILED' }))
  const list = (query: Partial<Query<Entry, Facet>>) =>
    index.page({ limit: 10, ...query }).entries.map(({ sequence }) => sequence)
  t.same(list({ facets: { status: ['SETTLED', 'PENDING'] } }), [3, 2, 1])
  t.same(list({ facets: { status: ['SETTLED'], debtor: ['a'] } }), [2])
  t.same(list({ facets: { status: ['SETTLED', 'FAILED'], debtor: undefined } }), [4, 3, 2])
  t.same(list({ facets: { debtor: ['c'] } }), [])
  t.same(list({ facets: { status: [] } }), [])
  t.same(list({ facets: { debtor: ['a', 'b'] }, matches: ({ sequence }) => sequence !== 2 }), [3, 1])
})

t.test('decisions §5: a filter follows a record whose value changes', async t => {
  const index = create()
  const [one, two] = [entry(1000, 1), entry(1000, 2)]
  index.add(one)
  index.add(two)
  one.status = 'SETTLED'
  index.moved(one, 'status', 'PENDING', 'SETTLED')
  t.same(names(index.withFacet('status', 'PENDING')), ['1000.2'])
  t.same(names(index.withFacet('status', 'SETTLED')), ['1000.1'])
  index.moved(two, 'status', 'PENDING', 'PENDING')
  t.same(names(index.withFacet('status', 'PENDING')), ['1000.2'], 'the same value is no change')
  t.same(index.withFacet('status', 'FAILED'), [])
})

t.test('decisions §5: a value may come to a record and leave it', async t => {
  const index = create()
  const one: { -readonly [member in keyof Entry]: Entry[member] } = entry(1000, 1)
  index.add(one)
  one.debtor = 'a'
  index.moved(one, 'debtor', undefined, 'a')
  t.same(names(index.page({ limit: 1, facets: { debtor: ['a'] } }).entries), ['1000.1'])
  one.debtor = undefined
  index.moved(one, 'debtor', 'a', undefined)
  t.same(names(index.page({ limit: 1, facets: { debtor: ['a'] } }).entries), [])
})

t.test('decisions §5: a position need not be that of a record', async t => {
  const index = create()
  for (const at of [1000, 3000]) index.add(entry(at, at / 1000))
  t.same(names(index.page({ limit: 10, after: { createdAt: 2000, sequence: 7 } }).entries), ['1000.1'])
  t.same(names(index.page({ limit: 10, after: { createdAt: 9000, sequence: 0 } }).entries), ['3000.3', '1000.1'])
  t.same(names(index.page({ limit: 10, after: { createdAt: 0, sequence: 0 } }).entries), [])
})

t.test('decisions §5: records created meanwhile neither repeat nor shift what follows', async t => {
  const index = create()
  for (const sequence of [1, 2, 3, 4]) index.add(entry(1000, sequence))
  const first = index.page({ limit: 2 })
  index.add(entry(2000, 5))
  const second = index.page({ limit: 2, after: first.entries.at(-1) })
  t.same(names(second.entries), ['1000.2', '1000.1'])
  t.equal(second.totalCount, 5)
})

t.test('decisions §5: against sort, filter and slice, for random records and queries', async t => {
  const STATUSES = ['PENDING', 'SETTLED', 'FAILED']
  const DEBTORS = ['a', 'b', 'c', undefined]
  let pages = 0
  let records = 0

  for (let seed = 1; seed <= 60; seed++) {
    const next = random(seed)
    const below = (limit: number) => Math.floor(next() * limit)
    const some = <T>(of: readonly T[]) => of.filter(() => next() < 0.5)
    const index = create()
    const all: Entry[] = []
    let sequence = 0

    for (let step = 0; step < 150; step++) {
      const action = next()
      if (action < 0.5) {
        // Seeding adds out of order.
        const status = STATUSES[below(3)] as string
        const fresh = entry(below(20) * 1000, ++sequence, { status, debtor: DEBTORS[below(4)], amount: below(10) })
        index.add(fresh)
        all.push(fresh)
      } else if (action < 0.75 && all.length > 0) {
        const moving = all[below(all.length)] as Entry
        const from = moving.status
        moving.status = STATUSES[below(3)] as string
        index.moved(moving, 'status', from, moving.status)
      } else {
        const least = below(10)
        const query: Query<Entry, Facet> = {
          limit: 1 + below(6),
          ...(next() < 0.7 && {
            facets: {
              ...(next() < 0.6 && { status: some(STATUSES) }),
              ...(next() < 0.4 && { debtor: some(['a', 'b', 'x']) }),
            },
          }),
          ...(next() < 0.3 && { createdFrom: below(22) * 1000 }),
          ...(next() < 0.3 && { createdTo: below(22) * 1000 }),
          ...(next() < 0.3 && { matches: ({ amount }) => amount >= least }),
          ...(next() < 0.5 && { after: { createdAt: below(22) * 1000, sequence: below(sequence + 2) } }),
        }
        const page = index.page(query)
        const expected = naivePage(all, query)
        pages++
        records += expected.entries.length
        const actual = { ...page, entries: names(page.entries) }
        if (JSON.stringify(actual) !== JSON.stringify(expected)) {
          t.same(actual, expected, `seed ${seed}, step ${step}: ${JSON.stringify(query)}`)
          return
        }
      }
    }

    t.equal(index.size, all.length)
    const oldestFirst = [...all].sort((a, b) => newestFirst(b, a))
    for (const status of STATUSES) {
      t.same(
        names(index.withFacet('status', status)),
        names(oldestFirst.filter(candidate => candidate.status === status)),
        `seed ${seed}: ${status}, oldest first`,
      )
    }

    // All pages of one walk give each record once.
    const walked: string[] = []
    for (let after: Position | undefined; ; ) {
      const page = index.page({ limit: 7, after })
      walked.push(...names(page.entries))
      after = page.entries.at(-1)
      if (!page.hasMore) break
    }
    t.same(walked, names([...all].sort(newestFirst)), `seed ${seed}: walk`)
  }
  t.ok(pages > 1000 && records > 1000, `${pages} pages, ${records} records`)
})

t.test('decisions §5: a page touches its own records, not all of them', async t => {
  const index = create()
  let reads = 0
  for (let sequence = 1; sequence <= 20_000; sequence++) {
    index.add({
      ...entry(1000, sequence, { status: sequence % 100 === 0 ? 'FAILED' : 'PENDING' }),
      get createdAt() {
        reads++
        return 1000
      },
    })
  }
  reads = 0
  t.equal(index.page({ limit: 10 }).entries.length, 10)
  t.ok(reads < 500, `${reads} reads without a filter`)
  reads = 0
  t.equal(index.page({ limit: 10, facets: { status: ['FAILED'] } }).totalCount, 200)
  t.ok(reads < 1000, `${reads} reads with one`)
})
