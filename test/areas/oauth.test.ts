import t from 'tap'
import { gist, holds, NO_TOKEN, table, WRONG_METHOD } from '../answers.js'
import type { Answer } from '../helper.js'
import { build, call, connect, requestToken } from '../helper.js'

const TOKEN = '/api/v1/oauth/token'
const FORM = 'application/x-www-form-urlencoded'
const CREDENTIALS = 'client_id=acme&client_secret=secret&grant_type=client_credentials'
const GRANT = 'grant_type=client_credentials'
const DEMO = { client_id: 'sandbox-client', client_secret: 'sandbox-secret' }

type App = ReturnType<typeof build>

/** One server for all tests whose client ids are their own; `acme` has the secret `secret` everywhere. */
const shared = build(t)
/** One with the clients of its list only. */
const closed = build(t, {
  openRegistration: false,
  clients: [
    { clientId: 'acme', clientSecret: 's'.repeat(1000), scope: 'nothing at:all' },
    { clientId: 'beta', clientSecret: 'secret' },
    { clientId: 'Listed', clientSecret: 'secret' },
  ],
})

/** A token request whose form is spelled out, with the headers that a test adds. */
const post = (app: App, form: string | Buffer, headers: Record<string, string> = {}) =>
  call(app, 'POST', TOKEN, { body: form, headers: { 'content-type': FORM, ...headers } })

const withToken = (app: App, token: string) =>
  call(app, 'GET', '/api/v1/bills', { region: 'EU', headers: { authorization: `Bearer ${token}` } })
const tokenOf = async (app: App, fields = {}): Promise<string> => (await requestToken(app, fields)).body.access_token
const advance = (app: App, by: string) => call(app, 'POST', '/_sandbox/clock/advance?client=acme', { body: { by } })
const basic = (id: string, secret: string, scheme = 'Basic') =>
  `${scheme} ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`

/** A refusal of the token endpoint: the envelope and the two members of RFC 6749 §5.2, nothing else (decisions §3). */
function refusal({ status, body }: Answer): string {
  if (status === 200) return '200'
  /** The characters that RFC 6749 §5.2 allows in error and error_description. */
  const isAllowed = [body.error, body.error_description].every(text => /^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/.test(text))
  const isEnvelope = Object.keys(body).sort().join() === 'code,error,error_description,field,message'
  const flaws = `${isAllowed ? '' : ' characters'}${isEnvelope ? '' : ' members'}`
  return `${status} ${body.code} ${body.field} ${body.error}${flaws}`
}
const malformed = (field: string | null) => `400 MALFORMED_REQUEST ${field} invalid_request`
const missing = (field: string) => `400 MISSING_FIELD ${field} invalid_request`
const UNSUPPORTED = '400 UNSUPPORTED_GRANT_TYPE grant_type unsupported_grant_type'
const INVALID_CLIENT = '401 INVALID_CLIENT client_id invalid_client'
const WRONG_TYPE = '415 UNSUPPORTED_MEDIA_TYPE content-type invalid_request'

/** A refusal of a resource request, with its challenge: RFC 6750 §3. */
const unauthorized = (answer: Answer) => `${gist(answer)}, ${answer.headers['www-authenticate']}`
const REALM = 'Bearer realm="payments-sandbox"'
const INVALID = `401 INVALID_TOKEN authorization, ${REALM}, error="invalid_token"`
const EXPIRED = `401 EXPIRED_TOKEN authorization, ${REALM}, error="invalid_token"`

// ------------------------------------------------------------------------------------------------------- success

t.test('interface, Access token response; decisions §3: a token comes with its lifetime, scope and type', async t => {
  const { status, body, headers } = await requestToken(shared)
  const { access_token, ...rest } = body
  t.same([status, rest], [200, { expires_in: 3600, scope: 'payments', token_type: 'Bearer' }])
  t.match(access_token, /^[A-Za-z0-9\-._~+/]+=*$/, 'a token that a Bearer header can carry: RFC 6750 §2.1')
  t.match(headers, { 'content-type': /^application\/json/, 'cache-control': 'no-store', pragma: 'no-cache' })
})

t.test('decisions §3: the token opens the business endpoints, whatever the case of the scheme name', async t => {
  const token = await tokenOf(shared)
  const get = (scheme: string) =>
    call(shared, 'GET', '/api/v1/bills', { region: 'EU', headers: { authorization: `${scheme} ${token}` } })
  await table(t, get, { 200: ['Bearer', 'bearer', 'BEARER', 'bEaReR', 'Bearer  '] })
})

