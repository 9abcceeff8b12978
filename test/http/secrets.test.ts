import t from 'tap'
import { bill, build, call, connect, mandate, newClient, requestToken } from '../helper.js'
import { field, MULTIPART, multipart } from '../multipart.js'
import { buildLogged, exchange, listen, request } from './raw.js'

// decisions §3: secrets are never logged. control plane, GET /requests: secrets and tokens are masked.

const SECRET = 'correct-horse-battery-staple'
const WRONG = 'wrong-horse-battery-staple'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const TOKEN_URL = '/api/v1/oauth/token'

t.test('decisions §3: no secret in its place, and no access token anywhere, is kept or told', async t => {
  let isBroken = false
  const { app, log } = buildLogged(t, {
    now() {
      if (isBroken) throw new Error('unforeseen')
      return 0
    },
  })
  const { token } = await connect(app)
  const { access_token: good } = (await requestToken(app, { client_id: 'good', client_secret: SECRET })).body
  const other = await connect(app, 'other')
  await other.post('/api/v1/bills', bill())
  const basic = `Basic ${Buffer.from(`good:${SECRET}`).toString('base64')}`
  const answers: unknown[] = []
  const send = async (method: string, url: string, headers: Record<string, string> = {}, body?: unknown) =>
    answers.push(await call(app, method, url, { region: 'EU', headers, ...(body !== undefined && { body }) }))

  const form = `client_id=good&client_secret=${SECRET}&grant_type=client_credentials`
  for (const [from, to] of [
    [SECRET, WRONG],
    ['good', '!!'],
    ['client_id=good&', ''],
    ['client_credentials', 'password'],
    ['&grant', `&client_secret=${WRONG}&grant`],
    ['credentials', 'credentials%zz'],
    ['&grant', '&password=correct-horse-battery-staple&grant'],
  ] as const) {
    await send('POST', TOKEN_URL, FORM, form.replace(from, to))
  }
  await send('POST', TOKEN_URL, {}, { client_id: 'good', client_secret: SECRET })
  await send('POST', TOKEN_URL, { 'content-type': 'text/plain' }, form)
  await send('POST', TOKEN_URL, { ...FORM, authorization: basic }, 'grant_type=client_credentials')
  await send('POST', `${TOKEN_URL}?client_secret=${SECRET}`, FORM, form.replace(SECRET, WRONG))
  await send('POST', '/_sandbox/requests/verify', {}, { path: `/x/client_secret/${SECRET}` })

  for (const [clientToken, at] of [
    [token, 1],
    [good, 2],
    [other.token, 3],
  ] as const) {
    const headers = { authorization: `Bearer ${clientToken}` }
    const secret = { client_secret: SECRET, password: SECRET }
    const members = { ...secret, access_token: clientToken, deep: [{ token: clientToken }] }
    await send('POST', '/api/v1/mandates', headers, mandate({ mandateReference: `MND-000${at}`, ...members }))
    await send('POST', '/api/v1/mandates', headers, `{"client_secret":"${SECRET}",`)
    await send('POST', '/api/v1/mandates', { ...headers, ...FORM }, form)
    await send('POST', '/nowhere', headers, members)
    for (const url of [
      `/api/v1/mandates?access_token=${clientToken}&x=${clientToken}`,
      `/api/v1/mandates?${clientToken}`,
      `/api/v1/mandates?client_secret=${SECRET}&%zz`,
      `/api/v1/mandates/${clientToken}`,
      `/api/v1/mandates/${clientToken}/x`,
      `/nowhere/${clientToken}`,
    ]) {
      await send('GET', url, headers)
    }
    for (const [name, value] of Object.entries({
      authorization: `Bearer ${clientToken}x`,
      'proxy-authorization': basic,
      cookie: `session=${SECRET}`,
      'x-api-key': SECRET,
      password: SECRET,
      'x-access-token': clientToken,
      'user-agent': clientToken,
      referer: `https://a.example/?access_token=${clientToken}`,
      'x-region': clientToken,
    })) {
      await send('GET', '/api/v1/mandates', { ...headers, [name]: value })
    }
    const parts = multipart(field('client_secret', SECRET), field('access_token', clientToken))
    await send('POST', '/api/v1/bills/INV-2026-001/document', { ...headers, ...MULTIPART }, parts)
  }
  isBroken = true
  await send('GET', '/api/v1/mandates', { authorization: `Bearer ${good}` })
  await send('POST', TOKEN_URL, FORM, form)
  // The answer has the id that the caller gave, and the log has it masked.
  const { statusCode } = await app.inject({ url: '/api/v1/mandates', headers: { 'x-request-id': good } })
  t.equal(statusCode, 401)
  isBroken = false
  const port = await listen(app)
  for (const bytes of [
    `GET /api/v1/mandates HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${good}\r\nno colon\r\n\r\n`,
    `CONNECT a:1 HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${good}\r\n\r\n`,
    `${request(`POST ${TOKEN_URL}`, { ...FORM, 'transfer-encoding': 'chunked' })}zz\r\n${form}`,
  ]) {
    answers.push(await exchange(port, bytes))
  }

  const kept: Record<string, string> = { log: log(), answers: JSON.stringify(answers) }
  // Makes verifications show the values of headers, parameters and bodies.
  const names = ['authorization', 'proxy-authorization', 'cookie', 'x-api-key', 'x-access-token', 'user-agent']
  names.push('referer', 'x-region')
  const created = { path: '/api/v1/mandates', status: 201 }
  const deep = [{ token: '***' }]
  const expectations = {
    headers: { headers: Object.fromEntries(names.map(name => [name, 'another'])) },
    'a secret parameter': { query: { client_secret: 'another', '%zz': '' } },
    'a token parameter': { query: { access_token: 'another', x: '***' } },
    'a path': { path: '/another' },
    'a body': { method: 'POST', body: 'another' },
    'a form': { path: TOKEN_URL, body: { client_secret: 'another' } },
    'a secret member': { ...created, body: { client_secret: 'another', access_token: '***', deep } },
    'a token member': { ...created, body: { access_token: '***', deep: 'another' } },
  }
  for (const name of ['sandbox-client', 'acme', 'good', 'other']) {
    for (const what of ['requests', 'state', 'events', 'coverage']) {
      for (const accept of ['application/json', 'text/html']) {
        const url = `/_sandbox/${what}?client=${name}`
        const { payload } = await app.inject({ method: 'GET', url, headers: { accept } })
        kept[`${what} of ${name} as ${accept}`] = payload
      }
    }
    for (const [what, expected] of Object.entries(expectations)) {
      const url = `/_sandbox/requests/verify?client=${name}`
      const { payload } = await app.inject({ method: 'POST', url, payload: { ...expected, times: 1000 } })
      kept[`${what} of ${name}`] = payload
    }
  }
  t.match(
    kept,
    {
      log: TOKEN_URL,
      'requests of good as application/json': 'MND-0002',
      'headers of good': 'Bearer ***',
      'a secret parameter of good': '"actual":"***"',
      'a token parameter of good': '"actual":"***"',
      'a form of good': '"actual":"***"',
      'a secret member of good': '"actual":"***"',
      'a token member of good': '"actual":[{"token":"***"}]',
    },
    'something is kept',
  )
  const secrets = { SECRET, WRONG, token, good, 'the third token': other.token, basic: basic.slice(6) }
  const found: unknown[] = []
  for (const [where, text] of Object.entries(kept)) {
    for (const [what, secret] of Object.entries(secrets)) {
      const at = text.indexOf(secret)
      if (at >= 0) found.push([what, where, text.slice(Math.max(0, at - 120), at + 10)])
    }
  }
  t.same(found, [])
})

