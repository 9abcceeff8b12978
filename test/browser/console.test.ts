import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type { Test } from 'tap'
import t from 'tap'
import { bill, build, collection, connect, MONDAY, mandate, payoutLink } from '../helper.js'
import { assertAccessible, assertFits, unfold } from './accessibility.js'
import { openBrowser } from './browser.js'
import { measureCoverage, needsChromium } from './chromium.js'
import type { Site } from './pages.js'
import { startSite } from './pages.js'

const PATHS = [
  ...['', '/collections', '/collections/COL-0001', '/collections/new', '/mandates/MND-0001', '/bills/INV-2026-001'],
  ...['/counterparties/CPTY-0001', '/payout-links/PL-TEST-0001', '/requests', '/requests/2', '/failures', '/client'],
  ...['/client/reset', '/client/load', '/errors/DUPLICATE_REFERENCE', '/mandates/MND-0404'],
]
/** Pages that have no other parts than those. */
const ALIKE = ['/payout-links', '/payout-links/new', '/accounts', '/client/restart']

/** Gives the client of a site one record of most kinds. */
async function stock({ client }: Site): Promise<void> {
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/direct-debit', collection())
  await client.post('/api/v1/bills', bill())
  const payoutLinks = [{ ...payoutLink({ expiryPeriod: 'P30D' }), payoutLinkId: 'PL-TEST-0001' }]
  await client.control('POST', '/seed', { records: { payoutLinks } })
}

/** Opens a page of the console. It fails the test on anything that the policy refuses, and on each load of a page. */
async function openConsole(
  t: Test,
  browser: Browser,
  { url, client }: Site,
  path = '',
  options: BrowserContextOptions = {},
): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 800 }, ...options })
  t.teardown(() => page.close())
  page.on('console', message => {
    // A refused request is no failure of the page.
    if (!message.text().startsWith('Failed to load resource')) t.fail(message.text())
  })
  page.on('pageerror', error => t.fail(error.message))
  page.on('dialog', dialog => {
    t.fail('a dialog')
    dialog.dismiss()
  })
  if (options.javaScriptEnabled !== false) await measureCoverage(t, page)
  await page.goto(`${url}/_sandbox/console${path}?client=${client.clientId}`)
  return page
}

/** Opens a page of a site of its own, with records. */
async function visit(t: Test, browser: Browser, path = '') {
  const site = await startSite(t)
  await stock(site)
  return { site, page: await openConsole(t, browser, site, path) }
}

/** Asserts that nothing loads the page again: it is renewed in place. */
async function assertNoLoad(t: Test, page: Page, act: () => Promise<void>): Promise<void> {
  await page.evaluate(() => Object.assign(globalThis, { isTheSame: true }))
  await act()
  t.ok(await page.evaluate(() => 'isTheSame' in globalThis), 'the page was not loaded again')
}

t.test('console, Pages: each fits both widths, and axe finds nothing in either scheme', needsChromium, async t => {
  const browser = await openBrowser(t)
  const { site, page } = await visit(t, browser)
  for (const path of [...PATHS, ...ALIKE]) {
    await page.goto(`${site.url}/_sandbox/console${path}?client=${site.client.clientId}`)
    await unfold(page)
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 800 })
      await assertFits(t, page)
    }
    const broken = await page.locator('dt, .status, tbody :is(.reference, .number, time)').evaluateAll(all =>
      all
        .filter(element => element.matches('tbody *') || !/[\s-]/.test(element.textContent))
        .filter(element => {
          const text = document.createRange()
          text.selectNodeContents(element)
          return new Set([...text.getClientRects()].map(({ top }) => top)).size > 1
        })
        .map(({ textContent }) => textContent),
    )
    t.same(broken, [], `${path}: no break inside a word, a reference, an amount or a date`)
    const wrapped = await page.locator('.copyable code').evaluateAll(all =>
      all.filter(code => {
        const lines = new Set([...code.getClientRects()].map(({ top }) => top))
        return lines.size > (code.textContent ?? '').split('\n').length
      }),
    )
    t.equal(wrapped.length, 0, `${path}: commands keep their lines`)
    if (!ALIKE.includes(path)) await assertAccessible(t, page)
  }
})