t.test('interface, POST /api/v1/oauth/token: a form in any spelling, without token or region', async t => {
  const types = [`${FORM};charset=UTF-8`, `${FORM} ; charset=utf-8`, 'Application/X-WWW-Form-URLencoded']
  const accepted = [{}, { 'x-region': 'MARS', authorization: 'Bearer nonsense' }]
  const json = ['application/json', 'application/json; charset=utf-8', 'text/plain', 'multipart/form-data']
  await table(t, async headers => refusal(await post(shared, CREDENTIALS, headers)), {
    200: [...accepted, ...types.map(type => ({ 'content-type': type }))],
    [WRONG_TYPE]: json.map(type => ({ 'content-type': type })),
  })
})

t.test('decisions §1: parameters of a form that the interface does not name are ignored, with a hint', async t => {
  for (const extra of ['audience=anything', '__proto__=1', 'constructor=1', 'client_id%20=x', 'é=1', 'a%0d%0ab=1']) {
    const { status, headers } = await post(shared, `${CREDENTIALS}&${extra}`)
    t.match([status, headers['sandbox-hint']], [200, /^unknown member [\x20-\x7e]+ ignored$/], extra)
  }
  t.equal((await post(shared, CREDENTIALS)).headers['sandbox-hint'], undefined)
})

t.test('decisions §3: secrets are decoded as forms are: + and %20 are spaces, %2B is a plus, %C3%BC is ü', async t => {
  const form = (secret: string) => `client_id=decoded&${GRANT}&client_secret=${secret}`
  t.equal(refusal(await post(shared, form('p+q%2B%C3%BC%26%3D'))), '200', 'registers')
  await table(t, async secret => refusal(await post(shared, form(secret))), {
    200: ['p%20q%2B%C3%BC%26%3D'],
    [INVALID_CLIENT]: ['p%2Bq%2B%C3%BC%26%3D'],
    [malformed(null)]: ['%', '%zz', '%C3', '%FF'],
  })
})

t.test('decisions §1: a form above 128 KiB is 413, another method 405 with Allow', async t => {
  const padded = (size: number) => `${CREDENTIALS}&x=`.padEnd(size, 'x')
  await table(t, async size => refusal(await post(shared, padded(size))), {
    200: [128 * 1024],
    '413 PAYLOAD_TOO_LARGE null invalid_request': [128 * 1024 + 1],
  })
  const answer = await call(shared, 'GET', TOKEN)
  t.match([gist(answer), answer.headers.allow], [WRONG_METHOD, /POST/])
})

// ---------------------------------------------------------------------------------------------------- parameters

t.test('decisions §3: a missing or repeated parameter is 400, and one without a value counts as left out', async t => {
  await table(t, async fields => refusal(await requestToken(shared, fields)), {
    [missing('client_id')]: [{ client_id: undefined }, { client_id: '' }],
    [missing('client_secret')]: [{ client_secret: undefined }, { client_secret: '' }],
    [missing('grant_type')]: [{ grant_type: undefined }, { grant_type: '' }],
  })
  await table(t, async form => refusal(await post(shared, form)), {
    [missing('client_id')]: ['', '&&&', GRANT, `client_id&client_secret=s&${GRANT}`],
    200: ['a&a', 'a=&a', 'client_id', 'client_id=&client_secret=', 'scope=', '&&'].flatMap(one => [
      `${CREDENTIALS}&${one}`,
      `${one}&${CREDENTIALS}`,
      `\ufeff${CREDENTIALS}&${one}`,
    ]),
    [malformed('a')]: [`${CREDENTIALS}&a=1&a=1`],
    [malformed('client_id')]: ['client_id=acme', 'client_id=acme&client_id=acme'].map(one => `${CREDENTIALS}&${one}`),
    [malformed('client_secret')]: [`${CREDENTIALS}&client_secret=other`],
    [malformed(null)]: [`${CREDENTIALS}%`, `%zz=1&${CREDENTIALS}`, `${CREDENTIALS}&a=%ff`, `${CREDENTIALS}&a=%c3%28`],
    [malformed('grant_type')]: [`${CREDENTIALS}&${GRANT}`],
  })
  t.equal(refusal(await call(shared, 'POST', TOKEN)), missing('client_id'), 'decisions §1: no body is 400, not 415')
})

