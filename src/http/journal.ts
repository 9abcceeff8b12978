import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Effect, Fault, Met } from '../core/faults.js'
import { createGlob } from '../core/glob.js'
import type { Instant } from '../core/time.js'
import { formatInstant } from '../core/time.js'
import { isContent } from './answer-cache.js'
import type { Fields } from './forms.js'
import { FORM } from './forms.js'
import {
  isSuspicious,
  maskCredentials,
  maskFields,
  maskHeader,
  maskJson,
  maskJsonCredentials,
  maskText,
  parseJson,
} from './masking.js'
import { isDecodable, pathOf } from './routing.js'
import { hasBody, mediaTypeOf, textOf } from './validation.js'

/** A request of the app under test and what it got, as it is kept. */
export interface Exchange {
  /** The tenant's time when it was answered. */
  readonly at: Instant
  readonly method: string
  /** Path and query. */
  readonly target: string
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[]
  readonly body: SentBody | null
  /** Whether the operation takes credentials: of its body, nothing is shown but what surely is no secret. */
  readonly takesCredentials: boolean
  /** Null: the connection was cut off without an answer. */
  readonly status: number | null
  readonly responseHeaders: Readonly<Record<string, unknown>>
  readonly responseBody: string | Buffer | null
  readonly durationMs: number
  readonly faults: readonly Fault[]
  readonly hints: readonly string[]
}

/** A body that was sent: what can be shown, or a note of what else it was. */
export interface SentBody {
  readonly kind: 'json' | 'form' | 'note'
  readonly text: string
}

/** A request as the control plane shows it (control plane, Shapes); secrets and tokens are masked. */
export interface LoggedRequest {
  readonly seq: number
  /** YYYY-MM-DDThh:mm:ssZ, of the tenant. */
  readonly at: string
  readonly method: string
  readonly path: string
  /** A text where it could not be read as parameters. */
  readonly query: Fields | string
  readonly headers: Readonly<Record<string, string>>
  /** JSON and forms as their value, what is malformed as it came, else a note of what it was; null: there was none. */
  readonly body: unknown
  readonly status: number | null
  readonly responseHeaders: Readonly<Record<string, string>>
  readonly responseBody: unknown
  readonly durationMs: number
  readonly faults: readonly { readonly id: string; readonly kind: string }[]
  readonly hints: readonly string[]
}

export interface JournalFilter {
  readonly after?: number | undefined
  readonly method?: string | undefined
  /** `*` stands for any run of characters. */
  readonly path?: string | undefined
  readonly status?: number | undefined
}

/** The request log of all tenants, bounded by number for each and by bytes for all: the oldest go first. */
export interface Journal {
  add(clientId: string, exchange: Exchange): void
  /** What is still kept of a tenant, in order. `dropped` tells how many made room since its log began. */
  of(clientId: string, filter?: JournalFilter): { data: LoggedRequest[]; last: number; dropped: number }
  /** Empties a tenant's log; the numbers go on. Answers how many there were. */
  clear(clientId: string): number
  /** Begins a tenant's log anew. */
  forget(clientId: string): void
}

export interface JournalOptions {
  /** The most requests of one tenant. */
  readonly entries: number
  /** The most bytes of all tenants together. */
  readonly bytes: number
}

/**
 * An entry, in the queue of its log and in that of all logs. Header fields are one text, and what is empty is null: a
 * thousand entries at a time outlive the young generation of the heap, and what they hold is copied on the way.
 */
interface Entry extends Omit<Exchange, 'rawHeaders' | 'faults' | 'hints'> {
  readonly seq: number
  readonly headers: string
  readonly faults: readonly Fault[] | null
  readonly hints: readonly string[] | null
  bytes: number
  readonly log: Log
  /** The next one of its log. */
  next: Entry | undefined
  /** Its neighbours in age, over all logs. */
  older: Entry | undefined
  newer: Entry | undefined
}

interface Log {
  /** The header fields that came last, and their text: most clients send the same ones again, which are kept once. */
  rawHeaders: readonly string[]
  headers: string
  oldest: Entry | undefined
  newest: Entry | undefined
  size: number
  last: number
  dropped: number
}

/** What an entry takes beside its texts, and a fault that it met, roughly. */
const OVERHEAD = 512
const FAULT_OVERHEAD = 32

