import type { IncomingHttpHeaders } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Area } from '../../areas/index.js'
import { areas } from '../../areas/index.js'
import { createGlob } from '../../core/glob.js'
import { firstIndex } from '../../core/records/list.js'
import type { Instant } from '../../core/time/time.js'
import { formatInstant } from '../../core/time/time.js'
import { toNoun } from '../../core/words.js'
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
import type { Eventually } from '../../http/request-context.js'
import { originForm, pathOf } from '../../http/url.js'
import type { Effect } from '../faults/state.js'
import { isCutOff } from '../faults/state.js'

/** A request of the app under test and its answer (control plane, Shapes). Secrets and tokens are masked. */
export interface LoggedExchange {
  readonly seq: number
  /** YYYY-MM-DDThh:mm:ssZ, of the tenant. */
  readonly at: string
  /** The real time, in UTC with milliseconds. */
  readonly receivedAt: string
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string | string[]>>
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** JSON and forms as their value, else a note; null: there was none. */
  readonly body: unknown
  /** A body that is not JSON. */
  readonly text?: string | undefined
  /** Null: a fault cut the connection off. */
  readonly status: number | null
  readonly responseHeaders: Readonly<Record<string, string>>
  readonly responseBody: unknown
  readonly durationMs: number
  readonly faults: readonly {
    readonly id: string
    readonly kind: string
    readonly when?: 'before' | 'after'
    readonly status?: number
    /** A path of a patch that the answer lacks. */
    readonly missing?: string
  }[]
  readonly hints: readonly string[]
  /** The records that it created, read, changed or named. */
  readonly records: readonly NamedRecord[]
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

export interface RequestFilter {
  readonly after?: number | undefined
  readonly method?: string | undefined
  /** `*` matches any run of characters. */
  readonly path?: string | undefined
  /** A status, or a class of them such as `4xx`. */
  readonly status?: number | string | undefined
  readonly before?: number | undefined
  /** Whether the answer was refused or cut off. */
  readonly errors?: boolean | undefined
  /** Whether the answer had hints. */
  readonly hints?: boolean | undefined
  /** Only requests that name a record with this reference. */
  readonly reference?: string | undefined
  /** The most requests: the latest that match. */
  readonly limit?: number | undefined
}

export interface RequestLogBounds {
  /** The most requests of one tenant. */
  readonly entries: number
  /** The most bytes of all tenants together. */
  readonly bytes: number
}

export interface RequestPage {
  /** Another value after each reset. Absent before the first request. */
  readonly life?: unknown
  readonly data: LoggedExchange[]
  readonly last: number
  readonly dropped: number
}

/** The request logs of all tenants, bounded by number for each and by bytes for all. The oldest go first. */
export interface RequestLog {
  /** Whether other servers add to it. */
  readonly isShared: boolean
  /** @param resets the number of resets of the client at the time of the request */
  add(clientId: string, exchange: Exchange, resets: number): void
  /** Lists a tenant's requests in order. `dropped` counts those that made room since its log began. */
  list(clientId: string, filter?: RequestFilter): Eventually<RequestPage>
  /** Empties a tenant's log; its numbers go on. Returns the number of requests removed. */
  clear(clientId: string): Eventually<number>
  /** Starts a tenant's log again from 1. */
  remove(clientId: string): void
}

interface Entry {
  readonly seq: number
  readonly exchange: Exchange
  /** The number of the entry among those of all tenants. */
  readonly order: number
}

interface TenantLog {
  /** In order. */
  entries: Entry[]
  last: number
  dropped: number
}

/** Creates the request logs of one server, in memory. */
export function createRequestLog(bounds: RequestLogBounds): RequestLog {
  const logs = new Map<string, TenantLog>()
  let bytes = 0
  let order = 0

  function logOf(clientId: string): TenantLog {
    const log = logs.get(clientId) ?? { entries: [], last: 0, dropped: 0 }
    logs.set(clientId, log)
    return log
  }

  function dropOldest(log: TenantLog | undefined) {
    const entry = log?.entries.shift()
    if (log === undefined || entry === undefined) return
    bytes -= entry.exchange.bytes
    log.dropped++
  }

  /** Returns the log with the oldest entry of all tenants. */
  function oldestLog(): TenantLog | undefined {
    let oldest: TenantLog | undefined
    const orderOf = ({ entries: [first] }: TenantLog) => first?.order ?? Infinity
    for (const log of logs.values()) if (oldest === undefined || orderOf(log) < orderOf(oldest)) oldest = log
    return oldest
  }

  function clear(clientId: string): number {
    const log = logOf(clientId)
    const { length } = log.entries
    for (const { exchange } of log.entries) bytes -= exchange.bytes
    log.entries = []
    return length
  }

  return {
    isShared: false,
    add(clientId, exchange) {
      const log = logOf(clientId)
      log.last++
      // An entry that exceeds the bound must not push out all others.
      if (exchange.bytes > bounds.bytes || bounds.entries === 0) {
        log.dropped++
        return
      }
      log.entries.push({ seq: log.last, exchange, order: order++ })
      bytes += exchange.bytes
      if (log.entries.length > bounds.entries) dropOldest(log)
      while (bytes > bounds.bytes) dropOldest(oldestLog())
    },
    list(clientId, filter) {
      const log = logs.get(clientId)
      if (log === undefined) return { data: [], last: 0, dropped: 0 }
      const { entries, last, dropped } = log
      const { after = 0, before = Infinity } = filter ?? {}
      const start = firstIndex(entries, ({ seq }) => seq > after)
      const end = firstIndex(entries, ({ seq }) => seq >= before)
      const data = select(entries.slice(start, end), toLogged, filter)
      return { life: log, data, last, dropped }
    },
    clear,
    remove(clientId) {
      clear(clientId)
      logs.delete(clientId)
    },
  }
}

/**
 * Returns the exchanges that match a filter, in the same order. With a limit, they are the latest.
 * @param show returns an entry as an exchange
 */
export function select<E>(
  entries: readonly E[],
  show: (entry: E) => LoggedExchange,
  filter: RequestFilter = {},
): LoggedExchange[] {
  const { after = 0, before = Infinity, method, path, status, errors = false, hints = false } = filter
  const { limit = Infinity, reference } = filter
  const isPath = path === undefined ? undefined : createGlob(path)
  const digits = String(status ?? '').replace(/xx/i, '')
  const found: LoggedExchange[] = []
  // The log can be long, and a reader wants few: the latest ones are shown first, and only as many as it takes.
  for (const entry of [...entries].reverse()) {
    if (found.length === limit) break
    const exchange = show(entry)
    if (exchange.seq <= after || exchange.seq >= before) continue
    if ((method ?? exchange.method) !== exchange.method || !String(exchange.status).startsWith(digits)) continue
    if ((errors && (exchange.status ?? 500) < 400) || (hints && exchange.hints.length === 0)) continue
    if (isPath && !isPath(exchange.path)) continue
    if (reference !== undefined && !exchange.records.some(record => record.reference === reference)) continue
    found.push(exchange)
  }
  return found.reverse()
}

/** Returns an exchange as readers see it. Each member is masked when it is read: most are not. */
export function toLogged({ seq, exchange }: Pick<Entry, 'seq' | 'exchange'>): LoggedExchange {
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
      return isToken ? hints.map(maskHint) : hints
    },
    get records() {
      return recordsOf(this)
    },
  }
}

