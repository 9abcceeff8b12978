import { readFileSync, statSync } from 'node:fs'
import { ConfigError } from '../config.js'
import { sha256 } from '../core/digests.js'
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

/** A request and its answer. Each secret is a placeholder, the same for the same secret. */
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
  readonly body: string | Buffer | undefined
  readonly status: number
  readonly answerHeaders: Readonly<Record<string, string>>
  /** Undefined: the capture did not keep it. */
  readonly answer: string | undefined
  /** The bearer token; MASK: the capture hides it. Undefined: there is none. */
  readonly token: string | undefined
  /** Those of a request for a token. */
  readonly credentials: { readonly id: string; readonly secret: string } | undefined
}

export interface Capture {
  readonly entries: readonly Entry[]
  /** The numbers of skipped entries by the reason. */
  readonly skipped: Readonly<Record<string, number>>
  /** What a sandbox says of its log: whether it is whole, and which other calls have steered the run. Undefined: it is none. */
  readonly run: { readonly isComplete: boolean; readonly steeredBy: readonly string[] } | undefined
}

const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '')
export const isRead = ({ method }: Pick<Entry, 'method'>) => /^(?:GET|HEAD|OPTIONS)$/.test(method)

/** Parses JSON. Returns undefined for any other text. */
export function parseJson(text: string | undefined): Json {
  try {
    return JSON.parse(text ?? '')
  } catch {
    return undefined
  }
}

/**
 * Reads the requests of the interface from a HAR file of version 1.1 or 1.2.
 * @param host the host to take; undefined: any
 * @throws ConfigError, whose message has no text of the file
 */
export function readHar(file: string, host: string | undefined): Capture {
  const { entries, _seed, _complete, _steeredBy } = Object(Object(parseJson(readText(file))).log)
  if (!Array.isArray(entries)) throw new ConfigError(`${file} is no HAR file, or it is cut off.`)
  if (entries.length > MOST_ENTRIES)
    throw new ConfigError(`${file} has ${entries.length} entries. Give a file with at most ${MOST_ENTRIES}.`)
  const skipped: Record<string, number> = {}
  const hide = createPlaceholders()
  const read = entries.flatMap((entry, at) => {
    // A file of 64 MiB is some hundred MiB of objects: each is released.
    entries[at] = undefined
    const result = readEntry(Object(entry), at + 1, host, hide)
    if (typeof result === 'object') return [result]
    skipped[result] = (skipped[result] ?? 0) + 1
    return []
  })
  if (_seed === undefined) sort(read)
  const run = { isComplete: _complete === true, steeredBy: [_steeredBy ?? []].flat().map(String) }
  // The log of a sandbox is in its order.
  return { entries: read, skipped, run: _seed === undefined ? undefined : run }
}

