import { pino } from 'pino'
import type { Test } from 'tap'
import t from 'tap'
import type { Store } from '../../src/areas/index.js'
import { receiptOf } from '../../src/areas/payout-links/page-answers.js'
import type { StoredRecord } from '../../src/core/records/repository.js'
import { buildServer } from '../../src/server.js'
import type { Tenant } from '../../src/tenants/tenant.js'
import { refused } from '../answers.js'
import {
  bill,
  call,
  collection,
  connect,
  MONDAY,
  mandate,
  payoutLink,
  pluck,
  requestToken,
  serverOptions,
} from '../helper.js'

// persistence, Upgrades: due work that fails, and records of another release, hold up nothing.

const CLAIM = { accountHolderName: 'Jane Doe', accountIdentifier: 'DE89370400440532013000' }

type Kind = 'mandates' | 'collections' | 'bills' | 'payoutLinks'
type Changes = Partial<Omit<StoredRecord, 'record'>> & { record?: object }

/** Builds a server whose time runs as `pass` says, and whose log is kept. */
function serve(t: Test) {
  let real = Date.parse(MONDAY)
  const lines: { clientId?: string; msg: string; err?: object }[] = []
  const logger = pino({ level: 'error' }, { write: text => void lines.push(JSON.parse(text)) })
  const { app, registry } = buildServer({ ...serverOptions({ clock: 'real', now: () => real }), logger })
  app.decorate('hasFormerRecords', true)
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

const parkedIn = (body: { data: { reference: string; parked?: string }[] }) =>
  body.data.flatMap(({ reference, parked }) => (parked === undefined ? [] : [[reference, parked]]))

t.test('persistence, Upgrades: a due step that fails is parked, and the client goes on', async t => {
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
  const parked = 'The transition was due, and failed. There is no mandate "MND-GONE" of this client in this region.'
  t.match(body, { record: { status: 'PENDING' }, timeline: { length: 1 }, next: due, parked })
  const upcoming = await client.control('GET', '/upcoming')
  t.match(upcoming.body.data[0], { at: due.at, reference: 'COL-BROKEN', from: 'PENDING', to: 'SUBMITTED', parked })
  t.same(parkedIn(upcoming.body), [['COL-BROKEN', parked]])
  t.equal((await client.read('/direct-debit/COL-WHOLE')).record.status, 'SETTLED')
  t.equal((await client.read('/clock')).now, '2026-12-02T09:00:00Z')
  const advanced = await client.control('POST', '/clock/advance', { toNextEvent: true })
  t.not(advanced.body.now, due.at, 'it is no next event')
  for (const path of ['/state', '/events', '/console', '/console/collections/COL-BROKEN']) {
    t.equal((await client.control('GET', path)).status, 200, path)
  }
  const page = await client.read('/console/collections/COL-BROKEN')
  t.match(page, 'The transition was due, and failed. There is no mandate')
  t.match(lines, [{ clientId: 'broken', err: { message: /^The transition of the collection "COL-BROKEN" failed/ } }])
  t.equal(lines.length, 1, 'it is logged once')
})

t.test('persistence, Upgrades: a failure that is no refusal is not shown, and leaves nothing half done', async t => {
  const { lines, pass, store, tenantOf } = serve(t)
  // The next transition of the next state cannot be planned, when the event of this one is there.
  const client = await store('odd', 'COL-ODD', { record: { collectionDate: null } })
  const { events } = tenantOf('odd')
  const last = events.last()
  pass(30)
  await client.control('GET', '/clock')
  t.equal(events.last(), last, 'no event')
  const body = await client.read('/direct-debit/COL-ODD')
  t.match(body, {
    record: { status: 'PENDING' },
    timeline: { length: 1 },
    parked: 'The transition was due, and failed. See the log of the server.',
  })
  t.equal(lines.length, 1)
  const moved = await client.control('POST', '/mandates/MND-0001/cancel')
  t.equal(moved.status, 200, 'other records move')
})

t.test('persistence, Upgrades: a parked transition is tried again after a change of the record', async t => {
  const { pass, store, send } = serve(t)
  const client = await store('mended', 'COL-MENDED', { record: { mandateReference: 'MND-LATER' } })
  pass(30)
  t.match(await client.read('/direct-debit/COL-MENDED'), { parked: /MND-LATER/ })
  const later = mandate({ mandateReference: 'MND-LATER' })
  t.equal((await send('mended', 'POST', '/mandates', later)).status, 201)
  await client.control('PUT', '/direct-debit/COL-MENDED/outcome', { outcome: 'STUCK-SUBMITTED' })
  const { record, parked } = await client.read('/direct-debit/COL-MENDED')
  t.same([record.status, parked], ['SUBMITTED', undefined])
})

t.test('persistence, Upgrades: reset and removal do no due work, and lists of clients do not either', async t => {
  const { app, lines, pass, store } = serve(t)
  await store('listed', 'COL-LISTED', { record: { mandateReference: 'MND-GONE' } })
  pass(30)
  const { body } = await call(app, 'GET', '/_sandbox/clients')
  t.match(body.data.at(-1), { clientId: 'listed', now: '2026-12-02T09:00:00Z', counts: { collections: 1 } })
  for (const page of ['', '/console']) t.equal((await call(app, 'GET', `/_sandbox${page}`)).status, 200)
  t.same(lines, [], 'nothing was done')
  t.equal((await call(app, 'POST', '/_sandbox/reset?client=listed')).body.counts.collections, 0)
  t.equal((await call(app, 'DELETE', '/_sandbox/clients/listed')).body.removed, 1)
  t.same(lines, [])
})

t.test('persistence, Upgrades: a record of a state or with a verb of another release stays as it is', async t => {
  const at = Date.parse('2026-12-03T00:00:00Z')
  const renamed = { at, verb: 'send', cause: 'time' }
  for (const [clientId, changes, parked, legal] of [
    [
      'of-state',
      { record: { status: 'constructor' } },
      'This release has no state "constructor" of a collection. The record stays as it is.',
      [],
    ],
    [
      'of-verb',
      { nextStep: renamed },
      'This release has no transition "send" of a collection that is PENDING. It does not happen.',
      ['submit', 'fail', 'cancel'],
    ],
  ] as const) {
    const { pass, store } = serve(t)
    const client = await store(clientId, 'COL-KEPT', changes)
    pass(60)
    const body = await client.read('/direct-debit/COL-KEPT')
    t.match(body, { next: null, parked })
    t.same(pluck(body.legal, 'verb'), legal)
    const { data } = await client.read('/upcoming')
    t.notOk(data.some(({ reference }: { reference: string }) => reference === 'COL-KEPT'))
    const overview = await client.read('/console')
    t.match(overview, body.record.status)
    t.equal((await client.control('POST', '/clock/advance', { by: 'P10D' })).status, 200)
    t.equal((await client.control('GET', `/console/collections?status=${body.record.status}`)).status, 200)
    t.match(await client.read('/console/collections/COL-KEPT'), parked.replaceAll('"', '&quot;'))
    const { status } = await client.control('POST', '/direct-debit/COL-KEPT/submit')
    t.equal(status, legal.length === 0 ? 409 : 200)
    const settled = await client.control('POST', '/direct-debit/COL-KEPT/settle')
    refused(t, settled, 409, 'ILLEGAL_TRANSITION', null)
  }
})

t.test('persistence, Upgrades: every kind of record has pages and answers in a state of another release', async t => {
  const { app, send, tenantOf, change } = serve(t)
  const client = await connect(app, 'all')
  await send('all', 'POST', '/mandates', mandate())
  await send('all', 'POST', '/direct-debit', collection())
  await send('all', 'POST', '/bills', bill())
  const { payoutLinkId } = (await send('all', 'POST', '/payout-links', payoutLink())).body
  const rows = [
    ['mandates', 'mandates', 'MND-0001', '/mandates', 'cancel'],
    ['collections', 'direct-debit', 'COL-0001', '/collections', 'submit'],
    ['bills', 'bills', 'INV-2026-001', '/bills', undefined],
    ['payoutLinks', 'payout-links', payoutLinkId, '/payout-links', 'claim'],
  ] as const
  for (const [kind, path, reference, pages, verb] of rows) {
    change('all', kind, reference, { record: { status: 'HELD' } })
    const body = await client.read(`/${path}/${reference}`)
    const parked = /^This release has no state "HELD"/
    t.match(body, { record: { status: 'HELD' }, next: null, legal: [], parked }, kind)
    t.match((await client.read(`/${path}`)).data[0].record, { status: 'HELD' })
    for (const page of [`/console${pages}`, `/console${pages}/${reference}`]) {
      const { status, body } = await client.control('GET', page)
      t.equal(status, 200, page)
      t.match(body, 'HELD')
    }
    if (verb === undefined) continue
    const moved = await client.control('POST', `/${path}/${reference}/${verb}`, verb === 'claim' ? CLAIM : undefined)
    refused(t, moved, 409, 'ILLEGAL_TRANSITION', null)
  }
  for (const list of ['mandates', 'direct-debit', 'bills']) {
    t.match((await send('all', 'GET', `/${list}`)).body.data, [{ status: 'HELD' }])
  }
  t.equal((await send('all', 'PATCH', '/bills/INV-2026-001', { status: 'PAID' })).status, 409)
  const { url } = (await client.read(`/payout-links/${payoutLinkId}`)).record
  const receipt = receiptOf(tenantOf('all').ids, payoutLinkId)
  for (const query of ['', `&receipt=${receipt}`]) {
    const page = await call(app, 'GET', new URL(url).pathname + new URL(url).search + query, {
      headers: { accept: 'text/html' },
    })
    t.ok(page.status < 500, `${page.status} of the page of the link`)
  }
})

t.test('persistence, Upgrades: a link whose payout method is gone stays readable', async t => {
  const { app, send, tenantOf, change } = serve(t)
  const client = await connect(app, 'all')
  const { payoutLinkId, url } = (await send('all', 'POST', '/payout-links', payoutLink())).body
  const hold = (status: string) =>
    change('all', 'payoutLinks', payoutLinkId, { record: { status, payoutMethod: 'GONE' } })
  const path = `/payout-links/${payoutLinkId}`
  for (const status of ['ACTIVE', 'PROCESSING', 'PAID']) {
    hold(status)
    t.match((await client.read(path)).record, { status, payoutMethod: 'GONE' })
    t.match(await client.read(`/console${path}`), 'GONE')
    const { pathname, search } = new URL(url)
    const receipt = `&receipt=${receiptOf(tenantOf('all').ids, payoutLinkId)}`
    const page = await call(app, 'GET', pathname + search + receipt, { headers: { accept: 'text/html' } })
    t.equal(page.status, 409, status)
    t.match(page.body, '<!doctype html>')
  }
  hold('ACTIVE')
  const claimed = await client.control('POST', `${path}/claim`, CLAIM)
  refused(t, claimed, 409, 'ILLEGAL_TRANSITION', null)
  t.match(claimed.body.message, 'This release has no payout method "GONE".')
  hold('PROCESSING')
  t.equal((await client.control('PUT', `${path}/outcome`, { outcome: 'FAILED' })).status, 200)
  const { next, parked } = await client.read(path)
  t.same([next, parked], [null, 'This release has no payout method "GONE". The link stays as it is.'])
})

t.test('persistence, Upgrades: a collection whose outcome is gone takes no other course until it is moved', async t => {
  const { pass, store } = serve(t)
  const client = await store('former', 'COL-GONE', { record: { outcome: 'DISPUTED' } })
  const path = '/direct-debit/COL-GONE'
  const parked =
    'This release has no outcome "DISPUTED" of a collection. It takes no further step until it has another one.'
  const shown = async () => {
    const { record, next, parked } = await client.read(path)
    return [record.status, next, parked]
  }
  pass(60)
  t.same(await shown(), ['SUBMITTED', null, parked], 'only what an earlier release has planned')
  for (const [verb, status] of [
    ['process', 'PROCESSING'],
    ['settle', 'SETTLED'],
  ]) {
    t.equal((await client.control('POST', `${path}/${verb}`)).status, 200)
    pass(60)
    t.same(await shown(), [status, null, parked])
  }
  t.equal((await client.control('POST', `${path}/return`)).status, 200)
  t.same(await shown(), ['RETURNED', null, undefined], 'a final state')
})

t.test('persistence, Upgrades: a payout link whose outcome is gone is not paid', async t => {
  const { app, send, change } = serve(t)
  const client = await connect(app, 'former')
  const { payoutLinkId } = (await send('former', 'POST', '/payout-links', payoutLink())).body
  change('former', 'payoutLinks', payoutLinkId, { record: { outcome: 'HELD' } })
  const path = `/payout-links/${payoutLinkId}`
  t.equal((await client.control('POST', `${path}/claim`, CLAIM)).status, 200)
  await client.control('POST', '/clock/advance', { by: 'P60D' })
  const parked =
    'This release has no outcome "HELD" of a payout link. It takes no further step until it has another one.'
  t.match(await client.read(path), { record: { status: 'PROCESSING' }, next: null, parked })
})

t.test('persistence, Upgrades: amounts above a limit of this release are read as they are', async t => {
  const { send, store, tenantOf, change } = serve(t)
  const amount = '1234567890.12'
  const client = await store('former', 'COL-FORMER', { record: { amount } })
  await send('former', 'POST', '/bills', bill())
  const { outcomes } = tenantOf('former')
  change('former', 'bills', 'INV-2026-001', { record: { totalAmount: amount, openAmount: amount } })
  const armed = await client.control('POST', '/outcomes', { match: { amount: '25' }, outcome: 'FAILED' })
  t.equal(armed.status, 201, armed.body.message)
  outcomes.restore(outcomes.list().map(one => ({ ...one, match: { amount } })))
  t.match((await send('former', 'GET', '/direct-debit?amountMin=1000000000')).body.data, [{ amount }])
  t.match((await client.read('/bills/INV-2026-001')).record, { totalAmount: amount })
  t.equal((await client.control('GET', '/console/bills/INV-2026-001')).status, 200)
  t.equal((await send('former', 'PATCH', '/bills/INV-2026-001', { openAmount: '1' })).status, 200)
  t.equal((await send('former', 'POST', '/payout-links', payoutLink())).status, 201)
})

t.test('persistence, Upgrades: the control plane shows a record as it is kept, the API as it is now', async t => {
  const { store, send } = serve(t)
  const client = await store('former', 'COL-FORMER', { record: { formerMember: { of: ['1.0.0'] } } })
  const record = { formerMember: { of: ['1.0.0'] } }
  t.match((await client.read('/direct-debit/COL-FORMER')).record, record)
  t.match((await client.read('/direct-debit')).data[0].record, record)
  t.match((await client.control('POST', '/direct-debit/COL-FORMER/submit')).body.record, record)
  t.match((await client.read('/state')).collections[0].record, record)
  const answer = await send('former', 'GET', '/direct-debit/COL-FORMER')
  t.equal(answer.status, 200)
  t.notOk('formerMember' in answer.body)
})

t.test('persistence, Upgrades: a state document follows the rules of the release', async t => {
  const { store } = serve(t)
  const client = await store('kept', 'COL-KEPT', { record: { debtorReference: 'x'.repeat(999) } })
  const state = await client.read('/state')
  await client.control('POST', '/reset')
  t.equal((await client.control('PUT', '/state', state)).status, 400)
})

t.test('decisions §6: a collection keeps the reason code of its outcome, also one that is gone', async t => {
  const { store } = serve(t)
  for (const status of ['REJECTED', 'FAILED', 'RETURNED']) {
    const outcome = `${status}-ZZ99`
    const clientId = `code-${status}`
    const client = await store(clientId, 'COL-CODE', { record: { outcome } })
    await client.control('PATCH', '/clock', { mode: 'frozen' })
    await client.control('POST', '/direct-debit/COL-CODE/submit')
    await client.control('POST', '/clock/advance', { by: 'P400D' })
    t.match((await client.read('/direct-debit/COL-CODE')).record, { status, reasonCode: 'ZZ99' })
  }
})

t.test('decisions §6: an outcome whose reason code is gone takes effect from the present state', async t => {
  const { store } = serve(t)
  const client = await store('code-late', 'COL-CODE', { record: { outcome: 'REJECTED-ZZ99' } })
  await client.control('PATCH', '/clock', { mode: 'frozen' })
  for (const verb of ['submit', 'process']) await client.control('POST', `/direct-debit/COL-CODE/${verb}`)
  await client.control('POST', '/clock/advance', { by: 'P400D' })
  t.match((await client.read('/direct-debit/COL-CODE')).record, { status: 'REJECTED', reasonCode: 'ZZ99' })
})

t.test('decisions §6: an armed outcome whose reason code is gone steers a collection, and no payout link', async t => {
  const { store, tenantOf, send } = serve(t)
  const client = await store('armed-former', 'COL-OTHER', {})
  const { outcomes } = tenantOf('armed-former')
  outcomes.restore([{ id: 'outcome-1', match: {}, outcome: 'FAILED-ZZ99', times: 1, fired: 0, armedAt: MONDAY }])
  t.equal((await send('armed-former', 'POST', '/payout-links', payoutLink())).status, 201)
  t.equal(outcomes.list()[0]?.fired, 0)
  await send('armed-former', 'POST', '/direct-debit', collection({ collectionReference: 'COL-ARMED' }))
  t.equal((await client.read('/direct-debit/COL-ARMED')).record.outcome, 'FAILED-ZZ99')
})
