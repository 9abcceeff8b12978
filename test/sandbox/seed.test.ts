import t from 'tap'
import { areas } from '../../src/areas/index.js'
import type { Fixtures } from '../../src/tenants/fixtures.js'
import type { Case } from '../answers.js'
import { holds, invalid, malformed, missing, refused, table } from '../answers.js'
import { account, sepaClaim } from '../areas/records.js'
import type { Client } from '../helper.js'
import {
  bill,
  build,
  collection,
  connect,
  MONDAY,
  mandate,
  NO_RECORDS,
  newClient,
  payoutLink,
  pluck,
} from '../helper.js'

const seed = (client: Client, records: object) => client.control('POST', '/seed', { records })

const countsOf = async (client: Client) =>
  (await client.read('/clients')).data.find(({ clientId }: Client) => clientId === client.clientId).counts

const counterparty = (changes: object = {}) => ({ counterpartyReference: 'CPTY-0001', region: 'EU', ...changes })

/** One good record of every kind. */
const everything = () => ({
  mandates: [mandate()],
  collections: [collection()],
  payoutLinks: [payoutLink({ payoutLinkId: 'pl_seeded' })],
  bills: [bill()],
  counterparties: [counterparty({ counterpartyReference: 'CPTY-0002' })],
  accounts: [account()],
})

t.test('control plane, POST /seed: adds records of every kind', async t => {
  const client = await newClient()
  const answer = await seed(client, everything())
  t.equal(answer.status, 200)
  // The bill brings its counterparty into being: decisions §9.
  const ones = { mandates: 1, collections: 1, payoutLinks: 1, bills: 1, accounts: 1 }
  const counts = { ...NO_RECORDS, ...ones, counterparties: 2 }
  t.same(answer.body.added, counts, 'and answers what it did')
  t.same(await countsOf(client), counts)
  t.match((await client.get('/api/v1/mandates/MND-0001')).body, { status: 'ACTIVE', createdAt: MONDAY })
  t.match((await client.get('/api/v1/direct-debit/COL-0001')).body, { status: 'PENDING', debtorName: 'Jane Doe' })
  t.match((await client.get('/api/v1/bills/INV-2026-001')).body, { status: 'OPEN', openAmount: '1190.00' })
  t.same((await client.get('/api/v1/accounts')).body.data, [account()])
  t.match((await client.read('/payout-links/pl_seeded')).record, { status: 'ACTIVE', amount: '25' })
  const update = await client.patch('/api/v1/counterparties/CPTY-0002', { remarks: 'x' })
  t.same(update.body, { counterpartyReference: 'CPTY-0002', remarks: 'x' })
})

t.test('control plane, POST /seed: a fixture has dates relative to the time of the tenant', async t => {
  const mandates = [mandate({ createdAt: '{{now-P3D}}', signatureDate: '{{today-P4D}}' })]
  const story = { mandates, collections: [collection({ collectionDate: '{{open-day+2}}' })] }
  const fixtures: Fixtures = new Map(Object.entries({ demo: {}, empty: {}, story }))
  const client = await connect(build(t, { fixtures }))
  await client.advance({ by: 'P1D' })
  const answer = await client.control('POST', '/seed', { fixture: 'story' })
  t.same(answer.body.added, { ...NO_RECORDS, mandates: 1, collections: 1 })
  const made = { createdAt: '2026-10-31T09:00:00Z', signatureDate: '2026-10-30' }
  t.match((await client.get('/api/v1/mandates/MND-0001')).body, made)
  t.equal((await client.get('/api/v1/direct-debit/COL-0001')).body.collectionDate, '2026-11-05')
  const again = await client.control('POST', '/seed', { fixture: 'story' })
  refused(t, again, 409, 'DUPLICATE_REFERENCE', 'records.mandates.0.mandateReference')
  for (const fixture of ['nothing', 'DEMO', '', '../demo', 'constructor']) {
    const unknown = await client.control('POST', '/seed', { fixture })
    refused(t, unknown, 400, 'INVALID_FIELD', 'fixture')
    t.match(unknown.body.message, /demo.*empty/, 'it names the known ones')
  }
})

