import type { Static, TObject } from '@sinclair/typebox'
import { BILL_STATUSES } from '../areas/bills/lifecycle.js'
import { COLLECTION_STATUSES } from '../areas/direct-debit/lifecycle.js'
import { MANDATE_STATUSES } from '../areas/mandates/lifecycle.js'
import { PAYOUT_LINK_STATUSES } from '../areas/payout-links/lifecycle.js'
import { catalogue } from '../core/errors.js'
import { codesOf } from '../openapi/errors.js'
import type { DocumentedRoute } from '../openapi/routes.js'
import { isApi } from '../openapi/routes.js'
import type { Coverage } from '../plugins/coverage.js'
import { PAGES } from '../plugins/coverage.js'
import { nameOf } from '../plugins/operations.js'
import type { CoverageReport } from './schemas.js'

/** The kinds of records with states, by the path of their operations. */
const KINDS = [
  { kind: 'mandate', path: '/api/v1/mandates', states: MANDATE_STATUSES },
  { kind: 'collection', path: '/api/v1/direct-debit', states: COLLECTION_STATUSES },
  { kind: 'payoutLink', path: '/api/v1/payout-links', states: PAYOUT_LINK_STATUSES },
  { kind: 'bill', path: '/api/v1/bills', states: BILL_STATUSES },
] as const

type Report = Static<typeof CoverageReport>
type Met<T> = { met: T[]; missed: T[] }

/** Reports which answers, states and pages a client has got since its reset, of those that are documented. */
export function coverageOf(coverage: Coverage, clientId: string, documented: readonly DocumentedRoute[]): Report {
  const routes = documented.filter(isApi)
  const rows = routes.map(route => {
    const operation = nameOf(route.method, route.url)
    const got = coverage.of(clientId, operation)
    const errorCodes = codesOf(route)
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

const successesOf = ({ schema }: DocumentedRoute) =>
  Object.keys(schema.response as object)
    .map(Number)
    .filter(Number.isInteger)

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
