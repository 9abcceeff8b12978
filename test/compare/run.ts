import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Test } from 'tap'
import { runCompare } from '../../src/compare/command.js'
import type { Result } from '../command.js'

type Command = (args: readonly string[], output: Parameters<typeof runCompare>[1]) => Promise<number>

/** Runs a command in this process, by default `payments-sandbox compare`. */
export async function runCommand(args: readonly string[], command: Command = runCompare): Promise<Result> {
  const texts = { stdout: '', stderr: '' }
  const output = (name: keyof typeof texts) => ({
    write(text: string) {
      texts[name] += text
    },
  })
  const code = await command(args, { stdout: output('stdout'), stderr: output('stderr') })
  return { code, ...texts }
}

/** Writes a file of a capture, and compares it. */
export function compareHar(t: Test, har: unknown, options: readonly string[] = []): Promise<Result> {
  const file = join(t.testdir(), 'traffic.har')
  writeFileSync(file, typeof har === 'string' || Buffer.isBuffer(har) ? har : JSON.stringify(har))
  return runCommand([...options, file])
}

/** A finding of `--json`. */
export interface Finding {
  readonly operation: string
  readonly finding: 'broken' | 'refuted' | 'confirmed' | 'never-seen'
  readonly label: 'documented' | 'assumed'
  readonly where: string
  readonly what: string
  readonly times: number
  readonly entry?: number
}

/** Lists the differences in a report of `--json`. */
export const differencesIn = (stdout: string): Finding[] =>
  (JSON.parse(stdout) as Finding[]).filter(({ finding }) => finding === 'broken' || finding === 'refuted')

/** Compares a capture. Lists its differences. */
export const differencesOf = async (t: Test, har: unknown): Promise<Finding[]> =>
  differencesIn((await compareHar(t, har, ['--json'])).stdout)
