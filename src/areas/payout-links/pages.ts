import accepts from '@fastify/accepts'
import formbody from '@fastify/formbody'
import rateLimit from '@fastify/rate-limit'
import type { FastifyPluginCallbackTypebox } from '@fastify/type-provider-typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { isSame } from '../../core/digests.js'
import { errors } from '../../core/errors.js'
import { sendBrowserFile } from '../../http/browser-files.js'
import { toApiError } from '../../http/error-handler.js'
import { FORM } from '../../http/form.js'
import type { Eventually } from '../../http/request-context.js'
import { failures } from '../../http/schemas.js'
import { check } from '../../http/validation.js'
import { loadAssets } from './assets.js'
import type { PageTenant } from './page-answers.js'
import {
  addressOf,
  headersOf,
  isForm,
  mayRead,
  pageOf,
  pageToken,
  receiptOf,
  refuse,
  sendHtml,
  wantsJson,
} from './page-answers.js'
import { faultsOf, parsePageForm, toClaim, valuesOf } from './page-form.js'
import { Claim, PageAction, PageParams, PageQuery, PageState } from './schemas.js'
import { masked } from './store.js'

export interface PageOptions {
  /**
   * Returns the tenant of a link, its clock brought to the present. `clientId` names one of several.
   * @throws PAYOUT_LINK_NOT_FOUND, CLIENT_NOT_FOUND, MISSING_FIELD (client, if several have the link)
   */
  admit(request: FastifyRequest, payoutLinkId: string, clientId: string | undefined): PageTenant
  /** Brings the tenant of a link up to date with a database, if there is one, then calls back. */
  refresh(payoutLinkId: string, clientId: string | undefined, done: (error?: Error) => void): void
  /** Does a claim or decline when it is its turn. Throws, or rejects with, the errors of the action. */
  act(request: FastifyRequest, action: RecordedAction): Eventually<void>
  /** Whether recorded requests are applied again. They were checked before they were recorded. */
  isReplay: boolean
}

/** A claim or decline that is recorded before it is applied. */
export interface RecordedAction {
  /** Checks the action on the present state. Returns its body for the record, with a masked account number. */
  prepare(): object
  /** Applies the action to the tenant of the request. */
  perform(): void
}

/** The schema of a file that browsers load. */
const FILE = { hide: true, 'x-fidelity': 'assumed', tags: ['pages'], response: failures } as const

/** The most claims and declines of a link in a minute. */
const MOST_ACTIONS = 20

/**
 * The pages of payout links, below `/pay`, and the SDK for embedded ones. The service documents that there are such
 * pages (interface, Other endpoints). All else is assumed (decisions §8).
 */
export const payoutLinkPages: FastifyPluginCallbackTypebox<PageOptions> = (app, options, done) => {
  app.register(accepts)
  app.register(formbody, { parser: parsePageForm })
  app.register(rateLimit, { global: false, hook: 'preHandler' })
  app.setErrorHandler((error, request, reply) => refuse(request, reply, toApiError(error, request)))
  // In a scope of its own, since the limits complete the routes that are added after them.
  app.register(routes, options)
  done()
}

