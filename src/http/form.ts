import { errors, shorten } from '../core/errors.js'
import { notUnicode } from './json-body.js'
import { isDecodable } from './url.js'

export const FORM = 'application/x-www-form-urlencoded'

/** The maximum size of a form in bytes (assumed, decisions §1). */
export const FORM_LIMIT = 128 * 1024
/** The maximum number of fields of a form (assumed, decisions §1). */
const MOST_FIELDS = 1000

/**
 * Parses a form (WHATWG URL, application/x-www-form-urlencoded) for `@fastify/formbody`.
 * Throws MALFORMED_REQUEST for bad percent-encoding, which the standard ignores, and for a repeated field, and
 * PAYLOAD_TOO_LARGE for too many fields.
 */
export function parseForm(text: string): Record<string, string> {
  if (text.split('&').length > MOST_FIELDS) throw errors.payloadTooLarge(null, `${MOST_FIELDS} fields`)
  if (!isDecodable(text)) throw errors.malformed(null, 'The form has bad percent-encoding.')
  return toFields(new URLSearchParams(text.replace(/^\uFEFF/, '')))
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
