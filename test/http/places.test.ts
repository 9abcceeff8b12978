import { setImmediate as nextRound } from 'node:timers/promises'
import t from 'tap'
import type { Place, Places } from '../../src/http/places.js'
import { createPlaces } from '../../src/http/places.js'

// control plane, Large answers: Clients take turns, and one client leaves a place to the others.

/** Works that note when they begin, under the name of their owner and their number. */
function worksOf(places: Places) {
  const begun: string[] = []
  const held = new Map<string, Place>()
  const refusals = new Map<string, (reason: Error) => void>()
  return {
    begun,
    refusals,
    place: (name: string) => held.get(name) as Place,
    async add(owner: string, number: number, size = 1) {
      const name = `${owner}${number}`
      const watch = (giveUp: (reason: Error) => void) => {
        refusals.set(name, giveUp)
        return () => refusals.delete(name)
      }
      held.set(name, await places.enter(owner, watch, size))
      begun.push(name)
    },
  }
}

t.test('control plane, Large answers: clients take turns, and each is served in its order', async t => {
  const places = createPlaces(1)
  const { begun, place, add } = worksOf(places)
  for (const number of [1, 2, 3, 4]) void add('a', number)
  for (const number of [1, 2]) void add('b', number)
  void add('c', 1)
  await nextRound()
  while (places.inUse() > 0) {
    place(begun.at(-1) as string).leave()
    await nextRound()
  }
  t.same(begun, ['a1', 'a2', 'b1', 'c1', 'a3', 'b2', 'a4'])
})

t.test('control plane, Large answers: one client leaves a place to the others, also while it is paused', async t => {
  const places = createPlaces(4, { mostOfOwner: 3, mostPaused: 2 })
  const { begun, place, refusals, add } = worksOf(places)
  for (const number of [1, 2, 3, 4, 5]) void add('a', number)
  await nextRound()
  t.same(begun, ['a1', 'a2', 'a3'])
  for (const number of [1, 2, 3]) void add('b', number)
  await nextRound()
  t.same(begun.slice(3), ['b1'])
  // Those of b get the places of two that wait for their client. A third has to keep its own.
  void add('c', 1)
  for (const number of [1, 1, 2, 3]) place(`a${number}`).pause()
  await nextRound()
  t.same(begun.slice(4), ['b2', 'c1'])
  t.same([places.countOf('a'), places.countOf('b'), places.countOf('d')], [5, 3, 0])
  const back = place('a1')
    .goOn()
    ?.then(() => begun.push('a1 again'))
  t.equal(places.inUse(), 4 + 2 + 3, 'four works, two that are paused, and three that wait')
  place('b1').leave()
  await back
  await nextRound()
  t.same(begun.slice(6), ['a1 again'], 'before those that have not begun')
  t.equal(place('a1').goOn(), undefined)
  // One that is paused can wait in vain, and end.
  const inVain = place('a2').goOn()
  refusals.get('a2')?.(new Error('gone'))
  await t.rejects(inVain as Promise<void>, { message: 'gone' })
  for (const name of ['a1', 'a2', 'c1']) {
    place(name).leave()
    place(name).pause()
    t.equal(place(name).goOn(), undefined)
  }
  await nextRound()
  t.same(begun.slice(7), ['b3', 'a4'])
  for (const name of ['a3', 'a4', 'b2', 'b3']) place(name).leave()
  await nextRound()
  place('a5').pause()
  t.equal(place('a5').goOn(), undefined, 'there is room')
  place('a5').leave()
  t.equal(places.inUse(), 0)
  for (const owner of 'defgh') void add(owner, 1)
  await nextRound()
  t.same(begun.slice(10), ['d1', 'e1', 'f1', 'g1'])
})

t.test(
  'control plane, Large answers: a work that goes on comes before those of its client that have not begun',
  async t => {
    const places = createPlaces(1, { mostPaused: 1 })
    const { begun, place, add } = worksOf(places)
    for (const number of [1, 2, 3]) void add('a', number)
    await nextRound()
    place('a1').pause()
    await nextRound()
    const back = place('a1').goOn()
    place('a2').leave()
    await back
    t.same(begun, ['a1', 'a2'])
    place('a1').leave()
    await nextRound()
    place('a3').leave()
    t.equal(places.inUse(), 0)
  },
)

t.test('control plane, Large bodies: a large one waits in its turn, and no longer than it wants', async t => {
  const places = createPlaces(10)
  const { begun, place, refusals, add } = worksOf(places)
  void add('', 1, 20)
  const second = add('', 2, 8)
  const third = add('', 3, 3)
  await nextRound()
  t.same(begun, ['1'], 'without others, one can be larger')
  place('1').leave()
  await nextRound()
  t.same(begun, ['1', '2'])
  void add('b', 1)
  void add('', 4, 1)
  const fifth = add('', 5, 20)
  void add('', 6, 1)
  await nextRound()
  t.same(begun, ['1', '2'], 'those behind it do not pass')
  refusals.get('3')?.(new Error('gone'))
  await t.rejects(third, { message: 'gone' })
  await nextRound()
  t.same(begun, ['1', '2', '4', 'b1'])
  refusals.get('5')?.(new Error('gone'))
  await t.rejects(fifth, { message: 'gone' })
  await second
  t.same([...refusals.keys()], ['6'])
  for (const name of ['2', 'b1', '4', '6']) {
    place(name).leave()
    await nextRound()
  }
  t.same([begun, places.inUse(), refusals.size], [['1', '2', '4', 'b1', '6'], 0, 0])
})
