import { isDeepStrictEqual } from 'node:util'
import { formatInstant, parseInstant } from '../core/time/time.js'
import { MASK } from '../http/masking.js'
import { MULTIPART } from '../http/multipart.js'
import { isSameOutcome, membersOf } from './answers.js'
import type { Case } from './case.js'
import { decode } from './contract.js'
import type { Answer, End, Json } from './sandbox.js'
import { SECRET, TOLERANCE } from './sandbox.js'

/** The answers of the sandbox at the ends of the time. Undefined: that of the late end was not asked for yet. */
export type Own = readonly [Answer, Answer?]

/** Sends requests of a case with its credentials. `search` is another query. */
export type Ask = (at: 0 | 1, search?: string) => Promise<Answer>

/** The request headers that the sandbox reads. */
const SENT = ['accept', 'x-region', 'x-request-id', 'idempotency-key', 'content-encoding']
const BOUNDARY = 'payments-sandbox-compare-8f14e45fceea167a'

/**
 * Returns the function that sends the request of a case to the client at one end, with its credentials and its values. A
 * refused one, and one with another query, change nothing.
 */
export function createAsk(one: Case): Ask {
  const { entry, match, operation, isAccepted } = one
  const { method, headers: given, body, mediaType } = entry
  const secret = hasSecret(one) ? SECRET : 'wrong'
  return (at, another) => {
    const end = one.ends[at]
    // No page before has such a cursor.
    const isForeign = isAccepted && operation?.isList === true && isForeignCursor(entry.search, end)
    const search = another ?? (isForeign ? withoutCursor(entry.search) : entry.search)
    const authorization = authorizationOf(one, at, secret)
    const payload = payloadOf(one, end, secret)
    const isMade = body.kind === 'upload' && body.boundary === undefined
    const headers = {
      ...Object.fromEntries(SENT.flatMap(name => (given[name] === undefined ? [] : [[name, given[name]]]))),
      ...(authorization !== undefined && { authorization }),
      ...(payload !== undefined && { 'content-type': isMade ? `${MULTIPART}; boundary=${BOUNDARY}` : mediaType }),
    }
    return end.ask(
      { method, url: urlOf(match.path + search, end), headers, payload },
      another !== undefined || !isAccepted,
    )
  }
}

/** The first secret that is accepted is the right one. */
function hasSecret({ entry: { secret, status }, group, isAccepted }: Case): boolean {
  if (secret === undefined) return status !== 401
  if (isAccepted) group.secret ??= secret
  return group.secret === secret
}

/** Returns the header with the token or secret of an end instead of the captured one. Undefined: it has none. */
function authorizationOf({ run, entry, group, ends, isToken }: Case, at: 0 | 1, secret: string): string | undefined {
  const { authorization } = entry.headers
  const basic = () => Buffer.from(`${ends[at].clientId}:${secret}`).toString('base64')
  if (isToken) return authorization?.replace(MASK, basic)
  const isRefused = entry.status === 401
  const known = entry.bearer === undefined ? undefined : group.tokens.get(entry.bearer)?.own[at]
  // A capture that keeps no Authorization has left it out.
  if (known === undefined && authorization === undefined && (isRefused || run.hasAuthorization(entry.origin)))
    return undefined
  const token = () => known ?? (isRefused ? 'unknown' : ends[at].tenant.tokens.issue().access_token)
  return (authorization ?? `Bearer ${MASK}`).replace(MASK, token)
}

/** Replaces the values of the capture in a request target by those of an end. */
const urlOf = (target: string, end: End): string =>
  end.captured.size === 0
    ? target
    : target.replace(/[^/?&=]+/g, text => {
        const own = end.translate(decode(text))
        return own === decode(text) ? text : encodeURIComponent(String(own))
      })

function payloadOf({ entry: { body }, content }: Case, end: End, secret: string): string | Buffer | undefined {
  const own = new Map([
    ['client_id', end.clientId],
    ['client_secret', secret],
  ])
  switch (body.kind) {
    case 'json':
      return JSON.stringify(end.translate(body.value))
    case 'text':
      // Any text that is not JSON does.
      return '{'
    case 'form':
      return `${new URLSearchParams(body.fields.map(([name, value]) => [name, value && (own.get(name) ?? value)]))}`
    case 'upload':
      return uploadOf(body.text, body.boundary ?? BOUNDARY, membersOf(content), end)
    default:
      return undefined
  }
}

const FIRST_BYTES: ReadonlyMap<unknown, string> = new Map([
  ['image/jpeg', '\u00ff\u00d8\u00ff'],
  ['image/png', '\u0089PNG\r\n\u001a\n'],
])
/** A part with a file: its name, its other headers, and its content. */
const FILE = /filename="([^"]{0,1000})"(.{0,1000}?\r\n\r\n)(.*?)(?=\r\n--|$)/gs
const LEFT_OUT = `--${BOUNDARY}\r\ncontent-disposition: form-data; name="file"; filename="\u0080"\r\n\r\n\r\n--${BOUNDARY}--`

