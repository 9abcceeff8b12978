import fc from 'fast-check'
import type { FastifyInstance } from 'fastify'
import t, { type Test } from 'tap'
import { BILL_STATUSES } from '../../src/areas/bills/lifecycle.js'
import { COLLECTION_STATUSES } from '../../src/areas/direct-debit/lifecycle.js'
import { MANDATE_STATUSES } from '../../src/areas/mandates/lifecycle.js'
import { PAYOUT_LINK_STATUSES } from '../../src/areas/payout-links/lifecycle.js'
import { errors } from '../../src/core/errors.js'
import { changed, gist, holds, invalid, malformed, missing, refused, refusesValues, table } from '../answers.js'
import type { Client } from '../helper.js'
import {
  bill,
  build,
  call,
  collection,
  connect,
  MONDAY,
  mandate,
  NO_RECORDS,
  payoutLink,
  pluck,
  requestToken,
} from '../helper.js'
import { upload } from '../multipart.js'

// control plane, GET and PUT /state: the tenant as one versioned, human-readable JSON document; put back all or
// nothing, then byte-identical when read again.

// biome-ignore lint/suspicious/noExplicitAny: documents are taken apart at every place
type Document = any

const IS_LONG = process.env.TEST_LONG === '1'
const stateUrl = (client: string) => `/_sandbox/state?client=${client}`
const read = async (app: FastifyInstance, client: string) =>
  (await app.inject({ method: 'GET', url: stateUrl(client) })).payload
const put = (app: FastifyInstance, client: string, document: unknown) =>
  call(app, 'PUT', stateUrl(client), { body: document })

const attach = (client: Client, reference: string, fileName?: string) =>
  client.send('POST', `/api/v1/bills/${reference}/document`, upload({ fileName }))

const claims: Record<string, object> = {
  'SEPA-CT': { accountHolderName: 'Jane Doe', accountIdentifier: 'DE89370400440532013000' },
  'US-ACH': {
    accountHolderName: 'Jane Doe',
    accountIdentifier: '1234567',
    branchIdentifier: { type: 'ROUTING', value: '021000021' },
    accountType: 'CHECKING',
  },
  'UK-FAST': {
    accountHolderName: 'Jane Doe',
    accountIdentifier: '12345678',
    branchIdentifier: { type: 'SORT', value: '200000' },
  },
}
const methodOf: Record<string, { region: string; currency: string }> = {
  'SEPA-CT': { region: 'EU', currency: 'EUR' },
  'US-ACH': { region: 'US', currency: 'USD' },
  'UK-FAST': { region: 'UK', currency: 'GBP' },
}

const DEPRECATION = {
  operation: 'GET /api/v1/direct-debit',
  deprecatedSince: '2026-01-01T00:00:00Z',
  sunset: '2030-01-01T00:00:00Z',
  goneAfterSunset: true,
}

/** A bit of everything that a state can hold: every kind of record, in several states and regions, and all settings. */
async function everything(app: FastifyInstance, clientId = 'acme'): Promise<Client> {
  const client = await connect(app, clientId)
  const ok = async (answer: Promise<{ status: number; body: { message?: string } | null }>) => {
    const { status, body } = await answer
    if (status >= 300) throw new Error(`${status} ${body?.message}`)
  }
  await ok(client.post('/api/v1/mandates', mandate()))
  await ok(client.post('/api/v1/mandates', mandate({ mandateReference: 'MND-0002', type: 'ONE_OFF' })))
  await ok(client.post('/api/v1/direct-debit', collection({ debtorReference: 'SIM-RETURNED-AM04' })))
  await ok(client.post('/api/v1/direct-debit', collection({ collectionReference: 'COL-0002' })))
  await ok(
    client.post('/api/v1/direct-debit', collection({ collectionReference: 'COL-0003', mandateReference: 'MND-0002' })),
  )
  await ok(client.control('POST', '/direct-debit/COL-0002/submit'))
  await ok(client.control('POST', '/direct-debit/COL-0002/reject', { reasonCode: 'AC01' }))
  for (const [payoutMethod, { region, currency }] of Object.entries(methodOf)) {
    const link = await client.post('/api/v1/payout-links', payoutLink({ payoutMethod, currency }), { region })
    await client.post('/api/v1/payout-links', payoutLink({ payoutMethod, currency }), { region })
    await ok(client.control('POST', `/payout-links/${link.body.payoutLinkId}/claim`, claims[payoutMethod]))
  }
  await ok(client.post('/api/v1/bills', bill()))
  await ok(client.post('/api/v1/bills', bill({ currency: 'GBP' }), { region: 'UK' }))
  await ok(client.patch('/api/v1/bills/INV-2026-001', { openAmount: '10.5' }))
  await ok(attach(client, 'INV-2026-001', 'Rechnung März 😀.pdf'))
  await ok(client.patch('/api/v1/counterparties/CPTY-0001', { remarks: 'Zürich "quoted" \\ \n \u2028 😀' }))
  await ok(
    client.control('POST', '/seed', {
      records: {
        accounts: [
          {
            accountReference: 'ACC-0001',
            accountHolderName: 'Acme GmbH',
            currency: 'EUR',
            accountIdentifier: 'DE89370400440532013000',
            balance: '-12.5',
          },
        ],
        mandates: [mandate({ mandateReference: 'MND-OLD', createdAt: '2020-01-01T00:00:00Z' })],
      },
    }),
  )
  await ok(
    client.control('PUT', '/settings', {
      mandateActivation: 'manual',
      deprecationStyle: 'rfc',
      tokenAuthentication: 'form',
      allowedOrigins: ['https://shop.example:8443'],
      senderName: 'Acme Office Coffee',
    }),
  )
  await ok(client.control('PUT', '/deprecations', { data: [DEPRECATION] }))
  for (const fault of [
    { match: { method: 'GET', path: '/api/v1/bills*', region: 'EU' }, times: null, effect: { kind: 'delay', ms: 0 } },
    {
      probability: 0.25,
      times: 7,
      skip: 1,
      ttl: 'PT1H',
      effect: { kind: 'error', status: 503, headers: { 'x-a': 'b' } },
    },
    { skip: 1000, effect: { kind: 'delay', ms: { distribution: 'uniform', min: 1, max: 2 } } },
    { skip: 1000, effect: { kind: 'delay', distribution: 'lognormal', median: 1, sigma: 0.5, max: 9 } },
    { skip: 1000, effect: { kind: 'drop', when: 'after' } },
    { skip: 1000, effect: { kind: 'dribble', ms: 5 } },
  ])
    await ok(client.control('POST', '/faults', fault))
  for (let count = 0; count < 5; count++) await client.get('/api/v1/bills')
  await ok(client.control('POST', '/clock/advance', { by: 'P4DT1H' }))
  await ok(client.control('POST', '/tokens/expire'))
  return client
}

