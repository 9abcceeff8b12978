import t from 'tap'
import { bill, call, connect, mandate, requestToken } from '../helper.js'
import { buildLogged, exchange, listen, request } from './raw.js'

// decisions §3: secrets are never logged; control plane: /clients tells never a secret. Neither secrets nor bearer
// tokens are in the request log, in the recording or in logs.

const SECRET = 'correct-horse-battery-staple'
const WRONG = 'wrong-horse-battery-staple'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }

/** A secret in the spellings in which it could turn up. */
const spellings = (secret: string) => [
  secret,
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64').replace(/=+$/, ''),
  Buffer.from(secret).toString('hex'),
  [...Buffer.from(secret)].join(','),
]

t.test('decisions §3: neither secrets nor tokens come into the log or into refusals, at level trace', async t => {
  let isBroken = false
  const { app, log } = buildLogged(t, {
    now() {
      if (isBroken) throw new Error('unforeseen')
      return 0
    },
  })
  app.get('/boom', () => {
    throw new Error('unforeseen')
  })
  const answers: unknown[] = []
  const post = async (body: unknown, headers: Record<string, string> = FORM) => {
    answers.push(await call(app, 'POST', '/api/v1/oauth/token', { body, headers }))
  }

  const { body } = await requestToken(app, { client_id: 'acme', client_secret: SECRET })
  const token = body.access_token as string
  t.type(token, 'string')
  const basic = Buffer.from(`acme:${SECRET}`).toString('base64')
  answers.push(await requestToken(app, { client_id: 'acme', client_secret: WRONG }))
  answers.push(await requestToken(app, { client_id: '!!', client_secret: WRONG }))
  answers.push(await requestToken(app, { client_id: 'acme', client_secret: SECRET, grant_type: 'password' }))
  answers.push(await requestToken(app, { client_id: undefined, client_secret: SECRET }))
  await post(`client_secret=${SECRET}&client_secret=${WRONG}&grant_type=client_credentials`)
  await post(`client_id=acme&client_secret=${SECRET}%zz&grant_type=client_credentials`)
  // What a refusal of this may say is the matter of the next test.
  await requestToken(app, { client_secret: SECRET.repeat(20) })
  await post({ client_id: 'acme', client_secret: SECRET }, { 'content-type': 'application/json' })
  await post(`grant_type=client_credentials`, { ...FORM, authorization: `Basic ${basic}` })
  await post(`client_id=acme&client_secret=${SECRET}`, { ...FORM, 'content-length': '5' })

  const headers = { authorization: `Bearer ${token}`, 'x-region': 'EU' }
  for (const [method, url] of [
    ['GET', '/api/v1/mandates'],
    ['GET', `/api/v1/mandates?access_token=${token}`],
    ['GET', '/api/v1/mandates/!'],
    ['GET', '/nowhere'],
    ['PUT', '/api/v1/mandates'],
    ['POST', '/api/v1/mandates'],
    ['GET', '/api/v1/mandates/%zz'],
    ['GET', '/boom'],
  ] as const) {
    answers.push(await call(app, method, url, { headers }))
  }
  answers.push(
    await call(app, 'GET', '/api/v1/mandates', { headers: { ...headers, authorization: `Bearer ${token}x` } }),
  )
  answers.push(await call(app, 'GET', '/api/v1/mandates', { headers: { ...headers, authorization: `Basic ${basic}` } }))
  isBroken = true
  answers.push(await call(app, 'GET', '/api/v1/mandates', { headers }))
  answers.push(await requestToken(app, { client_id: 'acme', client_secret: SECRET }))
  isBroken = false
  await call(app, 'POST', '/_sandbox/clock/advance?client=acme', { body: { by: 'P1D' } })
  answers.push(await call(app, 'GET', '/api/v1/mandates', { headers }))
  answers.push(await call(app, 'GET', '/_sandbox/clients'))
  answers.push(await call(app, 'GET', '/_sandbox'))

  const port = await listen(app)
  const form = `client_id=acme&client_secret=${SECRET}&grant_type=client_credentials`
  for (const bytes of [
    `GET /api/v1/mandates HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${token}\r\nno colon\r\n\r\n`,
    request('GET /api/v1/mandates', { ...headers, 'x-long': 'x'.repeat(20_000) }),
    `CONNECT a:1 HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${token}\r\n\r\n`,
    `${request('POST /api/v1/oauth/token', { ...FORM, connection: 'close' }, form)}`,
    `${request('POST /api/v1/oauth/token', { ...FORM, 'transfer-encoding': 'chunked' })}zz\r\n${form}`,
  ]) {
    answers.push((await exchange(port, bytes)).filter(({ status }) => status !== 200))
  }

  t.match(log(), '/api/v1/mandates', 'the log is written to')
  const told = JSON.stringify(answers)
  t.match(told, 'INVALID_CLIENT')
  for (const [what, secret] of Object.entries({ SECRET, WRONG, token, basic })) {
    for (const spelling of spellings(secret)) {
      t.notOk(log().includes(spelling), `${what} is not in the log as ${spelling.slice(0, 12)}…`)
      t.notOk(told.includes(spelling), `${what} is not in a refusal as ${spelling.slice(0, 12)}…`)
    }
  }
})

