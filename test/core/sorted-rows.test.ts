import fc from 'fast-check'
import t from 'tap'
import { createNumbers } from '../../src/core/columns.js'
import { createNewest } from '../../src/core/newest.js'
import type { Stretch } from '../../src/core/sorted-rows.js'
import { SortedRows } from '../../src/core/sorted-rows.js'

const SEED = 20_261_121

/** Rows with these values, by number. */
function columnOf(values: readonly number[]) {
  const column = createNumbers()
  for (const [row, value] of values.entries()) column.set(row, value)
  return column
}

const flat = (stretches: Iterable<Stretch>) =>
  [...stretches].flatMap(({ rows, from, to }) => [...rows.subarray(from, to)].reverse())

t.test('it holds what a plain sorted array holds, after any inserts and removals', async t => {
  const run = fc.record({
    // Few values make ties, and a rising base makes rows come mostly at the end.
    spread: fc.constantFrom(1, 50, 100_000),
    rise: fc.constantFrom(0, 1, 500),
    draws: fc.array(fc.nat(100_000), { minLength: 2500, maxLength: 2500 }),
    removals: fc.constantFrom(0, 3, 5),
    probes: fc.array(fc.tuple(fc.nat(100_000), fc.nat(3000)), { minLength: 30, maxLength: 30 }),
  })
  fc.assert(
    fc.property(run, ({ spread, rise, draws, removals, probes }) => {
      const values = draws.map((draw, row) => (draw % spread) + row * rise)
      const list = new SortedRows(columnOf(values))
      const inOrder = (a: number, b: number) => (values[a] as number) - (values[b] as number) || a - b
      const naive: number[] = []
      for (const [row, draw] of draws.entries()) {
        list.insert(row)
        naive.push(row)
        if (removals > 0 && draw % 7 < removals) {
          const [gone] = naive.splice(draw % naive.length, 1)
          list.remove(gone as number)
        }
        // What was asked before must not spoil what is asked later.
        if (row % 250 === 0) list.rank(draw, row)
      }
      naive.sort(inOrder)
      t.equal(list.length, naive.length)
      t.same([...list], naive)
      for (const [value, row] of probes) {
        const rank = naive.filter(other => {
          const difference = (values[other] as number) - value
          return difference < 0 || (difference === 0 && other < row)
        }).length
        if (list.rank(value, row) !== rank) t.equal(list.rank(value, row), rank, `rank of ${value}, ${row}`)
        const [start, end] = [Math.min(rank, row % (naive.length + 1)), rank]
        t.same(flat(list.back(start, end)), naive.slice(start, end).reverse(), `from ${start} to ${end}`)
      }
    }),
    { seed: SEED, numRuns: 8 },
  )
})

t.test('an empty list, and one that was emptied, has nothing', async t => {
  const list = new SortedRows(columnOf([1]))
  for (const _ of [1, 2]) {
    t.same([...list], [])
    t.equal(list.length, 0)
    t.equal(list.rank(1, 1), 0)
    t.same([...list.back(0, 0)], [])
    list.insert(0)
    list.remove(0)
  }
})

t.test('of what it is offered it keeps the newest', async t => {
  const run = fc.tuple(fc.array(fc.nat(30), { maxLength: 200 }), fc.integer({ min: 1, max: 40 }), fc.boolean())
  fc.assert(
    fc.property(run, ([times, capacity, isReversed]) => {
      const newest = createNewest(capacity, columnOf(times))
      const rows = [...times.keys()]
      const newestFirst = [...rows].sort((a, b) => (times[b] as number) - (times[a] as number) || b - a)
      for (const row of isReversed ? rows.reverse() : rows) newest.offer(row)
      const kept = newestFirst.slice(0, capacity)
      t.equal(newest.least(), kept.length < capacity ? -Infinity : times[kept.at(-1) as number])
      t.same(newest.take(), kept)
      t.same(newest.take(), [], 'once')
    }),
    { seed: SEED, numRuns: 300 },
  )
})