export function createJournal({ entries: mostEntries, bytes: mostBytes }: JournalOptions): Journal {
  const logs = new Map<string, Log>()
  // In order of age, over all tenants: the oldest of all is also the oldest of its own. Linked, since every request adds
  // an entry and mostly drops one, which a Set takes ten times as long for.
  let oldest: Entry | undefined
  let newest: Entry | undefined
  let bytes = 0

  function logOf(clientId: string): Log {
    let log = logs.get(clientId)
    if (log === undefined) {
      log = { rawHeaders: [], headers: '', oldest: undefined, newest: undefined, size: 0, last: 0, dropped: 0 }
      logs.set(clientId, log)
    }
    return log
  }

  function append(entry: Entry) {
    const { log } = entry
    if (log.newest === undefined) log.oldest = entry
    else log.newest.next = entry
    log.newest = entry
    log.size++
    entry.older = newest
    if (newest === undefined) oldest = entry
    else newest.newer = entry
    newest = entry
    bytes += entry.bytes
  }

  /** Removes the oldest entry of a log that has any. */
  function shift(log: Log) {
    const entry = log.oldest as Entry
    const { next, older, newer, bytes: freed } = entry
    // Or, when it has grown old on the heap, it would keep all that came after it from being collected young.
    entry.next = undefined
    entry.newer = undefined
    log.oldest = next
    if (next === undefined) log.newest = undefined
    log.size--
    if (older === undefined) oldest = newer
    else older.newer = newer
    if (newer === undefined) newest = older
    else newer.older = older
    bytes -= freed
  }

  function drop(log: Log) {
    shift(log)
    log.dropped++
  }

  function clear(log: Log): number {
    const { size } = log
    while (log.size > 0) shift(log)
    return size
  }

  return {
    add(clientId, exchange) {
      const log = logOf(clientId)
      const { faults, hints } = exchange
      // Member by member: to spread them takes ten times as long.
      const entry: Entry = {
        seq: ++log.last,
        at: exchange.at,
        method: exchange.method,
        target: exchange.target,
        headers: headersText(log, exchange.rawHeaders),
        body: exchange.body,
        takesCredentials: exchange.takesCredentials,
        status: exchange.status,
        responseHeaders: exchange.responseHeaders,
        responseBody: exchange.responseBody,
        durationMs: exchange.durationMs,
        faults: faults.length === 0 ? null : faults,
        hints: hints.length === 0 ? null : hints,
        bytes: 0,
        log,
        next: undefined,
        older: undefined,
        newer: undefined,
      }
      entry.bytes = sizeOf(entry)
      // What has no room at all must not push out all that has.
      if (entry.bytes > mostBytes) {
        log.dropped++
        return
      }
      append(entry)
      if (log.size > mostEntries) drop(log)
      while (bytes > mostBytes) drop((oldest as Entry).log)
    },
    of(clientId, { after = 0, method, path, status } = {}) {
      const log = logs.get(clientId)
      const isPath = path === undefined ? () => true : createGlob(path)
      const data: LoggedRequest[] = []
      for (let entry = log?.oldest; entry !== undefined; entry = entry.next) {
        const isWanted =
          entry.seq > after &&
          (method ?? entry.method) === entry.method &&
          (status ?? entry.status) === entry.status &&
          isPath(pathOf(entry.target))
        if (isWanted) data.push(show(entry))
      }
      return { data, last: log?.last ?? 0, dropped: log?.dropped ?? 0 }
    },
    clear: clientId => clear(logOf(clientId)),
    forget(clientId) {
      clear(logOf(clientId))
      logs.delete(clientId)
    },
  }
}

function headersText(log: Log, rawHeaders: readonly string[]): string {
  if (!areEqual(log.rawHeaders, rawHeaders)) {
    log.rawHeaders = rawHeaders
    log.headers = rawHeaders.join('\n')
  }
  return log.headers
}

function areEqual(some: readonly string[], others: readonly string[]): boolean {
  if (some.length !== others.length) return false
  for (let at = 0; at < some.length; at++) if (some[at] !== others[at]) return false
  return true
}

/** Header fields are Latin-1, one byte a character; what was said in other words may be any text. */
const sizeOf = ({ target, headers, responseHeaders, body, responseBody, faults, hints }: Entry): number =>
  OVERHEAD +
  target.length +
  headers.length +
  lengthOf(responseHeaders) +
  (body === null ? 0 : Buffer.byteLength(body.text)) +
  (responseBody === null ? 0 : Buffer.byteLength(responseBody)) +
  (faults?.length ?? 0) * FAULT_OVERHEAD +
  (hints?.join().length ?? 0)

function lengthOf(headers: Readonly<Record<string, unknown>>): number {
  let length = 0
  for (const name in headers) length += name.length + String(headers[name]).length
  return length
}

function show(entry: Entry): LoggedRequest {
  const { seq, at, method, target, headers, body, status, responseHeaders, responseBody, durationMs } = entry
  const path = pathOf(target)
  return {
    seq,
    at: formatInstant(at),
    method,
    path: maskPath(path),
    query: maskFields(target.slice(path.length + 1)) ?? '(not readable as parameters)',
    headers: masked(fold(headers)),
    body: body === null ? null : showBody(body, entry.takesCredentials),
    status,
    responseHeaders: masked(
      new Map(Object.entries(responseHeaders).map(([name, value]) => [name, showHints(entry, String(value))])),
    ),
    responseBody: responseBody === null || responseBody === '' ? null : showAnswer(responseBody.toString()),
    durationMs,
    faults: entry.faults?.map(({ id, effect }) => ({ id, ...withoutWords(effect) })) ?? [],
    hints: entry.hints?.map(hint => showHints(entry, hint)) ?? [],
  }
}

