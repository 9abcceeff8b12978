import t from 'tap'
import { createEventLog } from '../../src/core/events.js'

const event = (reference: string) =>
  ({ at: '2026-11-02T09:00:00Z', kind: 'mandate', reference, from: null, to: 'ACTIVE', cause: 'api' }) as const

t.test('control plane, Shapes: events are numbered from 1, in order', async t => {
  const log = createEventLog()
  t.equal(log.last(), 0)
  t.same(log.append(event('MND-0001')), { seq: 1, ...event('MND-0001') })
  t.same(log.append({ ...event('MND-0002'), reasonCode: 'AC01' }), {
    seq: 2,
    ...event('MND-0002'),
    reasonCode: 'AC01',
  })
  t.equal(log.last(), 2)
})

t.test('control plane, Shapes: `after` takes the seq of an event and gives those that follow', async t => {
  const log = createEventLog()
  for (const reference of ['MND-0001', 'MND-0002', 'MND-0003']) log.append(event(reference))
  const after = (seq: number) => log.after(seq).map(({ reference }) => reference)
  t.same(after(0), ['MND-0001', 'MND-0002', 'MND-0003'])
  t.same(after(2), ['MND-0003'])
  t.same(after(3), [])
  t.same(after(99), [])
})

t.test('control plane, PUT /state: the events of an earlier life come first', async t => {
  const earlier = [
    { seq: 1, ...event('MND-0001') },
    { seq: 2, ...event('MND-0002') },
  ]
  const log = createEventLog(earlier)
  t.equal(log.last(), 2)
  t.same(log.append(event('MND-0003')), { seq: 3, ...event('MND-0003') })
  t.equal(earlier.length, 2, 'which stays what it was')
  t.same(log.after(1), [
    { seq: 2, ...event('MND-0002') },
    { seq: 3, ...event('MND-0003') },
  ])
})

t.test('control plane, Shapes: an event by its number', async t => {
  const log = createEventLog()
  for (const reference of ['MND-0001', 'MND-0002']) log.append(event(reference))
  t.equal(log.at(1)?.reference, 'MND-0001')
  t.equal(log.at(2)?.reference, 'MND-0002')
  for (const seq of [0, 3, -1, 1.5]) t.equal(log.at(seq), undefined)
})
