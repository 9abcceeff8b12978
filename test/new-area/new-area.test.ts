import './orders/index.js'
import t from 'tap'
import { createSandbox } from '../../src/client/index.js'
import { createScenarios } from '../../src/sandbox/scenarios/files.js'
import { checkAgainst } from '../check-answers.js'
import type { Json } from '../docs/contract.js'
import { DOCUMENTS, operationsOf } from '../docs/contract.js'
import { build, call, connect } from '../helper.js'
import { onSqlite } from '../persistence/helper.js'
import { Server } from '../server-process.js'
import { makeAll } from '../transitions.js'

// ARCHITECTURE.md, Layout: a folder and its row in the table of areas are all that a kind of records needs.
// The area `orders` exists only in this process.

const ORDERS = '/api/v1/orders'
const order = (changes: object = {}) => ({ orderReference: 'ORD-0001', amount: '10.50', ...changes })

const app = build(t)
const documents: Record<string, Json> = {}

t.before(async () => {
  for (const url of Object.keys(DOCUMENTS)) documents[url] = (await call(app, 'GET', url)).body
  checkAgainst(Object.values(documents))
})

t.test('CONTRIBUTING, A new area: its operations are in the OpenAPI document, under its tag', async t => {
  const service = documents['/openapi.json']
  t.match(
    service.tags.find(({ name }: Json) => name === 'orders'),
    { 'x-displayName': 'Orders' },
  )
  t.same(
    operationsOf(service)
      .filter(({ operation }) => operation.tags.includes('orders'))
      .map(({ id }) => id),
    ['createOrder', 'listOrders'],
  )
})

t.test('CONTRIBUTING, A new area: the control plane documents its seeds, state, counts and kind', async t => {
  const { SeedRecords, TenantSnapshot, StateDocument, RecordCounts, Event } =
    documents['/_sandbox/openapi.json'].components.schemas
  t.match(SeedRecords.properties.orders, { description: 'Orders in any state.' })
  t.match(TenantSnapshot.properties.orders, { description: 'The orders.' })
  t.ok(TenantSnapshot.required.includes('orders'))
  t.notOk(StateDocument.required.includes('orders'))
  t.match(RecordCounts.properties.orders, { description: 'The number of orders.' })
  t.ok(Event.properties.kind.enum.includes('order'))
})

t.test('CONTRIBUTING, A new area: records are created, listed and refused', async t => {
  const client = await connect(app, 'create')
  t.match(await client.post(ORDERS, order()), { status: 201, body: { status: 'PLACED' } })
  t.match(await client.post(ORDERS, order()), { status: 409, body: { code: 'DUPLICATE_REFERENCE' } })
  t.match(await client.post(ORDERS, order({ amount: 1 })), { status: 400, body: { field: 'amount' } })
  t.match((await client.get(ORDERS)).body, { totalCount: 1, data: [{ orderReference: 'ORD-0001' }] })
})

t.test('CONTRIBUTING, A new area: time moves its records, and its events have a kind of their own', async t => {
  const client = await connect(app, 'time')
  await client.post(ORDERS, order())
  const { transitions } = (await client.advance({ by: 'P1D' })).body
  t.match(transitions, [{ kind: 'order', reference: 'ORD-0001', from: 'PLACED', to: 'SHIPPED' }])
  t.match((await client.get(ORDERS)).body.data, [{ status: 'SHIPPED' }])
  const events = async (kind: string) => (await client.control('GET', `/events?kind=${kind}`)).body.data
  t.match(await events('order'), [
    { to: 'PLACED', cause: 'api' },
    { to: 'SHIPPED', cause: 'time' },
  ])
  t.same(await events('mandate'), [])
})

t.test('CONTRIBUTING, A new area: its records are seeded and counted', async t => {
  const client = await connect(app, 'seed')
  const orders = [order(), order({ orderReference: 'ORD-0002', status: 'SHIPPED' })]
  const { body } = await client.control('POST', '/seed', { records: { orders } })
  t.match(body, { added: { orders: 2, mandates: 0 }, counts: { orders: 2 } })
  t.match(await client.control('POST', '/seed', { records: { orders: [order()] } }), {
    status: 409,
    body: { field: 'records.orders.0.orderReference' },
  })
  const { data } = (await client.control('GET', '/clients')).body
  t.match(
    data.find(({ clientId }: Json) => clientId === 'seed'),
    { counts: { orders: 2 } },
  )
})

t.test('CONTRIBUTING, A new area: state documents have its records and their due work', async t => {
  const client = await connect(app, 'state')
  await client.post(ORDERS, order())
  const state = (await client.control('GET', '/state')).body
  t.match(state.orders, [{ region: 'EU', timeline: [1], record: { orderReference: 'ORD-0001' } }])

  const other = await connect(app, 'restored')
  t.match(await other.control('PUT', '/state', state), { status: 200, body: { counts: { orders: 1 } } })
  t.same((await other.control('GET', '/state')).body.orders, state.orders)
  await other.advance({ by: 'P1D' })
  t.match((await other.get(ORDERS)).body.data, [{ status: 'SHIPPED' }])

  const repeated = { ...state, orders: [...state.orders, ...state.orders] }
  t.match(await other.control('PUT', '/state', repeated), { status: 400, body: { field: 'orders.1.sequence' } })
})

