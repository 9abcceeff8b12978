import t, { type Test } from 'tap'
import { build, type CallOptions, call, requestToken } from '../helper.js'

// interface, POST /api/v1/oauth/token; decisions §3: form-encoded; missing, empty or repeated parameter 400.

const URL = '/api/v1/oauth/token'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const RIGHT = 'client_id=acme&client_secret=secret&grant_type=client_credentials'

/** The envelope of the token endpoint: decisions §3. */
function refused(
  t: Test,
  answer: Awaited<ReturnType<typeof call>>,
  wanted: [status: number, code: string, field: string | null, error: string],
  what?: string,
) {
  const { status, body, headers } = answer
  t.same(
    {
      answer: [status, body?.code, body?.field, body?.error],
      members: Object.keys(body ?? {}).sort(),
      type: String(headers['content-type']).split(';')[0],
      isText: typeof body?.message === 'string' && typeof body?.error_description === 'string',
      isChallenged: headers['www-authenticate'] !== undefined,
    },
    {
      answer: wanted,
      members: ['code', 'error', 'error_description', 'field', 'message'],
      type: 'application/json',
      isText: true,
      isChallenged: wanted[0] === 401,
    },
    what ?? wanted.join(' '),
  )
}

const preparePost = (t: Test) => {
  const app = build(t)
  return (body?: unknown, headers: Record<string, string> = FORM, options: CallOptions = {}) =>
    call(app, 'POST', URL, { ...(body !== undefined && { body }), headers, ...options })
}

t.test('decisions §3: a missing, empty or repeated field is 400 by its name', async t => {
  const post = preparePost(t)
  const fields = { client_id: 'acme', client_secret: 'secret', grant_type: 'client_credentials' }
  for (const name of Object.keys(fields)) {
    const others = Object.entries(fields).filter(([other]) => other !== name)
    const rest = new URLSearchParams(others).toString()
    const value = fields[name as keyof typeof fields]
    for (const body of [rest, `${rest}&${name}=`, `${rest}&${name}`]) {
      refused(t, await post(body), [400, 'MISSING_FIELD', name, 'invalid_request'], body)
    }
    for (const times of [2, 100]) {
      const body = `${rest}&${Array.from({ length: times }, () => `${name}=${value}`).join('&')}`
      refused(t, await post(body), [400, 'MALFORMED_REQUEST', name, 'invalid_request'], `${name} x ${times}`)
    }
    refused(
      t,
      await post(`${RIGHT}&${name}=`),
      [400, 'MALFORMED_REQUEST', name, 'invalid_request'],
      `${name}, then empty`,
    )
  }
})

t.test('decisions §1: no form at all is MISSING_FIELD on client_id, not 415', async t => {
  const post = preparePost(t)
  for (const headers of [
    {},
    FORM,
    { 'content-length': '0' },
    { 'content-type': 'application/json', 'content-length': '0' },
  ]) {
    refused(t, await post(undefined, headers as Record<string, string>), [
      400,
      'MISSING_FIELD',
      'client_id',
      'invalid_request',
    ])
  }
  refused(t, await post('&&&'), [400, 'MISSING_FIELD', 'client_id', 'invalid_request'], 'separators')
})

t.test('decisions §3: another Content-Type is 415', async t => {
  const post = preparePost(t)
  for (const [type, body] of [
    ['application/json', '{"client_id":"acme","client_secret":"secret","grant_type":"client_credentials"}'],
    ['text/plain', RIGHT],
    ['multipart/form-data; boundary=x', '--x--'],
    ['application/x-www-form-urlencoded2', RIGHT],
    ['nonsense', RIGHT],
  ] as const) {
    const wanted: Parameters<typeof refused>[2] = [415, 'UNSUPPORTED_MEDIA_TYPE', 'content-type', 'invalid_request']
    refused(t, await post(body, { 'content-type': type }), wanted, type)
  }
})

t.test('RFC 9110 §8.3.1: the type is taken in any case and with any parameter', async t => {
  const post = preparePost(t)
  for (const type of ['APPLICATION/X-WWW-FORM-URLENCODED', 'application/x-www-form-urlencoded; charset=UTF-8']) {
    t.equal((await post(RIGHT, { 'content-type': type })).status, 200, type)
  }
})

