import t, { type Test } from 'tap'
import type { ApiError } from '../../src/core/errors.js'
import type { Operation } from '../../src/core/operations.js'
import { createClock } from '../../src/core/time/clock.js'
import type { Deprecation, DeprecationRequest } from '../../src/features/deprecations/state.js'
import { createDeprecations } from '../../src/features/deprecations/state.js'

const NOW = '2026-11-02T09:00:00Z'
const LIST = 'GET /list'
const ITEM = 'GET /list/{id}'

const operations: Operation[] = [
  { operation: LIST, method: 'GET', path: '/list', regions: ['EU'] },
  { operation: ITEM, method: 'GET', path: '/list/{id}', regions: ['EU'] },
]

function create(...requests: DeprecationRequest[]) {
  const clock = createClock({ now: Date.parse(NOW), mode: 'frozen', rate: 1, realNow: 0 })
  const deprecations = createDeprecations({ clock })
  deprecations.replace(requests, operations)
  return { clock, deprecations }
}

const restore = (earlier: readonly Deprecation[]) =>
  createDeprecations({ clock: createClock({ now: 0, mode: 'frozen', rate: 1, realNow: 0 }) }, earlier)

function refused(t: Test, act: () => unknown, code: string, field: string) {
  try {
    act()
    t.fail(`${code} on ${field}`)
  } catch (thrown) {
    const { code: given, field: named, message } = thrown as ApiError
    t.same([given, named], [code, field], message)
  }
}

t.test('decisions §11: deprecation is absent by default', async t => {
  const { deprecations } = create()
  t.equal(deprecations.isEmpty(), true)
  t.same(deprecations.list(), [])
  t.equal(deprecations.headersOf(LIST, 'seed'), null)
  t.equal(deprecations.headersOf(LIST, 'rfc'), null)
  t.doesNotThrow(() => deprecations.assertNotSunset(LIST))
})

t.test("decisions §11: deprecated since now on the tenant's clock, where nothing is said, and never gone", async t => {
  const { deprecations } = create({ operation: LIST })
  t.equal(deprecations.isEmpty(), false)
  t.same(deprecations.list(), [{ operation: LIST, deprecatedSince: NOW, goneAfterSunset: false }])
  t.same(deprecations.headersOf(LIST, 'seed'), { deprecation: 'true' })
  t.equal(deprecations.headersOf(ITEM, 'seed'), null, 'and no other')
})

t.test(
  'interface, Versioning 5: in the style of the seed, Deprecation is true and Sunset an RFC 3339 date-time',
  async t => {
    const { deprecations } = create({
      operation: LIST,
      deprecatedSince: '2026-01-01T00:00:00Z',
      sunset: '2027-06-30T22:00:00Z',
    })
    t.same(deprecations.headersOf(LIST, 'seed'), { deprecation: 'true', sunset: '2027-06-30T22:00:00Z' })
  },
)

t.test('RFC 9745 §2, RFC 8594 §3: in the style of the RFCs, an @ with Unix seconds and an IMF-fixdate', async t => {
  const { deprecations } = create({
    operation: LIST,
    deprecatedSince: '2023-06-30T23:59:59Z',
    sunset: '2024-06-30T23:59:59Z',
  })
  // The examples of RFC 9745.
  t.same(deprecations.headersOf(LIST, 'rfc'), {
    deprecation: '@1688169599',
    sunset: 'Sun, 30 Jun 2024 23:59:59 GMT',
  })
  const { deprecations: early } = create({
    operation: LIST,
    deprecatedSince: '1969-12-31T23:59:50Z',
    sunset: '9999-12-31T23:59:59Z',
  })
  t.same(early.headersOf(LIST, 'rfc'), { deprecation: '@-10', sunset: 'Fri, 31 Dec 9999 23:59:59 GMT' })
})