t.test('control plane, POST /seed: a fixture or records, and not both', async t => {
  const client = await newClient()
  await table(t, body => client.control('POST', '/seed', body), {
    [missing(null)]: [{}, undefined],
    [malformed(null)]: [{ fixture: 'demo', records: {} }, '{"records"'],
    [invalid('fixture')]: [{ fixture: 1 }],
    [invalid('records')]: [{ records: [] }],
    [invalid('records.bills')]: [{ records: { bills: {} } }],
    [invalid('records.bills.0')]: [{ records: { bills: [1] } }],
  })
  t.same((await seed(client, {})).body.added, NO_RECORDS, 'no records are legal')
})

// --------------------------------------------------------------------------------------------------- all or nothing

t.test('control plane, POST /seed: the error names the path of the record', async t => {
  const client = await newClient()
  await client.post('/api/v1/mandates', mandate({ mandateReference: 'MND-KEPT' }))
  const ofIban = (iban: string) => mandate({ debtor: { name: 'J', iban } })
  const ofCollection = (changes: object) => ({ mandates: [mandate()], collections: [collection(changes)] })
  const ofBill = (changes: object) => [{ bills: [bill({ uniqueReferenceIdentifier: 'good' }), bill(changes)] }]
  const ofCounterparty = (changes: object) => [{ counterparties: [counterparty(changes)] }]
  const address = { line1: 'Main Street 1', city: 'Berlin', country: 'DE' }
  await table(t, records => seed(client, records), {
    [invalid('records.bills.1.dueDate')]: [{ ...everything(), bills: [bill(), bill({ dueDate: '2026-02-30' })] }],
    [invalid('records.mandates.0.debtor.iban')]: [
      ...[{ mandates: [ofIban('DE00370400440532013000')] }, { mandates: [ofIban('TR330006100519786457841326')] }],
    ],
    [invalid('records.mandates.0.createdAt')]: [{ mandates: [mandate({ createdAt: '2026-01-01' })] }],
    [invalid('records.mandates.1.mandateReference')]: [{ mandates: [mandate(), mandate({ mandateReference: 'M' })] }],
    [missing('records.mandates.0.type')]: [{ mandates: [mandate({ type: undefined })] }],
    [invalid('records.collections.0.collectionDate')]: [
      { mandates: [mandate()], collections: [collection({ collectionDate: '2026-02-30' })] },
    ],
    '400 REGION_CURRENCY_MISMATCH records.payoutLinks.0.currency': [{ payoutLinks: [payoutLink({ currency: 'USD' })] }],
    [invalid('records.counterparties.0.region')]: [{ counterparties: [counterparty({ region: 'GB' })] }],
    [missing('records.counterparties.0.region')]: [{ counterparties: [counterparty({ region: undefined })] }],
    [invalid('records.mandates.0.frequency')]: [{ mandates: [mandate({ type: 'ONE_OFF', frequency: 'WEEKLY' })] }],
    [invalid('records.mandates.0.status')]: [{ mandates: [mandate({ status: 'LOST' })] }],
    '404 MANDATE_NOT_FOUND records.collections.0.mandateReference': [{ collections: [collection()] }],
    [invalid('records.collections.0.amount')]: [ofCollection({ amount: 10.5 })],
    [invalid('records.collections.0.status')]: [ofCollection({ status: 'LOST' })],
    [invalid('records.collections.0.reasonCode')]: ['AC13', 'ZZ99'].map(reasonCode =>
      ofCollection({ status: 'REJECTED', reasonCode }),
    ),
    '400 INVALID_BILL_REFERENCE records.bills.1.uniqueReferenceIdentifier': ofBill({ uniqueReferenceIdentifier: 'a' }),
    [missing('records.bills.1.dueDate')]: ofBill({ dueDate: undefined }),
    [invalid('records.bills.1.status')]: ofBill({ status: 'CLOSED' }),
    [invalid('records.bills.1.openAmount')]: ofBill({ openAmount: '2000' }),
    '400 INCONSISTENT_BILL_UPDATE records.bills.1.status': ofBill({ openAmount: '5', status: 'PAID' }),
    [invalid('records.counterparties.0.counterpartyReference')]: ofCounterparty({ counterpartyReference: 'x' }),
    [missing('records.counterparties.0.counterpartyReference')]: ofCounterparty({ counterpartyReference: undefined }),
    [invalid('records.counterparties.0.mobileNumber')]: ofCounterparty({ mobileNumber: '1' }),
    [invalid('records.counterparties.0.address.country')]: ofCounterparty({ address: { ...address, country: 'UK' } }),
    [missing('records.counterparties.0.address.city')]: ofCounterparty({ address: { ...address, city: undefined } }),
    '409 MANDATE_ALREADY_USED records.collections.1.mandateReference': [
      {
        mandates: [mandate({ type: 'ONE_OFF' })],
        collections: [collection({ status: 'SETTLED' }), collection({ collectionReference: 'COL-0002' })],
      },
    ],
  })
  t.same(await countsOf(client), { ...NO_RECORDS, mandates: 1 }, 'and nothing is added')
})

