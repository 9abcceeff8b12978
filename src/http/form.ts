import type { MultipartValue } from '@fastify/multipart'
import type { FastifyRequest } from 'fastify'
import type { ApiError } from '../core/errors.js'
import { errors, shorten } from '../core/errors.js'
import { textOf } from '../core/text.js'
import { notUnicode } from './json-body.js'
import { isDecodable } from './url.js'

export const FORM = 'application/x-www-form-urlencoded'

/** The maximum size of a form without its file, in bytes (assumed, decisions §1). The largest has 100 deprecations. */
export const FORM_LIMIT = 128 * 1024
/** The maximum number of fields of a form (assumed, decisions §1). */
const MOST_FIELDS = 1000

/**
 * Parses a form (WHATWG URL, application/x-www-form-urlencoded) for `@fastify/formbody`.
 * Throws MALFORMED_REQUEST for bad percent-encoding, which the standard ignores, and for a repeated field, and
 * PAYLOAD_TOO_LARGE for too many fields.
 */
export function parseForm(text: string): Record<string, string> {
  let fieldCount = 1
  for (let at = text.indexOf('&'); at >= 0; at = text.indexOf('&', at + 1)) {
    if (++fieldCount > MOST_FIELDS) throw errors.payloadTooLarge(null, `${MOST_FIELDS} fields`)
  }
  if (!isDecodable(text)) throw errors.malformed(null, 'The form has bad percent-encoding.')
  return toFields(new URLSearchParams(withSpaces(text)))
}

const [PLUS, SPACE] = Buffer.from('+ ') as unknown as [number, number]

/** Returns a form without a byte order mark, and with a space for each +. `URLSearchParams` takes 150 ms for a million of them. */
function withSpaces(text: string): string {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at++) if (bytes[at] === PLUS) bytes[at] = SPACE
  return textOf(bytes)
}

/**
 * Returns the fields of a form by their names. A field without a value is no second one (RFC 6749 §3.2).
 * @throws MALFORMED_REQUEST (a repeated field), INVALID_FIELD (a text that is not valid Unicode)
 */
export function toFields(pairs: Iterable<readonly [name: string, value: string]>): Record<string, string> {
  const fields: Record<string, string> = Object.create(null)
  for (const [name, value] of pairs) {
    if (!name.isWellFormed() || !value.isWellFormed()) throw errors.invalid(name, notUnicode(name))
    if (fields[name] && value === '') continue
    if (fields[name]) throw errors.malformed(name, `${shorten(name)} must be given once.`)
    fields[name] = value
  }
  return fields
}

/** Yields the parts of a body. After a refusal, the rest of it is not parsed. */
async function* partsOf(request: FastifyRequest) {
  try {
    yield* request.parts()
  } finally {
    request.raw.unpipe().resume()
  }
}

/** A form as it was sent. */
export interface SentForm {
  readonly fields: Readonly<Record<string, string>>
  /** The content of its file; undefined: it has none. */
  readonly file?: Buffer | undefined
  /** Why its file is not taken. */
  readonly refusal?: ApiError | undefined
}

/** The content of a file before one is chosen. */
export const NO_FILE = Buffer.of()

/**
 * Reads a form that `@fastify/formbody` or `@fastify/multipart` has parsed. Its fields come before its file, so that a refused
 * file keeps them.
 * @param limit the maximum size of its fields in bytes
 * @param fileLimit the maximum size of its file, for the message
 * @throws MALFORMED_REQUEST, UNSUPPORTED_MEDIA_TYPE (a field that is no text), PAYLOAD_TOO_LARGE
 */
export async function readForm(request: FastifyRequest, limit: number, fileLimit: string): Promise<SentForm> {
  if (!request.isMultipart()) return { fields: (request.body ?? toFields([])) as SentForm['fields'] }
  let file: Buffer = NO_FILE
  let refusal: ApiError | undefined
  const parts: MultipartValue[] = []
  try {
    for await (const part of partsOf(request)) {
      // The parser gives a part without a name, too.
      if (part.fieldname === undefined) throw new Error('A part has no name.')
      if (part.type === 'file') file = await part.toBuffer()
      else parts.push(part)
    }
  } catch (error) {
    if ((error as { code?: string }).code !== 'FST_REQ_FILE_TOO_LARGE')
      throw errors.malformed(null, 'The form is not well-formed multipart/form-data, or has too many parts.')
    refusal = errors.payloadTooLarge('file', fileLimit)
  }
  if (file.length === 0) refusal ??= errors.missing('file')
  let length = 0
  const fields = parts.map(({ fieldname, mimetype, value, ...part }): [string, string] => {
    if (mimetype !== 'text/plain') throw errors.unsupportedMediaType(fieldname, 'A field of a form is a text.')
    const isCut = part.fieldnameTruncated || part.valueTruncated
    length += Buffer.byteLength(fieldname + value)
    if (isCut || length > limit) throw errors.payloadTooLarge(null, `${limit} bytes without its file`)
    return [fieldname, String(value)]
  })
  return { fields: toFields(fields), file, refusal }
}
