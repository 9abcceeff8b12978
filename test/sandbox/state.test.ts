import t from 'tap'
import { areas } from '../../src/areas/index.js'
import { digestOf } from '../../src/core/digests.js'
import { errors } from '../../src/core/errors.js'
import { createIds } from '../../src/core/ids.js'
import { changed, gist, holds, invalid, malformed, missing, refused, refusesValues, table } from '../answers.js'
import { account, METHODS } from '../areas/records.js'
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
  newClient,
  payoutLink,
  pluck,
  requestToken,
} from '../helper.js'
import { upload } from '../multipart.js'
import { createPlayer, injecting, randomRequests } from '../random-requests.js'

// control plane, GET and PUT /state: the tenant as one versioned, human-readable JSON document; put back all or
// nothing, then byte-identical when read again.

// biome-ignore lint/suspicious/noExplicitAny: documents are taken apart at every place
type Document = any

const IS_LONG = process.env.TEST_LONG === '1'
/** The state document of a client as it is sent. */
const text = async ({ app, clientId }: Client) => (await app.inject(`/_sandbox/state?client=${clientId}`)).payload
const put = ({ control }: Client, document: unknown) => control('PUT', '/state', document)

const attach = (client: Client, reference: string, fileName?: string) =>
  client.send('POST', `/api/v1/bills/${reference}/document`, upload({ fileName }))

const SETTINGS = {
  ...{ mandateActivation: 'manual', deprecationStyle: 'rfc', tokenAuthentication: 'form' },
  allowedOrigins: ['https://shop.example:8443'],
  senderName: 'Acme Office Coffee',
}

const DEPRECATION = {
  operation: 'GET /api/v1/direct-debit',
  deprecatedSince: '2026-01-01T00:00:00Z',
  sunset: '2030-01-01T00:00:00Z',
  goneAfterSunset: true,
}

/** A bit of everything that a state can hold: every kind of record, in several states and regions, and all settings. */
async function stock(client: Client) {
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
  for (const payoutMethod of ['SEPA-CT', 'US-ACH', 'UK-FAST']) {
    const { region, currency, claim } = METHODS[payoutMethod] as (typeof METHODS)[string]
    const link = await client.post('/api/v1/payout-links', payoutLink({ payoutMethod, currency }), { region })
    await client.post('/api/v1/payout-links', payoutLink({ payoutMethod, currency }), { region })
    await ok(client.control('POST', `/payout-links/${link.body.payoutLinkId}/claim`, claim))
  }
  await ok(client.post('/api/v1/bills', bill()))
  await ok(client.post('/api/v1/bills', bill({ currency: 'GBP' }), { region: 'UK' }))
  await ok(client.patch('/api/v1/bills/INV-2026-001', { openAmount: '10.5' }))
  await ok(attach(client, 'INV-2026-001', 'Rechnung März 😀.pdf'))
  await ok(client.patch('/api/v1/counterparties/CPTY-0001', { remarks: 'Zürich "quoted" \\ \n \u2028 😀' }))
  await ok(
    client.control('POST', '/seed', {
      records: {
        accounts: [account({ balance: '-12.5' })],
        mandates: [mandate({ mandateReference: 'MND-OLD', createdAt: '2020-01-01T00:00:00Z' })],
      },
    }),
  )
  await ok(client.control('PUT', '/settings', SETTINGS))
  await ok(client.control('PUT', '/deprecations', { data: [DEPRECATION] }))
  const delay = { kind: 'delay', distribution: 'uniform', min: 1, max: 2 }
  const spelled = { kind: 'delay', distribution: 'lognormal', median: 1, sigma: 0.5, max: 9 }
  const error = { kind: 'error', status: 503, headers: { 'x-a': 'b' } }
  for (const fault of [
    { match: { method: 'GET', path: '/api/v1/bills*', region: 'EU' }, times: null, effect: { kind: 'delay', ms: 0 } },
    { probability: 0.25, times: 7, skip: 1, ttl: 'PT1H', effect: error },
    ...[delay, spelled, { kind: 'drop', when: 'after' }].map(effect => ({ skip: 1000, effect })),
  ])
    await ok(client.control('POST', '/faults', fault))
  await ok(client.control('POST', '/outcomes', { match: { amount: '77' }, outcome: 'FAILED', times: null }))
  for (let count = 0; count < 5; count++) await client.get('/api/v1/bills')
  await ok(client.control('POST', '/clock/advance', { by: 'P4DT1H' }))
  await ok(client.control('POST', '/tokens/expire'))
}

