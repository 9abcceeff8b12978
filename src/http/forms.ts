export const FORM = 'application/x-www-form-urlencoded'

/** The fields of a query string or form by name; a repeated one holds all its values. */
export interface Fields {
  [name: string]: string | string[]
}

/** Marks fields whose text was badly encoded, so that the refusal comes when it is the query's or body's turn. */
const MALFORMED = Symbol('malformed')

/** Makes fields whose prototype lends no members. What `Object.create(null)` makes is a hash map to V8: twice as slow. */
function EmptyFields() {}
EmptyFields.prototype = Object.create(null)
const FieldsObject = EmptyFields as unknown as new () => Fields

const NO_FIELDS: Fields = Object.freeze(new FieldsObject())

export const isMalformed = (fields: object): boolean => MALFORMED in fields

/**
 * Parses the text of a query string or form (WHATWG URL, application/x-www-form-urlencoded), but tells bad
 * percent-encoding, which the standard passes over. Never throws: it is called where nothing would catch that.
 */
export function parseForm(text: string): Fields {
  if (text === '') return NO_FIELDS
  const fields = new FieldsObject()
  const decode = ENCODED.test(text) ? decoded : asItIs
  for (const pair of text.split('&')) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decode(equals < 0 ? pair : pair.slice(0, equals))
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1))
    if (name === undefined || value === undefined) {
      Object.defineProperty(fields, MALFORMED, { value: true })
      return fields
    }
    const earlier = fields[name]
    if (earlier === undefined) fields[name] = value
    else if (typeof earlier === 'string') fields[name] = [earlier, value]
    else earlier.push(value)
  }
  return fields
}

const ENCODED = /[%+]/

const asItIs = (text: string) => text

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}
