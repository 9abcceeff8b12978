import t from 'tap'
import { createClock } from '../../src/core/clock.js'
import type { Engine } from '../../src/core/engine.js'
import { errors } from '../../src/core/errors.js'
import { createEventLog } from '../../src/core/events.js'
import { createIds } from '../../src/core/ids.js'
import type { Region } from '../../src/core/regions.js'
import type { Lifecycle } from '../../src/core/state-machine.js'
import type { StatefulKind, Step } from '../../src/core/stateful-table.js'
import { createStatefulTable } from '../../src/core/stateful-table.js'
import type { Entry, Table } from '../../src/core/table.js'
import { createTable, keeping } from '../../src/core/table.js'
import { formatInstant, parseInstant } from '../../src/core/time.js'

const START = '2026-11-02T09:00:00Z'
const at = (text: string) => parseInstant(text) as number

function engine(now = START): Engine {
  let sequence = 0
  return {
    clock: createClock({ now: at(now), mode: 'frozen', rate: 1, realNow: 0 }),
    ids: createIds('seed', 'acme'),
    events: createEventLog(),
    nextSequence: () => ++sequence,
  }
}

// ------------------------------------------------------------------------------------------------ without states

interface Thing {
  readonly thingReference: string
  readonly colour?: string
}

const things = (shared = engine(), name = 'things') =>
  createTable<Thing, Entry<Thing>, 'colour'>(
    {
      name,
      referenceField: 'thingReference',
      reference: thing => thing.thingReference,
      facets: { colour: thing => thing.colour },
    },
    shared,
  )

const store = (table: Table<Thing, Entry<Thing>, 'colour'>, region: Region, record: Thing, createdAt = START) =>
  table.add({ ...table.placeAt(at(createdAt)), region, record })

const thingNotFound = errors.billNotFound

t.test('decisions §4: a record belongs to its region, and another may have the same reference', async t => {
  const table = things()
  store(table, 'EU', { thingReference: 'A', colour: 'red' })
  store(table, 'US', { thingReference: 'A', colour: 'blue' })
  t.equal(table.size(), 2)
  t.equal(table.get('EU', 'A', thingNotFound).record.colour, 'red')
  t.equal(table.get('US', 'A', thingNotFound).record.colour, 'blue')
  t.equal(table.has('EU', 'A'), true)
  t.equal(table.has('UK', 'A'), false)
  t.throws(() => table.get('UK', 'A', thingNotFound), { code: 'BILL_NOT_FOUND', message: /"A"/ })
  t.same(
    table.find('A').map(({ region }) => region),
    ['EU', 'US'],
  )
  t.same(table.find('B'), [])
})

t.test('decisions §2, DUPLICATE_REFERENCE: a taken reference is refused, by the name of its field', async t => {
  const table = things()
  store(table, 'EU', { thingReference: 'A' })
  t.throws(() => table.refuseDuplicate('EU', 'A'), {
    code: 'DUPLICATE_REFERENCE',
    field: 'thingReference',
    status: 409,
  })
  t.doesNotThrow(() => table.refuseDuplicate('US', 'A'))
  t.doesNotThrow(() => table.refuseDuplicate('EU', 'B'))
})

t.test('control plane, POST /seed: duplicates of the store and of the batch are refused by their path', async t => {
  const table = things()
  store(table, 'EU', { thingReference: 'A' })
  const batch = (...placed: [Region, string][]) =>
    placed.map(([region, thingReference]) => ({ region, record: { thingReference } }))
  t.throws(() => table.refuseDuplicates(batch(['EU', 'B'], ['EU', 'A']), 'records.things'), {
    code: 'DUPLICATE_REFERENCE',
    field: 'records.things.1.thingReference',
  })
  t.throws(() => table.refuseDuplicates(batch(['EU', 'B'], ['EU', 'C'], ['EU', 'B']), 'records.things'), {
    code: 'DUPLICATE_REFERENCE',
    field: 'records.things.2.thingReference',
  })
  t.doesNotThrow(() => table.refuseDuplicates(batch(['US', 'A'], ['EU', 'B'], ['UK', 'B']), 'records.things'))
  t.equal(table.size(), 1, 'and nothing is stored by asking')
})