let kept: Promise<string> | undefined

/** A client with everything. It is made once, and then put into others. */
async function everything(client?: Client): Promise<Client> {
  kept ??= (async () => {
    // The id of a client seeds the faults that fire.
    const first = await connect((await newClient()).app, 'stocked')
    await stock(first)
    return text(first)
  })()
  const stocked = client ?? (await newClient())
  t.equal((await put(stocked, await kept)).status, 200)
  return stocked
}

// ---------------------------------------------------------------------------------------------------------- reading

t.test('control plane, GET /state: one versioned document of all that the tenant is, for people to read', async t => {
  const client = await everything()
  const { headers, body: document } = await client.control('GET', '/state')
  t.match(headers['content-type'], /^application\/json/)
  t.equal(await text(client), JSON.stringify(document, null, 2), 'indented')
  t.same(Object.keys(document), [
    ...['format', 'version', 'release', 'clock', 'settings', 'deprecations', 'faults', 'outcomes', 'ids', 'tokens'],
    ...['sequence', ...Object.keys(areas), 'events'],
  ])
  t.match(document, {
    format: 'payments-sandbox/state',
    version: 1,
    clock: { now: '2026-11-06T10:00:00Z', mode: 'frozen', rate: 1 },
    settings: SETTINGS,
    deprecations: [DEPRECATION],
    faults: [{ id: 'fault-1', fired: 5, seen: 5, times: null }, {}, {}, {}, {}],
    outcomes: [{ id: 'outcome-1', match: { amount: '77' }, outcome: 'FAILED', times: null, fired: 0 }],
    ids: { counters: { payoutLink: 6, document: 1 } },
  })
  t.same(Object.keys(document.tokens), ['generation'])
  t.same(
    pluck(document.events, 'seq'),
    document.events.map((_: unknown, at: number) => at + 1),
  )
  const kept = document.collections.find((item: Document) => item.record.collectionReference === 'COL-0002')
  t.same(Object.keys(kept), ['region', 'sequence', 'record', 'timeline'])
  t.equal(kept.region, 'EU')
  const past = kept.timeline.map((seq: number) => document.events[seq - 1])
  const same = { at: MONDAY, kind: 'collection', reference: 'COL-0002' }
  t.match(past, [
    { ...same, to: 'PENDING', from: null, cause: 'api' },
    { ...same, to: 'SUBMITTED', from: 'PENDING', cause: 'control' },
    { ...same, to: 'REJECTED', from: 'SUBMITTED', cause: 'control', reasonCode: 'AC01' },
  ])
  t.same(pluck(past, 'seq'), kept.timeline, 'its history by the numbers of events')
  t.same(Object.keys(document.accounts[0]), ['region', 'sequence', 'createdAt', 'record'])
  t.same(pluck(document.bills, 'region'), ['EU', 'UK'])
})

// ------------------------------------------------------------------------------------------------------- round trips

t.test('control plane, PUT /state: a document is byte-identical when it has been put back', async t => {
  const original = await newClient()
  await stock(original)
  const other = await connect(original.app, 'other')
  const elsewhere = await connect(build(t, { seed: 'another', clock: '2031-01-01T00:00:00Z' }))
  for (const from of [await connect(build(t), 'nothing'), original]) {
    const document = await text(from)
    for (const to of [from, other, elsewhere]) {
      const { body } = await put(to, document)
      t.match(body, { clientId: to.clientId, fixture: 'empty', now: JSON.parse(document).clock.now })
      t.equal(await text(to), document, `${from.clientId} into ${to.clientId}`)
      t.equal(await text(from), document, `${from.clientId} is as it was`)
    }
    await put(elsewhere, JSON.stringify(JSON.parse(document)))
    t.equal(await text(elsewhere), document, 'also without its white space')
  }
  const counts = { mandates: 3, collections: 3, payoutLinks: 6, bills: 2, counterparties: 2, accounts: 1 }
  t.same((await put(other, await text(original))).body.counts, { ...NO_RECORDS, ...counts })
})

