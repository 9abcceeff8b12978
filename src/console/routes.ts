import formbody from '@fastify/formbody'
import fastifyMultipart from '@fastify/multipart'
import { Type } from '@sinclair/typebox'
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify'
import { h } from 'preact'
import { errors } from '../core/errors.js'
import { sendError, toApiError } from '../http/error-handler.js'
import { FORM, parseForm } from '../http/form.js'
import type { BrowserFile } from '../http/pages/browser-files.js'
import { readModules, sendBrowserFile } from '../http/pages/browser-files.js'
import { prefersHtml } from '../http/pages/prefers-html.js'
import { assumed, failures } from '../http/schemas.js'
import { pathOf } from '../http/url.js'
import { DEMO_CLIENT } from '../tenants/registry.js'
import type { CallAnswer, CallFields } from './calls.js'
import { describe, errorOf, isApiCall, readCall, send } from './calls.js'
import { streamChanges } from './changes.js'
import { kinds } from './kinds.js'
import type { ConsoleContext, Page, PageRow, Query, Refused } from './page.js'
import { addressOf, PARAMETERS, proofOf } from './page.js'
import { styles } from './styles.js'
import { CONFIRMATIONS, Confirm, clientView, Load } from './views/client.js'
import { Failures } from './views/failures.js'
import { renderPage, renderRefusal } from './views/layout.js'
import { Overview } from './views/overview.js'
import { OneRecord, titleOf } from './views/record.js'
import { NewRecord, Records } from './views/records.js'
import { REPEAT, requestsView, requestView } from './views/requests.js'

/** The pages, below `/_sandbox/console`, in the order of the navigation. */
const pages: readonly PageRow[] = [
  { url: '', title: () => 'Overview', view: page => h(Overview, { page }) },
  ...kinds.flatMap((kind): PageRow[] => [
    { url: kind.path, title: () => kind.title, view: page => h(Records, { page, kind }) },
    ...(kind.create === undefined
      ? []
      : [
          {
            url: `${kind.path}/new`,
            title: () => `New ${kind.noun}`,
            view: (page: Page) => h(NewRecord, { page, kind }),
          },
        ]),
    { url: `${kind.path}/:reference`, title: page => titleOf(page, kind), view: page => h(OneRecord, { page, kind }) },
  ]),
  { url: '/requests', title: () => 'Requests', view: requestsView },
  { url: '/requests/:seq', title: ({ params }) => `Request ${params.seq}`, view: requestView },
  { url: '/failures', title: () => 'Failures', view: page => h(Failures, { page }) },
  { url: '/client', title: () => 'Client', view: clientView },
  ...(['reset', 'remove'] as const).map(name => ({
    url: `/client/${name}`,
    title: () => CONFIRMATIONS[name].title,
    view: (page: Page) => h(Confirm, { page, name }),
  })),
  { url: '/client/load', title: () => 'Load a state', view: page => h(Load, { page }) },
]

/** Files of the control plane, which takes no session: the console hands them on. */
const downloads: Readonly<Record<string, string>> = {
  '/state.json': '/_sandbox/state',
  '/recording.json': '/_sandbox/recording',
  '/requests.har': '/_sandbox/requests?format=har',
}

const HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; form-action 'self'; " +
    "base-uri 'none'; frame-ancestors 'none'",
  // With `no-referrer`, browsers would send the forms of a page with the origin `null`.
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  vary: 'accept',
}

const Parameter = Type.String({ maxLength: 1000, 'x-expected': 'a text of at most 1000 characters' })
const PageQuery = Type.Object(Object.fromEntries(PARAMETERS.map(name => [name, Type.Optional(assumed(Parameter))])))

/** No part of an interface, and made for people. */
const page = {
  config: { isPage: true, consumes: `${FORM} or multipart/form-data` },
  schema: { hide: true, 'x-fidelity': 'assumed', tags: ['console'], querystring: PageQuery, response: failures },
} as const

export interface ConsoleOptions {
  readonly context: ConsoleContext
  /** The maximum size of a state document in bytes. */
  readonly stateBytes: number
}

