import { STATUS_CODES } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { renderToString } from 'preact-render-to-string'
import type { ApiError } from '../../core/errors.js'
import { sendError, toApiError } from '../error-handler.js'
import { CONSOLE } from '../home.js'
import { maskText } from '../masking.js'
import { pathOf } from '../url.js'
import { PlainPage } from './document.js'
import { pageHeaders } from './headers.js'
import { prefersHtml } from './prefers-html.js'
import { commonStyles } from './styles.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether the route answers a page to requests that prefer HTML, also if it refuses them. Links may open it. */
    hasPage?: boolean
  }
}

const styles = `${commonStyles}
main { max-width: 40rem; margin: 0 auto; padding: 1rem; }
.sheet { background: var(--card); border-radius: .75rem; box-shadow: var(--shadow); padding: 1.5rem; }
h1 { font-size: 1.5rem; }
.sheet p { margin-top: .75rem; overflow-wrap: anywhere; }
.code { color: var(--muted); font-size: .875rem; }
code { font: .875em/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
`
const HEADERS = pageHeaders(styles)

function RefusalPage({ refusal: { code, field, message, status }, path }: { refusal: ApiError; path: string }) {
  return (
    <PlainPage title={`${STATUS_CODES[status]}`} styles={styles}>
      <div class="sheet">
        <h1>{STATUS_CODES[status]}</h1>
        {/* A message quotes the input, which may hold a token. */}
        <p>{maskText(message)}</p>
        <p class="code">
          {status} <code>{code}</code>
          {field !== null && <code> {maskText(field)}</code>}
        </p>
        {path.startsWith(CONSOLE) && (
          <p>
            {/* Relative, since a proxy may serve the sandbox under a path of its own. */}
            <a href={'../'.repeat(path.split('/').length - 2) + CONSOLE.slice(1)}>Overview of the demo client</a>
          </p>
        )}
      </div>
    </PlainPage>
  )
}

/** Handles the errors of a route with a page: in the envelope, or as a page to a request that prefers HTML. */
export function refuseWithPage(error: unknown, request: FastifyRequest, reply: FastifyReply) {
  const refusal = toApiError(error, request)
  reply.header('vary', 'accept')
  if (!prefersHtml(request)) return sendError(reply, refusal)
  request.sandbox.content = refusal.envelope
  return reply
    .code(refusal.status)
    .headers({ ...refusal.headers, ...HEADERS })
    .type('text/html; charset=utf-8')
    .send(`<!doctype html>${renderToString(<RefusalPage refusal={refusal} path={pathOf(request.url)} />)}`)
}
