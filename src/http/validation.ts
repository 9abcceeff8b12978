import { isUtf8 } from 'node:buffer'
import type { TObject, TSchema } from '@sinclair/typebox'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorCode } from '../core/errors.js'
import { errors, quote, SandboxError, shorten } from '../core/errors.js'
import { centsAtMost, isDecimal } from '../core/money.js'
import type { ErrorObject } from './compiler.js'
import { wrongMediaType } from './error-handler.js'
import type { Fields } from './forms.js'
import { FORM, isMalformed, parseForm } from './forms.js'
import { hintIgnored } from './hints.js'
import { hasBadPath } from './routing.js'

declare module 'fastify' {
  interface FastifyRequest {
    /** The body as it came; null: there was none, or it was refused before it was whole. */
    bytes: Buffer | null
    /** The body as text, once somebody has asked for that. */
    text: string | null
  }
  interface FastifyContextConfig {
    /** The Content-Type of the body, where it is not JSON. */
    consumes?: string
    /** A member that the schema does not name is refused, rather than passed over: it can only be a mistake. */
    isStrict?: boolean
    /** The route takes nothing and always answers the same: it is served before the validators are loaded. */
    isPlain?: boolean
    /** Takes in a body that is not parsed as a whole. It refuses by 413 and 415; what it returns, later, by 400. */
    receive?(request: FastifyRequest): Promise<SandboxError | undefined>
  }
}

type Compiler = typeof import('./compiler.js')
let compiler: Compiler | undefined

/** Loads the validators ahead of the first request that needs them. */
export async function warmUp(): Promise<Compiler> {
  compiler ??= await import('./compiler.js')
  return compiler
}

/** By their schemas, so that all servers of a process share them. */
const serializers = new WeakMap<object, ReturnType<Compiler['compileSerializer']>>()

/** Writes values of a schema as JSON, once `warmUp` is through. */
export function serializerOf(schema: object): (value: unknown) => string {
  let serializer = serializers.get(schema)
  if (serializer === undefined) {
    serializer = (compiler as Compiler).compileSerializer(schema)
    serializers.set(schema, serializer)
  }
  return serializer
}

/**
 * What Fastify makes of the schemas of routes, in place of its own compilers: those load Ajv and fast-json-stringify at
 * the start, which takes a fifth of it. `installValidation` validates; a serializer is compiled when it is first used,
 * and `preValidation` has loaded the compiler by then.
 */
export const compilersFactory: object = {
  buildValidator: () => () => undefined,
  buildSerializer:
    () =>
    ({ schema }: { readonly schema: object }) =>
    (value: unknown) =>
      serializerOf(schema)(value),
}

/**
 * Validates every request in the order that decisions §1 lays down: media type, path, query, body. Fastify's own
 * order differs, and it refuses a malformed body before it looks at the path; so bodies arrive here as bytes.
 */
export function installValidation(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.decorateRequest('bytes', null)
  app.decorateRequest('text', null)
  // By their names, too: Fastify parses a Content-Type anew each time before it takes the parser of all others.
  app.addContentTypeParser<Buffer>(['application/json', FORM, '*'], { parseAs: 'buffer' }, (request, body, done) => {
    request.bytes = body
    done(null)
  })

  // Without a body, what it would be does not matter (decisions §1), but Fastify would refuse the Content-Type.
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.headers['content-type'] !== undefined && !hasBody(request)) delete request.headers['content-type']
    done()
  })

  app.addHook('preValidation', (request: FastifyRequest, _reply: FastifyReply, done) => {
    const { isPlain, receive } = request.route.config
    if (isPlain) {
      done()
    } else if (receive !== undefined || compiler === undefined) {
      validateLate(request).then(() => done(), done)
    } else {
      validate(request)
      done()
    }
  })
}

/** For what has to wait: a body that is taken in piece by piece, or the validators of the very first request. */
async function validateLate(request: FastifyRequest): Promise<void> {
  const [refusal] = await Promise.all([request.route.config.receive?.(request), warmUp()])
  validate(request)
  if (refusal !== undefined) throw refusal
}

/** @throws the first refusal */
function validate(request: FastifyRequest): void {
  const { params, querystring, body } = request.route.schemas
  if (body !== undefined) refuseWrongMediaType(request)
  if (hasBadPath(request.raw)) throw errors.malformed(null, 'The path has bad percent-encoding.')
  if (params !== undefined) check(params, request.params, 'INVALID_FIELD')
  request.query = readQuery(request, querystring)
  if (body !== undefined) request.body = readBody(request, body)
}

/** Whether a message has a body: RFC 9112 §6.3. */
export const hasBody = ({ headers }: FastifyRequest): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

