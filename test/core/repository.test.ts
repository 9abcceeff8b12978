import fc from 'fast-check'
import t from 'tap'
import { errors } from '../../src/core/errors.js'
import { createIds } from '../../src/core/ids.js'
import { createEventLog } from '../../src/core/records/events.js'
import type { Repository } from '../../src/core/records/repository.js'
import { createRepository, restoreRecords, snapshotRecords } from '../../src/core/records/repository.js'
import type { Lifecycle } from '../../src/core/records/state-machine.js'
import type { StatefulRepositoryOptions, Step } from '../../src/core/records/stateful-repository.js'
import { createStatefulRepository } from '../../src/core/records/stateful-repository.js'
import type { Region } from '../../src/core/rules/regions.js'
import type { TenantContext } from '../../src/core/tenant-context.js'
import { createClock } from '../../src/core/time/clock.js'
import { formatInstant, parseInstant } from '../../src/core/time/time.js'

const START = '2026-11-02T09:00:00Z'
const at = (text: string) => parseInstant(text) as number

function context(now = START): TenantContext {
  let sequence = 0
  return {
    clock: createClock({ now: at(now), mode: 'frozen', rate: 1, realNow: 0 }),
    ids: createIds('seed', 'acme'),
    events: createEventLog(),
    nextSequence: () => ++sequence,
  }
}

// ----------------------------------------------------------------------------------------------- without lifecycle

interface Thing {
  readonly thingReference: string
  readonly colour?: string
}

const things = (shared = context(), name = 'things') =>
  createRepository<Thing>(
    {
      name,
      referenceField: 'thingReference',
      reference: thing => thing.thingReference,
    },
    shared,
  )

const store = (
  repository: Repository<Thing>,
  region: Region,
  record: Thing,
  createdAt = START,
  sequence = repository.size() + 1,
) => repository.add({ createdAt: at(createdAt), sequence, region, record })

const thingNotFound = errors.billNotFound

t.test('decisions §4: a record belongs to its region, and another may have the same reference', async t => {
  const repository = things()
  store(repository, 'EU', { thingReference: 'A', colour: 'red' })
  store(repository, 'US', { thingReference: 'A', colour: 'blue' })
  t.equal(repository.size(), 2)
  t.equal(repository.get('EU', 'A', thingNotFound).record.colour, 'red')
  t.equal(repository.get('US', 'A', thingNotFound).record.colour, 'blue')
  t.equal(repository.has('EU', 'A'), true)
  t.equal(repository.has('UK', 'A'), false)
  t.throws(() => repository.get('UK', 'A', thingNotFound), { code: 'BILL_NOT_FOUND', message: /"A"/ })
  t.same(
    repository.find('A').map(({ region }) => region),
    ['EU', 'US'],
  )
  t.same(repository.find('B'), [])
})

t.test('decisions §2, DUPLICATE_REFERENCE: a taken reference is refused, by the name of its field', async t => {
  const repository = things()
  store(repository, 'EU', { thingReference: 'A' })
  t.throws(() => repository.assertUnused('EU', 'A'), {
    code: 'DUPLICATE_REFERENCE',
    field: 'thingReference',
    status: 409,
  })
  t.doesNotThrow(() => repository.assertUnused('US', 'A'))
  t.doesNotThrow(() => repository.assertUnused('EU', 'B'))
})

t.test('control plane, POST /seed: duplicates of the store and of the batch are refused by their path', async t => {
  const repository = things()
  store(repository, 'EU', { thingReference: 'A' })
  const batch = (...placed: [Region, string][]) =>
    placed.map(([region, thingReference]) => ({ region, record: { thingReference } }))
  t.throws(() => repository.assertAllUnused(batch(['EU', 'B'], ['EU', 'A']), 'records.things'), {
    code: 'DUPLICATE_REFERENCE',
    field: 'records.things.1.thingReference',
  })
  t.throws(() => repository.assertAllUnused(batch(['EU', 'B'], ['EU', 'C'], ['EU', 'B']), 'records.things'), {
    code: 'DUPLICATE_REFERENCE',
    field: 'records.things.2.thingReference',
  })
  t.doesNotThrow(() => repository.assertAllUnused(batch(['US', 'A'], ['EU', 'B'], ['UK', 'B']), 'records.things'))
  t.equal(repository.size(), 1, 'nothing is stored')
})