/** The answers to the same requests: two tenants with the same past have the same, with addresses of their own. */
async function futureOf({ app, clientId, control }: Client): Promise<string> {
  const token = (await requestToken(app, { client_id: clientId })).body.access_token
  const headers = { authorization: `Bearer ${token}` }
  const api = (method: string, url: string, body?: unknown, region = 'EU') =>
    call(app, method, url, { headers, region, body })

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
  const all = JSON.stringify(answers.map(({ status, body }) => [status, body]))
  return all.replaceAll(`?client=${clientId}"`, '?client=CLIENT"')
}

t.test('control plane, PUT /state: a document has no address of a link, and an earlier one is ignored', async t => {
  const app = build(t, { publicUrl: () => 'https://pay.example' })
  const client = await everything(await connect(app))
  const document = await text(client)
  t.notMatch(document, 'pay.example')
  const earlier: Document = JSON.parse(document)
  for (const { record } of earlier.payoutLinks) record.url = `http://127.0.0.1:8080/pay/${record.payoutLinkId}`
  t.equal((await put(client, earlier)).status, 200)
  t.equal(await text(client), document)
  const [{ record }] = earlier.payoutLinks
  const explained = await client.read(`/payout-links/${record.payoutLinkId}`)
  t.equal(explained.record.url, `https://pay.example/pay/${record.payoutLinkId}?client=acme`)
  record.url = 7
  refused(t, await put(client, earlier), 400, 'INVALID_FIELD', 'payoutLinks.0.record.url')
})

t.test(
  'control plane, PUT /state: a document of an earlier release lacks a list and a setting of a later one',
  async t => {
    const client = await everything()
    const state = await client.read('/state')
    const lists = Object.keys(areas)
    const { senderName, ...settings } = state.settings
    const empty = { ...state, settings: { ...settings, senderName: null }, outcomes: [], events: [] }
    for (const list of lists) empty[list] = []
    for (const list of [...lists, 'outcomes']) {
      const { [list]: _, ...earlier } = { ...empty, settings }
      t.equal((await put(client, earlier)).status, 200, list)
      t.same(await client.read('/state'), empty, list)
    }
  },
)

t.test('control plane, PUT /state: the future is the same, too: ids, cursors, transitions', async t => {
  const client = await everything()
  const other = await everything()
  const document = await text(client)
  const future = await futureOf(client)
  for (const part of [/"url":"[^"]+\?client=CLIENT"/, /"to":"RETURNED"/, /"nextCursor":"/]) t.match(future, part)
  t.equal(await futureOf(other), future, 'in another tenant')
  t.equal(await text(other), await text(client))
  await put(client, document)
  t.equal(await futureOf(client), future, 'and once more in the same')
})

t.test('control plane, POST /tokens/expire: a restored state makes no expired token valid', async t => {
  const client = await newClient()
  const credentials = { client_id: client.clientId }
  const tokens = [client.token]
  const first = await text(client)
  const documents = [first]
  const answers = async () => {
    const codes = []
    for (const token of tokens) {
      const { status, body } = await client.get('/api/v1/mandates', { headers: { authorization: `Bearer ${token}` } })
      codes.push(body.code ?? status)
    }
    return codes
  }
  for (const document of [first, first]) {
    await client.control('POST', '/tokens/expire')
    documents.push(await text(client))
    tokens.push((await requestToken(client.app, credentials)).body.access_token)
    const expected = [...Array(tokens.length - 1).fill('EXPIRED_TOKEN'), 200]
    t.same(await answers(), expected)
    await put(client, document)
    t.equal(await text(client), document)
    t.same(await answers(), expected)
  }
  t.equal(documents[1], documents[2], 'the future is the same after a restored state')
  await put(client, documents[2])
  t.same(await answers(), Array(tokens.length).fill('EXPIRED_TOKEN'), 'a state in which they are expired expires them')
})

