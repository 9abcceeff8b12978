import type { TSchema } from '@sinclair/typebox'
import type { ErrorObject, KeywordDefinition, Options, ValidateFunction } from 'ajv'
import { Ajv } from 'ajv'
import fastJson from 'fast-json-stringify'
import type { FastifySerializerCompiler } from 'fastify/types/schema.js'
import type { ErrorCode } from '../core/errors.js'
import { ApiError, errors, quote } from '../core/errors.js'
import { FORMATS, OWN_FORMATS } from '../core/formats.js'
import { ownMember } from '../core/own-member.js'

/** The keyword `x-format`, for a validator. */
export const X_FORMAT: KeywordDefinition = {
  keyword: 'x-format',
  type: 'string',
  schemaType: 'string',
  compile: (name: string) => (text: string) => OWN_FORMATS[name]?.(text) === undefined,
  errors: false,
}

const OPTIONS: Options = {
  strict: true,
  allowUnionTypes: true,
  strictRequired: false,
  strictTypes: false,
  // Errors carry the schema and the value, from which messages are made.
  verbose: true,
  // Optimizing the generated code took a third of the start, and made no request faster.
  code: { optimize: false },
  // A test checks all schemas against the meta schema. To compile that takes time at each start.
  meta: false,
  validateSchema: false,
  keywords: ['x-fidelity', 'x-fidelity-note', 'x-fidelity-constraints', 'x-expected', 'x-error-code', X_FORMAT],
  formats: FORMATS,
}
const ajv = new Ajv(OPTIONS)

/** The validators by schema, compiled on first use: all servers of a process share them. */
const validators = new WeakMap<object, ValidateFunction>()

function compile(schema: TSchema): ValidateFunction {
  const validator = ajv.compile(schema)
  validators.set(schema, validator)
  return validator
}

/**
 * Validates a value. Throws MISSING_FIELD, or for a broken constraint the code of the schema, else the given one.
 * @param path the path of the value in its document, for errors
 * @param sent the members as they were sent, where that is not what is validated, for errors
 */
export function check(schema: TSchema, value: unknown, code: ErrorCode, path: Path = [], sent?: Sent): void {
  const validator = validators.get(schema) ?? compile(schema)
  const failure = validator(value) ? undefined : validator.errors?.at(-1)
  if (failure !== undefined) throw toApiError(failure, schema, code, path, sent)
}

/** Whether a value is valid. */
export const isValid = (schema: TSchema, value: unknown): boolean =>
  (validators.get(schema) ?? compile(schema))(value) === true

/** The path of a value in a body. */
type Path = readonly (string | number)[]
type Sent = ReadonlyMap<string, unknown>

function toApiError(
  { keyword, params, data, parentSchema: schema = {}, instancePath }: ErrorObject,
  root: TSchema,
  code: ErrorCode,
  outer: Path,
  sent: Sent | undefined,
): ApiError {
  const own = instancePath.split('/').slice(1).map(unescapePointer)
  const path = [...outer, ...own]

  if (keyword === 'anyOf') {
    const alternatives = schema.anyOf.flatMap(({ required }: TSchema) => required)
    return errors.missing(null, `Give ${schema['x-expected'] ?? `at least one of ${alternatives.join(', ')}`}.`)
  }
  if (keyword === 'required') return errors.missing([...path, params.missingProperty].join('.'))
  // A query parameter is named as a whole, however its value was split.
  const field = code === 'INVALID_QUERY_PARAMETER' ? `${path[0]}` : path.join('.')
  if (data === '' && code === 'INVALID_FIELD' && isRequired(root, own)) {
    return errors.missing(field, `${field} is required and must not be empty.`)
  }
  const expected = schema['x-expected'] ?? (schema.type === 'object' ? 'an object' : `of type ${schema.type}`)
  if (data === null) {
    const otherwise = isRequired(root, own) ? 'give' : 'leave it out, or give'
    return new ApiError(code, field, `${field} must not be null: ${otherwise} ${expected}.`)
  }
  const flaw = typeof data === 'string' && OWN_FORMATS[schema['x-format']]?.(data)
  const ownCode = keyword === 'type' ? undefined : schema['x-error-code']
  return new ApiError(
    ownCode ?? code,
    field,
    `${field} must be ${expected}, not ${quote(sent?.get(field) ?? data)}${flaw ? `: it ${flaw}` : ''}.`,
  )
}

/** JSON Pointer, RFC 6901 §4. */
const unescapePointer = (token: string) => token.replaceAll('~1', '/').replaceAll('~0', '~')

function isRequired(root: TSchema, path: readonly string[]): boolean {
  let schema = root
  for (const name of path.slice(0, -1)) {
    schema = schema.type === 'array' ? schema.items : ownMember(schema.properties ?? {}, name)
    // A member of any name.
    if (schema === undefined) return false
  }
  return schema.required?.includes(path.at(-1)) ?? false
}

type Serialize = (value: unknown) => string

/** The serializers by schema: all servers of a process share them. */
const serializers = new WeakMap<object, Serialize>()

function serializerOf(schema: object): Serialize {
  const serializer = serializers.get(schema) ?? fastJson(schema)
  serializers.set(schema, serializer)
  return serializer
}

/** Fastify's serializer compiler. It compiles each response schema on its first use, once for a process. */
export const serializerCompiler: FastifySerializerCompiler<object> = ({ schema }) => {
  let serializer: Serialize | undefined
  return value => {
    serializer ??= serializerOf(schema)
    return serializer(value)
  }
}
