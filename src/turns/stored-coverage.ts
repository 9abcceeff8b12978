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

/** The wait for another write after one that failed. */
const RETRY_MS = 1000

/**
 * The coverage of clients in a database, which all servers share. Facts are written after their answers, all that came
 * meanwhile in one transaction.
 * @param wait the milliseconds for further answers before a write. A crash loses the answers of this time, and a reset or
 *   removal on another server comes before them.
 */
export function createStoredCoverage({ select, transact }: CoverageTables, timers: Timers, wait: number): Coverage {
  /** The statements that are not written yet. They precede the facts that wait. */
  let pending: Statement[] = []
  /** The facts that are not written yet, by client. */
  let waiting = new Map<string, FactCounts>()
  let writing: Promise<void> | undefined
  /** The clients whose last write failed by itself. */
  let failing: ReadonlySet<unknown> = new Set()
  let isPlanned = false

  /** Takes all that is not written yet. */
  function takeAll(): Statement[] {
    const statements = [...pending, ...[...waiting].flatMap(([clientId, facts]) => toStatements(clientId, facts))]
    pending = []
    waiting = new Map()
    return statements
  }

  /** Writes what waits, in transactions of many clients. A client whose change fails keeps all of its own waiting. */
  async function write(): Promise<void> {
    const failed = new Map<unknown, Statement[]>()
    let statements = takeAll()
    try {
      while (statements.length > 0) {
        const batch = statements.slice(0, endOfBatch(statements))
        const at = await transact(batch)
        if (at === undefined) {
          statements = statements.slice(batch.length)
          continue
        }
        const [client] = (batch[at] as Statement).values
        failed.set(
          client,
          statements.filter(({ values }) => values[0] === client),
        )
        statements = statements.filter(({ values }) => values[0] !== client)
      }
    } finally {
      pending = [...[...failed.values()].flat(), ...statements, ...pending].slice(-MOST_PENDING)
      failing = new Set(failed.keys())
    }
  }

  /** Waits until all is written that came before: the write in progress, and the one that takes all that waits now. */
  async function flush(): Promise<void> {
    for (let writes = 0; writes < 2; writes++) {
      writing ??= write().finally(() => {
        writing = undefined
      })
      await writing
    }
  }

  const flushQuietly = () => flush().catch(() => {})

  function plan(delay = wait) {
    if (isPlanned) return
    isPlanned = true
    const began = timers.elapsed()
    timers.later(delay, () => {
      isPlanned = false
      // A server that closes ends all waits early. Its database writes once more, and closes.
      const isClosing = timers.elapsed() - began < delay / 2
      const again = () => isClosing || plan(RETRY_MS)
      void flush().then(() => failing.size > 0 && again(), again)
    })
  }

  /** Adds statements that follow the facts of this moment. */
  function follow(statements: readonly Omit<Statement, 'values'>[], ...values: string[]) {
    pending = [...takeAll(), ...statements.map(statement => ({ ...statement, values }))]
    plan()
  }

  /** Throws SERVICE_UNAVAILABLE, also if changes of one of the clients cannot be written. */
  async function read(statement: Statement, columns: readonly string[], clients: readonly string[] = []) {
    try {
      await flush()
      if (!clients.some(clientId => failing.has(clientId))) return await select(statement, columns)
    } catch {}
    throw errors.databaseUnavailable()
  }

  return {
    add(clientId, operation, facts) {
      const counts = waiting.get(clientId) ?? new FactCounts()
      waiting.set(clientId, counts)
      for (const fact of facts) counts.count(operation, fact)
      plan()
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
    pending: () => Number(isPlanned),
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

const toStatements = (clientId: string, facts: Facts): Statement[] =>
  [...facts].flatMap(([operation, counts]) =>
    [...counts].map(([fact, answers]) => ({ ...ADD, values: [clientId, operation, fact, answers] })),
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
