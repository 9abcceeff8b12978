import t from 'tap'
import { each, gist, holds, NO_ROUTE, table, WRONG_METHOD } from '../answers.js'
import { createLink, open, pagePath, submit, tokenOf } from '../areas/pages.js'
import { build, call, connect, mandate, newClient } from '../helper.js'
import { exchange, LIVE, listen, request, stateOf } from './raw.js'

// control plane, Keep web pages out; decisions §1.

const SHOP = 'https://shop.example'
const TOKEN = '/api/v1/oauth/token'
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const GRANT = 'client_id=acme&client_secret=secret&grant_type=client_credentials'
const atPublicUrl = build(t, {
  publicUrl: () => 'https://pay.example.com/sandbox',
  allowedHosts: ['a.example', '*.ci.example'],
})

type App = ReturnType<typeof build>

/** Requests of every kind that a web page could send: the method, the path, and a body. */
const lines: [method: string, path: string, body?: unknown][] = [
  ['POST', '/_sandbox/reset', {}],
  ['POST', '/_sandbox/seed', { fixture: 'demo' }],
  ['GET', '/_sandbox/state'],
  ['GET', '/_sandbox/events'],
  ['GET', '/_sandbox'],
  ['GET', LIVE],
  ['POST', '/%5Fsandbox/reset', {}],
  ['POST', TOKEN, GRANT],
  ['POST', '/api/v1/oauth/%74oken', GRANT],
  ['GET', '/api/v1/mandates'],
  ['POST', '/api/v1/mandates', mandate()],
  ['GET', '/.well-known/oauth-authorization-server'],
  ['OPTIONS', '/_sandbox/reset'],
  ['OPTIONS', '/api/v1/mandates'],
  ['GET', '/nowhere'],
]

const send = (app: App, headers: Record<string, string>) => (line: (typeof lines)[number]) => {
  const [method, path, body] = line
  const form = typeof body === 'string' ? FORM : {}
  return call(app, method, path, { body, region: 'EU', headers: { ...form, ...headers } })
}

t.test(
  'control plane, Keep web pages out: a request of another origin is 403 on every path and changes nothing',
  async t => {
    const client = await newClient()
    await client.post('/api/v1/mandates', mandate())
    const before = await stateOf(client)
    const own = { authorization: `Bearer ${client.token}`, host: 'localhost:8080' }
    const origins = [SHOP, 'http://localhost', 'http://127.0.0.2:8080', 'http://sandbox:8080', 'null', '']
    origins.push('localhost:8080', 'http://localhost:8080/', 'http://localhost:8080, http://localhost:8080')
    origins.push('http://user@localhost:8080', 'file://localhost:8080')
    for (const origin of origins) {
      const some = origin === SHOP ? lines : lines.slice(0, 3)
      await table(t, send(client.app, { origin, ...own }), { '403 FORBIDDEN_ORIGIN origin': some })
    }
    for (const site of [
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' },
    ] as Record<string, string>[]) {
      await table(t, send(client.app, { ...site, ...own }), { '403 FORBIDDEN_ORIGIN sec-fetch-site': lines })
    }
    t.same(await stateOf(client), before)
  },
)

t.test('control plane, Keep web pages out: a refused request is not in the request log', async t => {
  const app = build(t)
  for (const headers of [{ origin: SHOP }, { host: 'shop.example' }] as Record<string, string>[]) {
    for (const line of lines) await send(app, headers)(line)
  }
  const { data } = (await call(app, 'GET', '/_sandbox/requests')).body
  const found = data.map(({ path, status }: { path: string; status: number }) => `${path} ${status}`)
  // Only those of the second round that a host does not matter for.
  const [api, nowhere] = ['/api/v1/mandates', '/nowhere 404']
  t.same(found, [`${api} 401`, `${api} 401`, `${api} 204`, nowhere])
})

t.test("control plane, Keep web pages out: the server's own pages, and clients that are no browser, may", async t => {
  const live = (headers: Record<string, string>) => call(atPublicUrl, 'GET', LIVE, { headers })
  const own = [
    ['http://localhost:8080', 'localhost:8080'],
    ['http://localhost', 'localhost:80'],
    ['https://localhost', 'localhost:443'],
    ['https://pay.example.com', 'localhost:8080'],
    ['https://pay.example.com', 'pay.example.com'],
    ['http://[::1]:8080', '[::1]:8080'],
  ].map(([origin, host]) => ({ origin, host }))
  const sites = ['none', 'same-origin', 'same-site'].map(site => ({ 'sec-fetch-site': site }))
  const modes = [
    { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'navigate' },
    { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'no-cors' },
  ]
  await table(t, live, { 200: [{}, ...own, ...sites, ...modes] })
})

