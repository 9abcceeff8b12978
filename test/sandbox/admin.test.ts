import { Writable } from 'node:stream'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import pino from 'pino'
import t from 'tap'
import { refused } from '../answers.js'
import type { CallOptions } from '../helper.js'
import { build, call, connect, mandate, requestToken } from '../helper.js'
import { exchange, LIVE, listen, request, stock } from '../http/raw.js'

const ADMIN = 'adm1n-Token_of.this~server'
const READY = '/_sandbox/health/ready'
const CLIENTS = '/_sandbox/clients'

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const basic = (token: string, user = 'me') => ({
  authorization: `Basic ${Buffer.from(`${user}:${token}`).toString('base64')}`,
})
/** The challenges: browsers ask for the password of the first one. */
const CHALLENGES = ['Basic', 'Bearer'].map(scheme => `${scheme} realm="payments-sandbox control plane"`)

interface Route {
  readonly method: string
  readonly path: string
}

const routesOf = async (app: FastifyInstance): Promise<Route[]> =>
  (await call(app, 'GET', '/_sandbox', { headers: bearer(ADMIN) })).body.routes

/** Bodies for the calls that need one to succeed. */
const bodies: Record<string, unknown> = {
  'POST /_sandbox/seed': { records: { mandates: [mandate({ mandateReference: 'MND-SEED' })] } },
  'POST /_sandbox/fork': { clientId: 'copy' },
  'PATCH /_sandbox/clock': { rate: 60 },
  'POST /_sandbox/clock/advance': { by: 'PT1H' },
  'POST /_sandbox/requests/verify': { method: 'POST' },
  'POST /_sandbox/faults': { match: { path: '/api/v1/accounts' }, effect: { kind: 'truncate' } },
  'PUT /_sandbox/settings': { deprecationStyle: 'rfc' },
  'PUT /_sandbox/deprecations': { data: [{ operation: 'GET /api/v1/accounts' }] },
}

const REFERENCES: Record<string, string> = {
  collectionReference: 'COL-0001',
  mandateReference: 'MND-0001',
  uniqueReferenceIdentifier: 'INV-2026-001',
  id: 'fault-1',
}

/** A URL of the route, for the records of `stock`. */
const place = (path: string, payoutLinkId: string) => {
  const put = (_: string, a: string, b: string) => ({ ...REFERENCES, payoutLinkId })[a ?? b] ?? 'ref-00001'
  return `${path.replace(/:(\w+)|\{(\w+)\}/g, put)}?client=acme`
}

/** The answers of all routes, one after the other. PUT /state gets the present state. */
async function walk(app: FastifyInstance, headers: Record<string, string>) {
  const payoutLinkId = await stock(await connect(app))
  const answers: Record<string, unknown> = {}
  for (const { method, path } of await routesOf(app)) {
    const name = `${method} ${path}`
    const url = place(path, payoutLinkId)
    const body = name === 'PUT /_sandbox/state' ? (await call(app, 'GET', url, { headers })).body : bodies[name]
    const answer = await call(app, method, url, { headers, body })
    const { isLocked: _, ...content } = Object(answer.body)
    // Texts are compared faster than documents.
    answers[name] = [answer.status, JSON.stringify(path === '' || path === '/_sandbox' ? content : answer.body)]
    if (method === 'GET') answers[`HEAD ${path}`] = [(await call(app, 'HEAD', url, { headers })).status]
  }
  return answers as Record<string, [status: number, body: unknown]>
}

/** A server that the tests share. */
const locked = build(t, { adminToken: ADMIN })

t.test('control plane, SANDBOX_ADMIN_TOKEN: with it, each call does what it does without the setting', async t => {
  const without = await walk(build(t), {})
  // The calls of the library give a bearer token: test/library/client.test.ts.
  t.same(await walk(build(t, { adminToken: ADMIN }), basic(ADMIN)), without)
  const successes = Object.values(without).filter(([status]) => status < 300)
  t.ok(successes.length > 25, `${successes.length} calls succeed`)
})