/** The media type of a message, in lower case and without parameters (RFC 9110 §8.3.1); empty: it names none. */
export const mediaTypeOf = ({ headers: { 'content-type': contentType } }: FastifyRequest): string =>
  contentType === undefined ? '' : withoutParameters(contentType).trim().toLowerCase()

/** A media type without its parameters. */
export function withoutParameters(contentType: string): string {
  const end = contentType.indexOf(';')
  return end < 0 ? contentType : contentType.slice(0, end)
}

function refuseWrongMediaType(request: FastifyRequest) {
  // A body may be announced and still be empty: chunked, without a chunk.
  if (!hasBody(request) || request.bytes?.length === 0) return
  const { consumes = 'application/json' } = request.route.config
  if (mediaTypeOf(request) !== consumes) throw wrongMediaType(request)
}

// ---------------------------------------------------------------------------------------------------------- query

/**
 * Reads query parameters by the types of their schema: they are text, so they are parsed, where a body never is.
 * A number (documented so for amounts) is handed on as its text, because amounts are compared exactly.
 */
function readQuery(request: FastifyRequest, schema: TObject | undefined): Record<string, unknown> {
  const given = request.query as Fields
  if (isMalformed(given)) throw errors.malformed(null, 'The query string has bad percent-encoding.')
  const query: Record<string, unknown> = {}
  const names = Object.keys(given)
  if (schema === undefined && names.length === 0) return query
  const texts: Record<string, string> = {}
  const parameters = schema?.properties ?? {}
  for (const name of names) {
    const value = given[name] as string | string[]
    if (!Object.hasOwn(parameters, name)) {
      hintIgnored(request, 'parameter', name)
      continue
    }
    const parameter = parameters[name] as TSchema
    query[name] = readParameter(name, value, parameter)
    if (parameter.type === 'number') texts[name] = value as string
  }
  if (schema === undefined) return query
  check(schema, query, 'INVALID_QUERY_PARAMETER')
  return Object.assign(query, texts)
}

function readParameter(name: string, value: string | string[], { type }: TSchema): unknown {
  if (type === 'array') return [...new Set([value].flat().flatMap(item => item.split(',')))]
  if (typeof value !== 'string') throw errors.malformed(name, `${shorten(name)} must be given once.`)
  if (value === '')
    throw new SandboxError('INVALID_QUERY_PARAMETER', name, `${name} must not be empty: leave it out instead.`)
  if (type === 'integer' && /^-?\d{1,15}$/.test(value)) return Number(value)
  // Rounded down to whole cents, exactly: a binary double would let 0.00999999999999999999 pass for 0.01.
  if (type === 'number' && isDecimal(value)) return centsAtMost(value) / 100
  return value
}

// ----------------------------------------------------------------------------------------------------------- body

function readBody(request: FastifyRequest, schema: TObject): unknown {
  const body = request.bytes === null || request.bytes.length === 0 ? {} : parseBody(request, request.bytes)
  check(schema, body, 'INVALID_FIELD')
  if (isNamed(schema, body)) return body
  const { isStrict } = request.route.config
  return prune(schema, body, isStrict ? refuseUnknown : name => hintIgnored(request, 'member', name), '')
}

const parseBody = (request: FastifyRequest, bytes: Buffer): Record<string, unknown> =>
  request.route.config.consumes === FORM
    ? parsedForm(parseForm(textOf(request) ?? bytes.toString()))
    : parseJson(textOf(request))

/** A body as text, decoded once; null: it is not UTF-8. */
export function textOf(request: FastifyRequest): string | null {
  const bytes = request.bytes as Buffer
  if (request.text === null && isUtf8(bytes)) request.text = bytes.toString()
  return request.text
}

function parsedForm(fields: Fields): Record<string, unknown> {
  if (isMalformed(fields)) throw errors.malformed(null, 'The form has bad percent-encoding.')
  for (const name in fields) {
    if (typeof fields[name] !== 'string') throw errors.malformed(name, `${shorten(name)} must be given once.`)
  }
  return fields
}

/** A JSON object (RFC 8259) in UTF-8, without the members that could poison a prototype. */
function parseJson(text: string | null): Record<string, unknown> {
  if (text === null) throw errors.malformed(null, 'The body is not UTF-8.')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw errors.malformed(null, 'The body is not JSON.')
  }
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw errors.invalid(null, 'The body must be a JSON object.')
  }
  // Rare escapes alone can make these, so the walk is rare, too.
  if (/__proto__|constructor|\\u/.test(text)) refuseHostile(value)
  return value as Record<string, unknown>
}

