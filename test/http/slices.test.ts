import type { Test } from 'tap'
import t from 'tap'
import { inRounds, inSlices } from '../../src/http/slices.js'
import type { Timers } from '../../src/http/timers.js'
import { createTimers } from '../../src/http/timers.js'
import { buildServer } from '../../src/server.js'
import { gist, refused } from '../answers.js'
import type { Answer, BuildOptions, Client } from '../helper.js'
import {
  build,
  call,
  collection,
  connect,
  MONDAY,
  mandate,
  payoutLink,
  requestToken,
  serverOptions,
} from '../helper.js'
import { until } from '../manual-time.js'
import { onDatabase } from '../persistence/helper.js'

// control plane, Long calls: They are done in slices, so that other tenants go on. Requests of the tenant wait.

/** Timers by which every slice is over at once: each step of the work is one. */
function hasty(): Timers & { readonly looks: number } {
  let looks = 0
  return {
    ...createTimers(),
    elapsed: () => ++looks * 1000,
    get looks() {
      return looks
    },
  }
}

/** Waits until the slices of a call have begun. */
async function begun<T>(
  timers: ReturnType<typeof hasty>,
  call: () => Promise<T>,
): Promise<{ readonly end: Promise<T> }> {
  const { looks } = timers
  const end = call()
  await until(() => timers.looks > looks + 2)
  return { end }
}

const collections = (count: number) =>
  Array.from({ length: count }, (_, n) => collection({ collectionReference: `COL-${1000 + n}` }))

const fill = async (client: Client, count = 30) => {
  const records = { mandates: [mandate()], collections: collections(count) }
  const answer = await client.control('POST', '/seed', { records })
  if (answer.status !== 200) throw new Error(answer.body.message)
}

const stateOf = async (client: Client) => (await client.control('GET', '/state')).body

/** Calls that change the whole tenant of a client. */
const longCalls: Record<string, (client: Client, document: object) => Promise<Answer>> = {
  'POST /clock/advance': client => client.control('POST', '/clock/advance', { by: 'P10D' }),
  'POST /seed': client =>
    client.control('POST', '/seed', {
      records: { collections: collections(60).slice(30) },
    }),
  'POST /mandates/MND-0001/cancel': client => client.control('POST', '/mandates/MND-0001/cancel'),
  'POST /fork': client => client.control('POST', '/fork', { clientId: 'copy' }),
  'PUT /state': (client, document) => client.control('PUT', '/state', document),
}

type Server = Pick<ReturnType<typeof buildServer>, 'app' | 'registry'>

async function testOrder(t: Test, { app }: Server, timers: ReturnType<typeof hasty>) {
  const [client, other] = [await connect(app), await connect(app, 'other')]
  await fill(client)
  const document = await stateOf(client)
  for (const [name, send] of Object.entries(longCalls)) {
    const order: string[] = []
    const noted = (what: string, answer: Promise<Answer>) =>
      answer.then(({ status }) => {
        order.push(`${what} ${status}`)
      })
    const { token } = await connect(app)
    const { end } = await begun(timers, () => send(client, document))
    const headers = { authorization: `Bearer ${token}` }
    await Promise.all([
      noted('long', end),
      noted('own', client.control('GET', '/clock')),
      noted('own token', call(app, 'GET', '/api/v1/bills', { region: 'EU', headers })),
      noted('other', other.get('/api/v1/bills')),
    ])
    const long = `long ${name === 'POST /fork' ? 201 : 200}`
    const late = ['own 200', `own token ${name === 'POST /clock/advance' ? 401 : 200}`]
    t.equal(order[0], 'other 200', name)
    t.same(order.slice(1).sort(), [long, ...late], `${name}: its own requests wait`)
  }
}

t.test('control plane, Long calls: many requests begin in their order, and a health check does not wait', async t => {
  const app = build(t, { timers: hasty() })
  const client = await connect(app)
  const paths = [
    '/api/v1/bills?limit=1',
    '/_sandbox/clock',
    '/api/v1/mandates',
    '/_sandbox/events',
    '/_sandbox/health/live',
  ]
  const order: string[] = []
  const token = requestToken(app, { client_id: 'new', client_secret: 'x' }).then(() => order.push('token'))
  await Promise.all([token, ...paths.map(path => client.get(path).then(() => order.push(path)))])
  t.same(order, [paths.at(-1), ...paths.slice(0, -1), 'token'], 'the body of the token request is read first')
})