t.test('control plane, POST /seed: duplicates inside a batch, and of records that are there', async t => {
  const client = await newClient()
  const one = { ...everything(), counterparties: [counterparty({ counterpartyReference: 'CPTY-0002' })] }
  const cases = (at: number, batch: (records: object[]) => object[]): Case[] =>
    Object.entries(one).map(([kind, records]) => {
      const [reference] = kind === 'payoutLinks' ? ['payoutLinkId'] : Object.keys(records[0] as object)
      // A collection needs its mandate.
      const needed = kind === 'collections' && at === 1 ? { mandates: [mandate()] } : {}
      return [{ ...needed, [kind]: batch(records) }, `409 DUPLICATE_REFERENCE records.${kind}.${at}.${reference}`]
    })
  await holds(
    t,
    cases(1, records => [...records, ...records]),
    records => seed(client, records),
  )
  t.same(await countsOf(client), NO_RECORDS)
  await seed(client, everything())
  const counts = await countsOf(client)
  await holds(
    t,
    cases(0, records => records),
    records => seed(client, records),
  )
  t.same(await countsOf(client), counts)
})

t.test('control plane, POST /seed: nothing of a refused batch shows in what comes after it', async t => {
  const [refusedBefore, untouched] = [await connect(build(t)), await connect(build(t))]
  await seed(refusedBefore, { payoutLinks: [payoutLink()], bills: [bill({ openAmount: '9999' })] })
  t.same(await countsOf(refusedBefore), NO_RECORDS)
  const create = (client: Client) => client.post('/api/v1/payout-links', payoutLink())
  t.same((await create(refusedBefore)).body, (await create(untouched)).body, 'the next id is the same')
})

// -------------------------------------------------------------------------------------------------------- any state

t.test('control plane, POST /seed: any state of a mandate, payout link and, under any mandate, collection', async t => {
  const client = await newClient()
  const times = { createdAt: '2026-11-01T08:00:00Z', updatedAt: MONDAY }
  const initiated = { initiatedAt: '2026-10-28T08:00:00Z', updatedAt: '2026-10-30T08:00:00Z' }
  const { mandates, collections, payoutLinks } = areas
  const reasons: Record<string, string> = { REJECTED: 'AC01', RETURNED: 'AM04' }
  const answer = await seed(client, {
    mandates: mandates.lifecycle.states.map(status => mandate({ mandateReference: `MND-${status}`, status, ...times })),
    collections: collections.lifecycle.states.map(status =>
      collection({
        ...{ collectionReference: `COL-${status}`, mandateReference: 'MND-CANCELLED', status },
        ...{ ...initiated, reasonCode: reasons[status] },
      }),
    ),
    payoutLinks: payoutLinks.lifecycle.states.map(status =>
      payoutLink({ payoutLinkId: `pl_${status}`, status, ...times }),
    ),
  })
  t.equal(answer.status, 200, answer.body.message)
  const record = async (path: string) => (await client.read(path)).record
  for (const status of mandates.lifecycle.states)
    t.match(await record(`/mandates/MND-${status}`), { status, createdAt: times.createdAt })
  for (const status of collections.lifecycle.states) {
    const found = await record(`/direct-debit/COL-${status}`)
    t.match(found, { status, ...initiated })
    t.equal(found.reasonCode, reasons[status], status)
  }
  for (const status of payoutLinks.lifecycle.states)
    t.match(await record(`/payout-links/pl_${status}`), { status, ...times, expiresAt: '2026-11-08T08:00:00Z' })
})

t.test('control plane, POST /seed: a payout link keeps its claim, comment and decline', async t => {
  const client = await newClient()
  const claim = sepaClaim
  await seed(client, {
    payoutLinks: [
      payoutLink({ payoutLinkId: 'pl_claimed', status: 'CLAIMED', claim, claimedAt: '2026-11-02T08:59:00Z' }),
      payoutLink({ payoutLinkId: 'pl_cancelled', status: 'CANCELLED', cancellationComment: 'Paid in cash' }),
      payoutLink({ payoutLinkId: 'pl_rejected', status: 'REJECTED', decline: { remarks: 'Not mine' } }),
    ],
  })
  const recordOf = async (id: string) => (await client.read(`/payout-links/${id}`)).record
  const masked = { ...claim, accountIdentifier: '******************3000' }
  t.match(await recordOf('pl_claimed'), { claim: masked, claimedAt: '2026-11-02T08:59:00Z' })
  t.match(await recordOf('pl_cancelled'), { cancellationComment: 'Paid in cash' })
  t.match(await recordOf('pl_rejected'), { decline: { remarks: 'Not mine' } })
})

