import t from 'tap'
import type { Position } from '../../src/core/ordered-index.js'
import { createSortedList } from '../../src/core/sorted-list.js'

/** A small generator of numbers below a bound, from a seed: no test draws its own luck. */
function random(seed: number) {
  let state = seed
  return (below: number) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state % below
  }
}

const inOrder = (a: Position, b: Position) => a.createdAt - b.createdAt || a.sequence - b.sequence

t.test('it holds what a plain sorted array holds, after any inserts and removals', async t => {
  for (let seed = 1; seed <= 5; seed++) {
    const draw = random(seed)
    const list = createSortedList<Position>()
    const naive: Position[] = []
    for (let sequence = 1; sequence <= 4000; sequence++) {
      if (draw(3) === 0 && naive.length > 0) {
        const [gone] = naive.splice(draw(naive.length), 1)
        list.remove(gone as Position)
      } else {
        const entry = { createdAt: seed % 2 === 0 ? draw(50) : sequence, sequence }
        list.insert(entry)
        naive.push(entry)
        naive.sort(inOrder)
      }
    }
    t.same([...list], naive, `seed ${seed}`)
    t.equal(list.length, naive.length)

    for (let round = 0; round < 50; round++) {
      const place = { createdAt: draw(4100), sequence: draw(4100) }
      t.equal(list.countBefore(place), naive.filter(entry => inOrder(entry, place) < 0).length)
      const start = draw(naive.length)
      const end = start + draw(naive.length - start + 1)
      const isOdd = ({ sequence }: Position) => sequence % 2 === 1
      t.equal(list.countMatches(start, end, isOdd), naive.slice(start, end).filter(isOdd).length)

      const walk = list.walkBack(end)
      const walked: Position[] = []
      for (let entry = walk.peek(); entry !== undefined; entry = walk.peek()) {
        walked.push(entry)
        walk.step()
      }
      t.same(walked, naive.slice(0, end).reverse())
    }
  }
})

t.test('an empty list, and one that was emptied, has nothing', async t => {
  const list = createSortedList<Position>()
  const entry = { createdAt: 1, sequence: 1 }
  for (const _ of [1, 2]) {
    t.same([...list], [])
    t.equal(list.length, 0)
    t.equal(list.countBefore(entry), 0)
    t.equal(
      list.countMatches(0, 0, () => true),
      0,
    )
    t.equal(list.walkBack(0).peek(), undefined)
    list.insert(entry)
    list.remove(entry)
  }
})
