import type { ValidateFunction } from 'ajv'
import { Ajv } from 'ajv'
import type { ErrorCode } from '../../src/core/errors.js'
import { FORMATS } from '../../src/core/formats.js'
import { X_FORMAT } from '../../src/http/compilers.js'

// biome-ignore lint/suspicious/noExplicitAny: an OpenAPI document is looked into everywhere
export type Json = any

export const DOCUMENTS = { '/openapi.json': 'payments-service.json', '/_sandbox/openapi.json': 'control-plane.json' }

/** An operation of a document, with references to responses, parameters and headers resolved. */
export interface Operation {
  readonly document: Json
  readonly method: string
  readonly path: string
  readonly id: string
  readonly operation: Json
  /** By status. */
  readonly responses: Readonly<Record<string, Json>>
  readonly codes: readonly ErrorCode[]
}

/** Returns what a reference names, or the value itself. */
export const resolve = (document: Json, value: Json): Json =>
  value.$ref === undefined
    ? value
    : (value.$ref as string)
        .split('/')
        .slice(1)
        .reduce((found, name) => found[name], document)

export function operationsOf(document: Json): Operation[] {
  return Object.entries<Json>(document.paths).flatMap(([path, methods]) =>
    Object.entries<Json>(methods).map(([method, operation]) => ({
      document,
      method: method.toUpperCase(),
      path,
      id: operation.operationId,
      operation: { ...operation, parameters: operation.parameters?.map((one: Json) => resolve(document, one)) },
      codes: operation['x-error-codes'],
      responses: Object.fromEntries(
        Object.entries<Json>(operation.responses).map(([status, response]) => [status, resolve(document, response)]),
      ),
    })),
  )
}

/** Makes a function that says what is wrong with a value, by a schema of the document. Null: nothing. */
export function createChecker(document: Json): (schema: Json, value: unknown) => string | null {
  // Each test process compiles the schemas that it meets: each component once, and not again at each use.
  // test/http/schemas.test.ts checks that the schemas of all routes are valid.
  const options = { strict: false, inlineRefs: false, validateSchema: false, code: { optimize: false } }
  const ajv = new Ajv({ ...options, formats: { ...FORMATS, binary: true }, keywords: [X_FORMAT] })
  const absolute = (schema: Json) =>
    JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"doc#/components/'))
  ajv.addSchema({ $id: 'doc', components: absolute(document.components) })
  const validators = new WeakMap<object, ValidateFunction>()
  return (schema, value) => {
    const validate = validators.get(schema) ?? ajv.compile(absolute(schema))
    validators.set(schema, validate)
    return validate(value) ? null : ajv.errorsText(validate.errors)
  }
}

/** A request that is made of the examples of an operation only. */
export interface ExampleRequest {
  /** Without its query. */
  readonly url: string
  /** The query without `?`; empty where no parameter has an example. */
  readonly query: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Json
  readonly mediaType: string | undefined
}

export function exampleRequest({ path, operation }: Operation): ExampleRequest {
  let url = path
  const query = new URLSearchParams()
  const headers: Record<string, string> = {}
  for (const { in: place, name, example } of operation.parameters ?? []) {
    if (place === 'path') url = url.replace(`{${name}}`, encodeURIComponent(example))
    if (place === 'header') headers[name] = example
    if (place === 'query' && example !== undefined) query.set(name, example)
  }
  const [[mediaType, media] = []] = Object.entries<Json>(operation.requestBody?.content ?? {})
  return { url, query: query.toString(), headers, body: media?.example, mediaType }
}
