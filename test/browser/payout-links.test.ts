import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type { Test } from 'tap'
import t from 'tap'
import { createLink, pagePath } from '../areas/pages.js'
import { call } from '../helper.js'
import { assertAccessible } from './accessibility.js'
import { measureCoverage, needsChromium, openBrowser } from './chromium.js'
import type { Site } from './pages.js'
import { startPartner, startSite } from './pages.js'

/** What a person types for each method, by the label of the field. */
const TYPED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'SEPA-CT': { 'Account holder': 'Jane Doe', IBAN: 'de89370400440532013000' },
  'SEPA-INSTANT': { 'Account holder': 'Jane Doe', IBAN: 'FR14 2004 1010 0505 0001 3M02 606' },
  'US-ACH': { 'Account holder': 'Jane Doe', 'Routing number': '021000021', 'Account number': '000123456789' },
  'UK-BACS': { 'Account holder': 'Jane Doe', 'Sort code': '20-00-00', 'Account number': '55779911' },
  'UK-FAST': { 'Account holder': 'Jane Doe', 'Sort code': '200000', 'Account number': '5577 9911' },
}
const CLAIM = { accountHolderName: 'Jane Doe', accountIdentifier: 'DE89370400440532013000' }

const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true })
const accept = (page: Page) => page.getByRole('button', { name: /^Accept / })

async function fill(page: Page, method: string) {
  for (const [label, text] of Object.entries(TYPED[method] as object)) await page.getByLabel(label).fill(text)
  if (method === 'US-ACH') await page.getByLabel('Checking').check()
}

/** Moves a link through the control plane. */
const move = ({ client }: Site, id: string, verb: string, body?: object) =>
  client.control('POST', `/payout-links/${id}/${verb}`, body)
const statusOf = async ({ client }: Site, id: string) =>
  (await client.control('GET', `/payout-links/${id}`)).body.record.status