t.test('decisions §5: a list has the envelope, and a cursor leads to the next page', async t => {
  const repository = things()
  for (const thingReference of ['A', 'B', 'C']) store(repository, 'EU', { thingReference })
  store(repository, 'US', { thingReference: 'D' })

  const first = repository.list('EU', { limit: 2 })
  t.match(first, { totalCount: 3, hasMore: true, data: [{ thingReference: 'C' }, { thingReference: 'B' }] })
  t.type(first.nextCursor, 'string')
  t.same(repository.list('EU', { limit: 2, cursor: first.nextCursor as string }), {
    totalCount: 3,
    hasMore: false,
    nextCursor: null,
    data: [{ thingReference: 'A' }],
  })
})

t.test('decisions §5: an empty list', async t => {
  t.same(things().list('EU', {}), { totalCount: 0, hasMore: false, nextCursor: null, data: [] })
})

t.test('interface, Limits: a page has 100 records by default', async t => {
  const repository = things()
  for (let count = 0; count < 101; count++) store(repository, 'EU', { thingReference: `T-${count}` })
  const page = repository.list('EU', {})
  t.equal(page.data.length, 100)
  t.equal(page.hasMore, true)
})

t.test('decisions §5: a cursor works with any filter', async t => {
  const repository = things()
  for (const [at, colour] of ['red', 'blue', 'red', 'blue', 'red'].entries())
    store(repository, 'EU', { thingReference: `T-${at}`, colour })
  const { nextCursor } = repository.list('EU', { limit: 2 })
  const page = repository.list('EU', { cursor: nextCursor as string, fields: { colour: ['red'] } })
  t.same(
    page.data.map(({ thingReference }) => thingReference),
    ['T-2', 'T-0'],
  )
  t.equal(page.totalCount, 3)
})

t.test(
  'decisions §5: pages equal the slices of a naive sort and filter, for records of any creation time',
  async () => {
    const colours = ['red', 'blue', undefined]
    const thing = fc.record({ hour: fc.integer({ min: 0, max: 5 }), colour: fc.constantFrom(...colours) })
    const query = fc.record({
      colour: fc.constantFrom(undefined, 'red', ['red', 'blue'], []),
      limit: fc.integer({ min: 1, max: 8 }),
      even: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(thing, { maxLength: 30 }), query, (input, { colour, limit, even }) => {
        const repository = things()
        for (const [index, { hour, colour }] of input.entries()) {
          store(repository, 'EU', { thingReference: `${index}`, colour }, `2026-11-02T0${hour}:00:00Z`)
        }
        const matches = ({ thingReference }: Thing) => !even || Number(thingReference) % 2 === 0
        const expected = input
          .map(({ hour, colour }, index) => ({ hour, colour, thingReference: `${index}` }))
          .filter(item => (colour === undefined || [colour].flat().includes(item.colour as string)) && matches(item))
          .sort((a, b) => b.hour - a.hour || Number(b.thingReference) - Number(a.thingReference))
          .map(({ thingReference }) => thingReference)

        const found: string[] = []
        let cursor: string | undefined
        do {
          const list = repository.list('EU', { fields: { colour }, matches, cursor, limit })
          found.push(...list.data.map(({ thingReference }) => thingReference))
          if (list.totalCount !== expected.length || list.hasMore !== found.length < expected.length) return false
          cursor = list.nextCursor ?? undefined
        } while (cursor !== undefined)
        return found.join() === expected.join()
      }),
      { seed: 5, numRuns: 500 },
    )
  },
)

t.test('decisions §5: a cursor is a position: new records do not shift the next page', async t => {
  const repository = things()
  for (const thingReference of ['A', 'B', 'C']) store(repository, 'EU', { thingReference })
  const cursor = repository.list('EU', { limit: 1 }).nextCursor as string
  store(repository, 'EU', { thingReference: 'D' })
  store(repository, 'EU', { thingReference: 'E' }, '2026-10-01T00:00:00Z')
  t.match(repository.list('EU', { cursor }), {
    totalCount: 5,
    data: [{ thingReference: 'B' }, { thingReference: 'A' }, { thingReference: 'E' }],
  })
})