t.test(
  'control plane, Keep web pages out: a host that may be a public name is 403 where no token is needed',
  async t => {
    const app = atPublicUrl
    const right = ['localhost:8080', '127.0.0.1', '10.0.0.7:8080', '[::1]:8080', 'sandbox:8080', 'a.localhost', '']
    right.push('my-mac.local', 'host.docker.internal', 'x.test', 'sandbox.default.svc')
    right.push('x.default.svc.cluster.local:80', 'pay.example.com', 'PAY.example.com:8443')
    right.push('a.example', 'A.EXAMPLE.', 'x.ci.example', 'x.y.ci.example')
    const wrong = ['evil.example', 'evil.example:8080', 'ci.example', 'x.a.example', 'x.pay.example.com']
    wrong.push('localhost.evil.example')
    for (const [method, path, body] of [
      ['GET', '/_sandbox/clients'],
      ['POST', TOKEN, GRANT],
      ['GET', '/.well-known/oauth-authorization-server'],
    ] as const) {
      // light-my-request replaces an empty Host.
      const send = (host: string) => call(app, method, path, { body, headers: { host, ...(body && FORM) } })
      await table(t, send, { 200: right, '403 FORBIDDEN_HOST host': wrong })
    }
    const { token } = await connect(app)
    const headers = { host: 'evil.example', authorization: `Bearer ${token}` }
    t.equal((await call(app, 'GET', '/api/v1/mandates', { region: 'EU', headers })).status, 200, 'a token is needed')
  },
)

t.test('control plane, Keep web pages out: the page of a link opens and acts under no public name', async t => {
  const client = await connect(build(t, { allowedHosts: ['pay.example'] }))
  const id = await createLink(client)
  const token = tokenOf(await open(client, id))
  const decline = { action: 'decline', token }
  const rebound = { host: 'evil.example', origin: 'http://evil.example', 'sec-fetch-site': 'same-origin' }
  for (const { statusCode, payload, headers } of [
    await open(client, id, { headers: rebound }),
    await submit(client, id, decline, { headers: rebound }),
  ]) {
    t.match([statusCode, headers['content-type']], [403, 'text/html'])
    t.match(payload, 'SANDBOX_ALLOWED_HOSTS')
    t.notMatch(payload, token)
  }
  const answer = await call(client.app, 'GET', pagePath(client, id), { headers: { host: 'evil.example' } })
  t.equal(gist(answer), '403 FORBIDDEN_HOST host')
  t.match((await client.control('GET', `/payout-links/${id}`)).body, { record: { status: 'ACTIVE' } })
  const own = { host: 'pay.example', origin: 'http://pay.example', 'sec-fetch-site': 'same-origin' }
  t.equal((await submit(client, id, decline, { headers: own })).statusCode, 303)
})

t.test('control plane, Keep web pages out: a refusal names the variable', async t => {
  const { app } = await newClient()
  for (const [path, headers, variable] of [
    ['/_sandbox/clients', { host: 'a.example' }, 'SANDBOX_ALLOWED_HOSTS'],
    ['/api/v1/mandates', { origin: SHOP }, 'SANDBOX_CORS_ORIGINS'],
    ['/_sandbox/state', { origin: SHOP }, 'SANDBOX_PUBLIC_URL'],
  ] as [string, Record<string, string>, string][]) {
    t.match((await call(app, 'GET', path, { headers })).body.message, variable)
  }
})

t.test('decisions §3: the token endpoint refuses in the form of OAuth, and its errors are not stored', async t => {
  const { app } = await newClient()
  for (const headers of [{ origin: SHOP }, { host: 'a.example' }] as Record<string, string>[]) {
    const answer = await call(app, 'POST', TOKEN, { body: GRANT, headers: { ...FORM, ...headers } })
    t.match(answer, { status: 403, body: { error: 'invalid_request' }, headers: { 'cache-control': 'no-store' } })
  }
})

t.test('control plane, Keep web pages out: thousands of cross-origin token requests register no client', async t => {
  const client = await connect(build(t, { maxTenants: 3 }), 'victim')
  await client.post('/api/v1/mandates', mandate())
  for (let number = 1; number <= 20; number++) {
    const body = GRANT.replace('acme', `client-${number}`)
    await call(client.app, 'POST', TOKEN, { body, headers: { ...FORM, origin: SHOP } })
  }
  t.equal((await client.get('/api/v1/mandates')).body.totalCount, 1)
})

