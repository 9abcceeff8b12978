import { errors } from '../core/errors.js'
import type { Coverage, Fact, Facts } from '../features/coverage/coverage.js'
import { FactCounts } from '../features/coverage/coverage.js'
import type { Timers } from '../http/timers.js'
import { countOf } from './database.js'
import { sharedRuns } from './shared-runs.js'

/** A statement in the dialect that both databases have, with the parameters `$1`, `$2` and so on. */
export interface Statement {
  /** Identifies the text. */
  readonly name: string
  readonly text: string
  /** Of a change, the first one is its client. */
  readonly values: readonly (string | number)[]
}

/** The tables of the coverage. Both methods reject with an Error of the database. */
export interface CoverageTables {
  /** Returns the rows of a query. Numbers may come as texts. */
  select(statement: Statement, columns: readonly string[]): Promise<Readonly<Record<string, unknown>>[]>
  /**
   * Executes statements in order, in one transaction. If one of them fails by itself, nothing is done.
   * @returns the number of the first that fails; undefined: all are done
   */
  transact(statements: readonly Statement[]): Promise<number | undefined>
}

/** The coverage of clients in a database. */
export interface StoredCoverage extends Coverage {
  /**
   * Commits a turn of clients with the changes of their coverage: their forks, resets and removals since its beginning. A
   * turn that may reset or remove a client begins with a flush.
   * @param work executes statements in its transaction, and commits
   */
  commit(clientIds: readonly string[], work: (statements: readonly Statement[]) => Promise<void>): Promise<void>
  /** Forgets these changes. */
  rollback(clientIds: readonly string[]): void
  /** Writes all that waits, but for the clients whose last write failed. Never rejects. */
  flush(): Promise<void>
  /** Writes all that waits, also of these clients. Never rejects. */
  flushAll(): Promise<void>
}

/** The wait for another write after one that failed. */
const RETRY_MS = 1000

/**
 * The coverage of clients in a database, which all servers share. Facts are written after their answers, all that came
 * meanwhile in one transaction. Forks, resets and removals are written with the turns that do them.
 * @param wait the milliseconds for further answers before a write. A crash loses the answers of this time
 */
export function createStoredCoverage(
  { select, transact }: CoverageTables,
  timers: Timers,
  wait: number,
): StoredCoverage {
  /** The facts that are not written yet, by client. */
  const waiting = new Map<string, FactCounts>()
  /** Forks, resets and removals in turns that have not committed, by client. */
  const changes = new Map<string, Statement[]>()
  /** The clients whose last write failed by itself. Each is written apart, and no other waits for it. */
  const failing = new Set<string>()
  /** The work that waits for its timer. */
  const planned = new Set<() => Promise<void>>()

  function factsOf(clientId: string): FactCounts {
    const facts = waiting.get(clientId) ?? new FactCounts()
    waiting.set(clientId, facts)
    return facts
  }

  /** Takes the facts of clients that are not written yet. */
  function take(clientIds: readonly string[]): Statement[] {
    const taken = clientIds.flatMap(clientId => toStatements(clientId, factsOf(clientId)))
    for (const clientId of clientIds) waiting.delete(clientId)
    return taken
  }

  /** Puts back facts that could not be written. They add up with those that came meanwhile. */
  function putBack(statements: readonly Statement[]) {
    for (const { values } of statements) {
      const [clientId, operation, fact, answers] = values as FactRow
      factsOf(clientId).count(operation, fact, answers)
    }
  }

  /** Writes what waits, in transactions of many clients. A client whose write fails keeps all of its own waiting. */
  async function write(): Promise<void> {
    let statements = take([...waiting.keys()].filter(clientId => !failing.has(clientId)))
    try {
      while (statements.length > 0) {
        const batch = statements.slice(0, endOfBatch(statements))
        const at = await transact(batch)
        if (at === undefined) {
          statements = statements.slice(batch.length)
          continue
        }
        const client = clientOf(batch[at] as Statement)
        failing.add(client)
        plan(retry, RETRY_MS)
        putBack(statements.filter(statement => clientOf(statement) === client))
        statements = statements.filter(statement => clientOf(statement) !== client)
      }
    } finally {
      putBack(statements)
    }
  }

  /** Writes what waits of each client whose last write failed. Rejects if one fails again. */
  async function writeFailing(): Promise<void> {
    for (const client of [...failing]) {
      let statements = take([client])
      try {
        if ((await transact(statements)) !== undefined) continue
        statements = []
        failing.delete(client)
        plan(flush, wait)
      } finally {
        putBack(statements)
      }
    }
    if (failing.size > 0) throw errors.databaseUnavailable()
  }

  const flush = sharedRuns(write)
  const retry = sharedRuns(writeFailing)
  const flushQuietly = () => flush().catch(() => {})

  /** Plans some work, and again a second later if it fails. */
  function plan(work: () => Promise<void>, delay: number) {
    if (planned.has(work)) return
    planned.add(work)
    const began = timers.elapsed()
    timers.later(delay, () => {
      planned.delete(work)
      // A server that closes ends all waits early. Its database writes once more, and closes.
      const isClosing = timers.elapsed() - began < delay / 2
      void work().catch(() => isClosing || plan(work, RETRY_MS))
    })
  }

  /** Adds a change that commits with the turn of its client. */
  function change(statements: readonly Omit<Statement, 'values'>[], ...values: [clientId: string, ...string[]]) {
    const [clientId] = values
    const added = statements.map(statement => ({ ...statement, values }))
    changes.set(clientId, [...(changes.get(clientId) ?? []), ...added])
  }

  /** Throws SERVICE_UNAVAILABLE, also if facts of one of the clients cannot be written. */
  async function read(statement: Statement, columns: readonly string[], clients: readonly string[] = []) {
    try {
      await flush()
      if (!clients.some(clientId => failing.has(clientId))) return await select(statement, columns)
    } catch {}
    throw errors.databaseUnavailable()
  }

  return {
    add(clientId, operation, facts) {
      const counts = factsOf(clientId)
      for (const fact of facts) counts.count(operation, fact)
      plan(flush, wait)
    },
    fork: (clientId, origin) => change([FORK], clientId, origin),
    reset: clientId => change(HAND_OVER, clientId),
    remove: clientId => change([...HAND_OVER, REMOVE], clientId),
    async read(clients) {
      const [statement, own] = clients === 'all' ? [READ_ALL, []] : [readOf(clients), clients]
      const rows = await read(statement, ['operation', 'fact', 'answers'], own)
      const facts = new FactCounts()
      for (const { operation, fact, answers } of rows) facts.count(operation as string, fact as Fact, Number(answers))
      return facts
    },
    clients: async () => (await read(CLIENTS, ['client_id'])).map(row => row.client_id as string),
    flush: flushQuietly,
    async commit(clientIds, work) {
      const changed = clientIds.filter(clientId => changes.has(clientId))
      const facts = take(changed)
      try {
        await work([...facts, ...changed.flatMap(clientId => changes.get(clientId) ?? [])])
        for (const clientId of changed) {
          changes.delete(clientId)
          failing.delete(clientId)
        }
      } catch (error) {
        putBack(facts)
        throw error
      }
    },
    rollback(clientIds) {
      for (const clientId of clientIds) changes.delete(clientId)
    },
    async flushAll() {
      await flushQuietly()
      await retry().catch(() => {})
    },
    pending: () => planned.size,
  }
}

