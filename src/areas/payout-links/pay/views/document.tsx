import type { ComponentChildren } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { Head, Ribbon } from '../../../../http/pages/document.js'
import type { PayoutLinkStatus } from '../../lifecycle.js'
import { strings } from './strings.js'

export interface DocumentProps {
  readonly title: string
  /** The state of the link, or undefined if the page does not show it. */
  readonly status?: PayoutLinkStatus
  /** The refusal of the request, for the script in the browser. */
  readonly refusal?: { readonly code: string; readonly message: string }
  /** Whether the state can change by itself, so that the script in the browser has to look. */
  readonly isLive?: boolean
  /** Whether the page is for a frame of a partner. */
  readonly isEmbedded?: boolean
  /** The origins of the partner's pages that the script may talk to; `*` stands for any port. */
  readonly embedders?: readonly string[]
  readonly children: ComponentChildren
}

/** The frame of all pages. Addresses are relative, since a proxy may add a path prefix. */
function Document(props: DocumentProps) {
  const { title, status, refusal, isLive = false, isEmbedded = false, embedders = [], children } = props
  return (
    <html lang="en" class={isEmbedded ? 'embedded' : 'hosted'}>
      <Head title={title}>
        <link rel="stylesheet" href="assets/page.css" />
        <script type="module" src="assets/page.js" />
      </Head>
      <body data-embedders={isEmbedded ? embedders.join(' ') : undefined}>
        <header>
          <Ribbon note={strings.sandboxNote} />
        </header>
        <main
          data-status={status}
          data-code={refusal?.code}
          data-message={refusal?.message}
          data-live={isLive ? '' : undefined}
        >
          {children}
        </main>
        <p id="status" class="visually-hidden" role="status" />
      </body>
    </html>
  )
}

/** Renders a whole page. All values are escaped. */
export const renderPage = (props: DocumentProps): string => `<!doctype html>${renderToString(<Document {...props} />)}`
