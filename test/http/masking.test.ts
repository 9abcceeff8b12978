import t from 'tap'
import {
  isSuspicious,
  MASK,
  maskCredentials,
  maskFields,
  maskForm,
  maskHeader,
  maskJson,
  maskJsonCredentials,
  maskMultipart,
  maskTarget,
  maskText,
  maskTokens,
  parseJson,
} from '../../src/http/masking.js'
import { build, requestToken } from '../helper.js'

// control plane, GET /requests: what the app under test sent and got, secrets and tokens masked.

const BASIC = Buffer.from('acme:correct-horse').toString('base64')
const tokenOf = async (t: Parameters<typeof build>[0], clientId = 'acme') =>
  (await requestToken(build(t), { client_id: clientId, client_secret: 'sandbox-secret' })).body.access_token as string

t.test('decisions §3: headers with credentials show no more than their scheme', async t => {
  for (const [name, value, shown] of [
    ['authorization', 'Bearer abc', 'Bearer ***'],
    ['authorization', 'bearer abc', 'bearer ***'],
    ['authorization', 'Bearer  abc', 'Bearer ***'],
    ['authorization', `Basic ${BASIC}`, 'Basic ***'],
    ['authorization', 'Bearer abc, Bearer def', 'Bearer ***'],
    ['authorization', 'abc', '***'],
    ['authorization', 'Token abc', '***'],
    ['authorization', 'Bearerabc', '***'],
    ['authorization', '', '***'],
    ['proxy-authorization', 'Basic abc', 'Basic ***'],
    ['x-authorization', 'Bearer abc', 'Bearer ***'],
    ['x-auth', 'abc', '***'],
    ['x-auth-token', 'abc', '***'],
    ['x-access-token', 'abc', '***'],
    ['access_token', 'abc', '***'],
    ['client-secret', 'abc', '***'],
    ['client_secret', 'abc', '***'],
    ['x-client-secret', 'abc', '***'],
    ['x-api-key', 'abc', '***'],
    ['apikey', 'abc', '***'],
    ['cookie', 'session=abc', '***'],
    ['set-cookie', 'session=abc', '***'],
    ['x-password', 'abc', '***'],
  ] as const)
    t.equal(maskHeader(name, value), shown, `${name}: ${value}`)
})

t.test('control plane, GET /requests: other headers are shown as they came', async t => {
  for (const [name, value] of [
    ['x-region', 'EU'],
    ['content-type', 'application/json; charset=utf-8'],
    ['idempotency-key', '7b0a3b0e-8c0e-4f3c-9d0e-0a1b2c3d4e5f'],
    ['www-authenticate', 'Bearer realm="payments-sandbox", error="invalid_token"'],
    ['host', 'api.shop.example.internal-service:8080'],
    ['user-agent', 'Mozilla/5.0 (basic; like others) author/1.0'],
    ['x-author', 'Jane'],
    ['x-request-id', '01a2b3c4'],
    ['accept', '*/*'],
  ] as const)
    t.equal(maskHeader(name, value), value, name)
})

t.test('decisions §3: a token is recognised wherever it stands, by its own form', async t => {
  for (const clientId of ['a', 'acme', 'sandbox-client', 'Az09._-'.padEnd(64, 'x')]) {
    const token = await tokenOf(t, clientId)
    for (const [before, after] of [
      ['', ''],
      ['Bearer ', ''],
      ['"', '"'],
      ['/api/v1/bills/', '/document'],
      ['x=', '&y=1'],
      ['(', ')'],
    ])
      t.equal(maskText(`${before}${token}${after}`), `${before}${MASK}${after}`, `${clientId}, in ${before}…${after}`)
    t.equal(maskHeader('x-region', token), MASK)
    t.equal(maskText(`${token} and ${token}`), `${MASK} and ${MASK}`)
  }
})

t.test('decisions §3: other credentials in the midst of a text', async t => {
  t.equal(maskText(`curl -H "x: Basic ${BASIC}"`), 'curl -H "x: Basic ***"')
  t.equal(maskText(`basic%20${BASIC}`), 'basic ***')
  t.equal(maskText('https://a.example/?access_token=abc&x=1'), 'https://a.example/?access_token=***&x=1')
  t.equal(maskText('client_secret=correct-horse'), 'client_secret=***')
})

t.test('control plane, GET /requests: what only looks a bit like that is shown as it is', async t => {
  for (const text of [
    'Basic membership, annual',
    'basic subscription for two',
    'Bearer of bad news',
    'api.shop.example.internal-service',
    'www.v2.example1.abcdefghijklmnop',
    'a.b.c.d',
    '10.0.0.127',
    'DE89370400440532013000',
    'https://shop.example:8443/path?page=2',
    'Zürich 😀 …',
    '',
  ])
    t.equal(maskText(text), text)
})