/** Refuses `__proto__` and `constructor.prototype` members, and text that is not Unicode. */
function refuseHostile(root: object): void {
  const pending: [object, string][] = [[root, '']]
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [value, path] = next
    for (const [name, member] of Object.entries(value)) {
      const field = path === '' ? name : `${path}.${name}`
      if (name === '__proto__' || (name === 'constructor' && isObject(member) && Object.hasOwn(member, 'prototype'))) {
        throw errors.malformed(name, `The body must not have a member ${name}.`)
      }
      if (!name.isWellFormed())
        throw errors.invalid(null, 'The name of a member is not valid Unicode: it has a lone surrogate.')
      if (typeof member === 'string' && !member.isWellFormed()) {
        throw errors.invalid(field, `${shorten(field)} is not valid Unicode: it has a lone surrogate.`)
      }
      if (isObject(member)) pending.push([member, field])
    }
  }
}

const isObject = (value: unknown): value is object => value !== null && typeof value === 'object'

function refuseUnknown(name: string, known: readonly string[]) {
  throw errors.invalid(name, `There is no member ${shorten(name)}. Known: ${known.join(', ')}.`)
}

/** Whether a schema names every member of a value. Then no copy is made, which takes a tenth of what is ours of a POST. */
function isNamed(schema: TSchema, value: unknown): boolean {
  if (Array.isArray(value)) return schema.items === undefined || value.every(item => isNamed(schema.items, item))
  // A schema without properties takes members of any name.
  if (!isObject(value) || schema.properties === undefined) return true
  const { properties } = schema
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(properties, name)) return false
    const member = (value as Record<string, unknown>)[name]
    if (isObject(member) && !isNamed(properties[name], member)) return false
  }
  return true
}

/** A copy with nothing but the members that the schema names: what it does not name is never stored. */
function prune(
  schema: TSchema,
  value: unknown,
  ignored: (name: string, known: readonly string[]) => void,
  path: string,
): unknown {
  if (Array.isArray(value) && schema.items !== undefined) {
    return value.map((item, at) => prune(schema.items, item, ignored, `${path}${at}.`))
  }
  // A schema without properties takes members of any name.
  if (!isObject(value) || schema.properties === undefined) return value
  const copy: Record<string, unknown> = {}
  for (const name of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[name]
    if (!Object.hasOwn(schema.properties, name)) ignored(`${path}${name}`, Object.keys(schema.properties))
    else copy[name] = isObject(member) ? prune(schema.properties[name], member, ignored, `${path}${name}.`) : member
  }
  return copy
}

// --------------------------------------------------------------------------------------------------------- errors

const validators = new WeakMap<object, ReturnType<Compiler['compileValidator']>>()

/**
 * Holds a value against a schema, once `warmUp` is through.
 * @throws MISSING_FIELD, or the code that the schema or the place of the value has for a broken constraint
 */
export function check(schema: TObject, value: unknown, code: ErrorCode): void {
  let validator = validators.get(schema)
  if (validator === undefined) {
    validator = (compiler as Compiler).compileValidator(schema)
    validators.set(schema, validator)
  }
  if (!validator(value)) throw refusalOf(validator.errors as ErrorObject[], schema, code)
}

function refusalOf(failures: readonly ErrorObject[], root: TObject, code: ErrorCode): SandboxError {
  const failure = failures.at(-1) as ErrorObject
  const { keyword, params, data } = failure
  const schema = failure.parentSchema as TSchema
  const path = failure.instancePath.split('/').slice(1).map(unescapePointer)

  if (keyword === 'anyOf') {
    const alternatives = (failure.schema as { required: string[] }[]).flatMap(({ required }) => required)
    return errors.missing(null, `Give at least one of ${alternatives.join(', ')}.`)
  }
  if (keyword === 'required') return errors.missing([...path, params.missingProperty].join('.'))
  const field = fieldOf(path, code)
  if (data === '' && code === 'INVALID_FIELD' && isRequired(root, path)) {
    return errors.missing(field, `${field} is required and must not be empty.`)
  }
  const right = schema['x-expected'] ?? `of type ${schema.type}`
  const own = keyword === 'type' ? undefined : (schema['x-error-code'] as ErrorCode | undefined)
  return new SandboxError(own ?? code, field, `${field} must be ${right}, not ${quote(data)}.`)
}

/** JSON Pointer, RFC 6901 §4. */
const unescapePointer = (token: string) => token.replaceAll('~1', '/').replaceAll('~0', '~')

/** A parameter is named as a whole, however its value was split. */
const fieldOf = (path: readonly string[], code: ErrorCode) =>
  code === 'INVALID_QUERY_PARAMETER' ? (path[0] as string) : path.join('.')

function isRequired(root: TObject, path: readonly string[]): boolean {
  let schema: TSchema = root
  for (const name of path.slice(0, -1)) schema = schema.type === 'array' ? schema.items : schema.properties[name]
  return (schema.required as string[] | undefined)?.includes(path.at(-1) as string) ?? false
}
