import type { IncomingHttpHeaders } from 'node:http'
import type { Static } from '@sinclair/typebox'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Instant } from '../../core/time/time.js'
import { formatInstant } from '../../core/time/time.js'
import { FORM, FORM_LIMIT } from '../../http/form.js'
import { hintsOf } from '../../http/hints.js'
import {
  MASK,
  maskHeaders,
  maskPath,
  maskQuery,
  maskTokenRequest,
  maskUnparsed,
  parseMasked,
} from '../../http/masking.js'
import { isDecodable, originForm, pathOf } from '../../http/url.js'
import type { Effect } from '../faults/state.js'
import { isCutOff } from '../faults/state.js'
import { kinds } from '../kinds/names.js'
import type { LoggedRequest } from './schemas.js'

/** A request of the app under test and its answer (control plane, Shapes). Secrets and tokens are masked. */
export type LoggedExchange = Readonly<Omit<Static<typeof LoggedRequest>, 'text'>> & {
  readonly text?: string | undefined
}

/**
 * A request and its answer as they came, unmasked. They are masked, parsed and formatted when the log is read or stored in
 * a database: most exchanges are never read.
 */
export interface Exchange {
  /** The time of the tenant. */
  readonly at: Instant
  /** The real time, in milliseconds. */
  readonly receivedAt: number
  readonly method: string
  /** As received. */
  readonly target: string
  readonly headers: IncomingHttpHeaders
  /** The fields of a form, the text of another body, or a note of one that cannot be shown. */
  readonly form: Readonly<Record<string, string>> | undefined
  readonly bodyText: string | undefined
  /** The size of a document that was uploaded, in bytes. */
  readonly uploadLength: number | undefined
  /** Whether it is a token request, which can hold secrets in any place. */
  readonly isToken: boolean
  readonly status: number | null
  readonly responseHeaders: Readonly<Record<string, unknown>>
  /** JSON; empty: there was none. */
  readonly responseText: string
  readonly milliseconds: number
  readonly faults: LoggedExchange['faults']
  readonly hints: readonly string[]
  /** The memory that it takes, roughly. */
  readonly bytes: number
}

/** Returns an exchange as readers see it. Each member is masked when it is read: most are not. */
export function toLogged({ seq, exchange }: { readonly seq: number; readonly exchange: Exchange }): LoggedExchange {
  const { method, isToken, status, responseText, faults, hints } = exchange
  const target = originForm(exchange.target)
  const path = pathOf(target)
  return {
    seq,
    get at() {
      return formatInstant(exchange.at)
    },
    get receivedAt() {
      return new Date(exchange.receivedAt).toISOString()
    },
    method,
    get path() {
      return maskPath(path)
    },
    get query() {
      return maskQuery(target.slice(path.length + 1))
    },
    get headers() {
      return maskHeaders(exchange.headers)
    },
    get body() {
      return bodyOf(exchange)
    },
    get text() {
      return textOf(exchange)
    },
    status,
    get responseHeaders() {
      const headers = maskHeaders(exchange.responseHeaders)
      return isToken ? withMaskedHint(headers) : headers
    },
    get responseBody() {
      return parseMasked(responseText) ?? null
    },
    durationMs: Math.round(exchange.milliseconds * 10) / 10,
    faults,
    get hints() {
      return isToken ? hints.map(maskHint) : [...hints]
    },
    get records() {
      return recordsOf(this)
    },
  }
}

/** The approximate number of bytes that an entry takes without its target and bodies. */
const OVERHEAD = 2048

