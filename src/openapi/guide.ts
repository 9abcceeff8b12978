import { readFile } from 'node:fs/promises'
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify'
import { errors } from '../core/errors.js'
import { loadOnce } from '../http/load-once.js'
import { preferredType } from '../http/negotiation.js'
import { escapeHtml, fillPage } from '../http/pages/built-page.js'
import { refuseWithPage } from '../http/pages/refusal.js'
import { assetOf } from '../package.js'
import { docs, MARKDOWN, MARKDOWN_TYPE } from './docs.js'
import { type DocumentsOptions, PUBLIC_PAGE } from './plugin.js'

/** A finished page, and its source. */
interface Content {
  readonly markdown: string
  readonly html: string
}

/** The file of the build (scripts/guide.js). */
interface Guide {
  /** The address of the server in its texts. An answer replaces it by the address that the reader uses. */
  readonly address: string
  /** The pages by their names. The index has none. */
  readonly pages: Readonly<Record<string, Content>>
  /** The page of the reference. */
  readonly reference: string
  readonly skill: string
}

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  vary: 'accept',
}

/**
 * Serves the guide, `GET /docs/guide` and `GET /docs/guide/{page}`, the skill for agents, `GET /docs/skill`, and the
 * reference (`docs`). With `Accept: text/markdown`, or `.md` behind its name, a page is its source. The file of the build is
 * read on first use.
 */
export const guideRoutes: FastifyPluginCallback<DocumentsOptions> = (app, options, done) => {
  const load = loadOnce(async (): Promise<Guide> => JSON.parse(await readFile(assetOf('guide.json'), 'utf8')))

  async function show(request: FastifyRequest, reply: FastifyReply, name: string) {
    const { pages, address } = await load()
    const page = name.replace(/\.md$/, '')
    if (!Object.hasOwn(pages, page)) throw errors.routeNotFound('/docs/guide')
    const { markdown, html } = pages[page] as Content
    const { publicUrl } = request.sandbox
    const isSource = name.endsWith('.md') || preferredType(request, ['text/html', MARKDOWN]) === MARKDOWN
    reply.headers(HEADERS).type(isSource ? MARKDOWN_TYPE : 'text/html; charset=utf-8')
    // A function, since a text can hold `$`.
    if (isSource) return markdown.replaceAll(address, () => publicUrl)
    return fillPage(
      html.replaceAll(address, () => escapeHtml(publicUrl)),
      request,
    )
  }

  app.setErrorHandler(refuseWithPage)
  app.register(docs, { ...options, page: async request => fillPage((await load()).reference, request) })
  app.get('/docs/guide', PUBLIC_PAGE, (request, reply) => show(request, reply, ''))
  app.get<{ Params: { page: string } }>('/docs/guide/:page', PUBLIC_PAGE, (request, reply) =>
    show(request, reply, request.params.page),
  )
  app.get('/docs/skill', PUBLIC_PAGE, async (request, reply) => {
    reply.type(MARKDOWN_TYPE).header('x-content-type-options', 'nosniff')
    const { skill, address } = await load()
    return skill.replaceAll(address, () => request.sandbox.publicUrl)
  })
  done()
}
