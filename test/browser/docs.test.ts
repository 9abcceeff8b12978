import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import t from 'tap'
import type { BuildOptions } from '../helper.js'
import { build, connect } from '../helper.js'
import { assertAccessible } from './accessibility.js'
import { openBrowser } from './browser.js'
import { needsChromium } from './chromium.js'

const CLOCK = 'control-plane/tag/clock/GET/_sandbox/clock'
const MANDATES = 'payments-service/tag/mandates/GET/api/v1/mandates'
const UPLOAD = 'payments-service/tag/bills/POST/api/v1/bills/{uniqueReferenceIdentifier}/document'
const STATE = 'control-plane/tag/state/PUT/_sandbox/state'

/** Generous: a loaded machine renders late. Nothing waits longer than it has to. */
const TIMEOUT = 120_000

/** Opens an empty page of a browser that reaches this server only. Returns what it requests and complains of, too. */
async function openDocs(t: Test, options: BuildOptions = {}) {
  const app = build(t, options)
  await app.listen({ port: 0, host: '127.0.0.1' })
  const origin = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  const browser = await openBrowser(t)
  const page = await browser.newPage()
  page.setDefaultTimeout(TIMEOUT)
  const requested: string[] = []
  const complaints: string[] = []
  page.on('request', request => requested.push(request.url()))
  page.on('pageerror', error => complaints.push(error.message))
  page.on('console', message => {
    if (message.type() === 'error') complaints.push(message.text())
  })
  return { app, page, origin, docs: `${origin}/docs`, requested, complaints }
}

const inside = (urls: readonly string[], origin: string) =>
  urls.filter(url => !url.startsWith(`${origin}/`) && !/^(data|blob):/.test(url))

// One load for all of it: each takes seconds.
t.test(
  'fidelity, Documented and assumed; console, Pages: /docs shows documents and labels, offline, and sends as a client',
  needsChromium,
  async t => {
    const { app, page, origin, requested, complaints } = await openDocs(t)
    const client = await connect(app)
    await client.control('POST', '/seed', { fixture: 'demo' })
    const docs = `${origin}/docs?client=acme`
    await page.goto(docs)
    await page.getByText('Issue an access token using client credentials').first().waitFor()
    await page.getByRole('button', { name: 'Payments service' }).first().waitFor()
    const bar = page.getByRole('navigation', { name: 'Console' })
    t.equal(await bar.getByRole('link').first().getAttribute('href'), '_sandbox/console?client=acme')
    await assertAccessible(t, page)

    for (const [term, model, answer] of [
      ['nextCursor', 'CollectionListEnvelope', 'null when hasMore is false.'],
      ['reasonCode', 'CollectionRequest', 'Assumed. The service shows no fields of the single record'],
    ] as const) {
      await page.getByRole('button', { name: 'Search' }).first().click()
      await page.getByRole('combobox').first().fill(term)
      await page.getByRole('option').filter({ hasText: model }).first().click()
      await page.locator('p', { hasText: answer }).first().waitFor()
      t.pass(`${term}: ${answer}`)
    }

    await page.goto(`${docs}#payments-service/tag/direct-debit/GET/api/v1/direct-debit/{collectionReference}`)
    await page.getByText('Read one collection request').first().waitFor()
    await page.getByText('documented', { exact: true }).first().waitFor()
    t.pass('an operation shows its label')

    const tokens = () => requested.filter(url => url.endsWith('/oauth/token')).length
    t.equal(tokens(), 0, 'a reader takes no token')
    await client.control('POST', '/faults', { effect: { kind: 'error', status: 429 } })
    const before = (await client.control('GET', '/requests')).body.data.length
    t.equal((await send(page, docs, MANDATES, '/api/v1/mandates')).status, 429)
    t.match(await pressSend(page, '/api/v1/mandates'), {
      status: 200,
      body: { data: [{ mandateReference: /^MND-ACME-/ }] },
    })
    t.match((await client.control('GET', '/requests')).body.data.slice(before), [
      { path: '/api/v1/mandates', status: 429 },
      { path: '/api/v1/mandates', status: 200 },
    ])
    t.equal(await noteOf(page), 'Calls act as acme.')
    await page.keyboard.press('Escape')

    await open(page, docs, UPLOAD)
    const choosing = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Select File' }).first().click()
    await (await choosing).setFiles({ name: 'a.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.4') })
    t.match(await pressSend(page, '/api/v1/bills/BILL-EU-2017/document'), {
      status: 201,
      body: { contentType: 'application/pdf' },
    })
    await page.keyboard.press('Escape')

    await change(page, 'Payments service', 'Control plane')
    t.match(await send(page, docs, CLOCK, '/_sandbox/clock'), {
      status: 200,
      url: `${origin}/_sandbox/clock?client=acme`,
    })
    await page.keyboard.press('Escape')
    t.same(inside(requested, origin), [], 'nothing from outside')
    const unexpected = complaints.filter(complaint => !complaint.includes('status of 429'))
    t.same(unexpected, [], 'no error but that of the fault, and nothing that the policy of the page refuses')
    // The example of another call registers its client.
    const another = { status: 404, url: /\/_sandbox\/state\?client=app-\d+$/ }
    t.match(await send(page, docs, STATE, '/_sandbox/state'), another, 'the example of a state is for another client')

    t.equal((await send(page, `${origin}/docs?client=nobody`, MANDATES, '/api/v1/mandates')).status, 401)
    t.match(await noteOf(page), 'nobody')
  },
)