/** The bytes that an entry takes beside its target and bodies, roughly. */
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

/** A record that a request named. */
export interface NamedRecord {
  /** As in events, such as `payoutLink`. */
  readonly kind: string
  readonly reference: string
}

/** The most records of one request. */
const MOST_NAMED = 20

/** Returns the name of a kind of records in events. Those without states have one of the same form. */
export const recordKindOf = ({ name, lifecycle }: Pick<Area, 'lifecycle'> & { readonly name: string }): string =>
  lifecycle?.kind ?? toNoun(name)

/** The kinds with their names. The first part of a path below the API tells the kind. */
const kinds = Object.entries<Area>(areas).map(([name, area]) => ({ ...area, kind: recordKindOf({ name, ...area }) }))

/**
 * Lists the records that a request created, read or changed, and those that they name. Of a refused one, these are the records
 * that it named. A list names none.
 */
export function recordsOf({
  path,
  status,
  body,
  responseBody,
}: Omit<LoggedExchange, 'records'>): readonly NamedRecord[] {
  const named = new Map<string, NamedRecord>()
  const add = (kind: string, reference: unknown) => {
    if (typeof reference === 'string' && reference !== '') named.set(`${kind} ${reference}`, { kind, reference })
  }
  const [, area, reference] = /^\/api\/v1\/([^/]+)(?:\/([^/]+))?/.exec(path) ?? []
  const own = kinds.find(kind => kind.path === area)
  if (own && reference !== undefined) add(own.kind, decoded(reference))
  const answer = Object((status ?? 0) < 400 ? responseBody : undefined) as Record<string, unknown>
  const isList = Array.isArray(answer.data)
  for (const source of isList ? [] : [answer, Object(body) as Record<string, unknown>]) {
    for (const { kind, reference } of kinds) if (Object.hasOwn(source, reference)) add(kind, source[reference])
  }
  return [...named.values()].slice(0, MOST_NAMED)
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
