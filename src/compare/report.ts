import { areas } from '../areas/index.js'
import type { Fact, Facts } from '../features/coverage/coverage.js'
import { reportOf } from '../features/coverage/report.js'
import type { Fidelity } from '../http/schemas.js'
import type { Comparison } from './compare.js'
import type { Operation } from './contract.js'
import { OTHER_PATHS } from './contract.js'
import type { Noted } from './ledger.js'
import { placeOfFact } from './places.js'

/** What traffic shows: it breaks a documented statement, or refutes or confirms one, or does not show it. */
export interface Finding {
  readonly operation: string
  readonly finding: 'broken' | 'refuted' | 'confirmed' | 'never-seen'
  readonly label: Fidelity
  /** The section of the document with an anchor: `decisions §6 reasonCode`. */
  readonly where: string
  readonly what: string
  readonly times: number
  /** The position of the first entry that differs. */
  readonly entry?: number
}

/** Lists the differences. Values of the traffic are shown by their shape. */
const differencesOf = ({ ledger }: Comparison, names: boolean): Finding[] =>
  ledger.differences().map(({ operation, label, where, what, times, entry, seen }) => ({
    operation,
    finding: label === 'documented' ? 'broken' : 'refuted',
    label,
    where,
    what: `${what}${shapesOf(seen, names)}`,
    times,
    entry,
  }))

/** Whether the traffic differs from the sandbox at all. */
export const isDifferent = ({ ledger }: Comparison): boolean => ledger.differences().length > 0

const shapesOf = (seen: Noted['seen'], names: boolean) => {
  const shapes = [...new Set([...seen].map(value => shapeOf(value, names)))].slice(0, 5)
  return shapes.length === 0 ? '' : `: ${shapes.join(', ')}`
}

/** Lists all findings: the differences, and what the coverage of the sandbox lists as met and missed. */
export function findingsOf(comparison: Comparison, names: boolean): Finding[] {
  const { ledger, sandbox } = comparison
  const { operations } = sandbox.contract
  const report = reportOf([], ledger.facts as Facts, sandbox.documented)
  const facts = [
    ...report.operations.map(({ operation, statuses, errorCodes, pages }) => ({
      operation: operations.find(({ name }) => name === operation) as Operation,
      kinds: { status: statuses, errorCode: errorCodes, page: pages },
    })),
    ...report.states.map(({ area: title, ...state }) => ({
      operation: operations.find(
        ({ area, record }) => record !== undefined && area !== undefined && areas[area].title === title,
      ) as Operation,
      kinds: { state },
    })),
  ]
  const found = differencesOf(comparison, names)
  for (const { operation, kinds } of facts) {
    for (const [kind, values] of Object.entries(kinds)) {
      for (const side of ['met', 'missed'] as const) {
        for (const value of values?.[side] ?? []) {
          const fact = `${kind} ${value}` as Fact
          if (ledger.isContradicted(operation.name, fact)) continue
          const times = side === 'missed' ? 0 : (ledger.facts.get(operation.name)?.get(fact) ?? 1)
          const finding = side === 'met' ? 'confirmed' : 'never-seen'
          found.push({ operation: operation.name, finding, ...placeOfFact(operation, fact), what: fact, times })
        }
      }
    }
  }
  return found
}

const times = (count: number) => `${count} ${count === 1 ? 'time' : 'times'}`

/** Returns how many entries are compared, and why others are not: a sentence a line. */
export function entriesOf({ entries, environments }: Comparison): string[] {
  const { compared, unmatched, unanswered, duplicates, malformed, cut } = entries
  const notes = [
    [unmatched, 'of other paths or hosts'],
    [unanswered, 'without an answer'],
    [duplicates, 'twice in the file'],
    [malformed, 'without a valid request'],
    [cut, 'compared without a body that the capture has cut'],
  ] as const
  return [
    `${compared} of ${compared + unmatched + unanswered + duplicates + malformed} entries are of the interface, from ${environments} ${environments === 1 ? 'environment' : 'environments'}.`,
    ...notes.filter(([count]) => count > 0).map(([count, note]) => `${count} ${count === 1 ? 'is' : 'are'} ${note}.`),
  ]
}