t.test('decisions §5: a list has the envelope, and a cursor leads to the next page', async t => {
  const table = things()
  for (const thingReference of ['A', 'B', 'C']) store(table, 'EU', { thingReference })
  store(table, 'US', { thingReference: 'D' })

  const first = table.list('EU', { limit: 2 })
  t.match(first, { totalCount: 3, hasMore: true, data: [{ thingReference: 'C' }, { thingReference: 'B' }] })
  t.type(first.nextCursor, 'string')
  t.same(table.list('EU', { limit: 2, cursor: first.nextCursor as string }), {
    totalCount: 3,
    hasMore: false,
    nextCursor: null,
    data: [{ thingReference: 'A' }],
  })
})

t.test('decisions §5: an empty list', async t => {
  t.same(things().list('EU', {}), { totalCount: 0, hasMore: false, nextCursor: null, data: [] })
})

t.test('interface, Limits: a page has 100 records where the client names no number', async t => {
  const table = things()
  for (let count = 0; count < 101; count++) store(table, 'EU', { thingReference: `T-${count}` })
  const page = table.list('EU', {})
  t.equal(page.data.length, 100)
  t.equal(page.hasMore, true)
})

t.test('decisions §5: a cursor works with any filter', async t => {
  const table = things()
  for (const [at, colour] of ['red', 'blue', 'red', 'blue', 'red'].entries())
    store(table, 'EU', { thingReference: `T-${at}`, colour })
  const { nextCursor } = table.list('EU', { limit: 2 })
  const page = table.list('EU', { cursor: nextCursor as string, facets: { colour: ['red'] } })
  t.same(
    page.data.map(({ thingReference }) => thingReference),
    ['T-2', 'T-0'],
  )
  t.equal(page.totalCount, 3)
})

t.test('decisions §2, INVALID_CURSOR: a cursor of another region or list is refused', async t => {
  const shared = engine()
  const [table, others] = [things(shared), things(shared, 'others')]
  for (const thingReference of ['A', 'B']) {
    store(table, 'EU', { thingReference })
    store(table, 'US', { thingReference })
    store(others, 'EU', { thingReference })
  }
  const cursor = table.list('EU', { limit: 1 }).nextCursor as string
  t.equal(table.list('EU', { cursor }).data.length, 1)
  t.throws(() => table.list('US', { cursor }), { code: 'INVALID_CURSOR', field: 'cursor', status: 400 })
  t.throws(() => others.list('EU', { cursor }), { code: 'INVALID_CURSOR', field: 'cursor', status: 400 })
})

// --------------------------------------------------------------------------------------------------- with states

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

