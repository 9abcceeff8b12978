import t, { type Test } from 'tap'
import { invalid, missing, refused, refusesValues, table } from '../answers.js'
import { sepaClaim } from '../areas/records.js'
import type { Client } from '../helper.js'
import { collection, MONDAY, mandate, newClient, payoutLink, pluck } from '../helper.js'

// Outcomes of collections and payout links that the application does not select itself.

const COLLECTIONS = '/api/v1/direct-debit'
const LINKS = '/api/v1/payout-links'

async function open(): Promise<Client> {
  const client = await newClient()
  await client.post('/api/v1/mandates', mandate())
  return client
}

const arm = (client: Client, outcome: object) => client.control('POST', '/outcomes', outcome)
const armed = async (client: Client) => (await client.read('/outcomes')).armed
const steered = async (client: Client, path: string) => (await client.read(path)).record.outcome

/** Creates a collection. Fails the test if it is refused. */
async function collect(client: Client, collectionReference: string, changes: object = {}): Promise<string> {
  const { status, body } = await client.post(COLLECTIONS, collection({ collectionReference, ...changes }))
  if (status !== 201) throw new Error(body.message)
  return collectionReference
}

/** Creates a payout link. Returns its path in the control plane. */
async function offer(client: Client, changes: object = {}): Promise<string> {
  const { status, body } = await client.post(LINKS, payoutLink(changes))
  if (status !== 201) throw new Error(body.message)
  return `/payout-links/${body.payoutLinkId}`
}

/** Returns the states of a record after its creation, with the last reason code and cause. */
async function way(client: Client, path: string): Promise<string> {
  const { timeline } = await client.read(path)
  const { reasonCode, cause } = timeline.at(-1)
  return [...pluck(timeline.slice(1), 'to'), reasonCode, cause].filter(Boolean).join(' ')
}

// ------------------------------------------------------------------------------------------------------------- arming

t.test('control plane, POST /outcomes: it steers the next collection, whatever its debtorReference', async t => {
  const ways: Readonly<Record<string, string>> = {
    'RETURNED-AM04': 'SUBMITTED PROCESSING SETTLED RETURNED AM04 outcome',
    'RETURNED-MD06': 'SUBMITTED PROCESSING SETTLED RETURNED MD06 outcome',
    'REJECTED-AC01': 'SUBMITTED REJECTED AC01 outcome',
    'REJECTED-MS03': 'SUBMITTED PROCESSING REJECTED MS03 outcome',
    FAILED: 'SUBMITTED PROCESSING FAILED ED05 outcome',
    CANCELLED: 'CANCELLED outcome',
    SETTLED: 'SUBMITTED PROCESSING SETTLED time',
    'STUCK-PENDING': 'api',
    'STUCK-SUBMITTED': 'SUBMITTED time',
    'STUCK-PROCESSING': 'SUBMITTED PROCESSING time',
  }
  const client = await open()
  const outcomes = Object.keys(ways)
  for (const [at, outcome] of outcomes.entries()) {
    const times = { times: 1, armedAt: MONDAY, fired: 0, state: 'armed' }
    t.same((await arm(client, { outcome })).body, { id: `outcome-${at + 1}`, match: {}, outcome, ...times })
    await collect(client, `COL-${1000 + at}`, { debtorReference: 'customer 7' })
  }
  await collect(client, 'COL-PLAIN')
  await client.advance({ by: 'P100D' })
  const found = await Promise.all(outcomes.map((_, at) => way(client, `/direct-debit/COL-${1000 + at}`)))
  t.same(Object.fromEntries(found.map((one, at) => [outcomes[at], one])), ways)
  t.equal(await way(client, '/direct-debit/COL-PLAIN'), 'SUBMITTED PROCESSING SETTLED time', 'times is 1')
})

t.test('control plane, POST /outcomes: every outcome of the table can be armed', async t => {
  const client = await open()
  const { data, payoutLinks } = await client.read('/outcomes')
  t.ok(data.length > 40)
  for (const { outcome, debtorReference, fidelity } of data) {
    t.same([debtorReference, fidelity], [`SIM-${outcome}`, 'assumed'])
    t.equal((await arm(client, { outcome })).status, 201, outcome)
  }
  t.same(pluck(payoutLinks, 'outcome'), ['FAILED', 'STUCK-PROCESSING'])
})