t.test('decisions §7: a seeded collection that reached the scheme counts as presented', async t => {
  const client = await newClient()
  await seed(client, {
    mandates: [mandate({ createdAt: '2023-12-01T00:00:00Z' }), mandate({ mandateReference: 'MND-EARLY' })],
    collections: [
      collection({ collectionReference: 'COL-EARLY', mandateReference: 'MND-EARLY', status: 'SUBMITTED' }),
      collection({ status: 'SETTLED', collectionDate: '2026-10-05', initiatedAt: '2026-09-25T00:00:00Z' }),
      collection({ collectionReference: 'COL-0002', status: 'SETTLED', collectionDate: '2026-03-02' }),
      collection({ collectionReference: 'COL-0003', status: 'CANCELLED', collectionDate: '2026-11-30' }),
      // The mandate was not active at its submission, so it never reached the scheme.
      collection({
        ...{ collectionReference: 'COL-0004', status: 'FAILED', reasonCode: 'MD01' },
        ...{ collectionDate: '2026-10-19', initiatedAt: '2026-10-08T00:00:00Z' },
      }),
    ],
  })
  const body = await client.read('/mandates/MND-0001')
  t.equal(body.record.lastPresentedAt, '2026-10-01T14:00:00Z', 'D-2 16:00 in Berlin')
  const early = await client.read('/mandates/MND-EARLY')
  t.equal(early.record.lastPresentedAt, MONDAY, 'not in the future')
  t.same(body.next, { at: '2029-10-01T14:00:00Z', to: 'EXPIRED' })
})

t.test('control plane, POST /seed: an id that a link had in an earlier life is not given again', async t => {
  const client = await connect(build(t))
  const first = (await client.post('/api/v1/payout-links', payoutLink())).body.payoutLinkId
  await client.control('POST', '/reset')
  const seeded = [payoutLink(), payoutLink({ payoutLinkId: first })]
  await seed(client, { payoutLinks: seeded })
  await client.advance({ by: 'PT1S' })
  const next = (await client.post('/api/v1/payout-links', payoutLink())).body.payoutLinkId
  t.not(next, first)
  t.equal((await countsOf(client)).payoutLinks, 3)
  t.equal((await client.read(`/payout-links/${first}`)).record.payoutLinkId, first)
})

t.test('control plane, POST /seed: seeded records go on by themselves', async t => {
  const client = await newClient()
  await seed(client, {
    mandates: [
      mandate({ createdAt: '2024-12-01T00:00:00Z' }),
      mandate({
        mandateReference: 'MND-0002',
        createdAt: '2024-01-01T00:00:00Z',
        lastPresentedAt: '2026-01-15T00:00:00Z',
      }),
    ],
    collections: [collection({ status: 'PROCESSING' })],
    payoutLinks: [payoutLink({ payoutLinkId: 'pl_00001', expiryPeriod: 'P30D' })],
  })
  const { transitions } = (await client.advance({ by: 'P1095D' })).body
  t.same(
    transitions.map(({ at, reference, to }: { at: string; reference: string; to: string }) => [at, reference, to]),
    [
      ['2026-11-09T13:00:00Z', 'COL-0001', 'SETTLED'],
      ['2026-12-02T09:00:00Z', 'pl_00001', 'EXPIRED'],
      ['2029-01-15T00:00:00Z', 'MND-0002', 'EXPIRED'],
    ],
  )
})