t.test('interface, Authentication: no other grant type is supported, and errors keep to RFC 6749 §5.2', async t => {
  const others = ['authorization_code', 'password', 'refresh_token', 'CLIENT_CREDENTIALS', 'client_credentials ']
  const hostile = ['"quoted"', 'back\\slash', 'tab\tnew\nline', 'grün', '💶', '\u0000', '\u007f', 'x'.repeat(1000)]
  await table(t, async grant_type => refusal(await requestToken(shared, { grant_type })), {
    [UNSUPPORTED]: [...others, ...hostile],
  })
  const { message, error_description } = (await requestToken(shared, { grant_type: 'x'.repeat(1000) })).body
  t.match(message, /client_credentials/, 'decisions §2: it says what would be right')
  t.notMatch(`${message} ${error_description}`, /x{81}/, 'and quotes no more than 80 characters')
})

// --------------------------------------------------------------------------------------------------- HTTP Basic

t.test('decisions §3: HTTP Basic is accepted, with a hint that the service documents form fields', async t => {
  t.equal(refusal(await requestToken(shared, { client_id: 'basic', client_secret: 'p q:ü' })), '200')
  const ask = (authorization: string, form = GRANT) => post(shared, form, { authorization })
  const right = await ask(basic('basic', 'p q:ü'))
  t.equal(refusal(right), '200')
  t.match(right.headers['sandbox-hint'], /form/)
  const unencoded = `Basic ${Buffer.from('basic:p q:ü').toString('base64')}`
  t.equal(refusal(await ask(unencoded)), '200', 'not percent-encoded')
  const plus = `Basic ${Buffer.from('basic:p+q%3A%C3%BC').toString('base64')}`
  t.equal(refusal(await ask(plus)), '200', 'RFC 6749 §2.3.1: a space as a form has it')
  const both = `client_id=basic&client_secret=p+q%3A%C3%BC&${GRANT}`
  t.equal(refusal(await ask(basic('basic', 'p q:ü', 'bAsIc'), both)), '200', 'the form may say the same')
  for (const form of [CREDENTIALS, `client_id=basic&client_secret=other&${GRANT}`, `client_id=other&${GRANT}`]) {
    t.equal((await ask(basic('basic', 'p q:ü'), form)).status, 400, 'Basic and form fields that differ')
  }
})