t.test('decisions §2, INVALID_CURSOR: a cursor of another region or list is refused', async t => {
  const shared = context()
  const [repository, others] = [things(shared), things(shared, 'others')]
  for (const thingReference of ['A', 'B']) {
    store(repository, 'EU', { thingReference })
    store(repository, 'US', { thingReference })
    store(others, 'EU', { thingReference })
  }
  const cursor = repository.list('EU', { limit: 1 }).nextCursor as string
  t.equal(repository.list('EU', { cursor }).data.length, 1)
  t.throws(() => repository.list('US', { cursor }), { code: 'INVALID_CURSOR', field: 'cursor', status: 400 })
  t.throws(() => others.list('EU', { cursor }), { code: 'INVALID_CURSOR', field: 'cursor', status: 400 })
})

// ------------------------------------------------------------------------------------------------ with a lifecycle

type State = 'NEW' | 'RIPE' | 'EATEN' | 'ROTTEN'
type Verb = 'ripen' | 'eat' | 'rot'

interface Apple {
  readonly appleReference: string
  readonly createdAt: string
  status: State
  reasonCode?: string
  updatedAt: string
  eater?: string
  ripeOn?: string | null
}

const lifecycle: Lifecycle<State, Verb> = {
  NEW: { ripen: 'RIPE' },
  RIPE: { eat: 'EATEN', rot: 'ROTTEN' },
  EATEN: {},
  ROTTEN: {},
}

function apples(shared: TenantContext, changes: Partial<StatefulRepositoryOptions<Apple, State, Verb>> = {}) {
  const plan = ({ status, ripeOn }: Apple): Step<Verb> | null => {
    if (status === 'NEW' && typeof ripeOn === 'string') return { at: at(ripeOn), verb: 'ripen', cause: 'time' }
    if (status === 'RIPE') return { at: at('2026-12-01T00:00:00Z'), verb: 'rot', cause: 'outcome', reasonCode: 'AM04' }
    return null
  }
  return createStatefulRepository<Apple, State, Verb>(
    {
      name: 'apples',
      event: 'bill',
      noun: 'apple',
      lifecycle,
      referenceField: 'appleReference',
      reference: apple => apple.appleReference,
      createdAt: apple => apple.createdAt,
      plan,
      ...changes,
    },
    shared,
  )
}

const apple = (changes: Partial<Apple> = {}): Apple => ({
  appleReference: 'A-1',
  createdAt: START,
  updatedAt: START,
  status: 'NEW',
  ripeOn: '2026-11-10T12:00:00Z',
  ...changes,
})

t.test('control plane: creation is an event, from null', async t => {
  const shared = context()
  const repository = apples(shared)
  const entry = repository.create('EU', apple(), 'api')
  const event = { seq: 1, at: START, kind: 'bill', reference: 'A-1', from: null, to: 'NEW', cause: 'api' }
  t.same(repository.explain(entry).timeline, [event])
  t.same(shared.events.after(0), [event])
})

t.test('control plane: planned transitions happen at their due times, with their causes', async t => {
  const shared = context()
  const repository = apples(shared)
  const entry = repository.create('EU', apple(), 'api')
  t.equal(entry.dueAt, at('2026-11-10T12:00:00Z'))
  shared.clock.advanceTo(at('2027-01-01T00:00:00Z'))
  t.same(shared.events.after(1), [
    { seq: 2, at: '2026-11-10T12:00:00Z', kind: 'bill', reference: 'A-1', from: 'NEW', to: 'RIPE', cause: 'time' },
    {
      seq: 3,
      at: '2026-12-01T00:00:00Z',
      kind: 'bill',
      reference: 'A-1',
      from: 'RIPE',
      to: 'ROTTEN',
      reasonCode: 'AM04',
      cause: 'outcome',
    },
  ])
  t.match(entry.record, { status: 'ROTTEN', updatedAt: '2026-12-01T00:00:00Z', reasonCode: 'AM04', createdAt: START })
  t.equal(entry.dueAt, null)
})

t.test('control plane, verbs: a transition sets further fields and replaces the planned one', async t => {
  const shared = context()
  const repository = apples(shared)
  const entry = repository.create('EU', apple(), 'api')
  repository.move(entry, 'ripen', 'control')
  shared.clock.advanceTo(at('2026-11-05T00:00:00Z'))
  repository.move(entry, 'eat', 'control', { eater: 'Jane' })
  shared.clock.advanceTo(at('2027-01-01T00:00:00Z'))
  t.match(entry.record, { status: 'EATEN', eater: 'Jane', updatedAt: '2026-11-05T00:00:00Z' })
  t.same(
    repository.explain(entry).timeline.map(({ at, to, cause }) => [at, to, cause]),
    [
      [START, 'NEW', 'api'],
      [START, 'RIPE', 'control'],
      ['2026-11-05T00:00:00Z', 'EATEN', 'control'],
    ],
  )
})

