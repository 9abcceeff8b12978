import fc from 'fast-check'
import t, { type Test } from 'tap'
import type { Indexed, Position, Query } from '../../src/core/ordered-index.js'
import { createOrderedIndex } from '../../src/core/ordered-index.js'

interface Entry extends Indexed {
  readonly name: string
  status: string
  readonly debtor?: string | undefined
  readonly amount: number
}

type Facet = 'status' | 'debtor'

const facets = { status: ({ status }: Entry) => status, debtor: ({ debtor }: Entry) => debtor }
const SEED = 20_261_121

const create = () => createOrderedIndex<Entry, Facet>(facets, ({ amount }) => amount)

const entry = (createdAt: number, sequence: number, more: Partial<Entry> = {}): Entry => ({
  name: `${createdAt}.${sequence}`,
  createdAt,
  sequence,
  row: 0,
  status: 'PENDING',
  amount: 1,
  ...more,
})

const names = (entries: readonly Entry[]) => entries.map(({ name }) => name)

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
      if (wanted !== undefined && (value === undefined || ![wanted].flat().includes(value))) return false
    }
    const { least = -Infinity, most = Infinity } = query.range ?? {}
    if (candidate.amount < least || candidate.amount > most) return false
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
    [2000, 1],
    [1000, 2],
    [2000, 3],
    [3000, 4],
    [2000, 5],
  ] as const) {
    index.add(entry(createdAt, sequence))
  }
  t.equal(index.size(), 5)
  const page = index.page({ limit: 10 })
  t.same(names(page.entries), ['3000.4', '2000.5', '2000.3', '2000.1', '1000.2'])
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

t.test('an index without a measure ignores bounds on it', async t => {
  const index = createOrderedIndex<Entry, Facet>(facets)
  index.add(entry(1000, 1, { amount: 5 }))
  t.equal(index.page({ limit: 1, range: { least: 6, most: 7 } }).totalCount, 1)
})

const STATUSES = ['PENDING', 'SETTLED', 'FAILED']
const DEBTORS = ['a', 'b', 'c', undefined]

/** What is done to an index, in numbers that are taken modulo what there is. */
const times = fc.nat(20).map(seconds => seconds * 1000)
const additions = fc.record({
  isPast: fc.boolean(),
  time: times,
  status: fc.constantFrom(...STATUSES),
  debtor: fc.constantFrom(...DEBTORS),
  amount: fc.nat(40),
})
const moves = fc.record({ at: fc.nat(), status: fc.constantFrom(...STATUSES), debtor: fc.constantFrom(...DEBTORS) })
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
const queries = fc.record({
  facets: maybe(
    fc.record({
      status: maybe(fc.oneof(fc.constantFrom(...STATUSES), fc.subarray(STATUSES))),
      debtor: maybe(fc.oneof(fc.constantFrom('a', 'x'), fc.subarray(['a', 'b', 'x']))),
    }),
  ),
  createdFrom: maybe(times),
  createdTo: maybe(times),
  range: maybe(fc.record({ least: fc.integer({ min: -1, max: 41 }), most: fc.nat(41) })),
  matches: maybe(fc.constant(({ sequence }: Entry) => sequence % 3 > 0)),
  after: maybe(fc.record({ createdAt: times, sequence: fc.nat(3000) })),
  limit: fc.oneof(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 500 })),
})

type Step = (index: ReturnType<typeof create>, all: Entry[]) => void

/** Random operations against sort, filter and slice. */
function againstNaive(t: Test, size: number, runs: number) {
  const operations = fc.oneof(
    {
      weight: 5,
      arbitrary: additions.map(
        ({ isPast, time, ...facts }): Step =>
          (index, all) => {
            const latest = Math.max(0, ...all.slice(-1).map(({ createdAt }) => createdAt))
            const fresh = entry(isPast ? time : latest + (time % 2000), all.length + 1, facts)
            index.add(fresh)
            all.push(fresh)
          },
      ),
    },
    {
      weight: 2,
      arbitrary: moves.map(
        ({ at, status, debtor }): Step =>
          (index, all) => {
            const moving = all[at % all.length]
            if (moving === undefined) return
            const from = { status: moving.status, debtor: moving.debtor }
            Object.assign(moving, { status, debtor })
            index.moved(moving, 'status', from.status, status)
            index.moved(moving, 'debtor', from.debtor, debtor)
          },
      ),
    },
    {
      weight: 2,
      arbitrary: queries.map(
        (query): Step =>
          (index, all) => {
            const { examined, ...page } = index.page(query)
            t.same({ ...page, entries: names(page.entries) }, naivePage(all, query), JSON.stringify(query))
            t.ok(examined >= 0)
          },
      ),
    },
  )
  fc.assert(
    fc.property(fc.array(operations, { minLength: size, maxLength: size }), steps => {
      const index = create()
      const all: Entry[] = []
      for (const step of steps) step(index, all)
      t.equal(index.size(), all.length)
      const oldestFirst = [...all].sort((a, b) => newestFirst(b, a))
      for (const status of STATUSES) {
        t.same(
          names(index.withFacet('status', status)),
          names(oldestFirst.filter(candidate => candidate.status === status)),
          `${status}, oldest first`,
        )
      }
      // All pages of one walk give each record once.
      const walked: string[] = []
      for (let after: Position | undefined; ; ) {
        const page = index.page({ limit: 77, after })
        walked.push(...names(page.entries))
        after = page.entries.at(-1)
        if (!page.hasMore) break
      }
      t.same(walked, names([...all].sort(newestFirst)), 'walk')
    }),
    { seed: SEED, numRuns: runs },
  )
}

