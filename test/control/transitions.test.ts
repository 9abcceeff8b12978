import t from 'tap'
import type { Client } from '../helper.js'
import { bill, build, collection, connect, MONDAY, mandate, payoutLink } from '../helper.js'
import { refused } from '../http/raw.js'

// control plane: transitions of collections, mandates and payout links, and explained records.

const seed = async (client: Client, records: object) => {
  const answer = await client.control('POST', '/seed', { records })
  if (answer.status !== 200) throw new Error(answer.body.message)
}

const explain = async (client: Client, path: string) => (await client.control('GET', path)).body

/** Status, code and field of the answers to POST, to compare with a table at once. */
async function refusals(client: Client, cases: readonly (readonly [path: string, body: unknown, ...unknown[]])[]) {
  const rows = []
  for (const [path, input] of cases) {
    const { status, body } = await client.control('POST', path, input)
    rows.push([path, input, status, body.code, body.field])
  }
  return rows
}

const created = (kind: string, reference: string, to: string, seq = 1) => ({
  seq,
  at: MONDAY,
  kind,
  reference,
  from: null,
  to,
  cause: 'api',
})

// -------------------------------------------------------------------------------------------- one table for each kind

const claim = { accountHolderName: 'Jane Doe', accountIdentifier: 'DE89370400440532013000' }

interface Kind {
  readonly kind: string
  readonly path: string
  readonly verbs: readonly string[]
  /** From, verb, to: decisions §6, §7, §8. */
  readonly moves: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** The records that it takes to have one of this reference in this state. */
  records(reference: string, status: string): object
}

const KINDS: readonly Kind[] = [
  {
    kind: 'collection',
    path: '/direct-debit',
    verbs: ['submit', 'process', 'settle', 'fail', 'reject', 'return', 'cancel'],
    moves: {
      PENDING: { submit: 'SUBMITTED', fail: 'FAILED', cancel: 'CANCELLED' },
      SUBMITTED: { process: 'PROCESSING', reject: 'REJECTED' },
      PROCESSING: { settle: 'SETTLED', fail: 'FAILED', reject: 'REJECTED' },
      SETTLED: { return: 'RETURNED' },
      FAILED: {},
      CANCELLED: {},
      RETURNED: {},
      REJECTED: {},
    },
    records: (collectionReference, status) => ({ collections: [collection({ collectionReference, status })] }),
  },
  {
    kind: 'mandate',
    path: '/mandates',
    verbs: ['activate', 'fail', 'cancel', 'expire'],
    moves: {
      PENDING: { activate: 'ACTIVE', fail: 'FAILED', cancel: 'CANCELLED' },
      ACTIVE: { cancel: 'CANCELLED', expire: 'EXPIRED' },
      CANCELLED: {},
      EXPIRED: {},
      FAILED: {},
    },
    records: (mandateReference, status) => ({ mandates: [mandate({ mandateReference, status })] }),
  },
  {
    kind: 'payoutLink',
    path: '/payout-links',
    verbs: ['claim', 'decline', 'process', 'pay', 'fail', 'expire'],
    moves: {
      ACTIVE: { claim: 'CLAIMED', decline: 'REJECTED', expire: 'EXPIRED' },
      CLAIMED: { process: 'PROCESSING' },
      PROCESSING: { pay: 'PAID', fail: 'FAILED' },
      PAID: {},
      FAILED: {},
      CANCELLED: {},
      EXPIRED: {},
      REJECTED: {},
    },
    records: (payoutLinkId, status) => ({ payoutLinks: [payoutLink({ payoutLinkId, status })] }),
  },
]

