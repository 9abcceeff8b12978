import t, { type Test } from 'tap'
import type { Answer, Client } from '../helper.js'
import { bill, build, collection, connect, MONDAY, mandate, payoutLink } from '../helper.js'

function refused(t: Test, answer: Answer, status: number, code: string, field: string | null) {
  t.same([answer.status, answer.body.code, answer.body.field], [status, code, field], answer.body.message)
  t.same(Object.keys(answer.body), ['code', 'field', 'message'])
}

const explain = async (client: Client, path: string) => (await client.control('GET', path)).body

const created = (kind: string, reference: string, to: string, seq = 1) => ({
  seq,
  at: MONDAY,
  kind,
  reference,
  from: null,
  to,
  cause: 'api',
})

t.test('control plane, Shapes: an explained record has record, timeline, next and legal', async t => {
  const client = await connect(build(t))
  await client.post('/api/v1/mandates', mandate())
  const record = (await client.post('/api/v1/direct-debit', collection())).body
  const answer = await client.control('GET', '/direct-debit/COL-0001')
  t.equal(answer.status, 200)
  t.same(answer.body, {
    record,
    timeline: [created('collection', 'COL-0001', 'PENDING', 2)],
    next: { at: '2026-11-05T15:00:00Z', to: 'SUBMITTED' },
    legal: answer.body.legal,
  })
  t.same(
    answer.body.legal.map(({ verb, to }: { verb: string; to: string }) => [verb, to]),
    [
      ['submit', 'SUBMITTED'],
      ['fail', 'FAILED'],
      ['cancel', 'CANCELLED'],
    ],
  )
})

t.test('control plane, GET /direct-debit/…: the timeline so far, when and why, and what comes next', async t => {
  const client = await connect(build(t))
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/direct-debit', collection({ debtorReference: 'SIM-RETURNED-AM04' }))
  await client.control('POST', '/direct-debit/COL-0001/submit')
  await client.advance({ to: '2026-11-10T00:00:00Z' })
  const { timeline, next } = await explain(client, '/direct-debit/COL-0001')
  const change = { kind: 'collection', reference: 'COL-0001' }
  t.same(timeline, [
    created('collection', 'COL-0001', 'PENDING', 2),
    { seq: 3, at: MONDAY, ...change, from: 'PENDING', to: 'SUBMITTED', cause: 'control' },
    { seq: 4, at: '2026-11-06T08:00:00Z', ...change, from: 'SUBMITTED', to: 'PROCESSING', cause: 'time' },
    { seq: 5, at: '2026-11-09T13:00:00Z', ...change, from: 'PROCESSING', to: 'SETTLED', cause: 'time' },
  ])
  // Decisions §6: D+2 for AM04.
  t.match(next, { at: /^2026-11-11T/, to: 'RETURNED' })

  await client.advance({ by: 'P7D' })
  const after = await explain(client, '/direct-debit/COL-0001')
  t.match(after.timeline.at(-1), { seq: 6, at: next.at, to: 'RETURNED', reasonCode: 'AM04', cause: 'outcome' })
  t.match(after.record, { status: 'RETURNED', reasonCode: 'AM04', initiatedAt: MONDAY, updatedAt: next.at })
  t.equal(after.next, null)
  t.same(after.legal, [])
})

t.test('control plane, GET /direct-debit/…: a collection that is stuck has no next', async t => {
  const client = await connect(build(t))
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/direct-debit', collection({ debtorReference: 'SIM-STUCK-SUBMITTED' }))
  t.match((await explain(client, '/direct-debit/COL-0001')).next, { to: 'SUBMITTED' })
  await client.advance({ by: 'P30D' })
  const { record, next } = await explain(client, '/direct-debit/COL-0001')
  t.equal(record.status, 'SUBMITTED')
  t.equal(next, null)
})

t.test('control plane, GET /direct-debit/…: with a mandate that is no longer active, FAILED comes next', async t => {
  const client = await connect(build(t))
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/direct-debit', collection())
  await client.control('POST', '/mandates/MND-0001/expire')
  t.same((await explain(client, '/direct-debit/COL-0001')).next, { at: '2026-11-05T15:00:00Z', to: 'FAILED' })
})

