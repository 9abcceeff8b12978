import t, { type Test } from 'tap'
import { ApiError } from '../../src/core/errors.js'
import { createIds } from '../../src/core/ids.js'
import type { Operation } from '../../src/core/operations.js'
import { createClock } from '../../src/core/time/clock.js'
import type { Delay, Effect, Fault, FaultRequest, FaultTarget } from '../../src/features/faults/state.js'
import { createFaults } from '../../src/features/faults/state.js'

const START = Date.parse('2026-11-02T09:00:00Z')

const operations: Operation[] = [
  { operation: 'POST /token', method: 'POST', path: '/token', regions: undefined },
  { operation: 'GET /list', method: 'GET', path: '/list', regions: ['EU', 'US'] },
  { operation: 'POST /list', method: 'POST', path: '/list', regions: ['EU'] },
]

interface Life {
  seed?: string
  scope?: string
  earlier?: readonly Fault[]
  counters?: Readonly<Record<string, number>>
}

/** The faults of a tenant at START, with the operations above and a real time of 0, unless a test says otherwise. */
function create({ seed = 'test', scope = 'acme', earlier, counters }: Life = {}) {
  const clock = createClock({ now: START, mode: 'frozen', rate: 1, realNow: 0 })
  const ids = createIds(seed, scope, counters)
  const faults = createFaults({ clock, ids }, earlier)
  return {
    ...faults,
    clock,
    ids,
    arm: (effect: Effect, request: Omit<FaultRequest, 'effect'> = {}, realNow = 0) =>
      faults.arm({ ...request, effect }, operations, realNow),
    apply: (request: Partial<FaultTarget> = {}, realNow = 0) =>
      faults.apply({ method: 'GET', path: '/list', region: 'EU', ...request }, realNow),
    matches: (request: Partial<FaultTarget> = {}, realNow = 0) =>
      faults.matches({ method: 'GET', path: '/list', region: 'EU', ...request }, realNow),
  }
}

type Plane = ReturnType<typeof create>

const error = (status: number): Effect => ({ kind: 'error', status })
const delay = (ms: number): Effect => ({ kind: 'delay', ms })
const spread = (ms: Delay): Effect => ({ kind: 'delay', ms })

/** The counts and the state of every fault, in the order of the list. */
const standing = (faults: Plane, realNow = 0) =>
  faults.list().map(fault => [fault.id, fault.seen, fault.fired, faults.stateOf(fault, realNow)])

/** In which of so many requests in a row something fires. */
const pattern = (faults: Plane, requests: number) =>
  Array.from({ length: requests }, () => (faults.apply().fired.length > 0 ? 'x' : '.')).join('')

function refused(t: Test, act: () => unknown, code: string, field: string | null) {
  try {
    act()
    t.fail(`${code} on ${field}`)
  } catch (thrown) {
    const { code: given, field: named } = thrown as ApiError
    t.ok(thrown instanceof ApiError)
    t.same([given, named], [code, field], (thrown as Error).message)
  }
}

// --------------------------------------------------------------------------------------------- how often and for whom

t.test('control plane: a fault fires once, where nothing is said, and stays listed as spent', async t => {
  const faults = create()
  t.match(faults.arm(error(500)), { id: 'fault-1', match: {}, times: 1, skip: 0, probability: 1, seen: 0, fired: 0 })
  t.same(faults.apply().effect, error(500))
  t.equal(faults.apply().effect, null)
  t.same(standing(faults), [['fault-1', 1, 1, 'spent']])
})

t.test('control plane: times says how often; null means until it is removed', async t => {
  const faults = create()
  faults.arm(error(500), { times: 3 })
  t.equal(pattern(faults, 6), 'xxx...')
  const endless = faults.arm(error(500), { times: null })
  t.equal(pattern(faults, 500), 'x'.repeat(500))
  t.equal(faults.stateOf(endless, 0), 'armed')
  t.equal(endless.fired, 500)
  faults.remove(endless.id)
  t.equal(pattern(faults, 3), '...')
})

