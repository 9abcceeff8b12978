import axe from 'axe-core'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'

/** Asserts that a page of 320 px width does not scroll sideways, and that axe-core finds nothing, light or dark. */
export async function assertAccessible(t: Test, page: Page): Promise<void> {
  const title = await page.title()
  t.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 320, `${title}: no sideways scrolling`)
  await page.evaluate(axe.source)
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    const { violations, passes } = await page.evaluate(() => (globalThis as unknown as { axe: typeof axe }).axe.run())
    t.same(
      violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]),
      [],
      `${title}, ${colorScheme}`,
    )
    t.ok(
      passes.some(({ id }) => id === 'color-contrast'),
      'the contrast is measured',
    )
  }
}