t.test('control plane, PUT /state: a running clock runs on from the time of the document', async t => {
  let real = Date.parse(MONDAY)
  const client = await connect(build(t, { clock: 'real', now: () => real }))
  await client.control('PATCH', '/clock', { rate: 60 })
  await client.post('/api/v1/payout-links', payoutLink({ expiryPeriod: 'PT10M' }))
  const document = await text(client)
  real += 3_600_000
  t.equal((await put(client, document)).body.now, MONDAY)
  t.equal(await text(client), document)
  real += 5000
  t.same(await client.read('/clock'), { now: '2026-11-02T09:05:00Z', mode: 'running', rate: 60 })
  t.match(await client.read('/events'), { last: 1 })
  real += 5000
  t.match((await client.read('/events')).data[1], { to: 'EXPIRED', at: '2026-11-02T09:10:00Z' })
})

t.test('control plane, PUT /state: secret, tokens and request log stay', async t => {
  const client = await newClient()
  await put(client, await text(client))
  t.equal((await client.get('/api/v1/mandates')).status, 200, 'a token from before is good')
  const wrong = { client_id: client.clientId, client_secret: 'other' }
  t.equal((await requestToken(client.app, wrong)).body.code, 'INVALID_CLIENT')
  t.equal((await client.read('/requests')).data.length, 3)
})

t.test('control plane, PUT /state: the state of another client leaves the tokens of both valid', async t => {
  const app = build(t)
  const [acme, beta] = [await connect(app), await connect(app, 'beta')]
  await acme.control('POST', '/fork', { clientId: 'copy' })
  const copy = await connect(app, 'copy')
  // Release 1.0.0 signed with the keys of the original.
  const claims = copy.token.slice(0, copy.token.lastIndexOf('.'))
  const signature = createIds('test', 'acme').sign('token', `${digestOf('secret')}.0.${claims}`)
  const tokens = [acme.token, beta.token, copy.token, `${claims}.${signature}`]
  const answers = (known = tokens) =>
    Promise.all(
      known.map(async token => {
        const headers = { authorization: `Bearer ${token}`, 'x-region': 'EU' }
        return (await call(app, 'GET', '/api/v1/mandates', { headers })).status
      }),
    )
  t.same(await answers(), [200, 200, 200, 200])
  const document = await text(beta)
  for (const client of [beta, copy]) {
    t.equal((await put(client, await text(acme))).status, 200)
    const later = await requestToken(app, { client_id: client.clientId })
    t.same(await answers([...tokens, later.body.access_token]), [200, 200, 200, 200, 200])
    if (client === beta) await put(beta, document)
    t.same(await answers([later.body.access_token]), [200])
  }
  t.same(await answers(tokens.map(token => `${token.slice(0, -1)}~`)), [401, 401, 401, 401])
})

// -------------------------------------------------------------------------------------------------- random histories

