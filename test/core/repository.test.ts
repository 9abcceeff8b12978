import fc from 'fast-check'
import t from 'tap'
import type { Region } from '../../src/core/domain/regions.js'
import { createIds } from '../../src/core/ids.js'
import { createChangeLog } from '../../src/core/records/changes.js'
import { createEventLog } from '../../src/core/records/events.js'
import type { Step } from '../../src/core/records/lifecycle.js'
import { PlainRepository } from '../../src/core/records/plain-repository.js'
import { StatefulRepository } from '../../src/core/records/stateful-repository.js'
import type { RecordNames, StoreContext } from '../../src/core/tenant-context.js'
import { createClock } from '../../src/core/time/clock.js'
import { formatInstant, parseInstant } from '../../src/core/time/time.js'

/** Makes the context of a store of its own, at an instant. */
function contextOf(names: Partial<RecordNames>, now = 0): StoreContext {
  let sequence = 0
  return {
    clock: createClock({ now, mode: 'frozen', rate: 1, realNow: 0 }),
    ids: createIds('seed', 'acme'),
    events: createEventLog(),
    changes: createChangeLog(),
    room: { used: 0, most: Infinity },
    nextSequence: () => ++sequence,
    names: {
      ...{ name: 'things', path: 'things', kind: undefined, reference: 'reference', notFound: 'ROUTE_NOT_FOUND' },
      ...names,
    },
  }
}

interface Thing {
  readonly thingReference: string
  readonly colour: string | undefined
}

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
        const repository = new PlainRepository<Thing>(contextOf({ reference: 'thingReference' }))
        for (const [index, { hour, colour }] of input.entries()) {
          const record = { thingReference: `${index}`, colour }
          repository.store({ createdAt: hour * 3_600_000, sequence: index + 1, region: 'EU', record })
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
          const list = repository.page('EU', { fields: { colour }, matches, cursor, limit })
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

t.test(
  'console, Large clients: the kept counts equal those of a fresh count after any changes and undone ones',
  async () => {
    interface Bill {
      readonly reference: string
      readonly status?: string
      readonly note?: number
    }
    const status = fc.constantFrom('OPEN', 'PAID', 'CANCELLED', undefined)
    const region = fc.constantFrom<Region>('EU', 'US')
    const number = fc.nat({ max: 9 })
    const step = fc.oneof(
      fc.record({ do: fc.constantFrom('create', 'move', 'note', 'load'), region, number, status }),
      fc.record({ do: fc.constant('fail'), steps: fc.nat({ max: 5 }) }),
      fc.record({ do: fc.constantFrom('store', 'restore') }),
    )
    type Step = { do: string; region: Region; number: number; status?: string; steps: number }
    const fresh = () => {
      const context = contextOf({ name: 'bills' })
      return [context.changes, new PlainRepository<Bill>(context)] as const
    }
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), steps => {
        let [changes, repository] = fresh()
        let sequence = 0
        const marks: number[] = []
        for (const { do: what, region, number, status, steps: back } of steps as Step[]) {
          const reference = `${number}`
          const record = { reference, ...(status !== undefined && { status }) }
          const [known] = repository.find(reference).filter(entry => entry.region === region)
          const length = changes.length()
          if (what === 'create' && known === undefined)
            repository.store({ createdAt: 0, sequence: ++sequence, region, record })
          if (what === 'move' && known !== undefined) repository.change(known, { record })
          if (what === 'note' && known !== undefined)
            repository.change(known, { record: { ...known.record, note: sequence } })
          if (changes.length() > length) marks.push(length)
          // The changes of an operation that throws are undone, the last one first.
          if (what === 'fail' && marks.length > 0) changes.undoTo(marks.splice(-back - 1)[0] ?? changes.length())
          // Undone work is never loaded over: a turn ends before the next one loads.
          if (what === 'store' || what === 'load') {
            changes.clear()
            marks.length = 0
          }
          if (what === 'load')
            repository.load({ region, reference, createdAt: 0, sequence: known?.sequence ?? ++sequence, record })
          if (what === 'restore') {
            const snapshots = [...repository.capture()]
            marks.length = 0
            ;[changes, repository] = fresh()
            repository.restore(snapshots, 'bills')
            changes.clear()
          }
          const counted: Record<string, number> = {}
          for (const { record } of repository.entries())
            if (record.status !== undefined) counted[record.status] = (counted[record.status] ?? 0) + 1
          const kept = Object.fromEntries(repository.counts())
          if (JSON.stringify(Object.entries(kept).sort()) !== JSON.stringify(Object.entries(counted).sort()))
            return false
        }
        return true
      }),
      { seed: 24, numRuns: 500 },
    )
  },
)