for (const { kind, path, verbs, moves, records } of KINDS) {
  t.test(`control plane, POST ${path}/…/{verb}: one legal transition now, else ILLEGAL_TRANSITION`, async t => {
    const client = await connect(build(t))
    await seed(client, { mandates: [mandate()] })
    const seen = []
    const expected = []
    for (const [from, legal] of Object.entries(moves)) {
      for (const verb of verbs) {
        const reference = `REF-${from}-${verb}`.replaceAll('-', kind === 'payoutLink' ? '_' : '-')
        await seed(client, records(reference, from))
        const url = `${path}/${reference}`
        const { status, body } = await client.control('POST', `${url}/${verb}`, verb === 'claim' ? claim : undefined)
        const after = await explain(client, url)
        const to = legal[verb]
        const { cause, at, from: before } = after.timeline.at(-1) ?? {}
        const isNamed = [from, ...Object.keys(legal)].every(name => body.message?.includes(name))
        const what = `${from} ${verb}`
        if (status === 200) {
          const { updatedAt, reasonCode } = after.record
          seen.push([what, after.record.status, { cause, at, before, updatedAt }, reasonCode !== undefined])
          t.same(body, after)
        } else seen.push([what, after.record.status, status, body.code, isNamed, 'claim' in after.record])
        const event = { cause: 'control', at: MONDAY, before: from, updatedAt: MONDAY }
        const hasReason = kind === 'collection' && ['REJECTED', 'RETURNED', 'FAILED'].includes(to ?? '')
        if (to !== undefined) expected.push([what, to, event, hasReason])
        else expected.push([what, from, 409, 'ILLEGAL_TRANSITION', true, false])
      }
    }
    t.same(seen, expected)
  })
}

t.test('control plane, transitions: an unknown record is 404, a wrong reference 400, another path 404', async t => {
  const client = await connect(build(t))
  const cases = [
    ['/direct-debit/COL-9999/submit', undefined, 404, 'COLLECTION_NOT_FOUND', 'collectionReference'],
    ...['abcd', 'a_bcd', 'a'.repeat(51), 'a'.repeat(1000), 'COL%200001'].map(
      wrong => [`/direct-debit/${wrong}/submit`, undefined, 400, 'INVALID_FIELD', 'collectionReference'] as const,
    ),
    ['/direct-debit/COL%2F0001/submit', undefined, 404, 'ROUTE_NOT_FOUND', null],
    ['/direct-debit/COL-0001/explode', undefined, 404, 'ROUTE_NOT_FOUND', null],
    ['/mandates/MND-9999/cancel', undefined, 404, 'MANDATE_NOT_FOUND', 'mandateReference'],
    ['/mandates/M_D-0001/cancel', undefined, 400, 'INVALID_FIELD', 'mandateReference'],
    ['/payout-links/pl_99999/pay', undefined, 404, 'PAYOUT_LINK_NOT_FOUND', 'payoutLinkId'],
    ['/payout-links/pl_99999/claim', claim, 404, 'PAYOUT_LINK_NOT_FOUND', 'payoutLinkId'],
    ['/payout-links/pl_999/pay', undefined, 400, 'INVALID_FIELD', 'payoutLinkId'],
    [`/payout-links/${'p'.repeat(91)}/pay`, undefined, 400, 'INVALID_FIELD', 'payoutLinkId'],
    ['/direct-debit/COL-9999/reject', '{', 400, 'MALFORMED_REQUEST', null],
    ['/direct-debit/COL-9999/reject', '[]', 400, 'INVALID_FIELD', null],
    ['/payout-links/pl_99999/claim', undefined, 400, 'MISSING_FIELD', 'accountHolderName'],
  ] as const
  t.same(await refusals(client, cases), cases)
})

// ------------------------------------------------------------------------------------------------------ collections

t.test('control plane, POST /direct-debit/…/{verb}: after a move by hand, time goes on from there', async t => {
  const client = await connect(build(t))
  await seed(client, {
    mandates: [mandate()],
    collections: [collection(), collection({ collectionReference: 'COL-0002' })],
  })
  await client.control('POST', '/direct-debit/COL-0001/submit')
  for (const verb of ['submit', 'process', 'settle', 'return'])
    await client.control('POST', `/direct-debit/COL-0002/${verb}`)
  const { timeline } = await explain(client, '/direct-debit/COL-0002')
  t.same(
    timeline.map(({ to }: { to: string }) => to),
    ['PENDING', 'SUBMITTED', 'PROCESSING', 'SETTLED', 'RETURNED'],
  )
  t.match((await client.advance({ by: 'P30D' })).body.transitions, [
    { at: '2026-11-06T08:00:00Z', reference: 'COL-0001', to: 'PROCESSING' },
    { at: '2026-11-09T13:00:00Z', reference: 'COL-0001', to: 'SETTLED' },
  ])
})