// ---------------------------------------------------------------------------------------------------------- reading

t.test('control plane, GET /state: one versioned document of all that the tenant is, for people to read', async t => {
  const app = build(t)
  await everything(app)
  const answer = await app.inject({ method: 'GET', url: stateUrl('acme') })
  t.equal(answer.statusCode, 200)
  t.match(answer.headers['content-type'], /^application\/json/)
  const document: Document = answer.json()
  t.equal(answer.payload, JSON.stringify(document, null, 2), 'indented')
  t.same(Object.keys(document), [
    'format',
    'version',
    'release',
    'clock',
    'settings',
    'deprecations',
    'faults',
    'outcomes',
    'ids',
    'tokens',
    'sequence',
    'mandates',
    'collections',
    'payoutLinks',
    'bills',
    'counterparties',
    'accounts',
    'events',
  ])
  t.match(document, {
    format: 'payments-sandbox/state',
    version: 1,
    clock: { now: '2026-11-06T10:00:00Z', mode: 'frozen', rate: 1 },
    settings: {
      mandateActivation: 'manual',
      deprecationStyle: 'rfc',
      tokenAuthentication: 'form',
      allowedOrigins: ['https://shop.example:8443'],
      senderName: 'Acme Office Coffee',
    },
    deprecations: [DEPRECATION],
    ids: { scope: 'acme', counters: { payoutLink: 6, document: 1 } },
  })
  t.equal(document.faults.length, 6)
  t.match(document.faults[0], { id: 'fault-1', fired: 5, seen: 5, times: null })
  t.same(Object.keys(document.tokens), ['generation'])
  const counts = ['mandates', 'collections', 'payoutLinks', 'bills', 'counterparties', 'accounts'].map(
    kind => document[kind].length,
  )
  t.same(counts, [3, 3, 6, 2, 2, 1])
  t.same(
    pluck(document.events, 'seq'),
    document.events.map((_: unknown, at: number) => at + 1),
  )
})

t.test('control plane, GET /state: each record has its place and its history by the numbers of events', async t => {
  const app = build(t)
  await everything(app)
  const document: Document = JSON.parse(await read(app, 'acme'))
  const kept = document.collections.find((item: Document) => item.record.collectionReference === 'COL-0002')
  t.same(Object.keys(kept), ['region', 'sequence', 'record', 'timeline'])
  t.equal(kept.region, 'EU')
  t.same(
    kept.timeline.map((seq: number) => document.events[seq - 1]),
    [
      { to: 'PENDING', from: null, cause: 'api' },
      { to: 'SUBMITTED', from: 'PENDING', cause: 'control' },
      { to: 'REJECTED', from: 'SUBMITTED', cause: 'control', reasonCode: 'AC01' },
    ].map(event => ({
      ...event,
      seq: kept.timeline[event.from === null ? 0 : event.from === 'PENDING' ? 1 : 2],
      at: MONDAY,
      kind: 'collection',
      reference: 'COL-0002',
    })),
  )
  t.same(Object.keys(document.accounts[0]), ['region', 'sequence', 'createdAt', 'record'])
  t.same(pluck(document.bills, 'region'), ['EU', 'UK'])
})

t.test('decisions §3: no secret and no token is in the document', async t => {
  const app = build(t)
  await requestToken(app, { client_secret: 'correct-horse' })
  const { access_token } = (await requestToken(app, { client_secret: 'correct-horse' })).body
  const text = await read(app, 'acme')
  for (const secret of ['correct-horse', access_token, access_token.split('.').at(-1)]) t.notOk(text.includes(secret))
})

t.test('control plane, GET /state: state of an unknown client is 404, also for a good document', async t => {
  const app = build(t)
  refused(t, await call(app, 'GET', stateUrl('nobody')), 404, 'CLIENT_NOT_FOUND', 'client')
  refused(t, await put(app, 'nobody', await read(app, 'sandbox-client')), 404, 'CLIENT_NOT_FOUND', 'client')
})

// ------------------------------------------------------------------------------------------------------- round trips

t.test('control plane, PUT /state: a document is byte-identical when it has been put back', async t => {
  const app = build(t)
  await everything(app)
  await connect(app, 'nothing')
  await connect(app, 'other')
  for (const from of ['sandbox-client', 'nothing', 'acme']) {
    const document = await read(app, from)
    t.equal((await put(app, from, document)).status, 200)
    t.equal(await read(app, from), document, `${from} into itself`)
    t.equal((await put(app, 'other', document)).status, 200)
    t.equal(await read(app, 'other'), document, `${from} into another tenant`)
    t.equal(await read(app, from), document, `${from} is as it was`)
    const elsewhere = build(t, { seed: 'another', clock: '2031-01-01T00:00:00Z' })
    t.equal((await put(elsewhere, 'sandbox-client', document)).status, 200)
    t.equal(await read(elsewhere, 'sandbox-client'), document, `${from} into another process`)
    t.equal((await put(elsewhere, 'sandbox-client', JSON.stringify(JSON.parse(document)))).status, 200)
    t.equal(await read(elsewhere, 'sandbox-client'), document, 'also without its white space')
  }
})

