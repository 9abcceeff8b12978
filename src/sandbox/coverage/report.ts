import type { Static, TObject } from '@sinclair/typebox'
import type { Area, EventKind } from '../../areas/index.js'
import { areas, serviceTags } from '../../areas/index.js'
import type { ErrorCode } from '../../core/errors.js'
import { catalogue } from '../../core/errors.js'
import { MULTIPART } from '../../http/multipart.js'
import { nameOf } from '../../http/operations.js'
import { codesOf } from '../../openapi/errors.js'
import type { DocumentedRoute } from '../../openapi/routes.js'
import { isApi } from '../../openapi/routes.js'
import type { Fact, Facts } from './coverage.js'
import type { CoverageReport } from './schemas.js'
import { PAGES, SCOPE } from './schemas.js'

export type Report = Static<typeof CoverageReport>
/** The values that the app has seen, and the values that it has missed. */
export type Met<T> = { met: T[]; missed: T[] }

/** The kinds of records with states. The area of an operation is the title of its tag. */
const KINDS = Object.values<Area>(areas).flatMap(({ title, lifecycle }) =>
  lifecycle === undefined ? [] : [{ kind: lifecycle.kind as EventKind, area: title, states: lifecycle.states }],
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

/**
 * Reports which of the expected answers, states and pages clients have got.
 * @param clients the ids of the clients
 * @param facts what they have got
 */
export function reportOf(clients: readonly string[], facts: Facts, documented: readonly DocumentedRoute[]): Report {
  const titles = new Map(serviceTags().map(({ name, 'x-displayName': title }) => [name, title]))
  const operations = documented.filter(isApi).map(route => {
    const operation = nameOf(route.method, route.url)
    const got = facts.get(operation) ?? NONE
    const statuses = valuesOf(got, 'status').map(Number)
    const errorCodes = expectedCodesOf(route)
    const possible = [...successesOf(route), ...errorCodes.map(code => catalogue[code].status)]
    const { tags = [], summary = '' } = route.schema
    return {
      operation,
      summary,
      area: titles.get(tags[0] ?? '') ?? '',
      requests: statuses.reduce((sum, status) => sum + (got.get(`status ${status}`) ?? 0), 0),
      statuses: split([...new Set(possible)].sort(), statuses),
      errorCodes: split<string>(errorCodes, valuesOf(got, 'errorCode')),
      ...(isPaged(route) && {
        pages: split(
          PAGES,
          PAGES.filter(page => got.has(`page ${page}`)),
        ),
      }),
    }
  })
  const states = KINDS.map(({ kind, area, states }) => {
    const own = operations.filter(operation => operation.area === area)
    const got = new Set(own.flatMap(({ operation }) => valuesOf(facts.get(operation) ?? NONE, 'state')))
    return { kind, area, ...split(states, [...got]) }
  })
  return { scope: SCOPE, clients: [...clients], summary: summarize({ operations, states }), operations, states }
}

/** Counts the met values of a report. */
function summarize({ operations, states }: Pick<Report, 'operations' | 'states'>): Report['summary'] {
  const met = operations.filter(({ requests }) => requests > 0)
  return {
    operations: { met: met.length, of: operations.length },
    statuses: count(operations.map(({ statuses }) => statuses)),
    errorCodes: count(operations.map(({ errorCodes }) => errorCodes)),
    states: count(states),
    pages: count(operations.map(({ pages }) => pages ?? { met: [], missed: [] })),
  }
}

/** Counts the values that were seen, of all. */
function count(all: readonly Met<unknown>[]) {
  const met = all.reduce((sum, { met }) => sum + met.length, 0)
  return { met, of: met + all.reduce((sum, { missed }) => sum + missed.length, 0) }
}

const NONE: ReadonlyMap<Fact, number> = new Map()

/** Returns the values of facts of a kind. */
const valuesOf = (facts: ReadonlyMap<Fact, number>, kind: string) =>
  [...facts.keys()].filter(fact => fact.startsWith(`${kind} `)).map(fact => fact.slice(kind.length + 1))

const successesOf = ({ schema }: DocumentedRoute) =>
  Object.keys(schema.response as object)
    .map(Number)
    .filter(Number.isInteger)

/** Lists the error codes of an operation that an app has to handle (decisions §12). */
const expectedCodesOf = (route: DocumentedRoute) =>
  codesOf(route).filter(code => !UNEXPECTED.has(code) && (!OF_FILES.has(code) || route.config.consumes === MULTIPART))

const isPaged = ({ schema }: DocumentedRoute) =>
  'cursor' in ((schema.querystring as TObject | undefined)?.properties ?? {})

/** Splits the possible values into seen and missed ones. Adds values that no schema lists. */
function split<T>(possible: readonly T[], got: readonly T[]): Met<T> {
  const unlisted = got.filter(value => !possible.includes(value))
  return {
    met: [...possible.filter(value => got.includes(value)), ...unlisted],
    missed: possible.filter(value => !got.includes(value)),
  }
}
