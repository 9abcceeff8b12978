import { Writable } from 'node:stream'
import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import pino from 'pino'
import t, { type Test } from 'tap'
import type { Answer, Client } from '../helper.js'
import { bill, build, call, collection, connect, mandate, payoutLink, requestToken } from '../helper.js'
import { exchange, listen, type RawAnswer, refused, request } from '../http/raw.js'

const ADMIN = 'adm1n-Token_of.this~server'
const LIVE = '/_sandbox/health/live'
const READY = '/_sandbox/health/ready'

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** That a call of the control plane is refused for want of the admin token. */
function unauthorised(t: Test, answer: Answer | RawAnswer | undefined, what: string) {
  refused(t, answer as Answer, 401, 'ADMIN_TOKEN_REQUIRED', 'authorization', what)
  t.equal(answer?.headers['www-authenticate'], 'Bearer realm="payments-sandbox control plane"')
}

// ------------------------------------------------------------------------------------------------------- every route

interface Route {
  readonly method: string
  readonly path: string
}

/** The routes as the control plane lists them. */
const routesOf = async (app: FastifyInstance): Promise<Route[]> =>
  (await call(app, 'GET', '/_sandbox', { headers: bearer(ADMIN) })).body.routes

/** Bodies for the calls that need one to succeed. */
const bodies: Record<string, unknown> = {
  'POST /_sandbox/seed': { records: { mandates: [mandate({ mandateReference: 'MND-SEED' })] } },
  'POST /_sandbox/fork': { clientId: 'copy' },
  'PATCH /_sandbox/clock': { rate: 60 },
  'POST /_sandbox/clock/advance': { by: 'PT1H' },
  'POST /_sandbox/payout-links/:payoutLinkId/claim': {
    accountHolderName: 'Jane Doe',
    accountIdentifier: 'DE89370400440532013000',
  },
  'POST /_sandbox/requests/verify': { method: 'POST' },
  'POST /_sandbox/faults': { effect: { kind: 'truncate' } },
  'PUT /_sandbox/settings': { deprecationStyle: 'rfc' },
  'PUT /_sandbox/deprecations': { data: [{ operation: 'GET /api/v1/accounts' }] },
}

/** A client with a record of every kind; tells the id of its payout link. */
async function stocked(app: FastifyInstance): Promise<{ client: Client; payoutLinkId: string }> {
  const client = await connect(app)
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/direct-debit', collection())
  await client.post('/api/v1/bills', bill())
  return { client, payoutLinkId: (await client.post('/api/v1/payout-links', payoutLink())).body.payoutLinkId }
}

const place = (path: string, payoutLinkId: string) =>
  `${path
    .replace(':collectionReference', 'COL-0001')
    .replace(':mandateReference', 'MND-0001')
    .replace(':payoutLinkId', payoutLinkId)
    .replace(':uniqueReferenceIdentifier', 'INV-2026-001')
    .replace(':id', 'fault-1')}?client=acme`

/** The answers of all routes, one after the other, with these headers. */
async function walk(t: Test, app: FastifyInstance, routes: readonly Route[], headers: Record<string, string>) {
  const { payoutLinkId } = await stocked(app)
  const answers: Record<string, unknown> = {}
  for (const { method, path } of routes) {
    const name = `${method} ${path}`
    const url = place(path, payoutLinkId)
    // What was read is put back.
    const body = name === 'PUT /_sandbox/state' ? (await call(app, 'GET', url, { headers })).body : bodies[name]
    const answer = await call(app, method, url, { headers, ...(body !== undefined && { body }) })
    answers[name] = [answer.status, answer.body]
    if (method === 'GET') answers[`HEAD ${path}`] = (await call(app, 'HEAD', url, { headers })).status
    t.not(answer.status, 401, name)
  }
  return answers
}

