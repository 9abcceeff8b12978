import type { Fact } from '../features/coverage/coverage.js'
import { FactCounts } from '../features/coverage/coverage.js'
import type { Fidelity } from '../http/schemas.js'
import type { Difference } from './answers.js'
import type { Contract } from './contract.js'
import type { Entry } from './har.js'

/** A difference of an operation, wherever the traffic shows it. */
export interface Noted {
  readonly operation: string
  readonly label: Fidelity
  readonly where: string
  readonly what: string
  times: number
  /** The position of the first entry in the file, from 1. */
  readonly entry: number
  /** The first different values. */
  readonly seen: Set<unknown>
}

/** The most values of a difference that are kept, and the most differences. */
const MOST_VALUES = 20
const MOST_DIFFERENCES = 10_000

export type Ledger = ReturnType<typeof createLedger>

/** Creates the ledger of what the traffic shows: differences, facts that it confirms, and the number of answers. */
export function createLedger({ operations }: Contract) {
  const differences = new Map<string, Noted>()
  const facts = new FactCounts()
  const contradicted = new Set<string>()
  const answers = new Map<string, number>(operations.map(({ name }) => [name, 0]))
  return {
    differences: (): Noted[] => [...differences.values()].sort((a, b) => a.entry - b.entry),
    answers,
    facts,
    /** Whether a difference speaks against a fact. */
    isContradicted: (operation: string, fact: Fact): boolean => contradicted.has(`${operation} ${fact}`),
    count: (operation: string): void => void answers.set(operation, (answers.get(operation) ?? 0) + 1),
    note(operation: string, present: Entry, found: readonly Difference[]): void {
      for (const { place, what, seen } of found) {
        const key = `${operation}\n${place.where}\n${what}`
        const noted = differences.get(key) ?? { operation, ...place, what, times: 0, entry: present.n, seen: new Set() }
        if (!differences.has(key) && differences.size === MOST_DIFFERENCES) return
        differences.set(key, noted)
        noted.times++
        if (seen !== undefined && noted.seen.size < MOST_VALUES) noted.seen.add(seen)
      }
    },
    /** Counts what an answer shows as the sandbox does. */
    confirm(operation: string | undefined, shown: readonly Fact[]): void {
      if (operation !== undefined) for (const fact of shown) facts.count(operation, fact)
    },
    contradict(operation: string | undefined, shown: readonly Fact[]): void {
      for (const fact of shown) contradicted.add(`${operation} ${fact}`)
    },
  }
}