t.test('decisions §3: both readings of HTTP Basic are right, and a hint names the one that was', async t => {
  const app = build(t, { clients: [{ clientId: 'a+b', clientSecret: 'x%2By' }] })
  for (const [id, client_secret] of [
    ['plus', 'pa+ss'],
    ['percent', '100%25'],
    ['space', 'p q'],
  ])
    await requestToken(app, { client_id: id, client_secret })
  const ask = async (credentials: string, form = GRANT) => {
    const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`
    const answer = await post(app, form, { authorization })
    return `${refusal(answer)} ${/HTTP Basic was .*?(as it is|decoded)/.exec(String(answer.headers['sandbox-hint']))?.[1]}`
  }
  const both = (secret: string) => `client_id=plus&client_secret=${secret}&${GRANT}`
  await table(t, ([credentials, form]) => ask(credentials, form), {
    '200 as it is': [['plus:pa+ss'], ['percent:100%25'], ['a+b:x%2By'], ['plus:pa+ss', both('pa%2Bss')]],
    '200 decoded': [['plus:pa%2Bss'], ['percent:100%2525'], ['space:p+q'], ['space:p%20q'], ['a%2Bb:x%252By']],
    '200 undefined': [['space:p q']],
    [`${INVALID_CLIENT} undefined`]: [['plus:pa%20ss'], ['a+b:x+y']],
    '400 INVALID_FIELD client_secret invalid_request undefined': [['plus:pa+ss', both('other')]],
  })
  // The likelier reading registers a client.
  await table(t, ([credentials, form]) => ask(credentials, form), {
    '200 as it is': [['new-1:pa+ss']],
    '200 decoded': [['new-2:pa%2Bss%3D']],
  })
  t.equal(refusal(await requestToken(app, { client_id: 'new-1', client_secret: 'pa+ss' })), '200')
  t.equal(refusal(await requestToken(app, { client_id: 'new-2', client_secret: 'pa+ss=' })), '200')
})

t.test('decisions §3: an id or secret that begins or ends with white space has a hint', async t => {
  const hintOf = async (fields: object) => (await requestToken(shared, { ...fields })).headers['sandbox-hint']
  t.match(
    await hintOf({ client_id: 'spaced', client_secret: 'secret\n' }),
    /^client_secret begins or ends with white space/,
  )
  t.match(
    await hintOf({ client_id: ' spaced', client_secret: 'secret' }),
    /^client_id begins or ends with white space$/,
  )
  const basicly = await post(shared, GRANT, { authorization: basic('spaced', 'secret\n') })
  t.match([refusal(basicly), basicly.headers['sandbox-hint']], ['200', /client_secret begins or ends/])
  t.equal(await hintOf({ client_id: 'spaced', client_secret: 'sec ret' }), undefined)
})

t.test('decisions §3: with tokenAuthentication form, HTTP Basic is refused, and discovery says so', async t => {
  const app = build(t, { clients: [{ clientId: 'own', clientSecret: 'secret' }] })
  const strict = await connect(app, 'strict')
  const discover = (query = '') => call(app, 'GET', `/.well-known/oauth-authorization-server${query}`)
  const methods = async (query?: string) => (await discover(query)).body.token_endpoint_auth_methods_supported.join()
  const [post_, both] = ['client_secret_post', 'client_secret_post,client_secret_basic']
  t.same([await methods(), await methods('?client=strict')], [both, both])

  await strict.control('PUT', '/settings', { tokenAuthentication: 'form' })
  const form = `client_id=strict&client_secret=secret&${GRANT}`
  const ask = (body: string, id = '') => post(app, body, id === '' ? {} : { authorization: basic(id, 'secret') })
  await table(t, async ([body, id]) => refusal(await ask(body, id)), {
    '401 INVALID_CLIENT authorization invalid_client': [
      [GRANT, 'strict'],
      [form, 'strict'],
    ],
    200: [[form], [GRANT, 'other']],
  })
  const refused = await ask(GRANT, 'strict')
  t.match(refused.body.message, /tokenAuthentication is form/)
  t.equal(refused.headers['www-authenticate'], 'Basic realm="oauth"')
  t.same([await methods('?client=strict'), await methods()], [post_, both])
  await call(app, 'PUT', '/_sandbox/settings?client=own', { body: { tokenAuthentication: 'form' } })
  t.same([await methods(), await methods('?client=sandbox-client')], [post_, both], 'its own client')
  t.equal(gist(await discover('?client=unknown')), '404 CLIENT_NOT_FOUND client')
  await strict.control('PUT', '/settings', { tokenAuthentication: 'form-or-basic' })
  t.equal(refusal(await ask(GRANT, 'strict')), '200')
})

t.test('decisions §3: a challenge comes with a 401, and only where Basic was used; no error is stored', async t => {
  await requestToken(shared, { client_id: 'challenged' })
  const challenge = async ([form, secret]: [string, string?]) => {
    const answer = await post(shared, form, secret ? { authorization: basic('challenged', secret) } : undefined)
    t.equal(answer.headers['cache-control'], 'no-store')
    return `${refusal(answer)}, ${answer.headers['www-authenticate']}`
  }
  await table(t, challenge, {
    [`${INVALID_CLIENT}, undefined`]: [[`client_id=challenged&client_secret=wrong&${GRANT}`]],
    [`${INVALID_CLIENT}, Basic realm="oauth"`]: [[GRANT, 'wrong']],
    [`${UNSUPPORTED}, undefined`]: [['grant_type=password', 'secret']],
  })
})

// ------------------------------------------------------------------------------------------------------- clients

t.test('decisions §3: sandbox-client always exists, and others register unless it is closed', async t => {
  for (const app of [shared, closed]) {
    await table(t, async secret => refusal(await requestToken(app, { ...DEMO, client_secret: secret })), {
      200: ['sandbox-secret'],
      [INVALID_CLIENT]: ['other'],
    })
  }
  t.equal(refusal(await requestToken(closed, { client_id: 'gamma' })), INVALID_CLIENT)
  const { data } = (await call(closed, 'GET', '/_sandbox/clients')).body
  t.notOk(data.some(({ clientId }: { clientId: string }) => clientId === 'gamma'))
})

t.test('decisions §3: the first good request registers a client, then another secret is refused', async t => {
  const ask = async (client_secret: string, grant_type?: string) =>
    refusal(await requestToken(shared, { client_id: 'late', client_secret, ...(grant_type && { grant_type }) }))
  t.equal(await ask('refused', 'password'), UNSUPPORTED, 'a refused request registers no client')
  const long = 's'.repeat(1000)
  await table(t, client_secret => ask(client_secret), {
    200: [long, long],
    [INVALID_CLIENT]: ['refused', `${long} `, long.toUpperCase(), long.slice(1), `${long}s`],
  })
  const raced = ['one', 'two'].map(client_secret => requestToken(shared, { client_id: 'raced', client_secret }))
  t.same((await Promise.all(raced)).map(refusal), ['200', INVALID_CLIENT], 'two at once')
})

t.test(
  'decisions §3: the request that registers a client has a hint, and names one that differs in case only',
  async t => {
    const clients = ['Listed', 'KELVIN\u212a'].map(clientId => ({ clientId, clientSecret: 'secret' }))
    const app = build(t, { clients })
    const registered = 'the client was not known: this request has registered it, and it starts from the fixture empty'
    const alike = (id: string) => `${registered}; the client ${id} is another one, whose id differs in case only`
    const ask = async (client_id: string, client_secret = 'secret') => {
      const { status, headers } = await requestToken(app, { client_id, client_secret })
      return `${status} ${headers['sandbox-hint']}`
    }
    await holds(
      t,
      [
        ['acme', `200 ${registered}`],
        ['acme', '200 undefined'],
        ['Acme', `200 ${alike('acme')}`],
        ['Acme', '200 undefined'],
        ['sandbox-Client', `200 ${alike('sandbox-client')}`],
        ['listed', `200 ${alike('Listed')}`],
        ['Listed', '200 undefined'],
        ['kelvink', `200 ${registered}`],
        ['no/id', '401 undefined'],
      ],
      id => ask(id),
    )
    t.equal(await ask('acme', 'wrong'), '401 undefined')
    const basicFirst = await post(app, GRANT, { authorization: basic('first', 'secret') })
    t.match(basicFirst.headers['sandbox-hint'], /HTTP Basic; the client was not known/)
    await call(app, 'DELETE', '/_sandbox/clients/acme')
    t.equal(await ask('acme'), `200 ${alike('Acme')}`, 'its id was free')
    await call(app, 'POST', '/_sandbox/fork?client=acme', { body: { clientId: 'copy' } })
    t.equal(await ask('copy'), '200 undefined', 'a fork is known')
    const refused = await requestToken(closed, { client_id: 'listed' })
    t.same([refused.status, refused.headers['sandbox-hint']], [401, undefined], 'and nothing is told of others')
  },
)

t.test('decisions §3: a client id that cannot be registered is INVALID_CLIENT', async t => {
  const wrong = ['a b', 'a/b', 'a:b', 'a@b', 'ä', '💶', 'a\n', 'x'.repeat(65), 'x'.repeat(257), '%41', '.', '..']
  await table(t, async client_id => refusal(await requestToken(shared, { client_id })), {
    200: ['x', '...', '.x', '-', '_', 'A-z_0.9', '__proto__', 'constructor', 'x'.repeat(64)],
    [INVALID_CLIENT]: wrong,
  })
  const token = await tokenOf(shared, { client_id: '__proto__' })
  t.equal(gist(await withToken(shared, token)), '200')
})

t.test('decisions §3: a configured client has its secret and scope, and scopes are not enforced', async t => {
  const acme = (await requestToken(closed, { client_secret: 's'.repeat(1000) })).body
  t.same([acme.scope, gist(await withToken(closed, acme.access_token))], ['nothing at:all', '200'])
  const scope = async (fields: object) => (await requestToken(closed, { client_id: 'beta', ...fields })).body.scope
  t.equal(await scope({}), 'payments', 'the default')
  t.equal(await scope({ scope: 'bills:read bills:write' }), 'bills:read bills:write', 'the one that is asked for')
  t.equal(await scope({ scope: '' }), 'payments')
  const own = { client_secret: 's'.repeat(1000), client_id: 'acme' }
  t.equal(await scope({ ...own, scope: 'bills:read' }), 'nothing at:all', 'the configured one')
  await table(t, async scope => refusal(await requestToken(shared, { scope })), {
    200: ['a', 'a b', '!#[]~'],
    '400 INVALID_FIELD scope invalid_scope': [' a', 'a ', 'a  b', 'a\tb', '"a"', 'a\\b', 'é'],
  })
  t.equal(refusal(await requestToken(closed)), INVALID_CLIENT)
})

// -------------------------------------------------------------------------------------------------------- tokens

t.test('decisions §3: each token expires on the tenant clock, at its exact second', async t => {
  const app = build(t)
  const tokens = [await tokenOf(app)]
  await advance(app, 'PT30M')
  tokens.push(await tokenOf(app), await tokenOf(app))
  t.equal(new Set(tokens).size, 3, 'no two are the same')
  const all = async () => (await Promise.all(tokens.map(token => withToken(app, token)))).map(unauthorized)
  const good = '200, undefined'
  await advance(app, 'PT29M59S')
  t.same(await all(), [good, good, good], 'one second before')
  await advance(app, 'PT1S')
  t.same(await all(), [EXPIRED, good, good])
  await advance(app, 'P300D')
  t.same(await all(), [EXPIRED, EXPIRED, EXPIRED])
})

t.test('decisions §3: a token expires with a running clock, too', async t => {
  let real = 1_800_000_000_999
  const app = build(t, { clock: 'real', now: () => real, tokenLifetime: 60 })
  const { expires_in, access_token: token } = (await requestToken(app)).body
  t.equal(expires_in, 60, 'SANDBOX_TOKEN_TTL')
  real += 59_000
  t.equal(gist(await withToken(app, token)), '200', 'after 59 s')
  real += 1000
  t.equal(unauthorized(await withToken(app, token)), EXPIRED, 'after 60 s')
})

t.test('decisions §3: no credentials are MISSING_TOKEN with a challenge that names no error', async t => {
  const token = await tokenOf(shared)
  const get = (authorization: string) =>
    call(shared, 'GET', `/api/v1/bills?access_token=${token}`, { region: 'EU', headers: { authorization } })
  await table(t, async authorization => unauthorized(await get(authorization)), {
    [`${NO_TOKEN}, ${REALM}`]: [
      ...['', basic('acme', 'secret'), 'Bearer', 'Bearer ', `Token ${token}`, `Bearer${token}`, token],
    ],
  })
})

t.test('decisions §3: a token that was changed, cut, doubled, swapped or made is INVALID_TOKEN', async t => {
  const [token, other] = [await tokenOf(shared), await tokenOf(shared, { client_id: 'beta' })]
  const changed = [...token].map(
    (letter, at) => token.slice(0, at) + (letter === 'A' ? 'B' : 'A') + token.slice(at + 1),
  )
  const parts = token.split('.')
  const swapped = parts.flatMap((part, at) =>
    [[], [''], [part + part], [other.split('.')[at] ?? '']].map(put => parts.toSpliced(at, 1, ...put).join('.')),
  )
  const cut = [token.slice(0, -1), token.slice(1), `${token}A`, `${token}.`, `.${token}`, `${token} ${token}`]
  const cased = [token.toUpperCase(), token.toLowerCase(), [...parts].reverse().join('.')]
  const made = ['x', '.', '...', 'a.b.c.d', 'null', '__proto__', 'constructor.1.1.1', '\u00ff', 'x'.repeat(4000)]
  made.push(`${Buffer.from('nobody').toString('base64url')}.1.zzzzzz.AAAA`)
  const wrong = [...changed, ...swapped, ...cut, ...cased, ...made].filter(one => one !== token && one !== other)
  await table(t, async one => unauthorized(await withToken(shared, one)), {
    '200, undefined': [token],
    [INVALID]: wrong,
  })
})

t.test('decisions §3: a token is good only at the server and for the client that it was issued for', async t => {
  const other = build(t, { seed: 'other' })
  await requestToken(other)
  const tokens = [await tokenOf(shared), await tokenOf(shared, DEMO), await tokenOf(shared, { client_id: 'absent' })]
  await table(t, async token => unauthorized(await withToken(other, token)), { [INVALID]: tokens })
})

t.test('decisions §3: however many tokens are issued, each is good', async t => {
  const first = await tokenOf(shared, { client_id: 'many' })
  for (let count = 0; count < 200; count++) await tokenOf(shared, { client_id: 'many' })
  t.equal(gist(await withToken(shared, first)), '200')
})
