import { pino } from 'pino'
import t, { type Test } from 'tap'
import type { TokensInUse } from '../../src/areas/oauth/tokens.js'
import { createTokens } from '../../src/areas/oauth/tokens.js'
import type { Engine } from '../../src/core/engine.js'
import type { Ids } from '../../src/core/ids.js'
import { createIds } from '../../src/core/ids.js'
import { parseInstant } from '../../src/core/time.js'
import type { Answer } from '../helper.js'
import { build, call, connect, MONDAY, requestToken } from '../helper.js'

const TOKEN = '/api/v1/oauth/token'
const FORM = 'application/x-www-form-urlencoded'
const CREDENTIALS = 'client_id=acme&client_secret=secret&grant_type=client_credentials'

type App = ReturnType<typeof build>

/** A token request whose form is spelled out, with the headers that a test adds. */
const post = (app: App, form: string | Buffer, headers: Record<string, string> = {}) =>
  call(app, 'POST', TOKEN, { body: form, headers: { 'content-type': FORM, ...headers } })

const withToken = (app: App, token: string) =>
  call(app, 'GET', '/api/v1/bills', { region: 'EU', headers: { authorization: `Bearer ${token}` } })

/** The characters of RFC 6749 §5.2 for error and error_description. */
const NQSCHAR = /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/

/** A refusal of the token endpoint: the envelope and the two members of RFC 6749 §5.2, nothing else (decisions §3). */
function refused(
  t: Test,
  { status, body, headers }: Answer,
  expected: { status: number; code: string; field: string | null; error: string },
  what = expected.code,
) {
  t.same(
    { status, code: body?.code, field: body?.field, error: body?.error },
    expected,
    `${what}: status, code, field, error`,
  )
  t.same(Object.keys(body ?? {}).sort(), ['code', 'error', 'error_description', 'field', 'message'], `${what}: members`)
  t.match(body?.error, NQSCHAR, `${what}: characters of error`)
  t.match(body?.error_description, NQSCHAR, `${what}: characters of error_description`)
  t.match(headers['content-type'], /^application\/json/, `${what}: JSON`)
  const challenge = expected.status === 401 ? 'Basic realm="oauth"' : undefined
  t.equal(headers['www-authenticate'], challenge, `${what}: challenge on 401 alone`)
}

const malformed = (field: string | null) => ({
  status: 400,
  code: 'MALFORMED_REQUEST',
  field,
  error: 'invalid_request',
})
const missing = (field: string) => ({ status: 400, code: 'MISSING_FIELD', field, error: 'invalid_request' })
const invalidClient = { status: 401, code: 'INVALID_CLIENT', field: 'client_id', error: 'invalid_client' }

/** A refusal of a resource request: RFC 6750 §3. */
function unauthorized(t: Test, { status, body, headers }: Answer, code: string, challenge: string, what = code) {
  t.same({ status, code: body?.code }, { status: 401, code }, what)
  t.same(Object.keys(body).sort(), ['code', 'field', 'message'], `${what}: members`)
  t.equal(headers['www-authenticate'], challenge, `${what}: challenge`)
}
const INVALID = 'Bearer realm="payments-sandbox", error="invalid_token"'

// ------------------------------------------------------------------------------------------------------- success

t.test('interface, Access token response; decisions §3: a token comes with its lifetime, scope and type', async t => {
  const { status, body, headers } = await requestToken(build(t))
  t.equal(status, 200)
  t.same(Object.keys(body).sort(), ['access_token', 'expires_in', 'scope', 'token_type'])
  t.type(body.access_token, 'string')
  t.match(body.access_token, /^[A-Za-z0-9\-._~+/]+=*$/, 'a token that a Bearer header can carry: RFC 6750 §2.1')
  t.equal(body.expires_in, 3600)
  t.equal(body.scope, 'payments')
  t.equal(body.token_type, 'Bearer')
  t.match(headers['content-type'], /^application\/json/)
  t.equal(headers['cache-control'], 'no-store')
  t.equal(headers.pragma, 'no-cache')
})

