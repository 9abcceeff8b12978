import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorCode, ErrorEnvelope } from '../../core/errors.js'
import { catalogue } from '../../core/errors.js'
import { operationOf } from '../../http/operations.js'
import { isCutOff } from '../faults/state.js'
import type { PAGES } from './schemas.js'

type Page = (typeof PAGES)[number]

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
  /** Lists the clients, in no order. */
  clients(): Iterable<string>
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
    clients: () => clients.keys(),
    remove: clientId => void clients.delete(clientId),
  }
}

/** Counts an answer of a client, for the control plane, GET /coverage. */
export function coverAnswer(
  coverage: Coverage,
  clientId: string,
  request: FastifyRequest,
  { statusCode }: FastifyReply,
): void {
  const { faults, content } = request.sandbox
  if (request.is404 || (faults !== null && isCutOff(faults))) return
  const covered = coverage.of(clientId, operationOf(request))
  covered.requests++
  covered.statuses.add(statusCode)
  if (statusCode < 400) addRecords(covered, request, (content ?? {}) as Content)
  else addErrorCode(covered, (content ?? {}) as Partial<ErrorEnvelope>)
}

/** The members of a record or of a list that count. */
type Content = { readonly status?: unknown; readonly data?: readonly { readonly status?: unknown }[] }

function addRecords({ pages, states }: OperationCoverage, { query }: FastifyRequest, content: Content): void {
  const { data } = content
  for (const { status } of data ?? [content]) if (typeof status === 'string') states.add(status)
  if (data === undefined) return
  if (data.length === 0) pages.add('empty')
  pages.add((query as { cursor?: string }).cursor === undefined ? 'first' : 'following')
}

/** Adds the code of an error. A fault can answer any code. Only those of the catalogue count, which bounds the set. */
function addErrorCode({ errorCodes }: OperationCoverage, { code }: Partial<ErrorEnvelope>): void {
  if (code !== undefined && Object.hasOwn(catalogue, code)) errorCodes.add(code)
}
