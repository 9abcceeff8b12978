import type { TObject, TSchema } from '@sinclair/typebox'
import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import { ApiError, errors, shorten } from '../core/errors.js'
import { ownMember } from '../core/own-member.js'
import { check } from './compilers.js'
import { wrongMediaType } from './error-handler.js'
import { FORM } from './form.js'
import { hintIgnored } from './hints.js'
import { isObject, parseJson } from './json-body.js'
import { isDecodable, isRead, originForm, valuesByName } from './url.js'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Whether a parameter or member that the schema does not name is refused, and not only reported. */
    isStrict?: boolean
  }
}

/**
 * Fastify's validator compiler. Query strings are text, so they are parsed by their schema; bodies are never coerced.
 */
export function validatorCompiler({ schema, httpPart }: { schema: TObject; httpPart?: string }) {
  // `authentication` has validated the one header that schemas name.
  if (httpPart === 'headers') return Boolean
  const parse = httpPart === 'body' || httpPart === 'querystring' ? parsers[httpPart] : undefined
  return function validate(value: unknown) {
    try {
      if (parse !== undefined) return { value: parse(schema, value) }
      check(schema, value, 'INVALID_FIELD')
      return { value }
    } catch (error) {
      return { error: error as Error }
    }
  }
}

const parsers = {
  querystring(schema: TObject, given: unknown): unknown {
    const query: Record<string, unknown> = {}
    const sent = new Map<string, unknown>()
    for (const [name, value] of valuesByName(withBaseNames(schema, given as Query))) {
      if (!Object.hasOwn(schema.properties, name)) continue
      const parameter = schema.properties[name] as TSchema
      query[name] = parseParameter(name, value, parameter)
      if (parameter.type !== 'array') sent.set(name, value)
    }
    check(schema, query, 'INVALID_QUERY_PARAMETER', [], sent)
    return query
  },
  body(schema: TObject, given: unknown): unknown {
    // Fastify passes null where there is no body.
    const body = given ?? {}
    check(schema, body, 'INVALID_FIELD')
    return body
  },
}

/** Whether a value of Content-Encoding names no coding (RFC 9110 §8.4). */
const isPlain = (codings: string) => codings.split(',').every(coding => /^(identity)?$/i.test(coding.trim()))

/** Requests with bad percent-encoding, encoded bodies, and bodies that are not JSON objects, are refused here (decisions §1). */
export const validation = fp((app, _options, done) => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, body, parsed) => {
    parsed(null, parseJson(request, body))
  })

  app.addHook('preParsing', function readBodyHeaders(request, _reply, _payload, next) {
    const { headers } = request
    const { 'content-type': type, 'content-encoding': coding } = headers
    if (type !== undefined || coding !== undefined) {
      const isEmpty = headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0
      // Without a body, its type does not matter (decisions §1); Fastify would refuse the type. The log keeps it.
      if (isEmpty) request.headers = { 'content-type': undefined, 'content-encoding': undefined }
      // Fastify reads no body of GET.
      else if (coding !== undefined && !isPlain(coding) && !isRead(request.method))
        throw wrongMediaType(request, coding)
    }
    next()
  })

  app.addHook('preValidation', function findUnknownNames(request, _reply, next) {
    const { originalUrl, query, body, sandbox } = request
    if (originalUrl.includes('%') && !isDecodable(originForm(originalUrl))) {
      throw errors.malformed(null, 'The request target has bad percent-encoding.')
    }
    const { config, schema = {} } = sandbox.route
    for (const name of Object.keys(query as object)) reportParameter(request, name)
    const bodySchema = schema.body as TObject | undefined
    if (bodySchema !== undefined && isObject(body)) {
      if (config.consumes === FORM) sandbox.form = body as Record<string, string>
      request.body = namedOnly(bodySchema, body, reportMember(request))
    }
    next()
  })
  done()
})