t.test('control plane: with the admin token given, every call does what it does where none is asked for', async t => {
  const open = build(t)
  const guarded = build(t, { adminToken: ADMIN })
  const routes = await routesOf(open)
  t.ok(routes.length > 40, `${routes.length} routes`)
  t.same(await routesOf(guarded), routes)
  const without = await walk(t, open, routes, {})
  t.same(await walk(t, guarded, routes, bearer(ADMIN)), without)
  const successes = Object.values(without).filter(answer => [200, 201].includes((answer as number[])[0] as number))
  t.ok(successes.length > 25, `${successes.length} of them succeed`)
})

t.test('control plane: without the admin token, nothing works but the two health checks', async t => {
  const app = build(t, { adminToken: ADMIN })
  const { payoutLinkId } = await stocked(app)
  const before = (await call(app, 'GET', '/_sandbox/state?client=acme', { headers: bearer(ADMIN) })).body
  for (const { method, path } of await routesOf(app)) {
    const url = place(path, payoutLinkId)
    const body = bodies[`${method} ${path}`]
    for (const verb of method === 'GET' ? ['GET', 'HEAD'] : [method]) {
      const answer = await call(app, verb, url, body === undefined ? {} : { body })
      if (path === LIVE || path === READY) {
        t.equal(answer.status, 200, `${verb} ${path}`)
      } else if (verb === 'HEAD') {
        t.equal(answer.status, 401, `HEAD ${path}`)
      } else {
        unauthorised(t, answer, `${verb} ${path}`)
      }
    }
  }
  const after = (await call(app, 'GET', '/_sandbox/state?client=acme', { headers: bearer(ADMIN) })).body
  t.same(after, before, 'and nothing was changed')
})

t.test('control plane: health checks need no token, take any, and answer the same', async t => {
  const app = build(t, { adminToken: ADMIN })
  for (const url of [LIVE, READY, `${LIVE}?x=y`, '/_sandbox/%68ealth/live']) {
    for (const headers of [{}, bearer(ADMIN), bearer('wrong'), { authorization: 'Basic eA==' }]) {
      const answer = await call(app, 'GET', url, { headers })
      t.same([answer.status, answer.body], [200, { status: 'ok' }], url)
    }
  }
})

// --------------------------------------------------------------------------------------------------- wrong credentials

t.test('control plane: any other credential is refused', async t => {
  const app = build(t, { adminToken: ADMIN })
  const client = await connect(app)
  for (const authorization of [
    '',
    'Bearer',
    'Bearer ',
    ADMIN,
    `Basic ${ADMIN}`,
    `Basic ${Buffer.from(`:${ADMIN}`).toString('base64')}`,
    `Token ${ADMIN}`,
    `Bearer${ADMIN}`,
    `Bearer:${ADMIN}`,
    `Bearer ${ADMIN.slice(0, -1)}`,
    `Bearer ${ADMIN.slice(1)}`,
    `Bearer ${ADMIN[0]}`,
    `Bearer ${ADMIN}x`,
    `Bearer x${ADMIN}`,
    `Bearer ${ADMIN} ${ADMIN}`,
    `Bearer ${ADMIN}, Bearer ${ADMIN}`,
    `Bearer "${ADMIN}"`,
    `Bearer ${ADMIN.toUpperCase()}`,
    `Bearer ${ADMIN.toLowerCase()}`,
    `Bearer ${encodeURIComponent(ADMIN)}%20`,
    `Bearer ${client.token}`,
    'Bearer undefined',
    'Bearer null',
    'Bearer *',
    `Bearer ${'x'.repeat(8000)}`,
  ]) {
    const answer = await call(app, 'GET', '/_sandbox/clients', { headers: { authorization } })
    unauthorised(t, answer, authorization.slice(0, 40))
  }
  for (const position of ADMIN.split('').keys()) {
    const changed = `${ADMIN.slice(0, position)}${ADMIN[position] === 'A' ? 'B' : 'A'}${ADMIN.slice(position + 1)}`
    unauthorised(t, await call(app, 'GET', '/_sandbox/clients', { headers: bearer(changed) }), `character ${position}`)
  }
})

