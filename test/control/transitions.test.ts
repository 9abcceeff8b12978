import t, { type Test } from 'tap'
import type { Answer, Client } from '../helper.js'
import { build, collection, connect, MONDAY, mandate, payoutLink } from '../helper.js'

function refused(t: Test, answer: Answer, status: number, code: string, field: string | null) {
  t.same([answer.status, answer.body.code, answer.body.field], [status, code, field], answer.body.message)
  t.same(Object.keys(answer.body), ['code', 'field', 'message'])
}

const seed = async (client: Client, records: object) => {
  const answer = await client.control('POST', '/seed', { records })
  if (answer.status !== 200) throw new Error(answer.body.message)
}

/** A tenant with the mandate MND-0001 and the collection COL-0001 in some state; D is 2026-11-09, a Monday. */
async function withCollection(t: Test, status: string, changes: object = {}) {
  const client = await connect(build(t))
  await seed(client, { mandates: [mandate()], collections: [collection({ status, ...changes })] })
  return client
}

async function withLink(t: Test, status: string, changes: object = {}) {
  const client = await connect(build(t))
  await seed(client, { payoutLinks: [payoutLink({ payoutLinkId: 'pl_00001', status, ...changes })] })
  return client
}

const move = (client: Client, verb: string, body?: object) =>
  client.control('POST', `/direct-debit/COL-0001/${verb}`, body)

// ----------------------------------------------------------------------------------------------------- collections

/** Decisions §6: from → verb → to. */
const collectionMoves: Record<string, Record<string, string>> = {
  PENDING: { submit: 'SUBMITTED', fail: 'FAILED', cancel: 'CANCELLED' },
  SUBMITTED: { process: 'PROCESSING', reject: 'REJECTED' },
  PROCESSING: { settle: 'SETTLED', fail: 'FAILED', reject: 'REJECTED' },
  SETTLED: { return: 'RETURNED' },
  FAILED: {},
  CANCELLED: {},
  RETURNED: {},
  REJECTED: {},
}
const COLLECTION_VERBS = ['submit', 'process', 'settle', 'fail', 'reject', 'return', 'cancel']

t.test('control plane, POST /direct-debit/…/{verb}: one legal transition now, else ILLEGAL_TRANSITION', async t => {
  for (const [from, moves] of Object.entries(collectionMoves)) {
    t.test(from, async t => {
      const client = await connect(build(t))
      await seed(client, {
        mandates: [mandate()],
        collections: COLLECTION_VERBS.map(verb => collection({ collectionReference: `COL-${verb}`, status: from })),
      })
      for (const verb of COLLECTION_VERBS) {
        const answer = await client.control('POST', `/direct-debit/COL-${verb}/${verb}`)
        const { body: after } = await client.get(`/api/v1/direct-debit/COL-${verb}`)
        const to = moves[verb]
        if (to !== undefined) {
          t.equal(answer.status, 200, `${verb} is legal`)
          t.match(answer.body.record, { status: to, updatedAt: MONDAY })
          t.match(answer.body.timeline.at(-1), { at: MONDAY, kind: 'collection', from, to, cause: 'control' })
          t.equal(after.status, to)
          t.equal('reasonCode' in after, ['REJECTED', 'RETURNED', 'FAILED'].includes(to), 'reasonCode with these three')
        } else {
          refused(t, answer, 409, 'ILLEGAL_TRANSITION', null)
          t.match(answer.body.message, from)
          for (const legal of Object.keys(moves))
            t.match(answer.body.message, legal, 'the message names the legal ones')
          t.equal(after.status, from)
        }
      }
    })
  }
})

t.test('control plane, POST /direct-debit/…/{verb}: the whole way by hand', async t => {
  const client = await connect(build(t))
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/direct-debit', collection())
  for (const verb of ['submit', 'process', 'settle', 'return']) t.equal((await move(client, verb)).status, 200, verb)
  const { body } = await client.control('GET', '/direct-debit/COL-0001')
  t.same(
    body.timeline.map(({ from, to, cause }: Record<string, string>) => [from, to, cause]),
    [
      [null, 'PENDING', 'api'],
      ['PENDING', 'SUBMITTED', 'control'],
      ['SUBMITTED', 'PROCESSING', 'control'],
      ['PROCESSING', 'SETTLED', 'control'],
      ['SETTLED', 'RETURNED', 'control'],
    ],
  )
  t.same((await client.advance({ by: 'P30D' })).body.transitions, [], 'and nothing happens again by itself')
})