/** Opens the request of an operation. A page shows one document at a time. */
async function open(page: Page, docs: string, operation: string) {
  await page.goto(`${docs}#${operation}`)
  const section = page.locator(`[id="${operation}"]`)
  await section.getByRole('button', { name: 'Test Request' }).first().click()
}

/** Opens an operation, presses Send, and returns the request and its answer. */
async function send(page: Page, docs: string, operation: string, path: string) {
  await open(page, docs, operation)
  return pressSend(page, path)
}

/** Changes from one document to another. Another load of the page would take seconds. */
async function change(page: Page, from: string, to: 'Payments service' | 'Control plane') {
  await page.getByText(from).first().click()
  await page.getByText(to).first().click()
  const title = to === 'Control plane' ? 'Payments sandbox: control plane' : 'Issue an access token'
  await page.getByText(title).first().waitFor()
}

/** Sends the request that is open. */
async function pressSend(page: Page, path: string) {
  const answered = page.waitForResponse(response => new URL(response.url()).pathname === path)
  await page.getByRole('button', { name: 'Send' }).first().click()
  const response = await answered
  return {
    status: response.status(),
    url: response.url(),
    body: await response.json(),
    authorization: response.request().headers().authorization,
  }
}

const noteOf = (page: Page) => page.getByRole('banner').getByRole('status').textContent()

t.test('settings, SANDBOX_ADMIN_TOKEN: calls of /docs carry the token that one types', needsChromium, async t => {
  const { page, origin, docs } = await openDocs(t, { adminToken: 'top-secret' })
  t.equal((await send(page, docs, MANDATES, '/api/v1/mandates')).status, 401, 'a token of a client needs it, too')
  t.equal(await noteOf(page), 'The server asks for its admin token to act as sandbox-client.')
  await page.keyboard.press('Escape')
  await change(page, 'Payments service', 'Control plane')
  t.equal((await send(page, docs, CLOCK, '/_sandbox/clock')).status, 401, 'without it')
  await page.getByPlaceholder('Token').last().fill('top-secret')
  const { status, url, authorization } = await pressSend(page, '/_sandbox/clock')
  t.same([status, url, authorization], [200, `${origin}/_sandbox/clock?client=sandbox-client`, 'Bearer top-secret'])
  await page.keyboard.press('Escape')
  // The browser asks for it, as this does.
  await page.context().setHTTPCredentials({ username: 'me', password: 'top-secret' })
  await change(page, 'Control plane', 'Payments service')
  t.equal((await send(page, docs, MANDATES, '/api/v1/mandates')).status, 200)
  t.equal(await noteOf(page), 'Calls act as sandbox-client.')
})
