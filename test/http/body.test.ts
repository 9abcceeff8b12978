import { gzipSync } from 'node:zlib'
import t, { type Test } from 'tap'
import { type Case, each, gist, holds, invalid, malformed, missing, table, WRONG_REGION } from '../answers.js'
import { bill, build, type Client, call, collection, connect, mandate, newClient, payoutLink } from '../helper.js'
import { headersOf, listen, open, request, sendLine, stateOf, stillServes, stock } from './raw.js'

const MIB = 1024 * 1024
const JSON_TYPE = { 'content-type': 'application/json' }
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

/** Every operation that takes JSON, with the first member that it requires (decisions §6 to §10). */
const operations: [line: string, first: string | null][] = [
  ['POST /api/v1/direct-debit', 'collectionReference'],
  ['POST /api/v1/mandates', 'mandateReference'],
  ['POST /api/v1/payout-links', 'amount'],
  ['PATCH /api/v1/payout-links/pl_0000001/cancel', 'cancellationComment'],
  ['POST /api/v1/bills', 'uniqueReferenceIdentifier'],
  // At least one of several members.
  ['PATCH /api/v1/bills/INV-2026-001', null],
  ['PATCH /api/v1/counterparties/CPTY-0001', null],
]
const WRONG_TYPE = '415 UNSUPPORTED_MEDIA_TYPE content-type'
const DOCUMENT = 'POST /api/v1/bills/INV-2026-001/document'
const lines = operations.map(([line]) => line)

/** Runs a test with a client that has a record of each kind, and asserts that its state does not change. */
async function unchanged(t: Test, run: (client: Client) => Promise<void>) {
  const client = await newClient()
  await stock(client)
  const before = await stateOf(client)
  await run(client)
  t.same(await stateOf(client), before, 'the state is as before')
}

t.test('decisions §1: without a body, the first required member is MISSING_FIELD, whatever the type', t =>
  unchanged(t, async client => {
    const wanted = operations.map(([line, first]): Case => [line, missing(first)])
    for (const type of ['application/json', 'text/plain', 'multipart/form-data; boundary=x', 'nonsense', '']) {
      const headers = { 'content-type': type, 'content-length': '0' }
      const all: Case[] = [...wanted, [DOCUMENT, '400 MISSING_FIELD file']]
      await holds(t, type.startsWith('multipart') ? wanted : all, sendLine(client, { headers }), type)
    }
    await holds(t, [...wanted, [DOCUMENT, '400 MISSING_FIELD file']], sendLine(client), 'no headers')
    await holds(t, wanted, sendLine(client, { body: {} }), 'no members')
    await holds(t, wanted, sendLine(client, { body: ' \r\n\t{ } \n' }), 'no members, with whitespace')
  }),
)

t.test('decisions §1: a body that is not an object is INVALID_FIELD, one that is not JSON is MALFORMED_REQUEST', t =>
  unchanged(t, async client => {
    const whole = JSON.stringify(mandate({ mandateReference: 'MND-0002' }))
    const others = ['null', 'true', '0', '1e999', '"text"', '[]', '[{}]', `"${'x'.repeat(1000)}"`]
    const broken = ['{', '}', '{"a":1,}', "{'a':1}", '{a:1}', '{"a":01}', '{"a":NaN}', '{"a":1}{"b":2}', '{"a":"\n"}']
    broken.push('/* */{}', ' ', '\0', 'a=b&c=d', '<xml/>', whole.slice(0, -1))
    await holds(t, [...each(others, '400 INVALID_FIELD null'), ...each(broken, '400 MALFORMED_REQUEST null')], body =>
      client.post('/api/v1/mandates', body),
    )
    await holds(t, each(lines, invalid(null)), sendLine(client, { body: '[]' }))
    await holds(t, each(lines, malformed(null)), sendLine(client, { body: '{"a":1} x' }))
  }),
)

t.test('decisions §1: a byte order mark before a body is no part of it', async t => {
  const client = await newClient()
  t.equal((await client.post('/api/v1/mandates', `\ufeff${JSON.stringify(mandate())}`)).status, 201)
})

