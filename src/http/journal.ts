import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Fault, Met } from '../core/faults.js'
import { createGlob } from '../core/glob.js'
import type { Instant } from '../core/time.js'
import { formatInstant } from '../core/time.js'
import { type Fields, FORM } from './forms.js'
import { maskFields, maskHeader, maskTokens } from './masking.js'
import { pathOf } from './routing.js'

/** A request of the app under test and what it got, as it is kept. */
export interface Exchange {
  /** The tenant's time when it was answered. */
  readonly at: Instant
  readonly method: string
  readonly target: string
  /** Names and values in turn, as they came. */
  readonly rawHeaders: readonly string[]
  readonly bytes: Buffer | null
  /** Null: the connection was cut off without an answer. */
  readonly status: number | null
  readonly responseHeaders: Readonly<Record<string, unknown>>
  readonly responseBody: string | null
  readonly durationMs: number
  readonly faults: readonly Fault[]
  readonly hints: readonly string[]
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
  /** JSON and forms as their value, other text as it is, else a note of what it was; null: there was none. */
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

interface Entry {
  readonly seq: number
  readonly exchange: Exchange
  readonly bytes: number
  readonly log: Log
}

interface Log {
  readonly entries: Set<Entry>
  last: number
  dropped: number
}

/** What an entry takes beside its texts, roughly. */
const OVERHEAD = 1024

export function createJournal({ entries: mostEntries, bytes: mostBytes }: JournalOptions): Journal {
  const logs = new Map<string, Log>()
  // In order of age, over all tenants: the oldest of all is also the oldest of its own.
  const all = new Set<Entry>()
  let bytes = 0

  function logOf(clientId: string): Log {
    let log = logs.get(clientId)
    if (log === undefined) {
      log = { entries: new Set(), last: 0, dropped: 0 }
      logs.set(clientId, log)
    }
    return log
  }

  function remove(entry: Entry) {
    all.delete(entry)
    entry.log.entries.delete(entry)
    bytes -= entry.bytes
  }

  function drop(entry: Entry) {
    remove(entry)
    entry.log.dropped++
  }

  const oldest = (entries: Set<Entry>) => entries.values().next().value as Entry

  return {
    add(clientId, exchange) {
      const log = logOf(clientId)
      const entry = { seq: ++log.last, exchange, bytes: sizeOf(exchange), log }
      log.entries.add(entry)
      all.add(entry)
      bytes += entry.bytes
      if (log.entries.size > mostEntries) drop(oldest(log.entries))
      while (bytes > mostBytes) drop(oldest(all))
    },
    of(clientId, { after = 0, method, path, status } = {}) {
      const { entries, last, dropped } = logs.get(clientId) ?? { entries: [], last: 0, dropped: 0 }
      const isPath = path === undefined ? () => true : createGlob(path)
      const data = [...entries]
        .filter(
          ({ seq, exchange }) =>
            seq > after &&
            (method ?? exchange.method) === exchange.method &&
            (status ?? exchange.status) === exchange.status &&
            isPath(pathOf(exchange.target)),
        )
        .map(({ seq, exchange }) => show(seq, exchange))
      return { data, last, dropped }
    },
    clear(clientId) {
      const log = logOf(clientId)
      const count = log.entries.size
      for (const entry of log.entries) remove(entry)
      return count
    },
    forget(clientId) {
      this.clear(clientId)
      logs.delete(clientId)
    },
  }
}

function sizeOf({ target, rawHeaders, bytes, responseBody }: Exchange): number {
  const headers = rawHeaders.reduce((sum, text) => sum + text.length, 0)
  return OVERHEAD + target.length + headers + (bytes?.length ?? 0) + (responseBody?.length ?? 0)
}

function show(seq: number, exchange: Exchange): LoggedRequest {
  const { at, method, target, rawHeaders, bytes, status, responseHeaders, responseBody, durationMs } = exchange
  const path = pathOf(target)
  const headers = fold(rawHeaders)
  return {
    seq,
    at: formatInstant(at),
    method,
    path,
    query: maskFields(target.slice(path.length + 1)) ?? 'not readable as parameters',
    headers: masked(headers),
    body: bytes === null || bytes.length === 0 ? null : showBody(bytes, headers['content-type'] ?? ''),
    status,
    responseHeaders: masked(
      Object.fromEntries(Object.entries(responseHeaders).map(([name, value]) => [name, String(value)])),
    ),
    responseBody: responseBody === null || responseBody === '' ? null : parsed(maskTokens(responseBody)),
    durationMs,
    faults: exchange.faults.map(({ id, effect }) => ({ id, ...effect })),
    hints: exchange.hints,
  }
}

/** Header fields by their name in lower case; repeated ones joined (RFC 9110 §5.3). */
function fold(rawHeaders: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase()
    const value = rawHeaders[at + 1] as string
    headers[name] = Object.hasOwn(headers, name) ? `${headers[name]}, ${value}` : value
  }
  return headers
}

const masked = (headers: Record<string, string>) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, maskHeader(name, value)]))

function showBody(bytes: Buffer, contentType: string): unknown {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase()
  if (type === 'application/json') return maskedJson(bytes.toString())
  if (type === FORM) return maskFields(bytes.toString()) ?? note(bytes, type)
  return note(bytes, type || 'no Content-Type')
}

/** For what may hold a secret where nobody would look for it, or is no text. */
const note = (bytes: Buffer, type: string | undefined) => `(${bytes.length} bytes of ${type})`

const SECRET = /"(client_?secret|client_assertion|access_token|password)"\s*:\s*"(?:[^"\\]|\\.)*"?/gi

const maskedJson = (text: string) => parsed(text.replace(SECRET, '"$1":"***"'))

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** Effects of faults that leave the client without an answer. */
const isCutOff = ({ effect }: Met) => effect?.kind === 'drop' || effect?.kind === 'reset' || effect?.kind === 'garbage'

export interface JournalHooks {
  readonly journal: Journal
  /** Whose log a request belongs to, and the time there; undefined: nobody's. */
  placeOf(request: FastifyRequest): { clientId: string; at: Instant } | undefined
}

/** Logs every request with its answer. To be installed after all that changes answers, before their delivery. */
export function installJournal(app: FastifyInstance, { journal, placeOf }: JournalHooks): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    const place = placeOf(request)
    if (place !== undefined) {
      const { method, originalUrl: target, raw, bytes, met, hints } = request
      const isLost = met !== null && isCutOff(met)
      journal.add(place.clientId, {
        at: place.at,
        method,
        target,
        rawHeaders: raw.rawHeaders,
        bytes,
        status: isLost ? null : reply.statusCode,
        responseHeaders: isLost ? {} : reply.getHeaders(),
        responseBody: typeof payload === 'string' && !isLost && method !== 'HEAD' ? payload : null,
        durationMs: Math.round((reply.elapsedTime + (met?.delay ?? 0)) * 10) / 10,
        faults: met?.fired ?? [],
        hints: hints?.texts ?? [],
      })
    }
    done()
  })
}