t.test('control plane, PUT /state: it answers what it did, like a reset', async t => {
  const app = build(t)
  await everything(app)
  await connect(app, 'other')
  t.same((await put(app, 'other', await read(app, 'acme'))).body, {
    clientId: 'other',
    fixture: 'empty',
    counts: { ...NO_RECORDS, mandates: 3, collections: 3, payoutLinks: 6, bills: 2, counterparties: 2, accounts: 1 },
    now: '2026-11-06T10:00:00Z',
  })
})

/** The answers to the same requests: two tenants with the same past have the same, with addresses of their own. */
async function futureOf(app: FastifyInstance, clientId: string): Promise<string> {
  const token = (await requestToken(app, { client_id: clientId })).body.access_token
  const headers = { authorization: `Bearer ${token}` }
  const api = (method: string, url: string, body?: unknown, region = 'EU') =>
    call(app, method, url, { headers, region, body })
  const control = (method: string, path: string, body?: unknown) =>
    call(app, method, `/_sandbox${path}?client=${clientId}`, { body })

  const answers = [
    // Now and then, one meets a fault.
    await api('POST', '/api/v1/payout-links', payoutLink()),
    await api('POST', '/api/v1/payout-links', payoutLink()),
    await api('POST', '/api/v1/bills', bill({ uniqueReferenceIdentifier: 'INV-FUTURE' })),
    await api('POST', '/api/v1/mandates', mandate({ mandateReference: 'MND-FUTURE' })),
  ]
  for (const list of ['mandates', 'direct-debit', 'bills', 'accounts']) {
    const first = await api('GET', `/api/v1/${list}?limit=1`)
    answers.push(first)
    if (first.body.nextCursor) answers.push(await api('GET', `/api/v1/${list}?cursor=${first.body.nextCursor}`))
  }
  answers.push(
    await control('POST', '/faults', { probability: 0.5, effect: { kind: 'error', status: 503 } }),
    await control('POST', '/clock/advance', { toNextEvent: true }),
    await control('POST', '/clock/advance', { by: 'P400D' }),
    await control('POST', '/clock/advance', { by: 'P1200D' }),
  )
  const text = JSON.stringify(answers.map(({ status, body }) => [status, body]))
  return text.replaceAll(`?client=${clientId}"`, '?client=CLIENT"')
}

t.test('control plane, PUT /state: a document has no address of a link, and an earlier one is ignored', async t => {
  const app = build(t, { publicUrl: () => 'https://pay.example' })
  await everything(app)
  await connect(app, 'other')
  const document = await read(app, 'acme')
  t.notMatch(document, 'pay.example')
  const earlier: Document = JSON.parse(document)
  for (const { record } of earlier.payoutLinks) record.url = `http://127.0.0.1:8080/pay/${record.payoutLinkId}`
  t.equal((await put(app, 'other', earlier)).status, 200)
  t.equal(await read(app, 'other'), document)
  const [{ record }] = earlier.payoutLinks
  const explained = await call(app, 'GET', `/_sandbox/payout-links/${record.payoutLinkId}?client=other`)
  t.equal(explained.body.record.url, `https://pay.example/pay/${record.payoutLinkId}?client=other`)
  record.url = 7
  t.match(await put(app, 'other', earlier), {
    status: 400,
    body: { code: 'INVALID_FIELD', field: 'payoutLinks.0.record.url' },
  })
})

t.test('control plane, PUT /state: a document of an earlier release has no list of a later area', async t => {
  const app = build(t)
  const client = await everything(app)
  const state: Document = JSON.parse(await read(app, 'acme'))
  const lists = Object.keys((await client.read('/clients')).data[0].counts)
  t.ok(lists.length >= 6)
  const empty = { ...state, events: [], ...Object.fromEntries(lists.map(list => [list, []])) }
  for (const list of lists) {
    const { [list]: _, ...earlier } = empty
    t.match(await put(app, 'acme', earlier), { status: 200, body: { counts: { [list]: 0 } } }, list)
    t.equal(await read(app, 'acme'), JSON.stringify(empty, null, 2), list)
  }
})

t.test('control plane, PUT /state: the settings of an earlier release get the later ones', async t => {
  const app = build(t)
  const client = await connect(app)
  await client.control('PUT', '/settings', { mandateActivation: 'manual', senderName: 'Acme' })
  const state: Document = JSON.parse(await read(app, 'acme'))
  const { senderName, ...settings } = state.settings
  t.equal(senderName, 'Acme')
  t.equal((await put(app, 'acme', { ...state, settings })).status, 200)
  t.same(await client.read('/settings'), { ...settings, senderName: null })
})

