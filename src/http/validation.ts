import { isUtf8 } from 'node:buffer'
import type { TObject, TSchema } from '@sinclair/typebox'
import type { ErrorObject, Format, ValidateFunction } from 'ajv'
import { Ajv } from 'ajv'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { ErrorCode } from '../core/errors.js'
import { ApiError, errors, quote, shorten } from '../core/errors.js'
import { isBic, isCountryCode, isCreditorIdentifier, isIban, isSepaIban } from '../core/rules/identifiers.js'
import { centsAtMost, isDecimal } from '../core/rules/money.js'
import { isOrigin, isOriginPattern } from '../core/rules/origins.js'
import { parseDuration } from '../core/time/duration.js'
import { isCalendarDate, parseInstant } from '../core/time/time.js'
import { FORM } from './form.js'
import { hintIgnored } from './hints.js'
import { isDecodable, originForm } from './url.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a parameter or member that the schema does not name is refused, and not only reported. */
    isStrict?: boolean
  }
}

/** The formats of the schemas, which check more than their text. */
export const FORMATS: Readonly<Record<string, Format>> = {
  date: isCalendarDate,
  'date-time': (text: string) => parseInstant(text) !== undefined,
  'iso-8601-duration': (text: string) => parseDuration(text) !== undefined,
  origin: isOrigin,
  'origin-pattern': isOriginPattern,
  iban: isIban,
  'sepa-iban': isSepaIban,
  'creditor-identifier': isCreditorIdentifier,
  bic: isBic,
  country: isCountryCode,
  double: true,
}

const ajv = new Ajv({
  strict: true,
  allowUnionTypes: true,
  strictRequired: false,
  strictTypes: false,
  // Errors carry the schema and the value, from which messages are made.
  verbose: true,
  // Optimizing the generated code took a third of the start, and made no request faster.
  code: { optimize: false },
  keywords: ['x-fidelity', 'x-fidelity-note', 'x-fidelity-constraints', 'x-expected', 'x-error-code'],
  formats: FORMATS,
})

/** The validators by schema, compiled on first use: all servers of a process share them. */
const validators = new WeakMap<object, ValidateFunction>()

function validatorOf(schema: TSchema): ValidateFunction {
  const validator = validators.get(schema) ?? ajv.compile(schema)
  validators.set(schema, validator)
  return validator
}

/**
 * Validates a value. Throws MISSING_FIELD, or for a broken constraint the code of the schema, else the given one.
 */
export function check(schema: TSchema, value: unknown, code: ErrorCode): void {
  const validator = validatorOf(schema)
  if (!validator(value)) throw toApiError(validator.errors as ErrorObject[], schema, code)
}

/** Whether a value is valid. */
export const isValid = (schema: TSchema, value: unknown): boolean => validatorOf(schema)(value) === true

/**
 * Fastify's validator compiler. Query strings are text, so they are parsed by their schema; bodies are never coerced.
 */
export function validatorCompiler({ schema, httpPart }: { schema: unknown; httpPart?: string }) {
  const parse = parsers[httpPart as keyof typeof parsers]
  // The region plugin has validated the one header that schemas name.
  if (parse === undefined) return () => true
  return (value: unknown) => {
    try {
      return { value: parse(schema as TObject, value) }
    } catch (error) {
      return { error: error as Error }
    }
  }
}

const parsers = {
  params(schema: TObject, params: unknown): unknown {
    check(schema, params, 'INVALID_FIELD')
    return params
  },
  querystring(schema: TObject, given: unknown): unknown {
    const query: Record<string, unknown> = {}
    const decimals: Record<string, string> = {}
    for (const [name, value] of Object.entries(foldArrays(schema, given as Query))) {
      if (!Object.hasOwn(schema.properties, name)) continue
      const parameter = schema.properties[name] as TSchema
      query[name] = parseParameter(name, value, parameter)
      if (parameter.type === 'number') decimals[name] = value as string
    }
    check(schema, query, 'INVALID_QUERY_PARAMETER')
    // Amounts are compared exactly, so handlers get the text of a decimal and no binary double (decisions §5).
    return { ...query, ...decimals }
  },
  body(schema: TObject, given: unknown): unknown {
    // Fastify passes null where there is no body.
    const body = given ?? {}
    check(schema, body, 'INVALID_FIELD')
    return body
  },
}