/** Decisions §6. */
const CLEARING = ['FF01', 'AC01', 'RC01', 'AG02', 'BE05', 'AM05', 'MD02', 'CNOR', 'DNOR']
const BANK = ['AC04', 'AC06', 'AG01', 'AM04', 'MD01', 'MD07', 'MS02', 'MS03', 'RR01', 'RR02', 'RR03', 'RR04', 'SL01']
const RETURN = ['AC04', 'AC06', 'AG01', 'AM04', 'MD07', 'MS02', 'MS03', 'SL01']
const REFUND = ['MD06', 'MD01']
const ALL = [...new Set([...CLEARING, ...BANK, ...RETURN, ...REFUND])]

/** Without a code, one that is legal is taken; the list of returns is open, so only clearing codes are surely none. */
const phases: [from: string, verb: string, legal: readonly string[], tried: readonly string[]][] = [
  ['SUBMITTED', 'reject', CLEARING, ALL],
  ['PROCESSING', 'reject', BANK, ALL],
  ['SETTLED', 'return', [...RETURN, ...REFUND], [...RETURN, ...REFUND, ...CLEARING]],
  ['PENDING', 'submit', [], ['AM04']],
  ['PENDING', 'cancel', [], ['AM04']],
  ['SUBMITTED', 'process', [], ['AM04']],
  ['PROCESSING', 'settle', [], ['AM04']],
]

t.test('decisions §6: each reason code in its phase, and in no other', async t => {
  const client = await connect(build(t))
  await seed(client, { mandates: [mandate()] })
  for (const [at, [status, verb, legal, tried]] of phases.entries()) {
    const references = ['NONE', ...tried].map(code => `COL-${at}-${code}`)
    await seed(client, {
      collections: references.map(collectionReference => collection({ collectionReference, status })),
    })
    const seen = []
    for (const reasonCode of tried) {
      const url = `/direct-debit/COL-${at}-${reasonCode}`
      const { body } = await client.control('POST', `${url}/${verb}`, { reasonCode })
      const { record, timeline } = await explain(client, url)
      if (body.code) seen.push([reasonCode, body.code, body.field, body.message.includes(reasonCode), record.status])
      else seen.push([reasonCode, record.reasonCode, timeline.at(-1).reasonCode])
    }
    t.same(
      seen,
      tried.map(code =>
        legal.includes(code) ? [code, code, code] : [code, 'ILLEGAL_TRANSITION', 'reasonCode', true, status],
      ),
      `${status} ${verb}`,
    )
    const { reasonCode } = (await client.control('POST', `/direct-debit/COL-${at}-NONE/${verb}`)).body.record
    t.ok(legal.length === 0 ? reasonCode === undefined : legal.includes(reasonCode), `without a code: ${reasonCode}`)
  }
})

t.test(
  'decisions §6: AC13 belongs to the B2B scheme; it and codes that do not exist are 400, before 404 and 409',
  async t => {
    const client = await connect(build(t))
    await seed(client, { mandates: [mandate()], collections: [collection({ status: 'SETTLED' })] })
    const codes = ['AC13', 'ZZ99', 'AC99', 'ac04', 'AC04 ', '', 'A', 1, null, ['AC04']]
    const cases = ['COL-0001', 'COL-9999'].flatMap(reference =>
      codes.map(
        reasonCode =>
          [`/direct-debit/${reference}/reject`, { reasonCode }, 400, 'INVALID_FIELD', 'reasonCode'] as const,
      ),
    )
    t.same(await refusals(client, cases), cases)
    const { message } = (await client.control('POST', '/direct-debit/COL-0001/reject', { reasonCode: 'AC13' })).body
    t.match(message, 'B2B')
  },
)

