/** Writes the pictures of the pages in docs/screenshots: `npm run screenshots`. */
import { mkdirSync } from 'node:fs'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { createLink, pagePath } from '../areas/pages.js'
import { call, connect } from '../helper.js'
import { launchBrowser } from './chromium.js'
import { runApp } from './coverage.js'
import { startSite } from './pages.js'

const FOLDER = 'docs/screenshots'
const WIDE = { width: 1080, height: 660 }
const NARROW = { width: 360, height: 740 }
const closers: (() => Promise<unknown>)[] = []
const lifetime = { teardown: (close: () => Promise<unknown>) => closers.push(close) }

const site = await startSite(lifetime, { now: () => Date.parse('2026-11-12T10:24:31Z') })
const { app, url } = site
const browser = await launchBrowser(lifetime)
const demo = await connect(app, 'demo-shop')
await demo.control('POST', '/seed', { fixture: 'demo' })
mkdirSync(FOLDER, { recursive: true })

async function picture(
  name: string,
  path: string,
  options: BrowserContextOptions,
  act?: (page: Page) => Promise<void>,
) {
  const context = await browser.newContext({ locale: 'en-GB', viewport: WIDE, reducedMotion: 'reduce', ...options })
  const page = await context.newPage()
  await page.goto(`${url}${path}`)
  await act?.(page)
  await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur())
  await page.screenshot({ path: `${FOLDER}/${name}.png` })
  await context.close()
}

async function claim(page: Page) {
  await page.getByLabel('IBAN').fill('DE89370400440532013000')
  await page.getByRole('button').first().click()
  await page.locator('.steps').waitFor()
}
const link = async (changes: object) =>
  pagePath(
    demo,
    await createLink(demo, 'SEPA-INSTANT', { amount: '64.00', remarks: 'Refund of a lost parcel', ...changes }),
  )

await picture('claim', pagePath(demo, 'PL-ACME-EU-0007'), { colorScheme: 'light' })
const open = await link({ accountHolderName: 'Ida Lindholm' })
await picture('progress', open, { colorScheme: 'light' }, claim)
await picture('claim-mobile', await link({ accountHolderName: 'Ida Lindholm' }), {
  colorScheme: 'light',
  viewport: NARROW,
})

/** The pages of the console, with the steps of the story that are done before. */
const desk = { colorScheme: 'light', viewport: { width: 1280, height: 900 } } as const
const pages: [name: string, path: string, client: string, steps: number, options?: BrowserContextOptions][] = [
  ['console', '', 'sandbox-client', 3, { viewport: { width: 1280, height: 1180 } }],
  ['console-record', '/collections/STORY-COLLECTION-2', 'sandbox-client', 5],
  ['console-mobile', '/mandates/STORY-MANDATE', 'sandbox-client', 5, { viewport: NARROW }],
  ['console-requests', '/requests', 'web-shop', 5, { colorScheme: 'dark' }],
]
await runApp(await connect(app, 'web-shop'))
let done = 0
for (const [name, path, client, steps, options] of pages) {
  for (; done < steps; done++) await call(app, 'POST', '/_sandbox/scenarios/story', { body: { step: done + 1 } })
  await picture(name, `/_sandbox/console${path}?client=${client}`, { ...desk, ...options }, async page => {
    await page.locator('main .card').first().waitFor()
    // The network is never idle: a page waits for events.
    await page.locator('main time').first().waitFor()
    await page.waitForTimeout(1000)
  })
}

for (const close of closers.reverse()) await close()