/** Requests with bad percent-encoding, and bodies that are not JSON objects, are refused here (decisions §1). */
export const validation = fp((app, _options, done) => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, parsed) => {
    parsed(null, parseJson(request, body))
  })

  app.addHook('onRequest', ({ headers }, _reply, next) => {
    // Without a body, its type does not matter (decisions §1); Fastify would refuse the type.
    const isEmpty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0
    if (isEmpty) delete headers['content-type']
    next()
  })

  app.addHook('preValidation', (request, _reply, next) => {
    if (!isDecodable(originForm(request.originalUrl))) {
      throw errors.malformed(null, 'The request target has bad percent-encoding.')
    }
    removeUnknown(request)
    next()
  })
  done()
})

/** Removes the members that the schema of a body does not name. Hints at them and at such parameters, or refuses them. */
function removeUnknown(request: FastifyRequest): void {
  const { schema, config } = request.sandbox.route
  const { querystring, body } = (schema ?? {}) as { querystring?: TObject; body?: TObject }
  const parameters = querystring?.properties ?? {}
  for (const name of Object.keys(request.query as object)) {
    if (Object.hasOwn(parameters, baseName(name, parameters))) continue
    if (config.isStrict) {
      const known = Object.keys(parameters).join(', ') || 'none'
      throw new ApiError('INVALID_QUERY_PARAMETER', name, `There is no parameter ${shorten(name)}. Known: ${known}.`)
    }
    hintIgnored(request, 'parameter', name)
  }
  if (body === undefined || !isObject(request.body)) return
  if (config.consumes === FORM) request.sandbox.form = request.body as Record<string, string>
  request.body = namedOnly(body, request.body, (name, known) => {
    if (config.isStrict) {
      throw errors.invalid(name, `There is no member ${shorten(name)}. Known: ${known.join(', ')}.`)
    }
    hintIgnored(request, 'member', name)
  })
}

// ---------------------------------------------------------------------------------------------------------- query

type Query = Readonly<Record<string, string | string[]>>

/** `status[]` and `status[0]` are spellings of the array parameter `status` (decisions §1). */
function baseName(name: string, parameters: TObject['properties']): string {
  const base = /^(\w+)\[\d*\]$/.exec(name)?.[1]
  return base !== undefined && Object.hasOwn(parameters, base) && parameters[base]?.type === 'array' ? base : name
}

function foldArrays({ properties }: TObject, query: Query): Record<string, string | string[]> {
  const folded: Record<string, string | string[]> = {}
  for (const [name, value] of Object.entries(query)) {
    const base = baseName(name, properties)
    folded[base] = Object.hasOwn(folded, base) ? [folded[base] as string, value].flat() : value
  }
  return folded
}

function parseParameter(name: string, value: string | string[], { type }: TSchema): unknown {
  if (type === 'array') return [...new Set([value].flat().flatMap(item => item.split(',')))]
  if (typeof value !== 'string') throw errors.malformed(name, `${shorten(name)} must be given once.`)
  if (value === '') {
    throw new ApiError('INVALID_QUERY_PARAMETER', name, `${name} must not be empty: leave it out instead.`)
  }
  if (type === 'integer' && /^-?\d{1,15}$/.test(value)) return Number(value)
  // Rounded down to whole cents, exactly: a binary double would accept 0.00999999999999999999 as 0.01.
  if (type === 'number' && isDecimal(value)) return centsAtMost(value) / 100
  return value
}

// ----------------------------------------------------------------------------------------------------------- body

/** Parses JSON (RFC 8259) in UTF-8 without members that could poison a prototype. Undefined: there is no body. */
function parseJson(request: FastifyRequest, bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  if (!isUtf8(bytes)) throw errors.malformed(null, 'The body is not UTF-8.')
  const text = bytes.toString()
  request.sandbox.bodyText = text
  if (bytes.length > USUAL_BYTES) assertParseable(bytes, request.sandbox.route.bodyLimit)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw errors.malformed(null, 'The body is not JSON.')
  }
  if (!isObject(value) || Array.isArray(value)) throw errors.invalid(null, 'The body must be a JSON object.')
  // Only these escapes and names can be hostile.
  if (/__proto__|constructor|\\u/.test(text)) assertHarmless(value)
  return value
}

/** Up to this size, a body needs no other bound. Only a state document can be larger. */
const USUAL_BYTES = 1024 * 1024
/** The maximum nesting of a larger body. A state document has 7 levels. */
const MOST_NESTING = 100
/** The minimum average size of the values of a larger body. Smaller values need much memory for few bytes. */
const LEAST_BYTES_PER_VALUE = 16

