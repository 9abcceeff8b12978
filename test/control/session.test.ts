import type { FastifyBaseLogger, FastifyInstance } from 'fastify'
import pino from 'pino'
import t from 'tap'
import { createSessions } from '../../src/control/admin/session.js'
import { gist, table } from '../answers.js'
import type { CallOptions } from '../helper.js'
import { build, call } from '../helper.js'
import { manualTime } from '../manual-time.js'
import { field, MULTIPART, multipart } from '../multipart.js'

// control plane, Lock the control plane: the session of a browser.

const ADMIN = 'adm1n-Token_of.this~server'
const HOST = 'localhost:8080'
const OWN = { host: HOST, origin: `http://${HOST}`, accept: 'text/html' }
const FORM = { 'content-type': 'application/x-www-form-urlencoded' }
const COVERAGE = '/_sandbox/coverage'
const DEMO = '/_sandbox/embed-demo'

const form = (fields: Record<string, string>): CallOptions => ({
  body: new URLSearchParams(fields).toString(),
  headers: { ...OWN, ...FORM },
})

const signIn = (app: FastifyInstance, token: string, { headers = {}, to = '' } = {}) => {
  const { body, headers: own } = form({ token, ...(to && { to }) })
  return call(app, 'POST', '/_sandbox/sign-in', { body, headers: { ...own, ...headers } })
}

/** Signs in, and returns the cookie as a browser sends it. */
async function sessionOf(app: FastifyInstance, token = ADMIN): Promise<string> {
  const { headers } = await signIn(app, token)
  return String(headers['set-cookie']).split(';')[0] as string
}

const page = (app: FastifyInstance, url: string, cookie = '', headers: Record<string, string> = {}) =>
  call(app, 'GET', url, { headers: { host: HOST, accept: 'text/html', ...(cookie && { cookie }), ...headers } })

/** A server that the tests share. */
const locked = build(t, { adminToken: ADMIN })

t.test('control plane, Lock the control plane: a browser is asked for the token by a page with one field', async t => {
  for (const url of [COVERAGE, DEMO, '/_sandbox/sign-in']) {
    const { status, body, headers } = await page(locked, url)
    t.equal(status, url.endsWith('sign-in') ? 200 : 401, url)
    t.match(headers, {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-security-policy': /default-src 'none'.*frame-ancestors 'none'/,
    })
    t.equal(body.match(/<input(?![^>]*hidden)/g)?.length, 1, 'one field')
    t.match(body, 'type="password"')
    t.match(body, /<form method="post" action="sign-in">/)
    t.notMatch(body, /<script|onclick|style=/)
  }
  const json = await call(locked, 'GET', DEMO, { headers: { accept: 'application/json' } })
  t.equal(gist(json), '401 ADMIN_TOKEN_REQUIRED authorization', 'a client that wants no page gets an error')
})

t.test('control plane, Lock the control plane: the cookie is no copy of the token, and for these pages', async t => {
  const lines: string[] = []
  const logger = pino({ level: 'trace' }, { write: line => void lines.push(line) }) as FastifyBaseLogger
  const app = build(t, { adminToken: ADMIN, logger })
  const answer = await signIn(app, ADMIN)
  t.equal(answer.status, 303)
  t.equal(answer.headers['cache-control'], 'no-store')
  const [value = '', ...attributes] = String(answer.headers['set-cookie']).split('; ')
  t.match(value, /^sandbox_session=[\w-]{22}\.\d+\.[\w-]{43}$/)
  t.same(attributes.sort(), ['HttpOnly', 'Max-Age=43200', 'SameSite=Strict'])
  for (const text of [ADMIN, encodeURIComponent(ADMIN), Buffer.from(ADMIN).toString('base64url')]) {
    t.notOk(value.includes(text))
  }
  t.not(value, await sessionOf(app), 'each session has a value of its own')
  t.equal((await page(app, COVERAGE, value)).status, 200)
  const upload = { body: multipart(field('call', 'PUT /_sandbox/state'), {}), headers: { ...MULTIPART, ...OWN } }
  const headers = { ...upload.headers, cookie: value }
  t.equal((await call(app, 'POST', '/_sandbox/console/client/load', { ...upload, headers })).status, 400)
  t.match(lines.join(), COVERAGE)
  t.notOk(lines.join().includes(value), 'it is not in the log')
})

