import t from 'tap'
import type { Client } from '../helper.js'
import { bill, build, call, collection, connect, mandate, payoutLink } from '../helper.js'
import { listen, open, refused, request, stateOf, stillServes, stock } from './raw.js'

const MIB = 1024 * 1024

/** Every operation that takes JSON, with the first member that it requires (decisions §6 to §10). */
const operations: [method: string, url: string, first: string | null][] = [
  ['POST', '/api/v1/direct-debit', 'collectionReference'],
  ['POST', '/api/v1/mandates', 'mandateReference'],
  ['POST', '/api/v1/payout-links', 'amount'],
  ['PATCH', '/api/v1/payout-links/pl_0000001/cancel', 'cancellationComment'],
  ['POST', '/api/v1/bills', 'uniqueReferenceIdentifier'],
  // At least one of several.
  ['PATCH', '/api/v1/bills/INV-2026-001', null],
  ['PATCH', '/api/v1/counterparties/CPTY-0001', null],
]

/** A client with a record of each kind, and the check that nothing about it has changed. */
async function prepare(t: Parameters<typeof build>[0]): Promise<{ client: Client; isUnchanged(): Promise<void> }> {
  const client = await connect(build(t))
  const payoutLinkId = await stock(client)
  const before = await stateOf(client, payoutLinkId)
  return {
    client,
    isUnchanged: async () => {
      ;(t as unknown as { same(a: unknown, b: unknown, what: string): void }).same(
        await stateOf(client, payoutLinkId),
        before,
        'the state is as before',
      )
    },
  }
}

t.test('decisions §1: no body is MISSING_FIELD on the first required member, whatever the Content-Type', async t => {
  const { client, isUnchanged } = await prepare(t)
  for (const [method, url, first] of operations) {
    for (const headers of [
      {},
      { 'content-type': 'application/json' },
      { 'content-type': 'application/json', 'content-length': '0' },
      { 'content-type': 'text/plain', 'content-length': '0' },
      { 'content-type': 'multipart/form-data; boundary=x', 'content-length': '0' },
      { 'content-length': '0' },
    ] as Record<string, string>[]) {
      const answer = await client.send(method, url, { headers })
      refused(t, answer, 400, 'MISSING_FIELD', first, `${method} ${url} ${headers['content-type']}`)
    }
  }
  const url = '/api/v1/bills/INV-2026-001/document'
  refused(t, await client.send('POST', url), 400, 'MISSING_FIELD', 'file', 'document without body')
  refused(t, await client.send('POST', url, { headers: { 'content-length': '0' } }), 400, 'MISSING_FIELD', 'file')
  const headers = { 'content-type': 'multipart/form-data; boundary=b', 'content-length': '0' }
  t.equal((await client.send('POST', url, { headers })).status, 400, 'empty multipart')
  await isUnchanged()
})

t.test(
  'decisions §1: no body is MISSING_FIELD also where the Content-Type is no media type, or no document',
  async t => {
    const { client } = await prepare(t)
    for (const type of ['nonsense', '']) {
      const headers = { 'content-type': type, 'content-length': '0' }
      for (const [method, url, first] of operations) {
        refused(t, await client.send(method, url, { headers }), 400, 'MISSING_FIELD', first, `${method} ${url} ${type}`)
      }
    }
    const headers = { 'content-type': 'text/plain', 'content-length': '0' }
    const document = await client.send('POST', '/api/v1/bills/INV-2026-001/document', { headers })
    refused(t, document, 400, 'MISSING_FIELD', 'file', 'document')
  },
)

t.test('decisions §1: an object without members is MISSING_FIELD, too', async t => {
  const { client, isUnchanged } = await prepare(t)
  for (const [method, url, first] of operations) {
    refused(t, await client.send(method, url, { body: {} }), 400, 'MISSING_FIELD', first, `${method} ${url}`)
    const padded = await client.send(method, url, { body: ' \r\n\t{ } \n' })
    refused(t, padded, 400, 'MISSING_FIELD', first, `${method} ${url} with whitespace`)
  }
  await isUnchanged()
})