// --------------------------------------------------------------------------------------------------- public routes

t.test('control plane, Keep web pages out: a page that is made for browsers is open to all origins', async t => {
  const app = build(t)
  app.register(async pages => pages.get('/page', { config: { isPublic: true } }, () => ({ ok: true })))
  for (const headers of [{ origin: SHOP }, { 'sec-fetch-site': 'cross-site' }] as Record<string, string>[]) {
    t.equal((await call(app, 'GET', '/page', { headers })).status, 200)
    t.equal((await call(app, 'HEAD', '/page', { headers })).status, 200)
  }
})

// ------------------------------------------------------------------------------------------------------------ CORS

const corsOf = ({ headers }: Awaited<ReturnType<typeof call>>) =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => name.startsWith('access-control-')))

const preflight = (app: App, path: string, origin: string) =>
  call(app, 'OPTIONS', path, {
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization,x-region',
    },
  })

t.test('control plane, SANDBOX_CORS_ORIGINS: by default, no answer has a CORS header', async t => {
  const { app } = await newClient()
  for (const path of ['/api/v1/mandates', LIVE]) {
    t.same(corsOf(await preflight(app, path, SHOP)), {}, path)
    t.same(corsOf(await call(app, 'GET', path, { headers: { origin: 'http://localhost' } })), {})
  }
})

t.test('control plane, SANDBOX_CORS_ORIGINS: opens the API to its origins, and nothing else', async t => {
  const { app, token } = await connect(build(t, { corsOrigins: [SHOP, 'http://localhost:*'] }))
  const authorization = `Bearer ${token}`
  const refused = ['403 FORBIDDEN_ORIGIN origin', {}]
  for (const origin of [SHOP, 'http://localhost:3000']) {
    const asked = await preflight(app, '/api/v1/mandates', origin)
    t.equal(asked.status, 204)
    t.same(corsOf(asked), {
      'access-control-allow-origin': origin,
      'access-control-allow-methods': 'GET, HEAD, POST, PATCH, DELETE',
      'access-control-allow-headers': 'authorization,x-region',
      'access-control-expose-headers':
        'deprecation, link, location, retry-after, sandbox-hint, sunset, www-authenticate, x-request-id',
    })
    t.match(asked.headers.vary, /\bOrigin\b/i)
    const headers = { origin, authorization, 'sec-fetch-site': 'cross-site' }
    const answers = [await call(app, 'POST', TOKEN, { body: GRANT, headers: { ...FORM, origin } })]
    for (const more of ['', '/MND-9999', '?limit=0']) {
      answers.push(await call(app, 'GET', `/api/v1/mandates${more}`, { region: 'EU', headers }))
    }
    t.same(
      answers.map(answer => answer.status),
      [200, 200, 404, 400],
    )
    for (const answer of answers) t.equal(answer.headers['access-control-allow-origin'], origin)
    for (const path of ['/_sandbox/state', LIVE, '/.well-known/oauth-authorization-server', '/%61pi/v1/mandates']) {
      for (const answer of [await call(app, 'GET', path, { headers }), await preflight(app, path, origin)]) {
        t.same([gist(answer), corsOf(answer)], refused, path)
      }
    }
  }
  const others = ['https://other.example', 'http://shop.example', `${SHOP}:8443`, 'https://x.shop.example', 'null']
  for (const origin of others) {
    const answer = await preflight(app, '/api/v1/mandates', origin)
    t.same([gist(answer), corsOf(answer)], refused, origin)
  }
  const navigation = { headers: { authorization, 'sec-fetch-site': 'cross-site' } }
  t.equal(gist(await call(app, 'GET', '/api/v1/mandates', navigation)), '403 FORBIDDEN_ORIGIN sec-fetch-site')
})

t.test('settings, SANDBOX_CORS_ORIGINS: OPTIONS, 404 and 405 are as without', async t => {
  const app = build(t, { corsOrigins: [SHOP] })
  const options = await call(app, 'OPTIONS', '/api/v1/mandates', { headers: { origin: SHOP } })
  t.match(options, { status: 204, headers: { allow: 'GET, HEAD, OPTIONS, POST', 'access-control-allow-origin': SHOP } })
  await table(t, line => call(app, ...(line.split(' ') as [string, string])), {
    204: ['OPTIONS /api/v1/mandates', 'OPTIONS /_sandbox/reset'],
    [NO_ROUTE]: ['OPTIONS /nowhere', 'OPTIONS /api/v1/nowhere'],
    [WRONG_METHOD]: ['PUT /api/v1/mandates'],
  })
})