t.test('control plane: skip lets matching requests through first; others do not count', async t => {
  const faults = create()
  const fault = faults.arm(error(500), { skip: 2, times: 2, match: { method: 'GET' } })
  faults.apply({ method: 'POST' })
  t.same([fault.seen, fault.fired], [0, 0])
  t.equal(pattern(faults, 6), '..xx..')
  t.same([fault.seen, fault.fired], [4, 2], 'a spent fault counts no more')
})

t.test('control plane: ttl is real time, up to its end and not a millisecond longer', async t => {
  const faults = create()
  const fault = faults.arm(error(500), { times: null, ttl: 'PT2S' }, 10_000)
  t.equal(fault.expiresAt, 12_000)
  t.equal(faults.apply({}, 10_000).fired.length, 1)
  t.equal(faults.apply({}, 11_999).fired.length, 1)
  t.equal(faults.apply({}, 12_000).fired.length, 0)
  t.same(standing(faults, 11_999), [['fault-1', 2, 2, 'armed']])
  t.same(standing(faults, 12_000), [['fault-1', 2, 2, 'expired']])
  t.equal(faults.matches({}, 12_000), false)
})

t.test("control plane: the tenant's clock has no part in a ttl", async t => {
  const faults = create()
  faults.arm(error(500), { ttl: 'PT2S' })
  faults.clock.advanceTo(START + 86_400_000)
  t.equal(faults.apply().fired.length, 1)
})

t.test('control plane: what has fired as often as it should is spent, also when its time is over', async t => {
  const faults = create()
  faults.arm(error(500), { ttl: 'PT1S' })
  faults.apply()
  t.same(standing(faults, 5000), [['fault-1', 1, 1, 'spent']])
})

t.test("control plane: a fault tells the tenant's time at which it was armed", async t => {
  const faults = create()
  faults.clock.advanceTo(START + 3_600_000)
  t.equal(faults.arm(error(500)).armedAt, '2026-11-02T10:00:00Z')
})

t.test('control plane: method, path and region must all match; what is left out does not matter', async t => {
  const cases: [match: FaultRequest['match'], request: Partial<FaultTarget>, meets: boolean][] = [
    [{}, {}, true],
    [{}, { method: 'POST', path: '/token', region: undefined }, true],
    [{ method: 'GET' }, {}, true],
    [{ method: 'GET' }, { method: 'HEAD' }, false],
    [{ method: 'HEAD' }, { method: 'HEAD' }, true],
    [{ method: 'HEAD' }, {}, false],
    [{ path: '/list' }, {}, true],
    [{ path: '/list' }, { path: '/token' }, false],
    [{ path: '/l*' }, {}, true],
    [{ path: '*' }, { path: '/token' }, true],
    [{ region: 'EU' }, {}, true],
    [{ region: 'EU' }, { region: 'US' }, false],
    [{ region: 'EU' }, { region: undefined }, false],
    [{ method: 'GET', path: '/list', region: 'US' }, { region: 'US' }, true],
    [{ method: 'GET', path: '/list', region: 'US' }, { region: 'EU' }, false],
    [{ method: 'POST', path: '/list' }, {}, false],
    [{ method: 'GET', path: '/list' }, { path: '/token' }, false],
  ]
  for (const [match, request, meets] of cases) {
    const faults = create()
    const fault = faults.arm(error(500), { match: match ?? {} })
    const title = `${JSON.stringify(match)} ${JSON.stringify(request)}`
    t.equal(faults.matches(request), meets, title)
    t.equal(fault.seen, 0, 'asking counts nothing')
    t.equal(faults.apply(request).fired.length, meets ? 1 : 0, title)
    t.equal(fault.seen, meets ? 1 : 0, title)
  }
})

