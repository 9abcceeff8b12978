import { readFileSync, statSync } from 'node:fs'
import { ConfigError } from '../config.js'
import { digestOf } from '../core/digests.js'
import { textOf } from '../core/text.js'
import { FORM } from '../http/form.js'
import { MASK, maskText } from '../http/masking.js'
import { HOUR } from './compare.js'
import type { Json } from './contract.js'

const MOST_BYTES = 64 * 1024 * 1024
const MOST_ENTRIES = 20_000
/** The request headers that belong to a connection, a browser or a person. */
const NOT_SENT =
  /^(?::|sec-|proxy-|authorization$|cookie|connection$|keep-alive$|host$|content-length$|transfer-encoding$|accept-encoding$|expect$|te$|upgrade|origin$|referer$|x-api-key$)/

/** The client of a capture that does not show it. */
export const HIDDEN_CLIENT = 'client'

/** A request and its answer, without secrets. */
export interface Entry {
  /** The position in the file, from 1. */
  readonly n: number
  /** When the request was sent and answered, in milliseconds. */
  readonly sentAt: number
  readonly at: number
  /** Whether a request that can have changed the answer was under way. */
  isOverlapping: boolean
  readonly method: string
  /** The path from `/api/v1` on, and the query with its `?`. */
  readonly path: string
  readonly search: string
  readonly headers: Readonly<Record<string, string>>
  /** `lost`: the capture did not keep it whole. */
  readonly body: string | Buffer<ArrayBuffer> | undefined
  readonly status: number
  readonly answerHeaders: Readonly<Record<string, string>>
  /** Undefined if the capture did not keep it. */
  readonly answer: string | undefined
  /** The digest of the bearer token; MASK: the capture hides it. Undefined if there is none. */
  readonly token: string | undefined
  /** The client of a request for a token. */
  readonly clientId: string | undefined
}

export interface Capture {
  readonly entries: readonly Entry[]
  /** The numbers of skipped entries by the reason. */
  readonly skipped: Readonly<Record<string, number>>
  /** What a log says about itself: whether it is complete, and which other calls steered the run. Undefined if no sandbox wrote it. */
  readonly run: { readonly isComplete: boolean; readonly steeredBy: readonly string[] } | undefined
}

const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value : [])
const pairsOf = (list: unknown) => listOf(list).map(({ name, value }) => [stringOf(name), stringOf(value)])
export const isRead = ({ method }: Pick<Entry, 'method'>) => /^(?:GET|HEAD|OPTIONS)$/.test(method)

/** Parses JSON. Returns undefined for any other text. */
export function parseJson(text: string | undefined): Json {
  try {
    return text ? JSON.parse(text) : undefined
  } catch {
    return undefined
  }
}

/**
 * Reads the requests of the interface from a HAR file of version 1.1 or 1.2.
 * @param host the host to take, or undefined for any
 * @throws ConfigError, whose message has no text of the file
 */
export function readHar(file: string, host: string | undefined): Capture {
  const log = parseJson(readText(file))?.log
  const all: Json[] | undefined = log?.entries
  if (!Array.isArray(all)) throw new ConfigError(`${file} is no HAR file, or it is cut off.`)
  if (all.length > MOST_ENTRIES)
    throw new ConfigError(`${file} has ${all.length} entries. Give a file with at most ${MOST_ENTRIES}.`)
  const skipped: Record<string, number> = {}
  const entries = all.flatMap((entry, at) => {
    // A file of 64 MiB is some hundred MiB of objects: each is released.
    all[at] = undefined
    const result = readEntry(Object(entry), at + 1, host)
    if (typeof result === 'object') return [result]
    skipped[result] = (skipped[result] ?? 0) + 1
    return []
  })
  // The log of a sandbox is in its order.
  if (log._seed === undefined) sort(entries)
  const run = { isComplete: log._complete === true, steeredBy: listOf(log._steeredBy).map(String) }
  return { entries, skipped, run: log._seed === undefined ? undefined : run }
}

function readText(file: string): string {
  try {
    const { size } = statSync(file)
    if (size > MOST_BYTES) throw new ConfigError(`${file} has ${size} bytes. Give a file of at most ${MOST_BYTES}.`)
    return textOf(readFileSync(file))
  } catch (error) {
    if (error instanceof ConfigError) throw error
    throw new ConfigError(`${file} cannot be read: ${Object(error).code}.`)
  }
}

/** Sorts entries by the time of their requests, and marks those that overlap. */
function sort(entries: Entry[]): void {
  entries.sort((a, b) => a.sentAt - b.sentAt || a.n - b.n)
  for (const [index, entry] of entries.entries()) {
    for (let next = index + 1; ; next++) {
      const other = entries[next]
      if (other === undefined || other.sentAt >= entry.at) break
      entry.isOverlapping ||= !isRead(other)
      other.isOverlapping ||= !isRead(entry)
    }
  }
}

