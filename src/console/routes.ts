import formbody from '@fastify/formbody'
import fastifyMultipart from '@fastify/multipart'
import { Type } from '@sinclair/typebox'
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify'
import { h } from 'preact'
import type { ApiError } from '../core/errors.js'
import { errors } from '../core/errors.js'
import { assumed, OneOf } from '../core/schemas.js'
import { toApiError } from '../http/error-handler.js'
import type { SentForm } from '../http/form.js'
import { FORM, FORM_LIMIT, parseForm, readForm } from '../http/form.js'
import { maskText } from '../http/masking.js'
import type { BrowserFile } from '../http/pages/browser-files.js'
import { readScript, sendBrowserFile } from '../http/pages/browser-files.js'
import { prefersHtml } from '../http/pages/prefers-html.js'
import { RefusalText, refuserWith, titleOfRefusal } from '../http/pages/refusal.js'
import { failures } from '../http/schemas.js'
import { pathOf } from '../http/url.js'
import { refuseUnknown } from '../http/validation.js'
import { RequestParams } from '../sandbox/request-log/schemas.js'
import { clientOf } from '../storage/client-lock.js'
import { DEMO_CLIENT } from '../tenants/registry.js'
import type { Tenant } from '../tenants/tenant.js'
import type { CallAnswer, SentRequest } from './calls.js'
import {
  commandOf,
  errorOf,
  isOfApi,
  obstacleOf,
  readCall,
  requestOf,
  routeOf,
  send,
  senderFor,
  sentPath,
} from './calls.js'
import { kinds, pageOf, referenceOf } from './kinds.js'
import { cut, plain, proofOf, sentenceOf, transitionsOf } from './notices.js'
import type { ConsoleContext, Fields, Page, PageRow, Query } from './page.js'
import { addressOf, digits, HttpStatuses, href, PARAMETERS } from './page.js'
import { styles } from './styles.js'
import { CONFIRMATIONS, Confirm, clientView } from './views/client.js'
import { coverageView } from './views/coverage.js'
import { Failures } from './views/failures.js'
import { renderPage } from './views/layout.js'
import { overviewView } from './views/overview.js'
import { OneRecord, titleOf } from './views/record.js'
import { NewRecord, Records } from './views/records.js'
import { ErrorEntry, findRequest, REPEAT, requestsView, requestView } from './views/requests.js'

/** The pages, below `/_sandbox/console`. */
const pages: readonly PageRow[] = [
  { url: '', title: () => 'Overview', view: overviewView },
  ...kinds.flatMap((kind): PageRow[] => {
    const create: PageRow = {
      url: '/new',
      title: () => `New ${kind.noun}`,
      view: page => h(NewRecord, { page, kind }),
      next: created => pageOf(kind, referenceOf(kind, created)) ?? kind.path,
    }
    const rows: PageRow[] = [
      {
        url: '',
        title: () => kind.title,
        view: page => h(Records, { page, kind }),
        filters: ['status', 'search', 'region'],
      },
      ...(kind.create ? [create] : []),
      {
        url: '/:reference',
        title: page => titleOf(page, kind),
        view: page => h(OneRecord, { page, kind }),
        query: { cursor: digits(15) },
      },
    ]
    return rows.map(row => ({ ...row, url: kind.path + row.url }))
  }),
  {
    url: '/requests',
    title: () => 'Requests',
    view: requestsView,
    query: { status: HttpStatuses, cursor: digits(15) },
    filters: ['method', 'path', 'status'],
  },
  {
    url: '/requests/:seq',
    title: ({ params }) => `Request ${params.seq}`,
    view: requestView,
    query: { status: HttpStatuses },
    params: RequestParams,
  },
  { url: '/errors/:code', title: ({ params }) => `Error ${params.code}`, view: page => h(ErrorEntry, { page }) },
  { url: '/failures', title: () => 'Failures', view: page => h(Failures, { page }) },
  {
    url: '/coverage',
    title: ({ query }) => (query.clients === 'all' ? 'Coverage of all clients' : 'Coverage'),
    view: coverageView,
    query: { clients: OneOf('all') },
  },
  { url: '/client', title: () => 'State and settings', view: clientView },
  ...Object.entries(CONFIRMATIONS).map(([name, { title }]) => ({
    url: `/client/${name}`,
    title: () => title,
    view: (page: Page) => h(Confirm, { page, name }),
    next: () => '',
  })),
]

