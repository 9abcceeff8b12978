import { errors } from '../core/errors.js'
import type { Coverage, Fact, Facts } from '../features/coverage/coverage.js'
import { FactCounts } from '../features/coverage/coverage.js'
import type { Timers } from '../http/timers.js'
import { countOf } from './database.js'

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
  /** Writes all that waits, also of the clients whose last write failed. Never rejects. */
  flushAll(): Promise<void>
}

/** The wait for another write after one that failed. */
const RETRY_MS = 1000

/**
 * The coverage of clients in a database, which all servers share. Facts are written after their answers, all that came
 * meanwhile in one transaction.
 * @param wait the milliseconds for further answers before a write. A crash loses the answers of this time, and a reset or
 *   removal on another server comes before them.
 */
export function createStoredCoverage(
  { select, transact }: CoverageTables,
  timers: Timers,
  wait: number,
): StoredCoverage {
  /** The statements that are not written yet. Those of a client precede its facts that wait. */
  let pending: Statement[] = []
  /** The facts that are not written yet, by client. */
  const waiting = new Map<string, FactCounts>()
  /** The clients whose last write failed by itself. Each is written apart, and no other waits for it. */
  const failing = new Set<string>()
  /** The work that waits for its timer. */
  const planned = new Set<() => Promise<void>>()

  function factsOf(clientId: string): FactCounts {
    const facts = waiting.get(clientId) ?? new FactCounts()
    waiting.set(clientId, facts)
    return facts
  }

  /** Takes all that is not written yet of some clients. */
  function take(isTaken: (clientId: string) => boolean): Statement[] {
    const taken = pending.filter(statement => isTaken(clientOf(statement)))
    pending = pending.filter(statement => !isTaken(clientOf(statement)))
    for (const [clientId, facts] of waiting) {
      if (!isTaken(clientId)) continue
      taken.push(...toStatements(clientId, facts))
      waiting.delete(clientId)
    }
    return taken
  }

  /** Puts back what could not be written. Facts add up again, so that they stay few. */
  function putBack(statements: readonly Statement[]) {
    const followed = new Set(pending.map(clientOf))
    const others: Statement[] = []
    for (const statement of statements.toReversed()) {
      const clientId = clientOf(statement)
      if (statement.name === ADD.name && !followed.has(clientId)) {
        const [, operation, fact, answers] = statement.values as FactRow
        factsOf(clientId).count(operation, fact, answers)
      } else {
        others.push(statement)
        followed.add(clientId)
      }
    }
    pending = [...others.reverse(), ...pending].slice(-MOST_PENDING)
  }

  /** Writes what waits, in transactions of many clients. A client whose change fails keeps all of its own waiting. */
  async function write(): Promise<void> {
    let statements = take(clientId => !failing.has(clientId))
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
      let statements = take(clientId => clientId === client)
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
  const retryQuietly = () => retry().catch(() => {})

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

  /** Adds statements that follow the facts of their client. */
  function follow(statements: readonly Omit<Statement, 'values'>[], ...values: [clientId: string, ...string[]]) {
    const [client] = values
    pending.push(...toStatements(client, factsOf(client)), ...statements.map(statement => ({ ...statement, values })))
    waiting.delete(client)
    plan(flush, wait)
  }

  /** Throws SERVICE_UNAVAILABLE, also if changes of one of the clients cannot be written. */
  async function read(statement: Statement, columns: readonly string[], clients: readonly string[] = []) {
    const isFailing = () => clients.some(clientId => failing.has(clientId))
    try {
      await flush()
      if (isFailing()) await retryQuietly()
      if (!isFailing()) return await select(statement, columns)
    } catch {}
    throw errors.databaseUnavailable()
  }

  return {
    add(clientId, operation, facts) {
      const counts = factsOf(clientId)
      for (const fact of facts) counts.count(operation, fact)
      plan(flush, wait)
    },
    fork: (clientId, origin) => follow([FORK], clientId, origin),
    reset: clientId => follow(HAND_OVER, clientId),
    remove: clientId => follow([...HAND_OVER, REMOVE], clientId),
    async read(clients) {
      const [statement, own] = clients === 'all' ? [READ_ALL, []] : [readOf(clients), clients]
      const rows = await read(statement, ['operation', 'fact', 'answers'], own)
      const facts = new FactCounts()
      for (const { operation, fact, answers } of rows) facts.count(operation as string, fact as Fact, Number(answers))
      return facts
    },
    clients: async () => (await read(CLIENTS, ['client_id'])).map(row => row.client_id as string),
    flush: flushQuietly,
    async flushAll() {
      await flushQuietly()
      await retryQuietly()
    },
    pending: () => planned.size,
  }
}

/** Returns a function that does some work once at a time. A run that begins after its call serves all that wait for it. */
function sharedRuns(work: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined
  return async () => {
    await running?.catch(() => {})
    running ??= work().finally(() => {
      running = undefined
    })
    await running
  }
}

/** The most statements that wait while the database is away. */
const MOST_PENDING = 10_000
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
  text: `INSERT INTO sandbox_coverage VALUES ($1, $2, $3, $4)
    ON CONFLICT (client_id, operation, fact) DO UPDATE SET ${ADDED}`,
}

const FORK = {
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
