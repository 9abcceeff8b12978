import formbody from '@fastify/formbody'
import type { FastifyPluginCallback, FastifyReply, FastifyRequest } from 'fastify'
import { isSame } from '../../../core/digests.js'
import { errors } from '../../../core/errors.js'
import { check } from '../../../http/compilers.js'
import { toApiError } from '../../../http/error-handler.js'
import { FORM, FORM_LIMIT } from '../../../http/form.js'
import { sendBrowserFile } from '../../../http/pages/browser-files.js'
import { withClient } from '../../../http/request-context.js'
import { failures } from '../../../http/schemas.js'
import type { StoredPayoutLink } from '../schemas.js'
import { Claim } from '../schemas.js'
import type { PageTenant } from './answers.js'
import { addressOf, headersOf, html, mayRead, pageOf, pageToken, receiptOf, refuse, wantsJson } from './answers.js'
import { loadAssets } from './assets.js'
import { parsePageForm, refusedForm, toClaim } from './form.js'
import { PageAction, PageParams, PageQuery, PageState } from './schemas.js'

/** The schema of a file that browsers load. */
const FILE = { hide: true, 'x-fidelity': 'assumed', tags: ['pages'], response: failures } as const

/**
 * The pages of payout links, below `/pay`, and the SDK for embedded ones. The service documents that there are such
 * pages (interface, Other endpoints). All else is assumed (decisions §8).
 */
export const payoutLinkPages: FastifyPluginCallback = (app, _options, done) => {
  app.register(formbody, { parser: parsePageForm })
  app.setErrorHandler((error, request, reply) => refuse(request, reply, toApiError(error, request)))
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
    (request, reply) =>
      withClient(request, tenant => {
        const link = find(request, reply, tenant)
        if (!mayRead(request, tenant, link)) tenant.payoutLinks.assertOpen(link.payoutLinkId)
        return wantsJson(request) ? link : html(reply, pageOf(request, tenant, link))
      }),
  )

  app.post(
    '/pay/:payoutLinkId',
    {
      bodyLimit: FORM_LIMIT,
      config: { consumes: `application/json or ${FORM}` },
      schema: {
        ...schema,
        operationId: 'actOnPayoutLinkPage',
        summary: 'Claim or decline a payout link on its page',
        body: PageAction,
      },
    },
    (request, reply) =>
      withClient(request, tenant => {
        const link = find(request, reply, tenant)
        const { payoutLinks, ids } = tenant
        const { payoutLinkId } = link
        const body = request.body as PageAction
        const { action, token = '', remarks } = body
        if (!isSame(token, pageToken(ids, payoutLinkId))) throw errors.invalidPageToken()
        payoutLinks.assertOpen(payoutLinkId)

        const answer = (changed: StoredPayoutLink) => {
          const receipt = receiptOf(ids, payoutLinkId)
          if (wantsJson(request)) return { ...changed, receipt }
          reply.code(303).header('location', addressOf(link, { ...(request.query as PageQuery), receipt }))
          return ''
        }
        if (action === 'decline') {
          return answer(payoutLinks.decline(payoutLinkId, remarks === undefined ? {} : { remarks }))
        }
        const refused = wantsJson(request) ? undefined : refusedForm(link, body)
        if (refused !== undefined) {
          reply.code(400)
          return html(reply, pageOf(request, tenant, link, refused))
        }
        const claim = toClaim(link, body) as Claim
        check(Claim, claim, 'INVALID_FIELD')
        payoutLinks.assertPayable(payoutLinkId, claim)
        return answer(payoutLinks.claim(payoutLinkId, claim))
      }),
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

  /**
   * Finds the link of a page, and lets only the pages of its partner frame it.
   * @throws PAYOUT_LINK_NOT_FOUND, CLIENT_NOT_FOUND, UI_MODE_MISMATCH, ORIGIN_NOT_ALLOWED
   */
  function find(request: FastifyRequest, reply: FastifyReply, tenant: PageTenant) {
    const { payoutLinkId } = request.params as { payoutLinkId: string }
    const { embedder } = request.query as PageQuery
    const link = tenant.payoutLinks.read(payoutLinkId)
    // The page of a refusal without a link shows nothing of it.
    if (embedder !== undefined) tenant.payoutLinks.assertEmbedder(link, embedder)
    request.sandbox.payoutLink = link
    reply.headers(headersOf(tenant.payoutLinks.embedders(link)))
    return link
  }
}