/** Returns an exchange as it is kept. */
export function exchangeOf(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
  at: Instant,
  realNow: number,
): Exchange {
  const { faults, form, bodyText, route, hints, upload } = request.sandbox
  const { method } = request
  const { headers } = request.raw
  const isCut = faults !== null && isCutOff(faults)
  const { originalUrl: target } = request
  const bodyLength = form === undefined ? (bodyText?.length ?? 0) : Number(headers['content-length'] ?? FORM_LIMIT)
  const responseText = isCut || method === 'HEAD' || typeof payload !== 'string' ? '' : payload
  const responseHeaders = isCut ? {} : reply.getHeaders()
  const fired = (faults?.fired ?? []).map(({ id, effect }) => {
    const isTaker = isCut && effect === faults?.effect && !('when' in effect && effect.when === 'before')
    const lacks = effect === faults?.effect && faults.missing !== undefined
    return {
      id,
      ...withoutTexts(effect),
      ...(isTaker && { status: reply.statusCode }),
      ...(lacks && { missing: faults.missing }),
    }
  })
  return {
    at,
    receivedAt: Math.round(realNow - reply.elapsedTime),
    method,
    target,
    headers,
    form,
    bodyText,
    uploadLength: upload?.content.length,
    isToken: route.config.consumes === FORM,
    status: isCut ? null : reply.statusCode,
    responseHeaders,
    responseText,
    milliseconds: reply.elapsedTime + (faults?.delay ?? 0),
    faults: fired,
    hints: hints.length > 0 ? hintsOf(request) : hints,
    bytes: OVERHEAD + target.length + bodyLength + responseText.length,
  }
}

/** Returns a note of a body that cannot be shown. */
function noteOf({ headers, uploadLength }: Exchange): string | undefined {
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  if (!hasBody) return undefined
  const given = String(headers['content-type'] ?? '').split(';')[0]
  const type = given?.trim().toLowerCase() || 'no Content-Type'
  return uploadLength === undefined ? `(${type}, not read)` : `(${uploadLength} bytes of ${type})`
}

/** Returns the masked body, or a note of one that cannot be shown. */
function bodyOf(exchange: Exchange): unknown {
  const { form, bodyText } = exchange
  if (form !== undefined) return maskTokenRequest(form)
  if (bodyText !== undefined) return parseMasked(bodyText) ?? `(${Buffer.byteLength(bodyText)} bytes, not JSON)`
  return noteOf(exchange) ?? null
}

/** The longest body that is shown without being JSON, in characters. */
const LONGEST_TEXT = 10_000

/** Returns a body that is not JSON, masked, unless it may hold a secret or is too long. */
function textOf({ bodyText, isToken, status }: Exchange): string | undefined {
  // It is refused, so an accepted one need not be parsed again.
  const isRefused = (status ?? 400) >= 400
  if (bodyText === undefined || bodyText.length > LONGEST_TEXT || isToken || !isRefused) return undefined
  return parseMasked(bodyText) === undefined ? maskUnparsed(bodyText) : undefined
}

/** A name that is not known may be the rest of a secret that was not encoded. */
const maskHint = (text: string) => text.replace(/unknown (\S+) \S* ignored/g, `unknown $1 ${MASK} ignored`)
function withMaskedHint(headers: Record<string, string>) {
  const { 'sandbox-hint': hint } = headers
  return hint === undefined ? headers : { ...headers, 'sandbox-hint': maskHint(hint) }
}

/** The texts of a fault may be anything. The list of faults shows them. */
function withoutTexts({
  message,
  headers,
  patch,
  ...rest
}: Effect & { message?: string; headers?: object; patch?: object }) {
  return rest
}

/** The most records of one request. */
const MOST_NAMED = 20

/**
 * Lists the records that a request created, read or changed, and the records that these name. Of a refused one, these are the records
 * that it named. A list names none.
 */
function recordsOf({ path, status, body, responseBody }: LoggedExchange): LoggedExchange['records'] {
  const named = new Map<string, LoggedExchange['records'][number]>()
  const add = (kind: string, reference: unknown) => {
    if (typeof reference === 'string' && reference !== '') named.set(`${kind} ${reference}`, { kind, reference })
  }
  const [, area, reference] = /^\/api\/v1\/([^/]+)(?:\/([^/]+))?/.exec(path) ?? []
  const own = kinds.find(kind => kind.path === area)
  if (own && reference !== undefined) add(own.kind, isDecodable(reference) ? decodeURIComponent(reference) : reference)
  const answer = Object((status ?? 0) < 400 ? responseBody : undefined) as Record<string, unknown>
  const isList = Array.isArray(answer.data)
  for (const source of isList ? [] : [answer, Object(body) as Record<string, unknown>]) {
    for (const { kind, reference } of kinds) if (Object.hasOwn(source, reference)) add(kind, source[reference])
  }
  return [...named.values()].slice(0, MOST_NAMED)
}
