import { readFileSync, statSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { sha256 } from '../core/digests.js'
import { HEADER_LIMIT } from '../http/app.js'
import { FORM } from '../http/form.js'
import { MASK, maskHeaders, maskJson, maskText, maskTokenRequest } from '../http/masking.js'
import { MULTIPART } from '../http/multipart.js'

/** A file that cannot be compared. The message is one line without text of the file. */
export class HarError extends Error {}

/** The bounds of a file. */
export const MOST_BYTES = 64 * 1024 * 1024
export const MOST_ENTRIES = 20_000
/** Longer bodies are not read, in characters. */
const LONGEST_BODY = 1024 * 1024

/** A body: `unknown` was not kept whole by the capture, `text` is no JSON. Secrets are masked. */
export type Body =
  | { readonly kind: 'none' | 'unknown' | 'text' }
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'form'; readonly fields: readonly (readonly [name: string, value: string])[] }
  | { readonly kind: 'upload'; readonly boundary: string | undefined; readonly text: string }

/** A request and its answer. Secrets are masked; a token is only a number that says which tokens are the same. */
export interface Entry {
  /** The position in the file, from 1. */
  readonly n: number
  /** Milliseconds since 1970; undefined: unknown. */
  readonly at: number | undefined
  readonly milliseconds: number
  /** The number of a request of the sandbox: its requests never overlap. */
  readonly sequence: number | undefined
  readonly method: string
  readonly origin: string
  /** As in the URL, with its percent-encoding. */
  readonly path: string
  /** As in the URL, with `?`; without secrets. */
  readonly search: string
  readonly headers: Readonly<Record<string, string>>
  /** The media type of the body, with its parameters; empty: none. */
  readonly mediaType: string
  readonly body: Body
  /** 0: there was no answer. */
  readonly status: number
  readonly answerHeaders: Readonly<Record<string, string>>
  readonly answer: Body
  /** The bearer token of the request, the token of the answer, and the client and the secret of a token request. */
  readonly bearer: number | undefined
  readonly issued: number | undefined
  readonly client: number | undefined
  readonly secret: number | undefined
}

/** The entries of a file. The others are counted. */
export interface Capture {
  readonly entries: readonly Entry[]
  readonly duplicates: number
  readonly malformed: number
}

type Json = Record<string, unknown>
const objectOf = (value: unknown): Json => (value !== null && typeof value === 'object' ? (value as Json) : {})
const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')

/**
 * Reads a HAR file of at most 64 MiB and 20,000 entries. Takes HAR 1.1 and 1.2 as browsers and proxies write them.
 * @throws HarError
 */
export const readHar = (file: string): Capture => captureOf(parse(file), file)

/**
 * Reads a parsed HAR document, of which nothing is left.
 * @param file its name in messages
 * @throws HarError
 */
export function captureOf(document: unknown, file: string): Capture {
  const entries = objectOf(objectOf(document).log).entries
  if (!Array.isArray(entries)) throw new HarError(`${file} is no HAR file: it has no log.entries`)
  if (entries.length > MOST_ENTRIES) {
    throw new HarError(`${file} has ${entries.length} entries: give a file with at most ${MOST_ENTRIES}`)
  }
  const idOf = createIds()
  const read = entries.map((entry, index) => {
    // What is read is let go: a file of 64 MiB is some hundred MiB of objects.
    entries[index] = undefined
    return readEntry(objectOf(entry), index + 1, idOf)
  })
  const valid = read.filter(entry => entry !== undefined)
  const unique = withoutDuplicates(valid)
  return { entries: unique, duplicates: valid.length - unique.length, malformed: read.length - valid.length }
}

function parse(file: string): unknown {
  let text: string
  try {
    const stat = statSync(file)
    if (!stat.isFile()) throw new HarError(`${file} is no file`)
    if (stat.size > MOST_BYTES)
      throw new HarError(`${file} has ${stat.size} bytes: give a file of at most ${MOST_BYTES}`)
    text = readFileSync(file, 'utf8')
  } catch (error) {
    if (error instanceof HarError) throw error
    throw new HarError(`${file} cannot be read: ${(error as NodeJS.ErrnoException).code}`)
  }
  try {
    // Fiddler writes a byte order mark.
    return JSON.parse(text.replace(/^\uFEFF/, ''))
  } catch {
    // The message of the parser quotes the text.
    throw new HarError(`${file} is not JSON`)
  }
}

