import { isUtf8 } from 'node:buffer'
import type { FastifyRequest } from 'fastify'
import { errors, shorten } from '../core/errors.js'
import type { Slices } from '../core/slices.js'
import { atOnce } from '../core/slices.js'

/** Up to this size, a body needs no other bound. Only a state document can be larger. */
const USUAL_BYTES = 1024 * 1024
/** The maximum nesting of a larger body. A state document has 7 levels. */
const MOST_NESTING = 100
/** The minimum average size of the values of a larger body. Smaller values need much memory for few bytes. */
const LEAST_BYTES_PER_VALUE = 10
/** The maximum number of values of a part of a larger body that is parsed at once, and so of the names of an object. */
const MOST_VALUES_OF_PART = 100_000
/** The bytes that are read between two moments at which other work can come in. */
const PART_BYTES = 64 * 1024

const [QUOTE, COMMA, OPEN_ARRAY, BACKSLASH, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('",[\\]{}')

/** Whether a body is parsed and checked in slices. */
export const isLarge = (bytes: Buffer): boolean => bytes.length > USUAL_BYTES

/** The large bodies. */
const large = new WeakSet<object>()
/** Whether a value is a body that was parsed in slices. */
export const wasLarge = (body: object): boolean => large.has(body)

/** Parses JSON (RFC 8259) in UTF-8 without members that could poison a prototype. Undefined: there is no body. */
export function parseJson(request: FastifyRequest, bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  assertUtf8(bytes)
  const text = bytes.toString()
  request.sandbox.bodyText = text
  const value = toObject(text)
  if (mayBeHostile(text)) atOnce(assertHarmless(value))
  return value
}

/**
 * Does the same for a large body, in slices. Bounds its nesting and the number of its values.
 *
 * The items of the lists of the body are parsed one by one. Then the rest is parsed, in which a list has only its number.
 * @param limit the maximum size of the body in bytes
 */
export function* parseLargeJson(bytes: Buffer, limit: number): Slices<object> {
  assertUtf8(bytes)
  const mostValues = Math.floor(limit / LEAST_BYTES_PER_VALUE)
  const lists: unknown[][] = []
  /** The list that is being read. */
  let items: unknown[] | undefined
  let rest = ''
  let isHostile = false
  let [nesting, values, valuesOfItem, isText] = [0, 0, 0, false]
  let [valuesOfRest, parted, taken] = [0, 0, 0]

  /** Takes the text up to a place. */
  const take = (end: number) => {
    const text = bytes.toString('utf8', taken, end)
    taken = end
    isHostile ||= mayBeHostile(text)
    return text
  }

  for (let at = 0; at < bytes.length; at++) {
    if (at - parted >= PART_BYTES) {
      parted = at
      yield
    }
    const byte = bytes[at]
    if (byte === QUOTE) isText = !isText
    else if (isText) at += byte === BACKSLASH ? 1 : 0
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT || byte === COMMA) {
      if (++values > mostValues) throw errors.payloadTooLarge(null, `${mostValues} values`)
      const valuesOfPart = items === undefined ? ++valuesOfRest : ++valuesOfItem
      if (valuesOfPart > MOST_VALUES_OF_PART) {
        throw errors.payloadTooLarge(null, `${MOST_VALUES_OF_PART} values in one item of a list, or outside of lists`)
      }
      if (byte === COMMA) {
        if (items === undefined || nesting !== 2) continue
        items.push(toValue(take(at)))
        taken = at + 1
        valuesOfItem = 0
      } else if (++nesting > MOST_NESTING) {
        throw errors.malformed(null, `The body is nested deeper than ${MOST_NESTING}.`)
      } else if (nesting === 2 && byte === OPEN_ARRAY) {
        items = []
        valuesOfItem = 0
        rest += take(at + 1)
      }
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
      if (items !== undefined && nesting === 2) {
        const text = take(at)
        // A list without items has a blank text.
        if (items.length > 0 || !/^[ \t\n\r]*$/.test(text)) items.push(toValue(text))
        rest += lists.push(items) - 1
        items = undefined
      }
      nesting--
    }
  }
  const value = toObject(rest + take(bytes.length)) as Record<string, unknown>
  for (const name of Object.keys(value)) {
    const list = value[name]
    if (Array.isArray(list)) value[name] = lists[list[0]]
  }
  if (isHostile) yield* assertHarmless(value)
  large.add(value)
  return value
}

function assertUtf8(bytes: Buffer): void {
  if (!isUtf8(bytes)) throw errors.malformed(null, 'The body is not UTF-8.')
}

function toValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw errors.malformed(null, 'The body is not JSON.')
  }
}

function toObject(text: string): object {
  const value = toValue(text)
  if (!isObject(value) || Array.isArray(value)) throw errors.invalid(null, 'The body must be a JSON object.')
  return value
}

/** Only texts with these escapes and names can be hostile. */
const mayBeHostile = (text: string) => /__proto__|constructor|\\u/.test(text)

/** A value inside a body, with its place. */
interface Located {
  readonly value: object
  readonly name: string
  readonly parent: Located | undefined
}

/** The sentence on a text that is not valid Unicode. @param path its place */
export const notUnicode = (path: string): string => `${shorten(path)} is not valid Unicode: it has a lone surrogate.`

/** Refuses `__proto__` and `constructor.prototype` members, and text that is not Unicode. */
function* assertHarmless(root: object): Slices {
  const pending: Located[] = [{ value: root, name: '', parent: undefined }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value: parent } = next
    for (const [key, value] of Array.isArray(parent) ? parent.entries() : Object.entries(parent)) {
      yield
      const name = String(key)
      if (name === '__proto__' || (name === 'constructor' && isObject(value) && Object.hasOwn(value, 'prototype'))) {
        throw errors.malformed(name, `The body must not have a member ${name}.`)
      }
      if (!name.isWellFormed()) {
        throw errors.invalid(null, 'The name of a member is not valid Unicode: it has a lone surrogate.')
      }
      if (typeof value === 'string' && !value.isWellFormed()) {
        const path = pathTo(next, name)
        throw errors.invalid(path, notUnicode(path))
      }
      if (isObject(value)) pending.push({ value, name, parent: next })
    }
  }
}

/** Returns the path of a member, as in `debtor.name`. */
function pathTo(owner: Located, name: string): string {
  const names = [name]
  for (let at: Located = owner; at.parent !== undefined; at = at.parent) names.push(at.name)
  return names.reverse().join('.')
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object'