t.test('control plane: a path matches however it is encoded', async t => {
  const faults = create()
  faults.arm(error(500), { times: null, match: { path: '/list' } })
  faults.arm(delay(1), { times: null, match: { path: '/l*' } })
  for (const path of ['/list', '/%6cist', '/%6Cist', '/%6c%69%73%74']) {
    t.equal(faults.apply({ path }).fired.length, 2, path)
  }
  t.equal(faults.apply({ path: '/%6bist' }).fired.length, 0)
})

t.test('control plane: stale-token is nothing to an operation that takes no token', async t => {
  const faults = create()
  const fault = faults.arm({ kind: 'stale-token' })
  const token = { method: 'POST', path: '/token', region: undefined }
  t.equal(faults.matches(token), false)
  t.same(faults.apply(token), { fired: [], delay: 0, effect: null })
  t.equal(fault.seen, 0)
  t.same(faults.apply().effect, { kind: 'stale-token' })
})

// ---------------------------------------------------------------------------------------------------------- together

t.test('control plane: they fire in the order in which they were armed, one for each request', async t => {
  const faults = create()
  for (const status of [503, 500, 429]) faults.arm(error(status))
  const statuses = Array.from({ length: 4 }, () => {
    const { effect } = faults.apply()
    return effect?.kind === 'error' ? effect.status : null
  })
  t.same(statuses, [503, 500, 429, null])
  t.same(standing(faults), [
    ['fault-1', 1, 1, 'spent'],
    ['fault-2', 1, 1, 'spent'],
    ['fault-3', 1, 1, 'spent'],
  ])
})

t.test('control plane: a fault behind one that fires is not met; behind one that skips, it is', async t => {
  const faults = create()
  const first = faults.arm(error(503), { skip: 1 })
  const second = faults.arm(error(500), { times: null })
  t.same(faults.apply().fired, [second])
  t.same(faults.apply().fired, [first])
  t.same([first.seen, second.seen], [2, 1])
})

t.test('control plane: every delay that matches adds to the others, and to what else happens', async t => {
  const faults = create()
  const first = faults.arm(delay(100), { times: null })
  const second = faults.arm({ kind: 'drop', when: 'after' })
  const third = faults.arm(delay(20), { times: null })
  t.same(faults.apply(), { fired: [first, second, third], delay: 120, effect: { kind: 'drop', when: 'after' } })
  t.same(faults.apply(), { fired: [first, third], delay: 120, effect: null })
})

t.test('control plane: a delay that skips adds nothing yet', async t => {
  const faults = create()
  faults.arm(delay(100), { times: null, skip: 2 })
  faults.arm(delay(20), { times: 2, skip: 1 })
  t.same(
    Array.from({ length: 5 }, () => faults.apply().delay),
    [0, 20, 120, 100, 100],
  )
})

t.test('control plane: a delay can be written in three ways', async t => {
  const uniform = { distribution: 'uniform', min: 7, max: 7 } as const
  for (const effect of [delay(7), spread(uniform), { kind: 'delay', ...uniform } as const]) {
    const faults = create()
    faults.arm(effect)
    t.equal(faults.apply().delay, 7, JSON.stringify(effect))
  }
})

t.test('control plane: without any, nothing concerns a request, and it meets nothing', async t => {
  const faults = create()
  t.equal(faults.matches(), false)
  t.same(faults.apply(), { fired: [], delay: 0, effect: null })
})

// --------------------------------------------------------------------------------------------------------- randomness

const runs = (faults: Plane, requests = 1000) => Array.from({ length: requests }, () => faults.apply().delay)

t.test('control plane: with a probability, the same seed fires for the same requests', async t => {
  const run = (life: Life) => {
    const faults = create(life)
    faults.arm(error(500), { times: null, probability: 0.3 })
    return pattern(faults, 200)
  }
  const once = run({})
  t.equal(run({}), once)
  t.not(run({ seed: 'other' }), once)
  t.not(run({ scope: 'other' }), once)
  t.match(once, /x/)
  t.match(once, /\./)
})