t.test('control plane, POST /direct-debit/…/{verb}: after a move by hand, time goes on from there', async t => {
  const client = await withCollection(t, 'PENDING')
  await move(client, 'submit')
  const { transitions } = (await client.advance({ by: 'P14D' })).body
  t.same(
    transitions.map(({ at, to }: { at: string; to: string }) => [at, to]),
    [
      ['2026-11-06T08:00:00Z', 'PROCESSING'],
      ['2026-11-09T13:00:00Z', 'SETTLED'],
    ],
  )
})

/** Decisions §6. */
const CLEARING = ['FF01', 'AC01', 'RC01', 'AG02', 'BE05', 'AM05', 'MD02', 'CNOR', 'DNOR']
const BANK = ['AC04', 'AC06', 'AG01', 'AM04', 'MD01', 'MD07', 'MS02', 'MS03', 'RR01', 'RR02', 'RR03', 'RR04', 'SL01']
const RETURN = ['AC04', 'AC06', 'AG01', 'AM04', 'MD07', 'MS02', 'MS03', 'SL01']
const REFUND = ['MD06', 'MD01']
const ALL = [...new Set([...CLEARING, ...BANK, ...RETURN, ...REFUND])]

const phases: [from: string, verb: string, to: string, legal: readonly string[], illegal: readonly string[]][] = [
  ['SUBMITTED', 'reject', 'REJECTED', CLEARING, ALL.filter(code => !CLEARING.includes(code))],
  ['PROCESSING', 'reject', 'REJECTED', BANK, ALL.filter(code => !BANK.includes(code))],
  // The list of returns ends with an ellipsis, so only clearing codes are surely none.
  ['SETTLED', 'return', 'RETURNED', [...RETURN, ...REFUND], CLEARING],
]

t.test('decisions §6: each reason code in its phase, and in no other', async t => {
  for (const [from, verb, to, legal, illegal] of phases) {
    t.test(`${from} → ${to}`, async t => {
      const client = await connect(build(t))
      await seed(client, {
        mandates: [mandate()],
        collections: [...legal, ...illegal].map(code =>
          collection({ collectionReference: `COL-${code}`, status: from }),
        ),
      })
      for (const reasonCode of legal) {
        const answer = await client.control('POST', `/direct-debit/COL-${reasonCode}/${verb}`, { reasonCode })
        t.equal(answer.status, 200, `${reasonCode} ${answer.body.message ?? ''}`)
        t.match(answer.body.record, { status: to, reasonCode })
        t.match(answer.body.timeline.at(-1), { from, to, reasonCode })
        t.equal((await client.get(`/api/v1/direct-debit/COL-${reasonCode}`)).body.reasonCode, reasonCode)
      }
      for (const reasonCode of illegal) {
        const answer = await client.control('POST', `/direct-debit/COL-${reasonCode}/${verb}`, { reasonCode })
        refused(t, answer, 409, 'ILLEGAL_TRANSITION', 'reasonCode')
        t.match(answer.body.message, reasonCode)
        t.equal((await client.get(`/api/v1/direct-debit/COL-${reasonCode}`)).body.status, from)
      }
    })
  }
})

t.test('decisions §6: AC13 belongs to the B2B scheme and is refused', async t => {
  const client = await withCollection(t, 'PROCESSING')
  const answer = await move(client, 'reject', { reasonCode: 'AC13' })
  refused(t, answer, 400, 'INVALID_FIELD', 'reasonCode')
  t.match(answer.body.message, 'B2B')
})