/** Files of the control plane, as downloads. */
const downloads: Fields = {
  '/state.json': '/_sandbox/state?',
  '/requests.har': '/_sandbox/requests?format=har&',
  '/requests/:seq/request.json': '/_sandbox/requests/:seq?',
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

/** Returns the options of a route of the console: no part of an interface, and made for people. */
const optionsOf = ({ query, params }: Partial<PageRow> = {}) => {
  const parameters = Object.entries({ ...PARAMETERS, ...query })
  const querystring = Type.Object(
    Object.fromEntries(parameters.map(([name, schema]) => [name, Type.Optional(assumed(schema))])),
  )
  return {
    bodyLimit: FORM_LIMIT,
    config: { isPage: true, consumes: `${FORM} or multipart/form-data` },
    schema: {
      hide: true,
      'x-fidelity': 'assumed',
      tags: ['console'],
      querystring,
      response: failures,
      ...(params !== undefined && { params }),
    },
  } as const
}

export interface ConsoleOptions {
  readonly context: ConsoleContext
  /** The maximum size of a state document in bytes. */
  readonly stateBytes: number
}

/** The console, below `/_sandbox/console`. Every action is a call of the control plane or of the API. */
export const consoleRoutes: FastifyPluginCallback<ConsoleOptions> = (app, { context, stateBytes }, done) => {
  const { registry, storage, adminToken } = context

  // A form is all that pages send.
  app.removeContentTypeParser('application/json')
  app.register(formbody, { parser: parseForm })
  app.register(fastifyMultipart, {
    limits: { fileSize: stateBytes, files: 1, fields: 16, fieldSize: FORM_LIMIT, parts: 20 },
  })
  /** The requests that came past the checks of the host, the origin and the token. */
  const admitted = new WeakSet<FastifyRequest>()
  app.addHook('onRequest', function admitPage(request, reply, next) {
    admitted.add(request)
    reply.headers(HEADERS)
    next()
  })
  app.addHook('preValidation', function dropEmptyFilters({ query }, _reply, next) {
    // A form for a filter sends its empty fields, too.
    const given = query as Record<string, unknown>
    for (const name of Object.keys(given)) if (given[name] === '') delete given[name]
    next()
  })
  app.setErrorHandler(refuserWith(refusalPage))

  const page = optionsOf()
  for (const row of pages) {
    const page = optionsOf(row)
    app.get(row.url, page, (request, reply) => show(row, request, reply))
    app.post(row.url, page, (request, reply) => act(row, request, reply))
  }
  for (const [url, target] of Object.entries(downloads)) {
    app.get(url, page, async (request, reply) => {
      const client = clientOf(request)
      const headers = { ...(adminToken !== undefined && { authorization: `Bearer ${adminToken}` }) }
      const { seq = '' } = request.params as Fields
      const path = target.replace(':seq', encodeURIComponent(seq)) + new URLSearchParams({ client })
      const answer = await senderFor(app, request, reply)({ url: path, headers, payloadAsStream: true })
      const name = `${encodeURIComponent(client)}-${pathBelow(request).slice(1).replaceAll('/', '-')}`
      reply.code(answer.statusCode).type(String(answer.headers['content-type']))
      if (answer.statusCode === 200) reply.header('content-disposition', `attachment; filename="${name}"`)
      return answer.stream()
    })
  }
  // The command of a form whose fields have changed.
  app.post('/command', page, async (request, reply) => {
    reply.type('text/plain; charset=utf-8')
    const form = await read(request)
    if (form.refusal !== undefined) throw form.refusal
    return commandOf(context, readCall(form, context), clientOf(request), request.sandbox.publicUrl)
  })
  // The page of the reference gets a token for each call: it is no request of the app, and meets no fault.
  app.post('/token', page, request => issueToken(clientOf(request)))
  for (const [path, file] of assets()) {
    app.get(`/assets/${path}`, { ...page, config: { isPage: true } }, (_request, reply) => {
      sendBrowserFile(reply, file)
    })
  }
  // An unknown page has the checks of all others: those of the host, the origin and the token.
  app.get('/*', page, () => {
    throw errors.routeNotFound()
  })
  done()

  function inTurn<T>(clientId: string, read: (tenant: Tenant, realNow: number) => T) {
    return storage.transact(clientId, { isRead: () => true, run: now => read(registry.tenant(clientId, now), now) })
  }

  /** Lists all clients, also those that are not in memory. Rejects with SERVICE_UNAVAILABLE. */
  async function listClients() {
    return storage.clients()
  }

  function issueToken(clientId: string) {
    return inTurn(clientId, ({ tokens }) => tokens.issue())
  }

  /** Renders a page in one transaction, so that all of it is of one moment. */
  async function show(row: PageRow, request: FastifyRequest, reply: FastifyReply, refused?: Page['refused']) {
    const query = request.query as Page['query']
    const content = await render(row, request, {
      refused,
      client: clientOf(request),
      clients: await listClients(),
      query,
    })
    return reply.type('text/html; charset=utf-8').send(content)
  }

  async function render(
    row: Pick<PageRow, 'title' | 'view'>,
    request: FastifyRequest,
    { client, ...given }: Pick<Page, 'refused' | 'clients' | 'query'> & { readonly client: string },
  ) {
    const scenarios = [...(await context.scenarios.load()).values()]
    return inTurn(client, async (tenant, realNow) => {
      const shown: Page = {
        ...{ ...given, context, tenant, realNow, scenarios, path: pathBelow(request) },
        params: request.params as Fields,
        publicUrl: request.sandbox.publicUrl,
      }
      return renderPage(shown, row.title(shown), await row.view(shown))
    })
  }

  /**
   * Renders a refusal as a page of the console, for a request that may see one. A client that is unknown, or whose state
   * cannot be read, is shown as that of the demo.
   */
  async function refusalPage(refusal: ApiError, request: FastifyRequest) {
    // Each link leads back through all segments of the path.
    if (!admitted.has(request) || pathBelow(request).split('/', DEEPEST).length === DEEPEST) return undefined
    const clients = await listClients()
    const named = clients.find(id => id === (request.query as Query).client) ?? DEMO_CLIENT.clientId
    const row = {
      title: () => titleOfRefusal(refusal),
      view: (page: Page) => h(RefusalCard, { refusal, home: href(page, ''), back: backOf(request) }),
    }
    const filtered = pages.find(
      ({ url, filters }) => filters?.includes(String(refusal.field)) && url === pathBelow(request),
    )
    const refused = filtered && { fields: request.query as Fields, error: refusal.envelope }
    const renderFor = (client: string) => render(filtered ?? row, request, { client, clients, query: {}, refused })
    return { headers: HEADERS, content: await renderFor(named).catch(() => renderFor(DEMO_CLIENT.clientId)) }
  }

  function read(request: FastifyRequest) {
    return readForm(request, FORM_LIMIT, `${stateBytes} bytes (SANDBOX_STATE_BYTES)`)
  }

  /** Sends the call of a form. A refusal is shown in the form; a success goes on to a page with a notice. */
  async function act(row: PageRow, request: FastifyRequest, reply: FastifyReply) {
    const clientId = clientOf(request)
    const form = await read(request)
    const { fields, refusal } = form
    const call = fields.form === REPEAT ? undefined : readCall(form, context)
    if (refusal !== undefined && (call === undefined || !prefersHtml(request))) throw refusal
    const sent = call === undefined ? await repeated(request, form) : requestOf(context, call, clientId)
    const token = isOfApi(sent) ? (await issueToken(clientId)).access_token : adminToken
    const answer = refusal ? answerOf(refusal) : await send(senderFor(app, request, reply), sent, token)
    const error = errorOf(answer)
    if (error !== undefined && call !== undefined) {
      reply.code(answer.status ?? 502)
      if (answer.retryAfter !== undefined) reply.header('retry-after', answer.retryAfter)
      return show(row, request, reply, { fields, call, error })
    }
    // The call is done. A part of its answer that cannot be made is left out, and the page says why.
    const orElse =
      <T>(other: T) =>
      (error: unknown) => {
        // Logs an unforeseen one.
        toApiError(error, request)
        return other
      }
    const path = pathBelow(request)
    const logged = () => loggedAs(sent, answer, clientId).catch(orElse(''))
    const target = call ? (row.next?.(answer.body) ?? path) : `/requests${await logged()}`
    // A removed client has no pages.
    const clients = await listClients().catch(orElse([clientId]))
    const client = clients.includes(clientId) ? clientId : DEMO_CLIENT.clientId
    const { kind, region } = request.query as Query
    const kept = Object.entries({ kind, region }).filter(([, value]) => value !== undefined && target === path)
    const withNotice = async () =>
      inTurn(client, tenant => {
        const notice = cut(
          call === undefined
            ? `Sent again with a new token. The answer was ${answer.status ?? 'taken away'}${error ? `: ${plain(error.message)}` : '.'}`
            : sentenceOf(routeOf(context, call.route).schema.operationId ?? '', answer.body, tenant),
        )
        const until = tenant.events.last()
        const after = until - transitionsOf(answer.body)
        const events = after < until ? { after: String(after), until: String(until) } : undefined
        return new URLSearchParams({
          client,
          ...Object.fromEntries(kept),
          notice,
          proof: proofOf(tenant, notice),
          ...events,
        })
      })
    const query = await withNotice().catch(orElse(new URLSearchParams({ client })))
    return reply
      .code(303)
      .header('location', `${addressOf({ path }, `console${target}`)}?${query}`)
      .send('')
  }

  /** Returns the request of a page of the log. @throws INVALID_FIELD (a form with more fields), REQUEST_NOT_FOUND */
  async function repeated(request: FastifyRequest, { fields }: SentForm) {
    for (const name of Object.keys(fields)) if (name !== 'form') refuseUnknown(name, ['form'])
    const exchange = await findRequest(context, clientOf(request), request.params as Fields)
    const reason = obstacleOf(exchange)
    if (reason !== undefined) throw errors.invalid('form', reason)
    return exchange
  }

  /**
   * Returns the path of a request in the log: that of its answer, or without an answer of the latest with its address. It is
   * empty if the log has not kept it.
   */
  async function loggedAs(sent: SentRequest, { id }: CallAnswer, clientId: string) {
    const filter = { method: sent.method, path: sentPath(sent), limit: 100 }
    const { data } = await context.requestLog.list(clientId, filter)
    const found = data.findLast(({ responseHeaders }) => id === undefined || responseHeaders['x-request-id'] === id)
    return found ? `/${found.seq}` : ''
  }
}

/** A message quotes the file, which may hold a token. */
const answerOf = ({ status, envelope, message, headers }: ApiError): CallAnswer => ({
  status,
  body: { ...envelope, message: maskText(message) },
  retryAfter: headers['retry-after'],
})

/** Returns the page of the console that a refused request comes from; undefined: it names none, or the same one. */
const backOf = ({ headers: { referer = '' }, url, sandbox: { publicUrl } }: FastifyRequest) =>
  referer.startsWith(`${publicUrl}/_sandbox/console`) && referer !== publicUrl + url ? referer : undefined

const RefusalCard = (props: { refusal: ApiError; home: string; back: string | undefined }) =>
  h('div', { class: 'card sheet' }, h(RefusalText, props))

/** The number of segments of a path that no page has. */
const DEEPEST = 10
/** Returns the path below the console, whose own two segments can be percent-encoded. */
const pathBelow = ({ url }: FastifyRequest) => pathOf(url).replace(/^\/[^/]*\/[^/]*/, '')

let loaded: ReadonlyMap<string, BrowserFile> | undefined

/** Returns the files below `/assets`. They are read once for a process. */
function assets(): ReadonlyMap<string, BrowserFile> {
  loaded ??= new Map([
    ['console.js', readScript('console.js')],
    ['console.css', { type: 'text/css; charset=utf-8', content: styles }],
  ])
  return loaded
}