t.test('decisions §11: one that lies ahead is told by its date; true it is from then on', async t => {
  const { clock, deprecations } = create({
    operation: LIST,
    deprecatedSince: '2026-11-02T10:00:00Z',
    sunset: '2026-12-01T00:00:00Z',
  })
  const ahead = deprecations.headersOf(LIST, 'seed')
  t.same(ahead, { sunset: '2026-12-01T00:00:00Z' })
  t.match(deprecations.headersOf(LIST, 'rfc'), { deprecation: '@1793613600' })
  clock.advanceTo(Date.parse('2026-11-02T09:59:59Z'))
  t.same(deprecations.headersOf(LIST, 'seed'), ahead)
  clock.advanceTo(Date.parse('2026-11-02T10:00:00Z'))
  t.same(deprecations.headersOf(LIST, 'seed'), { deprecation: 'true', sunset: '2026-12-01T00:00:00Z' })
})

t.test('decisions §11: gone from its sunset on, to the second, if it is told so', async t => {
  const sunset = '2026-11-02T12:00:00Z'
  const { clock, deprecations } = create(
    { operation: LIST, sunset, goneAfterSunset: true },
    { operation: ITEM, sunset },
  )
  clock.advanceTo(Date.parse('2026-11-02T11:59:59Z'))
  t.doesNotThrow(() => deprecations.assertNotSunset(LIST))
  clock.advanceTo(Date.parse(sunset))
  t.throws(() => deprecations.assertNotSunset(LIST), { code: 'OPERATION_SUNSET', status: 410, field: null })
  t.doesNotThrow(() => deprecations.assertNotSunset(ITEM), 'the other was not told so')
  t.doesNotThrow(() => deprecations.assertNotSunset('GET /other'))
})

t.test('control plane, PUT /deprecations: replaces all deprecations', async t => {
  const { deprecations } = create({ operation: LIST })
  deprecations.replace([{ operation: ITEM }], operations)
  t.same(
    deprecations.list().map(({ operation }) => operation),
    [ITEM],
  )
  deprecations.replace([], operations)
  t.equal(deprecations.isEmpty(), true)
})

t.test('control plane, PUT /deprecations: what is wrong is refused with its place, and nothing is changed', async t => {
  const { deprecations } = create({ operation: LIST })
  const before = structuredClone(deprecations.list())
  const earlier = '2026-11-02T08:59:59Z'
  const wrong: [request: DeprecationRequest, code: string, field: string][] = [
    [{ operation: 'GET /nowhere' }, 'INVALID_FIELD', 'data.1.operation'],
    [{ operation: 'HEAD /list' }, 'INVALID_FIELD', 'data.1.operation'],
    [{ operation: 'get /list' }, 'INVALID_FIELD', 'data.1.operation'],
    [{ operation: '/list' }, 'INVALID_FIELD', 'data.1.operation'],
    [{ operation: 'GET /list/x' }, 'INVALID_FIELD', 'data.1.operation'],
    [{ operation: ITEM }, 'INVALID_FIELD', 'data.1.operation'],
    [{ operation: LIST, goneAfterSunset: true }, 'MISSING_FIELD', 'data.1.sunset'],
    [{ operation: LIST, sunset: earlier }, 'INVALID_FIELD', 'data.1.sunset'],
    [{ operation: LIST, deprecatedSince: NOW, sunset: earlier }, 'INVALID_FIELD', 'data.1.sunset'],
  ]
  for (const [request, code, field] of wrong) {
    refused(t, () => deprecations.replace([{ operation: ITEM }, request], operations), code, field)
    t.same(deprecations.list(), before)
  }
  t.doesNotThrow(() => deprecations.replace([{ operation: LIST, sunset: NOW }], operations), 'one moment for both')
})

t.test('control plane, PUT /state: deprecations live on; what could not be is refused with its place', async t => {
  const good = { operation: LIST, deprecatedSince: NOW, goneAfterSunset: false }
  t.same(restore([good]).list(), [good])
  const other = { ...good, operation: ITEM }
  refused(t, () => restore([good, good]), 'INVALID_FIELD', 'deprecations.1.operation')
  refused(t, () => restore([good, { ...other, goneAfterSunset: true }]), 'MISSING_FIELD', 'deprecations.1.sunset')
  const backward = { ...other, sunset: '2026-11-01T00:00:00Z' }
  refused(t, () => restore([good, backward]), 'INVALID_FIELD', 'deprecations.1.sunset')
})
