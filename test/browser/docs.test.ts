import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import t from 'tap'
import type { BuildOptions } from '../helper.js'
import { build } from '../helper.js'
import { openBrowser } from './browser.js'
import { needsChromium } from './chromium.js'

const CLOCK = 'control-plane/tag/clock/GET/_sandbox/clock'
const MANDATES = 'payments-service/tag/mandates/GET/api/v1/mandates'
const UPLOAD = 'payments-service/tag/bills/POST/api/v1/bills/{uniqueReferenceIdentifier}/document'
const STATE = 'control-plane/tag/state/PUT/_sandbox/state'

/** Generous: a loaded machine renders late. Nothing waits longer than it has to. */
const TIMEOUT = 120_000

/** Opens an empty page of a browser that reaches this server only. Returns what it requests and complains of, too. */
async function openDocs(
  t: Test,
  options: BuildOptions = {},
): Promise<{ page: Page; origin: string; requested: string[]; complaints: string[] }> {
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
  return { page, origin, requested, complaints }
}

const inside = (urls: readonly string[], origin: string) =>
  urls.filter(url => !url.startsWith(`${origin}/`) && !/^(data|blob):/.test(url))

t.test(
  'fidelity, Documented and assumed: /docs shows both documents and the labels, offline',
  needsChromium,
  async t => {
    const { page, origin, requested, complaints } = await openDocs(t)
    await page.goto(`${origin}/docs?client=acme`)
    await page.getByText('Issue an access token using client credentials').first().waitFor()
    await page.getByRole('button', { name: 'Payments service' }).first().waitFor()

    const bar = page.getByRole('navigation', { name: 'Console' })
    t.equal(await bar.getByRole('link').first().getAttribute('href'), `${origin}/_sandbox/console?client=acme`)

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

    await page.goto(`${origin}/docs#payments-service/tag/direct-debit/GET/api/v1/direct-debit/{collectionReference}`)
    await page.getByText('Read one collection request').first().waitFor()
    await page.getByText('documented', { exact: true }).first().waitFor()
    t.pass('an operation shows its label')

    const tokens = () => requested.filter(url => url.endsWith('/oauth/token')).length
    t.equal(tokens(), 0, 'to read takes no token of the demo client')
    t.match(await send(page, origin, MANDATES, '/api/v1/mandates'), {
      status: 200,
      body: { data: [{ mandateReference: /^MND-ACME-/ }] },
    })
    await page.keyboard.press('Escape')

    // The upload takes the file that the bar offers.
    const downloading = page.waitForEvent('download')
    await bar.getByRole('link', { name: 'A PDF to upload' }).click()
    const file = await (await downloading).path()
    await open(page, origin, UPLOAD)
    const choosing = page.waitForEvent('filechooser')
    await page.getByRole('button', { name: 'Select File' }).first().click()
    await (await choosing).setFiles(file)
    t.match(await pressSend(page, '/api/v1/bills/BILL-EU-2017/document'), {
      status: 201,
      body: { contentType: 'application/pdf' },
    })
    await page.keyboard.press('Escape')

    await page.getByText('Payments service').first().click()
    await page.getByText('Control plane').first().click()
    await page.getByText('Payments sandbox: control plane').first().waitFor()
    t.pass('the control plane is on the page')

    t.same(inside(requested, origin), [], 'nothing from outside')
    t.same(complaints, [], 'no error, and nothing that the policy of the page refuses')
  },
)

/** Opens the request of an operation. A page shows one document at a time. */
async function open(page: Page, origin: string, operation: string) {
  await page.goto(`${origin}/docs#${operation}`)
  const section = page.locator(`[id="${operation}"]`)
  await section.getByRole('button', { name: 'Test Request' }).first().click()
}

/** Opens an operation, presses Send, and returns the request and its answer. */
async function send(page: Page, origin: string, operation: string, path: string) {
  await open(page, origin, operation)
  return pressSend(page, path)
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

t.test('fidelity, Documented and assumed: requests that are sent from /docs are answered', needsChromium, async t => {
  const { page, origin, requested, complaints } = await openDocs(t)
  const clock = await send(page, origin, CLOCK, '/_sandbox/clock')
  t.same([clock.status, clock.url], [200, `${origin}/_sandbox/clock`])
  t.same(complaints, [])
  t.same(inside(requested, origin), [])
  await page.keyboard.press('Escape')
  t.match(
    await send(page, origin, STATE, '/_sandbox/state'),
    // The example of another call registers its client.
    { status: 404, url: /\/_sandbox\/state\?client=app-\d+$/ },
    'the example of a state is for another client than the demo',
  )
})

t.test('settings, SANDBOX_ADMIN_TOKEN: calls of /docs carry the token that one types', needsChromium, async t => {
  const { page, origin } = await openDocs(t, { adminToken: 'top-secret' })
  t.equal((await send(page, origin, CLOCK, '/_sandbox/clock')).status, 401, 'without it')
  await page.getByPlaceholder('Token').last().fill('top-secret')
  const { status, url, authorization } = await pressSend(page, '/_sandbox/clock')
  t.same([status, url, authorization], [200, `${origin}/_sandbox/clock`, 'Bearer top-secret'])
  await page.goto('about:blank')
  t.equal((await send(page, origin, MANDATES, '/api/v1/mandates')).status, 200, 'and those of the service their own')
})

t.test('fidelity, Documented and assumed: /docs says that a fault took its token request', needsChromium, async t => {
  const { page, origin } = await openDocs(t)
  const body = JSON.stringify({ effect: { kind: 'error', status: 429 } })
  await fetch(`${origin}/_sandbox/faults`, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  t.match(await send(page, origin, MANDATES, '/api/v1/mandates'), { status: 401 })
  const note = page.getByRole('navigation', { name: 'Console' }).getByRole('status')
  t.match(await note.textContent(), 'refused with 429')
  t.match(await pressSend(page, '/api/v1/mandates'), { status: 200 })
  t.equal(await note.textContent(), 'Calls act as sandbox-client.')
})