t.test('decisions §6: a return is legal in the window of its code, in Berlin time', async t => {
  const client = await connect(build(t))
  /** The last second for a collection of Monday, 2026-11-09: D+5 open days, 56 days, 13 months. */
  const windows = [
    ['AM04', '2026-11-16T22:59:59Z', ['MD06', 'MD01']],
    ['MD06', '2027-01-04T22:59:59Z', ['MD01']],
    ['MD01', '2027-12-09T22:59:59Z', []],
  ] as const
  const references = windows.flatMap(([code]) => [`COL-${code}-1`, `COL-${code}-2`, `COL-${code}-3`])
  await seed(client, {
    mandates: [mandate()],
    collections: ['COL-0001', ...references].map(collectionReference =>
      collection({ collectionReference, status: 'SETTLED' }),
    ),
  })
  const giveBack = (reference: string, body?: object) =>
    client.control('POST', `/direct-debit/${reference}/return`, body)
  for (const [reasonCode, last, others] of windows) {
    await client.advance({ to: last })
    t.match((await giveBack(`COL-${reasonCode}-1`, { reasonCode })).body, { record: { status: 'RETURNED' } }, last)
    await client.advance({ by: 'PT1S' })
    const late = await giveBack(`COL-${reasonCode}-2`, { reasonCode })
    refused(t, late, 409, 'ILLEGAL_TRANSITION', 'reasonCode')
    t.match(late.body.message, last, 'the message names the last second')
    const { legal } = await explain(client, '/direct-debit/COL-0001')
    t.same(
      legal.flatMap(({ reasonCodes }: { reasonCodes: string[] }) => reasonCodes),
      others,
    )
    const { record, code } = (await giveBack(`COL-${reasonCode}-3`)).body
    if (others.length === 0) t.equal(code, 'ILLEGAL_TRANSITION', 'all windows are closed')
    else t.ok(others.includes(record.reasonCode as never), `without a code: ${record.reasonCode}`)
  }
})

// --------------------------------------------------------------------------------------------------------- mandates

t.test('decisions §7: a mandate that the control plane cancels takes its PENDING collections along', async t => {
  const client = await connect(build(t))
  const collections = ['PENDING', 'SUBMITTED', 'SETTLED'].map(status =>
    collection({ collectionReference: `COL-${status}`, status }),
  )
  await seed(client, { mandates: [mandate()], collections })
  await client.control('POST', '/mandates/MND-0001/cancel')
  const { data } = (await client.get('/api/v1/direct-debit')).body
  t.same(Object.fromEntries(data.map((item: Record<string, string>) => [item.collectionReference, item.status])), {
    'COL-PENDING': 'CANCELLED',
    'COL-SUBMITTED': 'SUBMITTED',
    'COL-SETTLED': 'SETTLED',
  })
})

t.test('decisions §6: under a mandate that is no longer active, a collection FAILS at its submission', async t => {
  const client = await connect(build(t))
  await seed(client, { mandates: [mandate()], collections: [collection()] })
  await client.control('POST', '/mandates/MND-0001/expire')
  t.match(await explain(client, '/direct-debit/COL-0001'), {
    record: { status: 'PENDING' },
    next: { at: '2026-11-05T15:00:00Z', to: 'FAILED' },
  })
  const change = { at: '2026-11-05T15:00:00Z', kind: 'collection', reference: 'COL-0001' }
  const { transitions } = (await client.advance({ by: 'P14D' })).body
  t.match(transitions, [{ ...change, from: 'PENDING', to: 'FAILED' }])
  t.equal(transitions.length, 1)
})

// ----------------------------------------------------------------------------------------------------- payout links

const us = {
  accountHolderName: 'Jane Doe',
  accountIdentifier: '12345678901234567',
  branchIdentifier: { type: 'ROUTING', value: '021000021' },
  accountType: 'CHECKING',
}
const uk = {
  accountHolderName: 'Jane Doe',
  accountIdentifier: '12345678',
  branchIdentifier: { type: 'SORT', value: '200000' },
}

/** Decisions §8: the last four characters of an account number stay visible, of a short one half. */
const masked = (account: string) =>
  ({ 22: '*'.repeat(18), 8: '****', 4: '**' })[account.length] + account.slice(account.length > 4 ? -4 : -2)

/** Next T2 day 14:00; 10 s; next Fed day 06:00 New York; 2 UK business days; 10 s. It is Monday, 2 November. */
const METHODS = [
  ['SEPA-CT', 'EUR', claim, '2026-11-03T13:00:00Z'],
  ['SEPA-INSTANT', 'EUR', claim, '2026-11-02T09:00:10Z'],
  ['US-ACH', 'USD', { ...us, accountIdentifier: '1234' }, '2026-11-03T11:00:00Z'],
  ['UK-BACS', 'GBP', uk, /^2026-11-04T/],
  ['UK-FAST', 'GBP', uk, '2026-11-02T09:00:10Z'],
] as const