t.test('control plane, SANDBOX_ADMIN_TOKEN: without the token, only the two health checks work', async t => {
  const app = build(t, { adminToken: ADMIN })
  const state = async () => (await call(app, 'GET', '/_sandbox/state?client=acme', { headers: bearer(ADMIN) })).body
  const payoutLinkId = await stock(await connect(app))
  const before = await state()
  for (const { method, path } of await routesOf(app)) {
    const isHealth = path === LIVE || path === READY
    const [status, challenge] = isHealth ? [200] : [401, CHALLENGES]
    for (const verb of method === 'GET' ? ['GET', 'HEAD'] : [method]) {
      const body = bodies[`${method} ${path}`]
      const answer = await call(app, verb, place(path, payoutLinkId), { body })
      t.same([answer.status, answer.headers['www-authenticate']], [status, challenge], `${verb} ${path}`)
      if (verb !== 'HEAD' && !isHealth) refused(t, answer, 401, 'ADMIN_TOKEN_REQUIRED', 'authorization')
    }
  }
  t.same(await state(), before, 'nothing was changed')
})

t.test('control plane, SANDBOX_ADMIN_TOKEN: health checks take any credential', async t => {
  for (const url of [LIVE, READY])
    for (const headers of [{}, bearer(ADMIN), basic(ADMIN), bearer('wrong'), { authorization: 'Basic eA==' }])
      t.same((await call(locked, 'GET', url, { headers })).body, { status: 'ok' })
})

t.test(
  'control plane, SANDBOX_ADMIN_TOKEN: only exactly this token is taken, as a bearer token or as a password',
  async t => {
    const { token } = await connect(locked)
    const letters = [...ADMIN].map(
      (letter, at) => `${ADMIN.slice(0, at)}${letter === 'A' ? 'B' : 'A'}${ADMIN.slice(at + 1)}`,
    )
    const tokens = [
      ...['', ' ', ADMIN.slice(0, -1), ADMIN.slice(1), `${ADMIN}x`, `x${ADMIN}`, `${ADMIN} ${ADMIN}`, `"${ADMIN}"`],
      ...[
        ADMIN.toUpperCase(),
        `${encodeURIComponent(ADMIN)}%20`,
        token,
        'undefined',
        '*',
        'x'.repeat(8000),
        ...letters,
      ],
    ]
    const schemes = ['', 'Basic ', 'Token ', 'Bearer', 'Bearer:'].map(scheme => `${scheme}${ADMIN}`)
    const passwords = tokens.map(one => basic(one).authorization)
    // The token as a user name, and a scheme whose credentials are none.
    const misplaced = [basic('', ADMIN).authorization, basic(`:${ADMIN}`).authorization, 'Basic', 'Basic =', 'Basic %']
    misplaced.push(`Bearer ${basic(ADMIN).authorization.slice(6)}`, `${basic(ADMIN).authorization} x`)
    const wrong = [...schemes, ...passwords, ...misplaced, ...tokens.map(one => `Bearer ${one}`)]
    const right = ['Bearer', 'bearer', 'BEARER', 'bEaReR', 'Bearer   '].map(scheme => `${scheme} ${ADMIN}`)
    for (const user of ['', 'me', 'ä €', ADMIN, 'x'.repeat(1000)]) right.push(basic(ADMIN, user).authorization)
    right.push(basic(ADMIN).authorization.replace('Basic', 'bAsIc'))
    for (const authorization of [...wrong, ...right]) {
      const { status } = await call(locked, 'GET', CLIENTS, { headers: { authorization } })
      t.equal(status, right.includes(authorization) ? 200 : 401, authorization)
    }
  },
)