t.test('decisions §3: the token opens the business endpoints, whatever the case of the scheme name', async t => {
  const app = build(t)
  const { access_token } = (await requestToken(app)).body
  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR']) {
    const answer = await call(app, 'GET', '/api/v1/bills', {
      region: 'EU',
      headers: { authorization: `${scheme} ${access_token}` },
    })
    t.equal(answer.status, 200, scheme)
  }
})

t.test('decisions §3: the lifetime is what SANDBOX_TOKEN_TTL says', async t => {
  const app = build(t, { tokenLifetime: 60 })
  t.equal((await requestToken(app)).body.expires_in, 60)
})

t.test('interface, POST /api/v1/oauth/token: the endpoint needs neither token nor x-region', async t => {
  const app = build(t)
  t.equal((await post(app, CREDENTIALS)).status, 200)
  t.equal((await post(app, CREDENTIALS, { 'x-region': 'MARS', authorization: 'Bearer nonsense' })).status, 200)
})

t.test('decisions §1: parameters that the interface does not name are ignored, with a hint', async t => {
  const app = build(t)
  const answer = await post(app, `${CREDENTIALS}&audience=anything`)
  t.equal(answer.status, 200)
  t.match(answer.headers['sandbox-hint'], /audience/)
  t.equal((await post(app, `${CREDENTIALS}`)).headers['sandbox-hint'], undefined, 'and no hint without one')
})

t.test('decisions §3: a form is read whatever parameters or case its media type has', async t => {
  const app = build(t)
  for (const type of [`${FORM};charset=UTF-8`, `${FORM} ; charset=utf-8`, 'Application/X-WWW-Form-URLencoded']) {
    t.equal((await post(app, CREDENTIALS, { 'content-type': type })).status, 200, type)
  }
})

t.test('decisions §3: secrets are decoded as forms are: + and %20 are spaces, %2B is a plus, %C3%BC is ü', async t => {
  const app = build(t)
  const form = (secret: string) => `client_id=acme&grant_type=client_credentials&client_secret=${secret}`
  t.equal((await post(app, form('p+q%2B%C3%BC%26%3D'))).status, 200, 'registers')
  t.equal((await post(app, form('p%20q%2B%C3%BC%26%3D'))).status, 200, 'the same secret')
  refused(t, await post(app, form('p%2Bq%2B%C3%BC%26%3D')), invalidClient, 'another secret')
})

// --------------------------------------------------------------------------------------------------- form alone

t.test('decisions §3: a JSON token request is 415', async t => {
  const app = build(t)
  const body = JSON.stringify({ client_id: 'acme', client_secret: 'secret', grant_type: 'client_credentials' })
  for (const type of ['application/json', 'application/json; charset=utf-8', 'text/plain', 'multipart/form-data']) {
    refused(
      t,
      await post(app, body, { 'content-type': type }),
      { status: 415, code: 'UNSUPPORTED_MEDIA_TYPE', field: 'content-type', error: 'invalid_request' },
      type,
    )
  }
})

t.test('decisions §1: a token request without any body is 400 on the first required member, not 415', async t => {
  const app = build(t)
  refused(t, await call(app, 'POST', TOKEN), missing('client_id'), 'no body, no type')
  refused(t, await post(app, ''), missing('client_id'), 'an empty form')
})

t.test('decisions §3: bad percent-encoding in the form is MALFORMED_REQUEST', async t => {
  const app = build(t)
  for (const secret of ['%', '%zz', '%C3', '%FF']) {
    const form = `client_id=acme&grant_type=client_credentials&client_secret=${secret}`
    refused(t, await post(app, form), malformed(null), secret)
  }
})

t.test('decisions §1: a form above 1 MiB is 413', async t => {
  const app = build(t)
  const padded = (size: number) => `${CREDENTIALS}&x=`.padEnd(size, 'x')
  t.equal((await post(app, padded(1024 * 1024))).status, 200, 'exactly 1 MiB')
  refused(t, await post(app, padded(1024 * 1024 + 1)), {
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
    field: null,
    error: 'invalid_request',
  })
})