t.test('control plane: what else a tenant draws does not change which requests they fire for', async t => {
  const run = (draw: (faults: Plane) => void) => {
    const faults = create()
    faults.arm(error(500), { times: null, probability: 0.5 })
    return Array.from({ length: 100 }, () => {
      draw(faults)
      return faults.apply().fired.length
    })
  }
  const once = run(() => {})
  t.same(
    run(({ ids }) => void ids.next('anything')),
    once,
  )
})

t.test('control plane: probability is how many of the matching requests it fires for', async t => {
  for (const probability of [0.01, 0.3, 0.5, 0.99]) {
    const faults = create()
    const fault = faults.arm(error(500), { times: null, probability })
    pattern(faults, 4000)
    t.equal(fault.seen, 4000)
    // Five standard deviations of a binomial distribution.
    const most = 5 * Math.sqrt(4000 * probability * (1 - probability))
    t.ok(Math.abs(fault.fired - 4000 * probability) < most, `${fault.fired} of 4000 at ${probability}`)
  }
})

t.test('control plane: with a probability, times counts what has fired, not what was let through', async t => {
  const faults = create()
  const fault = faults.arm(error(500), { times: 5, probability: 0.2 })
  pattern(faults, 500)
  t.equal(fault.fired, 5)
  t.ok(fault.seen > 5, `${fault.seen} seen`)
  t.equal(faults.stateOf(fault, 0), 'spent')
})

t.test('control plane: a uniform delay lies between min and max, both of them, in whole milliseconds', async t => {
  const faults = create()
  faults.arm(spread({ distribution: 'uniform', min: 3, max: 6 }), { times: null })
  t.same([...new Set(runs(faults))].sort(), [3, 4, 5, 6])
  const wide = create()
  wide.arm(spread({ distribution: 'uniform', min: 0, max: 1000 }), { times: null })
  const mean = runs(wide).reduce((sum, one) => sum + one) / 1000
  t.ok(mean > 450 && mean < 550, `mean ${mean}`)
})

t.test('control plane: half of the lognormal delays are below the median, none above max', async t => {
  const faults = create()
  const median = 200
  faults.arm(spread({ distribution: 'lognormal', median, sigma: 0.5, max: 700 }), { times: null })
  const delays = runs(faults)
  const below = delays.filter(one => one < median).length
  t.ok(below > 420 && below < 580, `${below} of 1000 are below the median`)
  t.ok(delays.every(one => Number.isInteger(one) && one > 0 && one <= 700))
  // One standard deviation around the median holds 68.3 %.
  const within = delays.filter(one => one > median / Math.exp(0.5) && one < median * Math.exp(0.5)).length
  t.ok(within > 600 && within < 760, `${within} of 1000 are within one sigma`)
})

t.test('control plane: a lognormal delay without sigma is its median; max cuts it off', async t => {
  const flat = create()
  flat.arm(spread({ distribution: 'lognormal', median: 200, sigma: 0, max: 1000 }), { times: null })
  t.same([...new Set(runs(flat, 50))], [200])
  const cut = create()
  cut.arm(spread({ distribution: 'lognormal', median: 200, sigma: 0, max: 150 }), { times: null })
  t.same([...new Set(runs(cut, 50))], [150])
  const wild = create()
  wild.arm(spread({ distribution: 'lognormal', median: 300_000, sigma: 10, max: 300_000 }), { times: null })
  t.ok(runs(wild).every(one => one >= 0 && one <= 300_000))
})

t.test('control plane: the same seed gives the same delays', async t => {
  for (const ms of [
    { distribution: 'uniform', min: 0, max: 10_000 },
    { distribution: 'lognormal', median: 500, sigma: 1, max: 10_000 },
  ] as const) {
    const run = (seed: string) => {
      const faults = create({ seed })
      faults.arm(spread(ms), { times: null })
      return runs(faults, 50)
    }
    t.same(run('a'), run('a'), ms.distribution)
    t.notSame(run('a'), run('b'), ms.distribution)
  }
})

// -------------------------------------------------------------------------------------------------------- their lives

