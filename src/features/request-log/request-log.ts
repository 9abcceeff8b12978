import type { FastifyReply, FastifyRequest } from 'fastify'
import { createGlob } from '../../core/rules/glob.js'
import { FORM } from '../../http/form.js'
import { MASK, maskHeaders, maskJsonText, maskPath, maskQuery, maskTokenRequest } from '../../http/masking.js'
import type { Eventually } from '../../http/request-context.js'
import { originForm, pathOf } from '../../http/url.js'
import type { Effect } from '../faults/state.js'
import { isCutOff } from '../faults/state.js'

/** A request of the app under test and its answer (control plane, Shapes). Secrets and tokens are masked. */
export interface LoggedExchange {
  readonly seq: number
  /** YYYY-MM-DDThh:mm:ssZ, of the tenant. */
  readonly at: string
  readonly method: string
  readonly path: string
  readonly query: Readonly<Record<string, string | string[]>>
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  /** JSON and forms as their value, else a note; null: there was none. */
  readonly body: unknown
  /** Null: a fault cut the connection off. */
  readonly status: number | null
  readonly responseHeaders: Readonly<Record<string, string>>
  readonly responseBody: unknown
  readonly durationMs: number
  readonly faults: readonly { readonly id: string; readonly kind: string }[]
  readonly hints: readonly string[]
}

/** An exchange as it is kept: bodies are masked JSON text. */
export interface StoredExchange extends Omit<LoggedExchange, 'body' | 'responseBody'> {
  /** Position among the requests of all tenants. */
  readonly order: number
  readonly body: string | null
  readonly responseBody: string | null
  readonly bytes: number
}

export interface RequestFilter {
  readonly after?: number | undefined
  readonly method?: string | undefined
  /** `*` matches any run of characters. */
  readonly path?: string | undefined
  readonly status?: number | undefined
}

export interface RequestLogBounds {
  /** The most requests of one tenant. */
  readonly entries: number
  /** The most bytes of all tenants together. */
  readonly bytes: number
}

export interface RequestPage {
  readonly data: LoggedExchange[]
  readonly last: number
  readonly dropped: number
}

/** The request logs of all tenants, bounded by number for each and by bytes for all. The oldest go first. */
export interface RequestLog {
  add(clientId: string, exchange: Omit<StoredExchange, 'seq' | 'order'>): void
  /** Lists a tenant's requests in order. `dropped` counts those that made room since its log began. */
  list(clientId: string, filter?: RequestFilter): Eventually<RequestPage>
  /** Empties a tenant's log; its numbers go on. Returns the number of requests removed. */
  clear(clientId: string): Eventually<number>
  /** Starts a tenant's log again from 1. */
  remove(clientId: string): void
  /** Waits until all earlier changes are stored. */
  flush(): Eventually<void>
}

interface TenantLog {
  entries: StoredExchange[]
  last: number
  dropped: number
}

export function createRequestLog(bounds: RequestLogBounds): RequestLog {
  const logs = new Map<string, TenantLog>()
  let bytes = 0
  let requests = 0

  function logOf(clientId: string): TenantLog {
    const log = logs.get(clientId) ?? { entries: [], last: 0, dropped: 0 }
    logs.set(clientId, log)
    return log
  }

  function dropOldest(log: TenantLog) {
    bytes -= log.entries.shift()?.bytes ?? 0
    log.dropped++
  }

  /** Returns the log with the oldest entry of all. */
  function oldestLog(): TenantLog {
    const orderOf = ({ entries: [oldest] }: TenantLog) => oldest?.order ?? Infinity
    return [...logs.values()].reduce((oldest, log) => (orderOf(log) < orderOf(oldest) ? log : oldest))
  }

  function clear(clientId: string): number {
    const log = logOf(clientId)
    const { entries } = log
    for (const entry of entries) bytes -= entry.bytes
    log.entries = []
    return entries.length
  }

  return {
    add(clientId, exchange) {
      const log = logOf(clientId)
      const entry = { ...exchange, seq: ++log.last, order: ++requests }
      // An entry that exceeds the bound must not push out all others.
      if (entry.bytes > bounds.bytes || bounds.entries === 0) {
        log.dropped++
        return
      }
      log.entries.push(entry)
      bytes += entry.bytes
      if (log.entries.length > bounds.entries) dropOldest(log)
      while (bytes > bounds.bytes) dropOldest(oldestLog())
    },
    list(clientId, filter) {
      const { entries = [], last = 0, dropped = 0 } = logs.get(clientId) ?? {}
      return { data: selectExchanges(entries, filter), last, dropped }
    },
    clear,
    remove(clientId) {
      clear(clientId)
      logs.delete(clientId)
    },
    flush() {},
  }
}