t.test('decisions §1: another method is 405 with Allow', async t => {
  const { status, body, headers } = await call(build(t), 'GET', TOKEN)
  t.equal(status, 405)
  t.equal(body.code, 'METHOD_NOT_ALLOWED')
  t.match(headers.allow, /POST/)
})

// ---------------------------------------------------------------------------------------------------- parameters

t.test('decisions §3: a missing or empty parameter is MISSING_FIELD, and the first one is named', async t => {
  const app = build(t)
  for (const name of ['client_id', 'client_secret', 'grant_type']) {
    refused(t, await requestToken(app, { [name]: undefined }), missing(name), `${name} missing`)
    refused(t, await requestToken(app, { [name]: '' }), missing(name), `${name} empty`)
  }
  refused(t, await post(app, 'client_id&client_secret=s&grant_type=client_credentials'), missing('client_id'), 'no =')
  refused(t, await post(app, 'grant_type=client_credentials'), missing('client_id'), 'two missing')
})

t.test('decisions §3: a repeated parameter is MALFORMED_REQUEST, even with the same value', async t => {
  const app = build(t)
  for (const again of ['client_id=acme', 'client_secret=other', 'grant_type=client_credentials']) {
    refused(t, await post(app, `${CREDENTIALS}&${again}`), malformed(again.split('=')[0] as string), again)
  }
  refused(t, await post(app, `${CREDENTIALS}&client_id=acme&client_id=acme`), malformed('client_id'), 'three times')
})

t.test('interface, Authentication 1: no other grant type is supported', async t => {
  const app = build(t)
  const unsupported = {
    status: 400,
    code: 'UNSUPPORTED_GRANT_TYPE',
    field: 'grant_type',
    error: 'unsupported_grant_type',
  }
  for (const grant of [
    'authorization_code',
    'password',
    'refresh_token',
    'CLIENT_CREDENTIALS',
    'client_credentials ',
  ]) {
    refused(t, await requestToken(app, { grant_type: grant }), unsupported, grant)
  }
  const { body } = await requestToken(app, { grant_type: 'password' })
  t.match(body.message, /client_credentials/, 'decisions §2: says what would be right')
})

t.test('decisions §3: a request that is refused registers no client', async t => {
  const app = build(t)
  await requestToken(app, { client_secret: 'first', grant_type: 'password' })
  await requestToken(app, { client_secret: 'first', grant_type: undefined })
  t.equal((await requestToken(app, { client_secret: 'second' })).status, 200)
})

t.test('decisions §3: errors keep to the characters that RFC 6749 §5.2 allows, whatever was sent', async t => {
  const app = build(t)
  const unsupported = {
    status: 400,
    code: 'UNSUPPORTED_GRANT_TYPE',
    field: 'grant_type',
    error: 'unsupported_grant_type',
  }
  for (const grant of ['"quoted"', 'back\\slash', 'tab\tnew\nline', 'grün', '💶', '\u0000', '\u007f']) {
    refused(t, await requestToken(app, { grant_type: grant }), unsupported, JSON.stringify(grant))
  }
})

t.test('decisions §2: a message quotes no more than 80 characters of the input', async t => {
  const { body } = await requestToken(build(t), { grant_type: 'x'.repeat(1000) })
  t.equal(body.code, 'UNSUPPORTED_GRANT_TYPE')
  t.notMatch(body.message, /x{81}/)
  t.notMatch(body.error_description, /x{81}/)
})

// --------------------------------------------------------------------------------------------------- HTTP Basic