t.test('decisions §2: a form with bad percent-encoding or bytes that are no UTF-8 is MALFORMED_REQUEST', async t => {
  const post = preparePost(t)
  for (const body of [`${RIGHT}%`, `${RIGHT}&a=%zz`, `%zz=1&${RIGHT}`, `${RIGHT}&a=%ff`, `${RIGHT}&a=%c3%28`]) {
    refused(t, await post(body), [400, 'MALFORMED_REQUEST', null, 'invalid_request'], body)
  }
})

t.test('decisions §3: a form is decoded', async t => {
  const app = build(t)
  const secret = 'a+b c&d=e%f\u00e9\ud83d\ude00'
  t.equal((await requestToken(app, { client_secret: secret })).status, 200)
  const encoded = encodeURIComponent(secret)
  const post = (body: string) => call(app, 'POST', URL, { body, headers: FORM })
  const form = (secretText: string) => `grant_type=client%5Fcredentials&client_id=%61cme&client_secret=${secretText}`
  t.equal((await post(form(encoded))).status, 200)
  t.equal((await post(form(encoded.replaceAll('%20', '+')))).status, 200)
  refused(t, await post(form('a b')), [401, 'INVALID_CLIENT', 'client_id', 'invalid_client'], 'another secret')
})

t.test('decisions §1: a form above 1 MiB is 413', async t => {
  const post = preparePost(t)
  const large = `${RIGHT}&a=${'x'.repeat(1024 * 1024 + 1 - RIGHT.length - 3)}`
  t.equal(large.length, 1024 * 1024 + 1)
  refused(t, await post(large), [413, 'PAYLOAD_TOO_LARGE', null, 'invalid_request'])
  t.equal((await post(large.slice(0, -1))).status, 200, '1 MiB is taken')
})

t.test(
  'decisions §1: fields that the interface does not name are ignored and hinted at, whatever they are called',
  async t => {
    const post = preparePost(t)
    for (const extra of [
      'scope=all',
      '__proto__=1',
      'constructor=1',
      'toString=1',
      'client_id%20=x',
      'é=1',
      'a%0d%0ab=1',
    ]) {
      const answer = await post(`${RIGHT}&${extra}`)
      t.equal(answer.status, 200, extra)
      t.match(answer.headers['sandbox-hint'], /^[\x20-\x7e]+$/)
    }
  },
)

t.test('decisions §3: values of any kind and length are answered in the envelope', async t => {
  const post = preparePost(t)
  for (const value of [
    'x'.repeat(1_000_000),
    '%00',
    '%0d%0a',
    '__proto__',
    'constructor',
    '[]',
    '%F0%9F%98%80',
    '../..',
  ]) {
    for (const name of ['client_id', 'grant_type']) {
      const body = RIGHT.replace(new RegExp(`${name}=[^&]*`), `${name}=${value}`)
      const { status, body: answer } = await post(body)
      const isRegistered = name === 'client_id' && ['__proto__', 'constructor'].includes(value)
      t.ok(isRegistered ? status === 200 : [400, 401].includes(status), `${name}=${value.slice(0, 20)}: ${status}`)
      if (status === 200) continue
      t.same(Object.keys(answer).sort(), ['code', 'error', 'error_description', 'field', 'message'])
      t.notMatch(answer.message, /x{81}/, 'quotes at most 80 characters')
      t.match(answer.error_description, /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/, 'RFC 6749 §5.2: the characters allowed')
    }
  }
})

t.test('decisions §3: HTTP Basic is not read, and the message says so', async t => {
  const post = preparePost(t)
  const authorization = `Basic ${Buffer.from('acme:secret').toString('base64')}`
  for (const scheme of [authorization, authorization.replace('Basic', 'basic')]) {
    const answer = await post('grant_type=client_credentials', { ...FORM, authorization: scheme })
    refused(t, answer, [400, 'MISSING_FIELD', 'client_id', 'invalid_request'])
    t.match(answer.body.message, /Basic/)
  }
  const plain = await post('grant_type=client_credentials')
  t.notMatch(plain.body.message, /Basic/)
})