t.test('decisions §1: a body that is not an object is INVALID_FIELD with field null', async t => {
  const { client, isUnchanged } = await prepare(t)
  for (const [method, url] of operations) {
    for (const body of ['null', 'true', '0', '1e999', '"text"', '[]', '[{}]', '[[]]', `"${'x'.repeat(1000)}"`]) {
      refused(t, await client.send(method, url, { body }), 400, 'INVALID_FIELD', null, `${method} ${url} ${body}`)
    }
  }
  await isUnchanged()
})

t.test('decisions §2: a body that is not JSON is MALFORMED_REQUEST with field null', async t => {
  const { client, isUnchanged } = await prepare(t)
  const whole = JSON.stringify(mandate({ mandateReference: 'MND-0002' }))
  for (const [method, url] of operations) {
    for (const body of [
      '{',
      '}',
      '{"a":1,}',
      "{'a':1}",
      '{a:1}',
      '{"a":01}',
      '{"a":NaN}',
      '{"a":undefined}',
      '{"a":1}{"b":2}',
      '{"a":1} x',
      '{"a":"\n"}',
      '{"a":"\\x41"}',
      '/* */{}',
      'undefined',
      ' ',
      '\0',
      'a=b&c=d',
      '<xml/>',
      whole.slice(0, -1),
      whole.slice(0, whole.length / 2),
    ]) {
      const answer = await client.send(method, url, { body })
      refused(t, answer, 400, 'MALFORMED_REQUEST', null, `${method} ${url} ${body}`)
    }
  }
  await isUnchanged()
})

