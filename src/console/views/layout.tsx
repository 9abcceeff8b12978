import type { ComponentChildren } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { Head, OWN_PAGE, Ribbon } from '../../http/pages/document.js'
import { Choice } from '../../http/pages/parts.js'
import { kinds } from '../kinds.js'
import { LINK, noticeOf } from '../notices.js'
import type { Page } from '../page.js'
import { addressOf, href } from '../page.js'

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
  const query = `?${new URLSearchParams({ client: tenant.clientId })}`
  const isCurrent = (to: string) => path === to || (to !== '' && path.startsWith(`${to}/`))
  return (
    <html lang="en" class="console">
      <Head title={`${title} · ${tenant.clientId} · Payments Sandbox`}>
        <link rel="stylesheet" href={addressOf(page, 'console/assets/console.css')} />
        <script type="module" src={addressOf(page, 'console/assets/console/browser/console.js')} />
      </Head>
      <body
        data-changes={addressOf(page, `console/changes${query}${path.startsWith('/requests') ? '&of=requests' : ''}`)}
        data-command={addressOf(page, `console/command${query}`)}
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
            {[
              ...NAVIGATION.map(([to, name]) => [href(page, to), name, isCurrent(to)] as const),
              [href(page, '/coverage'), 'Coverage', isCurrent('/coverage')] as const,
              [addressOf(page, '../docs'), 'Interface'] as const,
            ].map(([address, name, isHere]) => (
              <li key={name}>
                <a href={address} aria-current={isHere ? 'page' : undefined}>
                  {name}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <main id="main">
          <h1 tabIndex={-1}>{title}</h1>
          <p id="notice" class="notice" role="status">
            <Notice page={page} />
          </p>
          {children}
        </main>
        <p id="offline" class="offline" role="status" />
      </body>
    </html>
  )
}

/** The notice of an action, with links to its records. A refusal is here, too: its form may be far down, or no more. */
function Notice({ page }: { page: Page }) {
  if (page.refused !== undefined) return <>{`${page.refused.error.code}: ${page.refused.error.message}`}</>
  const parts = (noticeOf(page) ?? '').split(new RegExp(LINK, 'g'))
  // Each link has two parts, its text and its path, after the text before it.
  return (
    <>
      {parts.map((text, at) =>
        at % 3 === 0 ? text : at % 3 === 1 ? <a href={href(page, parts[at + 1] as string)}>{text}</a> : null,
      )}
    </>
  )
}

/** The list of clients, which keeps the page. A record of one client is none of another, so its table follows. */
function ClientChoice({ page }: { page: Page }) {
  const { clients, tenant, path } = page
  const [, top = ''] = path.split('/')
  const shown = [...new Set([tenant.clientId, ...clients.slice(0, MOST_CLIENTS)])].sort()
  return (
    <form method="get" action={addressOf(page, top === '' ? 'console' : `console/${top}`)} class="choice">
      <Choice id="client" label="Client" options={shown} value={tenant.clientId} />
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
