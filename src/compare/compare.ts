import type { Contract } from './contract.js'
import type { Capture, Entry } from './har.js'
import type { History } from './history.js'
import { createHistory } from './history.js'
import type { Observation } from './observations.js'
import { createMatcher, OTHER_PATHS } from './observations.js'
import type { Context, Rule } from './rule.js'
import { expectedGuards } from './rule.js'
import type { Rules } from './rules/index.js'
import { rulesOf } from './rules/index.js'
import { membersOf } from './values.js'

/** What traffic has shown of a rule. */
export interface Result {
  readonly rule: Rule
  held: number
  broken: number
  /** The first entry that breaks it, by its position in the file, and why. */
  first: { readonly entry: number; readonly why: string } | undefined
  /** The first different values that break it. */
  readonly seen: Set<unknown>
}

/** What traffic has shown of an operation. */
export interface OperationResult {
  /** Such as `GET /api/v1/mandates`. */
  readonly name: string
  answers: number
  readonly results: readonly Result[]
}

export interface Comparison {
  readonly operations: readonly OperationResult[]
  readonly entries: {
    readonly compared: number
    /** Entries of other paths and hosts, without an answer, twice in the file, without a request, and with a cut body. */
    readonly unmatched: number
    readonly unanswered: number
    readonly duplicates: number
    readonly malformed: number
    readonly cut: number
  }
  readonly environments: number
}

/** The most values of a rule that are kept. */
const MOST_VALUES = 20

/** A token that an answer has issued. */
interface Token {
  readonly client: number | undefined
  readonly end: number | undefined
}

/**
 * Holds the traffic of a capture against the rules of the contract, entry by entry in the order of time.
 * @param host the name of the host to compare, with its port if it has one; undefined: all
 */
export function compare(capture: Capture, contract: Contract, host?: string): Comparison {
  const rules = rulesOf(contract)
  const operations = new Map(
    [...rules].map(([id, { name, rules }]): [string, OperationResult] => [
      id,
      {
        name,
        answers: 0,
        results: rules.map(rule => ({ rule, held: 0, broken: 0, first: undefined, seen: new Set() })),
      },
    ]),
  )
  const counts = { compared: 0, unmatched: 0, unanswered: 0, cut: 0 }
  const match = createMatcher(contract)
  const histories = new Map<string, History>()
  const tokens = new Map<number, Token>()
  const environments = new Set<string>()
  const authorized = new Set(
    capture.entries.filter(({ headers }) => headers.authorization !== undefined).map(({ origin }) => origin),
  )

  function historyOf({ origin, bearer, headers }: Entry): History {
    // Tokens of one client share its records. Of an unknown client, each token has its own.
    const client = bearer === undefined ? '' : (tokens.get(bearer)?.client ?? `token ${bearer}`)
    const key = `${origin} ${headers.authorization === undefined ? '' : client}`
    const history = histories.get(key) ?? createHistory()
    histories.set(key, history)
    return history
  }

  function apply(observation: Observation): void {
    const id = observation.operation?.id ?? OTHER_PATHS
    const { guards } = rules.get(id) as Rules
    const operation = operations.get(id) as OperationResult
    const history = historyOf(observation)
    const tokenEnd = observation.bearer === undefined ? undefined : tokens.get(observation.bearer)?.end
    const facts = { history, tokenEnd, hasAuthorization: authorized.has(observation.origin) }
    const expected = expectedGuards(guards, observation, facts)
    const context: Context = {
      ...facts,
      expected: new Set(expected.map(({ id }) => id)),
      isUnauthorized: expected.some(({ stage }) => stage === 'token'),
    }
    operation.answers++
    for (const result of operation.results) {
      const verdict = result.rule.check(observation, context)
      if (verdict === 'holds') result.held++
      else if (verdict !== undefined) {
        result.broken++
        result.first ??= { entry: observation.n, why: verdict.why }
        if (verdict.seen !== undefined && result.seen.size < MOST_VALUES) result.seen.add(verdict.seen)
      }
    }
    history.add(observation)
    noteToken(observation)
  }

  function noteToken({ issued, client, at, milliseconds, answer }: Observation): void {
    const lifetime = membersOf(answer.kind === 'json' && answer.value).expires_in
    if (issued === undefined) return
    const end = typeof lifetime === 'number' && at !== undefined ? at + milliseconds + lifetime * 1000 : undefined
    tokens.set(issued, { client, end })
  }

  for (const entry of capture.entries) {
    const observation = host === undefined || new URL(entry.origin).host === host ? match(entry) : undefined
    if (observation === undefined) counts.unmatched++
    // 304 has the content of a cache, and other 3xx are not of the service.
    else if (entry.status < 200 || (entry.status >= 300 && entry.status < 400)) counts.unanswered++
    else {
      counts.compared++
      if (entry.body.kind === 'unknown' || entry.answer.kind === 'unknown') counts.cut++
      environments.add(entry.origin)
      apply(observation)
    }
  }
  const { duplicates, malformed } = capture
  return {
    operations: [...operations.values()],
    entries: { ...counts, duplicates, malformed },
    environments: environments.size,
  }
}
