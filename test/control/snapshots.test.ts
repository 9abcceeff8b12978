import t from 'tap'
import { createNamedSnapshots } from '../../src/features/snapshots/snapshots.js'
import { createTimers } from '../../src/http/timers.js'
import type { Counts } from '../../src/tenants/tenant.js'
import { invalid, NO_ROUTE, refused, table } from '../answers.js'
import { withHeld } from '../held.js'
import type { Client } from '../helper.js'
import { bill, build, call, collection, connect, MONDAY, mandate, newClient, pluck } from '../helper.js'
import { until } from '../manual-time.js'

// control plane, PUT /snapshots/{name}: states of a client by name.

const state = async (client: Client) => await client.read('/state')
const save = (client: Client, name: string) => client.control('PUT', `/snapshots/${name}`)
const restore = (client: Client, name: string) => client.control('POST', `/snapshots/${name}/restore`)
const list = async (client: Client) => (await client.read('/snapshots')).data

async function stock(): Promise<Client> {
  const client = await newClient()
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/direct-debit', collection())
  return client
}

t.test('control plane, PUT /snapshots/{name}: a snapshot is the state document, and is listed', async t => {
  const client = await stock()
  const document = await state(client)
  const { status, body } = await save(client, 'before')
  t.equal(status, 200)
  t.match(body, { name: 'before', now: MONDAY, counts: { mandates: 1, collections: 1, bills: 0 } })
  t.equal(body.bytes, Buffer.byteLength(JSON.stringify(document)))
  t.same(await client.read('/snapshots/before'), document)
  await client.advance({ by: 'P10D' })
  await save(client, 'after')
  t.same(await list(client), [
    { ...body, name: 'after', now: '2026-11-12T09:00:00Z', bytes: (await list(client))[0].bytes },
    body,
  ])
})

t.test('control plane, POST /snapshots/{name}/restore: the tenant is as it was, as often as one likes', async t => {
  const client = await stock()
  const before = await state(client)
  await save(client, 'before')
  for (const step of ['P10D', 'P1D']) {
    await client.advance({ by: step })
    await client.post('/api/v1/mandates', mandate({ mandateReference: 'MND-NEW' }))
    const { body } = await restore(client, 'before')
    t.match(body, { clientId: client.clientId, counts: { mandates: 1, collections: 1 }, now: MONDAY })
    t.same(await state(client), before)
  }
})

t.test('control plane, PUT /snapshots/{name}: the same name replaces, and others stay', async t => {
  const client = await stock()
  await save(client, 'a')
  await save(client, 'b')
  await client.post('/api/v1/mandates', mandate({ mandateReference: 'MND-0002' }))
  await save(client, 'a')
  t.match(await list(client), [
    { name: 'a', counts: { mandates: 2 } },
    { name: 'b', counts: { mandates: 1 } },
  ])
  t.match(await client.control('DELETE', '/snapshots/a'), { status: 200, body: { removed: 1 } })
  t.match(await list(client), [{ name: 'b' }])
  refused(t, await client.control('DELETE', '/snapshots/a'), 404, 'SNAPSHOT_NOT_FOUND', 'name')
})

t.test('control plane, PUT /snapshots/{name}: snapshots outlive a reset, and no removal of their client', async t => {
  const client = await stock()
  const other = await newClient()
  await save(client, 'mine')
  await client.control('POST', '/reset')
  t.match(await list(client), [{ name: 'mine' }])
  t.same(await list(other), [])
  refused(t, await restore(other, 'mine'), 404, 'SNAPSHOT_NOT_FOUND', 'name')
  t.match((await restore(client, 'mine')).body.counts, { collections: 1 })
  t.match(await list(client), [{ name: 'mine' }], 'nor does a restored state end them')
  await call(client.app, 'DELETE', `/_sandbox/clients/${client.clientId}`)
  t.same(await list(await connect(client.app, client.clientId)), [])
})

t.test('control plane, PUT /snapshots/{name}: a client has at most 20, of at most SANDBOX_STATE_BYTES', async t => {
  const client = await stock()
  for (let at = 1; at <= 20; at++) t.equal((await save(client, `s${at}`)).status, 200)
  refused(t, await save(client, 's21'), 400, 'INVALID_FIELD', 'name')
  t.equal((await save(client, 's20')).status, 200, 'one can still be replaced')
  await client.control('DELETE', '/snapshots/s1')
  t.equal((await save(client, 's21')).status, 200)

  const small = await connect(build(t, { stateBytes: 1500 }))
  t.equal((await save(small, 'empty')).status, 200)
  const mandates = [mandate(), mandate({ mandateReference: 'MND-0002' })]
  await small.control('POST', '/seed', { records: { mandates } })
  refused(t, await save(small, 'full'), 413, 'PAYLOAD_TOO_LARGE', null)
  t.match(await list(small), [{ name: 'empty' }])
})

t.test('control plane, PUT /snapshots/{name}: in memory, all of them together are at most 128 MiB', async t => {
  const snapshots = createNamedSnapshots()
  const add = (client: string, name: string, bytes: number) =>
    snapshots.save(client, { summary: { name, now: MONDAY, counts: {} as Counts, bytes }, content: '' })
  const most = 128 * 1024 * 1024
  add('acme', 'a', most - 1)
  add('other', 'b', 1)
  t.throws(() => add('other', 'c', 1), { code: 'INVALID_FIELD', field: 'name' })
  add('acme', 'a', most - 2)
  add('other', 'c', 1)
  t.throws(() => add('acme', 'a', most - 1), { code: 'INVALID_FIELD', field: 'name' })
})

