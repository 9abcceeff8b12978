/** The events of a sandbox's client: as a list, one at a time. */
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import t from 'tap'
import type { Event, Sandbox } from '../../src/client/index.js'
import { connectSandbox } from '../../src/client/index.js'
import { collection, MONDAY, mandate, pluck } from '../helper.js'
import { api, create, method, RECORDS, refusal } from './helper.js'

/** A mandate and a collection, made by the API. */
async function make(sandbox: Sandbox) {
  await api(sandbox, 'POST', '/mandates', mandate())
  await api(sandbox, 'POST', '/direct-debit', collection())
}

const CREATED: readonly Event[] = [
  { seq: 1, at: MONDAY, kind: 'mandate', reference: 'MND-0001', from: null, to: 'ACTIVE', cause: 'api' },
  { seq: 2, at: MONDAY, kind: 'collection', reference: 'COL-0001', from: null, to: 'PENDING', cause: 'api' },
]

const states = (events: readonly Event[]) => events.map(({ to }) => to)

method('events.list tells all, or what a filter is for', async (t, sandbox) => {
  const { events } = sandbox
  await make(sandbox)
  t.same(await events.list(), CREATED)
  await sandbox.clock.advance({ by: 'P10D' })
  t.same(states(await events.list({ kind: 'collection' })), ['PENDING', 'SUBMITTED', 'PROCESSING', 'SETTLED'])
  t.same(states(await events.list({ reference: 'MND-0001' })), ['ACTIVE'])
  t.same(states(await events.list({ to: 'SETTLED' })), ['SETTLED'])
  t.same(states(await events.list({ after: 3 })), ['PROCESSING', 'SETTLED'])
  t.same(await events.list({ after: 99 }), [])
  const kind = 'payment' as 'bill'
  t.match(await refusal(events.list({ kind })), { code: 'INVALID_QUERY_PARAMETER', field: 'kind', status: 400 })
})

method('events.next gives each event once, for each filter by itself', async (t, sandbox) => {
  const { events } = sandbox
  await make(sandbox)
  t.same(await events.next(), CREATED[0])
  t.same(await events.next(), CREATED[1])
  t.same(await events.next({ kind: 'collection' }), CREATED[1])
  await sandbox.clock.advance({ by: 'P10D' })
  t.match(await events.next({ reference: 'COL-0001', to: 'SETTLED' }), { seq: 5, cause: 'time' })
  t.match(await events.next({ reference: 'COL-0001', to: 'SUBMITTED' }), { seq: 3 }, 'an earlier event')
  t.match(await events.next(), { seq: 3, to: 'SUBMITTED' })
  t.match(await events.next({ kind: 'collection' }), { seq: 3 })
  t.match(await events.next({ after: 0 }), { seq: 1 }, 'after says where to look')
  t.match(await events.next(), { seq: 2 }, 'and the filter goes on from there')
})

method('events.next waits for what comes', async (t, sandbox) => {
  const { events } = sandbox
  await make(sandbox)
  const settled = events.next({ kind: 'collection', to: 'SETTLED' }, { timeoutSeconds: 30 })
  await sandbox.clock.advance({ toNextEvent: true })
  await sandbox.clock.advance({ by: 'P10D' })
  t.match(await settled, { reference: 'COL-0001', from: 'PROCESSING', to: 'SETTLED' })
})