t.test('control plane, POST /outcomes: it is in no answer of the API, and in the explained record', async t => {
  const client = await open()
  await arm(client, { outcome: 'REJECTED-AC01' })
  const created = (await client.post(COLLECTIONS, collection())).body
  const [single, list] = [(await client.get(`${COLLECTIONS}/COL-0001`)).body, (await client.get(COLLECTIONS)).body]
  await arm(client, { outcome: 'FAILED' })
  const link = (await client.post(LINKS, payoutLink())).body
  for (const body of [created, single, list.data[0], link]) t.notOk('outcome' in body)
  t.same(pluck(await armed(client), 'fired'), [1, 1])
  t.equal(await steered(client, '/direct-debit/COL-0001'), 'REJECTED-AC01')
  await client.advance({ by: 'P3DT6H' })
  t.same((await client.read('/direct-debit/COL-0001')).next, { at: '2026-11-06T08:00:00Z', to: 'REJECTED' })
})

t.test('control plane, POST /outcomes: match compares each field; amounts are compared as numbers', async t => {
  const client = await open()
  await client.post(
    '/api/v1/mandates',
    mandate({ mandateReference: 'MND-0002', debtor: { ...mandate().debtor, reference: 'of mandate' } }),
  )
  const rows: [match: object, changes: object, isSteered: boolean][] = [
    [{ mandateReference: 'MND-0001' }, {}, true],
    [{ mandateReference: 'MND-0002' }, {}, false],
    [{ mandateReference: 'MND-0003' }, {}, false],
    [{ debtorReference: 'customer 7' }, { debtorReference: 'customer 7' }, true],
    [{ debtorReference: 'customer 7' }, { debtorReference: 'Customer 7' }, false],
    [{ debtorReference: 'customer 7' }, {}, false],
    [{ debtorReference: 'of mandate' }, { mandateReference: 'MND-0002' }, true],
    [{ collectionReference: 'COL-2007' }, {}, true],
    [{ collectionReference: 'COL-XXXX' }, {}, false],
    [{ amount: '10.5' }, { amount: '10.50' }, true],
    [{ amount: '10' }, { amount: '10.00' }, true],
    [{ amount: '10.01' }, { amount: '10.00' }, false],
    [{ mandateReference: 'MND-0001', amount: '7' }, { amount: '7' }, true],
    [{ mandateReference: 'MND-0001', amount: '7' }, { amount: '8' }, false],
    [{}, {}, true],
  ]
  for (const [at, [match, changes, isSteered]] of rows.entries()) {
    await client.control('DELETE', '/outcomes')
    await arm(client, { match, outcome: 'FAILED' })
    const outcome = await steered(client, `/direct-debit/${await collect(client, `COL-${2000 + at}`, changes)}`)
    t.equal(outcome, isSteered ? 'FAILED' : undefined, JSON.stringify([match, changes]))
  }
})

t.test('control plane, POST /outcomes: times counts collections; the first that matches wins', async t => {
  const client = await open()
  await arm(client, { match: { amount: '20' }, outcome: 'CANCELLED', times: null })
  await arm(client, { outcome: 'FAILED', times: 2 })
  await arm(client, { outcome: 'RETURNED' })
  const outcomes = []
  for (const [at, amount] of ['20', '10', '20', '10', '10', '10', '20'].entries()) {
    const reference = await collect(client, `COL-${1000 + at}`, { amount })
    outcomes.push(await steered(client, `/direct-debit/${reference}`))
  }
  t.same(outcomes, ['CANCELLED', 'FAILED', 'CANCELLED', 'FAILED', 'RETURNED', undefined, 'CANCELLED'])
  t.match(await armed(client), [
    { id: 'outcome-1', times: null, fired: 3, state: 'armed' },
    { id: 'outcome-2', times: 2, fired: 2, state: 'spent' },
    { id: 'outcome-3', times: 1, fired: 1, state: 'spent' },
  ])
})