t.test(
  'decisions §3: what a client sends beside its secret is not logged either: bodies stay out of the log',
  async t => {
    const { app, log } = buildLogged(t)
    const client = await connect(app)
    await client.post('/api/v1/mandates', { debtor: { iban: 'DE89370400440532013000' } })
    await client.post('/api/v1/mandates', '{"debtor":{"iban":"DE89370400440532013000"')
    t.match(log(), '/api/v1/mandates', 'the log is written to')
    t.notMatch(log(), 'DE89370400440532013000')
  },
)

// ------------------------------------------------------------------------------------------------- what is kept of it

interface Sent {
  method?: string
  url?: string
  headers?: Record<string, string>
  body?: string | Buffer
}

const TOKEN_URL = '/api/v1/oauth/token'
const JSON_TYPE = { 'content-type': 'application/json' }
const form = (...pairs: string[]) => ['client_id=acme', 'grant_type=client_credentials', ...pairs].join('&')
const part = (name: string, value: string) =>
  `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`
const PDF = '--b\r\ncontent-disposition: form-data; name="file"; filename="a.pdf"\r\n\r\n%PDF-1.7\r\n'
const MULTIPART = { 'content-type': 'multipart/form-data; boundary=b' }

/** Odd ways in which clients ask for a token; a secret in each. */
function tokenRequests(secret: string): Sent[] {
  const encoded = [...secret].map(character => `%${character.charCodeAt(0).toString(16)}`).join('')
  const basic = Buffer.from(`acme:${secret}`).toString('base64')
  const json = { client_id: 'acme', client_secret: secret, grant_type: 'client_credentials' }
  const good = form(`client_secret=${secret}`)
  return [
    { body: good },
    { body: good.replace('acme', 'another') },
    { body: good.replace('acme', '!!') },
    { body: `client_secret=${secret}` },
    { body: `${good}&scope=all&extra=${secret}` },
    { body: form(`client_secret=${encoded}`) },
    { body: form(`client%5Fsecret=${secret}`) },
    { body: form(`client_s%65cret=${secret}`) },
    { body: form(`client_s%65cret=${secret}`, '%zz=1') },
    { body: form(`CLIENT_SECRET=${secret}`) },
    { body: form(`client-secret=${secret}`) },
    { body: form(`clientSecret=${secret}`) },
    { body: form(`+client_secret+=${secret}`) },
    { body: form(`client_sercet=${secret}`) },
    { body: form(`password=${secret}`, 'username=acme') },
    { body: form(`client_assertion=${secret}`) },
    { body: form(`client_secret=${secret}`, `client_secret=${secret}`) },
    { body: form(`client_secret=a&${secret}`) },
    { body: form(`client_secret=a&${secret}=b`).replace(`&${secret}=b`, `&b=${secret}`) },
    { body: form(`client_secret=a=${secret}`) },
    { body: form(`client_secret=${secret}%`) },
    { body: form(`client_secret=${secret}`).replaceAll('&', ';') },
    { body: secret },
    { body: `${good}\r\n` },
    { body: Buffer.concat([Buffer.from(good), Buffer.from([0xff])]) },
    { body: `\ufeff${good}` },
    { body: good, headers: { 'content-type': 'application/x-www-form-urlencoded; charset=utf-16' } },
    { body: good, headers: { 'content-type': 'APPLICATION/X-WWW-FORM-URLENCODED' } },
    { body: good, headers: JSON_TYPE },
    { body: good, headers: { 'content-type': 'text/plain' } },
    { body: good, headers: { 'content-type': 'application/octet-stream' } },
    { body: good, headers: {} },
    { body: good, headers: { 'content-type': `text/${secret.slice(0, 0)}x; a=b` } },
    { body: JSON.stringify(json), headers: JSON_TYPE },
    { body: JSON.stringify(json) },
    { body: JSON.stringify([json]), headers: JSON_TYPE },
    { body: JSON.stringify({ client: { id: 'acme', key: secret } }), headers: JSON_TYPE },
    { body: JSON.stringify({ clientSecret: [secret] }), headers: JSON_TYPE },
    { body: JSON.stringify(secret), headers: JSON_TYPE },
    { body: JSON.stringify(json).replace('client_secret', 'client\\u005fsecret'), headers: JSON_TYPE },
    { body: JSON.stringify(json).slice(0, -2), headers: JSON_TYPE },
    { body: JSON.stringify(json).replaceAll('"', "'"), headers: JSON_TYPE },
    { body: `${part('client_id', 'acme')}${part('client_secret', secret)}--b--\r\n`, headers: MULTIPART },
    { body: `<token secret="${secret}"/>`, headers: { 'content-type': 'text/xml' } },
    { url: `${TOKEN_URL}?client_secret=${secret}`, body: good },
    { url: `${TOKEN_URL}?${good}`, body: '' },
    { url: `${TOKEN_URL}?client%5Fsecret=${secret}&%zz`, body: '' },
    { url: `${TOKEN_URL}?client_secret=${secret}`, method: 'GET' },
    { url: `${TOKEN_URL}/?client_secret=${secret}`, body: good },
    { url: `/oauth/token?client_secret=${secret}`, body: good },
    { method: 'PUT', body: good },
    { method: 'PATCH', body: JSON.stringify(json), headers: JSON_TYPE },
    { headers: { ...FORM, authorization: `Basic ${basic}` }, body: form() },
    { headers: { ...FORM, authorization: `basic ${basic}` }, body: form() },
    { headers: { ...FORM, authorization: basic }, body: form() },
    { headers: { ...FORM, authorization: secret }, body: form() },
    { headers: { ...FORM, 'proxy-authorization': `Basic ${basic}` }, body: form() },
    { headers: { ...FORM, 'x-credentials': `Basic ${basic}` }, body: form() },
    { headers: { ...FORM, 'x-forwarded': `Basic ${basic}` }, body: form() },
    { headers: { ...FORM, 'x-client-secret': secret, client_secret: secret, 'x-api-key': secret }, body: form() },
    { headers: { ...FORM, cookie: `client_secret=${secret}` }, body: form() },
    { headers: { ...FORM, referer: `https://a.example/?client_secret=${secret}&x=y` }, body: form() },
    { body: `${good}&padding=${'x'.repeat(1024 * 1024)}` },
  ]
}

