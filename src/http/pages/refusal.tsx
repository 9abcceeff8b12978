import { STATUS_CODES } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { renderToString } from 'preact-render-to-string'
import type { ApiError } from '../../core/errors.js'
import { sendError, toApiError } from '../error-handler.js'
import { maskText } from '../masking.js'
import { CONSOLE } from '../routing.js'
import { rootOf } from '../url.js'
import { PlainPage } from './document.js'
import { pageHeaders } from './headers.js'
import { prefersHtml } from './prefers-html.js'
import { commonStyles } from './styles.js'

const styles = `${commonStyles}
main { max-width: 40rem; margin: 0 auto; padding: 1rem; }
.sheet { background: var(--card); border-radius: .75rem; box-shadow: var(--shadow); padding: 1.5rem; }
h1 { font-size: 1.5rem; }
.sheet p { margin-top: .75rem; overflow-wrap: anywhere; }
.code-line { color: var(--muted); font-size: .875rem; }
code { font: .875em/1.5 ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
`
const HEADERS = pageHeaders(styles)

/** Returns the title of the page of a refusal. */
export const titleOfRefusal = ({ status }: ApiError): string => `${STATUS_CODES[status]}`

interface RefusalProps {
  readonly refusal: ApiError
  /** The address of the console, and of the page before, which the text links. */
  readonly home?: string | false
  readonly back?: string | undefined
}

/** The text of a refusal. */
export const RefusalText = ({ refusal: { code, field, message, status }, home, back }: RefusalProps) => (
  <>
    {/* A message quotes the input, which may hold a token. That of an unknown path is for programs. */}
    <p>{code === 'ROUTE_NOT_FOUND' ? 'There is no page at this address.' : maskText(message)}</p>
    <p class="code-line">
      {status} <code>{code}</code>
      {field !== null && <code> {maskText(field)}</code>}
    </p>
    {home && (
      <p>
        {back && <a href={back}>Back</a>} <a href={home}>Overview</a>
      </p>
    )}
  </>
)

function RefusalPage({ refusal, url }: { refusal: ApiError; url: string }) {
  return (
    <PlainPage title={titleOfRefusal(refusal)} styles={styles}>
      <div class="sheet">
        <h1>{titleOfRefusal(refusal)}</h1>
        <RefusalText refusal={refusal} home={url.startsWith(CONSOLE) && rootOf(url) + CONSOLE.slice(1)} />
      </div>
    </PlainPage>
  )
}

/** A page with its headers. */
export interface SentPage {
  readonly headers: Readonly<Record<string, string>>
  readonly content: string
}

/**
 * Returns a handler of the errors of routes with pages: in the envelope, or as a page to a request that prefers HTML.
 * @param render returns the page of a refusal; undefined, or a failure to make it: the plain one is sent
 */
export const refuserWith =
  (render: (refusal: ApiError, request: FastifyRequest) => Promise<SentPage | undefined> | undefined) =>
  async (error: unknown, request: FastifyRequest, reply: FastifyReply) => {
    const refusal = toApiError(error, request)
    reply.header('vary', 'accept')
    if (!prefersHtml(request)) return sendError(reply, refusal)
    request.sandbox.content = refusal.envelope
    const plain = () => `<!doctype html>${renderToString(<RefusalPage refusal={refusal} url={request.url} />)}`
    const made = Promise.resolve(render(refusal, request)).catch(() => undefined)
    const page = (await made) ?? { headers: HEADERS, content: plain() }
    return reply
      .code(refusal.status)
      .headers({ ...refusal.headers, ...page.headers })
      .type('text/html; charset=utf-8')
      .send(page.content)
  }

export const refuseWithPage = refuserWith(() => undefined)
