import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type { Test } from 'tap'
import t from 'tap'
import { bill, call, collection, mandate, payoutLink } from '../helper.js'
import { assertAccessible, assertFits, unfold } from './accessibility.js'
import { openBrowser } from './browser.js'
import { needsChromium } from './chromium.js'
import type { Site } from './pages.js'
import { startSite } from './pages.js'

/** The pages by their paths, each with the parts that it shows last. */
const PAGES: Readonly<Record<string, readonly string[]>> = {
  '': ['[aria-label=Next] tr', '[aria-label=Latest] tr'],
  '/collections': ['tbody tr'],
  '/collections/COL-0001': ['.thread .request', '.thread .step', '#outcome', '#related'],
  '/collections/new': ['#create .field', '#ending optgroup'],
  '/mandates/MND-0001': ['.thread .request', '[aria-label=Collections] tr'],
  '/bills/INV-2026-001': ['.thread .request', '#related'],
  '/counterparties/CPTY-0001': ['[aria-label=Bills] tr'],
  '/payout-links/PL-TEST-0001': ['.thread .step', '#outcome'],
  '/payout-links/new': ['#create .field'],
  '/requests': ['tbody tr'],
  '/requests/2': ['.pager a:nth-child(2)', '#again'],
  '/failures': ['.presets .field', '[aria-label=Faults] tr', '#arm .field', '#arm-outcome optgroup'],
  '/sandbox': [
    '#update-settings .field',
    '#run-scenario .field',
    'dt:text("Version")',
    '[aria-label="All clients"] tr',
  ],
  '/coverage': ['.codes .hint:not(:empty)'],
  '/errors/DUPLICATE_REFERENCE': ['dd li code'],
  '/mandates/MND-0404': ['#missing'],
  '/nothing': ['#missing'],
}
/** The parts of all pages that wait for answers: the clock, what comes next, and the number of armed failures. */
const SHARED = ['.clock time', '.coming a', 'nav .badge']
const WIDTHS = [390, 1024, 1440]

/** Gives the client of a site one record of most kinds. */
async function stock({ client }: Site): Promise<void> {
  await client.post('/api/v1/mandates', mandate())
  await client.post('/api/v1/direct-debit', collection())
  await client.post('/api/v1/bills', bill())
  const payoutLinks = [{ ...payoutLink({ expiryPeriod: 'P30D' }), payoutLinkId: 'PL-TEST-0001' }]
  await client.control('POST', '/seed', { records: { payoutLinks } })
}

interface Options extends BrowserContextOptions {
  readonly clientId?: string
  /** The statuses of refusals that the page provokes: a browser reports each in its console. */
  readonly refusals?: readonly number[]
}

/** Opens a page of the console. It fails the test on errors, on requests to other places, and on each further load. */
async function open(t: Test, browser: Browser, { url, client }: Site, path = '', options: Options = {}): Promise<Page> {
  const { clientId = client.clientId, refusals = [], ...rest } = options
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...rest })
  t.teardown(() => page.close())
  page.on('console', message => {
    const [, status] = /status of (\d+)/.exec(message.text()) ?? []
    if (!refusals.includes(Number(status))) t.fail(message.text())
  })
  page.on('pageerror', error => t.fail(error.message))
  page.on('request', request => {
    if (!request.url().startsWith(url) && !request.url().startsWith('data:')) t.fail(`a request to ${request.url()}`)
  })
  await page.goto(`${url}/_sandbox/console${path}?client=${clientId}`)
  await page.locator('h1').waitFor()
  return page
}

/** Opens a page of a site of its own, with records. */
async function visit(t: Test, browser: Browser, path = '', options: Options = {}) {
  const site = await startSite(t)
  await stock(site)
  return { site, page: await open(t, browser, site, path, options) }
}

const says = (page: Page, text: string | RegExp) => page.locator('#notice', { hasText: text }).waitFor()

