import type { FastifyRequest } from 'fastify'
import fp from 'fastify-plugin'
import type { ErrorCode } from '../core/errors.js'
import { catalogue } from '../core/errors.js'
import { isCutOff } from '../core/faults.js'
import { operationOf } from './operations.js'

/** The kinds of pages of a list: the first, one behind a cursor, and one without records. */
export const PAGES = ['first', 'following', 'empty'] as const
export type Page = (typeof PAGES)[number]

/** The answers of one operation that a client has got. */
export interface OperationCoverage {
  requests: number
  readonly statuses: Set<number>
  readonly errorCodes: Set<ErrorCode>
  readonly pages: Set<Page>
  /** The values of `status` in the records of the answers. */
  readonly states: Set<string>
}

/** The answers that each client has got, by operation. */
export interface Coverage {
  /** Returns the coverage of an operation, to read or to add to. */
  of(clientId: string, operation: string): OperationCoverage
  /** Forgets a client. */
  remove(clientId: string): void
}

export function createCoverage(): Coverage {
  const clients = new Map<string, Map<string, OperationCoverage>>()
  return {
    of(clientId, operation) {
      const operations = clients.get(clientId) ?? new Map<string, OperationCoverage>()
      clients.set(clientId, operations)
      const covered = operations.get(operation) ?? {
        requests: 0,
        statuses: new Set(),
        errorCodes: new Set(),
        pages: new Set(),
        states: new Set(),
      }
      operations.set(operation, covered)
      return covered
    },
    remove: clientId => void clients.delete(clientId),
  }
}

export interface CoverageOptions {
  readonly coverage: Coverage
  /** Returns the client that a request belongs to; undefined: its answer does not count. */
  clientOf(request: FastifyRequest): string | undefined
}

/** Notes which answers each client gets (control plane, GET /coverage). */
export const coverage = fp<CoverageOptions>((app, { coverage, clientOf }, done) => {
  app.addHook('preSerialization', (request, _reply, payload, next) => {
    const covered = coveredBy(request)
    if (covered !== undefined && payload !== null) addRecords(covered, request, payload as Payload)
    next(null, payload)
  })

  app.addHook('onSend', (request, reply, payload, next) => {
    const { faults } = request.sandbox
    const covered = faults !== null && isCutOff(faults) ? undefined : coveredBy(request)
    if (covered !== undefined) {
      covered.requests++
      covered.statuses.add(reply.statusCode)
      const code = reply.statusCode < 400 ? undefined : codeOf(payload)
      // A fault can answer any code. Only those of the catalogue count, which bounds the set.
      if (code !== undefined && Object.hasOwn(catalogue, code)) covered.errorCodes.add(code as ErrorCode)
    }
    next()
  })
  done()

  function coveredBy(request: FastifyRequest): OperationCoverage | undefined {
    const clientId = request.routeOptions.url === undefined ? undefined : clientOf(request)
    return clientId === undefined ? undefined : coverage.of(clientId, operationOf(request))
  }
})

/** The members of a record or of a list that count. */
type Payload = { readonly status?: unknown; readonly data?: readonly { readonly status?: unknown }[] }

function addRecords({ pages, states }: OperationCoverage, { query }: FastifyRequest, payload: Payload): void {
  const { data } = payload
  for (const { status } of data ?? [payload]) if (typeof status === 'string') states.add(status)
  if (data === undefined) return
  if (data.length === 0) pages.add('empty')
  pages.add((query as { cursor?: string }).cursor === undefined ? 'first' : 'following')
}

function codeOf(payload: unknown): string | undefined {
  try {
    return JSON.parse(payload as string).code
  } catch {
    return undefined
  }
}
