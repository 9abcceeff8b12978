import type { FastifyReply, FastifyRequest } from 'fastify'
import type { ErrorCode } from '../../core/errors.js'
import { catalogue } from '../../core/errors.js'
import { isCutOff } from '../faults/state.js'
import type { PAGES } from './schemas.js'

type Page = (typeof PAGES)[number]

/** A fact about an answer, such as `status 201`. Each answer has one status; its states are the states of its records. */
export type Fact = `status ${number}` | `errorCode ${ErrorCode}` | `page ${Page}` | `state ${string}`

/** The number of answers with a fact, by operation and fact. */
export type Facts = ReadonlyMap<string, ReadonlyMap<Fact, number>>

export type Coverage = ReturnType<typeof createCoverage>

/**
 * Creates the coverage of clients: the answers that each has got from this server since its start. An answer of a fork counts
 * for its origin too, also after the fork is gone.
 */
export function createCoverage() {
  /** The answers of each client and of its forks. */
  const got = new Map<string, Map<string, Map<Fact, number>>>()
  const origins = new Map<string, string>()
  /** The clients that have got an answer themselves, or from a fork that is gone. */
  const answered = new Set<string>()

  /** Whether a client is a fork of one of some clients, or a fork of such a fork. */
  function isForkOf(clientId: string, clients: ReadonlySet<string>): boolean {
    const origin = origins.get(clientId)
    return origin !== undefined && (clients.has(origin) || isForkOf(origin, clients))
  }

  /** Removes the coverage of a client. Its present forks count for its origin from now on. */
  function forget(clientId: string) {
    got.delete(clientId)
    const origin = origins.get(clientId)
    if (answered.delete(clientId) && origin !== undefined) answered.add(origin)
    for (const [fork, of] of origins) {
      if (of !== clientId) continue
      if (origin === undefined) origins.delete(fork)
      else origins.set(fork, origin)
    }
  }

  return {
    /** Counts an answer of a client. */
    add(clientId: string, operation: string, facts: Iterable<Fact>): void {
      answered.add(clientId)
      for (let each: string | undefined = clientId; each !== undefined; each = origins.get(each)) {
        const counts = got.get(each) ?? new Map()
        got.set(each, counts)
        for (const fact of facts) count(counts, operation, fact)
      }
    },
    /** A client begins as a fork of another. */
    fork: (clientId: string, origin: string) => void origins.set(clientId, origin),
    /** Starts the coverage of a client again, without its present forks. Its origin keeps what it has got so far. */
    reset: forget,
    /** Removes a client. Its origin keeps what it has got, and its forks. */
    remove(clientId: string): void {
      forget(clientId)
      origins.delete(clientId)
    },
    /** Returns what clients and their forks have got, each answer once. By default, of all clients. */
    read(clients: Iterable<string> = got.keys()): Facts {
      const asked = new Set(clients)
      const merged = new Map<string, Map<Fact, number>>()
      for (const clientId of asked) {
        if (isForkOf(clientId, asked)) continue
        for (const [operation, counts] of got.get(clientId) ?? []) {
          for (const [fact, times] of counts) count(merged, operation, fact, times)
        }
      }
      return merged
    },
    /** Lists the clients that have got an answer, sorted. */
    clients: (): string[] => [...answered].sort(),
  }
}

/** Counts a fact of an operation. */
function count(facts: Map<string, Map<Fact, number>>, operation: string, fact: Fact, times = 1): void {
  const counts = facts.get(operation) ?? new Map<Fact, number>()
  facts.set(operation, counts.set(fact, (counts.get(fact) ?? 0) + times))
}

/** Counts an answer of a client, for the control plane, GET /coverage. */
export function coverAnswer(
  coverage: Coverage,
  clientId: string,
  request: FastifyRequest,
  { statusCode }: FastifyReply,
): void {
  const { faults, content, route } = request.sandbox
  const { operation } = route.config
  if (operation === undefined || request.is404 || (faults !== null && isCutOff(faults))) return
  const { cursor } = request.query as { cursor?: string }
  const facts = factsOf(statusCode, (content ?? {}) as Content, cursor !== undefined)
  coverage.add(clientId, operation, facts)
}

/** The members of a record, of a list or of an error that count. */
interface Content {
  readonly status?: unknown
  readonly data?: readonly (Content | null)[]
  readonly code?: ErrorCode
}

/** Returns the facts of an answer. `isFollowing`: the request has a cursor. */
function factsOf(status: number, content: Content, isFollowing: boolean): ReadonlySet<Fact> {
  const facts = new Set<Fact>([`status ${status}`])
  const { code, data } = content
  if (status >= 400) {
    // A fault can answer any code. Only the codes of the catalogue count, which bounds the facts.
    if (code !== undefined && Object.hasOwn(catalogue, code)) facts.add(`errorCode ${code}`)
    return facts
  }
  for (const record of data ?? [content]) {
    if (typeof record?.status === 'string') facts.add(`state ${record.status}`)
  }
  if (data === undefined) return facts
  if (data.length === 0) facts.add('page empty')
  return facts.add(isFollowing ? 'page following' : 'page first')
}
