import { isUtf8 } from 'node:buffer'
import type { FastifyRequest } from 'fastify'
import { errors, shorten } from '../core/errors.js'
import type { Slices } from '../core/slices.js'
import { atOnce } from '../core/slices.js'

/** The maximum number of values of a body that is parsed at once (assumed, decisions §1). */
const MOST_VALUES = 10_000
/** A body of the control plane above this size is parsed in slices. */
const SMALL_BYTES = 16 * 1024
/** The maximum nesting of such a body. A state document has 7 levels. */
const MOST_NESTING = 100
/** The least bytes of its limit for each of these. Smaller ones need much memory for few bytes. */
const LEAST_BYTES = { values: 10, names: 12, objects: 48 }
/** The bounds of a part of it that is parsed at once. Names take much longer than other values. */
const MOST_OF_PART = { values: 100_000, names: 10_000, bytes: 8 * 1024 * 1024 }
/** The bytes that are read between two moments at which other work can come in. */
const STEP_BYTES = 16 * 1024

const SPACE = 0x20
const [QUOTE, COMMA, COLON, OPEN_ARRAY, BACKSLASH, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('",:[\\]{}')

/** Whether a body is parsed and checked in slices. */
export const isLarge = ({ sandbox }: FastifyRequest, bytes: Buffer): boolean =>
  sandbox.route.config.isStrict === true && bytes.length > SMALL_BYTES

/** Parses JSON (RFC 8259) in UTF-8 without members that could poison a prototype. Undefined: there is no body. */
export function parseJson(request: FastifyRequest, bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  assertUtf8(bytes)
  assertFewValues(bytes)
  const text = bytes.toString()
  request.sandbox.bodyText = text
  const value = toObject(text)
  if (mayBeHostile(text)) atOnce(assertHarmless(value))
  return value
}

function assertFewValues(bytes: Buffer): void {
  let [values, isText] = [0, false]
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (byte === QUOTE) isText = !isText
    else if (isText) at += byte === BACKSLASH ? 1 : 0
    else if ((byte === COMMA || byte === OPEN_ARRAY || byte === OPEN_OBJECT) && ++values > MOST_VALUES) {
      throw errors.payloadTooLarge(null, `${MOST_VALUES} values`)
    }
  }
}

/**
 * Does the same for a large body, in slices. Bounds its nesting, the numbers of its values, names and objects, and the parts that are parsed.
 *
 * The items of the outermost lists are parsed one by one. Then the rest is parsed, in which a list has only its number.
 * @param limit the maximum size of the body in bytes
 */
export function* parseLargeJson(bytes: Buffer, limit: number): Slices<object> {
  assertUtf8(bytes)
  const whole = { values: 0, names: 0, objects: 0 }
  const lists: unknown[][] = []
  /** The list that is being read. */
  let items: unknown[] | undefined
  let rest = ''
  let isHostile = false
  let [nesting, nestingOfList, isText] = [0, 0, false]
  let [taken, paused] = [0, 0]
  const outside = newPart()
  /** An item, or all that is outside of the lists. */
  let part = outside

  /** Counts one more in the whole body. */
  const add = (what: keyof typeof whole) => {
    if (++whole[what] * LEAST_BYTES[what] <= limit) return
    throw errors.payloadTooLarge(null, `${Math.floor(limit / LEAST_BYTES[what])} ${what}`)
  }

  /** Takes the text up to a place. */
  const take = (end: number) => {
    count(part, 'bytes', end - taken)
    const text = bytes.toString('utf8', taken, end)
    taken = end
    isHostile ||= mayBeHostile(text)
    return text
  }

  for (let at = 0; at < bytes.length; at++) {
    if (at - paused >= STEP_BYTES) {
      paused = at
      yield
    }
    const byte = bytes[at] as number
    if (byte === QUOTE) isText = !isText
    else if (isText) at += byte === BACKSLASH ? 1 : 0
    else if (byte <= SPACE) part.bytes--
    else if (byte === COLON) {
      add('names')
      count(part, 'names')
    } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT || byte === COMMA) {
      add('values')
      if (byte === OPEN_OBJECT) add('objects')
      count(part, 'values')
      if (byte === COMMA) {
        if (items === undefined || nesting !== nestingOfList) continue
        items.push(toValue(take(at)))
        taken = at + 1
        part = newPart()
      } else if (++nesting > MOST_NESTING) {
        throw errors.malformed(null, `The body is nested deeper than ${MOST_NESTING}.`)
      } else if (items === undefined && byte === OPEN_ARRAY) {
        rest += take(at + 1)
        items = []
        nestingOfList = nesting
        part = newPart()
      }
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) {
      if (items !== undefined && nesting === nestingOfList) {
        const text = take(at)
        // A list without items has a blank text.
        if (items.length > 0 || !/^[ \t\n\r]*$/.test(text)) items.push(toValue(text))
        rest += lists.push(items) - 1
        items = undefined
        part = outside
      }
      nesting--
    }
  }
  const value = toObject(rest + take(bytes.length))
  insertLists(value as Record<string, unknown>, lists)
  if (isHostile) yield* assertHarmless(value)
  return value
}

type Part = Record<keyof typeof MOST_OF_PART, number>
const newPart = (): Part => ({ values: 0, names: 0, bytes: 0 })

/** Counts what a part has more of. Space between values is no part of it. @throws PAYLOAD_TOO_LARGE */
function count(part: Part, what: keyof Part, more = 1): void {
  part[what] += more
  if (part[what] <= MOST_OF_PART[what]) return
  throw errors.payloadTooLarge(null, `${MOST_OF_PART[what]} ${what} in one item of a list, or outside of lists`)
}

/** Replaces the numbers of lists by the lists. */
function insertLists(value: Record<string, unknown>, lists: readonly unknown[][]): void {
  for (const name of Object.keys(value)) {
    const member = value[name]
    if (Array.isArray(member)) value[name] = lists[member[0]]
    else if (isObject(member)) insertLists(member, lists)
  }
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
