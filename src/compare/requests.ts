import { MASK } from '../http/masking.js'
import { MULTIPART } from '../http/multipart.js'
import { membersOf } from './answers.js'
import { decode } from './contract.js'
import type { Entry } from './har.js'
import type { End, Json, Outgoing } from './sandbox.js'
import { SECRET } from './sandbox.js'

/** The credentials of a request at one end. */
export interface Credentials {
  /** The access token; undefined: the request has no header `Authorization`. */
  readonly token: string | undefined
  /** Whether the secret of a token request is right. */
  readonly hasSecret: boolean
}

/** The request headers that the sandbox reads. */
const SENT = ['accept', 'x-region', 'x-request-id', 'idempotency-key', 'content-encoding']
const BOUNDARY = 'payments-sandbox-compare-8f14e45fceea167a'

/** Returns a captured request as it is sent to the client at one end: with its credentials and its values. */
export function toOutgoing(entry: Entry, path: string, end: End, credentials: Credentials, isToken: boolean): Outgoing {
  const headers: Record<string, string> = {}
  for (const name of SENT) if (entry.headers[name] !== undefined) headers[name] = entry.headers[name]
  const { authorization } = entry.headers
  if (isToken && authorization !== undefined) headers.authorization = basicOf(authorization, end, credentials)
  else if (credentials.token !== undefined)
    headers.authorization = (authorization ?? `Bearer ${MASK}`).replace(MASK, () => credentials.token as string)
  const payload = payloadOf(entry, end, credentials)
  const { body, mediaType } = entry
  const isMade = body.kind === 'upload' && body.boundary === undefined
  if (payload !== undefined) headers['content-type'] = isMade ? `${MULTIPART}; boundary=${BOUNDARY}` : mediaType
  return { method: entry.method, url: urlOf(entry, path, end), headers, payload }
}

const basicOf = (given: string, end: End, { hasSecret }: Credentials) =>
  given.replace(MASK, () => Buffer.from(`${end.clientId}:${hasSecret ? SECRET : 'wrong'}`).toString('base64'))

function urlOf({ search }: Entry, path: string, end: End): string {
  if (end.captured.size === 0) return path + search
  const segments = path.split('/').map(segment => {
    const own = end.translate(decode(segment))
    return own === decode(segment) ? segment : encodeURIComponent(String(own))
  })
  const parameters = search
    .slice(1)
    .split('&')
    .map(pair => {
      const [name = '', value] = pair.split('=')
      const own = value === undefined ? undefined : end.translate(decode(value))
      return own === undefined || own === decode(value as string) ? pair : `${name}=${encodeURIComponent(String(own))}`
    })
  return segments.join('/') + (search === '' ? '' : `?${parameters.join('&')}`)
}

function payloadOf({ body, answer }: Entry, end: End, { hasSecret }: Credentials): string | Buffer | undefined {
  switch (body.kind) {
    case 'json':
      return JSON.stringify(end.translate(body.value))
    case 'text':
      // Any text that is not JSON does.
      return '{'
    case 'form':
      return new URLSearchParams(
        body.fields.map(([name, value]): [string, string] => {
          if (name === 'client_id' && value !== '') return [name, end.clientId]
          return [name, name === 'client_secret' && value !== '' ? (hasSecret ? SECRET : 'wrong') : value]
        }),
      ).toString()
    case 'upload':
      return uploadOf(body.text, body.boundary ?? BOUNDARY, answer.kind === 'json' ? membersOf(answer.value) : {}, end)
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
  const text = given === '' ? LEFT_OUT.replaceAll(BOUNDARY, boundary) : given
  const repaired = text.replace(FILE, (_, name: string, head: string, content: string) => {
    const [, type] = /content-type: *([^\r\n;]+)/i.exec(head) ?? []
    const kind = FIRST_BYTES.get(type) ?? FIRST_BYTES.get(answered.contentType) ?? '%PDF-1.7\n'
    const fileName = ASCII.test(name) ? name : bytesOf(String(answered.fileName ?? `${end.clientId}.pdf`))
    const isWhole = isKept || /^[\0-\x7f]/.test(content)
    return `filename="${fileName}"${head}${isWhole ? content : kind}${isWhole && ASCII.test(content) ? '' : end.clientId}`
  })
  return Buffer.from(repaired, 'latin1')
}

/** Returns the bytes of a quoted text, a character each. */
const bytesOf = (text: string) => Buffer.from(text.replace(/["\\\r\n]/g, '\\$&')).toString('latin1')
const ASCII = /^[\0-\x7f]*$/

/** Whether a request has a cursor that no earlier answer has. */
export function isForeignCursor({ search }: Entry, end: End): boolean {
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
