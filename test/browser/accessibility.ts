import { readFileSync } from 'node:fs'
import type axe from 'axe-core'
import type { Page } from 'playwright-core'
import type { Test } from 'tap'

/** Half the size of the source that the module exports. */
const AXE = readFileSync('node_modules/axe-core/axe.min.js', 'utf8')

/** Opens all that is folded on a page. */
export const unfold = (page: Page): Promise<void> =>
  page.evaluate(() => {
    for (const details of document.querySelectorAll('details')) details.open = true
  })

/** Asserts that a page does not scroll sideways at its width. */
export async function assertFits(t: Test, page: Page): Promise<void> {
  const width = page.viewportSize()?.width
  const [title, overflow] = await page.evaluate(async width => {
    // The page may learn of a new width late.
    while (innerWidth !== width) await new Promise(requestAnimationFrame)
    return [document.title, document.documentElement.scrollWidth - innerWidth] as const
  }, width)
  t.ok(overflow <= 0, `${title}, ${width} px: no sideways scrolling`)
}

/** Asserts that axe-core finds nothing on a page, light or dark. */
export async function assertAccessible(t: Test, page: Page): Promise<void> {
  const title = await page.title()
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(AXE)
  // Only the contrast depends on the scheme of colours.
  for (const [colorScheme, options] of [
    ['light', {}],
    ['dark', { runOnly: ['color-contrast'] }],
  ] as const) {
    await page.emulateMedia({ colorScheme })
    const { found, isMeasured } = await page.evaluate(
      async options => {
        const { run } = (globalThis as unknown as { axe: typeof axe }).axe
        // The page returns only what is asserted: the whole result is up to a megabyte.
        const { violations, passes } = await run(options as axe.RunOptions)
        return {
          found: violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)]),
          isMeasured: passes.some(({ id }) => id === 'color-contrast'),
        }
      },
      // One element of each rule is enough of what is right.
      { ...options, resultTypes: ['violations'] },
    )
    t.same(found, [], `${title}, ${colorScheme}`)
    t.ok(isMeasured, 'the contrast is measured')
  }
}