t.test('control plane, PUT /snapshots/{name}: names are checked, and nothing is half done', async t => {
  const client = await stock()
  const before = await state(client)
  await table(t, name => save(client, name), {
    200: ['a', 'A.b_c-9', 'x'.repeat(64), '..x', 'constructor', '__proto__'],
    [invalid('name')]: ['x'.repeat(65), 'a%20b', '%C3%A9', 'a%00'],
    [NO_ROUTE]: ['a%2Fb'],
  })
  await table(t, name => restore(client, name), {
    200: ['constructor', '__proto__'],
    '404 SNAPSHOT_NOT_FOUND name': ['none', 'toString'],
    [invalid('name')]: ['a%20b'],
  })
  refused(t, await client.control('PUT', '/snapshots/a', { name: 'b' }), 400, 'INVALID_FIELD', 'name')
  t.same(await state(client), before)
})

t.test('control plane, POST /snapshots/{name}/restore: the request log stays', async t => {
  const client = await stock()
  await save(client, 'a')
  const log = await client.read('/requests')
  await restore(client, 'a')
  t.same(await client.read('/requests'), log)
})

/** Timers by which every slice is over at once. */
function hasty() {
  let looks = 0
  return { ...createTimers(), elapsed: () => ++looks * 1000 }
}

/** A client with a snapshot `large` above 1 MiB. */
async function stockLarge(client: Client): Promise<Client> {
  const bills = Array.from({ length: 2000 }, (_, n) =>
    bill({ uniqueReferenceIdentifier: `INV-${n}`, description: 'x'.repeat(256) }),
  )
  t.equal((await client.control('POST', '/seed', { records: { bills } })).status, 200)
  t.ok((await save(client, 'large')).body.bytes > 1024 * 1024)
  return client
}

t.test('control plane, Large bodies: of large states and snapshots, one is read at a time', async t => {
  const { built: app, held } = withHeld(() => build(t, { timers: hasty() }))
  const clients = await Promise.all(['a', 'b'].map(async id => stockLarge(await connect(app, id))))
  const { payload } = await app.inject('/_sandbox/state?client=a')
  const load = (client: Client) => client.control('PUT', '/state', payload)
  for (const send of [(client: Client) => restore(client, 'large'), load]) {
    let [left, most, rounds] = [2, 0, 0]
    const answers = Promise.all(
      clients.map(async client => {
        const { status } = await send(client)
        left--
        return status
      }),
    )
    // A document is read before the turn of its client, or in it.
    await until(() => {
      most = Math.max(most, held().turns)
      rounds++
      return left === 0
    })
    t.same(await answers, [200, 200])
    t.equal(most, 1)
    t.ok(rounds > 1000, 'in slices')
    await until(() => held().largeDocuments === 0)
  }
})

t.test(
  'control plane, Large bodies: a restoration that waits for its client leaves its place to that of another',
  async t => {
    const { built: app, held } = withHeld(() => build(t, { timers: hasty() }))
    const [client, other] = [await stockLarge(await connect(app, 'a')), await stockLarge(await connect(app, 'b'))]
    const order: string[] = []
    const noted = (what: string, answer: Promise<{ readonly status: number }>) =>
      answer.then(({ status }) => order.push(`${what} ${status}`))
    const forks = ['c', 'd', 'e'].map(clientId => noted('fork', client.control('POST', '/fork', { clientId })))
    await until(() => held().turns > 0)
    await Promise.all([
      ...forks,
      ...['own', 'own'].map(what => noted(what, restore(client, 'large'))),
      noted('other', restore(other, 'large')),
    ])
    t.same([order.indexOf('other 200') < order.indexOf('own 200'), order.length], [true, 6])
  },
)

t.test('control plane, POST /snapshots/{name}/restore: a removed client leaves nothing to the next', async t => {
  const app = build(t)
  const client = await stockLarge(await connect(app))
  const restored = restore(client, 'large')
  for (let turns = 0; turns < 3; turns++) await new Promise(resolve => setImmediate(resolve))
  const removed = call(app, 'DELETE', '/_sandbox/clients/acme')
  const next = connect(app, 'acme', 'EU', 'another')
  t.match([(await restored).status, (await removed).body.removed], [200, 1])
  t.equal((await (await next).get('/api/v1/bills')).body.totalCount, 0)
  t.same(await list(await next), [])
})

t.test('control plane, PUT /snapshots/{name}: a client that makes room for another leaves no snapshot', async t => {
  const app = build(t, { timers: hasty(), maxTenants: 2 })
  const client = await stockLarge(await connect(app))
  const saved = save(client, 'second')
  for (let turns = 0; turns < 5; turns++) await new Promise(resolve => setImmediate(resolve))
  const other = await connect(app, 'other')
  refused(t, await saved, 404, 'CLIENT_NOT_FOUND', 'client')
  await call(app, 'DELETE', `/_sandbox/clients/${other.clientId}`)
  t.same(await list(await connect(app, 'acme', 'EU', 'another')), [])
})

t.test('control plane, POST /snapshots/{name}/restore: several at once are restored one after the other', async t => {
  const client = await stock()
  const before = await state(client)
  await save(client, 'a')
  const answers = await Promise.all(Array.from({ length: 5 }, () => restore(client, 'a')))
  t.same(pluck(answers, 'status'), Array(5).fill(200))
  t.same(await state(client), before)
})
