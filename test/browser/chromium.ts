import { accessSync, constants, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, Page } from 'playwright-core'
import { chromium } from 'playwright-core'

interface Teardown {
  teardown(close: () => Promise<unknown>): void
}

const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome'] as const

/** The path of the browser: the variable CHROMIUM, else the first of its usual names on PATH. Empty or undefined: none. */
export const executablePath = process.env.CHROMIUM ?? NAMES.map(findOnPath).find(path => path !== undefined)

/** The options of a test that needs a browser: `t.test(title, needsChromium, async t => …)`. */
export const needsChromium = {
  skip: !executablePath && 'needs Chromium: install the package chromium-headless-shell, or set CHROMIUM to its path',
}

/**
 * Starts headless Chromium with an empty profile. It closes with the test.
 *
 * The browser reaches only 127.0.0.1 and localhost.
 * @param hosts names that the browser resolves to 127.0.0.1, for pages of other origins and for DNS rebinding
 */
export async function launchBrowser(t: Teardown, { hosts = [] }: { hosts?: readonly string[] } = {}): Promise<Browser> {
  const rules = [
    ...hosts.map(host => `MAP ${host} 127.0.0.1`),
    'MAP * ~NOTFOUND',
    'EXCLUDE 127.0.0.1',
    'EXCLUDE localhost',
  ]
  // Playwright creates the profile, and removes it with the browser.
  const browser = await chromium.launch({
    ...(executablePath && { executablePath }),
    headless: true,
    chromiumSandbox: false,
    timeout: 120_000,
    args: [
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      // A proxy of the environment would resolve the names itself.
      '--no-proxy-server',
      `--host-resolver-rules=${rules.join(', ')}`,
    ],
  })
  t.teardown(() => browser.close())
  return browser
}

/** The address of a script that only browsers run, with the name of its file as the group. */
const BROWSER_SCRIPT = /\/pay\/assets\/(\w+\.js)$/
let reports = 0

/**
 * Adds the scripts that a page runs from now on to the coverage of Node (NODE_V8_COVERAGE). Without it, does nothing.
 *
 * Chromium and Node count in the same form. Frames of other sites, and pages that a test closes, are not counted.
 */
export async function measureCoverage(t: Teardown, page: Page): Promise<void> {
  const folder = process.env.NODE_V8_COVERAGE
  if (folder === undefined) return
  await page.coverage.startJSCoverage({ resetOnNavigation: false })
  t.teardown(async () => {
    if (page.isClosed()) return
    const result = (await page.coverage.stopJSCoverage()).flatMap(({ url, scriptId, functions }) => {
      const path = url.endsWith('/sdk/v1.js') ? 'sdk.js' : BROWSER_SCRIPT.exec(url)?.[1]
      return path === undefined ? [] : { scriptId, url: pathToFileURL(join('dist/assets', path)).href, functions }
    })
    writeFileSync(join(folder, `coverage-${process.pid}-browser-${++reports}.json`), JSON.stringify({ result }))
  })
}

function findOnPath(name: string): string | undefined {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .map(folder => join(folder, name))
    .find(path => {
      try {
        accessSync(path, constants.X_OK)
        return true
      } catch {
        return false
      }
    })
}