const routes: FastifyPluginCallbackTypebox<PageOptions> = (app, { admit, refresh, act, isReplay }, done) => {
  app.addHook('preHandler', ({ params, query }, _reply, next) => {
    const { payoutLinkId } = params as { payoutLinkId?: string }
    if (payoutLinkId === undefined) next()
    else refresh(payoutLinkId, (query as PageQuery).client, next)
  })

  const schema = {
    // The OpenAPI document describes the interface of the service, not pages for people.
    hide: true,
    tags: ['pages'],
    'x-fidelity': 'assumed',
    params: PageParams,
    querystring: PageQuery,
    response: { 200: PageState, ...failures },
  } as const

  app.get(
    '/pay/:payoutLinkId',
    {
      // Other sites link to the page. Its policy names the origins that may frame it.
      config: { isPublic: true },
      schema: {
        ...schema,
        operationId: 'getPayoutLinkPage',
        summary: 'The page of a payout link, or its state for callers that prefer JSON',
      },
    },
    (request, reply) => {
      const { tenant, link } = find(request, reply)
      if (!mayRead(request, tenant, link)) tenant.payoutLinks.assertOpen(link.payoutLinkId)
      if (wantsJson(request)) reply.send(link)
      else sendHtml(reply, pageOf(request, tenant, link))
    },
  )

  app.post(
    '/pay/:payoutLinkId',
    {
      config: {
        consumes: `application/json or ${FORM}`,
        rateLimit: isReplay ? false : LIMIT,
        act: ({ params, body, sandbox }) => {
          perform(sandbox.tenant, (params as { payoutLinkId: string }).payoutLinkId, body as PageAction)
        },
      },
      // Before the limit, so that a refusal is a page of the link.
      preHandler: (request, reply, next) => {
        find(request, reply)
        next()
      },
      schema: {
        ...schema,
        operationId: 'actOnPayoutLinkPage',
        summary: 'Claim or decline a payout link on its page',
        body: PageAction,
      },
    },
    (request, reply) => {
      // The limit is asynchronous, so the tenant may have been replaced. `act` finds the present one.
      const { tenant } = request.sandbox
      const { payoutLinks, ids } = tenant
      const { payoutLinkId } = request.params
      const link = payoutLinks.read(payoutLinkId)
      const { action, token = '', remarks } = request.body
      if (!isReplay && !isSame(token, pageToken(ids, payoutLinkId))) throw errors.invalidPageToken()
      payoutLinks.assertOpen(payoutLinkId)

      let claim: Claim | undefined
      if (action === 'claim') {
        const values = valuesOf(link, request.body)
        const faults = isForm(request) ? faultsOf(link, values) : {}
        if (Object.keys(faults).length > 0) {
          sendHtml(reply.code(400), pageOf(request, tenant, link, { values, faults }))
          return
        }
        claim = toClaim(link, request.body) as Claim
        check(Claim, claim, 'INVALID_FIELD')
      }
      const decline = remarks === undefined ? {} : { remarks }
      const done = act(request, {
        prepare() {
          const { tenant } = find(request, reply)
          tenant.payoutLinks.assertOpen(payoutLinkId)
          if (claim === undefined) return { action, ...decline }
          if (!isReplay) tenant.payoutLinks.assertPayable(payoutLinkId, claim)
          return { action, ...masked(claim) }
        },
        perform: () => perform(request.sandbox.tenant, payoutLinkId, { action, ...(claim ?? decline) }),
      })
      const answer = () => {
        const receipt = receiptOf(ids, payoutLinkId)
        if (wantsJson(request)) reply.send({ ...link, receipt })
        else reply.redirect(addressOf(link, { ...request.query, receipt }), 303)
      }
      if (done === undefined) answer()
      else done.then(answer).catch(error => reply.send(error))
    },
  )

  const { assets, sdk } = loadAssets()
  for (const [path, asset] of assets) {
    app.get(`/pay/assets/${path}`, { schema: FILE }, (_request, reply) => {
      sendBrowserFile(reply, asset)
    })
  }
  app.get('/sdk/v1.js', { config: { isPublic: true }, schema: FILE }, (_request, reply) => {
    // Pages of every origin import it.
    reply.headers({ 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' })
    sendBrowserFile(reply, sdk)
  })
  done()

  /** Finds the link of a page, and lets only the pages of its partner frame it. @throws as `admit` */
  function find(request: FastifyRequest, reply: FastifyReply) {
    const { payoutLinkId } = request.params as { payoutLinkId: string }
    const tenant = admit(request, payoutLinkId, (request.query as PageQuery).client)
    const link = tenant.payoutLinks.read(payoutLinkId)
    request.sandbox.payoutLink = link
    reply.headers(headersOf(tenant.payoutLinks.embedders(link)))
    return { tenant, link }
  }
}

/** Applies a claim or decline. */
function perform({ payoutLinks }: PageTenant, payoutLinkId: string, { action, remarks, ...claim }: PageAction): void {
  if (action === 'claim') payoutLinks.claim(payoutLinkId, claim as Claim, 'api')
  else payoutLinks.decline(payoutLinkId, remarks === undefined ? {} : { remarks }, 'api')
}

const LIMIT = {
  max: MOST_ACTIONS,
  timeWindow: 60_000,
  keyGenerator: ({ params, sandbox }: FastifyRequest) =>
    `${sandbox.tenant.clientId} ${(params as { payoutLinkId: string }).payoutLinkId}`,
  errorResponseBuilder: (_request: FastifyRequest, { ttl }: { ttl: number }) =>
    errors.rateLimited(Math.ceil(ttl / 1000)),
}
