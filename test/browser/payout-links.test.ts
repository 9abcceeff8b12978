import type { Browser, BrowserContextOptions, FrameLocator, Page } from 'playwright-core'
import type { Test } from 'tap'
import t from 'tap'
import { createLink, pagePath } from '../areas/pages.js'
import { assertAccessible, assertFits } from './accessibility.js'
import { openBrowser } from './browser.js'
import { measureCoverage, needsChromium } from './chromium.js'
import type { Site } from './pages.js'
import { startPartner, startProxy, startSite } from './pages.js'

/** What a person types for a method of each region, by the label of the field. The others have the same fields. */
const TYPED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'SEPA-CT': { 'Account holder': 'Jane Doe', IBAN: 'de89370400440532013000' },
  'US-ACH': { 'Account holder': 'Jane Doe', 'Routing number': '021000021', 'Account number': '000123456789' },
  'UK-FAST': { 'Account holder': 'Jane Doe', 'Sort code': '200000', 'Account number': '5577 9911' },
}
const CLAIM = { accountHolderName: 'Jane Doe', accountIdentifier: 'DE89370400440532013000' }

const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true })
const accept = (page: Page) => page.getByRole('button', { name: /^Accept / })

async function fill(page: Page, method: string) {
  for (const [label, text] of Object.entries(TYPED[method] as object)) await page.getByLabel(label).fill(text)
  if (method === 'US-ACH') await page.getByLabel('Type of account').selectOption('Checking')
}

/** Moves a link through the control plane. */
const move = ({ client }: Site, id: string, verb: string, body?: object) =>
  client.control('POST', `/payout-links/${id}/${verb}`, body)
const statusOf = async ({ client }: Site, id: string) =>
  (await client.control('GET', `/payout-links/${id}`)).body.record.status