t.test('control plane, PUT /state: whatever has been, it can be put back, and goes on the same', async t => {
  const copy = await newClient()
  for (let seed = 1; seed <= (IS_LONG ? 80 : 5); seed++) {
    const client = await newClient()
    const player = createPlayer(injecting(client.app), client.clientId, 'secret')
    await player.authenticate()
    for (const request of randomRequests(seed, 60)) await player.play(request)
    await client.advance({ by: 'PT0S' })
    const document = await text(client)
    for (const to of [copy, client]) {
      t.equal(gist(await put(to, document)), '200')
      t.ok((await text(to)) === document, `the state of seed ${seed} in ${to.clientId}`)
    }
    t.ok((await futureOf(copy)) === (await futureOf(client)), `the future of seed ${seed}`)
    t.ok((await text(copy)) === (await text(client)), `the state after that, of seed ${seed}`)
  }
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
  '409 DUPLICATE_REFERENCE payoutLinks.2.payoutLinkId': [
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
  const client = await everything()
  const before = await text(client)
  const document = JSON.parse(before)
  const send = (damaged: unknown) => put(client, damaged)
  const optional = ['release', 'outcomes', ...Object.keys(areas)]
  const required = Object.keys(document).filter(name => !optional.includes(name))
  const members = [...required, 'clock.now', 'bills.0.record', 'bills.0.record.status', 'deprecations.0.sunset']
  const inLists = [
    'events.0.from',
    'faults.0.effect',
    'faults.1.match',
    'faults.1.effect.status',
    'faults.3.effect.max',
  ]
  const cases = [...members, ...inLists].map(path => [path, missing(path)] as const)
  await holds(t, [...cases, ['ids.scope', missing('ids.scope')]], path =>
    send(changed(document, path, path === 'ids.scope' ? '' : undefined)),
  )
  await refusesValues(t, send, document, {
    format: ['payments-sandbox/other'],
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
  // A half of a character, and parts of a document.
  const half = before.replace('"Rechnung', '"\\ud800 Rechnung')
  t.equal(gist(await send(half)), invalid('bills.0.record.documents.0.fileName'))
  const cut = [1, before.length >> 1, before.length - 1].map(length => before.slice(0, length))
  await table(t, send, {
    [missing('format')]: [undefined, '', '{}'],
    [invalid(null)]: ['[]', 'null'],
    [malformed(null)]: [...cut, `${before}}`, Buffer.concat([Buffer.from(before), Buffer.from([0xff])])],
    [malformed('__proto__')]: [before.replace('"counters": {', '"counters": { "__proto__": 1,')],
  })
  const options = { body: before, headers: { 'content-type': 'text/plain' } }
  const asText = await call(client.app, 'PUT', `/_sandbox/state?client=${client.clientId}`, options)
  refused(t, asText, 415, 'UNSUPPORTED_MEDIA_TYPE', 'content-type')
  t.equal(await text(client), before)
})

const MIB = 1024 * 1024

/** Fills a document with spaces up to a size in bytes. */
const padded = (document: string, size: number) =>
  Buffer.concat([Buffer.from(document), Buffer.alloc(size - Buffer.byteLength(document), ' ')])

t.test('control plane, PUT /state; settings, SANDBOX_STATE_BYTES: a document of 64 MiB is the largest', async t => {
  for (const [options, most, told] of [
    [{}, 64 * MIB, '64 MiB'],
    [{ stateBytes: 1_000_000 }, 1_000_000, '1000000 bytes'],
  ] as const) {
    const client = await connect(build(t, options))
    const document = await text(client)
    // control/record-limit.test.ts sends a large document to a server with the default.
    if (most < MIB) t.equal((await put(client, padded(document, most))).status, 200, told)
    const refusal = await put(client, padded(document, most + 1))
    refused(t, refusal, 413, 'PAYLOAD_TOO_LARGE', null)
    t.match(refusal.body.message, told)
    t.equal(await text(client), document)
  }
})

/** A document above 1 MiB with one member of the given JSON text. */
const largeBody = (json: string) => `{"mandates": ${json}}`.padEnd(MIB + 1)

t.test('control plane, PUT /state: a document of any depth is refused, or is one', async t => {
  const client = await newClient()
  const before = await text(client)
  const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`
  refused(t, await put(client, largeBody(nested(60_000))), 400, 'MISSING_FIELD', 'format')
  for (const json of ['{"a":'.repeat(60_000), '['.repeat(60_000)])
    refused(t, await put(client, largeBody(json)), 400, 'MALFORMED_REQUEST', null)
  t.equal(await text(client), before)
})

t.test('control plane, PUT /state: a large document has at most one object or array for each 16 bytes', async t => {
  const client = await newClient()
  const before = await text(client)
  const most = MIB / 16
  for (const value of ['{}', '[]']) {
    // The document is an object, and its mandates are an array.
    const bodyOf = (count: number) =>
      largeBody(
        `[${Array(count - 2)
          .fill(value)
          .join(',')}]`,
      )
    refused(t, await put(client, bodyOf(most + 1)), 413, 'PAYLOAD_TOO_LARGE', null)
    refused(t, await put(client, bodyOf(most)), 400, 'MISSING_FIELD', 'format')
  }
  t.equal(await text(client), before)
})

t.test('control plane, PUT /state: the first fault of a large document ends its check', async t => {
  const client = await everything()
  const document = await client.read('/state')
  const values = (json: string) => `[${Array(20_000).fill(json).join(',')}]`
  const bodyOf = (json: string) => JSON.stringify({ ...document, mandates: 'here' }).replace('"here"', values(json))
  await table(t, json => put(client, bodyOf(json)), {
    [invalid('mandates.0')]: ['null', '"\\u0041"', '"\\ud800"'],
    [missing('mandates.0.region')]: ['{}'],
    [invalid('mandates.0.x')]: ['{"x": 1}'],
  })
  const faults = document.faults
  document.faults = Array(1001).fill({}).concat(Array(20_000).fill(null))
  refused(t, await put(client, document), 400, 'INVALID_FIELD', 'faults', 'too many of them')
  document.faults = faults
  document.ids.counters = Object.fromEntries(Array.from({ length: 1001 }, (_, n) => [`c${n}`, n]))
  refused(t, await put(client, document), 400, 'INVALID_FIELD', 'ids.counters')
})

t.test('control plane, PUT /state: where the new life cannot be kept, the old one goes on', async t => {
  let isFull = false
  const onCreated = () => {
    if (isFull) throw errors.unavailable('The disk is full.')
  }
  const client = await connect(build(t, { listeners: [{ onCreated, onRemoved() {} }] }))
  await client.post('/api/v1/mandates', mandate())
  const before = await text(client)
  isFull = true
  await table(t, ([method, path, body]) => client.control(method, path, body), {
    '503 SERVICE_UNAVAILABLE null': [
      ['PUT', '/state', before],
      ['POST', '/reset'],
      ['POST', '/fork', { clientId: 'copy' }],
    ],
  })
  t.equal(await text(client), before)
  t.equal((await client.get('/api/v1/bills')).status, 200, 'and its tokens are good')
  refused(t, await call(client.app, 'GET', '/_sandbox/state?client=copy'), 404, 'CLIENT_NOT_FOUND', 'client')
})

// ------------------------------------------------------------------------------------------------------ edited by hand

t.test('control plane, PUT /state: due transitions of a document happen at once, at its own clock', async t => {
  const client = await everything()
  const document = await client.read('/state')
  const now = '2026-12-24T12:00:00Z'
  await put(client, { ...document, clock: { ...document.clock, now } })
  const { data } = await client.read('/events?reference=COL-0001')
  t.match(data.slice(-2), [
    { at: now, from: 'PROCESSING', to: 'SETTLED', cause: 'time' },
    { at: now, from: 'SETTLED', to: 'RETURNED', cause: 'outcome', reasonCode: 'AM04' },
  ])
  t.match(await client.read('/direct-debit/COL-0001'), { next: null, record: { status: 'RETURNED' } })
})

t.test(
  'control plane, PUT /state: records and their history may be left out, and references are free then',
  async t => {
    const client = await newClient()
    for (const mandateReference of ['MND-0001', 'MND-0002'])
      await client.post('/api/v1/mandates', mandate({ mandateReference }))
    const state = await client.read('/state')
    const [first, second] = state.mandates
    await put(client, { ...state, mandates: [second] })
    t.equal((await client.control('GET', '/mandates/MND-0001')).status, 404)
    t.equal((await client.post('/api/v1/mandates', mandate())).status, 201)
    await put(client, { ...state, events: [], mandates: [{ ...first, timeline: [] }] })
    t.same((await client.read('/mandates/MND-0001')).timeline, [])
    await client.control('POST', '/mandates/MND-0001/cancel')
    t.match((await client.read('/mandates/MND-0001')).timeline, [{ seq: 1, to: 'CANCELLED' }])
  },
)