t.test(
  'decisions §3: a secret in a path or query is masked in the log at level debug, and in the request log',
  async t => {
    const { app, log } = buildLogged(t)
    const port = await listen(app)
    const paths = ['/x', '/api/v1/mandates', '/api/v1/mandates/%zz', 'http://sandbox/x'].map(
      path => `${path}?client_secret=*`,
    )
    paths.push('/x/client_secret=*', '/x/client_secret=a%26*', '/x/client_secret=a&*', '/x/client_secret=a/*')
    paths.push('/x/client_secret=a%0A*')
    paths.push('/x;client_secret=*', '/x/client_secret/*', '/x/client_secret/%2F*', '/x/client_secret:*')
    paths.push('/x/client_secret%3D*', '/x/client_secret%3d*', '/x/CLIENT%5FSECRE%54%20=%20%22*')
    paths.push('/x/%zz/client_secret%3D*', '/api/v1/mandates/client_secret=*')
    for (const path of paths) {
      await exchange(port, request(`GET ${path.replace('*', SECRET)}`, { connection: 'close' }))
    }
    const requests = JSON.stringify((await call(app, 'GET', '/_sandbox/requests')).body)
    const lines = `${log()}${requests}`.split('"path":').length - 1
    t.ok(lines >= 2 * paths.length, `${lines} paths are shown`)
    t.notMatch(log(), SECRET)
    t.notMatch(requests, SECRET)
    t.match(log(), '"path":"/x/client_secret=***"')
    const client = await connect(app)
    await client.post('/api/v1/mandates', { debtor: { iban: 'DE89370400440532013000' } })
    await client.post('/api/v1/mandates', '{"debtor":{"iban":"DE89370400440532013000"')
    t.notMatch(log(), 'DE89370400440532013000', 'bodies are not in the log lines')
  },
)