function apples(shared: Engine, changes: Partial<StatefulKind<Apple, State, Verb, never>> = {}) {
  const plan = ({ status, ripeOn }: Apple): Step<Verb> | null => {
    if (status === 'NEW' && typeof ripeOn === 'string') return { at: at(ripeOn), verb: 'ripen', cause: 'time' }
    if (status === 'RIPE') return { at: at('2026-12-01T00:00:00Z'), verb: 'rot', cause: 'outcome', reasonCode: 'AM04' }
    return null
  }
  return createStatefulTable<Apple, State, Verb, never>(
    {
      name: 'apples',
      event: 'bill',
      noun: 'apple',
      lifecycle,
      referenceField: 'appleReference',
      reference: apple => apple.appleReference,
      createdAt: apple => apple.createdAt,
      facets: {},
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

t.test('control plane, Shapes: creation is an event, from null', async t => {
  const shared = engine()
  const table = apples(shared)
  const entry = table.create('EU', apple(), 'api')
  const event = { seq: 1, at: START, kind: 'bill', reference: 'A-1', from: null, to: 'NEW', cause: 'api' }
  t.same(table.explain(entry).timeline, [event])
  t.same(shared.events.after(0), [event])
})

t.test('an entry holds data alone: who keeps it when its life is over keeps nothing else of that life', async t => {
  const entry = apples(engine()).create('EU', apple(), 'api')
  t.not(entry.dueAt, null, 'it has a plan')
  t.same(structuredClone(entry), entry)
})

t.test('control plane, Time: the planned steps happen at their own due times, and say why', async t => {
  const shared = engine()
  const table = apples(shared)
  const entry = table.create('EU', apple(), 'api')
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

t.test('control plane, verbs: a move by hand takes its facts along and replaces what was planned', async t => {
  const shared = engine()
  const table = apples(shared)
  const entry = table.create('EU', apple(), 'api')
  table.move(entry, 'ripen', 'control')
  shared.clock.advanceTo(at('2026-11-05T00:00:00Z'))
  table.move(entry, 'eat', 'control', { eater: 'Jane' })
  shared.clock.advanceTo(at('2027-01-01T00:00:00Z'))
  t.match(entry.record, { status: 'EATEN', eater: 'Jane', updatedAt: '2026-11-05T00:00:00Z' })
  t.same(
    table.explain(entry).timeline.map(({ at, to, cause }) => [at, to, cause]),
    [
      [START, 'NEW', 'api'],
      [START, 'RIPE', 'control'],
      ['2026-11-05T00:00:00Z', 'EATEN', 'control'],
    ],
  )
})

t.test('decisions §2, ILLEGAL_TRANSITION: a refused move changes nothing', async t => {
  const shared = engine()
  const table = apples(shared)
  const entry = table.create('EU', apple(), 'api')
  t.throws(() => table.move(entry, 'eat', 'control', { eater: 'Jane' }), {
    code: 'ILLEGAL_TRANSITION',
    message: 'Cannot eat a apple that is NEW. Legal now: ripen.',
  })
  t.same(entry.record, apple())
  t.equal(shared.events.last(), 1)
  t.equal(shared.clock.nextDue(), at('2026-11-10T12:00:00Z'))
})

t.test('decisions §5: the list filters by the status of now', async t => {
  const shared = engine()
  const table = apples(shared)
  const entry = table.create('EU', apple(), 'api')
  table.create('EU', apple({ appleReference: 'A-2' }), 'api')
  table.move(entry, 'ripen', 'control')
  const list = (status: State) =>
    table.list('EU', { facets: { status: [status] } }).data.map(({ appleReference }) => appleReference)
  t.same(list('NEW'), ['A-2'])
  t.same(list('RIPE'), ['A-1'])
  t.equal(table.size(), 2)
})

t.test('control plane, Time: whoever watches is told of each move, when it has been made', async t => {
  const shared = engine()
  const seen: string[] = []
  const table = apples(shared, {
    entered: ({ record, latestEvent }, cause) => seen.push(`${record.status} ${cause} ${latestEvent}`),
  })
  const entry = table.create('EU', apple(), 'api')
  t.same(seen, [], 'creation is no move')
  table.move(entry, 'ripen', 'control')
  shared.clock.advanceTo(at('2026-12-01T00:00:00Z'))
  t.same(seen, ['RIPE control 2', 'ROTTEN outcome 3'])
})

t.test('control plane, Time: a step is planned anew when what it depends on changes', async t => {
  const shared = engine()
  const table = apples(shared)
  const entry = table.create('EU', apple(), 'api')
  entry.record.ripeOn = '2026-11-20T00:00:00Z'
  table.replan(entry)
  t.equal(shared.clock.nextDue(), at('2026-11-20T00:00:00Z'))
  entry.record.ripeOn = null
  table.replan(entry)
  t.equal(shared.clock.nextDue(), null)
})

t.test('control plane, Shapes: the explained record tells its future and its legal moves', async t => {
  const shared = engine()
  const table = apples(shared)
  const entry = table.create('EU', apple(), 'api')
  t.same(table.explain(entry), {
    record: apple(),
    timeline: shared.events.after(0),
    next: { at: '2026-11-10T12:00:00Z', to: 'RIPE' },
    legal: [{ verb: 'ripen', to: 'RIPE' }],
  })
  shared.clock.advanceTo(at('2027-01-01T00:00:00Z'))
  t.match(table.explain(entry), { next: null, legal: [] })
  t.same(table.explain(entry, [{ verb: 'eat', to: 'EATEN', reasonCodes: ['AM04'] }]).legal, [
    { verb: 'eat', to: 'EATEN', reasonCodes: ['AM04'] },
  ])
})

t.test('control plane, Shapes: a step whose time has passed comes now', async t => {
  const shared = engine()
  const table = apples(shared)
  const entry = table.create('EU', apple({ ripeOn: '2026-10-01T00:00:00Z' }), 'control')
  t.same(table.explain(entry).next, { at: START, to: 'RIPE' })
  shared.clock.advanceTo(at(START))
  t.equal(table.explain(entry).timeline.at(-1)?.at, START)
  t.equal(entry.record.status, 'RIPE')
})

t.test('control plane, POST /seed: records of any state are checked first and stored later', async t => {
  const shared = engine()
  const table = apples(shared)
  const seeded = apple({
    appleReference: 'A-2',
    status: 'ROTTEN',
    reasonCode: 'AM04',
    createdAt: '2026-10-01T00:00:00Z',
    updatedAt: '2026-10-05T00:00:00Z',
  })
  const commit = table.stage(
    [
      { region: 'EU', record: apple() },
      { region: 'US', record: seeded },
    ],
    'records.apples',
  )
  t.equal(table.size(), 0)
  t.equal(shared.events.last(), 0)
  commit()
  t.equal(table.size(), 2)
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
  t.equal(formatInstant(table.get('US', 'A-2', thingNotFound).createdAt), '2026-10-01T00:00:00Z')
  t.throws(() => table.stage([{ region: 'EU', record: apple() }], 'records.apples'), {
    code: 'DUPLICATE_REFERENCE',
    field: 'records.apples.0.appleReference',
  })
})

// ------------------------------------------------------------------------------------------------ keep and restore

t.test('control plane, GET /state: a table without states is kept by place, in order of creation', async t => {
  const table = things()
  store(table, 'US', { thingReference: 'A' })
  store(table, 'EU', { thingReference: 'B', colour: 'red' }, '2026-10-01T00:00:00Z')
  store(table, 'US', { thingReference: 'C' })
  t.same(keeping(table).keep(), [
    { region: 'US', sequence: 1, createdAt: START, record: { thingReference: 'A' } },
    { region: 'EU', sequence: 2, createdAt: '2026-10-01T00:00:00Z', record: { thingReference: 'B', colour: 'red' } },
    { region: 'US', sequence: 3, createdAt: START, record: { thingReference: 'C' } },
  ])
  t.same(keeping(things()).keep(), [])
})

t.test('control plane, PUT /state: what was kept is found, listed and paged as before', async t => {
  const table = things()
  for (const [at, colour] of ['red', 'blue', 'red', 'blue', 'red'].entries())
    store(table, 'EU', { thingReference: `T-${at}`, colour }, at === 4 ? '2026-10-01T00:00:00Z' : START)
  const copy = things()
  keeping(copy).restore(JSON.parse(JSON.stringify(keeping(table).keep())), 'things')
  t.same(keeping(copy).keep(), keeping(table).keep())
  t.equal(copy.size(), 5)
  const first = table.list('EU', { limit: 2 })
  t.same(copy.list('EU', { limit: 2 }), first)
  t.same(
    copy.list('EU', { cursor: first.nextCursor as string, facets: { colour: ['red'] } }),
    table.list('EU', { cursor: first.nextCursor as string, facets: { colour: ['red'] } }),
  )
})

t.test(
  'control plane, PUT /state: what does not fit together is refused by its path, before anything is stored',
  async t => {
    const kept = (sequence: number, thingReference: string, region: Region = 'EU') => ({
      region,
      sequence,
      createdAt: START,
      record: { thingReference },
    })
    for (const [items, code, field] of [
      [[kept(1, 'A'), kept(2, 'A')], 'DUPLICATE_REFERENCE', 'things.1.thingReference'],
      [[kept(1, 'A'), kept(1, 'B')], 'INVALID_FIELD', 'things.1.sequence'],
      [[kept(2, 'A'), kept(1, 'B')], 'INVALID_FIELD', 'things.1.sequence'],
      [[kept(1, 'A'), kept(3, 'B'), kept(2, 'C')], 'INVALID_FIELD', 'things.2.sequence'],
    ] as const) {
      const table = things()
      t.throws(() => keeping(table).restore(items, 'things'), { code, field })
      t.equal(table.size(), 0)
    }
    t.doesNotThrow(() => keeping(things()).restore([kept(1, 'A'), kept(5, 'A', 'UK')], 'things'))
    t.doesNotThrow(() => keeping(things()).restore([], 'things'))
  },
)

t.test('decisions §4: a record whose region follows from what it is stands in no other', async t => {
  const table = createTable<Thing, Entry<Thing>, never>(
    {
      name: 'things',
      referenceField: 'thingReference',
      reference: thing => thing.thingReference,
      region: ({ colour }) => (colour === 'blue' ? 'UK' : 'EU'),
      facets: {},
    },
    engine(),
  )
  const kept = (region: Region, colour: string) => [
    { region, sequence: 1, createdAt: START, record: { thingReference: 'A', colour } },
  ]
  t.throws(() => keeping(table).restore(kept('EU', 'blue'), 'things'), {
    code: 'INVALID_FIELD',
    field: 'things.0.region',
    message: 'region must be UK, not EU.',
  })
  t.doesNotThrow(() => keeping(table).restore(kept('UK', 'blue'), 'things'))
})

/** A tenant's past, taken over by another engine at the same moment. */
function successor(earlier: Engine): Engine {
  let sequence = 100
  return {
    ...engine(formatInstant(earlier.clock.now())),
    events: createEventLog(earlier.events.after(0)),
    nextSequence: () => ++sequence,
  }
}

t.test('control plane, GET and PUT /state: records with states keep their histories and futures', async t => {
  const shared = engine()
  const table = apples(shared)
  table.create('EU', apple(), 'api')
  table.create('US', apple({ appleReference: 'A-2', ripeOn: '2026-11-12T00:00:00Z' }), 'api')
  table.create('EU', apple({ appleReference: 'A-3', ripeOn: null }), 'api')
  shared.clock.advanceTo(at('2026-11-11T00:00:00Z'))
  const kept = table.keep()
  t.match(kept, [
    { region: 'EU', sequence: 1, timeline: [1, 4], record: { appleReference: 'A-1', status: 'RIPE' } },
    { region: 'US', sequence: 2, timeline: [2], record: { appleReference: 'A-2', status: 'NEW' } },
    { region: 'EU', sequence: 3, timeline: [3] },
  ])

  const later = successor(shared)
  const copy = apples(later)
  copy.restore(JSON.parse(JSON.stringify(kept)), 'apples')
  t.same(copy.keep(), kept)
  t.equal(copy.size(), 3)
  for (const reference of ['A-1', 'A-2', 'A-3']) {
    const [ours, theirs] = [copy.find(reference)[0], table.find(reference)[0]]
    t.same(copy.explain(ours as NonNullable<typeof ours>), table.explain(theirs as NonNullable<typeof theirs>))
  }
  for (const { clock } of [shared, later]) clock.advanceTo(at('2027-01-01T00:00:00Z'))
  t.same(later.events.after(0), shared.events.after(0))
  t.same(copy.keep(), table.keep())
})

t.test('control plane, PUT /state: a move of the past is not made again', async t => {
  const shared = engine()
  const table = apples(shared)
  table.create('EU', apple(), 'api')
  table.move(table.get('EU', 'A-1', thingNotFound), 'ripen', 'control')
  const seen: string[] = []
  apples(successor(shared), { entered: ({ record }) => seen.push(record.status) }).restore(table.keep(), 'apples')
  t.same(seen, [])
})

t.test('control plane, PUT /state: what is overdue happens at once', async t => {
  const shared = engine()
  const table = apples(shared)
  table.create('EU', apple(), 'api')
  const later = { ...successor(shared), clock: engine('2026-11-20T00:00:00Z').clock }
  const copy = apples(later)
  copy.restore(table.keep(), 'apples')
  t.equal(later.clock.nextDue(), at('2026-11-20T00:00:00Z'))
  later.clock.sync(0)
  t.match(later.events.after(1), [{ at: '2026-11-20T00:00:00Z', to: 'RIPE' }])
})

t.test('control plane, PUT /state: a timeline names events of its own record, forwards, each once', async t => {
  const shared = engine()
  const table = apples(shared)
  table.create('EU', apple(), 'api')
  table.create('EU', apple({ appleReference: 'A-2' }), 'api')
  table.move(table.get('EU', 'A-1', thingNotFound), 'ripen', 'control')
  shared.events.append({ at: START, kind: 'mandate', reference: 'A-1', from: null, to: 'NEW', cause: 'api' }, 0)
  const restore = (timeline: number[]) => {
    const kept = table.keep().map(item => (item.sequence === 1 ? { ...item, timeline } : item))
    apples(successor(shared)).restore(kept, 'apples')
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
