import type { Static } from '@sinclair/typebox'
import type { CoverageReport } from './schemas.js'

export type Report = Static<typeof CoverageReport>
type Row = Report['operations'][number]
type States = Report['states'][number]
/** Values that were met, and those that were missed. */
export type Met<T> = { met: T[]; missed: T[] }

/** Counts the met values of a report. */
export function summarize({ operations, states }: Pick<Report, 'operations' | 'states'>): Report['summary'] {
  const met = operations.filter(({ requests }) => requests > 0)
  return {
    operations: { met: met.length, of: operations.length },
    statuses: count(operations.map(({ statuses }) => statuses)),
    errorCodes: count(operations.map(({ errorCodes }) => errorCodes)),
    states: count(states),
    pages: count(operations.map(({ pages }) => pages ?? { met: [], missed: [] })),
  }
}

/** Counts values that were met, of all. */
function count(all: readonly Met<unknown>[]) {
  const met = all.reduce((sum, { met }) => sum + met.length, 0)
  return { met, of: met + all.reduce((sum, { missed }) => sum + missed.length, 0) }
}

/**
 * Merges reports: a value is met if one of them has met it. Requests are added, and values sorted.
 * The operations come in the order of the first report that has them.
 */
export function mergeReports(reports: readonly Report[]): Report {
  const operations = mergeRows(
    reports.map(report => report.operations),
    row => row.operation,
    mergeOperations,
  )
  const states = mergeRows(
    reports.map(report => report.states),
    row => row.kind,
    (a, b): States => ({ ...a, ...mergeMet(a, b) }),
  )
  const clients = sorted(new Set(reports.flatMap(report => report.clients)))
  return { clients, summary: summarize({ operations, states }), operations, states }
}

function mergeOperations(a: Row, b: Row): Row {
  const [ofA, ofB] = [a.pages, b.pages]
  return {
    ...a,
    requests: a.requests + b.requests,
    statuses: mergeMet(a.statuses, b.statuses),
    errorCodes: mergeMet(a.errorCodes, b.errorCodes),
    ...(ofA !== undefined && ofB !== undefined && { pages: mergeMet(ofA, ofB) }),
  }
}

/** Merges the rows with the same name. */
function mergeRows<R>(lists: readonly (readonly R[])[], nameOf: (row: R) => string, merge: (a: R, b: R) => R): R[] {
  const rows = new Map<string, R>()
  for (const row of lists.flat()) {
    const known = rows.get(nameOf(row))
    rows.set(nameOf(row), known === undefined ? row : merge(known, row))
  }
  return [...rows.values()]
}

function mergeMet<T extends string | number>(a: Met<T>, b: Met<T>): Met<T> {
  const met = new Set([...a.met, ...b.met])
  const missed = [...a.missed, ...b.missed].filter(value => !met.has(value))
  return { met: sorted(met), missed: sorted(new Set(missed)) }
}

const sorted = <T extends string | number>(values: ReadonlySet<T>): T[] =>
  [...values].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))