t.test('decisions §3: HTTP Basic credentials are not read, and the message says so', async t => {
  const app = build(t)
  const basic = `Basic ${Buffer.from('acme:secret').toString('base64')}`
  for (const authorization of [basic, basic.replace('Basic', 'basic')]) {
    const answer = await post(app, 'grant_type=client_credentials', { authorization })
    refused(t, answer, missing('client_id'), authorization)
    t.match(answer.body.message, /HTTP Basic/)
    t.match(answer.body.error_description, /HTTP Basic/)
  }
  const bodiless = await call(app, 'POST', TOKEN, { headers: { authorization: basic } })
  refused(t, bodiless, missing('client_id'), 'without a body')
  t.match(bodiless.body.message, /HTTP Basic/)

  const plain = await post(app, 'grant_type=client_credentials')
  t.notMatch(plain.body.message, /Basic/, 'who does not use it is not told')
  const other = await post(app, `${CREDENTIALS}&client_id=x`, { authorization: basic })
  t.notMatch(other.body.message, /Basic/, 'nor is who made another mistake')
})

t.test('decisions §3: credentials in the form count, beside Basic ones that differ', async t => {
  const authorization = `Basic ${Buffer.from('other:other').toString('base64')}`
  t.equal((await post(build(t), CREDENTIALS, { authorization })).status, 200)
})

// ------------------------------------------------------------------------------------------------------- clients

t.test('decisions §3: sandbox-client / sandbox-secret always exists', async t => {
  const demo = { client_id: 'sandbox-client', client_secret: 'sandbox-secret' }
  t.equal((await requestToken(build(t), demo)).status, 200)
  t.equal((await requestToken(build(t, { openRegistration: false }), demo)).status, 200, 'closed registration')
  const other = { client_id: 'sandbox-client', client_secret: 'other' }
  refused(t, await requestToken(build(t), other), invalidClient, 'with no other secret')
})

t.test(
  'decisions §3: the first request registers an unknown client, from then on another secret is refused',
  async t => {
    const app = build(t)
    t.equal((await requestToken(app, { client_secret: 'first' })).status, 200)
    for (const secret of ['second', 'First', 'first ', 'firs', 'firstt']) {
      refused(t, await requestToken(app, { client_secret: secret }), invalidClient, JSON.stringify(secret))
    }
    t.equal((await requestToken(app, { client_secret: 'first' })).status, 200, 'the first one still works')
  },
)

t.test('decisions §3: with registration closed an unknown client is INVALID_CLIENT', async t => {
  const app = build(t, { openRegistration: false })
  refused(t, await requestToken(app), invalidClient)
  const { body } = await call(app, 'GET', '/_sandbox/clients')
  t.same(
    body.data.map((client: { clientId: string }) => client.clientId),
    ['sandbox-client'],
  )
})

t.test('decisions §3: what is no registrable client id is INVALID_CLIENT', async t => {
  const app = build(t)
  for (const id of ['a b', 'a/b', 'a:b', 'a@b', 'ä', '💶', 'a\n', 'x'.repeat(65), 'x'.repeat(256), '%41']) {
    refused(t, await requestToken(app, { client_id: id }), invalidClient, JSON.stringify(id))
  }
  for (const id of ['x', '.', '-', '_', 'A-z_0.9', '__proto__', 'constructor', 'x'.repeat(64)]) {
    const token = (await requestToken(app, { client_id: id })).body.access_token
    t.equal((await withToken(app, token)).status, 200, JSON.stringify(id))
  }
})

t.test('decisions §3: a client id of any length that is unknown is INVALID_CLIENT, not another refusal', async t => {
  refused(t, await requestToken(build(t), { client_id: 'x'.repeat(257) }), invalidClient)
})

t.test('interface, POST /api/v1/oauth/token: no limit of a secret is stated, so long ones work', async t => {
  const client_secret = 's'.repeat(1000)
  t.equal((await requestToken(build(t), { client_secret })).status, 200, 'registered with it')

  const configured = build(t, { clients: [{ clientId: 'acme', clientSecret: client_secret }] })
  t.equal((await requestToken(configured, { client_secret })).status, 200, 'configured with it')
})