t.test('decisions §6: a code that is none is refused', async t => {
  const client = await withCollection(t, 'PROCESSING')
  for (const reasonCode of ['ZZ99', 'AC99', 'ac04', 'AC04 ', '', 'A', 1, null, ['AC04']])
    refused(t, await move(client, 'reject', { reasonCode }), 400, 'INVALID_FIELD', 'reasonCode')
  t.equal((await client.get('/api/v1/direct-debit/COL-0001')).body.status, 'PROCESSING')
})

t.test('decisions §1: a wrong reason code (400) comes before the record (404) and its state (409)', async t => {
  const client = await withCollection(t, 'SETTLED')
  for (const reasonCode of ['AC13', 'ZZ99']) {
    refused(t, await move(client, 'reject', { reasonCode }), 400, 'INVALID_FIELD', 'reasonCode')
    const unknown = await client.control('POST', '/direct-debit/COL-9999/reject', { reasonCode })
    refused(t, unknown, 400, 'INVALID_FIELD', 'reasonCode')
  }
})

t.test('decisions §6: a known code with a verb that carries none is 409 ILLEGAL_TRANSITION', async t => {
  for (const [status, verb] of [
    ['PENDING', 'submit'],
    ['PENDING', 'cancel'],
    ['SUBMITTED', 'process'],
    ['PROCESSING', 'settle'],
  ] as const) {
    const client = await withCollection(t, status)
    refused(t, await move(client, verb, { reasonCode: 'AM04' }), 409, 'ILLEGAL_TRANSITION', 'reasonCode')
    t.equal((await client.get('/api/v1/direct-debit/COL-0001')).body.status, status)
  }
})

t.test('decisions §6: without a code, one that is legal is taken', async t => {
  for (const [status, verb, legal] of [
    ['SUBMITTED', 'reject', CLEARING],
    ['PROCESSING', 'reject', BANK],
    ['SETTLED', 'return', RETURN],
  ] as const) {
    const client = await withCollection(t, status)
    const { reasonCode } = (await move(client, verb)).body.record
    t.ok(legal.includes(reasonCode as never), `${verb}: ${reasonCode}`)
  }
})

/** The last second in which a return of D = 2026-11-09 is legal, and a code of its group (decisions §6). */
const windows: [code: string, last: string, after: string, what: string][] = [
  ['AM04', '2026-11-16T22:59:59Z', '2026-11-16T23:00:00Z', 'return by the bank up to D+5 open days'],
  ['MD06', '2027-01-04T22:59:59Z', '2027-01-04T23:00:00Z', 'refund up to 56 days'],
  ['MD01', '2027-12-09T22:59:59Z', '2027-12-09T23:00:00Z', 'unauthorised refund up to 13 months'],
]

t.test('decisions §6: returns have their windows, in Berlin time', async t => {
  for (const [reasonCode, last, after, what] of windows) {
    t.test(what, async t => {
      const client = await withCollection(t, 'SETTLED')
      await client.advance({ to: last })
      t.equal((await move(client, 'return', { reasonCode })).body.record?.status, 'RETURNED', 'still legal')

      const late = await withCollection(t, 'SETTLED')
      await late.advance({ to: after })
      const answer = await move(late, 'return', { reasonCode })
      refused(t, answer, 409, 'ILLEGAL_TRANSITION', 'reasonCode')
      t.match(answer.body.message, last, 'the message says until when it was')
    })
  }
})

t.test('decisions §6: without a code, a return takes one whose window is open', async t => {
  for (const [to, legal] of [
    ['2026-11-20T00:00:00Z', ['MD06', 'MD01']],
    ['2027-02-01T00:00:00Z', ['MD01']],
  ] as const) {
    const client = await withCollection(t, 'SETTLED')
    await client.advance({ to })
    const answer = await move(client, 'return')
    t.equal(answer.status, 200)
    t.ok(legal.includes(answer.body.record.reasonCode as never), answer.body.record.reasonCode)
  }
})