t.test('control plane: the scheme in any case, and spaces behind it, as with tokens of clients', async t => {
  const app = build(t, { adminToken: ADMIN })
  for (const scheme of ['Bearer', 'bearer', 'BEARER', 'bEaReR', 'Bearer   ']) {
    const answer = await call(app, 'GET', '/_sandbox/clients', { headers: { authorization: `${scheme} ${ADMIN}` } })
    t.equal(answer.status, 200, scheme)
  }
})

t.test('control plane: the admin token is nowhere read but in the header', async t => {
  const app = build(t, { adminToken: ADMIN })
  for (const url of [`/_sandbox/clients?access_token=${ADMIN}`, `/_sandbox/clients?adminToken=${ADMIN}`]) {
    unauthorised(t, await call(app, 'GET', url), url)
  }
  const headers = { 'x-admin-token': ADMIN, cookie: `token=${ADMIN}`, 'proxy-authorization': `Bearer ${ADMIN}` }
  unauthorised(t, await call(app, 'GET', '/_sandbox/clients', { headers }), 'other headers')
  unauthorised(t, await call(app, 'POST', '/_sandbox/reset', { body: { adminToken: ADMIN } }), 'the body')
})

t.test('control plane: sent twice over the wire, the first header counts, as Node reads it', async t => {
  const app = build(t, { adminToken: ADMIN })
  const port = await listen(app)
  const twice = (first: string, second: string) =>
    request('GET /_sandbox/clock', { authorization: `${first}\r\nauthorization: ${second}`, connection: 'close' })
  const [wrong] = await exchange(port, twice('Bearer x', `Bearer ${ADMIN}`))
  unauthorised(t, wrong, 'a wrong one first')
  const [right] = await exchange(port, twice(`Bearer ${ADMIN}`, 'Bearer x'))
  t.equal(right?.status, 200)
})

t.test('control plane: it is asked for after 404 and 405, and before all else', async t => {
  const app = build(t, { adminToken: ADMIN })
  refused(t, await call(app, 'GET', '/_sandbox/nowhere'), 404, 'ROUTE_NOT_FOUND', null)
  refused(t, await call(app, 'GET', '/_sandbox/health'), 404, 'ROUTE_NOT_FOUND', null)
  refused(t, await call(app, 'GET', '/_sandbox/health/'), 404, 'ROUTE_NOT_FOUND', null)
  refused(t, await call(app, 'GET', '/_sandbox/health/other'), 404, 'ROUTE_NOT_FOUND', null)
  refused(t, await call(app, 'GET', '/_sandbox/health/live/clients'), 404, 'ROUTE_NOT_FOUND', null)
  refused(t, await call(app, 'GET', '/_sandbox/health%2Flive'), 404, 'ROUTE_NOT_FOUND', null)
  refused(t, await call(app, 'DELETE', '/_sandbox/clock'), 405, 'METHOD_NOT_ALLOWED', null)
  refused(t, await call(app, 'POST', LIVE), 405, 'METHOD_NOT_ALLOWED', null)
  for (const [method, url, options] of [
    ['GET', '/_sandbox/clock?client=nobody', {}],
    ['GET', '/_sandbox/clock?client=a&client=b', {}],
    ['GET', '/_sandbox/events?wait=61', {}],
    ['GET', '/_sandbox/events', { headers: { accept: 'text/event-stream' } }],
    ['GET', '/_sandbox/clients?x=/_sandbox/health/live', {}],
    ['GET', '/_sandbox/%63lients', {}],
    ['GET', '/_sandbox/mandates/%zz', {}],
    ['POST', '/_sandbox/faults', { body: '{' }],
    ['POST', '/_sandbox/faults', { body: 'x', headers: { 'content-type': 'text/plain' } }],
    ['POST', '/_sandbox/seed', { body: 'x'.repeat(1024 * 1024 + 1) }],
    ['PUT', '/_sandbox/settings', { body: {} }],
  ] as const) {
    unauthorised(t, await call(app, method, url, options), `${method} ${url}`)
  }
})

