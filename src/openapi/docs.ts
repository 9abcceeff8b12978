import { readFile } from 'node:fs/promises'
import type { FastifyPluginCallback, FastifyRequest } from 'fastify'
import { errors } from '../core/errors.js'
import { loadOnce } from '../http/load-once.js'
import { preferredType } from '../http/negotiation.js'
import { assetOf } from '../package.js'
import type { Document } from './document.js'
import { toEntry } from './markdown/entry-page.js'
import { toIndex } from './markdown/index-page.js'
import { operationsOf } from './markdown/operations.js'
import { type DocumentsOptions, PUBLIC_PAGE, serveDocument } from './plugin.js'

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

/** Shows both documents. Calls act as the client of the page. */
const SCRIPT = `const base = new URL('..', import.meta.url).href.replace(/\\/$/, '')
const { client } = document.body.dataset
const note = document.getElementById('note')
const [text] = note.childNodes

/** Says at the client of the header whether a call could act as it. */
function say(status, message = '') {
  text.data = status < 400 ? 'Calls act as ' : status === 401 ? 'The server asks for its admin token to act as ' : status === 404 ? 'There is no client yet: ' : message + ' Client: '
}

// Each call gets a new token, so that no token is expired. Where the console needs the admin token, the browser asks for it.
async function onRequestBuilt({ request: { url, headers } }) {
  if (/^Bearer ./.test(headers.get('authorization') ?? '') || url.endsWith('/oauth/token')) return
  try {
    const answer = await fetch(base + '/_sandbox/tokens?client=' + encodeURIComponent(client), { method: 'POST' })
    const { access_token, message } = await answer.json()
    say(answer.status, message)
    if (answer.ok) headers.set('authorization', 'Bearer ' + access_token)
  } catch {
    // The call itself says that the server is away.
  }
}

/** Returns the document of the control plane, whose calls name the client. Examples that replace or remove something use another client. */
async function controlPlane() {
  const document = await (await fetch(base + '/docs/control-plane.json')).json()
  const operations = Object.values(document.paths).flatMap(Object.values)
  const parameters = [...Object.values(document.components.parameters), ...operations.flatMap(({ parameters = [] }) => parameters)]
  for (const parameter of parameters) if (parameter.name === 'client' && parameter.in === 'query') parameter.example ??= client
  return { content: document }
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
  // Some colours are too light for small text. Copy buttons have no name, and the summary within a button has parts that no
  // keyboard reaches. Beside "Required" there is no room for the type of the authentication.
  customCss: '.light-mode { --scalar-color-2: #5c5c5c; --scalar-color-3: #6b6b6b; --scalar-color-blue: #0067a8; --scalar-color-green: #00704a; ' +
    '--scalar-color-orange: #8f4f00; --scalar-color-red: #b3261e } .dark-mode { --scalar-color-3: #9b9b9b; --scalar-color-red: #ff8078 } ' +
    '.scalar-code-copy, .parameter-item-trigger .parameter-item-description-summary, [data-testid=auth-indicator] { display: none !important }',
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
    ...(await controlPlane()),
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

export interface DocsOptions extends DocumentsOptions {
  /** Returns the page of the reference, which the build has written. */
  page(request: FastifyRequest): Promise<string>
}

export const MARKDOWN = 'text/markdown'
export const MARKDOWN_TYPE = `${MARKDOWN}; charset=utf-8`

/**
 * Serves a reference of both documents to browse, `GET /docs`. It works offline: Scalar's bundle comes from this server,
 * and is read on first use. https://github.com/scalar/scalar
 * With `Accept: text/markdown`, it is an index of the operations. `GET /docs/{operationId}` is the entry of one.
 */
export const docs: FastifyPluginCallback<DocsOptions> = (app, options, done) => {
  const { documents } = options
  const bundle = loadOnce(() => readFile(assetOf('scalar.js')))
  app.addHook('onRequest', function addPageHeaders(_request, reply, next) {
    reply.header('x-content-type-options', 'nosniff')
    next()
  })

  const read = async (name: 'service' | 'control', { sandbox }: FastifyRequest): Promise<Document> =>
    JSON.parse(await documents.render(name, 'json', sandbox.publicUrl))

  app.get('/docs', PUBLIC_PAGE, async (request, reply) => {
    reply.header('vary', 'accept')
    if (preferredType(request, ['text/html', MARKDOWN]) === MARKDOWN) {
      reply.type(MARKDOWN_TYPE)
      return toIndex(await read('service', request), await read('control', request))
    }
    reply.type('text/html; charset=utf-8').header('content-security-policy', POLICY)
    return options.page(request)
  })
  app.get<{ Params: { operationId: string } }>('/docs/:operationId', PUBLIC_PAGE, async (request, reply) => {
    const { operationId } = request.params
    for (const name of ['service', 'control'] as const) {
      const document = await read(name, request)
      const operation = operationsOf(document).find(candidate => candidate.operationId === operationId)
      if (operation === undefined) continue
      reply.header('vary', 'accept')
      if (preferredType(request, [MARKDOWN, 'text/html']) !== 'text/html') {
        reply.type(MARKDOWN_TYPE)
        return toEntry(document, operation)
      }
      const { tags, method, path } = operation
      return reply.redirect(referenceTo(name, `${tags[0]}`, method, path))
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
