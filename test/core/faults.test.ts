import t, { type Test } from 'tap'
import { createIds } from '../../src/core/ids.js'
import { createClock } from '../../src/core/time/clock.js'
import type { Delay, Fault, FaultRequest } from '../../src/sandbox/faults/state.js'
import { createFaults } from '../../src/sandbox/faults/state.js'

/** Arms an endless fault and applies it to a number of requests. Returns the fault and the delays of the requests. */
function run({ effect, probability = 1 }: Pick<FaultRequest, 'effect' | 'probability'>, requests = 1000) {
  const clock = createClock({ now: 0, mode: 'frozen', rate: 1, realNow: 0 })
  const faults = createFaults({ clock, ids: createIds('test', 'acme') })
  const operations = [{ operation: 'GET /list', method: 'GET', path: '/list', regions: ['EU'] }] as const
  faults.arm({ effect, probability, times: null }, operations, 0)
  const request = { method: 'GET', path: '/list', region: 'EU' } as const
  const delays = Array.from({ length: requests }, () => faults.apply(request, 0).delay)
  return { fault: faults.list()[0] as Fault, delays }
}

const delaysOf = (delay: Delay) => run({ effect: { kind: 'delay', ...delay } }).delays

/** Asserts a number of hits, up to five standard deviations of a binomial distribution. */
function assertShare(t: Test, hits: number, of: number, share: number) {
  const most = 5 * Math.sqrt(of * share * (1 - share))
  t.ok(Math.abs(hits - of * share) < most, `${hits} of ${of} at ${share}`)
}

t.test('control plane, Delay, overload or break answers: probability is the share of the requests', async t => {
  for (const probability of [0.01, 0.3, 0.5, 0.99]) {
    const { fault } = run({ effect: { kind: 'error', status: 500 }, probability }, 4000)
    t.equal(fault.seen, 4000)
    assertShare(t, fault.fired, 4000, probability)
  }
})

t.test('control plane, Delay, overload or break answers: a uniform delay has min and max as bounds', async t => {
  t.same([...new Set(delaysOf({ distribution: 'uniform', min: 3, max: 6 }))].sort(), [3, 4, 5, 6])
  const wide = delaysOf({ distribution: 'uniform', min: 0, max: 1000 })
  assertShare(t, wide.filter(delay => delay < 500).length, 1000, 0.5)
})

t.test('control plane, Delay, overload or break answers: a lognormal delay has a median, sigma and max', async t => {
  const delays = delaysOf({ distribution: 'lognormal', median: 200, sigma: 0.5, max: 700 })
  t.ok(delays.every(delay => Number.isInteger(delay) && delay > 0 && delay <= 700))
  assertShare(t, delays.filter(delay => delay < 200).length, 1000, 0.5)
  const within = delays.filter(delay => delay > 200 / Math.exp(0.5) && delay < 200 * Math.exp(0.5))
  assertShare(t, within.length, 1000, 0.683)
  t.same([...new Set(delaysOf({ distribution: 'lognormal', median: 200, sigma: 0, max: 150 }))], [150])
  const wild = delaysOf({ distribution: 'lognormal', median: 300_000, sigma: 10, max: 300_000 })
  t.ok(wild.every(delay => delay >= 0 && delay <= 300_000))
})
