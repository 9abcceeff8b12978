import { isUtf8 } from 'node:buffer'
import type { FastifyRequest } from 'fastify'
import parse from 'secure-json-parse'
import { errors, shorten } from '../core/errors.js'
import { textOf } from '../core/text.js'

/**
 * Parses a JSON object (RFC 8259) in UTF-8 without members that could poison a prototype (decisions §1). The log has its text.
 * @returns undefined if there is no body
 * @throws MALFORMED_REQUEST, INVALID_FIELD (no object, a lone surrogate), PAYLOAD_TOO_LARGE
 */
export function parseJson(request: FastifyRequest, bytes: Buffer): object | undefined {
  if (bytes.length === 0) return undefined
  assertDense(bytes)
  if (!isUtf8(bytes)) throw errors.malformed(null, 'The body is not UTF-8.')
  const text = textOf(bytes)
  request.sandbox.bodyText = text
  return parseObject(text)
}

/** Refuses a large body of small objects and arrays: parsed, it takes many times its size. */
function assertDense(bytes: Buffer): void {
  if (bytes.length <= LARGE) return
  let count = 0
  for (const byte of bytes) if (byte === OPENING_BRACKET || byte === OPENING_BRACE) count++
  if (count > bytes.length / 16) throw errors.tooManyObjects()
}

const LARGE = 1024 * 1024
const [OPENING_BRACKET, OPENING_BRACE] = [0x5b, 0x7b]

/** Parses the text of a JSON object in the same way. @throws MALFORMED_REQUEST, INVALID_FIELD */
export function parseObject(text: string): object {
  const value = toValue(text)
  if (!isObject(value) || Array.isArray(value)) throw errors.invalid(null, 'The body must be a JSON object.')
  // Bytes in UTF-8 have none, so only an escape can be one.
  if (SURROGATE.test(text)) assertUnicode(value)
  return value
}

/** https://github.com/fastify/secure-json-parse */
function toValue(text: string): unknown {
  try {
    return parse(text)
  } catch (error) {
    if (!/forbidden prototype/.test((error as Error).message)) throw errors.malformed(null, 'The body is not JSON.')
    const name = isHostile(text, { constructorAction: 'ignore' }) ? '__proto__' : 'constructor'
    throw errors.malformed(name, `The body must not have a member ${name}.`)
  }
}

function isHostile(text: string, options: { constructorAction: 'ignore' }): boolean {
  try {
    parse(text, options)
    return false
  } catch {
    return true
  }
}

const SURROGATE = /\\u[dD][89a-fA-F]/

/** The sentence on a text that is not valid Unicode. @param path its place */
export const notUnicode = (path: string): string => `${shorten(path)} is not valid Unicode: it has a lone surrogate.`

/** Refuses text with a lone surrogate, which a database would change. A body can be nested deeper than calls. */
function assertUnicode(root: object): void {
  const pending: [path: string, value: object][] = [['', root]]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [path, parent] = next
    for (const [name, value] of Object.entries(parent)) {
      if (!name.isWellFormed()) {
        throw errors.invalid(null, 'The name of a member is not valid Unicode: it has a lone surrogate.')
      }
      const place = path === '' ? name : `${path}.${name}`
      if (typeof value === 'string' && !value.isWellFormed()) throw errors.invalid(place, notUnicode(place))
      if (isObject(value)) pending.push([place, value])
    }
  }
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object'