t.test('decisions §1: a body that is not UTF-8 is MALFORMED_REQUEST', t =>
  unchanged(t, async client => {
    const text = JSON.stringify(mandate({ mandateReference: 'MND-0002' }))
    const named = (...bytes: number[]) =>
      Buffer.concat([Buffer.from('{"mandateReference":"'), Buffer.from(bytes), Buffer.from('"}')])
    const bodies: Record<string, Buffer> = {
      'UTF-16': Buffer.from(text, 'utf16le'),
      'Latin-1': Buffer.from(text.replace('Jane', 'J\u00e4ne'), 'latin1'),
      'lone continuation': named(0x80),
      'overlong slash': named(0xc0, 0xaf),
      'cut sequence': named(0xe2, 0x82),
      surrogate: named(0xed, 0xa0, 0x80),
      'above Unicode': named(0xf4, 0x90, 0x80, 0x80),
    }
    await holds(t, each(Object.keys(bodies), '400 MALFORMED_REQUEST null'), name =>
      client.post('/api/v1/mandates', bodies[name]),
    )
  }),
)

t.test('interface, Endpoints: text of all of Unicode is stored as it is', async t => {
  const client = await newClient()
  const name = 'Zoë 😀 \u0000\u007f\u2028'
  await client.post('/api/v1/mandates', mandate({ debtor: { ...mandate().debtor, reference: name } }))
  t.equal((await client.get('/api/v1/mandates/MND-0001')).body.debtor.reference, name)
})

t.test('decisions §2: a lone surrogate and a member that could poison a prototype are refused', t =>
  unchanged(t, async client => {
    const text = JSON.stringify(mandate({ mandateReference: 'MND-0002' }))
    const lone = ['\\ud800', '\\udc00', 'a\\udfffb', '\\uDBFF']
    await holds(t, each(lone, '400 INVALID_FIELD debtor.name'), value =>
      client.post('/api/v1/mandates', text.replace('Jane Doe', value)),
    )
    const hostile: Case[] = [
      ['"__proto__":{"polluted":true}', '400 MALFORMED_REQUEST __proto__'],
      ['"\\u005f_proto__":{"polluted":true}', '400 MALFORMED_REQUEST __proto__'],
      ['"x":{"y":[{"__proto__":null}]}', '400 MALFORMED_REQUEST __proto__'],
      ['"constructor":{"prototype":{"polluted":true}}', '400 MALFORMED_REQUEST constructor'],
    ]
    await holds(t, hostile, extra => client.post('/api/v1/mandates', `{${extra},${text.slice(1)}`))
    t.equal(({} as { polluted?: boolean }).polluted, undefined)
  }),
)

t.test('decisions §1: a wrong Content-Type is 415 on content-type; PATCH names the right one', t =>
  unchanged(t, async client => {
    const types = ['text/plain', 'application/x-www-form-urlencoded', 'application/problem+json', 'application/jsonx']
    types.push('json', 'nonsense', '', ';', '/', 'application/', 'application/json, text/plain')
    const wanted = WRONG_TYPE
    const send = (type: string) => client.post('/api/v1/mandates', '{}', { headers: { 'content-type': type } })
    await table(t, send, { [wanted]: types })
    const options = { body: '{}', headers: { 'content-type': 'text/plain' } }
    const others = ['DELETE /api/v1/mandates/MND-0001', 'PUT /_sandbox/settings', 'POST /_sandbox/reset']
    for (const line of [...lines, DOCUMENT, ...others]) {
      const answer = await sendLine(client, options)(line)
      const patch = lines.includes(line) && line.startsWith('PATCH') ? 'application/json' : undefined
      t.same([gist(answer), answer.headers['accept-patch']], [wanted, patch], line)
    }
    t.equal((await client.get('/api/v1/mandates', { ...options, body: '{' })).status, 200, 'GET ignores its body')
  }),
)