t.test('decisions §3: the token request of a configured client has the scope it is listed with', async t => {
  const app = build(t, {
    openRegistration: false,
    clients: [
      { clientId: 'acme', clientSecret: 'secret', scope: 'bills:read bills:write' },
      { clientId: 'beta', clientSecret: 'secret' },
    ],
  })
  t.equal((await requestToken(app)).body.scope, 'bills:read bills:write')
  t.equal((await requestToken(app, { client_id: 'beta' })).body.scope, 'payments', 'or the default')
  refused(t, await requestToken(app, { client_secret: 'other' }), invalidClient, 'wrong secret')
  refused(t, await requestToken(app, { client_id: 'gamma' }), invalidClient, 'a client that is not listed')
})

t.test('decisions §3: scopes are not enforced', async t => {
  const app = build(t, { clients: [{ clientId: 'acme', clientSecret: 'secret', scope: 'nothing' }] })
  t.equal((await withToken(app, (await requestToken(app)).body.access_token)).status, 200)
})

t.test('decisions §3: where no tenant can be dropped for another, the answer is 503', async t => {
  const app = build(t, { maxTenants: 1 })
  const { status, body, headers } = await requestToken(app)
  t.equal(status, 503)
  t.equal(body.code, 'SERVICE_UNAVAILABLE')
  t.equal(body.field, null)
  t.match(body.error, NQSCHAR)
  t.match(body.error_description, NQSCHAR)
  t.equal(headers['www-authenticate'], undefined)
})

t.test('decisions §3: secrets and tokens are never logged', async t => {
  const lines: string[] = []
  const app = build(t, {
    logger: pino({ level: 'trace' }, { write: (line: string) => void lines.push(line) }),
  })
  const { access_token } = (await requestToken(app, { client_secret: 'hush-hush' })).body
  await requestToken(app, { client_secret: 'wrong-secret' })
  await post(app, `${CREDENTIALS}&client_secret=twice-secret`)
  await withToken(app, access_token)
  await withToken(app, `${access_token}x`)
  const log = lines.join('')
  t.match(log, /token/, 'the requests are in the log')
  for (const secret of ['hush-hush', 'wrong-secret', 'twice-secret', access_token])
    t.notOk(log.includes(secret), secret)
})

// -------------------------------------------------------------------------------------------------------- tokens

t.test('decisions §3: a token expires on the tenant clock, at its exact second', async t => {
  const app = build(t)
  const { access_token } = (await requestToken(app)).body
  const advance = (by: string) => call(app, 'POST', '/_sandbox/clock/advance?client=acme', { body: { by } })

  t.equal((await advance('PT59M59S')).body.now, '2026-11-02T09:59:59Z')
  t.equal((await withToken(app, access_token)).status, 200, 'one second before')
  t.equal((await advance('PT1S')).body.now, '2026-11-02T10:00:00Z')
  unauthorized(t, await withToken(app, access_token), 'EXPIRED_TOKEN', INVALID, 'after expires_in seconds')
  await advance('P300D')
  unauthorized(t, await withToken(app, access_token), 'EXPIRED_TOKEN', INVALID, 'long after')
})

t.test('decisions §3: a token expires with a running clock, too', async t => {
  let real = 1_800_000_000_999
  const app = build(t, { clock: 'real', now: () => real, tokenLifetime: 60 })
  const { access_token } = (await requestToken(app)).body
  real += 59_000
  t.equal((await withToken(app, access_token)).status, 200, 'after 59 s')
  real += 1000
  unauthorized(t, await withToken(app, access_token), 'EXPIRED_TOKEN', INVALID, 'after 60 s')
})

t.test('decisions §3: several tokens of a client work side by side, and each expires at its own time', async t => {
  const app = build(t)
  const first = (await requestToken(app)).body.access_token
  await call(app, 'POST', '/_sandbox/clock/advance?client=acme', { body: { by: 'PT30M' } })
  const second = (await requestToken(app)).body.access_token
  const third = (await requestToken(app)).body.access_token
  t.equal(new Set([first, second, third]).size, 3, 'no two are the same')
  for (const token of [first, second, third]) t.equal((await withToken(app, token)).status, 200)

  await call(app, 'POST', '/_sandbox/clock/advance?client=acme', { body: { by: 'PT30M' } })
  unauthorized(t, await withToken(app, first), 'EXPIRED_TOKEN', INVALID)
  for (const token of [second, third]) t.equal((await withToken(app, token)).status, 200)
})