t.test('CONTRIBUTING, A new area: a fork has its records', async t => {
  const client = await connect(app, 'origin')
  await client.post(ORDERS, order())
  t.equal((await client.control('POST', '/fork', { clientId: 'copy' })).status, 201)
  const copy = await connect(app, 'copy')
  t.same((await copy.get(ORDERS)).body, (await client.get(ORDERS)).body)
})

t.test('CONTRIBUTING, A new area: coverage reports its operations and the states of its records', async t => {
  const client = await connect(app, 'coverage')
  await client.post(ORDERS, order())
  const { operations, states } = (await client.control('GET', '/coverage')).body
  const of = (name: string) => operations.find(({ operation }: Json) => operation === name)
  t.match(of(`POST ${ORDERS}`), { requests: 1, statuses: { met: [201] } })
  t.match(of(`GET ${ORDERS}`), { requests: 0, pages: { missed: ['first', 'following', 'empty'] } })
  t.match(
    states.find(({ kind }: Json) => kind === 'order'),
    { met: ['PLACED'], missed: ['SHIPPED'] },
  )
})

t.test('CONTRIBUTING, A new area: its records are explained, and moved by the control plane', async t => {
  const client = await connect(app, 'actions')
  await client.control('POST', '/seed', { records: { orders: [order()] } })
  t.match((await client.control('GET', '/orders/ORD-0001')).body, {
    record: { orderReference: 'ORD-0001', status: 'PLACED' },
    timeline: [{ to: 'PLACED' }],
    next: { to: 'SHIPPED' },
    legal: [{ transition: 'ship', to: 'SHIPPED' }],
  })
  t.match(await client.control('GET', '/orders/ORD-0002'), { status: 404, body: { field: 'orderReference' } })
  t.match(documents['/_sandbox/openapi.json'].paths['/_sandbox/orders/{orderReference}/ship'].post, {
    operationId: 'shipOrder',
    'x-command': 'orders ship',
  })
  await makeAll(t, client, 'orders')
})

t.test('CONTRIBUTING, A new area: a step of a scenario creates a record', async t => {
  const file =
    'summary: An order is placed.\nsteps: [{ call: createOrder, body: { orderReference: ORD-0001, amount: "1" } }]'
  const scenarios = createScenarios(t.testdir({ scenarios: { 'order-placed.yaml': file } }))
  const client = await connect(build(t, { scenarios }))
  t.match(await client.control('POST', '/scenarios/order-placed'), { status: 200 })
  t.match((await client.get(ORDERS)).body.data, [{ orderReference: 'ORD-0001', amount: '1', status: 'PLACED' }])
})

t.test('CONTRIBUTING, A new area: the library has its methods', async t => {
  const sandbox = await createSandbox({ clock: '2026-11-02T09:00:00Z' })
  t.teardown(() => sandbox.close())
  const { orders } = sandbox as unknown as { orders: Record<string, (...given: unknown[]) => Promise<Json>> }
  t.same(Object.keys(orders).sort(), ['all', 'create', 'explain', 'list', 'search', 'ship'])
  await orders.create?.(order())
  t.match(await orders.ship?.('ORD-0001'), { record: { status: 'SHIPPED' } })
  t.match(await orders.list?.(), { totalCount: 1, data: [{ orderReference: 'ORD-0001' }] })
  t.match(await orders.all?.(), [{ orderReference: 'ORD-0001' }])
})

t.test('CONTRIBUTING, A new area: what a release without it has written is accepted', async t => {
  // The program in another process has no orders.
  const folder = t.testdir()
  const before = await Server.start({ SANDBOX_DATA: folder })
  t.teardown(() => before.kill())
  const read = async (method: string, path: string) => (await fetch(`${before.url}/_sandbox${path}`, { method })).json()
  await read('POST', '/direct-debit/COL-ACME-0049/cancel')
  const state = await read('GET', '/state')
  await before.kill()
  t.notOk('orders' in state)
  const counts = { orders: 0, collections: state.collections.length }

  const other = await connect(app, 'earlier')
  t.match(await other.control('PUT', '/state', state), { status: 200, body: { counts } })
  t.same((await other.control('GET', '/state')).body.orders, [])

  const stored = await onSqlite(t, folder)
  const client = await connect(stored.app, 'sandbox-client', 'EU', 'sandbox-secret')
  t.equal((await client.post(ORDERS, order())).status, 201)
  await stored.close()
  const again = await onSqlite(t, folder)
  t.match((await call(again.app, 'GET', '/_sandbox/state')).body.orders, [{ record: { orderReference: 'ORD-0001' } }])
})