t.test('RFC 8259 §8.1: a body that is not UTF-8, or has a byte order mark, is MALFORMED_REQUEST', async t => {
  const { client, isUnchanged } = await prepare(t)
  const text = JSON.stringify(mandate({ mandateReference: 'MND-0002' }))
  const named = (bytes: number[]) =>
    Buffer.concat([Buffer.from('{"mandateReference":"'), Buffer.from(bytes), Buffer.from('"}')])
  for (const [what, body] of [
    ['byte order mark', Buffer.from(`\ufeff${text}`)],
    ['UTF-16', Buffer.from(text, 'utf16le')],
    ['UTF-16 with mark', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['Latin-1', Buffer.from(text.replace('Jane', 'J\u00e4ne'), 'latin1')],
    ['lone continuation', named([0x80])],
    ['overlong slash', named([0xc0, 0xaf])],
    ['cut sequence', named([0xe2, 0x82])],
    ['surrogate', named([0xed, 0xa0, 0x80])],
    ['above Unicode', named([0xf4, 0x90, 0x80, 0x80])],
    ['0xff', named([0xff, 0xff])],
  ] as const) {
    refused(t, await client.post('/api/v1/mandates', body), 400, 'MALFORMED_REQUEST', null, what)
  }
  await isUnchanged()
})

t.test('interface, Endpoints: text of all of Unicode is taken as it is', async t => {
  const client = await connect(build(t))
  const name = 'Zoë 😀 \u0000\u007f\u2028 \ud83d\ude00'
  const created = await client.post('/api/v1/mandates', mandate({ debtor: { ...mandate().debtor, name } }))
  t.equal(created.status, 201)
  t.equal((await client.get('/api/v1/mandates/MND-0001')).body.debtor.name, name)
})

t.test('decisions §2: half a surrogate pair is no text: INVALID_FIELD on the member', async t => {
  const { client, isUnchanged } = await prepare(t)
  for (const lone of ['\\ud800', '\\udc00', 'a\\udfffb', '\\ud800\\ud800', '\\uDBFF']) {
    const text = JSON.stringify(mandate({ mandateReference: 'MND-0002' })).replace('Jane Doe', lone)
    refused(t, await client.post('/api/v1/mandates', text), 400, 'INVALID_FIELD', 'debtor.name', lone)
    const path = `{"cancellationComment":"${lone}"}`
    const cancelled = await client.patch('/api/v1/payout-links/pl_0000001/cancel', path)
    refused(t, cancelled, 400, 'INVALID_FIELD', 'cancellationComment', lone)
    const patched = await client.patch('/api/v1/counterparties/CPTY-0001', `{"remarks":"${lone}"}`)
    refused(t, patched, 400, 'INVALID_FIELD', 'remarks', lone)
  }
  await isUnchanged()
})

t.test('decisions §1: a wrong or missing Content-Type is 415 on content-type', async t => {
  const { client, isUnchanged } = await prepare(t)
  for (const [method, url] of operations) {
    for (const type of [
      'text/plain',
      'text/json',
      'application/xml',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/problem+json',
      'application/jsonx',
      'application/merge-patch+json',
      'json',
      'nonsense',
      '',
      ';',
      '/',
      'application/',
      'application/json, text/plain',
    ]) {
      const answer = await client.send(method, url, { body: '{}', headers: { 'content-type': type } })
      refused(t, answer, 415, 'UNSUPPORTED_MEDIA_TYPE', 'content-type', `${method} ${url} ${type}`)
      t.equal(answer.headers['accept-patch'], method === 'PATCH' ? 'application/json' : undefined, 'Accept-Patch')
    }
  }
  await isUnchanged()
})

t.test('decisions §1: without Content-Type a body is 415', async t => {
  const app = build(t)
  const { token } = await connect(app)
  const port = await listen(app)
  const connection = await open(port)
  const headers = { authorization: `Bearer ${token}`, 'x-region': 'EU' }
  for (const [method, url] of operations) {
    connection.send(request(`${method} ${url}`, headers, '{}'))
    const answer = await connection.read()
    refused(t, answer as never, 415, 'UNSUPPORTED_MEDIA_TYPE', 'content-type', `${method} ${url}`)
    t.equal(answer?.headers['accept-patch'], method === 'PATCH' ? 'application/json' : undefined, 'Accept-Patch')
  }
  connection.end()
})

t.test('RFC 9110 §8.3.1: application/json in any case and with any parameter is taken', async t => {
  for (const type of [
    'application/json',
    'APPLICATION/JSON',
    'Application/Json;charset=UTF-8',
    'application/json; charset="utf-8"',
    'application/json ; v=1',
    'application/json;odata=verbose;charset=utf-8',
  ]) {
    const client = await connect(build(t))
    const answer = await client.post('/api/v1/mandates', mandate(), { headers: { 'content-type': type } })
    t.equal(answer.status, 201, type)
  }
})

t.test('decisions §1: a body of 1 MiB is taken, one byte more is 413', async t => {
  const { client, isUnchanged } = await prepare(t)
  for (const [method, url] of operations) {
    const answer = await client.send(method, url, { body: Buffer.alloc(MIB + 1, 0x20) })
    refused(t, answer, 413, 'PAYLOAD_TOO_LARGE', null, `${method} ${url}`)
  }
  await isUnchanged()
  const text = JSON.stringify(mandate({ mandateReference: 'MND-0002' }))
  const full = await client.post('/api/v1/mandates', text + ' '.repeat(MIB - text.length))
  t.equal(full.status, 201)
})

t.test('decisions §1: over a socket a body above 1 MiB is 413, with Content-Length and in chunks', async t => {
  const app = build(t)
  const client = await connect(app)
  const port = await listen(app)
  const before = await stateOf(client)
  const headers = { authorization: `Bearer ${client.token}`, 'x-region': 'EU', 'content-type': 'application/json' }
  const text = JSON.stringify(mandate())

  const told = await open(port)
  told.send(request('POST /api/v1/mandates', headers, text + ' '.repeat(MIB + 1 - text.length)))
  refused(t, (await told.read()) as never, 413, 'PAYLOAD_TOO_LARGE', null, 'Content-Length')

  const announced = await open(port)
  announced.send(request('POST /api/v1/mandates', { ...headers, 'content-length': '99999999999' }))
  refused(t, (await announced.read()) as never, 413, 'PAYLOAD_TOO_LARGE', null, 'announced, not sent')

  const chunked = await open(port)
  chunked.send(request('POST /api/v1/mandates', { ...headers, 'transfer-encoding': 'chunked' }))
  chunked.send(`${text.length.toString(16)}\r\n${text}\r\n`)
  const chunk = ' '.repeat(64 * 1024)
  for (let sent = text.length; sent <= MIB; sent += chunk.length) chunked.send(`10000\r\n${chunk}\r\n`)
  refused(t, (await chunked.read()) as never, 413, 'PAYLOAD_TOO_LARGE', null, 'chunked')

  for (const connection of [told, announced, chunked]) connection.destroy()
  t.same(await stateOf(client), before)
  await stillServes(t, port)
})

t.test('decisions §1: over a socket a body in chunks is taken, an empty one is no body', async t => {
  const app = build(t)
  const { token } = await connect(app)
  const port = await listen(app)
  const connection = await open(port)
  const headers = { authorization: `Bearer ${token}`, 'x-region': 'EU', 'transfer-encoding': 'chunked' }
  const text = JSON.stringify(mandate())
  const chunks = [...text].map(letter => `1\r\n${letter}\r\n`).join('')
  connection.send(
    `${request('POST /api/v1/mandates', { ...headers, 'content-type': 'application/json' })}${chunks}0\r\n\r\n`,
  )
  t.equal((await connection.read())?.status, 201)
  for (const type of ['application/json', 'text/plain']) {
    connection.send(`${request('POST /api/v1/mandates', { ...headers, 'content-type': type })}0\r\n\r\n`)
    refused(t, (await connection.read()) as never, 400, 'MISSING_FIELD', 'mandateReference', type)
  }
  connection.send(`${request('POST /api/v1/mandates', headers)}0\r\n\r\n`)
  refused(t, (await connection.read()) as never, 400, 'MISSING_FIELD', 'mandateReference', 'no type')
  connection.end()
})

t.test('decisions §2: a body of another length than Content-Length says is MALFORMED_REQUEST', async t => {
  const { client, isUnchanged } = await prepare(t)
  const body = JSON.stringify(mandate({ mandateReference: 'MND-0002' }))
  for (const length of [body.length - 1, body.length + 1]) {
    const headers = { 'content-type': 'application/json', 'content-length': String(length) }
    refused(t, await client.post('/api/v1/mandates', body, { headers }), 400, 'MALFORMED_REQUEST', null)
  }
  await isUnchanged()
})

t.test('interface, Errors 1: a body nested very deep is answered like another', async t => {
  const { client, isUnchanged } = await prepare(t)
  const depth = 150_000
  const arrays = '['.repeat(depth) + ']'.repeat(depth)
  const objects = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
  refused(t, await client.post('/api/v1/mandates', arrays), 400, 'INVALID_FIELD', null, 'arrays')
  refused(t, await client.post('/api/v1/mandates', objects), 400, 'MISSING_FIELD', 'mandateReference', 'objects')
  refused(t, await client.post('/api/v1/mandates', '['.repeat(MIB)), 400, 'MALFORMED_REQUEST', null, 'open arrays')
  refused(t, await client.post('/api/v1/mandates', '{"a":'.repeat(200_000)), 400, 'MALFORMED_REQUEST', null, 'open')
  const text = JSON.stringify(mandate({ mandateReference: 'MND-0002', type: 'DEEP' }))
  for (const [what, deep] of [
    ['arrays', arrays],
    ['objects', objects],
  ] as const) {
    const answer = await client.post('/api/v1/mandates', text.replace('"DEEP"', deep))
    refused(t, answer, 400, 'INVALID_FIELD', 'type', `${what} for text`)
    t.ok(answer.body.message.length < 300, 'the message is short')
  }
  const nested = JSON.stringify(mandate({ mandateReference: 'MND-0002', creditor: 'DEEP' }))
  const answer = await client.post('/api/v1/mandates', nested.replace('"DEEP"', objects))
  refused(t, answer, 400, 'MISSING_FIELD', 'creditor.name', 'for an object')
  await isUnchanged()
})

t.test('decisions §1: an unknown member nested very deep is ignored', async t => {
  const client = await connect(build(t))
  const depth = 150_000
  const text = JSON.stringify(mandate({ extra: 'DEEP', other: 'LETTER' }))
  const deep = text.replace('"DEEP"', `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`).replace('LETTER', '\\u0041')
  const answer = await client.post('/api/v1/mandates', deep)
  t.equal(answer.status, 201)
  t.match(answer.headers['sandbox-hint'], /extra/)
})

t.test('decisions §2: a message quotes at most 80 characters of the input, be it a name, too', async t => {
  const client = await connect(build(t))
  const long = 'x'.repeat(500)
  const form = { 'content-type': 'application/x-www-form-urlencoded' }
  const answers = [
    await client.post('/api/v1/mandates', `{"${long}":"\\ud800"}`),
    await client.post('/api/v1/mandates', `{"${long}\\ud800":1}`),
    await client.post('/api/v1/mandates', `{"${long}":{"__proto__":{}}}`),
    await client.post('/api/v1/mandates', `{"a":${'{"xxxxx":'.repeat(500)}"\\ud800"${'}'.repeat(501)}`),
    await client.post('/api/v1/mandates', mandate({ type: long })),
    await client.post('/api/v1/direct-debit', collection({ amount: long })),
    await client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: long })),
    await client.post('/api/v1/payout-links', payoutLink({ origin: long })),
    await client.get(`/api/v1/direct-debit?cursor=${long}`),
    await client.get(`/api/v1/direct-debit?limit=${long}`),
    await client.get(`/api/v1/direct-debit?status=${long}`),
    await client.get(`/api/v1/direct-debit?amountMin=${'1'.repeat(500)}x`),
    await client.get(`/api/v1/mandates/${long}`),
    await client.get('/api/v1/mandates', { region: long }),
    await call(client.app, 'GET', `/_sandbox/clock?client=${long}`),
    await client.control('POST', '/seed', { fixture: long }),
    await client.control('POST', '/clock/advance', { by: long }),
    await call(client.app, 'POST', '/api/v1/oauth/token', { body: `${long}=1&${long}=2`, headers: form }),
    await call(client.app, 'POST', '/api/v1/oauth/token', {
      body: `client_id=acme&client_secret=secret&grant_type=${long}`,
      headers: form,
    }),
    await call(client.app, 'POST', '/api/v1/oauth/token', {
      body: `client_id=${long}&client_secret=secret&grant_type=client_credentials`,
      headers: form,
    }),
  ]
  answers.forEach((answer, at) => {
    t.ok(answer.status >= 400 && answer.status < 500, `${at}: ${answer.status} ${answer.body.code}`)
    t.notMatch(answer.body.message, /(x[^a-z]?){81}|1{81}/, `${at}: quotes at most 80 characters`)
    t.ok(answer.body.message.length <= 400, `${at}: the message has ${answer.body.message.length} characters`)
  })
})