/** A client with one link of every method, whose id is the method in small letters, and one more. */
async function withLinks(t: Parameters<typeof build>[0]) {
  const client = await connect(build(t))
  const links = METHODS.map(([payoutMethod, currency]) =>
    payoutLink({ payoutMethod, currency, payoutLinkId: idOf(payoutMethod) }),
  )
  await seed(client, { payoutLinks: [...links, payoutLink({ payoutLinkId: 'pl_declined' })] })
  return client
}
const idOf = (method: string) => `pl_${method.toLowerCase().replace('-', '_')}`

t.test('decisions §8: a claim is stored, and is paid at the time of its method', async t => {
  const client = await withLinks(t)
  for (const [method, , form] of METHODS) {
    const { body } = await client.control('POST', `/payout-links/${idOf(method)}/claim`, form)
    t.same(body.record?.claim, { ...form, accountIdentifier: masked(form.accountIdentifier) }, method)
  }
  await client.advance({ by: 'P7D' })
  for (const [method, , , at] of METHODS)
    t.match((await explain(client, `/payout-links/${idOf(method)}`)).timeline.slice(-2), [
      { to: 'PROCESSING' },
      { to: 'PAID', at },
    ])
})

t.test('decisions §8: a claim carries what its method needs', async t => {
  const client = await withLinks(t)
  const cases = (
    [
      ['SEPA-CT', { ...claim, accountHolderName: undefined }, 'MISSING_FIELD', 'accountHolderName'],
      ['SEPA-CT', { ...claim, accountHolderName: '' }, 'MISSING_FIELD', 'accountHolderName'],
      ['SEPA-CT', { ...claim, accountHolderName: 'x'.repeat(141) }, 'INVALID_FIELD', 'accountHolderName'],
      ['SEPA-CT', { ...claim, accountIdentifier: undefined }, 'MISSING_FIELD', 'accountIdentifier'],
      ['SEPA-CT', { ...claim, accountIdentifier: 'DE00370400440532013000' }, 'INVALID_FIELD', 'accountIdentifier'],
      ['SEPA-INSTANT', { ...claim, accountIdentifier: '12345678' }, 'INVALID_FIELD', 'accountIdentifier'],
      ['US-ACH', { ...us, accountIdentifier: '123' }, 'INVALID_FIELD', 'accountIdentifier'],
      ['US-ACH', { ...us, accountIdentifier: '1'.repeat(18) }, 'INVALID_FIELD', 'accountIdentifier'],
      ['US-ACH', { ...us, accountIdentifier: '12a4' }, 'INVALID_FIELD', 'accountIdentifier'],
      ['US-ACH', { ...us, branchIdentifier: undefined }, 'MISSING_FIELD', 'branchIdentifier'],
      ['US-ACH', { ...us, branchIdentifier: uk.branchIdentifier }, 'INVALID_FIELD', 'branchIdentifier.type'],
      [
        'US-ACH',
        { ...us, branchIdentifier: { type: 'ROUTING', value: '021000022' } },
        'INVALID_FIELD',
        'branchIdentifier.value',
      ],
      ['US-ACH', { ...us, branchIdentifier: { type: 'ROUTING' } }, 'MISSING_FIELD', 'branchIdentifier.value'],
      ['US-ACH', { ...us, accountType: undefined }, 'MISSING_FIELD', 'accountType'],
      ['US-ACH', { ...us, accountType: 'GIRO' }, 'INVALID_FIELD', 'accountType'],
      ['UK-BACS', { ...uk, accountIdentifier: '1234567' }, 'INVALID_FIELD', 'accountIdentifier'],
      ['UK-BACS', { ...uk, accountIdentifier: '123456789' }, 'INVALID_FIELD', 'accountIdentifier'],
      ['UK-FAST', { ...uk, branchIdentifier: undefined }, 'MISSING_FIELD', 'branchIdentifier'],
      ['UK-FAST', { ...uk, branchIdentifier: us.branchIdentifier }, 'INVALID_FIELD', 'branchIdentifier.type'],
      [
        'UK-FAST',
        { ...uk, branchIdentifier: { type: 'SORT', value: '20000' } },
        'INVALID_FIELD',
        'branchIdentifier.value',
      ],
    ] as const
  ).map(([method, form, code, field]) => [`/payout-links/${idOf(method)}/claim`, form, 400, code, field] as const)
  t.same(await refusals(client, cases), cases)
  for (const [method] of METHODS)
    t.match((await explain(client, `/payout-links/${idOf(method)}`)).record, { status: 'ACTIVE' })
})

