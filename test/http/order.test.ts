import t from 'tap'
import { bill, build, call, collection, connect, mandate, requestToken } from '../helper.js'
import { refused, stock } from './raw.js'

// decisions §1: route 404 → 405 with `Allow` → bearer token 401 → `x-region` 400 → 413 / 415 → path 400 → query 400 →
// body 400 → record 404 → state 409. Each test has the faults of two neighbours, and where it can all later ones.

const TOO_LARGE = Buffer.alloc(1024 * 1024 + 1, 0x20)
const PDF = '%PDF-1.7\n'
const upload = (content: string) =>
  `--b\r\ncontent-disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n${content}\r\n--b--\r\n`
const MULTIPART = { 'content-type': 'multipart/form-data; boundary=b' }

t.test('decisions §1: an unknown path is 404 before its method, token, region, type, query or body count', async t => {
  const app = build(t)
  for (const method of ['GET', 'PUT', 'POST', 'PATCH', 'DELETE', 'PROPFIND']) {
    const answer = await call(app, method, '/api/v1/nowhere?limit=&limit=', {
      body: '{',
      headers: { 'content-type': 'text/plain', 'x-region': 'XX' },
    })
    refused(t, answer, 404, 'ROUTE_NOT_FOUND', null, method)
    t.equal(answer.headers.allow, undefined)
    t.equal(answer.headers['www-authenticate'], undefined)
  }
})

t.test('decisions §1: a wrong method is 405 before token, region, body size, type, path, query and body', async t => {
  const app = build(t)
  const answer = await call(app, 'PUT', '/api/v1/mandates/!?a=%zz', { body: TOO_LARGE, region: 'XX' })
  refused(t, answer, 405, 'METHOD_NOT_ALLOWED', null)
  t.equal(answer.headers['www-authenticate'], undefined)
})

t.test('decisions §1: a missing token is 401 before region, body size, type, path, query, body and record', async t => {
  const app = build(t)
  for (const region of [null, 'XX', 'GB']) {
    refused(t, await call(app, 'GET', '/api/v1/mandates/!?a=%zz', { region }), 401, 'MISSING_TOKEN', 'authorization')
    refused(t, await call(app, 'GET', '/api/v1/mandates?limit=', { region }), 401, 'MISSING_TOKEN', 'authorization')
    const large = await call(app, 'POST', '/api/v1/mandates', { region, body: TOO_LARGE })
    refused(t, large, 401, 'MISSING_TOKEN', 'authorization')
  }
})

t.test('decisions §1: a wrong token is 401 before the region', async t => {
  const app = build(t)
  const headers = { authorization: 'Bearer nonsense' }
  refused(t, await call(app, 'GET', '/api/v1/mandates', { headers }), 401, 'INVALID_TOKEN', 'authorization')
  const answer = await call(app, 'GET', '/api/v1/mandates', { headers, region: 'XX' })
  refused(t, answer, 401, 'INVALID_TOKEN', 'authorization')
})

t.test('decisions §1: an expired token is 401 before the region', async t => {
  const client = await connect(build(t))
  await client.control('POST', '/clock/advance', { by: 'PT2H' })
  refused(t, await client.get('/api/v1/mandates', { region: 'XX' }), 401, 'EXPIRED_TOKEN', 'authorization')
})

t.test('decisions §1: a wrong region is 400 before body size, media type, path, query and body', async t => {
  const client = await connect(build(t))
  const text = { 'content-type': 'text/plain' }
  const missing = await client.post('/api/v1/mandates', TOO_LARGE, { region: null })
  refused(t, missing, 400, 'MISSING_FIELD', 'x-region', 'too large')
  const wrong = await client.post('/api/v1/mandates', 'text', { region: 'US', headers: text })
  refused(t, wrong, 400, 'INVALID_REGION', 'x-region', 'media type')
  refused(t, await client.get('/api/v1/mandates/!', { region: 'US' }), 400, 'INVALID_REGION', 'x-region', 'path')
  refused(t, await client.get('/api/v1/mandates?limit=', { region: 'US' }), 400, 'INVALID_REGION', 'x-region', 'query')
  refused(t, await client.post('/api/v1/mandates', '{', { region: 'US' }), 400, 'INVALID_REGION', 'x-region', 'body')
  const unknown = await client.get('/api/v1/mandates/UNKNOWN', { region: 'US' })
  refused(t, unknown, 400, 'INVALID_REGION', 'x-region', 'record')
})

