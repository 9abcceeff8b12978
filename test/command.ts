import { run } from '../src/commands.js'

export interface Result {
  code: number
  stdout: string
  stderr: string
}

/** Runs a command that ends by itself, in this process. */
export async function command(args: readonly string[], settings: Record<string, string> = {}): Promise<Result> {
  const result: Result = { code: 0, stdout: '', stderr: '' }
  const capture = (name: 'stdout' | 'stderr') => ({
    write(text: string) {
      result[name] += text
    },
  })
  result.code = await run(args, settings, { stdout: capture('stdout'), stderr: capture('stderr') })
  return result
}
