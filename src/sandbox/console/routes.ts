import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify'
import { errors } from '../../core/errors.js'
import { loadOnce } from '../../http/load-once.js'
import { fillPage } from '../../http/pages/built-page.js'
import { refuseWithPage } from '../../http/pages/refusal.js'
import { assetOf } from '../../package.js'

const FOLDER = assetOf('console')

/** Nothing comes from elsewhere. A frame shows the page of a payout link, as its recipient sees it. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; frame-src 'self'; img-src data:; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

const TYPES: Readonly<Record<string, string>> = { js: 'text/javascript', css: 'text/css' }

/** No part of an interface, and made for people: links of other sites may open it. */
const PAGE = { schema: { hide: true }, config: { isPage: true }, errorHandler: refuseWithPage }

/** Loads the files by their names, on first use: all servers of a process share them. */
const load = loadOnce(async (): Promise<ReadonlyMap<string, string>> => {
  const names = (await readdir(FOLDER)).filter(name => /\.(js|css|html)$/.test(name))
  return new Map(
    await Promise.all(names.map(async name => [name, await readFile(join(FOLDER, name), 'utf8')] as const)),
  )
})

/**
 * Hands out the program of the console, below `/_sandbox/console`: its page at every address, and its files, whose names have
 * a hash of their content. The guide loads the styles, so the files need no admin token.
 */
export const consoleRoutes: FastifyPluginCallback = (app, _options, done) => {
  const show = async (request: FastifyRequest, reply: FastifyReply) => {
    const page = (await load()).get('index.html') as string
    return reply
      .headers({
        'content-security-policy': POLICY,
        'referrer-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      })
      .type('text/html; charset=utf-8')
      .send(fillPage(page, request))
  }

  app.get('', PAGE, show)
  app.get('/*', PAGE, show)
  app.get<{ Params: { name: string } }>(
    '/assets/:name',
    { ...PAGE, config: { isPage: true, isOpen: true } },
    async ({ params: { name } }, reply) => {
      const type = TYPES[name.split('.').at(-1) as string]
      const content = (await load()).get(name)
      if (content === undefined || type === undefined) throw errors.routeNotFound()
      return reply
        .headers({ 'cache-control': 'public, max-age=31536000, immutable', 'x-content-type-options': 'nosniff' })
        .type(`${type}; charset=utf-8`)
        .send(content)
    },
  )
  done()
}
