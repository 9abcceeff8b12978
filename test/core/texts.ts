import type { Test } from 'tap'

/** Returns the words of a text: a long list is easier to read without quotes. */
export const words = (text: string): string[] => text.trim().split(/\s+/)

/** Returns spellings of a text that no check accepts: empty, with white space, foreign digits and half characters. */
export const spoiled = (text: string): string[] => [
  '',
  ` ${text}`,
  `${text} `,
  `${text}\n`,
  `${text}\ud800`,
  `${text.slice(0, -1)}٣`,
  `${text.slice(0, -1)}３`,
  `${text.slice(0, 2)} ${text.slice(2)}`,
  text.repeat(10_000),
]

/** Compares the texts that a check accepts, out of right and wrong ones, with the right ones. */
export function assertAccepts(
  t: Test,
  check: (text: string) => boolean,
  right: readonly string[],
  wrong: readonly string[] = [],
) {
  const short = (text: string) => JSON.stringify(text.slice(0, 60))
  t.same([...right, ...wrong].filter(check).map(short), right.map(short))
}

/** Compares what a function returns for each input with the table. */
export function assertReturns<I extends readonly unknown[], O>(
  t: Test,
  act: (...input: I) => O,
  rows: readonly (readonly [...input: I, output: NoInfer<O>])[],
) {
  const inputOf = (row: readonly unknown[]) => row.slice(0, -1) as unknown as I
  t.same(
    rows.map(row => [...inputOf(row), act(...inputOf(row))]),
    rows,
  )
}