// ------------------------------------------------------------------------------------------------------------ Host

t.test('decisions §1: two Host headers, or one that is not a host, are 400', async t => {
  const port = await listen(build(t))
  const headers = { connection: 'close' }
  const hosts = ['a b', 'a@b', 'http://a', 'a/b', 'a:b', 'a:99999', '[::1', '256.256.256.256', 'a,b c', '<script>']
  const doubled = ['localhost\r\nhost: localhost', 'localhost\r\nHOST: evil.example', '\r\nHost:']
  await holds(
    t,
    each([...hosts, ...doubled], '400 MALFORMED_REQUEST host'),
    async host => (await exchange(port, request(`GET ${LIVE}`, { ...headers, host })))[0],
  )
  t.equal((await exchange(port, request('GET /nowhere', { ...headers, host: 'a b' })))[0]?.status, 400, 'before 404')
  const [old] = await exchange(port, `GET ${LIVE} HTTP/1.0\r\nhost: a\r\nhost: b\r\n\r\n`)
  t.equal(old?.status, 400, 'HTTP/1.0')
})

// --------------------------------------------------------------------------------------------------------- metadata

t.test('decisions §3: metadata names the token endpoint under the name that the client used', async t => {
  const app = atPublicUrl
  const metadata = (host: string) => call(app, 'GET', '/.well-known/oauth-authorization-server', { headers: { host } })
  for (const [host, issuer] of [
    ['pay.example.com', 'https://pay.example.com/sandbox'],
    ['PAY.example.com', 'https://pay.example.com/sandbox'],
    ['localhost:8080', 'http://localhost:8080'],
    ['sandbox:8080', 'http://sandbox:8080'],
    ['[::1]:8080', 'http://[::1]:8080'],
  ] as const) {
    t.same((await metadata(host)).body, {
      issuer,
      token_endpoint: `${issuer}/api/v1/oauth/token`,
      grant_types_supported: ['client_credentials'],
      token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
      response_types_supported: [],
    })
  }
  const port = await listen(app)
  const [old] = await exchange(port, 'GET /.well-known/oauth-authorization-server HTTP/1.0\r\n\r\n')
  t.equal(old?.body.issuer, 'https://pay.example.com/sandbox', 'HTTP/1.0 has no Host')
})

t.test('control plane, Keep web pages out: all that is not JSON is sent with nosniff', async t => {
  const app = build(t)
  const urls = new Set<string>()
  app.addHook('onRoute', ({ method, url }) => {
    if (method === 'GET') urls.add(url)
  })
  const client = await connect(app)
  const id = await createLink(client)
  const values: Record<string, string> = { payoutLinkId: id, operationId: 'createMandate', '*': 'page.css' }
  const assets = /(?:href|src)="(assets[^"]+)"/g
  const files = [...(await open(client, id)).payload.matchAll(assets)].map(([, file]) => `/pay/${file}`)
  const paths = [...urls].map(url => url.replace(/:(\w+)|\*/g, (part, name) => values[name ?? part] ?? 'nothing'))
  const sniffed: unknown[] = []
  const types = new Set<string>()
  for (const url of [...paths, ...files, `/pay/${id}?client=nobody`]) {
    for (const accept of url.startsWith('/docs') ? ['text/html', 'text/markdown'] : ['text/html']) {
      const { headers } = await app.inject({ url, headers: { accept } })
      const type = String(headers['content-type']).split(';')[0] as string
      types.add(type)
      if (!/json|undefined/.test(type) && headers['x-content-type-options'] !== 'nosniff') sniffed.push([url, type])
    }
  }
  t.same(sniffed, [])
  for (const type of ['application/yaml', 'text/css', 'text/html', 'text/javascript', 'text/markdown'])
    t.ok(types.has(type))
})

t.test('control plane, Keep web pages out: pages of other origins may only link to a page', async t => {
  const { app } = await newClient()
  const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
  for (const [method, headers, status] of [
    ['GET', link, 200],
    ['POST', link, 403],
    ['GET', { ...link, 'sec-fetch-dest': 'iframe' }, 403],
    ['GET', { ...link, 'sec-fetch-mode': 'no-cors' }, 403],
  ] as const) {
    const { statusCode } = await app.inject({ method, url: '/_sandbox/console', headers })
    t.equal(statusCode, status, `${method} ${JSON.stringify(headers)}`)
  }
})