t.test('decisions §1: a body with a Content-Encoding is 415 wherever one is read', t =>
  unchanged(t, async client => {
    const [{ record }] = (await client.control('GET', '/payout-links')).body.data
    const send = (line: string, coding: string) => {
      const [method = '', path = '', type = 'application/json'] = line.split(' ')
      const headers = { 'content-encoding': coding, 'content-type': type, accept: 'application/json' }
      return client.send(method, path, { headers, body: gzipSync('{}') })
    }
    const all = [
      ...lines,
      'DELETE /api/v1/mandates/MND-0001',
      'POST /api/v1/oauth/token application/x-www-form-urlencoded',
      `${DOCUMENT} multipart/form-data;boundary=x`,
      'PUT /_sandbox/settings',
      'PUT /_sandbox/state',
      `POST /pay/${record.payoutLinkId}?client=${client.clientId} application/x-www-form-urlencoded`,
    ]
    const wanted = '415 UNSUPPORTED_MEDIA_TYPE content-encoding'
    await holds(t, each(all, wanted), line => send(line, 'gzip'), 'every route')
    const codings = ['gzip', 'GZIP', 'br', 'x-gzip', 'identity, gzip', 'gzip,', 'utf-8', `,${' '.repeat(9000)}x`]
    await holds(t, each(codings, wanted), coding => send('POST /api/v1/mandates', coding), 'every coding')
    const { headers } = await send('PATCH /api/v1/bills/INV-2026-001', 'br')
    t.match(headers, { 'accept-encoding': 'identity', 'accept-patch': 'application/json' })
    const plain = ['identity', 'Identity', '', ',', 'identity ,identity']
    await holds(t, each(plain, missing('mandateReference')), coding =>
      client.post('/api/v1/mandates', '{}', { headers: { 'content-encoding': coding } }),
    )
    const options = { headers: { 'content-encoding': 'gzip' } }
    t.equal((await client.get('/api/v1/mandates', { ...options, body: 'x' })).status, 200, 'GET ignores its body')
    t.equal(gist(await client.post('/api/v1/mandates', undefined, options)), missing('mandateReference'), 'no body')
    t.equal(gist(await client.post('/api/v1/mandates', '{', { ...options, region: 'US' })), WRONG_REGION, 'the order')
  }),
)

t.test('decisions §1: application/json is accepted in any case and with any parameter', async t => {
  const client = await newClient()
  const send = (type: string) => client.post('/api/v1/mandates', '{}', { headers: { 'content-type': type } })
  const types = ['application/json', 'APPLICATION/JSON', 'Application/Json;charset=UTF-8', 'application/json ; v=1']
  await table(t, send, { [missing('mandateReference')]: types })
})

t.test('decisions §1: a body of 1 MiB is accepted, one byte more is 413', t =>
  unchanged(t, async client => {
    const body = Buffer.alloc(MIB + 1, 0x20)
    await holds(t, each(lines, '413 PAYLOAD_TOO_LARGE null'), sendLine(client, { body }))
    const full = await client.post('/api/v1/mandates', `${' '.repeat(MIB - 2)}{}`)
    t.same([full.status, full.body.code], [400, 'MISSING_FIELD'], '1 MiB is read')
  }),
)

t.test('decisions §1: over a socket, a body with Content-Length or in chunks', async t => {
  const app = build(t)
  const client = await connect(app)
  const port = await listen(app)
  const text = JSON.stringify(mandate())
  const chunked = { 'transfer-encoding': 'chunked' }
  const post = (fields: Record<string, string>, body?: string) =>
    request('POST /api/v1/mandates', { ...headersOf(client), ...fields }, body)
  const chunks = [...text].map(letter => `1\r\n${letter}\r\n`).join('')
  const large = `${text.length.toString(16)}\r\n${text}\r\n${`10000\r\n${' '.repeat(0x10000)}\r\n`.repeat(16)}`
  const send = async (bytes: string) => {
    const connection = await open(port)
    connection.send(bytes)
    const answer = await connection.read()
    connection.destroy()
    return answer
  }
  await table(t, send, {
    [`${WRONG_TYPE}`]: [
      request('POST /api/v1/mandates', { authorization: `Bearer ${client.token}`, 'x-region': 'EU' }, '{}'),
      `${post({ ...chunked, 'content-type': 'text/plain' })}0\r\n\r\n`,
    ],
    [missing('mandateReference')]: [`${post(chunked)}0\r\n\r\n`],
    '413 PAYLOAD_TOO_LARGE null': [
      post({}, text + ' '.repeat(MIB + 1 - text.length)),
      post({ 'content-length': '99999999999' }),
      `${post(chunked)}${large}0\r\n\r\n`,
    ],
    201: [`${post(chunked)}${chunks}0\r\n\r\n`],
  })
  await stillServes(t, port)
})