/** Gives equal secrets equal numbers. A masked or absent one has none. */
function createIds() {
  const ids = new Map<string, number>()
  return (secret: string): number | undefined => {
    if (secret === '' || secret === MASK) return undefined
    const digest = sha256(secret)
    const id = ids.get(digest) ?? ids.size
    ids.set(digest, id)
    return id
  }
}

function readEntry(entry: Json, n: number, idOf: (secret: string) => number | undefined): Entry | undefined {
  const [request, response] = [objectOf(entry.request), objectOf(entry.response)]
  const url = textOf(request.url)
  // No server takes a longer one, and reading it takes much memory.
  if (url.length > HEADER_LIMIT || !URL.canParse(url) || typeof request.method !== 'string') return undefined
  const { origin, pathname, search } = new URL(url)
  const [headers, answerHeaders] = [headersOf(request.headers), headersOf(response.headers)]
  const isToken = pathname.endsWith('/oauth/token')
  const body = requestBodyOf(request, headers)
  const isHead = request.method.toUpperCase() === 'HEAD'
  const answer = isHead ? NONE : answerBodyOf(objectOf(response.content), answerHeaders, response.status === 204)
  const [scheme, credentials] = schemeOf(headers.authorization ?? '')
  const isBearer = scheme.toLowerCase() === 'bearer'
  const form = new Map(body.kind === 'form' ? [...body.fields].reverse() : [])
  const [user, password] = scheme.toLowerCase() === 'basic' ? basicOf(credentials) : []
  const at = Date.parse(textOf(entry.startedDateTime))
  return {
    n,
    at: Number.isNaN(at) ? undefined : at,
    milliseconds: typeof entry.time === 'number' && entry.time > 0 ? entry.time : 0,
    sequence: typeof entry._seq === 'number' ? entry._seq : undefined,
    method: request.method.toUpperCase(),
    origin,
    path: pathname,
    search: maskText(search),
    headers: maskHeaders(headers),
    mediaType: headers['content-type'] ?? textOf(objectOf(request.postData).mimeType),
    body: masked(body, isToken),
    status: typeof response.status === 'number' ? response.status : 0,
    answerHeaders: maskHeaders(answerHeaders),
    answer: masked(answer, false),
    bearer: isBearer ? idOf(credentials) : undefined,
    issued: isToken && answer.kind === 'json' ? idOf(textOf(objectOf(answer.value).access_token)) : undefined,
    client: isToken ? idOf(form.get('client_id') ?? user ?? '') : undefined,
    secret: isToken ? idOf(form.get('client_secret') ?? password ?? '') : undefined,
  }
}

/** Splits a header at its first space. */
function schemeOf(authorization: string) {
  const [scheme = ''] = authorization.split(' ', 1)
  return [scheme, authorization.slice(scheme.length).trim()] as const
}

const basicOf = (credentials: string) => {
  const [user = '', ...password] = Buffer.from(credentials, 'base64').toString().split(':')
  return [user, password.join(':')] as const
}

function masked(body: Body, isToken: boolean): Body {
  if (body.kind === 'json') return { ...body, value: maskJson(body.value) }
  if (body.kind !== 'form') return body
  const fields = body.fields.flatMap(([name, value]) => Object.entries(maskTokenRequest({ [name]: value })))
  return { ...body, fields: isToken ? fields : [] }
}

/** Returns headers by their names in lower case. HTTP/2 has pseudo-headers, which are left out. */
function headersOf(list: unknown): Record<string, string> {
  const headers: Record<string, string> = Object.create(null)
  for (const item of Array.isArray(list) ? list : []) {
    const { name, value } = objectOf(item)
    const key = textOf(name).toLowerCase()
    if (key === '' || key.startsWith(':')) continue
    headers[key] = Object.hasOwn(headers, key) ? `${headers[key]}, ${textOf(value)}` : textOf(value)
  }
  return headers
}

const NONE: Body = { kind: 'none' }
const UNKNOWN: Body = { kind: 'unknown' }

