import type { ComponentChildren } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { Head, Ribbon } from '../../../http/pages/document.js'
import type { PayoutLinkStatus } from '../lifecycle.js'
import type { PageQuery } from '../schemas.js'
import { ThemeQuery } from '../schemas.js'
import type { Language, Strings } from './strings.js'
import { LANGUAGES, languageNames, strings } from './strings.js'

export interface DocumentProps {
  readonly language: Language
  readonly title: string
  /** The parameters of the address of the page. */
  readonly query: PageQuery
  /** The state of the link; undefined: the page does not show it. */
  readonly status?: PayoutLinkStatus
  /** The refusal of the request, for the script in the browser. */
  readonly refusal?: { readonly code: string; readonly message: string }
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
  const { language, title, query, status, refusal, isLive = false, isEmbedded = false, embedders = [] } = props
  const { outside, children } = props
  const { sandbox, sandboxNote, offline } = strings[language]
  const { colorScheme = 'auto' } = query
  const theme = pick(query, Object.keys(ThemeQuery.properties))
  const classes = [isEmbedded ? 'embedded' : 'hosted', colorScheme].join(' ')
  return (
    <html lang={language} class={classes}>
      <Head title={title} colorScheme={colorScheme === 'auto' ? 'light dark' : colorScheme}>
        <link rel="stylesheet" href="assets/page.css" />
        {theme.size > 0 && <link rel="stylesheet" href={`assets/theme.css?${theme}`} />}
        <script type="module" src="assets/areas/payout-links/browser/page.js" />
      </Head>
      <body data-embedders={isEmbedded ? embedders.join(' ') : undefined} data-offline={offline}>
        <header>
          <Ribbon name={sandbox} note={sandboxNote} />
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
        {outside !== undefined && <template id="outside">{outside}</template>}
        <Languages language={language} query={query} />
      </body>
    </html>
  )
}

/** Offers the page in the other languages. */
function Languages({ language, query }: Pick<DocumentProps, 'language' | 'query'>) {
  return (
    <footer>
      <nav aria-label={strings[language].languages}>
        {LANGUAGES.map(one =>
          one === language ? (
            <span key={one} aria-current="true">
              {languageNames[one]}
            </span>
          ) : (
            <a key={one} lang={one} hreflang={one} href={`?${queryOf({ ...query, locale: one })}`}>
              {languageNames[one]}
            </a>
          ),
        )}
      </nav>
    </footer>
  )
}

/** Returns the query of a page with its parameters. */
export const queryOf = (query: PageQuery): URLSearchParams => pick(query, Object.keys(query))

const pick = (query: PageQuery, names: readonly string[]) =>
  new URLSearchParams(
    names.flatMap(name => {
      const value = query[name as keyof PageQuery]
      return value === undefined ? [] : [[name, String(value)]]
    }),
  )

/** Renders a whole page. All values are escaped. */
export const renderPage = (props: DocumentProps): string => `<!doctype html>${renderToString(<Document {...props} />)}`

export type { Language, Strings }