t.test('control plane, POST /seed: the events before the state of a record follow from its times', async t => {
  const client = await newClient()
  const initiatedAt = '2026-10-20T09:00:00Z'
  const due = (changes: object) => collection({ collectionDate: '2026-10-28', initiatedAt, ...changes })
  const submitted = ['PENDING seed 2026-10-20T09:00:00Z', 'SUBMITTED time 2026-10-26T15:00:00Z']
  const processed = [...submitted, 'PROCESSING time 2026-10-27T08:00:00Z']
  const settled = [...processed, 'SETTLED time 2026-10-28T13:00:00Z']
  const createdAt = '2026-10-20T09:00:00Z'
  const claim = sepaClaim
  const instant = (changes: object) => payoutLink({ payoutMethod: 'SEPA-INSTANT', createdAt, ...changes })
  const rejected = { status: 'REJECTED', reasonCode: 'FF01', updatedAt: '2026-10-27T08:00:00Z' }
  const returned = { status: 'RETURNED', reasonCode: 'AM04', updatedAt: '2026-10-30T13:00:00Z' }
  const next = '2026-10-21T09:00:00Z'
  const paid = { status: 'PAID', claim, claimedAt: next, updatedAt: '2026-10-21T09:00:10Z' }
  const first = (status: string) => `${status} seed 2026-10-20T09:00:00Z`
  const rows: [kind: string, record: object, events: string[]][] = [
    ['collections', due({ status: 'SETTLED', updatedAt: '2026-10-28T13:00:00Z' }), settled],
    ['collections', due(returned), [...settled, 'RETURNED AM04 seed 2026-10-30T13:00:00Z']],
    [
      'collections',
      due({ ...returned, debtorReference: 'SIM-RETURNED-AM04' }),
      [...settled, 'RETURNED AM04 outcome 2026-10-30T13:00:00Z'],
    ],
    ['collections', due(rejected), [...submitted, 'REJECTED FF01 seed 2026-10-27T08:00:00Z']],
    [
      'collections',
      due({ status: 'REJECTED', reasonCode: 'AM04', updatedAt: '2026-10-28T13:00:00Z' }),
      [...processed, 'REJECTED AM04 seed 2026-10-28T13:00:00Z'],
    ],
    [
      'collections',
      due({ status: 'SETTLED', updatedAt: '2026-10-29T00:00:00Z' }),
      [...processed, 'SETTLED seed 2026-10-29T00:00:00Z'],
    ],
    // No way leads from its creation to its state.
    ['collections', collection({ status: 'SETTLED' }), [`SETTLED seed ${MONDAY}`]],
    [
      'collections',
      due({ status: 'SETTLED', updatedAt: '2026-10-26T15:00:00Z' }),
      ['SETTLED seed 2026-10-26T15:00:00Z'],
    ],
    [
      'mandates',
      mandate({ createdAt, status: 'CANCELLED', updatedAt: next }),
      [first('ACTIVE'), `CANCELLED seed ${next}`],
    ],
    [
      'mandates',
      mandate({ createdAt: '2023-10-20T09:00:00Z', status: 'EXPIRED', updatedAt: createdAt }),
      ['ACTIVE seed 2023-10-20T09:00:00Z', 'EXPIRED time 2026-10-20T09:00:00Z'],
    ],
    ['mandates', mandate({ createdAt, status: 'FAILED', updatedAt: next }), [first('PENDING'), `FAILED seed ${next}`]],
    ['mandates', mandate({ createdAt, updatedAt: next }), [`ACTIVE seed ${next}`]],
    [
      'payoutLinks',
      instant(paid),
      [
        ...[first('ACTIVE'), `CLAIMED seed ${next}`],
        ...['PROCESSING time 2026-10-21T09:00:05Z', 'PAID time 2026-10-21T09:00:10Z'],
      ],
    ],
    [
      'payoutLinks',
      instant({ status: 'CANCELLED', updatedAt: '2026-10-28T09:00:00Z' }),
      [first('ACTIVE'), 'EXPIRED time 2026-10-27T09:00:00Z', 'CANCELLED seed 2026-10-28T09:00:00Z'],
    ],
    ['bills', bill({ createdAt, status: 'PAID', updatedAt: next }), [first('OPEN'), `PAID seed ${next}`]],
  ]
  for (const [kind, record, events] of rows) {
    await client.control('POST', '/reset')
    const mandates = [mandate({ createdAt })]
    const { status, body } = await seed(client, { ...(kind === 'collections' && { mandates }), [kind]: [record] })
    t.equal(status, 200, body.message)
    const { data } = await client.read('/events')
    const own = data.slice(kind === 'collections' ? 1 : 0)
    const said = own.map(({ to, reasonCode, cause, at }: Record<string, string>) =>
      [to, reasonCode, cause, at].filter(Boolean).join(' '),
    )
    t.same(said, events)
    t.same(pluck(own, 'from'), [null, ...pluck(own, 'to').slice(0, -1)], 'each goes on from the one before it')
  }
})