/**
 * Returns multipart/form-data (RFC 7578) whose text the capture can have left out or spoiled. The name of a file and its
 * first bytes then follow from the answer. Other bytes differ at both ends, so that size and digest are not compared.
 */
function uploadOf(given: string, boundary: string, answered: Json, end: End): Buffer {
  const isKept = answered.code === 'MISSING_FIELD' || answered.code === 'UNSUPPORTED_MEDIA_TYPE'
  const text = given === '' ? LEFT_OUT.replaceAll(BOUNDARY, () => boundary) : given
  const repaired = text.replace(FILE, (_, name: string, head: string, content: string) => {
    const [, type] = /content-type: *([^\r\n;]+)/i.exec(head) ?? []
    const kind = FIRST_BYTES.get(type) ?? FIRST_BYTES.get(answered.contentType) ?? '%PDF-1.7\n'
    const fileName = ASCII.test(name) ? name : bytesOf(String(answered.fileName ?? `${end.clientId}.pdf`))
    const isWhole = isKept || /^[\0-\x7f]/.test(content)
    // Two documents are two at an end, too.
    const rest = isWhole && ASCII.test(content) ? '' : `${end.clientId} ${answered.sha256}`
    return `filename="${fileName}"${head}${isWhole ? content : kind}${rest}`
  })
  return Buffer.from(repaired, 'latin1')
}

/** Returns the bytes of a quoted text, a character each. */
const bytesOf = (text: string) => Buffer.from(text.replace(/["\\\r\n]/g, '\\$&')).toString('latin1')
const ASCII = /^[\0-\x7f]*$/

/** Whether a query has a cursor that no earlier answer has. */
function isForeignCursor(search: string, end: End): boolean {
  const cursor = new URLSearchParams(search).get('cursor')
  return cursor !== null && end.translate(cursor) === cursor
}

/** Returns a query without cursor, for the first records. */
export function withoutCursor(search: string, limit?: number): string {
  const parameters = new URLSearchParams(search)
  parameters.delete('cursor')
  if (limit !== undefined) parameters.set('limit', String(limit))
  return `?${parameters}`
}

/** Asks the late end if the early one has another outcome. Returns undefined if the request cannot be sent. */
export async function askFirst({ entry }: Case, ask: Ask): Promise<Own | undefined> {
  try {
    const first = await ask(0)
    if (isSameOutcome(entry, first)) return [first]
    const second = await ask(1)
    return isSameOutcome(entry, second) ? [second, second] : [first, second]
  } catch {
    // It has a method or a target that no client can send.
    return undefined
  }
}

/**
 * Whether the early end has created a record as the service has, but for the present time. Then the late end would, too,
 * and gets that record.
 */
export function isTimely({ ends: [{ tenant }], operation, content }: Case, { status, body }: Answer): boolean {
  const [own, given] = [membersOf(body), membersOf(content)]
  const now = tenant.clock.now()
  const names = Object.keys(own).filter(name => own[name] === formatInstant(now))
  const at = parseInstant(String(given[names[0] ?? '']))
  if (status !== 201 || operation?.record === undefined || at === undefined || at < now || at > now + 2 * TOLERANCE)
    return false
  return isDeepStrictEqual({ ...own, ...Object.fromEntries(names.map(name => [name, formatInstant(at)])) }, given)
}

/** Notes the tokens that both ends have issued for a captured one. */
export function noteToken({ entry, group, content }: Case, own: readonly Answer[]): void {
  if (entry.issued === undefined) return
  const lifetime = membersOf(content).expires_in
  const end = (entry.at ?? 0) + entry.milliseconds + (typeof lifetime === 'number' ? lifetime * 1000 : 0)
  group.tokens.set(entry.issued, { own: own.map(({ body }) => String(membersOf(body).access_token)), end })
}

/** Whether a token is refused, or accepted, for a reason that the capture does not show: it ends now, or is unknown. */
export function isTokenUncertain({ entry, group, isToken }: Case, code: string | undefined): boolean {
  const known = entry.bearer === undefined ? undefined : group.tokens.get(entry.bearer)
  if (known !== undefined) return entry.at !== undefined && Math.abs(known.end - entry.at) < 60_000
  return !isToken && (code === 'EXPIRED_TOKEN' || code === 'INVALID_TOKEN' || code === 'MISSING_TOKEN')
}

/** Takes over the origins of embedded links, which the settings of the service have. */
export function prepare({ ends, sent: { origin }, isAccepted }: Case): void {
  for (const { tenant } of ends) {
    const { allowedOrigins } = tenant.settings
    if (isAccepted && typeof origin === 'string' && !allowedOrigins.includes(origin) && allowedOrigins.length < 100)
      tenant.settings.allowedOrigins = [...allowedOrigins, origin]
  }
}