/** About the most statements of a transaction, which holds up those of other servers. */
const BATCH = 1000

/** Returns where a batch of statements ends: those of a client that follow each other are in one. */
function endOfBatch(statements: readonly Statement[]): number {
  let end = BATCH
  while (end < statements.length && statements[end]?.values[0] === statements[end - 1]?.values[0]) end++
  return end
}

const ADDED = `answers = ${countOf('sandbox_coverage.answers')} + excluded.answers`

type FactRow = [clientId: string, operation: string, fact: Fact, answers: number]

const clientOf = ({ values }: Statement) => values[0] as string

const toStatements = (clientId: string, facts: Facts): Statement[] =>
  [...facts].flatMap(([operation, counts]) =>
    [...counts].map(([fact, answers]) => ({ ...ADD, values: [clientId, operation, fact, answers] satisfies FactRow })),
  )

const ADD = {
  name: 'add coverage',
  text: `INSERT INTO sandbox_coverage SELECT $1, $2, $3, $4
    WHERE NOT EXISTS (SELECT 1 FROM sandbox_tenant WHERE client_id = $1 AND removed = 1)
    ON CONFLICT (client_id, operation, fact) DO UPDATE SET ${ADDED}`,
}

/** Adds the origin of a fork. */
export const FORK = {
  name: 'add fork',
  text: `INSERT INTO sandbox_fork VALUES ($1, $2) ON CONFLICT (client_id) DO UPDATE SET origin = excluded.origin`,
}

/** Gives the facts and the forks of a client to its origin. Without an origin, they are gone. */
const HAND_OVER = [
  {
    name: 'hand facts over',
    text: `INSERT INTO sandbox_coverage
      SELECT fork.origin, own.operation, own.fact, ${countOf('own.answers')}
      FROM sandbox_coverage AS own JOIN sandbox_fork AS fork ON fork.client_id = own.client_id
      WHERE own.client_id = $1
      ON CONFLICT (client_id, operation, fact) DO UPDATE SET ${ADDED}`,
  },
  { name: 'clear coverage', text: 'DELETE FROM sandbox_coverage WHERE client_id = $1' },
  {
    name: 'hand forks over',
    text: `UPDATE sandbox_fork SET origin = (SELECT own.origin FROM sandbox_fork AS own WHERE own.client_id = $1)
      WHERE origin = $1 AND EXISTS (SELECT 1 FROM sandbox_fork AS own WHERE own.client_id = $1)`,
  },
  { name: 'clear forks', text: 'DELETE FROM sandbox_fork WHERE origin = $1' },
]
const REMOVE = { name: 'remove fork', text: 'DELETE FROM sandbox_fork WHERE client_id = $1' }

const READ_ALL: Statement = {
  name: 'read all coverage',
  text: `SELECT operation, fact, sum(${countOf('answers')}) AS answers
    FROM sandbox_coverage GROUP BY operation, fact`,
  values: [],
}

/** Reads the facts of clients and of their forks, each once. */
function readOf(clients: readonly string[]): Statement {
  const given = clients.map((_, at) => `SELECT CAST($${at + 1} AS TEXT) AS client_id`).join(' UNION ')
  return {
    name: `read coverage of ${clients.length}`,
    text: `WITH RECURSIVE asked AS (${given}), counted AS (
        SELECT client_id FROM asked
        UNION
        SELECT fork.client_id FROM sandbox_fork AS fork JOIN counted ON fork.origin = counted.client_id
      )
      SELECT operation, fact, sum(${countOf('answers')}) AS answers FROM sandbox_coverage
      WHERE client_id IN (SELECT client_id FROM counted) GROUP BY operation, fact`,
    values: clients,
  }
}

const CLIENTS: Statement = {
  name: 'clients with coverage',
  text: 'SELECT DISTINCT client_id FROM sandbox_coverage',
  values: [],
}