/** Firefox gives a GET an empty postData. Some proxies give a form only as params. */
function requestBodyOf(request: Json, headers: Readonly<Record<string, string>>): Body {
  const post = objectOf(request.postData)
  const type = (headers['content-type'] ?? textOf(post.mimeType)).toLowerCase()
  if (type.startsWith(MULTIPART)) return uploadOf(post, headers['content-type'] ?? textOf(post.mimeType))
  const text = decoded(post)
  if (text === undefined) return UNKNOWN
  const isForm = type.startsWith(FORM)
  if (isForm && text === '' && Array.isArray(post.params) && post.params.length > 0) {
    return { kind: 'form', fields: post.params.map(objectOf).map(({ name, value }) => [textOf(name), textOf(value)]) }
  }
  const { bodySize } = request
  const size = Number(headers['content-length'] ?? (typeof bodySize === 'number' ? bodySize : 0))
  if (text === '') return size > 0 || textOf(post.comment) !== '' ? UNKNOWN : NONE
  return isForm ? { kind: 'form', fields: [...new URLSearchParams(text)] } : jsonOf(text, size)
}

/** Keeps the text of a multipart body. Captures spoil bytes that are not ASCII, and some leave the text out. */
function uploadOf(post: Json, type: string): Body {
  // RFC 2046 §5.1.1: at most 70 characters.
  const [, boundary] = /boundary="?([^";]{1,70})(?:[";]|$)/i.exec(type) ?? []
  return { kind: 'upload', boundary, text: boundary === undefined ? '' : (decoded(post, 'latin1') ?? '') }
}

function answerBodyOf(content: Json, headers: Readonly<Record<string, string>>, isEmpty: boolean): Body {
  const size = typeof content.size === 'number' && content.size > 0 ? content.size : Number(headers['content-length'])
  const text = decoded(content)
  if (text === undefined) return UNKNOWN
  if (text === '') return !isEmpty && (size > 0 || textOf(content.comment) !== '') ? UNKNOWN : NONE
  return jsonOf(text, size)
}

/** Returns the text of a body; undefined: it is too long. */
function decoded({ text: given, encoding }: Json, as: 'utf8' | 'latin1' = 'utf8'): string | undefined {
  const text = textOf(given)
  if (text.length > LONGEST_BODY) return undefined
  const isBase64 = encoding === 'base64'
  return isBase64 || as === 'latin1' ? Buffer.from(text, isBase64 ? 'base64' : 'utf8').toString(as) : text
}

/** A text that begins as JSON and does not parse was cut off by the capture, unless its size says otherwise. */
function jsonOf(text: string, size: number): Body {
  try {
    return { kind: 'json', value: JSON.parse(text) }
  } catch {
    return /^\s*[[{"]/.test(text) && Buffer.byteLength(text) !== size ? UNKNOWN : { kind: 'text' }
  }
}

/** Whether an answer came before a later request was sent. */
export function isBefore(earlier: Entry, later: Entry): boolean {
  if (earlier.sequence !== undefined && later.sequence !== undefined) return earlier.sequence < later.sequence
  if (earlier.at === undefined || later.at === undefined) return earlier.n < later.n
  return earlier.at + earlier.milliseconds <= later.at && earlier.n !== later.n
}

/** Whether two requests have no order. */
export const isOverlapping = (one: Entry, other: Entry) =>
  one !== other && !isBefore(one, other) && !isBefore(other, one)

/**
 * Sorts entries by their time. Leaves out what is there twice: merged files repeat entries, and browsers show the request
 * of a page and that of its service worker, which overlap.
 */
function withoutDuplicates(entries: readonly Entry[]): Entry[] {
  const isTimed = entries.every(({ at }) => at !== undefined)
  const sorted = isTimed ? [...entries].sort((a, b) => (a.at as number) - (b.at as number) || a.n - b.n) : entries
  const known = new Map<string, Entry>()
  return sorted.filter(entry => {
    const { method, origin, path, search, status, answerHeaders } = entry
    const key = [method, origin, path, search, status, answerHeaders['x-request-id']].join('\n')
    const same = known.get(key)
    known.set(key, entry)
    return same === undefined || !isSame(same, entry)
  })
}

const isSame = (one: Entry, other: Entry) =>
  one.sequence === other.sequence &&
  one.at !== undefined &&
  (one.at === other.at || !isBefore(one, other)) &&
  one.bearer === other.bearer &&
  isDeepStrictEqual([one.body, one.answer], [other.body, other.answer])