t.test('decisions §8: a decline carries remarks of 1 to 256 characters', async t => {
  const client = await withLinks(t)
  const path = '/payout-links/pl_declined/decline'
  const wrong = ['', 'x'.repeat(257), 1, null]
  const cases = wrong.map(remarks => [path, { remarks }, 400, 'INVALID_FIELD', 'remarks'] as const)
  t.same(await refusals(client, cases), cases)
  const remarks = '😀'.repeat(256)
  t.match((await client.control('POST', path, { remarks })).body.record, { status: 'REJECTED', decline: { remarks } })
})

t.test('interface, Payout link: a claimed link cannot be cancelled, a declined one can', async t => {
  const client = await withLinks(t)
  await client.control('POST', '/payout-links/pl_sepa_ct/claim', claim)
  await client.control('POST', '/payout-links/pl_declined/decline')
  const cancel = (id: string) => client.patch(`/api/v1/payout-links/${id}/cancel`, { cancellationComment: 'No' })
  refused(t, await cancel('pl_sepa_ct'), 409, 'PAYOUT_LINK_ALREADY_CLAIMED', 'payoutLinkId')
  t.equal((await cancel('pl_declined')).status, 204)
  refused(t, await cancel('pl_declined'), 409, 'PAYOUT_LINK_NOT_CANCELLABLE', 'payoutLinkId')
})

// ------------------------------------------------------------------------------------------------ explained records

