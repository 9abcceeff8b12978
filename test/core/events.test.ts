import fc from 'fast-check'
import t from 'tap'
import type { Event, NewEvent } from '../../src/core/records/events.js'
import { createEventLog } from '../../src/core/records/events.js'

const event = (reference: string) =>
  ({ at: '2026-11-02T09:00:00Z', kind: 'mandate', reference, from: null, to: 'ACTIVE', cause: 'api' }) as const

t.test('control plane: events are numbered from 1, in order', async t => {
  const log = createEventLog()
  t.equal(log.last(), 0)
  t.equal(log.append(event('MND-0001')), 1)
  t.equal(log.append({ ...event('MND-0002'), reasonCode: 'AC01' }), 2)
  t.equal(log.last(), 2)
  t.same(log.after(0), [
    { seq: 1, ...event('MND-0001') },
    { seq: 2, ...event('MND-0002'), reasonCode: 'AC01' },
  ])
  t.same(Object.keys(log.at(2) as Event), ['seq', 'at', 'kind', 'reference', 'from', 'to', 'reasonCode', 'cause'])
  t.notOk('reasonCode' in (log.at(1) as Event))
})

t.test('control plane: `after` takes the seq of an event and gives those that follow', async t => {
  const log = createEventLog()
  for (const reference of ['MND-0001', 'MND-0002', 'MND-0003']) log.append(event(reference))
  const after = (seq: number) => log.after(seq).map(({ reference }) => reference)
  t.same(after(0), ['MND-0001', 'MND-0002', 'MND-0003'])
  t.same(after(2), ['MND-0003'])
  t.same(after(3), [])
  t.same(after(99), [])
})

t.test('control plane, PUT /state: the log starts with the events of a restored state', async t => {
  const earlier = [
    { seq: 1, ...event('MND-0001') },
    { seq: 2, ...event('MND-0002') },
  ]
  const log = createEventLog(earlier)
  t.equal(log.last(), 2)
  t.equal(log.append(event('MND-0003')), 3)
  t.equal(earlier.length, 2, 'the given array is not changed')
  t.same(log.after(1), [
    { seq: 2, ...event('MND-0002') },
    { seq: 3, ...event('MND-0003') },
  ])
})

t.test('control plane: an event by its number', async t => {
  const log = createEventLog()
  for (const reference of ['MND-0001', 'MND-0002']) log.append(event(reference))
  t.equal(log.at(1)?.reference, 'MND-0001')
  t.equal(log.at(2)?.reference, 'MND-0002')
  for (const seq of [0, 3, -1, 1.5]) t.equal(log.at(seq), undefined)
})

t.test('control plane, GET /events: selected events equal a naive filter, up to the limit', async t => {
  const change = fc.record({
    at: fc.constantFrom('2026-11-02T09:00:00Z', '2026-11-02T10:00:00Z'),
    kind: fc.constantFrom('mandate', 'collection'),
    reference: fc.constantFrom('A', 'B', 'C'),
    from: fc.constantFrom(null, 'X'),
    to: fc.constantFrom('X', 'Y'),
    reasonCode: fc.constantFrom(undefined, 'AM04'),
    cause: fc.constantFrom('api', 'time'),
  }) as fc.Arbitrary<NewEvent>
  const wanted = fc.record({
    after: fc.integer({ min: 0, max: 40 }),
    kind: fc.constantFrom(undefined, 'mandate', 'payoutLink'),
    reference: fc.constantFrom(undefined, 'A', 'Z'),
    most: fc.integer({ min: 1, max: 20 }),
  })
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40 }), wanted, (changes, { after, kind, reference, most }) => {
      const log = createEventLog()
      const naive = changes.map(({ reasonCode, ...rest }, at) => {
        log.append({ reasonCode, ...rest })
        return { seq: at + 1, ...rest, ...(reasonCode !== undefined && { reasonCode }) }
      })
      const all = naive
        .slice(after)
        .filter(event => (kind ?? event.kind) === event.kind && (reference ?? event.reference) === event.reference)
      t.same(log.select(after, { kind, reference } as object, most), {
        events: all.slice(0, most),
        areAll: all.length <= most,
      })
    }),
    { seed: 4, numRuns: 300 },
  )
})
