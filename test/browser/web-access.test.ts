import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import t, { type Test } from 'tap'
import type { BuildOptions } from '../helper.js'
import { build, call, connect, mandate } from '../helper.js'
import { listen, stateOf } from '../http/raw.js'
import { openBrowser } from './browser.js'
import { needsChromium } from './chromium.js'

// control plane, Keep web pages out.

const SHOP = 'shop.example'
const REBOUND = 'rebound.example'

/** Starts a sandbox with one mandate. `answers` are those to browsers: `METHOD path status code`. */
async function startSandbox(t: Test, options: BuildOptions = {}) {
  const app = build(t, options)
  const answers: string[] = []
  app.addHook('onSend', ({ method, url, headers }, { statusCode }, payload, next) => {
    const { code = '' } = statusCode < 400 ? {} : JSON.parse(payload as string)
    // The browser looks for an icon by itself.
    if (headers['user-agent']?.includes('Chrome') && url !== '/favicon.ico') {
      answers.push(`${method} ${url} ${statusCode} ${code}`.trim())
    }
    next()
  })
  const client = await connect(app, 'acme')
  await client.post('/api/v1/mandates', mandate())
  const port = await listen(app)
  return { client, answers, port, url: `http://127.0.0.1:${port}` }
}

/** Serves an empty page on a port of its own. */
async function servePage(t: Test): Promise<number> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><title>shop</title>')
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

/** Sends the requests that a hostile page would. Returns what the page learns of each answer. */
const attack = (page: Page, url: string): Promise<Record<string, string>> =>
  page.evaluate(async url => {
    const send = async (path: string, init: RequestInit) => {
      try {
        const response = await fetch(url + path, init)
        if (response.type === 'opaque') return 'opaque'
        const { code = '' } = (await response.json()) as { code?: string }
        return `${response.status} ${code}`.trim()
      } catch {
        return 'unreadable'
      }
    }
    const seed = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"fixture":"demo"}' }
    const form = 'client_id=intruder&client_secret=x&grant_type=client_credentials'
    const token = { method: 'POST', body: new URLSearchParams(form) }
    const noCors = { mode: 'no-cors' } as const
    return {
      reset: await send('/_sandbox/reset?client=acme', { method: 'POST' }),
      'reset without CORS': await send('/_sandbox/reset?client=acme', { method: 'POST', ...noCors }),
      seed: await send('/_sandbox/seed?client=acme', seed),
      state: await send('/_sandbox/state?client=acme', {}),
      'state without CORS': await send('/_sandbox/state?client=acme', noCors),
      events: await send('/_sandbox/events?client=acme', {}),
      token: await send('/api/v1/oauth/token', token),
      'token without CORS': await send('/api/v1/oauth/token', { ...token, ...noCors }),
    }
  }, url)

const NAMES = [
  'reset',
  'reset without CORS',
  'seed',
  'state',
  'state without CORS',
  'events',
  'token',
  'token without CORS',
]
const all = (result: string) => Object.fromEntries(NAMES.map(name => [name, result]))
const opaque = Object.fromEntries(NAMES.filter(name => name.includes('CORS')).map(name => [name, 'opaque']))
const CLOSED = { ...all('unreadable'), ...opaque }

const TARGETS = [
  'POST /_sandbox/reset?client=acme',
  'POST /_sandbox/reset?client=acme',
  'POST /_sandbox/seed?client=acme',
  'GET /_sandbox/state?client=acme',
  'GET /_sandbox/state?client=acme',
  'GET /_sandbox/events?client=acme',
  'POST /api/v1/oauth/token',
  'POST /api/v1/oauth/token',
]

