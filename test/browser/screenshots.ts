/** Writes the pictures of the pages in docs/screenshots: `npm run screenshots`. */
import { mkdirSync, writeFileSync } from 'node:fs'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { createLink, pagePath } from '../areas/pages.js'
import { TEXTS, takePictures } from '../console/pictures.js'
import { connect } from '../helper.js'
import { launchBrowser } from './chromium.js'
import { startSite } from './pages.js'

const FOLDER = 'docs/screenshots'
const WIDE = { width: 1080, height: 660 }
const NARROW = { width: 360, height: 740 }
const closers: (() => Promise<unknown>)[] = []
const lifetime = { teardown: (close: () => Promise<unknown>) => closers.push(close) }

const site = await startSite(lifetime)
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

/** The options of pictures that are not those of a desk in light colours. */
const OPTIONS: Readonly<Record<string, BrowserContextOptions>> = {
  console: { viewport: { width: 1280, height: 1180 } },
  'console-requests': { colorScheme: 'dark' },
  'console-mobile': { viewport: NARROW },
  coverage: { viewport: { width: 1080, height: 1300 } },
}
const desk = { colorScheme: 'light', viewport: { width: 1280, height: 860 } } as const
const texts = await takePictures(app, (name, address) => picture(name, address, { ...desk, ...OPTIONS[name] }))
writeFileSync(TEXTS, texts)

for (const close of closers.reverse()) await close()
