import fc from 'fast-check'
import t from 'tap'
import type { Clock, DueWork, Schedulable } from '../../src/core/time/clock.js'
import { createClock } from '../../src/core/time/clock.js'
import { LAST_INSTANT } from '../../src/core/time/time.js'

const START = Date.parse('2026-11-02T09:00:00Z')
const SECOND = 1000

interface Item extends Schedulable {
  readonly name: string
}

const frozen = (now = START) => createClock({ now, mode: 'frozen', rate: 1, realNow: 0 })
const running = (rate = 1, now = START) => createClock({ now, mode: 'running', rate, realNow: 0 })
const item = (sequence: number): Item => ({ name: `#${sequence}`, sequence, dueAt: null })

/** Notes what was done, and when, in seconds since START. */
function journal(clock: Clock) {
  const done: [number, string][] = []
  const work: DueWork<Item> = ({ name }) => done.push([(clock.now() - START) / SECOND, name])
  return { done, work }
}

t.test('control plane, GET /clock; control plane, PATCH /clock: it runs at its pace, as a naive clock', async () => {
  /** Knows the exact time at the latest real time. */
  function createNaive() {
    const clock = { exact: START, real: 0, mode: 'running', rate: 1 }
    const whole = (exact: number) => Math.floor(exact / SECOND) * SECOND
    const exactAt = (real: number) =>
      clock.exact + (clock.mode === 'running' ? Math.max(0, real - clock.real) * clock.rate : 0)
    return {
      now: () => whole(clock.exact),
      timeAt: (real: number) => whole(exactAt(real)),
      realTimeOf: (at: number) => (clock.mode === 'running' ? clock.real + (at - clock.exact) / clock.rate : null),
      sync: (real: number) => Object.assign(clock, { exact: exactAt(real), real: Math.max(real, clock.real) }),
      advance: (to: number) => {
        clock.exact += Math.max(0, to - whole(clock.exact))
      },
      // A clock that stands has whole seconds only.
      configure: (change: { mode?: string; rate?: number }) =>
        Object.assign(clock, clock.mode === 'frozen' && { exact: whole(clock.exact) }, change),
    }
  }
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ real: fc.integer({ min: -5000, max: 100_000 }) }) },
    fc.record({ rate: fc.constantFrom(1, 7, 60, 86_400) }),
    fc.record({ mode: fc.constantFrom('running' as const, 'frozen' as const) }),
    fc.record({ advance: fc.integer({ min: -10, max: 1000 }) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), steps => {
      const [clock, naive] = [running(), createNaive()]
      let real = 0
      return steps.every(step => {
        for (const one of [clock, naive]) {
          if ('real' in step) one.sync(real + step.real)
          else if ('advance' in step) one.advance(naive.now() + step.advance * SECOND)
          else one.configure(step)
        }
        if ('real' in step) real = Math.max(real, real + step.real)
        const at = clock.now() + 60 * SECOND
        const [reached, expected] = [clock.realTimeOf(at), naive.realTimeOf(at)]
        const isReached = reached === expected || Math.abs(Number(reached) - Number(expected)) < 0.001
        const isSame = [-500, 1234].every(later => clock.timeAt(real + later) === naive.timeAt(real + later))
        return isReached && isSame && clock.now() === naive.now()
      })
    }),
    { seed: 1, numRuns: 300 },
  )
})

t.test('control plane, Skip to payday: a running clock does what has become due', async t => {
  const clock = running(60)
  const { done, work } = journal(clock)
  clock.schedule(item(1), START + 90 * SECOND, work)
  clock.schedule(item(2), START + 60 * SECOND, work)
  clock.sync(999)
  t.same(done, [])
  clock.sync(10_000)
  t.same(done, [
    [60, '#2'],
    [90, '#1'],
  ])
  t.equal(clock.now(), START + 600 * SECOND)
})

t.test(
  'control plane, Explain the state of a record: due work that throws is reported once, and holds up nothing else',
  async t => {
    const failures: Error[] = []
    const start = { now: START, mode: 'running', rate: 1, realNow: 0 } as const
    const clock = createClock(start, error => failures.push(error))
    const { done, work } = journal(clock)
    const [first, second] = [item(1), item(2)]
    const fails: DueWork<Item> = ({ name }) => {
      throw new Error(name)
    }
    clock.schedule(first, START + 10 * SECOND, fails)
    clock.schedule(second, START + 20 * SECOND, work)
    clock.sync(15_000)
    t.equal(clock.now(), START + 15 * SECOND, 'the clock goes on')
    t.equal(first.dueAt, null)
    t.equal(clock.nextDue(), second.dueAt)
    t.notOk(clock.isDueAt(15_000))
    clock.sync(30_000)
    t.same(done, [[20, '#2']])
    t.same(
      failures.map(({ message }) => message),
      ['#1'],
    )
  },
)