/** As it came, unless what it decodes to holds a token. */
function maskPath(path: string): string {
  if (!path.includes('%') || !isDecodable(path)) return maskText(path)
  const decoded = decodeURIComponent(path)
  const masked = maskText(decoded)
  return masked === decoded ? maskText(path) : masked
}

/** What a fault says in its own words may be anything, and stands in the list of faults. */
function withoutWords(effect: Effect) {
  const { message, headers, ...rest } = effect as Effect & { message?: string; headers?: object }
  return rest
}

/** A hint names a field that is not known: it may be the rest of a secret that was not encoded. */
const showHints = ({ takesCredentials }: Entry, text: string) =>
  takesCredentials ? text.replace(/unknown member \S* ignored/g, 'unknown member *** ignored') : maskText(text)

/** Header fields by their name in lower case; repeated ones joined (RFC 9110 §5.3). */
function fold(text: string): Map<string, string> {
  const headers = new Map<string, string>()
  const lines = text === '' ? [] : text.split('\n')
  for (let at = 0; at < lines.length; at += 2) {
    const name = (lines[at] as string).toLowerCase()
    const value = lines[at + 1] as string
    const earlier = headers.get(name)
    headers.set(name, earlier === undefined ? value : `${earlier}, ${value}`)
  }
  return headers
}

const masked = (headers: Map<string, string>) =>
  Object.fromEntries([...headers].map(([name, value]) => [maskText(name), maskHeader(name, value)]))

function showBody({ kind, text }: SentBody, takesCredentials: boolean): unknown {
  if (kind === 'note') return text
  const hidden = `(${Buffer.byteLength(text)} bytes of malformed ${kind === 'json' ? 'JSON' : 'form'})`
  if (kind === 'form') return (takesCredentials ? maskCredentials(text) : maskFields(text)) ?? hidden
  const value = parseJson(text)
  if (value !== undefined) return takesCredentials ? maskJsonCredentials(value) : maskJson(value)
  return takesCredentials || isSuspicious(text) ? hidden : maskText(text)
}

function showAnswer(text: string): unknown {
  const value = parseJson(text)
  return value === undefined ? maskText(text) : maskJson(value)
}

/** For what may hold a secret where nobody would look for it, or is no text, only a note is kept. */
function sentBody(request: FastifyRequest): SentBody | null {
  const { bytes } = request
  if (bytes === null) return hasBody(request) ? { kind: 'note', text: '(not read)' } : null
  if (bytes.length === 0) return null
  const type = mediaTypeOf(request)
  const kind = type === 'application/json' ? 'json' : type === FORM ? 'form' : 'note'
  const text = kind === 'note' ? null : textOf(request)
  if (kind !== 'note' && text !== null) return { kind, text }
  return {
    kind: 'note',
    text: `(${bytes.length} bytes of ${type || 'no Content-Type'}${kind === 'note' ? '' : ', not UTF-8'})`,
  }
}

/** Path and query of a request target, also of one in absolute form (RFC 9112 §3.2.2). */
const originForm = (target: string) => (target.startsWith('/') ? target : target.replace(/^https?:\/\/[^/?]*/i, ''))

/** Effects of faults that leave the client without an answer. */
const isCutOff = ({ effect }: Met) => effect?.kind === 'drop' || effect?.kind === 'reset' || effect?.kind === 'garbage'

export interface JournalHooks {
  readonly journal: Journal
  /** Whose log a request belongs to, and the time there; undefined: nobody's. */
  placeOf(request: FastifyRequest): { clientId: string; at: Instant } | undefined
}

/** Logs a request with its answer, after all that changes answers. What cannot be logged is answered all the same. */
export function createRequestLog(app: FastifyInstance, { journal, placeOf }: JournalHooks) {
  function log(request: FastifyRequest, reply: FastifyReply, payload: unknown) {
    const place = placeOf(request)
    if (place === undefined) return
    const { method, originalUrl, raw, met, hints, route } = request
    const isLost = met !== null && isCutOff(met)
    journal.add(place.clientId, {
      at: place.at,
      method,
      target: originForm(originalUrl),
      rawHeaders: raw.rawHeaders,
      body: sentBody(request),
      takesCredentials: route.config.consumes === FORM,
      status: isLost ? null : reply.statusCode,
      responseHeaders: isLost ? {} : reply.getHeaders(),
      responseBody: isContent(payload) && !isLost && method !== 'HEAD' ? payload : null,
      durationMs: Math.round((performance.now() - request.startedAt + (met?.delay ?? 0)) * 10) / 10,
      faults: met?.fired ?? [],
      hints: hints?.texts ?? [],
    })
  }

  return (request: FastifyRequest, reply: FastifyReply, payload: unknown): void => {
    try {
      log(request, reply, payload)
    } catch (error) {
      app.reportFailure(request, error, 'a request cannot be logged')
    }
  }
}
