import type { ComponentChildren } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { Head, OWN_PAGE, Ribbon } from '../../http/pages/document.js'
import { Choice } from '../../http/pages/parts.js'
import { NO_ANSWER } from '../calls.js'
import { kinds } from '../kinds.js'
import { LINK, noticeOf } from '../notices.js'
import type { Page } from '../page.js'
import { addressOf, href } from '../page.js'

/** The navigation: groups of pages by their paths. One that does not begin with a slash is no page of the console. */
const NAVIGATION: Readonly<Record<string, readonly (readonly [path: string, title: string])[]>> = {
  Start: [['', 'Overview']],
  Records: kinds.map(({ path, title }) => [path, title] as const),
  'Your app': [
    ['/requests', 'Requests'],
    ['/failures', 'Failures'],
    ['/coverage', 'Coverage'],
  ],
  Sandbox: [
    ['/client', 'State and settings'],
    ['../docs', 'Interface'],
    ['../docs/guide', 'Guide'],
  ],
}
const PAGES = Object.values(NAVIGATION).flatMap(links => links.map(([path]) => path))

/** The most clients in the list of the header; the page of the client has all. */
const MOST_CLIENTS = 100

interface ShellProps {
  readonly title: string
  /** Style sheets and scripts. */
  readonly head: ComponentChildren
  /** The end of the header: the client. */
  readonly client: ComponentChildren
  /** Attributes of the body. */
  readonly data?: object
  /** Returns the address of a path of the navigation. */
  address(path: string): string
  isCurrent(path: string): boolean
  readonly children: ComponentChildren
}

/** The frame of all pages of the console and the guide, with the navigation. */
export const Shell = ({ title, head, client, data, address, isCurrent, children }: ShellProps) => (
  <html lang="en" class="console">
    <Head title={`${title} · Payments Sandbox`}>{head}</Head>
    <body {...data}>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header>
        <a class="brand" href={address('')}>
          Payments Sandbox
        </a>
        <Ribbon note={OWN_PAGE} />
        {client}
      </header>
      <nav aria-label="Console">
        <ul>
          {Object.entries(NAVIGATION).map(([group, links], at) => (
            <li key={group}>
              <span id={`group-${at}`}>{group}</span>
              <ul aria-labelledby={`group-${at}`}>
                {links.map(([to, name]) => (
                  <li key={name}>
                    <a href={address(to)} aria-current={isCurrent(to) ? 'page' : undefined}>
                      {name}
                    </a>
                  </li>
                ))}
              </ul>
            </li>
          ))}
        </ul>
      </nav>
      {children}
    </body>
  </html>
)

/** A page of the console. */
function Layout({ page, title, children }: { page: Page; title: string; children: ComponentChildren }) {
  const { tenant, path, refused } = page
  const query = `?${new URLSearchParams({ client: tenant.clientId })}`
  return (
    <Shell
      title={`${title} · ${tenant.clientId}`}
      head={[
        <link key="style" rel="stylesheet" href={addressOf(page, 'console/assets/console.css')} />,
        <script key="script" type="module" src={addressOf(page, 'console/assets/console.js')} />,
      ]}
      client={<ClientChoice page={page} />}
      data={{ 'data-command': addressOf(page, `console/command${query}`) }}
      address={to => (to.startsWith('.') ? addressOf(page, to) + query : href(page, to))}
      isCurrent={to => path === to || (to !== '' && path.startsWith(`${to}/`))}
    >
      <main id="main">
        <h1 tabIndex={-1}>{title}</h1>
        <p id="notice" class={refused ? 'notice refused' : 'notice'} role="status">
          <Notice page={page} />
        </p>
        {children}
      </main>
      <p id="offline" class="offline" role="status" />
    </Shell>
  )
}

/** The notice of an action, with links to its records. A refusal is here, too: its form may be far down, or no more. */
function Notice({ page }: { page: Page }) {
  if (page.refused !== undefined) {
    const { error } = page.refused
    return (
      <>
        {`${error.code}: ${error.message}`}
        {error === NO_ANSWER && <a href={href(page, '/requests')}> Requests</a>}
      </>
    )
  }
  const parts = (noticeOf(page) ?? '').split(new RegExp(LINK, 'g'))
  // Each link has three parts after the text before it: its text, its path, and whether it is of another client.
  return (
    <>
      {parts.map((text, at) => {
        const [path, isOfClient] = parts.slice(at + 1)
        if (at % 4 !== 1) return at % 4 === 0 && text
        return <a href={href(page, path as string, isOfClient ? { client: text } : {})}>{text}</a>
      })}
    </>
  )
}

/** The list of clients. A choice keeps the page. From the page of a record, it leads to the table: records are not shared. */
function ClientChoice({ page }: { page: Page }) {
  const { clients, tenant, path } = page
  const [, top = ''] = path.split('/')
  const shown = [...new Set([tenant.clientId, ...clients.slice(0, MOST_CLIENTS)])].sort()
  return (
    <form
      method="get"
      action={addressOf(page, PAGES.includes(`/${top}`) ? `console/${top}` : 'console')}
      class="choice"
    >
      <Choice id="client" label="Client" options={shown} value={tenant.clientId} />
      <button type="submit" class="small plain">
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
