import { run } from '../src/cli.js'

export interface Result {
  code: number
  stdout: string
  stderr: string
}

/** Runs a command line in this process; it must end by itself. */
export async function command(args: readonly string[], settings: Record<string, string> = {}): Promise<Result> {
  const { stdout, stderr } = process
  const real = [stdout.write, stderr.write] as const
  const result: Result = { code: 0, stdout: '', stderr: '' }
  const into = (name: 'stdout' | 'stderr') =>
    ((text: string) => {
      result[name] += text
      return true
    }) as typeof stdout.write
  stdout.write = into('stdout')
  stderr.write = into('stderr')
  try {
    await run(args, settings)
  } finally {
    ;[stdout.write, stderr.write] = real
    result.code = Number(process.exitCode ?? 0)
    process.exitCode = undefined
  }
  return result
}