/** Odd ways in which clients send their token along with a request; some of these requests are good. */
function apiRequests(token: string, secret: string): Sent[] {
  const bearer = { authorization: `Bearer ${token}` }
  const good = { ...bearer, 'x-region': 'EU' }
  const json = { ...good, ...JSON_TYPE }
  let count = 0
  const body = (extra: object) =>
    JSON.stringify({ ...mandate({ mandateReference: `MND-S-${1000 + count++}` }), ...extra })
  const upload = (name: string, value: string): Sent => ({
    method: 'POST',
    url: '/api/v1/bills/INV-2026-001/document',
    headers: { ...good, ...MULTIPART },
    body: `${part(name, value)}${PDF}--b--\r\n`,
  })
  const get = (query: string, headers: Record<string, string> = good): Sent => ({
    method: 'GET',
    url: `/api/v1/mandates${query}`,
    headers,
  })
  const post = (extra: object, query = ''): Sent => ({
    method: 'POST',
    url: `/api/v1/mandates${query}`,
    headers: json,
    body: body(extra),
  })
  return [
    get(''),
    ...['access_token', 'token', 'bearer', 'authorization', 'Access-Token', 'access%5Ftoken', 'x', 'auth'].map(name =>
      get(`?${name}=${token}`),
    ),
    get(`?access_token=${token}`, { 'x-region': 'EU' }),
    get(`?access_token=${token}&access_token=${token}`),
    get(`?${token}`),
    get(`?client_secret=${secret}`),
    get(`?access_token=${token}&%zz`),
    get(`/${token}`),
    get(`/${token}/x`),
    get('', { ...good, authorization: `bearer  ${token}` }),
    get('', { ...good, authorization: `BEARER ${token}` }),
    get('', { ...good, authorization: token }),
    get('', { ...good, authorization: `Token ${token}` }),
    get('', { ...good, authorization: `Bearer ${token}, Bearer ${token}` }),
    get('', { ...good, authorization: `Bearer "${token}"` }),
    ...['x-access-token', 'access_token', 'x-auth-token', 'token', 'x-authorization', 'authentication', 'x-token'].map(
      name => get('', { ...good, [name]: token }),
    ),
    get('', { ...good, cookie: `session=${token}` }),
    get('', { ...good, 'x-forwarded': `Bearer ${token}` }),
    get('', { ...good, 'user-agent': token }),
    get('', { ...good, referer: `https://a.example/?access_token=${token}` }),
    get('', { ...bearer, 'x-region': token }),
    { method: 'DELETE', url: `/api/v1/mandates/MND-S-1000?access_token=${token}`, headers: good },
    {
      method: 'DELETE',
      url: '/api/v1/mandates/MND-S-1001',
      headers: { ...json, 'content-type': 'text/plain' },
      body: `client_secret=${secret}`,
    },
    post({}, `?access_token=${token}`),
    post({}, `?access%5Ftoken=${token}&x=${token}`),
    post({}, `?client_secret=${secret}`),
    post({ access_token: token }),
    post({ client_secret: secret }),
    post({ clientSecret: secret, password: secret, api_key: secret }),
    post({ auth: { bearer: token }, tokens: [token], secret: { value: secret } }),
    post({ headers: { Authorization: `Bearer ${token}` } }),
    post({ note: token }),
    {
      method: 'POST',
      url: '/api/v1/mandates',
      headers: json,
      body: body({ client_secret: secret }).replace('_', '\\u005f'),
    },
    {
      method: 'POST',
      url: '/api/v1/mandates',
      headers: json,
      body: `{"access_token":"${token}","client_secret":"${secret}",`,
    },
    { method: 'POST', url: '/api/v1/mandates', headers: json, body: form(`client_secret=${secret}`) },
    { method: 'POST', url: '/api/v1/mandates', headers: { ...good, ...FORM }, body: form(`client_secret=${secret}`) },
    { method: 'POST', url: '/api/v1/mandates', headers: { ...good, 'content-type': 'text/plain' }, body: secret },
    { method: 'POST', url: '/nowhere', headers: json, body: body({ client_secret: secret }) },
    upload('client_secret', secret),
    upload('access_token', token),
    upload('X-Password', secret),
  ]
}

