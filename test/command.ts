import { run } from '../src/commands.js'

export interface Result {
  code: number
  stdout: string
  stderr: string
}

/** Runs a command that ends by itself, in this process. */
export async function command(args: readonly string[], settings: Record<string, string> = {}): Promise<Result> {
  const { stdout, stderr } = process
  const original = [stdout.write, stderr.write] as const
  const result: Result = { code: 0, stdout: '', stderr: '' }
  const capture = (name: 'stdout' | 'stderr') =>
    ((text: string) => {
      result[name] += text
      return true
    }) as typeof stdout.write
  stdout.write = capture('stdout')
  stderr.write = capture('stderr')
  try {
    await run(args, settings)
  } finally {
    ;[stdout.write, stderr.write] = original
    result.code = Number(process.exitCode ?? 0)
    process.exitCode = undefined
  }
  return result
}