t.test('decisions §1: a body that is too large is 413 before path, query and record', async t => {
  const client = await connect(build(t))
  refused(t, await client.patch('/api/v1/bills/!?a=%zz', TOO_LARGE), 413, 'PAYLOAD_TOO_LARGE', null)
  refused(t, await client.patch('/api/v1/bills/UNKNOWN', TOO_LARGE), 413, 'PAYLOAD_TOO_LARGE', null)
  refused(t, await client.patch('/api/v1/payout-links/!/cancel', TOO_LARGE), 413, 'PAYLOAD_TOO_LARGE', null)
})

t.test('decisions §1: a wrong media type is 415 before path, query, body and record', async t => {
  const client = await connect(build(t))
  const headers = { 'content-type': 'text/plain' }
  for (const url of ['/api/v1/bills/!', '/api/v1/bills/!?a=%zz', '/api/v1/bills/UNKNOWN']) {
    refused(t, await client.patch(url, '{', { headers }), 415, 'UNSUPPORTED_MEDIA_TYPE', 'content-type', url)
  }
})

t.test('decisions §1: a document of another type or size is refused before path and record', async t => {
  const client = await connect(build(t))
  const post = (reference: string, body: string) =>
    client.post(`/api/v1/bills/${reference}/document`, body, { headers: MULTIPART })
  refused(t, await post('!', upload('GIF89a')), 415, 'UNSUPPORTED_MEDIA_TYPE', 'file', 'type before path')
  refused(t, await post('UNKNOWN', upload('GIF89a')), 415, 'UNSUPPORTED_MEDIA_TYPE', 'file', 'type before record')
  const large = upload(PDF + 'x'.repeat(10 * 1024 * 1024))
  refused(t, await post('!', large), 413, 'PAYLOAD_TOO_LARGE', 'file', 'size before path')
})

t.test('decisions §1: a wrong path value is 400 before query, body and record', async t => {
  const client = await connect(build(t))
  refused(t, await client.get('/api/v1/mandates/!?a=%zz'), 400, 'INVALID_FIELD', 'mandateReference', 'query')
  refused(t, await client.patch('/api/v1/bills/!', '{'), 400, 'INVALID_BILL_REFERENCE', 'uniqueReferenceIdentifier')
  refused(t, await client.patch('/api/v1/payout-links/!/cancel', {}), 400, 'INVALID_FIELD', 'payoutLinkId', 'body')
  const patched = await client.patch('/api/v1/counterparties/!', { remarks: 1 })
  refused(t, patched, 400, 'INVALID_FIELD', 'counterpartyReference', 'body')
  const uploaded = await client.post('/api/v1/bills/!/document', upload(''), { headers: MULTIPART })
  refused(t, uploaded, 400, 'INVALID_BILL_REFERENCE', 'uniqueReferenceIdentifier', 'empty document')
  const moved = await call(client.app, 'POST', '/_sandbox/direct-debit/!/settle?client=a&client=b')
  refused(t, moved, 400, 'INVALID_FIELD', 'collectionReference', 'control plane')
})

t.test('decisions §1: a wrong query is 400 before the body', async t => {
  const client = await connect(build(t))
  refused(t, await client.post('/api/v1/mandates?a=%zz', {}), 400, 'MALFORMED_REQUEST', null)
  const advanced = await call(client.app, 'POST', '/_sandbox/clock/advance?client=a&client=b', { body: '{' })
  refused(t, advanced, 400, 'MALFORMED_REQUEST', 'client')
})

t.test('decisions §1: a wrong query is 400 before the record', async t => {
  const app = build(t)
  const answer = await call(app, 'GET', '/_sandbox/mandates/UNKNOWN?client=sandbox-client&client=sandbox-client')
  refused(t, answer, 400, 'MALFORMED_REQUEST', 'client')
})

t.test('decisions §1: a wrong body is 400 before the record', async t => {
  const client = await connect(build(t))
  refused(t, await client.patch('/api/v1/bills/UNKNOWN', { status: 1 }), 400, 'INVALID_FIELD', 'status')
  refused(t, await client.patch('/api/v1/payout-links/UNKNOWN/cancel', {}), 400, 'MISSING_FIELD', 'cancellationComment')
  refused(t, await client.patch('/api/v1/counterparties/UNKNOWN', { remarks: '' }), 400, 'INVALID_FIELD', 'remarks')
  refused(t, await client.post('/api/v1/direct-debit', collection({ amount: '01' })), 400, 'INVALID_FIELD', 'amount')
  const uploaded = await client.post('/api/v1/bills/UNKNOWN/document', upload(''), { headers: MULTIPART })
  refused(t, uploaded, 400, 'MISSING_FIELD', 'file')
  const claimed = await client.control('POST', '/payout-links/UNKNOWN/claim', { accountHolderName: 1 })
  t.equal(claimed.status, 400)
})