interface Door {
  readonly reference: string
  readonly house: string
  readonly status: 'SHUT' | 'OPEN'
  readonly createdAt: string
  readonly updatedAt: string
}
const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Doors, which open by themselves a day after their creation. */
class Doors extends StatefulRepository<Door, Door['status'], 'open' | 'shut'> {
  constructor(
    context: StoreContext,
    readonly onOpened: () => void,
  ) {
    super(context, { SHUT: { open: 'OPEN' }, OPEN: { shut: 'SHUT' } })
  }

  protected override createdAtOf = ({ createdAt }: Door) => createdAt
  protected override indexOf = ({ house }: Door) => house
  protected override afterTransition = () => this.onOpened()

  protected override stepAfter({ status, createdAt }: Door): Step<'open'> | null {
    if (status === 'OPEN') return null
    return { at: (parseInstant(createdAt) as number) + DAY, verb: 'open', cause: 'time' }
  }
}

function createDoors(onOpened = () => {}) {
  const context = contextOf({ name: 'doors', kind: 'door' }, DAY)
  const { clock, changes, events } = context
  const doors = new Doors(context, onOpened)
  const create = (number: number, hour: number) => {
    const at = formatInstant(hour * HOUR)
    const door = { reference: `${number}`, house: `${number % 3}`, createdAt: at, updatedAt: at }
    return doors.add('EU', { ...door, status: 'SHUT' }, 'api')
  }
  return {
    ...{ clock, changes, events, doors, create },
    /** Returns all that can be read. */
    see: () =>
      JSON.stringify([
        [...doors.capture()],
        [...doors.counts()].sort(),
        doors.page('EU', {}).data.map(door => door.reference),
        Array.from({ length: 10 }, (_, number) => doors.find(`${number}`).length),
        ['0', '1', '2'].map(house => doors.indexed(house).map(({ record }) => record.reference)),
        [doors.upcoming(undefined, 100), clock.nextDue()],
      ]),
  }
}

t.test('ARCHITECTURE, What holds everywhere: changes are undone without a trace', async () => {
  const step = fc.record({ number: fc.nat({ max: 9 }), hour: fc.integer({ min: 1, max: 24 }) })
  const steps = fc.array(step, { maxLength: 12 })
  fc.assert(
    fc.property(steps, steps, (earlier, later) => {
      const { changes, doors, create, see } = createDoors()
      /** Creates the door, or moves it if it exists. */
      const act = ({ number, hour }: { number: number; hour: number }) => {
        const [entry] = doors.find(`${number}`)
        if (entry === undefined) create(number, hour)
        else doors.transition(entry, entry.record.status === 'SHUT' ? 'open' : 'shut', 'api')
      }
      earlier.forEach(act)
      changes.clear()
      if (changes.length() > 0) return false
      const before = see()
      later.forEach(act)
      changes.undoTo(0)
      return see() === before
    }),
    { seed: 31, numRuns: 300 },
  )
})

t.test(
  'control plane, Explain the state of a record: a due step whose consequence fails leaves nothing half done, and is undone whole',
  async t => {
    const { clock, changes, doors, events, create } = createDoors(() => {
      throw new Error('The consequence fails.')
    })
    const entry = create(1, 10)
    clock.advance(3 * DAY)
    t.equal(clock.now(), 3 * DAY)
    t.same([entry.record.status, entry.timeline, events.last()], ['SHUT', [1], 1])
    const explained = () => doors.explain(entry.record.reference, '')
    t.match(explained(), { next: null, failed: 'See the log of the server.' })
    changes.undoTo(1)
    t.match([explained().failed, explained().next], [undefined, { to: 'OPEN' }], 'an operation that is undone')
  },
)