t.test('README, The guide: its pages fit both widths; axe finds nothing in either scheme', needsChromium, async t => {
  const browser = await openBrowser(t)
  const { url } = await startSite(t)
  const page = await browser.newPage()
  t.teardown(() => page.close())
  page.on('console', message => t.fail(message.text()))
  for (const name of ['', '/library', '/operations', '/oauth', '/errors#MANDATE_NOT_FOUND']) {
    await page.goto(`${url}/docs/guide${name}`)
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 800 })
      await assertFits(t, page)
    }
    // The others have no other parts.
    if (['', '/operations'].includes(name)) await assertAccessible(t, page)
  }
  t.match(await page.locator('tr:target').textContent(), /^MANDATE_NOT_FOUND/)
  const [header, guide] = ['body > header', 'body > nav [aria-current]'].map(part => page.locator(part))
  const heightOf = async () => (await header?.boundingBox())?.height
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 800 })
    await page.goto(`${url}/docs/guide`)
    const { x = 0, width: wide = 0 } = (await guide?.boundingBox()) ?? {}
    t.ok(x > 0 && x + wide <= width, `${width} px: the navigation shows the guide`)
    const height = await heightOf()
    await page.goto(`${url}/_sandbox/console`)
    t.equal(height, await heightOf(), `${width} px: the header is that of the console`)
  }
})