/** Reads of a client that wait for it take no place from those of others, and no list waits for it. */
async function testPlaces(t: Test, { app }: Server, timers: ReturnType<typeof hasty>) {
  const clients = [await connect(app), await connect(app, 'busy')]
  await fill(await connect(app, 'other'), 1)
  for (const client of clients) await fill(client, 1000)
  const ends = clients.map(client => client.control('POST', '/clock/advance', { by: 'P10D' }))
  const { looks } = timers
  await until(() => timers.looks > looks + 200)
  const order: string[] = []
  const noted = async (what: string, answer: Promise<{ readonly status: number }>) => {
    order.push(`${what} ${(await answer).status}`)
  }
  const get = (path: string) => call(app, 'GET', path)
  const paths = [
    '/_sandbox/console?client=other',
    '/_sandbox/console/client?client=other',
    '/_sandbox/requests?client=other',
    '/_sandbox/clients',
    '/_sandbox/state?client=other',
    '/docs/guide',
  ]
  await Promise.all([
    ...ends.map(end => noted('long', end)),
    ...['acme', 'busy', 'acme', 'busy', 'acme', 'busy'].map(id => noted('own', get(`/_sandbox/console?client=${id}`))),
    ...paths.map(path => noted(path, get(path))),
  ])
  t.same(order.slice(0, paths.length).sort(), paths.map(path => `${path} 200`).sort())
  t.same(order.slice(paths.length).sort(), [...Array(2).fill('long 200'), ...Array(6).fill('own 200')])
}

/** A client that is being made by a fork is the one that later requests see. */
async function testFork(t: Test, { app }: Server, timers: ReturnType<typeof hasty>) {
  const [client, other] = [await connect(app), await connect(app, 'other')]
  await fill(client)
  const { end } = await begun(timers, () => client.control('POST', '/fork', { clientId: 'copy' }))
  const [fork, token, reset] = await Promise.all([
    other.control('POST', '/fork', { clientId: 'copy' }),
    requestToken(app, { client_id: 'copy', client_secret: 'another' }),
    call(app, 'POST', '/_sandbox/reset?client=copy'),
  ])
  t.same([await end, fork, token, reset].map(gist), [
    '201',
    '409 DUPLICATE_REFERENCE clientId',
    '401 INVALID_CLIENT client_id',
    '200',
  ])
}

/** A token that a long call makes expire is refused, though it was good when its request came. */
async function testExpiry(t: Test, { app }: Server, timers: ReturnType<typeof hasty>) {
  const client = await connect(app)
  // All of the work comes before the token expires.
  const payoutLinks = Array.from({ length: 30 }, (_, n) => payoutLink({ expiryPeriod: `PT${10 + n}M` }))
  await client.control('POST', '/seed', { records: { payoutLinks } })
  const { end } = await begun(timers, () => client.control('POST', '/clock/advance', { by: 'PT2H' }))
  t.equal(gist(await client.get('/api/v1/bills')), '401 EXPIRED_TOKEN authorization')
  t.equal((await end).body.transitions.length, 30)
}

t.test(
  'control plane, Long calls: a list of clients that waits leaves out those that are removed meanwhile',
  async t => {
    const timers = hasty()
    const app = build(t, { timers })
    const [client, other] = [await connect(app), await connect(app, 'other')]
    await fill(client)
    const { end } = await begun(timers, () => client.control('POST', '/clock/advance', { by: 'P10D' }))
    await other.get('/api/v1/bills')
    const [list] = await Promise.all([
      call(app, 'GET', '/_sandbox/clients'),
      call(app, 'DELETE', '/_sandbox/clients/other'),
      end,
    ])
    t.equal(list.status, 200)
    t.same(list.body.data.map(({ clientId }: Client) => clientId).sort(), ['acme', 'sandbox-client'])
  },
)

t.test('control plane, Long calls: slices give the same state and answers as one step', async t => {
  const run = async (options: BuildOptions) => {
    const client = await connect(build(t, options))
    await fill(client)
    const document = await stateOf(client)
    const answers: unknown[] = []
    for (const long of Object.values(longCalls))
      answers.push((await long(client, document)).body, await stateOf(client))
    answers.push((await call(client.app, 'GET', '/_sandbox/state?client=copy')).body)
    return answers
  }
  t.same(await run({ timers: hasty() }), await run({}))
})

t.test('control plane, Long calls: the work of a running clock is done in slices, too', async t => {
  let now = Date.parse(MONDAY)
  const app = build(t, { clock: 'real', now: () => now, timers: hasty() })
  const [client, other] = [await connect(app), await connect(app, 'other')]
  await fill(client)
  now += 5 * 86_400_000
  const order: string[] = []
  const noted = async (what: string, answer: Promise<Answer>) => {
    const { status, body } = await answer
    order.push(`${what} ${status}`)
    return body
  }
  const [, explained] = await Promise.all([
    // With its expired token, it brings the clock to the present.
    noted('expired', client.get('/api/v1/bills')),
    noted('own', client.control('GET', '/direct-debit/COL-1029')),
    noted('other', call(app, 'GET', '/_sandbox/clock?client=other')),
  ])
  t.same(order, ['other 200', 'expired 401', 'own 200'])
  t.equal(explained.record.status, 'PROCESSING')
  t.equal(other.clientId, 'other')
})

