import type { Page } from 'playwright-core'
import type { Test } from 'tap'
import t from 'tap'
import { connect } from '../helper.js'
import { assertAccessible, assertFits, unfold } from './accessibility.js'
import { openBrowser } from './browser.js'
import { needsChromium } from './chromium.js'
import { runApp } from './coverage.js'
import { startSite } from './pages.js'

/** A client of SANDBOX_CLIENTS can have any name. */
const LONG = 'a-client-of-a-long-name-without-a-break'.repeat(5)

t.test('console, Pages: the coverage in a browser', needsChromium, async t => {
  const browser = await openBrowser(t)
  const { app, client, url } = await startSite(t, { clients: [{ clientId: LONG, clientSecret: 'secret' }] })
  await runApp(client)

  /** Opens the page of a client on a narrow screen. It fails the test on anything that the policy refuses. */
  async function openCoverage(t: Test, clientId = client.clientId): Promise<Page> {
    const page = await browser.newPage({ viewport: { width: 320, height: 640 } })
    t.teardown(() => page.close())
    page.on('console', message => t.fail(message.text()))
    page.on('dialog', dialog => {
      t.fail('a dialog')
      dialog.dismiss()
    })
    await page.goto(`${url}/_sandbox/console/coverage?client=${encodeURIComponent(clientId)}`)
    // The answers of the app, the conditions of its errors, and the clock: the page asks for each.
    for (const part of ['.codes .hint:not(:empty)', '.clock time'])
      await page.locator(part).first().waitFor({ state: 'attached' })
    return page
  }

  await t.test('it fits 320 px, and axe finds nothing, light or dark', async t => {
    await connect(app, 'new')
    await connect(app, LONG)
    for (const clientId of ['new', LONG, client.clientId]) {
      const page = await openCoverage(t, clientId)
      await unfold(page)
      await assertFits(t, page)
      // axe breaks off on the commands in the sheet of the clock at this width. The tests of the other pages have it.
      await page.locator('.clock details.pop').evaluate(sheet => sheet.removeAttribute('open'))
      // The pages of the others have fewer marks, and otherwise the same parts.
      if (clientId === client.clientId) await assertAccessible(t, page)
    }
  })

  await t.test('the keyboard opens the error codes of an operation, which say how to provoke each', async t => {
    const page = await openCoverage(t)
    const operation = page.getByRole('article').filter({ hasText: 'Create a SEPA mandate' })
    const condition = operation.getByText('The bearer token has expired on the client')
    t.notOk(await condition.isVisible())
    await operation.locator('summary').focus()
    await page.keyboard.press('Enter')
    await condition.waitFor()
    const outline = await operation.locator('summary').evaluate(element => getComputedStyle(element).outlineStyle)
    t.equal(outline, 'solid', 'the focus is visible')
  })

  await t.test('a person chooses another client', async t => {
    await connect(app, 'second')
    const page = await openCoverage(t)
    await page.getByLabel('Client').selectOption('second')
    await page.waitForURL(/console\/coverage\?client=second$/)
  })

  await t.test('a print has the error codes that the screen hides', async t => {
    const page = await openCoverage(t)
    const code = page.getByText('INVALID_CURSOR').first()
    t.notOk(await code.isVisible())
    await page.emulateMedia({ media: 'print' })
    await code.waitFor()
  })
})
