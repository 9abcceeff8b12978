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

/**
 * The answers that each client has got from this server since its start. A fork counts for its origin too, also after it is
 * gone.
 */
export interface Coverage {
  /** Counts an answer of a client. */
  add(clientId: string, operation: string, facts: Iterable<Fact>): void
  /** A client begins as a fork of another. */
  fork(clientId: string, origin: string): void
  /** Starts the coverage of a client again, without its present forks. Its origin keeps what it has got so far. */
  reset(clientId: string): void
  /** Removes a client. Its origin keeps what it has got, and its forks. */
  remove(clientId: string): void
  /**
   * Returns what clients and their forks have got, each answer once.
   * @param clients 'all': all clients
   */
  read(clients: readonly string[] | 'all'): Facts
  /** Lists the clients that have got an answer, sorted. */
  clients(): string[]
}

/** Counts facts, by operation. */
class FactCounts extends Map<string, Map<Fact, number>> {
  count(operation: string, fact: Fact, times = 1): void {
    let counts = this.get(operation)
    if (counts === undefined) {
      counts = new Map()
      this.set(operation, counts)
    }
    counts.set(fact, (counts.get(fact) ?? 0) + times)
  }

  merge(other: Facts): void {
    for (const [operation, counts] of other) for (const [fact, times] of counts) this.count(operation, fact, times)
  }
}

/** Creates the coverage of clients. */
export function createCoverage(): Coverage {
  const own = new Map<string, FactCounts>()
  /** The origins of forks. */
  const origins = new Map<string, string>()

  function begin(clientId: string): FactCounts {
    const facts = new FactCounts()
    own.set(clientId, facts)
    return facts
  }

  function handOver(clientId: string) {
    const origin = origins.get(clientId)
    const facts = own.get(clientId)
    if (origin !== undefined && facts !== undefined) (own.get(origin) ?? begin(origin)).merge(facts)
    own.delete(clientId)
    for (const [fork, of] of origins) {
      if (of !== clientId) continue
      if (origin === undefined) origins.delete(fork)
      else origins.set(fork, origin)
    }
  }

  /** Returns clients with their forks, and the forks of forks. */
  function withForks(clients: readonly string[]): Set<string> {
    const forks = new Map<string, string[]>([...origins.values()].map(origin => [origin, []]))
    for (const [fork, origin] of origins) forks.get(origin)?.push(fork)
    const all = new Set(clients)
    // A set also yields what is added meanwhile.
    for (const clientId of all) for (const fork of forks.get(clientId) ?? []) all.add(fork)
    return all
  }

  return {
    add(clientId, operation, facts) {
      const counts = own.get(clientId) ?? begin(clientId)
      for (const fact of facts) counts.count(operation, fact)
    },
    fork: (clientId, origin) => void origins.set(clientId, origin),
    reset: handOver,
    remove(clientId) {
      handOver(clientId)
      origins.delete(clientId)
    },
    read(clients) {
      const merged = new FactCounts()
      for (const clientId of clients === 'all' ? own.keys() : withForks(clients))
        merged.merge(own.get(clientId) ?? NONE)
      return merged
    },
    clients: () => [...own.keys()].sort(),
  }
}

const NONE: Facts = new Map()

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
