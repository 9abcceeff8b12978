import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyPluginCallback, FastifyReply } from 'fastify'
import { errors } from '../../core/errors.js'
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

/**
 * Hands out the program of the console, below `/_sandbox/console`: its page at every address, and its files, whose names have
 * a hash of their content. The guide loads the styles, so the files need no admin token.
 */
export const consoleRoutes: FastifyPluginCallback = (app, _options, done) => {
  const files = new Map(
    readdirSync(FOLDER)
      .filter(name => /\.(js|css|html)$/.test(name))
      .map(name => [name, readFileSync(join(FOLDER, name), 'utf8')]),
  )
  const show = (reply: FastifyReply) =>
    reply
      .headers({
        'content-security-policy': POLICY,
        'referrer-policy': 'same-origin',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      })
      .type('text/html; charset=utf-8')
      .send(fillPage(files.get('index.html') as string, reply.request))

  app.get('', PAGE, (_request, reply) => show(reply))
  app.get('/*', PAGE, (_request, reply) => show(reply))
  app.get<{ Params: { name: string } }>(
    '/assets/:name',
    { ...PAGE, config: { isPage: true, isOpen: true } },
    ({ params: { name } }, reply) => {
      const type = TYPES[name.split('.').at(-1) as string]
      const content = files.get(name)
      if (content === undefined || type === undefined) throw errors.routeNotFound()
      return reply
        .headers({ 'cache-control': 'public, max-age=31536000, immutable', 'x-content-type-options': 'nosniff' })
        .type(`${type}; charset=utf-8`)
        .send(content)
    },
  )
  done()
}