/** Hints at a parameter that the schema does not name, or refuses it. */
function reportParameter(request: FastifyRequest, name: string): void {
  const { config, schema } = request.sandbox.route
  const parameters = (schema?.querystring as TObject | undefined)?.properties ?? {}
  if (Object.hasOwn(parameters, baseName(name, parameters))) return
  if (config.isStrict) {
    const known = Object.keys(parameters).join(', ') || 'none'
    throw new ApiError('INVALID_QUERY_PARAMETER', name, `There is no parameter ${shorten(name)}. Known: ${known}.`)
  }
  hintIgnored(request, 'parameter', name)
}

/** Returns a function that hints at a member of the body that the schema does not name, or refuses it. */
const reportMember = (request: FastifyRequest) => (name: string, known: readonly string[]) => {
  if (request.sandbox.route.config.isStrict) refuseUnknown(name, known)
  hintIgnored(request, 'member', name)
}

/** The most names that a refusal lists: a form has fields for each item of its lists. */
const MOST_KNOWN = 100

/** Refuses a member, or a field of a form, that a schema does not name. @throws INVALID_FIELD */
export function refuseUnknown(name: string, known: readonly string[]): never {
  const rest = known.length > MOST_KNOWN ? ` and ${known.length - MOST_KNOWN} more` : ''
  const names = known.slice(0, MOST_KNOWN).join(', ') || 'none'
  throw errors.invalid(name, `There is no member ${shorten(name)}. Known: ${names}${rest}.`)
}

// ---------------------------------------------------------------------------------------------------------- query

type Query = Readonly<Record<string, string | string[]>>

/** `status[]` and `status[0]` are spellings of the array parameter `status` (decisions §1). */
function baseName(name: string, parameters: TObject['properties']): string {
  const base = /^(\w+)\[\d*\]$/.exec(name)?.[1]
  return base !== undefined && ownMember(parameters, base)?.type === 'array' ? base : name
}

function* withBaseNames({ properties }: TObject, query: Query): Generator<[name: string, value: string]> {
  for (const [name, values] of Object.entries(query)) {
    const base = baseName(name, properties)
    for (const value of [values].flat()) yield [base, value]
  }
}

/** A number in JSON notation (RFC 8259 §6), also with leading zeros. */
const DECIMAL = /^-?\d+(\.\d+)?([eE][+-]?\d{1,3})?$/

function parseParameter(name: string, value: string | string[], { type }: TSchema): unknown {
  if (type === 'array') return [...new Set([value].flat().flatMap(item => item.split(',')))]
  if (typeof value !== 'string') throw errors.malformed(name, `${shorten(name)} must be given once.`)
  if (value === '') {
    throw new ApiError('INVALID_QUERY_PARAMETER', name, `${name} must not be empty: leave it out instead.`)
  }
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true'
  if (type === 'integer' && /^-?\d{1,15}$/.test(value)) return Number(value)
  if (type === 'number' && DECIMAL.test(value)) return Number(value)
  return value
}

// ----------------------------------------------------------------------------------------------------------- body

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
    // A list that is too long stays so, and is refused.
    if (value.length > schema.maxItems) return value
    return value.map((item, at) => namedOnly(schema.items, item, report, [...path, at]))
  }
  const properties = propertiesOf(schema)
  if (!isObject(value) || Array.isArray(value) || properties === undefined) return value
  const named: Record<string, unknown> = {}
  const known = Object.keys(properties)
  for (const name of Object.keys(value)) {
    const member = value[name]
    const property = ownMember(properties, name)
    if (property === undefined) report([...path, name].join('.'), known)
    else named[name] = isObject(member) ? namedOnly(property, member, report, [...path, name]) : member
  }
  return named
}

/** Refuses a value with members that its schema does not name. @throws INVALID_FIELD */
export const assertNamed = (schema: TSchema, value: unknown): void => void namedOnly(schema, value, refuseUnknown)