t.test('control plane, GET /requests: what is masked, and how', async t => {
  const app = build(t)
  const client = await connect(app)
  const names = [
    ...['client_secret', 'access_token', 'refresh_token', 'password', 'secret', 'authorization'],
    ...['assertion', 'client_assertion', 'PASSWORD', 'Client_Secret'],
  ]
  const hush = Object.fromEntries(names.map(name => [name, 'hush']))
  const hidden = Object.fromEntries(Object.keys(hush).map(name => [name, '***']))
  const shownHeaders = { 'x-author': 'Jane', referer: 'https://a.example/?page=2' }
  const headers = { cookie: 'a=b', 'x-api-key': 'hush', 'proxy-authorization': 'hush', ...shownHeaders }
  const query = `limit=5&token=abc&token=&status=ACTIVE&status=PENDING&${new URLSearchParams(hush)}`
  await client.get(`/api/v1/mandates?${query}`, { headers })
  await client.post('/api/v1/mandates', {
    token: '',
    secret: null,
    Password: 5,
    deep: [{ ...hush, token: 'hush', plain: 'seen' }, { assertion: {} }],
    secretary: 'seen',
  })
  await client.post('/api/v1/mandates', `{"amount":"${client.token}",}`)
  const longest = `"${'x'.repeat(9999)}`
  for (const text of [
    '{"client_secret":"5",}',
    '{"%74oken":"5",}',
    'x-api-key: 5',
    '"s\0e\0c\0r\0e\0t\0',
    '{"\\u0074oken":"5",}',
    `${longest}x`,
    longest,
  ]) {
    await client.post('/api/v1/mandates', text)
  }
  await client.post('/api/v1/mandates', 'text', { headers: { 'content-type': 'text/plain' } })
  await requestToken(app, { scope: 'all', extra: 'x' })
  const { data } = (await client.control('GET', '/requests')).body
  const [first, get, json, broken, ...others] = data
  const [token, text] = others.reverse()
  t.match(get, {
    path: '/api/v1/mandates',
    query: { limit: '5', token: ['***', ''], status: ['ACTIVE', 'PENDING'], ...hidden },
    headers: { authorization: 'Bearer ***', cookie: '***', 'x-api-key': '***', ...shownHeaders },
  })
  t.match(get.headers['proxy-authorization'], /\*\*\*$/)
  const deep = [{ ...hidden, token: '***', plain: 'seen' }, { assertion: '***' }]
  t.same(json.body, { token: '', secret: null, Password: '***', deep, secretary: 'seen' })
  t.same([broken.body, text.body], [`(${14 + client.token.length} bytes, not JSON)`, '(text/plain, not read)'])
  const texts = [broken, text, ...others.slice(2).reverse()].map(({ text }: { text?: string }) => text)
  t.same(texts, ['{"amount":"***",}', ...Array(7).fill(undefined), longest])
  t.match([first.responseBody, token.responseBody], Array(2).fill({ access_token: '***', token_type: 'Bearer' }))
  const shown = { client_id: 'acme', client_secret: '***', grant_type: 'client_credentials', scope: 'all' }
  t.match(token.body, { ...shown, '***': '***' })
  t.notMatch(JSON.stringify(data), 'hush')
})

const toHex = (character: string) => `%${character.charCodeAt(0).toString(16)}`
/** Encodes each character. */
const encoded = (text: string) => [...text].map(toHex).join('')