t.test('control plane, PUT /state: the future is the same, too: ids, cursors, transitions', async t => {
  const app = build(t)
  await everything(app)
  await connect(app, 'other')
  const document = await read(app, 'acme')
  await put(app, 'other', document)
  const future = await futureOf(app, 'acme')
  t.match(future, /"url":"[^"]+\?client=CLIENT"/)
  t.match(future, /"to":"RETURNED"/)
  t.match(future, /"nextCursor":"/)
  t.equal(await futureOf(app, 'other'), future, 'in another tenant')
  t.equal(await read(app, 'other'), await read(app, 'acme'))
  await put(app, 'acme', document)
  t.equal(await futureOf(app, 'acme'), future, 'and once more in the same')
})

t.test('control plane, POST /tokens/expire: a restored state makes no expired token valid', async t => {
  const app = build(t)
  const tokenOf = async () => (await requestToken(app)).body.access_token as string
  const [first, tokens] = [await read(app, (await connect(app)).clientId), [await tokenOf()]]
  const documents = [first]
  const answers = () =>
    Promise.all(
      tokens.map(async token => {
        const headers = { authorization: `Bearer ${token}` }
        const { status, body } = await call(app, 'GET', '/api/v1/mandates', { headers, region: 'EU' })
        return body.code ?? status
      }),
    )
  for (const document of [first, first]) {
    await call(app, 'POST', '/_sandbox/tokens/expire?client=acme')
    documents.push(await read(app, 'acme'))
    tokens.push(await tokenOf())
    t.same(await answers(), [...Array(tokens.length - 1).fill('EXPIRED_TOKEN'), 200])
    t.equal((await put(app, 'acme', document)).status, 200)
    t.equal(await read(app, 'acme'), document)
    t.same(await answers(), [...Array(tokens.length - 1).fill('EXPIRED_TOKEN'), 200])
  }
  t.equal(documents[1], documents[2], 'the future is the same after a restored state')
  await put(app, 'acme', documents[2] as string)
  t.same(await answers(), Array(tokens.length).fill('EXPIRED_TOKEN'), 'a state in which they are expired expires them')
})

t.test('control plane, PUT /state: a running clock runs on from the time of the document', async t => {
  let real = Date.parse(MONDAY)
  const app = build(t, { clock: 'real', now: () => real })
  const client = await connect(app)
  await client.control('PATCH', '/clock', { rate: 60 })
  await client.post('/api/v1/payout-links', payoutLink({ expiryPeriod: 'PT10M' }))
  const document = await read(app, 'acme')
  real += 3_600_000
  t.equal((await put(app, 'acme', document)).body.now, MONDAY)
  t.equal(await read(app, 'acme'), document)
  real += 5000
  t.same(await client.read('/clock'), { now: '2026-11-02T09:05:00Z', mode: 'running', rate: 60 })
  t.match(await client.read('/events'), { last: 1 })
  real += 5000
  t.match((await client.read('/events')).data[1], { to: 'EXPIRED', at: '2026-11-02T09:10:00Z' })
})

t.test('control plane, PUT /state: secret, tokens and request log stay', async t => {
  const app = build(t)
  const client = await connect(app)
  await client.post('/api/v1/mandates', mandate())
  const document = await read(app, 'acme')
  await client.get('/api/v1/mandates')
  await put(app, 'acme', document)
  t.equal((await client.get('/api/v1/mandates')).status, 200, 'a token from before is good')
  t.equal((await requestToken(app, { client_secret: 'other' })).body.code, 'INVALID_CLIENT')
  t.equal((await client.read('/requests')).data.length, 5)
})

// -------------------------------------------------------------------------------------------------- random histories

const pick = <T>(...values: T[]) => fc.constantFrom(...values)
const mandateReference = pick('MND-0001', 'MND-0002', 'MND-0003', 'MND-0004')
const collectionReference = pick(...Array.from({ length: 12 }, (_, at) => `COL-${1000 + at}`))
const billReference = pick('INV-1', 'INV-2')
const payoutMethod = pick('SEPA-CT', 'US-ACH', 'UK-FAST')

type Step = (client: Client, links: { id: string; method: string }[]) => Promise<unknown>
const step = <T>(arbitrary: fc.Arbitrary<T>, run: (drawn: T, ...given: Parameters<Step>) => Promise<unknown>) =>
  arbitrary.map<Step>(drawn => (client, links) => run(drawn, client, links))

/** Calls of all areas and of the control plane, many of which are refused. */
const anyStep: fc.Arbitrary<Step> = fc.oneof(
  step(fc.record({ mandateReference, type: pick('RECURRING', 'ONE_OFF') }), (drawn, client) =>
    client.post('/api/v1/mandates', mandate(drawn)),
  ),
  step(mandateReference, (reference, client) => client.delete(`/api/v1/mandates/${reference}`)),
  step(
    fc.record({
      collectionReference,
      mandateReference,
      days: pick(5, 7, 100),
      debtorReference: pick('SIM-REJECTED-AC01', 'SIM-RETURNED-AM04', 'SIM-FAILED', 'SIM-STUCK-SUBMITTED', 'jane'),
    }),
    async ({ days, ...drawn }, client) => {
      const { now } = await client.read('/clock')
      const collectionDate = new Date(Date.parse(now) + days * 86_400_000).toISOString().slice(0, 10)
      return client.post('/api/v1/direct-debit', collection({ ...drawn, collectionDate }))
    },
  ),
  step(
    fc.tuple(collectionReference, pick('submit', 'process', 'settle', 'fail', 'reject', 'return', 'cancel')),
    ([reference, verb], client) => client.control('POST', `/direct-debit/${reference}/${verb}`),
  ),
  step(fc.tuple(mandateReference, pick('activate', 'fail', 'cancel', 'expire')), ([reference, verb], client) =>
    client.control('POST', `/mandates/${reference}/${verb}`),
  ),
  step(fc.tuple(payoutMethod, pick('PT10M', 'P7D', 'P30D')), async ([payoutMethod, expiryPeriod], client, links) => {
    const { region, currency } = methodOf[payoutMethod] as { region: string; currency: string }
    const request = payoutLink({ payoutMethod, currency, expiryPeriod })
    const { body } = await client.post('/api/v1/payout-links', request, { region })
    if (body?.payoutLinkId) links.push({ id: body.payoutLinkId, method: payoutMethod })
  }),
  step(
    fc.tuple(fc.nat(3), pick('claim', 'decline', 'process', 'pay', 'fail', 'expire', 'cancel')),
    async ([at, verb], client, links) => {
      const { id, method } = links[at] ?? { id: 'pl_missing', method: 'SEPA-CT' }
      if (verb === 'cancel') return client.patch(`/api/v1/payout-links/${id}/cancel`, { cancellationComment: 'No.' })
      // Only a link that is being paid can fail.
      if (verb === 'fail') await client.control('POST', `/payout-links/${id}/process`)
      return client.control('POST', `/payout-links/${id}/${verb}`, verb === 'claim' ? claims[method] : undefined)
    },
  ),
  step(fc.tuple(billReference, pick('EUR EU', 'GBP UK')), ([uniqueReferenceIdentifier, place], client) => {
    const [currency = '', region = ''] = place.split(' ')
    return client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier, currency }), { region })
  }),
  step(
    fc.tuple(
      billReference,
      pick({ openAmount: '5' }, { status: 'PAID' }, { status: 'CANCELLED' }, { dueDate: '2027-01-01' }),
    ),
    ([reference, update], client) => client.patch(`/api/v1/bills/${reference}`, update),
  ),
  step(billReference, (reference, client) => attach(client, reference)),
  step(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 20 }), (remarks, client) =>
    client.patch('/api/v1/counterparties/CPTY-0001', { remarks }),
  ),
  step(pick('PT5S', 'PT6S', 'PT1H', 'P1D', 'P5D', 'P10D'), (by, client) => client.advance({ by })),
  step(pick({ mode: 'frozen' }, { mode: 'running' }, { rate: 60 }), (change, client) =>
    client.control('PATCH', '/clock', change),
  ),
  step(
    fc.record({
      times: pick(1, 3),
      probability: pick(0.3, 1),
      effect: pick<object>({ kind: 'error', status: 503 }, { kind: 'stale-token' }),
    }),
    (fault, client) => client.control('POST', '/faults', fault),
  ),
  step(pick('fault-1', 'fault-2'), (id, client) => client.control('DELETE', `/faults/${id}`)),
  step(pick('automatic', 'manual'), (mandateActivation, client) =>
    client.control('PUT', '/settings', { mandateActivation }),
  ),
  step(pick([], [{ operation: 'GET /api/v1/bills' }]), (data, client) =>
    client.control('PUT', '/deprecations', { data }),
  ),
  step(mandateReference, (mandateReference, client) =>
    client.control('POST', '/seed', {
      records: { mandates: [mandate({ mandateReference, createdAt: '2023-12-01T00:00:00Z' })] },
    }),
  ),
  step(pick(undefined), (_, client) => client.control('POST', '/tokens/expire')),
)