t.test('control plane, Shapes: a legal move tells its reason codes, and until when it is legal', async t => {
  const client = await connect(build(t))
  await client.control('POST', '/seed', {
    records: {
      mandates: [mandate()],
      collections: [
        collection({ collectionReference: 'COL-SUBMITTED', status: 'SUBMITTED' }),
        collection({ collectionReference: 'COL-SETTLED', status: 'SETTLED' }),
      ],
    },
  })
  const { legal: submitted } = await explain(client, '/direct-debit/COL-SUBMITTED')
  t.same(submitted[0], { verb: 'process', to: 'PROCESSING' })
  t.match(submitted[1], { verb: 'reject', to: 'REJECTED' })
  t.same([...submitted[1].reasonCodes].sort(), ['AC01', 'AG02', 'AM05', 'BE05', 'CNOR', 'DNOR', 'FF01', 'MD02', 'RC01'])

  const returns = async () =>
    (await explain(client, '/direct-debit/COL-SETTLED')).legal.map(
      ({ verb, to, reasonCodes, until }: { verb: string; to: string; reasonCodes: string[]; until: string }) => [
        verb,
        to,
        reasonCodes.includes('AM04') ? 'AM04' : reasonCodes.join(),
        until,
      ],
    )
  const refunds = [
    ['return', 'RETURNED', 'MD06', '2027-01-04T22:59:59Z'],
    ['return', 'RETURNED', 'MD01', '2027-12-09T22:59:59Z'],
  ]
  t.same(await returns(), [['return', 'RETURNED', 'AM04', '2026-11-16T22:59:59Z'], ...refunds])
  await client.advance({ to: '2026-11-16T22:59:59Z' })
  t.equal((await returns()).length, 3)
  await client.advance({ by: 'PT1S' })
  t.same(await returns(), refunds, 'what is over is not legal any more')
})

t.test('control plane, GET /mandates/…: a mandate', async t => {
  const client = await connect(build(t))
  const record = (await client.post('/api/v1/mandates', mandate())).body
  t.same(await explain(client, '/mandates/MND-0001'), {
    record,
    timeline: [created('mandate', 'MND-0001', 'ACTIVE')],
    next: { at: '2029-11-02T09:00:00Z', to: 'EXPIRED' },
    legal: [
      { verb: 'cancel', to: 'CANCELLED' },
      { verb: 'expire', to: 'EXPIRED' },
    ],
  })
  await client.delete('/api/v1/mandates/MND-0001')
  t.match(await explain(client, '/mandates/MND-0001'), {
    record: { status: 'CANCELLED' },
    timeline: [{ seq: 1 }, { seq: 2, from: 'ACTIVE', to: 'CANCELLED', cause: 'api' }],
    next: null,
    legal: [],
  })
})

t.test('decisions §7: 36 months without a presented collection begin anew with each', async t => {
  const client = await connect(build(t))
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/direct-debit', collection())
  await client.advance({ by: 'P14D' })
  const { record, next } = await explain(client, '/mandates/MND-0001')
  t.same(next, { at: '2029-11-05T15:00:00Z', to: 'EXPIRED' }, '36 months after D-2 16:00')
  t.equal(record.status, 'ACTIVE')
})

t.test('control plane, GET /payout-links/…: a payout link, with its comment, claim and decline', async t => {
  const client = await connect(build(t))
  const record = (await client.post('/api/v1/payout-links', payoutLink())).body
  const path = `/payout-links/${record.payoutLinkId}`
  const answer = await explain(client, path)
  t.same(answer.record, record)
  t.same(answer.timeline, [created('payoutLink', record.payoutLinkId, 'ACTIVE')])
  t.same(answer.next, { at: '2026-11-09T09:00:00Z', to: 'EXPIRED' })
  t.same(
    answer.legal.map(({ to }: { to: string }) => to).sort(),
    ['CANCELLED', 'CLAIMED', 'EXPIRED', 'REJECTED'],
    'decisions §8',
  )

  const cancelled = await client.patch(`/api/v1${path}/cancel`, { cancellationComment: 'Too late' })
  t.equal(cancelled.status, 204)
  t.match(await explain(client, path), {
    record: { status: 'CANCELLED', cancellationComment: 'Too late' },
    timeline: [{ seq: 1 }, { seq: 2, from: 'ACTIVE', to: 'CANCELLED', cause: 'api' }],
    next: null,
    legal: [],
  })
})