/** Returns the exchanges that match a filter. */
export function selectExchanges(
  entries: readonly StoredExchange[],
  { after = 0, method, path, status }: RequestFilter = {},
): LoggedExchange[] {
  const isPath = path === undefined ? () => true : createGlob(path)
  return entries
    .filter(
      entry =>
        entry.seq > after &&
        (method ?? entry.method) === entry.method &&
        (status ?? entry.status) === entry.status &&
        isPath(entry.path),
    )
    .map(toLogged)
}

/** In the order of the documentation. */
function toLogged(entry: StoredExchange): LoggedExchange {
  const { seq, at, method, path, query, headers, body, status, responseHeaders, responseBody, ...rest } = entry
  const { durationMs, faults, hints } = rest
  return {
    seq,
    at,
    method,
    path,
    query,
    headers,
    body: body === null ? null : JSON.parse(body),
    status,
    responseHeaders,
    responseBody: responseBody === null ? null : JSON.parse(responseBody),
    durationMs,
    faults,
    hints,
  }
}

/** The bytes that an entry takes beside its texts, roughly. */
const OVERHEAD = 512

/** Returns an exchange as it is kept, secrets and tokens masked. */
export function exchangeOf(
  request: FastifyRequest,
  reply: FastifyReply,
  payload: unknown,
): Omit<StoredExchange, 'seq' | 'at' | 'order'> {
  const { faults, hints } = request.sandbox
  const { method, headers } = request
  const target = originForm(request.originalUrl)
  const path = pathOf(target)
  const isToken = takesCredentials(request)
  const isCut = faults !== null && isCutOff(faults)
  const body = bodyOf(request)
  const answer = isCut || method === 'HEAD' ? null : answerOf(payload)
  const responseHeaders = isCut ? {} : maskHeaders(reply.getHeaders())
  return {
    method,
    path: maskPath(path),
    query: maskQuery(target.slice(path.length + 1)),
    headers: maskHeaders(headers),
    body,
    status: isCut ? null : reply.statusCode,
    responseHeaders: isToken ? withMaskedHint(responseHeaders) : responseHeaders,
    responseBody: answer,
    durationMs: Math.round((reply.elapsedTime + (faults?.delay ?? 0)) * 10) / 10,
    faults: faults?.fired.map(({ id, effect }) => ({ id, ...withoutTexts(effect) })) ?? [],
    hints: isToken ? hints.map(maskHint) : hints,
    bytes: OVERHEAD + target.length + (body?.length ?? 0) + (answer?.length ?? 0) + rawLength(request.raw.rawHeaders),
  }
}

const rawLength = (rawHeaders: readonly string[]) => rawHeaders.reduce((sum, text) => sum + text.length, 0)

const takesCredentials = ({ sandbox: { route } }: FastifyRequest) => route.config.consumes === FORM

/** A name that is not known may be the rest of a secret that was not encoded. */
const maskHint = (text: string) => text.replace(/unknown (\S+) \S* ignored/g, `unknown $1 ${MASK} ignored`)
const withMaskedHint = (headers: Record<string, string>) =>
  'sandbox-hint' in headers ? { ...headers, 'sandbox-hint': maskHint(headers['sandbox-hint'] as string) } : headers

/** Returns the body as masked JSON text, or a note of a body that cannot be shown. */
function bodyOf({ headers, sandbox }: FastifyRequest): string | null {
  const { bodyText, form, upload } = sandbox
  if (form !== undefined) return JSON.stringify(maskTokenRequest(form))
  if (bodyText !== undefined) {
    return maskJsonText(bodyText) ?? JSON.stringify(`(${Buffer.byteLength(bodyText)} bytes, not JSON)`)
  }
  const hasBody = headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
  if (!hasBody) return null
  const type = headers['content-type']?.split(';')[0]?.trim().toLowerCase() || 'no Content-Type'
  return JSON.stringify(upload === undefined ? `(${type}, not read)` : `(${upload.content.length} bytes of ${type})`)
}

function answerOf(payload: unknown): string | null {
  if (typeof payload !== 'string' || payload === '') return null
  return payload.includes('"access_token"') ? (maskJsonText(payload) ?? null) : payload
}

/** The texts of a fault may be anything. The list of faults shows them. */
function withoutTexts(effect: Effect) {
  const { message, headers, ...rest } = effect as Effect & { message?: string; headers?: object }
  return rest
}