t.test('decisions §2, ILLEGAL_TRANSITION: a refused transition changes nothing', async t => {
  const shared = context()
  const repository = apples(shared)
  const entry = repository.create('EU', apple(), 'api')
  t.throws(() => repository.move(entry, 'eat', 'control', { eater: 'Jane' }), {
    code: 'ILLEGAL_TRANSITION',
    message: 'Cannot eat a apple that is NEW. Legal now: ripen.',
  })
  t.same(entry.record, apple())
  t.equal(shared.events.last(), 1)
  t.equal(shared.clock.nextDue(), at('2026-11-10T12:00:00Z'))
})

t.test('decisions §5: the list filters by the current status', async t => {
  const shared = context()
  const repository = apples(shared)
  const entry = repository.create('EU', apple(), 'api')
  repository.create('EU', apple({ appleReference: 'A-2' }), 'api')
  repository.move(entry, 'ripen', 'control')
  const list = (status: State) =>
    repository.list('EU', { fields: { status: [status] } }).data.map(({ appleReference }) => appleReference)
  t.same(list('NEW'), ['A-2'])
  t.same(list('RIPE'), ['A-1'])
  t.equal(repository.size(), 2)
})

t.test('control plane: onTransition is called after each transition', async t => {
  const shared = context()
  const seen: string[] = []
  const repository = apples(shared, {
    onTransition: ({ status }, cause) => seen.push(`${status} ${cause} ${shared.events.last()}`),
  })
  const entry = repository.create('EU', apple(), 'api')
  t.same(seen, [], 'creation is no transition')
  repository.move(entry, 'ripen', 'control')
  shared.clock.advanceTo(at('2026-12-01T00:00:00Z'))
  t.same(seen, ['RIPE control 2', 'ROTTEN outcome 3'])
})

t.test('control plane: a transition is planned again after a change', async t => {
  const shared = context()
  const repository = apples(shared)
  const entry = repository.create('EU', apple(), 'api')
  entry.record.ripeOn = '2026-11-20T00:00:00Z'
  repository.replan(entry)
  t.equal(shared.clock.nextDue(), at('2026-11-20T00:00:00Z'))
  entry.record.ripeOn = null
  repository.replan(entry)
  t.equal(shared.clock.nextDue(), null)
})

t.test('control plane: a record is explained with its next and its legal transitions', async t => {
  const shared = context()
  const repository = apples(shared)
  const entry = repository.create('EU', apple(), 'api')
  t.same(repository.explain(entry), {
    record: apple(),
    timeline: shared.events.after(0),
    next: { at: '2026-11-10T12:00:00Z', to: 'RIPE' },
    legal: [{ verb: 'ripen', to: 'RIPE' }],
  })
  shared.clock.advanceTo(at('2027-01-01T00:00:00Z'))
  t.match(repository.explain(entry), { next: null, legal: [] })
  t.same(repository.explain(entry, [{ verb: 'eat', to: 'EATEN', reasonCodes: ['AM04'] }]).legal, [
    { verb: 'eat', to: 'EATEN', reasonCodes: ['AM04'] },
  ])
})

t.test('control plane: a transition whose time has passed happens now', async t => {
  const shared = context()
  const repository = apples(shared)
  const entry = repository.create('EU', apple({ ripeOn: '2026-10-01T00:00:00Z' }), 'control')
  t.same(repository.explain(entry).next, { at: START, to: 'RIPE' })
  shared.clock.advanceTo(at(START))
  t.equal(repository.explain(entry).timeline.at(-1)?.at, START)
  t.equal(entry.record.status, 'RIPE')
})