t.test('decisions §1: a wrong body is 400 before the state', async t => {
  const client = await connect(build(t))
  const payoutLinkId = await stock(client)
  await client.patch('/api/v1/bills/INV-2026-001', { status: 'CANCELLED' })
  await client.patch(`/api/v1/payout-links/${payoutLinkId}/cancel`, { cancellationComment: 'wrong' })
  refused(t, await client.patch('/api/v1/bills/INV-2026-001', { dueDate: 'x' }), 400, 'INVALID_FIELD', 'dueDate')
  const cancelled = await client.patch(`/api/v1/payout-links/${payoutLinkId}/cancel`, { cancellationComment: 1 })
  refused(t, cancelled, 400, 'INVALID_FIELD', 'cancellationComment')
  refused(t, await client.post('/api/v1/mandates', mandate({ type: 'X' })), 400, 'INVALID_FIELD', 'type', 'duplicate')
  const created = await client.post('/api/v1/bills', bill({ type: 'X' }))
  refused(t, created, 400, 'INVALID_FIELD', 'type', 'duplicate bill')
  const document = await client.post('/api/v1/bills/INV-2026-001/document', upload(''), { headers: MULTIPART })
  refused(t, document, 400, 'MISSING_FIELD', 'file', 'document of a cancelled bill')
})

t.test('decisions §1, §4: a record of another region is 404, whatever its state', async t => {
  const client = await connect(build(t))
  await stock(client)
  await client.patch('/api/v1/bills/INV-2026-001', { status: 'CANCELLED' })
  const here = await client.patch('/api/v1/bills/INV-2026-001', { dueDate: '2026-12-02' })
  refused(t, here, 409, 'BILL_CANCELLED', 'uniqueReferenceIdentifier')
  const there = await client.patch('/api/v1/bills/INV-2026-001', { dueDate: '2026-12-02' }, { region: 'US' })
  refused(t, there, 404, 'BILL_NOT_FOUND', 'uniqueReferenceIdentifier')
  const options = { headers: MULTIPART }
  const document = await client.post('/api/v1/bills/INV-2026-001/document', upload(PDF), options)
  refused(t, document, 409, 'BILL_CANCELLED', 'uniqueReferenceIdentifier')
  const other = await client.post('/api/v1/bills/INV-2026-001/document', upload(PDF), { ...options, region: 'US' })
  refused(t, other, 404, 'BILL_NOT_FOUND', 'uniqueReferenceIdentifier')
})

t.test('decisions §1: on the token endpoint, too, 405 comes before 415, 415 before the form', async t => {
  const app = build(t)
  refused(t, await call(app, 'PUT', '/api/v1/oauth/token', { body: 'x' }), 405, 'METHOD_NOT_ALLOWED', null)
  const json = await call(app, 'POST', '/api/v1/oauth/token?a=%zz', { body: {} })
  t.same([json.status, json.body.code, json.body.field], [415, 'UNSUPPORTED_MEDIA_TYPE', 'content-type'])
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const query = await call(app, 'POST', '/api/v1/oauth/token?a=%zz', { body: 'client_id=', headers })
  t.same([query.status, query.body.code, query.body.field], [400, 'MALFORMED_REQUEST', null])
  const grant = await requestToken(app, { client_id: '!', grant_type: 'password' })
  t.same([grant.status, grant.body.code], [400, 'UNSUPPORTED_GRANT_TYPE'], 'body before client')
})

t.test(
  'decisions §1: a path with bad percent-encoding is judged as a path value is: after 404, 401 and region',
  async t => {
    const client = await connect(build(t))
    refused(t, await client.get('/api/v1/mandates/%zz'), 400, 'MALFORMED_REQUEST', null)
    refused(t, await client.get('/nowhere/%zz'), 404, 'ROUTE_NOT_FOUND', null, 'no such path')
    refused(t, await call(client.app, 'GET', '/api/v1/mandates/%zz'), 401, 'MISSING_TOKEN', 'authorization', 'no token')
    refused(t, await client.get('/api/v1/mandates/%zz', { region: 'US' }), 400, 'INVALID_REGION', 'x-region', 'region')
  },
)
