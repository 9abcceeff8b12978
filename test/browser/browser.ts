import type { Browser } from 'playwright-core'
import type { Test } from 'tap'
import root from 'tap'
import { launchBrowser } from './chromium.js'

/** The names of all tests for pages of other origins and for DNS rebinding. */
const HOSTS = ['shop.example', 'foreign.example', 'pay.example', 'rebound.example', 'sandbox.example']

let browser: Promise<Browser> | undefined

/**
 * Returns the browser of all tests of the process. It reaches only this machine, also by the names of `HOSTS`.
 *
 * Each `newPage()` has a context of its own, which shares nothing with others. All close with the test.
 */
export async function openBrowser(t: Test): Promise<Browser> {
  browser ??= launchBrowser(root, { hosts: HOSTS })
  const opened = await browser
  t.teardown(() => Promise.all(opened.contexts().map(context => context.close())))
  return opened
}