t.test('control plane, POST /seed: records of any state are checked first, then stored', async t => {
  const shared = context()
  const repository = apples(shared)
  const seeded = apple({
    appleReference: 'A-2',
    status: 'ROTTEN',
    reasonCode: 'AM04',
    createdAt: '2026-10-01T00:00:00Z',
    updatedAt: '2026-10-05T00:00:00Z',
  })
  const commit = repository.stage(
    [
      { region: 'EU', record: apple() },
      { region: 'US', record: seeded },
    ],
    'records.apples',
  )
  t.equal(repository.size(), 0)
  t.equal(shared.events.last(), 0)
  commit()
  t.equal(repository.size(), 2)
  t.match(shared.events.after(0), [
    { seq: 1, at: START, reference: 'A-1', from: null, to: 'NEW', cause: 'control' },
    {
      seq: 2,
      at: '2026-10-05T00:00:00Z',
      reference: 'A-2',
      from: null,
      to: 'ROTTEN',
      reasonCode: 'AM04',
      cause: 'control',
    },
  ])
  t.equal(formatInstant(repository.get('US', 'A-2', thingNotFound).createdAt), '2026-10-01T00:00:00Z')
  t.throws(() => repository.stage([{ region: 'EU', record: apple() }], 'records.apples'), {
    code: 'DUPLICATE_REFERENCE',
    field: 'records.apples.0.appleReference',
  })
})

// -------------------------------------------------------------------------------------------- snapshot and restore

t.test('control plane, GET /state: records without a lifecycle are listed in order of creation', async t => {
  const repository = things()
  store(repository, 'US', { thingReference: 'A' })
  store(repository, 'EU', { thingReference: 'B', colour: 'red' }, '2026-10-01T00:00:00Z')
  store(repository, 'US', { thingReference: 'C' })
  t.same(snapshotRecords(repository), [
    { region: 'US', sequence: 1, createdAt: START, record: { thingReference: 'A' } },
    { region: 'EU', sequence: 2, createdAt: '2026-10-01T00:00:00Z', record: { thingReference: 'B', colour: 'red' } },
    { region: 'US', sequence: 3, createdAt: START, record: { thingReference: 'C' } },
  ])
  t.same(snapshotRecords(things()), [])
})

t.test('control plane, PUT /state: restored records are found, listed and paged as before', async t => {
  const repository = things()
  for (const [at, colour] of ['red', 'blue', 'red', 'blue', 'red'].entries())
    store(repository, 'EU', { thingReference: `T-${at}`, colour }, at === 4 ? '2026-10-01T00:00:00Z' : START)
  const copy = things()
  restoreRecords(copy, JSON.parse(JSON.stringify(snapshotRecords(repository))), 'things')
  t.same(snapshotRecords(copy), snapshotRecords(repository))
  t.equal(copy.size(), 5)
  const first = repository.list('EU', { limit: 2 })
  t.same(copy.list('EU', { limit: 2 }), first)
  t.same(
    copy.list('EU', { cursor: first.nextCursor as string, fields: { colour: ['red'] } }),
    repository.list('EU', { cursor: first.nextCursor as string, fields: { colour: ['red'] } }),
  )
})

t.test('control plane, PUT /state: inconsistent records are refused by their path, and nothing is stored', async t => {
  const one = (sequence: number, thingReference: string, region: Region = 'EU') => ({
    region,
    sequence,
    createdAt: START,
    record: { thingReference },
  })
  for (const [items, code, field] of [
    [[one(1, 'A'), one(2, 'A')], 'DUPLICATE_REFERENCE', 'things.1.thingReference'],
    [[one(1, 'A'), one(1, 'B')], 'INVALID_FIELD', 'things.1.sequence'],
    [[one(2, 'A'), one(1, 'B')], 'INVALID_FIELD', 'things.1.sequence'],
    [[one(1, 'A'), one(3, 'B'), one(2, 'C')], 'INVALID_FIELD', 'things.2.sequence'],
  ] as const) {
    const repository = things()
    t.throws(() => restoreRecords(repository, items, 'things'), { code, field })
    t.equal(repository.size(), 0)
  }
  t.doesNotThrow(() => restoreRecords(things(), [one(1, 'A'), one(5, 'A', 'UK')], 'things'))
  t.doesNotThrow(() => restoreRecords(things(), [], 'things'))
})

t.test('decisions §4: a record that determines its region cannot be in another one', async t => {
  const repository = createRepository<Thing>(
    {
      name: 'things',
      referenceField: 'thingReference',
      reference: thing => thing.thingReference,
      region: ({ colour }) => (colour === 'blue' ? 'UK' : 'EU'),
    },
    context(),
  )
  const snapshots = (region: Region, colour: string) => [
    { region, sequence: 1, createdAt: START, record: { thingReference: 'A', colour } },
  ]
  t.throws(() => restoreRecords(repository, snapshots('EU', 'blue'), 'things'), {
    code: 'INVALID_FIELD',
    field: 'things.0.region',
    message: 'region must be UK, not EU.',
  })
  t.doesNotThrow(() => restoreRecords(repository, snapshots('UK', 'blue'), 'things'))
})