t.test(
  'control plane, Keep web pages out: a page of another origin neither changes nor reads it',
  needsChromium,
  async t => {
    const { client, answers, url } = await startSandbox(t)
    const before = await stateOf(client)
    const pagePort = await servePage(t)
    const browser = await openBrowser(t)
    const page = await browser.newPage()
    for (const host of [SHOP, 'localhost', '127.0.0.1']) {
      await page.goto(`http://${host}:${pagePort}/`)
      answers.length = 0
      t.same(await attack(page, url), CLOSED, host)
      // JSON needs a preflight, which is refused already.
      const targets = TARGETS.map(target => target.replace('POST /_sandbox/seed', 'OPTIONS /_sandbox/seed'))
      t.same(
        answers,
        targets.map(target => `${target} 403 FORBIDDEN_ORIGIN`),
        host,
      )
    }

    for (const [content, target] of [
      [`<form method="post" action="${url}/_sandbox/reset?client=acme"><button>Win</button></form>`, 'button'],
      [`<a href="${url}/_sandbox/state?client=acme">Win</a>`, 'a'],
    ] as const) {
      await page.goto(`http://${SHOP}:${pagePort}/`)
      await page.setContent(content)
      await page.click(target)
      await page.waitForURL(`${url}/**`)
      t.match(await page.textContent('body'), '"FORBIDDEN_ORIGIN"', content)
    }
    t.same(await stateOf(client), before)
  },
)

t.test('control plane, Keep web pages out: nor can one by DNS rebinding', needsChromium, async t => {
  const { client, answers, port } = await startSandbox(t)
  const before = await stateOf(client)
  const browser = await openBrowser(t)
  const page = await browser.newPage()
  const url = `http://${REBOUND}:${port}`
  // The page has the origin that its scripts reach the sandbox by, so that they can read each answer.
  await page.goto(`${url}/nowhere`)
  answers.length = 0
  t.same(await attack(page, url), all('403 FORBIDDEN_HOST'))
  t.same(
    answers,
    TARGETS.map(target => `${target} 403 FORBIDDEN_HOST`),
  )
  t.same(await stateOf(client), before)
})

t.test('control plane, Keep web pages out: the same requests work from its own pages', needsChromium, async t => {
  const { client, url } = await startSandbox(t)
  const browser = await openBrowser(t)
  const page = await browser.newPage()
  await page.goto(`${url}/_sandbox`)
  t.same(await attack(page, url), all('200'))
  t.equal((await client.control('GET', '/mandates/MND-0001')).status, 404, 'the reset has removed it')
})

t.test('settings, SANDBOX_CORS_ORIGINS: a page uses the API, and not the control plane', needsChromium, async t => {
  const pagePort = await servePage(t)
  const { url, client } = await startSandbox(t, { corsOrigins: [`http://${SHOP}:${pagePort}`] })
  const browser = await openBrowser(t)
  const page = await browser.newPage()
  await page.goto(`http://${SHOP}:${pagePort}/`)
  const created = await page.evaluate(async url => {
    const form = 'client_id=acme&client_secret=secret&grant_type=client_credentials'
    const issued = await fetch(`${url}/api/v1/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })
    const { access_token: token } = (await issued.json()) as { access_token: string }
    const headers = { authorization: `Bearer ${token}`, 'x-region': 'EU', 'content-type': 'application/json' }
    const body = JSON.stringify({ cancellationComment: 'x' })
    const patched = await fetch(`${url}/api/v1/payout-links/pl_0000001/cancel`, { method: 'PATCH', headers, body })
    const list = await fetch(`${url}/api/v1/mandates`, { headers })
    const { totalCount } = (await list.json()) as { totalCount: number }
    return [issued.status, patched.status, list.status, totalCount, list.headers.get('x-request-id')]
  }, url)
  t.match(created, [200, 404, 200, 1, /^req-/])
  const { reset, state, events } = await attack(page, url)
  t.same({ reset, state, events }, { reset: 'unreadable', state: 'unreadable', events: 'unreadable' })
  t.equal((await call(client.app, 'GET', '/_sandbox/mandates/MND-0001?client=acme')).status, 200)
})

t.test('CONTRIBUTING, A page for browsers: the browser opens pages of this machine only', needsChromium, async t => {
  const port = await servePage(t)
  const page = await (await openBrowser(t)).newPage()
  for (const host of [SHOP, '127.0.0.1']) t.equal((await page.goto(`http://${host}:${port}/`))?.status(), 200)
  await t.rejects(page.goto(`http://other.example:${port}/`), /ERR_NAME_NOT_RESOLVED/)
})
