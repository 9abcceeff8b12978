import type { ComponentChildren } from 'preact'
import { renderToString } from 'preact-render-to-string'
import type { Language, Strings } from './strings.js'
import { strings } from './strings.js'

export interface DocumentProps {
  readonly language: Language
  readonly title: string
  /** The state that the script in the browser compares and reports, such as `ACTIVE`; of a refusal its code. */
  readonly state: string
  /** Whether the state can change by itself, so that the script in the browser has to look. */
  readonly isLive?: boolean
  /** Whether the page is for a frame of a partner. */
  readonly isEmbedded?: boolean
  /** The origins of the partner's pages that the script may talk to; `*` stands for any port. */
  readonly embedders?: readonly string[]
  /** The content that the script shows where an embedded page is not in a frame. */
  readonly outside?: ComponentChildren
  readonly children: ComponentChildren
}

/** The frame of all pages. Addresses are relative, since a proxy may serve them under a path of its own. */
function Document(props: DocumentProps) {
  const { language, title, state, isLive = false, isEmbedded = false, embedders = [], outside, children } = props
  const { sandbox, sandboxNote, offline } = strings[language]
  return (
    <html lang={language} class={isEmbedded ? 'embedded' : 'hosted'}>
      <head>
        <meta charset="utf-8" />
        <title>{title}</title>
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="assets/page.css" />
        <script type="module" src="assets/areas/payout-links/browser/page.js" />
      </head>
      <body data-embedders={isEmbedded ? embedders.join(' ') : undefined} data-offline={offline}>
        <header>
          <p class="ribbon">
            <strong>{sandbox}</strong> <span>{sandboxNote}</span>
          </p>
        </header>
        <main data-state={state} data-live={isLive ? '' : undefined}>
          {children}
        </main>
        <p id="status" class="hidden" role="status" />
        {outside !== undefined && <template id="outside">{outside}</template>}
      </body>
    </html>
  )
}

/** Renders a whole page. All values are escaped. */
export const renderPage = (props: DocumentProps): string => `<!doctype html>${renderToString(<Document {...props} />)}`

/** Renders a list of facts; those without a value are left out. */
export function Facts({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl>
      {facts.map(
        ([term, value]) =>
          value !== undefined && (
            <div key={term}>
              <dt>{term}</dt>
              <dd>{value}</dd>
            </div>
          ),
      )}
    </dl>
  )
}

export type { Language, Strings }