t.test('console, Live pages: the script in a browser', needsChromium, async t => {
  const browser = await openBrowser(t)

  await t.test('changes of the app, of another page and of time appear, and what a person does stays', async t => {
    const { site, page } = await visit(t, browser, '/collections/COL-0001')
    await page.locator('#same-moves summary').click()
    await page.locator('#choose-outcome').selectOption('RETURNED-AM04')
    await page.locator('#choose-outcome').focus()
    await assertNoLoad(t, page, async () => {
      await site.client.control('POST', '/direct-debit/COL-0001/submit', {})
      await page.locator('.headline', { hasText: 'SUBMITTED' }).waitFor()
      const other = await openConsole(t, browser, site, '/collections/COL-0001')
      await other.getByRole('button', { name: 'Process → PROCESSING' }).click()
      await page.locator('.headline', { hasText: 'PROCESSING' }).waitFor()
      await site.client.control('POST', '/clock/advance', { by: 'P10D' })
      await page.locator('.headline', { hasText: 'SETTLED' }).waitFor()
    })
    t.equal(await page.locator('#choose-outcome').inputValue(), 'RETURNED-AM04')
    t.equal(await page.evaluate(() => document.activeElement?.id), 'choose-outcome')
    const found = await page.locator('details[open]').evaluateAll(all => all.map(({ id }) => id))
    t.same(found, ['same-moves'], 'what is unfolded stays unfolded')
  })

  await t.test('typed text, its selection and the scroll position stay while the page renews itself', async t => {
    const { site, page } = await visit(t, browser, '/mandates/new')
    const field = page.getByLabel('Iban')
    const suggested = await page.locator('[name="body.mandateReference"]').inputValue()
    await field.fill('NL91ABNA')
    await field.evaluate((input: HTMLInputElement) => input.setSelectionRange(2, 6))
    await page.evaluate(() => scrollTo(0, 120))
    const top = await page.evaluate(() => scrollY)
    await assertNoLoad(t, page, async () => {
      const renewed = page.waitForResponse(answer => answer.url().includes('/mandates/new'))
      await site.client.post('/api/v1/mandates', mandate({ mandateReference: 'MND-0002' }))
      await renewed
      await page.waitForFunction(
        before => (document.querySelector('[name="body.mandateReference"]') as HTMLInputElement).value !== before,
        suggested,
      )
    })
    t.equal(await field.inputValue(), 'NL91ABNA')
    t.same(await field.evaluate((input: HTMLInputElement) => [input.selectionStart, input.selectionEnd]), [2, 6])
    t.equal(await page.evaluate(() => scrollY), top)
  })

  await t.test('a command follows what is typed, which outlives an action of another form', async t => {
    const { site, page } = await visit(t, browser, '/client')
    await page.locator('#same-fork summary').click()
    const command = page.locator('#same-fork code')
    await page.locator('[name="body.clientId"]').fill("o'neil")
    await command.filter({ hasText: `"clientId":"o'\\''neil"` }).waitFor()
    await page.getByRole('button', { name: 'Expire all tokens' }).click()
    await page.getByRole('status').filter({ hasText: 'All tokens' }).waitFor()
    t.equal(await page.locator('[name="body.clientId"]').inputValue(), "o'neil")
    const renewed = page.waitForResponse(answer => answer.url().includes('/console/client?'))
    await site.client.control('POST', '/clock/advance', { by: 'PT1H' })
    await renewed
    await command.filter({ hasText: `"clientId":"o'\\''neil"` }).waitFor()
    await page.locator('[name="body.clientId"]').fill('copy')
    await command.filter({ hasText: '"clientId":"copy"' }).waitFor()
    await page.locator('#fork-client button').click()
    await page.getByRole('status').filter({ hasText: 'copy exists.' }).waitFor()
  })

  await t.test('the field for a time stays a day ahead of the clock, until a person changes it', async t => {
    const site = await startSite(t)
    const page = await openConsole(t, browser, site)
    const field = page.getByLabel('To (UTC)')
    const show = (time: string) => page.locator('.now time', { hasText: time }).waitFor()
    await show('09:00:00')
    await site.client.control('POST', '/clock/advance', { by: 'PT1H' })
    await show('10:00:00')
    t.equal(await field.inputValue(), '2026-11-03T10:00')
    await site.client.control('PATCH', '/clock', { mode: 'running', rate: 3600 })
    // A minute of real time at this pace is longer than a day.
    await page.waitForFunction(
      input => (input as HTMLInputElement).value > '2026-11-04T22:01',
      await field.elementHandle(),
    )
    await page.getByRole('button', { name: 'Go' }).click()
    await page.locator('#notice', { hasText: 'The clock shows' }).waitFor()
    await page.getByRole('button', { name: 'Freeze' }).click()
    await page.locator('#notice', { hasText: 'is frozen' }).waitFor()
    await page.getByRole('button', { name: '+1 week' }).click()
    await page.locator('#notice', { hasText: 'Nothing was due' }).waitFor()
    const now = await page.locator('.now time').getAttribute('datetime')
    const ahead = Date.parse(`${await field.inputValue()}Z`) - Date.parse(String(now))
    t.ok(ahead >= 86_400_000, `the field that the clock has set is ${ahead} ms ahead of it`)
    await field.fill('2026-12-24T18:00')
    await site.client.control('POST', '/clock/advance', { to: '2026-12-01T11:00:00Z' })
    await show('11:00:00')
    t.equal(await field.inputValue(), '2026-12-24T18:00')
  })

  await t.test('the notice of an action is in view, and the page stays where it is', async t => {
    const { page } = await visit(t, browser, '/client')
    await page.setViewportSize({ width: 360, height: 640 })
    const button = page.getByRole('button', { name: 'Expire all tokens' })
    await button.scrollIntoViewIfNeeded()
    const before = await page.evaluate(() => scrollY)
    await button.click()
    await page.locator('#notice', { hasText: 'are expired' }).waitFor()
    const top = await page.locator('#notice').evaluate(notice => notice.getBoundingClientRect().top)
    t.ok(before > 640 && top >= 0 && top < 100, `${top} px below the top of the view`)
    t.ok(Math.abs((await page.evaluate(() => scrollY)) - before) < 100)
  })

  await t.test('a link within the page loads nothing: the next key goes on behind it', async t => {
    const { page } = await visit(t, browser, '/collections/new')
    await page.locator('main input[type=text]').first().fill('COL-TYPED')
    await assertNoLoad(t, page, async () => {
      await page.locator('a.skip').focus()
      await page.keyboard.press('Enter')
      await page.waitForURL(/#main$/)
      await page.keyboard.press('Tab')
    })
    t.ok(await page.evaluate(() => document.activeElement?.closest('main') !== null), 'the focus is in the content')
    t.equal(await page.locator('main input[type=text]').first().inputValue(), 'COL-TYPED')
    await page.getByRole('link', { name: 'Mandates' }).first().click()
    await page.waitForURL(/mandates/)
    await page.goBack()
    await page.waitForURL(/#main$/)
  })

  await t.test('the keys move through a list, and Enter sends it', async t => {
    const { page } = await visit(t, browser, '/collections')
    await page.getByLabel('Status').focus()
    for (let pressed = 0; pressed < 2; pressed++) await page.keyboard.press('ArrowDown')
    t.equal(new URL(page.url()).searchParams.get('status'), null)
    await page.keyboard.press('Enter')
    await page.waitForURL(/status=SUBMITTED/)
    await page.locator('#filter-status:focus').waitFor()

    const requests = await visit(t, browser, '/requests')
    await requests.page.getByLabel('Method').selectOption('POST')
    await requests.page.waitForURL(/method=POST/)
  })

  await t.test('a command is copied, and its button says so; a list needs no button', async t => {
    const site = await startSite(t)
    const page = await openConsole(t, browser, site, '', { permissions: ['clipboard-read', 'clipboard-write'] })
    await page.locator('#same-clock summary').click()
    await page.clock.install()
    const button = page.locator('#same-clock button').first()
    await button.click()
    await button.filter({ hasText: 'Copied' }).waitFor()
    t.match(await page.evaluate(() => navigator.clipboard.readText()), /^curl /)
    t.equal(await page.locator('#notice').textContent(), '')
    await page.clock.runFor(2000)
    t.equal(await button.textContent(), 'Copy')
    t.equal(await page.getByRole('button', { name: 'Show' }).count(), 0)
  })

  await t.test('a file that is refused leaves its form, also when the client changes', async t => {
    const site = await startSite(t)
    const page = await openConsole(t, browser, site, '/client/load')
    await page.getByRole('button', { name: 'Load' }).click()
    await page.getByRole('alert').filter({ hasText: 'file is required' }).waitFor()
    const renewed = page.waitForResponse(answer => answer.request().method() === 'GET')
    await site.client.control('POST', '/clock/advance', { by: 'PT1H' })
    await (await renewed).finished()
    await page.getByRole('alert').filter({ hasText: 'file is required' }).waitFor()
    t.equal(await page.locator('#file').count(), 1)
  })

  await t.test('an action changes the page in place, and says so', async t => {
    const { site, page } = await visit(t, browser)
    await assertNoLoad(t, page, async () => {
      await page.getByRole('button', { name: 'Next: COL-0001 SUBMITTED, 5 Nov 2026, 15:00' }).click()
      await page.getByRole('status').filter({ hasText: '1 transition happened.' }).waitFor()
      await page.getByRole('heading', { name: 'What happened' }).waitFor()
    })
    t.notMatch(page.url(), /notice|proof/, 'the address can be sent to a colleague')
    t.match((await site.client.control('GET', '/direct-debit/COL-0001')).body, { record: { status: 'SUBMITTED' } })
    await page.getByRole('link', { name: 'Mandates', exact: true }).click()
    await page.getByRole('link', { name: 'New mandate' }).click()
    await page.getByLabel('Mandate reference').fill('MND-0001')
    await page.getByRole('button', { name: 'Create the mandate' }).click()
    const alert = page.getByRole('alert')
    await alert.waitFor()
    t.match(await alert.textContent(), /DUPLICATE_REFERENCE/)
    t.equal(await page.locator('[aria-invalid]:focus').inputValue(), 'MND-0001', 'it has the focus')
    const stripe = () => page.locator('#notice').evaluate(element => getComputedStyle(element).borderLeftColor)
    const ofRefusal = await stripe()
    await page.getByLabel('Mandate reference').fill('MND-0009')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Mandate MND-0009' }).waitFor()
    await page.getByRole('status').filter({ hasText: 'MND-0009 became ACTIVE.' }).waitFor()
    t.not(await stripe(), ofRefusal, 'a success has another colour')
  })

  await t.test('requests appear under load, while the page can be used; it renews itself once a second', async t => {
    const site = await startSite(t)
    await stock(site)
    const list = (count: number) =>
      Promise.all(Array.from({ length: count }, () => site.client.get('/api/v1/mandates')))
    await list(60)
    const page = await openConsole(t, browser, site, '/requests')
    await page.clock.install({ time: MONDAY })
    await page.reload()
    await page.clock.pauseAt(Date.parse(MONDAY) + 60_000)
    const elements = () => page.evaluate(() => document.querySelectorAll('*').length)
    const before = await elements()
    let renewals = 0
    page.on('request', request => {
      if (request.resourceType() === 'fetch') renewals++
    })
    const path = page.getByLabel('Path')
    for (let batch = 0; batch < 12; batch++) {
      await list(20)
      await path.press('x')
    }
    t.ok(renewals <= 1, `${renewals} renewals while no time passes`)
    const { last } = (await site.client.control('GET', '/requests?limit=1')).body
    let pauses = 0
    for (; !(await page.locator(`#request-${last}`).isVisible()); pauses++) await page.clock.runFor(500)
    t.ok(renewals <= pauses / 2 + 2, `${renewals} renewals in ${pauses} half seconds`)
    t.equal(await path.inputValue(), 'x'.repeat(12), 'no key is lost')
    t.equal(await page.locator('tbody tr').count(), 50)
    t.equal(await elements(), before, 'the page does not grow')
  })

  await t.test('a server that goes away is reported, and the page catches up when it is back', async t => {
    const { site, page } = await visit(t, browser, '/mandates')
    page.removeAllListeners('console')
    const { port } = new URL(site.url)
    await site.app.close()
    await page.locator('#offline', { hasText: 'The server is away.' }).waitFor()
    const again = build(t, { publicUrl: () => site.url })
    await again.listen({ host: '127.0.0.1', port: Number(port) })
    const client = await connect(again)
    await client.post('/api/v1/mandates', mandate({ mandateReference: 'MND-AGAIN' }))
    await page.getByRole('link', { name: 'MND-AGAIN' }).waitFor()
    t.equal(await page.locator('#offline').textContent(), '')
  })

  await t.test('while a form waits for its answer, another one says so', async t => {
    const { page } = await visit(t, browser)
    let goOn = () => {}
    const held = new Promise<void>(done => {
      goOn = done
    })
    const isForm = (url: URL) => url.pathname.endsWith('/console')
    await page.route(isForm, async route => {
      if (route.request().method() === 'POST') await held
      await route.continue()
    })
    await page.getByRole('button', { name: '+1 day' }).click()
    await page.getByRole('button', { name: '+1 week' }).click()
    await page.locator('#notice', { hasText: 'Nothing was sent: another form of this page waits' }).waitFor()
    goOn()
    await page.getByRole('status').filter({ hasText: 'The clock shows Tue, 3 Nov 2026' }).waitFor()
  })

  await t.test('a hidden tab asks for nothing, and renews itself when it is shown', async t => {
    const { page } = await visit(t, browser)
    await page.clock.install({ time: MONDAY })
    await page.reload()
    const turn = (isHidden: boolean) =>
      page.evaluate(value => {
        Object.defineProperty(document, 'hidden', { value, configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))
      }, isHidden)
    await turn(true)
    let renewals = 0
    page.on('request', () => renewals++)
    await page.clock.runFor(60_000)
    t.equal(renewals, 0)
    await turn(false)
    await page.waitForRequest(request => request.resourceType() === 'fetch')
  })
})

/** The pages with forms that act. What a form of the last ones takes away, no later one needs. */
const PAGES_WITH_FORMS = [
  ...['', '/collections/COL-0001', '/payout-links/PL-TEST-0001', '/mandates/new', '/bills/new', '/requests/2'],
  ...['/requests', '/failures', '/client', '/client/load', '/client/reset', '/client/restart', '/client/remove'],
]

/** The answers that are refusals of forms as they are filled in. */
const REFUSED: Readonly<Record<string, RegExp>> = {
  load: /file is required/,
  repeat: /The answer was 409: "MND-0001" is taken already/,
}

// test/console sends them as a browser without script does.
t.test('console, Actions: each form is sent as it is filled in, by the script', needsChromium, async t => {
  const site = await startSite(t)
  const { clientId, control } = site.client
  await stock(site)
  await control('POST', '/faults', { match: { path: '/none' }, effect: { kind: 'garbage' } })
  await control('POST', '/outcomes', { outcome: 'FAILED', match: { amount: '77' } })
  await control('PUT', '/deprecations', { data: [{ operation: 'GET /api/v1/bills' }] })
  await control('PATCH', '/clock', { mode: 'running' })
  const { body: stocked } = await control('GET', '/state')
  const page = await openConsole(t, await openBrowser(t), site)
  for (const path of PAGES_WITH_FORMS) {
    const address = new URL(`${site.url}/_sandbox/console${path}`)
    address.searchParams.set('client', clientId)
    const restore = async () => {
      // The page of a record that is gone would load itself again.
      await page.goto('about:blank')
      await control('PUT', '/state', stocked)
      await page.goto(address.href)
    }
    await restore()
    // The forms of scenarios are alike: test/console sends all of them.
    const forms = page.locator('main form[method=post]:not([id^=scenario-]), #scenario-collection-returned')
    const ids = await forms.evaluateAll(all => all.map(({ id }) => id))
    t.ok(ids.length > 0, path)
    for (const id of ids) {
      const form = page.locator(`form[id="${id}"]`)
      if (new URL(page.url()).pathname !== address.pathname || !(await form.count())) await restore()
      // A click by the mouse would wait until nothing moves.
      await form.evaluate(element => {
        document.querySelector('#notice')?.replaceChildren()
        element.querySelector<HTMLElement>('button[type=submit]')?.click()
      })
      const said = (await page.locator('#notice:not(:empty), .sheet').textContent()) as string
      t.match(said, REFUSED[id] ?? /^(?![A-Z_]+: |The answer was |No answer )/, `${path} ${id}`)
    }
  }
})

t.test('console, Actions: an answer that is no page of the console is said on the page', needsChromium, async t => {
  const browser = await openBrowser(t)
  const site = await startSite(t)
  const page = await openConsole(t, browser, site, '/client')
  const fork = page.locator('#fork-client')
  const says = (text: string) => page.locator('#notice').filter({ hasText: text }).waitFor()
  await fork.getByLabel('Client id').fill('copy')
  await assertNoLoad(t, page, async () => {
    await page.route('**/client?*', route =>
      route.fulfill({
        status: 502,
        contentType: 'text/html',
        body: '<style>p {}</style><p style="color: red">Bad</p>',
      }),
    )
    await fork.getByRole('button').click()
    await says('The answer was 502. It does not come from the sandbox.')
    // So does a renewal, which must not put the answer in the place of the page.
    const renewed = page.waitForResponse(answer => answer.request().method() === 'GET' && answer.status() === 502)
    await site.client.control('POST', '/clock/advance', { by: 'PT1H' })
    await renewed
    await page.unroute('**/client?*')
    await page.route('**/client?*', route => route.abort())
    await fork.getByRole('button').click()
    await says('No answer came.')
    await page.unroute('**/client?*')
  })
  t.equal(await fork.getByLabel('Client id').inputValue(), 'copy')
  await fork.getByRole('button').click()
  await says('copy exists.')
  await fork.getByLabel('Client id').fill('x'.repeat(128 * 1024))
  await fork.getByRole('button').click()
  await says('The answer was 413. PAYLOAD_TOO_LARGE: The body must not be larger than 131072 bytes.')
})

t.test('console, The story: by keyboard, from the first step to the claim', needsChromium, async t => {
  const browser = await openBrowser(t)
  const site = await startSite(t)
  await site.app.inject({ method: 'POST', url: '/_sandbox/reset' })
  const page = await openConsole(t, browser, { ...site, client: { ...site.client, clientId: 'sandbox-client' } })
  /** Moves the focus by the keyboard. */
  const focus = async (name: string) => {
    for (let keys = 0; keys < 60; keys++) {
      const text = await page.evaluate(() => document.activeElement?.textContent?.trim())
      if (text === name) return
      await page.keyboard.press('Tab')
    }
    t.fail(`the keyboard does not reach ${name}`)
  }
  const steps = [
    'Create a mandate',
    'Collect 49.90 EUR',
    'Let two weeks pass',
    'Collect 20.00 EUR without cover',
    'Let two more weeks pass',
    'Create a payout link',
  ]
  /** Waits until the page has moved the focus to the next step. */
  const isFocused = async (name: string) => {
    const next = page.locator(':focus', { hasText: name })
    await next.waitFor()
  }
  for (const [at, name] of steps.entries()) {
    await page.getByRole('button', { name }).waitFor()
    await (at === 0 ? focus : isFocused)(name)
    const found = await page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineStyle)
    t.equal(found, 'solid', 'the focus is visible')
    await page.keyboard.press('Enter')
  }
  await isFocused('Open the page')
  const href = (await page.getByRole('link', { name: 'Open the page' }).getAttribute('href')) as string
  const recipient = await browser.newPage()
  t.teardown(() => recipient.close())
  await recipient.goto(href)
  await recipient.getByLabel('Account holder').fill('Jane Doe')
  await recipient.getByLabel('IBAN').fill('DE89370400440532013000')
  await recipient.keyboard.press('Enter')
  await page.getByText('That is the whole story.').waitFor()
  await isFocused('Open Failures')
  await page.setViewportSize({ width: 360, height: 740 })
  await page.reload()
  await page.locator('.present', { hasText: 'CLAIMED' }).waitFor()
  await site.app.inject({ method: 'POST', url: '/_sandbox/clock/advance', payload: { by: 'PT1M' } })
  await page.locator('.present', { hasText: 'PAID' }).waitFor()
  const paid = (await page.locator('.present', { hasText: 'PAID' }).boundingBox()) ?? { x: 0, width: 0 }
  t.ok(paid.x > 0 && paid.x + paid.width < 360, 'it follows the state')
  const { x, width } = (await page.locator('.present', { hasText: 'RETURNED' }).boundingBox()) ?? { x: 0, width: 0 }
  t.ok(x > 0 && x + width < 360, 'a narrow drawing shows the present state')
  await unfold(page)
  await assertFits(t, page)
  await assertAccessible(t, page)
  await page.getByRole('link', { name: 'Start over' }).press('Enter')
  await page.getByRole('button', { name: 'Start over' }).press('Enter')
  await page.getByRole('button', { name: 'Create a mandate' }).waitFor()
})

t.test('console, Safety: a browser has the admin token as a password, and acts', needsChromium, async t => {
  const browser = await openBrowser(t)
  const site = await startSite(t, { adminToken: 'adm1n' })
  const httpCredentials = { username: 'me', password: 'adm1n' }
  const page = await openConsole(t, browser, site, '', { httpCredentials })
  await page.getByRole('button', { name: '+1 day' }).click()
  await page.getByRole('status').filter({ hasText: 'The clock shows Tue, 3 Nov 2026' }).waitFor()
  await page.goto(`${site.url}/_sandbox/console/mandates/new?client=${site.client.clientId}`)
  await page.getByLabel('Mandate reference').fill('MND-0009')
  // As with another token of the server.
  await page.route('**/_sandbox/**', route => route.fulfill({ status: 401 }))
  await page.evaluate(() => {
    dispatchEvent(new Event('pagehide'))
    dispatchEvent(new Event('pageshow'))
  })
  await page.locator('#offline', { hasText: 'The server asks for its admin token.' }).waitFor()
  t.equal(await page.getByLabel('Mandate reference').inputValue(), 'MND-0009')
})

t.test('console, Live pages: the pages need no JavaScript', needsChromium, async t => {
  const browser = await openBrowser(t)
  const site = await startSite(t)
  await stock(site)
  const page = await browser.newPage({ javaScriptEnabled: false })
  t.teardown(() => page.close())
  const goTo = (path: string) => page.goto(`${site.url}/_sandbox/console${path}?client=${site.client.clientId}`)
  const notice = () => page.locator('#notice').textContent()

  await goTo('/collections/COL-0001')
  await page.getByRole('button', { name: 'Cancel → CANCELLED' }).click()
  t.match(await notice(), /COL-0001 became CANCELLED/)
  await goTo('/client')
  await page.locator('#same-files > summary').click()
  t.equal(await page.locator('#same-files code').first().isVisible(), true)
  t.equal(await page.locator('#same-files [data-copy]').first().isVisible(), false, 'what needs a script is hidden')
  await page.locator('summary', { hasText: 'payout-link-paid' }).click()
  await page.locator('#same-scenario-payout-link-paid > summary').click()
  await page.locator('#same-scenario-payout-link-paid noscript p').waitFor()
  await goTo('/payout-links')
  await page.getByLabel('Client').selectOption(site.client.clientId)
  await page.getByRole('button', { name: 'Show' }).click()
  t.equal(await page.locator('h1').textContent(), 'Payout links')
})