export interface ReportOptions {
  /** Whether words of the traffic are shown, such as an error code. Else all values are shown by their shape. */
  readonly names: boolean
  /** Whether all findings are listed. */
  readonly all: boolean
}

/** Returns the report for people. It has no value of the traffic, and no address. */
export function toText(comparison: Comparison, { names, all }: ReportOptions): string {
  const findings = findingsOf(comparison, names)
  const of = (kind: Finding['finding']) => findings.filter(({ finding }) => finding === kind)
  const line = ({ operation, what, where, times: count, entry }: Finding) => [
    `- ${operation}: ${what}`,
    `  ${where}${entry === undefined ? (count > 0 ? `, ${times(count)}` : '') : `, ${times(count)}, first in entry ${entry}`}`,
  ]
  const section = (title: string, found: readonly Finding[]) => [
    '',
    `${title}: ${found.length}`,
    ...found.flatMap(line),
  ]
  const lines = [
    ...entriesOf(comparison),
    '',
    ...table(comparison, findings),
    ...section('Documented statements that the traffic breaks', of('broken')),
    ...section('Assumptions that the traffic refutes', of('refuted')),
    ...(all ? [...section('Confirmed', of('confirmed')), ...section('Never seen', of('never-seen'))] : []),
  ]
  return `${lines.join('\n')}\n`
}

const HEADINGS = ['answers', 'broken', 'refuted', 'confirmed', 'never seen']
const KINDS = ['broken', 'refuted', 'confirmed', 'never-seen'] as const

function table({ ledger }: Comparison, findings: readonly Finding[]): string[] {
  const names = [...new Set([...ledger.answers.keys(), OTHER_PATHS])]
  const width = Math.max(...names.map(name => name.length))
  const row = (name: string, cells: readonly (string | number)[]) =>
    `${name.padEnd(width)}  ${cells.map((cell, at) => String(cell).padStart(HEADINGS[at]?.length ?? 0)).join('  ')}`
  const countOf = (name: string, kind: Finding['finding']) =>
    findings.filter(({ operation, finding }) => operation === name && finding === kind).length
  return [
    row('', HEADINGS),
    ...names.map(name => row(name, [ledger.answers.get(name) ?? 0, ...KINDS.map(kind => countOf(name, kind))])),
  ]
}

/** Returns the report for programs: the list of all findings. */
export const toJson = (comparison: Comparison, names: boolean): string =>
  `${JSON.stringify(findingsOf(comparison, names), null, 2)}\n`

// ----------------------------------------------------------------------------------------------------------- shapes

const LONGEST = 40
const DATE_TIME = /^9999-99-99(T[9:.]*(Z|[+-]99:?99)?)?$/
/** A name of a state, a code or a member. Credentials have digits. */
const WORD = /^[A-Za-z]+([_-][A-Za-z]+)*$/

/**
 * Describes a value by its shape: letters become `a` or `A`, digits `9`.
 * @param showsWords shows words of up to 40 letters, such as the name of a state
 */
export function shapeOf(value: unknown, showsWords: boolean): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  if (typeof value !== 'string') return typeof value === 'object' ? 'an object' : `a ${typeof value}`
  if (value === '') return 'an empty text'
  const cut = value.length > LONGEST ? `${value.slice(0, LONGEST)}…` : value
  if (showsWords && WORD.test(cut)) return cut
  const digits = cut.replace(/\p{N}/gu, '9')
  if (DATE_TIME.test(digits)) return digits
  return digits
    .replace(/\p{Lu}/gu, 'A')
    .replace(/\p{L}/gu, character => (character === 'A' ? 'A' : 'a'))
    .replace(/[^\w\-.:/+ ,@…]/gu, '?')
}