/** The console, below `/_sandbox/console`. Every action is a call of the control plane or of the API. */
export const consoleRoutes: FastifyPluginCallback<ConsoleOptions> = (app, { context, stateBytes }, done) => {
  const { registry, turns, documented, adminToken } = context

  app.register(formbody, { parser: parseForm })
  app.register(fastifyMultipart, {
    limits: { fileSize: stateBytes, files: 1, fields: 16, fieldSize: 64 * 1024, parts: 20 },
  })
  app.addHook('onRequest', (request, reply, next) => {
    reply.headers(HEADERS)
    // At this level the parser of uploads logs all headers, with the cookie.
    if (request.log.level === 'trace') request.log.level = 'debug'
    next()
  })
  app.addHook('preValidation', ({ query }, _reply, next) => {
    // A form for a filter sends its empty fields, too.
    const given = query as Record<string, unknown>
    for (const name of Object.keys(given)) if (given[name] === '') delete given[name]
    next()
  })
  app.setErrorHandler((error, request, reply) => {
    const refusal = toApiError(error, request)
    if (!prefersHtml(request)) return sendError(reply, refusal)
    const { status, headers, envelope } = refusal
    return html(reply.code(status).headers(headers), renderRefusal(pathBelow(request), { ...envelope, status }))
  })

  for (const row of pages) {
    app.get(row.url, page, (request, reply) => show(row, request, reply))
    app.post(row.url, page, (request, reply) => act(row, request, reply))
  }
  for (const [url, target] of Object.entries(downloads)) {
    app.get(url, page, async (request, reply) => {
      const answer = await app.inject({
        url: `${target}${target.includes('?') ? '&' : '?'}${new URLSearchParams({ client: clientOf(request) })}`,
        headers: { ...(adminToken !== undefined && { authorization: `Bearer ${adminToken}` }) },
      })
      const name = `${encodeURIComponent(clientOf(request))}-${url.slice(1)}`
      reply.code(answer.statusCode).type(String(answer.headers['content-type']))
      if (answer.statusCode === 200) reply.header('content-disposition', `attachment; filename="${name}"`)
      return answer.rawPayload
    })
  }
  app.get('/changes', page, (request, reply) =>
    turns.take(clientOf(request), {
      isRead: () => true,
      run(realNow) {
        registry.tenant(clientOf(request), realNow)
        const ofRequests = (request.query as Query).of === 'requests'
        streamChanges(clientOf(request), ofRequests, { request, reply }, context)
      },
    }),
  )
  for (const [path, file] of assets()) {
    app.get(`/assets/${path}`, { ...page, config: { isPage: true } }, (_request, reply) => {
      sendBrowserFile(reply, file)
    })
  }
  done()

  /** Renders a page in one turn, so that all of it is of one moment. */
  async function show(row: PageRow, request: FastifyRequest, reply: FastifyReply, refused?: Refused) {
    const clientId = clientOf(request)
    const clients = await turns.clients()
    let title = ''
    let shown: Page | undefined
    const content = await turns.take(clientId, {
      isRead: () => true,
      run(realNow) {
        shown = {
          context,
          tenant: registry.tenant(clientId, realNow),
          realNow,
          clients,
          path: pathBelow(request),
          params: request.params as Record<string, string>,
          query: request.query as Query,
          refused,
          isSignedIn: request.sandbox.isSignedIn === true,
        }
        title = row.title(shown)
        return Promise.resolve(row.view(shown)).then(view => renderPage(shown as Page, title, view))
      },
    })
    return html(reply, content)
  }

  /** Sends the call of a form. A refusal is shown in the form; a success goes on to a page with a notice. */
  async function act(row: PageRow, request: FastifyRequest, reply: FastifyReply) {
    const clientId = clientOf(request)
    const fields = await fieldsOf(request)
    const call = readCall(fields, documented)
    const answer = await send(app, call, isApiCall(call) ? await tokenOf(clientId) : adminToken)
    const error = errorOf(answer)
    if (error !== undefined && fields.form !== REPEAT) {
      reply.code(answer.status ?? 502)
      return show(row, request, reply, { fields, error })
    }
    const notice =
      error === undefined ? describe(answer) : `The answer was ${answer.status ?? 'taken away'}: ${error.message}`
    const path = pathBelow(request)
    const target = fields.next === undefined ? path : fill(fields.next, answer)
    const query = await queryAfter(clientId, notice, answer)
    return reply
      .code(303)
      .header('location', `${addressOf({ path }, `console${target}`)}?${query}`)
      .send('')
  }

  /** Returns an access token of a client. */
  const tokenOf = async (clientId: string): Promise<string> =>
    turns.take(clientId, {
      isRead: () => true,
      run: realNow => registry.tenant(clientId, realNow).tokens.issue().access_token,
    })

  /** Returns the query of the page after an action: the client, its notice, and the events of an advance. */
  async function queryAfter(clientId: string, notice: string, { body }: CallAnswer): Promise<URLSearchParams> {
    const client = registry.has(clientId) ? clientId : DEMO_CLIENT.clientId
    const { transitions = [], omitted = 0 } = body as { transitions?: unknown[]; omitted?: number }
    return turns.take(client, {
      isRead: () => true,
      run(realNow) {
        const tenant = registry.tenant(client, realNow)
        const until = tenant.events.last()
        const after = until - transitions.length - omitted
        const events = after < until ? { after: String(after), until: String(until) } : undefined
        return new URLSearchParams({ client, notice, proof: proofOf(tenant, notice), ...events })
      },
    })
  }
}

const clientOf = ({ query }: FastifyRequest) => (query as Query).client ?? DEMO_CLIENT.clientId

const ROOT = '/_sandbox/console'
/** Returns the path of a page below the console. */
const pathBelow = ({ url }: FastifyRequest) => pathOf(url).slice(ROOT.length)

const html = (reply: FastifyReply, content: string) => reply.type('text/html; charset=utf-8').send(content)

/** Puts members of an answer into a path of the console. Any other text becomes the overview. */
function fill(next: string, { body }: CallAnswer): string {
  const path = next.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(body[name] ?? '')))
  return /^(\/[\w.~%-]+)*$/.test(path) ? path : ''
}

/** Reads the fields of a form. A file becomes the body of the call. */
async function fieldsOf(request: FastifyRequest): Promise<CallFields> {
  if (!request.isMultipart()) return (request.body ?? {}) as CallFields
  const fields: Record<string, string> = Object.create(null)
  try {
    for await (const part of request.parts()) {
      if (part.type === 'file') fields.json = (await part.toBuffer()).toString()
      else fields[part.fieldname] = String(part.value)
    }
  } catch (error) {
    if ((error as { code?: string }).code === 'FST_REQ_FILE_TOO_LARGE')
      throw errors.payloadTooLarge('file', 'SANDBOX_STATE_BYTES')
    throw errors.malformed(null, 'The form is not well-formed multipart/form-data, or has too many parts.')
  }
  if (!fields.json) throw errors.missing('file')
  return fields
}

let loaded: ReadonlyMap<string, BrowserFile> | undefined

/** Returns the files below `/assets`. They are read once for a process. */
function assets(): ReadonlyMap<string, BrowserFile> {
  loaded ??= readModules(['console/browser/console.js', 'console/moments.js']).set('console.css', {
    type: 'text/css; charset=utf-8',
    content: styles,
  })
  return loaded
}
