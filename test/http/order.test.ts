import t from 'tap'
import { each, gist, holds, missing, table, WRONG_REGION } from '../answers.js'
import { bill, build, call, collection, mandate, newClient } from '../helper.js'
import { sendLine, stock } from './raw.js'

// decisions §1: 404 and 405, then 401, then the region, then everything in path, query and body, then the record's
// 404, then 409. Each request here has a fault of one step and faults of all later steps.

const TOO_LARGE = Buffer.alloc(1024 * 1024 + 1, 0x20)
const bodies = [TOO_LARGE, '{', '{}', '[]']
const lines = [
  'PATCH /api/v1/bills/!?a=%zz',
  'PATCH /api/v1/bills/UNKNOWN',
  'POST /api/v1/mandates?x=1',
  'GET /api/v1/mandates/%zz',
]

t.test('decisions §1: 404 and 405 come before token, region, type, query and body', async t => {
  const app = build(t)
  for (const body of bodies) {
    const options = { body, headers: { 'content-type': 'text/plain', 'x-region': 'XX' } }
    const send = (line: string) => call(app, line.split(' ')[0] as string, line.split(' ')[1] as string, options)
    const unknown = ['GET', 'PUT', 'POST', 'PATCH', 'DELETE'].map(method => `${method} /api/v1/nowhere?limit=&limit=`)
    await holds(
      t,
      [
        ...each(unknown, '404 ROUTE_NOT_FOUND null'),
        ['PUT /api/v1/mandates/!?a=%zz', '405 METHOD_NOT_ALLOWED null'],
        ['PUT /api/v1/oauth/token', '405 METHOD_NOT_ALLOWED null'],
      ],
      send,
    )
  }
})

t.test('decisions §1: 401 comes before the region, the region before path, query and body', async t => {
  const client = await newClient()
  for (const body of bodies) {
    for (const region of [null, 'XX']) {
      const headers = { 'content-type': 'text/plain' }
      const none = { body, region, headers: { ...headers, authorization: '' } }
      await holds(t, each(lines, '401 MISSING_TOKEN authorization'), sendLine(client, none))
      const bad = { body, region, headers: { ...headers, authorization: 'Bearer x' } }
      await holds(t, each(lines, '401 INVALID_TOKEN authorization'), sendLine(client, bad))
      const wrong = region === null ? missing('x-region') : WRONG_REGION
      await holds(t, each(lines, wrong), sendLine(client, { body, region, headers }))
    }
  }
  await client.control('POST', '/clock/advance', { by: 'PT2H' })
  await holds(t, each(lines, '401 EXPIRED_TOKEN authorization'), sendLine(client, { body: '{', region: 'XX' }))
})

t.test('decisions §1: path, query and body come before the record', async t => {
  const client = await newClient()
  const bill = 'PATCH /api/v1/bills/UNKNOWN'
  await table(t, sendLine(client, { body: { status: 1, remarks: '' } }), {
    '400 INVALID_FIELD status': [bill, 'POST /_sandbox/payout-links/UNKNOWN/claim'],
    '400 MALFORMED_REQUEST null': [`${bill}?a=%zz`],
    '400 MISSING_FIELD cancellationComment': ['PATCH /api/v1/payout-links/UNKNOWN/cancel'],
    '400 INVALID_FIELD remarks': ['PATCH /api/v1/counterparties/UNKNOWN'],
  })
  t.equal(gist(await sendLine(client, { body: TOO_LARGE })(bill)), '413 PAYLOAD_TOO_LARGE null')
  const text = { body: '{', headers: { 'content-type': 'text/plain' } }
  t.equal(gist(await sendLine(client, text)(bill)), '415 UNSUPPORTED_MEDIA_TYPE content-type')
  t.equal(gist(await client.post('/api/v1/direct-debit', collection({ amount: '01' }))), '400 INVALID_FIELD amount')
})

t.test("decisions §1, §4: path, query and body, then the record's 404, come before 409", async t => {
  const client = await newClient()
  const link = await stock(client)
  await client.patch('/api/v1/bills/INV-2026-001', { status: 'CANCELLED' })
  await client.patch(`/api/v1/payout-links/${link}/cancel`, { cancellationComment: 'wrong' })
  const lines = ['PATCH /api/v1/bills/INV-2026-001', `PATCH /api/v1/payout-links/${link}/cancel`]
  const right = { dueDate: '2026-12-02', cancellationComment: 'x' }
  for (const [options, ...expected] of [
    [
      { body: { dueDate: 1, cancellationComment: 1 } },
      '400 INVALID_FIELD dueDate',
      '400 INVALID_FIELD cancellationComment',
    ],
    [
      { body: right, region: 'US' },
      '404 BILL_NOT_FOUND uniqueReferenceIdentifier',
      '404 PAYOUT_LINK_NOT_FOUND payoutLinkId',
    ],
    [{ body: right }, '409 BILL_CANCELLED uniqueReferenceIdentifier', '409 PAYOUT_LINK_NOT_CANCELLABLE payoutLinkId'],
  ] as const) {
    for (const [at, line] of lines.entries()) t.equal(gist(await sendLine(client, options)(line)), expected[at])
  }
  const duplicate = { ...bill({ type: 'X' }), ...mandate({ type: 'X' }) }
  await table(t, sendLine(client, { body: duplicate }), {
    '400 INVALID_FIELD type': ['POST /api/v1/bills', 'POST /api/v1/mandates'],
  })
})