/** A seeding of which a step fails leaves nothing, nor do requests that come meanwhile see anything of it. */
async function testUndoing(t: Test, { app, registry }: Server, timers: ReturnType<typeof hasty>) {
  const client = await connect(app)
  await fill(client)
  const before = await stateOf(client)
  const { events } = registry.peek('acme') ?? {}
  if (events === undefined) throw new Error('There is no such tenant.')
  const { append } = events
  let left = 15
  events.append = event => {
    if (--left === 0) throw new Error('injected')
    return append(event)
  }
  const seed = longCalls['POST /seed'] as (typeof longCalls)['']
  const { end } = await begun(timers, () => seed(client, {}))
  const during = await client.control('GET', '/state')
  refused(t, await end, 500, 'INTERNAL_ERROR', null)
  t.same(during.body, before)
  t.same(await stateOf(client), before)
  events.append = append
  const { transitions } = (await client.control('POST', '/clock/advance', { by: 'P10D' })).body
  t.equal(transitions.length, 90, 'the work is still planned')
}

// In memory, and on a database.
for (const [title, test] of [
  ['requests of other tenants come in between, those of the tenant wait', testOrder],
  ['reads that wait for their tenant take no place from others', testPlaces],
  ['the client that a fork makes waits, too', testFork],
  ['a token is checked after them', testExpiry],
  ['one that fails in between leaves nothing', testUndoing],
] as const) {
  t.test(`control plane, Long calls: ${title}`, async t => {
    const timers = hasty()
    const server = buildServer(serverOptions({ timers }))
    t.teardown(() => server.app.close())
    await test(t, server, timers)
  })

  onDatabase(`control plane, Long calls: ${title}`, async (t, storage) => {
    const timers = hasty()
    await test(t, await storage.start({ timers }), timers)
  })
}

t.test('control plane, Long calls: a tenant that made room for another meanwhile is gone', async t => {
  const timers = hasty()
  const app = build(t, { timers, maxTenants: 2 })
  const client = await connect(app)
  await fill(client)
  const document = await stateOf(client)
  const { end } = await begun(timers, () => client.control('PUT', '/state', document))
  await connect(app, 'other')
  refused(t, await end, 404, 'CLIENT_NOT_FOUND', 'client')
  refused(t, await client.control('GET', '/clock'), 404, 'CLIENT_NOT_FOUND', 'client')
})

for (const length of [6, 50]) {
  t.test(`control plane, Long calls: 40 works of ${length} ms at once share the time of a slice`, async t => {
    let [now, done] = [0, 0]
    /** A work whose steps take a millisecond each. */
    function* work() {
      for (let step = 0; step < length; step++) {
        now++
        yield
      }
      done++
    }
    const elapsed = () => now
    const works = Array.from({ length: 40 }, () => inSlices(work(), elapsed))
    const rounds = [now]
    while (done < 40) {
      const before = now
      await new Promise(resolve => setImmediate(resolve))
      rounds.push(now - before)
    }
    t.ok(Math.max(...rounds) <= 20, `${Math.max(...rounds)} ms in a round`)
    await Promise.all(works)
  })
}

t.test('control plane, Long calls: a short work that comes after long ones is done before them', async t => {
  let now = 0
  const done: string[] = []
  function* work(name: string, length: number) {
    for (let step = 0; step < length; step++) {
      now++
      yield
    }
    done.push(name)
  }
  const elapsed = () => now
  const works = [inSlices(work('long', 30), elapsed), inSlices(work('long', 30), elapsed)]
  works.push(inSlices(work('short', 1), elapsed))
  await Promise.all(works)
  t.same(done, ['short', 'long', 'long'])
})

t.test('control plane, Long calls: the answer of a request counts in the round that it begins in', async t => {
  let now = 0
  const begun: number[] = []
  const begin = inRounds(() => now)
  const answered = Array.from(
    { length: 5 },
    () =>
      new Promise<void>(resolve =>
        begin(undefined, undefined, () => {
          begun.push(now)
          // The handler is done at once, and its answer is made later.
          void Promise.resolve().then(() => {
            now += 30
            resolve()
          })
          if (begun.length === 1) now += 20
        }),
      ),
  )
  await Promise.all(answered)
  t.same(begun, [0, 50, 80, 110, 140])
})
