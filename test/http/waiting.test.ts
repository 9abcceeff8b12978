import t from 'tap'
import { build, call, connect, mandate } from '../helper.js'
import { manualTime } from '../manual-time.js'

// control plane, GET /events: `wait` (seconds, at most 60) long-polls for the next event.

/** A server with manual time, and a long poll of each of two clients. */
async function prepare(t: Parameters<typeof build>[0], wait = 30) {
  const time = manualTime()
  const app = build(t, { now: time.now, timers: time.timers })
  await app.ready()
  const acme = await connect(app, 'acme')
  const other = await connect(app, 'other')
  const done: string[] = []
  const poll = async (clientId: string) => {
    const { body } = await call(app, 'GET', `/_sandbox/events?client=${clientId}&wait=${wait}`)
    done.push(clientId)
    return body.data.length as number
  }
  const polls = { acme: poll('acme'), other: poll('other') }
  await until(() => time.pending === 2)
  return { app, time, acme, other, done, polls }
}

/** Waits for a condition, one turn of the event loop at a time. */
async function until(isSo: () => boolean) {
  while (!isSo()) await new Promise(setImmediate)
}

t.test('control plane, GET /events: an event of its own tenant ends a wait, a request of another does not', async t => {
  const { time, acme, done, polls } = await prepare(t)
  await acme.get('/api/v1/mandates')
  t.same(done, [], 'a request without an event')
  await acme.post('/api/v1/mandates', mandate())
  t.same([await polls.acme, done, time.pending], [1, ['acme'], 1])
  time.pass(29_999)
  await new Promise(setImmediate)
  t.same(done, ['acme'])
  time.pass(1)
  t.same([await polls.other, time.pending], [0, 0], 'a wait ends after its seconds, without a timer left')
})

t.test('control plane, GET /events: a reset and a closing server end a wait', async t => {
  const { app, acme, polls } = await prepare(t)
  await acme.control('POST', '/reset', {})
  await app.close()
  t.same([await polls.acme, await polls.other], [0, 0])
})
