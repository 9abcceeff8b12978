import { errors } from '../../core/errors.js'
import { CARD } from '../../http/pages/styles.js'

/** The look of a page, as its partner chooses it (decisions §8). */
export interface Theme {
  /** The colour of buttons and marks, six hexadecimal digits. */
  readonly accent?: string
  /** The radius of corners, in pixels. */
  readonly radius?: number
  readonly font?: Font
}

export const COLOR_SCHEMES = ['auto', 'light', 'dark'] as const
export type ColorScheme = (typeof COLOR_SCHEMES)[number]

/** The font families of a theme beside the usual one. Each device has one of them: none is loaded. */
const FAMILIES = {
  humanist: 'Seravek, "Gill Sans Nova", Ubuntu, Calibri, "DejaVu Sans", sans-serif',
  rounded: 'ui-rounded, "Arial Rounded MT Bold", Nunito, Quicksand, sans-serif',
  serif: 'Charter, "Bitstream Charter", "Sitka Text", Cambria, Georgia, serif',
  monospace: 'ui-monospace, "SF Mono", Menlo, Consolas, monospace',
} as const
export type Font = keyof typeof FAMILIES
export const FONTS = Object.keys(FAMILIES) as Font[]

/** The least contrast of a mark and its background (WCAG 2.2, 1.4.11), and that of text (1.4.3). */
const LEAST_CONTRAST = 3
const TEXT_CONTRAST = 4.5

/** Refuses an accent colour that is hard to see in a scheme that the page can have. @throws INVALID_QUERY_PARAMETER */
export function assertTheme({ accent, colorScheme = 'auto' }: Theme & { readonly colorScheme?: ColorScheme }): void {
  if (accent === undefined) return
  for (const scheme of ['light', 'dark'] as const) {
    if (colorScheme !== 'auto' && colorScheme !== scheme) continue
    const contrast = contrastOf(`#${accent}`, CARD[scheme])
    if (contrast < LEAST_CONTRAST) {
      const found = Math.floor(contrast * 100) / 100
      throw errors.invalidQuery(
        'accent',
        `accent #${accent} has a contrast of ${found} to the ${scheme} page. It needs ${LEAST_CONTRAST}, ` +
          'in both schemes unless colorScheme selects one.',
      )
    }
  }
}

/** Returns the style sheet of a theme. It follows that of the pages. */
export function themeStyles({ accent, radius, font }: Theme): string {
  const tokens: string[] = []
  if (accent !== undefined) {
    const [on, shade] = contrastOf(`#${accent}`, '#ffffff') >= TEXT_CONTRAST ? WHITE : BLACK
    tokens.push(
      `--accent: #${accent}`,
      `--on-accent: ${on}`,
      // Away from the colour of the text, so that its contrast grows.
      `--accent-hover: color-mix(in srgb, #${accent} 82%, ${shade})`,
      // Text and focus have a contrast that the accent does not need.
      '--link: var(--text)',
      '--focus: var(--text)',
      '--panel: light-dark(#1b222b, #1f2933)',
      '--panel-muted: #b9c4cf',
      '--panel-line: #3b4754',
    )
  }
  if (radius !== undefined) tokens.push(`--radius: ${radius}px`)
  if (font !== undefined) tokens.push(`--font: ${FAMILIES[font]}`)
  return `:root { ${tokens.join('; ')} }\n`
}

/** The colour of text on an accent, and of its shade. Where white has too little contrast, black has enough. */
const WHITE = ['#ffffff', '#000000'] as const
const BLACK = ['#000000', '#ffffff'] as const

/** Returns the contrast of two colours, from 1 to 21 (WCAG 2.2). */
function contrastOf(one: string, other: string): number {
  const [low = 0, high = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b)
  return (high + 0.05) / (low + 0.05)
}

function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map(at => {
    const value = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4
  })
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