t.test('decisions §1: masking takes no time to speak of, whatever the text', async t => {
  const size = 1_000_000
  for (const text of ['a', 'a-', 'a.', 'a.b.', 'basic ', 'secret=', 'aaaaaaaa.1.aaaaaa.', '"', '%'].map(part =>
    part.repeat(size / part.length),
  )) {
    const start = process.cpuUsage().user
    maskText(text)
    maskTokens(text)
    isSuspicious(text)
    const milliseconds = (process.cpuUsage().user - start) / 1000
    t.ok(milliseconds < 2000, `${text.slice(0, 12)}… in ${milliseconds} ms`)
  }
})

// -------------------------------------------------------------------------------------------------------------- fields

t.test('decisions §3: parameters that are called like a secret, however they are written', async t => {
  for (const [query, shown] of [
    ['access_token=abc&limit=5', { access_token: '***', limit: '5' }],
    ['ACCESS_TOKEN=abc', { ACCESS_TOKEN: '***' }],
    ['access%5Ftoken=abc', { access_token: '***' }],
    ['client_s%65cret=abc', { client_secret: '***' }],
    ['client-secret=abc', { 'client-secret': '***' }],
    ['+client_secret=abc', { ' client_secret': '***' }],
    ['token=abc&token=def', { token: ['***', '***'] }],
    ['token=', { token: '' }],
    ['token', { token: '' }],
    ['password=abc&api_key=def', { password: '***', api_key: '***' }],
    ['client_assertion=abc&authorization=def', { client_assertion: '***', authorization: '***' }],
    ['status=A&status=B', { status: ['A', 'B'] }],
    ['token_type=Bearer', { token_type: 'Bearer' }],
    ['', {}],
    [
      '__proto__=a&constructor=b',
      Object.fromEntries([
        ['__proto__', 'a'],
        ['constructor', 'b'],
      ]),
    ],
  ] as const)
    t.same(maskFields(query), shown, query)
  t.equal(maskFields('client_secret=%zz'), null, 'what cannot be told apart')
  t.equal(maskFields('limit=5&a=%ff'), null)
})

t.test('decisions §3: of a form with credentials, only what surely is no secret is shown', async t => {
  for (const [form, shown] of [
    [
      'client_id=acme&client_secret=abc&grant_type=client_credentials&scope=all',
      { client_id: 'acme', client_secret: '***', grant_type: 'client_credentials', scope: 'all' },
    ],
    ['client_secret=abc&client_secret=def', { client_secret: ['***', '***'] }],
    ['client_secret=', { client_secret: '' }],
    ['client_secret', { client_secret: '' }],
    ['client_sercet=abc', { client_sercet: '***' }],
    ['Client_Id=abc', { Client_Id: '***' }],
    // An ampersand and an equals sign in a secret that were not encoded.
    ['client_id=acme&client_secret=ab&cd', { client_id: 'acme', client_secret: '***', '***': '' }],
    ['client_secret=ab=cd', { client_secret: '***' }],
    ['correct-horse', { '***': '' }],
    // A body of another kind.
    ['{"client_secret":"abc"}', { '***': '' }],
    ['{"client_secret":"abc=="}', { '***': '***' }],
    ['x'.repeat(41).concat('=abc'), { '***': '***' }],
    ['a&a&b=1&b=2', { '***': ['', ''], b: ['***', '***'] }],
    ['', {}],
  ] as const)
    t.same(maskCredentials(form), shown, form)
  t.equal(maskCredentials('client_id=acme&client_secret=100%'), null)
})

// ---------------------------------------------------------------------------------------------------------------- JSON

t.test('decisions §3: members that are called like a secret, at any depth and of any type', async t => {
  t.same(
    maskJson({
      client_secret: 'abc',
      clientSecret: 'abc',
      client_id: 'acme',
      accessToken: { value: 'abc' },
      tokens: ['abc', 'def'],
      pin: { password: 1234 },
      list: [{ api_key: 'abc', key: 'shown' }, 'shown', 5, true, null],
      secret: null,
      passwordRepeated: '',
      token_type: 'Bearer',
      amount: '10.50',
    }),
    {
      client_secret: '***',
      clientSecret: '***',
      client_id: 'acme',
      accessToken: '***',
      tokens: '***',
      pin: { password: '***' },
      list: [{ api_key: '***', key: 'shown' }, 'shown', 5, true, null],
      secret: null,
      passwordRepeated: '',
      token_type: 'Bearer',
      amount: '10.50',
    },
  )
})

t.test('decisions §3: tokens in the values and names of members', async t => {
  const token = await tokenOf(t)
  t.same(maskJson({ a: token, [token]: [`x ${token}`] }), { a: MASK, [MASK]: [`x ${MASK}`] })
  t.equal(maskJson(token), MASK)
})

t.test('decisions §1: members with names of JavaScript’s own are members', async t => {
  const text = '{"__proto__":{"secret":"a","x":1},"constructor":"b","toString":"c"}'
  t.equal(JSON.stringify(maskJson(JSON.parse(text))), text.replace('"a"', '"***"'))
})

