/**
 * Checks every answer of each Fastify server of this process against the OpenAPI documents.
 *
 * Import it before servers are made: `node --import ./build/test/check-answers.js`. An answer that does not fit is
 * replaced with 500, reported on standard error, and the process ends with a failure.
 * Answers of pages, of routes that only a test has, and of a server with the decorator `hasFormerRecords` are not checked:
 * its records are those of another release.
 */
import { subscribe } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import type { FastifyInstance, FastifyReply, FastifyRequest, onSendHookHandler } from 'fastify'
import type { Json, Operation } from './docs/contract.js'
import { createChecker, DOCUMENTS, operationsOf, resolve } from './docs/contract.js'

/** The most characters of an answer that are reported. */
const MOST_SHOWN = 1000

type Check = (schema: Json, value: unknown) => string | null

/** The operations of all documents, by method and path, each with the check of its document. */
let operations: Map<string, Operation & { check: Check }> | undefined

/** Checks later answers against these documents, which are by default those of the folder `openapi`. */
export function checkAgainst(documents: readonly Json[]): void {
  operations = new Map(
    documents.flatMap(document => {
      const check = createChecker(document)
      return operationsOf(document).map(operation => [`${operation.method} ${operation.path}`, { ...operation, check }])
    }),
  )
}

const readDocument = (file: string): Json =>
  JSON.parse(readFileSync(new URL(`../../openapi/${file}`, import.meta.url), 'utf8'))

/** Returns the operation of a request. Undefined: its route is in no document. */
function operationOf({ method, routeOptions: { url = '' } }: FastifyRequest) {
  if (operations === undefined) checkAgainst(Object.values(DOCUMENTS).map(readDocument))
  return operations?.get(`${method === 'HEAD' ? 'GET' : method} ${url.replace(/:(\w+)/g, '{$1}')}`)
}

/** Whether a fault has made the answer, which can have any code with any status. */
function isOfError({ sandbox }: FastifyRequest, status?: number): boolean {
  const effect = sandbox?.faults?.effect
  return effect?.kind === 'error' && effect.status === (status ?? effect.status)
}

/** Parses the content of a refusal. A large answer is a stream. */
const toObject = (payload: unknown): Json => (typeof payload === 'string' ? JSON.parse(payload) : {})

/** Returns the response that an operation documents for an answer. */
function responseOf({ responses }: Operation, { statusCode }: FastifyReply, request: FastifyRequest): Json {
  if (statusCode < 400) return responses[statusCode]
  return (isOfError(request, statusCode) ? undefined : responses[statusCode]) ?? responses.default
}

/** Returns the difference between an answer and its document; null: there is none. */
function differenceOf(request: FastifyRequest, reply: FastifyReply, payload: unknown): string | null {
  const operation = operationOf(request)
  // A patch may break the schema on purpose.
  if (operation === undefined || request.sandbox?.faults?.effect?.kind === 'patch') return null
  const response = responseOf(operation, reply, request)
  if (response === undefined) return 'no such status'
  const { code } = reply.statusCode < 400 ? {} : toObject(payload)
  if (code && !isOfError(request) && !operation.codes.includes(code)) return `the operation has no code ${code}`

  for (const [name, header] of Object.entries<Json>(response.headers ?? {})) {
    const { required = false, schema } = resolve(operation.document, header)
    const value = reply.getHeader(name)
    // The style `rfc` of the settings has the form of RFC 8594, as the note of the header says.
    if (name === 'Sunset' && String(value).endsWith(' GMT')) continue
    // An error fault can give any value.
    if (isOfFault(name, request)) continue
    if (value === undefined && required) return `no header ${name}`
    const difference = value === undefined ? null : operation.check(schema, toType(schema, value))
    if (difference !== null) return `header ${name}: ${difference}`
  }

  // HTTP sends no content with these.
  if (request.method === 'HEAD' || reply.statusCode === 204) return null
  const [mediaType] = String(reply.getHeader('content-type')).split(';') as [string]
  if (response.content === undefined) return 'content where none is documented'
  const media = response.content[mediaType]
  if (media === undefined) return `no such content type: ${mediaType}`
  // A large answer is a stream.
  if (mediaType !== 'application/json' || typeof payload !== 'string') return null
  return operation.check(media.schema, JSON.parse(payload))
}

/** Whether the fault of a request gives a header. */
function isOfFault(name: string, { sandbox }: FastifyRequest): boolean {
  const effect = sandbox?.faults?.effect
  const headers = effect?.kind === 'error' ? Object.keys(effect.headers ?? {}) : []
  return headers.some(given => given.toLowerCase() === name.toLowerCase())
}

/** Returns the value of a header in the type of its schema. */
const toType = ({ type }: Json, value: unknown) => (type === 'integer' ? Number(value) : String(value))

const check: onSendHookHandler = (request, reply, payload, next) => {
  const difference = request.server.hasDecorator('hasFormerRecords') ? null : differenceOf(request, reply, payload)
  if (difference === null) {
    next(null, payload)
    return
  }
  const answer = String(payload).slice(0, MOST_SHOWN)
  const message = `${request.method} ${request.url} answers ${reply.statusCode}: ${difference}\n${answer}`
  process.stderr.write(`${message}\nAfter a change of routes or schemas, run npm run openapi.\n`)
  process.exitCode = 1
  next(Object.assign(new Error(message), { statusCode: 500 }))
}

subscribe('fastify.initialization', message => {
  const { fastify } = message as { fastify: FastifyInstance }
  // Hooks of routes run after those of the server, so they get the final answer.
  fastify.addHook('onRoute', route => {
    route.onSend = [route.onSend ?? [], check].flat()
  })
})