t.test(
  'control plane, Lock the control plane: the cookie is Secure behind HTTPS, and has no path but its own',
  async t => {
    const proxied = build(t, { adminToken: ADMIN, publicUrl: () => 'https://pay.example/tools/' })
    for (const [origin, secure] of [
      ['https://pay.example', true],
      ['http://localhost:8080', false],
    ] as const) {
      const cookie = String((await signIn(proxied, ADMIN, { headers: { origin } })).headers['set-cookie'])
      t.equal(cookie.includes('; Secure'), secure, origin)
      t.notMatch(cookie, 'Path')
    }
  },
)

t.test('control plane, Lock the control plane: a session opens the pages, and no call', async t => {
  const cookie = await sessionOf(locked)
  t.match(await page(locked, COVERAGE, cookie), { status: 200, body: /Coverage of sandbox-client/ })
  t.match(await page(locked, DEMO, cookie), { status: 200, body: /Embedded checkout/ })
  const { routes } = (await call(locked, 'GET', '/_sandbox', { headers: { authorization: `Bearer ${ADMIN}` } })).body
  for (const { method, path } of routes as { method: string; path: string }[]) {
    if (/health|embed-demo/.test(path)) continue
    const headers = { cookie, host: HOST, accept: 'application/json, text/html;q=0.9' }
    t.equal((await call(locked, method, path.replace(/:\w+/g, 'ref-00001'), { headers })).status, 401, path)
  }
  const state = await page(locked, '/_sandbox/state', cookie)
  t.equal(gist(state), '401 ADMIN_TOKEN_REQUIRED authorization', 'nor to a browser')
  t.equal(
    (await call(locked, 'GET', '/_sandbox/clock', { headers: { authorization: `Bearer ${cookie}` } })).status,
    401,
  )
})

t.test('control plane, Lock the control plane: only cookies of this token and twelve hours count', async t => {
  let real = 1_000_000
  const app = build(t, { adminToken: ADMIN, now: () => real })
  const cookie = await sessionOf(app)
  const other = build(t, { adminToken: `${ADMIN}x`, now: () => real })
  const [name, value = ''] = cookie.split('=')
  const [id, expiry, signature = ''] = value.split('.')
  const forged = [
    ...['', 'x', '..', value.slice(0, -1), `${value}x`, `${value}.x`, `x${value}`, ADMIN],
    ...[`${id}.${Number(expiry) + 1000}.${signature}`, (await sessionOf(other, `${ADMIN}x`)).split('=')[1]],
  ]
  for (const text of forged) t.equal((await page(app, COVERAGE, `${name}=${text}`)).status, 401, String(text))
  t.equal((await page(app, COVERAGE, `a=b; ${cookie}; c=d`)).status, 200)
  const twin = build(t, { adminToken: ADMIN, now: () => real })
  t.equal((await page(twin, COVERAGE, cookie)).status, 200, 'another server with the token takes it')
  real += 12 * 3_600_000 - 1
  t.equal((await page(app, COVERAGE, cookie)).status, 200)
  real += 1
  t.equal((await page(app, COVERAGE, cookie)).status, 401)
})

t.test('control plane, Lock the control plane: after the token, the browser is back at the page it wanted', async t => {
  const { body } = await page(locked, `${COVERAGE}?client=a%26b&x=%22%3E`)
  t.match(body, 'name="to" value="coverage?client=a%26b&amp;x=%22%3E"')
  const elsewhere = [
    ...[
      'https://shop.example/',
      '//shop.example',
      '\\\\shop.example',
      '/\t/shop.example',
      '/api/v1/mandates',
      '../pay/x',
    ],
    ...['javascript:alert(1)', 'http://sandbox.shop.example/_sandbox/x', 'http://sandbox@shop.example/_sandbox/x'],
    ...['http://[', 'coverage\r\nset-cookie: x=y', `coverage?${'a'.repeat(8000)}`, ''],
  ]
  const locationOf = async (to: string) => String((await signIn(locked, ADMIN, { to })).headers.location)
  await table(t, locationOf, {
    './coverage?client=a%26b': ['coverage?client=a%26b'],
    './console/bills?client=x': ['console/bills?client=x'],
    './coverage?ab': ['coverage?a\r\nb'],
    './console': elsewhere,
  })
})

