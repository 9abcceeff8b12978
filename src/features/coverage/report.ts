import type { Static, TObject } from '@sinclair/typebox'
import type { Area, EventKind } from '../../areas/index.js'
import { areas, serviceTags } from '../../areas/index.js'
import type { ErrorCode } from '../../core/errors.js'
import { catalogue } from '../../core/errors.js'
import { MULTIPART } from '../../http/multipart.js'
import { nameOf } from '../../http/operations.js'
import { referenceTo } from '../../openapi/docs.js'
import { codesOf } from '../../openapi/errors.js'
import type { DocumentedRoute } from '../../openapi/routes.js'
import { isApi } from '../../openapi/routes.js'
import type { Coverage } from './coverage.js'
import type { CoverageReport } from './schemas.js'
import { PAGES } from './schemas.js'

/** The kinds of records with states, by the path of their operations. */
const KINDS = Object.values<Area>(areas).flatMap(({ path, lifecycle }) =>
  lifecycle === undefined
    ? []
    : [{ kind: lifecycle.kind as EventKind, path: `/api/v1/${path}`, states: lifecycle.states }],
)

/** Errors that an app need not handle: only a defect of the app causes them, or the service has no such error. */
const UNEXPECTED: ReadonlySet<ErrorCode> = new Set([
  'MALFORMED_REQUEST',
  'UNSUPPORTED_GRANT_TYPE',
  'MISSING_TOKEN',
  'METHOD_NOT_ALLOWED',
  'REQUEST_TIMEOUT',
  'HEADERS_TOO_LARGE',
  'FORBIDDEN_ORIGIN',
  'FORBIDDEN_HOST',
])
/** Errors that a file of a user causes, and on other operations only a defect of the app. */
const OF_FILES: ReadonlySet<ErrorCode> = new Set(['PAYLOAD_TOO_LARGE', 'UNSUPPORTED_MEDIA_TYPE'])

export type Report = Static<typeof CoverageReport>
/** Values that were met, and those that were missed. */
export type Met<T> = { met: T[]; missed: T[] }

/** The coverage of an operation, with its description. */
export type OperationRow = Report['operations'][number] & {
  readonly summary: string
  /** The address of its description, relative to the page. */
  readonly reference: string
}

/** The coverage of the operations of one area, and of the states of its records. */
export interface AreaCoverage {
  readonly name: string
  readonly operations: readonly OperationRow[]
  readonly states: Report['states']
}

/** Reports which answers, states and pages a client has got since its reset, of those that it has to expect. */
export function coverageOf(coverage: Coverage, clientId: string, documented: readonly DocumentedRoute[]): Report {
  const routes = documented.filter(isApi)
  const rows = routes.map(route => {
    const operation = nameOf(route.method, route.url)
    const got = coverage.of(clientId, operation)
    const errorCodes = expectedCodesOf(route)
    const possible = [...successesOf(route), ...errorCodes.map(code => catalogue[code].status)]
    return {
      operation,
      requests: got.requests,
      statuses: split([...new Set(possible)].sort(), got.statuses),
      errorCodes: split(errorCodes, got.errorCodes),
      ...(isPaged(route) && { pages: split(PAGES, got.pages) }),
    }
  })
  const states = KINDS.map(({ kind, path, states }) => {
    const own = rows.filter(({ operation }) => operation.includes(` ${path}`))
    const got = new Set(own.flatMap(({ operation }) => [...coverage.of(clientId, operation).states]))
    return { kind, ...split(states, got) }
  })
  return {
    clientId,
    summary: {
      operations: count([{ met: rows.filter(isMet), missed: rows.filter(row => !isMet(row)) }]),
      statuses: count(rows.map(row => row.statuses)),
      errorCodes: count(rows.map(row => row.errorCodes)),
      states: count(states),
      pages: count(rows.map(row => row.pages ?? { met: [], missed: [] })),
    },
    operations: rows,
    states,
  }
}

/** Groups a report by the areas of the service. */
export function areasOf({ operations, states }: Report, documented: readonly DocumentedRoute[]): AreaCoverage[] {
  const rows = documented.filter(isApi).map(({ method, url, schema: { tags, summary = '' } }, at) => ({
    tag: tags?.[0],
    ...(operations[at] as Report['operations'][number]),
    summary,
    reference: referenceTo(tags?.[0] as string, method, url),
  }))
  return serviceTags().map(({ name, 'x-displayName': title }) => ({
    name: title,
    operations: rows.filter(({ tag }) => tag === name),
    states: states.filter((_, at) => KINDS[at]?.path.endsWith(`/${name}`)),
  }))
}

const successesOf = ({ schema }: DocumentedRoute) =>
  Object.keys(schema.response as object)
    .map(Number)
    .filter(Number.isInteger)

/** Lists the error codes of an operation that an app has to handle (docs/control-plane.md). */
const expectedCodesOf = (route: DocumentedRoute) =>
  codesOf(route).filter(code => !UNEXPECTED.has(code) && (!OF_FILES.has(code) || route.config.consumes === MULTIPART))

const isPaged = ({ schema }: DocumentedRoute) =>
  'cursor' in ((schema.querystring as TObject | undefined)?.properties ?? {})

const isMet = ({ requests }: { requests: number }) => requests > 0

/** Splits the possible values into those that were met and the others. Adds values that no schema lists. */
function split<T>(possible: readonly T[], got: ReadonlySet<T>): Met<T> {
  const unlisted = [...got].filter(value => !possible.includes(value))
  return {
    met: [...possible.filter(value => got.has(value)), ...unlisted],
    missed: possible.filter(value => !got.has(value)),
  }
}

/** Counts values that were met, of all. */
function count(all: readonly Met<unknown>[]) {
  const met = all.reduce((sum, { met }) => sum + met.length, 0)
  return { met, of: met + all.reduce((sum, { missed }) => sum + missed.length, 0) }
}