t.test('decisions §2: a body of another length than Content-Length says is MALFORMED_REQUEST', t =>
  unchanged(t, async client => {
    const body = JSON.stringify(mandate({ mandateReference: 'MND-0002' }))
    const lengths = [body.length - 1, body.length + 1].map(String)
    await holds(t, each(lengths, '400 MALFORMED_REQUEST null'), length =>
      client.post('/api/v1/mandates', body, { headers: { ...JSON_TYPE, 'content-length': length } }),
    )
  }),
)

t.test('interface, Errors: a body nested very deep is answered like another', t =>
  unchanged(t, async client => {
    const depth = 9_000
    const objects = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`
    const text = JSON.stringify(mandate({ mandateReference: 'MND-0002', type: 'DEEP' }))
    const twice = JSON.stringify(mandate()).replace('"type":"RECURRING"', '"type":"RECURRING","type":1')
    await table(t, body => client.post('/api/v1/mandates', body), {
      [invalid(null)]: ['['.repeat(depth) + ']'.repeat(depth)],
      [missing('mandateReference')]: [objects],
      [malformed(null)]: ['['.repeat(depth)],
      // The last of two members of one name is checked.
      [invalid('type')]: [text.replace('"DEEP"', objects), twice],
    })
  }),
)

t.test('decisions §1: unknown members of any name and value are ignored, and hinted at', async t => {
  const client = await newClient()
  const deep = `${'{"a":'.repeat(9_000)}1${'}'.repeat(9_000)}`
  const extras = ['"constructor":{"x":1}', '"prototype":{"polluted":true}', '"toString":1', '"valueOf":1', '"x":null']
  extras.push('"x":[[[{}]]]', '"x":1e999', `"x":"${'x'.repeat(900_000)}"`, `"x":${deep}`)
  for (const [at, extra] of extras.entries()) {
    const text = JSON.stringify(mandate({ mandateReference: `MND-000${at}` }))
    const { status, headers, body } = await client.post('/api/v1/mandates', `{${extra},${text.slice(1)}`)
    const [, name] = extra.split('"')
    t.same([status, headers['sandbox-hint']], [201, `unknown member ${name} ignored`])
    t.notOk(Object.hasOwn(body, name as string))
  }
})

t.test('decisions §2: a message quotes at most 80 characters of the input', async t => {
  const client = await newClient()
  const long = 'x'.repeat(500)
  const form = (body: string) => call(client.app, 'POST', '/api/v1/oauth/token', { body, headers: FORM })
  const answers = [
    await client.post('/api/v1/mandates', `{"${long}":"\\ud800"}`),
    await client.post('/api/v1/mandates', `{"${long}":{"__proto__":{}}}`),
    await client.post('/api/v1/mandates', mandate({ type: long })),
    await client.post('/api/v1/direct-debit', collection({ amount: long })),
    await client.post('/api/v1/bills', bill({ uniqueReferenceIdentifier: long })),
    await client.post('/api/v1/payout-links', payoutLink({ origin: long })),
    await client.get(`/api/v1/direct-debit?limit=${long}`),
    await client.get(`/api/v1/direct-debit?status=${long}`),
    await client.get(`/api/v1/mandates/${long}`),
    await client.get('/api/v1/mandates', { region: long }),
    await call(client.app, 'GET', `/_sandbox/clock?client=${long}`),
    await client.control('POST', '/seed', { fixture: long }),
    await client.control('POST', '/clock/advance', { by: long }),
    await form(`${long}=1&${long}=2`),
    await form(`client_id=acme&client_secret=secret&grant_type=${long}`),
    await form(`client_id=${long}&client_secret=secret&grant_type=client_credentials`),
  ]
  t.same(
    answers.filter(({ status, body }) => status < 400 || status >= 500 || /(x[^a-z]?){81}/.test(body.message)),
    [],
  )
})