/** Another context at the same time, with the same events. */
function successor(earlier: TenantContext): TenantContext {
  let sequence = 100
  return {
    ...context(formatInstant(earlier.clock.now())),
    events: createEventLog(earlier.events.after(0)),
    nextSequence: () => ++sequence,
  }
}

t.test(
  'control plane, GET and PUT /state: records with a lifecycle keep their timelines and planned transitions',
  async t => {
    const shared = context()
    const repository = apples(shared)
    repository.create('EU', apple(), 'api')
    repository.create('US', apple({ appleReference: 'A-2', ripeOn: '2026-11-12T00:00:00Z' }), 'api')
    repository.create('EU', apple({ appleReference: 'A-3', ripeOn: null }), 'api')
    shared.clock.advanceTo(at('2026-11-11T00:00:00Z'))
    const snapshots = repository.snapshot()
    t.match(snapshots, [
      { region: 'EU', sequence: 1, timeline: [1, 4], record: { appleReference: 'A-1', status: 'RIPE' } },
      { region: 'US', sequence: 2, timeline: [2], record: { appleReference: 'A-2', status: 'NEW' } },
      { region: 'EU', sequence: 3, timeline: [3] },
    ])

    const later = successor(shared)
    const copy = apples(later)
    copy.restore(JSON.parse(JSON.stringify(snapshots)), 'apples')
    t.same(copy.snapshot(), snapshots)
    t.equal(copy.size(), 3)
    for (const reference of ['A-1', 'A-2', 'A-3']) {
      const [ours, theirs] = [copy.find(reference)[0], repository.find(reference)[0]]
      t.same(copy.explain(ours as NonNullable<typeof ours>), repository.explain(theirs as NonNullable<typeof theirs>))
    }
    for (const { clock } of [shared, later]) clock.advanceTo(at('2027-01-01T00:00:00Z'))
    t.same(later.events.after(0), shared.events.after(0))
    t.same(copy.snapshot(), repository.snapshot())
  },
)

t.test('control plane, PUT /state: past transitions are not repeated', async t => {
  const shared = context()
  const repository = apples(shared)
  repository.create('EU', apple(), 'api')
  repository.move(repository.get('EU', 'A-1', thingNotFound), 'ripen', 'control')
  const seen: string[] = []
  apples(successor(shared), { onTransition: ({ status }) => seen.push(status) }).restore(
    repository.snapshot(),
    'apples',
  )
  t.same(seen, [])
})

t.test('control plane, PUT /state: an overdue transition happens now', async t => {
  const shared = context()
  const repository = apples(shared)
  repository.create('EU', apple(), 'api')
  const later = { ...successor(shared), clock: context('2026-11-20T00:00:00Z').clock }
  const copy = apples(later)
  copy.restore(repository.snapshot(), 'apples')
  t.equal(later.clock.nextDue(), at('2026-11-20T00:00:00Z'))
  later.clock.sync(0)
  t.match(later.events.after(1), [{ at: '2026-11-20T00:00:00Z', to: 'RIPE' }])
})

t.test('control plane, PUT /state: a timeline lists events of its own record, in order, each once', async t => {
  const shared = context()
  const repository = apples(shared)
  repository.create('EU', apple(), 'api')
  repository.create('EU', apple({ appleReference: 'A-2' }), 'api')
  repository.move(repository.get('EU', 'A-1', thingNotFound), 'ripen', 'control')
  shared.events.append({ at: START, kind: 'mandate', reference: 'A-1', from: null, to: 'NEW', cause: 'api' })
  const restore = (timeline: number[]) => {
    const snapshots = repository.snapshot().map(item => (item.sequence === 1 ? { ...item, timeline } : item))
    apples(successor(shared)).restore(snapshots, 'apples')
  }
  for (const timeline of [[1, 3], [1], [3], []]) t.doesNotThrow(() => restore(timeline), `${timeline}`)
  for (const [timeline, position] of [
    [[2], 0],
    [[4], 0],
    [[5], 0],
    [[0], 0],
    [[1, 1], 1],
    [[3, 1], 1],
    [[1, 3, 3], 2],
  ] as const)
    t.throws(
      () => restore([...timeline]),
      { code: 'INVALID_FIELD', field: `apples.0.timeline.${position}` },
      `${timeline}`,
    )
})