t.test(
  'control plane, POST /outcomes: a SIM-… debtorReference wins over an armed outcome, not over a put one',
  async t => {
    const client = await open()
    await arm(client, { outcome: 'CANCELLED' })
    await collect(client, 'COL-0001', { debtorReference: 'SIM-FAILED' })
    t.match(await armed(client), [{ fired: 0, state: 'armed' }])
    await collect(client, 'COL-0002', { debtorReference: 'SIM-NONSENSE' })
    t.match(await armed(client), [{ fired: 1, state: 'spent' }], 'a reference that selects nothing does not win')
    await collect(client, 'COL-0003', { debtorReference: 'SIM-CANCELLED' })
    await client.control('PUT', '/direct-debit/COL-0003/outcome', { outcome: 'REJECTED-AC01' })
    await client.advance({ by: 'P20D' })
    t.equal(await way(client, '/direct-debit/COL-0001'), 'SUBMITTED PROCESSING FAILED ED05 outcome')
    t.equal(await way(client, '/direct-debit/COL-0002'), 'CANCELLED outcome')
    t.equal(await way(client, '/direct-debit/COL-0003'), 'SUBMITTED REJECTED AC01 outcome')
  },
)

t.test('control plane, POST /outcomes: a refused or seeded collection uses up no outcome', async t => {
  const client = await open()
  await collect(client, 'COL-0001')
  await arm(client, { outcome: 'FAILED' })
  const other = collection({ collectionReference: 'COL-0002' })
  await table(t, ([path, body]) => client.post(path, body), {
    '409 DUPLICATE_REFERENCE collectionReference': [[COLLECTIONS, collection()]],
    [invalid('amount')]: [[COLLECTIONS, { ...other, amount: 7 }]],
    '404 MANDATE_NOT_FOUND mandateReference': [[COLLECTIONS, { ...other, mandateReference: 'MND-9999' }]],
    200: [[`/_sandbox/seed?client=${client.clientId}`, { records: { collections: [other] } }]],
  })
  t.match(await armed(client), [{ fired: 0, state: 'armed' }])
})

t.test('control plane, POST /outcomes: an outcome that can never apply is refused', async t => {
  const client = await open()
  await client.post('/api/v1/mandates', mandate({ mandateReference: 'MND-GONE' }))
  await client.delete('/api/v1/mandates/MND-GONE')
  await collect(client, 'COL-0001')
  const send = (body: object) => arm(client, body)
  await table(t, send, { [missing('outcome')]: [{}, { outcome: '' }] })
  await refusesValues(
    t,
    send,
    { outcome: 'FAILED' },
    {
      outcome: [null, ['FAILED'], 'SIM-FAILED', 'RETURNED-FF01', 'REJECTED-AC13', 'returned-am04', 'PAID'],
      time: [1],
      times: [0, 1_000_001, '1'],
      // No record has both fields.
      match: [null, [], { mandateReference: 'MND-0001', payoutMethod: 'SEPA-CT' }],
      'match.mandate': ['MND-0001'],
      // No new record can have the last of these references, nor a collection of this outcome the last amount.
      'match.mandateReference': ['MND', 'a b c', 'MND-GONE'],
      'match.collectionReference': ['COL-0001'],
      'match.debtorReference': ['', 'x'.repeat(101), 'SIM-SETTLED'],
      'match.amount': [10, '0.50'],
      'match.payoutMethod': ['SWIFT'],
    },
  )
  await refusesValues(
    t,
    send,
    { outcome: 'FAILED', match: { payoutMethod: 'UK-FAST' } },
    {
      'match.amount': ['1000000.01'],
    },
  )
  await table(t, send, {
    // No record with these fields has the outcome.
    [invalid('outcome')]: [
      { outcome: 'RETURNED', match: { payoutMethod: 'SEPA-CT' } },
      { outcome: 'STUCK-PENDING', match: { counterpartyReference: 'CPTY-0001' } },
    ],
  })
  t.same(await armed(client), [], 'none is armed')
  t.equal((await arm(client, { outcome: 'FAILED', match: { payoutMethod: 'UK-FAST', amount: '1000000' } })).status, 201)
  t.equal((await arm(client, { outcome: 'FAILED', match: { debtorReference: 'SIM-NONSENSE' } })).status, 201)
  const answer = await client.control('POST', '/outcomes?times=2', { outcome: 'FAILED' })
  refused(t, answer, 400, 'INVALID_QUERY_PARAMETER', 'times')
})

// -------------------------------------------------------------------------------------------------------- payout links