t.test('console, Pages: each fits all widths, and axe finds nothing in either scheme', needsChromium, async t => {
  const browser = await openBrowser(t)
  const { site, page } = await visit(t, browser, '', { refusals: [404] })
  await site.client.control('POST', '/faults', { effect: { kind: 'error', status: 503 }, skip: 100 })
  await site.client.post('/api/v1/mandates', mandate())
  for (const [path, parts] of Object.entries(PAGES)) {
    // As the way back does. A load, and that of axe, would take longer than all else.
    await page.evaluate(href => {
      history.pushState(null, '', href)
      dispatchEvent(new PopStateEvent('popstate'))
    }, `${site.url}/_sandbox/console${path}?client=${site.client.clientId}`)
    // Some are folded.
    for (const part of [...parts, ...SHARED]) await page.locator(part).first().waitFor({ state: 'attached' })
    await unfold(page)
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 })
      await assertFits(t, page)
    }
    await assertAccessible(t, page)
  }
})

t.test('README, The guide: its pages fit all widths; axe finds nothing in either scheme', needsChromium, async t => {
  const browser = await openBrowser(t)
  const { url } = await startSite(t)
  const page = await browser.newPage()
  t.teardown(() => page.close())
  page.on('console', message => t.fail(message.text()))
  for (const name of ['', '/library', '/operations', '/errors#MANDATE_NOT_FOUND']) {
    await page.goto(`${url}/docs/guide${name}`)
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 })
      await assertFits(t, page)
    }
    if (['', '/operations'].includes(name)) await assertAccessible(t, page)
  }
  t.match(await page.locator('tr:target').textContent(), /^MANDATE_NOT_FOUND/)
  await page.goto(`${url}/docs/guide?client=acme`)
  await page.getByRole('link', { name: 'Requests' }).click()
  await page.waitForURL(/console\/requests\?client=acme$/)
  t.pass('the navigation keeps the client')
})

t.test('console, The story: by the keyboard from its start to the claimed payout', needsChromium, async t => {
  const browser = await openBrowser(t)
  const site = await startSite(t)
  const page = await open(t, browser, site, '', { clientId: 'sandbox-client' })
  await page.getByRole('button', { name: 'Create a mandate' }).focus()
  const buttons = [
    'Collect 49.90 EUR',
    'Let two weeks pass',
    'Collect 20.00 EUR without cover',
    'Let two more weeks pass',
  ]
  for (const name of [...buttons, 'Create a payout link']) {
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name, exact: true }).and(page.locator(':focus')).waitFor()
  }
  t.match(await page.locator('.exchange').textContent(), /clock\/advance/, 'the request and its answer are below')
  await page.keyboard.press('Enter')
  // The story moves the focus, too.
  await page.locator('.stage a.button:focus').waitFor()
  const frame = page.frameLocator('iframe')
  await frame.getByLabel('IBAN').waitFor()
  // With its script, the page shows the answer of the claim in place.
  await page.frame({ url: /\/pay\// })?.waitForLoadState()
  const iban = await page.locator('.stage code').first().textContent()
  await frame.getByLabel('IBAN').fill(String(iban))
  const name = frame.getByLabel('Account holder')
  if ((await name.inputValue()) === '') await name.fill('Jane Doe')
  await frame.getByRole('button').first().focus()
  await page.keyboard.press('Enter')
  // It gives the focus to its title, maybe after the story has the next button.
  await frame.getByRole('heading', { name: 'Payout accepted' }).and(frame.locator(':focus')).waitFor()
  await page.getByRole('button', { name: 'Let the money arrive' }).focus()
  await page.keyboard.press('Enter')
  await page.locator('.stage .status', { hasText: 'PAID' }).waitFor()
  await page.getByText('That is the whole story').waitFor()
  await page.locator('.told a', { hasText: 'POST /api/v1/mandates' }).waitFor()
  const { data } = (await call(site.app, 'GET', '/_sandbox/requests?client=sandbox-client')).body
  t.ok(data.every(({ headers }: { headers: Record<string, string> }) => headers['sandbox-sender'] === 'console'))
  await page.reload()
  await page.getByText('The story is told').waitFor()
  await page.getByRole('button', { name: 'Start over' }).click()
  await page.getByRole('button', { name: 'Reset the client' }).click()
  await page.getByRole('button', { name: 'Create a mandate' }).waitFor()
})