t.test('decisions §6: when all windows are closed, nothing is returned any more', async t => {
  const client = await withCollection(t, 'SETTLED')
  await client.advance({ to: '2028-01-01T00:00:00Z' })
  const answer = await move(client, 'return')
  t.equal(answer.status, 409)
  t.equal(answer.body.code, 'ILLEGAL_TRANSITION')
  t.same((await client.control('GET', '/direct-debit/COL-0001')).body.legal, [])
  t.equal((await move(client, 'return', { reasonCode: 'AC01' })).body.code, 'ILLEGAL_TRANSITION')
})

t.test('control plane, POST /direct-debit/…/{verb}: path errors', async t => {
  const client = await withCollection(t, 'PENDING')
  const post = (reference: string) => client.control('POST', `/direct-debit/${reference}/submit`)
  refused(t, await post('COL-9999'), 404, 'COLLECTION_NOT_FOUND', 'collectionReference')
  for (const wrong of ['abcd', 'a_bcd', 'a'.repeat(51), 'a'.repeat(1000), 'COL%200001'])
    refused(t, await post(wrong), 400, 'INVALID_FIELD', 'collectionReference')
  for (const other of ['COL%2F0001', 'COL/0001']) refused(t, await post(other), 404, 'ROUTE_NOT_FOUND', null)
  refused(t, await client.control('POST', '/direct-debit/COL-0001/explode'), 404, 'ROUTE_NOT_FOUND', null)
})

t.test('control plane, POST /direct-debit/…/{verb}: body errors', async t => {
  const client = await withCollection(t, 'SUBMITTED')
  refused(t, await client.control('POST', '/direct-debit/COL-0001/reject', '{'), 400, 'MALFORMED_REQUEST', null)
  refused(t, await client.control('POST', '/direct-debit/COL-0001/reject', '[]'), 400, 'INVALID_FIELD', null)
  const answer = await move(client, 'reject', { reasoncode: 'AM04' })
  t.equal(answer.status, 200)
  t.match(answer.headers['sandbox-hint'], 'reasoncode', 'an unknown member is told by a hint')
})

// -------------------------------------------------------------------------------------------------------- mandates

/** Decisions §7, as far as it names the moves. */
const mandateMoves: [from: string, verb: string, to: string | undefined][] = [
  ['PENDING', 'activate', 'ACTIVE'],
  ['PENDING', 'fail', 'FAILED'],
  ['ACTIVE', 'cancel', 'CANCELLED'],
  ['ACTIVE', 'expire', 'EXPIRED'],
  ['ACTIVE', 'activate', undefined],
  ...(['CANCELLED', 'EXPIRED', 'FAILED'] as const).flatMap(from =>
    (['activate', 'fail', 'cancel', 'expire'] as const).map((verb): [string, string, undefined] => [
      from,
      verb,
      undefined,
    ]),
  ),
]

t.test('control plane, POST /mandates/…/{verb}: one legal transition now, else ILLEGAL_TRANSITION', async t => {
  const client = await connect(build(t))
  for (const [from, verb, to] of mandateMoves) {
    const mandateReference = `MND-${from}-${verb}`
    await seed(client, { mandates: [mandate({ mandateReference, status: from })] })
    const answer = await client.control('POST', `/mandates/${mandateReference}/${verb}`)
    const after = (await client.get(`/api/v1/mandates/${mandateReference}`)).body
    if (to !== undefined) {
      t.equal(answer.status, 200, `${from}, ${verb}`)
      t.match(answer.body.record, { mandateReference, status: to, updatedAt: MONDAY })
      t.match(answer.body.timeline.at(-1), { at: MONDAY, kind: 'mandate', from, to, cause: 'control' })
      t.equal(after.status, to)
    } else {
      refused(t, answer, 409, 'ILLEGAL_TRANSITION', null)
      t.match(answer.body.message, from)
      t.equal(after.status, from)
    }
  }
})

t.test('control plane, POST /mandates/…/{verb}: the message names the legal ones', async t => {
  const client = await connect(build(t))
  await seed(client, { mandates: [mandate({ status: 'PENDING' })] })
  const { message } = (await client.control('POST', '/mandates/MND-0001/expire')).body
  t.match(message, 'activate')
  t.match(message, 'fail')
})

