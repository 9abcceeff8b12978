import t, { type Test } from 'tap'
import { build, call, requestToken } from '../helper.js'
import { outcome, type Row, rows, table } from './raw.js'

// interface, POST /api/v1/oauth/token; decisions §3: form-encoded; missing, empty or repeated parameter 400.

const URL = '/api/v1/oauth/token'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const fields = { client_id: 'acme', client_secret: 'secret', grant_type: 'client_credentials' }
const RIGHT = new URLSearchParams(fields).toString()

const preparePost = (t: Test) => {
  const app = build(t)
  return (body?: unknown, headers: Record<string, string> = FORM) =>
    call(app, 'POST', URL, { ...(body !== undefined && { body }), headers })
}

t.test('decisions §2, §3: forms that are refused', async t => {
  const post = preparePost(t)
  const wanted: Row[] = []
  for (const [name, value] of Object.entries(fields)) {
    const rest = new URLSearchParams(Object.entries(fields).filter(([other]) => other !== name)).toString()
    wanted.push(...rows([rest, `${rest}&${name}=`, `${rest}&${name}`], 400, 'MISSING_FIELD', name))
    const repeated = [`${name}=&${RIGHT}`, `${Array(100).fill(`${name}=${value}`).join('&')}&${rest}`]
    wanted.push(...rows(repeated, 400, 'MALFORMED_REQUEST', name))
  }
  const broken = [`${RIGHT}%`, `${RIGHT}&a=%zz`, `%zz=1&${RIGHT}`, `${RIGHT}&a=%ff`, `${RIGHT}&a=%c3%28`]
  wanted.push(...rows(broken, 400, 'MALFORMED_REQUEST', null), ['&&&', 400, 'MISSING_FIELD', 'client_id'])
  wanted.push([RIGHT.replace('client_credentials', 'password'), 400, 'UNSUPPORTED_GRANT_TYPE', 'grant_type'])
  wanted.push([RIGHT.replace('acme', '!'), 401, 'INVALID_CLIENT', 'client_id'])
  const large = `${RIGHT}&a=${'x'.repeat(1024 * 1024 + 1 - RIGHT.length - 3)}`
  wanted.push([large, 413, 'PAYLOAD_TOO_LARGE', null], [large.slice(0, -1), 200])
  await table(t, wanted, body => post(body))
})

t.test('decisions §1, §3: a form has its Content-Type; without a body the type does not matter', async t => {
  const post = preparePost(t)
  const others = [
    'application/json',
    'text/plain',
    'multipart/form-data; boundary=x',
    `${FORM['content-type']}2`,
    'nonsense',
  ]
  const right = ['APPLICATION/X-WWW-FORM-URLENCODED', `${FORM['content-type']}; charset=UTF-8`]
  const wanted = [...rows(others, 415, 'UNSUPPORTED_MEDIA_TYPE', 'content-type'), ...rows(right, 200)]
  await table(t, wanted, type =>
    post(type === 'application/json' ? JSON.stringify(fields) : RIGHT, { 'content-type': type }),
  )
  await table(
    t,
    rows(['application/json', FORM['content-type'], 'text/plain'], 400, 'MISSING_FIELD', 'client_id'),
    type => post(undefined, { 'content-type': type, 'content-length': '0' }),
  )
  t.same(outcome(await post(undefined, {})), [400, 'MISSING_FIELD', 'client_id'])
})

t.test('decisions §3: an error has the members of RFC 6749 §5.2, and no challenge in a 400', async t => {
  const post = preparePost(t)
  const actual: unknown[] = []
  for (const body of ['', RIGHT.replace('client_credentials', 'x'), RIGHT.replace('acme', '!"\\é')]) {
    const answer = await post(body)
    const isText = /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/.test(answer.body.error_description)
    actual.push([answer.status, answer.body.error, isText, answer.headers['www-authenticate'] !== undefined])
  }
  t.same(actual, [
    [400, 'invalid_request', true, false],
    [400, 'unsupported_grant_type', true, false],
    // decisions §3: only a request with HTTP Basic gets a challenge.
    [401, 'invalid_client', true, false],
  ])
})

t.test('decisions §3: errors are not stored by caches', async t => {
  const post = preparePost(t)
  t.match((await post('client_id=acme')).headers, { 'cache-control': 'no-store' })
})

t.test('decisions §3: a form is decoded', async t => {
  const app = build(t)
  const secret = 'a+b c&d=e%f\u00e9\ud83d\ude00'
  await requestToken(app, { client_secret: secret })
  const encoded = encodeURIComponent(secret)
  const secrets: Row[] = [
    ...rows([encoded, encoded.replaceAll('%20', '+')], 200),
    ['a+b', 401, 'INVALID_CLIENT', 'client_id'],
  ]
  await table(t, secrets, text => {
    const body = `grant_type=client%5Fcredentials&client_id=%61cme&client_secret=${text}`
    return call(app, 'POST', URL, { body, headers: FORM })
  })
})

t.test('decisions §1: unknown fields of any name are ignored and hinted at', async t => {
  const post = preparePost(t)
  const actual: unknown[] = []
  const extras = ['scope=all', '__proto__=1', 'constructor=1', 'client_id%20=x', 'é=1', 'a%0d%0ab=1']
  for (const extra of extras) {
    const { status, headers } = await post(`${RIGHT}&${extra}`)
    actual.push([extra, status, /^[\x20-\x7e]+$/.test(String(headers['sandbox-hint']))])
  }
  t.same(
    actual,
    extras.map(extra => [extra, 200, true]),
  )
})

t.test('decisions §3: HTTP Basic is accepted, with a hint; credentials that differ are 400', async t => {
  const app = build(t)
  const basic = (secret: string) => ({
    ...FORM,
    authorization: `Basic ${Buffer.from(`acme:${secret}`).toString('base64')}`,
  })
  await requestToken(app)
  const post = (body: string, headers: Record<string, string>) => call(app, 'POST', URL, { body, headers })
  const taken = await post('grant_type=client_credentials', basic('secret'))
  t.same([taken.status, /form/i.test(String(taken.headers['sandbox-hint']))], [200, true])
  t.equal((await post(RIGHT, basic('other'))).status, 400)
  const wrong = await post('grant_type=client_credentials', basic('other'))
  t.same([wrong.status, wrong.headers['www-authenticate']], [401, 'Basic realm="oauth"'])
})