t.test('decisions §3: no credentials are MISSING_TOKEN with a challenge that names no error', async t => {
  const app = build(t)
  const challenge = 'Bearer realm="payments-sandbox"'
  unauthorized(t, await call(app, 'GET', '/api/v1/bills', { region: 'EU' }), 'MISSING_TOKEN', challenge, 'no header')
  const basic = { authorization: `Basic ${Buffer.from('acme:secret').toString('base64')}` }
  unauthorized(
    t,
    await call(app, 'GET', '/api/v1/bills', { region: 'EU', headers: basic }),
    'MISSING_TOKEN',
    challenge,
    'another scheme',
  )
})

t.test('decisions §3: a token that was changed anywhere is INVALID_TOKEN', async t => {
  const app = build(t)
  await requestToken(app, { client_id: 'beta' })
  const token: string = (await requestToken(app)).body.access_token
  t.equal((await withToken(app, token)).status, 200, 'unchanged, it works')
  for (let at = 0; at < token.length; at++) {
    const other = token[at] === 'A' ? 'B' : 'A'
    const changed = token.slice(0, at) + other + token.slice(at + 1)
    unauthorized(t, await withToken(app, changed), 'INVALID_TOKEN', INVALID, `character ${at}`)
  }
})

t.test('decisions §3: a token with a part left out, doubled, swapped or added is INVALID_TOKEN', async t => {
  const app = build(t)
  const token: string = (await requestToken(app)).body.access_token
  const other: string = (await requestToken(app, { client_id: 'beta' })).body.access_token
  const parts = token.split('.')
  const changes = [
    ...parts.map((_, at) => parts.filter((_, index) => index !== at).join('.')),
    ...parts.map((_, at) => parts.map((part, index) => (index === at ? '' : part)).join('.')),
    ...parts.map((_, at) => parts.map((part, index) => (index === at ? `${part}${part}` : part)).join('.')),
    ...parts.map((_, at) => parts.map((part, index) => (index === at ? other.split('.')[at] : part)).join('.')),
    [...parts].reverse().join('.'),
    token.slice(0, -1),
    token.slice(1),
    `${token}A`,
    `${token}.`,
    `.${token}`,
    `${token}.${token}`,
    `${token} ${token}`,
    token.toUpperCase(),
    token.toLowerCase(),
    'x',
    '.',
    '...',
    'a.b.c.d',
    `${Buffer.from('nobody').toString('base64url')}.1.zzzzzz.AAAAAAAAAAAAAAAA`,
    'ä',
    'x'.repeat(4000),
  ].filter(changed => changed !== token && changed !== other)
  for (const changed of changes) {
    unauthorized(t, await withToken(app, changed), 'INVALID_TOKEN', INVALID, changed.slice(0, 60))
  }
})

t.test('decisions §3: a token of another process, with another seed, is INVALID_TOKEN', async t => {
  const token = (await requestToken(build(t, { seed: 'one' }))).body.access_token
  const app = build(t, { seed: 'two' })
  await requestToken(app)
  unauthorized(t, await withToken(app, token), 'INVALID_TOKEN', INVALID)
})

t.test('decisions §3: a token for a client that nobody has authenticated as is INVALID_TOKEN', async t => {
  const demo = { client_id: 'sandbox-client', client_secret: 'sandbox-secret' }
  const token = (await requestToken(build(t), demo)).body.access_token
  unauthorized(t, await withToken(build(t), token), 'INVALID_TOKEN', INVALID)
})

t.test('control plane, reset: the tokens of the tenant are gone, those of others are not', async t => {
  const app = build(t)
  const acme = await connect(app)
  const beta = await connect(app, 'beta')
  t.equal((await acme.control('POST', '/reset')).status, 200)
  unauthorized(t, await withToken(app, acme.token), 'INVALID_TOKEN', INVALID)
  t.equal((await withToken(app, beta.token)).status, 200)
  t.equal((await withToken(app, (await requestToken(app)).body.access_token)).status, 200, 'a new one works')
})