t.test('decisions §5: against sort, filter and slice, few records', async t => againstNaive(t, 150, 60))

t.test('decisions §5: against sort, filter and slice, many blocks of records', async t => againstNaive(t, 3000, 2))

t.test('decisions §5: a page looks at its own records, not at all of them', async t => {
  const COUNT = 100_000
  interface Row extends Indexed {
    readonly status: string
    readonly mandate: string
    readonly amount: number
  }
  const index = createOrderedIndex<Row, 'status' | 'mandate'>(
    { status: ({ status }) => status, mandate: ({ mandate }) => mandate },
    ({ amount }) => amount,
  )
  const all: Row[] = []
  for (let sequence = 1; sequence <= COUNT; sequence++) {
    const status = sequence % 1000 === 0 ? 'FAILED' : sequence % 10 === 0 ? 'PENDING' : 'SETTLED'
    // A step prime to the count deals out each amount up to it once, in no order of time.
    const amount = (sequence * 7_919) % COUNT
    const row = { createdAt: sequence * 1000, sequence, row: 0, status, mandate: `M${sequence % 197}`, amount }
    index.add(row)
    all.push(row)
  }
  const middle = { createdAt: 50_000_000, sequence: 50_000 }
  const above = (least: number) => ({ least, most: Infinity })
  /** In blocks of up to 512 rows: looking at 100 costs one or two. */
  const cases: [name: string, query: Omit<Query<Row, 'status' | 'mandate'>, 'limit'>, rows: number][] = [
    ['first page', {}, 1024],
    ['late page', { after: middle }, 1024],
    ['a common status', { facets: { status: 'SETTLED' } }, 1024],
    ['a rare status', { facets: { status: 'FAILED' } }, 1024],
    ['late page of a status', { facets: { status: 'PENDING' }, after: middle }, 1024],
    ['two of three statuses', { facets: { status: ['FAILED', 'PENDING'] } }, 2048],
    ['a mandate', { facets: { mandate: 'M7' } }, 1024],
    ['from', { createdFrom: 50_000_000 }, 1024],
    ['to', { createdTo: 50_000_000 }, 1024],
    ['amounts of half', { range: above(50_000) }, 1024],
    ['amounts of a tenth', { range: above(90_000) }, 2048],
    ['amounts of a hundredth', { range: above(99_000) }, 6000],
    ['late page of amounts of a hundredth', { range: above(99_000), after: middle }, 6000],
    ['amounts of a thousandth', { range: above(99_900) }, 512],
    ['no amount', { range: above(COUNT) }, 0],
    // Combinations look at the shortest list among them, and at what the page takes.
    ['status and mandate', { facets: { status: 'SETTLED', mandate: 'M7' } }, 2 * 512],
    ['status and amount', { facets: { status: 'PENDING' }, range: above(50_000) }, 10_000 + 1024],
    ['status and few amounts', { facets: { status: 'SETTLED' }, range: above(99_900) }, 2 * 512],
    ['days and amount', { createdFrom: 90_000_000, range: above(50_000) }, 10_001 + 1024],
    ['half of the time and few amounts', { createdFrom: 50_000_000, range: above(99_900) }, 2 * 512],
    [
      'all but one status, amount, time',
      {
        facets: { status: ['SETTLED', 'PENDING'] },
        createdFrom: 10_000_000,
        range: above(20_000),
      },
      COUNT,
    ],
  ]
  const isAmong = (wanted: string | readonly string[] | undefined, value: string) =>
    wanted === undefined || [wanted].flat().includes(value)
  for (const [name, query, bound] of cases) {
    const { facets = {}, createdFrom = 0, createdTo = Infinity, range = above(0) } = query
    const count = all.filter(
      row =>
        createdFrom <= row.createdAt &&
        row.createdAt <= createdTo &&
        range.least <= row.amount &&
        isAmong(facets.status, row.status) &&
        isAmong(facets.mandate, row.mandate),
    ).length
    const page = index.page({ ...query, limit: 100 })
    t.equal(page.totalCount, count, `${name}: count`)
    t.ok(page.examined <= bound, `${name}: looks at ${page.examined} rows, at most ${bound}`)
  }
})
