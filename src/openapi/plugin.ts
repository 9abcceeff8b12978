import { readFile } from 'node:fs/promises'
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify'
import { errors } from '../core/errors.js'
import { JSON_TYPE } from '../http/error-handler.js'
import { loadOnce } from '../http/load-once.js'
import { preferredType } from '../http/negotiation.js'
import { escapeHtml, fillPage } from '../http/pages/built-page.js'
import { refuseWithPage } from '../http/pages/refusal.js'
import { assetOf } from '../package.js'
import type { Document } from './document.js'
import { operationsOf } from './document.js'
import type { DocumentName, Documents } from './documents.js'
import { toEntry, toIndex } from './markdown.js'
import { POLICY, SCRIPT } from './reference.js'

/** The file of the build (scripts/guide.js). */
interface Guide {
  /** The address of the server in its texts. An answer replaces it by the address that the reader uses. */
  readonly address: string
  /** The pages by their names, each with its source. The index has no name. */
  readonly pages: Readonly<Record<string, { readonly markdown: string; readonly html: string }>>
  /** The page of the reference. */
  readonly reference: string
  readonly skill: string
}

/** No part of the interface that it describes, and open to links from other pages. */
const PUBLIC_PAGE = { schema: { hide: true }, config: { isPublic: true } }

const MARKDOWN = 'text/markdown'
const TYPES = { markdown: `${MARKDOWN}; charset=utf-8`, html: 'text/html; charset=utf-8' }

const GUIDE_HEADERS = {
  'content-security-policy':
    "default-src 'none'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'referrer-policy': 'same-origin',
  'cache-control': 'no-store',
}

/** The documents by their name in the address of the reference. */
const SLUGS = { service: 'payments-service', control: 'control-plane' } as const

/**
 * Serves the document of the service, `GET /openapi.json` and `/openapi.yaml`, a reference of both documents, `GET /docs` (Scalar,
 * https://github.com/scalar/scalar), the guide, `GET /docs/guide` and `/docs/guide/{page}`, and the skill for agents, `GET /docs/skill`.
 *
 * With `Accept: text/markdown`, the reference is an index of the operations, `GET /docs/{operationId}` is the entry of one, and a
 * page of the guide is its source, as it is with `.md` behind its name. The files of the build are read on first use.
 */
export const openapi: FastifyPluginCallback<{ documents: Documents }> = (app, { documents }, done) => {
  const script = loadOnce(() => readFile(assetOf('scalar.js')))
  const load = loadOnce(async (): Promise<Guide> => JSON.parse(await readFile(assetOf('guide.json'), 'utf8')))

  app.setErrorHandler(refuseWithPage)
  app.addHook('onRequest', function addPageHeaders(_request, reply, next) {
    reply.header('x-content-type-options', 'nosniff')
    next()
  })

  for (const [url, name, form, type] of [
    ['/openapi.json', 'service', 'json', JSON_TYPE],
    ['/openapi.yaml', 'service', 'yaml', 'application/yaml'],
    ['/docs/payments-service.json', 'service', 'labelled', JSON_TYPE],
    ['/docs/control-plane.json', 'control', 'labelled', JSON_TYPE],
  ] as const) {
    app.get(url, PUBLIC_PAGE, (request, reply) => {
      reply.type(type)
      return documents.render(name, form, request.sandbox.publicUrl)
    })
  }

  const read = async (name: DocumentName, { sandbox }: FastifyRequest): Promise<Document> =>
    JSON.parse(await documents.render(name, 'json', sandbox.publicUrl))

  app.get('/docs', PUBLIC_PAGE, async (request, reply) => {
    reply.header('vary', 'accept')
    if (preferredType(request, ['text/html', MARKDOWN]) === MARKDOWN) {
      reply.type(TYPES.markdown)
      return toIndex(await read('service', request), await read('control', request))
    }
    reply.type(TYPES.html).header('content-security-policy', POLICY)
    return fillPage((await load()).reference, request)
  })
  app.get<{ Params: { operationId: string } }>('/docs/:operationId', PUBLIC_PAGE, async (request, reply) => {
    for (const name of ['service', 'control'] as const) {
      const document = await read(name, request)
      const operation = operationsOf(document).find(one => one.operationId === request.params.operationId)
      if (operation === undefined) continue
      reply.header('vary', 'accept')
      if (preferredType(request, [MARKDOWN, 'text/html']) === 'text/html') {
        const { tags, method, path } = operation
        return reply.redirect(`../docs#${SLUGS[name]}/tag/${tags[0]}/${method}${path}`)
      }
      reply.type(TYPES.markdown)
      return toEntry(document, operation)
    }
    throw errors.routeNotFound('/docs')
  })
  app.get('/docs/page.js', PUBLIC_PAGE, (_request, reply) => reply.type('text/javascript; charset=utf-8').send(SCRIPT))
  app.get('/docs/scalar.js', PUBLIC_PAGE, async (_request, reply) =>
    reply.type('text/javascript; charset=utf-8').send(await script()),
  )

  async function showGuide(request: FastifyRequest, reply: FastifyReply, name: string) {
    const { pages, address } = await load()
    const page = name.replace(/\.md$/, '')
    const content = Object.hasOwn(pages, page) ? pages[page] : undefined
    if (content === undefined) throw errors.routeNotFound('/docs/guide')
    const { publicUrl } = request.sandbox
    const isSource = name.endsWith('.md') || preferredType(request, ['text/html', MARKDOWN]) === MARKDOWN
    reply.headers({ ...GUIDE_HEADERS, vary: 'accept' }).type(isSource ? TYPES.markdown : TYPES.html)
    // Functions, since a text can hold `$`.
    if (isSource) return content.markdown.replaceAll(address, () => publicUrl)
    const html = content.html.replaceAll(address, () => escapeHtml(publicUrl))
    return fillPage(html, request)
  }
  app.get('/docs/guide', PUBLIC_PAGE, (request, reply) => showGuide(request, reply, ''))
  app.get<{ Params: { page: string } }>('/docs/guide/:page', PUBLIC_PAGE, (request, reply) =>
    showGuide(request, reply, request.params.page),
  )
  app.get('/docs/skill', PUBLIC_PAGE, async (request, reply) => {
    reply.type(TYPES.markdown)
    const { skill, address } = await load()
    return skill.replaceAll(address, () => request.sandbox.publicUrl)
  })
  done()
}