t.test('control plane, PUT /state: whatever has been, it can be put back, and goes on the same', async t => {
  const app = build(t)
  await connect(app, 'copy')
  let run = 0
  const reached = new Set<string>()
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { minLength: 40, maxLength: 80, size: 'max' }), async steps => {
      const client = await connect(app, `run-${run++}`)
      const links: Parameters<Step>[1] = []
      for (const [at, take] of steps.entries()) {
        await take(client, links)
        // The token may have expired, or its request may have met a fault.
        if (at % 3 === 0) await client.advance({ by: 'PT0S' })
      }
      const document = await read(app, client.clientId)
      for (const { kind, to } of JSON.parse(document).events) reached.add(`${kind} ${to}`)

      const copied = await put(app, 'copy', document)
      if (copied.status !== 200) throw new Error(copied.body.message)
      if ((await read(app, 'copy')) !== document) throw new Error('another tenant has another state')
      await put(app, client.clientId, document)
      if ((await read(app, client.clientId)) !== document) throw new Error('the same tenant has another state')

      if ((await futureOf(app, 'copy')) !== (await futureOf(app, client.clientId))) throw new Error('another future')
      if ((await read(app, 'copy')) !== (await read(app, client.clientId))) throw new Error('another end')
    }),
    { seed: 20_261_102, numRuns: IS_LONG ? 80 : 8 },
  )
  if (!IS_LONG) return
  for (const [kind, states] of Object.entries({
    mandate: MANDATE_STATUSES,
    collection: COLLECTION_STATUSES,
    payoutLink: PAYOUT_LINK_STATUSES,
    bill: BILL_STATUSES,
  }))
    t.same(
      states.filter(state => !reached.has(`${kind} ${state}`)),
      [],
      `there was a ${kind} in every state`,
    )
})

// --------------------------------------------------------------------------------------------------------- refusals

const swap = (list: Document[]) => list.splice(0, 2, list[1], list[0])