t.test('decisions §3: however a client sends its secret or its token, it is kept nowhere', async t => {
  const { app, log } = buildLogged(t)
  const client = await connect(app)
  await client.post('/api/v1/bills', bill())
  // What meets a fault is recorded, also where it only reads.
  await client.control('POST', '/faults', { times: null, effect: { kind: 'delay', ms: 0 } })
  await call(app, 'POST', '/_sandbox/faults', { body: { times: null, effect: { kind: 'delay', ms: 0 } } })
  // Registered with the secret in question: it is the good one.
  const { access_token: token } = (await requestToken(app, { client_id: 'good', client_secret: SECRET })).body
  await call(app, 'POST', '/_sandbox/faults?client=good', { body: { times: null, effect: { kind: 'delay', ms: 0 } } })
  await call(app, 'POST', '/api/v1/bills', {
    body: bill(),
    region: 'EU',
    headers: { authorization: `Bearer ${token}` },
  })

  const requests = [
    ...tokenRequests(SECRET),
    ...tokenRequests(SECRET).map(sent => ({
      ...sent,
      ...(typeof sent.body === 'string' && { body: sent.body.replace('acme', 'good') }),
    })),
    ...apiRequests(token, SECRET),
    ...apiRequests(client.token, SECRET),
  ]
  const statuses = new Set<number>()
  for (const { method = 'POST', url = TOKEN_URL, headers = FORM, body } of requests) {
    const answer = await app.inject({
      method: method as 'POST',
      url,
      headers,
      ...(body !== undefined && { payload: body }),
    })
    statuses.add(answer.statusCode)
  }
  t.same([...statuses].sort(), [200, 201, 400, 401, 404, 405, 413, 415], 'good and bad requests of all sorts')

  const kept: Record<string, string> = { log: log() }
  for (const name of ['sandbox-client', 'acme', 'good'])
    for (const what of ['requests', 'recording', 'state', 'events']) {
      const { payload } = await app.inject({ method: 'GET', url: `/_sandbox/${what}?client=${name}` })
      kept[`${what} of ${name}`] = payload.replace(/"bodyBase64": "([^"]*)"/g, (_, base64) =>
        Buffer.from(base64, 'base64').toString('latin1'),
      )
    }
  t.match(kept['requests of good'], 'MND-S-1000', 'there is something to see')
  t.match(kept['requests of sandbox-client'], TOKEN_URL)
  t.match(kept['recording of good'], 'MND-S-1000')
  t.match(kept['recording of good'], 'access_token=***')
  const secrets = {
    SECRET,
    token,
    'the other token': client.token,
    basic: Buffer.from(`acme:${SECRET}`).toString('base64'),
  }
  for (const [where, text] of Object.entries(kept))
    for (const [what, secret] of Object.entries(secrets))
      for (const spelling of spellings(secret)) {
        const at = text.indexOf(spelling)
        if (at >= 0) t.fail(`${what} is in the ${where}: ${text.slice(at - 200, at + 60)}`)
      }
  t.pass(`${requests.length} requests are kept without it`)
})