t.test('payout-pages, Payout links in a browser: claims and declines', needsChromium, async t => {
  const browser = await openBrowser(t)
  const site = await startSite(t)

  /** Opens a page in a context of its own, that fails the test on an error of a script or of the policy. */
  async function openPage(t: Test, path: string, options: BrowserContextOptions = {}): Promise<Page> {
    const context = await browser.newContext({ locale: 'en-GB', ...options })
    t.teardown(() => context.close())
    const page = await context.newPage()
    if (options.javaScriptEnabled !== false) await measureCoverage(t, page)
    page.on('pageerror', error => t.fail(String(error)))
    page.on('console', message => {
      if (message.text().includes('Content Security Policy')) t.fail(message.text())
    })
    page.on('dialog', dialog => {
      t.fail('a dialog')
      dialog.dismiss()
    })
    await page.goto(path.startsWith('http') ? path : `${site.url}${path}`)
    return page
  }

  t.test('a person claims a payout, and sees it paid, or that it has failed', async t => {
    const claim = async (method: string, verb: string, end: string) => {
      const id = await createLink(site.client, method)
      const page = await openPage(t, pagePath(site.client, id))
      await page.clock.install()
      await fill(page, method)
      await accept(page).click()
      await heading(page, 'Payout accepted').waitFor()
      t.equal(await statusOf(site, id), 'CLAIMED', method)
      await page.waitForURL(/\?client=acme&receipt=/)
      // The page looks by itself, and again where nothing has changed.
      const looked = page.waitForResponse(page.url())
      await page.clock.runFor(1000)
      await looked
      await move(site, id, 'process')
      await page.clock.runFor(1000)
      await heading(page, 'Your money is on its way').waitFor()
      // Before the change: the page may look at any time.
      await page.evaluate(() => (document.activeElement as HTMLElement).blur())
      await move(site, id, verb)
      await page.clock.runFor(1000)
      await heading(page, end).waitFor()
      t.equal(await page.locator('#status').textContent(), end, 'it is announced')
      await page.reload()
      await heading(page, end).waitFor()
    }
    await Promise.all([
      claim('SEPA-CT', 'pay', 'Your money has arrived'),
      claim('UK-FAST', 'fail', 'The transfer failed'),
    ])
  })

  t.test('a person declines with a comment', async t => {
    const id = await createLink(site.client)
    const page = await openPage(t, pagePath(site.client, id))
    await page.getByText('I do not want this payout').click()
    await page.getByLabel('Comment (optional)').fill('Not for me')
    await page.getByRole('button', { name: 'Decline the payout' }).click()
    await heading(page, 'You declined this payout').waitFor()
    const { record } = (await site.client.control('GET', `/payout-links/${id}`)).body
    t.match(record, { status: 'REJECTED', decline: { remarks: 'Not for me' } })
  })

  t.test('fields are checked by the rules of the API as one types', async t => {
    const page = await openPage(t, pagePath(site.client, await createLink(site.client)))
    const iban = page.getByLabel('IBAN')
    const error = page.locator('#accountIdentifier-error')
    await iban.pressSequentially('DE88')
    t.equal(await error.textContent(), '', 'no error while a person is still typing')
    await page.getByLabel('Account holder').focus()
    t.match(await error.textContent(), /^Enter a valid IBAN of a SEPA country/)
    t.equal(await iban.getAttribute('aria-invalid'), 'true')
    await iban.fill('de89 3704 0044 0532 0130 0')
    t.match(await error.textContent(), /^Enter a valid IBAN of a SEPA country/)
    await iban.press('End')
    await iban.press('0')
    t.equal(await error.textContent(), '', 'the last character makes it valid')
  })

  t.test('a form with faults is not sent, and the first fault gets the focus', async t => {
    const id = await createLink(site.client, 'US-ACH')
    const page = await openPage(t, pagePath(site.client, id))
    await page.getByLabel('Account number').fill('12')
    await accept(page).click()
    await page.getByText('Select the type of account.').waitFor()
    const errors = page.locator('.error').filter({ hasText: /./ })
    t.same(await errors.allTextContents(), [
      'Enter the name of the account holder.',
      'Enter the routing number of your bank.',
      'Enter an account number of 4 to 17 digits.',
      'Select the type of account.',
    ])
    t.ok(await page.getByLabel('Account holder').evaluate(input => input === document.activeElement))
    t.equal(await statusOf(site, id), 'ACTIVE')
  })

  t.test('the keyboard of a phone fits the field, and the browser can fill in the name', async t => {
    const page = await openPage(t, pagePath(site.client, await createLink(site.client, 'US-ACH')))
    const attribute = (label: string, name: string) => page.getByLabel(label).getAttribute(name)
    t.equal(await attribute('Account holder', 'autocomplete'), 'name')
    t.equal(await attribute('Routing number', 'inputmode'), 'numeric')
    t.equal(await attribute('Account number', 'inputmode'), 'numeric')
    await page.goto(site.url + pagePath(site.client, await createLink(site.client)))
    t.equal(await page.getByLabel('IBAN').getAttribute('autocapitalize'), 'characters')
  })

  t.test('it works without JavaScript', async t => {
    const id = await createLink(site.client, 'UK-FAST')
    const page = await openPage(t, pagePath(site.client, id), { javaScriptEnabled: false })
    await fill(page, 'UK-FAST')
    await page.getByLabel('Account number').fill('1234')
    await accept(page).click()
    await page.getByRole('alert').getByRole('link', { name: 'Enter an account number of 8 digits.' }).click()
    await page.waitForURL(/#accountIdentifier$/)
    t.equal(await page.getByLabel('Sort code').inputValue(), '200000', 'what was typed stays')
    await page.getByLabel('Account number').fill('55779911')
    await accept(page).click()
    await heading(page, 'Payout accepted').waitFor()
    await move(site, id, 'process')
    await page.getByRole('link', { name: 'Check again' }).click()
    await heading(page, 'Your money is on its way').waitFor()

    const declined = await createLink(site.client)
    await page.goto(site.url + pagePath(site.client, declined))
    await page.getByText('I do not want this payout').click()
    await page.getByRole('button', { name: 'Decline the payout' }).click()
    await heading(page, 'You declined this payout').waitFor()
  })

  t.test('the keyboard is enough', async t => {
    const id = await createLink(site.client, 'US-ACH')
    const page = await openPage(t, pagePath(site.client, id))
    const { keyboard } = page
    for (const text of ['Jane Doe', '021000021', '000123456789']) {
      await keyboard.press('Tab')
      await keyboard.type(text)
    }
    await keyboard.press('Tab')
    await keyboard.type('Savings')
    t.equal(await page.getByLabel('Type of account').inputValue(), 'SAVINGS')
    await keyboard.press('Tab')
    const outline = await accept(page).evaluate(button => getComputedStyle(button).outlineStyle)
    t.equal(outline, 'solid', 'the focus is visible')
    await keyboard.press('Enter')
    await heading(page, 'Payout accepted').waitFor()
    const found = await page.evaluate(() => document.activeElement?.textContent)
    t.equal(found, 'Payout accepted', 'the focus is on the title of the result')
  })

  t.test('a link expires while its page is open', async t => {
    const id = await createLink(site.client)
    const page = await openPage(t, pagePath(site.client, id))
    await page.getByLabel('IBAN').fill('DE89')
    await move(site, id, 'expire')
    await heading(page, 'This payout link has expired').waitFor()
    t.equal(await page.getByLabel('IBAN').count(), 0)
  })

  t.test('a server that cannot be reached is said, and the form stays', async t => {
    const id = await createLink(site.client)
    const page = await openPage(t, pagePath(site.client, id))
    await page.clock.install()
    await fill(page, 'SEPA-CT')
    await page.route('**/pay/**', route => route.abort())
    await accept(page).click()
    await page.getByText('The server cannot be reached.').waitFor()
    await page.unroute('**/pay/**')
    await accept(page).click()
    await heading(page, 'Payout accepted').waitFor()

    await page.route('**/pay/**', route => route.abort())
    const failed = page.waitForEvent('requestfailed')
    await page.clock.runFor(1000)
    await failed
    await page.unroute('**/pay/**')
    await move(site, id, 'process')
    await page.clock.runFor(1000)
    await heading(page, 'Your money is on its way').waitFor()
  })

  t.test('on a phone the first field is visible below the details', async t => {
    const viewport = { width: 360, height: 740 }
    const remarks = 'Refund of a parcel that was lost on its way to you. '.repeat(4).slice(0, 200)
    const page = await openPage(t, pagePath(site.client, await createLink(site.client)))
    await page.setViewportSize(viewport)
    for (const [method, changes] of [
      ['SEPA-CT', {}],
      ['UK-FAST', { remarks, counterpartyReference: 'CPTY-0001' }],
      ['US-ACH', { amount: '123456789.99', accountHolderName: 'Jane Doe', remarks }],
    ] as const) {
      await page.goto(site.url + pagePath(site.client, await createLink(site.client, method, changes)))
      const box = await page.locator('form input:not([type=hidden])').first().boundingBox()
      t.ok(box !== null && box.y + box.height <= viewport.height, `${method}: ${JSON.stringify(box)}`)
      t.ok(await page.getByText('Accept by').isVisible())
    }
  })

  t.test('it works behind a proxy with another host and a path', async t => {
    let url = ''
    const port = await startProxy(t, '/sandbox', () => url)
    const origin = `http://pay.example:${port}`
    const behind = await startSite(t, { publicUrl: () => `${origin}/sandbox` })
    url = behind.url
    const id = await createLink(behind.client)
    const page = await openPage(t, `${origin}/sandbox${pagePath(behind.client, id)}`)
    await fill(page, 'SEPA-CT')
    await accept(page).click()
    await heading(page, 'Payout accepted').waitFor()
    await page.waitForURL(url => url.href.startsWith(`${origin}/sandbox/pay/${id}?client=acme&receipt=`))
  })

  await t.test('every page fits 320 px, and axe finds nothing, light or dark', t => everyPage(t, site, openPage))
  await t.test('embedded checkout', t => embedded(t, site, browser))
})

type OpenPage = (t: Test, path: string, options?: BrowserContextOptions) => Promise<Page>

/** Holds pages in all their states against the accessibility rules of axe-core, and against a narrow screen. */
async function everyPage(t: Test, site: Site, openPage: OpenPage) {
  const long = 'Donaudampfschifffahrtsgesellschaft'.repeat(4)
  const pages: Record<string, (page: Page) => Promise<unknown>> = {}
  const at = (id: string) => pagePath(site.client, id)
  // The form with fields of each type.
  for (const method of ['SEPA-CT', 'US-ACH']) {
    const id = await createLink(site.client, method, { amount: '999999.99', remarks: long })
    pages[at(id)] = async page => {
      await page.getByText('I do not want this payout').click()
      await accept(page).click()
      await page.locator('.error').first().waitFor()
    }
  }
  const refused = await createLink(site.client, 'SEPA-CT', { accountHolderName: long })
  // The page that the server renders for a refused form.
  pages[at(refused)] = page =>
    Promise.all([
      page.waitForEvent('load'),
      page.getByRole('alert').waitFor(),
      page.evaluate(() => document.querySelector('form')?.submit()),
    ])
  for (const verbs of [['claim'], ['claim', 'process', 'fail']]) {
    const id = await createLink(site.client)
    const page = await (await site.app.inject(at(id))).payload
    const token = /name="token" value="([\w-]+)"/.exec(page)?.[1]
    const claimed = await site.app.inject({
      method: 'POST',
      url: at(id),
      payload: { action: 'claim', token, ...CLAIM },
    })
    for (const verb of verbs.slice(1)) await move(site, id, verb)
    pages[`${at(id)}&receipt=${claimed.json().receipt}`] = async () => {}
  }
  const elsewhere = await createLink(site.client, 'SEPA-CT', { uiMode: 'embedded' })
  for (const id of [elsewhere, 'pl_unknown']) pages[at(id)] = async () => {}

  const page = await openPage(t, at('pl_unknown'), { viewport: { width: 320, height: 640 } })
  for (const [path, act] of Object.entries(pages)) {
    await page.goto(site.url + path)
    await act(page)
    await assertFits(t, page)
    await assertAccessible(t, page)
  }
}

/** The frame of a partner's page. */
async function embedded(t: Test, site: Site, browser: Browser) {
  const port = await startPartner(t, site)
  const allowed = `http://localhost:${port}`
  const foreign = `http://foreign.example:${port}`
  const at = (id: string) => site.url + pagePath(site.client, id)
  const pageFor = (id: string, origin = allowed) => `${origin}/?${new URLSearchParams({ url: at(id) })}`

  async function newPage(t: Test) {
    const page = await browser.newPage({ locale: 'en-GB', colorScheme: 'light' })
    t.teardown(() => page.close())
    await measureCoverage(t, page)
    // Timers of the page run when the test says so.
    await page.clock.install()
    return page
  }
  // The processes of another page for each test would take most of the time.
  const shared = await newPage(t)

  /** Opens the page of a partner that embeds a link. One of another origin needs another page, to be measured. */
  async function shop(t: Test, id: string, { origin = allowed } = {}) {
    const page = origin === allowed ? shared : await newPage(t)
    await page.goto(pageFor(id, origin))
    return page
  }
  /** Waits for a callback, by its name and the code of an error. */
  const logged = (page: Page, name: string, code = '') =>
    page.locator('#log', { hasText: new RegExp(`${name} .*${code}`) }).waitFor()
  /** The callbacks of the page, each as its name and the members of its event without the id. */
  const log = async (page: Page) => {
    const lines = (await page.locator('#log').textContent())?.trim().split('\n') ?? []
    return lines.filter(Boolean).map(line => {
      const [, name, event = ''] = /^(\w+) (.*)$/.exec(line) ?? []
      const { payoutLinkId, code, status, message } = JSON.parse(event)
      const other = page.url().includes(payoutLinkId) ? undefined : 'of another link'
      return [name, code, status, message, other].filter(Boolean).join(' ')
    })
  }
  const link = (changes: object = {}) => createLink(site.client, 'SEPA-CT', { uiMode: 'embedded', ...changes })
  const frameOf = (page: Page) => page.frameLocator('iframe[title="Payout"]')
  const fillIn = async (frame: FrameLocator) => {
    await frame.getByLabel('Account holder').fill('Jane Doe')
    await frame.getByLabel('IBAN').fill(CLAIM.accountIdentifier)
  }
  const acceptIn = (frame: FrameLocator) => frame.getByRole('button', { name: /^Accept / }).click()

  t.test('payout-pages, Payout links in a browser: the frame fits, and the claim is reported', async t => {
    const id = await link({ origin: allowed })
    const page = await shop(t, id)
    await logged(page, 'onReady')
    const frame = frameOf(page)
    await fillIn(frame)
    const fits = async () => {
      const height = await frame.locator('body').evaluate(body => Math.ceil(body.getBoundingClientRect().height))
      await page.locator(`iframe[style*="height: ${height}px"]`).waitFor()
    }
    await fits()
    await frame.getByText('I do not want this payout').click()
    await fits()
    await acceptIn(frame)
    await logged(page, 'onClaimed')
    await fits()
    t.same(await log(page), ['onReady ACTIVE', 'onClaimed CLAIMED'])
    t.equal(await statusOf(site, id), 'CLAIMED')
    await move(site, id, 'process')
    await page.clock.runFor(1000)
    await frame.getByText('Your money is on its way').first().waitFor()
    await move(site, id, 'pay')
    await page.clock.runFor(1000)
    await logged(page, 'onPaid')
    t.same(await log(page), ['onReady ACTIVE', 'onClaimed CLAIMED', 'onPaid PAID'])
  })

  t.test('payout-pages, Payout links in a browser: a transfer that fails is reported', async t => {
    const id = await link()
    const page = await shop(t, id)
    const frame = frameOf(page)
    await fillIn(frame)
    await acceptIn(frame)
    await logged(page, 'onClaimed')
    for (const verb of ['process', 'fail']) await move(site, id, verb)
    await page.clock.runFor(1000)
    await logged(page, 'onFailed')
    t.same(await log(page), ['onReady ACTIVE', 'onClaimed CLAIMED', 'onFailed FAILED'])
  })

  t.test('payout-pages, Payout links in a browser: a link without an origin, and a decline', async t => {
    const page = await shop(t, await link(), { origin: `http://127.0.0.1:${port}` })
    await logged(page, 'onReady')
    const frame = page.frameLocator('iframe')
    await frame.getByText('I do not want this payout').click()
    await frame.getByRole('button', { name: 'Decline the payout' }).click()
    await logged(page, 'onDeclined')
    t.same(await log(page), ['onReady ACTIVE', 'onDeclined REJECTED'])
  })

  t.test('payout-pages, Payout links in a browser: expiry while the frame is open is reported', async t => {
    const id = await link()
    const page = await shop(t, id)
    await logged(page, 'onReady')
    await move(site, id, 'expire')
    await page.clock.runFor(1000)
    await logged(page, 'onExpired')
    t.same(await log(page), ['onReady ACTIVE', 'onExpired EXPIRED'])
  })

  t.test('payout-pages, Payout links in a browser: the state of a link from before is reported at once', async t => {
    const claimed = ['onClaimed']
    const cases: Record<string, { verbs: string[]; callbacks: string[] }> = {
      CLAIMED: { verbs: ['claim'], callbacks: claimed },
      PROCESSING: { verbs: ['claim', 'process'], callbacks: claimed },
      PAID: { verbs: ['claim', 'process', 'pay'], callbacks: [...claimed, 'onPaid'] },
      FAILED: { verbs: ['claim', 'process', 'fail'], callbacks: [...claimed, 'onFailed'] },
      REJECTED: { verbs: ['decline'], callbacks: ['onDeclined'] },
      EXPIRED: { verbs: ['expire'], callbacks: ['onExpired'] },
    }
    for (const [status, { verbs, callbacks }] of Object.entries(cases)) {
      const id = await link()
      for (const verb of verbs)
        await move(site, id, verb, verb === 'claim' ? CLAIM : verb === 'decline' ? {} : undefined)
      const page = await shop(t, id)
      await logged(page, callbacks.at(-1) as string)
      t.same(
        await log(page),
        ['onReady', ...callbacks].map(name => `${name} ${status}`),
      )
      if (status !== 'CLAIMED') continue
      // It is paid while the frame is open.
      for (const verb of ['process', 'pay']) await move(site, id, verb)
      await page.clock.runFor(1000)
      await logged(page, 'onPaid')
      t.same(await log(page), ['onReady CLAIMED', 'onClaimed CLAIMED', 'onPaid PAID'])
    }
    const cancelled = await link()
    await site.client.patch(`/api/v1/payout-links/${cancelled}/cancel`, { cancellationComment: 'No' })
    const page = await shop(t, cancelled)
    await logged(page, 'onError')
    t.same(await log(page), [
      'onReady CANCELLED',
      'onError PAYOUT_LINK_CLOSED CANCELLED The link can no longer be claimed: it is CANCELLED.',
    ])
  })

  t.test('payout-pages, Payout links in a browser: a refused link says why, and shows nothing of itself', async t => {
    const gone = await link({ origin: allowed })
    const { allowedOrigins } = (await site.client.control('GET', '/settings')).body
    const only = (origins: string[]) => site.client.control('PUT', '/settings', { allowedOrigins: origins })
    const mismatch = await link({ origin: 'http://localhost:1', remarks: 'a secret' })
    const cases = [
      [await createLink(site.client, 'SEPA-CT', { remarks: 'a secret' }), allowed, 'UI_MODE_MISMATCH'],
      [await link({ remarks: 'a secret' }), foreign, 'ORIGIN_NOT_ALLOWED'],
      [mismatch, allowed, 'ORIGIN_NOT_ALLOWED'],
      ['pl_unknown', allowed, 'PAYOUT_LINK_NOT_FOUND'],
      ['pl_unknown', foreign, 'PAYOUT_LINK_NOT_FOUND'],
      ['short', allowed, 'INVALID_FIELD'],
    ] as const
    for (const [id, origin, code] of cases) {
      const page = await shop(t, id, { origin })
      await logged(page, 'onError', code)
      t.equal((await log(page)).length, 1, `${code}: once, and no other callback`)
      const text = await frameOf(page).locator('body').textContent()
      t.notMatch(text, /25|secret|acme/, `${code}: ${text}`)
    }
    await only(['https://shop.example'])
    const page = await shop(t, gone)
    await logged(page, 'onError', 'ORIGIN_NOT_ALLOWED')
    await only(allowedOrigins)
  })

  t.test('payout-pages, Payout links in a browser: a foreign page that lies about itself gets no frame', async t => {
    const page = await newPage(t)
    // The address that the SDK of an allowed origin makes.
    const url = `${at(await link())}&embedder=${encodeURIComponent(allowed)}`
    await page.goto(pageFor('pl_unknown', foreign))
    const refused = page.waitForEvent('console', message => message.text().includes('frame-ancestors'))
    await page.evaluate(url => {
      const frame = document.createElement('iframe')
      frame.src = url
      document.body.append(frame)
    }, url)
    await refused
  })

  t.test('payout-pages, Payout links in a browser: a server without an answer is reported after 5 s', async t => {
    const id = await link()
    const page = await newPage(t)
    await page.route('**/pay/**', route => route.abort())
    await page.goto(pageFor(id))
    await page.locator('iframe').waitFor()
    await page.waitForLoadState()
    await page.clock.runFor(5000)
    await logged(page, 'onError', 'FRAME_NOT_READY')
    t.equal((await log(page)).length, 1)
  })

  t.test('payout-pages, Payout links in a browser: a page without an origin is told so, and loads nothing', async t => {
    const page = await newPage(t)
    await page.goto(pageFor(await link()))
    const frame = await page.evaluate(html => {
      const sandboxed = document.createElement('iframe')
      sandboxed.sandbox.add('allow-scripts')
      sandboxed.srcdoc = html
      sandboxed.id = 'sandboxed'
      document.body.append(sandboxed)
      return '#sandboxed'
    }, FILE_PAGE(site.url))
    await page.frameLocator(frame).getByText('ORIGIN_NOT_ALLOWED').waitFor()
    t.equal(await page.frameLocator(frame).locator('iframe[src]').count(), 0)
  })

  t.test('payout-pages, Payout links in a browser: wrong options are refused', async t => {
    const page = await shop(t, await link())
    const thrown = await page.evaluate(async sdk => {
      const { mountPayoutLink } = await import(sdk)
      const refusals: string[] = []
      const url = `${location.origin}/pay/pl_1234567`
      const addresses = ['', '/pay/pl_1234567', 'javascript:alert(1)', 'data:text/html,x', 'file:///pay/x']
      const unknown = [{ onClaim() {} }]
      for (const options of [...addresses.map(url => ({ url })), ...unknown.map(option => ({ url, ...option }))]) {
        try {
          mountPayoutLink(document.body, options)
        } catch (error) {
          refusals.push(`${(error as Error).name} ${(error as Error).message}`)
        }
      }
      return refusals
    }, `${site.url}/sdk/v1.js`)
    t.equal(thrown.length, 6)
    for (const refusal of thrown) t.match(refusal, /^TypeError /)
    t.match(thrown[2], 'url must begin with http:// or https://')
    t.match(thrown[5], /there is no option onClaim\./)
    t.equal(await page.locator('iframe').count(), 1, 'only that of the page')
  })

  t.test('decisions §8: the page has one language and look, and the colours of the device', async t => {
    const page = await shop(t, await link())
    await logged(page, 'onReady')
    // The frame has a process of its own, which may learn of the colours later than the page.
    const hasBackground = (colour: string) =>
      page
        .frame({ url: /\/pay\// })
        ?.waitForFunction(colour => getComputedStyle(document.body).backgroundColor === colour, colour)
    t.ok(await hasBackground('rgb(238, 241, 244)'), 'light')
    await page.emulateMedia({ colorScheme: 'dark' })
    t.ok(await hasBackground('rgb(11, 18, 23)'), 'dark')
    await page.emulateMedia({ colorScheme: 'light' })
    const src = await page.evaluate(
      async ([sdk, url]) => {
        const { mountPayoutLink } = await import(sdk as string)
        const ignored = { locale: 'fr', colorScheme: 'dark', theme: { accent: '#FF8A3D', color: 'red' } }
        const { unmount } = mountPayoutLink(document.body, { url, title: 'Payout from the shop', ...ignored })
        const { src } = document.querySelector('iframe[title="Payout from the shop"]') as HTMLIFrameElement
        unmount()
        return src
      },
      [`${site.url}/sdk/v1.js`, at('pl_unknown')],
    )
    t.equal(src, `${at('pl_unknown')}&${new URLSearchParams({ embedder: allowed })}`)
  })

  t.test('payout-pages, Payout links in a browser: messages of other windows are ignored', async t => {
    const id = await link()
    const page = await shop(t, id)
    await logged(page, 'onReady')
    await page.evaluate(async () => {
      const forged = { source: 'payments-sandbox', event: 'state', status: 'CLAIMED' }
      window.postMessage(forged, '*')
      const stranger = document.createElement('iframe')
      stranger.srcdoc = `<script>parent.postMessage(${JSON.stringify(forged)}, '*'); parent.postMessage('last', '*')</script>`
      await new Promise<void>(resolve => {
        window.addEventListener('message', ({ data }) => data === 'last' && resolve())
        document.body.append(stranger)
      })
    })
    t.same(await log(page), ['onReady ACTIVE'])
  })

  t.test('payout-pages, Payout links in a browser: no callback follows unmount', async t => {
    const id = await link()
    const page = await shop(t, id)
    await logged(page, 'onReady')
    await page.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Close' }).click()
    t.equal(await page.locator('#checkout iframe').count(), 0)
    await move(site, id, 'expire')
    await page.clock.runFor(10_000)
    t.same(await log(page), ['onReady ACTIVE'])
  })

  t.test('payout-pages, Payout links in a browser: its state goes to no window but its partner', async t => {
    const id = await link({ origin: `http://shop.example:${port}` }).catch(() => '')
    t.equal(id, '', 'an origin that is not on the list gets no link')
    const page = await newPage(t)
    // A window that is no frame: the opener of the page is no partner.
    await page.goto(pageFor('pl_unknown', foreign))
    const popup = page.waitForEvent('popup')
    const own = await link()
    await page.evaluate(url => {
      const messages: unknown[] = []
      const opened = window.open(url)
      Object.assign(window, { messages, opened })
      // The frame of this page says why it is refused.
      window.addEventListener('message', ({ data, source }) => source === opened && messages.push(data))
    }, at(own))
    const other = await popup
    await heading(other, 'This payout belongs to another website').waitFor()
    await other.waitForLoadState()
    // It says when it has got the message: an answer of the page would come before.
    await other.evaluate(() => window.addEventListener('message', () => window.opener.postMessage('last', '*')))
    await page.evaluate(() => {
      const { opened } = window as unknown as { opened: Window }
      opened.postMessage({ source: 'payments-sandbox', event: 'hello' }, '*')
    })
    await page.waitForFunction(() => (window as unknown as { messages: unknown[] }).messages.includes('last'))
    t.same(await page.evaluate(() => (window as unknown as { messages: unknown[] }).messages), ['last'])
  })
}

/** A page without an origin that embeds a link. */
const FILE_PAGE = (url: string) => `<!doctype html>
<p id="log"></p>
<script type="module">
  import { mountPayoutLink } from '${url}/sdk/v1.js'
  mountPayoutLink(document.body, {
    url: '${url}/pay/pl_unknown',
    onError: ({ code }) => { document.querySelector('#log').textContent = code },
  })
</script>`