t.test('decisions §7: cancelled by the control plane, too, a mandate takes its PENDING collections along', async t => {
  const client = await connect(build(t))
  await seed(client, {
    mandates: [mandate()],
    collections: [
      collection(),
      collection({ collectionReference: 'COL-0002', status: 'SUBMITTED' }),
      collection({ collectionReference: 'COL-0003' }),
    ],
  })
  await client.control('POST', '/mandates/MND-0001/cancel')
  const statusOf = async (reference: string) => (await client.get(`/api/v1/direct-debit/${reference}`)).body.status
  t.equal(await statusOf('COL-0001'), 'CANCELLED')
  t.equal(await statusOf('COL-0002'), 'SUBMITTED')
  t.equal(await statusOf('COL-0003'), 'CANCELLED')
})

t.test('decisions §6: under a mandate that is no longer active, a collection FAILS at its submission', async t => {
  const client = await withCollection(t, 'PENDING')
  await client.control('POST', '/mandates/MND-0001/expire')
  t.equal((await client.get('/api/v1/direct-debit/COL-0001')).body.status, 'PENDING')
  const { transitions } = (await client.advance({ by: 'P14D' })).body
  t.match(transitions, [{ at: '2026-11-05T15:00:00Z', reference: 'COL-0001', from: 'PENDING', to: 'FAILED' }])
  t.equal(transitions.length, 1)
})

t.test('control plane, POST /mandates/…/{verb}: path errors', async t => {
  const client = await connect(build(t))
  const post = (reference: string) => client.control('POST', `/mandates/${reference}/cancel`)
  refused(t, await post('MND-9999'), 404, 'MANDATE_NOT_FOUND', 'mandateReference')
  refused(t, await post('M_D-0001'), 400, 'INVALID_FIELD', 'mandateReference')
  refused(t, await post('MND%2f0001'), 404, 'ROUTE_NOT_FOUND', null)
})

// ----------------------------------------------------------------------------------------------------- payout links

/** Decisions §8. */
const linkMoves: Record<string, Record<string, string>> = {
  ACTIVE: { claim: 'CLAIMED', decline: 'REJECTED', expire: 'EXPIRED' },
  CLAIMED: { process: 'PROCESSING' },
  PROCESSING: { pay: 'PAID', fail: 'FAILED' },
  PAID: {},
  FAILED: {},
  CANCELLED: {},
  EXPIRED: {},
  REJECTED: {},
}
const LINK_VERBS = ['claim', 'decline', 'process', 'pay', 'fail', 'expire']
const claim = { accountHolderName: 'Jane Doe', accountIdentifier: 'DE89370400440532013000' }

t.test('control plane, POST /payout-links/…/{verb}: one legal transition now, else ILLEGAL_TRANSITION', async t => {
  for (const [from, moves] of Object.entries(linkMoves)) {
    t.test(from, async t => {
      const client = await connect(build(t))
      await seed(client, {
        payoutLinks: LINK_VERBS.map(verb => payoutLink({ payoutLinkId: `pl_${verb}_1`, status: from })),
      })
      for (const verb of LINK_VERBS) {
        const path = `/payout-links/pl_${verb}_1`
        const answer = await client.control('POST', `${path}/${verb}`, verb === 'claim' ? claim : undefined)
        const { record } = (await client.control('GET', path)).body
        const to = moves[verb]
        if (to !== undefined) {
          t.equal(answer.status, 200, `${verb} is legal`)
          t.match(answer.body.record, { status: to, updatedAt: MONDAY })
          t.match(answer.body.timeline.at(-1), { at: MONDAY, kind: 'payoutLink', from, to, cause: 'control' })
          t.equal(record.status, to)
        } else {
          refused(t, answer, 409, 'ILLEGAL_TRANSITION', null)
          t.match(answer.body.message, from)
          for (const legal of Object.keys(moves)) t.match(answer.body.message, legal)
          t.equal(record.status, from)
          t.notOk('claim' in record, 'and nothing of the claim is stored')
        }
      }
    })
  }
})