t.test('README, Payout links in a browser: claims and declines', needsChromium, async t => {
  const browser = await openBrowser(t, { hosts: ['shop.example', 'foreign.example'] })
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

  t.test('a person claims a payout by each method, and sees it paid', async t => {
    const claim = async (method: string) => {
      const id = await createLink(site.client, method)
      const page = await openPage(t, pagePath(site.client, id))
      await fill(page, method)
      await accept(page).click()
      await heading(page, 'Payout accepted').waitFor()
      t.equal(await statusOf(site, id), 'CLAIMED', method)
      t.match(page.url(), /\?client=acme&receipt=/, method)
      // The page looks by itself.
      await move(site, id, 'process')
      await heading(page, 'Your money is on its way').waitFor()
      await move(site, id, 'pay')
      await heading(page, 'Paid').waitFor()
      await page.reload()
      await heading(page, 'Paid').waitFor()
    }
    await Promise.all(Object.keys(TYPED).map(claim))
  })

  t.test('a payout fails while the page is open', async t => {
    const id = await createLink(site.client)
    const page = await openPage(t, pagePath(site.client, id))
    await fill(page, 'SEPA-CT')
    await accept(page).click()
    await heading(page, 'Payout accepted').waitFor()
    await move(site, id, 'process')
    await move(site, id, 'fail')
    await heading(page, 'The transfer failed').waitFor()
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
    t.match(await error.textContent(), /^This IBAN is not valid/)
    t.equal(await iban.getAttribute('aria-invalid'), 'true')
    await iban.fill('de89 3704 0044 0532 0130 0')
    t.match(await error.textContent(), /^This IBAN is not valid/)
    await iban.press('End')
    await iban.press('0')
    t.equal(await error.textContent(), '', 'the last character makes it valid')
    await page.getByLabel('Account holder').focus()
    t.equal(await iban.inputValue(), 'DE89 3704 0044 0532 0130 00', 'in groups')
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
    const sepa = await openPage(t, pagePath(site.client, await createLink(site.client)))
    t.equal(await sepa.getByLabel('IBAN').getAttribute('autocapitalize'), 'characters')
  })

  t.test('the name that the sender has set is shown and fixed', async t => {
    const id = await createLink(site.client, 'SEPA-CT', { accountHolderName: 'Ida Lindholm' })
    const page = await openPage(t, pagePath(site.client, id))
    const name = page.getByLabel('Account holder')
    t.same([await name.inputValue(), await name.isEditable()], ['Ida Lindholm', false])
    await page.getByLabel('IBAN').fill(CLAIM.accountIdentifier)
    await accept(page).click()
    await heading(page, 'Payout accepted').waitFor()
    t.equal(await page.getByText('Ida Lindholm').count(), 1)
  })

  t.test('it works without JavaScript', async t => {
    const id = await createLink(site.client, 'UK-FAST')
    const page = await openPage(t, pagePath(site.client, id), { javaScriptEnabled: false })
    await fill(page, 'UK-FAST')
    await page.getByLabel('Account number').fill('1234')
    await accept(page).click()
    await page.getByRole('alert').getByRole('link', { name: 'Enter an account number of 8 digits.' }).click()
    t.match(page.url(), /#accountIdentifier$/)
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
    await keyboard.press('Space')
    await keyboard.press('ArrowRight')
    t.ok(await page.getByLabel('Savings').isChecked())
    await keyboard.press('Tab')
    const outline = await accept(page).evaluate(button => getComputedStyle(button).outlineStyle)
    t.equal(outline, 'solid', 'the focus is visible')
    await keyboard.press('Enter')
    await heading(page, 'Payout accepted').waitFor()
    t.equal(
      await page.evaluate(() => document.activeElement?.textContent),
      'Payout accepted',
      'the focus is on the title of the result',
    )
  })

  t.test('each closed link has a page of its own', async t => {
    const close: Record<string, (id: string) => Promise<unknown>> = {
      'This payout link has expired': id => move(site, id, 'expire'),
      'This payout was declined': id => move(site, id, 'decline', {}),
      'This payout has already been accepted': id => move(site, id, 'claim', CLAIM),
      'This payout was cancelled': id =>
        site.client.patch(`/api/v1/payout-links/${id}/cancel`, { cancellationComment: 'No' }),
    }
    for (const [title, move] of Object.entries(close)) {
      const id = await createLink(site.client)
      await move(id)
      const page = await openPage(t, pagePath(site.client, id))
      t.ok(await heading(page, title).isVisible(), title)
    }
    t.ok(
      await heading(
        await openPage(t, pagePath(site.client, 'pl_unknown')),
        'This payout link does not exist',
      ).isVisible(),
    )
  })

  t.test('of two browsers that claim at once, one wins and the other sees it', async t => {
    const id = await createLink(site.client)
    const pages = await Promise.all([openPage(t, pagePath(site.client, id)), openPage(t, pagePath(site.client, id))])
    // No page looks at the state before both have sent their form.
    for (const page of pages) await page.clock.install()
    for (const page of pages) await fill(page, 'SEPA-CT')
    await Promise.all(pages.map(page => accept(page).click()))
    const results = await Promise.all(
      pages.map(async page => {
        const won = heading(page, 'Payout accepted')
        const lost = heading(page, 'This payout has already been accepted')
        await won.or(lost).waitFor()
        return won.isVisible()
      }),
    )
    t.same(results.sort(), [false, true])
  })

  t.test('the same link of two forks is claimed in one, and declined in the other', async t => {
    const id = await createLink(site.client)
    const openFork = async (clientId: string) => {
      await site.client.control('POST', '/fork', { clientId })
      const { body } = await call(site.app, 'GET', `/_sandbox/payout-links/${id}?client=${clientId}`)
      return openPage(t, body.record.url)
    }
    const [first, second] = [await openFork('fork-1'), await openFork('fork-2')]
    await fill(first, 'SEPA-CT')
    await accept(first).click()
    await heading(first, 'Payout accepted').waitFor()
    await second.getByText('I do not want this payout').click()
    await second.getByRole('button', { name: 'Decline the payout' }).click()
    await heading(second, 'You declined this payout').waitFor()
    t.equal(await statusOf(site, id), 'ACTIVE')
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
    const page = await openPage(t, pagePath(site.client, await createLink(site.client)))
    await fill(page, 'SEPA-CT')
    await page.route('**/pay/**', route => route.abort())
    await accept(page).click()
    await page.getByText('The server cannot be reached.').waitFor()
    await page.unroute('**/pay/**')
    await accept(page).click()
    await heading(page, 'Payout accepted').waitFor()
  })

  t.test('markup in every text shows up as text', async t => {
    const markup = `<img src=x onerror="alert(1)"><script>alert(2)</script>"'&lt;`
    const id = await createLink(site.client, 'SEPA-CT', { accountHolderName: markup, remarks: markup })
    const page = await openPage(t, pagePath(site.client, id))
    t.equal(await page.getByLabel('Account holder').inputValue(), markup)
    t.ok(await page.getByText(markup, { exact: true }).isVisible())
    await page.getByLabel('IBAN').fill(CLAIM.accountIdentifier)
    await accept(page).click()
    await heading(page, 'Payout accepted').waitFor()
    t.equal(await page.getByText(markup, { exact: true }).count(), 2, 'the message and the account holder')

    const typed = await createLink(site.client)
    const plain = await openPage(t, pagePath(site.client, typed), { javaScriptEnabled: false })
    await plain.getByLabel('Account holder').fill(markup)
    await plain.getByLabel('IBAN').fill(markup.slice(0, 60))
    await accept(plain).click()
    await plain.getByRole('alert').waitFor()
    t.equal(await plain.getByLabel('Account holder').inputValue(), markup)
  })

  t.test('the page is in the language of the browser', async t => {
    const id = await createLink(site.client)
    for (const [locale, title] of [
      ['de-CH', 'Wohin soll das Geld?'],
      ['fr-BE', 'Où envoyer l’argent ?'],
      ['pl-PL', 'Where should we send it?'],
    ] as const) {
      t.ok(await heading(await openPage(t, pagePath(site.client, id), { locale }), title).isVisible(), locale)
    }
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
  for (const method of Object.keys(TYPED)) {
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
      page.waitForEvent('domcontentloaded'),
      page.getByRole('alert').waitFor(),
      page.evaluate(() => document.querySelector('form')?.submit()),
    ])
  for (const verbs of [['claim'], ['claim', 'process'], ['claim', 'process', 'pay'], ['claim', 'process', 'fail']]) {
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
  const expired = await createLink(site.client)
  await move(site, expired, 'expire')
  const elsewhere = await createLink(site.client, 'SEPA-CT', { uiMode: 'embedded' })
  for (const id of [expired, elsewhere, 'pl_unknown']) pages[at(id)] = async () => {}
  pages['/_sandbox/embed-demo'] = async () => {}

  for (const [path, act] of Object.entries(pages)) {
    const page = await openPage(t, path, { viewport: { width: 320, height: 640 } })
    await act(page)
    await assertAccessible(t, page)
    await page.context().close()
  }
}

/** The frame of a partner's page. */
async function embedded(t: Test, site: Site, browser: Browser) {
  const port = await startPartner(t, site)
  const allowed = `http://localhost:${port}`
  const at = (id: string) => site.url + pagePath(site.client, id)

  async function shop(t: Test, id: string, { origin = allowed } = {}): Promise<Page> {
    const page = await browser.newPage({ locale: 'en-GB' })
    t.teardown(() => page.close())
    await measureCoverage(t, page)
    // Timers of the page run when the test says so.
    await page.clock.install()
    await page.goto(`${origin}/?url=${encodeURIComponent(at(id))}`)
    return page
  }
  const logged = (page: Page, text: string) => page.locator('#log li', { hasText: text }).first().waitFor()
  const log = (page: Page) => page.locator('#log li').allTextContents()
  const link = (changes: object = {}) => createLink(site.client, 'SEPA-CT', { uiMode: 'embedded', ...changes })

  t.test('README, Payout links in a browser: an allowed origin: the frame fits, and the claim is reported', async t => {
    const id = await link({ origin: allowed })
    const page = await shop(t, id)
    await logged(page, 'ready')
    const frame = page.frameLocator('iframe[title="Payout from the shop"]')
    await frame.getByLabel('Account holder').fill('Jane Doe')
    await frame.getByLabel('IBAN').fill(CLAIM.accountIdentifier)
    const fits = async () => {
      const height = await frame.locator('body').evaluate(body => Math.ceil(body.getBoundingClientRect().height))
      await page.locator(`iframe[style*="height: ${height}px"]`).waitFor()
    }
    await fits()
    await frame.getByText('I do not want this payout').click()
    await fits()
    await frame.getByRole('button', { name: /^Accept / }).click()
    await logged(page, 'claimed')
    await fits()
    t.same(await log(page), ['ready', 'claimed'])
    t.equal(await statusOf(site, id), 'CLAIMED')
  })

  t.test('README, Payout links in a browser: with an origin of the list, decline is reported', async t => {
    const page = await shop(t, await link())
    const frame = page.frameLocator('iframe')
    await frame.getByText('I do not want this payout').click()
    await frame.getByRole('button', { name: 'Decline the payout' }).click()
    await logged(page, 'declined')
    t.same(await log(page), ['ready', 'declined'])
  })

  t.test('README, Payout links in a browser: expiry while the frame is open is reported', async t => {
    const id = await link()
    const page = await shop(t, id)
    await logged(page, 'ready')
    await move(site, id, 'expire')
    await page.clock.runFor(1000)
    await logged(page, 'expired')
    t.same(await log(page), ['ready', 'expired'])
  })

  t.test('README, Payout links in a browser: a link that is closed is reported', async t => {
    const claimed = await link()
    await move(site, claimed, 'claim', CLAIM)
    const page = await shop(t, claimed)
    await logged(page, 'error PAYOUT_LINK_ALREADY_CLAIMED')
    const expired = await link()
    await move(site, expired, 'expire')
    await logged(await shop(t, expired), 'expired')
  })

  t.test('README, Payout links in a browser: foreign origins and hosted links have no frame', async t => {
    const cases = [
      [await link(), `http://foreign.example:${port}`],
      [await link({ origin: 'http://localhost:1' }), allowed],
      [await createLink(site.client), allowed],
    ] as const
    for (const [id, origin] of cases) {
      const page = await browser.newPage()
      await page.clock.install()
      const refused = page.waitForEvent('console', message => message.text().includes('frame-ancestors'))
      await page.goto(`${origin}/?url=${encodeURIComponent(at(id))}`)
      await refused
      await page.locator('iframe').waitFor()
      await page.waitForLoadState()
      await page.clock.runFor(5000)
      await logged(page, 'error FRAME_NOT_READY')
      t.same(await log(page), ['error FRAME_NOT_READY'])
      await page.close()
    }
  })

  t.test('README, Payout links in a browser: messages of other windows are ignored', async t => {
    const id = await link()
    const page = await shop(t, id)
    await logged(page, 'ready')
    await page.evaluate(async () => {
      const forged = { source: 'payments-sandbox', event: 'state', state: 'CLAIMED' }
      window.postMessage(forged, '*')
      const stranger = document.createElement('iframe')
      stranger.srcdoc = `<script>parent.postMessage(${JSON.stringify(forged)}, '*'); parent.postMessage('last', '*')</script>`
      await new Promise<void>(resolve => {
        window.addEventListener('message', ({ data }) => data === 'last' && resolve())
        document.body.append(stranger)
      })
    })
    t.same(await log(page), ['ready'])
    await page.evaluate(() => (window as unknown as { mounted: { unmount(): void } }).mounted.unmount())
    t.equal(await page.locator('#checkout iframe').count(), 0)
  })

  t.test(
    'README, Payout links in a browser: the page sends its state to no window but that of its partner',
    async t => {
      const id = await link({ origin: `http://shop.example:${port}` }).catch(() => '')
      t.equal(id, '', 'an origin that is not on the list gets no link')
      const page = await browser.newPage()
      t.teardown(() => page.close())
      // A window that is no frame: the opener of the page is no partner.
      await page.goto(`http://foreign.example:${port}/?url=${encodeURIComponent(at('pl_unknown'))}`)
      const popup = page.waitForEvent('popup')
      const own = await link()
      await page.evaluate(url => {
        const messages: unknown[] = []
        Object.assign(window, { messages })
        window.addEventListener('message', ({ data }) => messages.push(data))
        Object.assign(window, { opened: window.open(url) })
      }, at(own))
      await heading(await popup, 'This payout belongs to another website').waitFor()
      await page.evaluate(() => {
        const { opened } = window as unknown as { opened: Window }
        opened.postMessage({ source: 'payments-sandbox', event: 'hello' }, '*')
      })
      t.same(await page.evaluate(() => (window as unknown as { messages: unknown[] }).messages), [])
    },
  )

  t.test('README, Payout links in a browser: the demo embeds a link from a second origin', async t => {
    const page = await browser.newPage({ locale: 'en-GB' })
    t.teardown(() => page.close())
    await measureCoverage(t, page)
    await page.goto(`${site.url}/_sandbox/embed-demo`)
    await page.getByRole('button', { name: 'Create and embed a payout link' }).click()
    const frame = page.frameLocator('iframe')
    await frame.getByLabel('Account holder').fill('Jane Doe')
    await frame.getByLabel('IBAN').fill(CLAIM.accountIdentifier)
    await frame.getByRole('button', { name: /^Accept / }).click()
    await page.locator('#log li', { hasText: 'onClaimed' }).waitFor()
    const port = new URL(site.url).port
    t.match(await page.locator('#origins').textContent(), `http://127.0.0.1:${port} → http://localhost:${port}`)
    t.match(
      page.frames().map(frame => new URL(frame.url()).hostname),
      ['127.0.0.1', 'localhost'],
    )
  })
}