t.test(
  'control plane, Skip to payday: work is done in order, each at its time, as by a naive list of plans',
  async () => {
    const ITEMS = 8
    const plan = fc.record({
      target: fc.integer({ min: 0, max: ITEMS - 1 }),
      delay: fc.oneof(fc.constant(null), fc.integer({ min: -3, max: 20 })),
    })
    type Plan = { target: number; delay: number | null }
    const step = fc.oneof({ weight: 4, arbitrary: plan }, fc.record({ advance: fc.integer({ min: 0, max: 8 }) }))
    // The plans that the n-th piece of work makes.
    const effects = fc.array(fc.array(plan, { maxLength: 2 }), { maxLength: 20 })

    /** Plans and does work in the simplest way. */
    function createNaive(done: (sequence: number) => void) {
      const plans = new Map<number, number>()
      let now = START
      return {
        now: () => now,
        nextDue: () => (plans.size === 0 ? null : Math.min(...plans.values())),
        dueAt: (sequence: number) => plans.get(sequence) ?? null,
        plan({ target, delay }: Plan) {
          if (delay === null) plans.delete(target)
          else plans.set(target, Math.max(now, now + delay * SECOND))
        },
        advanceTo(to: number) {
          for (;;) {
            const [due] = [...plans].filter(([, at]) => at <= to).sort((a, b) => a[1] - b[1] || a[0] - b[0])
            if (due === undefined) break
            plans.delete(due[0])
            now = due[1]
            done(due[0])
          }
          now = to
        },
      }
    }

    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), effects, (steps, effects) => {
        const expected: string[] = []
        const naive = createNaive(sequence => {
          const plans = effects[expected.length] ?? []
          expected.push(`${naive.now()} #${sequence}`)
          plans.forEach(naive.plan)
        })

        const done: string[] = []
        const clock = frozen()
        const items = Array.from({ length: ITEMS }, (_, sequence) => item(sequence))
        const plan = ({ target, delay }: Plan) =>
          clock.schedule(items[target] as Item, delay === null ? null : clock.now() + delay * SECOND, work)
        const work: DueWork<Item> = ({ sequence }) => {
          const plans = effects[done.length] ?? []
          done.push(`${clock.now()} #${sequence}`)
          plans.forEach(plan)
        }

        const states = [...steps, { advance: 1000 }].map(step => {
          if ('advance' in step) {
            const to = clock.now() + step.advance * SECOND
            clock.advance(to)
            naive.advanceTo(to)
          } else {
            plan(step)
            naive.plan(step)
          }
          const areDueAlike = items.every(({ sequence, dueAt }) => dueAt === naive.dueAt(sequence))
          return [areDueAlike, clock.now() === naive.now(), clock.nextDue() === naive.nextDue()]
        })
        return states.flat().every(Boolean) && done.join() === expected.join()
      }),
      { seed: 1, numRuns: 500 },
    )
  },
)

t.test('control plane, GET /clock: a running clock stops at the last moment that can be written', async t => {
  const clock = running(86_400, LAST_INSTANT - 10 * SECOND)
  let done = 0
  clock.schedule(item(1), LAST_INSTANT + SECOND, () => done++)
  for (const real of [3_600_000, 7_200_000]) {
    clock.sync(real)
    t.equal(clock.now(), LAST_INSTANT)
  }
  t.same([done, clock.nextDue()], [0, null], 'work due after it is never done')
})

t.test('control plane, Wait for an event: work is done at the real time of its instant, not earlier', async () => {
  const rates = fc.constantFrom(1, 3, 7, 60, 86_399, 86_400)
  fc.assert(
    fc.property(rates, fc.integer({ min: 1, max: 1_000_000 }), (rate, seconds) => {
      const clock = running(rate)
      clock.sync(1234)
      clock.configure({ rate })
      const { done, work } = journal(clock)
      const at = clock.now() + seconds * SECOND
      clock.schedule(item(1), at, work)
      const real = Math.ceil(clock.realTimeOf(at) as number)
      clock.sync(real - 1)
      const isEarly = done.length > 0
      clock.sync(real)
      return !isEarly && done.join() === [[(at - START) / SECOND, '#1']].join()
    }),
    { seed: 2, numRuns: 300 },
  )
})

t.test('control plane, Keep a demo across restarts: a read does no due work, and a pace can be restored', async t => {
  const clock = running()
  const { done, work } = journal(clock)
  const before = clock.state()
  clock.schedule(item(1), START + 30 * SECOND, work)
  t.same([clock.isDueAt(29_999), clock.isDueAt(30_000)], [false, true])
  t.same([clock.now(), done], [START, []])
  clock.configure({ rate: 60 })
  clock.restore(before)
  t.same(clock.state(), { now: START, mode: 'running', rate: 1, anchor: { real: 0, virtual: START } })
  clock.sync(30_000)
  t.same(done, [[30, '#1']])
})