t.test('control plane: ids are numbered, and none is given again', async t => {
  const faults = create()
  t.same([faults.arm(error(500)).id, faults.arm(error(500)).id], ['fault-1', 'fault-2'])
  faults.remove('fault-2')
  t.equal(faults.arm(error(500)).id, 'fault-3')
  faults.clear()
  t.same(faults.list(), [])
  t.equal(faults.arm(error(500)).id, 'fault-4')
})

t.test('control plane: one that is refused takes no number', async t => {
  const faults = create()
  refused(t, () => faults.arm(error(500), { ttl: 'PT0S' }), 'INVALID_FIELD', 'ttl')
  refused(t, () => faults.arm(error(500), { match: { path: '/nowhere' } }), 'INVALID_FIELD', 'match.path')
  t.equal(faults.arm(error(500)).id, 'fault-1')
})

t.test('control plane: to remove an unknown one is an error, and removes nothing', async t => {
  const faults = create()
  faults.arm(error(500))
  for (const id of ['fault-2', 'fault-0', 'FAULT-1', '']) {
    refused(t, () => faults.remove(id), 'FAULT_NOT_FOUND', 'id')
  }
  t.equal(faults.list().length, 1)
  faults.remove('fault-1')
  refused(t, () => faults.remove('fault-1'), 'FAULT_NOT_FOUND', 'id')
})

t.test('control plane: there are at most 1000, spent ones included', async t => {
  const faults = create()
  for (let count = 0; count < 1000; count++) faults.arm(error(500))
  t.equal(pattern(faults, 1001), `${'x'.repeat(1000)}.`)
  refused(t, () => faults.arm(error(500)), 'INVALID_FIELD', null)
  faults.remove('fault-500')
  t.equal(faults.arm(error(500)).id, 'fault-1001')
})

t.test(
  'control plane, PUT /state, POST /fork: faults live on with their counts, and part from those they were',
  async t => {
    const first = create()
    first.arm(error(503), { skip: 1, times: 2 })
    first.arm(error(500), { times: null, probability: 0.5 })
    for (let request = 0; request < 2; request++) first.apply()
    const kept = structuredClone(first.list())
    const counters = { ...first.ids.counters() }
    const second = create({ earlier: kept, counters })
    t.same(second.list(), kept)
    t.equal(pattern(second, 50), pattern(first, 50), 'both go on in the same way')
    second.clear()
    t.equal(first.list().length, 2)
    const third = create({ earlier: first.list(), counters })
    third.arm(error(500), { times: null })
    third.apply()
    t.notSame(standing(third), standing(first), 'the counts are its own')
  },
)

t.test('control plane, PUT /state: an id that is taken is not given again', async t => {
  const earlier = create()
  for (let count = 0; count < 3; count++) earlier.arm(error(500))
  earlier.remove('fault-2')
  const later = create({ earlier: earlier.list() })
  t.same(
    [1, 2].map(() => later.arm(error(500)).id),
    ['fault-2', 'fault-4'],
  )
})

t.test('control plane, PUT /state: faults that could not work are refused, with their place', async t => {
  const good = create().arm(error(500))
  const wrong: [effect: object, code: string, field: string][] = [
    [{ kind: 'error' }, 'MISSING_FIELD', 'faults.1.effect.status'],
    [{ kind: 'drop' }, 'MISSING_FIELD', 'faults.1.effect.when'],
    [{ kind: 'garbage', ms: 5 }, 'INVALID_FIELD', 'faults.1.effect.ms'],
    [{ kind: 'delay' }, 'MISSING_FIELD', 'faults.1.effect.ms'],
    [{ kind: 'error', status: 500, headers: { Date: 'x' } }, 'INVALID_FIELD', 'faults.1.effect.headers.Date'],
  ]
  for (const [effect, code, field] of wrong) {
    const earlier = [good, { ...good, id: 'fault-2', effect: effect as Effect }]
    refused(t, () => create({ earlier }), code, field)
  }
  refused(t, () => create({ earlier: [good, { ...good }] }), 'DUPLICATE_REFERENCE', 'faults.1.id')
})