/** Changes that a list of wrong values at a path cannot express, by the refusal that follows. */
const damages: Record<string, ((document: Document) => void)[]> = {
  '404 MANDATE_NOT_FOUND collections.0.mandateReference': [d => (d.mandates = [])],
  '404 MANDATE_NOT_FOUND collections.1.mandateReference': [
    d => (d.collections[1].record.mandateReference = 'MND-NONE'),
  ],
  '409 DUPLICATE_REFERENCE mandates.1.mandateReference': [d => (d.mandates[1].record.mandateReference = 'MND-0001')],
  // In two regions.
  '409 DUPLICATE_REFERENCE payoutLinks.2.record.payoutLinkId': [
    d => (d.payoutLinks[2].record.payoutLinkId = d.payoutLinks[0].record.payoutLinkId),
  ],
  '409 DUPLICATE_REFERENCE counterparties.2.counterpartyReference': [
    d => d.counterparties.push({ ...d.counterparties[0], sequence: ++d.sequence }),
  ],
  '409 DUPLICATE_REFERENCE faults.1.id': [d => (d.faults[1].id = 'fault-1')],
  [invalid('mandates.1.sequence')]: [d => swap(d.mandates), d => (d.mandates[1].sequence = d.mandates[0].sequence)],
  [invalid('mandates.2.sequence')]: [d => (d.sequence = d.mandates[2].sequence - 1)],
  [invalid('accounts.0.sequence')]: [d => (d.accounts[0].sequence = d.bills[0].sequence)],
  [invalid('events.0.seq')]: [d => d.events.shift(), d => swap(d.events)],
  [invalid('events.3.seq')]: [d => d.events.splice(3, 1)],
  // Events of another record, of another kind with this reference, and of this reference in another region.
  [invalid('mandates.0.timeline.0')]: [d => (d.mandates[0].timeline = d.mandates[1].timeline)],
  [invalid('bills.0.timeline.0')]: [
    d => {
      const event = d.events[d.bills[0].timeline[0] - 1]
      Object.assign(event, { kind: 'mandate', reference: d.bills[0].record.uniqueReferenceIdentifier })
    },
  ],
  [invalid('bills.1.timeline.0')]: [d => (d.bills[1].timeline = [d.bills[0].timeline[0]])],
  [invalid('mandates.0.timeline.1')]: [
    d => d.mandates[0].timeline.push(9999),
    d => d.mandates[0].timeline.push(d.mandates[0].timeline[0]),
  ],
  [invalid('collections.1.timeline.1')]: [d => d.collections[1].timeline.reverse()],
  [invalid('deprecations.1.operation')]: [d => d.deprecations.push(d.deprecations[0])],
}

t.test('control plane, PUT /state: a damaged document is refused, names the damage, and changes nothing', async t => {
  const app = build(t)
  const client = await everything(app)
  const token = (await requestToken(app)).body.access_token
  const before = await read(app, 'acme')
  const document = JSON.parse(before)
  const send = (damaged: unknown) => put(app, 'acme', damaged)
  const lists = ['mandates', 'collections', 'payoutLinks', 'bills', 'counterparties', 'accounts']
  const optional = ['release', 'outcomes', ...lists]
  const required = Object.keys(document).filter(name => !optional.includes(name))
  const members = [...required, 'clock.now', 'bills.0.record', 'bills.0.record.status']
  const inLists = [
    'events.0.from',
    'faults.0.effect',
    'faults.1.match',
    'faults.1.effect.status',
    'faults.3.effect.max',
  ]
  const cases = [...members, ...inLists, 'deprecations.0.sunset'].map(path => [path, missing(path)] as const)
  await holds(t, [...cases, ['ids.scope', missing('ids.scope')]], path =>
    send(changed(document, path, path === 'ids.scope' ? '' : undefined)),
  )
  await refusesValues(t, send, document, {
    format: ['payments-sandbox/recording'],
    version: [2, '1'],
    'clock.now': ['2026-11-02T09:00:00.5Z', '2026-02-30T09:00:00Z'],
    'clock.mode': ['stopped'],
    'clock.rate': [0, 86_401],
    'settings.mandateActivation': ['never'],
    'settings.senderName': ['', 7],
    'settings.tokenAuthentication': ['basic'],
    'settings.allowedOrigins.0': ['shop'],
    'ids.counters.token': [-1],
    'ids.counters.payoutLink': [2 ** 53],
    'tokens.generation': [0.5],
    'tokens.expiredUpTo': [0],
    sequence: [1e308],
    mandates: [{}],
    'mandates.1': [null],
    'mandates.0.record.debtor.iban': ['DE00370400440532013000'],
    'mandates.0.sequence': [0],
    'mandates.0.timeline.0': [0],
    'mandates.2.region': ['UK'],
    'bills.0.record.status': ['GONE'],
    'bills.0.region': ['GB', 'US'],
    'collections.0.record.amount': [10.5],
    'collections.0.region': ['UK'],
    'payoutLinks.2.region': ['EU'],
    'accounts.0.region': ['UK'],
    'events.0.kind': ['account'],
    'events.0.cause': ['chance'],
    faults: [Array(1001).fill(document.faults[0])],
    'faults.0.effect.kind': ['fire'],
  })
  for (const [expected, all] of Object.entries(damages)) {
    for (const damage of all) {
      const damaged = JSON.parse(before)
      damage(damaged)
      t.equal(gist(await send(damaged)), expected, damage.toString())
    }
  }
  t.equal(await read(app, 'acme'), before)
  const headers = { authorization: `Bearer ${token}` }
  t.equal((await client.control('DELETE', '/faults')).status, 200)
  t.equal((await client.get('/api/v1/bills', { headers })).status, 200, 'and the tenant lives on')
})

t.test('decisions §1: a body that is no document is refused, and changes nothing', async t => {
  const app = build(t)
  await everything(app)
  const before = await read(app, 'acme')
  const send = (body: string | Buffer | undefined, contentType = 'application/json') =>
    call(app, 'PUT', stateUrl('acme'), { body, headers: { 'content-type': contentType } })
  const cut = [1, before.length >> 1, before.length - 1].map(length => before.slice(0, length))
  await table(t, body => send(body), {
    [missing('format')]: [undefined, '', '{}'],
    [invalid(null)]: ['[]', 'null'],
    [malformed(null)]: [...cut, `${before}}`, Buffer.concat([Buffer.from(before), Buffer.from([0xff])])],
    [malformed('__proto__')]: [before.replace('"counters": {', '"counters": { "__proto__": 1,')],
    // Half a character.
    [invalid('bills.0.record.documents.0.fileName')]: [before.replace('"Rechnung', '"\\ud800 Rechnung')],
  })
  refused(t, await send(before, 'text/plain'), 415, 'UNSUPPORTED_MEDIA_TYPE', 'content-type')
  t.equal(await read(app, 'acme'), before)
})

const MIB = 1024 * 1024

/** Fills a document with spaces up to a size in bytes. */
const padded = (document: string, size: number) =>
  Buffer.concat([Buffer.from(document), Buffer.alloc(size - Buffer.byteLength(document), ' ')])