t.test('control plane, POST /outcomes: FAILED and STUCK-PROCESSING steer the next payout link', async t => {
  const client = await open()
  await arm(client, { match: { payoutMethod: 'SEPA-INSTANT' }, outcome: 'FAILED' })
  await arm(client, { match: { counterpartyReference: 'CPTY-0001' }, outcome: 'STUCK-PROCESSING' })
  const instant = { payoutMethod: 'SEPA-INSTANT' }
  const plain = await offer(client)
  const failing = await offer(client, instant)
  const paid = await offer(client, instant)
  const stuck = await offer(client, { ...instant, counterpartyReference: 'CPTY-0001' })
  for (const path of [plain, failing, paid, stuck]) await client.control('POST', `${path}/claim`, sepaClaim)
  t.same((await client.read(failing)).next, { at: '2026-11-02T09:00:05Z', to: 'PROCESSING' })
  await client.advance({ by: 'PT5S' })
  t.same((await client.read(failing)).next, { at: '2026-11-02T09:00:10Z', to: 'FAILED' })
  t.equal((await client.read(stuck)).next, null)
  await client.advance({ by: 'P5D' })
  t.same(await Promise.all([plain, failing, paid, stuck].map(path => way(client, path))), [
    'CLAIMED PROCESSING PAID time',
    'CLAIMED PROCESSING FAILED outcome',
    'CLAIMED PROCESSING PAID time',
    'CLAIMED PROCESSING time',
  ])
  t.match(await client.control('POST', `${stuck}/pay`), { status: 200, body: { record: { status: 'PAID' } } })
})

t.test('control plane, POST /outcomes: an outcome of both kinds steers the first record', async t => {
  const client = await open()
  await arm(client, { match: { amount: '25.00' }, outcome: 'FAILED', times: 2 })
  await arm(client, { outcome: 'RETURNED' })
  t.equal(await steered(client, await offer(client, { amount: '25' })), 'FAILED')
  t.equal(await steered(client, await offer(client, { amount: '26' })), undefined, 'RETURNED is of collections only')
  await collect(client, 'COL-0001', { amount: '25' })
  t.equal(await steered(client, '/direct-debit/COL-0001'), 'FAILED')
  await collect(client, 'COL-0002', { amount: '25' })
  t.equal(await steered(client, '/direct-debit/COL-0002'), 'RETURNED')
})

// ------------------------------------------------------------------------------------------------ records that exist

/** Seeds a collection in a state, with its date on the Monday after MONDAY or another one. */
async function seedCollection(client: Client, collectionReference: string, status: string, changes: object = {}) {
  const records = { collections: [collection({ collectionReference, status, ...changes })] }
  const { status: answered, body } = await client.control('POST', '/seed', { records })
  if (answered !== 200) throw new Error(body.message)
}

/** Asserts in which states of a record an outcome is accepted. */
async function acceptedBy(
  t: Test,
  client: Client,
  outcome: string,
  states: readonly string[],
  accepted: readonly string[],
  pathOf: (state: string) => string,
) {
  for (const state of states) {
    const answer = await client.control('PUT', `${pathOf(state)}/outcome`, { outcome })
    if (accepted.includes(state)) t.match(answer.body, { record: { status: state, outcome } }, `${outcome} of ${state}`)
    else refused(t, answer, 409, 'ILLEGAL_TRANSITION', 'outcome', `${outcome} of ${state}`)
  }
}

t.test('control plane, Make the next collection bounce: an outcome that its state still allows', async t => {
  const client = await open()
  /** The states in which an outcome is possible. */
  const possible: Readonly<Record<string, readonly string[]>> = {
    CANCELLED: ['PENDING'],
    'STUCK-PENDING': ['PENDING'],
    'REJECTED-FF01': ['PENDING', 'SUBMITTED'],
    'STUCK-SUBMITTED': ['PENDING', 'SUBMITTED'],
    'REJECTED-AM04': ['PENDING', 'SUBMITTED', 'PROCESSING'],
    FAILED: ['PENDING', 'SUBMITTED', 'PROCESSING'],
    'STUCK-PROCESSING': ['PENDING', 'SUBMITTED', 'PROCESSING'],
    SETTLED: ['PENDING', 'SUBMITTED', 'PROCESSING', 'SETTLED'],
    'RETURNED-AM04': ['PENDING', 'SUBMITTED', 'PROCESSING', 'SETTLED'],
    'RETURNED-MD01': ['PENDING', 'SUBMITTED', 'PROCESSING', 'SETTLED'],
  }
  const states = ['PENDING', 'SUBMITTED', 'PROCESSING', 'SETTLED', 'FAILED', 'CANCELLED', 'RETURNED', 'REJECTED']
  for (const state of states) await seedCollection(client, `COL-${state}`, state)
  for (const [outcome, accepted] of Object.entries(possible))
    await acceptedBy(t, client, outcome, states, accepted, state => `/direct-debit/COL-${state}`)
})