t.test('control plane, SANDBOX_ADMIN_TOKEN: 404 and 405 come before the token, all else after it', async t => {
  const elsewhere = { 'x-admin-token': ADMIN, cookie: `token=${ADMIN}`, 'proxy-authorization': `Bearer ${ADMIN}` }
  const cases: [method: string, url: string, options: CallOptions, status: number][] = [
    ['GET', '/_sandbox/nowhere', {}, 404],
    ['GET', '/_sandbox/health', {}, 404],
    ['GET', '/_sandbox/health/other', {}, 404],
    ['GET', '/_sandbox/health/live/clients', {}, 404],
    ['GET', '/_sandbox/health%2Flive', {}, 404],
    ['DELETE', '/_sandbox/clock', {}, 405],
    ['POST', LIVE, {}, 405],
    ['GET', '/_sandbox/clock?client=nobody', {}, 401],
    ['GET', '/_sandbox/clock?client=a&client=b', {}, 401],
    ['GET', '/_sandbox/events?wait=61', {}, 401],
    ['GET', '/_sandbox/requests?wait=60', {}, 401],
    ['GET', `${CLIENTS}?x=${LIVE}`, {}, 401],
    ['GET', '/_sandbox/%63lients', {}, 401],
    ['POST', '/_sandbox/faults', { body: '{' }, 401],
    ['POST', '/_sandbox/faults', { body: 'x', headers: { 'content-type': 'text/plain' } }, 401],
    ['POST', '/_sandbox/seed', { body: 'x'.repeat(1024 * 1024 + 1) }, 401],
    ['GET', `${CLIENTS}?access_token=${ADMIN}`, {}, 401],
    ['GET', CLIENTS, { headers: elsewhere }, 401],
    ['POST', '/_sandbox/reset', { body: { adminToken: ADMIN } }, 401],
  ]
  for (const [method, url, options, status] of cases)
    t.equal((await call(locked, method, url, options)).status, status, `${method} ${url}`)
})

t.test('control plane, SANDBOX_ADMIN_TOKEN: a password with a colon is taken whole', async t => {
  const app = build(t, { adminToken: 'a:b:' })
  for (const [token, status] of [
    ['a:b:', 200],
    ['a', 401],
    ['b:', 401],
  ] as const)
    t.equal((await call(app, 'GET', CLIENTS, { headers: basic(token) })).status, status, token)
})

t.test(
  'control plane, Keep web pages out: a page of another origin does nothing, though the browser adds the password',
  async t => {
    const own = { ...basic(ADMIN), host: 'localhost:8080' }
    const app = build(t, { adminToken: ADMIN })
    t.equal((await call(app, 'PATCH', '/_sandbox/clock', { headers: own, body: { mode: 'frozen' } })).status, 200)
    const foreign: Record<string, string>[] = [
      { origin: 'https://shop.example' },
      { origin: 'null' },
      { origin: 'http://localhost:3000' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
    ]
    const state = async () => (await call(app, 'GET', '/_sandbox/state', { headers: own })).body
    const before = await state()
    for (const [method, path, body] of [
      ['GET', '/_sandbox/state'],
      ['HEAD', '/_sandbox/state'],
      ['POST', '/_sandbox/clock/advance', { by: 'PT1H' }],
      ['POST', '/_sandbox/reset'],
      ['PUT', '/_sandbox/settings', { deprecationStyle: 'rfc' }],
      ['PATCH', '/_sandbox/clock', { mode: 'running' }],
      ['DELETE', '/_sandbox/faults'],
      ['OPTIONS', '/_sandbox/reset'],
    ] as const) {
      for (const headers of foreign) {
        const answer = await call(app, method, path, { body, headers: { ...own, ...headers } })
        t.equal(answer.status, 403, `${method} ${path} ${JSON.stringify(headers)}`)
        if (method !== 'HEAD') t.equal(answer.body.code, 'FORBIDDEN_ORIGIN')
      }
    }
    t.same(await state(), before, 'nothing was changed')
  },
)

t.test('decisions §12: a call with a body takes application/json, and one without needs no type', async t => {
  const send = (method: string, path: string, type: string | undefined, body?: string) =>
    locked.inject({
      method: method as 'POST',
      url: `/_sandbox${path}`,
      headers: { ...basic(ADMIN), ...(type !== undefined && { 'content-type': type }) },
      ...(body !== undefined && { payload: body }),
    })
  const types = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'text/json']
  for (const [method, path, body] of [
    ['POST', '/clock/advance', '{"by":"PT1H"}'],
    ['POST', '/reset', '{}'],
    ['PUT', '/settings', '{"deprecationStyle":"rfc"}'],
    ['PATCH', '/clock', '{"rate":60}'],
    ['DELETE', '/faults', '{}'],
  ] as const) {
    for (const type of [...types, undefined]) {
      const answer = await send(method, path, type, body)
      t.match(
        [answer.statusCode, answer.json()],
        [415, { code: 'UNSUPPORTED_MEDIA_TYPE' }],
        `${method} ${path} ${type}`,
      )
    }
    const { statusCode } = await send(method, path, 'application/json; charset=utf-8', body)
    t.equal(statusCode, 200, `${method} ${path}`)
  }
  for (const type of [undefined, ...types]) {
    t.equal((await send('POST', '/reset', type)).statusCode, 200, `no body: ${type}`)
    t.equal((await send('DELETE', '/faults', type)).statusCode, 200, `no body: ${type}`)
  }
})