t.test('control plane, GET /payout-links/…: an id names a link without its region, so it stands in one', async t => {
  const client = await connect(build(t))
  const answer = await client.control('POST', '/seed', {
    records: {
      payoutLinks: [
        payoutLink({ payoutLinkId: 'pl_00001' }),
        payoutLink({ payoutLinkId: 'pl_00001', currency: 'GBP', payoutMethod: 'UK-FAST' }),
      ],
    },
  })
  refused(t, answer, 409, 'DUPLICATE_REFERENCE', 'records.payoutLinks.1.payoutLinkId')
})

t.test('control plane, GET /bills/…: a bill', async t => {
  const client = await connect(build(t))
  const record = (await client.post('/api/v1/bills', bill())).body
  const answer = await explain(client, '/bills/INV-2026-001')
  t.same(answer.record, record)
  t.same(answer.timeline, [created('bill', 'INV-2026-001', 'OPEN')])
  t.equal(answer.next, null)
  t.same(answer.legal.map(({ to }: { to: string }) => to).sort(), ['CANCELLED', 'PAID', 'PARTIALLY_PAID'])

  await client.patch('/api/v1/bills/INV-2026-001', { status: 'PAID' })
  t.match((await explain(client, '/bills/INV-2026-001')).timeline, [
    { seq: 1 },
    { seq: 2, kind: 'bill', from: 'OPEN', to: 'PAID', cause: 'api' },
  ])
  await client.patch('/api/v1/bills/INV-2026-001', { status: 'CANCELLED' })
  t.match(await explain(client, '/bills/INV-2026-001'), { record: { status: 'CANCELLED' }, next: null, legal: [] })
})

t.test('control plane, GET /bills/…: ?region= where several regions have the reference', async t => {
  const client = await connect(build(t))
  await client.post('/api/v1/bills', bill())
  t.equal((await explain(client, '/bills/INV-2026-001')).record.currency, 'EUR', 'not needed for one')
  await client.post('/api/v1/bills', bill({ currency: 'INR' }), { region: 'IN' })

  refused(t, await client.control('GET', '/bills/INV-2026-001'), 400, 'MISSING_FIELD', 'region')
  t.equal((await explain(client, '/bills/INV-2026-001?region=EU')).record.currency, 'EUR')
  t.equal((await explain(client, '/bills/INV-2026-001?region=IN')).record.currency, 'INR')
  const elsewhere = await client.control('GET', '/bills/INV-2026-001?region=US')
  refused(t, elsewhere, 404, 'BILL_NOT_FOUND', 'uniqueReferenceIdentifier')
  for (const region of ['GB', 'eu', '']) {
    const answer = await client.control('GET', `/bills/INV-2026-001?region=${region}`)
    refused(t, answer, 400, 'INVALID_QUERY_PARAMETER', 'region')
  }
})

t.test('control plane, explaining reads: what is not there, and what cannot be', async t => {
  const client = await connect(build(t))
  const cases: [path: string, wrong: string, code: string, field: string, invalid: string][] = [
    ['/direct-debit/', 'COL_1', 'COLLECTION_NOT_FOUND', 'collectionReference', 'INVALID_FIELD'],
    ['/mandates/', 'abcd', 'MANDATE_NOT_FOUND', 'mandateReference', 'INVALID_FIELD'],
    ['/payout-links/', 'pl_999', 'PAYOUT_LINK_NOT_FOUND', 'payoutLinkId', 'INVALID_FIELD'],
    ['/bills/', 'a.b.c', 'BILL_NOT_FOUND', 'uniqueReferenceIdentifier', 'INVALID_BILL_REFERENCE'],
  ]
  for (const [path, wrong, code, field, invalid] of cases) {
    refused(t, await client.control('GET', `${path}REF-99999`), 404, code, field)
    refused(t, await client.control('GET', path + wrong), 400, invalid, field)
    refused(t, await client.control('GET', `${path}REF%2F99999`), 404, 'ROUTE_NOT_FOUND', null)
  }
})

t.test('decisions §3: records of another tenant are not there', async t => {
  const app = build(t)
  const [acme, other] = [await connect(app, 'acme'), await connect(app, 'other')]
  await acme.post('/api/v1/mandates', mandate())
  refused(t, await other.control('GET', '/mandates/MND-0001'), 404, 'MANDATE_NOT_FOUND', 'mandateReference')
})
