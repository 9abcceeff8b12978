import { readFile } from 'node:fs/promises'
import type { FastifyPluginCallback, FastifyRequest } from 'fastify'
import { errors } from '../core/errors.js'
import { loadOnce } from '../http/load-once.js'
import { API_REFERENCE } from '../package.js'
import { toEntry } from './markdown/entry-page.js'
import { toIndex } from './markdown/index-page.js'
import { operationsOf } from './markdown/operations.js'
import { type DocumentsOptions, PUBLIC_PAGE, serveDocument } from './plugin.js'
import type { Json } from './routes.js'

/** Nothing comes from elsewhere, and nothing goes elsewhere. The reference adds styles to the page. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data: blob:",
  "font-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/** Its addresses are relative: a proxy may serve the sandbox below a path prefix. */
const PAGE = `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>Payments sandbox: reference</title>
    <link rel="icon" href="data:,">
    <style>
      :root { --scalar-custom-header-height: 3rem; }
      body { margin: 0; }
      #bar { position: sticky; top: 0; z-index: 10; box-sizing: border-box; height: 3rem; padding: .75rem 1.25rem; background: #0e2a35;
        overflow-x: auto; white-space: nowrap; }
      #bar { color: #fff; font: 1rem/1.5 system-ui, sans-serif; }
      #bar a { color: #fff; font-weight: 650; margin-right: 1.5rem; }
      #bar :first-child { text-decoration: none; }
    </style>
  </head>
  <body>
    <nav id="bar" aria-label="Console"><a href="_sandbox/console">Payments Sandbox</a> <a href="_sandbox/console/requests">Requests</a>
    <a href="docs/guide">Guide</a> <a href="docs/document.pdf" download>A PDF to upload</a>
    <span id="note" role="status">Calls act as sandbox-client.</span></nav>
    <div id="reference"></div>
    <noscript>The reference needs JavaScript. The documents are <a href="openapi.json">/openapi.json</a> and
    <a href="_sandbox/openapi.json">/_sandbox/openapi.json</a>.</noscript>
    <script src="docs/scalar.js"></script>
    <script type="module" src="docs/page.js"></script>
  </body>
</html>
`

/** Shows both documents. Calls get a token of the demo client, so that they work at once. */
const SCRIPT = `// The links keep the client of the console.
for (const link of document.querySelectorAll('#bar a:not([download])')) link.search = location.search

const base = new URL('..', import.meta.url).href.replace(/\\/$/, '')
// A token request is one of the demo client: it is logged, and faults apply to it. So it is sent with the first call.
let token = ''
const issue = () => fetch(base + '/api/v1/oauth/token', {
  method: 'POST',
  body: new URLSearchParams({
    client_id: 'sandbox-client', client_secret: 'sandbox-secret', grant_type: 'client_credentials',
  }),
}).then(async response => {
  note.textContent = response.ok ? NOTE
    : 'The call had no token: the token request before it was refused with ' + response.status + '. See Requests.'
  return response.ok ? (await response.json()).access_token : ''
}).catch(() => '')

const note = document.getElementById('note')
const NOTE = note.textContent

async function onRequestBuilt({ request: { url, headers } }) {
  if (/^Bearer ./.test(headers.get('authorization') ?? '') || url.endsWith('/oauth/token')) return
  token ||= await issue()
  if (token) headers.set('authorization', 'Bearer ' + token)
}

const shared = {
  servers: [{ url: base, description: 'This sandbox' }],
  // No request leaves the machine.
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
}
Scalar.createApiReference('#reference', [
  {
    ...shared,
    title: 'Payments service',
    slug: 'payments-service',
    url: base + '/docs/payments-service.json',
    default: true,
    authentication: { preferredSecurityScheme: 'bearerAuth', securitySchemes: { bearerAuth: { token: '' } } },
    onRequestBuilt,
  },
  {
    ...shared,
    title: 'Control plane',
    slug: 'control-plane',
    url: base + '/docs/control-plane.json',
    authentication: { preferredSecurityScheme: 'adminToken', securitySchemes: { adminToken: { token: '' } } },
  },
])
`

/** An empty page, as the document of a bill. */
const DOCUMENT = `%PDF-1.4
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 595 842]>>endobj
trailer<</Root 1 0 R>>
%%EOF
`

/** The documents by their name in the address of the reference. */
const SLUGS = { service: 'payments-service', control: 'control-plane' } as const

/**
 * Returns the address of an operation in the reference, relative to a call of the control plane.
 * @param path such as `/api/v1/mandates/{mandateReference}`
 */
export const referenceTo = (name: keyof typeof SLUGS, tag: string, method: string, path: string) =>
  `../docs#${SLUGS[name]}/tag/${tag}/${method}${path}`

export const MARKDOWN = 'text/markdown'
export const MARKDOWN_TYPE = `${MARKDOWN}; charset=utf-8`

/**
 * Serves a reference of both documents to browse, `GET /docs`. It works offline: Scalar's bundle comes from this server,
 * and is read on first use. https://github.com/scalar/scalar
 * With `Accept: text/markdown`, it is an index of the operations. `GET /docs/{operationId}` is the entry of one.
 */
export const docs: FastifyPluginCallback<DocumentsOptions> = (app, options, done) => {
  const { documents, largeReads } = options
  const bundle = loadOnce(() => readFile(API_REFERENCE))
  app.addHook('onRequest', (_request, reply, next) => {
    reply.header('x-content-type-options', 'nosniff')
    next()
  })

  const read = async (name: 'service' | 'control', { sandbox }: FastifyRequest): Promise<Json> =>
    JSON.parse(await documents.render(name, 'json', sandbox.publicUrl))

  const rendered = { ...PUBLIC_PAGE, preHandler: largeReads.preHandler }
  app.get('/docs', rendered, async (request, reply) => {
    reply.header('vary', 'accept')
    if (request.type(['text/html', MARKDOWN]) === MARKDOWN) {
      reply.type(MARKDOWN_TYPE)
      return toIndex(await read('service', request), await read('control', request))
    }
    reply.type('text/html; charset=utf-8').header('content-security-policy', POLICY)
    return PAGE
  })
  app.get<{ Params: { operationId: string } }>('/docs/:operationId', rendered, async (request, reply) => {
    const { operationId } = request.params
    for (const name of ['service', 'control'] as const) {
      const document = await read(name, request)
      const operation = operationsOf(document).find(candidate => candidate.operationId === operationId)
      if (operation === undefined) continue
      reply.header('vary', 'accept')
      if (request.type([MARKDOWN, 'text/html']) !== 'text/html') {
        reply.type(MARKDOWN_TYPE)
        return toEntry(document, operation)
      }
      const { tags, method, path } = operation
      return reply.redirect(referenceTo(name, tags[0] as string, method, path))
    }
    throw errors.routeNotFound('/docs')
  })
  app.get('/docs/page.js', PUBLIC_PAGE, (_request, reply) => reply.type('text/javascript; charset=utf-8').send(SCRIPT))
  app.get('/docs/document.pdf', PUBLIC_PAGE, (_request, reply) => reply.type('application/pdf').send(DOCUMENT))
  app.get('/docs/scalar.js', PUBLIC_PAGE, async (_request, reply) => {
    return reply.type('text/javascript; charset=utf-8').send(await bundle())
  })
  serveDocument(app, options, '/docs/payments-service.json', 'service', 'labelled')
  serveDocument(app, options, '/docs/control-plane.json', 'control', 'labelled')
  done()
}