t.test('decisions §8: a claim is stored and leads to the payment at the time of its method', async t => {
  const uk = {
    accountHolderName: 'Jane Doe',
    accountIdentifier: '12345678',
    branchIdentifier: { type: 'SORT', value: '200000' },
  }
  const us = {
    accountHolderName: 'Jane Doe',
    accountIdentifier: '1234',
    branchIdentifier: { type: 'ROUTING', value: '021000021' },
    accountType: 'SAVINGS',
  }
  const cases: [method: string, currency: string, form: object, paid: RegExp][] = [
    // Next T2 day 14:00; 10 s; next Fed day 06:00 New York; 2 UK business days; 10 s. It is Monday, 2 November.
    ['SEPA-CT', 'EUR', claim, /^2026-11-03T13:00:00Z$/],
    ['SEPA-INSTANT', 'EUR', claim, /^2026-11-02T09:00:10Z$/],
    ['US-ACH', 'USD', us, /^2026-11-03T11:00:00Z$/],
    ['UK-BACS', 'GBP', uk, /^2026-11-04T/],
    ['UK-FAST', 'GBP', uk, /^2026-11-02T09:00:10Z$/],
  ]
  for (const [payoutMethod, currency, form, paid] of cases) {
    const client = await withLink(t, 'ACTIVE', { payoutMethod, currency })
    const { body, status } = await client.control('POST', '/payout-links/pl_00001/claim', form)
    t.equal(status, 200, payoutMethod)
    t.same(body.record.claim, form)
    const { transitions } = (await client.advance({ by: 'P7D' })).body
    t.same(
      transitions.map(({ to }: { to: string }) => to),
      ['PROCESSING', 'PAID'],
    )
    t.match(transitions.at(-1).at, paid, payoutMethod)
  }
})

t.test('decisions §8: what a claim must carry, by method', async t => {
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
  const cases: [method: string, currency: string, form: object, code: string, field: string][] = [
    ['SEPA-CT', 'EUR', { ...claim, accountHolderName: undefined }, 'MISSING_FIELD', 'accountHolderName'],
    ['SEPA-CT', 'EUR', { ...claim, accountHolderName: '' }, 'MISSING_FIELD', 'accountHolderName'],
    ['SEPA-CT', 'EUR', { ...claim, accountHolderName: 'x'.repeat(141) }, 'INVALID_FIELD', 'accountHolderName'],
    ['SEPA-CT', 'EUR', { ...claim, accountIdentifier: undefined }, 'MISSING_FIELD', 'accountIdentifier'],
    ['SEPA-CT', 'EUR', { ...claim, accountIdentifier: 'DE00370400440532013000' }, 'INVALID_FIELD', 'accountIdentifier'],
    ['SEPA-INSTANT', 'EUR', { ...claim, accountIdentifier: '12345678' }, 'INVALID_FIELD', 'accountIdentifier'],
    ['US-ACH', 'USD', { ...us, accountIdentifier: '123' }, 'INVALID_FIELD', 'accountIdentifier'],
    ['US-ACH', 'USD', { ...us, accountIdentifier: '1'.repeat(18) }, 'INVALID_FIELD', 'accountIdentifier'],
    ['US-ACH', 'USD', { ...us, accountIdentifier: '12a4' }, 'INVALID_FIELD', 'accountIdentifier'],
    ['US-ACH', 'USD', { ...us, branchIdentifier: undefined }, 'MISSING_FIELD', 'branchIdentifier'],
    ['US-ACH', 'USD', { ...us, branchIdentifier: uk.branchIdentifier }, 'INVALID_FIELD', 'branchIdentifier.type'],
    [
      'US-ACH',
      'USD',
      { ...us, branchIdentifier: { type: 'ROUTING', value: '021000022' } },
      'INVALID_FIELD',
      'branchIdentifier.value',
    ],
    ['US-ACH', 'USD', { ...us, branchIdentifier: { type: 'ROUTING' } }, 'MISSING_FIELD', 'branchIdentifier.value'],
    ['US-ACH', 'USD', { ...us, accountType: undefined }, 'MISSING_FIELD', 'accountType'],
    ['US-ACH', 'USD', { ...us, accountType: 'GIRO' }, 'INVALID_FIELD', 'accountType'],
    ['UK-BACS', 'GBP', { ...uk, accountIdentifier: '1234567' }, 'INVALID_FIELD', 'accountIdentifier'],
    ['UK-BACS', 'GBP', { ...uk, accountIdentifier: '123456789' }, 'INVALID_FIELD', 'accountIdentifier'],
    ['UK-FAST', 'GBP', { ...uk, branchIdentifier: undefined }, 'MISSING_FIELD', 'branchIdentifier'],
    ['UK-FAST', 'GBP', { ...uk, branchIdentifier: us.branchIdentifier }, 'INVALID_FIELD', 'branchIdentifier.type'],
    [
      'UK-FAST',
      'GBP',
      { ...uk, branchIdentifier: { type: 'SORT', value: '20000' } },
      'INVALID_FIELD',
      'branchIdentifier.value',
    ],
  ]
  for (const [payoutMethod, currency, form, code, field] of cases) {
    const client = await withLink(t, 'ACTIVE', { payoutMethod, currency })
    refused(t, await client.control('POST', '/payout-links/pl_00001/claim', form), 400, code, field)
    t.equal((await client.control('GET', '/payout-links/pl_00001')).body.record.status, 'ACTIVE')
  }
})