t.test('control plane: an explained record has record, timeline, next and legal', async t => {
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

t.test(
  'control plane, GET /direct-debit/…: the timeline with causes, the next event, and the legal transitions',
  async t => {
    const client = await connect(build(t))
    await client.post('/api/v1/mandates', mandate())
    await client.post('/api/v1/direct-debit', collection({ debtorReference: 'SIM-RETURNED-AM04' }))
    await client.control('POST', '/direct-debit/COL-0001/submit')
    const { legal } = await explain(client, '/direct-debit/COL-0001')
    t.same(legal[0], { verb: 'process', to: 'PROCESSING' })
    t.same([legal[1].verb, legal[1].to, [...legal[1].reasonCodes].sort()], ['reject', 'REJECTED', [...CLEARING].sort()])

    await client.advance({ to: '2026-11-10T00:00:00Z' })
    const { timeline, next, legal: returns } = await explain(client, '/direct-debit/COL-0001')
    const change = { kind: 'collection', reference: 'COL-0001' }
    t.same(timeline, [
      created('collection', 'COL-0001', 'PENDING', 2),
      { seq: 3, at: MONDAY, ...change, from: 'PENDING', to: 'SUBMITTED', cause: 'control' },
      { seq: 4, at: '2026-11-06T08:00:00Z', ...change, from: 'SUBMITTED', to: 'PROCESSING', cause: 'time' },
      { seq: 5, at: '2026-11-09T13:00:00Z', ...change, from: 'PROCESSING', to: 'SETTLED', cause: 'time' },
    ])
    // Decisions §6: D+2 for AM04.
    t.match(next, { at: /^2026-11-11T/, to: 'RETURNED' })
    t.same(
      returns.map(({ verb, to, until }: Record<string, string>) => [verb, to, until]),
      ['2026-11-16T22:59:59Z', '2027-01-04T22:59:59Z', '2027-12-09T22:59:59Z'].map(until => [
        'return',
        'RETURNED',
        until,
      ]),
    )

    await client.advance({ by: 'P7D' })
    const after = await explain(client, '/direct-debit/COL-0001')
    t.match(after.timeline.at(-1), { seq: 6, at: next.at, to: 'RETURNED', reasonCode: 'AM04', cause: 'outcome' })
    t.match(after.record, { status: 'RETURNED', reasonCode: 'AM04', initiatedAt: MONDAY, updatedAt: next.at })
    t.same([after.next, after.legal], [null, []])
    // Decisions §7: 36 months begin again with each presented collection.
    t.same((await explain(client, '/mandates/MND-0001')).next.to, 'EXPIRED')
  },
)

t.test('decisions §7: 36 months until a mandate expires begin again with each presented collection', async t => {
  const client = await connect(build(t))
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/direct-debit', collection({ debtorReference: 'SIM-STUCK-SUBMITTED' }))
  await client.advance({ by: 'P14D' })
  t.match(await explain(client, '/mandates/MND-0001'), { next: { at: '2029-11-05T15:00:00Z', to: 'EXPIRED' } })
  t.match(
    await explain(client, '/direct-debit/COL-0001'),
    { record: { status: 'SUBMITTED' }, next: null },
    'it is stuck',
  )
})

t.test('control plane, GET /payout-links/…: a payout link, with its comment', async t => {
  const client = await connect(build(t))
  const record = (await client.post('/api/v1/payout-links', payoutLink())).body
  const path = `/payout-links/${record.payoutLinkId}`
  const { legal, ...explained } = await explain(client, path)
  const timeline = [created('payoutLink', record.payoutLinkId, 'ACTIVE')]
  t.same(explained, { record, timeline, next: { at: '2026-11-09T09:00:00Z', to: 'EXPIRED' } })
  t.same(legal.map(({ to }: { to: string }) => to).sort(), ['CANCELLED', 'CLAIMED', 'EXPIRED', 'REJECTED'])
  await client.patch(`/api/v1${path}/cancel`, { cancellationComment: 'Too late' })
  t.match(await explain(client, path), {
    record: { status: 'CANCELLED', cancellationComment: 'Too late' },
    timeline: [{}, { from: 'ACTIVE', to: 'CANCELLED', cause: 'api' }],
    next: null,
    legal: [],
  })
})

t.test('control plane, GET /bills/…: a bill; ?region= where several regions have the reference', async t => {
  const client = await connect(build(t))
  const path = '/bills/INV-2026-001'
  const record = (await client.post('/api/v1/bills', bill())).body
  const { legal, ...explained } = await explain(client, path)
  t.same(explained, { record, timeline: [created('bill', 'INV-2026-001', 'OPEN')], next: null })
  t.same(legal.map(({ to }: { to: string }) => to).sort(), ['CANCELLED', 'PAID', 'PARTIALLY_PAID'])

  await client.post('/api/v1/bills', bill({ currency: 'INR' }), { region: 'IN' })
  t.equal((await explain(client, `${path}?region=EU`)).record.currency, 'EUR')
  t.equal((await explain(client, `${path}?region=IN`)).record.currency, 'INR')
  const cases = [
    ['', 400, 'MISSING_FIELD', 'region'],
    ['?region=US', 404, 'BILL_NOT_FOUND', 'uniqueReferenceIdentifier'],
    ['?region=GB', 400, 'INVALID_QUERY_PARAMETER', 'region'],
    ['?region=eu', 400, 'INVALID_QUERY_PARAMETER', 'region'],
    ['?region=', 400, 'INVALID_QUERY_PARAMETER', 'region'],
  ]
  const seen = []
  for (const [query] of cases) {
    const { status, body } = await client.control('GET', `${path}${query}`)
    seen.push([query, status, body.code, body.field])
  }
  t.same(seen, cases)
})

t.test('control plane, GET of a record: an unknown one, a wrong reference, a record of another tenant', async t => {
  const app = build(t)
  const [client, other] = [await connect(app), await connect(app, 'other')]
  await other.post('/api/v1/mandates', mandate())
  const cases = [
    ['/direct-debit/REF-99999', 404, 'COLLECTION_NOT_FOUND', 'collectionReference'],
    ['/direct-debit/COL_1', 400, 'INVALID_FIELD', 'collectionReference'],
    ['/mandates/MND-0001', 404, 'MANDATE_NOT_FOUND', 'mandateReference'],
    ['/mandates/abcd', 400, 'INVALID_FIELD', 'mandateReference'],
    ['/payout-links/REF-99999', 404, 'PAYOUT_LINK_NOT_FOUND', 'payoutLinkId'],
    ['/payout-links/pl_999', 400, 'INVALID_FIELD', 'payoutLinkId'],
    ['/bills/REF-99999', 404, 'BILL_NOT_FOUND', 'uniqueReferenceIdentifier'],
    ['/bills/a.b.c', 400, 'INVALID_BILL_REFERENCE', 'uniqueReferenceIdentifier'],
    ['/bills/REF%2F99999', 404, 'ROUTE_NOT_FOUND', null],
  ] as const
  const seen = []
  for (const [path] of cases) {
    const { status, body } = await client.control('GET', path)
    seen.push([path, status, body.code, body.field])
  }
  t.same(seen, cases)
})
