import type { ComponentChildren } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { Head, OWN_PAGE, Ribbon } from '../../http/pages/document.js'
import { kinds } from '../kinds.js'
import type { Page } from '../page.js'
import { addressOf, href, noticeOf } from '../page.js'

/** The navigation: pages of the console by their paths. */
const NAVIGATION: readonly (readonly [path: string, title: string])[] = [
  ['', 'Overview'],
  ...kinds.map(({ path, title }) => [path, title] as const),
  ['/requests', 'Requests'],
  ['/failures', 'Failures'],
  ['/client', 'Client'],
]

/** The most clients in the list of the header; the page of the client has all. */
const MOST_CLIENTS = 100

/** The frame of all pages of the console. */
function Layout({ page, title, children }: { page: Page; title: string; children: ComponentChildren }) {
  const { tenant, path } = page
  const { clientId } = tenant
  const query = `?${new URLSearchParams({ client: clientId })}`
  return (
    <html lang="en" class="console">
      <Head title={`${title} · ${clientId} · Payments Sandbox`}>
        <link rel="stylesheet" href={addressOf(page, 'console/assets/console.css')} />
        <script type="module" src={addressOf(page, 'console/assets/console/browser/console.js')} />
      </Head>
      <body
        data-changes={addressOf(page, `console/changes${query}${path.startsWith('/requests') ? '&of=requests' : ''}`)}
      >
        <a class="skip" href="#main">
          Skip to the content
        </a>
        <header>
          <a class="brand" href={href(page, '')}>
            Payments Sandbox
          </a>
          <Ribbon note={OWN_PAGE} />
          <ClientChoice page={page} />
          {page.isSignedIn && (
            <form method="post" action={addressOf(page, 'sign-out')}>
              <button type="submit" class="small">
                Sign out
              </button>
            </form>
          )}
        </header>
        <nav aria-label="Console">
          <ul>
            {NAVIGATION.map(([to, name]) => (
              <li key={to}>
                <a href={href(page, to)} aria-current={isCurrent(path, to) ? 'page' : undefined}>
                  {name}
                </a>
              </li>
            ))}
            <li class="apart">
              <a href={addressOf(page, `coverage${query}`)}>Coverage</a>
            </li>
            <li>
              <a href={addressOf(page, '../docs')}>Interface</a>
            </li>
          </ul>
        </nav>
        <main id="main">
          <h1 tabIndex={-1}>{title}</h1>
          <p id="notice" class="notice" role="status">
            {noticeOf(page)}
          </p>
          {children}
        </main>
        <p id="offline" class="offline" role="status" />
      </body>
    </html>
  )
}

const isCurrent = (path: string, to: string) => path === to || (to !== '' && path.startsWith(`${to}/`))

/** The list of clients, which keeps the page. A record of one client is none of another, so its table follows. */
function ClientChoice({ page }: { page: Page }) {
  const { clients, tenant, path } = page
  const [, top = ''] = path.split('/')
  const shown = [...new Set([tenant.clientId, ...clients.slice(0, MOST_CLIENTS)])].sort()
  return (
    <form method="get" action={addressOf(page, top === '' ? 'console' : `console/${top}`)} class="choice">
      <label for="client">Client</label>
      <select id="client" name="client">
        {shown.map(id => (
          <option key={id} value={id} selected={id === tenant.clientId}>
            {id}
          </option>
        ))}
      </select>
      <button type="submit" class="small">
        Show
      </button>
    </form>
  )
}

/** Renders a page. All values are escaped. */
export const renderPage = (page: Page, title: string, children: ComponentChildren): string =>
  `<!doctype html>${renderToString(
    <Layout page={page} title={title}>
      {children}
    </Layout>,
  )}`

/** Renders a refusal that has no page, such as that of an unknown record or client. */
export const renderRefusal = (path: string, { status, code, message }: RefusalProps): string =>
  `<!doctype html>${renderToString(
    <html lang="en" class="console">
      <Head title={`${code} · Payments Sandbox`}>
        <link rel="stylesheet" href={addressOf({ path }, 'console/assets/console.css')} />
      </Head>
      <body class="bare">
        <header>
          <Ribbon note={OWN_PAGE} />
        </header>
        <main id="main">
          <h1>{status === 404 ? 'There is no such thing' : 'This did not work'}</h1>
          <p class="error">
            <code>{code}</code> {message}
          </p>
          <p>
            <a href={addressOf({ path }, 'console')}>Overview of sandbox-client</a>
          </p>
        </main>
      </body>
    </html>,
  )}`

interface RefusalProps {
  readonly status: number
  readonly code: string
  readonly message: string
}