function readText(file: string): string {
  try {
    const { size } = statSync(file)
    if (size > MOST_BYTES) throw new ConfigError(`${file} has ${size} bytes. Give a file of at most ${MOST_BYTES}.`)
    return textOf(readFileSync(file))
  } catch (error) {
    if (error instanceof ConfigError) throw error
    throw new ConfigError(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code}.`)
  }
}

/** Sorts entries by the time of their requests, and marks those that overlap. */
function sort(entries: Entry[]): void {
  entries.sort((a, b) => a.sentAt - b.sentAt || a.n - b.n)
  for (const [index, entry] of entries.entries()) {
    for (let next = index + 1; next < entries.length; next++) {
      const other = entries[next] as Entry
      if (other.sentAt >= entry.at) break
      entry.isOverlapping ||= !isRead(other)
      other.isOverlapping ||= !isRead(entry)
    }
  }
}

type Hide = (secret: string) => string

/** Returns a function that gives equal secrets the same placeholder. */
function createPlaceholders(): Hide {
  const known = new Map<string, string>()
  return secret => {
    if (secret === '' || secret === MASK) return secret
    const placeholder = known.get(sha256(secret)) ?? `secret-${known.size + 1}`
    known.set(sha256(secret), placeholder)
    return placeholder
  }
}

/** Returns an entry, or the reason why it is skipped. */
function readEntry({ request = {}, response = {}, ...entry }: Json, n: number, host: string | undefined, hide: Hide) {
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
  const isToken = path === '/api/v1/oauth/token'
  const post = Object(request.postData)
  const type = all['content-type'] ?? stringOf(post.mimeType)
  const [, bearer] = /^bearer +(.*)$/i.exec(all.authorization ?? '') ?? []
  const sent = bodyOf(post, type, Number(all['content-length'] ?? request.bodySize))
  const masked = isToken
    ? withoutSecrets(sent, all.authorization, response.status, hide)
    : { body: sent, authorization: undefined, credentials: undefined }
  const answer = method === 'HEAD' ? '' : answerOf(Object(response.content), response.status)
  return {
    n,
    sentAt,
    at: timeOf(sentAt + Math.max(Number(entry.time) || 0, 0), answerHeaders),
    isOverlapping: false,
    method,
    path,
    search: maskText(url.search),
    headers: {
      ...Object.fromEntries(Object.entries(all).filter(([name]) => !NOT_SENT.test(name))),
      ...(type !== '' && { 'content-type': type }),
      ...(all.authorization !== undefined && { authorization: masked.authorization ?? MASK }),
    },
    body: masked.body,
    status: response.status,
    answerHeaders,
    answer: isToken ? answer?.replace(/(?<=_token"\s*:\s*")[^"]*/g, hide) : answer,
    token: bearer && hide(bearer),
    credentials: masked.credentials,
  } satisfies Entry
}

/** Returns the time of the service from its header Date, which may differ by an hour from the time of the capture. */
function timeOf(at: number, { date = '' }: Readonly<Record<string, string>>): number {
  return Math.abs(Date.parse(date) - at) <= HOUR ? Date.parse(date) : at
}

const headersOf = (list: Json): Record<string, string> =>
  Object.fromEntries(
    (Array.isArray(list) ? list : []).map(({ name, value }) => [stringOf(name).toLowerCase(), stringOf(value)]),
  )

/** Returns the body of a request. HAR 1.2: it has a text, or the parameters of a form. */
function bodyOf({ text: given, params, comment, encoding }: Json, type: string, size: number): Entry['body'] {
  const text = stringOf(given)
  const isUpload = type.startsWith('multipart/')
  if (encoding === 'base64') return Buffer.from(text, 'base64')
  // Captures spoil bytes that are not UTF-8, and leave files out.
  if (isUpload && (text === '' || text.includes('\uFFFD') || /\r\n\r\n\r\n--/.test(text))) return 'lost'
  if (isUpload) return Buffer.from(text, size === text.length || /[\x80-\x9f]/.test(text) ? 'latin1' : 'utf8')
  if (text !== '') return text
  if (type.startsWith(FORM) && Array.isArray(params))
    return new URLSearchParams(params.map(({ name, value }) => [stringOf(name), stringOf(value)])).toString()
  return size > 0 || stringOf(comment) !== '' ? 'lost' : undefined
}

/** Returns a request for a token with placeholders instead of secrets. */
function withoutSecrets(body: Entry['body'], authorization = '', status: number, hide: Hide) {
  // A masked secret was right, unless the answer says otherwise.
  const secretOf = (text: string) => hide(text).replace(MASK, status === 401 ? 'another-secret' : 'masked-secret')
  const isForm = typeof body === 'string' && body !== 'lost' && !body.trimStart().startsWith('{')
  const fields = [...new URLSearchParams(isForm ? body : '')].map(([name, value]) =>
    /^(?:client_id|grant_type|scope)$/.test(name) ? [name, value] : [name, secretOf(value)],
  )
  const [, encoded] = /^basic +(.+)$/i.exec(authorization) ?? []
  const [user = '', ...password] = Buffer.from(encoded ?? '', 'base64')
    .toString()
    .split(':')
  const form = Object.fromEntries(fields.toReversed())
  const id: string = form.client_id ?? (user || (encoded === undefined ? '' : HIDDEN_CLIENT))
  const secret: string = form.client_secret ?? secretOf(password.join(':') || MASK)
  return {
    body: isForm ? new URLSearchParams(fields).toString() : body && '{}',
    authorization: encoded && `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`,
    credentials: { id, secret },
  }
}

/** Returns the text of an answer. A text that begins as JSON and is none was cut off by the capture. */
function answerOf({ text: given, encoding, size, comment }: Json, status: number): string | undefined {
  const text = encoding === 'base64' ? Buffer.from(stringOf(given), 'base64').toString() : stringOf(given)
  if (text === '') return status !== 204 && (size > 0 || stringOf(comment) !== '') ? undefined : ''
  const isCutOff = /^\s*[[{]/.test(text) && Buffer.byteLength(text) !== size && parseJson(text) === undefined
  return isCutOff ? undefined : text
}