t.test('decisions §1: what is nested too deeply to be written as JSON is left out', async t => {
  const deep = (depth: number) => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`)
  t.same(maskJson(deep(100)), deep(100))
  t.match(JSON.stringify(maskJson(deep(101))), 'nested too deeply')
  for (const [open, close] of [
    ['[', ']'],
    ['{"a":', '}'],
  ] as const) {
    const text = `${open.repeat(150_000)}1${close.repeat(150_000)}`
    t.match(JSON.stringify(maskJson(parseJson(text))), 'nested too deeply')
  }
})

t.test('decisions §3: of JSON where credentials belong, only what surely is no secret is shown', async t => {
  t.same(
    maskJsonCredentials({
      client_id: 'acme',
      grant_type: { a: 'client_credentials' },
      client_secret: 'abc',
      credentials: { key: 'abc' },
      other: 'abc',
      empty: '',
    }),
    {
      client_id: 'acme',
      grant_type: { a: 'client_credentials' },
      client_secret: '***',
      credentials: '***',
      other: '***',
      empty: '',
    },
  )
  for (const value of ['abc', ['abc'], 5, null, true]) t.equal(maskJsonCredentials(value), MASK)
})

t.test('decisions §3: what is no JSON is suspicious where it names a secret, or could', async t => {
  for (const text of [
    "{'client_secret': 'abc'}",
    'client_secret=abc',
    'a=%41',
    '"client\\u005fsecret"',
    'PASSWORD abc',
  ])
    t.equal(isSuspicious(text), true, text)
  for (const text of ['{"amount": 10,}', 'hello', '{"debtor": {"name": "Jane Doe"', ''])
    t.equal(isSuspicious(text), false, text)
})

t.test('control plane, recording: tokens in an answer', async t => {
  const token = await tokenOf(t)
  t.equal(
    maskTokens(`{"access_token":"${token}","expires_in":3600,"token_type":"Bearer"}`),
    '{"access_token":"***","expires_in":3600,"token_type":"Bearer"}',
  )
  t.equal(maskTokens('{"access_token":"anything at all"}'), '{"access_token":"***"}')
  t.equal(maskTokens(`{"message":"not ${token}"}`), '{"message":"not ***"}')
})

// ---------------------------------------------------------------------------------------------------------- recordings

t.test('control plane, recording: a target keeps all but its secrets, in its own spelling', async t => {
  const token = await tokenOf(t)
  for (const [target, masked] of [
    ['/api/v1/mandates', '/api/v1/mandates'],
    ['/api/v1/mandates?', '/api/v1/mandates?'],
    ['/api/v1/bills?status=OPEN%2CPAID&limit=5&&x', '/api/v1/bills?status=OPEN%2CPAID&limit=5&&x'],
    ['/api/v1/bills?access_token=abc&limit=5', '/api/v1/bills?access_token=***&limit=5'],
    ['/api/v1/bills?access%5ftoken=abc', '/api/v1/bills?access_token=***'],
    ['/api/v1/bills?token', '/api/v1/bills?token=***'],
    [`/api/v1/bills?x=${token}`, '/api/v1/bills?x=***'],
    [`/api/v1/bills?${token}`, '/api/v1/bills?***'],
    ['/api/v1/bills?a=b?c', '/api/v1/bills?a=b?c'],
  ] as const)
    t.equal(maskTarget(target), masked, target)
})

t.test('control plane, recording: a form with credentials', async t => {
  const token = await tokenOf(t)
  t.equal(
    maskForm({ client_id: 'a b', client_secret: 'abc', grant_type: 'client_credentials', extra: 'x' }),
    'client_id=a%20b&client_secret=***&grant_type=client_credentials&extra=***',
  )
  t.equal(maskForm({ client_id: token }), 'client_id=***')
})

t.test('control plane, recording: an upload keeps its file to the byte, and loses the secrets beside it', async t => {
  const file = Buffer.concat([
    Buffer.from('%PDF-1.7 client_secret=abc; name="client_secret"\r\n\r\nabc'),
    Buffer.from([0, 1, 2, 0xff, 0xfe, 13, 10]),
  ])
  const part = (disposition: string, content: Buffer | string) =>
    Buffer.concat([
      Buffer.from(`--b o\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n`),
      Buffer.from(content),
      Buffer.from('\r\n'),
    ])
  const filePart = part('name="file"; filename="client_secret.pdf"', file)
  const notePart = part('name="note"', 'a note')
  const end = Buffer.from('--b o--\r\n')
  const type = 'multipart/form-data; boundary="b o"'

  const harmless = Buffer.concat([filePart, notePart, end])
  t.same(maskMultipart(harmless, type), harmless)

  const secrets = ['name="client_secret"', 'NAME=access_token', 'filename="a"; name="x-password"'].map(disposition =>
    part(disposition, 'correct-horse'),
  )
  const masked = maskMultipart(Buffer.concat([...secrets, filePart, notePart, end]), type)
  t.notMatch(masked.toString('latin1'), 'correct-horse')
  t.ok(masked.includes(Buffer.concat([filePart, notePart, end])), 'and all else is as it was')
  t.equal(masked.toString('latin1').split('***').length, 4)
})
