import type { FastifyReply, FastifyRequest } from 'fastify'
import { isSame } from '../../../core/digests.js'
import type { ApiError, ErrorCode } from '../../../core/errors.js'
import type { Ids } from '../../../core/ids.js'
import { formatInstant } from '../../../core/time/time.js'
import { isValid } from '../../../http/compilers.js'
import { sendError } from '../../../http/error-handler.js'
import { preferredType } from '../../../http/negotiation.js'
import { refuseWithPage } from '../../../http/pages/refusal.js'
import { payoutMethods } from '../methods.js'
import type { StoredPayoutLink } from '../schemas.js'
import { Origin } from '../schemas.js'
import type { PayoutLinkStore } from '../store.js'
import type { PageQuery } from './schemas.js'
import type { Refused } from './views/page-of-link.js'
import { renderLinkPage, renderNotice } from './views/page-of-link.js'
import type { NoticeName } from './views/strings.js'

// The answers of the pages of payout links. People get HTML, and programs get JSON.

/** The tenant of a payout link. */
export interface PageTenant {
  readonly clientId: string
  readonly ids: Ids
  readonly payoutLinks: PayoutLinkStore
}

declare module '../../../http/request-context.js' {
  interface RequestContext {
    /** The payout link of a page; undefined until it is found. */
    payoutLink?: StoredPayoutLink
  }
}

const isJson = ({ headers }: FastifyRequest) => headers['content-type']?.startsWith('application/json') === true

const TYPES = ['text/html', 'application/json']

/** Whether the caller sends JSON, or prefers it to HTML. */
export const wantsJson = (request: FastifyRequest) => isJson(request) || preferredType(request, TYPES) === TYPES[1]

/** Returns the token that binds a claim or decline to the page of its link. */
export const pageToken = (ids: Ids, payoutLinkId: string) => ids.sign('payoutLinkPage', payoutLinkId)

/** Returns the proof of the recipient who has claimed or declined a link. The pages use no cookies. */
export const receiptOf = (ids: Ids, payoutLinkId: string) => ids.sign('payoutLinkReceipt', payoutLinkId)

/** Whether a page shows the link. Everyone sees an open link. Only its recipient sees a claimed or declined one. */
export function mayRead({ query }: FastifyRequest, { ids }: PageTenant, { payoutLinkId, status }: StoredPayoutLink) {
  if (status === 'CANCELLED' || status === 'EXPIRED') return false
  const { receipt = '' } = query as PageQuery
  return status === 'ACTIVE' || isSame(receipt, receiptOf(ids, payoutLinkId))
}

/** Returns the address of a page relative to itself. */
export function addressOf({ payoutLinkId }: StoredPayoutLink, query: PageQuery): string {
  const parameters = new URLSearchParams(query)
  return parameters.size === 0 ? payoutLinkId : `${payoutLinkId}?${parameters}`
}

/** Returns the origins of a refusal without a link: any page may show it, so that its developer sees why. */
function embedderOf({ query }: FastifyRequest): string[] {
  const { embedder } = query as PageQuery
  return embedder !== undefined && isValid(Origin, embedder) ? [embedder] : []
}

/** Returns the page of a link. `refused` has the values and problems of a refused form. */
export function pageOf(request: FastifyRequest, tenant: PageTenant, link: StoredPayoutLink, refused?: Refused): string {
  const { payoutLinks, ids } = tenant
  return renderLinkPage({
    sender: payoutLinks.sender(link),
    embedders: payoutLinks.embedders(link),
    here: addressOf(link, request.query as PageQuery),
    isOutside: link.uiMode === 'embedded' && request.headers['sec-fetch-dest'] === 'document',
    region: payoutMethods[link.payoutMethod].region,
    link,
    expectedAt: formatInstant(payoutLinks.paidAt(link)),
    token: pageToken(ids, link.payoutLinkId),
    ...(refused !== undefined && { refused }),
  })
}

/** Answers a refusal: in the envelope to a program, as a page to a person. */
export function refuse(request: FastifyRequest, reply: FastifyReply, refusal: ApiError) {
  // It concerns the operator of the server, and no recipient.
  if (refusal.code === 'FORBIDDEN_HOST') return refuseWithPage(refusal, request, reply)
  const link = request.sandbox.payoutLink
  const embedders = link === undefined ? embedderOf(request) : embeddersOf(request, link)
  reply.headers(headersOf(embedders))
  if (wantsJson(request)) return sendError(reply, refusal)
  const { code, message } = refusal
  request.sandbox.content = refusal.envelope
  const notice = {
    name: noticeOf(refusal, link),
    refusal: { code, message },
    ...(link !== undefined && isOfState(code) && { status: link.status }),
    isEmbedded: embedders.length > 0,
    embedders,
  }
  return reply
    .code(refusal.status)
    .headers(refusal.headers)
    .send(html(reply, renderNotice(notice)))
}

const embeddersOf = ({ sandbox }: FastifyRequest, link: StoredPayoutLink) =>
  (sandbox.tenant as PageTenant).payoutLinks.embedders(link)

/** Whether the state of a link is the reason of a refusal. */
const isOfState = (code: ErrorCode) => code === 'PAYOUT_LINK_CLOSED' || code === 'PAYOUT_LINK_ALREADY_CLAIMED'

function noticeOf({ code, field, status }: ApiError, link: StoredPayoutLink | undefined): NoticeName {
  if (link !== undefined && isOfState(code)) return link.status as Exclude<StoredPayoutLink['status'], 'ACTIVE'>
  if (code === 'ORIGIN_NOT_ALLOWED') return 'embedder'
  if (code === 'UI_MODE_MISMATCH') return 'hosted'
  if (code === 'INVALID_PAGE_TOKEN') return 'token'
  if (status === 404 || field === 'payoutLinkId') return 'unknown'
  return status < 500 ? 'invalid' : 'failure'
}

export function html(reply: FastifyReply, page: string): string {
  reply.type('text/html; charset=utf-8')
  return page
}

/**
 * Returns the headers of every answer of the pages: nothing from another origin, no inline script or style, frames only
 * of the partner. The address of a page is a secret of its recipient, so no other site gets it as a referrer.
 */
export const headersOf = (embedders: readonly string[]) => ({
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; " +
    `form-action 'self'; base-uri 'none'; frame-ancestors ${["'self'", ...embedders].join(' ')}`,
  'referrer-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
  'cache-control': 'no-store',
  vary: 'accept, sec-fetch-dest',
})