t.test('control plane, Lock the control plane: a wrong token is refused late, and a few at a time', async t => {
  const { timers, pass } = manualTime()
  const app = build(t, { adminToken: ADMIN, timers })
  const wrong = ['x', `${ADMIN}x`, ADMIN.slice(1), ADMIN.toUpperCase(), ` ${ADMIN}`]
  let answered = 0
  const answers = wrong.map(token => signIn(app, token).finally(() => answered++))
  await new Promise(setImmediate)
  t.match(await signIn(app, ADMIN), { status: 429, headers: { 'retry-after': '1' } }, 'not even the right one')
  pass(999)
  await new Promise(setImmediate)
  t.equal(answered, 0)
  pass(1)
  for (const { status, body, headers } of await Promise.all(answers)) {
    t.equal(status, 401)
    t.match(body, 'This is not the admin token.')
    t.notOk(headers['set-cookie'])
    for (const token of wrong.slice(1)) t.notOk(body.includes(token))
  }
  t.equal((await signIn(app, ADMIN)).status, 303, 'afterwards the right one is taken at once')
})

t.test('control plane, Lock the control plane: "Sign out" ends the session', async t => {
  const cookie = await sessionOf(locked)
  t.match((await page(locked, '/_sandbox/sign-in', cookie)).body, 'Sign out')
  const answer = await call(locked, 'POST', '/_sandbox/sign-out', { headers: { ...OWN, cookie } })
  t.match(answer, {
    status: 303,
    headers: {
      location: 'sign-in',
      'cache-control': 'no-store',
      'set-cookie': /^sandbox_session=; Max-Age=0; HttpOnly; SameSite=Strict$/,
    },
  })
  t.equal((await page(locked, COVERAGE, cookie)).status, 401, 'also for a copy of the cookie')
  t.equal((await page(locked, COVERAGE, await sessionOf(locked))).status, 200)
  t.equal((await call(locked, 'POST', '/_sandbox/sign-out', { headers: OWN })).status, 303, 'without a session, too')
})

t.test('control plane, Lock the control plane: forms of another origin do nothing', async t => {
  const cookie = await sessionOf(locked)
  for (const origin of ['https://shop.example', 'null', 'http://localhost:3000']) {
    const answer = await call(locked, 'POST', '/_sandbox/sign-out', { headers: { ...OWN, origin, cookie } })
    t.equal(answer.status, 403)
    const forged = await signIn(locked, ADMIN, { headers: { origin, accept: 'application/json' } })
    t.equal(gist(forged), '403 FORBIDDEN_ORIGIN origin')
    t.notOk(forged.headers['set-cookie'])
  }
  t.equal((await page(locked, COVERAGE, cookie)).status, 200, 'the session goes on')
})

t.test('control plane, Keep web pages out: a link of another site opens a page, which loads itself', async t => {
  const app = build(t, { adminToken: ADMIN })
  const link = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' }
  const { status, body } = await page(app, COVERAGE, '', link)
  t.equal(status, 401)
  t.match(body, 'http-equiv="refresh"')
  t.notMatch((await page(app, COVERAGE, '', { ...link, 'sec-fetch-site': 'same-origin' })).body, 'refresh')
  const open = build(t)
  t.match(await page(open, COVERAGE, '', link), { status: 200, body: /Coverage of/ })
  for (const headers of [
    { ...link, 'sec-fetch-dest': 'iframe' },
    { ...link, 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
    { ...link, origin: 'https://shop.example' },
  ]) {
    t.equal((await page(open, COVERAGE, '', headers)).status, 403, JSON.stringify(headers))
  }
  t.equal((await page(open, '/_sandbox/state', '', link)).status, 403, 'a call of the control plane is no page')
  const post = await call(open, 'POST', '/_sandbox/reset', { headers: { host: HOST, ...link } })
  t.equal(post.status, 403)
})

t.test('control plane, Lock the control plane: without the setting, there is nothing to sign in to', async t => {
  const app = build(t)
  t.equal((await page(app, COVERAGE)).status, 200)
  for (const path of ['sign-in', 'sign-out']) t.equal((await page(app, `/_sandbox/${path}`)).status, 404)
})

t.test('control plane, Lock the control plane: the latest 10,000 sessions that were ended are kept', async t => {
  const { begin, end, isValid } = createSessions('token')
  const values = Array.from({ length: 10_001 }, () => begin(0))
  values.forEach(end)
  t.same(
    [0, 1, 10_000].filter(at => isValid(values[at] as string, 1)),
    [0],
  )
})
