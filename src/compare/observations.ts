import type { TSchema } from '@sinclair/typebox'
import type { ApiError, ErrorCode } from '../core/errors.js'
import { catalogue } from '../core/errors.js'
import { MASK } from '../http/masking.js'
import { isValid, validatorCompiler } from '../http/validation.js'
import type { Contract, Operation } from './contract.js'
import { isList } from './contract.js'
import type { Entry } from './har.js'
import type { Examination } from './members.js'
import { examine, NOTHING } from './members.js'
import { membersOf } from './values.js'

type Json = Readonly<Record<string, unknown>>

const NO_ANSWER: Json = {}

/** The name of what is no operation, but below the path of one. */
export const OTHER_PATHS = 'other paths'

/** An entry of the interface. */
export interface Observation extends Entry {
  /** Undefined: the path is below that of an area, and no operation has it with this method. */
  readonly operation: Operation | undefined
  /** The path from `/api/v1` on. */
  readonly apiPath: string
  readonly params: Readonly<Record<string, string>>
  /** The methods of the path. */
  readonly methods: readonly string[]
  readonly region: string
  readonly isAccepted: boolean
  readonly isRefused: boolean
  /** The JSON object of the request, or its form; empty: it has none. */
  readonly input: Json
  /** The query as the sandbox reads it, or the error with which the sandbox refuses it. */
  readonly filters: Json
  readonly queryError: ApiError | undefined
  /** Whether the region, or a value of the path, is one that the sandbox refuses. */
  readonly isBadTarget: boolean
  /** What the schemas of the sandbox say of the request and of the content of success. */
  readonly request: Examination
  readonly content: Examination
  /** The records of the answer. */
  readonly records: readonly Json[]
  /** The code and field of a refusal. */
  readonly code: string | undefined
  readonly field: string | null | undefined
}

export const isJson = ({ body }: Entry): boolean => body.kind === 'json'
export const usesBasic = ({ headers }: Entry): boolean => /^basic /i.test(headers.authorization ?? '')

const API = /\/api\/v1(\/[^/]+.*)$/

/** Returns a function that finds the operation of an entry. It returns undefined for entries of other paths. */
export function createMatcher(contract: Contract): (entry: Entry) => Observation | undefined {
  const areas = new Set(contract.operations.map(({ path }) => path.split('/')[3]))

  return entry => {
    const [, rest] = API.exec(entry.path) ?? []
    if (rest === undefined || !areas.has(rest.split('/')[1])) return undefined
    const apiPath = `/api/v1${rest}`
    const found = contract.find(entry.method, apiPath)
    const isSlash = /%2f/i.test(rest)
    const operation = isSlash ? undefined : found?.operation
    const params = mapValues(found?.params ?? {}, decode)
    const isAccepted = entry.status >= 200 && entry.status < 300
    const isRefused = entry.status >= 400
    const body = entry.body.kind === 'json' || entry.body.kind === 'form' ? membersOf(entry.body.value) : {}
    // The credentials of HTTP Basic are those of the form.
    const input =
      operation?.id === 'issueToken' && usesBasic(entry) ? { client_id: MASK, client_secret: MASK, ...body } : body
    const answer = entry.answer.kind === 'json' ? membersOf(entry.answer.value) : NO_ANSWER
    const { filters = {}, queryError } = operation?.query === undefined ? {} : parseQuery(operation.query, entry.query)
    const hasInput = entry.body.kind === 'form' || (isJson(entry) && isObject(entry.body))
    return {
      ...entry,
      operation,
      apiPath,
      params,
      methods: isSlash ? [] : contract.methodsOf(apiPath),
      region: entry.headers['x-region'] ?? '',
      isAccepted,
      isRefused,
      input,
      filters,
      queryError,
      isBadTarget: operation !== undefined && hasBadTarget(operation, params, entry.headers),
      request: operation?.body !== undefined && hasInput ? examine(operation.body, input) : NOTHING,
      content:
        operation !== undefined && isAccepted && entry.answer.kind === 'json'
          ? examine(operation.answer, entry.answer.value)
          : NOTHING,
      records: operation === undefined || !isAccepted ? [] : recordsOf(operation, answer),
      code: isRefused && typeof answer.code === 'string' ? answer.code : undefined,
      field: isRefused ? (answer.field as string | null | undefined) : undefined,
    }
  }
}

function hasBadTarget({ region, params: schema }: Operation, params: Json, headers: Entry['headers']): boolean {
  // A capture can lack all headers.
  const isRegion = region === undefined || Object.keys(headers).length === 0 || isValid(region, headers['x-region'])
  return !isRegion || (schema !== undefined && !isValid(schema, params))
}

const isObject = (body: Entry['body']) => body.kind === 'json' && membersOf(body.value) === body.value

function recordsOf(operation: Operation, answer: Json): readonly Json[] {
  if (operation.kind === undefined || operation.status === 204 || answer === NO_ANSWER) return []
  if (!isList(operation)) return [answer]
  return Array.isArray(answer.data) ? answer.data.map(membersOf) : []
}

/** Reads a query as the server does. */
function parseQuery(schema: TSchema, query: Entry['query']): { filters?: Json; queryError?: ApiError } {
  const result = validatorCompiler({ schema, httpPart: 'querystring' })(query)
  if (typeof result === 'boolean') return {}
  return 'error' in result ? { queryError: result.error as ApiError } : { filters: result.value as Json }
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

const mapValues = (object: Readonly<Record<string, string>>, change: (value: string) => string) =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value)]))

/** Whether a refusal is of the values of a request, whatever its code. */
export const isInvalid = ({ status, code }: Observation): boolean =>
  status === 400 || status === 422 || (status === 415 && code !== undefined)

/** Returns the status of a code in the catalogue; undefined: the sandbox has no such code. */
export const statusOfCode = (code: string | undefined): number | undefined =>
  code !== undefined && Object.hasOwn(catalogue, code) ? catalogue[code as ErrorCode].status : undefined

/** Whether the values of a member are those of its schema, in all records of an answer. */
export const isSound = ({ content, operation }: Observation, member: string): boolean => {
  const path = operation !== undefined && isList(operation) ? `data.${member}` : member
  return ![path, `${path} required`, `${path} date`].some(key => content.faults.has(key))
}