t.test('console, Pages: a failure is explained in two clicks from the overview', needsChromium, async t => {
  const browser = await openBrowser(t)
  const site = await startSite(t)
  const { client } = site
  await client.post('/api/v1/mandates', mandate())
  await client.post(
    '/api/v1/direct-debit',
    collection({ collectionReference: 'ORDER-1001', debtorReference: 'SIM-RETURNED-AM04' }),
  )
  await client.control('POST', '/clock/advance', { by: 'P30D' })
  await client.get('/api/v1/direct-debit/ORDER-1001')
  const page = await open(t, browser, site)
  await page.getByRole('link', { name: 'ORDER-1001' }).first().click()
  await page.locator('.headline .cause', { hasText: 'AM04 insufficient funds' }).waitFor()
  const parts = [
    'POST /api/v1/direct-debit',
    'PENDING.*by API',
    'SETTLED',
    'RETURNED.*by outcome',
    'GET .*ORDER-1001',
    'Now',
  ]
  await page.locator('.thread', { hasText: new RegExp(parts.join('.*'), 's') }).waitFor()
  t.equal(await page.getByRole('heading', { name: 'Thread' }).count(), 1)
  t.equal(await page.getByRole('heading', { name: 'Record', exact: true }).count(), 1)
  await page.goBack()
  await page.getByRole('heading', { name: 'Connect your app' }).waitFor()
  await page.getByLabel('Search').fill('jane')
  await page.locator('.found a', { hasText: 'MND-0001' }).waitFor()
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  await page.waitForURL(/\/(mandates|collections)\//)
  // It gets the focus with the next frame.
  await page.locator('h1:focus').waitFor()
  await page.getByLabel('Search').fill('MANDATE_ALREADY')
  await page.locator('.found a', { hasText: 'MANDATE_ALREADY_USED' }).click()
  await page.getByRole('heading', { name: 'Error MANDATE_ALREADY_USED' }).waitFor()
})

t.test('console, Actions: a jump says first what it will do, and can be undone', needsChromium, async t => {
  const browser = await openBrowser(t)
  const { site, page } = await visit(t, browser, '/collections/COL-0001')
  await page.getByRole('button', { name: '+1 week' }).click()
  await page.locator('.asked', { hasText: '2 transitions' }).waitFor()
  t.match((await site.client.control('GET', '/clock')).body, { now: '2026-11-02T09:00:00Z' }, 'nothing has happened')
  await page.getByRole('button', { name: 'Advance', exact: true }).click()
  await says(page, 'The clock shows Mon, 9 Nov 2026')
  await page.locator('.headline', { hasText: 'PROCESSING' }).waitFor()
  await page.getByRole('button', { name: 'Undo' }).click()
  await says(page, 'The jump is undone')
  await page.locator('.headline', { hasText: 'PENDING' }).waitFor()
  t.match((await site.client.control('GET', '/clock')).body, { now: '2026-11-02T09:00:00Z' })
  await page.getByRole('button', { name: '+1 day' }).click()
  await page.getByRole('button', { name: 'Advance', exact: true }).click()
  await page.getByRole('button', { name: 'Undo' }).waitFor()
  await site.client.control('POST', '/direct-debit/COL-0001/submit', {})
  await page.locator('.headline', { hasText: 'SUBMITTED' }).waitFor()
  await page.getByRole('button', { name: 'Undo' }).waitFor({ state: 'detached' })
  await page.locator('.clock summary', { hasText: 'More' }).click()
  await page.getByLabel('To (UTC)').fill('2028-01-01T00:00')
  await page.getByRole('button', { name: 'Go' }).click()
  await page.getByRole('button', { name: 'Advance by more than a year' }).waitFor()
  await page.getByRole('button', { name: 'Stay' }).click()
  await page.getByRole('button', { name: 'Run' }).click()
  await says(page, 'runs in real time')
  await page.getByRole('button', { name: 'Freeze' }).click()
  await says(page, 'is frozen')
})

t.test(
  'console, Actions: the form of each kind is valid as it is filled, and marks a wrong value',
  needsChromium,
  async t => {
    const browser = await openBrowser(t)
    const { page } = await visit(t, browser, '/collections/new', { refusals: [400] })
    for (const [path, field] of [
      ['collections', 'Amount'],
      ['mandates', 'Debtor IBAN'],
      ['payout-links', 'Amount'],
      ['bills', 'Total amount'],
    ] as const) {
      await page.goto(page.url().replace(/console\/.*\?/, `console/${path}/new?`))
      const create = page.getByRole('button', { name: /^Create the/ })
      await page.getByLabel(field, { exact: true }).fill('wrong')
      await create.click()
      await page.locator('[aria-invalid]:focus').waitFor()
      t.equal(await page.locator('[aria-invalid]').inputValue(), 'wrong')
      t.match(await page.getByRole('alert').textContent(), /^INVALID_/)
      await page.reload()
      await create.click()
      await page.waitForURL(new RegExp(`${path}/(?!new)`))
      await says(page, / is [A-Z]+\./)
    }
    await page.goto(page.url().replace(/console\/.*\?/, 'console/collections/new?'))
    await page.getByLabel('How it ends').selectOption('RETURNED-AM04')
    t.equal(await page.locator('#create-debtorReference').inputValue(), 'SIM-RETURNED-AM04')
    await page.locator('main').getByText('As a command').click()
    t.match(
      await page.locator('main .same code').textContent(),
      /-H 'x-region: EU'.*"debtorReference":"SIM-RETURNED-AM04"/s,
    )
    await page.getByRole('button', { name: 'Create the collection', exact: true }).click()
    await page.locator('.thread .step', { hasText: 'AM04 insufficient funds' }).waitFor()
    await page.locator('#ending').selectOption('')
    await page.getByRole('button', { name: 'Choose' }).click()
    await page.locator('.thread .step').last().filter({ hasText: 'SETTLED' }).waitFor()
  },
)

t.test('console, Actions: each move of a record, and its outcome', needsChromium, async t => {
  const browser = await openBrowser(t)
  const { site, page } = await visit(t, browser, '/collections/COL-0001')
  for (const [button, state] of [
    ['Submit → SUBMITTED', 'SUBMITTED'],
    ['Process → PROCESSING', 'PROCESSING'],
    ['Settle → SETTLED', 'SETTLED'],
    ['Return → RETURNED', 'RETURNED'],
  ] as const) {
    await page.getByRole('button', { name: button }).click()
    await page.locator('.headline', { hasText: state }).waitFor()
  }
  t.match(await page.locator('.thread').textContent(), /SUBMITTED by console/)
  await page.goto(page.url().replace('collections/COL-0001', 'payout-links/PL-TEST-0001'))
  await page.locator('summary', { hasText: 'Claim → CLAIMED' }).click()
  await page.locator('#move-claim button').click()
  await page.locator('.headline', { hasText: 'CLAIMED' }).waitFor()
  await page.goto(page.url().replace('payout-links/PL-TEST-0001', 'bills/INV-2026-001'))
  await page
    .getByRole('button', { name: /→ PAID/ })
    .first()
    .click()
  await page.locator('.headline', { hasText: 'PAID' }).waitFor()
  t.match((await site.client.get('/api/v1/bills/INV-2026-001')).body, { status: 'PAID' })
})

t.test('console, Live pages: changes appear without a load, and what a person does stays', needsChromium, async t => {
  const browser = await openBrowser(t)
  const { site, page } = await visit(t, browser, '/mandates/new')
  await page.evaluate(() => Object.assign(globalThis, { isTheSame: true }))
  await site.client.post('/api/v1/mandates', mandate({ mandateReference: 'MND-0002' }))
  await page.getByRole('link', { name: 'Requests' }).click()
  const { length } = (await site.client.control('GET', '/requests')).body.data
  await page.locator(`tbody tr:nth-child(${length})`).waitFor()
  await site.client.get('/api/v1/mandates?status=NONE')
  await page.locator(`tbody tr:nth-child(${length + 1})`).waitFor()
  await page.getByLabel('Errors only').check()
  await page.waitForURL(/errors=true/)
  t.pass('the filter is in the address')
  await page.locator('tbody tr', { hasNotText: 'INVALID' }).first().waitFor({ state: 'detached' })
  await page.locator('tbody tr', { hasText: 'INVALID' }).first().waitFor()
  await page.locator('tbody a').first().click()
  await page.getByRole('heading', { name: /^Request \d+/ }).waitFor()
  await page.getByRole('button', { name: 'Send again' }).waitFor()
  await page.getByRole('link', { name: 'Records' }).click()
  await site.client.control('POST', '/direct-debit/COL-0001/submit', {})
  await page.getByRole('link', { name: /^Collections/ }).click()
  await page.locator('tbody tr', { hasText: 'SUBMITTED' }).waitFor()
  const search = page.getByLabel('Reference or name')
  await search.fill('COL')
  await page.waitForURL(/search=COL/)
  await site.client.control('POST', '/direct-debit/COL-0001/process', {})
  await page.locator('tbody tr', { hasText: 'PROCESSING' }).waitFor()
  t.equal(await search.inputValue(), 'COL', 'what was typed stays')
  await search.fill('nobody')
  await page.getByRole('heading', { name: '0 of 1' }).waitFor()
  t.ok(await page.evaluate(() => 'isTheSame' in globalThis), 'the page was not loaded again')
})

t.test('console, Actions: failures, settings, scenarios and the state', needsChromium, async t => {
  const browser = await openBrowser(t)
  const { site, page } = await visit(t, browser, '/failures', { refusals: [400] })
  const preset = page.locator('.presets li', { hasText: 'The answer is lost' })
  await preset.getByLabel('Path').fill('/api/v1/mandates')
  await preset.getByRole('button', { name: 'Arm' }).click()
  await page.locator('nav .badge', { hasText: '1' }).waitFor()
  await page.locator('tbody tr', { hasText: 'drop after' }).waitFor()
  await page.locator('summary', { hasText: 'Arm another fault' }).click()
  await page.locator('#arm-match\\.path').fill('/api/v1/bills')
  await page.getByRole('button', { name: 'delay', exact: true }).click()
  const arm = page.getByRole('button', { name: 'Arm: delay' })
  await arm.waitFor()
  t.equal(await page.locator('#arm-match\\.path').inputValue(), '/api/v1/bills', 'what was typed stays')
  await arm.click()
  await page.locator('nav .badge', { hasText: '2' }).waitFor()
  t.match((await site.client.control('GET', '/faults')).body.data[1], {
    match: { path: '/api/v1/bills' },
    effect: { kind: 'delay', ms: 2000 },
  })
  await page.getByRole('button', { name: 'Clear the faults' }).click()
  await page.locator('nav .badge').waitFor({ state: 'detached' })

  await page.getByRole('link', { name: 'Sandbox', exact: true }).click()
  const save = async (senderName: string) => {
    await page.getByLabel('Sender name').fill(senderName)
    // The notice of both is the same.
    const saved = page.waitForResponse(answer => answer.request().method() === 'PUT')
    await page.locator('#update-settings button').click()
    t.equal((await saved).status(), 200)
    return (await site.client.control('GET', '/settings')).body
  }
  t.match(await save('Acme Bakery'), { senderName: 'Acme Bakery', tokenAuthentication: 'form-or-basic' })
  await says(page, 'The settings are saved')
  t.equal((await save('')).senderName, null)
  await page.getByLabel('Scenario', { exact: true }).selectOption('mandate-active')
  await page.getByRole('button', { name: 'Run mandate-active' }).click()
  await says(page, 'is ACTIVE')
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('link', { name: 'Download the state' }).click(),
  ])
  const path = await download.path()
  await page.locator('summary', { hasText: 'Reset …' }).click()
  await page.getByRole('button', { name: 'Reset it' }).click()
  await says(page, 'has 0 records')
  await page.getByLabel('State document').setInputFiles(path)
  await page.getByRole('button', { name: 'Load' }).click()
  await says(page, /has [1-9]\d* records/)
})

t.test(
  'console, Safety: the admin token opens the console by HTTP Basic, and each page with its client',
  needsChromium,
  async t => {
    const browser = await openBrowser(t)
    const site = await startSite(t, { adminToken: 'secret-token' })
    const credentials = { username: 'any', password: 'secret-token' }
    const page = await browser.newPage({ httpCredentials: credentials })
    t.teardown(() => page.close())
    page.on('pageerror', error => t.fail(error.message))
    await page.goto(`${site.url}/`)
    await page.getByRole('heading', { name: 'Connect your app' }).waitFor()
    // The client is in the address.
    await page.waitForURL(/console\?client=sandbox-client$/)
    await page.getByRole('link', { name: 'Failures' }).click()
    await page.locator('.presets .same summary').first().click()
    t.match(await page.locator('main .same code').first().textContent(), /Bearer \$ADMIN_TOKEN/)
    const stranger = await browser.newPage()
    t.teardown(() => stranger.close())
    const answer = await stranger.goto(`${site.url}/_sandbox/console`)
    t.equal(answer?.status(), 401)
  },
)
