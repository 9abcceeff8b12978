import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { runCompare } from '../../src/compare/command.js'
import type { Result } from '../command.js'

/** Runs `payments-sandbox compare` in this process, with options before the file. */
export async function runCommand(args: readonly string[]): Promise<Result> {
  const texts = { stdout: '', stderr: '' }
  const output = (name: keyof typeof texts) => ({
    write(text: string) {
      texts[name] += text
    },
  })
  const code = await runCompare(args, { stdout: output('stdout'), stderr: output('stderr') })
  return { code, ...texts }
}

/** Writes a file of a capture, and compares it. */
export function compareHar(t: Test, har: unknown, options: readonly string[] = []): Promise<Result> {
  const file = join(t.testdir(), 'traffic.har')
  writeFileSync(file, typeof har === 'string' || Buffer.isBuffer(har) ? har : JSON.stringify(har))
  return runCommand([...options, file])
}

/** A contradiction, as `--json` has it. */
export interface Contradiction {
  readonly operation: string
  readonly rule: string
  readonly detail: string
}

/** Lists the contradictions of a report of `--json`. */
export function contradictionsIn(stdout: string): Contradiction[] {
  const { operations } = JSON.parse(stdout)
  return operations.flatMap(({ operation, rules }: { operation: string; rules: Record<string, unknown>[] }) =>
    rules
      .filter(({ broken }) => broken !== 0)
      .map(({ rule, detail, finding }) => ({ operation, rule, detail: `${finding}: ${detail}` })),
  )
}
