import type { TObject, TSchema } from '@sinclair/typebox'
import type { Area, AreaName } from '../areas/index.js'
import { areas } from '../areas/index.js'
import type { ErrorCode } from '../core/errors.js'
import { catalogue } from '../core/errors.js'
import { ownMember } from '../core/own-member.js'
import { nameOf } from '../http/operations.js'
import { failuresOf, unescapePointer, unknownMembers } from '../http/validation.js'
import { codesOf } from '../openapi/errors.js'
import type { DocumentedRoute } from '../openapi/routes.js'
import { isApi } from '../openapi/routes.js'

/** An operation of the service, with all that the code says of it. */
export interface Operation {
  /** Such as `getMandate`. */
  readonly id: string
  /** Such as `GET /api/v1/mandates/{mandateReference}`. */
  readonly name: string
  readonly method: string
  /** The kind of records; undefined: the token endpoint. */
  readonly area: AreaName | undefined
  /** The section of docs/decisions.md. */
  readonly section: number
  readonly headers: TObject | undefined
  readonly params: TObject | undefined
  readonly query: TObject | undefined
  readonly body: TObject | undefined
  /** The status of success, and the schema of its content. */
  readonly status: number
  readonly answer: TSchema
  /** The schema of the content of refusals. */
  readonly refusal: TSchema
  /** The schema of the records of the answer; undefined: it has none. */
  readonly record: TSchema | undefined
  readonly isList: boolean
  readonly codes: readonly ErrorCode[]
}

/** An operation with the values of its path, decoded. */
export interface Match {
  /** Undefined: no operation has this path with this method. */
  readonly operation: Operation | undefined
  readonly params: Readonly<Record<string, string>>
  /** The path from `/api/v1` on. */
  readonly path: string
}

/** The name of requests that are no operation, but below the path of one. */
export const OTHER_PATHS = 'other paths'

export type Contract = ReturnType<typeof createContract>

const OAUTH_SECTION = 3
const API = /\/api\/v1(\/[^/]+.*)$/

/** Creates the contract of the documented routes. */
export function createContract(documented: readonly DocumentedRoute[]) {
  const operations = documented.filter(isApi).map(operationOf)
  const found = operations.map(operation => ({ operation, pattern: patternOf(operation) }))
  const roots = new Set(operations.map(({ name }) => name.split('/')[3]))
  const areaOf = new Map(Object.entries(areas).map(([area, { reference }]) => [reference as string, area as AreaName]))
  return {
    operations,
    /** Returns the area whose records a member refers to; undefined: none. */
    areaOf: (member: string): AreaName | undefined => areaOf.get(member),
    /** Returns the schema of whole records of an area; undefined: no answer has one. */
    recordOf: (area: AreaName): TSchema | undefined =>
      operations.find(one => one.area === area && one.record !== undefined && !one.isList)?.record,
    /** Finds the operation of a path; undefined: it is of no area. */
    match(method: string, pathname: string): Match | undefined {
      const [, rest] = API.exec(pathname) ?? []
      if (rest === undefined || !roots.has(rest.split('/')[1])) return undefined
      const path = `/api/v1${rest}`
      const isSlash = /%2f/i.test(rest)
      // HEAD is part of GET.
      const wanted = method === 'HEAD' ? 'GET' : method
      const match = isSlash ? undefined : found.find(one => one.operation.method === wanted && one.pattern.test(path))
      const groups = Object.entries(match?.pattern.exec(path)?.groups ?? {})
      return {
        operation: match?.operation,
        path,
        params: Object.fromEntries(groups.map(([name, text]) => [name, decode(text)])),
      }
    },
  }
}

function operationOf(route: DocumentedRoute): Operation {
  const { headers, params, querystring, body, response, operationId } = route.schema
  const answers = response as Record<string, TSchema>
  const [[status, answer]] = Object.entries(answers) as [[string, TSchema]]
  const [area, row] = Object.entries<Area>(areas).find(([, row]) => route.url.split('/')[3] === row.path) ?? []
  const item = answer.properties?.data?.items as TSchema | undefined
  const record = item ?? answer
  const reference = row?.reference ?? ''
  return {
    id: operationId as string,
    name: nameOf(route.method, route.url),
    method: route.method,
    area: area as AreaName | undefined,
    section: row?.section ?? OAUTH_SECTION,
    headers: headers as TObject | undefined,
    params: params as TObject | undefined,
    query: querystring as TObject | undefined,
    body: body as TObject | undefined,
    status: Number(status),
    answer,
    refusal: answers['4xx'] as TSchema,
    record: record.properties?.[reference] === undefined ? undefined : record,
    isList: item !== undefined,
    codes: codesOf(route),
  }
}

const patternOf = ({ name }: Operation) =>
  new RegExp(`^${name.slice(name.indexOf('/')).replace(/\{(\w+)\}/g, '(?<$1>[^/]+)')}$`)

export function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Whether an error is one that an operation can answer, with the status of the catalogue. */
export const isKnownError = (operation: Operation | undefined, code: string, status: number): boolean =>
  Object.hasOwn(catalogue, code) &&
  catalogue[code as ErrorCode].status === status &&
  (operation === undefined || operation.codes.includes(code as ErrorCode))

/** A path within a value: names of members and positions in lists. */
export type Path = readonly string[]

/** Returns the name of a member without the positions in lists. */
export const nameOfMember = (path: Path) => path.filter(part => !/^\d+$/.test(part)).join('.')

/** Finds the schema of a member by its path; undefined: there is none. */
export function memberAt(schema: TSchema, path: Path): TSchema | undefined {
  let found: TSchema | undefined = schema
  for (const name of path) {
    if (found === undefined) return undefined
    found = found.type === 'array' ? found.items : ownMember<TSchema>(found.properties ?? {}, name)
  }
  return found
}

/** Lists the paths of the values that a schema refuses, and of members that it does not name. */
export function faultsOf(schema: TSchema, value: unknown): Path[] {
  const faults = failuresOf(schema, value).map(({ instancePath, keyword, params }) => {
    const path = instancePath.split('/').slice(1).map(unescapePointer)
    return keyword === 'required' ? [...path, params.missingProperty as string] : path
  })
  return [...faults, ...unknownMembers(schema, value).map(path => path.split('.'))]
}
