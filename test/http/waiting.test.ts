import t from 'tap'
import type { Follower, Following } from '../../src/http/waiting.js'
import { createWaiting } from '../../src/http/waiting.js'
import { manualTime } from '../manual-time.js'

// control plane, Time: while somebody waits on events, the HTTP layer wakes at the tenant's next due time; a sandbox
// at rest costs nothing.

/** One who notes when it looks, in milliseconds from the start, and answers as it is told. */
function watcher(answers: (number | null)[], time = manualTime(0)) {
  const looks: number[] = []
  const follower: Follower = {
    look() {
      looks.push(time.now())
      const answer = answers.length > 1 ? answers.shift() : answers[0]
      return answer as number | null
    },
  }
  return { time, waiting: createWaiting(time.timers), looks, follower }
}

t.test('control plane, Time: whoever waits looks at once', async t => {
  const { time, waiting, looks, follower } = watcher([null])
  waiting.follow('acme', follower)
  t.same(looks, [0])
  t.equal(time.pending, 0, 'and when it is over, no timer is left')
  waiting.wake('acme')
  time.pass(1_000_000)
  t.same(looks, [0], 'nor does it look again')
})

t.test('control plane, Time: it looks again when it has said, and when it is woken', async t => {
  const { time, waiting, looks, follower } = watcher([1000, 500, 2000, 1000, null])
  waiting.follow('acme', follower)
  t.equal(time.pending, 1)
  time.pass(1000)
  t.same(looks, [0, 1000])
  time.pass(499)
  waiting.wake('acme')
  t.same(looks, [0, 1000, 1499])
  t.equal(time.pending, 1, 'the earlier timer is called off')
  time.pass(1999)
  t.same(looks.length, 3)
  time.pass(1)
  t.same(looks, [0, 1000, 1499, 3499])
  time.pass(1000)
  t.same(looks.length, 5)
  t.equal(time.pending, 0)
})

t.test('control plane, Time: at the latest after a minute it looks, also where nothing is due', async t => {
  for (const never of [Infinity, 60_001]) {
    const { time, waiting, looks, follower } = watcher([never])
    waiting.follow('acme', follower)
    time.pass(59_999)
    t.same(looks, [0])
    time.pass(1)
    t.same(looks, [0, 60_000])
  }
})

t.test('control plane, Time: what is due already is looked at right away, but not in the same breath', async t => {
  const { time, waiting, looks, follower } = watcher([0, null])
  waiting.follow('acme', follower)
  t.same(looks, [0])
  time.pass(0)
  t.same(looks, [0, 0])
})

t.test('control plane, Time: a wait that is called off looks no more', async t => {
  const { time, waiting, looks, follower } = watcher([1000])
  const following = waiting.follow('acme', follower)
  following.leave()
  t.equal(time.pending, 0)
  waiting.wake('acme')
  following.look()
  time.pass(10_000)
  t.same(looks, [0])
  following.leave()
  t.equal(time.pending, 0, 'and may be called off twice')
})

t.test('control plane, GET /events: a follower can be made to look', async t => {
  const { waiting, looks, follower, time } = watcher([1000])
  const following = waiting.follow('acme', follower)
  following.look()
  t.same(looks, [0, 0])
  t.equal(time.pending, 1)
})

t.test('decisions §3: those of another tenant are not woken', async t => {
  const time = manualTime(0)
  const acme = watcher([1000], time)
  const other = watcher([1000], time)
  const waiting = createWaiting(time.timers)
  waiting.follow('acme', acme.follower)
  waiting.follow('other', other.follower)
  waiting.wake('acme')
  waiting.wake('nobody')
  t.equal(acme.looks.length, 2)
  t.equal(other.looks.length, 1)
})

t.test('control plane, GET /events: all of a tenant are woken, but for one that leaves on the way', async t => {
  const time = manualTime(0)
  const waiting = createWaiting(time.timers)
  const looks: string[] = []
  let leaves: Following | undefined
  const follow = (name: string, look: () => void = () => {}) =>
    waiting.follow('acme', {
      look() {
        looks.push(name)
        look()
        return 1000
      },
    })
  follow('first', () => leaves?.leave())
  leaves = follow('second')
  follow('third')
  looks.length = 0
  waiting.wake('acme')
  t.same(looks, ['first', 'third'])
  t.equal(time.pending, 2)
})

t.test('control plane, GET /events: whoever comes when all have gone is woken as they were', async t => {
  const time = manualTime(0)
  const waiting = createWaiting(time.timers)
  const early = watcher([1000], time)
  const late = watcher([1000], time)
  const following = waiting.follow('acme', early.follower)
  following.leave()
  waiting.follow('acme', late.follower)
  // Of a wait that is over long since.
  following.leave()
  waiting.wake('acme')
  t.same([early.looks.length, late.looks.length], [1, 2])
})