t.test('control plane, PUT /state: a document of 32 MiB is accepted, one byte more is 413', async t => {
  const app = build(t)
  const document = await read(app, 'sandbox-client')
  const refusal = await put(app, 'sandbox-client', padded(document, 32 * MIB + 1))
  refused(t, refusal, 413, 'PAYLOAD_TOO_LARGE', null)
  t.match(refusal.body.message, '32 MiB')
  t.equal((await put(app, 'sandbox-client', padded(document, 32 * MIB))).status, 200)
  t.equal(await read(app, 'sandbox-client'), document)
})

t.test('settings, SANDBOX_STATE_BYTES: sets the maximum size of a state document', async t => {
  const app = build(t, { stateBytes: 1_000_000 })
  const document = await read(app, 'sandbox-client')
  t.equal((await put(app, 'sandbox-client', padded(document, 1_000_000))).status, 200)
  const refusal = await put(app, 'sandbox-client', padded(document, 1_000_001))
  refused(t, refusal, 413, 'PAYLOAD_TOO_LARGE', null)
  t.match(refusal.body.message, '1000000 bytes')
})

/** A document above 1 MiB with one member of the given JSON text. */
const largeBody = (json: string) => `{"mandates": ${json}}`.padEnd(MIB + 1)

t.test('control plane, PUT /state: a large document is nested at most 100 deep', async t => {
  const app = build(t)
  const before = await read(app, 'sandbox-client')
  const nested = (depth: number) => `${'['.repeat(depth)}"[[{"${']'.repeat(depth)}`
  refused(t, await put(app, 'sandbox-client', largeBody(nested(100))), 400, 'MALFORMED_REQUEST', null, '101 levels')
  refused(t, await put(app, 'sandbox-client', largeBody(nested(99))), 400, 'MISSING_FIELD', 'format', '100 levels')
  for (const json of [nested(8_000_000), '{"a":'.repeat(3_000_000), '['.repeat(16_000_000)])
    refused(t, await put(app, 'sandbox-client', largeBody(json)), 400, 'MALFORMED_REQUEST', null)
  refused(t, await put(app, 'sandbox-client', largeBody(`"${'\\\\"[['.repeat(3)}`)), 400, 'MALFORMED_REQUEST', null)
  t.equal(await read(app, 'sandbox-client'), before)
})

t.test('control plane, PUT /state: a large document has at most one value for 10 bytes of the limit', async t => {
  const app = build(t, { stateBytes: 2 * MIB })
  const most = Math.floor((2 * MIB) / 10)
  // The body and the list are two values. A list of n values has n - 1 commas.
  const list = (values: number) => largeBody(`[${'1,'.repeat(values - 3)}1  ]`)
  refused(t, await put(app, 'sandbox-client', list(most + 1)), 400, 'MISSING_FIELD', 'format')
  const refusal = await put(app, 'sandbox-client', list(most + 2))
  refused(t, refusal, 413, 'PAYLOAD_TOO_LARGE', null)
  t.match(refusal.body.message, String(most))
})

t.test('control plane, PUT /state: a name for 12 bytes of the limit at most, and an object for 48', async t => {
  const app = build(t, { stateBytes: 2 * MIB })
  // Objects that are as small as names allow, and names that are as small as values allow.
  for (const [bytes, name, list] of [
    [12, 'names', (count: number) => `[${`{${'"":1,'.repeat(99)}"":1},`.repeat(count / 100)}1]`],
    [48, 'objects', (count: number) => `[${'{},'.repeat(count)}1]`],
  ] as const) {
    const most = Math.floor((2 * MIB) / bytes)
    const few = await put(app, 'sandbox-client', largeBody(list(most - 100)))
    refused(t, few, 400, 'MISSING_FIELD', 'format')
    const refusal = await put(app, 'sandbox-client', largeBody(list(most + 100)))
    refused(t, refusal, 413, 'PAYLOAD_TOO_LARGE', null)
    t.match(refusal.body.message, `${most} ${name}`)
  }
})