t.test('control plane, reset: an old token stays INVALID_TOKEN when new ones have been issued', async t => {
  const app = build(t)
  await requestToken(app)
  await call(app, 'POST', '/_sandbox/clock/advance?client=acme', { body: { by: 'PT10M' } })
  const old = (await requestToken(app)).body.access_token
  await call(app, 'POST', '/_sandbox/reset?client=acme')
  const issued = [(await requestToken(app)).body.access_token, (await requestToken(app)).body.access_token]
  t.notOk(issued.includes(old), 'it is none of the new ones')
  unauthorized(t, await withToken(app, old), 'INVALID_TOKEN', INVALID)
})

t.test('control plane, SANDBOX_SEED: the same seed, clock and requests give the same token', async t => {
  const first = await requestToken(build(t, { seed: 'one' }))
  const again = await requestToken(build(t, { seed: 'one' }))
  const other = await requestToken(build(t, { seed: 'two' }))
  t.equal(again.body.access_token, first.body.access_token)
  t.not(other.body.access_token, first.body.access_token)
})

/** The tokens of one life of a client, beside others that share what is known of tokens in use. */
function life(inUse: TokensInUse, secret = 'secret') {
  let tags = 0
  const now = parseInstant(MONDAY) as number
  const ids = createIds('test', 'acme')
  const counting: Ids = {
    ...ids,
    sign(purpose, text) {
      tags++
      return ids.sign(purpose, text)
    },
  }
  const tokens = createTokens({
    engine: { ids: counting, clock: { now: () => now } } as unknown as Engine,
    clientId: 'acme',
    binding: () => secret,
    scope: 'payments',
    lifetime: 3600,
    issued: { expiredUpTo: 0 },
    inUse,
  })
  return { tokens, tags: () => tags }
}

t.test('decisions §3: however many tokens are in use, each is good', async t => {
  const inUse: TokensInUse = new Map()
  const { tokens } = life(inUse)
  const all = Array.from({ length: 10_002 }, () => tokens.issue().access_token)
  t.ok(all.every((token, at) => tokens.read(token)?.number === at + 1))
  t.equal(inUse.size, 10_000)
  for (const at of [0, 1, 5000, 10_000, 10_001, 0]) t.equal(tokens.read(all[at] as string)?.number, at + 1, `${at}`)
  t.equal(inUse.size, 10_000)
})

t.test('issue 4, guard: a token in use takes one digest, however often it is read', async t => {
  const { tokens, tags } = life(new Map())
  const issued = [tokens.issue().access_token, tokens.issue().access_token]
  for (let times = 0; times < 100; times++) for (const token of issued) t.ok(tokens.read(token))
  t.equal(tags(), 4, 'one when it is issued, one when it is read first')
})

t.test('decisions §3: a token in use ends with the life that it was issued in', async t => {
  const inUse: TokensInUse = new Map()
  const [first, second] = [life(inUse), life(inUse, 'another secret')]
  const token = first.tokens.issue().access_token
  const forged = `${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`
  t.ok(first.tokens.read(token))
  t.equal(second.tokens.read(token), undefined)
  for (const { tokens } of [first, second]) {
    for (const wrong of [forged, token.slice(0, -1), `${token}A`, token.replace(/\.([^.]*)$/, ' $1')]) {
      t.equal(tokens.read(wrong), undefined, wrong)
    }
  }
  t.ok(first.tokens.read(token), 'and is good all the same')
})

t.test('decisions §3: however many tokens are issued, each is good', async t => {
  const app = build(t)
  const tokens: string[] = []
  for (let count = 0; count < 1002; count++) tokens.push((await requestToken(app)).body.access_token)
  for (const at of [0, 999, 1000, 1001, 0]) t.equal((await withToken(app, tokens[at] as string)).status, 200, `${at}`)
})