t.test('control plane, Make the next collection bounce: what comes next is told, and then happens', async t => {
  const client = await open()
  await collect(client, 'COL-0001')
  await client.advance({ to: '2026-11-09T12:00:00Z' })
  const put = (outcome: string) => client.control('PUT', '/direct-debit/COL-0001/outcome', { outcome })
  t.match((await put('STUCK-PROCESSING')).body, { record: { status: 'PROCESSING' }, next: null })
  t.match((await put('FAILED')).body.next, { at: '2026-11-09T13:00:00Z', to: 'FAILED' })
  t.match((await put('RETURNED-AM04')).body.next, { at: '2026-11-09T13:00:00Z', to: 'SETTLED' })
  await client.advance({ toNextEvent: true })
  t.same((await client.read('/direct-debit/COL-0001')).next, { at: '2026-11-11T13:00:00Z', to: 'RETURNED' })
  t.match((await put('SETTLED')).body.next, null, 'it stays settled')
  t.match((await put('RETURNED-MD06')).body.next, { at: '2026-12-09T13:00:00Z', to: 'RETURNED' })
  await client.advance({ by: 'P60D' })
  t.equal(await way(client, '/direct-debit/COL-0001'), 'SUBMITTED PROCESSING SETTLED RETURNED MD06 outcome')
})

t.test('control plane, POST /outcomes: an outcome whose time has passed happens at once', async t => {
  const client = await open()
  await seedCollection(client, 'COL-0001', 'SETTLED', { collectionDate: '2026-10-28' })
  await seedCollection(client, 'COL-0002', 'SETTLED', { collectionDate: '2026-10-20' })
  const late = await client.control('PUT', '/direct-debit/COL-0001/outcome', { outcome: 'RETURNED-AM04' })
  t.match(late.body.next, { at: MONDAY, to: 'RETURNED' })
  t.equal(await way(client, '/direct-debit/COL-0001'), 'RETURNED AM04 outcome')
  const tooLate = await client.control('PUT', '/direct-debit/COL-0002/outcome', { outcome: 'RETURNED-AM04' })
  refused(t, tooLate, 409, 'ILLEGAL_TRANSITION', 'outcome')
  t.match(tooLate.body.message, /RETURNED-MD06/, 'the message names the possible outcomes')
  t.notMatch(tooLate.body.message, /Possible:.*RETURNED-AM04/)
})

t.test('control plane, Make the next collection bounce: a wrong outcome is refused', async t => {
  const client = await open()
  await collect(client, 'COL-0001')
  const path = await offer(client)
  const before = await client.read('/state')
  const put = ([target, body]: [string, object]) => client.control('PUT', `${target}/outcome`, body)
  const ofCollection = [{ outcome: 7 }, { outcome: 'SIM-FAILED' }].map(body => ['/direct-debit/COL-0001', body])
  const ofLink = [{ outcome: 'RETURNED' }, { outcome: 7 }].map(body => [path, body])
  await table(t, put, {
    [missing('outcome')]: [['/direct-debit/COL-0001', {}]],
    [invalid('outcome')]: [...ofCollection, ...ofLink],
    [invalid('times')]: [['/direct-debit/COL-0001', { outcome: 'FAILED', times: 1 }]],
    [invalid('collectionReference')]: [['/direct-debit/x', { outcome: 'FAILED' }]],
    '404 COLLECTION_NOT_FOUND collectionReference': [['/direct-debit/COL-9999', { outcome: 'FAILED' }]],
    '404 PAYOUT_LINK_NOT_FOUND payoutLinkId': [['/payout-links/pl_nothing', { outcome: 'FAILED' }]],
  })
  t.same(await client.read('/state'), before)
})