t.test('control plane, PUT /state: an item, or the rest, has at most 100,000 values and 10,000 names', async t => {
  const app = build(t)
  const document = await read(app, 'sandbox-client')
  const members = (count: number) => Array.from({ length: count }, (_, n) => `"n${n}":1,`).join('')
  const numbers = (count: number) => '1,'.repeat(count)
  // Each place has some values of its own, which are fewer than a hundred.
  const at = (place: RegExp, text: string) => document.replace(place, found => found + text)
  const places: Record<string, [most: number, insert: (count: number) => string]> = {
    'the document': [10_000, count => at(/\{/, members(count))],
    settings: [10_000, count => at(/"settings": \{/, members(count))],
    'an item': [10_000, count => at(/"mandates": \[\s*\{/, members(count))],
    'a record': [10_000, count => at(/"mandates": \[\s*\{[^[]*?"record": \{/, members(count))],
    'a timeline': [100_000, count => at(/"timeline": \[/, numbers(count))],
    'a list in a list': [100_000, count => at(/"allowedOrigins": \[/, `[${numbers(count)}1],`)],
  }
  for (const [place, [most, insert]] of Object.entries(places)) {
    const send = (count: number) => put(app, 'sandbox-client', insert(count))
    t.equal((await send(most - 100)).status, 400, place)
    refused(t, await send(most), 413, 'PAYLOAD_TOO_LARGE', null, place)
  }
  const outermost = await put(app, 'sandbox-client', at(/"allowedOrigins": \[/, numbers(200_000)))
  refused(t, outermost, 400, 'INVALID_FIELD', 'settings.allowedOrigins', 'each item of its own')
  t.equal(await read(app, 'sandbox-client'), document)
})

t.test('control plane, PUT /state: an item has at most 8 MiB, and so has the rest of the document', async t => {
  const app = build(t)
  const document = JSON.parse(await read(app, 'sandbox-client'))
  const { scope } = document.ids
  const send = () => put(app, 'sandbox-client', JSON.stringify(document))
  // The longest text is valid, though each of its characters is escaped.
  document.ids.scope = '\u0001'.repeat(1000)
  t.equal(gist(await send()), '200')
  document.ids.scope += 'x'
  refused(t, await send(), 400, 'INVALID_FIELD', 'ids.scope')
  for (const text of ['x', ' ', 'é']) {
    document.ids.scope = text.repeat((8 * MIB) / Buffer.byteLength(text))
    refused(t, await send(), 413, 'PAYLOAD_TOO_LARGE', null, `the document with ${text}`)
  }
  document.ids.scope = scope
  const [first] = document.mandates
  first.x = 'x'.repeat(8 * MIB - 10_000)
  refused(t, await send(), 400, 'INVALID_FIELD', 'mandates.0.x')
  first.x = 'x'.repeat(8 * MIB)
  refused(t, await send(), 413, 'PAYLOAD_TOO_LARGE', null, 'an item')
})

t.test('control plane, PUT /state: the first fault of a large document ends its check', async t => {
  const app = build(t)
  const document = JSON.parse(await read(app, 'sandbox-client'))
  // The document is large above 1 MiB.
  const values = (json: string) =>
    `[${Array(Math.ceil(MIB / (json.length + 1)))
      .fill(json)
      .join(',')}]`
  const bodyOf = (json: string) => JSON.stringify({ ...document, mandates: 'here' }).replace('"here"', values(json))
  await table(t, json => put(app, 'sandbox-client', bodyOf(json)), {
    [invalid('mandates.0')]: ['null', '"\\u0041"', '"\\ud800"'],
    [missing('mandates.0.region')]: ['{}'],
    [invalid('mandates.0.x')]: ['{"x": 1}'],
  })
  const faults = document.faults
  document.faults = Array(1001).fill({}).concat(Array(220_000).fill(null))
  refused(t, await put(app, 'sandbox-client', document), 400, 'INVALID_FIELD', 'faults', 'too many of them')
  document.faults = faults
  document.ids.counters = Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`c${n}`, n]))
  refused(t, await put(app, 'sandbox-client', document), 400, 'INVALID_FIELD', 'ids.counters')
})

t.test('control plane, PUT /state: where the new life cannot be kept, the old one goes on', async t => {
  let isFull = false
  const onCreated = () => {
    if (isFull) throw errors.unavailable('The disk is full.')
  }
  const app = build(t, { listeners: [{ onCreated, onRemoved() {} }] })
  const client = await everything(app)
  const token = (await requestToken(app)).body.access_token
  const before = await read(app, 'acme')
  const demo = await read(app, 'sandbox-client')
  isFull = true
  refused(t, await put(app, 'acme', demo), 503, 'SERVICE_UNAVAILABLE', null)
  refused(t, await client.control('POST', '/reset'), 503, 'SERVICE_UNAVAILABLE', null)
  refused(t, await client.control('POST', '/fork', { clientId: 'copy' }), 503, 'SERVICE_UNAVAILABLE', null)
  t.equal(await read(app, 'acme'), before)
  const headers = { authorization: `Bearer ${token}` }
  t.equal((await client.control('DELETE', '/faults')).status, 200)
  t.equal((await client.get('/api/v1/bills', { headers })).status, 200, 'and its tokens are good')
  refused(t, await call(app, 'GET', stateUrl('copy')), 404, 'CLIENT_NOT_FOUND', 'client')
})

// ------------------------------------------------------------------------------------------------------ edited by hand

async function edited(t: Test, edit: (document: Document) => void) {
  const app = build(t)
  const client = await everything(app)
  const document = JSON.parse(await read(app, 'acme'))
  edit(document)
  const answer = await put(app, 'acme', document)
  t.equal(answer.status, 200, answer.body.message)
  return { client, document }
}

t.test('control plane, PUT /state: due transitions of a document happen at once, at its own clock', async t => {
  const { client } = await edited(t, document => {
    document.clock.now = '2026-12-24T12:00:00Z'
  })
  const moved = (await client.read('/events')).data.filter(({ at }: { at: string }) => at === '2026-12-24T12:00:00Z')
  t.match(
    moved.filter(({ reference }: { reference: string }) => reference === 'COL-0001'),
    [
      { from: 'PROCESSING', to: 'SETTLED', cause: 'time' },
      { from: 'SETTLED', to: 'RETURNED', cause: 'outcome', reasonCode: 'AM04' },
    ],
  )
  t.match(await client.read('/direct-debit/COL-0001'), { next: null, record: { status: 'RETURNED' } })
})

t.test('control plane, PUT /state: records can be taken out, and their references are free then', async t => {
  const { client } = await edited(t, document => {
    document.collections = []
    document.mandates = document.mandates.slice(1)
  })
  t.equal((await client.control('GET', '/mandates/MND-0001')).status, 404)
  const token = (await requestToken(client.app)).body.access_token
  const headers = { authorization: `Bearer ${token}` }
  await client.control('DELETE', '/faults')
  t.equal((await client.post('/api/v1/mandates', mandate(), { headers })).status, 201)
})

t.test('control plane, PUT /state: a history may be left out', async t => {
  const { client } = await edited(t, document => {
    document.events = []
    for (const kind of ['mandates', 'collections', 'payoutLinks', 'bills'])
      for (const kept of document[kind]) kept.timeline = []
  })
  t.same((await client.read('/mandates/MND-0001')).timeline, [])
  await client.control('POST', '/mandates/MND-0001/cancel')
  t.match((await client.read('/mandates/MND-0001')).timeline, [{ seq: 1, to: 'CANCELLED' }])
})