t.test('decisions §2: a member that would poison a prototype is hostile: MALFORMED_REQUEST on its name', async t => {
  const { client, isUnchanged } = await prepare(t)
  const text = JSON.stringify(mandate({ mandateReference: 'MND-0002' }))
  for (const [name, extra] of [
    ['__proto__', '"__proto__":{"polluted":true}'],
    ['__proto__', '"\\u005f_proto__":{"polluted":true}'],
    ['__proto__', '"x":{"y":[{"__proto__":null}]}'],
    ['constructor', '"constructor":{"prototype":{"polluted":true}}'],
  ] as const) {
    const answer = await client.post('/api/v1/mandates', `{${extra},${text.slice(1)}`)
    refused(t, answer, 400, 'MALFORMED_REQUEST', name, extra)
    t.equal(({} as { polluted?: boolean }).polluted, undefined)
  }
  await isUnchanged()
})

t.test('decisions §1: other members named as those of every object are unknown ones: ignored, with a hint', async t => {
  for (const extra of [
    '"constructor":{"x":1}',
    '"prototype":{"polluted":true}',
    '"toString":1,"hasOwnProperty":1,"valueOf":1,"toJSON":1',
  ]) {
    const client = await connect(build(t))
    const answer = await client.post('/api/v1/mandates', `{${extra},${JSON.stringify(mandate()).slice(1)}`)
    t.equal(answer.status, 201, extra)
    t.type(answer.headers['sandbox-hint'], 'string', 'is hinted at')
    const members = Object.keys((await client.get('/api/v1/mandates')).body.data[0] ?? {})
    t.notOk(members.some(name => ['constructor', 'prototype', 'toString', 'toJSON'].includes(name)))
  }
})

t.test('decisions §1: what GET and DELETE carry as a body is not looked at', async t => {
  const client = await connect(build(t))
  await stock(client)
  const options = { body: '{', headers: { 'content-type': 'application/json' } }
  t.equal((await client.get('/api/v1/mandates', options)).status, 200)
  t.equal((await client.delete('/api/v1/mandates/MND-0001', options)).status, 200)
})

t.test('interface, Errors 1: the last of several members of one name counts, and is checked', async t => {
  const client = await connect(build(t))
  const text = JSON.stringify(mandate())
  const wrong = text.replace('"type":"RECURRING"', '"type":"RECURRING","type":1')
  refused(t, await client.post('/api/v1/mandates', wrong), 400, 'INVALID_FIELD', 'type')
})
