import type { Comparison, OperationResult, Result } from './compare.js'
import { shapeOf } from './values.js'

/** What traffic says of a rule. */
export type Finding = 'broken' | 'refuted' | 'held' | 'confirmed' | 'never seen'

/** Returns what traffic says of a rule: a documented one is held or broken, an assumed one confirmed or refuted. */
export function findingOf({ rule, held, broken }: Result): Finding {
  const isDocumented = rule.label === 'documented'
  if (broken > 0) return isDocumented ? 'broken' : 'refuted'
  if (held > 0) return isDocumented ? 'held' : 'confirmed'
  return 'never seen'
}

/** Whether traffic contradicts a rule. */
export const isContradicted = (result: Result): boolean => result.broken > 0

export interface ReportOptions {
  /** Whether words of the traffic are shown, such as an error code. Else all values are shown by their shape. */
  readonly names: boolean
  /** Whether all rules are listed. */
  readonly all: boolean
}

/** Returns why a rule is broken, with the shapes of up to 5 values. */
function describe({ first, seen }: Result, names: boolean): string {
  const shapes = [...new Set([...seen].map(value => shapeOf(value, names)))].slice(0, 5)
  return `${first?.why}${shapes.length === 0 ? '' : `: ${shapes.join(', ')}`}`
}

const placeOf = ({ rule }: Result) =>
  rule.label === 'documented' ? `interface, ${rule.place}` : `decisions ${rule.place}`
const times = (count: number) => `${count} ${count === 1 ? 'time' : 'times'}`
const countOf = ({ results }: OperationResult, finding: Finding) =>
  results.filter(result => findingOf(result) === finding).length

/** Lists contradicted rules with their operations. */
export function* contradictionsOf({ operations }: Comparison): Generator<[name: string, result: Result]> {
  for (const { name, results } of operations)
    for (const result of results) if (isContradicted(result)) yield [name, result]
}

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

/** Returns the report for people. It has no value of the traffic, and no address. */
export function toText(comparison: Comparison, options: ReportOptions): string {
  const { operations } = comparison
  const found = [...contradictionsOf(comparison)]
  const lines = [
    ...entriesOf(comparison),
    '',
    ...table(operations),
    ...section(
      'Documented rules that the traffic breaks',
      found.filter(([, { rule }]) => rule.label === 'documented'),
    ),
    ...section(
      'Assumptions that the traffic refutes',
      found.filter(([, { rule }]) => rule.label === 'assumed'),
    ),
    ...(options.all ? listing(operations) : []),
  ]
  return `${lines.join('\n')}\n`

  function section(title: string, results: readonly [string, Result][]): string[] {
    const items = results.flatMap(([name, result]) => [
      `- ${name}, ${result.rule.id}: ${describe(result, options.names)}`,
      `  ${times(result.broken)}, first in entry ${result.first?.entry}; held ${times(result.held)}`,
      `  ${placeOf(result)}: ${result.rule.sentence}`,
    ])
    return ['', `${title}: ${results.length}`, ...items]
  }
}

const HEADINGS = ['answers', 'documented', 'broken', 'confirmed', 'refuted', 'never seen']

function table(operations: readonly OperationResult[]): string[] {
  const width = Math.max(...operations.map(({ name }) => name.length))
  const row = (name: string, cells: readonly (string | number)[]) =>
    `${name.padEnd(width)}  ${cells.map((cell, at) => String(cell).padStart(HEADINGS[at]?.length ?? 0)).join('  ')}`
  return [
    row('', HEADINGS),
    ...operations.map(operation =>
      row(operation.name, [
        operation.answers,
        ...(['held', 'broken', 'confirmed', 'refuted', 'never seen'] as const).map(finding =>
          countOf(operation, finding),
        ),
      ]),
    ),
  ]
}

function listing(operations: readonly OperationResult[]): string[] {
  return operations.flatMap(({ name, results }) => [
    '',
    name,
    ...results.map(result => {
      const { rule, held, broken } = result
      const counts = broken > 0 ? ` ${broken} of ${held + broken} times` : held > 0 ? ` ${times(held)}` : ''
      return `- ${findingOf(result)}${counts}: ${rule.id} (${placeOf(result)}: ${rule.sentence})`
    }),
  ])
}

/** Returns the report for programs, with all rules. */
export function toJson({ operations, ...comparison }: Comparison, names: boolean): string {
  const report = {
    ...comparison,
    operations: operations.map(({ name, answers, results }) => ({
      operation: name,
      answers,
      rules: results.map(result => {
        const { rule, held, broken, first } = result
        const { id, label, sentence } = rule
        return {
          rule: id,
          finding: findingOf(result),
          held,
          broken,
          ...(first !== undefined && { entry: first.entry, detail: describe(result, names) }),
          label,
          source: placeOf(result),
          sentence,
        }
      }),
    })),
  }
  return `${JSON.stringify(report, null, 2)}\n`
}
