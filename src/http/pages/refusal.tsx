import { STATUS_CODES } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { renderToString } from 'preact-render-to-string'
import type { ApiError } from '../../core/errors.js'
import { sendError, toApiError } from '../error-handler.js'
import { maskText } from '../masking.js'
import { CONSOLE } from '../routing.js'
import { rootOf } from '../url.js'
import { readAsset } from './browser-files.js'
import { PlainPage } from './document.js'
import { pageHeaders } from './headers.js'
import { prefersHtml } from './prefers-html.js'

const styles = readAsset('refusal.css')
const HEADERS = pageHeaders(styles)

/** The page of a refusal. */
function RefusalPage({ refusal: { code, field, message, status }, url }: { refusal: ApiError; url: string }) {
  return (
    <PlainPage title={`${STATUS_CODES[status]}`} styles={styles}>
      <div class="sheet">
        <h1>{STATUS_CODES[status]}</h1>
        {/* A message quotes the input, which may hold a token. That of an unknown path is for programs. */}
        <p>{code === 'ROUTE_NOT_FOUND' ? 'There is no page at this address.' : maskText(message)}</p>
        <p class="code-line">
          {status} <code>{code}</code>
          {field !== null && <code> {maskText(field)}</code>}
        </p>
        {url.startsWith(CONSOLE) && (
          <p>
            <a href={rootOf(url) + CONSOLE.slice(1)}>Overview</a>
          </p>
        )}
      </div>
    </PlainPage>
  )
}

/** Answers the errors of routes with pages: in the envelope, or as a page to a request that prefers HTML. */
export function refuseWithPage(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const refusal = toApiError(error, request)
  reply.header('vary', 'accept')
  if (!prefersHtml(request)) return sendError(reply, refusal)
  request.sandbox.content = refusal.envelope
  return reply
    .code(refusal.status)
    .headers({ ...refusal.headers, ...HEADERS })
    .type('text/html; charset=utf-8')
    .send(`<!doctype html>${renderToString(<RefusalPage refusal={refusal} url={request.url} />)}`)
}