t.test('decisions §1: a claim without a body is MISSING_FIELD on its first required member', async t => {
  const client = await withLink(t, 'ACTIVE')
  const answer = await client.control('POST', '/payout-links/pl_00001/claim')
  refused(t, answer, 400, 'MISSING_FIELD', 'accountHolderName')
})

t.test('decisions §8: a decline carries remarks of 1 to 256 characters', async t => {
  for (const remarks of ['x', 'x'.repeat(256), '😀'.repeat(256)]) {
    const client = await withLink(t, 'ACTIVE')
    const answer = await client.control('POST', '/payout-links/pl_00001/decline', { remarks })
    t.equal(answer.status, 200)
    t.match(answer.body.record, { status: 'REJECTED', decline: { remarks } })
  }
  const client = await withLink(t, 'ACTIVE')
  for (const remarks of ['', 'x'.repeat(257), 1, null]) {
    const answer = await client.control('POST', '/payout-links/pl_00001/decline', { remarks })
    refused(t, answer, 400, 'INVALID_FIELD', 'remarks')
  }
  t.equal((await client.control('GET', '/payout-links/pl_00001')).body.record.status, 'ACTIVE')
})

t.test('interface, Payout link: a claimed link cannot be cancelled, a declined one neither', async t => {
  const cancel = (client: Client) =>
    client.patch('/api/v1/payout-links/pl_00001/cancel', { cancellationComment: 'Changed my mind' })
  const claimed = await withLink(t, 'ACTIVE')
  await claimed.control('POST', '/payout-links/pl_00001/claim', claim)
  refused(t, await cancel(claimed), 409, 'PAYOUT_LINK_ALREADY_CLAIMED', 'payoutLinkId')
  const declined = await withLink(t, 'ACTIVE')
  await declined.control('POST', '/payout-links/pl_00001/decline')
  refused(t, await cancel(declined), 409, 'PAYOUT_LINK_NOT_CANCELLABLE', 'payoutLinkId')
})

t.test('control plane, POST /payout-links/…/{verb}: path errors', async t => {
  const client = await connect(build(t))
  for (const verb of LINK_VERBS) {
    const post = (id: string) =>
      client.control('POST', `/payout-links/${id}/${verb}`, verb === 'claim' ? claim : undefined)
    refused(t, await post('pl_99999'), 404, 'PAYOUT_LINK_NOT_FOUND', 'payoutLinkId')
    refused(t, await post('pl_999'), 400, 'INVALID_FIELD', 'payoutLinkId')
    refused(t, await post('p'.repeat(91)), 400, 'INVALID_FIELD', 'payoutLinkId')
    refused(t, await post('pl%2F00001'), 404, 'ROUTE_NOT_FOUND', null)
  }
})