t.test('control plane, SANDBOX_ADMIN_TOKEN: the API does not take it, and does not need it', async t => {
  const client = await connect(locked)
  t.equal((await client.get('/api/v1/mandates')).status, 200)
  const answer = await call(locked, 'GET', '/api/v1/mandates', { region: 'EU', headers: bearer(ADMIN) })
  refused(t, answer, 401, 'INVALID_TOKEN', 'authorization')
})

t.test('control plane, SANDBOX_ADMIN_TOKEN: the token is in no log and in no answer', async t => {
  let log = ''
  const stream = new Writable({
    write(chunk, _encoding, done) {
      log += chunk
      done()
    },
  })
  const app = build(t, { adminToken: ADMIN, logger: pino({ level: 'trace' }, stream) as FastifyBaseLogger })
  const payoutLinkId = await stock(await connect(app))
  const answers: unknown[] = []
  const ask = async (method: string, url: string, authorization: string, body?: unknown) => {
    answers.push(await call(app, method, url, { headers: { authorization, 'x-region': 'EU' }, body }))
  }
  const basics = [ADMIN, `${ADMIN}x`].map(token => basic(token).authorization)
  for (const authorization of [`Bearer ${ADMIN}`, ...basics, `Basic ${ADMIN}`, ADMIN, `Bearer ${ADMIN}x`]) {
    for (const { method, path } of await routesOf(app)) {
      if (path === '/_sandbox/reset' || path === '/_sandbox/state') continue
      await ask(method, place(path, payoutLinkId), authorization, bodies[`${method} ${path}`])
    }
    await ask('GET', '/_sandbox/nowhere', authorization)
    await ask('POST', '/_sandbox/faults', authorization, '{')
    // A user who mixes the two up sends it to the API.
    await ask('POST', '/api/v1/mandates', authorization, {})
    await ask('POST', '/api/v1/oauth/token', authorization)
  }
  const port = await listen(app)
  answers.push(await exchange(port, request('GET /_sandbox/clock', { ...bearer(ADMIN), 'x-long': 'x'.repeat(20_000) })))
  answers.push(
    await exchange(port, `GET /_sandbox/clock HTTP/1.1\r\nhost: a\r\nauthorization: ${ADMIN}\r\nno colon\r\n\r\n`),
  )
  for (const path of ['requests', 'state', 'events'])
    for (const client of ['acme', 'sandbox-client'])
      await ask('GET', `/_sandbox/${path}?client=${client}`, `Bearer ${ADMIN}`)
  t.match(log, CLIENTS, 'the log is written to')
  t.match(JSON.stringify(answers), '/api/v1/mandates', 'the request log has entries')
  for (const text of [ADMIN, ...basics.map(one => one.slice(6))]) {
    t.notOk(log.includes(text), 'not in the log')
    t.notOk(JSON.stringify(answers).includes(text), 'not in an answer')
  }
  t.equal((await requestToken(app)).status, 200)
})
