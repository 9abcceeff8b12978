import axe from 'axe-core'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'

/** Opens all that is folded on a page. */
export const unfold = (page: Page): Promise<void> =>
  page.evaluate(() => {
    for (const details of document.querySelectorAll('details')) details.open = true
  })

/** Asserts that a page does not scroll sideways at its width. */
export async function assertFits(t: Test, page: Page): Promise<void> {
  const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)
  t.ok(overflow <= 0, `${await page.title()}, ${page.viewportSize()?.width} px: no sideways scrolling`)
}

/** Asserts that axe-core finds nothing on a page, light or dark. */
export async function assertAccessible(t: Test, page: Page): Promise<void> {
  const title = await page.title()
  await page.evaluate(axe.source)
  // Only the contrast depends on the scheme of colours.
  for (const [colorScheme, options] of [
    ['light', {}],
    ['dark', { runOnly: ['color-contrast'] }],
  ] as const) {
    await page.emulateMedia({ colorScheme })
    const { violations, passes } = await page.evaluate(
      options => (globalThis as unknown as { axe: typeof axe }).axe.run(options as axe.RunOptions),
      options,
    )
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