t.test('control plane, Make the next collection bounce: a link, until it is paid or closed', async t => {
  const client = await open()
  const states = ['ACTIVE', 'CLAIMED', 'PROCESSING', 'PAID', 'FAILED', 'CANCELLED', 'EXPIRED', 'REJECTED']
  const payoutLinks = states.map(status => ({ ...payoutLink(), payoutLinkId: `link-${status}`, status }))
  t.equal((await client.control('POST', '/seed', { records: { payoutLinks } })).status, 200)
  for (const outcome of ['FAILED', 'STUCK-PROCESSING'])
    await acceptedBy(
      t,
      client,
      outcome,
      states,
      ['ACTIVE', 'CLAIMED', 'PROCESSING'],
      state => `/payout-links/link-${state}`,
    )
  t.match(await client.read('/payout-links/link-PROCESSING'), {
    next: null,
    record: { outcome: 'STUCK-PROCESSING' },
  })
  const { body } = await client.control('PUT', '/payout-links/link-PROCESSING/outcome', { outcome: 'FAILED' })
  t.equal(body.next.to, 'FAILED')
})

// -------------------------------------------------------------------------------------------------- part of the state

/** A tenant with an armed, a spent and an endless outcome, and with steered records. */
async function steeredTenant(): Promise<Client> {
  const client = await open()
  await arm(client, { match: { amount: '20' }, outcome: 'CANCELLED', times: null })
  await arm(client, { outcome: 'REJECTED-AC01' })
  await arm(client, { match: { payoutMethod: 'SEPA-CT' }, outcome: 'FAILED', times: 2 })
  await collect(client, 'COL-0001')
  await offer(client)
  return client
}

t.test('control plane, POST /outcomes: armed outcomes and steered records are part of the state document', async t => {
  const client = await steeredTenant()
  const before = await client.read('/state')
  t.match(before, {
    outcomes: [
      { id: 'outcome-1', match: { amount: '20' }, times: null, fired: 0 },
      { fired: 1 },
      { times: 2, fired: 1 },
    ],
    collections: [{ record: { outcome: 'REJECTED-AC01' } }],
    payoutLinks: [{ record: { outcome: 'FAILED' } }],
  })
  await client.control('DELETE', '/outcomes')
  await client.advance({ by: 'P10D' })
  await client.control('PUT', '/state', before)
  t.same(await client.read('/state'), before)
  await client.advance({ by: 'P10D' })
  t.equal(await way(client, '/direct-debit/COL-0001'), 'SUBMITTED REJECTED AC01 outcome')
  t.match(await arm(client, { outcome: 'FAILED' }), { body: { id: 'outcome-4' } }, 'ids go on')
})

t.test('control plane, POST /outcomes: a document with wrong outcomes is refused', async t => {
  const client = await steeredTenant()
  const state = await client.read('/state')
  const [first, second] = state.outcomes
  const withOutcomes = (...outcomes: object[]) => ({ ...state, outcomes })
  const [entry] = state.collections
  const ofLinks = { payoutMethod: 'SEPA-CT' }
  await table(t, document => client.control('PUT', '/state', document), {
    '409 DUPLICATE_REFERENCE outcomes.1.id': [withOutcomes(first, first)],
    [invalid('outcomes.0.outcome')]: [{ outcome: 'LOST' }, { match: ofLinks }].map(wrong =>
      withOutcomes({ ...first, ...wrong }),
    ),
    [invalid('outcomes.1.match')]: [withOutcomes(first, { ...second, match: { ...ofLinks, debtorReference: 'x' } })],
    [invalid('outcomes.0.fired')]: [withOutcomes({ ...first, fired: -1 })],
    [invalid('outcomes')]: [withOutcomes(...Array(1001).fill(first))],
    [invalid('collections.0.record.outcome')]: [
      { ...state, collections: [{ ...entry, record: { ...entry.record, outcome: 'LOST' } }] },
    ],
  })
  t.same(await client.read('/state'), state)
  const { outcomes, ...earlier } = state
  t.equal((await client.control('PUT', '/state', earlier)).status, 200)
  t.same(await armed(client), [])
})

t.test('control plane, POST /outcomes: of two armed outcomes of a name, only the matching one is used', async t => {
  const client = await open()
  for (const amount of ['1', '2']) await arm(client, { outcome: 'CANCELLED', match: { amount } })
  await client.post('/api/v1/direct-debit', collection({ amount: '2' }))
  const { armed } = await client.read('/outcomes')
  t.same(pluck(armed, 'fired'), [0, 1])
})