/** Returns a text without percent-encoding of ASCII, however often it is encoded. */
function decoded(text: string): string {
  const once = text.replace(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
  return once === text ? text : decoded(once)
}

t.test(
  'control plane, GET /requests: an access token is masked in each place and encoding, whatever shows it',
  async t => {
    const { app, log } = buildLogged(t)
    const client = await connect(app)
    const { token } = client
    const dots = token.replaceAll('.', '%2E')
    const shapes = {
      plain: token,
      'encoded dots': dots,
      'dots in lower case': dots.toLowerCase(),
      'encoded twice': encodeURIComponent(dots),
      'encoded four times': encodeURIComponent(encodeURIComponent(encodeURIComponent(dots))),
      'each character twice': encoded(encoded(token)),
      'twice, as one': token + token,
      'twice, in one name': `${token}_${token}`,
    }
    const places: Readonly<Record<string, (text: string) => Promise<unknown>>> = {
      'a path': text => client.get(`/nowhere/${text}/x`),
      'a reference': text => client.get(`/api/v1/mandates/${text}`),
      'the value of a parameter': text => client.get(`/api/v1/mandates?x=${text}`),
      'the name of a parameter': text => client.get(`/api/v1/mandates?${text}=x`),
      'the value of a member': text => client.post('/api/v1/mandates', { deep: [{ x: text }] }),
      'the name of a member': text => client.post('/api/v1/mandates', { [text]: 1, deep: [{ [text]: 1 }] }),
      'the value of a header': text => client.get('/api/v1/mandates', { headers: { 'x-shown': text } }),
      'a secret by its name': text =>
        client.get(`/api/v1/mandates?${encoded(encoded('client_secret'))}=${text.replaceAll('.', '')}`),
    }
    const hidden = new Set<string>()
    for (const text of Object.values(shapes)) {
      for (const shown of [decoded(text), decoded(text).replaceAll('.', '')]) hidden.add(shown)
    }
    const texts = Object.values(shapes)
    const named = (value: unknown) => Object.fromEntries(texts.map(text => [text, value]))
    const expected = { path: '/none', query: named(token), body: { ...named(token), deep: named(1) } }
    for (const [place, send] of Object.entries(places)) {
      const already = log().length
      for (const text of texts) await send(text)
      const { data, last } = (await client.control('GET', `/requests?limit=${texts.length}`)).body
      const seqs = texts.map((_, at) => last - at)
      const each = seqs.map(seq => client.control('GET', `/requests/${seq}`))
      const readers = {
        list: JSON.stringify(data),
        'server log': log().slice(already),
        har: JSON.stringify((await client.control('GET', `/requests?format=har&limit=${texts.length}`)).body),
        each: JSON.stringify((await Promise.all(each)).map(({ body }) => body)),
        verify: JSON.stringify((await client.control('POST', '/requests/verify', expected)).body),
      }
      for (const [reader, content] of Object.entries(readers)) {
        const plain = decoded(content)
        const found = [...hidden].filter(one => plain.includes(one))
        if (found.length > 0 || plain === '') t.fail(`${reader}: ${place}: ${found}`)
      }
      for (const { seq, ...request } of data) t.match(JSON.stringify(request), '***', `${place}, request ${seq}`)
    }
  },
)

t.test('control plane, GET /requests: names of members that are masked stay in their objects', async t => {
  const client = await newClient()
  const { token } = client
  const body = `{"z":1,"${token}":{"${token}x":[{"${token}":1}]},"a":2,"${token}y":3,"deep":{"__proto__ ":4}}`
  await client.post('/api/v1/mandates', body)
  const { data } = (await client.control('GET', '/requests?limit=1')).body
  const masked = { '***': { '***x': [{ '***': 1 }] } }
  t.same(Object.entries(data[0].body), Object.entries({ z: 1, ...masked, a: 2, '***y': 3, deep: { '__proto__ ': 4 } }))
})

t.test('control plane, Inspect the requests of your app: a large body is masked in one pass', async t => {
  const client = await newClient()
  // A pattern that goes back over its text would take minutes.
  for (const text of ['x', 'a-', '%33', 'a.b.', '%2541', 'secret=', 'a%2Eb%2E']) {
    const unknown = text.repeat(900_000 / text.length)
    const body = mandate({ mandateReference: `MND-${text.length}`, unknown })
    const { status } = await client.post('/api/v1/mandates', body)
    t.equal(status, 201, text)
    t.equal((await client.control('GET', '/requests?limit=1')).status, 200)
  }
  // Each pair is a digit that completes the one before it.
  for (const text of ['%'.repeat(400_000) + '3'.repeat(400_000), `%${'25'.repeat(450_000)}2E`]) {
    await client.post('/api/v1/mandates', { [text]: text })
    t.equal((await client.control('GET', '/requests?limit=1')).status, 200)
  }
})

t.test('control plane, GET /requests: the token of the longest client id is masked, too', async t => {
  const clientId = '\u{1f4b6}'.repeat(500)
  const { app, log } = buildLogged(t, { clients: [{ clientId, clientSecret: SECRET }] })
  const { access_token: token } = (await requestToken(app, { client_id: clientId, client_secret: SECRET })).body
  const answer = await call(app, 'GET', `/nowhere/${token}?x=${'a'.repeat(4000)}${token}`)
  const { data } = (await call(app, 'GET', '/_sandbox/requests')).body
  for (const shown of [data, answer, log()]) t.notOk(JSON.stringify(shown).includes(token.slice(-40)))
})

t.test('control plane, GET /requests: a token behind an address is masked, too', async t => {
  const client = await connect(build(t), 'a-client-of-26-characters')
  await client.get(`/nowhere/10.0.0.1.${client.token}`)
  const { data } = (await client.control('GET', '/requests')).body
  t.equal(data.at(-1).path, '/nowhere/***')
})

t.test('control plane, GET /requests: the start of a token in a message is masked, too', async t => {
  const { post, control, token } = await newClient()
  for (let at = 20; at < 80; at++) {
    const amount = `${'x'.repeat(at)} ${token}`
    const { body } = await post('/api/v1/mandates', mandate({ mandateReference: amount }))
    const { data } = (await control('GET', '/requests?limit=1')).body
    t.notMatch(JSON.stringify(data), token.slice(0, -10), body.message)
  }
})