const [QUOTE, COMMA, OPEN_ARRAY, BACKSLASH, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = Buffer.from('",[\\]{}')

/**
 * Bounds the nesting and the number of values of a JSON text before it is parsed.
 * @throws MALFORMED_REQUEST, PAYLOAD_TOO_LARGE
 */
function assertParseable(json: Buffer, limit: number): void {
  const mostValues = limit / LEAST_BYTES_PER_VALUE
  let [nesting, values, isText] = [0, 0, false]
  for (let at = 0; at < json.length; at++) {
    const byte = json[at]
    if (byte === QUOTE) isText = !isText
    else if (isText) at += byte === BACKSLASH ? 1 : 0
    else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) nesting--
    else if (byte === COMMA) values++
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      values++
      if (++nesting > MOST_NESTING) throw errors.malformed(null, `The body is nested deeper than ${MOST_NESTING}.`)
    }
    if (values > mostValues) throw errors.payloadTooLarge(null, `${mostValues} values`)
  }
}

/** A value inside a body, with its place. */
interface Located {
  readonly value: object
  readonly name: string
  readonly parent: Located | undefined
}

/** Refuses `__proto__` and `constructor.prototype` members, and text that is not Unicode. */
function assertHarmless(root: object): void {
  const pending: Located[] = [{ value: root, name: '', parent: undefined }]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value: parent } = next
    for (const name in parent) {
      const value = (parent as Record<string, unknown>)[name]
      if (name === '__proto__' || (name === 'constructor' && isObject(value) && Object.hasOwn(value, 'prototype'))) {
        throw errors.malformed(name, `The body must not have a member ${name}.`)
      }
      if (!name.isWellFormed()) {
        throw errors.invalid(null, 'The name of a member is not valid Unicode: it has a lone surrogate.')
      }
      if (typeof value === 'string' && !value.isWellFormed()) {
        const path = pathTo(next, name)
        throw errors.invalid(path, `${shorten(path)} is not valid Unicode: it has a lone surrogate.`)
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

const isObject = (value: unknown): value is Record<string, unknown> => value !== null && typeof value === 'object'

/** A schema without properties takes members of any name. */
const propertiesOf = (schema: TSchema): TObject['properties'] | undefined => schema.properties

/** Returns a copy with only the members that the schema names. Calls `report` for the others, with their paths. */
function namedOnly(
  schema: TSchema,
  value: unknown,
  report: (name: string, known: readonly string[]) => void,
  path: readonly (string | number)[] = [],
): unknown {
  if (Array.isArray(value) && schema.items !== undefined) {
    return value.map((item, at) => namedOnly(schema.items, item, report, [...path, at]))
  }
  const properties = propertiesOf(schema)
  if (!isObject(value) || Array.isArray(value) || properties === undefined) return value
  const named: Record<string, unknown> = {}
  for (const [name, member] of Object.entries(value)) {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined
    if (property === undefined) report([...path, name].join('.'), Object.keys(properties))
    else named[name] = isObject(member) ? namedOnly(property, member, report, [...path, name]) : member
  }
  return named
}

// --------------------------------------------------------------------------------------------------------- errors

function toApiError(failures: readonly ErrorObject[], root: TSchema, code: ErrorCode): ApiError {
  const failure = failures.at(-1) as ErrorObject
  const { keyword, params, data } = failure
  const schema = failure.parentSchema as TSchema
  const path = failure.instancePath.split('/').slice(1).map(unescapePointer)

  if (keyword === 'anyOf') {
    const alternatives = (failure.schema as { required: string[] }[]).flatMap(({ required }) => required)
    return errors.missing(null, `Give at least one of ${alternatives.join(', ')}.`)
  }
  if (keyword === 'required') return errors.missing([...path, params.missingProperty].join('.'))
  // A query parameter is named as a whole, however its value was split.
  const field = code === 'INVALID_QUERY_PARAMETER' ? (path[0] as string) : path.join('.')
  if (data === '' && code === 'INVALID_FIELD' && isRequired(root, path)) {
    return errors.missing(field, `${field} is required and must not be empty.`)
  }
  const expected = schema['x-expected'] ?? `of type ${schema.type}`
  const own = keyword === 'type' ? undefined : (schema['x-error-code'] as ErrorCode | undefined)
  return new ApiError(own ?? code, field, `${field} must be ${expected}, not ${quote(data)}.`)
}

/** JSON Pointer, RFC 6901 §4. */
const unescapePointer = (token: string) => token.replaceAll('~1', '/').replaceAll('~0', '~')

function isRequired(root: TSchema, path: readonly string[]): boolean {
  let schema = root
  for (const name of path.slice(0, -1)) schema = schema.type === 'array' ? schema.items : schema.properties[name]
  return (schema.required as string[] | undefined)?.includes(path.at(-1) as string) ?? false
}
