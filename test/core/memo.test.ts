import t from 'tap'
import { latest, memoized } from '../../src/core/memo.js'

/** A function that tells how often it was asked. */
function counted() {
  let calls = 0
  return { of: (key: number) => [key, ++calls], calls: () => calls }
}

t.test('issue 4, guard: what follows from a date is worked out once, for so many dates', async t => {
  const { of, calls } = counted()
  const known = memoized(of)
  for (let round = 0; round < 3; round++) for (let key = 0; key < 4096; key++) t.equal(known(key)[0], key)
  t.equal(calls(), 4096)
  t.equal(known(4096)[0], 4096)
  t.equal(known(0)[0], 0)
  t.equal(calls(), 4098, 'one too many, and all are forgotten')
})

t.test('issue 4, guard: what follows from the time is worked out when it changes', async t => {
  const { of, calls } = counted()
  const known = latest(of)
  for (const key of [1, 1, 1, 2, 2, 1]) t.equal(known(key)[0], key)
  t.equal(calls(), 3)
})
