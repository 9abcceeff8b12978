import { readFile } from 'node:fs/promises'
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify'
import type { ComponentChildren } from 'preact'
import { Fragment, h } from 'preact'
import { renderToString } from 'preact-render-to-string'
import { LONGEST_CLIENT_ID } from '../bounds.js'
import { errors } from '../core/errors.js'
import { loadOnce } from '../http/load-once.js'
import { preferredType } from '../http/negotiation.js'
import { pageHeaders } from '../http/pages/headers.js'
import { RefusalText, refuserWith, titleOfRefusal } from '../http/pages/refusal.js'
import { pathOf, rootOf } from '../http/url.js'
import { docs, MARKDOWN, MARKDOWN_TYPE } from '../openapi/docs.js'
import { type DocumentsOptions, PUBLIC_PAGE } from '../openapi/plugin.js'
import { assetOf } from '../package.js'
import { DEMO_CLIENT } from '../tenants/registry.js'
import { styles as consoleStyles, referenceStyles } from './styles.js'
import { Shell } from './views/layout.js'

/** A page in its two forms. */
interface Content {
  readonly markdown: string
  readonly html: string
}

interface GuidePage extends Content {
  /** The name in its address. */
  readonly name: string
  readonly title: string
}

/** The file of the build. */
interface Guide {
  /** The address of the server in its texts, which is that of the reader's request in an answer. */
  readonly address: string
  readonly index: Content
  readonly groups: readonly { readonly title: string; readonly pages: readonly GuidePage[] }[]
  readonly skill: string
}

const styles = `${consoleStyles}
.guide { display: grid; gap: 0 2.5rem; grid-template-columns: minmax(0, 1fr); }
.guide nav { font-size: .9375rem; margin-top: 2rem; }
.guide nav span { display: block; margin-top: 1rem; font-size: .75rem; color: var(--muted); }
.guide nav a { display: block; padding: .1875rem 0; color: inherit; text-decoration: none; }
.guide nav a:hover { text-decoration: underline; }
.guide nav a[aria-current] { color: var(--accent); font-weight: 650; }
article { max-width: 52rem; overflow-wrap: anywhere; }
/* The guide has no script that scrolls. */
body > nav [aria-current] { scroll-initial-target: nearest; scroll-margin-right: .75rem; }
article > * { margin-top: .875rem; }
article h2 { font-size: 1.25rem; margin-top: 2rem; }
article h3 { font-size: 1.0625rem; margin-top: 1.5rem; }
article :is(ul, ol) { padding-left: 1.25rem; }
article ul { list-style: disc; }
article .scroll { margin: .875rem 0 0; padding: 0; }
article .code { max-height: none; margin-top: .875rem; background: var(--card); }
article .code code { font-size: inherit; }
article td:last-child { min-width: 11rem; }
article thead td { border: 0; }
article tr[id] > :first-child { white-space: nowrap; }
article :target { scroll-margin-top: 1rem; }
article tr:target { background: var(--card); outline: 2px solid var(--accent); }
@media (min-width: 64rem) {
  .guide { grid-template-columns: 14rem minmax(0, 1fr); }
  .guide nav { grid-area: 1 / 1; margin: 0; }
}
@media (max-width: 47.99rem) {
  article table:has(tr[id]) thead { display: none; }
  article tr[id] { display: block; padding: .5rem 0; border-top: 1px solid var(--line); }
  article tr[id] > td { display: block; border: 0; padding: 0; }
}
`
const HEADERS = { ...pageHeaders(styles), vary: 'accept' }

type Framed = Record<'title' | 'styles' | 'current', string> & {
  header(client: ComponentChildren): ComponentChildren
  content(address: (to: string) => string): ComponentChildren
}

/**
 * Renders a page in the shell of the console, with the client that its address names. Its addresses are relative: a proxy may
 * serve the sandbox below a path prefix.
 */
function frame({ query, url }: FastifyRequest, { title, styles, current, header, content }: Framed): string {
  const up = rootOf(url)
  // The client that the console shows, for the way back. It is in each link.
  const { client } = query as Record<string, unknown>
  const isId = typeof client === 'string' && client !== '' && client.length <= LONGEST_CLIENT_ID
  const given = isId ? client : undefined
  const name = given ?? DEMO_CLIENT.clientId
  const search = given === undefined ? '' : `?${new URLSearchParams({ client: given })}`
  const address = (to: string) => up + (to.startsWith('../') ? to.slice(3) : `_sandbox/console${to}`) + search
  return `<!doctype html>${renderToString(
    <Shell
      title={title}
      head={<style dangerouslySetInnerHTML={{ __html: styles }} />}
      client={<p class="choice">{header(<a href={address('/client')}>{name}</a>)}</p>}
      data={{ 'data-client': name }}
      address={address}
      isCurrent={to => to === current}
    >
      {content(address)}
    </Shell>,
  )}`
}