method('events.next does not wait for ever, and says what is missing', async (t, sandbox) => {
  const { events, clock } = sandbox
  const atOnce = { timeoutSeconds: 0 }
  const frozen = await refusal(events.next({ kind: 'collection', reference: 'COL-0001', to: 'SETTLED' }, atOnce))
  t.match(frozen, { name: 'SandboxError', code: 'TIMEOUT', field: null, status: null })
  t.equal(
    frozen.message,
    'No new event, kind collection, reference COL-0001, to SETTLED within 0 s. COL-0001 has no event. ' +
      `The clock is frozen at ${MONDAY}: advance it to trigger scheduled events.`,
  )
  await make(sandbox)
  t.match(
    (await refusal(events.next({ reference: 'COL-0001', to: 'SETTLED' }, atOnce))).message,
    / COL-0001 is PENDING\. /,
  )
  // @ts-expect-error: no kind has this state.
  const mistyped = await refusal(events.next({ to: 'RETURNEDD' }, { timeoutSeconds: 60 }))
  t.match(mistyped, { code: 'INVALID_QUERY_PARAMETER', field: 'to', status: 400, message: /PENDING.*RETURNED/ })
  await clock.resume()
  await events.next()
  await events.next()
  t.equal((await refusal(events.next({}, atOnce))).message, 'No new event within 0 s.')
})

method('events.next starts again after a reset', async (t, sandbox) => {
  const { events } = sandbox
  await make(sandbox)
  const state = await sandbox.state()
  t.match(await events.next({ kind: 'collection' }), { seq: 2 })
  await sandbox.restore(state)
  t.match(await events.next({ kind: 'collection' }), { seq: 2 })
  await sandbox.reset()
  await make(sandbox)
  t.match(await events.next({ kind: 'collection' }), { seq: 2 })
})

t.test(`library, In your tests: events.list goes through all pages`, async t => {
  const sandbox = await create(t)
  const [mandate] = RECORDS.mandates
  const count = 2001
  await sandbox.seed({
    mandates: Array.from({ length: count }, (_, at) => ({ ...mandate, mandateReference: `MND-${10_000 + at}` })),
  })
  const seqs = pluck(await sandbox.events.list(), 'seq')
  t.same(seqs, [...Array(count + 1).keys()].slice(1))
  t.equal((await sandbox.events.list({ kind: 'mandate', after: 1 })).length, count - 1)
})

// ---------------------------------------------------------------------------------------- a server that is not as usual

const event = (seq: number, changes: Partial<Event> = {}): Event => ({ ...(CREATED[0] as Event), seq, ...changes })

/** A stand-in for a server, which answers the requests for events in turn; tells with what queries. */
async function standIn(t: Test, ...answers: ((response: ServerResponse) => void)[]) {
  const queries: Record<string, string>[] = []
  const server = createServer((request: IncomingMessage, response) => {
    const { pathname, searchParams } = new URL(request.url as string, 'http://sandbox')
    if (pathname !== '/_sandbox/events') {
      response.end(JSON.stringify({ now: MONDAY, mode: 'running', rate: 1 }))
      return
    }
    const { client, ...query } = Object.fromEntries(searchParams)
    queries.push(query)
    const answer = answers.shift()
    if (answer === undefined) response.socket?.destroy()
    else answer(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sandbox = await connectSandbox({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return { sandbox, queries }
}

const page =
  (last: number, ...data: Event[]) =>
  (response: ServerResponse) =>
    void response.end(JSON.stringify({ data, last }))

t.test(`library, In your tests: events.next asks again while there is time, and looks only at what is new`, async t => {
  const { sandbox, queries } = await standIn(t, page(7), page(8), page(2), page(9, event(9, { to: 'FAILED' })))
  const next = await sandbox.events.next({ to: 'FAILED' }, { timeoutSeconds: 100 })
  t.equal(next.seq, 9)
  t.same(queries, [
    { to: 'FAILED', after: '0', wait: '60' },
    { to: 'FAILED', after: '7', wait: '60' },
    { to: 'FAILED', after: '8', wait: '60' },
    // There are fewer than before, so the client was reset.
    { to: 'FAILED', after: '0', wait: '60' },
  ])
})

t.test(`library, In your tests: events.next waits 4 s unless one says otherwise, in whole seconds`, async t => {
  const { sandbox, queries } = await standIn(t, page(1, event(1)), page(2, event(2)))
  await sandbox.events.next()
  await sandbox.events.next({}, { timeoutSeconds: 2.9 })
  t.same(queries, [
    { after: '0', wait: '4' },
    { after: '1', wait: '3' },
  ])
})