/** Returns an entry, or the reason why it is skipped. */
function readEntry({ request = {}, response = {}, ...entry }: Json, n: number, host: string | undefined) {
  const sentAt = Date.parse(entry.startedDateTime)
  const { method, url: address } = request
  if (!URL.canParse(address) || typeof method !== 'string' || Number.isNaN(sentAt)) return 'malformed'
  const url = new URL(address)
  if (host !== undefined && host !== url.host && host !== url.hostname) return 'of other hosts'
  const [, path] = /(\/api\/v1\/.+)$/.exec(url.pathname) ?? []
  if (path === undefined) return 'of other paths'
  const all = headersOf(request.headers)
  if (all['access-control-request-method'] !== undefined) return 'preflights of browsers'
  // Browsers write 0 where no answer came.
  if (!(response.status >= 100)) return 'without an answer'

  const answerHeaders = headersOf(response.headers)
  const post = Object(request.postData)
  const type = all['content-type'] ?? stringOf(post.mimeType)
  const [, bearer] = /^bearer +(.*)$/i.exec(all.authorization ?? '') ?? []
  const body = bodyOf(post, type, Number(all['content-length'] ?? request.bodySize))
  const answer = method === 'HEAD' ? '' : answerOf(Object(response.content), response.status)
  const sent = Object.fromEntries(Object.entries(all).filter(([name]) => !NOT_SENT.test(name)))
  return {
    n,
    sentAt,
    at: timeOf(sentAt + Math.max(Number(entry.time) || 0, 0), answerHeaders),
    isOverlapping: false,
    method,
    path,
    search: maskText(url.search),
    headers: { ...sent, ...(type !== '' && { 'content-type': type }) },
    body,
    status: response.status,
    answerHeaders,
    answer,
    token: bearer && hide(bearer),
    clientId: undefined,
    ...(path === '/api/v1/oauth/token' && tokenRequest(body, all.authorization, answer, response.status)),
  } satisfies Entry
}

/** Returns the time of the service from its header Date, which may differ by an hour from the time of the capture. */
function timeOf(at: number, { date = '' }: Readonly<Record<string, string>>): number {
  return Math.abs(Date.parse(date) - at) <= HOUR ? Date.parse(date) : at
}

const headersOf = (list: unknown): Record<string, string> =>
  Object.fromEntries(pairsOf(list).map(([name, value]) => [name?.toLowerCase(), value]))

/** Returns the body of a request. HAR 1.2: it has a text, or the parameters of a form. */
function bodyOf({ text: given, params, comment, encoding }: Json, type: string, size: number): Entry['body'] {
  const text = stringOf(given)
  if (encoding === 'base64') return Buffer.from(text, 'base64')
  if (type.startsWith('multipart/')) {
    // Captures spoil bytes that are not UTF-8, and leave files out.
    if (text === '' || text.includes('\uFFFD') || /\r\n\r\n\r\n--/.test(text)) return 'lost'
    return Buffer.from(text, size === text.length || /[\x80-\x9f]/.test(text) ? 'latin1' : 'utf8')
  }
  if (text !== '') return text
  if (type.startsWith(FORM) && params) return new URLSearchParams(pairsOf(params)).toString()
  return size > 0 || comment ? 'lost' : undefined
}

/** Returns the text of an answer. A text that begins as JSON and is none was cut off by the capture. */
function answerOf({ text: given, encoding, size, comment }: Json, status: number): string | undefined {
  const text = encoding === 'base64' ? Buffer.from(stringOf(given), 'base64').toString() : stringOf(given)
  if (text === '') return status !== 204 && (size > 0 || comment) ? undefined : ''
  const isCutOff = /^\s*[[{]/.test(text) && Buffer.byteLength(text) !== size && parseJson(text) === undefined
  return isCutOff ? undefined : text
}

const hide = (token: string) => (token === MASK ? MASK : digestOf(token))
/** The secret values of a form. */
const SECRETS = /(?<=(?:^|&)(?!client_id=|grant_type=|scope=)[^=&]+=)[^&]+/g

/** Returns the members of a token request without its secrets. A secret was right, unless the answer says otherwise. */
function tokenRequest(body: Entry['body'], authorization = '', answer: string | undefined, status: number) {
  const [, encoded] = /^basic +(.+)$/i.exec(authorization) ?? []
  const [user] = Buffer.from(encoded ?? '', 'base64')
    .toString()
    .split(':')
  const credentials = encoded === undefined ? '' : `&client_id=${user || HIDDEN_CLIENT}&client_secret=${MASK}`
  const form = typeof body === 'string' && !body.trimStart().startsWith('{') ? `${body}${credentials}` : undefined
  return {
    body: body === 'lost' ? body : (form?.replace(SECRETS, status === 401 ? 'another-secret' : MASK) ?? (body && '{}')),
    answer: answer?.replace(/(?<=_token"\s*:\s*")[^"]*/g, hide),
    clientId: new URLSearchParams(form).get('client_id') ?? HIDDEN_CLIENT,
  }
}