/** Returns a text of the guide with the address of its reader, a text that may hold `$`: as a pattern, it could copy the page. */
const readdressed = (text: string, { address }: Guide, readers: string) => text.replaceAll(address, () => readers)

/** Renders a page of the guide. */
const render = ({ groups }: Guide, { name, title, html }: Omit<GuidePage, 'markdown'>, request: FastifyRequest) =>
  frame(request, {
    ...{ title, styles, current: pathOf(request.url).startsWith('/docs/guide') ? '../docs/guide' : '../docs' },
    header: client => ['Client ', client],
    content: address => (
      <main id="main" class="guide">
        <article dangerouslySetInnerHTML={{ __html: html }} />
        <nav aria-label="Guide">
          {groups.map(group => (
            <div key={group.title}>
              <span>{group.title}</span>
              {group.pages.map(page => (
                <a
                  key={page.name}
                  href={address(`../docs/guide/${page.name}`)}
                  aria-current={page.name === name ? 'page' : undefined}
                >
                  {page.title}
                </a>
              ))}
            </div>
          ))}
        </nav>
      </main>
    ),
  })

/** Renders the page of the reference. Its script follows the note. */
const renderReference = (request: FastifyRequest, html: string) =>
  frame(request, {
    ...{ title: 'Interface', styles: referenceStyles, current: '../docs' },
    header: client => [
      <span key="note" id="note" role="status">
        Calls act as {client}.
      </span>,
      <a key="pdf" href="docs/document.pdf" download>
        A PDF to upload
      </a>,
    ],
    content: () => <main id="main" dangerouslySetInnerHTML={{ __html: html }} />,
  })

/**
 * Serves the guide, `GET /docs/guide` and `GET /docs/guide/{page}`, the skill for agents, `GET /docs/skill`, and the
 * reference (`docs`), whose refusals are pages of the guide. With `Accept: text/markdown`, or `.md` behind its name, a page
 * is its source. The file of the build is read on first use.
 */
export const guideRoutes: FastifyPluginCallback<DocumentsOptions> = (app, options, done) => {
  const load = loadOnce(async (): Promise<Guide> => JSON.parse(await readFile(assetOf('guide.json'), 'utf8')))

  async function show(request: FastifyRequest, reply: FastifyReply, name: string) {
    const guide = await load()
    const pages = new Map(guide.groups.flatMap(group => group.pages).map(page => [page.name, page]))
    const page = name === '' ? { ...guide.index, title: 'The guide' } : pages.get(name.replace(/\.md$/, ''))
    if (page === undefined) throw errors.routeNotFound('/docs/guide')
    reply.headers(HEADERS)
    const isSource = name.endsWith('.md') || preferredType(request, ['text/html', MARKDOWN]) === MARKDOWN
    reply.type(isSource ? MARKDOWN_TYPE : 'text/html; charset=utf-8')
    const { publicUrl } = request.sandbox
    if (isSource) return readdressed(page.markdown, guide, publicUrl)
    const html = readdressed(page.html, guide, renderToString(h(Fragment, null, publicUrl)))
    return render(guide, { ...page, name, html }, request)
  }

  app.setErrorHandler(
    refuserWith(async (refusal, request) => {
      const title = titleOfRefusal(refusal)
      const home = `${rootOf(request.url)}_sandbox/console`
      const html = `<h1>${title}</h1>${renderToString(<RefusalText refusal={refusal} home={home} />)}`
      return { headers: HEADERS, content: render(await load(), { name: '-', title, html }, request) }
    }),
  )
  app.register(docs, { ...options, frame: renderReference })
  app.get('/docs/guide', PUBLIC_PAGE, (request, reply) => show(request, reply, ''))
  app.get<{ Params: { page: string } }>('/docs/guide/:page', PUBLIC_PAGE, (request, reply) =>
    show(request, reply, request.params.page),
  )
  app.get('/docs/skill', PUBLIC_PAGE, async (request, reply) => {
    reply.type(MARKDOWN_TYPE).header('x-content-type-options', 'nosniff')
    const guide = await load()
    return readdressed(guide.skill, guide, request.sandbox.publicUrl)
  })
  done()
}
