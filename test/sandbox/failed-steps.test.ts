import { pino } from 'pino'
import type { Test } from 'tap'
import t from 'tap'
import type { Store } from '../../src/areas/index.js'
import type { StoredRecord } from '../../src/core/records/repository.js'
import { buildServer } from '../../src/server.js'
import type { Tenant } from '../../src/tenants/tenant.js'
import { call, collection, connect, MONDAY, mandate, requestToken, serverOptions } from '../helper.js'

// control plane, Explain the state of a record: due work that fails holds up nothing.

type Kind = 'collections'
type Changes = Partial<Omit<StoredRecord, 'record'>> & { record?: object }

/** Builds a server whose time runs as `pass` says, and whose log is kept. */
function serve(t: Test) {
  let real = Date.parse(MONDAY)
  const lines: { clientId?: string; msg: string; err?: object }[] = []
  const logger = pino({ level: 'error' }, { write: text => void lines.push(JSON.parse(text)) })
  const { app, registry } = buildServer({ ...serverOptions({ clock: 'real', now: () => real }), logger })
  t.teardown(() => app.close())

  const pass = (days: number) => {
    real += days * 86_400_000
  }
  const tenantOf = (clientId: string) => registry.peek(clientId) as Tenant

  /** Changes a record as a database would: no rule is checked. */
  function change(clientId: string, kind: Kind, reference: string, { record, ...changes }: Changes) {
    const store: Store = tenantOf(clientId)[kind]
    const kept = store.toStored(store.find(reference)[0] as never)
    store.load({ ...kept, ...changes, record: { ...(kept.record as object), ...record } })
  }

  /** Puts a collection into a client, and changes it. */
  async function store(clientId: string, reference: string, changes: Changes) {
    const client = await connect(app, clientId)
    await client.post('/api/v1/mandates', mandate())
    const dated = collection({ collectionReference: reference, collectionDate: '2026-11-20' })
    await client.post('/api/v1/direct-debit', dated)
    change(clientId, 'collections', reference, changes)
    return client
  }

  /** Sends a request of the API with a new token: time has passed. */
  async function send(clientId: string, method: string, path: string, body?: object) {
    const { access_token } = (await requestToken(app, { client_id: clientId })).body
    return call(app, method, `/api/v1${path}`, {
      headers: { authorization: `Bearer ${access_token}` },
      body,
      region: 'EU',
    })
  }

  return { app, lines, pass, tenantOf, change, store, send }
}

const failedIn = (body: { data: { reference: string; failed?: string }[] }) =>
  body.data.flatMap(({ reference, failed }) => (failed === undefined ? [] : [[reference, failed]]))

t.test(
  'control plane, Explain the state of a record: a due step that fails has no next one, and the client goes on',
  async t => {
    const { lines, pass, store } = serve(t)
    const client = await store('broken', 'COL-BROKEN', { record: { mandateReference: 'MND-GONE' } })
    const whole = collection({ collectionReference: 'COL-WHOLE', collectionDate: '2026-11-20' })
    await client.post('/api/v1/direct-debit', whole)
    const due = (await client.read('/direct-debit/COL-BROKEN')).next
    t.same(due, { at: '2026-11-18T15:00:00Z', to: 'SUBMITTED' })
    lines.length = 0
    pass(30)
    const { status, body } = await client.control('GET', '/direct-debit/COL-BROKEN')
    t.equal(status, 200)
    const failed = 'There is no mandate "MND-GONE" of this client in this region.'
    t.match(body, { record: { status: 'PENDING' }, timeline: { length: 1 }, next: null, failed })
    const upcoming = await client.control('GET', '/upcoming')
    t.match(upcoming.body.data[0], { at: due.at, reference: 'COL-BROKEN', from: 'PENDING', to: 'SUBMITTED', failed })
    t.same(failedIn(upcoming.body), [['COL-BROKEN', failed]])
    t.equal((await client.read('/direct-debit/COL-WHOLE')).record.status, 'SETTLED')
    t.equal((await client.read('/clock')).now, '2026-12-02T09:00:00Z')
    const advanced = await client.control('POST', '/clock/advance', { toNextEvent: true })
    t.not(advanced.body.now, due.at, 'it is no next event')
    for (const path of ['/state', '/events']) {
      t.equal((await client.control('GET', path)).status, 200, path)
    }
    t.match(lines, [{ clientId: 'broken', err: { message: /^The transition of the collection "COL-BROKEN" failed/ } }])
    t.equal(lines.length, 1, 'it is logged once')
  },
)

t.test(
  'control plane, Explain the state of a record: a failure that is no refusal is not shown, and leaves nothing half done',
  async t => {
    const { lines, pass, store, tenantOf } = serve(t)
    const client = await store('odd', 'COL-ODD', {})
    // The consequence fails, when the event is there.
    Object.assign(tenantOf('odd').mandates, {
      presented() {
        throw new TypeError('a fault of the server')
      },
    })
    const { events } = tenantOf('odd')
    const last = events.last()
    pass(30)
    await client.control('GET', '/clock')
    t.equal(events.last(), last, 'no event')
    const body = await client.read('/direct-debit/COL-ODD')
    t.match(body, {
      record: { status: 'PENDING' },
      timeline: { length: 1 },
      failed: 'See the log of the server.',
    })
    t.equal(lines.length, 1)
    const moved = await client.control('POST', '/mandates/MND-0001/cancel')
    t.equal(moved.status, 200, 'other records move')
  },
)

t.test(
  'control plane, Explain the state of a record: a failed transition is tried again after a change of the record',
  async t => {
    const { pass, store, send } = serve(t)
    const client = await store('mended', 'COL-MENDED', { record: { mandateReference: 'MND-LATER' } })
    pass(30)
    t.match(await client.read('/direct-debit/COL-MENDED'), { failed: /MND-LATER/ })
    const later = mandate({ mandateReference: 'MND-LATER' })
    t.equal((await send('mended', 'POST', '/mandates', later)).status, 201)
    await client.control('PUT', '/direct-debit/COL-MENDED/outcome', { outcome: 'STUCK-SUBMITTED' })
    const { record, failed } = await client.read('/direct-debit/COL-MENDED')
    t.same([record.status, failed], ['SUBMITTED', undefined])
  },
)

t.test(
  'control plane, Explain the state of a record: reset and removal do no due work, and lists of clients do not either',
  async t => {
    const { app, lines, pass, store } = serve(t)
    await store('listed', 'COL-LISTED', { record: { mandateReference: 'MND-GONE' } })
    pass(30)
    const { body } = await call(app, 'GET', '/_sandbox/clients')
    t.match(body.data.at(-1), { clientId: 'listed', now: '2026-12-02T09:00:00Z', counts: { collections: 1 } })
    t.equal((await call(app, 'GET', '/_sandbox')).status, 200)
    t.same(lines, [], 'nothing was done')
    t.equal((await call(app, 'POST', '/_sandbox/reset?client=listed')).body.counts.collections, 0)
    t.equal((await call(app, 'DELETE', '/_sandbox/clients/listed')).body.removed, 1)
    t.same(lines, [])
  },
)