// --------------------------------------------------------------------------------------------------- the API, secrecy

t.test('control plane: the API itself knows nothing of it', async t => {
  const app = build(t, { adminToken: ADMIN })
  const { client } = await stocked(app)
  for (const path of ['direct-debit', 'mandates', 'bills', 'accounts']) {
    t.equal((await client.get(`/api/v1/${path}`)).status, 200, path)
  }
  t.equal((await requestToken(app)).status, 200)
  const answer = await call(app, 'GET', '/api/v1/mandates', { region: 'EU', headers: bearer(ADMIN) })
  refused(t, answer, 401, 'INVALID_TOKEN', 'authorization', 'it is no access token')
})

t.test('control plane: without one, no call asks for it, whatever credential it carries', async t => {
  const app = build(t)
  for (const headers of [{}, bearer('x'), { authorization: 'Basic eA==' }]) {
    t.equal((await call(app, 'GET', '/_sandbox/clients', { headers })).status, 200)
  }
})

t.test('control plane: the admin token, right or nearly so, is in no log, no answer and no record', async t => {
  let log = ''
  const stream = new Writable({
    write(chunk, _encoding, done) {
      log += chunk
      done()
    },
  })
  const logger = pino({ level: 'trace' }, stream) as FastifyBaseLogger
  const app = build(t, { adminToken: ADMIN, logger })
  const { client, payoutLinkId } = await stocked(app)
  const told: unknown[] = []
  const ask = async (method: string, url: string, authorization: string, body?: unknown) => {
    const headers = { authorization, 'x-region': 'EU' }
    told.push(await call(app, method, url, { headers, ...(body !== undefined && { body }) }))
  }
  for (const authorization of [`Bearer ${ADMIN}`, `Basic ${ADMIN}`, ADMIN, `Bearer ${ADMIN}x`]) {
    for (const { method, path } of await routesOf(app)) {
      if (path === '/_sandbox/reset' || path === '/_sandbox/state') continue
      await ask(method, place(path, payoutLinkId), authorization, bodies[`${method} ${path}`])
    }
    await ask('GET', '/_sandbox/nowhere', authorization)
    await ask('PUT', '/_sandbox/clock', authorization)
    await ask('POST', '/_sandbox/faults', authorization, '{')
    // Whoever mixes the two up tells the API.
    await ask('GET', '/api/v1/mandates', authorization)
    await ask('POST', '/api/v1/mandates', authorization, {})
    await ask('POST', '/api/v1/oauth/token', authorization)
  }
  const port = await listen(app)
  for (const bytes of [
    request('GET /_sandbox/clock', { ...bearer(ADMIN), connection: 'close' }),
    request('GET /_sandbox/clock', { ...bearer(ADMIN), 'x-long': 'x'.repeat(20_000) }),
    `GET /_sandbox/clock HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${ADMIN}\r\nno colon\r\n\r\n`,
  ]) {
    told.push(await exchange(port, bytes))
  }
  for (const path of ['requests', 'recording', 'state', 'events']) {
    for (const of of ['acme', 'sandbox-client']) await ask('GET', `/_sandbox/${path}?client=${of}`, `Bearer ${ADMIN}`)
  }
  t.equal((await client.control('GET', '/requests')).status, 401)
  t.match(log, '/_sandbox/clients', 'the log is written to')
  t.match(JSON.stringify(told), '/api/v1/mandates', 'and so is the request log')
  t.notOk(log.includes(ADMIN), 'not in the log')
  t.notOk(JSON.stringify(told).includes(ADMIN), 'not in an answer')
})
